"""Every claim of Zheng's (2015) thesis at one setting, and what its sentences say of the methods, as records."""

import html
import math
import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np

from dpviz.audit.text import average_case_claims
from dpviz.audit.theorem_audit import audit_theorems
from dpviz.audit.theorems import Theorem, Verdict
from dpviz.calibration.data_kinds import GAUSSIAN, KINDS, Setting
from dpviz.calibration.gaussian_range import maximum_range
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.calibration.smallest_prior import minimum_prior
from dpviz.claims.published import Record, Shown
from dpviz.claims.sentences import Judge, Judged
from dpviz.claims.statements import audit_statements
from dpviz.core.formatting import format_number

AUDITED_AT = Setting(n=100, m=100, epsilon=1.0, delta=1e-5, sigma0=1.0)
AVERAGED_AT, TICK = 0.5, "✓"  # θ of the random rows, and how a verdict in words begins that is right
SAME_RANGE = 0.1
BETAS, CLOSE_MEDIAN, MODE_GRID = (2, 3, 5, 10, 30, 100), 0.003, 100_001  # n₁ + α and n₀ + β that are tried
HELD_AT = "At n = m = 100 (m = 1 where it speaks of one row), ε = 1, δ = 10⁻⁵, σ₀ = σ."


def _claim(claim: Theorem, what: str, ours: str, verdict: Verdict, why: str, family: str) -> Record[str]:
    """One claim: what was found of it, and why where it is wrong or nothing can be said."""
    settings = {name: getattr(AUDITED_AT, name) for name in ("n", "m", "epsilon", "delta")}
    return Record(
        source=f"Zheng (2015), {claim.name}",
        what=what,
        printed=claim.statement,
        ours=ours if verdict.is_decided else "",
        holds=not verdict.is_refuted,
        reading=f"{HELD_AT} {claim.condition}".strip(),
        reason="" if verdict.is_decided and not verdict.is_refuted else why,
        shown=Shown("minimum_priors", {"family": family, **settings}),
    )


def claim_records() -> Iterator[Record[str]]:
    """Yield every claim of the thesis, once for each method that it is about."""
    setting = {name: getattr(AUDITED_AT, name) for name in ("n", "m", "epsilon", "delta")}
    for key, kind in KINDS.items():
        for found in audit_theorems(key, **setting, **({"sigma0": AUDITED_AT.sigma0} if kind is GAUSSIAN else {})):
            numbers = [
                f"{name} {format_number(value)}"
                for name, value in (("printed", found.printed), ("exact", found.exact))
                if value is not None
            ]
            ours = f"{str(found.verdict).capitalize()}: {', '.join(numbers) or found.sentence}"
            label = f"{found.theorem.key}, {PRIOR_METHODS[found.method].label}"
            yield _claim(found.theorem, label, ours, found.verdict, found.sentence, kind.label)
    bernoulli = next(iter(KINDS.values())).label
    for one in audit_statements(AUDITED_AT):
        yield _claim(one.bound, one.bound.key, one.sentence, one.verdict, one.sentence, bernoulli)
    for claim, printed, exact, verdict in average_case_claims(AUDITED_AT.n, AVERAGED_AT, AUDITED_AT.epsilon):
        judged = Verdict.HOLDS if verdict.startswith(TICK) else Verdict.FALSE
        ours = _text(f"Printed: {printed}; the best simulator: {exact}.")
        yield _claim(claim, claim.key, ours, judged, _text(verdict), bernoulli)


def _text(marked: str) -> str:
    """Return HTML as text."""
    text = html.unescape(re.sub(r"</?\w+>", "", marked.replace("<sup>", "^"))).removeprefix("– ")
    return text[:1].upper() + text[1:]


def _prior(method: str, n: int = 100, m: int = 100, delta: float = 1e-5) -> float:
    return minimum_prior(method, n=n, m=m, epsilon=1.0, delta=delta)


def _seen(alpha: int, beta: int) -> tuple[Fraction, int]:
    """The ratio of ones to zeros that a prior stands for, and how many it is."""
    return Fraction(alpha - 1, beta - 1), alpha + beta - 2


def _same_ratio() -> Judged:
    (one, few), (other, more) = _seen(2, 5), _seen(3, 9)
    return Judged(f"{one} of {few} and {other} of {more}.", holds=one == other and few < more)


def _same_total() -> Judged:
    (one, few), (other, more) = _seen(3, 9), _seen(6, 6)
    return Judged(f"{few} and {more} in all, {one} and {other}.", holds=few == more and one != other)


def _sigma0() -> Judged:
    own, flat = (maximum_range("param_post", n=100, sigma0=one, epsilon=1.0, delta=1e-5) for one in (1.0, math.inf))
    return Judged(f"{format_number(own, 4)} and {format_number(flat, 4)}.", holds=abs(own / flat - 1) < SAME_RANGE)


def _synthetic_pure() -> Judged:
    rows, parameter = _prior("synth_post_one", delta=0.0), _prior("param_post", delta=0.0)
    told = (
        f"A prior of {format_number(rows, 4)} is enough for rows; for the parameter it would be "
        f"{format_number(parameter)}."
    )
    return Judged(told, holds=math.isfinite(rows) and math.isinf(parameter))


def _less(methods: tuple[str, ...], m: int = 100) -> Judged:
    """Judge whether the first method needs less than the others."""
    found = [_prior(one, m=m) for one in methods]
    labels = [
        f"{PRIOR_METHODS[one].label} {format_number(prior, 4)}" for one, prior in zip(methods, found, strict=True)
    ]
    return Judged(f"{', '.join(labels)}.", holds=found[0] < min(found[1:]))


def _combination() -> Judged:
    told, less, *_ = _less(("synth_post_one", "param_post", "synth_map"))
    return Judged(told, holds=not less)


def _benefits() -> Judged:
    pure, small = (_prior("synth_post_one", 1_000, 1_000, delta) for delta in (0.0, 1e-6))
    return Judged(f"{format_number(pure, 4)} without δ, {format_number(small, 4)} with it.", holds=small < pure / 10)


def _median() -> Judged:
    from scipy.stats import beta  # it takes long to load, and few ask for it

    away = [abs(float(beta.ppf(0.5, a, b)) - (a - 1 / 3) / (a + b - 2 / 3)) for a, b in product(BETAS, BETAS)]
    return Judged(f"It is off by at most {format_number(max(away), 3)}.", holds=max(away) < CLOSE_MEDIAN)


def _mode() -> Judged:
    from scipy.stats import beta  # it takes long to load, and few ask for it

    grid = np.linspace(0, 1, MODE_GRID)
    away = [
        abs(float(grid[np.argmax(beta.logpdf(grid, a, b))]) - (a - 1) / (a + b - 2)) for a, b in product(BETAS, BETAS)
    ]
    return Judged(
        f"It is off by at most {format_number(max(away), 2)}, the step of the grid.", holds=max(away) < 1 / MODE_GRID
    )


def _laplace_moments() -> Judged:
    from scipy.stats import laplace  # it takes long to load, and few ask for it

    mean, deviation = float(laplace.mean()), float(laplace.std())
    told = f"They are {format_number(mean)} and {format_number(deviation, 4)}."
    return Judged(told, holds=mean == 0 and math.isclose(deviation, math.sqrt(2)))


THESIS_JUDGES: dict[str, Judge] = {
    "same_ratio": lambda _: _same_ratio(),
    "same_total": lambda _: _same_total(),
    "called": lambda _: Judged("The caption says Figure 6.1.", holds=False),
    "root_n": lambda _: Judged("Proposition 7.1 has √(ln n).", holds=False),
    "sigma0": lambda _: _sigma0(),
    "synthetic_pure": lambda _: _synthetic_pure(),
    "few_rows": lambda _: _less(("synth_post_one", "param_post"), m=1),
    "may_be_more": lambda _: _less(("synth_post_one", "param_post")),
    "combination": lambda _: _combination(),
    "benefits": lambda _: _benefits(),
    "median": lambda _: _median(),
    "mode": lambda _: _mode(),
    "laplace_moments": lambda _: _laplace_moments(),
}
"""By the key of the sentence."""
