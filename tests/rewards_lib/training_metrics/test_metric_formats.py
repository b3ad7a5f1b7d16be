"""Every shape an export arrives in, each in the spelling its source writes."""

import json

import pytest

from rewards_lib.errors import InputError
from rewards_lib.training_metrics import diagnose, read_export, report_exports, series_of


def read(text, name="run"):
    return read_export(text if isinstance(text, bytes) else text.encode(), name)


def series(*exports):
    return {name: line.to_json() for name, line in series_of(exports).items()}


def told(export):
    return " ".join(map(str, export.notes))


# --- W&B -----------------------------------------------------------------------------------------------------------

PANEL = (
    '"train/global_step","a - b - train/reward","a - b - train/reward__MIN","a - b - train/reward__MAX",'
    '"c - train/reward","c - train/reward__MIN","c - train/reward__MAX"\n'
    '"1","0.1","0.0","0.3","0.5","0.5","0.5"\n"2","0.2","0.1","0.4","","",""\n'
)


def test_a_wandb_panel_gives_runs_whose_names_are_as_they_were_read():
    export = read(PANEL)
    assert export.x == "train/global_step"
    assert [run.label for run in export.runs] == ["a - b", "c"]
    assert series(export) == {
        "a - b - train/reward": [[1, 0.1], [2, 0.2]], "c - train/reward": [[1, 0.5]]
    }  # fmt: skip


def test_the_twins_of_a_panel_are_the_band_of_their_curve():
    run = read(PANEL).runs[0]
    low, high = run.band("train/reward")
    assert (low.values.tolist(), high.values.tolist()) == ([0.0, 0.1], [0.3, 0.4])


def test_a_spike_that_a_panel_averaged_away_is_found_in_its_maxima():
    rows = "".join(f'"{i}","0.2","0.19","{44 if i == 50 else 0.21}"\n' for i in range(1, 101))
    export = read('"Step","r - grad_norm","r - grad_norm__MIN","r - grad_norm__MAX"\n' + rows)
    (spike,) = (finding for finding in diagnose(export.runs[0]).findings if finding.rule == "grad_spike")
    assert (spike.value, spike.steps) == (44, (50, 50))


def test_a_csv_with_one_odd_min_column_is_a_plain_table():
    assert series(read("step,a__MIN\n1,2\n")) == {"a__MIN": [[1, 2]]}


def test_sampled_wandb_history_is_told():
    rows = "".join(f"{4 * i},0.5\n" for i in range(500))
    assert "500 sampled rows" in told(read("_step,train/reward\n" + rows))
    assert not told(read("_step,train/reward\n" + "".join(f"{i},0.5\n" for i in range(500))))


def test_a_wandb_summary_is_one_point_a_series_and_nothing_is_judged():
    export = read(json.dumps({"train/reward": 0.5, "train/global_step": 100, "_step": 7, "_wandb": {"runtime": 3}}))
    assert series(export)["train/reward"] == [[100, 0.5]]
    assert "not a history" in told(export)
    assert {check.state for check in diagnose(export.runs[0]).checks} == {"abstained"}


def test_the_counters_that_a_panel_lists_for_each_run_are_no_curves():
    text = (
        '"Step","r - _step","r - _step__MIN","r - _step__MAX","r - x","r - x__MIN","r - x__MAX"\n'
        '"1","10","10","10","0.1","0.1","0.1"\n"2","20","20","20","0.2","0.2","0.2"\n'
    )
    assert series(read(text)) == {"r - x": [[1, 0.1], [2, 0.2]]}


def test_a_summary_without_any_step_is_one_point_a_series_too():
    text = '{"loss": 0.1, "reward": {"max": 0.5}, "table": {"_type": "table-file", "size": 9}, "_runtime": 3.5}'
    export = read(text)
    assert export.x == "row number"
    assert series(export) == {"loss": [[1, 0.1]], "reward/max": [[1, 0.5]]}


@pytest.mark.parametrize("text", ['{"step": 4, "data": {"r": 0.5}}', '{"step": 4, "r": 0.5}\n'])
def test_the_first_line_of_a_log_is_no_summary(text):
    export = read(text)
    assert series(export) == {"r": [[4, 0.5]]}
    assert not export.runs[0].last_values_only


# --- SwanLab, MLflow, long tables ----------------------------------------------------------------------------------


def test_in_swanlab_the_column_called_step_holds_the_value():
    head = "step,exp1-train/loss_step,exp1-train/loss_timestamp,exp1-reward_step,exp1-reward_timestamp\n"
    export = read(head + "1,0.9,1700000000000,0.1,1700000000000\n2,0.8,1700000001000,,\n")
    assert series(export) == {"exp1 - train/loss": [[1, 0.9], [2, 0.8]], "exp1 - reward": [[1, 0.1]]}


def test_in_swanlab_runs_and_keys_may_hold_dashes():
    keys = ("grpo-1-reward", "grpo-2-reward", "grpo-1-val-core/openai/gsm8k/acc/mean@1", "grpo-1-tool-calls")
    head = "step," + ",".join(f"{key}_step,{key}_timestamp" for key in keys)
    assert set(series(read(head + "\n1,1,9,2,9,3,9,4,9\n2,1,9,2,9,3,9,4,9\n"))) == {
        "grpo-1 - reward", "grpo-2 - reward", "grpo-1 - val-core/openai/gsm8k/acc/mean@1", "grpo-1 - tool-calls",
    }  # fmt: skip


def test_a_nan_in_a_long_table_is_a_value_that_was_logged_and_a_blank_is_none():
    export = read("key,value,step\nloss,0.5,1\nloss,nan,2\nreward,,2\nloss,0.4,3\nreward,0.1,3\n")
    assert series(export) == {"loss": [[1, 0.5], [3, 0.4]], "reward": [[3, 0.1]]}
    assert "Cells that say NaN: 1, in loss" in told(export)
    assert diagnose(export.runs[0]).worst == "hard"


def test_a_long_mlflow_table_gives_a_series_for_each_key_and_run():
    rows = (
        "r1,reward,0.1,1,1700000000000\nr1,reward,0.2,2,1700000001000\nr1,loss,3,1,1700000000000\nr2,reward,0.5,1,1\n"
    )
    export = read("run_id,key,value,step,timestamp\n" + rows)
    assert [run.label for run in export.runs] == ["r1", "r2"]
    assert series(export)["r1 - reward"] == [[1, 0.1], [2, 0.2]]
    assert series(export)["r2 - reward"] == [[1, 0.5]]
    assert "Wall time" in export.x_choices


def test_a_long_table_that_goes_back_is_a_restart():
    rows = "".join(
        f"{key},{value},{step}\n" for step, value in [(1, 1), (2, 2), (3, 3), (2, 5), (3, 6), (4, 7)] for key in "ab"
    )
    export = read("metric,value,step\n" + rows)
    assert series(export)["a"] == [[1, 1], [2, 5], [3, 6], [4, 7]]
    assert [restart.step for restart in export.runs[0].restarts] == [2]


# --- TRL -----------------------------------------------------------------------------------------------------------


def test_a_trainer_state_is_its_log_history_without_the_summary():
    history = [
        {"step": 5, "epoch": 0.1, "reward": 0.2, "loss": float("nan")},
        {"step": 10, "epoch": 0.2, "reward": 0.3, "loss": 0.1},
        {"step": 10, "epoch": 0.2, "eval_reward": 0.25},
        {"step": 10, "train_runtime": 99.0, "total_flos": 0.0},
    ]
    export = read(json.dumps({"log_history": history, "global_step": 10}))
    assert export.x == "step"
    assert series(export) == {"reward": [[5, 0.2], [10, 0.3]], "loss": [[10, 0.1]], "eval_reward": [[10, 0.25]]}
    assert "Record 4 is the trainer's summary" in told(export)
    assert "Cells that say NaN: 1, in loss" in told(export)


def test_printed_dictionaries_of_trl_are_read_as_literals():
    text = (
        "100%|####| 5/10\r{'loss': 0.5, 'grad_norm': nan, 'reward': '0.25', 'epoch': 0.1}\n"
        "Saving model\n{'loss': 0.4, 'grad_norm': 0.3, 'reward': '0.5', 'epoch': 0.2}\n"
        "{'train_runtime': 9.0, 'epoch': 0.2}\n{'loss': __import__('os')}\n"
    )
    export = read(text)
    assert export.x == "epoch"
    assert series(export) == {
        "loss": [[0.1, 0.5], [0.2, 0.4]], "grad_norm": [[0.2, 0.3]], "reward": [[0.1, 0.25], [0.2, 0.5]]
    }  # fmt: skip


def test_rounded_epochs_that_trl_prints_again_and_again_hide_no_row():
    epochs = (0.01, 0.01, 0.01, 0.02, 0.02, 0.03)
    export = read("".join(f"{{'loss': 0.5, 'reward': 0.{i}, 'epoch': {epoch}}}\n" for i, epoch in enumerate(epochs)))
    assert export.x == "row number"
    assert series(export)["reward"] == [[i + 1, i / 10] for i in range(6)]
    assert "the rows are counted in place of epoch" in told(export)


def test_numbers_of_numpy_and_torch_in_a_printed_dictionary_are_numbers():
    text = "{'reward': np.float64(0.5), 'epoch': 0.1}\n{'reward': tensor(0.4, device='cuda:0'), 'epoch': 0.2}\n"
    assert series(read("starting\n" * 9000 + text)) == {"reward": [[0.1, 0.5], [0.2, 0.4]]}


# --- verl ----------------------------------------------------------------------------------------------------------


def test_a_verl_console_log_is_found_among_everything_else():
    text = (
        "INFO starting\n\x1b[36m(TaskRunner pid=12)\x1b[0m step:0 - val-core/gsm8k/reward/mean@1:0.31\n"
        "Training Progress:  10%|#  | 1/10\r(TaskRunner pid=12) step:1 - critic/score/mean:np.float64(0.5) - "
        "actor/pg_loss:-0.1 - timing_s/gen:1e-3\n(TaskRunner pid=12) step:2 - critic/score/mean:0.6 - actor/pg_lo\n"
    )
    export = read(text)
    assert series(export)["critic/score/mean"] == [[1, 0.5], [2, 0.6]]
    assert series(export)["val-core/gsm8k/reward/mean@1"] == [[0, 0.31]]
    assert "Parts of lines that are no metric: 1, the first 'actor/pg_lo' in line 4" in told(export)


def test_a_number_of_thousands_of_digits_is_no_step():
    assert series(read(f"step:{'9' * 5000} - a:1\nstep:2 - a:2\nstep:3 - a:3\n")) == {"a": [[2, 2], [3, 3]]}


def test_metrics_after_a_long_beginning_of_a_log_are_found():
    text = "WARNING something else, again and again\n" * 5000 + "step:1 - actor/loss:0.5\nstep:2 - actor/loss:0.25\n"
    assert series(read(text)) == {"actor/loss": [[1, 0.5], [2, 0.25]]}


def test_verls_json_lines_are_unpacked_and_a_half_written_line_waits():
    text = '{"step": 1, "data": {"a": 0.5, "b": null}}\n{"step": 2, "data": {"a": 0.6, "b": 3}}\n{"step": 3, "da'
    export = read(text)
    assert series(export) == {"a": [[1, 0.5], [2, 0.6]], "b": [[2, 3]]}
    assert "The last line (3) is no whole record" in told(export)


def test_plain_json_lines_coerce_and_tell():
    export = read('{"step": 1, "r": 0.1}\n{"step": 2, "r": "oops"}\n{"step": 3, "r": 0.3, "nested": {"x": 1}}\n')
    assert series(export) == {"r": [[1, 0.1], [3, 0.3]], "nested/x": [[3, 1]]}
    assert "Cells of r that are not numbers: 1, the first 'oops' in line 2" in told(export)


def test_the_test_before_the_first_step_of_verl_stays_although_its_own_counter_is_not_there_yet():
    text = "step:0 - val-core/openai/gsm8k/acc/mean@1:0.3\n" + "".join(
        f"step:{i} - training/global_step:{i} - critic/score/mean:0.{i}\n" for i in (1, 2, 3)
    )
    export = read(text)
    assert export.x == "training/global_step"
    assert series(export)["val-core/openai/gsm8k/acc/mean@1"] == [[0, 0.3]]


# --- others --------------------------------------------------------------------------------------------------------


def test_stable_baselines_count_total_timesteps():
    export = read("time/fps,rollout/ep_rew_mean,total timesteps\n100,1.5,2048\n101,1.7,4096\n")
    assert (export.x, series(export)["rollout/ep_rew_mean"]) == ("total timesteps", [[2048, 1.5], [4096, 1.7]])


def test_a_thousand_points_of_tensorboard_are_told_to_be_a_sample():
    rows = "".join(f"{1.7e9 + i},{i},0.5\n" for i in range(1000))
    assert "1000 random points" in told(read("Wall time,Step,Value\n" + rows))


@pytest.mark.parametrize("file", ["run-exp-tag-train_reward.csv", "run-.-tag-train_reward (1).csv"])
def test_the_name_of_a_download_of_tensorboard_says_what_its_values_are(file):
    export = read("Wall time,Step,Value\n1.5,1,0.5\n2.5,2,0.6\n", file)
    assert series(export) == {"train_reward": [[1, 0.5], [2, 0.6]]}
    assert "Value is called train_reward" in told(export)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "This is not JSON"), ('{"a": "b"}', "no metrics known"), ("[1, 2]", "no metrics known"),
        ('{"log_history": []}', "log_history is empty"), ("[" * 100_000, "nested too deeply"),
        ('{"step": "x"}\n{"step": "y"}\n', "no numbers"),
    ],
)  # fmt: skip
def test_json_without_metrics_is_refused_in_a_sentence(text, says):
    with pytest.raises(InputError, match=says):
        read(text)


def test_reports_of_several_shapes_can_stand_beside_each_other():
    report = report_exports([read(PANEL, "panel.csv"), read('{"step": 1, "reward": 2}\n{"step": 2, "reward": 3}', "b")])
    assert set(report["series"]) == {
        "panel.csv a - b - train/reward", "panel.csv c - train/reward", "b - reward"
    }  # fmt: skip
