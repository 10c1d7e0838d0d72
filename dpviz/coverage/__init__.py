"""How often an interval from synthetic sets holds the true proportion, exactly and by simulation."""

from dpviz.core.monte_carlo import Measure, repetitions_needed, wilson_interval
from dpviz.coverage._sampling import sampler_of
from dpviz.coverage.decomposition import REPAIRS, CoverageDecomposition, coverage_decomposition
from dpviz.coverage.distributions import EstimateDistribution, estimate_distribution, within_reach
from dpviz.coverage.exact import (
    CoverageCurves,
    ExactCoverage,
    LengthCurves,
    coverage_by_proportion,
    coverage_given_count,
    coverages_in_reach,
    coverages_to_six_digits,
    exact_coverage,
    exact_coverages,
    stream_by_proportion,
    stream_by_synthesizer,
    stream_lengths,
)
from dpviz.coverage.lines import CoverageLines, stream_lines
from dpviz.coverage.performance import FirstIntervals, Performance, RulePerformance, first_intervals, performance_of
from dpviz.coverage.simulate import CoveragePlan, RuleTally, ShownRuns, Tally
from dpviz.coverage.studies import run_study as run_coverage
from dpviz.coverage.studies import stream_study as stream_coverage

__all__ = [
    "REPAIRS",
    "CoverageCurves",
    "CoverageDecomposition",
    "CoverageLines",
    "CoveragePlan",
    "EstimateDistribution",
    "ExactCoverage",
    "FirstIntervals",
    "LengthCurves",
    "Measure",
    "Performance",
    "RulePerformance",
    "RuleTally",
    "ShownRuns",
    "Tally",
    "coverage_by_proportion",
    "coverage_decomposition",
    "coverage_given_count",
    "coverages_in_reach",
    "coverages_to_six_digits",
    "estimate_distribution",
    "exact_coverage",
    "exact_coverages",
    "first_intervals",
    "performance_of",
    "repetitions_needed",
    "run_coverage",
    "sampler_of",
    "stream_by_proportion",
    "stream_by_synthesizer",
    "stream_coverage",
    "stream_lengths",
    "stream_lines",
    "wilson_interval",
    "within_reach",
]
