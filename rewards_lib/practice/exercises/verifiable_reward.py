"""Exercise 2: the last boxed answer, read by counting braces, compared as an exact number."""

from rewards_lib.contract import sentence
from rewards_lib.practice.exercise import Check, Exercise, Level, WrongAnswer, fill_blanks

CODE = r'''import re
from fractions import Fraction

FRACTION = re.compile(r"\\d?frac\{([^{}]+)\}\{([^{}]+)\}")


def last_boxed(text):
    """What stands in the last \\boxed{...}; None when none closes."""
    start = text.⟦rfind⟧("\\boxed{")
    if start < 0:
        return None
    depth, begin = 0, start + len("\\boxed{")
    for place in range(begin - 1, len(text)):
        depth += {"{": 1, "}": ⟦-1⟧}.get(text[place], 0)
        if depth == 0:
            return text[begin:place]
    return None


def as_number(text):
    """The exact value of a number or a simple fraction; None for anything else."""
    try:
        return Fraction(FRACTION.sub(r"\1/\2", text).strip())
    except ⟦(ValueError, ZeroDivisionError)⟧:
        return None


def accuracy_reward(completion, truth):
    """1.0 when the last boxed answer equals the ground truth, else 0.0."""
    answer = last_boxed(completion)
    if answer is None:
        return 0.0
    value, wanted = as_number(answer), as_number(truth)
    return 1.0 if value is not None and value ⟦==⟧ wanted else 0.0
'''

EXERCISE = Exercise(
    place=2,
    title=sentence("Verifiable reward"),
    level=Level.NEEDS_CARE,
    minutes=8,
    task=sentence(
        "Mathematics can be checked without a judge: take the last boxed answer, read it as an exact number, "
        "compare. The last one counts, since boxes in the reasoning are drafts. A pattern such as `[^{}]*` cannot "
        "read a fraction inside a box, because braces nest: count them instead. What cannot be read is a wrong "
        "answer, not an exception. Fill the four blanks."
    ),
    code=CODE,
    checks=(
        Check(
            sentence("a decimal for a fraction"), r"accuracy_reward('so \\boxed{0.5}', '1/2')", 1.0,
            sentence("0.5 and 1/2 are one number: the comparison of exact values has to say so."),
        ),
        Check(
            sentence("a fraction inside the box"), r"accuracy_reward('\\boxed{\\frac{1}{2}}', '0.5')", 1.0,
            sentence("The box holds braces of its own. A closing brace has to bring the depth down again."),
        ),
        Check(
            sentence("a draft, then the answer"), r"accuracy_reward('first \\boxed{2}, no: \\boxed{3}', '3')", 1.0,
            sentence("The first box was taken; the last one is the answer."),
        ),
        Check(
            sentence("the right draft, then a wrong answer"), r"accuracy_reward('\\boxed{3} or rather \\boxed{2}', "
                                                              r"'3')", 0.0,
            sentence("The last box is wrong, yet it earned 1: only equal values may."),
        ),
        Check(
            sentence("nearly the right number"), r"accuracy_reward('\\boxed{0.3333333333333333}', '1/3')", 0.0,
            sentence("Sixteen threes are not a third. Compare exact values: floats and tolerances pay for rounding."),
        ),
        Check(
            sentence("the sign"), r"[accuracy_reward('\\boxed{-3}', '3'), accuracy_reward('\\boxed{-3}', '-3')]",
            [0.0, 1.0],
            sentence("−3 and 3 are different numbers, and −3 is one: digits alone are not the answer."),
        ),
        Check(
            sentence("braces behind the box"), r"accuracy_reward('\\boxed{3}, one of {1, 2, 3}', '3')", 1.0,
            sentence("The box ends at the brace that closes it, not at the last one of the text."),
        ),
        Check(
            sentence("no box"), "accuracy_reward('It is 5', '5')", 0.0,
            sentence("Without a box there is no answer, whatever numbers the text mentions."),
        ),
        Check(
            sentence("no number in the box"), r"accuracy_reward('\\boxed{abc}', '5')", 0.0,
            sentence("A box without a number must earn 0. `Fraction` raises ValueError for such a text; catch it."),
        ),
        Check(
            sentence("no number on either side"), r"accuracy_reward('\\boxed{abc}', 'xyz')", 0.0,
            sentence("Neither side is a number, and None equals None: two unreadable texts are no agreement."),
        ),
        Check(
            sentence("division by zero"), r"accuracy_reward('\\boxed{\\frac{1}{0}}', '5')", 0.0,
            sentence("1/0 is no number either, and `Fraction` says so with an exception of its own."),
        ),
        Check(
            sentence("a box that never closes"), r"accuracy_reward('\\boxed{5', '5')", 0.0,
            sentence("A box that was cut off holds no answer."),
        ),
    ),
    hints=(
        sentence("`find` looks from the left. Which method looks from the right?"),
        sentence("An opening brace goes one level down (+1); what does a closing one do?"),
        sentence("Try `Fraction('abc')` and `Fraction('1/0')` in your head: two different exceptions."),
    ),
    why=sentence(
        "Extract, normalise, compare: every verifier has these three steps. Reading from the right finds the answer "
        "rather than a draft, the depth finds the brace that closes the box, `Fraction` compares without rounding, "
        "and whatever cannot be read earns nothing instead of ending the run."
    ),
    question=sentence(
        "The ground truth itself may be unreadable. Here that gives 0 to every completion. Why is *no reward at all* "
        "the better answer, and what would the trainer learn from these zeros?"
    ),
    wrong_answers=(
        WrongAnswer(fill_blanks(CODE, {1: "find"}), fails=2),
        WrongAnswer(
            fill_blanks(CODE, {}).replace(
                '    start = text',
                '    found = re.findall(r"\\\\boxed\\{([^{}]*)\\}", text)\n'
                '    return found[-1] if found else None\n    start = text',
            ),
            fails=1,
        ),
        WrongAnswer(fill_blanks(CODE, {2: "1"}), fails=0),
        WrongAnswer(fill_blanks(CODE, {3: "ZeroDivisionError"}), fails=8),
        WrongAnswer(fill_blanks(CODE, {3: "ValueError"}), fails=10),
        WrongAnswer(fill_blanks(CODE, {}).replace("value == wanted", "float(value) == float(wanted)"), fails=4),
        WrongAnswer(fill_blanks(CODE, {}).replace("value == wanted", "abs(value) == abs(wanted)"), fails=5),
        WrongAnswer(
            fill_blanks(CODE, {}).replace("    depth, begin", "    return text[start + 7 : text.rfind('}')]\n"
                                          "    depth, begin"),
            fails=6,
        ),
        WrongAnswer(fill_blanks(CODE, {}).replace("    if start < 0:\n        return None",
                                                  "    if start < 0:\n        return text.split()[-1]"), fails=7),
        WrongAnswer(fill_blanks(CODE, {}).replace("value is not None and value == wanted", "value == wanted"),
                    fails=9),
        WrongAnswer(fill_blanks(CODE, {4: "!="}), fails=0),
        WrongAnswer(fill_blanks(CODE, {4: "<="}), fails=3),
        WrongAnswer(
            fill_blanks(CODE, {}).replace(
                "    return None\n\n\ndef as_number",
                "    return text[begin:]\n\n\ndef as_number",
            ),
            fails=11,
        ),
    ),
)  # fmt: skip
