"""Every printed method of Bowen & Liu (2016) and Liu (2016) that promises an ε, in one table."""

import math
from functools import partial

import numpy as np

from dpviz.audits.releases import losses, posteriors
from dpviz.audits.releases.laplace_noise import truncated_factor
from dpviz.audits.releases.record import Loss, ReleaseFinding, ReleaseMethod, ReleaseSetting
from dpviz.checked import checked
from dpviz.numerics.ends import inverse_gain
from dpviz.privacy.gaussian import gaussian_epsilon
from dpviz.privacy.hockey_stick import pure_epsilon
from dpviz.synthesizers import BetaBinomial, LaplaceCells, PosteriorMean
from dpviz.synthesizers.binned_posterior import bin_log_ratios

STATISTIC, ROWS, HISTOGRAM = "the noisy statistics", "the released rows", "the noisy histogram"
TRUNCATION = (
    "The noise is drawn again until the result lies within the bounds. The density is then divided by the probability "
    "of lying inside, and that depends on the confidential data."
)
BIT = "Set what lies outside to the nearest bound (BIT), or use a scale {factor} times as large."
SCOTT = "The number of bins follows from the confidential standard deviation, and one row can change it."
TWO_COUNTS = (
    "A row that is replaced leaves one cell and enters another. Two counts move by 1, and the noise covers one of them."
)
POST_PROCESSED = "What is computed from a private statistic alone stays as private."
CLIPPED_ALIKE = "Setting what lies outside to the nearest bound looks at the noisy statistic alone."
CLOSED, QUADRATURE, EXACT_SUM = "a closed form", "quadrature", "an exact sum"
ALL_TABLES = "the log-odds of all tables"

Printed = partial(ReleaseMethod, released=STATISTIC, checked=CLOSED)
Truncated = partial(Printed, safe=BIT, factor=lambda at: truncated_factor(at.each))
Doubled = partial(Printed, factor=lambda _: 2.0)


RELEASE_METHODS: tuple[ReleaseMethod, ...] = (
    Printed(key="laplace_count", name="Laplace sanitizer, one count", source="Bowen & Liu (2016), §3.1.1, study 1",
        released=ROWS, real=lambda at: losses.of_a_count(at.n, at.epsilon),
        why="One row moves one count by 1, and the noise covers just that."),
    # `LaplaceCells` has scale 2/ε, and Laplace(1/ε) on each count is that one with 2ε.
    Doubled(key="laplace_cells", name="Laplace sanitizer, several cells", source="Bowen & Liu (2016), §3.1.1",
        real=lambda at: pure_epsilon(LaplaceCells(n=at.n, cells=max(3, at.bins), epsilon=2 * at.epsilon)),
        released=ROWS, why=TWO_COUNTS, safe="Use noise twice as large, Laplace(2/ε).", checked=ALL_TABLES),
    Printed(key="beta_binomial", name="Beta-binomial (BB, MD synthesizer)", source="Bowen & Liu (2016), §3.1.1",
        released=ROWS, why="The prior is the smallest that keeps the promise.", checked=ALL_TABLES,
        real=lambda at: at.sets * losses.of_rows(BetaBinomial, at.n, at.n * inverse_gain(at.each))),
    Printed(key="dp_prior", name="Posterior-mean plug-in (DP-prior)", source="Bowen & Liu (2016), §3.1.1",
        released=ROWS, why="The prior is the smallest that keeps the promise.", checked=ALL_TABLES,
        real=lambda at: losses.of_rows(PosteriorMean, at.n, inverse_gain(at.epsilon / at.n))),
    Doubled(key="perturbed", name="Perturbed histogram, public bins", source="Bowen & Liu (2016), equation (4)",
        released=ROWS, real=losses.perturbed_public, checked=QUADRATURE, why=TWO_COUNTS,
        safe="Use noise twice as large, Laplace(2/ε)."),
    Printed(key="perturbed_scott", name="Perturbed histogram, Scott's bins",
        source="Bowen & Liu (2016), equation (4), study 2", released=HISTOGRAM, real=losses.perturbed_scott, why=SCOTT,
        checked="a pair of neighbours, and simulated samples",
        safe="Choose the bins without the data, and twice the noise."),
    Printed(key="smoothed", name="Smoothed histogram, public bins", source="Bowen & Liu (2016), equations (5) and (6)",
        released=ROWS, real=losses.smoothed_public,
        why="The share of the uniform distribution is the smallest that will do."),
    Printed(key="smoothed_scott", name="Smoothed histogram, Scott's bins",
        source="Bowen & Liu (2016), equations (5) and (6), study 2", released=ROWS, real=losses.smoothed_scott,
        why=f"{SCOTT} The loss is that of the worst pair that was found.", checked="the exact loss of chosen pairs",
        safe="Choose the bins without the data."),
    Printed(key="exponential_sequences", name="Exponential mechanism on the distribution function, all data sets",
        source="Bowen & Liu (2016), equation (7)", released="the released zeros and ones", checked=EXACT_SUM,
        real=partial(losses.exponential, sequences=True),
        why="The normalizing sum takes the half of ε that the score leaves."),
    Printed(key="exponential_counts", name="Exponential mechanism on the distribution function, all tables",
        source="Bowen & Liu (2016), equation (7)", released="the released count", checked=EXACT_SUM,
        real=partial(losses.exponential, sequences=False), why="The normalizing sum depends little on the data."),
    Printed(key="cell_mean", name="Mean of a mixture's cell, set to the bounds", source="Bowen & Liu (2016), study 3",
        promised=losses.cell_mean_budget, released="one noisy cell mean", real=losses.clipped_cell_mean,
        why="The noise is R/(size ε), and the size of the cell changes with the row: the scale of the noise shows it.",
        safe="Release noisy sums and noisy counts, and divide them."),
    Printed(key="cell_mean_unbounded", name="Mean of a mixture's cell, any value", source="Bowen & Liu (2016), study 3",
        promised=losses.cell_mean_budget, released="one noisy cell mean", real=lambda _: math.inf,
        why="The size of the cell sets the scale of the noise, and far out two scales have no bounded ratio.",
        safe="Release noisy sums and noisy counts, and divide them."),
    Truncated(key="truncated", name="Any statistic with truncated noise",
        source="Liu (2016), §5.1; Bowen & Liu (2016), §4.1", real=losses.truncated_statistic, why=TRUNCATION),
    Truncated(key="proportion_truncated", name="Modips, proportion, truncation",
        source="Liu (2016), §5.1; Bowen & Liu (2016), study 1", released=ROWS,
        real=partial(losses.proportion, truncated=True), checked=ALL_TABLES,
        why=f"{TRUNCATION} The draw of the rows hides a part of it."),
    Printed(key="proportion_clipped", name="Modips, proportion, BIT",
        source="Liu (2016), §5.1; Bowen & Liu (2016), study 1", released=ROWS,
        real=partial(losses.proportion, truncated=False), why=CLIPPED_ALIKE, checked=ALL_TABLES),
    Truncated(key="mean_truncated", name="Modips, mean with known variance, truncation", source="Liu (2016), §5.1",
        released=ROWS, real=partial(losses.mean, truncated=True), why=TRUNCATION, checked=QUADRATURE),
    Printed(key="mean_clipped", name="Modips, mean with known variance, BIT", source="Liu (2016), §5.1", released=ROWS,
        real=partial(losses.mean, truncated=False), why=CLIPPED_ALIKE, checked=QUADRATURE),
    Truncated(key="mean_variance_truncated", name="Modips, mean and variance split evenly, truncation",
        source="Liu (2016), §5.3, Definition 6", released=ROWS, real=losses.truncated_mean_and_variance, why=TRUNCATION,
        factor=lambda at: truncated_factor(at.each / 2)),
    Printed(key="communal_truncated", name="Modips, mean and variance communal, truncation",
        source="Liu (2016), §5.3, Definition 5", released=ROWS, why=TRUNCATION,
        real=lambda at: losses.truncated_mean_and_variance(at, 1 / (1 + at.width)),  # shared as R to R²
        safe="Set what lies outside to the nearest bound (BIT)."),
    Printed(key="mean_variance_clipped", name="Modips, mean and variance, split or communal, BIT",
        source="Liu (2016), §5.3; Bowen & Liu (2016), study 2", released=ROWS,
        real=lambda at: at.epsilon,  # Each noisy end has mass ½, and e^{−its share of ε} times that after the move.
        why="All rows at one bound against one row at the other: both statistics lose all that they may."),
    Truncated(key="nested_truncated", name="Nested modips, proportion, truncation", source="Liu (2016), §3.1, Figure 3",
        released="all nested sets", real=partial(losses.proportion, truncated=True, nested=True), checked=QUADRATURE,
        why=f"{TRUNCATION} The more sets are drawn from one noisy count, the better they show it."),
    Printed(key="nested_clipped", name="Nested modips, proportion, BIT", source="Liu (2016), §3.1, Figure 3",
        released="all nested sets", why=POST_PROCESSED, checked=QUADRATURE,
        real=partial(losses.proportion, truncated=False, nested=True)),
    Printed(key="sets", name="M sets, each with ε/M", source="Liu (2016), Algorithm 1", released="all sets",
        real=lambda at: at.sets * losses.of_a_count(at.n, at.each), why="The losses of independent sets add.",
        checked=ALL_TABLES),
    Doubled(key="parallel", name="Parallel composition over cells", source="Liu (2016), §2.1 and §3.4",
        released="the noisy counts of two cells", real=lambda at: 2 * losses.of_a_count(at.n, at.epsilon),
        why="It is right where a row is removed. A row that is replaced may change cells, and then moves both.",
        safe="Count each cell with twice the sensitivity."),
    Printed(key="sdd", name="Posterior in bins (SDD)", source="Liu (2016), Algorithm 2, Proposition 3",
        released="one drawn bin", real=losses.binned_posterior, checked=EXACT_SUM,
        why="The bound 2A on the sensitivity is far too large, and the draw nearly uniform. Without bounds on the "
        "proportion A is infinite, and the draw uniform.",
        safe="Use the true sensitivity."),
    Printed(key="sdd_nested", name="Nested modips with SDD, true sensitivity",
        source="Liu (2016), §3.1 with Algorithm 2", released="all drawn bins", checked=EXACT_SUM,
        real=lambda at: at.sets * at.draws * posteriors.sdd_loss(at.n, at.each, float(abs(bin_log_ratios(at.n)).max())),
        why="Each draw from the posterior selects a bin anew, and each selection is paid for.",
        safe="Give each draw its share of ε."),
    Printed(key="sdd_mc", name="Posterior histogram of draws (SDD.MC)",
        source="Liu (2016), Algorithm 3, Proposition 4", released="one drawn bin and its histogram",
        real=losses.sampled_posterior, checked="an exact sum, and simulated draws",
        why="One row moves every bin, and the noise covers one. A bin that no draw falls into stays empty, whatever "
        "the noise is.",
        safe="Use Algorithm 2."),
    Printed(key="sphc", name="Posterior histogram of counts (SPHC)", source="Liu (2016), Algorithm 4, Proposition 5",
        released=HISTOGRAM, real=losses.posterior_histogram, checked="an exact sum, and quadrature of draws",
        why="One row moves every bin, and the noise covers one.",
        safe="Use the sum of the moves of all bins as the sensitivity."),
    Printed(key="standardized", name="SPHC of a standardized normal posterior", source="Liu (2016), §3.3",
        # Supports that do not overlap: a draw may lie where only one data set can put it.
        real=lambda at: Loss(
            math.inf, math.inf, delta=posteriors.standardized_delta(losses.posterior_shift(at), at.each)),
        released="one draw", checked=QUADRATURE,
        why="The draw is put back in place by the confidential mean, so that its range moves with every row.",
        safe="Choose the bins of the parameter itself, without the data."),
    Printed(key="bootstrap", name="Bootstrap, then sanitize", source="Liu (2016), Figure 5 (b)",
        # A row is drawn k ~ Bin(n, 1/n) times and costs ε each time: ln E[e^{kε}].
        real=lambda at: at.sets * at.n * float(np.logaddexp(math.log(at.n - 1), at.each) - math.log(at.n)),
        released="the noisy counts",
        why="A row that the bootstrap draws k times is hidden by the noise for one.",
        safe="Sanitize first and draw again from the result."),
    Printed(key="gaussian", name="Gaussian mechanism, (ε, δ)", source="Liu (2016), Definition 3",
        real=lambda at: gaussian_epsilon(at.epsilon / math.sqrt(2 * math.log(1.25 / at.delta)), at.delta),
        why="The printed noise is meant for ε below 1, and there it is more than enough.",
        safe="Use the analytic Gaussian mechanism.", checked="the exact δ, after Balle & Wang (2018)"),
    Printed(key="gaussian_probabilistic", name="Gaussian mechanism, probabilistic", source="Liu (2016), Definition 3",
        real=losses.gaussian_probabilistic,
        why="It bounds how often the loss exceeds ε, for each pair of neighbours.",
        checked="the exact probability of a larger loss"),
)  # fmt: skip
"""Methods in the order of the papers; the verdict on each follows from its `real` loss."""


@checked()
def audit_releases(setting: ReleaseSetting) -> tuple[ReleaseFinding, ...]:
    """Return what every printed method really gives at a setting, in the order of the papers.

    >>> found = audit_releases(ReleaseSetting(n=100, epsilon=1.0))
    >>> [one.method.key for one in found if one.verdict == "not private at any ε"]
    ['perturbed_scott', 'cell_mean_unbounded', 'standardized']
    """
    return tuple(ReleaseFinding(method, setting, method.loss(setting)) for method in RELEASE_METHODS)
