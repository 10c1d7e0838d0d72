"""A reader's transition matrix: read from CSV text, forgiving in form and exact about what is wrong, and recognized."""

import csv
import itertools
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import numpy as np

from dpviz.core.escape import NOT_FINITE, is_number, single_line
from dpviz.core.formatting import format_number
from dpviz.core.limits import MAX_MATRIX_BYTES, MAX_MATRIX_SIDE, MAX_VALUE_CHARACTERS
from dpviz.core.numerics.special import log_reciprocal
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer, LaplaceSanitizer, PosteriorMean, Synthesizer
from dpviz.mechanisms.matrix_mechanism import ROW_SUM_TOLERANCE, GivenMatrix, check_probabilities
from dpviz.uploads.tables import SEPARATORS, decode, refusal, sentence, sentences

SUM_ROUNDING = 1e-12  # distance from 1 of the sum of exact probabilities
MAX_VALUES = 2 * (MAX_MATRIX_SIDE + 2)  # of a line, as separators may stand in names in quotation marks
COUNT_NAME = re.compile(r"(n\d*|row|label|name)?$", re.IGNORECASE)  # of a column of counts or names
# A fraction, or a number in per cent: no name of a column
NUMERAL = re.compile(r"[<>~≈±]?\s*(\d[\d.,/\s]*)?[\d¼-¾⅐-⅞](e[+-]?\d+)?\s*[%‰]?", re.IGNORECASE)


class _Line(NamedTuple):
    number: int  # in the file
    values: list[str]


def read_matrix(content: str | bytes) -> GivenMatrix:
    r"""Transition matrix written in a text or in the bytes of a file; a ValueError says where it is none.

    Parameters
    ----------
    content : str or bytes
        Comma, semicolon, tab or spaces between values; a header line or none; none, one or two columns of row names or
        counts before the probabilities, found by what sums to 1. Blank lines and lines that start with # are skipped.

    Examples
    --------
    >>> read_matrix("n1,n2,m1=0,m1=1\n0,1,0.75,0.25\n1,0,0.25,0.75").probabilities.tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    lines, matrix = _parse(content)
    labels = len(lines[0].values) - matrix.shape[1]
    check_probabilities(matrix, lambda row: f"Line {lines[row].number}", lambda column: f"value {column + labels + 1}")
    return GivenMatrix(probabilities=matrix, decimals=_count_decimals([line.values[labels:] for line in lines]))


def rescale_rows(content: str | bytes) -> str | None:
    r"""Matrix as text with each row divided by its sum; None if all sum to 1, or one is off by more than 0.1.

    >>> print(rescale_rows("0.5,0.51\n0.25,0.75"))
    0.49504950495049505,0.504950495049505
    0.25,0.75
    """
    try:
        _, matrix = _parse(content)
    except ValueError:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        sums = matrix.sum(axis=1, keepdims=True)
        largest = float(np.abs(sums - 1).max())
    if min(matrix.shape) < 2 or not (SUM_ROUNDING < largest <= 0.1 and matrix.min() >= 0):
        return None
    text = "\n".join(",".join(map(repr, row)) for row in (matrix / sums).tolist())
    return text if len(text) <= MAX_MATRIX_BYTES else None


def text_of(content: str | bytes) -> str:
    """Text of a matrix; how its letters were read matters to no number."""
    return decode(content, MAX_MATRIX_BYTES, "matrix_advice")[0]


def sums_sentence(given: GivenMatrix, *, is_divided: bool = False) -> str:
    """What is done with rows that do not sum to 1; empty if all do.

    Parameters
    ----------
    given : GivenMatrix
    is_divided : bool, optional
        Whether each is divided by its sum.
    """
    sums = given.probabilities.sum(axis=1)
    distances = np.abs(sums - 1)
    row, number = int(np.argmax(distances)), int((distances > SUM_ROUNDING).sum())
    return sentence("sums", number=number, row=row + 1, sum=format_number(sums[row], 9), is_divided=is_divided)


def _parse(content: str | bytes) -> tuple[list[_Line], FloatArray]:
    """Lines of a matrix, and its numbers, which names or counts may precede in each line."""
    lines = _split(text_of(content))

    # NaN or infinity where a header or the name of a row could be
    for number, values in [lines[0], *((number, values[:2]) for number, values in lines[1:])]:
        for place, value in enumerate(values, start=1):
            if NOT_FINITE.fullmatch(value):
                raise refusal("not_finite", line=number, place=place, value=value)

    # Rows of equal length below the header
    header = lines.pop(0).values if _has_header(lines) else None
    if not lines:
        raise refusal("no_matrix_rows")
    first, width = lines[0].number, len(lines[0].values)
    for number, values in lines:
        if len(values) != width:
            raise refusal("line_width", line=number, count=len(values), first=first, width=width)
    if len(lines) > MAX_MATRIX_SIDE or width > MAX_MATRIX_SIDE + 2:
        raise refusal("matrix_size", rows=len(lines), columns=width)

    # Numbers row by row: as an array of texts every value would be as wide as the longest
    labels = _count_labels(header, lines)
    matrix = np.empty((len(lines), width - labels))
    for row, line in enumerate(lines):
        for place, value in enumerate(line.values[labels:], start=labels):
            if not is_number(value):  # float takes 0.2_5, and infinity, too
                raise _no_probability(line, place)
        matrix[row] = [float(value) for value in line.values[labels:]]
    return lines, matrix


def _split(text: str) -> list[_Line]:
    """Lines with something in them, split at the separator that the text uses, never beyond what a matrix may have."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    max_lines = 10 * MAX_MATRIX_SIDE  # with blank ones and remarks
    if text.count("\n") >= max_lines:
        raise refusal("too_many_lines", lines=max_lines)
    texts = {
        number: line.strip(" ")
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip().strip(" ,;\t") and not line.lstrip().startswith("#")
    }
    if len(texts) > MAX_MATRIX_SIDE + 1:
        raise refusal("matrix_rows")
    if not texts:
        raise refusal("nothing")
    sample = "\n".join(itertools.islice(texts.values(), 20))
    separator = next((mark for mark in SEPARATORS if mark in sample), None)
    has_decimal_commas = separator in (";", "\t") and "." not in sample

    lines = []
    for number, line in texts.items():
        if len(line.split(separator, MAX_VALUES)) > MAX_VALUES:
            raise refusal("line_values", line=number, values=MAX_VALUES)
        try:
            reader = csv.reader([line], delimiter=separator or ",", skipinitialspace=True, strict=True)
            values = next(reader) if separator else line.split()
        except csv.Error:
            raise refusal("line_quotation", line=number, limit=csv.field_size_limit()) from None
        if has_decimal_commas:
            values = [value.replace(",", ".") for value in values]
        lines.append(_Line(number, [value.strip() for value in values]))
        for place, value in enumerate(values):
            if len(value) > MAX_VALUE_CHARACTERS:
                raise _no_probability(lines[-1], place)

    # Lines that all end with a separator
    if separator and all(line.values[-1] == "" for line in lines):
        lines = [_Line(number, values[:-1]) for number, values in lines]
    return lines


def _no_probability(line: _Line, place: int) -> ValueError:
    value, is_long = single_line(line.values[place], 30), len(line.values[place]) > MAX_VALUE_CHARACTERS
    return refusal("no_probability", line=line.number, place=place + 1, value=value, is_long=is_long)


def _has_header(lines: list[_Line]) -> bool:
    """Whether the first line names the columns: it holds no fractions, and is no row of probabilities."""
    first, below = lines[0].values, lines[1:]
    numbers = [value for value in first if is_number(value)]
    if not all(value.isdigit() for value in numbers):
        return False
    for place, value in enumerate(first):
        if NUMERAL.fullmatch(value) and not is_number(value):  # else a row that was meant would be passed over
            raise _no_probability(lines[0], place)
    if len(numbers) == len(first):
        return numbers == [str(place) for place in range(len(first))] and len(first) > 2
    if sum(map(float, numbers)) != 1:
        return True

    # Names beside 0s and 1s that sum to 1 are a header above a column of counts, and else a row
    names_numbers = any(
        not is_number(name) and all(is_number(line.values[place]) for line in below if place < len(line.values))
        for place, name in enumerate(first)
    )
    return len(set(numbers)) == len(numbers) and bool(below) and (bool(COUNT_NAME.match(first[0])) or names_numbers)


def _count_labels(header: list[str] | None, lines: list[_Line]) -> int:
    """How many columns before the probabilities hold names or counts of the confidential tables."""
    width = len(lines[0].values)
    for labels in range(min(3, width)):
        rows = [line.values[labels:] for line in lines[:50]]
        if all(all(map(is_number, row)) and abs(sum(map(float, row)) - 1) <= ROW_SUM_TOLERANCE for row in rows):
            return labels
    if width == 1:
        return 0
    if header is None:
        return int(not any(is_number(line.values[0]) for line in lines))
    is_named = [bool(COUNT_NAME.match(name)) for name in header[:2]]
    return int(is_named[0]) + int(width > 2 and all(is_named))


def _count_decimals(rows: list[list[str]]) -> int | IntArray | None:
    """Printed decimals: one number where all have as many, else one for each; None where the numbers are exact.

    They are exact when all are whole, or one has more than 12 digits, which nobody prints. A whole 0 or 1 beside
    fractions is taken to be rounded as the longest of them.
    """
    places = np.empty((len(rows), len(rows[0])), dtype=np.int64)
    for row, values in enumerate(rows):
        for column, value in enumerate(values):
            mantissa, _, exponent = value.lower().partition("e")
            decimals = mantissa.partition(".")[2]
            if len(mantissa.replace(".", "").lstrip("+-0")) > 12:
                return None
            power = max(-400, min(float(exponent or 0), 400))  # beyond it every double is 0 or infinite
            places[row, column] = len(decimals) - int(power)
    largest = int(places.max())
    if largest <= 0:
        return None
    places[places <= 0] = largest
    return largest if bool((places == largest).all()) else places


# Recognition


def recognize(given: GivenMatrix) -> Synthesizer | None:
    """Two-cell synthesizer, of the fewest digits, that prints as this matrix, or None.

    Every entry lies within half a unit of its last printed digit, and the matrix has clearly more independent numbers,
    rows · (columns − 1), than the synthesizer has parameters; another one may print as the same.

    >>> thirds = BetaBinomial(n=2, m=2, alpha=1, beta=1).transition_matrix()
    >>> recognize(GivenMatrix(probabilities=thirds.round(4), decimals=4))
    BetaBinomial(n=2, m=2, alpha=1.0, beta=1.0)
    """
    matrix = given.probabilities
    if max(matrix.shape) > 201:  # many mechanisms are computed to compare it with
        return None
    tolerance = given.half_units * (1 + 1e-9) + np.spacing(matrix)
    if given.decimals is None:  # the last digits of numbers in full precision depend on the program
        tolerance = 1e-10 * matrix
    candidates = (law for law in _candidates(given) if np.all(np.abs(law.transition_matrix() - matrix) <= tolerance))
    return next(candidates, None)


def _candidates(given: GivenMatrix) -> Iterator[Synthesizer]:
    """Synthesizers that the matrix may be evidence for, those with the fewest digits in their parameters first."""
    matrix, (rows, columns) = given.probabilities, given.shape
    n, m = rows - 1, columns - 1
    laws: list[tuple[Callable[..., Synthesizer], dict[str, float]]] = []  # of these sizes, with the other parameters

    # Priors from the means, which lie on a straight line
    means = matrix @ np.arange(columns)
    slope = float(means[-1] - means[0]) / n
    if slope > 0:
        alpha = float(means[0]) / slope
        prior = {"alpha": alpha, "beta": m / slope - n - alpha}
        laws += [(partial(law, n=n, m=m), prior) for law in (BetaBinomial, PosteriorMean)]

    # The share that noise moves away is e^(-ε/2) of Laplace noise, 2/(e^ε + 1) of geometric; half of it if n = 1
    if n == m:
        moved = 1 - float(matrix[1, 1]) if n > 1 else 2 * (1 - float(matrix[0, 0]))
        odds = moved / max(2 - moved, 1e-300)
        laws.append((partial(LaplaceSanitizer, n=n), {"epsilon": 2 * log_reciprocal(moved)}))
        laws.append((partial(GeometricSanitizer, n=n), {"epsilon": log_reciprocal(odds)}))

    # With as many parameters as independent entries, or as many digits as these print, anything fits any numbers
    entries = rows * m
    printed = entries * (16 if given.decimals is None else float(np.mean(given.decimals)))
    for digits, (law, values) in itertools.product(range(1, 13), laws):
        if entries >= 3 * len(values) and printed >= 4 * digits * len(values):
            with suppress(ValueError):
                yield law(**{name: float(f"{value:.{digits}g}") for name, value in values.items()})


def exact_offer(given: GivenMatrix, candidate: Synthesizer) -> tuple[str, str]:
    """Synthesizer in one word, as a URL has it, and the question whether its exact values are to be taken.

    Parameters
    ----------
    given : GivenMatrix
    candidate : Synthesizer
        That prints as the matrix.

    Examples
    --------
    >>> law = BetaBinomial(n=2, m=2, alpha=1, beta=0.5)
    >>> exact_offer(GivenMatrix(probabilities=law.transition_matrix()), law)[0]
    'beta_binomial-2-2-1-0.5'
    """
    key = "-".join([candidate.key, *(f"{value:.12g}" for value in candidate.settings().values())])
    return key, sentence("offer", given=given, law=candidate)


def matrix_notes(given: GivenMatrix, candidate: Synthesizer) -> list[str]:
    """What the given digits leave open, and what the exact values change where those of `candidate` are shown.

    Parameters
    ----------
    given : GivenMatrix
    candidate : Synthesizer
    """
    return sentences("matrix_notes", given=given, law=candidate, sums=sums_sentence(given))
