"""What the pages compute is computed once, for the arguments that it was computed for."""

from __future__ import annotations

import ast
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from dpviz.core import keeping
from dpviz.core.keeping import KEPT, Kept, bare, kept, size_of
from dpviz.core.pool import POOL, InPlace
from dpviz.inference.confidential import binomial_distributions, released_rows
from dpviz.mechanisms import BetaBinomial, Synthesizer
from dpviz.mechanisms.given_matrix import GivenMatrix
from pages.components.cached import apart, cached, forget, once
from pages.components.growing import finished_before, keep_finished
from pages.components.turns import Turns

CALLS: list[object] = []
ROOT = Path(__file__).parents[1]


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
    two = Kept(100_000)

    def made(n: int) -> bytes:
        CALLS.append(n)
        return bytes(40_000)

    for n in (1, 2, 1, 3, 1):
        two.get(n, partial(made, n))
    assert CALLS == [1, 2, 3]
    two.get(2, partial(made, 2))
    assert CALLS == [1, 2, 3, 2]


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


def block(number: int) -> np.ndarray:
    CALLS.append(number)
    return np.full(1_000_000, float(number))


def test_all_that_is_kept_keeps_to_one_budget_and_the_oldest_goes_first() -> None:
    """Sixteen of 8 MB fit into 128 MB less what surrounds them: fifteen, whoever keeps them."""
    computed, mine = cached(block), kept(block)
    for number in range(60):
        if number % 3 == 0:
            computed(number)
        elif number % 3 == 1:
            keep_finished(number, block(number))
        else:
            mine(number)
        assert KEPT.size <= 128_000_000
    assert 15 * 8_000_000 <= KEPT.size == sum(one.size for one in KEPT._entries.values())
    assert len(KEPT) == 15
    CALLS.clear()
    computed(45)
    assert CALLS == []
    assert finished_before(46, np.ndarray) is not None
    computed(42)
    assert CALLS == [42]
    assert finished_before(43, np.ndarray) is None
    mine(44)
    assert CALLS == [42, 44]


def test_what_is_larger_than_all_may_be_is_not_kept() -> None:
    small = Kept(100_000)
    small.keep("a", bytes(60_000))
    small.keep("b", bytes(100_001))
    assert [len(small), small.find("b")] == [1, ()]
    assert 60_000 < small.size < 61_000
    small.keep("a", bytes(100_001))  # in place of the one before it
    assert (len(small), small.size) == (0, 0)


def test_rows_of_binomials_are_kept_where_they_are_few_and_a_matrix_is_nobody_elses() -> None:
    few, many = (20, (0.25, 0.5)), (200_000, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
    for (n, proportions), held in ((few, True), (many, False)):
        found = binomial_distributions(n, proportions)
        assert found.shape == (len(proportions), n + 1)
        assert np.abs(found - binom.pmf(np.arange(n + 1), n, np.array(proportions)[:, None])).max() < 1e-9
        assert (binomial_distributions(n, proportions) is found) == held
    release = BetaBinomial(n=9, m=9, alpha=2, beta=1)
    first = released_rows(release, np.arange(10))
    first[:] = 0.0
    assert released_rows(release, np.arange(10)).sum(axis=1) == pytest.approx(np.ones(10))


def test_what_is_asked_for_again_is_younger() -> None:
    three = Kept(100_000)
    three.keep("a", bytes(40_000))
    three.keep("b", bytes(40_000))
    assert three.find("a")
    three.keep("c", bytes(40_000))
    assert [bool(three.find(one)) for one in "abc"] == [True, False, True]
    three.clear()
    assert (len(three), three.size) == (0, 0)


def test_what_a_result_computes_of_itself_later_is_counted() -> None:
    """A matrix of 201 x 201 is 323 kB, its log-odds 322 kB."""
    two = Kept(1_000_000)
    made = GivenMatrix(probabilities=np.full((201, 201), 1 / 201))
    two.keep("other", bytes(500_000))
    two.keep("made", made)
    assert 823_000 < two.size < 850_000
    made.hockey_stick(0.0)
    assert made is two.find("made")[0]
    assert not two.find("other")
    assert 645_000 < two.size < 1_000_000


def test_what_is_replaced_while_its_size_is_taken_is_found_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    store, first, second = Kept(1_000_000), [1.0], [2.0]
    store.keep("key", first)
    taken = keeping.size_of

    def replaced(thing: object) -> int:
        """What another reader who has computed the same does at this very moment."""
        monkeypatch.setattr(keeping, "size_of", taken)
        store.keep("key", second)
        return taken(thing)

    monkeypatch.setattr(keeping, "size_of", replaced)
    assert store.find("key") == (first,)
    assert store.find("key") == (second,)
    assert store.size == taken(("key", second))


def test_a_key_holds_nothing_that_was_computed_since() -> None:
    """The log-odds that a page computes of a release belong to the reader's session, and end with it."""
    made = GivenMatrix(probabilities=np.full((201, 201), 1 / 201))
    shape_of = kept(lambda pair: CALLS.append(1) or pair[0].shape)
    assert shape_of((made, 1)) == shape_of((made, 1)) == (201, 201)
    before = size_of(made)
    made.hockey_stick(0.0)
    assert size_of(made) > before + 320_000
    key = next(reversed(KEPT._entries))
    assert size_of(key) < before + 10_000
    assert shape_of((GivenMatrix(probabilities=np.full((201, 201), 1 / 201)), 1)) == (201, 201)
    assert len(CALLS) == 1
    copy = bare(made)
    assert (copy == made, hash(copy) == hash(made), "_odds" in vars(made), "_odds" in vars(copy)) == (
        True,
        True,
        True,
        False,
    )


@pytest.mark.parametrize("crowded", [True, False])
def test_what_takes_a_moment_is_computed_apart_where_a_class_waits(
    crowded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same result, kept alike; a question that is refused says so in the same sentence."""
    asked = list[bool]()

    def ask(_key: object, begin: Callable[[], Iterator[float]], *, waited_for: bool) -> InPlace[float]:
        asked.append(waited_for)
        return InPlace(begin)

    monkeypatch.setattr(Turns, "crowded", property(lambda _: crowded))
    monkeypatch.setattr(POOL, "ask", ask)
    one = BetaBinomial(n=5, m=5, alpha=1, beta=1)
    assert [apart(shape)(one), apart(shape)(one), cached(shape)(one)] == [6.0] * 3
    assert len(CALLS) == 1
    with pytest.raises(ValueError, match=r"^factor must be at least 0\.$"):
        apart(shape)(one, -1.0)
    assert asked == [True, True][: 2 * crowded]


CACHES = {
    # Made once, or by what the program itself declares: classes, functions, pages.
    "dpviz.comparisons.binary_base.cache": 1, "dpviz.comparisons.categories.cache": 1,
    "dpviz.core.checked.cache": 1, "dpviz.core.record.cache": 2, "dpviz.mechanisms.base.cache": 1,
    "dpviz.calibration.methods.cache": 1, "pages.components.spec.cache": 2, "pages.components.navigation.cache": 1,
    "pages.components.address.cache": 1, "dpviz.core.keeping.1000": 2,
    "dpviz.desk.releases.cache": 2, "dpviz.teaching.game.cases.cache": 4,
    "dpviz.core.numerics.quadrature.cache": 1, "dpviz.desk.texts.cache": 1,
    "dpviz.claims.claim.512": 1, "pages.components.cached.512": 1,
    # Made once too, whatever a reader sets: small matrices of a degree, and the simulation of a printed table.
    "dpviz.core.numerics.bernstein.4": 1, "dpviz.core.numerics.bernstein.1": 1, "dpviz.claims.liu.1": 1,
    # Numbers, words and short lists that take microseconds to compute: to be found in the budget takes as long.
    "dpviz.claims.finding.4096": 1, "dpviz.calibration.base.4096": 1,
    "dpviz.core.sliders.1024": 1, "dpviz.core.sliders.4096": 1, "dpviz.core.sliders.512": 3,
    "dpviz.desk.question.256": 1,
    # A single table, or matrix, of at most 8 MB, which two or three questions in a row are asked of.
    "dpviz.coverage.certified.1": 1, "dpviz.inference.confidential.1": 1,
    # What belongs to one search, and ends with it; what belongs to a process that computes blocks of a study.
    "dpviz.calibration.zheng.4096": 2, "dpviz.coverage.studies.engine.1": 1, "dpviz.inference.beta_mixtures.2": 1,
}  # fmt: skip
"""Every cache beside the budget, by module and number of entries, and how many of them there are."""


def test_every_cache_beside_the_budget_is_listed_and_bounded() -> None:
    """What is kept by what a reader sets has a largest number of entries, and what is large belongs to the budget."""
    found: dict[str, int] = {}
    for path in sorted([*ROOT.glob("dpviz/**/*.py"), *ROOT.glob("pages/**/*.py")]):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        bounds = {
            id(call.func): str(rest.value.value)
            for call in ast.walk(tree)
            if isinstance(call, ast.Call)
            for rest in call.keywords
            if rest.arg == "maxsize" and isinstance(rest.value, ast.Constant)
        }
        for node in ast.walk(tree):
            name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
            if name in ("cache", "lru_cache", "cache_data", "cache_resource"):
                place = f"{module}.{name if name != 'lru_cache' else bounds.get(id(node), 'default')}"
                found[place] = found.get(place, 0) + 1
    assert found == CACHES


def test_a_size_counts_each_part_once_and_follows_what_an_object_holds() -> None:
    array = np.zeros(1000)
    assert 8000 < size_of(array) < 8300
    assert size_of([array, array[:5], array[5:]]) < 8000 + 1000
    assert size_of({"a": [array], "b": (np.ones(1000),)}) > 16_000
    made = BetaBinomial(n=200, m=200, alpha=1, beta=1)
    before = size_of(made)
    assert before < 100_000 < 8 * 201 * 201 < size_of([made, made.transition_matrix()])


def test_a_long_text_is_no_key_of_its_length() -> None:
    seen: list[int] = []

    def length(text: str | bytes) -> int:
        seen.append(len(text))
        return len(text)

    kept = cached(length)
    long = "1" * 1_000_000
    assert [kept(long), kept(long), kept(long[:-1] + "2"), kept(long.encode())] == [1_000_000] * 4
    assert len(seen) == 3
    assert KEPT.size < 10_000


def test_what_is_made_once_is_made_once_for_all_who_come_first() -> None:
    made: list[int] = []

    @once
    def slow(number: int) -> int:
        made.append(number)
        time.sleep(0.05)
        return 2 * number

    with ThreadPoolExecutor(10) as readers:
        assert list(readers.map(slow, [3] * 10)) == [6] * 10
    assert (made, slow(4), made) == ([3, 4], 8, [3, 4])


def test_what_fails_is_tried_again() -> None:
    tried: list[int] = []

    @once
    def second() -> int:
        tried.append(1)
        if len(tried) == 1:
            raise ValueError("not yet")
        return 5

    with pytest.raises(ValueError, match="not yet"):
        second()
    assert second() == second() == 5
    assert len(tried) == 2
