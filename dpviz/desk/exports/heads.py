"""What a file begins with: what the page was set to, and how a program reads it."""

from collections.abc import Sequence

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
