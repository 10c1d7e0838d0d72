"""What the page says of an answer: pure functions from the designs to sentences."""

import math
from typing import NamedTuple

from dpviz.comparisons.terms import LOSS_TIE, PROMISES
from dpviz.core.parameters import readable, readable_apart, rounded_down, rounded_up
from dpviz.core.plain import enumerated
from dpviz.core.wording import percent
from dpviz.desk.accuracy import ACCURACY, AccuracyLimit, AccuracyMeasure, on_limit
from dpviz.desk.order import deciding_first
from dpviz.desk.protection import HARDLY, odds_factor
from dpviz.desk.question import GOALS, Question, takes_prior
from dpviz.desk.report.words import NAMED_DESIGNS, untold
from dpviz.desk.search import Assessed, Desk, Relaxed
from dpviz.inference.rules import RULES

NEAR = 1e-6  # Relative distance within which a real ε is the one that was asked for
CLOSE_BELOW = 1e-3  # Relative distance at which a refuted ε leaves nothing between


class Told(NamedTuple):
    """What the page answers: a mark, a sentence, a short one for a class, and what more is to be said of it."""

    mark: str
    sentence: str
    short: str
    further: str


def answer_sentence(desk: Desk) -> Told:
    """Return what the page answers with, and what that rests on."""
    found = _answer(desk)
    return found._replace(further=f"{found.further} {desk.question.supposed}".strip())


def _answer(desk: Desk) -> Told:
    if not desk.designs:
        return _nothing(desk)
    if not desk.keeping:
        return _undecided(desk) if desk.undecided else _broken(desk)
    return _kept(desk) if desk.question.promises else _smallest(desk)


def _kept(desk: Desk) -> Told:
    """Designs keep every limit: the first of them, with its numbers, and how many others do."""
    first, question = desk.keeping[0], desk.question
    limits = "all your limits" if len(question.limits) + len(question.protections) > 1 else "your limit"
    words = f"keeps <b>{limits}</b> {analysis(first)}: {numbers(first)}.{says_nothing(first)}"
    more = privacy(first)
    if first.sought:
        more += f" It is given the smallest ε found for this accuracy. {_below(first)}"
    return Told(first.name, words, f"It keeps {limits}: {brief(first)}.", f"{more} {others(desk)}")


def _smallest(desk: Desk) -> Told:
    """No limit on protection: the smallest ε that is enough for the accuracy."""
    first, question = desk.keeping[0], desk.question
    limits = "your limit" if len(question.limits) == 1 else "all your limits"
    kept = f"<b>{first.name}</b> {analysis(first)} keeps {limits}: {numbers(first)}.{says_nothing(first)}"
    if first.real_epsilon is None:
        words = f"<b>No privacy loss is known to be enough</b> for this accuracy. {kept}"
        return Told("not known", words, "What the best design really gives away is not known.",
                    f"{privacy(first)} {others(desk)}")  # fmt: skip
    epsilon = rounded_epsilon(first.real_epsilon)
    words = f"<b>A privacy loss of ε = {epsilon} is enough</b> for this accuracy: with it, {kept}"
    more = _below(first)
    if not desk.complete:
        more += " The search goes on, and may find a smaller one."
    more += f" {privacy(first)}"
    if desk.ties:
        more += f" {tied(desk)}"
    elif len(desk.keeping) > 1 and desk.keeping[1].real_epsilon is not None:
        next_one = desk.keeping[1]
        more += f" The next is {next_one.name} with ε = {rounded_epsilon(desk.keeping[1].real_epsilon)}."
    return Told(f"ε = {epsilon}", words, f"It is enough for this accuracy: {first.name}.", more + untold(desk))


def _below(first: Assessed) -> str:
    """What is known of smaller ε than the one that is enough; what is not refuted is not called too small."""
    if not first.question.data.simulated or first.refuted >= first.setting * (1 - CLOSE_BELOW):
        return "Of the values tried, no smaller one is enough."
    repetitions = readable(first.question.repetitions)
    if not first.refuted > 0:
        return f"No smaller value is refuted: a simulation of {repetitions} repetitions cannot tell more."
    return (
        f"It is the smallest that a simulation of {repetitions} repetitions confirms: up to "
        f"{readable(rounded_down(first.refuted, 3), 3)} a limit is broken, and between the two it cannot tell."
    )


def _undecided(desk: Desk) -> Told:
    """None keeps all limits for sure, and of some it is not known."""
    first, all_ = desk.undecided[0], len(desk.designs)
    open_ = [limit for limit in desk.question.limits if first.verdicts[limit.key] is None]
    what = " and ".join(named(limit.measure) for limit in open_)
    if not first.complete:
        kept = [limit for limit in desk.question.limits if first.verdicts[limit.key]]
        words = f"<b>{first.name}</b> leads so far" + (f": {listed(first, kept)}." if kept else ".")
        words += f" Its {what} {'is' if len(open_) == 1 else 'are'} still being computed."
        return Told("computing", words, f"It leads so far: {first.name}.", privacy(first))
    if any(math.isnan(first.figures[limit.key].measure.value) for limit in open_):
        words = (
            f"<b>No design is known to keep all your limits.</b> Nearest is <b>{first.name}</b>, but its {what} "
            "cannot be computed: the sums are too long, or some releases leave nothing to analyze."
        )
        return Told("not known", words, "No design is known to keep all your limits.", privacy(first))
    if any(first.figures[limit.key].measure.error > 0 for limit in open_):
        why = (
            f", from a simulation of {readable(desk.question.repetitions)} repetitions. The limit lies within two "
            "standard errors. More repetitions (under “More”) can decide it."
        )
    else:
        why = ". The limit lies between two bounds of that number, as close as the sums over all releases bring them."
    words = (
        f"<b>{first.name}</b> {analysis(first)} comes nearest, but it is <b>too close to call</b>: "
        f"{listed(first, open_)}{why}"
    )
    more = f"{_of_the_rest(desk, all_ - len(desk.undecided))} {privacy(first)}".strip()
    return Told("too close to call", words, "The nearest design is too close to a limit to tell.", more)


def _of_the_rest(desk: Desk, broken: int) -> str:
    more = len(desk.undecided) - 1
    further = f" The same holds for {counted(more, 'more design')}." if more else ""
    return further + (f" {counted(broken, 'other design').capitalize()} break a limit." if broken > 1 else "")


def _broken(desk: Desk) -> Told:
    """Every design breaks a limit: the nearest, and by how much it misses."""
    first, question = desk.designs[0], desk.question
    missed = [limit for limit in question.limits if first.verdicts[limit.key] is False]
    considered = "one was" if len(desk.designs) == 1 else f"{spelled(len(desk.designs))} were"
    none = "No design keeps" if desk.complete else "No design so far keeps"
    words = (
        f"<b>{none} all your limits</b>; {considered} considered. Nearest is <b>{first.name}</b> "
        f"{analysis(first)}: {listed(first, missed)}."
    )
    kept = [limit for limit in question.limits if first.verdicts[limit.key]]
    more = privacy(first)
    if kept:
        more = f"It keeps {'this limit' if len(kept) == 1 else 'these limits'}: {listed(first, kept)}. {more}"
    short = f"The nearest design misses one: {listed(first, missed[:1], plain=True)}."
    return Told("none keeps all" if desk.complete else "computing", words, short, more)


def _nothing(desk: Desk) -> Told:
    """No design at all: every method is absent."""
    if not desk.complete:
        return Told("searching", "No design has been found yet.", "No design has been found yet.", "")
    if desk.question.promises:
        words = "<b>No method can release such data and keep this protection.</b> Below stands why for each of them."
    else:
        words = (
            "<b>No privacy loss that was tried, up to ε = 100, gives this accuracy.</b> The confidential data "
            "themselves may not: then more people, or wider limits, are needed. Below stands what each method says."
        )
    return Told("no design", words, "Nothing keeps these limits.", "")


def relaxed_sentence(found: Relaxed) -> str:
    """What would have to give way for a design to keep all limits, as inline HTML."""
    one, values = found.design, accepted(found)
    ways = []
    if values:
        ways.append(
            f"if you accept {' and '.join(asked_of(one.question, ACCURACY[key], values[key]) for key in values)}"
        )
    if found.analyzed is not None:
        ways.insert(0, f"if it is analyzed with <b>“{RULES[found.analyzed.rule].label}”</b>: {numbers(found.analyzed)}")
    epsilon = enough_epsilon(found)
    if epsilon is not None:
        ways.append(f"with <b>ε = {readable(epsilon, 4)}</b> instead of {readable(setting_of(one), 4)}")
    start = f"<b>{one.name}</b> {analysis(one)}"
    if not ways:
        return f"{start} keeps them with no ε that was tried up to 100."
    never = "" if found.epsilon is not None else "; no ε that was tried up to 100 would do"
    return f"{start} keeps them {', or '.join(ways)}{never}."


def enough_epsilon(found: Relaxed) -> float | None:
    """The real privacy loss with which the design keeps all limits, rounded up; None where no ε does."""
    if found.epsilon is None:
        return None
    one = found.design
    real = one.method.real_epsilon(one.question.data, found.epsilon, one.sets)
    return found.epsilon if real is None else rounded_up(real, 4)


def accepted(found: Relaxed) -> dict[str, float]:
    """The limits with which the design would do at its present ε, in three digits; none where one has no number."""
    if not all(math.isfinite(value) for value in found.values.values()):
        return {}
    return {key: enough(ACCURACY[key], value) for key, value in found.values.items()}


def enough(measure: AccuracyMeasure, value: float) -> float:
    """A limit in three digits that a value keeps: the nearest on the far side of it."""
    near = float(f"{value:.3g}")
    if measure.worse(value, near):
        unit = 10.0 ** (math.floor(math.log10(abs(value))) - 2)
        near = float(f"{near + (unit if value > near else -unit):.3g}")
    return near


def others(desk: Desk) -> str:
    """How many other designs keep all limits and which are tied with this one, and how many could."""
    more, wait = len(desk.keeping) - 1, [one for one in desk.undecided if not one.complete]
    close = len(desk.undecided) - len(wait)
    if more:
        kept = "keeps all limits" if more == 1 else "keep all limits"
        sure = " that the simulation confirms" if desk.untold else ""
        lead = tied(desk) if desk.ties else f"This one has {GOALS[desk.question.ranked_by]}{sure}."
        lead += untold(desk)
        words = f"{counted(more, 'other design').capitalize()} {kept}, too. {lead}"
    elif len(desk.designs) == 1:
        words = "It was the only design considered." if desk.complete else "No other design has been found yet."
    else:
        words = f"No other of the {counted(len(desk.designs), 'design')} considered keeps all limits."
    if close:
        words += (
            f" Of {counted(close, 'more', 'more')} it cannot be told: a limit lies within two standard errors of what "
            "was simulated, or between two bounds of a sum, or nothing could be computed."
        )
    return words + (f" {counted(len(wait), 'design').capitalize()} still to be judged." if wait else "")


def tied(desk: Desk) -> str:
    """Which designs cannot be told from the first by what decides, and what puts it before them."""
    first, named = desk.designs[0], desk.ties[:NAMED_DESIGNS]
    label = deciding_first(first).label
    names = [f"{one.name} ({RULES[one.rule].abbreviation})" if one.name == first.name else one.name for one in named]
    if len(desk.ties) > NAMED_DESIGNS:
        names.append(counted(len(desk.ties) - NAMED_DESIGNS, "more design"))
    with_ = enumerated(names)
    by = desk.beats(desk.ties[0])
    them = "them" if all(desk.beats(one) is None for one in desk.ties) else "the first two"
    why = f"It comes first because {by.why}." if by else f"Nothing tells {them} apart; they stand as the methods do."
    return f"In its {label} it is tied with {with_}. {why}"


def says_nothing(one: Assessed) -> str:
    """Where every interval holds all that a proportion can be, that a coverage of 1 is worth nothing."""
    ranged = one.question.ranged
    widths = [found.mean_width.value for found in one.outcomes]
    if not takes_prior(ranged) or not all(on_limit(width, ranged.maximum - ranged.minimum) for width in widths):
        return ""
    return " But every interval then runs from 0 to 1, and says nothing."


def privacy(one: Assessed) -> str:
    """What a design really gives away without any δ, one row substituted, against what was asked, and as odds."""
    promises, real = one.question.promises, one.real_epsilon
    if real is None:
        return f"It is set to ε = {rounded_epsilon(one.setting)}; what it really gives away is not known. {hardly()}"
    if math.isinf(real):
        return f"It gives away a privacy loss that is <b>unbounded</b>: no ε holds without a δ. {hardly()}"
    asked = min((epsilon for epsilon, _ in promises), default=real)
    near = abs(real - asked) <= NEAR * asked
    said = f"ε = {readable(asked, 3) if near else readable_apart(real, asked, 3)}"
    most = "" if one.method.exact_epsilon else "at most "
    words = (
        f"It gives away a privacy loss of <b>{most}{said}</b> (one row substituted, without any δ): the most telling "
        f"release changes the odds on one person's row by a factor of {most}{odds_factor(real)}."
    )
    if real - asked > NEAR * asked and any(delta > 0 for _, delta in promises):
        words += (
            f" That is more than the ε = {readable(asked, 3)} of your limits, which allow rare exceptions (δ)."
            if asked
            else " Your limits bound how often a guess is right, not how sure it can be."
        )
    if one.enough:
        words += (
            f" Your limits on protection would allow more, but with the ε = {readable(one.setting, 4)} that it is set "
            "to nothing is worse by a thousandth than with all that they allow."
            if one.setting < PROMISES.maximum
            else f" Your limits on protection allow every ε; {readable(one.setting)} is where the search ends."
        )
    return f"{words} {hardly()}" if one.gives_much_away else words


def hardly() -> str:
    """The warning."""
    return "<b>{}</b>: {}".format(*HARDLY)


def numbers(one: Assessed) -> str:
    """The numbers of a design: those with a limit, or else its error."""
    question = one.question
    if question.limits:
        words = listed(one, question.limits)
    else:
        measure = ACCURACY["root_mean_squared_error"]
        words = measure.told.format(f"<b>{value_of(one, measure)}</b>")
    return f"{words}, {over(question)}{tried(one)}"


def tried(one: Assessed) -> str:
    """Which of the measures told are the worst of a few true values, and not of the whole range."""
    keys = [limit.key for limit in one.question.limits] or ["root_mean_squared_error"]
    ranged = one.question.lowest < one.question.highest
    few = [key for key in keys if ranged and one.figures[key].tried and not math.isnan(one.figures[key].at)]
    if not few:
        return ""
    what = "" if len(few) == len(keys) else " and ".join(ACCURACY[key].label for key in few) + ": "
    number = one.figures[few[0]].tried
    return f" ({what}{'the worst of ' if number > 1 else 'of '}{counted(number, 'value')} tried)"


def over(question: Question) -> str:
    """For which true values that holds."""
    symbol, low, high = question.ranged.symbol, question.lowest, question.highest
    if low == high:
        return f"at {symbol} = {readable(low, 3)}"
    ends = f"from {readable(low, 3)} to {readable(high, 3)}"
    prior = f", {question.prior_in_words}" if question.prior_in_words else ""
    return f"{'on average over' if question.average else 'at worst over'} {symbol} {ends}{prior}"


def listed(one: Assessed, limits: tuple[AccuracyLimit, ...] | list[AccuracyLimit], *, plain: bool = False) -> str:
    """Measures with what was asked of them."""
    parts = []
    for limit in limits:
        value, measure = value_of(one, limit.measure, limit.limit), limit.measure
        if math.isinf(one.value(limit.key)):  # of a length: nothing else is infinite
            said = "the interval is <b>endlessly</b> long on average"
        else:
            said = f"{named(measure)} {value}" if plain else measure.told.format(f"<b>{value}</b>")
        parts.append(f"{said} ({measure.sense} {written(one.question, measure, limit.limit)})")
    return enumerated(parts)


def named(measure: AccuracyMeasure) -> str:
    """What a measure is called: of a length, half of it."""
    return measure.half or measure.label


def asked_of(question: Question, measure: AccuracyMeasure, limit: float) -> str:
    """A limit in words."""
    return f"{named(measure)} {measure.sense} {written(question, measure, limit)}"


def unit_of(question: Question, measure: AccuracyMeasure) -> tuple[float, str]:
    """How many times its value is read, and in which unit: shares in per cent, half of a length, in points."""
    if measure.share:
        return 100, " %"
    points = takes_prior(question.ranged)
    return ((50, " points") if points else (0.5, "")) if measure.half else (1, "")


def written(question: Question, measure: AccuracyMeasure, limit: float) -> str:
    """A limit with its unit, every digit that it has."""
    times, unit = unit_of(question, measure)
    return f"{'±' * bool(measure.half)}{readable(times * limit)}{unit}"


def value_of(one: Assessed, measure: AccuracyMeasure, limit: float = math.nan) -> str:
    """A measure of a design, told apart from the limit, with its Monte Carlo error where it was simulated."""
    found, (times, unit) = one.figures[measure.key].measure, unit_of(one.question, measure)
    if math.isnan(found.value):
        return "not known"
    said = reading(one.question, measure, found.shown, limit)
    if not found.error > 0:
        return said
    error = readable(times * found.error, 1)
    return f"{said} (simulated, give or take {error})" if measure.half else f"{said} ± {error}{unit}"


def reading(question: Question, measure: AccuracyMeasure, value: float, other: float = math.nan) -> str:
    """A value of a measure to three digits, or as many as tell it from another one."""
    value = 0.0 if abs(value) < 1e-12 else other if on_limit(value, other) else value
    times, unit = unit_of(question, measure)
    if measure.share and math.isnan(other):
        return percent(value, 3)
    said = readable(times * value, 3) if math.isnan(other) else readable_apart(times * value, times * other, 3)
    return f"{'±' * bool(measure.half)}{said}{unit}"


def analysis(one: Assessed) -> str:
    """What the analyst does, in a few words."""
    instead = [RULES[rule].abbreviation for rule in one.question.rules if RULES[rule].fewest_sets > one.sets]
    why = f" ({' and '.join(instead)} need{'s' if len(instead) == 1 else ''} several sets; one is taken for real)"
    return f"with the analysis “{RULES[one.rule].label}”{why if one.rule not in one.question.rules else ''}"


def setting_of(one: Assessed) -> float:
    """The privacy loss that a design has: the real one, or what it is set to where that is not known."""
    return one.setting if one.real_epsilon is None else one.real_epsilon


def rounded_epsilon(value: float) -> str:
    """An ε that is enough, as it was sought: to four digits, rounded up."""
    return readable(rounded_up(value * (1 - LOSS_TIE), 4), 4)


def brief(one: Assessed) -> str:
    """The first of its limits, or its error, in a few words."""
    key = one.question.limits[0].key if one.question.limits else "root_mean_squared_error"
    return f"{named(ACCURACY[key])} {value_of(one, ACCURACY[key])}"


def counted(number: int, one: str, many: str = "") -> str:
    """A number of things."""
    return f"{spelled(number)} {one if number == 1 else many or one + 's'}"


def spelled(number: int) -> str:
    """A number in words up to twelve."""
    small = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    return small[number] if number < len(small) else f"{number:,}"
