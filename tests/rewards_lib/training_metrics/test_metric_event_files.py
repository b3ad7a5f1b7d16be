"""TensorBoard event files, written here byte for byte as TensorBoard writes them."""

import os
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.errors import InputError
from rewards_lib.training_metrics import metrics_report, read_export, series_of
from rewards_lib.training_metrics.formats import event_blocks, event_files
from rewards_lib.training_metrics.formats.event_files import _crc32c, _masked, is_event_file


def record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", _masked(_crc32c(length))) + data + struct.pack("<I", _masked(_crc32c(data)))


def varint(value: int) -> bytes:
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def field(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


def event(step: int, tag: str, value: bytes) -> bytes:
    summary = field(1, field(1, tag.encode()) + value)
    return record(b"\x09" + struct.pack("<d", 1.7e9 + step) + b"\x10" + varint(step) + field(5, summary))


def simple(value: float) -> bytes:
    return b"\x15" + struct.pack("<f", value)


def tensor(value: float) -> bytes:
    return field(8, b"\x08\x01" + field(4, struct.pack("<f", value)))


VERSION = record(b"\x09" + struct.pack("<d", 1.7e9) + field(3, b"brain.Event:2"))


def read(data, name="events.out.tfevents.1"):
    return read_export(data, name)


def series(export):
    return {name: line.to_json() for name, line in series_of([export]).items()}


def test_the_checksum_is_castagnolis():
    assert _crc32c(b"123456789") == 0xE3069283


def test_simple_values_and_tensors_are_scalars():
    data = (
        VERSION
        + event(1, "train/reward", simple(0.5))
        + event(2, "train/reward", tensor(0.75))
        + event(300, "b", simple(2))
    )
    export = read(data)
    assert series(export) == {"train/reward": [[1, 0.5], [2, 0.75]], "b": [[300, 2]]}
    assert (export.x, "Wall time" in export.x_choices) == ("step", True)


def test_a_nan_that_was_logged_is_told():
    data = VERSION + b"".join(event(step, "loss", simple(value)) for step, value in [(1, 1), (2, float("nan")), (3, 2)])
    export = read(data)
    assert series(export) == {"loss": [[1, 1], [3, 2]]}
    assert export.runs[0].non_finite("loss").tolist() == [2]
    assert "Cells that say NaN: 1, in loss" in " ".join(map(str, export.notes))


def test_steps_that_begin_again_are_a_restart():
    data = VERSION + b"".join(
        event(step, "r", simple(value)) for step, value in [(1, 1), (2, 2), (3, 3), (2, 8), (3, 9)]
    )
    export = read(data)
    assert series(export) == {"r": [[1, 1], [2, 8], [3, 9]]}
    assert "restart at step 2" in str(export.notes[0])


def test_a_folder_of_event_files_is_one_run_in_the_order_of_their_names(tmp_path):
    (tmp_path / "events.out.tfevents.1").write_bytes(VERSION + event(1, "r", simple(1)) + event(2, "r", simple(2)))
    (tmp_path / "events.out.tfevents.2").write_bytes(VERSION + event(2, "r", simple(5)))
    assert series(read_export(tmp_path)) == {"r": [[1, 1], [2, 5]]}


def test_event_files_of_one_folder_that_are_named_one_by_one_are_one_run(tmp_path):
    files = [tmp_path / f"events.out.tfevents.{number}" for number in (1, 2)]
    files[0].write_bytes(VERSION + event(1, "r", simple(1)) + event(2, "r", simple(2)))
    files[1].write_bytes(VERSION + event(2, "r", simple(5)))
    report = metrics_report(files[::-1])
    assert report["series"] == {"r": [[1, 1], [2, 5]]}
    assert report["files"] == [tmp_path.name]


def test_each_folder_below_a_folder_is_a_run_of_its_own(tmp_path):
    for place, value in (("grpo/a", 1), ("grpo/b", 2)):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "events.out.tfevents.1").write_bytes(VERSION + event(1, "r", simple(value)))
    (tmp_path / "grpo" / "a" / "1700000000.5").mkdir()  # where hyper-parameters go, without any scalar
    (tmp_path / "grpo" / "a" / "1700000000.5" / "events.out.tfevents.2").write_bytes(VERSION)
    export = read(tmp_path)
    assert series(export) == {"a - r": [[1, 1]], "b - r": [[1, 2]]}
    assert not any(run.restarts for run in export.runs)


def test_a_folder_without_event_files_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds no event file"):
        read_export(tmp_path)


def test_a_folder_with_everything_below_it_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(event_files, "MOST_ENTRIES", 2)
    for name in "abc":
        (tmp_path / name).write_text("")
    with pytest.raises(InputError, match="more than 2 files"):
        read_export(tmp_path)


def test_a_record_that_is_still_being_written_waits():
    whole = VERSION + event(1, "r", simple(1)) + event(2, "r", simple(2))
    export = read(whole[:-7])
    assert series(export) == {"r": [[1, 1]]}
    assert "is cut" in str(export.notes[0])


def test_a_file_without_scalars_is_refused():
    with pytest.raises(InputError, match="no scalar"):
        read(VERSION)


@given(st.binary(max_size=80), st.integers(0, 200))
def test_broken_bytes_after_the_first_record_give_what_was_read_or_one_error(noise, cut):
    data = VERSION + event(1, "r", simple(1)) + noise + event(2, "r", simple(2))[:cut]
    assert is_event_file(data)
    assert series(read(data))["r"][0] == [1, 1]


@given(
    st.dictionaries(
        st.text("abc/é", min_size=1, max_size=9),
        st.floats(width=32, allow_nan=False, allow_infinity=False),
        min_size=1,
        max_size=5,
    )
)
def test_what_was_written_is_read(values):
    data = VERSION + b"".join(event(7, tag, simple(value)) for tag, value in values.items())
    assert {name: line[0][1] for name, line in series(read(data)).items()} == values


def several(step: int, values: dict[str, float]) -> bytes:
    """One event with several tags, as trainers write that log all metrics of a step at once."""
    summary = b"".join(field(1, field(1, tag.encode()) + simple(value)) for tag, value in values.items())
    return record(b"\x09" + struct.pack("<d", 1.7e9 + step) + b"\x10" + varint(step) + field(5, summary))


numbers = st.floats(-1e6, 1e6, width=32)
events = st.one_of(
    st.builds(lambda step, value: event(step, "loss", simple(value)), st.integers(0, 400), numbers),
    st.builds(lambda step, value: event(step, "gain", simple(value)), st.integers(0, 2**40), numbers),
    st.builds(lambda step, value: event(step, "x", tensor(value)), st.integers(1, 300), numbers),
    st.builds(lambda step, a, b: several(step, {"loss": a, "b": b}), st.integers(1, 300), numbers, numbers),
    st.just(record(b"\x09" + struct.pack("<d", 1.7e9) + b"\x10\x05")),
)


ONE_BY_ONE = {"FEWEST_ALIKE": 10**9, "MANY_ALIKE": 10**9}
TOGETHER = {"FEWEST_ALIKE": 2, "MANY_ALIKE": 2}
IN_PARTS = TOGETHER | {"PART_BYTES": 100, "BLOCK_BYTES": 64}


def told(data: bytes, constants: dict[str, int]):
    """What is read of a file, by readers with these constants."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in constants.items():
            patch.setattr(event_blocks if hasattr(event_blocks, name) else event_files, name, value)
        export = read(data)
    return series(export), [str(note) for note in export.notes], export.columns


@given(st.lists(events, min_size=1, max_size=40), st.binary(max_size=20))
def test_records_read_together_or_in_parts_say_what_they_say_one_by_one(records, torn):
    data = VERSION + event(1, "loss", simple(1)) + b"".join(records) + torn
    assert told(data, ONE_BY_ONE) == told(data, TOGETHER) == told(data, IN_PARTS)


@pytest.mark.parametrize("constants", [ONE_BY_ONE, TOGETHER, IN_PARTS])
def test_tags_that_first_stand_in_one_record_keep_its_order(constants):
    """However they are read: the second of them also stands alone, in records that are read together."""
    records = [several(1, {"z": 1, "y": 2}), *[event(step, "y", simple(step)) for step in range(2, 30)]]
    assert told(VERSION + b"".join(records), constants)[2][-2:] == ("z", "y")


def test_a_record_longer_than_a_part_is_read():
    long = "a" * 300
    found, notes, _ = told(VERSION + event(1, "r", simple(1)) + event(2, long, simple(2)), IN_PARTS)
    assert (found, notes) == ({"r": [[1, 1]], long: [[2, 2]]}, [])


@pytest.mark.parametrize("constants", [TOGETHER, IN_PARTS])
def test_a_length_that_was_damaged_ends_the_reading_where_it_stands(constants):
    whole = VERSION + b"".join(event(step, "r", simple(step)) for step in range(1, 30))
    found, notes, _ = told(whole + struct.pack("<QI", 2**60, 7) + b"x" * 500, constants)
    assert len(found["r"]) == 29
    assert notes[0].endswith(f"the record at byte {len(whole)} is broken; it and what follows were left out.")


def test_a_file_that_becomes_shorter_while_it_is_read_gives_what_was_there(tmp_path):
    path = tmp_path / "events.out.tfevents.1"
    records = [VERSION, *[event(step, "r", simple(step)) for step in range(1, 9)]]
    path.write_bytes(b"".join(records))
    with path.open("rb", buffering=0) as stream, pytest.MonkeyPatch.context() as patch:
        patch.setattr(event_files, "PART_BYTES", len(VERSION) + len(records[1]) * 3)
        notes: list = []
        parts = event_files._parts(stream, path.name, notes)
        assert len(next(parts)[2]) == 4
        with path.open("r+b") as other:
            other.truncate(len(VERSION) + len(records[1]) * 4)
        assert sum(len(starts) for _, _, starts, _ in parts) == 1
    assert "is cut" in str(notes[0])


def test_a_broken_record_ends_the_reading_of_records_alike_too():
    alike = [event(step, "r", simple(step)) for step in range(1, 41)]
    broken = record(b"\x09" + struct.pack("<d", 1.7e9) + b"\x2a\x7f")
    export = read(VERSION + b"".join(alike[:30]) + broken + b"".join(alike[30:]))
    assert series(export) == {"r": [[step, step] for step in range(1, 31)]}
    assert "is broken" in str(export.notes[0])


@pytest.mark.parametrize("constants", [TOGETHER, IN_PARTS])
@pytest.mark.parametrize("nuls", [5, 30, 3000])
@pytest.mark.parametrize("torn", range(0, 60, 7))
def test_nuls_after_a_crash_complete_no_record_that_was_cut(constants, nuls, torn):
    """A number of which the last bytes are missing would be another one."""
    last = event(40, "r", simple(1.1))
    whole = VERSION + b"".join(event(step, "r", simple(step)) for step in range(1, 40))
    found, notes, _ = told(whole + last[: min(torn, len(last) - 5)] + bytes(nuls), constants)
    assert found == {"r": [[step, step] for step in range(1, 40)]}
    assert "NUL bytes, as after a crash of the writer" in notes[0]
    assert [("is cut" in note or "is broken" in note) for note in notes[1:]] == [True] * (torn > 0)


def test_a_checksum_that_ends_with_nuls_is_no_crash():
    steps = [step for step in range(3000) if event(step, "r", simple(1)).endswith(b"\0")]
    data = VERSION + event(steps[0], "r", simple(1))
    assert not read(data).notes
    found, notes, _ = told(data + bytes(100), TOGETHER)
    assert (found, len(notes)) == ({"r": [[steps[0], 1]]}, 1)


def test_an_unreadable_folder_is_not_called_empty(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(event_files.os, "scandir", refuse)
    with pytest.raises(InputError, match="Permission denied"):
        metrics_report([tmp_path])


def test_a_pipe_in_a_folder_keeps_nobody_waiting(tmp_path):
    os.mkfifo(tmp_path / "events.out.tfevents.1")
    with pytest.raises(InputError, match="a pipe, a device or a folder"):
        read_export(tmp_path)


def test_bytes_that_are_left_for_the_next_part_keep_their_order_where_they_overlap():
    """A short record before one that nearly fills a part: what is moved overlaps with where it goes."""
    long = "".join(chr(65 + place % 50) for place in range(90))
    found, notes, _ = told(VERSION + event(1, long, simple(1)) + event(2, "r", simple(2)), IN_PARTS)
    assert (found, notes) == ({long: [[1, 1]], "r": [[2, 2]]}, [])
