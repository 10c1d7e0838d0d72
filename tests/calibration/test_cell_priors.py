"""Edges at which a calibration or an audit once went wrong: tiny priors, tiny δ, large ε, the ends of the domain."""

from __future__ import annotations

import itertools
import math

import mpmath as mp
import pytest

from dpviz.audit.theorem_audit import audit_theorems as audit
from dpviz.calibration.several_sets import minimum_prior_for_sets
from dpviz.mechanisms import DirichletMultinomial, MultinomialMean
from dpviz.mechanisms.cells import DrawnCells, PlugInCells
from dpviz.priors import minimum_prior
from tests.referees import delta_of_cells

CELL_LAWS: dict[str, type[PlugInCells]] = {"draw": DrawnCells, "plug_in": PlugInCells}
LAWS = {"draw": DirichletMultinomial, "plug_in": MultinomialMean}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("n", "m", "cells"), [(1, 60, 3), (3, 7, 5), (50, 200, 3)])
def test_tiny_and_large_priors_of_cells_agree_with_sorted_losses(law: str, n: int, m: int, cells: int) -> None:
    for alpha, epsilon in itertools.product((1e-300, 1e-6, 0.3, 0.5, 0.7, 1.0, 40.0, 1e4), (0.0, 0.5, 2.0, 20.0)):
        expected = LAWS[law](n=n, m=m, cells=cells, alpha=alpha).hockey_stick(epsilon).value
        found = CELL_LAWS[law].alike(n=n, m=m, cells=cells, alpha=alpha).hockey_stick(epsilon).value
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-15), (alpha, epsilon)


@pytest.mark.parametrize(("method", "n", "m", "cells", "epsilon", "delta"), [
    ("synth_post_one", 1000, 1000, 3, 40.0, 1e-6),
    ("synth_post_one", 1000, 1000, 3, 36.0, 1e-6),
    ("synth_post_one", 3, 1, 3, 12.0, 1e-12),
    ("synth_post_one", 1, 5, 1000, 50.0, 0.4),
    ("synth_post_one", 100, 30, 4, 44.0, 1e-15),
    ("synth_post_many", 1000, 1, 3, 40.0, 1e-6),
    ("synth_post_many", 2, 30, 7, 50.0, 1e-15),
    ("synth_map", 1, 3, 3, 37.0, 1e-10),
    *(("synth_post_one", n, 3, 3, epsilon, 1e-9) for n in (1, 20) for epsilon in (0.01, 1.0, 20.0, 34.5, 38.0)),
])  # fmt: skip
def test_a_prior_for_many_cells_and_a_large_epsilon_keeps_its_promise(method, n, m, cells, epsilon, delta):
    found = minimum_prior(method, n=n, m=m, cells=cells, epsilon=epsilon, delta=delta)
    with mp.workdps(60):
        shift = 1 if method == "synth_map" else 0
        asked = (method, n, m, cells)
        assert delta_of_cells(*asked, mp.mpf(found) - shift, epsilon) <= delta * (1 + mp.mpf("1e-11"))
        if found * (1 - 1e-6) > shift:
            assert delta_of_cells(*asked, mp.mpf(found) * (1 - mp.mpf("1e-6")) - shift, epsilon) > delta


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("alpha", [1e-300, 1e-40, 1e-16, 1e-3, 2.0, 1e9])
def test_delta_of_many_cells_at_its_ties(law: str, alpha: float) -> None:
    """ε just below a log-odds and well away from it, where e^−ε, e^ε − 1 and 1 lie many decades apart."""
    method = "synth_post_one" if law == "draw" else "synth_post_many"
    one = CELL_LAWS[law].alike(n=2, m=6, cells=3, alpha=alpha)
    levels = [math.log1p(u / alpha) - math.log1p(v / alpha) for u, v in ((6, 0), (5, 1), (2, 1), (1, 0))]
    if law == "plug_in":
        levels = [lead * math.log1p(1 / alpha) for lead in (6, 4, 1)]
    with mp.workdps(60):
        for level, part in itertools.product(levels, (0.5, 0.9, 1 - 1e-9, 1 + 1e-9)):
            true = delta_of_cells(method, 2, 6, 3, mp.mpf(alpha), level * part)
            assert one.hockey_stick(level * part).value == pytest.approx(float(true), rel=1e-6, abs=1e-290)


@pytest.mark.parametrize("epsilon", [720.0, 735.0, 744.0, 745.0, 746.0, 780.0])
def test_losses_whose_other_side_underflows(epsilon: float) -> None:
    """n = 1, m = 300, α = 0.05: the mean loss is near 790, and e to minus that is no floating-point number."""
    with mp.workdps(60):
        true = delta_of_cells("synth_post_many", 1, 300, 3, mp.mpf(0.05), epsilon)
    for one in (MultinomialMean(n=1, m=300, cells=3, alpha=0.05), PlugInCells.alike(n=1, m=300, cells=3, alpha=0.05)):
        assert one.hockey_stick(epsilon).value == pytest.approx(float(true), rel=1e-11)


def test_sets_of_many_cells_and_a_large_epsilon_keep_their_promise() -> None:
    """Two sets of one draw from n = 3: the two draws enumerated, with odds 1 + 1/α of a draw of either cell."""
    found = minimum_prior_for_sets("synth_post_one", n=3, m=1, cells=3, sets=2, epsilon=40.0, delta=1e-9)
    with mp.workdps(60):

        def both(alpha: mp.mpf) -> mp.mpf:
            drawn = [(alpha + 1, alpha), (alpha, alpha + 1), (2 + alpha, 2 + alpha)]
            pairs = [(p * r, q * s) for p, q in drawn for r, s in drawn]
            return mp.fsum(max(0, p - mp.exp(40) * q) for p, q in pairs) / (3 + 3 * alpha) ** 2

        assert both(mp.mpf(found)) <= 1e-9 < both(mp.mpf(found * (1 - 2e-6)))


def test_an_answer_beyond_the_domain_is_infinite_and_never_called_exact() -> None:
    assert minimum_prior("param_post", n=2, m=1, epsilon=1e-6, delta=1e-6, ratio=7.9) == math.inf
    assert minimum_prior("synth_post_one", n=5, m=1, epsilon=1e-6, ratio=1e-8) == math.inf
    found = {finding.theorem.key: finding for finding in audit("bernoulli", n=1, m=1, epsilon=3e-5, delta=1e-80)}
    assert found["6.5"].verdict == "not asked here"
    assert "beyond" in found["6.4"].sentence


def test_a_printed_prior_of_exactly_one_is_audited() -> None:
    found = audit("categorical", n=10, m=1, epsilon=80.0)
    assert {one.theorem.key: one.verdict for one in found if one.theorem.key in ("6.21", "6.22")} == {
        "6.21": "exact",
        "6.22": "safe",
    }


def test_equal_scales_are_called_exact() -> None:
    found = audit("gaussian", n=100, m=1, epsilon=690.0, sigma=0.1, sigma0=0.01)
    assert [finding.verdict for finding in found if finding.theorem.number == "7.3"] == ["exact"]
