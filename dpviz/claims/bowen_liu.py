"""The shares of usable releases that Bowen & Liu print of the Laplace sanitizer, beside the exact ones.

Source: C. M. Bowen and F. Liu, Differentially private data synthesis methods, 2016, supplement, Table 1.
"""

import math

from dpviz.claims.published import Record, printed_rows
from dpviz.comparisons.binary_base import usable_before_rounding

USABLE_REPETITIONS = 5_000  # Of every share


def compare_usable_shares() -> tuple[Record[float], ...]:
    """Return every printed share beside the exact one, row by row; the standard error is that of the simulation.

    >>> found = compare_usable_shares()
    >>> len(found), any(one.far for one in found)
    (54, False)
    """
    found = []
    for row in printed_rows("bowen_liu_usable"):
        n, p = int(row.pop("n")), float(row.pop("p"))
        for name, printed in row.items():
            power = int(name.partition("=")[2])
            share = usable_before_rounding(n, p, math.exp(power))
            found.append(
                Record(
                    source="Bowen & Liu (2016), supplement, Table 1",
                    what=name,
                    printed=float(printed),
                    ours=share,
                    error=math.sqrt(share * (1 - share) / USABLE_REPETITIONS),
                    reading="usable unless the noisy number of ones falls outside 0 to n",
                    design={"n": n, "p": p},
                )
            )
    return tuple(found)
