"""The methods that release one yes/no variable, most of them sets of one transition matrix."""

from __future__ import annotations

import math
from typing import Any

from dpviz.comparisons.binary_base import BinaryMethod, OneProportion
from dpviz.synthesizers import (
    BetaBinomial,
    BinnedPosterior,
    BinnedPosteriorExact,
    ExponentialCounts,
    ExponentialRows,
    GeometricSanitizer,
    LaplaceSanitizer,
    PosteriorMean,
)
from dpviz.synthesizers.modips import Modips, ModipsTruncated

OWN_PRIOR = 1 / 3  # Invented ones, and zeros, of the prior that Bowen & Liu take from Kerman (2011)
NO_NOISE = 1000.0  # ε from which on the noise is 0 with a probability that rounds to 1


class OriginalData(BinaryMethod):
    """The confidential data as they are."""

    def protection(self, data: OneProportion, epsilon: float) -> dict[str, Any]:  # noqa: ARG002
        return {"epsilon": NO_NOISE}

    def absence(self, data: OneProportion) -> str:  # noqa: ARG002
        """There are as many rows as there are, whatever others release."""
        return ""

    def design(self, data: OneProportion, setting: float, sets: int, **shared: Any) -> None:
        """No page takes data without protection for a release."""

    def real_epsilon(self, data: OneProportion, setting: float, sets: int) -> float:  # noqa: ARG002
        return math.inf


class OwnPrior(BinaryMethod):
    """A method that draws from the posterior under the papers' own prior, whatever ε is."""

    def protection(self, data: OneProportion, epsilon: float) -> dict[str, Any]:  # noqa: ARG002
        noise = {} if self.reference else {"epsilon": epsilon}
        return {"alpha": OWN_PRIOR, "beta": OWN_PRIOR, **noise}


class LaplaceRelease(BinaryMethod):
    """The count with Laplace noise, one set."""

    def usable_share(self, data: OneProportion, setting: float, sets: int) -> float:  # noqa: ARG002
        """Pr(0 < x + Laplace(1/ε) < n) = 1 − ½E[e^{−εx}] − ½E[e^{−ε(n−x)}], before rounding, x ~ Binomial(n, p).

        A release that had to be moved to an end has no variance.
        """
        rest = -math.expm1(-setting)
        below = (1 - data.p * rest) ** data.n
        above = (1 - (1 - data.p) * rest) ** data.n
        return max(1 - (below + above) / 2, 0.0)


ORIGINAL = OriginalData(
    law=GeometricSanitizer, key="original", label="Original data", reference=True, several_sets=False,
    source="no protection",
    releases="Nothing is done to the data. This is what an analyst would find who may see them; no ε holds.",
)  # fmt: skip
LAPLACE = LaplaceRelease(
    law=LaplaceSanitizer, audited="laplace_count", noisy=True, several_sets=False,
    source="Bowen & Liu (2016), Laplace sanitizer; Abowd & Vilhuber (2008)",
    releases="One set: the number of ones plus Laplace noise of scale 1/ε, rounded and moved to the nearest end where "
    "it falls outside 0 to n. It spends all of ε.",
)  # fmt: skip
BETA_BINOMIAL = BinaryMethod(
    law=BetaBinomial, audited="beta_binomial",
    source="Bowen & Liu (2016), Multinomial-Dirichlet; Abowd & Vilhuber (2008), Charest (2011)",
    releases="Each set draws the proportion from its posterior and then the rows to be released. It invents as many "
    "rows of each kind as its share of ε asks for, and spends exactly that.",
)  # fmt: skip
GEOMETRIC = BinaryMethod(
    law=GeometricSanitizer, noisy=True, several_sets=False,
    releases="One set: the number of ones plus noise on the whole numbers, where each further one is e^ε times less "
    "likely, moved to the nearest end where it falls outside 0 to n. It spends all of ε.",
    finding="This keeps the promise exactly: every released count tells neighbours apart by ε, and by no more.",
)  # fmt: skip

BINARY_METHODS: tuple[BinaryMethod, ...] = (
    ORIGINAL,
    OwnPrior(
        law=BetaBinomial, key="multiple_synthesis", label="Multiple synthesis, no promise", reference=True,
        source="Bowen & Liu (2016), MS, after Raghunathan, Reiter & Rubin (2003)",
        releases="Each set draws the proportion from its posterior, with a third of an invented row of each kind, and "
        "then n rows. No privacy is promised.",
    ),
    OwnPrior(
        law=Modips, audited="proportion_clipped", noisy=True,
        source="Bowen & Liu (2016), modips-thresholding; Liu (2016), Algorithm 1",
        releases="Each set adds Laplace noise for its share of ε to the number of ones, moves what falls outside 0 to "
        "n to the nearest end, draws the proportion from the posterior that this gives, with a third of an invented "
        "row of each kind, and then the rows to be released.",
    ),
    OwnPrior(
        law=ModipsTruncated, audited="proportion_truncated", noisy=True,
        source="Bowen & Liu (2016), modips-truncation; Liu (2016), Algorithm 1",
        releases="As modips, boundary-inflated; but noise that leads outside 0 to n is drawn again until the noisy "
        "number is inside.",
    ),
    LAPLACE,
    BETA_BINOMIAL,
    BinaryMethod(
        law=PosteriorMean, audited="dp_prior", several_sets=False,
        source="Bowen & Liu (2016), DP-prior; McClure & Reiter (2012)",
        releases="One set of rows drawn with the posterior mean as their proportion. Enough rows are invented that "
        "this keeps ε, all of which it spends.",
    ),
    BinaryMethod(
        law=ExponentialRows, audited="exponential_sequences", several_sets=False,
        source="Bowen & Liu (2016), equation (7), after Wasserman & Zhou (2010)",
        releases="One set of rows, by the exponential mechanism over all data sets of zeros and ones: the nearer a "
        "data set's distribution function is to the real one, the likelier it is. Most data sets have about as many "
        "ones as zeros, which draws the count to the middle. It spends all of ε. With k categories there are kⁿ data "
        "sets, so it can only be simulated.",
    ),
    BinaryMethod(
        law=ExponentialCounts, audited="exponential_counts", several_sets=False,
        source="Bowen & Liu (2016), equation (7), over tables; McSherry & Talwar (2007)",
        releases="One set, by the exponential mechanism over all possible counts, each of which counts once. It spends "
        "ε/2 on the distance of the distribution functions, and of the other half only what the largest and the "
        "smallest count give away.",
    ),
    BinaryMethod(
        law=BinnedPosterior,
        source="Liu (2016), Algorithm 2 (SDD), Proposition 3",
        releases="Each set cuts the posterior of the proportion into 100 bins from 0.05 to 0.95, chooses one of them "
        "by the exponential mechanism with its share of ε, draws the proportion evenly from it, and then the rows to "
        "be released.",
        finding="This keeps the promise but hardly uses it: the printed sensitivity is about a hundred times what one "
        "row can change at n = 100, so the bins are chosen nearly at random.",
    ),
    BinaryMethod(
        law=BinnedPosteriorExact,
        source="Liu (2016), Algorithm 2 (SDD), with the sensitivity of its score",
        releases="As the posterior in bins, with the most that one row can really change the logarithm of a bin's "
        "probability. It keeps the promise with far less noise.",
    ),
)  # fmt: skip
"""Every method that is a matrix, in the order of the pictures: a new one is a few words here."""
