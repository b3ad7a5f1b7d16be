"""Rollouts: score stored completions before a GPU is rented, read what the rewards say, attack them, compare them."""

from functools import partial

import streamlit as st

from components import shell, state
from components.address import forget_options, shared_tabs
from components.i18n import _
from components.rollouts import progress
from components.rollouts.attacks import attacks_tab, count_leaking, find_attack, leaks_told, read_attack
from components.rollouts.cases import cases_tab
from components.rollouts.comparison import comparison_tab
from components.rollouts.completions import completions_tab
from components.rollouts.groups import groups_tab
from components.rollouts.overview import overview
from components.rollouts.result_head import result_actions, result_head
from components.rollouts.results import open_result
from components.rollouts.scorers import choose_scorer
from components.rollouts.setup import VIEW, setup
from components.rollouts.tabs import TABS, tab_names
from components.rollouts.verdict import figures, verdict
from components.rollouts.what_if import what_if_tab
from rewards_lib.errors import boundary

shell.through_app()
job = progress.open_job()
shell.page_head(
    _("Rollouts"),
    _("Score stored completions before a GPU is rented: is this reward any good?"),
    partial(result_actions, job) if job is not None and job.state == "done" else None,
)
if job is None and st.query_params.get(progress.JOB):
    st.info(_("The result that the address names is gone."))

forget_options(TABS if job is None else VIEW)
if job is None:
    setup()
elif job.state == "running":
    progress.watch(job.id)
elif job.state != "done":
    progress.ended_early(job)
else:
    with boundary(shell.show_failure):
        opened = open_result(job, state.widget("right_from"))
        result_head(opened)
        attack = find_attack(opened)
        found = read_attack(attack)
        verdict(opened, count_leaking(found))
        figures(opened, leaks_told(found))
        tabs = shared_tabs(TABS, tab_names())
        draw = {
            "overview": lambda: overview(opened),
            "groups": lambda: groups_tab(opened),
            "completions": lambda: completions_tab(opened),
            "attacks": lambda: attacks_tab(opened, attack, found),
            "what_if": lambda: what_if_tab(opened),
            "compare": lambda: comparison_tab(opened),
            "cases": lambda: cases_tab(choose_scorer(key="cases")),
        }
        for name, tab in tabs.items():
            if tab.open:  # only what is looked at is computed
                with tab:
                    draw[name]()
