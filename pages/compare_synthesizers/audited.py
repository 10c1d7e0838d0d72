"""What the printed methods really promise: broken promises first, then the rest, folded."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from html import escape

import streamlit as st

from dpviz.audits.releases import SENSITIVITIES, ReleaseFinding, ReleaseSetting, audit_releases
from dpviz.audits.releases.record import Loss, ReleaseVerdict
from dpviz.audits.releases.sentences import (
    NEIGHBOURS,
    SIGNS,
    explanation,
    factor_text,
    headline,
    real_text,
    safe_sentence,
    verdict_sentence,
)
from dpviz.comparisons import Method, MixedData
from dpviz.comparisons.gaussian_data import GaussianData
from dpviz.exports.releases import releases_csv
from dpviz.parameters import readable
from pages.compare_synthesizers import SPEC
from pages.compare_synthesizers.controls import PREFIX, Asked
from pages.components.cached import cached
from pages.components.downloads import show_files
from pages.components.words import audit_region, audit_row, audit_table, heading, note

ORDER = list(ReleaseVerdict)
HEAD = ("method", "promised ε", "real ε", "real over promised", "verdict")


def show_audited(asked: Asked) -> None:
    """Every method that Bowen & Liu and Liu print, at the reader's ε, n, number of sets and bounds."""
    heading("What these methods really promise")
    try:
        setting = setting_of(asked)
    except ValueError as refused:
        note(escape(f"This is not audited here: {refused}"))
        return
    found = sorted(cached(audit_releases)(setting), key=lambda one: ORDER.index(one.verdict))
    st.html(_table_html(found))
    note(escape(NEIGHBOURS))
    st.caption(
        SPEC.note(
            "audited",
            n=readable(setting.n),
            epsilon=readable(setting.epsilon),
            sets=readable(setting.sets),
            bins=readable(setting.bins),
            cell=readable(setting.cell),
            draws=readable(setting.draws),
            lower=readable(setting.lower),
            upper=readable(setting.upper),
            delta=readable(setting.delta),
        )
    )
    st.html(_sensitivities_html(setting))
    show_files(PREFIX, "Table, every digit", ("The audit, CSV", "audit.csv", partial(releases_csv, found)))


def given_away(method: Method, asked: Asked) -> str:
    """What a method really gives away at the reader's setting, and why; nothing where that is not known."""
    if method.finding or not method.audited:
        return escape(method.finding)
    try:
        found = cached(audit_releases)(setting_of(asked))
    except ValueError:  # too few rows, or another setting that is not audited
        return ""
    one = next(one for one in found if one.method.key == method.audited)
    real = method.real_epsilon(asked.data, asked.design.epsilon, method.sets(asked.analysis.sets))
    if one.loss.exact and real is not None:  # of this page's prior, as in the table above
        one = replace(one, loss=Loss.exactly(real, one.loss.said))
    return escape(f"{verdict_sentence(one)} {explanation(one)}")


def setting_of(asked: Asked) -> ReleaseSetting:
    """Return what the audit is asked: the reader's n, ε and sets, and bounds in standard deviations from the mean."""
    n, data = asked.design.n, asked.data
    setting = ReleaseSetting(
        n=n, epsilon=asked.design.epsilon, sets=asked.analysis.sets, cell=min(ReleaseSetting.cell, n)
    )
    if isinstance(data, MixedData):
        setting = replace(setting, cell=max(2, round(n * data.shares[0])))
    if isinstance(data, GaussianData):
        low, high = ((end - data.mean) / data.sigma for end in (data.low, data.high))
        return replace(setting, lower=low, upper=high)
    return setting


def _table_html(found: Sequence[ReleaseFinding]) -> str:
    bad = [one for one in found if one.verdict.bad]
    rest = [one for one in found if not one.verdict.bad]
    folded = f"<details><summary>The other methods: {len(rest)}</summary>{_rows_html(rest)}</details>"
    lead = f'<p class="dpviz-question"><b>{escape(headline(found))}</b></p>'
    return lead + audit_region("Methods and what they really give", (_rows_html(bad) if bad else "") + folded)


def _rows_html(found: Sequence[ReleaseFinding]) -> str:
    return audit_table(HEAD, map(_row_html, found))


def _row_html(one: ReleaseFinding) -> str:
    """Two table rows: the numbers, then what happened, why, and what keeps the promise."""
    cells = [escape(cell) for cell in (readable(one.promised, 3), real_text(one), factor_text(one) or "–")]
    about = escape(f"{one.method.source}; ε of {one.method.released}")
    title = f"<b>{escape(one.method.name)}</b><br><small>{about}</small>"
    safe = f" <b>Safe instead:</b> {escape(safe_sentence(one))}" if safe_sentence(one) else ""
    said = f"{escape(verdict_sentence(one))} {escape(explanation(one))}{safe}"
    said += f" <small>Computed by {escape(one.method.checked)}.</small>"
    return audit_row(HEAD, title, cells, SIGNS[one.verdict], said, bad=one.verdict.bad)


def _sensitivities_html(setting: ReleaseSetting) -> str:
    """How far one row moves each statistic, folded."""
    rows = "".join(
        f"<tr><td><b>{escape(one.statistic)}</b>{f'<br><small>{escape(one.note)}</small>' if one.note else ''}</td>"
        f"<td class=num>{escape(one.formula)}</td>"
        f"<td class=num>{readable(one.exact(setting.n, setting.width), 4)}</td></tr>"
        for one in SENSITIVITIES
    )
    head = "<thead><tr><th>statistic</th><th class=num>sensitivity</th><th class=num>here</th></tr></thead>"
    return (
        '<div class="dpviz-scroll" tabindex="0" role="region" aria-label="Sensitivities"><details>'
        "<summary>How far one row can move a statistic</summary>"
        f'<table class="dpviz-list">{head}<tbody>{rows}</tbody></table></details></div>'
    )
