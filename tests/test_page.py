"""The page "Transition matrices": whatever is set, it answers or says in a sentence what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qs

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.claims.abowd_vilhuber import PRINTED_FIGURES
from dpviz.core.parameters import DELTA, EPSILON, readable
from dpviz.mechanisms import SYNTHESIZERS, BetaBinomial, PosteriorMean
from dpviz.mechanisms.draws import draw_releases
from dpviz.privacy import log_odds_table, pure_epsilon
from pages.transition_matrices.controls import PRESETS
from tests.page_cases import smallest
from tests.pages import (
    LAWS,
    check_sound,
    declared,
    figures,
    html,
    open_page,
    open_priors,
    pieces,
    problems,
    text,
    verdict,
)

WITH_LEAST = [law for law, cls in SYNTHESIZERS.items() if cls.has_prior]
PROMISE = {"epsilon": EPSILON, "delta": DELTA}
FIG_1 = PosteriorMean(n=5, m=5, alpha=0.5, beta=0.5)


def test_what_one_reader_has_seen_is_not_computed_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    first = open_page(epsilon=1.7)

    def refuse(*_args: object, **_rest: object) -> None:
        raise AssertionError("it was computed before")

    for name in ("worst_neighbours", "epsilon_for_delta", "deltas_for_epsilons"):
        monkeypatch.setattr(f"dpviz.privacy.summary.{name}", refuse)
    monkeypatch.setattr("dpviz.charts.count_table._table", refuse)
    second = open_page(epsilon=1.7)
    assert html(second) == html(first) and figures(second).keys() == figures(first).keys()


def test_a_move_sends_few_pieces() -> None:
    """Each piece of a page is a message of its own, and costs the server as much as most of the page's numbers."""
    assert pieces(open_page()) <= 43


@pytest.mark.parametrize("picture", ["matrix", "log-odds"])
@pytest.mark.parametrize("law", LAWS)
def test_every_picture_of_every_law_is_shown(law: str, picture: str) -> None:
    accepted = {name: one.default for name, one in declared(law).items()} if law in SYNTHESIZERS else {}
    page = open_page(synthesizer=law, show="pictures", picture=picture, sign="signed", **accepted)
    check_sound(page)
    assert {"tm_heatmap", "tm_profile"} <= set(figures(page))


@pytest.mark.parametrize("law", SYNTHESIZERS)
def test_each_box_takes_both_ends_of_its_domain(law: str) -> None:
    """One after the other on one page, each put back as the next is moved."""
    page = open_page(**smallest(law))
    for name, declaration in {**declared(law), **PROMISE}.items():
        box = page.number_input(key=f"tm_{name}")
        before, ends = box.value, (box.min, box.max)
        for value in ends:
            page.number_input(key=f"tm_{name}").set_value(value).run()
            check_sound(page)
            assert page.session_state[f"tm_{name}"] == value
            try:
                declaration.check(value)
            except ValueError as refusal:
                assert problems(page) == [str(refusal)]
            else:
                assert not problems(page)
        page.number_input(key=f"tm_{name}").set_value(before)


@pytest.mark.parametrize("law", [law for law in SYNTHESIZERS if "cells" in declared(law)])
def test_the_most_rows_and_cells_leave_the_page_sound(law: str) -> None:
    most = {name: one.maximum for name, one in declared(law).items() if one.integer}
    page = open_page(**smallest(law) | {name: int(value) for name, value in most.items()})
    check_sound(page)
    assert "over 4 million entries" in text(page)


def test_a_fresh_page_shows_every_printed_digit_of_figures_1_and_2() -> None:
    page = open_page()
    shown = " ".join(html(page))
    cells = re.findall(r"<td[^>]*>([\d.]+)</td>", shown)
    printed = [f"{value:.6f}" for number in (1, 2) for value in PRINTED_FIGURES[number].values.ravel()]
    assert cells == printed
    assert shown.count("dpviz-over") == 8
    assert "5.493061" in text(page)
    assert verdict(page) == "✗ broken"


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_published_figure_stands_beside_ours(number: int) -> None:
    page = open_page(look="As published", figure=f"Fig. {number}")
    check_sound(page)
    shown = next(part for part in html(page) if "as printed: " in part)
    cells = re.findall(r"<td[^>]*>([\d.]+)</td>", shown)
    printed = [f"{value:.6f}" for value in PRINTED_FIGURES[number].values.ravel()]
    assert cells[: 2 * len(printed)] == printed + printed
    audit = next(part for part in html(page) if "The printed figures against ours" in part)
    assert audit.count("every printed digit") == 4
    assert audit.count("another synthesizer") == 2


def test_the_published_figures_are_the_same_whatever_is_set() -> None:
    one, other = (
        open_page(look="As published"),
        open_page(look="As published", synthesizer="geometric", n=50, epsilon=0.1),
    )
    published, again = ([part for part in html(page) if "as printed" in part] for page in (one, other))
    assert len(published) == 3  # the note, the tables, the accounts
    assert published == again


def test_the_presets_are_the_papers() -> None:
    expected = {
        "A&V Fig. 1/2 as printed": "5.493061",
        "A&V equation (1)": "2.397895",
        "A&V Fig. 3/4": "2",
        "Liu's modips, truncated": "0.1368141",
    }
    for name, exact in expected.items():
        page = open_page(**PRESETS[name])
        assert f"<dd>{exact}</dd>" in " ".join(html(page))
    assert verdict(open_page(**PRESETS["100 rows, smallest α for ε = 1"])) == "✓ kept"


@pytest.mark.parametrize(
    ("law", "epsilon", "n"),
    [
        (law, epsilon, (1, 7)[(place + turn) % 2])
        for place, law in enumerate(WITH_LEAST)
        for turn, epsilon in enumerate([1e-6, 0.5, 2.0, 700.0, 1e3])
    ],
)
def test_the_least_prior_keeps_the_promise(law: str, epsilon: float, n: int) -> None:
    page = open_page(synthesizer=law, n=n, alpha=1.5, beta=3.0, beta_is_alpha=False, epsilon=epsilon, delta=0.0)
    page.button(key="tm_least").click().run()
    check_sound(page)
    assert not problems(page)
    assert verdict(page) == "✓ kept"
    assert page.session_state["tm_alpha"] == SYNTHESIZERS[law].smallest_alpha(m=n, epsilon=epsilon)


def test_pictures_hold_the_numbers_of_the_release() -> None:
    law = BetaBinomial(n=40, m=40, alpha=2.5, beta=2.5)
    for picture, exact in (("matrix", law.transition_matrix()), ("log-odds", np.abs(log_odds_table(law)))):
        page = open_page(synthesizer="beta_binomial", n=40, alpha=2.5, picture=picture)
        assert figures(page)["tm_heatmap"]["figure"]["data"][0]["customdata"] == pytest.approx(exact, rel=1e-12)
    assert f"<dd>{readable(pure_epsilon(law), 7)}</dd>" in " ".join(html(page))


def test_the_attacker_may_choose_any_pair_and_a_place_beyond_the_end_is_told() -> None:
    page = open_page(look="The attacker", worst=False, pair=3, column=2)
    check_sound(page)
    assert "(3, 2) and (4, 1) are left" in text(page)
    page = open_page(look="The attacker", worst=False, pair=99, column=99)
    check_sound(page)
    assert len(problems(page)) == 2


@pytest.mark.parametrize("odds", [1e-9, 1e9])
@pytest.mark.parametrize(
    "state", [{"alpha": 1e-300}, {"alpha": 1e12}, {"synthesizer": "given_matrix", "paste": "1,0\n0,1"}]
)
def test_the_attackers_prior_odds_may_be_extreme(state: dict[str, object], odds: float) -> None:
    check_sound(open_page(look="The attacker", prior_odds=odds, **state))


def test_settings_survive_another_law() -> None:
    page = open_page(synthesizer="beta_binomial")
    page.number_input(key="tm_alpha").set_value(7.0).run()
    page.selectbox(key="tm_synthesizer").set_value("laplace").run()
    page.selectbox(key="tm_synthesizer").set_value("beta_binomial").run()
    assert page.number_input(key="tm_alpha").value == 7.0


def test_the_script_shown_is_the_one_of_these_settings() -> None:
    page: AppTest = open_page(synthesizer="beta_binomial", n=9, alpha=0.25, epsilon=1.25, look="Download")
    assert "BetaBinomial(n=9, m=9, alpha=0.25, beta=0.25)" in page.code[-1].value
    assert "epsilon=1.25" in page.code[-1].value


@pytest.mark.parametrize(("n", "handed"), [(30, "8"), (5, "2")])
def test_the_truth_of_a_link_is_handed_on_to_the_next_page_as_far_as_it_fits(n: int, handed: str) -> None:
    """A count that does not fit n gives way to the one that this page shows, which then goes along."""
    page = open_page(n=n, p=0.3, x=8)
    links = [parse_qs(one.proto.query_string) for one in page.get("page_link")]
    assert {one["cv_p"][0] for one in links if "cv_p" in one} == {"0.3"}
    assert [one.get("po_x", [None])[0] for one in links if "po_n" in one] == [handed]


@pytest.mark.parametrize(
    ("opened", "shown"), [(open_page, {"po_x": "1"}), (open_priors, {"cv_p": "0.1", "cs_p": "0.1"})]
)
def test_a_page_hands_on_the_truth_that_it_shows_and_leaves_the_rest_to_the_next(
    opened: Callable[..., AppTest], shown: dict[str, str]
) -> None:
    """The matrices draw releases of a secret count, the priors tell a bias at p; neither asks for level or seed."""
    links = [parse_qs(one.proto.query_string) for one in opened().get("page_link")]
    assert any("cv_n" in one for one in links)
    truths = ("cv_p", "cv_level", "cv_seed", "po_x", "cs_p")
    assert {key: one[key][0] for one in links for key in one if key in truths} == shown


def test_the_readers_own_release_is_framed_as_far_as_it_came_with_one() -> None:
    """(2, 3) of 5 is drawn by seed 7 as everywhere; while others are drawn on the page, those are framed."""
    release = PosteriorMean(n=5, m=5, alpha=0.5, beta=0.5)
    column = int(draw_releases(release, 2, number=1, seed=7).columns[0])
    secret, released = "your secret table, <b>(2, 3)</b>", f"the released table <b>({column}, {5 - column})</b>"
    for came, said in (({}, []), ({"tm_x": "2"}, [secret]), ({"tm_x": "2", "tm_seed": "7"}, [secret, released])):
        for section, framed in (("The attacker", True), ("Draw a release", False)):
            shown = " ".join(html(open_page({**came, "tm_look": section})))
            assert [one for one in (secret, released) if one in shown] == (said if framed else [])
