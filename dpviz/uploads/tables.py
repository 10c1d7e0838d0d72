"""From the bytes of a file to its text, and from a text to a table of cells.

pandas is no choice here: it fills rows that are too short and shifts rows that are too long, where a line is refused.
"""

import codecs
import csv
import io
import re
from contextlib import suppress
from typing import NamedTuple

from dpviz.core.formatting import format_count, format_number, round_up

SEPARATORS = {";": "a semicolon", "\t": "a tab", ",": "a comma"}  # the first counts where there are as many of two
NOT_TEXT = "not a text file in UTF-8. Save it as CSV (UTF-8) and bring that."
GUESSED_ENCODING = (
    "The file is not in UTF-8. It was read as Windows-1252, which is usual in Western Europe: every number is right, "
    "but look whether names with accents are. To be sure, save it as CSV (UTF-8)."
)
NO_TEXT = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
LINE_ENDS = "\n\r\x0b\x0c\x85\u2028\u2029"
SEPARATOR_LINE = re.compile(r"sep=([;,\t])\s*[\r\n]+", re.IGNORECASE)
LINES_PER_ROW = 10  # with blank ones and remarks


class CsvTable(NamedTuple):
    """Names of the columns and the rows below them, with the line of the file on which each begins."""

    names: list[str]
    rows: list[list[str]]
    lines: list[int]
    separator: str


def decode(content: str | bytes, max_bytes: int, fits: str, problem: type[ValueError]) -> tuple[str, tuple[str, ...]]:
    """Text of a file without its byte order mark, and notes on how it was read.

    Parameters
    ----------
    content : str or bytes
        UTF-8, UTF-16 with its mark, or else Windows-1252, with a note.
    max_bytes : int
    fits : str
        What a file of so many bytes has room for, in a sentence.
    problem : type of ValueError
        What is raised if the file is too large or no text.
    """
    if len(content) > max_bytes:
        size = format_number(round_up(len(content) / 1e6, 3))
        raise problem(f"The file has {size} MB; at most {format_number(max_bytes / 1e6)} MB are read. {fits}")
    text, notes = (content, ()) if isinstance(content, str) else _decode_bytes(content, problem)
    if match := NO_TEXT.search(text):
        line = text.count("\n", 0, match.start()) + 1
        raise problem(
            f"Line {line:,} holds a character that no text has (its code is {ord(match[0])}): this is {NOT_TEXT}"
        )
    return text.removeprefix("\ufeff"), notes


def _decode_bytes(content: bytes, problem: type[ValueError]) -> tuple[str, tuple[str, ...]]:
    has_utf16_mark = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    with suppress(UnicodeDecodeError):
        return content.decode("utf-16" if has_utf16_mark else "utf-8"), ()
    with suppress(UnicodeDecodeError):
        return content.decode("cp1252"), (GUESSED_ENCODING,)
    raise problem(f"This is {NOT_TEXT}")


def split_lines(text: str, max_rows: int, problem: type[ValueError]) -> list[tuple[int, str]]:
    r"""Lines that are not empty, each with its number; a `problem`, before any is made, if there are far too many.

    Examples
    --------
    >>> split_lines("a\r\n\nb", 2, ValueError)
    [(1, 'a'), (3, 'b')]
    """
    if sum(map(text.count, LINE_ENDS)) - text.count("\r\n") >= LINES_PER_ROW * max_rows:
        raise problem(
            f"There are more than {LINES_PER_ROW * max_rows:,} lines, and at most {max_rows:,} rows are read. Leave "
            "blank lines out, and rows that are not needed."
        )
    return [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line]


def read_table(text: str, max_rows: int, max_columns: int, fits: str, problem: type[ValueError]) -> CsvTable:
    """Table with a header that a text holds, every row as wide as the header.

    What is too large is refused before it is split. Quoted cells may hold separators and line ends. A line without any
    separator is passed over where it is blank; in a table of one column it is an empty cell, unless only blank lines
    follow. A first line ``sep=;``, as spreadsheets write it, names the separator.
    """

    def check_width(columns: int) -> None:
        if columns > max_columns:
            raise problem(f"There are {columns:,} columns; at most {max_columns:,} are read. {fits}")

    # The separator: named in a first line, or the most frequent one of the header
    named = SEPARATOR_LINE.match(text)
    first_line = 2 if named else 1
    text = text[named.end() if named else 0 :].rstrip("\r\n")
    header = next((line for _, line in split_lines(text, max_rows, problem) if line.strip()), "")
    header = re.sub(r'"[^"]*"', "", header)
    separator = named[1] if named else max(SEPARATORS, key=header.count)
    check_width(header.count(separator) + 1)

    reader = csv.reader(io.StringIO(text, newline=None), delimiter=separator, skipinitialspace=True, strict=True)
    table = CsvTable([], [], [], separator)
    header_line = line = first_line
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not table.names:
                check_width(len(cells))
                table.names.extend(" ".join(name.split()) for name in cells if any(cells))
                header_line = line
            elif any(cells) or len(cells) > 1 or len(table.names) == 1:
                width = max(len(cells), 1)
                if width != len(table.names):
                    raise problem(
                        f"The header in line {header_line:,} names {format_count(len(table.names), 'column')}, line "
                        f"{line:,} has {format_count(width, 'value')}. Every line needs a value for each column. Put a "
                        f"value that holds {SEPARATORS[separator]} in quotation marks."
                    )
                if len(table.rows) == max_rows:
                    raise problem(
                        f"There are more than {max_rows:,} rows; at most {max_rows:,} are read. Bring fewer and set n."
                    )
                table.rows.append(cells or [""])
                table.lines.append(line)
            line = reader.line_num + first_line
    except csv.Error:
        raise problem(
            f"Line {line:,} holds a quotation mark that does not close, or one inside a value, or a value of over "
            f"{csv.field_size_limit():,} characters. Put a value in one pair of quotation marks and double those "
            "inside it."
        ) from None
    if not table.names:
        raise problem(
            "There is nothing in it. Bring a table: the names of the columns in the first line, and a line for each "
            "person below it."
        )
    if not table.rows:
        raise problem("There is a header line and no row below it. Bring a line for each person below the names.")
    return table
