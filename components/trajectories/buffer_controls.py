"""The settings of the rollout-buffer simulator.

Invariant: what the widgets show is what ``state.simulation`` holds; choosing a system raises the epoch, so that the
widgets start anew with its defaults.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

import streamlit as st

from components import state
from components.i18n import _, say
from components.theme import plain
from rewards_lib.agentic import MOST_WORKERS, SYSTEMS, Generation, Order, Policy, SimulationSettings, settings_of

OWN = "own"
FIELD_PX = 124
Width: TypeAlias = int | Literal["stretch"]


def buffer_controls() -> None:
    """Draw the settings and keep what they hold."""
    _system_choice()
    settings = state.simulation.get()
    with st.container(border=True, gap="xsmall", key="simulation_rule"):
        settings = _rule(settings)
    with st.container(border=True, gap="xsmall", key="simulation_work"):
        settings = _work(settings)
    state.simulation.set(settings)


def _system_choice() -> None:
    options = [OWN, *SYSTEMS]
    chosen = st.selectbox(
        _("As in"),
        options,
        index=options.index(state.simulation_system.get()),
        format_func=lambda name: _("settings of your own") if name == OWN else name,
        key="simulation_system",
        help=_("Takes the rule and the defaults of a trainer; everything stays yours to change."),
    )
    if chosen and chosen != state.simulation_system.get():
        state.simulation_system.set(chosen)
        if chosen != OWN:
            state.simulation.set(settings_of(chosen, state.simulation.get()))
            state.simulation_epoch.set(state.simulation_epoch.get() + 1)
    if chosen and chosen != OWN:
        st.markdown(f":small[:gray[{plain(say(SYSTEMS[chosen].knobs))}]]", help=SYSTEMS[chosen].source)


def _rule(settings: SimulationSettings) -> SimulationSettings:
    names = {
        Policy.SYNCHRONOUS: _("take turns"),
        Policy.CAPACITY: _("bounded start (AReaL)"),
        Policy.THRESHOLD: _("bounded share (verl)"),
        Policy.DISCARD: _("discard what is too old"),
        Policy.DROP_OLDEST: _("drop the oldest when full"),
    }
    told = {
        Policy.SYNCHRONOUS: _("Generate a batch, train on it, begin the next."),
        Policy.CAPACITY: _("At most (staleness + version + 1) × batch groups are ever started."),
        Policy.THRESHOLD: _("At most (1 + threshold) × what is trained on between two weight updates."),
        Policy.DISCARD: _("Workers run on; older groups are thrown away."),
        Policy.DROP_OLDEST: _("Workers never wait. Memory is bounded, staleness is not."),
    }
    policies = list(names)
    policy = (
        st.selectbox(
            _("Rule"),
            policies,
            index=policies.index(settings.policy),
            format_func=names.__getitem__,
            key=_key("policy"),
        )
        or settings.policy
    )
    st.caption(told[policy])
    changes: dict[str, object] = {"policy": policy}
    if policy in (Policy.CAPACITY, Policy.DISCARD):
        changes["max_staleness"] = _whole(
            _("Staleness limit, versions"), settings.max_staleness, "max_staleness", 0, 50
        )
        changes["max_concurrent"] = _whole(
            _("Under way at once, groups"), settings.max_concurrent, "max_concurrent", 1, MOST_WORKERS
        )
    if policy is Policy.THRESHOLD:
        changes["staleness_threshold"] = _decimal(
            _("Threshold"), settings.staleness_threshold, "threshold", 0.0, 5.0, 0.1
        )
        changes["sync_steps"] = _whole(_("Steps between two updates"), settings.sync_steps, "sync_steps", 1, 20)
    if policy in (Policy.DROP_OLDEST, Policy.DISCARD):
        changes["queue_capacity"] = _whole(_("Buffer, groups"), settings.queue_capacity, "queue_capacity", 1, 4096)
    if policy in (Policy.CAPACITY, Policy.THRESHOLD):
        orders = {Order.AS_STARTED: _("oldest first"), Order.AS_FINISHED: _("as finished")}
        changes["order"] = (
            st.segmented_control(
                _("The trainer takes"),
                list(orders),
                default=settings.order,
                required=True,
                format_func=orders.__getitem__,
                key=_key("order"),
                help=_("Oldest first keeps the limit for stragglers too, but waits for them."),
            )
            or settings.order
        )
    if policy is not Policy.SYNCHRONOUS:
        changes["partial_rollouts"] = st.toggle(
            _("Partial rollouts"),
            settings.partial_rollouts,
            key=_key("partial"),
            help=_(
                "A weight update pauses running generations, which go on under the new weights; else it waits for them."
            ),
        )
    return replace(settings, **changes)  # type: ignore[arg-type]


def _work(settings: SimulationSettings) -> SimulationSettings:
    generation = settings.generation
    with st.container(horizontal=True, gap="small", key="simulation_numbers"):  # two in a row on a narrow screen too
        workers = _whole(_("Workers"), settings.workers, "workers", 1, MOST_WORKERS, FIELD_PX)
        group_size = _whole(_("Rollouts a group"), settings.group_size, "group_size", 1, 64, FIELD_PX)
        batch = _whole(_("Groups a batch"), settings.batch, "batch", 1, 512, FIELD_PX)
        steps = _whole(_("Steps"), settings.steps, "steps", 1, 500, FIELD_PX)
        train = _decimal(_("Training step, s"), settings.train_seconds, "train", 0.1, 10_000.0, 1.0, FIELD_PX)
        sync = _decimal(_("Weight update, s"), settings.sync_seconds, "sync", 0.0, 10_000.0, 1.0, FIELD_PX)
        median = _decimal(_("Rollout, median s"), generation.median_seconds, "median", 0.1, 10_000.0, 1.0, FIELD_PX)
        sigma = _decimal(_("Spread (sigma)"), generation.sigma, "sigma", 0.0, 3.0, 0.1, FIELD_PX)
        tail = _whole(_("Stragglers, %"), round(100 * generation.tail_share), "tail", 0, 100, FIELD_PX)
        factor = _decimal(_("Straggler, times"), generation.tail_factor, "factor", 1.0, 100.0, 1.0, FIELD_PX)
        seed = _whole(_("Seed"), settings.seed, "seed", 0, 99_999, FIELD_PX)
    return replace(
        settings,
        workers=workers,
        batch=batch,
        steps=steps,
        group_size=group_size,
        train_seconds=train,
        sync_seconds=sync,
        generation=Generation(median, sigma, tail / 100, factor),
        seed=seed,
    )


def _key(name: str) -> str:
    return f"simulation_{name}_{state.simulation_epoch.get()}"


def _whole(label: str, value: int, name: str, least: int, most: int, width: Width = "stretch") -> int:
    shown = min(max(value, least), most)
    return int(st.number_input(label, least, most, shown, step=1, key=_key(name), width=width))


def _decimal(
    label: str, value: float, name: str, least: float, most: float, step: float, width: Width = "stretch"
) -> float:
    return float(st.number_input(label, least, most, value, step=step, format="%.4g", key=_key(name), width=width))
