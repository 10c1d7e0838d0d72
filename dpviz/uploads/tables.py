"""From the bytes of a file to a table of cells, and the sentences on both.

pandas is no choice here: it fills rows that are too short and shifts rows that are too long, where a line is refused.
"""

import codecs
import csv
import io
import re
from contextlib import suppress
from functools import cache
from typing import Any

from dpviz.core import limits
from dpviz.core.data_files import sentence_macros
from dpviz.core.escape import single_line
from dpviz.core.formatting import format_count, format_number, join_words, round_up

SEPARATORS = {";": "a semicolon", "\t": "a tab", ",": "a comma"}  # the first counts where there are as many of two
SEPARATOR_LINE = re.compile(r"sep=([;,\t])\s*[\r\n]+", re.IGNORECASE)  # as spreadsheets write it
# The first line that is not blank; a cell in quotation marks may hold line ends
HEADER = re.compile(r'(?:[ \t]*[\r\n])*+((?:[^\r\n"]++|(?<![^;,\t\r\n ])"(?:[^"]++|"")*+"|")*+)')
CONTROL_CHARACTER = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


@cache
def _macros() -> Any:
    return sentence_macros(
        "uploads", limits=limits, readable=format_number, figures="{:,}".format, counted=format_count,
        joined=join_words, quoted=lambda name: f"“{single_line(name)}”",
    )  # fmt: skip


def sentences(key: str, **values: object) -> list[str]:
    """Texts of a macro of ``sentences.txt``, each in one line, with numbers and names of columns in its places."""
    text: str = getattr(_macros(), key)(**values)
    return [line for part in text.split("\n\n") if (line := re.sub("[ \n]+", " ", part).strip(" "))]


def sentence(key: str, **values: object) -> str:
    """All texts of a macro in one line."""
    return " ".join(sentences(key, **values))


def refusal(key: str, **values: object) -> ValueError:
    """Error with a sentence."""
    return ValueError(sentence(key, **values))


def decode(content: str | bytes, max_bytes: int, advice: str) -> tuple[str, list[str]]:
    """Text of a file without its byte order mark, and notes on how it was read; a ValueError refuses.

    Parameters
    ----------
    content : str or bytes
        UTF-8, UTF-16 with its mark, or else Windows-1252, with a note.
    max_bytes : int
    advice : str
        Macro of what to do with a larger file.
    """
    if len(content) > max_bytes:
        size = round_up(len(content) / 1e6, 3)
        raise refusal("too_many_bytes", size=size, limit=max_bytes / 1e6, advice=sentence(advice))
    text, notes = (content, []) if isinstance(content, str) else _decode_bytes(content)
    if match := CONTROL_CHARACTER.search(text):
        line = text.count("\n", 0, match.start()) + 1
        raise refusal("control_character", line=line, code=ord(match[0]))
    return text.removeprefix("\ufeff"), notes


def _decode_bytes(content: bytes) -> tuple[str, list[str]]:
    has_utf16_mark = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    with suppress(UnicodeDecodeError):
        return content.decode("utf-16" if has_utf16_mark else "utf-8"), []
    with suppress(UnicodeDecodeError):
        return content.decode("cp1252"), sentences("guessed_encoding")
    raise refusal("not_text")


def read_table(text: str) -> tuple[list[list[str]], list[int], str]:
    """Rows of a CSV text, the names of the columns first, the lines on which they begin, and the separator.

    Every row is as wide as the first; a ValueError says where it is not. Quoted cells may hold separators and line
    ends. A blank line is passed over, except in a table of one column, where it is an empty cell unless only blank
    lines follow. A first line ``sep=;`` names the separator.
    """
    # The separator: named in a first line, or the most frequent one of the header, which is judged before it is split
    named = SEPARATOR_LINE.match(text)
    body = text[named.end() if named else 0 :].rstrip("\r\n")
    beginning = HEADER.match(body)
    header = re.sub(r'"[^"]*"', "", beginning[1] if beginning else "")
    separator = named[1] if named else max(SEPARATORS, key=header.count)
    _check_width(header.count(separator) + 1)

    rows: list[list[str]] = []
    lines: list[int] = []
    first_line = line = 2 if named else 1
    reader = csv.reader(io.StringIO(body, newline=None), delimiter=separator, skipinitialspace=True, strict=True)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row] or [""]
            if any(cells) or (rows and (len(cells) > 1 or len(rows[0]) == 1)):
                if not rows:
                    _check_width(len(cells))
                elif len(cells) != len(rows[0]):
                    sizes = {"columns": len(rows[0]), "values": len(cells)}
                    raise refusal("wrong_width", header=lines[0], line=line, separator=SEPARATORS[separator], **sizes)
                elif len(rows) > limits.MAX_PILOT_ROWS:
                    raise refusal("too_many_rows", limit=limits.MAX_PILOT_ROWS)
                rows.append(cells)
                lines.append(line)
            line = reader.line_num + first_line
    except csv.Error:
        raise refusal("wrong_quotation", line=line, limit=csv.field_size_limit()) from None
    if len(rows) < 2:
        raise refusal("no_rows", has_header=bool(rows))
    return rows, lines, separator


def _check_width(count: int) -> None:
    if count > limits.MAX_PILOT_COLUMNS:
        raise refusal("too_many_columns", number=count)
