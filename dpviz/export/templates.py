"""Jinja templates of reports, scripts and sentences; they stand beside the code that renders them."""

import re

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from dpviz.core.formatting import format_number

MAX_INLINE_CHARACTERS = 20_000  # of a given matrix that a script carries; a longer one is read from matrix.csv


def render(name: str, /, **data: object) -> str:
    """Text of a template, a path below the folder ``dpviz``, with data in its places; one without data is an error.

    Where the name ends in ``.html`` data are escaped unless they are `Markup`; in a script a place says ``| repr``.
    """
    return ENVIRONMENT.get_template(name).render(data)


def render_paragraphs(name: str, /, **data: object) -> list[str]:
    """Paragraphs of a template with data in its places, each in one line, without empty ones."""
    return [_in_one_line(text) for text in re.split(r"\n{2,}", render(name, **data)) if text.strip()]


def capitalize_first(text: str) -> str:
    """Text with a large first letter and all others as they are.

    >>> capitalize_first("δ of MODIPS")
    'Δ of MODIPS'
    """
    return text[:1].upper() + text[1:]


def raise_exponents(formula: str) -> Markup:
    """HTML of a formula in plain text, whose exponents, written after ^, stand above the line.

    >>> print(raise_exponents("1/(e^{ε/m} − 1) + e^ε"))
    1/(e<sup>ε/m</sup> − 1) + e<sup>ε</sup>
    """
    return Markup(re.sub(r"\^(?:\{([^}]*)\}|(\w))", r"<sup>\1\2</sup>", str(escape(formula))))


def _in_one_line(text: str) -> str:
    return " ".join(filter(None, (line.strip(" ") for line in text.splitlines())))


ENVIRONMENT = Environment(
    loader=PackageLoader("dpviz", ""),
    autoescape=lambda name: name is not None and name.endswith(".html"),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
ENVIRONMENT.policies["json.dumps_kwargs"] = {"sort_keys": False}
ENVIRONMENT.tests["inline"] = lambda text: text is not None and len(text) <= MAX_INLINE_CHARACTERS
ENVIRONMENT.filters |= {
    "repr": repr,
    "readable": format_number,
    "joined": _in_one_line,
    "capitalized": capitalize_first,
    "type_name": lambda value: type(value).__name__,
    "raised": raise_exponents,
}
