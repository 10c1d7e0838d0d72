"""Hostile files and URLs are read or refused in a sentence: some thousands here, 100,000 by ``tests.hostile``."""

from tests.hostile import READERS, Attack

SEED = 20261126


def test_hostile_texts_and_files_are_read_or_refused_in_a_sentence() -> None:
    outcomes = Attack(SEED).run(3_000).outcomes
    kinds = {kind for kind, _ in outcomes}
    assert kinds == {"setting", "address", "code", *READERS}
    assert all(outcomes[kind, "refused"] > 20 for kind in kinds - {"code"})  # a text that is no code gives None
    assert all(outcomes[kind, "read"] > 3 for kind in kinds)


def test_a_seed_repeats_an_attack() -> None:
    assert Attack(3).run(100).outcomes == Attack(3).run(100).outcomes
