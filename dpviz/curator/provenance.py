"""Every number of a design: by which formula it follows, from which source, and how it was computed."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from dpviz.comparisons import DATA_KINDS
from dpviz.comparisons.terms import PROMISES
from dpviz.core.formatting import format_distinct, format_number, round_up
from dpviz.core.monte_carlo import Measure
from dpviz.curator.candidate import Candidate
from dpviz.curator.measures import ACCURACY_MEASURES, USABLE_SHARE, WorstCase
from dpviz.curator.privacy_limits import PRIVACY_LIMITS, EpsilonDeltaLimit
from dpviz.export.templates import capitalize_first
from dpviz.mechanisms import TwoCellSynthesizer
from dpviz.privacy.optimum import LeastError

ENTRIES: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
FILE_DIGITS = 12  # the digits that follow depend on the order in which a processor adds
MAX_GAP = 1e-9  # relative gap up to which the smallest error is known to every digit that is shown
MAX_EXPONENT = 709.0  # of e in floating point
MAX_COMPARED_LOSS = 600.0  # ε above which the smallest error is 0 to every digit


@dataclass(frozen=True, kw_only=True)
class ReportedNumber:
    """A number of a design, with all that a reader needs to check it.

    Attributes
    ----------
    measure : Measure
        Its value, NaN where it is not known, with its Monte Carlo error.
    formula, source, method, page : str
        How it follows, from which paper, how it was computed, and the page on which it is found again.
    location, note : str
        True value at which a worst case is found; why the number is not known.
    is_bound, is_share : bool
        Whether it is only a limit on what is meant; whether it is a probability: below 1 it never reads 1.
    is_compared : bool
        Whether a table of designs side by side has it beside their own ε, real ε and measures of accuracy.

    Examples
    --------
    >>> number = ReportedNumber(part="Accuracy", label="coverage", measure=Measure(0.94, 0.0034), formula="Pr(hit)")
    >>> number.text()
    '0.94 ± 0.0034'
    """

    part: str
    label: str
    measure: Measure
    formula: str
    symbol: str = ""
    source: str = ""
    method: str = ""
    page: str = "Curator's desk"
    location: str = ""
    note: str = ""
    is_bound: bool = False
    is_share: bool = False
    is_compared: bool = True

    @property
    def rounded(self) -> Measure:
        """Measure rounded to `FILE_DIGITS`, in which all processors agree; −0 becomes 0."""
        value, error = (float(f"{x:.{FILE_DIGITS}g}") + 0.0 for x in (self.measure.shown, self.measure.error))
        return Measure(value, error)

    def text(self, digits: int = 6) -> str:
        """Number for a reader, with its standard error where it is simulated."""
        value, error = self.measure.shown, self.measure.error
        if math.isnan(value):
            return "not known"
        if self.is_bound:
            return f"at most {format_number(round_up(value, digits), digits)}"
        if not error > 0:
            is_below_one = self.is_share and 1 - value > 1e-12
            return format_distinct(value, 1.0, digits) if is_below_one else format_number(value, digits)
        # No digit beyond the second of the error says anything
        known_digits = math.floor(math.log10(max(abs(value), error))) - math.floor(math.log10(error)) + 2
        return f"{format_number(value, min(known_digits, digits))} ± {format_number(error, 2)}"


@lru_cache(maxsize=64)
def reported_numbers(design: Candidate) -> tuple[ReportedNumber, ...]:
    """Every number of a design, in the order of a report; what is not known is there and says so."""
    return (*_settings(design), *_disclosure(design), *_accuracy(design), *_added_error(design))


def _number(key: str, value: Measure | float | None, **details: Any) -> ReportedNumber:
    """Number of an entry with the details of a design; None is not known, and a float is exact."""
    measure = value if isinstance(value, Measure) else Measure(math.nan if value is None else float(value), 0.0)
    if math.isnan(measure.value):
        return ReportedNumber(measure=Measure.unknown(), **ENTRIES[key] | details | {"method": "", "location": ""})
    return ReportedNumber(measure=measure, **ENTRIES[key] | details | {"note": ""})


def _page(design: Candidate, page_of_matrix: str = "") -> str:
    """Page that shows the number: `page_of_matrix` for releases of two counts, else that of comparisons or this one."""
    release = design.method.design(design.question.data, design.epsilon, design.sets) if page_of_matrix else None
    if release is not None and isinstance(release.synthesizer, TwoCellSynthesizer):
        return page_of_matrix
    return "Compare synthesizers" if design.question.data.key in DATA_KINDS else "Curator's desk"


def _settings(design: Candidate) -> Iterator[ReportedNumber]:
    question, data, method = design.question, design.question.data, design.method
    for limit in question.protections:
        formula = ENTRIES["data"]["formula"] if isinstance(limit, EpsilonDeltaLimit) else limit.formula
        for symbol, value in zip("εδ", limit.as_epsilon_delta(), strict=True):
            label = capitalize_first(limit.text)
            yield _number("limit", value, label=label, symbol=symbol, formula=formula, source=limit.source)
    for item in data.parameters():
        if item.name != data.true_value:
            yield _number("data", getattr(data, item.name), label=item.title, symbol=item.symbol)
    yield _number("sets", design.sets)

    # The ε of all sets, and what each set is made with
    origin = "saturated" if design.is_saturated else "largest"
    if design.is_minimal or not question.promises:
        origin = "minimal"
    elif design.epsilon == PROMISES.maximum:
        origin = "unlimited"
    share, source = design.epsilon / design.sets, method.source
    yield _number("given_epsilon", design.epsilon, source=source, **ENTRIES[f"epsilon_{origin}"])
    yield _number("share", share, source=source)
    for statistic, scale in method.noise_scales(data, share).items():
        yield _number("noise_scale", scale, label=ENTRIES["noise_scale"]["label"] + statistic, source=source)
    release = method.design(data, design.epsilon, design.sets)
    if release is None:
        return
    for item in release.synthesizer.parameters():
        if item.name not in data.numbers():
            value, label = getattr(release.synthesizer, item.name), f"{item.title}, each set"
            yield _number("release", value, label=label, symbol=item.symbol, source=source)


def _disclosure(design: Candidate) -> Iterator[ReportedNumber]:
    """The pure ε of all sets, the odds that it allows, and what the release attains of each kind of limit."""
    loss, is_bound = design.real_epsilon, not design.method.exact_epsilon
    page = _page(design, "Transition matrices" if design.sets == 1 else "")
    entry = ENTRIES["loss_of_all"] | {"method": design.method.loss_by, "is_bound": is_bound, "page": page}
    yield _number("proven_loss" if is_bound else "loss", loss, **entry)
    if loss is None:
        yield _number("odds_factor", None, page=page)
        return
    if MAX_EXPONENT < loss < math.inf:
        yield _number("odds_factor", None, note="larger than 10^307", page=page)
    else:
        factor = math.exp(loss) if math.isfinite(loss) else math.inf
        yield _number("odds_factor", factor, is_bound=is_bound, page=page)

    # δ of all sets at any ε: exact, or the most that the loss allows by Kairouz, Oh & Viswanath (2015), theorem 2.1
    real_delta = partial(design.method.real_delta, design.question.data, design.epsilon, design.sets)

    def delta(epsilon: float) -> float:
        exact = real_delta(epsilon) if epsilon < loss else None
        return exact.value if exact else (0.0 - math.expm1(min(epsilon - loss, 0.0))) / (1 + math.exp(-loss))

    # Of a kind that was not asked for its usual numbers; δ only where an ε was named
    is_exact, delta_method = real_delta(0.0) is not None, "the most that L allows: δ(ε) ≤ (e^L − e^ε)/(e^L + 1)"
    if is_exact:
        is_sum = design.sets > 1
        delta_method = "losses of all sets on a grid, δ rounded up" if is_sum else "exact, over all neighbours"
    limits = {limit.key: limit for limit in design.question.protections}
    usual = {key: kind() for key, kind in PRIVACY_LIMITS.items() if kind is not EpsilonDeltaLimit or key in limits}
    for limit in (usual | limits).values():
        value, details = limit.attained(loss, delta), {"method": delta_method} if limit.follows_from_delta else {}
        yield _number(
            "attained", value, label=capitalize_first(limit.attained_label), symbol=limit.symbol,
            formula=limit.formula, source=limit.source, is_share=limit.is_share, **details,
            is_bound=limit.follows_from_delta and not is_exact and value > 0,  # within ε nothing escapes
        )  # fmt: skip


def _accuracy(design: Candidate) -> Iterator[ReportedNumber]:
    rule, question, page = design.analysis.rule_for(design.sets), design.question, _page(design)
    usable = [USABLE_SHARE.of(outcome) for outcome in design.outcomes]
    worst_of_usable = USABLE_SHARE.over(question.truths, usable, question.average)
    measures = [*ACCURACY_MEASURES.values(), USABLE_SHARE]
    for measure, worst in zip(measures, [*design.worst_cases.values(), worst_of_usable], strict=True):
        details: dict[str, Any] = {"page": page}
        if measure.needs_interval:
            details = {"source": f"{rule.source}: {rule.formula}", "page": _page(design, "Coverage")}
        elif measure is USABLE_SHARE:
            details |= {"source": design.method.source, "is_compared": True}
        method = question.data.exactly
        if worst.measure.error > 0:
            repetitions = f"{question.repetitions:,} repetitions"
            method = f"simulated, {repetitions}, seed {question.seed}; ± is the standard error"
        yield _number(
            "accuracy", worst.measure, label=capitalize_first(measure.label), symbol=measure.symbol, method=method,
            formula=measure.symbol + measure.meaning, location=_location_text(design, worst),
            is_share=measure.is_share, **details,
        )  # fmt: skip


def _location_text(design: Candidate, worst: WorstCase) -> str:
    """At which of the true values a measure is the worst, or over which it is averaged."""
    question, n_truths = design.question, len(design.question.truths)
    truth = question.truths[0] if math.isnan(worst.location) else worst.location
    at = f"at {question.true_parameter.symbol} = {format_number(truth)}"
    whole_range = f"all from {format_number(question.lowest)} to {format_number(question.highest)}"
    if question.lowest == question.highest:
        return f"{at}, the only value considered"
    if n_truths == 1 and worst.n_tried:
        return f"{at} alone, of {whole_range}"
    if math.isnan(worst.location):
        return ", ".join(filter(None, (f"average over {n_truths} true values", question.prior_text)))
    return f"worst of {f'{worst.n_tried} true values' if worst.n_tried else whole_range}, {at}"


def _added_error(design: Candidate) -> Iterator[ReportedNumber]:
    """The error that the release adds, the smallest that any mechanism as private could add, and their ratio."""
    added, optimum, page = design.outcomes[0].release_error, _least_error(design), _page(design)
    yield _number("added_error", added, source=design.method.source, method=design.question.data.exactly, page=page)
    values: dict[str, float | None] = {"unknown_error": None, "price": None}
    if optimum is not None:
        error, low = optimum.root_mean_squared_error, optimum.lower_bound
        price, highest_price = (added.value / smallest if smallest > 0 else None for smallest in (error, low))
        values = {"smallest_error": error, "price": price}
        if optimum.gap > MAX_GAP * error:
            values = {"smallest_error_low": low, "smallest_error_high": error}
            values |= {"price_low": price, "price_high": highest_price}
    for key, value in values.items():
        yield _number(key, value, page=page)


def _least_error(design: Candidate) -> LeastError | None:
    """Smallest error at the limit (ε, δ) if its δ is positive, else at the real pure ε."""
    limit, loss = design.question.epsilon_delta_limit, design.real_epsilon
    if limit is not None and limit.most_delta > 0:
        return design.question.data.least_error(*limit.as_epsilon_delta())
    if loss is None or not 0 < loss <= MAX_COMPARED_LOSS:
        return None
    return design.question.data.least_error(loss)
