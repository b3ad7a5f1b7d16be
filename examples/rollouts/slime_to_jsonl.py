"""Writes slime's rollout dumps as canonical lines. Run it where slime's torch is: the console never loads a pickle.

python slime_to_jsonl.py rollout_1.pt [rollout_2.pt ...] > rollouts.jsonl
"""

import json
import sys

import torch


def line_of(sample: dict, step: object) -> dict:
    """One rollout as the console reads it."""
    prompt = sample["prompt"]
    messages = prompt if isinstance(prompt, list) else [{"role": "user", "content": prompt}]
    reward = sample.get("reward")
    return {
        "group": str(sample.get("group_index")),
        "sample": {"messages": messages, "extra": {"answer": sample.get("label")}},
        "completion": sample.get("response"),
        "reward": reward.get("score") if isinstance(reward, dict) else reward,
        "meta": {"step": step, "status": str(sample.get("status"))},
    }


def main() -> None:
    """Write the samples of every file that the command line names."""
    for path in sys.argv[1:]:
        dump = torch.load(path, map_location="cpu", weights_only=False)
        for sample in dump["samples"]:
            row = sample if isinstance(sample, dict) else vars(sample)
            print(json.dumps(line_of(row, dump.get("rollout_id")), default=str))


if __name__ == "__main__":
    main()
