"""What the printed methods of release really give, as a CSV file."""

from collections.abc import Sequence

from dpviz.claims.printed_methods import ReleaseFinding
from dpviz.core.checked import checked
from dpviz.desk.exports.tables import cell, csv_text

__all__ = ["releases_csv"]

RELEASE_COLUMNS = (
    "method",
    "source",
    "released",
    "n",
    "sets",
    "promised_epsilon",
    "real_epsilon_at_least",
    "real_epsilon_at_most",
    "real_over_promised",
    "delta_of_every_epsilon",
    "verdict",
    "sentence",
    "why",
    "safe_variant",
    "noise_factor",
    "checked",
)


@checked()
def releases_csv(findings: Sequence[ReleaseFinding]) -> str:
    """Return the audit as CSV, a line for each method, every digit; empty where there is no number.

    >>> print(releases_csv([])[:13])
    method,source
    """
    rows = [
        [
            one.method.name,
            one.method.source,
            one.method.released,
            one.setting.n,
            one.setting.sets,
            *map(cell, (one.promised, one.loss.at_least, one.loss.at_most, one.factor, one.loss.delta)),
            one.verdict,
            one.sentence,
            one.explanation,
            one.safe,
            cell(one.noise_factor),
            one.method.checked,
        ]
        for one in findings
    ]
    return csv_text(RELEASE_COLUMNS, rows)
