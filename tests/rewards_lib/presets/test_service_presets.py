"""Presets that ask a service: keys, requests on the wire, concurrency, limits; never a made-up reward."""

import time
from dataclasses import replace

import pytest

from rewards_lib.contract import Completion, Payload, Sample, ScoreState
from rewards_lib.errors import InputError
from rewards_lib.executor import Executor
from rewards_lib.mix import mix_from_json
from rewards_lib.presets import check_params, review_params
from rewards_lib.presets.host import score_on_host
from rewards_lib.scoring import score_payloads, without_functions
from tests.stand_in_service import Reply, candidate_of, chat, stand_in

SAMPLE = Sample(({"role": "user", "content": "What is 6 times 7?"},), {"answer": 42})
PROGRAM = Sample(
    extra={"url": "https://tests.example/852.json", "language": "cpp", "time_limit": "0.5", "contest_id": 852}
)
ACCEPTED = Reply({"accepted": True, "tests": [{"passed": True}]})


def judge_scores(answer, *texts, sample=SAMPLE, **params):
    with stand_in(answer) as service:
        params = {"base_url": service.url + "/v1/", "model": "m", "parse": "number", "retries": 0, **params}
        timed = score_on_host("llm_judge", params, [(sample, Completion(text)) for text in texts])
    return [one.score for one in timed], service


def sandbox_scores(answer, *texts, sample=PROGRAM, **params):
    with stand_in(answer) as service:
        params = {"url": service.url + "/submit", "retries": 0, **params}
        timed = score_on_host("sandbox_submit", params, [(sample, Completion(text)) for text in texts])
    return [one.score for one in timed], service


def test_a_judge_sees_prompt_truth_and_candidate_and_the_key(monkeypatch):
    monkeypatch.setenv("JUDGE_API_KEY", "k-1")
    [score], service = judge_scores(lambda *_: chat("1"), "It is 42.", api_key_env="JUDGE_API_KEY")
    asked = service.requests[0]["messages"][1]["content"]
    assert score.value == 1.0
    assert all(part in asked for part in ("What is 6 times 7?", "42", "It is 42."))
    assert service.headers[0]["Authorization"] == "Bearer k-1"
    assert service.requests[0]["temperature"] == 0


def test_a_key_that_is_not_set_is_unscored_and_nothing_is_asked(monkeypatch):
    monkeypatch.delenv("JUDGE_API_KEY", raising=False)
    [score], service = judge_scores(lambda *_: chat("1"), "x", api_key_env="JUDGE_API_KEY")
    assert score.state is ScoreState.FAILED
    assert "JUDGE_API_KEY" in str(score.why)
    assert service.requests == []


@pytest.mark.parametrize("name", ["HOME", "REWARD_CONSOLE_TOKEN", "AWS_SECRET_ACCESS_KEY", "API_KEY; rm"])
def test_a_mix_cannot_send_other_variables_away(name):
    with pytest.raises(InputError, match="api_key_env"):
        check_params("llm_judge", {"base_url": "http://x", "model": "m", "api_key_env": name})


@pytest.mark.parametrize("url", ["", "judge:8000", "file:///etc/passwd", "http://", "ftp://x"])
def test_an_address_must_be_http(url):
    with pytest.raises(InputError, match="base_url"):
        check_params("llm_judge", {"base_url": url, "model": "m"})


def test_a_template_without_the_completion_is_refused_and_one_without_the_truth_needs_none():
    with pytest.raises(InputError, match="must contain"):
        check_params("llm_judge", {"base_url": "http://x", "model": "m", "template": "Rate it."})
    [score], _ = judge_scores(lambda *_: chat("3"), "x", sample=Sample(), template="Rate {completion}")
    assert score.value == 3.0


def test_likely_accidents_of_a_judge_are_warned_about():
    params = {"base_url": "http://x", "model": "m", "parse": "label", "scale": 10, "samples": 3}
    findings = review_params("llm_judge", check_params("llm_judge", params))
    assert [one.path for one in findings] == ["params.scale", "params.samples"]


def test_only_what_follows_the_thinking_is_graded():
    _, service = judge_scores(lambda *_: chat("1"), "<think>secret</think>shown")
    assert "secret" not in service.requests[0]["messages"][1]["content"]


def test_failures_cost_their_own_completion_and_keep_their_metrics():
    def answer(request, _number):
        return chat("1") if "good" in request["messages"][1]["content"] else chat("dunno")

    (good, bad), _ = judge_scores(answer, "good one", "bad one")
    assert (good.value, bad.value, bad.state) == (1.0, None, ScoreState.FAILED)
    assert bad.metrics["judge_requests"] == 1


def test_so_many_requests_run_at_once_as_concurrency_says():
    _, service = judge_scores(lambda *_: Reply({}, 400, late_seconds=0.05), *map(str, range(8)), concurrency=3)
    assert service.most_at_once == 3
    assert len(service.requests) == 8


@pytest.mark.parametrize("preset", ["llm_judge", "sandbox_submit"])
def test_a_batch_of_payloads_asks_at_once_and_a_failure_costs_its_own_completion(preset):
    def answer(request, _number):
        if "bad" in candidate_of(request):
            return Reply({}, 400)
        good = chat("1") if preset == "llm_judge" else Reply(ACCEPTED.body)
        return replace(good, late_seconds=0.1)

    with stand_in(answer) as service, Executor() as executor:
        params = {"concurrency": 12, "retries": 0}
        if preset == "llm_judge":
            params |= {"base_url": service.url, "model": preset + service.url, "parse": "number"}
        else:
            params |= {"url": service.url}
        mix = mix_from_json({"name": "m", "rules": [{"name": "asked", "preset": preset, "params": params}]})
        sample = SAMPLE if preset == "llm_judge" else PROGRAM
        payloads = [Payload(sample, (Completion(f"good {n}"), Completion(f"bad {n}"))) for n in range(12)]
        results = score_payloads(mix, payloads, executor=executor, resolve=without_functions)
    assert [result.rewards for result in results] == [(1.0, None)] * 12
    assert 2 <= service.most_at_once <= 12
    assert len(service.requests) == 24


def test_a_service_that_hangs_costs_its_completions_the_limit_and_no_more():
    started = time.monotonic()
    with stand_in(lambda *_: Reply({}, late_seconds=3.0)) as service:
        params = {"url": service.url, "retries": 0}
        timed = score_on_host("sandbox_submit", params, [(PROGRAM, Completion("x"))] * 2, seconds=0.2)
        assert time.monotonic() - started < 2.5
    assert [one.score.state for one in timed] == [ScoreState.FAILED] * 2
    assert "time limit" in str(timed[0].score.why)


def test_a_sandbox_gets_what_the_sample_says():
    [score], service = sandbox_scores(lambda *_: ACCEPTED, "<think>hm</think>```cpp\nint main(){}\n```")
    assert score.value == 1.0
    assert score.metrics["sandbox_attempts"] == 1
    assert service.requests == [
        {
            "dataset": "code_test", "id": 852, "completion": "```cpp\nint main(){}\n```",
            "config": {
                "dataset_type": "CommonOJDataset", "language": "cpp", "locale": "en", "run_timeout": 0.5, "extra": {},
                "provided_data": {"test": {"location": "URL", "url": "https://tests.example/852.json"}},
            },
        }
    ]  # fmt: skip


@pytest.mark.parametrize(
    "reply",
    [
        Reply({"accepted": None}),
        Reply({"accepted": 1}),
        Reply({"accepted": "true"}),
        Reply({}),
        Reply("no json"),
        Reply({"accepted": True}, 500),
        Reply({"accepted": False, "tests": [{"exec_info": {"status": "SandboxError"}}]}),
    ],
)
def test_a_sandbox_without_a_verdict_is_unscored(reply):
    [score], _ = sandbox_scores(lambda *_: reply, "x")
    assert score.state is ScoreState.FAILED


def test_a_refused_program_is_a_real_zero_even_when_the_tests_are_not_listed():
    [score], _ = sandbox_scores(lambda *_: Reply({"accepted": False, "tests": 3}), "x")
    assert score.value == 0.0


@pytest.mark.parametrize(
    "extra",
    [
        {"language": "cpp"},
        {"tests": [], "language": "cpp"},
        {"tests": [{}]},
        {"tests": [{}], "language": 3},
        {"tests": [{}], "language": "cpp", "time_limit": "soon"},
        {"tests": [{}], "language": "cpp", "time_limit": -1},
    ],
)
def test_a_sample_that_cannot_be_submitted_is_unscored_and_nothing_is_asked(extra):
    [score], service = sandbox_scores(lambda *_: ACCEPTED, "x", sample=Sample(extra=extra))
    assert score.state is ScoreState.FAILED
    assert service.requests == []


def test_a_program_inside_unclosed_thinking_is_a_mismatch_without_asking():
    [score], service = sandbox_scores(lambda *_: ACCEPTED, "<think>```cpp\nint main(){}\n```")
    assert (score.value, service.requests) == (0.0, [])


def test_one_address_of_tests_that_cannot_be_read_leaves_that_completion_alone_unscored():
    text = "```python\nprint(1)\n```"
    pairs = [
        (Sample(extra={"url": "http://[x"}), Completion(text)),
        (Sample(extra={"tests": [{"stdin": "", "stdout": "1\n"}]}), Completion(text)),
    ]
    timed = score_on_host("code_judge", {"language": "python", "allow_hosts": ["x"]}, pairs)
    assert [one.score.value for one in timed] == [None, 1.0]


def test_a_fault_of_a_preset_itself_leaves_its_completion_unscored(monkeypatch):
    def fail(*_):
        raise ValueError("no number")

    monkeypatch.setattr("rewards_lib.code_judge.shared.shared_judge", fail)
    sample = Sample(extra={"tests": [{"stdin": "", "stdout": "1\n"}]})
    [timed] = score_on_host("code_judge", {"language": "python"}, [(sample, Completion("```python\n1\n```"))])
    assert timed.score.state is ScoreState.FAILED
    assert "ValueError" in str(timed.score.why)
