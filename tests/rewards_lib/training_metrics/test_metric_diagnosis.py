"""What each rule finds in a run made to show it, and that a calm run shows none."""

from pathlib import Path

import numpy as np
import pytest

from rewards_lib.training_metrics import Restart, Run, check_weights, diagnose, read_export, rule_book, solve_weights

EXAMPLES = Path(__file__).parents[3] / "examples" / "training_metrics"
N = 200
T = np.linspace(0, 1, N)
STEPS = np.arange(1.0, N + 1)


def noisy(level, scale, seed):
    return level + scale * np.random.default_rng(seed).normal(size=N)


def evaluated(values):
    """Values at every tenth step, gaps between."""
    return np.where(STEPS % 10 == 0, values, np.nan)


def calm() -> dict[str, np.ndarray]:
    """A run in which everything is as it should be, under canonical names."""
    mean = noisy(0.3 + 0.3 * T, 0.01, 1)
    tone = noisy(0.6 + 0.1 * T, 0.01, 14)
    function, style = ("train/reward/functions/{}/rewards({})".format(name, "{}") for name in ("maths", "style"))
    return {
        "train/reward/final_rewards": mean + tone,
        "test/reward/final_rewards": evaluated(noisy(0.88 + 0.4 * T, 0.01, 2)),
        function.format("mean"): mean,
        function.format("bon"): mean + 0.25,
        function.format("won"): mean - 0.2,
        style.format("mean"): tone,
        style.format("bon"): tone + 0.1,
        style.format("won"): tone - 0.3,
        "train/reward/std": noisy(0.4, 0.01, 3),
        "train/generation/response_length.mean": noisy(400 + 50 * T, 5, 4),
        "train/generation/response_length.max": noisy(900, 5, 5),
        "train/generation/response_length.clipfrac": np.full(N, 0.0),
        "train/generation/prompt_length.clipfrac": np.full(N, 0.0),
        "train/actor/loss": noisy(-0.02, 0.002, 6),
        "train/actor/grad_norm": noisy(0.2, 0.01, 7),
        "train/actor/lr": 1e-6 * np.minimum(1, STEPS / 10),
        "train/actor/entropy": noisy(0.5 - 0.1 * T, 0.01, 8),
        "train/actor/kl_loss": noisy(0.01 + 0.01 * T, 0.0005, 9),
        "train/actor/pg_clipfrac": np.abs(noisy(2e-3, 2e-4, 10)),
        "train/actor/pg_clipfrac_high": np.abs(noisy(1e-3, 1e-4, 11)),
        "train/actor/pg_clipfrac_low": np.abs(noisy(1e-3, 1e-4, 12)),
        "train/actor/pg_clipfrac2": np.full(N, 5e-6),
        "train/critic/vf_clipfrac": np.full(N, 0.05),
        "train/critic/vf_explained_var": np.full(N, 0.6),
        "train/metrics/judge_seconds": noisy(1.0, 0.05, 13),
        "response/aborted_ratio": np.full(N, 0.0),
        "rollout_corr/rollout_is_mean": np.full(N, 1.0),
        "frac_reward_zero_std": np.full(N, 0.2),
    }


def run_of(series, **more) -> Run:
    return Run("", tuple(series), STEPS, np.array(list(series.values())), **more)


def states(run, **options):
    return {check.rule: check.state for check in diagnose(run, **options).checks}


def found(run, **options):
    return {finding.rule: finding for finding in diagnose(run, **options).findings}


def late(before, after, begin=150):
    return np.where(begin <= STEPS, after, before)


def at(values, *places, to):
    changed = values.copy()
    changed[list(places)] = to
    return changed


MATHS, STYLE = "train/reward/functions/maths/rewards({})", "train/reward/functions/style/rewards({})"
CALM = calm()
CASES = {
    "non_finite": {"train/actor/loss": at(CALM["train/actor/loss"], 40, to=np.inf)},
    "truncation_high": {"train/generation/response_length.clipfrac": late(0.01, 0.5)},
    "truncation_rising": {"train/generation/response_length.clipfrac": noisy(0.02 + 0.15 * T, 0.002, 1)},
    "no_eos": {"train/generation/response_length.clipfrac": late(0.1, 1.0, 190)},
    "prompt_cut": {"train/generation/prompt_length.clipfrac": late(0, 0.05)},
    "clipfrac_high": {"train/actor/pg_clipfrac": late(2e-3, 0.4)},
    "on_policy": {"train/actor/pg_clipfrac": np.zeros(N)},
    "dual_clip": {"train/actor/pg_clipfrac2": late(5e-6, 4e-3)},
    "clip_high_side": {"train/actor/pg_clipfrac_high": noisy(2e-3 + 2e-2 * T, 1e-4, 1)},
    "entropy_collapse": {
        "train/actor/entropy": noisy(0.5 * np.exp(-3 * T), 0.005, 1),
        "test/reward/final_rewards": evaluated(noisy(0.9, 0.01, 2)),
    },
    "entropy_high": {
        "train/actor/entropy": noisy(0.5 + 2 * T, 0.01, 1), "train/reward/final_rewards": noisy(1 - 0.5 * T, 0.01, 1)
    },
    "kl_high": {"train/actor/kl_loss": late(0.01, 0.5)},
    "kl_without_gain": {
        "train/actor/kl_loss": 0.01 * np.exp(5 * T), "train/reward/final_rewards": noisy(np.minimum(1, 2 * T), 0.02, 1)
    },
    "unstable_update": {
        name: at(CALM[name], 100, to=20 * CALM[name].mean())
        for name in ("train/actor/kl_loss", "train/actor/pg_clipfrac", "train/actor/grad_norm")
    },
    "grad_spike": {"train/actor/grad_norm": at(CALM["train/actor/grad_norm"], 100, to=44)},
    "zero_update": {"train/actor/grad_norm": at(CALM["train/actor/grad_norm"], 100, to=0)},
    "zero_variance": {"frac_reward_zero_std": late(0.3, 0.9)},
    "saturated_groups": {
        name.format(part): CALM[name.format("mean")] for name in (MATHS, STYLE) for part in ("bon", "won")
    },
    "exploration_spent": {MATHS.format("bon"): CALM[MATHS.format("mean")] + 0.4 * np.exp(-6 * T) + 0.2 * (STEPS < 30)},
    "no_headroom": {MATHS.format("bon"): np.minimum(CALM[MATHS.format("mean")] + 0.01 + 0.2 * T, 0.7)},
    "worst_of_n": {MATHS.format("won"): np.zeros(N)},
    "diversity_loss": {MATHS.format("bon"): noisy(0.95 - 0.2 * T, 0.005, 1)},
    "overfit_or_hacked": {"test/reward/final_rewards": evaluated(noisy(0.9, 0.01, 2))},
    "gap_widens": {"test/reward/final_rewards": evaluated(noisy(0.9 - 0.2 * T, 0.01, 2))},
    "test_peak": {"test/reward/final_rewards": evaluated(noisy(0.9 + T - T**2 * 1.2, 0.01, 2))},
    "reward_saturated": {
        name.format(part): np.where(STEPS > 50, 1.0, 0.5) for name in (MATHS, STYLE) for part in ("mean", "bon", "won")
    },
    "no_learning": {"train/reward/final_rewards": noisy(0.5, 0.05, 1)},
    "reward_std_spike": {"train/reward/std": late(0.4, 1.5)},
    "length_hacking": {
        "train/generation/response_length.mean": 400 * (1 + 2 * T),
        "test/reward/final_rewards": evaluated(noisy(0.9, 0.01, 2)),
    },
    "length_collapse": {"train/generation/response_length.mean": late(400, 60)},
    "rules_fight": {STYLE.format("mean"): noisy(0.8 - 0.2 * T, 0.01, 1)},
    "dead_rule": {STYLE.format("mean"): np.full(N, 0.5)},
    "critic_weak": {"train/critic/vf_explained_var": late(0.6, 0.0)},
    "rollout_mismatch": {"rollout_corr/rollout_is_mean": late(1.0, 0.2)},
    "lr_odd": {"train/actor/lr": 1e-6 * np.minimum(1, np.where(STEPS < 120, STEPS, STEPS - 119) / 10)},
    "reward_service_slow": {"train/metrics/judge_seconds": late(1.0, 5.0)},
    "aborted": {"response/aborted_ratio": late(0.0, 0.2)},
}  # fmt: skip


def test_there_are_forty_rules_in_both_languages_and_every_one_has_a_case_here():
    book = rule_book()
    assert [rule.number for rule in book.rules] == list(range(1, 41))
    assert all({"en", "zh"} <= set(text) for rule in book.rules for text in (*rule.texts.values(), rule.meaning))
    elsewhere = {"truncation_artefact", "restart", "too_short"}
    assert {rule.id for rule in book.rules} == set(CASES) | elsewhere


def test_a_calm_run_has_no_finding_and_every_check_is_made():
    diagnosis = diagnose(run_of(CALM))
    assert diagnosis.findings == ()
    assert {check.state for check in diagnosis.checks} == {"ok"}


@pytest.mark.parametrize("rule", CASES)
def test_a_rule_finds_what_it_is_there_for(rule):
    finding = found(run_of(CALM | CASES[rule]))[rule]
    assert finding.n > 0
    assert 1 <= finding.steps[0] <= finding.steps[1] <= N
    assert set(finding.series) <= set(CALM)
    for language in ("en", "zh"):
        assert finding.said(language)
        assert "{" not in finding.said(language)


@pytest.mark.parametrize("rule", CASES)
def test_a_rule_abstains_with_a_reason_when_what_it_needs_is_missing(rule):
    (check,) = (check for check in diagnose(run_of({"train/x": STEPS})).checks if check.rule == rule)
    assert check.state == "abstained"
    assert str(check.why).startswith("no ")


@pytest.mark.parametrize("name", ["overfit_or_hacked", "gap_widens", "truncation_high", "length_hacking", "grad_spike"])
def test_ten_steps_are_too_few_to_judge(name):
    series = {key: values[:10] for key, values in (CALM | CASES[name]).items()}
    diagnosis = diagnose(Run("", tuple(series), STEPS[:10], np.array(list(series.values()))))
    assert [finding.rule for finding in diagnosis.findings] == ["too_short"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("healthy", set()),
        ("truncated", {"truncation_high", "test_peak", "length_hacking"}),
        ("hacked", {"overfit_or_hacked", "gap_widens", "test_peak", "length_hacking"}),
    ],
)
def test_the_example_runs_have_exactly_their_findings(name, expected):
    assert set(found(read_export(EXAMPLES / f"{name}.csv").runs[0])) == expected


# --- guards against false alarm ------------------------------------------------------------------------------------


def test_longer_and_better_is_no_length_hacking():
    run = run_of(CALM | {"train/generation/response_length.mean": 400 * (1 + 2 * T)})
    (check,) = (check for check in diagnose(run).checks if check.rule == "length_hacking")
    assert (check.state, str(check.why)) == ("ok", "answers grow, and the test reward rises with them")


@pytest.mark.parametrize(("test", "is_told"), [(1.3 + 0 * T, False), (1.5 - 0.3 * T, True), (0.9 + 0 * T, True)])
def test_training_that_catches_up_with_a_steady_test_is_not_overfitted(test, is_told):
    run = run_of(CALM | {"test/reward/final_rewards": evaluated(test + noisy(0, 0.001, 2))})
    assert ("overfit_or_hacked" in found(run)) is is_told


def test_falling_entropy_with_rising_test_is_no_collapse():
    assert states(run_of(CALM | {"train/actor/entropy": 0.5 * np.exp(-3 * T)}))["entropy_collapse"] == "ok"


def test_a_clip_fraction_of_zero_silences_what_rests_on_it():
    run = run_of(CALM | {"train/actor/pg_clipfrac": np.zeros(N), "train/actor/pg_clipfrac2": np.full(N, 1.0)})
    checks = {check.rule: check for check in diagnose(run).checks}
    assert checks["dual_clip"].silenced_by == "on_policy"
    assert checks["dual_clip"].state == "abstained"


def test_saturation_takes_saturated_groups_into_itself_and_is_a_note_where_tests_rise_too():
    run = run_of(CALM | CASES["reward_saturated"])
    assert states(run)["saturated_groups"] == "abstained"
    assert found(run)["reward_saturated"].severity == "note"
    flat = run_of(CALM | CASES["reward_saturated"] | {"test/reward/final_rewards": evaluated(noisy(0.3, 0.01, 2))})
    assert found(flat)["reward_saturated"].severity == "warning"


def test_a_format_rule_near_one_is_not_spent_exploration():
    mean = noisy(0.97, 0.003, 1)
    run = run_of(CALM | {STYLE.format("mean"): mean, STYLE.format("bon"): np.minimum(mean + 0.1 * (T < 0.1), 1)})
    assert states(run)["exploration_spent"] == "ok"


def test_one_spike_is_a_note_and_two_close_ones_are_a_warning():
    grad = CALM["train/actor/grad_norm"]
    one = found(run_of(CALM | {"train/actor/grad_norm": at(grad, 100, to=0.28)}))["grad_spike"]
    two = found(run_of(CALM | {"train/actor/grad_norm": at(grad, 100, 105, to=0.36)}))["grad_spike"]
    assert (one.severity, two.severity) == ("note", "warning")


def test_a_window_never_reaches_over_a_restart():
    """Ten high steps before and ten after a restart are no twenty high steps."""
    share = np.where((STEPS > 90) & (STEPS <= 110), 0.5, 0.0)
    plain = run_of(CALM | {"train/generation/response_length.clipfrac": share})
    again = run_of(
        CALM | {"train/generation/response_length.clipfrac": share}, restarts=(Restart(101.0, 5),)
    )  # fmt: skip
    assert "truncation_high" in found(plain)
    assert "truncation_high" not in found(again)
    assert found(again)["restart"].n == 5


def test_nan_cells_of_the_loss_are_hard_and_a_column_that_is_mostly_nan_spells_its_gaps_so():
    rows = "".join(f"{step},{'nan' if step == 7 else 0.1}\n" for step in range(1, 41))
    finding = found(read_export(f"step,loss\n{rows}".encode(), "a.csv").runs[0])["non_finite"]
    assert (finding.severity, finding.steps, finding.n) == ("hard", (7, 7), 1)
    sparse = "".join(f"{step},{0.1 if step % 10 == 0 else 'nan'}\n" for step in range(1, 41))
    assert "non_finite" not in found(read_export(f"step,loss\n{sparse}".encode(), "a.csv").runs[0])


@pytest.mark.parametrize(
    ("cells", "is_told"),
    [
        ("{i},nan,0.3,0.1\n", True),  # the loss was lost from the first step on
        ("{i},nan,nan,0.1\n", True), ("{i},0.5,nan,0.1\n", False),  # entropy may be switched off
        ("{i},,0.3,0.1\n", False),
    ],
)  # fmt: skip
def test_a_loss_that_is_nan_from_beginning_to_end_is_hard(cells, is_told):
    text = "step,loss,entropy,reward\n" + "".join(cells.format(i=i) for i in range(1, 41))
    finding = found(read_export(text.encode()).runs[0]).get("non_finite")
    assert (finding and finding.said()) == (
        "loss is no finite number, first at step 1 (steps: 40)." if is_told else None
    )


def test_a_rule_that_needs_either_of_two_is_not_kept_from_judging_by_the_sparse_one():
    sparse = np.where(STEPS % 50 == 0, 0.6, np.nan)
    run = run_of(CALM | {"train/critic/vf_explained_var": sparse, "train/critic/vf_clipfrac": np.full(N, 0.4)})
    assert found(run)["critic_weak"].series == ("train/critic/vf_clipfrac",)


@pytest.mark.parametrize(("slow", "is_told"), [(STEPS < 6, False), ((STEPS > 20) & (STEPS < 26), True)])
def test_a_start_that_is_slow_is_no_service_that_became_slow(slow, is_told):
    run = run_of(CALM | {"train/metrics/judge_seconds": np.where(slow, 9.0, 1.0)})
    assert ("reward_service_slow" in found(run)) is is_told


def test_a_file_that_spells_its_gaps_nan_tells_nothing_of_a_loss_it_never_logged():
    rows = "".join(f"{i},nan,0.5,{0.4 if i % 10 == 0 else 'nan'}\n" for i in range(1, 41))
    run = read_export(("step,loss,reward,test/reward\n" + rows).encode()).runs[0]
    assert "non_finite" not in found(run)


@pytest.mark.parametrize(("share", "rule"), [(0.98, "no_eos"), (0.3, None)])
def test_a_series_that_keeps_to_a_limit_is_judged_by_it_and_not_by_its_last_digits(share, rule):
    run = run_of(CALM | {"train/generation/response_length.clipfrac": np.full(N, share)})
    finding = found(run).get("no_eos") or found(run).get("truncation_high")
    assert (finding and (finding.rule, finding.steps)) == (rule and (rule, (1, N)))


def test_truncation_that_is_never_zero_below_the_cap_is_verls_way_of_counting():
    share = {"response_length/clip_ratio": np.full(N, 1 / 64), "response_length/max": noisy(900 + 200 * T, 30, 1)}
    rest = {name: line for name, line in CALM.items() if "response_length" not in name}
    assert "truncation_artefact" in found(run_of(rest | share))


# --- the mix -------------------------------------------------------------------------------------------------------


def test_a_mix_that_fits_holds_and_its_weights_are_solved():
    checked = check_weights(run_of(CALM), {"maths": 1.0, "style": 1.0})
    assert checked.holds
    assert checked.n == N
    assert solve_weights(run_of(CALM)) == pytest.approx({"maths": 1, "style": 1})


def test_a_mix_that_does_not_fit_says_by_how_much():
    checked = check_weights(run_of(CALM), {"maths": 1.0, "style": 0.5})
    finding = checked.finding()
    assert checked.holds is False
    assert checked.largest == pytest.approx(0.5 * CALM[STYLE.format("mean")].max())
    assert "not the weighted sum of the mix: off by 0.3" in finding.said()


def test_a_mix_with_a_function_the_run_does_not_report_is_not_checked():
    checked = check_weights(run_of(CALM), {"maths": 1.0, "brevity": 0.5})
    assert (checked.holds, checked.missing) == (None, ("brevity",))
