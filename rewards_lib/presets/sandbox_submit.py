"""The preset ``sandbox_submit``: a program is right when a code sandbox over the network accepts it.

Invariant: only the sandbox's own word is a verdict; whatever keeps it from giving one leaves the completion unscored.
The wire format is SandboxFusion's ``POST /submit`` (bytedance/SandboxFusion), which Ark's code sandbox speaks too.
"""

from __future__ import annotations

import math
from dataclasses import replace

from rewards_lib.contract import Completion, Json, JsonObject, Sample, Score, sentence
from rewards_lib.errors import UpstreamError
from rewards_lib.extraction import extract
from rewards_lib.presets.grading import MISSING, Missing, no_answer, read_field, unusable, verdict
from rewards_lib.presets.parameters import GRADING, field_path, text
from rewards_lib.presets.registry import Bilingual, Example, service_preset
from rewards_lib.presets.services import API_KEY_ENV, address, patience, patient_seconds, service_of
from rewards_lib.upstream import Answer, ask, pace_of

_SANDBOX = {"url": "http://127.0.0.1:8080/submit"}
_TESTS = [{"input": {"stdin": "2 3\n"}, "output": {"stdout": "5\n"}}]


@service_preset(
    name="sandbox_submit",
    label=Bilingual("Remote code sandbox", "远程代码沙箱"),
    summary=Bilingual(
        "Sends the completion to a code sandbox; matches when the sandbox accepts the program.",
        "将回答提交到代码沙箱；沙箱判定通过即匹配。",
    ),
    parameters=(
        address(
            "url",
            Bilingual("Sandbox", "沙箱地址"),
            Bilingual(
                "Full address of a SandboxFusion-compatible service, /submit included.",
                "SandboxFusion 兼容服务的完整地址（含 /submit）。",
            ),
        ),
        API_KEY_ENV,
        text(
            "dataset",
            Bilingual("Data set", "数据集名"),
            Bilingual("Sent along as dataset.", "随请求发送的 dataset。"),
            "code_test",
        ),
        field_path(
            "tests_field",
            Bilingual("Tests field", "测试用例字段"),
            Bilingual(
                "Dotted path below sample.extra to the tests: a list, or an address that the sandbox fetches them "
                "from. Where it is missing, sample.extra.url is taken as such an address.",
                "测试用例在 sample.extra 下的点分路径：列表，或由沙箱下载的地址。缺失时取 sample.extra.url 作为地址。",
            ),
            "tests",
        ),
        field_path(
            "language_field",
            Bilingual("Language field", "语言字段"),
            Bilingual("Path below sample.extra to the programming language.", "编程语言在 sample.extra 下的路径。"),
            "language",
        ),
        field_path(
            "time_limit_field",
            Bilingual("Time limit field", "时限字段"),
            Bilingual(
                "Path to the seconds that one test may take; where it is missing the sandbox decides.",
                "单个测试允许秒数的路径；缺失时由沙箱决定。",
            ),
            "time_limit",
        ),
        field_path(
            "id_field",
            Bilingual("Problem id field", "题目编号字段"),
            Bilingual(
                "Path to the problem's id, which is sent along; 0 where it is missing.",
                "题目编号的路径，随请求发送；缺失时为 0。",
            ),
            "contest_id",
        ),
        *patience(30, 30.0),
        *GRADING,
    ),
    examples=(
        Example(
            (1.0, 0.0, None, None),
            (
                "```python\na, b = map(int, input().split())\nprint(a + b)\n```",
                "```python\nprint(4)\n```",
                "```python\nprint(5)\n```",
                "```python\nprint(6)\n```",
            ),
            None,
            _SANDBOX,
            prompt="Read two numbers and print their sum.",
            extra={"tests": _TESTS, "language": "python", "time_limit": "2"},
            replies=(
                {"accepted": True, "tests": [{"passed": True}]},
                {"accepted": False, "tests": [{"passed": False, "exec_info": {"status": "Success"}}]},
                {"accepted": False, "tests": [{"passed": False, "exec_info": {"status": "SandboxError"}}]},
                {"detail": "no verdict"},
            ),
        ),
        Example((None,), ("```python\nprint(5)\n```",), None, _SANDBOX, extra={"language": "python"}),
    ),
    time_limit=patient_seconds,
)
def sandbox_submit(params: JsonObject, sample: Sample, completion: Completion) -> Score:
    """Score match iff the sandbox accepts the program in the completion."""
    config = _config(params, sample)
    service = service_of(params["url"], params)
    for problem in (config, service):
        if isinstance(problem, Score):
            return problem
    assert isinstance(config, dict) and not isinstance(service, Score)  # noqa: S101, PT018 -- what the loop leaves
    part = extract(completion.text, "text", after_think=params["after_think"])
    if part.text is None:
        return no_answer(params, part)
    number = read_field(sample, params["id_field"])
    body = {
        "dataset": params["dataset"], "id": number if isinstance(number, (int, str)) else 0, "completion": part.text,
        "config": config,
    }  # fmt: skip
    try:
        with pace_of(service.url, params["concurrency"]).turn():
            answer = ask(service, body)
    except UpstreamError as error:
        return Score.failed(error.message)
    return _score(params, answer)


def _config(params: JsonObject, sample: Sample) -> JsonObject | Score:
    """The request's ``config``; a failed score when the sample lacks what a sandbox needs."""
    tests = _tests(params, sample)
    if isinstance(tests, Score):
        return tests
    language = read_field(sample, params["language_field"])
    if not isinstance(language, str) or not language.strip():
        return unusable(params["language_field"], sentence("it must name a programming language"))
    config: JsonObject = {
        "dataset_type": "CommonOJDataset", "language": language, "locale": "en", "provided_data": {"test": tests},
        "extra": {},
    }  # fmt: skip
    limit = read_field(sample, params["time_limit_field"])
    if limit is MISSING or limit is None:
        return config
    seconds = _as_seconds(limit)
    if seconds is None:
        return unusable(params["time_limit_field"], sentence("it must be a number of seconds"))
    return config | {"run_timeout": seconds}


def _tests(params: JsonObject, sample: Sample) -> Json | Score:
    tests = read_field(sample, params["tests_field"])
    if tests is MISSING or tests is None:
        tests = read_field(sample, "url")
    if isinstance(tests, str) and tests.startswith(("http://", "https://")):
        return {"location": "URL", "url": tests}
    if isinstance(tests, (list, dict, str)) and tests:
        return tests
    path = params["tests_field"]
    return Score.failed(sentence("no tests: neither sample.extra.{path} nor sample.extra.url has any", path=path))


def _as_seconds(value: Json | Missing) -> float | None:
    try:
        seconds = float(value) if isinstance(value, (int, float, str)) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        return None
    return seconds if 0 < seconds < math.inf else None


def _score(params: JsonObject, answer: Answer) -> Score:
    accepted = answer.body.get("accepted")
    if not isinstance(accepted, bool):
        return Score.failed(sentence("the sandbox's answer has no boolean accepted"))
    listed = answer.body.get("tests")
    tests = [test for test in listed if isinstance(test, dict)] if isinstance(listed, list) else []
    if not accepted and any(_is_sandbox_fault(test) for test in tests):
        return Score.failed(sentence("the sandbox could not run a test (SandboxError)"))
    facts = {"passed": sum(test.get("passed") is True for test in tests), "total": len(tests)}
    if accepted:
        score = verdict(params, True, sentence("accepted; {passed} of {total} tests shown passed", **facts))
    else:
        score = verdict(params, False, sentence("not accepted; {passed} of {total} tests shown passed", **facts))
    return replace(score, metrics={"sandbox_seconds": answer.seconds, "sandbox_attempts": float(answer.attempts)})


def _is_sandbox_fault(test: JsonObject) -> bool:
    run = test.get("exec_info")
    return isinstance(run, dict) and run.get("status") == "SandboxError"
