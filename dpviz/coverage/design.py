"""The release of one set when M sets share a promise: the synthesizer, and the prior that a rule chooses for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, overload

from dpviz.inference.combining_rules import SETS
from dpviz.parameters import DELTA, EPSILON
from dpviz.priors.sets import minimum_prior_for_sets
from dpviz.privacy import pure_epsilon
from dpviz.synthesizers import SYNTHESIZERS, TwoCellSynthesizer

PriorRule = Literal["pure", "exact", "own"]

PRIOR_RULES: dict[PriorRule, str] = {
    "pure": "ε/M for each set, no δ",
    "exact": "least for all sets together",
    "own": "own α",
}
"""How the prior of a set follows from the promise, for readers."""

NOTHING = 1e-50
"""A prior that changes nothing: where ε/M needs no more, no better count of the cost is asked for."""

METHODS = {
    "beta_binomial": "synth_post_one",
    "posterior_mean": "synth_post_many",
    "posterior_mode": "synth_map",
}
"""Laws with a prior, by the name of their method in `minimum_prior`."""


def release_of_one_set(
    law: str,
    *,
    n: int,
    m: int,
    sets: int,
    epsilon: float,
    delta: float = 0.0,
    prior: PriorRule = "pure",
    alpha: float = 1.0,
) -> TwoCellSynthesizer:
    """The synthesizer of each of M independent sets that together are (ε, δ)-differentially private.

    Parameters
    ----------
    law
        Key of a two-cell synthesizer of the registry.
    n, m
        Confidential rows, and rows of one set; a sanitizer of counts releases m = n.
    sets
        M.
    epsilon, delta
        The promise for all sets together; neighbours are substitution. Only ``"exact"`` has a use for δ.
    prior
        ``"pure"``: the closed-form least prior at ε/M, as in Charest (2011). ``"exact"``: the least prior for which
        the M sets together are (ε, δ)-differentially private, from their exact composition. ``"own"``: `alpha`.
        A sanitizer has no prior and gets ε/M for every rule.
    alpha
        α = β of ``"own"``.

    Returns
    -------
    TwoCellSynthesizer
        Symmetric prior, α = β.

    Raises
    ------
    ValueError
        Where a number is out of its domain, or a sanitizer is asked for m ≠ n.

    Source: Charest (2011), §3.1, for ``"pure"``.

    Examples
    --------
    Two sets share ε = 2 ln 2: each has m / (e^{ln 2} − 1) = 10 pseudo-rows of either kind.

    >>> import math
    >>> round(release_of_one_set("beta_binomial", n=10, m=10, sets=2, epsilon=2 * math.log(2)).alpha, 9)
    10.0
    """
    EPSILON.check(epsilon)
    DELTA.check(delta)
    SETS.check(sets)
    made = two_cell_laws().get(law)
    if made is None:
        raise ValueError(f"law must be one of {', '.join(two_cell_laws())}; got {law!r}.")
    asked = {declaration.name for declaration in made.parameters()}
    values: dict[str, float] = {"n": n}
    if "m" in asked:
        values["m"] = m
    elif m != n:
        raise ValueError(f"m (synthetic rows) must equal n = {n:,}: {made.label} releases as many rows; got {m:,}.")
    if "epsilon" in asked:
        values["epsilon"] = epsilon / sets
    if "alpha" in asked:
        alpha = prior_of_one_set(
            law, n=n, m=m, sets=sets, epsilon=epsilon, delta=delta, prior=prior, alpha=alpha
        )  # fmt: skip
        values |= {"alpha": alpha, "beta": alpha}
    return made(**values)  # type: ignore[arg-type]


def epsilon_of_sets(release: TwoCellSynthesizer, sets: int) -> float:
    """The pure ε that M independent sets of one release keep together, exactly: M times that of one set.

    No set can do worse than its own worst table and neighbours, and all of them may do it at once.

    Parameters
    ----------
    release
        The synthesizer of each set.
    sets
        M.

    Returns
    -------
    float
        ε ≥ 0; infinite where some table can come from one of two neighbours alone.

    Source: Dwork, McSherry, Nissim & Smith (2006), composition; Abowd & Vilhuber (2008), equation (3), for one set.

    Examples
    --------
    One row with α = 1 has odds of 2; two of them of 4.

    >>> import math
    >>> from dpviz.synthesizers import BetaBinomial
    >>> round(epsilon_of_sets(BetaBinomial(n=3, m=1, alpha=1, beta=1), 2) / math.log(4), 12)
    1.0
    """
    return int(SETS.check(sets)) * pure_epsilon(release)


def prior_of_one_set(
    law: str,
    *,
    n: int,
    m: int,
    sets: int,
    epsilon: float,
    delta: float = 0.0,
    prior: PriorRule = "pure",
    alpha: float = 1.0,
) -> float:
    """α = β of each of M sets that together keep a promise.

    Parameters
    ----------
    law
        Key of a two-cell synthesizer with a prior.
    n, m, sets, epsilon, delta, prior, alpha
        As in `release_of_one_set`; n and m up to 100,000.

    Examples
    --------
    >>> prior_of_one_set("posterior_mean", n=9, m=1, sets=1, epsilon=1.0, prior="own", alpha=3.0)
    3.0
    """
    if prior not in PRIOR_RULES:
        raise ValueError(f"prior must be one of {', '.join(PRIOR_RULES)}; got {prior!r}.")
    if prior == "own":
        return alpha
    EPSILON.check(epsilon)
    SETS.check(sets)
    made = two_cell_laws()[law]
    pure: float = made.least_alpha(m=m, epsilon=epsilon / sets)  # type: ignore[attr-defined]
    if prior == "pure" or pure < NOTHING:
        return pure
    if law not in METHODS:
        raise ValueError(f"prior must be pure or own for {made.label}; got 'exact'.")
    return minimum_prior_for_sets(METHODS[law], n=n, m=m, sets=sets, epsilon=epsilon, delta=delta).exact.upper


def two_cell_laws() -> dict[str, type[TwoCellSynthesizer]]:
    """The registered synthesizers of two counts that have an n of their own, by key."""
    return {
        key: one
        for key, one in SYNTHESIZERS.items()
        if issubclass(one, TwoCellSynthesizer) and "n" in {declaration.name for declaration in one.parameters()}
    }


def has_prior(law: str) -> bool:
    """Whether the synthesizer with this key has a prior that pulls its releases; a sanitizer of counts has none.

    Examples
    --------
    >>> has_prior("posterior_mode"), has_prior("laplace")
    (True, False)
    """
    return "alpha" in {declaration.name for declaration in two_cell_laws()[law].parameters()}


class ReleasesByEpsilon(Sequence[TwoCellSynthesizer]):
    """The releases of one set at a list of promises, each made when it is asked for.

    Parameters
    ----------
    epsilons
        The promises for all sets together.
    make
        The release at one of them.
    """

    def __init__(self, epsilons: Sequence[float], make: Callable[[float], TwoCellSynthesizer]) -> None:
        self._epsilons, self._make = epsilons, make

    def __len__(self) -> int:
        return len(self._epsilons)

    @overload
    def __getitem__(self, index: int) -> TwoCellSynthesizer: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[TwoCellSynthesizer]: ...
    def __getitem__(self, index: int | slice) -> TwoCellSynthesizer | Sequence[TwoCellSynthesizer]:
        if isinstance(index, slice):
            return ReleasesByEpsilon(self._epsilons[index], self._make)
        return self._make(float(self._epsilons[index]))
