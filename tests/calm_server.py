"""The app on a server that draws what grows soon and then when it is complete: run in place of ``streamlit``.

A browser that draws a growing picture ten times takes most of the seconds of a test that looks at it afterwards. How
it grows is looked at in `tests.test_next_step_browser`, on `tests.late_server`, and by the first visitor of an app that
starts as the README says.
"""

import sys

from streamlit.web.cli import main

PATIENCE = 5.0
"""Seconds that a run waits for what grows."""

if __name__ == "__main__":
    from pages.components import growing

    growing.AT_ONCE = PATIENCE
    sys.exit(main())
