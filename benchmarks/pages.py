"""How long a rerun of each page takes in a browser, beside an empty Streamlit page in the same run.

    python benchmarks/pages.py [--reruns 15]

Two servers are started on loopback, ours and one with a page of one line. A rerun is timed in the browser, from the
key that asks for it to the script being idle again; the two take turns. Goal: at most 300 ms on top of the empty page.
Exit status 1 when a page misses it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("compose", "functions", "test", "training_metrics")
GOAL_MS = 300
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
WATCH = """() => {
  const app = document.querySelector('[data-testid=stApp]');
  window.rerun = new Promise(done => {
    let started = null;
    const look = () => {
      const state = app.getAttribute('data-test-script-state');
      if (state !== 'notRunning' && started === null) started = performance.now();
      if (state === 'notRunning' && started !== null) { seen.disconnect(); done(performance.now() - started); }
    };
    const seen = new MutationObserver(look);
    seen.observe(app, {attributes: true});
  });
}"""


def start(script: Path, home: Path) -> tuple[subprocess.Popen, str]:
    """Start a server for a script; return it and its address once it is healthy."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", script.name, f"--server.port={port}", "--server.headless=true"]
    environment = os.environ | {"REWARD_CONSOLE_HOME": str(home)}
    server = subprocess.Popen(
        command, cwd=script.parent, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    address = f"http://127.0.0.1:{port}"
    for _ in range(600):
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=1)
        except OSError:
            time.sleep(0.1)
        else:
            return server, address
    raise SystemExit("a server did not start")


def rerun_ms(page: Page) -> float:
    """Ask for a rerun and return its milliseconds."""
    page.evaluate(WATCH)
    page.keyboard.press("r")
    return float(page.evaluate("() => window.rerun"))


def settle(page: Page) -> None:
    """Wait until the first run is over and its results are drawn."""
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]", timeout=60_000)
    page.wait_for_timeout(3000)
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]", timeout=60_000)


def main() -> int:
    """Run the comparison and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reruns", type=int, default=15)
    options = parser.parse_args()
    browser_path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    missed = 0
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        empty_script = Path(folder) / "empty.py"
        empty_script.write_text('import streamlit as st\nst.write("empty")\n')
        servers = [start(ROOT / "app.py", Path(folder)), start(empty_script, Path(folder))]
        try:
            browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
            empty = browser.new_page()
            empty.goto(servers[1][1])
            settle(empty)
            print(f"{'page':18} {'median ms':>10} {'p95 ms':>8} {'empty ms':>9} {'adds ms':>8}")
            for name in PAGES:
                page = browser.new_page()
                page.goto(f"{servers[0][1]}/{name}")
                settle(page)
                pairs = [(rerun_ms(page), rerun_ms(empty)) for _ in range(options.reruns)]
                ours = sorted(pair[0] for pair in pairs)
                median, base = statistics.median(ours), statistics.median(pair[1] for pair in pairs)
                p95 = ours[min(len(ours) - 1, round(0.95 * len(ours)))]
                print(f"{name:18} {median:10.0f} {p95:8.0f} {base:9.0f} {median - base:8.0f}")
                missed += median - base > GOAL_MS
                page.close()
            browser.close()
        finally:
            for server, _ in servers:
                server.terminate()
                server.wait(20)
    print(f"goal: at most {GOAL_MS} ms on top of the empty page:", "missed" if missed else "held")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
