"""What the page shows, for a person who meets it for the first time."""

from __future__ import annotations

import streamlit as st

from pages.bayes.controls import Asked
from pages.components.words import listing

WORDS = r"""
**The model.** $p \sim \mathrm{Beta}(\gamma_1, \gamma_2)$ is what the analyst believes before; $x \sim
\mathrm{Bin}(n, p)$ are the confidential ones; the agency draws $\tilde p_j \sim \mathrm{Beta}(\alpha + x, \alpha + n -
x)$ and $\tilde x_j \sim \mathrm{Bin}(m, \tilde p_j)$ for each of M sets. The analyst sees the $\tilde x_j$, and knows
n, m and α, which are public.

**The posterior is exact.** Given x the synthetic counts say nothing more about p. So the posterior is a mixture of the
n + 1 laws $\mathrm{Beta}(\gamma_1 + x, \gamma_2 + n - x)$, with weights proportional to the probability of x under the
prior times that of the synthetic counts given x. No Markov chain is needed, and no error is left but rounding.

**Why it repairs what combining rules cannot.** A rule takes the synthetic shares for estimates of p; but the prior α
pulls them towards ½. The model knows α, and undoes the pull. Where the release says little (small ε), the posterior
returns to the analyst's own prior and says so by its width, instead of pointing at ½ with confidence.

**More sets are not more knowledge.** With ε shared among M sets each says less. At ε = 2 the posterior from five sets
is wider on average than from one: see the presets, and Charest's Table 3.

**Privacy.** The posterior is computed from the release alone, so it costs no privacy (post-processing). The promise is
that of the release: ε for all sets together, one row substituted.
"""


def show_why(_asked: Asked) -> None:
    """Explanations, notation and sources."""
    st.markdown(WORDS)
    listing(
        ["symbol", "name in dpviz", "meaning"],
        [
            ["p, x, n", "p, confidential_count, n", "true proportion, confidential ones, confidential rows"],
            ["x̃, m (ñ), M", "synthetic_counts, m, sets", "ones in a set, rows of a set (ñ in the papers), sets"],
            ["α", "alpha, beta", "the synthesizer's pseudo-rows of either kind, in each set"],
            ["γ1, γ2", "gamma1, gamma2", "the analyst's own pseudo-rows with a one and with a zero"],
        ],
        "Notation",
    )
    st.caption(
        "Source: A.-S. Charest (2011), *How can we analyze differentially-private synthetic datasets?*, sections 4 and "
        "5, where the same posterior is sampled by MCMC."
    )
