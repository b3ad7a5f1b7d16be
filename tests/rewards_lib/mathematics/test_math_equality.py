"""Mathematical equality: no false positive first, and each rule of the catalogue by example."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rewards_lib.contract import Completion, Sample
from rewards_lib.mathematics.equality import Verdict, decide
from rewards_lib.mathematics.stated import last_expression, stated_truth
from rewards_lib.presets import check_params, find_preset

BOTH = [  # equal both ways round
    ("499999500000", "\\binom{1000000}{2}"),
    ("499999500000", "\\binom{1000000}{999998}"),
    ("0", "\\binom{3}{1000000}"),
    ("-2", "(-8)^{1/3}"),
    ("4", "(-8)^{2/3}"),
    ("-\\sqrt[3]{2}", "(-2)^{1/3}"),
    ("-\\frac12", "(-\\frac18)^{\\frac13}"),
    ("3", "\\lg 1000"),
    ("\\log x", "\\ln x"),
    ("x=2,y=3", "2,3"),
    ("x=2,y=3", "y=3,x=2"),
    ("x_1=2,x_2=3", "3,2"),
    ("4\\frac{1}{5}", "4.2"),
    ("1,234", "1234"),
    ("1{,}234", "1\\,234"),
    ("1 234", "1234"),
    (".5", "5e-1"),
    ("0.50", "5\\times10^{-1}"),
    ("\\frac{1}{3}", "0.333333"),
    ("\\pi", "3.141593"),
    ("2\\frac13", "7/3"),
    ("-2\\frac13", "-7/3"),
    ("25\\%", "0.25"),
    ("25\\%", "1/4"),
    ("\\sqrt{49}", "7"),
    ("\\binom{10}{3}", "120"),
    ("10", "2\\times5=10"),
    ("5", "x=5"),
    ("(1,2)", "(x,y)=(1,2)"),
    ("30^\\circ", "\\angle A = 30"),
    ("y=2x+3", "2x-y+3=0"),
    ("x\\ge2", "[2,\\infty)"),
    ("3<x", "x>3"),
    ("-x>-1", "x<1"),
    ("2<x\\le5", "(2,5]"),
    ("\\{1,2\\}", "2, 1"),
    ("1 \\text{ and } 2", "\\{1,2\\}"),
    ("\\pm 3", "3, -3"),
    ("(1,2)", "1,2"),
    ("3:4", "6:8"),
    ("3:4", "3/4"),
    ("1011_2", "1011_{2}"),
    ("(1011)_2", "01011_2"),
    ("x^2+1+C", "x^2+C"),
    ("x^2+K", "x^2+C"),
    ("\\emptyset", "\\{\\}"),
    ("无解", "\\varnothing"),
    ("\\infty", "+\\infty"),
    ("\\text{DNE}", "\\text{undefined}"),
    ("(C)", "C"),
    ("\\text{Even}", "even."),
    ("\\sin 30^\\circ", "\\frac12"),
    ("\\frac{x+7}{3}", "\\frac{x}{3}+\\frac{7}{3}"),
    ("\\sqrt{1/n}", "\\frac{1}{\\sqrt n}"),
    ("e^{11}", "\\mathrm{e}^{11}"),
    ("-21+20i", "(2+5i)^2"),
    ("18\\text{ cm}^2", "18\\text{ square centimeters}"),
    ("5\\text{ cm}", "5\\text{厘米}"),
    ("2\\begin{pmatrix}1&2\\end{pmatrix}", "\\begin{bmatrix}2&4\\end{bmatrix}"),
    ("(-\\infty,1)\\cup(3,\\infty)", "x<1 \\text{ or } x>3"),
    ("\\sqrt2", "√2"),
    ("x\\neq2", "2\\neq x"),
    ("3 \\over 4", "0.75"),
    ("|x-1|", "|1-x|"),
    ("\\log_2 8", "3"),
    ("x=1, y=2", "y=2, x=1"),
    ("1/3", "0.\\overline{3}"),
    ("8000000", "8\\text{ million}"),
    ("24", "2 dozen"),
    ("(-\\infty,\\infty)", "\\mathbb{R}"),
    ("60 km/h", "60\\text{ km per hour}"),
    ("\\{x|x>2\\}", "x>2"),
    ("\\text{3 and 4}", "3,4"),
    ("\\text{June 5}", "June 5"),
    ("1", "\\cos^2 x+\\sin^2 x"),
    ("\\frac{1}{x-1}-\\frac{1}{x+1}", "\\frac{2}{x^2-1}"),
    ("3x-2y=6", "y=\\frac{3}{2}x-3"),
    ("k=\\pm 2", "2,-2"),
    ("\\frac{\\sqrt{3}}{3}", "\\frac{1}{\\sqrt3}"),
]

STATED = [  # ground truths that are whole texts, measures with names, commas; the truth stands first
    (r"Hence the sum is \[ \boxed{32349}. \]", r"32,\! 349"),
    (r"So \boxed{6 \text{ and } 8}", "6,8"),
    (r"$\boxed{-2}$ and $\boxed{1}$", "1, -2"),
    (r"We lose $10 \%$ first and then $20 \%$ of what was left on that day, so $28 \%$", r"28\%"),
    (r"S_{MBCN}:S=7:32", "7:32"),
    (r"\frac{NO}{BO}=\frac{1}{\sqrt{6}}", r"\frac{1}{\sqrt{6}}"),
    ("|AB|=1", "1"),
    ("0<f(x)<1", "(0,1)"),
    ("1,22", "1.22"),
    ("0,111", "0.111"),
    (r"28\%", "28 pct"),
    (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"\left[\begin{array}{cc}1&2\\3&4\end{array}\right]"),
    (r"(3, \frac{\pi}{2})", r"\\left( 3, \\frac{\\pi}{2} \\right)"),
]

DIFFERENT = [
    ("2", "(-8)^{1/3}"),
    ("3", "\\log 1000"),
    ("-2", "(-4)^{1/2}"),
    ("x=2,y=3", "3,2"),
    ("a=1,b=2,c=3", "3,1,2"),
    ("x=2,y=2", "2"),
    ("5=x,6=y", "\\{6,5\\}"),
    ("1,234", "1.234"),
    ("|AB|=1", "2"),
    ("x=11", "x=5+5+1=7=11"),
    ("x+AB=1", "1"),
    ("6", "2A=6"),
    ("3", "\\frac{A}{2}=3"),
    ("\\frac{1}{3}", "0.33"),
    ("\\pi", "3.14"),
    ("0.0000033", "0.0000034"),
    ("2.2\\times10^{-19}", "2.2\\times10^{-20}"),
    ("25\\%", "0.25\\%"),
    ("25\\%", "2500"),
    ("5\\text{ cm}", "5\\text{ km}"),
    ("5\\text{ cm}^2", "5\\text{ cm}^3"),
    ("x=2", "x^2-4x+4=0"),
    ("x>9", "2x>18"),
    ("y=2x+3", "y=2x+4"),
    ("(1,2)", "[1,2)"),
    ("(1,2)", "(2,1)"),
    ("\\{1,2\\}", "1,2,3"),
    ("\\{1,2\\}", "(1,2)"),
    ("1,2", "1"),
    ("7", "5,6,7"),
    ("7", "x=7 \\text{ or } x=8"),
    ("6", "\\pm 6"),
    ("\\pm 6", "6"),
    ("3:4", "4:3"),
    ("12:00", "12"),
    ("2:45\\text{ PM}", "2:45\\text{ AM}"),
    ("1011_2", "1011_3"),
    ("1011_2", "1011"),
    ("x^2+C", "x^2"),
    ("x^2+C", "x^3+C"),
    ("\\infty", "-\\infty"),
    ("x", "y"),
    ("2x", "2y"),
    ("\\text{even}", "\\text{odd}"),
    ("no", "on"),
    ("even", "neve"),
    ("5", "x"),
    ("x+1=2x", "0=0"),
    ("2\\frac{x}{3}", "2+\\frac{x}{3}"),
    ("\\begin{pmatrix}1&2\\end{pmatrix}", "\\begin{pmatrix}1\\\\2\\end{pmatrix}"),
    ("\\emptyset", "0"),
    ("\\sqrt{x^2}", "x"),
    ("g", "x=w=g"),
    ("3", "x = 4 = 3"),
    ("1", "\\frac{0}{0}"),
    ("1", "\\frac10"),
    ("5", "abc"),
    ("5", ""),
    ("5", "\\text{five}"),
    ("0", "10^{-200}"),
    ("0", "e^{-500}"),
    ("10^{30}", "10^{30}+1"),
    ("\\sqrt{2}", "1.4142"),
    ("0.3333333", "0.333333"),
    ("13\\text{ dollars}", "13元"),
    ("A", "B"),
    ("AB", "BA"),
    ("8", "8\\text{ million}"),
    ("2", "2 dozen"),
    ("5", "\\text{not }5"),
    ("5", "about 5"),
    ("8", "8 is wrong"),
    ("7", "7 of 8"),
    ("5", "\\ge 5"),
    ("1", "\\frac{x}{x}+0.0001"),
    ("60 km/h", "60 m/s"),
    ("\\text{June 5}", "June 6"),
    ("\\vec{a}", "\\vec{b}"),
    ("e^{\\pi\\sqrt{163}}", "262537412640768744"),
]

AWKWARD = [  # presets.md B.6, whole
    ("\\frac{1}{2004!}", "\\frac{1}{2006!}", 0),
    ("\\frac{1}{2^{99}}", "\\frac{1}{2^{98}}", 0),
    ("1-\\frac{1}{\\mathrm{e}}", "1+\\frac{1}{\\mathrm{e}}", 0),
    ("1, 2, \\ldots, n", "1, 3, 5, \\ldots, 2n-1", 0),
    ("1:2:3:\\ldots", "1:4:9:\\ldots", 0),
    ("3*x-1*y+13=0", "3x+4y+14=0", 0),
    ("4", "4\\sqrt(2)", 0),
    ("1331 and 1728", "1728", 0),
    ("\\sqrt{1/n}", "\\frac{1}{\\sqrt n}", 1),
    ("\\left(3,\\frac{\\pi}{2}\\right)", "\\left(3,\\frac{\\pi}{2}\\right)", 1),
    ("A", "A", 1),
    ("Paris", "Paris", 1),
    ("\\text{北京}", "北京", 1),
    ("7", "７", 1),
    ("7", "٧", 1),
    ("0.1234567", "0.1234568", 0),
    ("\\pi", "3.14", 0),
    ("\\pi", "3.141593", 1),
    ("28\\%", "0.28", 1),
    ("28\\%", "28", 1),
    ("3.3\\times10^{-19}", "3.4\\times10^{-19}", 0),
    ("10110_2", "10110_3", 0),
    ("18\\text{ cm}", "18\\text{ km}", 0),
    ("11:8", "11\\text{ to }8", 1),
    ("3:4:5", "6:8:10", 1),
    ("4321", "4\\,321", 1),
    ("4\\frac{2}{5}", "4\\ 2/5", 1),
    ("[2,\\infty)", "x\\ge 2", 1),
    ("13", "13元", 1),
    ("(1,2)", "（1，2）", 1),
    ("\\emptyset", "\\text{no solution}", 1),
    ("x=2", "x^2-4x+4=0", 0),
    ("5050", "\\sum_{k=1}^{100} k", 1),
    ("1", "10^{10^{10}}", None),
    ("1", "9^{9^{9^9}}", None),
    ("1", "2^{10^9}+1", None),
    ("1", "100000000!", None),
    ("1", "5^(5^(5^(5^5)))", None),
    ("1", "(" * 300 + "1" + ")" * 300, 1),
    ("1", "1" * 10_000, 0),
    ("1", "\\frac{1}{" * 60 + "2" + "}" * 60, 0),
    ("10^{10^{10}}", "10^{10^{10}}", 1),
    ("1", "\\frac{0}{0}", 0),
]


@pytest.mark.parametrize(("truth", "answer"), BOTH)
def test_equal_answers_are_equal_both_ways_round(truth, answer):
    assert decide(truth, answer).verdict is Verdict.EQUAL
    assert decide(answer, truth).verdict is Verdict.EQUAL


@pytest.mark.parametrize(("truth", "answer"), STATED)
def test_what_a_ground_truth_states_is_compared(truth, answer):
    assert decide(truth, answer).verdict is Verdict.EQUAL


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (r"10/9", "10/9"),
        (r"  \frac{10}{9} ", r"\frac{10}{9}"),
        ("so it is $x = 5$", "x = 5"),
        ("The largest $n$ is 34.", "34"),
        ("The final answer is 12,000,023. I hope it is correct.", "12,000,023"),
        ("we get $5 = 5$. The final answer is $12$, found in 3 steps.", "12"),
        ("$a$ and $b$, as on page 7", "b"),
        ("1 and 2", "2"),
    ],
)
def test_without_a_box_the_stated_expression_is_the_answer(text, answer):
    assert last_expression(text, after_think=True).text == answer


@given(st.text(max_size=80))
def test_what_a_text_states_is_found_in_it(text):
    found = last_expression(text, after_think=True)
    assert found.text is None or 0 <= found.span[0] <= found.span[1] <= len(text)
    assert isinstance(stated_truth(text), str)


@pytest.mark.parametrize(("truth", "answer"), DIFFERENT)
def test_different_answers_are_different(truth, answer):
    assert decide(truth, answer).verdict is Verdict.DIFFERENT


@pytest.mark.parametrize(("truth", "answer", "right"), AWKWARD, ids=range(len(AWKWARD)))
def test_awkward_and_hostile_pairs_get_the_right_verdict_at_once(truth, answer, right):
    wanted = {1: {Verdict.EQUAL}, 0: {Verdict.DIFFERENT}, None: {Verdict.DIFFERENT, Verdict.UNDECIDED}}[right]
    assert decide(truth, answer).verdict in wanted


@pytest.mark.parametrize("tower", ["10^{10^{10}}", "9^{9^{9^9}}", "2^{10^9}+1", "100000000!", "-9^{9^{9^9}}"])
@pytest.mark.parametrize("truth", ["1", "-5/3", "\\sqrt2", "x"])
def test_a_tower_is_different_from_a_value_by_its_size(truth, tower):
    assert decide(truth, tower).verdict is Verdict.DIFFERENT


@pytest.mark.parametrize(
    ("truth", "answer"), [("2^{10^9}-1+1", "2^{10^9}"), ("1", "10^{10^{10}}-10^{10^{10}}+1"), ("1", "2^{-10^9}")]
)
def test_what_size_cannot_decide_stays_undecided(truth, answer):
    assert decide(truth, answer).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize("truth", ["\\frac{1", "}", "...", "$$", "\\foo{5}{"])
def test_a_ground_truth_that_cannot_be_read_decides_nothing(truth):
    assert decide(truth, "5").verdict is Verdict.UNREADABLE_TRUTH


def test_a_bare_percentage_is_its_number_unless_percent_is_strict():
    assert decide("28\\%", "28", percent="strict").verdict is Verdict.DIFFERENT
    assert decide("28\\%", "0.28", percent="strict").verdict is Verdict.EQUAL
    assert decide("28", "28\\%", percent="either").verdict is Verdict.EQUAL


PIECES = [
    "\\frac",
    "{",
    "}",
    "(",
    ")",
    "1",
    "2.5",
    "x",
    "^",
    "_",
    "\\sqrt",
    "+",
    "-",
    "=",
    ",",
    "<",
    "\\text{cm}",
    "\\pm",
    "%",
    "!",
    ":",
    "|",
    "[",
    "\\infty",
    " ",
    "\\cup",
    "\\{",
    "\\}",
    "and",
    "&",
    "\\begin{pmatrix}",
    "\\end{pmatrix}",
    "元",
    "\\\\",
]


@settings(deadline=None)  # computer algebra is imported on the way
@given(
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
)
def test_no_pair_of_texts_raises(truth, answer):
    assert decide(truth, answer).verdict in Verdict


@given(st.fractions(), st.fractions())
def test_fractions_are_equal_exactly_when_their_values_are(first, second):
    spelled = f"\\frac{{{second.numerator * 3}}}{{{second.denominator * 3}}}"
    assert (decide(f"{first.numerator}/{first.denominator}", spelled).verdict is Verdict.EQUAL) == (first == second)


@pytest.mark.parametrize(
    ("answer", "truth", "told"),
    [
        (r"\frac{3}{4}", "0.75", r"read \frac{3}{4} as 3/4; ground truth 0.75 as 3/4; equal (exact)"),
        ("3", "0.75", "read 3; ground truth 0.75 as 3/4; different (exact)"),
        (r"\sqrt{8}", r"2\sqrt2", r"read \sqrt{8}; ground truth 2\sqrt2; equal (numeric)"),
        ("5 cm", "5", "read 5 cm as 5; ground truth 5; equal (exact)"),
        ("6", ["5", "6"], "read 6; ground truth 6; equal (identical)"),
        ("7", ["5", "6"], "read 7; ground truth 5 and 1 more; different (exact)"),
        ("(1,2]", "(1,2)", "read (1,2]; ground truth (1,2); different (structure)"),
        ("10^{10^{10}}", "1", "read 10^{10^{10}}; ground truth 1; different (limits)"),
    ],
)
def test_a_reason_tells_what_was_read_on_both_sides_and_which_layer_decided(answer, truth, told):
    [score] = find_preset("math_accuracy").score_all(
        check_params("math_accuracy", {}),
        Sample(extra={"answer": truth}),
        [Completion(rf"\boxed{{{answer}}}")],
    )
    assert str(score.why) == told


@settings(deadline=None)  # computer algebra is imported on the way
@given(st.text(max_size=60), st.sampled_from(["1", "2, 3", r"\frac{1}{3}", "x+1"]))
def test_a_reason_stays_short_whatever_the_answer(answer, truth):
    [score] = find_preset("math_accuracy").score_all(
        check_params("math_accuracy", {"extract": "text"}), Sample(extra={"answer": truth}), [Completion(answer)]
    )
    assert len(str(score.why)) < 320
