"""What the compute package is asked: for each question of `calls.ANSWERS` the arguments of its cases.

A mechanism is a pair: its key and its numbers.
"""

import itertools
import json
from collections.abc import Iterator
from typing import Any

Case = tuple[str, dict[str, Any]]

TWO_CELLS = (
    "beta_binomial", "posterior_mean", "posterior_mode", "laplace", "geometric", "modips", "modips_truncated",
    "exponential_rows", "exponential_counts", "sdd", "sdd_exact",
)  # fmt: skip
MORE_CELLS = "dirichlet_multinomial", "multinomial_mean", "multinomial_mode", "laplace_cells"
DESIGNS: tuple[dict[str, Any], ...] = (
    {"n": 5, "m": 5, "alpha": 1.5, "beta": 1.5, "epsilon": 2.0},
    {"n": 7, "m": 4, "alpha": 2.25, "beta": 1.25, "epsilon": 0.7},
    {"n": 1, "m": 1, "alpha": 1.5, "beta": 1.5, "epsilon": 1.0},
    {"n": 12, "m": 3, "alpha": 3.0, "beta": 8.0, "epsilon": 5.0},
    {"n": 30, "m": 30, "alpha": 20.0, "beta": 20.0, "epsilon": 0.25},
)
CELLS: tuple[dict[str, Any], ...] = (
    {"n": 4, "m": 4, "cells": 3, "alpha": 1.5, "epsilon": 2.0},
    {"n": 5, "m": 2, "cells": 3, "alpha": 2.25, "epsilon": 0.7},
    {"n": 1, "m": 1, "cells": 3, "alpha": 1.5, "epsilon": 1.0},
    {"n": 3, "m": 6, "cells": 4, "alpha": 6.0, "epsilon": 5.0},
    {"n": 6, "m": 6, "cells": 3, "alpha": 12.0, "epsilon": 0.25},
)
SYNTHESIZERS = [*itertools.product(TWO_CELLS, DESIGNS), *itertools.product(MORE_CELLS, CELLS)]

PRIORS = "synth_post_one", "synth_post_many", "synth_map", "param_post"
PROMISES = (1.0, 0.0), (1.0, 1e-5), (0.25, 1e-9), (4.0, 0.01)
SIZES = (1, 1), (9, 4), (100, 100), (40, 300)

SMALL: dict[str, Any] = {"n": 12, "m": 9, "alpha": 4.0, "beta": 4.0, "epsilon": 1.5}
FEW_ROWS: dict[str, Any] = {"n": 10, "m": 6, "alpha": 2.0, "beta": 3.0}
FEW = {**FEW_ROWS, "epsilon": 2.0}

NUMBERS = {"n": 40, "mean": 0.5, "sigma": 1.0, "low": -4.0, "high": 5.0}
KINDS: dict[str, dict[str, Any]] = {
    "binary": {"n": 20, "p": 0.3},
    "count": {"n": 15, "m": 10, "p": 0.2},
    "categories": {"n": 12, "m": 12, "p": 0.25, "cells": 4},
    "gaussian": NUMBERS,
    "gaussian_known_variance": NUMBERS,
    "mixed": {"n": 40, "cells": 3, "correlation": 0.2, "mean": 0.5, "sigma": 1.0, "low": -4.0, "high": 5.0},
}
BUDGETS = (
    ("sets", "binary", "beta_binomial", 1.0), ("sets", "binary", "modips", 3.0),
    ("sets", "gaussian", "modips_communal", 2.0), ("share", "gaussian", "modips_split_truncated", 2.0),
    ("share", "mixed", "perturbed_cells", 4.0),
)  # fmt: skip


def cases() -> Iterator[Case]:
    """Yield every case: the name of its question, and the arguments of the call."""
    yield "texts", {}
    for synthesizer in SYNTHESIZERS:
        yield "release", {"synthesizer": synthesizer}
    for key, design in SYNTHESIZERS:
        if design in (DESIGNS[0], DESIGNS[3], CELLS[1]):
            synthesizer = key, design
            yield "trade_off", {"synthesizer": synthesizer}
            yield "summary", {"synthesizer": (key, {**design, "epsilon": 1.0}), "epsilon": 1.0, "delta": 0.01}
            yield "attacker", {"synthesizer": synthesizer, "pair": 1, "column": 2, "prior_odds": 0.5}
            yield "draws", {"synthesizer": synthesizer, "row": 1, "number": 12, "seed": 7}
    yield from _releases()
    yield from _priors()
    yield from _inference()
    yield from _coverage()
    yield from _comparisons()
    yield from _designs()
    for place, question in enumerate(QUESTIONS):
        yield "design_question", {"place": place, "question": question}
    for paper, key in (
        ("Abowd & Vilhuber (2008)", "figures"),
        ("Liu (2016)", "table_normal"),
        ("Liu (2016)", "table_binary"),
    ):
        yield "published", {"paper": paper, "key": key}


def _releases() -> Iterator[Case]:
    for epsilon, delta in PROMISES:
        yield "promised_curve", {"epsilon": epsilon, "delta": delta}
        yield "gaussian_ratio", {"epsilon": epsilon, "delta": delta or 1e-12}
        yield "gaussian_delta", {"epsilon": epsilon, "ratio": 0.8}
        yield "gaussian_epsilon", {"delta": delta or 1e-12, "ratio": 0.8}
    for key, (sets, epsilon) in itertools.product(TWO_CELLS[:5], ((2, 1.0), (5, 3.0))):
        yield "delta_of_sets", {"synthesizer": (key, FEW_ROWS), "sets": sets, "epsilon": epsilon}
    for theta in (0.1, 0.5):
        for key in ("beta_binomial", "geometric"):
            yield "average_case_delta", {"synthesizer": (key, FEW_ROWS), "theta_real": theta, "epsilon": 0.5}
            delta = 1e-4 if theta == 0.1 else 0.0
            yield "subsampled_epsilon", {"synthesizer": (key, FEW), "population": 50, "delta": delta}
        yield "count_release_delta", {"n": 10, "theta_real": theta, "epsilon": 0.5}
        yield "count_simulator_deltas", {"n": 10, "theta_real": theta, "epsilon": 0.5}
    yield "subsampled_tight", {"epsilon": 1.0, "rate": 0.2}


def _priors() -> Iterator[Case]:
    for method, (n, m), (epsilon, delta) in itertools.product(PRIORS, SIZES, PROMISES):
        yield "minimum_prior", {"method": method, "n": n, "m": m, "epsilon": epsilon, "delta": delta}
    for method, (epsilon, delta) in itertools.product(PRIORS, PROMISES[:2]):
        yield "minimum_prior", {"method": method, "n": 20, "m": 20, "epsilon": epsilon, "delta": delta, "cells": 4}
    for method, (n, m) in itertools.product(PRIORS[:3], SIZES[1:3]):
        yield "minimum_prior_probabilistic", {"method": method, "n": n, "m": m, "epsilon": 1.0, "delta": 1e-3}
        for sets, delta in ((2, 0.0), (3, 1e-4)):
            setting = {"method": method, "n": 9, "m": m, "sets": sets, "epsilon": 1.5, "delta": delta}
            yield "minimum_prior_for_sets", setting
    for method, (n, m), (epsilon, delta) in itertools.product((*PRIORS, "param_map"), SIZES[:3], PROMISES):
        yield "maximum_range", {"method": method, "n": n, "m": m, "sigma0": 1.5, "epsilon": epsilon, "delta": delta}
    for method in PRIORS:
        for cells in (2, 3):
            yield "prior_release", {"method": method, "n": 8, "m": 5, "alpha": 2.5, "cells": cells, "epsilon": 0.5}
        setting = {"method": method, "n": 30, "m": 10, "alpha": 4.0, "proportion": 0.2, "sets": 3}
        yield "moments", {**setting, "beta": 2.0}
        yield "cell_moments", {**setting, "cells": 4}
    for method, sizes in (*zip(PRIORS[:3], itertools.repeat([1, 2, 10, 100])), ("param_post", [1])):
        setting = {"n": 20, "alpha": 3.0, "beta": 5.0, "epsilon": 0.5}
        yield "delta_by_size", {"method": method, "sizes": sizes, **setting}
    yield "average_and_worst", {"n": 20, "m": 20, "alpha": 3.0, "theta_real": 0.3, "epsilon": 0.5}
    for family, sigma0 in (("bernoulli", 1.0), ("categorical", 1.0), ("gaussian", 2.0)):
        for (n, m), (epsilon, delta) in (((100, 1), (1.0, 1e-5)), ((30, 20), (2.0, 0.0))):
            setting = {"family": family, "n": n, "m": m, "epsilon": epsilon, "delta": delta, "sigma0": sigma0}
            yield "claims", setting
    yield "printed_releases", {"n": 100, "epsilon": 1.0}
    yield "printed_releases", {"n": 20, "epsilon": 10.0, "sets": 2, "cell": 3, "lower": 0.0, "upper": 1.0}


def _inference() -> Iterator[Case]:
    for key, counts in itertools.product(("beta_binomial", "posterior_mean", "geometric", "modips"), ([3], [0, 2, 1])):
        release = {"synthesizer": (key, SMALL)}
        for gamma1, gamma2 in ((0.5, 0.5), (0.1, 2.0)):
            yield "posterior", {**release, "synthetic_counts": counts, "gamma1": gamma1, "gamma2": gamma2}
        for rule in ("score", "posterior", "clopper_pearson", "blaker_2000", "as_if_real"):
            yield "interval", {**release, "rule": rule, "counts": counts, "level": 0.9}
    for rule in ("reiter_2002", "raghunathan_2003", "rubin_1987", "reiter_2003", "raab_2017"):
        yield "interval", {"synthesizer": ("beta_binomial", SMALL), "rule": rule, "counts": [3, 5, 9], "level": 0.95}
    for gamma in (0.01, 0.5):
        yield "posterior_if_known", {"confidential_count": 0, "n": 10, "gamma1": gamma, "gamma2": 0.5}
        yield "posterior_cells", {"synthetic_counts": [[3, 2, 1], [4, 1, 1]], "n": 8, "alpha": 2.0, "gamma": gamma}
        analysis = {"proportions": [0.1, 0.5], "sets": 2, "gamma1": gamma, "gamma2": gamma}
        yield "posterior_coverage", {"synthesizer": ("geometric", SMALL), **analysis}
    for high in (15, 30):
        setting = {"m": 10, "alpha": 3.0, "beta": 3.0, "gamma1": 0.5, "gamma2": 0.5}
        yield "posterior_secret_n", {"low": 5, "high": high, "synthetic_counts": [4, 5], **setting}
    for key, sets in itertools.product(("beta_binomial", "posterior_mean", "laplace"), (1, 3)):
        yield "set_moments", {"synthesizer": (key, SMALL), "p": 0.25, "sets": sets}
        yield "shortest_length", {"synthesizer": (key, FEW), "sets": sets, "proportions": [0.1, 0.5]}
    for n, (epsilon, delta), criterion in itertools.product((1, 20, 150), PROMISES[:2], ("average", "worst")):
        yield "least_error", {"n": n, "epsilon": epsilon, "delta": delta, "criterion": criterion, "error": 0.25}


def _coverage() -> Iterator[Case]:
    for key, p, sets in itertools.product(("beta_binomial", "posterior_mean"), (0.0, 0.25, 0.5, 1.0), (1, 2, 5)):
        yield "exact_coverages", {"synthesizer": (key, SMALL), "p": p, "sets": sets, "level": 0.95}
    for key, p in itertools.product(("geometric", "modips", "sdd"), (0.25, 1.0)):
        yield "exact_coverages", {"synthesizer": (key, FEW), "p": p, "sets": 2, "level": 0.9}
    for rule, sets in (("as_if_real", 1), ("score", 1), ("score", 2), ("reiter_2003", 2), ("clopper_pearson", 2)):
        analysis = {"rule": rule, "sets": sets, "low": 0.05, "high": 0.6}
        yield "smallest_coverage", {"synthesizer": ("geometric", FEW), **analysis}
    release = {"synthesizer": ("beta_binomial", FEW)}
    for rule in ("score", "blaker_2000"):
        yield "largest_width", {**release, "rule": rule, "sets": 1, "low": 0.1, "high": 0.9}
        yield "coverage_given_count", {**release, "rule": rule, "confidential_count": 4}
    for rule in ("reiter_2002", "as_if_real"):
        yield "decomposition", {"synthesizer": ("beta_binomial", SMALL), "p": 0.25, "sets": 2, "rule": rule}
    for key, sets in (("beta_binomial", 5), ("laplace", 1)):
        yield "simulated", {"synthesizer": (key, SMALL), "p": 0.3, "sets": sets, "seed": 5}


def _comparisons() -> Iterator[Case]:
    for kind, data in KINDS.items():
        for terms, delta in (("promise", 0.0), ("privacy", 1e-3)):
            setting = {"kind": kind, "data": data, "epsilons": [1.0, 4.0], "terms": terms, "delta": delta, "sets": 3}
            yield "comparison", setting
    for key, kind, method, epsilon in BUDGETS:
        yield "budget_split", {"key": key, "kind": kind, "method": method, "data": KINDS[kind], "epsilon": epsilon}


def _designs() -> Iterator[Case]:
    for key, prior in (("beta_binomial", "pure"), ("beta_binomial", "exact"), ("posterior_mode", "own")):
        setting = {"mechanism": key, "n": 30, "m": 20, "sets": 2, "epsilon": 1.5, "delta": 1e-3, "prior": prior}
        yield "design", {**setting, "alpha": 7.0}
    yield "design", {"mechanism": "laplace", "n": 20, "sets": 3, "epsilon": 2.5, "p": 0.35, "seed": 4}
    yield "design", {"mechanism": "dirichlet_multinomial", "n": 9, "cells": 4, "epsilon": 1.0}
    for n, epsilon, count, seed in ((100, 1.0, 25, 1), (20, 10.0, 7, 3), (10, 0.2, 9, 5)):
        setting = {"mechanism": "beta_binomial", "n": n, "epsilon": epsilon, "confidential_count": count, "seed": seed}
        yield "overview", setting
    for wrong in (
        {"n": 0}, {"n": 2.5}, {"epsilon": -1.0}, {"delta": 2.0}, {"sets": 0}, {"prior": "none"}, {"mechanism": "x"},
        {"rules": ["x"]}, {"colour": 1}, {"alpha": "much"}, {"level": 1.0}, {"seed": -1}, {"n": True}, {"p": "nan"},
    ):  # fmt: skip
        yield "design", {"mechanism": "beta_binomial", "n": 10, **wrong}


def _question(kind: str, data: dict[str, Any], lowest: float, highest: float, **more: Any) -> str:
    shares = {"lowest": lowest, "highest": highest, "values": 2}
    return json.dumps({"data": {"kind": kind, **data}, **shares, "repetitions": 60, **more})


def _of_counts(n: int = 20, lowest: float = 0.1, highest: float = 0.4, **more: Any) -> str:
    return _question("count", {"n": n, "m": more.pop("m", n), "p": 0.5}, lowest, highest, **more)


LOSS = {"loss": {"most_epsilon": 1.0, "most_delta": 0.0}}
QUESTIONS = (
    _of_counts(protections=LOSS),
    _of_counts(protections=LOSS, limits={"root_mean_squared_error": 0.15}),
    _of_counts(limits={"root_mean_squared_error": 0.1}),
    _of_counts(n=50, lowest=0.2, highest=0.5, limits={"root_mean_squared_error": 0.1}, sets=[1]),
    _of_counts(protections=LOSS, goal="epsilon", sets=[1, 5]),
    _of_counts(protections={"loss": {"most_epsilon": 2.0, "most_delta": 1e-3}}, limits={"coverage": 0.9}),
    _of_counts(protections={"guess": {"known_before": 0.5, "most_success": 0.75}}, goal="bias", sets=[1]),
    _of_counts(protections={"odds": {"believed_before": 0.1, "most_after": 0.25}}, goal="mean_width"),
    _of_counts(protections={"risk": {"risk_before": 0.01, "most_ratio": 3.0}}, goal="mean_width", rules=["score"]),
    _of_counts(protections=LOSS, average=True, believed_ones=2.0, believed_zeros=8.0),
    _of_counts(protections=LOSS, m=5, limits={"bias": 0.05}),
    _of_counts(protections=LOSS, methods=["laplace", "geometric"], limits={"mean_width": 0.2}, rules=["as_if_real"]),
    _of_counts(n=50, lowest=0.05, highest=0.5, protections={"loss": {"most_epsilon": 2.0, "most_delta": 0.0}},
               rules=["score"], sets=[1], limits={"coverage": 0.93}),
    _of_counts(n=1, lowest=0.5, highest=0.5, protections=LOSS),
    _of_counts(protections={**LOSS, "guess": {"known_before": 0.5, "most_success": 0.6}}, limits={"coverage": 0.99},
               rules=["score", "clopper_pearson"], sets=[1, 2], methods=["beta_binomial", "geometric"]),
    _question("categories", {"n": 9, "m": 9, "p": 0.5, "cells": 4}, 0.1, 0.3, protections=LOSS, sets=[1]),
    _question("categories", {"n": 9, "m": 9, "p": 0.5, "cells": 3}, 0.1, 0.3,
              limits={"root_mean_squared_error": 0.2}, sets=[1]),
    _question("gaussian", NUMBERS, -0.5, 0.5, protections=LOSS, sets=[1]),
    _question("gaussian", NUMBERS, 0.0, 1.0, protections=LOSS, limits={"root_mean_squared_error": 0.5}, sets=[2]),
    _question("count", {"n": 20, "m": 20, "p": 0.5}, 0.4, 0.1, protections=LOSS),
)  # fmt: skip
