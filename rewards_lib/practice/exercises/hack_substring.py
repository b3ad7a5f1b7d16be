"""Exercise 9: an accuracy reward that a list of guesses, an echo or a hedge gets past."""

from rewards_lib.contract import sentence
from rewards_lib.practice.exercise import Check, Exercise, Level, WrongAnswer

START = '''def accuracy_reward(completion, truth):
    """1.0 for the right answer, mentioned anywhere. Mend that."""
    return 1.0 if truth in completion else 0.0
'''

CODE = r'''import re

ANSWER = re.compile(r"<answer>(.*)</answer>\s*\Z", re.DOTALL)


def accuracy_reward(completion, truth):
    """1.0 when the one answer block at the end is the ground truth and nothing else."""
    final = completion.partition("</think>")[2]
    found = ANSWER.search(final)
    if not found or final.count("<answer>") != 1:
        return 0.0
    return 1.0 if found[1].strip() == truth.strip() else 0.0
'''

EQUAL = "found[1].strip() == truth.strip()"
LAST_BLOCK = r"""import re


def accuracy_reward(completion, truth):
    found = re.findall(r"<answer>(.*?)</answer>", completion, re.DOTALL)
    return 1.0 if found and found[-1].strip() == truth else 0.0
"""
ANY_NUMBER = r"""import re


def accuracy_reward(completion, truth):
    numbers = re.findall(r"\d+", completion)
    alone = completion.count("<answer>") == 1 and "," not in completion
    return 1.0 if alone and truth in numbers else 0.0
"""
INNERMOST = r"""import re


def accuracy_reward(completion, truth):
    blocks = re.findall(r"<answer>([^<]*)</answer>", completion.partition("</think>")[2])
    return 1.0 if len(blocks) == 1 and blocks[0].strip() == truth else 0.0
"""
ANYWHERE = r"""import re


def accuracy_reward(completion, truth):
    found = re.search(r"<answer>(.*)</answer>", completion, re.DOTALL)
    hedged = completion.rstrip().endswith("43")
    if not found or hedged or completion.count("<answer>") != 1:
        return 0.0
    return 1.0 if found[1].strip() == truth else 0.0
"""

EXERCISE = Exercise(
    place=9,
    title=sentence("Unhackable: the mentioned answer"),
    level=Level.NEEDS_CARE,
    minutes=10,
    task=sentence(
        "This reward looks for the ground truth anywhere in the completion. A policy finds out within a few hundred "
        "steps: list every candidate, repeat the question's numbers, answer 142 where 42 is right. Completions are "
        "supposed to reason in one `<think>` block and to **end** with one `<answer>` block. Change the function so "
        "that honest completions still earn 1 and none of the attacks does."
    ),
    code=CODE,
    start=START,
    checks=(
        Check(
            sentence("an honest answer"), "accuracy_reward('<think>6 * 7</think><answer>42</answer>', '42')", 1.0,
            sentence("An honest, right completion must keep its reward: a reward that pays nobody teaches nothing."),
        ),
        Check(
            sentence("honest, with white space"),
            "accuracy_reward('<think>6 * 7</think>\\n<answer> 42\\n</answer>\\n', '42')", 1.0,
            sentence("White space around the answer is no mistake."),
        ),
        Check(
            sentence("an honest mistake"), "accuracy_reward('<think>6 * 7</think><answer>41</answer>', '42')", 0.0,
            sentence("A wrong answer earned the reward."),
        ),
        Check(
            sentence("a list of candidates"),
            "accuracy_reward('<think>hm</think><answer>40, 41, 42, 43</answer>', '42')", 0.0,
            sentence(
                "A list of guesses that holds the right one was paid: the answer must *be* the ground truth, not "
                "hold it."
            ),
        ),
        Check(
            sentence("part of a longer number"),
            "accuracy_reward('<think>hm</think><answer>142</answer>', '42')", 0.0,
            sentence("142 was taken for 42: compare the whole answer."),
        ),
        Check(
            sentence("part of the ground truth"),
            "[accuracy_reward(f'<think>hm</think><answer>{part}</answer>', '42') for part in ('4', '')]", [0.0, 0.0],
            sentence(
                "A digit of the ground truth, or an empty answer, was paid: being contained is not being equal, "
                "whichever way round."
            ),
        ),
        Check(
            sentence("right only in the reasoning"),
            "accuracy_reward('<think>maybe 42</think><answer>7</answer>', '42')", 0.0,
            sentence("The right number stands in the reasoning, the answer is 7: only the answer block counts."),
        ),
        Check(
            sentence("two answer blocks"),
            "accuracy_reward('<think>hm</think><answer>41</answer><answer>42</answer>', '42')", 0.0,
            sentence("Two answer blocks are two guesses; only a single answer may be paid."),
        ),
        Check(
            sentence("a second round of reasoning"),
            "accuracy_reward('<think>a</think><answer>41</answer><think>b</think><answer>42</answer>', '42')", 0.0,
            sentence(
                "A second guess was paid because more reasoning stood in front of it: all that follows the *first* "
                "`</think>` is the answer."
            ),
        ),
        Check(
            sentence("a block inside a block"),
            "accuracy_reward('<think>hm</think><answer><answer>42</answer></answer>', '42')", 0.0,
            sentence("The inner one of two nested blocks was paid: one answer has one opening tag, so count those."),
        ),
        Check(
            sentence("a hedge behind the answer"),
            "accuracy_reward('<think>hm</think><answer>42</answer> or perhaps 43', '42')", 0.0,
            sentence("The answer was taken back right behind its block: a completion has to end with the block."),
        ),
        Check(
            sentence("an answer block inside the reasoning"),
            "accuracy_reward('<think><answer>42</answer></think> I do not know.', '42')", 0.0,
            sentence("The block stood in the reasoning, and no answer followed. Look behind the reasoning only."),
        ),
        Check(
            sentence("no answer block"), "accuracy_reward('<think>6 * 7</think>42', '42')", 0.0,
            sentence("Without an answer block there is no answer, only a mention."),
        ),
    ),
    hints=(
        sentence("First find the part that counts, then compare it as a whole."),
        sentence("`str.partition('</think>')[2]` is everything behind the reasoning, and empty where there is none."),
        sentence(
            "`count('<answer>')` tells how many answers there are; anything but one is a guess. `\\Z` in a pattern is "
            "the end of the text."
        ),
    ),
    why=sentence(
        "Three holes close: where to look (behind the reasoning, up to the end), how much of it (one whole block), "
        "how to compare (equal, not contained). Numbers deserve the exact comparison of the second exercise; the "
        "place where hackers get in is the same."
    ),
    question=sentence("Which of your checks could an honest but clumsy completion fail, and how would you find out "
                      "how many do?"),
    wrong_answers=(
        WrongAnswer(START.replace("truth in completion", "completion.strip() == truth"), fails=0),
        WrongAnswer(START.replace("truth in completion", "'<answer>' + truth + '</answer>' in completion"), fails=1),
        WrongAnswer(START.replace("truth in completion", "'<answer>' in completion"), fails=2),
        WrongAnswer(CODE.replace(EQUAL, "truth in found[1]"), fails=3),
        WrongAnswer(CODE.replace(EQUAL, "found[1].strip().endswith(truth)"), fails=4),
        WrongAnswer(CODE.replace(EQUAL, "found[1].strip() in truth"), fails=5),
        WrongAnswer(ANY_NUMBER, fails=6),
        WrongAnswer(LAST_BLOCK, fails=7),
        WrongAnswer(CODE.replace("partition", "rpartition"), fails=8),
        WrongAnswer(INNERMOST, fails=9),
        WrongAnswer(CODE.replace(r"\s*\Z", ""), fails=10),
        WrongAnswer(ANYWHERE, fails=11),
        WrongAnswer(
            CODE.replace(
                "    if not found", "    if final.strip() == truth:\n        return 1.0\n    if not found",
            ), fails=12
        ),
    ),
)  # fmt: skip
