"""Our aggregation and advantages give what verl's functions gave (record_verl_numbers.py asked them)."""

import json
from pathlib import Path

import pytest

from rewards_lib.agentic import LossMode, aggregate_loss, assign_advantage, group_advantages

VERL = json.loads(Path(__file__).with_name("verl_numbers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("mode", LossMode)
def test_every_batch_has_the_loss_that_verl_gives_it(mode):
    for case in VERL["losses"]:
        assert aggregate_loss(case["losses"], case["mask"], mode) == pytest.approx(case["found"][mode], abs=1e-6)


@pytest.mark.parametrize("algorithm", ["grpo", "dr_grpo", "rloo"])
def test_every_token_has_the_advantage_that_verl_gives_it(algorithm):
    for case in VERL["advantages"]:
        if algorithm == "dr_grpo" and len(case["rewards"]) == 1:
            continue  # verl takes a mean of 0 there; ours is TRL's, where a reward is its own mean
        rows = zip(
            group_advantages(case["rewards"], algorithm=algorithm), case["mask"], case["found"][algorithm], strict=True
        )
        for advantage, mask, expected in rows:
            assert assign_advantage(advantage, mask).tolist() == pytest.approx(expected, abs=1e-5)
