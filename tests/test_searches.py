"""Searches in steps find what a dense grid, SciPy and plain halving find, with few values."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from dpviz.desk.searches import crossing_in_steps, smallest_in_steps
from dpviz.desk.steps import Steps, finished

CLOSED = 2e-4
CURVES: dict[str, tuple[Callable[[float], float], int]] = {
    "parabola": (lambda x: (x - 0.3) ** 2 + 1, 5),
    "a sum": (lambda x: math.exp(x) + 0.1 * math.exp(-x), 6),
    "rises": (math.exp, 8),
    "falls": (lambda x: math.exp(-x), 8),
    "flat": (lambda x: 1.0, 8),
    "a kink": (lambda x: max(2 * (x - 0.3), -0.1 * (x - 0.3)) + 1, 19),
    "a fourth power": (lambda x: (x - 0.3) ** 4 + 1, 19),
    "unknown on one side": (lambda x: math.inf if x < 0.31 else x, 18),
    "unknown": (lambda x: math.inf, 9),
}


class Counted:
    """A curve that counts how often it is asked."""

    def __init__(self, curve: Callable[[float], float]) -> None:
        self.curve, self.asked = curve, 0

    def __call__(self, place: float) -> Steps[float]:
        self.asked += 1
        yield
        return self.curve(place)


@pytest.mark.parametrize("name", CURVES)
def test_the_smallest_value_is_that_of_a_dense_grid(name: str) -> None:
    curve, most = CURVES[name]
    places = np.linspace(-4.0, 2.0, 16).tolist()
    counted = Counted(curve)
    found = finished(smallest_in_steps(counted, [(place, curve(place)) for place in places], closed=CLOSED))
    assert counted.asked <= most
    grid = np.linspace(-4.0, 2.0, 60_001)
    values = [curve(place) for place in grid]
    if math.isfinite(min(values)):
        assert min(abs(grid[np.flatnonzero(values == np.min(values))] - found)) <= CLOSED
    if name in ("parabola", "a sum"):
        wanted = minimize_scalar(curve, bounds=(-4, 2), method="bounded", options={"xatol": 1e-9})
        assert curve(found) - wanted.fun < 1e-8


def test_the_search_ends_where_a_value_is_enough_or_cannot_be() -> None:
    for bottom, asked in ((0.5, 1), (1.5, 2)):
        counted = Counted(lambda x, bottom=bottom: (x - 0.3) ** 2 + bottom)  # type: ignore[misc]
        known = [(place, counted.curve(place)) for place in (-4.0, -1.0, 2.0)]
        assert finished(smallest_in_steps(counted, known, closed=CLOSED, enough=1.0)) == pytest.approx(0.3)
        assert counted.asked == asked
    counted = Counted(math.exp)
    known = [(place, math.exp(place)) for place in (0.1, 1.0, 2.0)]
    assert finished(smallest_in_steps(counted, known, closed=CLOSED, enough=1.0)) < 0.1 + 1e-12


@pytest.mark.parametrize(
    ("lost", "most"),
    [
        (lambda setting: 1.7 / setting, 3),
        (lambda setting: 60 * (1.93 - setting), 5),
        (lambda setting: math.inf if setting < 1.013 else -4.0, 7),
        (lambda setting: 1e6 * math.exp(-20 * (setting - 1)), 3),
        (lambda setting: 1.0001 - (setting > 1.99), 10),
    ],
)
@pytest.mark.parametrize("halvings", [7, 11])
def test_a_line_finds_the_setting_that_halving_finds(lost: Callable[[float], float], most: int, halvings: int) -> None:
    counted, low, high = Counted(lost), 1.0, 2.0
    found = finished(crossing_in_steps(counted, (low, lost(low)), (high, lost(high)), halvings))
    for _ in range(halvings):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if lost(middle) > 1 else (low, middle)
    assert found == pytest.approx(high, rel=1e-14)
    assert counted.asked <= most + 2 * (halvings - 7)
