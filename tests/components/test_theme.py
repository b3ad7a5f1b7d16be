"""One palette: what widgets take from the settings is what charts take from the theme; and numbers read as agreed."""

import tomllib
from pathlib import Path

import pytest

from components import theme

SETTINGS = tomllib.loads((Path(__file__).resolve().parents[2] / ".streamlit" / "config.toml").read_text())


@pytest.mark.parametrize(("name", "palette"), [("light", theme.LIGHT), ("dark", theme.DARK)])
def test_charts_and_widgets_have_the_same_colours(name, palette):
    settings = SETTINGS["theme"][name]
    assert (palette.text, palette.ground, palette.line, palette.primary) == (
        settings["textColor"],
        settings["backgroundColor"],
        settings["borderColor"],
        settings["primaryColor"],
    )
    assert (palette.good, palette.watch, palette.bad) == (
        settings["greenColor"],
        settings["orangeColor"],
        settings["redColor"],
    )
    assert list(palette.series) == settings["chartCategoricalColors"]


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("palette", [theme.LIGHT, theme.DARK])
def test_text_stands_out_from_its_ground(palette):
    for colour in (palette.text, palette.muted, *palette.series):
        light, dark = sorted((luminance(colour), luminance(palette.ground)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, colour


def test_the_console_listens_on_this_machine_alone_and_sends_nothing():
    assert SETTINGS["server"]["address"] == "127.0.0.1"
    assert SETTINGS["browser"]["gatherUsageStats"] is False
    assert SETTINGS["client"]["showErrorDetails"] == "type"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.45, "0.45"), (0.0, "0"), (-0.0, "0"), (-0.1, "−0.1"), (None, "—"), (115000.0, "115000"), (1 / 3, "0.3333")],
)
def test_a_reward_reads_without_trailing_zeros_and_unscored_is_a_dash(value, text):
    assert theme.number(value) == text


def test_text_of_others_loses_every_sign_that_markdown_would_read():
    assert theme.plain("16*7=112 <b> $x$ :red[y]") == r"16\*7=112 \<b\> \$x\$ \:red\[y\]"
