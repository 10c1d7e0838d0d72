"""Texts from outside, made plain: as a sentence repeats them, as a page shows them, as a table holds them.

A name of a column or of a file, a cell, a word of an address: whoever wrote it may mean it to be more than a text.
"""

import re
import unicodedata
from collections.abc import Iterable

from dpviz.core.csv_text import is_formula
from dpviz.core.parameters import shown

LONGEST_REPEATED = 40  # Characters of a text that a sentence repeats
LONGEST_SENTENCE = 4_000  # Characters of a sentence that a page shows
MARKUP = re.compile(r"[!-/:-@\[-`{-~](?<![.,;?%])")
ADDRESS_OR_ICON = re.compile(r"(?<=:)(?=\S)|(?=@)|(?<=www)(?=\.)", re.IGNORECASE)
JOINER = "\u2060"  # has no width, and neither an address nor the name of an icon goes on behind it


def one_line(text: str, longest: int = LONGEST_REPEATED) -> str:
    r"""Return a text in one line and in the order of its letters, cut where it is longer than `longest`.

    Line ends and other control characters become blanks; what has no width or turns the order of letters around is left
    out, and half a character of two is replaced.

    >>> one_line("a\n b\u202ec" + "x" * 40)
    'a bcxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx …'
    """
    cut = text[: 4 * longest + 4]  # what is left out may stand in between, but not without end
    line = re.sub(" +", " ", "".join(_letter(one) for one in cut)).strip(" ")
    return line if len(line) <= longest and len(cut) == len(text) else f"{line[:longest].rstrip()} …"


def _letter(one: str) -> str:
    match unicodedata.category(one):
        case "Cc" | "Zl" | "Zp":
            return " "
        case "Cf":
            return ""
        case "Cs" | "Co" | "Cn":
            return "\N{REPLACEMENT CHARACTER}"
    return one


def plain(text: str, longest: int = LONGEST_SENTENCE) -> str:
    """Return HTML, and Markdown, that shows a text as `one_line` has it and is nothing else.

    A character reference is a letter in both, never the beginning of markup. An address would still be made a link, and
    the name of an icon a picture: they are broken by a joiner that nobody sees.

    >>> plain("<b>*a*")
    '&#60;b&#62;&#42;a&#42;'
    """
    line = ADDRESS_OR_ICON.sub(JOINER, one_line(text, longest))
    return MARKUP.sub(lambda found: f"&#{ord(found[0])};", line)


def table_cell(text: str) -> str:
    """Return a text as a spreadsheet shows it: what it would evaluate begins with an apostrophe; numbers stay.

    >>> table_cell("=1+1"), table_cell("-1.5"), table_cell("-inf")
    ("'=1+1", '-1.5', '-inf')
    """
    return f"'{text}" if is_formula(text) else text


def enumerated(words: Iterable[str], between: str = ", ") -> str:
    """Words as a list in a sentence.

    >>> enumerated(["a", "b", "c"]), enumerated(["a"])
    ('a, b and c', 'a')
    """
    *first, last = list(words) or [""]
    return " and ".join(filter(None, (between.join(first), last)))


def short_names(labels: Iterable[str]) -> dict[str, str]:
    """Return by its label the first words of each, and of those that begin alike also what tells them apart.

    >>> list(short_names(["Original data", "Noise, twice", "Noise (public), once", "Modips (BIT)"]).values())
    ['Original data', 'Noise, twice', 'Noise, public', 'Modips']
    >>> list(short_names(["Post(One)"]).values())
    ['Post(One)']
    """
    parts = {
        label: re.sub(r" \(([^)]*)\),?", r", \1, ", label).strip(", ").replace(",  ", ", ").split(", ")
        for label in labels
    }

    def short(first: str, rest: list[str]) -> str:
        alike = [further for head, *further in parts.values() if head == first]
        own = [one for one in rest if sum(one in further for further in alike) < len(alike)]
        alone = [one for one in own if sum(one in further for further in alike) == 1]
        return ", ".join([first, *(alone[:1] or own)])

    return {label: short(first, rest) for label, (first, *rest) in parts.items()}


def utf8_text(content: bytes, most: int) -> str:
    """The text of a file, up to `most` bytes of it; a ValueError in a sentence where it is none."""
    try:
        return content[:most].decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"the file must be text in UTF-8; got {shown(content[:40])}.") from None
