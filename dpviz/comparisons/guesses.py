"""What is said of a method that is given a public guess of the truth: how near it is, and what another guess costs."""

from __future__ import annotations

from functools import lru_cache

from dpviz.comparisons.base import Analysis, DataKind, Outcome
from dpviz.comparisons.compared_method import ComparedMethod
from dpviz.comparisons.terms import ComparisonTerms, EqualPromise
from dpviz.core.declarations import PUBLIC_GUESS
from dpviz.core.formatting import format_error, format_number

GUESS_OFF = 0.1  # How far off the guess is whose error stands beside that of a guess at the truth


def guess_in_symbols(data: DataKind, *methods: ComparedMethod) -> list[str]:
    """Return the public guess as "π = 0.25" where one of the methods is given one; else nothing."""
    return [f"{PUBLIC_GUESS.symbol} = {format_number(data.guess, 4)}"] if any(one.guess for one in methods) else []


def guess_in_words(one: Outcome, analysis: Analysis, terms: ComparisonTerms | None = None) -> str:
    """Return what an outcome of a method with a public guess rests on, in a sentence; nothing of any other.

    Of a guess at the truth it tells the error of one that is off by `GUESS_OFF` as well, to the side that costs more.
    """
    if not one.method.guess:
        return ""
    guess, error = format_number(one.data.guess, 4), format_error(one.root_mean_squared_error)
    if not one.data.flatters(one.method):
        off = format_number(abs(one.data.guess - one.data.truth), 3)
        return f"{one.method.label} has a guess of {guess}, which is off by {off}."
    words = f"{one.method.label} is off by {error} with the guess at the truth, {guess}, which is the best it can do"
    worse = error_with_guess_off(one.data, one.method, one.epsilon, analysis, terms or EqualPromise())
    return (
        f"{words}."
        if worse is None
        else f"{words}; with a guess off by {GUESS_OFF} it is off by {format_number(worse, 3)}."
    )


@lru_cache(maxsize=1024)
def error_with_guess_off(
    data: DataKind, method: ComparedMethod, epsilon: float, analysis: Analysis, terms: ComparisonTerms
) -> float | None:
    """Return the larger error with a guess off by `GUESS_OFF` on the same terms; None where there is none."""
    sets, found = method.sets(analysis.sets), list[float]()
    for share in (data.guess - GUESS_OFF, data.guess + GUESS_OFF):
        if not PUBLIC_GUESS.minimum <= share <= PUBLIC_GUESS.maximum:
            continue
        other = data.guessing(share)
        setting = terms.setting(method, other, epsilon, sets)
        accuracy = None if setting is None else other.accuracy(method, setting, analysis)
        if accuracy is not None:
            found.append(accuracy[1])
    return max(found, default=None)
