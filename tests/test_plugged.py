"""A mechanism, a combining rule, kinds of data and a measure that somebody adds by one line each: all eight pages."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest

from dpviz.charts.style import OTHER_RULE, color_of
from dpviz.core.parameters import readable
from pages.components.navigation import PAGES
from tests.pages import value_of
from tests.test_new_mechanism import matrix_of
from tests.toys import ADDED, TWICE, ExponentialMechanism, ManySmokers, Smokers

TOY = ExponentialMechanism.label
WHERE = {
    "start": set[str](),
    "transition_matrices": {TOY},
    "minimum_priors": set[str](),  # the toy has no prior
    "coverage": {TOY, TWICE.label},
    "posterior": {TOY},
    "compare_synthesizers": {TOY, TWICE.label, Smokers.label},
    "budget": {TOY, TWICE.label, Smokers.label},
    "curator": {TOY, TWICE.label, ManySmokers.label, ADDED.label[0].upper() + ADDED.label[1:]},
}
"""The toys that each page offers."""


@cache
def shown() -> dict[str, Any]:
    """What every page shows on a server of its own, which starts with the toys."""
    made = subprocess.run([sys.executable, "-m", "tests.plugged"], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr[-2000:]
    found: dict[str, Any] = json.loads(made.stdout)
    return found


def worst(n: int, epsilon: float) -> float:
    return float(np.abs(np.diff(np.log(matrix_of(ExponentialMechanism, n, n, epsilon)), axis=0)).max())


def test_every_page_is_visited() -> None:
    assert len(WHERE) == len(PAGES) == 8
    assert set(shown()) == set(WHERE)


@pytest.mark.parametrize("name", WHERE)
def test_every_page_stays_whole_and_offers_what_was_added(name: str) -> None:
    page = shown()[name]
    assert page["faults"] == []
    assert WHERE[name] <= set(page["options"])


def test_compare_says_what_is_true_of_the_toys() -> None:
    words = shown()["compare_synthesizers"]["text"]
    assert f"At a promised ε = 1, {TOY} has the smallest error" in words
    assert f"by “{TWICE.label}”" in words
    cells = re.search(rf"{TOY} one set (?:\S+ ){{5}}\S+ % (\S+)", words)
    assert cells, words
    assert value_of(cells[1]) == pytest.approx(worst(12, 1.0), abs=5e-5)


def test_budget_speaks_of_the_kind_of_data_that_was_added() -> None:
    assert "the analyst's estimate of the share of smokers is typically off by" in shown()["budget"]["text"]
    assert f"{TOY}, n = 8" in shown()["budget"]["text"]


def test_the_desk_says_what_is_true_of_the_toys() -> None:
    words = shown()["curator"]["text"]
    assert f"{TOY}, one set keeps all your limits with the analysis “As if real”" in words
    assert f"{TOY}. {ExponentialMechanism.releases}" in words
    assert ADDED.column in words
    given = re.search(r"✓ all kept (\S+) set to (\S+)", words)
    assert given, words
    setting = value_of(given[2])
    assert value_of(given[1]) == 1
    assert worst(12, setting) == pytest.approx(1.0, abs=5e-4)
    counts = np.arange(13)
    square = (matrix_of(ExponentialMechanism, 12, 12, setting) * (counts - counts[:, None]) ** 2).sum(axis=1) / 144
    assert f"the release adds an error of {readable(float(np.sqrt(square.mean())), 3)} (at most 0.3)" in words


def test_a_synthesizer_has_the_color_that_it_names_and_a_rule_without_a_style_a_common_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from dpviz.charts.style import PALETTE, style_of
    from dpviz.mechanisms import SYNTHESIZERS

    monkeypatch.setitem(SYNTHESIZERS, ExponentialMechanism.key, ExponentialMechanism)
    assert color_of(ExponentialMechanism.key) == PALETTE["lichen"]
    assert style_of(TWICE.key) is OTHER_RULE
