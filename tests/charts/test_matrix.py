"""Pictures and tables hold the exact numbers, and mark exactly the cells over ε."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpviz.charts import theme
from dpviz.charts.lines import log_scale
from dpviz.charts.matrix import log_odds_heatmap, matrix_heatmap, release_html
from dpviz.charts.privacy import attacker_chart, profile_chart
from dpviz.mechanisms import BetaBinomial, DirichletMultinomial, Synthesizer
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.privacy import attacker_view, pure_epsilon
from dpviz.privacy.divergence import exceeds
from dpviz.privacy.summary import PICTURE_SIDE, profile, summarize, view_tables
from tests.charts.drawable import NO_NUMBER, check_drawable
from tests.export.test_tables import FRESH, PUBLISHED
from tests.helpers import decode_figure, match_in, printed_values
from tests.mechanisms.test_contract import every_class, instances

SUPPRESSED = GivenMatrix(probabilities=np.array([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.25, 0.5, 0.25]]))
every_release = pytest.mark.parametrize("release", [*FRESH, SUPPRESSED], ids=lambda release: release.key)


def text_of(html: str) -> str:
    return re.sub(r"<[^>]*>", " ", html)


def table_cells(html: str) -> list[list[str]]:
    """The numbers in the body of an HTML table, as they are written."""
    body = html.split("<tbody>")[1].split("</tbody>")[0]
    return [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in body.split("</tr>")[:-1]]


def all_figures(release: Synthesizer, epsilon: float, delta: float) -> Iterator[go.Figure]:
    """Every picture that the page draws of a release."""
    summary, view = summarize(release, epsilon, delta), view_tables(release)
    yield matrix_heatmap(view)
    for signed in (False, True):
        yield log_odds_heatmap(view, epsilon, signed=signed)
    yield profile_chart(profile(release), summary)
    odds = release.log_odds(np.array([0]), np.arange(release.shape[1]))[0]
    for column in (0, release.shape[1] - 1):
        yield attacker_chart(release, odds, attacker_view(release, 0, column, 1.0), epsilon)


def edges_of(path: str) -> set[tuple[float, float, float, float]]:
    """The segments of a drawing path."""
    number = r"(-?[\d.e+]+)"
    result = re.findall(rf"M{number},{number}L{number},{number}", path)
    assert "".join(f"M{a},{b}L{c},{d}" for a, b, c, d in result) == path
    return {tuple(map(float, segment)) for segment in result}  # type: ignore[misc]


def borders(mask: np.ndarray) -> set[tuple[float, float, float, float]]:
    """The sides of the marked cells that no other marked cell shares, by walking round every cell."""
    sides = Counter[tuple[float, float, float, float]]()
    for row, column in np.argwhere(mask).tolist():
        left, right, top, bottom = column - 0.5, column + 0.5, row - 0.5, row + 0.5
        sides.update([(left, top, left, bottom), (right, top, right, bottom)])
        sides.update([(left, top, right, top), (left, bottom, right, bottom)])
    return {side for side, times in sides.items() if times == 1}


@every_release
def test_the_matrix_heatmap_holds_the_exact_matrix(release: Synthesizer) -> None:
    view = view_tables(release)
    trace, exact = matrix_heatmap(view).data[0], release.transition_matrix()[np.ix_(view.rows, view.columns)]
    assert np.asarray(trace.customdata) == pytest.approx(exact, rel=1e-13, abs=0)
    assert np.array_equal(np.isnan(trace.z), exact == 0)
    linear = matrix_heatmap(view, linear=True).data[0]
    assert np.array_equal(linear.customdata, trace.customdata)
    assert np.asarray(linear.z)[exact > 0] == pytest.approx(exact[exact > 0], rel=1e-6)
    assert (linear.zmin, linear.zmax) == (0, pytest.approx(exact.max(), rel=1e-13))


@every_release
@pytest.mark.parametrize("signed", [False, True])
def test_the_log_odds_heatmap_holds_the_exact_log_odds(release: Synthesizer, signed: bool) -> None:
    view = view_tables(release)
    trace = log_odds_heatmap(view, 2.0, signed=signed).data[0]
    table = release.log_odds_table()[np.ix_(view.pairs, view.columns)]
    told, shown = np.asarray(trace.customdata, dtype=object), table if signed else np.abs(table)
    for text, value in zip(told.ravel().tolist(), shown.ravel().tolist(), strict=True):
        if math.isinf(value):
            assert str(text) == ("∞" if value > 0 else "−∞")
        else:
            assert float(str(text).replace("−", "-")) == pytest.approx(value, rel=1e-12, abs=0.5e-6)


def test_a_large_table_is_drawn_at_evenly_spaced_counts_with_their_own_numbers() -> None:
    release = BetaBinomial(n=1000, m=600, alpha=2, beta=3)
    view = view_tables(release)
    trace = matrix_heatmap(view).data[0]
    x, y = np.asarray(trace.x), np.asarray(trace.y)
    assert max(len(x), len(y)) <= PICTURE_SIDE
    assert (x[0], x[-1], y[0], y[-1]) == (0, 600, 0, 1000)
    assert np.asarray(trace.customdata) == pytest.approx(np.exp(release.log_transition(y, x)), rel=1e-13)
    odds = log_odds_heatmap(view, 0.5, signed=True).data[0]
    shown = np.asarray(odds.customdata, dtype=float)
    np.testing.assert_allclose(shown, release.log_odds(np.asarray(odds.y), x), rtol=1e-12)


@every_class
@settings(deadline=None, derandomize=True, max_examples=20)
@given(data=st.data())
def test_the_outline_borders_exactly_the_cells_over_epsilon(cls: type[Synthesizer], data: st.DataObject) -> None:
    release = data.draw(instances(cls, span=8))
    epsilon = min(max(data.draw(st.floats(0.1, 1.1)) * pure_epsilon(release), 1e-6), 1e3)
    view = view_tables(release)
    assume(view.is_complete)
    mask = exceeds(release.log_odds_table(), epsilon)
    for signed in (False, True):
        shapes = log_odds_heatmap(view, epsilon, signed=signed).to_dict()["layout"]["shapes"]
        assert len(shapes) == bool(mask.any())
        for shape in shapes:
            assert edges_of(shape["path"]) == borders(mask)


def test_the_outline_of_a_spread_table_stands_between_the_counts_that_are_shown() -> None:
    release = BetaBinomial(n=400, m=400, alpha=2, beta=2)
    view = view_tables(release)
    figure = log_odds_heatmap(view, 1.0, signed=False)
    mask = exceeds(view.log_odds, 1.0)
    edges = edges_of(figure.layout.shapes[0].path)
    assert len(edges) == len(borders(mask))
    for axis, shown in enumerate((view.columns.astype(float), view.pairs.astype(float))):
        steps = np.diff(shown) / 2
        middles = {shown[0] - steps[0], *(shown[:-1] + steps), shown[-1] + steps[-1]}
        assert {end for edge in edges for end in edge[axis::2]} <= middles


@every_release
@pytest.mark.parametrize(("epsilon", "delta"), [(2.0, 1e-5), (1e-6, 0.0), (1e3, 1.0), (0.5, 1e-12)])
def test_the_chosen_point_of_the_profile_is_the_promise(release: Synthesizer, epsilon: float, delta: float) -> None:
    summary, curve = summarize(release, epsilon, delta), profile(release)
    figure = profile_chart(curve, summary)
    chosen, right = figure.data[-1], figure.layout.xaxis.range[1]
    assert figure.layout.title.x < 0.05  # the toolbar is at the right
    assert list(chosen.x) == [min(epsilon, right)]
    assert list(chosen.y) == [max(summary.divergence.value, 1e-12)]
    assert ("right of this picture" in chosen.text[0]) == (epsilon > right)


def test_the_profile_of_a_prior_keeps_its_axes_while_the_promise_is_dragged() -> None:
    release = BetaBinomial(n=100, m=100, alpha=58.2, beta=58.2)
    figures = [profile_chart(profile(release), summarize(release, epsilon, 1e-5)) for epsilon in (0.01, 1.0, 3.0, 20.0)]
    assert {(*figure.layout.xaxis.range, *figure.layout.yaxis.range) for figure in figures} == {(0.0, 1.5, -12.0, 0.9)}


@every_release
def test_the_profile_is_the_divergence_at_every_epsilon(release: Synthesizer) -> None:
    line = profile_chart(profile(release), summarize(release, 1.0, 1e-5)).data[0]
    for epsilon, delta in zip(line.x[::8], line.y[::8], strict=True):
        assert delta == pytest.approx(release.hockey_stick(float(epsilon)).value, rel=1e-9, abs=1e-15)


@every_release
@pytest.mark.parametrize(("epsilon", "delta"), [(2.0, 1e-5), (1e-6, 0.0), (1e3, 1.0)])
def test_every_picture_can_be_sent_names_its_axes_and_keeps_its_zoom_apart(release, epsilon, delta) -> None:
    for place, figure in enumerate(all_figures(release, epsilon, delta)):
        check_drawable(figure, gaps=place == 0)
        assert figure.layout.xaxis.title.text and figure.layout.yaxis.title.text
        assert release.key in figure.layout.uirevision


def html_tables(release: Synthesizer, *, signed: bool = False) -> list[str]:
    """HTML of the matrix and of the log-odds at a promised ε of 2."""
    end = "</table></div>"
    return [table + end for table in release_html(release, 2.0, signed=signed).split(end)[:-1]]


@pytest.mark.parametrize("number", PUBLISHED)
def test_a_table_has_every_printed_digit(number: int) -> None:
    html = html_tables(PUBLISHED[number])[(number - 1) % 2]
    assert table_cells(html) == [[f"{value:.6f}" for value in line] for line in printed_values(number).tolist()]


def test_exactly_eight_cells_of_figure_2_are_marked_and_one_is_the_worst() -> None:
    html = html_tables(PUBLISHED[2])[1]
    marked = re.findall(r'<td class="[^"]*dpviz-over[^"]*"[^>]*>([^<]*)', html)
    assert marked == [f"{value:.6f}" for value in printed_values(2).ravel() if value > 2]
    assert len(marked) == 8
    assert re.findall(r'<td class="[^"]*dpviz-worst[^"]*"[^>]*>([^<]*)', html) == ["5.493061"]
    assert html.count('title="over ε = 2"') == 8


def test_a_log_odds_that_equals_epsilon_is_not_marked() -> None:
    assert "dpviz-over" not in html_tables(PUBLISHED[4])[1]


@every_release
def test_a_table_is_well_formed_and_its_caption_is_escaped(release: Synthesizer) -> None:
    for html in html_tables(release, signed=True):
        caption = match_in(r"<caption><span>([^<]*)</span>", html)[1]
        assert "Abowd &amp; Vilhuber (2008)" in caption
        assert f'aria-label="{caption}"' in html
        assert "</span><em>More columns may be at the right: scroll sideways →</em></caption>" in html
        for tag in ("div", "table", "caption", "span", "em", "thead", "tbody", "tr", "th", "td", "sub", "sup"):
            assert len(re.findall(rf"<{tag}[ >]", html)) == html.count(f"</{tag}>")
        assert not NO_NUMBER.search(text_of(html))
        spans = [
            sum(int(span or 1) for span in re.findall(r"<t[hd](?: [^>]*?colspan=\"(\d+)\")?[^>]*>", row))
            for row in re.findall(r"<tr>(.*?)</tr>", html)
        ]
        assert len(set(spans)) == 1


def test_infinite_log_odds_are_shown_as_infinity() -> None:
    absolute, signed = (table_cells(html_tables(SUPPRESSED, signed=signed)[1]) for signed in (False, True))
    assert absolute[0] == ["0.693147", "0.000000", "∞"]
    assert signed[0] == ["0.693147", "0.000000", "−∞"]


def test_tables_and_pictures_of_many_cells_name_every_count() -> None:
    release = DirichletMultinomial(n=2, m=2, alpha=1, cells=3)
    matrix, html = html_tables(release)
    assert {"n", "m", "1", "2", "3"} <= set(text_of(matrix).split())
    assert html.count("<sup>(1)</sup>") == html.count("<sup>(2)</sup>") == 3
    first = re.findall(r'<th scope="row"[^>]*>(\d+)</th>', html.split("<tbody>")[1])[:6]
    assert first == [str(count) for index in release.neighbours[0] for count in release.row_table(index)]
    trace = matrix_heatmap(view_tables(release)).data[0]
    tables = [",".join(map(str, release.row_table(row))) for row in range(release.shape[0])]
    assert list(trace.y) == list(trace.x) == tables
    pairs = log_odds_heatmap(view_tables(release), 2.0, signed=False).data[0].y
    assert list(pairs) == [f"{tables[a]} | {tables[b]}" for a, b in release.neighbours]


def test_the_attackers_odds_are_the_prior_times_the_factor() -> None:
    release = PUBLISHED[1]
    odds = release.log_odds(np.array([0]), np.arange(6))[0]
    view = attacker_view(release, 0, 5, 3.0)
    line, chosen = attacker_chart(release, odds, view, 2.0).data
    assert np.asarray(line.y) == pytest.approx(3.0 * np.exp(odds), rel=1e-12)
    assert list(chosen.x) == [5]
    assert chosen.y[0] == pytest.approx(math.exp(view.log_posterior_odds), rel=1e-12)


def test_a_figure_says_as_plain_data_what_plotly_makes_of_it() -> None:
    """Plotly's own object looks at every part: nothing is refused, and no number is another."""

    def same(ours: Any, theirs: Any, place: str) -> None:
        if isinstance(ours, dict):
            for key, value in ours.items():
                if key != "colorscale":  # a name, for which plotly writes down the colors
                    same(value, theirs.get(key, []), f"{place}.{key}")  # an empty list is none to Plotly
        elif isinstance(ours, np.ndarray | list | tuple):
            assert len(ours) == len(theirs), place
            for one, (a, b) in enumerate(zip(ours, theirs, strict=True)):
                same(a, b, f"{place}[{one}]")
        elif isinstance(ours, float | np.floating):
            assert ours == theirs or (math.isnan(ours) and (theirs is None or math.isnan(theirs))), place
        else:
            assert ours == theirs, place

    for release in (
        BetaBinomial(n=6, m=5, alpha=0.5, beta=2.0),
        GivenMatrix(probabilities=[[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.0, 0.4, 0.6]]),
    ):
        for figure in all_figures(release, 1.0, 1e-3):
            plain, whole = decode_figure(figure.json_text()), decode_figure(figure.to_json())
            assert len(plain["data"]) == len(whole["data"])
            same(plain, whole, release.key)


@pytest.mark.parametrize("low", [-7.3, -1.25, 0.0, 2.9])
@pytest.mark.parametrize("span", [0.18, 0.29, 0.31, 0.6, 1.0, 1.5, 2.1, 2.3, 12.0])
def test_a_logarithmic_axis_has_some_ticks_and_none_that_touch(low: float, span: float) -> None:
    axis = log_scale(low, low + span)
    places = np.log10([one for one in axis["tickvals"] if low <= math.log10(one) <= low + span])
    assert len(places) >= 2
    assert np.diff(places).min() >= 0.09 * span
    assert len(axis["ticktext"]) == len(axis["tickvals"]) == len(set(axis["ticktext"]))


def test_names_of_two_lines_have_the_room_of_two() -> None:
    heights = {"one": 0.3, "two<br>lines": 0.31, "two<br>more": 0.32}
    one, two, more = (text["y"] for text in theme.spread_labels(heights, 1.0, 0.1, 1.0))
    assert (two - one, more - two) == pytest.approx((0.15, 0.2))
