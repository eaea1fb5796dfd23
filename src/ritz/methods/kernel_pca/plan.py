"""The route of a kernel PCA, without taking it: by features where the kernel has few, by landmarks, or by products."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ritz._core.linalg import working_dtype
from ritz._core.memory import limit
from ritz.data.passes.blocks import blocks_of
from ritz.kernels.resolve import resolve
from ritz.methods.kernel_pca.exact import FIRST_GUESS, exact_plan
from ritz.methods.kernel_pca.gamma import fixed
from ritz.methods.kernel_pca.input import fit_rows, len_of
from ritz.methods.kernel_pca.memory import share_out
from ritz.methods.kernel_pca.rank import wanted_of
from ritz.methods.kernel_pca.routes import features_pay
from ritz.spectral.constants import FIT
from ritz.spectral.plan import Plan, Shape, choose

__all__ = ["kernel_plan"]


def kernel_plan(estimator: Any, X: Any) -> Plan:
    """The plan that ``KernelPCA.fit`` would make for these rows."""
    kernel = resolve(estimator.kernel, estimator.gamma, estimator.degree, estimator.coef0, estimator.kernel_params)
    rows = fit_rows(estimator, X, kernel)
    kernel = fixed(estimator, kernel, rows, None)
    room, wanted = limit(estimator.memory), wanted_of(estimator, kernel, rows)
    if estimator.solver == "nystrom":
        return _by_landmarks(estimator, len_of(rows), wanted, room)
    features = kernel.feature_map(rows) if estimator.solver in ("auto", "moments", "sketch") else None
    if features is not None and estimator.solver == "auto":
        features = features if features_pay(kernel, features, rows, estimator.n_components) else None
    if features is None:
        first = wanted if isinstance(wanted, int) else FIRST_GUESS
        shared = share_out(kernel, rows, first, room, dense=estimator.solver in ("svd", "moments"))
        return exact_plan(estimator, len_of(rows), wanted, room, kernel, shared)
    phi = features.transform(rows)
    stored = int(phi.nnz) if hasattr(phi, "nnz") else None
    shape = Shape(int(blocks_of(phi).shape[0]), int(phi.shape[1]), working_dtype(phi.dtype).itemsize, stored)
    k = wanted if isinstance(wanted, int) else min(20, shape.small)
    needs_all = not isinstance(wanted, int) and bool(wanted.needs_all)
    plan = choose(shape, max(1, min(k, shape.small)), solver=estimator.solver, tol=estimator.tol, memory=room,
                  needs_all=needs_all)  # fmt: skip
    if not shape.small:  # e.g. texts that are all shorter than the windows of the kernel
        plan = replace(plan, reasons=("no row has a feature of this kernel: there is no component to find",))
    return replace(plan, seconds=plan.seconds + FIT)


def _by_landmarks(estimator: Any, n: int, wanted: Any, room: float) -> Plan:
    """The features of m landmarks are formed once, as rows of m columns."""
    asked = estimator.landmarks
    m = min(n, int(asked) if isinstance(asked, (int, np.integer)) else len_of(asked))
    k = wanted if isinstance(wanted, int) else min(20, m)
    plan = choose(Shape(n, m, 8, None), max(1, min(k, m)), solver="moments", tol=estimator.tol, memory=room)
    return replace(plan, reasons=(f"{m:,} landmarks stand for {n:,} rows", *plan.reasons))
