"""Exercise 7: one reward, many tokens."""

from rewards_lib.contract import sentence
from rewards_lib.practice.exercise import Check, Exercise, Level, WrongAnswer, fill_blanks

CODE = '''def last_token(reward, mask):
    """Everything on the last trained token."""
    out = [0.0] * len(mask)
    trained = [place for place, keep in enumerate(mask) if keep]
    if trained:
        out[⟦trained[-1]⟧] = reward
    return out


def uniform(reward, mask):
    """The same share for every trained token."""
    count = sum(mask)
    return [reward * keep / count if ⟦count⟧ else 0.0 for keep in mask]


def by_kl(reward, mask, kl):
    """Shares by how far each trained token left the reference; else equal shares."""
    weights = [abs(value) * keep for value, keep in zip(kl, mask)]
    total = sum(weights)
    if total < 1e-8:
        return ⟦uniform(reward, mask)⟧
    return [reward * weight / total for weight in weights]


def broadcast(advantage, mask):
    """The whole advantage on every trained token, as GRPO does."""
    return [⟦advantage * keep⟧ for keep in mask]
'''

SUPPORT = """
MASK = [0, 0, 1, 1, 0, 1, 1, 1, 0]
KL = [0.0, 0.0, 0.1, 0.5, 0.0, 2.0, 0.1, 0.3, 0.0]
"""

EXERCISE = Exercise(
    place=7,
    title=sentence("From the trajectory to its tokens"),
    level=Level.NEEDS_CARE,
    minutes=8,
    task=sentence(
        "A trajectory earns one number; the loss wants one a token. Four answers: all of it on the last trained "
        "token, equal shares, shares by KL from the reference model, or, as GRPO does, the whole advantage on "
        "**every** trained token. The first three add up to the reward; the fourth grows with the length, and how "
        "the loss is aggregated decides what that means. Fill the four blanks."
    ),
    code=CODE,
    support=SUPPORT,
    checks=(
        Check(
            sentence("on the last token"), "last_token(1.0, MASK)", [0, 0, 0, 0, 0, 0, 0, 1, 0],
            sentence("The last trained token is number 7; number 8 is padding, number 2 is the first."),
        ),
        Check(
            sentence("in equal shares"), "uniform(1.0, MASK)", [0, 0, 0.2, 0.2, 0, 0.2, 0.2, 0.2, 0],
            sentence("Five tokens are trained, so each gets a fifth."),
        ),
        Check(
            sentence("by KL"), "[round(value, 6) for value in by_kl(1.0, MASK, KL)]",
            [0, 0, 0.033333, 0.166667, 0, 0.666667, 0.033333, 0.1, 0],
            sentence("Divide each trained token's KL by the sum of the trained ones, 3.0: token 5 gets two thirds."),
        ),
        Check(
            sentence("KL outside the mask"), "by_kl(1.0, [0, 1, 1], [9.0, 0.25, 0.75])", [0, 0.25, 0.75],
            sentence("The KL of a token that is not trained counted: outside the mask nothing is earned or shared."),
        ),
        Check(
            sentence("a negative estimate"), "by_kl(1.0, [1, 1], [-0.25, 0.75])", [0.25, 0.75],
            sentence("Estimates of KL may come out negative; how far a token left is their size."),
        ),
        Check(
            sentence("without divergence"), "by_kl(1.0, MASK, [0.0] * 9)", [0, 0, 0.2, 0.2, 0, 0.2, 0.2, 0.2, 0],
            sentence(
                "When no token left the reference model, nobody stands out: share evenly rather than give nothing."
            ),
        ),
        Check(
            sentence("as GRPO does"), "broadcast(0.5, MASK)", [0, 0, 0.5, 0.5, 0, 0.5, 0.5, 0.5, 0],
            sentence("GRPO does not share the advantage out: every trained token gets all of it."),
        ),
        Check(
            sentence("an empty mask"),
            "[last_token(1.0, [0, 0]), uniform(1.0, [0, 0]), by_kl(1.0, [0, 0], [1.0, 2.0])]",
            [[0, 0], [0, 0], [0, 0]],
            sentence("Without a trained token there is nobody to reward, and no reason to divide by zero."),
        ),
    ),
    hints=(
        sentence("A list's last entry has the index −1."),
        sentence("Dividing by the number of trained tokens needs at least one of them."),
        sentence("There is already a function that shares evenly."),
    ),
    why=sentence(
        "The last token gives a clean but thin signal, equal shares a dense one that pays each token of a long "
        "answer less, KL shares pay where the policy decided something. Make rewards relative within the group "
        "before you assign them: a mean over tokens of different lengths is no baseline."
    ),
    question=sentence(
        "With one advantage on every token and a mean over all tokens of the batch, who moves the policy more: a "
        "long wrong answer or a short right one? Which aggregation changes that?"
    ),
    wrong_answers=(
        WrongAnswer(fill_blanks(CODE, {1: "trained[0]"}), fails=0),
        WrongAnswer(fill_blanks(CODE, {1: "-1"}), fails=0),
        WrongAnswer(fill_blanks(CODE, {2: "True"}), fails=7),
        WrongAnswer(fill_blanks(CODE, {}).replace("reward * keep / count", "reward * keep / len(mask)"), fails=1),
        WrongAnswer(fill_blanks(CODE, {}).replace("/ total", "/ len(kl)"), fails=2),
        WrongAnswer(fill_blanks(CODE, {}).replace("abs(value) * keep", "abs(value)"), fails=3),
        WrongAnswer(fill_blanks(CODE, {}).replace("abs(value)", "value"), fails=4),
        WrongAnswer(fill_blanks(CODE, {3: "[0.0] * len(mask)"}), fails=5),
        WrongAnswer(fill_blanks(CODE, {4: "advantage * keep / sum(mask)"}), fails=6),
    ),
)  # fmt: skip
