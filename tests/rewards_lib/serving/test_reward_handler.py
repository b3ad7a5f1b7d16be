"""Payload in, rewards out: every dialect, every refusal, and never a number that was not computed."""

import json

import pytest

from rewards_lib.mix import read_mix
from rewards_lib.payloads import read_payload
from rewards_lib.publishing import publish_function, publish_mix
from rewards_lib.scoring import score_payload, without_functions
from rewards_lib.strict_json import write_json
from tests.rewards_lib.serving.conftest import GOOD, ROOT

ENVELOPE = (ROOT / "examples/payloads/ark_envelope.json").read_bytes()


def ask(handler, reference, body, dialect="ark"):
    return handler.answer(dialect, reference, body if isinstance(body, bytes) else json.dumps(body).encode())


def sample(answer="0.5"):
    return {"messages": [], "extra": {"answer": answer}}


def test_the_envelope_gets_the_documented_shape_and_the_consoles_rewards(handler, executor):
    answer = ask(handler, "math", ENVELOPE)
    mix = read_mix((ROOT / "examples/math/mix.json").read_text())
    result = score_payload(mix, read_payload(ENVELOPE), executor=executor, resolve=without_functions)
    assert answer.http_status == 200
    assert list(answer.body) == ["rewards", "metrics", "status"]
    assert answer.body == result.response()
    assert answer.headers["X-Reward-Version"] == "math@1"
    assert answer.headers["X-Mix-Version"] == result.mix_version


def test_a_nan_of_a_function_is_null_with_a_reason_and_no_token_nan_leaves(handler):
    answer = ask(handler, "nan", {"sample": sample(), "completions": ["a", "b"]})
    assert (answer.http_status, answer.body["rewards"], answer.body["status"]) == (200, [None, 1.0], "failure")
    assert "nan" in answer.body["error"]
    assert "NaN" not in write_json(answer.body)
    assert "Infinity" not in write_json(answer.body)


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (b"{", "line 1"),
        (b"", "nothing here"),
        (b'{"sample": {}, "completions": [NaN]}', "NaN"),
        (b"[]", "a list"),
        (b'{"sample": {"extra": 3}, "completions": ["a"]}', "sample.extra"),
        (b'{"data": {"sample": {}, "completions": []}}', "data.completions"),
        (b'{"sample": {}, "completions": [3]}', "completions[0]"),
        (b'{"sample": {}}', "completions"),
    ],
)
def test_a_wrong_shape_is_422_with_its_path(handler, body, path):
    answer = ask(handler, "math", body)
    assert answer.http_status == 422
    assert path in answer.body["error"]
    assert "rewards" not in answer.body


def test_an_unknown_name_is_404_with_the_nearest_names(handler):
    answer = ask(handler, "maths", {"sample": sample(), "completions": ["a"]})
    assert answer.http_status == 404
    assert "math" in answer.body["error"]
    assert ask(handler, "math@9", {"sample": sample(), "completions": ["a"]}).http_status == 404
    assert ask(handler, "math@x", {"sample": sample(), "completions": ["a"]}).http_status == 422


def test_a_version_published_meanwhile_answers_the_next_request(handler, store):
    body = {"sample": sample(), "completions": ["abc"]}
    assert ask(handler, "length", body).body["rewards"] == [3.0]
    longer = {"source": GOOD.replace("float(len", "10 * float(len"), "requirements": "", "allow_hosts": []}
    publish_function(store, "length", longer)
    assert ask(handler, "length", body).body["rewards"] == [30.0]
    assert ask(handler, "length@1", body).body["rewards"] == [3.0]
    store.withdraw("function", "length", 2)
    assert ask(handler, "length", body).body["rewards"] == [3.0]
    gone = ask(handler, "length@2", body)
    assert (gone.http_status, gone.body["code"]) == (410, "withdrawn")


def test_openrlhf_gets_a_list_each(handler):
    body = {
        "query": ["Q: so \\boxed{0.5}<|im_end|>", "Q: no", "Z: \\boxed{2}</s>"],
        "prompts": ["Q: ", "Q: ", "Z: "], "labels": ["0.5", "0.5", "2"],
    }  # fmt: skip
    answer = ask(handler, "math", body, "openrlhf")
    assert answer.http_status == 200
    assert answer.body == {"rewards": [0.35, 0.0, 0.35], "scores": [0.35, 0.0, 0.35], "extra_logs": {}}


def test_openrlhf_gets_metrics_for_each_query(handler):
    answer = ask(handler, "length", {"query": ["ab", "abc"], "prompts": [], "labels": []}, "openrlhf")
    assert answer.body == {"rewards": [2.0, 3.0], "scores": [2.0, 3.0], "extra_logs": {"n": [2.0, 2.0]}}


@pytest.mark.parametrize("body", [{"query": []}, {"query": "a"}, {"query": ["a"], "labels": ["1", "2"]}, []])
def test_a_wrong_shape_of_openrlhf_is_422(handler, body):
    assert ask(handler, "math", body, "openrlhf").http_status == 422


def test_slime_gets_the_bare_number(handler):
    body = {"prompt": [{"role": "user", "content": "half?"}], "response": "so \\boxed{0.5}<|im_end|>", "label": "0.5"}
    assert ask(handler, "math", body, "slime").body == 0.35
    label = {"answer": "2", "level": 3}
    assert ask(handler, "math", {"prompt": "", "response": "\\boxed{2}", "label": label}, "slime").body == 0.35


@pytest.mark.parametrize("dialect", ["openrlhf", "slime"])
def test_what_is_unscored_is_503_where_the_dialect_has_no_word_for_it(handler, dialect):
    body = {"query": ["\\boxed{2}"]} if dialect == "openrlhf" else {"prompt": "", "response": "\\boxed{2}"}
    answer = ask(handler, "math", body, dialect)
    assert (answer.http_status, answer.body["code"]) == (503, "unscored")
    assert answer.headers["Retry-After"]
    assert "ground truth" in answer.body["error"]


def test_the_log_is_told_what_scored_and_what_was_missing(handler):
    facts = ask(handler, "nan", {"sample": sample(), "completions": ["a", "b"]}).facts
    assert (facts.version, facts.completions, facts.unscored, facts.status) == ("nan@1", 2, 1, "failure")
    assert facts.mix_version
    assert facts.score_ms > 0


def test_a_mix_published_with_another_weight_pays_by_it(handler, store):
    text = (ROOT / "examples/math/mix.json").read_text().replace("0.35", "0.5")
    publish_mix(store, "math", read_mix(text), without_functions)
    assert ask(handler, "math", {"sample": sample(), "completions": ["\\boxed{0.5}"]}).body["rewards"] == [0.5]
    assert ask(handler, "math@1", {"sample": sample(), "completions": ["\\boxed{0.5}"]}).body["rewards"] == [0.35]


def test_a_name_in_chinese_is_served_and_told_in_ascii(handler, store):
    publish_mix(store, "数学", read_mix((ROOT / "examples/math/mix.json").read_text()), without_functions)
    answer = ask(handler, "数学", ENVELOPE)
    assert (answer.http_status, answer.headers["X-Reward-Version"]) == (200, "%E6%95%B0%E5%AD%A6@1")
    assert ask(handler, "数学", b"{").headers["X-Reward-Version"].isascii()
