"""Parameters that analyses share, each declared once."""

import dataclasses
import sys

from dpviz.core import limits
from dpviz.core.parameters import Parameter, argument

EPSILON = Parameter(
    name="epsilon", symbol="ε", title="Promised privacy loss", minimum=1e-6, maximum=1e3, default=2.0,
    slider_minimum=0.01, slider_maximum=20.0, scale="log", private_end="smaller",
    help="The privacy loss that is promised: when one row is substituted, no released count may change the attacker's "
    "odds by more than a factor eᵋ. Smaller is more private; values from 0.1 to 10 are usual.",
)  # fmt: skip
ANY_EPSILON = argument("epsilon", 0, sys.float_info.max, domain_text="a finite number, 0 or larger")
DELTA = Parameter(
    name="delta", symbol="δ", title="Allowed failure", minimum=0.0, maximum=1.0, default=1e-5, slider_minimum=1e-12,
    slider_maximum=0.5, scale="log", private_end="smaller",
    help="The probability mass that may escape the promise ε; 0 asks for pure ε-differential privacy. Smaller is more "
    "private, and far less than 1/n is usual.",
)  # fmt: skip
ROWS = Parameter(
    name="n", symbol="n", title="People", minimum=1, maximum=limits.MAX_ROWS, default=5, slider_maximum=1000,
    integer=True, scale="log",
    help="How many people are in the secret table, one row each. It is public: neighbouring tables have the same n.",
)  # fmt: skip
SYNTHETIC_ROWS = dataclasses.replace(
    ROWS, name="m", symbol="m", title="Released rows", private_end="smaller",
    help="The number of rows released. Fewer are more private: each is one more draw of the fitted distribution.",
)  # fmt: skip
# Of releases whose matrix is not needed.
MANY_ROWS = dataclasses.replace(ROWS, maximum=limits.MAX_PRIOR_ROWS)
MANY_SYNTHETIC_ROWS = dataclasses.replace(SYNTHETIC_ROWS, maximum=limits.MAX_PRIOR_ROWS)
PROPORTION = Parameter(
    name="p", symbol="p", title="True share", minimum=0.0, maximum=1.0, default=0.25, share=True,
    help="The share of yes in the population from which the people are drawn. The box takes 0.25 for 25 %.",
)  # fmt: skip
PUBLIC_GUESS = Parameter(
    name="public_share", symbol="π", title="Public guess of the share", minimum=0.001, maximum=0.999, default=0.25,
    share=True,
    help="The share of ones that is expected before the data are looked at. The release is drawn towards it. A guess "
    "of one half gives the beta-binomial.",
)  # fmt: skip
LEVEL = Parameter(
    name="level", symbol="", title="Level of the interval", minimum=0.001, maximum=0.999999, default=0.95,
    slider_minimum=0.5, slider_maximum=0.999, share=True,
    help="How often the interval is meant to hold the true share. Usually 95 %, for which the box takes 0.95.",
)  # fmt: skip
GAMMA_ONES = Parameter(
    name="gamma1", symbol="γ1", title="Analyst's prior ones", minimum=0.01, maximum=1e4, default=1.0,
    slider_minimum=0.1, slider_maximum=100.0, scale="log",
    help="Invented rows with a 1 in the analyst's own prior of the proportion. Usually 1 and 1, the uniform prior.",
)  # fmt: skip
GAMMA_ZEROS = dataclasses.replace(
    GAMMA_ONES, name="gamma2", symbol="γ2", title="Analyst's prior zeros",
    help="Invented rows with a 0 in the analyst's own prior of the proportion.",
)  # fmt: skip
COMPOSED_SETS = Parameter(
    name="sets", symbol="M", title="Released sets", minimum=1, maximum=1_000, default=5,
    slider_maximum=100, integer=True, scale="log", private_end="smaller",
    help="How many synthetic tables are released, drawn independently from the same secret one. Each costs privacy.",
)  # fmt: skip
SETS = dataclasses.replace(COMPOSED_SETS, maximum=limits.MAX_SETS, default=5, slider_maximum=10)
POSTERIOR_ROWS = dataclasses.replace(ROWS, maximum=limits.MAX_POSTERIOR_ROWS)
POSTERIOR_SYNTHETIC_ROWS = dataclasses.replace(SYNTHETIC_ROWS, maximum=limits.MAX_POSTERIOR_ROWS)
REPETITIONS = Parameter(
    name="repetitions", symbol="R", title="Repetitions", integer=True, scale="log", minimum=1, maximum=10_000_000,
    default=10_000, slider_minimum=100, slider_maximum=1_000_000,
    help="How often the whole study is repeated, each time with new data. The error of its result falls with the "
    "square root of this number.",
)  # fmt: skip
SEED = Parameter(
    name="seed", symbol="seed", title="Seed", integer=True, minimum=0, maximum=1_000_000_000, default=1,
    help="The number that fixes all random draws: the same seed gives the same digits.",
)  # fmt: skip
