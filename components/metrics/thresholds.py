"""Thresholds of the rules, changed for this visit, and rules of one's own."""

from __future__ import annotations

import streamlit as st

from components import state
from components.i18n import _, language
from components.metrics.diagnosis import mix_chooser
from rewards_lib.training_metrics import Rule, in_language, rule_book

EXAMPLE = """rules:
- id: tool_failures
  severity: warning
  condition: outside
  bounds: {train/generation/aborted: {above: limit}}
  window: 20
  min_steps: 30
  thresholds: {limit: 0.01}
  unit: share
  text: "{value} of the rollouts failed, from step {begin}."
  meaning: The tool is down.
  advice: Look at its log.
"""


def rules_menu() -> None:
    """Draw the button behind which a mix is chosen, thresholds are changed and own rules are written, all at once."""
    changed = state.metric_thresholds.get()
    label = _("Rules and mix: {count} changed", count=len(changed)) if changed else _("Rules and mix")
    with st.popover(label, type="tertiary", key="rules_menu"):
        mix_chooser()
        rules = [rule for rule in rule_book().rules if rule.thresholds]
        chosen = st.selectbox(
            _("Thresholds of the rule"),
            rules,
            format_func=lambda rule: f"{rule.number} · {in_language(rule.title, language())}",
            key="threshold_rule",
        )
        if chosen is not None:
            _numbers(chosen)
        st.button(_("Back to the usual thresholds"), disabled=not changed, key="reset_thresholds", on_click=_reset)
        st.text_area(
            _("Own rules, in the shape of rules.yaml"),
            value=state.metric_own_rules.get(),
            placeholder=EXAMPLE,
            height=180,
            key="own_rules",
            on_change=_keep_own_rules,
        )


def _numbers(rule: Rule) -> None:
    st.caption(in_language(rule.meaning, language()))
    changed = state.metric_thresholds.get().get(rule.id, {})
    for name, usual in rule.thresholds.items():
        key = f"threshold_{rule.id}_{name}"
        st.number_input(
            _("{name} (usually {usual})", name=name, usual=f"{usual:g}"),
            value=changed.get(name, usual),
            format="%g",
            step=abs(usual) / 10 or 0.01,
            key=key,
            on_change=_keep,
            args=(rule, name, key),
        )


def _keep(rule: Rule, name: str, key: str) -> None:
    value = state.widget(key)
    if value is None:
        return
    changed = {one: dict(numbers) for one, numbers in state.metric_thresholds.get().items()}
    changed.setdefault(rule.id, {})[name] = float(value)
    if value == rule.thresholds[name]:
        del changed[rule.id][name]
    state.metric_thresholds.set({one: numbers for one, numbers in changed.items() if numbers})


def _reset() -> None:
    for rule, numbers in state.metric_thresholds.get().items():
        usual = next(one.thresholds for one in rule_book().rules if one.id == rule)
        for name in numbers:
            state.put_widget(f"threshold_{rule}_{name}", usual[name])
    state.metric_thresholds.clear()


def _keep_own_rules() -> None:
    state.metric_own_rules.set(state.widget("own_rules") or "")
