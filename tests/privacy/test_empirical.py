"""The lower bound from draws: it catches too little noise, and is wrong no more often than it says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpviz.mechanisms import LaplaceSanitizer
from dpviz.privacy.empirical import Sampler, empirical_epsilon


def laplace_count(scale: float) -> Sampler:
    return lambda count, generator, size: count + generator.laplace(0.0, scale, size)


def sanitized_count(scale: float) -> Sampler:
    sanitizer = LaplaceSanitizer(n=20, epsilon=1 / scale)
    return lambda count, generator, size: sanitizer.draw(generator, count, size)


@pytest.mark.parametrize("sampler", [laplace_count, sanitized_count])
def test_half_the_noise_is_caught(sampler):
    for confidential in (0, 3):
        right, wrong = (
            empirical_epsilon(sampler(scale), confidential, confidential + 1, np.random.default_rng(1), 20_000)
            for scale in (1.0, 0.5)
        )
        assert right <= 1.0
        assert 1.5 < wrong <= 2.0


def test_the_bound_is_wrong_no_more_often_than_it_says() -> None:
    generator = np.random.default_rng(4)
    bounds = [empirical_epsilon(laplace_count(1.0), 0, 1, generator, 1_000, 0.8) for _ in range(150)]
    assert sum(bound > 1.0 for bound in bounds) <= 0.2 * 150 + 4 * math.sqrt(150 * 0.2 * 0.8)


def test_what_no_release_returns_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="one a draw"):
        empirical_epsilon(lambda *_: [1.0], 0, 1, np.random.default_rng(1), 200)
