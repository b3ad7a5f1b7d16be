"""Secrets in a run: where the function finds them, and that no way out of the run carries their values."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest
from executor_inputs import HEADER, payload_of
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.executor import FunctionSource
from rewards_lib.executor.redaction import Redaction

VALUE = "sk-Tä/st+0123 45'67\"89=="
SECRETS = (("JUDGE_KEY", VALUE), ("OTHER_KEY", "another-value-1"))
HEAD = HEADER + "import os, base64, urllib.parse, logging, sys\nKEY = os.environ['JUDGE_KEY']\n"


def source(body: str, secrets=SECRETS) -> FunctionSource:
    lines = "\n".join("    " + line for line in body.splitlines())
    return FunctionSource(f"{HEAD}def reward_fn(context, sample, completions):\n{lines}\n", secrets=secrets)


def everything(run) -> str:
    return repr((run, str(run.error), [str(score.why) for score in run.scores], [str(f.message) for f in run.findings]))


def test_the_run_finds_the_named_values_and_no_others(executor):
    body = (
        "names = sorted(os.environ)\nlengths = [len(KEY), len(os.getenv('OTHER_KEY', ''))]\n"
        "return RewardFunctionResult(lengths, {'count': len(names), 'none': float(os.getenv('HOME') is None)})"
    )
    run = executor.run_function(source(body), payload_of("a", "b"))
    assert [score.value for score in run.scores] == [len(VALUE), 15]
    assert run.metrics == {"count": 2.0, "none": 1.0}
    assert executor.run_function(source("return 1", ()), payload_of("a")).error_line == 3


def test_a_library_finds_them_in_the_real_environment(make_confined):
    plain = make_confined("tier=B policy=off")
    run = plain.run_function(source("return RewardFunctionResult([len(os.environ['JUDGE_KEY'])])"), payload_of("a"))
    assert run.scores[0].value == len(VALUE)


WAYS_OUT = {
    "print": "print(KEY)",
    "standard error": "print('x', KEY, 'y', file=sys.stderr)",
    "logging": "logging.warning('key is %s', KEY)",
    "repr": "print([KEY, {'k': KEY}])",
    "quoted": "print(urllib.parse.quote(KEY), urllib.parse.quote_plus(KEY), urllib.parse.quote(KEY, safe=''))",
    "base64": "print(*(base64.b64encode(b'x' * n + KEY.encode() + b'tail').decode() for n in range(4)))",
    "urlsafe base64": "print(base64.urlsafe_b64encode(KEY.encode()).decode())",
    "hexadecimal": "print(KEY.encode().hex(), KEY.encode().hex().upper())",
    "reversed": "print(KEY[::-1])",
    "piece by piece": "for character in KEY: print(character)",
    "in two prints": "print(KEY[:9], end='')\nprint(KEY[9:])",
    "both streams": "print(KEY[:0])\nprint(KEY, file=sys.stderr)",
    "exception": "raise ValueError('bad key ' + KEY)",
    "chained exception": "try:\n    raise KeyError(KEY)\nexcept KeyError as e:\n    raise ValueError(1) from e",
    "metric": "return RewardFunctionResult([1], {KEY: 1.0, 'say ' + KEY: 2.0})",
    "dropped metric": "return RewardFunctionResult([1], {'m': KEY})",
    "error of a failure": "return RewardFunctionResult([1], {}, 'failure', 'the judge refused ' + KEY)",
    "status": "return RewardFunctionResult([1], {}, KEY)",
    "reward": "return RewardFunctionResult([KEY])",
    "class name": "class Judge(Exception): pass\nJudge.__name__ = 'x'\nraise Judge(KEY)",
    "at the end of what is shown": "print('x' * 65_000 + ' ' * (536 - 12) + KEY)",
}


@pytest.mark.parametrize("way", WAYS_OUT)
def test_no_way_out_carries_a_value(executor, way):
    function = source(f"{WAYS_OUT[way]}\nreturn RewardFunctionResult([0.5])")
    for run in (executor.run_function(function, payload_of("a")), *executor.run_functions(function, [payload_of("a")])):
        told = everything(run)
        assert VALUE not in told
        assert VALUE[:8] not in told
        assert repr(VALUE)[1:-1] not in told
        assert base64.b64encode(VALUE.encode()).decode()[2:-4] not in told
        assert quote(VALUE, safe="") not in told


def test_the_log_says_which_secret_was_taken_out(executor):
    run = executor.run_function(source("print('key:', KEY)\nreturn RewardFunctionResult([1])"), payload_of("a"))
    assert run.logs == "key: [secret JUDGE_KEY]\n"


def test_a_refused_host_does_not_tell_the_value(executor):
    body = (
        "import urllib.request\ntry:\n    urllib.request.urlopen('http://another-value-1.example/')\n"
        "except OSError as error:\n    print(error)\nreturn RewardFunctionResult([1])"
    )
    run = executor.run_function(source(body), payload_of("a"))
    assert run.network_calls[0].host == "[secret OTHER_KEY].example"
    assert "another-value-1" not in everything(run)


def test_a_secret_without_a_value_is_told_before_anything_runs(executor):
    run = executor.run_function(source("return 1", (("JUDGE_KEY", None),)), payload_of("a"))
    assert "The secret JUDGE_KEY has no value here" in str(run.error)
    assert run.scores[0].value is None


def test_a_source_does_not_show_its_secrets():
    assert VALUE not in repr(source("pass"))


def test_the_next_run_of_another_function_has_none_of_them(executor):
    executor.run_function(source("return RewardFunctionResult([1])"), payload_of("a"))
    run = executor.run_function(
        FunctionSource(
            HEADER + "import os\ndef reward_fn(c, s, r):\n    return RewardFunctionResult([len(os.environ)])\n"
        ),
        payload_of("a"),
    )
    assert run.scores[0].value == 0


@given(value=st.text(min_size=8, max_size=40).filter(str.strip), before=st.text(max_size=9), after=st.text(max_size=9))
def test_whatever_the_value_it_does_not_get_past(value, before, after):
    clean = Redaction([("NAME", value)])
    raw = value.encode("utf-8", "surrogatepass")
    for spelled in (value, quote(value, safe="", errors="surrogatepass"), raw.hex()):
        assert spelled not in clean.text(before + spelled + after).replace("[secret NAME]", "")
    assert clean.json({"a": [value, 1, None]})["a"][1:] == [1, None]
    assert Redaction([]).text(value) == value
