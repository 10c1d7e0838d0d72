"""Subsampling: the release sees only n of N rows, drawn at random (Theorem 2.22)."""

import streamlit as st

from dpviz.limits import POPULATION, SAMPLED_ROWS_SHOWN
from dpviz.methods import CALIBRATED
from dpviz.methods.base import RowMethod
from dpviz.parameters import readable, rounded_up
from dpviz.privacy.subsampling import subsampled_epsilon, subsampled_tight
from dpviz.theorems.general import subsampled_epsilon_printed
from pages.components.cached import cached
from pages.components.words import answer, listing
from pages.minimum_priors import SPEC
from pages.minimum_priors.controls import PAGE, Asked
from pages.minimum_priors.faces import HEADLINE


def show_sampling(asked: Asked) -> None:
    """What a random sample adds: as printed, the best general bound, and exactly."""
    setting = asked.setting
    population, alpha = int(PAGE.checked("population")), PAGE.checked("alpha")
    if population < setting.n:
        st.caption(f"The population must hold at least the n = {readable(setting.n)} rows of the sample.")
        return
    within = max(setting.n, setting.m) <= SAMPLED_ROWS_SHOWN and population <= POPULATION
    rate = setting.n / population
    rows = []
    for method in CALIBRATED.values():
        if not isinstance(method, RowMethod) or method.effective is not method:
            continue
        given = cached(asked.kind.given)(method, setting, alpha)
        if given is None:
            continue
        alone = given.epsilon_at_delta
        printed, tight = subsampled_epsilon_printed(alone, rate), subsampled_tight(alone, rate)
        rows.append([f"<b>{method.label}</b>", *(readable(value, 5) for value in (alone, printed, tight))])
        exact, most = tight, " at most"
        if within:
            release = method.two_cells(setting.n, setting.m, alpha, alpha)
            exactly, most = cached(subsampled_epsilon, "Averaging over the samples …"), ""
            exact = exactly(release, population, rate * setting.delta)
            rows[-1].append(f"<b>{readable(exact, 5)}</b>")
        if method is HEADLINE:
            after = readable(rounded_up(exact, 3), 3)
            said = f"If {readable(setting.n)} of {readable(population)} rows are drawn at random before {method.label} "
            said += f"with α = {readable(alpha)} sees them, its loss changes from ε = {readable(alone, 3)} to{most} "
            said += f"ε = {after}. Theorem 2.22 promises ε = {readable(printed, 3)}."
            st.html(answer(f"ε = {readable(alone, 3)} →{most} {after}", said))
    head = ["smallest ε", "of the sample itself", "printed, Theorem 2.22", "best general bound"]
    head += ["exact"] if within else []
    listing(head, rows, "What subsampling adds")
    told = "Exact: all pairs of neighbouring populations, one row substituted."
    if not within:
        told = "The exact answer looks at all pairs of neighbouring populations. Here it is computed for n and m up to "
        told += f"{SAMPLED_ROWS_SHOWN} and N up to {POPULATION:,}."
    delta, after, share = readable(setting.delta, 3), readable(rate * setting.delta, 3), readable(rate, 4)
    st.caption(SPEC.note("Subsampling", delta=delta, after=after, rate=share, told=told))
