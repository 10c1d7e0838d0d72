"""Every rule for an interval from M sets: those that combine the sets, and those that know how they were made."""

from __future__ import annotations

from dpviz.analysis import SETS
from dpviz.checked import checked
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.inference.interval_rules import IntervalRule
from dpviz.inference.noise_aware_rules import NOISE_AWARE_RULES

RULES: dict[str, IntervalRule] = {**COMBINING_RULES, **NOISE_AWARE_RULES}
"""Every rule by its key, in the order in which readers see them."""


@checked(sets=SETS)
def check_rule(key: str, sets: int) -> IntervalRule:
    """The rule named `key`, or a ValueError where there is none or it is not defined for so few sets.

    Parameters
    ----------
    key
        A key of `RULES`.
    sets
        M, a whole number from 1 to 100.

    Examples
    --------
    >>> check_rule("reiter_2003", 1)
    Traceback (most recent call last):
    ValueError: The rule "Reiter 2003 (Liu's Theorem 7)" needs at least 2 sets; got 1.
    """
    if key not in RULES:
        raise ValueError(f"rule must be one of {', '.join(RULES)}; got {key!r}.")
    RULES[key].check_sets(int(SETS.check(sets)))
    return RULES[key]
