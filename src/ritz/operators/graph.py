"""Operators of graphs and of alignments: their smallest eigenvalues are what manifold methods look for.

    Aligned(B)      M = BᵀB                      B (r×p) sparse: I − W of LLE, local maps of LTSA and Hessian LLE
    Laplacian(W)    L = D − W,  D = diag(W1)     = BᵀB with B = √w-weighted incidence, one row for each edge
                    D^-½ L D^-½                  normalized: the eigenvalues of Ly = λDy
    Diffusion(W)    S = D^-½ W D^-½ − QQᵀ        largest eigenvalues; Q holds the pair that every graph has

W (p×p) has no negative weight and equals its transpose; its diagonal counts in D, as kernels have one. The null vectors
of a Laplacian are known: the indicators of the connected components, times √d where it is normalized.   [Chung97; BN03]
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ritz._core.errors import InputError
from ritz._core.keys import key_of_numbers
from ritz._core.lazy import cached_property
from ritz._core.linalg import Array
from ritz.operators.assembled import Assembled
from ritz.operators.base import Operator

__all__ = ["Aligned", "Diffusion", "Laplacian"]

#: Roundings by which mirrored weights may differ.
MIRRORED = 8 * 2.0**-53
U = 2.0**-53


class Aligned(Operator):
    """``M = BᵀB`` (p×p) of a sparse B (r×p).

    Parameters
    ----------
    B : sparse matrix or array (r, p)
    null : array (p,) or (p, m), optional
        Vectors that B maps to zero, such as ``np.ones(p)``: pairs that are known are not looked for.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> from ritz.operators import Aligned
    >>> B = scipy.sparse.diags([1.0, -1.0], [0, 1], shape=(3, 4))  # differences along a path of four nodes
    >>> M = Aligned(B, null=np.ones(4))
    >>> M, M.trace(), M.to_dense()[0]
    (BᵀB  (4×4, float64), 6.0, array([ 1., -1.,  0.,  0.]))
    """

    symmetric = True
    positive = True
    apart = False  # eigenvalues of 1e-10·‖M‖ are what alignments have

    def __init__(self, B: Any, null: Any = None) -> None:
        self.B = _entries(B, "B")
        super().__init__((self.B.shape[1], self.B.shape[1]), np.float64)
        self._null = null

    def _matmat(self, V: Array) -> Array:
        return self.B.T @ (self.B @ V)

    def _rmatmat(self, U: Array) -> Array:
        return self._matmat(U)

    def trace(self) -> float:
        return float(np.sum(np.square(self.B.data)))

    def key(self) -> int:
        return key_of_numbers(np.asarray(abs(self.B).sum(axis=0)))

    def null(self) -> Any:
        return self._null

    def assembled(self) -> Assembled:
        return Assembled(root=self.B)

    def symbol(self) -> str:
        return "BᵀB"


class _Graph(Operator):
    """What both operators of a graph keep: weights without the diagonal, degrees, components."""

    symmetric = True
    connected = False

    def __init__(self, W: Any, least: float) -> None:
        W = _weights(W)
        super().__init__(W.shape, np.float64)
        own = W.diagonal()
        if np.any(own != 0):
            W = (W - sp.diags_array(own)).tocsr()
            W.eliminate_zeros()
        self.W, self.own = W, own
        self.outer = np.asarray(W.sum(axis=1)).ravel()  # to other nodes
        self.degrees = self.outer + own
        alone = int(np.count_nonzero(self.degrees <= least))
        if alone:
            raise InputError(
                "every node of a normalized graph has an edge with a positive weight",
                received=f"{alone} node{'s' * (alone != 1)} without one, the first being "
                f"{int(np.argmax(self.degrees <= least))}",
                hint="leave isolated nodes out, or join them to others",
            )

    @cached_property
    def components(self) -> np.ndarray:
        """The connected component of every node, (p,)."""
        if self.connected:
            return np.zeros(self.shape[0], np.int32)
        from scipy.sparse.csgraph import connected_components

        return np.asarray(connected_components(self.W, directed=False)[1])

    def _indicators(self, height: Any) -> np.ndarray:
        """Unit vectors, one for each component, of the height given for every node, (p, m)."""
        labels, values = self.components, np.broadcast_to(np.asarray(height, np.float64), self.degrees.shape)
        Q = np.zeros((self.shape[0], int(labels.max(initial=-1)) + 1))
        Q[np.arange(self.shape[0]), labels] = values / np.max(values, initial=1e-300)
        return np.asarray(Q / np.linalg.norm(Q, axis=0))

    def key(self) -> int:
        return key_of_numbers(self.degrees)


class Laplacian(_Graph):
    """``L = D − W``, or ``D^-½ (D − W) D^-½``, of a graph.

    Parameters
    ----------
    W : sparse matrix or array (p, p)
        Weights of the edges, none negative, W = Wᵀ.
    normalized : bool
        Whether rows and columns are divided by √d.
    connected : bool
        Whether the graph is known to be in one piece; otherwise its components are looked for.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.operators import Laplacian
    >>> L = Laplacian(np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))
    >>> L, L.to_dense()[1], L.null().ravel().round(3)
    (L  (3×3, float64), array([-2.,  3., -1.]), array([0.577, 0.577, 0.577]))
    """

    positive = True

    def __init__(self, W: Any, normalized: bool = False, connected: bool = False) -> None:
        super().__init__(W, 0.0 if normalized else -1.0)
        self.normalized, self.connected = bool(normalized), bool(connected)
        self.scale = 1 / np.sqrt(self.degrees) if normalized else np.ones(self.shape[0])

    def _matmat(self, V: Array) -> Array:
        scale = self.scale[:, None]
        T = scale * V
        return scale * (self.outer[:, None] * T - self.W @ T)

    def _rmatmat(self, U: Array) -> Array:
        return self._matmat(U)

    def trace(self) -> float:
        return float(np.sum(self.outer * self.scale * self.scale))

    def null(self) -> np.ndarray:
        """The known null vectors, one for each connected component, (p, m)."""
        return self._indicators(np.sqrt(self.degrees) if self.normalized else 1.0)

    def assembled(self) -> Assembled:
        """The weighted incidence matrix: rows √w_ij (s_i e_i − s_j e_j), i < j."""
        return self._incidence

    @cached_property
    def _incidence(self) -> Assembled:
        """The weighted incidence matrix: rows √w_ij (s_i e_i − s_j e_j), i < j."""
        upper = sp.triu(self.W, 1).tocoo()
        i, j, root = upper.row, upper.col, np.sqrt(upper.data)
        entries = np.column_stack([root * self.scale[i], -root * self.scale[j]])
        short = np.int32 if 2 * len(i) < np.iinfo(np.int32).max else np.int64  # which products are faster with
        places = np.column_stack([i, j]).astype(short, copy=False).ravel()
        ends = np.arange(0, 2 * len(i) + 1, 2, dtype=short)
        B = sp.csr_array((entries.ravel(), places, ends), shape=(len(i), self.shape[0]))
        # √w is rounded once; s also carries the sum of degrees, its root, a quotient and a product
        relative = 2 * U
        if self.normalized:
            relative += U * (int(np.max(np.diff(self.W.indptr), initial=0)) / 2 + 6)
        size = float(np.sqrt(_most(B, 0) * _most(B, 1)))
        return Assembled(root=B, noise=relative * size * (1 + 1e-9))

    def symbol(self) -> str:
        return "D^-½ L D^-½" if self.normalized else "L"


class Diffusion(_Graph):
    """``S = D^-½ W D^-½``, without the pairs that every graph has unless they are asked for.

    Parameters
    ----------
    W : sparse matrix or array (p, p)
        Weights, none negative, W = Wᵀ.
    trivial : bool
        Whether the eigenvalue 1 with D^½1, one for each connected component, stays.
    positive : bool
        Whether W, and so S, has no negative eigenvalue, as a Gaussian kernel has none.

    Examples
    --------
    >>> import numpy as np
    >>> from ritz.operators import Diffusion
    >>> S = Diffusion(np.ones((3, 3)) - np.eye(3))
    >>> S, S.trace()                              # eigenvalues 1, −½, −½; the first is taken off
    ((S − QQᵀ)  (3×3, float64), -1.0)
    """

    def __init__(self, W: Any, trivial: bool = False, positive: bool = False) -> None:
        super().__init__(W, 0.0)
        self.trivial, self.positive = bool(trivial), bool(positive)
        self.scale = 1 / np.sqrt(self.degrees)

    @cached_property
    def known(self) -> np.ndarray:
        """D^½1 on every component, unit vectors, (p, m)."""
        return self._indicators(np.sqrt(self.degrees))

    def _matmat(self, V: Array) -> Array:
        scale = self.scale[:, None]
        T = scale * V
        T = scale * (self.own[:, None] * T + self.W @ T)
        return T if self.trivial else T - self.known @ (self.known.T @ V)

    def _rmatmat(self, U: Array) -> Array:
        return self._matmat(U)

    def inflation(self) -> float:
        return 0.0 if self.trivial else 2.0  # ‖S‖ = 1 is rounded, and so is what is taken off

    def trace(self) -> float:
        whole = float(np.sum(self.own * self.scale * self.scale))
        return whole if self.trivial else whole - self.known.shape[1]

    def symbol(self) -> str:
        return "S" if self.trivial else "(S − QQᵀ)"


def _entries(B: Any, name: str) -> Any:
    """CSR in float64 with sorted indices, every number finite."""
    made = sp.csr_array(B, dtype=np.float64)
    made.sum_duplicates()
    if not bool(np.all(np.isfinite(made.data))):
        raise InputError(f"{name} has finite entries", received="NaN or infinity", hint=f"look at {name}")
    if made.shape[1] == 0:
        raise InputError(f"{name} has a column at least", received=f"shape {made.shape}")
    return made


def _weights(W: Any) -> Any:
    """Weights of a graph that equals its transpose, CSR, or a refusal."""
    if len(W.shape) != 2 or W.shape[0] != W.shape[1]:
        raise InputError("a graph is a square matrix of weights", received=f"shape {tuple(W.shape)}")
    made = _entries(W, "a graph")
    made.eliminate_zeros()
    if float(np.min(made.data, initial=0.0)) < 0:
        raise InputError("weights of edges are not negative", received=f"{float(made.data.min()):.6g}")
    mirror = made.T.tocsr()
    if all(np.array_equal(getattr(mirror, part), getattr(made, part)) for part in ("indptr", "indices", "data")):
        return made
    off = float(np.max(np.abs((made - mirror).data), initial=0.0))
    if off == 0:
        return made
    if off > MIRRORED * float(np.max(made.data)):
        raise InputError(
            "the weights of a graph equal their transpose",
            received=f"entries that differ from their mirror images by up to {off:.3g}",
            hint="pass W.maximum(W.T), or (W + W.T)/2",
        )
    return ((made + mirror) / 2).tocsr()


def _most(B: Any, axis: int) -> float:
    """The largest sum of |entries| of a row (1) or a column (0)."""
    return float(np.max(np.asarray(abs(B).sum(axis=axis)), initial=0.0))
