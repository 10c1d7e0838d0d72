"""What pages say of the privacy of a release: the verdict, the attacker and the best mechanism, in words and tables."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from dpviz.core.formatting import SUPERSCRIPTS, format_distinct, format_number, format_percent, round_down, round_up
from dpviz.core.numerics.special import MAX_EXPONENT
from dpviz.mechanisms import Synthesizer, WorstCase
from dpviz.mechanisms.draws import Draws
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.privacy.attacker import AttackerView, epsilon_for_risk_ratio, risk_ratio
from dpviz.privacy.optimum.least_error import ERROR_TOLERANCE, LeastError, least_error
from dpviz.privacy.summary import EQUAL_LOSS, PrivacySummary, evenly_spaced
from dpviz.privacy.trade_off import BEST_GUESS, MEETS_AXIS, NORMAL_CURVE, STEEPEST_POINT, TOUCHING_POINT, TradeOffCurve

PROMISE_KEPT, PROMISE_KEPT_WITH_DELTA, PROMISE_BROKEN = "✓ kept", "≈ kept with δ", "✗ broken"
NOT_LISTED = "not listed", "it needs the full matrix, which would have over 4 million entries here"
BELOW_FLOATS = "below 10⁻³⁰⁰"

NUMBER_DIGITS, SENTENCE_DIGITS, BOUND_DIGITS = 7, 3, 5
MAX_EMPTY_CELLS = 8  # of a table that are written out
MAX_LISTED_RELEASES = 12  # released tables with a row of their own
SAME_EPSILON = 1e-9  # relative difference up to which an error is compared at one ε
NEGLIGIBLE_GAP = 1e-6  # relative gap that is rounding

Table = tuple[list[str], list[list[str]], str]
"""Head, rows and caption."""

BestErrors = Mapping[str, LeastError]
"""The smallest errors with one promise, by criterion."""


# Probabilities and factors


def belief_text(belief: float, certain: bool = False) -> str:
    """A probability in per cent, to three digits; 50, 0 and 100 only if it is exactly that.

    Parameters
    ----------
    belief : float
    certain : bool, optional
        Whether a 0 or 1 is meant, not what a number nearer to it than floating-point numbers are rounds to.

    Examples
    --------
    >>> belief_text(0.5), belief_text(0.500004), belief_text(0.7310585)
    ('50 %', '50.0004 %', '73.1 %')
    >>> belief_text(1.0), belief_text(1.0, certain=True)
    ('more than 99.999999999999 %', '100 %')
    """
    if belief in (0.0, 1.0) and not certain:
        return f"more than {format_number(100 - 1e-12, 14)} %" if belief else "less than 10⁻³⁰⁰ %"
    return f"{format_distinct(100 * belief, 50.0 * round(2 * belief), 3)} %"


def factor_of_odds(log_factor: float, reference: float = 0.0, *, is_bound: bool = False) -> str:
    """Factor e^L to three digits, or by its power of ten; 1 only if it is that.

    Parameters
    ----------
    log_factor : float
        L, at least 0.
    reference : float, optional
        The text has as many digits as tell the factor from e raised to this.
    is_bound : bool, optional
        Whether it is an upper bound: to five digits, rounded up.

    Examples
    --------
    >>> factor_of_odds(math.log(11)), factor_of_odds(1e-4), factor_of_odds(1000.0)
    ('11', '1.0001', 'about 10⁴³⁴')
    >>> factor_of_odds(1.0001, 1.0), factor_of_odds(1.0, 1.0001), factor_of_odds(1.2, is_bound=True)
    ('2.719', '2.718', '3.3202')
    """
    if log_factor >= MAX_EXPONENT:
        return f"about {_power_of_ten(log_factor)}"
    factor = math.exp(log_factor)
    if is_bound:
        return format_number(round_up(factor, BOUND_DIGITS), BOUND_DIGITS)
    references = [1.0, math.exp(reference)] if 0 < reference < MAX_EXPONENT else [1.0]
    for digits in range(3, 18):  # with 17 no two numbers are written alike
        text = format_number(factor, digits)
        if all(number == factor or format_number(number, digits) != text for number in references):
            break
    return text


def chance_text(log_probability: float) -> str:
    """A probability to three digits, or by its power of ten."""
    if -math.inf < log_probability < -MAX_EXPONENT:
        return _power_of_ten(log_probability)
    return format_number(math.exp(log_probability), 3)


def risk_text(log_odds: float, *, prior_risk: float) -> str:
    """What a change of the odds does to a risk: "from 10 % to 50 %, 5 times as likely".

    Parameters
    ----------
    log_odds, prior_risk : float
    """
    ratio = risk_ratio(log_odds, prior_risk=prior_risk)
    after = min(ratio * prior_risk, 1.0)
    risen = belief_text(after, math.isinf(log_odds) or prior_risk == 1)
    if abs(after - prior_risk) < abs(after - 1):
        risen = f"{format_distinct(100 * after, 100 * prior_risk, 3)} %"
    return f"from {format_number(100 * prior_risk, 3)} % to {risen}, {format_distinct(ratio, 1.0, 3)} times as likely"


def _power_of_ten(logarithm: float) -> str:
    return f"10{str(round(logarithm / math.log(10))).translate(SUPERSCRIPTS)}"


def _probability_text(value: float, log_gain: float, digits: int = 3) -> str:
    """A probability; 0 and 1 only if the release decides."""
    if math.isfinite(log_gain) and value in (0.0, 1.0):
        return "above 1 − 10⁻¹⁵" if value else BELOW_FLOATS
    return format_distinct(value, 1.0, digits)


# The verdict


def promise_sentence(summary: PrivacySummary) -> tuple[str, str]:
    """A word, and the sentence that says what the release keeps and where it fails, as inline HTML."""
    release, worst = summary.synthesizer, summary.worst
    real, promised = _both_epsilons(summary)
    allowed = format_number(summary.delta)
    released = _released(release, worst)
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
            f"The odds of {_pair(release, worst)} move by a factor of {factor_of_odds(worst.value, summary.epsilon)} "
            f"when {released} is released, instead of at most {factor_of_odds(summary.epsilon, worst.value)}. "
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
        return f"{loss}, but the allowed δ = {format_number(summary.delta, SENTENCE_DIGITS)} covers it."
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
        ("exact ε (substituted row)", format_number(worst.value, NUMBER_DIGITS), reached),
        (
            f"δ at ε = {format_number(summary.epsilon, 4)}",
            _delta_text(summary, format_number(pair.value, NUMBER_DIGITS)),
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
        for share, digits in ((float(summary.failure[row]), NUMBER_DIGITS), (summary.joint_failure, SENTENCE_DIGITS))
    )
    where = f"for the data {_table(release, row)}; {average} on average, if every row is equally likely to fall in each"
    numbers.append((f"{probabilistic}, worst table", largest, f"{where} cell"))
    if summary.change is None:
        never = "m differs from n, so the released table is never the confidential one"
        return [*numbers, (uncertainty, "1", never)]
    row = int(summary.change.argmin())
    often = "probability that the released table differs from the confidential one; smallest for the data "
    return [
        *numbers,
        (uncertainty, format_number(float(summary.change[row]), NUMBER_DIGITS), often + _table(release, row)),
    ]


def _loss_text(real: float, promised: float) -> str:
    """A real ε to three digits, or more that tell it from the promised one; as that if they are equal."""
    is_same = math.isclose(real, promised, rel_tol=EQUAL_LOSS)
    return format_number(promised) if is_same else format_distinct(real, promised, SENTENCE_DIGITS)


def _both_epsilons(summary: PrivacySummary) -> tuple[str, str]:
    """The real and the promised ε; what differs is not rounded to look the same."""
    real, promised = summary.worst.value, summary.epsilon
    is_same = math.isclose(real, promised, rel_tol=EQUAL_LOSS)
    return _loss_text(real, promised), format_number(promised) if is_same else format_distinct(promised, real)


def _delta_text(summary: PrivacySummary, text: str) -> str:
    """δ(ε) as `text`; in words if a release breaks ε and its δ is below the floating-point numbers."""
    return text if summary.divergence.value > 0 or summary.is_pure else BELOW_FLOATS


def _pair(release: Synthesizer, worst: WorstCase) -> str:
    return f"{_table(release, worst.likelier)} against {_table(release, worst.unlikelier)}"


def _table(release: Synthesizer, index: int) -> str:
    return _counts_text(release.row_table(index))


def _released(release: Synthesizer, worst: WorstCase) -> str:
    return "" if worst.column is None else _counts_text(release.column_table(worst.column))


def _counts_text(counts: tuple[int, ...]) -> str:
    """A table of counts as text; of a long run of empty cells at its end only their number."""
    length = max((index for index, count in enumerate(counts, 1) if count), default=1)
    if len(counts) - length <= MAX_EMPTY_CELLS:
        return str(counts)
    return f"({', '.join(map(str, counts[:length]))} and {len(counts) - length:,} empty cells)"


# The attacker, for a single released table


def gain_sentence(view: AttackerView, epsilon: float = 0.0) -> str:
    """What the release did to the odds.

    Parameters
    ----------
    view : AttackerView
    epsilon : float, optional
        The factor never looks like the one that this allows.
    """
    gain = abs(view.log_gain)
    table = view.first if view.log_gain > 0 else view.second
    if math.isinf(gain):
        return f"The release decides: only {table} can lead to {view.released}."
    if gain < 5e-7:
        return "The release does not move the odds."
    return f"The release moves the odds towards {table}, by a factor of {factor_of_odds(gain, epsilon)}."


def attacker_numbers(view: AttackerView) -> list[tuple[str, str, str]]:
    """Odds and probability of the first table before and after the release, each with its name."""
    prior, posterior = view.probabilities
    before, after = _probability_text(prior, 0.0, 6), _probability_text(posterior, view.log_gain, 6)
    return [
        ("before the release", f"{format_number(view.prior_odds, 4)} : 1", f"probability {before}"),
        ("after the release", f"{format_number(view.posterior_odds, 6)} : 1", f"probability {after}"),
    ]


def attacker_sentence(view: AttackerView, epsilon: float) -> str:
    """The whole step from prior to posterior, as inline HTML.

    Parameters
    ----------
    view : AttackerView
    epsilon : float
        Promised.
    """
    gain = abs(view.log_gain)
    is_more = gain > epsilon * (1 + EQUAL_LOSS)
    limit = f"the factor {factor_of_odds(epsilon, gain * is_more)} that ε = {format_number(epsilon, 4)} alone allows"
    return (
        f"The attacker knows every row but one, so only {view.first} and {view.second} are left. Before the release "
        f"the first has probability {_probability_text(view.probabilities[0], 0.0)}. Then {view.released} is released. "
        f"{gain_sentence(view, epsilon * is_more)} That is {'more than' if is_more else 'within'} {limit}. Now the "
        f"first has probability <b>{_probability_text(view.probabilities[1], view.log_gain)}</b>."
    )


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


# The attacker in four languages, for a whole release


def odds_sentence(summary: PrivacySummary) -> str:
    """What the most telling release does to even odds, and what the promise allows."""
    worst, epsilon = summary.worst, summary.epsilon
    if math.isinf(worst.value):
        return "<p>Before the release: 1 to 1. The most telling release settles the question.</p>"
    if worst.value == 0:
        return "<p>Before the release: 1 to 1. No release moves these odds: it says nothing about any row.</p>"
    is_broken = not summary.is_pure
    log_chance = summary.synthesizer.log_transition(np.array([worst.likelier]), np.array([worst.column]))
    return (
        f"<p>Before the release the two tables are equally likely: 1 of 2. After the most telling release one of them "
        f"is <b>{factor_of_odds(worst.value, epsilon * is_broken)}</b> times as likely as the other; ε = "
        f"{format_number(epsilon, 4)} alone allows at most {factor_of_odds(epsilon, worst.value * is_broken)} times. "
        f"That release comes from the likelier table with probability {chance_text(float(log_chance[0, 0]))}.</p>"
    )


def guess_sentence(curve: TradeOffCurve, promised: TradeOffCurve) -> str:
    """How often the best guess is right.

    Parameters
    ----------
    curve, promised : TradeOffCurve
        Of the release, and of its promise.
    """
    return (
        f"Somebody who knows nothing guesses right 50 % of the time. The best guess from the release is right "
        f"<b>{belief_text(curve.success(0.5), curve.decides)}</b> of the time; the promise would allow "
        f"{belief_text(promised.success(0.5))}."
    )


def gaussian_sentence(curve: TradeOffCurve) -> str:
    """The smallest μ, in words."""
    if math.isinf(curve.mu):
        return "No μ of Gaussian differential privacy is large enough: some release decides between two tables."
    if curve.mu == 0:
        return "μ = 0: the release says nothing about any row."
    mu = format_number(curve.mu, 3)
    return (
        f"In Gaussian differential privacy this is <b>μ = {mu}</b>: telling the two tables apart is about as hard as, "
        f"and never easier than, telling a normal number of mean 0 from one of mean {mu}, both with variance 1."
    )


def risk_sentences(summary: PrivacySummary, risk: float, ratio: float) -> list[str]:
    """What the release and the promise may do to a risk, and the ε that a wanted ratio needs.

    Parameters
    ----------
    summary : PrivacySummary
    risk : float
        Before the release.
    ratio : float
        Largest factor by which it may grow.
    """
    needed = epsilon_for_risk_ratio(ratio, prior_risk=risk)
    factor = f"by more than a factor of {format_number(ratio)}"
    wanted = f"Any ε will do: a risk of {format_number(100 * risk, 3)} % cannot grow {factor}."
    if math.isfinite(needed):
        wanted = (
            f"If the risk must never grow {factor}, the promise must be ε = {format_number(round_down(needed, 3), 3)} "
            f"or smaller: this release {'keeps' if summary.worst.value <= needed else 'does not keep'} such a promise."
        )
    reached = (
        f"The most telling release raises the risk {risk_text(summary.worst.value, prior_risk=risk)}. The promise ε = "
        f"{format_number(summary.epsilon)} alone would allow it to rise {risk_text(summary.epsilon, prior_risk=risk)}."
    )
    return [reached, wanted]


def measures_table(summary: PrivacySummary, curve: TradeOffCurve) -> tuple[list[str], list[list[str]], str, set[int]]:
    """Each measure with its place on the curve, by its letter there.

    Parameters
    ----------
    summary : PrivacySummary
    curve : TradeOffCurve
    """
    at = f"at ε = {format_number(summary.epsilon, 4)}"
    advantage = format_distinct(curve.advantage, 0.0, 6) if curve.advantage > 0 else "0"
    slope = f"{STEEPEST_POINT}: the slope of the steepest piece of the curve is −e<sup>ε</sup>"
    axis = f"{MEETS_AXIS}: the line of slope −e<sup>ε</sup> that touches the curve meets the axis at 1 − δ"
    touching = (
        f"{TOUCHING_POINT}: down to where that line touches, the curve falls by the releases that break ε for "
        "these two tables; the worst table counts those of all its neighbours, in either direction"
    )
    normal = "no normal curve stays below it"
    if math.isfinite(curve.mu):
        normal = f"{NORMAL_CURVE}: the highest normal curve that stays below it"
    rows = [
        ["pure ε", format_number(summary.worst.value, 6), slope],
        [f"δ {at}", format_number(summary.divergence.value, 6), axis],
        ["advantage", advantage, f"{BEST_GUESS}: 1 minus the smallest sum of both errors; δ at ε = 0"],
        ["Gaussian μ", format_number(curve.mu, 6), normal],
    ]
    if summary.failure is not None:
        rows.insert(2, [f"probabilistic δ {at}", format_number(float(summary.failure.max()), 6), touching])
    head = ["measure", "its value", "where it sits on the curve"]
    return head, rows, "The measures of privacy and the trade-off curve", {1}


def releases_table(summary: PrivacySummary, risk: float) -> Table:
    """Each release, its probability under both tables, the odds after it, the best guess and the risk.

    Parameters
    ----------
    summary : PrivacySummary
    risk : float
        Before the release.

    Returns
    -------
    head, rows, caption
        Of many releases only some have a row, evenly spaced.
    """
    release, tables = summary.synthesizer, [summary.worst.likelier, summary.worst.unlikelier]
    columns = evenly_spaced(0, release.shape[1] - 1, MAX_LISTED_RELEASES)
    logs = release.log_transition(np.array(tables), columns)
    pair = summary.worst_pair
    sign = 1 if release.neighbours[pair, 0] == tables[0] else -1
    gains = sign * release.log_odds(np.array([pair]), columns)[0]
    rows = []
    for column, first, second, gain in zip(columns.tolist(), *logs.tolist(), gains.tolist(), strict=True):
        row = [str(release.column_table(column)), chance_text(first), chance_text(second)]
        rows.append(row)
        if max(first, second) == -math.inf:
            row += ["never released", "–", "–"]
            continue
        is_decided = math.isinf(gain)
        side = "∞" if is_decided else factor_of_odds(abs(gain))
        guess = 1 / (1 + math.exp(-abs(gain)))
        after = min(risk * risk_ratio(gain, prior_risk=risk), 1.0)
        row.append(f"{side} : 1" if gain >= 0 else f"1 : {side}")
        row += [belief_text(guess, is_decided), belief_text(after, is_decided or risk == 1)]
    head = ["released", "takes from misses", "adds to false alarms", "odds", "best guess right"]
    head.append(f"risk, {format_number(100 * risk, 3)} % before")
    return head, rows, "What each release says of the worst neighbours"


# The error beside the smallest possible


def compared_promises(summary: PrivacySummary) -> list[tuple[str, float]]:
    """The ε at which the release is compared: its real one where there is any, and the promised one."""
    real, promised = summary.worst.value, summary.epsilon
    if math.isinf(real):
        return [("the promised ε", promised)]
    if math.isclose(real, promised, rel_tol=SAME_EPSILON):
        return [("the same ε", promised)]
    return [("the same real ε", real), ("the promised ε", promised)]


def best_mechanisms(n: int, epsilon: float, delta: float = 0.0) -> dict[str, LeastError]:
    """The smallest errors of any mechanism with a promise, by criterion.

    Parameters
    ----------
    n : int
    epsilon, delta : float
    """
    return {
        "average": least_error(n=n, epsilon=epsilon, delta=delta, criterion="average"),
        "worst": least_error(n=n, epsilon=epsilon, delta=delta, criterion="worst"),
    }


def better_sentence(errors: Mapping[str, float], name: str, best: BestErrors) -> str:
    """How far off the release typically is, and how many times the best mechanism that is, as inline HTML.

    Parameters
    ----------
    errors : mapping of str to float
        Of the release, by criterion.
    name : str
        Of the promise of the best mechanism.
    best : mapping of str to LeastError
    """
    error, smallest = errors["average"], best["average"]
    text = (
        f"The released proportion is typically off by <b>{format_number(error, 3)}</b> from the confidential one (root "
        f"mean squared error, all tables alike). The best mechanism with {name}, "
        f"{format_number(smallest.epsilon, 4)}, is off by <b>{format_number(smallest.root_mean_squared_error, 3)}</b>: "
    )
    ratio, _ = smallest.prices(error)
    if ratio < 1 - ERROR_TOLERANCE:
        return f"{text}the release is closer, as it does not keep that ε."
    if ratio < 1 + ERROR_TOLERANCE:
        return f"{text}there is no better one."
    return f"{text}the release has <b>{smallest.times(error)} times</b> the smallest possible error."


def better_table(errors: Mapping[str, float], promises: Sequence[tuple[str, BestErrors]]) -> Table:
    """The errors of the release by criterion, and the smallest ones with each promise.

    Parameters
    ----------
    errors : mapping of str to float
    promises : sequence of (str, mapping of str to LeastError)
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
    return head, rows, "The error of the release beside the smallest possible"


def largest_gap(best: BestErrors) -> str:
    """By how much a better mechanism could be better than these at most, in per cent of their error."""
    gap = max(smallest.gap / (smallest.root_mean_squared_error or 1.0) for smallest in best.values())
    return format_percent(gap, 2) if gap > NEGLIGIBLE_GAP else "10⁻⁴ %"
