"""Sends each program to a code sandbox over HTTP and rewards those that it accepts.

The host must be allowed for this function, for example 127.0.0.1:8080. A request that fails leaves its completion
unscored: it is not the program's fault.
"""

import time
from concurrent.futures import ThreadPoolExecutor

import requests
from rl_types import RewardFunctionResult

SANDBOX = "http://127.0.0.1:8080/submit"


def submit(extra, text):
    started = time.time()
    answer = requests.post(
        SANDBOX,
        timeout=20,
        json={
            "dataset": "code_test",
            "id": extra.get("contest_id", 0),
            "completion": text,
            "config": {
                "dataset_type": "CommonOJDataset",
                "language": extra.get("language", "python"),
                "provided_data": {"test": extra.get("tests", [])},
                "run_timeout": float(extra.get("time_limit", 5)),
            },
        },
    )
    answer.raise_for_status()
    return float(answer.json()["accepted"]), time.time() - started


def reward_fn(context, sample, completions):
    texts = [completion["messages"][-1]["content"] for completion in completions]

    def reward_of(text):
        try:
            return submit(sample["extra"], text)
        except (requests.RequestException, KeyError, ValueError) as error:
            print("unscored:", error)
            return None, 0.0

    with ThreadPoolExecutor(max_workers=30) as pool:
        results = list(pool.map(reward_of, texts))
    seconds = [taken for _, taken in results]
    return RewardFunctionResult([reward for reward, _ in results], {"sandbox_seconds_max": max(seconds)})
