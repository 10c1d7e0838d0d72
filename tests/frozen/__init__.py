"""Frozen record of the answers of the compute package and of the pages.

A change that is to alter no number is compared with the record before it is committed::

    python -m tests.frozen --compare           # compute all again and list what differs; ends with 1 if anything does
    python -m tests.frozen --compare --only compute/prior --only page/coverage
    python -m tests.frozen --write             # replace the record, where an answer changes on purpose
    python -m tests.frozen --list              # keys of all answers

The record is ``record.json.gz``, or the FILE after the option. All of it takes some minutes of one processor.

A key has one of three beginnings:

``compute/``
    Numbers and texts of the compute package: the cases of `cases`, computed by `calls`.
``page/``
    A URL of ``addresses.txt``: what its page says, with every control and, of each picture, its accessible name and the
    sums of its arrays; the query that results; and the settings that it refuses. Read by `visits`.
``files/``
    A file that a page offers, for the URLs that are marked with ``files``.

Numbers are equal within a relative 1e-9, and to 0 within 1e-14; texts are equal letter by letter, except that numbers
of twelve or more digits in them are compared as numbers. Dates, random identifiers and plotly's own script are left
out.
"""
