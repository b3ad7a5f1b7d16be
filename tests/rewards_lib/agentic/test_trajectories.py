"""Loading a trajectory, laying it out in tokens, and being told what is wrong with it."""

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.agentic import (
    Part,
    Strategy,
    credit_tokens,
    find_group_traps,
    find_traps,
    lay_out,
    pieces_from,
    read_trajectories,
    split_by_bytes,
    split_by_words,
)
from rewards_lib.agentic.trajectories.chat_template import render
from rewards_lib.agentic.trajectories.trajectory import TokenRecord, Trajectory
from rewards_lib.errors import InputError
from rewards_lib.rollouts.rollout import told_cut

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "trajectories"
CALL = {"type": "function", "function": {"name": "python", "arguments": '{"code": "print(17 * 23)"}'}}
TALK = [
    {"role": "system", "content": "You may call python."},
    {"role": "user", "content": "What is 17 * 23?"},
    {"role": "assistant", "content": "<think>Compute it.</think>\n", "tool_calls": [CALL]},
    {"role": "tool", "content": "391"},
    {"role": "assistant", "content": "It is 391."},
]
messages = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "user", "assistant", "tool", "critic"]), "content": st.text(max_size=30)}
    ),
    min_size=1, max_size=6,
)  # fmt: skip


def load(row):
    return read_trajectories(json.dumps(row)).trajectories[0]


def rules(trajectory, track=None):
    return {finding.rule for finding in find_traps(trajectory, track or lay_out(trajectory, split_by_words))}


def trained_text(track):
    return "".join(piece.text for piece, trained in zip(track.pieces, track.mask, strict=True) if trained)


def test_what_the_policy_wrote_is_trained_and_nothing_else():
    track = lay_out(load({"messages": TALK}), split_by_words)
    call = '<tool_call>\n{"name": "python", "arguments": {"code": "print(17 * 23)"}}\n</tool_call>'
    assert trained_text(track) == f"<think>Compute it.</think>\n{call}<|im_end|>It is 391.<|im_end|>"


def test_a_sound_trajectory_has_no_trap_but_the_reasoning_that_templates_drop():
    assert rules(load({"messages": TALK})) == {"dropped_reasoning"}
    assert rules(load({"messages": [TALK[1], TALK[4]]})) == set()


def test_tool_output_in_the_loss_is_an_error_with_its_tokens_counted():
    trajectory = load({"messages": TALK})
    track = lay_out(trajectory, split_by_words, trained={Part.ANSWER, Part.TOOL})
    worst = find_traps(trajectory, track)[0]
    assert (worst.severity, worst.rule) == ("error", "tool_output_in_the_loss")
    assert str(worst.message).startswith("Tool output is in the loss (tokens: 1)")


@pytest.mark.parametrize("part", [Part.USER, Part.SYSTEM, Part.TEMPLATE])
def test_whatever_else_the_policy_did_not_write_is_told_as_well(part):
    trajectory = load({"messages": TALK})
    track = lay_out(trajectory, split_by_words, trained={Part.ANSWER, Part.END, part})
    assert f"{part.value} in the loss".replace(" ", "_") in rules(trajectory, track)


def test_answers_that_the_prompt_brings_along_are_history_and_not_trained():
    prompt = [
        {"role": "user", "content": "2+2?"},
        {"role": "assistant", "content": "4"},
        {"role": "user", "content": "3+3?"},
    ]
    trajectory = load({"sample": {"messages": prompt, "extra": {}}, "completion": "6", "reward": 1})
    track = lay_out(trajectory, split_by_words)
    assert trained_text(track) == "6<|im_end|>"
    every = lay_out(trajectory, split_by_words, trained=set(Part))
    assert "earlier_answer_in_the_loss" in rules(trajectory, every)


def test_ends_of_turns_outside_the_mask_are_told():
    trajectory = load({"messages": TALK})
    assert "untrained_end" in rules(trajectory, lay_out(trajectory, split_by_words, trained={Part.ANSWER}))


def test_a_cut_end_has_no_end_of_turn_and_is_told():
    trajectory = load({"messages": TALK, "finish_reason": "length"})
    assert trained_text(lay_out(trajectory, split_by_words)).endswith("It is 391.")
    assert "truncated_end" in rules(trajectory)


@pytest.mark.parametrize(
    "told",
    [
        {"finish_reason": "MAX_TOKENS"},
        {"stop_reason": "max_length"},
        {"truncated": True},
        {"finish_reason": "stop"},
        {"stop_condition": "length", "is_truncated": False},
        {},
    ],
)
def test_a_cut_is_read_as_every_file_of_rollouts_is(told):
    assert load({"messages": TALK, **told}).truncated == bool(told_cut(told))
    assert told_cut({}) is None


def test_a_trajectory_that_ends_with_tool_output_is_told():
    assert "no_answer" in rules(load({"messages": TALK[:4]}))


@pytest.mark.parametrize(
    ("mask", "rule"),
    [([0, 1], "mask_length"), ([0, 1, 1, 1], "mask_length"), ([0, 0, 0], "empty_mask"), ([1, 1, 0], "first_token")],
)
def test_a_mask_that_does_not_fit_its_tokens_is_told(mask, rule):
    trajectory = load({"tokens": [5, 6, 7], "mask": mask})
    track = lay_out(trajectory, split_by_words)
    assert len(track.mask) == 3
    assert rule in rules(trajectory, track)


def test_kl_of_another_length_is_left_aside_and_told():
    trajectory = load({"tokens": [5, 6], "mask": [0, 1], "kl": [0.1]})
    track = lay_out(trajectory, split_by_words)
    assert (track.kl, "kl_length" in rules(trajectory, track)) == (None, True)
    with pytest.raises(InputError, match="carries no KL"):
        credit_tokens(Strategy.KL_WEIGHTED, 1.0, track)


def test_the_strategies_give_the_worked_numbers_on_the_example():
    five = read_trajectories((EXAMPLES / "tokens.jsonl").read_text()).trajectories[0]
    track = lay_out(five, split_by_words)
    found = {strategy: credit_tokens(strategy, five.reward, track) for strategy in Strategy}
    assert found[Strategy.LAST_TOKEN].tolist() == [0, 0, 0, 0, 0, 0, 0, 1, 0]
    assert found[Strategy.KL_WEIGHTED][5] == pytest.approx(0.666667, abs=1e-6)
    assert [round(float(values.sum()), 9) for values in found.values()] == [1, 1, 1, 5]


def test_text_that_tokenises_otherwise_in_one_go_is_told_with_the_place():
    def pairs(texts):
        return [split_by_words([text[place : place + 2] for place in range(0, len(text), 2)]) for text in texts]

    def split(texts):
        return [[piece for row in rows for piece in row] for rows in pairs(texts)]

    trajectory = load({"messages": [{"role": "user", "content": "abc"}, {"role": "assistant", "content": "d"}]})
    found = [one for one in find_traps(trajectory, lay_out(trajectory, split)) if one.rule == "retokenised"]
    assert "they part at token" in str(found[0].message)


@given(messages)
def test_the_tokens_of_any_conversation_joined_are_its_text_and_the_mask_is_as_long(talk):
    trajectory = Trajectory("any", "", None, messages=tuple(talk))
    text = "".join(piece.text for piece in render(trajectory))
    track = lay_out(trajectory, split_by_words)
    assert "".join(piece.text for piece in track.pieces) == text
    assert len(track.mask) == len(track.pieces) == len(track.part_of)
    in_bytes = lay_out(trajectory, split_by_bytes)
    assert bytes(piece.id for piece in in_bytes.pieces) == text.encode("utf-8", "surrogatepass")


@given(st.lists(st.integers(0, 1), max_size=8), st.lists(st.integers(0, 9), max_size=8))
def test_any_mask_over_any_tokens_is_laid_out_and_judged(mask, tokens):
    trajectory = Trajectory("any", "", 1.0, tokens=TokenRecord(tuple(tokens), tuple(mask)))
    track = lay_out(trajectory, split_by_words)
    assert len(track.mask) == len(tokens)
    assert (len(mask) != len(tokens)) == ("mask_length" in rules(trajectory, track))


def test_a_group_is_judged_by_its_rewards():
    def told(*values):
        return [finding.rule for finding in find_group_traps(values)]

    assert told(1.0, 0.0) == []
    assert told(1.0) == ["group_of_one"]
    assert told(0.3, 0.1 + 0.2) == ["zero_variance"]
    assert told(1.0, 0.0, None) == ["unscored"]


@pytest.mark.parametrize(("name", "count"), [("tool_use", 4), ("tokens", 3), ("atropos_group", 3)])
def test_every_example_loads(name, count):
    loaded = read_trajectories((EXAMPLES / f"{name}.jsonl").read_text(), name=name)
    assert (len(loaded.trajectories), loaded.bad_rows) == (count, ())
    for trajectory in loaded.trajectories:
        assert any(lay_out(trajectory, split_by_words).mask)


def test_labels_with_minus_hundred_are_read_as_a_mask():
    group = read_trajectories((EXAMPLES / "atropos_group.jsonl").read_text())
    assert [set(one.tokens.mask) for one in group.trajectories] == [{0, 1}] * 3
    assert len(group.group_of(group.trajectories[0])) == 3


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"messages": TALK}, indent=2),
        json.dumps(TALK),
        json.dumps([{"messages": TALK}]),
        json.dumps({"messages": TALK}) + "\n" + json.dumps({"messages": TALK}) + "\n",
        json.dumps({"input": "user\n2+2?", "output": "4", "score": 1.0, "step": 1}),
        json.dumps({"prompt": TALK[:2], "completion": TALK[2:], "reward": 1.0, "example_id": 3}),
    ],
    ids=["indented", "messages alone", "a list of rows", "lines", "verl", "verifiers"],
)
def test_trajectories_come_in_many_shapes(text):
    first = read_trajectories(text).trajectories[0]
    assert any(lay_out(first, split_by_words).mask)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "JSON"),
        ("[]", "the text is empty"),
        ("[1, 2]", "A row is an object"),
        ('{"messages": []}', "neither an assistant's message nor"),
        ('{"tokens": [1, 2]}', "must be lists"),
        ('{"tokens": [1, [2]], "mask": [0, [1]]}', "tokens is no list"),
        ('{"tokens": [1.5], "mask": [1]}', "a number or a text"),
        ('{"tokens": [1], "mask": ["x"]}', "no number"),
        ('{"tokens": [1], "mask": [7]}', "must hold 0 and 1"),
        ('{"tokens": [1], "mask": [1], "spans": [[0, 1]]}', "A span is"),
        ('{"tokens": [1', "line 1"),
    ],
)
def test_what_is_no_trajectory_is_refused_with_the_reason(text, says):
    with pytest.raises(InputError) as refused:
        read_trajectories(text)
    assert says.lower() in str(refused.value).lower()


@pytest.mark.parametrize("place", [1, 2, 3])
def test_one_bad_line_costs_one_line(place):
    lines = [json.dumps({"messages": TALK}, ensure_ascii=False).replace("391.", "391\u2028.")] * 2
    lines.insert(place - 1, "{oops}")
    loaded = read_trajectories("\n".join(lines))
    assert (len(loaded.trajectories), [bad.row for bad in loaded.bad_rows]) == (2, [place])


def test_spans_that_overlap_are_refused():
    record = TokenRecord((1, 2), (0, 1), (("user", 0, 2), ("assistant", 1, 2)))
    trajectory = Trajectory("overlap", "", None, tokens=record)
    with pytest.raises(InputError, match="begins before"):
        lay_out(trajectory, split_by_words)


def test_a_tokenizer_json_splits_in_the_confined_worker():
    tokenizers = pytest.importorskip("tokenizers")
    from rewards_lib.executor import Executor

    words = ["[UNK]", "It", "is", "391", "."]
    model = tokenizers.models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]")
    made = tokenizers.Tokenizer(model)
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    item = {"tokenizer": made.to_str(), "texts": ["It is 391.", "What?"]}
    with Executor() as executor:
        entry = "rewards_lib.agentic.trajectories.tokenizers:split_with_file"
        good, bad = executor.run_items(entry, [item, item | {"tokenizer": "{}"}], item_seconds=20)
    assert [[(one.text, one.id) for one in row] for row in pieces_from(good.value)] == [
        [("It", 1), (" is", 2), (" 391", 3), (".", 4)],
        [("What", 0), ("?", 0)],
    ]
    assert bad.value is None
    assert bad.error is not None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from(["role", "content", "tool_calls"]), inner, max_size=4),
    max_leaves=8,
)  # fmt: skip
KEYS = ["messages", "tokens", "mask", "masks", "spans", "kl", "reward", "scores", "sample", "completion", "truncated"]


@given(st.dictionaries(st.sampled_from(KEYS), json_values, max_size=6))
def test_whatever_a_row_holds_it_is_read_or_refused_in_a_sentence(row):
    with contextlib.suppress(InputError):
        for trajectory in read_trajectories(json.dumps(row)).trajectories:
            find_traps(trajectory, lay_out(trajectory, split_by_words))


def test_half_a_surrogate_pair_becomes_a_sign_that_can_be_shown():
    talk = [{"role": "user", "content": "a\ud800b"}, {"role": "assistant", "content": "\U0001f600"}]
    trajectory = load({"messages": talk, "id": "\ud800"})
    assert [message["content"] for message in trajectory.messages] == ["a\ufffdb", "\U0001f600"]
    trajectory.name.encode("utf-8")


def test_bare_conversations_are_grouped_by_their_prompt_unless_they_name_a_group():
    cut = TALK[:4]  # ends with tool output: no format of rollouts claims it
    other = [TALK[0], {"role": "user", "content": "What is 2 * 3?"}, *TALK[2:4]]
    rows = [{"messages": cut, "id": 1}, {"messages": other, "id": 2}, {"messages": cut, "id": 3}]
    loaded = read_trajectories("\n".join(json.dumps(row) for row in rows))
    assert [one.name for one in loaded.group_of(loaded.trajectories[0])] == ["1", "3"]
    assert load({"messages": cut, "group": "mine"}).group == "mine"


def test_a_row_whose_spans_overlap_is_told_with_its_number_and_the_others_are_read():
    sound = {"tokens": [1, 2, 3], "mask": [0, 1, 1], "spans": [["user", 0, 1], ["assistant", 1, 3]]}
    rows = [sound, {**sound, "spans": [["user", 0, 2], ["assistant", 1, 3]]}]
    loaded = read_trajectories("\n".join(json.dumps(row) for row in rows))
    assert (len(loaded.trajectories), [bad.row for bad in loaded.bad_rows]) == (1, [2])
    assert "begins before the span in front of it ends" in str(loaded.bad_rows[0].problem)
