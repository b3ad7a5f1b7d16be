"""Scoring on a page: the console's executor and store behind one call, and results remembered across reruns."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import streamlit as st

from components import cache
from components.i18n import _
from components.state import Remembered, Slot
from rewards_lib.contract import Completion, MixResult, Payload, write_json
from rewards_lib.executor import Limits
from rewards_lib.function_sources import resolver
from rewards_lib.mix import Mix
from rewards_lib.payloads import DIALECTS
from rewards_lib.scoring import ResolvedFunction, score_payload

PAGE_LIMITS = Limits(wall_seconds=10.0)
"""A page waits for its result; what takes longer is tested on the command line with --time-limit."""


def score(mix: Mix, payload: Payload, *, limits: Limits = PAGE_LIMITS) -> MixResult:
    """Score a payload under a mix whose functions stand in the store. Raises InputError or NotFoundError."""
    return score_payload(
        mix,
        payload,
        executor=cache.executor(),
        limits=limits,
        resolve=resolver(folder=Path("stored functions"), store=cache.store()),
    )


def question_of(mix: Mix, payload: Payload) -> str:
    """A fingerprint of everything that a result depends on: mix, functions' code, payload."""
    resolve = resolver(folder=Path("stored functions"), store=cache.store())
    functions = [str(resolve(rule)) for rule in mix.rules if rule.function]
    return fingerprint(str(mix), *functions, write_json(DIALECTS["bare"][1](payload)))


def fingerprint(*parts: str) -> str:
    """One hash of several texts."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def remember(slot: Slot[Remembered[MixResult] | None], question: str, compute: Callable[[], MixResult]) -> MixResult:
    """The remembered result when the question is the same, else a new one."""
    known = slot.get()
    if known is not None and known.question == question:
        return known.result
    with st.spinner(_("Scoring …"), show_time=True):
        result = compute()
    slot.set(Remembered(question, result, datetime.now(UTC)))
    return result


def with_completion(payload: Payload, text: str) -> Payload:
    """The payload with one more completion, when there is text for one."""
    return replace(payload, completions=(*payload.completions, Completion(text))) if text.strip() else payload


def one_function(name: str, function: ResolvedFunction, payload: Payload, *, limits: Limits) -> MixResult:
    """Score a payload with one function alone, weight 1."""
    from decimal import Decimal

    from rewards_lib.mix import Rule

    mix = Mix(name=name, rules=(Rule(name=name, weight=Decimal(1), function=name),))
    return score_payload(mix, payload, executor=cache.executor(), limits=limits, resolve=lambda _rule: function)
