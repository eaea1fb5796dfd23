"""Engines: where rows are, behind one contract. One call makes row blocks, or rows in memory, of whatever is handed in.

    adopt(X)       array, CSR, frame, Table, query, iterator, collection   →   rows in memory, or row blocks
    engine_of(X)   the first in the list that takes X: those registered, device, dask, spark, stream, memory

Nobody outside this folder knows one engine from another. An engine is one folder with an ``ENGINE``, named in
``LISTED``, or an object handed to ``register``. Its library loads when something is handed in that only this library
could have made.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ritz._core.errors import InputError, ParameterError
from ritz._core.imports import module_of
from ritz.data.engines.refused import translated
from ritz.data.engines.request import Asked
from ritz.data.words import describe

if TYPE_CHECKING:
    from ritz.data.passes.blocks import RowBlocks

__all__ = [
    "Asked", "Cluster", "Columns", "Engine", "adopt", "engaged", "engaged_cluster", "engine_at", "engine_of", "engines",
    "register", "registered", "unregister", "weighed",
]  # fmt: skip

#: The engines of Ritz in the order in which they are asked, each with the module that holds its ENGINE.
LISTED = {
    "device": "ritz.data.engines.device",
    "dask": "ritz.data.engines.dask",
    "spark": "ritz.data.engines.spark",
    "stream": "ritz.data.engines.stream",
    "memory": "ritz.data.engines.memory",
}


@dataclass(frozen=True)
class Columns:
    """What is known of rows without computing anything; the number of rows may be NaN."""

    shape: tuple[float, int]
    dtype: np.dtype[Any]
    names: list[str] | None = None


class Cluster:
    """Machines that read files themselves, once they were asked to by their address; see ``engaged``."""

    def rows(self, source: Any, columns: Any = None) -> RowBlocks:
        """Row blocks of a source, or of some of its columns by position."""
        raise NotImplementedError

    def census(self, source: Any, choice: Any, weights: Any = None) -> Any:
        """What a source holds in the columns of a choice (``encode/vocabulary.py``)."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of the machines."""


class Engine:
    """Base of engines. ``name``, ``takes`` and ``adopt`` are needed; ``columns`` and ``map_rows`` where it is lazy.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> from ritz.data.engines import Engine, engine_of, register, unregister
    >>> class Halves(Engine):
    ...     name = "halves"
    ...     def takes(self, X): return isinstance(X, tuple) and len(X) == 2
    ...     def adopt(self, X, asked): return np.concatenate(X)
    >>> register(Halves())
    >>> rows = np.random.default_rng(0).standard_normal((10, 3))
    >>> engine_of((rows[:4], rows[4:])).name, ritz.PCA(2).fit((rows[:4], rows[4:])).n_samples_
    ('halves', 10)
    >>> unregister("halves")
    """

    name: ClassVar[str]
    #: Whether coordinates are given as a collection of its own, which is computed when somebody asks for it.
    lazy: ClassVar[bool] = False
    #: Whether what it takes is known to this engine alone: ``ritz.read`` makes no Table of it.
    foreign: ClassVar[bool] = True
    #: The library whose collections it takes: before that is loaded there are none, and the engine is not asked.
    library: ClassVar[str | None] = None
    #: How its addresses begin, as in ``--engine dask://host:port``; none where it is not called by an address.
    schemes: ClassVar[tuple[str, ...]] = ()

    def takes(self, X: Any) -> bool:
        """Whether ``X`` is a collection of this engine; asked of everything, so it loads no library."""
        raise NotImplementedError

    def adopt(self, X: Any, asked: Asked) -> Any:
        """Row blocks of ``X``, or its rows as an ndarray or canonical CSR.

        ``asked.room`` are the bytes that may be taken in this process; ``asked.charge`` is told what was. The columns
        of a foreign engine are recorded and compared by whoever called.
        """
        raise NotImplementedError

    def columns(self, X: Any) -> Columns:
        """Shape, dtype and names, without reading rows where that can be."""
        rows = self.adopt(X, Asked())
        return Columns(rows.shape, np.dtype(rows.dtype), getattr(rows, "names", None))

    def map_rows(self, X: Any, function: Callable[[Any], Any], width: int, dtype: Any, names: Any = None) -> Any:
        """``function`` of all rows, (n, width), as a lazy collection.

        ``function`` gets some rows as an ndarray or CSR matrix and gives as many rows of ``width`` numbers; ``names``
        are those of the columns, for messages.
        """
        raise NotImplementedError

    def named(self, Z: Any, names: Sequence[str]) -> Any:
        """What ``map_rows`` gave, with the names of a model's components; as it is where columns have no names."""
        return Z

    def computed(self, Z: Any) -> Any:
        """What ``map_rows`` gave, as an array (n, width)."""
        return np.asarray(Z)

    def among(self, X: Any, names: Sequence[str] | None) -> Any:
        """``X`` with the columns of a fit alone, where further ones may go along; None where these have no names."""
        return X

    def weighed(self, X: Any, name: str, memory: Any = None) -> tuple[Any, Any]:
        """``X`` without the column ``name``, and the weights in it; both as they are where columns have no names."""
        return X, name

    def opened(self, X: Any, memory: Any = None) -> Any:
        """Columns of ``X`` to be looked at and encoded (``encode/openings.py``), for methods that take categories."""
        raise InputError(
            f"a table of columns: the engine {self.name} has rows of numbers only",
            received=describe(X),
            hint="give a frame or a Table; PCA, SVD and CA take it as it is",
        )

    def labels(self, X: Any) -> list[Any] | None:
        """Names of the rows, or None."""
        return None

    def outside(self, X: Any) -> bool:
        """Whether the rows stay outside this process, so that every pass over them costs."""
        return True

    def connect(self, address: str) -> Cluster:
        """The cluster at an address of one of ``schemes``."""
        raise NotImplementedError


# which engine

#: Engines that ``register`` added.
registered: list[Engine] = []
_found: dict[str, Engine] = {}


def _listed() -> tuple[Engine, ...]:
    """The engines of Ritz; one whose import was interrupted, by a signal handler that fits, say, is asked later."""
    if len(_found) < len(LISTED):
        for name, module in LISTED.items():
            if name not in _found and (engine := getattr(module_of(module), "ENGINE", None)) is not None:
                _found[name] = engine
    return tuple([_found[name] for name in LISTED if name in _found])


def engines() -> tuple[Engine, ...]:
    """All engines, in the order in which they are asked.

    Examples
    --------
    >>> from ritz.data.engines import engines
    >>> [engine.name for engine in engines()]     # asked in this order; the last takes everything
    ['device', 'dask', 'spark', 'stream', 'memory']
    """
    return (*registered, *_listed())


def engine_of(X: Any) -> Engine:
    """The engine that takes ``X``.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> from ritz.data.engines import engine_of
    >>> np.save("rows.npy", np.ones((100, 3)))
    >>> engine_of(np.ones((100, 3))).name, engine_of(ritz.read("rows.npy")).name
    ('memory', 'stream')
    """
    if not registered and _at_hand(X) and _listed() and (memory := _found.get("memory")) is not None:
        return memory
    for engine in engines():
        library = getattr(engine, "library", None)
        if (library is None or library in sys.modules) and engine.takes(X):
            return engine
    raise AssertionError("the engine of rows in memory takes everything")


def _at_hand(X: Any) -> bool:
    """Whether its type tells that only memory takes ``X``: arrays, sparse matrices, frames of pandas and polars."""
    kind = type(X)
    if kind is np.ndarray:
        return True
    root = kind.__module__.partition(".")[0]
    return (root in ("pandas", "polars") and kind.__name__ == "DataFrame") or (root == "scipy" and hasattr(X, "tocsr"))


def register(engine: Engine) -> None:
    """Add an engine to the list, before those of Ritz.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.data.engines import Engine, engine_of, register, unregister
    >>> class Columns(Engine):
    ...     name = "columns"
    ...     def takes(self, X): return isinstance(X, dict)
    ...     def adopt(self, X, asked): return np.column_stack(list(X.values()))
    >>> register(Columns())
    >>> engine_of({"a": [1.0, 2.0], "b": [3.0, 5.0]}).name
    'columns'
    >>> unregister("columns")
    """
    lacking = [name for name in ("name", "takes", "adopt", "map_rows", "opened") if not hasattr(engine, name)]
    if lacking or isinstance(engine, type):
        raise ParameterError(
            "an engine is an object that keeps the contract of ritz.data.engines.Engine",
            received=f"a class, {engine.__name__}" if isinstance(engine, type) else f"one without {lacking[0]}",
            hint="derive from Engine, and hand in an instance; ritz.testing.check_engine tells what is wrong with it",
        )
    if engine.name in {other.name for other in engines()}:
        raise ParameterError(
            "every engine needs a name of its own",
            received=repr(engine.name),
            hint=f"unregister({engine.name!r}) first, unless it is one of Ritz's own: {', '.join(LISTED)}",
        )
    registered.insert(0, engine)


def unregister(name: str) -> None:
    """Take an engine that ``register`` added off the list.

    Examples
    --------
    >>> from ritz.data.engines import engines, unregister
    >>> unregister("not there")                   # nothing happens
    >>> len(engines())
    5
    """
    registered[:] = [engine for engine in registered if engine.name != name]


def adopt(
    X: Any, estimator: Any = None, *, reset: bool = True, accept_sparse: bool = True, memory: Any = None
) -> Any:  # fmt: skip
    """Rows of whatever is handed in, checked: an ndarray or CSR (n, d), or row blocks for what stays outside memory.

    Parameters
    ----------
    X : array-like, sparse, data frame, Table, query, iterator of batches, row blocks, or a collection of an engine
    estimator : object, optional
        Gets ``n_features_in_`` and ``feature_names_in_`` when ``reset``; is compared with otherwise.
    reset : bool
        True in ``fit``, False in ``transform``.
    accept_sparse : bool
        Whether a sparse ``X`` may pass.
    memory : str, int or None
        Memory limit; that of the estimator where there is one.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> from ritz.data.engines import adopt
    >>> np.save("rows.npy", np.random.default_rng(0).standard_normal((1000, 3)))
    >>> [type(adopt(ritz.read("rows.npy", memory=memory))).__name__ for memory in ("1GB", "20kB")]
    ['ndarray', 'StreamBlocks']
    """
    asked = Asked(estimator, reset=reset, accept_sparse=accept_sparse, memory=memory)
    asked.charge(0)
    try:
        engine = engine_of(X)
        rows = engine.adopt(X, asked)
        return asked.recorded(rows) if engine.foreign else rows
    except InputError:
        raise
    except (ValueError, TypeError) as error:
        raise translated(error, X) from error


def weighed(X: Any, sample_weight: Any, memory: Any = None) -> tuple[Any, Any]:
    """Rows and their weights; weights that are the name of a column are taken out of a collection that knows these."""
    if not isinstance(sample_weight, str):
        return X, sample_weight
    rows, weights = engine_of(X).weighed(X, sample_weight, memory)
    return rows, weights


# clusters that read files

_engaged: ContextVar[Cluster | None] = ContextVar("ritz_engine", default=None)


def engine_at(address: str) -> Engine:
    """The engine that an address is for, by its scheme; one that nobody knows goes to the last that has addresses."""
    scheme = address.partition("://")[0]
    able = [engine for engine in engines() if engine.schemes]
    return next((engine for engine in able if scheme in engine.schemes), able[-1])


@contextmanager
def engaged(address: str | None) -> Iterator[Cluster | None]:
    """Inside the block, files are read by the cluster at ``address``; None changes nothing."""
    if address is None:
        yield None
        return
    cluster = engine_at(address).connect(address)
    token = _engaged.set(cluster)
    try:
        yield cluster
    finally:
        _engaged.reset(token)
        cluster.close()


def engaged_cluster() -> Cluster | None:
    """The cluster that reads files, if one was asked for."""
    return _engaged.get()
