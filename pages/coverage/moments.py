"""Bias and variance in closed form beside the simulation, each with its Monte Carlo error, and how long to run."""

import math

import streamlit as st

from dpviz.core.parameters import readable
from dpviz.core.wording import number, percent
from dpviz.coverage import Measure, Performance, exact_coverage, performance_of, repetitions_needed
from dpviz.designs import Design
from dpviz.inference.moments import set_moments
from pages.components.cached import elsewhere
from pages.components.words import listing
from pages.coverage import SPEC
from pages.coverage.controls import short
from pages.coverage.exact import decomposition, exact_values, exact_variances
from pages.coverage.run import current_run

MEASURES = {
    "mean length": "mean_width",
    "inside 0 to 1": "mean_width_inside",
    "relative error of √T in %": "relative_error",
    "share without interval": "negative_variance_share",
}
"""Measures of Morris, White & Crowther that have no sum above them."""


def show_moments(design: Design) -> None:
    """The estimate, then each rule's variance, then repetitions needed."""
    run = current_run(design)
    found = None if run is None or run.tally is None else performance_of(run.tally)
    exact = set_moments(design.release, p=design.p, sets=design.sets)
    error, square = math.sqrt(exact.variance_estimate), exact.variance_estimate + exact.bias**2
    rows = [
        ["bias, E[q̄] − p", *_beside(exact.bias, found.bias if found else None)],
        ["standard error, √Var(q̄)", *_beside(error, found.empirical_error if found else None)],
        ["mean square error", *_beside(square, found.mean_square_error if found else None)],
    ]
    head = ["the estimate q̄", "closed form", "simulated", "apart, in standard errors"]
    listing(head, rows, "Bias and variance of the estimate")
    _variances(design, found)
    if found is not None:
        rows = [
            [f"<b>{short(key)}</b>", *(_measure(getattr(found.rules[key], field)) for field in MEASURES.values())]
            for key in design.rules
        ]
        listing(["simulated", *MEASURES], rows, "Simulated measures of each rule")
        st.caption(SPEC.note("measures"))
    if design.sets > 1:
        moments = {
            "v̄, the variance within": (exact.mean_within, exact.variance_within),
            "b, the variance between": (exact.mean_between, exact.variance_between),
            "T = (1 + 1/M) b − v̄": (exact.mean_total, exact.variance_total),
        }
        rows = [[name, number(mean, 5), number(math.sqrt(spread), 5)] for name, (mean, spread) in moments.items()]
        listing(["of the sets", "mean", "standard deviation"], rows, "Moments of the variances, closed form")
        if exact_variances(design):
            plain = elsewhere(exact_coverage)(
                synthesizer=design.release, p=design.p, sets=design.sets, rule="raghunathan_2003", level=design.level,
                quick=True,
            )  # fmt: skip
            st.caption(SPEC.note("negative", share=percent(plain.negative_variance_share, 4)))
    if sums := exact_values(design):
        key, one = next(iter(sums.items()))
        needed = {error: repetitions_needed(one.coverage, error) for error in (0.01, 0.005, 0.001, 0.0005)}
        rows = [
            [f"± {readable(100 * error, 3)} {'point' if error == 0.01 else 'points'} (one standard error)", f"{n:,}"]
            for error, n in needed.items()
        ]
        listing([f"coverage of {short(key)} to within", "repetitions"], rows, "Repetitions needed")
        st.caption(SPEC.note("errors"))


def _variances(design: Design, found: Performance | None) -> None:
    rows = []
    try:
        for key in exact_variances(design):
            one = decomposition(design, key)
            bias = 100 * (one.mean_variance / one.variance - 1) if one.variance > 0 else math.nan
            beside = _beside(bias, found.rules[key].relative_bias if found else None)
            rows.append([f"<b>{short(key)}</b>", number(one.mean_variance, 5), *beside])
    except ValueError as unknown:
        st.caption(f"How far each rule's variance is off: {unknown}")
        return
    if rows:
        head = ["the rule's variance T", "E[T], exact", "relative bias in %, exact", "simulated", "apart"]
        listing(head, rows, "How far each rule's variance is off")
        st.caption("Relative bias: 100 (E[T] − Var(q̄)) / Var(q̄), as in Charest's Table 2.")


def _measure(one: Measure) -> str:
    if math.isinf(one.error):
        return "–"
    error = f" ± {readable(one.error, 2)}" if math.isfinite(one.error) and math.isfinite(one.value) else ""
    return f"{number(one.value, 5)}{error}"


def _beside(exact: float, one: Measure | None) -> tuple[str, str, str]:
    """The exact number, the simulated one, and how far they are apart in standard errors."""
    if one is None:
        return number(exact, 5), "not yet", ""
    known = math.isfinite(one.error) and one.error > 0 and math.isfinite(exact)
    return number(exact, 5), _measure(one), readable(round((one.value - exact) / one.error, 2), 3) if known else ""
