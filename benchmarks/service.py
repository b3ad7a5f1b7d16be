"""The reward service against a bare FastAPI endpoint that calls the same preset mix in its own process.

Both answer the same requests to the same eight clients, one after the other in one run. Goals: at least 0.8 of the bare
endpoint's requests a second, and at most three times its p99. ``--soak SECONDS`` then sends 200 requests a second, good
and bad mixed, and looks for wrong rewards, lost log lines and memory that grows.

    python benchmarks/service.py [--seconds 10] [--clients 8] [--soak 60]
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import platform
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
MIX = ROOT / "examples/math/mix.json"
RATE = 200
BARE = """
import sys, uvicorn
from pathlib import Path
from fastapi import FastAPI
from rewards_lib.contract import Completion, Sample
from rewards_lib.mix import read_mix, weighted_sum
from rewards_lib.presets import check_params, find_preset
mix = read_mix(Path(sys.argv[2]).read_text())
rules = [(rule.weight, find_preset(rule.preset), check_params(rule.preset, rule.params)) for rule in mix.rules]
app = FastAPI()
@app.post("/rewards/math")
def rewards(body: dict) -> dict:
    sample = Sample(tuple(body["sample"]["messages"]), body["sample"]["extra"])
    completions = [Completion(raw) for raw in body["completions"]]
    scored = [(weight, preset.score_all(params, sample, completions)) for weight, preset, params in rules]
    sums = [weighted_sum([w for w, _ in scored], [s[i].value for _, s in scored]) for i in range(len(completions))]
    return {"rewards": sums, "metrics": {}, "status": "success"}
@app.get("/readyz")
def ready() -> dict:
    return {"status": "success"}
uvicorn.run(app, port=int(sys.argv[1]), log_level="error")
"""


def body(number: int, count: int = 8) -> tuple[bytes, list[float | None]]:
    """A request and its rewards: some boxes right, some wrong."""
    truth = str(number % 97)
    texts, rewards = [], []
    for place in range(count):
        is_right = (number + place) % 3 == 0
        texts.append(f"step {place}: so \\boxed{{{truth if is_right else int(truth) + 1}}}")
        rewards.append(0.35 if is_right else 0.0)
    sample = {"messages": [{"role": "user", "content": "?"}], "extra": {"answer": truth}}
    return json.dumps({"sample": sample, "completions": texts}).encode(), rewards


class Server:
    """A process that answers on a port of its own."""

    def __init__(self, command: list[str], home: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        environment = os.environ | {"REWARD_CONSOLE_HOME": str(home), "PYTHONPATH": str(ROOT)}
        line = [part.replace("PORT", str(self.port)) for part in command]
        self.process = subprocess.Popen(line, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                if self.ask(self.connect(), "GET", "/readyz", None)[0] == 200:
                    return
            except OSError:
                time.sleep(0.1)
        raise SystemExit("a server did not start")

    def connect(self) -> http.client.HTTPConnection:
        """A connection of one client."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    @staticmethod
    def ask(connection: http.client.HTTPConnection, method: str, path: str, data: bytes | None) -> tuple[int, bytes]:
        """Status and text of one answer."""
        connection.request(method, path, data, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read()

    def stop(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait(60)


def measure(server: Server, clients: int, seconds: float) -> dict[str, float]:
    """Requests a second and times in ms; every answer is compared."""
    times: list[float] = []
    wrong = 0
    lock = threading.Lock()
    end = time.perf_counter() + seconds

    def client(first: int) -> None:
        nonlocal wrong
        connection, own, number, bad = server.connect(), [], first, 0
        while time.perf_counter() < end:
            data, expected = body(number)
            started = time.perf_counter()
            status, text = server.ask(connection, "POST", "/rewards/math", data)
            own.append((time.perf_counter() - started) * 1000)
            bad += status != 200 or json.loads(text)["rewards"] != expected
            number += 1
        with lock:
            times.extend(own)
            wrong += bad

    threads = [threading.Thread(target=client, args=(number * 1000,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    times.sort()
    assert wrong == 0, f"{wrong} wrong answers"
    place = {share: times[min(int(share * len(times)), len(times) - 1)] for share in (0.5, 0.95, 0.99)}
    return {"requests_per_second": len(times) / seconds, "p50": place[0.5], "p95": place[0.95], "p99": place[0.99]}


def memory_mb(pid: int) -> float:
    """What a process and its children hold, in MB."""
    children = [child for task in Path(f"/proc/{pid}/task").glob("*/children") for child in task.read_text().split()]
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20 + sum(memory_mb(int(child)) for child in children)


def soak(server: Server, seconds: float, clients: int, home: Path) -> dict[str, object]:
    """Good and bad requests at a fixed rate."""
    from rewards_lib.serving.request_log import read_log

    log = home / "service" / str(server.port)
    before = sum(1 for _ in read_log(log, most_bytes=1 << 30))
    outcomes: Counter[str] = Counter()
    late, lock = [0], threading.Lock()
    start = time.perf_counter()
    sizes = [memory_mb(server.process.pid)]

    def client(index: int) -> None:
        connection, own, mine = server.connect(), Counter(), random.Random(index)
        for turn in range(int(seconds * RATE / clients)):
            due = start + (turn * clients + index) / RATE
            pause = due - time.perf_counter()
            time.sleep(max(pause, 0.0))
            late[0] += pause < -1.0
            data, expected = body(turn * clients + index)
            kind = mine.choice(["good", "good", "good", "shape", "json", "name", "truth"])
            path = "/rewards/maths" if kind == "name" else "/rewards/math"
            if kind == "shape":
                data = b'{"sample": {}, "completions": 3}'
            elif kind == "json":
                data = data[:-2]
            elif kind == "truth":
                data = data.replace(b'"answer"', b'"other"')
            status, text = server.ask(connection, "POST", path, data)
            wanted = {"good": 200, "shape": 422, "json": 422, "name": 404, "truth": 200}[kind]
            rewards = json.loads(text).get("rewards")
            right = {"good": expected, "truth": [None] * 8}.get(kind)
            own[f"{kind} {status}" if status == wanted and rewards == right else f"WRONG {kind} {status}"] += 1
        with lock:
            outcomes.update(own)

    threads = [threading.Thread(target=client, args=(index,)) for index in range(clients)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        time.sleep(max(seconds / 12, 0.5))
        sizes.append(memory_mb(server.process.pid))
    for thread in threads:
        thread.join()
    lines = sum(1 for _ in read_log(log, most_bytes=1 << 30)) - before
    third = len(sizes) // 3 or 1
    return {
        "seconds": round(time.perf_counter() - start, 1), "requests": sum(outcomes.values()),
        "outcomes": dict(sorted(outcomes.items())), "log_lines": lines, "sent_late": late[0],
        "memory_mb": [round(size) for size in sizes],
        "memory_growth_mb": round(sum(sizes[-third:]) / third - sum(sizes[third : 2 * third]) / third, 1),
        "wrong": sum(count for name, count in outcomes.items() if name.startswith("WRONG")),
    }  # fmt: skip


def main() -> None:
    """Measure both and print the ratios."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=10.0)
    options.add_argument("--clients", type=int, default=8)
    options.add_argument("--soak", type=float, default=0.0)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        subprocess.run(
            [sys.executable, "-m", "rewards_lib", "publish", "--name", "math", "--mix", str(MIX)], cwd=ROOT, check=True,
            env=os.environ | {"REWARD_CONSOLE_HOME": folder}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        bare = Server([sys.executable, "-c", BARE, "PORT", str(MIX)], home)
        own = Server([sys.executable, "-m", "rewards_lib", "serve", "--port", "PORT"], home)
        for server in (bare, own):
            measure(server, given.clients, 1.0)
        rounds = [(measure(bare, given.clients, given.seconds / 2), measure(own, given.clients, given.seconds / 2))
                  for _ in range(2)]  # fmt: skip
        best_bare = max((one for one, _ in rounds), key=lambda one: one["requests_per_second"])
        best_own = max((one for _, one in rounds), key=lambda one: one["requests_per_second"])
        print(
            f"{time.strftime('%Y-%m-%d')}  {platform.machine()}, {os.cpu_count()} processors, "
            f"Python {platform.python_version()}, {given.clients} clients, 8 completions a request"
        )
        for name, row in (("bare FastAPI", best_bare), ("reward service", best_own)):
            print(f"  {name:15} " + "  ".join(f"{key} {value:8.1f}" for key, value in row.items()))
        print(
            f"  throughput {best_own['requests_per_second'] / best_bare['requests_per_second']:.2f}x (goal >= 0.8), "
            f"p99 {best_own['p99'] / best_bare['p99']:.2f}x (goal <= 3)"
        )
        bare.stop()
        if given.soak:
            print(json.dumps(soak(own, given.soak, given.clients, home), indent=1))
        own.stop()


if __name__ == "__main__":
    main()
