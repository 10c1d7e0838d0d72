"""Templates: data are never markup in HTML, stand in scripts as Python writes them, and may not be missing."""

import jinja2
import pytest

from dpviz.export.templates import raise_exponents, render, render_paragraphs


def test_a_place_without_data_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError):
        render("export/posterior_recipe.txt", counts=[1])


def test_an_exponent_stays_text() -> None:
    assert raise_exponents("e^{<b>} and x^2") == "e<sup>&lt;b&gt;</sup> and x<sup>2</sup>"


def test_paragraphs_are_lines_without_empty_ones() -> None:
    paragraphs = render_paragraphs("plans/plan_cells.txt", version="<1>", number=2, stored="")
    assert paragraphs[0] == "# A plan of 2 statistics under one promise"
    assert [paragraph for paragraph in paragraphs if not paragraph or "\n" in paragraph] == []
    assert "Written by dpviz <1>." in paragraphs[1]
