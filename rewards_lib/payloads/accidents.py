"""Likely accidents in a payload that do not stop it from being scored, each with its JSON path."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rewards_lib.contract import Finding, JsonObject, Payload, sentence
from rewards_lib.payloads import ark, bare, dataset_row
from rewards_lib.strict_json import walk_strings

# JSON reads \b, \f, \n, \r and \t as control characters. Before these letters they were meant as LaTeX.
_LOST_BACKSLASH = re.compile(
    "[\b\f\v][A-Za-z]+"
    "|\t(?:ext|extbf|extit|extrm|imes|heta|frac|o|an|anh|au|ilde|op|riangle)(?![A-Za-z])"
    "|\r(?:ight|ightarrow|ho|angle|ceil|floor|oot|m)(?![A-Za-z])"
    "|\n(?:eq|abla|u|ot|otin|leq|geq|mid|ewline|i)(?![A-Za-z])"
)
_ESCAPES = {"\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", "\v": "v"}
_FENCE = re.compile(r"^[ ]{0,3}(?:```+|~~~+)[ ]*([A-Za-z0-9+#]+)", re.MULTILINE)
_SAME_LANGUAGE = {
    "py": "python",
    "python3": "python",
    "js": "javascript",
    "ts": "typescript",
    "c++": "cpp",
    "cxx": "cpp",
    "sh": "bash",
    "shell": "bash",
    "golang": "go",
    "rs": "rust",
}
MAX_FINDINGS_OF_A_KIND = 20


def find_accidents(value: JsonObject, payload: Payload) -> tuple[Finding, ...]:
    """List what was probably not meant: lost backslashes, another language, fields nobody reads, no ground truth."""
    kinds = (_lost_backslashes(value), _unused_fields(value), _other_languages(payload), _no_ground_truth(payload))
    return tuple(finding for kind in kinds for finding, _ in zip(kind, range(MAX_FINDINGS_OF_A_KIND), strict=False))


def _lost_backslashes(value: JsonObject) -> Iterator[Finding]:
    for path, text in walk_strings(value):
        found = _LOST_BACKSLASH.search(text)
        if found:
            escape, rest = _ESCAPES[found[0][0]], found[0][1:]
            yield Finding(
                "warning",
                sentence(
                    "JSON read \\{escape} before {rest} as a control character; write \\\\{escape}{rest} for LaTeX.",
                    escape=escape,
                    rest=rest,
                ),
                path=path,
                rule="lost_backslash",
            )


def _unused_fields(value: JsonObject) -> Iterator[Finding]:
    if "data" in value:
        yield from _unknown(value, ark.FIELDS, "")
        yield from _unknown(value["data"], bare.FIELDS, "data.")
    elif "sample" in value:
        yield from _unknown(value, bare.FIELDS, "")
    else:
        yield from _unknown(value, dataset_row.FIELDS, "")


def _unknown(fields: JsonObject, known: frozenset[str], prefix: str) -> Iterator[Finding]:
    for name in fields:
        if name not in known:
            yield Finding(
                "hint",
                sentence(
                    "No reward reads this field. What a reward should see belongs below sample.extra.",
                ),
                path=f"{prefix}{name}",
                rule="unused_field",
            )


def _other_languages(payload: Payload) -> Iterator[Finding]:
    wanted = payload.sample.extra.get("language")
    if not isinstance(wanted, str) or not wanted:
        return
    for index, completion in enumerate(payload.completions):
        written = {name.lower() for name in _FENCE.findall(completion.text)}
        if written and _plain_language(wanted) not in {_plain_language(name) for name in written}:
            yield Finding(
                "warning",
                sentence(
                    "The code is marked {written}, but sample.extra.language is {wanted}.",
                    written=", ".join(sorted(written)),
                    wanted=wanted,
                ),
                path=f"completions[{index}]",
                rule="other_language",
            )


def _plain_language(name: str) -> str:
    return _SAME_LANGUAGE.get(name.lower(), name.lower())


def _no_ground_truth(payload: Payload) -> Iterator[Finding]:
    if "answer" not in payload.sample.extra:
        yield Finding(
            "hint",
            sentence(
                "There is no ground truth here. Presets that compare with it leave every completion unscored.",
            ),
            path="sample.extra.answer",
            rule="no_ground_truth",
        )
