"""Every generated sentence of the page "Coverage" is a claim: checked against numbers over a grid of designs."""

import itertools
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dpviz.core.formatting import format_number, format_percent
from dpviz.coverage import ExactCoverage, coverage_by_proportion, coverage_decomposition, exact_coverages
from dpviz.coverage.answer import coverage_answer
from dpviz.coverage.curves import shortest_lengths
from dpviz.designs import Design
from dpviz.inference import RULES
from dpviz.mechanisms import two_cell_synthesizers
from pages.coverage import NUMBERS, describe_setting
from pages.posterior import NUMBERS as POSTERIOR_NUMBERS
from pages.ui.text import page_text
from tests.helpers import match_in, value_of
from tests.pairs import pairwise


def sentence_of(share: float, level: float = 0.95, vacuous: float = 0.0) -> str:
    """What is said of a coverage, after "contain the true share"."""
    coverage: Any = SimpleNamespace(coverage=share, vacuous_share=vacuous)
    return coverage_answer("", "score", coverage, level, "")[1].partition(" contain the true share")[2]


def exact_values(design: Design) -> dict[str, ExactCoverage]:
    """Exact coverage of the rules of a design."""
    return exact_coverages(
        synthesizer=design.release, p=design.p, sets=design.sets, rules=design.rules, level=design.level
    )


def test_the_short_answer_has_at_most_fifteen_words_and_says_what_the_long_one_says():
    seen = set()
    cases = pairwise(
        two_cell_synthesizers(), [(1, 1), (6, 6), (30, 30), (40, 15)], [1, 2, 5],
        [(0.0, 0.01), (0.01, 0.5), (0.25, 2.0), (0.5, 250.0), (0.9, 8.0), (1.0, 1.0)], [0.95, 0.5],
    )  # fmt: skip
    for law, (n, m), sets, (p, epsilon), level in cases:
        if m == n or two_cell_synthesizers()[law].has_prior:
            design = Design(mechanism=law, n=n, m=m, sets=sets, epsilon=epsilon, p=p, level=level)
            rules = tuple(key for key, rule in RULES.items() if rule.is_feasible(design.release, sets))
            for rule, one in exact_values(replace(design, rules=rules)).items():
                sizes = f"{n} people, {sets} tables"
                said = coverage_answer("", rule, one, level, sizes)[2]
                assert len(re.findall(r"[^\W_][\w.,⁻-]*", said)) <= 15, said
                name, share, stands, promised = match_in(
                    r"^(.+): (.+ %|none) of intervals are right, (as promised|not|over) ?(.+ %)?\.$", said
                ).groups()
                named = "" if share.startswith(("less", "more")) else f", {sizes}"
                assert name.lower() == RULES[rule].abbreviation.lower() + named
                percent = format_percent(one.coverage, 3)
                assert share == ("none" if percent == "0 %" else percent)
                off = one.coverage - level
                assert (stands == "as promised") == (promised is None) == (abs(off) < 5e-4)
                assert stands == "as promised" or (stands == "not") == (off < 0)
                assert promised in (None, format_percent(level, 8))
                stands = stands.replace("over", "more than")
                assert f" contain the true share, {stands}" in coverage_answer("", rule, one, level, "")[1]
                seen.add(stands)
    assert seen == {"as promised", "not", "more than"}


def test_a_design_is_told_in_people_shares_and_tables_over_a_grid():
    for n, m, sets, p in itertools.product((1, 2, 1234), (1, 40), (1, 3), (0.0, 0.1234, 0.999999, 1.0)):
        said = describe_setting(Design(mechanism="beta_binomial", n=n, m=m, sets=sets, epsilon=2.0, p=p))
        people, person, share, tables, table, rows, row = match_in(
            r"^(\S+) (people|person), a true share of (\S+) %, (\S+) released (tables?) of (\S+) (rows?) and ε = 2$",
            said,
        ).groups()
        assert (value_of(people), value_of(tables), value_of(rows)) == (n, sets, m)
        assert (person == "person", table == "table", row == "row") == (n == 1, sets == 1, m == 1)
        assert value_of(share) == pytest.approx(100 * p, rel=1e-3)
        assert (value_of(share) == 100) == (p == 1)


def test_a_coverage_is_told_against_its_level_and_what_says_nothing_from_one_in_a_hundred_on():
    for share, level in itertools.product(np.linspace(0, 1, 2001), (0.001, 0.5, 0.95, 0.99999, 0.999999)):
        words = sentence_of(share, level)
        if words == ", as promised.":
            assert abs(share - level) < 5e-4
        else:
            sense, promised, points, way = match_in(
                r"^, (not|more than) the promised (\S+) %: (\S+) points too (few|many)\.$", words
            ).groups()
            assert (way == "few") == (sense == "not") == (share < level)
            assert float(promised) == pytest.approx(100 * level, rel=1e-12)
            assert value_of(points) == pytest.approx(100 * abs(share - level), rel=6e-3)
    for share in np.linspace(0, 1, 1001).tolist():
        sentence = sentence_of(0.95, vacuous=share).removeprefix(", as promised.")
        assert bool(sentence) == (share >= 0.01)
        if sentence:
            shown = match_in(r"(All|[\d.]+)(?: %| of them) run", sentence)[1].replace("All", "100")
            assert value_of(shown) == pytest.approx(100 * share, rel=6e-3)


def test_the_answer_names_the_analyst_by_what_is_done():
    design = Design(mechanism="beta_binomial", n=100, sets=1, epsilon=2.0, rules=("as_if_real",))
    one = exact_values(design)["as_if_real"]
    _, sentence, _ = coverage_answer("", "as_if_real", one, 0.95, "")
    share = format_percent(one.coverage, 3)
    assert f"only <b>{share}</b> of the intervals computed as if the data were real contain the true share" in sentence
    assert ", not the promised 95 %: " in sentence
    assert "to within" not in sentence
    _, sentence, short = coverage_answer("", "as_if_real", replace(one, coverage=0.0), 0.95, "")
    assert "<b>none</b> of the intervals" in sentence and "only" not in sentence + short
    every = [rule.computed for rule in RULES.values()]
    assert len(set(every)) == len(every)
    assert RULES["clopper_pearson"].computed == "by exact equal tails"


def test_shares_near_all_are_not_said_to_be_all():
    """One release in a million less than all is 99.9999 %, and a hundred-millionth is not nothing."""
    assert format_percent(0.9999987, 3) == "99.9999 %"
    assert format_percent(1.0, 3) == "100 %"
    assert format_percent(2e-9, 4) == "less than 10⁻⁶ %" and format_percent(1 - 2e-9, 4) == "more than 99.999999 %"
    assert format_percent(1 - 1e-13) == "100 %" and format_percent(1e-13) == "0 %"
    assert sentence_of(0.95, vacuous=0.5) == ", as promised. Of them 50 % run from 0 to 100 % and say nothing."
    assert sentence_of(0.95, vacuous=1.0) == ", as promised. All of them run from 0 to 100 % and say nothing."


def test_the_explanations_of_coverage_hold():
    """At p = 1/2 nothing moves the estimate, and rules cover too seldom as well as too often."""
    asked = Design(mechanism="beta_binomial", n=100, sets=5, epsilon=2.0, delta=1e-6)
    numbers = {prior: replace(asked, prior=prior).alpha_of_one_set for prior in ("pure", "exact")}
    pure, exact = format_number(numbers["pure"], 4), format_number(numbers["exact"], 3)
    assert f"goes from {pure} invented rows to {exact} with" in " ".join(page_text("coverage", "why").split())
    covered = []
    for law, sets, rule in itertools.product(
        two_cell_synthesizers(), (1, 5), ("reiter_2002", "as_if_real", "raab_2017")
    ):
        guess = (("public_share", 0.5),) if law == "poisson_gamma" else ()  # as far from 0 as from 1
        release = Design(mechanism=law, n=24, m=24, sets=sets, epsilon=2.0, details=guess).release
        if RULES[rule].min_sets <= sets:
            one = coverage_decomposition(synthesizer=release, p=0.5, sets=sets, rule=rule)
            assert abs(one.bias) < 1e-12 or law == "poisson_count"  # which adds to the ones alone
            covered.append(one.published - one.level)
    assert min(covered) < -0.05
    assert max(covered) > 0.04


def test_a_line_below_the_limit_of_lengths_breaks_its_promise_somewhere():
    below = 0
    for law, epsilon, level in pairwise(two_cell_synthesizers(), (0.5, 8.0), (0.5, 0.95)):
        release = Design(mechanism=law, n=12, m=12, sets=1, epsilon=epsilon).release
        rules = [key for key, rule in RULES.items() if rule.min_sets == 1]
        p = np.linspace(0, 1, 25)
        curves = coverage_by_proportion(release, proportions=p, sets=1, rules=rules, level=level)
        limit = shortest_lengths(release, proportions=p, sets=1, level=level)
        for key, lengths, coverage in zip(curves.rules, curves.mean_width_inside, curves.coverage, strict=True):
            if (lengths < limit.length - limit.error - 1e-9).any():
                below += 1
                assert coverage.min() < level - 1e-6, (law, epsilon, level, key)
    assert below > 10
    too_large = Design(mechanism="beta_binomial", n=5000, m=5000, sets=2).release
    assert np.isnan(shortest_lengths(too_large, proportions=(0.0, 0.5), sets=2).length).all()


def test_sets_share_the_promise_and_rows_cost_prior():
    """What the controls say: neither M nor m moves a promise that the prior follows; at one α both do."""
    sizes = list(itertools.product((1, 4, 20), (1, 3, 10)))
    for law, epsilon in itertools.product(("beta_binomial", "posterior_mean", "posterior_mode"), (0.5, 8.0)):
        found = {(m, sets): Design(mechanism=law, n=9, m=m, sets=sets, epsilon=epsilon) for m, sets in sizes}
        assert [one.epsilon_of_sets for one in found.values()] == pytest.approx([epsilon] * 9)
        for sets in (1, 3, 10):
            few, more, most = (found[m, sets].alpha_of_one_set for m in (1, 4, 20))
            assert few < more < most
        own = {size: replace(design, prior="own", alpha=3.0).epsilon_of_sets for size, design in found.items()}
        assert own[4, 1] < own[4, 3] < own[20, 3] and own[4, 1] < own[20, 1]
    assert all(page["sets"].private_end == page["m"].private_end == "neither" for page in (NUMBERS, POSTERIOR_NUMBERS))
