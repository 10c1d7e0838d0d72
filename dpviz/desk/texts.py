"""Texts with places for data: reports in HTML and scripts, each a file that carries all of its words."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from dpviz.core.formatting import format_number

if TYPE_CHECKING:
    from jinja2 import Environment
    from jinja2.nodes import EvalContext
    from markupsafe import Markup


def capitalized(text: str) -> str:
    """A text with a large first letter and all others as they are."""
    return text[:1].upper() + text[1:]


def exponents_raised(formula: str) -> str:
    """A formula as HTML, whose exponents, written after ^, stand above the line.

    >>> exponents_raised("1/(e^{ε/m} − 1) + e^ε")
    '1/(e<sup>ε/m</sup> − 1) + e<sup>ε</sup>'
    """
    return re.sub(r"\^(?:\{([^}]*)\}|(\w))", lambda found: f"<sup>{found[1] or found[2]}</sup>", formula)


def filled(name: str, /, **data: object) -> str:
    """Return the text of the file `name`, a path below this folder, with `data` in its places.

    In HTML every word of the data is plain: it makes no markup unless it is `Markup`. In a script a place says
    ``| repr`` where data stand as Python writes them. A place without data is an error.
    """
    return _environment().get_template(name).render(data)


def sentences(name: str, /, **data: object) -> list[str]:
    """Return what a text says with `data` in its places: each of its paragraphs in one line, but for empty ones."""
    return [_joined(one) for one in re.split(r"\n{2,}", filled(name, **data)) if one.strip()]


def _joined(text: str) -> str:
    """The lines of a text in one, without the blanks around them."""
    return " ".join(filter(None, (line.strip(" ") for line in text.splitlines())))


@cache
def _environment() -> Environment:
    """The files of this folder; jinja2 is loaded with the first text, since most pages are shown without any."""
    from jinja2 import Environment, PackageLoader, StrictUndefined, pass_eval_context
    from markupsafe import Markup

    def plain(value: object) -> Markup:
        """The letters of a value, with the entities that Python's own library writes."""
        return value if isinstance(value, Markup) else Markup(escape(str(value)))

    @pass_eval_context
    def finalize(context: EvalContext, value: object) -> object:
        return plain(value) if context.autoescape else value

    found = Environment(
        loader=PackageLoader("dpviz.desk", ""),
        autoescape=lambda name: name is not None and name.endswith(".html"),
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.policies["json.dumps_kwargs"] = {"sort_keys": False}
    found.filters |= {"repr": repr, "readable": format_number, "joined": _joined}
    found.filters["type_name"] = lambda one: type(one).__name__
    found.filters["raised"] = lambda text: Markup(exponents_raised(plain(text)))
    return found
