"""Saved models come back the same, merge exactly, and damaged files are refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ritz
from ritz._core.container import read_container, write_container
from ritz.methods.record import values_of

pd = pytest.importorskip("pandas")


@pytest.fixture
def rows() -> np.ndarray:
    rng = np.random.default_rng(5)
    return rng.standard_normal((300, 6)) @ np.diag([5, 4, 3, 2, 1, 0.5]) + 100


def same(a: object, b: object) -> None:
    """Every fitted value is equal, bit for bit."""
    one, two = values_of(a), values_of(b)
    assert one.keys() == two.keys()
    for name, value in one.items():
        if isinstance(value, np.ndarray):
            assert np.array_equal(value, two[name]), name
            assert value.dtype == two[name].dtype, name
        elif name in ("certificate_", "plan_", "_state"):
            assert str(value) == str(two[name])
        else:
            assert value == two[name], name


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [2, 0.9, None, "kaiser"])
def test_pca_round_trip(rows, tmp_path, dtype, k):
    model = ritz.PCA(k, scale=True, whiten=True).fit(pd.DataFrame(rows.astype(dtype), columns=list("abcdef")))
    ritz.save(model, tmp_path / "m.ritz")
    back = ritz.load(tmp_path / "m.ritz")
    same(model, back)
    X = pd.DataFrame(rows.astype(dtype), columns=list("abcdef"))
    assert np.array_equal(model.transform(X), back.transform(X))
    assert np.array_equal(model.certificate_.lower, back.certificate_.lower)
    assert back.certificate_.verify(rows.astype(dtype)).ok


def test_svd_round_trip(rows, tmp_path):
    model = ritz.SVD(3).fit(rows)
    ritz.save(model, tmp_path / "m.ritz")
    same(model, ritz.load(tmp_path / "m.ritz"))


def test_pending_state_is_saved_unsolved(rows, tmp_path):
    model = ritz.PCA(2).partial_fit(rows[:100])
    ritz.save(model, tmp_path / "m.ritz")
    back = ritz.load(tmp_path / "m.ritz").partial_fit(rows[100:])
    whole = ritz.PCA(2).fit(rows)
    assert np.allclose(back.explained_variance_, whole.explained_variance_, rtol=1e-12)


def test_merge_of_files_and_models_is_exact(rows, tmp_path):
    pieces = np.split(rows, [40, 90, 200, 201])
    parts = []
    for i, piece in enumerate(pieces):
        model = ritz.PCA(3).partial_fit(piece)
        if i % 2:
            ritz.save(model, tmp_path / f"{i}.ritz")
        parts.append(tmp_path / f"{i}.ritz" if i % 2 else model)
    merged, whole = ritz.merge(*parts), ritz.PCA(3).fit(rows)
    top = whole.explained_variance_[0]
    assert np.max(np.abs(merged.explained_variance_ - whole.explained_variance_)) <= 1e-12 * top
    assert np.allclose(merged.components_, whole.components_, atol=1e-12)
    assert merged.n_samples_ == 300
    again = ritz.merge(*parts)
    assert np.array_equal(again.components_, merged.components_)
    other = ritz.merge(*parts[::-1])
    assert np.max(np.abs(other.explained_variance_ - merged.explained_variance_)) <= 1e-12 * top


def test_what_cannot_be_saved(rows, tmp_path):
    with pytest.raises(ritz.ParameterError, match="save takes a model of PCA, SVD"):
        ritz.save(rows, tmp_path / "m.ritz")
    with pytest.raises(Exception, match="not fitted"):
        ritz.save(ritz.PCA(), tmp_path / "m.ritz")
    with pytest.raises(ritz.FileError, match="to be writable"):
        ritz.save(ritz.PCA(1).fit(rows), tmp_path / "absent" / "m.ritz")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_loaded(rows, tmp_path):
    with pytest.raises(ritz.FileError, match="nothing there"):
        ritz.load(tmp_path / "m.ritz")
    path = tmp_path / "m.ritz"
    ritz.save(ritz.PCA(1).fit(rows), path)
    header, arrays = read_container(path)
    for change, words in [
        ({"estimator": "os.system"}, "a model of PCA, SVD"),
        ({"format": 99}, "format 99"),
        ({"fitted": {"record": "Popen", "fields": {}}}, "unknown kind"),
        ({"fitted": {"array": "absent"}}, "absent"),
        ({"parameters": [1]}, "does not say what it is"),
        ({"parameters": 1}, "a header without a model"),
    ]:
        write_container(path, "model", {**json.loads(json.dumps(header)), **change}, arrays)
        with pytest.raises(ritz.FileError, match=words):
            ritz.load(path)


def test_merge_refuses_what_has_no_state(rows):
    with pytest.raises(ritz.MergeError, match="one or more"):
        ritz.merge()
    with pytest.raises(ritz.MergeError, match="small or with mergeable=True"):
        ritz.merge(ritz.SVD(2, mergeable=False).fit(rows), ritz.SVD(2).fit(rows))
    with pytest.raises(ritz.MergeError, match="can be combined with a SVD only"):
        ritz.merge(ritz.SVD(2, mergeable=True).fit(rows), ritz.PCA(2).fit(rows))
    with pytest.raises(ritz.MergeError, match="mergeable"):
        ritz.merge(ritz.PCA(2, mergeable=False).fit(rows), ritz.PCA(2).fit(rows))
