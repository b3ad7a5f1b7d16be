"""Exercise 10: a format reward that tags without content, tag floods and partial credit get past."""

from rewards_lib.contract import sentence
from rewards_lib.practice.exercise import Check, Exercise, Level, WrongAnswer

START = '''def format_reward(completion):
    """A quarter for each tag that occurs, whatever it holds. Mend that."""
    tags = ("<think>", "</think>", "<answer>", "</answer>")
    return sum(0.25 for tag in tags if tag in completion)
'''

CODE = '''import re

SHAPE = re.compile(r"\\s*<think>(.*)</think>\\s*<answer>(.*)</answer>\\s*", re.DOTALL)
TAGS = ("<think>", "</think>", "<answer>", "</answer>")
LEAST_WORDS = 3


def format_reward(completion):
    """1.0 for one block of reasoning in words, then one answer; else nothing."""
    found = SHAPE.fullmatch(completion)
    if not found or any(completion.count(tag) != 1 for tag in TAGS):
        return 0.0
    words = set(re.findall(r"\\w+", found[1].lower()))
    return 1.0 if len(words) >= LEAST_WORDS and found[2].strip() else 0.0
'''

EXERCISE = Exercise(
    place=10,
    title=sentence("Unhackable: tags without work"),
    level=Level.NEEDS_CARE,
    minutes=10,
    task=sentence(
        "This reward pays a quarter for each tag that occurs. Early in training that is most of what can be earned, "
        "so a policy learns to write four tags and nothing else, or the same tags a hundred times. Change it: 1 for "
        "one `<think>` block with at least three different words (neither case nor punctuation makes a word "
        "different), then one `<answer>` block that is not empty, and **nothing** in between 0 and 1."
    ),
    code=CODE,
    start=START,
    checks=(
        Check(
            sentence("honest"), "format_reward('<think>Six times seven is 42.</think><answer>42</answer>')", 1.0,
            sentence("An honest completion must keep its reward."),
        ),
        Check(
            sentence("honest, over several lines"),
            "format_reward('<think>Six times\\nseven is 42.</think>\\n\\n<answer>\\n42</answer>\\n')", 1.0,
            sentence("Line breaks inside and between the blocks are fine."),
        ),
        Check(
            sentence("just enough, and a sign"),
            "[format_reward('<think>six times seven</think><answer>42</answer>'), "
            "format_reward('<think>as 3 < 4 it holds</think><answer>yes</answer>')]", [1.0, 1.0],
            sentence("Three words are enough, and a `<` in the reasoning is no tag: mathematics is full of them."),
        ),
        Check(
            sentence("empty blocks"), "format_reward('<think></think><answer></answer>')", 0.0,
            sentence("Four tags around nothing were paid."),
        ),
        Check(
            sentence("an empty answer"),
            "format_reward('<think>Six times seven is 42.</think><answer> </answer>')", 0.0,
            sentence("An answer of white space was paid: look at what is left after `strip`."),
        ),
        Check(
            sentence("one word of reasoning, repeated"),
            "format_reward('<think>hm hm hm hm hm</think><answer>42</answer>')", 0.0,
            sentence("One word said five times is not three different words, and earns nothing: count distinct ones."),
        ),
        Check(
            sentence("one word in three guises"),
            "format_reward('<think>Hm, hm. HM!</think><answer>42</answer>')", 0.0,
            sentence("Hm, hm. and HM! are one word: take punctuation off and case away before you count."),
        ),
        Check(
            sentence("half a structure"), "format_reward('<think>Six times seven is 42.</think>')", 0.0,
            sentence("Half the structure earned part of the reward: that pays for stopping early."),
        ),
        Check(
            sentence("a flood of tags"), "format_reward('<think>a b c</think><answer>1</answer>' * 50)", 0.0,
            sentence("A flood of blocks was paid: each tag must stand there once."),
        ),
        Check(
            sentence("text around the blocks"),
            "[format_reward('Sure! <think>a b c</think><answer>1</answer>'), "
            "format_reward('<think>a b c</think> so <answer>1</answer>'), "
            "format_reward('<think>a b c</think><answer>1</answer> or 2')]", [0.0, 0.0, 0.0],
            sentence("Text before, between or behind the blocks was paid: the blocks are the whole completion."),
        ),
    ),
    hints=(
        sentence("The first exercise of this page solves half of it."),
        sentence("A set keeps each word once."),
        sentence("Return 1.0 in one place only, behind every condition."),
    ),
    why=sentence(
        "All or nothing takes the small change off the table, the count of tags stops floods, and the content of the "
        "blocks is looked at just enough to make empty ones worthless. Three words are no proof of thought; the "
        "accuracy reward is. (In Chinese `\\w+` takes a whole run of characters for one word: count characters there.)"
    ),
    question=sentence("A policy can still write three random words. Which other rule makes that pointless, and what "
                      "must its weight be?"),
    wrong_answers=(
        WrongAnswer(CODE.replace("LEAST_WORDS = 3", "LEAST_WORDS = 30"), fails=0),
        WrongAnswer(CODE.replace(", re.DOTALL", ""), fails=1),
        WrongAnswer(CODE.replace(">= LEAST_WORDS", "> LEAST_WORDS"), fails=2),
        WrongAnswer(CODE.replace("<think>(.*)</think>", "<think>([^<]*)</think>"), fails=2),
        WrongAnswer(START.replace("return sum(", "return 1.0 if completion.count('<think>') == 1 else sum("), fails=3),
        WrongAnswer(CODE.replace("found[2].strip()", "found[2]"), fails=4),
        WrongAnswer(CODE.replace("set(re.findall(", "list(re.findall("), fails=5),
        WrongAnswer(CODE.replace('re.findall(r"\\w+", found[1].lower())', "found[1].lower().split()"), fails=6),
        WrongAnswer(CODE.replace("found[1].lower()", "found[1]"), fails=6),
        WrongAnswer(
            CODE.replace(
                "    found = SHAPE", "    if completion.endswith('</think>'):\n        return 0.5\n    found = SHAPE"
            ),
            fails=7,
        ),
        WrongAnswer(CODE.replace("completion.count(tag) != 1", "tag not in completion"), fails=8),
        WrongAnswer(CODE.replace("SHAPE.fullmatch", "SHAPE.search"), fails=9),
    ),
)  # fmt: skip
