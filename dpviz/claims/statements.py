"""Zheng's (2015) definitions, general theorems and lemmas, each held against numbers at the user's settings."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, ndtr, ndtri

from dpviz.audit.explain import composed_pure_delta
from dpviz.audit.theorems import CONSTANTS, THEOREMS, Theorem, Verdict
from dpviz.calibration.curves import release
from dpviz.calibration.data_kinds import Setting
from dpviz.calibration.methods import PRIOR_METHODS, RowMethod
from dpviz.core.formatting import format_distinct, format_number, round_up
from dpviz.core.limits import MAX_PRIOR_ROWS
from dpviz.privacy.average_case import count_release_delta, midpoint_simulator_delta
from dpviz.privacy.divergence import delta_for_epsilon
from dpviz.privacy.gaussian import gaussian_delta, gaussian_ratio

RELEASES = 100  # that Theorem 2.18 is held against
MOST_ROWS_AVERAGED = 2_000  # Largest n averaged over
LARGEST_M = 4**9  # at which a promise is tried
MOST_TABLES = 300  # that Lemma 6.6 is held against: the fewer ones, the further θ strays in proportion to its mean


@dataclass(frozen=True)
class Statement:
    """A general claim, the verdict on it, and what was computed.

    The claim holds where `left` is at most `right`; both are NaN where nothing was compared.
    """

    bound: Theorem
    verdict: Verdict
    sentence: str
    left: float = math.nan
    right: float = math.nan


StatementJudge = Callable[[Theorem, Setting], Statement]


def audit_statements(setting: Setting) -> tuple[Statement, ...]:
    """Return every definition, general theorem and lemma of the thesis, in its order, judged at a setting.

    >>> found = audit_statements(Setting(n=100, m=100, epsilon=1.0, delta=1e-5))
    >>> [one.bound.number for one in found if one.verdict == "false"]
    []
    """
    return tuple(JUDGES[key](claim, setting) for key, claim in THEOREMS.items() if key in JUDGES)


def _compared(claim: Theorem, left: float, right: float, sentence: str, *, agrees: bool = False) -> Statement:
    """Return whether left ≤ right, up to rounding; `sentence` has a place for each. `agrees`: no less is enough."""
    kept, kind = left <= right * (1 + 1e-9) + 1e-300, claim.kind
    verdict = kind.if_false if not kept else kind.if_equal if agrees else kind.if_true
    both = (left, right), (right, left)
    told = [format_number(one, 3) if kept else format_distinct(one, other, 3) for one, other in both]
    return Statement(claim, verdict, sentence.format(*told), left, right)


def _bad_output(claim: Theorem, setting: Setting) -> Statement:
    """Return a Gaussian mechanism, its ratio that of the promised δ or else 1, and how often its loss exceeds ε."""
    ratio = gaussian_ratio(setting.epsilon, setting.delta) if setting.delta > 0 else 1.0
    beyond = float(ndtr(ratio / 2 - setting.epsilon / ratio))
    if claim.formula is None:
        said = "Gaussian noise here: its exact δ is {}, and its loss exceeds ε with probability {}."
        return _compared(claim, gaussian_delta(ratio, setting.epsilon), beyond, said)
    said = "Gaussian noise here: at ε/2 the claim rules out every δ up to {}, and the exact δ is {}."
    denied = claim.value(epsilon=setting.epsilon, delta=beyond)
    return _compared(claim, denied, gaussian_delta(ratio, setting.epsilon / 2), said)


def _random_row(claim: Theorem, setting: Setting) -> Statement:
    """Of k ones in n rows a one is released with probability k/n; all neighbours, both ways."""
    ones = np.arange(setting.n + 1) / setting.n
    growth = math.exp(min(setting.epsilon, 700.0))
    exact = max(float(np.max(ones[1:] - growth * ones[:-1])), float(np.max(ones[:-1] - growth * ones[1:])))
    return _compared(claim, exact, claim.value(n=setting.n), "The exact δ is {}, and 1/n is {}.")


def _simulated(claim: Theorem, setting: Setting) -> Statement:
    rows = min(setting.n, MOST_ROWS_AVERAGED)
    delta_of = functools.partial(count_release_delta, rows, 0.5)
    said = (
        f"The heads of {format_number(rows)} fair coins: at 2ε the exact δ is {{}}; a simulator's, times 1 + eᵋ, "
        f"is {{}}."
    )
    allowed = midpoint_simulator_delta(delta_of, setting.epsilon) * (1 + math.exp(min(setting.epsilon, 700.0)))
    return _compared(claim, delta_of(2 * setting.epsilon), allowed, said)


@lru_cache(maxsize=1024)  # three claims speak of them
def _rows_and_parameter(setting: Setting, m: int, alpha: float) -> tuple[float, float]:
    """Return the exact δ of the rows of SYNTH_Post(One), and of the parameter that they are drawn with."""
    rows, parameter = (release(key, n=setting.n, m=m, alpha=alpha) for key in ("synth_post_one", "param_post"))
    return delta_for_epsilon(rows, setting.epsilon), delta_for_epsilon(parameter, setting.epsilon)


def _post_processing(claim: Theorem, setting: Setting) -> Statement:
    said = (
        f"With α = β = {format_number(setting.alpha)} the rows of SYNTH_Post(One) have δ = {{}}; the parameter that "
        "they "
        "are drawn with has δ = {}."
    )
    return _compared(claim, *_rows_and_parameter(setting, setting.m, setting.alpha), said)


def _hypothesis(claim: Theorem, setting: Setting) -> Statement:
    """H(rows) ≤ H(θ), and the limit as m grows is H(θ): the infinite sequence determines θ."""
    said = (
        "It is true, even with c = 1: infinitely many rows determine θ, and the δ of m rows rises to that of θ. "
        f"With m = {MAX_PRIOR_ROWS:,} rows it is {{}}, and that of θ is {{}}."
    )
    return _compared(claim, *_rows_and_parameter(setting, MAX_PRIOR_ROWS, max(setting.alpha, 1.0)), said)


def _two(claim: Theorem, setting: Setting) -> Statement:
    """Two randomized responses have no δ at 2ε, and one at anything less: no smaller sum would do."""
    epsilon = min(setting.epsilon, 100.0)
    total = claim.value(epsilon_1=epsilon, epsilon_2=epsilon)
    at_sum, below = (composed_pure_delta(epsilon, 2, total * share) for share in (1, 0.999))
    said = (
        f"At 2ε two randomized responses have an exact δ of {{}}; slightly below it is {format_number(below, 3)}, "
        f"not {{}}."
    )
    return _compared(claim, at_sum, 0.0, said, agrees=below > 0)


def _advanced(claim: Theorem, setting: Setting) -> Statement:
    slack = setting.delta or 1e-5
    total = claim.value(k=RELEASES, epsilon=setting.epsilon, delta=setting.delta, delta_prime=slack)
    if claim.part:
        exact = -math.expm1(RELEASES * math.log1p(-setting.delta) + math.log1p(-slack))
        return _compared(claim, exact, total, f"{RELEASES} releases together have at most ε = {{}}; the sum is {{}}.")
    exact = composed_pure_delta(setting.epsilon, RELEASES, total) if math.isfinite(total) else 0.0
    said = (
        f"{RELEASES} releases have ε = {format_number(total, 3)} together. There the worst have an exact δ of {{}}, "
        "not {}."
    )
    return _compared(claim, exact, slack, said)


def _exponential(claim: Theorem, setting: Setting) -> Statement:
    """Two outcomes whose utilities move by 1 in opposite ways, one of them rare: ln of the ratio nears ε."""
    rare, half = 1e-9, math.exp(-min(setting.epsilon, 300.0) / 2)
    before, after = rare * half / (rare * half + 1), rare / (rare + half)  # over e^{ε/2}
    said = "A utility that moves by its sensitivity at two outcomes, one of them rare, gives ε = {}; the promise is {}."
    return _compared(claim, math.log(after / before), setting.epsilon, said)


def _sampled(claim: Theorem, setting: Setting) -> Statement:
    if setting.m > setting.n:
        return Statement(claim, Verdict.NOT_APPLICABLE, "It is about samples, and a sample is no larger than the data.")
    share, printed = setting.m / setting.n, claim.value(**setting.arguments())
    if claim.part:
        said = "For a release that gives the row away with probability δ, the exact δ is {}; the theorem says {}."
        return _compared(claim, share * setting.delta, printed, said, agrees=True)
    exact = math.log1p(share * math.expm1(min(setting.epsilon, 700.0)))
    return _compared(claim, exact, printed, "With m of the n rows the exact ε is {}; the theorem gives {}.")


def _breaks(claim: Theorem, setting: Setting) -> Statement:
    """Return a power of four of rows with which a table without ones and one with a single one break the promise."""
    method, alpha, m = PRIOR_METHODS[claim.methods[0]], max(setting.alpha, 2.0), 1
    assert isinstance(method, RowMethod)
    shared = alpha - method.lost
    ends = np.array([shared, shared + setting.n - 1])
    while m <= LARGEST_M:
        found = math.exp(float(method.synthesizer_type.log_pair_deltas(ends, ends[::-1], m, setting.epsilon).max()))
        if found > setting.delta:
            said = f"With α = β = {format_number(alpha)}, m = {m:,} rows have δ = {{1}}, above {{0}}."
            return _compared(claim, setting.delta, found, said)
        m *= 4
    return Statement(
        claim,
        Verdict.NOT_APPLICABLE,
        f"It is true, though no m up to {LARGEST_M:,} was found that breaks this promise.",
    )


def _near_mean(claim: Theorem, setting: Setting) -> Statement:
    if setting.delta == 0 or setting.epsilon > 1:
        return Statement(claim, Verdict.NOT_APPLICABLE, "It is about δ > 0 and ε up to 1.")
    here = prior_near_mean(setting.n, setting.epsilon, setting.delta) / claim.value(**setting.arguments())
    said = "Here c = {} would be exact. For ε up to 1, c = {} worked in every case tried; δ → 0, n → ∞ needs it."
    return _compared(claim, here, CONSTANTS[claim.key]["param_post"].high or math.nan, said)


def _far_from_mean(claim: Theorem, setting: Setting) -> Statement:
    if not 0 < setting.delta * setting.n < 1 or setting.epsilon > 1 or setting.n == 1:
        return Statement(
            claim, Verdict.NOT_APPLICABLE, "It is about 0 < δ < 1/n and ε up to 1; at n = 1 no c is enough."
        )
    here = prior_far_from_mean(setting.n, setting.epsilon, setting.delta) / claim.value(**setting.arguments())
    said = "c = {} worked in every case tried with n from 2 on and ε up to 1; here c = {} would be exact."
    return _compared(claim, CONSTANTS[claim.key]["param_post"].low or math.nan, here, said)


def _spread(claim: Theorem, setting: Setting) -> Statement:
    if setting.delta == 0:
        return Statement(claim, Verdict.NOT_APPLICABLE, "It is about δ > 0.")
    if setting.n == 1:
        return Statement(
            claim, claim.kind.if_false, "At n = 1 the range is a single point, since ln 1 = 0. From n = 2 on it holds."
        )

    def constant(n: int) -> float:
        return -float(ndtri(-math.expm1(math.log1p(-setting.delta) / n) / 2)) / math.sqrt(math.log(n))

    said = (
        "Here c_δ = {} would be exact; the largest over n from 2 to 100,000 is {}. At n = 1, where ln n = 0, it fails."
    )
    sizes = (*range(2, 60), *(int(10**power) for power in np.linspace(1.8, 5, 60)), setting.n)
    return _compared(claim, constant(setting.n), max(map(constant, sizes)), said)


def _log_ratio(claim: Theorem, setting: Setting) -> Statement:
    """Return the identity at three points, by the two densities themselves: how far both sides are apart."""
    prior = 0.0 if math.isinf(setting.sigma0) else 1 / setting.sigma0**2
    precision = setting.n / setting.sigma**2 + prior
    s, worst = setting.n / setting.sigma**2 / precision, 0.0
    for mu, first, second in ((0.3, 0.2, -0.1), (-1.0, 0.5, 0.4), (2.0, -0.7, 0.9)):
        mu, first, second = (setting.sigma * value for value in (mu, first, second))
        exact = precision * ((mu - s * second) ** 2 - (mu - s * first) ** 2) / 2
        printed = setting.n / (2 * setting.sigma**2) * (first - second) * (2 * mu - s * (first + second))
        worst = max(worst, abs(exact - printed) / max(abs(exact), abs(printed), 1e-300))
    said = (
        "Both sides agree at the points computed. It leaves out the normalizing constants, which truncated draws need."
    )
    return _compared(claim, worst, 1e-6, said)


def _tail(claim: Theorem, setting: Setting) -> Statement:
    if setting.delta == 0:
        return Statement(claim, Verdict.NOT_APPLICABLE, "It is about δ > 0.")
    k = claim.value(delta=setting.delta)
    gives = format_number(round_up(float(2 * ndtr(-k)), 3), 3)
    said = f"The exact k is {{}} and the printed one {{}}, which gives δ = {gives}."
    return _compared(claim, -float(ndtri(setting.delta / 2)), k, said)


def prior_near_mean(n: int, epsilon: float, delta: float) -> float:
    """Return the smallest α = β that keeps PARAM_Post as near its mean as Lemma 6.6 says, for every table."""
    ones = np.arange(min(n, MOST_TABLES) + 1)

    def failure(alpha: float) -> float:
        x, y = alpha + ones, alpha + n - ones
        mean = x / (x + y)
        width = epsilon * np.minimum(mean, 1 - mean)
        return float(np.max(betainc(x, y, mean - width) + betainc(y, x, np.maximum(1 - mean - width, 0.0))))

    return _root(failure, delta)


def prior_far_from_mean(n: int, epsilon: float, delta: float) -> float:
    """Return the largest α = β with which it strays as far from its mean as Lemma 6.8 says, at a table of no ones."""

    def failure(alpha: float) -> float:
        low, high = (math.exp(sign * epsilon) * alpha / (2 * alpha + n) for sign in (-1, 1))
        beyond = float(betainc(alpha + n, alpha, 1 - high)) if high < 1 else 0.0
        return float(betainc(alpha, alpha + n, low)) + beyond

    return _root(failure, delta)


def _root(failure: Callable[[float], float], delta: float) -> float:
    """Return the prior from which on a failure stays below δ; it may start below it too, where the prior is tiny."""
    grid = np.linspace(-20.0, 30.0, 51)
    above = [place for place, power in enumerate(grid) if failure(math.exp(power)) > delta]
    if not above:
        return 0.0
    low, high = grid[above[-1]], grid[min(above[-1] + 1, 50)]
    return math.exp(
        brentq(lambda power: failure(math.exp(power)) - delta, low, high, xtol=1e-13) if low < high else high
    )


JUDGES: dict[str, StatementJudge] = {
    "2.13": lambda claim, setting: _compared(
        claim, setting.delta, 1.0, "Some neighbours release different tables with certainty, so δ = 1."
    ),
    "2.14": lambda claim, _: Statement(claim, Verdict.NOT_APPLICABLE, "A definition: there is nothing to judge."),
    "2.17 delta": lambda claim, setting: _compared(
        claim,
        setting.delta * (2 - setting.delta),
        claim.value(delta_1=setting.delta, delta_2=setting.delta),
        "Of two releases that each fail with probability δ, one or both fail with probability {}; the sum is {}.",
    ),
    "2.20": lambda claim, setting: _compared(
        claim,
        1 / claim.value(epsilon=setting.epsilon),
        setting.epsilon,
        "The log-ratio of the densities is at most sensitivity over scale, {}; the promise is {}.",
        agrees=True,
    ),
    "2.10": _bad_output,
    "2.11": _bad_output,
    "2.12": _random_row,
    "2.15": _simulated,
    "2.16": _post_processing,
    "5.1": _post_processing,
    "5.5": _hypothesis,
    "2.17": _two,
    "2.18": _advanced,
    "2.18 delta": _advanced,
    "2.21": _exponential,
    "2.22": _sampled,
    "2.22 delta": _sampled,
    "5.4": _breaks,
    "5.6": _breaks,
    "6.6": _near_mean,
    "6.8": _far_from_mean,
    "7.1": _spread,
    "7.5": _log_ratio,
    "7.9": _tail,
}
"""By claim."""
