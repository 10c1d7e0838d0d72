"""Each computation against its obvious reference: interleaved repeats, medians, and the goal for their ratio."""

from tests.benchmarks import kernels, simulations


def main() -> None:
    """Print a line for each computation."""
    print(f"{'row':<50}{'reference ms':>12} {'ours ms':>10} {'ratio':>8} {'goal':>7}  met")
    results = []
    for rows in (kernels.rows, simulations.coverage_rows, simulations.posterior_rows, simulations.normal_rows):
        for result in rows():
            results.append(result)
            print(result.line(), flush=True)
    print(f"goals met: {sum(result.met for result in results)} of {len(results)}")


if __name__ == "__main__":
    main()
