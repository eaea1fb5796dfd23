"""How many threads BLAS may use, set in one place for the whole process.

    limit in force = the smallest that any running scope asks for;   no scope: what it was before the first
    freed          = as if the scopes that this thread has begun before were not there, unless one of them is held

BLAS knows one number for all threads, so scopes that overlap in several threads must not each save and restore it:
whoever ends last would restore what another had set. Here the first one saves and the last one restores, also on error.
A forked child keeps the scopes of the thread that forked; the others were left behind in the parent.
"""

from __future__ import annotations

import os
import threading
from contextlib import nullcontext
from typing import Any

__all__ = [
    "ALONE", "THREADED", "beside_lanes", "freed_blas", "freed_blas_for", "has_small_kernels", "held_blas",
    "limited_blas", "single_threaded_blas", "small_blas",
]  # fmt: skip

#: Multiplications of a decomposition, n·d·min(n, d), up to which one thread does the work: a report about 250×300
#: numbers, drawn again a hundred times, took 42 s of processor time in two threads and 5 in one.
SMALL = 2e9
#: Multiplications below which BLAS takes one thread by itself, and of a fit up to which it is told to. Threads of BLAS
#: wait for each other by spinning: two of them save nothing on a quiet machine, and lose hundreds of milliseconds on a
#: busy one. Milliseconds of the wall on two cores, threads as they come and one, the best on a quiet machine and the
#: median with a load of 5: SVD(3) of 2,000×100 1.8 and 1.7, 172 and 7; all of 10,000×100 7.7 and 6.5, 285 and 18;
#: SVD(50) of 5,000×500 67 and 51, 1,750 and 118; KernelPCA(5) of 1,000 rows 29 and 20, 2,776 and 53.
THREADED, ALONE = 2e5, 2e9
#: Columns of a matrix from which its decomposition takes the threads of BLAS: in one thread all
#: eigenvectors of 1,500 take 0.44 s, eigenvalues alone or ten vectors 0.16; of 1,000 0.14 and 0.05.
FREED = 1_500
#: No limit.
FREELY = 1 << 30


#: Processors for which OpenBLAS has kernels that multiply small matrices as they lie.
SMALL_KERNELS = ("SkylakeX", "Cooperlake", "SapphireRapids")


class limited_blas:
    """Limit BLAS to ``threads`` threads while the block runs, or to fewer where another scope asks for that.

    Within a scope of the same thread that asks for as few there is nothing to do: fits open a dozen of them.
    """

    __slots__ = ("_scope", "_threads")

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._scope: _Scope | None = None

    def __enter__(self) -> None:
        if not _scopes.within(self._threads):
            self._scope = _scopes.enter(self._threads)

    def __exit__(self, *_: object) -> None:
        if self._scope is not None:
            _scopes.leave(self._scope)


class held_blas(limited_blas):
    """A limit that nothing within frees: of fits to which more threads bring little, and cost much on a busy machine.

    (PCA() of 1,500×1,100 on two cores with a load of 5: 0.57 s held, 1.5 to 16 s where its decomposition is freed.)
    """

    __slots__ = ()

    def __enter__(self) -> None:
        if not _scopes.held_here():
            self._scope = _scopes.enter(self._threads)
            self._scope.held = True


class freed_blas(limited_blas):
    """Give BLAS back its threads while the block runs, whatever limit this thread has asked for, unless that is held;
    limits of other threads hold.

    For what takes long in one call, such as a decomposition of more than FREED columns: a call leaves the threads of
    BLAS spinning for about 0.1 s, each on a core that the lanes of the next pass would need. (SVD(30) of 4,000×4,000 on
    two cores: 0.39 s with threads that spin, 0.26 without.)
    """

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(FREELY)

    def __enter__(self) -> None:
        if _scopes.limited_here():
            self._scope = _scopes.enter(self._threads)


def freed_blas_for(columns: int) -> Any:
    """``freed_blas`` for a decomposition of so many columns, where it is long enough."""
    return freed_blas() if columns >= FREED else nullcontext()


def single_threaded_blas() -> Any:
    """Limit BLAS to one thread per caller while the block runs."""
    return limited_blas(1)


def small_blas(n: float, d: float) -> Any:
    """Limit BLAS to one thread while a table of n rows and d columns is worked on, where that is small."""
    return held_blas(1) if float(n) * d * min(n, d) <= SMALL else nullcontext()


def beside_lanes(work: float) -> Any:
    """One thread for so many multiplications, more than THREADED, beside which threads of BLAS would spin: held where
    they are few, such as those of a state that is solved when somebody asks for it.
    """
    return held_blas(1) if work <= ALONE else limited_blas(1)


def has_small_kernels() -> bool:
    """Whether BLAS multiplies small matrices by kernels of their own, faster than parts of large ones."""
    return _scopes.has_small_kernels()


class _Scope:
    __slots__ = ("held", "thread", "threads")

    def __init__(self, threads: int) -> None:
        self.threads, self.thread, self.held = threads, threading.get_ident(), False


class _Scopes:
    """All scopes that run, and what the first of them found."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal may come in the middle, and its handler fit
        self._running: list[_Scope] = []
        self._controller: Any = None
        self._found: list[tuple[Any, int]] = []  # libraries whose limit was changed, and what to restore
        self._in_force: int | None = None
        self._small_kernels: bool | None = None

    def has_small_kernels(self) -> bool:
        if self._small_kernels is None:
            self._prepare()
            found = [getattr(library, "architecture", None) for library in self._controller]
            self._small_kernels = bool(found) and all(name in SMALL_KERNELS for name in found)
        return self._small_kernels

    def within(self, threads: int) -> bool:
        """Whether a scope that began in this thread, and ends after what begins now, asks for as few."""
        return bool(self._running) and self._least(threading.get_ident()) <= threads

    def limited_here(self) -> bool:
        """Whether a scope of this thread limits anything, and none is held."""
        return bool(self._running) and self._least(threading.get_ident()) < FREELY and not self.held_here()

    def held_here(self) -> bool:
        """Whether a scope of this thread is held."""
        here = threading.get_ident()
        return any(scope.held and scope.thread == here for scope in tuple(self._running))

    def _least(self, thread: int | None = None) -> int:
        """The smallest limit of all running scopes, or of those of one thread."""
        limits: dict[int, int] = {}
        for scope in tuple(self._running):
            before = limits.get(scope.thread, FREELY)
            limits[scope.thread] = FREELY if scope.threads == FREELY else min(before, scope.threads)
        return min(limits.values(), default=FREELY) if thread is None else limits.get(thread, FREELY)

    def enter(self, threads: int) -> _Scope:
        self._prepare()
        scope = _Scope(threads)
        with self._lock:
            try:
                self._running.append(scope)
                self._keep()
            except BaseException:  # an interrupt: nobody will leave this scope
                self.leave(scope)
                raise
        return scope

    def leave(self, scope: _Scope) -> None:
        with self._lock:
            try:
                self._without(scope)
            except BaseException:  # an interrupt: what is left to do is done first
                self._without(scope)
                raise

    def _without(self, scope: _Scope) -> None:
        """Give back what the scopes that still run do not ask for; may be done twice."""
        self._running[:] = [other for other in self._running if other is not scope]
        self._keep()

    def _keep(self) -> None:
        """Set what the running scopes ask for, or what was before them."""
        if (least := self._least()) < FREELY:
            if least != self._in_force:
                self._set(least)
            return
        while self._found:  # one is forgotten once it has been restored
            library, before = self._found[-1]
            _tell(library, before)
            del self._found[-1]
        self._in_force = None

    def _prepare(self) -> None:
        """Find the BLAS libraries; not under the lock, for imports have locks of their own. Twice does no harm."""
        if self._controller is None:
            import scipy.linalg.blas  # noqa: F401  (SciPy brings a BLAS of its own that must be limited as well)
            from threadpoolctl import ThreadpoolController

            self._controller = ThreadpoolController().select(user_api="blas").lib_controllers

    def _set(self, threads: int) -> None:
        """Ask every library itself: threadpoolctl's scopes look at all of them first, which takes 0.1 ms."""
        known = {id(library) for library, _ in self._found}
        for library in self._controller:
            before = library.get_num_threads()
            if before is None or before == threads:  # one that does not tell is left alone
                continue
            if id(library) not in known:
                self._found.append((library, before))
            _tell(library, threads)
        self._in_force = threads

    def after_fork(self) -> None:
        """Forget what other threads were doing; limits are restored by the next scope to end, not while forking."""
        self._lock = threading.RLock()
        self._running = [scope for scope in self._running if scope.thread == threading.get_ident()]


def _tell(library: Any, threads: int) -> None:
    """Set the threads of a library, from any thread: since 3.8 threadpoolctl passes over all but the first thread that
    has set any, for its scopes do not know of each other. These do.
    """
    getattr(library, "_real_set_num_threads", library.set_num_threads)(threads)


_scopes = _Scopes()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_scopes.after_fork)
