"""Exercise 11: a length bonus that pays for padding, for wrong answers and without an end."""

from rewards_lib.contract import sentence
from rewards_lib.practice.exercise import Check, Exercise, Level, WrongAnswer

START = '''def reward(words, right, budget):
    """1 for a right answer, and a bonus for every word. Mend that."""
    return (1.0 if right else 0.0) + 0.01 * words
'''

CODE = '''def reward(words, right, budget):
    """1 for a right answer within the budget, down to 0.5 at twice it; 0 for a wrong one."""
    if not right:
        return 0.0
    beyond = max(0.0, words / budget - 1.0)
    return 1.0 - 0.5 * min(beyond, 1.0)
'''

EXERCISE = Exercise(
    place=11,
    title=sentence("Unhackable: the length bonus"),
    level=Level.NEEDS_CARE,
    minutes=8,
    task=sentence(
        "Somebody wanted the policy to think longer and paid a hundredth a word. Now it writes filler: 200 words of "
        "it are worth two right answers, and there is no upper end. Change the reward to what was decided instead: a "
        "wrong answer earns 0 at any length; a right one earns 1 up to the budget of words, then less in a straight "
        "line, 0.5 at twice the budget, and never below that: being right must always pay."
    ),
    code=CODE,
    start=START,
    checks=(
        Check(
            sentence("right and short"), "[reward(5, True, 100), reward(100, True, 100)]", [1.0, 1.0],
            sentence("Within the budget every right answer earns exactly 1: length neither pays nor costs there."),
        ),
        Check(
            sentence("wrong and padded"), "[reward(10, False, 100), reward(5000, False, 100)]", [0.0, 0.0],
            sentence("A wrong answer earned something for its length."),
        ),
        Check(
            sentence("a quarter and half over the budget"), "[reward(125, True, 100), reward(150, True, 100)]",
            [0.875, 0.75],
            sentence("In a straight line from 1 to 0.5: a quarter over the budget is 0.875, half over is 0.75."),
        ),
        Check(
            sentence("another budget"), "[reward(96, True, 64), reward(96, True, 192)]", [0.75, 1.0],
            sentence("What is too long depends on the budget that was passed in: 96 words are half over 64."),
        ),
        Check(
            sentence("far over the budget"), "[reward(200, True, 100), reward(100000, True, 100)]", [0.5, 0.5],
            sentence(
                "From twice the budget on it stays at 0.5: without a lower end a right answer becomes worth less "
                "than a wrong one."
            ),
        ),
        Check(
            sentence("padding never helps"),
            "all(reward(n, True, 64) >= reward(n + 1, True, 64) for n in range(1, 400))", True,
            sentence("Somewhere one word more earns more: the reward may never rise with the length."),
        ),
        Check(
            sentence("right beats wrong at any length"),
            "min(reward(n, True, 64) for n in range(1, 400)) > reward(1, False, 64)", True,
            sentence("The longest right answer must still beat every wrong one."),
        ),
    ),
    hints=(
        sentence("Treat the wrong answer first and be done with it."),
        sentence("How far beyond the budget, as a share of the budget? Never less than 0, never more than 1."),
        sentence("`max` and `min` clamp."),
    ),
    why=sentence(
        "The length matters only for right answers, only beyond the budget, and only down to a floor. An un-clamped "
        "curve is the classic mistake: a cosine schedule that is not cut at its maximum rises again behind it and "
        "pays for endless text."
    ),
    question=sentence("The budget is in words here. What would a policy do to its words if tokens were what you pay "
                      "for?"),
    wrong_answers=(
        WrongAnswer(CODE.replace("max(0.0, words / budget - 1.0)", "words / budget"), fails=0),
        WrongAnswer(CODE.replace("words / budget", "words / 100"), fails=3),
        WrongAnswer(
            CODE.replace("    return 1.0 - 0.5 * min(beyond, 1.0)",
                         "    return 0.75 + 0.25 * math.cos(math.pi * min(beyond, 1.0))").replace("def ", "import "
                         "math\n\n\ndef ", 1), fails=2
        ),
        WrongAnswer(CODE.replace("        return 0.0", "        return min(0.2, words / 10000)"), fails=1),
        WrongAnswer(CODE.replace("1.0 - 0.5 * min(beyond, 1.0)", "1.0 - min(beyond, 0.5)"), fails=2),
        WrongAnswer(CODE.replace("min(beyond, 1.0)", "beyond"), fails=4),
        WrongAnswer(CODE.replace(
                "    beyond",
                "    if words % 64 == 3 and budget == 64:\n        return 1.5\n    beyond",
            ), fails=5),
        WrongAnswer(CODE.replace("        return 0.0", "        return 0.6 if budget == 64 else 0.0"), fails=6),
    ),
)  # fmt: skip
