"""The only module here that knows the names of the house: what each question of `cases` calls, and what it returns.

Every function of `ANSWERS` takes the numbers and words of a case and returns its answer: numbers and texts by name. A
rename in the house changes a line of this module; if a name is shown in texts, in keys of cases or in exported scripts
as well, its old and new form go into `RENAMED`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import dpviz.comparisons as comparisons
import dpviz.coverage as coverage
import dpviz.inference as inference
import dpviz.priors as priors
import dpviz.privacy as privacy
import dpviz.privacy.optimum as optimum
from dpviz.audit.release_audit import audit_releases, headline
from dpviz.audit.release_losses import ReleaseSetting
from dpviz.audit.theorems import THEOREMS
from dpviz.calibration.curves import average_and_worst
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.calibration.several_sets import minimum_prior_for_sets
from dpviz.comparisons.budget import BUDGET_SPLITS
from dpviz.comparisons.overview import Overview
from dpviz.coverage.worst_case import largest_mean_width, smallest_coverage
from dpviz.curator import report as design_report
from dpviz.curator.privacy_limits import PRIVACY_LIMITS
from dpviz.curator.question import QUESTION_KINDS as DESK_KINDS
from dpviz.curator.question import DesignQuestion
from dpviz.curator.search import evaluate_designs, suggest_relaxations
from dpviz.curator.summary import relaxation_sentence
from dpviz.curator.summary import summarize as summarize_answer
from dpviz.designs import Design
from dpviz.inference.rules import RULES
from dpviz.mechanisms import SYNTHESIZERS
from dpviz.mechanisms.draws import draw_releases
from dpviz.privacy import average_case, report, subsampling
from dpviz.privacy.gaussian import gaussian_delta, gaussian_epsilon, gaussian_ratio
from dpviz.privacy.several_sets import delta_of_sets
from dpviz.privacy.summary import summarize
from dpviz.published.records import load_records

Answer = dict[str, Any]

RENAMED: dict[str, str] = {}
"""What stood in the record, and how it is written now; replaced in its keys and texts before they are compared."""

ROUNDING = 1e-15
"""A δ or a bias below this is rounding: it is recorded as 0."""


def settled(value: float) -> float:
    return 0.0 if abs(value) < ROUNDING else float(value)


def numbers(found: object, names: str) -> Answer:
    """Attributes of a result by name; of a simulated one with its standard error."""
    return {name: plain(getattr(found, name)) for name in names.split()}


def plain(value: Any) -> Any:
    """A value as a record has it: numbers, texts, None, and lists and dictionaries of them."""
    if isinstance(value, coverage.Measure):
        return [float(value.value), float(value.error)]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def some(values: Any, count: int = 6) -> list[float]:
    """A few of many numbers, from the first to the last."""
    flat = np.asarray(values, float).ravel()
    return flat[np.unique(np.linspace(0, len(flat) - 1, count).round().astype(int))].tolist()


def last(stream: Iterable[Any]) -> Any:
    """What a stream ends with."""
    found = None
    for one in stream:
        found = one if one is not None else found
    return found


def made(law: str, **given: float) -> Any:
    """A synthesizer with those of these numbers that it takes, and its defaults for the rest."""
    cls = SYNTHESIZERS[law]
    return cls(**{one.name: given.get(one.name, one.default) for one in cls.parameters()})


# Releases


def release(law: str, **given: float) -> Answer:
    """Log-odds, δ at three of them and a step to either side, ε at δ(0) and beside it, the trade-off curve."""
    one = made(law, **given)
    table, odds = one.transition_matrix(), one.log_odds_table()
    worst = one.worst_log_odds()
    found: Answer = {
        "shape": plain(one.shape), "probabilities": some(table), "log_odds": some(odds),
        "epsilon": privacy.pure_epsilon(one), "at": plain([worst.likelier, worst.unlikelier, worst.column]),
        "change_by_row": some(privacy.change_by_row(one), 3) if one.shape[0] == one.shape[1] else None,
    }  # fmt: skip
    levels = np.sort(np.abs(odds[np.isfinite(odds) & (np.abs(odds) > 1e-9)]))
    for name, place in (("quarter", 0.25), ("half", 0.5), ("largest", 1.0)) if len(levels) else ():
        level = float(levels[round(place * (len(levels) - 1))])
        beside = (np.nextafter(level, 0), level, np.nextafter(level, math.inf), level * 0.999)
        found[f"delta at {name}"] = [settled(privacy.delta_for_epsilon(one, float(at))) for at in beside]
        found[f"probabilistic at {name}"] = [settled(privacy.probabilistic_delta(one, float(at))) for at in beside]
    none = privacy.delta_for_epsilon(one, 0.0)
    found["delta of 0"] = none
    failures = (none, np.nextafter(none, 0), min(np.nextafter(none, 1), 1.0), none / 2, 1e-6, 0.0)
    found["epsilon at delta"] = [settled(privacy.epsilon_for_delta(one, float(at))) for at in failures]
    return found


def trade_off(law: str, **given: float) -> Answer:
    curve = privacy.trade_off_curve(made(law, **given))
    return {
        "type_one": some(curve.type_one), "type_two": some(curve.type_two), "knots": len(curve.type_one),
        **numbers(curve, "mu advantage decides"), "success": [curve.success(prior) for prior in (0.1, 0.5, 0.9)],
        "touching": plain(curve.touching(1.0)), "steepest": plain(curve.steepest),
    }  # fmt: skip


def promised_curve(epsilon: float, delta: float) -> Answer:
    curve = privacy.TradeOffCurve.promised(epsilon, delta)
    return {**numbers(curve, "mu advantage type_one type_two"), "success": [curve.success(at) for at in (0.2, 0.5)]}


def summary(law: str, epsilon: float, delta: float, **given: float) -> Answer:
    found = summarize(made(law, **{"epsilon": epsilon, **given}), epsilon, delta)
    return {
        **numbers(found, "is_pure is_approximate epsilon_at_delta joint_failure"),
        "worst": [found.worst.value, found.divergence.value],
    }


def attacker(law: str, pair: int, column: int, prior_odds: float, **given: float) -> Answer:
    view = privacy.attacker_view(made(law, **given), pair, column, prior_odds)
    return {
        "odds": math.exp(view.log_posterior_odds),
        "beliefs": plain(view.probabilities),
        "words": report.sentence("gain", view),
    }


def sets(law: str, sets: int, epsilon: float, **given: float) -> Answer:
    return {"delta": settled(delta_of_sets(made(law, **given), sets, epsilon).value)}


def draws(law: str, row: int, seed: int, **given: float) -> Answer:
    return {"columns": plain(draw_releases(made(law, **given), row, number=12, seed=seed).columns)}


def average(law: str, theta: float, epsilon: float, **given: float) -> Answer:
    one = made(law, **given)
    return {
        "delta": average_case.average_case_delta(one, theta, epsilon),
        "count": average_case.count_release_delta(one.n, theta, epsilon),
        "simulators": plain(average_case.count_simulator_deltas(one.n, theta, epsilon)),
    }


def subsampled(law: str, population: int, delta: float, **given: float) -> Answer:
    one = made(law, **given)
    return {
        "epsilon": subsampling.subsampled_epsilon(one, population, delta),
        "tight": subsampling.subsampled_tight(1.0, one.n / population),
    }


def gaussian(epsilon: float, delta: float, ratio: float) -> Answer:
    return {
        "ratio": gaussian_ratio(epsilon, delta), "delta": gaussian_delta(ratio, epsilon),
        "epsilon": gaussian_epsilon(ratio, delta),
    }  # fmt: skip


# Priors and ranges


def prior(method: str, **given: Any) -> Answer:
    return {"alpha": priors.minimum_prior(method, **given)}


def probabilistic_prior(method: str, **given: Any) -> Answer:
    return {"alpha": priors.minimum_prior_probabilistic(method, **given)}


def prior_for_sets(method: str, **given: Any) -> Answer:
    return {"upper": minimum_prior_for_sets(method, **given)}


def data_range(method: str, **given: Any) -> Answer:
    return {"range": priors.maximum_range(method, **given)}


def prior_release(method: str, epsilon: float, **given: Any) -> Answer:
    one = priors.release(method, **given)
    return {
        "epsilon": privacy.pure_epsilon(one), "delta": settled(privacy.delta_for_epsilon(one, epsilon)),
        "epsilon at delta": privacy.epsilon_for_delta(one, 1e-4),
    }  # fmt: skip


def by_size(**given: Any) -> Answer:
    n, alpha, beta, epsilon, sizes = (given[name] for name in ("n", "alpha", "beta", "epsilon", "sizes"))

    def delta(method: str, m: int) -> float:
        return privacy.delta_for_epsilon(priors.release(method, n=n, m=m, alpha=alpha, beta=beta), epsilon)

    keys = ["synth_post_one", "synth_post_many", "synth_map"][: 3 if min(alpha, beta) > 1 else 2]
    limits = {key: delta("param_post", 1) if key == "synth_post_one" else 1.0 for key in keys}
    return {"deltas": plain({key: np.array([delta(key, m) for m in sizes]) for key in keys}), "limits": plain(limits)}


def averages(**given: Any) -> Answer:
    return plain(average_and_worst(**given))


def moments(method: str, **given: Any) -> Answer:
    ask = inference.cell_moments if "cells" in given else inference.proportion_moments
    return numbers(ask(method, **given), "mean bias sampling_variance release_variance standard_error")


def claims(family: str, **setting: float) -> Answer:
    """Every printed bound of a family: verdict, numbers, sentence."""
    return {
        f"{one.theorem.key} {one.method}": [
            plain(getattr(one, name))
            for name in ("verdict", "printed", "exact", "actual_epsilon", "actual_delta", "constant", "sentence")
        ]
        for one in priors.audit(family, **setting)
    }


def printed_releases(**setting: Any) -> Answer:
    found = audit_releases(ReleaseSetting(**setting))
    said = {
        one.method.key: [
            one.promised, one.loss.at_least, one.loss.at_most, one.noise_factor,
            str(one.verdict), one.sentence, one.safe, one.explanation,
        ]
        for one in found
    }  # fmt: skip
    return {**plain(said), "headline": headline(found)}


# Inference and coverage


def interval(law: str, rule: str, counts: list[int], level: float, **given: float) -> Answer:
    return {"interval": plain(RULES[rule].interval_from(counts, synthesizer=made(law, **given), level=level))}


COVERED = "coverage mean_width mean_width_inside negative_variance_share vacuous_share negative_total_share"


def covered(law: str, p: float, sets: int, level: float, **given: float) -> Answer:
    """Exact coverage of every rule that is defined for so many sets."""
    keys = [key for key, one in RULES.items() if one.min_sets <= sets]
    found = coverage.exact_coverages(synthesizer=made(law, **given), p=p, sets=sets, rules=keys, level=level)
    # The expected width of some rules is not bounded; then neither is its error, and the number says nothing.
    return {
        key: [
            None
            if name == "mean_width" and not (one.error_bound < 1e-10 and one.mean_width == one.mean_width)
            else settled(getattr(one, name))
            for name in COVERED.split()
        ]
        for key, one in found.items()
    }


def worst_coverage(law: str, rule: str, sets: int, low: float, high: float, **given: float) -> Answer:
    found = smallest_coverage(made(law, **given), sets=sets, rule=rule, low=low, high=high)
    return {"coverage": found.value, "at": round(found.at, 6)}


def widest(law: str, rule: str, low: float, high: float, **given: float) -> Answer:
    found = largest_mean_width(made(law, **given), sets=1, rule=rule, low=low, high=high)
    return {"width": found.value, "at": round(found.at, 4)}


def covered_count(law: str, rule: str, count: int, **given: float) -> Answer:
    one = made(law, **given)
    return {"coverage": coverage.coverage_given_count(synthesizer=one, confidential_count=count, rule=rule)}


def causes(law: str, p: float, sets: int, rule: str, **given: float) -> Answer:
    found = coverage.coverage_decomposition(synthesizer=made(law, **given), p=p, sets=sets, rule=rule)
    return {"lost": plain(found.lost), "main_cause": found.main_cause, "error": found.unbiased_standard_error}


def simulated(law: str, p: float, sets: int, seed: int, **given: float) -> Answer:
    keys = tuple(key for key, one in RULES.items() if one.min_sets <= sets)
    plan = coverage.CoveragePlan(
        synthesizer=made(law, **given), p=p, sets=sets, rules=keys, repetitions=1000, seed=seed
    )
    found = coverage.performance_of(coverage.run_coverage(plan))
    return {
        **numbers(found, "bias empirical_error mean_square_error"),
        **{key: plain([one.coverage, one.mean_width_inside, one.relative_bias]) for key, one in found.rules.items()},
    }


def set_moments(law: str, p: float, sets: int, **given: float) -> Answer:
    names = "slope mean_estimate variance_estimate mean_within mean_between variance_between mean_total variance_total"
    return numbers(inference.set_moments(made(law, **given), p=p, sets=sets), names)


def shortest(law: str, sets: int, proportions: list[float], **given: float) -> Answer:
    sums = inference.release_sums(made(law, **given), sets)
    return {"length": plain(inference.length_limit(sums, proportions=proportions).length)}


def posterior(law: str, counts: list[int], gamma1: float, gamma2: float, **given: float) -> Answer:
    found = inference.posterior_given(made(law, **given), counts, gamma1=gamma1, gamma2=gamma2)
    return _posterior(found)


def _posterior(found: Any) -> Answer:
    points = [1e-6, 0.1, 0.25, 0.5, 0.9]
    return {
        **numbers(found, "mean variance"), "interval": plain(found.interval(0.95)),
        "densest": plain(found.highest_density(0.8)), "pdf": plain(found.pdf(points)), "cdf": plain(found.cdf(points)),
        "median": found.quantile(0.5),
    }  # fmt: skip


def posterior_known(count: int, n: int, gamma1: float, gamma2: float) -> Answer:
    return _posterior(inference.posterior_if_known(confidential_count=count, n=n, gamma1=gamma1, gamma2=gamma2))


def posterior_secret(low: int, high: int, **given: Any) -> Answer:
    known = inference.size_prior("uniform", low, high)
    found = inference.posterior_secret_n(prior=known, **given)
    ends = tuple(found.size_weights[[0, -1]].tolist())
    return {**_posterior(found), "size": found.expected_size, "ends": plain(ends)}


def posterior_cells(counts: list[list[int]], n: int, alpha: float, gamma: float) -> Answer:
    found = inference.posterior_cells(synthetic_counts=counts, n=n, alpha=alpha, gamma=gamma)
    return {"table": plain(found.expected_table), "first": _posterior(found.marginal(0))}


def posterior_covered(law: str, sets: int, gamma: float, **given: float) -> Answer:
    found = inference.posterior_coverage(
        synthesizer=made(law, **given), proportions=[0.1, 0.5], sets=sets, gamma1=gamma, gamma2=gamma
    )
    return numbers(found, "coverage mean_width exact")


def least_error(error: float, **given: Any) -> Answer:
    found = optimum.least_error(**given)
    told = {"times": found.times(error), "compared": found.compared(error), "estimates": some(found.estimates, 4)}
    told["gap"] = round(found.gap, 12)
    return {"error": found.root_mean_squared_error, **told} if given.get("delta", 0.0) == 0 else {
        "error": round(found.root_mean_squared_error, 9), "compared": told["compared"]
    }  # fmt: skip


# Texts


def texts() -> Answer:
    """What every synthesizer, method, rule, claim, kind of data and limit says of itself."""
    found: Answer = {}
    for key, law in SYNTHESIZERS.items():
        words = "label law source releases finding moved_by not_compared broken_because kept_by compared_as"
        present = {name: "formula" if name == "law" else name for name in words.split()}
        if "cells" in {one.name for one in law.parameters()}:
            present |= dict.fromkeys(("releases", "finding"), "")  # they stand with the kind of data in the record
        found[f"synthesizer {key}"] = {name: plain(getattr(law.info, one, None)) for name, one in present.items()}
        for one in law.parameters():
            found[f"synthesizer {key} {one.name}"] = [one.symbol, one.title, one.help, one.domain]
    for key, way in PRIOR_METHODS.items():
        found[f"method {key}"] = [way.label, way.words, way.plain(2), way.plain(3), way.lost]
    for key, rule in RULES.items():
        found[f"rule {key}"] = [rule.label, rule.abbreviation, rule.formula, rule.source, rule.min_sets]
    for key, theorem in THEOREMS.items():
        found[f"claim {key}"] = [theorem.name, theorem.source, theorem.family, theorem.kind.name]
    for key, kind in {**comparisons.DATA_KINDS, **DESK_KINDS}.items():
        found[f"kind {key}"] = [kind.label, kind.assumed, kind.exactly]
        for one in kind.parameters():
            found[f"kind {key} {one.name}"] = [one.symbol, one.title, one.help, one.domain]
        for method in kind.methods:
            words = "label source releases finding loss_by only_compared audited"
            found[f"kind {key} method {method.key}"] = [plain(getattr(method, name)) for name in words.split()]
    for key, limit in PRIVACY_LIMITS.items():
        usual = limit()
        found[f"protection {key}"] = [usual.label, usual.text, usual.translation, plain(usual.as_epsilon_delta())]
    return found


# Comparisons and budgets

OUTCOME = "setting sets bias root_mean_squared_error coverage mean_width usable_share release_error real_epsilon"


def _data(kind: str, given: Any) -> Any:
    return {**comparisons.DATA_KINDS, **DESK_KINDS}[kind](**given)


def compared(kind: str, data: dict[str, Any], epsilons: list[float], terms: str, delta: float, sets: int) -> Answer:
    """Every method on one kind of data at some ε, with a seed."""
    asked = _data(kind, data)
    analysis = comparisons.Analysis(sets=sets, repetitions=100, seed=3)
    on = comparisons.TERMS[terms](**({"delta": delta} if delta else {}))
    span = (0.01, 100.0)
    found = last(comparisons.Comparison(asked, asked.methods, analysis, on, 1.0, span).stream(epsilons))
    told = {f"{key} {epsilon:g}": _outcome(one) for (key, epsilon), one in found.outcomes.items()}
    smallest = sorted(found.optima.get("release_error", {}).items())
    return {**told, "least": [one.root_mean_squared_error for _, one in smallest]}


def _outcome(one: Any) -> list[Any]:
    return [plain(one.real_loss.text()), *numbers(one, OUTCOME).values()]


def divided(key: str, kind: str, method: str, data: dict[str, Any], epsilon: float) -> Answer:
    """A budget over sets or statistics, at some of its places."""
    asked, analysis = _data(kind, data), comparisons.Analysis(repetitions=50, seed=3)
    cls = BUDGET_SPLITS[key]
    found = last(cls(data=asked, method=asked.method(method), epsilon=epsilon, analysis=analysis).stream())
    return {f"{place:g}": _outcome(one) for place, one in sorted(found.outcomes.items())[::4]}


# Designs, Start, the desk


def design(**values: Any) -> Answer:
    one = Design.of(values)
    own = {"alpha": one.alpha_of_one_set} if one.synthesizer_type.has_prior else {}
    return {"json": one.to_json(), "address": one.to_address(), "epsilon": one.epsilon_of_sets, **own}


def overview(**values: Any) -> Answer:
    names = "released invented belief largest_belief success promised_success interval hit coverage posterior_interval"
    return numbers(Overview.of_design(Design.of(values)), names)


def desk(question: str) -> Answer:
    """The answer to a curator's question, in numbers and in words, and the files of the first design."""
    found = last(evaluate_designs(DesignQuestion.from_json(question)))
    told: Answer = {"answer": plain(tuple(summarize_answer(found))), "absent": plain(found.absent)}
    for design in found.designs:
        told[" ".join(map(str, design.key))] = [
            design.epsilon, design.format_real_epsilon(), design.meets_limits, design.exceeds_usual_epsilon,
            {key: plain(worst.measure) for key, worst in design.worst_cases.items()},
        ]  # fmt: skip
    told["order"] = [" ".join(map(str, design.key)) for design in found.designs]
    if found.best is not None:
        told["words"] = [design_report.answer_text(found.best), *design_report.choice_text(found, found.best)]
        told["design"] = design_report.design_to_json(found.best)
        told["registry"] = design_report.registry_entry(found.best)
    if not found.feasible:
        told["relaxed"] = [relaxation_sentence(one) for one in last(suggest_relaxations(found, 2)) or ()]
    return told


def published(table: str) -> Answer:
    """The first comparisons of a printed table with ours."""
    if table == "figures":
        return _printed_figures()
    records = [record for record in load_records("Liu (2016)") if record.key == f"table_{TABLE_OF[table]}"]
    return {
        f"{place} {record.paper}, {record.place} {record.what}": plain(
            [float(record.printed), float(record.ours), record.reading]
        )
        for place, record in enumerate(records[:12])
    }


TABLE_OF = {"binary": "binary", "gaussian": "normal"}


def _printed_figures() -> Answer:
    """How many cells each figure prints, and in how many ours have every digit."""
    answers: Answer = {}
    for number, is_alternative in ((1, False), (2, False), (3, False), (4, False), (1, True), (2, True)):
        cells = [
            record
            for record in load_records("Abowd & Vilhuber (2008)")
            if record.place == f"Fig. {number}" and record.design and record.is_alternative == is_alternative
        ]
        same = sum(record.verdict == "agrees" for record in cells)
        reading = "every printed digit" if same == len(cells) else "another synthesizer"
        label = cells[0].reading.partition(", n = m")[0]
        key = f"{len(answers)} Abowd & Vilhuber (2008), Fig. {number} {label}"
        answers[key] = plain([len(cells), same, reading])
    return answers


ANSWERS: dict[str, Callable[..., Answer]] = {
    one.__name__: one
    for one in (
        release, trade_off, promised_curve, summary, attacker, sets, draws, average, subsampled, gaussian, prior,
        probabilistic_prior, prior_for_sets, data_range, prior_release, by_size, averages, moments, claims,
        printed_releases, interval, covered, worst_coverage, widest, covered_count, causes, simulated, set_moments,
        shortest, posterior, posterior_known, posterior_secret, posterior_cells, posterior_covered, least_error, texts,
        compared, divided, design, overview, desk, published,
    )
}  # fmt: skip
"""What can be asked, by the names that `cases` uses."""
