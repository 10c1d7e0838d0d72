"""What the compute package is asked: for each question of `adapter.ANSWERS` the numbers and words of its cases."""

from __future__ import annotations

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
LAWS = [*itertools.product(TWO_CELLS, DESIGNS), *itertools.product(MORE_CELLS, CELLS)]

PRIORS = "synth_post_one", "synth_post_many", "synth_map", "param_post"
PROMISES = (1.0, 0.0), (1.0, 1e-5), (0.25, 1e-9), (4.0, 0.01)
SIZES = (1, 1), (9, 4), (100, 100), (40, 300)

SMALL: dict[str, Any] = {"n": 12, "m": 9, "alpha": 4.0, "beta": 4.0, "epsilon": 1.5}
FEW: dict[str, Any] = {"n": 10, "m": 6, "alpha": 2.0, "beta": 3.0, "epsilon": 2.0}

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
    """Every case: the name of its question, and its numbers and words."""
    yield "texts", {}
    for law, design in LAWS:
        yield "release", {"law": law, **design}
    for law, design in LAWS:
        if design in (DESIGNS[0], DESIGNS[3], CELLS[1]):
            yield "trade_off", {"law": law, **design}
            yield "summary", {"law": law, **design, "epsilon": 1.0, "delta": 0.01}
            yield "attacker", {"law": law, **design, "pair": 1, "column": 2, "prior_odds": 0.5}
            yield "draws", {"law": law, **design, "row": 1, "seed": 7}
    for epsilon, delta in PROMISES:
        yield "promised_curve", {"epsilon": epsilon, "delta": delta}
        yield "gaussian", {"epsilon": epsilon, "delta": delta or 1e-12, "ratio": 0.8}
    yield from _releases()
    yield from _priors()
    yield from _inference()
    yield from _coverage()
    yield from _comparisons()
    yield from _designs()
    for place, question in enumerate(QUESTIONS):
        yield "desk", {"place": place, "question": question}
    for table in ("figures", "gaussian", "binary"):
        yield "published", {"table": table}


def _releases() -> Iterator[Case]:
    for law, (number, epsilon) in itertools.product(TWO_CELLS[:5], ((2, 1.0), (5, 3.0))):
        yield "sets", {"law": law, "sets": number, **FEW, "epsilon": epsilon}
    for law, theta in itertools.product(("beta_binomial", "geometric"), (0.1, 0.5)):
        yield "average", {"law": law, "theta": theta, **FEW, "epsilon": 0.5}
        yield "subsampled", {"law": law, "population": 50, "delta": 1e-4 if theta == 0.1 else 0.0, **FEW}


def _priors() -> Iterator[Case]:
    for method, (n, m), (epsilon, delta) in itertools.product(PRIORS, SIZES, PROMISES):
        yield "prior", {"method": method, "n": n, "m": m, "epsilon": epsilon, "delta": delta}
    for method, (epsilon, delta) in itertools.product(PRIORS, PROMISES[:2]):
        yield "prior", {"method": method, "n": 20, "m": 20, "epsilon": epsilon, "delta": delta, "cells": 4}
    for method, (n, m) in itertools.product(PRIORS[:3], SIZES[1:3]):
        yield "probabilistic_prior", {"method": method, "n": n, "m": m, "epsilon": 1.0, "delta": 1e-3}
        for number, delta in ((2, 0.0), (3, 1e-4)):
            given = {"method": method, "n": 9, "m": m, "sets": number, "epsilon": 1.5, "delta": delta}
            yield "prior_for_sets", given
    for method, (n, m), (epsilon, delta) in itertools.product((*PRIORS, "param_map"), SIZES[:3], PROMISES):
        yield "data_range", {"method": method, "n": n, "m": m, "sigma0": 1.5, "epsilon": epsilon, "delta": delta}
    for method, cells in itertools.product(PRIORS, (2, 3)):
        yield "prior_release", {"method": method, "n": 8, "m": 5, "alpha": 2.5, "cells": cells, "epsilon": 0.5}
    for method in PRIORS:
        given = {"method": method, "n": 30, "m": 10, "alpha": 4.0, "proportion": 0.2, "sets": 3}
        yield "moments", {**given, "beta": 2.0}
        yield "moments", {**given, "cells": 4}
    yield "by_size", {"n": 20, "alpha": 3.0, "beta": 5.0, "epsilon": 0.5, "sizes": [1, 2, 10, 100]}
    yield "averages", {"n": 20, "m": 20, "alpha": 3.0, "theta_real": 0.3, "epsilon": 0.5}
    for family, sigma0 in (("bernoulli", 1.0), ("categorical", 1.0), ("gaussian", 2.0)):
        for (n, m), (epsilon, delta) in (((100, 1), (1.0, 1e-5)), ((30, 20), (2.0, 0.0))):
            given = {"family": family, "n": n, "m": m, "epsilon": epsilon, "delta": delta, "sigma0": sigma0}
            yield "claims", given
    yield "printed_releases", {"n": 100, "epsilon": 1.0}
    yield "printed_releases", {"n": 20, "epsilon": 10.0, "sets": 2, "cell": 3, "lower": 0.0, "upper": 1.0}


def _inference() -> Iterator[Case]:
    for law, counts in itertools.product(("beta_binomial", "posterior_mean", "geometric", "modips"), ([3], [0, 2, 1])):
        for gammas in ((0.5, 0.5), (0.1, 2.0)):
            yield "posterior", {"law": law, "counts": counts, "gamma1": gammas[0], "gamma2": gammas[1], **SMALL}
        for rule in ("score", "posterior", "clopper_pearson", "blaker_2000", "as_if_real"):
            yield "interval", {"law": law, "rule": rule, "counts": counts, "level": 0.9, **SMALL}
    for rule in ("reiter_2002", "raghunathan_2003", "rubin_1987", "reiter_2003", "raab_2017"):
        yield "interval", {"law": "beta_binomial", "rule": rule, "counts": [3, 5, 9], "level": 0.95, **SMALL}
    for gamma in (0.01, 0.5):
        yield "posterior_known", {"count": 0, "n": 10, "gamma1": gamma, "gamma2": 0.5}
        yield "posterior_cells", {"counts": [[3, 2, 1], [4, 1, 1]], "n": 8, "alpha": 2.0, "gamma": gamma}
        yield "posterior_covered", {"law": "geometric", "sets": 2, "gamma": gamma, **SMALL}
    for high in (15, 30):
        given = {"synthetic_counts": [4, 5], "m": 10, "alpha": 3.0, "beta": 3.0, "gamma1": 0.5, "gamma2": 0.5}
        yield "posterior_secret", {"low": 5, "high": high, **given}
    for law, number in itertools.product(("beta_binomial", "posterior_mean", "laplace"), (1, 3)):
        yield "set_moments", {"law": law, "p": 0.25, "sets": number, **SMALL}
        yield "shortest", {"law": law, "sets": number, "proportions": [0.1, 0.5], **FEW}
    for n, (epsilon, delta), criterion in itertools.product((1, 20, 150), PROMISES[:2], ("average", "worst")):
        yield "least_error", {"n": n, "epsilon": epsilon, "delta": delta, "criterion": criterion, "error": 0.25}


def _coverage() -> Iterator[Case]:
    for law, p, number in itertools.product(("beta_binomial", "posterior_mean"), (0.0, 0.25, 0.5, 1.0), (1, 2, 5)):
        yield "covered", {"law": law, "p": p, "sets": number, "level": 0.95, **SMALL}
    for law, p in itertools.product(("geometric", "modips", "sdd"), (0.25, 1.0)):
        yield "covered", {"law": law, "p": p, "sets": 2, "level": 0.9, **FEW}
    for rule, number in (("as_if_real", 1), ("score", 1), ("score", 2), ("reiter_2003", 2), ("clopper_pearson", 2)):
        yield "worst_coverage", {"law": "geometric", "rule": rule, "sets": number, "low": 0.05, "high": 0.6, **FEW}
    for rule in ("score", "blaker_2000"):
        yield "widest", {"law": "beta_binomial", "rule": rule, "low": 0.1, "high": 0.9, **FEW}
        yield "covered_count", {"law": "beta_binomial", "rule": rule, "count": 4, **FEW}
    for rule in ("reiter_2002", "as_if_real"):
        yield "causes", {"law": "beta_binomial", "p": 0.25, "sets": 2, "rule": rule, **SMALL}
    for law, number in (("beta_binomial", 5), ("laplace", 1)):
        yield "simulated", {"law": law, "p": 0.3, "sets": number, "seed": 5, **SMALL}


def _comparisons() -> Iterator[Case]:
    for kind, data in KINDS.items():
        for terms, delta in (("promise", 0.0), ("privacy", 1e-3)):
            given = {"kind": kind, "data": data, "epsilons": [1.0, 4.0], "terms": terms, "delta": delta, "sets": 3}
            yield "compared", given
    for key, kind, method, epsilon in BUDGETS:
        yield "divided", {"key": key, "kind": kind, "method": method, "data": KINDS[kind], "epsilon": epsilon}


def _designs() -> Iterator[Case]:
    for law, prior in (("beta_binomial", "pure"), ("beta_binomial", "exact"), ("posterior_mode", "own")):
        given = {"mechanism": law, "n": 30, "m": 20, "sets": 2, "epsilon": 1.5, "delta": 1e-3, "prior": prior}
        yield "design", {**given, "alpha": 7.0}
    yield "design", {"mechanism": "laplace", "n": 20, "sets": 3, "epsilon": 2.5, "p": 0.35, "seed": 4}
    yield "design", {"mechanism": "dirichlet_multinomial", "n": 9, "cells": 4, "epsilon": 1.0}
    for n, epsilon, count, seed in ((100, 1.0, 25, 1), (20, 10.0, 7, 3), (10, 0.2, 9, 5)):
        given = {"mechanism": "beta_binomial", "n": n, "epsilon": epsilon, "confidential_count": count, "seed": seed}
        yield "overview", given
    for wrong in (
        {"n": 0}, {"n": 2.5}, {"epsilon": -1.0}, {"delta": 2.0}, {"sets": 0}, {"prior": "none"}, {"mechanism": "x"},
        {"rules": ["x"]}, {"colour": 1}, {"alpha": "much"}, {"level": 1.0}, {"seed": -1}, {"n": True}, {"p": "nan"},
    ):  # fmt: skip
        yield "design", {"mechanism": "beta_binomial", "n": 10, **wrong}


def _question(kind: str, data: dict[str, Any], lowest: float, highest: float, **more: Any) -> str:
    asked = {"data": {"kind": kind, **data}, "lowest": lowest, "highest": highest, "values": 2, "repetitions": 60}
    return json.dumps({**asked, **more})


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
