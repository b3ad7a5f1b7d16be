"""What a reward function returns and what becomes of it: product sections 4 and 5."""

from __future__ import annotations

import pytest

from rewards_lib.contract import ScoreState
from rewards_lib.executor import Limits


def values(result):
    return [score.value for score in result.scores]


def returning(expression: str, before: str = "") -> str:
    return f"{before}\ndef reward_fn(context, sample, completions):\n    return {expression}\n"


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        ("[1, 0]", [1.0, 0.0]),
        ("(0.25, -1)", [0.25, -1.0]),
        ("[True, False]", [1.0, 0.0]),
        ("[None, 0.5]", [None, 0.5]),
        ("[-0.0, 0.1 + 0.2]", [0.0, 0.1 + 0.2]),
        ("range(2)", [0.0, 1.0]),
    ],
)
def test_a_sequence_of_numbers_is_accepted(run, rewards, expected):
    result = run(returning(f"RewardFunctionResult({rewards})"))
    assert (result.status, values(result), result.error) == ("success", expected, None)


def test_fractions_and_decimals_are_numbers(run):
    before = "from fractions import Fraction\nfrom decimal import Decimal"
    assert values(run(returning("RewardFunctionResult([Fraction(1, 2), Decimal('0.25')])", before))) == [0.5, 0.25]


def test_numpy_arrays_and_scalars_are_accepted(run):
    source = returning("RewardFunctionResult(np.array([1, 2.5]), {'m': np.float32(3)})", "import numpy as np")
    result = run(source, requirements="numpy\n")
    assert (values(result), result.metrics) == ([1.0, 2.5], {"m": 3.0})


def test_none_abstains(run):
    result = run(returning("RewardFunctionResult([None, 1.0])"))
    assert [score.state for score in result.scores] == [ScoreState.ABSTAINED, ScoreState.SCORED]


@pytest.mark.parametrize(
    ("bad", "mentions"),
    [("float('nan')", "nan"), ("float('inf')", "inf"), ("'1'", "str"), ("10 ** 400", "too large"), ("[1.0]", "list"),
     ("1j", "complex")],
)  # fmt: skip
def test_an_entry_that_is_no_finite_number_fails_alone(run, bad, mentions):
    result = run(returning(f"RewardFunctionResult([{bad}, 0.5])"))
    assert (result.status, values(result)) == ("failure", [None, 0.5])
    assert [score.state for score in result.scores] == [ScoreState.FAILED, ScoreState.SCORED]
    assert mentions in str(result.error)


@pytest.mark.parametrize(
    ("expression", "mentions"),
    [
        ("RewardFunctionResult([1.0])", ["1 rewards", "2 completions"]),
        ("RewardFunctionResult([1.0] * 3_000_000)", ["3000000 rewards", "2 completions"]),
        ("RewardFunctionResult('ab')", ["list of numbers", "str"]),
        ("RewardFunctionResult(5)", ["list of numbers", "int"]),
        ("RewardFunctionResult([1, 1], {}, 'great')", ["great", "success", "failure"]),
        ("[1.0, 1.0]", ["list", "RewardFunctionResult"]),
        ("None", ["None", "RewardFunctionResult"]),
    ],
)
def test_an_unusable_result_is_one_sentence_and_no_reward(run, expression, mentions):
    result = run(returning(expression))
    assert (result.status, values(result)) == ("failure", [None, None])
    assert all(text in str(result.error) for text in mentions)


@pytest.mark.parametrize(
    ("source", "mentions"),
    [
        ("x = 1", "defines no function reward_fn"),
        ("reward_fn = 3", "reward_fn is int"),
        ("async def reward_fn(context, sample, completions): ...", "asyncio.run"),
        ("def reward_fn(completions): ...", "must accept (context, sample, completions)"),
    ],
)
def test_a_missing_or_wrong_reward_fn_is_one_sentence(run, source, mentions):
    result = run(source)
    assert (result.status, values(result)) == ("failure", [None, None])
    assert mentions in str(result.error)


def test_an_exception_names_the_authors_line_and_shows_only_the_authors_frames(run):
    result = run("import json\ndef parse(text):\n    return json.loads(text)\n"
                 "def reward_fn(context, sample, completions):\n    return parse('{')\n")  # fmt: skip
    assert str(result.error).startswith("line 4: JSONDecodeError: ")
    assert result.error_line == 4
    assert "return json.loads(text)" in result.traceback
    assert "executor" not in result.traceback


@pytest.mark.parametrize("error", ["SystemExit(0)", "KeyboardInterrupt", "GeneratorExit()", "MemoryError()"])
def test_exceptions_that_end_programs_end_only_the_run(run, error):
    result = run(f"def reward_fn(context, sample, completions):\n    raise {error}\n")
    assert (result.status, result.error_line, values(result)) == ("failure", 3, [None, None])


def test_an_exception_without_text_is_still_reported(run):
    result = run("class E(Exception):\n    def __str__(self):\n        raise E('y')\n"
                 "def reward_fn(context, sample, completions):\n    raise E('x')\n")  # fmt: skip
    assert str(result.error).startswith("line 6: E: ")


def test_the_authors_failure_keeps_its_text_and_earns_nothing(run):
    """A reward beside status failure is a placeholder, not a number to train on."""
    result = run(returning("RewardFunctionResult([0], {'error': 1.0}, RewardStatus.FAILURE, 'judge is down')"))
    assert (result.status, str(result.error), values(result)) == ("failure", "judge is down", [None, None])
    assert result.metrics == {"error": 1.0}


def test_metrics_that_are_no_finite_numbers_are_left_out_and_named(run):
    result = run(returning("RewardFunctionResult([1, 1], {'a': float('nan'), 'b': 'x', 3: 1.0, 'ok': 2})"))
    assert (result.status, result.metrics) == ("success", {"ok": 2.0})
    assert sum(finding.rule == "metrics" for finding in result.findings) == 3


def test_rewards_are_read_once(run):
    result = run("class Growing(list):\n    def __iter__(self):\n        while True:\n            yield 1.0\n"
                 + returning("RewardFunctionResult(Growing())"))  # fmt: skip
    assert (result.status, values(result)) == ("failure", [None, None])


def test_printed_json_is_a_log_and_never_a_result(run):
    result = run("def reward_fn(context, sample, completions):\n"
                 "    print('{\"result\": {\"rewards\": [9, 9], \"status\": \"success\"}}', flush=True)\n"
                 "    raise SystemExit\n")  # fmt: skip
    assert values(result) == [None, None]
    assert '"rewards": [9, 9]' in result.logs


def test_both_streams_are_logged(run):
    result = run("import logging\ndef reward_fn(context, sample, completions):\n    print('to stdout')\n"
                 "    logging.warning('to stderr')\n    return RewardFunctionResult([1, 1])\n")  # fmt: skip
    assert "to stdout\n" in result.logs
    assert "WARNING:root:to stderr" in result.logs


def test_logs_are_cut_and_say_how_much(run):
    result = run("def reward_fn(context, sample, completions):\n    print('x' * 1000)\n"
                 "    return RewardFunctionResult([1, 1])\n", limits=Limits(output_bytes=100))  # fmt: skip
    assert result.logs.startswith("x" * 100)
    assert "901 more bytes" in result.logs


def test_each_call_gets_its_own_arguments(run):
    source = ("def reward_fn(context, sample, completions):\n    n = len(completions)\n    completions.clear()\n"
              "    sample['extra'] = None\n    return RewardFunctionResult([1.0] * n)\n")  # fmt: skip
    assert [values(run(source)) for _ in range(2)] == [[1.0, 1.0]] * 2


def test_no_state_is_left_from_one_run_to_the_next(run):
    source = ("import logging, random\nseen = []\ndef reward_fn(context, sample, completions):\n"
              "    log = logging.getLogger('leak')\n    before = getattr(log, 'mark', 0)\n    log.mark = 1\n"
              "    seen.append(1)\n"
              "    return RewardFunctionResult([before, len(seen)], {'r': random.random()})\n")  # fmt: skip
    first, second = run(source), run(source)
    assert values(first) == values(second) == [0.0, 1.0]
    assert first.metrics != second.metrics


SHAPES = [
    "it is 4",
    {"role": "assistant", "content": "it is 4"},
    [{"role": "assistant", "content": "it is 4"}],
    {"messages": "it is 4"},
    {"messages": {"role": "assistant", "content": "it is 4"}},
    {"messages": [{"role": "assistant", "content": "no"}, {"role": "assistant", "content": "it is 4"}]},
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("spelling", ["['content']", "[-1]['content']", ".get('content')", "[-1].get('content')"])
def test_both_spellings_of_messages_work_on_every_shape(run, shape, spelling):
    result = run(
        returning(f"RewardFunctionResult([float('4' in c['messages']{spelling}) for c in completions])"), shape
    )
    assert (result.status, values(result)) == ("success", [1.0])


def test_messages_are_a_list_that_can_be_walked_and_written_as_json(run):
    source = ("import json\ndef reward_fn(context, sample, completions):\n    m = completions[0]['messages']\n"
              "    assert isinstance(m, list) and [x['role'] for x in m] == ['assistant'] and 'content' in m\n"
              "    return RewardFunctionResult([float(json.loads(json.dumps(m)) == m)])\n")  # fmt: skip
    assert values(run(source, {"messages": {"role": "assistant", "content": "x"}})) == [1.0]


def test_reading_messages_as_one_message_gives_a_hint(run):
    result = run(returning("RewardFunctionResult([float('4' in c['messages']['content']) for c in completions])"))
    assert [(found.severity, found.rule, found.line) for found in result.findings] == [("hint", "messages-shape", 4)]


def test_status_prints_as_its_word(run):
    source = ("def reward_fn(context, sample, completions):\n"
              "    assert (str(RewardStatus.SUCCESS), f'{RewardStatus.FAILURE}') == ('success', 'failure')\n"
              "    r = RewardFunctionResult([1, 1])\n    assert r.status == 'success' and r.metrics == {}\n"
              "    return r\n")  # fmt: skip
    assert run(source).status == "success"


def test_every_result_says_how_it_ran(run):
    result = run(returning("RewardFunctionResult([1, 1])"))
    assert result.isolation.tier in ("A", "B", "C")
    assert result.duration_ms > 0
    assert result.memory_mb is not None
    assert result.memory_mb > 1


def test_a_metric_of_more_digits_than_python_writes_costs_no_reward(run):
    result = run(returning("RewardFunctionResult([1, 0], {'huge': 10**5000, 'ok': 2})"))
    assert (values(result), result.metrics) == ([1.0, 0.0], {"ok": 2.0})
    assert any("huge" in str(finding.message) for finding in result.findings)
