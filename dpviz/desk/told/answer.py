"""What answers a curator's question: which designs keep the limits, how the first does, and what it gives away."""

from __future__ import annotations

import math
from typing import NamedTuple

from dpviz.comparisons.terms import PROMISES
from dpviz.core.formatting import (
    SEARCH_TOLERANCE,
    format_distinct,
    format_number,
    join_words,
    round_down,
    round_up,
    spell_count,
    spell_number,
)
from dpviz.curator.measures import AccuracyLimit, is_on_limit
from dpviz.curator.privacy_limits import WEAK_PROTECTION_NOTE
from dpviz.curator.question import GOALS, takes_prior
from dpviz.desk.candidate import Evaluation
from dpviz.desk.order import deciding_first
from dpviz.desk.search import SearchResult
from dpviz.desk.told.measures import analysis, brief, listed, numbers, rounded_epsilon
from dpviz.export.templates import render_paragraphs
from dpviz.inference.rules import RULES
from dpviz.privacy.odds_text import factor_of_odds

NAMED_DESIGNS = 2  # Designs that a sentence names
ASKED_FOR = 1e-6  # Relative distance within which a real ε is the one that was asked for
CLOSE_BELOW = 1e-3  # Relative distance at which a refuted ε leaves nothing between
HARDLY_TOLD = "<b>{}</b>: {}".format(*WEAK_PROTECTION_NOTE)


class Told(NamedTuple):
    """What the desk answers: a mark, a sentence, a short one for a class, and what more is to be said of it."""

    mark: str
    sentence: str
    short: str
    further: str = ""


def answer_sentence(desk: SearchResult) -> Told:
    """Return what the desk answers with, and what that rests on, as inline HTML."""
    found = _answer(desk)
    return found._replace(further=f"{found.further} {desk.question.assumptions}".strip())


def limits_sentence(desk: SearchResult) -> str:
    """The limits on protection as they were understood, and how the leading design is made, as inline HTML."""
    method = desk.best.method if desk.best else None
    return render_paragraphs("desk/told/limits.html", asked=desk.question, method=method)[0]


def _answer(desk: SearchResult) -> Told:
    if not desk.designs:
        return _nothing(desk)
    if not desk.feasible:
        return _undecided(desk) if desk.undecided else _broken(desk)
    return _kept(desk) if desk.question.promises else _smallest(desk)


def _kept(desk: SearchResult) -> Told:
    """Designs keep every limit: the first of them, with its numbers, and how many others do."""
    first, question = desk.feasible[0], desk.question
    limits = "all your limits" if len(question.limits) + len(question.protections) > 1 else "your limit"
    words = f"keeps <b>{limits}</b> {analysis(first)}: {numbers(first)}.{_says_nothing(first)}"
    more = privacy(first)
    if first.is_minimal:
        more += f" It is given the smallest ε found for this accuracy. {_below(first)}"
    return Told(first.name, words, f"It keeps {limits}: {brief(first)}.", f"{more} {_others(desk)}")


def _smallest(desk: SearchResult) -> Told:
    """No limit on protection: the smallest ε that is enough for the accuracy."""
    first, *rest = desk.feasible
    limits = "your limit" if len(desk.question.limits) == 1 else "all your limits"
    kept = f"<b>{first.name}</b> {analysis(first)} keeps {limits}: {numbers(first)}.{_says_nothing(first)}"
    if first.real_epsilon is None:
        words = f"<b>No privacy loss is known to be enough</b> for this accuracy. {kept}"
        short = "What the best design really gives away is not known."
        return Told("not known", words, short, f"{privacy(first)} {_others(desk)}")
    epsilon = rounded_epsilon(first.real_epsilon)
    words = f"<b>A privacy loss of ε = {epsilon} is enough</b> for this accuracy: with it, {kept}"
    more = _below(first)
    if not desk.is_complete:
        more += " The search goes on, and may find a smaller one."
    more += f" {privacy(first)}"
    if desk.ties:
        more += f" {_tied(desk)}"
    elif rest and rest[0].real_epsilon is not None:
        more += f" The next is {rest[0].name} with ε = {rounded_epsilon(rest[0].real_epsilon)}."
    return Told(f"ε = {epsilon}", words, f"It is enough for this accuracy: {first.name}.", more + untold(desk))


def _below(first: Evaluation) -> str:
    """What is known of smaller ε than the one that is enough; what is not refuted is not called too small."""
    if not first.question.data.simulated or first.largest_infeasible >= first.epsilon * (1 - CLOSE_BELOW):
        return "Of the values tried, no smaller one is enough."
    repetitions = format_number(first.question.repetitions)
    if not first.largest_infeasible > 0:
        return f"No smaller value is refuted: a simulation of {repetitions} repetitions cannot tell more."
    return (
        f"It is the smallest that a simulation of {repetitions} repetitions confirms: up to "
        f"{format_number(round_down(first.largest_infeasible, 3), 3)} a limit is broken, "
        "and between the two it cannot tell."
    )


def _judged(one: Evaluation, verdict: bool | None) -> list[AccuracyLimit]:
    """The limits of which this is known."""
    return [limit for limit in one.question.limits if one.verdicts[limit.key] is verdict]


def _undecided(desk: SearchResult) -> Told:
    """None keeps all limits for sure, and of some it is not known."""
    first = desk.undecided[0]
    open_ = _judged(first, None)
    what = " and ".join(limit.measure.name for limit in open_)
    if not first.is_complete:
        kept = _judged(first, True)
        words = f"<b>{first.name}</b> leads so far" + (f": {listed(first, kept)}." if kept else ".")
        words += f" Its {what} {'is' if len(open_) == 1 else 'are'} still being computed."
        return Told("computing", words, f"It leads so far: {first.name}.", privacy(first))
    found = [first.worst_cases[limit.key].measure for limit in open_]
    if any(math.isnan(one.value) for one in found):
        words = (
            f"<b>No design is known to keep all your limits.</b> Nearest is <b>{first.name}</b>, but its {what} "
            "cannot be computed: the sums are too long, or some releases leave nothing to analyze."
        )
        return Told("not known", words, "No design is known to keep all your limits.", privacy(first))
    why = ". The limit lies between two bounds of that number, as close as the sums over all releases bring them."
    if any(one.error > 0 for one in found):
        why = (
            f", from a simulation of {format_number(desk.question.repetitions)} repetitions. The limit lies within two "
            "standard errors. More repetitions (under “More”) can decide it."
        )
    nearest = f"<b>{first.name}</b> {analysis(first)} comes nearest, but it is <b>too close to call</b>"
    words, short = f"{nearest}: {listed(first, open_)}{why}", "The nearest design is too close to a limit to tell."
    return Told("too close to call", words, short, f"{_of_the_rest(desk)} {privacy(first)}".strip())


def _of_the_rest(desk: SearchResult) -> str:
    more, broken = len(desk.undecided) - 1, len(desk.designs) - len(desk.undecided)
    further = f" The same holds for {spell_count(more, 'more design')}." if more else ""
    return further + (f" {spell_count(broken, 'other design').capitalize()} break a limit." if broken > 1 else "")


def _broken(desk: SearchResult) -> Told:
    """Every design breaks a limit: the nearest, and by how much it misses."""
    first = desk.designs[0]
    missed, kept, more = _judged(first, False), _judged(first, True), privacy(first)
    considered = "one was" if len(desk.designs) == 1 else f"{spell_number(len(desk.designs))} were"
    none = "No design keeps" if desk.is_complete else "No design so far keeps"
    words = (
        f"<b>{none} all your limits</b>; {considered} considered. Nearest is <b>{first.name}</b> "
        f"{analysis(first)}: {listed(first, missed)}."
    )
    if kept:
        more = f"It keeps {'this limit' if len(kept) == 1 else 'these limits'}: {listed(first, kept)}. {more}"
    most = max(missed, key=lambda one: one.used_share(first.worst_case(one.key).measure).value)
    nearest = (
        f"The nearest misses {spell_number(len(missed))}, mainly"
        if len(missed) > 1
        else "The nearest design misses one"
    )
    short = f"{nearest}: {listed(first, [most], plain=True)}."
    return Told("none keeps all" if desk.is_complete else "computing", words, short, more)


def _nothing(desk: SearchResult) -> Told:
    """No design at all: every method is absent."""
    if not desk.is_complete:
        return Told("searching", "No design has been found yet.", "No design has been found yet.")
    words = "<b>No method can release such data and keep this protection.</b> Below stands why for each of them."
    if not desk.question.promises:
        words = (
            "<b>No privacy loss that was tried, up to ε = 100, gives this accuracy.</b> The confidential data "
            "themselves may not: then more people, or wider limits, are needed. Below stands what each method says."
        )
    return Told("no design", words, "Nothing keeps these limits.")


def _others(desk: SearchResult) -> str:
    """How many other designs keep all limits and which are tied with this one, and how many could."""
    more, wait = len(desk.feasible) - 1, [one for one in desk.undecided if not one.is_complete]
    close = len(desk.undecided) - len(wait)
    if more:
        kept = "keeps all limits" if more == 1 else "keep all limits"
        sure = " that the simulation confirms" if desk.not_distinguished else ""
        lead = _tied(desk) if desk.ties else f"This one has {GOALS[desk.question.ranked_by]}{sure}."
        words = f"{spell_count(more, 'other design').capitalize()} {kept}, too. {lead}{untold(desk)}"
    elif len(desk.designs) == 1:
        words = "It was the only design considered." if desk.is_complete else "No other design has been found yet."
    else:
        words = f"No other of the {spell_count(len(desk.designs), 'design')} considered keeps all limits."
    if close:
        words += (
            f" Of {spell_count(close, 'more', 'more')} it cannot be told: a limit lies within two standard errors of "
            "what "
            "was simulated, or between two bounds of a sum, or nothing could be computed."
        )
    return words + (f" {spell_count(len(wait), 'design').capitalize()} still to be judged." if wait else "")


def _tied(desk: SearchResult) -> str:
    """Which designs cannot be told from the first by what decides, and what puts it before them."""
    first, named, rest = desk.designs[0], desk.ties[:NAMED_DESIGNS], len(desk.ties) - NAMED_DESIGNS
    names = [f"{one.name} ({RULES[one.rule].abbreviation})" if one.name == first.name else one.name for one in named]
    if rest > 0:
        names.append(spell_count(rest, "more design"))
    by = desk.deciding_criterion(desk.ties[0])
    them = "them" if all(desk.deciding_criterion(one) is None for one in desk.ties) else "the first two"
    why = (
        f"It comes first because {by.why}."
        if by
        else f"Nothing that decides tells {them} apart: they stand in the order of the methods."
    )
    return f"In its {deciding_first(first).label} it is tied with {join_words(names)}. {why}"


def untold(desk: SearchResult) -> str:
    """Return of which designs the simulation does not prove that they need a larger ε than the first, in a sentence."""
    names = [one.name for one in desk.not_distinguished]
    if not names:
        return ""
    shown = names if len(names) <= NAMED_DESIGNS else [*names[:NAMED_DESIGNS], f"{len(names) - NAMED_DESIGNS} more"]
    said = join_words(shown, "; ")
    return f" The simulation cannot tell whether {said} really need{'s' if len(names) == 1 else ''} more."


def _says_nothing(one: Evaluation) -> str:
    """Where every interval holds all that a proportion can be, that a coverage of 1 is worth nothing."""
    ranged = one.question.true_parameter
    widths = [found.mean_width.value for found in one.outcomes]
    if not takes_prior(ranged) or not all(is_on_limit(width, ranged.maximum - ranged.minimum) for width in widths):
        return ""
    return " But every interval then runs from 0 to 1, and says nothing."


def privacy(one: Evaluation) -> str:
    """Return what a design really gives away, one row substituted, without any δ: against what was asked, as odds."""
    promises, real = one.question.promises, one.real_epsilon
    if real is None:
        given = f"It is set to ε = {rounded_epsilon(one.epsilon)}; what it really gives away is not known."
        return f"{given} {HARDLY_TOLD}"
    if math.isinf(real):
        return f"It gives away a privacy loss that is <b>unbounded</b>: no ε holds without a δ. {HARDLY_TOLD}"
    asked = min((epsilon for epsilon, _ in promises), default=real)
    near = abs(real - asked) <= ASKED_FOR * asked
    exact = one.method.exact_epsilon
    if exact:
        said = f"ε = {format_number(asked, 3) if near else format_distinct(real, asked, 3)}"
    else:
        said = f"ε = {format_distinct(round_up(asked if near else real, 3, tolerance=SEARCH_TOLERANCE), asked, 3)}"
    most = "" if exact else "at most "
    words = (
        f"It gives away a privacy loss of <b>{most}{said}</b> (one row substituted, without any δ): the most telling "
        f"release changes the odds on one person's row by a factor of {most}{factor_of_odds(real, is_bound=not exact)}."
    )
    if real - asked > ASKED_FOR * asked and any(delta > 0 for _, delta in promises):
        words += (
            f" That is more than the ε = {format_number(asked, 3)} of your limits, which allow rare exceptions (δ)."
            if asked
            else " Your limits bound how often a guess is right, not how sure it can be."
        )
    if one.is_saturated:
        words += (
            f" Your limits on protection would allow more, but with the ε = {format_number(one.epsilon, 4)} that it "
            "is set "
            "to nothing is worse by a thousandth than with all that they allow."
            if one.epsilon < PROMISES.maximum
            else f" Your limits on protection allow every ε; {format_number(one.epsilon)} is where the search ends."
        )
    return f"{words} {HARDLY_TOLD}" if one.exceeds_usual_epsilon else words
