"""Writing a published version as a folder that a trainer runs without the console.

Invariant: the folder is written whole or not at all, holds no secret, and its smoke test expects exactly the rewards
that the console gives.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rewards_lib.contract import Completion, JsonObject, Payload, Sample, Sentence, sentence
from rewards_lib.errors import InputError
from rewards_lib.executor import Executor
from rewards_lib.interop.package import package_files, package_name, requirements_of
from rewards_lib.interop.targets import TARGETS, Target
from rewards_lib.presets import find_preset
from rewards_lib.publishing import Published
from rewards_lib.scoring import score_payload
from rewards_lib.strict_json import write_json

MANIFEST = "export.json"
_SMOKE = '''"""Score the recorded requests as the trainer would and compare with the console: python smoke_test.py."""

import json
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))


def rewards_of(sample, completions):
{body}

def main():
    requests = json.loads((FOLDER / "smoke_test.json").read_text(encoding="utf-8"))
    wrong = 0
    for number, request in enumerate(requests, 1):
        try:
            rewards = list(rewards_of(request["sample"], request["completions"]))
        except Exception as error:
            if type(error).__name__ != "UnscoredError":
                raise
            rewards = [None] * len(request["completions"])
        if rewards != request["rewards"]:
            print(f"request {{number}}: expected {{request['rewards']}}, got {{rewards}}")
            wrong += 1
    print(f"{{len(requests) - wrong}} of {{len(requests)}} requests give the console's rewards")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
'''
_GENERIC = (
    "so \\boxed{0.5}",
    "<think>half of one</think><answer>0.5</answer>",
    "<think>Half of one.</think>\n<answer>\\boxed{\\frac{1}{2}}</answer>",
    "I do not know",
    "",
)


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written."""

    folder: Path
    files: tuple[str, ...]
    """Paths below the folder, in order."""
    findings: tuple[Sentence, ...]
    """Where this trainer cannot do what the console does."""


def export_version(published: Published, target_name: str, folder: Path, *, executor: Executor) -> Exported:
    """Write a version for one trainer into a folder that does not exist or is an earlier export.

    Raises InputError for an unknown target and for a folder that holds anything else.
    """
    if target_name not in TARGETS:
        raise InputError(
            "There is no target {name}.", where="--target", name=target_name, remedy="There are: {names}.",
            names=", ".join(TARGETS),
        )  # fmt: skip
    if folder.exists() and not folder.is_dir():
        raise InputError("This is a file.", where=str(folder), remedy="Name a folder.")
    if folder.exists() and any(folder.iterdir()) and not (folder / MANIFEST).is_file():
        raise InputError(
            "The folder holds something else.", where=str(folder), remedy="Name an empty or a new folder: an export "
            "takes the whole of its place.",
        )  # fmt: skip
    target = TARGETS[target_name]
    findings = tuple(_findings(published, target))
    files = exported_files(published, target, executor=executor)
    _write(folder, files)
    return Exported(folder, tuple(sorted(files)), findings)


def exported_files(published: Published, target: Target, *, executor: Executor) -> dict[str, str]:
    """The files of an export by path. The same version gives the same texts."""
    package = package_name(published)
    version = published.version
    manifest = {
        "name": version.name, "version": version.number, "kind": version.kind, "note": version.note,
        "sha256": version.sha256, "mix_version": published.mix_version, "target": target.name,
        "content": version.content,
    }  # fmt: skip
    return {
        **package_files(published, target.adapter),
        **target.files(published, package),
        "requirements.txt": requirements_of(published, target.adapter),
        "smoke_test.py": _SMOKE.format(body=target.smoke),
        "smoke_test.json": write_json(_smoke_requests(published, target, executor), indent=1) + "\n",
        "README.md": _readme(published, target),
        MANIFEST: write_json(manifest, indent=1) + "\n",
    }


def _write(folder: Path, files: dict[str, str]) -> None:
    folder = folder.resolve()  # ``.`` has a name and a parent then
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as made:
        whole = Path(made) / "export"
        for path, text in files.items():
            place = whole / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8", newline="\n")
        before = Path(made) / "before"
        if folder.exists():
            folder.rename(before)
        try:
            shutil.move(whole, folder)
        except OSError:
            if before.exists():
                before.rename(folder)
            raise


# --- the smoke test -------------------------------------------------------------------------------------------------


def _smoke_requests(published: Published, target: Target, executor: Executor) -> list[JsonObject]:
    """Requests and the console's rewards for them; none where a rule asks a service that may not be there."""
    presets = [find_preset(rule.preset) for rule in published.mix.rules if rule.preset]
    if any(preset.runs_on == "host" for preset in presets):
        return []
    generic = Sample(({"role": "user", "content": "What is 1/2?"},), {"answer": "0.5"})
    asked = [(generic, list(_GENERIC))]
    for preset in presets:
        example = preset.examples[0]
        asked.append((example.sample, [Completion(raw).text for raw in example.completions]))
    requests = []
    for sample, texts in asked:
        for group in [texts] if target.takes_groups else [[text] for text in texts]:
            payload = Payload(sample, tuple(Completion(text) for text in group))
            result = score_payload(published.mix, payload, executor=executor, resolve=published.resolve)
            row = {"sample": {"messages": list(sample.messages), "extra": sample.extra}, "completions": group}
            requests.append(row | {"rewards": list(result.rewards)})
    return requests


# --- words ----------------------------------------------------------------------------------------------------------


def _findings(published: Published, target: Target) -> list[Sentence]:
    found = []
    if not target.takes_groups:
        for rule in published.mix.rules:
            if rule.preset and find_preset(rule.preset).is_group:
                found.append(
                    sentence(
                        "{trainer} asks for one completion at a time: {rule} looks at a whole group and sees a group "
                        "of one there. Call the service, or use a trainer that hands over groups.",
                        trainer=target.label, rule=rule.name,
                    )
                )  # fmt: skip
    hosts = [rule.name for rule in published.mix.rules if rule.preset and find_preset(rule.preset).runs_on == "host"]
    if hosts:
        found.append(
            sentence(
                "{rules} asks a service over the network; the trainer's machines must reach it, and the smoke test "
                "records nothing for it.", rules=", ".join(hosts),
            )
        )  # fmt: skip
    functions = [published.resolve(rule).source for rule in published.mix.rules if rule.function is not None]
    names = sorted({name for source in functions for name, _value in source.secrets})
    if names:
        found.append(
            sentence(
                "The function reads the secrets {names} from the environment: set them where the trainer runs; this "
                "folder holds no value.", names=", ".join(names),
            )
        )  # fmt: skip
    return found


def _readme(published: Published, target: Target) -> str:
    rules = "\n".join(
        f"| {rule.name} | {rule.preset or rule.function} | {rule.weight} |" for rule in published.mix.rules
    )
    notes = "".join(f"\n> {finding}\n" for finding in _findings(published, target))
    return f"""# {published.label} for {target.label}

The reward `{published.label}` as a folder of its own: it needs Python 3.11 or newer and `requirements.txt`, nothing of
the console that it came from. Made for {target.tried_with}. Mix {published.mix_version}.

| rule | what | weight |
|---|---|---|
{rules}
{notes}
## Try it

```sh
pip install -r requirements.txt
python smoke_test.py
```

The smoke test calls the reward as the trainer does and expects the console's rewards, equal to the last bit.

## Use it

{target.usage(published)}

## What it is not

**The reward's code runs unconfined here**, with the rights of the trainer and without a time limit: run only rewards
that you trust, or call the reward service instead. {target.unscored} Nothing is ever made 0 by itself.
"""
