"""Hostile files and addresses are read or refused in a sentence: some thousands here, 100,000 by ``tests.hostile``."""

from __future__ import annotations

from tests.hostile import Attack

SEED = 20261126


def test_what_nobody_means_well_is_read_or_refused_in_a_sentence() -> None:
    found = Attack(SEED).run(3_000).outcomes
    kinds = {kind for kind, _ in found}
    assert kinds == {"setting", "address", "code", "run", "question", "design", "matrix", "pilot", "plan", "statistics"}
    assert all(found[kind, "refused"] > 20 for kind in kinds - {"code"})  # which gives None
    assert all(found[kind, "read"] > 3 for kind in kinds)


def test_the_same_seed_draws_the_same() -> None:
    assert Attack(3).run(100).outcomes == Attack(3).run(100).outcomes
