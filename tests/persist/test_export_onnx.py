"""Graphs give the scores of ``transform`` in onnxruntime: 1e-5 in float32, 1e-9 in float64."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ritz
from ritz.persist.export.form import form_of
from ritz.persist.export.onnx import input_names
from ritz.testing.fuzz_models import FAMILIES, fitted, table

pd = pytest.importorskip("pandas")
onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

REFUSED = {"kernel function", "kernel function sum", *(n for n in FAMILIES if n.split()[-1] in
           {"spectrum", "bounded", "mismatch", "subsequence", "edit"})}  # fmt: skip
FORMS = [name for name in FAMILIES if name not in REFUSED and name != "ca observations"]
BOUNDS = {"float32": 1e-5, "float64": 1e-9}


def session(path):
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def text(value) -> str:
    return "" if pd.isna(value) else str(value)


def scored(path, X, dtype) -> np.ndarray:
    run = session(path)
    called = run.get_modelmeta().custom_metadata_map.get("ritz.inputs")
    if called is None:
        rows = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
        return run.run(["scores"], {"X": rows.astype(dtype)})[0]
    kinds = {one.name: one.type for one in run.get_inputs()}
    feed = {}
    for column, name in json.loads(called).items():
        values = [text(v) for v in X[column]] if "string" in kinds[name] else X[column].to_numpy(dtype)
        feed[name] = np.asarray(values, object if "string" in kinds[name] else dtype)[:, None]
    return run.run(["scores"], feed)[0]


def near(got, want, bound) -> None:
    assert np.array_equal(np.isnan(got), np.isnan(want))
    assert np.nanmax(np.abs(got - want), initial=0.0) <= bound * np.nanmax(np.abs(want), initial=1e-300)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_gallery(gallery, dtype, tmp_path):
    model, X, want = gallery
    ritz.export(model, tmp_path / "m.onnx", dtype=dtype)
    got = scored(tmp_path / "m.onnx", X, dtype)
    assert got.dtype == dtype
    near(got, want, BOUNDS[dtype])


@pytest.mark.parametrize("name", FORMS)
def test_every_form(name, tmp_path):
    model, rows = fitted(name)
    want = np.asarray(model.transform(rows), float)
    for dtype, bound in BOUNDS.items():
        ritz.export(model, tmp_path / "m.onnx", dtype=dtype)
        near(scored(tmp_path / "m.onnx", rows, dtype), want, 1e-6 if "float32" in name else bound)


@pytest.mark.parametrize("missing", ["error", "category", "exclude", "regularized"])
@pytest.mark.parametrize("unseen", ["error", "ignore", "missing", "supplementary"])
def test_missing_and_unseen_answers_follow_transform(missing, unseen, tmp_path):
    model = ritz.MCA(1, missing=missing, unseen=unseen).fit(table("words", gaps=missing != "error"))
    new = table("words").iloc[:6].copy()
    new.iloc[0, 0], new.iloc[1, 1], new.iloc[2, 0] = "basalt", "(missing)", None
    new.iloc[3, 2], new.iloc[3, 0] = None, "basalt"
    new.iloc[4, :] = "basalt"
    want = np.full((6, 1), np.nan)
    for i in range(6):
        try:
            want[i] = model.transform(new.iloc[[i]])
        except ritz.InputError:
            continue
    ritz.export(model, tmp_path / "m.onnx", dtype="float64")
    near(scored(tmp_path / "m.onnx", new, "float64"), want, 1e-9)


def test_rows_that_transform_refuses_are_nan(tmp_path):
    for name in ("pca", "ca", "kernel rbf", "kernel cosine", "kernel laplacian", "kernel polynomial"):
        model, rows = fitted(name)
        rows = np.array(rows, float)
        want = np.asarray(model.transform(rows), float)
        rows[1, 0], want[1] = np.nan, np.nan
        ritz.export(model, tmp_path / "m.onnx", dtype="float64")
        near(scored(tmp_path / "m.onnx", rows, "float64"), want, 1e-9)
    model, rows = fitted("ca")
    ritz.export(model, tmp_path / "m.onnx")
    assert np.isnan(scored(tmp_path / "m.onnx", [[0.0] * 6, [-1, 2, 3, 4, 5, 6]], "float32")).all()


def test_a_large_mean_keeps_the_digits_of_float32(tmp_path):
    X = (np.random.default_rng(0).standard_normal((50, 4)) + 4096).astype(np.float32)
    model = ritz.PCA(2).fit(X)
    ritz.export(model, tmp_path / "m.onnx")
    near(scored(tmp_path / "m.onnx", X, "float32"), model.transform(X.astype(float)), 1e-5)


def test_the_file_says_what_it_is(tmp_path):
    model, _ = fitted("famd")
    made = onnx.load(ritz.export(model, tmp_path / "m.onnx"))
    words = {entry.key: entry.value for entry in made.metadata_props}
    assert (made.producer_name, made.producer_version) == ("ritz", ritz.__version__)
    assert words["ritz.estimator"] == "FAMD"
    assert json.loads(words["ritz.columns"]) == list(model.feature_names_in_)
    assert json.loads(words["ritz.levels"])["soil"] == ["chalk", "clay", "sand"]
    assert words["ritz.certificate"] == str(model.certificate_)
    assert len(json.loads(words["ritz.explained"])) == len(json.loads(words["ritz.scores"])) == 3
    assert {node.domain for node in made.graph.node} <= {"", "ai.onnx.ml"}


def test_names_that_the_graph_needs_itself(tmp_path):
    rng = np.random.default_rng(0)
    names = ["scores", "ritz/v0", " ", "column 0", "plain"]
    X = pd.DataFrame({name: rng.choice(["a", "b", "c"], 30) for name in names})
    model = ritz.MCA(2).fit(X)
    called = input_names(form_of(model))
    assert called["plain"] == "plain"
    assert len(set(called.values())) == len(names)
    ritz.export(model, tmp_path / "m.onnx")
    near(scored(tmp_path / "m.onnx", X, "float32"), model.transform(X), 1e-5)


def test_what_onnx_cannot_say(tmp_path):
    for name in sorted(REFUSED):
        with pytest.raises(ritz.ParameterError, match="kernels"):
            ritz.export(fitted(name)[0], tmp_path / "m.onnx")
    X = np.random.default_rng(0).standard_normal((20, 3))
    rough = ritz.KernelPCA(2, kernel=ritz.kernels.Matern(0.7, 1.0)).fit(X)
    with pytest.raises(ritz.ParameterError, match="Matérn"):
        ritz.export(rough, tmp_path / "m.onnx")
    with pytest.raises(ritz.ParameterError, match="dtype must be one of"):
        ritz.export(fitted("pca")[0], tmp_path / "m.onnx", dtype="float16")
    assert list(tmp_path.iterdir()) == []
