"""What the contract over all pages needs to know of each: its controls, its edges, and what it refuses."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from streamlit.testing.v1 import AppTest

from dpviz.comparisons import DATA_KINDS, TERMS
from dpviz.core.parameters import DELTA, EPSILON, Parameter
from dpviz.desk.accuracy import ACCURACY
from dpviz.desk.promises import FURTHER_NUMBERS
from dpviz.desk.protection import PROTECTIONS
from dpviz.desk.question import ASKED_KINDS as DESK_KINDS
from dpviz.inference import RULES
from dpviz.mechanisms import SYNTHESIZERS, two_cell_synthesizers
from dpviz.plans import BoundedMean, CategoryShares, YesNoShare
from pages.budget import SPEC as BUDGET
from pages.budget import controls as budget
from pages.budget.sections import SECTIONS as BUDGET_SECTIONS
from pages.compare_synthesizers import SPEC as COMPARISON
from pages.compare_synthesizers import controls as comparison
from pages.compare_synthesizers.sections import SECTIONS as COMPARISON_SECTIONS
from pages.components.spec import PageSpec
from pages.coverage import SPEC as COVERAGE
from pages.coverage import controls as coverage
from pages.coverage.sections import SECTIONS as COVERAGE_SECTIONS
from pages.curator import SPEC as DESK
from pages.curator import controls as desk
from pages.curator.sections import SECTIONS as DESK_SECTIONS
from pages.minimum_priors import SPEC as PRIORS
from pages.minimum_priors import controls as priors
from pages.minimum_priors.controls import FAMILIES
from pages.minimum_priors.sections import SECTIONS_OF as PRIORS_SECTIONS_OF
from pages.plan import SPEC as PLAN
from pages.plan import controls as plan
from pages.plan.sections import SECTIONS as PLAN_SECTIONS
from pages.posterior import SPEC as POSTERIOR
from pages.posterior import controls as posterior
from pages.posterior.sections import SECTIONS as POSTERIOR_SECTIONS
from pages.transition_matrices import SPEC as MATRICES
from pages.transition_matrices.controls import PRESETS
from pages.transition_matrices.sections import SECTIONS as MATRIX_SECTIONS
from tests.pages import (
    LAWS,
    declared,
    open_budget,
    open_comparison,
    open_coverage,
    open_desk,
    open_page,
    open_plan,
    open_posterior,
    open_priors,
    problems,
    run_to_the_end,
    unlinked,
)

State = dict[str, Any]

EVERY = list(RULES)
LEFT_OUT = "Left out, because "
"""How a sentence begins that names rules for which the settings leave no numbers."""


def _nothing(_page: AppTest) -> None:
    """What a reader does next where nothing is to be done."""


@dataclass(frozen=True)
class Case:
    """One page.

    Parameters
    ----------
    spec, opened
        The page, and how a test opens it.
    sliders
        By a name for the test: the number, its declaration, and settings under which its control is shown.
    slow
        Ends of sliders that take long; a test of the page's own asks for one of them.
    presets, disturbed
        Its presets, and settings that a preset replaces.
    variants
        By a name for the test: settings, and the sections that there are under them.
    extremes, extremes_of_sections
        Settings at the edges, for the whole page, and for the sections that `edged` names.
    picture
        Key of a picture that stands whatever is set.
    refused
        Name of a number, a value that is not taken, and settings under which its control is shown.
    fewer_rows
        Settings under which m is a number of its own.
    further
        What a reader does next on a page that was opened at an edge.
    known
        How sentences begin that name what is left out, and no fault.
    """

    spec: PageSpec
    opened: Callable[..., AppTest]
    sliders: Mapping[str, tuple[str, Parameter, State]]
    presets: Mapping[str, Mapping[str, object]]
    disturbed: State
    variants: Mapping[str, tuple[State, list[str]]]
    extremes: list[State]
    extremes_of_sections: list[State]
    edged: list[str]
    picture: str
    refused: list[tuple[str, float, State]]
    slow: frozenset[tuple[str, int]] = frozenset()
    known: tuple[str, ...] = ()
    fewer_rows: State = field(default_factory=dict)
    further: Callable[[AppTest], None] = _nothing

    @property
    def prefix(self) -> str:
        """What its keys begin with."""
        return self.spec.prefix

    @property
    def goes_on(self) -> bool:
        """Whether a reader does anything next."""
        return self.further is not _nothing

    def faults(self, page: AppTest) -> list[str]:
        """What the page says is wrong, the known sentences aside."""
        return [one for one in problems(page) if not one.startswith(self.known or ("\0",))]


def _named(numbers: Mapping[str, Parameter], inside: Mapping[str, State]) -> dict[str, tuple[str, Parameter, State]]:
    return {name: (name, one, inside.get(name, {})) for name, one in numbers.items()}


def smallest(law: str) -> State:
    """State that a law accepts: its own defaults, everything unlinked."""
    return unlinked(law) | {name: one.default for name, one in declared(law).items()}


def in_turn(every: Iterable[Any], place: int, of: int = 3) -> list[Any]:
    """One entry of so many, from a place on: so many neighbours in a list of laws ask for them all."""
    return list(every)[place % of :: of]


def _accepted(law: str) -> State:
    return {"synthesizer": law} | (
        {name: one.default for name, one in declared(law).items()} if law in SYNTHESIZERS else {}
    )


ENDS_OF_MATRICES: list[State] = [
    {"n": 5000, "alpha": 1e-300},
    {"n": 5000, "alpha": 1e12},
    {"n": 1000, "alpha": 58.2, "epsilon": 1e-6, "delta": 0.0},
    {"n": 1000, "alpha": 0.5, "epsilon": 1e3, "delta": 1.0},
    {"n": 1, "m": 5000, "m_is_n": False, "alpha": 1e-300, "beta": 1e12, "beta_is_alpha": False},
    {"n": 5000, "m": 1, "m_is_n": False, "alpha": 1e12, "beta": 1e-300, "beta_is_alpha": False},
    {"n": 1, "alpha": 1e-300, "epsilon": 1e-6, "delta": 0.0},
    {"n": 12, "alpha": 1e-300, "epsilon": 1e3, "delta": 0.0, "show": "pictures", "picture": "log-odds"},
]

TRANSITION_MATRICES = Case(
    spec=MATRICES,
    known=("The trade-off curve compares every released table",),
    opened=open_page,
    sliders={
        f"{law} {name}": (name, one, smallest(law))
        for place, law in enumerate(SYNTHESIZERS)
        for name, one in (declared(law) | ({} if place else {"epsilon": EPSILON, "delta": DELTA})).items()
        if name not in itertools.chain(*map(declared, list(SYNTHESIZERS)[:place]))  # with which law makes no difference
    },
    presets=PRESETS,
    disturbed={
        "synthesizer": "geometric",
        "n": 77,
        "m_is_n": False,
        "m": 3,
        "beta_is_alpha": False,
        "noise_is_promise": False,
    },
    variants={law: (_accepted(law), in_turn(MATRIX_SECTIONS, place)) for place, law in enumerate(LAWS)},
    extremes=[
        {"synthesizer": law} | ({"cells": 3} if "cells" in declared(law) else {}) | one
        for place, law in enumerate(SYNTHESIZERS)
        for one in in_turn(ENDS_OF_MATRICES, place, of=4)
    ],
    extremes_of_sections=[
        {"synthesizer": "beta_binomial", "n": 5000, "alpha": 3.0},
        {"synthesizer": "dirichlet_multinomial", "n": 1000, "cells": 9, "alpha": 3.0},
        {"synthesizer": "given_matrix", "paste": "0.5,0.5,0\n0.25,0.5,0.25"},
    ],
    edged=list(MATRIX_SECTIONS),
    picture="",
    refused=[
        (name, value, {"m_is_n": False})
        for name, value in (("n", 5.5), ("m", 0), ("alpha", -1.0), ("epsilon", 0.0), ("delta", 2.0))
    ],
)

WHERE_PRIORS: dict[str, State] = {
    "m": {"m_is_n": False},
    "alpha": {"look": "The inverse"},
    "reach": {"family": "Gaussian", "look": "The inverse"},
    "theta": {"look": "Average case"},
    "population": {"look": "Subsampling"},
    "ratio": {"look": "Uneven priors"},
    "beta": {"look": "Uneven priors"},
}
FAMILY_NUMBERS = {  # of those that all have, the first family has all, and the others the number of rows
    "Bernoulli": ("n", "epsilon", "delta", "sets", "p"),
    "k categories": ("n", "cells"),
    "Gaussian": ("n", "sigma", "sigma0"),
}
FEW: State = {"n": 40, "epsilon": 1.5, "delta": 1e-4}
OTHERS: State = {"n": 41, "m": 17, "m_is_n": False, "epsilon": 1.25, "delta": 1e-3, "alpha": 33.0, "reach": 3.0,
                 "theta": 0.25, "ratio": 3.0, "beta": 44.0, "population": 500}  # fmt: skip
SECTIONS_OF = {label: list(PRIORS_SECTIONS_OF[family]) for label, family in FAMILIES.items()}

MINIMUM_PRIORS = Case(
    spec=PRIORS,
    opened=open_priors,
    sliders={
        f"{label} {name}": (name, priors.NUMBERS[name], FEW | {"family": label})
        for label, names in FAMILY_NUMBERS.items()
        for name in names
    }
    | {name: (name, priors.NUMBERS[name], FEW | state) for name, state in WHERE_PRIORS.items()},
    slow=frozenset({("Bernoulli n", -1), ("k categories n", -1)}),
    presets=priors.PRESETS,
    disturbed={"family": "k categories", "n": 77, "m_is_n": False, "m": 3, "sets": 2, "epsilon": 3.0},
    variants={label: (FEW | {"family": label}, sections) for label, sections in SECTIONS_OF.items()},
    extremes=[
        {"family": label, "n": 12, "epsilon": 1.5, "delta": 1e-4} | one
        for place, label in enumerate(FAMILIES)
        for one in in_turn(
            [
                {"epsilon": 1e-4}, {"epsilon": 50.0}, {"delta": 0.0}, {"delta": 1e-300}, {"n": 1}, {"delta": 0.5},
                {"epsilon": 50.0, "delta": 0.5}, {"n": 1, "delta": 0.0}, {"n": 300, "m": 1, "m_is_n": False},
                {"n": 1, "m": 300, "m_is_n": False},
            ],
            place,
        )
        + (
            [{"sigma": 1e-12, "sigma0": 1e12}, {"sigma": 1e12, "sigma0": 1e-12}]
            if "sigma" in FAMILY_NUMBERS[label]
            else [{"p": 0.0}, {"p": 1.0}]
        )
    ],
    extremes_of_sections=[
        {"n": 12, "epsilon": 1.5, "delta": 1e-4} | one
        for one in ({"n": 1}, {"delta": 0.0}, {"delta": 0.5}, {"epsilon": 50.0})
    ],
    edged=SECTIONS_OF["Bernoulli"],
    picture="mp_curves",
    refused=[
        *(
            (name, value, OTHERS)
            for name, value in (
                ("epsilon", 0.0), ("epsilon", -1.0), ("delta", 1.0), ("delta", -0.1), ("delta", 2.0), ("m", 0),
                ("n", 0), ("sets", 0), ("p", 2.0),
            )
        ),
        ("cells", 2, OTHERS | {"family": "k categories"}),
        ("sigma", -1.0, OTHERS | {"family": "Gaussian"}),
        ("sigma0", 0.0, OTHERS | {"family": "Gaussian"}),
        *(
            (name, value, OTHERS | WHERE_PRIORS[name])
            for name, value in (
                ("alpha", 0.0), ("reach", -1.0), ("theta", 1.5), ("population", 0), ("ratio", 0.0), ("beta", -3.0),
            )
        ),
    ],
)  # fmt: skip

WHERE_COVERAGE: dict[str, State] = {
    "delta": {"prior": "exact"},
    "alpha": {"prior": "own"},
    "m": {"m_is_n": False},
    **{name: {"synthesizer": "poisson_gamma"} for name in FURTHER_NUMBERS},
}
STUDY: State = {"n": 41, "m": 17, "m_is_n": False, "epsilon": 1.25, "p": 0.3, "sets": 3, "level": 0.9, "seed": 8}

STUDY_EDGES: list[State] = [
    *({"p": p, "sets": sets} for p, sets in ((0.0, 1), (1.0, 2), (0.0, 20))),
    *({"epsilon": epsilon, "sets": sets} for epsilon, sets in ((1e-4, 1), (700.0, 2), (1e-4, 20))),
    *({"n": 1, "sets": sets} for sets in (1, 2, 20)),
    {"n": 1, "m": 300, "sets": 2, "m_is_n": False},
    {"n": 300, "m": 1, "sets": 20, "m_is_n": False},
    *(
        {"n": 5000, "rules": [*coverage.DEFAULT_RULES]} | one
        for one in ({"m": 1, "sets": 2, "m_is_n": False}, {"sets": 2})
    ),
    {"n": 5000, "rules": ["as_if_real", "raab_2017"], "sets": 20},
    {"level": 0.001},
    {"level": 0.999999},
    {"level": 0.999999, "sets": 2},
    {"p": 0.0, "epsilon": 700.0, "n": 1, "sets": 2},
    *({"prior": prior, "epsilon": epsilon} for prior in ("exact", "own") for epsilon in (1e-4, 700.0)),
    {"prior": "exact", "delta": 0.0},
    {"prior": "exact", "delta": 1e-140, "n": 10, "sets": 2},
    {"prior": "exact", "delta": 0.5},
    {"prior": "own", "alpha": 1e-12},
    {"prior": "own", "alpha": 1e12},
]

COMPUTED = [one for one in COVERAGE_SECTIONS if one != "As published"]
"""The last takes half a minute, and tests of its own ask for it."""

COVERAGE_OF_SETS = Case(
    spec=COVERAGE,
    opened=open_coverage,
    sliders={
        name: (name, one, {"n": 30, "sets": 2, "epsilon": 1.5} | WHERE_COVERAGE.get(name, {}))
        for name, one in coverage.NUMBERS.items()
    },
    presets={name: dict(one) for name, one in coverage.PRESETS.items()},
    disturbed={"synthesizer": "geometric", "n": 33, "m_is_n": False, "m": 33, "sets": 2, "epsilon": 3.0, "level": 0.9},
    variants={
        law: (
            {"synthesizer": law, "n": 30, "sets": 3, "epsilon": 1.5, "repetitions": 400},
            COMPUTED if law == coverage.DEFAULT_SYNTHESIZER else in_turn(COMPUTED, place, of=4),
        )
        for place, law in enumerate(two_cell_synthesizers())
    },
    extremes=[
        {"repetitions": 60, "rules": EVERY, "n": 12, "sets": 5} | one
        for one in STUDY_EDGES
    ] + [
        {"synthesizer": law, "repetitions": 60, "n": 12, "sets": 5} | one
        for place, law in enumerate(two_cell_synthesizers())
        if law != coverage.DEFAULT_SYNTHESIZER
        for one in in_turn(
            [{"p": 0.0}, {"epsilon": 1e-4}, {"epsilon": 700.0}, {"n": 1}, {"sets": 20}, {"sets": 1}], place
        )
    ],
    extremes_of_sections=[
        {"repetitions": 50, "rules": EVERY, "n": 12, "sets": 3} | one
        for one in ({"n": 1}, {"sets": 1}, {"p": 0.0}, {"epsilon": 700.0}, {"p": 1.0, "epsilon": 700.0})
    ],
    edged=["Why it fails", "Bias and variance", "Download"],
    picture="cv_picture",
    further=run_to_the_end,
    known=(LEFT_OUT, "E[T] is "),
    refused=[
        (name, value, STUDY | WHERE_COVERAGE.get(name, {}))
        for name, value in (
            ("n", 0), ("n", 2.5), ("n", 1e6), ("m", 0), ("p", 1.5), ("p", -0.1), ("epsilon", 0.0), ("epsilon", -1.0),
            ("epsilon", 2000.0), ("delta", -0.1), ("delta", 0.7), ("sets", 0), ("sets", -2), ("sets", 501),
            ("sets", 2.5), ("level", 0.0), ("level", 1.0), ("alpha", 0.0), ("alpha", 1e13), ("repetitions", 0),
            ("repetitions", 2.5), ("repetitions", 1e8), ("seed", -1), ("seed", 0.5),
        )
    ],
)  # fmt: skip

WHERE_POSTERIOR: dict[str, State] = {
    **{name: {"synthesizer": "poisson_gamma"} for name in FURTHER_NUMBERS},
    "delta": {"prior": "exact", "sets": 3},
    "alpha": {"prior": "own"},
    "m": {"m_is_n": False},
    "n": {"x": 1},
    "x": {"n": 1000},
    "matrix_x": {"synthesizer": "given_matrix"},
    "low": {"look": "If n is secret", "around": False, "high": 1900},
    "high": {"look": "If n is secret", "around": False, "low": 1},
    "guess": {"look": "If n is secret", "size_prior": "around a guess"},
}
READ: State = {"n": 41, "x": 11, "m": 17, "m_is_n": False, "epsilon": 1.25, "sets": 3, "seed": 5, "gamma1": 2.0,
               "look": "If n is secret", "size_prior": "around a guess", "around": False, "low": 20, "high": 60,
               "guess": 44, "delta": 1e-3, "alpha": 3.25}  # fmt: skip
PRIOR_OF_BOX: dict[str, State] = {"delta": {"prior": "exact"}, "alpha": {"prior": "own"}}

POSTERIOR_OF_COUNTS = Case(
    spec=POSTERIOR,
    opened=open_posterior,
    sliders=_named(posterior.NUMBERS, WHERE_POSTERIOR),
    presets=posterior.PRESETS,
    disturbed={"source": "typed", "counts": "7", "n": 77, "x": 20, "m_is_n": False, "m": 3, "prior": "own",
               "epsilon": 3.0, "gamma1": 4.0, "level": 0.5},
    variants={
        f"{law} {source}": (
            {"synthesizer": law, "source": source, "n": 30, "x": 9, "counts": "1"},
            list(POSTERIOR_SECTIONS)
            if law == posterior.DEFAULT_SYNTHESIZER
            else in_turn([one for one in POSTERIOR_SECTIONS if one != "As published"], place),
        )
        for place, law in enumerate((*two_cell_synthesizers(), "given_matrix"))
        for source in posterior.SOURCES
        if source == "drawn" or law in (posterior.DEFAULT_SYNTHESIZER, "given_matrix")
    },
    extremes=[
        {"epsilon": 1e-6}, {"epsilon": 1e-4, "sets": 20}, {"epsilon": 700.0}, {"epsilon": 1000.0, "sets": 20},
        {"n": 1, "x": 0}, {"n": 1, "x": 1, "sets": 20}, {"n": 10_000},
        {"n": 10_000, "x": 10_000, "gamma1": 0.01, "sets": 20},
        {"n": 10_000, "prior": "exact", "delta": 1e-12, "sets": 20}, {"n": 10_000, "m": 1, "m_is_n": False},
        {"n": 1, "x": 0, "m": 10_000, "m_is_n": False}, {"gamma1": 0.01, "gamma2": 0.01, "x": 0},
        {"gamma1": 1e4, "gamma2": 1e4}, {"gamma1": 0.01, "gamma2": 1e4}, {"level": 0.001}, {"level": 0.999999},
        {"prior": "own", "alpha": 1e-12}, {"prior": "own", "alpha": 1e12},
        {"prior": "exact", "delta": 0.0, "sets": 20}, {"prior": "exact", "delta": 0.5}, {"x": 0}, {"x": 100},
        {"source": "typed", "counts": "0"}, {"source": "typed", "counts": "100 " * 20},
        {"source": "typed", "counts": "0, 100", "prior": "own", "alpha": 0.01},
        {"source": "typed", "counts": "0, 100", "prior": "own", "alpha": 1e-12},
    ],
    extremes_of_sections=[
        {"n": 20, "x": 6, "tables": "3, 1, 2", "around": False, "low": 15, "high": 30} | one
        for one in (
            {"epsilon": 1e-4, "sets": 20}, {"epsilon": 700.0}, {"n": 1, "x": 0}, {"n": 10_000},
            {"gamma1": 0.01, "gamma2": 1e4}, {"level": 0.001}, {"prior": "own", "alpha": 1e12}, {"x": 0},
            {"x": 20, "gamma2": 0.01},
        )
    ],
    edged=["What was x?", "Its own coverage", "If n is secret", "k categories", "Download"],
    picture="po_picture",
    known=("n = 10,000 rows in 3 cells ",),
    refused=[
        (name, value, READ | PRIOR_OF_BOX.get(name, {}))
        for name, value in (
            ("epsilon", 0.0), ("epsilon", -1.0), ("epsilon", 1001.0), ("delta", -0.1), ("delta", 0.6), ("alpha", 0.0),
            ("alpha", 1e13), ("n", 0), ("n", 10_001), ("n", 40.5), ("m", 0), ("m", 10_001), ("x", -1), ("x", 10_001),
            ("x", 42), ("x", 2.5), ("sets", 0), ("sets", 21), ("sets", 1.5), ("seed", -1), ("gamma1", 0.0),
            ("gamma1", 1e5), ("gamma2", -3.0), ("level", 0.0), ("level", 1.0), ("low", 0), ("high", 10_001),
            ("guess", 0),
        )
    ],
)  # fmt: skip

WHERE_COMPARISON: dict[str, State] = {
    "delta": {"terms": "privacy"},
    "m": {"kind": "count", "count_methods": ["original", "beta_binomial"], "m_is_n": False},
    "public_share": {"binary_methods": ["original", "poisson_gamma"], "guess_is_truth": False},
}
FAST: State = {"repetitions": 100, "cells": 2}
COMPARED: State = {"n": 20, "sets": 3, "binary_methods": ["original", "laplace", "beta_binomial"]}
SPLIT: State = FAST | {"kind": "gaussian", "gaussian_methods": ["modips_split"], "n": 9}
MIXED: State = FAST | {"kind": "mixed", "mixed_methods": ["modips_sums"], "n": 9, "sets": 2}

SOME_SCENARIOS = (
    "Bowen & Liu 1, equal real privacy", "Bowen & Liu 2: n = 40, mean", "Bowen & Liu 2, ±4: n = 40, variance",
    "Liu, Table 1b: n = 10",
)  # fmt: skip
"""Some of the papers' scenarios; that controls take all of them is a law of its own."""

COMPARISON_OF_METHODS = Case(
    spec=COMPARISON,
    opened=open_comparison,
    sliders={
        name: (name, comparison.NUMBERS[name], COMPARED | WHERE_COMPARISON.get(name, {}))
        for name in (
            "epsilon", "delta", "n", "m", "sets", "p", "public_share", "level", "last", "first", "repetitions", "seed"
        )
    }
    | {
        name: (name, comparison.NUMBERS[name], SPLIT | one)
        for name, one in {
            "mean": {"low": -20.0, "high": 20.0}, "sigma": {},
            "low": {"mean": 25.0, "high": 30.0}, "high": {"mean": -25.0, "low": -30.0},
        }.items()
    }
    | {
        name: (name, comparison.NUMBERS[name], MIXED)
        for name in ("cells", "correlation")
    },
    presets={name: comparison.PRESETS[name] for name in SOME_SCENARIOS},
    disturbed=FAST | {"n": 33, "sets": 2, "epsilon": 3.0, "level": 0.9, "p": 0.7, "terms": "privacy"},
    variants={
        f"{kind}, {terms}": (
            FAST | {"n": 20, "sets": 3, "kind": kind, "terms": terms},
            [one for one in in_turn(COMPARISON_SECTIONS, place, of=2) if first or one != "As published"],
        )
        for kind, first in zip(DATA_KINDS, [True, *[False] * len(DATA_KINDS)], strict=False)
        for place, terms in enumerate(TERMS)
    },
    extremes=[
        COMPARED | one
        for one in (
            {"n": 1}, {"n": 1, "sets": 1}, {"p": 0.0}, {"p": 1.0, "epsilon": 1e-5}, {"epsilon": 1e-5}, {"epsilon": 1e3},
            {"sets": 1}, {"sets": 100}, {"level": 0.001}, {"level": 0.999999}, {"first": 1e-5, "last": 1e3},
            {"terms": "privacy", "epsilon": 1e-5}, {"terms": "privacy", "epsilon": 1e3},
            {"terms": "privacy", "delta": 0.5}, {"terms": "privacy", "delta": 1e-300, "n": 1, "sets": 1},
            {"binary_methods": ["laplace"], "repetitions": 1, "n": 1000, "sets": 1},
            WHERE_COMPARISON["m"] | {"m": 1}, WHERE_COMPARISON["public_share"] | {"public_share": 0.001},
            {"binary_methods": ["poisson_gamma", "poisson_count"], "epsilon": 0.5},
            {"binary_methods": ["poisson_gamma", "poisson_count"], "terms": "privacy", "delta": 1e-3},
        )
    ],
    extremes_of_sections=[COMPARED | one for one in ({"n": 1}, {"p": 0.0}, {"epsilon": 1e3}, {"sets": 100})],
    edged=["One release", "Download"],
    picture="cs_picture",
    refused=[
        (name, value, COMPARED | WHERE_COMPARISON.get(name, {}))
        for name, value in (
            ("epsilon", 0.0), ("epsilon", -1.0), ("epsilon", 1001.0), ("delta", -0.1), ("delta", 0.6), ("n", 0),
            ("n", 2.5), ("n", 1e7), ("sets", 0), ("sets", 501), ("p", 1.5), ("level", 1.0), ("first", 0.0),
            ("last", 2e3), ("repetitions", 0), ("seed", -1), ("m", 0), ("public_share", 0.0), ("public_share", 1.0),
        )
    ],
    fewer_rows={"kind": "count"},
)  # fmt: skip

DIVIDED: State = FAST | {"n": 5}
SHARED: State = DIVIDED | {"spending": "share", "sets": 2}
WHERE_BUDGET: dict[str, State] = {
    "n": {}, "p": {}, "m": {"sets_kind": "count", "sets_count_method": "beta_binomial", "m_is_n": False},
    "public_share": {"sets_binary_method": "poisson_gamma", "guess_is_truth": False},
    "repetitions": {"sets_kind": "count", "sets_count_method": "beta_binomial"},  # a million, of sums that are exact
}  # fmt: skip

BUDGET_OF_RELEASES = Case(
    spec=BUDGET,
    opened=open_budget,
    sliders={
        name: (name, budget.NUMBERS[name], DIVIDED | WHERE_BUDGET.get(name, SHARED))
        for name in ("epsilon", "n", "m", "p", "public_share", "sets", "level", "repetitions", "seed")
    },
    slow=frozenset({("n", -1)}),
    presets={
        name: budget.PRESETS[name] for name in ("Liu, Figure 6: n = 100, p = 0.1", "Liu, Figure 8: n = 100, −4 to 5")
    },
    disturbed=FAST | {"n": 33, "epsilon": 3.0, "level": 0.9, "p": 0.7},
    variants={
        f"{spending}, {kind}": (
            DIVIDED | {"spending": spending, f"{spending}_kind": kind},
            in_turn(BUDGET_SECTIONS, place, of=2) if place else list(BUDGET_SECTIONS),
        )
        for spending, kinds in budget.DIVIDED.items()
        for place, kind in enumerate(kinds)
    },
    extremes=[
        DIVIDED | one
        for one in (
            {"n": 1}, {"p": 0.0}, {"p": 1.0, "epsilon": 1e-5}, {"epsilon": 1e3}, {"level": 0.001}, {"level": 0.999999},
            SHARED | {"n": 4}, SHARED | {"epsilon": 1e-5}, SHARED | {"epsilon": 1e3}, SHARED | {"sets": 1},
        )
    ],
    extremes_of_sections=[DIVIDED | one for one in ({"n": 1}, {"p": 0.0}, SHARED)],
    fewer_rows={"sets_kind": "count", "sets_count_method": "beta_binomial"},
    edged=["Are several sets worth it?", "Download"],
    picture="bu_picture",
    refused=[
        (name, value, SHARED)
        for name, value in (
            ("epsilon", 0.0), ("epsilon", 1001.0), ("n", 3), ("n", 2.5), ("sets", 0), ("sets", 501), ("level", 1.0),
            ("repetitions", 0), ("seed", -1),
        )
    ],
)  # fmt: skip

JUDGED: State = {"n": 20, "values": 2, "tried": ["1", "2"], "repetitions": 60}
MOVED: State = JUDGED | {"count_methods": ["laplace", "beta_binomial"]}
"""Where it is the controls that are tried, few designs are judged."""

NUMERIC: State = JUDGED | {"kind": "gaussian", "n": 9, "tried": ["2"], "gaussian_methods": ["modips_split"],
                           "accuracy": ["bias"], "most_bias": 5.0}  # fmt: skip
WHERE_DESK: dict[str, State] = {
    "m": {"m_is_n": False},
    "cells": {"kind": "categories", "tried": ["1"]},
    "lowest_p": {"highest_p": 1.0},
    "highest_p": {"lowest_p": 0.0},
    "known_before": {"protect": ["guess"], "guesses": 99.99},
    "guesses": {"protect": ["guess"]},
    "believed_before": {"protect": ["odds"], "most_after": 0.9999},
    "most_after": {"protect": ["odds"], "believed_before": 0.001},
    "risk_before": {"protect": ["risk"]},
    "most_ratio": {"protect": ["risk"]},
    "most_bias": {"accuracy": ["bias"]},
    "points": {"accuracy": ["mean_width"]},
    "half": NUMERIC | {"accuracy": ["mean_width"], "gaussian_rules": ["reiter_2003"]},
    "believed_ones": {"over": "average"},
    "believed_zeros": {"over": "average"},
    "repetitions": {"repetitions": 200},
    "sigma": NUMERIC,
    "low": NUMERIC | {"lowest_mean": 22.0, "highest_mean": 23.0, "high": 30.0},
    "high": NUMERIC | {"lowest_mean": -23.0, "highest_mean": -22.0, "low": -30.0},
    "lowest_mean": NUMERIC | {"low": -30.0, "high": 30.0, "highest_mean": 25.0},
    "highest_mean": NUMERIC | {"low": -30.0, "high": 30.0, "lowest_mean": -25.0},
}

ENDS_OF_DESK: list[State] = [
    {"n": 1}, {"lowest_p": 0.0, "highest_p": 0.0}, {"lowest_p": 1.0, "highest_p": 1.0}, {"epsilon": 1e-5},
    {"epsilon": 100.0, "tried": ["20"]}, {"delta": 0.5}, {"protect": ["guess"]}, {"protect": []},
    {"protect": list(PROTECTIONS)}, {"protect": [], "accuracy": ["bias"], "most_bias": 1e-4},
    {"accuracy": []}, {"accuracy": list(ACCURACY), "most_bias": 1e-4}, {"values": 1}, {"level": 0.001},
    {"least_coverage": 1.0}, {"least_coverage": 0.0}, {"goal": "epsilon", "over": "average"},
    {"m_is_n": False, "m": 1}, {"count_methods": ["beta_binomial"]}, {"count_rules": ["score", "posterior"]},
]  # fmt: skip

DESK_OF_CURATORS = Case(
    spec=DESK,
    opened=open_desk,
    known=("The largest share of right guesses must be above", "The largest ratio of the risks must be above 1"),
    sliders={name: (name, one, MOVED | WHERE_DESK.get(name, {})) for name, one in desk.NUMBERS.items()},
    slow=frozenset({("values", -1), ("repetitions", -1), ("n", -1)}),
    presets={name: desk.PRESETS[name] for name in ("A small survey's proportion",)},
    disturbed=JUDGED | {"epsilon": 3.0, "m_is_n": False, "m": 7, "lowest_p": 0.2, "goal": "bias"},
    variants={
        kind: (JUDGED | {"kind": kind, "n": 9, "pins": ["laplace~1~as_if_real"]}, list(DESK_SECTIONS))
        for kind in DESK_KINDS
    },
    extremes=[JUDGED | one for one in ENDS_OF_DESK],
    extremes_of_sections=[JUDGED | {"n": 1}, JUDGED | {"protect": []}],
    edged=["Side by side", "Download"],
    picture="",
    refused=[
        (name, value, MOVED | WHERE_DESK.get(name, {}))
        for name, value in (
            ("n", 0), ("n", 2.5), ("n", 1e6), ("m", 0), ("lowest_p", -0.1), ("highest_p", 1.5), ("epsilon", 0.0),
            ("delta", 0.6), ("guesses", 0.0), ("most_after", 1.0), ("most_ratio", 0.5), ("most_bias", 0.0),
            ("most_error", -1.0), ("least_coverage", 1.1), ("points", 0.0), ("half", 0.0), ("values", 0),
            ("level", 1.0), ("repetitions", 0), ("seed", -1), ("believed_ones", 0.0),
        )
    ],
)  # fmt: skip

TWO_STATISTICS: State = {
    "statistics": (YesNoShare(name="Works", limit=0.05), CategoryShares(name="Region", categories=3, limit=0.05)),
}
WHERE_PLAN: dict[str, State] = {
    "known_before": {"protect": "guess", "guesses": 99.99},
    "guesses": {"protect": "guess"},
    "believed_before": {"protect": "odds", "most_after": 0.9999},
    "most_after": {"protect": "odds", "believed_before": 0.001},
    "risk_before": {"protect": "risk"},
    "most_ratio": {"protect": "risk"},
}
MEANS: State = {"statistics": (BoundedMean(name="Hours", lower=-1e9, upper=1e9, limit=1e6), YesNoShare(name="Works"))}

PLAN_OF_STATISTICS = Case(
    spec=PLAN,
    opened=open_plan,
    known=("The largest share of right guesses must be above", "The largest ratio of the risks must be above 1"),
    sliders={name: (name, one, TWO_STATISTICS | WHERE_PLAN.get(name, {})) for name, one in plan.NUMBERS.items()},
    presets={name: plan.EVERY | one for name, one in plan.PRESETS.items() if "protect" not in one},
    disturbed=TWO_STATISTICS | {"n": 77, "epsilon": 3.0, "person_rows": 2, "spend": True},
    variants={
        "all limits hold": (TWO_STATISTICS, list(PLAN_SECTIONS)),
        "one gives way": (TWO_STATISTICS | {"n": 100, "protect": "guess"}, list(PLAN_SECTIONS)),
    },
    extremes=[
        TWO_STATISTICS | one
        for one in (
            {"n": 1}, {"n": 10_000_000}, {"epsilon": 1e-5}, {"epsilon": 100.0}, {"delta": 0.5}, {"delta": 1e-300},
            {"protect": "guess", "guesses": 100.0}, {"protect": "guess", "guesses": 50.001}, {"person_rows": 100},
            {"neighbours": "add_remove", "person_rows": 3}, {"groups": "A = 7,000; B = 5,000"}, {"spend": True},
            MEANS, MEANS | {"n": 1, "delta": 1e-6},
        )
    ],
    extremes_of_sections=[TWO_STATISTICS | one for one in ({"n": 1}, {"delta": 0.5}, {"protect": "guess"})],
    edged=["Why this one", "Exact and basic", "The report", "Download"],
    picture="pl_picture",
    refused=[
        (name, value, TWO_STATISTICS | WHERE_PLAN.get(name, {}))
        for name, value in (
            ("n", 0), ("n", 2.5), ("n", 1e8), ("epsilon", 0.0), ("delta", 0.6), ("guesses", 0.0), ("most_after", 1.0),
            ("most_ratio", 0.5), ("person_rows", 0), ("person_rows", 101), ("person_rows", 1.5),
        )
    ],
)  # fmt: skip

CASES = {
    one.spec.folder: one
    for one in (
        TRANSITION_MATRICES,
        MINIMUM_PRIORS,
        COVERAGE_OF_SETS,
        POSTERIOR_OF_COUNTS,
        COMPARISON_OF_METHODS,
        BUDGET_OF_RELEASES,
        DESK_OF_CURATORS,
        PLAN_OF_STATISTICS,
    )
}
