"""What a `CoverageDecomposition` says in words: the causes by name, what each costs, and what its repair does."""

import itertools
import math
from collections.abc import Iterable, Mapping

from dpviz.core.formatting import TextTable, format_distinct, format_number, format_percent, format_points, join_words
from dpviz.coverage.decomposition import NOT_NORMAL, REPAIRS, CoverageDecomposition
from dpviz.inference.rules import RULES
from dpviz.mechanisms import Synthesizer

NOTICED = 5e-4  # change of coverage, 0.05 points, from which on a sentence speaks of it


def causes_of(made: type[Synthesizer]) -> dict[str, tuple[str, str]]:
    """Return each cause of `CoverageDecomposition.lost`: its short name, and what sentences call it."""
    bias = "the prior's pull" if made.has_prior else f"the bias of {made.info.moved_by}"
    return {
        "prior_bias": ("prior's pull" if made.has_prior else "bias of the release", bias),
        "ignored_variance": ("variance wrong on average", "the rule's variance, which is {size} on average,"),
        "rule_noise": ("noise of the variance", "the noise of the rule's variance"),
        NOT_NORMAL: ("q̄ is not normal", "the shape of q̄'s distribution, which is not normal,"),
    }


def failure_sentence(one: CoverageDecomposition, made: type[Synthesizer]) -> str:
    """What coverage is off by, the cause that outweighs all others if there is one, and what each costs or adds."""
    rule, off, main = RULES[one.rule].short_label, one.level - one.published, one.main_cause
    told = sorted(
        (key for key, value in one.lost.items() if abs(value) >= NOTICED), key=lambda key: -abs(one.lost[key])
    )
    costs = _costs(one, told, made)
    if abs(off) < NOTICED:
        why = f" because errors cancel: {costs}" if told else "; there is nothing to repair"
        return f"{rule} covers as promised here{why}."
    lead = f"{rule} {'misses' if off > 0 else 'covers'} too often"
    if main is None or main not in told:
        return f"{lead}, and no cause outweighs all others: {costs}."
    besides = _costs(one, [key for key in told if key != main], made)
    return f"{lead}, mainly because {_costs(one, [main], made)}.{f' Besides, {besides}.' if besides else ''}"


def _costs(one: CoverageDecomposition, told: Iterable[str], made: type[Synthesizer]) -> str:
    size, causes = "too small" if one.mean_variance < one.variance else "too large", causes_of(made)
    return join_words(
        f"{causes[key][1].format(size=size)} {'costs' if one.lost[key] > 0 else 'adds'} "
        f"{format_number(100 * abs(one.lost[key]), 3)} points"
        for key in told
    )


def effects_by_cause(
    found: Mapping[str, CoverageDecomposition], made: type[Synthesizer]
) -> dict[str, dict[str, float]]:
    """For each rule the change of coverage by its cause, and that of all together."""
    causes = [name for name, _ in causes_of(made).values()]
    return {
        key: dict(zip(causes, (-value for value in one.lost.values()), strict=True))
        | {"together": one.published - one.level}
        for key, one in found.items()
    }


def costs_table(found: Mapping[str, CoverageDecomposition], made: type[Synthesizer]) -> TextTable:
    """What each cause adds to the promise of a rule, in points, up to what is published."""
    rows = [
        [
            f"<b>{RULES[key].short_label}</b>",
            format_percent(one.level, 8),
            *(format_points(-100 * value, 4) for value in one.lost.values()),
            format_percent(one.published),
        ]
        for key, one in found.items()
    ]
    names = (name for name, _ in causes_of(made).values())
    return TextTable(["rule", "promised", *names, "as published"], rows, "What each cause costs, in points")


def repairs_table(found: Mapping[str, CoverageDecomposition], made: type[Synthesizer]) -> TextTable:
    """Coverage with each combination of repairs, the fewer first."""
    names = [causes_of(made)[key][0] for key in REPAIRS]
    rows = [
        [
            f"<b>{_repaired(tuple(itertools.compress(names, place)))}</b>",
            *(format_percent(float(one.coverage[place])) for one in found.values()),
        ]
        for place in sorted(itertools.product((0, 1), repeat=len(REPAIRS)), key=sum)
    ]
    head = ["repaired", *(RULES[key].short_label for key in found)]
    return TextTable(head, rows, "Coverage with each combination of repairs")


def _repaired(names: tuple[str, ...]) -> str:
    return "all three" if len(names) == len(REPAIRS) else " and ".join(names) or "nothing, as published"


def repairs_in_words(one: CoverageDecomposition, made: type[Synthesizer]) -> dict[str, str]:
    """By name what differs where it is told what the three repairs do, and whose interval all three of them make."""
    prior = made.has_prior
    return {
        "cause": causes_of(made)["prior_bias"][0],
        "line": "a straight line with a prior" if prior else "close to a straight line away from 0 and 1",
        "longer": f"{format_distinct(1 / abs(one.slope), 1.0, 3)} times as" if one.slope else "infinitely",
        "estimate": "an unbiased estimate" if prior else "what the curve gives",
        "order": "" if prior else " (to first order)",
        "error": format_number(one.unbiased_standard_error, 3),
        "plain": format_number(math.sqrt(one.variance), 3),
    }


def moments_in_words(decompositions: Mapping[str, CoverageDecomposition]) -> dict[str, str]:
    """By name what the causes follow from: bias and variance of the estimate, and the mean variance of each rule."""
    first = next(iter(decompositions.values()))
    means = {RULES[key].short_label: format_number(one.mean_variance, 3) for key, one in decompositions.items()}
    return {
        "error": format_number(first.error_bound, 1),
        "bias": format_number(first.bias, 4),
        "spread": format_number(first.variance, 4),
        "variances": ", ".join(f"{mean} ({rule})" for rule, mean in means.items()),
    }
