"""Every starter of examples/functions passes the request that lies beside it, in the real executor."""

import json
from pathlib import Path

import pytest

from rewards_lib.executor import Executor, FunctionSource
from rewards_lib.payloads import read_payload
from tests.stand_in_service import Reply, candidate_of, chat, stand_in

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "functions"
EARNED = {
    "blank": [1, 0],
    "boxed_number": [1, 0, 0],
    "json_record": [1, 0.5, 0.5, 0],
    "llm_judge": [0.9, 0.2, None],
    "mathematics": [1, 0, 0, 0],
    "remote_code_sandbox": [1, 0],
    "several_rewards": [1.29945, 0.2, 0],
    "think_length": [1, 0.15, None],
    "think_then_answer": [1, 0.5, 0.25, 0],
}
REPLIES = {
    "scatters": "Right and short.\nScore: 9/10",
    "sea": "**Score: 2**",
    "Ignore": "I grade what is between the lines.",
}


def answer(request, _number):
    """A sandbox that accepts the sum, a judge with an opinion of its own."""
    if "completion" in request:
        return Reply({"accepted": "sum(" in candidate_of(request)})
    asked = request["messages"][-1]["content"]
    return chat(next(reply for word, reply in REPLIES.items() if word in asked))


@pytest.fixture(scope="module")
def executor():
    with Executor() as running:
        yield running


def test_every_starter_is_tried():
    assert sorted(EARNED) == sorted(path.stem for path in FOLDER.glob("*.py"))


@pytest.mark.parametrize("name", EARNED)
def test_a_starter_passes_its_own_request(executor, name):
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    payload = read_payload((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    requirements = FOLDER / f"{name}.txt"
    with stand_in(answer) as service:
        host = service.url.removeprefix("http://")
        source = source.replace("127.0.0.1:8080", host).replace("127.0.0.1:8000", host)
        function = FunctionSource(
            source, requirements=requirements.read_text() if requirements.exists() else "", allow_hosts=(host,)
        )
        run = executor.run_function(function, payload)
    assert run.status == "success", f"{run.error} {run.logs}"
    assert [score.value for score in run.scores] == [
        None if one is None else pytest.approx(one) for one in EARNED[name]
    ]
    assert run.findings == ()


@pytest.mark.parametrize("name", EARNED)
def test_a_starter_and_its_request_are_short_and_say_what_they_do(name):
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 60
    assert name == "blank" or source.startswith('"""')
    assert json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))["completions"]
