"""What the store keeps, as values: drafts, versions, and the conflict between two tabs.

Invariant: contents are strict JSON of bounded size, and equal contents have equal fingerprints.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Literal, TypeAlias, get_args

from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError, NotFoundError, StoreError
from rewards_lib.strict_json import write_json

Kind: TypeAlias = Literal["function", "mix", "payload", "exercise"]
"""What a text is: a custom function, a mix, a payload of the Test page, or what was written for an exercise."""

ItemKind: TypeAlias = Literal["job", "case", "dataset", "exercise"]
"""What a record is: long work and how far it came, a regression case, a data set that was read, the progress in an
exercise."""

NAME_CHARACTERS = 80
NOTE_CHARACTERS = 2_000
NAMES_SHOWN = 10
CONTENT_BYTES = 8_000_000

# A name is part of an address (/rewards/{name}), of a folder and of a command line: it cannot begin with a dot or a
# dash. \w takes letters and digits of every script, Chinese included.
_NAME = re.compile(rf"\w[\w.-]{{0,{NAME_CHARACTERS - 1}}}")

# Databases refuse NUL, and nothing can be encoded that holds half of a surrogate pair.
_NO_TEXT = re.compile("[\0\ud800-\udfff]")


def read_reference(reference: str) -> tuple[str, int | None]:
    """Read ``name`` or ``name@3``. Raises InputError for a number that no version can have.

    >>> read_reference("math@2"), read_reference("math")
    (('math', 2), ('math', None))
    """
    name, at, number = reference.partition("@")
    if at and not re.fullmatch(r"0*[1-9][0-9]{0,8}", number):
        raise InputError(
            "The version {number} of {name} is not a number.", number=number, name=name,
            remedy="Write name@3, or the name alone.",
        )  # fmt: skip
    return name, int(number) if at else None


@dataclass(frozen=True, slots=True)
class Draft:
    """A text being edited, as last saved."""

    kind: Kind
    name: str
    content: JsonObject
    """For a function ``{"source", "requirements", "allow_hosts"}``; the store does not look inside."""
    revision: int
    """Counts the saves under this name; rises also over deletions, so that an old number never fits a new text."""
    saved_at: datetime
    """When the content last changed, UTC."""

    @property
    def sha256(self) -> str:
        """The content's fingerprint; its first four digits name a draft on screen."""
        return fingerprint(self.content)


@dataclass(frozen=True, slots=True)
class Version:
    """What was published under a number; only ``withdrawn_at`` ever changes."""

    kind: Kind
    name: str
    number: int
    """From 1, without gaps, for each kind and name."""
    content: JsonObject
    sha256: str
    """The content's fingerprint."""
    note: str
    published_at: datetime
    """UTC."""
    withdrawn_at: datetime | None = None
    """UTC; None while the version may be served."""
    repeated: bool = field(default=False, compare=False)
    """True when ``publish`` found this content published already and made no new version."""

    @property
    def label(self) -> str:
        """The version as mixes and addresses name it, ``name@number``."""
        return f"{self.name}@{self.number}"


@dataclass(frozen=True, slots=True)
class Item:
    """A small record that is replaced as a whole; the newest counts."""

    kind: ItemKind
    id: str
    content: JsonObject
    saved_at: datetime
    """UTC."""


class DraftConflict(StoreError):  # noqa: N818 - the word the screen uses
    """The draft was saved, renamed or deleted elsewhere since the revision this save began from. Nothing was saved."""

    code: ClassVar[str] = "draft_conflict"

    def __init__(self, kind: Kind, name: str, *, mine: JsonObject, theirs: Draft | None) -> None:
        self.mine = mine
        """The content that was not saved."""
        self.theirs = theirs
        """The draft that stands in the store; None when it was renamed or deleted."""
        if theirs is None:
            super().__init__(
                "The draft {name} was renamed or deleted elsewhere; your text is not saved.",
                where=kind,
                name=name,
                remedy="Save it as a new draft to keep it.",
            )
        else:
            super().__init__(
                "The draft {name} was saved elsewhere at {time} UTC; your text is not saved.",
                where=kind,
                name=name,
                time=theirs.saved_at.strftime("%H:%M:%S"),
                remedy="Keep yours or take theirs; both texts are there.",
            )


class WithdrawnError(StoreError):
    """A version that may no longer be served. Its text can still be read and restored."""

    code: ClassVar[str] = "withdrawn"
    exit_status: ClassVar[int] = 2
    http_status: ClassVar[int] = 410


def compose(name: str) -> str:
    """The name in composed Unicode form: one spelling for what looks the same, whatever keyboard wrote it."""
    return unicodedata.normalize("NFC", name)


def check_key(kind: str, name: str) -> str:
    """The name in composed Unicode form, after both were checked. Raises InputError."""
    if kind not in get_args(Kind):
        known = "Use function, mix, payload or exercise."
        raise InputError("{kind} is not a kind of text.", kind=repr(kind), remedy=known)
    composed = compose(name)
    if not _NAME.fullmatch(composed):
        raise InputError(
            "{name} is not a usable name.",
            where=kind,
            name=repr(name[: NAME_CHARACTERS + 1]),
            remedy="Use 1 to {characters} letters, digits, _ - or . and begin with a letter, a digit or _.",
            characters=NAME_CHARACTERS,
        )
    return composed


def check_note(note: str) -> str:
    """The note without blanks around it. Raises InputError when it is too long or not plain text."""
    if len(note) > NOTE_CHARACTERS:
        raise InputError("The note has {size} characters; the limit is {limit}.", size=len(note), limit=NOTE_CHARACTERS)
    if _NO_TEXT.search(note):
        raise InputError("The note holds characters that are no text.", remedy="Type it anew.")
    return note.strip()


def missing(message: str, existing: Iterable[str], **values: str) -> NotFoundError:
    """The error for something that is not there; its remedy names up to ten of those that are."""
    names = list(existing)
    if not names:
        return NotFoundError(message, remedy="There are none yet.", **values)
    shown, more = ", ".join(names[:NAMES_SHOWN]), len(names) - NAMES_SHOWN
    return NotFoundError(
        message,
        remedy="There are: {existing}, and {more} more." if more > 0 else "There are: {existing}.",
        existing=shown,
        more=str(more),
        **values,
    )


def encode_content(content: JsonObject) -> str:
    """Write a content as strict JSON text. Raises InputError when it is not JSON or too large."""
    try:
        text = write_json(content)
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError("The content is not strict JSON: {reason}.", reason=str(error)) from error
    size = len(text.encode())
    if size > CONTENT_BYTES:
        raise InputError("The content has {size} bytes; the limit is {limit}.", size=size, limit=CONTENT_BYTES)
    return text


def decode_content(text: str) -> JsonObject:
    """Read what ``encode_content`` wrote."""
    content: JsonObject = json.loads(text)
    return content


def fingerprint(content: JsonObject) -> str:
    """The sha256 of a content, in hexadecimal; the order of keys does not matter.

    >>> fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    True
    """
    canonical = json.dumps(decode_content(write_json(content)), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
