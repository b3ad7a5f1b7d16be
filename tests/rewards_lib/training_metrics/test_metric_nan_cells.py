"""Which NaN cells are values and which only say that nothing was logged in their row."""

import csv
import io
from pathlib import Path

import pytest

from rewards_lib.training_metrics import diagnose, read_export

EXAMPLES = Path(__file__).parents[3] / "examples" / "training_metrics"
X = "train/global_step"


@pytest.fixture(scope="module")
def healthy():
    with (EXAMPLES / "healthy.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def alarms(rows, gap="nan"):
    """What a run written with ``gap`` for every empty cell is told, notes left out."""
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0], restval="")
    writer.writeheader()
    writer.writerows([{name: cell if cell != "" else gap for name, cell in row.items()} for row in rows])
    (run,) = read_export(text.getvalue().encode(), "run.csv").runs
    return [(one.rule, one.steps[0], one.n) for one in diagnose(run).findings if one.severity != "note"]


def changed(rows, wanted, names):
    """The rows with the named metrics' cells NaN where ``wanted`` says so of the step."""
    return [row | ({name: "nan" for name in row if names(name)} if wanted(float(row[X])) else {}) for row in rows]


def is_training(name):
    return name.startswith("train/") and name != X


@pytest.mark.parametrize("gap", ["nan", "NaN", "null", "None", "-", ""])
def test_a_gap_is_no_fault_however_it_is_spelled(healthy, gap):
    assert alarms(healthy, gap) == []


@pytest.mark.parametrize("stacked", [True, False])
def test_tests_in_rows_of_their_own_leave_the_loss_without_fault(healthy, stacked):
    train = [{name: "" if name.startswith("test/") else cell for name, cell in row.items()} for row in healthy]
    test = [
        {name: cell if name == X or name.startswith("test/") else "" for name, cell in row.items()}
        for row in healthy
        if row["test/reward/final_rewards"]
    ]
    rows = train + test if stacked else sorted(train + test, key=lambda row: float(row[X]))
    assert alarms(rows) == []


def test_one_evaluation_after_the_last_step_is_no_collapse(healthy):
    tested = [row for row in healthy if row["test/reward/final_rewards"]][-1]
    last = {name: "" if is_training(name) else cell for name, cell in tested.items()} | {X: "999"}
    assert alarms([*healthy, last]) == []


def test_a_loss_that_is_nan_once_or_from_a_step_on_is_the_finding(healthy):
    loss = "train/actor/loss".__eq__
    assert alarms(changed(healthy, lambda step: step == 50, loss))[0] == ("non_finite", 50, 1)
    steps = sum(float(row[X]) >= 100 for row in healthy)
    assert alarms(changed(healthy, lambda step: step >= 100, loss))[0] == ("non_finite", 100, steps)
    assert alarms(changed(healthy, lambda step: step >= 100, is_training))[0] == ("non_finite", 100, steps)


def test_a_metric_of_every_tenth_step_has_gaps_between_and_is_lost_when_it_stays_away(healthy):
    def sparse(step):
        return step % 10 != 0

    kl = "train/actor/kl_loss".__eq__
    assert alarms(changed(healthy, sparse, kl)) == []
    assert alarms(changed(healthy, lambda step: sparse(step) or step > 100, kl))[0][:2] == ("non_finite", 101)


def test_families_on_rows_of_their_own_are_gaps_to_each_other():
    rows = "".join(f"{k},0.{k},nan,nan\n" if k % 3 == 0 else f"{k},nan,0.1,0.2\n" for k in range(1, 60))
    (run,) = read_export(f"step,rollout/reward,train/loss,train/grad_norm\n{rows}".encode(), "run.csv").runs
    assert not run.nan_steps


def test_two_rows_of_nan_alone_are_two_facts_even_in_a_short_file():
    (run,) = read_export(b"step,loss\n1,0.5\n2,0.4\n3,nan\n4,nan\n", "run.csv").runs
    assert diagnose(run).findings[0].rule == "non_finite"
