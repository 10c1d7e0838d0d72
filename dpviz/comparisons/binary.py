"""One yes/no variable, as in study 1 of Bowen & Liu or of other sizes, and the methods that release it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeVar, cast

from dpviz.comparisons.binary_base import REFERENCES, BinaryMethod, OneProportion, promising_methods
from dpviz.comparisons.compared_method import ComparedMethod
from dpviz.comparisons.nested_modips import NestedModips
from dpviz.core import limits
from dpviz.core.declarations import ROWS
from dpviz.designs import Design
from dpviz.mechanisms import SYNTHESIZERS, GeometricSanitizer
from dpviz.mechanisms.base import parameter

Read = TypeVar("Read")
NESTED = NestedModips.named("NestedModips")


class _ReadWhenAsked:
    """An attribute of a class that is computed wherever it is read."""

    def __init__(self, read: Callable[[], object]) -> None:
        self._read = read

    def __get__(self, instance: object, owner: type) -> object:
        return self._read()


def read_when_asked(read: Callable[[], Read]) -> Read:
    """Return an attribute of a class, there on its objects as well, that is what `read` returns when it is asked for.

    So a synthesizer that is registered later is among the methods from then on.
    """
    return cast(Read, _ReadWhenAsked(read))


@dataclass(frozen=True, kw_only=True)
class BinaryData(OneProportion):
    """The data of study 1: every method releases as many rows as there are, and is judged as the papers judge it."""

    key: ClassVar[str] = "binary"
    label: ClassVar[str] = "Yes or no (one proportion)"
    inside: ClassVar[bool] = False
    methods: ClassVar[tuple[ComparedMethod, ...]] = read_when_asked(lambda: (*REFERENCES, *promising_methods(), NESTED))
    usual: ClassVar[tuple[str, ...]] = (
        "original",
        "multiple_synthesis",
        "modips",
        "modips_truncated",
        "geometric",
        "laplace",
        "beta_binomial",
        "posterior_mean",
    )

    n: int = parameter(ROWS, default=100, maximum=limits.MAX_ROWS_OF_TABLE)
    m: int = dataclasses.field(init=False, default=0, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "m", self.n)


class CountData(OneProportion):
    """A count of many rows, of which more or fewer are released: those methods that keep a promise, beside no method.

    A method that cannot release so many rows says why by its `absence`.
    """

    key: ClassVar[str] = "count"
    label: ClassVar[str] = "Yes or no (a count)"
    usual: ClassVar[tuple[str, ...]] = ("original", "geometric", "laplace", "beta_binomial", "posterior_mean")
    methods: ClassVar[tuple[ComparedMethod, ...]] = read_when_asked(
        lambda: (
            REFERENCES[0],
            *sorted(
                promising_methods(),
                # What is there at once is the first that a reader sees, and of that the discrete optimum.
                key=lambda one: (
                    not one.synthesizer_type.needs_no_matrix,
                    one.synthesizer_type is not GeometricSanitizer,
                ),
            ),
        )
    )


def method_of_release(design: Design) -> BinaryMethod:
    """Return the method that releases sets of a design's mechanism; a ValueError in a sentence where there is none."""
    for one in BinaryData.methods:
        if isinstance(one, BinaryMethod) and not one.reference and one.synthesizer_type is design.synthesizer_type:
            return one
    other = SYNTHESIZERS.get(design.synthesizer_type.info.compared_as)
    same = f"with the smallest prior that keeps a promise it is the {other.info.label.lower()}" if other else ""
    why = same or design.synthesizer_type.info.not_compared
    raise ValueError(f"{design.synthesizer_type.info.label} is not among its methods{why and f': {why}'}.")
