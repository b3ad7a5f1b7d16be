"""What is done to a name: publish its draft, export a version, import a trainer's function."""

from __future__ import annotations

import io
import tempfile
import zipfile
from pathlib import Path

import streamlit as st

from components import cache, state
from components.i18n import _, explain, say
from components.kept_cases import warn_of_cases
from components.publish.names import Publishable, read_mix_draft
from components.theme import plain
from rewards_lib.contract import Sentence
from rewards_lib.errors import InputError, NotFoundError, RewardConsoleError
from rewards_lib.function_sources import resolver
from rewards_lib.interop import SOURCES, TARGETS, export_version, import_source, keep_import
from rewards_lib.publishing import open_version, publish_function, publish_mix
from rewards_lib.store import Version
from rewards_lib.strict_json import decode_utf8

MAX_FILE_MB = 1


def publish_dialog(chosen: Publishable) -> None:
    """Ask for a note, then make the draft an immutable version."""

    @st.dialog(_("Publish {name} as v{number}", name=chosen.name, number=chosen.next_number))
    def ask() -> None:
        st.caption(
            _("A version never changes, and carries its functions. The service answers for it at once at {address}.",
              address=f"/rewards/{chosen.name}")
        )  # fmt: skip
        if chosen.draft is not None:
            warn_of_cases(chosen.kind, chosen.name, chosen.draft)
        note = st.text_input(_("Note: what changed"), key="publish_page_note", max_chars=200) or ""
        if st.button(_("Publish v{number}", number=chosen.next_number), type="primary", key="publish_page_now"):
            try:
                _publish(chosen, note)
            except RewardConsoleError as error:
                st.error(plain(explain(error)))
                return
            st.rerun()

    ask()


def _publish(chosen: Publishable, note: str) -> Version:
    store = cache.store()
    if chosen.kind == "function":
        return publish_function(store, chosen.name, store.load_draft("function", chosen.name).content, note=note)
    mix = read_mix_draft(chosen.name)
    if mix is None:
        raise NotFoundError("There is no draft of {name} to publish.", name=chosen.name)
    return publish_mix(store, chosen.name, mix, resolver(store=cache.store), note=note)


def export_menu(chosen: Publishable) -> None:
    """Draw the menu of trainers; choosing one makes the folder and offers it as a zip file."""
    names = list(TARGETS)
    target = st.menu_button(
        _("Export"), names, format_func=lambda name: TARGETS[name].label, icon=":material/folder_zip:",
        key="export_menu", disabled=chosen.served is None,
        help=None if chosen.served else _("Publish a version first."),
    )  # fmt: skip
    if target and chosen.served:
        _export_dialog(chosen.served, target)


def _export_dialog(version: Version, target: str) -> None:
    label = TARGETS[target].label

    @st.dialog(_("Export {name} to {trainer}", name=version.label, trainer=label), width="medium")
    def show() -> None:
        try:
            data, findings, readme = _zipped(target, f"{version.label} {version.sha256}", version)
        except RewardConsoleError as error:
            st.error(plain(explain(error)))
            return
        for finding in findings:
            st.warning(plain(say(finding)))
        st.caption(
            _("A folder that runs on {trainer} without this console; its smoke test expects the rewards shown here. "
              "The reward's code runs unconfined there.", trainer=label)
        )  # fmt: skip
        st.code(readme, language=None, height=300, wrap_lines=True)
        file = f"{version.name}_v{version.number}_{target}.zip"
        st.download_button(
            _("Download {name}", name=file), data, file, "application/zip", key="export_download", type="primary",
            icon=":material/download:",
        )  # fmt: skip
        st.code(
            f".venv/bin/python -m rewards_lib export --name {version.label} --target {target} --out DIR", language=None
        )

    show()


@st.cache_data(show_spinner=False, max_entries=16)
def _zipped(target: str, sha256: str, _version: Version) -> tuple[bytes, tuple[Sentence, ...], str]:  # noqa: ARG001
    """The folder as a zip file, what it cannot do, and its README; kept by the content's fingerprint."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "export"
        exported = export_version(open_version(_version), target, folder, executor=cache.executor())
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in exported.files:
                archive.writestr(zipfile.ZipInfo(path), (folder / path).read_bytes(), zipfile.ZIP_DEFLATED)
        return data.getvalue(), exported.findings, (folder / "README.md").read_text(encoding="utf-8")


def import_dialog() -> None:
    """Ask for a file with a trainer's function, and make a draft of it."""

    @st.dialog(_("Import a trainer's function"))
    def ask() -> None:
        origins = ["", *SOURCES]
        origin = st.selectbox(
            _("From"), origins, format_func=lambda name: SOURCES[name].label if name else _("recognise it"),
            key="import_origin",
        )  # fmt: skip
        file = st.file_uploader(_("Python file"), type=["py"], max_upload_size=MAX_FILE_MB, key="import_upload")
        if file is None:
            st.caption(_("A reward function of TRL, verl, OpenRLHF or Ark. Nothing of it is run now."))
            return
        try:
            text = decode_utf8(file.getvalue(), name=file.name)
            imported = import_source(text, name=Path(file.name).stem, where=file.name, origin=origin or None)
        except InputError as error:
            st.error(plain(explain(error)))
            return
        st.markdown(f"**{_('Adapted')}**  \n" + "  \n".join(plain(say(one)) for one in imported.told))
        refused = [one for one in imported.findings if one.severity == "error"]
        for finding in refused[:5]:
            st.warning(plain(_("Line {line}: {finding}", line=finding.line, finding=say(finding.message))))
        if st.button(_("Make it a draft"), type="primary", key="import_now"):
            try:
                draft = keep_import(cache.store(), imported)
            except RewardConsoleError as error:
                st.error(plain(explain(error)))
                return
            state.function_name.set(draft.name)
            st.switch_page("pages/functions.py")

    ask()
