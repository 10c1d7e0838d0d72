"""The answer of the page Coverage: which rules a design allows, and how many of their intervals hold the truth."""

from collections.abc import Collection, Sequence

from dpviz.core.formatting import format_number, format_percent
from dpviz.coverage.exact import ExactCoverage
from dpviz.coverage.report import MIN_REPORTED_CHANGE
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.inference.rules import RULES
from dpviz.mechanisms import TwoCellSynthesizer


def feasible_rules(
    synthesizer: TwoCellSynthesizer, sets: int, keys: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those of some rules that a release allows, and a sentence for each reason why others are left out.

    Parameters
    ----------
    synthesizer : TwoCellSynthesizer
    sets : int
        M.
    keys : sequence of str
        Keys of `RULES`; where all of them need more sets, the rules for a single set take their place.

    Raises
    ------
    ValueError
        If there are no keys, or the distributions that all of them need would be too large.
    """
    if not keys:
        raise ValueError("Choose at least one rule.")
    rules = tuple(key for key in keys if RULES[key].is_feasible(synthesizer, sets))
    too_few = [key for key in keys if RULES[key].min_sets > sets]
    large = [key for key in keys if key not in rules and key not in too_few]
    sizes = f"n = {format_number(synthesizer.n)}, m = {format_number(synthesizer.m)}, M = {sets}"
    notes = []
    if too_few:
        notes.append(f"Left out, because M = {sets} and they need at least 2 sets: {_labels(too_few)}.")
    if too_few and not rules:
        rules = tuple(key for key, rule in COMBINING_RULES.items() if rule.min_sets <= sets)
        notes.append(f"The rules for a single set stand in their place: {_labels(rules)}.")
    if not rules:
        raise ValueError(
            f"All the rules chosen are beyond reach at {sizes}: {_labels(large)}. Choose another, or fewer rows."
        )
    if large:
        notes.append(f"Left out, because the distribution of the sum is beyond reach at {sizes}: {_labels(large)}.")
    return rules, tuple(notes)


def _labels(keys: Collection[str]) -> str:
    return ", ".join(RULES[key].short_label for key in keys)


def coverage_answer(setting: str, rule: str, coverage: ExactCoverage, level: float, sizes: str) -> tuple[str, str, str]:
    """How many intervals of a rule hold the true share, against the promised level, and how many say nothing.

    Parameters
    ----------
    setting, sizes : str
        The design in words, and people and tables alone for the short sentence.
    rule : str
        Key of the rule.
    coverage : ExactCoverage
    level : float
        Promised level.

    Returns
    -------
    mark, sentence, short_sentence : str
        In inline HTML.
    """
    share = format_percent(coverage.coverage, 3)
    stated = "none" if share == "0 %" else share
    promised = format_percent(level, 8)
    distance = coverage.coverage - level
    points = f"{format_number(100 * abs(distance), 3)} points"
    only = ""
    if abs(distance) < MIN_REPORTED_CHANGE:
        against = short = "as promised"
    elif distance < 0:
        only = "" if stated.startswith(("less", "none")) else "only "
        against, short = f"not the promised {promised}: {points} too few", f"not {promised}"
    else:
        against, short = f"more than the promised {promised}: {points} too many", f"over {promised}"
    sentence = (
        f"With {setting}, {only}<b>{stated}</b> of the intervals computed {RULES[rule].computed} contain the true "
        f"share, {against}."
    )
    if coverage.vacuous_share >= 0.01:
        subject = (
            "All of them" if coverage.vacuous_share == 1 else f"Of them {format_percent(coverage.vacuous_share, 3)}"
        )
        sentence += f" {subject} run from 0 to 100 % and say nothing."
    has_room = not stated.startswith(("less", "more"))  # in fifteen words
    name = RULES[rule].abbreviation + (f", {sizes}" if has_room else "")
    return share, sentence, f"{name[0].upper()}{name[1:]}: {stated} of intervals are right, {short}."
