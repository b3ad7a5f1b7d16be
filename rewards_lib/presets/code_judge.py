"""The preset ``code_judge``: a program is right when it passes the sample's tests, run here behind walls.

Invariant: only a verdict about the program is a reward; whatever kept the judge from one (no tests, a missing compiler,
an overloaded machine) leaves the completion unscored with the reason.
"""

from __future__ import annotations

import math
from dataclasses import replace

from rewards_lib.code_judge import LANGUAGES
from rewards_lib.contract import Completion, Isolation, Json, JsonObject, Sample, Score, sentence
from rewards_lib.errors import DependencyError, InputError, RewardConsoleError
from rewards_lib.presets.grading import Missing, read_field
from rewards_lib.presets.parameters import IGNORE_CASE, field_path, integer, number, option, text, texts
from rewards_lib.presets.registry import Bilingual, Example, service_preset

_LONGEST_SECONDS = 600.0
_ALSO_CALLED = ("python3", "c++", "nodejs", "golang")
"""Names of languages that data sets and other judges use."""
_TESTS = [
    {"input": {"stdin": "2 3\n"}, "output": {"stdout": "5\n"}},
    {"input": {"stdin": "-1 1\n"}, "output": {"stdout": "0\n"}},
    {"input": {"stdin": "0 7\n"}, "output": {"stdout": "7\n"}},
]
_SUM = "```python\na, b = map(int, input().split())\nprint(a + b)\n```"
_ABSOLUTE_SUM = "```python\na, b = map(int, input().split())\nprint(abs(a) + abs(b))\n```"


def _confinement() -> Isolation | None:
    """How the judge confines programs; None where it cannot run any, which each score tells by itself."""
    from rewards_lib.code_judge.shared import shared_judge

    try:
        return shared_judge().isolation()
    except DependencyError:
        return None


@service_preset(
    name="code_judge",
    label=Bilingual("Code judge", "代码判题"),
    summary=Bilingual(
        "Runs the program in the completion against the sample's tests, confined, on this machine.",
        "在本机隔离环境中，用样本的测试用例运行回答里的程序。",
    ),
    parameters=(
        field_path(
            "tests_field",
            Bilingual("Tests field", "测试用例字段"),
            Bilingual(
                "Dotted path below sample.extra to the tests: a list, its JSON text, or an address. Where it is "
                "missing, sample.extra.url is taken as an address. Without tests the completion is unscored.",
                "测试用例在 sample.extra 下的点分路径：列表、其 JSON 文本或地址。缺失时取 sample.extra.url 作为地址；"
                "没有测试用例则不计分。",
            ),
            "tests",
        ),
        option(
            "language",
            Bilingual("Language", "语言"),
            Bilingual(
                "The programming language; empty takes it from the sample.", "编程语言；留空则取样本中的字段。"
            ),
            "",
            ("", *LANGUAGES, *_ALSO_CALLED),
        ),
        field_path(
            "language_field",
            Bilingual("Language field", "语言字段"),
            Bilingual(
                "Path below sample.extra to the language, used where none is set above.",
                "语言在 sample.extra 下的路径，上面未设置语言时使用。",
            ),
            "language",
        ),
        option(
            "scoring",
            Bilingual("Scoring", "计分方式"),
            Bilingual(
                "all: 1 when every test is passed, else 0. fraction: the share of tests passed; runs every test.",
                "all：全部通过得 1，否则 0。fraction：通过的比例，会运行全部测试。",
            ),
            "all",
            ("all", "fraction"),
        ),
        number(
            "run_timeout_s",
            Bilingual("Processor time a test (s)", "单个测试的 CPU 时间（秒）"),
            Bilingual(
                "Processor time of one test, so that a busy machine changes no verdict. Empty: the sample's time "
                "limit field, else 10 s for compiled and 20 s for interpreted languages.",
                "单个测试的 CPU 时间，机器繁忙不影响判定。留空：取样本的时限字段，否则编译型 10 秒、解释型 20 秒。",
            ),
            None,
            optional=True,
            exclusiveMinimum=0,
            maximum=600,
        ),
        field_path(
            "time_limit_field",
            Bilingual("Time limit field", "时限字段"),
            Bilingual("Path to the seconds that one test may take.", "单个测试允许秒数的路径。"),
            "time_limit",
        ),
        integer(
            "memory_mb",
            Bilingual("Memory (MB)", "内存（MB）"),
            Bilingual("Memory of one test.", "单个测试的内存上限。"),
            1024,
            minimum=16,
            maximum=16_384,
        ),
        option(
            "compare",
            Bilingual("Compare", "比较方式"),
            Bilingual(
                "lines: line by line, blanks at line ends and empty last lines do not count. tokens: words alone.",
                "lines：逐行比较，忽略行尾空白与末尾空行。tokens：只比较以空白分隔的词。",
            ),
            "lines",
            ("lines", "tokens"),
        ),
        number(
            "float_tol",
            Bilingual("Float tolerance", "浮点容差"),
            Bilingual(
                "Two numbers of which one is a float may differ by this, relative above 1; integers are exact.",
                "至少一方为浮点数时允许的误差（大于 1 时为相对误差）；整数必须完全相等。",
            ),
            1e-6,
            minimum=0,
            maximum=1,
        ),
        IGNORE_CASE,
        text(
            "checker_field",
            Bilingual("Checker field", "校验程序字段"),
            Bilingual(
                'Path below sample.extra to a checker {"language", "code"} for problems with many right answers. '
                "Where there is none, outputs are compared.",
                '校验程序 {"language", "code"} 在 sample.extra 下的路径，用于答案不唯一的题目；没有时直接比较输出。',
            ),
            "checker",
        ),
        texts(
            "allow_hosts",
            Bilingual("Hosts of tests", "测试用例主机"),
            Bilingual(
                "Hosts that tests may be fetched from: host, host:port or *.suffix.",
                "允许下载测试用例的主机：host、host:port 或 *.后缀。",
            ),
            [],
            at_least=0,
        ),
        integer(
            "concurrency",
            Bilingual("Completions at once", "并发回答数"),
            Bilingual(
                "How many completions are with the judge at once; its workers are shared by all of them.",
                "同时交给判题器的回答数，共用同一组工作进程。",
            ),
            30,
            minimum=1,
            maximum=64,
        ),
    ),
    examples=(
        Example(
            (1.0, 0.0, 0.0),
            (_SUM, _ABSOLUTE_SUM, "I would add the two numbers."),
            None,
            {"language": "python"},
            prompt="Read two numbers and print their sum.",
            extra={"tests": _TESTS},
        ),
        Example(
            (1.0, 2 / 3), (_SUM, _ABSOLUTE_SUM), None, {"language": "python", "scoring": "fraction"},
            extra={"tests": _TESTS},
        ),
        Example((None,), (_SUM,), None, {"language": "python"}, extra={"tests": []}),
    ),
    time_limit=lambda _params: _LONGEST_SECONDS,
    confinement=_confinement,
)  # fmt: skip
def code_judge(params: JsonObject, sample: Sample, completion: Completion) -> Score:
    """Score the program in the completion by its verdict."""
    from rewards_lib.code_judge.shared import shared_judge
    from rewards_lib.code_judge.submission import read_submission

    try:
        submission = read_submission(_request(params, sample, completion.text))
        judgement = shared_judge().judge(replace(submission, allow_hosts=tuple(params["allow_hosts"])))
    except RewardConsoleError as error:
        return Score.failed(error.message if error.place is None else sentence("{text}", text=str(error)))
    passed, total = judgement.passed, judgement.total
    why = sentence(
        "{verdict}; {passed} of {total} tests passed", verdict=str(judgement.verdict), passed=passed, total=total
    )
    metrics = {"tests_passed": float(passed), "tests_total": float(total), "judge_seconds": judgement.wall_seconds}
    return Score.scored(judgement.score, why, metrics=metrics)


def _request(params: JsonObject, sample: Sample, text: str) -> JsonObject:
    """The ``/submit`` request for a completion: the preset says what a client of the service would send."""
    config: JsonObject = {
        "dataset_type": "CommonOJDataset", "language": _language(params, sample),
        "provided_data": {"test": _tests(params, sample)}, "memory_limit_MB": params["memory_mb"],
        "extra": {
            "scoring": params["scoring"], "compare": params["compare"], "float_tol": params["float_tol"],
            "ignore_case": params["ignore_case"], "checker": _optional(sample, params["checker_field"]),
        },
    }  # fmt: skip
    path = params["time_limit_field"]
    seconds = params["run_timeout_s"] or _seconds(_optional(sample, path), path)
    return {"completion": text, "config": config | ({"run_timeout": seconds} if seconds else {})}


def _optional(sample: Sample, path: str) -> Json:
    value = read_field(sample, path) if path else None
    return None if isinstance(value, Missing) else value


def _language(params: JsonObject, sample: Sample) -> str:
    name = params["language"] or _optional(sample, params["language_field"])
    if not isinstance(name, str) or not name.strip():
        raise InputError("no language: neither the rule nor the sample names one")
    return name


def _tests(params: JsonObject, sample: Sample) -> Json:
    tests = _optional(sample, params["tests_field"])
    if tests is None:
        tests = _optional(sample, "url")
    if not tests:
        raise InputError(
            "no tests: neither sample.extra.{path} nor sample.extra.url has any", path=params["tests_field"]
        )
    return tests


def _seconds(value: Json, path: str) -> float | None:
    """A time limit as data sets write it: a number, or its text; None where there is none."""
    if value is None or value == "":
        return None
    try:
        seconds = float(value) if isinstance(value, (int, float, str)) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        seconds = math.nan
    if not 0 < seconds <= _LONGEST_SECONDS:
        raise InputError(
            "sample.extra.{path} must be a number of seconds, at most {most:g}", path=path, most=_LONGEST_SECONDS
        )
    return seconds
