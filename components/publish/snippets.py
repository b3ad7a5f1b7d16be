"""How each trainer calls the service, as text to paste.

Invariant: a snippet names the token's variable and never shows the token.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import quote

from rewards_lib.contract import JsonObject

REQUEST: JsonObject = {
    "sample": {"messages": [{"role": "user", "content": "What is 1/2?"}], "extra": {"answer": "0.5"}},
    "completions": ["so \\boxed{0.5}", "I do not know"],
}
"""What the first snippet sends: a request that works when it is pasted."""


def snippet(how: str, url: str, reference: str, *, with_token: bool) -> str:
    """The text for one trainer of ``SNIPPETS``."""
    return SNIPPETS[how](url, quote(reference, safe="@"), with_token)


def _curl(url: str, reference: str, with_token: bool) -> str:
    body = json.dumps(REQUEST, ensure_ascii=False).replace("'", "'\\''")
    token = ' \\\n  -H "Authorization: Bearer $REWARD_CONSOLE_TOKEN"' if with_token else ""
    return f"curl -s {url}/rewards/{reference} \\\n  -H \"Content-Type: application/json\"{token} \\\n  -d '{body}'"


def _ark(url: str, reference: str, with_token: bool) -> str:
    header = ', "Authorization": "Bearer " + os.environ["REWARD_CONSOLE_TOKEN"]' if with_token else ""
    return f"""# rl_reward.py: a console function that asks this service, where Ark can reach it
import json, os, urllib.request
from rl_types import RewardFunctionResult

def reward_fn(context, sample, completions):
    body = json.dumps({{"context": context, "sample": sample, "completions": completions}}).encode()
    request = urllib.request.Request(
        "{url}/rewards/{reference}", body, {{"Content-Type": "application/json"{header}}})
    answer = json.load(urllib.request.urlopen(request, timeout=300))
    return RewardFunctionResult(answer["rewards"], answer["metrics"], answer["status"], answer.get("error", ""))"""


def _client(url: str, reference: str, with_token: bool) -> str:
    """The part that verl, TRL and ms-swift share: one request with patience for 503."""
    header = '"Authorization": "Bearer " + os.environ["REWARD_CONSOLE_TOKEN"]' if with_token else ""
    return f"""import os, time, requests

def ask(sample, completions):
    for _ in range(10):
        answer = requests.post(
            "{url}/rewards/{reference}", json={{"sample": sample, "completions": completions}},
            headers={{{header}}}, timeout=300)
        if answer.status_code != 503:
            break
        time.sleep(float(answer.headers.get("Retry-After", 1)))
    answer.raise_for_status()
    return answer.json()["rewards"]          # a number each, None for unscored
"""


def _verl(url: str, reference: str, with_token: bool) -> str:
    return f"""{_client(url, reference, with_token)}
# reward.custom_reward_function.path=this_file.py reward.custom_reward_function.name=compute_score
def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs):
    extra = {{**(extra_info or {{}}), "answer": ground_truth}}
    [reward] = ask({{"messages": [], "extra": extra}}, [solution_str])
    if reward is None:
        raise RuntimeError("unscored")       # never 0 by itself
    return {{"score": reward}}"""


def _trl(url: str, reference: str, with_token: bool) -> str:
    return f"""{_client(url, reference, with_token)}
# GRPOTrainer(reward_funcs=[reward_func], ...)
def reward_func(prompts, completions, answer, **columns):
    rewards = []
    for prompt, completion, truth in zip(prompts, completions, answer):
        messages = prompt if isinstance(prompt, list) else [{{"role": "user", "content": prompt}}]
        rewards += ask({{"messages": messages, "extra": {{"answer": truth}}}}, [completion])
    return rewards"""


def _openrlhf(url: str, reference: str, with_token: bool) -> str:
    note = "\n# OpenRLHF sends no token: put a proxy before the service that adds it" if with_token else ""
    return f"""python -m openrlhf.cli.train_ppo_ray \\
  --reward.remote_url {url}/openrlhf/{reference} \\
  --data.label_key answer ...{note}"""


def _slime(url: str, reference: str, with_token: bool) -> str:
    note = "\n# slime sends no token: put a proxy before the service that adds it" if with_token else ""
    return f"""python train.py --rm-type remote_rm --rm-url {url}/slime/{reference} ...{note}"""


def _swift(url: str, reference: str, with_token: bool) -> str:
    return f"""{_client(url, reference, with_token)}
# swift rlhf --rlhf_type grpo --external_plugins this_file.py --reward_funcs remote ...
from swift.rewards import ORM, orms

class Remote(ORM):
    def __call__(self, completions, solution, **columns):
        return [ask({{"messages": [], "extra": {{"answer": truth}}}}, [text])[0]
                for text, truth in zip(completions, solution)]

orms["remote"] = Remote"""


SNIPPETS: dict[str, Callable[[str, str, bool], str]] = {
    "curl": _curl, "Ark": _ark, "verl": _verl, "TRL": _trl, "OpenRLHF": _openrlhf, "slime": _slime,
    "ms-swift": _swift,
}  # fmt: skip
"""By trainer, in the order in which they are offered."""
