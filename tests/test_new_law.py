"""A law that somebody adds: one class, one entry in the registry, and its controls and its page are there."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.parameters import Parameter
from dpviz.privacy import delta_for_epsilon, pure_epsilon
from dpviz.synthesizers import SYNTHESIZERS, TwoCellSynthesizer, WorstCase
from dpviz.synthesizers.base import parameter
from dpviz.types import FloatArray, IntArray
from pages.transition_matrices import SPEC

TRUTH = Parameter(
    name="truth",
    symbol="t",
    title="Chance of the truth",
    minimum=0.5,
    maximum=0.99,
    default=0.75,
    slider_minimum=0.5,
    scale="log",
    private_end="smaller",
    help="How likely the single row answers truthfully.",
)


@dataclass(frozen=True, kw_only=True)
class RandomizedResponse(TwoCellSynthesizer):
    """One row that tells the truth with probability t: losses are ± ln(t / (1 − t))."""

    key: ClassVar[str] = "randomized_response"
    label: ClassVar[str] = "Randomised response"
    law: ClassVar[str] = r"\Pr(m_1 = n_1) = t"
    source: ClassVar[str] = "Warner (1965)"

    n: int = 1
    m: int = 1
    truth: float = parameter(TRUTH)

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        same = np.asarray(rows)[:, None] == np.asarray(columns)[None, :]
        return np.where(same, math.log(self.truth), math.log1p(-self.truth))

    def hockey_stick(self, epsilon: float) -> WorstCase:
        return WorstCase(max(0.0, self.truth - math.exp(epsilon) * (1 - self.truth)), 1, 0)


@pytest.fixture
def registered() -> Iterator[None]:
    SYNTHESIZERS[RandomizedResponse.key] = RandomizedResponse
    yield
    del SYNTHESIZERS[RandomizedResponse.key]


def test_everything_follows_from_the_law_alone() -> None:
    release = RandomizedResponse(truth=0.75)
    assert pure_epsilon(release) == pytest.approx(math.log(3), rel=1e-14)
    assert delta_for_epsilon(release, 0.0) == pytest.approx(0.5)
    assert np.allclose(release.transition_matrix(), [[0.75, 0.25], [0.25, 0.75]])


@pytest.mark.usefixtures("registered")
def test_its_page_has_its_controls_and_its_verdict() -> None:
    app = AppTest.from_file(str(SPEC.file), default_timeout=30)
    app.session_state["tm_law"] = RandomizedResponse.key
    app.run()
    assert not app.exception
    assert any("1.098612" in part.proto.body for part in app.get("html"))
    box = next(box for box in app.number_input if box.key == "tm_truth")
    box.set_value(0.9).run()
    assert not app.exception
    assert any("2.197225" in part.proto.body for part in app.get("html"))
