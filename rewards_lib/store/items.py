"""Small records that are replaced as a whole: jobs, regression cases, data sets.

Invariant: an id has one record. Of two that are put the last is kept; what several writers go on from is changed in one
step.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import Connection, RowMapping, delete, insert, select, update
from sqlalchemy.sql.elements import ColumnElement

from rewards_lib.contract import JsonObject
from rewards_lib.store.database import Database
from rewards_lib.store.records import Item, ItemKind, decode_content, encode_content
from rewards_lib.store.schema import ITEMS


class Items:
    """The records of one database. ``Store`` says what each method does; this class does it."""

    def __init__(self, database: Database, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    def put(self, kind: ItemKind, name: str, content: JsonObject) -> Item:
        """Keep a record; see ``Store.put_item``."""
        values = {"content": encode_content(content), "saved_at": self._now().isoformat()}
        self._database.write(lambda connection: _put(connection, kind, name, values))
        return Item(kind, name, content, datetime.fromisoformat(values["saved_at"]))

    def change(self, kind: ItemKind, name: str, change: Callable[[JsonObject | None], JsonObject]) -> Item:
        """Replace a record by what becomes of it; see ``Store.change_item``."""

        def work(connection: Connection) -> Item:
            row = connection.execute(select(ITEMS.c.content).where(_is(kind, name))).scalar_one_or_none()
            content = change(None if row is None else decode_content(row))
            values = {"content": encode_content(content), "saved_at": self._now().isoformat()}
            _put(connection, kind, name, values)
            return Item(kind, name, content, datetime.fromisoformat(values["saved_at"]))

        return self._database.write(work)

    def find(self, kind: ItemKind, name: str) -> Item | None:
        """Read one record; None when there is none."""
        wanted = select(ITEMS).where(_is(kind, name))
        row = self._database.read(lambda connection: connection.execute(wanted).mappings().one_or_none())
        return None if row is None else _item(row)

    def list(self, kind: ItemKind) -> tuple[Item, ...]:
        """Read the records of a kind, the newest first."""
        wanted = select(ITEMS).where(ITEMS.c.kind == kind).order_by(ITEMS.c.saved_at.desc(), ITEMS.c.id)
        return self._database.read(
            lambda connection: tuple(_item(row) for row in connection.execute(wanted).mappings())
        )

    def remove(self, kind: ItemKind, name: str) -> None:
        """Remove a record, if it is there."""
        self._database.write(lambda connection: connection.execute(delete(ITEMS).where(_is(kind, name))))


def _put(connection: Connection, kind: ItemKind, name: str, values: dict[str, str]) -> None:
    changed = connection.execute(update(ITEMS).where(_is(kind, name)).values(**values))
    if not changed.rowcount:
        connection.execute(insert(ITEMS).values(kind=kind, id=name, **values))


def _is(kind: ItemKind, name: str) -> ColumnElement[bool]:
    return (ITEMS.c.kind == kind) & (ITEMS.c.id == name)


def _item(row: RowMapping) -> Item:
    return Item(row["kind"], row["id"], decode_content(row["content"]), datetime.fromisoformat(row["saved_at"]))
