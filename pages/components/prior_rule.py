"""Former names, until no page uses them."""

from typing import Any

import streamlit as st

from dpviz.calibration.prior_rules import PRIOR_RULES, promised_by
from dpviz.desk.promises import broken_sentence as broken_sentence
from dpviz.desk.promises import prior_text as prior_text
from dpviz.desk.promises import promise_text as promise_text
from dpviz.desk.promises import real_epsilon as real_epsilon
from dpviz.mechanisms import Synthesizer
from pages.components.address import keep_choice
from pages.components.choices import named_choice
from pages.components.controls import PageNumbers
from pages.components.mechanism import PROMISE as PROMISE
from pages.components.mechanism import ROWS_OF_A_SET as ROWS_OF_A_SET
from pages.components.mechanism import SHARED_SETS as SHARED_SETS
from pages.components.mechanism import say_real_epsilon as say_real_epsilon
from pages.components.release import TAKEN_BY as TAKEN_BY
from pages.components.release import settings_of as settings_of
from pages.components.release import taken_by as taken_by


def keep_prior_rule(prefix: str) -> str:
    """Keep the rule of a page; returns its key."""
    return keep_choice(f"{prefix}prior", PRIOR_RULES, "pure")


def promise_controls(page: PageNumbers, key: str, synthesizer_type: type[Synthesizer]) -> dict[str, Any]:
    """How the prior of each set follows, and the numbers of the promise that a synthesizer asks for."""
    prior = "pure"
    if synthesizer_type.has_prior:
        labels = {rule: one.label for rule, one in PRIOR_RULES.items()}
        words = "Split equally: the papers' rule, the smallest prior without δ when each set has an equal share of ε. "
        words += "Smallest for all sets together: the smallest prior for which the M sets keep (ε, δ), counted exactly."
        with page.at("prior"):
            prior = named_choice(st.radio, "How the agency sets its prior", labels, key, help=words)
    return {"prior": prior, **page.values(*promised_by(synthesizer_type, prior))}
