"""Asking a service ends when the run is stopped, and its time is that of as many as are asked at once."""

import threading
import time

from rewards_lib.contract import Completion, Sample
from rewards_lib.executor.stopping import StopSwitch
from rewards_lib.presets.host import score_on_host

ASKED = {"url": "http://127.0.0.1:9", "base_url": "http://127.0.0.1:9", "model": "m"}


def test_a_pressed_switch_ends_the_waiting(monkeypatch):
    from rewards_lib.presets import find_preset

    waiting, go_on = threading.Event(), threading.Event()

    def answer_late(*_):
        waiting.set()
        go_on.wait(20)
        return []

    preset = find_preset("llm_judge")
    monkeypatch.setattr(type(preset), "score_all", answer_late)
    known = {parameter.name for parameter in preset.parameters}
    params = preset.examples[0].params | {key: value for key, value in ASKED.items() if key in known}
    switch, pairs = StopSwitch(), [(Sample([], {}, []), Completion("x"))] * 3
    threading.Thread(target=lambda: (waiting.wait(10), switch.press()), daemon=True).start()
    started = time.monotonic()
    scores = score_on_host("llm_judge", params, pairs, ending=switch.ending)
    go_on.set()
    assert time.monotonic() - started < 5
    assert [str(one.score.why) for one in scores] == ["The run was stopped."] * 3
