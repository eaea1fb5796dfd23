"""Every result as a frame, Pipelines for models, both names of components, tables as frames."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ritz
import ritz.insight
from ritz import insight
from ritz._core.tabular import Tabular

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    RNG.standard_normal((40, 2)) @ RNG.standard_normal((2, 5)) + 0.4 * RNG.standard_normal((40, 5)),
    columns=list("abcde"), index=[f"row {i}" for i in range(40)],
)  # fmt: skip
X = FRAME.to_numpy()
MODEL = ritz.PCA(3, scale=True).fit(FRAME)
KIND = pd.Series(np.where(np.arange(40) % 2, "odd", "even"), index=FRAME.index, name="kind")
COUNTS = pd.DataFrame(RNG.poisson(9, (6, 4)), index=list("uvwxyz"), columns=list("abcd"))


def lsi() -> ritz.LSI:
    return ritz.LSI(2).fit(["red wine", "white wine", "thin wings", "wings in flutter"])


RESULTS = {
    "certificate": (lambda: MODEL.certificate_, 3, ["component", "eigenvalue", "lower", "upper"]),
    "verification": (lambda: MODEL.verify(FRAME), 3, ["component", "residual"]),
    "plan": (lambda: MODEL.plan_, 1, ["solver"]),
    "ranks": (lambda: ritz.choose_rank(MODEL, criteria=["kaiser", "bic"]), None, ["criterion", "k", "weight", "why"]),
    "verdict": (lambda: ritz.choose_rank(MODEL, criteria=["kaiser"])["kaiser"], None, ["k", "value", "threshold"]),
    "biplot": (lambda: insight.biplot(MODEL, FRAME), 45, ["kind", "name", "PC1", "PC2", "PC3"]),
    "biplot of arrays": (lambda: insight.biplot(ritz.PCA(2).fit(X), X), 45, ["kind", "name", "PC1", "PC2"]),
    "supplementary": (lambda: insight.supplementary(MODEL, FRAME, KIND), 7, ["name", "statistic", "PC1"]),
    "rotation": (lambda: insight.rotate(MODEL, "varimax"), 5, ["variable"]),
    "top": (lambda: insight.top_variables(MODEL, "PC1", n=2), 2, ["axis", "variable", "loading", "contribution"]),
    "describe": (lambda: insight.describe(MODEL, FRAME, KIND, alpha=1), None, ["axis", "kind", "name", "statistic"]),
    "limits": (lambda: insight.limits(MODEL), 3, ["of", "limit", "alpha"]),
    "outliers": (lambda: insight.outliers(MODEL, FRAME), 40, ["row", "odd", "p_value", "score"]),
    "outlier map": (lambda: insight.outlier_map(MODEL, FRAME), 40, ["row", "score_distance"]),
    "ellipse": (lambda: insight.ellipse(MODEL, FRAME, KIND), 2, ["name", "x", "y", "major", "minor"]),
    "one ellipse": (lambda: next(iter(insight.ellipse(MODEL, FRAME).values())), 1, ["name", "x", "y"]),
    "bootstrap": (lambda: insight.bootstrap(MODEL, FRAME, n_boot=50), 3, ["component", "group", "eigenvalue"]),
    "intervals": (lambda: insight.bootstrap(MODEL, FRAME, n_boot=50).loadings, 15, ["name", "of", "estimate", "low"]),
    "intervals of values": (lambda: insight.bootstrap(MODEL, FRAME, n_boot=50).eigenvalues, 3, ["name", "estimate"]),
    "table bootstrap": (lambda: insight.bootstrap(ritz.CA(2).fit(COUNTS), COUNTS, n_boot=50), 2, ["axis", "group"]),
    "permutation": (lambda: insight.permutation_test(MODEL, FRAME, n_perm=30), 3, ["component", "statistic"]),
    "comparison": (lambda: insight.compare(MODEL, ritz.PCA(3).fit(FRAME)), 3, ["a", "b", "sign", "cosine"]),
    "aligned": (lambda: insight.align(MODEL, MODEL), 3, ["component", "variance", "cosine"]),
    "quality": (lambda: insight.embedding_quality(X, MODEL.transform(FRAME), k=5), 40, ["row", "trustworthiness"]),
    "dimension": (lambda: insight.intrinsic_dimension(X), 3, ["estimator", "dimension", "low", "high"]),
    "shepard": (lambda: insight.shepard(X, X[:, :2]), 780, ["i", "j", "before", "after"]),
    "procrustes": (lambda: insight.procrustes(X, X[:, ::-1]), 40, ["row", "distance"]),
    "sizes": (lambda: insight.neighbourhood_sizes(X, sizes=[4, 8]), 2, ["k"]),
    "stability": (lambda: insight.embedding_stability(ritz.MDS(2).fit(X), X, draws=3), 40, ["row", "moved", "draws"]),
    "again": (lambda: insight.neighbourhood_bootstrap(ritz.MDS(2).fit(X), X, draws=3), 40, ["row", "overlap"]),
    "preimages": (lambda: kernel().preimages(kernel().transform(X[:4]), "ridge"), 4, ["point", "error", "x0"]),
    "near": (lambda: kernel().neighbours(kernel().transform(X[:4]), 3), 12, ["point", "place", "row", "distance"]),
    "hits": (lambda: lsi().search("flutter", top=2), 2, ["row", "score", "text"]),
    "topics": (lambda: lsi().topics(), None, ["topic", "singular_value", "share", "word", "weight"]),
}  # fmt: skip


def kernel() -> ritz.KernelPCA:
    return ritz.KernelPCA(2, kernel="rbf").fit(X)


@pytest.mark.parametrize("name", RESULTS)
def test_results_become_frames_of_every_library(name):
    make, rows, columns = RESULTS[name]
    result = make()
    frame = result.to_frame()
    assert type(frame) is pd.DataFrame
    assert list(frame.columns)[: len(columns)] == columns
    assert len(frame) == rows or (rows is None and len(frame) > 0)
    others = result.to_frame("polars"), result.to_frame(library="pyarrow")
    assert type(others[0]) is pl.DataFrame
    assert type(others[1]) is pa.Table
    for other in (others[0].to_pandas(), others[1].to_pandas()):
        pd.testing.assert_frame_equal(frame, other, check_dtype=False)
    with pytest.raises(ritz.ParameterError, match="library must be one of"):
        result.to_frame("excel")


#: Records that are parts of a result, or that only code of Ritz sees.
PARTS = {"TopVariable", "Match", "Procrustes", "Group", "Estimate", "Curve", "Column", "Options", "Material", "Fit"}


def test_no_result_of_insight_is_without_a_frame():
    found = []
    for module in pkgutil.walk_packages(ritz.insight.__path__, "ritz.insight."):
        loaded = importlib.import_module(module.name)
        for name in getattr(loaded, "__all__", ()):
            kind = getattr(loaded, name)
            public = isinstance(kind, type) and kind.__module__ == module.name and name not in PARTS
            answers = any(name in str(getattr(insight, f).__annotations__.get("return", "")) for f in insight.__all__)
            if public and answers and dataclasses.is_dataclass(kind) and not issubclass(kind, Tabular):
                found.append(f"{module.name}.{name}")
    assert found == []


# names of components


def test_components_go_by_both_names():
    for name in ("PC2", "pca1", "pc2", "PCA1"):
        assert insight.top_variables(MODEL, name) == insight.top_variables(MODEL, 1)
    assert list(insight.describe(MODEL, FRAME, components=["pca2"])) == ["PC3"]
    assert list(MODEL.get_feature_names_out()) == ["pca0", "pca1", "pca2"]
    factors = ritz.FactorAnalysis(1).fit(FRAME)
    assert insight.top_variables(factors, "F1") == insight.top_variables(factors, "factoranalysis0")
    for wrong in ("PC4", "pca3", "PC0", "pcb1"):
        with pytest.raises(ritz.ParameterError, match="names from 'PC1' to 'PC3'"):
            insight.top_variables(MODEL, wrong)


# pipelines


@pytest.fixture(scope="module")
def pipeline():
    return make_pipeline(StandardScaler(), ritz.PCA(3)).fit(FRAME)


@pytest.mark.parametrize("name", ["t2", "spe", "combined", "contributions", "cos2", "blame"])
def test_questions_about_rows_take_pipelines(pipeline, name):
    Z = StandardScaler().fit_transform(X)
    truth = getattr(insight, name)(ritz.PCA(3).fit(Z), Z)
    assert np.allclose(np.asarray(getattr(insight, name)(pipeline, FRAME)), np.asarray(truth))


def test_names_of_columns_and_rows_come_along(pipeline):
    table = insight.loadings(pipeline)
    assert list(table.index) == list("abcde")
    assert list(insight.contributions(pipeline, FRAME).index) == list(FRAME.index)
    assert insight.top_variables(pipeline, "PC1", n=1)[0].variable in "abcde"
    assert not hasattr(pipeline[-1], "feature_names_in_")  # the model itself is left as it was
    assert insight.outliers(pipeline, FRAME).names == list(FRAME.index)
    assert set(insight.describe(pipeline, FRAME, alpha=1).to_frame()["name"]) == set("abcde")


def test_other_questions_and_steps_after_the_model(pipeline):
    longer = make_pipeline(StandardScaler(), ritz.PCA(3), LogisticRegression()).fit(FRAME, KIND)
    assert np.allclose(insight.t2(longer, FRAME), insight.t2(pipeline, FRAME))
    assert insight.compare(pipeline, longer).angles.max() < 1e-5
    assert ritz.choose_rank(pipeline, criteria=["kaiser"])["kaiser"].k == 2
    assert insight.limits(pipeline).t2 == insight.limits(pipeline[-1]).t2
    assert insight.bootstrap(pipeline, FRAME, n_boot=20).n == 40
    assert insight.rotate(pipeline, "varimax").loadings.shape == (5, 3)
    assert insight.outliers(pipeline, FRAME, reference=FRAME[:20]).mask.shape == (40,)
    assert ritz.plot.scree(pipeline) is not None
    alone = make_pipeline(ritz.PCA(2)).fit(FRAME)
    assert np.allclose(insight.t2(alone, FRAME), insight.t2(ritz.PCA(2).fit(FRAME), FRAME))


def test_pipelines_that_cannot_be_asked():
    with pytest.raises(ritz.ParameterError, match="received StandardScaler, PCA"):
        insight.loadings(make_pipeline(StandardScaler(), PCA(2)).fit(X))
    with pytest.raises(Exception, match="not fitted"):
        insight.loadings(make_pipeline(StandardScaler(), ritz.PCA(2)))
    one, two = (make_pipeline(StandardScaler(with_std=s), ritz.PCA(2)).fit(X) for s in (True, False))
    with pytest.raises(ritz.ParameterError, match="the same rows"):
        insight.compare(one, two, X)


# tables


def test_tables_become_frames(tmp_path):
    FRAME.to_csv(path := tmp_path / "t.csv", index_label="name")
    table = ritz.read(path)
    frame = table.to_pandas()
    assert list(frame.columns) == ["name", *"abcde"]
    assert np.array_equal(frame[list("abcde")].to_numpy(), X)
    assert table.to_polars().equals(pl.from_pandas(frame))
    assert table.to_arrow().num_rows == 40
    pa.parquet.write_table(pa.table(frame), big := tmp_path / "t.parquet")
    lazy = ritz.read(big, memory=1000)
    with pytest.raises(ritz.MemoryLimitError, match="holds all of"):
        lazy.to_pandas()
