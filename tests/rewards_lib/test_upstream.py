"""Asking services: retries, time limits, answers that are none, and the pace that threads keep together."""

import socket
import threading
import time
from email.utils import formatdate

import pytest

from rewards_lib.errors import UpstreamError
from rewards_lib.upstream import Pace, Service, ask, longest_seconds, pace_of, shown_url
from tests.stand_in_service import Reply, stand_in


def asked(answer, *, retries=3, timeout_seconds=5.0, headers=None):
    """Ask a stand-in once: (its answer or the error, the waits between attempts, the stand-in)."""
    waits = []
    with stand_in(answer) as service:
        try:
            got = ask(Service(service.url, headers or {}, timeout_seconds, retries), {"n": 1}, sleep=waits.append)
        except UpstreamError as error:
            got = error
    return got, waits, service


def test_an_answer_is_the_decoded_object_and_the_request_the_body_as_json():
    got, waits, service = asked(lambda *_: Reply({"ok": True}), headers={"Authorization": "Bearer key"})
    assert (got.body, got.attempts, waits) == ({"ok": True}, 1, [])
    assert service.requests == [{"n": 1}]
    assert service.headers[0]["Authorization"] == "Bearer key"


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_what_may_pass_is_tried_again_after_growing_waits(status):
    got, waits, _ = asked(lambda _, number: Reply({}, status) if number < 3 else Reply({"n": number}))
    assert (got.body, got.attempts) == ({"n": 3}, 4)
    assert 0.3 < waits[0] < waits[1] < waits[2] < 3


def test_the_service_says_how_long_to_wait_up_to_a_bound():
    answers = [Reply({}, 429, {"Retry-After": "7"}), Reply({}, 503, {"Retry-After": "86400"}), Reply({})]
    _, waits, _ = asked(lambda _, number: answers[number])
    assert waits == [7, 20]


def test_a_service_may_ask_for_seconds_with_a_fraction_or_for_a_moment():
    soon = formatdate(time.time() + 10, usegmt=True)
    answers = [Reply({}, 429, {"Retry-After": value}) for value in ("1.5", soon, "soon")]
    _, waits, _ = asked(lambda _, number: (*answers, Reply({}))[number])
    assert waits[0] == 1.5
    assert 7 < waits[1] <= 10
    assert 1 < waits[2] < 3


@pytest.mark.parametrize("status", [301, 400, 401, 404, 422])
def test_what_will_not_pass_is_asked_once(status):
    got, _, service = asked(lambda *_: Reply({"error": {"message": "no such model"}}, status))
    assert len(service.requests) == 1
    assert f"HTTP {status}: no such model" in str(got)


def test_the_last_failure_is_told_with_the_number_of_attempts():
    got, waits, service = asked(lambda *_: Reply({"detail": "busy"}, 503), retries=2)
    assert len(service.requests) == 3
    assert len(waits) == 2
    assert "3 tried" in str(got)
    assert "HTTP 503: busy" in str(got)


def test_a_late_answer_is_a_failure():
    got, _, _ = asked(lambda *_: Reply({}, late_seconds=0.4), retries=0, timeout_seconds=0.1)
    assert "no answer within 0.1 s" in str(got)


def test_an_answer_that_drips_is_cut_off_at_the_limit():
    """Each byte comes in time; all of them together do not."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        gone = threading.Event()

        def drip():
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
                while not gone.wait(0.05):
                    try:
                        connection.sendall(b" ")
                    except OSError:
                        return

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            with pytest.raises(UpstreamError, match="no answer within"):
                ask(Service(f"http://127.0.0.1:{server.getsockname()[1]}", {}, 0.3, 0), {})
        finally:
            gone.set()
            thread.join()


def test_nobody_there_is_told_without_a_traceback():
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
    with pytest.raises(UpstreamError) as failure:
        ask(Service(address, {}, 1, 0), {})
    assert "Connection refused" in str(failure.value)
    assert "object at" not in str(failure.value)


@pytest.mark.parametrize("body", ["<html>", "[1]", "", '{"a": NaN}', "{" * 100_000])
def test_an_answer_that_is_no_json_object_is_a_failure(body):
    got, _, service = asked(lambda *_: Reply(body))
    assert isinstance(got, UpstreamError)
    assert len(service.requests) == 1


@pytest.mark.parametrize("url", ["http://", "http://[", "ftp://x", "nonsense", "http://exa mple"])
def test_an_address_that_is_none_is_a_failure_too(url):
    with pytest.raises(UpstreamError):
        ask(Service(url, {}, 1, 0), {})


def test_secrets_in_an_address_are_not_told():
    assert shown_url("https://me:secret@judge.example/v1?key=secret") == "https://judge.example/v1"


def test_the_longest_time_counts_attempts_and_waits():
    assert longest_seconds(10, 2) == 3 * 10 + 2 * 20


def test_a_pace_lets_so_many_start_in_a_minute():
    clock = [100.0]
    waits = []

    def sleep(seconds):
        waits.append(seconds)
        clock[0] += seconds

    pace = Pace(8, per_minute=30)
    for _ in range(3):
        with pace.turn(now=lambda: clock[0], sleep=sleep):
            pass
    assert waits == [2.0, 2.0]


def test_the_paces_of_one_service_do_not_add_up_and_the_strictest_counts():
    strict, generous = pace_of("http://a", 2), pace_of("http://a", 3)
    lock, leave, entered = threading.Lock(), threading.Event(), threading.Semaphore(0)
    running, most = [0], [0]

    def ask_one(pace):
        with pace.turn():
            with lock:
                running[0] += 1
                most[0] = max(most[0], running[0])
            entered.release()
            leave.wait(5)
            with lock:
                running[0] -= 1

    threads = [threading.Thread(target=ask_one, args=(pace,)) for pace in [strict, generous, strict, generous]]
    for thread in threads:
        thread.start()
    assert entered.acquire(timeout=5)
    assert entered.acquire(timeout=5)
    assert not entered.acquire(timeout=0.1)
    leave.set()
    for thread in threads:
        thread.join()
    assert most == [2]


def test_a_looser_pace_has_its_own_limit_again_when_the_strict_one_is_not_in_use():
    strict, generous = pace_of("http://c", 1), pace_of("http://c", 2)
    with strict.turn():
        pass
    with generous.turn(), generous.turn(), pace_of("http://d", 1).turn():
        pass


def test_the_starts_of_two_rules_a_minute_are_counted_together():
    clock = [100.0]
    waits = []

    def sleep(seconds):
        waits.append(seconds)
        clock[0] += seconds

    for pace in [pace_of("http://e", 8, 30), pace_of("http://e", 4, 30), pace_of("http://e", 4, 60)]:
        with pace.turn(now=lambda: clock[0], sleep=sleep):
            pass
    assert waits == [2.0, 1.0]
