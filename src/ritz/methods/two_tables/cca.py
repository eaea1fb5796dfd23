"""Canonical correlation analysis: pairs of directions in two tables whose scores are most correlated.

    X̃ = UₓDₓVₓᵀ,  Ỹ = UᵧDᵧVᵧᵀ      K = UₓᵀUᵧ = L diag(ρ) Mᵀ      t = X̃ VₓDₓ⁻¹L √(Σw − 1),  u = Ỹ VᵧDᵧ⁻¹M √(Σw − 1)

The canonical correlations are cosines of the angles between what the columns of the two tables span [BG73]: the
singular values of a product of two orthonormal bases. No covariance is formed or inverted, so ρ is right to about
κ·u and not κ²·u, κ the condition of the columns of unit variance. A ridge λ takes D/√(D² + λ(Σw − 1)) for the bases and
√(D² + λ(Σw − 1)) for D: regularised canonical correlations [Vin76].

    Λ_j = Π_{i>j} (1 − ρᵢ²)       −(Σw − 1 − (d + q + 1)/2) log Λ_j ~ χ² on (d − j)(q − j)        Bartlett [Bar47]
                                  and Rao's F for the same Λ_j [Rao51]
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import AccuracyWarning, InputError, ParameterError
from ritz._core.factors import svd
from ritz._core.warn import warn
from ritz.data.words import counted
from ritz.methods.fitted.about import About
from ritz.methods.fitted.two_tables import TwoTableModel
from ritz.methods.posed import Posed
from ritz.methods.two_tables.base import TwoTables
from ritz.methods.two_tables.components import Found
from ritz.methods.two_tables.joint import FORMED, Cross, Joint, U
from ritz.spectral.solution import Solution

__all__ = ["CCA"]

Floats = NDArray[np.float64]

#: Singular values of columns of unit length, in units of the largest and of u·√(m·d), below which they are rounding.
NOTHING = 4.0


@dataclass(frozen=True)
class White:
    """An orthonormal basis of what columns span, and the way to it."""

    basis: Floats  # (m, r) U·g, g ≤ 1 where there is a ridge
    to: Floats  # (d, r) V/√(D² + λ'): X̃ @ to = basis
    condition: float


class CCA(TwoTables):
    """Canonical correlation analysis, with a certificate of the correlations.

    Parameters
    ----------
    n_components : int, None or "bartlett"
        A number; None for all, as many as the smaller table has columns; or as many as Bartlett's test finds at the
        level of 0.05, one at least.
    ridge : float or (float, float)
        What is added to the variance of every column, in units of the mean variance of the columns of its table; one
        number for both tables, or one for each. 0: plain canonical correlations.
    scale : bool
        Divide the columns of both tables by their standard deviations. Without a ridge the correlations are the same.
    target : None, name, number, or a list of them
        Columns of the table given to ``fit`` that are the second table; None where it is given as ``y``.
    solver, tol, random_state, memory, device, progress
        As for :class:`ritz.PCA`.

    Attributes
    ----------
    canonical_correlations_ : (k,) correlations of the scores of the two tables
    x_rotations_, y_rotations_ : (d, k), (q, k); scores have unit variance
    x_weights_, y_weights_ : the same, of unit length
    x_loadings_, y_loadings_ : (d, k), (q, k) regressions of the columns of both tables on the scores of the first
    components_ : (k, d) the rotations of the first table
    wilks_, chi2_, dof_, p_values_ : (s,) test that no more than 0, 1, … of all s correlations differ from zero
        (Bartlett's χ²); NaN with a ridge, or where there are too few rows
    f_values_, f_dof_, f_p_values_ : (s,), (s, 2), (s,) the same by Rao's F
    explained_variance_, explained_variance_ratio_ : (k,) of the first table
    y_explained_variance_ratio_ : (k,) redundancy: what the scores of the first table say of the second
    coef_, intercept_, mean_, scale_, y_mean_, y_scale_, target_names_ : as for :class:`ritz.PLS`
    rank_, y_rank_ : dimensions that the columns of each table span
    certificate_, plan_, n_components_, n_samples_, n_features_in_

    Examples
    --------
    >>> import ritz
    >>> from sklearn.datasets import load_linnerud
    >>> exercise, body = load_linnerud(return_X_y=True)   # 20 men: three exercises, three measures
    >>> cca = ritz.CCA().fit(exercise, body)
    >>> cca.canonical_correlations_.round(4)
    array([0.7956, 0.2006, 0.0726])
    >>> cca.f_p_values_.round(4)                          # at 5 %, not even one is beyond doubt
    array([0.0635, 0.9491, 0.7748])
    >>> bool(cca.verify(exercise, body))
    True
    """

    about: ClassVar[About] = About(
        "Canonical correlation analysis",
        "cca",
        "CV",
        component="canonical variate",
        whole="variance of the first table",
        behind="the canonical correlations, squared",
        cites=("[BG73]", "[Hot36]"),
        paper="H. Hotelling, Relations between two sets of variates, Biometrika 28 (1936), 321–377.",
    )
    fitted: ClassVar[type[TwoTableModel]] = TwoTableModel
    _by_angles = True
    _words: ClassVar[tuple[str, ...]] = ("bartlett",)

    def __init__(
        self, n_components: Any = None, *, ridge: Any = 0.0, scale: bool = True, target: Any = None,
        solver: str = "auto", tol: float = 1e-6, random_state: Any = 0, memory: Any = None, device: str = "cpu",
        progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components = n_components
        self.ridge = ridge
        self.scale = scale
        self.target = target
        self.solver = solver
        self.tol = tol
        self.random_state = random_state
        self.memory = memory
        self.device = device
        self.progress = progress

    def _most(self, joint: Joint) -> int:
        return max(1, min(joint.rows - 1, joint.d, joint.q))

    def _pose_joint(self, joint: Joint, wanted: Any, most: int, dtype: Any, weights: Any) -> Posed:
        """A product of two bases, whose singular values are the canonical correlations; the smaller on the right."""
        first, second = self._ridges()
        x, y = _white(joint.X, first, "first"), _white(joint.Y, second, "second")
        K = y.basis.T @ x.basis
        error = FORMED * U * (x.condition + y.condition)
        most = min(most, *K.shape)
        if wanted == "bartlett":
            tests = _tests(np.minimum(svd(K)[1], 1.0), joint, *K.shape[::-1])
            wanted = max(1, int(np.sum(np.cumprod(tests["p_values_"] < 0.05))))
            self._new_record().choice = ("bartlett", f"{wanted} by Bartlett's test at the level of 0.05")
        A, symbol = (K, "UᵧᵀUₓ") if len(K) >= K.shape[1] else (K.T, "UₓᵀUᵧ")
        return Posed(
            Cross(A, error, symbol), wanted=self._number(wanted, most), weights=weights, kept=(joint, x, y, K, dtype),
            frame={"matrix": f"AᵀA, A = {symbol}"},
        )  # fmt: skip

    def read(self, solution: Solution, posed: Posed) -> None:
        """Rotations to unit variance, correlations and tests."""
        joint, x, y, K, dtype = posed.kept
        V = np.asarray(solution.vectors, np.float64)
        L, M = (V, _across(K, V)) if len(K) >= K.shape[1] else (_across(K.T, V), V)
        root = np.sqrt(joint.divisor)
        A, B = x.to @ L * root, y.to @ M * root
        told = self._tell(joint, x, y)
        unit = lambda V: V / np.maximum(np.linalg.norm(V, axis=0), 1e-300)  # noqa: E731
        found = Found(unit(A), A, unit(B), solution.singular_values, np.zeros(A.shape[1]))
        self._name(joint, found, solution, dtype, B, told)
        T, S = joint.X @ A, joint.Y @ B
        size = np.linalg.norm(T, axis=0) * np.linalg.norm(S, axis=0)
        rho = np.sum(T * S, axis=0) / np.where(size > 0, size, 1.0)
        self.canonical_correlations_ = np.clip(rho, 0.0, 1.0).astype(dtype)
        self.rank_, self.y_rank_ = K.shape[1], K.shape[0]
        every = np.minimum(svd(K)[1], 1.0)
        free = not any(self._ridges()) and joint.weight - 1 > K.shape[0] + K.shape[1]
        for name, values in _tests(every, joint, K.shape[1], K.shape[0], free=free).items():
            setattr(self, name, values)

    def _tell(self, joint: Joint, x: White, y: White) -> tuple[str, ...]:
        """Say where correlations are 1 whatever the rows hold."""
        r, s, n = x.to.shape[1], y.to.shape[1], joint.rows
        forced = r + s - (n - 1)
        told: list[str] = []
        if forced > 0 and not any(self._ridges()):
            told.append(
                f"{n:,} rows about their mean have {counted(n - 1, 'dimension')}, and the two tables span {r:,} and "
                f"{s:,}: "
                f"{counted(min(forced, r, s), 'canonical correlation')} must be 1, whatever the rows hold. "
                "Choose fewer columns, or a ridge: ridge=0.1"
            )
        worst = max(x.condition, y.condition)
        if worst * U * FORMED > 1e-6:
            told.append(f"the columns of a table are nearly dependent (condition {worst:.1e}): correlations are sure "
                        f"to {worst * U * FORMED:.0e} only")  # fmt: skip
        for words in told:
            warn(words, AccuracyWarning)
        return tuple(told)

    def _ridges(self) -> tuple[float, float]:
        pair = tuple(self.ridge) if isinstance(self.ridge, (tuple, list, np.ndarray)) else (self.ridge, self.ridge)
        return float(pair[0]), float(pair[1])

    def _check_parameters(self) -> None:
        super()._check_parameters()
        pair = tuple(self.ridge) if isinstance(self.ridge, (tuple, list, np.ndarray)) else (self.ridge, self.ridge)
        if len(pair) != 2 or not all(
            isinstance(one, numbers.Real) and not isinstance(one, bool) and 0 <= float(one) < float("inf")
            for one in pair
        ):
            raise ParameterError(
                "ridge must be a number ≥ 0, or one for each table", received=repr(self.ridge), hint="ridge=0.1"
            )


def _white(Z: Floats, ridge: float, which: str) -> White:
    """The orthonormal basis of the columns of Z (m×d); columns are brought to unit length first, without a ridge."""
    length = np.linalg.norm(Z, axis=0)
    varies = length > 0
    if not varies.any():
        raise InputError(f"columns that vary in the {which} table", received="constant columns only",
                         hint="correlations need a spread")  # fmt: skip
    unit = np.where(varies, length, 1.0) if ridge == 0 else np.ones_like(length)
    Us, s, Vt = svd(Z / unit)
    added = ridge * float(np.mean(np.square(length)))  # Σw − 1 times the mean variance of a column
    keep = s > NOTHING * U * np.sqrt(max(Z.shape)) * s[0]
    s, Us, Vt = s[keep], Us[:, keep], Vt[keep]
    grown = np.sqrt(np.square(s) + added)
    return White(Us * (s / grown), Vt.T / grown / unit[:, None], float(grown[0] / grown[-1]))


def _across(K: Floats, V: Floats) -> Floats:
    """Directions m with K vᵢ = ρᵢ mᵢ, orthonormal also where ρ is zero: by QR of columns that are orthogonal."""
    M, R = np.linalg.qr(K @ V)
    return np.asarray(M * np.where(np.diag(R) < 0, -1.0, 1.0))


def _tests(rho: Floats, joint: Joint, r: int, s: int, *, free: bool = True) -> dict[str, Floats]:
    """Wilks' Λ of the correlations from the j-th on, with Bartlett's χ² and Rao's F."""
    from scipy.special import chdtrc, fdtrc

    count, n = len(rho), joint.weight
    with np.errstate(divide="ignore"):
        logs = np.cumsum(np.log1p(-np.square(rho))[::-1])[::-1]
    j = np.arange(count)
    a, b = (r - j).astype(float), (s - j).astype(float)
    out = {"wilks_": np.exp(logs), "chi2_": -(n - 1 - (r + s + 1) / 2) * logs, "dof_": a * b}
    t = np.sqrt(np.where(a * a + b * b > 5, (a * a * b * b - 4) / np.where(a * a + b * b > 5, a * a + b * b - 5, 1), 1))
    second = (n - 1.5 - (r + s) / 2) * t - a * b / 2 + 1
    root = np.exp(logs / t)
    with np.errstate(divide="ignore", invalid="ignore"):
        f = (1 - root) / root * second / (a * b)
    out |= {"f_values_": f, "f_dof_": np.column_stack([a * b, second])}
    if not free:
        return {name: np.full_like(values, np.nan) for name, values in out.items()} | {
            "dof_": out["dof_"], "p_values_": np.full(count, np.nan), "f_p_values_": np.full(count, np.nan)
        }  # fmt: skip
    p = [chdtrc(out["dof_"], np.maximum(out["chi2_"], 0)), fdtrc(a * b, np.maximum(second, 1e-9), np.maximum(f, 0))]
    return {**out, "p_values_": np.asarray(p[0]), "f_p_values_": np.asarray(p[1])}
