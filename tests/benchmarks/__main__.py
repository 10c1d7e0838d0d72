"""``python -m tests.benchmarks``: every ratio in one run, as a table."""

from tests.benchmarks.run import main

if __name__ == "__main__":
    main()
