"""``check_estimator`` passes PCA and SVD under every solver and sees through those that were broken on purpose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ritz
from ritz.spectral.plan import SOLVERS
from ritz.testing import check_estimator

EXACT = [name for name in SOLVERS if name != "sketch"]  # an estimate is not the same for every way to the rows


@pytest.mark.parametrize("solver", ["auto", *EXACT])
@pytest.mark.parametrize("kind", [ritz.PCA, ritz.SVD])
def test_every_solver_keeps_the_conventions(kind, solver):
    check_estimator(kind(2, solver=solver, tol=1e-12), scikit_learn=False)


@pytest.mark.parametrize(
    "estimator",
    [
        ritz.PCA(),
        ritz.PCA(3, scale=True),
        ritz.PCA(0.9),
        ritz.PCA(2, center=False),
        ritz.PCA(2, whiten=True),
        ritz.SVD(),
    ],
    ids=repr,
)
def test_every_form_keeps_the_conventions(estimator):
    check_estimator(estimator, scikit_learn=False)


def test_scikit_learns_checks_run_too():
    check_estimator(ritz.SVD(2))


# ------------------------------------------------------------------------------- broken on purpose


class Signs(ritz.PCA):
    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.components_ = -self.components_
        return self


class Modifies(ritz.PCA):
    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, y, sample_weight)
        if isinstance(X, np.ndarray) and X.flags.writeable and X.dtype.kind == "f":
            X -= X.mean(axis=0)
        return self


class Misses(ritz.PCA):
    """The second component is sold as the first, and the certificate says so too."""

    def fit(self, X, y=None, sample_weight=None):
        whole = ritz.PCA(self.n_components + 1).fit(X, y, sample_weight)
        super().fit(X, y, sample_weight)
        c, pick = whole.certificate_, slice(1, None)
        fields = {
            name: getattr(c, name)[pick] for name in ("values", "lower", "upper", "labelled", "residuals", "angles")
        }
        self.components_, self.singular_values_ = whole.components_[pick], whole.singular_values_[pick]
        frame = {**c.frame, "vectors": c.frame["vectors"][:, pick]}
        self.certificate_ = replace(c, **fields, frame=frame)
        return self


class TooTight(ritz.PCA):
    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, y, sample_weight)
        c = self.certificate_
        self.certificate_ = replace(c, lower=c.values, upper=c.values)
        return self


class NoPlan(ritz.PCA):
    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.plan_ = None
        return self


class NoReasons(ritz.PCA):
    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.plan_ = replace(self.plan_, reasons=())
        return self


class Widens(ritz.PCA):
    def transform(self, X):
        return super().transform(X).astype(np.float64)


class IgnoresWeights(ritz.PCA):
    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X, y)


class FirstRows(ritz.PCA):
    """Leaves out the last row: the answer depends on which one that is."""

    def fit(self, X, y=None, sample_weight=None):
        super().fit(X[:-1], y, None if sample_weight is None else sample_weight[:-1])
        held = self.certificate_
        super().fit(X, y, sample_weight)
        self.singular_values_ = np.sqrt(held.values).astype(self.singular_values_.dtype)
        return self


class Bare(ritz.PCA):
    def transform(self, X):
        if X.shape[1] != self.n_features_in_:
            raise ValueError("wrong shape")
        return super().transform(X)


class TakesAnything(ritz.SVD):
    def fit(self, X, y=None, sample_weight=None):
        if sample_weight is not None:
            sample_weight = np.abs(sample_weight)
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (Signs, "order and signs: component 0 begins with a negative entry"),
        (Modifies, "the rows were changed|the same call gives another answer|its own check fails"),
        (Misses, r"proof: component 0: .* does not hold"),
        (TooTight, r"proof: component \d: .* does not hold"),
        (NoPlan, "plan: there is no plan_"),
        (NoReasons, "plan: it gives no reasons"),
        (Widens, "types: transform of float32 rows is float64"),
        (IgnoresWeights, "same answer: integer weights: eigenvalues differ"),
        (FirstRows, "proof: singular_values_ are not the square roots"),
        (Bare, "words: other columns at transform: refused by ValueError"),
        (TakesAnything, "words: negative weights: not refused"),
    ],
)
def test_a_broken_estimator_fails(broken, words):
    with pytest.raises(AssertionError, match=words):
        check_estimator(broken(2), scikit_learn=False)


def test_a_changed_input_is_found_by_its_own_check():
    from ritz.testing.estimators import _untouched

    assert "the rows were changed" in list(_untouched(Modifies(2)))
