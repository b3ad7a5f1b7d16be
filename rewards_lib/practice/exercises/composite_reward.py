"""Exercise 6: several rewards become one, with weights, without inventing numbers."""

from rewards_lib.contract import sentence
from rewards_lib.practice.exercise import Check, Exercise, Level, WrongAnswer, fill_blanks

CODE = '''import math


def compose(weights, functions):
    """A reward made of several; both arguments map the same names."""
    if ⟦set(weights) != set(functions)⟧:
        raise ValueError("weights and functions must have the same names")

    def reward(completion, truth):
        """The parts by name and their weighted sum, "total"; None is "no opinion"."""
        parts = {name: one(completion, truth) for name, one in functions.items()}
        given = {name: value for name, value in parts.items() if ⟦value is not None⟧}
        weighted = [⟦weights[name] * value⟧ for name, value in given.items()]
        total = sum(weighted) if given else None
        return {**parts, "total": total}

    return reward


def cosine_length(length, most, right):
    """Short right answers earn most (1 to 0), long wrong ones lose least (-1 to 0)."""
    share = min(length / most, 1.0)
    factor = (1 - math.cos(math.pi * share)) / 2
    return 1 - factor if right else ⟦factor - 1⟧
'''

SUPPORT = """
def answer_to(weights, functions):
    try:
        compose(dict.fromkeys(weights, 1.0), dict.fromkeys(functions, len))
    except (ValueError, AssertionError):
        return "refused"
    return "accepted"


PARTS = {"format": lambda c, t: 1.0, "accuracy": lambda c, t: float(t in c), "length": lambda c, t: None}
WEIGHTS = {"format": 0.1, "accuracy": 1.0, "length": 0.2}
"""

EXERCISE = Exercise(
    place=6,
    title=sentence("Composite reward"),
    level=Level.NEEDS_CARE,
    minutes=8,
    task=sentence(
        "Nobody trains on one reward: format, accuracy and length each have their rule, and the trainer wants one "
        "number. Keep the parts for the log, since when the total falls you want to know which part did. A part may "
        "have no opinion (None): it stays out of the sum, and if no part has one there is no total either. The "
        "length part pays **short** right answers most. Fill the four blanks."
    ),
    code=CODE,
    support=SUPPORT,
    checks=(
        Check(
            sentence("a right completion"), "compose(WEIGHTS, PARTS)('it is 42', '42')['total']", 1.1,
            sentence(
                "0.1 × 1 + 1 × 1 is 1.1: multiply each value by its own weight, leave the part without an opinion "
                "out."
            ),
        ),
        Check(
            sentence("the parts are kept"), "compose(WEIGHTS, PARTS)('it is 41', '42')",
            {"format": 1.0, "accuracy": 0.0, "length": None, "total": 0.1},
            sentence(
                "Every part stays in the log, those without an opinion too (as None); the total comes beside them."
            ),
        ),
        Check(
            sentence("a penalty"),
            "compose({'a': 1.0, 'length': 0.2}, {'a': lambda c, t: 1.0, 'length': lambda c, t: -0.5})('x', 'y')"
            "['total']", 0.9,
            sentence("A part below 0 is a penalty and an opinion: 1 × 1 + 0.2 × (−0.5) is 0.9."),
        ),
        Check(
            sentence("an opinion of 0"), "compose({'a': 1.0}, {'a': lambda c, t: 0.0})('x', 'y')['total']", 0.0,
            sentence("A part of 0 is an opinion and None is none: only None stays out of the sum."),
        ),
        Check(
            sentence("nobody has an opinion"),
            "compose({'length': 0.2}, {'length': PARTS['length']})('x', 'y')['total']", None,
            sentence("Without any opinion there is no total: None, not 0."),
        ),
        Check(
            sentence("names that differ"), "[answer_to('a', 'ab'), answer_to('ab', 'a'), answer_to('ab', 'ac')]",
            ["refused", "refused", "refused"],
            sentence(
                "A function without a weight runs for nothing, a weight without a function is lost: names that "
                "differ either way must be refused, of equal number or not."
            ),
        ),
        Check(
            sentence("a short right answer"), "round(cosine_length(62, 512, True), 6)", 0.964253,
            sentence("62 characters of 512 give a factor of 0.035747: a right answer keeps 0.964253."),
        ),
        Check(
            sentence("wrong answers, short and long"),
            "[round(cosine_length(length, 512, False), 6) for length in (0, 62, 900)]",
            [-1.0, -0.964253, 0.0],
            sentence("For wrong answers it runs from −1 (short) to 0 (long) on the same curve, and never above 0."),
        ),
    ),
    hints=(
        sentence("Two dictionaries have the same names when their sets of keys are equal."),
        sentence("`if value` drops 0.0 as well, which is a perfectly good opinion."),
        sentence("At length 0 the factor is 0 and a wrong answer should get −1; at full length the factor is 1 and "
                 "it should get 0."),
    ),
    why=sentence(
        "The names are compared both ways, since a missing weight and a missing function are different accidents. "
        "None is kept apart from 0: no opinion must not pull the sum down. The worked line of the course, 62 "
        "characters and right, earns 0.964253 for its length and 1.292851 in all with weights 0.1, 1 and 0.2: short "
        "and right is paid, not punished."
    ),
    question=sentence(
        "With a reward model's score of 0.5 instead of right or wrong, which of the two curves applies, and what "
        "happens to a policy that sits just below the border?"
    ),
    wrong_answers=(
        WrongAnswer(fill_blanks(CODE, {1: "len(weights) > len(functions)"}), fails=5),
        WrongAnswer(fill_blanks(CODE, {1: "set(functions) - set(weights)"}), fails=5),
        WrongAnswer(fill_blanks(CODE, {2: "value"}), fails=3),
        WrongAnswer(fill_blanks(CODE, {2: "value is not None and value >= 0"}), fails=2),
        WrongAnswer(fill_blanks(CODE, {3: "value"}), fails=0),
        WrongAnswer(fill_blanks(CODE, {4: "1 - factor"}), fails=7),
        WrongAnswer(fill_blanks(CODE, {4: "share - 1"}), fails=7),
        WrongAnswer(fill_blanks(CODE, {}).replace("{**parts, ", "{**given, "), fails=1),
        WrongAnswer(fill_blanks(CODE, {}).replace("1 - factor if right", "factor if right"), fails=6),
        WrongAnswer(fill_blanks(CODE, {}).replace(" if given else None", ""), fails=4),
    ),
)  # fmt: skip
