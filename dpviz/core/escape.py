"""Texts from outside, made harmless: in a sentence, on a page and in a spreadsheet.

Whoever wrote the name of a column or of a file, a cell or a word of an address may mean it to be more than a text.
"""

import re
import unicodedata
from codecs import getincrementaldecoder

MARKUP = re.compile(r"[!-/:-@\[-`{-~](?<![.,;?%])")
ADDRESS_OR_ICON = re.compile(r"(?<=:)(?=\S)|(?=@)|(?<=www)(?=\.)", re.IGNORECASE)
JOINER = "\u2060"  # invisible; ends an address and the name of an icon
FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
NOT_FINITE = re.compile(r"[+-]?(nan|inf(inity)?)", re.IGNORECASE)
REPLACEMENTS = dict.fromkeys(("Cc", "Zl", "Zp"), " ")  # control characters and line ends
REPLACEMENTS |= {"Cf": ""} | dict.fromkeys(("Cs", "Co", "Cn"), "\N{REPLACEMENT CHARACTER}")


def single_line(text: str, max_characters: int = 40) -> str:
    r"""Text in one line and in the order of its letters, shortened where it is too long.

    Line ends and control characters become blanks, invisible characters and those that turn the direction of writing
    are left out, and half a surrogate pair is replaced.

    Parameters
    ----------
    text : str
    max_characters : int, optional

    Examples
    --------
    >>> single_line("a\n b\u202ec" + "x" * 40)
    'a bcxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx …'
    """
    start = text[: 4 * max_characters + 4]  # with room for what is left out
    letters = (REPLACEMENTS.get(unicodedata.category(letter), letter) for letter in start)
    line = re.sub(" +", " ", "".join(letters)).strip(" ")
    if len(line) <= max_characters and len(start) == len(text):
        return line
    return f"{line[:max_characters].rstrip()} …"


def escape_markdown(text: str, max_characters: int = 4_000) -> str:
    """HTML, and Markdown, that shows a text as `single_line` has it and is nothing else.

    A character reference is a letter in both, never the beginning of markup. Streamlit would still make a link of an
    address and a picture of the name of an icon, so an invisible joiner breaks them.

    Parameters
    ----------
    text : str
    max_characters : int, optional

    Examples
    --------
    >>> escape_markdown("<b>*a*")
    '&#60;b&#62;&#42;a&#42;'
    """
    line = ADDRESS_OR_ICON.sub(JOINER, single_line(text, max_characters))
    return MARKUP.sub(lambda match: f"&#{ord(match[0])};", line)


def is_number(text: str) -> bool:
    """Whether a text is a finite number."""
    return bool(NUMBER.fullmatch(text))


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would evaluate the text of a cell."""
    return bool(FORMULA.match(text)) and not (is_number(text) or NOT_FINITE.fullmatch(text))


def escape_spreadsheet_cell(text: str) -> str:
    """Text that a spreadsheet shows as it stands: an apostrophe precedes a formula.

    >>> escape_spreadsheet_cell("=1+1"), escape_spreadsheet_cell("-1.5"), escape_spreadsheet_cell("-inf")
    ("'=1+1", '-1.5', '-inf')
    """
    return f"'{text}" if is_formula(text) else text


def decode_utf8(content: bytes, max_bytes: int) -> str:
    """Text of the first bytes of a file, or a ValueError in a sentence if they are no text.

    >>> decode_utf8("aé".encode(), 2)  # the limit is inside a character
    'a'

    Parameters
    ----------
    content : bytes
    max_bytes : int
    """
    try:
        return getincrementaldecoder("utf-8")().decode(content[:max_bytes], final=len(content) <= max_bytes)
    except UnicodeDecodeError as error:
        raise ValueError(f"the file must be text in UTF-8; byte {error.start + 1:,} of it is not.") from None
