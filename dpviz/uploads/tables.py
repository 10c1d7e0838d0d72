"""From the bytes of a file to a table of cells.

pandas is no choice here: it fills rows that are too short and shifts rows that are too long, where a line is refused.
"""

import codecs
import csv
import io
import re
from contextlib import suppress

from dpviz.core.formatting import format_count, format_number, round_up

CsvTable = tuple[list[str], list[list[str]], list[int], str]
SEPARATORS = {";": "a semicolon", "\t": "a tab", ",": "a comma"}  # the first counts where there are as many of two
SEPARATOR_LINE = re.compile(r"sep=([;,\t])\s*[\r\n]+", re.IGNORECASE)  # as spreadsheets write it
CONTROL_CHARACTER = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
NOT_TEXT = "not a text file in UTF-8. Save it as CSV (UTF-8) and bring that."
GUESSED_ENCODING = (
    "The file is not in UTF-8. It was read as Windows-1252, which is usual in Western Europe: every number is right, "
    "but look whether names with accents are. To be sure, save it as CSV (UTF-8)."
)


def decode(content: str | bytes, max_bytes: int, advice: str) -> tuple[str, tuple[str, ...]]:
    """Text of a file without its byte order mark, and notes on how it was read.

    Parameters
    ----------
    content : str or bytes
        UTF-8, UTF-16 with its mark, or else Windows-1252, with a note.
    max_bytes : int
    advice : str
        What to do with a larger file, in a sentence.

    Raises
    ------
    ValueError
        If the file is too large or no text.
    """
    if len(content) > max_bytes:
        size = format_number(round_up(len(content) / 1e6, 3))
        raise ValueError(f"The file has {size} MB; at most {format_number(max_bytes / 1e6)} MB are read. {advice}")
    text, notes = (content, ()) if isinstance(content, str) else _decode_bytes(content)
    if match := CONTROL_CHARACTER.search(text):
        line, code = text.count("\n", 0, match.start()) + 1, ord(match[0])
        raise ValueError(f"Line {line:,} holds a character that no text has (its code is {code}): this is {NOT_TEXT}")
    return text.removeprefix("\ufeff"), notes


def _decode_bytes(content: bytes) -> tuple[str, tuple[str, ...]]:
    has_utf16_mark = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    with suppress(UnicodeDecodeError):
        return content.decode("utf-16" if has_utf16_mark else "utf-8"), ()
    with suppress(UnicodeDecodeError):
        return content.decode("cp1252"), (GUESSED_ENCODING,)
    raise ValueError(f"This is {NOT_TEXT}")


def read_table(text: str, max_rows: int, max_columns: int, advice: str) -> CsvTable:
    """Names of the columns of a CSV text, the rows below them, the lines on which these begin, and the separator.

    Every row is as wide as the first line; a ValueError says where it is not.

    Parameters
    ----------
    text : str
        Quoted cells may hold separators and line ends. A blank line is passed over, except in a table of one column,
        where it is an empty cell unless only blank lines follow. A first line ``sep=;`` names the separator.
    max_rows, max_columns : int
        Judged before anything is split.
    advice : str
        What to do with a wider table, in a sentence.
    """
    # The separator: named in a first line, or the most frequent one of the header
    named = SEPARATOR_LINE.match(text)
    body = text[named.end() if named else 0 :].rstrip("\r\n")
    header = re.sub(r'"[^"]*"', "", re.split(r"[\r\n]", body.lstrip(), maxsplit=1)[0])
    separator = named[1] if named else max(SEPARATORS, key=header.count)
    _check_width(header.count(separator) + 1, max_columns, advice)

    # The rows, the header first
    rows: list[list[str]] = []
    lines: list[int] = []
    first_line = line = 2 if named else 1
    reader = csv.reader(io.StringIO(body, newline=None), delimiter=separator, skipinitialspace=True, strict=True)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row] or [""]
            if any(cells) or (rows and (len(cells) > 1 or len(rows[0]) == 1)):
                if not rows:
                    _check_width(len(cells), max_columns, advice)
                elif len(cells) != len(rows[0]):
                    raise ValueError(
                        f"The header in line {lines[0]:,} names {format_count(len(rows[0]), 'column')}, line {line:,} "
                        f"has {format_count(len(cells), 'value')}. Every line needs a value for each column. Put a "
                        f"value that holds {SEPARATORS[separator]} in quotation marks."
                    )
                elif len(rows) > max_rows:
                    raise ValueError(
                        f"There are more than {max_rows:,} rows; at most {max_rows:,} are read. Bring fewer and set n."
                    )
                rows.append(cells)
                lines.append(line)
            line = reader.line_num + first_line
    except csv.Error:
        raise ValueError(
            f"Line {line:,} holds a quotation mark that does not close, or one inside a value, or a value of over "
            f"{csv.field_size_limit():,} characters. Put a value in quotation marks and double those inside it."
        ) from None
    if len(rows) < 2:
        problem = "There is a header line and no row below it" if rows else "There is nothing in it"
        raise ValueError(
            f"{problem}. Bring the names of the columns in the first line, and a line for each person below."
        )
    return [" ".join(name.split()) for name in rows[0]], rows[1:], lines[1:], separator


def _check_width(count: int, max_columns: int, advice: str) -> None:
    if count > max_columns:
        raise ValueError(f"There are {count:,} columns; at most {max_columns:,} are read. {advice}")
