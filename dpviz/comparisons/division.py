"""What is known of a division of ε in sentences and in a table: where the error is smallest, and what others cost."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpviz.comparisons.budget import Spending, Spent
from dpviz.comparisons.guesses import guess_in_words
from dpviz.core.formatting import format_error, format_measure, format_number, format_or_dash, format_ratio, join_words

NAMED_DIVISIONS = 4  # That are named where more cannot be told from the best


@dataclass(frozen=True)
class Division:
    """What was asked, what was found, and whether that is final: another division may still turn out to be better."""

    asked: Spending
    found: Spent
    is_final: bool = True

    @property
    def tells(self) -> bool:
        """Whether it says which division is best: of a few alone that says nothing."""
        return len(self.found.outcomes) >= len(self.asked.compared)

    @property
    def answer(self) -> tuple[str, str, str]:
        """The mark, the sentence, and a short one for a class and for a phone."""
        asked, found = self.asked, self.found
        best, epsilon = found.best, format_number(asked.epsilon, 4)
        if not self.tells:
            tried = f"{len(found.outcomes)} of {len(asked.compared)}"
            sentence = f"The errors of {tried} {asked.counted} are known so far; which is best is told once "
            return "computing", f"{sentence}all of them are.", "The errors are being computed."
        error = found.outcomes[best].ranked_error
        if math.isnan(error.value):
            sentence = (
                "In the repetitions so far, too few releases gave an estimate from all of their sets at "
                f"ε = {epsilon} to say which division is best: a cell came out empty, or nothing varied."
            )
            return "no estimate", sentence, f"At ε = {epsilon} too few releases give an estimate."
        name, typical = asked.name_of(best), format_error(error)
        so_far = "" if self.is_final else " so far"
        words = (
            f"With ε = {epsilon} for everything that is released, the error is{so_far} smallest with <b>{name}</b>: "
            f"the analyst's estimate of {asked.data.judged.short} is typically off by <b>{typical}</b> (root mean "
            f"squared error, {asked.method.label}, {asked.named})."
        )
        for usual, place in asked.usual.items():
            if place != best and place in found.outcomes:
                words += f" With {asked.name_of(place)} ({usual}) {self._compared(place)}."
        if asked.data.flatters(asked.method):
            words += " It is told <b>the truth</b> as its public guess, on which this rests."
        lead = "Best division" if self.is_final else "Best so far"
        short = f"{lead} at ε = {epsilon}: the estimate is typically off by {typical}."
        return name, words + self._of_one_set, short

    def _compared(self, place: float) -> str:
        """How the error of a usual division compares with the smallest, as the end of a sentence."""
        if math.isnan(self.found.outcomes[place].ranked_error.value):
            return "too few repetitions give an estimate to tell"
        if place in self.found.tied:
            return "no difference can be told"
        return f"the estimate is off by <b>{format_ratio(self.found.price(place))}</b>"

    @property
    def _of_one_set(self) -> str:
        """The best release of a single set, with its error, against the division that is best."""
        one, best = self.found.single, self.found.outcomes[self.found.best]
        if one is None:  # a sentence about as long: what stands below keeps its place
            wait = " What error a single set of the best of all methods would have is being computed."
            return "" if self.is_final else wait
        error, mine = best.ranked_error, one.ranked_error
        if (one.method.key, one.sets) == (best.method.key, best.sets) and mine.tied(error):
            return ""  # it is what the sentence has told
        words = f" A single set of the {one.method.label} has an error of <b>{format_error(mine)}</b>"
        if math.isnan(error.value) or mine.tied(error):
            return f"{words}."
        hardly = (
            "hardly " if format_number(mine.value, 3) == format_number(error.value, 3) else ""
        )  # by less than is written
        return f"{words}, which is {hardly}{'less' if mine.value < error.value else 'more'}."

    @property
    def further(self) -> str:
        """What else is as good, among which divisions the best was sought, and which is best for another question."""
        if math.isnan(self.found.outcomes[self.found.best].ranked_error.value):
            return self._reach
        told = guess_in_words(self.found.outcomes[self.found.best], self.asked.at(self.found.best)[1])
        return f"{self._alike()} {self._reach}{self._best_for_others} {told}".strip()

    def _alike(self, estimand: str = "") -> str:
        """Which divisions cannot be told from the best one, in a sentence; nothing where there are none."""
        best = self.found.best_for(estimand)
        tied = [place for place in self.found.tied_for(estimand) if place != best]
        if not tied:
            return ""
        alike = join_words([self.asked.name_of(place) for place in tied[:NAMED_DIVISIONS]])
        alike += f", and {len(tied) - NAMED_DIVISIONS} more" if len(tied) > NAMED_DIVISIONS else ""
        simulated = self.found.errors(estimand)[best].error > 0
        return f" The simulation cannot tell it from {alike}." if simulated else f" So it is with {alike}."

    @property
    def _reach(self) -> str:
        """Among which divisions the best was sought, in a sentence."""
        asked, found = self.asked, self.found
        if not found.every:
            end = ", and lies at their end" if found.best in asked.open_ends else ""
            return f"It is the best of the {len(found.outcomes)} {asked.counted} that were tried{end}."
        most = asked.name_of(asked.allowed[-1])
        if found.best == asked.allowed[-1]:
            return f"The search ends at {most}: more may be better still."
        return f"Everything from {asked.name_of(asked.allowed[0])} to {most} was tried."

    @property
    def _best_for_others(self) -> str:
        """Which division is best for what else the analyst may want to know, as far as that is known."""
        words, found = "", self.found
        known = all(one.key in each.beside for each in found.outcomes.values() for one in self.asked.others)
        for one in self.asked.others if known else ():
            best = found.best_for(one.key)
            if not math.isnan(found.errors(one.key)[best].value):
                name = f"{one.short} with {self.asked.name_of(best)}"
                words += f" The error is smallest for the estimate of {name}.{self._alike(one.key)}"
        return words

    @property
    def table(self) -> tuple[list[str], list[list[str]]]:
        """The names of the columns, and a row for the best division and for each of the papers'."""
        found, asked = self.found, self.asked
        usual = {place: name for name, place in asked.usual.items() if place in found.outcomes and place != found.best}
        rows = []
        for place, name in {found.best: "smallest error", **usual}.items():
            one = found.outcomes[place]
            measures = [format_measure(each) for each in (one.root_mean_squared_error, one.bias)]
            measures += [format_measure(one.coverage, share=True), format_measure(one.mean_width)]
            named = f"<b>{asked.name_of(place)}</b> <small>{name}</small>"
            rows.append([named, *measures, format_or_dash(found.price(place), 4)])
        return ["division of ε", "error", "bias", "coverage", "mean width", "times the smallest error"], rows
