"""Versions: what was published, numbered from 1 for each kind and name.

Invariant: a published row never changes but for the moment it was withdrawn, and numbers have no gaps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, RowMapping, insert, select, update
from sqlalchemy.sql.elements import ColumnElement

from rewards_lib.contract import JsonObject
from rewards_lib.errors import NotFoundError
from rewards_lib.store.database import Database
from rewards_lib.store.records import (
    Kind,
    Version,
    check_key,
    check_note,
    compose,
    decode_content,
    encode_content,
    fingerprint,
    missing,
)
from rewards_lib.store.schema import VERSIONS


class Versions:
    """The versions of one database. ``Store`` says what each method does; this class does it."""

    def __init__(self, database: Database, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    def publish(self, kind: Kind, name: str, content: JsonObject, note: str) -> Version:
        """Number and keep a content; see ``Store.publish``."""
        name, note = check_key(kind, name), check_note(note)
        text, digest = encode_content(content), fingerprint(content)

        def work(connection: Connection) -> Version:
            newest = _newest(connection, kind, name)
            if newest is not None and newest["sha256"] == digest and newest["withdrawn_at"] is None:
                return replace(_version(newest), repeated=True)
            number = (newest["number"] if newest is not None else 0) + 1
            version = Version(kind, name, number, decode_content(text), digest, note, self._now())
            connection.execute(
                insert(VERSIONS).values(
                    kind=kind,
                    name=name,
                    number=number,
                    content=text,
                    sha256=digest,
                    note=note,
                    published_at=version.published_at.isoformat(),
                )
            )
            return version

        return self._database.write(work)

    def list(self, kind: Kind | None, name: str | None) -> tuple[Version, ...]:
        """Read versions by kind and name, the newest of each first."""
        wanted = select(VERSIONS).order_by(VERSIONS.c.kind, VERSIONS.c.name, VERSIONS.c.number.desc())
        if kind is not None:
            wanted = wanted.where(VERSIONS.c.kind == kind)
        if name is not None:
            wanted = wanted.where(VERSIONS.c.name == compose(name))
        return self._database.read(
            lambda connection: tuple(_version(row) for row in connection.execute(wanted).mappings())
        )

    def load(self, kind: Kind, name: str, number: int | None) -> Version:
        """Read one version; see ``Store.load_version``."""
        name = check_key(kind, name)
        return self._database.read(lambda connection: _find(connection, kind, name, number))

    def withdraw(self, kind: Kind, name: str, number: int) -> Version:
        """Mark a version as not to be served; see ``Store.withdraw``."""
        name = check_key(kind, name)

        def work(connection: Connection) -> Version:
            version = _find(connection, kind, name, number)
            if version.withdrawn_at is not None:
                return version
            moment = self._now()
            this = _is(kind, name) & (VERSIONS.c.number == number)
            connection.execute(update(VERSIONS).where(this).values(withdrawn_at=moment.isoformat()))
            return replace(version, withdrawn_at=moment)

        return self._database.write(work)


def _is(kind: Kind, name: str) -> ColumnElement[bool]:
    return (VERSIONS.c.kind == kind) & (VERSIONS.c.name == name)


def _newest(connection: Connection, kind: Kind, name: str) -> RowMapping | None:
    return (
        connection.execute(select(VERSIONS).where(_is(kind, name)).order_by(VERSIONS.c.number.desc()).limit(1))
        .mappings()
        .one_or_none()
    )


def _find(connection: Connection, kind: Kind, name: str, number: int | None) -> Version:
    wanted = select(VERSIONS).where(_is(kind, name)).order_by(VERSIONS.c.number.desc()).limit(1)
    which = VERSIONS.c.withdrawn_at.is_(None) if number is None else VERSIONS.c.number == number
    row = connection.execute(wanted.where(which)).mappings().one_or_none()
    if row is not None:
        return _version(row)
    newest = _newest(connection, kind, name)
    if newest is None:
        names = connection.scalars(select(VERSIONS.c.name).where(VERSIONS.c.kind == kind).distinct().order_by("name"))
        raise missing("There is no published {kind} named {name}.", names, kind=kind, name=name)
    if number is None:
        raise NotFoundError(
            "Every version of {name} is withdrawn.", where=kind, name=name, remedy="Publish another, or name a version."
        )
    raise missing(
        "{name} has no version {number}.", map(str, range(1, newest["number"] + 1)), name=name, number=str(number)
    )


def _version(row: RowMapping) -> Version:
    return Version(
        row["kind"],
        row["name"],
        row["number"],
        decode_content(row["content"]),
        row["sha256"],
        row["note"],
        datetime.fromisoformat(row["published_at"]),
        datetime.fromisoformat(row["withdrawn_at"]) if row["withdrawn_at"] else None,
    )
