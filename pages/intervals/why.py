"""What the page shows, for a person who meets it for the first time."""

from __future__ import annotations

import streamlit as st

from dpviz.inference import RULES
from pages.components.words import listing
from pages.intervals.controls import Design

WORDS = r"""
**The study.** A population has a proportion *p* of ones. An agency holds *n* confidential rows, of which
$x \sim \mathrm{Bin}(n, p)$ are ones. It releases *M* synthetic sets of *m* rows each, made independently from *x*. The
analyst sees the sets alone: $q_j$, the share of ones in set *j*, its naive variance $v_j = q_j(1-q_j)/m$, their means
$\bar q$ and $\bar v$, and the variance $b$ between the sets.

**The promise.** All sets together are ε-differentially private (one row substituted). By basic composition each has
ε/M. For the Beta-binomial that takes α = m/(e^{ε/M} − 1) pseudo-rows of each kind: the more sets, the larger the prior.
“Least for all sets together” counts the cost of the sets exactly and allows a δ: for five sets of 100 rows at ε = 2 the
prior goes from 203.3 pseudo-rows to 12.1 with δ = 10⁻⁶.

**Coverage.** A 95 % interval should hold *p* in 95 % of all studies, whatever *p* is. Here it is summed over *every*
release: q̄ and (b, v̄) depend on the sum and the sum of squares of the M counts alone, and their joint law is a Fourier
transform. The simulation is another way to the same number: it draws, it does not sum, and its dots must land on the
lines.

**Why it fails.** A combining rule supposes that the released proportions scatter around the true one. A symmetric
prior pulls them towards ½, and the rule does not know it. Laplace and geometric noise has no prior: it moves the
estimate only where it is cut off at 0 and n. Even where nothing moves the estimate, as at p = ½, a rule may be wrong:
its variance can be too small or too large on average, and varies from release to release. “Why it fails” measures each
cause for your design.

**Rules that know the noise.** How the sets were made is public, and so is the distribution of the sum $S$ of the M
counts for every *p*. The *score* interval keeps each *p* from whose mean $E[\bar q \mid p]$ the estimate is not too
many standard errors away: the prior's pull is undone, and every source of noise is in the variance. The *posterior
given the sum* starts from a uniform prior for *p*; for one set, and for plug-ins, the sum says all that the counts say.
The two *exact* intervals keep each *p* that a test does not reject, and so hold their level at every *p*, by
construction and for any matrix. Where a matrix does not order its rows, each tail is replaced by the smallest bound
that rises or falls with *p*; where the *p* that Blaker's test keeps are no interval, the interval spans them.

**The limit.** For an interval that holds its level everywhere, the expected length at *p* is an integral over *p′* of
the probability that *p′* is kept. Neyman and Pearson's test makes that probability as small as it can be for each
*p′*, and the integral is the shortest expected length possible (Pratt).

**Edges.** b = 0 gives the normal quantile (ν = ∞); v̄ = 0 gives ν = M − 1; T < 0 gives no interval, which does not
cover; T = 0 gives an interval of no length, which covers only q̄ = p. Where T < 0, T* puts (m/n) v̄ in its place, for
which no degrees of freedom were derived: “Reiter 2002” keeps those of T, “normal for negative T” takes the normal
quantile. With M = 1 there is no b: only rules that do without it are defined.

**m ≠ n.** A set of *m* rows tells of the *n* people behind it, so that rules for synthetic rows in place of real ones
count $\bar v\,m/n$, the variance that *n* real rows would have. Raab's rule for posterior draws adds the noise of
drawing the parameter; the one for plug-ins does not.
"""


def show_why(_design: Design) -> None:
    """Explanations, the rules, notation and sources."""
    st.markdown(WORDS)
    listing(
        ["rule", "how it is made", "source"],
        [[f"<b>{rule.label}</b>", rule.formula, rule.source] for rule in RULES.values()],
        "The rules",
    )
    listing(
        ["symbol", "name in dpviz", "meaning"],
        [
            ["p, x, n", "p, confidential_count, n", "true proportion, confidential ones, confidential rows"],
            ["x̃, m (ñ), M", "counts, m, sets", "ones in a set, rows of a set (ñ in the papers), number of sets"],
            ["q̄, v̄, b", "estimate, within, between", "mean of the proportions, variance within and between sets"],
            ["T, ν", "variance, degrees", "the rule's variance of q̄, and the degrees of freedom of its t quantile"],
            ["S, q̄", "total, estimate", "sum of the M counts; its share of all Mm synthetic rows"],
            ["ε, δ, α", "epsilon, delta, alpha", "the promise for all sets together, pseudo-rows of either kind"],
        ],
        "Notation",
    )
    st.caption(
        "Sources: A.-S. Charest (2011), *How can we analyze differentially-private synthetic datasets?*; T. Morris, "
        "I. White, M. Crowther (2019), *Using simulation studies to evaluate statistical methods*; J. Pratt (1961), "
        "*Length of confidence intervals*; and those of the rules above."
    )
