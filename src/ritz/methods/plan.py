"""``ritz.plan``: which route a fit would take, without taking it."""

from __future__ import annotations

from inspect import signature
from typing import Any

from ritz._core.errors import ParameterError
from ritz._core.warn import one_call
from ritz.data.engines import weighed
from ritz.methods.pca import PCA
from ritz.spectral.plan import Plan

__all__ = ["plan", "reading"]


@one_call()
def plan(X: Any, estimator: Any = None, y: Any = None, sample_weight: Any = None) -> Plan:
    """The plan for fitting ``estimator`` to ``X``.

    The data are looked at for their shape, dtype and number of stored entries only; tables of categories once, for
    their levels.

    Parameters
    ----------
    X : what ``fit`` takes
    estimator : estimator, optional
        Not fitted; its parameters decide with the shape. None: a PCA with default parameters.
    y, sample_weight : what ``fit`` takes

    Examples
    --------
    >>> import numpy as np, ritz, scipy.sparse
    >>> ritz.plan(np.empty((1000, 20))).solver
    'moments'
    >>> tall = scipy.sparse.eye(500_000, 100_000, format="csr")
    >>> ritz.plan(tall, ritz.SVD(10)).solver      # nothing is computed
    'lanczos'
    """
    chosen = PCA() if estimator is None else estimator
    if not hasattr(type(chosen), "_route"):
        raise ParameterError(
            "plan takes an estimator of ritz",
            received=type(chosen).__name__,
            hint="ritz.plan(X, ritz.PCA(10))",
        )
    asked = type(chosen)(**chosen.get_params(deep=False))
    asked._check_parameters()
    if sample_weight is not None:
        if "sample_weight" not in signature(asked.fit).parameters:
            words = f"{type(asked).__name__} takes every row once"
            raise ParameterError(words, received="sample_weight", hint="leave it out")
        X, sample_weight = weighed(X, sample_weight, getattr(asked, "memory", None))
    found: Plan = asked._route(X, y, sample_weight)
    return found


def reading(estimator: PCA, rows: Any) -> tuple[Plan, bool]:
    """The plan for fitting validated rows, and whether a second pass may follow to sharpen the answer of the first."""
    shape = estimator._shape(rows)
    route = estimator._plan_for(shape, estimator._wanted(shape.n, shape.d, centered=True))
    return route, route.solver == "moments" and estimator._rereads(shape)
