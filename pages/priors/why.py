"""What the page shows, for a person who meets it for the first time."""

from __future__ import annotations

import streamlit as st

from pages.components.words import listing
from pages.priors.controls import Asked

COUNTS = r"""
**What is asked.** An agency fits a proportion to *n* confidential rows, adds *pseudo-rows* that no person contributed
(the prior: α with a one, α with a zero), and releases *m* synthetic rows. The more pseudo-rows, the less a single
person's row shows. This page turns the question around: a promise (ε, δ) in, the least prior out.

**Neighbouring.** Two tables are neighbours when one row is *substituted*: a one becomes a zero or a zero a one, *n*
stays. **The adversary** knows all rows but one, the prior, the method and every parameter, and sees the release; the
promise bounds how much that may move the odds on the last row, by a factor $e^{\varepsilon}$, except for what δ allows.

**Why n1 = 1 and not 0.** The largest change is at a table with few ones. A table *without* ones has no one to lose: its
only neighbours have a single one. So the extreme pair is n1 = 1 against n1 = 0, and the likelier of the two has α + 1
rows and pseudo-rows in that cell, not α. The thesis compares α with α − 1, and asks for one pseudo-row too many.

**Why PARAM_MAP cannot be private.** It releases a number that the data fix. Neighbours release different numbers with
certainty, so one look decides. PARAM_Post draws at random, but near 0 and 1 its density changes by any factor: no ε
holds alone, a small δ covers it.

**δ > 0.** δ(ε; α) is the largest, over all n pairs of neighbours and both directions, of
$\sum \max(0, P - e^{\varepsilon} Q)$. It never rises in α: take the release with less prior, send each released row to
a third cell with the probability that more pseudo-rows there would give it, and merge that cell: that is the release
with more prior, made from the release alone. So the least prior is a root, bracketed and solved; the answer is on the
private side.

**k categories.** For neighbours that differ in two cells the likelihood ratio depends on those two counts alone. The
worst pair has its only row of two cells in one or the other, everything else elsewhere. For PARAM_Post the total of
the two cells tells nothing, so the answer depends on neither k nor n. For SYNTH_Post(One) with δ the prior *falls* as k
grows from 3 on: α stands in every cell, so that k α pseudo-rows outweigh the data, and few of the m released rows fall
into the two cells that tell. It is the total, k α, that grows.
"""

RANGES = r"""
**What is asked.** Rows come from a normal law with known σ and unknown mean μ, and lie between −R and R. The agency
draws μ from its posterior, or releases *m* rows around it. The wider the range, the more one row may move the mean:
this page finds the largest R/σ that keeps a promise (ε, δ).

**Neighbouring, and why 2R/n.** Two data sets are neighbours when one row is *substituted*. A row at −R may become a row
at +R, which moves the mean by **2R/n**. The thesis uses R/n in Theorems 7.3, 7.8, 7.12, 7.14 and 7.15 (7.13 follows
from 7.12), as if a row could only move from the middle to an end. Each of them is unsafe at some settings; at others
something else in the bound makes up for the factor of 2. The audit computes what each really gives at yours. Theorem
7.8 slips once more, with a deviation of kσ_μ for 2kσ_μ, and a remark after Theorem 7.15 hands its bound on to
SYNTH_Post(One). Corollary 7.16 builds on rows that are conditioned to [−R, R], drops that, and no constant repairs it.

**The adversary** knows all rows but one, the prior, the method and every parameter, and sees the release.

**With δ.** Every method releases a normal number (or its rows have one sufficient number) whose mean follows the data
and whose spread does not: a Gaussian mechanism with ratio r of sensitivity to noise. Its exact δ is
$\Phi(r/2 - \varepsilon/r) - e^{\varepsilon}\,\Phi(-r/2 - \varepsilon/r)$.

**Without δ.** The ratio of two normal densities has no bound, so every released number is conditioned to [−R, R]. The
log ratio of the two conditioned laws is largest at an end of the range, for data that all lie at the other end; the
normalising constants stay in the formula.

**PARAM_MAP** is a number that the data fix: no range makes it private without noise.
"""


def show_why(asked: Asked) -> None:
    """Explanations, notation and sources."""
    gaussian = asked.family == "gaussian"
    st.markdown(RANGES if gaussian else COUNTS)
    rows = [
        ["n, m, M", "n, m, sets", "confidential rows, rows of one synthetic set, number of sets"],
        ["ε, δ", "epsilon, delta", "the promise: privacy loss, and the probability that is left over"],
        ["α, β", "alpha, beta", "pseudo-rows with a one and with a zero; here α = β, the same in every cell"],
        ["R, σ, σ₀", "range_over_sigma, sigma, sigma0", "half-width of the data, spread of a row, of the prior of μ"],
    ]
    listing(["symbol", "name in dpviz", "meaning"], rows[:2] + (rows[3:] if gaussian else rows[2:3]), "Notation")
    st.caption(
        "Sources: S. Zheng (2015), *The differential privacy of Bayesian inference*; A. Machanavajjhala et al. "
        "(2008), *Privacy: theory meets practice on the map*; B. Balle, Y.-X. Wang (2018), *Improving the Gaussian "
        "mechanism*; C. Dwork, G. Rothblum, S. Vadhan (2010), *Boosting and differential privacy*; B. Balle, G. "
        "Barthe, M. Gaboardi (2018), *Privacy amplification by subsampling*."
    )
