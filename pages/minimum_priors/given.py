"""What one prior or range gives: the privacy of every method, against the number of rows, and on average."""

from functools import partial

import numpy as np
import streamlit as st

from dpviz.calibration.methods import PARAM_MAP, PRIOR_METHODS
from dpviz.calibration.promise_in_words import kept_by, kept_together
from dpviz.calibration.promise_question import PromiseQuestion
from dpviz.calibration.releases import BY_SIZE, AverageCurves, average_and_worst, delta_by_size, stream_average_by_theta
from dpviz.charts.method_curves import average_chart, profiles_chart, sizes_chart
from dpviz.charts.style import Figure
from dpviz.claims.thesis_in_words import average_claims, average_in_words, size_claims, sizes_in_words
from dpviz.core.limits import AVERAGED_ROWS_SHOWN, LARGEST_PRIOR_ROWS
from dpviz.core.parameters import readable
from dpviz.desk.audit_tables import claim_cell
from dpviz.desk.promise_tables import given_table
from dpviz.privacy.average_case import count_release_curve
from pages.components.cached import cached, elsewhere
from pages.components.figure import show_figure
from pages.components.growing import growing_of, show_growing
from pages.components.words import answer, listing, note
from pages.minimum_priors import SPEC
from pages.minimum_priors.answer import needed_of
from pages.minimum_priors.controls import PAGE, PREFIX

SIZES = 25  # Numbers of rows at which δ is computed
THETAS = np.round(np.linspace(0.01, 0.99, 37), 12)


def show_inverse(question: PromiseQuestion) -> None:
    """Control, sentence, table and privacy profiles."""
    setting, kind, sets = question.setting, question.kind, question.sets
    level = PAGE.checked(kind.level)
    found = {key: cached(kind.given)(method, setting, level) for key, method in kind.methods.items()}
    held = question.held(level)
    said = f"With one set, this keeps {question.promise} for <b>{kept_by(found, setting)}</b>, one row substituted."
    st.html(answer(held, said + (kept_together(question, level, needed_of(question).last().exact) if sets > 1 else "")))
    listing(*given_table(question, found))
    _show("profiles", profiles_chart(question, found), f"Privacy profiles of all methods at {held}.")
    st.caption("Exact privacy profiles δ(ε) of one synthetic set, down to δ = 10⁻¹². Neighbours: one row substituted.")


def show_sizes(question: PromiseQuestion) -> None:
    """δ against m for every release of rows, with the parameter draw as the limit."""
    setting, alpha = question.setting, PAGE.checked("alpha")
    most = int(min(LARGEST_PRIOR_ROWS, max(1000, 10 * setting.m)))
    sizes = tuple(sorted({*np.rint(np.geomspace(1, most, SIZES)).astype(int).tolist(), setting.m}))
    found = cached(delta_by_size)(setting.n, alpha, alpha, setting.epsilon, sizes)
    st.html(answer(*sizes_in_words(found, setting.m, alpha, setting.epsilon)))
    listing(["chapter 5", "seen here", "verdict"], size_claims(setting.delta, found), "The theorems of chapter 5", ())
    alt = "δ of every release against the number of synthetic rows, with the parameter release as its limit."
    _show("sizes", sizes_chart(question, found), alt)
    without = "".join(f" {BY_SIZE[key].label} needs α > 1." for key in BY_SIZE if key not in found.deltas)
    st.caption(f"Exact, n = {readable(setting.n)}, α = β, one set, one row substituted.{without}")


def show_average(question: PromiseQuestion) -> None:
    """δ of every method when the other rows are random, beside the worst case."""
    n, m, epsilon = question.setting.n, question.setting.m, question.setting.epsilon
    note(SPEC.note("The average case"))
    theta, alpha = PAGE.checked("theta"), PAGE.checked("alpha")
    if not 0 < theta < 1:
        st.caption("At θ = 0 and θ = 1 nothing is random: the average case is one fixed table. Choose θ in between.")
        return
    if max(n, m) > AVERAGED_ROWS_SHOWN:
        st.caption(f"The average over the other rows is computed for n and m up to {AVERAGED_ROWS_SHOWN:,}.")
        return
    found = elsewhere(average_and_worst, "Averaging over the other rows …")(n, m, alpha, theta, epsilon)
    here = {key: pair[0] for key, pair in found.items() if pair}
    st.html(answer(*average_in_words(n, theta, epsilon, here[PARAM_MAP.key])))
    head = [f"δ at ε = {readable(epsilon, 4)}", f"average case, θ = {readable(theta, 4)}", "worst case"]
    rows = [[f"<b>{PRIOR_METHODS[key].label}</b>", *_deltas(pair)] for key, pair in found.items()]
    listing(head, rows, "Average-case and worst-case δ", {1, 2})
    st.caption(f"Exact. α = β = {readable(alpha)} for the methods with a prior; PARAM_MAP has none.")
    note(SPEC.note("The simulator"))
    head = ["section 6.3", "printed δ", "exact simulator δ, at this θ", "verdict"]
    rows = [[claim_cell(claim), *said] for claim, *said in average_claims(n, theta, epsilon)]
    listing(head, rows, "Section 6.3 of the thesis", {1, 2})
    growing = growing_of(  # the count at once, the methods with a prior as they are computed
        f"{PREFIX}growing_average",
        ("average case", n, m, alpha, epsilon, theta),
        AverageCurves,
        partial(stream_average_by_theta, n, m, alpha, epsilon, np.unique(np.append(THETAS, theta))),
    )
    draw = partial(_draw_average, question, theta, here)
    show_growing(growing, "Averaging along θ …", draw, key=f"{PREFIX}step_average")


def _deltas(pair: tuple[float, float | None] | None) -> tuple[str, str]:
    if pair is None:
        return "needs α > 1", ""
    return readable(pair[0], 4), "1" if pair[1] is None else readable(pair[1], 4)


def _draw_average(question: PromiseQuestion, theta: float, here: dict[str, float], found: AverageCurves) -> None:
    thetas = np.linspace(0.005, 0.995, 67)
    count = cached(count_release_curve)(question.setting.n, tuple(thetas.tolist()), question.setting.epsilon)
    figure = average_chart(question, theta, here, found, AverageCurves(thetas, {PARAM_MAP.key: count}))
    _show("average", figure, "Average-case δ of every method against the probability of a one.")
    st.caption(SPEC.note("The average curves", count=len(THETAS)))


def _show(key: str, figure: Figure, alt: str) -> None:
    show_figure(figure, key=f"{PREFIX}{key}", alt=alt, height=430)
