"""One printed claim: what it says and when, its formula, what it promises, and what is known of its constants."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from dpviz import limits
from dpviz.checked import argument
from dpviz.parameters import DELTA, EPSILON, Parameter, readable, rounded_down, rounded_up
from dpviz.synthesizers.base import ROWS, SYNTHETIC_ROWS
from dpviz.synthesizers.prior import PRIOR_ONES, PRIOR_ZEROS

Family = Literal["general", "bernoulli", "categorical", "average", "gaussian"]
Promise = Literal["pure", "approximate", "zero_epsilon", "average"]
Kind = Literal["sufficient", "necessary", "impossible", "order", "statement"]
Quantity = Literal["prior", "range", "epsilon", "scale", "delta", "deviations", "none"]

ALWAYS = ""
"""The condition of a claim that is printed without one."""

DOMAINS: dict[str, Parameter] = {
    "n": dataclasses.replace(ROWS, maximum=limits.PRINTED_ROWS),
    "m": dataclasses.replace(SYNTHETIC_ROWS, maximum=limits.PRINTED_ROWS),
    "k": argument("k", 1, 10_000_000, title="composed releases", integer=True),
    **dict.fromkeys(("epsilon", "epsilon_1", "epsilon_2"), EPSILON),
    **dict.fromkeys(("delta", "delta_1", "delta_2", "delta_prime"), DELTA),
    "alpha": PRIOR_ONES,
    "beta": PRIOR_ZEROS,
    "theta_real": argument("theta_real", 0, 1, title="true proportion"),
    "constant": argument("constant", 1e-12, 1e12, title="unnamed constant"),
}
"""What the arguments of the formulas may be."""


@dataclass(frozen=True, kw_only=True)
class Limit:
    """The range over which an unnamed constant moves when it is to make the claim exact.

    Parameters
    ----------
    low, high
        Infimum and supremum of the exact constant over all sizes and promises; None for the end that the claim does
        not speak of, 0 or infinity where no constant will do.
    within
        What they are taken over, as the start of a sentence.
    path
        Where the decisive end is approached.
    proved
        Whether it is proved rather than found on a grid: n to 100,000 and δ from 10⁻³⁰⁰ on.
    """

    low: float | None = None
    high: float | None = None
    within: str = "Everywhere"
    path: str = ""
    proved: bool = False

    @property
    def holds(self) -> bool:
        """Whether some constant will do."""
        return self.low != 0 and self.high != float("inf")

    def sentence(self, symbol: str) -> str:
        """What constant is enough, and that nothing less is; or that none is."""
        if not self.holds:
            return f"No constant will do: {self.path}."
        if self.low is not None and self.high is not None:
            shown = f"{readable(rounded_down(self.low, 3), 3)} to {readable(rounded_up(self.high, 3), 3)}"
            return f"{self.within}, {symbol} lies from {shown}."
        value, aside, end = (self.low or 0.0, rounded_down, "larger")
        if self.high is not None:
            value, aside, end = self.high, rounded_up, "smaller"
        worked = "always works" if self.proved else "worked wherever it was tried"
        return f"{self.within}, {symbol} = {readable(aside(value, 3), 3)} {worked}; it cannot be {end}, {self.path}."


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One printed claim, right or wrong.

    Parameters
    ----------
    name
        The theorem as it is cited, such as ``"Theorem 6.9"``; its last word is its number.
    part
        Which of the theorem's claims this is, where it makes several; otherwise empty.
    statement, condition
        What is printed in a line, and what else is printed as its condition; `ALWAYS` where nothing is.
    methods
        The releases that it speaks of; empty where it holds for any.
    family
        The data model.
    promise, proves
        The privacy that it promises or denies: (ε, 0), (ε, δ), (0, δ), or on average over random data. What its proof
        shows, where that is another one.
    kind
        Whether the condition is said to imply the promise, or to follow from it; an "if and only if" is two claims.
        ``"impossible"`` where the promise is said to fail, ``"order"`` where only the order is claimed,
        ``"statement"`` for a definition, a general theorem or a lemma.
    formula, quantity
        The printed number as a function of the arguments in `DOMAINS`, None where no number is printed, and what it
        measures.
    holds_when
        The condition as a function, where it can be computed.
    constant, limits
        Symbols of the constants that are said to exist but have no value in print, and by method what the last of
        them must be.
    after
        Whom the thesis takes the claim from.

    Examples
    --------
    >>> claim = Claim(
    ...     name="Theorem 0.1", family="general", promise="pure", statement="α ≥ 2m", condition="one row",
    ...     formula=lambda m: 2.0 * m, quantity="prior", holds_when=lambda n: n == 1)
    >>> claim.key, claim.at(m=3, n=5), claim.applies(m=3, n=5)
    ('0.1', 6.0, False)
    """

    name: str
    part: str = ""
    statement: str
    condition: str
    methods: tuple[str, ...] = ()
    family: Family
    promise: Promise
    proves: Promise | None = None
    kind: Kind = "sufficient"
    formula: Callable[..., float] | None = None
    quantity: Quantity = "none"
    holds_when: Callable[..., bool] | None = None
    constant: str = ""
    limits: Mapping[str, Limit] = field(default_factory=dict, hash=False)
    after: str = ""

    @property
    def number(self) -> str:
        """Its number in print."""
        return self.name.split()[-1]

    @property
    def key(self) -> str:
        """The number, followed by the part where there is one: unique among all claims."""
        return f"{self.number} {self.part}".strip()

    @property
    def source(self) -> str:
        """Where it is printed, and whom it is taken from."""
        return f"Zheng (2015), {self.name}" + (f", after {self.after}" if self.after else "")

    @property
    def one_row(self) -> bool:
        """Whether it speaks of a single synthetic row."""
        return self.holds_when is one_synthetic_row

    @property
    def pure(self) -> bool:
        """Whether it promises, or proves, ε with no δ."""
        return "pure" in (self.promise, self.proves)

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of the arguments of `formula`."""
        return () if self.formula is None else tuple(inspect.signature(self.formula).parameters)

    def at(self, **values: object) -> float:
        """The printed number at `values`, of which it takes those that it needs.

        Raises
        ------
        ValueError
            Where no number is printed, an argument is missing, or a value is outside its domain.
        """
        if self.formula is None:
            raise ValueError(f"{self.name} prints no number; got a request for its value.")
        return self.formula(**self._needed(self.formula, values))

    def applies(self, **values: object) -> bool:
        """Whether the printed condition holds at `values`; one without numbers counts as met."""
        return self.holds_when is None or self.holds_when(**self._needed(self.holds_when, values))

    def _needed(self, function: Callable[..., object], values: dict[str, object]) -> dict[str, object]:
        names = tuple(inspect.signature(function).parameters)
        missing = [name for name in names if name not in values]
        if missing:
            raise ValueError(f"values for {self.name} must name {', '.join(names)}; got no {', '.join(missing)}.")
        return {name: DOMAINS[name].check(values[name]) if name in DOMAINS else values[name] for name in names}


def one_synthetic_row(m: int) -> bool:
    """Whether a single synthetic row is released."""
    return m == 1


def if_and_only_if(claim: Claim) -> tuple[Claim, Claim]:
    """Both halves: what the first says is enough, the second says the promise needs."""
    part = f"{claim.part} only if".strip()
    statement = claim.statement.replace(" is enough", " is needed")
    return claim, dataclasses.replace(claim, part=part, kind="necessary", statement=statement)
