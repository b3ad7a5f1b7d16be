"""Write the three example runs of this folder: healthy.csv, truncated.csv and hacked.csv.

Nothing here was trained. Each step draws 24 prompts with 8 completions each: a prompt has a difficulty, a completion a
length and a chance of being right; rewards, best and worst of 8, truncation and the weighted final reward are all
computed from the same draws, so that they agree with each other as they would in a real run. The names are those of
Ark's table of training metrics.

    python examples/training_metrics/make_examples.py
"""

from __future__ import annotations

import csv
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

STEPS, TEST_EVERY = 160, 8
PROMPTS, COMPLETIONS = 24, 8
MAX_NEW_TOKENS = 2048
WEIGHTS = {"math_accuracy": 1.0, "think_answer_format": 0.1}


@dataclass(frozen=True)
class Plan:
    """How a run goes: functions of the progress from 0 to 1."""

    seed: int
    skill: Callable[[float], float]
    """Log odds of solving a prompt of average difficulty in training."""
    test_skill: Callable[[float], float]
    log_length: Callable[[float], float]


PLANS = {
    "healthy": Plan(
        11,
        skill=lambda t: -1.0 + 2.4 * (1 - math.exp(-2.5 * t)),
        test_skill=lambda t: -1.1 + 2.3 * (1 - math.exp(-2.5 * t)),
        log_length=lambda t: 5.9 + 0.2 * t,
    ),
    "truncated": Plan(
        12,
        skill=lambda t: -1.0 + 2.4 * (1 - math.exp(-2.5 * t)),
        test_skill=lambda t: -1.1 + 2.3 * (1 - math.exp(-2.5 * t)),
        log_length=lambda t: 6.0 + 1.9 * t,
    ),
    "hacked": Plan(
        13,
        skill=lambda t: -1.0 + 3.2 * t,
        test_skill=lambda t: -1.0 + 0.9 * min(t, 0.3) - 0.8 * max(0.0, t - 0.3),
        log_length=lambda t: 5.7 + 1.1 * t,
    ),
}


def sigmoid(value: float) -> float:
    """The logistic function."""
    return 1 / (1 + math.exp(-value))


def mean(values: list[float]) -> float:
    """The arithmetic mean."""
    return sum(values) / len(values)


def draw(rng: random.Random, split: str, prompts: int, skill: float, log_length: float, progress: float) -> dict:
    """One evaluation of the policy: rewards, lengths and truncation under their names."""
    rewards: dict[str, list[list[float]]] = {name: [] for name in WEIGHTS}
    lengths: list[float] = []
    for _ in range(prompts):
        difficulty = rng.gauss(0, 1.5)
        group = [
            min(MAX_NEW_TOKENS, math.exp(rng.gauss(log_length + 0.1 * difficulty, 0.5))) for _ in range(COMPLETIONS)
        ]
        lengths += group
        chances = {"math_accuracy": sigmoid(skill - difficulty), "think_answer_format": sigmoid(-0.3 + 4 * progress)}
        for name, chance in chances.items():
            # an answer that was cut never reaches its box or its closing tag
            rewards[name].append([float(length < MAX_NEW_TOKENS and rng.random() < chance) for length in group])
    asked = [min(512, math.exp(rng.gauss(4.6, 0.4))) for _ in range(prompts)]
    cells = {
        f"{split}/generation/prompt_length.mean": mean(asked),
        f"{split}/generation/prompt_length.max": max(asked),
        f"{split}/generation/prompt_length.clipfrac": mean([float(length >= 512) for length in asked]),
        f"{split}/generation/response_length.mean": mean(lengths),
        f"{split}/generation/response_length.max": max(lengths),
        f"{split}/generation/response_length.clipfrac": mean([float(length >= MAX_NEW_TOKENS) for length in lengths]),
    }
    means = {name: mean([mean(group) for group in groups]) for name, groups in rewards.items()}
    cells[f"{split}/reward/final_rewards"] = sum(weight * means[name] for name, weight in WEIGHTS.items())
    for name, groups in rewards.items():
        stem = f"{split}/reward/functions/{name}/rewards"
        cells[f"{stem}(mean)"] = means[name]
        cells[f"{stem}(bon)"] = mean([max(group) for group in groups])
        cells[f"{stem}(won)"] = mean([min(group) for group in groups])
    return cells


def optimise(rng: random.Random, step: int) -> dict:
    """What the optimiser reports of one step of a calm run."""
    high, low = 1.2e-3 * rng.lognormvariate(0, 0.3), 5e-4 * rng.lognormvariate(0, 0.3)
    cost = [rng.lognormvariate(-0.8, 0.4) for _ in range(PROMPTS)]
    policy_loss, kl = rng.gauss(-0.015, 0.004), 0.001 + 1.2e-4 * step * rng.lognormvariate(0, 0.1)
    return {
        "train/advantage/advantages": rng.gauss(0, 1e-3),
        "train/actor/lr": 1e-6 * min(1.0, step / 10),
        "train/actor/grad_norm": 0.15 * rng.lognormvariate(0, 0.15),
        "train/actor/loss": policy_loss + 0.001 * kl,
        "train/actor/pg_loss": policy_loss,
        "train/actor/kl_loss": kl,
        "train/actor/pg_clipfrac": high + low,
        "train/actor/pg_clipfrac_high": high,
        "train/actor/pg_clipfrac_low": low,
        "train/actor/pg_clipfrac2": 5e-6 * rng.lognormvariate(0, 0.4),
        "train/metrics/judge_seconds(max)": max(cost),
        "train/metrics/judge_seconds(min)": min(cost),
        "train/metrics/judge_seconds(mean)": mean(cost),
    }


def rows(plan: Plan) -> list[dict]:
    """One row a step; step 0 and every eighth step carry a test."""
    rng, made = random.Random(plan.seed), []  # noqa: S311 -- a simulation, nothing secret
    for step in range(STEPS + 1):
        t = step / STEPS
        row: dict[str, float] = {"train/global_step": step}
        if step:
            row["train/epoch"] = (step - 1) // 40
            row |= draw(rng, "train", PROMPTS, plan.skill(t), plan.log_length(t), t) | optimise(rng, step)
        if step % TEST_EVERY == 0:
            row |= draw(rng, "test", 3 * PROMPTS, plan.test_skill(t), plan.log_length(t), t)
        made.append(row)
    return made


def main() -> None:
    """Write the three files beside this one."""
    for name, plan in PLANS.items():
        made = rows(plan)
        columns = list(dict.fromkeys(column for row in [*made[1:], made[0]] for column in row))
        with (Path(__file__).parent / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows([f"{row[c]:.5g}" if c in row else "" for c in columns] for row in made)


if __name__ == "__main__":
    main()
