"""Zheng's (2015) definitions, general theorems and lemmas, each held against numbers at the user's settings."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, ndtr, ndtri

from dpviz.audits.audit import Verdict
from dpviz.audits.proof_parts import composed_pure_delta
from dpviz.checked import checked
from dpviz.limits import PRIOR_ROWS
from dpviz.methods import METHODS
from dpviz.parameters import readable, rounded_up
from dpviz.priors.releases import release
from dpviz.priors.setting import Setting
from dpviz.privacy.average_case import count_release_delta
from dpviz.privacy.average_claims import midpoint_simulator_delta
from dpviz.privacy.gaussian import gaussian_delta, gaussian_ratio
from dpviz.privacy.hockey_stick import delta_for_epsilon
from dpviz.theorems import CLAIMS, Claim

MANY = 100
"""Releases that Theorem 2.18 is held against."""

MOST_ROWS = 2_000
"""Rows up to which the average over random rows is taken."""


MOST_TABLES = 300
"""Tables with few ones that Lemma 6.6 is held against: the fewer, the further θ strays in proportion to its mean."""

MOST_RELEASED = 4**9
"""Synthetic rows up to which a broken promise is sought."""


@dataclass(frozen=True)
class Statement:
    """A general claim and what a computation says of it.

    Parameters
    ----------
    bound
        The claim.
    verdict
        ``holds``, ``safe``, ``exact``, ``false``, or ``not asked here``.
    sentence
        What was computed.
    left, right
        The two numbers that were compared, the first at most the second where the claim holds; NaN where none were.
    """

    bound: Claim
    verdict: Verdict
    sentence: str
    left: float = math.nan
    right: float = math.nan


Found = tuple[Verdict, str, float, float]
Judge = Callable[[Setting], Found]


@checked()
def audit_statements(setting: Setting) -> tuple[Statement, ...]:
    """Every definition, general theorem and lemma of the thesis, in its order, judged at a setting.

    Examples
    --------
    >>> found = audit_statements(Setting(n=100, m=100, epsilon=1.0, delta=1e-5))
    >>> [one.bound.number for one in found if one.verdict == "false"]
    []
    """
    return tuple(Statement(bound, *JUDGES[key](setting)) for key, bound in CLAIMS.items() if key in JUDGES)


def _compared(left: float, right: float, sentence: str, good: Verdict = "holds") -> Found:
    """Whether left ≤ right, up to rounding; `sentence` has a place for each."""
    kept = left <= right * (1 + 1e-9) + 1e-300
    bad: Verdict = "unsafe" if good in ("safe", "exact") else "false"
    return (good if kept else bad), sentence.format(readable(left, 4), readable(right, 4)), left, right


def _unasked(why: str, verdict: Verdict = "not asked here") -> Found:
    return verdict, why, math.nan, math.nan


def _noise(setting: Setting) -> tuple[float, float]:
    """A Gaussian mechanism: its ratio, with the promised δ or else 1, and how often its loss exceeds ε."""
    ratio = gaussian_ratio(setting.epsilon, setting.delta) if setting.delta > 0 else 1.0
    return ratio, float(ndtr(ratio / 2 - setting.epsilon / ratio))


def _bad_output(setting: Setting) -> Found:
    ratio, beyond = _noise(setting)
    said = "Gaussian noise here has an exact δ of {}; a loss above ε has probability {}."
    return _compared(gaussian_delta(ratio, setting.epsilon), beyond, said)


def _bad_output_back(setting: Setting) -> Found:
    ratio, beyond = _noise(setting)
    said = "Gaussian noise here: the claim denies every δ up to {} at ε/2, and the exact δ is {}."
    return _compared(
        CLAIMS["2.11"].at(epsilon=setting.epsilon, delta=beyond), gaussian_delta(ratio, setting.epsilon / 2), said
    )


def _random_row(setting: Setting) -> Found:
    """Of k ones in n rows a one is released with probability k/n; all neighbours, both ways."""
    ones = np.arange(setting.n + 1) / setting.n
    growth = math.exp(min(setting.epsilon, 700.0))
    exact = max(float(np.max(ones[1:] - growth * ones[:-1])), float(np.max(ones[:-1] - growth * ones[1:])))
    return _compared(exact, CLAIMS["2.12"].at(n=setting.n), "The exact δ is {}, and 1/n is {}.")


def _not_random(setting: Setting) -> Found:
    said = "Some neighbours differ in what is released with certainty, so that δ = 1."
    return "holds", said, setting.delta, 1.0


def _simulated(setting: Setting) -> Found:
    rows = min(setting.n, MOST_ROWS)

    def delta_of(epsilon: float) -> float:
        return count_release_delta(rows, 0.5, epsilon)

    said = (
        f"The count of {readable(rows)} fair coins: at 2ε its exact δ is {{}}; a simulator's δ, times 1 + eᵋ, is {{}}."
    )
    growth = 1 + math.exp(min(setting.epsilon, 700.0))
    return _compared(delta_of(2 * setting.epsilon), midpoint_simulator_delta(delta_of, setting.epsilon) * growth, said)


def _post_processing(setting: Setting) -> Found:
    rows, parameter = (
        delta_for_epsilon(release(method, n=setting.n, m=setting.m, alpha=setting.alpha), setting.epsilon)
        for method in ("synth_post_one", "param_post")
    )
    said = f"With α = β = {readable(setting.alpha)} the rows of SYNTH_Post(One) have δ = {{}}; the parameter that they "
    return _compared(rows, parameter, said + "are drawn with has δ = {}.")


def _two(setting: Setting) -> Found:
    """Two randomized responses have no δ at 2ε, and one at anything less: no smaller sum would do."""
    epsilon = min(setting.epsilon, 100.0)
    total = CLAIMS["2.17"].at(epsilon_1=epsilon, epsilon_2=epsilon)
    at_sum, below = (composed_pure_delta(epsilon, 2, total * share) for share in (1, 0.999))
    said = (
        f"At 2ε two randomized responses have an exact δ of {{}}; a little below it is {readable(below, 3)}, not {{}}."
    )
    return _compared(at_sum, 0.0, said, "exact" if below > 0 else "safe")


def _two_failures(setting: Setting) -> Found:
    said = "Two releases that each fail with probability δ fail with {} at most once; the sum is {}."
    total = CLAIMS["2.17 delta"].at(delta_1=setting.delta, delta_2=setting.delta)
    return _compared(setting.delta * (2 - setting.delta), total, said, "safe")


def _advanced(setting: Setting) -> Found:
    slack = setting.delta or 1e-5
    total = CLAIMS["2.18"].at(k=MANY, epsilon=setting.epsilon, delta_prime=slack)
    exact = composed_pure_delta(setting.epsilon, MANY, total) if math.isfinite(total) else 0.0
    said = f"{MANY} releases have ε = {readable(total, 4)} together. There the worst have an exact δ of {{}}, not {{}}."
    return _compared(exact, slack, said, "safe")


def _advanced_failures(setting: Setting) -> Found:
    slack = setting.delta or 1e-5
    exact = -math.expm1(MANY * math.log1p(-setting.delta) + math.log1p(-slack))
    total = CLAIMS["2.18 delta"].at(k=MANY, delta=setting.delta, delta_prime=slack)
    return _compared(exact, total, f"{MANY} releases: at most {{}}; the sum is {{}}.", "safe")


def _laplace(setting: Setting) -> Found:
    said = "ln of the ratio of densities is sensitivity over scale at most: {}, as promised: {}."
    return _compared(1 / CLAIMS["2.20"].at(epsilon=setting.epsilon), setting.epsilon, said, "exact")


def _exponential(setting: Setting) -> Found:
    """Two outcomes whose utilities move by 1 in opposite ways, one of them rare: ln of the ratio nears ε."""
    rare, half = 1e-9, math.exp(-min(setting.epsilon, 300.0) / 2)
    before, after = rare * half / (rare * half + 1), rare / (rare + half)  # over e^{ε/2}
    said = "A utility that moves by its sensitivity at two outcomes, one of them rare, gives {}; promised is {}."
    return _compared(math.log(after / before), setting.epsilon, said)


def _sampled(setting: Setting) -> Found:
    if setting.m > setting.n:
        return _unasked("A sample is no larger than the data.")
    exact = math.log1p(setting.m / setting.n * math.expm1(min(setting.epsilon, 700.0)))
    said = "m of the n rows: the exact ε is {}; the theorem gives {}."
    return _compared(exact, CLAIMS["2.22"].at(**setting.arguments()), said, "safe")


def _sampled_failures(setting: Setting) -> Found:
    if setting.m > setting.n:
        return _sampled(setting)
    exact, printed = setting.m / setting.n * setting.delta, CLAIMS["2.22 delta"].at(**setting.arguments())
    said = "A release that gives the row away with probability δ: {}; the theorem says {}."
    return _compared(exact, printed, said, "exact")


def _hypothesis(setting: Setting) -> Found:
    """H(rows) ≤ H(θ), and the limit as m grows is H(θ): the infinite sequence determines θ."""
    rows, parameter = (
        delta_for_epsilon(release(method, n=setting.n, m=PRIOR_ROWS, alpha=max(setting.alpha, 1.0)), setting.epsilon)
        for method in ("synth_post_one", "param_post")
    )
    said = (
        "It is true, even with c = 1: infinitely many rows tell θ, and δ(m) rises to that of θ. "
        f"At m = {PRIOR_ROWS:,} it "
    )
    return _compared(rows, parameter, said + "is {}, and that of θ is {}.")


def _breaks(method: str) -> Judge:
    """A power of four of rows with which a table without ones and one with a single one break the promise."""

    def judge(setting: Setting) -> Found:
        alpha, m = max(setting.alpha, 2.0), 1
        shared = alpha - METHODS[method].lost
        pair = shared, shared + setting.n - 1
        while m <= MOST_RELEASED:
            found = max(METHODS[method].pair_delta(*ends, m, setting.epsilon) for ends in (pair, pair[::-1]))
            if found > setting.delta:
                said = f"With α = β = {readable(alpha)}, m = {m:,} rows have δ = {{1}}, above {{0}}."
                return _compared(setting.delta, found, said)
            m *= 4
        return _unasked(f"It is true; no m up to {MOST_RELEASED:,} was found to break this promise.")

    return judge


def _root(failure: Callable[[float], float], delta: float) -> float:
    """The prior from which on a failure stays below δ; it may start below it too, where the prior is tiny."""
    grid = np.linspace(-20.0, 30.0, 51)
    above = [place for place, power in enumerate(grid) if failure(math.exp(power)) > delta]
    if not above:
        return 0.0
    low, high = float(grid[above[-1]]), float(grid[min(above[-1] + 1, 50)])
    for _ in range(45):
        middle = (low + high) / 2
        low, high = (middle, high) if failure(math.exp(middle)) > delta else (low, middle)
    return math.exp(high)


def _near_mean(setting: Setting) -> Found:
    if setting.delta == 0 or setting.epsilon > 1:
        return _unasked("It speaks of δ > 0 and ε up to 1.")
    ones, e = np.arange(min(setting.n, MOST_TABLES) + 1), setting.epsilon

    def failure(alpha: float) -> float:
        x, y = alpha + ones, alpha + setting.n - ones
        mean = x / (x + y)
        width = e * np.minimum(mean, 1 - mean)
        return float(np.max(betainc(x, y, mean - width) + betainc(y, x, np.maximum(1 - mean - width, 0.0))))

    unit = CLAIMS["6.6"].at(**setting.arguments(constant=1.0))
    limit = CLAIMS["6.6"].limits["param_post"].high or math.nan
    said = "Here c = {} would be exact. For ε up to 1, c = {} worked wherever it was tried; δ → 0, n → ∞ needs it."
    return _compared(_root(failure, setting.delta) / unit, limit, said)


def _far_from_mean(setting: Setting) -> Found:
    if not 0 < setting.delta * setting.n < 1 or setting.epsilon > 1 or setting.n == 1:
        return _unasked("It speaks of 0 < δ < 1/n and ε up to 1; at n = 1 no c will do.")

    def failure(alpha: float) -> float:
        low, high = (math.exp(sign * setting.epsilon) * alpha / (2 * alpha + setting.n) for sign in (-1, 1))
        beyond = float(betainc(alpha + setting.n, alpha, 1 - high)) if high < 1 else 0.0
        return float(betainc(alpha, alpha + setting.n, low)) + beyond

    unit = CLAIMS["6.8"].at(**setting.arguments(constant=1.0))
    said = "c = {} worked wherever it was tried with n from 2 on and ε up to 1; here c = {} would be exact."
    return _compared(CLAIMS["6.8"].limits["param_post"].low or math.nan, _root(failure, setting.delta) / unit, said)


def _spread(setting: Setting) -> Found:
    if setting.delta == 0:
        return _unasked("It speaks of δ > 0.")
    if setting.n == 1:
        return _unasked("At n = 1 the range is a single point, since ln 1 = 0. From n = 2 on it holds.", "false")

    def constant(n: int) -> float:
        return -float(ndtri(-math.expm1(math.log1p(-setting.delta) / n) / 2)) / math.sqrt(math.log(n))

    said = (
        "Here c_δ = {} would be exact; the largest over n from 2 to 100,000 is {}. At n = 1, where ln n = 0, it fails."
    )
    largest = max(
        constant(n) for n in (*range(2, 60), *(int(10**power) for power in np.linspace(1.8, 5, 60)), setting.n)
    )
    return _compared(constant(setting.n), largest, said)


def _log_ratio(setting: Setting) -> Found:
    """The identity at three points, by the two densities themselves; the largest difference is compared with 1e-9."""
    prior = 0.0 if math.isinf(setting.sigma0) else 1 / setting.sigma0**2
    precision = setting.n / setting.sigma**2 + prior
    s, worst = setting.n / setting.sigma**2 / precision, 0.0
    for mu, first, second in ((0.3, 0.2, -0.1), (-1.0, 0.5, 0.4), (2.0, -0.7, 0.9)):
        mu, first, second = (setting.sigma * value for value in (mu, first, second))
        exact = precision * ((mu - s * second) ** 2 - (mu - s * first) ** 2) / 2
        printed = setting.n / (2 * setting.sigma**2) * (first - second) * (2 * mu - s * (first + second))
        worst = max(worst, abs(exact - printed) / max(abs(exact), abs(printed), 1e-300))
    said = (
        "Both sides agree where they were computed. It has no normalising constants: conditioned draws need them too."
    )
    return ("holds" if worst < 1e-6 else "false"), said, worst, 1e-6


def _tail(setting: Setting) -> Found:
    if setting.delta == 0:
        return _unasked("It speaks of δ > 0.")
    k = CLAIMS["7.9"].at(delta=setting.delta)
    exact = -float(ndtri(setting.delta / 2))
    said = (
        f"The exact k is {{}}, the printed one {{}}; that gives δ = {readable(rounded_up(float(2 * ndtr(-k)), 3), 3)}."
    )
    return _compared(exact, k, said, "safe")


JUDGES: dict[str, Judge] = {
    "2.10": _bad_output,
    "2.11": _bad_output_back,
    "2.12": _random_row,
    "2.13": _not_random,
    "2.14": lambda _: _unasked("A definition: there is nothing to judge."),
    "2.15": _simulated,
    "2.16": _post_processing,
    "2.17": _two,
    "2.17 delta": _two_failures,
    "2.18": _advanced,
    "2.18 delta": _advanced_failures,
    "2.20": _laplace,
    "2.21": _exponential,
    "2.22": _sampled,
    "2.22 delta": _sampled_failures,
    "5.1": _post_processing,
    "5.4": _breaks("synth_map"),
    "5.5": _hypothesis,
    "5.6": _breaks("synth_post_many"),
    "6.6": _near_mean,
    "6.8": _far_from_mean,
    "7.1": _spread,
    "7.5": _log_ratio,
    "7.9": _tail,
}
"""By claim."""
