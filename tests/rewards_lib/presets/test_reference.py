"""The reference page is what the registry says."""

from pathlib import Path

from rewards_lib.presets import preset_names
from rewards_lib.presets.reference import reference

PAGE = Path(__file__).parents[3] / "docs" / "presets.md"


def test_the_page_is_written_from_the_registry():
    assert PAGE.read_text(encoding="utf-8") == reference(), (
        "run: python -m rewards_lib.presets.reference > docs/presets.md"
    )


def test_every_preset_has_its_heading():
    lines = reference().splitlines()
    assert [f"## {name}" in lines for name in preset_names()] == [True] * len(preset_names())
