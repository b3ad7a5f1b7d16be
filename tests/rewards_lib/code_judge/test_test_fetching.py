"""Tests by address: only from allowed hosts, once, and never taken for an empty list."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from rewards_lib.code_judge.test_fetching import HostRefusedError, TestFetcher
from rewards_lib.code_judge.verdicts import TestCase
from rewards_lib.errors import InputError, UpstreamError

CASES = [{"stdin": "1\n", "stdout": "2\n"}]


class Host(ThreadingHTTPServer):
    """Serves what ``replies`` holds: path to (status, body, headers); counts what was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies: dict[str, list[tuple[int, bytes, dict[str, str]]]] = {}
        self.asked: list[tuple[str, str | None]] = []
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def name(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    def url(self, path: str) -> str:
        return f"http://{self.name}{path}"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append((self.path, self.headers.get("If-None-Match")))
        replies = self.server.replies[self.path]
        status, body, headers = replies.pop(0) if len(replies) > 1 else replies[0]
        self.send_response(status)
        for key, value in ({"Content-Length": str(len(body))} | headers).items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def host() -> Iterator[Host]:
    server = Host()
    yield server
    server.shutdown()
    server.server_close()


def fetcher(folder, *allowed, **more) -> TestFetcher:
    return TestFetcher(folder, allowed, sleep=lambda _seconds: None, **more)


def body(cases=CASES) -> bytes:
    return json.dumps(cases).encode()


def test_tests_are_fetched_from_an_allowed_host_and_once(host, tmp_path):
    host.replies["/t.json"] = [(200, body(), {})]
    fetching = fetcher(tmp_path, host.name)
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(fetching.fetch, [host.url("/t.json")] * 16))
    assert got == [[TestCase("1\n", "2\n")]] * 16
    assert len(host.asked) == 1


def test_a_host_that_is_not_allowed_is_refused_before_anything_is_sent(host, tmp_path):
    with pytest.raises(HostRefusedError, match="--allow-host") as error:
        fetcher(tmp_path).fetch(host.url("/t.json"))
    assert (error.value.http_status, host.asked) == (403, [])


@pytest.mark.parametrize("url", ["ftp://x/y", "http://", "http://h:99999/x", "https:///x", "file:///etc/passwd", "x"])
def test_what_is_no_web_address_is_refused(tmp_path, url):
    with pytest.raises(HostRefusedError):
        fetcher(tmp_path, "h", "x").fetch(url)


@pytest.mark.parametrize("url", ["http://[x", "http://a]b/t", "http://h\u2100/t", "http://h/\ud800"])
def test_what_cannot_be_taken_apart_is_the_callers_fault(host, tmp_path, url):
    with pytest.raises(InputError) as error:
        fetcher(tmp_path, "h").fetch(url)
    host.replies["/a"] = [(302, b"", {"Location": "http://[x"})]
    with pytest.raises(InputError):
        fetcher(tmp_path, host.name).fetch(host.url("/a"))
    assert error.value.http_status == 422


def test_letters_beyond_ascii_in_a_path_are_escaped_on_the_way(host, tmp_path):
    host.replies["/pr%C3%BCfung%201.json?a=%20b"] = [(200, body(), {})]
    assert fetcher(tmp_path, host.name).fetch(host.url("/prüfung 1.json?a=%20b")) == [TestCase("1\n", "2\n")]


def test_every_address_of_a_name_is_tried(host, tmp_path, monkeypatch):
    found = socket.getaddrinfo("127.0.0.1", host.server_port, type=socket.SOCK_STREAM)
    nobody = [(*entry[:4], ("127.9.9.9", host.server_port)) for entry in found]
    resolve = socket.getaddrinfo
    monkeypatch.setattr(
        socket, "getaddrinfo",
        lambda name, *more, **named: nobody + found if name == "two.example" else resolve(name, *more, **named),
    )  # fmt: skip
    host.replies["/t"] = [(200, body(), {})]
    assert fetcher(tmp_path, f"two.example:{host.server_port}").fetch(f"http://two.example:{host.server_port}/t")


def test_addresses_that_fail_leave_nothing_behind(host, tmp_path):
    host.replies["/t"] = [(404, b"", {})]
    fetching = fetcher(tmp_path, host.name)
    for number in range(3):
        with pytest.raises(UpstreamError):
            fetching.fetch(host.url("/t") + f"#{number}")
    assert not fetching._turns


def test_a_private_address_needs_an_entry_of_its_own(host, tmp_path):
    with pytest.raises(HostRefusedError, match="private"):
        fetcher(tmp_path, "localhost").fetch("http://localhost/t.json")


def test_every_redirect_is_judged_again(host, tmp_path):
    host.replies["/a"] = [(302, b"", {"Location": "/b"})]
    host.replies["/b"] = [(200, body(), {})]
    host.replies["/away"] = [(302, b"", {"Location": "http://169.254.169.254/latest"})]
    host.replies["/round"] = [(302, b"", {"Location": "/round"})]
    fetching = fetcher(tmp_path, host.name)
    assert fetching.fetch(host.url("/a")) == [TestCase("1\n", "2\n")]
    with pytest.raises(HostRefusedError, match="169"):
        fetching.fetch(host.url("/away"))
    with pytest.raises(UpstreamError, match="too often"):
        fetching.fetch(host.url("/round"))


def test_faults_that_may_pass_are_tried_again(host, tmp_path):
    host.replies["/t"] = [(500, b"", {}), (503, b"", {}), (200, body(), {})]
    assert fetcher(tmp_path, host.name).fetch(host.url("/t")) == [TestCase("1\n", "2\n")]
    host.replies["/down"] = [(500, b"", {})]
    with pytest.raises(UpstreamError, match="500"):
        fetcher(tmp_path, host.name).fetch(host.url("/down"))
    assert [path for path, _ in host.asked].count("/down") == 3


@pytest.mark.parametrize("content", [b"", b"[]", b"<html>", b"\xff\xfe", b'[{"type": "Other", "data": {}}]'])
def test_what_is_no_list_of_tests_is_told_and_not_kept(host, tmp_path, content):
    host.replies["/t"] = [(200, content, {})]
    with pytest.raises(UpstreamError):
        fetcher(tmp_path, host.name).fetch(host.url("/t"))
    assert list(tmp_path.iterdir()) == []


def test_a_list_that_is_too_large_is_cut_off_while_it_arrives(host, tmp_path):
    host.replies["/t"] = [(200, body([{"stdin": "x" * 3_000_000, "stdout": ""}]), {})]
    with pytest.raises(UpstreamError, match="larger"):
        fetcher(tmp_path, host.name, most_bytes=1 << 20).fetch(host.url("/t"))


def test_a_later_run_asks_only_whether_the_tests_have_changed(host, tmp_path):
    host.replies["/t"] = [(200, body(), {"ETag": '"one"'}), (304, b"", {})]
    fetcher(tmp_path, host.name).fetch(host.url("/t"))
    assert fetcher(tmp_path, host.name).fetch(host.url("/t")) == [TestCase("1\n", "2\n")]
    assert [tag for _, tag in host.asked] == [None, '"one"']


def test_a_kept_file_that_was_damaged_is_fetched_anew(host, tmp_path):
    host.replies["/t"] = [(200, body(), {"ETag": '"one"'})]
    fetcher(tmp_path, host.name).fetch(host.url("/t"))
    [kept] = tmp_path.glob("*.json")
    kept.write_bytes(b"[]")
    assert fetcher(tmp_path, host.name).fetch(host.url("/t")) == [TestCase("1\n", "2\n")]
    assert [tag for _, tag in host.asked] == [None, None]
