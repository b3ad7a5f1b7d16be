"""Presets that compare texts by their words: ``text_similarity``, ``qa_match``.

Invariant: rewards lie between the mismatch and the match value; each Han character is a word.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

from rewards_lib.contract import Completion, JsonObject, Sample, Score, sentence
from rewards_lib.presets.grading import graded_part, ground_truths, is_han, no_answer, shown, unusable
from rewards_lib.presets.parameters import ANSWER_FIELD, GRADING, extract_from, flag, option
from rewards_lib.presets.registry import Bilingual, Example, preset

_MAX_TAGS = 10


def words_of(text: str) -> list[str]:
    """Cut a text into words of letters and digits; each Han character is one.

    >>> words_of("the cat, 天气 3.5")
    ['the', 'cat', '天', '气', '3', '5']
    """
    spaced = text if text.isascii() else "".join(f" {c} " if is_han(c) else c for c in text)
    return re.findall(r"[^\W_]+", spaced)


def token_f1(candidate: Sequence[str], reference: Sequence[str]) -> float:
    """The harmonic mean of precision and recall over the multisets of words."""
    overlap = sum((Counter(candidate) & Counter(reference)).values())
    return _f1(overlap, len(candidate), len(reference))


def rouge_l(candidate: Sequence[str], reference: Sequence[str]) -> float:
    """The same with the longest common subsequence in the place of the overlap."""
    return _f1(common_subsequence(candidate, reference), len(candidate), len(reference))


def _f1(overlap: int, candidate: int, reference: int) -> float:
    if not candidate or not reference:
        return float(candidate == reference)
    return float(Fraction(2 * overlap, candidate + reference))


def common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest common subsequence, by bit-parallel steps (Hyyrö 2004): a row is one integer."""
    first, second = sorted((first, second), key=len)  # the integer holds the shorter one
    places: dict[str, int] = {}
    for index, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << index
    full = (1 << len(first)) - 1
    row = full
    for word in second:
        hits = row & places.get(word, 0)
        row = ((row + hits) | (row - hits)) & full
    return len(first) - row.bit_count()


def bleu(candidate: Sequence[str], reference: Sequence[str]) -> float:
    """BLEU of one sentence: orders 1 to 4, clipped, orders 2 to 4 with one added to both counts, brevity penalty."""
    if not candidate or not reference:
        return float(len(candidate) == len(reference))
    logs = 0.0
    for order in range(1, 5):
        grams = [Counter(zip(*(words[i:] for i in range(order)), strict=False)) for words in (candidate, reference)]
        hits, total = sum((grams[0] & grams[1]).values()), sum(grams[0].values())
        if order == 1 and not hits:
            return 0.0
        logs += math.log(hits / total) if order == 1 else math.log((hits + 1) / (total + 1))
    brevity = min(0.0, 1 - len(reference) / len(candidate))
    return math.exp(logs / 4 + brevity)


def edit_ratio(candidate: str, reference: str) -> float:
    """1 - Levenshtein distance / the longer length; the distance by bit-parallel steps (Myers 1999, Hyyrö 2003)."""
    short, long = sorted((candidate, reference), key=len)
    if not short:
        return float(not long)
    places: dict[str, int] = {}
    for index, character in enumerate(short):
        places[character] = places.get(character, 0) | 1 << index
    full, last = (1 << len(short)) - 1, 1 << (len(short) - 1)
    plus, minus, distance = full, 0, len(short)
    for character in long:
        equal = places.get(character, 0)
        diagonal = (((equal & plus) + plus) ^ plus) | equal | minus
        up, down = minus | ~(diagonal | plus), plus & diagonal
        distance += bool(up & last) - bool(down & last)
        up, down = up << 1 | 1, down << 1
        plus, minus = (down | ~(diagonal | up)) & full, up & diagonal & full
    return float(1 - Fraction(distance, len(long)))


_WORD_METRICS: dict[str, Callable[[Sequence[str], Sequence[str]], float]] = {
    "token_f1": token_f1, "rouge_l": rouge_l, "bleu": bleu,
}  # fmt: skip


def similarity(metric: str, candidate: str, reference: str, *, normalize: bool = True) -> float:
    """Compare two texts by one of ``token_f1``, ``rouge_l``, ``bleu``, ``edit_ratio``; from 0 to 1."""
    pair = [unicodedata.normalize("NFKC", text).casefold() if normalize else text for text in (candidate, reference)]
    if metric == "edit_ratio":
        folded = [" ".join(text.split()) if normalize else text for text in pair]
        return edit_ratio(folded[0], folded[1])
    return _WORD_METRICS[metric](words_of(pair[0]), words_of(pair[1]))


def _partly(params: JsonObject, share: float) -> float:
    """Put a share between the mismatch and the match value."""
    return float(params["mismatch"] + (params["match"] - params["mismatch"]) * share)


@preset(
    name="text_similarity",
    label=Bilingual("Text similarity", "文本相似"),
    summary=Bilingual("How alike the text and the reference are, from 0 to 1.", "文本与参考的相似程度，0 到 1。"),
    parameters=(
        option(
            "metric",
            Bilingual("Measure", "指标"),
            Bilingual(
                "token_f1: shared words. rouge_l: shared words in order. bleu: shared word sequences up to "
                "four. edit_ratio: "
                "characters to change. Each Han character is a word.",
                "token_f1：共有词；rouge_l：按序共有词；bleu：至多四元的共有词组；edit_ratio：需改动的字符。"
                "每个汉字算一个词。",
            ),
            "token_f1",
            ("token_f1", "rouge_l", "bleu", "edit_ratio"),
        ),
        flag(
            "normalize",
            Bilingual("Fold characters", "字符归一化"),
            Bilingual("Fold Unicode compatibility forms, case and blanks first.", "先统一兼容字符、大小写与空白。"),
            True,
        ),
        extract_from("text"),
        ANSWER_FIELD,
        *GRADING,
    ),
    examples=(
        Example((0.6666666667, 0.0), ("the cat sat", "dog"), "the cat sat on the mat", prompt="Describe the picture."),
        Example((1.0, 0.8), ("sat cat the", "cat sat"), "the cat sat"),
        Example((0.3333333333, 0.8), ("sat cat the", "cat sat"), "the cat sat", {"metric": "rouge_l"}),
        Example((0.3678794412,), ("the cat sat",), "the cat sat on the mat", {"metric": "bleu"}),
        Example((0.5,), ("the cat sat",), "the cat sat on the mat", {"metric": "edit_ratio"}),
        Example((0.8333333333,), ("今天天气很好",), "今天天气不好"),
    ),
)
def text_similarity(params: JsonObject, sample: Sample, completion: Completion) -> Score:
    """Score the best similarity to a ground truth."""
    truths = ground_truths(params, sample)
    if isinstance(truths, Score):
        return truths
    part = graded_part(params, completion)
    if part.text is None:
        return no_answer(params, part)
    share = max(similarity(params["metric"], part.text, truth, normalize=params["normalize"]) for truth in truths)
    why = sentence("{metric} {share}", metric=params["metric"], share=round(share, 6))
    return Score.scored(_partly(params, share), why, spans=part.spans)


def fold_answer(text: str) -> str:
    """Fold as SQuAD's evaluation does: NFKC, lower case, no punctuation, no articles, single blanks.

    >>> fold_answer("The Beatles!")
    'beatles'
    """
    text = unicodedata.normalize("NFKC", text).lower()
    text = "".join(character for character in text if unicodedata.category(character)[0] not in "PS")
    return " ".join(re.sub(r"\b(?:a|an|the)\b", " ", text).split())


def _qa_share(metric: str, answer: str, truth: str) -> float:
    if metric == "em":
        return float(answer == truth)
    words, wanted = words_of(answer), words_of(truth)
    if metric == "f1":
        return token_f1(words, wanted)
    return float(any(words[at : at + len(wanted)] == wanted for at in range(len(words) - len(wanted) + 1)))


@preset(
    name="qa_match",
    label=Bilingual("Question answering EM/F1", "问答 EM/F1"),
    summary=Bilingual(
        "Exact match, F1 or containment of short answers after SQuAD's normalisation.",
        "按 SQuAD 规则归一化后，对短答案计算 EM、F1 或包含。",
    ),
    parameters=(
        option(
            "metric",
            Bilingual("Measure", "指标"),
            Bilingual(
                "em: equal. f1: shared words. sub_em: the ground truth's words occur in a row; naming every "
                "candidate then earns "
                "the reward by definition.",
                "em：相同。f1：共有词。sub_em：标准答案的词连续出现；此时罗列所有候选按定义也会得分。",
            ),
            "em",
            ("em", "f1", "sub_em"),
        ),
        extract_from("answer_tag"),
        ANSWER_FIELD,
        *GRADING,
    ),
    examples=(
        Example(
            (1.0, 1.0, 0.0, 0.0),
            (
                "<answer>beatles</answer>",
                "<answer>The Beatles!</answer>",
                "<answer>the beatles band</answer>",
                "The Beatles",
            ),
            "The Beatles",
            prompt="Who sang Yesterday?",
        ),
        Example(
            (0.6666666667, 0.0),
            ("<answer>the beatles band</answer>", "<answer>Rolling Stones</answer>"),
            "The Beatles",
            {"metric": "f1"},
        ),
        Example((1.0,), ("<answer>the beatles band</answer>",), "The Beatles", {"metric": "sub_em"}),
        Example((0.0,), ("<answer>a party</answer>",), "art", {"metric": "sub_em"}),
        Example((0.8,), ("<answer>北京市</answer>",), "北京", {"metric": "f1"}),
        Example((1.0,), ("<answer>北京。</answer>",), "北京"),
        Example((1.0, 0.0), ("<answer>w</answer><answer>g</answer>", "<answer>g</answer><answer>w</answer>"), "g"),
        Example((0.0,), ("<answer>" * 11 + "g</answer>",), "g"),
        Example((None,), ("<answer>anything</answer>",), "❤️", {"metric": "sub_em"}),
    ),
)
def qa_match(params: JsonObject, sample: Sample, completion: Completion) -> Score:
    """Score the best of the ground truths; more than 10 opening or closing answer tags are a mismatch."""
    truths = ground_truths(params, sample)
    if isinstance(truths, Score):
        return truths
    wanted = [fold_answer(truth) for truth in truths]
    if not all(map(words_of, wanted)):
        return unusable(params["answer_field"], sentence("nothing is left after folding"))
    part = graded_part(params, completion)
    if part.text is None:
        return no_answer(params, part)
    if max(completion.text.count(tag) for tag in ("<answer>", "</answer>")) > _MAX_TAGS:
        return Score.scored(params["mismatch"], sentence("more than {most} answer tags", most=_MAX_TAGS))
    answer = fold_answer(part.text)
    share = max(_qa_share(params["metric"], answer, truth) for truth in wanted)
    why = sentence(
        "took {answer}, {metric} {share} of {truth}",
        answer=shown(part.text), metric=params["metric"], share=round(share, 6), truth=shown(" / ".join(truths)),
    )  # fmt: skip
    return Score.scored(_partly(params, share), why, spans=part.spans)
