"""What the printed methods of release really give, as a CSV file."""

from collections.abc import Sequence

from dpviz.claims.printed_methods import ReleaseFinding
from dpviz.desk.exports.tables import records_csv

__all__ = ["releases_csv"]

RELEASE_COLUMNS = {
    "method": "method.name",
    "source": "method.source",
    "released": "method.released",
    "n": "setting.n",
    "sets": "setting.sets",
    "promised_epsilon": "promised",
    "real_epsilon_at_least": "loss.at_least",
    "real_epsilon_at_most": "loss.at_most",
    "real_over_promised": "factor",
    "delta_of_every_epsilon": "loss.delta",
    "verdict": "verdict",
    "sentence": "sentence",
    "why": "explanation",
    "safe_variant": "safe",
    "noise_factor": "noise_factor",
    "checked": "method.checked",
}


def releases_csv(findings: Sequence[ReleaseFinding]) -> str:
    """Return the audit as CSV, a line for each method, every digit; empty where there is no number.

    >>> print(releases_csv([])[:13])
    method,source
    """
    return records_csv(RELEASE_COLUMNS, findings)
