"""Smallest priors for probabilistic privacy and of uneven shape, and what a random sample adds (Theorem 2.22)."""

import math
from typing import Any

import streamlit as st

from dpviz.calibration.base import RowMethod
from dpviz.calibration.exact import minimum_prior, minimum_prior_probabilistic
from dpviz.calibration.methods import CALIBRATED_METHODS, PriorMethod
from dpviz.claims.formulas import subsampled_epsilon_printed
from dpviz.core.limits import LARGEST_POPULATION, PROBABILISTIC_ROWS, PROBABILISTIC_ROWS_SHOWN, SAMPLED_ROWS_SHOWN
from dpviz.core.parameters import readable, rounded_up
from dpviz.privacy.subsampling import subsampled_epsilon, subsampled_tight
from pages.components.cached import cached, elsewhere
from pages.components.words import answer, listing, note
from pages.minimum_priors import SPEC
from pages.minimum_priors.controls import PAGE, Asked
from pages.minimum_priors.faces import HEADLINE, known, least


def show_probabilistic(asked: Asked) -> None:
    """Both priors of every method, one beside the other."""
    setting, promise = asked.setting, _promise(asked)
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
        exact = cached(asked.kind.need)(method, setting, setting.delta)
        try:
            strict = elsewhere(minimum_prior_probabilistic, "Searching …")(method.key, **promise)
        except ValueError as broken:
            rows.append([f"<b>{method.label}</b>", least(exact), "not found", ""])
            unfound = str(broken)
            continue
        more = "" if math.isinf(strict) or exact < 1e-290 else f"{readable(strict / exact, 3)} ×"
        rows.append([f"<b>{method.label}</b>", least(exact), least(strict), more])
    head = ["smallest prior α", "(ε, δ)-DP", "probabilistic (ε, δ)", "more"]
    listing(head, rows, "Smallest priors for two kinds of δ")
    if unfound:
        st.caption(unfound)
    st.caption(SPEC.note("Probabilistic answers", promise=asked.promise))


def show_uneven(asked: Asked) -> None:
    """Show the smallest α for a fixed ratio β / α, and for a fixed β."""
    prior, promise = cached(minimum_prior), _promise(asked)
    note(SPEC.note("Uneven priors"))
    ratio, beta = PAGE.checked("ratio"), PAGE.checked("beta")
    rows, barred = [], set()
    for method in CALIBRATED_METHODS.values():
        even = cached(asked.kind.need)(method, asked.setting, asked.setting.delta)
        leaning = prior(method.key, **promise, ratio=ratio)
        missing = beta <= method.lost
        fixed = math.inf if missing else prior(method.key, **promise, beta=beta)
        both = f"{least(leaning)}, β = {least(ratio * leaning)}" if known(leaning) else least(leaning)
        barred |= {"mode"} if missing else {"small"} if math.isinf(fixed) else set()
        rows.append([f"<b>{method.label}</b>", least(even), both, "needs β > 1" if missing else least(fixed)])
    head = ["smallest α", "β = α", f"β = {readable(ratio, 4)} α", f"β fixed at {readable(beta, 4)}"]
    listing(head, rows, "Smallest priors of uneven shape")
    st.caption(
        f"{asked.promise}, one set, one row substituted, all pairs of neighbours in both directions."
        + (" “Impossible”: no α makes up for so small a β." if "small" in barred else "")
    )


def _promise(asked: Asked) -> dict[str, Any]:
    return {name: getattr(asked.setting, name) for name in ("n", "m", "epsilon", "delta")}


def sampling_sentence(alone: float, after: float, printed: float, most: str = "") -> tuple[str, str]:
    """The mark, and what a random sample does to a loss; every loss is rounded up, and to as many digits as differ.

    >>> sampling_sentence(1.6647, 1.6647, 4.28)
    ('ε = 1.67', 'its loss stays at ε = 1.67. Theorem 2.22 promises ε = 4.28.')
    >>> sampling_sentence(1.6647, 1.6601, 4.28)[1]
    'its loss changes from ε = 1.665 to ε = 1.661. Theorem 2.22 promises ε = 4.28.'
    """
    promised = f"Theorem 2.22 promises ε = {readable(rounded_up(printed, 3), 3)}."
    texts = ([readable(rounded_up(one, digits), digits) for one in (alone, after)] for digits in range(3, 10))
    before, now = next((pair for pair in texts if pair[0] != pair[1]), (readable(rounded_up(alone, 3), 3), ""))
    if not now:
        return f"ε = {before}", f"its loss stays at ε = {before}. {promised}"
    return f"ε = {before} →{most} {now}", f"its loss changes from ε = {before} to{most} ε = {now}. {promised}"


def show_sampling(asked: Asked) -> None:
    """What a random sample adds: as printed, the best general bound, and exactly."""
    setting = asked.setting
    population, alpha = int(PAGE.checked("population")), PAGE.checked("alpha")
    if population < setting.n:
        st.caption(f"The population must hold at least the n = {readable(setting.n)} rows of the sample.")
        return
    within = max(setting.n, setting.m) <= SAMPLED_ROWS_SHOWN and population <= LARGEST_POPULATION
    rate = setting.n / population
    rows = []
    for method in CALIBRATED_METHODS.values():
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
            exactly, most = elsewhere(subsampled_epsilon, "Averaging over the samples …"), ""
            exact = exactly(release, population, rate * setting.delta)
            rows[-1].append(f"<b>{readable(exact, 5)}</b>")
        if method is HEADLINE:
            drawn = f"{readable(setting.n)} of {readable(population)} rows are drawn at random"
            mark, said = sampling_sentence(alone, exact, printed, most)
            st.html(answer(mark, f"If {drawn} before {method.label} with α = {readable(alpha)} sees them, {said}"))
    head = ["smallest ε", "of the sample itself", "printed, Theorem 2.22", "best general bound"]
    head += ["exact"] if within else []
    listing(head, rows, "What subsampling adds")
    told = "Exact: all pairs of neighbouring populations, one row substituted."
    if not within:
        told = "The exact answer looks at all pairs of neighbouring populations. Here it is computed for n and m up to "
        told += f"{SAMPLED_ROWS_SHOWN} and N up to {LARGEST_POPULATION:,}."
    delta, after, share = readable(setting.delta, 3), readable(rate * setting.delta, 3), readable(rate, 4)
    st.caption(SPEC.note("Subsampling", delta=delta, after=after, rate=share, told=told))
