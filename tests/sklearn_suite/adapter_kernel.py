"""Ritz's KernelPCA under scikit-learn's keywords: names change, numbers do not."""

from __future__ import annotations

import ritz

SOLVERS = {"dense": "svd", "arpack": "lanczos", "randomized": "krylov"}


class KernelPCA(ritz.KernelPCA):
    def __init__(
        self, n_components=None, *, kernel="linear", gamma=None, degree=3, coef0=1, kernel_params=None, alpha=1.0,
        fit_inverse_transform=False, eigen_solver="auto", tol=0, max_iter=None, iterated_power="auto",
        remove_zero_eig=False, random_state=None, copy_X=True, n_jobs=None,
    ):  # fmt: skip
        super().__init__(
            n_components, kernel=kernel, gamma=gamma, degree=degree, coef0=coef0, kernel_params=kernel_params,
            alpha=alpha, fit_inverse_transform=fit_inverse_transform, remove_zero_eig=remove_zero_eig, tol=tol,
            random_state=random_state,
        )  # fmt: skip
        self.eigen_solver, self.max_iter, self.iterated_power = eigen_solver, max_iter, iterated_power
        self.copy_X, self.n_jobs = copy_X, n_jobs

    solver = property(lambda self: SOLVERS.get(self.eigen_solver, self.eigen_solver), lambda self, value: None)
