"""Whatever a public function is given, it answers: a result, or a ValueError or TypeError that is a sentence."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import inspect
import itertools
import math
import pkgutil
import random
import re
import signal
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import pytest

import dpviz
from dpviz import coverage, inference, mechanisms, plans, priors, privacy
from dpviz.calibration.base import RowMethod
from dpviz.calibration.kinds import Setting
from dpviz.calibration.methods import PriorMethod
from dpviz.calibration.promise_in_words import HEADLINE
from dpviz.calibration.promise_question import PromiseQuestion
from dpviz.calibration.releases import stream_average_by_theta
from dpviz.calibration.ways import stream_ways
from dpviz.charts.lines import DrawnLine, DrawnScale
from dpviz.charts.profile import profile_chart
from dpviz.claims.charest import compare_charest
from dpviz.claims.curves import prior_curves
from dpviz.claims.printed_methods import ReleaseSetting, audit_releases
from dpviz.claims.theorems import CLAIMS
from dpviz.comparisons import UnknownVariance
from dpviz.core.parameters import plain_number
from dpviz.coverage.studies import StudyTally, save_run
from dpviz.designs import Design
from dpviz.desk.protection import PrivacyLoss
from dpviz.mechanisms import BetaBinomial
from dpviz.mechanisms.draws import draw_releases
from dpviz.mechanisms.given import read_matrix
from dpviz.mechanisms.given.pilot import read_columns
from dpviz.mechanisms.given_matrix import GivenMatrix
from dpviz.privacy.composition import DiscreteLosses
from dpviz.privacy.optimum import least_error
from dpviz.privacy.summary import profile, summarize, view_tables
from dpviz.privacy.two_tables import two_tables

SEED = 20
VALUES = 6
"""Hostile values tried in the place of each argument."""

RANDOM_CALLS = 1000
SECONDS = 20
"""Longest time for one call, on a busy machine."""


class Odd:
    """Something that nobody expects."""

    def __repr__(self) -> str:
        return "an odd thing"


HOSTILE: tuple[Any, ...] = (
    True,
    np.True_,
    None,
    "",
    "3",
    "many",
    b"3",
    math.nan,
    math.inf,
    -math.inf,
    np.float64("nan"),
    -1,
    0,
    -5,
    2.5,
    3.0,
    1e308,
    5e-324,
    10**400,
    -(10**400),
    10**19,
    10**8,
    10**5000,
    np.int8(3),
    np.uint8(200),
    np.float32(0.5),
    np.int64(1),
    np.float16("inf"),
    Decimal("nan"),
    Decimal("sNaN"),
    Decimal("1e999"),
    Decimal("0.5"),
    Fraction(1, 3),
    2 + 1j,
    [],
    (),
    {},
    [1],
    [math.nan],
    [[1, 2], [3]],
    [1, [2]],
    ["a"],
    [None],
    np.array([]),
    np.array([math.nan, 1.0]),
    np.array([1 + 1j]),
    np.ma.masked_array([1.0, 2.0], [False, True]),
    np.array("x"),
    np.array(3),
    np.array([[1, 2], [3, 4]]),
    Odd(),
    Odd,
    math.sqrt,
)
"""Values of every kind that somebody once passed, or might."""


ONE = BetaBinomial(n=4, m=3, alpha=1.0, beta=1.0)
RULE = "raab_2017"
NORMAL = UnknownVariance(n=4, mean=0.0, sigma=1.0, low=-4.0, high=4.0)
VALID: dict[str, Any] = {
    "n": 4,
    "m": 3,
    "public_share": 0.3,
    "k": 3,
    "cells": 3,
    "sets": 2,
    "alpha": 2.0,
    "beta": 2.0,
    "epsilon": 1.0,
    "epsilons": [1.0, 2.0],
    "criterion": "average",
    "delta": 0.01,
    "p": 0.25,
    "proportion": 0.25,
    "proportions": [0.25, 0.5],
    "level": 0.9,
    "quick": True,
    "gamma": 1.0,
    "gamma1": 1.0,
    "gamma2": 1.0,
    "count": 5,
    "share": 0.5,
    "error": 0.01,
    "repetitions": 20,
    "seed": 1,
    "batch": 10,
    "shown": 5,
    "workers": 1,
    "step": 2,
    "confidential_count": 2,
    "rule": RULE,
    "rules": (RULE,),
    "synthesizer": ONE,
    "synthesizers": (ONE,),
    "synthetic_counts": [1, 2],
    "low": 3,
    "high": 9,
    "guess": 5.0,
    "method": "synth_post_one",
    "key": RULE,
    "runs": 50,
    "generator": None,
    "prior_odds": 1.0,
    "pair": 1,
    "column": 1,
    "release": ONE,
    "slack": 0.01,
    "sigma": 1.0,
    "sigma0": 2.0,
    "range_over_sigma": 1.0,
    "family": "bernoulli",
    "number": 1,
    "digits": 6,
    "caption": "a table",
    "signed": True,
    "axis": "p",
    "prior": "least",
    "rows": 10,
    "confidential_rows": 10,
    "ratio": 1.0,
    "near": None,
    "resolution": 1e-3,
    "tilt": None,
    "only_upper": False,
    "interval": inference.HIGHEST_DENSITY,
    "content": "0.5,0.5\n0.25,0.75",
    "given_text": None,
    "values": None,
    "start": None,
    "executor": None,
    "about": None,
    "text": "words",
    "title": "words",
    "x": np.array([1.0, 2.0]),
    "y": np.array([1.0, 2.0]),
    "between": np.array([0.1, 0.2]),
    "within": np.array([0.1, 0.2]),
    "synthetic_ratio": 1.0,
    "estimate": np.array([0.2]),
    "half_width": np.array([0.1]),
    "degrees": np.array([3.0]),
    "counts": [1, 2],
    "total": np.array([3, 4]),
    "squares": np.array([5, 8]),
    "points": np.array([0.25, 0.5]),
    "log_odds": np.array([[0.5]]),
    "together": None,
    "dots": (),
    "marks": (),
    "pairs": np.array([0, 1]),
    "columns": np.array([0, 1]),
    "cell": 1,
    "q": 0.5,
    "index": 1,
    "first": np.array([1.0, 2.0]),
    "second": np.array([2.0, 1.0]),
    "prior_risk": 0.1,
    "weights": np.array([0.5, 0.5]),
    "log_masses": np.log([0.75, 0.25]),
    "beyond": 0.0,
    "shares": np.array([0.25, 0.5]),
    "risk": 0.1,
}
"""An argument that works, by its name; `OWN` has those of single functions."""

PLAN = coverage.CoveragePlan(synthesizer=ONE, p=0.25, sets=2, rules=(RULE,), repetitions=20, seed=1, batch=10, shown=5)
TALLY = coverage.run_coverage(PLAN)
RELEASES = ReleaseSetting(n=10, epsilon=1.0)
SETTING = Setting(n=4, m=3, epsilon=1.0, delta=0.01)
QUESTION = PromiseQuestion(kind=priors.KINDS["bernoulli"], setting=SETTING, sets=2)
AVERAGES = next(stream_average_by_theta(4, 3, 1.0, 1.0, [0.25, 0.5]))
*_, WAYS = stream_ways(QUESTION.kind, SETTING, 2, HEADLINE, divided=[1, 2])
POINTS = np.array([0.25, 0.5])
MIXTURE = inference.posterior_mixture(synthetic_counts=[1, 2], n=4, m=3, alpha=2.0, beta=2.0)
SIZES = inference.uniform_size(2, 6)
PROFILE, SUMMARY, VIEW = profile(ONE), summarize(ONE, 1.0, 0.01), view_tables(ONE)
CURVE = privacy.trade_off_curve(ONE)
ATTACKER = privacy.attacker_view(ONE, 1, 1, 1.0)
FIGURE = profile_chart(PROFILE, SUMMARY)
PILOT = read_columns("smoker\nno\nyes")
GIVEN = read_matrix("0.5,0.5\n0.25,0.75")

LOSSES = DiscreteLosses(np.log([3, 1 / 3]), np.log([0.75, 0.25]))
CELLS = inference.posterior_cells(synthetic_counts=[[1, 1, 1], [2, 0, 1]], n=4, alpha=1.0)
SECRET = inference.posterior_secret_n(synthetic_counts=[1, 2], m=3, alpha=2.0, beta=2.0, prior=SIZES)
SUMMARIES = inference.posterior_summaries([[1, 2], [0, 3]], synthesizer=ONE, interval=inference.HIGHEST_DENSITY)
GAUSSIAN = priors.GaussianRelease(method="param_post", n=4, m=1, sigma=1.0, sigma0=2.0)
TWO_CELLS = [ONE, mechanisms.PosteriorMean(n=4, m=3, alpha=1, beta=1), mechanisms.LaplaceSanitizer(n=3, epsilon=1)]
MORE_CELLS = [
    mechanisms.DirichletMultinomial(n=3, cells=3, m=2, alpha=1.0),
    mechanisms.MultinomialMean(n=3, cells=3, m=2, alpha=1.0),
    mechanisms.LaplaceCells(n=3, cells=3, epsilon=1.0),
]

DESIGN = Design(mechanism="beta_binomial", n=4, m=3, sets=2, epsilon=1.0, rules=(RULE,))
GIVEN_MATRIX = GivenMatrix(probabilities=np.array([[0.5, 0.5], [0.25, 0.75]]))

METHODS: dict[str, Callable[..., Any]] = {
    f"{type(one).__name__}.{name}": getattr(one, name)
    for one, names in [
        (MIXTURE, "cdf pdf quantile interval highest_density"),
        (CELLS, "marginal"),
        (SUMMARIES, "covers"),
        (least_error(n=4, epsilon=1.0), "price"),
        (GAUSSIAN, "delta epsilon pure_epsilon ratio"),
        (inference.RULES[RULE], "interval_from variance_and_degrees"),
        (CLAIMS["6.7"], "at"),
        (TALLY, "rule"),
        (CURVE, "touching promised"),
        (DESIGN, "from_json from_address"),
        (PILOT, "column"),
        (PILOT.columns[0], "proportion"),
        *((one, "hockey_stick row_table column_table") for one in (*TWO_CELLS, *MORE_CELLS, GIVEN_MATRIX)),
        *((one, "row") for one in TWO_CELLS),
        *((one, "smallest_alpha") for one in (*TWO_CELLS[:2], *MORE_CELLS[:2])),
    ]
    for name in names.split()
}
"""The methods of results and synthesizers that are called with numbers."""

CURVE_SENTENCES = "guess_sentence", "gaussian_sentence"
SUMMARY_SENTENCES = (
    *("odds_sentence", "releases_in_words", "risk_sentences"),
    *("short_verdict", "promise_sentence", "verdict_numbers"),
)
OF_A_STATISTIC: dict[str, Any] = {
    "name": "In work", "measure": "typical", "limit": 0.1, "group": "", "mechanism": "best", "suppress_below": 0,
    "lowest": 0.1, "highest": 0.9,
}  # fmt: skip
ANSWERED = plans.solve_plan(
    plans.ReleasePlan(n=40, statistics=(plans.YesNoShare(**OF_A_STATISTIC),), protection=PrivacyLoss(most_epsilon=1.0))
)

OWN: dict[str, dict[str, Any]] = {
    "BinaryData": {"estimand": "proportion"},
    "CountData": {"estimand": "proportion"},
    "CategoryData": {"estimand": "proportion"},
    "KnownVariance": {"estimand": "mean", "mean": 5.0},
    "UnknownVariance": {"estimand": "variance", "mean": 5.0},
    "MixedData": {"estimand": "share", "mean": 6.0, "correlation": 0.5},
    "GaussianPlan": {"data": NORMAL, "method": NORMAL.methods[0], "sets": 1, "estimands": ("mean",)},
    "Modips": {"n": 4, "m": 3, "epsilon": 1.0, "alpha": 1.0, "beta": 0.5, "bounding": "truncation"},
    "ModipsTruncated": {"bounding": "truncation"},
    "attacker_chart": {"view": ATTACKER, "log_odds": ONE.log_odds_table()[1]},
    "gain_in_words": {"view": ATTACKER},
    "draws_chart": {"draws": draw_releases(ONE, 1, number=3, seed=1)},
    "draws_log_odds_chart": {"draws": draw_releases(ONE, 1, number=3, seed=1)},
    "draw_releases": {"row": 1},
    **{name: {"row": 1, "column": 2} for name in ("matrix_html", "log_odds_html", "release_html")},
    "risk_ratio": {"log_odds": 0.5},
    "trade_off_chart": {"curve": CURVE, "promised": privacy.TradeOffCurve.promised(1.0), "summary": SUMMARY},
    **{name: {"curve": CURVE, "promised": privacy.TradeOffCurve.promised(1.0)} for name in CURVE_SENTENCES},
    **{name: {"summary": SUMMARY, "ratio": 2.0} for name in SUMMARY_SENTENCES},
    "two_tables": {"worst": ONE.worst_log_odds()},
    "two_tables_chart": {"found": two_tables(ONE, ONE.worst_log_odds())},
    "first_intervals": {"plan": PLAN},
    "curves_chart": {"curves": prior_curves("bernoulli", SETTING, "epsilon"), "sets": 1},
    "curves_csv": {"curves": prior_curves("bernoulli", SETTING, "epsilon")},
    "lines_chart": {
        "lines": [DrawnLine(name="a", color="#000000", x=POINTS, y=POINTS)],
        "x": DrawnScale(title="x"),
        "y": DrawnScale(title="y"),
        "key": "lines",
        "rules": (),
    },
    "profiles_chart": {
        "question": QUESTION,
        "found": {"synth_post_one": QUESTION.kind.given(HEADLINE, SETTING, 1.0), "synth_map": None},
    },
    "average_chart": {
        "question": QUESTION,
        "theta": 0.25,
        "here": {"param_map": 0.25},
        "found": AVERAGES,
        "count": AVERAGES,
    },
    "ways_chart": {"question": QUESTION, "found": WAYS},
    "log_odds_heatmap": {"view": VIEW, "row": 1, "column": 2},
    "matrix_heatmap": {"view": VIEW, "linear": True, "row": 1, "column": 2},
    "profile_chart": {"profile": PROFILE, "summary": SUMMARY},
    "performance_of": {"tally": TALLY},
    "intervals_csv": {"tally": TALLY},
    "run_coverage": {"plan": PLAN},
    "stream_coverage": {"plan": PLAN},
    "save_run": {"tally": TALLY},
    "read_run": {"text": save_run(TALLY)},
    "coverage_csv": {
        "exact": coverage.exact_coverages(synthesizer=ONE, p=0.25, sets=2, rules=(RULE,)),
        "found": coverage.performance_of(TALLY),
    },
    "coverage_script": {"design": DESIGN},
    "figure_html": {"figure": FIGURE, "about": ["the seed is 1"]},
    "findings_csv": {"findings": priors.audit("bernoulli", n=4, m=3, epsilon=1.0)},
    "columns_csv": {"columns": {"density": POINTS}},
    "posterior_recipe": {"design": DESIGN, "counts": [1, 2]},
    "posterior_script": {"design": DESIGN, "counts": [1, 2]},
    "Design": {"mechanism": "beta_binomial", "prior": "exact", "details": ()},
    "Design.from_json": {"text": DESIGN.to_json()},
    "Design.from_address": {"words": DESIGN.to_address()},
    "priors_script": {"setting": SETTING},
    "recognize": {"given": GIVEN},
    "read_columns": {"content": "smoker\nno\nyes"},
    "PilotFile.column": {"name": "smoker"},
    "Column.proportion": {"one": "yes"},
    "warning": {"facts": PILOT.columns[0].proportion(), "taken": ["share"]},
    "holds": {"low": np.array([0.1]), "high": np.array([0.4])},
    "length_limit": {"sums": inference.release_sums(ONE, 2)},
    "audit_releases": {"setting": RELEASES},
    "ReleaseSetting": {"cell": 2, "bins": 3, "draws": 2, "lower": 0.5, "upper": 4.0},
    "empirical_epsilon": {
        "release": lambda data, generator, size: np.arange(size) % 7,
        "first": 1,
        "second": 2,
        "generator": np.random.default_rng(1),
        "draws": 100,
        "confidence": 0.9,
    },
    "releases_csv": {"findings": audit_releases(RELEASES)},
    "audit_statements": {"setting": SETTING},
    **{name: {"n": 4, "m": 3, "epsilon": 1.0, "delta": 0.01} for name in ("audit", "judged")},
    "minimum_prior": {"cells": 2, "beta": None},
    "release": {"cells": 2},
    "Claim.at": {"n": 4, "epsilon": 1.0, "delta": 0.01, "constant": 1.0},
    "composed_delta": {"losses": LOSSES, "largest": 100},
    "as_if_real": {"sets": 1},
    "DiscreteLosses": {"losses": np.log([3, 1 / 3])},
    "posterior_cells": {"synthetic_counts": [[1, 1, 1], [2, 0, 1]]},
    "posterior_secret_n": {"prior": SIZES},
    "posterior_summaries": {"synthetic_counts": [[1, 2], [0, 3]]},
    "YesNoShare": OF_A_STATISTIC,
    "CategoryShares": OF_A_STATISTIC | {"categories": 3},
    "CrossTable": OF_A_STATISTIC | {"first": 2, "second": 3},
    "BoundedMean": OF_A_STATISTIC | {"lower": 0.0, "upper": 80.0},
    "ReleasePlan": {
        "n": 40,
        "statistics": ANSWERED.plan.statistics,
        "protection": ANSWERED.plan.protection,
        "person_rows": 1,
        "neighbours": "substitution",
        "groups": (),
        "membership_public": False,
        "spend_all": False,
    },
    "read_plan": {"text": plans.plan_toml(ANSWERED.plan)},
    "plan_differences": {"text": plans.answer_json(ANSWERED), "answer": ANSWERED},
    **{name: {"design": ANSWERED.design} for name in ("suppression_costs", "published_errors")},
    **{name: {"plan": ANSWERED.plan} for name in ("solve_plan", "plan_toml", "expected_seconds", "expected_work")},
    **{
        name: {"answer": ANSWERED, "before": {}, "date": "1 May 2026", "address": ""}
        for name in plans.__all__
        if name.startswith(("plan_", "answer_", "rejected")) and name not in ("plan_toml", "plan_differences")
    },
}
"""Arguments of single functions that differ from `VALID`."""


RESULTS = (
    StudyTally,
    coverage.RuleTally,
    coverage.Tally,
    coverage.ShownRuns,
    type(SECRET),
    PriorMethod,
    RowMethod,
    plans.PlanDesign,
)
"""Records of what was computed: they hold what they are given, and their makers check."""


def public() -> dict[str, Callable[..., Any]]:
    """Every function and every class that checks in an ``__all__``, once, by its name.

    Left out are exceptions, classes that only describe what others are, and records that hold what they are given.
    """
    found: dict[str, Callable[..., Any]] = {}
    for module in pkgutil.walk_packages(dpviz.__path__, "dpviz."):
        home = importlib.import_module(module.name)
        for name in getattr(home, "__all__", ()):
            one = getattr(home, name)
            if inspect.isclass(one):
                record = (dataclasses.is_dataclass(one) and not hasattr(one, "__post_init__")) or one in RESULTS
                if record or inspect.isabstract(one) or Protocol in one.__bases__ or issubclass(one, Exception):
                    continue
            elif not isinstance(one, types.FunctionType):
                continue
            if not any(one is old for old in found.values()):
                found[f"{module.name.removeprefix('dpviz.')}.{name}"] = one
    return found


PUBLIC = public()


CALLED = PUBLIC | METHODS


def arguments(name: str, function: Callable[..., Any]) -> dict[str, Any]:
    """Arguments that work, for every parameter of a function."""
    own = OWN.get(name, OWN.get(name.rpartition(".")[2], {}))
    known = {**VALID, **own}
    parameters = inspect.signature(function).parameters.values()
    named = [one.name for one in parameters if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)]
    missing = [one for one in named if one not in known]
    assert not missing, f"{name}: say in VALID or OWN what {missing} may be"
    open_ended = any(one.kind is one.VAR_KEYWORD for one in parameters)
    return {one: known[one] for one in named} | (own if open_ended else {})


class Slow(BaseException):
    """Raised in a call that takes too long."""


def _late(*_: object) -> None:
    raise Slow


@contextlib.contextmanager
def timed(seconds: float) -> Iterator[None]:
    """Interrupt what takes longer."""
    before = signal.signal(signal.SIGALRM, _late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def call(function: Callable[..., Any], values: dict[str, Any]) -> Any:
    """What the function returns; the first of what it yields and the last, where it yields."""
    parameters = inspect.signature(function).parameters.values()
    first = [values[one.name] for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    positional = {one.name for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = function(*first, **{name: value for name, value in values.items() if name not in positional})
        return list(itertools.islice(result, 3)) if isinstance(result, Iterator) else result


def nans(result: object) -> bool:
    """Whether a number in the result is NaN."""
    if isinstance(result, float):
        return math.isnan(result)
    if isinstance(result, np.ndarray):
        return result.dtype.kind == "f" and bool(np.isnan(result).any())
    if isinstance(result, Mapping):
        return any(map(nans, result.values()))
    if isinstance(result, (list, tuple)):
        return any(map(nans, result))
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        return any(nans(getattr(result, field.name)) for field in dataclasses.fields(result))
    return False


SENTENCE = re.compile(r"\S+ .*[.]", re.DOTALL)
LONGEST_SENTENCE = 600


def fault(function: Callable[..., Any], values: dict[str, Any], *, nan_is_fine: bool) -> str | None:
    """What is wrong with the answer to these arguments, or None."""
    try:
        with timed(SECONDS):
            result = call(function, values)
    except (ValueError, TypeError) as refusal:
        message = str(refusal)
        if SENTENCE.fullmatch(message) and len(message) < LONGEST_SENTENCE:
            return None
        return f"{type(refusal).__name__}: {message!r}"
    except Slow:
        return f"no answer in {SECONDS} s"
    except Exception as wrong:
        return type(wrong).__name__
    return "NaN in the result" if nans(result) and not nan_is_fine else None


def finite(value: object) -> bool:
    """Whether a value is a number that may well be accepted."""
    number = plain_number(value)
    return number is not None and abs(number) < math.inf


def said(value: object) -> str:
    """A hostile value in a few characters."""
    return "a huge number" if isinstance(value, int) and abs(value) > 1e300 else repr(value)[:60]


def told(result: object) -> str:
    """A result in words: what an object holds, where its own words would be its place in memory."""
    return repr(vars(result) if type(result).__repr__ is object.__repr__ else result)


every_function = pytest.mark.parametrize("name", CALLED)


@every_function
def test_one_bad_argument_is_answered_in_a_sentence(name: str) -> None:
    function, chance = CALLED[name], random.Random(f"{SEED} {name}")
    working = arguments(name, function)
    call(function, working)  # which is accepted, so that a refusal says something about one value
    for argument in working:
        for value in chance.sample(HOSTILE, VALUES):
            wrong = fault(function, working | {argument: value}, nan_is_fine=value is None or finite(value))
            assert wrong is None, f"{name}({argument}={said(value)}): {wrong}"


def test_several_bad_arguments_are_answered_in_a_sentence() -> None:
    chance = random.Random(SEED)
    for _ in range(RANDOM_CALLS):
        name = chance.choice(sorted(CALLED))
        working = arguments(name, CALLED[name])
        if working:
            bad = {one: chance.choice(HOSTILE) for one in chance.sample(sorted(working), min(3, len(working)))}
            wrong = fault(CALLED[name], working | bad, nan_is_fine=any(map(finite, bad.values())))
            assert wrong is None, f"{name}({', '.join(f'{one}={said(value)}' for one, value in bad.items())}): {wrong}"


@every_function
def test_a_number_of_any_kind_is_that_number(name: str) -> None:
    """An `np.int8` neither overflows nor is refused; neither is a whole number of another kind, or written as 3.0."""
    if name.startswith("charts") or name.endswith("figure_html"):
        return
    function, chance = CALLED[name], random.Random(f"{SEED} {name}")
    working = arguments(name, function)
    expected = told(call(function, working))
    for argument, value in working.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        whole = value == int(value)
        others = [np.float64(value), Decimal(value), Fraction(value)]
        others += [int(value), np.uint8(value), np.int64(value)] if whole else []
        for kind in [*([np.int8(value), float(value)] if whole else []), chance.choice(others)]:
            assert told(call(function, working | {argument: kind})) == expected, (argument, kind)


NAMED: dict[str, Callable[[], Any]] = {
    "a whole float for M": lambda: coverage.exact_coverage(synthesizer=ONE, p=0.25, sets=3.0, rule=RULE),
    "p as a float of numpy": lambda: coverage.coverage_by_proportion(
        ONE, proportions=[np.float64(0.25)], sets=2, rules=[RULE]
    ),
    "epsilon as an integer of numpy": lambda: privacy.delta_for_epsilon(ONE, np.int64(1)),
}
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a truth value": (lambda: compare_charest(True), "number .* must be a whole number.*; got True"),
    "a truth value of numpy": (lambda: BetaBinomial(n=np.True_, m=1, alpha=1, beta=1), "n .* must be a whole number"),
    "10⁴⁰⁰": (lambda: BetaBinomial(n=4, m=1, alpha=10**400, beta=1), "alpha .* got a number above 10³⁰⁸"),
    "a decimal NaN": (lambda: BetaBinomial(n=4, m=1, alpha=Decimal("nan"), beta=1), "alpha .* must be a number"),
    "no synthesizer": (
        lambda: coverage.estimate_distribution("laplace", p=0.5, sets=1),
        "synthesizer must be a TwoCell",
    ),
    "no release": (lambda: privacy.pure_epsilon(3), "release must be a Release"),
    "no prior of n": (
        lambda: inference.posterior_secret_n(synthetic_counts=[1], m=2, alpha=1.0, beta=1.0, prior=5),
        "prior must be a SizePrior; got 5",
    ),
    "moments of nothing": (
        lambda: inference.proportion_moments("synth_post_one", n=0, m=1, alpha=1, beta=1, proportion=0.5),
        "n .* must be a whole number",
    ),
    "a mode without a mode": (
        lambda: inference.cell_moments("synth_map", n=3, m=1, alpha=0.5, cells=3, proportion=0.5),
        "alpha .* must be a number from 1",
    ),
    "a range below 0": (lambda: inference.share_beyond(-1), "range_over_sigma must be a number, 0 or larger; got −1"),
    "the variance between the sets of one": (
        lambda: inference.COMBINING_RULES["rubin_1987"].variance_and_degrees(np.array(0.0), np.array(0.1), sets=1),
        "needs at least 2 sets; got 1",
    ),
    "half a float": (
        lambda: inference.BetaMixture(first=np.float16("inf"), second=[1.0], weights=[1.0]),
        "first must be a number above 0",
    ),
    "no reach": (lambda: coverage.within_reach(math.nan, 3, 2), "n .* must be a whole number"),
}


@pytest.mark.parametrize("made", NAMED.values(), ids=NAMED)
def test_numbers_that_were_refused_are_numbers(made: Callable[[], Any]) -> None:
    made()


@pytest.mark.parametrize(("made", "words"), REFUSED.values(), ids=REFUSED)
def test_what_went_wrong_before_is_refused_in_a_sentence(made: Callable[[], Any], words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words) as refusal:
        made()
    assert str(refusal.value).endswith(".")
