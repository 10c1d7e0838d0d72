"""Every printed claim held against the exact answer: what it really gives, and why."""

from dpviz.audits.audit import Finding, audit
from dpviz.audits.statements import Statement, audit_statements

__all__ = ["Finding", "Statement", "audit", "audit_statements"]
