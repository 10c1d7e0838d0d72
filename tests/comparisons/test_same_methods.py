"""Every mechanism that one page knows is on every page that could show it, or its class says why it is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpviz.comparisons import DATA_KINDS, BinaryData, CategoryData, CountData
from dpviz.comparisons.budget import SplitOverSets
from dpviz.comparisons.categories import CategoryMethod
from dpviz.curator.question import QUESTION_KINDS as OF_DESK
from dpviz.mechanisms import SYNTHESIZERS, TwoCellSynthesizer, two_cell_synthesizers


def distributions_of(kind: Any) -> set[str]:
    return {one.synthesizer_type.key for one in kind.methods if not one.reference and not one.only_compared}


@pytest.mark.parametrize("key", two_cell_synthesizers())
def test_a_synthesizer_of_two_counts_is_compared_divided_and_on_the_desk(key: str):
    law = two_cell_synthesizers()[key]
    if law.info.compared_as:
        other = two_cell_synthesizers()[law.info.compared_as]
        for n, epsilon in ((7, 0.5), (20, 2.0)):
            made: list[Any] = [(each, each.smallest_alpha(m=n, epsilon=epsilon)) for each in (law, other)]
            first, second = (each(n=n, m=n, alpha=a, beta=a).transition_matrix() for each, a in made)
            np.testing.assert_allclose(first, second, rtol=1e-9)
        return
    if law.info.not_compared:
        assert not {key} & (
            distributions_of(BinaryData) | distributions_of(CountData) | {*SplitOverSets.methods(BinaryData)}
        )
        return
    assert key in distributions_of(BinaryData) and key in distributions_of(CountData)
    assert (key in SplitOverSets.methods(BinaryData)) == (not law.smallest_epsilon)


def test_a_synthesizer_of_more_counts_is_on_the_desk():
    shown = {one.of_cells.key for one in CategoryData.methods if isinstance(one, CategoryMethod)}
    for key, law in SYNTHESIZERS.items():
        if not issubclass(law, TwoCellSynthesizer):
            assert key in shown or law.info.compared_as in shown, key


def test_the_desk_and_the_comparison_have_the_same_methods_of_one_kind():
    compared = {one.key for one in BinaryData.methods if not one.reference and not one.only_compared}
    assert compared == {one.key for one in CountData.methods if not one.reference}
    for key in DATA_KINDS.keys() & OF_DESK.keys():
        assert [one.key for one in DATA_KINDS[key].methods] == [one.key for one in OF_DESK[key].methods]
