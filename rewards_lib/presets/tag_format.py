"""Presets on the form of a completion, whatever it says: ``think_answer_format``, ``tag_count``.

Invariant: they look at the whole completion, thinking included, and need no ground truth.
"""

from __future__ import annotations

from rewards_lib.contract import Completion, JsonObject, Sample, Score, Sentence, sentence
from rewards_lib.presets.parameters import flag, text, texts
from rewards_lib.presets.registry import Bilingual, Example, preset

_GOOD = "<think>23*17 = 391</think>\n<answer>391</answer>"


@preset(
    name="think_answer_format",
    label=Bilingual("Think and answer format", "思考/回答格式"),
    summary=Bilingual(
        "1 when the completion is one think block, then one answer block, and nothing else.",
        "回答恰为一个思考块加一个答案块、别无其他时得 1。",
    ),
    parameters=(
        flag(
            "think_prefilled",
            Bilingual("<think> is in the prompt", "<think> 已在提示中"),
            Bilingual(
                "The chat template already opened the think block, so completions start inside it.",
                "对话模板已写入 <think>，回答从思考块内部开始。",
            ),
            False,
        ),
        texts(
            "allow_eos",
            Bilingual("Allowed at the end", "允许的结尾标记"),
            Bilingual(
                "End-of-turn texts that may follow the answer block; they are no part of the format.",
                "答案块之后允许出现的结束标记，不属于格式。",
            ),
            ("<|im_end|>", "<|endoftext|>", "</s>"),
            at_least=0,
        ),
        flag(
            "require_nonempty",
            Bilingual("Bodies must not be empty", "内容不得为空"),
            Bilingual(
                "An empty think or answer body fails the format: empty tags are a known hack.",
                "思考或答案内容为空即判格式不符：空标签是已知的刷分手段。",
            ),
            True,
        ),
        text(
            "answer_tag",
            Bilingual("Answer tag", "答案标签"),
            Bilingual("Its name, without brackets.", "标签名，不含尖括号。"),
            "answer",
            pattern="^[A-Za-z_][A-Za-z0-9_-]*$",
        ),
    ),
    examples=(
        Example((1.0, 0.0, 0.0), (_GOOD, f"{_GOOD}\nextra", "391"), prompt="What is 23 times 17?"),
        Example(
            (1.0, 1.0),
            ("<think>a</think><answer>b</answer><|im_end|>", "  <think>a</think>\n<answer>b</answer> </s>\n"),
        ),
        Example((0.0,), ("<think>a</think><answer>b</answer><answer>c</answer>",)),
        Example((0.0, 0.0), ("<think></think><answer></answer>", "<think> \n</think><answer>5</answer>")),
        Example((1.0,), ("<think></think><answer></answer>",), params={"require_nonempty": False}),
        Example((0.0,), ("<think>a</think> so <answer>b</answer>",)),
        Example((0.0,), ("a</think><answer>b</answer>",)),
        Example((1.0,), ("a</think><answer>b</answer>",), params={"think_prefilled": True}),
        Example((0.0,), ("<think>a<think>b</think></think><answer>c</answer>",)),
        Example((0.0, 0.0), ("<answer>b</answer><think>a</think>", "<think>a <answer>b</answer></think>")),
    ),
)
def think_answer_format(params: JsonObject, _sample: Sample, completion: Completion) -> Score:
    """Score 1 iff there is one think block, then one answer block, and white space around them at most."""
    body = _without_end(completion.text, params["allow_eos"])
    if params["think_prefilled"] and not body.startswith("<think>"):
        body = "<think>" + body
    fault = _format_fault(body, params["answer_tag"], params["require_nonempty"])
    return Score.scored(0.0, fault) if fault else Score.scored(1.0, sentence("one think block, then one answer block"))


def _without_end(body: str, ends: list[str]) -> str:
    body = body.strip()
    while end := next((end for end in ends if body.endswith(end)), None):
        body = body[: -len(end)].rstrip()
    return body


def _format_fault(body: str, answer_tag: str, require_nonempty: bool) -> Sentence | None:
    tags = ["<think>", "</think>", f"<{answer_tag}>", f"</{answer_tag}>"]
    for tag in tags:
        if (count := body.count(tag)) != 1:
            return (
                sentence("no {tag}", tag=tag) if count == 0 else sentence("{count} times {tag}", count=count, tag=tag)
            )
    places = [body.index(tag) for tag in tags]
    if places != sorted(places):
        return sentence("the tags are in the wrong order")
    think, answer = body[places[0] + len(tags[0]) : places[1]], body[places[2] + len(tags[2]) : places[3]]
    if body[: places[0]].strip():
        return sentence("text before {tag}", tag=tags[0])
    if body[places[1] + len(tags[1]) : places[2]].strip():
        return sentence("text between the blocks")
    if body[places[3] + len(tags[3]) :].strip():
        return sentence("text after {tag}", tag=tags[3])
    if require_nonempty and not (think.strip() and answer.strip()):
        return sentence("an empty {block} block", block="answer" if think.strip() else "think")
    return None


@preset(
    name="tag_count",
    label=Bilingual("Tag count", "标签计数"),
    summary=Bilingual("The share of the tags that occur exactly once.", "恰好出现一次的标签所占比例。"),
    parameters=(
        texts(
            "tags",
            Bilingual("Tags", "标签"),
            Bilingual(
                "Order is not looked at: all tags once each in the wrong order earn 1. Combine with "
                "think_answer_format.",
                "不看顺序：标签各出现一次但次序错误也得 1。建议与 think_answer_format 组合。",
            ),
            ("<think>", "</think>", "<answer>", "</answer>"),
            at_least=1,
        ),
    ),
    examples=(
        Example((1.0, 0.5, 0.0), (_GOOD, "<think>a</think>b", ""), prompt="What is 23 times 17?"),
        Example((0.75,), ("<think><think>a</think><answer>b</answer>",)),
        Example((0.5,), ("<think>a</think><answer>b</answer><answer>c</answer>",)),
        Example((1.0,), ("</answer><answer></think><think>",)),
    ),
)
def tag_count(params: JsonObject, _sample: Sample, completion: Completion) -> Score:
    """Score (number of tags that occur exactly once) / (number of tags)."""
    counts = {tag: completion.text.count(tag) for tag in params["tags"]}
    once = sum(count == 1 for count in counts.values())
    others = ", ".join(f"{tag} {count}×" for tag, count in counts.items() if count != 1)
    why = (
        sentence("{once} of {total} tags once; {others}", once=once, total=len(counts), others=others)
        if others
        else sentence("all {total} tags once", total=len(counts))
    )
    return Score.scored(once / len(counts), why)
