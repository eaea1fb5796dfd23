"""One fit in a process of its own, timed and cut off: what ``bench.planner`` measures with.

A process shares the table with its parent, and a timer of its own clock ends it, so that nothing that is far slower
than the best so far is waited for.
"""

from __future__ import annotations

import math
import multiprocessing
import signal
import time
import warnings
from collections.abc import Callable
from typing import Any

__all__ = ["CLOCK", "CUT", "ONCE", "forked", "timed"]

#: Times the best at which a fit is cut off, and is not repeated.
CUT, SLOW = 2.0, 1.5
#: The first of these where the best takes more than ONCE seconds, of which the first fit counts.
CUT_LONG = 1.1
#: Seconds after which a fit is not repeated any more, and of one fit that is not repeated at all.
TOGETHER, ONCE = 0.25, 0.5
#: Seconds of fits that are timed together.
BATCH = 0.04
#: The clock, and the timer that ends a process: of the processor, or, with several threads, of the wall.
CLOCK: dict[str, Any] = {"now": time.process_time, "timer": signal.ITIMER_PROF}


def forked(work: Callable[[Any], None]) -> Any:
    """What a process that shares the table sends; None where it was ended."""
    here, there = multiprocessing.get_context("fork").Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=work, args=(there,))
    process.start()
    there.close()
    try:
        found = here.recv()
    except EOFError:  # its clock ended it: too many seconds of processor time
        found = None
    process.join()
    return found


def timed(pipe: Any, fit: Callable[[], Any], read: Callable[[Any], dict[str, Any]], best: float, cut: float) -> None:
    """Time a fit: cut off at ``cut`` times the best so far, and repeated only where it is about as fast."""
    warnings.simplefilter("ignore")
    if best < math.inf:
        cut = min(cut, CUT_LONG) if best > ONCE else cut
        signal.setitimer(CLOCK["timer"], max(cut * best, 2 * BATCH))  # ends the process
    now = CLOCK["now"]
    start = now()
    model = fit()
    first = now() - start
    signal.setitimer(CLOCK["timer"], 0)
    seconds: list[float] = [first] if first > ONCE else []
    many = 1
    while first <= ONCE and len(seconds) < 7 and sum(seconds) * many < TOGETHER:
        if len(seconds) > 1 and min(seconds) > SLOW * best:
            break
        start = now()
        for _ in range(many):
            model = fit()
        taken = now() - start
        if taken < BATCH:  # the clock of a process may tick seldom
            many *= 2 if taken > BATCH / 4 else 4
        else:
            seconds.append(taken / many)
    pipe.send({"seconds": min(seconds), **read(model)})
    pipe.close()
