"""verl for real, on the CPU: its loader of custom functions and its reward loop call the exported function.

Run by ``.ci/trainers`` with the trainer's Python: ``with_verl.py EXPORTED_FOLDER``.
"""

import asyncio
import json
import sys
from pathlib import Path

import numpy as np
import torch
from omegaconf import OmegaConf
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from verl import DataProto
from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager
from verl.trainer.ppo.reward import get_custom_reward_fn


def tokenizer(texts):
    signs = sorted({sign for text in texts for sign in text})
    words = {sign: place for place, sign in enumerate(["<pad>", "<eos>", *signs])}
    made = Tokenizer(models.WordLevel(words, unk_token="<pad>"))
    made.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    made.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=made, pad_token="<pad>", eos_token="<eos>")


def batch(words, request):
    """One rollout as verl's loop has it: tensors of ids, the ground truth and the dataset's extra_info beside them."""
    prompt, response = words("?")["input_ids"], words(request["completions"][0] or " ")["input_ids"]
    tensors = {
        "prompts": torch.tensor([prompt]),
        "responses": torch.tensor([response]),
        "attention_mask": torch.ones((1, len(prompt) + len(response)), dtype=torch.long),
    }
    extra = {key: value for key, value in request["sample"]["extra"].items() if key != "answer"}
    beside = {
        "reward_model": [{"ground_truth": request["sample"]["extra"].get("answer")}],
        "data_source": ["smoke"],
        "extra_info": [{**extra, "messages": request["sample"]["messages"]}],
    }
    return DataProto.from_dict(tensors, {key: np.array(value, dtype=object) for key, value in beside.items()})


async def main():
    folder = Path(sys.argv[1])
    config = OmegaConf.create({
        "reward": {"custom_reward_function": {"path": str(folder / "reward.py"), "name": "compute_score",
                                              "reward_kwargs": {"on_unscored": -1.0}}},
        "custom_reward_function": {"path": str(folder / "reward.py"), "name": "compute_score",
                                   "reward_kwargs": {"on_unscored": -1.0}},
    })  # fmt: skip
    compute_score = get_custom_reward_fn(config)
    requests = json.loads((folder / "smoke_test.json").read_text())
    words = tokenizer(["? ", *(request["completions"][0] for request in requests)])
    manager = NaiveRewardManager(config, words, compute_score)
    for request in requests:
        got = await manager.run_single(batch(words, request))
        expected = request["rewards"][0]
        assert got["reward_score"] == (-1.0 if expected is None else expected), (got, request)
        assert got["reward_extra_info"]["unscored"] == float(expected is None)
    print(f"verl: {len(requests)} rollouts through NaiveRewardManager.run_single, all as the console scores them")


if __name__ == "__main__":
    asyncio.run(main())
