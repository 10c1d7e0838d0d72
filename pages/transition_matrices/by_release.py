"""The same attacker release by release: what each table that can be released says of the worst two neighbours."""

import math

import numpy as np

from dpviz.parameters import SUPERSCRIPTS, readable
from dpviz.privacy.attacker import belief_text, factor_text, risk_ratio
from dpviz.privacy.summary import PrivacySummary
from pages.components.words import heading, listing, note

MOST_RELEASES = 12


def show_releases(summary: PrivacySummary, risk: float) -> None:
    """One line for each release, in the order of the columns; of many, some that are evenly spaced."""
    release, size = summary.synthesizer, summary.synthesizer.shape[1]
    rows = releases(summary, risk)
    first, second = (release.row_table(index) for index in (summary.worst.likelier, summary.worst.other))
    heading(f"Release by release: {first} against {second}")
    head = ["released", "takes from misses", "adds to false alarms", "odds", "best guess right"]
    head.append(f"risk, {readable(100 * risk, 3)} % before")
    listing(head, rows, "What each release says of the worst neighbours")
    shown = "" if len(rows) == size else f" Shown are {len(rows)} of {size:,} releases, evenly spaced."
    note(
        f"Each release is a piece of the curve of these two tables. It takes its probability under {first} from the "
        f"misses, and adds that under {second} to the false alarms; their ratio is the slope of the piece.{shown}"
    )


def releases(summary: PrivacySummary, risk: float) -> list[list[str]]:
    """Release, its probability under both tables, the odds after it, the best guess and the risk."""
    release, tables = summary.synthesizer, [summary.worst.likelier, summary.worst.other]
    size = release.shape[1]
    columns = np.unique(np.rint(np.linspace(0, size - 1, min(size, MOST_RELEASES))).astype(np.int64))
    logs = release.log_transition(np.array(tables), columns)
    pair = np.flatnonzero((np.sort(release.neighbours, axis=1) == sorted(tables)).all(axis=1))
    sign = 1 if release.neighbours[pair[0], 0] == tables[0] else -1
    gains = sign * release.log_odds(pair, columns)[0]
    rows = []
    for column, one, two, gain in zip(columns.tolist(), *logs.tolist(), gains.tolist(), strict=True):
        row = [str(release.column_table(column)), chance_text(one), chance_text(two), "never released", "–", "–"]
        if max(one, two) > -math.inf:
            guess = 1 / (1 + math.exp(-abs(gain)))
            after, decides = min(risk * risk_ratio(gain, prior_risk=risk), 1.0), math.isinf(gain)
            row[3:] = odds_text(gain), belief_text(guess, decides), belief_text(after, decides or risk == 1)
        rows.append(row)
    return rows


def chance_text(log_probability: float) -> str:
    """A probability to three digits, or by its power of ten."""
    if -math.inf < log_probability < -700:
        return f"10{str(round(log_probability / math.log(10))).translate(SUPERSCRIPTS)}"
    return readable(math.exp(log_probability), 3)


def odds_text(gain: float) -> str:
    """Odds of the first table against the second that were even before; ∞ where the other one is ruled out."""
    side = "∞" if math.isinf(gain) else factor_text(abs(gain))
    return f"{side} : 1" if gain >= 0 else f"1 : {side}"
