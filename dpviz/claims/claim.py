"""One printed claim: what it says and when, what it promises, how it is judged, and its formula."""

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from functools import lru_cache

from dpviz.calibration.quantities import NO_QUANTITY, Quantity
from dpviz.claims.formulas import one_synthetic_row
from dpviz.core import limits
from dpviz.core.declarations import DELTA, EPSILON, ROWS, SYNTHETIC_ROWS
from dpviz.core.parameters import Parameter, argument
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES, PRIOR_ZEROS

DOMAINS: dict[str, Parameter] = {
    "n": dataclasses.replace(ROWS, maximum=limits.MAX_PRINTED_ROWS),
    "m": dataclasses.replace(SYNTHETIC_ROWS, maximum=limits.MAX_PRINTED_ROWS),
    "k": argument("k", 1, 10_000_000, title="composed releases", integer=True),
    **dict.fromkeys(("epsilon", "epsilon_1", "epsilon_2"), EPSILON),
    **dict.fromkeys(("delta", "delta_1", "delta_2", "delta_prime"), DELTA),
    "alpha": PRIOR_ONES,
    "beta": PRIOR_ZEROS,
    "theta_real": argument("theta_real", 0, 1, title="true share"),
}
"""What the arguments of the formulas may be."""


class Verdict(StrEnum):
    """The verdict on a claim at a setting."""

    EXACT = "exact"
    SAFE = "safe"
    UNSAFE = "unsafe"
    HOLDS = "holds"
    FALSE = "false"
    OPEN = "constant not stated"
    UNASKED = "not asked here"

    @property
    def bad(self) -> bool:
        """Whether the claim is refuted."""
        return self in (Verdict.UNSAFE, Verdict.FALSE)

    @property
    def judged(self) -> bool:
        """Whether the claim could be held against something."""
        return self not in (Verdict.OPEN, Verdict.UNASKED)


@dataclass(frozen=True)
class PromiseKind:
    """A kind of privacy: its symbol, and whether it has an ε and a δ above 0."""

    symbol: str
    epsilon: bool = True
    delta: bool = True

    def at(self, epsilon: float, delta: float) -> tuple[float, float]:
        """Return the ε and the δ that are promised where these are asked for."""
        return epsilon if self.epsilon else 0.0, delta if self.delta else 0.0


PURE_PROMISE, APPROXIMATE_PROMISE = PromiseKind("(ε, 0)", delta=False), PromiseKind("(ε, δ)")
ZERO_EPSILON_PROMISE, AVERAGE_PROMISE = PromiseKind("(0, δ)", epsilon=False), PromiseKind("(ε, δ, Δ)")
PROMISE_KINDS = {one.symbol: one for one in (PURE_PROMISE, APPROXIMATE_PROMISE, ZERO_EPSILON_PROMISE, AVERAGE_PROMISE)}


@dataclass(frozen=True)
class ClaimKind:
    """What a claim says of its number, and the verdicts where it is right, wrong, or the exact answer itself.

    `enough`: the number is said to keep the promise, not to break it. `given`: what it really gives is asked.
    `any_constant`: the claim is right as soon as some constant makes it so.
    """

    name: str
    right: Verdict = Verdict.HOLDS
    wrong: Verdict = Verdict.FALSE
    agrees: Verdict = Verdict.HOLDS
    enough: bool = True
    given: bool = True
    any_constant: bool = False

    def verdict(self, keeps: bool, agrees: bool = False) -> Verdict:
        """Return the verdict on a number that keeps the promise or not, and agrees with the exact one or not."""
        return self.agrees if agrees else self.right if keeps == self.enough else self.wrong


SUFFICIENT = ClaimKind("sufficient", Verdict.SAFE, Verdict.UNSAFE, Verdict.EXACT)
NECESSARY = ClaimKind("necessary", enough=False, given=False)
DENIAL = ClaimKind("impossible", enough=False)
ORDER = ClaimKind("order", any_constant=True)
STATEMENT = ClaimKind("statement")
CLAIM_KINDS = {one.name: one for one in (SUFFICIENT, NECESSARY, DENIAL, ORDER, STATEMENT)}


@dataclass(frozen=True)
class Claim:
    """One printed claim, right or wrong: what is printed, what else is printed as its condition, and the number.

    `name` is the theorem as it is cited, `part` which of its claims this is. It speaks of the releases of `methods`, or
    of any, on the data of `family`: a key of `KINDS`, ``"general"``, or ``"average"`` where the other rows are random.
    The `formula` takes arguments of `DOMAINS`, with 1 for a `constant` that has no value in print; the `quantity` is
    what it measures where that can be sought, `promise` the privacy that is promised or denied, `kind` how the claim is
    judged. `holds_when` is the condition where it can be computed, and `after` whom it is taken from.

    >>> claim = Claim("Theorem 0.1", "α ≥ 2m", lambda m: 2.0 * m, holds_when=lambda n: n == 1)
    >>> claim.key, claim.at(m=3, n=5), claim.applies(m=3, n=5)
    ('0.1', 6.0, False)
    """

    name: str
    statement: str
    formula: Callable[..., float] | None = None
    methods: tuple[str, ...] = ()
    condition: str = ""
    _: KW_ONLY
    part: str = ""
    family: str = "general"
    promise: PromiseKind = APPROXIMATE_PROMISE
    kind: ClaimKind = SUFFICIENT
    quantity: Quantity = NO_QUANTITY
    holds_when: Callable[..., bool] | None = None
    constant: str = ""
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
    def symbol(self) -> str:
        """The constant that multiplies the formula: the last of those without a value."""
        return self.constant.split(", ")[-1]

    @property
    def one_row(self) -> bool:
        """Whether it speaks of a single synthetic row."""
        return self.holds_when is one_synthetic_row

    def at(self, **values: object) -> float:
        """Return the printed number at `values`, of which it takes those that it needs."""
        if self.formula is None:
            raise ValueError(f"{self.name} prints no number; got a request for its value.")
        return self.formula(**self._needed(self.formula, values))

    def applies(self, **values: object) -> bool:
        """Return whether the printed condition holds at `values`; one without numbers counts as met."""
        return self.holds_when is None or self.holds_when(**self._needed(self.holds_when, values))

    def _needed(self, function: Callable[..., object], values: dict[str, object]) -> dict[str, object]:
        names = _arguments(function)
        missing = [name for name in names if name not in values]
        if missing:
            raise ValueError(f"values for {self.name} must name {', '.join(names)}; got no {', '.join(missing)}.")
        return {name: DOMAINS[name].validate(values[name]) if name in DOMAINS else values[name] for name in names}


@lru_cache(maxsize=512)
def _arguments(function: Callable[..., object]) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)
