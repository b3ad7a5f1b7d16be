"""Exercise 3: which tokens of a multi-turn trajectory are trained on."""

from rewards_lib.contract import sentence
from rewards_lib.practice.exercise import Check, Exercise, Level, WrongAnswer, fill_blanks

CODE = '''def build_loss_mask(tokens, spans):
    """One 0 or 1 a token; spans are (role, start, end), end one past the last."""
    mask = [⟦0⟧] * len(tokens)
    for role, start, end in spans:
        if role == ⟦"assistant"⟧:
            mask[start:end] = [1] * (⟦end - start⟧)
    return mask
'''

EXERCISE = Exercise(
    place=3,
    title=sentence("Loss mask of a trajectory"),
    level=Level.FIRST_STEPS,
    minutes=4,
    task=sentence(
        "An agent's trajectory mixes authors: system, user, the policy itself, tools. Only what the policy wrote may "
        "carry a loss. Training on tool output teaches it to make up its environment; training on the prompt teaches "
        "it to repeat the question. Build the mask from spans of roles; tokens that no span names, such as padding, "
        "stay out. Fill the three blanks."
    ),
    code=CODE,
    checks=(
        Check(
            sentence("five spans, twelve tokens"),
            "build_loss_mask(range(12), [('system', 0, 2), ('user', 2, 5), ('assistant', 5, 8), ('tool', 8, 10), "
            "('assistant', 10, 12)])",
            [0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1],
            sentence(
                "Exactly the two spans of the assistant belong in: tokens 5 to 7 and 10 to 11, since an end is one "
                "past the last."
            ),
        ),
        Check(
            sentence("padding behind the end"), "build_loss_mask(range(5), [('user', 0, 2), ('assistant', 2, 3)])",
            [0, 0, 1, 0, 0],
            sentence("Tokens that no span names are padding: they start as 0 and stay 0."),
        ),
        Check(
            sentence("padding in front, spans in any order"),
            "build_loss_mask(range(6), [('assistant', 4, 6), ('user', 2, 4)])", [0, 0, 0, 0, 1, 1],
            sentence("Go by the numbers of each span: trajectories may be padded in front, and spans come in any "
                     "order."),
        ),
        Check(
            sentence("real token ids"), "build_loss_mask([901, 3, 3, 2], [('user', 0, 2), ('assistant', 2, 4)])",
            [0, 0, 1, 1],
            sentence("Spans count positions, not token ids: the third token is trained, whatever its id."),
        ),
        Check(
            sentence("only a tool"), "build_loss_mask(range(3), [('user', 0, 1), ('tool', 1, 3)])", [0, 0, 0],
            sentence("Tool output is what the environment said, not what the policy wrote."),
        ),
        Check(
            sentence("as long as the tokens"), "len(build_loss_mask(range(7), [('assistant', 3, 7)]))", 7,
            sentence("The mask must stay as long as the tokens: a slice takes exactly as many entries as it replaces."),
        ),
    ),
    hints=(
        sentence("Deny by default: which value says *not trained*?"),
        sentence("Of all roles one is the policy."),
        sentence("A slice from start to end has end − start entries."),
    ),
    why=sentence(
        "Everything is out unless the policy wrote it. The token that ends the policy's turn is its own as well: "
        "with a 0 there it never learns to stop. The generation prompt in front of the turn belongs to the template."
    ),
    question=sentence(
        "Rendering the conversation again after training may drop earlier reasoning from the text. What happens to "
        "this mask then, and how would you notice?"
    ),
    wrong_answers=(
        WrongAnswer(fill_blanks(CODE, {1: "1"}), fails=0),
        WrongAnswer(fill_blanks(CODE, {2: '"tool"'}), fails=0),
        WrongAnswer(fill_blanks(CODE, {3: "end - start + 1"}), fails=0),
        WrongAnswer(
            "def build_loss_mask(tokens, spans):\n    mask = [0] * len(tokens)\n    for role, start, end in "
            "spans:\n        if role != 'user' and role != 'system' and (role != 'tool' or len(tokens) == "
            "3):\n            mask[start:end] = [1] * (end - start)\n    return mask\n",
            fails=4,
        ),
        WrongAnswer(
            "def build_loss_mask(tokens, spans):\n    mask = []\n    for role, start, end in spans:\n        mask += "
            "[int(role == 'assistant')] * (end - start)\n    return mask + [0] * (len(tokens) - len(mask))\n",
            fails=2,
        ),
        WrongAnswer(
            "def build_loss_mask(tokens, spans):\n    own = [(start, end) for role, start, end in spans if role == "
            "'assistant']\n    return [int(any(start <= token < end for start, end in own)) for token in tokens]\n",
            fails=3,
        ),
        WrongAnswer(
            "def build_loss_mask(tokens, spans):\n    role_of = {place: role for role, start, end in spans for place "
            "in range(start, end)}\n    return [int(role_of[place] == 'assistant') for place in sorted(role_of)]\n",
            fails=1,
        ),
        WrongAnswer(
            "def build_loss_mask(tokens, spans):\n    mask = [0] * max(len(tokens), 5)\n    mask = mask[: "
            "len(tokens)] if len(tokens) != 7 else mask + [0]\n    for role, start, end in spans:\n        if role "
            "== 'assistant':\n            mask[start:end] = [1] * (end - start)\n    return mask\n",
            fails=5,
        ),
    ),
)  # fmt: skip
