"""Fewer digits for the numbers of a text, as many as are read from afar."""

import re
from decimal import ROUND_HALF_UP, Decimal

FROM_AFAR = 3
NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?(?![\w.]*\w)")


def three_digits(html: str) -> str:
    """HTML with three digits in each decimal number of its text.

    More stay where fewer would make a number equal to another one of the text, or rounder than it is; and where what
    is cut off reads as just a half, for the number was rounded before, and nothing tells to which side of the half.

    >>> three_digits("ε = <b>5.493061</b>, not 1.0004 but 1: in 99.9998 %, 0.06592181 or 1,164.53, from 5.495 on")
    'ε = <b>5.49</b>, not 1.0004 but 1: in 99.9998 %, 0.0659 or 1,165, from 5.495 on'
    """
    parts = re.split(r"(<[^>]*>)", html)
    all_numbers = {_value(text) for part in parts[::2] for text in NUMBER.findall(part)}
    parts[::2] = [NUMBER.sub(lambda found: _shortened(found[0], all_numbers), part) for part in parts[::2]]
    return "".join(parts)


def three_digits_in_cells(table: str) -> str:
    """An HTML table with three digits in the numbers of every cell, whatever stands in the others."""
    return re.sub(r"(?<=>)[^<>]+", lambda cell: three_digits(cell[0]), table)


def _value(text: str) -> Decimal:
    return Decimal(text.replace(",", ""))


def _to_places(value: Decimal, places: int) -> str:
    """With so many decimals."""
    return f"{value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):,f}"


def _shortened(text: str, beside: set[Decimal]) -> str:
    value, decimals = _value(text), len(text.partition(".")[2])
    for places in range(decimals):
        shorter = _to_places(value, places)
        figures = shorter.replace(",", "").replace(".", "").lstrip("0")
        alone = all(_to_places(other, places) != shorter for other in beside - {value})
        half = 2 * abs(_value(shorter) - value) == Decimal(1).scaleb(-places)
        if (
            len(figures) >= FROM_AFAR
            and alone
            and not half
            and (len(figures.rstrip("0")) > 1 or _value(shorter) == value)
        ):
            return shorter.rstrip("0").rstrip(".") if places else shorter
    return text
