"""The page "Coverage" opens the file of a run: it sets its controls to the design, and goes on to the same digits."""

import dataclasses
from functools import cache

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.coverage import run_coverage
from dpviz.designs import Design
from dpviz.simulation import save_run
from dpviz.study.plan import StudyPlan, simulation_of
from dpviz.study.results import results_to_csv
from dpviz.study.run import evaluate_cell
from pages.details.coverage_simulation import KEY
from tests.pages.apptest import open_page, press, said, settings, upload
from tests.pages.test_coverage import FAST, SMALL, complete, design_of, open_coverage

DESIGNS = {
    "another": Design(
        mechanism="beta_binomial", n=30, sets=3, epsilon=1.5, p=0.3, level=0.9, seed=4, repetitions=9000,
        rules=("raab_2017", "score"),
    ),
    "own prior, m ≠ n": Design(
        mechanism="posterior_mode", n=20, m=15, sets=2, prior="own", alpha=3.0, p=0.6, rules=("reiter_2002",),
        repetitions=4000, seed=2,
    ),
    "δ": Design(
        mechanism="beta_binomial", n=25, sets=2, prior="exact", epsilon=1.0, delta=1e-3, p=0.2,
        rules=("reiter_2002",), repetitions=4000,
    ),
    "noise": Design(mechanism="laplace", n=12, sets=1, epsilon=0.7, p=0.1, rules=("as_if_real",), repetitions=4000),
}  # fmt: skip


@cache
def file_of(name: str, done: int = 3345) -> str:
    """The file of a run that was stopped."""
    plan = simulation_of(DESIGNS[name])
    part = run_coverage(dataclasses.replace(plan, repetitions=done))
    return save_run(dataclasses.replace(part, plan=plan), about=DESIGNS[name].to_address())


def open_run(app: AppTest, content: bytes, name: str = "coverage_run.json") -> AppTest:
    return upload(app, name, content, "application/json")


@pytest.mark.parametrize("name", DESIGNS)
def test_a_file_sets_the_controls_to_its_design_and_its_run_goes_on(name: str) -> None:
    design = DESIGNS[name]
    is_linked = "true" if design.m != design.n else "false"
    app = open_run(open_coverage(look="Download", m_is_n=is_linked, speed=FAST), file_of(name).encode())
    state = app.session_state
    shown = state["cv_synthesizer"], state["cv_prior"], state["cv_rules"]
    assert shown == (design.mechanism, design.prior, list(design.rules))
    for key in ("n", "m", "sets", "p", "level", "repetitions", "seed", *design.promised):
        assert state[f"cv_{key}"] == getattr(design, key), key
    assert f"3,345 of {design.repetitions:,} repetitions, stopped, 3,345 from a file" in said(app)
    assert app.button(key="cv_go").label == "Resume"

    # The URL of the page has the same design
    copy = press(open_page("coverage", **settings(app)), "cv_go")
    assert copy.session_state[KEY].plan == simulation_of(design)
    assert complete(app).tally == run_coverage(simulation_of(design))


def test_a_file_beyond_the_page_changed_or_no_run_is_refused_and_another_can_be_opened() -> None:
    app, file = open_coverage(look="Download", n=31), file_of("another")
    for content, refusal in (
        (file.replace('"n":"30"', '"n":"9000"'), "n (people) must be a whole number from 1"),
        (file.replace('"p":"0.3"', '"p":"0.4"'), "must say 'p=0.4'; got 'p=0.3'"),
        (file.replace('"beta_binomial"', '"<b>"'), "mechanism must be one of"),
        (file.replace(":3345,", ":9001,"), "must be a whole number from 1 to 9,000; got 9,001"),
        (file[:500], "text must be a run in JSON, complete and unchanged"),
        ("\xff\xfe\x00", "the file must be text in UTF-8"),
        ("", "nothing has changed: it is empty."),
        ("PK\x03\x04", "."), ("[" * 100_000, "."), ('{"dpviz_run": 3}', "."),
    ):  # fmt: skip
        words = said(open_run(app, content.encode("latin-1")))
        assert "The file was not opened, and nothing has changed" in words and refusal in words
        assert (app.session_state["cv_n"], app.session_state.get(KEY, None)) == (31, None)
    assert "nothing has changed" not in said(open_run(app, file.encode()))
    assert app.session_state[KEY].done == 3345
    uploader = app.get("file_uploader")[0]
    assert "A file that was changed within these bounds cannot be told from a true one" in uploader.proto.help


def test_a_study_opens_at_its_first_cell_and_start_draws_what_another_has_simulated() -> None:
    first, second = StudyPlan.of({
        "mechanisms": ["beta_binomial"], "n": 30, "epsilon": [0.5, 2], "sets": 2, "p": 0.25, "exact": False,
        "rules": ["reiter_2003", "as_if_real"], "repetitions": 450, "seed": 3,
    }).cells  # fmt: skip
    exact = evaluate_cell(dataclasses.replace(first, exact=True))
    study = results_to_csv([exact, simulated := evaluate_cell(second)])
    app = open_run(open_coverage(look="Download", speed=FAST), study, "study.csv")
    assert "The study has 2 cells, 1 exact." in said(app)
    assert (app.session_state["cv_epsilon"], app.session_state[KEY]) == (0.5, None)
    app.selectbox(key="cv_cell").select(1).run()
    assert (app.session_state["cv_epsilon"], app.session_state["cv_rules"]) == (2.0, ["reiter_2003", "as_if_real"])
    press(app, "cv_go")
    performance = complete(app).performance
    assert performance is not None
    assert performance.rules["reiter_2003"].coverage == simulated.rules["reiter_2003"].coverage


def test_a_run_of_a_study_has_the_rules_of_the_study() -> None:
    design = design_of(repetitions=300, rules=("rubin_1987",), **SMALL)
    plan = simulation_of(design, design.rules)
    app = open_run(open_coverage(look="Download"), save_run(run_coverage(plan), about=design.to_address()).encode())
    run = app.session_state[KEY]
    assert (app.session_state["cv_rules"], run.plan, run.done) == (["rubin_1987"], plan, 300)
