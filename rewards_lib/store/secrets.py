"""Secrets by name: values that reward functions get through ``os.environ`` and that nobody reads back.

They lie encrypted in one file of the data directory, the key in another, both for their owner alone. Invariant: a value
is on the disk only encrypted, and in no message of this module. Who can read both files can read the values: the key
keeps them out of backups, synchronised folders and screen shares of one file.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rewards_lib.data_directory import data_directory
from rewards_lib.errors import InputError, NotFoundError, StoreError
from rewards_lib.whole_files import write_whole

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

KEY_FILE, VALUES_FILE, LOCK_FILE = "secrets.key", "secrets.json", "secrets.lock"
LEAST_CHARACTERS, MOST_CHARACTERS = 8, 8_192
"""Of a value. Shorter ones are words of any log, and could not be kept out of it."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_OWNER_ONLY = 0o600


class SecretStore:
    """The secrets of one data directory. Safe for several processes; creates nothing until a value is kept."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or data_directory()

    def names(self) -> tuple[str, ...]:
        """The names that have a value, in order."""
        return tuple(sorted(self._read()))

    def keep(self, name: str, value: str) -> None:
        """Keep a value under a name, in place of the one before.

        Raises InputError for a name that is no name of an environment variable and for a value that is too short to be
        kept out of logs, StoreError when the folder cannot be written.
        """
        check_secret(name, value)
        with self._locked():
            self._write(self._read() | {name: self._cipher().encrypt(value.encode()).decode()})

    def value(self, name: str) -> str:
        """Read a value. Raises NotFoundError when there is none, StoreError when the key does not fit."""
        from cryptography.fernet import InvalidToken

        token = self._read().get(name)
        if token is None:
            raise NotFoundError(
                "The secret {name} has no value here.", name=name, remedy="Set it on the Functions page."
            )
        try:
            return self._cipher().decrypt(token.encode()).decode()
        except InvalidToken:
            raise StoreError(
                "The secret {name} cannot be decrypted: {file} is not the key it was kept with.", name=name,
                file=str(self._folder / KEY_FILE), remedy="Set it anew.",
            ) from None  # fmt: skip

    def forget(self, name: str) -> None:
        """Delete a value; a name without one stays without one."""
        with self._locked():
            self._write({kept: token for kept, token in self._read().items() if kept != name})

    # --- files -----------------------------------------------------------------------------------------------------

    def _read(self) -> dict[str, str]:
        path = self._folder / VALUES_FILE
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise StoreError("{file} cannot be read: {why}.", file=str(path), why=str(error)) from None
        return {str(name): str(token) for name, token in found.items()} if isinstance(found, dict) else {}

    def _write(self, values: dict[str, str]) -> None:
        with write_whole(self._folder / VALUES_FILE, mode=_OWNER_ONLY) as file:
            file.write(json.dumps(values, indent=1).encode())

    def _cipher(self) -> Fernet:
        """The cipher of this folder, its key made at the first use; of two who make one, the first one's counts."""
        from cryptography.fernet import Fernet

        path = self._folder / KEY_FILE
        try:
            if not path.exists():
                with write_whole(path, mode=_OWNER_ONLY, replaces=False) as file:
                    file.write(Fernet.generate_key())
            return Fernet(path.read_bytes())
        except (OSError, ValueError) as error:
            raise StoreError("The key {file} cannot be used: {why}.", file=str(path), why=str(error)) from None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with (self._folder / LOCK_FILE).open("w") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                yield
        except OSError as error:
            raise StoreError("The secrets cannot be written: {why}.", why=str(error)) from None


def check_secret(name: str, value: str) -> None:
    """Raise InputError unless a name can be a variable's and a value can be kept out of logs."""
    if not _NAME.fullmatch(name):
        raise InputError(
            "{name} cannot name a secret: use letters, digits and underscores, not a digit first.", name=name
        )
    is_text = value.strip() and "\0" not in value and not any("\ud800" <= character <= "\udfff" for character in value)
    if not is_text or not LEAST_CHARACTERS <= len(value) <= MOST_CHARACTERS:
        raise InputError(
            "The secret {name} needs from {least} to {most} characters: a shorter value cannot be told from other "
            "text in a log.", name=name, least=LEAST_CHARACTERS, most=MOST_CHARACTERS,
        )  # fmt: skip


def find_secret(name: str, store: SecretStore | None = None) -> str:
    """Return a secret's value: that of the environment variable of its name, else the kept one.

    Raises NotFoundError when there is neither, InputError when the variable holds what cannot be a secret.
    """
    value = os.environ.get(name)
    if value is None:
        return (store or SecretStore()).value(name)
    check_secret(name, value)
    return value
