"""The choice of how the prior of each set follows from the promise."""

from __future__ import annotations

import streamlit as st

from dpviz.coverage.design import PRIOR_RULES, PriorRule
from dpviz.parameters import readable, rounded_up
from pages.components.choices import begin_choice, end_choice, forget_problem

DEFAULT: PriorRule = "pure"


def prior_text(alpha: float) -> str:
    """A prior to four digits, or to the last pseudo-row where it has more."""
    return readable(alpha, 4 if alpha < 1e4 else 6)


def what_it_gives(found: float, sets: int) -> str:
    """The ε of all sets that an own α amounts to, in words."""
    return f"ε = {readable(rounded_up(found, 4), 4)}{'' if sets == 1 else f' for all {sets} sets'}, no δ"


def prior_rule(prefix: str) -> tuple[PriorRule, list[str]]:
    """The chosen rule, and what was wrong with the one asked for in the address."""
    key = f"{prefix}prior"
    begin_choice(key, PRIOR_RULES, DEFAULT)
    prior: PriorRule = st.radio(
        "Prior of each set",
        list(PRIOR_RULES),
        index=list(PRIOR_RULES).index(st.session_state[key]),
        format_func=lambda rule: PRIOR_RULES[rule],
        key=key,
        on_change=forget_problem,
        args=(key,),
        help="ε/M for each set: the papers' rule, the least prior without δ when each set has an equal share of ε. "
        "Least for all sets together: the least prior for which the M sets keep (ε, δ), counted exactly.",
    )
    return prior, end_choice(key, prior, DEFAULT)
