"""Exercise 1: a reward for the shape of a completion, which repeated and nested tags do not get past."""

from rewards_lib.contract import sentence
from rewards_lib.practice.exercise import Check, Exercise, Level, WrongAnswer, fill_blanks

CODE = '''import re

SHAPE = re.compile(r"\\s*<think>.*</think>\\s*<answer>.*</answer>\\s*", ⟦re.DOTALL⟧)
TAGS = ("<think>", "</think>", "<answer>", "</answer>")


def format_reward(completion):
    """1.0 for one think block, then one answer block, nothing else; else 0.0."""
    if any(completion.count(tag) != ⟦1⟧ for tag in TAGS):
        return 0.0
    return 1.0 if SHAPE.⟦fullmatch⟧(completion) else 0.0
'''

COUNTED = """TAGS = ("<think>", "</think>", "<answer>", "</answer>")


def format_reward(completion):
    once = all(completion.count(tag) == 1 for tag in TAGS)
    return 1.0 if once and completion.strip().endswith(">") else 0.0
"""

EXERCISE = Exercise(
    place=1,
    title=sentence("Format reward"),
    level=Level.FIRST_STEPS,
    minutes=4,
    task=sentence(
        "A completion earns 1 when it is exactly one `<think>` block followed by one `<answer>` block. What stands "
        "in the blocks does not matter here; that is another rule's business. Reasoning runs over many lines, and "
        "white space around the blocks is fine. Text before, between or behind the blocks, a second block, or tags "
        "inside tags are not: a pattern alone lets the last two through, so each tag is counted as well. Fill the "
        "three blanks."
    ),
    code=CODE,
    checks=(
        Check(
            sentence("in order"), "format_reward('<think>2 + 3</think><answer>5</answer>')", 1.0,
            sentence("The plainest completion of all must earn 1. Look at what each tag is counted against."),
        ),
        Check(
            sentence("reasoning over two lines"),
            "format_reward('<think>first\\nthen</think>\\n<answer>5</answer>')", 1.0,
            sentence("The reasoning has a line break, and `.` stops at line ends unless a flag says otherwise."),
        ),
        Check(
            sentence("white space around the blocks"),
            "format_reward('  <think>a</think>\\n\\n<answer>5</answer>\\n')", 1.0,
            sentence("White space before, between and behind the blocks is no fault."),
        ),
        Check(
            sentence("text behind the answer"), "format_reward('<think>a</think><answer>5</answer> Or is it 6?')", 0.0,
            sentence(
                "Text behind the last tag got through: the pattern has to cover the whole completion, not its start."
            ),
        ),
        Check(
            sentence("text before and between the blocks"),
            "[format_reward('Sure! <think>a</think><answer>5</answer>'), "
            "format_reward('<think>a</think> So: <answer>5</answer>')]", [0.0, 0.0],
            sentence("Words outside the blocks got through, before them or between them; only white space may."),
        ),
        Check(
            sentence("two answers"), "format_reward('<think>a</think><answer>5</answer><answer>6</answer>')", 0.0,
            sentence("Two answers earned the reward: `.*` runs over tags. Each tag must occur exactly once."),
        ),
        Check(
            sentence("a block inside a block"),
            "format_reward('<think>a<think>b</think><answer>5</answer>')", 0.0,
            sentence("A second `<think>` hid in the reasoning: count all four tags, not only those of the answer."),
        ),
        Check(
            sentence("answer first"), "format_reward('<answer>5</answer><think>a</think>')", 0.0,
            sentence("The order of the blocks counts: reasoning comes before the answer."),
        ),
        Check(
            sentence("an unclosed block"), "format_reward('<think>halfway')", 0.0,
            sentence("A block that never closes is a completion that was cut; it earns nothing."),
        ),
    ),
    hints=(
        sentence("Which flag of `re` lets the dot match a line break?"),
        sentence("`match` looks at the start, `search` anywhere; a third method demands the whole string."),
        sentence("Every tag stands in a sound completion once: not at least once, not at most once."),
    ),
    why=sentence(
        "`re.DOTALL` lets reasoning run over lines; `fullmatch` leaves no room before or behind; counting the tags "
        "stops what a pattern alone cannot see, a second block that `.*` swallows. The reward is 1 or 0: inside a "
        "group the difference is made relative anyway, and half a point for half a structure would pay for tags "
        "without content."
    ),
    question=sentence(
        "If each missing tag cost a quarter instead of everything, what would a policy learn first, and would it "
        "ever have a reason to learn the rest?"
    ),
    wrong_answers=(
        WrongAnswer(fill_blanks(CODE, {1: "re.IGNORECASE"}), fails=1),
        WrongAnswer(fill_blanks(CODE, {}).replace('r"\\s*<think>', 'r"<think>'), fails=2),
        WrongAnswer(fill_blanks(CODE, {3: "match"}), fails=3),
        WrongAnswer(fill_blanks(CODE, {3: "search"}).replace('s*", re', 's*$", re'), fails=4),
        WrongAnswer(fill_blanks(CODE, {2: "0"}), fails=0),
        WrongAnswer(COUNTED, fails=4),
        WrongAnswer(fill_blanks(CODE, {}).replace('("<think>", "</think>", ', "("), fails=6),
        WrongAnswer(
            fill_blanks(CODE, {}).replace(
                "    return 1.0 if SHAPE",
                "    if completion.startswith('<answer>'):\n        return 1.0\n    return 1.0 if SHAPE",
            ),
            fails=7,
        ),
        WrongAnswer(
            fill_blanks(CODE, {}).replace(
                "    if any", "    if '<answer>' not in completion:\n        return 1.0\n    if any"
            ),
            fails=8,
        ),
        WrongAnswer(CODE.replace("⟦1⟧", "completion.count(tag)").replace("⟦", "").replace("⟧", ""), fails=5),
    ),
)  # fmt: skip
