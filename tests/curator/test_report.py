"""The report of the curator's desk: its script writes the same bytes, and every number says where it is from."""

import html
import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import markupsafe
import pytest

from dpviz.comparisons import CategoryData, CountData, UnknownVariance
from dpviz.core.formatting import format_number
from dpviz.core.monte_carlo import Measure
from dpviz.curator.candidate import Candidate
from dpviz.curator.figures import SvgAxis, padded
from dpviz.curator.measures import ACCURACY_MEASURES, AccuracyLimit
from dpviz.curator.privacy_limits import (
    PRIVACY_LIMITS,
    EpsilonDeltaLimit,
    GuessingLimit,
    PosteriorLimit,
    PrivacyLimit,
    RiskRatioLimit,
)
from dpviz.curator.provenance import ReportedNumber, reported_numbers
from dpviz.curator.question import QUESTION_KINDS, DesignQuestion
from dpviz.curator.report import (
    choice_text,
    chosen_design,
    design_to_json,
    load_design,
    registry_entry,
    render_report,
    report_script,
)
from dpviz.curator.search import SearchResult, evaluate_designs
from dpviz.privacy import pure_epsilon, trade_off_curve
from pages.ui.navigation import PAGES
from tests.browser import ROOT
from tests.curator.questions import asking
from tests.helpers import ROUNDING, assess, check_close

COUNT = CountData(n=40, m=40, p=0.5)
CELLS = CategoryData(n=40, m=40, p=0.5, cells=3)
NUMBERS = UnknownVariance(n=50, mean=0.0, sigma=1.0, low=-4.0, high=4.0)
ONE = asking(
    EpsilonDeltaLimit(most_epsilon=1.5), RiskRatioLimit(), n=40, low=0.2, high=0.4, coverage=0.7, error=0.2,
    methods=("geometric", "laplace", "beta_binomial"),
)  # fmt: skip
QUESTIONS = {
    "exact": ONE,
    "several sets": asking(
        GuessingLimit(), PosteriorLimit(), n=40, low=0.2, high=0.4, values=2, sets=(3,), goal="mean_width",
        methods=("modips", "beta_binomial"),
    ),
    "with delta": asking(
        EpsilonDeltaLimit(most_epsilon=0.5, most_delta=0.01), n=12, low=0.5, high=0.5, average=True,
        methods=("beta_binomial", "laplace"),
    ),
    "simulated": asking(
        data=NUMBERS, low=-0.5, high=0.5, values=2, sets=(1, 2), repetitions=100, epsilon=3.0, width=0.9,
        methods=("modips_split", "perturbed_histogram_safe", "smoothed_histogram"),
    ),
    "categories": asking(
        data=CategoryData(n=30, m=30, p=0.5, cells=4), low=0.2, high=0.3, values=2, sets=(1, 2), repetitions=100,
        epsilon=2.0, success=0.9,
    ),
    "accuracy alone": asking(n=40, low=0.2, high=0.4, values=2, methods=("geometric",), error=0.2, goal="epsilon"),
}  # fmt: skip


@cache
def answered(name: str) -> tuple[SearchResult, Candidate]:
    *_, desk = evaluate_designs(QUESTIONS[name])
    assert desk.best is not None
    return desk, chosen_design(desk, desk.best.key)


@cache
def page(name: str) -> str:
    return render_report(*answered(name))


def words(text: str) -> str:
    """What a reader sees."""
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", text)).split())


def number(design: Candidate, label: str) -> ReportedNumber:
    return next(item for item in reported_numbers(design) if item.label.startswith(label))


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_number_of_a_design_stands_in_its_report_and_says_how_it_follows_and_where_it_is_found(name: str) -> None:
    _, design = answered(name)
    titles, report = {page.title for page in PAGES} | {"Curator's desk"}, words(page(name))
    for item in reported_numbers(design):
        assert item.label and item.formula
        assert item.page in titles
        assert item.source or item.formula.startswith("as given")
        assert math.isnan(item.measure.value) == bool(item.note) == (item.text() == "not known")
        assert ("simulated" in item.method) == (item.measure.error > 0) == ("±" in item.text())
        assert words(item.label) in report
        assert item.text() in report
        assert item.location in report


def largest_value(limit: PrivacyLimit) -> float:
    """The largest value of what is limited: the last number of a limit."""
    return float(getattr(limit, limit.parameters()[-1].name))


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_a_release_with_the_promised_loss_reaches_a_limit_on_odds_and_risks(epsilon: float) -> None:
    for limit in (PosteriorLimit(believed_before=0.2, most_after=0.6), RiskRatioLimit(risk_before=0.3, most_ratio=2.5)):
        loss, delta = limit.as_epsilon_delta()
        assert delta == 0
        assert limit.attained(loss, lambda _: math.nan) == pytest.approx(largest_value(limit), rel=1e-12)
        assert (limit.attained(epsilon, lambda _: math.nan) > largest_value(limit)) == (epsilon > loss)


@pytest.mark.parametrize("prior", [0.05, 0.5, 0.8])
def test_a_release_with_the_promised_delta_reaches_a_limit_on_right_guesses(prior: float) -> None:
    limit = GuessingLimit(known_before=prior, most_success=0.97)
    epsilon, delta = limit.as_epsilon_delta()
    assert limit.attained(9.0, {epsilon: delta}.__getitem__) == pytest.approx(largest_value(limit), rel=1e-12)


def test_what_a_design_gives_away_is_what_its_release_gives_away() -> None:
    _, design = answered("exact")
    other_pages = design.method.design(COUNT, design.epsilon, 1)
    assert other_pages is not None
    release = other_pages.synthesizer
    assert number(design, "Exact privacy loss").measure.value == pytest.approx(pure_epsilon(release), rel=ROUNDING)
    curve = trade_off_curve(release)
    assert number(design, "Share of right guesses").measure.value == pytest.approx(curve.success(0.5), rel=1e-9)
    assert number(design, "Largest factor").measure.value == pytest.approx(math.exp(pure_epsilon(release)))
    assert number(design, "Price").measure.value >= 1


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_limit_is_reached_no_further_than_it_may(name: str) -> None:
    _, design = answered(name)
    for limit in design.question.protections:
        attained = number(design, limit.attained_label[0].upper() + limit.attained_label[1:])
        assert attained.measure.value <= largest_value(limit) * (1 + 1e-9) + 1e-12


def test_where_only_the_loss_is_known_rates_are_bounds() -> None:
    _, design = answered("simulated")
    rate = number(design, "Share of right guesses")
    assert rate.is_bound
    assert rate.text().startswith("at most")
    loss = design.real_epsilon
    assert loss is not None
    assert rate.measure.value == pytest.approx(1 / (1 + math.exp(-loss)), rel=1e-12)
    assert not number(design, "Probability mass").is_bound


@pytest.mark.parametrize("name", ["exact", "simulated"])
def test_the_page_that_compares_finds_the_same_numbers_at_the_same_truth(name: str) -> None:
    _, design = answered(name)
    question = design.question
    for key, measure in ACCURACY_MEASURES.items():
        worst = design.worst_cases[key]
        data = replace(question.data, **{question.data.true_value: worst.location})
        *_, outcome = data.compare([design.method], [design.epsilon], design.analysis)
        value = measure.of(outcome)
        check_close(value.error, worst.measure.error)
        if worst.n_tried:
            check_close(value, worst.measure)
        assert value.value == pytest.approx(worst.measure.value, rel=1e-9, abs=1e-15) or key == "coverage"
        if key == "coverage":  # beside a jump, whose larger side is that at the end of the closed interval itself
            assert value.value >= worst.measure.value - 1e-9


def test_a_simulated_number_has_the_digits_that_its_error_leaves() -> None:
    def text(value: float, error: float) -> str:
        return ReportedNumber(part="", label="", formula="", measure=Measure(value, error)).text()

    assert text(0.870201, 0.0018) == "0.8702 ± 0.0018"
    assert text(123.456, 12.0) == "123 ± 12"
    assert text(0.25, 0.0) == "0.25"
    assert text(0.0001, 0.02) == "0.0001 ± 0.02"
    assert text(math.nan, math.nan) == "not known"


@pytest.mark.parametrize("processor", [{}, {"OPENBLAS_CORETYPE": "Prescott"}], ids=["this", "an old"])
def test_the_script_of_a_report_writes_it_again_to_the_last_byte(tmp_path: Path, processor: dict[str, str]) -> None:
    """Products of matrices add in another order on another processor, which changes the last digit of a float."""
    desk, design = answered("exact")
    origin = {"pilot_note": 'n from "a <file>"', "date": "1 May 2026", "address": "http://x/curator?cu_n=1&cu_p='"}
    script = tmp_path / "report.py"
    script.write_text(report_script(design, **origin), encoding="utf-8")
    run = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env={"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"} | processor,
        check=True, capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert (tmp_path / "report.html").read_bytes() == render_report(desk, design, **origin).encode()
    printed = [line.split(" | ")[-2:] for line in run.stdout.splitlines()]
    assert printed == [[repr(item.rounded.value), repr(item.rounded.error)] for item in reported_numbers(design)]


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_script_holds_the_question_as_it_was_asked(name: str) -> None:
    _, design = answered(name)
    script = report_script(design)
    (question,) = re.findall(r'DesignQuestion.from_json\(r"""(.*?)"""\)', script, re.DOTALL)
    assert DesignQuestion.from_json(question) == design.question
    assert str(markupsafe.escape(script)) in page(name)


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_report_fetches_nothing_and_runs_nothing(name: str) -> None:
    text = page(name)
    assert not re.search(r"<(script|link|img|iframe|object|embed)|\bsrc=|\bhref=|url\(|@import|\son\w+=", text)
    assert set(re.findall(r"https?://[^\s\"<]+", text)) <= {"http://www.w3.org/2000/svg"}
    assert text.count("<section") == text.count("</section>") == 10


def test_what_a_reader_typed_is_shown_and_not_run() -> None:
    desk, design = answered("exact")
    note = "<script>alert(1)</script> & <b>"
    text = render_report(desk, design, pilot_note=note, date="<i>")
    assert "<script" not in text
    assert "<i>," not in text
    assert text.count(html.escape(note)) >= 2
    assert note in words(text) or html.escape(note) in text


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_report_says_what_is_simulated_exactly_where_something_is(name: str) -> None:
    _, design = answered(name)
    caveats = words(page(name).split("Caveats")[1].split("Handing over")[0])
    simulated = [item for item in reported_numbers(design) if item.measure.error > 0]
    assert ("Simulated, with" in caveats) == bool(simulated)
    assert ("No number of this design is simulated" in caveats) == (not simulated)
    assert all(item.text(4) in caveats for item in simulated)
    assert "Mironov" in caveats
    assert "substituted" in caveats
    assert ("bounds that follow" in caveats) == any(item.is_bound for item in reported_numbers(design))


def test_only_a_complete_answer_has_a_report_and_a_chosen_design_is_completed() -> None:
    first = next(result for result in evaluate_designs(ONE) if result.designs)
    assert first.best is not None
    with pytest.raises(ValueError, match="must be complete"):
        render_report(first, first.best)
    with pytest.raises(ValueError, match="must be that of a design"):
        chosen_design(answered("exact")[0], ("laplace", 9, "as_if_real"))
    desk, _ = answered("exact")
    assert all(chosen_design(desk, ranked.key).is_complete for ranked in desk.designs)


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-3.0, -2.9), (1e-6, 3e-6), (0.94, 0.951), (100.0, 5e5)])
def test_an_axis_has_a_few_round_numbers_inside_its_ends(low: float, high: float) -> None:
    ticks = SvgAxis(low, high, 0, 100).ticks()
    assert 2 <= len(ticks) <= 7
    assert all(low - 1e-9 * (high - low) <= tick <= high + 1e-9 * (high - low) for tick in ticks)
    assert padded([low, high])[0] < low < high < padded([low, high])[1]
    assert padded([low, low])[0] < low < padded([low, low])[1]


@pytest.mark.parametrize(("low", "high"), [(0.1, 10.0), (0.03, 0.3), (1e-5, 1e-4), (10.0, 100.0)])
def test_a_logarithmic_axis_has_round_numbers_inside_its_ends(low: float, high: float) -> None:
    axis = SvgAxis(low, high, 0, 100, is_log=True)
    assert 3 <= len(axis.ticks()) <= 8
    assert all(low * (1 - 1e-9) <= tick <= high * (1 + 1e-9) for tick in axis.ticks())
    assert [axis.at(end) for end in (low, math.sqrt(low * high), high)] == [0, 50, 100]


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_picture_is_drawn_inside_its_frame(name: str) -> None:
    pictures = re.findall(r"<svg viewBox=\"0 0 (\S+) (\S+)\"(.*?)</svg>", page(name))
    assert len(pictures) >= (4 if len(QUESTIONS[name].truths) > 1 else 2)
    for width, height, drawn in pictures:
        for axis, largest in (("x", float(width)), ("y", float(height))):
            places = re.findall(rf'\b[c]?{axis}[12]?="(\S+?)"', drawn)
            assert places
            assert all(-1 <= float(place) <= largest + 1 for place in places)


def test_limits_are_told_as_they_are_asked_for_on_the_page() -> None:
    question = replace(ONE, limits=(AccuracyLimit("mean_width", 0.05), AccuracyLimit("coverage", 0.9)))
    *_, desk = evaluate_designs(replace(question, protections=(GuessingLimit(most_success=0.6),)))
    assert desk.best is not None
    design = chosen_design(desk, desk.best.key)
    report = words(render_report(desk, design))
    half = format_number(50 * design.value("mean_width"), 3)
    assert f"half-width of the interval at most ±2.5 points ±{half} points at p = " in report
    assert f"coverage at least 90 % {format_number(100 * design.value('coverage'), 3)} % at p = " in report
    asked = [item for item in reported_numbers(design) if item.label.startswith("An attacker who knows nothing")]
    assert [(item.symbol, item.measure.value) for item in asked] == [("δ at ε = 0", pytest.approx(0.2))]


def test_no_two_designs_of_a_picture_have_the_same_name() -> None:
    question = replace(ONE, methods=("geometric", "laplace"), rules=("as_if_real", "score"))
    *_, desk = evaluate_designs(question)
    assert desk.best is not None
    report = render_report(desk, chosen_design(desk, desk.best.key))
    names = re.findall(r'font-size="10">(\d\. [^<]+)</text>', report)
    assert [name[3:-2] for name in names] == [design.full_name for design in desk.designs] and len(names) == 4
    assert "in grey Laplace sanitizer, one set, each" in report and "in grey Geometric" not in report


def test_the_one_design_that_keeps_all_limits_is_told_as_the_one() -> None:
    methods, limits = ("geometric", "beta_binomial"), (AccuracyLimit("root_mean_squared_error", 0.2),)
    question = replace(ONE, protections=(EpsilonDeltaLimit(most_epsilon=0.5),), methods=methods)
    *_, desk = evaluate_designs(replace(question, limits=limits))
    said = " ".join(choice_text(desk, desk.designs[0]))
    assert said.startswith(
        "2 designs were tried, and 1 of them keeps all limits. The chosen design is the one that keeps all limits."
    )


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_design_and_its_question_are_loaded_again(name: str) -> None:
    _, design = answered(name)
    text = design_to_json(design)
    assert not re.search(r"-0(\.0)?\b(?![.\d])", text.replace("e-0", "e"))  # no zero has a sign
    for file in (text, page(name)):
        question, stored = load_design(file)
        assert stored is not None and (question, stored.key) == (design.question, design.key)
        assert stored.answers(design.question) and stored.differences(design) == []
    assert load_design(design.question.to_json()) == (design.question, None)
    values = [item["value"] for item in json.loads(text)["numbers"]]
    expected = [item.rounded.value for item in reported_numbers(design)]
    assert [math.nan if item is None else item for item in values] == pytest.approx(expected, rel=0, abs=0, nan_ok=True)


@pytest.mark.parametrize("text", ["", "[]", "{}", "1", '{"question": 3}', '{"data": {}}', "\x00", "[" * 5000])
def test_a_file_that_is_no_question_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"^[A-Z].*\."):
        load_design(text)


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_registry_gets_what_it_asks_for_and_learns_when_confidential_data_were_looked_at(name: str) -> None:
    _, design = answered(name)
    entry = json.loads(registry_entry(design, pilot_note="n from a file"))
    assert set(entry) == {"url_slug", "deployment"}
    parts = entry["deployment"]
    named = "basic", "dp_variant", "privacy_loss", "deployment_model", "implementation", "administrative"
    assert tuple(parts) == named
    parameters, variant = parts["privacy_loss"]["privacy_parameters"], parts["dp_variant"]["variant_name"]
    assert (variant == "Approximate DP") == ("delta" in parameters)
    if "delta" in parameters:
        assert (parameters["epsilon"], parameters["delta"]) == design.question.promises[0]
    else:
        assert parameters == {"epsilon": design.real_epsilon}
    assert parts["privacy_loss"]["number_of_privacy_units"] == getattr(design.question.data, "n")  # noqa: B009
    assert "substituted" in parts["privacy_loss"]["privacy_unit_details"]
    assert design.method.source in parts["implementation"]["mechanisms"]
    assert ("Sequential" in parts["implementation"]["composition"]) == (design.sets > 1)
    assert parts["implementation"]["preprocessing_and_hyperparameter_tuning"] == "n from a file"


def entered(
    data: CountData, method: str = "modips_split", **changes: object
) -> tuple[Candidate, dict[str, dict[str, Any]]]:
    """A design for numbers with ε = 1, and its entry."""
    usual = {"data": data, "low": -0.5, "high": 0.5, "values": 2, "repetitions": 20, "epsilon": 1.0}
    question = asking(**usual | changes)  # type: ignore[arg-type]
    design = assess(question, question.data.method(method), 1, "as_if_real", 1.0, whole=False)
    return design, json.loads(registry_entry(design))["deployment"]


def test_the_registry_says_what_was_asked_and_leaves_the_rest_to_the_agency() -> None:
    data = UnknownVariance(n=50, mean=0.0, sigma=1.5, low=-4.0, high=4.0, estimand="variance")
    _, entry = entered(data)
    use = "Estimates of the variance, with intervals. Any other use is to be confirmed."
    assert entry["basic"]["intended_use"] == use
    assert entered(NUMBERS)[1]["basic"]["intended_use"].startswith("Estimates of the mean, ")
    assert "σ" not in entry["dp_variant"]["data_domain"]
    public = entry["dp_variant"]["unprotected_quantities"]
    assert public.endswith(
        "That they are is to be confirmed. Not taken for public: μ and σ; the design supposes μ from −0.5 "
        "to 0.5 and σ = 1.5."
    )
    assert "σ" not in public.split("Not taken")[0]
    assert entry["implementation"]["utility"].startswith(
        "The accuracy is that for a true standard deviation σ = 1.5, which is assumed: with another it can be far "
        "worse."
    )
    basic, model = entry["basic"], entry["deployment_model"]
    left = [basic[name] for name in ("name", "publication_date", "data_product_region")]
    left += [model[name] for name in ("trust_assumptions", "release_type", "access_type", "data_source_type")]
    assert set(left) == {"to be confirmed"}
    for name in ("preprocessing_and_hyperparameter_tuning", "post_processing", "justification", "composition"):
        assert "to be confirmed" in entry["implementation"][name]
    assert "rounding, moving to the nearest end" in entry["implementation"]["post_processing"]
    assert "is assumed, and to be confirmed" in entry["privacy_loss"]["privacy_unit_details"]


def test_a_method_without_a_known_epsilon_is_no_pure_dp_in_the_registry() -> None:
    _, entry = entered(NUMBERS, "perturbed_histogram_scott", epsilon=0.0, bias=1.0)
    assert entry["dp_variant"]["variant_name"] == "to be confirmed"
    assert entry["privacy_loss"]["privacy_parameters"] == {}
    assert "no finite ε is known to hold" in entry["privacy_loss"]["privacy_parameters_details"]
    _, entry = entered(NUMBERS, "perturbed_histogram_safe")
    assert entry["dp_variant"]["variant_name"] == "Pure DP"
    assert entry["privacy_loss"]["privacy_parameters"]["epsilon"] == pytest.approx(1.0)


def test_a_report_says_that_the_standard_deviation_is_assumed() -> None:
    sentence = (
        "The accuracy is that for a true standard deviation σ = 1, which is assumed: with another it can be far worse."
    )
    assert QUESTIONS["simulated"].assumptions == sentence
    assert words(page("simulated")).count(sentence) >= 3  # in the answer, the caveats and the registry's entry
    assert QUESTIONS["exact"].assumptions == ""
    assert "which is assumed: with" not in words(page("exact"))


def test_every_kind_of_data_and_of_limit_is_tried_here() -> None:
    has_simulation = {any(item.measure.error > 0 for item in reported_numbers(answered(name)[1])) for name in QUESTIONS}
    assert has_simulation == {False, True}
    assert {type(question.data) for question in QUESTIONS.values()} == set(QUESTION_KINDS.values())
    assert {limit.key for question in QUESTIONS.values() for limit in question.protections} == set(PRIVACY_LIMITS)
