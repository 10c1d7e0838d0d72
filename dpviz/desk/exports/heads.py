"""What a file begins with: what the page was set to, and how a program reads it."""

from collections.abc import Sequence

from dpviz.designs import Design

COMMENTS = {"csv": "# ", "py": "# ", "tex": "% "}
"""What begins a comment, in the kinds of files that have comments."""

MARK = "\ufeff"
"""What a CSV file begins with, so that a spreadsheet reads it as UTF-8; whoever reads UTF-8 passes over it."""


def head_of(name: str, lines: Sequence[str]) -> str:
    r"""Beginning of a file of that name, if it may hold comments; of a table also how it is read.

    Parameters
    ----------
    name : str
        Of the file.
    lines : sequence of str
        What the file says of itself.

    Returns
    -------
    str

    Examples
    --------
    >>> head_of("curve.tex", ["one", "two"]), head_of("curve.html", ["one"])
    ('% one\n% two\n', '')
    """
    kind = name.rpartition(".")[2]
    if kind not in COMMENTS:
        return ""
    all_lines = [*lines, how_to_read(name)] if kind == "csv" else lines
    return (MARK if kind == "csv" else "") + "".join(f"{COMMENTS[kind]}{line}\n" for line in all_lines)


def how_to_read(name: str) -> str:
    """How a program reads a CSV file of that name to the last digit, in a line of its head."""
    return (
        f'to read it: pandas.read_csv("{name}", comment="#") in Python, '
        f'read.csv("{name}", comment.char = "#", fileEncoding = "UTF-8-BOM") in R; a spreadsheet opens it as it is'
    )


def sets_line(design: Design) -> str:
    """How each set of a design is made, with every parameter of its synthesizer, in a line of a file's head.

    Examples
    --------
    >>> sets_line(Design(mechanism="beta_binomial", n=5, prior="own", alpha=0.5, epsilon=1.0))
    'each set: Beta-binomial (posterior draw), n = 5, m = 5, α = 0.5, β = 0.5'
    """
    synthesizer = design.synthesizer
    values = [
        f"{parameter.symbol or parameter.title.lower()} = {getattr(synthesizer, parameter.name)!r}"
        for parameter in synthesizer.parameters()
    ]
    return f"each set: {', '.join([synthesizer.info.label, *values])}"
