"""What the last run says: one sentence, and the calls to the network grouped by address and outcome."""

from components.functions import last_run, network
from rewards_lib.contract import NetworkCall, RuleResult, Score, sentence
from rewards_lib.scoring import combine


def result(*scores, error=None):
    rule = RuleResult("f", 1.0, scores, "failure" if error else "success", "reward.py · 7f3a", error=error)
    return combine([rule], version="v")


def test_a_failure_counts_the_unscored_and_says_they_are_not_zero():
    failed = Score.failed(sentence("line 2: ZeroDivisionError"))
    told = last_run.run_sentence(result(failed, failed, error=sentence("line 2: ZeroDivisionError")))
    assert "Line 2: ZeroDivisionError" in told.replace("\\", "")
    assert "2 of 2 completions are unscored, not 0." in told


def test_abstentions_are_counted_apart_from_scores():
    told = last_run.run_sentence(result(Score.scored(1), Score.abstained()))
    assert "1 of 2 completions scored." in told
    assert "1 abstained" in told


def test_calls_to_one_address_with_one_outcome_stand_in_one_line():
    refused = NetworkCall("a", 80, "not_allowed", sentence("a:80 is not an allowed host of this function"))
    groups = network.grouped([refused, NetworkCall("b", 80, "open"), refused, NetworkCall("a", 80, "open")])
    assert [len(group) for group in groups] == [2, 1, 1]
