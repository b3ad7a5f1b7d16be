"""docs/agentic.md names every trap and every system, and its worked lines give what they say."""

import re
from pathlib import Path

from rewards_lib.agentic import SYSTEMS, LossMode, Policy
from rewards_lib.agentic.trajectories import traps

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "docs" / "agentic.md").read_text(encoding="utf-8")


def test_every_trap_that_is_told_stands_in_the_document():
    source = Path(traps.__file__).read_text(encoding="utf-8")
    rules = set(re.findall(r'rule="(\w+)"', source)) | {
        f"{part}_in_the_loss" for part in ("tool_output", "user", "system", "earlier_answer", "template")
    }
    assert [rule for rule in sorted(rules) if f"`{rule}`" not in TEXT] == []


def test_every_system_rule_and_loss_mode_stands_in_the_document():
    assert [name for name in SYSTEMS if f"| {name} |" not in TEXT] == []
    assert [name for name in (*Policy, *LossMode) if f"| `{name}`" not in TEXT] == []


def test_the_document_names_where_each_systems_numbers_were_read():
    assert [
        one.name for one in SYSTEMS.values() if one.policy is not Policy.SYNCHRONOUS and one.source not in TEXT
    ] == []


def test_the_first_lines_of_the_document_run():
    names: dict[str, object] = {}
    exec(re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)[0], names)
    assert names["mask"].tolist() == [0, 0, 1, 1, 0, 1]
