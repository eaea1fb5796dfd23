"""Both parts of a mean in model files, in SQL and in ONNX."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz.persist.model import pack

FAR = 2.0**27


def rows(n=40, d=4, gaps=False):
    rng = np.random.default_rng(0)
    X = np.round((rng.standard_normal((n, 2)) @ rng.standard_normal((2, d)) + rng.standard_normal((n, d))) * 2**20)
    X = X / 2**20
    if gaps:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X


def models(far):
    X = rows() + far
    yield ritz.PCA(2).fit(X), X
    yield ritz.PCA(2, scale=True, whiten=True).fit(X), X
    yield ritz.SparsePCA(2, method="truncated-power", n_nonzero=2).fit(X), X
    yield ritz.FactorAnalysis(1).fit(X), X
    yield ritz.RobustPCA(2, method="robpca").fit(X), X
    yield ritz.PCA(2, missing="regularized").fit(rows(gaps=True) + far), rows(gaps=True) + far


PLACES = range(6)


@pytest.mark.parametrize("which", PLACES)
def test_a_file_keeps_both_parts(which, tmp_path):
    model, X = list(models(FAR))[which]
    ritz.save(model, tmp_path / "m.ritz")
    again = ritz.load(tmp_path / "m.ritz")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    assert np.any(again._record.mean_low)


def test_a_file_without_the_low_part_still_loads(tmp_path):
    """Files of earlier releases hold the rounded mean alone."""
    model, X = next(models(FAR))
    for name in ("_mean_low", "_left"):
        setattr(model._record, name[1:], None)
    with (tmp_path / "old.ritz").open("wb") as file:
        pack(model, file)
    old = ritz.load(tmp_path / "old.ritz")
    np.testing.assert_allclose(old.transform(X), model.transform(X), atol=1e-7)
    assert np.isfinite(old.reconstruction_error()).all()
    assert np.isfinite(old.score_samples(X)).all()


def test_a_low_part_that_is_more_than_rounding_is_refused(tmp_path):
    model, _ = next(models(FAR))
    model._record.mean_low = np.full(4, 0.5)
    ritz.save(model, tmp_path / "m.ritz")
    with pytest.raises(ritz.FileError, match="more than rounding took from the mean"):
        ritz.load(tmp_path / "m.ritz")


@pytest.mark.parametrize("which", PLACES)
def test_queries_place_rows_far_from_zero(which, duck, tmp_path):
    (_, near), (model, X) = (list(models(far))[which] for far in (0.0, FAR))
    ritz.export(model, tmp_path / "m.sql", table="the rows", keep=["row id"])
    columns = {f"x{j}": X[:, j].tolist() for j in range(4)}
    found = duck(columns, (tmp_path / "m.sql").read_text(encoding="utf-8"))
    bound = 1e-7 if np.isnan(near).any() else 1e-12  # a filled entry is not stored in a query
    np.testing.assert_allclose(found, model.transform(X), atol=bound * np.nanmax(np.abs(near)))


@pytest.mark.parametrize("which", PLACES)
def test_graphs_place_rows_far_from_zero(which, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    model, X = list(models(FAR))[which]
    ritz.export(model, tmp_path / "m.onnx", dtype="float64")
    session = runtime.InferenceSession(str(tmp_path / "m.onnx"), providers=["CPUExecutionProvider"])
    found = session.run(["scores"], {"X": X})[0]
    bound = 1e-7 if np.isnan(X).any() else 1e-12
    np.testing.assert_allclose(found, model.transform(X), atol=bound * 4)
