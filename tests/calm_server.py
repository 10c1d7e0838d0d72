"""The app on a server that draws what grows soon and then when it is complete: run in place of ``streamlit``.

A browser that draws a growing picture ten times takes most of the seconds of a test that looks at it afterwards. How
it grows is looked at in `tests.test_next_step_browser`, on `tests.late_server`, and by the first visitor of an app that
starts as the README says.
"""

import sys
from functools import partial

from streamlit.web.cli import main

from dpviz.claims.liu import stream_liu_binary
from dpviz.claims.published import Effort

PATIENCE = 5.0
"""Seconds that a run waits for what grows."""

FEW = Effort(repetitions=60)
few_of_liu = partial(stream_liu_binary, FEW)
"""Liu's table without its long sums, which took 20 s wherever it was shown; `tests.test_liu_binary` has them."""

if __name__ == "__main__":
    from dpviz.claims import charest
    from pages.compare_synthesizers import printed
    from pages.components import growing

    growing.AT_ONCE = PATIENCE
    vars(printed)["stream_liu_binary"] = few_of_liu
    vars(charest)["FIGURE_1_EPSILONS"] = charest.FIGURE_1_EPSILONS[::4]  # `tests.test_coverage_sections` has them all
    sys.exit(main())
