"""Record what verl's own functions give, for test_agreement_with_verl.py; run it with a Python that has verl.

CONTRIBUTING says how to make such an environment. The cases are drawn from a seed, so that a new verl that computes
the same writes the same file.
"""

import json
import random
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from verl.trainer.ppo.core_algos import agg_loss, compute_grpo_outcome_advantage, compute_rloo_outcome_advantage

OUT = Path(__file__).with_name("verl_numbers.json")
MODES = ("token-mean", "seq-mean-token-mean", "seq-mean-token-sum", "seq-mean-token-sum-norm")
GROUPS = [
    [1, 0, 0, 1], [1, 0, 0, 0, 0, 0, 0, 0], [1.2, 0.2, 1.2, -0.3], [0.5, 0.5, 0.5], [0.25], [-2.0, 3.5],
]  # fmt: skip


def drawn_batch(chance: random.Random) -> tuple[list[list[float]], list[list[int]]]:
    """Losses and a mask; one row in four has no trained token, never all of them."""
    rows, width = chance.randint(1, 5), chance.randint(1, 9)
    losses = [[round(chance.uniform(-2, 2), 3) for _ in range(width)] for _ in range(rows)]
    mask = [
        [int(chance.random() < 0.6) for _ in range(width)] if chance.random() > 0.25 else [0] * width for _ in losses
    ]
    mask[0][0] = 1
    return losses, mask


def loss_cases(chance: random.Random) -> list[dict]:
    """``agg_loss`` in all four modes over drawn batches."""
    cases = []
    for _ in range(25):
        losses, mask = drawn_batch(chance)
        arguments = torch.tensor(losses, dtype=torch.float64), torch.tensor(mask, dtype=torch.float64)
        found = {mode: float(agg_loss(*arguments, mode)) for mode in MODES}
        cases.append({"losses": losses, "mask": mask, "found": found})
    return cases


def advantage_cases(chance: random.Random) -> list[dict]:
    """GRPO and RLOO over one group each, with masks of different lengths: what stands on every token."""
    cases = []
    for rewards in GROUPS:
        width = 7
        mask = [[int(place < chance.randint(1, width)) for place in range(width)] for _ in rewards]
        scores = torch.zeros(len(rewards), width, dtype=torch.float64)
        scores[:, 0] = torch.tensor(rewards, dtype=torch.float64)  # verl adds the token rewards of a row up
        arguments = scores, torch.tensor(mask, dtype=torch.float64), np.array(["one"] * len(rewards))
        found = {
            "grpo": compute_grpo_outcome_advantage(*arguments)[0].tolist(),
            "dr_grpo": compute_grpo_outcome_advantage(*arguments, norm_adv_by_std_in_grpo=False)[0].tolist(),
            "rloo": compute_rloo_outcome_advantage(*arguments)[0].tolist(),
        }
        cases.append({"rewards": rewards, "mask": mask, "found": found})
    return cases


if __name__ == "__main__":
    numbers = {
        "verl": version("verl"),
        "losses": loss_cases(random.Random(1)),
        "advantages": advantage_cases(random.Random(2)),
    }
    OUT.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    print(
        f"{OUT.name}: {len(numbers['losses'])} batches, {len(numbers['advantages'])} groups of verl {numbers['verl']}"
    )
