"""Plain numbers are read by pyarrow where pandas is not loaded: the same values; anything else is left to pandas."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.errors import InputError
from rewards_lib.training_metrics import plain_rows, read_export, report_exports
from rewards_lib.training_metrics.csv_header import read_header
from rewards_lib.training_metrics.number_columns import NumberColumns
from rewards_lib.training_metrics.sniffing import sniff_text

plain = st.one_of(st.just(""), st.integers(-(10**20), 10**20).map(str), st.floats(-1e300, 1e300).map(repr))
odd = st.sampled_from(["nan", "inf", "x", '"1', '"1\n2"', "1,000", "1%", " 2", "True", "1,5", "−1", '"0.5"', '""'])
cells = st.one_of(plain, plain, plain, odd)


@st.composite
def tables(draw):
    """A table of two to four columns that count up in the first, with line ends and perhaps a last line that is cut."""
    width, rows = draw(st.integers(2, 4)), draw(st.integers(1, 12))
    delimiter, newline = draw(st.sampled_from([",", ";", "\t"])), draw(st.sampled_from(["\n", "\r\n", "\r"]))
    lines = [delimiter.join(["step", *[f"m{place}" for place in range(1, width)]])]
    for row in range(rows):
        given_width = width + draw(st.sampled_from([0] * 12 + [-1, 1]))
        lines.append(delimiter.join([str(row), *[draw(cells) for _ in range(given_width - 1)]]))
    text = newline.join(lines) + draw(st.sampled_from(["", newline, newline * 2]))
    return text[: len(text) - draw(st.sampled_from([0, 0, 0, 1, 3]))]


def told(text: str, quicker: bool, monkeypatch: pytest.MonkeyPatch) -> object:
    """What reading gives, or how it is refused."""
    monkeypatch.setattr(plain_rows, "is_quicker", lambda: quicker)
    try:
        return report_exports([read_export(text.encode(), "run.csv")])
    except InputError as error:
        return f"{type(error).__name__}: {error}"


def close(one: object, other: object) -> bool:
    """Whether two JSON values are equal but for the last digits of their numbers."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(close(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(close, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return bool(np.isclose(one, other, rtol=1e-12, equal_nan=True))
    return one == other


@given(tables())
def test_both_readers_say_the_same_of_every_table(text):
    with pytest.MonkeyPatch.context() as patch:
        first, second = told(text, True, patch), told(text, False, patch)
    assert close(first, second), (first, second)


def stop_of(text: str, part_bytes: int = plain_rows.FIRST_BYTES) -> tuple[int, int, int]:
    """Where reading plain rows stops, where the text ends, and how many rows there were."""
    source = sniff_text(text.encode(), "run.csv")
    header = read_header(source)
    columns = NumberColumns(list(header.names))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_rows, "FIRST_BYTES", part_bytes)
        patch.setattr(plain_rows, "MOST_BLOCK_BYTES", part_bytes)
        patch.setattr(plain_rows, "LEAST_BLOCK_ROWS", 1)
        stop = plain_rows.read_plain_rows(source, header, columns, len(text), decimal_comma=False)
    return stop, len(text), columns.rows


def test_plain_rows_are_read_to_the_end_in_parts():
    text = "step,a,b\n" + "".join(f"{row},{row / 7},\n" for row in range(500))
    assert stop_of(text, 100) == (len(text), len(text), 500)


@pytest.mark.parametrize("cell", ["nan", "inf", "word", '"1', "1,2", "1%"])
def test_the_first_part_with_anything_else_is_left_to_the_closer_look(cell):
    before = "step,a\n" + "".join(f"{row},0.5\n" for row in range(100))
    stop, _, rows = stop_of(f"{before}100,{cell}\n", 50)
    assert before[:stop].count("\n") == rows + 1
    assert 90 < rows <= 100


def test_a_fresh_process_reads_a_plain_file_without_pandas(tmp_path):
    (tmp_path / "run.csv").write_text("step,train/grad_norm\n" + "".join(f"{row},{row % 7}\n" for row in range(99)))
    code = (
        "import json, pathlib, sys; from rewards_lib.training_metrics import diagnose, read_export, smooth_series;"
        "run = read_export(pathlib.Path(sys.argv[1])).runs[0]; diagnose(run); one = smooth_series(run.series("
        "'train/grad_norm'), 0.9); print(json.dumps([len(one), 'pandas' in sys.modules]))"
    )
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "run.csv")], cwd=root, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == [99, False]
