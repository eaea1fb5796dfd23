"""The process that Spark forks Python workers from; their search for garbage after a task leaves out what is to stay.

Of a worker's time nine tenths went into it: a task takes milliseconds, a search among all that NumPy, SciPy, Arrow and
Ritz have loaded far more. What is alive after a search is not looked at in the next one.
"""

from __future__ import annotations

import gc
from types import SimpleNamespace


def collect() -> None:
    """Search what came since the last time."""
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    from pyspark import daemon

    daemon.gc = SimpleNamespace(collect=collect)
    daemon.manager()
