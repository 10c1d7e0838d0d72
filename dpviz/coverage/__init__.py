"""How often an interval from synthetic sets holds the true proportion, exactly and by simulation."""

from dpviz.core.monte_carlo import Measure, repetitions_needed, wilson_interval
from dpviz.coverage.curves import CoverageCurves, coverage_by_proportion, shortest_lengths, stream_by_synthesizer
from dpviz.coverage.decomposition import REPAIRS, CoverageDecomposition, coverage_decomposition
from dpviz.coverage.exact import ExactCoverage, coverage_given_count, exact_coverage, exact_coverages
from dpviz.coverage.performance import Performance, RulePerformance, performance_of
from dpviz.coverage.simulation import CoveragePlan, CoverageTally, ShownRuns, first_intervals
from dpviz.coverage.worst_case import Extreme, coverage_curves, largest_mean_width, minimize_over_p, smallest_coverage
from dpviz.simulation import run_simulation as run_coverage
from dpviz.simulation import stream_simulation as stream_coverage

__all__ = [
    "REPAIRS", "CoverageCurves", "CoverageDecomposition", "CoveragePlan", "CoverageTally", "ExactCoverage", "Extreme",
    "Measure", "Performance", "RulePerformance", "ShownRuns", "coverage_by_proportion",
    "coverage_curves", "coverage_decomposition", "coverage_given_count", "exact_coverage", "exact_coverages",
    "first_intervals", "largest_mean_width", "minimize_over_p", "performance_of", "repetitions_needed",
    "run_coverage", "shortest_lengths", "smallest_coverage", "stream_by_synthesizer", "stream_coverage",
    "wilson_interval",
]  # fmt: skip
