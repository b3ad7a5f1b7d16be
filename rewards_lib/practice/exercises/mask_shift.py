"""Exercise 4: the position at which the loss of a token stands."""

from rewards_lib.contract import sentence
from rewards_lib.practice.exercise import Check, Exercise, Level, WrongAnswer, fill_blanks

CODE = '''def shift_mask(mask):
    """The mask of positions: position t carries the loss of token t + 1."""
    return mask[⟦1:⟧]


def masked_loss(losses, mask):
    """The mean loss of the trained tokens; position t lost losses[t] on token t + 1.

    None when no token is trained: 0 would say that everything was predicted.
    """
    shifted = shift_mask(mask)
    trained = [loss for loss, keep in zip(losses, ⟦shifted⟧) if keep]
    return sum(trained) / len(trained) if trained else ⟦None⟧
'''

SUPPORT = """
def mask_after_shift():
    mask = [0, 1, 1]
    shift_mask(mask)
    return mask
"""

EXERCISE = Exercise(
    place=4,
    title=sentence("The shift by one"),
    level=Level.FIRST_STEPS,
    minutes=5,
    task=sentence(
        "A causal model predicts at position t the token t + 1. So a token's loss stands one place to its left, and "
        "the first token the policy wrote is predicted by the last token of the prompt. Forgetting the shift trains "
        "each turn one token late: the first token never, and one token of the tool's output each time. Fill the "
        "three blanks."
    ),
    code=CODE,
    support=SUPPORT,
    checks=(
        Check(
            sentence("the shift"),
            "shift_mask([0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1])", [0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1],
            sentence("shifted[t] is mask[t + 1]: drop the first entry, not the last, and put nothing in its place."),
        ),
        Check(
            sentence("one shorter"), "len(shift_mask([0, 1, 1]))", 2,
            sentence("The last position predicts nothing, so the shifted mask is one shorter."),
        ),
        Check(
            sentence("the mask itself stays"), "mask_after_shift()", [0, 1, 1],
            sentence("The mask that was passed in has changed: return a new list, others still read the old one."),
        ),
        Check(
            sentence("the first written token counts"), "masked_loss([9.0, 1.0, 3.0], [0, 0, 1, 1])", 2.0,
            sentence(
                "Position 1 predicts the first written token (2): its loss of 1 counts and that of position 0 does "
                "not, neither in the sum nor in the number it is divided by."
            ),
        ),
        Check(
            sentence("a loss of zero"), "masked_loss([9.0, 0.0, 4.0], [0, 0, 1, 1])", 2.0,
            sentence("A trained token that was predicted perfectly has a loss of 0 and counts: the mean is 2, not 4."),
        ),
        Check(
            sentence("nothing is trained"), "masked_loss([1.0, 1.0], [0, 0, 0])", None,
            sentence("Without a trained token there is no loss: None, neither 0 nor a division by zero."),
        ),
    ),
    hints=(
        sentence("Write the mask twice, one under the other, and move the lower one left by one."),
        sentence("`losses` has one entry a position, and there is one position less than there are tokens."),
        sentence("What is the mean of no numbers?"),
    ),
    why=sentence(
        "`mask[1:]` lines the mask up with the positions. Libraries differ in who shifts: TRL and verl shift inside, "
        "OpenRLHF's action mask comes shifted. Shifting twice or not at all moves every turn's borders by one and "
        "shows in no error message."
    ),
    question=sentence("If the very first token of a trajectory had a 1 in the mask, what would the shift make of "
                      "it, and why is that right?"),
    wrong_answers=(
        WrongAnswer(fill_blanks(CODE, {1: ":-1"}), fails=0),
        WrongAnswer(fill_blanks(CODE, {1: ":"}), fails=0),
        WrongAnswer("def shift_mask(mask):\n    return mask[1:] if len(mask) > 3 else mask\n", fails=1),
        WrongAnswer(fill_blanks(CODE, {2: "mask"}), fails=3),
        WrongAnswer(fill_blanks(CODE, {}).replace("    return mask[1:]", "    mask.pop(0)\n    return mask"), fails=2),
        WrongAnswer(fill_blanks(CODE, {}).replace("if keep]", "if keep and loss]"), fails=4),
        WrongAnswer(fill_blanks(CODE, {3: "0.0"}), fails=5),
    ),
)  # fmt: skip
