"""The geometric mechanism with the analyst's best estimate, from sums of n terms for all columns together.

No ε-private mechanism has a smaller squared error under any prior, whatever numbers it releases. Ghosh, Roughgarden &
Sundararajan (2009) prove it for released counts; for numbers it follows so. The columns c of a mechanism sum to 1 and
lie in the cone c[x] ≤ e^ε c[x ± 1]. A column costs g(c) = min over y of Σ_x prior[x] c[x] (y − x)², which is concave:
the edges of the cone are enough, on which c rises or falls by e^ε at every step. With G_z[x] = e^{−ε|x − z|}, such a c
is Σ c[p] G_p over its peaks less Σ c[v] G_v over its valleys. If g(c) is at least the same sum of g(G_z), the linear
function that equals g at all G_z is nowhere above g, and its value at 1 is the cost of the geometric mechanism.

By induction: let v be the last valley, q the peak after it, and c' fall on after v: c + c[v] G_v = c' + c[q] G_q. Let y
and z be the best numbers for c and G_v. If y ≤ z, take y for c' and z for G_q. The sum of the costs changes by
−Σ_{x > v} prior[x] (c[x] − c[v] G_v[x]) ((y − x)² − (z − x)²). Relative to G_v these weights grow with x, so that the
mean of x under them is at least z, and the change is not positive. If y > z, exchange them and argue in the mirror.
"""

import math

import numpy as np

from dpviz.core.types import FloatArray


def channel(n: int, epsilon: float) -> FloatArray:
    """x plus noise with Pr(d) ∝ e^{−ε|d|}, clamped to 0 … n, as a matrix; at ε = 0 a coin that knows nothing.

    >>> channel(1, math.log(3)).round(12).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    distances = np.abs(np.arange(n + 1)[:, None] - np.arange(n + 1)[None, :])
    with np.errstate(under="ignore", over="ignore"):
        return np.exp(-epsilon * distances) * _factors(n, epsilon)[None, :]


def means_and_errors(weights: FloatArray, epsilon: float) -> tuple[FloatArray, FloatArray]:
    """Return the posterior means and the expected squared error at every x, as `bayes_estimates` does of `channel`.

    >>> estimates, errors = means_and_errors(np.array([0.5, 0.5]), math.log(3))
    >>> estimates.round(12).tolist(), errors.round(12).tolist()
    ([0.25, 0.75], [0.1875, 0.1875])
    """
    mass, first, _ = _moments(weights, epsilon)
    silent = mass <= 0
    shifts = np.where(silent, 0.0, first / np.where(silent, 1.0, mass))
    estimates: FloatArray = np.clip(np.arange(float(len(weights))) + shifts, 0, len(weights) - 1)
    return estimates, errors_of_shifts(shifts, epsilon)


def errors_of_shifts(shifts: FloatArray, epsilon: float) -> FloatArray:
    """Return the expected squared error at every x where column z is read as z + shifts[z]."""
    factors = _factors(len(shifts) - 1, epsilon)
    errors: FloatArray = (
        _moments(factors * shifts**2, epsilon)[0]
        + 2 * _moments(factors * shifts, epsilon)[1]
        + _moments(factors, epsilon)[2]
    )
    return errors


def _factors(n: int, epsilon: float) -> FloatArray:
    """Return what e^{−ε|x − z|} is multiplied by in column z: the ends hold the tails of the noise."""
    factors = np.full(n + 1, math.tanh(epsilon / 2))
    factors[[0, n]] = 1 / (1 + math.exp(-epsilon))
    return factors


def _moments(values: FloatArray, epsilon: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return Σ_z values[z] e^{−ε|z − x|} (z − x)^k at every x, for k = 0, 1, 2."""
    below, above = _one_sided(values, epsilon), _one_sided(values[::-1], epsilon)
    return below[0] + above[0][::-1] - values, above[1][::-1] - below[1], below[2] + above[2][::-1]


def _one_sided(values: FloatArray, epsilon: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return Σ_{z ≤ x} values[z] e^{−ε(x − z)} (x − z)^k at every x: each from the one before it."""
    mass = _fading(values, epsilon)
    first = _before(mass, epsilon)
    return mass, first, _before(mass + 2 * first, epsilon)


def _before(values: FloatArray, epsilon: float) -> FloatArray:
    """Return Σ_{z < x} values[z] e^{−ε(x − z)} at every x."""
    return np.concatenate([[0.0], math.exp(-epsilon) * _fading(values, epsilon)[:-1]])


def _fading(values: FloatArray, epsilon: float) -> FloatArray:
    """Return Σ_{z ≤ x} values[z] e^{−ε(x − z)} at every x, of twice as many terms after each step."""
    found, terms = values.copy(), 1
    with np.errstate(under="ignore"):
        while terms < len(values) and (factor := math.exp(-epsilon * terms)):
            found[terms:] += factor * found[:-terms]
            terms *= 2
    return found
