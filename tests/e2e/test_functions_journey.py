"""Write, break, mend and test a function: what is on the screen is what runs, and nothing typed is lost."""

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import MODIFIER

GOOD = """from rl_types import RewardFunctionResult


def reward_fn(context, sample, completions):
    return RewardFunctionResult([{value}] * len(completions), {{"given": {value}}})
"""
RAISES = "def reward_fn(context, sample, completions):\n    return 1 / 0\n"
SLOW = GOOD.format(value="0.625").replace("    return", "    import time\n    time.sleep(4)\n    return")
TELLS = """import os
from rl_types import RewardFunctionResult


def reward_fn(context, sample, completions):
    print(os.environ["JUDGE_KEY"])
    return RewardFunctionResult([1.0] * len(completions), {"length": len(os.environ["JUDGE_KEY"])})
"""
ENDLESS = "def reward_fn(context, sample, completions):\n    while True:\n        pass\n"
WRONG_COUNT = """from rl_types import RewardFunctionResult


def reward_fn(context, sample, completions):
    return RewardFunctionResult([1.0])
"""
REFUSED = "import subprocess\n\n\ndef reward_fn(context, sample, completions):\n    return eval('[1.0]')\n"


@pytest.fixture
def functions(visitor):
    return visitor.open("functions")


def run(visitor):
    visitor.keyed("run").get_by_role("button").click()


def test_run_pressed_right_after_typing_runs_what_was_typed(functions):
    for value in ("0.25", "0.75", "0.5"):
        functions.write("reward.py", GOOD.format(value=value))
        run(functions)
        functions.sees("4 of 4 completions scored.")
        expect(functions.keyed("run_facts")).to_contain_text(value)


def test_ctrl_enter_runs_what_was_typed(functions):
    functions.write("reward.py", GOOD.format(value="0.125"))
    functions.page.keyboard.press(f"{MODIFIER}+Enter")
    expect(functions.keyed("run_facts")).to_contain_text("0.125")


def test_every_edit_survives_a_reload_and_a_page_switch(functions):
    for mark in ("# A", "# B"):
        functions.write("reward.py", mark)
        functions.sees("Saved")
        functions.page.wait_for_timeout(900)  # a draft is never more than a second behind
        functions.page.reload()
        functions.settle()
        expect(functions.editor("reward.py")).to_contain_text(mark)
    functions.write("reward.py", "# D")
    functions.go("Compose")
    functions.go("Functions")
    expect(functions.editor("reward.py")).to_contain_text("# D")


def test_a_failure_is_one_sentence_and_the_next_run_is_normal(functions):
    failures = {
        RAISES: "Line 2: ZeroDivisionError", WRONG_COUNT: "1 rewards for 4 completions",
        REFUSED: "Line 1: Reward code cannot start programs",
    }  # fmt: skip
    for source, says in failures.items():
        functions.write("reward.py", source)
        run(functions)
        expect(functions.keyed("last_run")).to_contain_text(says)
        expect(functions.keyed("last_run")).to_contain_text("4 of 4 completions are unscored, not 0.")
        functions.write("reward.py", GOOD.format(value="0.5"))
        run(functions)
        functions.sees("4 of 4 completions scored.")


@pytest.mark.slow
def test_an_endless_loop_ends_at_its_limit_and_the_next_run_is_normal(functions):
    """The limit is three seconds and not the usual thirty, for which it would burn a processor."""
    functions.page.get_by_role("tab", name="Limits").click()
    limit = functions.page.get_by_role("spinbutton", name="Time (s)")
    usual = limit.input_value()
    limit.fill("3")
    limit.press("Enter")
    functions.settle()
    functions.write("reward.py", ENDLESS)
    run(functions)
    expect(functions.keyed("last_run")).to_contain_text("time limit of 3 s", timeout=60_000)
    limit.fill(usual)
    limit.press("Enter")
    functions.settle()
    functions.write("reward.py", GOOD.format(value="0.5"))
    run(functions)
    functions.sees("4 of 4 completions scored.")


def test_a_run_is_stopped_by_a_press(functions):
    functions.write("reward.py", ENDLESS)
    run(functions)
    functions.keyed("stop_run").get_by_role("button").click()
    expect(functions.keyed("last_run")).to_contain_text("The run was stopped.")


def test_an_edit_while_a_run_is_in_progress_keeps_its_result(functions):
    functions.write("reward.py", SLOW)
    run(functions)
    expect(functions.keyed("stop_run")).to_be_visible()
    functions.page.wait_for_timeout(300)
    functions.editor("reward.py").click()
    functions.page.keyboard.type("# edited")
    expect(functions.keyed("run_facts")).to_contain_text("0.625")
    functions.sees("before the last edit")


def test_a_secret_is_kept_given_to_the_function_and_never_shown(functions):
    functions.page.get_by_role("tab", name="Secrets").click()
    functions.press("Set a secret …")
    functions.page.get_by_role("textbox", name="Name").fill("JUDGE_KEY")
    functions.page.get_by_role("textbox", name="Value").fill("sk-journey-0001")
    functions.page.get_by_role("button", name="Keep it").click()
    functions.sees("JUDGE_KEY")
    functions.write("reward.py", TELLS)
    run(functions)
    expect(functions.keyed("run_facts")).to_contain_text("15")
    functions.page.get_by_role("tab", name="Logs").click()
    functions.sees("[secret JUDGE_KEY]")
    assert "sk-journey-0001" not in functions.page.content()


def test_refused_constructs_are_marked_while_typing_and_a_press_goes_to_the_line(functions):
    functions.write("reward.py", REFUSED)
    functions.sees("2 refused")
    functions.press("Line 5")
    expect(functions.editor("reward.py")).to_be_focused()


def test_a_version_is_published_and_restored(functions):
    functions.write("reward.py", GOOD.format(value="0.5"))
    functions.press("Publish …")
    functions.page.get_by_role("textbox", name="Note: what changed").fill("first")
    functions.page.get_by_role("button", name="Publish v1", exact=True).click()
    functions.settle()
    functions.write("reward.py", GOOD.format(value="0.75"))
    functions.sees("draft over v1")
    functions.page.get_by_role("tab", name="Versions").click()
    functions.press("Restore")
    expect(functions.editor("reward.py")).to_contain_text("[0.5]")
    functions.press("Undo")
    expect(functions.editor("reward.py")).to_contain_text("[0.75]")
