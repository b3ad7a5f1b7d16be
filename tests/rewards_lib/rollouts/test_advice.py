"""Advice follows from the figures, names its source, and stays open where the file does not settle it."""

import numpy as np
import pytest

from rewards_lib.mix import read_mix
from rewards_lib.rollouts import RewardTable
from rewards_lib.rollouts.advice import advise, kept_share, reward_kind
from rewards_lib.rollouts.group_statistics import group_table
from rewards_lib.rollouts.readiness import judge_readiness
from rewards_lib.rollouts.reading import open_rollouts
from rewards_lib.rollouts.survey import Survey, survey
from tests.rewards_lib.rollouts.conftest import row

MATHS = read_mix('{"name": "m", "rules": [{"name": "a", "preset": "math_accuracy"}]}')


def table(rights, size=8):
    rewards = np.array([float(place < right) for right in rights for place in range(size)])
    groups = np.repeat(np.arange(len(rights)), size)
    nothing = np.full(len(rewards), np.nan)
    return RewardTable(rewards, groups, tuple(map(str, range(len(rights)))), {}, {}, nothing, np.arange(len(rewards)))


def advice(rights, *, size=8, counted=None, mix=MATHS, unscored=0.0):
    groups = group_table(table(rights, size), right=0.5)
    found = advise(groups, judge_readiness(groups, unscored_share=unscored), counted or Survey(), mix)
    assert all(one.why and one.source for one in found)
    return {one.what: one for one in found}


@pytest.mark.parametrize(
    ("rights", "method"),
    [
        ([4] * 40, "GRPO"),
        ([4] * 20 + [0] * 10 + [8] * 10, "DAPO"),
        ([1] * 8 + [0] * 32, "RFT, then GRPO"),
        ([8] * 40, ""),
        ([4] * 5, ""),
    ],
)
def test_the_method_follows_from_signal_and_headroom(rights, method):
    assert advice(rights)["method"].value == method


def test_one_completion_a_prompt_speaks_for_a_critic():
    assert advice([1, 0] * 20, size=1)["method"].value == "PPO"


def test_few_groups_are_never_clear():
    assert advice([4] * 40)["method"].certainty == "clear"
    assert advice([4] * 15)["method"].certainty == "likely"
    assert advice([4] * 5)["num_samples"].certainty == "open"


def test_samples_grow_while_they_keep_groups():
    assert advice([4] * 40)["num_samples"].value == "8"
    assert advice([1] * 30 + [4] * 10)["num_samples"].value == "16"
    groups = group_table(table([1] * 4), right=0.5)
    assert kept_share(groups, 8) == pytest.approx(1 - (7 / 8) ** 8 - (1 / 8) ** 8)


def test_the_token_limit_is_open_without_tokens_and_grows_when_completions_are_cut():
    assert advice([4] * 40)["max_new_tokens"].certainty == "open"
    fine = Survey(tokens=[400] * 100, cut_known=100, cut=1)
    assert advice([4] * 40, counted=fine)["max_new_tokens"].value == "512"
    cut = Survey(tokens=[1024] * 100, cut_known=100, cut=30)
    assert advice([4] * 40, counted=cut)["max_new_tokens"].value == "2048"


def test_what_judges_decides_how_far_the_policy_is_held():
    params = '{"base_url": "http://127.0.0.1:1", "model": "m"}'
    judge = read_mix('{"name": "m", "rules": [{"name": "j", "preset": "llm_judge", "params": ' + params + "}]}")
    own = read_mix('{"name": "m", "rules": [{"name": "f", "function": "f"}]}')
    assert [reward_kind(mix) for mix in (MATHS, judge, own, None)] == ["objective", "preference", "unknown", "unknown"]
    assert advice([4] * 40, mix=judge)["method"].value == "DPO or GRPO"
    assert advice([4] * 40, mix=judge)["kl_coefficient"].value == "0.01"
    assert advice([4] * 40, mix=own)["kl_coefficient"].certainty == "open"


def test_groups_that_mix_prompts_are_counted_and_told(write):
    rows = [row("2", group=group, prompt=prompt) for group, prompt in ("ap", "aq", "bp", "bp", "aq")]
    found = survey(open_rollouts(write(rows)))
    assert (found.groups, found.mixed_groups) == (2, 1)
    assert "1 of 2 groups hold rollouts of different prompts" in str(found.notes()[0])
    assert survey(open_rollouts(write(rows[2:4]))).notes() == []


def test_a_survey_counts_what_stands_in_the_file(write):
    rows = [
        row("2", completion_ids=[1, 2], finish_reason="length"), row("3", finish_reason="stop", answer=None),
        "{broken", row("4", reward=1.0, is_truncated=False, prompt="other"),
    ]  # fmt: skip
    file = open_rollouts(write(rows))
    found = survey(file)
    assert (found.rollouts, found.groups, found.bad_rows) == (3, 2, 1)
    assert (found.without_answer, found.rewarded, found.tokens, found.cut, found.cut_known) == (1, 1, [2], 1, 3)
    assert not found.is_partial
    assert survey(file, most=2).is_partial
