"""Gaps of numbers and categories filled in by regularised iterative FAMD and MFA.

The truth is the published iteration, written down plainly: one step at a time, by a singular value decomposition of the
completed table, until nothing moves. What it settles at does not depend on how it gets there.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import ritz
from ritz.methods.fitted import fitted_of

GROUPS = {"a": ["x0", "x1", "c"], "b": ["x2", "x3", "d"]}


def people(n=60, gaps=0.12, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, 2))
    full = pd.DataFrame({f"x{j}": z @ rng.standard_normal(2) * 3 + 10 + 0.5 * rng.standard_normal(n) for j in range(4)})
    full["c"] = np.where(z[:, 0] > 0.5, "a", np.where(z[:, 0] < -0.4, "b", "c")).astype(object)
    full["d"] = np.where(z[:, 1] + 0.3 * rng.standard_normal(n) > 0, "u", "v").astype(object)
    gone = rng.random(full.shape) < gaps
    return full, full.mask(gone), gone


def indicator(values):
    """Columns of levels, NaN where the answer is missing."""
    levels = sorted(values.dropna().unique())
    lost = values.isna().to_numpy()[:, None]
    return np.where(lost, np.nan, np.array([[float(value == level) for level in levels] for value in values]))


def settled(table, groups, k, *, scaled=True):
    """The completed columns, group after group, by plain steps; weights of the groups are found anew in each."""
    blocks, kinds = [], []
    for names in groups:
        parts = [
            table[[name]].to_numpy(float) if pd.api.types.is_numeric_dtype(table[name]) else indicator(table[name])
            for name in names
        ]
        kinds += [part.shape[1] == 1 for part in parts for _ in range(part.shape[1])]
        blocks.append(np.hstack(parts))
    R, number = np.hstack(blocks), np.array(kinds)
    n, d = R.shape
    hidden, ends = np.isnan(R), np.cumsum([block.shape[1] for block in blocks])
    R = np.where(hidden, np.nanmean(R, axis=0), R)
    rank = min(n - 1, d)
    for _ in range(5000):
        mean = R.mean(axis=0)
        scale = np.where(number, R.std(axis=0) if scaled else 1.0, np.sqrt(mean))
        for start, stop in zip([0, *ends[:-1]], ends, strict=True):
            own = (R[:, start:stop] - mean[start:stop]) / scale[start:stop] / np.sqrt(n)
            scale[start:stop] *= np.linalg.svd(own, compute_uv=False)[0]
        U, s, Vt = np.linalg.svd((R - mean) / scale / np.sqrt(n), full_matrices=False)
        noise = min(np.sum(s[k:rank] ** 2) / (rank - k), s[k] ** 2)
        fitted = np.sqrt(n) * (U[:, :k] * ((s[:k] ** 2 - noise) / s[:k])) @ Vt[:k]
        before, R = R, np.where(hidden, mean + scale * fitted, R)
        if np.abs(R - before).max() < 1e-13:
            return R
    raise AssertionError("did not settle")


def completed(model, table):
    encoder = model._encoder
    rows = encoder.rows(table, unseen=None).toarray()
    rows[:, : encoder.p] += encoder.shift
    return pd.DataFrame(rows, columns=encoder.labels)


@pytest.mark.parametrize("k", [1, 2])
def test_famd_settles_where_the_published_iteration_does(k):
    _, table, _ = people()
    model = ritz.FAMD(k, missing="regularized").fit(table)
    expected = settled(table, [[name] for name in table.columns], k)
    got = completed(model, table).to_numpy()
    assert np.abs(got - expected).max() < 1e-8
    assert np.allclose(model.impute(table)["x0"], expected[:, 0], atol=1e-8)
    assert "filled in by regularised iterative FAMD" in model.certificate_.notes[-1]
    # The spectrum is that of the completed table, under the scales of FAMD.
    mean = expected.mean(axis=0)
    scale = np.concatenate([expected[:, :4].std(axis=0), np.sqrt(mean[4:])])
    values = np.linalg.svd((expected - mean) / scale / np.sqrt(len(table)), compute_uv=False)[:k] ** 2
    assert np.allclose(model.eigenvalues_, values, rtol=1e-8)


@pytest.mark.parametrize("scaled", [True, False])
def test_mfa_settles_where_the_published_iteration_does(scaled):
    _, table, _ = people(seed=1)
    model = ritz.MFA(2, groups=GROUPS, scale=scaled, missing="regularized").fit(table)
    expected = settled(table, GROUPS.values(), 2, scaled=scaled)
    order = ["x0", "x1", "c=a", "c=b", "c=c", "x2", "x3", "d=u", "d=v"]
    assert np.abs(completed(model, table)[order].to_numpy() - expected).max() < 1e-8


@pytest.mark.parametrize(
    "model",
    [ritz.FAMD(2, missing="regularized"), ritz.MFA(2, groups=GROUPS, missing="regularized")],
    ids=["famd", "mfa"],
)
def test_filled_models_place_verify_and_are_saved(model, tmp_path):
    full, table, gone = people()
    model.fit(table)
    placed = model.transform(table)
    assert np.allclose(placed, model.row_coordinates_, atol=1e-12)
    assert np.allclose(model.transform(table.iloc[7:9]), placed[7:9], atol=1e-12)  # alone as among others
    assert model.verify(table)
    filled = model.impute(table)
    assert not filled.isna().any().any()
    assert np.asarray(model.column_cos2_).shape == (9, 2)
    assert not fitted_of(model).mergeable
    with pytest.raises(ritz.MergeError, match="rows that can be added up"):
        model.merge(model)
    error = np.sqrt(np.mean((filled["x0"] - full["x0"])[gone[:, 0]] ** 2))
    assert error < 0.5 * full["x0"].std()
    ritz.save(model, tmp_path / "m.ritz")
    assert np.allclose(ritz.load(tmp_path / "m.ritz").transform(table), placed, atol=1e-14)


def test_what_cannot_be_filled_is_refused(tmp_path):
    _, table, _ = people()
    with pytest.raises(ritz.ParameterError, match="number of axes"):
        ritz.FAMD(missing="regularized").fit(table)
    with pytest.raises(ritz.ParameterError, match="fewer than 9 axes"):
        ritz.FAMD(9, missing="regularized").fit(table)
    with pytest.raises(ritz.InputError, match="values in column 'x1'"):
        ritz.FAMD(2, missing="regularized").fit(table.assign(x1=np.nan))
    with pytest.raises(ritz.MergeError, match="rows that can be added up"):
        ritz.FAMD(2, missing="regularized").partial_fit(table)
    with pytest.raises(ritz.NonFiniteError, match="hint: missing='regularized' fills them in"):
        ritz.FAMD(2, missing="category").fit(table)
    with pytest.raises(ritz.NonFiniteError, match="infinity"):
        ritz.FAMD(2, missing="regularized").fit(table.assign(x1=np.where(np.arange(60) == 3, np.inf, table["x1"])))
    model = ritz.FAMD(2, missing="regularized").fit(table)
    with pytest.raises(ritz.ParameterError, match="hold no model that fills in gaps"):
        ritz.export(model, tmp_path / "m.sql", to="sql")


def test_without_gaps_the_answer_is_that_of_famd():
    full, _, _ = people()
    plain, filled = ritz.FAMD(2).fit(full), ritz.FAMD(2, missing="regularized").fit(full)
    assert np.allclose(plain.eigenvalues_, filled.eigenvalues_, rtol=1e-12)
