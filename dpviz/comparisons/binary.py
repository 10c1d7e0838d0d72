"""One yes/no variable, as in study 1 of Bowen & Liu or of other sizes, and the methods that release it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

from dpviz import limits
from dpviz.analysis import PROPORTION
from dpviz.comparisons.base import Analysis, Method
from dpviz.comparisons.binary_base import OneProportion
from dpviz.comparisons.binary_measures import RowMoments
from dpviz.comparisons.binary_methods import BINARY_METHODS, GEOMETRIC, ORIGINAL
from dpviz.comparisons.estimates import estimate_moments
from dpviz.comparisons.nested_modips import NestedModips
from dpviz.synthesizers.base import ROWS, SYNTHETIC_ROWS, parameter


@dataclass(frozen=True, kw_only=True)
class BinaryData(OneProportion):
    """The data of study 1: every method releases as many rows as there are."""

    key: ClassVar[str] = "binary"
    label: ClassVar[str] = "Yes or no (one proportion)"
    methods: ClassVar[tuple[Method, ...]] = (*BINARY_METHODS, NestedModips())
    usual: ClassVar[tuple[str, ...]] = (
        "original", "multiple_synthesis", "modips", "modips_truncated", "laplace", "beta_binomial", "posterior_mean",
    )  # fmt: skip

    n: int = parameter(ROWS, default=100, maximum=limits.MODIPS_ROWS)
    m: int = dataclasses.field(init=False, default=0, repr=False, compare=False)
    p: float = parameter(PROPORTION)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "m", self.n)


@dataclass(frozen=True, kw_only=True)
class CountData(OneProportion):
    """A count of many rows, of which more or fewer are released: those methods that keep a promise, beside no method.

    A method that cannot release so many rows says why by its `absence`. An analyst whose rule knows how the sets were
    made corrects the estimate for that too (`dpviz.comparisons.estimates`).
    """

    key: ClassVar[str] = "count"
    label: ClassVar[str] = "Yes or no (a count)"
    methods: ClassVar[tuple[Method, ...]] = (
        ORIGINAL,
        *sorted(
            (GEOMETRIC, *(one for one in BINARY_METHODS if not one.reference)),
            key=lambda one: not one.law.needs_no_matrix,  # what is there at once is the first that a reader sees
        ),
    )

    n: int = parameter(ROWS, default=1000, maximum=limits.COUNT_ROWS)
    m: int = parameter(SYNTHETIC_ROWS, default=1000, maximum=limits.COUNT_ROWS)
    p: float = parameter(PROPORTION)

    def estimate_moments(self, method: Any, setting: float, analysis: Analysis) -> RowMoments:
        sets = method.sets(analysis.sets)
        made, rule = method.synthesizer(self, setting / sets), analysis.rule_for(sets)
        return estimate_moments(made, sets, rule)
