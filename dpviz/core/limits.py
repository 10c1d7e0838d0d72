"""How large n, m, M, k and their tables may be in each operation: what checks enforce and pages quote.

Time and memory set them, never the theory; a larger one is safe to try where there is more of both.
"""

# Mechanisms and their tables
MAX_ROWS = 5_000  # n and m of a transition matrix of two counts, and of coverage
MAX_CELLS = 1_000
MAX_ROWS_OF_TABLE = 1_000  # n and m of releases whose whole table must be computed at once, and m of k > 2 cells
MAX_TABLE_ENTRIES = 4_000_000  # of a matrix that is held, drawn or written to a file

# Matrices and files that a reader brings
MAX_MATRIX_SIDE = 1_000
MAX_MATRIX_BYTES = 32_000_000
MAX_VALUE_CHARACTERS = 10_000  # a double has less than 1,100 digits
MAX_PILOT_BYTES = 10_000_000
MAX_PILOT_ROWS = 100_000  # no n of a design is larger
MAX_PILOT_COLUMNS = 1_000
MAX_PILOT_NUMBER = 1e100  # distance from 0

# Privacy and calibration
MAX_PRIOR_ROWS = 100_000  # n and m for which a smallest prior or a largest range is searched for
MAX_PRINTED_ROWS = 10_000_000  # n and m that printed bounds take
MAX_PRIOR_ROWS_OF_CELLS = 2_000  # m of k > 2 cells up to which δ is summed for any n
MAX_ROWS_PER_PERSON = 20  # m / n up to which δ of k > 2 cells is summed beyond
MAX_ROWS_OF_CELL_SETS = 1_000  # n and m for several sets of more than two cells
MAX_LOSS_POINTS = 2**22  # of the grid of the losses of several sets, in a search for their prior
MAX_PROBABILISTIC_ROWS = 10_000  # n and m for which a probabilistic prior is searched for
MAX_SUMMED_ROWS_OF_PAGE = 2_000  # n and m for which a page averages over the other rows, or finds a probabilistic prior
MAX_POPULATION = 2_000  # N for which subsampling is counted over all populations
MAX_SAMPLED_ROWS_OF_PAGE = 400  # n and m for which a page counts over all populations
MAX_OPTIMUM_ROWS = 100_000  # n of the smallest possible error
MAX_PROGRAMME_ROWS = 1_000  # n up to which a linear programme bounds that error where there is a δ

# Analysis
MAX_SETS = 500  # M of coverage
MAX_PROPORTIONS = 10_000  # true proportions at which coverage, lengths or posteriors are asked for at once
MAX_POSTERIOR_ROWS = 10_000  # n and m of a posterior or of a count, and of a release whose whole matrix is not needed
MAX_LISTED_TABLES = 2_000_000  # confidential tables, or pairs of n and x, that a posterior sums over
MAX_RELEASES_OF_PAGE = 1_000  # n and m up to which a page lists every release for the coverage of a posterior
MAX_COUNTS_OF_PAGE = 20  # M of that page

# Large studies
MAX_STUDY_CELLS = 10_000  # of the grid
MAX_STUDY_PLAN_CHARACTERS = 200_000
MAX_STUDY_BYTES = 24_000_000  # of a file of results that is opened
