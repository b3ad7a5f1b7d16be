"""Each neighbour's shape: recognised by its keys, with its groups, rewards and ground truth where they belong."""

import csv
import json

import pytest

from rewards_lib.contract import Completion
from rewards_lib.errors import InputError
from rewards_lib.rollouts import BadRow, Rollout, open_rollouts

USER = {"role": "user", "content": "1+1?"}
NEMO = {
    "responses_create_params": {"input": [USER], "tools": []},
    "response": {
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
            {"type": "function_call", "name": "add", "arguments": "{}", "call_id": "c"},
            {"type": "function_call_output", "call_id": "c", "output": "2"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "\\boxed{2}"}]},
        ],
        "usage": {"output_tokens": 9},
    },
    "reward": 1.0,
    "reward_components": {"right": 1.0},
    "expected_answer": "2",
    "_ng_task_index": 3,
}
EVALUATION = {
    "messages": [USER, {"role": "assistant", "content": "2"}],
    "input_metadata": {"row_id": "r"},
    "ground_truth": "2",
    "evaluation_result": {"score": 1.0, "is_score_valid": True, "metrics": {"m": {"score": 0.5}}},
}
VERIFIERS = {
    "id": 0, "prompt": [USER], "reward": 1.0, "answer": "2", "info": {}, "calls": 1.0, "right_reward_func": 1.0,
    "completion": [
        {"role": "assistant", "content": None, "tool_calls": ['{"function": {"name": "add"}}']},
        {"role": "assistant", "content": "2", "tool_calls": None},
    ],
}  # fmt: skip
VERL = {"input": "user\n1+1?", "output": "2", "gts": "2", "score": 1.0, "step": 4, "acc": True, "pred": "2"}
TRL = {
    "step": 1, "prompt": [USER], "completion": [{"role": "assistant", "content": "2"}], "a": 0.5, "b": float("nan"),
    "len": 3, "advantage": 0.1,
}  # fmt: skip
SAMPLES = {"problem": "1+1?", "answer": "2", "generations": ["2", "3"], "correctness_math": [True, False]}
GSM8K = {
    "question": "1+1?",
    "ground_truth": "It is\nA: 2",
    "6b": {"solution": "A: 2", "is_correct": True},
    "175b": {"solution": "A: 3", "is_correct": False},
}
ATROPOS = {
    "tokens": [[1, 2], [1, 3]], "masks": [[-100, 2], [-100, -100]], "scores": [1.0, 0.0],
    "messages": [[USER, {"role": "assistant", "content": "2"}], [USER, {"role": "assistant", "content": "3"}]],
}  # fmt: skip
ARK = {"messages": [USER], "extra": {"answer": "2"}, "completions": ["2", {"messages": {"content": "3"}}]}
SCORED = {"id": "a", "group": "g", "reward": 1.1, "rules": {"x": 1.0, "y": None}, "status": "success"}
TABLE = {"question": "1+1?", "response": "2", "answer": "2", "score": 1}

LM_EVAL = {
    "doc_id": 5, "doc": {"question": "1+1?", "answer": "so 2\n#### 2"}, "target": "2", "resps": [["It is 2"]],
    "arguments": {"gen_args_0": {"arg_0": "Q: 1+1?", "arg_1": {"until": ["\n"]}}}, "filtered_resps": ["2"],
    "filter": "strict-match", "metrics": ["exact_match"], "doc_hash": "h", "exact_match": 1.0,
}  # fmt: skip
TALK = {"messages": [USER, {"role": "assistant", "content": "2"}], "reward": 1.0, "ground_truth": "2"}

CASES = {
    "nemo_gym": (NEMO, ["\\boxed{2}"], [1.0]),
    "evaluation_row": (EVALUATION, ["2"], [1.0]),
    "verifiers": (VERIFIERS, ["2"], [1.0]),
    "verl": (VERL, ["2"], [1.0]),
    "trl": (TRL, ["2"], [0.5]),
    "samples_per_row": (SAMPLES, ["2", "3"], [1.0, 0.0]),
    "gsm8k": (GSM8K, ["A: 2", "A: 3"], [1.0, 0.0]),
    "atropos": (ATROPOS, ["2", "3"], [1.0, 0.0]),
    "columns": (TABLE, ["2"], [1.0]),
    "lm_eval": (LM_EVAL, ["It is 2"], [1.0]),
    "conversation": (TALK, ["2"], [1.0]),
}


def read(path):
    file = open_rollouts(path)
    return file.format.name, list(file)


@pytest.mark.parametrize("name", CASES)
def test_a_row_is_recognised_and_read(write, name):
    row, texts, rewards = CASES[name]
    found_name, found = read(write([json.dumps(row)]))
    assert found_name == name
    assert [one.text for one in found] == texts
    assert [one.recorded.reward for one in found] == rewards
    assert len({one.group for one in found}) == 1
    if name not in ("trl", "atropos"):
        assert found[0].sample["extra"]["answer"] == "2"


def test_nemo_gym_keeps_reasoning_and_tools_apart_from_the_answer(write):
    _, [found] = read(write([NEMO]))
    assert [message["role"] for message in Completion(found.completion).messages] == ["assistant", "tool", "assistant"]
    assert (found.group, found.recorded.rules) == ("task-3", {"right": 1.0})
    assert Completion(found.completion).token_count == 9


def test_an_evaluation_without_result_or_with_an_invalid_one_is_unscored(write):
    without = {key: value for key, value in EVALUATION.items() if key != "evaluation_result"}
    invalid = EVALUATION | {"evaluation_result": {"score": 0.0, "is_score_valid": False}}
    _, found = read(write([EVALUATION, without, invalid]))
    assert [one.recorded.reward for one in found] == [1.0, None, None]


def test_a_tool_call_given_as_json_text_is_parsed(write):
    _, [found] = read(write([VERIFIERS]))
    assert found.completion["messages"][0]["tool_calls"] == [{"function": {"name": "add"}}]
    assert found.recorded.rules == {"right_reward_func": 1.0}
    assert found.recorded.metrics == {"calls": 1.0}


def test_rows_of_verifiers_are_grouped_by_the_example_and_not_by_an_id_that_counts_rows(write):
    prompts = [[USER], [USER | {"content": "1+2?"}]]
    rows = [VERIFIERS | {"id": n // 2, "prompt": prompts[n % 2], "answer": "23"[n % 2]} for n in range(4)]
    first, second, third, fourth = (one.group for one in read(write(rows))[1])
    assert (first, second) == (third, fourth)
    assert first != second


def test_examples_of_verifiers_with_one_prompt_and_their_own_answers_are_groups_of_their_own(write):
    games = [VERIFIERS | {"answer": word} for word in ("crane", "slate", "crane")]
    first, second, third = (one.group for one in read(write(games))[1])
    assert first == third != second
    numbered = [VERIFIERS | {"example_id": number} for number in (4, 5)]
    assert [one.group for one in read(write(numbered))[1]] == ["example-4", "example-5"]


def test_a_reward_function_of_trl_that_gave_nan_has_no_reward(write):
    _, [found] = read(write([TRL]))
    assert found.recorded.rules == {"a": 0.5, "b": None}
    assert found.sample["extra"] == {"len": 3}


def test_trl_parquet_is_read(tmp_path):
    import pyarrow
    import pyarrow.parquet

    path = tmp_path / "completions_1.dat"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([TRL, TRL | {"b": 0.25}]), path)
    name, found = read(path)
    assert (name, [one.recorded.reward for one in found]) == ("trl", [0.5, 0.75])


def test_an_ark_row_is_a_group_and_a_row_without_completions_is_kept_apart(write):
    name, found = read(write([ARK, {"messages": [USER]}]))
    assert name == "ark_dataset"
    assert [one.text for one in found[:2]] == ["2", "3"]
    assert isinstance(found[2], BadRow)


def test_a_payload_a_line_is_read_with_and_without_its_envelope(write):
    bare = {"sample": {"messages": [USER], "extra": {"answer": "2"}}, "completions": ["2"]}
    name, found = read(write([bare, {"data": bare, "method": "POST"}]))
    assert (name, [one.text for one in found]) == ("ark_dataset", ["2", "2"])


def test_a_scored_line_needs_no_sample(write):
    name, [found] = read(write([SCORED]))
    assert (name, found.recorded.reward, found.recorded.rules) == ("scored", 1.1, {"x": 1.0, "y": None})


TRACE = {
    "version": 1, "id": "t1",
    "task": {"type": "Sum", "data": {"idx": 7, "prompt": "1+1?", "answer": "2"}, "key": "sum-7"},
    "nodes": [
        {"parent": None, "message": {"role": "system", "content": "Be brief."}, "sampled": False},
        {"parent": 0, "message": USER, "sampled": False},
        {"parent": 1, "message": {"role": "assistant", "content": "a first try"}, "sampled": True},
        {"parent": 1, "sampled": True, "message": {"role": "assistant", "content": None,
         "tool_calls": [{"id": "c", "name": "add", "arguments": "{}"}]}},
        {"parent": 3, "message": {"role": "tool", "content": "2", "tool_call_id": "c"}, "sampled": False},
        {"parent": 4, "message": {"role": "assistant", "content": "2"}, "sampled": True},
    ],
    "rewards": {"right": {"score": 1.0, "weight": 1.0}, "brief": {"score": 0.5, "weight": 0.2}},
    "metrics": {"turns": 2},
    "errors": [], "ok": True, "stop_condition": "agent_completed",
}  # fmt: skip


def test_a_trace_gives_its_last_path_split_where_the_model_first_wrote(write):
    [found] = list(open_rollouts(write([TRACE])))
    assert found.group == "task-sum-7"
    assert [message["role"] for message in found.sample["messages"]] == ["system", "user"]
    assert found.sample["extra"] == {"answer": "2"}
    messages = Completion(found.completion).messages
    assert [message["role"] for message in messages] == ["assistant", "tool", "assistant"]
    assert messages[0]["tool_calls"][0]["function"] == {"name": "add", "arguments": "{}"}
    assert found.text == "2"
    assert found.recorded.reward == pytest.approx(1.1)
    assert found.recorded.rules == {"right": 1.0, "brief": 0.5}


def test_a_trace_whose_scoring_did_not_run_or_that_failed_is_unscored(write):
    never = TRACE | {"rewards": {"right": None, "brief": {"score": 0.5, "weight": 0.2}}}
    failed = TRACE | {"errors": [{"type": "TimeoutError", "message": "too slow"}], "ok": False}
    wrapped = {"trace": TRACE}
    found = list(open_rollouts(write([never, failed, wrapped])))
    assert [one.recorded.reward for one in found] == [None, None, pytest.approx(1.1)]
    assert found[1].recorded.error == "too slow"


def test_a_trace_with_a_parent_that_is_not_there_is_a_bad_row(write):
    nodes = [TRACE["nodes"][0], {"parent": 9, "message": USER}]
    circle = [{"parent": 1, "message": USER}, {"parent": 0, "message": USER}]
    found = list(open_rollouts(write([TRACE, TRACE, TRACE | {"nodes": nodes}, TRACE | {"nodes": circle}])))
    assert [isinstance(one, BadRow) for one in found] == [False, False, True, True]


# --- quirks of real files ------------------------------------------------------------------------------------------


def one(write, row):
    name, found = read(write([json.dumps(row)]))
    assert isinstance(found[0], Rollout), found
    return name, found


def problem(write, row):
    """Why a file of this row is refused, or its only row kept apart."""
    try:
        return str(next(iter(open_rollouts(write([json.dumps(row)])))).problem)
    except InputError as error:
        return str(error.message)


def test_older_samples_of_lm_eval_list_their_arguments_and_name_filters_in_metrics(write):
    row = {"doc_id": 0, "doc": {}, "target": "968", "arguments": [["Question 0"]], "resps": [["so 968"]]}
    name, [found] = one(write, row | {"exact_match,none": 0.0, "other,none": 1.0})
    assert (name, found.sample["messages"][0]["content"], found.recorded.reward) == ("lm_eval", "Question 0", 0.0)


def test_choices_judged_by_likelihood_are_no_rollouts(write):
    row = {"doc_id": 0, "doc": {}, "target": 1, "arguments": [["Q", "A"], ["Q", "B"]], "acc": 1.0}
    assert "likelihood" in problem(write, row | {"resps": [[[-3.0, False]], [[-1.0, True]]]})


def test_two_filters_over_one_answer_are_two_groups(write):
    _, found = read(write([LM_EVAL, LM_EVAL | {"filter": "flexible-extract"}]))
    assert len({one.group for one in found}) == 2


def test_a_conversation_of_sharegpt_is_read_and_an_unknown_speaker_is_kept_apart(write):
    talk = [{"from": "system", "value": "s"}, {"from": "human", "value": "1+1?"}, {"from": "gpt", "value": "2"}]
    name, [found] = one(write, {"id": "a_0", "conversations": talk})
    assert (name, found.id, found.text, found.recorded) == ("conversation", "a_0", "2", None)
    assert [message["role"] for message in found.sample["messages"]] == ["system", "user"]
    good = {"conversations": talk}
    _, found = read(write([good, {"conversations": [{"from": "narrator", "value": "x"}, *talk]}]))
    assert "narrator" in str(found[1].problem)


def test_a_conversation_keeps_tools_between_the_question_and_the_last_word(write):
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "add"}}]}
    talk = [USER, call, {"role": "tool", "content": "2"}, {"role": "assistant", "content": "It is 2"}]
    _, [found] = one(write, {"messages": talk})
    assert [message["role"] for message in found.completion["messages"]] == ["assistant", "tool", "assistant"]


def test_prompts_that_end_with_the_user_are_no_conversation(write):
    assert "without completions" in problem(write, {"messages": [USER], "extra": {"answer": "2"}})


def test_several_samples_may_stand_beside_messages_and_come_as_a_samplers_entries(write):
    for entries in (
        ["2", "3"],
        [{"text": "2", "finish_reason": "stop"}, {"text": "3", "finish_reason": "length"}],
        [{"index": 0, "message": {"role": "assistant", "content": "2"}}, {"index": 1, "message": {"content": "3"}}],
    ):
        for key in ("messages", "prompt"):
            name, found = one(write, {key: [USER], "responses": entries, "rewards": [1.0, 0.0], "answer": "2"})
            assert (name, [item.text for item in found]) == ("samples_per_row", ["2", "3"])
            assert [item.recorded.reward for item in found] == [1.0, 0.0]


def test_scores_that_do_not_fit_their_samples_are_told(write):
    row = {"prompt": "1+1?", "responses": ["2", "3"], "rewards": [1.0]}
    assert problem(write, row) == "rewards has 1 entries for 2 completions."


@pytest.mark.parametrize(
    ("row", "names"),
    [
        ({"prompt": "p", "response": "a", "output": "b"}, "response, output"),
        ({"instruction": "Add", "input": "1 and 1", "output": "2"}, "instruction, input"),
    ],
)
def test_columns_that_could_both_be_meant_are_asked_for(write, row, names):
    assert problem(write, row) == f"Several columns could be meant: {names}."


def test_an_empty_rival_leaves_no_doubt(write):
    _, [found] = one(write, {"instruction": "Add", "input": "", "output": "2"})
    assert found.sample["messages"][0]["content"] == "Add"


def test_preference_pairs_are_no_rollouts(write):
    assert "no known format" in problem(write, {"prompt": "p", "chosen": "a", "rejected": "b"})


def test_a_label_that_is_true_or_false_is_a_reward_and_no_ground_truth(write):
    _, [found] = one(write, {"prompt": "p", "completion": "c", "label": False})
    assert (found.recorded.reward, "answer" in found.sample["extra"]) == (0.0, False)


def test_messages_that_a_table_holds_as_text_are_messages(write, tmp_path):
    talk = [{"role": "system", "content": "s"}, USER]
    _, [found] = one(write, {"prompt": json.dumps(talk), "completion": "2"})
    assert found.sample["messages"] == talk
    path = tmp_path / "pandas.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["prompt", "completion"], [str(talk), "it's {'a'"]])
    [found] = list(open_rollouts(path))
    assert (found.sample["messages"], found.completion) == (talk, "it's {'a'")


@pytest.mark.parametrize("reward", [[0.0, 1.0], {"score": 1.0}, "good", 10**400])
def test_a_reward_that_is_no_number_is_unscored_with_the_reason(write, reward):
    for row in (TABLE | {"score": reward}, VERL | {"score": reward}, TALK | {"reward": reward}):
        _, [found] = one(write, row)
        assert found.recorded.reward is None
        assert "one number is expected" in found.recorded.error


def test_rewards_by_name_on_our_own_line_are_kept(write):
    _, [found] = one(write, {"sample": {"messages": [USER]}, "completion": "2", "rewards": {"a": 1.0, "b": None}})
    assert (found.recorded.reward, found.recorded.rules) == (None, {"a": 1.0, "b": None})


def test_objects_over_many_lines_are_read_one_after_the_other(tmp_path):
    path = tmp_path / "pretty.json"
    path.write_text("\n".join(json.dumps(VERL | {"step": step}, indent=2) for step in (1, 2)))
    assert [found.meta["step"] for found in open_rollouts(path)] == [1, 2]


@pytest.mark.parametrize(
    ("head", "what"),
    [(b"\x28\xb5\x2f\xfd0", "zstd"), (b"BZh9", "bzip2"), ('{"a": 1}'.encode("utf-16"), "UTF-16"), (b"ARROW1", "Arrow")],
)
def test_what_is_no_text_is_named(tmp_path, head, what):
    path = tmp_path / "rollouts.jsonl"
    path.write_bytes(head)
    with pytest.raises(InputError, match=what):
        open_rollouts(path)


def test_a_dump_of_skyrl_is_read_by_its_columns(write):
    row = {
        "input_prompt": "1+1?", "output_response": "2", "score": 1.0, "stop_reason": "stop", "env_class": "gsm8k",
        "env_extras": {"reward_spec": {"ground_truth": "2"}},
    }  # fmt: skip
    name, [found] = one(write, row)
    assert (name, found.text, found.recorded.reward) == ("columns", "2", 1.0)
    assert found.sample["extra"]["answer"] == "2"
    assert found.meta == {"stop_reason": "stop"}


def test_what_verl_generates_from_a_training_set_keeps_its_ground_truth(write):
    row = {"data_source": "d", "prompt": [USER], "reward_model": {"style": "rule", "ground_truth": "2"}}
    name, found = one(write, row | {"responses": ["2", "3"]})
    assert (name, [item.sample["extra"]["answer"] for item in found]) == ("samples_per_row", ["2", "2"])


def test_a_dump_of_nemo_rl_holds_no_prompt_and_is_asked_for(write):
    assert "no known format" in problem(write, {"content": ["all"], "rewards": [1.0], "input_lengths": [3], "idx": 0})
