"""Small plans at random, solved again with plain loops: ``python -m tests.plans.brute [--count 300] [--seed 1]``.

Nothing of `dpviz` is used but the answer that is held against it. Of every pair of neighbouring data sets the whole
distribution of what is published is written down from the definition of its mechanism, a continuous one cut into fine
cells; from it follow δ(ε), the pure ε, the best guess, and the errors. That no other shares, and no other mechanisms,
have smaller errors under the same promise is tried on a lattice around the answer.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from dpviz.core.types import FloatArray
from dpviz.curator.privacy_limits import EpsilonDeltaLimit, GuessingLimit, PosteriorLimit
from dpviz.plans import PLAN_MECHANISMS, BoundedMean, CategoryShares, CrossTable, ReleasePlan, YesNoShare, solve_plan

CELLS, STEP = 4_000, 1e-4  # Of a continuous noise, and of losses that many cells add up to
CLOSE, ROUNDING = 5e-3, 1e-7  # δ by cells is too small by less than CLOSE of what it is
SHARES = YesNoShare, CategoryShares, CrossTable
Losses = tuple[tuple[float, float], ...]
"""Every privacy loss with its probability mass."""


class Alone(NamedTuple):
    """One statistic in plain numbers: `lowest` and `highest` are counts, `width` that of a mean."""

    kind: str
    cells: int
    rows: int
    lowest: int
    highest: int
    width: float
    measure: str


def counts_inside(rows: int, low: float, high: float) -> range:
    """The counts whose share is from `low` to `high`, or those beside them if there is none."""
    lowest, highest = (Fraction(repr(float(end))) * rows for end in (low, high))
    inside = [count for count in range(rows + 1) if lowest <= count <= highest]
    return range(inside[0], inside[-1] + 1) if inside else range(math.floor(lowest), math.ceil(highest) + 1)


def plain(plan: ReleasePlan, place: int) -> Alone:
    one = plan.statistics[place]
    rows = dict(plan.groups)[one.group] if one.group else plan.n
    if isinstance(one, BoundedMean):
        return Alone("mean", 1, rows, 0, 0, one.upper - one.lower, one.measure)
    low, high = (0.0, 1.0) if not isinstance(one, SHARES) else (one.lowest, one.highest)
    cells = one.categories if isinstance(one, CategoryShares) else 1
    cells = one.first * one.second if isinstance(one, CrossTable) else cells
    kind = "yes" if isinstance(one, YesNoShare) else "table"
    counts = counts_inside(rows, low, high)
    return Alone(kind, cells, rows, counts[0], counts[-1], 0.0, one.measure)


@cache
def published(mechanism: str, rate: float, rows: int, count: int) -> FloatArray:
    """The probability of every published count."""
    found = np.zeros(rows + 1)
    for noise in range(-rows - 1, rows + 2):
        if mechanism == "geometric":
            mass = math.tanh(rate / 2) * math.exp(-rate * abs(noise))
        else:
            mass = math.sinh(rate / 2) * math.exp(-rate * abs(noise)) if noise else -math.expm1(-rate / 2)
        if abs(noise) > rows:  # and all beyond, each e^rate times less likely
            mass /= -math.expm1(-rate)
        found[min(max(count + noise, 0), rows)] += mass
    return found


def told_apart(one: FloatArray, other: FloatArray) -> Losses:
    losses: dict[float, float] = {}
    for p, q in zip(one.tolist(), other.tolist(), strict=True):
        if p > 0 or q > 0:
            loss = round(math.log(p) - math.log(q), 9) if p > 0 and q > 0 else math.inf
            losses[loss] = losses.get(loss, 0.0) + p
    return tuple(sorted((loss, round(mass, 15)) for loss, mass in losses.items()))


@cache
def continuous(mechanism: str, shift: float) -> Losses:
    """Noise of scale 1 on a sum that a person moves by so much, cut into cells; the ends are open."""
    if shift == 0:
        return ((0.0, 1.0),)
    far = 25.0 if mechanism == "laplace" else 9.0
    edges = np.concatenate([[-np.inf], np.linspace(-far, far + shift, CELLS), [np.inf]])

    def cdf(x: FloatArray) -> FloatArray:
        if mechanism == "gaussian":
            return norm.cdf(x)
        return np.where(x < 0, np.exp(np.minimum(x, 0)) / 2, 1 - np.exp(-np.maximum(x, 0)) / 2)

    def above(x: FloatArray) -> FloatArray:
        return cdf(-x)

    masses = []
    for centre in (0.0, shift):
        at = edges - centre
        masses.append(np.where(at[1:] <= 0, cdf(at[1:]) - cdf(at[:-1]), above(at[:-1]) - above(at[1:])))
    return told_apart(masses[1], masses[0])


def spread(rows: int, cells: int) -> Iterator[tuple[int, ...]]:
    if cells == 1:
        yield (rows,)
        return
    for first in range(rows + 1):
        for rest in spread(rows - first, cells - 1):
            yield first, *rest


@cache
def pairs_of(one: Alone, mechanism: str, rate: float, out: int, into: int) -> tuple[Losses, ...]:
    """The losses of one statistic for every two data sets, of which a person takes rows out and puts some in."""
    if one.kind == "mean":  # a row is anywhere between the bounds, seen from their middle; the farther, the worse
        most = (out + into) * one.width / 2 * rate
        return (continuous(mechanism, most),)
    found, moved = set(), {0.0}
    cells = 2 if one.kind == "yes" else one.cells
    for rest in spread(max(one.rows - out, 0), cells):
        for taken, put in itertools.product(spread(out, cells), spread(into, cells)):
            before = [a + b for a, b in zip(rest, taken, strict=True)]
            after = [a + b for a, b in zip(rest, put, strict=True)]
            if mechanism == "gaussian":
                many = 1 if one.kind == "yes" else cells
                moved.add(math.hypot(*(a - b for a, b in zip(before[:many], after[:many], strict=True))))
                continue
            counted = range(1) if one.kind == "yes" else range(cells)
            told: Losses = ((0.0, 1.0),)
            for cell in counted:
                a, b = (min(held[cell], one.rows) for held in (before, after))
                told = added(told, told_apart(*(published(mechanism, rate, one.rows, x) for x in (a, b))))
            found.add(told)
    if mechanism == "gaussian":
        return (continuous("gaussian", max(moved) * rate),)
    return worst_of(found)


def worst_of(found: Iterable[Losses]) -> tuple[Losses, ...]:
    """The losses without those of pairs that are told apart no better, at any ε, than another pair is."""
    kept: list[Losses] = []
    for one in sorted({*found}, key=lambda held: -escaped([held], 0.0)):
        knots = [loss for loss, _ in one]
        if not any(
            all(escaped([one], at) <= escaped([other], at) + 1e-13 for at in (*knots, *(loss for loss, _ in other)))
            for other in kept
        ):
            kept.append(one)
    return tuple(kept)


@cache
def added(one: Losses, other: Losses) -> Losses:
    if len(one) * len(other) > 10_000:  # of which one has cells
        sums = np.add.outer([a for a, _ in one], [b for b, _ in other]).ravel()
        masses = np.outer([a for _, a in one], [b for _, b in other]).ravel()
        if len(sums) > 40_000:
            steps, place = np.unique(np.round(sums / STEP), return_inverse=True)
            sums, masses = steps * STEP, np.bincount(place, masses)
        return tuple(zip(sums.tolist(), masses.tolist(), strict=True))
    losses: dict[float, float] = {}
    for (loss, mass), (more, other_mass) in itertools.product(one, other):
        whole = round(loss + more, 8)
        losses[whole] = losses.get(whole, 0.0) + mass * other_mass
    return tuple(sorted(losses.items()))


def moves(plan: ReleasePlan) -> set[tuple[tuple[int, int], ...]]:
    """For each statistic how many of its rows a person takes out and puts in, in every way that there is."""
    names = [name for name, _ in plan.groups] + ["nowhere"]
    add_only = plan.neighbours == "add_remove"
    found = set()
    for out in itertools.product(names, repeat=plan.person_rows):
        for into in [()] if add_only else itertools.product(names, repeat=plan.person_rows):
            if not add_only and plan.membership_public and sorted(out) != sorted(into):
                continue
            each = []
            for one in plan.statistics:
                held = [sum(not one.group or name == one.group for name in side) for side in (out, into)]
                each.append((held[0], held[1]))
            found.add(tuple(each))
            found.add(tuple((b, a) for a, b in each))
    return found


def neighbours_told(plan: ReleasePlan, mechanisms: list[str], rates: list[float]) -> list[Losses]:
    """The losses of all statistics together, of the worst of all neighbouring data sets."""
    whole: set[Losses] = set()
    for moved in moves(plan):
        held: list[Losses] = [((0.0, 1.0),)]
        for place, (mechanism, rate, (out, into)) in enumerate(zip(mechanisms, rates, moved, strict=True)):
            one = plain(plan, place)
            if max(out, into) > one.rows and one.kind != "mean":
                break  # no group holds so many rows of one person
            if out or into:
                pairs = worst_of(pairs_of(one, mechanism, rate, out, into) + pairs_of(one, mechanism, rate, into, out))
                held = [added(*sorted((told, each), key=len)) for told in held for each in pairs]
        else:
            whole.update(held)
    return [*whole]


def escaped(told: list[Losses], epsilon: float) -> float:
    worst = 0.0
    for one in told:
        if len(one) > 50:
            losses, masses = np.array(one).T
            worst = max(worst, float((masses * np.maximum(-np.expm1(np.minimum(epsilon - losses, 0.0)), 0.0)).sum()))
        else:
            worst = max(worst, sum(mass * -math.expm1(epsilon - loss) for loss, mass in one if loss > epsilon))
    return worst


@cache
def error(one: Alone, mechanism: str, rate: float) -> float:
    if one.measure == "typical":
        return typical(one, mechanism, rate)
    share = 0.95 if one.measure == "within" else 0.95 ** (1 / one.cells)
    if mechanism == "laplace":
        return -math.log(1 - share) / rate / one.rows
    if mechanism == "gaussian":
        return float(norm.ppf((1 + share) / 2)) / rate / one.rows
    inside, distance = 0.0, -1
    while inside < share - 1e-8:
        distance += 1
        if mechanism == "geometric":
            inside += math.tanh(rate / 2) * math.exp(-rate * distance) * (2 if distance else 1)
        else:
            inside = 1 - math.exp(-rate * (distance + 0.5))
    return distance / one.rows


def typical(one: Alone, mechanism: str, rate: float) -> float:
    if mechanism == "gaussian":
        return 1 / rate / one.rows
    if mechanism == "laplace":
        worst, end = 0.0, one.rows * one.width
        z = np.linspace(-60 / rate, 60 / rate, 40_001)
        density = rate / 2 * np.exp(-rate * np.abs(z))
        for place in (0.0, 0.1, 0.3, 0.5):
            true = place * end
            off = np.clip(true + z, 0, end) - true
            worst = max(worst, float(np.trapezoid(density * off**2, z)))
        return math.sqrt(worst) / one.rows
    worst = 0.0
    for count in range(one.lowest, one.highest + 1):
        masses = published(mechanism, rate, one.rows, count)
        worst = max(worst, sum(p * (r - count) ** 2 for r, p in enumerate(masses.tolist())))
    return math.sqrt(worst) / one.rows


def random_plan(chance: random.Random) -> ReleasePlan:
    """A plan of one to three statistics of few rows."""
    while True:
        try:
            return _plan(chance)
        except ValueError:  # what is not asked of plans here
            continue


def _plan(chance: random.Random) -> ReleasePlan:
    n, person_rows = chance.randint(1, 12), chance.choice([1, 1, 1, 2, 3])
    names = chance.choice([[], [], ["N", "S"]]) if n > 1 else []
    sizes = [chance.randint(1, n - 1)] if names else []
    groups = tuple(zip(names, [*sizes, n - sum(sizes)], strict=False)) if names else ()
    statistics = []
    for place in range(chance.choice([1, 2, 2, 3])):
        lowest, highest = chance.choice([(0.0, 1.0), (0.0, 1.0), (0.2, 0.6), (0.5, 0.5), (0.0, 0.3)])
        common: dict[str, Any] = {
            "name": f"s{place}", "group": chance.choice(["", *names]), "limit": round(10 ** chance.uniform(-1.7, 0), 3),
            "measure": chance.choice(["typical", "typical", "within", "all_within"]),
            "mechanism": chance.choice(["best", "best", *PLAN_MECHANISMS]),
        }  # fmt: skip
        rows = dict(groups).get(common["group"], n)
        share = {"lowest": lowest, "highest": highest, "suppress_below": chance.choice([0, 0, 3])}
        table = (CategoryShares(categories=chance.choice([2, 3]), **common, **share) if chance.random() < 0.7
                 else CrossTable(first=2, second=2, **common, **share))  # fmt: skip
        kinds = [YesNoShare(**common, **share), BoundedMean(lower=-1.0, upper=chance.choice([1.0, 3.0]), **common | {
            "suppress_below": 0})] if common["mechanism"] != "laplace" else [BoundedMean(**common)]  # fmt: skip
        small = (rows <= 4 and person_rows == 1) or rows <= 3
        statistics.append(chance.choice([*kinds, table] if small and common["mechanism"] != "laplace" else kinds))
    if sum(not one.has_counts for one in statistics) > 1:
        raise ValueError("two sums of numbers take long to compose")
    protection = chance.choice([
        EpsilonDeltaLimit(most_epsilon=round(chance.uniform(0.2, 4), 3)),
        EpsilonDeltaLimit(most_epsilon=round(chance.uniform(0.1, 2), 3),
        most_delta=round(10 ** chance.uniform(-4, -0.7), 6)),
        GuessingLimit(most_success=round(chance.uniform(0.55, 0.95), 3)),
        PosteriorLimit(believed_before=0.2, most_after=round(chance.uniform(0.3, 0.8), 3)),
    ])  # fmt: skip
    return ReleasePlan(
        n=n, statistics=tuple(statistics), protection=protection, person_rows=person_rows, groups=groups,
        neighbours=chance.choice(["substitution", "substitution", "add_remove"]),
        membership_public=chance.random() < 0.3, spend_all=chance.random() < 0.5,
    )  # fmt: skip


def check_plan(plan: ReleasePlan) -> str:
    """Hold an answer against plain loops; an AssertionError says what differs, and what is told is of what kind."""
    answer = solve_plan(plan)
    epsilon, delta = plan.promise
    design = answer.design
    mechanisms, rates = [one.key for one in design.mechanisms], [one.rate for one in design.mechanisms]
    alone = [plain(plan, place) for place in range(len(rates))]
    cut = any(one in ("laplace", "gaussian") for one in mechanisms)
    told = neighbours_told(plan, mechanisms, rates)
    most = max((loss for one in told for loss, mass in one if mass > 1e-300), default=0.0)
    assert most <= design.pure_epsilon * (1 + 1e-8) + (2 * STEP if cut else 1e-7), ("pure ε", most, design.pure_epsilon)
    can_hold = all(one.rows >= plan.person_rows + 2 for one in alone)
    if can_hold and not cut:
        assert math.isclose(most, design.pure_epsilon, rel_tol=1e-7, abs_tol=1e-7), ("pure", most, design.pure_epsilon)
    for at in {0.0, epsilon if epsilon < math.inf else 1.0, 0.3, 0.8 * min(most, 50.0)}:
        real, found = escaped(told, at), design.delta(at)
        assert real <= found * (1 + 1e-7) + ROUNDING, ("δ above", at, real, found)
        if design.is_exact and can_hold and not cut:
            assert math.isclose(real, found, rel_tol=1e-6, abs_tol=ROUNDING), ("δ", at, real, found)
    guess = (1 + escaped(told, 0.0)) / 2
    assert guess <= design.right_guesses + ROUNDING, ("guess", guess, design.right_guesses)
    if epsilon < math.inf:
        assert escaped(told, epsilon) <= delta + ROUNDING, ("promise", escaped(told, epsilon), delta)
    for place, (mechanism, rate, said) in enumerate(zip(mechanisms, rates, design.errors(), strict=True)):
        if rate > 1e-3:
            real = error(alone[place], mechanism, rate)
            assert math.isclose(real, said, rel_tol=1e-4, abs_tol=1e-9), ("error", place, mechanism, rate, real, said)
    if math.isfinite(answer.factor):
        assert answer.is_feasible == (answer.factor <= 1)
        assert max(design.used_limits()) <= max(answer.factor, 1.0) * (1 + 1e-9), (
            "used",
            design.used_limits(),
            answer.factor,
        )
        long = cut and plan.groups and plan.person_rows > 1  # so many neighbours that each takes seconds
        if can_hold and epsilon < math.inf and not long:
            nothing_better(plan, alone, answer.factor, epsilon, delta)
    return ("feasible" if answer.is_feasible else "gives way" if math.isfinite(answer.factor) else "impossible") + (
        " with δ" if delta else " without δ"
    )


def check_random(seed: str) -> str:
    """Hold the plan of a seed against plain loops; the plan is told with what differs."""
    plan = random_plan(random.Random(seed))
    try:
        return check_plan(plan)
    except AssertionError as wrong:
        raise AssertionError(f"plan {seed}: {wrong}\n{plan.to_json()}") from wrong
    finally:
        for one in (pairs_of, added, published, continuous, error):
            one.cache_clear()


def nothing_better(plan: ReleasePlan, alone: list[Alone], factor: float, epsilon: float, delta: float) -> None:
    """No rates on a lattice, of no mechanism that is tried, have errors below `factor` and keep the promise."""
    ways = []
    for place, one in enumerate(plan.statistics):
        limit = one.limit * factor * (1 - 1e-3)
        rates = [(kind.key, rate) for kind in plan.candidates(one) for rate in np.geomspace(0.03, 20, 48).tolist()
                 if error_below(alone[place], kind.key, rate, limit)]  # fmt: skip
        firsts = [[two for two in rates if two[0] == kind.key][:1] for kind in plan.candidates(one)]
        ways.append([*itertools.chain.from_iterable(firsts)])
    for chosen in itertools.product(*ways):
        mechanisms, rates = [one[0] for one in chosen], [one[1] for one in chosen]
        real = escaped(neighbours_told(plan, mechanisms, rates), epsilon)
        assert real > delta * (1 - CLOSE) - 1e-6, ("better", mechanisms, rates, real, delta, factor)


def error_below(one: Alone, mechanism: str, rate: float, limit: float) -> bool:
    return error(one, mechanism, rate) <= limit


def main() -> None:
    """Print how many plans agree, of which kinds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    kinds: dict[str, int] = {}
    for place in range(asked.count):
        kind = check_random(f"{asked.seed} {place}")
        kinds[kind] = kinds.get(kind, 0) + 1
    for kind, count in sorted(kinds.items()):
        print(f"{kind:22} {count:5}")


if __name__ == "__main__":
    main()
