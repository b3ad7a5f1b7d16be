"""Several hundred spellings of answers beside ground truths, with the verdict that the catalogue's rules give them."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from rewards_lib.mathematics.equality import Verdict, decide
from rewards_lib.mathematics.stated import last_expression

PAIRS = [json.loads(line) for line in (Path(__file__).parent / "answer_pairs.jsonl").read_text("utf-8").splitlines()]


def wrong_verdicts(pairs):
    return [pair for pair in pairs if (decide(pair["truth"], pair["answer"]).verdict is Verdict.EQUAL) != pair["equal"]]


def test_no_different_answer_counts_as_equal():
    assert wrong_verdicts([pair for pair in PAIRS if not pair["equal"]]) == []


def test_equal_answers_are_found_equal_however_they_are_spelled():
    assert wrong_verdicts([pair for pair in PAIRS if pair["equal"]]) == []


def test_verdicts_are_the_same_from_several_threads_at_once():
    wrong = []
    threads = [threading.Thread(target=lambda: wrong.extend(wrong_verdicts(PAIRS[::7]))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize(("digits", "answer", "is_equal"), [(6, "0.33", False), (2, "0.33", True), (2, "0.34", False)])
def test_how_many_digits_make_a_rounding_may_be_chosen(digits, answer, is_equal):
    assert (decide(r"\frac13", answer, rounding_digits=digits).verdict is Verdict.EQUAL) is is_equal


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Soucis : 2,74 $ a..", "2,74"),
        ("it's 1,000.99m²", "1,000.99m²"),
        ("so $x = 5 + 6 = 11$", "11"),
        (r"$x = 1 + 1/3 = 4/3 \approx 1.33$", "4/3"),
        ("$p=-1,p=2$", "p=-1,p=2"),
        ("The final answer is $14$. Here $N$ is a number.", "14"),
        ("The answer is: **$7$**, for $n=2$", "7"),
    ],
)
def test_the_expression_that_a_text_comes_to_is_found(text, found):
    assert last_expression(text, after_think=True).text == found
