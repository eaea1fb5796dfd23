"""scikit-learn's conventions around an estimator: clones, pickles, names, frames, pipelines, searches."""

from __future__ import annotations

import copy
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import FeatureUnion, make_pipeline, make_union
from sklearn.preprocessing import StandardScaler

import ritz
from ritz import PCA, SVD


@pytest.fixture
def iris():
    X, _ = load_iris(return_X_y=True, as_frame=True)
    return X


# ----------------------------------------------------------------------------- parameters and copies


@pytest.mark.parametrize("cls", [PCA, SVD])
def test_the_constructor_only_stores(cls):
    marks = {name: object() for name in cls().get_params()}
    model = cls(**marks)
    assert all(getattr(model, name) is mark for name, mark in marks.items())
    assert model.get_params() == marks
    assert {name for name in vars(model) if name.endswith("_")} == set()


def test_parameters_are_keywords_and_defaults_as_documented():
    assert PCA().get_params() == {
        "n_components": None, "center": True, "scale": False, "whiten": False, "missing": "error",
        "solver": "auto", "tol": 1e-6, "mergeable": None, "decay": 1.0, "random_state": 0, "memory": None,
        "device": "cpu", "progress": None,
    }  # fmt: skip
    with pytest.raises(TypeError, match="positional"):
        PCA(2, True)
    with pytest.raises(TypeError, match="positional"):
        SVD(2, "auto")
    assert repr(PCA(3, scale=True)) == "PCA(n_components=3, scale=True)"


@pytest.mark.parametrize("model", [PCA(2, whiten=True), SVD(2)])
def test_clones_are_unfitted_and_equal(model, iris):
    twin = clone(model.fit(iris))
    assert twin.get_params() == model.get_params()
    assert not hasattr(twin, "components_")
    assert not hasattr(twin, "feature_names_in_")


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
@pytest.mark.parametrize("state", ["fitted", "pending", "svd", "unfitted"])
def test_copies_and_pickles_do_the_same(duplicate, state, iris):
    model = {
        "fitted": lambda: PCA(2, scale=True).fit(iris),
        "pending": lambda: PCA(2).partial_fit(iris),
        "svd": lambda: SVD(2).fit(iris),
        "unfitted": lambda: PCA(2),
    }[state]()
    twin = duplicate(model)
    if state == "unfitted":
        assert not hasattr(twin, "components_")
        model, twin = model.fit(iris), twin.fit(iris)
    np.testing.assert_array_equal(twin.transform(iris), model.transform(iris))
    assert list(twin.feature_names_in_) == list(iris.columns)
    if isinstance(model, PCA):
        assert twin.merge(model).n_samples_ == 300
    assert str(twin.certificate_).startswith("certificate")


def test_joblib_files(tmp_path, iris):
    model = PCA(2).fit(iris)
    joblib.dump(model, tmp_path / "model")
    np.testing.assert_array_equal(joblib.load(tmp_path / "model").transform(iris), model.transform(iris))


def test_asking_for_unknown_names_is_an_attribute_error(iris):
    for model in (PCA(), PCA().partial_fit(iris), PCA().fit(iris)):
        with pytest.raises(AttributeError, match="'PCA' object has no attribute 'loadings_'"):
            model.loadings_  # noqa: B018
    with pytest.raises(AttributeError, match="components_"):
        PCA().components_  # noqa: B018


# ------------------------------------------------------------------------------------------- names


def test_feature_names(iris):
    model = PCA(3).fit(iris)
    assert list(model.get_feature_names_out()) == ["pca0", "pca1", "pca2"]
    assert list(SVD(2).fit(iris).get_feature_names_out()) == ["svd0", "svd1"]
    assert list(model.feature_names_in_) == list(iris.columns)
    assert not hasattr(PCA().fit(iris.to_numpy()), "feature_names_in_")
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.transform(iris.to_numpy())


def test_pandas_out_keeps_the_index(iris):
    iris = iris.set_index(pd.Index([f"flower {i}" for i in range(150)]))
    for model in (PCA(2), SVD(2)):
        plain = model.fit_transform(iris)
        assert isinstance(plain, np.ndarray)
        framed = model.set_output(transform="pandas").fit_transform(iris)
        assert isinstance(framed, pd.DataFrame)
        assert list(framed.columns) == list(model.get_feature_names_out())
        assert framed.index.equals(iris.index)
        np.testing.assert_array_equal(framed, plain)
        pd.testing.assert_frame_equal(model.transform(iris), framed)


def test_polars_out(iris):
    frame = pl.from_pandas(iris)
    framed = PCA(2).set_output(transform="polars").fit(frame).transform(frame)
    assert isinstance(framed, pl.DataFrame)
    assert framed.columns == ["pca0", "pca1"]
    np.testing.assert_allclose(framed.to_numpy(), PCA(2).fit_transform(iris), rtol=1e-10)


# -------------------------------------------------------------------------- pipelines and searches


def test_pipelines(iris):
    labels = load_iris().target
    pipe = make_pipeline(StandardScaler(), PCA(2), LogisticRegression()).fit(iris, labels)
    assert pipe.score(iris, labels) > 0.85
    assert list(pipe[:-1].get_feature_names_out()) == ["pca0", "pca1"]
    np.testing.assert_allclose(
        make_pipeline(StandardScaler(), PCA(2)).fit_transform(iris) * np.sqrt(149 / 150),
        PCA(2, scale=True).fit_transform(iris),
        rtol=1e-9,
    )
    back = make_pipeline(StandardScaler(), PCA())
    np.testing.assert_allclose(back.inverse_transform(back.fit_transform(iris)), iris, rtol=1e-10)


def test_unions_and_columns(iris):
    union = make_union(PCA(2), SVD(3)).fit(iris)
    assert isinstance(union, FeatureUnion)
    assert union.transform(iris).shape == (150, 5)
    columns = ColumnTransformer([("sepals", PCA(1), iris.columns[:2]), ("petals", PCA(1), iris.columns[2:])])
    columns.set_output(transform="pandas")
    assert list(columns.fit_transform(iris).columns) == ["sepals__pca0", "petals__pca0"]


def test_weights_pass_through_a_pipeline(iris):
    w = np.arange(150) % 3
    pipe = make_pipeline(PCA(2)).fit(iris, pca__sample_weight=w)
    np.testing.assert_array_equal(pipe[0].components_, PCA(2).fit(iris, sample_weight=w).components_)


def test_grid_search_in_two_processes(iris):
    labels = load_iris().target
    pipe = make_pipeline(PCA(), LogisticRegression(max_iter=1000))
    grid = {"pca__n_components": [1, 2, 0.95, "bic"], "pca__scale": [False, True]}
    search = GridSearchCV(pipe, grid, cv=3, n_jobs=2).fit(iris, labels)
    assert search.best_score_ > 0.9
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_search_by_likelihood_and_in_threads():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 6)) * 5 + rng.normal(size=(300, 6))
    search = GridSearchCV(PCA(), {"n_components": [1, 2, 3, 4]}, cv=5).fit(X)
    assert search.best_params_ == {"n_components": 2}
    with joblib.parallel_config("threading", n_jobs=2):
        scores = cross_val_score(PCA(2), X, cv=4)
    np.testing.assert_allclose(scores, cross_val_score(PCA(2), X, cv=4), rtol=1e-10)


def test_a_progress_hook_sees_the_fit_and_can_stop_it():
    X = np.random.default_rng(1).normal(size=(400, 60))
    events = []
    model = PCA(3, solver="krylov", progress=events.append).fit(X)
    assert events
    np.testing.assert_array_equal(model.components_, PCA(3, solver="krylov").fit(X).components_)

    def stop(event):
        raise ritz.Cancelled("stopped")

    with pytest.raises(ritz.Cancelled):
        PCA(3, solver="krylov", progress=stop).fit(X)
