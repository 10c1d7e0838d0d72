"""Numbers and presets that pages declare in TOML."""

import math

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


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ('base = "core.declarations.ROWZ"', "has no attribute 'ROWZ'"),
        ('base = "core.nothing.ROWS"', "No module named"),
        ('base = "core.declarations.ROWS"\nslider_maximun = 5', "slider_maximun"),
        ('base = "core.declarations.ROWS"\ndefault = 0', "must be a whole number from 1"),
        ('base = "core.declarations.ROWS"\ndefault = 2.5', "must be a whole number"),
        ('title = "Rows"', "missing"),
    ],
)
def test_what_is_wrong_is_named_by_file_table_and_key(declare, entry: str, words: str) -> None:
    declare(f"[numbers.n]\n{entry}")
    with pytest.raises(ValueError, match=r"example\.toml, \[numbers\.n\]") as refused:
        declared_numbers("example")
    assert words in str(refused.value)


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


@pytest.mark.parametrize("entry", ["n = 1", 'label = "a"\nlike = "b"', 'label = "a"\n[[presets]]\nlabel = "a"'])
def test_a_preset_without_a_label_of_its_own_or_like_an_unknown_one_is_refused(declare, entry: str) -> None:
    declare(f"[[presets]]\n{entry}")
    with pytest.raises(ValueError, match=r"example\.toml, \[\[presets\]\]"):
        declared_presets("example")


def test_an_unknown_table_is_refused(declare) -> None:
    declare("[number.n]\nbase = 'ROWS'")
    with pytest.raises(ValueError, match=r"example\.toml: unknown table number"):
        declared_numbers("example")
