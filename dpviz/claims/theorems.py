"""Every claim that Zheng's (2015) thesis prints, once, right or wrong: nothing here is corrected.

Source: Zheng (2015), *The Differential Privacy of Bayesian Inference*, bachelor's thesis, Harvard College.
"""

from dpviz.claims import general_theorems, theorems_of_counts, theorems_of_means
from dpviz.claims.claim import Claim

CLAIMS: dict[str, Claim] = {
    claim.key: claim
    for claim in sorted(
        (
            *general_theorems.GENERAL_CLAIMS,
            *theorems_of_counts.CLAIMS_ON_COUNTS,
            *theorems_of_counts.CLAIMS_ON_AVERAGE,
            *theorems_of_means.CLAIMS_ON_MEANS,
        ),
        key=lambda claim: ([int(part) for part in claim.number.split(".")], claim.part),
    )
}
"""Every claim in the thesis's order, by number; a further claim of one theorem has its part behind the number."""

__all__ = ["CLAIMS", "Claim"]
