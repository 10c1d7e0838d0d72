"""When the server takes up what a browser asks for."""

from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.scriptrunner import RerunData

BREATH = 0.002  # Seconds until the next look whether the last run has been told of


def wait_for_the_last_run() -> None:
    """Have every reader's session tell all of a run that has ended before it begins another one.

    Where a request comes between the two, Streamlit replaces what ran and throws away what it has not told yet: of a
    moved slider's whole run nothing was seen where a step was asked for as it ended.
    """
    begin = AppSession._create_scriptrunner

    def take_up(self: AppSession, asked: RerunData) -> None:
        if self._state is AppSessionState.SHUTDOWN_REQUESTED:
            return
        if self._scriptrunner is None:  # it has told that it is gone, and that comes last
            begin(self, asked)
        elif not self._scriptrunner.request_rerun(asked):
            self._event_loop.call_later(BREATH, take_up, self, asked)

    AppSession._create_scriptrunner = take_up  # type: ignore[assignment, method-assign]
