"""What each question of `cases` calls in the compute package, and which numbers and texts of the result are recorded.

Every function of `ANSWERS` takes the arguments of a case by name. A mechanism is a pair in a case, its key and its
numbers, and built by `build_mechanism` before the call.
"""

import math
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

import numpy as np

from dpviz import comparisons, coverage, inference, priors, privacy
from dpviz.audit.release_audit import audit_releases, headline
from dpviz.audit.release_losses import ReleaseSetting
from dpviz.audit.theorems import THEOREMS
from dpviz.calibration.curves import average_and_worst
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.calibration.several_sets import minimum_prior_for_sets
from dpviz.comparisons.budget import BUDGET_SPLITS
from dpviz.comparisons.overview import Overview
from dpviz.core.monte_carlo import Measure
from dpviz.coverage.worst_case import largest_mean_width, smallest_coverage
from dpviz.curator import report as design_report
from dpviz.curator.privacy_limits import PRIVACY_LIMITS
from dpviz.curator.question import QUESTION_KINDS, DesignQuestion
from dpviz.curator.search import evaluate_designs, suggest_relaxations
from dpviz.curator.summary import relaxation_sentence
from dpviz.curator.summary import summarize as summarize_search
from dpviz.designs import Design
from dpviz.inference.rules import RULES
from dpviz.mechanisms import SYNTHESIZERS
from dpviz.mechanisms.draws import draw_releases
from dpviz.privacy import average_case, optimum, report, subsampling
from dpviz.privacy.gaussian import gaussian_delta, gaussian_epsilon, gaussian_ratio
from dpviz.privacy.several_sets import delta_of_sets
from dpviz.privacy.summary import summarize
from dpviz.published.records import load_records

Values = dict[str, Any]

DATA_KINDS = {**comparisons.DATA_KINDS, **QUESTION_KINDS}
MOMENTS = "mean bias sampling_variance release_variance standard_error"
SET_MOMENTS = (
    "slope mean_estimate variance_estimate mean_within mean_between variance_between mean_total variance_total"
)
OVERVIEW = "released invented belief largest_belief success promised_success interval hit coverage posterior_interval"
OUTCOME = "setting sets bias root_mean_squared_error coverage mean_width usable_share release_error real_epsilon"
ROUNDING = 1e-15
"""A δ or a bias below this is rounding: it is recorded as 0."""


def without_rounding(value: float) -> float:
    return 0.0 if abs(value) < ROUNDING else float(value)


def plain(value: Any) -> Any:
    """A value as a record has it: numbers, texts, None, and lists and dictionaries of them."""
    if isinstance(value, Measure):
        return [float(value.value), float(value.error)]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def attributes(result: object, names: str) -> Values:
    """Attributes of a result by name; ``worst.value`` is that of its attribute ``worst``."""
    return {name: attrgetter(name)(result) for name in names.split()}


def recorded(names: str, function: Callable[..., Any]) -> Callable[..., Values]:
    """A function of which some attributes of the result are recorded."""
    return lambda **arguments: attributes(function(**arguments), names)


def sample(values: Any, count: int = 6) -> list[float]:
    """A few of many numbers, from the first to the last."""
    flat = np.asarray(values, float).ravel()
    return flat[np.unique(np.linspace(0, len(flat) - 1, count).round().astype(int))].tolist()


def last(stream: Iterable[Any]) -> Any:
    return [result for result in stream if result is not None][-1]


def build_mechanism(key: str, design: Values) -> Any:
    """A mechanism with those numbers of a design that it takes, and its defaults for the rest."""
    mechanism = SYNTHESIZERS[key]
    return mechanism(
        **{parameter.name: design.get(parameter.name, parameter.default) for parameter in mechanism.parameters()}
    )


# Releases


def release_privacy(synthesizer: Any) -> Values:
    """Log-odds, δ at three of them and a step to either side, ε at δ(0) and beside it."""
    log_odds, worst = synthesizer.log_odds_table(), synthesizer.worst_log_odds()
    values: Values = {
        "shape": synthesizer.shape, "probabilities": sample(synthesizer.transition_matrix()),
        "log_odds": sample(log_odds), "epsilon": privacy.pure_epsilon(synthesizer),
        "worst": [worst.likelier, worst.unlikelier, worst.column],
    }  # fmt: skip
    if synthesizer.shape[0] == synthesizer.shape[1]:
        values["change_by_row"] = sample(privacy.change_by_row(synthesizer), 3)
    levels = np.sort(np.abs(log_odds[np.isfinite(log_odds) & (np.abs(log_odds) > 1e-9)]))
    for share in (0.25, 0.5, 1.0) if len(levels) else ():
        level = float(levels[round(share * (len(levels) - 1))])
        for epsilon_to_delta in (privacy.delta_for_epsilon, privacy.probabilistic_delta):
            values[f"{epsilon_to_delta.__name__} at {share}"] = [
                without_rounding(epsilon_to_delta(synthesizer, float(epsilon)))
                for epsilon in (np.nextafter(level, 0), level, np.nextafter(level, math.inf), level * 0.999)
            ]
    largest = values["delta of 0"] = privacy.delta_for_epsilon(synthesizer, 0.0)
    values["epsilon at delta"] = [
        without_rounding(privacy.epsilon_for_delta(synthesizer, float(delta)))
        for delta in (largest, np.nextafter(largest, 0), min(np.nextafter(largest, 1), 1), largest / 2, 1e-6, 0)
    ]
    return values


def trade_off(synthesizer: Any) -> Values:
    curve = privacy.trade_off_curve(synthesizer)
    return {
        "type_one": sample(curve.type_one), "type_two": sample(curve.type_two), "knots": len(curve.type_one),
        **attributes(curve, "mu advantage decides steepest"), "touching": curve.touching(1.0),
        "success": [curve.success(prior) for prior in (0.1, 0.5, 0.9)],
    }  # fmt: skip


def promised_curve(epsilon: float, delta: float) -> Values:
    curve = privacy.TradeOffCurve.promised(epsilon, delta)
    success = [curve.success(prior) for prior in (0.2, 0.5)]
    return {**attributes(curve, "mu advantage type_one type_two"), "success": success}


def attacker(synthesizer: Any, pair: int, column: int, prior_odds: float) -> Values:
    view = privacy.attacker_view(synthesizer, pair, column, prior_odds)
    odds, words = math.exp(view.log_posterior_odds), report.sentence("gain", view)
    return {"odds": odds, "beliefs": view.probabilities, "words": words}


# Priors and printed claims


def prior_release(method: str, epsilon: float, **design: Any) -> Values:
    release = priors.release(method, **design)
    return {
        "epsilon": privacy.pure_epsilon(release),
        "delta": without_rounding(privacy.delta_for_epsilon(release, epsilon)),
        "epsilon at delta": privacy.epsilon_for_delta(release, 1e-4),
    }


def delta_by_size(method: str, sizes: list[int], epsilon: float, **design: Any) -> list[float]:
    return [privacy.delta_for_epsilon(priors.release(method, m=m, **design), epsilon) for m in sizes]


def claims(family: str, **setting: float) -> Values:
    """Every printed bound of a family: verdict, numbers, sentence."""
    names = "verdict printed exact actual_epsilon actual_delta constant sentence"
    results = priors.audit(family, **setting)
    return {f"{result.theorem.key} {result.method}": [*attributes(result, names).values()] for result in results}


def printed_releases(**setting: Any) -> Values:
    audits = audit_releases(ReleaseSetting(**setting))
    names = "promised noise_factor verdict sentence safe explanation"
    values = {
        audit.method.key: [audit.loss.at_least, audit.loss.at_most, *attributes(audit, names).values()]
        for audit in audits
    }
    return {**values, "headline": headline(audits)}


# Inference and coverage


def rules_for(sets: int) -> tuple[str, ...]:
    return tuple(key for key, rule in RULES.items() if rule.min_sets <= sets)


def exact_coverages(synthesizer: Any, p: float, sets: int, level: float) -> Values:
    """Exact coverage of every rule that is defined for so many sets."""

    def values(result: Any) -> list[float | None]:
        names = "coverage mean_width_inside negative_variance_share vacuous_share negative_total_share"
        numbers: list[float | None] = [without_rounding(value) for value in attributes(result, names).values()]
        # The expected width of some rules is not bounded; then neither is its error, and the number says nothing
        is_known = result.error_bound < 1e-10 and not math.isnan(result.mean_width)
        return [*numbers, without_rounding(result.mean_width) if is_known else None]

    results = coverage.exact_coverages(synthesizer=synthesizer, p=p, sets=sets, rules=rules_for(sets), level=level)
    return {key: values(result) for key, result in results.items()}


def worst_coverage(**arguments: Any) -> list[float]:
    place = smallest_coverage(**arguments)
    return [place.value, round(place.at, 6)]


def largest_width(**arguments: Any) -> list[float]:
    place = largest_mean_width(**arguments)
    return [place.value, round(place.at, 4)]


def simulated(synthesizer: Any, p: float, sets: int, seed: int) -> Values:
    plan = coverage.CoveragePlan(
        synthesizer=synthesizer, p=p, sets=sets, rules=rules_for(sets), repetitions=1000, seed=seed
    )
    performance = coverage.performance_of(coverage.run_coverage(plan))
    return {
        **attributes(performance, "bias empirical_error mean_square_error"),
        **{key: [rule.coverage, rule.mean_width_inside, rule.relative_bias] for key, rule in performance.rules.items()},
    }


def shortest_length(synthesizer: Any, sets: int, proportions: list[float]) -> Any:
    return inference.length_limit(inference.release_sums(synthesizer, sets), proportions=proportions).length


def describe_posterior(posterior: Any) -> Values:
    points = [1e-6, 0.1, 0.25, 0.5, 0.9]
    return {
        **attributes(posterior, "mean variance"), "median": posterior.quantile(0.5), "pdf": posterior.pdf(points),
        "cdf": posterior.cdf(points), "interval": posterior.interval(0.95), "densest": posterior.highest_density(0.8),
    }  # fmt: skip


def posterior_secret_n(low: int, high: int, **arguments: Any) -> Values:
    result = inference.posterior_secret_n(prior=inference.size_prior("uniform", low, high), **arguments)
    return {**describe_posterior(result), "size": result.expected_size, "ends": result.size_weights[[0, -1]]}


def posterior_cells(**arguments: Any) -> Values:
    result = inference.posterior_cells(**arguments)
    return {"table": result.expected_table, "first": describe_posterior(result.marginal(0))}


def least_error(error: float, delta: float, **arguments: Any) -> Values:
    """The smallest error, beside a given one; with δ > 0 it is found by optimization and recorded to 9 decimals."""
    result = optimum.least_error(delta=delta, **arguments)
    smallest, compared = result.root_mean_squared_error, result.compared(error)
    if delta > 0:
        return {"error": round(smallest, 9), "compared": compared}
    times, estimates = result.times(error), sample(result.estimates, 4)
    return {
        "error": smallest,
        "times": times,
        "compared": compared,
        "estimates": estimates,
        "gap": round(result.gap, 12),
    }


# Comparisons and budgets


def outcome_values(outcome: Any) -> list[Any]:
    return [outcome.real_loss.text(), *attributes(outcome, OUTCOME).values()]


def comparison(kind: str, data: Values, epsilons: list[float], terms: str, delta: float, sets: int) -> Values:
    """Every method on one kind of data at some ε, with a seed."""
    rows, analysis = DATA_KINDS[kind](**data), comparisons.Analysis(sets=sets, repetitions=100, seed=3)
    same = comparisons.TERMS[terms](**({"delta": delta} if delta else {}))
    result = last(comparisons.Comparison(rows, rows.methods, analysis, same, 1.0, (0.01, 100.0)).stream(epsilons))
    outcomes = {f"{key} {epsilon:g}": outcome_values(outcome) for (key, epsilon), outcome in result.outcomes.items()}
    optima = sorted(result.optima.get("release_error", {}).items())
    return {**outcomes, "least": [optimum.root_mean_squared_error for _, optimum in optima]}


def budget_split(key: str, kind: str, method: str, data: Values, epsilon: float) -> Values:
    """A budget over sets or statistics, at some of its places."""
    rows, analysis = DATA_KINDS[kind](**data), comparisons.Analysis(repetitions=50, seed=3)
    split = BUDGET_SPLITS[key](data=rows, method=rows.method(method), epsilon=epsilon, analysis=analysis)
    outcomes = sorted(last(split.stream()).outcomes.items())[::4]
    return {f"{place:g}": outcome_values(outcome) for place, outcome in outcomes}


# Designs, Start, the curator's questions


def design(**values: Any) -> Values:
    result = Design.of(values)
    alpha = result.alpha_of_one_set if result.synthesizer_type.has_prior else None
    return {
        "json": result.to_json(), "address": result.to_address(), "epsilon": result.epsilon_of_sets, "alpha": alpha
    }  # fmt: skip


def design_question(question: str) -> Values:
    """The answer to a curator's question, in numbers and in words, and the files of the first design."""
    answer = last(evaluate_designs(DesignQuestion.from_json(question)))
    values: Values = {"answer": tuple(summarize_search(answer)), "absent": answer.absent}
    for candidate in answer.designs:
        values[" ".join(map(str, candidate.key))] = [
            candidate.epsilon, candidate.format_real_epsilon(), candidate.meets_limits,
            candidate.exceeds_usual_epsilon,
            {key: worst.measure for key, worst in candidate.worst_cases.items()},
        ]  # fmt: skip
    values["order"] = [" ".join(map(str, candidate.key)) for candidate in answer.designs]
    if answer.best is not None:
        values["words"] = [design_report.answer_text(answer.best), *design_report.choice_text(answer, answer.best)]
        values["design"] = design_report.design_to_json(answer.best)
        values["registry"] = design_report.registry_entry(answer.best)
    if not answer.feasible:
        relaxations = last(suggest_relaxations(answer, 2)) or ()
        values["relaxed"] = [relaxation_sentence(relaxation) for relaxation in relaxations]
    return values


# Texts and printed numbers


def texts() -> Values:
    """What every synthesizer, method, rule, claim, kind of data and limit says of itself."""
    values: Values = {}
    for key, mechanism in SYNTHESIZERS.items():
        names = "label formula source releases finding moved_by not_compared broken_because kept_by compared_as"
        values[f"synthesizer {key}"] = attributes(mechanism.info, names)
    for key, way in PRIOR_METHODS.items():
        values[f"method {key}"] = [way.label, way.words, way.plain(2), way.plain(3), way.lost]
    for key, rule in RULES.items():
        values[f"rule {key}"] = [rule.label, rule.abbreviation, rule.formula, rule.source, rule.min_sets]
    for key, theorem in THEOREMS.items():
        values[f"claim {key}"] = [theorem.name, theorem.source, theorem.family, theorem.kind.name]
    for key, kind in DATA_KINDS.items():
        values[f"kind {key}"] = [kind.label, kind.assumed, kind.exactly]
        for method in kind.methods:
            names = "label source releases finding loss_by only_compared audited"
            values[f"kind {key} method {method.key}"] = [*attributes(method, names).values()]
    owners: Values = {**SYNTHESIZERS, **DATA_KINDS}
    for key, owner in owners.items():
        for parameter in owner.parameters():
            names = "symbol title help domain"
            values[f"parameter {key} {parameter.name}"] = [*attributes(parameter, names).values()]
    for key, limit in PRIVACY_LIMITS.items():
        usual = limit()
        values[f"limit {key}"] = [usual.label, usual.text, usual.translation, usual.as_epsilon_delta()]
    return values


def published(paper: str, key: str) -> list[Any]:
    """The records of a printed table or of the cells of figures."""
    names = "place what printed ours verdict reading"
    return [[*attributes(record, names).values()] for record in load_records(paper) if record.key == key]


ANSWERS: dict[str, Callable[..., Any]] = {
    # Releases
    "release": release_privacy,
    "trade_off": trade_off,
    "promised_curve": promised_curve,
    "summary": recorded(
        "is_pure is_approximate epsilon_at_delta joint_failure worst.value divergence.value", summarize
    ),
    "attacker": attacker,
    "delta_of_sets": lambda synthesizer, **arguments: without_rounding(delta_of_sets(synthesizer, **arguments).value),
    "draws": recorded("columns", draw_releases),
    "average_case_delta": average_case.average_case_delta,
    "count_release_delta": average_case.count_release_delta,
    "count_simulator_deltas": average_case.count_simulator_deltas,
    "subsampled_epsilon": subsampling.subsampled_epsilon,
    "subsampled_tight": subsampling.subsampled_tight,
    "gaussian_ratio": gaussian_ratio,
    "gaussian_delta": gaussian_delta,
    "gaussian_epsilon": gaussian_epsilon,
    # Priors and printed claims
    "minimum_prior": priors.minimum_prior,
    "minimum_prior_probabilistic": priors.minimum_prior_probabilistic,
    "minimum_prior_for_sets": minimum_prior_for_sets,
    "maximum_range": priors.maximum_range,
    "prior_release": prior_release,
    "delta_by_size": delta_by_size,
    "average_and_worst": average_and_worst,
    "moments": recorded(MOMENTS, inference.proportion_moments),
    "cell_moments": recorded(MOMENTS, inference.cell_moments),
    "claims": claims,
    "printed_releases": printed_releases,
    # Inference and coverage
    "interval": lambda rule, **arguments: RULES[rule].interval_from(**arguments),
    "exact_coverages": exact_coverages,
    "smallest_coverage": worst_coverage,
    "largest_width": largest_width,
    "coverage_given_count": coverage.coverage_given_count,
    "decomposition": recorded("lost main_cause unbiased_standard_error", coverage.coverage_decomposition),
    "simulated": simulated,
    "set_moments": recorded(SET_MOMENTS, inference.set_moments),
    "shortest_length": shortest_length,
    "posterior": lambda **arguments: describe_posterior(inference.posterior_given(**arguments)),
    "posterior_if_known": lambda **arguments: describe_posterior(inference.posterior_if_known(**arguments)),
    "posterior_secret_n": posterior_secret_n,
    "posterior_cells": posterior_cells,
    "posterior_coverage": recorded("coverage mean_width exact", inference.posterior_coverage),
    "least_error": least_error,
    # Comparisons, designs and texts
    "comparison": comparison,
    "budget_split": budget_split,
    "design": design,
    "overview": recorded(OVERVIEW, lambda **values: Overview.of_design(Design.of(values))),
    "design_question": design_question,
    "texts": texts,
    "published": published,
}
"""What can be asked, by the names that `cases` uses."""
