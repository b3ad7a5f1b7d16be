"""Which program is taken out of a completion."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards_lib.code_judge.extraction import extract_program
from rewards_lib.code_judge.languages import LANGUAGES, find_language, main_class
from rewards_lib.errors import InputError

PYTHON, CPP = LANGUAGES["python"], LANGUAGES["cpp"]


def code(completion: str, language=PYTHON) -> str | None:
    return extract_program(completion, language).code


def test_the_last_block_of_the_language_counts():
    assert code("```python\nprint(1)\n```\nBetter:\n```python\nprint(2)\n```\n") == "print(2)"


def test_a_block_of_the_language_goes_before_one_without_a_tag():
    assert code("```python\nprint(1)\n```\nOutput:\n```\n1\n```\n") == "print(1)"
    assert code("It is\n```\nprint(3)\n```\n") == "print(3)"


@pytest.mark.parametrize("tag", ["py", "Python", "python3", "PYTHON title='x'", "{.python}", "python:main.py", " py"])
def test_tags_are_read_as_people_write_them(tag):
    assert code(f"```{tag}\nprint(1)\n```") == "print(1)"


def test_a_block_of_another_language_is_never_run():
    found = extract_program("```cpp\nint main(){}\n```", PYTHON)
    assert found.code is None
    assert "cpp" in str(found.why)


def test_what_was_thought_is_not_looked_at():
    assert code("<think>\n```python\nprint('try')\n```\n</think>\n```python\nprint(1)\n```") == "print(1)"
    assert code("<think>```python\nprint(1)\n```") is None
    assert code("<think>\n```python\nprint(1)\n```\n</think>\nDone.", CPP) is None


def test_an_unclosed_block_goes_to_the_end_and_says_so():
    found = extract_program("```python\nprint(1)\n```\nand\n```python\nprint(2)", PYTHON)
    assert (found.code, found.incomplete_fence) == ("print(2)", True)


def test_longer_fences_and_tildes_are_fences():
    assert code("````python\ns = '''\n```\n'''\n````") == "s = '''\n```\n'''"
    assert code("~~~python\nprint(1)\n~~~") == "print(1)"


def test_without_a_fence_only_python_is_tried():
    assert extract_program("print(1)", PYTHON).whole_text
    assert code("int main() {}", CPP) is None


@pytest.mark.parametrize("text", ["", "   ", "```python\n\n```", "```python\n```"])
def test_nothing_is_no_program(text):
    assert code(text) is None


@given(st.text(max_size=200))
def test_extraction_never_raises(text):
    for language in (PYTHON, CPP):
        found = extract_program(text, language)
        assert (found.code is None) == (found.why is not None)


@given(st.text(st.characters(exclude_characters="`~<\r"), min_size=1).filter(str.strip))
def test_a_fenced_program_comes_out_as_it_is(program):
    assert code(f"Here:\n```python\n{program}\n```\n") == program.rstrip("\n")


def test_languages_are_found_by_their_names_and_aliases():
    assert {find_language(name).name for name in ("C++", "cpp", "CPP17", "g++")} == {"cpp"}
    assert find_language("golang").name == "go"
    with pytest.raises(InputError, match="python"):
        find_language("cobol")


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("public class Solution { public static void main(String[] a) {} }", "Solution"),
        ("class Helper {} class App { public static void main(String[] a) {} }", "App"),
        ("// public class No\nfinal class X { static public void main(String... a) {} }", "X"),
        ('class A { String s = "public class B"; }', "A"),
        ("", "Main"),
    ],
)
def test_the_class_of_a_java_program_is_the_one_that_runs(source, name):
    assert main_class(source) == name


def test_a_program_in_a_list_item_loses_the_items_indentation():
    text = "1. So:\n   ```python\n   if 1:\n       print(3)\n   ```\n"
    assert extract_program(text, LANGUAGES["python"]).code == "if 1:\n    print(3)"
