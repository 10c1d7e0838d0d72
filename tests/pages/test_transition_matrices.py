"""The page "Transition matrices": it answers whatever is set, or says in a sentence what is wrong."""

from __future__ import annotations

import base64
import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.mechanisms import SYNTHESIZERS, BetaBinomial, PosteriorMean
from dpviz.mechanisms.draws import draw_releases
from dpviz.privacy import log_odds_table
from pages.details.transition_matrices import SECTIONS
from tests.helpers import printed_figure, printed_values
from tests.pages.apptest import figures, headline, links, markup, open_page, problems, said, settings, sound

FIG_1 = PosteriorMean(n=5, m=5, alpha=0.5, beta=0.5)
GIVEN = {"tm_synthesizer": "given_matrix"}
DRAW = {"tm_look": "Draw a release"}
ATTACKER = {"tm_look": "The attacker in four languages"}
WITH_PRIOR = [key for key, mechanism in SYNTHESIZERS.items() if mechanism.has_prior]


def visit(**query: object) -> AppTest:
    """The page without any exception, and without a number that is none."""
    return checked(open_page("transition_matrices", **query))


def checked(app: AppTest) -> AppTest:
    assert headline(sound(app))
    return app


def move(app: AppTest, key: str, value: object, kind: str = "number_input") -> AppTest:
    return checked(getattr(app, kind)(key=f"tm_{key}").set_value(value).run())


def pick(app: AppTest, key: str, value: str) -> AppTest:
    return move(app, key, value, "button_group")


def press(app: AppTest, key: str) -> AppTest:
    return checked(app.button(key=f"tm_{key}").click().run())


def linked(app: AppTest, key: str) -> list[str]:
    """What the links of the page say of a setting of another page."""
    return [query[key] for query in links(app).values() if key in query]


def test_fresh_page_shows_every_printed_digit_of_figures_1_and_2() -> None:
    app = visit()
    assert headline(app).startswith("✗ broken The promise ε = 2 is broken: the real loss is ε = 5.49 .")
    cells = re.findall(r"<td[^>]*>([\d.]+)</td>", markup(app))
    assert cells == [f"{value:.6f}" for number in (1, 2) for value in printed_values(number).ravel()]
    assert len(re.findall(r'class="dpviz-over', markup(app))) == 8
    assert "exact ε (substituted row) 5.493061 (1, 4) against (0, 5), when (5, 0) is released" in said(app)
    assert settings(app) == {}


PRESETS = [
    ("A&V Fig. 1/2 as printed", "✗ broken", "5.493061"), ("A&V equation (1)", "✗ broken", "2.397895"),
    ("A&V Fig. 3/4", "✓ kept", "2"), ("Liu's modips, truncated", "✗ broken", "0.1368141"),
    ("100 rows, smallest α for ε = 1", "✓ kept", "1"),
]  # fmt: skip


@pytest.mark.parametrize(("preset", "word", "exact"), PRESETS)
def test_presets_are_those_of_the_papers(preset: str, word: str, exact: str) -> None:
    app = visit(tm_synthesizer="geometric", tm_n=77, tm_m_is_n="false", tm_m=3, tm_noise_is_promise="false")
    pick(app, "preset", preset)
    assert headline(app).startswith(word)
    assert f"<dd>{exact}</dd>" in markup(app)
    assert app.session_state["tm_preset"] == preset
    assert app.session_state["tm_preset"] != move(app, "epsilon", 1.25).session_state["tm_preset"]


MOVES: list[tuple[dict[str, str], str, float, str]] = [
    ({}, "epsilon", 6.0, "The promise ε = 6 is kept"), ({}, "alpha", 5.0, "the real loss is ε = 0.912"),
    ({}, "delta", 0.5, "≈ kept with δ"), ({}, "n", 7, "the real loss is ε = 7.69"),
    ({"tm_m_is_n": "false"}, "m", 2, "the real loss is ε = 2.2"),
    ({"tm_beta_is_alpha": "false"}, "beta", 9.0, "this would need δ(2) = 0.0"),
    ({"tm_synthesizer": "laplace", "tm_noise_is_promise": "false"}, "noise_epsilon", 3.0, "real loss is ε = 3"),
    ({"tm_synthesizer": "dirichlet_multinomial"}, "cells", 4, "(1, 0, 4, 0) against (0, 1, 4, 0)"),
    ({"tm_synthesizer": "poisson_gamma"}, "public_share", 0.4, "the real loss is ε = 2"),
]  # fmt: skip


@pytest.mark.parametrize(("query", "key", "value", "expected"), MOVES)
def test_every_number_moves_the_answer(query: dict[str, str], key: str, value: float, expected: str) -> None:
    app = visit(**query)
    app.session_state["more"] = True  # what is folded away is not drawn
    move(app.run(), key, value)
    assert expected in headline(app)
    assert settings(app)[f"tm_{key}"] == f"{value:g}"


def test_numbers_outlive_another_synthesizer_and_what_that_refuses_is_said() -> None:
    app = move(visit(), "synthesizer", "posterior_mode", "selectbox")
    refusal = "alpha (invented rows with yes) must be a number above 1, at most 10¹²; got 0.5."
    assert problems(app) == [f"{refusal} The page still shows the last valid answer."]
    assert "5.493061" in said(app)
    move(app, "alpha", 2.0)
    assert not problems(app)
    assert "3.465736" in said(app)
    for synthesizer in ("laplace", "beta_binomial"):
        move(app, "synthesizer", synthesizer, "selectbox")
    assert app.number_input(key="tm_alpha").value == 2.0


@pytest.mark.parametrize("epsilon", [1e-6, 2.0, 700.0])
@pytest.mark.parametrize("key", WITH_PRIOR)
def test_smallest_prior_keeps_the_promise(key: str, epsilon: float) -> None:
    app = visit(tm_synthesizer=key, tm_n=7, tm_alpha=1.5, tm_beta=3, tm_beta_is_alpha="false", tm_epsilon=epsilon)
    press(app, "least")
    assert headline(app).startswith("✓ kept")
    assert app.session_state["tm_alpha"] == SYNTHESIZERS[key].smallest_alpha(m=7, epsilon=epsilon)
    assert app.session_state["tm_beta_is_alpha"]


@pytest.mark.parametrize("key", SYNTHESIZERS)
def test_sections_open_for_every_synthesizer(key: str) -> None:
    app = visit(tm_synthesizer=key, tm_alpha=2, tm_n=4, tm_worst="false", tm_with_delta="true")
    for section in SECTIONS:
        assert not problems(pick(app, "look", section))


EDGES: list[dict[str, object]] = [
    {"tm_n": 5000, "tm_synthesizer": "beta_binomial", "tm_alpha": 3},
    {"tm_n": 1000, "tm_synthesizer": "dirichlet_multinomial", "tm_cells": 9, "tm_alpha": 3},
    {**GIVEN, "tm_paste": "1,0\n0,1"},
    {**GIVEN, "tm_paste": "0.5,0.5,0\n0.25,0.5,0.25", "tm_show": "pictures", "tm_picture": "log-odds"},
]


@pytest.mark.parametrize("query", EDGES)
def test_sections_stand_at_the_edges(query: dict[str, object]) -> None:
    app = visit(**query)
    for section in SECTIONS:
        pick(app, "look", section)


def test_pictures_hold_the_numbers_of_the_release() -> None:
    release = BetaBinomial(n=40, m=40, alpha=2.5, beta=2.5)
    expected = {"matrix": release.transition_matrix(), "log-odds": np.abs(log_odds_table(release))}
    for picture, exact in expected.items():
        app = visit(tm_synthesizer="beta_binomial", tm_n=40, tm_alpha=2.5, tm_picture=picture)
        data = figures(app)["tm_heatmap"]["figure"]["data"][0]["customdata"]
        numbers = np.frombuffer(base64.b64decode(data["bdata"]), data["dtype"])
        assert numbers.reshape(exact.shape) == pytest.approx(exact, rel=1e-12)


def test_attacker_takes_any_pair_and_a_place_beyond_the_end_is_said() -> None:
    app = visit(**ATTACKER, tm_worst="false", tm_pair=3, tm_column=2)
    assert "only (3, 2) and (4, 1) are left" in said(app)
    app = visit(**ATTACKER, tm_worst="false", tm_pair=99, tm_column=99)
    assert "n1 of the first table must be from 0 to 4 here; got 99. Shown is 4." in said(app)
    assert "Released m1 must be from 0 to 5 here; got 99. Shown is 5." in said(app)
    app = visit(**ATTACKER, tm_prior_risk=0.2)
    assert "only (0, 5) and (1, 4) are left" in said(app)
    assert "risk, 20 % before" in said(app)
    app = visit(**ATTACKER, tm_n=5000)
    assert "about 10²³⁸⁶ times as likely" in said(app)
    assert "at most 4,000,000 of them; here there are 25,005,000. Set fewer rows." in said(app)


def test_draws_are_marked_in_the_tables_and_the_seed_repeats_them() -> None:
    columns = draw_releases(FIG_1, 1, number=102, seed=1).columns.tolist()
    app = visit(**DRAW)
    assert "The secret table is (1, 4) . Draw a release." in said(app)
    assert (markup(app).count("class=dpviz-framed"), markup(app).count('class="dpviz-drawn')) == (3, 0)
    for button, last in (("draw_1", 0), ("draw_100", 100), ("draw_1", 101)):
        press(app, button)
        assert f"Release {last + 1}: ({columns[last]}, {5 - columns[last]}) , which comes" in said(app)
        (row, *_) = re.findall(r"<tr class=dpviz-framed>(.*?)</tr>", markup(app))
        marked = ["dpviz-drawn" in kind for kind in re.findall(r"<td([^>]*)>", row)]
        assert marked == [column == columns[last] for column in range(6)]
    assert settings(app) == DRAW | {"tm_x": "1", "tm_seed": "1", "tm_drawn_releases": "102"}
    assert f"Release 102: ({columns[-1]}," in said(visit(**settings(app)))
    press(app, "draw_clear")
    assert "Draw a release." in said(app)
    assert settings(app)["tm_seed"] == "2"


def test_releases_are_drawn_by_themselves_until_they_are_stopped_or_the_section_closes() -> None:
    app = press(visit(**DRAW), "draw_go").run()
    assert "Release 2:" in said(app)
    assert "tm_drawn_releases" not in settings(app)  # the history of the browser has one entry for all
    press(app, "draw_go")
    assert settings(app)["tm_drawn_releases"] == "2"
    press(app, "draw_go")
    pick(app, "look", "Download")
    pick(app, "look", "Draw a release")
    assert "Release 3:" in said(app)


def test_readers_own_release_is_framed_as_far_as_it_came_along() -> None:
    column = int(draw_releases(FIG_1, 2, number=1, seed=7).columns[0])
    secret = "Framed is what came of your secret table, (2, 3)"
    assert "Framed is" not in said(visit())
    assert f"{secret} ." in said(visit(tm_x=2))
    assert f"{secret} : the released table ({column}, {5 - column}) ." in said(visit(tm_x=2, tm_seed=7))
    assert "Framed is" not in said(visit(**DRAW, tm_x=2, tm_seed=7))


def test_number_who_say_yes_follows_the_people_of_a_preset_and_of_a_move() -> None:
    query = {"tm_synthesizer": "beta_binomial", "tm_n": 100, "tm_x": 25}
    app = pick(visit(**query), "preset", "A&V Fig. 1/2 as printed")
    pick(app, "look", "Draw a release")
    assert not problems(app)
    assert app.number_input(key="tm_x").value == 1
    assert "The secret table is (1, 4)" in said(move(app, "delta", 0.01))
    assert "The secret table is (3, 2)" in said(move(app, "x", 3))
    assert "The secret table is (30, 20)" in said(move(app, "n", 50))
    assert settings(move(visit(**query), "n", 500))["tm_x"] == "125"
    assert settings(move(visit(tm_n=5, tm_x=8), "delta", 0.25))["tm_x"] == "5"


def test_last_valid_answer_stands_beside_a_number_who_say_yes_that_it_has_not() -> None:
    app = visit(tm_x=3)
    app.session_state["tm_n"] = 2000
    app.session_state["tm_x"] = 1500
    move(app, "synthesizer", "dirichlet_multinomial", "selectbox")
    assert "got 2,000. The page still shows the last valid answer." in problems(app)[0]
    assert "Framed is what came of your secret table, (5, 0)" in said(app)


def test_links_hand_on_the_truth_that_came_along_and_lead_to_the_paper() -> None:
    app = visit(tm_n=30, tm_p=0.3, tm_x=8)
    assert (linked(app, "cv_p"), linked(app, "po_x")) == (["0.3"], ["8"])
    assert linked(app, "pub_paper") == ["abowd_vilhuber"]
    assert linked(visit(tm_synthesizer="modips"), "pub_paper") == ["liu"]


PASTED = {
    "": "There is nothing in it", "a,b\n1,0": "only one row", "1\n1": "only one column",
    "0.5,0.5\n0.5": "Line 2 has 1 values, line 1 has 2.", "0.5,0.4\n0.5,0.5": "Line 1 sums to 0.9",
    "50,50\n25,75": "divide by 100", "0.5,x\n0.5,0.5": "“x”", "1.5,-0.5\n0.5,0.5": "is negative",
}  # fmt: skip


@pytest.mark.parametrize(("pasted", "reason"), PASTED.items())
def test_text_that_is_no_matrix_leaves_the_last_answer(pasted: str, reason: str) -> None:
    (error,) = problems(app := move(visit(**GIVEN), "paste", pasted, "text_area"))
    assert reason in error and error.endswith("The page still shows the last valid answer.")
    assert "5.498192" in said(app)


def test_pasted_matrix_is_judged_by_its_own_digits() -> None:
    app = visit(**GIVEN, tm_paste="0.7,0.3\n0.1,0.9", tm_epsilon=1.8, tm_delta=0)
    assert "exact ε (substituted row) 1.94591" in said(app)
    assert "tm_recognized" not in [group.key for group in app.button_group]
    app = visit(**GIVEN, tm_paste="0.5,0.5,0\n0.25,0.5,0.25\n0.2,0.6,0.2", tm_delta=0)
    assert "(2, 0) can be published from the data (1, 1) but never from their neighbour (0, 2)" in headline(app)
    assert ">∞<" in markup(app)


def test_rows_that_were_rounded_are_divided_by_their_sums() -> None:
    app = move(visit(**GIVEN), "paste", "0.2,0.73\n0.2,0.88", "text_area")
    assert "Line 1 sums to 0.93" in problems(app)[0]
    press(app, "paste_rescale")
    assert not problems(app)
    assert app.session_state["tm_rescaled"] == (app.session_state["tm_paste"], None)  # kept for this reader alone
    values = [float(value) for value in re.split("[,\n]", app.session_state["tm_paste"])]
    assert values == pytest.approx([0.2 / 0.93, 0.73 / 0.93, 0.2 / 1.08, 0.88 / 1.08], rel=1e-15)


def test_exact_values_are_offered_for_one_matrix_and_no_other() -> None:
    app = visit(**GIVEN)
    (offer,) = (group for group in app.button_group if group.key == "tm_recognized")
    assert offer.label.startswith("These printed digits equal the Posterior-mean plug-in with n = 5, m = 5, α = 0.5")
    assert "exact ε (substituted row) 5.498192" in said(app)
    assert "4 of your rows do not sum to exactly 1 (row 2 sums to 1.000001). They are not rescaled." in said(app)
    pick(app, "recognized", "posterior_mean-5-5-0.5-0.5")
    assert "exact ε (substituted row) 5.493061" in said(app)
    assert "This page now shows the exact values of the Posterior-mean plug-in : ε = 5.493061." in said(app)
    assert "5.493061" in said(visit(**settings(app)))
    move(app, "paste", printed_figure(3), "text_area")
    assert "tm_recognized" not in settings(app)
    assert "Your numbers are used exactly as given" in said(app)
    wrong = visit(**GIVEN, tm_recognized="laplace-5-2")
    assert problems(wrong)[0].startswith("Ignored tm_recognized = laplace-5-2 in the link: it must be one of as_given")


def test_script_is_that_of_the_settings() -> None:
    app = visit(tm_synthesizer="beta_binomial", tm_n=9, tm_alpha=0.25, tm_epsilon=1.25, tm_look="Download")
    assert "BetaBinomial(n=9, m=9, alpha=0.25, beta=0.25)" in app.code[-1].value
    assert "epsilon=1.25" in app.code[-1].value


def test_class_mode_has_three_digits_and_a_short_sentence() -> None:
    app = visit(**{"class": "1"})
    assert headline(app) == "✗ broken The real loss is ε = 5.49, and not the promised 2."
    assert ">0.647<" in markup(app) and "0.647228" not in markup(app)
