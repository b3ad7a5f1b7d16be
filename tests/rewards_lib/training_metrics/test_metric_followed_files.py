"""Which files of its own machine the console follows, and that a refusal tells nothing of what they hold."""

import os

import pytest

from rewards_lib.errors import InputError
from rewards_lib.host_files import FOLDERS_VARIABLE, open_folders
from rewards_lib.training_metrics import read_export
from rewards_lib.training_metrics.followed_files import followed_path, without_content


@pytest.fixture
def folder(tmp_path):
    logs = tmp_path / "logs"
    logs.mkdir()
    return logs


@pytest.mark.parametrize("name", ["job.log", "run.CSV", "trainer_state.json", "events.out.tfevents.1.host.2", "."])
def test_logs_event_files_and_folders_are_followed(folder, name):
    assert followed_path(str(folder / name), [folder]) == folder / name


@pytest.mark.parametrize(
    "name",
    ["../secret.log", "/etc/shadow", "/etc/passwd", ".env/run.log", ".netrc", "id_rsa", "run.log\0", "~root/a.log"],
)
def test_everything_else_is_refused_unread(folder, name):
    with pytest.raises(InputError):
        followed_path(str(folder / name) if not name.startswith("~") else name, [folder])


def test_a_link_is_judged_by_where_it_leads(folder, tmp_path):
    (tmp_path / "secret.log").write_text("x")
    os.symlink(tmp_path / "secret.log", folder / "run.log")
    with pytest.raises(InputError) as told:
        followed_path(str(folder / "run.log"), [folder])
    assert str(folder) in str(told.value)


def test_a_loop_of_links_is_refused(folder):
    os.symlink(folder / "b.log", folder / "a.log")
    os.symlink(folder / "a.log", folder / "b.log")
    with pytest.raises((InputError, OSError)):
        followed_path(str(folder / "a.log"), [folder]).read_text()


def test_the_operator_names_the_folders(folder, tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDERS_VARIABLE, os.pathsep.join([str(folder), str(tmp_path / "more")]))
    assert open_folders() == (folder, tmp_path / "more")
    monkeypatch.setenv(FOLDERS_VARIABLE, "")
    assert open_folders() == ()


def test_a_user_whose_home_is_the_root_opens_nothing_by_it(monkeypatch, tmp_path):
    monkeypatch.delenv(FOLDERS_VARIABLE, raising=False)
    monkeypatch.setenv("HOME", "/")
    monkeypatch.chdir(tmp_path)
    assert all(str(one) != "/" for one in open_folders())


@pytest.mark.parametrize("text", ["root:$6$abc:19000:0:99999:7:::\n", "root,secret\n", "root,x\na,b\n", "3,4\n5,6\n"])
def test_a_refusal_of_a_followed_file_quotes_nothing_from_it(text):
    with pytest.raises(InputError) as told:
        read_export(text.encode(), "run.log")
    said = str(without_content(told.value))
    assert not any(word in said for word in ("root", "secret", "abc", "3", "4"))
    assert said.startswith("run.log:")
