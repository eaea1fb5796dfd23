"""One progress and cancel hook for everything that takes time.

    estimator:  with using(self.progress, "PCA"): ...           # one hook for a whole fit
    solver:     with track("krylov", total=8) as step: step(1, passes=1)

``progress`` is None (a bar on a terminal once half a second has passed, silence elsewhere), False (silence),
True (a bar at once), or a function of an :class:`Event` that returns False, or raises, to stop the fit with
:class:`~ritz._core.errors.Cancelled`. The hook travels in a context variable, so solvers need no parameter
for it; the ``step`` that ``track`` gives may be called from any thread. rich is loaded only to draw.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

from ritz._core.callback import calling_user, hide_from_user
from ritz._core.errors import Cancelled, ParameterError
from ritz._core.threads import go_on

__all__ = ["Event", "Hook", "Progress", "Step", "resolve", "track", "using"]

PATIENCE = 0.5  # seconds before a bar appears by itself: shorter fits would only flicker
LEEWAY = 1e-6  # rounding of shares of a pass, and of the bytes counted with them


@dataclass(frozen=True)
class Event:
    """How far a fit is; ``passes``, ``bytes`` and ``seconds`` count from the start of the whole fit."""

    stage: str
    done: float
    total: float | None
    passes: float
    bytes: int
    seconds: float
    #: bytes that the whole fit will read: as planned, then to the end of each pass that comes on top; 0 where nothing
    #: is read from outside
    expected: float = 0.0
    beyond: bool = False  # whether more passes were needed than planned

    @property
    def left(self) -> float | None:
        """Seconds left at the pace so far; None where that cannot be said."""
        if not self.expected or not self.bytes:
            return None
        return self.seconds * max(self.expected - self.bytes, 0.0) / self.bytes


class Progress(Protocol):
    """What a user may hand in: a function that looks at an event; False asks to stop."""

    def __call__(self, event: Event, /) -> object:
        """Take note of ``event``."""


class Hook(Protocol):
    """What a fit talks to."""

    def __call__(self, event: Event, /) -> None:
        """Take note of ``event``, or raise Cancelled."""

    def close(self) -> None:
        """Put the terminal in order again."""


def resolve(progress: Progress | bool | None, title: str) -> Hook:
    """Turn the ``progress`` parameter of an estimator into a hook named ``title``."""
    if progress is None:
        outer = _current.get()
        if outer is not None:  # a fit inside a fit reports to the outer one, and is silent with it
            return outer.hook if isinstance(outer.hook, _Silent) else _Forward(outer.hook)
        return _Bar(title, PATIENCE) if _on_terminal() else _Silent()
    if progress is False:
        return _Silent()
    if progress is True:
        return _Bar(title, 0.0)
    if callable(progress):
        return _Function(progress, title)
    raise ParameterError(
        "expected progress to be None, True, False or a function of one event",
        received=repr(progress),
        hint="progress=lambda event: print(event)",
    )


@contextmanager
def using(progress: Hook | Progress | bool | None, title: str = "fit", expected: float = 0.0) -> Iterator[None]:
    """Make ``progress`` (a parameter's value, or a resolved hook) the current hook inside the block.

    ``expected``: bytes that will be read in all passes.
    """
    hook = progress if isinstance(progress, _HOOKS) else resolve(progress, title)
    token = _current.set(_Run(hook, expected=expected))
    try:
        yield
    finally:
        _current.reset(token)
        hook.close()


@contextmanager
def track(stage: str, total: float | None = None, hook: Hook | Progress | bool | None = None) -> Iterator[Step]:
    """Report one stage of work to ``hook``, or to the current hook when None is given.

    Examples
    --------
    >>> from ritz._core.progress import track
    >>> with track("gram", total=2, hook=lambda event: print(event.stage, event.done)) as step:
    ...     step(1, passes=0.5)
    ...     step(1, passes=0.5)
    gram 0.0
    gram 1.0
    gram 2.0
    """
    if hook is not None:
        with using(hook, stage), track(stage, total) as step:
            yield step
        return
    step = Step(stage, total, _current.get() or _Run(_Silent()))
    step(0)
    yield step


@dataclass
class _Run:
    """One fit: its hook and what it has cost so far."""

    hook: Hook
    expected: float = 0.0
    start: float = field(default_factory=time.perf_counter)
    passes: float = 0.0
    bytes: int = 0
    beyond: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def event(self, stage: str, done: float, total: float | None) -> Event:
        """Where the fit is now; a plan that was passed is drawn out to the end of the pass that runs."""
        if 0 < self.expected < self.bytes * (1 - LEEWAY) and self.passes:
            self.expected, self.beyond = self.bytes * _begun(self.passes) / self.passes, True
        seconds = time.perf_counter() - self.start
        return Event(stage, done, total, self.passes, self.bytes, seconds, self.expected, self.beyond)


class Step:
    """Counts the work of one stage; ``total`` may be changed while it runs."""

    def __init__(self, stage: str, total: float | None, run: _Run) -> None:
        self.stage, self.total, self.done = stage, total, 0.0
        self._run = run

    def __call__(self, count: float = 1, *, passes: float = 0, bytes: int = 0) -> None:
        """Add ``count`` to what is done and, where it applies, passes over the data and bytes read."""
        go_on()
        run = self._run
        if isinstance(run.hook, _Silent):
            return
        with run.lock:
            self.done += count
            run.passes += passes
            run.bytes += bytes
            event = run.event(self.stage, self.done, self.total)
        run.hook(event)


class _Silent:
    def __call__(self, event: Event, /) -> None:
        pass

    def close(self) -> None:
        pass


class _Forward:
    """Passes on to a hook that somebody else closes."""

    def __init__(self, hook: Hook) -> None:
        self._hook = hook

    def __call__(self, event: Event, /) -> None:
        self._hook(event)

    def close(self) -> None:
        pass


class _Function:
    def __init__(self, function: Callable[[Event], object], title: str) -> None:
        self._function, self._title = function, title

    def __call__(self, event: Event, /) -> None:
        try:
            with calling_user():
                answer = self._function(event)
        except Cancelled:
            raise
        except Exception as error:
            raise self._cancelled(event, f"{type(error).__name__}: {error}") from error
        # NumPy's False is not Python's; None and other falsy answers go on.
        if type(answer).__name__ in {"bool", "bool_"} and not answer:
            raise self._cancelled(event, "False")

    def _cancelled(self, event: Event, answer: str) -> Cancelled:
        return Cancelled(
            f"{self._title} was stopped by its progress function in stage {event.stage!r} after {event.seconds:.1f} s",
            received=answer,
        )

    def close(self) -> None:
        pass


class _Bar:
    """A bar of rich on stderr, drawn from the first event after ``patience`` seconds on."""

    def __init__(self, title: str, patience: float) -> None:
        self._title, self._patience = title, patience
        self._lock = threading.RLock()  # a signal may come while it draws, and its handler fit
        self._display: Any = None
        self._task: Any = None
        self._blocked = False

    def __call__(self, event: Event, /) -> None:
        if event.seconds < self._patience or self._blocked:
            return
        with self._lock, self._giving_up():
            if self._display is None and not self._open():
                return
            text, done, total = f"{self._title}: {event.stage}", event.done, event.total
            if event.expected:
                done, total = float(event.bytes), max(event.expected, float(event.bytes))
            self._display.update(self._task, description=text + _reading(event), completed=done, total=total)

    @contextmanager
    def _giving_up(self) -> Iterator[None]:
        """A terminal that is gone (closed, a broken pipe) ends the bar, not the fit."""
        try:
            yield
        except (OSError, ValueError):
            display, self._display, self._blocked = self._display, None, True
            with suppress(Exception):
                display.stop()  # gives the program its stdout and stderr back

    def _open(self) -> bool:
        from rich.console import Console
        from rich.errors import LiveError
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Display

        class Screen(Console):
            def on_broken_pipe(self) -> None:
                raise  # rich would end the program, and send its stdout to nowhere

        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        self._display = Display(*columns, console=Screen(stderr=True), transient=True)
        try:
            self._display.start()
        except LiveError:  # the program draws something of its own: leave it alone
            self._blocked, self._display = True, None
            return False
        self._task = self._display.add_task(self._title)
        return True

    def close(self) -> None:
        with self._lock, self._giving_up():
            if self._display is not None:
                self._display.stop()
                self._display = None


def _reading(event: Event) -> str:
    """What was read so far, in words: bytes, passes, time left."""
    if not event.expected:
        if event.passes or event.bytes:
            return f", pass {event.passes:.3g}" if event.passes else f", {event.bytes / 1e6:,.0f} MB"
        return f" {_count(event.done)}" + (f" of {_count(event.total)}" if event.total else "")
    more = " (more than planned)" if event.beyond else ""
    text = f", pass {_begun(event.passes)}{more}, {_sizes(event.bytes, event.expected)}"
    return text + (f", {_clock(event.left)} left" if event.left else "")


def _begun(passes: float) -> int:
    """Number of the pass that runs; a sum of shares that is short of a whole one by rounding is whole."""
    return max(1, math.ceil(passes * (1 - LEEWAY)))


def _count(number: float) -> str:
    return f"{number:,.0f}" if number >= 1000 else f"{number:g}"


def _sizes(done: float, total: float) -> str:
    return f"{done / 1e9:.2f} of {total / 1e9:.2f} GB" if total >= 1e9 else f"{done / 1e6:.0f} of {total / 1e6:.0f} MB"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


_HOOKS = (_Silent, _Forward, _Function, _Bar)
_current: ContextVar[_Run | None] = ContextVar("ritz_progress", default=None)
hide_from_user(_current, _Run(_Silent()))


def _on_terminal() -> bool:
    """Only the main thread of the main process draws by itself: workers of a pool share one terminal."""
    if threading.current_thread() is not threading.main_thread():
        return False
    if multiprocessing.current_process().name != "MainProcess" or os.environ.get("TERM") == "dumb":
        return False
    try:
        return bool(sys.stderr.isatty())
    except (AttributeError, ValueError):  # stderr is None under pythonw, or was closed
        return False
