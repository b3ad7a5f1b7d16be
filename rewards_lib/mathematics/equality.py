"""Whether two mathematical answers are equal: cheap certain layers first, a computer algebra system last.

Invariant: "equal" is only said when a layer is certain; a ground truth that cannot be read decides nothing.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import Literal, TypeAlias

from rewards_lib.mathematics import algebra
from rewards_lib.mathematics.dates import read_date, read_time
from rewards_lib.mathematics.exact import exact_value, is_beyond_limits, is_short
from rewards_lib.mathematics.expression import (
    Node,
    OutOfDomainError,
    TooLargeError,
    UnreadableError,
    parse,
)
from rewards_lib.mathematics.matrices import without_determinants
from rewards_lib.mathematics.relations import (
    as_interval,
    as_tuples,
    as_union,
    both_ways,
    equation_sides,
    exact_side,
    is_same_name,
    last_side,
    read_relation,
    values_of_chain,
    without_absolute,
    without_builder,
    without_domain,
    without_membership,
    without_name,
)
from rewards_lib.mathematics.stated import stated_answer, stated_truth
from rewards_lib.mathematics.structure import (
    Collection,
    choices_of,
    equal_collections,
    in_order,
    names_several_things,
    read_base,
    read_collection,
    read_marks,
    special_value,
    unordered,
    without_label,
)
from rewards_lib.mathematics.text import (
    compact,
    fold_words,
    has_words,
    is_balanced,
    is_text,
    normalise,
    split_top,
    unwrapped,
)
from rewards_lib.mathematics.units import split_unit, without_unit
from rewards_lib.mathematics.values import (
    are_equal,
    are_proportional,
    integration_constant,
    is_constant_difference,
    is_moderate,
    is_within,
)

Percent: TypeAlias = Literal["either", "strict"]
MAX_CHARACTERS = 20_000
MAX_COMPARISONS = 1_500
"""Of parts with one another, within one comparison: sets of sets multiply them."""
_REMEMBERED_CHARACTERS = 400
_PRECISION = threading.RLock()
"""mpmath has one precision for the whole process; without the lock one thread would set another's back."""


class Verdict(StrEnum):
    """What became of a comparison."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNDECIDED = "undecided"
    """Too large or too deep to be worth computing."""
    UNREADABLE_TRUTH = "unreadable truth"


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict and the layer that made it."""

    verdict: Verdict
    layer: str
    """``identical``, ``structure``, ``text``, ``exact``, ``numeric``, ``algebra`` or ``limits``."""
    truth_read: str = ""
    """What the ground truth was read as: a number where the exact layer decided, else the normalised text."""
    answer_read: str = ""


def decide(
    truth: str, answer: str, *, percent: Percent = "either", rounding_digits: int = 6, use_algebra: bool = True
) -> Decision:
    r"""Compare an answer with a ground truth, both as written, without dollar signs or with.

    ``percent``: with "either" a percent sign on one side only may also be decoration (``28\\%`` is ``28`` and 0.28).
    ``rounding_digits``: a decimal equals an exact value when it is its correct rounding to so many digits at least.
    Without ``use_algebra`` the last layer is left out. Never raises, from any thread; may take long only inside the
    algebra layer, which the caller's time limit ends.
    """
    if len(answer) > MAX_CHARACTERS:
        return Decision(Verdict.EQUAL if truth.strip() == answer.strip() else Verdict.DIFFERENT, "identical")
    compare = _decide if len(truth) + len(answer) <= _REMEMBERED_CHARACTERS else _decide.__wrapped__
    return compare(truth, answer, percent, rounding_digits, use_algebra)


@lru_cache(maxsize=1024)
def _decide(truth: str, answer: str, percent: Percent, rounding_digits: int, use_algebra: bool) -> Decision:
    """Decide, and remember: the completions of a group share a ground truth and often an answer."""
    comparison = _Comparison(percent, rounding_digits, use_algebra)
    try:
        wanted, value = normalise(stated_truth(truth)), normalise(stated_answer(answer))
        if not re.search(r"\w|\\[A-Za-z{]", wanted) or not is_balanced(wanted):
            return Decision(Verdict.UNREADABLE_TRUTH, "text")
        with _PRECISION:
            is_equal = comparison.compare(wanted, value)
    except (TooLargeError, RecursionError):
        return Decision(Verdict.UNDECIDED, "limits")
    if is_equal is None:
        return Decision(Verdict.UNREADABLE_TRUTH, comparison.layer)
    read = comparison.read or (wanted, value)
    return Decision(Verdict.EQUAL if is_equal else Verdict.DIFFERENT, comparison.layer, *read)


@lru_cache(maxsize=64)
def names_several(truth: str) -> bool:
    """Tell whether a ground truth names several values, as ``2, 3`` does."""
    try:
        collection = read_collection(unwrapped(normalise(stated_truth(truth))))
    except TooLargeError:
        return False
    return collection is not None and collection.kind in ("list", "set")


class _Comparison:
    """One comparison: True, False, or None when the ground truth is beyond every layer."""

    def __init__(self, percent: Percent, rounding_digits: int, use_algebra: bool) -> None:
        self.percent = percent
        self.rounding_digits = rounding_digits
        self.use_algebra = use_algebra
        self.layer = "identical"
        self.read: tuple[str, str] | None = None
        """Truth and answer as exact numbers, where the two as a whole are."""
        self.depth = 0
        self.comparisons = 0

    def compare(self, truth: str, answer: str) -> bool | None:
        """Compare two normalised texts, structure first."""
        if compact(truth) == compact(answer):
            return bool(answer)
        self.comparisons += 1
        if self.comparisons > MAX_COMPARISONS:
            raise TooLargeError
        self.depth += 1
        try:
            if self.depth > 12 or not answer:
                return False
            return self.compare_structures(*(_prepared(text) for text in (truth, answer)))
        finally:
            self.depth -= 1

    def compare_structures(self, truth: str, answer: str) -> bool | None:
        """Compare two texts that differ as written, neither of them empty."""
        self.layer = "structure"
        truth, answer = without_membership(truth, answer)
        for read in (special_value, read_date, read_time, read_base, read_marks):
            seen = read(truth), read(answer)
            if any(seen):
                return seen[0] == seen[1]
        labelled = without_label(truth, answer)
        if labelled is not None:
            return self.compare(*labelled)
        wanted, found = read_collection(truth), read_collection(answer)
        is_named = [c is None and _has_equation(text) for c, text in ((wanted, truth), (found, answer))]
        if any(c and c.kind in ("list", "union") for c in (wanted, found)) and not any(is_named):
            return self.compare_collections(wanted, found, truth, answer)
        if _has_equation(truth) or _has_equation(answer):
            return self.compare_equations(truth, answer)
        if read_relation(truth) or read_relation(answer):
            return self.compare_relations(truth, answer)
        if wanted or found:
            return self.compare_collections(wanted, found, truth, answer)
        if is_text(truth) or is_text(answer):
            self.layer = "text"
            return fold_words(truth) == fold_words(answer)
        return self.compare_values(truth, answer)

    def compare_collections(self, wanted: Collection | None, found: Collection | None, truth: str, answer: str) -> bool:
        """Compare where at least one side is a collection."""
        if wanted and found and "=" not in answer and (tuples := as_tuples(truth)):
            return bool(self.compare(tuples, answer))
        if names_several_things(wanted) != names_several_things(found):  # bare values go by their order
            sides = [c.items if c else [text] for c, text in ((wanted, truth), (found, answer))]
            return in_order(sides[0], sides[1], self.compare)
        if wanted and found:
            if {wanted.kind, found.kind} == {"list", "union"}:
                pieces = [[as_interval(item) or item for item in c.items] for c in (wanted, found)]
                return unordered(pieces[0], pieces[1], self.compare)
            return equal_collections(wanted, found, self.compare)
        collection, other = (wanted, answer) if wanted else (found, truth)
        assert collection is not None  # noqa: S101 -- one of the two is
        if collection.kind == "ratio" and len(collection.items) == 2:
            return bool(self.compare(f"({collection.items[0]})/({collection.items[1]})", other))
        if collection.kind in ("set", "list") and (choices := choices_of(other)):
            return sorted(set(collection.items)) == choices
        if collection.kind in ("set", "list") and unordered(collection.items, [other], self.compare):
            return True
        if collection.kind == "union":
            solved = as_union(other) or (without_absolute(truth) if found else None)
            return solved is not None and bool(self.compare(solved, answer if other == truth else truth))
        texts = truth, answer
        if all(re.fullmatch(pattern, text) for pattern, text in zip(_DECIMAL_COMMA, texts, strict=True)) or all(
            re.fullmatch(pattern, text) for pattern, text in zip(_DECIMAL_COMMA[::-1], texts, strict=True)
        ):
            return bool(self.compare(truth.replace(",", "."), answer.replace(",", ".")))
        return False

    def compare_equations(self, truth: str, answer: str) -> bool | None:
        """Compare where at least one side has an equals sign: values by name, equations up to a constant factor."""
        if not _has_equation(truth):
            sides = values_of_chain(answer)
            return bool(sides) and all(self.compare(truth, side) for side in sides)
        if not _has_equation(answer):
            if (value := last_side(truth)) is not None:
                return self.compare(value, answer)
            sides = values_of_chain(truth)
            agree = all(self.compare(side, sides[0]) for side in sides[1:])
            return agree and bool(sides) and self.compare(sides[-1], answer)
        named = without_name(truth), without_name(answer)
        if None not in named and is_same_name(truth, answer, among_several=self.depth > 1):
            return self.compare(str(named[0]), str(named[1]))
        equations = equation_sides(truth), equation_sides(answer)
        if equations[0] is None or equations[1] is None:
            return False
        nodes = [_parsed(f"({left})-({right})") for left, right in (equations[0], equations[1])]
        if nodes[0] is None or nodes[1] is None:
            if None not in named:  # values of two different names
                return False
            return self.compare_by_algebra(truth, answer, is_truth_read=nodes[0] is not None)
        self.layer = "numeric"
        return are_proportional(nodes[0], nodes[1], truth + answer)

    def compare_relations(self, truth: str, answer: str) -> bool | None:
        """Compare sets of numbers written as relations or intervals; other relations up to a sign and a flip."""
        intervals = as_interval(truth), as_interval(answer)
        if any(intervals):
            pair = [interval or text for interval, text in zip(intervals, (truth, answer), strict=True)]
            wanted, found = read_collection(pair[0]), read_collection(pair[1])
            return bool(wanted and found and equal_collections(wanted, found, self.compare))
        relations = read_relation(truth), read_relation(answer)
        if relations[0] is None or relations[1] is None:
            return False
        return any(
            signs == relations[1][1] and in_order(sides, relations[1][0], self.compare)
            for sides, signs in both_ways(relations[0])
        )

    def compare_values(self, truth: str, answer: str) -> bool | None:
        """Compare two single values, units and percent signs looked at first."""
        (wanted, unit), (found, other_unit) = split_unit(truth), split_unit(answer)
        if unit and not other_unit:
            found = without_unit(found, unit)
        elif other_unit and not unit:
            wanted = without_unit(wanted, other_unit)
        if unit and other_unit and unit != other_unit:
            return False
        signs = wanted.endswith("%"), found.endswith("%")
        if signs[0] != signs[1] and (unit or other_unit):
            return False
        wanted, found = wanted.removesuffix("%").strip(), found.removesuffix("%").strip()
        if signs[0] == signs[1]:
            return self.compare_expressions(wanted, found)
        shares = (f"({wanted})/100", found) if signs[0] else (wanted, f"({found})/100")
        # A rounding is judged on the digits as written, so the decimal side goes along.
        verdict = self.compare_expressions(*shares)
        if verdict is False and self.percent == "either":
            return self.compare_expressions(wanted, found)
        return verdict

    def compare_expressions(self, truth: str, answer: str) -> bool | None:
        """Compare two expressions: exact, then numeric, then by computer algebra."""
        infinite = [re.fullmatch(r"([-+]?)\\infty", compact(text)) for text in (truth, answer)]
        if any(infinite):
            return all(infinite) and infinite[0][1].lstrip("+") == infinite[1][1].lstrip("+")  # type: ignore[index]
        wanted, found = _parsed(truth), _parsed(answer)
        if (wanted is None or found is None) and (has_words(truth) or has_words(answer)):
            self.layer = "text"
            return fold_words(truth) == fold_words(answer)
        if wanted is None or found is None:
            return self.compare_by_algebra(truth, answer, is_truth_read=wanted is not None)
        self.layer = "exact"
        try:
            exact = exact_value(wanted), exact_value(found)
        except OutOfDomainError:
            return False
        except TooLargeError:
            if not _is_tower_beside_a_value(wanted, found):
                raise
            self.layer = "limits"
            return False
        if exact[0] is not None and exact[1] is not None:
            if self.depth == 1 and is_short(exact[0]) and is_short(exact[1]):
                self.read = str(exact[0]), str(exact[1])
            return exact[0] == exact[1] or self.is_rounding(truth, answer, wanted, found)
        self.layer = "numeric"
        return self.compare_functions(truth, answer, wanted, found)

    def compare_by_algebra(self, truth: str, answer: str, *, is_truth_read: bool) -> bool | None:
        """Compare what the own parser does not read; without computer algebra an unreadable answer is no answer."""
        if not self.use_algebra:
            return False if is_truth_read else None
        self.layer = "algebra"
        return algebra.are_equal(truth, answer)

    def compare_functions(self, truth: str, answer: str, wanted: Node, found: Node) -> bool | None:
        """Compare two expressions of which one at least is irrational or has letters."""
        constant = integration_constant(wanted)
        if constant and (other := integration_constant(found)):
            return is_constant_difference(wanted, found, {constant, other}, truth + answer)
        try:
            verdict = are_equal(wanted, found, truth + answer)
        except (OutOfDomainError, UnreadableError):
            return False
        if verdict is None:
            return self.compare_by_algebra(truth, answer, is_truth_read=False)
        return verdict or (
            not wanted.symbols() and not found.symbols() and self.is_rounding(truth, answer, wanted, found)
        )

    def is_rounding(self, truth: str, answer: str, wanted: Node, found: Node) -> bool:
        """Tell whether one side is a decimal with digits enough that rounds the other, exact side."""
        decimals = [_DECIMAL.fullmatch(compact(text)) for text in (truth, answer)]
        if all(decimals) or not any(decimals):
            return False
        match, decimal, exact = (decimals[0], wanted, found) if decimals[0] else (decimals[1], found, wanted)
        assert match is not None  # noqa: S101 -- one of the two matched
        if len((match[2] + match[3]).lstrip("0")) < self.rounding_digits:
            return False
        exponent = int(match[4] or match[5] or 0) - len(match[3]) - (2 if match[6] else 0)
        return is_within(decimal, exact, Fraction(Decimal(1).scaleb(exponent)) / 2)


_DECIMAL_COMMA = r"-?\d*\.\d+", r"-?\d+,\d+"
"""A decimal with a point on one side makes a lone comma on the other side one, too."""


def _prepared(text: str) -> str:
    """Take off what is around a text: grouping braces, the name of a set, a determinant's bars, an estimate."""
    return without_determinants(without_builder(unwrapped(exact_side(without_domain(text)))))


def _has_equation(text: str) -> bool:
    return len(split_top(text, r"(?<![<>!])=|\\in(?![A-Za-z])")) > 1


def _parsed(text: str) -> Node | None:
    try:
        return parse(text)
    except UnreadableError:
        return None


def _is_tower_beside_a_value(first: Node, second: Node) -> bool:
    """Tell whether one side is certainly larger than anything that is computed, and the other side is not."""
    for tower, other in ((first, second), (second, first)):
        try:
            if is_beyond_limits(tower) and (other.symbols() or exact_value(other) is not None or is_moderate(other)):
                return True
        except (ArithmeticError, UnreadableError):
            continue
    return False


_DECIMAL = re.compile(r"\(?(-?)(\d*)\.(\d+)(?:\*10\^\{?(-?\d{1,4})\}?|[eE]([-+]?\d{1,4}))?\)?(/100)?")
