"""The page "Minimum priors": whatever is set, it answers with the exact numbers or says in a sentence what is wrong."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom

from dpviz.calibration.sets import minimum_prior_for_sets, smallest_by_advanced
from dpviz.claims.theorems import CLAIMS
from dpviz.core.parameters import readable, rounded_down
from dpviz.priors import (
    CALIBRATED,
    METHODS,
    GaussianRelease,
    Setting,
    maximum_range,
    minimum_prior,
    minimum_prior_probabilistic,
    release,
)
from dpviz.privacy import delta_for_epsilon, epsilon_for_delta, pure_epsilon
from dpviz.privacy.composition import advanced_composition
from pages.minimum_priors.controls import FAMILIES, NUMBERS
from tests.page_cases import SECTIONS_OF
from tests.pages import (
    alpha_in,
    check_sound,
    figures,
    grown,
    html,
    marks,
    method_table,
    open_at,
    open_priors,
    problems,
    shown_prior,
    shown_range,
    table_called,
    table_rows,
    text,
)

SMALL = {"n": 40, "epsilon": 1.5, "delta": 1e-4}


def test_the_first_answer_is_the_strongest_picture() -> None:
    page = open_priors()
    check_sound(page)
    assert not problems(page)
    assert marks(page) == ["1,164 → 15.2 invented rows"]
    shown = " ".join(html(page))
    assert "<b>1,164</b> invented rows" in shown and "<b>15.2</b> are enough" in shown
    assert "α = 7.5807" in shown and "α = 581.98" in shown
    assert set(figures(page)) == {"mp_curves"}


def test_the_sections_are_those_that_make_sense() -> None:
    assert SECTIONS_OF["k categories"] == SECTIONS_OF["Gaussian"]
    assert set(SECTIONS_OF["Gaussian"]) < set(SECTIONS_OF["Bernoulli"])
    assert len(SECTIONS_OF["Bernoulli"]) == 10


@pytest.mark.parametrize("axis", ["against δ", "against ε", "against m", "against n"])
@pytest.mark.parametrize("label", FAMILIES)
def test_every_picture_holds_the_answer(label: str, axis: str) -> None:
    page = open_priors(family=label, axis=axis, **SMALL)
    check_sound(page)
    picture = figures(page)["mp_curves"]
    assert axis in picture["alt"]
    written = [trace["text"][0] for trace in picture["figure"]["data"] if "text" in trace.get("mode", "")]
    shown = method_table(page)["SYNTH_Post(One)"][1].partition("α = ")[0]
    if label == "Gaussian":
        shown = readable(rounded_down(float(shown), 3), 3)
    assert written == [f"<b>{shown}</b>"]


@pytest.mark.parametrize("label", ["Bernoulli", "Gaussian"])
def test_a_hundred_thousand_rows_are_answered(label: str) -> None:
    page = open_priors(family=label, n=100_000, axis="against n")
    check_sound(page)
    assert not problems(page)
    assert "n = m = 100,000" in text(page)


def test_a_mode_needs_a_prior_above_one() -> None:
    for alpha in (0.5, 1.0):
        page = open_priors(look="The inverse", alpha=alpha, **SMALL)
        check_sound(page)
        assert table_rows(table_called(page, "What this prior or range gives"))["SYNTH_MAP"][0] == "needs α > 1"
    page = open_priors(look="The inverse", alpha=1.0001, **SMALL)
    check_sound(page)
    assert "needs α > 1" not in text(page)
    assert "SYNTH_MAP needs α > 1" in text(open_priors(look="Parameter or rows?", alpha=1.0, **SMALL))


@pytest.mark.parametrize("reach", [1e-6, 1e6])
def test_a_range_of_any_size_is_answered(reach: float) -> None:
    page = open_priors(family="Gaussian", look="The inverse", reach=reach, **SMALL)
    check_sound(page)
    assert not problems(page)
    assert ("every method" in text(page)) == (reach == 1e-6)
    assert ("no method" in text(page)) == (reach == 1e6)


SENTENCES = [
    ({"look": "Average case", "theta": 0.0}, "nothing is random"),
    ({"look": "Average case", "theta": 1.0}, "nothing is random"),
    ({"look": "Average case", "n": 2001}, "for n and m up to 2,000"),
    ({"look": "Average case", "m_is_n": False, "m": 2001}, "for n and m up to 2,000"),
    ({"look": "Subsampling", "population": 39}, "must hold at least the n = 40 rows"),
    ({"look": "Subsampling", "n": 401, "population": 2000}, "for n and m up to 400"),
    ({"look": "Probabilistic δ", "n": 2001}, "for n and m up to 2,000"),
    ({"look": "Probabilistic δ", "delta": 0.0}, "At δ = 0 both are pure ε-differential privacy"),
]


@pytest.mark.parametrize(("state", "sentence"), SENTENCES, ids=lambda part: str(part)[:60])
def test_what_a_section_does_not_compute_it_says(state: dict[str, object], sentence: str) -> None:
    page = open_priors(**SMALL | state)
    check_sound(page)
    assert not problems(page)
    assert sentence in text(page)


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ({"mp_look": "Everything"}, "mp_look"),
        ({"mp_family": "Gaussian", "mp_look": "Average case"}, "mp_look"),
        ({"mp_axis": "against x"}, "mp_axis"),
    ],
)
def test_a_word_in_the_address_that_is_none_is_named_and_left_out(address: dict[str, str], key: str) -> None:
    page = open_priors(address)
    (sentence,) = problems(page)
    assert sentence.startswith(f"Ignored an invalid value in the link, {key} = {address[key]}: it must be one of ")
    assert set(figures(page)) == {"mp_curves"}


def test_a_section_in_the_address_is_opened() -> None:
    page = open_priors({"mp_look": "Average case", "mp_n": "40"})
    assert not problems(page)
    (section,) = [part for part in html(page) if "Section 6.3 of the thesis" in part]
    average = [claim for claim in CLAIMS.values() if claim.family == "average"]
    assert len(average) == 4
    assert all(claim.name in section and claim.condition in section for claim in average)


def test_settings_survive_another_family() -> None:
    page = open_priors(**SMALL)
    page.number_input(key="mp_p").set_value(0.3).run()
    for label in ("Gaussian", "k categories", "Bernoulli"):
        buttons: Any = next(group for group in page.get("button_group") if group.key == "mp_family")
        buttons.set_value(label).run()
        check_sound(page)
        assert page.session_state["mp_n"] == 40
    assert page.number_input(key="mp_p").value == 0.3


@pytest.mark.parametrize(
    ("n", "m", "epsilon", "delta"), [(100, 100, 1.0, 1e-5), (40, 25, 0.7, 1e-3), (7, 90, 2.3, 1e-3)]
)
def test_a_shown_number_that_is_typed_back_keeps_the_promise(n: int, m: int, epsilon: float, delta: float) -> None:
    counts = method_table(open_priors(n=n, m=m, m_is_n=False, epsilon=epsilon, delta=delta))
    sigma0 = NUMBERS["sigma0"].default
    ranges = method_table(open_priors(family="Gaussian", n=n, m=m, m_is_n=False, epsilon=epsilon, delta=delta))
    for method in CALIBRATED:
        label = METHODS[method].label
        alpha, reach = (float(alpha_in(table[label][1]).replace(",", "")) for table in (counts, ranges))
        assert delta_for_epsilon(release(method, n=n, m=m, alpha=alpha), epsilon) <= delta
        assert GaussianRelease(method=method, n=n, m=m, sigma=1.0, sigma0=sigma0).delta(reach, epsilon) <= delta


ANSWERED = [
    ("Bernoulli", Setting(n=40, m=25, epsilon=0.7, delta=1e-3)),
    ("Bernoulli", Setting(n=25, m=40, epsilon=2.0, delta=0.5)),
    ("k categories", Setting(n=40, m=25, epsilon=0.7, delta=1e-3, cells=4)),
    ("Gaussian", Setting(n=40, m=25, epsilon=0.7, delta=1e-3, sigma=2.0, sigma0=0.5)),
]


@pytest.mark.parametrize(("label", "setting"), ANSWERED, ids=str)
@pytest.mark.parametrize("with_delta", [True, False])
def test_the_numbers_shown_are_the_exact_ones(label: str, setting: Setting, with_delta: bool) -> None:
    setting = setting if with_delta else dataclasses.replace(setting, delta=0.0)
    shown = method_table(open_at(label, setting))
    sizes = {"n": setting.n, "m": setting.m, "epsilon": setting.epsilon}
    if label == "Gaussian":
        sizes |= {"sigma": setting.sigma, "sigma0": setting.sigma0}
    else:
        sizes["cells"] = setting.cells if label == "k categories" else 2
    answer = maximum_range if label == "Gaussian" else minimum_prior
    for method in CALIBRATED:
        cells = shown[METHODS[method].label]
        deltas = [0.0, setting.delta] if with_delta else [0.0]
        values = [answer(method, **sizes, delta=delta) for delta in deltas]
        shown_as = shown_range if label == "Gaussian" else shown_prior
        assert [*map(alpha_in, cells[: len(values)])] == [shown_as(value) for value in values]
        rest = cells[len(values) :]
        if label == "Gaussian":
            assert rest == [readable(float(mpmath.erfc(values[-1] / mpmath.sqrt(2))), 3)]
        elif math.isfinite(values[-1]) and values[-1] > 1e-290:
            rows = cells[len(values) - 1].partition("α = ")[0]
            assert rows == shown_prior(sizes["cells"] * values[-1] / setting.n, 3)
    assert shown["PARAM_MAP"][: len(deltas)] == ["impossible"] * len(deltas)


@pytest.mark.parametrize("method", CALIBRATED)
@pytest.mark.parametrize("p", [0.1, 0.4])
def test_what_the_prior_costs_is_counted_over_all_tables(method: str, p: float) -> None:
    n, m, epsilon, delta = 40, 25, 0.7, 1e-3
    alpha = minimum_prior(method, n=n, m=m, epsilon=epsilon, delta=delta) - (method == "synth_map")
    shown = method_table(open_priors(n=n, m=m, m_is_n=False, epsilon=epsilon, delta=delta, p=p))
    ones = np.arange(n + 1)
    weight, theta, size = binom.pmf(ones, n, p), (ones + alpha) / (n + 2 * alpha), n + 2 * alpha
    within = theta * (1 - theta)
    spread = {
        "synth_post_one": within / (size + 1) + within * size / (size + 1) / m,
        "synth_post_many": within / m,
        "synth_map": within / m,
        "param_post": within / (size + 1),
    }[method]
    mean = float(weight @ theta)
    error = math.sqrt(float(weight @ (spread + (theta - mean) ** 2)))
    cells = shown[METHODS[method].label]
    assert cells[-2:] == [f"+{readable(mean - p, 3)}", readable(error, 3)]


def one_set(method: str, epsilon: float, delta: float) -> float:
    return minimum_prior(method, n=40, m=25, epsilon=epsilon, delta=delta)


@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_several_sets_need_what_their_composition_says(delta: float) -> None:
    state = {"n": 40, "m": 25, "m_is_n": False, "epsilon": 1.5, "delta": delta, "sets": 5}
    page = grown(open_priors(look="Several sets", **state), "mp_growing_ways")
    check_sound(page)
    assert "M = 5 sets together" in text(page)
    shown = method_table(page)
    ways = table_rows(table_called(page, "The prior that the sets need, by way of counting"))
    for method in CALIBRATED:
        found = minimum_prior_for_sets(method, n=40, m=25, sets=5, epsilon=1.5, delta=delta)
        pure, split = (minimum_prior(method, n=40, m=25, epsilon=0.3, delta=share) for share in (0.0, delta / 5))
        label = METHODS[method].label
        needed = [*map(alpha_in, shown[label][: 1 + (delta > 0)])]
        assert needed == [shown_prior(pure), shown_prior(found.upper)][: 1 + (delta > 0)]
        counted = [*map(alpha_in, ways[label])]
        assert counted[:2] == [shown_prior(pure), shown_prior(split)]
        if delta > 0:
            single = partial(one_set, method)
            assert counted[2] == shown_prior(smallest_by_advanced(single, 5, 1.5, delta)[0])
            exact = float(counted[3].replace(",", ""))
            assert exact == pytest.approx(found.upper, rel=1e-4)


def test_advanced_composition_is_solved_once_for_each_method(monkeypatch: pytest.MonkeyPatch) -> None:
    solved: list[int] = []

    def noted(single: Callable[[float, float], float], sets: int, epsilon: float, delta: float) -> tuple[float, float]:
        solved.append(sets)
        return smallest_by_advanced(single, sets, epsilon, delta)

    monkeypatch.setattr("dpviz.calibration.kinds.smallest_by_advanced", noted)
    check_sound(grown(open_priors(look="Several sets", n=43, epsilon=1.37, delta=1e-3, sets=3), "mp_growing_ways"))
    assert solved.count(3) == len(CALIBRATED)


def test_several_sets_of_normal_releases_are_one_with_more_signal() -> None:
    page = open_priors(family="Gaussian", look="Several sets", sets=4, sigma=1.0, sigma0=1.0, **SMALL)
    page = grown(page, "mp_growing_ways")
    shown = table_rows(table_called(page, "The range that the sets allow, by way of counting"))
    for method in CALIBRATED:
        one = maximum_range(method, n=40, m=40, sigma0=1.0, epsilon=1.5, delta=1e-4)
        pure = maximum_range(method, n=40, m=40, sigma0=1.0, epsilon=1.5 / 4)
        ways = shown[METHODS[method].label]
        assert (ways[0], ways[3]) == (shown_range(pure), shown_range(one / 2))
        assert float(ways[2]) <= float(ways[3])


@pytest.mark.parametrize("label", ["k categories", "Gaussian"])
def test_advanced_composition_keeps_the_promise_and_asks_for_no_less_than_the_exact_answer(label: str) -> None:
    """Four sets that have ε0 and what is left of δ each compose to the promise; no other split asks for less."""
    kind, epsilon, delta, sets = FAMILIES[label], 0.5, 1e-4, 4
    of_family = {"cells": 3} if kind.quantity.larger_is_safer else {"sigma0": 1.0}
    setting = Setting(n=40, m=40, epsilon=epsilon, delta=delta, **of_family)  # type: ignore[arg-type]
    found = kind.by_advanced(METHODS["synth_post_many"], setting, sets)
    needs = []
    for share in np.linspace(0.02, 0.98, 25):
        slack = share * delta
        each = brentq(lambda e, slack=slack: advanced_composition(e, sets, slack) - epsilon, 1e-9, epsilon)
        one = dataclasses.replace(setting, epsilon=each, delta=(delta - slack) / sets)
        needs.append(kind.need(METHODS["synth_post_many"], one, one.delta))
    best = max(needs) if not kind.quantity.larger_is_safer else min(needs)
    assert found == pytest.approx(best, rel=5e-3)
    exact = (
        maximum_range("synth_post_many", n=40, m=40, sigma0=1.0, epsilon=epsilon, delta=delta, sets=sets)
        if not kind.quantity.larger_is_safer
        else minimum_prior("synth_post_many", n=40, m=40 * sets, cells=3, epsilon=epsilon, delta=delta)
    )
    assert kind.quantity.keeps(found, exact)


@pytest.mark.parametrize(
    ("state", "beyond"),
    [
        ({"n": 10_000, "sets": 20, "delta": 1e-6}, ["SYNTH_Post(Many)", "SYNTH_MAP"]),
        ({"family": "k categories", "n": 2000, "sets": 5, "delta": 1e-6}, ["SYNTH_Post(One)"]),
    ],
)
def test_sets_beyond_reach_take_no_other_answer_with_them(state: dict[str, object], beyond: list[str]) -> None:
    page = grown(open_priors(look="Several sets", **state), "mp_growing_ways")
    check_sound(page)
    assert "Beyond reach: " in text(page)
    shown = method_table(page)
    ways = table_rows(table_called(page, "The prior that the sets need, by way of counting"))
    for method in CALIBRATED:
        label = METHODS[method].label
        assert ("beyond reach" in shown[label]) == (label in beyond)
        assert (ways[label][-1] == "beyond reach") == (label in beyond)
    assert "printed claims that can be checked" in text(open_priors(look="As published", **state))


@pytest.mark.parametrize(("sets", "delta"), [(5, 1e-4), (1, 0.0)])
def test_a_release_too_large_to_audit_is_still_answered(sets: int, delta: float) -> None:
    large: dict[str, object] = {"family": "k categories", "m_is_n": False, "n": 40, "m": 60_000, "epsilon": 1.5}
    page = open_priors(**large, sets=sets, delta=delta)
    check_sound(page)
    assert not problems(page)
    assert "PARAM_Post" in method_table(page)
    (said,) = problems(open_priors(**large, sets=sets, delta=delta, look="As published", others=True))
    assert said.startswith("m (released rows) must be at most 2,000, or 20 times n, for 3 cells")


@pytest.mark.parametrize(("alpha", "kept"), [(33.0, False), (33.1, True)])
def test_the_inverse_says_what_all_sets_together_keep(alpha: float, kept: bool) -> None:
    """Five sets of SYNTH_Post(One) need 33.0777 at n = m = 100, ε = 1 and δ = 10⁻⁵; one set needs less."""
    page = open_priors(look="The inverse", n=100, epsilon=1.0, delta=1e-5, sets=5, alpha=alpha)
    check_sound(page)
    one, together = text(page).split("With all 5 sets together, counted exactly, it does so for ")
    assert "for SYNTH_Post(One)" in one or "for every method" in one
    assert together.startswith("SYNTH_Post(One)" if kept else "no method")
    shown = table_rows(table_called(page, "What this prior or range gives"))
    law = release("synth_post_one", n=100, m=100, alpha=alpha)
    assert shown["SYNTH_Post(One)"][-1] == readable(5 * pure_epsilon(law), 5)


@pytest.mark.parametrize("delta", [0.0, 1e-4])
@pytest.mark.parametrize("label", FAMILIES)
def test_the_inverse_shows_the_exact_privacy_of_a_prior_or_range(label: str, delta: float) -> None:
    page = open_priors(family=label, look="The inverse", alpha=3.5, reach=0.8, **SMALL | {"delta": delta})
    check_sound(page)
    shown = table_rows(table_called(page, "What this prior or range gives"))
    for method in CALIBRATED:
        if label == "Gaussian":
            made = GaussianRelease(method=method, n=40, m=40, sigma=1.0, sigma0=1.0)
            numbers = [made.pure_epsilon(0.8)] + ([made.epsilon(0.8, delta)] if delta else [])
            left = made.delta(0.8, 1.5)
        else:
            law = release(method, n=40, m=40, alpha=3.5, cells=3 if label == "k categories" else 2)
            numbers = [pure_epsilon(law)] + ([epsilon_for_delta(law, delta)] if delta else [])
            left = delta_for_epsilon(law, 1.5)
        words = ["unbounded" if math.isinf(value) else readable(value, 5) for value in numbers]
        assert shown[METHODS[method].label] == [*words, readable(left, 4)]


def test_the_probabilistic_prior_stands_beside_the_other() -> None:
    page = open_priors(look="Probabilistic δ", **SMALL)
    shown = table_rows(table_called(page, "Smallest priors for two kinds of δ"))
    for method in CALIBRATED:
        both = [
            answer(method, n=40, m=40, epsilon=1.5, delta=1e-4)
            for answer in (minimum_prior, minimum_prior_probabilistic)
        ]
        assert shown[METHODS[method].label][:2] == [shown_prior(value) for value in both]


def test_an_uneven_prior_is_the_answer_of_its_ratio() -> None:
    page = open_priors(look="Uneven priors", ratio=3.0, beta=30.0, **SMALL)
    shown = table_rows(table_called(page, "Smallest priors of uneven shape"))
    asked = {"n": 40, "m": 40, "epsilon": 1.5, "delta": 1e-4}
    for method in CALIBRATED:
        leaning = minimum_prior(method, **asked, ratio=3.0)
        fixed = minimum_prior(method, **asked, beta=30.0)
        expected = [f"{shown_prior(leaning)}, β = {shown_prior(3 * leaning)}", shown_prior(fixed)]
        assert shown[METHODS[method].label][1:] == expected


@pytest.mark.parametrize("label", FAMILIES)
def test_the_script_shown_is_the_one_of_these_settings(label: str) -> None:
    page = open_priors(family=label, look="Download", **SMALL)
    assert "n=40, m=40, epsilon=1.5, delta=0.0001" in page.code[-1].value
    assert f"audit('{FAMILIES[label].key}', **asked)" in page.code[-1].value
