"""The frozen record: read as it was written, compared within its tolerance, and a sample of it computed anew."""

import math
from pathlib import Path

import pytest

from tests.frozen.__main__ import RECORD, compare
from tests.frozen.answers import answer_keys
from tests.frozen.record import Difference, differences, read_record, write_record
from tests.frozen.visits import figure_text, html_text

SAMPLE = (
    "compute/release synthesizer=beta_binomial n=7", "compute/minimum_prior method=synth_map n=9",
    "compute/interval synthesizer=modips", "compute/design_question 13", "page/?class=1",
    "page/transition_matrices?tm_n=30",
)  # fmt: skip
ANSWERS = {
    "compute/sample": {"value": 0.1, "none": None, "list": [1, math.inf, True], "text": "Two lines of text.\n1.5"},
    "files/a.csv": "# a head that says something\n0.12345678901234567,1",
}


def test_a_record_is_read_as_it_was_written_and_has_the_same_bytes(tmp_path: Path) -> None:
    first = tmp_path / "first"
    second = tmp_path / "second"
    write_record(ANSWERS, first)
    write_record(ANSWERS, second)
    assert read_record(first) == ANSWERS
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(("before", "after", "count"), [
    (0.1, 0.1 * (1 + 1e-10), 0),
    (0.1, 0.1 * (1 + 1e-8), 1),
    (1e-20, 2e-20, 1),
    (0.0, 1e-15, 0),
    (0.0, 1e-12, 1),
    (math.nan, math.nan, 0),
    (1, True, 1),
    (None, 0.0, 1),
    ([1.0, 2.0], [1.0, 3.0], 1),
    ([1.0, 2.0], [1.0], 1),
    ({"a": 1}, {"b": 1}, 2),
    ("ε = 1 is kept.", "ε = 1 is kept!", 1),
    ("the value 0.12", "the value 0.13", 1),
    ("0.12345678901234567,1", "0.12345678901234568,1", 0),
    ("0.12345678901234567,1", "0.12345679901234567,1", 1),
    ("one\ntwo\nthree", "one\n2\nthree", 1),
])  # fmt: skip
def test_numbers_are_equal_to_nine_digits_and_texts_to_the_letter(before: object, after: object, count: int) -> None:
    assert len(list(differences(before, after, "key"))) == count


def test_a_difference_has_its_place() -> None:
    nested = list(differences({"a": [1, {"b": 2.0}]}, {"a": [1, {"b": 2.5}]}, "key"))
    assert nested == [Difference("key › a [1] › b", 2.0, 2.5)]
    assert list(differences("one\ntwo", "one\n2", "key")) == [Difference("key line 2", "two", "2")]


def test_a_table_is_read_row_by_row_with_its_accessible_names() -> None:
    table = '<table title="Sums"><tr><th>p</th><td>1&nbsp;%</td></tr><tr><td>2</td></tr></table>'
    assert html_text(table).split("\n")[:2] == ["{Sums} p | 1 % |", "2 |"]


def test_a_picture_is_read_as_its_name_its_sums_and_its_words() -> None:
    layout = b'{"annotations": [{"text": "half<br>of all"}]}'
    trace = b'{"name": "exact", "x": [1, 2], "y": {"dtype": "f8", "bdata": "AAAAAAAA8L8AAAAAAAAAQA=="}}'
    data = b'{"alt": "A line.", "figure": {"data": [' + trace + b'], "layout": ' + layout + b"}}"
    words = "trace scatter exact x: 2 points, 3.0, 3.0, y: 2 points, 1.0, 3.0"
    assert figure_text(data).split("\n") == ["picture A line.", words, "half", "of all"]


def test_a_sample_of_the_answers_equals_the_record(capsys: pytest.CaptureFixture[str]) -> None:
    record = read_record(RECORD)
    assert [key for key in answer_keys() if key not in record] == []
    assert compare(record, SAMPLE, verbose=False) == 0, capsys.readouterr().out


def test_every_answer_that_differs_from_the_record_is_counted() -> None:
    changed = {key: [answer, "more"] for key, answer in read_record(RECORD).items()}
    assert compare(changed, SAMPLE[1:2], verbose=False) == 4
