"""What every table that a reader brings goes through: from bytes to text, from text to values, and what is a number."""

import codecs
import csv
import io
import re
from collections.abc import Iterator
from typing import NamedTuple

from dpviz.core.parameters import readable, rounded_up

# What may stand between values, and how it is called; the first counts where there are as many of two.
SEPARATORS = {";": "a semicolon", "\t": "a tab", ",": "a comma"}
NOT_FINITE = re.compile(r"[+-]?(nan|inf(inity)?)", re.IGNORECASE)
is_number = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?").fullmatch

FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]")

ADVICE = "Save it as CSV (UTF-8) and bring that."
BEGINNINGS = {
    b"PK\x03\x04": "a spreadsheet or an archive",
    b"\xd0\xcf\x11\xe0": "a spreadsheet of an old kind",
    b"\x1f\x8b": "an archive",
    b"%PDF": "a PDF",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"$FL2": "a file of a statistics package",
}
"""How files begin that are no text, and what they are."""

GUESSED_ENCODING = (
    "The file is not in UTF-8. It was read as Windows-1252, which is usual in Western Europe: every number is right, "
    "but look whether names with accents are. To be sure, save it as CSV (UTF-8)."
)
NO_TEXT = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
LINE_ENDS = r"\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029"  # the characters that end a line, as for str.splitlines
LINE_OR_END = re.compile(rf"[^{LINE_ENDS}]+|(\r\n|[{LINE_ENDS}])")
LINES_FOR_ROWS = 10  # Lines of a text, with blank ones and remarks, for each row that it may have


def decoded(content: str | bytes, most: int, fits: str, problem: type[ValueError]) -> tuple[str, tuple[str, ...]]:
    """Return the text of a file and notes on how it was read; a `problem` where it is above `most` bytes or no text.

    `fits` says what a file of the most bytes has room for. A text is passed on without its byte order mark.
    """
    if len(content) > most:
        size = readable(rounded_up(len(content) / 1e6, 3))
        raise problem(f"The file has {size} MB; at most {readable(most / 1e6)} MB are read. {fits}")
    text, notes = _letters(content, problem) if isinstance(content, bytes) else (content, ())
    found = NO_TEXT.search(text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        raise problem(
            f"Line {line:,} holds a character that no text has (its code is {ord(found[0])}): this is not a text file "
            f"in UTF-8. {ADVICE}"
        )
    return text.removeprefix("\ufeff"), notes


def _letters(content: bytes, problem: type[ValueError]) -> tuple[str, tuple[str, ...]]:
    """Return bytes as text in the encoding that they have, or probably have, and what to say of it."""
    for beginning, kind in BEGINNINGS.items():
        if content.startswith(beginning):
            raise problem(f"This is {kind}, not text. Open it and save the table as CSV (UTF-8), and bring that.")
    wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    for encoding, notes in (("utf-16" if wide else "utf-8", ()), ("cp1252", (GUESSED_ENCODING,))):
        try:
            return content.decode(encoding), notes
        except UnicodeDecodeError:
            continue
    raise problem(f"This is not a text file in UTF-8. {ADVICE}")


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would evaluate it: it begins as a formula does and is no number."""
    return bool(FORMULA.match(text)) and not is_number(text) and not NOT_FINITE.fullmatch(text)


def lines_of(text: str, most_rows: int, problem: type[ValueError]) -> Iterator[tuple[int, str]]:
    r"""Yield the lines that are not empty, each with its number, one by one; a `problem` where there are far too many.

    >>> list(lines_of("a\r\n\nb", 2, ValueError))
    [(1, 'a'), (3, 'b')]
    """
    number = 1
    for found in LINE_OR_END.finditer(text):
        if not found[1]:
            yield number, found[0]
        elif number == LINES_FOR_ROWS * most_rows:
            raise problem(too_many_lines(most_rows))
        else:
            number += 1


def too_many_lines(most_rows: int) -> str:
    """Return what is said of a text of far more lines than rows are read."""
    return (
        f"There are more than {LINES_FOR_ROWS * most_rows:,} lines, and at most {most_rows:,} rows are read. Leave "
        "blank lines out, and rows that are not needed."
    )


class CsvTable(NamedTuple):
    """The names of the columns and the rows below them, with the line of the file on which each begins."""

    names: list[str]
    rows: list[list[str]]
    lines: list[int]
    separator: str


def table_of(text: str, most_rows: int, most_columns: int, fits: str, problem: type[ValueError]) -> CsvTable:
    """Return the table with a header that a text holds, every row as wide as the header, or raise a `problem`.

    What is too large is refused before it is split, so that no more is made of a text than is read; `fits` says what
    has room.

    Quoted cells may hold separators and line ends. A line without any separator is passed over where it is blank; in a
    table of one column it is an empty cell, unless only blank lines follow.
    """
    text = text.rstrip("\r\n")
    lines_with_words = (line for _, line in lines_of(text, most_rows, problem) if line.strip())
    first = re.sub(r'"[^"]*"', "", next(lines_with_words, ""))
    separator = max(SEPARATORS, key=first.count)

    def check_width(columns: int) -> None:
        if columns > most_columns:
            raise problem(f"There are {columns:,} columns; at most {most_columns:,} are read. {fits}")

    check_width(first.count(separator) + 1)
    single = separator not in first and '"' in text
    if single:  # a comma that is not in quotation marks is then a decimal one
        separator = next((mark for mark in SEPARATORS if mark not in text), ",")
    lines = _lines(text, separator, problem)
    head, names = next(((line, cells) for line, cells in lines if any(cells)), (0, []))
    if not names:
        raise problem(
            "There is nothing in it. Bring a table: the names of the columns in the first line, and a line for each "
            "person below it."
        )
    check_width(len(names))
    table = CsvTable([" ".join(name.split()) for name in names], [], [], "," if single else separator)
    for line, cells in lines:
        if line > LINES_FOR_ROWS * most_rows:
            raise problem(too_many_lines(most_rows))
        if len(names) > 1 and len(cells) <= 1 and not any(cells):
            continue
        if max(len(cells), 1) != len(names):
            columns, values = _counted(len(names), "column"), _counted(max(len(cells), 1), "value")
            raise problem(
                f"The header in line {head:,} names {columns}, line {line:,} has {values}. Every line needs a value "
                f"for each column. Put a value that holds {SEPARATORS[separator]} in quotation marks."
            )
        if len(table.rows) == most_rows:
            raise problem(
                f"There are more than {most_rows:,} rows; at most {most_rows:,} are read. Bring fewer and set n."
            )
        table.rows.append(cells or [""])
        table.lines.append(line)
    if not table.rows:
        raise problem("There is a header line and no row below it. Bring a line for each person below the names.")
    return table


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _lines(text: str, separator: str, problem: type[ValueError]) -> Iterator[tuple[int, list[str]]]:
    """Yield the values of each line, without the blanks around them, and where it begins."""
    reader = csv.reader(io.StringIO(text, newline=None), delimiter=separator, skipinitialspace=True, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            yield line, [cell.strip() for cell in next(reader)]
        except StopIteration:
            return
        except csv.Error:
            raise problem(
                f"Line {line:,} holds a quotation mark that does not close, or one inside a value, or a value of "
                f"over {csv.field_size_limit():,} characters. Put a value in one pair of quotation marks and double "
                "those inside it."
            ) from None
