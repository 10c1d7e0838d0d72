"""What the printed methods really promise: broken promises first, then the rest, folded."""

from collections.abc import Sequence
from dataclasses import fields, replace
from functools import partial
from html import escape

import streamlit as st

from dpviz.claims.printed_methods import SENSITIVITIES, ReleaseFinding, ReleaseSetting, audit_releases
from dpviz.claims.release_finding import VERDICT_SIGNS, WHO_ARE_NEIGHBOURS, headline, verdict_sentence
from dpviz.comparisons import ComparedMethod, MixedData
from dpviz.comparisons.gaussian import GaussianData
from dpviz.comparisons.gaussian_histograms import PERTURBED_HISTOGRAM
from dpviz.core.parameters import readable
from dpviz.desk.exports.releases import releases_csv
from dpviz.privacy.real_loss import ReleaseVerdict
from pages.compare_synthesizers import SPEC
from pages.compare_synthesizers.controls import PREFIX, Asked
from pages.components.cached import cached
from pages.components.downloads import Part, show_files
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
    note(escape(WHO_ARE_NEIGHBOURS))
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
    numbers = ", ".join(f"{one.name} = {getattr(setting, one.name)!r}" for one in fields(setting))
    audit: Part = "The audit, CSV", "audit.csv", partial(releases_csv, found)
    show_files(PREFIX, "Table, every digit", audit, told=[f"audited at: {numbers}"])


def given_away(method: ComparedMethod, asked: Asked) -> str:
    """What a method really gives away at the reader's setting, and why; of a reference what is said of it."""
    if method.reference or method.absence(asked.data):
        return escape(method.finding)
    promised, sets = asked.design.epsilon, method.sets(asked.analysis.sets)
    try:
        loss, why = cached(method.real_loss)(asked.data, promised, sets), method.finding
        if method.audited and not why:
            found = cached(audit_releases)(setting_of(asked))
            one = next(one for one in found if one.method.key == method.audited)
            loss, why = replace(loss, delta=one.loss.delta), one.explanation
    except ValueError:  # too few rows, or another setting that is refused
        return escape(method.finding)
    return escape(f"{verdict_sentence(loss, promised)} {why}".strip())


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
        bins = PERTURBED_HISTOGRAM.public_bins(n) or setting.bins  # as many as this page's methods have
        return replace(setting, lower=low, upper=high, bins=bins)
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
    cells = [escape(cell) for cell in (readable(one.promised, 3), one.loss.text(one.promised), one.factor_text or "–")]
    about = escape(f"{one.method.source}; ε of {one.method.released}")
    title = f"<b>{escape(one.method.name)}</b><br><small>{about}</small>"
    safe = f" <b>Safe instead:</b> {escape(one.safe)}" if one.safe else ""
    said = f"{escape(one.sentence)} {escape(one.explanation)}{safe}"
    said += f" <small>Computed by {escape(one.method.checked)}.</small>"
    return audit_row(HEAD, title, cells, VERDICT_SIGNS[one.verdict], said, bad=one.verdict.bad)


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
