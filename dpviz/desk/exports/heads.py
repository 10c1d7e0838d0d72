"""What a file begins with: what the page was set to, and how a program reads it."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dpviz import __version__
from dpviz.core.settings import ControlSetting
from dpviz.desk.asked import AskedOfDesign, AskedOnPage
from dpviz.mechanisms.given_matrix import GivenMatrix

COMMENTS = {"csv": "# ", "py": "# ", "tex": "% "}
"""What begins a comment, in the kinds of files that have comments."""

MARK = "\ufeff"
"""What a CSV file begins with, so that a spreadsheet reads it as UTF-8; whoever reads UTF-8 passes over it."""


def head_of(name: str, lines: Sequence[str]) -> str:
    r"""The beginning of a file of that name, if it may hold comments; of a table also how it is read.

    >>> head_of("curve.tex", ["one", "two"]), head_of("curve.html", ["one"])
    ('% one\n% two\n', '')
    """
    kind = name.rpartition(".")[2]
    if kind not in COMMENTS:
        return ""
    told = [*lines, how_to_read(name)] if kind == "csv" else lines
    return (MARK if kind == "csv" else "") + "".join(f"{COMMENTS[kind]}{line}\n" for line in told)


def how_to_read(name: str) -> str:
    """How a program reads a CSV file of that name to the last digit, in a line of its head."""
    return (
        f'to read it: pandas.read_csv("{name}", comment="#") in Python, '
        f'read.csv("{name}", comment.char = "#", fileEncoding = "UTF-8-BOM") in R; a spreadsheet opens it as it is'
    )


def about_answer(
    title: str,
    asked: AskedOnPage | None,
    settings: Iterable[tuple[str, str]],
    address: str,
    made: AskedOfDesign | None = None,
) -> list[str]:
    """What a file says of the answer that it holds: version and page, what was asked, settings by name, and an address.

    `made`: what is asked for where that is a release, of which it says what else follows from the settings.
    """
    lines = [f"dpviz {__version__}, {title}"]
    if asked is not None:
        lines.append(asked.named)
        if made is not None and made.design.synthesizer_type is not GivenMatrix:
            one = made.design.synthesizer
            own = (f"{each.symbol or each.title.lower()} = {getattr(one, each.name)!r}" for each in one.parameters())
            lines.append(f"each set: {one.label}, {', '.join(own)}")
    told = "; ".join(f"{label}: {value}" for label, value in settings)
    neighbours = "one row substituted" if asked is None else asked.neighbours
    return [*lines, f"settings: {told}", f"neighbouring data sets: {neighbours}", f"address: {address}"]


def in_a_line(setting: ControlSetting, value: Any, called: Callable[[Any], str] | None) -> str:
    """The value of a setting in a line; `called` says how it, or each of several, is called on the page."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(called or str, value)) or "none"
    return " ".join((called or setting.word)(value).split())
