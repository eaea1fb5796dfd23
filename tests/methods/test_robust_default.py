"""What RobustPCA takes without being told: robpca for rows in memory, directions for rows that stay outside."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import ritz


def clustered(seed: int, n: int = 200, d: int = 10) -> np.ndarray:
    """15 % of the rows in one far place, on an axis of its own."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.r_[[5.0, 1.0], np.full(d - 2, 0.1)]
    X[: int(0.15 * n)] = 0.1 * rng.standard_normal((int(0.15 * n), d)) + 25 * np.eye(d)[-1]
    return X


def angle(model: ritz.RobustPCA) -> float:
    """Largest angle to the plane of the good rows, the first two axes, in degrees."""
    cosines = np.linalg.svd(model.components_[:, :2], compute_uv=False)
    return float(np.degrees(np.arccos(min(cosines[-1], 1.0))))


def test_clustered_outliers_do_not_turn_the_default(seed):
    X = clustered(seed)
    model = ritz.RobustPCA(2).fit(X)
    assert model.method == "auto"
    assert model.method_ == "robpca"
    assert angle(model) < 5 < 60 < angle(ritz.RobustPCA(2, method="spherical").fit(X))
    assert np.array_equal(model.components_, ritz.RobustPCA(2, method="robpca").fit(X).components_)
    assert not model.support_[:30].any()
    assert model.verify(X)


def test_rows_outside_memory_and_weights_that_are_no_counts_go_by_directions(tmp_path, seed):
    X = np.random.default_rng(seed).standard_normal((400, 5)) * [5, 4, 3, 2, 1]
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({f"x{j}": X[:, j] for j in range(5)}), path, row_group_size=100)
    table = ritz.read(path, memory=20_000)
    outside = ritz.RobustPCA(2).fit(table)
    if outside.method_ == "spherical":  # the table stays outside
        assert any("outside memory" in note for note in outside.certificate_.notes)
    weighted = ritz.RobustPCA(2).fit(X, sample_weight=np.full(400, 0.5))
    assert weighted.method_ == "spherical"
    assert any("whole numbers" in note for note in weighted.certificate_.notes)
    assert ritz.RobustPCA(2).fit(X, sample_weight=np.full(400, 2.0)).method_ == "robpca"
    assert ritz.RobustPCA(2).fit(sp.csr_array(X)).method_ == "robpca"
    with pytest.raises(ritz.ParameterError, match="'auto', 'spherical', 'robpca', 'pcp'"):
        ritz.RobustPCA(method="best").fit(X)


def test_blocks_that_stay_outside_are_named(seed):
    dask = pytest.importorskip("dask.array")
    X = np.random.default_rng(seed).standard_normal((300, 4)) * [4, 3, 2, 1]
    model = ritz.RobustPCA(2).fit(dask.from_array(X, chunks=(100, 4)))
    assert model.method_ == "spherical"
    assert any("outside memory" in note for note in model.certificate_.notes)


def test_a_file_keeps_which_method_was_taken(tmp_path, seed):
    X = clustered(seed)
    model = ritz.RobustPCA(2).fit(X)
    ritz.save(model, tmp_path / "r.ritz")
    back = ritz.load(tmp_path / "r.ritz")
    assert back.method_ == "robpca"
    assert back.verify(X)
    assert ritz.insight.limits(back).t2 == ritz.insight.limits(model).t2
