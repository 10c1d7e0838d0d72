"""Small random plans against plain loops (``tests.plans.brute``), a few of them here."""

from __future__ import annotations

import pytest

from tests.plans.brute import check_random

CHOSEN = (0, 2, 3, 7, 9, 11, 13, 19, 20, 24, 30, 40, 49)  # of every kind of answer, none of which takes long


@pytest.mark.parametrize("place", CHOSEN)
def test_a_small_plan_is_that_of_plain_loops(place: int) -> None:
    check_random(f"1 {place}")
