"""The mix that is being composed: its draft, and the menu that imports, exports, renames and changes mixes."""

from __future__ import annotations

import re
from dataclasses import dataclass

import streamlit as st

from components import cache, drafts, examples, state, undo
from components.i18n import _, explain
from components.state import OpenDraft
from components.theme import plain
from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError, RewardConsoleError
from rewards_lib.mix import MAX_NAME_LENGTH, Mix, mix_to_json, read_mix, write_mix
from rewards_lib.store import free_names
from rewards_lib.strict_json import write_json

MAX_FILE_MB = 1


def open_mix() -> OpenDraft:
    """The mix of this session: the one that was saved last, or the mathematics example on the first visit."""
    name = state.mix_name.get() or drafts.latest_name("mix") or str(examples.math_mix()["name"])
    state.mix_name.set(name)
    draft = drafts.open_draft("mix", name, examples.math_mix)
    drafts.autosave(draft, draft.content)  # the example becomes a draft at first sight, so that Test can use it
    return draft


@dataclass(frozen=True)
class Composed:
    """What of a draft can be scored, and what is not complete yet."""

    mix: Mix
    left_out: tuple[InputError, ...] = ()
    """One for each rule that is not complete, naming it."""


def read_draft(draft: OpenDraft) -> Mix:
    """The mix that the draft describes. Raises InputError that names the first rule that is not valid yet."""
    return read_content(draft.name, draft.content)


def read_content(name: str, content: JsonObject) -> Mix:
    """The mix of a draft's or a version's content. Raises as ``read_draft`` does."""
    composed = read_complete_rules(name, content)
    if composed.left_out:
        raise composed.left_out[0]
    return composed.mix


def read_complete_rules(name: str, content: JsonObject) -> Composed:
    """The mix of the rules that are complete, with those that are not. Raises InputError when none is."""
    rules = content.get("rules")
    if not rules:
        raise InputError("This mix has no rule.", remedy="Add one on Compose: math_accuracy is a good first.")
    complete, left_out = [], []
    for rule in rules:
        try:
            read_mix(write_json({"name": name, "rules": [rule]}))
            complete.append(rule)
        except InputError as error:
            left_out.append(_naming(rule, error))
    if not complete:
        raise left_out[0]
    return Composed(read_mix(write_json(content | {"name": name, "rules": complete})), tuple(left_out))


def _naming(rule: JsonObject, error: InputError) -> InputError:
    """Say by its name which rule an error is about; its place in the file tells nobody anything."""
    if rule.get("weight", 1) is None:
        return InputError("The rule {rule} has no weight.", rule=rule["name"], remedy="Give one from 0.01 to 1000.")
    named = InputError("The rule {rule} is not complete: {problem}", rule=rule["name"], problem=error.message)
    named.remedy = error.remedy
    return named


def mix_menu(draft: OpenDraft) -> None:
    """Draw the saved mark and the menu of the mix file."""
    drafts.saved_mark(draft)
    others = [one.name for one in cache.store().list_drafts("mix") if one.name != draft.name]
    options = {
        "import": _("Import …"), "export": _("Export …"), "rename": _("Rename …"),
        "example": _("Start from the example"),
        **{f"open:{name}": _("Open {name}", name=name) for name in others},
    }  # fmt: skip
    action = st.menu_button(
        _("Mix file"),
        list(options),
        format_func=options.__getitem__,
        type="tertiary",
        icon=":material/description:",
        key="mix_file",
    )
    if action == "import":
        _import_dialog()
    elif action == "export":
        _export_dialog(draft)
    elif action == "rename":
        _rename_dialog(draft)
    elif action == "example":
        content = examples.math_mix()
        use(_free_name(str(content["name"])), content)
    elif action:
        state.mix_name.set(action.removeprefix("open:"))
        st.rerun()


def _free_name(wanted: str) -> str:
    """The wanted name, or with the first number behind it that no mix has: nothing composed is overwritten."""
    taken = {one.name for one in cache.store().list_drafts("mix")}
    return next(name for name in free_names(wanted) if name not in taken)


def use(name: str, content: JsonObject) -> None:
    """Put a mix under a name and show it."""
    draft = drafts.open_draft("mix", name, lambda: content)
    if draft.revision is None:
        drafts.replace(draft, content | {"name": name})
    else:
        undo.replace(_("The mix {name} was replaced.", name=name), (draft, content | {"name": name}))
    state.mix_name.set(name)
    st.rerun()


def _import_dialog() -> None:
    @st.dialog(_("Import a mix file"))
    def ask() -> None:
        file = st.file_uploader("mix.json", type=["json"], max_upload_size=MAX_FILE_MB, key="mix_upload")
        if file is None:
            st.caption(_("The mix takes the place of a mix of the same name."))
            return
        try:
            text = file.getvalue().decode("utf-8", "replace")
            mix = read_mix(text)
        except InputError as error:
            st.error(
                plain(explain(error)),
                title=_("The file is not a mix"),
            )
            return
        st.markdown(
            _(
                "**{name}**, its rules: {rules}",
                name=plain(mix.name),
                rules=", ".join(plain(rule.name) for rule in mix.rules),
            )
        )
        if st.button(_("Use this mix"), type="primary", key="mix_use"):
            use(stored_name(mix.name), mix_to_json(mix))

    ask()


def _export_dialog(draft: OpenDraft) -> None:
    @st.dialog(_("Export the mix file"))
    def show() -> None:
        try:
            text = write_mix(read_draft(draft))
        except RewardConsoleError as error:
            st.error(plain(explain(error)), title=_("The mix is not valid yet"))
            return
        st.code(text, language=None, height=320)
        st.download_button(
            _("Download {name}", name=f"{draft.name}.json"),
            text,
            f"{draft.name}.json",
            "application/json",
            key="mix_download",
            type="primary",
            icon=":material/download:",
        )
        st.caption(".venv/bin/python -m rewards_lib test --mix " + f"{draft.name}.json --payload request.json")

    show()


def _rename_dialog(draft: OpenDraft) -> None:
    @st.dialog(_("Rename the mix"))
    def ask() -> None:
        name = (st.text_input(_("Name"), draft.name, key="mix_new_name", max_chars=MAX_NAME_LENGTH) or "").strip()
        if st.button(_("Rename"), type="primary", disabled=not name or name == draft.name, key="mix_rename"):
            try:
                cache.store().rename_draft("mix", draft.name, name)
            except RewardConsoleError as error:
                st.error(plain(explain(error)))
                return
            state.open_drafts.get().pop(("mix", draft.name), None)
            state.mix_name.set(name)
            st.rerun()

    ask()


def stored_name(name: str) -> str:
    """A mix's name as the store takes it: letters, digits, ``_ - .``."""
    return re.sub(r"[^\w.-]+", "_", name).strip("_.-") or "mix"
