"""One run in every shape an export has: what is found in it does not depend on who wrote it down."""

import csv
import io
import json
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from rewards_lib.training_metrics import diagnose, read_export

HACKED = Path(__file__).parents[3] / "examples" / "training_metrics" / "hacked.csv"


@cache
def table() -> pd.DataFrame:
    return pd.read_csv(HACKED)


def records() -> list[dict[str, float]]:
    return [{name: value for name, value in row.items() if pd.notna(value)} for row in table().to_dict("records")]


def csv_text(frame: pd.DataFrame, **options) -> str:
    text = io.StringIO()
    frame.to_csv(text, index=False, **options)
    return text.getvalue()


def dotted():
    return csv_text(table().rename(columns=lambda name: name.replace("/", ".")))


def wandb_panel():
    frame = table()
    columns = {frame.columns[0]: frame.iloc[:, 0]}
    for name in frame.columns[1:]:
        columns |= {f"run - 1 - {name}{end}": frame[name] for end in ("", "__MIN", "__MAX")}
    return csv_text(pd.DataFrame(columns), quoting=csv.QUOTE_ALL)


def swanlab():
    frame = table()
    columns = {"step": frame.iloc[:, 0]}
    for name in frame.columns[1:]:
        columns |= {f"exp-1-{name}_step": frame[name], f"exp-1-{name}_timestamp": 1_700_000_000_000}
    return csv_text(pd.DataFrame(columns))


def long():
    step = table().columns[0]
    return csv_text(table().melt(id_vars=step, var_name="key").dropna().rename(columns={step: "step"}))


def verl_console():
    step = table().columns[0]
    lines = [
        f"(TaskRunner pid=1) step:{row[step]} - " + " - ".join(f"{name}:{value!r}" for name, value in row.items())
        for row in records()
    ]
    return "\n".join(lines)


def verl_file():
    step = table().columns[0]
    return "\n".join(json.dumps({"step": row[step], "data": row}) for row in records())


def stacked():
    return csv_text(pd.concat([table().assign(run="a"), table().assign(run="b")]))


SHAPES = {
    "dots": dotted, "semicolons": lambda: csv_text(table(), sep=";", decimal=","),
    "gaps": lambda: csv_text(table(), na_rep="nan"),
    "shuffled": lambda: csv_text(table().sample(frac=1, random_state=1)),
    "utf-16": lambda: csv_text(table(), sep="\t").encode("utf-16"),
    "wandb panel": wandb_panel, "swanlab": swanlab, "long": long, "verl console": verl_console, "verl file": verl_file,
    "records": lambda: table().to_json(orient="records", double_precision=15), "stacked": stacked,
}  # fmt: skip


def judged(content: str | bytes) -> list[list[tuple[object, ...]]]:
    data = content if isinstance(content, bytes) else content.encode()
    return [
        [(one.rule, one.steps, pytest.approx(one.value)) for one in diagnose(run).findings]
        for run in read_export(data, "run").runs
    ]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_run_is_judged_alike_in_whatever_shape_it_arrives(shape):
    (expected,) = judged(HACKED.read_bytes())
    assert len(expected) >= 3
    assert all(found == expected for found in judged(SHAPES[shape]()))
