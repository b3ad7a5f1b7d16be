"""The Rollouts page: choose a file, score it, read every tab, keep a case, check a data set."""

import json
import shutil
import time
from dataclasses import replace

import pytest
import streamlit as st

from components import cache
from components.rollouts import datasets
from components.rollouts.stored_files import list_stored, remove_stored
from rewards_lib.datasets import list_datasets, save_dataset
from rewards_lib.regression_cases import Expected, save_case, stored_cases
from tests.pages.conftest import opened, texts

MIX = {
    "name": "loose",
    "rules": [{"name": "has", "preset": "contains"}, {"name": "tags", "preset": "tag_count", "weight": 0.2}],
}


@pytest.fixture
def page(open_page):
    cache.store().save_draft("mix", "loose", MIX, base_revision=None)
    return open_page("rollouts")


def plain(page):
    assert not page.exception
    more = [element.value for kind in ("success", "warning", "info") for element in getattr(page, kind)]
    return (texts(page) + "\n".join(map(str, more))).replace("\\", "")


def finished(page, seconds=90):
    deadline = time.monotonic() + seconds
    while any(button.key == "cancel_job" for button in page.button) and time.monotonic() < deadline:
        time.sleep(0.1)
        page.run()
    return page


def scored(page):
    page.button(key="first_example").click().run()
    page.selectbox(key="score_scorer").set_value("mix:loose").run()
    return finished(page.button(key="start_scoring").click().run())


@pytest.fixture(scope="module")
def example_home(tmp_path_factory):
    """A data folder in which the example was scored, to be copied; and the job's id."""
    home = tmp_path_factory.mktemp("scored")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REWARD_CONSOLE_HOME", str(home))
        cache.store.clear()
        cache.store().save_draft("mix", "loose", MIX, base_revision=None)
        job = scored(opened("rollouts")).query_params["job"]
        cache.store().close()
        cache.store.clear()
    return home, job


@pytest.fixture
def result(example_home, tmp_path):
    """The page with the result of the example, which is scored once for all who look at it."""
    home, job = example_home
    shutil.copytree(home, tmp_path, dirs_exist_ok=True)
    return opened("rollouts", job=job)


def tab(page, name):
    page.session_state["evidence"] = name
    return page.run()


def popovers(page):
    return [element.proto.popover for element in page.get("popover")]


def drop(page, name, rows):
    data = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows).encode()
    return page.get("file_uploader")[0].set_value([(name, data, "application/jsonl")]).run()


def test_the_empty_page_offers_the_example_and_says_what_to_drop(page):
    assert "Drop a file of completions." in plain(page)
    assert page.button(key="first_example").label == "Take the example"


def test_the_example_is_scored_and_every_tab_has_something_to_say(page):
    page = scored(page)
    assert [metric.label for metric in page.metric][:3] == ["One try, bo1", "Best, bon", "Worst, won"]
    told = {
        "Overview": "How rewards spread", "Groups": "Advantages in", "Completions": "Advantage (GRPO)",
        "Attacks": "Real completions are rewritten", "What if": "No rank inside any group changes",
        "Compare": "There is no other result to compare with", "Cases": "no regression case yet",
    }  # fmt: skip
    for name, text in told.items():
        assert text in plain(tab(page, name)), name


def test_a_result_is_found_again_by_its_address(result, open_page):
    job = result.query_params["job"]
    again = open_page("rollouts", job=job)
    assert "40 groups of 8" in plain(again)
    assert "The result that the address names is gone." in plain(open_page("rollouts", job="nothing"))


def test_other_weights_change_means_and_ranks_without_scoring_again(result):
    page = tab(result, "What if")
    before = {metric.label: metric.value for metric in page.metric}
    slider = next(slider for slider in page.slider if "tags" in slider.label)
    slider.set_value(2.0).run()
    after = [metric.value for metric in page.metric if metric.label == "One try, bo1"]
    assert after[-1] != before["One try, bo1"]
    assert "pairs inside groups change their order" in plain(page)
    page.button(key="what_if_use").click().run()
    assert [rule["weight"] for rule in cache.store().load_draft("mix", "loose").content["rules"]] == [1, 2]


def test_a_bad_filter_says_where_and_what_was_shown_stays(result):
    page = tab(result, "Completions")
    page.text_input(key="rollout_filter_text").set_value("tags == 0").run()
    kept = [caption.value for caption in page.caption if "completions" in caption.value]
    page.text_input(key="rollout_filter_text").set_value("rewrd < 1").run()
    assert "Column 1: there is no rewrd; the nearest is reward." in plain(page)
    assert [caption.value for caption in page.caption if " of 320 completions" in caption.value] == [
        caption for caption in kept if " of 320 completions" in caption
    ]


def test_a_marked_reward_becomes_a_case_that_is_run_on_each_change(result):
    page = tab(result, "Completions")
    page.number_input(key="case_reward_0").set_value(0.0).run()
    page.button(key="case_keep_0").click().run()
    [case] = stored_cases(cache.store(), "mix:loose").values()
    assert case.expected[0].reward == 0.0
    page = tab(page, "Cases")
    page.selectbox(key="cases_scorer").set_value("mix:loose").run()
    assert "1 of 1 cases do not hold" in plain(page) + "".join(error.value for error in page.error)
    save_case(cache.store(), replace(case, expected=(Expected(is_any=True),)))
    assert "The case holds" in plain(page.run())


def test_chosen_cases_are_removed_after_a_second_question_that_tells_what_goes(result):
    page = tab(result, "Completions")
    page.button(key="case_keep_0").click().run()
    [case] = stored_cases(cache.store(), "mix:loose").values()
    others = tuple(replace(one, raw="another") for one in case.payload.completions)
    save_case(cache.store(), replace(case, payload=replace(case.payload, completions=others)))
    page = tab(page, "Cases")
    page.selectbox(key="cases_scorer").set_value("mix:loose").run()
    assert [one.disabled for one in popovers(page) if one.label == "Remove 0 chosen"] == [True]
    page.session_state["case_table_2"] = {"selection": {"rows": [0], "columns": [], "cells": []}}
    page.run()
    assert [one.disabled for one in popovers(page) if one.label == "Remove 1 chosen"] == [False]
    assert "What a completion must earn is then no longer checked." in plain(page)
    assert len(stored_cases(cache.store(), "mix:loose")) == 2
    page.button(key="remove_now_cases").click().run()
    assert len(stored_cases(cache.store(), "mix:loose")) == 1
    assert [one.disabled for one in popovers(page) if one.label == "Remove 0 chosen"] == [True]


def test_what_an_unscored_completion_should_earn_is_asked_not_guessed(page):
    page = drop(
        page, "mine.jsonl", [{"prompt": "1+1?", "completion": "2", "answer": "2"}, {"prompt": "2?", "completion": "4"}]
    )
    cache.store().save_draft("mix", "only", {"name": "only", "rules": MIX["rules"][:1]}, base_revision=None)
    page.run()
    page.selectbox(key="score_scorer").set_value("mix:only").run()
    page = finished(page.button(key="start_scoring").click().run())
    page.query_params["at"] = "2"
    page = tab(page, "Completions")
    assert page.number_input(key="case_reward_1").value is None
    assert page.button(key="case_keep_1").disabled
    page.number_input(key="case_reward_1").set_value(0.0).run()
    assert not page.button(key="case_keep_1").disabled


def test_a_file_that_grew_is_surveyed_again(page, tmp_path):
    line = json.dumps({"prompt": "1+1?", "completion": "2", "answer": "2"}) + "\n"
    page = drop(page, "mine.jsonl", [line.strip()])
    assert "1 completions" in plain(page)
    [kept] = (tmp_path / "rollouts" / "uploads").rglob("mine.jsonl")
    kept.write_text(line * 3)
    assert "3 completions" in plain(page.run())


@pytest.mark.parametrize(("address", "is_there"), [("127.0.0.1", True), ("0.0.0.0", False), (None, False)])
def test_a_path_is_named_only_where_this_machine_alone_opens_the_console(open_page, monkeypatch, address, is_there):
    given = st.get_option
    monkeypatch.setattr(st, "get_option", lambda name: address if name == "server.address" else given(name))
    page = open_page("rollouts")
    assert [field.key for field in page.text_input if field.key == "first_path"] == ["first_path"] * is_there


def test_hidden_files_and_files_outside_the_allowed_folders_are_not_opened(open_page, monkeypatch, tmp_path):
    given = st.get_option
    monkeypatch.setattr(st, "get_option", lambda name: "localhost" if name == "server.address" else given(name))
    monkeypatch.setenv("REWARD_CONSOLE_LOG_FOLDERS", str(tmp_path / "runs"))
    for path in (tmp_path / "runs" / "1.jsonl", tmp_path / "runs" / ".keys" / "1.jsonl", tmp_path / "2.jsonl"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"prompt": "1+1?", "completion": "2"}) + "\n")
    page = open_page("rollouts")
    for path, refusal in (("runs/.keys/1.jsonl", "these folders only"), ("2.jsonl", "these folders only")):
        page.text_input(key="first_path").set_value(str(tmp_path / path)).run()
        assert refusal in "".join(error.value for error in page.error)
    page.text_input(key="first_path").set_value(str(tmp_path / "runs" / "1.jsonl")).run()
    page.button(key="first_path_open").click().run()
    assert "1 completions" in plain(page)


def test_an_attack_shows_the_worst_leak_beside_honest_completions(result):
    page = tab(result, "Attacks")
    page = finished(page.button(key="attack").click().run())
    told = plain(page)
    assert "These earn what they should not: list all candidates, tags reordered." in told
    assert "Leak: list all candidates" in told
    assert "Beside it: what honest completions of this sample earn" in told
    page.button(key="keep_leak").click().run()
    [case] = stored_cases(cache.store(), "mix:loose").values()
    assert case.expected[0].at_most == pytest.approx(0.2)


def test_bad_rows_are_shown_with_their_numbers_and_the_good_ones_are_scored(page):
    rows = [{"prompt": "1+1?", "completion": "2", "answer": "2"}, "{broken", {"prompt": "2+2?", "completion": "4"}]
    page = drop(page, "mine.jsonl", rows)
    told = plain(page)
    assert "2 completions" in told
    assert "1 without extra.answer" in told
    assert [expander.label for expander in page.expander if "rows are no rollouts" in expander.label]


def test_unknown_columns_are_named_by_hand(page):
    page = drop(page, "mine.jsonl", [{"q": "1+1?", "a": "2", "gold": "2"}])
    assert "belong to no known format" in "".join(error.value for error in page.error)
    page.selectbox(key="map_prompt").set_value("q").run()
    page.selectbox(key="map_completion").set_value("a").run()
    page.selectbox(key="map_answer").set_value("gold").run()
    page.button(key="map_use").click().run()
    assert "1 completions" in plain(page)


def test_the_rewards_of_a_trainers_file_are_read_without_scoring(page):
    rows = [{"input": f"user\n{n // 4}", "output": str(n), "score": n % 2, "step": 1} for n in range(16)]
    page = drop(page, "1.jsonl", rows)
    page = finished(page.button(key="read_rewards").click().run())
    assert "with its own rewards" in plain(page)
    assert page.metric[0].value == "0.5"


def test_two_results_are_compared_with_the_rules_that_moved(result):
    page = result
    draft = cache.store().load_draft("mix", "loose")
    heavier = draft.content | {"rules": [MIX["rules"][0] | {"weight": 3}, MIX["rules"][1]]}
    cache.store().save_draft("mix", "loose", heavier, base_revision=draft.revision)
    page.button(key="score_again").click().run()
    page.selectbox(key="score_scorer").set_value("mix:loose").run()
    page = finished(page.button(key="start_scoring").click().run())
    told = plain(tab(page, "Compare"))
    assert "rewards differ" in told
    assert "Rank flips" in [metric.label for metric in page.metric]


def test_a_data_set_is_converted_with_a_preview_and_kept(page):
    page.session_state["rollouts_view"] = "datasets"
    page.run()
    page = drop(
        page, "gsm.jsonl", [{"question": "6*7?", "answer": "so\n#### 42"}, {"question": "", "answer": "#### 1"}]
    )
    assert [expander.label for expander in page.expander if "1 of 2 rows cannot be used" in expander.label]
    page.button(key="keep_dataset").click().run()
    assert "1 samples" in plain(page)


def test_a_data_set_is_removed_after_a_second_question_that_tells_what_goes(page):
    for name, rows in (("sums", 2), ("words", 1)):
        save_dataset(cache.store(), name, [(n, {"messages": [], "extra": {}}) for n in range(rows)])
    page.session_state["rollouts_view"] = "datasets"
    page.run()
    page.button(key="dataset_words").click().run()
    asked = page.button(key="remove_now_dataset_sums")
    assert asked.label.startswith("Remove for good · ")
    assert "The 2 samples of sums go" in plain(page)
    assert [one.name for one in list_datasets(cache.store())] == ["words", "sums"]
    asked.click().run()
    assert [one.name for one in list_datasets(cache.store())] == ["words"]
    assert "The first 1 of words" in plain(page)


def test_a_completion_is_found_again_by_its_address(result, open_page):
    job = result.query_params["job"]
    again = open_page("rollouts", job=job, evidence="Completions", at="13")
    assert "p2.5 earns" in plain(again)


def test_a_result_is_removed_after_a_second_question_that_tells_its_size(result, open_page):
    job = result.query_params["job"]
    first = open_page("rollouts")
    assert first.button(key=f"remove_now_{job}").label.endswith("kB")
    first.button(key=f"remove_now_{job}").click().run()
    assert cache.job_runner().find(job) is None


def test_what_is_stored_is_listed_with_its_size_and_its_use(page, open_page):
    save_dataset(cache.store(), "sums", [(1, {"messages": [], "extra": {}})])
    page = drop(page, "mine.jsonl", [{"sample": {"messages": []}, "completion": "1" * 5000}])
    page.selectbox(key="score_scorer").set_value("mix:loose").run()
    finished(page.button(key="start_scoring").click().run())
    listed = open_page("rollouts")
    listed.session_state["rollouts_view"] = "stored"
    listed.run()
    table = listed.dataframe[0].value
    assert list(table["kind"]) == ["result", "upload", "data set"]
    assert list(table["name"]) == ["mine.jsonl", "mine.jsonl", "sums"]
    assert list(table["about"])[1] == "results that read it: 1"
    assert "on the console machine" in plain(listed)
    remove_stored(list_stored())
    assert list_stored() == []
    assert "Nothing is stored" in plain(listed.run())


def test_a_dropped_data_set_is_hashed_once(page, monkeypatch):
    kept = []
    keep = datasets.keep_upload
    monkeypatch.setattr(datasets, "keep_upload", lambda *what: kept.append(what) or keep(*what))
    page.session_state["rollouts_view"] = "datasets"
    page.run()
    page = drop(page, "gsm.jsonl", [{"question": "6*7?", "answer": "42"}])
    page.run().run()
    assert len(kept) == 1
