"""What a server answers to browsers that ask whether a room has changed."""

from starlette.responses import Response


def news_of_room(path: str, who: str) -> Response | None:
    """As `pages.experiment.rooms.answer`, which is loaded with the first question: the server starts without it."""
    from pages.experiment.rooms import answer

    return answer(path, who)
