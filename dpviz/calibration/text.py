"""A promise in words: the invented rows or the range that it needs, of one set or several, and who keeps it at one."""

import math
from collections.abc import Collection, Mapping

from dpviz.calibration.curves import Shares
from dpviz.calibration.data_kinds import Given, PromiseQuestion, Setting
from dpviz.calibration.methods import PRIOR_METHODS, SYNTH_POST_ONE
from dpviz.calibration.quantities import NOT_COMPUTED, PRIOR_QUANTITY, RANGE_QUANTITY, has_number
from dpviz.core.formatting import format_invented_rows, format_number, is_small_weight, round_up
from dpviz.mechanisms import two_cell_synthesizers

HEADLINE = SYNTH_POST_ONE
"""The method that sentences speak of, and whose number stands in pictures."""
DIGITS = 3
SAVES_NOTHING = 1e-3  # Relative difference of the two answers below which δ is said to be too small to help


def needed_sentences(question: PromiseQuestion, pure: float, exact: float) -> tuple[str, str, str]:
    """What `HEADLINE` needs, without δ and with it: a mark, a sentence, as inline HTML, and at most 15 words.

    Parameters
    ----------
    question : PromiseQuestion
    pure, exact : float
        Its smallest prior or largest range for δ = 0 and for the δ that is allowed; NaN beyond reach.
    """
    return (_range_sentences if question.kind.conditioned else _prior_sentences)(question, pure, exact)


def _prior_sentences(question: PromiseQuestion, pure: float, exact: float) -> tuple[str, str, str]:
    setting = question.setting
    sizes = _sizes(question)
    in_each_set = " in each set" if question.sets > 1 else ""
    name = f"the {question.synthesizer} synthesizer ({HEADLINE.label})"
    epsilon, delta = setting.in_symbols(3, ("epsilon", "delta"))
    if math.isnan(exact):
        return (
            NOT_COMPUTED,
            f"How many invented rows {name} needs to keep {question.promise} with {sizes} is not computed. The table "
            "has the other methods.",
            "This method is not computed at this size.",
        )

    # Without δ
    without = question.cells * pure
    mark = f"{_count(without)} {_noun(without)}"
    needed = (
        f"To keep ε = {format_number(setting.epsilon)} with {sizes} by {name}, the agency must mix in "
        f"{_weight(without)}<b>{_count(without)}</b> {_noun(without)} for {_real_rows(setting.n)}{in_each_set}"
    )
    alike = f"{needed}, {'half of them yes' if question.kind.binary else 'as many in each cell'}."
    many = f"That many{' per set' if in_each_set else ''} keep {epsilon}"
    if setting.delta == 0:
        return mark, f"{alike} If it accepts a small δ, fewer may be enough.", f"{many}, without any δ."

    # With δ
    if not has_number(exact):
        sentence = f"{needed}. If it accepts {delta}, any number above 0 is enough."
        return "any prior", sentence, f"Any number of invented rows keeps {epsilon}, {delta}."
    if pure <= exact * (1 + SAVES_NOTHING):
        little = f"A δ of {format_number(setting.delta, 3)} is too small to save a noticeable share of them."
        # Both sentences speak of the rows without δ: fewer keep the promise only together with δ
        return mark, f"{alike} {little}", f"{many}; {delta} saves hardly any."
    rows = question.cells * exact
    enough = f"{_weight(rows)}<b>{_count(rows)}</b> {'is' if _weight(rows) else 'are'} enough."
    return (
        f"{_count(without)} → {_count(rows)} {_noun(rows)}",
        f"{alike} If it accepts {delta}, {enough}",
        f"{many}, without δ and with {delta}.",
    )


def _range_sentences(question: PromiseQuestion, pure: float, exact: float) -> tuple[str, str, str]:
    name, sizes, text = HEADLINE.label, _sizes(question), RANGE_QUANTITY.text
    narrow = f"±<b>{text(pure, 3)}</b> σ"
    promised = f"ε = {format_number(question.setting.epsilon)}"
    epsilon, delta = question.setting.in_symbols(3, ("epsilon", "delta"))

    # Without δ every released number is truncated
    if question.setting.delta == 0:
        return (
            f"R/σ ≤ {text(pure, 3)}",
            f"With {sizes}, {name} keeps {promised} if the data lie within {narrow} and every released number is "
            "truncated to the same range.",
            f"Data within that range keep {epsilon} if releases are truncated to it.",
        )
    return (
        f"R/σ ≤ {text(exact, 3)}",
        f"With {sizes}, {name} keeps {question.promise} if the data lie within ±<b>{text(exact, 3)}</b> σ. If every "
        f"released number is truncated to the range of the data, it keeps {promised} without any δ for data within "
        f"{narrow}.",
        f"Data within that range keep {epsilon}, {delta}.",
    )


def excluded_mechanisms(question: PromiseQuestion) -> str:
    """Which mechanisms of counts are none of the methods, and why, in a sentence."""
    infos = [synthesizer_type.info for synthesizer_type in two_cell_synthesizers().values()]
    reasons = [f"{info.label}, because {info.no_prior}" for info in infos if info.no_prior]
    return f"Not among the methods: {'; '.join(reasons)}." if question.kind.binary and reasons else ""


def sets_sentence(question: PromiseQuestion, exact: float, shares: Shares) -> tuple[str, str]:
    """What several sets of `HEADLINE` need together, and what an equal share of each would.

    Parameters
    ----------
    question : PromiseQuestion
    exact : float
        Prior or range that all sets together need, counted exactly.
    shares : Shares
        What an equal share of the promise for each set needs.
    """
    sets = question.sets
    if question.kind.conditioned:
        reach, shared = RANGE_QUANTITY.text(exact, 3), RANGE_QUANTITY.text(shares.split, 3)
        allows = "the same" if shared == reach else f"only <b>{shared}</b>"
        return f"M = {sets}: R/σ ≤ {reach}", (
            f"is the largest range for which {sets_together(sets)} of {HEADLINE.label} keep {question.promise}, "
            f"counted exactly. An equal share (ε/M, δ/M) for each set allows {allows}."
        )
    rows = question.cells * exact
    needed, printed = _count(rows), _count(question.cells * shares.pure)
    required = "the same" if printed == needed else f"<b>{printed}</b>"
    return f"M = {sets}: {needed} {_noun(rows)}", (
        f"for {_real_rows(question.setting.n)} in each set of {HEADLINE.label} {'is' if _is_single(rows) else 'are'} "
        f"enough to keep {question.promise} for {sets_together(sets)}, counted exactly. The papers' rule, an equal "
        f"share ε/M for each set without δ, asks for {required}."
    )


def sets_together(sets: int) -> str:
    """All sets of a release, in words that also fit two."""
    return "both sets together" if sets == 2 else f"all {sets} sets together"


def kept_by(given: Mapping[str, Given | None], setting: Setting) -> str:
    """The methods a single set of which keeps the promise: their labels, "every method" or "no method".

    `given` is what each gives at a prior or range; None where it cannot.
    """
    keys = []
    for key, privacy in given.items():
        if privacy is None:
            continue
        if privacy.delta_at_epsilon <= setting.delta if setting.delta > 0 else privacy.pure_epsilon <= setting.epsilon:
            keys.append(key)
    return _methods(keys, given)


def kept_together(question: PromiseQuestion, level: float, needed: Mapping[str, float]) -> str:
    """A sentence to go on with: the methods whose sets together need no more than this prior or range.

    Parameters
    ----------
    question : PromiseQuestion
    level : float
        Prior or range.
    needed : mapping of str to float
        Prior or range that the sets of each method need together; NaN where it is not computed.
    """
    keys = [key for key, limit in needed.items() if question.kind.quantity.is_enough(level, limit)]
    unknown = [key for key, limit in needed.items() if math.isnan(limit)]
    rest = f" (not computed: {_methods(unknown)})" if unknown else ""
    together = sets_together(question.sets)
    return f" With {together}, counted exactly, it does so for <b>{_methods(keys, needed)}</b>{rest}."


def cells_text(question: PromiseQuestion) -> str:
    """How many cells a table has, to go on with, where there are more than two."""
    return f", k = {question.cells}" if question.cells > 2 else ""


def _methods(keys: Collection[str], among: Collection[str] = ()) -> str:
    if len(keys) == len(among) > 0:
        return "every method"
    return ", ".join(PRIOR_METHODS[key].label for key in keys) or "no method"


def _sizes(question: PromiseQuestion) -> str:
    n, m = format_number(question.setting.n), format_number(question.setting.m)
    sets = f" and M = {question.sets} sets together" if question.sets > 1 else ""
    return f"{f'n = m = {n}' if n == m else f'n = {n}, m = {m}'}{cells_text(question)}{sets}"


def _real_rows(n: int) -> str:
    return "one real row" if n == 1 else f"{format_number(n)} real rows"


def _count(rows: float) -> str:
    """Invented rows in each set, of all cells, rounded up; in words where they are no number."""
    return format_invented_rows(rows, DIGITS) if has_number(rows) else PRIOR_QUANTITY.text(rows)


def _weight(rows: float) -> str:
    """What stands before a few invented rows, which nobody counts."""
    return "the weight of " if has_number(rows) and is_small_weight(rows) else ""


def _noun(rows: float) -> str:
    return "invented row" if _is_single(rows) else "invented rows"


def _is_single(rows: float) -> bool:
    return round_up(rows, DIGITS) == 1
