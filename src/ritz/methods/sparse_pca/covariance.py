"""A covariance as the search for sparse loadings sees it: products with few columns, never all d² numbers at once.

    Formed      C (d×d) itself                        C[:, S] b = C[S]ᵀ b
    Factored    C = ZᵀZ, Z (n×d) the centred rows     C[:, S] b = Zᵀ(Z[:, S] b),  C[S, S] = Z[:, S]ᵀZ[:, S]

A table with fewer rows than columns is its own, smaller, factor: n·d numbers in place of d², and a product with a
vector costs 2n/d of one with C. Deflation by q takes a column off the factor, Z ← Z(I − qqᵀ).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ritz._core.subset import sure_pairs

__all__ = ["Covariance", "Factored", "Formed", "leading_vector", "rest_spectrum"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

#: Columns up to which the spectrum off the plane is kept, for the limits of Q.
KEEP_REST = 2_000
#: Above this side the leading eigenvector alone is asked for; below, LAPACK's full decomposition is as quick.
ALONE = 128
#: Share of entries above which a vector is multiplied as if it had all of them: taking columns out costs more.
CROWDED = 0.25
#: Blocks of C on some columns that a factored covariance keeps.
BLOCKS = 64
#: Numbers of rows of C that a factored covariance keeps.
KEPT = 1 << 22


class Covariance(Protocol):
    """What a search asks of C (d×d)."""

    diagonal: Floats  # (d,)

    def times(self, V: Floats) -> Floats:
        """C V, (d, l)."""
        ...

    def on(self, where: Indices, values: Floats) -> Floats:
        """C x, (d,), of x with these values in these places."""
        ...

    def images(self, where: Indices, values: Floats) -> Floats:
        """C x of several vectors at once, (s, d); places and values (s, m)."""
        ...

    def rows(self, where: Indices) -> Floats:
        """C[where], (m, d)."""
        ...

    def block(self, where: Indices) -> Floats:
        """C[where, where], (m, m)."""
        ...

    def leading(self, where: Indices | None = None) -> Floats:
        """The leading eigenvector of C, or of C on some columns, of unit length."""
        ...

    def deflated(self, q: Floats) -> Covariance:
        """(I − qqᵀ) C (I − qqᵀ), q of unit length."""
        ...

    def divided(self, by: float) -> Covariance:
        """C / by."""
        ...

    def whole(self) -> Floats:
        """C itself."""
        ...

    def off(self, Q: Floats) -> float:
        """tr C − tr QᵀCQ, not as a difference; Q (d, k) orthonormal."""
        ...

    def spectrum_off(self, Q: Floats) -> Floats:
        """(d − k,) eigenvalues of C on what is orthogonal to Q."""
        ...


def rest_spectrum(C: Covariance, Q: Floats) -> Floats | None:
    """Variances off the plane of Q, where there are few enough columns."""
    return C.spectrum_off(Q) if len(Q) <= KEEP_REST else None


def leading_vector(M: Floats) -> Floats:
    """The leading eigenvector of a symmetric matrix."""
    m = len(M)
    if m <= ALONE:
        return np.asarray(np.linalg.eigh(M)[1][:, -1], np.float64)
    return np.asarray(sure_pairs(M, 1)[1][:, 0], np.float64)


def _spread(where: Indices, values: Floats, d: int) -> Floats:
    """(s, d) the vectors with these values in these places."""
    out = np.zeros((len(where), d))
    np.put_along_axis(out, where, values, axis=1)
    return out


class Formed:
    """A covariance that is there."""

    def __init__(self, C: Floats) -> None:
        self.C, self.diagonal = C, np.diag(C).copy()

    def times(self, V: Floats) -> Floats:
        """C V."""
        return np.asarray(self.C @ V)

    def on(self, where: Indices, values: Floats) -> Floats:
        """C x of a sparse x."""
        return np.asarray(self.images(where[None, :], values[None, :])[0])

    def images(self, where: Indices, values: Floats) -> Floats:
        """C x of several sparse x."""
        if where.shape[1] > CROWDED * len(self.C):
            return np.asarray(_spread(where, values, len(self.C)) @ self.C)
        return np.stack([v @ self.C[w] for w, v in zip(where, values, strict=True)])

    def rows(self, where: Indices) -> Floats:
        """Rows of C."""
        return self.C[where]

    def block(self, where: Indices) -> Floats:
        """C on some columns."""
        return self.C[np.ix_(where, where)]

    def leading(self, where: Indices | None = None) -> Floats:
        """The leading eigenvector."""
        return leading_vector(self.C if where is None else self.block(where))

    def deflated(self, q: Floats) -> Formed:
        """Without the direction q."""
        D = self.C - np.outer(q, q @ self.C)
        D -= np.outer(D @ q, q)
        return Formed((D + D.T) / 2)

    def divided(self, by: float) -> Formed:
        """C / by."""
        return Formed(self.C / by)

    def whole(self) -> Floats:
        """C."""
        return self.C

    def off(self, Q: Floats) -> float:
        """What Q leaves of the trace."""
        R = self.C - Q @ (Q.T @ self.C)
        return float(np.trace(R) - np.einsum("ij,ij->", R @ Q, Q))  # what is left after both sides is no difference

    def spectrum_off(self, Q: Floats) -> Floats:
        """Eigenvalues off the plane of Q."""
        R = self.C - Q @ (Q.T @ self.C)
        R -= (R @ Q) @ Q.T
        return np.asarray(np.linalg.eigvalsh((R + R.T) / 2)[::-1][: max(len(Q) - Q.shape[1], 0)], np.float64)


class Factored:
    """The covariance of fewer rows than columns, by its factor Z (n×d)."""

    def __init__(self, Z: Floats) -> None:
        self.Z, self.diagonal = Z, np.einsum("ij,ij->j", Z, Z)
        self._kept: dict[int, Floats] = {}
        self._blocks: dict[bytes, Floats] = {}

    def times(self, V: Floats) -> Floats:
        """C V."""
        return np.asarray(self.Z.T @ (self.Z @ V))

    def on(self, where: Indices, values: Floats) -> Floats:
        """C x of a sparse x."""
        return np.asarray(self.images(where[None, :], values[None, :])[0])

    def images(self, where: Indices, values: Floats) -> Floats:
        """C x of several sparse x, by one product."""
        if where.shape[1] > CROWDED * self.Z.shape[1]:
            return np.asarray((_spread(where, values, self.Z.shape[1]) @ self.Z.T) @ self.Z)
        scores = np.stack([self.Z[:, w] @ v for w, v in zip(where, values, strict=True)])
        return np.asarray(scores @ self.Z)

    def rows(self, where: Indices) -> Floats:
        """Rows of C; those asked for before are kept."""
        new = [j for j in where.tolist() if j not in self._kept]
        if (len(self._kept) + len(new)) * self.Z.shape[1] > KEPT:
            self._kept.clear()
            new = where.tolist()
        if new:
            self._kept.update(zip(new, self.Z[:, new].T @ self.Z, strict=True))
        return np.stack([self._kept[j] for j in where.tolist()])

    def block(self, where: Indices) -> Floats:
        """C on some columns; iterations that settle ask for the same ones."""
        key = where.tobytes()
        if key not in self._blocks:
            if len(self._blocks) >= BLOCKS:
                self._blocks.clear()
            part = self.Z[:, where]
            self._blocks[key] = part.T @ part
        return self._blocks[key]

    def leading(self, where: Indices | None = None) -> Floats:
        """The leading eigenvector, from the smaller side."""
        part = self.Z if where is None else self.Z[:, where]
        if part.shape[1] <= part.shape[0]:
            return leading_vector(part.T @ part)
        v = leading_vector(part @ part.T) @ part
        length = float(np.linalg.norm(v))
        return np.asarray(v / length) if length > 0 else np.eye(1, len(v))[0]

    def deflated(self, q: Floats) -> Factored:
        """Without the direction q."""
        return Factored(self.Z - np.outer(self.Z @ q, q))

    def divided(self, by: float) -> Factored:
        """C / by."""
        return Factored(self.Z / np.sqrt(by))

    def whole(self) -> Floats:
        """C, formed."""
        return np.asarray(self.Z.T @ self.Z)

    def off(self, Q: Floats) -> float:
        """What Q leaves of the trace: the squares of what it leaves of the rows."""
        return float(np.sum(np.square(self._beside(Q))))

    def spectrum_off(self, Q: Floats) -> Floats:
        """Eigenvalues off the plane of Q, n of them and zeros."""
        R = self._beside(Q)
        values, out = np.linalg.eigvalsh(R @ R.T)[::-1], np.zeros(max(len(Q) - Q.shape[1], 0))
        count = min(len(values), len(out))
        out[:count] = np.maximum(values[:count], 0.0)
        return out

    def _beside(self, Q: Floats) -> Floats:
        return np.asarray(self.Z - (self.Z @ Q) @ Q.T)
