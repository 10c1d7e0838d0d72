"""Arguments outside their domains are refused, in a sentence that begins with their name."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from dpviz.calibration.gaussian_range import maximum_range
from dpviz.calibration.parameter_draw import ParameterDraw
from dpviz.calibration.several_sets import minimum_prior_for_sets
from dpviz.calibration.smallest_prior import minimum_priors
from dpviz.priors import minimum_prior, minimum_prior_probabilistic, release

ONE_SET = {"method": "synth_post_one", "n": 5, "m": 5, "epsilon": 1.0, "delta": 1e-3}
GOOD: dict[Callable[..., Any], dict[str, Any]] = {
    minimum_prior: ONE_SET,
    minimum_priors: {"method": "synth_map", "settings": [(1, 1, 1.0, 0.1)]},
    minimum_prior_probabilistic: ONE_SET | {"delta": 0.1},
    minimum_prior_for_sets: ONE_SET | {"sets": 2},
    release: {"method": "synth_post_one", "n": 5, "m": 5, "alpha": 2.0},
    maximum_range: {"method": "param_post", "n": 10, "m": 1, "sigma": 1.0, "epsilon": 1.0},
    ParameterDraw: {"n": 3, "alpha": 1.0, "beta": 1.0},
}
BAD: dict[Callable[..., Any], list[tuple[str, dict[str, Any]]]] = {
    minimum_prior: [
        ("method", {"method": "laplace"}), ("n", {"n": 0}), ("n", {"n": 100_001}), ("m", {"m": 0}), ("m", {"m": 2.5}),
        ("epsilon", {"epsilon": -1.0}), ("epsilon", {"epsilon": 0.0, "delta": 0.0}), ("epsilon", {"epsilon": math.nan}),
        ("epsilon", {"epsilon": math.inf}), ("delta", {"delta": 1.0}), ("delta", {"delta": -1e-9}),
        ("delta", {"delta": math.nan}), ("beta", {"method": "synth_map", "beta": 1.0, "delta": 0.1}),
        ("ratio", {"ratio": 0.0}), ("ratio", {"ratio": math.inf}), ("cells", {"cells": 1}),
        ("beta", {"cells": 3, "beta": 1.0}), ("beta", {"cells": 3, "ratio": 2.0}),
    ],
    minimum_priors: [
        ("delta", {"settings": [(1, 1, 1.0, 0.1), (1, 1, 1.0, 1.0)]}),
        ("epsilon", {"settings": [(1, 1, 1.0, 0.1), (1, 1, 0.0, 0.0)]}), ("method must be one of", {"method": "none"}),
    ],
    minimum_prior_probabilistic: [
        ("method", {"method": "laplace"}), ("epsilon", {"epsilon": -1.0}), ("delta", {"delta": 1.0}),
        ("delta", {"delta": -0.1}), ("n", {"n": 0}), ("m", {"m": 0}),
        ("n and m must be at most 10,000 .*; got 10,001", {"n": 1, "m": 10_001}),
    ],
    minimum_prior_for_sets: [
        ("method must be one of", {"method": "param_map"}), ("sets .* must be a whole number from 1", {"sets": 0}),
        ("epsilon", {"epsilon": 0.0}), ("epsilon must be at least 10⁻⁶ for each set", {"epsilon": 2e-6, "sets": 5}),
        ("delta", {"delta": 1.0}), ("delta .allowed failure. must be 0, or at least 10⁻¹⁵⁰", {"delta": 1e-300}),
        ("n", {"n": 0}), ("m", {"m": 2.5}),
    ],
    release: [
        ("method", {"method": "param_map"}), ("n", {"n": 0}), ("m", {"m": 0}), ("alpha", {"alpha": 0.0}),
        ("alpha", {"method": "synth_map", "alpha": 1.0}), ("alpha", {"method": "synth_map", "alpha": 1.0, "cells": 3}),
        ("beta", {"beta": -1.0}), ("beta", {"cells": 3, "beta": 1.0}), ("cells", {"cells": 0}),
    ],
    maximum_range: [
        ("method must be one of synth_post_one, synth_post_many", {"method": "synth"}),
        ("n .* must be a whole number from 1 to 100,000; got 0", {"n": 0}),
        ("m .* must be a whole number from 1 to 100,000; got 2.5", {"m": 2.5}),
        ("sets .* must be a whole number from 1 to 500; got 501", {"sets": 501}),
        ("sigma .* must be a number from", {"sigma": 0.0}), ("sigma .* must .* got ∞", {"sigma": math.inf}),
        ("sigma0 .* must be a number from", {"sigma0": -1.0}), ("sigma0 .* must .* got nan", {"sigma0": math.nan}),
        ("epsilon .* must be a number from", {"epsilon": 0.0}), ("delta .* must be below 1", {"delta": 1.0}),
        ("delta .* must be a number from 0 to 1", {"delta": -0.1}),
    ],
    ParameterDraw: [
        ("n", {"n": 0}), ("n", {"n": 1.5}), ("alpha", {"alpha": 0.0}), ("beta", {"beta": math.inf}),
    ],
}  # fmt: skip
"""By function the beginning of its refusal, and what is wrong."""


@pytest.mark.parametrize(("function", "beginning", "changes"), [
    pytest.param(function, *case, id=f"{function.__name__}-{case[1]}")
    for function, cases in BAD.items()
    for case in cases
])  # fmt: skip
def test_a_bad_argument_is_named(function: Callable[..., Any], beginning: str, changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=rf"^{beginning}(?!\w)") as refusal:
        function(**GOOD[function] | changes)
    assert " must" in str(refusal.value)
