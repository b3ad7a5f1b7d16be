"""What the Trajectories page draws, as data: rows of tokens, marks and bars."""

import json
import time
from dataclasses import replace

import pytest

from components.trajectories.buffer_charts import queue_chart, staleness_chart, timeline_chart
from components.trajectories.buffer_panel import digest_of
from components.trajectories.credit_chart import chart_words, credit_chart
from components.trajectories.token_view import FOLDED_TOKENS, MAX_ROW_TOKENS, TokenMark, rows_of, shifted_marks
from rewards_lib.agentic import (
    Policy,
    SimulationSettings,
    compare_with_synchronous,
    lay_out,
    read_trajectories,
    simulate,
    split_by_words,
)

TALK = [
    {"role": "user", "content": "What is 17 * 23?"},
    {"role": "assistant", "content": "<think>Compute.</think>\nIt is 391."},
]
SMALL = SimulationSettings(workers=4, group_size=2, batch=2, steps=6)


def track_of(talk):
    return lay_out(read_trajectories(json.dumps(talk)).trajectories[0], split_by_words)


def marks_of(track, value=1.0):
    return [TokenMark(bool(trained), value * trained) for trained in track.mask]


def text_of(row):
    return "".join(cell[0] for cell in row["tokens"]).replace("↵\n", "\n")


def test_each_part_of_a_turn_is_a_row_and_the_template_stands_with_it():
    track = track_of(TALK)
    rows = rows_of(track, marks_of(track))
    assert [(row["role"], row["kind"]) for row in rows] == [
        ("user", ""), ("assistant", "reasoning"), ("assistant", "answer"),
    ]  # fmt: skip
    assert text_of(rows[1]) == "<|im_start|>assistant\n<think>Compute.</think>\n"
    assert "".join(map(text_of, rows)) == "".join(piece.text for piece in track.pieces)


def test_long_tool_output_is_folded_and_nothing_else():
    long = "word " * (FOLDED_TOKENS + 1)
    track = track_of([*TALK, {"role": "tool", "content": long}, {"role": "assistant", "content": long}])
    folds = {(row["role"], bool(row["fold"])) for row in rows_of(track, marks_of(track))}
    assert folds == {("user", False), ("assistant", False), ("tool", True)}


def test_a_row_of_very_many_tokens_is_cut_and_says_so():
    track = track_of([{"role": "user", "content": "x"}, {"role": "assistant", "content": "word " * 5000}])
    row = rows_of(track, marks_of(track))[-1]
    assert len(row["tokens"]) == MAX_ROW_TOKENS + 1
    assert row["tokens"][-1][0].endswith("tokens more")


def test_the_token_that_gets_most_is_tinted_most_and_a_loss_is_told_apart():
    track = track_of(TALK)
    marks = [TokenMark(True, float(place - 1)) for place in range(len(track.pieces))]
    cells = [cell for row in rows_of(track, marks) for cell in row["tokens"]]
    assert max(cells, key=lambda cell: cell[2]) is cells[-1]
    assert [cell[3] for cell in cells[:3]] == [True, False, False]
    assert cells[0][4] == "token 0 · −1"


def test_the_shift_moves_every_mark_one_place_to_the_left():
    marks = [TokenMark(False, 0), TokenMark(True, 2), TokenMark(True, 3)]
    assert shifted_marks(marks) == [TokenMark(True, 2), TokenMark(True, 3), TokenMark(False, 0)]
    assert shifted_marks([]) == []


def test_the_chart_has_a_bar_a_token_and_bundles_very_many():
    track = track_of(TALK)
    assert len(credit_chart(track, marks_of(track)).data[0].x) == len(track.pieces)
    long = track_of([*TALK, {"role": "assistant", "content": "word " * 5000}])
    drawn = credit_chart(long, marks_of(long))
    assert len(drawn.data[0].x) <= 1500
    assert sum(drawn.data[0].y) == pytest.approx(sum(long.mask))


def test_the_chart_in_words_says_how_many_tokens_get_how_much():
    track = track_of(TALK)
    assert chart_words(marks_of(track)).startswith(f"{sum(track.mask)} tokens are given something")
    assert chart_words(marks_of(track, 0.0)) == "No token is given anything."


def test_markup_in_tokens_does_not_reach_the_tooltips():
    track = track_of([{"role": "user", "content": "x"}, {"role": "assistant", "content": "<b>&lt;"}])
    assert not any("<" in told or "&" in told for told in credit_chart(track, marks_of(track)).data[0].customdata)


@pytest.mark.parametrize("policy", Policy)
def test_every_policy_can_be_drawn(policy):
    comparison = compare_with_synchronous(replace(SMALL, policy=policy, partial_rollouts=False))
    timeline = timeline_chart(comparison.run)
    assert {bar.name for bar in timeline.data} >= {"trains"}
    assert sum(staleness_chart(comparison.run, comparison.summary).data[0].y) == sum(
        comparison.summary.staleness.values()
    )
    assert len(queue_chart(comparison.run).data[0].x) == len(comparison.run.queue_depth)


def test_the_digest_of_a_run_is_the_same_for_a_seed_and_another_for_another():
    assert digest_of(simulate(SMALL)) == digest_of(simulate(SMALL))
    assert digest_of(simulate(SMALL)) != digest_of(simulate(replace(SMALL, seed=1)))


def test_a_timeline_of_very_many_groups_ends_early_enough_to_be_drawn():
    flood = replace(SMALL, policy=Policy.DROP_OLDEST, queue_capacity=8, train_seconds=5000.0)
    drawn = timeline_chart(simulate(flood))
    assert sum(len(bar.x) for bar in drawn.data) < 1600


def test_tens_of_thousands_of_tokens_are_cut_into_rows_at_once():
    """Each token once asked the session for its language: eight seconds for 20,000."""
    turns = [{"role": "tool", "content": "97 " * 200}, {"role": "assistant", "content": "left " * 200}]
    track = track_of([TALK[0], *turns * 50])
    marks = marks_of(track)
    begun = time.process_time()
    rows_of(track, marks)
    assert len(marks) > 20_000
    assert time.process_time() - begun < 1
