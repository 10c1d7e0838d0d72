"""What methods that are compared really give away, as the audit of the printed methods has it at the same setting."""

from dataclasses import replace
from functools import lru_cache
from html import escape

from dpviz.claims.printed_methods import RELEASE_METHODS, audit_releases
from dpviz.claims.release_finding import ReleaseFinding, ReleaseSetting, verdict_sentence
from dpviz.comparisons import ComparedMethod, DataKind, MixedData
from dpviz.comparisons.numeric_data import NormalData
from dpviz.comparisons.numeric_releases import public_bins
from dpviz.privacy.real_loss import ReleaseVerdict


def audited_setting(data: DataKind, epsilon: float, sets: int) -> ReleaseSetting:
    """Return what the audit is asked: the n, ε and sets of a comparison, bounds in standard deviations from the mean.

    >>> from dpviz.comparisons import UnknownVariance
    >>> found = audited_setting(UnknownVariance(n=100, mean=1.0, sigma=2.0, low=-3.0, high=4.0), 1.0, 10)
    >>> found.lower, found.upper, found.bins
    (-2.0, 1.5, 10)
    """
    n = int(data.settings()["n"])
    setting = ReleaseSetting(n=n, epsilon=epsilon, sets=sets, cell=min(ReleaseSetting.cell, n))
    if isinstance(data, MixedData):
        setting = replace(setting, cell=max(2, round(n * data.shares[0])))
    if isinstance(data, NormalData):
        low, high = ((end - data.mean) / data.sigma for end in (data.low, data.high))
        # As many bins as the methods that are compared have
        return replace(setting, lower=low, upper=high, bins=public_bins(n))
    return setting


@lru_cache(maxsize=1024)
def given_away(method: ComparedMethod, data: DataKind, epsilon: float, sets: int) -> str:
    """Return what a method really gives away, and why, where M sets are released; of a reference what is said of it."""
    if method.reference or method.absence(data):
        return method.finding
    try:
        loss, why = method.real_loss(data, epsilon, method.sets(sets)), method.finding
        if method.audited and not why:
            record, setting = (
                next(one for one in RELEASE_METHODS if one.key == method.audited),
                audited_setting(data, epsilon, sets),
            )
            found = ReleaseFinding(record, setting, record.loss(setting))
            loss, why = replace(loss, delta=found.loss.delta), found.explanation
    except ValueError:  # too few rows, or another setting that is refused
        return method.finding
    return f"{verdict_sentence(loss, epsilon)} {why}".strip()


def promises_table(data: DataKind, epsilon: float, sets: int) -> tuple[list[str], list[list[str]]]:
    """Return the names of the columns, and a row for each method with what it releases and really gives away."""
    rows = [
        [
            f"<b>{method.label}</b><br><small>{method.source}</small>",
            f"{method.releases} <b>{escape(given_away(method, data, epsilon, sets))}</b>",
        ]
        for method in data.methods
    ]
    return ["method", "what it releases and spends"], rows


@lru_cache(maxsize=16)
def ranked_findings(setting: ReleaseSetting) -> tuple[ReleaseFinding, ...]:
    """Return what every printed method really gives at a setting, what is broken first."""
    verdicts = list(ReleaseVerdict)
    return tuple(sorted(audit_releases(setting), key=lambda finding: verdicts.index(finding.verdict)))
