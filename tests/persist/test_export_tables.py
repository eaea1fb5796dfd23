"""Components as CSV and Parquet, and what export says of what it cannot do."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest

import ritz
from ritz.testing.fuzz_models import FAMILIES, fitted

pd = pytest.importorskip("pandas")


@pytest.mark.parametrize("name", ["pca frame scaled", "svd", "factor analysis", "robust robpca", "sparse pca"])
def test_scores_come_from_the_table(name, tmp_path):
    model, rows = fitted(name)
    held = pd.read_csv(ritz.export(model, tmp_path / "c.csv"))
    V = held.drop(columns=["column", "mean", "scale"]).to_numpy()
    scores = (np.asarray(rows, float) - held["mean"].to_numpy()) / held["scale"].to_numpy() @ V
    assert np.allclose(scores, model.transform(rows), rtol=1e-9, atol=1e-9)
    assert held["column"].tolist() == list(getattr(model, "feature_names_in_", [f"x{j}" for j in range(5)]))


@pytest.mark.parametrize("name", FAMILIES)
def test_every_model_has_components(name, tmp_path):
    model, _ = fitted(name)
    path = ritz.export(model, tmp_path / "c.parquet")
    held = pq.read_table(path)
    assert held.num_columns >= 2 + model.n_components_
    assert held.column_names[-1][-1] == str(model.n_components_)


def test_columns_of_categories_are_named_by_their_levels(tmp_path):
    model, _ = fitted("mca")
    held = pd.read_csv(ritz.export(model, tmp_path / "c.out", "csv"))
    assert held["column"].tolist()[:3] == ["soil=chalk", "soil=clay", "soil=sand"]
    assert np.array_equal(held["Dim1"], model.components_[0])


def test_what_export_refuses(tmp_path):
    model, rows = fitted("pca")
    for arguments, words in [
        ((model, tmp_path / "m.txt"), "ends in one of"),
        ((model, tmp_path / "m.onnx", "pmml"), "to must be one of 'onnx', 'sql', 'csv', 'parquet'"),
        ((rows, tmp_path / "m.onnx"), "fitted"),
        ((rows, tmp_path / "m.csv"), "fitted"),
        ((ritz.PCA(), tmp_path / "m.sql"), "not fitted"),
    ]:
        with pytest.raises((ritz.ParameterError, TypeError, ValueError), match=words):
            ritz.export(*arguments)
    with pytest.raises(ritz.ParameterError, match="options of to='csv' are none"):
        ritz.export(model, tmp_path / "m.csv", dtype="float32")
    with pytest.raises(ritz.FileError, match="writable"):
        ritz.export(model, tmp_path / "absent" / "m.csv")
    assert list(tmp_path.iterdir()) == []
