"""Secrets at rest: encrypted, their owner's alone, one key whoever comes first."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from rewards_lib.errors import InputError, NotFoundError, StoreError
from rewards_lib.store.secrets import KEY_FILE, VALUES_FILE, SecretStore, find_secret

VALUE = "sk-test-0123456789"


@pytest.fixture
def secrets(tmp_path):
    return SecretStore(tmp_path / "home")


def test_a_value_is_kept_replaced_and_forgotten(secrets):
    secrets.keep("JUDGE_KEY", VALUE)
    secrets.keep("OTHER", VALUE + "x")
    secrets.keep("JUDGE_KEY", VALUE[::-1])
    assert (secrets.names(), secrets.value("JUDGE_KEY")) == (("JUDGE_KEY", "OTHER"), VALUE[::-1])
    secrets.forget("JUDGE_KEY")
    secrets.forget("JUDGE_KEY")
    assert secrets.names() == ("OTHER",)
    with pytest.raises(NotFoundError, match="JUDGE_KEY has no value"):
        secrets.value("JUDGE_KEY")


def test_asking_creates_nothing(secrets, tmp_path):
    assert secrets.names() == ()
    assert list(tmp_path.iterdir()) == []


def test_no_file_holds_the_value_and_all_are_the_owners_alone(secrets, tmp_path):
    before = os.umask(0)
    try:
        secrets.keep("JUDGE_KEY", VALUE)
    finally:
        os.umask(before)
    files = {path.name: path for path in (tmp_path / "home").iterdir()}
    assert VALUE not in "".join(path.read_text() for path in files.values())
    assert {stat.S_IMODE(files[name].stat().st_mode) for name in (KEY_FILE, VALUES_FILE)} == {0o600}
    assert len(files) == 3


def test_whoever_keeps_first_makes_the_key_and_all_can_read(tmp_path):
    """Sixteen consoles over one folder: one key, no lost value."""
    stores = [SecretStore(tmp_path / "home") for _ in range(16)]
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda pair: pair[1].keep(f"KEY_{pair[0]}", f"{VALUE}{pair[0]}"), enumerate(stores)))
    assert [stores[0].value(f"KEY_{n}") for n in range(16)] == [f"{VALUE}{n}" for n in range(16)]
    assert sorted(path.name for path in (tmp_path / "home").iterdir()) == sorted(
        [KEY_FILE, VALUES_FILE, "secrets.lock"]
    )


def test_another_key_is_told_and_no_value_is_guessed(secrets, tmp_path):
    secrets.keep("JUDGE_KEY", VALUE)
    (tmp_path / "home" / KEY_FILE).unlink()
    SecretStore(tmp_path / "home").keep("OTHER", VALUE)
    with pytest.raises(StoreError, match="cannot be decrypted"):
        secrets.value("JUDGE_KEY")
    (tmp_path / "home" / KEY_FILE).write_text("no key")
    with pytest.raises(StoreError, match="cannot be used"):
        secrets.value("OTHER")


@pytest.mark.parametrize("name", ["", "1A", "A B", "A=B", "Ä", "A" * 65])
def test_a_name_is_that_of_a_variable(secrets, name):
    with pytest.raises(InputError, match="cannot name a secret"):
        secrets.keep(name, VALUE)


@pytest.mark.parametrize("value", ["", "sh0rt", " " * 20, "null\0null\0", "\ud800" * 9, "x" * 9_000])
def test_a_value_can_be_told_from_other_text_and_is_in_no_message(secrets, value):
    with pytest.raises(InputError, match="needs from 8 to") as caught:
        secrets.keep("JUDGE_KEY", value)
    assert not value.strip() or value not in str(caught.value)


def test_a_variable_of_the_name_wins_over_the_kept_value(secrets, monkeypatch):
    secrets.keep("JUDGE_KEY", VALUE)
    assert find_secret("JUDGE_KEY", secrets) == VALUE
    monkeypatch.setenv("JUDGE_KEY", "from the environment")
    assert find_secret("JUDGE_KEY", secrets) == "from the environment"
    monkeypatch.setenv("JUDGE_KEY", "short")
    with pytest.raises(InputError):
        find_secret("JUDGE_KEY", secrets)
