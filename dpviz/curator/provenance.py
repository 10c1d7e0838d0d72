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
from dpviz.curator.measures import ACCURACY_MEASURES, USABLE_SHARE
from dpviz.curator.privacy_limits import PRIVACY_LIMITS, EpsilonDeltaLimit
from dpviz.export.templates import capitalize_first, render_paragraphs
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


# Key of the entry of a number, its value (a float is exact, None is not known), and columns that the entry leaves open
Row = tuple[str, Measure | float | None, dict[str, Any]]


@lru_cache(maxsize=64)
def reported_numbers(design: Candidate) -> tuple[ReportedNumber, ...]:
    """Every number of a design, in the order of a report; what is not known is there and says so."""
    question, method, n_sets = design.question, design.method, design.sets
    release = method.design(question.data, design.epsilon, n_sets)
    has_matrix = release is not None and isinstance(release.synthesizer, TwoCellSynthesizer)
    compared = "Compare synthesizers" if question.data.key in DATA_KINDS else "Curator's desk"
    facts = {
        "method": method, "rule": design.analysis.rule_for(n_sets), "question": question, "compared": compared,
        "coverage": "Coverage" if has_matrix else compared,
        "matrices": "Transition matrices" if has_matrix and n_sets == 1 else compared,
    }  # fmt: skip
    rows = (*_settings(design), *_disclosure(design), *_accuracy(design), *_added_error(design))
    return tuple(_number(facts, *row) for row in rows)


def _number(facts: dict[str, Any], key: str, value: Measure | float | None, columns: dict[str, Any]) -> ReportedNumber:
    """Number with the columns of its entry, in which facts stand in braces, and its own."""
    texts = {name: item.format(**facts) for name, item in ENTRIES[key].items() if isinstance(item, str)}
    entry: dict[str, Any] = ENTRIES[key] | texts
    measure = value if isinstance(value, Measure) else Measure(math.nan if value is None else float(value), 0.0)
    if math.isnan(measure.value):
        return ReportedNumber(measure=Measure.unknown(), **entry | columns | {"method": "", "location": ""})
    return ReportedNumber(measure=measure, **entry | columns | {"note": ""})


def _settings(design: Candidate) -> Iterator[Row]:
    question, data = design.question, design.question.data
    for limit in question.protections:
        formula = ENTRIES["data"]["formula"] if isinstance(limit, EpsilonDeltaLimit) else limit.formula
        columns = {"label": capitalize_first(limit.text), "formula": formula, "source": limit.source}
        epsilon, delta = limit.as_epsilon_delta()
        numbers = {"ε": epsilon, "δ": delta}
        if limit.follows_from_delta and not isinstance(limit, EpsilonDeltaLimit):  # it bounds no ε
            numbers = {f"δ at ε = {format_number(epsilon, 4)}": delta}
        for symbol, value in numbers.items():
            yield "limit", value, {"symbol": symbol, **columns}
    for item in data.parameters():
        if item.name != data.true_value:
            yield "data", getattr(data, item.name), {"label": item.title, "symbol": item.symbol}
    yield "sets", design.sets, {}

    # The ε of all sets, and what each set is made with
    origin = "saturated" if design.is_saturated else "largest"
    if design.is_minimal or not question.promises:
        origin = "minimal"
    elif design.epsilon == PROMISES.maximum:
        origin = "unlimited"
    share = design.epsilon / design.sets
    yield "given_epsilon", design.epsilon, ENTRIES[f"epsilon_{origin}"]
    yield "share", share, {}
    for statistic, scale in design.method.noise_scales(data, share).items():
        yield "noise_scale", scale, {"label": f"Scale of the noise of each set, on {statistic}"}
    release = design.method.design(data, design.epsilon, design.sets)
    synthesizer = release.synthesizer if release else None
    for item in synthesizer.parameters() if synthesizer else ():
        if item.name not in data.numbers():
            columns = {"label": f"{item.title}, each set", "symbol": item.symbol}
            yield "release", getattr(synthesizer, item.name), columns


def _disclosure(design: Candidate) -> Iterator[Row]:
    """The pure ε of all sets, the odds that it allows, and what the release attains of each kind of limit."""
    loss, is_bound = design.real_epsilon, not design.method.exact_epsilon
    yield "proven_loss" if is_bound else "loss", loss, {"is_bound": is_bound}
    if MAX_EXPONENT < loss < math.inf:
        yield "odds_factor", None, {"note": "larger than 10^307"}
    else:
        yield "odds_factor", math.exp(loss), {"is_bound": is_bound}

    # δ of all sets at any ε: exact, or the most that the loss allows by Kairouz, Oh & Viswanath (2015), theorem 2.1
    real_delta = partial(design.method.real_delta, design.question.data, design.epsilon, design.sets)

    def delta(epsilon: float) -> float:
        exact = real_delta(epsilon) if epsilon < loss else None
        return exact.value if exact else (0.0 - math.expm1(min(epsilon - loss, 0.0))) / (1 + math.exp(-loss))

    # Of a kind that was not asked for its usual numbers; δ only where an ε was named
    is_exact, delta_method = real_delta(0.0) is not None, "delta_of_loss"
    if is_exact:
        delta_method = "delta_of_sets" if design.sets > 1 else "delta_of_neighbours"
    limits = {limit.key: limit for limit in design.question.protections}
    usual = {key: kind() for key, kind in PRIVACY_LIMITS.items() if kind is not EpsilonDeltaLimit or key in limits}
    for limit in (usual | limits).values():
        value, columns = limit.attained(loss, delta), ENTRIES[delta_method] if limit.follows_from_delta else {}
        yield "attained", value, {
            "label": capitalize_first(limit.attained_label), "symbol": limit.symbol, "formula": limit.formula,
            "source": limit.source, "is_share": limit.is_share, **columns,
            "is_bound": limit.follows_from_delta and not is_exact and value > 0,  # within ε nothing escapes
        }  # fmt: skip


def _accuracy(design: Candidate) -> Iterator[Row]:
    question = design.question
    usable = [USABLE_SHARE.of(outcome) for outcome in design.outcomes]
    cases = {ACCURACY_MEASURES[key]: worst for key, worst in design.worst_cases.items()}
    cases[USABLE_SHARE] = USABLE_SHARE.over(question.truths, usable, question.average)
    for measure, worst in cases.items():
        location = render_paragraphs("curator/templates/location.txt", question=question, worst=worst)[0]
        simulated = f"simulated, {question.repetitions:,} repetitions, seed {question.seed}; ± is the standard error"
        yield measure.key, worst.measure, {
            "label": capitalize_first(measure.label), "symbol": measure.symbol, "is_share": measure.is_share,
            "formula": measure.symbol + measure.meaning, "location": location,
            "method": simulated if worst.measure.error > 0 else question.data.exactly,
        }  # fmt: skip


def _added_error(design: Candidate) -> Iterator[Row]:
    """The error that the release adds, the smallest that any mechanism as private could add, and their ratio."""
    added, optimum = design.outcomes[0].release_error, _least_error(design)
    values: dict[str, Measure | float | None] = {"added_error": added, "unknown_error": None, "price": None}
    if optimum is not None:
        error, low = optimum.root_mean_squared_error, optimum.lower_bound
        price, highest_price = (added.value / smallest if smallest > 0 else None for smallest in (error, low))
        values = {"added_error": added, "smallest_error": error, "price": price}
        if optimum.gap > MAX_GAP * error:
            values = {"added_error": added, "smallest_error_low": low, "smallest_error_high": error}
            values |= {"price_low": price, "price_high": highest_price}
    for key, value in values.items():
        yield key, value, {}


def _least_error(design: Candidate) -> LeastError | None:
    """Smallest error at the limit (ε, δ) if its δ is positive, else at the real pure ε."""
    limit, loss = design.question.epsilon_delta_limit, design.real_epsilon
    if limit is not None and limit.most_delta > 0:
        return design.question.data.least_error(*limit.as_epsilon_delta())
    if not 0 < loss <= MAX_COMPARED_LOSS:
        return None
    return design.question.data.least_error(loss)
