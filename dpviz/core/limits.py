"""How large n, m, M, k and their tables may be in each operation: what checks enforce and pages quote.

Time and memory set them, never the theory; a larger one is safe to try where there is more of both.
"""

PROPORTIONS = 10_000  # true proportions at which coverage, lengths or posteriors are asked for at once
LARGEST_ROWS = 5_000  # n and m of a transition matrix of two counts, and of coverage
LARGEST_CELLS, ROWS_OF_CELLS = 1_000, 1_000  # k, and m of a synthesizer of more than two cells
MODIPS_ROWS = 1_000  # n and m of modips and of other releases whose whole table must be computed at once
TABLE_ENTRIES = 4_000_000  # entries of a matrix that is held, drawn or written to a file
HELD_ENTRIES = 1_000_000  # of the last table, which is held until there is another: several questions are asked of it
# rows and columns, and bytes, of a matrix that a reader brings; and those up to which a synthesizer is sought behind it
GIVEN_SIDE, GIVEN_BYTES, RECOGNIZED_SIDE = 1_000, 32_000_000, 201
GIVEN_CHARACTERS = 10_000  # of one value of such a matrix: a double has less than 1,100 digits
LARGEST_SETS, LARGEST_COMPOSED_SETS = 500, 1_000  # M of coverage, and of the composition of losses
SUMMED_LOSSES = 2**22  # points of the grid of the summed losses of several sets, in a search for their prior
# n and m for which a smallest prior or a largest range is sought, and those that printed bounds take
LARGEST_PRIOR_ROWS, PRINTED_ROWS = 100_000, 10_000_000
# m of k > 2 cells up to which δ is summed for any n, and how many times n it may be beyond
PRIOR_ROWS_OF_CELLS, TIMES_THE_DATA = 2_000, 20
ROWS_OF_CELL_SETS = 1_000  # n and m for several sets of more than two cells
# n and m for which a probabilistic prior is sought, by the package and in the time of a page
PROBABILISTIC_ROWS, PROBABILISTIC_ROWS_SHOWN = 10_000, 2_000
AVERAGED_ROWS_SHOWN = 2_000  # n and m for which a page averages over the other rows
# N for which subsampling is counted over all populations, and n and m for which a page does it
LARGEST_POPULATION, SAMPLED_ROWS_SHOWN = 2_000, 400
LARGEST_POSTERIOR_ROWS = 10_000  # n and m of a posterior, and of a release whose whole matrix is not needed
COUNT_ROWS = LARGEST_POSTERIOR_ROWS  # n and m of a count whose release is judged
LISTED_TABLES = 2_000_000  # confidential tables, or pairs of n and x, that a posterior sums over
# n and m up to which a page lists every release for the coverage of a posterior, and M of that page
RELEASES_SHOWN, COUNTS_SHOWN = 1_000, 20
MIXED_CELLS = 100  # Cells of mixed data
CATEGORIES = 100  # k of categories whose release is judged
COMPARED_ROWS = 2_000  # n of the numbers on which methods are compared
# n of the smallest possible error, and n up to which a linear programme bounds it at once where there is a δ
OPTIMUM_ROWS, PROGRAMME_ROWS = 100_000, 1_000
RELEASE_BINS, RELEASE_BOUND = 200, 1e6  # bins of an audited release, and how far from 0 its data may lie
# bytes, rows and columns of a file of pilot data, and how far from 0 its numbers may lie; no n of a design is larger
PILOT_BYTES, PILOT_ROWS, PILOT_COLUMNS, PILOT_LARGEST = 10_000_000, LARGEST_PRIOR_ROWS, 1_000, 1e100
# cells of the grid of a large study, characters of its plan, and bytes of a file of its results that is opened
STUDY_CELLS, STUDY_PLAN_CHARACTERS, STUDY_BYTES = 10_000, 200_000, 24_000_000
