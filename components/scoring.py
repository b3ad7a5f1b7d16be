"""Scoring on a page: the console's executor and store behind one call, and results remembered across reruns."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import streamlit as st

from components import cache
from components.i18n import _
from components.state import Remembered, Slot
from rewards_lib.contract import Completion, MixResult, Payload
from rewards_lib.function_sources import function_alone, resolver
from rewards_lib.mix import Mix
from rewards_lib.payloads import bare
from rewards_lib.scoring import ResolvedFunction, score_payload
from rewards_lib.strict_json import write_json


def score(mix: Mix, payload: Payload) -> MixResult:
    """Score a payload under a mix whose functions stand in the store. Raises InputError or NotFoundError."""
    return score_payload(mix, payload, executor=cache.executor(), resolve=resolver(store=cache.store))


def question_of(mix: Mix, payload: Payload) -> str:
    """A fingerprint of everything that a result depends on: mix, functions' code, payload."""
    resolve = resolver(store=cache.store)
    functions = [resolve(rule).sha256 for rule in mix.rules if rule.function]
    return fingerprint(str(mix), *functions, payload_text(payload))


def payload_text(payload: Payload) -> str:
    """The payload as JSON, to tell one from another."""
    return write_json(bare.encode(payload))


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
    """The payload with one more completion."""
    return replace(payload, completions=(*payload.completions, Completion(text)))


def score_function(name: str, function: ResolvedFunction, payload: Payload) -> MixResult:
    """Score a payload with one function alone, weight 1."""
    mix, resolve = function_alone(name, function)
    return score_payload(mix, payload, executor=cache.executor(), resolve=resolve)
