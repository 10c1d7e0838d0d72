"""Today's answers, frozen: what must not change while the house is rebuilt.

``python -m tests.frozen --write FILE`` writes the record of all answers, ``python -m tests.frozen --compare FILE``
computes them again and lists what differs, each with its key and what stood there before and after; it ends with 1
where something does. Without a FILE it is the committed one, ``tests/frozen/record.json.gz``. ``--only PREFIX``, which
may be given several times, takes the answers whose keys begin so, such as ``compute/prior`` or ``page/coverage``;
``--list`` prints the keys. A whole comparison takes a few minutes of one processor.

The keys have three parts:

- ``compute/…``: numbers and texts of the compute package, asked in `cases` and computed by `adapter`;
- ``page/…``: addresses in ``addresses.txt``, each with all that its page says, the state of every control, pictures in
  words and sums, the address that results, and what it refuses, read by `visits` when nothing grows any more;
- ``files/…``: every file that a page offers, of those addresses that are marked with ``files``.

Numbers are the same to nine digits, and texts to the letter, but for numbers of twelve digits or more inside them. Left
out is what depends on the clock or is not ours: the date of a report, how long a simulation took, identifiers of
pictures, plotly's own script. A simulation is in the record with its seed, and where it was started, when it has come
to its end; everything else that grows is read when it is complete.

After a move compare, and mend what differs. Where a name changes, say so in `adapter`: there is one line for each name
of the house, and `RENAMED` for those that readers see, in texts, keys, scripts or addresses. Where an answer changes on
purpose, write the record anew in the same commit, and say in it what changed.
"""
