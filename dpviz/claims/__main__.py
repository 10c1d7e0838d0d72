"""Print every number of the papers' tables beside ours: ``python -m dpviz.claims``, some minutes."""

from collections.abc import Iterator

from dpviz.claims.charest import PRINTED_TABLES, compare_charest
from dpviz.claims.liu import LIU_BINARY, LIU_NORMAL
from dpviz.claims.published import Record
from dpviz.core.parameters import readable


def records() -> Iterator[Record[float]]:
    """Yield every comparison of numbers, table by table."""
    for number in PRINTED_TABLES:
        yield from compare_charest(number)
    yield from LIU_BINARY.compare()
    yield from LIU_NORMAL.compare()


if __name__ == "__main__":
    for one in records():
        design = ", ".join(f"{name} = {readable(value)}" for name, value in one.design.items())
        numbers = f"printed {readable(one.printed)}, ours {readable(one.ours, 5)}, z = {readable(one.z, 3)}"
        print(f"{one.source}, {one.what} ({design}): {numbers}. {one.verdict}", flush=True)
