"""An overview in words: the answer in a sentence, the answers to six questions, and what a drawing of it says."""

import math
from typing import NamedTuple

from dpviz.comparisons.overview import Overview
from dpviz.core.formatting import (
    describe_invented_rows,
    format_distinct,
    format_number,
    format_percent,
    is_small_weight,
)
from dpviz.core.types import FloatArray
from dpviz.mechanisms.noise import NoiseSanitizer
from dpviz.privacy.odds_text import belief_text

DELTA_TOO = 1e-6
"""The δ that the second answer allows as well."""

VISIBLY_WIDER = 1.05  # Ratio of two intervals from which on one is called wider
SAME_GUESSES = 1e-12  # Relative distance of two shares of right guesses that is rounding
NOISE_WITHIN = 0.95  # Share of all tables for which the noise is said to stay within some distance


class OverviewWords(NamedTuple):
    """All that a page says and draws of an overview."""

    sentences: tuple[str, str]
    answers: list[str]
    texts: dict[str, str]
    places: dict[str, float]
    released: float
    beliefs: FloatArray


def overview_words(found: Overview) -> OverviewWords:
    """Return its sentences and answers, what its drawing says and where, the released count, and possible beliefs."""
    sentences, answers = overview_sentences(found), overview_answers(found)
    drawing = drawing_texts(found), drawing_places(found), found.released, found.possible_beliefs
    return OverviewWords(sentences, answers, *drawing)


def overview_sentences(found: Overview) -> tuple[str, str]:
    """What the release gives away and what it costs, as inline HTML, and in at most 15 words."""
    guess = belief_text(found.average_guess)
    right = format_percent(found.coverage, 3)
    return (
        f"The best guess about the ringed person is right <b>{guess}</b> of the time, instead of 50 %. "
        f"An analyst who takes the table for real data is right in <b>{right}</b> of all releases and expects 95 %.",
        f"Guesses right: {guess}, before 50 %. Intervals: {right}, expected 95 %.",
    )


def overview_answers(found: Overview) -> list[str]:
    """What is given away, what is added, how often the analyst is wrong, what to do instead, the price, who decides."""
    n, epsilon = format_number(found.design.n), format_number(found.design.epsilon, 4)
    low, high = (format_percent(end, 3) for end in found.posterior_interval)
    return [
        f"An attacker who knows all but one of the {n} people guesses that person's answer. Before the release "
        f"one guess in two is right. After it, {_guesses(found)}; ε = {epsilon} would allow "
        f"{belief_text(found.promised_success)}.",
        f"{_added(found)} {_with_delta(found)}",
        "An analyst who takes the synthetic table for real data computes the usual interval, the share ± 1.96 standard "
        "errors, and expects it to be right 95 times in 100. Draw again and again: it holds the true share in "
        f"<b>{format_percent(found.coverage, 3)}</b> of all releases.",
        f"Compute with the known noise: from this table, the share of yes lies between <b>{low} and {high}</b> "
        f"with probability 95 %. {_width(found)}",
        _price(found),
        "Say what must be protected and how far an analyst may be off. The desk names the releases that keep both, "
        "or says what would have to give way.",
    ]


def _guesses(found: Overview) -> str:
    """How many guesses are right about the ringed person, and about the one whom the release exposes most."""
    ringed = belief_text(found.average_guess)
    largest = belief_text(found.success)
    if math.isclose(found.average_guess, found.success, rel_tol=SAME_GUESSES):
        return f"<b>{ringed}</b> of the guesses about the ringed person are right, and nobody is more exposed"
    alone = "the only one" if found.most_exposed == 1 else f"one of {format_number(found.most_exposed)}"
    return (
        f"<b>{ringed}</b> of the guesses about the ringed person are right, and <b>{largest}</b> about the most "
        f"exposed person, who is {alone} to say yes, or {alone} to say no"
    )


def _added(found: Overview) -> str:
    """How many rows, and how they compare with the real ones; or how far the noise goes that needs none."""
    n, rows, made = found.design.n, found.invented, found.design.synthesizer
    if isinstance(made, NoiseSanitizer):
        return (
            f"The agency must add noise to the number of yes: {_noise(made)}. The Beta-binomial synthesizer would "
            f"mix in <b>{describe_invented_rows(rows)}</b> instead."
        )
    beside = "as many as the real rows" if rows == n else f"beside {format_number(n)} real ones"
    return (
        f"The agency must mix in <b>{describe_invented_rows(rows)}</b>, "
        f"{'more than the real data' if rows > n else beside}."
    )


def _with_delta(found: Overview) -> str:
    """How many rows are enough where δ is allowed as well."""
    rows = found.invented_with(DELTA_TOO)
    enough = "is enough" if is_small_weight(rows) else "are enough"
    return f"If the agency also accepts δ = 10⁻⁶, <b>{describe_invented_rows(rows)}</b> {enough}."


def _noise(made: NoiseSanitizer) -> str:
    """How far noise goes in nearly all tables."""
    reach = made.reach(NOISE_WITHIN)
    far = "none at all" if reach == 0 else f"at most {format_number(reach)} more or fewer"
    return f"in at least 95 of 100 tables {far}"


def _width(found: Overview) -> str:
    """That the interval is longer than the one that takes the table for real data, where it is by 5 % at least."""
    (low, high), (first, last) = found.posterior_interval, found.interval
    if last <= first or high - low <= VISIBLY_WIDER * (last - first):
        return ""
    return "That is wider than the interval of the analyst who took the table for real data."


def _price(found: Overview) -> str:
    """How far off the published share is, and how much of that no method with this ε can do without."""
    error, optimum = 100 * found.error, found.optimum
    smallest, kept = 100 * optimum.root_mean_squared_error, f"ε = {format_number(found.design.epsilon, 4)}"
    off = f"The published share is typically off by <b>{format_distinct(error, smallest, 3)}</b> percentage points."
    if optimum.compared(found.error) == "no larger than":
        return (
            f"{off} No method that keeps {kept} is closer: all of this is the price of ε, and nothing is the method's."
        )
    return (
        f"{off} The best possible method with {kept} is off by <b>{format_distinct(smallest, error, 3)}</b>: that is "
        f"the price of ε, and the other <b>{format_number(error - smallest, 3)}</b> are the method's. Its error is "
        f"{optimum.compared(found.error)} the smallest possible."
    )


def drawing_texts(found: Overview) -> dict[str, str]:
    """What the drawing says, by name."""
    n, m = found.design.n, found.design.m
    low, high = found.interval
    return {
        "people": format_number(n),
        "yes": format_number(found.secret),
        "no": format_number(n - found.secret),
        **_made(found),
        "drawn_yes": format_number(found.released, 4),
        "drawn_no": format_number(m - found.released, 4),
        "belief": belief_text(found.belief),
        "average": belief_text(found.average_guess),
        "worst": belief_text(found.largest_belief),
        "allowed": belief_text(found.promised_success),
        "low": format_percent(low, 3),
        "high": format_percent(high, 3),
        "hit": (
            f"The truth is {format_percent(found.secret / n, 3)}: the analyst is {'right' if found.hit else 'wrong'}."
        ),
    }


def _made(found: Overview) -> dict[str, str]:
    """How the table comes about."""
    made = found.design.synthesizer
    if not isinstance(made, NoiseSanitizer):
        share = format_percent(found.invented / (found.design.n + found.invented), 3)
        return {
            "adds": f"mixes in at least {describe_invented_rows(found.invented)}, half of them yes, half of them no.",
            "striped": f"Striped: invented, {share} of all.",
            "title": "A synthetic table is drawn",
            "published": "Only this table is published.",
        }
    corrected = (
        f"The noisy number is {format_number(found.drawn)}. Published is the mean of all numbers that it may "
        "have come from."
    )
    return {
        "adds": f"adds noise to the number of yes: {_noise(made)}.",
        "striped": "Striped: where the noisy number falls in those tables.",
        "title": "A noisy number is drawn and corrected" if found.best else "A noisy table is drawn",
        "published": corrected if found.best else "Only this table is published.",
    }


def drawing_places(found: Overview) -> dict[str, float]:
    """Where things stand in the drawing, in per cent."""
    low, high = found.interval
    shares = {
        "secret": found.secret / found.design.n,
        **_stripes(found),
        "belief": found.belief,
        "average": found.average_guess,
        "worst": found.largest_belief,
        "allowed": found.promised_success,
        "low": low,
        "high": high,
    }
    return {name: 100 * share for name, share in shares.items()}


def _stripes(found: Overview) -> dict[str, float]:
    """Where the yes end among what is drawn from, and where the stripes stand that the agency has added."""
    n, made = found.design.n, found.design.synthesizer
    if isinstance(made, NoiseSanitizer):
        reach = made.reach(NOISE_WITHIN)
        first, last = max(found.secret - reach, 0) / n, min(found.secret + reach, n) / n
        return {"mixed": found.secret / n, "from": first, "made": last - first, "rest": 0.0}
    total = n + found.invented
    half = found.invented / 2 / total
    return {"mixed": found.secret / total + half, "from": 0.0, "made": half, "rest": half}
