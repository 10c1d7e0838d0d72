"""Files that are opened again: every kind is read, a hostile one is refused in a sentence, and numbers are compared."""

import json
import resource
import time
from typing import Any

import pytest

from dpviz.export.stored import MAX_CHARACTERS, compare_numbers, json_number, read_stored

CONTENT = {"n": 3, "name": "</pre>"}
NOTEBOOK: dict[str, Any] = {"cells": [], "metadata": {"dpviz": CONTENT}}


@pytest.mark.parametrize("text", [
    json.dumps(CONTENT),
    "\ufeff \n" + json.dumps(CONTENT),
    'n = 3\nname = "</pre>"',
    json.dumps(NOTEBOOK),
    '<html><pre>code</pre><pre>{"n": 3, "name": "&lt;/pre&gt;"}</pre></html>',
], ids=["json", "with a mark", "toml", "notebook", "report"])  # fmt: skip
def test_every_kind_of_file_is_read(text: str) -> None:
    assert read_stored(text) == CONTENT


HOSTILE = {
    "no text": 3, "long": "a" * (MAX_CHARACTERS + 1), "no file": "\x00", "a list": "[]", "deep lists": "[" * 5_000,
    "deep lists in TOML": f"x = {'[' * 5_000}", "deep objects": '{"a":' * 5_000,
    "a key of 30,000 parts": ".".join(["a"] * 30_000) + " = 1",
    "a quoted key of 30,000 parts": "[" + ".".join(['"a b"'] * 30_000) + "]",
    "a number of 5,000 digits": '{"n": ' + "9" * 5_000 + "}", "a notebook without content": '{"cells": 3}',
    "a notebook with another content": '{"cells": [], "metadata": {"dpviz": 4}}',
    "a report with another content": "<pre>[1, 2]</pre>",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_in_a_sentence_at_once(name: str) -> None:
    start, memory = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match=r"(?s)^The file must be .*; got .*\.$") as refusal:
        read_stored(HOSTILE[name])
    assert len(str(refusal.value)) < 200
    assert time.process_time() - start < 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 50_000  # kB


def test_words_without_a_dot_are_looked_at_once() -> None:
    start = time.process_time()
    for text in ("a" * 199_000, '"' * 199_000, "a" + " " * 190_000, "'a b' " * 30_000):
        with pytest.raises(ValueError):
            read_stored(text)
    assert time.process_time() - start < 4


def test_numbers_agree_to_the_ninth_digit_and_in_kind() -> None:
    current: list[dict[str, object]] = [
        {"name": "ε", "value": 2.0},
        {"part": "Accuracy", "label": "bias", "symbol": "b", "value": 0.5, "error": 0.1},
    ]
    bias = {"part": "Accuracy", "label": "bias", "symbol": "b", "value": 0.5 * (1 + 1e-10), "error": 0.1}
    assert compare_numbers([{"name": "ε", "value": 2}, bias], current) == []
    for value, text in ((2 * (1 + 1e-8), "2.00000002"), (True, "True"), (None, "not known"), ("infinite", "infinite"),
                        (10**400, "a number above 10³⁰⁸")):  # fmt: skip
        ((name, stored, ours),) = compare_numbers([{"name": "ε", "value": value}, bias], current)
        assert (name, ours) == ("ε", "2")
        assert stored.startswith(text)
    assert compare_numbers([bias | {"error": 0.2}, {"name": "n", "value": 3}], current) == [
        ("ε", "not there", "2"),
        ("Accuracy bias b, standard error", "0.2", "0.1"),
        ("n", "3", "not there"),
    ]


@pytest.mark.parametrize("stored", [None, 3, "x", {}, [5, {"name": ["x"], "value": {}}, {"value": [[]]}]])
def test_numbers_of_any_shape_are_compared(stored: object) -> None:
    names = [name for name, *_ in compare_numbers(stored, [{"name": "ε", "value": 2.0}])]
    assert names[0] == "ε"


def test_numbers_that_json_does_not_have_are_words_and_no_zero_has_a_sign() -> None:
    numbers = [json_number(value) for value in (1.5, float("inf"), float("-inf"), float("nan"))]
    assert numbers == [1.5, "infinite", "minus infinity", None]
    assert str(json_number(-0.0)) == "0.0"
