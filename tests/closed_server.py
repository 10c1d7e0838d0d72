"""Streamlit on a machine without a way out: ``python -m tests.closed_server run app.py``.

Whoever asks for another host, or connects to one, is refused and named.
"""

from __future__ import annotations

import sys

from streamlit.web.cli import main

HERE = {None, "", "localhost", "127.0.0.1", "::1", "0.0.0.0", "::"}
LEAVES = "would leave the machine:"


def refuse(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse what names another host."""
    if event == "socket.getaddrinfo":
        asked = arguments[0]
    elif event in ("socket.connect", "socket.sendto"):
        asked = arguments[1][0] if isinstance(arguments[1], tuple) else None
    else:
        return
    name = asked.decode() if isinstance(asked, bytes) else asked
    if name not in HERE:
        print(LEAVES, event, name, file=sys.stderr, flush=True)
        raise PermissionError(f"{event} {name}")


if __name__ == "__main__":
    sys.addaudithook(refuse)
    main()
