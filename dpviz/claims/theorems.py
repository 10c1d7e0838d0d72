"""Every claim that Zheng's (2015) thesis prints, once, right or wrong: nothing here is corrected.

Source: Zheng (2015), *The Differential Privacy of Bayesian Inference*, bachelor's thesis, Harvard College.
"""

from collections.abc import Iterator
from dataclasses import replace

from dpviz.calibration.quantities import NO_QUANTITY, NOISE_QUANTITY, PRIOR_QUANTITY, RANGE_QUANTITY
from dpviz.claims.claim import CLAIM_KINDS, NECESSARY, PROMISE_KINDS, SUFFICIENT, Claim
from dpviz.claims.formulas import CONDITIONS, FORMULAS
from dpviz.claims.published import printed_rows

__all__ = ["CLAIMS", "Claim"]

BOTH_WAYS = "if and only if"
QUANTITIES = {"": NO_QUANTITY, "prior": PRIOR_QUANTITY, "noise": NOISE_QUANTITY, "range": RANGE_QUANTITY}


def _read(row: dict[str, str]) -> Iterator[Claim]:
    """Yield a claim; of one that says "if and only if", what is enough, and then that the promise needs it."""
    said = {name: row[name] for name in ("name", "part", "family", "statement", "condition", "constant", "after")}
    claim = Claim(
        **said,  # type: ignore[arg-type]
        methods=tuple(row["methods"].split()),
        promise=PROMISE_KINDS[row["promise"]],
        kind=CLAIM_KINDS.get(row["kind"], SUFFICIENT),
        quantity=QUANTITIES[row["quantity"]],
    )
    key = claim.key
    claim = replace(claim, formula=FORMULAS.get(key), holds_when=CONDITIONS.get(key))
    yield claim
    if row["kind"] == BOTH_WAYS:
        statement = claim.statement.replace(" is enough", " is needed")
        yield replace(claim, part=f"{claim.part} only if".strip(), kind=NECESSARY, statement=statement)


CLAIMS: dict[str, Claim] = {
    claim.key: claim
    for claim in sorted(
        (claim for row in printed_rows("zheng_claims") for claim in _read(row)),
        key=lambda claim: ([int(part) for part in claim.number.split(".")], claim.part),
    )
}
"""Every claim in the thesis's order, by number; a further claim of one theorem has its part behind the number."""
