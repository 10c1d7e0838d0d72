"""Declarations of the numbers with which a curator's question is stated, read from ``limits.toml``."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from dpviz.core.declarations import DELTA, EPSILON, GAMMA_ONES, GAMMA_ZEROS
from dpviz.core.parameters import declare_numbers
from dpviz.privacy.attacker import PRIOR_RISK, RISK_RATIO
from dpviz.privacy.trade_off import PRIOR_OF_PAIR

TABLES: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("limits.toml").read_text("utf-8"))


BASES = {
    "epsilon": EPSILON, "delta": DELTA, "prior_of_pair": PRIOR_OF_PAIR, "prior_risk": PRIOR_RISK,
    "risk_ratio": RISK_RATIO, "gamma_ones": GAMMA_ONES, "gamma_zeros": GAMMA_ZEROS,
}  # fmt: skip
NUMBERS = declare_numbers(TABLES["numbers"], BASES)
"""Every number by its name in a question or its form; sizes and true values of the data are declared with these."""
