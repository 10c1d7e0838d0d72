"""Every generated sentence of the page "Minimum priors", but the audit's, is a claim: checked against numbers."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from dpviz.calibration.curves import Shares
from dpviz.calibration.data_kinds import PromiseQuestion
from dpviz.calibration.text import kept_by, needed_sentences, sets_sentence
from dpviz.core.formatting import format_number
from dpviz.mechanisms import BetaBinomial, PosteriorMean, PosteriorMode, TwoCellSynthesizer
from dpviz.priors import CALIBRATED, KINDS, METHODS, Setting, maximum_range, minimum_prior
from tests.helpers import match_in, value_of
from tests.referees import gaussian_excess, gaussian_posterior, listed_delta

LAWS: dict[str, Callable[..., TwoCellSynthesizer]] = {
    "synth_post_one": BetaBinomial,
    "synth_post_many": PosteriorMean,
    "synth_map": PosteriorMode,
}


def question(key: str, *, sets: int = 1, **setting: float) -> PromiseQuestion:
    return PromiseQuestion(kind=KINDS[key], setting=Setting(**setting), sets=sets)  # type: ignore[arg-type]


def numbers_in(sentence: str) -> list[float]:
    return [value_of(one) for one in re.findall(r"<b>([^<]+)</b>", sentence)]


def test_the_prior_that_is_said_to_be_needed_is_the_smallest_that_keeps_the_promise():
    marks = set()
    for n, m, epsilon, delta in itertools.product((1, 5, 40), (1, 5, 40), (0.01, 1.0, 8.0), (0.0, 1e-12, 1e-6, 0.1)):
        asked = question("bernoulli", n=n, m=m, epsilon=epsilon, delta=delta)
        pure = m / math.expm1(epsilon)
        exact = minimum_prior("synth_post_one", n=n, m=m, epsilon=epsilon, delta=delta) if delta else pure
        mark, sentence, _ = needed_sentences(asked, pure, exact)
        said = numbers_in(sentence)
        assert 2 * pure <= said[0] * (1 + 1e-9) <= 2 * pure * 1.011  # three digits, rounded up
        marks.add("both" if "→" in mark else "any" if mark == "any prior" else "one")
        if mark == "any prior":
            assert listed_delta(BetaBinomial(n=n, m=m, alpha=1e-290, beta=1e-290), epsilon) <= delta * (1 + 1e-9)
            continue
        shown = value_of(match_in(r"α = ([^<]+)<", asked.level_cell(exact))[1])
        assert listed_delta(BetaBinomial(n=n, m=m, alpha=shown, beta=shown), epsilon) <= delta * (1 + 1e-9) + 1e-15
        if delta > 1e-9:
            smaller = shown * (1 - 1.1e-4)  # five digits, rounded up
            assert listed_delta(BetaBinomial(n=n, m=m, alpha=smaller, beta=smaller), epsilon) > delta * (1 - 1e-6)
        assert f" for {'one real row' if n == 1 else f'{n} real rows'}, half of them yes" in sentence
        if "→" in mark:
            assert 2 * exact <= said[1] * (1 + 1e-9) <= 2 * exact * 1.011
        elif "too small to save" in sentence:
            assert pure <= exact * 1.001
        else:
            assert delta == 0
    assert marks == {"both", "any", "one"}


@pytest.mark.parametrize("key", KINDS)
def test_the_short_sentence_has_at_most_fifteen_words_and_the_promise_that_is_asked(key: str) -> None:
    kind = KINDS[key]
    small: dict[str, float] = {"cells": 3, "sigma": 1.0, "sigma0": 2.0}
    own = {name: small[name] for name in kind.numbers if name in small}
    for n, sets, epsilon, delta in itertools.product((1, 100_000), (1, 20), (0.0123, 1.0), (0.0, 1e-300, 1.23e-6, 0.5)):
        asked = question(key, n=n, m=n, sets=sets, epsilon=epsilon, delta=delta, **own)
        for pure, exact in itertools.product((1e-295, 0.37, 1234.5), (1e-295, 0.37, 1234.5, math.nan)):
            mark, sentence, short = needed_sentences(asked, pure, exact)
            assert len(short.split()) <= 15 and short.endswith(".") and "<" not in short, short
            if "not computed" in short:
                assert mark == "beyond reach" and "not computed" in sentence
                continue
            assert f"ε = {format_number(epsilon, 3)}" in short
            assert (f"δ = {format_number(delta, 3)}" in short) == (delta > 0)
            assert ("saves hardly any" in short) == ("too small to save" in sentence)
            assert ("without δ and with" in short) == ("→" in mark)


def test_literal_sentences_count_rows_once() -> None:
    """Invented rows of 1,000 real ones, and of a single one, where two roundings once said 2,985 and 2,990."""

    def said(n: int, epsilon: float, delta: float) -> tuple[str, str]:
        asked, pure = question("bernoulli", n=n, m=n, epsilon=epsilon, delta=delta), n / math.expm1(epsilon)
        exact = minimum_prior("synth_post_one", n=n, m=n, epsilon=epsilon, delta=delta) if delta else pure
        return needed_sentences(asked, pure, exact)[:2]

    mark, sentence = said(1000, 1.0, 1e-6)
    assert mark == "1,164 → 15.2 invented rows"
    assert sentence.endswith(
        "the agency must mix in <b>1,164</b> invented rows for 1,000 real rows, half of them yes. If it accepts "
        "δ = 10⁻⁶, <b>15.2</b> are enough."
    )
    assert "mix in <b>2,985</b> invented rows for one real row, half of them yes." in said(1, 0.00067, 0.0)[1]
    assert said(1, math.log(3), 0.0)[0] == "1 invented row"
    assert "mix in the weight of <b>0.0909</b> invented rows for 1,000 real rows" in said(1000, 10.0, 1e-6)[1]
    assert said(1000, 10.0, 1e-6)[1].endswith("If it accepts δ = 10⁻⁶, the weight of <b>0.00072</b> is enough.")


def test_sets_that_need_what_an_equal_share_needs_are_said_to_need_the_same() -> None:
    def said(sets: int, split: float) -> str:
        asked = question("gaussian", n=100, m=1, epsilon=1.0, delta=0.0, sigma0=1.0, sets=sets)
        return sets_sentence(asked, 0.04471, Shares(0.1, split, 0.1))[1]

    assert said(2, 0.04471).startswith("is the largest range for which both sets together of SYNTH_Post(One) keep")
    assert "(ε/M, δ/M) for each set allows the same." in said(5, 0.04479)
    assert "allows only <b>0.0412</b>." in said(5, 0.0412)


def test_the_range_that_is_said_to_be_private_is():
    """With δ a Gaussian mechanism with r = 2 R s / (n √(σ_μ² + σ²/m)), here with σ = 1."""
    for n, m, epsilon, delta, sigma0 in itertools.product(
        (1, 10, 100), (1, 30), (0.1, 2.0), (0.0, 1e-5), (1.0, math.inf)
    ):
        pure = maximum_range("synth_post_one", n=n, m=m, sigma0=sigma0, epsilon=epsilon)
        exact = maximum_range("synth_post_one", n=n, m=m, sigma0=sigma0, epsilon=epsilon, delta=delta)
        asked = question("gaussian", n=n, m=m, epsilon=epsilon, delta=delta, sigma0=sigma0)
        sentence = needed_sentences(asked, pure, exact)[1]
        first, *rest = numbers_in(sentence)
        narrow = rest[0] if rest else first
        assert narrow == pytest.approx(pure, rel=1.1e-2)
        assert narrow <= pure
        if delta > 0:
            shrink, spread = (float(one) for one in gaussian_posterior(n, sigma0))

            def failing(reach: float, e=epsilon, s=shrink, v=spread, n=n, m=m) -> float:
                return float(gaussian_excess(2 * reach * s / (n * math.sqrt(v + 1 / m)), e))

            assert failing(first) <= delta < failing(first * 1.011)


def test_who_keeps_a_promise_at_a_prior_is_who_does_by_the_matrix():
    seen = set()
    for n, m, epsilon, delta, alpha in itertools.product((6,), (1, 6), (2.0,), (0.0, 1e-2), (0.7, 1.5, 40.0)):
        setting = Setting(n=n, m=m, epsilon=epsilon, delta=delta)
        found = {key: KINDS["bernoulli"].given(method, setting, alpha) for key, method in CALIBRATED.items()}
        said = kept_by(found, setting)
        seen.add(said if said in ("no method", "every method") else "some")
        for method, law in LAWS.items():
            if method == "synth_map" and alpha <= 1:
                assert METHODS[method].label not in said.split(", ")
                assert said != "every method"
                continue
            keeps = listed_delta(law(n=n, m=m, alpha=alpha, beta=alpha), epsilon) <= delta + 1e-15
            assert keeps == (said == "every method" or METHODS[method].label in said.split(", ")), (setting, alpha)
    assert seen == {"no method", "every method", "some"}
    at_limit: Any = {"synth_map": SimpleNamespace(pure_epsilon=2.0)}
    assert kept_by(at_limit, Setting(n=6, m=6, epsilon=2.0)) == "every method"
