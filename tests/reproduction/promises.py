"""What Bowen & Liu (2016) and Liu (2016) promise for each of their methods, at one setting."""

from functools import cache

from dpviz.audit.release_audit import ReleaseAudit, ReleaseSetting, audit_releases
from dpviz.core.formatting import format_number
from dpviz.published.records import Record
from tests.reproduction.evidence import Evidence, SimulationBudget, check_each


@cache
def release_audits() -> dict[tuple[str, str], ReleaseAudit]:
    """Return the audits of 100 rows at ε = 1, by source and by the promise as a record has it."""
    audits = {}
    for audit in audit_releases(ReleaseSetting(n=100, epsilon=1.0)):
        promise = f"{audit.method.name}: ε = {format_number(audit.promised, 3)} for {audit.method.released}"
        audits[audit.method.source, promise] = audit
    return audits


@check_each("bowen_liu", "promises")
@check_each("liu", "promises")
def promise_of_method(record: Record, _: SimulationBudget) -> Evidence:
    """What a method really gives."""
    audit = release_audits()[f"{record.paper}, {record.place}", record.printed]
    return Evidence(audit.sentence, not audit.verdict.bad)
