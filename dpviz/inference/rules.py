"""Every interval rule: those that combine sets, and those that know how the sets were made."""

from dpviz.core.declarations import SETS
from dpviz.core.parameters import validate_choice
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.inference.interval_rules import IntervalRule
from dpviz.inference.noise_aware import NOISE_AWARE_RULES

RULES: dict[str, IntervalRule] = {**COMBINING_RULES, **NOISE_AWARE_RULES}
"""Interval rules by key, in the order on screen."""


def check_rule(key: str, sets: int) -> IntervalRule:
    """Rule with a key; a ValueError where there is none, or where it is not defined for so few sets.

    Parameters
    ----------
    key : str
    sets : int
        M.

    Examples
    --------
    >>> check_rule("reiter_2003", 1)
    Traceback (most recent call last):
    ValueError: The rule "Reiter 2003 (Liu's Theorem 7)" needs at least 2 sets; got 1.
    """
    sets = SETS.validate(sets)
    validate_choice("rule", key, RULES)
    RULES[key].check_sets(sets)
    return RULES[key]
