"""Jinja templates of reports, scripts and sentences; they stand beside the code that renders them."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from dpviz.core.formatting import format_number

if TYPE_CHECKING:
    from jinja2 import Environment
    from jinja2.nodes import EvalContext

MAX_INLINE_CHARACTERS = 20_000  # of a given matrix that a script carries; a longer one is read from matrix.csv


def render(name: str, /, **data: object) -> str:
    """Text of a template, a path below the folder ``dpviz``, with data in its places; one without data is an error.

    Where the name ends in ``.html`` data are escaped unless they are `Markup`; in a script a place says ``| repr``.
    """
    return _environment().get_template(name).render(data)


def render_paragraphs(name: str, /, **data: object) -> list[str]:
    """Paragraphs of a template with data in its places, each in one line, without empty ones."""
    return [_in_one_line(text) for text in re.split(r"\n{2,}", render(name, **data)) if text.strip()]


def page_script(name: str, /, *, given_text: str | None = None, **data: object) -> str:
    """Short Python script that computes the numbers of a page again; it runs beside the folder ``dpviz``.

    Parameters
    ----------
    name : str
        Of its template, such as ``coverage_script``.
    given_text : str, optional
        Of the matrix that a reader gave. The script carries it, or reads a long one from matrix.csv.
    **data
        What the template is about: a `design`, a `comparison`, …
    """
    is_inline = given_text is not None and len(given_text) <= MAX_INLINE_CHARACTERS
    return render(f"export/{name}.txt", text=given_text if is_inline else None, **data)


def capitalize_first(text: str) -> str:
    """Text with a large first letter and all others as they are.

    >>> capitalize_first("δ of MODIPS")
    'Δ of MODIPS'
    """
    return text[:1].upper() + text[1:]


def raise_exponents(formula: str) -> str:
    """HTML of a formula, whose exponents, written after ^, stand above the line.

    >>> raise_exponents("1/(e^{ε/m} − 1) + e^ε")
    '1/(e<sup>ε/m</sup> − 1) + e<sup>ε</sup>'
    """
    return re.sub(r"\^(?:\{([^}]*)\}|(\w))", lambda match: f"<sup>{match[1] or match[2]}</sup>", formula)


def _in_one_line(text: str) -> str:
    return " ".join(filter(None, (line.strip(" ") for line in text.splitlines())))


@cache
def _environment() -> Environment:
    # Loaded with the first text: most pages are shown without any
    from jinja2 import Environment, PackageLoader, StrictUndefined, pass_eval_context
    from markupsafe import Markup

    def to_markup(value: object) -> Markup:
        # With the entities that the standard library writes
        return value if isinstance(value, Markup) else Markup(escape(str(value)))

    @pass_eval_context
    def finalize(context: EvalContext, value: object) -> object:
        return to_markup(value) if context.autoescape else value

    environment = Environment(
        loader=PackageLoader("dpviz", ""),
        autoescape=lambda name: name is not None and name.endswith(".html"),
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False}
    environment.filters |= {
        "repr": repr,
        "readable": format_number,
        "joined": _in_one_line,
        "capitalized": capitalize_first,
        "type_name": lambda value: type(value).__name__,
        "raised": lambda text: Markup(raise_exponents(to_markup(text))),
    }
    return environment
