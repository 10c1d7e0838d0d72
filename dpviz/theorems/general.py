"""Chapters 2 and 5 as printed: definitions, general theorems, and what parameters and rows promise of each other."""

from __future__ import annotations

import math
from functools import partial

from dpviz.numerics.ends import gain, log_inverse
from dpviz.theorems.claim import ALWAYS, Claim

General = partial(Claim, family="general", promise="approximate")
Statement = partial(General, kind="statement")
COMPOSED = "independent randomness; δ' > 0"
SAMPLED = "m distinct rows drawn at random"


def advanced_composition(epsilon: float, k: int, slack: float) -> float:
    """ε √(2k ln(1/δ')) + kε(e^ε − 1), kept by k releases that are each ε-private, with δ' = `slack` beside it.

    Examples
    --------
    With k = 2 and δ' = 1/e the root is 2, and with e^ε = 2 both terms are 2ε.

    >>> round(advanced_composition(math.log(2), 2, math.exp(-1)) / math.log(2), 12)
    4.0
    """
    return epsilon * math.sqrt(2 * k * log_inverse(slack)) + k * epsilon * gain(epsilon)


def subsampled_epsilon_printed(epsilon: float, rate: float) -> float:
    """r (e^ε − 1), kept by an ε-private release of a share r of the rows; infinite where it overflows.

    Examples
    --------
    >>> round(subsampled_epsilon_printed(1.0, 0.5), 6)  # (e − 1) / 2; at r = 1 it is more than ε itself
    0.859141
    """
    if epsilon < 709.7 or rate == 0:
        return rate * math.expm1(min(epsilon, 709.0))
    exponent = epsilon + math.log(rate)
    return math.exp(exponent) if exponent < 709.7 else math.inf


def _share(n: int, m: int) -> float:
    if m > n:
        raise ValueError(f"m (rows of the sample) must be at most n = {n:,}; got {m:,}.")
    return m / n


CLAIMS = (
    Statement(
        name="Proposition 2.10",
        statement="private with (ε, δ), if a release whose probability grows by more than e^ε has probability at most "
        "δ",
        condition="for all neighbours, both ways",
    ),
    Statement(
        name="Proposition 2.11",
        statement="not private with (ε/2, δ(1 − e^{−ε/2})), if such a release has a probability above δ for some "
        "neighbours",
        condition=ALWAYS,
        formula=lambda epsilon, delta: -math.expm1(-epsilon / 2) * delta,
        quantity="delta",
    ),
    Statement(
        name="Example 2.12",
        statement="releasing one row drawn at random is (ε, 1/n)-private for every ε",
        condition=ALWAYS,
        formula=lambda n: 1 / n,
        quantity="delta",
    ),
    Statement(
        name="Proposition 2.13",
        statement="what is not random and not constant is not (ε, δ)-private",
        condition=ALWAYS,
    ),
    Statement(
        name="Definition 2.14",
        promise="average",
        statement="(ε, δ, Δ)-private: some simulator that does not see a row stays within (ε, δ) of the release",
        condition="for every distribution in Δ",
    ),
    Statement(
        name="Proposition 2.15",
        promise="average",
        statement="(ε, δ, Δ)-private releases for two values of a row are within (2ε, δ(1 + e^ε))",
        condition="independent rows",
    ),
    Statement(
        name="Proposition 2.16",
        statement="what is computed from a private release is as private",
        condition=ALWAYS,
    ),
    General(
        name="Proposition 2.17",
        statement="two releases together: ε₁ + ε₂",
        condition="independent randomness",
        formula=lambda epsilon_1, epsilon_2: epsilon_1 + epsilon_2,
        quantity="epsilon",
        after="Dwork et al. (2006)",
    ),
    General(
        name="Proposition 2.17",
        part="delta",
        statement="two releases together: δ₁ + δ₂",
        condition="independent randomness",
        formula=lambda delta_1, delta_2: delta_1 + delta_2,
        quantity="delta",
        after="Dwork et al. (2006)",
    ),
    General(
        name="Theorem 2.18",
        statement="k equal releases: ε√(2k ln(1/δ')) + kε(e^ε − 1)",
        condition=COMPOSED,
        formula=lambda k, epsilon, delta_prime: advanced_composition(epsilon, k, delta_prime),
        quantity="epsilon",
        holds_when=lambda delta_prime: delta_prime > 0,
        after="Dwork, Rothblum & Vadhan (2010)",
    ),
    General(
        name="Theorem 2.18",
        part="delta",
        statement="k equal releases: kδ + δ'",
        condition=COMPOSED,
        formula=lambda k, delta, delta_prime: k * delta + delta_prime,
        quantity="delta",
        holds_when=lambda delta_prime: delta_prime > 0,
        after="Dwork, Rothblum & Vadhan (2010)",
    ),
    General(
        name="Theorem 2.20",
        promise="pure",
        statement="Laplace noise of scale Sen/ε",
        condition="the output is a real number",
        formula=lambda epsilon: 1 / epsilon,  # in units of Sen
        quantity="scale",
        after="Dwork et al. (2006)",
    ),
    Statement(
        name="Theorem 2.21",
        promise="pure",
        statement="the exponential mechanism, density in proportion to e^{εq/(2 Sen q)} μ, is ε-private",
        condition="its integral is finite",
    ),
    General(
        name="Theorem 2.22",
        statement="run on m of n rows: (m/n)(e^ε − 1)",
        condition=SAMPLED,
        formula=lambda n, m, epsilon: subsampled_epsilon_printed(epsilon, _share(n, m)),
        quantity="epsilon",
        after="Kasiviswanathan et al. (2008)",
    ),
    General(
        name="Theorem 2.22",
        part="delta",
        statement="run on m of n rows: (m/n) δ",
        condition=SAMPLED,
        formula=lambda n, m, delta: _share(n, m) * delta,
        quantity="delta",
        after="Kasiviswanathan et al. (2008)",
    ),
    General(
        name="Theorem 5.1",
        methods=("param_map", "param_post", "synth_map", "synth_post_one"),
        statement="a private parameter release makes its synthetic data as private, whatever m is",
        condition=ALWAYS,
    ),
    General(
        name="Theorem 5.4",
        methods=("synth_map",),
        kind="impossible",
        statement="for some m, SYNTH_MAP is not (ε, δ)-differentially private",
        condition="fixed n and prior; the law determines its parameter; PARAM_MAP is not constant",
    ),
    Statement(
        name="Hypothesis 5.5",
        statement="if SYNTH_Post(One) is (ε, δ)-private for every m, PARAM_Post is (ε, cδ)-private for every c > 1",
        condition="a fixed prior; the data model determines its parameter",
    ),
    General(
        name="Corollary 5.6",
        methods=("synth_post_many",),
        kind="impossible",
        statement="for some m, SYNTH_Post(Many) is not (ε, δ)-differentially private",
        condition="fixed n; the posterior determines its parameter; two neighbours have different posteriors",
    ),
)
