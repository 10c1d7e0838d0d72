"""A plan is checked before it is expanded, and each cell has its seed in whatever plan it stands."""

import dataclasses
import math
import time
from typing import Any

import pytest

from dpviz.study.plan import StudyPlan, read_study_plan
from tests.study.plans import PLAN
from tests.test_import_boundaries import ROOT

ENTRIES: dict[str, Any] = {
    "mechanisms": ["geometric"], "n": [30], "epsilon": [1.0], "sets": [3], "p": [0.2], "rules": ["reiter_2003"],
    "repetitions": 100, "seed": 7,
}  # fmt: skip


def test_a_cell_has_its_seed_and_its_key_in_every_plan() -> None:
    """In another order, with other cells around it; and its seed with other rules too."""
    study = read_study_plan(PLAN)
    turned = dataclasses.replace(study, n=study.n[::-1], sets=(3,), p=study.p[::-1], mechanisms=study.mechanisms[::-1])
    cells = {cell.key: cell for cell in study.cells}
    assert {cell.key for cell in turned.cells} == {key for key, cell in cells.items() if cell.design.sets == 3}
    assert all(cells[cell.key].design == cell.design for cell in turned.cells)
    fewer = dataclasses.replace(study, rules=("score",), level=0.9)
    assert [cell.design.seed for cell in fewer.cells] == [cell.design.seed for cell in study.cells]
    assert not {cell.key for cell in fewer.cells} & set(cells)
    seeds = {cell.design.seed for cell in study.cells}
    assert len(seeds) == len(study.cells) == 16
    assert seeds.isdisjoint(cell.design.seed for cell in dataclasses.replace(study, seed=8).cells)


def test_the_seed_of_a_cell_stays_what_it_was_in_earlier_versions() -> None:
    assert StudyPlan.of(ENTRIES).cells[0].design.seed == 720630963


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "n": ({"n": [30, 0]}, "n (people) must be a whole number from 1 to 5,000; got 0."),
    "epsilon": ({"epsilon": [math.nan]}, "epsilon (promised privacy loss) must be a number from"),
    "infinite": ({"epsilon": [math.inf]}, "got ∞"),
    "p": ({"p": "many"}, "p (true share) must be a number from 0 to 1; got 'many'."),
    "twice": ({"sets": [2, 2.0]}, "sets must have values, each once; got [2, 2]."),
    "none": ({"n": []}, "n must have values, each once; got []."),
    "mechanisms": ({"mechanisms": ["nothing"]}, "mechanisms must be at least one of beta_binomial,"),
    "rules": ({"rules": [3]}, "rules must be at least one of"),
    "repetitions": ({"repetitions": [5]}, "repetitions must be a whole number from 1 to 10⁷; got [5]."),
    "seed": ({"seed": -1}, "seed must be a whole number from 0 to 10⁹; got −1."),
    "exact": ({"exact": 1}, "exact must be true or false; got 1."),
    "unknown": ({"delta": 0.1}, "A plan has the entries mechanisms, rules, n,"),
    "no fit": ({"sets": 1}, "The cell geometric, n = 30, epsilon = 1, sets = 1, p = 0.2 cannot be: rules must hold"),
    "m": ({"mechanisms": "laplace", "m": 5}, "cannot be: m (released rows) must equal n = 30"),
    "large": (
        {"n": list(range(1, 200)), "p": [percent / 100 for percent in range(99)]},
        "The grid must have at most 10,000 cells; got 19,701, the product of",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_plan_that_cannot_be_is_refused_in_a_sentence(name: str) -> None:
    entries, words = WRONG[name]
    with pytest.raises(ValueError) as refused:
        _ = StudyPlan.of(ENTRIES | entries).cells
    assert words in str(refused.value)


@pytest.mark.parametrize("name", ENTRIES)
def test_every_entry_that_is_needed_is_asked_for(name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be given"):
        StudyPlan.of({key: value for key, value in ENTRIES.items() if key != name})


@pytest.mark.parametrize(("text", "words"), [
    ("n = ", "A plan must be in TOML"), ("n = " + "[" * 50_000, "A plan must be in TOML"),
    ("#" * 200_001, "A plan must have at most 200,000 characters; got 200,001."), ("x = 1", "A plan has the entries"),
])  # fmt: skip
def test_a_text_that_is_no_plan_is_refused_in_a_sentence(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_study_plan(text)


def test_the_plan_of_the_readme_can_be_carried_out() -> None:
    text = (ROOT / "dpviz" / "study" / "README.md").read_text("utf-8").partition("```toml\n")[2].partition("```")[0]
    assert len(read_study_plan(text).cells) == 144


def test_a_size_is_refused_before_anything_is_expanded() -> None:
    axis = {name: [(1 + i) / 20_000 for i in range(10_000)] for name in ("epsilon", "p")}
    start = time.process_time()
    with pytest.raises(ValueError, match="got 10⁸, the product"):
        StudyPlan.of(ENTRIES | axis)
    assert time.process_time() - start < 2
