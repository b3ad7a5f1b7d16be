"""The log: whole lines, rotated by size, none lost; and what is read out of it."""

import errno
import os
import threading
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.quantiles import percentile
from rewards_lib.serving.request_log import RequestLog, read_log
from rewards_lib.serving.traffic import by_minute, newest_first, traffic

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def row(ago, ms=1.0, http_status=200, status="success", name="math"):
    time = (NOW - timedelta(seconds=ago)).isoformat(timespec="milliseconds")
    return {"time": time, "method": "POST", "name": name, "http_status": http_status, "status": status, "ms": ms}


def test_lines_of_many_threads_are_whole_and_none_is_lost_over_rotations(tmp_path):
    log = RequestLog(tmp_path, most_bytes=2_000, kept_files=200)
    threads = [
        threading.Thread(target=lambda n=n: [log.write({"n": n * 100 + i}) for i in range(100)]) for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log.close()
    lines = [line for path in tmp_path.glob("requests*.jsonl") for line in path.read_text().splitlines()]
    assert sorted(lines) == sorted(f'{{"n": {number}}}' for number in range(800))


def test_no_more_files_are_kept_than_was_said(tmp_path):
    log = RequestLog(tmp_path, most_bytes=50, kept_files=3)
    for number in range(100):
        log.write({"n": number})
    log.close()
    assert len(list(tmp_path.glob("requests*.jsonl"))) == 4


def test_a_line_cut_by_a_power_failure_spoils_no_other(tmp_path):
    (tmp_path / "requests.jsonl").write_text('{"n": 1}\n{"n": 2')
    log = RequestLog(tmp_path)
    log.write({"n": 3})
    log.close()
    assert read_log(tmp_path) == [{"n": 1}, {"n": 3}]


def test_a_full_disk_loses_lines_and_says_so_once_and_no_line_is_glued_to_a_torn_one(tmp_path, monkeypatch, capsys):
    log = RequestLog(tmp_path)
    whole = os.write

    def torn(file, data):
        if len(data) > 6:
            return whole(file, data[:4])
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(os, "write", torn)
    log.write({"n": 1000})
    log.write({"n": 2000})
    monkeypatch.setattr(os, "write", whole)
    log.write({"n": 3})
    log.close()
    assert read_log(tmp_path) == [{"n": 3}]
    assert capsys.readouterr().err.count("no space left") == 1


def test_a_rotation_that_fails_leaves_the_open_file_in_use(tmp_path, monkeypatch, capsys):
    log = RequestLog(tmp_path, most_bytes=20)
    log.write({"n": 1})
    own = log._file
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", lambda *_a: (_ for _ in ()).throw(OSError(errno.EMFILE, "too many open files")))
        log.write({"n": 2, "text": "a long one"})
    assert log._file == own
    os.fstat(own)
    assert "too many" in capsys.readouterr().err
    log.write({"n": 3})
    log.close()
    assert read_log(tmp_path)[-1] == {"n": 3}


def test_the_tail_goes_back_into_the_file_before(tmp_path):
    log = RequestLog(tmp_path, most_bytes=100, kept_files=3)
    for number in range(12):
        log.write({"n": number})
    log.close()
    found = [entry["n"] for entry in read_log(tmp_path)]
    assert found == list(range(found[0], 12))
    assert len(found) > 6
    assert read_log(tmp_path / "none") == []


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0.01, 1))
def test_a_percentile_is_one_of_the_values_and_enough_are_not_above_it(values, share):
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9


def test_traffic_counts_the_last_half_hour():
    rows = [row(4000), row(100, 10.0), row(30, 20.0), row(20, 30.0, status="failure"), row(5, 0.1, 503, "failure")]
    seen = traffic(rows, NOW)
    assert (seen.requests, seen.last_minute, seen.refused, seen.failures) == (4, 3, 1, 2)
    assert (seen.p50_ms, seen.p95_ms) == (20.0, 30.0)
    assert traffic([], NOW).p50_ms is None
    assert [(minute.ago, minute.requests) for minute in by_minute(rows, NOW)] == [(1, 1), (0, 2)]


def test_the_last_failures_stand_on_top_and_filters_hold():
    rows = [row(50, status="failure"), row(40), row(30, 1, 503), row(20), row(10, name="other")]
    shown = newest_first(rows, name="math")
    assert [entry["http_status"] for entry in shown] == [503, 200, 200, 200]
    assert shown[1]["status"] == "failure"
    assert len(newest_first(rows)) == 5
    assert [entry["http_status"] for entry in newest_first(rows, "refused")] == [503]
    assert len(newest_first(rows, "failures")) == 2
