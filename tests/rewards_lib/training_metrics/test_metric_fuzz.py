"""Whatever bytes arrive: an export that can be judged and drawn, or one clear error; never anything else."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rewards_lib.errors import InputError
from rewards_lib.strict_json import write_json
from rewards_lib.training_metrics import drawn_points, read_export, report_exports, series_of, smooth_series

CELLS = st.one_of(
    st.sampled_from(
        [
            "",
            "-",
            "nan",
            "inf",
            "-inf",
            "1,5",
            '"',
            '""',
            "12%",
            "np.float64(1)",
            "1e999",
            "x",
            "0",
            "true",
            "12/40",
            "1 234",
            "−1",
            "tensor(1)",
            "2026-01-01 00:00:01",
            "step 3",
            "|",
        ]
    ),
    st.integers(-3, 40).map(str),
    st.floats().map(str),
    st.text(max_size=4),
)
NAMES = st.one_of(
    st.sampled_from([
        "step", "_step", "epoch", "run", "key", "value", "timestamp", "train/reward", "r - loss", "r - loss__MIN",
        "r - loss__MAX", "e-loss_step", "e-loss_timestamp", "time", "# step", "rewards/f/mean",
        "train/actor/pg_clipfrac", "",
    ]),
    st.text(max_size=5),
)  # fmt: skip
ROWS = st.lists(st.lists(CELLS, max_size=5), max_size=40)


@st.composite
def tables(draw):
    """Text with the bones of a table: names, cells, one of the delimiters and line ends, one of the encodings."""
    delimiter = draw(st.sampled_from([",", ";", "\t", "|", " ", "  ", "，", " | "]))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    rows = [draw(st.lists(NAMES, min_size=1, max_size=5)), *draw(ROWS)]
    above = draw(st.sampled_from(["", "", "", "# a, b", "sep=;", "Title", "#"]))
    text = end.join([above] * bool(above) + [delimiter.join(row) for row in rows])
    return text.encode(draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "gb18030"])), "ignore")


@st.composite
def logs(draw):
    """Pieces of console logs, JSON and event files."""
    pieces = st.one_of(
        st.sampled_from([
            "step:1 - a:0.5 - b:x", "step:2 - a:nan", "{'loss': 0.5, 'epoch': 0.1}", '{"step": 1, "r": NaN}', "{", "[",
            '{"log_history": [{"step": 1, "reward": 1}]}', '{"step": 2, "data": {"a": 1}}', "\x1b[31m", "{'loss':",
        ]),
        st.text(max_size=8),
    )  # fmt: skip
    return (
        draw(st.sampled_from(["\n", "\r", " "]))
        .join(draw(st.lists(pieces, min_size=1, max_size=6)))
        .encode("utf-8", "ignore")
    )


def use(data: bytes) -> None:
    """What the command line and the page do with a file."""
    try:
        export = read_export(data, "run.csv")
    except InputError:
        return
    write_json(report_exports([export]))
    for line in series_of([export]).values():
        assert np.isfinite(line.values).all()
        assert (line.steps[1:] > line.steps[:-1]).all()
        drawn_points(smooth_series(line, 0.9))


@settings(deadline=None)  # the first file loads pandas
@given(st.binary(max_size=300))
def test_any_bytes_give_an_export_or_one_error(data):
    use(data)


@settings(deadline=None)  # the first file loads pandas
@given(tables())
def test_any_table_gives_an_export_or_one_error(data):
    use(data)


@settings(deadline=None)  # the first file loads pandas
@given(logs())
def test_any_log_gives_an_export_or_one_error(data):
    use(data)
