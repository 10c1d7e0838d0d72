"""Every printed claim held against the exact answer: what it really gives, and why."""

from dpviz.audits.audit import audit, judged
from dpviz.audits.finding import Finding
from dpviz.audits.statements import Statement, audit_statements

__all__ = ["Finding", "Statement", "audit", "audit_statements", "judged"]
