"""A promise in words: the invented rows or the range that it needs, of one set or several, and who keeps it at one."""

import math
from collections.abc import Collection, Mapping
from functools import cache, partial
from typing import Any

from dpviz.calibration.curves import Shares
from dpviz.calibration.data_kinds import Given, PromiseQuestion, Setting
from dpviz.calibration.methods import PRIOR_METHODS, SYNTH_POST_ONE
from dpviz.calibration.quantities import PRIOR_QUANTITY, RANGE_QUANTITY, has_number
from dpviz.core.data_files import sentence_macros
from dpviz.core.formatting import format_invented_rows, format_number, is_small_weight, round_up
from dpviz.mechanisms import two_cell_synthesizers

HEADLINE = SYNTH_POST_ONE
"""The method that sentences speak of, and whose number stands in pictures."""
DIGITS = 3


def needed_sentences(question: PromiseQuestion, pure: float, exact: float) -> tuple[str, str, str]:
    """What `HEADLINE` needs, without δ and with it: a mark, a sentence, as inline HTML, and at most 15 words.

    Parameters
    ----------
    question : PromiseQuestion
    pure, exact : float
        Its smallest prior or largest range for δ = 0 and for the δ that is allowed; NaN beyond reach.
    """
    name = "needed_range" if question.kind.conditioned else "needed_prior"
    mark, sentence, short = _sentences(name, question, question.setting, pure, exact, HEADLINE.label)
    return mark, sentence, short


@cache
def _macros() -> Any:
    return sentence_macros(
        "calibration", readable=format_number, cells_text=cells_text, count=_count, has_number=has_number,
        is_small_weight=is_small_weight, range=partial(RANGE_QUANTITY.text, digits=DIGITS),
        round_up=partial(round_up, digits=DIGITS), sets_together=sets_together,
    )  # fmt: skip


def _sentences(name: str, *facts: object) -> list[str]:
    """Texts of a macro of ``sentences.txt``, each in one line."""
    return [" ".join(text.split()) for text in getattr(_macros(), name)(*facts).split(" | ")]


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
    mark, sentence = _sentences("sets", question, exact, shares, HEADLINE.label)
    return mark, sentence


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


def _count(rows: float) -> str:
    """Invented rows in each set, of all cells, rounded up; in words where they are no number."""
    return format_invented_rows(rows, DIGITS) if has_number(rows) else PRIOR_QUANTITY.text(rows)
