"""Locally linear embedding and its kin: standard, modified, Hessian, local tangent space alignment.

    M = BᵀB (n×n),  B1 = 0,      M y = λ y  for the c smallest λ off 1,      YᵀY = n·I

B states for each neighbourhood what stays true on a curved surface: which weights make a row of its neighbours
(standard, modified), that coordinates are affine in tangent coordinates (ltsa), or that they have no second derivative
(hessian).                                                                            [RS00; ZW07; DG03; ZZ04]
"""

from __future__ import annotations

import numbers
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import AccuracyWarning, InputError, ParameterError
from ritz._core.warn import warn
from ritz.data.words import counted
from ritz.graphs.neighbours import NEIGHBOURS
from ritz.kernels.rows import is_sparse
from ritz.methods.fitted.about import About
from ritz.methods.manifold.hoods import Differences, Grams, Measured, Vectors, about_new, unit_of
from ritz.methods.manifold.local import Local, Part, one_of
from ritz.methods.manifold.nodes import Nodes, nodes_of, require_neighbours
from ritz.methods.manifold.weights import METHODS, alignment, batches, least_neighbours, of_products
from ritz.methods.posed import Posed
from ritz.operators import Aligned
from ritz.spectral.solution import Solution

__all__ = ["LLE"]

Floats = NDArray[np.float64]

DISCONNECTED = ("apart", "largest", "error")
#: Multiple of the distance to the last neighbour at which weights of the affine map vanish, and what keeps it from 0.
#: On a curved sheet these weights lower the error of new rows by a quarter, and noise they hardly raise.
BEYOND, TINY = 1.05, 1e-300


class LLE(Local):
    """Locally linear embedding: coordinates that keep how each row lies among its neighbours.

    Parameters
    ----------
    n_components : int
        Number of axes.
    method : "standard", "modified", "hessian" or "ltsa"
        Weights that make each row of its neighbours; several weights a row; Hessian LLE as Donoho and Grimes wrote it;
        local tangent space alignment.
    n_neighbors : int, optional
        Neighbours of each row. 10 if absent, or as many as the method needs: ``"hessian"`` needs
        1 + c + c(c + 1)/2 for c axes.
    reg : float
        What is added to the diagonal of the k×k matrices of ``"standard"`` and ``"modified"``, as a share of their
        trace: 1e-3, as scikit-learn; R's lle takes 0.01/k where k > d.
    metric, metric_params
        As for :class:`ritz.Neighbours`: a distance, a kernel, a function, or ``"precomputed"`` distances, all of them
        or those of a sparse graph that holds the distances among the neighbours of each row. All but dense rows with
        Euclidean distances are seen through the distances within each neighbourhood; where no Euclidean rows have
        these, their negative parts count as zero.
    standardize : bool
        Divide columns by their standard deviations first; new rows are divided by the same.
    disconnected : "apart", "largest" or "error"
        Components of the graph of neighbours are embedded each by itself, or only the largest is, each with a
        warning; or refused.
    solver, tol, random_state, memory, device, progress
        As for :class:`ritz.PCA`.

    Attributes
    ----------
    embedding_ : (n, c) coordinates, of mean 0 and variance 1 in every component; NaN for rows left out
    eigenvalues_ : (c,) smallest eigenvalues of M but the known zero, increasing, of the largest component
    spectra_ : (components, c) those of every component
    component_labels_ : (n,) the component of each row, 0 the largest; −1 for rows left out
    X_fit_ : the distinct rows, divided by ``spread_``
    n_neighbors_ : int
    certificate_, certificates_ : of the largest component, of every one
    search_ : what is proved about the neighbours
    spread_ : (d,) standard deviations that columns were divided by, or None
    plan_, n_components_, n_connected_components_, n_samples_, n_features_in_

    Examples
    --------
    >>> import numpy as np, ritz
    >>> rng = np.random.default_rng(0)
    >>> t, height = rng.uniform(0, 3, 500), rng.uniform(0, 2, 500)
    >>> X = np.c_[np.cos(t), np.sin(t), height]          # a sheet, rolled up
    >>> Y = ritz.LLE(2, method="ltsa", n_neighbors=10).fit_transform(X)
    >>> A = np.c_[np.ones(500), Y]                        # arc length and height, but for an affine map
    >>> fit = A @ np.linalg.lstsq(A, np.c_[t, height], rcond=None)[0]
    >>> bool(np.abs(fit - np.c_[t, height]).max() < 0.01)
    True
    """

    about: ClassVar[About] = About(
        "Locally linear embedding", "lle", "LLE", measure="eigenvalue", whole="trace", cites=("[RS00]",),
        tells="says how far an axis is from being linear within neighbourhoods: 0 is perfect, and the least come first",
        paper="S. T. Roweis and L. K. Saul, Nonlinear dimensionality reduction by locally linear embedding, "
        "Science 290 (2000), 2323–2326.",
    )  # fmt: skip

    def __init__(
        self, n_components: Any = 2, *, method: str = "standard", n_neighbors: int | None = None, reg: float = 1e-3,
        metric: Any = "euclidean", metric_params: dict[str, Any] | None = None, disconnected: str = "apart",
        standardize: bool = False, solver: str = "auto", tol: float = 1e-6, random_state: Any = 0, memory: Any = None,
        device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components, self.method, self.n_neighbors, self.reg, self.disconnected = (
            n_components,
            method,
            n_neighbors,
            reg,
            disconnected,
        )
        self.metric, self.metric_params = metric, metric_params
        self.standardize, self.solver, self.tol, self.random_state = standardize, solver, tol, random_state
        self.memory, self.device, self.progress = memory, device, progress

    def _check_parameters(self) -> None:
        super()._check_parameters()
        one_of("method", self.method, METHODS)
        one_of("disconnected", self.disconnected, DISCONNECTED)
        if not isinstance(self.n_components, numbers.Integral) or isinstance(self.n_components, bool):
            raise ParameterError("n_components must be a whole number: no rule says where smallest eigenvalues end",
                                 received=repr(self.n_components), hint="n_components=2")  # fmt: skip
        if int(self.n_components) < 1:
            raise ParameterError("n_components must be at least 1", received=repr(self.n_components))
        if not isinstance(self.reg, numbers.Real) or isinstance(self.reg, bool) or not 0 < float(self.reg) < np.inf:
            raise ParameterError("reg must be a number > 0", received=repr(self.reg), hint="reg=1e-3")

    def _wanted_k(self, n: int) -> int:
        c = int(self.n_components)
        least = least_neighbours(self.method, c)
        if self.n_neighbors is None:
            k = min(max(NEIGHBOURS, least), n - 1)
        else:
            k = int(require_neighbours(self.n_neighbors, n))
        few = n - 1 < least
        self._require_least(k, f"{n:,} rows" if few else f"n_neighbors={k}", few=few)
        return k

    def _require_least(self, k: int, received: str, *, few: bool) -> None:
        """Refuse fewer neighbours than the method can do with; ``few``: there are not as many rows."""
        c = int(self.n_components)
        least = least_neighbours(self.method, c)
        if least > k:
            raise (InputError if few else ParameterError)(
                f"method={self.method!r} with n_components={c} needs at least {least} neighbours of each row",
                received=received, hint="more rows, or fewer components" if few else f"n_neighbors={least}, or more",
            )  # fmt: skip

    def _plain(self, rows: Any) -> bool:
        """Whether neighbourhoods are differences of dense rows."""
        return isinstance(self.metric, str) and self.metric in ("euclidean", "l2") and not is_sparse(rows)

    def _squares(self, rows: Any) -> bool:
        return not self._plain(rows)

    def _parts(self, rows: Any) -> tuple[Nodes, list[Part]]:
        n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
        k, c = self._wanted_k(n), int(self.n_components)
        nodes = nodes_of(
            rows, self.disconnected, k=k, metric=self.metric, metric_params=self.metric_params, memory=self.memory,
            fewer=self.n_neighbors is None,
        )  # fmt: skip
        self._require_sizes(nodes)
        near = nodes.near.kneighbors(return_distance=False)
        self.n_neighbors_ = int(near.shape[1])
        self._require_least(self.n_neighbors_, f"{nodes.count:,} distinct rows", few=True)
        X = None
        if self._plain(rows):
            X = np.asarray(nodes.rows, np.float64)
            X = X - X.mean(axis=0)  # differences of rows far from the origin lose nothing by it
        parts, flat = [], 0
        number = np.empty(nodes.count, np.intp)
        for index in nodes.parts:  # neighbours of a row lie in its component
            number[index] = np.arange(len(index))
            hoods: Any = Measured(nodes.near._space, index) if X is None else Differences(X[index])
            B, few = alignment(hoods, number[near[index]], self.method, c, float(self.reg))
            flat += few
            null = np.ones(len(index))
            parts.append(Part(index, Posed(Aligned(B, null=null), kind="eigh", which="smallest")))
        if self.method in ("ltsa", "hessian"):
            _warn_of_strangers(near, nodes.place, self.method)
        if flat and self.method != "standard":
            warn(
                f"{counted(flat, 'neighbourhood')} of {nodes.count:,} {'has' if flat == 1 else 'have'} fewer than "
                f"{counted(c, 'direction')}: their rows lie in a line, or the like; the others are arbitrary there\n"
                "hint: more neighbours, or fewer components",
                AccuracyWarning,
            )
        return nodes, parts

    def _coordinates(self, part: Part, solution: Solution) -> Floats:
        return np.asarray(solution.vectors * np.sqrt(len(part.index)))

    def _place(self, rows: Any) -> Floats:
        """Barycentric weights, or the affine map of the neighbourhood; a row of the fit keeps its coordinates."""
        record, plain = self._record, self._plain(self.X_fit_)
        m = len(record.part)
        k = min(self.n_neighbors_, m)
        distances, near = self._nearest(rows, k).arrays()
        X = np.asarray(self.X_fit_, np.float64) if plain else None
        Y = np.empty((len(near), record.nodes.shape[1]))
        rows = np.asarray(rows, np.float64) if plain else rows
        if X is not None and (unit := unit_of(X)) != 1:
            X, rows = X / unit, rows / unit
        for at in batches(len(near), k, 1 if X is None else X.shape[1]):
            some = near[at]
            absent = record.part[some] != record.part[some[:, :1]]
            hood: Any = Vectors(X[some] - rows[at, None]) if X is not None else None
            hood = Grams(about_new(self._space(), distances[at], some)) if hood is None else hood
            if self.method in ("standard", "modified"):
                Y[at] = np.einsum("nk,nkc->nc", of_products(hood.gram(), float(self.reg), absent), record.nodes[some])
                continue
            w = np.where(absent, 0.0, 1 - np.square(distances[at] / (BEYOND * distances[at, -1:] + TINY)))
            affine = _affine_of_products(hood.gram(), record.nodes[some], w) if X is None else None
            Y[at] = _affine(hood.P, record.nodes[some], w) if affine is None else affine
        own = distances[:, 0] == 0
        Y[own] = record.nodes[near[own, 0]]
        return Y


def _warn_of_strangers(near: Any, place: Any, method: str) -> None:
    """Say which rows are in no neighbourhood: their columns of B are 0, and each takes an axis of eigenvalue 0."""
    strangers = np.flatnonzero(np.bincount(near.ravel(), minlength=len(near)) == 0)
    if not len(strangers):
        return
    one, first = len(strangers) == 1, int(np.flatnonzero(place == strangers[0])[0])
    learns, gives = ("it", "it an axis") if one else ("them", "each an axis")
    warn(
        f"{counted(len(strangers), 'row')} {'is' if one else 'are'} among the neighbours of no other, such as row "
        f"{first}: method={method!r} learns nothing about {learns}, and gives {gives} of its own\n"
        "hint: more neighbours, or method='standard' or 'modified'",
        AccuracyWarning,
    )


def _affine(P: Floats, Y: Floats, w: Floats) -> Floats:
    """Where the affine map from tangent coordinates to Y sends the point that differences P (n, k, d) start from.

    It is fitted with weights w (n, k): of rows farther away less is asked.
    """
    c, share, root = Y.shape[2], w / w.sum(axis=1, keepdims=True), np.sqrt(w)
    centre, mean = np.einsum("nk,nkd->nd", share, P), np.einsum("nk,nkc->nc", share, Y)
    Z = (P - centre[:, None]) * root[:, :, None]
    U, s, Vt = np.linalg.svd(Z, full_matrices=False)
    U, s, Vt = U[:, :, :c], s[:, :c], Vt[:, :c]
    inverse = np.where(s > 1e-12 * s[:, :1], 1 / np.where(s > 0, s, 1.0), 0.0)
    theta = np.einsum("njd,nd->nj", Vt, -centre) * inverse  # tangent coordinates of the point, over s
    return np.asarray(mean + np.einsum("nj,nkj,nk,nkc->nc", theta, U, root, Y - mean[:, None], optimize=True))


def _affine_of_products(G: Floats, Y: Floats, w: Floats) -> Floats:
    """The same from products G = PPᵀ (n, k, k): UᵀZ(−centre)/s², where ZZᵀ = U s² Uᵀ, Z = diag(√w)(P − 1·centre)."""
    c, share, root = Y.shape[2], w / w.sum(axis=1, keepdims=True), np.sqrt(w)
    to_centre = np.einsum("njl,nl->nj", G, share)  # p_j·centre
    own = np.einsum("nj,nj->n", to_centre, share)  # centre·centre
    K = G - to_centre[:, :, None] - to_centre[:, None] + own[:, None, None]
    values, U = np.linalg.eigh(root[:, :, None] * K * root[:, None])
    values, U = values[:, ::-1][:, :c], U[:, :, ::-1][:, :, :c]
    there = values > 1e-12 * values[:, :1]
    theta = np.einsum("nkj,nk->nj", U, root * (own[:, None] - to_centre)) * there / np.where(there, values, 1.0)
    mean = np.einsum("nk,nkc->nc", share, Y)
    return np.asarray(mean + np.einsum("nj,nkj,nk,nkc->nc", theta, U, root, Y - mean[:, None], optimize=True))
