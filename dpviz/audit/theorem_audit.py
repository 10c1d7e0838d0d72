"""Every printed theorem against the exact answer of this package: verdicts, and what the printed value really gives."""

import math
from dataclasses import dataclass, replace
from functools import cached_property

from dpviz.audit.formulas import MIN_LEMMA_DELTA
from dpviz.audit.text import sentence
from dpviz.audit.theorems import CONSTANTS, RTOL, THEOREMS, Promise, Theorem, TheoremKind, Verdict
from dpviz.calibration.data_kinds import GAUSSIAN, KINDS, Kind, Setting
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.calibration.quantities import NOISE_QUANTITY, PRIOR_QUANTITY, RANGE_QUANTITY
from dpviz.calibration.smallest_prior import MAX_SEARCHED_PRIOR, minimum_prior
from dpviz.core.formatting import format_number
from dpviz.core.numerics.special import divide_or_inf
from dpviz.core.parameters import validate_choice
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES
from dpviz.privacy.divergence import delta_for_epsilon, epsilon_for_delta, pure_epsilon

FLOAT_ROUNDING = 4 * math.ulp(1.0)


@dataclass(frozen=True, kw_only=True)
class TheoremResult:
    """A theorem on one method, compared with the exact answer."""

    theorem: Theorem
    method: str  # a key of `dpviz.priors.METHODS`
    setting: Setting  # with m = 1 for a theorem on one synthetic row
    verdict: Verdict = Verdict.NOT_APPLICABLE
    printed: float | None = None  # prior, noise or range
    exact: float | None = None
    constant: float | None = None  # where print states none, the one that would make the theorem exact here
    note: str = ""  # why printed and exact value are not compared

    @property
    def kind(self) -> Kind:
        """The kind of data that the theorem is about."""
        return KINDS[self.theorem.family]

    @property
    def promised(self) -> tuple[float, float]:
        """The promised ε and δ, 0 where the theorem has none."""
        promise, setting = self.theorem.promise, self.setting
        return setting.epsilon if promise.has_epsilon else 0.0, 0.0 if promise is Promise.PURE else setting.delta

    @property
    def factor(self) -> float | None:
        """Printed over exact value; None where either is missing, zero or infinite."""
        if not self.printed or not self.exact or math.inf in (self.printed, self.exact):
            return None
        return self.printed / self.exact

    @property
    def exceeds_search(self) -> bool:
        """Whether it is about priors too large to be tried: only their order can be judged."""
        is_large = self.exact == math.inf or (self.printed or 0.0) > PRIOR_ONES.maximum
        return self.theorem.quantity is PRIOR_QUANTITY and is_large

    @cached_property
    def _actual(self) -> tuple[float | None, float | None]:
        is_reported = self.verdict.is_decided and self.theorem.kind is not TheoremKind.NECESSARY
        return (None, None) if self.printed is None or not is_reported else _actual_loss(self, self.printed)

    @property
    def actual_epsilon(self) -> float | None:
        """Smallest ε that the printed value gives at the promised δ; None where there is none."""
        return self._actual[0]

    @property
    def actual_delta(self) -> float | None:
        """δ that the printed value gives at the promised ε; None where there is none."""
        return self._actual[1]

    @property
    def why_no_value(self) -> str:
        """Why there is no printed number to compare; empty where there is one, or its condition does not hold."""
        return sentence("why_no_value", self)

    @cached_property
    def sentence(self) -> str:
        """What follows, and why."""
        return sentence("theorem", self)


def audit_theorems(family: str, **setting: float) -> tuple[TheoremResult, ...]:
    """Compare every theorem on a family of data with the exact answer, once for each method that it is about.

    Parameters
    ----------
    family : str
        A key of `dpviz.priors.KINDS`.
    **setting
        Numbers of a `Setting`.

    Returns
    -------
    tuple of TheoremResult
        In the order of the thesis; what printed values really give is computed when it is first read.

    Raises
    ------
    ValueError
        For another family, or a number outside of its domain.

    Examples
    --------
    >>> results = audit_theorems("gaussian", n=100, m=1, epsilon=1.0, delta=1e-5, sigma0=1.0)
    >>> [result.theorem.number for result in results if result.verdict == "unsafe"]
    ['7.3', '7.8', '7.12', '7.12', '7.13', '7.14']
    """
    validate_choice("family", family, KINDS)
    parameters = Setting(**setting)  # type: ignore[arg-type]
    return tuple(
        _judge(theorem, method, replace(parameters, m=1) if theorem.is_one_row else parameters)
        for theorem in THEOREMS.values()
        if theorem.family == family
        for method in theorem.methods
    )


def _judge(theorem: Theorem, method: str, setting: Setting) -> TheoremResult:
    """Compare a printed bound with the exact threshold of a method."""
    result = TheoremResult(theorem=theorem, method=method, setting=setting)
    if theorem.formula is None:  # no prior or range is enough: true by a proof
        return replace(result, verdict=Verdict.HOLDS)
    if setting.delta == 0 and theorem.promise is not Promise.PURE:
        return replace(result, note=f"It promises {theorem.promise}-privacy with δ > 0, and δ is 0 here.")

    # An order, such as m/ε: only its constant can be compared
    exact, values = _exact_threshold(result), setting.arguments()
    printed = theorem.value(**values)
    if math.isnan(printed):
        return replace(result, note=f"Its prior is computed for δ from {format_number(MIN_LEMMA_DELTA)} on.")
    if theorem.constant:
        is_comparable = 0 < printed < math.inf and math.isfinite(exact)
        is_order = theorem.kind is TheoremKind.ORDER
        verdict = theorem.kind.verdict(CONSTANTS[theorem.key, method].low != 0) if is_order else Verdict.OPEN
        return replace(result, exact=exact, verdict=verdict, constant=exact / printed if is_comparable else None)

    result = replace(result, printed=printed, exact=exact)
    if not theorem.condition_holds(**values):
        return replace(result, note=f"Its condition, {theorem.condition}, does not hold here.")

    # More prior is never less private, so that an exact one beyond the search decides nothing; at ε = 0 it is 1/(πδ²)
    # to seven digits for every n
    if result.exceeds_search and theorem.kind is not TheoremKind.NECESSARY:
        if not theorem.promise.has_epsilon:
            asymptotic = divide_or_inf(divide_or_inf(1 / math.pi, setting.delta), setting.delta)
            return replace(result, verdict=theorem.kind.verdict(theorem.kind.claims_sufficiency), exact=asymptotic)
        if math.isinf(exact):
            note = f"The exact answer lies beyond {format_number(MAX_SEARCHED_PRIOR)}, the largest prior that is tried."
            return replace(result, exact=None, note=note)

    # A mode needs a prior above 1, so that its priors are equal by what they have beyond 1: near 1 a bound that gives
    # ε/2 would count as exact
    lost = PRIOR_METHODS[method].lost if theorem.quantity is PRIOR_QUANTITY else 0.0
    tolerance = max(RTOL * (exact - lost), FLOAT_ROUNDING * exact)
    is_equal = math.isfinite(exact) and abs(printed - exact) <= tolerance
    return replace(result, verdict=theorem.kind.verdict(theorem.quantity.is_enough(printed, exact), is_equal))


def _exact_threshold(result: TheoremResult) -> float:
    """Smallest prior or noise, or largest range, that keeps the promise of a theorem."""
    kind, setting, (epsilon, delta) = result.kind, result.setting, result.promised
    if result.theorem.quantity is PRIOR_QUANTITY:
        cells = kind.cells(setting)
        return minimum_prior(result.method, n=setting.n, m=setting.m, cells=cells, epsilon=epsilon, delta=delta)
    if result.theorem.quantity is RANGE_QUANTITY:
        return kind.need(PRIOR_METHODS[result.method], setting, delta)
    return kind.sensitivity(setting) / setting.epsilon


def _actual_loss(result: TheoremResult, printed: float) -> tuple[float | None, float | None]:
    """The ε and δ that a printed value really gives; None where the promise has none, or none is finite."""
    promise, setting, method = result.theorem.promise, result.setting, PRIOR_METHODS[result.method]
    epsilon, delta = result.promised
    if result.theorem.quantity is NOISE_QUANTITY:
        return setting.epsilon * (result.exact or 0.0) / printed, None
    if result.theorem.quantity is RANGE_QUANTITY:
        truncated = GAUSSIAN.release(method, setting)
        if promise is Promise.PURE:
            return truncated.pure_epsilon(printed), None
        return truncated.epsilon(printed, delta), truncated.delta(printed, epsilon)

    # A prior. The mode can be 0 at one of 1 or less; a printed prior that rounds to 1 is a little above it
    if result.exceeds_search:
        is_known = not promise.has_epsilon and math.isfinite(printed)
        return None, 1 / math.sqrt(math.pi * printed) if is_known else None
    if method.lost and printed <= method.lost - FLOAT_ROUNDING:
        return None, None
    alpha = max(printed, math.nextafter(method.lost, math.inf))
    rows = method.release(setting.n, setting.m, alpha, alpha, result.kind.cells(setting))
    actual_delta = delta_for_epsilon(rows, epsilon)
    if not promise.has_epsilon:
        return None, actual_delta
    return epsilon_for_delta(rows, delta) if delta else pure_epsilon(rows), actual_delta
