"""The page "Minimum priors": whatever is set, it answers with the exact numbers or says in a sentence what is wrong."""

import math
import re
from dataclasses import asdict
from html import escape

import mpmath
import numpy as np
import pytest
from scipy.stats import binom
from streamlit.testing.v1 import AppTest

from dpviz import priors
from dpviz.audit.text import audit_headline
from dpviz.audit.theorem_audit import audit_theorems as audit
from dpviz.calibration.quantities import PRIOR_QUANTITY, RANGE_QUANTITY
from dpviz.calibration.several_sets import minimum_prior_for_sets
from dpviz.core.formatting import format_number
from dpviz.priors import CALIBRATED, METHODS, GaussianRelease, Setting, maximum_range, minimum_prior, release
from dpviz.privacy import delta_for_epsilon, epsilon_for_delta, pure_epsilon
from pages import minimum_priors as details
from pages.minimum_priors import FAMILIES
from tests.pages.apptest import answer, cells_of, figures, move, opener, plain_text, problems, said, settings, widget

SMALL = {"n": 40, "epsilon": 1.5, "delta": 1e-4}
NEEDED = "The exact "
WAYS = "The prior that the sets need, by way of counting"
prior_text = PRIOR_QUANTITY.text
open_priors = opener("minimum_priors")


def table_of(app: AppTest, name: str) -> str:
    """HTML of the table whose accessible name begins so."""
    bodies = [part.proto.body.replace("\u00a0", " ") for part in app.get("html")]
    return next(body for body in bodies if f'aria-label="{name}' in body)


def level_in(cell: str) -> str:
    """The prior below invented rows in a cell, or a range."""
    return cell.rpartition("α = ")[2]


@pytest.mark.parametrize(
    ("n", "epsilon", "delta", "mark"), [(1, 1.378, 0.00023, "0.675"), (1, 0.9, 0.0002, "1.38"), (2, 1.7, 1e-4, "0.895")]
)
def test_where_delta_saves_hardly_any_the_mark_keeps_the_promise_without_it(n, epsilon, delta, mark) -> None:
    """The sentence is about the rows without δ: 2 n / (e^ε − 1) of them, which the mark must not fall below."""
    app = open_priors(n=n, epsilon=epsilon, delta=delta)
    assert f"{mark} invented rows" in answer(app)[: len(mark) + 20]
    assert "too small to save a noticeable share" in answer(app)
    assert f"must mix in {mark} invented rows" in re.sub(" +", " ", answer(app)).replace("the weight of ", "")
    assert float(mark) >= 2 * n / math.expm1(epsilon)


@pytest.mark.parametrize("axis", details.AXES)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_picture_holds_the_answer_and_keeps_its_axes_and_marks_while_its_curves_are_computed(
    family: str, axis: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_priors(family=family, axis=axis, **SMALL)
    picture = figures(app)["mp_curves"]
    assert axis in picture["alt"]
    written = [trace["text"][0] for trace in picture["figure"]["data"] if "text" in trace.get("mode", "")]
    cell = cells_of(app, NEEDED)["SYNTH_Post(One)"][1].partition("α = ")[0].strip()
    if family == "Gaussian":
        cell = RANGE_QUANTITY.text(float(cell), 3)
    assert written == [f"<b>{cell}</b>"]
    assert not problems(app)

    # Before the curves are known
    whole = picture["figure"]
    monkeypatch.setattr("pages.ui.progress", lambda *args, **rest: (None, False))
    first = figures(app.run())["mp_curves"]["figure"]
    for part in ("xaxis", "yaxis"):
        assert first["layout"][part]["range"] == pytest.approx(whole["layout"][part]["range"])
    marks = [
        [trace["y"] for trace in figure["data"] if trace["mode"].startswith("markers")] for figure in (first, whole)
    ]
    assert len(marks[0]) == len(marks[1])
    for early, late in zip(*marks, strict=True):
        assert early == pytest.approx(late, rel=1e-11, nan_ok=True)
    assert "points so far, more to come" in said(app)


SENTENCES = [
    ({"look": "Average case", "theta": 0.0}, "nothing is random"),
    ({"look": "Average case", "theta": 1.0}, "nothing is random"),
    ({"look": "Average case", "n": 2001}, "for n and m up to 2,000"),
    ({"look": "Average case", "m_is_n": "false", "m": 2001}, "for n and m up to 2,000"),
    ({"look": "Subsampling", "population": 39}, "must hold at least the n = 40 rows"),
    ({"look": "Subsampling", "n": 401, "population": 2000}, "for n and m up to 400"),
    ({"look": "Probabilistic δ", "n": 2001}, "for n and m up to 2,000"),
    ({"look": "Probabilistic δ", "delta": 0.0}, "At δ = 0 both are pure ε-differential privacy"),
    ({"look": "The inverse", "alpha": 1.0}, "needs α > 1"),
    ({"look": "Uneven priors", "beta": 0.5}, "needs β > 1"),
    ({"family": "Gaussian", "look": "The inverse", "reach": 1e-6}, "for every method"),
    ({"family": "Gaussian", "look": "The inverse", "reach": 1e6}, "for no method"),
    ({"n": 100_000, "axis": "against n"}, "n = m = 100,000"),
    ({"family": "Gaussian", "look": "Why, and sources"}, "this page finds the largest R/σ"),
    ({"look": "Why, and sources"}, "What the paper prints and its own definitions contradict"),
]


@pytest.mark.parametrize(("query", "sentence"), SENTENCES, ids=lambda part: str(part)[:60])
def test_what_a_closer_look_does_not_compute_it_says(query: dict[str, object], sentence: str) -> None:
    app = open_priors(**SMALL | query)
    assert not problems(app) and sentence in said(app)


def test_closer_looks_are_those_that_make_sense_for_a_kind_of_data_whose_settings_survive_another_one() -> None:
    app = open_priors(look="Average case", p=0.3, **SMALL)
    claims = table_of(app, "Section 6.3 of the thesis")
    assert all(f"{name} 6.{number}" in claims for name, number in (("Proposition", 17), ("Corollary", 19)))
    move(app, mp_family="Gaussian")
    assert app.session_state["mp_look"] is None and not problems(app)
    assert [option.content for option in widget(app, "mp_family").proto.options] == [
        "yes or no",
        "categories",
        "numbers",
    ]
    assert settings(app)["mp_family"] == "Gaussian"
    names = [option.content for option in widget(app, "mp_look").proto.options]
    assert names == ["As published", "The inverse", "Several sets", "Download", "Why, and sources"]
    for family in ("k categories", "Bernoulli"):
        assert settings(move(app, mp_family=family))["mp_n"] == "40"
    assert "bias at p = 0.3" in said(app)


def test_a_release_brings_its_kind_of_data_and_takes_that_of_the_page_along() -> None:
    assert "Dirichlet-multinomial" in answer(open_priors(synthesizer="dirichlet_multinomial", n=50))
    app = open_priors(x=12, **SMALL)
    assert {"synthesizer": "beta_binomial", "prior": "exact", "x": 12, "n": 40}.items() <= app.session_state[
        "visit"
    ].release.items()
    move(app, mp_n=80)  # the people who say yes follow
    assert (app.session_state["visit"].release["x"], settings(app)["mp_x"]) == (24, "24")
    move(app, mp_family="k categories")
    assert app.session_state["visit"].release["synthesizer"] == "dirichlet_multinomial"


ANSWERED = [
    ("Bernoulli", Setting(n=40, m=25, epsilon=0.7, delta=1e-3)),
    ("Bernoulli", Setting(n=25, m=40, epsilon=2.0, delta=0.0)),
    ("k categories", Setting(n=40, m=25, epsilon=0.7, delta=1e-3, cells=4)),
    ("Gaussian", Setting(n=40, m=25, epsilon=0.7, delta=1e-3, sigma=2.0, sigma0=0.5)),
]


@pytest.mark.parametrize(("family", "setting"), ANSWERED, ids=str)
def test_the_numbers_shown_are_the_exact_ones_and_keep_the_promise(family: str, setting: Setting) -> None:
    kind = FAMILIES[family]
    query = {name: getattr(setting, name) for name in ("n", "m", "epsilon", "delta", *kind.numbers)}
    shown = cells_of(open_priors(family=family, m_is_n="false", **query), NEEDED)
    sizes = {"n": setting.n, "m": setting.m, "epsilon": setting.epsilon}
    deltas = [0.0, setting.delta] if setting.delta else [0.0]
    assert shown["PARAM_MAP"][: len(deltas)] == ["impossible"] * len(deltas)
    for method in CALIBRATED:
        cells = shown[METHODS[method].label]
        *_, delta = deltas
        level = level_in(cells[len(deltas) - 1]).replace(",", "")
        if family == "Gaussian":
            spread = {"sigma": setting.sigma, "sigma0": setting.sigma0}
            values = [maximum_range(method, **sizes, **spread, delta=share) for share in deltas]
            ranges = GaussianRelease(method=method, n=setting.n, m=setting.m, **spread)
            assert ranges.delta(float(level), setting.epsilon) <= delta
            assert cells[-1] == format_number(float(mpmath.erfc(values[-1] / mpmath.sqrt(2))), 3)
        else:
            cell_count = kind.cells(setting)
            values = [minimum_prior(method, **sizes, delta=share, cells=cell_count) for share in deltas]
            if math.isfinite(values[-1]):
                made = release(method, n=setting.n, m=setting.m, alpha=float(level), cells=cell_count)
                assert delta_for_epsilon(made, setting.epsilon) <= delta + 1e-15
        assert [*map(level_in, cells[: len(deltas)])] == [*map(kind.quantity.text, values)]


@pytest.mark.parametrize("p", [0.1, 0.4])
def test_what_the_prior_costs_is_counted_over_all_tables(p: float) -> None:
    n, m = 40, 25
    shown = cells_of(open_priors(n=n, m=m, m_is_n="false", epsilon=0.7, delta=1e-3, p=p), NEEDED)
    for method in CALIBRATED:
        alpha = minimum_prior(method, n=n, m=m, epsilon=0.7, delta=1e-3) - (method == "synth_map")
        ones = np.arange(n + 1)
        weight = binom.pmf(ones, n, p)
        size = n + 2 * alpha
        theta = (ones + alpha) / size
        draw = theta * (1 - theta) * {"synth_post_one": 1, "param_post": 1}.get(method, 0) / (size + 1)
        rows = (theta * (1 - theta) - draw) * (method != "param_post") / m
        mean = float(weight @ theta)
        error = math.sqrt(float(weight @ (draw + rows + (theta - mean) ** 2)))
        assert shown[METHODS[method].label][-2:] == [f"+{format_number(mean - p, 3)}", format_number(error, 3)]


@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_several_sets_need_what_their_composition_says(delta: float) -> None:
    app = open_priors(look="Several sets", n=40, m=25, m_is_n="false", epsilon=1.5, delta=delta, sets=5)
    assert "M = 5 sets together" in answer(app)
    shown = cells_of(app, NEEDED)
    ways = cells_of(app, WAYS)
    assert ("mp_sets_picture" in figures(app)) == (delta > 0)
    for method in CALIBRATED:
        label = METHODS[method].label
        needed = minimum_prior_for_sets(method, n=40, m=25, sets=5, epsilon=1.5, delta=delta)
        pure, split = (minimum_prior(method, n=40, m=25, epsilon=0.3, delta=share) for share in (0.0, delta / 5))
        assert level_in(shown[label][0]) == level_in(ways[label][0]) == prior_text(pure)
        assert level_in(ways[label][1]) == prior_text(split)
        if delta > 0:
            assert level_in(shown[label][1]) == prior_text(needed)
            assert float(level_in(ways[label][3]).replace(",", "")) == pytest.approx(needed, rel=1e-4)


@pytest.mark.parametrize("sets", [1, 3, 5])
def test_a_section_of_sets_has_its_picture_before_all_is_computed(sets: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = figures(open_priors(look="Several sets", sets=sets, **SMALL))["mp_sets_picture"]["figure"]["layout"]
    monkeypatch.setattr("pages.ui.progress", lambda *args, **rest: (None, False))
    app = open_priors(look="Several sets", sets=sets, **SMALL)
    first = figures(app)["mp_sets_picture"]["figure"]["layout"]
    assert first["xaxis"]["range"] == pytest.approx(whole["xaxis"]["range"])
    assert "…" in said(app)
    assert f"are enough to keep ε = 1.5, δ = 0.0001 for all {5 if sets == 1 else sets} sets together" in said(app)


def test_sets_beyond_reach_take_no_other_answer_with_them() -> None:
    query = {"family": "k categories", "n": 2000, "sets": 5, "delta": 1e-6}
    app = open_priors(look="Several sets", **query)
    assert "Beyond reach: " in said(app)
    ways = cells_of(app, WAYS)
    for label, cells in cells_of(app, NEEDED).items():
        if label != "PARAM_MAP":
            is_beyond = label == "SYNTH_Post(One)"
            assert ("beyond reach" in cells) == (ways[label][-1] == "beyond reach") == is_beyond
    assert "printed claims that can be checked" in said(open_priors(look="As published", **query))


@pytest.mark.parametrize(("alpha", "kept"), [(33.0, False), (33.1, True)])
def test_the_inverse_says_what_all_sets_together_keep(alpha: float, kept: bool) -> None:
    """Five sets of SYNTH_Post(One) need 33.0777 at n = m = 100, ε = 1 and δ = 10⁻⁵; a single one needs less."""
    app = open_priors(look="The inverse", n=100, epsilon=1.0, delta=1e-5, sets=5, alpha=alpha)
    _, together = said(app).split("With all 5 sets together, counted exactly, it does so for ")
    assert together.startswith("SYNTH_Post(One)" if kept else "no method")
    shown = cells_of(app, "What this prior or range gives")["SYNTH_Post(One)"]
    assert shown[-1] == format_number(5 * pure_epsilon(release("synth_post_one", n=100, m=100, alpha=alpha)), 5)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_inverse_shows_the_exact_privacy_of_a_prior_or_range(family: str) -> None:
    shown = cells_of(open_priors(family=family, look="The inverse", alpha=3.5, reach=0.8, **SMALL), "What this prior")
    for method in CALIBRATED:
        if family == "Gaussian":
            made = GaussianRelease(method=method, n=40, m=40, sigma=1.0, sigma0=1.0)
            numbers = made.pure_epsilon(0.8), made.epsilon(0.8, 1e-4), made.delta(0.8, 1.5)
        else:
            law = release(method, n=40, m=40, alpha=3.5, cells=3 if family == "k categories" else 2)
            numbers = pure_epsilon(law), epsilon_for_delta(law, 1e-4), delta_for_epsilon(law, 1.5)
        *epsilons, delta = numbers
        words = ["unbounded" if math.isinf(value) else format_number(value, 5) for value in epsilons]
        assert shown[METHODS[method].label] == [*words, format_number(delta, 4)]


def test_further_kinds_of_priors_stand_beside_the_even_one() -> None:
    sizes = {"n": 40, "m": 40, "epsilon": 1.5, "delta": 1e-4}
    probabilistic = cells_of(open_priors(look="Probabilistic δ", **SMALL), "Smallest priors for two kinds of δ")
    uneven = cells_of(
        open_priors(look="Uneven priors", ratio=3.0, beta=30.0, **SMALL), "Smallest priors of uneven shape"
    )
    for method in CALIBRATED:
        label = METHODS[method].label
        both = minimum_prior(method, **sizes), priors.minimum_prior_probabilistic(method, **sizes)
        assert probabilistic[label][:2] == [*map(prior_text, both)]
        leaning = minimum_prior(method, **sizes, ratio=3.0)
        fixed = minimum_prior(method, **sizes, beta=30.0)
        expected = [f"{prior_text(leaning)}, β = {prior_text(3 * leaning)}", prior_text(fixed)]
        assert uneven[label][1:] == expected


def test_the_script_shown_is_the_one_of_these_settings() -> None:
    for family, kind in FAMILIES.items():
        code = open_priors(family=family, look="Download", **SMALL).code[-1].value
        assert "n=40, m=40, epsilon=1.5, delta=0.0001" in code
        assert f"audit('{kind.key}', **settings)" in code


AUDITED = [
    ("Bernoulli", Setting(n=1000, m=1000, epsilon=1.0, delta=1e-6)),
    ("k categories", Setting(n=40, m=25, epsilon=1.0, delta=1e-4, cells=5)),
    ("Gaussian", Setting(n=100, m=100, epsilon=1.0, delta=1e-5, sigma=1.0, sigma0=1.0)),
]
UNSAFE = "Printed theorems that are unsafe"
OTHERS = "The other printed theorems"


def open_audit(family: str, setting: Setting, **query: object) -> AppTest:
    """Open the audit with its folded tables."""
    names = ("n", "m", "epsilon", "delta", *FAMILIES[family].numbers)
    values = {name: getattr(setting, name) for name in names}
    app = open_priors(family=family, m_is_n="false", look="As published", **values, **query)
    app.session_state["mp_others"] = True
    return app.run()


@pytest.mark.parametrize(("family", "setting"), AUDITED, ids=str)
def test_every_claim_has_its_verdict_and_sentence_in_its_table(family: str, setting: Setting) -> None:
    app = open_audit(family, setting)
    findings = audit(FAMILIES[family].key, **asdict(setting))
    assert " ".join(plain_text(audit_headline(findings)).split()) in said(app)
    for finding in findings:
        table = table_of(app, UNSAFE if finding.verdict == "unsafe" else OTHERS)
        assert finding.theorem.name in table
        assert escape(finding.sentence) in table


def test_a_release_too_large_to_audit_is_still_answered() -> None:
    setting = Setting(n=40, m=60_000, epsilon=1.5, delta=0.0, cells=3)
    app = open_audit("k categories", setting)
    assert "PARAM_Post" in cells_of(app, NEEDED)
    assert "m (released rows) must be at most 2,000, or 20 times n, for 3 cells" in said(app)
