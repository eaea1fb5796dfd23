"""The check of an unfolding against pairs that were measured anew, with nothing of the solvers.

‖z_i − z_j‖² ≤ c_a           for every pair, by differences of the stored points
variance ≤ Σ‖z_i − z̄‖²,      Σ w_a c_a/λ ≤ bound
λ ≤ λ₂(L(w))                 n ≤ 2,000: by LAPACK; otherwise one negative pivot of L(w) − λI, that of the ones, with
                             the rows in an order of chance
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from ritz._core.tolerance import rounding
from ritz.methods.manifold.nodes import Nodes
from ritz.methods.manifold.unfolding.pairs import Pairs
from ritz.methods.manifold.unfolding.proof import gap_of
from ritz.spectral.verify.smallest import DENSE, negative_pivots

__all__ = ["check_unfolding", "held_by", "placed_by"]

Floats = NDArray[np.float64]

#: Relative differences that rounding leaves, and how far below λ pivots are counted.
CLOSE, BELOW = 1e-9, 1e-7
U = 2.0**-53


def check_unfolding(
    pairs: Pairs, Z: Floats, w: Floats, told: tuple[float, float, float, float], equal: bool
) -> tuple[list[str], list[str]]:
    """What is wrong, and what was looked at; ``told``: variance, bound, λ, violation."""
    variance, bound, least, violation = told
    if len(w) != len(pairs) or len(Z) != pairs.n:
        return [f"weights of {len(w):,} pairs, and the rows have {len(pairs):,}: other rows, or other neighbours"], []
    if not (np.isfinite(Z).all() and np.isfinite(w).all()):
        return ["points or weights that are not finite"], []
    wrong = []
    square = np.array([np.sum((Z[i] - Z[j]) ** 2) for i, j in zip(pairs.i, pairs.j, strict=True)]) / pairs.unit**2
    excess = square / pairs.squares - 1
    off = float(np.max(np.abs(excess) if equal else excess))
    if off > (violation * (1 + 1e-6) if equal else 0.0) + CLOSE:
        wrong.append(f"a pair of rows is {off:.1e} of its squared distance too long in the map")
    own = float(np.sum(np.square(Z - Z.mean(axis=0))))
    if abs(own - variance) > CLOSE * own:
        wrong.append(f"the variance of the points is {own:.9g}, told {variance:.9g}")
    if not equal and bool(np.any(w < 0)):
        wrong.append("a weight is negative")
    if np.isfinite(bound):
        proved = float(w @ pairs.squares) / least * pairs.unit**2 if least > 0 else float("inf")
        if not proved <= bound * (1 + CLOSE):
            wrong.append(f"the weights prove a bound of {proved:.9g}, told {bound:.9g}")
        wrong += _second(pairs, w, least)
    words = [f"{len(pairs):,} pairs measured anew, the longest {off:+.1e}; smallest eigenvalue of the weights as told"]
    return wrong, words


def _second(pairs: Pairs, w: Floats, least: float) -> list[str]:
    """Whether λ₂(L(w)) is at least λ."""
    L, n = pairs.laplacian(w), pairs.n
    if n <= DENSE:
        P = scipy.linalg.qr(np.ones((n, 1)))[0][:, 1:]
        values = scipy.linalg.eigvalsh(P.T @ (L @ P)) if n > 1 else np.array([np.inf])
        if values[0] < least - 4 * rounding(n, U) * float(values[-1]):
            return [f"λ₂ of the weights is {values[0]:.12g}, told at least {least:.12g}"]
        return []
    share = 1 + int.from_bytes(os.urandom(4), "little") / 2**32
    below = negative_pivots(sp.csc_array(L), least * (1 - share * BELOW))
    if below is not None and below != 1:
        return [f"{below - 1} eigenvalues of the weights lie below {least:.12g}"]
    return []


def placed_by(model: Any, c: Any, index: Any) -> list[str]:
    """Whether the coordinates of a component are those of its certificate."""
    Y = np.asarray(c.frame["vectors"], np.float64) * np.sqrt(np.maximum(c.values, 0.0))
    if _alike(np.asarray(model._record.nodes[index]), Y):
        return []
    return ["coordinates of the model are not those of its certificate"]


def held_by(model: Any, nodes: Nodes) -> list[str]:
    """What a model holds that does not agree with itself or with the rows."""
    record, values = model._record, model.certificate_.values
    told, place = np.asarray(record.told), nodes.place
    variance, bound = float(told[:, 0].sum()), float(told[:, 1].sum())
    spectra = np.array([one.values for one in model.certificates_])
    if len(record.nodes) != nodes.count or len(record.part) != nodes.count:
        return [f"the model is of {len(record.nodes):,} distinct rows, and there are {nodes.count:,}"]
    expected: dict[str, Any] = {
        "embedding_": np.where((place >= 0)[:, None], record.nodes[place], np.nan),
        "component_labels_": np.where(place >= 0, nodes.labels[place], -1),
        "eigenvalues_": values, "spectra_": spectra, "variance_": variance, "bound_": bound,
        "gap_": gap_of(variance, bound), "violation_": told[:, 3].max(), "n_pairs_": len(record.duals),
        "n_samples_": len(place), "n_components_": len(values), "n_connected_components_": len(model.certificates_),
    }  # fmt: skip
    wrong = [
        f"{name} of the model is not what its certificate and its data say"
        for name, value in expected.items()
        if not _alike(np.asarray(getattr(model, name), np.float64), np.asarray(value, np.float64))
    ]
    if model.n_neighbors_ != nodes.near.k_:
        wrong.append("n_neighbors_ of the model is not that of its rows")
    if not np.array_equal(record.part, nodes.labels) or not _alike(np.asarray(record.spectra), spectra):
        wrong.append("components of the model are not those of its rows")
    if isinstance(model.X_fit_, np.ndarray) and not np.array_equal(model.X_fit_, np.asarray(nodes.rows)):
        wrong.append("X_fit_ of the model are not the rows")
    return wrong


def _alike(a: Any, b: Any) -> bool:
    if np.shape(a) != np.shape(b):
        return False
    size = float(np.max(np.abs(np.nan_to_num(b)), initial=0.0))
    return bool(np.allclose(a, b, rtol=CLOSE, atol=CLOSE * size, equal_nan=True))
