"""Every generated sentence of the page "Minimum priors", but the audit's, is a claim: checked against numbers."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable

import numpy as np
import pytest

from dpviz.calibration.curves import Shares
from dpviz.calibration.data_kinds import PromiseQuestion
from dpviz.calibration.text import kept_by, needed_sentences, sets_sentence
from dpviz.claims.formulas import subsampled_epsilon_printed
from dpviz.claims.thesis_in_words import average_in_words, sampling_in_words
from dpviz.core.formatting import format_number
from dpviz.mechanisms import BetaBinomial, DirichletMultinomial, PosteriorMean, PosteriorMode, TwoCellSynthesizer
from dpviz.priors import CALIBRATED, KINDS, METHODS, Setting, maximum_range, minimum_prior
from dpviz.privacy.average_case import count_release_delta
from dpviz.privacy.probabilistic import failure_by_row
from dpviz.privacy.subsampling import subsampled_epsilon, subsampled_tight
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


def test_a_sample_of_all_rows_changes_nothing_and_losses_are_rounded_to_one_side() -> None:
    """A loss of 1.66472 at both ends was once said to change from 1.66 to 1.67."""
    assert sampling_in_words(1.66472, 1.66472, 1.66472) == (
        "ε = 1.67", "its loss stays at ε = 1.67. Theorem 2.22 promises ε = 1.67."
    )  # fmt: skip
    mark, sentence = sampling_in_words(1.66472, 0.62011, 2.14, " at most")
    assert mark == "ε = 1.67 → at most 0.621"
    assert sentence == "its loss changes from ε = 1.67 to at most ε = 0.621. Theorem 2.22 promises ε = 2.14."
    asked = question("bernoulli", n=6, m=6, epsilon=1.0, delta=1e-3)
    alone = KINDS["bernoulli"].given(METHODS["synth_post_one"], asked.setting, 1.0)
    assert alone is not None
    made = METHODS["synth_post_one"].two_cells(6, 6, 1.0, 1.0)
    after = subsampled_epsilon(made, 6, 1e-3)
    assert sampling_in_words(alone.epsilon_at_delta, after, 9.0)[1].startswith("its loss stays at ε = ")


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


def test_random_rows_hide_one_among_them_but_not_one_alone():
    for n, theta, epsilon in itertools.product((1, 2, 5, 100), (0.01, 0.5, 0.9), (0.01, 1.0, 8.0)):
        assert ("hides one row" in average_in_words(n, theta, epsilon, 0.5)[1]) == (
            count_release_delta(n, theta, epsilon) < 1
        )
    deltas = [count_release_delta(n, 0.3, 0.5) for n in (100, 200, 400)]
    assert deltas[2] / deltas[1] < (deltas[1] / deltas[0]) ** 1.5  # exponentially, as said of Corollary 6.19


def test_what_is_said_of_uneven_priors_holds():
    """Without δ the smaller one binds; with δ more of the other never hurts; the pull is towards α/(α + β)."""
    for law, n, m, epsilon, alpha in itertools.product(
        (BetaBinomial, PosteriorMean), (1, 12), (1, 12), (0.2, 2.0), (0.5, 9.0)
    ):
        betas = (alpha, 2 * alpha, 50 * alpha)
        releases = [law(n=n, m=m, alpha=alpha, beta=beta) for beta in betas]
        exact = [release.worst_log_odds().value for release in releases]
        assert exact == pytest.approx([exact[0]] * 3, rel=1e-9)
        left = [listed_delta(release, epsilon) for release in releases]
        assert left[0] >= left[1] * (1 - 1e-9) >= left[2] * (1 - 1e-9) ** 2
    far = [law(n=3, m=5, alpha=3e6, beta=1e6).transition_matrix() @ np.arange(6) / 5 for law in LAWS.values()]
    assert np.allclose(far, 0.75, atol=1e-5)
    near = PosteriorMode(n=1, m=1, alpha=2.0, beta=1.5).transition_matrix()[:, 1]
    assert near.tolist() == pytest.approx([(0 + 1) / (1 + 1.5), (1 + 1) / (1 + 1.5)])  # towards 1/1.5, not 2/3.5


def test_what_is_said_of_several_categories_holds():
    """From k = 3 on the prior falls and the total grows; PARAM_Post needs the same for every k and n."""
    for n, m, epsilon, delta in itertools.product((1, 5, 50), (1, 20), (0.1, 1.0, 8.0), (1e-6, 1e-2)):
        needed = [
            minimum_prior("synth_post_one", n=n, m=m, epsilon=epsilon, delta=delta, cells=cells) for cells in (3, 5, 20)
        ]
        assert needed[0] >= needed[1] * (1 - 1e-9) >= needed[2] * (1 - 2e-9)
        if needed[2] > 1e-200:
            assert 3 * needed[0] <= 5 * needed[1] * (1 + 1e-9) <= 20 * needed[2] * (1 + 2e-9)
    every = [
        minimum_prior("param_post", n=n, m=1, epsilon=1.0, delta=1e-5, cells=cells)
        for n, cells in itertools.product((1, 7, 100), (3, 30))
    ]
    assert every == pytest.approx([every[0]] * len(every), rel=1e-9)
    for alpha, epsilon in itertools.product((0.5, 2.0), (0.2, 1.0)):
        release = DirichletMultinomial(n=4, m=3, cells=3, alpha=alpha)
        worst = release.hockey_stick(epsilon)
        cells = np.array([release.row_table(worst.likelier), release.row_table(worst.other)])
        moved = np.flatnonzero(cells[0] != cells[1])
        assert sorted(cells[:, moved].ravel().tolist()) == [0, 0, 1, 1]  # its only row of two cells in one or the other
        assert worst.value == pytest.approx(listed_delta(release, epsilon), rel=1e-9)


def test_the_probability_of_failure_does_not_fall_steadily_in_the_prior():
    priors = np.geomspace(1.0, 30.0, 200)
    failing = [failure_by_row(BetaBinomial(n=20, m=5, alpha=one, beta=one), 1.0).max() for one in priors]
    steps = np.diff(failing)
    assert steps.min() < -1e-3
    assert steps.max() > 1e-6


def test_what_is_said_of_sampling_holds():
    """r (e^ε − 1) is safe, and above ε itself for r near 1; the best general bound is ln(1 + r (e^ε − 1))."""
    for epsilon, rate in itertools.product((0.01, 1.0, 5.0), (0.01, 0.5, 1.0)):
        printed, tight = subsampled_epsilon_printed(epsilon, rate), subsampled_tight(epsilon, rate)
        assert printed == pytest.approx(rate * math.expm1(epsilon))
        assert tight == pytest.approx(math.log1p(rate * math.expm1(epsilon)))
        assert tight <= printed * (1 + 1e-12)
        assert rate < 1 or printed > epsilon
    one = PosteriorMode(n=6, m=4, alpha=3.0, beta=3.0).transition_matrix()
    assert np.allclose(one, PosteriorMean(n=6, m=4, alpha=2.0, beta=2.0).transition_matrix(), atol=1e-14)
