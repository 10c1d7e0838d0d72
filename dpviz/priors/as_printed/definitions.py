"""Propositions of chapter 2, Hypothesis 5.5 and the lemmas of chapters 6 and 7 as printed: claims without a range."""

from __future__ import annotations

from dpviz.priors.as_printed.printed_bound import Family, PrintedBound, Promise


def _statement(
    name: str, claim: str, conditions: str = "", family: Family = "general", promise: Promise = "approximate"
) -> PrintedBound:
    return PrintedBound(
        number=name.split()[-1], name=name, methods=(), family=family, promise=promise, kind="statement", claim=claim,
        conditions=conditions,
    )  # fmt: skip


BOUNDS = (
    _statement(
        "Proposition 2.10",
        "private with (ε, δ), if a release whose probability grows by more than e^ε has probability at most δ",
        "for all neighbours, both ways",
    ),
    _statement(
        "Proposition 2.11",
        "not private with (ε/2, δ(1 − e^{−ε/2})), if such a release has a probability above δ for some neighbours",
    ),
    _statement("Example 2.12", "releasing one row drawn at random is (ε, 1/n)-private for every ε"),
    _statement("Proposition 2.13", "what is not random and not constant is not (ε, δ)-private"),
    _statement(
        "Definition 2.14",
        "(ε, δ, Δ)-private: some simulator that does not see a row stays within (ε, δ) of the release",
        "for every distribution in Δ",
        promise="average",
    ),
    _statement(
        "Proposition 2.15",
        "(ε, δ, Δ)-private releases for two values of a row are within (2ε, δ(1 + e^ε))",
        "independent rows",
        promise="average",
    ),
    _statement("Proposition 2.16", "what is computed from a private release is as private"),
    _statement(
        "Theorem 2.21",
        "the exponential mechanism, density in proportion to e^{εq/(2 Sen q)} μ, is ε-private",
        "its integral is finite",
        promise="pure",
    ),
    _statement(
        "Hypothesis 5.5",
        "if SYNTH_Post(One) is (ε, δ)-private for every m, PARAM_Post is (ε, cδ)-private for every c > 1",
        "a fixed prior; the data model determines its parameter",
    ),
    _statement(
        "Lemma 6.6",
        "α, β ≥ c/ε² (ln n + ln(1/δ)) keeps PARAM_Post within ε min(E, 1 − E) of its mean E with probability 1 − δ",
        "some c; n large enough",
        "bernoulli",
    ),
    _statement(
        "Lemma 6.8",
        "with α, β ≤ c/ε² ln(1/(δn)) and no ones, PARAM_Post leaves e^{±ε} times its mean with probability at least δ",
        "some c; n large enough",
        "bernoulli",
    ),
    _statement(
        "Proposition 7.1",
        "n draws lie within c_δ σ√ln n of their mean with probability 1 − δ, c_δ the same for all n",
        family="gaussian",
    ),
    _statement(
        "Lemma 7.5",
        "ln p(μ | x̄)/p(μ | x̄′) = n/(2σ²) (x̄ − x̄′)(2μ − s(x̄ + x̄′))",
        "s = σ0²/(σ²/n + σ0²)",
        "gaussian",
    ),
    _statement(
        "Lemma 7.9",
        "a posterior draw lies k standard deviations from its mean with probability at most δ",
        "k ≥ √(2 ln(1/δ)) and k ≥ √(π/2)",
        "gaussian",
    ),
)
