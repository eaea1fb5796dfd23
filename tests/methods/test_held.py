"""model.verify finds out a model that holds something else than what its certificate proves."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ritz

pd = pytest.importorskip("pandas")
X = np.random.default_rng(0).standard_normal((80, 5)) * [5, 4, 3, 2, 1] + 7
TABLE = np.random.default_rng(1).integers(1, 40, (9, 6))
ANSWERS = pd.DataFrame({f"q{j}": np.random.default_rng(j).choice(list("abc"), 60) for j in range(4)})

MODELS = [
    (ritz.PCA(2), X), (ritz.PCA(scale=True), X), (ritz.PCA(2, whiten=True), X), (ritz.PCA(2), X.astype(np.float32)),
    (ritz.SVD(3), X), (ritz.SVD(2, solver="krylov"), X), (ritz.CA(2), TABLE), (ritz.MCA(2), ANSWERS),
    (ritz.MCA(2, method="burt"), ANSWERS), (ritz.FAMD(2), ANSWERS.assign(x=X[:60, 0], y=X[:60, 1])),
    (ritz.PCA(3, solver="lanczos"), X), (ritz.RobustPCA(2), X), (ritz.SparsePCA(2), X),
]  # fmt: skip


@pytest.mark.parametrize(("model", "rows"), MODELS, ids=lambda value: repr(value)[:40])
def test_sound_models_pass(model, rows):
    assert model.fit(rows).verify(rows)


def test_models_of_states_and_weights_pass():
    w = np.arange(1.0, 81.0)
    assert ritz.PCA(2).fit(X, sample_weight=w).verify(X, sample_weight=w)
    assert ritz.PCA(2).partial_fit(X[:30]).partial_fit(X[30:]).verify(X)
    assert ritz.PCA(2).fit(X[:40]).merge(ritz.PCA(2).fit(X[40:])).verify(X)


@pytest.mark.parametrize("name", ["components_", "explained_variance_", "mean_", "singular_values_"])
def test_changed_numbers_of_pca_are_found_out(name):
    model = ritz.PCA(2).fit(X)
    changed = np.array(getattr(model, name))
    changed.flat[0] *= 1.001
    vars(model)[name] = changed
    done = model.verify(X)
    assert not done
    assert "certificate" in done.words[0]
    assert name in done.words[0] or "components" in done.words[0]


@pytest.mark.parametrize(("model", "rows"), [(ritz.CA(2), TABLE), (ritz.MCA(2), ANSWERS), (ritz.SVD(2), X)])
def test_exchanged_components_are_found_out(model, rows):
    model.fit(rows)
    vars(model)["components_"] = np.asarray(model.components_)[::-1].copy()
    assert not model.verify(rows)


def test_of_other_data_the_columns_speak_first_and_no_private_name_at_all(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 3))
    for name, factor in (("a.csv", 1.0), ("b.csv", 1.5)):
        np.savetxt(tmp_path / name, rows * [1.0, factor, 1.0] + 3, delimiter=",", header="x,y,z", comments="")
    for model in (ritz.PCA(1), ritz.PCA(1, scale=True), ritz.SVD(1)):
        done = model.fit(ritz.read(tmp_path / "a.csv")).verify(ritz.read(tmp_path / "b.csv"))
        assert not done
        if isinstance(model, ritz.PCA):
            assert done.words[0].startswith("the mean of column 'y' is ")
        text = str(done)
        assert not re.search(r"(?<!\w)_\w|frame\.|column \d|1–1", text), text
    assert model.fit(ritz.read(tmp_path / "a.csv")).verify(ritz.read(tmp_path / "a.csv"))
