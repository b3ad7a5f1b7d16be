"""The rules of a mix as cards: name, what it rewards, weight, parameters; added, renamed, moved and removed here.

The draft's content is the mix file itself, so that a card may hold parameters that are not valid yet.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from components import drafts, samples, state
from components.i18n import _, explain, language
from components.parameter_form import parameter_form, summary
from components.regex_help import regex_help
from components.state import OpenDraft
from components.theme import number, plain, rule_mark
from rewards_lib.contract import Completion, JsonObject, Payload
from rewards_lib.errors import InputError
from rewards_lib.mix import MAX_NAME_LENGTH, MAX_RULES, MAX_WEIGHT, MIN_WEIGHT
from rewards_lib.presets import Preset, check_params, find_preset, preset_names

WEIGHT_STEP = 0.01


def rule_cards(draft: OpenDraft, *, key: str) -> JsonObject:
    """Draw the cards of a mix draft and return its content with what was changed in them."""
    rules = [
        _card(draft, index, rule, key=f"{key}_{draft.epoch}_{rule['name']}")
        for index, rule in enumerate(draft.content.get("rules", []))
    ]
    return draft.content | {"rules": rules}


def add_rule(draft: OpenDraft, functions: list[str], *, key: str) -> None:
    """Draw the box that adds a preset or a stored function to the mix."""
    full = len(draft.content.get("rules", [])) >= MAX_RULES
    presets = preset_names()
    options = [f"preset:{name}" for name in presets] + [f"function:{name}" for name in functions]

    def told(option: str) -> str:
        kind, _colon, name = option.partition(":")
        if kind == "function":
            return f"{name} · {_('your function')}"
        return f"{name} · {find_preset(name).label.in_language(language())}"

    hint = _(
        "Add a rule: search {presets} presets and {functions} functions …",
        presets=len(presets),
        functions=len(functions),
    )
    st.selectbox(
        _("Add a rule"),
        options,
        index=None,
        format_func=told,
        label_visibility="collapsed",
        key=f"{key}_add",
        placeholder=_("{limit} of {limit} rules: remove one first", limit=MAX_RULES) if full else hint,
        disabled=full,
        on_change=_add,
        args=(draft, f"{key}_add"),
    )


def _card(draft: OpenDraft, index: int, rule: JsonObject, *, key: str) -> JsonObject:
    preset = find_preset(rule["preset"]) if rule.get("preset") in preset_names() else None
    told = preset.summary.in_language(language()) if preset else _("Your own function, as it stands on Functions")
    origin = rule.get("preset") or rule.get("function") or ""
    with st.container(border=True, gap="xxsmall", key=f"card_{index}"):
        head, weight_place = st.columns([6.4, 3.6], vertical_alignment="center", gap="xsmall")
        head.markdown(f"{rule_mark(index, rule['name'])}  :small[:gray[{plain(origin)}]]  \n:small[{plain(told)}]")
        with weight_place:
            weight = _weight(rule, key=f"{key}_weight")
        settings, more = st.columns([7, 2.7], vertical_alignment="center", gap="xxsmall")
        with settings:
            params = _parameters(draft, preset, rule, key=key) if preset else {}
            if not preset:
                st.page_link("pages/functions.py", label=_("Open on Functions"), icon=":material/code:")
        with more.container(horizontal=True, horizontal_alignment="right"):
            _more(draft, index, key=f"{key}_more")
        changed = {**rule, "weight": weight} | ({"params": params} if preset else {})
        if preset:
            _tell_what_is_wrong(str(rule["preset"]), params)
    return changed


def _weight(rule: JsonObject, *, key: str) -> float:
    weight = st.number_input(
        _("Weight of {rule}", rule=rule["name"]),
        float(MIN_WEIGHT),
        float(MAX_WEIGHT),
        float(rule.get("weight", 1.0)),
        WEIGHT_STEP,
        format="%.2f",
        key=key,
        label_visibility="collapsed",
        icon=":material/close:",
    )
    return round(weight, 2)  # the browser adds steps in binary; a mix holds hundredths


def _parameters(draft: OpenDraft, preset: Preset, rule: JsonObject, *, key: str) -> JsonObject:
    schema, params = preset.schema(language()), rule.get("params", {})
    line = summary(schema, params) or _("no parameters")
    with st.popover(line, type="tertiary", icon=":material/tune:", key=f"{key}_params"):
        label, told = preset.label.in_language(language()), preset.summary.in_language(language())
        st.markdown(f"**{plain(preset.name)}** · {plain(label)}  \n:small[{plain(told)}]")
        _worked_example(draft, preset, rule["name"], key=key)
        changed = parameter_form(schema, params, key=key)
        if preset.name == "regex_match":
            regex_help(changed, [completion.text for completion in samples.current_sample().completions], key=key)
    return changed


def _worked_example(draft: OpenDraft, preset: Preset, name: str, *, key: str) -> None:
    """One line of the preset's worked example, as the docs show it, and the button that tries it here."""
    example = preset.examples[0]
    text = Completion(example.completions[0]).text
    against = f" {_('against')} `{example.answer}`" if example.answer is not None else ""
    st.caption(f"{_('Example')} `{text[:48]}`{against} {_('earns')} **{number(example.rewards[0])}**")
    st.button(
        _("Try this example"),
        key=f"{key}_example",
        type="tertiary",
        icon=":material/science:",
        on_click=_try_example,
        args=(draft, preset, name),
        help=_("Takes the example's parameters into this rule and its completions as the sample"),
    )


def _try_example(draft: OpenDraft, preset: Preset, name: str) -> None:
    example = preset.examples[0]
    samples.load([Payload(example.sample, tuple(Completion(raw) for raw in example.completions))])
    rules = [
        rule | {"params": dict(example.params)} if rule["name"] == name else rule for rule in draft.content["rules"]
    ]
    drafts.replace(draft, draft.content | {"rules": rules})


def _tell_what_is_wrong(preset: str, params: JsonObject) -> None:
    try:
        check_params(preset, params)
    except InputError as error:
        st.markdown(f":small[:red[:material/error: {plain(explain(error))}]]")


def _more(draft: OpenDraft, index: int, *, key: str) -> None:
    last = len(draft.content["rules"]) - 1
    options = {"rename": _("Rename …"), "duplicate": _("Duplicate"), "remove": _("Remove")}
    if index > 0:
        options["up"] = _("Move up")
    if index < last:
        options["down"] = _("Move down")
    st.menu_button(
        _("More"),
        list(options),
        format_func=options.__getitem__,
        key=key,
        type="tertiary",
        on_click=_act,
        args=(draft, index, key),
    )


def _act(draft: OpenDraft, index: int, key: str) -> None:
    action = state.widget(key)
    rules: list[dict[str, Any]] = [dict(rule) for rule in draft.content["rules"]]
    if action == "rename":
        state.renaming.set(index)
        return
    if action == "duplicate" and len(rules) < MAX_RULES:
        rules.insert(index + 1, rules[index] | {"name": free_name(rules[index]["name"], rules)})
    elif action == "remove":
        del rules[index]
    elif action in ("up", "down"):
        other = index - 1 if action == "up" else index + 1
        rules[index], rules[other] = rules[other], rules[index]
    drafts.autosave(draft, draft.content | {"rules": rules})


def _add(draft: OpenDraft, key: str) -> None:
    chosen = state.widget(key)
    if not chosen:
        return
    kind, _colon, name = chosen.partition(":")
    rules = list(draft.content.get("rules", []))
    rule: JsonObject = {"name": free_name(name, rules), kind: name, "weight": 1.0}
    drafts.autosave(draft, draft.content | {"rules": [*rules, rule]})
    state.put_widget(key, None)


def free_name(wanted: str, rules: list[dict[str, Any]]) -> str:
    """The wanted name, or with the first number behind it that no rule has: names are metric columns."""
    taken = {rule["name"] for rule in rules}
    return next(name for name in [wanted, *(f"{wanted}_{number}" for number in range(2, 100))] if name not in taken)


def rename_dialog(draft: OpenDraft) -> None:
    """Ask for a rule's new name, when somebody chose Rename."""
    index = state.renaming.get()
    if index is None:
        return
    state.renaming.clear()

    @st.dialog(_("Rename the rule"))
    def ask() -> None:
        rules = [dict(rule) for rule in draft.content["rules"]]
        name = (
            st.text_input(_("Name"), rules[index]["name"], key="rule_new_name", max_chars=MAX_NAME_LENGTH) or ""
        ).strip()
        taken = any(rule["name"] == name for number_, rule in enumerate(rules) if number_ != index)
        if taken:
            st.markdown(f":small[:red[{_('Another rule has this name; names are metric columns and must differ.')}]]")
        if st.button(_("Rename"), type="primary", disabled=not name or taken, key="rule_rename"):
            rules[index]["name"] = name
            drafts.replace(draft, draft.content | {"rules": rules})
            st.rerun()

    ask()
