"""The root finder is SciPy's, step for step."""

import math

import numpy as np
import pytest
from scipy import optimize

from dpviz.core.numerics.roots import brentq

FUNCTIONS = {
    "cubic": (lambda x: (x - 0.3) ** 3, -1.0, 2.0),
    "flat": (lambda x: math.copysign(abs(x - 0.1) ** 9, x - 0.1), -5.0, 1.0),
    "steep": (lambda x: math.expm1(40 * (x - 0.7)), -3.0, 3.0),
    "jump": (lambda x: -1.0 if x < 1 / 3 else 2.0, 0.0, 1.0),
    "tiny": (lambda x: 1e-320 * (x - 0.5), 0.0, 2.0),
    "huge": (lambda x: 1e300 * (x - 0.5) ** 3, -40.0, 30.0),
    "at an end": (lambda x: x - 2.0, 2.0, 5.0),
    "at the other": (lambda x: x - 5.0, 2.0, 5.0),
    "backwards": (math.cos, 3.0, 0.0),
    "infinite": (lambda x: math.inf if x > 1 else x - 0.5, 0.0, 2.0),
}


@pytest.mark.parametrize("xtol", [1e-300, 2e-12, 1e-2])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_steps_are_those_of_scipy(name: str, xtol: float) -> None:
    function, low, high = FUNCTIONS[name]
    ours, theirs = [], []
    found = brentq(lambda x: ours.append(x) or function(x), low, high, xtol=xtol, maxiter=2000)
    true = optimize.brentq(lambda x: theirs.append(x) or function(x), low, high, xtol=xtol, maxiter=2000)
    assert (found, ours) == (true, theirs)


def test_random_polynomials_have_the_roots_that_scipy_finds() -> None:
    random, met = np.random.default_rng(5), 0
    while met < 300:
        coefficients = random.normal(size=6)
        low, high = sorted(random.uniform(-3, 3, size=2).tolist())
        if np.polyval(coefficients, low) * np.polyval(coefficients, high) < 0:
            arguments = (lambda x, c=coefficients: float(np.polyval(c, x))), low, high
            assert brentq(*arguments) == optimize.brentq(*arguments)
            met += 1


def test_what_has_no_root_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="different signs"):
        brentq(lambda x: x**2 + 1, -1.0, 1.0)
    with pytest.raises(ValueError, match="NaN at 2"):
        brentq(lambda x: x - 1 if x < 1.5 else math.nan, 0.0, 2.0)
    with pytest.raises(RuntimeError, match="3 steps"):
        brentq(lambda x: x**3 - 2, 0.0, 2.0, maxiter=3)
