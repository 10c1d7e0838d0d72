"""The app on a server where two requests always meet: run in place of ``streamlit``, with its arguments.

A full run that is asked for in the last moment of a step, and a step that is asked for in the last moment of a full
run, come once in a thousand times on a quiet machine. Here every step waits with its end until something is asked for,
and whoever asks for a step while something runs is heard once that has ended and before its messages are sent.
"""

import sys
import time
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType
from streamlit.web.cli import main

PATIENCE = 0.4
"""Seconds for which a step waits with its end."""

_finish, _hear = ScriptRunner._on_script_finished, AppSession.handle_backmsg


def finish_late(self: ScriptRunner, ctx: Any, *about: Any) -> None:
    end = time.monotonic() + PATIENCE
    while ctx.fragment_ids_this_run and self._requests._state is ScriptRequestType.CONTINUE and time.monotonic() < end:
        time.sleep(0.01)
    _finish(self, ctx, *about)


def hear_late(self: AppSession, message: BackMsg) -> None:
    runner = self._scriptrunner
    while message.rerun_script.fragment_id and runner and runner._requests._state is not ScriptRequestType.STOP:
        time.sleep(0.001)
    _hear(self, message)


if __name__ == "__main__":
    ScriptRunner._on_script_finished = finish_late  # type: ignore[assignment, method-assign]
    AppSession.handle_backmsg = hear_late  # type: ignore[assignment, method-assign]
    sys.exit(main())
