"""Chapters 2 and 5 as printed: definitions, general theorems, and what parameters and rows promise of each other."""

import math
from functools import partial

from dpviz.claims.claim import AVERAGE_PROMISE, PURE_PROMISE, Claim, DeniedClaim, GeneralClaim
from dpviz.core.parameters import NOISE_QUANTITY
from dpviz.privacy.composition import advanced_composition

Composition = partial(
    Claim,
    condition="independent randomness; δ' > 0",
    holds_when=lambda delta_prime: delta_prime > 0,
    after="Dwork, Rothblum & Vadhan (2010)",
)
Subsampling = partial(Claim, condition="m distinct rows drawn at random", after="Kasiviswanathan et al. (2008)")
OfTwo = partial(Claim, condition="independent randomness", after="Dwork et al. (2006)")


def subsampled_epsilon_printed(epsilon: float, rate: float) -> float:
    """r (e^ε − 1), kept by an ε-private release of a share r of the rows; infinite where it overflows.

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


GENERAL_CLAIMS = (
    GeneralClaim(
        "Proposition 2.10",
        "private with (ε, δ), if a release whose probability grows by more than e^ε has probability at most δ",
        condition="for all neighbours, both ways",
    ),
    GeneralClaim(
        "Proposition 2.11",
        "not private with (ε/2, δ(1 − e^{−ε/2})), if such a release has a probability above δ for some neighbours",
        lambda epsilon, delta: -math.expm1(-epsilon / 2) * delta,
    ),
    GeneralClaim("Example 2.12", "releasing one row drawn at random is (ε, 1/n)-private for every ε", lambda n: 1 / n),
    GeneralClaim("Proposition 2.13", "a release that is neither random nor constant is not (ε, δ)-private"),
    GeneralClaim(
        "Definition 2.14",
        "(ε, δ, Δ)-private: some simulator that does not see a row stays within (ε, δ) of the release",
        condition="for every distribution in Δ",
        promise=AVERAGE_PROMISE,
    ),
    GeneralClaim(
        "Proposition 2.15",
        "(ε, δ, Δ)-private releases for two values of a row are within (2ε, δ(1 + e^ε))",
        condition="independent rows",
        promise=AVERAGE_PROMISE,
    ),
    GeneralClaim("Proposition 2.16", "what is computed from a private release is as private as the release"),
    OfTwo("Proposition 2.17", "two releases together: ε₁ + ε₂", lambda epsilon_1, epsilon_2: epsilon_1 + epsilon_2),
    OfTwo(
        "Proposition 2.17", "two releases together: δ₁ + δ₂", lambda delta_1, delta_2: delta_1 + delta_2, part="delta"
    ),
    Composition(
        "Theorem 2.18",
        "k equal releases: ε√(2k ln(1/δ')) + kε(e^ε − 1)",
        lambda k, epsilon, delta_prime: advanced_composition(epsilon, k, delta_prime),
    ),
    Composition(
        "Theorem 2.18", "k equal releases: kδ + δ'", lambda k, delta, delta_prime: k * delta + delta_prime, part="delta"
    ),
    # The scale is in units of Sen.
    Claim(
        "Theorem 2.20",
        "Laplace noise of scale Sen/ε",
        lambda epsilon: 1 / epsilon,
        condition="the output is a real number",
        promise=PURE_PROMISE,
        quantity=NOISE_QUANTITY,
        after="Dwork et al. (2006)",
    ),
    GeneralClaim(
        "Theorem 2.21",
        "the exponential mechanism, density in proportion to e^{εq/(2 Sen q)} μ, is ε-private",
        condition="its integral is finite",
        promise=PURE_PROMISE,
    ),
    Subsampling(
        "Theorem 2.22",
        "run on m of n rows: (m/n)(e^ε − 1)",
        lambda n, m, epsilon: subsampled_epsilon_printed(epsilon, _share(n, m)),
    ),
    Subsampling("Theorem 2.22", "run on m of n rows: (m/n) δ", lambda n, m, delta: _share(n, m) * delta, part="delta"),
    GeneralClaim(
        "Theorem 5.1",
        "a private parameter release makes its synthetic data as private, whatever m is",
        methods=("param_map", "param_post", "synth_map", "synth_post_one"),
    ),
    DeniedClaim(
        "Theorem 5.4",
        "for some m, SYNTH_MAP is not (ε, δ)-differentially private",
        methods=("synth_map",),
        condition="fixed n and prior; the distribution determines its parameter; PARAM_MAP is not constant",
    ),
    GeneralClaim(
        "Hypothesis 5.5",
        "if SYNTH_Post(One) is (ε, δ)-private for every m, PARAM_Post is (ε, cδ)-private for every c > 1",
        condition="a fixed prior; the data model determines its parameter",
    ),
    DeniedClaim(
        "Corollary 5.6",
        "for some m, SYNTH_Post(Many) is not (ε, δ)-differentially private",
        methods=("synth_post_many",),
        condition="fixed n; the posterior determines its parameter; two neighbours have different posteriors",
    ),
)
