"""Trainers' metric names and what they mean: the table from each trainer's spelling to one canonical name.

Invariant: canonical names are Ark's, under ``train/`` or ``test/``; a name that only looks like another is not mapped
to it. Originals are never renamed: the canonical name is something to look a series up by.

Sources: verl 0.9, TRL 1.10, OpenRLHF 0.11, slime, AReaL, ROLL, NeMo-RL, prime-rl (their logging code).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Literal

Split = Literal["train", "test"]

_SPLITS: Mapping[str, Split] = {
    "train": "train",
    "test": "test",
    "eval": "test",
    "val": "test",
    "validation": "test",
    "": "train",
}
_PREFIX = re.compile(r"(train|test|eval|val|validation)[/._](.+)", re.DOTALL)

_TABLE: tuple[tuple[str, str], ...] = (
    # final reward
    (
        "reward/final_rewards",
        "reward/final_rewards | reward | critic/rewards/mean | rollout/reward_mean"
        " | rollout/raw_reward | task_reward/avg | reward/all/mean | accuracy | critic/score/mean",
    ),
    # one reward function
    (
        "reward/functions/{f}/rewards(mean)",
        "reward/functions/{f}/rewards(mean) | reward/functions/{f}/rewards_mean_ | gdpo/{f}/mean | rewards/{f}/mean"
        " | rewards/{f}",
    ),
    ("reward/functions/{f}/rewards(bon)", "reward/functions/{f}/rewards(bon) | reward/functions/{f}/rewards_bon_"),
    ("reward/functions/{f}/rewards(won)", "reward/functions/{f}/rewards(won) | reward/functions/{f}/rewards_won_"),
    ("reward/functions/{f}/std", "rewards/{f}/std"),
    ("reward/std", "reward_std | rollout/reward_std"),
    # over the batch: not best and worst of n
    ("reward/batch_max", "critic/score/max | critic/rewards/max"),
    ("reward/batch_min", "critic/score/min | critic/rewards/min"),
    ("reward/zero_variance", "frac_reward_zero_std"),
    # generation
    (
        "generation/prompt_length.mean",
        "generation/prompt_length.mean | prompt_length/mean | prompt_len/avg"
        " | tokens/prompt_length/mean | mean_prompt_length",
    ),
    ("generation/prompt_length.max", "generation/prompt_length.max | prompt_length/max | tokens/prompt_length/max"),
    ("generation/prompt_length.min", "generation/prompt_length.min | prompt_length/min | tokens/prompt_length/min"),
    ("generation/prompt_length.clipfrac", "generation/prompt_length.clipfrac | prompt_length/clip_ratio"),
    (
        "generation/response_length.mean",
        "generation/response_length.mean | response_length/mean"
        " | completions/mean_length | completion_length | response_length | rollout/response_len/mean | seq_len/avg"
        " | mean_gen_tokens_per_sample | seq_len/all/mean | response_length_non_aborted/mean"
        " | completions/mean_terminated_length",
    ),
    (
        "generation/response_length.max",
        "generation/response_length.max | response_length/max | completions/max_length"
        " | response_length_non_aborted/max | completions/max_terminated_length",
    ),
    (
        "generation/response_length.min",
        "generation/response_length.min | response_length/min | completions/min_length"
        " | response_length_non_aborted/min | completions/min_terminated_length",
    ),
    (
        "generation/response_length.clipfrac",
        "generation/response_length.clipfrac | response_length/clip_ratio"
        " | completions/clipped_ratio | rollout/truncated_rate | rollout/truncated_ratio | no_eos_ratios/avg"
        " | actor/max_len_mask_ratio | truncation_rate | is_truncated/all/mean",
    ),
    (
        "generation/aborted",
        "response/aborted_ratio | errored_rollouts | empty_rollouts | errored_rollouts/all | empty_rollouts/all"
        " | errored_rollouts/all/mean | empty_rollouts/all/mean",
    ),
    # trainer against rollout engine
    (
        "rollout/is_mean",
        "rollout_corr/rollout_is_mean | sampling/importance_sampling_ratio/mean | rollout_is/mean",
    ),
    ("rollout/ess", "rollout_corr/rollout_is_eff_sample_size | rollout_is/eff_sample_size"),
    (
        "rollout/kl",
        "rollout_corr/kl | rollout_corr/k3_kl | mismatch_kl/mean | mismatch_kl/all/mean | vllm_kl",
    ),
    ("rollout/chi2", "rollout_corr/chi2_token | rollout_corr/chi2_seq"),
    ("rollout/prob_error", "token_mult_prob_error"),
    ("rollout/kl_error", "gen_kl_error"),
    # actor
    (
        "actor/entropy",
        "actor/entropy | entropy | entropy_loss | actor/entropy_loss | critic/entropy/mean | approx_entropy",
    ),
    ("actor/kl_loss", "actor/kl_loss | kl | kl_loss | critic/kl | actor/reward_kl_penalty | kl_rewards/avg"),
    ("actor/ppo_kl", "actor/ppo_kl | ppo_kl | actor/approxkl"),
    ("actor/loss", "actor/loss | loss | actor/total_loss"),
    ("actor/pg_loss", "actor/pg_loss | pg_loss | policy_loss | act_loss"),
    (
        "actor/pg_clipfrac",
        "actor/pg_clipfrac | clip_ratio/region_mean | ppo_clip_ratio | pg_clipfrac | clip_ratio/avg"
        " | actor/ppo_ratio_clipfrac | clip_ratio",
    ),
    ("actor/pg_clipfrac_high", "actor/pg_clipfrac_high | clip_ratio/high_mean | actor/ppo_ratio_high_clipfrac"),
    ("actor/pg_clipfrac_low", "actor/pg_clipfrac_low | clip_ratio/low_mean | actor/ppo_ratio_low_clipfrac"),
    # verl's _lower is the dual clip, not the lower side (core_algos.py)
    ("actor/pg_clipfrac2", "actor/pg_clipfrac2 | actor/pg_clipfrac_lower | dual_clip_ratio | dual_clip_ratio/avg"),
    ("actor/grad_norm", "actor/grad_norm | grad_norm | actor_grad_norm | optim/grad_norm"),
    ("actor/lr", "actor/lr | learning_rate | actor_lr | lr-pg_0 | optim/lr"),
    ("actor/vf_clipfrac_high", "actor/vf_clipfrac_high"),
    ("actor/vf_clipfrac_low", "actor/vf_clipfrac_low"),
    # critic
    ("critic/vf_loss", "critic/vf_loss | critic_loss | critic-value_loss | critic/loss"),
    ("critic/vf_clipfrac", "critic/vf_clipfrac | value_clipfrac | critic/clipfrac"),
    ("critic/vf_clipfrac_high", "critic/vf_clipfrac_high"),
    ("critic/vf_clipfrac_low", "critic/vf_clipfrac_low"),
    ("critic/vf_explained_var", "critic/vf_explained_var"),
    ("critic/grad_norm", "critic/grad_norm"),
    ("critic/lr", "critic/lr"),
    (
        "advantage/advantages",
        "advantage/advantages | critic/advantages/mean | rollout/advantages | rollout/advantages/mean",
    ),
    ("advantage/returns", "advantage/returns | critic/returns/mean | return"),
)

_TEST_ONLY: tuple[tuple[str, str], ...] = (
    # the name of a dataset may hold slashes (openai/gsm8k)
    (r"val-core/.+/(?:acc|reward)/mean@\d+", "reward/final_rewards"),
    (r"val/test_score/.+", "reward/final_rewards"),
    (r"val-(?:core|aux)/.+/(?P<f>[^/]+)/best@\d+/mean", "reward/functions/{f}/rewards(bon)"),
    (r"val-(?:core|aux)/.+/(?P<f>[^/]+)/worst@\d+/mean", "reward/functions/{f}/rewards(won)"),
    (r"val-aux/.+/(?P<f>[^/]+)/mean@\d+", "reward/functions/{f}/rewards(mean)"),
    (r"(?:eval/)?eval_.+_pass1", "reward/final_rewards"),
    (r"(?:eval/)?eval_(?P<f>.+)_pass\d+", "reward/functions/{f}/rewards(bon)"),
    (r"eval/.+/avg@\d+", "reward/final_rewards"),
)


def _pattern(spelling: str) -> str:
    """A spelling as a regular expression; ``/``, ``.`` and ``_`` stand for each other, since exports differ in them.

    A free part directly behind ``rewards/`` has nothing else to be known by: there ``_`` is part of a word.
    """
    between = "[/.]" if spelling.startswith(("rewards/", "gdpo/")) else "[/._]"
    parts = spelling.strip().split("{f}")
    return "(?P<f>.+)".join(re.sub(r"/|\\\.", between, re.escape(part)) for part in parts)


_SPELLINGS = tuple(
    (re.compile(_pattern(spelling)), tail, rank)
    for tail, spellings in _TABLE
    for rank, spelling in enumerate(dict.fromkeys([*spellings.split(" | "), tail]))
)
_TESTS = tuple((re.compile(pattern), tail) for pattern, tail in _TEST_ONLY)
_REDUCTION = re.compile(r"@(?:mean|sum)$")
"""How ROLL has put the values of its workers together, which it says in the name."""
_ROLE_OF_AREAL = re.compile(r"^(?:ppo|grpo)_actor/(?:update/)?")
"""Under which AReaL keeps all that its actor reports."""
_AT_OF_MLFLOW = re.compile(r"_at_(?=\d)")
"""What verl writes for ``@`` where MLflow keeps the metrics."""
_NO_FUNCTIONS = frozenset({"mean", "std", "max", "min", "margins", "chosen", "rejected", "accuracies"})
"""Last parts after ``rewards/`` that are statistics or DPO metrics, not names of reward functions."""


def split_name(name: str) -> tuple[Split | None, str]:
    """The split a name begins with and the rest; None and the whole name when it begins with none.

    >>> split_name("eval_reward"), split_name("actor/entropy")
    (('test', 'reward'), (None, 'actor/entropy'))
    """
    found = _PREFIX.fullmatch(name)
    return (_SPLITS[found[1]], found[2]) if found else (None, name)


def canonical_name(name: str) -> str | None:
    """The canonical name of a metric, or None when its meaning is not known.

    >>> canonical_name("critic/rewards/mean"), canonical_name("actor/pg_clipfrac_lower")
    ('train/reward/final_rewards', 'train/actor/pg_clipfrac2')
    """
    found = _look_up(name)
    return found[0] if found else None


def canonical_names(names: Iterable[str]) -> dict[str, str]:
    """Canonical name to the one original that speaks for it.

    Where two originals mean the same (verl logs the reward before and after KL) the one earlier in the table wins.
    """
    chosen: dict[str, tuple[int, str]] = {}
    together = list(dict.fromkeys(names))
    among = set(together)
    for name in together:
        found = _look_up(name) or (_TEST_OF_SLIME if _is_test_of_slime(name, among) else None)
        if found and (found[0] not in chosen or found[1] < chosen[found[0]][0]):
            chosen[found[0]] = found[1], name
    return {canonical: name for canonical, (_, name) in chosen.items()}


_TEST_OF_SLIME = ("test/reward/final_rewards", len(_TABLE))


def _is_test_of_slime(name: str, among: Collection[str]) -> bool:
    """Whether a name is slime's ``eval/{dataset}``: only the truncation that is logged beside it tells."""
    return name.startswith("eval/") and f"{name}-truncated_ratio" in among


@lru_cache(maxsize=20_000)  # a page asks for hundreds of names again and again
def _look_up(name: str) -> tuple[str, int] | None:
    name = _REDUCTION.sub("", _AT_OF_MLFLOW.sub("@", _ROLE_OF_AREAL.sub("", name)))
    for pattern, tail in _TESTS:
        if found := pattern.fullmatch(name):
            return f"test/{tail.format_map(found.groupdict())}", 0
    split, rest = split_name(name)
    for pattern, tail, rank in _SPELLINGS:
        found = pattern.fullmatch(rest)
        if found and (found.groupdict().get("f") or "").rpartition("/")[2] not in _NO_FUNCTIONS:
            return f"{split or 'train'}/{tail.format_map(found.groupdict())}", rank
    return None
