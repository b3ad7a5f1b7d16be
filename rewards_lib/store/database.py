"""Transactions over one database, whatever its URL, and its failures in the words of the error family.

Invariant: a block of ``write`` sees nothing of other writers until it is done, and they nothing of it.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from rewards_lib.contract import sentence
from rewards_lib.data_directory import HOME_VARIABLE, data_directory
from rewards_lib.errors import StoreError
from rewards_lib.store import schema
from rewards_lib.store.location import DATABASE_VARIABLE, FILE_NAME

BUSY_SECONDS = 30.0
WRITE_ATTEMPTS = 20
POOL_CONNECTIONS = 20

Result = TypeVar("Result")

_KEEP = sentence(
    "Keep that file, it may hold your drafts: move it away to begin with an empty store, or put a backup in its place."
)
_WRITABLE = sentence("Make the file and its folder writable, or name another folder in {home}.")
_OTHER = sentence("Mend it, or name another folder in {home} or another SQLAlchemy URL in {database}.")
# What SQLite says, and what its user can do about it. The first part that occurs decides.
_REMEDIES = {
    "not a database": _KEEP,
    "malformed": _KEEP,
    "locked": sentence("Another process holds the file; end it, then try again."),
    "full": sentence("Make room on that disk, then save again."),
    "readonly": _WRITABLE,
    "unable to open": _WRITABLE,
    "Permission denied": _WRITABLE,
}


class Database:
    """An open database in the present schema.

    Raises StoreError when it cannot be opened or read, or when a newer console wrote it.
    """

    def __init__(self, url: str | None) -> None:
        address = _address(url)
        self._is_sqlite = address.get_backend_name() == "sqlite"
        self.place = str(address.database) if _is_file(address) else address.render_as_string(hide_password=True)
        """Where the data are, for messages: a path, or the URL without its password."""
        # The one connection of a database in memory is shared by all threads, so their transactions take turns.
        shares_connection = self._is_sqlite and not _is_file(address)
        self._turn: AbstractContextManager[object] = threading.RLock() if shares_connection else nullcontext()
        self._watching = threading.Lock()
        self._watcher: sqlite3.Connection | None = None
        """A connection that only asks whether others have written."""
        with self._own_words():
            self._engine = _engine(address)
            self._bring_up_to_date()

    def _bring_up_to_date(self) -> None:
        present, newest = self.read(schema.schema_version), len(schema.MIGRATIONS)
        if present > newest:
            raise StoreError(
                "This store was written by a newer console (schema {present}; this one knows {newest}).",
                where=self.place,
                present=present,
                newest=newest,
                remedy="Update the console, or name another folder in {home}.",
                home=HOME_VARIABLE,
            )
        if present < newest:
            self.write(schema.migrate)

    def read(self, work: Callable[[Connection], Result]) -> Result:
        """Run ``work`` over a snapshot and return its result. Raises StoreError when the database fails."""
        with self._own_words(), self._turn, self._engine.connect() as connection:
            return work(connection)

    def write(self, work: Callable[[Connection], Result]) -> Result:
        """Run ``work`` in a transaction of its own and return its result once that is on the disk.

        ``work`` may run more than once: where writers are not queued as SQLite does it, they race, and the database
        refuses the loser. Raises StoreError when the database fails or stays busy.
        """
        with self._own_words(), self._turn, self._engine.connect() as connection:
            connection.execution_options(writes=True)
            attempts_left = 1 if self._is_sqlite else WRITE_ATTEMPTS
            while True:
                attempts_left -= 1
                try:
                    with connection.begin():
                        return work(connection)
                except DBAPIError as error:
                    if error.connection_invalidated or attempts_left == 0:
                        raise

    def change_mark(self) -> object:
        """A value that differs from the one before whenever anything was written meanwhile, by whatever process.

        Asking costs some microseconds for a file. Another kind of database cannot be asked so cheaply: there the value
        differs at every call.
        """
        if not (self._is_sqlite and _is_file(self._engine.url)):
            return object()
        with self._own_words(), self._watching:
            if self._watcher is None:
                self._watcher = sqlite3.connect(str(self._engine.url.database), check_same_thread=False)
            try:
                return self._watcher.execute("PRAGMA data_version").fetchone()[0]
            except sqlite3.Error:
                self._watcher = None  # a file that was moved away: the next call looks at what stands there then
                return object()

    def close(self) -> None:
        """Give the connections back."""
        if self._watcher is not None:
            self._watcher.close()
        self._engine.dispose()

    @contextmanager
    def _own_words(self) -> Iterator[None]:
        """Turn what the driver says into one sentence with the place and the way out."""
        try:
            yield
        except (SQLAlchemyError, ImportError, OSError) as error:
            cause = str(error.orig if isinstance(error, DBAPIError) else error).strip().split("\n")[0]
            remedy = next((text for part, text in _REMEDIES.items() if part in cause), _OTHER)
            raise StoreError(
                "The store of drafts and versions failed: {cause}.",
                where=self.place,
                cause=cause,
                remedy=remedy.template,
                home=HOME_VARIABLE,
                database=DATABASE_VARIABLE,
            ) from error


def _address(url: str | None) -> URL:
    """The database meant: the argument, else the environment's, else the file in the user's data directory."""
    wanted = url or os.environ.get(DATABASE_VARIABLE)
    try:
        return make_url(wanted) if wanted else URL.create("sqlite", database=str(data_directory() / FILE_NAME))
    except ArgumentError as error:  # its text holds the URL, and with it perhaps a password
        raise StoreError(
            "This is not a database address.",
            where=DATABASE_VARIABLE,
            remedy="Write a SQLAlchemy URL: {example}.",
            example="sqlite:////data/rewards.sqlite3",
        ) from error


def _is_file(address: URL) -> bool:
    return address.get_backend_name() == "sqlite" and address.database not in {None, "", ":memory:"}


def _engine(address: URL) -> Engine:
    if address.get_backend_name() != "sqlite":
        return create_engine(address, isolation_level="SERIALIZABLE", pool_pre_ping=True, pool_size=POOL_CONNECTIONS)
    options = {"check_same_thread": False, "timeout": BUSY_SECONDS}
    if _is_file(address):
        _create_privately(Path(str(address.database)))
        engine = create_engine(address, connect_args=options, pool_size=POOL_CONNECTIONS)
    else:
        engine = create_engine(address, connect_args=options, poolclass=StaticPool)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _create_privately(path: Path) -> None:
    """Make folder and file for this user alone: sources and payloads are nobody else's; SQLite copies the mode."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        path.touch(mode=0o600)


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    """Leave transactions to ``_begin_sqlite``; write ahead, and wait for the disk so that a power cut loses nothing."""
    connection.isolation_level = None
    connection.execute("PRAGMA synchronous = FULL")
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            # Switching a new file does not wait for others who open it in the same moment, whatever the time-out.
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _begin_sqlite(connection: Connection) -> None:
    """Take the write lock at once: a reader that turns writer half-way is refused without waiting."""
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
