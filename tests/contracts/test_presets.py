"""Every preset of the registry keeps the catalogue's promises."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from contextlib import contextmanager

import pytest
from jsonschema import Draft202012Validator

from rewards_lib.contract import Completion, Sample, ScoreState
from rewards_lib.errors import InputError
from rewards_lib.presets import catalogue, check_params, find_preset, preset_names
from rewards_lib.presets.host import score_on_host
from rewards_lib.presets.worker import PRELOAD, decode_score, preload_for, score_group_item, score_item
from tests.stand_in_service import Reply, candidate_of, chat, stand_in

NAMES = preset_names()
EXAMPLES = [
    pytest.param(name, example, id=f"{name}-{number}")
    for name in NAMES
    for number, example in enumerate(find_preset(name).examples)
]


def needs_truth(name: str) -> bool:
    return any(parameter.name == "answer_field" for parameter in find_preset(name).parameters)


ADDRESS = {"llm_judge": "base_url", "sandbox_submit": "url"}


@contextmanager
def params_of(name, example):
    """The example's parameters; where the preset asks a service, one stands there and answers as the example says."""
    if name not in ADDRESS:
        yield example.params
        return
    told = dict(zip(map(str, example.completions), example.replies, strict=False))

    def answer(request, _number):
        reply = told.get(candidate_of(request))
        if reply is None:
            return Reply({"detail": "not in the example"}, status=400)
        return chat(reply) if "messages" in request else Reply(reply)

    with stand_in(answer) as service:
        yield example.params | {ADDRESS[name]: service.url}


def scores_of(name, params, sample, completions):
    return find_preset(name).score_all(check_params(name, params), sample, [Completion(raw) for raw in completions])


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_speaks_both_languages(name):
    preset = find_preset(name)
    texts = [preset.label, preset.summary]
    texts += [text for parameter in preset.parameters for text in (parameter.title, parameter.help)]
    for text in texts:
        assert text.en.strip()
        assert re.search(r"[\u4e00-\u9fff]", text.zh)
        assert not re.search(r"[\u4e00-\u9fff]", text.en.replace("步骤", ""))


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_valid_and_closed_and_describes_every_parameter(name):
    preset = find_preset(name)
    for language in ("en", "zh"):
        schema = preset.schema(language)
        Draft202012Validator.check_schema(schema)
        assert schema["additionalProperties"] is False
        assert all(entry["title"] and entry["description"] for entry in schema["properties"].values())
        assert all("default" in entry or key in schema["required"] for key, entry in schema["properties"].items())


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_an_example_earns_the_documented_rewards(name, example):
    with params_of(name, example) as params:
        scores = scores_of(name, params, example.sample, example.completions)
    assert len(example.rewards) == len(example.completions) == len(scores)
    for score, reward in zip(scores, example.rewards, strict=True):
        assert score.value == (None if reward is None else pytest.approx(reward, abs=1e-9)), str(score.why)


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_every_score_gives_its_reason_and_places_inside_the_text(name, example):
    with params_of(name, example) as params:
        scores = scores_of(name, params, example.sample, example.completions)
    for score, raw in zip(scores, example.completions, strict=True):
        assert score.why is not None
        assert str(score.why)
        assert all(0 <= start <= end <= len(Completion(raw).text) for start, end in score.spans)


@pytest.mark.parametrize(("name", "example"), [p for p in EXAMPLES if find_preset(p.values[0]).runs_on == "worker"])
def test_the_worker_gives_the_same_scores_as_a_direct_call(name, example):
    sample = json.loads(json.dumps(example.sample.to_json()))
    direct = scores_of(name, example.params, example.sample, example.completions)
    item = {"preset": name, "params": example.params, "sample": sample}
    if find_preset(name).is_group:
        rows = score_group_item(item | {"completions": list(example.completions)})
    else:
        rows = [score_item(item | {"completion": raw}) for raw in example.completions]
    decoded = [decode_score(json.loads(json.dumps(row))) for row in rows]
    assert [str(score.why) for score in decoded] == [str(score.why) for score in direct]
    assert [(s.state, s.value, s.spans) for s in decoded] == [(s.state, s.value, s.spans) for s in direct]


@pytest.mark.parametrize(("name", "example"), [p for p in EXAMPLES if find_preset(p.values[0]).runs_on == "host"])
def test_the_host_gives_the_same_scores_as_a_direct_call(name, example):
    with params_of(name, example) as params:
        timed = score_on_host(name, params, [(example.sample, Completion(raw)) for raw in example.completions])
    assert [one.score.value for one in timed] == list(example.rewards)
    assert all(one.duration_ms >= 0 for one in timed)


@pytest.mark.parametrize("name", [name for name in NAMES if needs_truth(name)])
@pytest.mark.parametrize("extra", [{}, {"answer": None}, {"answer": ""}, {"answer": " \n"}, {"answer": [""]}], ids=repr)
def test_without_a_usable_ground_truth_the_completion_is_unscored(name, extra):
    example = next(e for e in find_preset(name).examples if e.answer not in (None, ""))
    for completion in [*example.completions, "", "<think>", r"\boxed{}"]:
        [score] = scores_of(name, example.params, Sample(extra=extra), [completion])
        assert score.state is ScoreState.FAILED
        assert score.value is None
        assert "answer" in str(score.why)


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_parameter_is_refused_and_the_known_ones_named(name):
    known = [parameter.name for parameter in find_preset(name).parameters]
    with pytest.raises(InputError, match=re.escape(", ".join(known))) as refused:
        check_params(name, {"no_such": 1}, where="rules[0].params")
    assert refused.value.where == "rules[0].params.no_such"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "text", ["", " ", "<think>", "</think></think>", "\\boxed{", "{" * 500, "\ud800", "1e999999999", "9" * 9000]
)
def test_awkward_texts_score_or_fail_but_never_raise(name, text):
    example = find_preset(name).examples[0]
    with params_of(name, example) as params:
        [score] = scores_of(name, params, example.sample, [text])
    assert score.state in ScoreState


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_tells_its_time_limit(name):
    preset = find_preset(name)
    assert 0 < preset.seconds({}) <= (60 if preset.runs_on == "worker" else 600)


def test_the_catalogue_is_plain_json_with_an_example_each():
    rows = json.loads(json.dumps(catalogue(), allow_nan=False))
    assert [row["name"] for row in rows] == NAMES
    assert all({"label", "summary", "schema", "example"} <= row.keys() for row in rows)
    assert all(len(row["example"]["rewards"]) == len(row["example"]["completions"]) for row in rows)


def test_an_unknown_preset_is_refused_and_the_known_ones_named():
    with pytest.raises(InputError, match="exact_match"):
        find_preset("no_such")


def test_importing_the_presets_loads_nothing_heavy():
    heavy = {"sympy", "math_verify", "jsonschema", "pandas", "numpy", "mpmath", "latex2sympy2_extended", "requests"}
    code = f"import sys, rewards_lib.presets; print(sorted({heavy!r} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("module", PRELOAD)
def test_the_preloaded_modules_exist(module):
    __import__(module)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("math_accuracy", {}),
        ("cosine_length", {}),
        ("length_group", {"correct_by": "regex_match", "correct_params": {"pattern": "x", "compare": "math"}}),
        ("regex_match", {"pattern": "x", "compare": "math"}),
    ],
)
def test_rules_that_may_compare_by_mathematics_find_it_loaded(name, params):
    assert preload_for([("exact_match", {}), (name, params)]) == PRELOAD


@pytest.mark.parametrize(
    ("name", "params"),
    [("exact_match", {}), ("regex_match", {"pattern": "x"}), ("cosine_length", {"correct_by": "exact_match"})],
)
def test_other_rules_do_not_pay_for_mathematics(name, params):
    assert "mpmath" not in preload_for([(name, params)])
