"""The page Published: everything printed with its verdict, cells that a URL opens, and figures with what is said."""

import re
from collections import Counter
from html import unescape
from importlib import import_module
from urllib.parse import parse_qsl

import pytest

from dpviz.published.figures import Figure, load_figures, slugify
from dpviz.published.records import Agreement, Kind, Record, load_errata, load_papers, load_records, summarize
from pages.published import link_to
from pages.ui.navigation import PAGES
from tests.pages.apptest import figures, headline, markup, move, open_page, plain_text, problems, said, settings

PAPERS = load_papers()
QUIET = dict.fromkeys(map(str, (Agreement.AGREES, Agreement.CHANCE)), 0)
"""Verdicts of what need not be looked at, and no number of them."""


def records_of(key: str) -> list[Record]:
    return [record for record in load_records(PAPERS[key]) if not record.is_alternative]


def verdicts_on(html: str) -> Counter[str]:
    """The verdict of every cell and statement of the page, with what is printed."""
    cells = re.findall(r'<summary aria-label="([^"]*), ([^",]*)">', html)
    statements = re.findall(r"<b class=verdict>([^<]*)</b> <span>(.*?)</span>", html)
    pairs = [(verdict, text) for text, verdict in cells]
    pairs += [(verdict.translate(str.maketrans("", "", "≈±≠?*")).strip(), text) for verdict, text in statements]
    return Counter(f"{verdict}: {unescape(text)}" for verdict, text in pairs)


def test_the_headline_counts_what_comes_out() -> None:
    app = open_page("published")
    assert headline(app).startswith(
        "676 of 756 Of 756 printed results, 676 come out when they are computed again. Each of the others says why not"
    )
    assert "The results are 463 numbers and 293 statements. Of those that come out, 212 are" in plain_text(markup(app))
    summary = summarize(load_records())
    (table,) = re.findall(r'aria-label="Verdicts by paper">(.*?)</table>', markup(app))
    last = re.findall(r"<td class=count>([^<]*)</td>", table)[-9:]
    kinds = [summary.kinds[kind] for kind in Kind]
    assert sum(kinds) == 877
    assert last == [f"{count:,}" for count in [kinds[0], *map(summary.verdicts.get, Agreement), *kinds[1:]]]
    assert "Computed on 30 November 2026" in said(app) and "the seed 2016" in said(app)


def verdict_of(record: Record) -> str:
    """As the page says it: what is no result, and cannot be computed, has its kind in the place of a verdict."""
    is_result = record.kind is Kind.RESULT or record.verdict is not Agreement.UNKNOWN
    return str(record.verdict if is_result else record.kind)


@pytest.mark.parametrize("key", PAPERS)
def test_every_record_of_a_paper_is_on_the_page_with_its_verdict_or_if_asked_what_differs_alone(key: str) -> None:
    app = open_page("published", pub_paper=key)
    html = markup(app)
    records = records_of(key)
    shown = verdicts_on(html)
    assert shown.total() == len(records)
    verdicts = Counter(map(verdict_of, records))
    assert Counter(text.partition(":")[0] for text in shown.elements()) == verdicts
    printed = " ".join(shown)
    assert not [record.printed for record in records if record.printed not in printed]
    assert not [record.reason for record in records if record.reason not in unescape(html)]
    assert Counter(re.findall(r'id="cell-([^"]*)"', html)) == Counter(record.id for record in records)
    assert set(re.findall(r'id="cell-[^"]*" name="([^"]*)"', html)) == {"cell"}  # one is open at a time
    promises = sum(record.what == "promise in our words" for record in records)
    assert html.count("<dt>Promise in our words</dt>") == html.count("promise in our words: ") == promises
    for erratum in load_errata(PAPERS[key]):
        for part in (erratum.printed, erratum.truth, erratum.consequence, erratum.certainty, erratum.command):
            assert part in unescape(html)
    assert not app.error

    # What differs alone leaves nothing of it out
    few = Counter(text.partition(":")[0] for text in verdicts_on(markup(move(app, pub_only=True))).elements())
    assert few.total() < shown.total()
    assert {**few, **QUIET} == {**verdicts, **QUIET}


def test_a_url_opens_one_cell_and_every_cell_links_to_itself() -> None:
    words = [record.id for record in records_of("charest")]
    assert "<details" in markup(open_page("published", pub_paper="charest"))
    for word in (words[0], words[-1]):
        app = open_page("published", pub_paper="charest", cell=word)
        html = markup(app)
        assert re.findall(r'<details id="cell-([^"]*)"[^>]* open>', html) == [word]
        assert f'href="#cell-{word}">go to it' in html and not app.error
        assert settings(app) == {"pub_paper": "charest", "cell": word}
        hrefs = re.findall(r'<a href="(published\?pub_paper=charest&amp;cell=[^"]*)">Link to this cell', html)
        cells = [parse_qsl(unescape(href).partition("?")[2])[1][1] for href in hrefs]
        assert cells == re.findall(r'id="cell-([^"]*)"', html)


def test_a_cell_stays_open_but_with_its_paper_and_where_it_is_hidden() -> None:
    word = next(record.id for record in records_of("charest") if record.verdict is Agreement.AGREES)
    app = open_page("published", pub_paper="charest", cell=word)
    assert " open>" not in markup(move(app, pub_only=True)) and settings(app)["cell"] == word
    move(app, pub_only=False)
    assert f'id="cell-{word}"' in markup(app) and " open>" in markup(app)
    assert (
        " open>" not in markup(move(app, pub_paper="liu")) and settings(app) == {"pub_paper": "liu"} and not app.error
    )


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ("charest_2011-<b>no</b>", "cell = charest_2011-<b>no</b>: Charest (2011) has no such cell."),
        ("nobody-1", "cell = nobody-1: no paper has such a cell."),
    ],
)
def test_a_cell_that_is_none_in_a_link_is_named(cell: str, sentence: str) -> None:
    app = open_page("published", cell=cell)
    (error,) = problems(app)
    assert error.startswith(f"Ignored an invalid value in the link, {sentence}")
    assert app.radio(key="pub_paper").value == "abowd_vilhuber" and not settings(app)


def test_a_cell_of_another_paper_in_a_link_is_named() -> None:
    word = records_of("liu")[0].id
    app = open_page("published", pub_paper="charest", cell=word)
    assert problems(app) == [f"Ignored cell = {word} in the link: Charest (2011) has no such cell."]
    assert settings(app) == {"pub_paper": "charest"} and " open>" not in markup(app)


@pytest.mark.parametrize("figure", load_figures(), ids=lambda figure: f"{figure.paper} {figure.place}")
def test_a_figure_is_drawn_with_what_the_paper_says_of_it_below(figure: Figure) -> None:
    key = next(key for key, paper in PAPERS.items() if paper == figure.paper)
    word, setting = slugify(figure.place), figure.settings[-1]
    query = {"pub_paper": key, f"pub_{key}_figure": word, f"pub_{key}_{word}_at": slugify(setting)}
    app = open_page("published", **query)
    pictures = figures(app)
    panels = figure.at(setting)
    assert pictures.keys() == {f"pub_{measure}" for measure in panels}
    for measure, panel in panels.items():
        names = {trace.get("name") for trace in pictures[f"pub_{measure}"]["figure"]["data"]}
        assert names == {line.name for line in panel.lines}
    (below,) = (
        part.proto.body for part in app.get("html")
        if f"<h3>{figure.place}</h3>" in part.proto.body and "class=numbers" in part.proto.body
    )  # fmt: skip
    spoken = [record for record in records_of(key) if (record.figure or record.place) == figure.place]
    assert spoken and Counter(re.findall(r'id="cell-([^"]*)"', below)) == Counter(record.id for record in spoken)
    assert "The numbers of the picture" in plain_text(below)
    assert not app.error and settings(app).items() <= query.items()


def test_links_of_figures_lead_to_where_they_are_drawn() -> None:
    html = markup(open_page("published", pub_paper="liu"))
    assert sorted(re.findall(r'<a href="([^"]*)">ours, drawn', html)) == [
        "published?pub_paper=liu&amp;pub_liu_figure=figure_7", "published?pub_paper=liu&amp;pub_liu_figure=figure_8",
    ]  # fmt: skip


def test_every_link_opens_a_page_that_takes_it() -> None:
    prefixes = {page.path: page.prefix for page in PAGES}
    modules = {page.path: page.module for page in PAGES}
    html = markup(open_page("published", pub_paper="charest"))
    hrefs = [href for href in re.findall(r'<a href="([^"]*)"', html) if href[0] != "#" and "published" not in href]
    assert len(hrefs) == sum(bool(record.page) for record in records_of("charest"))
    for href in set(map(unescape, hrefs)):
        path, _, query = href.partition("?")
        known = import_module(f"pages.{modules[path]}").SETTINGS
        for key, word in parse_qsl(query):
            assert key.startswith(prefixes[path])
            assert known[key].parse(word) is not None
    assert link_to("coverage", {"n": 5}, is_large=True) == "coverage?cv_n=5&class=1"
    in_class = markup(open_page("published", pub_paper="charest", **{"class": "1"}))
    assert all("class=1" in href for href in re.findall(r'<a href="([^"]*)"', in_class))


def test_all_papers_and_figures_can_be_taken_along() -> None:
    app = open_page("published")
    assert [button.key for button in app.get("download_button")] == [
        "pub_get_dpviz_published.csv", "pub_get_dpviz_figures.csv",
    ]  # fmt: skip
