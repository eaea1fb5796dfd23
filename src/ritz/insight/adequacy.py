"""Whether correlations are worth a factor analysis: Kaiser, Meyer and Olkin's measure, Bartlett's test of sphericity.

    KMO      Σ_{i≠j} rᵢⱼ² / (Σ_{i≠j} rᵢⱼ² + Σ_{i≠j} qᵢⱼ²),    qᵢⱼ = −pᵢⱼ/√(pᵢᵢpⱼⱼ),  P = R⁻¹                   [Kai74]
    MSAᵢ     the same over j ≠ i alone
    Bartlett χ² = −(n − 1 − (2d + 5)/6)·log|R|  on  d(d − 1)/2 degrees of freedom, for H₀: R = I              [Bar50]

q are partial correlations, each given all other columns. log|R| is summed from eigenvalues, and R⁻¹ is refused where R
is singular: partial correlations of columns that determine each other do not exist.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz._core.tabular import Tabular
from ritz.data.passes.blocks import blocks_of
from ritz.data.passes.statistics import Statistics
from ritz.data.validate import validate_rows, validate_weights
from ritz.insight.calls import asked
from ritz.methods.covariance import matrix_of
from ritz.methods.fitted import capabilities_of, fitted_of
from ritz.methods.scaling import divisor_of

__all__ = ["KMO", "Sphericity", "bartlett_sphericity", "correlations_of", "kmo"]

Floats = NDArray[np.float64]

#: Smallest eigenvalue of a correlation matrix, as a share of the largest, below which it counts as singular.
SINGULAR = 1e-13
#: Kaiser's words for the measure.
WORDS = ((0.9, "marvelous"), (0.8, "meritorious"), (0.7, "middling"), (0.6, "mediocre"), (0.5, "miserable"))


@dataclass(frozen=True)
class KMO(Tabular):
    """Sampling adequacy.

    Attributes
    ----------
    overall : share of the squared correlations in those and the squared partial correlations together
    columns : (d,) the same of each column
    names : of the columns, or None
    """

    overall: float
    columns: Floats
    names: list[str] | None = None

    @property
    def word(self) -> str:
        """Kaiser's word: marvelous from 0.9 on, meritorious, middling, mediocre, miserable, unacceptable below 0.5."""
        return next((word for least, word in WORDS if self.overall >= least), "unacceptable")

    def _table(self) -> dict[str, Any]:
        return {"column": range(len(self.columns)) if self.names is None else self.names, "msa": self.columns}

    def __repr__(self) -> str:
        i = int(np.argmin(self.columns))
        least = f"{i if self.names is None else self.names[i]} {self.columns[i]:.3f}"
        return f"KMO {self.overall:.4f} ({self.word}); least {least}"


@dataclass(frozen=True)
class Sphericity(Tabular):
    """Bartlett's test of the hypothesis that the columns are uncorrelated.

    Attributes
    ----------
    chi2, dof, p_value : the test; p_value may be 0 where log_p tells how small it is
    log_p : natural logarithm of the p-value
    n : rows
    """

    chi2: float
    dof: int
    p_value: float
    log_p: float
    n: float
    notes: tuple[str, ...] = field(default=())

    def _table(self) -> dict[str, Any]:
        return {name: [getattr(self, name)] for name in ("chi2", "dof", "p_value", "log_p", "n")}

    def __repr__(self) -> str:
        told = f"χ² = {self.chi2:.6g} on {self.dof} degrees of freedom, p = {self.p_value:.3g}, {self.n:g} rows"
        return "\n".join([told, *self.notes])


@asked
def kmo(X: Any, *, sample_weight: Any = None) -> KMO:
    """Kaiser, Meyer and Olkin's measure of sampling adequacy.

    Parameters
    ----------
    X : rows (n, d), a correlation or covariance matrix (d, d), or a fitted PCA or FactorAnalysis that keeps its state
        A symmetric matrix with positive diagonal is taken for a matrix of correlations or covariances.
    sample_weight : (n,) frequencies, or None

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import insight
    >>> R = np.array([[1.0, 0.6, 0.5], [0.6, 1.0, 0.4], [0.5, 0.4, 1.0]])
    >>> insight.kmo(R)
    KMO 0.6578 (mediocre); least 0 0.616
    """
    R, _, names = correlations_of(X, sample_weight)
    values, V = np.linalg.eigh(R)
    if values[0] <= SINGULAR * values[-1]:
        raise InputError(
            "KMO rests on partial correlations, which need columns that do not determine each other",
            received=f"correlations whose smallest eigenvalue is {values[0]:.2g}",
            hint="leave out columns that are sums of others, or take more rows than columns",
        )
    P = (V / values) @ V.T
    root = np.sqrt(np.diag(P))
    partial = np.square(P / np.outer(root, root))
    square = np.square(R)
    np.fill_diagonal(partial, 0.0)
    np.fill_diagonal(square, 0.0)
    total = square.sum(axis=0) + partial.sum(axis=0)
    each = np.divide(square.sum(axis=0), total, out=np.full(len(R), np.nan), where=total > 0)
    whole = float(total.sum())
    return KMO(float(square.sum() / whole) if whole > 0 else float("nan"), each, names)


@asked
def bartlett_sphericity(X: Any, n: int | None = None, *, sample_weight: Any = None) -> Sphericity:
    """Bartlett's test of sphericity: whether the columns are correlated at all.

    Parameters
    ----------
    X : as for :func:`ritz.insight.kmo`
    n : int or None
        Rows behind a correlation matrix; None for rows and models, which tell it.
    sample_weight : (n,) frequencies, or None

    Examples
    --------
    >>> import numpy as np
    >>> from ritz import insight
    >>> R = np.array([[1.0, 0.6, 0.5], [0.6, 1.0, 0.4], [0.5, 0.4, 1.0]])
    >>> insight.bartlett_sphericity(R, n=100)
    χ² = 73.363 on 3 degrees of freedom, p = 8.13e-16, 100 rows
    """
    from scipy.special import chdtrc

    R, rows, _ = correlations_of(X, sample_weight)
    rows = rows if n is None else float(n)
    if rows is None:
        raise ParameterError("Bartlett's test needs the number of rows behind a correlation matrix", received="n=None",
                             hint="bartlett_sphericity(R, n=145)")  # fmt: skip
    d = len(R)
    if rows <= 1 + (2 * d + 5) / 6:
        raise ParameterError(f"Bartlett's test of {d} columns needs more than {1 + (2 * d + 5) / 6:.4g} rows",
                             received=f"n={rows:g}", hint="take more rows, or fewer columns")  # fmt: skip
    values = np.linalg.eigvalsh(R)
    if values[0] <= SINGULAR * values[-1]:
        raise InputError(
            "Bartlett's test needs correlations of full rank",
            received=f"a smallest eigenvalue of {values[0]:.2g}: some columns determine others",
            hint="such columns are correlated, whatever a test says; leave them out",
        )
    chi2 = max(-(rows - 1 - (2 * d + 5) / 6) * float(np.sum(np.log(values))), 0.0)
    dof = d * (d - 1) // 2
    return Sphericity(chi2, dof, float(chdtrc(dof, chi2)) if dof else 1.0, _log_p(chi2, dof), float(rows))


def _log_p(chi2: float, dof: int) -> float:
    """log P(χ²_dof > chi2), also where the probability underflows: the leading terms of the upper incomplete gamma."""
    from scipy.special import gammaincc, gammaln

    if not dof or chi2 <= 0:
        return 0.0
    a, x = dof / 2, chi2 / 2
    p = float(gammaincc(a, x))
    if p > 1e-290:
        return float(np.log(p))
    # Γ(a, x) = x^(a−1) e^(−x) · continued fraction of Legendre, by Lentz's method
    b, c = x + 1 - a, 1e300
    inverse = 1 / b
    h = inverse
    for i in range(1, 1000):
        an = -i * (i - a)
        b += 2
        inverse = 1 / (an * inverse + b)
        c = b + an / c
        h *= inverse * c
        if abs(inverse * c - 1) < 1e-15:
            break
    return float(a * np.log(x) - x - gammaln(a) + np.log(h))


def correlations_of(X: Any, sample_weight: Any = None) -> tuple[Floats, float | None, list[str] | None]:
    """Correlations (d, d) of rows, of a matrix of covariances, or of a model; with the rows behind them and names."""
    capabilities = capabilities_of(X)
    if capabilities is not None:
        return _of_model(X)
    if _is_matrix(X):
        matrix = matrix_of(X)
        return _scaled(matrix.values, matrix.names), None, matrix.names
    from ritz.methods.pca import PCA

    probe = PCA()
    rows = validate_rows(probe, X, reset=True)
    weights = None if sample_weight is None else validate_weights(sample_weight, rows.shape[0])
    names = getattr(probe, "feature_names_in_", None)
    state = Statistics(blocks_of(rows), weights, np.float64, names).moments
    if not np.isfinite(state.scatter).all():
        from ritz.data.validate import require_finite

        require_finite(rows, names)
    listed = None if names is None else [str(name) for name in names]
    return _scaled(state.scatter / divisor_of(state), listed), state.weight, listed


def _of_model(model: Any) -> tuple[Floats, float, list[str] | None]:
    fitted = fitted_of(model)
    state = fitted.state
    if state is None:
        raise InputError(f"{type(model).__name__} did not keep the correlations of its columns", received="no rows",
                         hint="pass the rows of the fit instead of the model")  # fmt: skip
    return _scaled(state.scatter, fitted.column_labels()), state.weight, fitted.column_labels()


def _is_matrix(X: Any) -> bool:
    shape = getattr(X, "shape", None)
    if shape is None and isinstance(X, list):
        X = np.asarray(X)
        shape = X.shape
    if shape is None or len(shape) != 2 or shape[0] != shape[1]:
        return False
    try:
        values = np.asarray(X, np.float64)
    except (TypeError, ValueError):
        return False
    close = bool(np.allclose(values, values.T, rtol=0, atol=1e-6 * float(np.max(np.abs(values), initial=0.0))))
    return close and bool(np.all(np.diag(values) > 0))


def _scaled(S: Floats, names: list[str] | None) -> Floats:
    """Correlations of covariances."""
    variance = np.diag(S)
    flat = np.flatnonzero(variance <= 1e-28 * float(np.max(variance, initial=0.0)))
    if len(flat) or not len(S):
        shown = ", ".join(str(j if names is None else names[j]) for j in flat[:5])
        raise InputError("correlations need columns that vary", received=f"constant columns: {shown}",
                         hint="leave them out")  # fmt: skip
    root = np.sqrt(variance)
    R = S / np.outer(root, root)
    np.fill_diagonal(R, 1.0)
    return np.asarray((R + R.T) / 2)
