"""Categories on a cluster: workers look at partitions and files, encode them, and hold what they encoded."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ritz
from ritz import MCA
from ritz.data.engines import engaged


def survey(n: int = 4000) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    trait = rng.normal(size=n)
    return pd.DataFrame(
        {
            f"q{j}": [
                f"a{i}" for i in np.argmax(trait[:, None] * np.linspace(-1, 1, K) + rng.gumbel(size=(n, K)), axis=1)
            ]
            for j, K in enumerate((3, 8, 12, 20, 15))
        }
    )


def test_frames_are_looked_at_and_encoded_by_the_workers(client) -> None:
    dd = pytest.importorskip("dask.dataframe")
    X = survey()
    w = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
    D = dd.from_pandas(X, npartitions=7)
    for weights in (None, w):
        model, want = MCA(3).fit(D, sample_weight=weights), MCA(3).fit(X, sample_weight=weights)
        np.testing.assert_allclose(model.eigenvalues_, want.eigenvalues_, rtol=1e-9)
        np.testing.assert_allclose(model.column_coordinates_, want.column_coordinates_, atol=1e-7)
    np.testing.assert_allclose(model.transform(D).compute(), want.transform(X), atol=1e-7)


def test_files_are_looked_at_and_encoded_by_the_workers(cluster, client, tmp_path) -> None:
    X = survey()
    pq.write_table(pa.Table.from_pandas(X), tmp_path / "survey.parquet", row_group_size=500)
    table = ritz.read(tmp_path / "survey.parquet")
    with engaged(cluster.scheduler_address):
        model = MCA(3).fit(table)
    want = MCA(3).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, want.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(model.column_coordinates_, want.column_coordinates_, atol=1e-7)


def test_errors_of_the_data_come_out_as_themselves(client) -> None:
    dd = pytest.importorskip("dask.dataframe")
    X = survey()
    X.loc[3333, "q1"] = None
    with pytest.raises(ritz.InputError, match="column 'q1'; received 1 missing, the first in row 3333"):
        MCA(3).fit(dd.from_pandas(X, npartitions=7))
