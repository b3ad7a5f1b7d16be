"""Before a run depends on it: one test call, and the load of a training step.

Invariant: both go over HTTP to the running service, as a trainer's requests do.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import streamlit as st

from components import service, state, theme
from components.i18n import _, say
from components.publish.names import Publishable
from components.publish.snippets import REQUEST
from components.samples import current_sample
from components.theme import plain
from rewards_lib.contract import Sentence
from rewards_lib.payloads import DIALECTS
from rewards_lib.strict_json import write_json

ROOT = Path(__file__).resolve().parents[2]
CALL_SECONDS = 60.0


def test_call(chosen: Publishable) -> None:
    """Draw a request that can be edited, and what the service answers to it."""
    text = st.text_area(_("Request"), write_json(REQUEST, indent=1), height=170, key="test_call_text") or ""
    if st.button(_("Send it"), icon=":material/send:", key="test_call_send", disabled=service.find() is None):
        state.tested_call.set(_ask(chosen.name, text.encode()))
    answer = state.tested_call.get()
    if answer is None:
        return
    version, status, spent, body = answer
    badge = f":green-badge[{status}]" if status == 200 else f":red-badge[{status or _('no answer')}]"
    st.markdown(f"{badge} {theme.duration(spent)} · {plain(version or chosen.name)}")
    st.code(body[:20_000], language=None, wrap_lines=True)


def _ask(reference: str, body: bytes) -> tuple[str, int, float, str]:
    """Version, HTTP status (0: no answer), milliseconds, text. Over no proxy, which would be handed the token."""
    headers = {"Content-Type": "application/json"}
    if service.has_token():
        headers["Authorization"] = f"Bearer {service.token()}"
    connection = http.client.HTTPConnection(urlsplit(service.url()).netloc, timeout=CALL_SECONDS)
    started = time.perf_counter()
    try:
        connection.request("POST", f"/rewards/{quote(reference)}", body, headers)
        answer = connection.getresponse()
        status, text, version = answer.status, answer.read(), unquote(answer.headers.get("X-Reward-Version", ""))
    except (OSError, http.client.HTTPException) as error:
        status, text, version = 0, (str(error) or type(error).__name__).encode(), ""
    finally:
        connection.close()
    return version, status, (time.perf_counter() - started) * 1000, text.decode("utf-8", "replace")


# --- the load of a step ---------------------------------------------------------------------------------------------


class _Running:
    """The one load test of this console: its process and where it writes."""

    process: subprocess.Popen[bytes] | None = None
    folder: tempfile.TemporaryDirectory[str] | None = None
    result: dict[str, Any] | None = None


@st.cache_resource(show_spinner=False)
def _running() -> _Running:
    return _Running()


def load_test(chosen: Publishable) -> None:
    """Draw the sizes of a training step, its progress and what came of it."""
    st.caption(
        _("Sends what a training step sends, three times over, and says what limits: the sample of Compose.")
    )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        prompts = st.number_input(_("Prompts a step"), 1, 4096, 32, key="load_prompts")
        completions = st.number_input(_("Completions each"), 1, 256, 8, key="load_completions")
        at_once = st.number_input(_("Requests at once"), 1, 512, 8, key="load_concurrency")
        is_busy = _is_running()
        start = st.button(
            _("Run the load test"), icon=":material/speed:", key="load_start",
            disabled=is_busy or service.find() is None,
        )  # fmt: skip
    if start:
        _start(chosen, int(prompts), int(completions), int(at_once))
        st.rerun()
    if is_busy:
        _progress()
    elif _running().result is not None:
        _show(_running().result or {})
    elif service.find() is None:
        st.caption(_("Start the service first."))


def _start(chosen: Publishable, prompts: int, completions: int, at_once: int) -> None:
    running = _running()
    running.folder = tempfile.TemporaryDirectory(prefix="load-test-")
    running.result = None
    folder = Path(running.folder.name)
    payload = folder / "payload.json"
    payload.write_text(write_json(DIALECTS["bare"][1](current_sample())), encoding="utf-8")
    sizes = {"--batch-size": prompts, "--completions": completions, "--concurrency": at_once}
    command = [sys.executable, "-m", "rewards_lib", "load-test", "--name", chosen.name, "--url", service.url()]
    command += ["--payload", str(payload), *(str(part) for pair in sizes.items() for part in pair)]
    with (folder / "out").open("wb") as out, (folder / "told").open("wb") as told:
        running.process = subprocess.Popen(command, stdout=out, stderr=told, cwd=ROOT, env=dict(os.environ))


def _is_running() -> bool:
    """Whether it is under way; what it left is read once when it ends, and its folder is removed."""
    running = _running()
    process, folder = running.process, running.folder
    if process is None or folder is None:
        return False
    status = process.poll()
    if status is None:
        return True
    running.result = _read_result(status)
    running.process = running.folder = None
    folder.cleanup()
    return False


def _read_result(status: int) -> dict[str, Any] | None:
    """What it printed; why there is nothing to read; None where it was cancelled."""
    if status == -signal.SIGTERM:
        return None
    try:
        result = json.loads(_written("out"))
    except ValueError:
        result = None
    if isinstance(result, dict):
        return result
    lines = _written("told").strip().splitlines()
    return {"error": lines[-1] if lines else _("It ended with status {status} and said nothing.", status=status)}


def _written(name: str) -> str:
    """What it has written so far; empty when another visitor has just seen it end."""
    folder = _running().folder
    try:
        return (Path(folder.name) / name).read_text(encoding="utf-8", errors="replace") if folder else ""
    except OSError:
        return ""


def _progress() -> None:
    @st.fragment(run_every=0.5)
    def look() -> None:
        running = _running()
        if not _is_running():
            st.rerun()
        done, _slash, total = (_written("told").split() or ["0/1"])[-1].partition("/")
        if done.isdigit() and total.isdigit():
            share = min(int(done) / max(int(total), 1), 1.0)
            st.progress(share, _("{done} of {total} requests", done=done, total=total))
        if st.button(_("Cancel"), key="load_cancel") and running.process:
            running.process.terminate()

    look()


def _show(result: dict[str, Any]) -> None:
    if "p50_ms" not in result:
        st.error(plain(str(result.get("error", ""))), title=_("The load test could not run"))
        return
    step = max(result["step_seconds"])
    st.markdown(
        _("A step of {prompts} × {completions} takes **{time}** with {at_once} requests at once.",
          prompts=result["batch_size"], completions=result["completions"], time=theme.duration(step * 1000),
          at_once=result["concurrency"])
    )  # fmt: skip
    figures = [
        (name, f"{result[key]:.0f} ms" if result[key] is not None else "—")
        for name, key in (("p50", "p50_ms"), ("p95", "p95_ms"), ("p99", "p99_ms"))
    ]
    figures.append((_("completions a second"), theme.count(round(result["completions_per_second"]))))
    figures.append((_("errors"), theme.count(sum(result["errors"].values()))))
    figures.append((_("unscored"), theme.count(result["unscored"])))
    with st.container(horizontal=True, gap="medium"):
        for name, value in figures:
            st.markdown(f":small[:gray[{name}]]  \n**{value}**", width="content")
    st.markdown(plain(say(Sentence(result["told_template"], result["told_values"]))))
    if result["first_error"]:
        st.caption(plain(result["first_error"]))
