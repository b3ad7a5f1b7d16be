"""Trainers' names and the families they form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.training_metrics import canonical_name, canonical_names, group_families
from rewards_lib.training_metrics.names import split_name

F = "reward/functions/acc/rewards"


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("train/reward/final_rewards", "train/reward/final_rewards"),
        ("train.reward.final_rewards", "train/reward/final_rewards"),
        ("test/reward/functions/数学正确/rewards(bon)", "test/reward/functions/数学正确/rewards(bon)"),
        ("train/generation/response_length.clipfrac", "train/generation/response_length.clipfrac"),
        ("critic/rewards/mean", "train/reward/final_rewards"),
        ("val-core/gsm8k/acc/mean@8", "test/reward/final_rewards"),
        ("val-core/gsm8k/acc/best@8/mean", f"test/{F}(bon)"),
        ("val-aux/gsm8k/acc/worst@8/mean", f"test/{F}(won)"),
        ("reward", "train/reward/final_rewards"), ("eval_reward", "test/reward/final_rewards"),
        ("rewards/acc/mean", f"train/{F}(mean)"), ("train/rewards/acc", f"train/{F}(mean)"),
        ("eval_rewards/acc/mean", f"test/{F}(mean)"),
        ("completions/clipped_ratio", "train/generation/response_length.clipfrac"),
        ("clip_ratio/high_mean", "train/actor/pg_clipfrac_high"),
        ("actor/pg_clipfrac_lower", "train/actor/pg_clipfrac2"),
        ("critic/score/max", "train/reward/batch_max"),
        ("train/loss", "train/actor/loss"), ("eval/gsm8k/avg@4", "test/reward/final_rewards"),
        ("train/actor/vf_clipfrac_high", "train/actor/vf_clipfrac_high"),
        ("val-core/openai/gsm8k/acc/mean@1", "test/reward/final_rewards"),
        ("val/test_score/openai/gsm8k", "test/reward/final_rewards"),
        ("val-core/openai/gsm8k/acc/best_at_8/mean", f"test/{F}(bon)"),
        ("train/reward/functions/acc/rewards_bon_", f"train/{F}(bon)"),
        ("eval_gsm8k_pass8", "test/reward/functions/gsm8k/rewards(bon)"),
        ("eval/eval_gsm8k_pass1", "test/reward/final_rewards"),
        ("actor/pg_loss@sum", "train/actor/pg_loss"), ("critic/ratio_max@max", None),
        ("ppo_actor/task_reward/avg", "train/reward/final_rewards"),
        ("ppo_actor/update/grad_norm", "train/actor/grad_norm"),
        ("actor/max_len_mask_ratio", "train/generation/response_length.clipfrac"),
        ("completions/mean_terminated_length", "train/generation/response_length.mean"),
        ("actor_pg_clipfrac", "train/actor/pg_clipfrac"), ("rewards_total", None),
        ("clip_ratio", "train/actor/pg_clipfrac"), ("errored_rollouts/all/mean", "train/generation/aborted"),
        ("val-core/gsm8k/acc/maj@8/mean", None), ("eval/runtime", None),
        ("rewards/margins", None), ("timing_s/step", None), ("train/metrics/sandbox_cost(max)", None),
    ],
)  # fmt: skip
def test_names_of_trainers_map_to_one_canonical_name(name, canonical):
    assert canonical_name(name) == canonical


def test_of_two_names_for_one_thing_the_better_speaks_for_it():
    chosen = canonical_names(["critic/score/mean", "critic/rewards/mean"])
    assert chosen == {"train/reward/final_rewards": "critic/rewards/mean"}


def test_a_length_over_all_answers_speaks_before_one_over_those_that_ended():
    chosen = canonical_names(["completions/mean_terminated_length", "completions/mean_length"])
    assert chosen == {"train/generation/response_length.mean": "completions/mean_length"}


def test_a_data_set_of_slime_is_known_by_the_truncation_beside_it():
    chosen = canonical_names(["eval/aime-truncated_ratio", "eval/perplexity", "eval/aime"])
    assert chosen == {"test/reward/final_rewards": "eval/aime"}


def test_a_prefix_says_the_split():
    assert split_name("validation/accuracy") == ("test", "accuracy")
    assert split_name("trainer/x") == (None, "trainer/x")


def families(*names: str):
    return {family.name: family for family in group_families(names)}


def test_the_three_of_a_reward_function_are_one_family_and_train_pairs_with_test():
    found = families(*(f"{split}/{F}({part})" for split in ("train", "test") for part in ("won", "mean", "bon")))
    assert set(found) == {"reward:acc", "test/reward:acc"}
    assert found["reward:acc"].kind == "reward"
    assert found["reward:acc"].members["bon"] == f"train/{F}(bon)"
    assert (found["reward:acc"].pair, found["test/reward:acc"].pair) == ("test/reward:acc", "reward:acc")


def test_clip_fractions_truncation_and_length_are_families():
    found = families(
        "train/actor/pg_clipfrac", "train/actor/pg_clipfrac2", "train/actor/pg_clipfrac_high",
        "train/generation/prompt_length.clipfrac", "train/generation/response_length.clipfrac",
        "train/generation/response_length.mean", "train/generation/response_length.max",
    )  # fmt: skip
    assert list(found) == ["policy clipping", "truncation", "length:response_length"]
    assert set(found["policy clipping"].members) == {"pg_clipfrac", "pg_clipfrac2", "pg_clipfrac_high"}


@pytest.mark.parametrize("form", ["K({})", "K/{}", "K.{}", "K_{}", "K@{}"])
def test_two_of_max_min_mean_make_a_custom_metric(form):
    found = families(form.format("max"), form.format("mean"))
    assert found["K"].kind == "custom"
    assert set(found["K"].members) == {"max", "mean"}
    assert [family.kind for family in group_families([form.format("max")])] == ["other"]


@given(st.lists(st.text(alphabet="kf/._()@maxinebotr", min_size=1, max_size=12), unique=True, max_size=12))
def test_every_series_is_a_member_of_exactly_one_family(names):
    grouped = group_families(names)
    assert sorted(member for family in grouped for member in family.members.values()) == sorted(names)
    assert len({family.name for family in grouped}) == len(grouped)


@pytest.mark.parametrize("names", [("/a", "//a"), ("a", "no prefix/a")])
def test_prefixes_that_look_alike_stay_two_families(names):
    assert [list(family.members.values()) for family in group_families(names)] == [[name] for name in names]


def test_the_spread_of_a_function_is_no_function_of_its_own():
    assert canonical_name("rewards/reward_func/std") == "train/reward/functions/reward_func/std"
