"""Formulas as HTML."""

import re


def exponents_raised(formula: str) -> str:
    """A formula whose exponents, written after ^, stand above the line.

    >>> exponents_raised("1/(e^{ε/m} − 1) + e^ε")
    '1/(e<sup>ε/m</sup> − 1) + e<sup>ε</sup>'
    """
    return re.sub(r"\^(?:\{([^}]*)\}|(\w))", lambda found: f"<sup>{found[1] or found[2]}</sup>", formula)
