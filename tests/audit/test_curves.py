"""Curves of the needed prior or range: each value is the exact or the printed answer at that setting."""

import dataclasses
import math
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.audit.curves import (
    AXES,
    DRAWN_THEOREMS,
    REACHES,
    Axis,
    Curves,
    _axis_points,
    prior_curves,
    stream_prior_curves,
)
from dpviz.audit.theorems import THEOREMS
from dpviz.priors import CALIBRATED, Setting, maximum_range, minimum_prior

SETTINGS = {
    "bernoulli": Setting(n=60, m=45, epsilon=0.9, delta=1e-4),
    "categorical": Setting(n=30, m=20, epsilon=0.9, delta=1e-4, cells=4),
    "gaussian": Setting(n=60, m=45, epsilon=0.9, delta=1e-4, sigma=2.0, sigma0=3.0),
}
KEYS = list(product(SETTINGS, AXES))
every_curves = pytest.mark.parametrize("key", KEYS, ids=" ".join)
CLOSE = 1e-9
"""Relative distance of an answer that starts from a guess from one that does not; both are solved to 1e-13."""


@cache
def curves_of(family: str, axis: Axis) -> Curves:
    return prior_curves(family, SETTINGS[family], axis)


def moved(setting: Setting, axis: str, point: float) -> Setting:
    return dataclasses.replace(setting, **{axis: point})


def exact_answer(family: str, setting: Setting, method: str, delta: float) -> float:
    """The answer at a setting, started from nothing."""
    promise: dict[str, Any] = {"n": setting.n, "m": setting.m, "epsilon": setting.epsilon, "delta": delta}
    if family == "gaussian":
        return maximum_range(method, sigma=setting.sigma, sigma0=setting.sigma0, **promise)
    return minimum_prior(method, cells=setting.cells if family == "categorical" else 2, **promise)


@every_curves
def test_every_exact_value_is_the_answer_at_that_setting(key: tuple[str, Axis]) -> None:
    family, axis = key
    curves = curves_of(*key)
    chosen = int(np.flatnonzero(curves.points == curves.chosen)[0])
    exact = [line for line in curves.lines if line.kind != "printed"]
    assert [(line.kind, line.method) for line in exact] == list(product(("exact", "pure"), CALIBRATED))
    for line in exact:
        for place in {0, 8, chosen, 17, len(curves.points) - 1}:
            setting = moved(curves.setting, axis, float(curves.points[place]))
            expected = exact_answer(family, setting, line.method, 0.0 if line.kind == "pure" else setting.delta)
            if math.isfinite(expected):
                assert line.values[place] == pytest.approx(expected, rel=CLOSE), (line.method, line.kind, place)
            else:
                assert math.isnan(line.values[place])


@every_curves
def test_every_printed_value_is_the_formula_of_that_theorem(key: tuple[str, Axis]) -> None:
    _, axis = key
    curves = curves_of(*key)
    printed = [line for line in curves.lines if line.kind == "printed"]
    assert printed
    for line in printed:
        for point, value in zip(curves.points, line.values, strict=True):
            setting = moved(curves.setting, axis, float(point))
            theorem = THEOREMS[line.theorem.split()[1]]
            assert theorem.name == line.theorem
            if theorem.condition_holds(**setting.arguments()):
                expected = theorem.value(**setting.arguments())
                assert value == (pytest.approx(expected, rel=1e-15) if math.isfinite(expected) else math.isnan(value))
            else:
                assert math.isnan(value)


def test_the_printed_theorems_on_any_number_of_rows_have_a_curve_each() -> None:
    drawn = {(family, line.theorem) for family, axis in KEYS for line in curves_of(family, axis).lines if line.theorem}
    expected = set(DRAWN_THEOREMS)
    assert {name.split()[1] for _, name in drawn} == expected
    assert len(drawn) == len(expected) == 11


@pytest.mark.parametrize("family", SETTINGS)
@pytest.mark.parametrize("axis", AXES)
def test_without_delta_there_are_exact_curves_against_delta_alone(family: str, axis: str) -> None:
    curves = prior_curves(family, dataclasses.replace(SETTINGS[family], delta=0.0), axis)
    kinds = {line.kind for line in curves.lines}
    assert ("exact" in kinds) == (axis == "delta")
    assert "pure" in kinds
    assert (curves.chosen in curves.points) == (axis != "delta")


def test_m_moves_with_n_where_they_are_linked() -> None:
    setting = dataclasses.replace(SETTINGS["bernoulli"], m=60)
    linked = prior_curves("bernoulli", setting, "n", m_is_n=True)
    alone = prior_curves("bernoulli", setting, "n", m_is_n=False)
    assert np.array_equal(linked.points, alone.points)
    for curves, rows in ((linked, linked.points), (alone, np.full(len(alone.points), 60.0))):
        many = next(line for line in curves.lines if (line.method, line.kind) == ("synth_post_many", "pure"))
        assert many.values == pytest.approx(1 / np.expm1(setting.epsilon / rows), rel=1e-12)
        exact = next(line for line in curves.lines if (line.method, line.kind) == ("synth_post_one", "exact"))
        for place in (0, 12, -1):
            n, m = int(curves.points[place]), int(rows[place])
            assert exact.values[place] == pytest.approx(
                minimum_prior("synth_post_one", n=n, m=m, epsilon=setting.epsilon, delta=setting.delta), rel=CLOSE
            )
    by_m = prior_curves("bernoulli", setting, "m", m_is_n=True)
    for first, second in zip(by_m.lines, prior_curves("bernoulli", setting, "m").lines, strict=True):
        np.testing.assert_allclose(first.values, second.values, rtol=1e-12)


DOMAINS = {
    "epsilon": st.floats(*REACHES["epsilon"][:2]),
    "delta": st.one_of(st.floats(1e-300, 0.999), st.floats(-300, -0.01).map(lambda x: 10**x)),
    "m": st.integers(1, 100_000),
    "n": st.integers(1, 100_000),
}


@pytest.mark.parametrize("axis", AXES)
@settings(deadline=None, derandomize=True, max_examples=60)
@given(data=st.data())
def test_the_points_of_an_axis_hold_the_chosen_one_rise_and_stay_in_the_domain(axis: Axis, data: st.DataObject) -> None:
    chosen = float(data.draw(DOMAINS[axis]))
    points = _axis_points(dataclasses.replace(SETTINGS["bernoulli"], **{axis: chosen}), axis)
    low, high, *_ = REACHES[axis]
    assert chosen in points
    assert np.all(np.diff(points) > 0)
    assert low * (1 - 1e-12) <= points[0] <= chosen <= points[-1] <= max(high * (1 + 1e-12), chosen)
    assert len(points) >= 8
    if axis in ("m", "n"):
        assert np.array_equal(points, np.rint(points))


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("family", ["bernoulli", "categorical", "gaussian"])
def test_curves_come_coarse_first_and_end_as_the_whole(family: str, axis: Axis) -> None:
    setting = Setting(n=80, m=50, epsilon=0.4, delta=1e-5, sigma0=2.0)
    *coarse, last = stream_prior_curves(family, setting, axis)
    whole = prior_curves(family, setting, axis)
    assert np.array_equal(last.points, whole.points)
    counts = [len(curves.points) for curves in (*coarse, last)]
    assert counts == sorted(set(counts))
    assert len(counts) == 1 if family == "bernoulli" else counts[0] <= 9 and len(counts) == 2
    for curves in (*coarse, last):
        assert curves.chosen in curves.points
        assert {curves.points[0], curves.points[-1]} == {whole.points[0], whole.points[-1]}
        places = np.searchsorted(whole.points, curves.points)
        for some, every in zip(curves.lines, whole.lines, strict=True):
            assert (some.method, some.kind, some.theorem) == (every.method, every.kind, every.theorem)
            np.testing.assert_allclose(some.values, every.values[places], rtol=1e-12)
