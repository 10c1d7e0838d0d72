"""The page "Transition matrices": it answers whatever is set, or says in a sentence what is wrong."""

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.mechanisms import SYNTHESIZERS, BetaBinomial, PosteriorMean
from dpviz.mechanisms.draws import draw_releases
from dpviz.privacy import log_odds_table
from pages.details.transition_matrices import SECTIONS
from tests.helpers import printed_figure, printed_values
from tests.pages import apptest
from tests.pages.apptest import headline, links, markup, move, open_page, press, problems, said, settings, unfold

FIG_1 = PosteriorMean(n=5, m=5, alpha=0.5, beta=0.5)
GIVEN = {"synthesizer": "given_matrix"}
DRAW = {"look": "Draw a release"}
ATTACKER = {"look": "The attacker in four languages"}
open_matrices = apptest.opener("transition_matrices")
WITH_PRIOR = [key for key, mechanism in SYNTHESIZERS.items() if mechanism.has_prior]


def linked(app: AppTest, key: str) -> list[str]:
    """What the links of the page say of a setting of another page."""
    return [query[key] for query in links(app).values() if key in query]


def test_fresh_page_shows_every_printed_digit_of_figures_1_and_2() -> None:
    app = open_matrices()
    assert headline(app).startswith("✗ broken The promise ε = 2 is broken: the real loss is ε = 5.49 .")
    cells = re.findall(r"<td[^>]*>([\d.]+)</td>", markup(app))
    assert cells == [f"{value:.6f}" for number in (1, 2) for value in printed_values(number).ravel()]
    assert len(re.findall(r'class="dpviz-over', markup(app))) == 8
    assert "exact ε (substituted row) 5.493061 (1, 4) against (0, 5), when (5, 0) is released" in said(app)


MOVES: list[tuple[dict[str, str], str, float, str]] = [
    ({}, "epsilon", 6.0, "The promise ε = 6 is kept"), ({}, "alpha", 5.0, "the real loss is ε = 0.912"),
    ({}, "delta", 0.5, "≈ kept with δ"), ({}, "n", 7, "the real loss is ε = 7.69"),
    ({"m_is_n": "false"}, "m", 2, "the real loss is ε = 2.2"),
    ({"beta_is_alpha": "false"}, "beta", 9.0, "this would need δ(2) = 0.0"),
    ({"synthesizer": "laplace", "noise_is_promise": "false"}, "noise_epsilon", 3.0, "real loss is ε = 3"),
    ({"synthesizer": "dirichlet_multinomial"}, "cells", 4, "(1, 0, 4, 0) against (0, 1, 4, 0)"),
    ({"synthesizer": "poisson_gamma"}, "public_share", 0.4, "the real loss is ε = 2"),
]  # fmt: skip


@pytest.mark.parametrize(("query", "key", "value", "expected"), MOVES)
def test_every_number_moves_the_answer(query: dict[str, str], key: str, value: float, expected: str) -> None:
    app = move(unfold(open_matrices(**query)), **{f"tm_{key}": value})
    assert expected in headline(app) and settings(app)[f"tm_{key}"] == f"{value:g}"


def test_numbers_outlive_another_synthesizer_and_what_that_refuses_is_said() -> None:
    app = move(open_matrices(), tm_synthesizer="posterior_mode")
    refusal = "alpha (invented rows with yes) must be a number above 1, at most 10¹²; got 0.5."
    assert problems(app) == [f"{refusal} The page still shows the last valid answer."]
    assert "5.493061" in said(app)
    assert "3.465736" in said(move(app, tm_alpha=2.0)) and not problems(app)
    for synthesizer in ("laplace", "beta_binomial"):
        move(app, tm_synthesizer=synthesizer)
    assert app.number_input(key="tm_alpha").value == 2.0


@pytest.mark.parametrize("epsilon", [1e-6, 2.0, 700.0])
@pytest.mark.parametrize("key", WITH_PRIOR)
def test_smallest_prior_keeps_the_promise(key: str, epsilon: float) -> None:
    app = open_matrices(synthesizer=key, n=7, alpha=1.5, beta=3, beta_is_alpha="false", epsilon=epsilon)
    assert headline(press(app, "tm_least")).startswith("✓ kept")
    assert app.session_state["tm_alpha"] == SYNTHESIZERS[key].smallest_alpha(m=7, epsilon=epsilon)
    assert app.session_state["tm_beta_is_alpha"]


SHOWN_ALL = {"alpha": 2, "n": 4, "worst": "false", "with_delta": "true"}
EDGES: list[dict[str, object]] = [
    *({"synthesizer": key} | SHOWN_ALL for key in SYNTHESIZERS),
    {"n": 5000, "synthesizer": "beta_binomial", "alpha": 3},
    {"n": 1000, "synthesizer": "dirichlet_multinomial", "cells": 9, "alpha": 3},
    {**GIVEN, "paste": "1,0\n0,1"},
    {**GIVEN, "paste": "0.5,0.5,0\n0.25,0.5,0.25", "show": "pictures", "picture": "log-odds"},
]


@pytest.mark.parametrize("query", EDGES, ids=str)
def test_sections_open_for_every_synthesizer_and_at_the_edges(query: dict[str, object]) -> None:
    app = open_matrices(**query)
    assert not problems(app)
    for section in SECTIONS:
        assert not problems(move(app, tm_look=section)), section


def test_pictures_hold_the_numbers_of_the_release() -> None:
    release = BetaBinomial(n=40, m=40, alpha=2.5, beta=2.5)
    expected = {"matrix": release.transition_matrix(), "log-odds": np.abs(log_odds_table(release))}
    for picture, exact in expected.items():
        app = open_matrices(synthesizer="beta_binomial", n=40, alpha=2.5, picture=picture)
        numbers = apptest.figure(app, "tm_heatmap")["data"][0]["customdata"]
        assert numbers.reshape(exact.shape) == pytest.approx(exact, rel=1e-12)


def test_attacker_takes_any_pair_and_a_place_beyond_the_end_is_said() -> None:
    app = open_matrices(**ATTACKER, worst="false", pair=3, column=2)
    assert "only (3, 2) and (4, 1) are left" in said(app)
    app = open_matrices(**ATTACKER, worst="false", pair=99, column=99)
    assert "n1 of the first table must be from 0 to 4 here; got 99. Shown is 4." in said(app)
    assert "Released m1 must be from 0 to 5 here; got 99. Shown is 5." in said(app)
    app = open_matrices(**ATTACKER, prior_risk=0.2)
    assert "only (0, 5) and (1, 4) are left" in said(app)
    assert "risk, 20 % before" in said(app)
    app = open_matrices(**ATTACKER, n=5000)
    assert "about 10²³⁸⁶ times as likely" in said(app)
    assert "at most 4,000,000 of them; here there are 25,005,000. Set fewer rows." in said(app)


def test_draws_are_marked_in_the_tables_and_the_seed_repeats_them() -> None:
    columns = draw_releases(FIG_1, 1, number=102, seed=1).columns.tolist()
    app = open_matrices(**DRAW)
    assert "The secret table is (1, 4) . Draw a release." in said(app)
    assert (markup(app).count("class=dpviz-framed"), markup(app).count('class="dpviz-drawn')) == (3, 0)
    for button, last in (("draw_1", 0), ("draw_100", 100), ("draw_1", 101)):
        press(app, f"tm_{button}")
        assert f"Release {last + 1}: ({columns[last]}, {5 - columns[last]}) , which comes" in said(app)
        (row, *_) = re.findall(r"<tr class=dpviz-framed>(.*?)</tr>", markup(app))
        marked = ["dpviz-drawn" in kind for kind in re.findall(r"<td([^>]*)>", row)]
        assert marked == [column == columns[last] for column in range(6)]
    assert settings(app) == {"tm_look": DRAW["look"], "tm_x": "1", "tm_seed": "1", "tm_drawn_releases": "102"}
    assert f"Release 102: ({columns[-1]}," in said(open_page("transition_matrices", **settings(app)))
    assert "Draw a release." in said(press(app, "tm_draw_clear"))
    assert settings(app)["tm_seed"] == "2"


def test_releases_are_drawn_by_themselves_until_they_are_stopped_or_the_section_closes() -> None:
    app = press(open_matrices(**DRAW), "tm_draw_go").run()
    assert "Release 2:" in said(app)
    assert "tm_drawn_releases" not in settings(app)  # the history of the browser has one entry for all
    assert settings(press(app, "tm_draw_go"))["tm_drawn_releases"] == "2"
    press(app, "tm_draw_go")
    move(move(app, tm_look="Download"), tm_look="Draw a release")
    assert "Release 3:" in said(app)


def test_readers_own_release_is_framed_as_far_as_it_came_along() -> None:
    column = int(draw_releases(FIG_1, 2, number=1, seed=7).columns[0])
    secret = "Framed is what came of your secret table, (2, 3)"
    assert "Framed is" not in said(open_matrices())
    assert f"{secret} ." in said(open_matrices(x=2))
    assert f"{secret} : the released table ({column}, {5 - column}) ." in said(open_matrices(x=2, seed=7))
    assert "Framed is" not in said(open_matrices(**DRAW, x=2, seed=7))


def test_number_who_say_yes_follows_the_people_of_a_preset_and_of_a_move() -> None:
    query = {"synthesizer": "beta_binomial", "n": 100, "x": 25}
    app = move(open_matrices(**query), tm_preset="a broken promise (A&V, Fig. 1 and 2)")
    assert not problems(move(app, tm_look="Draw a release"))
    assert app.number_input(key="tm_x").value == 1
    assert "The secret table is (1, 4)" in said(move(app, tm_delta=0.01))
    assert "The secret table is (3, 2)" in said(move(app, tm_x=3))
    assert "The secret table is (30, 20)" in said(move(app, tm_n=50))
    assert settings(move(open_matrices(**query), tm_n=500))["tm_x"] == "125"
    assert settings(move(open_matrices(n=5, x=8), tm_delta=0.25))["tm_x"] == "5"


def test_last_valid_answer_stands_beside_a_number_who_say_yes_that_it_has_not() -> None:
    app = apptest.set_state(open_matrices(x=3), tm_n=2000, tm_x=1500, tm_synthesizer="dirichlet_multinomial")
    assert "got 2,000. The page still shows the last valid answer." in problems(app)[0]
    assert "Framed is what came of your secret table, (5, 0)" in said(app)


def test_links_hand_on_the_truth_that_came_along_and_lead_to_the_paper() -> None:
    app = open_matrices(n=30, p=0.3, x=8)
    assert (linked(app, "cv_p"), linked(app, "po_x")) == (["0.3"], ["8"])
    assert linked(app, "pub_paper") == ["abowd_vilhuber"]
    assert linked(open_matrices(synthesizer="modips"), "pub_paper") == ["liu"]


def test_pasted_matrix_is_judged_by_its_own_digits() -> None:
    app = open_matrices(**GIVEN, paste="0.7,0.3\n0.1,0.9", epsilon=1.8, delta=0)
    assert "exact ε (substituted row) 1.94591" in said(app)
    assert "tm_recognized" not in [group.key for group in app.button_group]
    app = open_matrices(**GIVEN, paste="0.5,0.5,0\n0.25,0.5,0.25\n0.2,0.6,0.2", delta=0)
    assert "(2, 0) can be published from the data (1, 1) but never from their neighbour (0, 2)" in headline(app)
    assert ">∞<" in markup(app)


def test_rows_that_were_rounded_are_divided_by_their_sums() -> None:
    app = move(open_matrices(**GIVEN), tm_paste="0.2,0.73\n0.2,0.88")
    assert "Line 1 sums to 0.93" in problems(app)[0]
    assert not problems(press(app, "tm_paste_rescale"))
    assert app.session_state["tm_rescaled"] == (app.session_state["tm_paste"], None)  # kept for this reader alone
    values = [float(value) for value in re.split("[,\n]", app.session_state["tm_paste"])]
    assert values == pytest.approx([0.2 / 0.93, 0.73 / 0.93, 0.2 / 1.08, 0.88 / 1.08], rel=1e-15)


def test_the_button_below_a_matrix_is_a_move_as_any_other_control_is() -> None:
    """What a link says of no setting goes with the first move."""
    app = open_matrices(**GIVEN, paste="0.50004,0.5\n0.25,0.75", foo="1")
    assert "tm_foo" in problems(app)[0]
    assert not problems(press(app, "tm_paste_rescale"))


def test_exact_values_are_offered_for_one_matrix_and_no_other() -> None:
    app = open_matrices(**GIVEN)
    (offer,) = (group for group in app.button_group if group.key == "tm_recognized")
    assert offer.label.startswith("These printed digits equal the Posterior-mean plug-in with n = 5, m = 5, α = 0.5")
    assert "exact ε (substituted row) 5.498192" in said(app)
    assert "4 of your rows do not sum to exactly 1 (row 2 sums to 1.000001). They are not rescaled." in said(app)
    assert "exact ε (substituted row) 5.493061" in said(move(app, tm_recognized="posterior_mean-5-5-0.5-0.5"))
    assert "This page now shows the exact values of the Posterior-mean plug-in : ε = 5.493061." in said(app)
    assert "5.493061" in said(open_page("transition_matrices", **settings(app)))
    assert "tm_recognized" not in settings(move(app, tm_paste=printed_figure(3)))
    assert "Your numbers are used exactly as given" in said(app)
    wrong = open_matrices(**GIVEN, recognized="laplace-5-2")
    assert problems(wrong)[0].startswith("Ignored tm_recognized = laplace-5-2 in the link: it must be one of as_given")


def test_script_is_that_of_the_settings() -> None:
    app = open_matrices(synthesizer="beta_binomial", n=9, alpha=0.25, epsilon=1.25, look="Download")
    assert "BetaBinomial(n=9, m=9, alpha=0.25, beta=0.25)" in app.code[-1].value
    assert "epsilon=1.25" in app.code[-1].value
