"""What pages say of the privacy of a release: the verdict, what was drawn and the best mechanism."""

import math
from collections.abc import Mapping, Sequence

from dpviz.core.formatting import TextTable, format_distinct, format_number, format_percent, round_up
from dpviz.mechanisms import Synthesizer, WorstCase
from dpviz.mechanisms.draws import Draws
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.privacy.odds_text import BELOW_FLOATS, factor_of_odds
from dpviz.privacy.optimum.least_error import ERROR_TOLERANCE, Criterion, LeastError, least_error
from dpviz.privacy.summary import EQUAL_LOSS, PrivacySummary

PROMISE_KEPT, PROMISE_KEPT_WITH_DELTA, PROMISE_BROKEN = "✓ kept", "≈ kept with δ", "✗ broken"
NOT_LISTED = "not listed", "it needs the full matrix, which would have over 4 million entries here"

BestErrors = Mapping[str, LeastError]
"""The smallest errors with one promise, by criterion."""


# The verdict


def promise_sentence(summary: PrivacySummary) -> tuple[str, str]:
    """A word, and the sentence that says what the release keeps and where it fails, as inline HTML."""
    release, worst = summary.synthesizer, summary.worst
    real, promised = _both_epsilons(summary)
    allowed = format_number(summary.delta)
    released = _released(release, worst)

    # What the release keeps, or where it fails
    if math.isinf(worst.value):
        text = (
            f"No ε is enough without δ: {released} can be published from the data {_table(release, worst.likelier)} "
            f"but never from their neighbour {_table(release, worst.unlikelier)}. Seeing it settles the question: "
            "<b>ε = ∞</b>."
        )
        if isinstance(release, GivenMatrix) and len(release.zeros) > 1:
            text += f" In all, {len(release.zeros):,} entries of the matrix are 0 where a neighbour's is not."
        if summary.is_approximate:
            text += f" The allowed δ covers it: the promise (ε = {promised}, δ = {allowed}) is kept."
    elif summary.is_pure:
        text = (
            f"The promise ε = {promised} is kept: the real loss is ε = <b>{real}</b>. No released table moves the odds "
            "between two tables that differ in one substituted row by more than a factor of "
            f"{factor_of_odds(worst.value, is_bound=True)}."
        )
    else:
        without = " without δ" if summary.is_approximate else ""
        needed = f"δ({promised}) = {_delta_text(summary, format_distinct(summary.divergence.value, summary.delta, 3))}"
        text = (
            f"The promise ε = {promised} is broken{without}: the real loss is ε = <b>{real}</b>. "
            f"{_moved_odds(release, worst, factor_of_odds(worst.value, summary.epsilon))}, instead of at most "
            f"{factor_of_odds(summary.epsilon, worst.value)}. "
        )
        if summary.is_approximate:
            text += f"With the allowed δ = {allowed} it is kept, for it needs only {needed}."
        else:
            text += f"The allowed δ = {allowed} does not cover that: this would need {needed}."
    if summary.is_pure:
        return PROMISE_KEPT, text
    return PROMISE_KEPT_WITH_DELTA if summary.is_approximate else PROMISE_BROKEN, text


def short_verdict(summary: PrivacySummary) -> str:
    """The verdict in at most 15 words."""
    real, promised = _both_epsilons(summary)
    loss = "No ε is enough" if math.isinf(summary.worst.value) else f"The real loss is ε = {real}"
    if summary.is_pure:
        return f"{loss}, within the promised {promised}."
    if summary.is_approximate:
        return f"{loss}, but the allowed δ = {format_number(summary.delta, 3)} covers it."
    return f"{loss}, and not the promised {promised}."


def verdict_numbers(summary: PrivacySummary) -> list[tuple[str, str, str]]:
    """The four numbers, each with its name and what it means."""
    release, worst, pair = summary.synthesizer, summary.worst, summary.divergence
    reached = f"{_pair(release, worst)}, when {_released(release, worst)} is released"

    # δ at the promised ε, and the ε that the allowed δ needs
    is_zero = not pair.value and summary.is_pure
    neighbours = "no neighbours differ by more than the factor eᵋ" if is_zero else _pair(release, pair)
    given = f"With δ = {format_number(summary.delta, 3)} allowed" if summary.delta else "Without any δ"
    outcome = f"ε = {format_number(round_up(summary.epsilon_at_delta, 6), 6)} is kept"
    if math.isinf(summary.epsilon_at_delta):
        outcome = "no ε is enough"
    numbers = [
        ("exact ε (substituted row)", format_number(worst.value, 7), reached),
        (
            f"δ at ε = {format_number(summary.epsilon, 4)}",
            _delta_text(summary, format_number(pair.value, 7)),
            f"{neighbours}. {given}, {outcome}",
        ),
    ]

    # What needs the whole matrix
    probabilistic, uncertainty = "probabilistic δ", "SDL: smallest Pr(m ≠ n)"
    if summary.failure is None or summary.joint_failure is None:
        return [*numbers, (probabilistic, *NOT_LISTED), (uncertainty, *NOT_LISTED)]
    row = int(summary.failure.argmax())
    largest, average = (
        BELOW_FLOATS if share == 0 and not summary.is_pure else format_number(share, digits)
        for share, digits in ((float(summary.failure[row]), 7), (summary.joint_failure, 3))
    )
    where = f"for the data {_table(release, row)}; {average} on average, if every row is equally likely to fall in each"
    numbers.append((f"{probabilistic}, worst table", largest, f"{where} cell"))
    if summary.change is None:
        never = "m differs from n, so the released table is never the confidential one"
        return [*numbers, (uncertainty, "1", never)]
    row = int(summary.change.argmin())
    often = "probability that the released table differs from the confidential one; smallest for the data "
    return [*numbers, (uncertainty, format_number(float(summary.change[row]), 7), often + _table(release, row))]


def _both_epsilons(summary: PrivacySummary) -> tuple[str, str]:
    """The real and the promised ε; what differs is not rounded to look the same."""
    real, promised = summary.worst.value, summary.epsilon
    if math.isclose(real, promised, rel_tol=EQUAL_LOSS):
        return format_number(promised), format_number(promised)
    return format_distinct(real, promised, 3), format_distinct(promised, real)


def _delta_text(summary: PrivacySummary, text: str) -> str:
    """δ(ε) as `text`; in words if a release breaks ε and its δ is below the floating-point numbers."""
    return text if summary.divergence.value > 0 or summary.is_pure else BELOW_FLOATS


def _pair(release: Synthesizer, worst: WorstCase) -> str:
    return f"{_table(release, worst.likelier)} against {_table(release, worst.unlikelier)}"


def _moved_odds(release: Synthesizer, worst: WorstCase, factor: str) -> str:
    """Which odds the most telling release moves; of two cells in numbers of people."""
    if worst.column is None or len(release.row_table(0)) > 2:
        odds, released = _pair(release, worst), _released(release, worst)
        return f"The odds of {odds} move by a factor of {factor} when {released} is released"
    likelier, unlikelier = (release.row_table(index)[0] for index in (worst.likelier, worst.unlikelier))
    yes, no = release.column_table(worst.column)
    return (
        f"If {yes:,} yes of {yes + no:,} are released, the odds on one person’s "
        f"answer, {likelier:,} yes against {unlikelier:,} in the secret table, move by a factor of {factor}"
    )


def _table(release: Synthesizer, index: int) -> str:
    return _counts_text(release.row_table(index))


def _released(release: Synthesizer, worst: WorstCase) -> str:
    return "" if worst.column is None else _counts_text(release.column_table(worst.column))


def _counts_text(counts: tuple[int, ...]) -> str:
    """A table of counts as text; of a long run of empty cells at its end only their number."""
    length = max((index for index, count in enumerate(counts, 1) if count), default=1)
    if len(counts) - length <= 8:
        return str(counts)
    return f"({', '.join(map(str, counts[:length]))} and {len(counts) - length:,} empty cells)"


# Releases that were drawn


def draw_sentence(draws: Draws) -> str:
    """The last release, how probable it was, and what it gives away, as inline HTML."""
    release = draws.synthesizer
    secret = release.row_table(draws.row)
    if not len(draws.columns):
        return f"The secret table is <b>{secret}</b>. Draw a release."
    last = int(draws.columns[-1])
    text = (
        f"The secret table is <b>{secret}</b>. Release {len(draws.columns):,}: <b>{release.column_table(last)}</b>, "
        f"which comes from this table with probability {format_number(float(draws.probabilities[last]), 4)}."
    )

    # The neighbour that it tells apart best
    gains = {int(row): float(draws.log_odds(int(row))[last]) for row in draws.neighbours}
    strongest = max(gains, key=lambda row: abs(gains[row]))
    gain, neighbour = gains[strongest], release.row_table(strongest)
    if math.isinf(gain):
        return f"{text} It settles the question between {secret} and {neighbour}."
    if abs(gain) < 5e-4:
        return f"{text} It does not tell {secret} from its neighbours."
    factor, table = factor_of_odds(abs(gain)), secret if gain > 0 else neighbour
    return f"{text} It moves the odds between {secret} and {neighbour} by a factor of <b>{factor}</b> towards {table}."


def own_release_sentence(draws: Draws) -> str:
    """What is framed in the tables: the secret table, and what was released, as inline HTML."""
    release = draws.synthesizer
    sentence = f"Framed is what came of your secret table, <b>{release.row_table(draws.row)}</b>"
    if len(draws.columns):
        sentence += f": the released table <b>{release.column_table(int(draws.columns[-1]))}</b>"
    return f"{sentence}."


# The error beside the smallest possible


def compared_promises(summary: PrivacySummary) -> list[tuple[str, float]]:
    """The ε at which the release is compared: its real one where there is any, and the promised one."""
    real, promised = summary.worst.value, summary.epsilon
    if math.isinf(real):
        return [("the promised ε", promised)]
    if math.isclose(real, promised, rel_tol=1e-9):
        return [("the same ε", promised)]
    return [("the same real ε", real), ("the promised ε", promised)]


def best_mechanisms(n: int, epsilon: float, delta: float = 0.0) -> dict[str, LeastError]:
    """The smallest errors of any mechanism with a promise, by criterion.

    Parameters
    ----------
    n : int
        People.
    epsilon : float
    delta : float, optional
    """
    criteria: tuple[Criterion, ...] = ("average", "worst")
    return {criterion: least_error(n=n, epsilon=epsilon, delta=delta, criterion=criterion) for criterion in criteria}


def better_sentence(errors: Mapping[str, float], name: str, best: BestErrors) -> str:
    """How far off the release typically is, and how many times the best mechanism with that promise, as inline HTML."""
    error, smallest = errors["average"], best["average"]
    text = (
        f"The released share is typically off by <b>{format_number(100 * error, 3)} points</b> from the confidential "
        f"one (root mean squared error, all tables alike). The best mechanism with {name}, "
        f"{format_number(smallest.epsilon, 4)}, is off by "
        f"<b>{format_number(100 * smallest.root_mean_squared_error, 3)} points</b>: "
    )
    ratio, _ = smallest.prices(error)
    if ratio < 1 - ERROR_TOLERANCE:
        return f"{text}the release is closer, as it does not keep that ε."
    if ratio < 1 + ERROR_TOLERANCE:
        return f"{text}there is no better one."
    return f"{text}the release has <b>{smallest.times(error)} times</b> the smallest possible error."


def better_table(errors: Mapping[str, float], promises: Sequence[tuple[str, BestErrors]]) -> TextTable:
    """The errors of the release by criterion, and the smallest ones with each promise.

    Parameters
    ----------
    errors : mapping of str to float
        Of the release, by criterion.
    promises : sequence of (str, mapping)
        Name of each promise, and the smallest errors with it by criterion.
    """
    head = ["mechanism", "average error", "the release has", "error at the worst table", "the release has"]
    rows = [["this release", format_number(errors["average"], 4), "", format_number(errors["worst"], 4), ""]]
    for name, best in promises:
        promise = best["average"]
        allowed = f", δ = {format_number(promise.delta, 3)}" if promise.delta else ""
        row = [f"the best with {name}: ε = {format_number(promise.epsilon, 4)}{allowed}"]
        for criterion, smallest in best.items():
            row += [format_number(smallest.root_mean_squared_error, 4), f"{smallest.times(errors[criterion])} times"]
        rows.append(row)
    return TextTable(head, rows, "The error of the release beside the smallest possible")


def largest_gap(best: BestErrors) -> str:
    """By how much a better mechanism could be better than these at most, in per cent of their error."""
    gap = max(smallest.gap / (smallest.root_mean_squared_error or 1.0) for smallest in best.values())
    return format_percent(gap, 2) if gap > 1e-6 else "10⁻⁴ %"  # less is rounding
