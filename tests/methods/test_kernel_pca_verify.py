"""``KernelPCA.verify``: right models pass, and every stored number that was changed is found out."""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ritz import InputError, KernelPCA
from ritz.kernels import RBF, Cosine, Laplacian, Linear, Matern, Polynomial, Sigmoid, Spectrum

X = np.random.default_rng(4).standard_normal((90, 4)) * np.array([3.0, 2.0, 1.0, 0.5])

RIGHT = [
    *((RBF(0.1), solver) for solver in ("auto", "svd", "krylov", "lanczos", "moments", "nystrom")),
    *((Linear(), solver) for solver in ("auto", "svd", "krylov", "nystrom")),
    *((Polynomial(2, 0.2, 1.0), solver) for solver in ("auto", "svd", "krylov")),
    *(
        (kernel, "svd")
        for kernel in (Laplacian(0.2), Matern(1.5, 2.0), Matern(0.8, 2.0), Matern(np.inf, 2.0), Cosine())
    ),
    *((kernel, "svd") for kernel in (RBF(0.1) + 2 * Linear(), RBF(0.3) * Cosine(), Polynomial(2).normalized())),
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("kernel", "solver"), RIGHT, ids=str)
def test_right_models_pass(kernel, solver, dtype):
    rows = X.astype(dtype)
    done = KernelPCA(3, kernel=kernel, solver=solver, landmarks=40).fit(rows).verify(rows)
    assert done.ok, done.words
    assert done.words


@pytest.mark.filterwarnings("ignore::ritz.NegativeEigenvalues")
@pytest.mark.parametrize("negative", ["clip", "flip", "krein"])
@pytest.mark.parametrize("solver", ["svd", "krylov"])
def test_indefinite_models_pass(negative, solver):
    done = KernelPCA(4, kernel=Sigmoid(0.3, 0.1), negative=negative, solver=solver).fit(X).verify(X)
    assert done.ok, done.words


def test_strings_sparse_rows_and_kernel_matrices_pass():
    words = ["".join(w) for w in np.random.default_rng(0).choice(list("abcd"), (40, 12))]
    assert KernelPCA(3, kernel=Spectrum(2)).fit(words).verify(words)
    rows = sparse.random(60, 20, 0.3, "csr", random_state=0)
    assert KernelPCA(3, kernel=RBF(0.5), solver="krylov").fit(rows).verify(rows)
    K = RBF(0.1)(X)
    assert KernelPCA(3, kernel="precomputed").fit(K).verify(K)


def fitted(solver: str, kernel=None) -> KernelPCA:
    return KernelPCA(3, kernel=RBF(0.1) if kernel is None else kernel, solver=solver, landmarks=60).fit(X)


def _scaled(name, factor=1.01):
    def change(model):
        setattr(model, name, np.asarray(getattr(model, name)) * factor)

    return change


def _one(name, where, by):
    def change(model):
        held = np.array(getattr(model, name))
        held[where] += by
        setattr(model, name, held)

    return change


def _certificate(**changes):
    def change(model):
        a = model.certificate_
        model.certificate_ = replace(a, **{name: of(a) for name, of in changes.items()})

    return change


def _map(name, by):
    def change(model):
        held = model._record.solved_map
        model._record.solved_map = replace(held, **{name: getattr(held, name) + by})

    return change


def _set(name, value):
    return lambda model: setattr(model, name, value)


CHANGES = {
    "all eigenvalues": _scaled("eigenvalues_"),
    "one eigenvalue": _one("eigenvalues_", 1, 1e-6),
    "an eigenvector": _one("eigenvectors_", (3, 0), 1e-5),
    "two eigenvectors": lambda m: setattr(m, "eigenvectors_", m.eigenvectors_[:, [1, 0, 2]]),
    "shares": _scaled("explained_variance_ratio_"),
    "one share": _one("explained_variance_ratio_", 2, 1e-9),
    "total": _scaled("total_variance_", 1.0001),
    "gamma": _set("gamma_", 0.2),
    "kernel": _set("kernel_", RBF(0.1001)),
    "a row": _one("X_fit_", (5, 1), 1e-7),
    "order of rows": lambda m: setattr(m, "X_fit_", m.X_fit_[::-1]),
    "components": _set("n_components_", 2),
    "values": _certificate(values=lambda a: a.values * (1 + 1e-7)),
    "lower": _certificate(lower=lambda a: a.upper + 1e-6),
    "upper": _certificate(upper=lambda a: a.lower - 1e-6),
    "both ends": _certificate(lower=lambda a: a.lower + 1, upper=lambda a: a.upper + 1, values=lambda a: a.values + 1),
    "residuals below": _certificate(residuals=lambda a: np.full(3, -1.0)),
    "residuals above": _certificate(residuals=lambda a: a.residuals + 1e-3),
    "ceiling": _certificate(ceiling=lambda a: 0.5 * a.ceiling),
    "certified total": _certificate(total=lambda a: 1.001 * a.total),
    "rounding": _certificate(rounding=lambda a: float("nan")),
    "probability": _certificate(probability=lambda a: 1.5),
    "dual": _map("dual", 1e-4),
    "row means": _map("row_means", np.linspace(0, 1e-4, 90)),
}


@pytest.mark.parametrize("solver", ["svd", "krylov"])
@pytest.mark.parametrize("what", CHANGES)
def test_what_was_changed_is_found_out(what, solver):
    model = deepcopy(fitted(solver))
    assert model.verify(X)
    CHANGES[what](model)
    done = model.verify(X)
    assert not done.ok, what
    assert done.words


@pytest.mark.parametrize(
    "what", ["all eigenvalues", "shares", "total", "gamma", "kernel", "both ends", "lower", "upper"]
)
def test_nystrom_models_too(what):
    model = fitted("nystrom")
    CHANGES[what](model)
    assert not model.verify(X)


@pytest.mark.parametrize(
    "what", ["all eigenvalues", "an eigenvector", "shares", "total", "a row", "upper", "both ends"]
)
def test_models_of_explicit_features_too(what):
    model = fitted("auto", Linear())
    CHANGES[what](model)
    assert not model.verify(X)
    moved = fitted("auto", Linear())
    _map("mean", 1e-3)(moved)
    assert not moved.verify(X)


def test_other_rows_are_refused():
    model = fitted("svd")
    with pytest.raises(InputError, match="rows that were fitted"):
        model.verify(X[:-1])
    assert not model.verify(X[::-1])
    with pytest.raises(InputError, match="at most"):
        model.verify(np.zeros((5001, 4)))


def test_a_frame_is_verified_without_a_warning_about_its_names():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)), columns=list("abc"))
    model = KernelPCA(2, kernel="rbf").fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.verify(X)
