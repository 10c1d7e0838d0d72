"""Smallest priors for probabilistic privacy and of uneven shape, and what a random sample adds (Theorem 2.22)."""

import math

import streamlit as st

from dpviz.calibration.base import RowMethod
from dpviz.calibration.exact import minimum_prior, minimum_prior_probabilistic
from dpviz.calibration.methods import CALIBRATED_METHODS, PriorMethod
from dpviz.calibration.promise_in_words import HEADLINE
from dpviz.calibration.promise_question import PromiseQuestion
from dpviz.claims.formulas import subsampled_epsilon_printed
from dpviz.claims.thesis_in_words import sampling_in_words
from dpviz.core.limits import LARGEST_POPULATION, PROBABILISTIC_ROWS, PROBABILISTIC_ROWS_SHOWN, SAMPLED_ROWS_SHOWN
from dpviz.core.parameters import PRIOR_QUANTITY, known, readable
from dpviz.privacy.subsampling import subsampled_epsilon, subsampled_tight
from pages.components.cached import cached, elsewhere
from pages.components.words import answer, listing, note
from pages.minimum_priors import SPEC
from pages.minimum_priors.controls import PAGE

text = PRIOR_QUANTITY.text


def show_probabilistic(question: PromiseQuestion) -> None:
    """Both priors of every method, one beside the other."""
    setting = question.setting
    note(SPEC.note("Probabilistic privacy"))
    if setting.delta == 0:
        st.caption("At δ = 0 both are pure ε-differential privacy. Choose a δ above 0 to compare them.")
        return
    if max(setting.n, setting.m) > PROBABILISTIC_ROWS_SHOWN:
        shown, most = f"{PROBABILISTIC_ROWS_SHOWN:,}", f"{PROBABILISTIC_ROWS:,}"
        st.caption(SPEC.note("Probabilistic rows", shown=shown, most=most))
        return
    rows, unfound = [], ""
    for method in (one for one in CALIBRATED_METHODS.values() if one.knows(PriorMethod.failure)):
        exact, cells = cached(question.kind.need)(method, setting, setting.delta), ["not found", ""]
        try:
            strict = elsewhere(minimum_prior_probabilistic, "Searching …")(method.key, **question.of_one_set)
            more = "" if math.isinf(strict) or not known(exact) else f"{readable(strict / exact, 3)} ×"
            cells = [text(strict), more]
        except ValueError as broken:
            unfound = str(broken)
        rows.append([f"<b>{method.label}</b>", text(exact), *cells])
    head = ["smallest prior α", "(ε, δ)-DP", "probabilistic (ε, δ)", "more"]
    listing(head, rows, "Smallest priors for two kinds of δ")
    if unfound:
        st.caption(unfound)
    st.caption(SPEC.note("Probabilistic answers", promise=question.promise))


def show_uneven(question: PromiseQuestion) -> None:
    """Show the smallest α for a fixed ratio β / α, and for a fixed β."""
    prior, asked = cached(minimum_prior), question.of_one_set
    note(SPEC.note("Uneven priors"))
    ratio, beta = PAGE.checked("ratio"), PAGE.checked("beta")
    rows, barred = [], False
    for method in CALIBRATED_METHODS.values():
        even, leaning = prior(method.key, **asked), prior(method.key, **asked, ratio=ratio)
        shown = text(leaning) + (f", β = {text(ratio * leaning)}" if known(leaning) else "")
        fixed = "needs β > 1"
        if beta > method.lost:
            needed = prior(method.key, **asked, beta=beta)
            fixed, barred = text(needed), barred or math.isinf(needed)
        rows.append([f"<b>{method.label}</b>", text(even), shown, fixed])
    head = ["smallest α", "β = α", f"β = {readable(ratio, 4)} α", f"β fixed at {readable(beta, 4)}"]
    listing(head, rows, "Smallest priors of uneven shape")
    told = f"{question.promise}, one set, one row substituted, all pairs of neighbours in both directions."
    st.caption(told + (" “Impossible”: no α makes up for so small a β." if barred else ""))


def show_sampling(question: PromiseQuestion) -> None:
    """What a random sample adds: as printed, the best general bound, and exactly."""
    setting = question.setting
    population, alpha = int(PAGE.checked("population")), PAGE.checked("alpha")
    if population < setting.n:
        st.caption(f"The population must hold at least the n = {readable(setting.n)} rows of the sample.")
        return
    exactly = max(setting.n, setting.m) <= SAMPLED_ROWS_SHOWN and population <= LARGEST_POPULATION
    rate, rows = setting.n / population, []
    for method in CALIBRATED_METHODS.values():
        if not isinstance(method, RowMethod) or method.effective is not method:
            continue
        given = cached(question.kind.given)(method, setting, alpha)
        if given is None:
            continue
        alone = given.epsilon_at_delta
        printed, after = subsampled_epsilon_printed(alone, rate), subsampled_tight(alone, rate)
        cells = [readable(value, 5) for value in (alone, printed, after)]
        if exactly:
            release = method.two_cells(setting.n, setting.m, alpha, alpha)
            averaged = elsewhere(subsampled_epsilon, "Averaging over the samples …")
            after = averaged(release, population, rate * setting.delta)
            cells.append(f"<b>{readable(after, 5)}</b>")
        rows.append([f"<b>{method.label}</b>", *cells])
        if method is HEADLINE:
            drawn = f"{readable(setting.n)} of {readable(population)} rows are drawn at random"
            mark, said = sampling_in_words(alone, after, printed, "" if exactly else " at most")
            st.html(answer(mark, f"If {drawn} before {method.label} with α = {readable(alpha)} sees them, {said}"))
    head = ["smallest ε", "of the sample itself", "printed, Theorem 2.22", "best general bound"]
    listing([*head, "exact"] if exactly else head, rows, "What subsampling adds")
    told = SPEC.note("Sampled", shown=SAMPLED_ROWS_SHOWN, most=f"{LARGEST_POPULATION:,}")
    told = "Exact: all pairs of neighbouring populations, one row substituted." if exactly else told
    delta, less, share = readable(setting.delta, 3), readable(rate * setting.delta, 3), readable(rate, 4)
    st.caption(SPEC.note("Subsampling", delta=delta, after=less, rate=share, told=told))
