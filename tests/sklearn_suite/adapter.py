"""Ritz's classes under scikit-learn's keywords: names change, numbers do not."""

from __future__ import annotations

import ritz

SOLVERS = {"full": "svd", "covariance_eigh": "moments", "arpack": "lanczos", "randomized": "krylov"}


class PCA(ritz.PCA):
    def __init__(
        self, n_components=None, *, copy=True, whiten=False, svd_solver="auto", tol=0.0,
        iterated_power="auto", n_oversamples=10, power_iteration_normalizer="auto", random_state=None,
    ):  # fmt: skip
        super().__init__(n_components, whiten=whiten, tol=tol, random_state=random_state)
        self.svd_solver, self.copy, self.iterated_power = svd_solver, copy, iterated_power
        self.n_oversamples, self.power_iteration_normalizer = n_oversamples, power_iteration_normalizer

    solver = property(lambda self: SOLVERS.get(self.svd_solver, self.svd_solver), lambda self, value: None)
    _fit_svd_solver = property(lambda self: {ours: name for name, ours in SOLVERS.items()}[self.plan_.solver])


class IncrementalPCA(ritz.PCA):
    def __init__(self, n_components=None, *, whiten=False, copy=True, batch_size=None):
        super().__init__(n_components, whiten=whiten)
        self.copy, self.batch_size = copy, batch_size

    n_samples_seen_ = property(lambda self: self.n_samples_, lambda self, value: None)


class TruncatedSVD(ritz.SVD):
    def __init__(
        self, n_components=2, *, algorithm="randomized", n_iter=5, n_oversamples=10,
        power_iteration_normalizer="auto", random_state=None, tol=0.0,
    ):  # fmt: skip
        super().__init__(n_components, tol=tol, random_state=random_state)
        self.algorithm, self.n_iter, self.n_oversamples = algorithm, n_iter, n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer

    solver = property(lambda self: SOLVERS[self.algorithm], lambda self, value: None)
