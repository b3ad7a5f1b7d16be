"""The editor gives back the author's newest text, with the bundle and without it; the set-up never fails over it."""

import json
import os
import re
import stat
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from components.code_editor import build, editor

HERE = Path(build.__file__).parent


@pytest.fixture
def built(monkeypatch):
    monkeypatch.setattr(editor, "_built_bundle", lambda: "code_editor-0.js")


@pytest.fixture
def not_built(monkeypatch):
    monkeypatch.setattr(editor, "_built_bundle", lambda: None)


def page(value: str, **options) -> AppTest:
    def script(value: str, options: dict) -> None:
        import streamlit as st

        from components.code_editor import code_editor, current_text

        version = st.session_state.get("epoch", 0)
        early = current_text(value, key="ed", version=version)
        event = code_editor(value, key="ed", version=version, label="reward.py", **options)
        assert early == event.value
        st.text(f"text: {event.value}")

    return AppTest.from_function(script, args=(value, options), default_timeout=20)


def text_of(test: AppTest) -> str:
    assert not test.exception
    return next(shown.value for shown in test.text if shown.value.startswith("text: ")).removeprefix("text: ")


def held(test: AppTest, value: str, version: int = 0) -> dict:
    return {"value": value, "origin": f"{test.session_state['code_editor_session']}/{version}"}


def test_the_first_text_is_the_callers(built):
    assert text_of(page("a = 1").run()) == "a = 1"


def test_the_browsers_text_comes_back(built):
    test = page("a = 1").run()
    test.session_state["ed"] = held(test, "a = 2")
    assert text_of(test.run()) == "a = 2"


def test_a_page_test_may_set_the_text_alone(built):
    test = page("a = 1")
    test.session_state["ed"] = {"value": "a = 2"}
    assert text_of(test.run()) == "a = 2"


def test_a_raised_version_shows_the_callers_text_though_the_browser_still_sends_the_old_one(built):
    test = page("restored").run()
    test.session_state["ed"] = held(test, "typed before")
    test.session_state["epoch"] = 1
    assert text_of(test.run()) == "restored"
    test.session_state["ed"] = held(test, "typed after", version=1)
    assert text_of(test.run()) == "typed after"


def test_what_a_browser_held_over_a_restart_is_not_taken_for_this_sessions_text(built):
    test = page("stored").run()
    test.session_state["ed"] = {"value": "of another document", "origin": "other/0"}
    assert text_of(test.run()) == "stored"


def test_a_text_that_arrived_just_before_its_page_was_left_is_there_on_return(built):
    """The run that brought it ended before the page saw it; only the callback did."""
    test = page("stored").run()
    origin = held(test, "")["origin"]
    test.session_state["code_editor_texts"] = {"other": (origin, "x"), "ed": (origin, "last keys")}
    test.session_state["ed"] = {}
    assert text_of(test.run()) == "last keys"
    test.session_state["epoch"] = 1
    assert text_of(test.run()) == "stored"


def test_a_text_that_the_page_shows_is_no_longer_kept(built):
    test = page("saved").run()
    test.session_state["code_editor_texts"] = {"ed": (held(test, "")["origin"], "saved")}
    assert text_of(test.run()) == "saved"
    assert test.session_state["code_editor_texts"] == {}


def test_without_a_bundle_a_text_area_keeps_the_contract(not_built):
    test = page("a = 1", findings=[{"line": 3, "message": "subprocess is refused", "severity": "error"}]).run()
    assert test.text_area[0].label == "reward.py"
    assert "components/code_editor/build.py" in test.info[0].value
    assert "Line 3: subprocess is refused" in [shown.value for shown in test.text]
    assert text_of(test.text_area[0].set_value("a = 2").run()) == "a = 2"


def test_without_a_bundle_a_raised_version_replaces_the_text(not_built):
    test = page("a = 1").run()
    test.text_area[0].set_value("typed").run()
    test.session_state["epoch"] = 1
    assert text_of(test.run()) == "a = 1"


def test_without_a_bundle_a_published_version_cannot_be_typed_into(not_built):
    assert page("a = 1", read_only=True).run().text_area[0].disabled


def test_a_browser_that_could_not_load_the_bundle_keeps_the_text_area(built):
    test = page("a = 1")
    test.session_state["code_editor_unavailable"] = True
    test.run()
    assert "could not load" in test.info[0].value
    assert text_of(test.text_area[0].set_value("a = 2").run()) == "a = 2"


def test_a_hint_of_the_callers_stands_under_the_editor(built):
    assert page("{}", hint="Ctrl+Enter sends").run().caption[0].value == "Ctrl+Enter sends"
    assert page("{}").run().caption[0].value.startswith("Ctrl+Enter runs")


def test_the_translated_phrases_are_codemirrors(monkeypatch):
    bundle = build.STATIC / build.bundle_name()
    if not bundle.exists():
        pytest.skip("the editor's bundle is not built")
    script = bundle.read_text(encoding="utf-8")
    monkeypatch.setattr("components.code_editor.phrases._", lambda text: f"<{text}>")
    words = editor.phrases()
    assert len(words) == 29
    assert [word for word in words if f'"{word}"' not in script] == []


def test_english_words_are_not_sent_along(monkeypatch):
    monkeypatch.setattr("components.code_editor.phrases._", lambda text: text)
    assert editor.phrases() == {}


def test_the_lock_names_versions_and_hashes_and_no_address():
    lock = json.loads((HERE / "package-lock.json").read_text())
    packages = [entry for name, entry in lock["packages"].items() if name]
    assert all(entry["version"] and entry["integrity"].startswith("sha512-") for entry in packages)
    assert "://" not in json.dumps(lock)
    assert "resolved" not in (HERE / "package-lock.json").read_text()


def test_the_lock_fits_the_package_file():
    package, lock = (json.loads((HERE / name).read_text()) for name in ("package.json", "package-lock.json"))
    assert {kind: package[kind] for kind in ("dependencies", "devDependencies")} == {
        kind: lock["packages"][""][kind] for kind in ("dependencies", "devDependencies")
    }


def test_every_import_of_the_bundle_is_a_source_or_a_dependency():
    """A source that build.py does not know would neither be copied nor change the bundle's name."""
    known = set(json.loads((HERE / "package.json").read_text())["dependencies"])
    for source in ("src/editor.js", "src/theme.js"):
        for name in re.findall(r'from "([^"]+)"', (HERE / source).read_text()):
            assert name in known or f"src/{name.removeprefix('./')}" in build.SOURCES


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """A folder that is the whole PATH but for the shell's own; stand-ins for node and npm, which need a network."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", os.pathsep.join([str(folder), "/bin"]))
    monkeypatch.setattr(build.shutil, "which", lambda name: str(folder / name) if (folder / name).exists() else None)
    monkeypatch.setattr(build, "_wheel_node", lambda: None)
    program(folder, "npm", "exit 0")
    program(folder, "node", 'test "$1" = --version && echo v20.1.0 || echo "export default 1" > "$2"')
    return folder


def test_a_build_takes_older_bundles_away_and_is_not_repeated(tools, tmp_path, capsys):
    static = tmp_path / "static"
    static.mkdir()
    (static / "code_editor-old.js").write_text("")
    assert build.main([str(static)]) == 0
    assert [path.name for path in static.iterdir()] == [build.bundle_name()]
    program(tools, "npm", "echo 'npm was asked again' >&2; exit 1")
    assert build.main([str(static)]) == 0
    assert [line.split()[2] for line in capsys.readouterr().out.splitlines()] == ["built", build.bundle_name()]


@pytest.mark.parametrize(
    ("name", "script", "reason"),
    [
        ("npm", "echo 'npm error network' >&2; exit 1", "npm ci failed (npm error network)"),
        ("node", 'test "$1" = --version && echo v20.0.0 || exit 3', "bundling failed (exit status 3)"),
        ("node", "echo v16.20.0", "no Node.js 18 or newer"),
    ],
)
def test_a_build_that_fails_says_why_in_a_line_and_does_not_fail_the_set_up(
    tools, tmp_path, capsys, name, script, reason
):
    program(tools, name, script)
    (tmp_path / "code_editor-old.js").write_text("")
    assert build.main([str(tmp_path)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 1
    assert reason in said[0]
    assert said[0].endswith("the console will use a plain text area")
    assert not (tmp_path / build.bundle_name()).exists()


def test_a_folder_that_cannot_be_written_does_not_fail_the_set_up(tools, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert build.main([str(tmp_path / "file")]) == 0
    assert "not built" in capsys.readouterr().out
