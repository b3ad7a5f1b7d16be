"""Dependencies of custom functions: read requirement lines, install them once, know their top-level packages.

Invariant: only wheels are installed (no setup code runs), each set of requirements into a folder of its own whose name
is a hash of what it was made from; a folder appears complete or not at all.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rewards_lib.errors import DependencyError, InputError
from rewards_lib.executor import places
from rewards_lib.executor.installing import InstallWatch, alone, install_wheels

if TYPE_CHECKING:
    from importlib.metadata import Distribution

    from packaging.requirements import Requirement

_FORMAT = "1"
_BIGGEST_FILE_BYTES = 64_000
_MOST_KNOWN = 256
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
        if _is_meant(requirement, entry, where):
            found.append(requirement)
    return found


def _is_meant(requirement: Requirement, entry: str, where: str) -> bool:
    """Whether the condition of a requirement holds here."""
    from packaging.markers import UndefinedComparison, UndefinedEnvironmentName

    try:
        return requirement.marker is None or requirement.marker.evaluate()
    except (UndefinedComparison, UndefinedEnvironmentName):
        raise InputError(
            "The condition of {entry} compares what cannot be compared.", where=where, entry=entry
        ) from None


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

    def install(self, text: str, watch: InstallWatch | None = None) -> Environment:
        """Return the environment of a requirements.txt, installing it first when it is new.

        Who asks for what is being installed already waits for it. Raises InputError for lines that are no requirements
        and DependencyError when they cannot be installed or ``watch`` cancels it.
        """
        found = self.find(text)
        if found is not None:
            return found
        requirements = read_requirements(text)
        key = _key(requirements)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            watch = watch or InstallWatch()
            with alone(self._folder / f"{key[0]}.lock", watch):  # sixteen files in all, which may stay
                return self._read(key) or self._build(key, requirements, watch)
        except OSError as error:
            raise DependencyError("The requirements cannot be installed: {why}.", why=str(error)) from None

    def _read(self, key: str) -> Environment | None:
        folder = self._folder / key
        try:
            facts = json.loads((folder / "environment.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return Environment((str(folder / "site"),), frozenset(facts["packages"]))

    def _build(self, key: str, requirements: list[Requirement], watch: InstallWatch) -> Environment:
        """Build beside, then rename: whoever looks sees a whole folder or none.

        What a console that was killed left half built is removed: this one holds the lock it was built under.
        """
        for left_over in self._folder.glob(f"{key[0]}*.*/"):
            shutil.rmtree(left_over, ignore_errors=True)
        building = Path(tempfile.mkdtemp(prefix=f"{key}.", dir=self._folder))
        try:
            site = install_wheels(requirements, building, watch)
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
