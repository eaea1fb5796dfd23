"""``check_estimator``: what Ritz promises of its linear estimators, on top of what scikit-learn asks of all.

proof        certificate_ encloses the eigenvalues of a table of exactly known spectrum, and verify agrees
plan         plan_ names the route, the reasons and what it took
order, sign  decreasing; the first entry of (nearly) largest size in a component is positive
same answer  dense = sparse = rows in another order = copies of rows for integer weights = the same call again
types        float32 in, float32 out; float64 likewise; the input is read, never written
words        what is refused is refused with what came and a hint
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import clone

from ritz._core.errors import RitzError
from ritz._core.linalg import signs
from ritz.spectral.plan import SOLVERS
from ritz.testing.known import known_hadamard

__all__ = ["check_estimator"]

#: Two routes to one answer agree to this share of λ₁, and to this sine over the relative gap.
SAME = 1e-10


def check_estimator(
    estimator: Any, *, scikit_learn: bool = True, expected_failed_checks: dict[str, str] | None = None
) -> None:
    """Raise AssertionError, saying which convention is broken, unless an estimator keeps all of them.

    Parameters
    ----------
    estimator : estimator instance
        With ``fit(X, y=None, sample_weight=None)``, ``transform``, ``components_``, ``singular_values_``,
        ``certificate_`` and ``plan_``, such as ``ritz.PCA(2)``. It is cloned, never fitted itself. Iterative solvers
        should be given with a tight ``tol``.
    scikit_learn : bool
        Run `sklearn.utils.estimator_checks.check_estimator` first.
    expected_failed_checks : dict, optional
        Names of scikit-learn's checks that may fail, with the reason.

    Raises
    ------
    AssertionError
        On the first convention that does not hold. What scikit-learn's own checks raise is passed on.

    Examples
    --------
    >>> import ritz
    >>> from ritz.testing import check_estimator
    >>> check_estimator(ritz.PCA(2), scikit_learn=False)
    """
    if scikit_learn:
        from sklearn.utils.estimator_checks import check_estimator as theirs

        theirs(estimator, expected_failed_checks=expected_failed_checks or {}, on_skip=None)
    checks = (_proof, _plan, _order_and_signs, _same_answer, _types, _untouched, _words)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for check in checks:
            for words in check(estimator):
                raise AssertionError(f"{check.__name__.strip('_').replace('_', ' ')}: {words}")


def _table(kind: str = "geometric", seed: int = 0, dtype: Any = np.float64) -> tuple[Any, Any]:
    """A table without an offset and its eigenvalues, decreasing: the same for the raw and the centred table."""
    known = known_hadamard(kind, 64, 9, cond=50.0, seed=seed, dtype=dtype)
    return known.X, np.sort([float(v.rational) for v in known.eigenvalues])[::-1]


def _fitted(estimator: Any, X: Any, **options: Any) -> Any:
    model = clone(estimator)
    result = model.fit(X, **options)
    if result is not model:
        raise AssertionError("fit: returns something else than the estimator")
    return model


def _proof(estimator: Any) -> Iterator[str]:
    """The certificate holds the truth; with scaled columns, whose truth is another, only verify is asked."""
    for seed, dtype in ((0, np.float64), (1, np.float32), (2, np.float64)):
        X, values = _table("step" if seed == 2 else "geometric", seed, dtype)
        model = _fitted(estimator, X)
        c = getattr(model, "certificate_", None)
        if c is None:
            yield "there is no certificate_"
            return
        if not getattr(estimator, "scale", False):
            for i, (low, high) in enumerate(zip(c.lower, c.upper, strict=True)):
                candidates = values[i : i + 1] if c.labelled[i] else values
                if not np.any((low <= candidates) & (candidates <= high)):
                    yield f"component {i}: [{low!r}, {high!r}] does not hold {values[i]!r}"
            if len(c.values) < len(values) and values[len(c.values)] > c.ceiling:
                yield f"{values[len(c.values)]!r} was left out and exceeds the ceiling {c.ceiling!r}"
        outcome = c.verify(X)
        if not outcome:
            yield f"its own check fails: {outcome}"
        sigma = np.sqrt(np.maximum(c.values, 0.0))
        u = float(np.finfo(model.singular_values_.dtype).eps)
        if np.any(np.abs(model.singular_values_ - sigma) > 8 * u * max(float(sigma[0]), 1e-300)):
            yield "singular_values_ are not the square roots of the certified values"


def _plan(estimator: Any) -> Iterator[str]:
    plan = getattr(_fitted(estimator, _table()[0]), "plan_", None)
    if plan is None:
        yield "there is no plan_"
    elif plan.solver not in SOLVERS:
        yield f"unknown solver {plan.solver!r}"
    elif not plan.reasons or not all(isinstance(reason, str) and reason for reason in plan.reasons):
        yield "it gives no reasons"
    elif plan.actual_passes is None or plan.actual_seconds is None:
        yield "it does not say what the fit took"


def _order_and_signs(estimator: Any) -> Iterator[str]:
    for seed in range(4):
        X, _ = _table(seed=seed)
        model = _fitted(estimator, X)
        if np.any(np.diff(model.singular_values_) > 0):
            yield f"singular_values_ do not decrease: {model.singular_values_}"
        wrong = np.flatnonzero(signs(np.asarray(model.components_, np.float64).T) < 0)
        if len(wrong):
            yield f"component {wrong[0]} begins with a negative entry of the largest size"
        if model.components_.shape != (len(model.singular_values_), X.shape[1]):
            yield f"components_ have shape {model.components_.shape}"


def _same_answer(estimator: Any) -> Iterator[str]:
    from scipy import sparse

    rng = np.random.default_rng(0)
    X, _ = _table(seed=5)
    X = np.where(np.abs(X) < 0.3 * np.abs(X).max(), 0.0, X)  # sparse, and far from symmetric
    weights = rng.integers(0, 4, len(X)).astype(float) + np.eye(1, len(X))[0]
    copies = np.repeat(X, weights.astype(int), axis=0)
    order = rng.permutation(len(X))
    base = _fitted(estimator, X)
    again = _fitted(estimator, X)
    if not all(
        np.array_equal(getattr(base, name), getattr(again, name)) for name in ("components_", "singular_values_")
    ):
        yield "the same call gives another answer"
    routes: dict[str, Callable[[], tuple[Any, Any]]] = {
        "sparse rows": lambda: (base, _fitted(estimator, sparse.csr_matrix(X))),
        "rows in another order": lambda: (base, _fitted(estimator, X[order])),
        "Fortran order": lambda: (base, _fitted(estimator, np.asfortranarray(X))),
        "integer weights": lambda: (_fitted(estimator, copies), _fitted(estimator, X, sample_weight=weights)),
        "weights of one": lambda: (base, _fitted(estimator, X, sample_weight=np.ones(len(X)))),
    }
    for name, route in routes.items():
        yield from (f"{name}: {words}" for words in _differ(*route()))
    wanted, scores = base.transform(X), base.transform(sparse.csr_matrix(X))
    if np.max(np.abs(wanted - scores)) > SAME * np.max(np.abs(wanted)):
        yield "transform of sparse rows differs from that of dense ones"
    if np.max(np.abs(wanted[order] - base.transform(X[order]))) > SAME * np.max(np.abs(wanted)):
        yield "transform of a row depends on the other rows"


def _differ(a: Any, b: Any) -> Iterator[str]:
    """Differences beyond SAME·λ₁ in values and SAME·λ₁/gap in vectors, signs included."""
    x, y = np.square(a.singular_values_, dtype=np.float64), np.square(b.singular_values_, dtype=np.float64)
    if x.shape != y.shape:
        yield f"{len(x)} and {len(y)} components"
        return
    if np.any(np.abs(x - y) > SAME * x[0]):
        yield f"eigenvalues differ by {np.max(np.abs(x - y)) / x[0]:.1e}·λ₁"
    gaps = np.min([np.append(np.inf, x[:-1] - x[1:]), np.append(x[:-1] - x[1:], a.certificate_.ceiling)], axis=0)
    below = a.certificate_.ceiling
    gaps[-1] = min(gaps[-1], x[-1] - below if np.isfinite(below) else x[-1])
    off = np.linalg.norm(np.asarray(a.components_, np.float64) - b.components_, axis=1)
    for i in np.flatnonzero((gaps > 1e-3 * x[0]) & (off > SAME * x[0] / np.maximum(gaps, 1e-300))):
        yield f"component {i} differs by {off[i]:.1e}"


def _types(estimator: Any) -> Iterator[str]:
    for given, wanted in ((np.float32, np.float32), (np.float64, np.float64), (np.int64, np.float64)):
        X = np.round(_table(seed=3)[0] * 100).astype(given)
        model = _fitted(estimator, X)
        scores = model.transform(X)
        back = model.inverse_transform(scores)
        arrays = {"components_": model.components_, "singular_values_": model.singular_values_, "transform": scores}
        arrays |= {"inverse_transform": back}
        if getattr(model, "mean_", None) is not None:
            arrays["mean_"] = model.mean_
        for name, array in arrays.items():
            if np.asarray(array).dtype != wanted:
                yield f"{name} of {np.dtype(given)} rows is {np.asarray(array).dtype}"


def _untouched(estimator: Any) -> Iterator[str]:
    """Neither fit nor transform writes to the rows or the weights, and rows that cannot be written to are fine."""
    for order in ("C", "F"):
        X = np.array(_table(seed=4)[0] + 3.0, order=order)
        w = np.linspace(0.5, 2, len(X))
        before, heavy = X.copy(), w.copy()
        model = _fitted(estimator, X, sample_weight=w)
        model.transform(X)
        if not np.array_equal(X, before):
            yield "the rows were changed"
        if not np.array_equal(w, heavy):
            yield "the weights were changed"
    X.setflags(write=False)
    _fitted(estimator, X).transform(X)


def _words(estimator: Any) -> Iterator[str]:
    X, _ = _table(seed=6)
    model = _fitted(estimator, X)
    hole = X.copy()
    hole[3, 2] = np.nan
    refused: dict[str, Callable[[], Any]] = {
        "NaN": lambda: clone(estimator).fit(hole),
        "a row instead of a table": lambda: clone(estimator).fit(X[0]),
        "words": lambda: clone(estimator).fit(np.array([["a", "b"], ["c", "d"], ["e", "f"]])),
        "complex numbers": lambda: clone(estimator).fit(X * 1j),
        "negative weights": lambda: clone(estimator).fit(X, sample_weight=np.linspace(-1, 1, len(X))),
        "too few weights": lambda: clone(estimator).fit(X, sample_weight=np.ones(3)),
        "too many components": lambda: clone(estimator).set_params(n_components=99).fit(X),
        "an unknown solver": lambda: clone(estimator).set_params(solver="magic").fit(X),
        "other columns at transform": lambda: model.transform(X[:, :4]),
    }
    for name, call in refused.items():
        try:
            call()
        except RitzError as error:
            if not isinstance(error, ValueError) or error.received is None or "hint:" not in str(error):
                yield f"{name}: the error lacks what came or a hint: {error}"
        except Exception as error:  # noqa: BLE001  any other error is what this looks for
            yield f"{name}: refused by {type(error).__name__} instead of an error of Ritz: {error}"
        else:
            yield f"{name}: not refused"
