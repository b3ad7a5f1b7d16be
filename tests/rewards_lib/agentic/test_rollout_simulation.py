"""The simulator: nothing lost, limits kept, a seed repeated, and the admission rules' worked numbers."""

import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rewards_lib.agentic import (
    MOST_WORKERS,
    SYSTEMS,
    Fate,
    Generation,
    Order,
    Phase,
    Policy,
    SimulationSettings,
    areal_capacity,
    compare_with_synchronous,
    settings_of,
    simulate,
    summarise,
    verl_new_rollouts,
)
from rewards_lib.agentic.simulator.simulation import MAX_GROUPS
from rewards_lib.errors import InputError

SMALL = SimulationSettings(workers=6, group_size=2, batch=3, steps=12, queue_capacity=5)
some_settings = st.builds(
    SimulationSettings,
    workers=st.integers(1, 12), group_size=st.integers(1, 3), batch=st.integers(1, 5), steps=st.integers(1, 12),
    train_seconds=st.floats(0.5, 60), sync_seconds=st.sampled_from([0.0, 1.0, 10.0]),
    generation=st.builds(
        Generation, median_seconds=st.floats(0.5, 60), sigma=st.floats(0, 1), tail_share=st.floats(0, 0.5),
        tail_factor=st.floats(1, 30),
    ),
    policy=st.sampled_from(Policy), order=st.sampled_from(Order), max_staleness=st.integers(0, 4),
    max_concurrent=st.integers(1, 16), queue_capacity=st.integers(5, 12), staleness_threshold=st.floats(0, 3),
    sync_steps=st.integers(1, 4), partial_rollouts=st.booleans(), seed=st.integers(0, 9),
)  # fmt: skip


@pytest.mark.parametrize(
    ("terms", "capacity"),
    [
        ({"max_staleness": 0, "version": 0, "accepted": 0, "running": 0}, 4),
        ({"max_staleness": 2, "version": 0, "accepted": 0, "running": 0}, 12),
        ({"max_staleness": 2, "version": 0, "accepted": 4, "running": 8}, 0),
        ({"max_staleness": 2, "version": 1, "accepted": 4, "running": 8}, 4),
    ],
)
def test_areals_rule_gives_the_worked_capacities(terms, capacity):
    assert areal_capacity(max_concurrent=1000, batch=4, **terms) == capacity


def test_areals_rule_never_exceeds_what_may_run_at_once():
    terms = {"batch": 4, "max_staleness": 9, "version": 0, "accepted": 0}
    assert areal_capacity(max_concurrent=10, running=7, **terms) == 3


@pytest.mark.parametrize(("threshold", "rollouts"), [(0, 128), (0.5, 192), (1, 256)])
def test_verls_rule_gives_the_worked_rollouts(threshold, rollouts):
    assert verl_new_rollouts(staleness_threshold=threshold, sync_steps=4, require_batches=1, mini_batch=32) == rollouts


def test_verls_rule_counts_what_is_left_of_older_weights_and_loses_none_to_floats():
    assert verl_new_rollouts(staleness_threshold=0.5, sync_steps=4, mini_batch=32, stale=64) == 128
    assert verl_new_rollouts(staleness_threshold=0.1, sync_steps=1, mini_batch=10) == 11
    with pytest.raises(InputError, match="0 or more"):
        verl_new_rollouts(staleness_threshold=-0.1, sync_steps=1, mini_batch=1)


@settings(max_examples=150, deadline=None)
@given(some_settings)
def test_every_group_has_one_fate_and_every_run_reaches_its_end(wanted):
    run = simulate(wanted)
    summary = summarise(run)
    fates = summary.groups
    assert fates[Fate.TRAINED] == run.steps * wanted.batch or run.trainer[-1].phase is Phase.TRAINING
    assert run.steps == wanted.steps or len(run.groups) == MAX_GROUPS
    assert sum(fates.values()) == len(run.groups)
    assert (fates[Fate.DROPPED] == 0) or wanted.policy is Policy.DROP_OLDEST
    assert (fates[Fate.DISCARDED] == 0) or wanted.policy is Policy.DISCARD
    assert 0 <= summary.workers_idle <= 1
    assert sum(summary.trainer.values()) == pytest.approx(1)


@settings(max_examples=150, deadline=None)
@given(some_settings)
def test_the_staleness_limit_holds_for_every_group_that_is_taken_as_started_or_thrown_away_when_older(wanted):
    if wanted.policy is not Policy.DISCARD:
        wanted = replace(wanted, order=Order.AS_STARTED)
    if wanted.staleness_limit is not None:
        assert summarise(simulate(wanted)).max_staleness <= wanted.staleness_limit


@settings(max_examples=100, deadline=None)
@given(some_settings)
def test_the_buffer_never_holds_more_than_its_capacity(wanted):
    if wanted.policy in (Policy.DROP_OLDEST, Policy.DISCARD):
        assert max((depth for _, depth in simulate(wanted).queue_depth), default=0) <= wanted.queue_capacity


@settings(max_examples=60, deadline=None)
@given(some_settings)
def test_no_worker_generates_two_groups_at_once(wanted):
    by_worker = {}
    for group in simulate(wanted).groups:
        assert group.started >= by_worker.get(group.worker, 0.0)
        by_worker[group.worker] = group.finished
    assert set(by_worker) <= set(range(wanted.workers))


@pytest.mark.parametrize(
    "strict",
    [
        replace(SMALL, policy=Policy.SYNCHRONOUS),
        replace(SMALL, policy=Policy.CAPACITY, max_staleness=0),
        replace(SMALL, policy=Policy.THRESHOLD, staleness_threshold=0),
        replace(SMALL, policy=Policy.DISCARD, max_staleness=0),
    ],
    ids=lambda one: one.policy.value,
)
def test_the_strictest_form_of_each_rule_trains_on_fresh_groups_only(strict):
    for seed in range(5):
        assert set(summarise(simulate(replace(strict, seed=seed))).staleness) == {0}


def test_under_verls_rule_no_more_is_left_over_at_an_update_than_the_threshold_names():
    """The limit on counts holds in whatever order groups are taken."""
    wanted = replace(SMALL, policy=Policy.THRESHOLD, staleness_threshold=0.5, sync_steps=4, order=Order.AS_FINISHED)
    run = simulate(replace(wanted, steps=40))
    updates = [span.end for span in run.trainer if span.phase is Phase.SYNCING]
    taken = {}
    for number, update in enumerate(updates, start=1):
        taken[update] = number * wanted.sync_steps * wanted.batch
        started = sum(group.started < update for group in run.groups)
        assert started - taken[update] <= 0.5 * wanted.sync_steps * wanted.batch


def test_one_seed_gives_one_run_and_another_seed_another():
    assert simulate(SMALL) == simulate(SMALL)
    assert simulate(SMALL).groups != simulate(replace(SMALL, seed=1)).groups


def test_two_policies_meet_the_same_groups():
    one, other = (simulate(replace(SMALL, policy=policy)) for policy in (Policy.SYNCHRONOUS, Policy.DROP_OLDEST))
    count = min(len(one.groups), len(other.groups))
    assert [group.work_seconds for group in one.groups[:count]] == [
        group.work_seconds for group in other.groups[:count]
    ]


def test_a_buffer_that_drops_counts_its_drops():
    flood = replace(SMALL, policy=Policy.DROP_OLDEST, train_seconds=500.0)
    summary = summarise(simulate(flood))
    assert summary.groups[Fate.DROPPED] > 100
    assert summary.wasted > 0.5


def test_a_straggler_may_pass_the_limit_when_groups_are_taken_as_finished():
    tail = replace(SMALL, workers=8, steps=60, max_staleness=1, generation=Generation(10, 0.2, 0.05, 40.0))
    as_finished = summarise(simulate(replace(tail, order=Order.AS_FINISHED)))
    assert as_finished.max_staleness > 1
    assert as_finished.groups_per_minute > summarise(simulate(tail)).groups_per_minute


def test_a_longer_tail_costs_synchronous_training_more_than_asynchronous():
    for seed in range(3):
        even = replace(SMALL, workers=16, steps=60, max_staleness=4, seed=seed, order=Order.AS_FINISHED)
        even = replace(even, generation=Generation(20, 0.3, 0.0, 1.0))
        tailed = replace(even, generation=Generation(20, 0.3, 0.1, 8.0))
        before, after = compare_with_synchronous(even), compare_with_synchronous(tailed)
        lost = [
            1 - late.groups_per_minute / early.groups_per_minute
            for early, late in ((before.synchronous, after.synchronous), (before.summary, after.summary))
        ]
        assert lost[0] > lost[1]
        assert after.speedup > before.speedup > 1


def test_an_update_that_waits_for_running_generations_costs_time():
    patient = replace(SMALL, max_staleness=4, steps=40)
    paused = summarise(simulate(patient))
    drained = summarise(simulate(replace(patient, partial_rollouts=False)))
    assert paused.trainer[Phase.DRAINING] == 0 < drained.trainer[Phase.DRAINING]
    assert drained.groups_per_minute < paused.groups_per_minute


@pytest.mark.parametrize("policy", [Policy.DROP_OLDEST, Policy.DISCARD])
def test_a_batch_larger_than_the_buffer_is_refused_before_it_can_wait_for_ever(policy):
    with pytest.raises(InputError, match="never fits"):
        simulate(replace(SMALL, policy=policy, batch=6, queue_capacity=5))


@pytest.mark.parametrize("change", [{"workers": 0}, {"train_seconds": 0}, {"generation": Generation(sigma=9)}])
def test_a_number_out_of_range_is_named(change):
    with pytest.raises(InputError, match="must lie between"):
        simulate(replace(SMALL, **change))


DEFAULTS = {  # for batches of 3 groups of 2: what is read in batches and rollouts comes out in groups
    "synchronous": {"policy": Policy.SYNCHRONOUS},
    "AReaL": {"policy": Policy.CAPACITY, "max_staleness": 0, "max_concurrent": 3},
    "verl fully async": {"policy": Policy.THRESHOLD, "staleness_threshold": 0.1, "sync_steps": 4},
    "TRL async GRPO": {"policy": Policy.DISCARD, "max_staleness": 4, "queue_capacity": 512, "max_concurrent": 12},
    "prime-rl": {"policy": Policy.DISCARD, "max_staleness": 8, "max_concurrent": 3},
    "SkyRL": {"policy": Policy.CAPACITY, "max_staleness": 4, "max_concurrent": 9, "order": Order.AS_FINISHED},
    "PipelineRL": {"policy": Policy.DROP_OLDEST, "queue_capacity": 64},
    "slime": {"policy": Policy.CAPACITY, "max_staleness": 1, "max_concurrent": 3, "partial_rollouts": False},
    "ROLL": {"policy": Policy.CAPACITY, "max_staleness": 0},
}


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_named_system_brings_the_defaults_that_were_read(system):
    found = settings_of(system, replace(SMALL, max_concurrent=7))
    assert {name: getattr(found, name) for name in DEFAULTS[system]} == DEFAULTS[system]
    assert found.max_concurrent == DEFAULTS[system].get("max_concurrent", MOST_WORKERS)


def test_a_ring_smaller_than_a_batch_holds_a_batch_all_the_same():
    assert settings_of("PipelineRL", replace(SMALL, batch=100, group_size=8)).queue_capacity == 100


def test_slime_trains_one_version_behind_after_its_first_batch():
    run = simulate(settings_of("slime", SMALL))
    assert [group.staleness for group in run.groups[: 3 * SMALL.batch]] == [0] * 3 + [1] * 6


@settings(max_examples=60, deadline=None)
@given(some_settings)
def test_no_more_groups_are_under_way_than_may_be(wanted):
    if wanted.policy in (Policy.CAPACITY, Policy.DISCARD):
        groups = simulate(wanted).groups
        starts = [(one.started, 1) for one in groups] + [(one.finished, -1) for one in groups]
        under_way = 0
        for _time, change in sorted(starts):
            under_way += change
            assert under_way <= wanted.max_concurrent


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_named_system_runs_and_keeps_its_own_limit_on_average(system):
    comparison = compare_with_synchronous(settings_of(system, SMALL))
    assert comparison.run.steps == SMALL.steps
    assert comparison.speedup >= 0.99
    if comparison.run.settings.staleness_limit is not None:
        assert comparison.summary.mean_staleness <= comparison.run.settings.staleness_limit


def test_the_usual_run_and_its_comparison_take_less_than_a_second():
    begun = time.process_time()
    compare_with_synchronous(SimulationSettings())
    assert time.process_time() - begun < 1
