"""Regression cases: payloads with the rewards that a mix or a function must go on giving, kept and run on each change.

Invariant: a case holds or names the completion that does not; what could not be scored never counts as a pass unless
the case asks for exactly that.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rewards_lib.contract import JsonObject, Payload, Score
from rewards_lib.errors import InputError, NotFoundError
from rewards_lib.executor import Executor, Limits
from rewards_lib.mix import Mix
from rewards_lib.payloads import decode
from rewards_lib.rollouts.rollout import finite
from rewards_lib.scoring import FunctionResolver, score_payloads
from rewards_lib.store import Store
from rewards_lib.strict_json import read_json, write_json

ANY = "any"
TOLERANCE = 1e-6
_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class Expected:
    """What one completion must earn."""

    reward: float | None = None
    """Exactly this; None with neither of the others set: it must be unscored."""
    at_most: float | None = None
    """This or less: what an attack may earn."""
    is_any: bool = False
    """It is there for its group's sake; whatever it earns is right."""

    def to_json(self) -> Any:
        """A number, null, ``{"at_most": number}`` or ``"any"``."""
        if self.is_any:
            return ANY
        return self.reward if self.at_most is None else {"at_most": self.at_most}

    @classmethod
    def from_json(cls, value: Any, path: str) -> Expected:
        """Read what ``to_json`` wrote. Raises InputError with the path."""
        if value == ANY:
            return cls(is_any=True)
        if value is None:
            return cls()
        if isinstance(value, dict) and set(value) == {"at_most"}:
            return cls(at_most=_number(value["at_most"], f"{path}.at_most"))
        return cls(reward=_number(value, path))

    def is_met_by(self, reward: float | None, tolerance: float = TOLERANCE) -> bool:
        """Whether a reward is what was expected."""
        if self.is_any:
            return True
        if self.at_most is not None:
            return reward is not None and reward <= self.at_most + tolerance
        if self.reward is None or reward is None:
            return self.reward is reward
        return abs(reward - self.reward) <= tolerance


def _number(value: Any, path: str) -> float:
    number = finite(value) if not isinstance(value, bool) else None
    if number is None:
        raise InputError(
            "{path} is no expected reward.", path=path, remedy='Write a number, null, "any" or {{"at_most": number}}.'
        )
    return number


@dataclass(frozen=True, slots=True)
class Case:
    """One payload and what each of its completions must earn."""

    name: str
    payload: Payload
    expected: tuple[Expected, ...]
    scorer: str = ""
    """``mix:NAME`` or ``function:NAME`` that the case belongs to; empty for a case of a file."""
    note: str = ""

    def to_json(self) -> JsonObject:
        """The case as a line of a case file."""
        row: JsonObject = {"name": self.name}
        row |= {"scorer": self.scorer} if self.scorer else {}
        row |= {"sample": self.payload.sample.to_json(), "completions": [one.raw for one in self.payload.completions]}
        row |= {"context": self.payload.context} if self.payload.context else {}
        row["expected"] = [one.to_json() for one in self.expected]
        return row | ({"note": self.note} if self.note else {})


def read_case(row: Any, where: str = "") -> Case:
    """Read one case. Raises InputError when it is none."""
    if not isinstance(row, dict):
        raise InputError("A case is an object with sample, completions and expected.", where=where)
    payload = decode({key: row[key] for key in ("sample", "completions", "context") if key in row})
    given = row.get("expected")
    if not isinstance(given, list) or len(given) != len(payload.completions):
        raise InputError(
            "expected must be a list with one entry for each of the {count} completions.",
            where=where, count=len(payload.completions),
        )  # fmt: skip
    expected = tuple(Expected.from_json(value, f"expected[{place}]") for place, value in enumerate(given))
    name = str(row.get("name") or "case-" + hashlib.sha256(write_json(row).encode()).hexdigest()[:8])
    return Case(name, payload, expected, str(row.get("scorer") or ""), str(row.get("note") or ""))


def read_cases(text: str, *, name: str = "") -> list[Case]:
    """Read a case file: one case a line. Raises InputError with the line of what is no case, or when there is none."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            where = f"{name}:{number}" if name else str(number)
            found.append(read_case(read_json(line, name=where), where))
    if not found:
        raise InputError("The file holds no case.", where=name, remedy="One case a line is expected.")
    return found


def write_cases(cases: Sequence[Case]) -> str:
    """Write a case file; ``read_cases`` reads it."""
    return "".join(write_json(case.to_json()) + "\n" for case in cases)


def run_cases(
    cases: Sequence[Case], mix: Mix, *, resolve: FunctionResolver, executor: Executor, limits: Limits | None = None
) -> JsonObject:
    """Score every case under a mix; the result is what ``test --cases`` prints, its status ``failure`` if one fails."""
    results = score_payloads(mix, [case.payload for case in cases], executor=executor, resolve=resolve, limits=limits)
    rows = []
    for case, result in zip(cases, results, strict=True):
        failed = [
            {
                "completion": place + 1, "expected": expected.to_json(), "earned": reward,
                "why": next(_reasons(rule.scores[place] for rule in result.rules), ""),
            }
            for place, (expected, reward) in enumerate(zip(case.expected, result.rewards, strict=True))
            if not expected.is_met_by(reward)
        ]  # fmt: skip
        rows.append({"name": case.name, "holds": not failed, "failed": failed, "note": case.note})
    failing = [str(row["name"]) for row in rows if not row["holds"]]
    names = ", ".join(failing[:_MOST_NAMED])
    return {
        "status": "failure" if failing else "success",
        "error": f"{len(failing)} of {len(rows)} cases do not hold: {names}." if failing else "",
        "cases": rows, "held": len(rows) - len(failing), "failed": len(failing),
        "mix_version": results[0].mix_version if results else "",
    }  # fmt: skip


def _reasons(scores: Any) -> Iterator[str]:
    score: Score
    for score in scores:
        if score.value is None and score.why is not None:
            yield str(score.why)


# --- kept in the store ---------------------------------------------------------------------------------------------


def save_case(store: Store, case: Case) -> str:
    """Keep a case and return its id; the same payload for the same scorer is kept once, as it was said last."""
    row = case.to_json()
    same = json.dumps([case.scorer, row["sample"], row["completions"]], sort_keys=True)
    own_id = hashlib.sha256(same.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    store.put_item("case", own_id, row)
    return own_id


def stored_cases(store: Store, scorer: str) -> dict[str, Case]:
    """The cases of a scorer, ``mix:NAME`` or ``function:NAME``, by their ids, the newest first."""
    return {
        item.id: read_case(item.content) for item in store.list_items("case") if item.content.get("scorer") == scorer
    }


def remove_case(store: Store, case_id: str) -> None:
    """Forget a case."""
    store.remove_item("case", case_id)


def find_scorer(store: Store, name: str) -> str:
    """The scorer that stored cases go by this name: ``mix:math``, or ``math`` for either kind.

    Raises NotFoundError, which names the scorers there are.
    """
    known = sorted({str(item.content.get("scorer")) for item in store.list_items("case")})
    for wanted in (name, f"mix:{name}", f"function:{name}"):
        if wanted in known:
            return wanted
    raise NotFoundError(
        "There are no cases of {name}.",
        name=name,
        remedy="There are cases of {known}." if known else "Mark a reward on the Rollouts page, or name a case file.",
        known=", ".join(known),
    )
