"""Exercise 9: an accuracy reward that a list of guesses, an echo or a hedge gets past."""

from rewards_lib.contract import sentence
from rewards_lib.practice.exercise import Check, Exercise, Level, WrongAnswer

START = '''def accuracy_reward(completion, truth):
    """1.0 for the right answer, mentioned anywhere. Mend that."""
    return 1.0 if truth in completion else 0.0
'''

CODE = '''import re

ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)


def accuracy_reward(completion, truth):
    """1.0 when the one answer block holds the ground truth and nothing else."""
    final = completion.rpartition("</think>")[2]
    answers = ANSWER.findall(final)
    if len(answers) != 1 or final.count("<answer>") != 1:
        return 0.0
    return 1.0 if answers[0].strip() == truth.strip() else 0.0
'''

EXERCISE = Exercise(
    place=9,
    title=sentence("Unhackable: the mentioned answer"),
    level=Level.NEEDS_CARE,
    minutes=10,
    task=sentence(
        "This reward looks for the ground truth anywhere in the completion. A policy finds out within a few hundred "
        "steps: list every candidate, repeat the question's numbers, answer 142 where 42 is right. Completions are "
        "supposed to end with one `<answer>` block behind the reasoning. Change the function so that honest "
        "completions still earn 1 and none of the attacks does."
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
            "accuracy_reward('<think>6 * 7</think>\\n<answer> 42\\n</answer>', '42')", 1.0,
            sentence("White space around the answer is no mistake."),
        ),
        Check(
            sentence("an honest mistake"), "accuracy_reward('<think>6 * 7</think><answer>41</answer>', '42')", 0.0,
            sentence("A wrong answer earned the reward."),
        ),
        Check(
            sentence("a list of candidates"), "accuracy_reward('<answer>40, 41, 42, 43</answer>', '42')", 0.0,
            sentence(
                "A list of guesses that holds the right one was paid: the answer must *be* the ground truth, not "
                "hold it."
            ),
        ),
        Check(
            sentence("part of a longer number"), "accuracy_reward('<answer>142</answer>', '42')", 0.0,
            sentence("142 was taken for 42: compare the whole answer."),
        ),
        Check(
            sentence("right only in the reasoning"),
            "accuracy_reward('<think>maybe 42</think><answer>7</answer>', '42')", 0.0,
            sentence("The right number stands in the reasoning, the answer is 7: only the answer block counts."),
        ),
        Check(
            sentence("two answer blocks"), "accuracy_reward('<answer>41</answer><answer>42</answer>', '42')", 0.0,
            sentence("Two answer blocks are two guesses; only a single answer may be paid."),
        ),
        Check(
            sentence("an answer block inside the reasoning"),
            "accuracy_reward('<think><answer>42</answer></think> I do not know.', '42')", 0.0,
            sentence("The block stood in the reasoning, and no answer followed. Look behind the reasoning only."),
        ),
        Check(
            sentence("no answer block"), "accuracy_reward('42', '42')", 0.0,
            sentence("Without an answer block there is no answer, only a mention."),
        ),
    ),
    hints=(
        sentence("First find the part that counts, then compare it as a whole."),
        sentence("`str.rpartition('</think>')[2]` is what follows the reasoning, or everything where there is none."),
        sentence("`findall` tells you how many answers there are; anything but one is a guess."),
    ),
    why=sentence(
        "Three holes close: where to look (behind the reasoning), how much of it (one whole block), how to compare "
        "(equal, not contained). Numbers deserve the exact comparison of the second exercise; the place where "
        "hackers get in is the same."
    ),
    question=sentence("Which of your checks could an honest but clumsy completion fail, and how would you find out "
                      "how many do?"),
    wrong_answers=(
        WrongAnswer(START.replace("truth in completion", "completion.strip() == truth"), fails=0),
        WrongAnswer(START.replace("truth in completion", "'<answer>' + truth + '</answer>' in completion"), fails=1),
        WrongAnswer(START.replace("truth in completion", "'<answer>' in completion"), fails=2),
        WrongAnswer(CODE.replace("answers[0].strip() == truth.strip()", "truth in answers[0]"), fails=3),
        WrongAnswer(CODE.replace("answers[0].strip() == truth.strip()", "answers[0].strip().endswith(truth)"), fails=4),
        WrongAnswer(
            "import re\n\n\ndef accuracy_reward(completion, truth):\n    found = re.findall(r'\\d+', "
            "completion)\n    blocks = completion.count('<answer>')\n    alone = ',' not in completion\n    return "
            "1.0 if blocks and alone and truth in found else 0.0\n",
            fails=5,
        ),
        WrongAnswer(
            "import re\n\n\ndef accuracy_reward(completion, truth):\n    found = "
            "re.findall(r'<answer>(.*?)</answer>', completion, re.DOTALL)\n    return 1.0 if found and "
            "found[-1].strip() == truth else 0.0\n",
            fails=6,
        ),
        WrongAnswer(
            "import re\n\n\ndef accuracy_reward(completion, truth):\n    found = "
            "re.findall(r'<answer>(.*?)</answer>', completion, re.DOTALL)\n    return 1.0 if len(found) == 1 and "
            "found[0].strip() == truth else 0.0\n",
            fails=7,
        ),
        WrongAnswer(
            CODE.replace(
                "    if len(answers)",
                "    if final.strip() == truth:\n        return 1.0\n    if len(answers)",
            ), fails=8
        ),
    ),
)  # fmt: skip
