"""Figures 1 to 4 of Abowd & Vilhuber (2008), and the accounts that can be given of their δ = 0.0006.

Source: J. M. Abowd and L. Vilhuber, How protective are synthetic data?, Privacy in Statistical Databases 2008.
"""

from collections.abc import Iterator

import numpy as np

from dpviz import privacy
from dpviz.claims.published import PrintedNumber, Record, Shown, printed_rows, read_tables
from dpviz.core.types import FloatArray
from dpviz.mechanisms import BetaBinomial, LaplaceSanitizer, PosteriorMean, Synthesizer, TwoCellSynthesizer
from dpviz.mechanisms.beta_binomial import beta_binomial_terms
from dpviz.privacy import divergence

__all__ = ["PRINTED_EPSILON", "PRINTED_FIGURES", "accounts_of_printed_delta", "compare_figures"]

SOURCE = "Abowd & Vilhuber (2008)"
PRINTED_DIGITS, PRINTED_EPSILON, PRINTED_DELTA = 6, 2.0, PrintedNumber("0.0006")
WORD_FOR_WORD = "any failing cell, n1 ~ Binomial(5, ½)"  # The account that is the paper's sentence
FIGURE_CAPTIONS = {
    1: "Multinomial-Dirichlet synthesizer with (2, 0.0006)-prob. differential privacy",
    2: "Differential privacy values (log posterior odds ratios) for MD synthesizer",
    3: "Laplace synthesizer with 2-differential privacy",
    4: "Differential privacy values (log posterior odds ratios) for Laplace sanitizer",
}
PRINTED_FIGURES = read_tables("abowd_vilhuber_fig", FIGURE_CAPTIONS)  # Figures 1 to 4 as printed

SYNTHESIZER_OF_FIG_1 = PosteriorMean(n=5, m=5, alpha=0.5, beta=0.5)
"""The synthesizer that Fig. 1 and Fig. 2 show to every printed digit: the posterior-mean plug-in."""

EQUATION_ONE = BetaBinomial(n=5, m=5, alpha=0.5, beta=0.5)
"""The synthesizer of the paper's equation (1) at the same parameters: the posterior draw."""

SYNTHESIZER_OF_FIG_3 = LaplaceSanitizer(n=5, epsilon=PRINTED_EPSILON)  # The synthesizer of Fig. 3 and Fig. 4

FIGURES_OF = {SYNTHESIZER_OF_FIG_1.key: (1, 2), SYNTHESIZER_OF_FIG_3.key: (3, 4)}
"""The figures of the matrix and of the log-odds, by the synthesizer that they show."""


def layout_source(synthesizer: Synthesizer, place: int) -> str:
    """Whose layout the matrix, or the log-odds, has; with the number of the figure that shows this synthesizer."""
    number = f", Fig. {FIGURES_OF[synthesizer.key][place]}" if synthesizer.key in FIGURES_OF else ""
    return f"Exact; laid out as in {SOURCE}{number}"


def compare_figures() -> list[Record[float]]:
    """Return how many cells each figure prints, and in how many of them ours are the same to every printed digit.

    >>> [(record.printed, record.ours) for record in compare_figures()]
    [(36, 36), (30, 30), (36, 36), (30, 30), (36, 0), (30, 0)]
    """
    plug, draw, noise = SYNTHESIZER_OF_FIG_1, EQUATION_ONE, SYNTHESIZER_OF_FIG_3
    records = []
    for number, release in ((1, plug), (2, plug), (3, noise), (4, noise), (1, draw), (2, draw)):
        printed = PRINTED_FIGURES[number].values
        ours = release.transition_matrix() if number % 2 else np.abs(privacy.log_odds_table(release))
        same = int(np.count_nonzero(np.round(ours, PRINTED_DIGITS) == printed))
        verdict = "every printed digit" if same == printed.size else "another synthesizer"
        source, design = f"{SOURCE}, Fig. {number}", {"figure": number}
        record = Record[float](
            source=source, what=release.info.label, printed=printed.size, ours=same, reading=verdict, design=design
        )
        records.append(record)
    return records


def figure_cells() -> Iterator[Record[float]]:
    """Yield every cell of the four figures beside ours, and those of Fig. 1 and 2 beside equation (1) as well."""
    for number, printed in PRINTED_FIGURES.items():
        for release, _, _ in figure_tables(number)[1:]:
            other = release == EQUATION_ONE
            ours = release.transition_matrix() if number % 2 else np.abs(privacy.log_odds_table(release))
            for row, exact in zip(printed.rows, ours, strict=True):
                design = {name: float(cell) for name, cell in row.items() if not name.startswith("m1=")}
                for (name, cell), value in zip(list(row.items())[len(design) :], exact.tolist(), strict=True):
                    yield Record(
                        source=f"{SOURCE}, Fig. {number}",
                        what=name,
                        printed=cell,
                        ours=value,
                        reading=f"{release.info.label}, n = m = 5.",
                        literal=other or number > 2,
                        other=other,
                        design=design,
                        shown=_shown(release),
                    )


def _shown(release: Synthesizer) -> Shown:
    """Where the page shows its matrix."""
    prior = {} if isinstance(release, LaplaceSanitizer) else {"alpha": 0.5}
    return Shown("transition_matrices", {"synthesizer": release.key, "n": 5, **prior, "epsilon": PRINTED_EPSILON})


def figure_tables(number: int) -> list[tuple[Synthesizer, str, FloatArray | None]]:
    """A figure as printed, ours, and equation (1) where the paper says it is that: whose, caption, printed values."""
    release: Synthesizer = SYNTHESIZER_OF_FIG_1 if number <= 2 else SYNTHESIZER_OF_FIG_3
    printed = PRINTED_FIGURES[number]
    meant = "The paper's equation (1) at the same n, m and prior: the posterior draw"
    return [
        (release, f"Fig. {number} as printed: {printed.caption}", printed.values),
        (release, f"Ours: {release.info.label}", None),
        *([(EQUATION_ONE, meant, None)] if number <= 2 else []),
    ]


def accounts_of_printed_delta(synthesizer: TwoCellSynthesizer = SYNTHESIZER_OF_FIG_1) -> list[Record[float]]:
    """Return the ways to count how often ε = 2 fails in Fig. 1 (or for another synthesizer), the printed one first.

    >>> [round(account.ours, 6) for account in accounts_of_printed_delta()]
    [0.000623, 0.103516, 0.065922, 0.040516, 0.040198, 0.033753, 0.031248]
    """
    release, epsilon = synthesizer, PRINTED_EPSILON
    over, matrix = divergence.exceeds(privacy.log_odds_table(release), epsilon), release.transition_matrix()
    by_sum, by_column, by_row = beta_binomial_terms(0, release.n, 0.5, 0.5)
    predicted = np.exp(by_sum + by_column - by_row)
    even, jeffreys = (distribution[:, None] * matrix for distribution in (privacy.even_counts(release), predicted))
    failure = privacy.failure_by_row(release, epsilon)

    def pairs(joint: FloatArray, choose: np.ufunc) -> float:
        return float(choose(joint[:-1], joint[1:])[over].sum())

    counted = (
        pairs(even, np.minimum),
        privacy.probabilistic_delta(release, epsilon),
        privacy.delta_for_epsilon(release, epsilon),
        float(privacy.even_counts(release) @ failure),
        pairs(even, np.maximum),
        float(predicted @ failure),
        pairs(jeffreys, np.maximum),
    )
    return [
        Record(
            source=f"{SOURCE}, caption of Fig. 1",
            what=said["what"],
            printed=PRINTED_DELTA,
            ours=ours,
            reading=said["reading"],
            literal=said["what"] == WORD_FOR_WORD,
            other=place > 0,
            shown=_shown(release),
        )
        for place, (ours, said) in enumerate(zip(counted, printed_rows("abowd_vilhuber_accounts"), strict=True))
    ]
