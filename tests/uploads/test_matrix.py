"""Reading a transition matrix from text: what is understood, and what is said of what is not."""

from __future__ import annotations

import itertools
import math
import re
import string
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.core.limits import MAX_MATRIX_BYTES, MAX_MATRIX_SIDE
from dpviz.export.tables import release_csv
from dpviz.mechanisms import (
    SYNTHESIZERS,
    BetaBinomial,
    GeometricSanitizer,
    LaplaceSanitizer,
    PosteriorMean,
    Synthesizer,
    TwoCellSynthesizer,
)
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.uploads import read_matrix, recognize
from dpviz.uploads.matrix import rescale_rows
from tests.helpers import printed_figure, printed_values, value_of
from tests.mechanisms.test_contract import instances

TWO_CELLS = [cls for cls in SYNTHESIZERS.values() if issubclass(cls, TwoCellSynthesizer)]
SQUARE = "0.75,0.25\n0.25,0.75"
QUARTERS = [[0.75, 0.25], [0.25, 0.75]]
FIG_1 = PosteriorMean(n=5, m=5, alpha=0.5, beta=0.5)
SIX_DIGITS = 0.5e-6 + 1e-12
laws = settings(deadline=None, derandomize=True, max_examples=150)


def uniform(rows: int, columns: int) -> str:
    return "\n".join([",".join([repr(1 / columns)] * columns)] * rows)


PROBLEMS: dict[str, tuple[str | bytes, list[str]]] = {
    "empty": ("", ["There is nothing in it"]),
    "only blank lines and remarks": ("\n ,, \n# 0.5,0.5\n", ["There is nothing in it"]),
    "header only": ("n1,n2,m1=0,m1=1\n", ["There is a header line and no row below it"]),
    "one row": ("0.5,0.5", ["There is only one row", "at least two"]),
    "one row below a header": ("m1=0,m1=1\n0.5,0.5", ["There is only one row"]),
    "one column": ("1\n1", ["There is only one column", "at least two", "released table"]),
    "fractions in the first row": ("1/3,2/3\n0.5,0.5", ["Line 1, value 1 is “1/3”", "written with a point"]),
    "per cent in the first row": ("99%,1%\n0.5,0.5\n0.4,0.6", ["Line 1, value 1 is “99%”"]),
    "a power of ten in per cent": ("a,1e-3 %\n0.5,0.5\n0.4,0.6", ["Line 1, value 2 is “1e-3 %”"]),
    "a fraction beside a 1 in the first row": ("1,1/2\n0.5,0.5\n0.4,0.6", ["Line 1, value 2 is “1/2”"]),
    "a sign for a half in the first row": ("½,½\n0.5,0.5\n0.4,0.6", ["Line 1, value 1 is “½”"]),
    "one column of numbers below a header": ("m1\n0.5\n0.5", ["There is only one column"]),
    "one column after the names": ("n,m1=0\nfew,1\nmany,1", ["There is only one column"]),
    "nan in the first row": ("nan,1\n0,1", ["Line 1, value 1 is not finite: nan", "from 0 to 1"]),
    "nan for a name": ("nan,0.5,0.5\n1,0.5,0.5", ["Line 1, value 1 is not finite: nan"]),
    "infinite in a header": ("0,Infinity\n0.5,0.5\n0.5,0.5", ["Line 1, value 2 is not finite: Infinity"]),
    "a row too short": ("0.5,0.5\n1\n0.5,0.5", ["Line 2 has 1 values, line 1 has 2"]),
    "a row too long": ("a,b\n0.5,0.5\n0.5,0.25,0.25", ["Line 3 has 3 values, line 2 has 2"]),
    "a row that does not sum to 1": ("0.5,0.5\n\n0.5,0.4", ["Line 3 sums to 0.9, not to 1", "all tables that can"]),
    "negative": ("1.5,-0.5\n0.5,0.5", ["Line 1, value 2 is negative: -0.5", "from 0 to 1"]),
    "a word": ("0.5,0.5\n0.5,half", ["Line 2, value 2 is “half”", "with a point"]),
    "a long word": ("0.5,0.5\n0.5," + "x" * 99, [f"is “{'x' * 30} …”"]),
    "a number of Python alone": ("0.5,0.5\n0.8,0.2_0", ["Line 2, value 2"]),
    "a gap": ("0.5,0.5\n0.5,\n0.5,0.5", ["Line 2, value 2 is empty"]),
    "nan": ("0.5,0.5\nnan,0.5", ["Line 2, value 1 is not finite: nan"]),
    "infinite": ("0.5,0.5\n0.5,1e999", ["Line 2, value 2 is not finite: inf"]),
    "beyond the largest sum": ("1e308,1e308\n1e308,1e308", ["Line 1 sums to inf"]),
    "percentages": ("75,25\n25,75", ["Line 1 sums to 100", "percentages: divide by 100"]),
    "counts": ("3,1,4\n1,5,9", ["Line 1 sums to 8", "counts: divide each row by its sum"]),
    "three decimals":
        ("0.333,0.333,0.333\n0.5,0.25,0.25", ["Line 1 sums to 0.999", "rounded to 3 decimals: give more"]),
    "two decimals": ("0.33,0.33,0.33\n0.5,0.25,0.25", ["Line 1 sums to 0.99,", "rounded to 2 decimals: give more"]),
    "rows and columns exchanged": ("0.75,0.5\n0.25,0.5", ["Line 1 sums to 1.25", "exchange rows and columns"]),
    "words in the columns of counts": ("n1,n2,a,b\n0,1,0.5,x\n1,0,0.5,0.5", ["Line 2, value 4 is “x”"]),
    "names alone": ("n\nfirst\nsecond", ["Line 2, value 1 is “first”"]),
    "decimal commas between commas": ("0,5,0,5\n0,5,0,5", ["Line 1 sums to 10"]),
    "a workbook": (b"PK\x03\x04 and so on", ["not a text file in UTF-8", "as CSV"]),
    "a picture": (b"\x89PNG\r\n\x1a\n and so on", ["not a text file in UTF-8", "as CSV"]),
    "bytes of no text": (b"\x81\x8d,b\n0.5,0.5\n0.5,0.5", ["not a text file in UTF-8"]),
    "UTF-16 without its mark": (SQUARE.encode("utf-16-le"), ["Line 1 holds a character", "code is 0", "UTF-8"]),
    "too many bytes": (b"0" * (MAX_MATRIX_BYTES + 1), ["The file has 32.1 MB; at most 32 MB"]),
    "too many rows": (uniform(MAX_MATRIX_SIDE + 1, 2), ["1,001 rows and 2 columns", "at most 1,000 × 1,000"]),
    "too many columns": (uniform(2, MAX_MATRIX_SIDE + 3), ["2 rows and 1,003 columns", "at most 1,000 × 1,000"]),
    "an open quotation mark": ('"0.5,0.5\n0.5,0.5', ["Line 1"]),
    "a value without end": ("a,b\n0.5,0.5\n0.5," + "x" * 140_000, ["Line 3"]),
    "a number without end": ("0.5,0.5\n0.5," + "1" * 5000, ["Line 2, value 2 is not finite"]),
    "null characters": ("0.5,0.5\n0.5,\x00", ["Line 2 holds a character that no text has (its code is 0)"]),
}  # fmt: skip


@pytest.mark.parametrize(("content", "words"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_what_is_no_matrix_is_refused_in_a_sentence_that_says_where(content: str | bytes, words: list[str]) -> None:
    with pytest.raises(ValueError) as refusal:
        read_matrix(content)
    sentence = str(refusal.value)
    assert all(word in sentence for word in words), sentence
    assert sentence.endswith(".")
    assert len(sentence) < 400


def identity(side: int, zeros: int) -> str:
    """The identity, whose first cell has so many zeros behind its point."""
    rows = [["1" if row == column else "0" for column in range(side)] for row in range(side)]
    rows[0][0] = "1." + "0" * zeros
    return "\n".join(map(",".join, rows))


@pytest.mark.parametrize(("content", "words"), [
    (lambda: identity(100, 30_000), "Line 1, value 1 has more than 10,000 characters"),
    (lambda: identity(300, 120_000), "Line 1, value 1 has more than 10,000 characters"),
    (lambda: 'a\n"' + "x" * 9_000_000, "Line 2, value 1 has more than 10,000 characters"),
    (lambda: "1" * 32_000_000, "Line 1, value 1 has more than 10,000 characters"),
    (lambda: "1\n" * 9_000, "more than 1,000 rows; at most 1,000 × 1,000"),
    (lambda: "1\n" * 16_000_000, "more than 10,000 lines, and at most 1,000 rows"),
    (lambda: "1," * 16_000_000, "Line 1 has more than 2,004 values"),
    (lambda: "1 " * 16_000_000, "Line 1 has more than 2,004 values"),
    (lambda: "\n" * 32_000_000, "more than 10,000 lines, and at most 1,000 rows"),
    (lambda: "#\n" * 16_000_000, "more than 10,000 lines, and at most 1,000 rows"),
], ids=range(10))  # fmt: skip
def test_what_is_too_large_is_refused_while_it_is_read(content: Callable[[], str], words: str) -> None:
    """What is read of a text takes no more memory than two copies."""
    text = content()
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=re.escape(words)):
            read_matrix(text)
        assert tracemalloc.get_traced_memory()[1] < 2 * len(text) + 3_000_000
    finally:
        tracemalloc.stop()


def test_one_long_cell_makes_no_other_wide() -> None:
    """As an array of texts each of the 10,000 cells would take the 40 kB of the longest: 400 MB."""
    text = identity(100, 9_990)
    tracemalloc.start()
    try:
        assert np.array_equal(read_matrix(text).probabilities, np.eye(100))
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


TEXTS = st.text(alphabet=string.digits + ".,;\t\n\r \"'#-+eEnai−m=²٣\x00\x0b\u2028", max_size=80)


@laws
@given(TEXTS, st.binary(max_size=60))
def test_every_file_is_a_matrix_or_a_problem(text: str, content: bytes) -> None:
    for file in (text, text.encode(), content):
        try:
            matrix = read_matrix(file).probabilities
        except ValueError as problem:
            assert str(problem).endswith(".")
        else:
            assert np.abs(matrix.sum(axis=1) - 1).max() <= 1e-4


@pytest.mark.parametrize("text", [
    SQUARE,
    SQUARE.replace(",", ";"),
    SQUARE.replace(",", "\t"),
    SQUARE.replace(",", "  "),
    SQUARE.replace(",", ";").replace(".", ","),
    SQUARE.replace(",", "\t").replace(".", ","),
    SQUARE.replace("\n", "\r\n"),
    SQUARE.replace("\n", "\n\n# a remark\n,\n"),
    SQUARE.replace("\n", ",\n") + ",",
    SQUARE.replace("0.", "."),
    SQUARE.replace("0.75", '"0.75"') + " ",
    "\ufeff" + SQUARE,
    "a,b\n" + SQUARE,
    "a," + "1" * 5000 + "\n" + SQUARE,
    "n1,n2,m1=0,m1=1\n0,1,0.75,0.25\n1,0,0.25,0.75",
    "n1,m1=0,m1=1\n0,0.75,0.25\n1,0.25,0.75",
    ",0,1\n0,0.75,0.25\n1,0.25,0.75",
    "0,1,2\n0,0.75,0.25\n1,0.25,0.75",
    "few,0.75,0.25\nmany,0.25,0.75",
    "n1,0,1\n0,0.75,0.25\n1,0.25,0.75",
    "n1,0,1\nfew,0.75,0.25\nmany,0.25,0.75",
    "ones,0,1\n0,0.75,0.25\n1,0.25,0.75",
    "ones;1;0\n1;0,75;0,25\n0;0,25;0,75",
    "n1,n2,0,1\n0,1,0.75,0.25\n1,0,0.25,0.75",
    "ones,zeros,1,0\n0,1,0.75,0.25\n1,0,0.25,0.75",
    "row,few or none,many\nfew,0.75,0.25\nmany,0.25,0.75",
    '"few; or none";0,75;0,25\n"many";0,25;0,75',
])  # fmt: skip
def test_separators_headers_and_labels_are_understood(text: str) -> None:
    for content in (text, text.encode()):
        assert read_matrix(content).probabilities.tolist() == QUARTERS


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_a_byte_order_mark_and_a_western_encoding_are_understood(encoding: str) -> None:
    assert read_matrix(f"Größe,b\n{SQUARE}".encode(encoding)).probabilities.tolist() == QUARTERS


def test_a_first_row_of_numbers_that_sums_to_1_is_a_row() -> None:
    assert read_matrix(f"1,0e{'9' * 5000}\n0.5,0.5").probabilities.tolist() == [[1, 0], [0.5, 0.5]]
    assert read_matrix("0,1\n1,0").probabilities.tolist() == [[0, 1], [1, 0]]
    assert read_matrix("a,1,0\nb,0.5,0.5").probabilities.tolist() == [[1, 0], [0.5, 0.5]]
    assert read_matrix("n,0,0,1\nm,0,0.5,0.5").probabilities.tolist() == [[0, 0, 1], [0, 0.5, 0.5]]


@pytest.mark.parametrize(("text", "decimals"), [
    ("0.5,0.5\n0.25,0.75", [[1, 1], [2, 2]]),
    ("0.9999,1e-4\n0.5,0.5", [[4, 4], [1, 1]]),
    ("0.99,0.0095,5.E-4\n1,0,0", [[2, 4, 4], [4, 4, 4]]),
    ("0.5,0.5\n1e-999999999999999999999,1", [[1, 1], [400, 400]]),
    ("0.50,0.50\n0.25,0.75", 2),
    ("0.5,0.5,0\n0.3,0.6,0.1", 1),
    ("0.333333,0.666667\n0.5,0.5", [[6, 6], [1, 1]]),
    ("1,0\n0,1", None),
    ("5e-1,0.5\n0.5,0.5", 1),
    ("0.3333333333333333,0.6666666666666667\n0.5,0.5", None),
])  # fmt: skip
def test_the_printed_decimals_are_counted(text: str, decimals: int | list[list[int]] | None) -> None:
    found = read_matrix(text).decimals
    assert (found.tolist() if isinstance(found, np.ndarray) else found) == decimals


def test_a_zero_beside_a_positive_number_makes_epsilon_infinite_and_is_named() -> None:
    release = read_matrix("0.5,0.5,0\n0.25,0.5,0.25\n0,0.5,0.5")
    worst = release.worst_log_odds()
    assert math.isinf(worst.value)
    assert (release.row_table(worst.likelier), release.row_table(worst.unlikelier)) == ((1, 1), (0, 2))
    assert release.column_table(worst.column or 0) == (2, 0)
    assert release.zeros == [(0, 2), (2, 0)]


def test_a_zero_in_both_rows_decides_nothing() -> None:
    release = read_matrix("0.5,0.5,0\n0.25,0.75,0")
    assert release.zeros == []
    assert release.worst_log_odds().value == pytest.approx(math.log(2))


def test_a_matrix_is_one_key_with_the_same_numbers_and_decimals_alone() -> None:
    """Neither how it prints nor its hash tells a number."""
    numbers = np.array([[0.5, 0.5], [0.25, 0.75]])
    given_one = GivenMatrix(probabilities=numbers)
    others = [
        GivenMatrix(probabilities=np.nextafter(numbers, 0.0)),
        *(GivenMatrix(probabilities=numbers, decimals=k) for k in (2, 3)),
    ]
    again = GivenMatrix(probabilities=numbers.tolist())
    assert (again, hash(again), repr(again)) == (given_one, hash(given_one), repr(given_one))
    assert len({given_one, *others}) == len(set(map(repr, [given_one, *others]))) == 4
    assert not [release for release in (given_one, *others) if "0.25" in repr(release)]


def test_the_largest_matrix_is_read() -> None:
    assert read_matrix(uniform(MAX_MATRIX_SIDE, MAX_MATRIX_SIDE)).shape == (MAX_MATRIX_SIDE, MAX_MATRIX_SIDE)


@pytest.mark.parametrize("content", [printed_figure(1), printed_figure(1).encode()])
def test_figure_1_is_recognised_and_gives_figure_2(content: str | bytes) -> None:
    release = read_matrix(content)
    recognition = recognize(release)
    assert recognition == FIG_1
    printed = printed_values(2)
    assert np.abs(np.abs(FIG_1.log_odds_table()) - printed).max() <= SIX_DIGITS
    assert np.abs(np.abs(release.log_odds_table()) - printed).max() > 0.005


def test_figure_2_lies_within_what_the_digits_of_figure_1_leave_open() -> None:
    release = read_matrix(printed_figure(1))
    least, most = release.log_odds_bounds()
    signed = printed_values(2) * np.sign(FIG_1.log_odds_table())
    assert np.all(least - SIX_DIGITS <= signed)
    assert np.all(signed <= most + SIX_DIGITS)
    assert np.all((least <= release.log_odds_table()) & (release.log_odds_table() <= most))


@pytest.mark.parametrize("law", [
    FIG_1, BetaBinomial(n=5, m=5, alpha=0.5, beta=0.5), BetaBinomial(n=4, m=7, alpha=2.5, beta=1),
    PosteriorMean(n=6, m=3, alpha=1, beta=3), LaplaceSanitizer(n=5, epsilon=2),
    GeometricSanitizer(n=8, epsilon=0.75),
], ids=repr)  # fmt: skip
@pytest.mark.parametrize("decimals", [6, None])
def test_a_printed_law_is_recognised_with_its_parameters(law: Synthesizer, decimals: int | None) -> None:
    matrix = law.transition_matrix()
    given_one = GivenMatrix(probabilities=matrix if decimals is None else matrix.round(decimals), decimals=decimals)
    recognition = recognize(given_one)
    assert recognition == law


@pytest.mark.parametrize("decimals", [1, 2, 3, 6, None])
@pytest.mark.parametrize("law", [
    *(BetaBinomial(n=n, m=m, alpha=1, beta=1) for n, m in [(1, 1), (1, 2), (2, 1)]), LaplaceSanitizer(n=1, epsilon=2),
], ids=repr)  # fmt: skip
def test_hardly_more_numbers_than_parameters_are_evidence_of_no_law(law: Synthesizer, decimals: int | None) -> None:
    """A Beta-binomial with two free parameters can be fitted to any increasing 2 × 2 table."""
    matrix = law.transition_matrix() if decimals is None else law.transition_matrix().round(decimals)
    assert recognize(GivenMatrix(probabilities=matrix, decimals=decimals)) is None


def test_one_wrong_digit_is_no_recognition() -> None:
    """Whatever entry is moved by one unit of its own last digit, in the row sums' favour or not."""
    matrix = printed_values(1)
    assert recognize(GivenMatrix(probabilities=matrix, decimals=6)) is not None
    for row, column in np.ndindex(matrix.shape):
        moved = matrix.copy()
        moved[row, column] += 1e-6
        assert recognize(GivenMatrix(probabilities=moved, decimals=6)) is None


def test_every_digit_counts_at_its_own_place() -> None:
    """Five significant digits: a small entry that is wrong in its fifth digit is wrong by less than 1e-9."""
    text = "\n".join(",".join(f"{value:.5g}" for value in row) for row in FIG_1.transition_matrix())
    recognition = recognize(read_matrix(text))
    assert recognition == FIG_1
    assert "4.0188e-06" in text
    assert recognize(read_matrix(text.replace("4.0188e-06", "4.0190e-06"))) is None


def test_a_small_entry_in_full_precision_counts_as_much_as_a_large_one() -> None:
    matrix = PosteriorMean(n=20, m=20, alpha=0.5, beta=0.5).transition_matrix()
    assert recognize(GivenMatrix(probabilities=matrix)) is not None
    matrix[0, -1] *= 1.5
    assert recognize(GivenMatrix(probabilities=matrix)) is None


def test_a_matrix_of_no_known_law_is_not_recognised() -> None:
    for text in ("0.9,0.1\n0.3,0.7\n0.2,0.8", "0,1\n1,0", "0.5,0.5,0\n0.25,0.5,0.25", "0.5,0.5\n0.5,0.5"):
        assert recognize(read_matrix(text)) is None


@pytest.mark.parametrize("cls", TWO_CELLS, ids=lambda cls: cls.key)
@settings(deadline=None, derandomize=True, max_examples=30)
@given(data=st.data())
def test_a_written_matrix_is_read_back(cls: type[Synthesizer], data: st.DataObject) -> None:
    law = data.draw(instances(cls))
    release = read_matrix(release_csv(law))
    np.testing.assert_allclose(release.probabilities, law.transition_matrix(), rtol=1e-12)
    assert (release.n, release.m) == (law.n, law.m)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("decimals", "places"), [(1, "1 decimal"), (2, "2 decimals"), (np.array([[1, 1], [2, 2]]), "their own last digits")]
)
def test_the_epsilon_before_rounding_lies_where_every_corner_of_the_roundings_puts_it(decimals, places):
    printed = GivenMatrix(probabilities=[[0.5, 0.5], [0.3, 0.7]], decimals=decimals)
    half = np.broadcast_to(0.5 * 10.0 ** -np.asarray(decimals, dtype=float), (2, 2))
    losses = []
    for signs in itertools.product((-1, 1), repeat=4):
        first, second = printed.probabilities + half * np.reshape(signs, (2, 2))
        losses.append(np.abs(np.log(first / second)).max())
    exact, low, high = (value_of(one) for one in re.findall(r"(?:ε = |between |and )([\d.]+\d)", printed.rounding))
    assert (exact, low, high) == pytest.approx((math.log(5 / 3), min(losses), max(losses)), rel=1e-6)
    assert f"rounded to {places}, the ε before" in printed.rounding


def test_a_printed_0_leaves_epsilon_open_and_exact_numbers_leave_nothing_open() -> None:
    numbers = [[0.5, 0.5, 0.0], [0.2, 0.4, 0.4]]
    assert "and ∞, as a printed 0 may stand" in GivenMatrix(probabilities=numbers, decimals=1).rounding
    assert GivenMatrix(probabilities=numbers).rounding == "Your numbers are used exactly as given."


def test_a_digit_below_all_floats_leaves_nothing_open_where_no_table_is_released() -> None:
    release = read_matrix("0.5,0.5,0\n0.25,0.75,1e-400")
    assert "lies between 0.567984 and 0.8086601" in release.rounding


def test_only_what_can_be_read_is_offered() -> None:
    assert rescale_rows("0.5,0.51") is None
    assert rescale_rows("1.01\n1") is None
