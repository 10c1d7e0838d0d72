"""Every number of a design once: what it is, how it follows, from which source, and how it was computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from dpviz.audits.releases import RELEASE_METHODS
from dpviz.comparisons import KINDS as COMPARED
from dpviz.curator.accuracy import ACCURACY, USABLE, AccuracyMeasure, Figure
from dpviz.curator.protection import PROTECTIONS, PrivacyLoss, Protection
from dpviz.curator.search import Assessed
from dpviz.parameters import readable, readable_apart, rounded_up
from dpviz.studies import Measure
from dpviz.synthesizers import TwoCellSynthesizer

ASKED, SETTINGS, GIVEN, ACCURATE, ADDED = (
    "What was asked", "Settings", "What it gives away", "Accuracy", "What the release adds"
)  # fmt: skip
DESK, COMPARE, MATRICES, COVERED = "Curator's desk", "Compare synthesizers", "Transition matrices", "Coverage"
"""Pages on which a number is found again: the desk has them all, another page has some without it."""
LOST, GIVEN_EPSILON = "Exact privacy loss of all sets", "ε that all sets are given"
WRITTEN = 12  # Digits in a file: of those that follow, the last depends on the order in which a processor adds
AS_GIVEN, NOT_KNOWN = "as given in the question", "not known"


@dataclass(frozen=True, kw_only=True)
class Number:
    """A number of a design, with all that a reader needs to check it.

    The `measure` is NaN where it is not known, and `note` says why; `bound` says that the number is no more than a
    limit on what is meant. `at` names the true value at which a worst case is found. A `share` below 1 never reads 1.

    >>> number = Number(part="Accuracy", label="coverage", measure=Measure(0.94, 0.0034), bound=False)
    >>> number.text(), number.exact
    ('0.94 ± 0.0034', False)
    """

    part: str
    label: str
    symbol: str = ""
    measure: Measure
    formula: str = ""
    source: str = ""
    how: str = ""
    page: str = DESK
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
        return Measure(*(float(f"{one:.{WRITTEN}g}") for one in (self.measure.value, self.measure.error)))

    def text(self, digits: int = 6) -> str:
        """The number for a reader, with its standard error where it is simulated."""
        value, error = self.measure.value, self.measure.error
        if math.isnan(value):
            return NOT_KNOWN
        if self.bound:
            return f"at most {readable(rounded_up(value, digits), digits)}"
        if self.exact or not error > 0:
            near = self.share and 1 - value > 1e-12
            return readable_apart(value, 1.0, digits) if near else readable(value, digits)
        # No digit beyond the second of the error says anything.
        held = math.floor(math.log10(max(abs(value), error))) - math.floor(math.log10(error)) + 2
        return f"{readable(value, min(held, digits))} ± {readable(error, 2)}"


@lru_cache(maxsize=16)
def numbers_of(design: Assessed) -> tuple[Number, ...]:
    """Return every number of a design, in the order of a report; what is not known is there and says so."""
    return (*_asked(design), *_settings(design), *_given_away(design), *_accuracy(design), *_added(design))


def _exactly(value: float | None) -> Measure:
    return Measure.unknown() if value is None else Measure(float(value), 0.0)


def _asked(design: Assessed) -> Iterator[Number]:
    """What the limits on protection are as ε and δ."""
    for one in design.question.protections:
        for symbol, value in zip("εδ", one.promise, strict=True):
            yield Number(
                part=ASKED, label=one.words[0].upper() + one.words[1:], symbol=symbol, measure=_exactly(value),
                formula=AS_GIVEN if isinstance(one, PrivacyLoss) else one.formula, source=one.source,
            )  # fmt: skip


def _settings(design: Assessed) -> Iterator[Number]:
    asked, method = design.question, design.method
    for declared in asked.data.parameters():
        if declared.name != asked.data.true_value:
            value = getattr(asked.data, declared.name)
            yield _setting(declared.title, declared.symbol, value, AS_GIVEN)
    yield _setting("Synthetic sets", "M", design.sets, AS_GIVEN)
    if asked.promises:
        formula = "the largest ε of all sets for which every limit on protection is kept"
    else:
        formula = "the smallest ε of all sets found with which every limit on accuracy is kept"
    searched = "root finding on the exact loss, on the private side" if asked.promises else "a search over ε"
    yield _setting(GIVEN_EPSILON, "ε", design.setting, formula, method.source, searched)
    share = design.setting / design.sets
    yield _setting("Share of each set", "ε′", share, "ε/M", method.source, "closed form")
    for statistic, scale in method.noise_scales(asked.data, share).items():
        label = f"Scale of the noise of each set, on {statistic}"
        yield _setting(label, "b", scale, "sensitivity over its share of ε′", method.source, "closed form")
    made, known = method.design(asked.data, design.setting, design.sets), {one.name for one in asked.data.parameters()}
    if made is not None:
        for one in made.synthesizer.parameters():
            if one.name not in known:
                what, value = "what protects one set, from its share ε′", getattr(made.synthesizer, one.name)
                label = f"{one.title}, each set"
                yield _setting(label, one.symbol, value, what, method.source, "closed form", MATRICES)


def _setting(
    label: str, symbol: str, value: float, formula: str, source: str = "", how: str = "", page: str = DESK
) -> Number:
    return Number(
        part=SETTINGS, label=label, symbol=symbol, measure=_exactly(value), formula=formula, source=source, how=how,
        page=page,
    )  # fmt: skip


def _given_away(design: Assessed) -> Iterator[Number]:
    """The pure ε of all sets, the odds that it allows, and what the release attains of each kind of limit."""
    loss = design.real_epsilon
    page = MATRICES if design.sets == 1 and _is_matrix(design) else _elsewhere(design)
    unknown = "" if loss is not None else "No ε is known that holds for this method."
    yield Number(
        part=GIVEN, label=LOST, symbol="L", measure=_exactly(loss), page=page, note=unknown,
        formula="L = M max |ln Pr(c | x) − ln Pr(c | x′)| over all neighbours x, x′ and all releases c of one set",
        source="Abowd & Vilhuber (2008), equation (3)", how=_how_lost(design),
    )  # fmt: skip
    yield Number(
        part=GIVEN, label="Largest factor on an attacker's odds", symbol="e^L", page=page, note=unknown,
        measure=_exactly(None if loss is None else math.exp(min(loss, 709.0)) if loss < math.inf else math.inf),
        formula="posterior odds ≤ e^L × prior odds", source="Abowd & Vilhuber (2008), equation (4)", how="closed form",
    )  # fmt: skip
    if loss is None:
        return
    delta, how, bound = _delta_of(design, loss)
    for one in _limits_met(design):
        value = one.reached(loss, delta)
        # Where the loss itself is within ε, nothing escapes it, whatever is known of δ.
        yield Number(
            part=GIVEN, label=one.measured[0].upper() + one.measured[1:], symbol=one.symbol, measure=_exactly(value),
            formula=one.formula, source=one.source, how=how if one.by_delta else "closed form from L",
            bound=bound and one.by_delta and value > 0, share=one.share,
        )  # fmt: skip


def _how_lost(design: Assessed) -> str:
    """How the loss is computed, and of what it is one, as the record of the method has it."""
    record = next((one for one in RELEASE_METHODS if one.key == design.method.audited), None)
    return f"{record.checked}, for {record.released}" if record else "exact, over all neighbours"


def _limits_met(design: Assessed) -> list[Protection]:
    """The limits of the question, and for each further kind its usual numbers; δ only where an ε was named."""
    asked = {one.key: one for one in design.question.protections}
    return [asked.get(key) or kind() for key, kind in PROTECTIONS.items() if key in asked or kind is not PrivacyLoss]


def _delta_of(design: Assessed, loss: float) -> tuple[Callable[[float], float], str, bool]:
    """Return δ of all sets at any ε, how it is computed, and whether it is only a bound."""
    method, data, sets = design.method, design.question.data, design.sets

    def bound(epsilon: float) -> float:
        """The most that a pure loss allows (Kairouz, Oh & Viswanath 2015, theorem 2.1)."""
        return -math.expm1(min(epsilon - loss, 0.0)) / (1 + math.exp(-loss))

    if method.real_delta(data, design.setting, sets, 0.0) is None:
        return bound, "the most that L allows: δ(ε) ≤ (e^L − e^ε)/(e^L + 1)", True

    def exact(epsilon: float) -> float:
        found = None if loss <= epsilon else method.real_delta(data, design.setting, sets, epsilon)
        return bound(epsilon) if found is None else found.value

    return exact, "exact, over all neighbours" if sets == 1 else "losses of all sets on a grid, δ rounded up", False


def _elsewhere(design: Assessed) -> str:
    """The page that compares methods, where it knows such data."""
    return COMPARE if design.question.data.key in COMPARED else DESK


def _is_matrix(design: Assessed) -> bool:
    """Whether the pages on one count know each of its sets."""
    made = design.method.design(design.question.data, design.setting, design.sets)
    return made is not None and isinstance(made.synthesizer, TwoCellSynthesizer)


def _accuracy(design: Assessed) -> Iterator[Number]:
    asked, rule = design.question, design.analysis.rule_for(design.sets)
    for key, one in ACCURACY.items():
        source = f"{rule.source}: {rule.formula}" if one.needs_interval else "Morris, White & Crowther (2019), Table 6"
        page = COVERED if one.needs_interval and _is_matrix(design) else _elsewhere(design)
        yield _over_truths(design, one, design.figures[key], source, page)
    figure = USABLE.over(asked.truths, design.outcomes, asked.average)
    yield _over_truths(design, USABLE, figure, design.method.source, _elsewhere(design))


def _over_truths(design: Assessed, one: AccuracyMeasure, figure: Figure, source: str, page: str) -> Number:
    """A measure over the range of true values, the worst of them or their average."""
    asked, measure = design.question, figure.measure
    ranged = asked.ranged
    where = ", ".join(filter(None, (f"average over {len(asked.truths)} true values", asked.prior_in_words)))
    if not math.isnan(figure.at):
        where = f"worst of {len(asked.truths)} true values, at {ranged.symbol} = {readable(figure.at)}"
    how, note = asked.data.exactly, ""
    if math.isnan(measure.value):
        where, how, note = "", "", "No number is known: the analysis does not take such a release."
    elif measure.error != 0:
        how = f"simulated, {asked.repetitions:,} repetitions, seed {asked.seed}; ± is the standard error"
    return Number(
        part=ACCURATE, label=one.label[0].upper() + one.label[1:], symbol=one.symbol, measure=measure,
        formula=one.formula, source=source, how=how, page=page, at=where, share=one.share, note=note,
    )  # fmt: skip


def _added(design: Assessed) -> Iterator[Number]:
    """The error that the release adds, the smallest that any mechanism as private could add, and their ratio."""
    added, least = design.outcomes[0].release_error, _least_error(design)
    none = "The smallest error is known for one proportion only."
    price = added.value / least if least else math.nan
    for label, symbol, measure, formula, source, how in (
        ("Error that the release adds", "e", added, "√ mean of E[(q − x/n)² | x] over x = 0 … n, each alike",
         design.method.source, design.question.data.exactly),
        ("Smallest error possible with this protection", "e₀", _exactly(least),
         "the smallest e of any mechanism with the same ε and δ",
         "Ghosh, Roughgarden & Sundararajan (2012); linear programme", "exact for δ = 0, a lower bound with δ"),
        ("Price of the method", "e/e₀", _exactly(price), "e/e₀", "the two numbers above", "closed form"),
    ):  # fmt: skip
        unknown = math.isnan(measure.value)
        yield Number(
            part=ADDED, label=label, symbol=symbol, measure=measure, formula=formula, source=source,
            how="" if unknown else how, page=_elsewhere(design), note=none if unknown else "",
        )  # fmt: skip


def _least_error(design: Assessed) -> float | None:
    """Return the smallest error at the ε and δ that were asked, or at the loss that the release really has."""
    asked = next((one for one in design.question.protections if isinstance(one, PrivacyLoss)), None)
    loss = design.real_epsilon
    if asked is not None and asked.most_delta > 0:
        return design.question.data.least_error(*asked.promise)
    return None if loss is None or not 0 < loss <= MOST_LOSS else design.question.data.least_error(loss)


MOST_LOSS = 600.0  # ε up to which the smallest error is computed; with more it is 0 to every digit
