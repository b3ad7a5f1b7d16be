"""The one folder of a user's data: what names it, and who asks for it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rewards_lib.data_directory import data_directory
from rewards_lib.errors import DependencyError
from rewards_lib.executor import Executor
from rewards_lib.store import Store


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    for name in ("REWARD_CONSOLE_HOME", "REWARD_CONSOLE_DATABASE", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)


def test_it_follows_the_system(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", "/home/ada")
    assert data_directory() == Path("/home/ada/.local/share/reward-console")
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert data_directory() == Path("/home/ada/.local/share/reward-console")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert data_directory() == Path("/data/reward-console")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert data_directory() == Path("/home/ada/Library/Application Support/reward-console")


def test_a_tilde_and_a_relative_folder_mean_one_place_to_store_and_executor(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("REWARD_CONSOLE_HOME", "~/mine")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("UV_NO_INDEX", "1")
    assert Store().place == str(tmp_path / "mine" / "reward-console.sqlite3")
    with Executor() as executor, pytest.raises(DependencyError):
        executor.install("no-such-thing")
    assert (tmp_path / "mine" / "environments").is_dir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REWARD_CONSOLE_HOME", "here")
    assert data_directory() == tmp_path / "here"


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch):
    def unknown() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", unknown)
    monkeypatch.setattr(sys, "platform", "linux")
    with pytest.raises(DependencyError, match="REWARD_CONSOLE_HOME"):
        Store()
