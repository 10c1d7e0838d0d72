"""Widgets of the pages: stops of sliders, numbers that others limit or lead, choices that fall back, folded places."""

from dataclasses import replace

import pytest

from dpviz.core.declarations import DELTA, EPSILON
from pages.ui.controls import LAST_SINGLE_COUNT, MAX_STOPS, slider_label, stop_text, stops_with
from tests.pages.apptest import mark, problems, said, set_state, settings, texts, unfold, widgets
from tests.pages.cases import CASES, Case
from tests.pages.trial import N, move, open_trial

# Stops


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_every_slider_of_a_page_stops_at_its_ends_and_just_at_the_typed_value(case: Case) -> None:
    for key, setting in case.settings.items():
        parameter = setting.parameter
        if parameter is None or setting.fresh is None or key == "home_n":  # which has three buttons
            continue
        low = parameter.minimum if parameter.slider_minimum is None else parameter.slider_minimum
        high = parameter.maximum if parameter.slider_maximum is None else parameter.slider_maximum
        middle = (low + high) / 2.000001
        for value in (parameter.default, low, high, parameter.maximum, middle):
            value = (
                parameter.validate(int(value) if parameter.integer else value) if value != parameter.minimum else low
            )
            stops = stops_with(parameter, value)
            assert value in stops and list(stops) == sorted(stops) and len({*stops.values()}) == len(stops), key
            assert all(text == stop_text(parameter, stop) for stop, text in stops.items()), key
            assert min(stops) == min(value, 0.0 if parameter.name == "delta" else low), key
            assert max(stops) == max(value, high) and len(stops) <= (340 if parameter.integer else MAX_STOPS + 3), key
            assert all(isinstance(stop, int) for stop in stops) or not parameter.integer, key


def test_stops_of_small_counts_are_every_one_and_delta_has_zero() -> None:
    assert list(stops_with(N, 3))[:LAST_SINGLE_COUNT] == list(range(1, LAST_SINGLE_COUNT + 1))
    assert list(stops_with(DELTA, 1e-5))[:2] == [0.0, 1e-12]
    assert list(stops_with(N, 4, 6)) == [1, 2, 3, 4, 5, 6]
    assert stops_with(N, 4, 1) == stops_with(N, 4, 9000) == stops_with(N, 4)  # no limit that moves its end


def test_a_typed_value_takes_the_place_of_the_stop_that_is_written_alike() -> None:
    value = 1.0000000001
    assert value in stops_with(EPSILON, value) and 1.0 not in stops_with(EPSILON, value)
    assert 1.0 in stops_with(EPSILON, 1.001)


def test_a_label_says_which_end_is_more_private_and_no_name_twice() -> None:
    assert slider_label(EPSILON) == "Promised privacy loss ε · smaller is more private"
    assert slider_label(replace(N, symbol="people")) == "People"
    assert stop_text(replace(EPSILON, share=True), 0.125) == "12.5 %"


# Numbers


def test_an_emptied_box_must_be_filled_in_and_the_last_number_stays() -> None:
    app = open_trial(epsilon="1.5")
    assert app.number_input(key="tr_epsilon").proto.required  # so that a browser marks it, and sends nothing
    move(app, epsilon=None)
    assert app.number_input(key="tr_epsilon").value == app.session_state["tr_epsilon"] == 1.5
    assert problems(app) == []


def test_slider_and_box_are_one_number_and_keep_every_digit() -> None:
    app = open_trial(epsilon="1.23456789012")
    assert app.number_input(key="tr_epsilon").value == app.select_slider(key="tr_epsilon_slider").value == 1.23456789012
    move(app, epsilon_slider=20.0)
    assert (app.number_input(key="tr_epsilon").value, settings(app)) == (20.0, {"tr_epsilon": "20"})
    move(app, epsilon=0.3333333333333333)
    assert app.select_slider(key="tr_epsilon_slider").value == 0.3333333333333333
    assert settings(app) == {"tr_epsilon": "0.3333333333333333"}
    move(app, epsilon=2.0)
    assert settings(app) == {}


def test_a_move_is_not_undone_by_one_from_a_browser_that_does_not_know_of_it_yet() -> None:
    app = open_trial()
    n, slider = app.number_input(key="tr_n"), app.select_slider(key="tr_epsilon_slider")
    before = slider.value
    app.number_input(key="tr_epsilon").set_value(before)
    slider.set_value(20.0).run()
    n.set_value(50).run()  # with all widgets as they were drawn before the slider was moved
    assert settings(app) == {"tr_epsilon": "20", "tr_n": "50"}
    assert app.number_input(key="tr_epsilon").value == app.select_slider(key="tr_epsilon_slider").value == 20.0
    move(app, epsilon=before)  # whoever types the old number alone means it
    assert settings(app) == {"tr_n": "50"}

    # The same of a slider, whose stop is none any more, after a number was typed
    move(app, epsilon=0.123)
    n, slider = app.number_input(key="tr_n"), app.select_slider(key="tr_epsilon_slider")
    slider.set_value(0.123)
    move(app, epsilon=7.77)
    n.set_value(60).run()
    assert settings(app) == {"tr_epsilon": "7.77", "tr_n": "60"}

    # A slider that is drawn there and back, while the box still shows where it was
    move(app, epsilon=10.0)
    slider = app.select_slider(key="tr_epsilon_slider")
    app.number_input(key="tr_epsilon").set_value(10.0)
    slider.set_value(20.0).run()
    slider.set_value(10.0).run()
    assert settings(app) == {"tr_epsilon": "10", "tr_n": "60"}


def test_a_number_beyond_what_another_allows_is_set_to_it_in_a_sentence() -> None:
    app = open_trial(n=20, x=18)
    assert app.select_slider(key="tr_x_slider").options[-1] == "20" and problems(app) == []
    move(app, n=10)
    assert (app.number_input(key="tr_x").value, app.number_input(key="tr_x").max) == (10, 10)
    (sentence,) = problems(app)
    assert sentence.startswith("x was set to 10: the other settings allow no more.")
    move(app, x=4)
    assert problems(app) == [] and settings(app) == {"tr_n": "10", "tr_x": "4"}
    (sentence,) = problems(open_trial(n=5, x=500))
    assert "x was set to 5" in sentence


def test_a_number_follows_another_until_it_is_unlinked_and_is_not_in_the_url_meanwhile() -> None:
    app = open_trial()
    move(unfold(app), n=50)
    assert "'m': 50" in said(app) and settings(app) == {"tr_n": "50"}
    move(move(app, m_is_n=False), m=20)
    assert "'m': 20" in said(app) and settings(app) == {"tr_n": "50", "tr_m": "20", "tr_m_is_n": "false"}
    assert "'m': 50" in said(move(app, m_is_n=True)) and app.session_state["tr_m"] == 20  # for the next time


# Choices, presets, places


def test_a_choice_that_another_rules_out_falls_back_and_a_link_is_told() -> None:
    app = open_trial(detail="1")
    assert problems(app) == []
    assert move(app, kind="many").session_state["tr_detail"] == "2" and problems(app) == []
    app = open_trial(kind="many", detail="1", look="B")
    assert problems(app) == ["Ignored tr_detail = 1 in the link: it must be one of 2, 3."]
    app = open_trial(detail="2", kind="many")
    assert app.session_state["tr_detail"] == "2" and problems(app) == []


def test_a_list_keeps_the_order_of_its_options_and_may_be_empty() -> None:
    app = open_trial(methods="c.a")
    assert "'methods': ['a', 'c']" in said(app)
    move(unfold(app), methods=[])
    assert "'methods': []" in said(app) and settings(app) == {"tr_methods": ""}
    assert open_trial(methods="").session_state["tr_methods"] == []


def test_a_preset_is_marked_while_it_holds_and_can_be_chosen_again() -> None:
    app = open_trial(m_is_n="false", m=90)
    assert settings(move(app, preset="seven")) == {"tr_n": "7", "tr_m": "90"} and mark(app) == "7"
    assert move(app, epsilon=3.0).session_state["tr_preset"] == "seven"  # which does not say ε
    assert move(app, n=9).session_state["tr_preset"] is None
    for preset, n in (("seven", "7"), ("eight", "8")):
        assert move(app, preset=preset).session_state["tr_preset"] == preset and mark(app) == n


def test_what_is_folded_away_counts_as_if_it_were_in_sight_and_outlives_it() -> None:
    app = open_trial(m_is_n="false", m=20, on="true", methods="b")
    folded = texts(app), settings(app)
    assert not {"tr_m", "tr_on", "tr_methods"} & widgets(app).keys()
    for more in (True, False, True):
        set_state(app, more=more)
        assert (texts(app), settings(app)) == folded and ("tr_m" in widgets(app)) is more
    move(app, m=30)
    for more in (False, True):
        assert settings(set_state(app, more=more))["tr_m"] == "30"
    assert app.number_input(key="tr_m").value == 30


def test_a_closer_look_that_refuses_is_a_sentence_in_its_place() -> None:
    app = open_trial(look="B")
    assert any("This section <b>cannot</b> be shown." in text for text in texts(app))
    assert "<b>cannot</b>" not in "".join(str(part.proto.body) for part in app.get("html"))
