"""Reading requests: every accepted shape, and one clear sentence for everything else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.errors import InputError
from rewards_lib.payloads import DIALECTS, MAX_PAYLOAD_BYTES, decode, read_payload
from tests.strategies import bare_payloads, json_values

SAMPLE = {"messages": [{"role": "user", "content": "What is 1/2?"}], "extra": {"answer": "0.5"}}
OK = {"role": "assistant", "content": "ok"}


def bare(*completions, **sample):
    return {"sample": {**SAMPLE, **sample}, "completions": list(completions)}


@pytest.mark.parametrize(
    "completion",
    ["ok", OK, [OK], {"messages": OK}, {"messages": [OK]}, {"messages": "ok"}, {"content": "ok"}],
)
def test_a_completion_is_read_in_every_accepted_shape(completion):
    assert decode(bare(completion)).completions[0].text == "ok"


def test_the_last_assistant_message_is_the_text_not_a_tool_result():
    completion = {"messages": [{"role": "assistant", "content": "12"}, OK, {"role": "tool", "content": "logged"}]}
    assert decode(bare(completion)).completions[0].text == "ok"


def test_parts_are_joined_and_null_content_is_empty():
    parts = [{"type": "text", "text": "Par"}, {"type": "image_url", "image_url": {}}, {"type": "text", "text": "is"}]
    payload = decode(bare({"role": "assistant", "content": parts}, {"role": "assistant", "content": None}))
    assert [completion.text for completion in payload.completions] == ["Paris", ""]


@pytest.mark.parametrize(
    ("value", "dialect"),
    [
        ({"data": bare("x"), "method": "POST", "path": "/", "headers": {}}, "ark"),
        (bare("x"), "bare"),
        ({**SAMPLE, "completions": ["x"]}, "dataset row"),
    ],
)
def test_the_dialect_is_told_by_its_keys(value, dialect):
    payload = decode(value)
    assert (payload.dialect, payload.sample.extra["answer"]) == (dialect, "0.5")


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ([], "a list; an object is expected"),
        ({"data": 3}, "data is a number"),
        ({"completions": ["x"]}, "sample is missing"),
        (bare(), "completions is empty"),
        ({"sample": SAMPLE}, "completions is missing"),
        ({"data": {"sample": SAMPLE}}, "data.completions is missing"),
        (bare(3), "completions[0] is a number"),
        (bare("x", {"text": "y"}), "completions[1] has neither messages nor content"),
        (bare({"messages": [{"content": 3}]}), "completions[0].messages[0].content is a number"),
        (bare("x", messages="hello"), "sample.messages is a text"),
        (bare("x", extra=[1]), "sample.extra is a list"),
        ({**bare("x"), "context": 1}, "context is a number"),
    ],
)
def test_a_wrong_shape_is_refused_with_its_json_path(value, what):
    with pytest.raises(InputError) as refused:
        decode(value)
    assert what in str(refused.value)


def test_a_request_over_the_limit_is_refused_with_both_sizes():
    with pytest.raises(InputError, match=r"at most 64 MB"):
        read_payload(" " * (MAX_PAYLOAD_BYTES + 1))


def reads(read, given_):
    """Whether it reads; a refusal must be one of ours, with a sentence."""
    try:
        read(given_)
    except InputError as error:
        return bool(str(error))
    return True


@given(json_values)
def test_decoding_any_json_value_gives_a_payload_or_an_input_error(value):
    assert reads(decode, value)


@given(st.text())
def test_reading_any_text_gives_a_payload_or_an_input_error(text):
    assert reads(read_payload, text)


@given(st.binary())
def test_reading_any_bytes_gives_a_payload_or_an_input_error(data):
    assert reads(read_payload, data)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(body=bare_payloads)
def test_what_a_dialect_encodes_it_decodes_to_the_same_payload(dialect, body):
    decode_as, encode = DIALECTS[dialect]
    payload = DIALECTS["bare"][0](body)
    again = decode_as(json.loads(json.dumps(encode(payload))))
    assert (again.sample, again.completions) == (payload.sample, payload.completions)


# --- accidents -----------------------------------------------------------------------------------------------------


def paths(payload, rule):
    return [finding.path for finding in payload.findings if finding.rule == rule]


def test_latex_that_json_turned_into_control_characters_is_found_with_its_path():
    text = (
        r'{"sample": {"messages": [{"role": "user", "content": "use \boxed{}"}], "extra": {"answer": "\frac{1}{2}"}},'
    )
    payload = read_payload(text + r' "completions": ["\\boxed{\\frac12}", "a \times b", "two\nlines\tof text"]}')
    assert paths(payload, "lost_backslash") == ["sample.messages[0].content", "sample.extra.answer", "completions[1]"]
    assert r"\f" in str(payload.findings[1].message)


def test_code_in_another_language_than_the_sample_names_is_found():
    payload = decode(
        bare("```cpp\nint main(){}\n```", "```py\nprint(1)\n```", extra={"answer": "", "language": "python"})
    )
    assert paths(payload, "other_language") == ["completions[0]"]


def test_unused_fields_and_a_missing_ground_truth_are_hints():
    payload = decode({**bare("x", extra={}), "label": 3})
    assert paths(payload, "unused_field") == ["label"]
    assert paths(payload, "no_ground_truth") == ["sample.extra.answer"]


def test_a_thousand_accidents_of_a_kind_are_told_twenty_times():
    payload = decode(bare(*["\fracture"] * 1000))
    assert len(paths(payload, "lost_backslash")) == 20
