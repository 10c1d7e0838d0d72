"""The numbers of every analysis, declared once: the truth, how many rows and sets tell of it, and what is asked."""

from dataclasses import replace

from dpviz import limits
from dpviz.parameters import Parameter
from dpviz.privacy.composition import SETS as COMPOSED_SETS
from dpviz.synthesizers.base import ROWS, SYNTHETIC_ROWS

PROPORTION = Parameter(
    name="p", symbol="p", title="True proportion", minimum=0.0, maximum=1.0, default=0.25,
    help="The proportion of ones in the population that the confidential rows are drawn from.",
)  # fmt: skip
LEVEL = Parameter(
    name="level", symbol="", title="Level of the interval", minimum=0.001, maximum=0.999999, default=0.95,
    slider_minimum=0.5, slider_maximum=0.999,
    help="How often the interval is meant to hold the true proportion. Usually 0.95.",
)  # fmt: skip
GAMMA_ONES = Parameter(
    name="gamma1", symbol="γ1", title="Analyst's prior ones", minimum=0.01, maximum=1e4, default=1.0,
    slider_minimum=0.1, slider_maximum=100.0, scale="log",
    help="Invented rows with a 1 in the analyst's own prior of the proportion. Usually 1 and 1, the uniform prior.",
)  # fmt: skip
GAMMA_ZEROS = replace(
    GAMMA_ONES, name="gamma2", symbol="γ2", title="Analyst's prior zeros",
    help="Invented rows with a 0 in the analyst's own prior of the proportion.",
)  # fmt: skip
SETS = replace(COMPOSED_SETS, maximum=limits.SETS, default=5, slider_maximum=10)
POSTERIOR_ROWS = replace(ROWS, maximum=limits.POSTERIOR_ROWS)
POSTERIOR_SYNTHETIC_ROWS = replace(SYNTHETIC_ROWS, maximum=limits.POSTERIOR_ROWS)
