"""The frame of every page: the list of pages, the sidebar, the head, and what a failure looks like.

Invariant: no traceback of ours reaches a visitor; ``run`` turns any failure of a page into one sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from components import cache, service, state, theme
from components.i18n import _, choose_language, keep_language, say
from rewards_lib.contract import MixResult
from rewards_lib.errors import RewardConsoleError, boundary

ASSETS = Path(__file__).parent / "assets"
HOME = "pages/compose.py"


def settings() -> None:
    """The page's title, icon, layout and menu; without our icon the browser would ask another machine for one."""
    st.set_page_config(
        page_title="Reward Console",
        page_icon=str(ASSETS / "icon.svg"),
        layout="wide",
        menu_items={"About": _("Reward Console: write, prove, publish and watch the reward of an RL run.")},
    )


def pages() -> dict[str, list[StreamlitPage]]:
    """The only list of pages, by section. The file stem of a page is its address."""

    def page(name: str, title: str, icon: str) -> StreamlitPage:
        return st.Page(f"pages/{name}.py", title=title, icon=f":material/{icon}:", url_path=name)

    return {
        "": [st.Page(_home, default=True, visibility="hidden")],
        _("Write"): [
            page("compose", _("Compose"), "stacks"),
            page("functions", _("Functions"), "code"),
            page("test", _("Test"), "play_circle"),
            page("code_judge", _("Code judge"), "gavel"),
        ],
        _("Prove and ship"): [
            page("rollouts", _("Rollouts"), "scatter_plot"),
            page("publish", _("Publish"), "cloud_upload"),
        ],
        _("Watch"): [
            page("training_metrics", _("Training metrics"), "monitoring"),
            page("trajectories", _("Trajectories"), "forum"),
        ],
        _("Learn"): [page("practice", _("Practice"), "school")],
    }


def _home() -> None:
    """Forward ``/`` to the first page: the default page itself has no address that survives a deep link."""
    st.switch_page(HOME, query_params=dict(st.query_params))


def through_app() -> None:
    """First statement of every page.

    On a freshly started server a deep link runs the page file alone, by Streamlit's old discovery of ``pages/``,
    until somebody calls ``st.navigation``: no theme, no translation, file names in the sidebar. This call ends the
    old discovery and runs app.py on the page that was asked for.
    """
    if not state.app_ran.get():
        settings()
        st.navigation(pages(), position="hidden")
        st.rerun()


def run() -> None:
    """Draw the frame and run the page that was asked for."""
    state.app_ran.set(True)
    keep_language()
    page = st.navigation(pages(), expanded=True)
    st.logo(str(ASSETS / f"logo-{'dark' if theme.is_dark() else 'light'}.svg"), size="medium")
    with st.sidebar, st.container(gap="xsmall"):
        with boundary(show_failure):
            _machine()
        choose_language()
    with boundary(show_failure):
        page.run()


def _machine() -> None:
    """The state of the machine, never a click away."""
    tier = cache.isolation()
    words = {"A": _("full"), "B": _("without namespaces"), "C": _("reduced")}
    colour = theme.TIER_COLOURS[tier.tier]
    st.space("xsmall")
    st.caption(_("This machine"))
    st.markdown(
        f":small[:{colour}[:material/shield:] {_('Isolation')} **{words[tier.tier]}**]",
        help=isolation_sentence(),
    )
    if service.find():
        st.markdown(f":small[:green[:material/sensors:] {_('Service')} **{_('up')}** · \\:{service.port()}]")
    else:
        st.markdown(f":small[:gray[:material/sensors: {_('Service')} {_('down')}]]")


def isolation_sentence() -> str:
    """What the isolation tier in force means, for a tooltip."""
    tier = cache.isolation()
    meaning = {
        "A": _("An author's code runs in namespaces of its own, without files, network or other processes."),
        "B": _("An author's code runs behind a system call filter, but not in namespaces of its own."),
        "C": _("Reduced isolation: only resource limits hold. Run only your own code."),
    }[tier.tier]
    return " ".join([
        _("Tier {tier}: {meaning}", tier=tier.tier, meaning=meaning),
        _("In force: {layers}.", layers=", ".join(tier.layers) or "—"),
        *map(say, tier.lacks),
    ])  # fmt: skip


def page_head(title: str, told: str, actions: Callable[[], None] | None = None) -> None:
    """One H1 and one sentence; the page's actions stand at the right of the same row, the primary one last."""
    left, right = st.columns([1.05, 1], vertical_alignment="bottom", gap="small")
    with left.container(gap=None):
        st.title(title, anchor=False)
        st.caption(told)
    if actions:
        with right.container(horizontal=True, horizontal_alignment="right", vertical_alignment="bottom", gap="xsmall"):
            actions()


def panel_head(title: str, small: str = "", right: Callable[[], None] | None = None) -> None:
    """A panel's name with its small print; what acts on the panel stands at the right."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", gap="xsmall"):
        st.markdown(f"**{title}**" + (f"  :small[:gray[{small}]]" if small else ""), width="content")
        if right:
            with st.container(
                horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="xsmall",
                width="content",
            ):  # fmt: skip
                right()


def show_failure(error: RewardConsoleError, *, title: str | None = None) -> None:
    """One sentence in a red block: what happened, where, what to do."""
    place = f"{theme.plain(say(error.place))}: " if error.place else ""
    remedy = f"  \n{theme.plain(say(error.remedy))}" if error.remedy else ""
    st.error(f"{place}{theme.plain(say(error.message))}{remedy}", title=title, icon=":material/error:")


def show_result_error(result: MixResult) -> None:
    """Say what went wrong in a result, a sentence for each rule that failed."""
    nothing = all(reward is None for reward in result.rewards)
    title = _("Nothing was scored") if nothing else _("Not everything was scored")
    st.error(plain_sentences(result), title=title, icon=":material/error:")


def plain_sentences(result: MixResult) -> str:
    """The error of each rule that failed, a line each."""
    lines = []
    for rule in result.rules:
        if rule.error:
            name = f"{rule.name}: " if len(result.rules) > 1 else ""
            lines.append(theme.plain(f"{name}{say(rule.error)}"))
    return "  \n".join(lines)
