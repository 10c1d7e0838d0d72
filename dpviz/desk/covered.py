"""How many intervals hold the truth, in sentences: the setting, the promised level, and how many say nothing."""

from collections.abc import Collection, Sequence

from dpviz.core.formatting import format_count, format_number, format_percent
from dpviz.coverage import ExactCoverage
from dpviz.coverage.report import MIN_REPORTED_CHANGE
from dpviz.designs import Design
from dpviz.desk.promises import promise_text
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.inference.rules import RULES


def fitting_rules(design: Design, keys: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those of some rules that a design allows, and sentences about the others.

    Parameters
    ----------
    design : Design
    keys : sequence of str
        Of `dpviz.inference.RULES`. Where all of them need more sets than M, those for a single set take their place.

    Returns
    -------
    rules : tuple of str
    notes : tuple of str
        A sentence for each reason why rules are left out.

    Raises
    ------
    ValueError
        If there are no keys, or the distributions that all of them need would be too large.
    """
    if not keys:
        raise ValueError("Choose at least one rule.")
    sets = design.sets
    rules = tuple(key for key in keys if RULES[key].is_feasible(design.release, sets))
    few = [key for key in keys if RULES[key].min_sets > sets]
    large = [key for key in keys if key not in rules and key not in few]
    beyond = (
        f"beyond reach at n = {format_number(design.n)}, m = {format_number(design.m)}, M = {sets}: {_names(large)}."
    )
    notes = []
    if few:
        notes.append(f"Left out, because M = {sets} and they need at least 2 sets: {_names(few)}.")
    if few and not rules:
        rules = tuple(key for key, rule in COMBINING_RULES.items() if rule.min_sets <= sets)
        notes.append(f"The rules for a single set stand in their place: {_names(rules)}.")
    if not rules:
        raise ValueError(f"All the rules chosen are {beyond} Choose another, or fewer rows.")
    if large:
        notes.append(f"Left out, because the distribution of the sum is {beyond}")
    return rules, tuple(notes)


def _names(keys: Collection[str]) -> str:
    return ", ".join(RULES[key].short_label for key in keys)


def coverage_setting(design: Design) -> str:
    """Where the numbers of a design stand: people, true share, released tables and promise, in words."""
    people, rows = format_count(design.n, "person", "people"), format_count(design.m, "row")
    tables = format_count(design.sets, "released table")
    return f"{people}, a true share of {format_percent(design.p, 4)}, {tables} of {rows} and {promise_text(design)}"


def coverage_sentence(design: Design, rule: str, one: ExactCoverage) -> str:
    """How many intervals of a rule contain the true share, against the promised level, and how many say nothing."""
    against = against_level(one.coverage, design.level)
    share = f"{_only(design, one)}<b>{format_percent(one.coverage, 3)}</b>"
    return (
        f"With {coverage_setting(design)}, {share} of the intervals computed {RULES[rule].computed} contain the true "
        f"share{against}.{vacuous_sentence(one.vacuous_share)}"
    )


def short_sentence(design: Design, rule: str, one: ExactCoverage) -> str:
    """The same in at most 15 words, which fit beside a picture."""
    off, name = one.coverage - design.level, RULES[rule].abbreviation
    end = (
        "as promised"
        if abs(off) < MIN_REPORTED_CHANGE
        else f"{'not' if off < 0 else 'more than'} {format_percent(design.level, 8)}"
    )
    share = f"{_only(design, one)}{format_percent(one.coverage, 3)}"
    return f"{name[0].upper()}{name[1:]}: {share} of the intervals hold the truth, {end}."


def _only(design: Design, one: ExactCoverage) -> str:
    """A word before too small a share; one that is told by a bound, less than so much, needs none."""
    bound = format_percent(one.coverage).startswith("less")
    return "only " if one.coverage <= design.level - MIN_REPORTED_CHANGE and not bound else ""


def against_level(share: float, level: float) -> str:
    """How a coverage stands to the promised level, as the end of a sentence.

    >>> against_level(0.8, 0.95), against_level(0.9501, 0.95)
    (', not the promised 95 %: 15 points too few', ', as promised')
    """
    off = share - level
    if abs(off) < MIN_REPORTED_CHANGE:
        return ", as promised"
    points = f"{format_number(100 * abs(off), 3)} points too {'few' if off < 0 else 'many'}"
    return f", {'not' if off < 0 else 'more than'} the promised {format_percent(level, 8)}: {points}"


def vacuous_sentence(share: float) -> str:
    """That some intervals say nothing, where at least one in a hundred runs from 0 to 100 %.

    >>> vacuous_sentence(0.646), vacuous_sentence(0.0099)
    (' More than half of them (64.6 %) run from 0 to 100 % and say nothing.', '')
    """
    if share < 0.01:
        return ""
    many, all_ = format_percent(share, 3), " All of them" if share == 1 else ""
    some = all_ or (f" More than half of them ({many})" if share > 0.5 else f" Of them {many}")
    return f"{some} run from 0 to 100 % and say nothing."
