"""``check_engine``: any engine of rows against the contract, on tables whose sums are exact however they are cut.

    x_ij ∈ 2⁻³ℤ, |x_ij| < 2⁶        Σx and Σwx of such numbers do not round: no cut, merge or lane can change them

Every row once, in row order, at its place; the same bits twice; rows of weight zero as zeros; a key that no cut
changes; errors as themselves; coordinates that are lazy where the engine says so; and a fit that verifies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError
from ritz.data.engines import Asked, Engine, adopt, engine_of, engines, register, unregister
from ritz.data.passes.accumulate import Sums
from ritz.data.passes.blocks import Block, MemoryBlocks, RowBlocks, mapped
from ritz.data.passes.keys import rows_key
from ritz.methods.pca import PCA
from ritz.methods.plan import plan
from ritz.testing.angles import largest_sine

__all__ = ["check_engine"]

#: Size of the tables, and two ways to cut them: many pieces of a few rows, one of them empty, and two.
N, D = 240, 5
CUTS = ([40, 1, 59, 0, 80, 60], [100, 140])
#: Difference of an eigenvalue from that of a fit in memory, in units of the largest.
SAME = 1e-12

Make = Callable[[Any, list[int]], Any]


def check_engine(engine: Engine, make: Make, *, sparse: bool = True, seed: int = 0) -> None:
    """Raise AssertionError, saying what differs, unless ``engine`` keeps the contract of engines.

    Parameters
    ----------
    engine
        The engine; it need not be registered.
    make : (rows, lengths) → collection
        A collection of the engine from an array, or a CSR matrix, cut into pieces of so many rows; some may be empty.
    sparse
        Whether ``make`` takes CSR matrices.
    seed
        Seed of the numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.data.engines import Engine
    >>> from ritz.testing import check_engine
    >>> class Lists(Engine):
    ...     name = "lists"
    ...     def takes(self, X): return isinstance(X, tuple)
    ...     def adopt(self, X, asked): return np.concatenate(X)
    >>> try:
    ...     check_engine(Lists(), lambda rows, lengths: (rows[::-1],), sparse=False)  # the rows come backwards
    ... except AssertionError:
    ...     print("not the rows that went in")
    not the rows that went in
    """
    rng = np.random.default_rng(seed)
    rows = rng.integers(-400, 400, (N, D)) / 8.0
    made = [make(rows, lengths) for lengths in CUTS]
    _takes(engine, made[0])
    keys = set()
    for X, lengths in zip(made, CUTS, strict=True):
        blocks = _blocks(engine, X)
        _described(engine, X, rows, blocks)
        _passes(blocks, rows)
        keys.add(rows_key(blocks))
        _absent(engine, make, rows, lengths)
    assert keys == {rows_key(MemoryBlocks(rows))}, "key: it depends on how rows are cut, or differs from that of memory"
    narrow = rows.astype(np.float32)
    blocks = _blocks(engine, make(narrow, CUTS[0]))
    assert blocks.dtype == np.float32, f"dtype: float32 rows are announced as {blocks.dtype}"
    _passes(blocks, narrow)
    if sparse:
        _sparse(engine, make, rng)
    _errors(_blocks(engine, made[0]))
    if engine.lazy:
        _lazy(engine, made[0], rows)
    _fits(engine, made[0], rows)


def _blocks(engine: Engine, X: Any) -> RowBlocks:
    blocks: RowBlocks = engine.adopt(X, Asked())
    for name in ("map_reduce", "map_rows", "each", "sample", "shape", "dtype", "sparse", "nbytes", "stored"):
        assert hasattr(blocks, name), f"adopt: row blocks without {name}"
    return blocks


def _takes(engine: Engine, X: Any) -> None:
    from scipy.sparse import csr_array

    assert isinstance(engine.name, str), f"name: {engine.name!r} is no text"
    assert engine.name, "name: it is empty"
    assert engine.takes(X) is True, f"takes: not its own collection, {type(X).__name__}"
    for other in (np.eye(2), csr_array(np.eye(2)), [[1.0, 2.0]], "rows.csv", None, 1, object(), iter(())):
        assert not engine.takes(other), f"takes: {type(other).__name__}, which is not its own"


def _described(engine: Engine, X: Any, rows: NDArray[Any], blocks: RowBlocks) -> None:
    """What is known without a pass: shape, dtype, names, sizes."""
    columns = engine.columns(X)
    assert tuple(blocks.shape) == rows.shape, f"shape: {blocks.shape}, expected {rows.shape}"
    assert blocks.dtype == rows.dtype, f"dtype: {blocks.dtype}, expected {rows.dtype}"
    assert blocks.sparse is False, "sparse: dense rows are announced as sparse"
    assert blocks.stored == rows.size, f"stored: {blocks.stored}, expected {rows.size}"
    assert blocks.nbytes > 0, f"nbytes: {blocks.nbytes}"
    names = getattr(blocks, "names", None)
    assert names is None or (len(names) == D and len(set(names)) == D), f"names: {names!r} for {D} columns"
    n, d = columns.shape
    assert d == D, f"columns: {d} columns, expected {D}"
    assert np.isnan(n) or n == len(rows), f"columns: {n} rows, expected {len(rows)}, or NaN where nobody knows"
    assert columns.dtype == rows.dtype, f"columns: dtype {columns.dtype}, expected {rows.dtype}"
    assert columns.names == names, f"columns: names {columns.names!r}, but adopt gives {names!r}"
    labels = engine.labels(X)
    assert labels is None or len(labels) == len(rows), f"labels: {len(labels or ())} for {len(rows)} rows"


# the verbs


class _Seen(Sums):
    """Every block as it came, and sums that do not round."""

    SUMS, LISTS = ("total", "weighted"), ("starts", "blocks", "csr")

    def __init__(self) -> None:
        self.total, self.weighted = np.zeros(D), np.zeros(D)
        self.starts: list[int] = []
        self.blocks: list[NDArray[Any]] = []
        self.csr: list[bool] = []

    def feed(self, block: Block, w: NDArray[np.float64]) -> None:
        """Note a block."""
        dense = np.array(_dense(block.values))
        self.starts.append(block.start)
        self.blocks.append(dense)
        self.csr.append(hasattr(block.values, "indptr"))
        self.total += dense.sum(axis=0, dtype=np.float64)
        self.weighted += w[block.rows] @ dense.astype(np.float64)


def _seen(blocks: RowBlocks, w: NDArray[np.float64]) -> _Seen:
    return blocks.map_reduce(_Seen, lambda seen, block: seen.feed(block, w))


def _passes(blocks: RowBlocks, rows: NDArray[Any]) -> None:
    """Both verbs, ``each``, ``mapped`` and ``sample`` against the rows themselves."""
    w = np.arange(len(rows), dtype=np.float64)
    first, again = _seen(blocks, w), _seen(blocks, w)
    _in_order("map_reduce", list(zip(first.starts, first.blocks, strict=True)), rows)
    assert set(first.csr) <= {bool(blocks.sparse)}, "sparse: blocks are not of the kind that is announced"
    kinds = {block.dtype for block in first.blocks}
    assert kinds <= {np.dtype(blocks.dtype)}, f"dtype: blocks of {kinds}, announced as {blocks.dtype}"
    wide = rows.astype(np.float64)
    _equal("map_reduce: Σx", first.total, wide.sum(axis=0))
    _equal("map_reduce: Σwx, with an array of one weight a row", first.weighted, w @ wide)
    _in_order("map_reduce, a second time", list(zip(again.starts, again.blocks, strict=True)), rows)
    V = np.arange(2.0 * D).reshape(D, 2)
    _equal("map_rows", blocks.map_rows(_Product(V), np.full((len(rows), 2), np.nan)), wide @ V)
    _in_order("each", [(block.start, _dense(block.values)) for block in blocks.each()], rows)
    _in_order("mapped", list(mapped(blocks, _Product(V))), wide @ V)
    some = _dense(blocks.sample(20))
    at = [np.flatnonzero((rows == row).all(axis=1)) for row in some]
    assert len(some), "sample: no rows"
    assert all(len(places) for places in at), "sample: rows that are not in the table"
    half = len(rows) // 2
    assert min(f[0] for f in at) < half <= max(f[-1] for f in at), "sample: not spread over the table"


class _Product:
    """x ↦ xV into a buffer that the next block takes over, as the steps of operators do."""

    def __init__(self, V: NDArray[np.float64]) -> None:
        self.V = V

    def __call__(self, scratch: dict[str, Any], block: Block) -> NDArray[np.float64]:
        buffer = scratch.setdefault("held", np.empty((N, self.V.shape[1])))
        out: NDArray[np.float64] = buffer[: block.values.shape[0]]
        out[...] = _dense(block.values).astype(np.float64) @ self.V
        return out


def _absent(engine: Engine, make: Make, rows: NDArray[Any], lengths: list[int]) -> None:
    """Rows of weight zero are zeros, whatever they hold."""
    gone = np.zeros(len(rows), bool)
    gone[[0, 1, 50, 120, len(rows) - 1]] = True
    blocks: Any = _blocks(engine, make(np.where(gone[:, None], np.nan, rows), lengths))
    blocks.absent = gone
    kept = np.where(gone[:, None], 0.0, rows)
    seen = _seen(blocks, np.ones(len(rows)))
    _in_order("absent: map_reduce", list(zip(seen.starts, seen.blocks, strict=True)), kept)
    _equal("absent: map_rows", blocks.map_rows(_Product(np.eye(D)), np.full(rows.shape, np.nan)), kept)
    assert np.isfinite(_dense(blocks.sample(20))).all(), "absent: the sample has such rows as they are"


def _sparse(engine: Engine, make: Make, rng: np.random.Generator) -> None:
    from scipy.sparse import csr_array

    rows = np.where(rng.random((N, D)) < 0.1, rng.integers(1, 400, (N, D)) / 8.0, 0.0)
    blocks = _blocks(engine, make(csr_array(rows), CUTS[0]))
    assert blocks.sparse is True, "sparse: a matrix of which a tenth is stored is announced as dense"
    assert blocks.stored == np.count_nonzero(rows), f"stored: {blocks.stored}, expected {np.count_nonzero(rows)}"
    _passes(blocks, rows)
    full = np.where(rng.random((N, D)) < 0.9, rows + 1, 0.0)
    _passes(_blocks(engine, make(csr_array(full), CUTS[0])), full)


def _errors(blocks: RowBlocks) -> None:
    for verb, run in (
        ("map_reduce", lambda: blocks.map_reduce(_Seen, _refused)),
        ("map_rows", lambda: blocks.map_rows(_refused, np.empty((N, 1)))),
    ):
        try:
            run()
        except InputError:
            continue
        except Exception as error:
            raise AssertionError(f"{verb}: an InputError of the step comes out as {type(error).__name__}") from error
        raise AssertionError(f"{verb}: an error of the step is lost")


def _refused(*_: Any) -> Any:
    raise InputError("nothing")


# coordinates and fits


def _lazy(engine: Engine, X: Any, rows: NDArray[Any]) -> None:
    V = np.arange(2.0 * D).reshape(D, 2)
    Z = engine.map_rows(X, lambda block: block @ V, 2, np.float64)
    assert not isinstance(Z, np.ndarray), "map_rows of the engine: an array, although it says that it is lazy"
    _equal("map_rows of the engine", engine.computed(Z), rows @ V)
    try:
        later = engine.map_rows(X, _refused, 2, np.float64)
    except InputError as error:
        raise AssertionError("map_rows of the engine: it computes before anybody asks") from error
    try:
        engine.computed(later)
    except InputError:
        return
    raise AssertionError("map_rows of the engine: an error of the function is lost")


def _fits(engine: Engine, X: Any, rows: NDArray[Any]) -> None:
    """What a user sees: fit, transform, verify and plan, without a word about the engine."""
    registered = engine in engines()
    if not registered:
        register(engine)
    try:
        w = np.arange(N) % 3.0
        assert engine_of(X) is engine, f"engine_of: another engine, {engine_of(X).name}, takes its collection"
        assert tuple(adopt(X).shape) == rows.shape, "adopt: another shape"
        model, here = PCA(3).fit(X, sample_weight=w), PCA(3).fit(rows, sample_weight=w)
        off = np.max(np.abs(model.explained_variance_ - here.explained_variance_)) / here.explained_variance_[0]
        assert off <= SAME, f"fit: eigenvalues differ from those of memory by {off:.1e}·λ₁"
        sine = largest_sine(model.components_.T, here.components_.T)
        assert sine <= 1e-8, f"fit: components differ from those of memory by an angle of {sine:.1e}"
        assert bool(model.verify(X, w)), "verify: the certificate of a fit does not hold on its own rows"
        assert plan(X).solver, "plan: no solver"
        T = model.transform(X)
        T = engine.computed(T) if engine.lazy else np.asarray(T)
        assert T.shape == (N, 3), f"transform: shape {T.shape}"
        far = float(np.max(np.abs(T - model.transform(rows))))
        assert far <= 1e-10 * float(np.max(np.abs(T))), f"transform: coordinates differ by {far:.1e}"
    finally:
        if not registered:
            unregister(engine.name)


def _dense(rows: Any) -> NDArray[Any]:
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)


def _in_order(what: str, pieces: list[tuple[int, NDArray[Any]]], expected: NDArray[Any]) -> None:
    at = 0
    for start, rows in pieces:
        assert start == at, f"{what}: a block begins at row {start}, expected {at}"
        at += len(rows)
    assert at == len(expected), f"{what}: {at} rows, expected {len(expected)}"
    _equal(what, np.concatenate([np.array(rows) for _, rows in pieces]), expected)


def _equal(what: str, got: Any, expected: Any) -> None:
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.shape == expected.shape, f"{what}: shape {got.shape}, expected {expected.shape}"
    off = np.flatnonzero((got != expected).reshape(len(got), -1).any(axis=1))
    assert not len(off), f"{what}: row {off[0] if len(off) else 0} and {max(0, len(off) - 1)} others differ"
