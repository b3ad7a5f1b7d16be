"""Dependencies of custom functions: read requirement lines, install them once, know their top-level packages.

Invariant: only wheels are installed (no setup code runs), each set of requirements into a folder of its own whose name
is a hash of what it was made from; a folder appears complete or not at all.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rewards_lib.errors import DependencyError, InputError
from rewards_lib.executor import places

if TYPE_CHECKING:
    from importlib.metadata import Distribution

    from packaging.requirements import Requirement

_FORMAT = "1"
_INSTALL_SECONDS = 600
_BIGGEST_FILE_BYTES = 64_000
_MOST_BYTES = 4 << 30
_MOST_KNOWN = 256
_CAUSES = ("cause:", "╰─▶")
_SCRIPTS = ("bin", "Scripts")
"""Folders for commands: they hold no package."""


@dataclass(frozen=True, slots=True)
class Environment:
    """Installed requirements."""

    site: tuple[str, ...]
    """Folders for ``sys.path``."""
    packages: frozenset[str]
    """Top-level names that reward code may import."""


NO_PACKAGES = Environment((), frozenset())


def read_requirements(text: str) -> list[Requirement]:
    """Read PEP 508 lines (a name and a version); raises InputError with the line for anything else."""
    from packaging.requirements import InvalidRequirement, Requirement

    if len(text) > _BIGGEST_FILE_BYTES:
        raise InputError("requirements.txt is larger than {limit} bytes.", limit=_BIGGEST_FILE_BYTES)
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        entry = re.sub(r"(^|\s)#.*$", "", line).strip()
        if not entry:
            continue
        where = f"requirements.txt line {number}"
        if entry.startswith("-"):
            raise InputError(
                "Options such as {entry} are not available: write a name and a version.", where=where, entry=entry
            )
        if "://" in entry or entry.startswith((".", "/", "git+")) or entry.endswith((".whl", ".tar.gz", ".zip")):
            raise InputError("Addresses and paths such as {entry} are not available.", where=where, entry=entry)
        try:
            requirement = Requirement(entry)
        except InvalidRequirement as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise InputError(
                "{entry} is not a requirement: {reason}.", where=where, entry=entry, reason=reason
            ) from None
        if requirement.url:
            raise InputError("Addresses such as {entry} are not available.", where=where, entry=entry)
        if requirement.marker is None or requirement.marker.evaluate():
            found.append(requirement)
    return found


class Environments:
    """The installed sets of requirements below one folder. Safe for several processes."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "environments"
        self._known: dict[str, Environment] = {}
        """Requirements that were found before: looking through installed packages takes 20 ms."""

    def find(self, text: str) -> Environment | None:
        """Return the environment of a requirements.txt when it needs no installing, else None."""
        known = self._known.get(text)
        if known is not None and all(os.path.isdir(folder) for folder in known.site):
            return known
        requirements = read_requirements(text)
        found = (self._read(_key(requirements)) or _already_here(requirements)) if requirements else NO_PACKAGES
        if found is not None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[text] = found
        return found

    def install(self, text: str) -> Environment:
        """Return the environment of a requirements.txt, installing it first when it is new.

        Raises InputError for lines that are no requirements and DependencyError when they cannot be installed.
        """
        found = self.find(text)
        if found is not None:
            return found
        requirements = read_requirements(text)
        key = _key(requirements)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with _locked(self._folder / f"{key[0]}.lock"):  # sixteen files in all, which may stay
                return self._read(key) or self._build(key, requirements)
        except OSError as error:
            raise DependencyError("The requirements cannot be installed: {why}.", why=str(error)) from None

    def _read(self, key: str) -> Environment | None:
        folder = self._folder / key
        try:
            facts = json.loads((folder / "environment.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return Environment((str(folder / "site"),), frozenset(facts["packages"]))

    def _build(self, key: str, requirements: list[Requirement]) -> Environment:
        """Build beside, then rename: whoever looks sees a whole folder or none."""
        building = Path(tempfile.mkdtemp(prefix=f"{key}.", dir=self._folder))
        try:
            site = building / "site"
            site.mkdir(mode=0o755)
            _install(requirements, site)
            facts = {"packages": sorted(top_level_names(site)), "installed": sorted(_installed(site))}
            (building / "environment.json").write_text(json.dumps(facts, indent=1), encoding="utf-8")
            building.chmod(0o755)
            building.rename(self._folder / key)
        finally:
            shutil.rmtree(building, ignore_errors=True)
        found = self._read(key)
        if found is None:
            raise DependencyError("The installed requirements cannot be read back.")
        return found


def top_level_names(site: Path) -> set[str]:
    """List what can be imported from an installed folder, as its distributions declare it."""
    return {name for distribution in _distributions(site) for name in _top_level(distribution)}


def _top_level(distribution: Distribution) -> set[str]:
    declared = (distribution.read_text("top_level.txt") or "").split()
    if declared:
        return {name.split("/")[0] for name in declared}
    names = set()
    for file in distribution.files or ():
        first = file.parts[0]
        if (
            len(file.parts) > 1
            and not first.endswith((".dist-info", ".data", ".libs"))
            and first not in ("..", "__pycache__", *_SCRIPTS)
        ):
            names.add(first)
        elif len(file.parts) == 1 and first.endswith((".py", ".so")):
            names.add(first.split(".")[0])
    return names


def _distributions(site: Path) -> Iterator[Distribution]:
    from importlib.metadata import distributions  # 20 ms that most runs do not need

    yield from distributions(path=[str(site)])


def _installed(site: Path) -> Iterator[str]:
    for distribution in _distributions(site):
        yield f"{distribution.metadata['Name']}=={distribution.version}"


def _key(requirements: list[Requirement]) -> str:
    lines = sorted(str(requirement) for requirement in requirements)
    version = f"{sys.implementation.cache_tag}-{platform.system()}-{platform.machine()}"
    return hashlib.sha256("\n".join([_FORMAT, version, *lines]).encode()).hexdigest()[:32]


# --- what is installed beside us ------------------------------------------------------------------------------------


def _already_here(requirements: list[Requirement]) -> Environment | None:
    """Use the console's own packages when they satisfy every line: numpy or requests then need no network."""
    packages: set[str] = set()
    waiting, seen = [(requirement, frozenset(requirement.extras)) for requirement in requirements], set()
    while waiting:
        requirement, extras = waiting.pop()
        key = (requirement.name.lower(), extras)
        if key in seen:
            continue
        seen.add(key)
        distribution = _own_distribution(requirement)
        if distribution is None:
            return None
        packages |= _top_level(distribution)
        waiting += _needs(distribution, extras)
    return Environment(tuple(places.own_packages()), frozenset(packages))


def _own_distribution(requirement: Requirement) -> Distribution | None:
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import distribution as find

    try:
        distribution = find(requirement.name)
    except PackageNotFoundError:
        return None
    return distribution if requirement.specifier.contains(distribution.version, prereleases=True) else None


def _needs(distribution: Distribution, extras: frozenset[str]) -> Iterator[tuple[Requirement, frozenset[str]]]:
    from packaging.requirements import Requirement

    for line in distribution.requires or ():
        needed = Requirement(line)
        settings = [{"extra": extra} for extra in extras] or [{"extra": ""}]
        if needed.marker is None or any(needed.marker.evaluate(setting) for setting in settings):
            yield needed, frozenset(needed.extras)


# --- installing -----------------------------------------------------------------------------------------------------


def _install(requirements: list[Requirement], site: Path) -> None:
    lines = [str(requirement) for requirement in requirements]
    uv = shutil.which("uv")
    if uv:
        command = [uv, "pip", "install", "--python", sys.executable]
    else:
        command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--no-compile"]
    command += ["--quiet", "--only-binary", ":all:", "--target", str(site), "--", *lines]
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=_INSTALL_SECONDS, check=False, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        raise DependencyError("Installing the requirements took more than {limit} s.", limit=_INSTALL_SECONDS) from None
    if done.returncode != 0:
        raise DependencyError(
            "The requirements cannot be installed: {why}.", why=_reason(done.stderr.decode("utf-8", "replace"))
        )
    size = sum(file.stat().st_size for file in site.rglob("*") if file.is_file())
    if size > _MOST_BYTES:
        raise DependencyError("The requirements take more than {limit} bytes.", limit=_MOST_BYTES)
    _make_readable(site)


def _reason(errors: str) -> str:
    """The installer's own words: the cause that uv gives, else the first error line, else the first line."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith(_CAUSES)]
    telling = [line for line in lines if line.lower().startswith(("error", "x ", "×"))]
    line = (causes or telling or lines or ["the installer failed"])[0]
    for prefix in (*_CAUSES, "ERROR: ", "error: "):
        line = line.removeprefix(prefix).strip()
    return line.rstrip(".")


def _make_readable(site: Path) -> None:
    """Let the worker's user read the files whatever this process's umask is."""
    for folder, _, files in os.walk(site):
        os.chmod(folder, 0o755)  # noqa: S103  # the worker runs as another user
        for name in files:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                os.chmod(path, 0o755 if os.access(path, os.X_OK) else 0o644)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock among processes while one of them installs."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
