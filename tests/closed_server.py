"""Streamlit on a machine without a way out: ``python -m tests.closed_server run app.py``.

A connection to another host, or a look-up of its name, is refused and named.
"""

import sys

from streamlit.web.cli import main

LOCAL_HOSTS = {None, "", "localhost", "127.0.0.1", "::1", "0.0.0.0", "::"}
LEAVES = "would leave the machine:"


def refuse(event: str, arguments: tuple[object, ...]) -> None:
    """Audit hook that refuses what names another host."""
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event in ("socket.connect", "socket.sendto"):
        host = arguments[1][0] if isinstance(arguments[1], tuple) else None
    else:
        return
    name = host.decode() if isinstance(host, bytes) else host
    if name not in LOCAL_HOSTS:
        print(LEAVES, event, name, file=sys.stderr, flush=True)
        raise PermissionError(f"{event} {name}")


if __name__ == "__main__":
    sys.addaudithook(refuse)
    main()
