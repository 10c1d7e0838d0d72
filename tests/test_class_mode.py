"""Class mode's three digits are those of the number itself, though they are taken from text that was rounded before."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.core.digits import three_digits
from dpviz.core.parameters import readable


@pytest.mark.parametrize("digits", [4, 5, 6])
def test_no_number_is_rounded_twice(digits: int) -> None:
    rng = np.random.default_rng(1)
    halves = [float(f"{one}5e{power}") for one in rng.integers(101, 999, 200) for power in (-5, -3, -2, -1)]
    near = [half * (1 + side * 10.0**-far) for half in halves for side in (-1, 1) for far in (4, 6, 7, 9)]
    for number in [*near, *rng.uniform(0.001, 2000, 2000)]:
        text = three_digits(readable(number, digits)).replace(",", "")
        places = len(text.partition(".")[2])
        shown = readable(number, digits).replace(",", "")
        assert len(text) <= len(shown)
        assert abs(float(text) - number) <= 0.5 * 10.0**-places * (1 + 1e-9) + (text == shown) * 10.0**-places
