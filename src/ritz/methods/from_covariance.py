"""Estimators that can be fitted to a covariance matrix: PCA and FactorAnalysis (``covariance.py`` makes the state)."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ritz._core.bases import check_is_fitted
from ritz._core.errors import AccuracyWarning, ParameterError
from ritz._core.warn import one_call, unsaid
from ritz.methods.posed import Posed, verify_posed
from ritz.methods.record import keep
from ritz.methods.verify.again import refound
from ritz.operators import MomentGram

if TYPE_CHECKING:
    from ritz.data.passes.moments import Moments
    from ritz.spectral.verify import Verification

__all__ = ["from_covariance", "of_state", "verify_expected", "verify_matrix"]


@one_call()
def from_covariance(
    cls: Any, S: Any, n: int, n_components: Any = None, *, mean: Any = None, names: Any = None,
    rounding: float | None = None, **parameters: Any,
) -> Any:  # fmt: skip
    """The model of a covariance or correlation matrix, and of how many rows it is.

    Parameters
    ----------
    S : array-like or frame of shape (d, d)
        Covariances with divisor n − 1, or correlations. Names of the columns come from a frame.
    n : int
        Rows that S was computed from. Components and variances do not depend on it; tests, rules and limits do.
    n_components : None, int, float or str
        As in the constructor; rules that need rows are refused.
    mean : (d,) array-like or None
        Means of the columns; None: unknown, so that ``transform`` is refused (zeros where rows will be
        standardised first).
    names : sequence of str or None
        Names of the columns.
    rounding : float or None
        Largest error of an entry, 0.0005 for three decimals: enclosures then hold for the matrix before rounding.
        None: they hold for S as it is given, and a note in the certificate says what S looks rounded to.
    **parameters
        Other parameters of the constructor.

    Examples
    --------
    >>> import numpy as np, ritz
    >>> R = np.array([[1.0, 0.6, 0.3], [0.6, 1.0, 0.5], [0.3, 0.5, 1.0]])
    >>> pca = ritz.PCA.from_covariance(R, n=120, n_components=2)
    >>> pca.explained_variance_.round(4)
    array([1.9438, 0.7069])
    >>> bool(pca.verify(R)), ritz.insight.loadings(pca).shape
    (True, (3, 2))
    >>> print(pca.certificate_.notes[0][:60])
    of the correlation matrix as it was given; its entries look
    """
    model = cls(n_components, **parameters)
    model._check_parameters()
    if not getattr(model, "center", True):
        raise ParameterError("a covariance matrix is about the mean", received="center=False", hint="center=True")
    from ritz.methods.covariance import matrix_of, state_of_matrix

    matrix = matrix_of(S, names)
    state, note = state_of_matrix(matrix, n, mean, rounding)
    model._record = model._records()
    model.n_features_in_ = state.d
    if matrix.names is not None:
        model.feature_names_in_ = np.asarray(matrix.names, dtype=object)
    keep(model, library=matrix.library, dtype=np.dtype(np.float64), note=note, matrix=True, entry_rounding=rounding)
    if mean is None:
        keep(model, meanless=True)
    with unsaid(AccuracyWarning) if rounding else nullcontext():  # what rounding costs, the enclosures say
        model._of_state(state)
    return model


def of_state(model: Any, state: Moments) -> None:
    """Fit to a state as one that rows were added to."""
    keep(model, state=state, pending=True)
    model._solve_state()


def verify_matrix(model: Any, S: Any) -> Verification:
    """Check the certificate of a model against the covariance matrix that it was made of."""
    from ritz.methods.covariance import matrix_of, state_of_matrix

    check_is_fitted(model)
    names = getattr(model, "feature_names_in_", None)
    certificate, matrix = model.certificate_, matrix_of(S, None if names is None else [str(name) for name in names])
    state, _ = state_of_matrix(matrix, model.n_samples_, None, model._record.entry_rounding)
    scale = certificate.frame.get("scale")
    scale = None if scale is None else np.asarray(scale, np.float64)
    operator = MomentGram(state, center=True, scale=scale, unit=float(certificate.frame.get("unit", 1.0)))
    record = model._record
    mean = None if record.meanless else np.asarray(record.mean64)
    given = {"mean": mean, "names": matrix.names, "rounding": record.entry_rounding}
    anew = lambda other: type(model).from_covariance(S, model.n_samples_, **given, **other.get_params(deep=False))  # noqa: E731
    return _held(verify_posed(certificate, Posed(operator, kind="eigh")), refound(model, anew))


def _held(checked: Verification, wrong: list[str]) -> Verification:
    return replace(checked, ok=False, words=(*wrong, *checked.words)) if wrong else checked


def verify_expected(model: Any, rows: Any, weights: Any, given: tuple[Any, Any]) -> Verification:
    """Check the certificate of a model of rows with gaps: the covariance that it expects of them is formed anew."""
    from ritz.methods.factor_analysis.incomplete import expected_state

    scale = np.asarray(model.certificate_.frame["scale"], np.float64)
    operator = MomentGram(expected_state(model, rows, weights), center=True, scale=scale)
    wrong = refound(model, lambda other: other.fit(given[0], sample_weight=given[1]))
    return _held(verify_posed(model.certificate_, Posed(operator, kind="eigh")), wrong)
