"""What a printed theorem on priors or ranges says: whom it is about, what it promises, and its number."""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from dpviz.parameters import Parameter
from dpviz.synthesizers.base import ROWS, SYNTHETIC_ROWS

Method = Literal["param_map", "param_post", "synth_map", "synth_post_one", "synth_post_many"]
Family = Literal["general", "bernoulli", "categorical", "average", "gaussian"]
Promise = Literal["pure", "approximate", "zero_epsilon", "average"]
Kind = Literal["sufficient", "necessary", "impossible", "order", "statement"]
Quantity = Literal["prior", "range", "epsilon", "scale", "delta", "none"]

MANY_ROWS = dataclasses.replace(ROWS, maximum=10_000_000)
MANY_SYNTHETIC_ROWS = dataclasses.replace(SYNTHETIC_ROWS, maximum=10_000_000)

CONSTANT = Parameter(
    name="constant",
    symbol="c",
    title="Unnamed constant",
    minimum=1e-12,
    maximum=1e12,
    default=1.0,
    scale="log",
    private_end="larger",
    help="The theorem says that some constant exists and gives no value for it. Any value here is a guess.",
)


@dataclass(frozen=True, kw_only=True)
class PrintedBound:
    """One printed claim, right or wrong, and the function that evaluates its formula.

    Parameters
    ----------
    number
        Number of the theorem, such as ``"6.9"``.
    part
        Which of the theorem's claims this is, where it makes two; otherwise empty.
    name
        The theorem as it is cited, such as ``"Theorem 6.9"``.
    methods
        The releases that it speaks of; empty where it holds for any.
    family
        The data model.
    promise
        The privacy that it promises or denies: (ε, 0), (ε, δ), (0, δ), or on average over random data.
    kind
        Whether the printed condition is said to imply the promise, or to follow from it; an "if and only if" is two
        claims. ``"impossible"`` where the promise is said to fail, ``"order"`` where only the order is claimed,
        ``"statement"`` for a definition, a general theorem or a lemma.
    claim
        The claim in one line.
    conditions
        What else is printed as a condition, in words; empty where nothing is.
    constant
        Symbols of the constants that are said to exist but have no value in print; empty where there are none.
    value
        The printed number as a function of keyword arguments; None where no number is printed.
    quantity
        What `value` measures.
    holds_when
        The condition as a function of keyword arguments, where it can be computed.

    Examples
    --------
    >>> bound = PrintedBound(
    ...     number="0.1", name="Theorem 0.1", methods=(), family="general", promise="pure", kind="sufficient",
    ...     claim="α ≥ 2m", conditions="one row", value=lambda *, m: 2.0 * m, quantity="prior",
    ...     holds_when=lambda *, n: n == 1)
    >>> bound.arguments, bound.at(m=3, n=5), bound.applies(m=3, n=5)
    (('m',), 6.0, False)
    """

    number: str
    part: str = ""
    name: str
    methods: tuple[Method, ...]
    family: Family
    promise: Promise
    kind: Kind
    claim: str
    conditions: str = ""
    constant: str = ""
    value: Callable[..., float] | None = None
    quantity: Quantity = "none"
    holds_when: Callable[..., bool] | None = None

    @property
    def key(self) -> str:
        """The number, followed by the part where there is one: unique among all claims."""
        return f"{self.number} {self.part}".strip()

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of the keyword arguments of `value`; empty where no number is printed."""
        return () if self.value is None else tuple(inspect.signature(self.value).parameters)

    def at(self, **values: object) -> float:
        """The printed number at `values`, of which it takes those that it needs.

        Raises
        ------
        ValueError
            Where no number is printed, an argument is missing, or a value is outside its domain.
        """
        if self.value is None:
            raise ValueError(f"{self.name} prints no number; got a request for its value.")
        return self.value(**self._needed(self.value, values))

    def applies(self, **values: object) -> bool:
        """Whether the printed conditions hold at `values`, as far as they can be computed.

        A condition without numbers, such as "sufficiently large n", counts as met.
        """
        return self.holds_when is None or self.holds_when(**self._needed(self.holds_when, values))

    def _needed(self, function: Callable[..., object], values: dict[str, object]) -> dict[str, object]:
        names = tuple(inspect.signature(function).parameters)
        missing = [name for name in names if name not in values]
        if missing:
            raise ValueError(f"values for {self.name} must name {', '.join(names)}; got no {', '.join(missing)}.")
        return {name: values[name] for name in names}


def one_synthetic_row(*, m: float) -> bool:
    """Whether a single synthetic row is released.

    Examples
    --------
    >>> one_synthetic_row(m=1), one_synthetic_row(m=2)
    (True, False)
    """
    return MANY_SYNTHETIC_ROWS.check(m) == 1


def log_inverse(delta: float) -> float:
    """ln(1/δ) for δ in [0, 1]; infinite at 0, and a positive zero at 1.

    Examples
    --------
    >>> log_inverse(1.0), log_inverse(0.0)
    (0.0, inf)
    """
    return 0.0 - math.log(delta) if delta > 0 else math.inf


def inverse_gain(epsilon: float) -> float:
    """1 / (e^ε − 1) for ε > 0, however large.

    Examples
    --------
    >>> round(inverse_gain(math.log(3)), 12), inverse_gain(1000.0)
    (0.5, 0.0)
    """
    return 1 / math.expm1(epsilon) if epsilon < 700 else math.exp(-epsilon)


def gain(epsilon: float) -> float:
    """e^ε − 1, infinite where it exceeds the floating-point numbers.

    Examples
    --------
    >>> round(gain(math.log(3)), 12), gain(1000.0)
    (2.0, inf)
    """
    return math.expm1(epsilon) if epsilon < 709.7 else math.inf


def quotient(numerator: float, denominator: float) -> float:
    """A positive number over one that may be 0, where it is infinite: the bound then excludes nothing.

    Examples
    --------
    >>> quotient(1.0, 2.0), quotient(1.0, 0.0)
    (0.5, inf)
    """
    return numerator / denominator if denominator > 0 else math.inf
