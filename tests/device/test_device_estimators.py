"""Every estimator that takes rows gives the same answer on a device, and results in the kind of what it was given.

Tensors in the memory of the host stand in for a graphics processor: the same code runs, on another device of torch.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ritz

torch = pytest.importorskip("torch")

RNG = np.random.default_rng(0)
X = RNG.standard_normal((200, 6)) @ RNG.standard_normal((6, 6)) + RNG.standard_normal((200, 6)) + 10
GAPS = np.where(RNG.random(X.shape) < 0.05, np.nan, X)
COUNTS = RNG.integers(0, 20, (40, 6)).astype(float)
LEVELS = pd.DataFrame({name: RNG.choice(list("abc"), 150) for name in "xyz"})
MIXED = LEVELS.assign(u=RNG.standard_normal(150), v=RNG.standard_normal(150))
TEXTS = ["the cat sat", "a dog ran away", "cat and dog", "bird sat there", "dog ran"] * 5

CASES: dict[str, tuple[Any, Any]] = {
    "PCA": (ritz.PCA(3), X),
    "PCA, scaled float32": (ritz.PCA(3, scale=True, whiten=True), X.astype(np.float32)),
    "PCA of integers": (ritz.PCA(2), np.rint(100 * X).astype(np.int64)),
    "PCA of gaps": (ritz.PCA(2, missing="regularized"), GAPS),
    "PCA of few rows": (ritz.PCA(2, mergeable=True), X.T.copy()),
    "SVD": (ritz.SVD(3), X),
    "KernelPCA": (ritz.KernelPCA(3, kernel="rbf"), X),
    "SparsePCA": (ritz.SparsePCA(2), X),
    "RobustPCA": (ritz.RobustPCA(2), X),
    "FactorAnalysis": (ritz.FactorAnalysis(2), X),
    "CA": (ritz.CA(2), COUNTS),
    "MCA": (ritz.MCA(2), LEVELS),
    "FAMD": (ritz.FAMD(2), MIXED),
    "MFA": (ritz.MFA(2, groups={"a": ["x", "y"], "b": ["u", "v"]}), MIXED),
    "MDS": (ritz.MDS(2), X[:60]),
    "Isomap": (ritz.Isomap(2), X[:60]),
    "LLE": (ritz.LLE(2), X[:60]),
    "LaplacianEigenmaps": (ritz.LaplacianEigenmaps(2), X[:60]),
    "DiffusionMaps": (ritz.DiffusionMaps(2), X[:60]),
    "LSI": (ritz.LSI(2), TEXTS),
}


def _agree(here: Any, there: Any, data: Any) -> None:
    """Eigenvalues lie in each other's enclosures, and vectors are one another's."""
    a, b = here.certificate_, there.certificate_
    slack = a.width + b.width + 1e-12 * abs(float(a.values[0]))
    assert np.all(np.abs(a.values - b.values) <= slack)
    if here.fitted.places_new_rows:
        T, U = np.asarray(here.transform(data)), np.asarray(there.transform(data))
        loss = 1e-5 if T.dtype == np.float32 else 1e-8
        assert np.max(np.abs(T - U)) <= loss * np.max(np.abs(T))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_an_estimator_says_the_same_on_a_device(name: str) -> None:
    model, data = CASES[name]
    here, there = (_clone(model).set_params(device=device).fit(data) for device in ("cpu", "torch:cpu"))
    _agree(here, there, data)
    assert bool(there.verify(data))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name, (_, data) in CASES.items() if isinstance(data, np.ndarray)])
def test_tensors_give_tensors_and_fitted_names_are_arrays(name: str) -> None:
    model, data = CASES[name]
    rows = torch.from_numpy(data)
    there = _clone(model).set_params(device="torch:cpu").fit(rows)
    _agree(_clone(model).fit(data), there, data)
    fitted = {key: value for key, value in vars(there).items() if key.endswith("_") and not key.startswith("_")}
    assert not any(isinstance(value, torch.Tensor) for value in fitted.values())
    if there.fitted.places_new_rows:
        T = there.transform(rows)
        assert isinstance(T, torch.Tensor)
        assert T.device == rows.device
        assert isinstance(there.transform(data), np.ndarray)


def _clone(model: Any) -> Any:
    from sklearn.base import clone

    return clone(model)


def test_rows_from_coordinates_are_tensors_too() -> None:
    rows = torch.from_numpy(X)
    pca = ritz.PCA(device="torch:cpu").fit(rows)
    back = pca.inverse_transform(pca.transform(rows))
    assert isinstance(back, torch.Tensor)
    assert float((back - rows).abs().max()) < 1e-12 * float(rows.abs().max())
    assert isinstance(ritz.PCA(2).fit_transform(rows), torch.Tensor)


def test_batches_on_a_device_add_up_to_the_fit_and_merge_with_those_of_the_host() -> None:
    whole = ritz.PCA(3).fit(X)
    fed = ritz.PCA(3, device="torch:cpu")
    for part in np.array_split(X, 5):
        fed.partial_fit(torch.from_numpy(part))
    merged = ritz.PCA(3, device="torch:cpu").fit(torch.from_numpy(X[:90])).merge(ritz.PCA(3).fit(X[90:]))
    for model in (fed, merged):
        np.testing.assert_allclose(model.explained_variance_, whole.explained_variance_, rtol=1e-12)
        assert bool(model.verify(torch.from_numpy(X)))


def test_weights_scores_and_errors_of_rows_on_a_device_are_those_of_the_host() -> None:
    w = RNG.integers(0, 3, len(X)).astype(float)
    bad = X.copy()
    bad[w == 0] = np.nan  # rows of weight zero are absent, whatever they hold
    here, there = ritz.PCA(3).fit(X, sample_weight=w), ritz.PCA(3, device="torch:cpu").fit(bad, sample_weight=w)
    np.testing.assert_allclose(there.explained_variance_, here.explained_variance_, rtol=1e-12)
    np.testing.assert_allclose(there.score_samples(torch.from_numpy(X)), here.score_samples(X), rtol=1e-9)
    np.testing.assert_allclose(there.reconstruction_error(X), here.reconstruction_error(X), rtol=1e-9)


@pytest.mark.parametrize("k", [19, 25])
def test_rows_of_weight_zero_that_a_device_counts_pass_verify(k: int) -> None:
    """25 rows, six without weight: as zeros they have eigenvalues of zero beyond those of the 19."""
    rng = np.random.default_rng(k)
    rows, weights = rng.standard_normal((25, 8)) @ rng.standard_normal((8, 120)), rng.random(25)
    weights[::5] = weights[3] = 0
    model = ritz.PCA(k, device="torch:cpu").fit(rows, sample_weight=weights)
    assert bool(model.verify(rows, sample_weight=weights))
    raised = replace(model.certificate_, ceiling=float(model.certificate_.values[2]))
    model.certificate_ = raised
    assert not bool(model.verify(rows, sample_weight=weights))


def test_a_model_of_a_device_serves_where_there_is_none(tmp_path: Any) -> None:
    model = ritz.PCA(2, device="torch:cpu").fit(torch.from_numpy(X))
    model.device = "cuda"  # as if it had been fitted there; this machine may have none
    ritz.save(model, tmp_path / "model.ritz")
    again = ritz.load(tmp_path / "model.ritz")
    np.testing.assert_allclose(again.transform(X), ritz.PCA(2).fit(X).transform(X), rtol=1e-9, atol=1e-9)
    assert bool(again.verify(X))


def test_the_plan_says_where_passes_run() -> None:
    assert ritz.PCA(2, device="torch:cpu").fit(X).plan_.reasons[-1] == "passes and products run on torch:cpu"
    assert not any("run on" in reason for reason in ritz.PCA(2).fit(X).plan_.reasons)


def test_sparse_rows_stay_sparse_on_a_device() -> None:
    import scipy.sparse

    S = scipy.sparse.random(400, 90, density=0.05, format="csr", random_state=0)
    for solver in ("moments", "krylov", "lanczos", "chebyshev"):
        here, there = (ritz.SVD(3, solver=solver, device=device).fit(S) for device in ("cpu", "torch:cpu"))
        _agree(here, there, S)
        assert bool(there.verify(S))


@pytest.mark.parametrize("solver", ["svd", "moments", "chebyshev", "krylov"])
def test_wide_rows_of_which_some_have_no_weight_pass_their_check(solver: str) -> None:
    rng = np.random.default_rng(4)
    X = (rng.standard_normal((30, 31)) + 1e4).astype(np.float32)
    w = np.ones(30)
    w[[2, 3, 9, 11, 17, 20, 21, 29]] = 0.0
    model = ritz.PCA(22, solver=solver, device="torch:cpu").fit(X, sample_weight=w)  # rows with weight
    assert bool(model.verify(X, sample_weight=w))
    assert bool(model.certificate_.verify(X, w)), model.certificate_.verify(X, w)
