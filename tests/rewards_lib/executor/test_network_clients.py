"""Client libraries that a function declares and the executor installs: each reaches what is allowed, nothing else."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from executor_inputs import HEADER, Server, payload_of

from rewards_lib.errors import DependencyError
from rewards_lib.executor import Executor, FunctionRun, FunctionSource, Limits

REQUIREMENTS = "httpx\naiohttp\n"
CLIENTS = {
    "httpx, blocking": (
        "import httpx\n"
        "def ask(url):\n"
        "    with httpx.Client(timeout=5, follow_redirects=True) as client:\n"
        "        return client.post(url, json={'a': 1}).text\n"
    ),
    "httpx, asynchronous": (
        "import asyncio, httpx\n"
        "async def get(url):\n"
        "    async with httpx.AsyncClient(timeout=5, follow_redirects=True) as client:\n"
        "        return (await client.get(url)).text\n"
        "def ask(url):\n"
        "    return asyncio.run(get(url))\n"
    ),
    "aiohttp": (
        "import asyncio, aiohttp\n"
        "async def get(url):\n"
        "    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(5)) as session:\n"
        "        async with session.post(url, json={'a': 1}) as answer:\n"
        "            return await answer.text()\n"
        "def ask(url):\n"
        "    return asyncio.run(get(url))\n"
    ),
}
CALL = "def reward_fn(context, sample, completions):\n    return RewardFunctionResult([float(ask({url!r}) == 'ok')])\n"
MANY = (
    "import asyncio, aiohttp\n"
    "async def get(url):\n"
    "    async with aiohttp.ClientSession() as session:\n"
    "        async def one():\n"
    "            async with session.get(url) as answer:\n"
    "                return await answer.text() == 'ok'\n"
    "        return sum(await asyncio.gather(*[one() for _ in range(30)]))\n"
    "def reward_fn(context, sample, completions):\n"
    "    return RewardFunctionResult([float(asyncio.run(get({url!r})))])\n"
)


@pytest.fixture(scope="module")
def installed(executor: Executor) -> Executor:
    """The executor with the clients installed, from wheels; skips where the registry cannot be reached."""
    try:
        environment = executor.install(REQUIREMENTS)
    except DependencyError as error:
        pytest.skip(f"the client libraries cannot be installed here: {error}")
    assert {"httpx", "aiohttp"} <= environment.packages
    return executor


def call(executor: Executor, source: str, *hosts: str) -> FunctionRun:
    function = FunctionSource(HEADER + source, requirements=REQUIREMENTS, allow_hosts=hosts)
    return executor.run_function(function, payload_of("x"), limits=Limits(wall_seconds=20))


@pytest.mark.parametrize("client", CLIENTS)
def test_an_installed_client_reaches_an_allowed_host(installed, server, client):
    host = f"127.0.0.1:{server.server_port}"
    run = call(installed, CLIENTS[client] + CALL.format(url=f"http://{host}/"), host)
    assert (run.error, run.scores[0].value) == (None, 1.0)
    assert server.paths == ["/"]
    assert [(one.port, one.outcome) for one in run.network_calls] == [(server.server_port, "open")]


@pytest.mark.parametrize("client", CLIENTS)
def test_an_installed_client_reaches_nothing_that_is_not_allowed(installed, server, client):
    host = f"127.0.0.1:{server.server_port}"
    run = call(installed, CLIENTS[client] + CALL.format(url=f"http://{host}/"), "127.0.0.1:1")
    assert (run.status, run.scores[0].value, server.paths) == ("failure", None, [])
    assert [finding.path for finding in run.findings if finding.rule == "network"] == [host]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_redirect_of_an_installed_client_is_judged_again(installed, server, client):
    server.away = "http://127.0.0.1:9/"
    host = f"127.0.0.1:{server.server_port}"
    run = call(installed, CLIENTS[client] + CALL.format(url=f"http://{host}/away"), host)
    assert (run.scores[0].value, server.paths) == (None, ["/away"])
    assert {one.port: one.outcome == "open" for one in run.network_calls} == {server.server_port: True, 9: False}


def test_many_asynchronous_calls_run_side_by_side(installed, server):
    host = f"127.0.0.1:{server.server_port}"
    run = call(installed, MANY.format(url=f"http://{host}/"), host)
    assert (run.error, run.scores[0].value) == (None, 30.0)


ENCRYPTED = {
    "http.client": (
        "import http.client, ssl\n"
        "def ask(port, pem):\n"
        "    trust = ssl.create_default_context(cadata=pem)\n"
        "    link = http.client.HTTPSConnection('localhost', port, timeout=5, context=trust)\n"
        "    link.request('GET', '/')\n"
        "    return link.getresponse().read() == b'ok'\n"
    ),
    "httpx, blocking": (
        "import httpx, ssl\n"
        "def ask(port, pem):\n"
        "    trust = ssl.create_default_context(cadata=pem)\n"
        "    return httpx.get(f'https://localhost:{port}/', verify=trust, timeout=5).text == 'ok'\n"
    ),
    "aiohttp": (
        "import asyncio, aiohttp, ssl\n"
        "async def get(port, pem):\n"
        "    trust = ssl.create_default_context(cadata=pem)\n"
        "    async with aiohttp.ClientSession() as session:\n"
        "        async with session.get(f'https://localhost:{port}/', ssl=trust) as answer:\n"
        "            return await answer.text() == 'ok'\n"
        "def ask(port, pem):\n"
        "    return asyncio.run(get(port, pem))\n"
    ),
}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for localhost and its key; skips without openssl."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    chain, key = folder / "chain.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", chain],
        check=True, capture_output=True,
    )  # fmt: skip
    return chain, key


@pytest.fixture
def encrypted_server(certificate: tuple[Path, Path]) -> Iterator[Server]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    with Server(context) as running:
        yield running
        running.shutdown()


@pytest.mark.parametrize("client", ENCRYPTED)
def test_encryption_stays_end_to_end(installed, encrypted_server, certificate, client):
    """The function itself verifies the server's certificate and name; the gateway carries what it cannot read."""
    port, pem = encrypted_server.server_port, certificate[0].read_text()
    source = ENCRYPTED[client] + (
        f"PEM = {pem!r}\n"
        f"def reward_fn(context, sample, completions):\n    return RewardFunctionResult([float(ask({port}, PEM))])\n"
    )
    run = call(installed, source, f"localhost:{port}")
    assert (run.error, run.scores[0].value) == (None, 1.0)
    assert [one.host for one in run.network_calls] == ["localhost"]
