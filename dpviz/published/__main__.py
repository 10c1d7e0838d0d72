"""Print every number of the papers' tables beside ours: ``python -m dpviz.published``, some minutes."""

from collections.abc import Iterator

from dpviz.parameters import readable
from dpviz.published.charest import PRINTED_TABLES, compare_charest
from dpviz.published.liu_binary import compare_liu_binary
from dpviz.published.liu_gaussian import compare_liu_gaussian
from dpviz.published.record import Record


def records() -> Iterator[Record[float]]:
    """Yield every comparison of numbers, table by table."""
    for number in PRINTED_TABLES:
        yield from compare_charest(number)
    yield from compare_liu_binary()
    yield from compare_liu_gaussian()


if __name__ == "__main__":
    for one in records():
        design = ", ".join(f"{name} = {readable(value)}" for name, value in one.design.items())
        numbers = f"printed {readable(one.printed)}, ours {readable(one.ours, 5)}, z = {readable(one.z, 3)}"
        print(f"{one.source}, {one.what} ({design}): {numbers}. {one.verdict}", flush=True)
