"""The store's face: what pages, the command line and the service call.

Invariant: every method is one transaction; when it returns, what it did is on the disk.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from rewards_lib.contract import JsonObject
from rewards_lib.errors import NotFoundError
from rewards_lib.store.records import Draft, Item, ItemKind, Kind, Version


def utc_now() -> datetime:
    """The present moment, UTC."""
    return datetime.now(UTC)


class Store:
    """Drafts and versions in one database; one object serves all threads of a process, many processes one file.

    Every method raises StoreError when the database fails (where it is and what to do are in the error), and InputError
    for a content that cannot be kept: contents are strict JSON of at most 8 000 000 bytes. For drafts and versions a
    kind, name or note may be what cannot be kept, too: names have 1 to 80 letters (of any script), digits, ``_``, ``-``
    and ``.``, and begin with a letter, a digit or ``_``. The ids of records are their writers' own and not looked at.
    """

    def __init__(self, url: str | None = None, *, now: Callable[[], datetime] = utc_now) -> None:
        """Open the database, create or update its tables.

        ``url`` is a SQLAlchemy URL; without one ``REWARD_CONSOLE_DATABASE`` counts, and without that the file
        ``reward-console.sqlite3`` in ``data_directory()``. A newer schema than this console knows is refused.
        """
        # Imported here so that importing the package stays cheap for commands that keep nothing.
        from rewards_lib.store.database import Database
        from rewards_lib.store.drafts import Drafts
        from rewards_lib.store.items import Items
        from rewards_lib.store.versions import Versions

        self._database = Database(url)
        self._drafts = Drafts(self._database, now)
        self._versions = Versions(self._database, now)
        self._items = Items(self._database, now)

    @property
    def place(self) -> str:
        """Where the data are: a path, or the URL without its password."""
        return self._database.place

    def change_mark(self) -> object:
        """A value that differs whenever anything was written since, by whatever process: cheap to ask, to compare.

        What was read stays true as long as the mark is equal. Where a database cannot tell, no two marks are equal.
        """
        return self._database.change_mark()

    def close(self) -> None:
        """Close the connections; the store may not be used after that."""
        self._database.close()

    def save_draft(self, kind: Kind, name: str, content: JsonObject, *, base_revision: int | None) -> Draft:
        """Save a draft over the revision its author has seen, and return it as it now stands.

        ``base_revision`` is the ``revision`` of the draft that was loaded or saved last; None when the author believes
        that there is none. Content that is already there is not saved again: the present draft comes back, whoever
        saved it. Raises DraftConflict, with both texts, when anything else stands there; nothing is saved then. To
        keep one's own text against ``conflict.theirs``, save again over ``theirs.revision`` (None if it is gone).
        """
        return self._drafts.save(kind, name, content, base_revision)

    def load_draft(self, kind: Kind, name: str) -> Draft:
        """Read a draft. Raises NotFoundError, which names the drafts there are."""
        return self._drafts.load(kind, name)

    def find_draft(self, kind: Kind, name: str) -> Draft | None:
        """Read a draft; None when there is none of that name."""
        try:
            return self._drafts.load(kind, name)
        except NotFoundError:
            return None

    def list_drafts(self, kind: Kind | None = None) -> tuple[Draft, ...]:
        """Read all drafts of a kind, or of all kinds, ordered by kind and name."""
        return self._drafts.list(kind)

    def rename_draft(self, kind: Kind, name: str, new_name: str) -> Draft:
        """Move a draft to another name and return it there; versions stay under the name they were published with.

        Raises NotFoundError without such a draft and StoreError when the new name is taken. A tab that still edits
        under the old name meets a DraftConflict whose ``theirs`` is None.
        """
        return self._drafts.rename(kind, name, new_name)

    def delete_draft(self, kind: Kind, name: str) -> None:
        """Remove a draft and its text; versions stay. Raises NotFoundError."""
        self._drafts.delete(kind, name)

    def publish(self, kind: Kind, name: str, content: JsonObject, note: str = "") -> Version:
        """Keep a content for good under the next number, and return the version.

        When the newest version has the same content and is not withdrawn, that version comes back with ``repeated``
        set, under its own note and time: publishing twice is no second version. The note has at most 2 000 characters.
        """
        return self._versions.publish(kind, name, content, note)

    def versions(self, kind: Kind | None = None, name: str | None = None) -> tuple[Version, ...]:
        """Read versions, withdrawn ones included, ordered by kind and name, the newest of each first."""
        return self._versions.list(kind, name)

    def load_version(self, kind: Kind, name: str, number: int | None = None) -> Version:
        """Read a version; without a number the newest that is not withdrawn.

        A version asked for by number comes also when it is withdrawn (old results name it): who serves looks at
        ``withdrawn_at``. Raises NotFoundError, which names what there is.
        """
        return self._versions.load(kind, name, number)

    def withdraw(self, kind: Kind, name: str, number: int) -> Version:
        """Mark a version as not to be served and return it; its content and number stay.

        A second withdrawal changes nothing. Raises NotFoundError.
        """
        return self._versions.withdraw(kind, name, number)

    def put_item(self, kind: ItemKind, name: str, content: JsonObject) -> Item:
        """Keep a record under its id, in the place of an earlier one, and return it."""
        return self._items.put(kind, name, content)

    def change_item(self, kind: ItemKind, name: str, change: Callable[[JsonObject | None], JsonObject]) -> Item:
        """Put what ``change`` makes of a record's content (None when there is none) in its place, and return it.

        No other writer comes between; ``change`` may be called more than once and should do nothing else.
        """
        return self._items.change(kind, name, change)

    def find_item(self, kind: ItemKind, name: str) -> Item | None:
        """Read a record; None when there is none of that id."""
        return self._items.find(kind, name)

    def list_items(self, kind: ItemKind) -> tuple[Item, ...]:
        """Read all records of a kind, the one that was saved last first."""
        return self._items.list(kind)

    def remove_item(self, kind: ItemKind, name: str) -> None:
        """Remove a record; nothing happens when there is none."""
        self._items.remove(kind, name)
