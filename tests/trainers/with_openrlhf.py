"""OpenRLHF for real, on the CPU: its single-turn executor asks the service over HTTP, and calls the exported file.

Run by ``.ci/trainers`` with the trainer's Python: ``with_openrlhf.py FOLDER SERVICE_URL NAME``. The engine that
would write the response is replaced by one that returns the recorded one; everything behind it is OpenRLHF's.
"""

import asyncio
import json
import sys
from pathlib import Path
from types import SimpleNamespace

from openrlhf.utils.agent import SingleTurnAgentExecutor
from with_verl import tokenizer


class RecordedEngine:
    """Writes what was recorded."""

    def __init__(self, ids):
        self.ids = ids

    async def generate(self, *_arguments, **_options):
        return SimpleNamespace(outputs=[SimpleNamespace(token_ids=self.ids, finish_reason="stop", logprobs=None)])


async def main():
    folder, url, name = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    requests = json.loads((folder / "smoke_test.json").read_text())
    texts = [text for request in requests for text in (request["completions"][0], _prompt(request))]
    words = tokenizer(["? ", *texts])
    parameters = SimpleNamespace(max_tokens=4096, logprobs=None)
    for address in (f"{url}/openrlhf/{name}", str(folder / "reward.py")):
        executor = SingleTurnAgentExecutor(address)
        scored = 0
        for request in requests:
            if request["rewards"][0] is None:  # five tries a second apart, then None: as they do it
                continue
            ids = words(text=request["completions"][0] or " ")["input_ids"]
            label = json.dumps(request["sample"]["extra"])
            prompt = _prompt(request) or "?"
            got = await executor.execute(prompt, label, parameters, 8192, words, RecordedEngine(ids))
            reward = got["reward"][0] if hasattr(got["reward"], "__getitem__") else got["reward"]
            assert float(reward) == request["rewards"][0], (got["reward"], request)
            scored += 1
        way = address.rpartition("/")[2]
        print(f"OpenRLHF: {scored} responses rewarded through {way}, all as the console scores them")


def _prompt(request):
    messages = request["sample"]["messages"]
    return messages[-1]["content"] if messages else ""


if __name__ == "__main__":
    asyncio.run(main())
