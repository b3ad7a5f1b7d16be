"""The numbers on screen are those of the result; what has no number is never 0."""

from components import result_table
from rewards_lib.contract import RuleResult, Score, sentence
from rewards_lib.scoring import combine

accuracy = RuleResult(
    "accuracy",
    0.35,
    (Score.scored(1), Score.failed(sentence("line 17 met the name x")), Score.abstained()),
    "failure",
    "p",
)
form = RuleResult("format", 0.1, (Score.scored(1), Score.scored(0), Score.scored(-0.5)), "success", "p")
RESULT = combine([accuracy, form], version="7f3a")


def test_a_cell_shows_the_reward_and_what_the_weight_makes_of_it():
    rows = result_table.table_rows(RESULT, ["a", "b", "c"])
    assert [row["accuracy × 0.35"] for row in rows] == ["1 → 0.35", "—", "abstains"]
    assert [row["reward"] for row in rows] == [0.45, None, -0.05]


def test_with_many_rules_a_cell_holds_what_the_rule_adds_and_its_head_the_name_alone():
    rows = result_table.table_rows(combine([accuracy, form, accuracy, form], version="7f3a"), ["a", "b", "c"])
    assert rows[0]["format"] == "0.1"
    assert rows[1]["accuracy"] == "—"


def test_the_reason_of_a_score_stands_in_its_line():
    assert "line 17 met the name x" in result_table.reason_line(accuracy, 0, accuracy.scores[1])


def test_no_two_outcomes_of_a_score_share_a_sign():
    scores = (Score.scored(1), Score.scored(0), Score.scored(-0.5), Score.abstained(), Score.failed(sentence("hung")))
    lines = [result_table.reason_line(accuracy, 0, score) for score in scores]
    assert len({line.split(":material/")[-1].split(":")[0] for line in lines}) == 5


def test_the_sum_names_every_term_and_an_unscored_completion_says_which_rule_failed():
    assert "0.45" in result_table.sum_line(RESULT, 0)
    assert "0.35 × 1" in result_table.sum_line(RESULT, 0)
    unscored = result_table.sum_line(RESULT, 1)
    assert "unscored" in unscored
    assert "not 0" in unscored
    assert "accuracy" in unscored


def test_a_long_completion_is_shown_by_its_end_where_answers_stand():
    shown = result_table.tail("think " * 200 + "42")
    assert shown.endswith("42")
    assert len(shown) <= result_table.TABLE_CHARACTERS + 1
