"""Every estimator comes back from a file the same to the last bit, and goes on working."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

import ritz
from ritz.kernels.base import Kernel
from ritz.methods.record import values_of
from ritz.testing.fuzz_models import FAMILIES, fitted, numbers, product_of, table

pd = pytest.importorskip("pandas")

#: Made again when they are needed, or compared through what they do.
DERIVED = {"_solved_map", "_preimage", "_score_ridge"}


def same(a, b, where="model") -> None:
    """Equal to the last bit: types, memory order and all."""
    assert type(a) is type(b), (where, type(a), type(b))
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), where
        assert a.flags.f_contiguous == b.flags.f_contiguous or not a.flags.forc, where
        if a.dtype == object:
            assert a.tolist() == b.tolist(), where
        else:
            assert a.tobytes("A" if a.flags.forc else "C") == b.tobytes("A" if a.flags.forc else "C"), where
    elif scipy.sparse.issparse(a):
        for part in ("data", "indices", "indptr"):
            same(getattr(a, part), getattr(b, part), f"{where}.{part}")
    elif isinstance(a, Kernel):
        assert a == b, where
    elif dataclasses.is_dataclass(a):
        for field in dataclasses.fields(a):
            same(getattr(a, field.name), getattr(b, field.name), f"{where}.{field.name}")
    elif isinstance(a, dict):
        assert list(a) == list(b), where
        for name in a:
            same(a[name], b[name], f"{where}.{name}")
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b), where
        for i, (one, other) in enumerate(zip(a, b, strict=True)):
            same(one, other, f"{where}[{i}]")
    elif isinstance(a, float) and a != a:
        assert b != b, where
    else:
        assert a == b, (where, a, b)


def timeless(record, solved_twice: bool):
    """A state is solved when it is first read: by each model for itself, in its own time."""
    name = "actual_seconds" if hasattr(record, "actual_seconds") else "seconds"
    return dataclasses.replace(record, **{name: 0.0}) if solved_twice else record


def again(model, path):
    ritz.save(model, path)
    return ritz.load(path, kernel=product_of)


@pytest.mark.parametrize("name", FAMILIES)
def test_everything_comes_back(name, tmp_path):
    model, rows = fitted(name)
    back = again(model, tmp_path / "m.ritz")
    assert [*tmp_path.iterdir()] == [tmp_path / "m.ritz"]
    assert values_of(model).keys() - DERIVED == values_of(back).keys() - DERIVED
    for key, value in values_of(model).items():
        if key not in DERIVED:
            same(value, values_of(back)[key], key)
    pending = "_pending" in values_of(model)
    first, second = np.asarray(model.transform(rows)), np.asarray(back.transform(rows))
    same(first, second, "transform")
    same(timeless(model.certificate_, pending), timeless(back.certificate_, pending), "certificate_")
    same(timeless(model.plan_, pending), timeless(back.plan_, pending), "plan_")
    assert repr(model) == repr(back)


@pytest.mark.parametrize("name", FAMILIES)
def test_rows_come_back_from_scores(name, tmp_path):
    model, rows = fitted(name)
    back = again(model, tmp_path / "m.ritz")
    scores = np.asarray(model.transform(rows))
    try:
        want = model.inverse_transform(scores)
    except ritz.ParameterError:  # strings have no pre-images
        with pytest.raises(ritz.ParameterError):
            back.inverse_transform(scores)
        return
    got = back.inverse_transform(scores)
    if isinstance(want, pd.DataFrame):
        pd.testing.assert_frame_equal(want, got, check_exact=True)
    else:
        same(np.asarray(want), np.asarray(got), "inverse_transform")


MERGEABLE = {
    "pca": (lambda: ritz.PCA(2), numbers),
    "ca": (lambda: ritz.CA(2), lambda: np.abs(numbers()).round()),
    "mca": (lambda: ritz.MCA(2), lambda: table("words")),
    "famd": (lambda: ritz.FAMD(2), table),
}


@pytest.mark.parametrize("name", MERGEABLE)
def test_loaded_models_merge_as_the_fitted_ones(name, tmp_path):
    build, rows = MERGEABLE[name]
    X = rows()
    parts = [build().fit(X[:20]), build().fit(X[20:])]
    loaded = [again(part, tmp_path / f"{i}.ritz") for i, part in enumerate(parts)]
    want, got = ritz.merge(*parts), ritz.merge(*loaded)
    same(want.components_, got.components_, "components_")
    same(want.transform(X[:5]), got.transform(X[:5]), "transform")
    mixed = ritz.merge(parts[0], tmp_path / "1.ritz")
    same(want.components_, mixed.components_, "components_")


@pytest.mark.parametrize("name", ["pca frame scaled", "mfa counts", "kernel rbf", "ca observations"])
def test_loaded_models_are_ordinary_estimators(name, tmp_path):
    model, rows = fitted(name)
    back = again(model, tmp_path / "m.ritz")
    thawed = pickle.loads(pickle.dumps(back))
    same(np.asarray(thawed.transform(rows)), np.asarray(model.transform(rows)), "transform")
    assert repr(clone(back)) == repr(clone(model))
    ritz.save(thawed, tmp_path / "n.ritz")
    assert (tmp_path / "n.ritz").read_bytes() == (tmp_path / "m.ritz").read_bytes()


def test_names_of_rows_of_any_kind(tmp_path):
    N = pd.DataFrame(np.arange(1, 13).reshape(4, 3) ** 2)
    pairs, odd = [("a", 1), ("a", 2), ("b", 1), ("b", 2)], [1.5, float("nan"), None, "x"]
    times, days = pd.date_range("2024-05-01", periods=4, freq="h"), pd.period_range("2024", periods=4)
    for index in (times, pairs, odd, days, [*times[:3], pd.NaT], [f"row {i}" for i in range(4)]):
        model = ritz.CA(1).fit(N.set_axis(pd.Index(list(index), tupleize_cols=False), axis=0))
        back = again(model, tmp_path / "m.ritz")
        shown = [str(one) for one in model.row_coordinates_.index]
        assert [str(one) for one in back.row_coordinates_.index] == shown


def test_many_names_are_held_as_bytes(tmp_path):
    names = [f"Spalte {i} ü" for i in range(300)]
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((20, 300)), columns=names)
    model = ritz.PCA(1, mergeable=False).fit(X)
    back = again(model, tmp_path / "m.ritz")
    assert back.feature_names_in_.tolist() == names
    assert back.feature_names_in_.dtype == object


def test_groups_whose_names_hold_points(tmp_path):
    X = table()
    groups = {"g": ["acid"], "g.values": ["sweet"], "g.values.0": ["soil", "bitter"]}
    with pytest.warns(ritz.ColumnsSetAside):
        model = ritz.MFA(2, groups=groups).fit(X)
    back = again(model, tmp_path / "m.ritz")
    same(values_of(model)["_separate"], values_of(back)["_separate"])


def test_what_belongs_to_a_process_is_left_out(tmp_path):
    events = []
    model = ritz.PCA(2, progress=events.append, random_state=np.random.default_rng(0)).fit(numbers())
    back = again(model, tmp_path / "m.ritz")
    assert (back.progress, back.random_state) == (None, None)


# ------------------------------------------------------------------------------------------- functions


def scaled(x, y):
    return 2 * product_of(x, y)


def test_a_function_is_handed_in_again(tmp_path):
    path = tmp_path / "m.ritz"
    model, rows = fitted("kernel function")
    ritz.save(model, path)
    with pytest.raises(ritz.ParameterError, match=r"Python function.*fuzz_models\.product_of") as caught:
        ritz.load(path)
    assert caught.value.hint == "ritz.load(path, kernel=product_of)"
    assert b"def product_of" not in path.read_bytes()
    for given in (product_of, {"product_of": product_of}, ritz.kernels.Callable(product_of)):
        back = ritz.load(path, kernel=given)
        same(back.transform(rows), model.transform(rows))
        assert back.kernel is product_of
    with pytest.raises(ritz.ParameterError, match=r"function that the model.*was fitted with"):
        ritz.load(path, kernel=scaled)
    with pytest.raises(ritz.ParameterError, match="Python function"):
        ritz.load(path, kernel={"other": product_of})


def test_objects_of_any_kind_are_refused(tmp_path):
    model = ritz.KernelPCA(1, kernel=lambda x, y: float(len(x & y))).fit([{1, 2}, {2, 3}, {1, 3}, {3}])
    with pytest.raises(ritz.ParameterError, match=r"X_fit_\.0 of type set"):
        ritz.save(model, tmp_path / "m.ritz")
    assert list(tmp_path.iterdir()) == []
