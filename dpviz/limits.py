"""How large n, m, M, k and their tables may be in each operation: what checks enforce and pages quote.

Time and memory set them, never the theory; a larger one is safe to try where there is more of both.
"""

ROWS = 5_000  # n and m of a transition matrix of two counts, and of coverage
CELLS, ROWS_OF_CELLS = 1_000, 1_000  # k, and m of a synthesizer of more than two cells
MODIPS_ROWS = 1_000  # n and m of modips and of other releases whose whole table must be computed at once
TABLE_ENTRIES = 4_000_000  # entries of a matrix that is held, drawn or written to a file
# rows and columns, and bytes, of a matrix that a reader brings; and those up to which a synthesizer is sought behind it
GIVEN_SIDE, GIVEN_BYTES, RECOGNIZED_SIDE = 1_000, 32_000_000, 201
SETS, COMPOSED_SETS = 500, 1_000  # M of coverage, and of the composition of losses
# n and m for which a smallest prior or a largest range is sought, and those that printed bounds take
PRIOR_ROWS, PRINTED_ROWS = 100_000, 10_000_000
# m of k > 2 cells up to which δ is summed for any n, and how many times n it may be beyond
PRIOR_ROWS_OF_CELLS, TIMES_THE_DATA = 2_000, 20
ROWS_OF_CELL_SETS = 1_000  # n and m for several sets of more than two cells
# n and m for which a probabilistic prior is sought, by the package and in the time of a page
PROBABILISTIC_ROWS, PROBABILISTIC_ROWS_SHOWN = 10_000, 2_000
AVERAGED_ROWS_SHOWN = 2_000  # n and m for which a page averages over the other rows
# N for which subsampling is counted over all populations, and n and m for which a page does it
POPULATION, SAMPLED_ROWS_SHOWN = 2_000, 400
POSTERIOR_ROWS = 10_000  # n and m of a posterior, and of a release whose whole matrix is not needed
COUNT_ROWS = POSTERIOR_ROWS  # n and m of a count whose release is judged
LISTED_TABLES = 2_000_000  # confidential tables, or pairs of n and x, that a posterior sums over
# n and m up to which a page lists every release for the coverage of a posterior, and M of that page
RELEASES_SHOWN, COUNTS_SHOWN = 1_000, 20
MIXED_CELLS = 100  # Cells of mixed data
CATEGORIES = 100  # k of categories whose release is judged
COMPARED_ROWS = 2_000  # n of the numbers on which methods are compared
# n of the smallest possible error, and n up to which a linear programme seeks it where there is a δ
OPTIMUM_ROWS, PROGRAMME_ROWS = 100_000, 100
RELEASE_BINS, RELEASE_BOUND = 200, 1e6  # bins of an audited release, and how far from 0 its data may lie
# bytes, rows and columns of a file of pilot data, and how far from 0 its numbers may lie; no n of a design is larger
PILOT_BYTES, PILOT_ROWS, PILOT_COLUMNS, PILOT_LARGEST = 10_000_000, PRIOR_ROWS, 1_000, 1e100
