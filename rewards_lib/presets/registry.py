"""The shape of a preset and the registry that draws the gallery, the forms, the docs and the tests.

Invariant: whatever is registered has both languages, a parameter schema and a worked example with its rewards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, TypeAlias, TypeVar

from rewards_lib.contract import Completion, Finding, Isolation, Json, JsonObject, Sample, Score
from rewards_lib.errors import InputError

Language: TypeAlias = Literal["en", "zh"]
DEFAULT_SECONDS = 5.0
"""How long one completion may take under a preset that has no ``time_limit_s``."""


@dataclass(frozen=True, slots=True)
class Bilingual:
    """A text of the registry in both languages."""

    en: str
    zh: str

    def in_language(self, language: Language) -> str:
        """The text in one language."""
        return self.zh if language == "zh" else self.en


class ScoreFunction(Protocol):
    """Scores one completion. ``params`` are complete and checked (see ``check_params``)."""

    def __call__(self, params: JsonObject, sample: Sample, completion: Completion, /) -> Score:
        """Return the completion's score; a ground truth that cannot be used is ``Score.failed``."""
        ...


class GroupFunction(Protocol):
    """Scores all completions of one sample together, where each reward depends on the others."""

    def __call__(self, params: JsonObject, sample: Sample, completions: Sequence[Completion], /) -> list[Score]:
        """Return one score for each completion, in order."""
        ...


ParamsCheck: TypeAlias = Callable[[JsonObject], None]
"""Raises ``InputError`` with ``where`` set to the parameter's name, where the schema alone cannot tell. It may complete
parameters that are themselves parameters of another preset."""
Advise: TypeAlias = Callable[[JsonObject], list[Finding]]
"""Lists what is allowed but likely an accident."""


Seconds: TypeAlias = Callable[[JsonObject], float]
"""How long one completion may take under complete parameters."""
Confinement: TypeAlias = Callable[[], Isolation | None]
Place: TypeAlias = Literal["worker", "host"]
"""Where a preset runs: in a confined worker without network, or in the console's process because it asks a service."""


class Required:
    """The type of ``REQUIRED``."""


REQUIRED: Final = Required()
"""Stands for the default of a parameter that must be given."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a preset."""

    name: str
    title: Bilingual
    help: Bilingual
    """Help text; policies that reporters disagree on are explained here."""
    default: Json | Required
    rules: Mapping[str, Any] = field(default_factory=dict)
    """JSON schema keywords: type, enum, minimum..."""

    def schema(self, language: Language = "en") -> JsonObject:
        """The parameter's JSON schema."""
        head = {"title": self.title.in_language(language), "description": self.help.in_language(language)}
        default = {} if isinstance(self.default, Required) else {"default": self.default}
        return head | dict(self.rules) | default


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example: what the completions earn."""

    rewards: tuple[float | None, ...]
    completions: tuple[Json, ...]
    answer: Json = None
    """The ground truth, short for ``extra={"answer": ...}``; None leaves the sample without one."""
    params: JsonObject = field(default_factory=dict)
    prompt: str = ""
    extra: JsonObject = field(default_factory=dict)
    replies: tuple[Json, ...] = ()
    """For presets that ask a service: what it answers about each completion; tests put a server there that says so."""

    @property
    def sample(self) -> Sample:
        """The sample that the completions answer."""
        messages = ({"role": "user", "content": self.prompt},) if self.prompt else ()
        return Sample(messages, ({} if self.answer is None else {"answer": self.answer}) | self.extra)

    def to_json(self) -> JsonObject:
        """The example as the command line prints it."""
        row: JsonObject = {
            "params": self.params, "sample": self.sample.to_json(),
            "completions": [Completion(raw).to_json() for raw in self.completions], "rewards": list(self.rewards),
        }  # fmt: skip
        return row | ({"replies": list(self.replies)} if self.replies else {})


@dataclass(frozen=True, slots=True)
class Preset:
    """A reward function that ships with the console."""

    name: str
    label: Bilingual
    summary: Bilingual
    parameters: tuple[Parameter, ...]
    examples: tuple[Example, ...]
    """The first is the one that pages show."""
    score_one: ScoreFunction | None
    score_group: GroupFunction | None
    check: ParamsCheck | None
    advise: Advise | None
    version: int
    """Raised whenever a reward changes."""
    runs_on: Place = "worker"
    time_limit: Seconds | None = None
    """Set where ``time_limit_s`` or the default does not tell."""
    confinement: Confinement | None = None
    """How what the completions hold is confined; None where nothing of theirs runs on this machine."""

    @property
    def is_group(self) -> bool:
        """Whether each reward depends on the other completions of the sample."""
        return self.score_group is not None

    def defaults(self) -> JsonObject:
        """The parameters that have a default, with it."""
        return {p.name: p.default for p in self.parameters if not isinstance(p.default, Required)}

    def schema(self, language: Language = "en") -> JsonObject:
        """The JSON schema (draft 2020-12) of the parameters, with titles and help in one language."""
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {parameter.name: parameter.schema(language) for parameter in self.parameters},
            "required": [p.name for p in self.parameters if isinstance(p.default, Required)],
            "additionalProperties": False,
        }

    def seconds(self, params: JsonObject) -> float:
        """How long one completion may take, in seconds; whoever runs the preset stops it then."""
        complete = self.defaults() | params
        if self.time_limit is not None:
            return self.time_limit(complete)
        if "correct_by" in complete:
            return find_preset(complete["correct_by"]).seconds(complete["correct_params"])
        return float(complete.get("time_limit_s") or DEFAULT_SECONDS)

    def score_all(self, params: JsonObject, sample: Sample, completions: Sequence[Completion]) -> list[Score]:
        """Score the completions of one sample in this process, in order. ``params`` are complete and checked."""
        if self.score_group is not None:
            return self.score_group(params, sample, completions)
        assert self.score_one is not None  # noqa: S101 -- one of the two is set by the decorators
        return [self.score_one(params, sample, completion) for completion in completions]

    def to_json(self) -> JsonObject:
        """The preset as ``python -m rewards_lib presets`` prints it."""
        return {
            "name": self.name, "label": self.label.en, "label_zh": self.label.zh, "summary": self.summary.en,
            "summary_zh": self.summary.zh, "scope": "group" if self.is_group else "completion", "version": self.version,
            "runs_on": self.runs_on,
            "schema": self.schema(), "example": self.examples[0].to_json(),
            "more_examples": [example.to_json() for example in self.examples[1:]],
        }  # fmt: skip


_PRESETS: dict[str, Preset] = {}
_F = TypeVar("_F", bound=ScoreFunction)
_G = TypeVar("_G", bound=GroupFunction)


def preset(
    *, name: str, label: Bilingual, summary: Bilingual, parameters: Sequence[Parameter], examples: Sequence[Example],
    check: ParamsCheck | None = None, advise: Advise | None = None, version: int = 1,
) -> Callable[[_F], _F]:  # fmt: skip
    """Register the decorated function as the preset ``name``."""

    def register(function: _F) -> _F:
        _PRESETS[name] = Preset(
            name, label, summary, tuple(parameters), tuple(examples), function, None, check, advise, version
        )
        return function

    return register


def service_preset(  # noqa: PLR0913 -- the keywords of one entry
    *, name: str, label: Bilingual, summary: Bilingual, parameters: Sequence[Parameter], examples: Sequence[Example],
    time_limit: Seconds, check: ParamsCheck | None = None, advise: Advise | None = None,
    confinement: Confinement | None = None,
) -> Callable[[_F], _F]:  # fmt: skip
    """Register the decorated function, which asks a service over the network, as the preset ``name``."""

    def register(function: _F) -> _F:
        _PRESETS[name] = Preset(
            name, label, summary, tuple(parameters), tuple(examples), function, None, check, advise, 1, "host",
            time_limit, confinement,
        )  # fmt: skip
        return function

    return register


def group_preset(
    *, name: str, label: Bilingual, summary: Bilingual, parameters: Sequence[Parameter], examples: Sequence[Example],
    check: ParamsCheck | None = None, advise: Advise | None = None, version: int = 1,
) -> Callable[[_G], _G]:  # fmt: skip
    """Register the decorated function, which scores all completions of a sample together, as the preset ``name``."""

    def register(function: _G) -> _G:
        _PRESETS[name] = Preset(
            name, label, summary, tuple(parameters), tuple(examples), None, function, check, advise, version
        )
        return function

    return register


_ORDER = (
    "math_accuracy", "exact_match", "contains", "regex_match", "numeric_close", "multiple_choice", "qa_match",
    "text_similarity", "think_answer_format", "tag_count", "length_penalty", "cosine_length", "soft_overlong",
    "length_group", "repetition_penalty", "reasoning_steps", "code_format", "json_schema", "language_consistency",
    "tool_call_match", "countdown", "code_judge", "sandbox_submit", "llm_judge",
)  # fmt: skip
"""How galleries and docs list them: what is used most comes first in its family."""


def preset_names() -> list[str]:
    """The names of all presets, in the catalogue's order."""
    return sorted(_PRESETS, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER))


def find_preset(name: str) -> Preset:
    """Look up a preset; raises ``InputError`` that names the presets there are."""
    if name not in _PRESETS:
        raise InputError(
            "There is no preset {name!r}.", name=name, remedy="Allowed are: {names}.", names=", ".join(preset_names())
        )
    return _PRESETS[name]


def catalogue() -> list[JsonObject]:
    """Every preset with its name, label, summary, parameter schema and worked example with its rewards."""
    return [_PRESETS[name].to_json() for name in preset_names()]
