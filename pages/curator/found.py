"""What is computed for a question: the designs in order, and what would have to give way where none keeps all."""

from functools import partial

from dpviz.desk.search import Assessed, Desk, Relaxed, stream_designs, stream_relaxations, whole_design
from pages.components.cached import elsewhere
from pages.components.growing import Growing, growing_of
from pages.curator.controls import PREFIX, Asked

NEAREST = 3  # Designs of which is sought what would have to give way


def designs_of(asked: Asked) -> Growing[Desk]:
    """The reader's designs, which come one after the other."""
    question = asked.question
    return growing_of(f"{PREFIX}designs", ("designs", repr(question)), Desk, partial(stream_designs, question))


def desk_of(asked: Asked) -> Desk:
    """The designs as far as they are known, the first one at least, or that there is none; a refusal comes with it."""
    return designs_of(asked).first()


def give_way(asked: Asked, desk: Desk) -> Growing[tuple[Relaxed, ...]]:
    """Of the nearest designs what would have to give way, one after the other."""
    key = "relaxed", repr(asked.question)
    return growing_of(f"{PREFIX}relaxed", key, tuple, partial(stream_relaxations, desk, NEAREST))


def pinned(desk: Desk, keys: list[str]) -> list[Assessed]:
    """The designs with these keys, with everything known of them; those that the question has no more are left out."""
    known = {written_key(one.key): one for one in desk.designs}
    found, whole = [known[key] for key in keys if key in known], elsewhere(whole_design, "Computing intervals …")
    return [one if one.complete else whole(one.question, one.key, one.setting, one.enough) for one in found]


def names_of(desk: Desk) -> dict[str, str]:
    """What each design is called, by its key as the address has it, in their order."""
    return {written_key(one.key): one.full_name for one in desk.designs}


def written_key(key: tuple[str, int, str]) -> str:
    """The key of a design as the address has it."""
    return "~".join(map(str, key))
