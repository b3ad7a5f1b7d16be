"""Data sets are checked row by row, converted from columns, and kept to be picked from."""

import json

import pytest

from rewards_lib.cli import main
from rewards_lib.datasets import (
    ColumnPlan,
    check_dataset,
    convert,
    guess_plan,
    list_datasets,
    read_samples,
    remove_dataset,
    save_dataset,
)
from rewards_lib.datasets.checking import find_problem
from rewards_lib.datasets.conversion import convert_row
from rewards_lib.errors import InputError, NotFoundError
from rewards_lib.rollouts.rollout import BadRow
from rewards_lib.store import Store


def row(content="What is 1+1?", answer="2", **more):
    return {"messages": [{"role": "user", "content": content}], "extra": {"answer": answer}} | more


def numbered(*rows):
    return list(enumerate(rows, 1))


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ({"messages": []}, "messages is missing"),
        ({"messages": [{"role": "assistant", "content": "a"}]}, "The last message is of assistant"),
        ({"messages": [{"role": "user", "content": " "}]}, r"messages\[0\].content"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]}, "part without text"),
        ({"messages": [{"role": "owner", "content": "a"}]}, r"messages\[0\].role"),
        (row(extra=[1]), "extra must be an object"),
        (row(tools={}), "tools must be a list"),
        (row(thinking={"type": "sometimes"}), "thinking.type"),
    ],
)
def test_a_row_that_breaks_a_rule_is_told_apart_with_the_rule(broken, told):
    report = check_dataset(numbered(row(), broken))
    assert (report.rows, report.good, report.bad_rows) == (2, 1, 1)
    assert report.first_bad_rows[0].line == 2
    with pytest.raises(AssertionError, match=told):
        raise AssertionError(str(report.first_bad_rows[0].problem))


def test_good_rows_of_every_shape_break_no_rule():
    tool = {"messages": [*row()["messages"], {"role": "assistant", "content": None, "tool_calls": [{}]},
                         {"role": "tool", "content": "3"}]}  # fmt: skip
    parts = {"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url"}]}]}
    for good in (
        tool,
        parts,
        row(thinking={"type": "auto"}, tools=[{"type": "function"}]),
        {"messages": row()["messages"]},
    ):
        assert find_problem(good) is None


def test_duplicates_are_counted_and_those_that_contradict_each_other_are_told():
    report = check_dataset(numbered(row(), row(), row(answer="3"), row("Other?")))
    assert (report.duplicates, report.conflicts) == (2, 1)
    assert report.first_duplicates == [(2, 1), (3, 1)]
    assert any("different ground truths" in str(note) for note in report.notes)


def test_the_presets_that_read_every_ground_truth_are_named():
    assert check_dataset(numbered(row(), row("b", "3.5"))).readers == ["exact_match", "math_accuracy", "numeric_close"]
    assert check_dataset(numbered(row(), row("b", "\\frac{1}{2}"))).readers == ["math_accuracy"]
    mixed = check_dataset(numbered(row("a", "B"), row("b", {"tests": []})))
    assert mixed.readers == []
    assert any("No preset reads all" in str(note) for note in mixed.notes)


def test_a_name_that_a_job_refuses_and_a_size_beyond_its_limit_are_told():
    notes = check_dataset(numbered(row()), name="train[1].jsonl", size_bytes=3 * 10**9).notes
    assert len(notes) == 2


@pytest.mark.parametrize(
    ("given", "messages", "extra"),
    [
        ({"problem": "1+1?", "answer": 2, "level": 3}, "1+1?", {"answer": 2, "level": 3}),
        ({"question": "6*7?", "answer": "thus\n#### 42"}, "6*7?", {"answer": "42"}),
        ({"problem": "p", "solution": "so \\boxed{\\frac{1}{2}}"}, "p", {"answer": "\\frac{1}{2}"}),
        (
            {"data_source": "d", "prompt": [{"role": "user", "content": "q"}], "reward_model": {"ground_truth": "4"}},
            "q",
            {"answer": "4", "data_source": "d", "reward_model": {"ground_truth": "4"}},
        ),
    ],
)
def test_columns_that_data_sets_use_are_guessed_and_converted(given, messages, extra):
    [(number, found)] = convert(numbered(given), guess_plan([given]))
    assert number == 1
    assert found["messages"][-1] == {"role": "user", "content": messages}
    assert found["extra"] == extra
    assert find_problem(found) is None


def test_a_reference_answer_at_the_end_of_the_messages_is_no_part_of_the_prompt():
    given = {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}], "answer": "a"}
    found = convert_row(given, ColumnPlan("messages", "answer", system="Be brief."))
    assert [message["role"] for message in found["messages"]] == ["system", "user"]


def test_a_template_is_put_around_the_prompt_whatever_braces_it_holds():
    found = convert_row({"p": "x = {y}", "a": 1}, ColumnPlan("p", "a", template="{prompt} Box it: \\boxed{}."))
    assert found["messages"][0]["content"] == "x = {y} Box it: \\boxed{}."


def test_rows_that_cannot_be_converted_are_counted_with_their_numbers():
    rows = convert(numbered({"p": "a", "a": "1"}, {"p": "", "a": "1"}, {"p": "b"}), ColumnPlan("p", "a"))
    assert [isinstance(one, BadRow) and one.line for one in rows] == [False, 2, 3]


def test_a_kept_data_set_is_listed_read_in_part_and_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("REWARD_CONSOLE_HOME", str(tmp_path))
    store = Store()
    with pytest.raises(InputError):
        save_dataset(store, "../x", numbered(row()))
    with pytest.raises(InputError):
        save_dataset(store, "none", [BadRow(1, "bad")])
    save_dataset(store, "sums", numbered(row(), row("b", "3"), row("c", "4")))
    assert [(one.name, one.rows) for one in list_datasets(store)] == [("sums", 3)]
    assert [one.prompt for one in read_samples(store, "sums", first=1, most=1)] == ["b"]
    remove_dataset(store, "sums")
    assert list_datasets(store) == []
    with pytest.raises(NotFoundError):
        read_samples(store, "sums")


def test_the_command_checks_and_converts(tmp_path, capsys):
    source, out = tmp_path / "gsm.jsonl", tmp_path / "ark.jsonl"
    source.write_text(json.dumps({"question": "6*7?", "answer": "#### 42"}) + "\n")
    assert main(["dataset", str(source)]) == 1
    assert main(["dataset", str(source), "--out", str(out)]) == 0
    assert json.loads(out.read_text())["extra"] == {"answer": "42"}
    assert main(["dataset", str(out)]) == 0
    capsys.readouterr()
    assert main(["dataset", str(source), "--answer", "answer"]) == 2
    assert "--out" in capsys.readouterr().out
