"""What the page says of an answer: pure functions from the designs to sentences."""

import math

from dpviz.comparisons.terms import TIE
from dpviz.curator.accuracy import ACCURACY, AccuracyLimit, AccuracyMeasure, on_limit
from dpviz.curator.question import GOALS, Question
from dpviz.curator.search import Assessed, Desk, Relaxed
from dpviz.inference.rules import RULES
from dpviz.parameters import readable, readable_apart, rounded_up
from dpviz.studies import Measure
from pages.components.words import percent

NEAR = 1e-6  # Relative distance within which a real ε is the one that was asked for
MOST_LOSS = 700.0  # ε up to which e^ε is a number
Answer = tuple[str, str, str]
"""The mark, the sentence, and the few words for a phone."""


def answer_sentence(desk: Desk) -> Answer:
    """Return what the page answers with."""
    if not desk.designs:
        return _nothing(desk)
    if not desk.keeping:
        return _undecided(desk) if desk.undecided else _broken(desk)
    return _kept(desk) if desk.question.promises else _smallest(desk)


def _kept(desk: Desk) -> Answer:
    """Designs keep every limit: the first of them, with its numbers, and how many others do."""
    first, question = desk.keeping[0], desk.question
    limits = "all your limits" if len(question.limits) + len(question.protections) > 1 else "your limit"
    words = f"keeps <b>{limits}</b> {analysis(first)}: {numbers(first)}. {privacy(first)}"
    return first.name, f"{words} {others(desk)}", brief(first)


def _smallest(desk: Desk) -> Answer:
    """No limit on protection: the smallest ε that is enough for the accuracy."""
    first = min(desk.keeping, key=lambda one: (setting_of(one), one.order))
    epsilon = rounded_epsilon(setting_of(first))
    words = (
        f"<b>A privacy loss of ε = {epsilon} is enough</b> for this accuracy: with it, <b>{first.name}</b> "
        f"{analysis(first)} keeps {'your limit' if len(desk.question.limits) == 1 else 'all your limits'}: "
        f"{numbers(first)}. Of the values tried, no smaller one is enough."
    )
    rest = [one for one in desk.keeping if one is not first]
    if not desk.complete:
        words += " The search goes on, and may find a smaller one."
    if rest:
        next_one = min(rest, key=lambda one: (setting_of(one), one.order))
        words += f" The next is {next_one.name} with ε = {rounded_epsilon(setting_of(next_one))}."
    return f"ε = {epsilon}", words, f"is enough: {first.name}"


def _undecided(desk: Desk) -> Answer:
    """None keeps all limits for sure, and of some it is not known."""
    first, all_ = desk.undecided[0], len(desk.designs)
    open_ = [limit for limit in desk.question.limits if first.verdicts[limit.key] is None]
    what = " and ".join(limit.measure.label for limit in open_)
    if not first.complete:
        kept = [limit for limit in desk.question.limits if first.verdicts[limit.key]]
        words = f"<b>{first.name}</b> leads so far" + (f": {listed(first, kept)}." if kept else ".")
        return "computing", f"{words} Its {what} is still being computed.", f"{first.name} leads so far"
    if any(math.isnan(first.figures[limit.key].measure.value) for limit in open_):
        words = (
            f"<b>No design is known to keep all your limits.</b> Nearest is <b>{first.name}</b>, but its {what} "
            "cannot be computed: the sums are too long, or some releases leave nothing to analyze."
        )
        return "not known", words, f"{first.name}: {what} unknown"
    words = (
        f"<b>{first.name}</b> {analysis(first)} comes nearest, but it is <b>too close to call</b>: "
        f"{listed(first, open_)}, from a simulation of {readable(desk.question.repetitions)} repetitions. The limit "
        "lies within two standard errors. More repetitions (under “More”) can decide it."
        f"{_of_the_rest(desk, all_ - len(desk.undecided))}"
    )
    return "too close to call", words, f"{first.name}: {what}"


def _of_the_rest(desk: Desk, broken: int) -> str:
    more = len(desk.undecided) - 1
    further = f" The same holds for {counted(more, 'more design')}." if more else ""
    return further + (f" {counted(broken, 'other design').capitalize()} break a limit." if broken > 1 else "")


def _broken(desk: Desk) -> Answer:
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
    if kept:
        words += f" It keeps {'this limit' if len(kept) == 1 else 'these limits'}: {listed(first, kept)}."
    return (
        "none keeps all" if desk.complete else "computing",
        f"{words} {privacy(first)}",
        f"nearest: {listed(first, missed[:1], plain=True)}",
    )


def _nothing(desk: Desk) -> Answer:
    """No design at all: every method is absent."""
    if not desk.complete:
        return "searching", "No design has been found yet.", "no design so far"
    if desk.question.promises:
        words = "<b>No method can release such data and keep this protection.</b> Below stands why for each of them."
    else:
        words = (
            "<b>No privacy loss that was tried, up to ε = 100, gives this accuracy.</b> The confidential data "
            "themselves may not: then more rows, or wider limits, are needed. Below stands what each method says."
        )
    return "no design", words, "nothing keeps these limits"


def relaxed_sentence(found: Relaxed) -> str:
    """What would have to give way for a design to keep all limits, as inline HTML."""
    one, values = found.design, accepted(found)
    ways = []
    if values:
        words = [f"{ACCURACY[key].label} {ACCURACY[key].sense} {reading(ACCURACY[key], values[key])}" for key in values]
        ways.append(f"if you accept {' and '.join(words)}")
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
    """How many other designs keep all limits, and how many could."""
    more, wait = len(desk.keeping) - 1, [one for one in desk.undecided if not one.complete]
    close = len(desk.undecided) - len(wait)
    goal = GOALS[desk.question.goal]
    if more:
        kept = "keeps all limits" if more == 1 else "keep all limits"
        words = f"{counted(more, 'other design').capitalize()} {kept}, too; this one has {goal}."
    else:
        words = f"No other of the {counted(len(desk.designs), 'design')} considered keeps all limits."
    if close:
        words += (
            f" Of {counted(close, 'more', 'more')} it cannot be told: a limit lies within two standard errors of what "
            "was simulated, or nothing could be computed."
        )
    return words + (f" {counted(len(wait), 'design').capitalize()} still to be judged." if wait else "")


def privacy(one: Assessed) -> str:
    """What a design really gives away, one row substituted, against what was asked."""
    promises, real = one.question.promises, one.real_epsilon
    if not promises:
        return ""
    if real is None:
        return f"It is set to ε = {rounded_epsilon(one.setting)}; what it really gives away is not known."
    asked = min(epsilon for epsilon, _ in promises)
    near = abs(real - asked) <= NEAR * asked
    said = f"ε = {readable(asked, 3) if near else readable_apart(real, asked, 3)}"
    words = f"It gives away a privacy loss of <b>{'no bound' if math.isinf(real) else said}</b> (one row substituted)."
    if NEAR * asked < real - asked < MOST_LOSS and any(delta > 0 for _, delta in promises):
        words += (
            f" That is more than the ε = {readable(asked, 3)} of your limits, which allow rare exceptions (δ)."
            if asked
            else " Your limits bound how often a guess is right, not how sure it can be."
        )
        words += f" The most telling release changes the odds on one person's row by a factor of {odds_factor(real)}."
    return words


def odds_factor(real: float) -> str:
    """The factor e^ε by which the odds change at most."""
    return readable(math.exp(real), 3)


def numbers(one: Assessed) -> str:
    """The numbers of a design: those with a limit, or else its error."""
    question = one.question
    if question.limits:
        words = listed(one, question.limits)
    else:
        measure = ACCURACY["root_mean_squared_error"]
        words = measure.told.format(f"<b>{value_of(one, measure)}</b>")
    return f"{words}, {over(question)}"


def over(question: Question) -> str:
    """For which true values that holds."""
    symbol, truths = question.ranged.symbol, question.truths
    if len(truths) == 1:
        return f"at {symbol} = {readable(truths[0], 3)}"
    ends = f"from {readable(truths[0], 3)} to {readable(truths[-1], 3)}"
    prior = f", {question.prior_in_words}" if question.prior_in_words else ""
    return f"{'on average over' if question.average else 'at worst over'} {symbol} {ends}{prior}"


def listed(one: Assessed, limits: tuple[AccuracyLimit, ...] | list[AccuracyLimit], *, plain: bool = False) -> str:
    """Measures with what was asked of them."""
    parts = []
    for limit in limits:
        value, measure = value_of(one, limit.measure, limit.limit), limit.measure
        said = f"{measure.label} {value}" if plain else measure.told.format(f"<b>{value}</b>")
        parts.append(f"{said} ({measure.sense} {reading(measure, limit.limit)})")
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def value_of(one: Assessed, measure: AccuracyMeasure, limit: float = math.nan) -> str:
    """A measure of a design, told apart from the limit, with its Monte Carlo error where it was simulated."""
    found = one.figures[measure.key].measure
    if math.isnan(found.value):
        return "not known"
    return reading(measure, found.value, limit) + spread(measure, found)


def spread(measure: AccuracyMeasure, found: Measure) -> str:
    """The Monte Carlo error, or nothing."""
    if not found.error > 0:
        return ""
    return f" ± {readable(100 * found.error if measure.share else found.error, 1)}{' %' if measure.share else ''}"


def reading(measure: AccuracyMeasure, value: float, other: float = math.nan) -> str:
    """A value of a measure to three digits, or as many as tell it from another one."""
    value = 0.0 if abs(value) < 1e-12 else other if on_limit(value, other) else value
    if measure.share:
        return percent(value, 3) if math.isnan(other) else f"{readable_apart(100 * value, 100 * other, 3)} %"
    return readable(value, 3) if math.isnan(other) else readable_apart(value, other, 3)


def analysis(one: Assessed) -> str:
    """What the analyst does, in a few words."""
    instead = "" if one.rule in one.question.rules else " (what you chose needs several sets)"
    return f"with the analysis “{RULES[one.rule].label}”{instead}"


def setting_of(one: Assessed) -> float:
    """The privacy loss that a design has: the real one, or what it is set to where that is not known."""
    return one.setting if one.real_epsilon is None else one.real_epsilon


def rounded_epsilon(value: float) -> str:
    """An ε that is enough, as it was sought: to four digits, rounded up."""
    return readable(rounded_up(value * (1 - TIE), 4), 4)


def brief(one: Assessed) -> str:
    """What a phone has room for."""
    key = one.question.limits[0].key if one.question.limits else "root_mean_squared_error"
    return f"{ACCURACY[key].label} {value_of(one, ACCURACY[key])}"


def counted(number: int, one: str, many: str = "") -> str:
    """A number of things."""
    return f"{spelled(number)} {one if number == 1 else many or one + 's'}"


def spelled(number: int) -> str:
    """A number in words up to twelve."""
    small = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    return small[number] if number < len(small) else f"{number:,}"
