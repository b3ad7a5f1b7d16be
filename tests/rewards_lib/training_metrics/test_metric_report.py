"""The report of files, in the shape the command line prints."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rewards_lib.errors import InputError
from rewards_lib.training_metrics import metrics_report, read_export, report_exports

EXAMPLES = Path(__file__).parents[3] / "examples" / "training_metrics"
KEYS = {"files", "columns", "x", "series", "families", "findings", "checks", "notes", "summary"}


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_report_has_every_part_and_names_as_they_were_read(tmp_path):
    path = write(tmp_path, "run.csv", "step,rewards/acc,text\n1,0.5,a\n2,0.7,b\n")
    report = metrics_report([path])
    assert set(report) == KEYS
    assert report["files"] == ["run.csv"]
    assert report["columns"] == ["step", "rewards/acc", "text"]
    assert report["series"] == {"rewards/acc": [[1, 0.5], [2, 0.7]]}
    assert report["families"] == [
        {"name": "reward:acc", "kind": "reward", "members": {"mean": "rewards/acc"}, "pair": None}
    ]
    assert [finding["rule"] for finding in report["findings"]] == ["too_short"]


@settings(max_examples=30)
@given(st.lists(st.text("abc(/)_.@1 -", min_size=1, max_size=8).map(str.strip), min_size=1, max_size=6, unique=True))
def test_long_names_that_share_their_beginning_come_out_as_they_went_in(ends):
    names = [f"train/reward/functions/{'a_long_name_' * 8}{end}/rewards(mean)" for end in ends]
    table = pd.DataFrame([[1, *range(len(names))], [2, *range(len(names))]], columns=["step", *names])
    report = report_exports([read_export(table.to_csv(index=False).encode())])
    assert list(report["series"]) == names
    assert sorted(name for family in report["families"] for name in family["members"].values()) == sorted(names)


def test_a_range_cuts_series_and_summary_but_smoothing_sees_what_came_before(tmp_path):
    path = write(tmp_path, "run.csv", "step,r\n1,1\n2,2\n3,3\n")
    report = metrics_report([path], step_range=(2, 3), smooth=0.5)
    assert report["series"]["r"] == [[2, 2], [3, 3]]
    assert report["summary"]["r"]["n"] == 2
    assert report["smoothed"]["r"][0] == [2, pytest.approx(5 / 3)]


def test_runs_of_several_files_stand_beside_each_other(tmp_path):
    paths = [write(tmp_path, name, f"step,train/reward\n1,{value}\n") for name, value in (("a.csv", 1), ("b.csv", 2))]
    report = metrics_report(paths)
    assert report["series"] == {"a.csv - train/reward": [[1, 1]], "b.csv - train/reward": [[1, 2]]}
    assert [family["members"]["mean"] for family in report["families"]] == list(report["series"])
    assert len({family["name"] for family in report["families"]}) == 2


def test_files_of_one_name_are_told_apart(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    paths = [write(tmp_path / folder, "run.csv", "step,r\n1,1\n") for folder in ("one", "two")]
    assert list(metrics_report(paths)["series"]) == ["run.csv - r", "run.csv (2) - r"]


def test_a_missing_file_is_refused_with_its_path(tmp_path):
    with pytest.raises(InputError, match="No such file") as refused:
        metrics_report([tmp_path / "none.csv"])
    assert refused.value.where.endswith("none.csv")


@pytest.mark.parametrize("ends", [(3, 2), (float("nan"), 2)])
def test_a_range_that_ends_before_it_begins_is_refused(tmp_path, ends):
    with pytest.raises(InputError, match="ends before it begins"):
        metrics_report([write(tmp_path, "run.csv", "step,r\n1,1\n")], step_range=ends)


def test_no_file_is_refused():
    with pytest.raises(InputError, match="No file"):
        metrics_report([])


@pytest.mark.parametrize("name", ["healthy.csv", "truncated.csv", "hacked.csv"])
def test_the_examples_have_everything_the_page_charts(name):
    report = metrics_report([EXAMPLES / name])
    kinds = {family["kind"] for family in report["families"]}
    assert {"final reward", "reward", "policy clipping", "truncation", "length", "custom"} <= kinds
    assert report["notes"] == []


def test_importing_the_package_loads_no_pandas():
    code = "import sys, rewards_lib.training_metrics; print(*({'pandas', 'numpy', 'tsdownsample'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_a_report_holds_all_forty_checks_with_their_reasons(tmp_path):
    report = metrics_report([write(tmp_path, "run.csv", "step,reward\n1,0.5\n2,0.7\n")])
    assert len(report["checks"]) == 40
    assert {row["state"] for row in report["checks"]} == {"ok", "abstained", "finding"}
    assert all(row["why"] for row in report["checks"] if row["state"] == "abstained")
    (finding,) = report["findings"]
    assert (finding["rule"], finding["number"], finding["severity"], finding["n"]) == ("too_short", 40, "note", 2)
    assert finding["message"] == "Steps logged: 2; trends need 30."


def test_with_two_runs_findings_and_checks_say_whose_they_are(tmp_path):
    files = [write(tmp_path, name, "step,reward\n1,0.5\n2,0.7\n") for name in ("a.csv", "b.csv")]
    report = metrics_report(files)
    assert [finding["run"] for finding in report["findings"]] == ["a.csv", "b.csv"]
    assert report["findings"][0]["series"] == ["a.csv - reward"]
    assert len(report["checks"]) == 80
