"""What the pages compute is computed once, for the arguments that it was computed for."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dpviz.synthesizers import BetaBinomial, Synthesizer
from dpviz.synthesizers.given_matrix import GivenMatrix
from pages.components.cached import cached, forget

CALLS: list[object] = []


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    CALLS.clear()
    forget()
    yield
    forget()


def shape(synthesizer: Synthesizer, factor: float = 1.0) -> float:
    CALLS.append(synthesizer)
    if factor < 0:
        raise ValueError("factor must be at least 0.")
    return factor * synthesizer.shape[0]


def other(synthesizer: Synthesizer, factor: float = 1.0) -> float:
    return -shape(synthesizer, factor)


def given(*rows: list[float], decimals: int | None = None) -> GivenMatrix:
    return GivenMatrix(probabilities=np.array(rows), decimals=decimals)


def test_equal_arguments_are_computed_once_however_they_are_passed() -> None:
    found = [
        cached(shape)(BetaBinomial(n=5, m=5, alpha=1, beta=1)),
        cached(shape)(BetaBinomial(n=5, m=5, alpha=1, beta=1), 1.0),
        cached(shape)(factor=1.0, synthesizer=BetaBinomial(n=5, m=5, alpha=1, beta=1)),
    ]
    assert found == [6.0] * 3
    assert len(CALLS) == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (BetaBinomial(n=5, m=5, alpha=1, beta=1), BetaBinomial(n=5, m=5, alpha=1, beta=1 + 1e-15)),
        (given([0.5, 0.5], [0.25, 0.75]), given([0.5, 0.5], [0.25 + 1e-16, 0.75])),
        (given([0.5, 0.5], [0.25, 0.75]), given([0.5, 0.5], [0.25, 0.75], decimals=2)),
    ],
)
def test_what_differs_in_the_last_digit_is_computed_anew(first: Synthesizer, second: Synthesizer) -> None:
    for one in (first, second, first, second):
        cached(shape)(one)
    assert len(CALLS) == 2


def test_equal_matrices_are_one() -> None:
    for _ in range(2):
        cached(shape)(given([0.5, 0.5], [0.25, 0.75]))
    assert len(CALLS) == 1


def test_functions_have_a_store_each() -> None:
    release = BetaBinomial(n=5, m=5, alpha=1, beta=1)
    assert (cached(shape)(release), cached(other)(release), cached(shape)(release)) == (6.0, -6.0, 6.0)


def test_a_refusal_is_not_kept() -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="at least 0"):
            cached(shape)(BetaBinomial(n=5, m=5, alpha=1, beta=1), -1.0)
    assert len(CALLS) == 2


def slowly(number: int) -> int:
    CALLS.append(threading.get_ident())
    time.sleep(0.05)
    return number + 1


def test_readers_who_ask_for_the_same_at_once_wait_for_one_of_them() -> None:
    with ThreadPoolExecutor(8) as readers:
        assert list(readers.map(cached(slowly), [1] * 8)) == [2] * 8
    assert len(CALLS) == 1


def test_what_was_not_asked_for_the_longest_is_forgotten_first() -> None:
    kept = cached(shape, entries=2)
    for n in (1, 2, 1, 3, 1):
        kept(BetaBinomial(n=n, m=n, alpha=1, beta=1))
    assert len(CALLS) == 3
    kept(BetaBinomial(n=2, m=2, alpha=1, beta=1))
    assert len(CALLS) == 4


class Adder:
    def __init__(self, base: int) -> None:
        self.base = base

    def __repr__(self) -> str:
        return f"Adder({self.base})"

    def plus(self, number: int = 0) -> int:
        CALLS.append(number)
        return self.base + number


def test_a_method_is_told_apart_by_what_it_belongs_to() -> None:
    assert [cached(Adder(base).plus)(1) for base in (1, 2, 1)] == [2, 3, 2]
    assert len(CALLS) == 2
