"""The mix file is checked to the letter, written as it is read, and summed in decimals."""

from __future__ import annotations

import contextlib
import json
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.errors import ExecutionError, InputError
from rewards_lib.mix import (
    Mix,
    Rule,
    mix_from_json,
    mix_to_json,
    mix_version,
    read_mix,
    read_weight,
    weighted_sum,
    write_mix,
)

DOCUMENTED = """{"name": "math",
 "rules": [{"name": "accuracy", "preset": "exact_match", "weight": 1.0, "params": {}},
           {"name": "format", "preset": "think_answer_format", "weight": 0.1},
           {"name": "custom", "function": "reward.py", "requirements": "requirements.txt", "weight": 0.5,
            "allow_hosts": ["127.0.0.1:8080"]}]}
"""


def mix_text(*rules):
    return json.dumps({"name": "m", "rules": list(rules)})


weights = st.integers(1, 100_000).map(lambda hundredths: Decimal(hundredths) / 100)
names = st.text(min_size=1, max_size=20).filter(lambda name: name.strip() and name.isprintable())
preset_rules = st.builds(
    Rule,
    name=names,
    weight=weights,
    preset=st.sampled_from(["exact_match", "contains"]),
    params=st.fixed_dictionaries({}, optional={"ignore_case": st.booleans(), "match": st.floats(-5, 5)}),
)
function_rules = st.builds(
    Rule,
    name=names,
    weight=weights,
    function=names,
    requirements=st.none() | names,
    allow_hosts=st.lists(st.sampled_from(["a.example", "127.0.0.1:80", "[::1]:8080"])).map(tuple),
)
mixes = st.builds(
    Mix,
    name=names,
    rules=st.lists(preset_rules | function_rules, min_size=1, max_size=5, unique_by=lambda rule: rule.name).map(tuple),
)


@given(mixes)
def test_what_is_written_reads_back_equal(mix):
    assert read_mix(write_mix(mix)) == mix
    assert write_mix(read_mix(write_mix(mix))) == write_mix(mix)


@given(st.text() | st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists).map(json.dumps))
def test_reading_raises_nothing_but_input_errors(text):
    with contextlib.suppress(InputError):
        read_mix(text)


@given(
    st.dictionaries(
        st.sampled_from(["name", "preset", "function", "weight", "params", "allow_hosts", "x"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text()),
    )
)
def test_odd_rules_raise_nothing_but_input_errors(rule):
    with contextlib.suppress(InputError):
        read_mix(mix_text(rule))


def test_the_documented_file_is_read_and_written_in_its_own_layout():
    mix = read_mix(DOCUMENTED)
    assert mix.rules[2] == Rule(
        "custom", Decimal("0.5"), function="reward.py", requirements="requirements.txt", allow_hosts=("127.0.0.1:8080",)
    )
    written = write_mix(mix)
    assert json.loads(written)["rules"][1] == {"name": "format", "preset": "think_answer_format", "weight": 0.1}
    assert written.splitlines()[2] == DOCUMENTED.splitlines()[2]
    assert mix_to_json(mix)["rules"][0] == {"name": "accuracy", "preset": "exact_match", "weight": 1.0}


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ("{", "line 1, column 2", "the end of the text"),
        ('{"name": "m",\n "rules": oops}', "line 2, column 11", "where a value belongs"),
        ('{"name": "m", "rules": NaN}', "line 1, column 24", "NaN"),
        ('{"name": "m", "name": "n", "rules": []}', "name", "twice"),
        ("[]", "$", "object"),
        (mix_text(), "rules", "1 to 5"),
        (mix_text(*[{"preset": "exact_match"}] * 6), "rules", "1 to 5"),
        (json.dumps({"rules": [{"preset": "exact_match"}], "more": 1}), "more", "name, rules"),
        (mix_text({"preset": "exact_match", "wieght": 1}), "rules[0].wieght", "weight"),
        (mix_text({"preset": "exact_match"}, {"preset": "no_such"}), "rules[1].preset", "exact_match"),
        (mix_text({"preset": "exact_match", "function": "f.py"}), "rules[0]", "exactly one"),
        (mix_text({}), "rules[0]", "exactly one"),
        (mix_text({"preset": "exact_match", "weight": 0}), "rules[0].weight", "0.01 to 1000"),
        (mix_text({"preset": "exact_match", "weight": 1000.01}), "rules[0].weight", "0.01 to 1000"),
        (mix_text({"preset": "exact_match", "weight": 0.015}), "rules[0].weight", "0.01"),
        (mix_text({"preset": "exact_match", "weight": "1"}), "rules[0].weight", "number"),
        (mix_text({"preset": "exact_match", "weight": True}), "rules[0].weight", "number"),
        (mix_text({"preset": "exact_match", "params": {"extrct": "boxed"}}), "rules[0].params.extrct", "extract"),
        (mix_text({"preset": "exact_match", "params": {"extract": "box"}}), "rules[0].params.extract", "boxed"),
        (mix_text({"preset": "exact_match", "params": []}), "rules[0].params", "object"),
        (mix_text({"preset": "regex_match"}), "rules[0].params.pattern", "pattern"),
        (mix_text({"preset": "regex_match", "params": {"pattern": ""}}), "rules[0].params.pattern", "pattern"),
        (mix_text({"preset": "regex_match", "params": {"pattern": "("}}), "rules[0].params.pattern", "pattern"),
        (mix_text({"name": "a", "preset": "contains"}, {"name": "a", "preset": "contains"}), "rules[1].name", "name"),
        (mix_text({"preset": "contains", "allow_hosts": []}), "rules[0].allow_hosts", "function"),
        (mix_text({"function": "f.py", "params": {"a": 1}}), "rules[0].params", "preset"),
        (mix_text({"function": "f.py", "allow_hosts": ["http://x"]}), "rules[0].allow_hosts[0]", "host:port"),
        (mix_text({"function": "f.py", "allow_hosts": ["x:99999"]}), "rules[0].allow_hosts[0]", "host:port"),
        (mix_text({"function": ""}), "rules[0].function", "path"),
        ('{"rules": [{"preset": "exact_match", "weight": 1e999}]}', "rules[0].weight", "0.01 to 1000"),
        ('{"rules": [{"preset": "exact_match", "params": {"match": 1e999}}]}', "rules[0].params.match", "finite"),
        (
            '{"rules": [{"preset": "exact_match", "params": {"match": 1%s}}]}' % ("0" * 400),
            "rules[0].params.match",
            "finite",
        ),
        ('{"rules": [{"preset": "exact_match", "weight": 1e9999999999999999999}]}', "", "out of range"),
        ('{"rules": %s}' % ("[" * 100_000), "", "JSON"),
    ],
)
def test_an_unusable_mix_is_refused_with_its_place_and_what_is_allowed(text, where, message):
    with pytest.raises(InputError, match=message) as refused:
        read_mix(text)
    assert refused.value.where == where


def test_rules_without_a_name_are_called_after_their_preset_or_function():
    rules = [{"preset": "contains"}, {"preset": "contains"}, {"function": "dir/f.py"}, {"function": "len@3"}]
    assert [rule.name for rule in read_mix(mix_text(*rules)).rules] == ["contains", "contains_2", "f", "len"]
    clash = mix_text({"preset": "contains"}, {"name": "contains", "preset": "contains"})
    assert [rule.name for rule in read_mix(clash).rules] == ["contains_2", "contains"]


def test_weights_stay_the_decimals_that_were_typed():
    assert read_mix(mix_text({"preset": "contains", "weight": 0.35})).rules[0].weight == Decimal("0.35")
    assert read_mix(mix_text({"preset": "contains"})).rules[0].weight == 1
    assert '"weight": 0.35' in write_mix(Mix("m", (Rule("r", Decimal("0.35"), preset="contains"),)))
    assert read_weight(7) == 7


def test_a_decoded_mix_may_carry_float_weights():
    assert mix_from_json({"rules": [{"preset": "contains", "weight": 0.29}]}).rules[0].weight == Decimal("0.29")


@given(st.lists(st.tuples(weights, st.floats(-1e6, 1e6)), min_size=1, max_size=5))
def test_the_weighted_sum_is_the_exact_sum_rounded_once(terms):
    total = sum(Fraction(weight) * Fraction(repr(reward)) for weight, reward in terms)
    assert weighted_sum([w for w, _ in terms], [r for _, r in terms]) == float(total)


@given(weights, st.integers(-1000, 1000), st.integers(-1000, 1000))
def test_the_weighted_sum_is_linear_in_the_rewards(weight, first, second):
    apart = [Fraction(repr(weighted_sum([weight], [cents / 100]))) for cents in (first, second)]
    assert weighted_sum([weight, weight], [first / 100, second / 100]) == float(sum(apart))
    assert weighted_sum([weight], [(first + second) / 100]) == float(sum(apart))


def test_sums_come_out_as_typed():
    assert weighted_sum([Decimal(1)] * 3, [0.1] * 3) == 0.3
    assert weighted_sum([Decimal("0.1"), Decimal("0.2")], [1.0, 1.0]) == 0.3
    assert str(weighted_sum([Decimal(1)], [-0.0])) == "0.0"
    with pytest.raises(ExecutionError):
        weighted_sum([Decimal(1000)], [1e308])


def test_the_version_names_what_is_computed():
    mix = read_mix(DOCUMENTED)
    hashes = {"custom": "7f3a"}
    version = mix_version(mix, hashes)
    assert len(version) == 12
    assert version == mix_version(Mix("renamed", mix.rules), hashes)
    assert version == mix_version(read_mix(DOCUMENTED.replace("{}", '{"match": 1}')), hashes)
    assert version != mix_version(read_mix(DOCUMENTED.replace("0.1", "0.2")), hashes)
    assert version != mix_version(mix, {"custom": "0000"})
    with pytest.raises(KeyError):
        mix_version(mix, {})
