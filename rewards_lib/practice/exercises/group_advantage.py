"""Exercise 8: what a reward is worth against the others of its group."""

from rewards_lib.contract import sentence
from rewards_lib.practice.exercise import Check, Exercise, Level, WrongAnswer, fill_blanks

CODE = '''import math


def advantages(rewards, epsilon=1e-6):
    """GRPO's advantages of one group; None is unscored and counts for nobody."""
    scored = [reward for reward in rewards if reward is not None]
    if not scored or max(scored) - min(scored) < 1e-9:
        return [None if reward is None else ⟦0.0⟧ for reward in rewards]
    mean = sum(scored) / len(scored)
    variance = sum((reward - mean) ** 2 for reward in scored) / ⟦(len(scored) - 1)⟧
    spread = ⟦math.sqrt(variance)⟧ + epsilon
    return [None if reward is None else (reward - mean) / spread for reward in rewards]
'''

EXERCISE = Exercise(
    place=8,
    title=sentence("Advantages of a group"),
    level=Level.NEEDS_CARE,
    minutes=6,
    task=sentence(
        "GRPO has no critic: a completion is compared with the others of its prompt. Subtract the group's mean, "
        "divide by its standard deviation. The trainers use the **unbiased** deviation (n − 1). A group of equal "
        "rewards, or of one, teaches nothing (0 for all), and what could not be scored takes no part. Fill the "
        "three blanks."
    ),
    code=CODE,
    checks=(
        Check(
            sentence("two of four"), "[round(value, 5) for value in advantages([1, 0, 0, 1])]",
            [0.86602, -0.86602, -0.86602, 0.86602],
            sentence("Mean 0.5, unbiased standard deviation 0.57735: ±0.86602. With n instead of n − 1: ±1."),
        ),
        Check(
            sentence("one of eight"), "[round(value, 4) for value in advantages([1, 0, 0, 0, 0, 0, 0, 0])][:2]",
            [2.4749, -0.3536],
            sentence("A rare success is worth more than a common failure costs: 2.4749 against −0.3536."),
        ),
        Check(
            sentence("equal rewards"), "advantages([0.3, 0.1 + 0.2, 0.3])", [0.0, 0.0, 0.0],
            sentence("Equal rewards, even if they differ in the last bit, are worth 0 to everybody."),
        ),
        Check(
            sentence("one unscored"),
            "[value if value is None else round(value, 4) for value in advantages([1, None, 0])]",
            [0.7071, None, -0.7071],
            sentence("What was not scored gets no advantage (None) and does not enter the mean: 0 is no stand-in."),
        ),
        Check(
            sentence("nobody scored, and a group of one"), "[advantages([None, None]), advantages([0.7])]",
            [[None, None], [0.0]],
            sentence(
                "With nobody to compare with there is nothing to compute: None for the unscored, 0 for one alone."
            ),
        ),
        Check(
            sentence("they add up to nothing"), "abs(sum(advantages([0.2, 0.9, 0.4, 0.7]))) < 1e-9", True,
            sentence("The advantages of a group add up to 0: what one gains the others lose."),
        ),
    ),
    hints=(
        sentence("What should a group teach in which everybody did equally well?"),
        sentence("The unbiased variance divides by one less than the number of rewards."),
        sentence("The standard deviation is the root of the variance."),
    ),
    why=sentence(
        "The unbiased deviation is what verl, TRL and OpenRLHF compute; they differ in epsilon (1e-6, 1e-4, 1e-9). "
        "Without the test for equal rewards the last bit of a float would decide: 0.1 + 0.2 and 0.3 have a deviation "
        "of 5.6e-17."
    ),
    question=sentence(
        "Dr. GRPO leaves the division out. Which prompts count more with it, those with mixed or those with nearly "
        "equal rewards?"
    ),
    wrong_answers=(
        WrongAnswer(fill_blanks(CODE, {2: "len(scored)"}), fails=0),
        WrongAnswer(fill_blanks(CODE, {3: "variance"}), fails=0),
        WrongAnswer(fill_blanks(CODE, {1: "1.0"}), fails=2),
        WrongAnswer(
            fill_blanks(CODE, {}).replace("(reward - mean) / spread", "max((reward - mean) / spread, -1.0)"), fails=5
        ),
        WrongAnswer(
            fill_blanks(CODE, {}).replace("/ (len(scored) - 1)", "/ min(len(scored) - 1, 3)"), fails=1
        ),
        WrongAnswer(
            fill_blanks(CODE, {}).replace(
                "return [None if reward is None else (reward",
                "return [0.0 if reward is None else (reward",
            ),
            fails=3,
        ),
        WrongAnswer(
            fill_blanks(CODE, {}).replace("[reward for reward in rewards if reward is not None]",
                                          "[reward or 0.0 for reward in rewards]"), fails=3
        ),
        WrongAnswer(fill_blanks(CODE, {}).replace("if not scored or max(scored)", "if max(scored)"), fails=4),
    ),
)  # fmt: skip
