"""Two rewards over the same rollouts: changes, flips, and which rule did it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy import float32

from rewards_lib.errors import InputError
from rewards_lib.rollouts import Recorded, Rollout, compare


def scored(*groups, rule="r"):
    found = []
    for number, rewards in enumerate(groups):
        for reward in rewards:
            line = len(found) + 1
            found.append(Rollout(line, f"id{line}", f"g{number}", {}, None, Recorded(reward, {rule: reward})))
    return found


def test_changes_flips_and_signal_are_counted():
    found = compare(scored([1, 0, 0.5], [0, 0], [1, None]), scored([0, 1, 0.5], [0, 1], [None, 1]))
    assert (found["changed"], found["raised"], found["lowered"]) == (3, 2, 1)
    assert (found["newly_unscored"], found["newly_scored"]) == (1, 1)
    assert (found["rank_flips"], found["groups_with_flips"], found["kendall_tau"]) == (3, 1, -1.0)
    assert (found["signal_gained"], found["signal_lost"], found["advantage_sign_flips"]) == (1, 0, 2)
    assert found["groups_that_gained_signal"] == ["g1"]


def test_the_largest_changes_come_first_and_name_the_rule():
    found = compare(scored([1, 0.5]), scored([0.9, 2]))
    assert [example["id"] for example in found["examples"]] == ["id2", "id1"]
    assert found["examples"][0]["moved_by"] == {"r": [0.5, 2]}
    assert found["rules"] == {"r": {"changed": 2, "newly_unscored": 0, "newly_scored": 0}}


def test_a_rule_of_one_side_only_is_named_as_such():
    assert compare(scored([1]), scored([1], rule="s"))["rules"] == {"r": {"only_in": "a"}, "s": {"only_in": "b"}}


def test_rollouts_of_one_file_only_are_counted_and_nothing_in_common_is_refused():
    found = compare(scored([1, 0, 1]), scored([1, 0]))
    assert (found["rollouts"], found["only_in_a"], found["only_in_b"]) == (2, 1, 0)
    with pytest.raises(InputError, match="share no rollout"):
        compare(scored([1]), [])


def test_an_id_that_occurs_once_for_each_completion_is_matched_in_order():
    a = [Rollout(n, "same", "g", {}, None, Recorded(float(n))) for n in (1, 2, 3)]
    b = [Rollout(n, "same", "g", {}, None, Recorded(float(n == 2))) for n in (1, 2, 3)]
    found = compare(a, b)
    assert (found["rollouts"], [example["b"] for example in found["examples"]]) == (3, [0.0, 0.0, 1.0])


def test_every_rollout_is_unchanged_changed_or_unscored_and_lost_rewards_are_listed_last_with_their_reason():
    a = scored([1, 0, 1, None, None])
    b = scored([1, 0.5, None, 0, None])
    b[2] = b[2]._replace(recorded=Recorded(None, {"r": None}, error="no tests"))
    found = compare(a, b)
    counts = ("unchanged", "changed", "newly_unscored", "newly_scored", "unscored_in_both")
    assert [found[name] for name in counts] == [1, 1, 1, 1, 1]
    assert [(row["a"], row["b"], row.get("why_unscored")) for row in found["examples"]] == [
        (0, 0.5, None), (1, None, "no tests"), (None, 0, None),
    ]  # fmt: skip
    assert len(compare(a, b, most_examples=1)["examples"]) == 1


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5))
def test_rewards_that_were_kept_in_32_bits_are_the_same_rewards(rewards):
    found = compare(scored([float(float32(reward)) for reward in rewards]), scored(rewards))
    assert (found["unchanged"], found["changed"], found["examples"]) == (len(rewards), 0, [])
    assert found["rules"]["r"]["changed"] == 0


def test_a_small_change_that_is_more_than_32_bits_lose_is_a_change():
    assert compare(scored([0.1]), scored([0.1 + 1e-7]))["changed"] == 1


@given(st.lists(st.lists(st.floats(-5, 5), min_size=1, max_size=5), min_size=1, max_size=5))
def test_a_file_compared_with_itself_has_no_change(groups):
    found = compare(scored(*groups), scored(*groups))
    assert (found["changed"], found["rank_flips"], found["advantage_sign_flips"]) == (0, 0, 0)
    assert found["kendall_tau"] in (None, pytest.approx(1.0))
