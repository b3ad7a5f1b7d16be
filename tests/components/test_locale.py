"""The Chinese catalogue: complete, with the placeholders of its sources, and quick to load."""

from __future__ import annotations

import ast
import re
import time
from string import Formatter

import pytest
from babel.messages.pofile import read_po

from components import i18n
from components.locale.update import messages, texts_of
from rewards_lib.contract import sentence

SAME_IN_CHINESE = {
    "{finding}", "{kind}", "{kind}: {text}", "{known}", "{metric} {share}", "{text}", "id", "input_metadata.row_id",
    "Pass at k", "pass at k", "processor", "processor {time}",
}  # fmt: skip
"""Names and placeholders alone, and what Chinese writes in Latin letters."""
HAN = re.compile(r"[\u3400-\u9fff]")


@pytest.fixture(scope="module")
def sources() -> list[str]:
    """Every English template of the sources."""
    return sorted(messages())


@pytest.fixture(scope="module")
def chinese() -> dict[str, str]:
    """The catalogue as it stands in the file: English to Chinese."""
    with (i18n.CATALOGUES / "zh" / "console.po").open("rb") as file:
        return {entry.id: entry.string for entry in read_po(file, locale="zh") if entry.id}


@pytest.fixture
def in_chinese(monkeypatch):
    """A visitor who reads Chinese."""
    monkeypatch.setattr(i18n, "language", lambda: "zh")


def placeholders(template: str) -> list[tuple[str, str, str]]:
    """The fields of a template: name, conversion and format, in no order."""
    return sorted(
        (name, conversion or "", form or "")
        for _text, name, form, conversion in Formatter().parse(template)
        if name is not None
    )


def test_every_message_of_the_sources_has_a_translation(sources, chinese):
    missing = [text for text in sources if not chinese.get(text)]
    assert missing == [], "run `python -m components.locale.update` and translate what is empty"


def test_the_catalogue_holds_no_message_that_the_sources_lack(sources, chinese):
    assert sorted(set(chinese) - set(sources)) == []


def test_a_translation_keeps_exactly_the_placeholders_of_its_source(chinese):
    changed = [text for text, told in chinese.items() if told and placeholders(text) != placeholders(told)]
    assert changed == []


def test_a_translation_keeps_code_and_icons_of_its_source(chinese):
    kept = re.compile(r"`[^`]+`|:material/\w+:")
    assert [text for text, told in chinese.items() if sorted(kept.findall(text)) != sorted(kept.findall(told))] == []


def test_no_translation_is_the_english_text_again(chinese):
    assert {text for text, told in chinese.items() if told == text} <= SAME_IN_CHINESE


def test_every_translation_reads_as_chinese(chinese):
    foreign = [told for text, told in chinese.items() if not HAN.search(told) and text not in SAME_IN_CHINESE]
    assert [told for told in foreign if re.search("[A-Za-z]", re.sub(r"{\w*}", "", told))] == []


def test_no_english_template_holds_chinese_characters(sources):
    assert [text for text in sources if HAN.search(text)] == []


def test_an_unknown_text_stays_english(in_chinese):
    assert i18n._("No such message {x}.", x=1) == "No such message 1."


def test_a_known_text_is_translated_and_filled(in_chinese):
    assert i18n._("Weight of {rule}", rule="accuracy") == "accuracy 的权重"


def test_a_sentence_inside_a_sentence_is_translated_too(in_chinese):
    inner = sentence("inside reward_fn")
    told = i18n.say(sentence("The time limit of {seconds:g} s was reached {where}.", seconds=2.5, where=inner))
    assert told == "在 reward_fn 中达到 2.5 s 的时间上限。"


def test_the_catalogue_loads_in_under_a_second():
    i18n.translations.cache_clear()
    begun = time.process_time()
    i18n.translations("zh")
    assert time.process_time() - begun < 1


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ('_("a")', ["a"]),
        ('sentence("a" if x else "b", y=1)', ["a", "b"]),
        ('template = "a"\nsentence(template)', ["a"]),
        ('TABLE = {"k": ("a", "b")}\nwhat, remedy = TABLE[x] if x else (y, "")\nInputError(what)', ["a", "b"]),
        ('table = {"k": "a"}\ntext = table.get(k, "b")\n_(text)', ["a", "b"]),
        ('InputError("a", where="no", remedy="b")', ["a", "b"]),
        ('class InputError(E):\n def __init__(self):\n  super().__init__("a")', ["a"]),
        ('def finding(template: str): ...\nfinding("a")', ["a"]),
        ('ValueError("no")', []),
        ('class Other(E):\n def __init__(self):\n  super().__init__("no")', []),
        ('_(f"no {x}")', []),
    ],
)
def test_the_texts_of_a_module_are_those_that_people_read(source, texts):
    assert [text for text, _line in texts_of(ast.parse(source), frozenset(["InputError"]))] == texts


def test_errors_of_the_family_are_read_and_those_of_the_worker_are_not(sources):
    assert "The file cannot be read: {reason}." in sources
    assert not any("item_seconds" in text or "cannot be copied" in text for text in sources)
