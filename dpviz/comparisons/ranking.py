"""Methods in the order of their errors at one ε, and what a comparison says of them in sentences and in a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Self

from dpviz.comparisons.base import RANKED_REPETITIONS, Outcome
from dpviz.comparisons.compared_method import ComparedMethod
from dpviz.comparisons.comparison import Compared, Comparison
from dpviz.comparisons.guesses import guess_in_symbols, guess_in_words
from dpviz.comparisons.terms import NO_EPSILON
from dpviz.core.formatting import (
    format_error,
    format_measure_cells,
    format_number,
    format_percent,
    format_ratio,
    join_words,
)
from dpviz.core.monte_carlo import Measure
from dpviz.privacy.optimum import LeastError
from dpviz.privacy.real_loss import Loss, ReleaseVerdict

SELDOM = 0.9  # Share of usable releases below which the sentence tells it


@dataclass(frozen=True)
class Ranking:
    """The outcomes of a comparison where it is ranked, and the smallest error that can be added, as far as known."""

    asked: Comparison
    outcomes: Sequence[Outcome]
    smallest: LeastError | None = None

    @classmethod
    def of(cls, asked: Comparison, found: Compared) -> Self:
        """Return the ranking of what is known."""
        return cls(asked, [*found.outcomes.values()], found.smallest_errors.get(asked.epsilon))

    def unfit(self, one: Outcome) -> str:
        """Return why a method cannot have the smallest error whatever its error is, in a few words; nothing if it can.

        With δ every method has been set so that it keeps its promise.
        """
        if one.method.reference:
            return "it promises nothing"
        if self.asked.data.flatters(one.method):
            return "its public guess is the truth itself"
        if not one.method.has_epsilon:
            return NO_EPSILON
        verdict = one.real_loss.verdict(one.epsilon)
        if self.asked.terms.delta > 0 or verdict is ReleaseVerdict.SATISFIED:
            return ""
        return "it breaks its promise" if verdict.bad else "it is not known to keep its promise"

    @cached_property
    def in_order(self) -> list[Outcome]:
        """Those that can win by their error, the smallest first; then by theirs those that cannot, or have none."""

        def place(one: Outcome) -> tuple[bool, bool, float]:
            error = one.ranked_error.value
            return math.isnan(error), bool(self.unfit(one)), error

        return sorted(self.outcomes, key=place)

    @property
    def _ranked(self) -> list[Outcome]:
        """Those with enough repetitions to rank them."""
        return [one for one in self.in_order if not math.isnan(one.ranked_error.value)]

    @cached_property
    def contenders(self) -> list[Outcome]:
        """Those that can win, in order: of methods whose promise holds, with enough repetitions to rank them."""
        return [one for one in self._ranked if not self.unfit(one)]

    @property
    def _barred(self) -> list[Outcome]:
        """Those with an error that promise privacy, but cannot win."""
        return [one for one in self._ranked if self.unfit(one) and not one.method.reference]

    @property
    def _guessing(self) -> list[Outcome]:
        """Those with an error that are given a public guess."""
        return [one for one in self._ranked if one.method.guess]

    @property
    def _promising(self) -> list[Outcome]:
        return [one for one in self.outcomes if not one.method.reference]

    @property
    def answer(self) -> tuple[str, str, str]:
        """The mark, the sentence, and a short one for a class."""
        if not self.contenders:
            return self._without_winner
        asked, (first, *rest) = self.asked, self.contenders
        tied = [one for one in rest if one.ranked_error.tied(first.ranked_error)]
        exact = all(one.ranked_error.error == 0 for one in (first, *tied))
        best = [first, *tied] if exact else [first]
        names, error = join_words([one.method.label for one in best]), format_error(first.root_mean_squared_error)
        several = "have the smallest error of those shown: their estimates are"
        off = several if len(best) > 1 else "has the smallest error of those shown: its estimate is"
        words = f"At a {asked.terms.meant} {asked.privacy}, <b>{names}</b> {off} typically off by <b>{error}</b>"
        original = next((one for one in self.outcomes if one.method.reference and one.sets == 1), None)
        if original and not math.isnan(original.ranked_error.value):
            compared = times_with(first.ranked_error.value, original.ranked_error.value)
            words += f", {compared} with the {original.method.label.lower()}"
        words += f" (root mean squared error, {asked.named})."
        if tied and not exact:
            alike = [f"{one.method.label} ({format_error(one.root_mean_squared_error)})" for one in tied]
            words += f" The simulation cannot tell it from {join_words(alike)}."
            names += f" or {tied[0].method.label if len(tied) == 1 else f'{len(tied)} others'}"
        short = f"Smallest error of those shown at ε = {format_number(asked.epsilon, 4)}: typically off by {error}."
        return names, words + self._price(first), short

    @property
    def _without_winner(self) -> tuple[str, str, str]:
        """The same where no method wins."""
        privacy, epsilon = self.asked.privacy, format_number(self.asked.epsilon, 4)
        fit = [one for one in self._promising if not self.unfit(one)]
        if not self._promising:
            sentence = f"None of the methods chosen can be set to a real privacy loss of {privacy}."
            return "no method", sentence, f"No chosen method can be set to a real ε of {epsilon}."
        if not fit and all(self.asked.data.flatters(one.method) for one in self._promising):
            sentence = (
                "What is chosen is told the truth as its public guess, so that its error is the best it can have, and "
                "is not ranked. Choose other methods beside it, or set a guess of your own."
            )
            return "not ranked", sentence, "What is told the truth as its public guess is not ranked."
        if not fit:
            sentence = f"None of the methods chosen is known to keep a promise of {privacy}, so that none is ranked."
            return "none ranked", sentence, f"No chosen method is known to keep its promise of ε = {epsilon}."
        if any(one.unfinished and 0 < one.repetitions < RANKED_REPETITIONS for one in fit):
            sentence = (
                f"The simulation has only begun: a method is ranked once {RANKED_REPETITIONS} of its repetitions have "
                "given an estimate."
            )
            return "simulating", sentence, f"At ε = {epsilon} the simulation has only begun."
        sentence = (
            "In the repetitions so far, no method whose promise holds gave an estimate from all of its sets often "
            f"enough to be ranked at ε = {epsilon}: a cell came out empty, or nothing varied. The table below shows "
            "the share of usable releases as it grows."
        )
        return "no estimate", sentence, f"At ε = {epsilon} too few releases give an estimate."

    def _price(self, best: Outcome) -> str:
        """How the error that the release adds compares with the smallest possible; nothing where that is not known."""
        added = best.release_error.value
        if self.smallest is None or not self.smallest.lower_bound > 0 or math.isnan(added):
            return ""
        return (
            f" Averaged over all possible confidential data, the error added by {best.method.label} is "
            f"<b>{self.smallest.compared(added)}</b> that of the best possible mechanism with {self.asked.privacy}."
        )

    @property
    def further(self) -> str:
        """The largest error, and what keeps other methods from having the smallest; nothing where there is no more."""
        short = [
            f"{one.method.label} ({_few(one)})" for one in self._promising if 0 < one.repetitions < RANKED_REPETITIONS
        ]
        few = f" Too few to be ranked: {join_words(short)}." if short else ""
        barred = [one for one in self._barred if not one.method.guess]
        few += "".join(f" {guess_in_words(one, self.asked.analysis, self.asked.terms)}" for one in self._guessing)
        if not self.contenders:
            return f"{''.join(map(self._why_barred, barred))}{few}".strip()
        first, last, words = self.contenders[0], self.contenders[-1], ""
        if not last.ranked_error.tied(first.ranked_error):
            error = format_error(last.root_mean_squared_error)
            words = f" The largest error, {error}, is that of {last.method.label}."
        words += "".join(self._why_barred(one) for one in barred if surely_less(one, first)) + few
        if first.usable_share.value < SELDOM:
            share = format_percent(first.usable_share.value, 2)
            words += f" Only {share} of the releases of {first.method.label} can be analyzed."
        if first.ranked_error.error > 0:
            words += " Errors with “about” are simulated; the table below has their standard errors."
        return words.strip()

    def _why_barred(self, one: Outcome) -> str:
        """The error of a method that cannot win, with the reason."""
        why = self.unfit(one)
        if one.real_loss.verdict(one.epsilon).bad:
            broken = f"it <b>breaks its promise</b>: {really(one.real_loss, one.epsilon)}"
            why = broken if one.method.has_epsilon else f"it is not private: {why}"
        return f" {one.method.label} is off by {format_error(one.root_mean_squared_error)}, but {why}."

    @property
    def absent(self) -> list[tuple[str, str]]:
        """The methods that cannot be compared on these terms, each with the reason in a few words."""
        asked, there = self.asked, {one.method.key for one in self.outcomes}
        return [(one.label, _absence(asked, one)) for one in asked.methods if one.key not in there]

    @property
    def table(self) -> tuple[list[str], list[list[str]]]:
        """The names of the columns, and a row for each method, in order; Monte Carlo errors stand below."""
        columns: dict[str, Callable[[Outcome], str]] = {"method": self._named}
        if self.asked.terms.asks:
            columns["given ε"] = lambda one: "–" if one.method.reference else format_number(one.setting, 4)
        columns |= {
            "error": _error_cell,
            "bias": lambda one: _cell(one.bias),
            "coverage": lambda one: _cell(one.coverage, share=True),
            "mean width": lambda one: _cell(one.mean_width),
            "usable": lambda one: _cell(one.usable_share, share=True),
            "real ε": self._real,
        }
        if any(one.release_error.value >= 0 for one in self.outcomes):
            columns["added error"] = lambda one: _cell(one.release_error)
        if self.smallest is not None:
            columns["times the best"] = self._priced
        return list(columns), [[cell(one) for cell in columns.values()] for one in self.in_order]

    def _named(self, one: Outcome) -> str:
        """A method, how many sets it releases, and why it is not ranked."""
        each, why = one.method.sets_of_each, "" if one.method.reference else self.unfit(one)
        sets = "one set" if one.sets * each == 1 else f"{one.sets} × {each} sets" if each > 1 else f"{one.sets} sets"
        not_ranked = f"<br><small>not ranked: {why}</small>" if why else ""
        sets = ", ".join((sets.replace(" ", "&nbsp;"), *guess_in_symbols(one.data, one.method)))
        return f"<b>{one.method.label}</b> <small>{sets}</small>{not_ranked}"

    def _real(self, one: Outcome) -> str:
        """The pure ε of all sets, exact or as far as it is known, marked where it is more than was promised."""
        loss = one.real_loss
        if one.method.reference:
            return loss.text(digits=4) + ("" if math.isinf(loss.at_least) else "<br><small>not promised</small>")
        if not one.method.has_epsilon:
            return "unbounded<br><b>not private</b>"
        broken = self.asked.terms.delta == 0 and loss.verdict(one.epsilon).bad
        return f"{loss.text(one.epsilon, 4)}{'<br><b>broken</b>' if broken else ''}"

    def _priced(self, one: Outcome) -> str:
        """How many times the smallest error a release adds, from where to where where that is not known exactly."""
        added, smallest = one.release_error.value, self.smallest
        if smallest is None or self.unfit(one) or not (added >= 0 and smallest.lower_bound > 0):
            return "–"
        return smallest.times(added)


@lru_cache(maxsize=1024)
def _absence(asked: Comparison, method: ComparedMethod) -> str:
    sets, absent = method.sets(asked.analysis.sets), method.absence(asked.data)
    return absent or asked.terms.absence(method, asked.data, asked.epsilon, sets)


def surely_less(one: Outcome, other: Outcome) -> bool:
    """Whether an error is smaller than another one, by more than a simulation or rounding leaves open."""
    mine, its = one.ranked_error, other.ranked_error
    return mine.value < its.value and not mine.tied(its)


def really(loss: Loss, promised: float) -> str:
    """What a method that breaks its promise gives away, with digits enough to differ from what it promises."""
    if math.isinf(loss.at_least):
        return "no ε holds for it"
    real = loss.text(promised)
    return f"it really gives away {'' if 'at least' in real else 'ε = '}{real}"


def times_with(error: float, other: float) -> str:
    """How many times as much as another error, or how many per cent more or less, to be followed by "with …"."""
    ratio = error / other if other else math.inf
    if abs(ratio - 1) < 5e-4:
        return "no more than"
    if math.isinf(ratio):
        return "but not at all"
    said = format_ratio(ratio)
    return f"{said} {'as' if said.endswith('as much') else 'than'}"


def _few(one: Outcome) -> str:
    """How many repetitions gave an estimate."""
    return f"{int(one.repetitions)} usable repetition{'' if one.repetitions == 1 else 's'}"


def _error_cell(one: Outcome) -> str:
    """The error; where too few repetitions gave an estimate, how many did."""
    ranked = one.repetitions >= RANKED_REPETITIONS
    return _cell(one.root_mean_squared_error) if ranked else f"–<br><small>{_few(one)}</small>"


def _cell(measure: Measure, *, share: bool = False) -> str:
    """A measure; below it, so that the columns are narrow, its Monte Carlo error."""
    value, error = format_measure_cells(measure, share=share)
    return f"{value}<br><small>{error}</small>" if error else value
