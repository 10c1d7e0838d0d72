"""From a design of the desk to the other pages, with its numbers."""

import math

import streamlit as st

from dpviz.comparisons import DATA_KINDS
from dpviz.designs import Design
from dpviz.desk.search import Assessed
from pages import compare_synthesizers
from pages.components.links import lead_on
from pages.components.navigation import as_declared
from pages.curator import SPEC


def lead_further(one: Assessed, words: str, place: str = "") -> None:
    """Links to the pages that know a design; else to the comparison, with the numbers of the question."""
    if design := design_of(one):
        lead_on(SPEC, design, words, place, whole=True)
        return
    page = compare_synthesizers.SPEC
    if one.question.data.key not in DATA_KINDS:
        return
    with st.container(horizontal=True, key=f"{SPEC.prefix}lead_on{place}"):
        st.html(f'<span class="dpviz-lead">{words}</span>', width="content")
        st.page_link(as_declared(page), label=f"{page.title} →", query_params=comparison_of(one))


def worst_truth(one: Assessed) -> int:
    """The place of the true value tried that is nearest to where its error is largest, or of that in the middle."""
    at = one.figures["root_mean_squared_error"].at
    truths = one.question.truths
    return len(truths) // 2 if math.isnan(at) else min(range(len(truths)), key=lambda place: abs(truths[place] - at))


def design_of(one: Assessed) -> Design | None:
    """The release at the value tried nearest to where its error is largest, as other pages know it, if they do."""
    question = one.question
    data = question.data_at[worst_truth(one)]
    return one.method.design(
        data, one.setting, one.sets, epsilon=one.setting, level=question.level, seed=question.seed, rules=(one.rule,)
    )


def comparison_of(one: Assessed) -> dict[str, str]:
    """What the address of the comparison says: the same data, ε, sets and analysis, and this method beside the data."""
    question, prefix = one.question, compare_synthesizers.SPEC.prefix
    data = question.data_at[worst_truth(one)]
    numbers = data.settings() | {"epsilon": one.setting, "sets": one.sets, "level": question.level}
    numbers |= {"seed": question.seed, "repetitions": question.repetitions}
    words = {"kind": data.key, f"{data.key}_methods": f"original.{one.method.key}", "rule": one.rule}
    return {f"{prefix}{name}": str(value) for name, value in (numbers | words).items()}
