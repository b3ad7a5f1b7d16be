"""Drafts: texts being edited, each with the revision its next save has to name.

Invariant: a save replaces exactly the revision it names, or nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import Connection, RowMapping, insert, select, update
from sqlalchemy.sql.elements import ColumnElement

from rewards_lib.contract import JsonObject
from rewards_lib.errors import StoreError
from rewards_lib.store.database import Database
from rewards_lib.store.records import (
    Draft,
    DraftConflict,
    Kind,
    check_key,
    decode_content,
    encode_content,
    fingerprint,
    missing,
)
from rewards_lib.store.schema import DRAFTS


class Drafts:
    """The drafts of one database. ``Store`` says what each method does; this class does it."""

    def __init__(self, database: Database, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    def save(self, kind: Kind, name: str, content: JsonObject, base_revision: int | None) -> Draft:
        """Save over ``base_revision``; see ``Store.save_draft``."""
        name, text, digest = check_key(kind, name), encode_content(content), fingerprint(content)

        def work(connection: Connection) -> Draft:
            row = _row(connection, kind, name)
            present = _draft(row) if row is not None and row["content"] is not None else None
            if present is not None and present.sha256 == digest:
                return present
            if base_revision != (present.revision if present else None):
                raise DraftConflict(kind, name, mine=content, theirs=present)
            return self._put(connection, kind, name, text)

        return self._database.write(work)

    def load(self, kind: Kind, name: str) -> Draft:
        """Read one draft. Raises NotFoundError."""
        name = check_key(kind, name)
        return self._database.read(lambda connection: _live(connection, kind, name))

    def list(self, kind: Kind | None) -> tuple[Draft, ...]:
        """Read the drafts of a kind, or all, by kind and name."""
        wanted = select(DRAFTS).where(DRAFTS.c.content.is_not(None)).order_by(DRAFTS.c.kind, DRAFTS.c.name)
        if kind is not None:
            wanted = wanted.where(DRAFTS.c.kind == kind)
        return self._database.read(
            lambda connection: tuple(_draft(row) for row in connection.execute(wanted).mappings())
        )

    def rename(self, kind: Kind, name: str, new_name: str) -> Draft:
        """Move a draft to a free name; see ``Store.rename_draft``."""
        name, new_name = check_key(kind, name), check_key(kind, new_name)

        def work(connection: Connection) -> Draft:
            draft = _live(connection, kind, name)
            if new_name == name:
                return draft
            target = _row(connection, kind, new_name)
            if target is not None and target["content"] is not None:
                raise StoreError(
                    "There is already a draft named {name}.", where=kind, name=new_name, remedy="Choose another name."
                )
            self._bury(connection, kind, name)
            return self._put(connection, kind, new_name, encode_content(draft.content))

        return self._database.write(work)

    def delete(self, kind: Kind, name: str) -> None:
        """Remove a draft; see ``Store.delete_draft``."""
        name = check_key(kind, name)

        def work(connection: Connection) -> None:
            _live(connection, kind, name)
            self._bury(connection, kind, name)

        self._database.write(work)

    def _put(self, connection: Connection, kind: Kind, name: str, text: str) -> Draft:
        """Write the content under the next revision of this name."""
        row = _row(connection, kind, name)
        revision, saved_at = (row["revision"] if row is not None else 0) + 1, self._now()
        values = {"content": text, "revision": revision, "saved_at": saved_at.isoformat()}
        if row is None:
            connection.execute(insert(DRAFTS).values(kind=kind, name=name, **values))
        else:
            connection.execute(update(DRAFTS).where(_is(kind, name)).values(**values))
        return Draft(kind, name, decode_content(text), revision, saved_at)

    def _bury(self, connection: Connection, kind: Kind, name: str) -> None:
        """Take the content away and keep the counter, or a tab left open could overwrite a later draft of this name."""
        gone = {"content": None, "revision": DRAFTS.c.revision + 1, "saved_at": self._now().isoformat()}
        connection.execute(update(DRAFTS).where(_is(kind, name)).values(**gone))


def _is(kind: Kind, name: str) -> ColumnElement[bool]:
    return (DRAFTS.c.kind == kind) & (DRAFTS.c.name == name)


def _row(connection: Connection, kind: Kind, name: str) -> RowMapping | None:
    return connection.execute(select(DRAFTS).where(_is(kind, name))).mappings().one_or_none()


def _live(connection: Connection, kind: Kind, name: str) -> Draft:
    row = _row(connection, kind, name)
    if row is not None and row["content"] is not None:
        return _draft(row)
    names = connection.scalars(
        select(DRAFTS.c.name).where((DRAFTS.c.kind == kind) & DRAFTS.c.content.is_not(None)).order_by(DRAFTS.c.name)
    )
    raise missing("There is no {kind} draft named {name}.", names, kind=kind, name=name)


def _draft(row: RowMapping) -> Draft:
    content = decode_content(row["content"])
    return Draft(row["kind"], row["name"], content, row["revision"], datetime.fromisoformat(row["saved_at"]))
