"""Writes the example files of this folder: the same bytes each time.

python examples/rollouts/make_examples.py
"""

import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
ASK = "Put your final answer within \\boxed{}."
QUESTIONS = [
    ("What is 17 + 25?", "42", "43"),
    ("What is 9 times 8?", "72", "71"),
    ("What is half of 63?", "\\frac{63}{2}", "31"),
    ("What is 3/4 as a decimal?", "0.75", "0.7"),
    ("What is 15 squared?", "225", "215"),
    ("Solve 2x + 6 = 20.", "7", "13"),
    ("What is 2 to the power of 10?", "1024", "512"),
    ("What is the larger root of x^2 = 2?", "\\sqrt{2}", "2"),
    ("What is 30 percent of 50?", "15", "1.5"),
    ("How many edges has a cube?", "12", "8"),
    ("What is the sum of 1 to 100?", "5050", "5000"),
    ("What is 7 factorial?", "5040", "720"),
]
FORMED, BARE = "<think>Let me see.</think>\n<answer>\\boxed{{{}}}</answer>", "I get \\boxed{{{}}}."
SHAPES = [
    [(FORMED, True), (BARE, True), (FORMED, False), (BARE, False)],
    [(FORMED, True), (FORMED, True), (FORMED, True), (BARE, True)],
    [(FORMED, False), (BARE, False), (FORMED, False), (BARE, True)],
]


def rows() -> Iterator[dict[str, Any]]:
    """Canonical lines: twelve groups of four."""
    for number, (question, right, wrong) in enumerate(QUESTIONS):
        sample = {"messages": [{"role": "user", "content": f"{question} {ASK}"}], "extra": {"answer": right}}
        for place, (shape, is_right) in enumerate(SHAPES[number % len(SHAPES)], 1):
            text = shape.format(right if is_right else wrong)
            yield {"id": f"q{number + 1}.{place}", "group": f"q{number + 1}", "sample": sample, "completion": text}


def verl_row(row: dict[str, Any]) -> dict[str, Any]:
    """The same rollout as verl's rollout_data_dir holds it."""
    question = row["sample"]["messages"][0]["content"]
    answer = row["sample"]["extra"]["answer"]
    is_right = f"\\boxed{{{answer}}}" in row["completion"]
    return {
        "input": f"user\n{question}\nassistant\n", "output": row["completion"], "gts": answer, "score": float(is_right),
        "step": 1, "acc": is_right,
    }  # fmt: skip


def arithmetic_rows(prompts: int = 40, tries: int = 8) -> Iterator[dict[str, Any]]:
    """Sums of three levels, eight completions each: some prompts always right, some never, most in between."""
    chance = random.Random(7)  # noqa: S311 -- the same bytes each time
    for number in range(prompts):
        level = 1 + number % 3
        a, b = chance.randint(2, 9 * 10 ** (level - 1)), chance.randint(2, 9 * 10 ** (level - 1))
        skill = chance.choice([1.0, 0.9, 0.6, 0.4, 0.2, 0.0]) if number % 4 else [1.0, 0.0][number // 4 % 2]
        question = f"What is {a} + {b}? Reason inside <think> and put the answer in \\boxed{{}}."
        sample = {
            "messages": [{"role": "user", "content": question}],
            "extra": {"answer": str(a + b), "level": level},
        }  # fmt: skip
        for place in range(1, tries + 1):
            value = a + b if chance.random() < skill else a + b + chance.choice([-10, -1, 1, 9, 10, 100])
            steps = [f"{a} + {b} is {a} and then {b} more." for _ in range(chance.randint(1, 4))]
            thought = " ".join([*steps, f"That makes {value}."])
            text = f"<think>{thought}</think>\n<answer>\\boxed{{{value}}}</answer>"
            if chance.random() < 0.15:
                text = f"{thought} The answer is \\boxed{{{value}}}."
            if chance.random() < 0.03:
                text = text[: len(text) // 2]
            usage = {"completion_tokens": len(text.split())}
            row = {"id": f"p{number + 1}.{place}", "group": f"p{number + 1}", "sample": sample, "completion": text}
            yield row | {"usage": usage}


def write(name: str, lines: Iterable[dict[str, Any]]) -> None:
    """Write JSONL."""
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write("math.jsonl", rows())
    write("arithmetic.jsonl", arithmetic_rows())
    write("verl_step_1.jsonl", map(verl_row, rows()))
