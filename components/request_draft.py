"""The request on the Test page: its draft, what it is in a line, and what it can be scored with."""

from __future__ import annotations

from dataclasses import dataclass

from components import cache, drafts, examples, scoring
from components.i18n import _
from components.mix_draft import open_mix, read_content
from components.state import Answer, OpenDraft
from components.theme import count
from rewards_lib.contract import Finding, MixResult, Payload
from rewards_lib.errors import InputError, NotFoundError, boundary
from rewards_lib.function_sources import draft_version, from_content
from rewards_lib.payloads import read_payload
from rewards_lib.publishing import open_version
from rewards_lib.scoring import score_payload
from rewards_lib.store import Kind
from rewards_lib.strict_json import JsonError

NAME = "request"
FIRST = "ark_envelope"


def example_label(name: str) -> str:
    """What an example of ``examples.requests`` is called."""
    return {
        "ark_envelope": _("Ark envelope"),
        "bare_request": _("Bare request"),
        "dataset_row": _("Dataset row with completions"),
    }[name]


def open_request() -> OpenDraft:
    """The request as it was left, or the Ark example on the first visit."""
    draft = drafts.open_draft("payload", NAME, lambda: {"text": examples.requests()[FIRST]})
    drafts.autosave(draft, draft.content)
    return draft


@dataclass(frozen=True)
class Read:
    """A request's text, read: a payload or the reason why it is none."""

    payload: Payload | None
    error: InputError | None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the editor marks at its line."""
        if isinstance(self.error, JsonError):
            line, column = self.error.line, self.error.column
            message = self.error.message
            return (Finding("error", message, rule="json", line=line, column=column, end_column=column + 1),)
        return ()

    def told(self, text: str) -> str:
        """``Ark envelope · 3 completions · 1.1 kB``."""
        size = len(text.encode("utf-8", "replace"))
        shown = f"{size / 1000:.1f} kB" if size >= 1000 else f"{size} B"
        if self.payload is None:
            return shown
        names = {"ark": _("Ark envelope"), "bare": _("bare request"), "dataset row": _("dataset row")}
        number = len(self.payload.completions)
        return " · ".join(
            [
                names.get(self.payload.dialect, self.payload.dialect),
                _("1 completion") if number == 1 else _("{count} completions", count=count(number)),
                shown,
            ]
        )


def read_request(text: str) -> Read:
    """Read the request; a mistake is a value."""
    try:
        return Read(read_payload(text), None)
    except InputError as error:
        return Read(None, error)


def scorers() -> list[str]:
    """What a request can be scored with: ``mix:name`` and ``function:name`` for drafts, ``mix:name@2`` for versions."""
    open_mix()  # there is always one: the example, where nothing was composed yet
    kinds: tuple[Kind, Kind] = ("mix", "function")
    found = [f"{kind}:{one.name}" for kind in kinds for one in cache.store().list_drafts(kind)]
    return found + [
        f"{kind}:{one.label}" for kind in kinds for one in cache.store().versions(kind) if one.withdrawn_at is None
    ]


def scorer_label(scorer: str) -> str:
    """``mix math · draft``, ``function boxed · version 2``."""
    kind, _colon, reference = scorer.partition(":")
    name, _at, number = reference.partition("@")
    what = _("version {number}", number=number) if number else _("draft")
    told = _("mix {name}", name=name) if kind == "mix" else _("function {name}", name=name)
    return f"{told} · {what}"


def score_with(scorer: str, payload: Payload) -> MixResult:
    """Score a request with one of ``scorers``. Raises InputError or NotFoundError when it cannot be used."""
    prefix, _colon, reference = scorer.partition(":")
    name, _at, number = reference.partition("@")
    kind: Kind = "mix" if prefix == "mix" else "function"
    if number:
        published = open_version(cache.store().load_version(kind, name, int(number)))
        return score_payload(published.mix, payload, executor=cache.executor(), resolve=published.resolve)
    draft = cache.store().find_draft(kind, name)
    if draft is None:
        raise NotFoundError("There is no {kind} {name} any more.", kind=kind, name=name)
    if kind == "mix":
        return scoring.score(read_content(name, draft.content), payload)
    found = from_content(name, draft.content, version=draft_version(draft.content))
    return scoring.score_function(name, found, payload)


def answer(text: str, scorer: str) -> Answer:
    """Score the request as it stands; whatever goes wrong is the answer."""
    answers: list[Answer] = []
    with boundary(lambda error: answers.append(Answer(None, error, scorer))):
        payload = read_payload(text)
        result = score_with(scorer, payload)
        answers.append(Answer(result, None, scorer, tuple(one.text for one in payload.completions)))
    return answers[0]
