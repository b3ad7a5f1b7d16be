"""Where the data lie, how a file grows older, and what is said when it cannot be used."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect
from sqlalchemy.exc import OperationalError

from rewards_lib.errors import StoreError
from rewards_lib.store import Store, schema
from rewards_lib.store.database import Database

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    for name in ("REWARD_CONSOLE_HOME", "REWARD_CONSOLE_DATABASE", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)


def test_the_environment_names_the_folder_or_the_database(monkeypatch, tmp_path):
    home, other = tmp_path / "100% mine?", tmp_path / "other.db"
    monkeypatch.setenv("REWARD_CONSOLE_HOME", str(home))
    assert Store().place == str(home / "reward-console.sqlite3")
    monkeypatch.setenv("REWARD_CONSOLE_DATABASE", f"sqlite:///{other}")
    assert Store().place == str(other)
    assert other.exists()


def test_the_file_is_for_its_user_alone(tmp_path):
    Store(f"sqlite:///{tmp_path / 'new' / 'a.db'}").save_draft("mix", "m", {}, base_revision=None)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "new").iterdir()} == {0o600}


def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path):
    path = tmp_path / "a.db"
    path.write_text("a letter to my grandmother, long enough to be taken for a page of something else" * 20)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"not a database.*Keep that file") as caught:
        Store(f"sqlite:///{path}")
    assert caught.value.where == str(path)
    assert path.read_bytes() == before


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="REWARD_CONSOLE_HOME") as caught:
        Store(f"sqlite:///{tmp_path / 'file' / 'a.db'}")
    assert caught.value.where == str(tmp_path / "file" / "a.db")


def test_a_bad_address_is_refused_without_its_password():
    with pytest.raises(StoreError, match="REWARD_CONSOLE_DATABASE") as caught:
        Store("postgres user:secret@host")
    assert "secret" not in str(caught.value)


def test_a_driver_that_is_not_installed_is_told_without_the_password():
    with pytest.raises(StoreError, match="failed") as caught:
        Store("mysql+nosuchdriver://user:secret@localhost/rewards")
    assert "secret" not in str(caught.value)


def test_a_newer_file_is_refused(tmp_path, monkeypatch):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with monkeypatch.context() as newer:
        newer.setattr(schema, "MIGRATIONS", [*schema.MIGRATIONS, ("CREATE TABLE jobs (id INTEGER)",)])
        Store(url).close()
    with pytest.raises(StoreError, match="written by a newer console"):
        Store(url)


def test_an_older_file_is_brought_up_to_date_with_its_contents(tmp_path, monkeypatch):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    Store(url).save_draft("mix", "m", {"a": 1}, base_revision=None)
    monkeypatch.setattr(schema, "MIGRATIONS", [*schema.MIGRATIONS, ("CREATE TABLE jobs (id INTEGER)",)])
    assert Store(url).load_draft("mix", "m").content == {"a": 1}
    assert "jobs" in inspect(create_engine(url)).get_table_names()


def test_a_step_that_fails_leaves_the_old_schema(tmp_path, monkeypatch):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    Store(url).close()
    with monkeypatch.context() as newer:
        newer.setattr(schema, "MIGRATIONS", [*schema.MIGRATIONS, ("CREATE TABLE jobs (id INTEGER)", "NONSENSE")])
        with pytest.raises(StoreError):
            Store(url)
    Store(url).close()
    assert "jobs" not in inspect(create_engine(url)).get_table_names()


def test_the_steps_make_the_tables_that_queries_name(tmp_path):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    Store(url).close()
    made = inspect(create_engine(url))
    for table in schema.METADATA.tables.values():
        columns = {(column["name"], str(column["type"]), column["nullable"]) for column in made.get_columns(table.name)}
        assert columns == {(column.name, str(column.type), column.nullable) for column in table.columns}
        assert made.get_pk_constraint(table.name)["constrained_columns"] == [key.name for key in table.primary_key]


def test_readers_are_not_held_up_by_a_writer(tmp_path):
    database = Database(f"sqlite:///{tmp_path / 'a.db'}")
    assert database.write(lambda _: database.read(schema.schema_version)) == len(schema.MIGRATIONS)
    database.close()


def test_where_writers_race_the_loser_tries_again(tmp_path):
    database, attempts = Database(f"sqlite:///{tmp_path / 'a.db'}"), []
    database._is_sqlite = False  # as on a server, where two writers may run at a time

    def work(_connection):
        attempts.append(1)
        if len(attempts) < 3:
            raise OperationalError("UPDATE", {}, Exception("could not serialize access"))
        return "saved"

    assert (database.write(work), len(attempts)) == ("saved", 3)
    database.close()


def test_importing_the_store_does_not_import_sqlalchemy():
    program = "import sys, rewards_lib.store; sys.exit('sqlalchemy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0
