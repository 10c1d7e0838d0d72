"""Pilot data: which files are read, what their columns say, and that no cell leaks into a sentence or a log."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import string
import tracemalloc

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.core import limits
from dpviz.core.limits import MAX_CELLS, MAX_PILOT_BYTES, MAX_PILOT_COLUMNS
from dpviz.uploads.columns import Column, Facts, PilotFile, _round_bounds, read_columns, warning

laws = settings(deadline=None, derandomize=True, max_examples=150)
SMALL = "age,smoker,place\n17,no,north\n41,yes,south\n64,no,west\n30,no,south\n"
READINGS = ("proportion", "numbers")


def column(*cells: str, name: str = "x") -> Column:
    """The only column of a file with these cells."""
    return read_columns("\n".join([name, *(f'"{cell}"' for cell in cells)])).column(name)


FILES: dict[str, tuple[str | bytes, list[str]]] = {
    "empty": ("", ["There is nothing in it", "names of the columns in the first line"]),
    "blank": (b"\n  \n,,\n", ["There is nothing in it"]),
    "a header alone": ("age,smoker\n\n", ["a header line and no row below it", "a line for each person"]),
    "a workbook": (b"PK\x03\x04\x14\x00", ["this is not a text file in UTF-8", "CSV (UTF-8)"]),
    "an old workbook": (b"\xd0\xcf\x11\xe0\xa1\xb1", ["this is not a text file in UTF-8", "CSV (UTF-8)"]),
    "a picture": (b"\x89PNG\r\n\x1a\n", ["this is not a text file in UTF-8"]),
    "null bytes": (b"age\n17\n\x00\x01", ["Line 3 holds a character that no text has", "code is 0", "CSV (UTF-8)"]),
    "UTF-16 without its mark": (SMALL.encode("utf-16-le"), ["Line 1 holds a character", "UTF-8"]),
    "bytes of no encoding": (b"age\n\x81\x8d", ["not a text file in UTF-8", "CSV (UTF-8)"]),
    "half of UTF-16": (SMALL.encode("utf-16")[:-1], ["Line 1 holds a character"]),
    "too many bytes":
        (b"0" * (MAX_PILOT_BYTES + 1), ["The file has 10.1 MB; at most 10 MB", "the columns that you need"]),
    "too many columns": (
        ",".join(f"c{place}" for place in range(MAX_PILOT_COLUMNS + 1)) + "\n" + "," * MAX_PILOT_COLUMNS,
        ["1,001 columns; at most 1,000", "the columns that you need"],
    ),
    "a line too short":
        ("age,smoker\n17,no\n41", ["line 1 names 2 columns, line 3 has 1 value.", "a comma in quotation"]),
    "a line too long":
        ("age;smoker\n\n17;no;1", ["line 1 names 2 columns, line 3 has 3 values.", "a semicolon in quotation marks"]),
    "decimal commas between commas": ("age,income\n17,2,5\n", ["line 2 has 3 values", "in quotation marks"]),
    "a quotation mark that never closes": ('age,place\n17,"north\n41,south\n', ["Line 2 holds a quotation mark"]),
    "a quotation mark inside": ('age,place\n17,"no"rth\n', ["Line 2 holds a quotation mark", "double those"]),
    "a value without end": ("place\n" + "n" * 140_000, ["Line 2 holds", "over 131,072 characters"]),
    "one name twice, and no other": ("age,age\n17,18", ["No column has a name of its own"]),
    "a formula for a name": ("age,=1+1\n17,north", ["The name of column 2 begins with “=”", "never evaluated"]),
}  # fmt: skip
COLUMNS: dict[str, tuple[list[str], str, list[str]]] = {
    "nothing in it": (["", "NA"], "numbers", ["“x” holds no value", "all of its 2 cells are missing"]),
    "nothing to count": (["", "NA"], "proportion", ["“x” holds no value"]),
    "a word": (
        ["1", "", "secret"],
        "numbers",
        ["“x” in line 4 is no number", "from −10¹⁰⁰ to 10¹⁰⁰", "the same decimal mark"],
    ),
    "wrongly separated": (["1", "1,23,4"], "numbers", ["line 3 is no number", "the same decimal mark"]),
    "infinite": (["1", "-Infinity"], "numbers", ["line 3 is infinite", "from −10¹⁰⁰"]),
    "beyond the floats": (["1", "1e999"], "numbers", ["line 3 is too large", "from −10¹⁰⁰"]),
    "beyond what is read": (["1", "-2e100"], "numbers", ["line 3 is too large", "from −10¹⁰⁰"]),
    "a formula": (["1", "=SUM(A1)"], "numbers", ["line 3 begins with “=”", "no formula is evaluated", "a number from"]),
    "a formula among words": (["a", "@me", "b"], "proportion", ["line 3 begins with “@”", "no formula is evaluated"]),
    "a formula of two": (["a", "-b"], "proportion", ["line 3 begins with “-”", "a letter before a text"]),
    "a single number": (["7"], "numbers", ["a single number", "at least two"]),
    "one value for all": (["no", "no"], "proportion", ["a single distinct value", "2 to 1,000"]),
    "too many categories":
        ([str(n) for n in range(MAX_CELLS + 1)], "proportion", ["1,001 distinct values", "2 to 1,000"]),
    "no choice among three": (["a", "b", "c"], "proportion", ["3 distinct values", "say which of them"]),
}  # fmt: skip


@pytest.mark.parametrize(("content", "words"), FILES.values(), ids=FILES.keys())
def test_a_file_that_is_no_table_is_refused_in_a_sentence_that_says_where(content, words):
    with pytest.raises(ValueError) as refusal:
        read_columns(content)
    sentence = str(refusal.value)
    assert all(word in sentence for word in words), sentence
    assert sentence.endswith(".") and len(sentence) < 400


@pytest.mark.parametrize(("cells", "reading", "words"), COLUMNS.values(), ids=COLUMNS.keys())
def test_a_column_that_cannot_be_read_so_says_where_and_what_is_allowed(cells, reading, words):
    with pytest.raises(ValueError) as refusal:
        getattr(column(*cells), reading)()
    sentence = str(refusal.value)
    assert all(word in sentence for word in words), sentence
    assert sentence.endswith(".")
    assert "secret" not in sentence and "SUM" not in sentence and "1,23" not in sentence


@pytest.mark.parametrize(("text", "words"), [
    ("1," * 4_999_999, "There are 5,000,000 columns; at most 1,000 are read"),
    ("a\n" + "1\n" * 1_000_000, "more than 1,000 rows; at most 1,000 are read"),
    ("a\n" + "\n" * 1_000_000 + "1", "more than 1,000 rows; at most 1,000 are read"),
    ("a\n" + "1\n" * 1_001, "more than 1,000 rows; at most 1,000 are read"),
], ids=range(4))  # fmt: skip
def test_what_is_too_large_is_refused_before_it_is_split(text, words, monkeypatch):
    """What the csv module takes is a copy of the text, in four bytes a letter."""
    monkeypatch.setattr(limits, "MAX_PILOT_ROWS", 1_000)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=words):
            read_columns(text)
        assert tracemalloc.get_traced_memory()[1] < 5 * len(text) + 1_000_000
    finally:
        tracemalloc.stop()
    assert read_columns("a\n" + "1\n" * 1_000 + "\n").column("a").n == 1_000


def ask(content: str | bytes) -> None:
    """Ask a file everything that can be asked: each answer is a result or a ValueError, whose sentence ends."""
    try:
        file = read_columns(content)
    except ValueError as problem:
        assert str(problem).endswith(".")
        return
    for column in map(file.column, file.names):
        assert column.n + column.missing == len(file.lines)
        for reading, fits in zip(READINGS, (column.is_two_valued, not column.number_problem), strict=True):
            try:
                facts = getattr(column, reading)()
            except ValueError as problem:
                assert str(problem).endswith(".") and not fits
            else:
                assert fits and facts.n + facts.missing == len(file.lines)
                assert warning(facts).endswith(".")
        assert all(note.endswith(".") for note in (*column.notes, *file.notes))


TEXTS = st.text(alphabet=string.digits + ".,;\t\n\r \"'#-+=@eEnaiyx−٣\x00\x0b\u2028é", max_size=80)


@laws
@given(TEXTS, st.binary(max_size=60))
def test_every_file_is_answered(text: str, content: bytes) -> None:
    for file in (text, "x\n" + text, text.encode(), content, b"x;y\n" + content):
        ask(file)


@laws
@given(
    st.lists(st.lists(st.text(alphabet='abc ,;\t"\n1é', max_size=5), min_size=2, max_size=2), min_size=1, max_size=6),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_what_is_written_as_csv_is_read_back(rows: list[list[str]], separator: str, encoding: str) -> None:
    out = io.StringIO()
    csv.writer(out, delimiter=separator, quoting=csv.QUOTE_ALL).writerows([["left", "right"], *rows])
    file = read_columns(out.getvalue().encode(encoding))
    assert file.names == ("left", "right")
    assert [list(row) for row in zip(*file.cells.values(), strict=True)] == [
        [cell.strip() for cell in row] for row in rows
    ]


@pytest.mark.parametrize("text", [
    SMALL, SMALL.replace(",", ";"), SMALL.replace(",", "\t"), SMALL.replace("\n", "\r\n"),
    SMALL.replace("\n", "\r"), SMALL.replace("\n", "\n\n"), "\n\n" + SMALL + "\n\n",
    SMALL.replace("south", '"south"').replace(",", ", "),
])  # fmt: skip
@pytest.mark.parametrize("encoding", [None, "utf-8", "utf-8-sig", "utf-16"])
def test_separators_line_ends_and_encodings_are_understood(text: str, encoding: str | None) -> None:
    file = read_columns(text if encoding is None else text.encode(encoding))
    assert file.names == ("age", "smoker", "place")
    assert file.cells == read_columns(SMALL).cells
    assert not file.notes


def test_another_encoding_of_western_europe_is_read_and_said() -> None:
    file = read_columns("Größe\nhoch\ntief\n".encode("cp1252"))
    assert file.names == ("Größe",)
    (note,) = file.notes
    assert "not in UTF-8" in note and "Windows-1252" in note and "save it as CSV (UTF-8)" in note


def test_the_line_of_a_problem_is_that_of_the_file() -> None:
    """Blank lines and line ends inside quotation marks count."""
    with pytest.raises(ValueError, match="“b” in line 6 is no number"):
        read_columns('a,b\n\n"one\nand two",1\n\nx,no').column("b").numbers()
    with pytest.raises(ValueError, match="line 5 has 1 value"):
        read_columns('a,b\n"one\nand two",1\n\nx')


def test_missing_values_are_counted_and_said() -> None:
    """Also as other programs write them."""
    absent = ("", "NA", "n/a", "NaN", "null", ".", "-", " ", "<NULL>", "?", "#N/A", "<NA>", "None")
    one = column("1", *absent, "3")
    assert (one.missing, one.n, list(one.counts)) == (13, 2, ["1", "3"])
    (note,) = one.notes
    assert "13 of the 15 cells of “x” hold no value" in note and note.endswith("are left out: n = 2.")
    facts = one.numbers()
    assert (facts.n, facts.missing, facts.mean) == (2, 13, 2.0)
    assert not column("1", "3").notes


def test_a_blank_line_of_a_single_column_is_missing_unless_it_is_at_the_end() -> None:
    assert read_columns("x\n1\n\n3\n\n\n").cells["x"] == ("1", "", "3")


def test_decimal_commas_are_read_where_no_comma_separates_and_said() -> None:
    file = read_columns("price;share\n1,5;0.5\n2,5;1,5\n")
    one, other = map(file.column, file.names)
    assert one.numbers().mean == 2.0
    assert one.notes == ("Commas in “price” are read as decimal commas.",)
    with pytest.raises(ValueError, match="“share” in line 3 is no number"):
        other.numbers()
    assert read_columns("x\n1,5\n2,5").column("x").numbers().mean == 2.0
    assert read_columns('x\n"1,5"\n"2,5"').column("x").numbers().mean == 2.0  # also where commas might separate


@pytest.mark.parametrize(("text", "mean", "words"), [
    ("x\n1.500\n2.300", 1.9, "read as decimal points: 1.500 is 1.5, and may be meant as 1,500"),
    ("x\n1.500\n950", 1225.0, "read as thousands separators: 1.500 is 1,500, and may be meant as 1.5."),
    ("x\n1.500\n1.234.567", 618033.5, "Points in “x” are read as thousands separators."),
    ('x,y\n"1,500",1\n"2,500",2', 2000.0, "Commas in “x” are read as thousands separators: 1,500 is 1,500"),
    ("x;y\n1,500;1\n2,500;2", 2.0, "Commas in “x” are read as decimal commas: 1,500 is 1.5"),
    ("x;y\n1.234,5;1\n0,5;2", 617.5, "Points in “x” are read as thousands separators."),
    ('x\n"1,234.5"\n"0.5"', 617.5, "Commas in “x” are read as thousands separators."),
    ('"x"\n1,5\n2,5', 2.0, "Commas in “x” are read as decimal commas."),
    ("x;y\n23,78 %;1\n5 %;2", 14.39, "Commas in “x” are read as decimal commas."),
    ("x\n0.500\n1.500", 1.0, ""),
    ("x\n1.5\n2.500", 2.0, ""),
    ("x\n1.0000\n2.500", 1.75, ""),
    ("x\n1e3\n2.500", 501.25, "read as decimal points: 1.500 is 1.5"),
])  # fmt: skip
def test_marks_in_numbers_are_read_as_they_are_probably_meant_and_said(text: str, mean: float, words: str) -> None:
    one = read_columns(text).column("x")
    assert one.numbers().mean == pytest.approx(mean, rel=1e-15)
    assert (words in "".join(one.notes)) if words else one.notes == ()
    assert one.is_mark_doubtful == ("may be meant" in "".join(one.notes))


@pytest.mark.parametrize(("text", "names", "first_line", "notes"), [
    ("sep=;\nage;place\n17;a,b\n41;c", ("age", "place"), 3, []),
    (",age,\n1,17,\n2,41,", ("age",), 2, ["column 1 and 3. Write a name above"]),  # as of R, pandas and lines' ends
    ("age,place,age\n17,a,18\n41,b,42", ("place",), 2, ["because several columns have the name: “age”."]),
])  # fmt: skip
def test_the_first_line_may_name_the_separator_and_not_every_column(text, names, first_line, notes):
    found = read_columns(text)
    assert (found.names, found.lines) == (names, [first_line, first_line + 1])
    assert [word in note for word, note in zip(notes, found.notes, strict=True)] == [True] * len(notes)


@pytest.mark.parametrize("text", ["17,0\n41,1", "yes,no\nno,no\nyes,no"])
def test_columns_without_a_header_are_numbered_and_lose_no_row(text: str) -> None:
    found = read_columns(text)
    assert found.names == ("1", "2")
    assert found.column("1").n == len(text.splitlines())
    assert found.lines[0] == 1
    assert "The first line holds values and no names." in found.notes[0]


def test_a_reader_says_whether_the_first_line_names_the_columns() -> None:
    text = "17,north\n41,south"
    assert read_columns(text).names == ("17", "north")
    file = read_columns(text, has_header=False)
    assert file.names == ("1", "2") and not file.has_header
    assert file.cells["2"] == ("north", "south")
    assert read_columns("17\n\n41\n\n", has_header=False).lines == [1, 2, 3]
    assert read_columns("17,1\n\n41,2", has_header=False).lines == [1, 3]
    assert read_columns("yes,no\nno,no\nyes,no", has_header=True).names == ("yes", "no")


def test_an_identifier_is_no_category() -> None:
    once = column(*(f"P{place:03}" for place in range(40)))
    assert once.category_problem
    with pytest.raises(ValueError, match="“x” looks like an identifier: 40 of its 40 values are distinct"):
        once.categories()
    assert column(*(str(10**8 + 7 * place) for place in range(40))).category_problem


def test_a_reader_says_what_marks_mean_where_they_can_be_either() -> None:
    file = read_columns("x\n1.500\n2.300")
    one, other = file.column("x"), file.column("x", decimal=",")
    assert (one.numbers().mean, other.numbers().mean) == (1.9, 1900.0)
    assert "are read as thousands separators: 1.500 is 1,500" in other.notes[0]


def test_words_that_differ_in_capital_letters_alone_are_one_value_and_that_is_said() -> None:
    one = column("Yes", "yes", "YES", "yes", "No", "no")
    assert one.counts == {"No": 2, "yes": 4}
    assert one.is_two_valued and one.default_value == "yes"
    assert one.proportion().share == pytest.approx(4 / 6)
    assert one.notes == (
        "Values of “x” that differ in capital letters alone are counted as one: 5 ways of writing are 2 values.",
    )
    assert column("a", "b").notes == ()


def test_what_counts_as_a_zero_beside_one_other_value_is_told() -> None:
    assert column("yes", "no", "perhaps", "never").proportion("yes").note == "All 3 other values of “x” count as zeros."
    assert column("yes", "no", "perhaps").proportion("yes").note == "Both other values of “x” count as zeros."
    assert column("yes", "no").proportion().note == ""
    assert column("a", "b", "c", "a").categories().categories == 3
    assert "n and the number of categories from the confidential" in warning(column("a", "b", "c").categories())


@pytest.mark.parametrize(
    ("cells", "bounds"), [("1122334455", (1, 5)), ("12233445", (0, 6)), ("1133445555", (0, 6)), ("0011", (0, 1))]
)
def test_a_rating_keeps_the_ends_of_its_scale(cells: str, bounds: tuple[float, float]) -> None:
    """A scale has no gaps, and its ends are the answers of more than one person."""
    facts = column(*cells).numbers()
    assert (facts.low, facts.high) == bounds
    assert facts.rating == (bounds in ((1, 5), (0, 1)))
    assert ("in a rating" in facts.bounds_note) == facts.rating
    assert "still come from the data" in facts.bounds_note


def test_a_column_that_is_not_normal_is_said_to_be_none_with_the_bias_of_its_bounds() -> None:
    """Of 0, 0, 0, 0, 100 the skewness is (1 − 2·0.2)/√(0.2·0.8) = 1.5; the bias is an integral by mpmath."""
    facts = column("0", "0", "0", "0", "100").numbers()
    assert facts.skewness == pytest.approx(1.5, rel=1e-12)
    assert facts.excess == pytest.approx((1 - 6 * 0.16) / 0.16, rel=1e-9)  # of a Bernoulli variable
    mu, sigma = mpmath.mpf(20), mpmath.sqrt(2000)
    below = mpmath.quad(lambda x: -x * mpmath.npdf(x, mu, sigma), [-mpmath.inf, -200, -50, 0])
    above = mpmath.quad(lambda x: (110 - x) * mpmath.npdf(x, mu, sigma), [110, 200, 400, mpmath.inf])
    assert facts.bias == pytest.approx(float(below + above), rel=1e-9)
    assert f"{facts.bias:.3f}" == "9.229"
    assert "the mean of that normal distribution is off by 9.23" in facts.misfit
    random = np.random.default_rng(3)
    incomes = column(*(f"{one:.0f}" for one in np.exp(random.normal(10, 1, 400)))).numbers()
    assert incomes.bias > 1000 and "not: the skewness is" in incomes.misfit
    normal = column(*(f"{one:.3f}" for one in random.normal(50, 5, 400))).numbers()
    assert normal.misfit == ""
    for skew, excess, fits in ((1.0, 3.0, True), (1.001, 3.0, False), (1.0, 3.001, False)):
        assert (dataclasses.replace(normal, skewness=skew, excess=excess).misfit == "") == fits


@pytest.mark.parametrize(("cells", "one"), [
    (["0", "1"], "1"), (["1", "2"], "1"), (["no", "Yes"], "Yes"), (["TRUE", "FALSE"], "TRUE"),
    (["nein", "ja"], "ja"), (["male", "female"], "male"), (["10", "9"], "10"), (["0.0", "1.0"], "1.0"),
])  # fmt: skip
def test_a_one_is_what_says_so_or_else_the_second_in_order(cells: list[str], one: str) -> None:
    found = column(*cells)
    assert found.is_two_valued and found.default_value == one == found.proportion().value


def test_shares_are_those_of_the_values_that_are_there() -> None:
    place = column("north", "south", "", "south", "west", "south")
    shares = [place.proportion(value).share for value in place.counts]
    assert tuple(place.counts) == ("north", "south", "west")
    assert shares == [0.2, 0.6, 0.2]
    assert (place.n, place.missing) == (5, 1)
    with pytest.raises(ValueError, match="value must be one of the 3 values of “x”"):
        place.proportion("east")


def test_one_number_written_in_two_ways_is_one_value() -> None:
    one = column("1", "1.0", "0", "-0", "0e5", "+1")
    assert tuple(one.counts) == ("0", "1") and one.is_two_valued
    assert one.proportion("1").share == 0.5
    assert tuple(column("1", "1.0", "a").counts) == ("1", "1.0", "a")


def test_mean_and_deviation_are_those_of_the_numbers() -> None:
    generator = np.random.default_rng(5)
    numbers = np.round(generator.normal(3, 20, 400), 1)
    facts = column(*map(str, numbers)).numbers()
    assert (facts.n, facts.smallest, facts.largest) == (400, numbers.min(), numbers.max())
    assert facts.mean == pytest.approx(numbers.mean(), rel=1e-13)
    assert facts.standard_deviation == pytest.approx(numbers.std(ddof=1), rel=1e-13)
    assert column("7", "7").numbers().standard_deviation == 0
    assert column("1e100", "-1e100").numbers().standard_deviation == pytest.approx(math.sqrt(2) * 1e100)


@laws
@given(st.lists(st.floats(-1e100, 1e100) | st.integers(-200, 200).map(float), min_size=2, max_size=6))
def test_suggested_bounds_hold_all_numbers_and_are_no_extreme_but_0(numbers: list[float]) -> None:
    """An extreme is the value of a person. A bound of 0 stands for the sign, and does not say whether 0 occurs."""
    facts = column(*map(repr, numbers)).numbers()
    assert facts.low < facts.high
    assert facts.low < facts.smallest or facts.low == 0 <= facts.smallest or facts.rating
    assert facts.largest < facts.high or facts.high == 0 >= facts.largest or facts.rating
    assert f"{facts.step:.0e}"[0] in "125" and facts.step == float(f"{facts.step:.0e}")
    if min(numbers) >= 0:
        assert facts.low >= 0
    if facts.smallest == 0:
        assert facts.low == 0


@laws
@given(st.integers(-(10**6), 10**6), st.integers(1, 10**6), st.integers(-8, 8))
def test_bounds_go_with_the_unit(smallest: int, spread: int, power: int) -> None:
    ends = [float(f"{value}e{power}") for value in (smallest, smallest + spread)]
    expected = [f"{bound:.12g}e{power}" for bound in _round_bounds(smallest, smallest + spread, integers=False)]
    found = _round_bounds(*ends, integers=False)
    assert found == pytest.approx([float(bound) for bound in expected], rel=1e-12)


@laws
@given(st.integers(-(10**6), 10**6), st.integers(0, 10**6))
def test_bounds_of_whole_numbers_are_whole_and_near(smallest: int, spread: int) -> None:
    low, high, step = _round_bounds(smallest, smallest + spread, integers=True)
    assert low == int(low) and high == int(high) and step == int(step)
    assert spread == 0 or step == 1 or spread / 10 <= step <= spread / 4
    assert smallest - step <= low and high <= smallest + spread + step


@pytest.mark.parametrize(("numbers", "bounds"), [
    (("17", "64"), (15, 65)), (("15", "65"), (10, 70)), (("0", "100"), (0, 110)), (("0.4", "97.5"), (0, 100)),
    (("-3", "0"), (-4, 0)), (("0", "0"), (0, 1)), (("5", "5"), (4, 6)), (("2019", "2024"), (2018, 2025)),
    (("1e-300", "2e-300"), (0, 1e-101)),
])  # fmt: skip
def test_suggested_bounds_are_round(numbers: tuple[str, str], bounds: tuple[float, float]) -> None:
    facts = column(*numbers).numbers()
    assert (facts.low, facts.high) == bounds
    assert "multiples of" in facts.bounds_note and "still come from the data" in facts.bounds_note


SECRETS = ("73519", "hidden", "8.0625")


def test_objects_print_as_a_name_and_sizes_and_never_alike() -> None:
    """What is cached by how it prints must not mix two files up; what is logged must not hold an answer."""
    contents = ["age,place,share\n" + "\n".join([",".join(SECRETS), f"{place},b,1.5"]) for place in (1, 2)]
    printed = []
    for content in contents:
        file = read_columns(content)
        columns = [file.column(name) for name in file.names]
        objects: list[PilotFile | Column | Facts] = [file, *columns]
        objects += [column.proportion() for column in columns]
        objects += [file.column(name).numbers() for name in ("age", "share")]
        printed += [f"{one!r} {one}" for one in objects]
        assert [f"{one!r} {one}" for one in objects] == printed[-len(objects) :]
    assert len(set(printed)) == len(printed)
    assert not [text for text in printed for secret in (*SECRETS, "0.5") if secret in text]
    assert printed[1].startswith("Column(object ")


def test_a_file_is_asked_for_its_columns_by_name() -> None:
    file = read_columns(SMALL)
    assert list(file.column("place").counts) == ["north", "south", "west"]
    with pytest.raises(ValueError, match="name must be one of the file's 3 columns; got “income”"):
        file.column("income")


def test_the_warning_names_what_is_taken_and_what_it_costs() -> None:
    file = read_columns(SMALL)
    share, numbers = file.column("smoker").proportion(), file.column("age").numbers()
    assert warning(share) == (
        "You take n and the share of ones from the confidential column “smoker”. This spends privacy that no ε of the "
        "design accounts for: whoever learns what you took, or can tell it from the design, learns something about the "
        "people in the data. Agencies often publish n, but not the share of ones. Where you can, take the share of "
        "ones from an earlier survey or from public knowledge instead."
    )
    bounds = warning(numbers, ("low", "high"))
    assert bounds.startswith("You take the bounds from the confidential column “age”.")
    assert "Agencies" not in bounds and bounds.endswith(
        "take the bounds from an earlier survey or from public knowledge instead."
    )
    assert "Agencies often publish n. Where you can, take n from" in warning(numbers, ["n"])
    for wrong in ([], ["age"], ["n", "share"]):
        with pytest.raises(ValueError, match="names must be some of n, low, high, mean"):
            warning(numbers, wrong)


def test_no_sentence_on_a_column_says_a_number_or_a_value_of_it() -> None:
    for cells in (SECRETS, ("73519", "8.0625"), ("hidden", "73519", "")):
        one = column(*cells)
        said = list(one.notes)
        for reading in READINGS:
            try:
                facts = getattr(one, reading)()
                said += [warning(facts), getattr(facts, "how", "")]
            except ValueError as problem:
                said.append(str(problem))
        assert not [sentence for sentence in said for secret in SECRETS if secret in sentence]


def test_a_text_that_the_curator_names_means_no_value() -> None:
    column = read_columns("x\n17\n99\n-1\n41\n").column("x", missing_text=" 99 ")
    assert (column.n, column.missing, column.numbers().mean) == (3, 1, 19.0)


def test_a_column_that_names_persons_says_how_many_rows_a_person_has() -> None:
    names = [f"P{place:04}" for place in range(2_000)]
    column = read_columns("\n".join(["id", *names, "P0007", "P0007"])).column("id")
    with pytest.raises(ValueError, match="most frequent value stands in 3 rows"):
        column.categories()


def test_a_first_column_may_have_no_name_and_a_name_may_hold_a_line_end() -> None:
    assert read_columns("\n \tage\n0\t17\n1\t41\n").names == ("age",)
    assert read_columns('"a\nb",c\n1,2\n3,4').names == ("a b", "c")
    assert read_columns('4" nails;b, c\n1;"2"\n3;4').names == ('4" nails', "b, c")


def test_long_numbers_that_are_no_floats_stay_apart() -> None:
    ids = [str(10**19 + i) for i in range(40)]
    assert list(column(*ids, f"{10**19}.0").counts) == ids


def test_numbers_that_hardly_differ_have_no_bias() -> None:
    assert column("1e-300", "2e-300").numbers().bias == pytest.approx(0.0)


def test_a_decimal_mark_is_a_point_or_a_comma() -> None:
    with pytest.raises(ValueError, match="decimal must be a point or a comma; got ';'"):
        read_columns(SMALL).column("age", decimal=";")
