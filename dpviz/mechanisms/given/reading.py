"""Read a transition matrix from CSV text, forgiving in form and exact about what is wrong."""

import csv
import re
from typing import NamedTuple

import numpy as np

from dpviz.core.checked import checked
from dpviz.core.csv_text import NOT_FINITE, SEPARATORS, decoded, is_number, lines_of
from dpviz.core.limits import GIVEN_BYTES, GIVEN_CHARACTERS, GIVEN_SIDE
from dpviz.core.parameters import readable
from dpviz.core.plain import one_line
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.given_matrix import ROW_SUM_TOLERANCE, GivenMatrix, MatrixProblem, check_probabilities

MOST_DIGITS = 12  # Significant digits beyond which numbers count as exact
ROUNDING_OF_ROWS = 1e-12  # Distance from 1 up to which the sum of a row is 1 but for rounding
NEAR_ONE_ROW = 0.1  # and up to which it is that of probabilities that were rounded to some digits
MOST_PLACES = 400  # Beyond this exponent every double is 0 or infinite
# What a column of counts or names is called in a header, in small letters.
COUNT_NAME = re.compile(r"(n\d*|row|label|name)?$")
# A fraction, or a number in per cent: no name of a column.
NUMERAL = re.compile(r"[<>~≈±]?\s*(\d[\d.,/\s]*)?[\d¼-¾⅐-⅞](e[+-]?\d+)?\s*[%‰]?", re.IGNORECASE)
WIDER = 2  # Times as many separators a line may have as a matrix has columns: some stand in names in quotation marks
MATRIX_FITS = f"A matrix of {GIVEN_SIDE:,} × {GIVEN_SIDE:,} probabilities at full precision fits."


class _Line(NamedTuple):
    """The values of one line of the text, with its number in the file."""

    number: int
    values: list[str]


@checked()
def read_matrix(content: str | bytes) -> GivenMatrix:
    r"""Return the transition matrix written in `content`, a text or the bytes of a file, or a MatrixProblem.

    Comma, semicolon, tab or spaces between values; a header line or none; none, one or two columns of row names or
    counts before the probabilities, found by what sums to 1. Blank lines and lines that start with # are passed over.

    >>> read_matrix("n1,n2,m1=0,m1=1\n0,1,0.75,0.25\n1,0,0.25,0.75").probabilities.tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    lines, labels, matrix = _parts(content)
    check_probabilities(matrix, lambda row: f"Line {lines[row].number}", lambda place: f"value {place + labels + 1}")
    return GivenMatrix(probabilities=matrix, decimals=_decimals(lines, labels))


@checked()
def rescaled(content: str | bytes) -> str | None:
    r"""Return the matrix as text with each row divided by its sum; None where all sum to 1, or one is not near it.

    A row that is not near 1 holds no probabilities that were rounded, and dividing it would hide that.

    >>> print(rescaled("0.5,0.51\n0.25,0.75"))
    0.49504950495049505,0.504950495049505
    0.25,0.75
    """
    try:
        _, _, matrix = _parts(content)
    except MatrixProblem:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        sums = matrix.sum(axis=1, keepdims=True)
        off = float(np.abs(sums - 1).max())
    if not (ROUNDING_OF_ROWS < off <= NEAR_ONE_ROW and matrix.min() >= 0):
        return None
    text = "\n".join(",".join(map(repr, row)) for row in (matrix / sums).tolist())
    return text if len(text) <= GIVEN_BYTES else None


def _parts(content: str | bytes) -> tuple[list[_Line], int, FloatArray]:
    """Return the lines of a matrix, how many columns of names or counts they begin with, and the numbers after them."""
    lines = _split(text_of(content))
    _refuse_not_finite(lines)
    header, lines = _header(lines)
    width = len(lines[0].values)
    for line in lines:
        if len(line.values) != width:
            raise MatrixProblem(
                f"Line {line.number} has {len(line.values)} values, line {lines[0].number} has {width}. "
                "Every row needs the same number of values."
            )
    if len(lines) > GIVEN_SIDE or width > GIVEN_SIDE + 2:
        raise _too_large(f"The matrix has {len(lines):,} rows and {width:,} columns")
    labels = _label_columns(header, lines)
    return lines, labels, _numbers(lines, labels)


def text_of(content: str | bytes) -> str:
    """Return the text of a matrix; how its letters were read matters to no number."""
    return decoded(content, GIVEN_BYTES, MATRIX_FITS, MatrixProblem)[0]


def _too_large(found: str) -> MatrixProblem:
    return MatrixProblem(
        f"{found}; at most {GIVEN_SIDE:,} × {GIVEN_SIDE:,} are audited here. Leave rows and columns out, or use the "
        "Python package."
    )


def _split(text: str) -> list[_Line]:
    """Return the lines with something in them, split at the separator that the text uses.

    No line is made, and none is split, beyond what a matrix may have.
    """
    kept: list[tuple[int, str]] = []
    for number, line in lines_of(text, GIVEN_SIDE, MatrixProblem):
        if line.strip(" ,;\t\r") and not line.lstrip().startswith("#"):
            kept.append((number, line))
            if len(kept) > GIVEN_SIDE + 1:
                raise _too_large(f"The matrix has more than {GIVEN_SIDE:,} rows")
    if not kept:
        raise MatrixProblem(
            "There is nothing in it. Give one line for each confidential table, with the probability of every "
            "released table, separated by commas."
        )
    sample = "\n".join(line for _, line in kept[:20])
    separator = next((mark for mark in SEPARATORS if mark in sample), None)
    rows = [_values(number, line, separator) for number, line in kept]
    if separator is not None and all(row and row[-1].strip() == "" for row in rows):
        rows = [row[:-1] for row in rows]
    if separator in (";", "\t") and "." not in sample:
        rows = [[value.replace(",", ".") for value in row] for row in rows]
    return [_Line(number, [value.strip() for value in row]) for (number, _), row in zip(kept, rows, strict=True)]


def _values(number: int, line: str, separator: str | None) -> list[str]:
    """Return what stands between the separators, or blanks, of one line."""
    most = WIDER * (GIVEN_SIDE + 2)
    if separator is None:
        values = line.split(maxsplit=most)
    elif line.count(separator) > most:
        values = [""] * (most + 1)
    else:
        try:
            values = next(csv.reader([line.strip(" ")], delimiter=separator, skipinitialspace=True, strict=True))
        except csv.Error:
            raise MatrixProblem(
                f"Line {number} holds a quotation mark that does not close, or a value of over "
                f"{csv.field_size_limit():,} characters. Numbers are needed, separated by commas."
            ) from None
    if len(values) > most:
        raise _too_large(f"Line {number} has more than {most:,} values")
    place = next((place for place, value in enumerate(values, start=1) if len(value) > GIVEN_CHARACTERS), None)
    if place is not None:
        raise MatrixProblem(
            f"Line {number}, value {place} has more than {GIVEN_CHARACTERS:,} characters. A probability from 0 to 1 is "
            "needed, written with a point."
        )
    return values


def _refuse_not_finite(lines: list[_Line]) -> None:
    """Raise a MatrixProblem where NaN or infinity stands where a header or the name of a row could be."""
    for line in lines:
        for place, value in enumerate(line.values if line is lines[0] else line.values[:2], start=1):
            if NOT_FINITE.fullmatch(value):
                raise MatrixProblem(
                    f"Line {line.number}, value {place} is not finite: {value}. A probability from 0 to 1 is needed."
                )


def _header(lines: list[_Line]) -> tuple[list[str] | None, list[_Line]]:
    """Return the header's names, or None, and the lines below it.

    A header holds no fractions. A first row of names and 0s and 1s that sum to 1 may be a row of probabilities.
    """
    first = lines[0].values
    numbers = [value for value in first if is_number(value)]
    if not all(value.isdigit() for value in numbers):
        return None, lines
    place = next((at for at, one in enumerate(first) if NUMERAL.fullmatch(one) and not is_number(one)), None)
    if place is not None:  # else a row that was meant would be passed over
        raise _no_probability(lines[0], place)
    counts = numbers == [str(place) for place in range(len(first))] and len(first) > 2
    named = len(numbers) < len(first) and (sum(map(float, numbers)) != 1 or _names_counts(first, lines[1:]))
    if not (counts or named):
        return None, lines
    if len(lines) == 1:
        raise MatrixProblem("There is a header line and no row below it. Give one line for each confidential table.")
    return first, lines[1:]


def _names_counts(first: list[str], below: list[_Line]) -> bool:
    """Whether `first` names its first column as one of counts or names, or names one that holds numbers below."""
    numbers = [value for value in first if is_number(value)]
    if len(set(numbers)) < len(numbers) or not below:
        return False
    return bool(COUNT_NAME.match(first[0].lower())) or any(
        not is_number(name) and all(is_number(line.values[place]) for line in below if place < len(line.values))
        for place, name in enumerate(first)
    )


def _label_columns(header: list[str] | None, lines: list[_Line]) -> int:
    """Return how many columns before the probabilities hold names or counts of the confidential tables."""
    width = len(lines[0].values)
    for labels in range(min(3, width)):
        parts = [line.values[labels:] for line in lines[:50]]
        if all(all(map(is_number, part)) and abs(sum(map(float, part)) - 1) <= ROW_SUM_TOLERANCE for part in parts):
            return labels
    if header is not None:
        named = [bool(COUNT_NAME.match(name.strip().lower())) for name in header[:2]]
        return 0 if width == 1 or not named[0] else 1 + int(width > 2 and all(named))
    return int(width > 1 and not any(is_number(line.values[0]) for line in lines))


def _numbers(lines: list[_Line], labels: int) -> FloatArray:
    matrix = np.empty((len(lines), len(lines[0].values) - labels))
    for row, line in enumerate(lines):  # never as an array of texts, each of which would be as wide as the longest
        try:
            matrix[row] = [float(value) for value in line.values[labels:]]
        except ValueError:
            place = next(at for at, value in enumerate(line.values) if at >= labels and not is_number(value))
            raise _no_probability(line, place) from None
    return matrix


def _no_probability(line: _Line, place: int) -> MatrixProblem:
    """Say that a value of a line is no number."""
    value = line.values[place]
    shown = f"“{one_line(value, 30)}”" if value else "empty"
    return MatrixProblem(
        f"Line {line.number}, value {place + 1} is {shown}. A probability from 0 to 1 is needed, written with a point."
    )


def _decimals(lines: list[_Line], labels: int) -> int | IntArray | None:
    """Printed decimals: one number where all have as many, else one for each; None where the numbers are exact.

    They are exact when all are whole, or one has more digits than anyone prints. A whole 0 or 1 beside fractions is
    taken to be rounded as the longest of them.
    """
    places = np.empty((len(lines), len(lines[0].values) - labels), dtype=np.int64)
    for row, line in enumerate(lines):
        for column, value in enumerate(line.values[labels:]):
            mantissa, _, exponent = value.lower().partition("e")
            whole, _, fraction = mantissa.partition(".")
            if len((whole + fraction).lstrip("+-0")) > MOST_DIGITS:
                return None
            places[row, column] = len(fraction) - int(max(-MOST_PLACES, min(float(exponent or 0), MOST_PLACES)))
    most = int(places.max())
    if most <= 0:
        return None
    places[places <= 0] = most
    return most if bool((places == most).all()) else places


def sums_sentence(given: GivenMatrix) -> str:
    """What is done with rows that do not sum to 1; nothing where all do."""
    sums = given.probabilities.sum(axis=1)
    off, row = np.abs(sums - 1), int(np.argmax(np.abs(sums - 1)))
    number = int((off > ROUNDING_OF_ROWS).sum())
    example = f"row {row + 1} sums to {readable(sums[row], 9)}"
    if number > 1:
        return f"{number:,} of your rows do not sum to exactly 1 ({example}). They are not rescaled."
    return f"Your {example}, not to 1. It is not rescaled." if number else ""
