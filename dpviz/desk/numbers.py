"""Every number of a design once: what it is, how it follows, from which source, and how it was computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from functools import lru_cache
from typing import Any

from dpviz.comparisons import DATA_KINDS as COMPARED
from dpviz.comparisons.terms import PROMISES
from dpviz.core.formatting import format_distinct, format_number, round_up
from dpviz.core.monte_carlo import Measure
from dpviz.curator.measures import ACCURACY_MEASURES, USABLE_SHARE, AccuracyMeasure, WorstCase
from dpviz.curator.privacy_limits import PRIVACY_LIMITS, EpsilonDeltaLimit
from dpviz.curator.question import DesignQuestion
from dpviz.desk.candidate import Evaluation
from dpviz.export.templates import capitalize_first
from dpviz.mechanisms import TwoCellSynthesizer
from dpviz.privacy.optimum import LeastError

ASKED_PART = "What was asked"
SETTINGS_PART = "Settings"
GIVEN_AWAY_PART = "What it gives away"
ACCURACY_PART = "Accuracy"
ADDED_PART = "What the release adds"
DESK, COMPARE, MATRICES, COVERED = "Curator's desk", "Compare synthesizers", "Transition matrices", "Coverage"
"""Pages on which a number is found again: the desk has them all, another page has some without it."""
EXACT_LOSS, PROVEN_LOSS = "Exact privacy loss of all sets", "Largest privacy loss of all sets, as proven"
GIVEN_EPSILON = "ε that all sets are given"
WRITTEN = 12  # Digits in a file: of those that follow, the last depends on the order in which a processor adds
AS_GIVEN, NOT_KNOWN = "as given in the question", "not known"


@dataclass(frozen=True)
class DesignNumber:
    """A number of a design, with all that a reader needs to check it.

    The `measure` is NaN where it is not known, and `note` says why; `bound` says that the number is no more than a
    limit on what is meant. `at` names the true value at which a worst case is found. A `share` below 1 never reads 1.

    >>> number = DesignNumber(part="Accuracy", label="coverage", measure=Measure(0.94, 0.0034), bound=False)
    >>> number.text(), number.exact
    ('0.94 ± 0.0034', False)
    """

    label: str
    measure: Measure
    symbol: str = ""
    formula: str = ""
    source: str = ""
    how: str = ""
    page: str = DESK
    _: KW_ONLY
    part: str = ""
    at: str = ""
    bound: bool = False
    share: bool = False
    note: str = ""

    @property
    def exact(self) -> bool:
        """Whether it is known and not simulated."""
        return self.measure.error == 0

    @property
    def written(self) -> Measure:
        """The measure for a file, with as many digits as every processor finds alike."""
        # A file has no −0.
        value, error = (float(f"{one:.{WRITTEN}g}") + 0.0 for one in (self.measure.shown, self.measure.error))
        return Measure(value, error)

    @property
    def origin(self) -> str:
        """Where the number comes from, in sentences."""
        told = (("Computed", self.how), ("Source", self.source), ("Page", self.page))
        return " ".join([*filter(None, [self.note]), *(f"{name}: {said}." for name, said in told if said)])

    def text(self, digits: int = 6) -> str:
        """The number for a reader, with its standard error where it is simulated."""
        value, error = self.measure.shown, self.measure.error
        if math.isnan(value):
            return NOT_KNOWN
        if self.bound:
            return f"at most {format_number(round_up(value, digits), digits)}"
        if self.exact or not error > 0:
            near = self.share and 1 - value > 1e-12
            return format_distinct(value, 1.0, digits) if near else format_number(value, digits)
        # No digit beyond the second of the error says anything.
        held = math.floor(math.log10(max(abs(value), error))) - math.floor(math.log10(error)) + 2
        return f"{format_number(value, min(held, digits))} ± {format_number(error, 2)}"


@lru_cache(maxsize=64)
def numbers_of(design: Evaluation) -> tuple[DesignNumber, ...]:
    """Return every number of a design, in the order of a report; what is not known is there and says so."""
    every = {
        ASKED_PART: _asked,
        SETTINGS_PART: _settings,
        GIVEN_AWAY_PART: _given_away,
        ACCURACY_PART: _accuracy,
        ADDED_PART: _added,
    }
    return tuple(replace(one, part=part) for part, found in every.items() for one in found(design))


def _exactly(value: float | None) -> Measure:
    return Measure.unknown() if value is None else Measure(float(value), 0.0)


def _asked(design: Evaluation) -> Iterator[DesignNumber]:
    """What the limits on protection are as ε and δ."""
    for one in design.question.protections:
        formula = AS_GIVEN if isinstance(one, EpsilonDeltaLimit) else one.formula
        for symbol, value in zip("εδ", one.as_epsilon_delta(), strict=True):
            yield DesignNumber(capitalize_first(one.text), _exactly(value), symbol, formula, one.source)


def _settings(design: Evaluation) -> Iterator[DesignNumber]:
    asked, data, method = design.question, design.question.data, design.method
    for one in data.parameters():
        if one.name != data.true_value:
            yield DesignNumber(one.title, _exactly(getattr(data, one.name)), one.symbol, AS_GIVEN)
    yield DesignNumber("Released sets", _exactly(design.sets), "M", AS_GIVEN)
    formula, searched = "the smallest ε of all sets found with which every limit on accuracy is kept", "a search over ε"
    if asked.promises and not design.is_minimal:
        formula = "the largest ε of all sets for which every limit on protection is kept"
        searched = "root finding on the exact loss, on the private side"
        if design.epsilon == PROMISES.maximum:
            formula = "where the search for an ε ends; every limit on protection is kept there"
        elif design.is_saturated:
            formula = "the smallest ε of all sets found with which nothing is a thousandth worse than with the largest"
    yield DesignNumber(GIVEN_EPSILON, _exactly(design.epsilon), "ε", formula, method.source, searched)
    closed, share = (method.source, "closed form"), design.epsilon / design.sets
    yield DesignNumber("Share of each set", _exactly(share), "ε′", "ε/M", *closed)
    for statistic, scale in method.noise_scales(data, share).items():
        label = f"Scale of the noise of each set, on {statistic}"
        yield DesignNumber(label, _exactly(scale), "b", "sensitivity over its share of ε′", *closed)
    made = method.design(data, design.epsilon, design.sets)
    release = None if made is None else made.synthesizer
    for one in () if release is None else release.parameters():
        if one.name not in data.numbers():
            label, value = f"{one.title}, each set", _exactly(getattr(release, one.name))
            yield DesignNumber(label, value, one.symbol, "what protects one set, from its share ε′", *closed, MATRICES)


def _given_away(design: Evaluation) -> Iterator[DesignNumber]:
    """The pure ε of all sets, the odds that it allows, and what the release attains of each kind of limit."""
    loss, known = design.real_epsilon, dict[str, Any](bound=not design.method.exact_epsilon)
    known["page"] = MATRICES if design.sets == 1 and _is_matrix(design) else _elsewhere(design)
    known["note"] = "" if loss is not None else "No ε is known that holds for this method."
    yield DesignNumber(
        EXACT_LOSS if design.method.exact_epsilon else PROVEN_LOSS,
        _exactly(loss),
        "L",
        "L = M max |ln Pr(c | x) − ln Pr(c | x′)| over all neighbours x, x′ and all releases c of one set",
        "Abowd & Vilhuber (2008), equation (3)",
        design.method.loss_by,
        **known,
    )
    yield DesignNumber(
        "Largest factor on an attacker's odds",
        _exactly(None if loss is None else math.exp(min(loss, 709.0)) if loss < math.inf else math.inf),
        "e^L",
        "posterior odds ≤ e^L × prior odds",
        "Abowd & Vilhuber (2008), equation (4)",
        "closed form",
        **known,
    )
    if loss is None:
        return
    delta, how, bound = _delta_of(design, loss)
    asked = {one.key: one for one in design.question.protections}
    for key, kind in PRIVACY_LIMITS.items():  # of each further kind its usual numbers; δ only where an ε was named
        if key in asked or kind is not EpsilonDeltaLimit:
            one = asked.get(key) or kind()
            value, means = one.attained(loss, delta), how if one.follows_from_delta else "closed form from L"
            yield DesignNumber(
                capitalize_first(one.attained_label),
                _exactly(value),
                one.symbol,
                one.formula,
                one.source,
                means,
                bound=bound
                and one.follows_from_delta
                and value > 0,  # within ε nothing escapes, whatever is known of δ
                share=one.is_share,
            )


def _delta_of(design: Evaluation, loss: float) -> tuple[Callable[[float], float], str, bool]:
    """Return δ of all sets at any ε, how it is computed, and whether it is only a bound."""
    method, data, sets = design.method, design.question.data, design.sets

    def bound(epsilon: float) -> float:
        """The most that a pure loss allows (Kairouz, Oh & Viswanath 2015, theorem 2.1)."""
        return (0.0 - math.expm1(min(epsilon - loss, 0.0))) / (1 + math.exp(-loss))

    if method.real_delta(data, design.epsilon, sets, 0.0) is None:
        return bound, "the most that L allows: δ(ε) ≤ (e^L − e^ε)/(e^L + 1)", True

    def exact(epsilon: float) -> float:
        found = None if loss <= epsilon else method.real_delta(data, design.epsilon, sets, epsilon)
        return bound(epsilon) if found is None else found.value

    return exact, "exact, over all neighbours" if sets == 1 else "losses of all sets on a grid, δ rounded up", False


def _elsewhere(design: Evaluation) -> str:
    """The page that compares methods, where it knows such data."""
    return COMPARE if design.question.data.key in COMPARED else DESK


def _is_matrix(design: Evaluation) -> bool:
    """Whether the pages on one count know each of its sets."""
    made = design.method.design(design.question.data, design.epsilon, design.sets)
    return made is not None and isinstance(made.synthesizer, TwoCellSynthesizer)


def _accuracy(design: Evaluation) -> Iterator[DesignNumber]:
    asked, rule = design.question, design.analysis.rule_for(design.sets)
    for key, one in ACCURACY_MEASURES.items():
        source = f"{rule.source}: {rule.formula}" if one.needs_interval else "Morris, White & Crowther (2019), Table 6"
        page = COVERED if one.needs_interval and _is_matrix(design) else _elsewhere(design)
        yield _over_truths(asked, one, design.worst_cases[key], source, page)
    figure = USABLE_SHARE.over(asked.truths, [USABLE_SHARE.of(one) for one in design.outcomes], asked.average)
    yield _over_truths(asked, USABLE_SHARE, figure, design.method.source, _elsewhere(design))


def _over_truths(
    asked: DesignQuestion, one: AccuracyMeasure, figure: WorstCase, source: str, page: str
) -> DesignNumber:
    """A measure over the range of true values, the worst of them or their average."""
    measure, how, note = figure.measure, asked.data.exactly, ""
    number, ends = len(asked.truths), f"all from {format_number(asked.lowest)} to {format_number(asked.highest)}"
    location = asked.truths[0] if math.isnan(figure.location) else figure.location
    at = f"at {asked.true_parameter.symbol} = {format_number(location)}"
    if asked.lowest == asked.highest:
        where = f"{at}, the only value considered"
    elif number == 1 and figure.n_tried:
        where = f"{at} alone, of {ends}"
    elif math.isnan(figure.location):
        where = ", ".join(filter(None, (f"average over {number} true values", asked.prior_text)))
    else:
        where = f"worst of {f'{figure.n_tried} true values' if figure.n_tried else ends}, {at}"
    if math.isnan(measure.value):
        where, how, note = "", "", "No number is known: the analysis does not take such a release."
    elif measure.error != 0:
        how = f"simulated, {asked.repetitions:,} repetitions, seed {asked.seed}; ± is the standard error"
    told: dict[str, Any] = {"at": where, "share": one.is_share, "note": note}
    meant = f"{one.symbol}{one.meaning}"
    return DesignNumber(capitalize_first(one.label), measure, one.symbol, meant, source, how, page, **told)


def _added(design: Evaluation) -> Iterator[DesignNumber]:
    """The error that the release adds, the smallest that any mechanism as private could add, and their ratio."""

    def of_added(label: str, measure: Measure, symbol: str, formula: str, source: str, how: str = "") -> DesignNumber:
        page, unknown = _elsewhere(design), math.isnan(measure.value)
        note = "The smallest error is known for one proportion only." if unknown else ""
        return DesignNumber(label, measure, symbol, formula, source, "" if unknown else how, page, note=note)

    added, optimum = design.outcomes[0].release_error, _least_error(design)
    formula = "√ mean of E[(q − x/n)² | x] over x = 0 … n, each alike"
    own = design.method.source, design.question.data.exactly
    yield of_added("Error that the release adds", added, "e", formula, *own)
    smallest, price = "Smallest error possible with this protection", "Price of the method"
    if optimum is None:
        yield of_added(smallest, Measure.unknown(), "e₀", "the smallest e of any mechanism", OPTIMUM)
        yield of_added(price, Measure.unknown(), "e/e₀", "e/e₀", OPTIMUM)
        return
    error = optimum.root_mean_squared_error
    ends = [(error, "e₀", "", "the error of the best mechanism with the same ε and δ")]
    if optimum.gap > ERROR_GAP * error:
        ends = [
            (optimum.lower_bound, "e₀", ", at least", "no mechanism with the same ε and δ has a smaller e"),
            (error, "e₁", ", at most", "the e of the best mechanism known with the same ε and δ"),
        ]
    for value, symbol, which, formula in ends:
        yield of_added(smallest + which, _exactly(value), symbol, formula, OPTIMUM, "certified by the dual")
    for (value, symbol, _, _), (_, _, which, _) in zip(reversed(ends), ends, strict=True):
        ratio = _exactly(added.value / value if value > 0 else math.nan)
        how = "closed form, from the numbers above"
        yield of_added(price + which, ratio, f"e/{symbol}", f"e/{symbol}", OPTIMUM, how)


def _least_error(design: Evaluation) -> LeastError | None:
    """Return the smallest error at the ε and δ that were asked, or at the loss that the release really has."""
    asked, loss = design.question.epsilon_delta_limit, design.real_epsilon
    if asked is not None and asked.most_delta > 0:
        return design.question.data.least_error(*asked.as_epsilon_delta())
    return None if loss is None or not 0 < loss <= LARGEST_LOSS_COMPARED else design.question.data.least_error(loss)


OPTIMUM = "Ghosh, Roughgarden & Sundararajan (2012); linear programme"
ERROR_GAP = 1e-9  # Relative gap up to which the smallest error is known to every digit that is shown
LARGEST_LOSS_COMPARED = 600.0  # ε up to which the smallest error is computed; with more it is 0 to every digit
