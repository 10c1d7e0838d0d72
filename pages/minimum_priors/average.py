"""Average-case privacy: the other rows are random, and protect (Zheng, section 6.3)."""

from functools import partial
from html import escape

import numpy as np
import streamlit as st

from dpviz.calibration.methods import PARAM_MAP, PRIOR_METHODS
from dpviz.calibration.releases import AverageCurves, average_and_worst, stream_average_by_theta
from dpviz.charts.lines import DrawnScale
from dpviz.claims.theorems import CLAIMS
from dpviz.core.limits import AVERAGED_ROWS_SHOWN
from dpviz.core.parameters import readable, rounded_down, rounded_up
from dpviz.desk.texts import exponents_raised
from dpviz.privacy.average_case import count_release_curve, count_simulator_deltas
from pages.components.cached import cached
from pages.components.growing import growing_of, show_growing
from pages.components.words import answer, listing, note
from pages.minimum_priors import SPEC
from pages.minimum_priors.controls import PAGE, PREFIX, Asked
from pages.minimum_priors.pictures import allowed, lowest, method_marks, show_deltas

THETAS = np.round(np.linspace(0.01, 0.99, 37), 12)


def show_average(asked: Asked) -> None:
    """δ of every method when the other rows are random, beside the worst case."""
    n, m, epsilon = asked.setting.n, asked.setting.m, asked.setting.epsilon
    note(SPEC.note("The average case"))
    theta, alpha = PAGE.checked("theta"), PAGE.checked("alpha")
    if not 0 < theta < 1:
        st.caption("At θ = 0 and θ = 1 nothing is random: the average case is one fixed table. Choose θ in between.")
        return
    if max(n, m) > AVERAGED_ROWS_SHOWN:
        st.caption(f"The average over the other rows is computed for n and m up to {AVERAGED_ROWS_SHOWN:,}.")
        return
    found = cached(average_and_worst, "Averaging over the other rows …")(n, m, alpha, theta, epsilon)
    here = {key: pair[0] for key, pair in found.items() if pair}
    delta = f"δ = {readable(here[PARAM_MAP.key], 3)}"
    where = f"θ = {readable(theta)}, n = {readable(n)} and ε = {readable(epsilon)}"
    said = f"PARAM_MAP releases the count itself. At {where}, its average-case loss is {delta}: "
    said += f"{hidden_by_the_others(n)} In the worst case its δ is 1."
    st.html(answer(delta, said))
    rows = [[f"<b>{PRIOR_METHODS[key].label}</b>", *_deltas(pair)] for key, pair in found.items()]
    head = [f"δ at ε = {readable(epsilon, 4)}", f"average case, θ = {readable(theta, 4)}", "worst case"]
    listing(head, rows, "Average-case and worst-case δ", frozenset({1, 2}))
    st.caption(f"Exact. α = β = {readable(alpha)} for the methods with a prior; PARAM_MAP has none.")
    _printed(asked, theta)
    growing = growing_of(  # the count at once, the methods with a prior as they are computed
        f"{PREFIX}growing_average",
        ("average case", n, m, alpha, epsilon, theta),
        AverageCurves,
        partial(stream_average_by_theta, n, m, alpha, epsilon, np.unique(np.append(THETAS, theta))),
    )
    show_growing(growing, "Averaging along θ …", partial(_draw, asked, theta, here), key=f"{PREFIX}step_average")


def hidden_by_the_others(n: int) -> str:
    """What the n − 1 random rows do for the last one when their count is released."""
    if n == 1:
        return "there is no other row, so that the count shows the only one."
    return "the other rows are random, and so the count partly hides one row among them."


def _draw(asked: Asked, theta: float, here: dict[str, float], found: AverageCurves) -> None:
    thetas = np.linspace(0.005, 0.995, 67)
    count = cached(count_release_curve)(asked.setting.n, tuple(thetas.tolist()), asked.setting.epsilon)
    curves = {PARAM_MAP.key: (thetas, count), **{key: (found.thetas, y) for key, y in found.deltas.items()}}
    show_deltas(
        asked,
        "average",
        curves,
        DrawnScale(title="θ, the probability of a one", low=0.0, high=1.0),
        lowest(curves, 1e-300),
        method_marks(theta, here, **{PARAM_MAP.key: readable(here[PARAM_MAP.key], 3)}),
        allowed(asked.setting.delta),
        "Average-case δ of every method against the probability of a one.",
    )
    st.caption(SPEC.note("The average curves", count=len(THETAS)))


def _deltas(pair: tuple[float, float | None] | None) -> tuple[str, str]:
    if pair is None:
        return "needs α > 1", ""
    return readable(pair[0], 4), "1" if pair[1] is None else readable(pair[1], 4)


def _printed(asked: Asked, theta: float) -> None:
    """What section 6.3 prints, and what is true at these parameters."""
    n, epsilon = asked.setting.n, asked.setting.epsilon
    note(SPEC.note("The simulator"))
    printed = CLAIMS["6.17"].at(n=n, theta_real=theta, epsilon=epsilon)
    lower, upper = cached(count_simulator_deltas)(n, theta, epsilon)
    least = readable(rounded_down(lower, 4), 4)
    judged = {
        "6.17": [
            f"δ = {readable(printed, 4)}",
            f"{least} to {readable(rounded_up(upper, 4), 4)}",
            _slack(printed, lower, upper),
        ],
        "6.18": ["impossible", "impossible", "✓ true, at every θ: n ones cannot come from data with a zero"],
        "6.19": [
            f"of the order {readable(CLAIMS['6.19'].at(n=n, epsilon=epsilon), 3)}",
            f"{least} or more",
            "– says nothing: 1 − e<sup>2ε</sup> is negative for every ε &gt; 0, and no δ is negative; at a fixed θ "
            "between 0 and 1 the exact δ falls exponentially in n",
        ],
        "6.20": ["impossible", "impossible", "✓ true: the ratio of densities has no bound near 0 and 1"],
    }
    rows = []
    for key, said in judged.items():
        claim = CLAIMS[key]
        words = f"{exponents_raised(escape(claim.statement))}; {escape(claim.condition)}"
        rows.append([f"<b>{claim.name}</b><br><small>{words}</small>", *said])
    head = ["section 6.3", "printed δ", "exact simulator δ, at this θ", "verdict"]
    listing(head, rows, "Section 6.3 of the thesis", frozenset({1, 2}))


def _slack(printed: float, least: float, midpoint: float) -> str:
    """The verdict on Proposition 6.17, from its δ and two bounds of the true one."""
    if printed < least:
        times = readable(rounded_down(least / printed, 3), 3) if printed > 0 else ""
        short = f"at least {times} times too small" if times else "it asks for none"
        return f"✗ unsafe, {short}: a slack of 2δ for each single count adds up over a set of counts"
    if printed >= midpoint:
        return "✓ safe at this θ, though its proof needs the condition for sets of counts, not for single ones"
    return "? between the two ends: neither refuted nor proved at this θ"
