"""The record of answers: it is read as it was written, finds what has changed, and its answers are still computed."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.frozen.__main__ import RECORD, compare
from tests.frozen.answers import keys
from tests.frozen.record import differences, read, renamed, write

SAMPLE = (
    "compute/release law=beta_binomial n=7", "compute/prior method=synth_map n=9", "compute/interval law=modips",
    "compute/desk 13", "page/?class=1", "page/transition_matrices?tm_n=30",
)  # fmt: skip
ANSWERS = {
    "compute/one": {
        "value": 0.1,
        "none": None,
        "list": [1, math.inf, True],
        "words": "A text of two lines.\nA number.",
    },
    "files/a.csv": "# a head that says something\n0.12345678901234567,1",
}


def test_a_record_is_read_as_it_was_written_and_has_the_same_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    write(ANSWERS, first)
    write(ANSWERS, second)
    assert read(first) == ANSWERS
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    ("before", "after", "number"),
    [
        (0.1, 0.1 * (1 + 1e-10), 0),
        (0.1, 0.1 * (1 + 1e-8), 1),
        (1e-20, 2e-20, 1),
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
    ],
)
def test_numbers_are_the_same_to_nine_digits_and_texts_to_the_letter(
    before: object, after: object, number: int
) -> None:
    assert len(list(differences(before, after, "key"))) == number


def test_a_difference_says_where_it_is() -> None:
    assert list(differences({"a": [1, {"b": 2.0}]}, {"a": [1, {"b": 2.5}]}, "key")) == [("key › a [1] › b", 2.0, 2.5)]
    assert list(differences("one\ntwo", "one\n2", "key")) == [("key line 2", "two", "2")]


def test_a_new_name_is_no_difference() -> None:
    assert renamed({"old key": ["an old text", 1]}, {"old": "new"}) == {"new key": ["an new text", 1]}


def test_the_answers_of_a_sample_are_those_of_the_record(capsys: pytest.CaptureFixture[str]) -> None:
    before = read(RECORD)
    assert [key for key in keys() if key not in before] == []
    number = compare(before, SAMPLE, told=False)
    assert number == 0, capsys.readouterr().out
    changed = {key: [value, "more"] for key, value in before.items()}
    number = compare(changed, SAMPLE[1:2], told=False)
    assert number == 4
