"""Trajectories: which tokens are trained on, how one reward reaches them, and what a rollout buffer does."""

import streamlit as st

from components import shell
from components.address import shared_tabs
from components.i18n import _
from components.theme import plain, show
from components.trajectories import credit_panel, source
from components.trajectories.buffer_panel import buffer_panel
from components.trajectories.credit_chart import chart_words, credit_chart
from components.trajectories.token_view import rows_of, shifted_marks, token_view
from rewards_lib.agentic import find_traps, lay_out, split_by_words
from rewards_lib.errors import boundary

ROWS_ON_A_PAGE = 50

shell.through_app()
shell.page_head(
    _("Trajectories"), _("See which tokens are trained on, and how one reward reaches them."), source.load_menu
)
walk, buffer = shared_tabs("trajectories_tab", {"walk": _("Mask and reward"), "buffer": _("Rollout buffer")}).values()

if walk.open:
    with walk, boundary(shell.show_failure):
        loaded = source.opened()
        trajectory = source.chosen(loaded)
        talk, side = st.columns([7, 4], gap="medium")
        with talk, st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            split = source.tokenizer_choice() if trajectory.messages else split_by_words
            views = {"mask": _("tokens in the mask"), "loss": _("where their loss stands")}
            view = st.segmented_control(
                _("Underlined"), list(views), default="mask", required=True, format_func=views.__getitem__,
                key="trajectory_view", label_visibility="collapsed", persist_state="session",
                help=_("Position t predicts token t + 1, so the loss of a token stands one place to its left."),
            )  # fmt: skip
        with side, st.container(border=True, gap="xsmall", key="mask_card"):
            shell.panel_head(_("What is trained on"))
            track = lay_out(trajectory, split, trained=credit_panel.trained_parts(trajectory))
            credit_panel.trap_list(find_traps(trajectory, track))
        with side, st.container(border=True, gap="xsmall", key="credit_card"):
            shell.panel_head(_("How the reward reaches tokens"))
            assigned = credit_panel.assign(loaded, trajectory, track)
            credit_panel.numbers_table(track, assigned)
        with talk:
            marks = assigned.marks if view == "mask" else shifted_marks(assigned.marks)
            rows = rows_of(track, marks)
            pages = -(-len(rows) // ROWS_ON_A_PAGE)
            page = st.pagination(pages, key=f"trajectory_rows_{plain(trajectory.name)}") if pages > 1 else 1
            st.caption(
                _(
                    "Underlined and tinted: {what}; tinted more where more is given. Grey: read only.",
                    what=views[view or "mask"],
                )
            )
            token_view(
                rows[(page - 1) * ROWS_ON_A_PAGE : page * ROWS_ON_A_PAGE], label=views[view or "mask"], key="token_view"
            )
            shell.panel_head(_("Credit along the trajectory"), _("one bar a token"))
            show(credit_chart(track, assigned.marks), alt=chart_words(assigned.marks), key="credit_chart")

if buffer.open:
    with buffer:
        buffer_panel()
