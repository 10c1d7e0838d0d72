"""What is set once per process, so that many readers can share it."""

import gc
import importlib
from functools import cache

from pages.components.navigation import PAGES


@cache
def tune_process() -> None:
    """Keep the imports out of every collection, and look for garbage less often."""
    for page in PAGES:
        importlib.import_module(page.module)  # loaded before freezing
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)  # a run makes some thousand objects: at 700 it looked for garbage several times in each
