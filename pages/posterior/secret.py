"""What if the agency keeps n secret: a prior on n as well."""

import math
from collections.abc import Callable

import streamlit as st

from dpviz.charts.posterior import count_distribution_chart, posterior_chart
from dpviz.core.parameters import readable
from dpviz.inference import secret_n
from pages.components.address import keep_choice, keep_switch
from pages.components.cached import cached
from pages.components.choices import choice, switch
from pages.components.figure import show_figure
from pages.components.last_valid import accepted
from pages.components.words import answer, listing, note
from pages.posterior import SPEC
from pages.posterior.answer import NAMES, drawn, heads, mean_and_deviation, posterior_of, share, summary
from pages.posterior.controls import PAGE, PREFIX, Asked

GUESS = "around a guess"
PRIORS: dict[str, Callable[[int, int, int], secret_n.SizePrior]] = {
    "uniform": lambda low, high, _: secret_n.uniform_size(low, high),
    GUESS: lambda low, high, guess: secret_n.poisson_size(guess, low, high),
    "uniform in log n": lambda low, high, _: secret_n.decade_size(low, high),
}
"""Priors of n by name: functions of the fewest rows, the most, and a guess."""

SIZE_PRIOR = keep_choice(f"{PREFIX}size_prior", PRIORS, "uniform")
AROUND = keep_switch(f"{PREFIX}around", True)
LEANS = 3.0  # times its prior probability that an end of the range has when the posterior of n is said to pile up there


def show_secret(asked: Asked) -> None:
    """Posterior of p and of n for an analyst who knows n only by a range."""
    design, known = asked.design, posterior_of(asked)
    note(SPEC.note("secret"))
    label = choice(
        st.segmented_control, "Prior of n", PRIORS, SIZE_PRIOR, required=True,
        help="Uniform: every n in the range is equally likely. Uniform in log n: so is every power of ten. Around "
        "a guess: n is most likely near it.",
    )  # fmt: skip
    around = switch(
        f"Use a range around the true n = {design.n:,}", AROUND,
        help="From half of n to twice n, or as far as can be computed. Switch it off to set the range yourself.",
    )  # fmt: skip
    ends = secret_n.range_around(design.n) if around else (int(PAGE.checked("low")), int(PAGE.checked("high")))
    guess = int(PAGE.checked("guess")) if label == GUESS else 0

    def compute(ends: tuple[int, int]) -> secret_n.SecretSizePosterior:
        low, high = ends
        if low > high:
            raise ValueError(f"The fewest rows must be at most the most, {high:,}; got {low:,}.")
        return cached(secret_n.posterior_secret_n)(
            synthetic_counts=asked.counts, m=design.m, alpha=design.alpha_of_one_set, beta=design.alpha_of_one_set,
            prior=PRIORS[label](low, high, guess), gamma1=design.gamma1, gamma2=design.gamma2,
        )  # fmt: skip

    found = accepted(
        f"{PREFIX}range",
        ends,
        compute,
        secret_n.range_around(design.n),
        lambda ends: f"{ends[0]:,} to {ends[1]:,} rows",
    )
    sizes, narrower = found.prior.sizes, bool(found.variance < known.variance and found.prior.sizes[-1] > design.n)
    start, end = map(share, found.interval(design.level))
    words = SPEC.note(
        "without_n", believed=believed(found.prior), start=start, end=end, n=f"{design.n:,}",
        deviation=share(math.sqrt(known.variance)), expected=readable(found.expected_size, 4),
    )  # fmt: skip
    more = f" Because n may be larger than {design.n:,}, the posterior of p is narrower than with n known." * narrower
    st.html(answer(mean_and_deviation(found), words + more))
    for doubt in doubts(design.n, found):
        note(doubt)
    names = {"exact": f"{NAMES['exact']}, n = {design.n:,} known", "secret": "n secret"}
    posteriors = {"exact": known, "secret": found}
    densities = [
        drawn(names[key], key, distribution, [distribution.interval(design.level)])
        for key, distribution in posteriors.items()
    ]
    chart = posterior_chart(densities, level=design.level, share=asked.truth, key="secret")
    show_figure(chart, key=f"{PREFIX}secret", alt="Posterior of p with n known and with n secret.", height=380)
    chart = count_distribution_chart(
        sizes.astype(float), found.size_weights, title="people n", key="sizes", mark=float(design.n),
        words=f"n = {design.n:,}",
    )  # fmt: skip
    alt = "Posterior probability of each number of people."
    show_figure(chart, key=f"{PREFIX}sizes", alt=alt, height=300)
    rows = [summary(names[key], distribution, design.level) for key, distribution in posteriors.items()]
    listing(heads(design.level), rows, "Posterior with and without n")
    st.caption(
        f"Exact for this prior of n: {found.prior.label}. The pictures show the proportion and the number of rows."
    )


def believed(prior: secret_n.SizePrior) -> str:
    """What the analyst believes of n, after "An analyst who"."""
    low, high = int(prior.sizes[0]), int(prior.sizes[-1])
    return f"takes n to be {low:,}" if low == high else f"knows only that n lies between {low:,} and {high:,}"


def doubts(n: int, found: secret_n.SecretSizePosterior) -> list[str]:
    """What speaks against the range: it leaves the true n out, or the posterior of n piles up at one of its ends."""
    low, high = int(found.prior.sizes[0]), int(found.prior.sizes[-1])
    said = []
    if not low <= n <= high:
        said.append(SPEC.note("left_out", low=f"{low:,}", high=f"{high:,}", n=f"{n:,}"))
    ends = zip((low, high), found.end_weights, (found.prior.weights[0], found.prior.weights[-1]), strict=True)
    piled = [f"{end:,}" for end, weight, before in ends if low < high and weight > LEANS * before]
    if piled:
        said.append(f"The posterior of n piles up at n = {' and '.join(piled)}, where the range ends.")
    return said
