"""Small plans at random, solved again with plain loops.

Nothing of `dpviz` is used but the answer that is held against it. Of every pair of neighbouring data sets the whole
distribution of what is published is written down from the definition of its mechanism, a continuous one cut into fine
cells; from it follow δ(ε), the pure ε, the best guess, and the errors. That no other shares, and no other mechanisms,
have smaller errors under the same promise is tried on a lattice around the answer.
"""

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
from dpviz.plans import BoundedMean, CategoryShares, CrossTable, ReleasePlan, YesNoShare, solve_plan
from dpviz.plans.mechanisms import PLAN_MECHANISMS

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
    statistic = plan.statistics[place]
    rows = dict(plan.groups)[statistic.group] if statistic.group else plan.n
    if isinstance(statistic, BoundedMean):
        return Alone("mean", 1, rows, 0, 0, statistic.upper - statistic.lower, statistic.measure)
    low, high = (0.0, 1.0) if not isinstance(statistic, SHARES) else (statistic.lowest, statistic.highest)
    cells = statistic.categories if isinstance(statistic, CategoryShares) else 1
    cells = statistic.first * statistic.second if isinstance(statistic, CrossTable) else cells
    kind = "yes" if isinstance(statistic, YesNoShare) else "table"
    counts = counts_inside(rows, low, high)
    return Alone(kind, cells, rows, counts[0], counts[-1], 0.0, statistic.measure)


@cache
def published(mechanism: str, rate: float, rows: int, count: int) -> FloatArray:
    """The probability of every published count."""
    masses, far = np.zeros(rows + 1), max(rows, count)
    for noise in range(-far - 1, far + 2):
        if mechanism == "geometric":
            mass = math.tanh(rate / 2) * math.exp(-rate * abs(noise))
        else:
            mass = math.sinh(rate / 2) * math.exp(-rate * abs(noise)) if noise else -math.expm1(-rate / 2)
        if abs(noise) > far:  # and all beyond, each e^rate times less likely
            mass /= -math.expm1(-rate)
        masses[min(max(count + noise, 0), rows)] += mass
    return masses


def losses_of(first: FloatArray, second: FloatArray) -> Losses:
    losses: dict[float, float] = {}
    for p, q in zip(first.tolist(), second.tolist(), strict=True):
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
    return losses_of(masses[1], masses[0])


def spread(rows: int, cells: int) -> Iterator[tuple[int, ...]]:
    if cells == 1:
        yield (rows,)
        return
    for first in range(rows + 1):
        for rest in spread(rows - first, cells - 1):
            yield first, *rest


@cache
def pairs_of(statistic: Alone, mechanism: str, rate: float, out: int, into: int) -> tuple[Losses, ...]:
    """The losses of one statistic for every two data sets, of which a person takes rows out and puts some in."""
    if statistic.kind == "mean":  # a row is anywhere between the bounds, seen from their middle; the farther, the worse
        largest = (out + into) * statistic.width / 2 * rate
        return (continuous(mechanism, largest),)
    pairs, shifts = set(), {0.0}
    cells = 2 if statistic.kind == "yes" else statistic.cells
    for rest in spread(max(statistic.rows - out, 0), cells):
        for taken, put in itertools.product(spread(out, cells), spread(into, cells)):
            before = [a + b for a, b in zip(rest, taken, strict=True)]
            after = [a + b for a, b in zip(rest, put, strict=True)]
            if mechanism == "gaussian":
                many = 1 if statistic.kind == "yes" else cells
                shifts.add(math.hypot(*(a - b for a, b in zip(before[:many], after[:many], strict=True))))
                continue
            counted = range(1) if statistic.kind == "yes" else range(cells)
            total: Losses = ((0.0, 1.0),)
            for cell in counted:
                a, b = (min(counts[cell], statistic.rows) for counts in (before, after))
                total = added(total, losses_of(*(published(mechanism, rate, statistic.rows, x) for x in (a, b))))
            pairs.add(total)
    if mechanism == "gaussian":
        return (continuous("gaussian", max(shifts) * rate),)
    return worst_of(pairs)


def worst_of(candidates: Iterable[Losses]) -> tuple[Losses, ...]:
    """The losses without those of pairs that are told apart no better, at any ε, than another pair is."""
    worst: list[Losses] = []
    for losses in sorted({*candidates}, key=lambda losses: -largest_delta([losses], 0.0)):
        knots = [loss for loss, _ in losses]
        if not any(
            all(
                largest_delta([losses], epsilon) <= largest_delta([larger], epsilon) + 1e-13
                for epsilon in (*knots, *(loss for loss, _ in larger))
            )
            for larger in worst
        ):
            worst.append(losses)
    return tuple(worst)


@cache
def added(first: Losses, second: Losses) -> Losses:
    if len(first) * len(second) > 10_000:  # of which one has cells
        sums = np.add.outer([a for a, _ in first], [b for b, _ in second]).ravel()
        masses = np.outer([a for _, a in first], [b for _, b in second]).ravel()
        if len(sums) > 40_000:
            steps, place = np.unique(np.round(sums / STEP), return_inverse=True)
            sums, masses = steps * STEP, np.bincount(place, masses)
        return tuple(zip(sums.tolist(), masses.tolist(), strict=True))
    losses: dict[float, float] = {}
    for (loss, mass), (second_loss, second_mass) in itertools.product(first, second):
        total = round(loss + second_loss, 8)
        losses[total] = losses.get(total, 0.0) + mass * second_mass
    return tuple(sorted(losses.items()))


def moves(plan: ReleasePlan) -> set[tuple[tuple[int, int], ...]]:
    """For each statistic how many of its rows a person takes out and puts in, in every way that there is."""
    names = [name for name, _ in plan.groups] + ["nowhere"]
    add_only = plan.neighbours == "add_remove"
    ways = set()
    for out in itertools.product(names, repeat=plan.person_rows):
        for into in [()] if add_only else itertools.product(names, repeat=plan.person_rows):
            if not add_only and plan.membership_public and sorted(out) != sorted(into):
                continue
            moved = []
            for statistic in plan.statistics:
                numbers = [sum(not statistic.group or name == statistic.group for name in side) for side in (out, into)]
                moved.append((numbers[0], numbers[1]))
            ways.add(tuple(moved))
            ways.add(tuple((b, a) for a, b in moved))
    return ways


def losses_of_neighbours(plan: ReleasePlan, mechanisms: list[str], rates: list[float]) -> list[Losses]:
    """The losses of all statistics together, of the worst of all neighbouring data sets."""
    candidates: set[Losses] = set()
    for moved in moves(plan):
        sums: list[Losses] = [((0.0, 1.0),)]
        for place, (mechanism, rate, (out, into)) in enumerate(zip(mechanisms, rates, moved, strict=True)):
            statistic = plain(plan, place)
            if max(out, into) > statistic.rows and statistic.kind != "mean":
                break  # no group holds so many rows of one person
            if out or into:
                pairs = worst_of(
                    pairs_of(statistic, mechanism, rate, out, into) + pairs_of(statistic, mechanism, rate, into, out)
                )
                sums = [added(*sorted((total, pair), key=len)) for total in sums for pair in pairs]
        else:
            candidates.update(sums)
    return [*candidates]


def largest_delta(candidates: list[Losses], epsilon: float) -> float:
    worst = 0.0
    for candidate in candidates:
        if len(candidate) > 50:
            losses, masses = np.array(candidate).T
            worst = max(worst, float((masses * np.maximum(-np.expm1(np.minimum(epsilon - losses, 0.0)), 0.0)).sum()))
        else:
            worst = max(worst, sum(mass * -math.expm1(epsilon - loss) for loss, mass in candidate if loss > epsilon))
    return worst


@cache
def error(statistic: Alone, mechanism: str, rate: float) -> float:
    if statistic.measure == "typical":
        return typical(statistic, mechanism, rate)
    share = 0.95 if statistic.measure == "within" else 0.95 ** (1 / statistic.cells)
    if mechanism == "laplace":
        return -math.log(1 - share) / rate / statistic.rows
    if mechanism == "gaussian":
        return float(norm.ppf((1 + share) / 2)) / rate / statistic.rows
    inside, distance = 0.0, -1
    while inside < share - 1e-8:
        distance += 1
        if mechanism == "geometric":
            inside += math.tanh(rate / 2) * math.exp(-rate * distance) * (2 if distance else 1)
        else:
            inside = 1 - math.exp(-rate * (distance + 0.5))
    return distance / statistic.rows


def typical(statistic: Alone, mechanism: str, rate: float) -> float:
    if mechanism == "gaussian":
        return 1 / rate / statistic.rows
    if mechanism == "laplace":
        worst, end = 0.0, statistic.rows * statistic.width
        z = np.linspace(-60 / rate, 60 / rate, 40_001)
        density = rate / 2 * np.exp(-rate * np.abs(z))
        for place in (0.0, 0.1, 0.3, 0.5):
            true = place * end
            off = np.clip(true + z, 0, end) - true
            worst = max(worst, float(np.trapezoid(density * off**2, z)))
        return math.sqrt(worst) / statistic.rows
    worst = 0.0
    for count in range(statistic.lowest, statistic.highest + 1):
        masses = published(mechanism, rate, statistic.rows, count)
        worst = max(worst, sum(p * (r - count) ** 2 for r, p in enumerate(masses.tolist())))
    return math.sqrt(worst) / statistic.rows


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
    if sum(not statistic.has_counts for statistic in statistics) > 1:
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


def check_plan(plan: ReleasePlan) -> None:
    """Hold an answer against plain loops; an AssertionError says what differs."""
    answer = solve_plan(plan)
    epsilon, delta = plan.promise
    design = answer.design
    mechanisms, rates = [item.key for item in design.mechanisms], [item.rate for item in design.mechanisms]
    alone = [plain(plan, place) for place in range(len(rates))]
    cut = any(item in ("laplace", "gaussian") for item in mechanisms)
    losses = losses_of_neighbours(plan, mechanisms, rates)
    largest = max((loss for item in losses for loss, mass in item if mass > 1e-300), default=0.0)
    pure, room = design.pure_epsilon, 2 * STEP if cut else 1e-7
    assert largest <= pure * (1 + 1e-8) + room, ("pure ε above", largest, pure)
    can_hold = all(item.rows >= plan.person_rows + 2 for item in alone)
    if can_hold and not cut:
        assert math.isclose(largest, pure, rel_tol=1e-7, abs_tol=1e-7), ("pure ε", largest, pure)
    for at in {0.0, epsilon if epsilon < math.inf else 1.0, 0.3, 0.8 * min(largest, 50.0)}:
        real, delta_of_design = largest_delta(losses, at), design.delta(at)
        assert real <= delta_of_design * (1 + 1e-7) + ROUNDING, ("δ above", at, real, delta_of_design)
        if design.is_exact and can_hold and not cut:
            assert math.isclose(real, delta_of_design, rel_tol=1e-6, abs_tol=ROUNDING), ("δ", at, real, delta_of_design)
    guess = (1 + largest_delta(losses, 0.0)) / 2
    assert guess <= design.right_guesses + ROUNDING, ("guess", guess, design.right_guesses)
    if epsilon < math.inf:
        assert largest_delta(losses, epsilon) <= delta + ROUNDING, ("promise", largest_delta(losses, epsilon), delta)
    for place, (mechanism, rate, stated) in enumerate(zip(mechanisms, rates, design.errors(), strict=True)):
        if rate > 1e-3:
            real = error(alone[place], mechanism, rate)
            assert math.isclose(real, stated, rel_tol=1e-4, abs_tol=1e-9), ("error", place, rate, real, stated)
    if math.isfinite(answer.factor):
        assert answer.is_feasible == (answer.factor <= 1)
        used = max(design.used_limits())
        assert used <= max(answer.factor, 1.0) * (1 + 1e-9), ("used", used, answer.factor)
        long = cut and plan.groups and plan.person_rows > 1  # so many neighbours that each takes seconds
        if can_hold and epsilon < math.inf and not long:
            nothing_better(plan, alone, answer.factor, epsilon, delta)


def check_random(seed: str) -> None:
    """Hold the plan of a seed against plain loops; the plan is told with what differs."""
    plan = random_plan(random.Random(seed))
    try:
        check_plan(plan)
    except AssertionError as wrong:
        raise AssertionError(f"plan {seed}: {wrong}\n{plan.to_json()}") from wrong
    finally:
        for function in (pairs_of, added, published, continuous, error):
            function.cache_clear()


def nothing_better(plan: ReleasePlan, alone: list[Alone], factor: float, epsilon: float, delta: float) -> None:
    """No rates on a lattice, of no mechanism that is tried, have errors below `factor` and keep the promise."""
    ways = []
    for place, item in enumerate(plan.statistics):
        limit = item.limit * factor * (1 - 1e-3)
        rates = [(kind.key, rate) for kind in plan.candidates(item) for rate in np.geomspace(0.03, 20, 48).tolist()
                 if error(alone[place], kind.key, rate) <= limit]  # fmt: skip
        firsts = [[pair for pair in rates if pair[0] == kind.key][:1] for kind in plan.candidates(item)]
        ways.append([*itertools.chain.from_iterable(firsts)])
    for chosen in itertools.product(*ways):
        mechanisms, rates = [item[0] for item in chosen], [item[1] for item in chosen]
        real = largest_delta(losses_of_neighbours(plan, mechanisms, rates), epsilon)
        assert real > delta * (1 - CLOSE) - 1e-6, ("better", mechanisms, rates, real, delta, factor)
