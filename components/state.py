"""Typed access to session state: the only file that names its keys, each with its one default.

Work (drafts, the mix, the payload, last results) lives under keys of ours, since a widget's own key is dropped when
the widget is not drawn.
"""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import streamlit as st

from rewards_lib.code_judge import Judgement
from rewards_lib.contract import MixResult, Payload, Sentence
from rewards_lib.errors import RewardConsoleError
from rewards_lib.executor.stopping import StopSwitch
from rewards_lib.store import DraftConflict, Kind

if TYPE_CHECKING:
    from rewards_lib.agentic import SimulationSettings
    from rewards_lib.practice import Grade

T = TypeVar("T")


@dataclass(frozen=True)
class Slot(Generic[T]):
    """One value of a visitor's session."""

    key: str
    default: Callable[[], T]

    def get(self) -> T:
        """The value; the default, which is then kept, when there is none yet."""
        if self.key not in st.session_state:
            st.session_state[self.key] = self.default()
        value: T = st.session_state[self.key]
        return value

    def set(self, value: T) -> None:
        """Replace the value."""
        st.session_state[self.key] = value

    def clear(self) -> None:
        """Go back to the default."""
        st.session_state.pop(self.key, None)


def widget(key: str) -> Any:
    """What a widget holds at this moment; None when it is not drawn. For callbacks, whose arguments are stale."""
    return st.session_state.get(key)


def is_drawn(key: str) -> bool:
    """Whether a widget of this key holds a value, be it None."""
    return key in st.session_state


def put_widget(key: str, value: Any) -> None:
    """Give a widget its value before it is drawn."""
    st.session_state[key] = value


def _none() -> None:
    return None


# --- the shell -----------------------------------------------------------------------------------------------------

app_ran: Slot[bool] = Slot("app_ran", bool)
"""Whether app.py has run in this session; a page opened alone on a fresh server sends itself through it."""
visitor: Slot[str] = Slot("visitor", lambda: secrets.token_hex(8))
"""Tells this session from others where they share something."""
language: Slot[str | None] = Slot("chosen_language", _none)
LANGUAGE_SWITCH = "language_switch"

editor_unavailable: Slot[bool] = Slot("code_editor_unavailable", bool)
"""Whether this visitor's browser could not load the editor's bundle."""
editor_session: Slot[str] = Slot("code_editor_session", lambda: secrets.token_hex(8))
"""Tells an editor that stayed open over a restart of the server that it now speaks to another session."""
editor_texts: Slot[dict[str, tuple[str, str]]] = Slot("code_editor_texts", dict)
"""By editor: the origin and text that arrived last and whose keeping the page has not shown yet."""


# --- drafts --------------------------------------------------------------------------------------------------------


@dataclass
class OpenDraft:
    """A text that this session edits: what it holds, and which saved revision it stands on."""

    kind: Kind
    name: str
    content: dict[str, Any]
    revision: int | None = None
    """None until it was saved for the first time."""
    saved_at: datetime | None = None
    conflict: DraftConflict | None = None
    """Set while another tab has saved this draft: both texts are kept until the visitor chooses."""
    failure: RewardConsoleError | None = None
    """Why the last save did not work; the text stays here."""
    epoch: int = 0
    """Raised whenever the content is replaced from outside the widgets, so that they start anew."""


open_drafts: Slot[dict[tuple[Kind, str], OpenDraft]] = Slot("open_drafts", dict)


@dataclass(frozen=True)
class Replaced:
    """What an example or an import took the place of."""

    told: str
    before: tuple[tuple[OpenDraft, dict[str, Any]], ...]
    """The drafts and what stood in them."""
    revisions: tuple[int | None, ...]
    """The drafts' revisions right after; another one means that work went on."""


replaced: Slot[Replaced | None] = Slot("replaced", _none)

# --- Compose -------------------------------------------------------------------------------------------------------

mix_name: Slot[str | None] = Slot("mix_name", _none)
"""The mix on the Compose page; None before the first visit."""
samples: Slot[tuple[int, list[Payload]] | None] = Slot("samples_read", _none)
"""The samples of the draft, read, and the identity of the content that they were read from."""
sample_number: Slot[int] = Slot("sample_number", lambda: 1)
selected_completion: Slot[int] = Slot("selected_completion", int)


@dataclass(frozen=True)
class Remembered(Generic[T]):
    """A result and what it is the result of, so that a rerun does not compute it again."""

    question: str
    """A fingerprint of everything that the result depends on."""
    result: T
    at: datetime


@dataclass(frozen=True)
class InProgress(Generic[T]):
    """Work beside the page, and how to end it."""

    question: str
    """What it will be the answer to."""
    outcome: Future[T]
    started: float
    """By the clock of ``time.monotonic``."""
    stop: StopSwitch

    def is_new(self) -> bool:
        """Whether it was started so shortly before that its end is worth waiting for."""
        return time.monotonic() - self.started < 0.5


@dataclass(frozen=True)
class Answer:
    """What a request was answered with."""

    result: MixResult | None
    error: RewardConsoleError | None
    scorer: str = ""
    """What it was scored with: ``mix:name`` or ``function:name``."""
    texts: tuple[str, ...] = ()
    """The completions' texts, for the table."""


composed: Slot[Remembered[MixResult] | None] = Slot("composed", _none)

# --- Functions -----------------------------------------------------------------------------------------------------

function_name: Slot[str | None] = Slot("function_name", _none)
last_runs: Slot[dict[str, Remembered[Answer]]] = Slot("last_runs", dict)
"""By function: the last run and the source it ran."""
runs_in_progress: Slot[dict[str, InProgress[Answer]]] = Slot("runs_in_progress", dict)
"""By function."""
installs_in_progress: Slot[dict[str, InProgress[object]]] = Slot("installs_in_progress", dict)
"""By function."""
install_lines: Slot[dict[str, deque[Sentence]]] = Slot("install_lines", dict)
"""By function: what the installer said last."""
install_outcomes: Slot[dict[str, RewardConsoleError | None]] = Slot("install_outcomes", dict)
"""By function: what went wrong in the last installation; None when nothing did."""
replaced_texts: Slot[dict[str, dict[str, Any]]] = Slot("replaced_texts", dict)
"""By function: what a restored version took the place of."""
go_to_line: Slot[int | None] = Slot("go_to_line", _none)

# --- Test ----------------------------------------------------------------------------------------------------------


tested_with: Slot[str | None] = Slot("tested_with", _none)
answered: Slot[Remembered[Answer] | None] = Slot("answered", _none)
answered_before: Slot[Remembered[Answer] | None] = Slot("answered_before", _none)
"""The last good answer, kept beside an error."""

renaming: Slot[int | None] = Slot("renaming_rule", _none)
"""Which rule of the mix is being renamed."""

# --- Training metrics ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MetricFile:
    """An export the visitor opened: an uploader forgets its files when another page is drawn."""

    name: str
    data: bytes
    digest: str
    """Of the content; what was read of it is cached under this name."""
    path: str = ""
    """Where it lies on the console's machine, if it is followed while it is written; then ``data`` is empty."""


metric_files: Slot[tuple[MetricFile, ...]] = Slot("metric_files", tuple)
metric_x: Slot[dict[str, str]] = Slot("metric_x", dict)
"""By digest: the column chosen to count the steps."""
metric_zoom: Slot[tuple[float | None, float | None]] = Slot("metric_zoom", lambda: (None, None))
"""The first and the last step to look at; None is the run's own end, also when it grows."""
metric_uploads: Slot[int] = Slot("metric_uploads", int)
"""Raised after each upload and each path, so that the fields for them start empty."""
metric_thresholds: Slot[dict[str, dict[str, float]]] = Slot("metric_thresholds", dict)
"""By rule: the thresholds this visitor changed."""
metric_own_rules: Slot[str] = Slot("metric_own_rules", str)
"""Rules of the visitor's own, as YAML."""
metric_focus: Slot[tuple[str, int]] = Slot("metric_focus", lambda: ("", 0))
"""The chart to scroll to, and how many times one was asked for."""
metric_link_read: Slot[bool] = Slot("metric_link_read", bool)
"""Whether the address that was opened has been followed."""
metric_link_told: Slot[tuple[Sentence, ...]] = Slot("metric_link_told", tuple)
"""What of the address could not be had, until the visitor has read it."""

# --- Rollouts ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RolloutSource:
    """A file of rollouts that was chosen and is not scored yet."""

    path: str
    title: str
    format_name: str | None = None
    """Chosen by hand; None lets the keys decide."""
    columns: dict[str, str] | None = None
    """Part of a rollout to column, named by hand."""


rollout_source: Slot[RolloutSource | None] = Slot("rollout_source", _none)
rollout_uploads: Slot[int] = Slot("rollout_uploads", int)
"""Raised after each upload, so that the uploader starts empty."""
rollout_filter: Slot[str] = Slot("rollout_filter", str)
"""The filter that is in force: the last one that could be read."""
rollout_place: Slot[int] = Slot("rollout_place", int)
"""The rollout that is looked at, by its place in the file."""
rollout_seen: Slot[bool] = Slot("rollout_seen", bool)
"""Whether the completion that the opened address names has been looked at."""
rollout_mix_file: Slot[tuple[str, str] | None] = Slot("rollout_mix_file", _none)
"""A mix file that was uploaded here: its name and its text."""
rollout_told: Slot[str] = Slot("rollout_told", str)
"""What the last deed did, said once after the rerun."""
dataset_upload: Slot[tuple[str, str] | None] = Slot("dataset_upload_kept", _none)
"""The uploader's name for the file that was dropped last, and the path it was kept under."""
dataset_name: Slot[str | None] = Slot("dataset_name", _none)
"""The data set that is looked at."""

# --- Trajectories --------------------------------------------------------------------------------------------------


def _usual_simulation() -> SimulationSettings:
    from rewards_lib.agentic import SimulationSettings  # here: this file is imported for every page

    return SimulationSettings()


trajectory_text: Slot[tuple[str, str] | None] = Slot("trajectory_text", _none)
"""Name and text of what was opened; None means the example."""
trajectory_place: Slot[int] = Slot("trajectory_place", int)
"""The trajectory that is looked at, by its place in the text."""
trajectory_rewards: Slot[dict[tuple[str, str], float | None]] = Slot("trajectory_rewards", dict)
"""By group and name: rewards that were changed to see what follows."""
trajectory_tokenizer: Slot[tuple[str, str] | None] = Slot("trajectory_tokenizer", _none)
"""Name and text of a tokenizer.json."""
simulation: Slot[SimulationSettings] = Slot("simulation", _usual_simulation)
simulation_system: Slot[str] = Slot("simulation_system_chosen", lambda: "own")
"""The trainer whose defaults were taken last."""
simulation_epoch: Slot[int] = Slot("simulation_epoch", int)
"""Raised when a trainer's defaults replace the settings, so that the widgets start anew."""

# --- Practice ------------------------------------------------------------------------------------------------------


@dataclass
class ClozeRound:
    """One round from memory over one exercise: which tokens are hidden, what was typed, what was judged."""

    seed: int
    percent: int = 30
    """How much is hidden."""
    drawn: int = 0
    """How often other tokens were asked for, so that the widgets start anew."""
    answers: dict[int, str] = field(default_factory=dict)
    states: dict[int, str] = field(default_factory=dict)
    """By gap: ``open``, ``right``, ``wrong`` or ``shown``; empty until the first check."""

    @property
    def id(self) -> str:
        """Tells this round from others of the same exercise."""
        return f"{self.percent}/{self.seed}"


exercise_name: Slot[str | None] = Slot("exercise_chosen", _none)
exercise_grades: Slot[dict[str, Remembered[Grade]]] = Slot("exercise_grades", dict)
"""By exercise: the last grade and the text it graded."""
exercise_hints: Slot[dict[str, int]] = Slot("exercise_hints", dict)
"""By exercise: how many hints are shown."""
exercise_opened: Slot[set[str]] = Slot("exercise_opened", set)
"""The exercises whose solution is shown."""
cloze_rounds: Slot[dict[str, ClozeRound]] = Slot("cloze_rounds", dict)

# --- Code judge ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JudgeAnswer:
    """What a submission was answered with: a judgement, or why there is none."""

    judgement: Judgement | None
    error: RewardConsoleError | None
    response: str = ""
    """The answer that the service would give, as JSON."""


judged: Slot[Remembered[JudgeAnswer] | None] = Slot("code_judged", _none)
judging: Slot[InProgress[JudgeAnswer] | None] = Slot("code_judging", _none)

# --- Publish -------------------------------------------------------------------------------------------------------

published_name: Slot[str | None] = Slot("published_name", _none)
"""What is looked at: ``mix:name`` or ``function:name``."""
service_started: Slot[bool] = Slot("service_started", bool)
"""Whether this visitor started the service, so that a failed start is told."""
tested_call: Slot[tuple[str, int, float, str] | None] = Slot("tested_call", _none)
"""The last test call: the version, the HTTP status, milliseconds, the body."""
