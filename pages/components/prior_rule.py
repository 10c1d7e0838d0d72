"""The choice of how the prior of each set follows from the promise."""

from __future__ import annotations

import dataclasses
from typing import cast

import streamlit as st

from dpviz.coverage.design import PRIOR_RULES, PriorRule
from dpviz.inference.combining_rules import SETS
from dpviz.parameters import readable, rounded_up
from pages.components.address import keep_choice
from pages.components.choices import choice

DEFAULT: PriorRule = "pure"

SHARED_SETS = dataclasses.replace(
    SETS,
    private_end="neither",
    help="The number of synthetic sets, drawn independently from the same confidential data. They share the promise; "
    "where you choose α, each of them costs privacy.",
)
"""M where the prior follows from a promise for all sets together: neither end is more private."""

ROWS_OF_A_SET = (
    "The number of rows in each set. With a prior, more rows take a larger one to keep the promise; where you choose "
    "α, fewer rows are more private."
)


def prior_text(alpha: float) -> str:
    """A prior to four digits, or to the last pseudo-row where it has more."""
    return readable(alpha, 4 if alpha < 1e4 else 6)


def what_it_gives(found: float, sets: int) -> str:
    """The ε of all sets that an own α amounts to, in words."""
    return f"ε = {readable(rounded_up(found, 4), 4)}{'' if sets == 1 else f' for all {sets} sets'}, no δ"


def keep_prior_rule(prefix: str) -> str:
    """Keep the rule of a page; returns its key."""
    return keep_choice(f"{prefix}prior", PRIOR_RULES, DEFAULT)


def prior_rule(key: str) -> PriorRule:
    """The chosen rule."""
    return cast(
        PriorRule,
        choice(
            st.radio,
            "Prior of each set",
            PRIOR_RULES,
            key,
            format_func=lambda rule: PRIOR_RULES[rule],
            help="ε/M for each set: the papers' rule, the least prior without δ when each set has an equal share of ε. "
            "Least for all sets together: the least prior for which the M sets keep (ε, δ), counted exactly.",
        ),
    )
