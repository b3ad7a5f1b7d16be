"""The network of a run: nothing without an allow-list, exactly the list with one, every address judged."""

from __future__ import annotations

import socket
import threading

import pytest
from executor_inputs import Server

from rewards_lib.executor import gateway
from rewards_lib.executor.allow_list import is_public
from rewards_lib.executor.gateway import Gateway

CLIENTS = {
    "urllib": (
        "import urllib.request\ndef ask(url):\n    return urllib.request.urlopen(url, timeout=5).read() == b'ok'\n"
    ),
    "requests": (
        "import requests\ndef ask(url):\n    return requests.post(url, json={'a': 1}, timeout=5).text == 'ok'\n"
    ),
    "http.client": (
        "import http.client\ndef ask(url):\n    host, _, path = url[7:].partition('/')\n"
        "    link = http.client.HTTPConnection(host, timeout=5)\n    link.request('GET', '/' + path)\n"
        "    return link.getresponse().read() == b'ok'\n"
    ),
    "asyncio": (
        "import asyncio\nasync def get(host, port):\n"
        "    reader, writer = await asyncio.open_connection(host, int(port))\n"
        "    writer.write(b'GET / HTTP/1.0\\r\\n\\r\\n')\n    data = await reader.read()\n    writer.close()\n"
        "    return data.endswith(b'ok')\n"
        "def ask(url):\n    host, _, port = url[7:].split('/')[0].partition(':')\n"
        "    return asyncio.run(get(host, port))\n"
    ),
}
CALL = "def reward_fn(context, sample, completions):\n    return RewardFunctionResult([float(ask({url!r})), 1])\n"


@pytest.mark.parametrize("client", CLIENTS)
def test_an_allowed_host_is_reached_by_every_client(run, server, client):
    host = f"127.0.0.1:{server.server_port}"
    needs = "requests\n" if client == "requests" else ""
    source = CLIENTS[client] + CALL.format(url=f"http://{host}/")
    result = run(source, allow_hosts=(host,), requirements=needs)
    assert (result.error, result.scores[0].value) == (None, 1.0)
    assert server.paths == ["/"]
    (call,) = result.network_calls
    assert (call.host, call.port, call.outcome) == ("127.0.0.1", server.server_port, "open")
    assert call.received_bytes > 0


@pytest.mark.parametrize("client", CLIENTS)
def test_no_host_is_reached_without_an_allow_list(run, server, client):
    host = f"127.0.0.1:{server.server_port}"
    needs = "requests\n" if client == "requests" else ""
    result = run(CLIENTS[client] + CALL.format(url=f"http://{host}/"), requirements=needs)
    assert (result.status, server.paths) == ("failure", [])
    assert f"{host} is not an allowed host" in str(result.error)
    assert {found.path for found in result.findings if found.rule == "network"} == {host}
    outcomes = {(call.outcome, str(call.why)) for call in result.network_calls}
    assert outcomes == {("not_allowed", f"{host} is not an allowed host of this function")}


@pytest.mark.parametrize("entry", ["127.0.0.1", "localhost", "127.0.0.1:1", "*.0.0.1", ""])
def test_an_entry_for_another_port_or_name_does_not_open_this_one(run, server, entry):
    url = f"http://127.0.0.1:{server.server_port}/"
    assert run(CLIENTS["urllib"] + CALL.format(url=url), allow_hosts=(entry,)).status == "failure"
    assert server.paths == []


def test_a_redirect_is_judged_again(run, server):
    with Server() as other:
        server.away = f"http://127.0.0.1:{other.server_port}/"
        host = f"127.0.0.1:{server.server_port}"
        result = run(CLIENTS["urllib"] + CALL.format(url=f"http://{host}/away"), allow_hosts=(host,))
        other.shutdown()
        assert (result.status, server.paths, other.paths) == ("failure", ["/away"], [])


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/x"])
def test_urls_that_are_no_web_addresses_are_refused(run, url):
    result = run(CLIENTS["urllib"] + CALL.format(url=url))
    assert "unknown url type" in str(result.error)


def test_many_connections_are_open_side_by_side(run, server):
    host = f"127.0.0.1:{server.server_port}"
    source = CLIENTS["urllib"] + (
        "from concurrent.futures import ThreadPoolExecutor\ndef reward_fn(context, sample, completions):\n"
        "    with ThreadPoolExecutor(20) as pool:\n"
        f"        return RewardFunctionResult([sum(pool.map(ask, ['http://{host}/'] * 40)), 1])\n"
    )
    result = run(source, allow_hosts=(host,))
    assert (result.error, result.scores[0].value, len(result.network_calls)) == (None, 40.0, 40)


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True), ("2606:4700::1111", True), ("127.0.0.1", False), ("10.1.2.3", False), ("172.16.0.1", False),
        ("192.168.1.1", False), ("169.254.169.254", False), ("100.64.0.1", False), ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("192.0.2.1", False), ("255.255.255.255", False), ("::1", False), ("::", False), ("fe80::1%eth0", False),
        ("fc00::1", False), ("::ffff:127.0.0.1", False), ("::ffff:8.8.8.8", True), ("2002:7f00:1::", False),
        ("64:ff9b::7f00:1", False), ("2001:db8::1", False), ("ff02::1", False), ("nonsense", False),
    ],
)  # fmt: skip
def test_only_public_addresses_are_public(address, public):
    assert is_public(address) is public


def ask_gateway(gateway: Gateway, request: bytes) -> str:
    """Speak to a gateway as the worker does."""
    near, far = socket.socketpair()
    with near, far:
        socket.send_fds(gateway.worker_end, [b"dial"], [far.fileno()])
        gateway.take_call()
        near.settimeout(5)
        near.sendall(request)
        return near.makefile("r").readline().strip()


@pytest.mark.parametrize(
    "request_line", [b"GET / HTTP/1.1\n", b"CONNECT\n", b"CONNECT host 99999999\n", b"CONNECT a b c\n"]
)
def test_the_gateway_speaks_nothing_but_connect(request_line):
    gateway = Gateway(("host:1",))
    assert "no valid request" in ask_gateway(gateway, request_line)
    gateway.close()


def test_a_name_that_leads_to_a_private_address_is_refused_on_web_ports():
    """The name is allowed, its address is not: the classic request forgery."""
    gateway = Gateway(("localhost",))
    assert "private address; allow it as localhost:80" in ask_gateway(gateway, b"CONNECT localhost 80\n")
    gateway.close()
    assert [(call.host, call.outcome) for call in gateway.calls] == [("localhost", "private")]


def test_a_wildcard_allows_what_is_below_it_and_nothing_else():
    gateway = Gateway(("*.example.invalid",))
    assert "cannot be resolved" in ask_gateway(gateway, b"CONNECT a.example.invalid 443\n")
    assert "not an allowed host" in ask_gateway(gateway, b"CONNECT example.invalid 443\n")
    assert "not an allowed host" in ask_gateway(gateway, b"CONNECT a.example.invalid 8080\n")
    gateway.close()
    assert [call.outcome for call in gateway.calls] == ["unresolved", "not_allowed", "not_allowed"]


@pytest.mark.parametrize("fate", ["no thread to spare", "cut in the middle"])
def test_a_gateway_that_fails_in_mid_run_is_a_clear_failure_and_the_next_run_works(run, server, monkeypatch, fate):
    host = f"127.0.0.1:{server.server_address[1]}"
    source = (
        "import urllib.request\ndef reward_fn(context, sample, completions):\n"
        f"    urllib.request.urlopen('http://{host}/', timeout=5).read()\n    return RewardFunctionResult([1, 1])\n"
    )
    run(source)  # the workers' own threads are there before threads run out
    with monkeypatch.context() as broken:
        if fate == "cut in the middle":
            broken.setattr(Gateway, "_pump", lambda self, near, far, counts: near.shutdown(socket.SHUT_RDWR))
        else:
            broken.setattr(gateway.threading, "Thread", NoThread)
        failed = run(source, allow_hosts=(host,))
    assert [score.value for score in failed.scores] == [None, None]
    assert any(
        word in str(failed.error) for word in ("closed", "URLError", "Connection", "Disconnected", "NetworkRefused")
    )
    assert failed.error_line == 4
    assert [score.value for score in run(source, allow_hosts=(host,)).scores] == [1.0, 1.0]


class NoThread(threading.Thread):
    """What a process at its limit of threads meets."""

    def start(self) -> None:
        raise RuntimeError("can't start new thread")
