"""``check_operator``: any operator against its dense form, the whole contract of ``operators/base.py``.

products    A·V, Aᵀ·U, AᵀA·V, WᵀAᵀAW, AᵀA, ⟨AV, U⟩ = ⟨V, AᵀU⟩, the same of Aᵀ and of ``at``, ``loose``,
            ``unchecked`` and ``wider``; coarsely of ``coarsest`` and ``lean``
claims      symmetric, positive, trace, Frobenius norm and power sums are those of the matrix
rounding    what solvers allow for (``inflation``, ``measured``, ``scale_error``, their kin) covers what products lose
figures     calls and passes are counted, the key repeats and depends on the data, wrong shapes are refused

all with random probes, in the operator's own precision.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz._core.errors import InputError, MemoryLimitError
from ritz._core.linalg import place_of, to_numpy
from ritz._core.tolerance import checked, rounding, solving, unit_roundoff
from ritz.operators.base import Operator

__all__ = ["check_operator"]

#: Multiples of u·‖A‖·‖V‖ that a product may miss its dense form by; rounding grows with the length of the sums.
SLACK = 40.0

#: Relative error of a trace or of a sum of squares; entries up to which references are formed in extended precision.
SUMMED, EXTENDED = 1e-9, 1_000_000

#: Share of ‖A‖·‖V‖ that coarse products may miss: float16 has 5e-4, and columns of V add up.
COARSE = 1e-2

#: A product that is wrong by this share must be noticed by ``check``, to within this factor.
WRONG, NOTICED = 1e-2, 10.0


def check_operator(A: Operator, dense: Any, *, seed: int = 0, width: int = 3, other: Operator | None = None) -> None:
    """Raise AssertionError, saying what differs and by how much, unless ``A`` is ``dense`` and what it says is true.

    Parameters
    ----------
    A
        The operator.
    dense : (n, d) array
        The matrix that it stands for.
    seed, width
        Seed and number of the random probes.
    other
        An operator of the same kind on other data: its key must be another one.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.operators import Centered, Dense
    >>> from ritz.testing import check_operator
    >>> X = np.random.default_rng(0).standard_normal((20, 3)) + 5
    >>> A = Centered(Dense(X), X.mean(axis=0))
    >>> check_operator(A, X - X.mean(axis=0))     # silent: right
    >>> try:
    ...     check_operator(A, X)
    ... except AssertionError as error:
    ...     print(str(error).split(":")[0])       # the first product that differs
    matmat
    """
    dense = np.asarray(to_numpy(dense), np.float64)
    if dense.shape != A.shape:
        raise AssertionError(f"{A!r} has shape {A.shape}, its dense form {dense.shape}")
    checks = _Checks(A, dense, np.random.default_rng(seed), width)
    checks.products(A, "")
    checks.forms()
    checks.claims()
    checks.rounding()
    checks.along()
    checks.noticing()
    checks.entries()
    checks.figures(other)


@dataclass(frozen=True)
class _Checks:
    """An operator, its matrix, and probes."""

    A: Operator
    dense: Any  # (n, d)
    rng: np.random.Generator
    width: int

    @property
    def size(self) -> float:
        """‖A‖₂, or the size of the numbers that are rounded."""
        A = self.A
        norm = float(np.linalg.norm(self.dense, 2)) if self.dense.size else 0.0
        beyond = float(A.inflation())
        _true("inflation", 0 <= beyond < np.inf, f"{beyond!r}, expected a finite number from 0 on")
        return max(norm, beyond if A.symmetric else float(np.sqrt(beyond)))

    def probes(self) -> tuple[Any, Any]:
        """V (d, l) and U (n, l)."""
        n, d = self.A.shape
        return self.rng.standard_normal((d, self.width)), self.rng.standard_normal((n, self.width))

    def products(self, A: Operator, of: str) -> None:
        """Every product of A, which may be this operator in another precision."""
        D, (n, d), (V, U), put = self.dense, A.shape, self.probes(), A.place.array
        u = SLACK * max(unit_roundoff(A.dtype), 2.0**-53) * max(1.0, float(np.sqrt(max(n, d))) / 8)
        size, v, w = self.size, float(np.linalg.norm(V)), float(np.linalg.norm(U))
        off = (A.perturbation() or 0.0) + 2 * A.scale_error() * size
        one, two = u * size + off, u * size**2 + off * (2 * size + off)
        AV, AU = self.here(A, "matmat", A.matmat(put(V))), self.here(A, "rmatmat", A.rmatmat(put(U)))
        _same(f"matmat{of}", AV, D @ V, one * v)
        _same(f"rmatmat{of}", AU, D.T @ U, one * w)
        _same(f"across{of}", self.here(A, "across", A.across(put(U))), D.T @ U, one * w)
        _same(f"normal{of}", self.here(A, "normal", A.normal(put(V))), D.T @ (D @ V), two * v)
        _same(f"gram(W){of}", self.here(A, "gram", A.gram(put(V))), V.T @ D.T @ D @ V, two * v**2)
        _same(f"gram(){of}", self.here(A, "gram", A.gram()), D.T @ D, two * np.sqrt(max(d, 1)))
        _same(f"matmat of A.T{of}", A.T.matmat(put(U)), D.T @ U, one * w)
        _same(f"normal of A.T{of}", A.T.normal(put(U)), D @ (D.T @ U), two * w)
        _same(f"a single vector{of}", A @ put(V[:, 0]), D @ V[:, 0], one * v)
        _same(f"⟨AV, U⟩ − ⟨V, AᵀU⟩{of}", np.sum(AV * U), np.sum(V * AU), 2 * one * v * w)
        half, whole = A.halves(put(V))
        _same(f"halves{of}", self.here(A, "halves", whole), D.T @ (D @ V), two * v)
        if half is not None:
            _same(f"halves, A V{of}", self.here(A, "halves", half), D @ V, one * v)
        if A.symmetric:
            half, whole = A.rooted(put(V))
            _same(f"rooted{of}", self.here(A, "rooted", whole), D @ V, one * v)
            if half is not None:
                squares = np.asarray(to_numpy(half), np.float64)
                _same(f"rooted, the root{of}", squares.T @ squares, V.T @ D @ V, 2 * one * v**2)
        for verb, product, truth, most in (
            ("vector_product", A.vector_product(), D @ V if n == d else V, one),
            ("vector_normal", A.vector_normal(), D.T @ (D @ V), two),
        ):
            if product is not None:
                found = product(np.ascontiguousarray(V[:, 0], A.dtype))
                _same(f"{verb}{of}", np.asarray(found, np.float64), truth[:, 0], most * v)
        written = A.to_dense()
        _same(f"to_dense{of}", self.here(A, "to_dense", written), D, one * np.sqrt(max(d, 1)))
        at_hand = A.at_hand()
        fits = isinstance(at_hand, bool) and (not at_hand or isinstance(written, np.ndarray))
        _true(f"at_hand{of}", fits, f"is {at_hand!r} of entries that are written out as {type(written).__name__}")

    def here(self, A: Operator, verb: str, block: Any) -> Any:
        """A block as NumPy's, if it lies where the operator says."""
        place = place_of(block)
        same = place.xp is A.xp and (A.device is None or A.xp is np or place.device == A.device)
        _true(verb, same, f"gives a block on {place}, expected {A.place}")
        return np.asarray(to_numpy(block), np.float64)

    def forms(self) -> None:
        """The same operator in other precisions, unchecked and transposed."""
        A = self.A
        for name, B in (
            (" of at(float32)", A.at(np.float32)), (" of at(float64)", A.at(np.float64)),
            (" of unchecked()", A.unchecked()), (" of loose()", A.loose()), (" of wider()", A.wider()),
            (" of A.T.T", A.T.T),
        ):  # fmt: skip
            if B is None:
                continue
            _true(name[4:], B.shape == A.shape, f"has shape {B.shape}, A {A.shape}")
            if B is not A:
                self.products(B, name)
            if "wider" in name:
                _true("wider()", np.dtype(B.gram_dtype()).itemsize >= 8, f"forms its Gram matrix in {B.gram_dtype()}")
        self.coarse()

    def coarse(self) -> None:
        """What serves early steps and small shares only: cheap products, and how coarse they are."""
        A, (V, _) = self.A, self.probes()
        for name, B in (("coarsest()", A.coarsest()), ("lean()", A.lean())):
            _true(name, B.shape == A.shape, f"has shape {B.shape}, A {A.shape}")
            _true("grain", 0 <= B.grain < 1, f"of {name} is {B.grain!r}, expected a share")
            product = self.here(B, "matmat", B.matmat(B.place.array(V)))
            _same(f"matmat of {name}", product, self.dense @ V, COARSE * self.size * float(np.linalg.norm(V)))
        for columns in (1, 5, 64):
            width = A.block_width(columns)
            _true("block_width", type(width) is int and width >= columns, f"{width!r} for {columns} columns")

    def claims(self) -> None:
        """Symmetry, sign, trace, Frobenius norm and power sums."""
        A, D = self.A, self.dense
        n, d = A.shape
        size, slack = self.size, self.allowed()
        _true("advice", A.advice is None or isinstance(A.advice, str), "neither None nor words")
        if A.symmetric:
            _true("symmetric", n == d, f"said of a {n}×{d} operator")
            _same("symmetric: A − Aᵀ", D, D.T, SLACK * unit_roundoff(A.dtype) * size + slack)
        if A.positive:
            _true("positive", A.symmetric, "said of an operator that is not symmetric")
            values = np.linalg.eigvalsh((D + D.T) / 2)
            least, under = float(np.min(values, initial=0.0)), -float(np.sum(np.minimum(values, 0.0)))
            _true("positive", least >= -slack - A.below, f"said of an operator with the eigenvalue {least:.3g}")
            if A.below:
                _true("below", under <= A.below + d * slack, f"{A.below:.3g}, but they add up to {under:.3g}")
        _true("below", A.positive or not A.below, "told of an operator that is not positive")
        trace, square, sums = A.trace(), A.frobenius2(), A.power_sums()
        if trace is not None:
            _true("trace", n == d, f"told of a {n}×{d} operator")
            _same("trace", trace - A.below, np.trace(D), SUMMED * float(np.sum(np.abs(np.diag(D)))) + d * slack)
        if square is not None:
            off = d * self.allowed(squared=True)
            _same("frobenius2", square, np.sum(np.square(D)), SUMMED * float(np.sum(np.square(D))) + off)
        if sums is not None:
            _true("power_sums", A.symmetric and A.positive, "told of an operator that is not positive")
            room = 1e-12 * (float(np.sum(np.square(D))) + abs(float(np.trace(D))))
            _true("power_sums", sums[0] <= np.trace(D) + room, f"Σλ ≥ {sums[0]!r}, but it is {np.trace(D)!r}")
            _true("power_sums", sums[1] >= np.sum(D * D) - room, f"Σλ² ≤ {sums[1]!r}, but it is {np.sum(D * D)!r}")

        every = A.square_sum()
        if every is not None:
            _true("square_sum", A.symmetric, "told of an operator that is not symmetric")
            _true("square_sum", every >= np.sum(D * D) * (1 - 1e-12), f"Σλ² ≤ {every!r}, but it is {np.sum(D * D)!r}")

        E = A.enclosed()
        if E is not None:
            _same("enclosed: Q Qᵀ", E.basis @ E.basis.T, np.eye(len(E.basis)), 1e-12)
            lower = E.basis.T @ (E.high + E.spare) @ E.basis
            _same("enclosed: the lower bound", lower, D, SLACK * unit_roundoff(A.dtype) * size + slack)
            _true("enclosed", min(E.lost, E.ridge, E.noise) >= 0, "told with a negative bound")

    def allowed(self, squared: bool = False) -> float:
        """What solvers allow for: the rounding of M, A itself if it is symmetric, AᵀA of a table or if ``squared``."""
        A = self.A
        norm = float(np.linalg.norm(self.dense, 2)) if self.dense.size else 0.0
        own, beyond = (norm, A.inflation()) if A.symmetric else (norm**2, A.inflation())
        if squared and A.symmetric:
            own, beyond = norm**2, beyond**2
        measured = A.measured()
        p, off = max(min(A.shape), 1), A.perturbation() or 0.0
        u = unit_roundoff(A.dtype if measured is None else np.float64)
        base = rounding(p, u) if measured is None else checked(p, u)
        measured = off * (2 * norm + off) if squared and A.symmetric else measured or 0.0
        return base * (own + beyond) + measured + 4 * A.scale_error() * own

    def rounding(self) -> None:
        """Products lose no more than the operator tells."""
        A, (V, _) = self.A, self.probes()
        D = self.dense.astype(np.longdouble) if self.dense.size <= EXTENDED else self.dense
        V /= np.linalg.norm(V, axis=0)
        M, product = (D, A.matmat) if A.symmetric else (None, A.normal)
        exact = M @ V if M is not None else D.T @ (D @ V)
        lost = np.linalg.norm(np.asarray(to_numpy(product(A.place.array(V))) - exact, np.float64), axis=0)
        _bound("inflation, measured and scale_error", lost, self.allowed())
        error = np.asarray(to_numpy(A.matmat(A.place.eye(A.shape[1]))) - D, np.float64)
        told = A.perturbation()
        if told is not None and error.size:  # it may have been measured along some vectors only
            room = rounding(max(A.shape), 2.0**-53) * self.size + 2 * told + 2 * A.scale_error() * self.size
            _bound("perturbation", float(np.linalg.norm(error, 2)), room)

    def along(self) -> None:
        """The Gram matrix is as far off as the operator tells, in all directions and along some."""
        A, d = self.A, self.A.shape[1]
        kind = np.dtype(A.gram_dtype())
        _true("gram_dtype", kind.kind == "f", f"{kind}, expected a floating dtype")
        D = self.dense.astype(np.longdouble) if self.dense.size * d <= 50 * EXTENDED else self.dense
        E = np.asarray(to_numpy(A.gram()) - D.T @ D, np.float64)
        norm, beyond = float(np.linalg.norm(self.dense, 2)) ** 2 if self.dense.size else 0.0, A.gram_inflation()
        noise, off = A.gram_noise(), A.perturbation() or 0.0
        solved = solving(d, 2.0**-53) * (norm + beyond) + off * (2 * norm**0.5 + off) + 4 * A.scale_error() * norm
        room = rounding(d, unit_roundoff(kind)) * (norm + beyond) if noise is None else noise
        _bound("gram_noise and gram_inflation", float(np.linalg.norm(E, 2)) if E.size else 0.0, room + solved)
        _true("faint", isinstance(A.faint(1), bool), f"{A.faint(1)!r}, expected True or False")
        if (rough := A.rough()) is not None:
            lost = np.linalg.norm(np.asarray(rough.matrix - D.T @ D, np.float64), 2)
            _bound("rough", lost, rough.off(norm) + solved)
        V = np.linalg.qr(self.rng.standard_normal((d, min(d, self.width))))[0] if d else np.zeros((0, 0))
        seen = A.noise_along(A.place.array(V))
        if seen is not None:
            _bound("noise_along", float(np.linalg.norm(V.T @ E @ V, 2)), NOTICED * seen + solved)
        narrow = A.narrowed()  # the last of all, for it changes what a Gram matrix is
        _true("narrowed", isinstance(narrow, bool), f"{narrow!r}, expected True or False")

    def noticing(self) -> None:
        """``check`` counts the rounding of a product that was made elsewhere."""
        A, (V, _) = self.A.at(np.float32).unchecked(), self.probes()
        if not A.checkable or A.dtype.itemsize >= 8 or not self.dense.size:
            return  # float64 products are held against nothing where there is no finer formula
        V = np.linalg.qr(V)[0]
        exact = self.dense @ V
        A.check(A.place.array(V), A.place.array(exact * (1 + WRONG)))
        lost, seen = WRONG * float(np.max(np.linalg.norm(exact, axis=0), initial=0.0)), A.measured() or 0.0
        _bound("check", lost, NOTICED * seen)

    def entries(self) -> None:
        """Sparse entries and null vectors, which solvers of smallest eigenvalues ask for."""
        A, D = self.A, self.dense
        _true("apart", isinstance(A.apart, bool), f"{A.apart!r}, expected True or False")
        given, null = A.assembled(), A.null()
        room = SLACK * 2.0**-53 * self.size * np.sqrt(max(A.shape[0], 1)) + (A.perturbation() or 0.0)
        if given is not None:
            _true("assembled", A.symmetric and A.positive, "of an operator that may have negative eigenvalues")
            _true("assembled", 0 <= given.noise < np.inf, f"a noise of {given.noise!r}")
            stored = given.matrix.toarray() if given.root is None else given.root.T @ given.root.toarray()
            noise = given.noise * (2 * np.sqrt(self.size) + given.noise if given.root is not None else 1.0)
            _same("assembled", stored, D, room + noise)
        if null is not None:
            Q = np.asarray(null, np.float64).reshape(A.shape[0], -1)
            _same("null", D @ Q, np.zeros_like(Q), room * float(np.linalg.norm(Q)))

    def figures(self, other: Operator | None) -> None:
        """Calls, passes, the key, the symbol, and what is refused."""
        A, (V, U) = self.A, self.probes()
        V, U = A.place.array(V), A.place.array(U)
        before, passes = vars(A.calls).copy(), A.passes()
        A.matmat(V), A.rmatmat(U), A.normal(V), A.gram(V)
        made = {name: count - before[name] for name, count in vars(A.calls).items()}
        same = all(made[verb] == 1 for verb in ("matmat", "rmatmat", "normal", "gram"))
        _true("calls", same and made["columns"] >= 3 * self.width, f"counted {made} after one call of each")
        _true("passes", passes <= A.passes(), f"fell from {passes} to {A.passes()}")
        key = A.key()
        _true("key", type(key) is int and 0 <= key < 2**64, f"{key!r}, expected 64 bits")
        _true("key", key == A.key(), "differs when it is asked for again")
        _true("key", other is None or other.key() != key, "is the same for other data")
        _true("scale_error", 0 <= A.scale_error() < 1, f"{A.scale_error()!r}, expected a share")
        _true("symbol", bool(A.symbol()) and A.symbol() in repr(A), f"{A.symbol()!r} is not what repr shows")
        wrong = A.place.zeros((A.shape[1] + 1, 1))
        _raises("matmat of a block of another shape", InputError, lambda: A.matmat(wrong))
        _raises("to_dense beyond its budget", MemoryLimitError, lambda: A.to_dense(0))


def _true(what: str, condition: Any, words: str) -> None:
    if not condition:
        raise AssertionError(f"{what}: {words}")


def _raises(what: str, error: type[Exception], call: Callable[[], Any]) -> None:
    try:
        call()
    except error:
        return
    raise AssertionError(f"{what}: accepted, expected {error.__name__}")


def _bound(what: str, lost: Any, room: float) -> None:
    most = float(np.max(lost, initial=0.0))
    if not most <= room + np.finfo(float).tiny:
        raise AssertionError(f"{what}: products are off by {most:.2e}, the operator tells {room:.2e}")


def _same(what: str, got: Any, expected: Any, allowed: float) -> None:
    got = np.asarray(to_numpy(got), np.float64)
    if got.shape != np.shape(expected):
        raise AssertionError(f"{what}: shape {got.shape}, expected {np.shape(expected)}")
    off = float(np.max(np.abs(got - expected), initial=0.0))
    if not off <= allowed + np.finfo(float).tiny:
        raise AssertionError(f"{what}: differs from the dense form by {off:.2e}, allowed {allowed:.2e}")
