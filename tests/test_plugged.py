"""Mechanisms, a combining rule, kinds of data and a measure that somebody adds by a line each: all pages have them."""

import math
import re

import numpy as np
import pytest

from dpviz.charts.theme import PALETTE, color_of
from dpviz.core.formatting import format_number
from dpviz.mechanisms import SYNTHESIZERS
from dpviz.priors import minimum_prior
from tests import toys
from tests.helpers import value_of
from tests.plugged import OTHER_DATA, QUERIES, plugged_pages
from tests.toys import ADDED, TWICE, ExponentialMechanism, ManySmokers, RepeatedRow, ShyMean, Smokers, matrix_of

TOY = ExponentialMechanism.info.label
MECHANISMS = {toy.info.label for toy in toys.SYNTHESIZER_TOYS}
OFFERED = {
    "start": set[str](),
    "transition_matrices": MECHANISMS,
    "minimum_priors": set[str](),  # all of its methods are in the table
    "coverage": MECHANISMS | {TWICE.label},
    "posterior": MECHANISMS,
    "compare_synthesizers": MECHANISMS | {TWICE.label, Smokers.label},
    "budget": MECHANISMS | {TWICE.label, Smokers.label},
    "curator": MECHANISMS | {TWICE.label, ManySmokers.label, ADDED.label[0].upper() + ADDED.label[1:]},
}
"""Labels of the toys in the controls of each page."""

OF_OTHERS = re.compile(r"cut off|prior|pull|noise|invented|bins|posterior")
"""Words about other kinds of release."""


def text_of(page: str) -> str:
    text: str = plugged_pages()[page]["text"]
    return text


def test_every_page_and_closer_look_stays_without_faults() -> None:
    pages = plugged_pages()
    assert QUERIES.keys() < pages.keys()
    assert len(pages) > 40
    for name, page in pages.items():
        assert page["faults"] == [], name


def test_every_page_offers_what_was_added() -> None:
    assert OFFERED.keys() == QUERIES.keys()
    for name, labels in OFFERED.items():
        assert labels <= set(plugged_pages()[name]["options"]), name


def test_no_sentence_says_of_a_toy_what_another_kind_of_release_does() -> None:
    others = MECHANISMS - {TOY}
    modules = ("coverage", "posterior", "compare_synthesizers", "budget", "curator")
    names = [name for name in plugged_pages() if name.partition(":")[0] in modules and "sources" not in name]
    assert len(names) > 20
    for name in names:
        for sentence in re.split(r"(?<=[.!?])\s", text_of(name)):
            if TOY in sentence and not any(label in sentence for label in others):
                assert not OF_OTHERS.search(sentence), (name, sentence)


def test_coverage_says_what_moves_the_shares() -> None:
    words = text_of("coverage: Why it fails")
    assert "the choice between counts at random" in words
    assert "cut off" not in words
    assert "bias of the noise" not in words


def test_compare_says_what_is_true_of_the_toys() -> None:
    words = text_of("compare_synthesizers")
    assert f"At a promised ε = 1, {TOY} has the smallest error" in words
    assert f"by “{TWICE.label}”" in words
    promises = text_of("compare_synthesizers: What each promises").split(ExponentialMechanism.info.releases)[1]
    assert promises.startswith(" The promise ε = 1 is kept, 71.4 % of it used.")


def test_budget_speaks_of_the_kind_of_data_that_was_added() -> None:
    assert "the analyst's estimate of the share of smokers is typically off by" in text_of("budget")
    assert f"{TOY}, n = 8" in text_of("budget")


def test_the_desk_says_what_is_true_of_the_toys() -> None:
    words = text_of("curator")
    assert f"{TOY}, one set keeps all your limits with the analysis “As if real”" in words
    assert f"{TOY}. {ExponentialMechanism.info.releases}" in words
    assert "It gives away a privacy loss of ε = 1 " in words
    assert ADDED.column_label in words
    given = re.search(r"✓ all kept (\S+) set to (\S+)", words)
    assert given, words
    setting = value_of(given[2])
    assert value_of(given[1]) == 1
    assert toys.worst_log_odds(12, setting) == pytest.approx(1.0, abs=5e-4)
    counts = np.arange(13)
    square = (matrix_of(ExponentialMechanism, 12, 12, setting) * (counts - counts[:, None]) ** 2).sum(axis=1) / 144
    assert f"the release adds an error of {format_number(float(np.sqrt(square.mean())), 3)} (at most 0.3)" in words


def test_minimum_priors_has_a_method_that_was_added_for_the_data_that_it_releases() -> None:
    """The repeated row needs 1/(e^ε − 1) without δ, and the shy mean a tenth of what the posterior mean does."""
    mean = minimum_prior("synth_post_many", n=40, m=40, epsilon=1.5)
    for label, alpha in ((RepeatedRow.info.label, 1 / math.expm1(1.5)), (ShyMean.info.label, mean / 10)):
        cell = re.search(rf"{label} [^α]*α = (\S+)", text_of("minimum_priors"))
        assert cell and float(cell[1]) == pytest.approx(alpha, rel=5e-5), label
    for section in ("The inverse", "Several sets", "Average case", "Subsampling", "Uneven priors"):
        words = text_of(f"minimum_priors: {section}")
        assert RepeatedRow.info.label in words[words.index("Exact, computed here.") :], section
    for family in OTHER_DATA:
        words = text_of(family)
        assert "SYNTH_Post(One)" in words and RepeatedRow.info.label not in words, family


def test_a_mechanism_has_the_color_that_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SYNTHESIZERS, ExponentialMechanism.key, ExponentialMechanism)
    assert color_of(ExponentialMechanism.key) == PALETTE["lichen"]
