"""The rules of a mix as cards: name, what it rewards, weight, parameters; added, renamed, moved and removed here.

The draft's content is the mix file itself, so that a card may hold parameters that are not valid yet.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from components import cache, drafts, samples, state, undo
from components.i18n import _, language, say
from components.parameter_form import form_values, parameter_form, summary
from components.regex_help import regex_help
from components.state import OpenDraft
from components.theme import number, plain, rule_mark
from rewards_lib.contract import Completion, JsonObject, Payload
from rewards_lib.errors import InputError
from rewards_lib.mix import MAX_NAME_LENGTH, MAX_RULES, MAX_WEIGHT, MIN_WEIGHT
from rewards_lib.presets import Preset, check_params, find_preset, preset_names

WEIGHT_STEP, ROUNDING = 0.01, 1e-6


def rule_cards(draft: OpenDraft, *, key: str) -> JsonObject:
    """Draw the cards of a mix draft and return its content with what was changed in them."""
    rules: list[JsonObject] = []
    place = 0  # colours go to the rules that count, as in the table of what they earn
    for index, rule in enumerate(draft.content.get("rules", [])):
        own = f"{key}_{draft.epoch}_{rule['name']}"
        counts = _is_complete(rule, key=own)
        mark = rule_mark(place, rule["name"]) if counts else f":gray[□] **{plain(rule['name'])}**"
        rules.append(_card(draft, index, rule, mark, key=own))
        place += counts
    return draft.content | {"rules": rules}


def _is_complete(rule: JsonObject, *, key: str) -> bool:
    """Tell before its card is drawn whether a rule can be scored as its inputs stand."""
    weight = f"{key}_weight"
    if (state.widget(weight) if state.is_drawn(weight) else rule.get("weight", 1.0)) is None:
        return False
    if rule.get("preset") not in preset_names():
        return True
    try:
        schema = find_preset(rule["preset"]).schema(language())
        check_params(rule["preset"], form_values(schema, rule.get("params", {}), key=key))
    except InputError:
        return False
    return True


def add_rule(draft: OpenDraft, *, key: str) -> None:
    """Draw the box that adds a preset or a stored function to the mix."""
    full = len(draft.content.get("rules", [])) >= MAX_RULES
    presets, functions = preset_names(), _functions()
    options = [f"preset:{name}" for name in presets] + [f"function:{name}" for name in functions]

    def told(option: str) -> str:
        kind, _colon, name = option.partition(":")
        if kind == "function":
            return f"{name} · {_('your function')}"
        return f"{name} · {find_preset(name).label.in_language(language())}"

    hint = (
        _("Add a rule: search {presets} presets and your functions …", presets=len(presets))
        if functions
        else _("Add a rule: search {presets} presets …", presets=len(presets))
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


def _functions() -> list[str]:
    """The functions that have a draft or a version."""
    store = cache.store()
    drafts = {draft.name for draft in store.list_drafts("function")}
    return sorted(drafts | {version.name for version in store.versions("function")})


def _card(draft: OpenDraft, index: int, rule: JsonObject, mark: str, *, key: str) -> JsonObject:
    preset = find_preset(rule["preset"]) if rule.get("preset") in preset_names() else None
    reference = str(state.widget(f"{key}_version") or rule.get("function"))
    told = preset.summary.in_language(language()) if preset else function_origin(reference)
    origin = rule.get("preset") or reference.partition("@")[0]
    with st.container(border=True, gap="xxsmall", key=f"card_{index}"):
        head, right = st.columns([6, 4], vertical_alignment="top", gap="xsmall")
        head.markdown(f"{mark}  :small[:gray[{plain(origin)}]]  \n:small[{plain(told)}]")
        with right:
            weight = _weight(rule, key=f"{key}_weight")
            with st.container(horizontal=True, horizontal_alignment="right"):
                _more(draft, index, key=f"{key}_more")
        if preset:
            params = _parameters(draft, preset, rule, key=key)
            _tell_what_is_wrong(preset.name, params)
            return {**rule, "weight": _counted(weight), "params": params}
        return {**rule, "function": _function(rule, key=key), "weight": _counted(weight)}


def _weight(rule: JsonObject, *, key: str) -> float | None:
    """Draw the box of a weight; None where the draft has none.

    An emptied box goes back to its start value, so that is what counts now: the draft is one change behind here.
    """
    held = state.widget(key) if state.is_drawn(key) else rule.get("weight", 1.0)
    return st.number_input(
        _("Weight of {rule}", rule=rule["name"]),
        float(MIN_WEIGHT),
        float(MAX_WEIGHT),
        None if held is None else float(held),
        WEIGHT_STEP,
        format="%.2f",
        key=key,
        required=True,
        placeholder=_("weight"),
        label_visibility="collapsed",
    )


def _counted(weight: float | None) -> float | None:
    """The weight in hundredths, told where that is another one; None, and asked for, where there is none.

    The line stands at the foot of the card: above it nothing moves away under a finger that is about to click.
    """
    if weight is None:
        told = _("Give a weight, {low} to {high}.", low=f"{MIN_WEIGHT}", high=f"{MAX_WEIGHT}")
        st.markdown(f":small[:red[:material/error: {plain(told)}]]")
        return None
    rounded = round(weight, 2)  # the browser adds steps in binary; a mix holds hundredths
    if abs(weight - rounded) > ROUNDING:
        told = _("{typed} counts as {weight}: weights are hundredths.", typed=f"{weight:g}", weight=f"{rounded:.2f}")
        st.markdown(f":small[:orange[:material/warning: {plain(told)}]]")
    return rounded


def _parameters(draft: OpenDraft, preset: Preset, rule: JsonObject, *, key: str) -> JsonObject:
    schema, params = preset.schema(language()), rule.get("params", {})
    typed = form_values(schema, params, key=key)
    line = summary(schema, typed) or _("no parameters")
    is_open = bool(state.widget(f"{key}_params"))  # without it a changed line would close the form
    with st.expander(line, is_open, type="compact", icon=":material/tune:", key=f"{key}_params", on_change="rerun"):
        st.markdown(f"**{plain(preset.name)}** · {plain(preset.label.in_language(language()))}")
        _worked_example(draft, preset, rule["name"], key=key)
        if preset.name == "regex_match":
            regex_help(typed, [completion.text for completion in samples.current_sample().completions], key=key)
        return parameter_form(schema, params, key=key)


def function_origin(reference: str) -> str:
    """What stands behind a rule's function: the draft as it is now, or a published version, which never changes."""
    _name, _at, number_ = reference.partition("@")
    if number_:
        return _(
            "Your own function, version {number}: what was published, whatever becomes of the draft", number=number_
        )
    return _("Your own function, as it stands on Functions")


def _function(rule: JsonObject, *, key: str) -> str:
    """Draw which version of a function counts, and the way to its code; returns the reference."""
    reference = str(rule.get("function"))
    name, _at, _number = reference.partition("@")
    versions = sorted(cache.store().versions("function", name), key=lambda one: -one.number)
    options = [name, *(one.label for one in versions if one.withdrawn_at is None or one.label == reference)]
    if reference not in options:
        options.append(reference)
    labels = {name: _("the draft, as it stands")} | {
        one.label: _("version {number} of {time}", number=one.number, time=drafts.clock(one.published_at))
        for one in versions
    }
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        chosen = st.selectbox(
            _("Version of {rule}", rule=rule["name"]),
            options,
            index=options.index(reference),
            format_func=lambda option: labels.get(option, option),
            label_visibility="collapsed",
            key=f"{key}_version",
        )
        if st.button(_("Open on Functions"), icon=":material/code:", type="tertiary", key=f"{key}_open"):
            state.function_name.set(name)
            st.switch_page("pages/functions.py")
    return str(chosen)


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
        help=_("Takes the example's parameters into this rule and its completions as the sample; can be undone"),
    )


def _try_example(draft: OpenDraft, preset: Preset, name: str) -> None:
    example = preset.examples[0]
    tried = [Payload(example.sample, tuple(Completion(raw) for raw in example.completions))]
    rules = [
        rule | {"params": dict(example.params)} if rule["name"] == name else rule for rule in draft.content["rules"]
    ]
    undo.replace(
        _("The example of {preset} took the place of this rule's parameters and of the sample.", preset=preset.name),
        (samples.open_samples(), samples.content_of(tried)),
        (draft, draft.content | {"rules": rules}),
    )
    samples.look_at_first()


def _tell_what_is_wrong(preset: str, params: JsonObject) -> None:
    try:
        check_params(preset, params)
    except InputError as error:
        st.markdown(f":small[:red[:material/error: {plain(say(error.message))}]]")


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
