"""The address of a view: which files, and what they are judged by, so that whoever opens it is told the same.

Steps, axes, smoothing and picked series are written where they are chosen. Texts never stand in the address: dropped
files and own rules lie on the console's shelf under their hash. Invariant: what an address asks for and cannot be had
is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b

import streamlit as st

from components import state, theme
from components.address import finite_number, keep_options
from components.examples import FOLDER
from components.i18n import _, say
from components.metrics.diagnosis import MIX, weights_of_mix
from components.metrics.files import EXAMPLES, add_files, open_example, shelf
from components.metrics.step_range import follow_address
from components.state import MetricFile
from rewards_lib.contract import Sentence, sentence
from rewards_lib.training_metrics import rule_book

FILES, X, LIMITS, RULES = "runs", "metric_x", "metric_limits", "metric_rules"
"""Keys of the address: opened files, what counts their steps, changed thresholds, own rules."""


def follow_link() -> None:
    """Open what the address names, once in a session."""
    if state.metric_link_read.get():
        return
    state.metric_link_read.set(True)
    state.metric_link_told.set((*_open_files(), *_take_rules(), *_take_mix()))
    follow_address()


def link_notice() -> None:
    """Say, until it was read, what of the opened address this console does not have."""
    if told := state.metric_link_told.get():
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="link_told"):
            st.info(" ".join(theme.plain(say(one)) for one in told), icon=":material/link_off:")
            st.button(_("Understood"), key="link_understood", on_click=state.metric_link_told.clear, type="tertiary")


def _open_files() -> Iterator[Sentence]:
    lost = 0
    for token in (st.query_params.get(FILES) or "").split(","):
        kept = shelf().get(token)
        if token in EXAMPLES:
            open_example(token)
        elif kept:
            add_files([(kept.name, kept.data)])
        elif token:
            lost += 1
    if x := st.query_params.get(X):
        state.metric_x.set({file.digest: x for file in state.metric_files.get()} | state.metric_x.get())
    if lost:
        told = "The address names files that this console no longer keeps: {count}. Drop them again."
        yield sentence(told, count=lost)


def _take_rules() -> Iterator[Sentence]:
    """Judge by the thresholds and the own rules that the address names."""
    usual = {rule.id: rule.thresholds for rule in rule_book().rules}
    changed: dict[str, dict[str, float]] = {}
    unknown = 0
    for told in st.query_params.get_all(LIMITS):
        place, _colon, number = told.rpartition(":")
        rule, _dot, name = place.partition(".")
        value = finite_number(number)
        if value is None or name not in usual.get(rule, {}):
            unknown += 1
        elif value != usual[rule][name]:
            changed.setdefault(rule, {})[name] = value
    if changed:
        state.metric_thresholds.set(changed)
    if unknown:
        yield sentence("The address names thresholds that no rule here has: {count}.", count=unknown)
    if token := st.query_params.get(RULES):
        if kept := shelf().get(token):
            state.metric_own_rules.set(kept.data.decode())
        else:
            yield sentence("The address names own rules that this console no longer keeps: it is judged without them.")


def _take_mix() -> Iterator[Sentence]:
    """Check against the mix that the address names, by its name; say so when its weights have changed since."""
    name, _at, digest = (st.query_params.get(MIX) or "").rpartition("@")
    if not name:
        return
    state.put_widget(MIX, name)
    weights = weights_of_mix()
    if weights is None:
        state.put_widget(MIX, None)
        yield sentence("The address names the mix {name}, which this console does not have.", name=name)
    elif _digest(repr(weights)) != digest:
        yield sentence("The mix {name} has been changed since the address was made.", name=name)


def write_link(weights: Mapping[str, float] | None) -> None:
    """Keep files and rules in the address: examples by name, uploads by their content's hash; paths are not shared.

    ``weights`` are those of the chosen mix.
    """
    files = [file for file in state.metric_files.get() if not file.path]
    wanted = ",".join(file.name.removesuffix(".csv") if _is_example(file) else file.digest for file in files)
    keep_options(FILES, [wanted] if wanted else [])
    chosen = {state.metric_x.get().get(file.digest) for file in files}
    keep_options(X, [x for x in chosen if x] if len(chosen) == 1 else [])
    changed = state.metric_thresholds.get()
    limits = [f"{rule}.{name}:{value:.12g}" for rule, own in changed.items() for name, value in own.items()]
    rules = state.metric_own_rules.get()
    keep_options(LIMITS, limits if files else [])
    keep_options(RULES, [_shelved(rules)] if files and rules else [])
    keep_options(MIX, [f"{state.widget(MIX)}@{_digest(repr(weights))}"] if files and weights else [])


def share_note() -> None:
    """Draw what the address of this view carries to somebody else, and what it does not."""
    st.markdown(
        _(
            "The address of this page opens this view on this console: the same files, steps, axes, smoothing and "
            "picked series, judged by the same thresholds, own rules and mix."
        )
    )
    st.caption(_("Dropped files and own rules are kept while the console runs, until newer ones need their room."))
    if followed := [file.name for file in state.metric_files.get() if file.path]:
        names = ", ".join(followed)
        told = _("Not part of the address, since it is followed by its path: {names}.", names=names)
        st.markdown(f":orange[:material/link_off:] {theme.plain(told)}")


def _shelved(rules: str) -> str:
    """The hash under which own rules lie on the shelf from now on."""
    data = rules.encode()
    digest = blake2b(data, digest_size=12).hexdigest()
    shelf().put(MetricFile("rules.yaml", data, digest))
    return digest


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=4).hexdigest()


def _is_example(file: MetricFile) -> bool:
    name = file.name.removesuffix(".csv")
    return name in EXAMPLES and len(file.data) == (FOLDER / "training_metrics" / f"{name}.csv").stat().st_size
