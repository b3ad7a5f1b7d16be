"""Sends each program to the code judge's /submit and rewards those that pass every test.

Start the judge first: python -m rewards_lib code-judge serve --port 8602 --allow-host 127.0.0.1:8603
The judge fetches the tests from the address in the sample. Whatever is no verdict (the judge is busy, the tests are
not there) leaves the completion unscored: it is not the program's fault.
"""

import json
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

from rl_types import RewardFunctionResult, RewardStatus

JUDGE = "http://127.0.0.1:8602/submit"


def submit(extra, text):
    """Whether the program is accepted, the share of its tests that passed, and the seconds it took."""
    request = {
        "dataset": "code_test",
        "id": extra["contest_id"],
        "completion": text,
        "config": {
            "dataset_type": "CommonOJDataset",
            "language": extra["language"],
            "provided_data": {"test": {"location": "URL", "url": extra["url"]}},
            "run_timeout": float(extra["time_limit"]),
            "extra": {"run_all_cases": True},
        },
    }
    body = json.dumps(request).encode()
    started = time.time()
    asked = urllib.request.Request(JUDGE, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=60) as response:
        answer = json.load(response)
    return answer["accepted"], answer["extra"]["passed"] / answer["extra"]["total"], time.time() - started


def reward_fn(context, sample, completions):
    extra = sample["extra"]

    def score(completion):
        try:
            return submit(extra, completion["messages"]["content"])
        except (urllib.error.URLError, OSError, KeyError, ValueError) as error:
            print("no verdict:", error)
            return None, 0.0, 0.0

    with ThreadPoolExecutor(max_workers=30) as pool:
        results = list(pool.map(score, completions))
    rewards = [None if accepted is None else float(accepted) for accepted, _, _ in results]
    metrics = {
        "tests_passed_share": sum(share for _, share, _ in results) / len(results),
        "judge_seconds_max": max(seconds for _, _, seconds in results),
    }
    missing = sum(reward is None for reward in rewards)
    status = RewardStatus.FAILURE if missing else RewardStatus.SUCCESS
    return RewardFunctionResult(rewards, metrics, status, f"{missing} completions without a verdict" if missing else "")
