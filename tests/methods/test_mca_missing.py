"""Regularised iterative MCA: its fixed point, what it gets back, what it refuses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ritz
from ritz import MCA
from ritz._core.errors import AccuracyWarning, InputError, MergeError, ParameterError
from ritz.methods.correspondence.mca import regularized as mca_regularized


def survey(n: int = 300, seed: int = 0, shape: tuple[int, ...] = (3, 4, 2, 5, 3, 3)) -> pd.DataFrame:
    """Answers that depend on each other through two hidden traits."""
    rng = np.random.default_rng(seed)
    traits = rng.normal(size=(n, 2))
    columns = {}
    for j, K in enumerate(shape):
        score = traits @ (1.5 * rng.normal(size=(2, K))) + rng.gumbel(size=(n, K))
        columns[f"q{j}"] = [f"a{i}" for i in np.argmax(score, axis=1)]
    return pd.DataFrame(columns)


def held_out(X: pd.DataFrame, share: float, seed: int = 7) -> np.ndarray:
    return np.random.default_rng(seed).random(X.shape) < share


@pytest.mark.parametrize(("n", "share", "k"), [(300, 0.1, 2), (300, 0.3, 3), (60, 0.2, 4)])
def test_filled_in_answers_are_a_fixed_point(n: int, share: float, k: int) -> None:
    """Decomposing the completed table and rebuilding it, shrunk, gives what was filled in; written out in NumPy."""
    X = survey(n)
    mask = held_out(X, share)
    model = MCA(k, missing="regularized").fit(X.mask(mask))
    owners = model._encoder.active.owners
    Z = model._encoder.rows(X.mask(mask), unseen=None).toarray()
    p, J, K = Z.mean(axis=0), X.shape[1], Z.shape[1]
    U, s, Vt = np.linalg.svd((Z - p) / np.sqrt(n * J * p), full_matrices=False)
    noise = np.mean(np.square(s[k : min(n - 1, K - J)]))
    shrunk = (np.square(s[:k]) - noise) / s[:k]
    rebuilt = p + np.sqrt(n * J * p) * ((U[:, :k] * shrunk) @ Vt[:k])
    hidden = mask[:, owners]
    assert float(np.max(np.abs(rebuilt - Z)[hidden])) < 1e-9
    np.testing.assert_array_equal(Z[~hidden], pd.get_dummies(X, prefix_sep="=").to_numpy(float)[~hidden])
    np.testing.assert_allclose(model.eigenvalues_, np.square(s[:k]), rtol=1e-9)
    blocks = np.stack([Z[:, owners == j].sum(axis=1) for j in range(J)])
    np.testing.assert_allclose(blocks, 1, atol=1e-12)


def naive(Z: np.ndarray, hidden: np.ndarray, J: int, k: int, steps: int = 4000) -> np.ndarray:
    """missMDA's imputeMCA step by step: shares, then one step of rebuilding after the other."""
    n, K = Z.shape
    Z = Z.copy()
    Z[hidden] = np.nan
    Z = np.where(hidden, np.nanmean(Z, axis=0), Z)
    for _ in range(steps):
        p = Z.mean(axis=0)
        U, s, Vt = np.linalg.svd((Z / p - 1) * np.sqrt(p / J) / np.sqrt(n), full_matrices=False)
        noise = min(np.mean(np.square(s[k : K - J])), s[k] ** 2)
        rebuilt = (U[:, :k] * ((np.square(s[:k]) - noise) / s[:k])) @ Vt[:k] * np.sqrt(n)
        new = np.where(hidden, p * (rebuilt / np.sqrt(p / J) + 1), Z)
        if float(np.max(np.abs(new - Z))) < 1e-13:
            break
        Z = new
    return Z


def test_it_settles_where_plain_iteration_settles() -> None:
    X = survey(150)
    mask = held_out(X, 0.15)
    model = MCA(2, missing="regularized").fit(X.mask(mask))
    full = pd.get_dummies(X, prefix_sep="=").to_numpy(float)
    want = naive(full, mask[:, model._encoder.active.owners], X.shape[1], 2)
    np.testing.assert_allclose(model._encoder.rows(X.mask(mask), unseen=None).toarray(), want, atol=1e-8)


def test_rare_levels_are_pooled_before_answers_are_filled_in() -> None:
    X = survey(300)
    gaps = X.mask(held_out(X, 0.1))
    shares = pd.get_dummies(gaps, prefix_sep="=").mean()
    pooled = gaps.copy()
    for name in X:
        small = [v for v in X[name].unique() if shares[f"{name}={v}"] < 0.19]
        if len(small) > 1:  # a single one keeps its name
            pooled[name] = pooled[name].where(~pooled[name].isin(small), "(other)")
    a = MCA(2, missing="regularized", rare=0.19).fit(gaps)
    b = MCA(2, missing="regularized").fit(pooled)
    assert "q3" in a.pooled_
    assert "q3=(other)" in a.column_coordinates_.index
    np.testing.assert_allclose(a.eigenvalues_, b.eigenvalues_, rtol=1e-9)


@pytest.mark.parametrize("share", [0.05, 0.3])
def test_held_out_answers_come_back_more_often_than_by_the_mode(share: float, seed: int) -> None:
    X = survey(500, seed)
    mask = held_out(X, share, seed)
    gaps = X.mask(mask)
    guessed = MCA(2, missing="regularized").fit(gaps).impute(gaps)
    hits = (guessed == X).to_numpy()
    assert hits[~mask].all()
    mode = (gaps.mode().iloc[0] == X).to_numpy()
    assert hits[mask].mean() > mode[mask].mean() + 0.1


def test_rows_of_the_fit_lie_where_it_put_them_and_new_rows_alone() -> None:
    X = survey()
    gaps = X.mask(held_out(X, 0.2))
    model = MCA(2, missing="regularized").fit(gaps)
    np.testing.assert_allclose(model.transform(gaps), model.row_coordinates_, atol=1e-12)
    # A row of which nothing is known is expected in the centre.
    nothing = pd.DataFrame({name: [None] for name in X}, dtype=object)
    np.testing.assert_allclose(model.transform(nothing), 0, atol=1e-10)


def test_without_gaps_it_is_plain_analysis() -> None:
    X = survey()
    a, b = MCA(2, missing="regularized").fit(X), MCA(2).fit(X)
    np.testing.assert_allclose(a.eigenvalues_, b.eigenvalues_, rtol=1e-12)
    np.testing.assert_allclose(a.column_coordinates_, b.column_coordinates_, atol=1e-10)
    assert not a.certificate_.notes or "missing" not in a.certificate_.notes[-1]


def test_the_certificate_says_what_was_filled_in() -> None:
    X = survey()
    mask = held_out(X, 0.1)
    model = MCA(2, missing="regularized").fit(X.mask(mask))
    assert f"{mask.sum():,} of {mask.size:,} answers" in model.certificate_.notes[-1]
    assert model.verify(X.mask(mask)).ok


def test_weights_are_frequencies() -> None:
    X = survey(80)
    gaps = X.mask(held_out(X, 0.15))
    w = np.random.default_rng(1).integers(0, 4, len(X))
    weighted = MCA(2, missing="regularized").fit(gaps, sample_weight=w)
    copies = MCA(2, missing="regularized").fit(gaps.loc[gaps.index.repeat(w)])
    # The noise divides by the number of rows only where there are fewer rows than levels.
    np.testing.assert_allclose(weighted.eigenvalues_, copies.eigenvalues_, rtol=1e-8)


def test_tables_come_back_as_they_were() -> None:
    X = survey(60).assign(yes=[True, None, False] * 20)
    X.iloc[3, 0] = None
    for table in (X, pl.from_pandas(X), pa.Table.from_pandas(X), X.to_numpy(dtype=object)):
        full = MCA(2, missing="regularized").fit(table).impute(table)
        assert type(full) is type(table)
        array = full.to_pandas() if hasattr(full, "to_pandas") else full
        values = np.asarray(array, dtype=object)
        assert values.shape == X.shape
        assert values[0, 6] is True or values[0, 6] == True  # noqa: E712
        assert not pd.isna(values).any()


def test_what_it_refuses(tmp_path) -> None:
    X = survey()
    gaps = X.mask(held_out(X, 0.1))
    with pytest.raises(ParameterError, match="number of axes"):
        MCA(0.9, missing="regularized").fit(gaps)
    with pytest.raises(ParameterError, match="fewer than 14 axes"):
        MCA(14, missing="regularized").fit(gaps)
    with pytest.raises(ParameterError, match="fills in what is missing"):
        MCA(missing="category").fit(gaps).impute(gaps)
    with pytest.raises(MergeError, match="regularized"):
        MCA(2, missing="regularized").partial_fit(gaps)
    pq.write_table(pa.Table.from_pandas(gaps), tmp_path / "t.parquet", row_group_size=50)
    with pytest.raises(InputError, match="in memory"):
        MCA(2, missing="regularized").fit(ritz.read(tmp_path / "t.parquet", memory="1KB"))


def test_rounds_that_do_not_settle_are_told(monkeypatch) -> None:
    monkeypatch.setattr(mca_regularized, "ROUNDS", 3)
    X = survey()
    with pytest.warns(AccuracyWarning, match="did not settle within 3 rounds"):
        MCA(2, missing="regularized").fit(X.mask(held_out(X, 0.3)))
