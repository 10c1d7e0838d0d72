"""Every claim of Zheng (2015), *The Differential Privacy of Bayesian Inference*, Harvard College, as it is printed.

Nothing is corrected here, right or wrong. `data/theorems.csv` holds the words, `dpviz.audit.formulas` the numbers.
"""

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple

from dpviz.audit.formulas import CONDITIONS, FORMULAS
from dpviz.calibration.gaussian_range import ANY_SIGMA0, SIGMA
from dpviz.calibration.quantities import NO_QUANTITY, NOISE_QUANTITY, PRIOR_QUANTITY, RANGE_QUANTITY, Quantity
from dpviz.core import limits
from dpviz.core.data_files import read_table
from dpviz.core.declarations import DELTA, EPSILON, ROWS, SYNTHETIC_ROWS
from dpviz.core.parameters import Parameter, argument
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES, PRIOR_ZEROS

RTOL = 1e-9  # values closer than this, less a mode's 1, count as equal

DOMAINS: dict[str, Parameter] = {
    "n": dataclasses.replace(ROWS, maximum=limits.MAX_PRINTED_ROWS),
    "m": dataclasses.replace(SYNTHETIC_ROWS, maximum=limits.MAX_PRINTED_ROWS),
    "k": argument("k", 1, limits.MAX_PRINTED_ROWS, title="composed releases", integer=True),
    **dict.fromkeys(("epsilon", "epsilon_1", "epsilon_2"), EPSILON),
    **dict.fromkeys(("delta", "delta_1", "delta_2", "delta_prime"), DELTA),
    "alpha": PRIOR_ONES,
    "beta": PRIOR_ZEROS,
    "theta_real": argument("theta_real", 0, 1, title="true share"),
    "sigma": SIGMA,
    "sigma0": ANY_SIGMA0,
}
"""Domains of the arguments of formulas."""

QUANTITIES = {"": NO_QUANTITY, "prior": PRIOR_QUANTITY, "noise": NOISE_QUANTITY, "range": RANGE_QUANTITY}


class Verdict(StrEnum):
    """Verdict on a theorem at a setting."""

    EXACT = "exact"
    SAFE = "safe"
    UNSAFE = "unsafe"
    HOLDS = "holds"
    FALSE = "false"
    OPEN = "constant not stated"
    NOT_APPLICABLE = "not asked here"

    @property
    def is_refuted(self) -> bool:
        """Whether the theorem is wrong here."""
        return self in (Verdict.UNSAFE, Verdict.FALSE)

    @property
    def is_decided(self) -> bool:
        """Whether there was something to compare."""
        return self not in (Verdict.OPEN, Verdict.NOT_APPLICABLE)


class Promise(StrEnum):
    """Kind of privacy that a theorem promises or denies."""

    PURE = "(ε, 0)"
    APPROXIMATE = "(ε, δ)"
    ZERO_EPSILON = "(0, δ)"
    AVERAGE_CASE = "(ε, δ, Δ)"

    @property
    def has_epsilon(self) -> bool:
        """Whether ε may be above 0."""
        return self is not Promise.ZERO_EPSILON


class TheoremKind(StrEnum):
    """What a theorem says of its number: it keeps the promise, is needed, is never enough, has this order, or none."""

    SUFFICIENT = "sufficient"
    NECESSARY = "necessary"
    IMPOSSIBLE = "impossible"
    ORDER = "order"
    STATEMENT = "statement"

    @property
    def claims_sufficiency(self) -> bool:
        """Whether the number is said to keep the promise, rather than to break it."""
        return self not in (TheoremKind.NECESSARY, TheoremKind.IMPOSSIBLE)

    def verdict(self, keeps_promise: bool, is_equal: bool = False) -> Verdict:
        """Verdict on a number that keeps the promise or not, and equals the exact one or not."""
        if self is not TheoremKind.SUFFICIENT:
            is_true = is_equal or keeps_promise == self.claims_sufficiency
            return Verdict.HOLDS if is_true else Verdict.FALSE
        if is_equal:
            return Verdict.EXACT
        return Verdict.SAFE if keeps_promise else Verdict.UNSAFE


class Constant(NamedTuple):
    """Infimum and supremum of the constant that makes a theorem exact; None for the end that it does not speak of.

    `text` says for which settings, and where the decisive end is approached. What is not proved was tried on a grid
    with n up to 100,000 and δ from 10⁻³⁰⁰ on.
    """

    low: float | None  # 0 where no constant is enough
    high: float | None
    text: str


@dataclass(frozen=True, kw_only=True)
class Theorem:
    """One printed claim."""

    name: str  # as it is cited
    part: str  # which of its claims this is; the second half of an "if and only if" ends with "only if"
    family: str  # of data: a key of `dpviz.priors.KINDS`, "general", or "average" (other rows are random)
    statement: str
    condition: str
    methods: tuple[str, ...]  # keys of those whose releases it is about; empty for any release
    promise: Promise
    kind: TheoremKind
    quantity: Quantity
    constant: str  # symbols of constants without a value in print
    after: str  # whom it is taken from
    formula: Callable[..., float] | None  # the printed number, with 1 for a `constant`
    test: Callable[..., bool] | None  # the condition, where it can be computed

    @property
    def number(self) -> str:
        """Its number in print."""
        return self.name.split()[-1]

    @property
    def key(self) -> str:
        """Number and part: unique among all theorems."""
        return f"{self.number} {self.part}".strip()

    @property
    def source(self) -> str:
        """Where it is printed, and whom it is taken from."""
        return f"Zheng (2015), {self.name}" + (f", after {self.after}" if self.after else "")

    @property
    def is_one_row(self) -> bool:
        """Whether it is about a single synthetic row."""
        return self.test is CONDITIONS["one row"]

    def value(self, **values: object) -> float:
        """The printed number, from those of `values` that it needs.

        >>> round(THEOREMS["6.13"].value(m=100, epsilon=1.0), 12)  # 1 + 100 / (e − 1)
        59.197670686933
        """
        if self.formula is None:
            raise ValueError(f"{self.name} prints no number; got a request for its value.")
        return float(self._evaluate(self.formula, values))

    def condition_holds(self, **values: object) -> bool:
        """Whether the printed condition holds; one that cannot be computed counts as met."""
        return self.test is None or bool(self._evaluate(self.test, values))

    def _evaluate(self, function: Callable[..., float], values: Mapping[str, object]) -> float:
        names = _signature(function).parameters
        if missing := [name for name in names if name not in values]:
            raise ValueError(f"values for {self.name} must name {', '.join(names)}; got no {', '.join(missing)}.")
        return function(**{name: DOMAINS[name].validate(values[name]) for name in names})


_signature = cache(inspect.signature)  # curves ask for every formula at every point


def _read_theorem(row: dict[str, str]) -> Theorem:
    columns: dict[str, Any] = {
        "methods": tuple(row["methods"].split()),
        "promise": Promise(row["promise"]),
        "kind": TheoremKind(row["kind"]),
        "quantity": QUANTITIES[row["quantity"]],
        "formula": FORMULAS.get(row["formula"]),
        "test": CONDITIONS.get(row["test"]),
    }
    return Theorem(**row | columns)


THEOREMS: dict[str, Theorem] = {theorem.key: theorem for theorem in map(_read_theorem, read_table("audit/theorems"))}
"""In the order of the thesis, by number and part."""

CONSTANTS: dict[tuple[str, str], Constant] = {}
for _row in read_table("audit/constants"):
    _low, _high = (float(_row[end]) if _row[end] else None for end in ("low", "high"))
    CONSTANTS |= {(_row["claim"], method): Constant(_low, _high, _row["text"]) for method in _row["methods"].split()}
"""By theorem and method. `dpviz.calibration.gaussian_range` bounds the pure ranges; for (ε, δ), the ratio of step to
noise is at least ε/√(2 ln(1/δ)) for ε ≤ 2 ln 2, since Φ(r/2 − k) ≤ ½ e^{−k²/2 + kr/2} with k = √(2 ln(1/δ))."""
