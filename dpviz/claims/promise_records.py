"""The privacy that Bowen & Liu (2016) and Liu (2016) promise for each of their methods, as records."""

from collections.abc import Iterator

from dpviz.audit.release_audit import ReleaseSetting, audit_releases
from dpviz.claims.published import Effort, Record, Shown
from dpviz.core.formatting import format_number
from dpviz.privacy.real_loss import ReleaseVerdict

PROMISED_AT = ReleaseSetting(n=100, epsilon=1.0)


def promise_records(cited: str, _: Effort) -> Iterator[Record[str]]:
    """Yield the promise of every method that a paper prints first, beside what it really gives at one setting."""
    at = PROMISED_AT
    held_at = (
        f"n = {at.n}, {at.sets} sets, {at.bins} bins, bounds ±{format_number(at.upper)}σ; n is public, and a "
        "row replaced."
    )
    for found in audit_releases(at):
        method, settled = found.method, found.verdict is not ReleaseVerdict.OPEN
        record = Record[str](
            source=method.source,
            what="promise",
            printed=f"{method.name}: ε = {format_number(found.promised, 3)} for {method.released}",
            ours=found.sentence if settled else "",
            holds=not found.verdict.bad,
            reading=held_at,
            reason="" if settled and not found.verdict.bad else found.explanation,
            shown=Shown("compare_synthesizers", {"kind": "binary", "n": at.n, "epsilon": at.epsilon, "sets": at.sets}),
        )
        if record.paper == cited:
            yield record
