"""What a coverage simulation is: the design, the rules, and the seed that fixes every digit of it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from dpviz.inference.combining_rules import LEVEL, SETS
from dpviz.inference.confidential import PROPORTION
from dpviz.inference.rules import RULES, check_rule
from dpviz.parameters import Parameter, shown
from dpviz.synthesizers import TwoCellSynthesizer

REPETITIONS = Parameter(
    name="repetitions",
    symbol="R",
    title="Repetitions",
    minimum=1,
    maximum=10_000_000,
    default=10_000,
    slider_minimum=100,
    slider_maximum=1_000_000,
    integer=True,
    scale="log",
    help="How often the whole study is repeated: confidential rows, synthetic sets, interval. The error of a coverage "
    "falls with the square root of this number.",
)
SEED = Parameter(
    name="seed",
    symbol="seed",
    title="Seed",
    minimum=0,
    maximum=1_000_000_000,
    default=1,
    integer=True,
    help="The number that fixes all random draws: the same seed gives the same digits.",
)
BATCH = Parameter(
    name="batch",
    symbol="batch",
    title="Repetitions in a block",
    minimum=1,
    maximum=10_000,
    default=500,
    integer=True,
    help="How many repetitions share one stream of random numbers. It belongs to the seed.",
)
CONFIDENTIAL_COUNT = Parameter(
    name="confidential_count",
    symbol="x",
    title="Confidential ones",
    minimum=0,
    maximum=5000,
    default=30,
    integer=True,
    help="The number of ones in the confidential rows, where it is held fixed.",
)
SHOWN = Parameter(
    name="shown",
    symbol="shown",
    title="Intervals kept",
    minimum=0,
    maximum=1000,
    default=100,
    integer=True,
    help="How many of the first repetitions are kept one by one, for a picture of their intervals.",
)


@dataclass(frozen=True, kw_only=True)
class CoveragePlan:
    """A simulation of Charest's design: x ~ Binomial(n, p) (or fixed), M sets given x, one interval for each rule.

    Parameters
    ----------
    synthesizer
        The law of one set; the promised ε is already split among the M sets.
    p
        The true proportion, 0 to 1: what the intervals are to cover.
    sets
        M, 1 to 100.
    rules
        Keys of `dpviz.inference.RULES`, each once, at least one.
    level
        Level of the intervals, 0.001 to 0.999999.
    repetitions
        R, 1 to 10 million.
    seed
        0 to 10⁹.
    batch
        Repetitions in a block, 1 to 10,000. Block i has its own stream of random numbers, made from the seed and i,
        so the digits depend on neither the number of workers nor on stops; they do depend on this size. To make a
        stream takes 10 µs, a block of 500 repetitions 200 µs or more: larger blocks save little, and smaller ones
        do not come sooner.
    confidential_count
        x where it is held fixed, 0 to n; None draws it.
    shown
        How many of the first repetitions are kept one by one, 0 to 1,000.

    Raises
    ------
    ValueError
        In a sentence that names the parameter, what is allowed and what came.
    """

    synthesizer: TwoCellSynthesizer
    p: float
    sets: int
    rules: tuple[str, ...]
    repetitions: int
    seed: int
    level: float = 0.95
    batch: int = 500
    confidential_count: int | None = None
    shown: int = 100

    def __post_init__(self) -> None:
        given = self.synthesizer
        if not (isinstance(given, TwoCellSynthesizer) and given.m >= 1):
            raise ValueError(
                "synthesizer must be a two-cell synthesizer that releases at least 1 row; "
                f"got {getattr(given, 'key', shown(given))}."
            )
        for declaration in (PROPORTION, SETS, LEVEL, REPETITIONS, SEED, BATCH, SHOWN):
            object.__setattr__(self, declaration.name, declaration.check(getattr(self, declaration.name)))
        if self.confidential_count is not None:
            declaration = dataclasses.replace(CONFIDENTIAL_COUNT, maximum=given.n)
            object.__setattr__(self, "confidential_count", declaration.check(self.confidential_count))
        keys: object = self.rules
        rules = tuple(keys) if isinstance(keys, (tuple, list)) and all(isinstance(key, str) for key in keys) else ()
        if not rules or len(set(rules)) < len(rules):
            raise ValueError(f"rules must be at least one key of RULES, each once; got {shown(keys)}.")
        for key in rules:
            if not check_rule(key, self.sets).fits(given, self.sets):
                raise ValueError(f'The table of the rule "{RULES[key].label}" would be too large for these n, m and M.')
        object.__setattr__(self, "rules", rules)

    @property
    def fingerprint(self) -> str:
        """Everything that fixes the digits, all but `repetitions`: plans that share it can continue each other."""
        return repr(dataclasses.replace(self, repetitions=1))
