"""The warm process: imports once, then forks one confined child for each run, the next one always beforehand.

It speaks with the host over one packet socket. A request carries descriptors: payload, status, and those of the child
with the places where they belong. Invariant: the zygote never runs author code; it only imports, forks, kills and
reaps.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import importlib.abc
import importlib.util
import json
import os
import select
import signal
import socket
import sys
from base64 import b64decode
from typing import Any

from . import child, confine, patches, rl_types, selftest, spare, streams
from .compiling import compile_source
from .facades import ImportGate, user_module
from .module_tables import ALLOWED
from .refusals import Row

_LAST_PLACE = 5
_LOOK_SECONDS = 5.0
_WARM_UP = """
from __future__ import annotations
import re, json, math
from typing import Any
from rl_types import RewardFunctionResult, RewardStatus
def reward_fn(context, sample, completions):
    found = [float(bool(re.search(r"a+", str(c)))) for c in completions]
    return RewardFunctionResult(found, {"share": 2 ** len(found)}, RewardStatus.SUCCESS)
"""


class Zygote:
    """The state of the warm process."""

    def __init__(self, control: socket.socket, config: Row) -> None:
        self._control = control
        self._config = config
        self._live: dict[int, tuple[str, int]] = {}
        """Process id to (run id, status descriptor)."""
        self._spare: spare.SpareChild | None = None
        """Has no run yet."""
        self._data_held = 0
        """Bytes that a child has from here, which count for no run."""
        self._parent = os.getppid()
        self._zygote_filter = b64decode(config["zygote_filter"])
        self._child_filter = b64decode(config["child_filter"])

    # --- start -----------------------------------------------------------------------------------------------------

    def prepare(self) -> Row:
        """Import, confine this process, prove that children are confined, and say so."""
        sys.path.extend(self._config["site"])
        sys.meta_path.append(_FolderFinder(self._config.get("folders", {})))
        patches.install()
        _publish_rl_types()
        layers = self._confine_zygote()
        self._preload(self._config["preload"])
        for _ in range(2):
            self._warm_up()
        failures = selftest.run_in_child(self._confine_child_for_test) if self._config["tier"] != "C" else []
        gc.collect()
        gc.freeze()
        return {"ready": True, "layers": layers, "failures": failures}

    def _confine_zygote(self) -> list[str]:
        """Bound what imported packages can do here; children inherit it and add their own."""
        layers = []
        if self._config["become_nobody"]:
            confine.become_nobody(keep_reading=self._config["keep_reading"])
        if sys.platform == "linux":
            confine.hide_from_debuggers()
            if self._config["tier"] == "B":
                confine.die_with_parent(signal.SIGKILL)
            confine.forbid_new_privileges()
        if not self._config["bare"]:
            layers += self._confine_files()
            layers += self._confine_calls()
        return layers

    def _confine_files(self) -> list[str]:
        """Landlock: a must in tier B, welcome in A (old kernels lack it) and C."""
        try:
            confine.restrict_files(self._config["readable"], ["/dev/null", "/dev/urandom"])
        except OSError:
            if self._config["tier"] == "B":
                raise
            return []
        return ["landlock"]

    def _confine_calls(self) -> list[str]:
        """Seccomp: a must in tiers A and B, welcome in C."""
        try:
            if self._child_filter:
                confine.load_filter(self._zygote_filter)
        except OSError:
            if self._config["tier"] != "C":
                raise
            self._child_filter = b""
        return ["seccomp"] if self._child_filter else []

    def _warm_up(self) -> None:
        """Run the compiler once: nobody pays for first use, nor a child for its own copies of the memory touched."""
        code, _ = compile_source(_WARM_UP)
        if code is not None:
            exec(code, user_module(ImportGate(frozenset())).__dict__)
        sys.modules.pop("reward", None)

    def _preload(self, names: list[str]) -> None:
        for name in names:
            with contextlib.suppress(BaseException):  # a run that imports it meets the error itself
                importlib.import_module(name)

    # --- loop ------------------------------------------------------------------------------------------------------

    def serve(self) -> None:
        """Take requests until the host is gone."""
        reading, writing = os.pipe()
        for end in (reading, writing):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._keep_spare()
        while True:
            ready, _, _ = select.select([self._control.fileno(), reading], [], [], _LOOK_SECONDS)
            if os.getppid() != self._parent:
                os._exit(0)
            if reading in ready:
                os.read(reading, 4096)
                self._reap()
            if self._control.fileno() in ready:
                self._take_request()

    def _reap(self) -> None:
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            if self._config["tier"] == "C":
                _kill_group(pid)  # nothing else ends what a run left behind
            if self._spare is not None and pid == self._spare.pid:
                self._spare.forget()
                self._spare = None
            if pid in self._live:
                _, report = self._live.pop(pid)
                cpu_seconds = usage.ru_utime + usage.ru_stime
                _tell(report, {"status": status, "memory_kb": usage.ru_maxrss, "cpu": cpu_seconds})

    def _take_request(self) -> None:
        message, descriptors = spare.receive(self._control)
        if not message:
            os._exit(0)
        request = json.loads(message)
        if "run" in request:
            self._start(request["run"], message, descriptors)
        elif "kill" in request:
            self._kill(request["kill"])
        elif "preload" in request:
            self._preload_more(request["preload"])
        for descriptor in descriptors:
            os.close(descriptor)
        self._keep_spare()

    def _preload_more(self, names: list[str]) -> None:
        """Import more, for the children from the next one on."""
        if self._spare is not None:
            self._spare.dismiss()
            self._spare = None
        gc.unfreeze()
        self._preload([name for name in names if self._may_preload(name)])
        gc.collect()
        gc.freeze()

    def _may_preload(self, name: str) -> bool:
        """Only names that the host knows of: the standard list, declared packages, or anything of our own."""
        top = name.split(".", maxsplit=1)[0]
        return bool(self._config["trusted"]) or name in ALLOWED or top not in sys.stdlib_module_names

    def _start(self, run_id: str, request: bytes, descriptors: list[int]) -> None:
        """Give the run to the spare child, or to a new one when there is none or it has died."""
        status = descriptors.pop(1)
        chosen = self._spare
        self._spare = None
        if chosen is None or not chosen.give(request, descriptors):
            try:
                chosen = self._fork()
            except OSError as error:  # costs this run, not those of the others
                _tell(status, {"no_process": str(error)})
                return
            chosen.give(request, descriptors)  # if it dies at once, its status tells
        self._live[chosen.pid] = (run_id, status)

    def _keep_spare(self) -> None:
        """Fork the child of the next run, if that can be done now."""
        if self._spare is None:
            with contextlib.suppress(OSError):
                self._spare = self._fork()

    def _fork(self) -> spare.SpareChild:
        return spare.SpareChild(self._control.type, self._get_ready, self._become_child)

    def _kill(self, run_id: str) -> None:
        for pid, (live_id, _) in self._live.items():
            if live_id == run_id:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
                if self._config["tier"] == "C":
                    _kill_group(pid)

    # --- child -----------------------------------------------------------------------------------------------------

    def _get_ready(self) -> None:
        """What a child can do before it knows its run."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number in (signal.SIGXFSZ, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if sys.platform == "linux":
            confine.die_with_parent(signal.SIGKILL)
        os.setpgid(0, 0)
        child.reseed()
        self._warm_up()
        self._data_held = confine.data_held()

    def _become_child(self, message: bytes, descriptors: list[int]) -> None:
        request = json.loads(message)
        payload = _arrange_descriptors(descriptors, request["places"])
        streams.open_streams()
        self._confine_child(request["limits"])
        child.run(request["kind"], json.loads(payload))
        os._exit(0)

    def _confine_child(self, limits: Row) -> None:
        child.limit_threads(limits["threads"])
        confine.limit_resources(
            cpu_seconds=limits["cpu_seconds"], memory_bytes=(limits["memory_mb"] << 20) + self._data_held,
            processes=limits["threads"] + 1_024 if self._config["own_user"] else None,
        )  # fmt: skip
        if self._child_filter:
            confine.load_filter(self._child_filter)

    def _confine_child_for_test(self) -> None:
        self._confine_child({"threads": 64, "cpu_seconds": 10, "memory_mb": 1024})


def _tell(status: int, report: Row) -> None:
    """Say how a run ended, which also ends its status pipe."""
    with contextlib.suppress(OSError):
        os.write(status, json.dumps(report).encode())
    os.close(status)


def _kill_group(leader: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(leader, signal.SIGKILL)


def _arrange_descriptors(descriptors: list[int], places: list[int]) -> bytes:
    """Read the payload; put the other descriptors at their places and close everything else.

    Places: 1 standard output, 2 standard error, 3 the result, 4 the gateway, 5 the feed of a batch.
    """
    payload, *others = descriptors
    data = bytearray()
    while piece := os.pread(payload, 1 << 20, len(data)):
        data += piece
    high = {place: _above(number, _LAST_PLACE + 1) for place, number in zip(places, others, strict=True)}
    for place in range(1, _LAST_PLACE + 1):
        if place in high:
            os.dup2(high[place], place)
        else:
            with contextlib.suppress(OSError):
                os.close(place)
    spare.close_from(_LAST_PLACE + 1)
    return bytes(data)


def _above(number: int, least: int) -> int:
    return fcntl.fcntl(number, fcntl.F_DUPFD, least)


class _FolderFinder(importlib.abc.MetaPathFinder):
    """Finds modules of ours by their place, so that the folder around them need not be readable, nor all imported."""

    def __init__(self, places: dict[str, str]) -> None:
        self._places = places

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:  # noqa: ARG002 -- the protocol
        """Say where a module lies, None when it is none of ours."""
        place = self._places.get(fullname)
        if place is None or place.endswith(".py"):
            return place and importlib.util.spec_from_file_location(fullname, place)
        init = os.path.join(place, "__init__.py")
        return importlib.util.spec_from_file_location(fullname, init, submodule_search_locations=[place])


def _publish_rl_types() -> None:
    for kind in (rl_types.RewardFunctionResult, rl_types.RewardStatus):
        kind.__module__ = "rl_types"
    sys.modules["rl_types"] = rl_types


def main() -> None:
    """Read the configuration, get ready, serve."""
    control = socket.socket(fileno=int(sys.argv[1]))
    message, _ = spare.receive(control)
    config: dict[str, Any] = json.loads(message)
    zygote = Zygote(control, config)
    try:
        hello = zygote.prepare()
    except BaseException as error:
        hello = {"ready": False, "why": f"{type(error).__name__}: {error}"}
    control.send(json.dumps(hello).encode())
    silent = os.open("/dev/null", os.O_WRONLY)
    os.dup2(silent, 2)
    os.close(silent)
    if hello["ready"]:
        zygote.serve()
