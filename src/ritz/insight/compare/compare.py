"""Two models of the same columns, or of the same rows: do they say the same?

    angles        θᵢ = arccos σᵢ(QₐᵀQ_b)              Q orthonormal bases of the components (d×k), or scores (n×k)
    matching      components paired so that Σ|cos| is largest, each with its sign
    Procrustes    min ‖F − s G R‖², RᵀR = I           m² = 1 − (Σσ(GᵀF))²/(‖F‖²‖G‖²),  in [0, 1]
    RV            tr(FFᵀGGᵀ)/(‖FFᵀ‖·‖GGᵀ‖)           in [0, 1], 1 when rows lie alike up to turn and size   [RE76]
    beyond chance (RV − E)/(1 − E)                    E = tr(FᵀF)tr(GᵀG)/((n − 1)‖FFᵀ‖·‖GGᵀ‖)            [KHSL95]

F, G (n×k) are centred scores; without rows, loadings of the columns, not centred. E is the exact mean over all orders
of the rows: RV of unrelated tables is far from 0 when there are few rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz._core.tabular import Tabular
from ritz.data.validate import validate_weights
from ritz.insight.axes.of_model import axis_names, scores_of
from ritz.insight.calls import asked
from ritz.methods.fitted import fitted_of, require_fitted

__all__ = [
    "Comparison",
    "Match",
    "Procrustes",
    "basis_of",
    "common_bases",
    "compare",
    "cosines",
    "matching",
    "procrustes",
    "rv",
]

Floats = NDArray[np.float64]

#: Spaces of the first components whose angles are told where the whole space is compared.
SHOWN_SPACES = 5
#: |cos| from which on two components are called the same (as congruence is read [LtB06]), and below which they are not
#: called each other's counterparts.
SAME, FAR = 0.85, 0.5


@dataclass(frozen=True)
class Match:
    """A component of one model and its counterpart in the other."""

    a: int
    b: int
    sign: int
    cosine: float  # |cos| of components, or |correlation| of scores

    def __repr__(self) -> str:
        return f"{self.a + 1} ↔ {self.b + 1} {'+' if self.sign > 0 else '−'}{self.cosine:.3f}"


@dataclass(frozen=True)
class Procrustes:
    """The turn and stretch that bring the second configuration closest to the first.

    Attributes
    ----------
    rotation : (kb, ka) orthogonal, rows or columns of zeros where one model has fewer components
    scale : s
    distance : m² in [0, 1]; 0 when the configurations are the same up to turn and size
    """

    rotation: Floats
    scale: float
    distance: float


@dataclass(frozen=True)
class Comparison(Tabular):
    """How alike two models are.

    Attributes
    ----------
    angles : degrees, increasing, between the subspaces of the components, or of the scores where ``of`` is "scores"
    matched : pairs of components with their signs and |cos|
    procrustes : rotation, scale and distance of the second configuration
    rv, rv_adjusted : in [0, 1]; the second is 0 on average for unrelated rows, and NaN without rows
    of : "components" or "scores": what angles and matches are about
    n : rows that were compared; None without
    notes : in words
    nested : where both models span the whole space, which has no angle with itself: the largest angle, in degrees,
        between the spaces of the first 1, 2, … components; empty otherwise
    """

    angles: Floats
    matched: tuple[Match, ...]
    procrustes: Procrustes
    rv: float
    rv_adjusted: float
    of: str
    n: int | None
    notes: tuple[str, ...]
    names: tuple[tuple[str, ...], tuple[str, ...]]
    nested: tuple[float, ...] = ()

    def __repr__(self) -> str:
        ka, kb = len(self.names[0]), len(self.names[1])
        what = "subspaces" if self.of == "components" else "score spaces"
        shown = ", ".join(f"{angle:.3g}°" for angle in self.angles[:8]) + (", …" if len(self.angles) > 8 else "")
        lines = [f"{ka} and {kb} components: {what} {_close(self.angles)} (principal angles {shown})"]
        if self.nested:
            head = (
                "each model keeps all of them, so that both span the whole space, and components are compared instead"
            )
            spaces = [
                f"  the first components are {angle:.3g}° apart" if j == 1 else
                f"  the spaces of the first {j} are {angle:.3g}° apart" for j, angle in enumerate(self.nested, 1)
            ]  # fmt: skip
            lines = [f"{ka} and {kb} components: {head}", *spaces]
        for match in self.matched[:10]:
            word = "" if match.sign > 0 else ", the other way round"
            verb = "is" if match.cosine >= SAME else "is nearest to"
            lines.append(
                f"  {self.names[0][match.a]} {verb} {self.names[1][match.b]}{word}: |cos| {match.cosine:.3f}"
                if match.cosine >= FAR
                else f"  {self.names[0][match.a]} has no counterpart: the nearest, {self.names[1][match.b]}, has |cos| "
                f"{match.cosine:.3f}"
            )
        about = "loadings" if self.n is None else f"scores of {self.n:,} rows"
        beyond = "" if np.isnan(self.rv_adjusted) else f" ({self.rv_adjusted:.3f} beyond chance)"
        lines.append(f"{about}: RV {self.rv:.3f}{beyond}, Procrustes distance {self.procrustes.distance:.3g}")
        return "\n".join([*lines, *self.notes])

    def _table(self) -> dict[str, Any]:
        pairs = [(self.names[0][m.a], self.names[1][m.b], m.sign, m.cosine) for m in self.matched]
        titles = ("a", "b", "sign", "cosine")
        return {title: [pair[i] for pair in pairs] for i, title in enumerate(titles)}


def _nested(A: Floats, B: Floats) -> tuple[float, ...]:
    """Angles between the spaces of the first components, where both models keep the whole space of the columns."""
    d = A.shape[0]
    if min(np.linalg.matrix_rank(A), np.linalg.matrix_rank(B)) < d or d < 2:
        return ()
    return tuple(float(_angles(A[:, :j], B[:, :j])[-1]) for j in range(1, min(d - 1, SHOWN_SPACES) + 1))


def _close(angles: Floats) -> str:
    worst = float(angles[-1]) if len(angles) else 0.0
    if worst < 1e-5:
        return "are the same"
    return "agree" if worst < 10 else "agree in part" if float(angles[0]) < 30 else "have little in common"


@asked
def compare(a: Any, b: Any, X: Any = None, *, sample_weight: Any = None) -> Comparison:
    """Compare two fitted models.

    Parameters
    ----------
    a, b : fitted models, or arrays of scores (n, k)
        With components on the same columns, or with scores of the same rows; any methods, any numbers of components.
    X : rows, or a pair of tables for a and for b, optional
        Compares the scores of these rows; a pair where the models have different columns. Without it components are
        compared.
    sample_weight : (n,) weights of the rows, or None

    Examples
    --------
    >>> import ritz
    >>> from ritz import insight
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True).data.rename(columns=lambda name: name.removesuffix(" (cm)"))
    >>> pca = ritz.PCA(2, scale=True).fit(X)
    >>> raw = ritz.PCA(2).fit(X)
    >>> found = insight.compare(pca, raw)
    >>> found.angles.round()                      # degrees between the planes with and without scaling
    array([15., 31.])
    >>> [(match.a, match.b, round(match.cosine, 2)) for match in found.matched]
    [(0, 0, 0.91), (1, 1, 0.91)]
    """
    given = isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
    bases = None if given else common_bases(a, b)
    names = tuple(_names(model) for model in (a, b))
    if not given and X is None:
        if bases is None:
            raise InputError(
                "models of different columns are compared by the scores of the same rows", received="no rows",
                hint="compare(a, b, X), or compare(a, b, (Xa, Xb)) where their columns differ",
            )  # fmt: skip
        La, Lb = (_loadings(model) for model in (a, b))
        M = cosines(*bases)
        return Comparison(
            _angles(*bases), matching(M), procrustes(La, Lb), rv(La, Lb)[0], np.nan, "components", None,
            _frame_notes(a, b), (names[0], names[1]), _nested(*bases),
        )  # fmt: skip
    F, G = (a, b) if given else _scores(a, b, X)
    F, G = (_centred(np.asarray(scores, np.float64), sample_weight) for scores in (F, G))
    if len(F) != len(G) or len(F) < 3:
        raise InputError(
            "expected scores of the same rows, three at least", received=f"{len(F)} and {len(G)} rows",
            hint="compare(a, b, X)",
        )  # fmt: skip
    of = "scores" if bases is None else "components"
    M, angles = (cosines(F, G), _angles(F, G)) if bases is None else (cosines(*bases), _angles(*bases))
    alike, beyond = rv(F, G)
    notes = () if bases is None else _frame_notes(a, b)
    nested = () if bases is None else _nested(*bases)
    return Comparison(
        angles, matching(M), procrustes(F, G), alike, beyond, of, len(F), notes, (names[0], names[1]), nested
    )  # fmt: skip


# measures


def cosines(A: Floats, B: Floats) -> Floats:
    """Cosines between the columns of A and those of B, (ka, kb); 0 for columns of zeros."""
    na, nb = (np.linalg.norm(basis, axis=0) for basis in (A, B))
    return np.asarray((A / np.where(na > 0, na, 1.0)).T @ (B / np.where(nb > 0, nb, 1.0)))


def matching(M: Floats) -> tuple[Match, ...]:
    """Pairs of components, in the order of the first model, that make Σ|cos| largest."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(-np.abs(M))
    return tuple(
        Match(int(i), int(j), 1 if M[i, j] >= 0 else -1, float(min(abs(M[i, j]), 1.0)))
        for i, j in zip(rows, columns, strict=True)
    )


def _angles(A: Floats, B: Floats) -> Floats:
    from scipy.linalg import subspace_angles

    return np.sort(np.degrees(subspace_angles(A, B)))


def procrustes(F: Floats, G: Floats) -> Procrustes:
    """The rotation and scale that bring G closest to F."""
    U, s, Vt = np.linalg.svd(G.T @ F, full_matrices=False)
    size_f, size_g = float(np.sum(np.square(F))), float(np.sum(np.square(G)))
    if size_f == 0 or size_g == 0:
        return Procrustes(U @ Vt, 0.0, 1.0)
    return Procrustes(U @ Vt, float(s.sum()) / size_g, max(1.0 - float(s.sum()) ** 2 / (size_f * size_g), 0.0))


def rv(F: Floats, G: Floats) -> tuple[float, float]:
    """RV coefficient of two configurations of the same rows, and what of it is beyond chance."""
    size = float(np.linalg.norm(F.T @ F) * np.linalg.norm(G.T @ G))
    if size == 0:
        return 0.0, 0.0
    alike = float(np.sum(np.square(F.T @ G))) / size
    chance = float(np.sum(np.square(F)) * np.sum(np.square(G))) / ((len(F) - 1) * size)
    return min(alike, 1.0), (alike - chance) / (1 - chance) if chance < 1 else np.nan


# from models


def basis_of(model: Any) -> Floats | None:
    """Components as columns (d, k), in the frame of the fit; None where a model has none."""
    require_fitted(model)
    components = getattr(model, "components_", None)  # read first: it solves a pending state
    return None if components is None else np.asarray(components, np.float64).T


def common_bases(a: Any, b: Any) -> tuple[Floats, Floats] | None:
    """Components on the same columns; None where columns differ or a model has none."""
    A, B = basis_of(a), basis_of(b)
    if A is None or B is None or A.shape[0] != B.shape[0]:
        return None
    names = [getattr(model, "feature_names_in_", None) for model in (a, b)]
    if names[0] is not None and names[1] is not None and [*map(str, names[0])] != [*map(str, names[1])]:
        return None
    return A, B


def _loadings(model: Any) -> Floats:
    return fitted_of(model).directions()


def _scores(a: Any, b: Any, X: Any) -> tuple[Floats, Floats]:
    pair = isinstance(X, tuple) and len(X) == 2
    Xa, Xb = X if pair else (X, X)
    return scores_of(a, Xa), scores_of(b, Xb)


def _centred(F: Floats, sample_weight: Any) -> Floats:
    if F.ndim != 2 or not np.isfinite(F).all():
        raise InputError("expected finite scores of shape (n, k)", received=f"shape {F.shape}")
    if sample_weight is None:
        return F - F.mean(axis=0)
    w = validate_weights(sample_weight, len(F))
    return (F - np.average(F, axis=0, weights=w)) * np.sqrt(w / w.mean())[:, None]


def _names(model: Any) -> tuple[str, ...]:
    if isinstance(model, np.ndarray):
        if model.ndim != 2:
            raise ParameterError("expected scores of shape (n, k)", received=f"shape {model.shape}")
        return tuple(f"axis {i + 1}" for i in range(model.shape[1]))
    require_fitted(model)
    k = model.components_.shape[0] if hasattr(model, "components_") else model.n_components_
    return tuple(axis_names(model, int(k)))


def _frame_notes(a: Any, b: Any) -> tuple[str, ...]:
    """What differs in how the columns were prepared."""
    scaled = [getattr(model, "scale_", None) is not None for model in (a, b)]
    if scaled[0] != scaled[1]:
        return ("one model is of standardised columns, the other is not: their components are in different units",)
    return ()
