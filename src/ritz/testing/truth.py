"""The true spectrum of the numbers as they are stored, with a rigorous error.

    A = D_w^½ (X − 1μᵀ) D_s⁻¹  (n, d),    λᵢ = λᵢ(AᵀA),    i = 1 … min(n, d)

Stored floats are integers times a power of two, so X, its mean and the Gram matrix G of the smaller side are
exact in integers; only √w and s are rounded, to 2^-bits. Floating-point vectors are refined in that precision
(orthonormalise, rotate inside clusters, first-order correction across: Ogita & Aishima 2018, 2019) to V, and
then proved, not trusted: with e = ‖VᵀV − I‖ and o the off-diagonal norm of VᵀGV,

    |λᵢ(G) − (VᵀGV)ᵢᵢ| ≤ o + (|(VᵀGV)ᵢᵢ| + o)·e/(1 − e)        (Weyl; Ostrowski 1959)

in ball arithmetic, which holds however close eigenvalues are. 40×40 takes about 0.1 s. Needs python-flint.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ritz.testing.known import Known

__all__ = ["Truth", "known_truth", "true_eigenvalues", "true_rows", "true_spectrum"]

Array = np.ndarray[Any, Any]
Ball = Any  # flint.arb
Balls = Any  # flint.arb_mat
GUARD = 64  # bits beyond those asked for, against rounding in the products


@dataclass(frozen=True)
class Truth:
    """Eigenvalues of AᵀA as balls that contain them, decreasing.

    Attributes
    ----------
    eigenvalues : tuple of flint.arb
        min(n, d) of them.
    total : flint.arb
        Their sum, the trace.
    vectors : ndarray or None
        (d, min(n, d)) right singular vectors in extended precision, any basis inside a cluster; NaN where
        wide data have a zero eigenvalue.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.testing import true_spectrum
    >>> truth = true_spectrum(np.array([[3.0, 0.0], [0.0, 1e-9]]))
    >>> truth.values
    array([9.e+00, 1.e-18])
    >>> truth.relative_error(np.array([9.0, 0.0])).round(20)  # of λ₁: the small one is missed by 1e-19
    array([0.0e+00, 1.1e-19])
    """

    eigenvalues: tuple[Ball, ...]
    total: Ball
    vectors: Array | None = None

    @property
    def values(self) -> Array:
        """The eigenvalues rounded to float64."""
        return np.array([max(0.0, float(v)) for v in self.eigenvalues])

    @property
    def radii(self) -> Array:
        """How far the eigenvalues may be from `values`, rounded up."""
        with precision(400):
            return np.array(
                [
                    np.nextafter(float((ball - value).abs_upper()), np.inf)
                    for ball, value in zip(self.eigenvalues, self.values, strict=True)
                ]
            )

    def relative_error(self, computed: Array) -> Array:
        """|computed − λ| / λ₁ for the first eigenvalues, with the difference taken in high precision."""
        with precision(400):
            top = self.eigenvalues[0].mid()
            pairs = zip(computed, self.eigenvalues, strict=False)
            return np.array([float(abs(value - ball.mid()) / top) for value, ball in _exact(pairs)])


def _exact(pairs: Any) -> Iterator[tuple[Ball, Ball]]:
    """Floats as exact balls beside the true balls."""
    flint = flint_module()
    for value, ball in pairs:
        yield flint.arb(float(value)), ball


def flint_module() -> Any:
    """python-flint, or an error that says how to get it."""
    try:
        import flint
    except ImportError as error:  # pragma: no cover
        raise ImportError("ritz.testing.truth needs python-flint\nhint: pip install python-flint") from error
    return flint


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Work with ``bits`` bits inside the block."""
    context = flint_module().ctx
    before = context.prec
    context.prec = bits
    try:
        yield
    finally:
        context.prec = before


# ------------------------------------------------------------------------------------------ exact data


def integers(X: Any) -> tuple[Any, int]:
    """X as (integer matrix, e) with X = matrix·2^e, exactly."""
    array = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    if array.dtype.kind in "iub":  # float64 would round beyond 2^53
        return flint_module().fmpz_mat(*array.shape, array.astype(object).ravel().tolist()), 0
    dense = array.astype(np.float64)
    fraction, exponent = np.frexp(dense)
    digits = np.ldexp(fraction, 53).astype(np.int64)
    exponent = exponent - 53
    least = int(exponent[digits != 0].min()) if digits.any() else 0
    shift = np.where(digits != 0, exponent - least, 0)
    entries = [m << s for m, s in zip(digits.ravel().tolist(), shift.ravel().tolist(), strict=True)]
    return flint_module().fmpz_mat(*dense.shape, entries), least


@dataclass(frozen=True)
class _Exact:
    """Rows, weights and means in integers: A = D_w^½ Z/(W·…), all scale factors explicit."""

    Z: Any  # (n, d) integers: W·(X − 1μᵀ) when centred, else X
    unit: Ball  # what one unit of Z stands for
    weights: list[int] | None
    weight_unit: Ball
    total_weight: Ball


def _exact_rows(X: Any, center: bool, weights: Any) -> _Exact:
    flint = flint_module()
    M, e = integers(X)
    n = M.nrows()
    two = flint.arb(2)
    if weights is None:
        w, weight_unit, W = None, flint.arb(1), n
        sums = flint.fmpz_mat(1, n, [1] * n) * M
    else:
        column, ew = integers(np.asarray(weights, dtype=np.float64)[:, None])
        w = [int(v) for v in column.entries()]
        weight_unit, W = two**ew, sum(w)
        sums = column.transpose() * M
    unit = two**e
    if not center:
        return _Exact(M, unit, w, weight_unit, W * weight_unit)
    Z = W * M - flint.fmpz_mat(n, 1, [1] * n) * sums
    return _Exact(Z, unit / W, w, weight_unit, W * weight_unit)


def _weighted(Z: Any, weights: list[int] | None) -> Any:
    """diag(w)·Z in integers."""
    if weights is None:
        return Z
    d = Z.ncols()
    entries = [w * v for w, row in zip(weights, Z.tolist(), strict=True) for v in row]
    return flint_module().fmpz_mat(len(weights), d, entries)


def _spread(X: Any, weights: Any) -> list[Ball]:
    """Standard deviation of every column, divisor Σw − 1; 1 for one that is constant up to the rounding of its entries.

    One row may outweigh all others so far that a column has no other value to speak of.
    """
    exact = _exact_rows(X, True, weights)
    Z, factor = exact.Z, exact.unit**2 * exact.weight_unit / (exact.total_weight - 1)
    columns = Z.transpose().tolist()
    w = exact.weights or [1] * Z.nrows()
    squares = [sum(a * v * v for a, v in zip(w, column, strict=True)) for column in columns]
    spreads = [(factor * int(s)).sqrt() if s else None for s in squares]
    one, least = flint_module().arb(1), _rounded(X, weights)
    return [one if s is None or s <= floor else s for s, floor in zip(spreads, least, strict=True)]


def _rounded(X: Any, weights: Any) -> list[Any]:
    """8u·|mean| of every column: what is called constant. Whole numbers have no rounding."""
    dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    if dense.dtype.kind != "f":
        return [flint_module().arb(0)] * dense.shape[1]
    exact = _exact_rows(X, False, weights)
    w, columns = exact.weights or [1] * exact.Z.nrows(), exact.Z.transpose().tolist()
    sums = [sum(a * v for a, v in zip(w, column, strict=True)) for column in columns]
    return [abs(exact.unit * int(s)) * exact.weight_unit / exact.total_weight * 2.0**-50 for s in sums]


def _gram(X: Any, center: bool, scale: bool, weights: Any) -> tuple[Balls, Ball, Balls]:
    """Gram matrix of the smaller side, its unit, and the (n, d) rows A in balls when n < d."""
    flint = flint_module()
    exact = _exact_rows(X, center, weights)
    Z, n, d = exact.Z, exact.Z.nrows(), exact.Z.ncols()
    factor = exact.unit**2 * exact.weight_unit
    inverse = [1 / s for s in _spread(X, weights)] if scale else None
    if n >= d:
        G = flint.arb_mat(Z.transpose() * _weighted(Z, exact.weights))
        if inverse is not None:
            D = flint.arb_mat(d, d, [inverse[i] if i == j else 0 for i in range(d) for j in range(d)])
            G = D * G * D
        return G, factor, None
    root = [flint.arb(v).sqrt() for v in exact.weights] if exact.weights else None
    if root is None and inverse is None:
        return flint.arb_mat(Z * Z.transpose()), factor, flint.arb_mat(Z)
    left = root or [flint.arb(1)] * n
    right = inverse or [flint.arb(1)] * d
    A = flint.arb_mat(
        n,
        d,
        [a * v * b for a, row in zip(left, Z.tolist(), strict=True) for v, b in zip(row, right, strict=True)],
    )
    return A * A.transpose(), factor, A


# ------------------------------------------------------------------------------------------ eigenvalues


def floats(M: Balls) -> Array:
    return np.array([float(v) for v in M.entries()]).reshape(M.nrows(), M.ncols())


def _start(rows: Array) -> Array:
    """Floating-point singular vectors of the smaller side.

    From the rows, not from G: couplings are u·σ₁(σᵢ + σⱼ), where those of eigenvectors of G would be u·σ₁².
    """
    size = np.abs(rows).max()
    U, _, Vt = np.linalg.svd((rows / size).astype(np.float64), full_matrices=False)
    return Vt.T if rows.shape[0] >= rows.shape[1] else U


def _components(close: Array) -> list[Array]:
    """Connected components with more than one member."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    _, label = connected_components(csr_matrix(close), directed=False)
    return [np.flatnonzero(label == c) for c in np.unique(label) if np.sum(label == c) > 1]


def _turn_clusters(S: Balls, clusters: list[Array]) -> Balls:
    """Orthogonal matrix that diagonalises each cluster's block of S to floating-point accuracy."""
    m = S.nrows()
    U = np.eye(m)
    for c in clusters:
        shift = S[int(c[0]), int(c[0])]
        block = [[S[int(i), int(j)] - (shift if i == j else 0) for j in c] for i in c]
        size = max(abs(v).mid() for row in block for v in row)
        scaled = np.array([[float(v / size) for v in row] for row in block])
        U[np.ix_(c, c)] = np.linalg.eigh((scaled + scaled.T) / 2)[1][:, ::-1]
    turn = flint_module().arb_mat(m, m, U.ravel().tolist())
    # fully orthonormal: a defect of 1e-16 would stay as a coupling of 1e-16·λ between equal eigenvalues
    for _ in range(1 + int(np.log2(flint_module().ctx.prec / 48))):
        turn = _orthonormalise(turn)
    return turn


def _correction(S: Balls, skip: Array) -> Balls:
    """F with Fᵢⱼ = Sᵢⱼ/(λⱼ − λᵢ): I + F diagonalises S to second order."""
    m = S.nrows()
    rows = S.tolist()
    diagonal = [rows[i][i] for i in range(m)]
    entries = [0 if skip[i, j] else rows[i][j] / (diagonal[j] - diagonal[i]) for i in range(m) for j in range(m)]
    return flint_module().arb_mat(m, m, entries)


def _orthonormalise(V: Balls) -> Balls:
    """One step of Newton and Schulz: a defect e of orthonormality becomes e²."""
    m = V.nrows()
    identity = flint_module().arb_mat(m, m, np.eye(m).ravel().tolist())
    return (V + V * (identity - V.transpose() * V) * flint_module().arb(0.5)).mid()


def refined(G: Balls, start: Array, bits: int) -> Balls:
    """Orthonormal V (to 2^-bits) with VᵀGV diagonal (to 2^-bits); G has norm about 1."""
    m = G.nrows()
    V = flint_module().arb_mat(m, m, start.ravel().tolist())
    noise = 2.0**-bits / m
    for _ in range(12 + bits // 8):
        V = _orthonormalise(V)
        S = (V.transpose() * (G * V)).mid()
        diagonal = [S[i, i] for i in range(m)]
        gap = np.array([float(abs(a - b)) for a in diagonal for b in diagonal]).reshape(m, m)
        off = np.abs(floats(S))
        np.fill_diagonal(off, 0.0)
        if off.max(initial=0.0) <= noise:
            return V
        clusters = _components((off > noise) & (off > gap / 1024))
        # both at once: couplings to the outside feed back into a cluster and keep it from settling
        skip = off <= noise
        for c in clusters:
            skip[np.ix_(c, c)] = True
        V = (V + V * _correction(S, skip)).mid()
        if clusters:
            V = (V * _turn_clusters(S, clusters)).mid()
    raise ArithmeticError("expected the eigenvectors to settle; raise digits")


def proved(G: Balls, V: Balls) -> list[Ball]:
    """Balls around the diagonal of VᵀGV that contain the eigenvalues of G, decreasing (Weyl, Ostrowski)."""
    flint, m = flint_module(), G.nrows()
    S = V.transpose() * (G * V)
    P = V.transpose() * V
    rows, products = S.tolist(), P.tolist()
    off = _norm([rows[i][j] for i in range(m) for j in range(m) if i != j])
    defect = _norm([products[i][j] - int(i == j) for i in range(m) for j in range(m)])
    if not defect < 0.5:
        raise ArithmeticError("expected an orthonormal basis; the refinement did not converge")
    ratio = defect / (1 - defect)
    balls = []
    for i in range(m):
        radius = off + ratio * (rows[i][i].abs_upper() + off) + rows[i][i].rad()
        balls.append(flint.arb(rows[i][i].mid(), radius.abs_upper()))
    return sorted(balls, key=lambda ball: -ball.mid())


def _norm(balls: list[Ball]) -> Ball:
    """Upper bound of the Euclidean norm."""
    return sum((b.abs_upper() ** 2 for b in balls), flint_module().arb(0)).abs_upper().sqrt().abs_upper()


def true_spectrum(
    X: Any,
    *,
    center: bool = False,
    scale: bool = False,
    weights: Any = None,
    digits: int = 60,
    vectors: bool = False,
) -> Truth:
    """Eigenvalues of AᵀA for the stored entries of X, with a proof, and singular vectors when asked.

    Parameters
    ----------
    X : ndarray or scipy sparse matrix
        (n, d); the smaller side should not exceed about 100.
    center, scale : bool
        Subtract the (weighted) mean; divide by the standard deviation with divisor Σw − 1.
    weights : array-like, optional
        (n,) frequencies.
    digits : int
        Decimal digits of λ₁: smaller eigenvalues have correspondingly fewer.
    vectors : bool
        Whether to compute the right singular vectors too.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.testing import true_spectrum
    >>> X = 1 / np.add.outer(np.arange(8), np.arange(1, 9))  # Hilbert's matrix, of condition 1.5e10
    >>> truth = true_spectrum(X).values
    >>> bool(abs(np.linalg.eigvalsh(X.T @ X)[0] - truth[-1]) > truth[-1])  # XᵀX has lost the last one altogether
    True
    """
    bits = int(3.33 * digits) + 8
    flint = flint_module()
    with precision(bits + GUARD):
        G, factor, rows = _gram(X, center, scale, weights)
        top = max(G[i, i].mid() for i in range(G.nrows()))
        if top == 0:
            zeros = (flint.arb(0),) * G.nrows()
            return Truth(zeros, flint.arb(0), None)
        digits_of_top, exponent = top.man_exp()
        unit = flint.arb(2) ** (int(exponent) + int(digits_of_top).bit_length())
        scaled = G * (1 / unit)
        V = refined(scaled, _start(true_rows(X, center=center, scale=scale, weights=weights)), bits)
        balls = tuple(b.nonnegative_part() * unit * factor for b in proved(scaled, V))
        total = sum((G[i, i] for i in range(G.nrows())), flint.arb(0)) * factor
        return Truth(
            balls, total, right_vectors(scaled, V, None if rows is None else rows * unit.rsqrt()) if vectors else None
        )


def right_vectors(G: Balls, V: Balls, rows: Balls | None) -> Array:
    """Right singular vectors, decreasing, from the eigenvectors of either Gram matrix; ``rows`` when n < d."""
    m = G.nrows()
    S = (V.transpose() * (G * V)).mid()
    order = sorted(range(m), key=lambda i: -S[i, i].mid())
    if rows is None:
        return _extended(V)[:, order]
    W = _extended(rows.transpose() * V)[:, order]
    norm = np.sqrt(np.sum(W * W, axis=0))
    dead = norm <= norm.max() * 1e-25
    return np.where(dead, np.nan, W / np.where(dead, 1, norm))


def _extended(M: Balls) -> Array:
    """Balls to extended precision (float64 where the machine has no more)."""
    high = floats(M)
    low = np.array([float(v - h) for v, h in zip(M.entries(), high.ravel().tolist(), strict=True)])
    return high.astype(np.longdouble) + low.reshape(high.shape).astype(np.longdouble)


def true_eigenvalues(X: Any, **options: Any) -> tuple[Array, Array]:
    """(values, radii): float64 eigenvalues of AᵀA and how far they may be off; options of `true_spectrum`.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.testing import true_eigenvalues
    >>> values, radii = true_eigenvalues(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> values, bool((radii < 1e-14).all())
    (array([9., 1.]), True)
    """
    truth = true_spectrum(X, **options)
    return truth.values, truth.radii


def true_rows(X: Any, *, center: bool = False, scale: bool = False, weights: Any = None) -> Array:
    """A = D_w^½ (X − 1μᵀ) D_s⁻¹ in extended precision, from exact means and deviations: for residuals.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.testing import true_rows
    >>> X = np.array([[1e15 + 1], [1e15 + 2], [1e15 + 4]])
    >>> np.asarray(true_rows(X, center=True), float).ravel().round(3)  # the mean is no double
    array([-1.333, -0.333,  1.667])
    """
    dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.longdouble)
    with precision(400):
        if center:
            M, e = integers(X)
            column, _ = integers(np.ones((dense.shape[0], 1)) if weights is None else np.c_[weights])
            W = sum(int(v) for v in column.entries())
            unit = flint_module().arb(2) ** e / W
            mean = [unit * s for s in (column.transpose() * M).entries()]
            high = np.array([float(v) for v in mean])
            low = np.array([float(v - h) for v, h in zip(mean, high.tolist(), strict=True)])
            dense = (dense - high) - low
        if scale:
            deviation = flint_module().arb_mat(1, dense.shape[1], _spread(X, weights))
            dense = dense / _extended(deviation)
    return dense if weights is None else dense * np.sqrt(np.asarray(weights, np.longdouble))[:, None]


def known_truth(known: Known, *, bits: int = 364) -> Truth:
    """The eigenvalues of a `Known` matrix, evaluated in balls.

    Examples
    --------
    >>> from ritz.testing import incidence, known_truth
    >>> truth = known_truth(incidence("cycle", 6))
    >>> truth.values.round(12) + 0                # 4 sin²(πj/6): 4, 3, 3, 1, 1, 0
    array([4., 3., 3., 1., 1., 0.])
    >>> bool((truth.radii < 1e-15).all())
    True
    """
    flint = flint_module()
    with precision(bits):
        values = []
        for v in known.eigenvalues:
            fraction = flint.fmpq(v.rational.numerator, v.rational.denominator)
            sines = (flint.arb.sin_pi_fmpq(flint.fmpq(a.numerator, a.denominator)) for a in v.angles)
            values.append(flint.arb(fraction) + 4 * sum((s * s for s in sines), flint.arb(0)))
        order = sorted(range(len(values)), key=lambda i: -values[i].mid())
        vectors = None if known.vectors is None else known.vectors[:, order].astype(np.longdouble)
        return Truth(tuple(values[i] for i in order), sum(values, flint.arb(0)), vectors)
