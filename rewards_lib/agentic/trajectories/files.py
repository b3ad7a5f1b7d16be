"""Trajectories out of JSON or JSONL: any format of rollouts, bare conversations, or tokens with masks.

Invariant: a row that cannot be read is told with its number, and a reward that is not there stays None.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rewards_lib.agentic.masks import NOT_TRAINED, build_loss_mask
from rewards_lib.agentic.trajectories.trajectory import BadTrajectory, LoadedTrajectories, TokenRecord, Trajectory
from rewards_lib.contract import JsonObject, messages_of, sentence
from rewards_lib.errors import InputError
from rewards_lib.strict_json import read_json

if TYPE_CHECKING:
    from rewards_lib.rollouts import Rollout

MAX_TRAJECTORIES = 2_000
_MASK_KEYS = ("mask", "loss_mask", "response_mask", "masks")
_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")
"""Where there might be one; whole pairs match too."""


def read_trajectories(text: str, *, name: str = "trajectory") -> LoadedTrajectories:
    """Read a JSON value or one JSON object a line. docs/agentic.md describes the shapes.

    Raises InputError when nothing in the text is a trajectory; the sentence then says why the first row is none.
    """
    found: list[Trajectory] = []
    bad: list[BadTrajectory] = []
    for number, row in _rows(text, name):
        try:
            found += _read_row(row, number)
        except InputError as error:
            bad.append(BadTrajectory(number, error.message))
        if len(found) >= MAX_TRAJECTORIES:
            told = sentence("Only the first {limit} trajectories are taken here.", limit=MAX_TRAJECTORIES)
            bad.append(BadTrajectory(number, told))
            break
    if not found:
        reason = bad[0].problem if bad else sentence("the text is empty")
        raise InputError(
            "There is no trajectory in this: {reason}",
            where=name,
            reason=reason,
            remedy="Give messages with roles, or tokens with a mask; see the examples.",
        )
    return LoadedTrajectories(tuple(found[:MAX_TRAJECTORIES]), tuple(bad))


def _rows(text: str, name: str) -> Iterator[tuple[int, Any]]:
    """Yield (number, value or why it cannot be read).

    One JSON value, indented or not, counts as a whole; else each line does. A list of messages is one row.
    """
    if _HALF_PAIR.search(text):
        yield from ((number, _mended(value)) for number, value in _values(text, name))
    else:
        yield from _values(text, name)


def _values(text: str, name: str) -> Iterator[tuple[int, Any]]:
    try:
        value = read_json(text, name=name)
    except InputError as error:
        rows = [(number, _line(line, name)) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        if not any(isinstance(row, dict) for _number, row in rows):
            raise error from None
        yield from rows
        return
    if isinstance(value, list) and not (value and isinstance(value[0], Mapping) and "role" in value[0]):
        yield from enumerate(value, 1)
    else:
        yield 1, value


def _line(line: str, name: str) -> Any:
    """The value of a line, or why there is none."""
    try:
        return read_json(line, name=name)
    except InputError as error:
        return error


def _mended(value: Any) -> Any:
    """A value whose texts can be encoded: half of a surrogate pair, which JSON can spell, becomes U+FFFD."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mended(item) for item in value]
    return {_mended(key): _mended(item) for key, item in value.items()} if isinstance(value, dict) else value


def _read_row(row: Any, number: int) -> list[Trajectory]:
    if isinstance(row, InputError):
        raise row
    if not isinstance(row, (dict, list)):
        raise InputError("A row is an object or a list of messages, not {value}.", value=repr(row)[:40])
    fields: JsonObject = row if isinstance(row, dict) else {"messages": row}
    if "tokens" in fields or "input_ids" in fields:
        return list(_token_rows(fields, number))
    from rewards_lib.rollouts import FORMATS  # here: it brings along all that scores rollouts

    form = next((form for form in FORMATS.values() if form.matches(fields)), None)
    if form is not None and form.name not in ("ark_dataset", "columns", "conversation"):
        return [_of_rollout(rollout) for rollout in form.read(fields, number)]
    return [_of_conversation(fields, number)]


def _of_rollout(rollout: Rollout) -> Trajectory:
    prompt = [message for message in rollout.sample.get("messages") or () if isinstance(message, dict)]
    completion = rollout.completion
    beside = completion if isinstance(completion, Mapping) else {}
    if completion is None:
        raise InputError("The row has no completion.")
    return Trajectory(
        name=rollout.id,
        group=rollout.group,
        reward=rollout.recorded.reward if rollout.recorded else None,
        messages=(*prompt, *messages_of(completion)),
        prompt_messages=len(prompt),
        truncated=_is_cut(rollout.meta, beside),
    )


def _of_conversation(row: JsonObject, number: int) -> Trajectory:
    """A bare conversation: everything up to the first message of the user is the prompt, and groups it by default."""
    from rewards_lib.rollouts.rollout import prompt_key

    messages = messages_of(row.get("messages"))
    if not any(message.get("role") == "assistant" for message in messages):
        raise InputError("There is neither an assistant's message nor a list of tokens.")
    roles = [message.get("role") for message in messages]
    prompt = roles.index("user") + 1 if "user" in roles else 0
    return Trajectory(
        name=str(row.get("id", number)),
        group=str(row["group"]) if "group" in row else prompt_key(messages[:prompt]),
        reward=_finite(row.get("reward")),
        messages=tuple(messages),
        prompt_messages=prompt,
        truncated=_is_cut(row),
    )


def _is_cut(*rows: Mapping[str, Any]) -> bool:
    """Whether one says that the completion was cut, by the rule of every file of rollouts; silence is no cut."""
    from rewards_lib.rollouts.rollout import told_cut

    return bool(told_cut(*rows))


# --- tokens --------------------------------------------------------------------------------------------------------


def _token_rows(row: JsonObject, number: int) -> Iterator[Trajectory]:
    """One trajectory, or, as Atropos writes them, a group of them in lists of lists."""
    tokens = row.get("tokens", row.get("input_ids"))
    mask = next((row[key] for key in _MASK_KEYS if key in row), None)
    if not isinstance(tokens, list) or not isinstance(mask, list):
        raise InputError("tokens and mask must be lists.", remedy="Write 1 in the mask where the policy wrote.")
    if not any(isinstance(entry, list) for entry in tokens):
        yield _token_trajectory(row, str(row.get("id", number)), str(row.get("group", "")), tokens, mask)
        return
    scores = _list(row.get("scores", []), "scores")
    for place, own in enumerate(tokens):
        fields = {"reward": scores[place] if place < len(scores) else None}
        own_mask = mask[place] if place < len(mask) else []
        yield _token_trajectory(fields, f"{number}.{place + 1}", f"row-{number}", own, own_mask)


def _token_trajectory(row: JsonObject, name: str, group: str, tokens: Any, mask: Any) -> Trajectory:
    record = TokenRecord(
        tokens=tuple(_token(token) for token in _list(tokens, "tokens")),
        mask=tuple(_mask_entries(_list(mask, "mask"))),
        spans=tuple(_span(span) for span in _list(row.get("spans", []), "spans")),
        kl=None if row.get("kl") is None else tuple(_number(value, "kl") for value in _list(row["kl"], "kl")),
    )
    build_loss_mask(record.tokens, record.spans)  # refuses spans that overlap or leave the tokens
    return Trajectory(name, group, _finite(row.get("reward", row.get("score"))), tokens=record, truncated=_is_cut(row))


def _mask_entries(mask: list[Any]) -> Iterable[int]:
    """0 and 1 as they are; labels with -100, as Atropos and PyTorch write them, as 0 and 1."""
    if any(isinstance(entry, bool) or not isinstance(entry, (int, float)) for entry in mask):
        mask = [int(entry) if isinstance(entry, bool) else _number(entry, "mask") for entry in mask]
    if set(mask) <= {0, 1}:
        return (int(entry) for entry in mask)
    if NOT_TRAINED not in mask:
        strange = next(entry for entry in mask if entry not in (0, 1))
        raise InputError("The mask holds {value}; it must hold 0 and 1, or labels with -100.", value=strange)
    return (int(entry != NOT_TRAINED) for entry in mask)


def _token(value: Any) -> int | str:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise InputError("A token is a number or a text, not {value}.", value=repr(value)[:40])
    return value


def _span(value: Any) -> tuple[str, int, int]:
    if (
        not isinstance(value, list) or len(value) != 3 or not isinstance(value[0], str)
        or not all(isinstance(end, int) and not isinstance(end, bool) for end in value[1:])
    ):  # fmt: skip
        raise InputError('A span is ["role", start, end], not {value}.', value=repr(value)[:40])
    return value[0], value[1], value[2]


def _number(value: Any, name: str) -> float:
    number = _finite(value)
    if number is None:
        raise InputError("{name} holds {value}, which is no number.", name=name, value=repr(value)[:40])
    return number


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError("{name} is no list.", name=name)
    return value


def _finite(value: Any) -> float | None:
    """A number as every file of rollouts is read: None for whatever is no finite one."""
    from rewards_lib.rollouts.rollout import finite

    return finite(value)
