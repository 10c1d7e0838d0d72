"""Numbers and presets that pages declare in TOML."""

import math
import re

import pytest

from dpviz.core.declarations import DELTA, ROWS
from dpviz.core.limits import MAX_POSTERIOR_ROWS
from pages.ui import declarations
from pages.ui.declarations import declared_numbers, declared_presets


@pytest.fixture
def declare(monkeypatch, tmp_path):
    """Write the declarations of a page."""
    declarations._read.cache_clear()
    monkeypatch.setattr(declarations, "TEXTS", tmp_path)
    yield lambda text: (tmp_path / "example.toml").write_text(text)
    declarations._read.cache_clear()


def test_a_number_has_the_fields_of_its_base_but_those_that_the_page_says_otherwise(declare) -> None:
    declare("""
        [numbers.n]
        base = "core.declarations.ROWS"
        default = 100
        slider_maximum = "core.limits.MAX_POSTERIOR_ROWS"
        [numbers.few]
        base = "n"
        title = "A few people"
        [numbers.theta]
        symbol = "θ"
        title = "Share of the others"
        minimum = 0
        maximum = inf
        default = 0.5
        help = "Said of it."
        [numbers.x]
        base = "OTHER"
    """)
    numbers = declared_numbers("example", {"OTHER": DELTA})
    assert list(numbers) == ["n", "few", "theta", "x"]
    few = numbers["few"]
    assert (few.title, few.default, few.slider_maximum) == ("A few people", 100, MAX_POSTERIOR_ROWS)
    assert (few.help, few.maximum, few.integer) == (ROWS.help, ROWS.maximum, True)
    assert (numbers["theta"].name, numbers["theta"].maximum) == ("theta", math.inf)
    assert numbers["x"] == DELTA


def test_pages_share_what_the_controls_of_a_release_declare() -> None:
    shared = declared_numbers("controls")
    assert declared_numbers("minimum_priors")["delta"] == shared["delta"]
    assert declared_numbers("coverage")["sets"].help == shared["sets"].help


def test_a_preset_begins_with_what_it_is_like(declare) -> None:
    declare("""
        [cases.charest]
        n = 100
        sets = 1
        [[presets]]
        label = "one set"
        like = "charest"
        [[presets]]
        label = "five sets"
        like = "one set"
        sets = 5
        rules = ["reiter_2003"]
    """)
    assert declared_presets("example") == {
        "one set": {"n": 100, "sets": 1},
        "five sets": {"n": 100, "sets": 5, "rules": ["reiter_2003"]},
    }


NUMBER = '[numbers.n]\nbase = "core.declarations.ROWS"\n'
PRESETS = "[[presets]]\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[numbers.n]\nbase = "core.declarations.ROWZ"', ", [numbers.n].*has no attribute 'ROWZ'"),
        ('[numbers.n]\nbase = "core.nothing.ROWS"', ", [numbers.n].*No module named"),
        (NUMBER + "slider_maximun = 5", ", [numbers.n].*slider_maximun"),
        (NUMBER + "default = 0", ", [numbers.n].*must be a whole number from 1"),
        (NUMBER + "default = 2.5", ", [numbers.n].*must be a whole number"),
        ('[numbers.n]\ntitle = "Rows"', ", [numbers.n].*missing"),
        (PRESETS + "n = 1", ", [[presets]]"),
        (PRESETS + 'label = "a"\nlike = "b"', ", [[presets]]"),
        (PRESETS + 'label = "a"\n[[presets]]\nlabel = "a"', ", [[presets]]"),
        ("[number.n]\nbase = 'ROWS'", ": unknown table number"),
    ],
)
def test_what_is_wrong_is_named_by_file_table_and_key(declare, text: str, words: str) -> None:
    declare(text)
    read = declared_presets if text.startswith(PRESETS) else declared_numbers
    with pytest.raises(ValueError, match=re.escape(f"example.toml{words}").replace(r"\.\*", "(?s:.*)")):
        read("example")
