"""The page "Transition matrices" and what it is given: bad values, bad addresses, texts and files of every kind."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.claims.abowd_vilhuber import PRINTED_FIGURES
from dpviz.core.parameters import readable
from dpviz.desk import brought
from dpviz.desk.analyst import typed_counts, typed_tables
from dpviz.desk.exports.tables import matrix_csv
from dpviz.mechanisms import PosteriorMean
from dpviz.mechanisms.given import read_matrix
from dpviz.mechanisms.given.reading import rescaled
from pages.components.cached import forget
from pages.transition_matrices.sections import SECTIONS
from tests.pages import address, check_sound, html, open_page, problems, text, verdict

FIG_1 = PosteriorMean(n=5, m=5, alpha=0.5, beta=0.5)
HIDDEN = ["tm_m", "tm_beta", "tm_noise_epsilon", "tm_cells", "tm_pair", "tm_column", "tm_prior_odds"]


def test_a_value_that_the_law_refuses_is_kept_and_the_sentence_says_so() -> None:
    page = open_page(synthesizer="posterior_mode", alpha=0.5)
    assert problems(page) == ["alpha (invented rows with yes) must be a number above 1, at most 10¹²; got 0.5."]
    assert page.number_input(key="tm_alpha").value == 0.5
    page.selectbox(key="tm_synthesizer").set_value("beta_binomial").run()
    check_sound(page)
    assert not problems(page)
    assert page.number_input(key="tm_alpha").value == 0.5


@pytest.mark.parametrize(
    ("state", "key"),
    [
        ({"synthesizer": "posterior_mode", "alpha": 0.5}, "tm_alpha"),
        ({"synthesizer": "posterior_mode", "alpha": 3.0, "beta": 1.0, "beta_is_alpha": False}, "tm_beta"),
        ({"synthesizer": "multinomial_mode", "alpha": 1.0}, "tm_alpha"),
        ({"synthesizer": "dirichlet_multinomial", "n": 2000}, "tm_n"),
        ({"synthesizer": "dirichlet_multinomial", "m": 2000, "m_is_n": False}, "tm_m"),
    ],
)
def test_a_refused_value_can_be_mended_by_its_button(state: dict[str, object], key: str) -> None:
    page = open_page(**state)
    assert len(problems(page)) == 1
    page.button(key=f"mend_{key}").click().run()
    check_sound(page)
    assert not problems(page)


def test_bad_values_in_the_address_are_named_and_left_out() -> None:
    bad = {"tm_alpha": "-3", "tm_synthesizer": "foo", "tm_n": "abc", "tm_delta": "2", "tm_epsilon": "0"}
    page = open_page(bad)
    check_sound(page)
    shown = problems(page)
    for key, value in bad.items():
        assert sum(f"Ignored an invalid value in the link, {key} = {value}: " in sentence for sentence in shown) == 1
    fresh = open_page()
    for key in ("tm_synthesizer", "tm_n", "tm_alpha", "tm_epsilon", "tm_delta"):
        assert page.session_state[key] == fresh.session_state[key]
    page.number_input(key="tm_n").set_value(6).run()
    page.selectbox(key="tm_synthesizer").set_value("geometric").run()
    assert not problems(page)


ODD = ["nan", "inf", "-inf", "1e400", "", "0x1", "<b>x</b>", "5.5", "1" * 400]
ASKED = ["tm_n", "tm_alpha", "tm_delta", "tm_synthesizer"]


@pytest.mark.parametrize(
    ("key", "value"),
    [(key, one) for turn, key in enumerate(ASKED) for one in (ODD if not turn else ODD[turn % 2 :: 2])],
)
def test_whatever_the_address_says_the_page_answers(key: str, value: str) -> None:
    page, fresh = open_page({key: value}), open_page()
    assert not page.exception
    assert verdict(page)
    if (key, value) == ("tm_alpha", "5.5"):
        assert page.session_state[key] == 5.5
    else:
        assert page.session_state[key] == fresh.session_state[key]
        assert len(problems(page)) == 1
        assert len(problems(page)[0]) < 400


@pytest.mark.parametrize(
    ("key", "value"),
    [(key, one) for turn, key in enumerate(HIDDEN) for one in ["inf", "nan", "-1", "1e400", "x"][turn % 3 :: 3]],
)
def test_what_the_address_says_of_a_hidden_box_waits_for_no_exception(key: str, value: str) -> None:
    links = dict.fromkeys(("tm_m_is_n", "tm_beta_is_alpha", "tm_noise_is_promise", "tm_worst"), "false")
    page = open_page({"tm_look": "The attacker", key: value, **links})
    assert not page.exception
    assert len(problems(page)) == 1
    for law in ("laplace_cells", "dirichlet_multinomial"):
        page.selectbox(key="tm_synthesizer").set_value(law).run()
        assert not page.exception
        assert verdict(page)
        assert len(problems(page)) == 1  # it stays until a number is moved


PASTED = {
    "": "There is nothing in it",
    "a,b\n1,0": "only one row",
    "1\n1": "only one column",
    "0.5,0.5\n0.5": "Line 2 has 1 values, line 1 has 2.",
    "0.5,0.4\n0.5,0.5": "Line 1 sums to 0.9",
    "50,50\n25,75": "divide by 100",
    "0.5,x\n0.5,0.5": "“x”",
    "1.5,-0.5\n0.5,0.5": "is negative",
    "0.5,<b>\n0.5,0.5": "“<b>”",
}


@pytest.mark.parametrize(("pasted", "sentence"), PASTED.items(), ids=repr)
def test_a_pasted_text_that_is_no_matrix_is_answered_in_a_sentence(pasted: str, sentence: str) -> None:
    page = open_page(synthesizer="given_matrix", paste=pasted)
    check_sound(page)
    assert len(problems(page)) == 1
    assert sentence in problems(page)[0]


def test_a_pasted_matrix_is_judged_by_its_own_digits() -> None:
    page = open_page(synthesizer="given_matrix", paste="0.7,0.3\n0.1,0.9", epsilon=1.8, delta=0.0)
    check_sound(page)
    assert verdict(page) == "✗ broken"
    assert readable(math.log(7), 7) == "1.94591"
    assert "exact ε (substituted row) 1.94591" in text(page)
    assert not offers(page)


@pytest.mark.parametrize(
    "paste",
    ["0.7,0.3\n0.1,0.9", "0.9,0.1\n0.2,0.8", PRINTED_FIGURES[1].text, "0.5,0.5,0\n0.25,0.5,0.25", "0.1,0.9\n.25,.75"],
)
def test_every_probability_shown_was_typed(paste: str) -> None:
    page = open_page(synthesizer="given_matrix", paste=paste)
    check_sound(page)
    matrix = next(part for part in html(page) if "Transition matrix Pr(released | confidential), Your own" in part)
    shown = sorted(float(value) for value in re.findall(r">(\d\.\d{6})<", matrix.partition("Log-odds")[0]))
    assert shown == sorted(read_matrix(paste).probabilities.ravel())


@pytest.mark.parametrize("sums", [[0.99, 1.01], [1.00001, 1.0], [0.93, 1.08]])
def test_rows_that_were_rounded_are_divided_by_their_sums_by_a_button(sums: list[float]) -> None:
    """Whether the matrix was refused for its sums or not, pasted or in a file; what was refused is then the answer."""
    rows = [[0.2, round(one - 0.2, 6)] for one in sums]
    given = "\n".join(f"{first},{second}" for first, second in rows)
    page = open_page(synthesizer="given_matrix", paste=given)
    assert bool(problems(page)) == (abs(sums[0] - 1) > 1e-4)
    page.button(key="tm_rescale").click().run()
    check_sound(page)
    found = read_matrix(page.session_state["tm_paste"])
    assert found.probabilities == pytest.approx(np.array(rows) / np.sum(rows, axis=1, keepdims=True), rel=1e-15)
    assert not problems(page) and "rescaled" not in text(page)
    assert not [one for one in page.button if one.key == "tm_rescale"]

    page = open_page(synthesizer="given_matrix")
    uploader: Any = page.get("file_uploader")[0]
    uploader.set_value(("rounded.csv", given.encode(), "text/csv")).run()
    page.button(key="tm_rescale").click().run()
    check_sound(page)
    assert not problems(page) and "rounded.csv" in text(page)
    name, upload = page.session_state["tm_uploaded"]
    assert name == "rounded.csv" and read_matrix(upload.content) == found


def test_what_was_not_rounded_is_not_rescaled() -> None:
    for given in ("20,80\n50,50", "0.5,0.2\n0.5,0.5", "0.5,0.5\n0.25,0.75", "1.1,-0.1\n0.5,0.49", "words"):
        assert rescaled(given) is None


def offers(page: AppTest) -> list[Any]:
    return [toggle for toggle in page.toggle if str(toggle.key).startswith("tm_recognized")]


def test_figure_1_is_judged_as_typed_and_its_law_is_an_offer_that_the_address_keeps() -> None:
    page = open_page(synthesizer="given_matrix")
    check_sound(page)
    (offer,) = offers(page)
    assert not offer.value
    assert (
        offer.label == "These printed digits equal the Posterior-mean plug-in with n = 5, m = 5, α = 0.5, β = 0.5. "
        "Use its exact values?"
    )
    assert "exact ε (substituted row) 5.498192" in text(page)
    assert "4 of your rows do not sum to exactly 1 (row 2 sums to 1.000001). They are not rescaled." in text(page)
    offer.set_value(True).run()
    check_sound(page)
    assert "exact ε (substituted row) 5.493061" in text(page)
    shown = " ".join(html(page))
    assert all(f">{value:.6f}<" in shown for number in (1, 2) for value in PRINTED_FIGURES[number].values.ravel())
    again = open_page({"tm_synthesizer": "given_matrix", "tm_recognized": address(page)["tm_recognized"]})
    assert text(again) == text(page)
    offers(again)[0].set_value(False).run()
    assert "tm_recognized" not in address(again)
    assert "exact ε (substituted row) 5.498192" in text(again)
    wrong = open_page({"tm_synthesizer": "given_matrix", "tm_recognized": "laplace-5-2"})
    assert "the link, tm_recognized = laplace-5-2:" in problems(wrong)[0]
    assert not offers(wrong)[0].value


@pytest.mark.parametrize("between", [None, "0.7,0.3\n0.1,0.9", "no matrix"])
def test_an_offer_taken_for_one_matrix_is_not_taken_for_the_next(between: str | None) -> None:
    page = open_page(synthesizer="given_matrix")
    offers(page)[0].set_value(True).run()
    for pasted in [between, PRINTED_FIGURES[3].text] if between else [PRINTED_FIGURES[3].text]:
        page.text_area(key="tm_paste").set_value(pasted).run()
        taken = [offer for offer in offers(page) if offer.value]
        assert bool(taken) == (pasted == "no matrix")  # there the last answer stays, as it was asked for
    check_sound(page)
    assert "equal the Laplace sanitizer with n = 5, ε = 2." in offers(page)[0].label
    assert "Your numbers are used exactly as given" in text(page)
    page.text_area(key="tm_paste").set_value(PRINTED_FIGURES[1].text).run()
    assert not problems(page)
    assert not offers(page)[0].value


def test_a_given_zero_makes_epsilon_infinite_and_the_cell_is_named() -> None:
    page = open_page(synthesizer="given_matrix", paste="0.5,0.5,0\n0.25,0.5,0.25\n0.2,0.6,0.2", delta=0.0)
    check_sound(page)
    assert verdict(page) == "✗ broken"
    assert "(2, 0) can be published from the data (1, 1) but never from their neighbour (0, 2)" in text(page)
    assert "ε = ∞" in text(page)
    assert ">∞<" in " ".join(html(page))


@pytest.mark.parametrize("paste", ["1,0\n0,1", "0.5,0.5\n0.5,0.5", "0,1\n0,1"])
@pytest.mark.parametrize("section", [None, *SECTIONS])
def test_the_smallest_and_plainest_matrices_are_shown(paste: str, section: str | None) -> None:
    check_sound(open_page(synthesizer="given_matrix", paste=paste, look=section))
    check_sound(open_page(synthesizer="given_matrix", paste=paste, look=section, show="pictures", picture="log-odds"))


@pytest.mark.parametrize("characters", [4000, 4001])
def test_a_text_too_long_for_the_address_is_no_part_of_it_and_no_other_matrix_takes_its_place(characters: int) -> None:
    rows = "0.5,0.5\n0.25,0.75"
    page = open_page(synthesizer="given_matrix", paste=rows + "\n" * (characters - len(rows)))
    assert verdict(page)
    carried = address(page)["tm_paste"]
    again = open_page({"tm_synthesizer": "given_matrix", "tm_paste": carried})
    if characters > 4000:
        assert "longer and not part of it" in text(page)
        assert carried == ""
        assert any("There is nothing in it" in sentence for sentence in problems(again))
    else:
        assert text(again) == text(page)


def test_a_longer_text_of_a_link_is_left_out_and_the_sentence_says_so() -> None:
    page = open_page({"tm_synthesizer": "given_matrix", "tm_paste": "0.5,0.5\n" * 501})
    check_sound(page)
    assert len("0.5,0.5\n" * 501) == 4008
    assert problems(page)[0].endswith("a link carries texts of up to 4,000 characters; this one has 4,008.")
    assert page.text_area(key="tm_paste").value == open_page(synthesizer="given_matrix").text_area(key="tm_paste").value


@pytest.mark.parametrize(("read", "longest"), [(lambda text: typed_counts(text, 9), 4000), (typed_tables, 100_000)])
def test_typed_counts_are_refused_before_they_are_split(read: Any, longest: int) -> None:
    with pytest.raises(ValueError, match=f"must have at most {longest:,} characters; got {longest + 1:,}."):
        read("1" + " " * longest)


@pytest.mark.parametrize("content", [matrix_csv(FIG_1).encode(), b"PK\x03\x04", b"\xff\xfe\x00", b"0.5;0.5\r\n1;0\r\n"])
def test_an_uploaded_file_is_read_or_answered_in_a_sentence(content: bytes) -> None:
    page = open_page(synthesizer="given_matrix", look="Download")
    uploader: Any = page.get("file_uploader")[0]
    uploader.set_value(("matrix.csv", content, "text/csv")).run()
    check_sound(page)
    assert bool(problems(page)) == (content[:2] in (b"PK", b"\xff\xfe"))


@pytest.mark.parametrize("decimals", [6, 600])
def test_an_uploaded_matrix_is_decoded_once_and_a_long_text_does_not_travel(
    decimals: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script carries up to 20,000 characters, and 36 numbers of 603 are more."""
    decoded: list[int] = []
    read = vars(brought)["text_of"]
    monkeypatch.setattr(brought, "text_of", lambda content: decoded.append(len(content)) or read(content))
    content = "\n".join([",".join([f"{1 / 6:.6f}"[:-1] + "7" + "0" * (decimals - 6)] * 6)] * 6).encode()
    forget()
    page = open_page(synthesizer="given_matrix", look="Download")
    decoded.clear()
    uploader: Any = page.get("file_uploader")[0]
    uploader.set_value(("matrix.csv", content, "text/csv")).run()
    for epsilon in (0.5, 0.7, 0.9):
        page.number_input(key="tm_epsilon").set_value(epsilon).run()
        check_sound(page)
    assert decoded == [len(content)]
    valid = page.session_state["tm_"].valid
    assert valid.design.mechanism.shape == (6, 6)
    assert (valid.given_text is None) == (len(content) > 20_000)
