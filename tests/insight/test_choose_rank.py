"""choose_rank on rows and on fitted models: reference values, one decomposition, the answers that estimators give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris

import ritz
from ritz.rank import NAMES, ROWLESS

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "rank"
SPECTRUM = [
    "fraction",
    "elbow",
    "kaiser",
    "broken-stick",
    "parallel",
    "dpa",
    "mle",
    "aic",
    "bic",
    "gavish-donoho",
    "gcv",
]


@pytest.fixture(scope="module")
def events() -> np.ndarray:
    return np.loadtxt(GOLDEN / "decathlon.csv", delimiter=",", skiprows=1)


def planted(n: int, d: int, q: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return 3.0 * rng.standard_normal((n, q)) @ rng.standard_normal((q, d)) / np.sqrt(d) * 3 + rng.standard_normal(
        (n, d)
    )


# -------------------------------------------------------------------------------------- reference values


def test_decathlon(events):
    r = ritz.choose_rank(events, scale=True)
    ten = ("broken-stick", "elbow", "gavish-donoho", "bic", "map", "parallel", "mle", "gcv", "kaiser", "aic")
    assert [r[name].k for name in ten] == [1, 1, 1, 1, 2, 3, 3, 3, 4, 4]
    assert (r["permutation"].k, r["dpa"].k, r["bcv"].k) == (1, 1, 2)
    np.testing.assert_allclose(r["gcv"].curve.value[:5], [1, 0.8956, 0.8857, 0.8767, 0.8890], atol=5e-5)
    np.testing.assert_allclose(r["map"].curve.value[:4], [0.0898, 0.0649, 0.0566, 0.0768], atol=5e-5)
    np.testing.assert_allclose(10 * r["parallel"].curve.threshold[:4], [1.869, 1.568, 1.352, 1.170], atol=0.02)
    assert round(float(r["elbow"].curve.value[0]) + 10 * np.log(1.0), 3) == -7.058
    assert r.consensus == 2


def test_iris():
    r = ritz.choose_rank(load_iris().data)
    np.testing.assert_allclose(r["mle"].curve.value, [364.034, 420.935, 440.418], atol=1e-3)
    np.testing.assert_allclose(r["bic"].curve.value[1:], [986.435, 870.053, 829.978], atol=1e-3)
    np.testing.assert_allclose(r["fraction"].curve.value, np.cumsum([0.92462, 0.05307, 0.01710, 0.00521]), atol=1e-5)
    assert r["mle"].k == 3
    assert "hides weak components" in r["parallel"].caution


def test_digits():
    r = ritz.choose_rank(load_digits().data, criteria=SPECTRUM)
    assert r["mle"].k == 61
    assert r["mle"].weight == 0.0
    assert "no flat end of the spectrum was found" in r["mle"].caution


# ---------------------------------------------------------------------------------------- what is returned


def test_every_criterion_has_all_its_parts():
    r = ritz.choose_rank(planted(120, 10, 2))
    assert set(r) == {"fraction", *NAMES}
    assert r.consensus == 2
    for name in r:
        verdict = r[name]
        assert verdict.why
        assert verdict.assumption
        assert isinstance(verdict.caution, str)
        assert len(verdict.curve.k) == len(verdict.curve.value) > 0
        assert verdict.curve.label
        assert f"assumes: {verdict.assumption}" in repr(verdict)
    assert [row.criterion for row in r.table] == list(r)
    assert all(row.why == r[row.criterion].why for row in r.table)
    assert repr(r).startswith("How many components of PCA: 2\n")
    assert r.reasons[0] in repr(r)


def test_the_table_makes_a_frame():
    pd = pytest.importorskip("pandas")
    r = ritz.choose_rank(planted(60, 6, 1), criteria=["kaiser", "bic"])
    frame = pd.DataFrame(r.table)
    assert list(frame.columns) == ["criterion", "k", "why"]
    assert list(frame["k"]) == [r["kaiser"].k, r["bic"].k]


def test_the_same_call_gives_the_same_answer_and_seeds_differ():
    X = planted(80, 9, 2)
    a, b, c = (ritz.choose_rank(X, criteria=["parallel", "permutation"], random_state=s) for s in (0, 0, 5))
    np.testing.assert_array_equal(a["permutation"].curve.threshold, b["permutation"].curve.threshold)
    assert np.any(a["permutation"].curve.threshold != c["permutation"].curve.threshold)
    assert np.any(a["parallel"].curve.threshold != c["parallel"].curve.threshold)


# ------------------------------------------------------------------------------------ models and estimators


def test_estimators_use_exactly_these_rules(events):
    r = ritz.choose_rank(events, scale=True)
    for name in NAMES:
        assert ritz.PCA(name, scale=True).fit(events).n_components_ == r[name].k, name
    assert ritz.PCA("consensus", scale=True).fit(events).n_components_ == r.consensus


def test_a_fitted_model_is_asked_without_rows(events):
    model, r = ritz.PCA(2, scale=True).fit(events), ritz.choose_rank(events, scale=True)
    kept = ritz.choose_rank(model)
    for name in kept:
        if name in ROWLESS or name == "fraction":
            assert kept[name].k == r[name].k, name
        else:
            assert kept[name].k is None
            assert kept[name].why == f"{name} needs rows: pass them, choose_rank(model, X)"
    beside = ritz.choose_rank(model, events)
    assert [row.k for row in beside.table] == [row.k for row in r.table]
    assert beside.consensus == r.consensus
    assert model.n_components_ == 2


def test_a_model_without_its_state_uses_what_it_knows():
    X = planted(100, 8, 2)
    r = ritz.choose_rank(ritz.SVD(3, mergeable=False).fit(X))
    assert r["bic"].k == ritz.SVD("bic").fit(X).n_components_
    assert "needs the variances of the columns, which the model did not keep" in r["parallel"].why
    assert ritz.choose_rank(ritz.SVD(), X)["parallel"].k == ritz.SVD("parallel").fit(X).n_components_
    few = ritz.choose_rank(ritz.PCA(2, mergeable=False, solver="krylov").fit(planted(300, 40, 2)))
    assert few["fraction"].k is None
    assert few["fraction"].why == "a fraction of 0.9 is not decided by the 2 largest of 40 eigenvalues"


def test_merged_and_streamed_states(events):
    whole = ritz.PCA(2, scale=True).fit(events)
    merged = ritz.PCA(2, scale=True).fit(events[:20]).merge(ritz.PCA(2, scale=True).fit(events[20:]))
    added = ritz.PCA(2, scale=True).partial_fit(events[:7]).partial_fit(events[7:])
    expected = [row.k for row in ritz.choose_rank(whole).table]
    for model in (merged, added):
        assert [row.k for row in ritz.choose_rank(model).table] == expected
    once = ritz.choose_rank(iter([events[:20], events[20:]]), scale=True)
    assert once["parallel"].k == 3
    assert once["bcv"].why == "bcv needs rows: a state that was merged or added up keeps none"


def test_names_that_need_rows_are_refused_for_states(events):
    model = ritz.PCA("permutation").partial_fit(events)
    with pytest.raises(
        ritz.ParameterError, match=r"(?s)'permutation': permutation needs rows.*these need no rows: 'aic'"
    ):
        model.components_  # noqa: B018
    assert ritz.PCA("map", scale=True).partial_fit(events).n_components_ == 2


def test_a_saved_model_answers_the_same(events, tmp_path):
    model = ritz.PCA(3, scale=True).fit(events)
    ritz.save(model, tmp_path / "m.ritz")
    loaded = ritz.choose_rank(ritz.load(tmp_path / "m.ritz"))
    assert [row.k for row in loaded.table] == [row.k for row in ritz.choose_rank(model).table]


# ------------------------------------------------------------------------------ weights, sparse rows, files


def test_weights_are_copies():
    X = planted(60, 7, 2)
    weights = np.random.default_rng(1).integers(0, 4, 60)
    a = ritz.choose_rank(X, sample_weight=weights, criteria=[*SPECTRUM, "map", "permutation", "bcv"])
    b = ritz.choose_rank(np.repeat(X, weights, axis=0), criteria=[*SPECTRUM, "map", "permutation", "bcv"])
    for name in a:
        assert a[name].k == b[name].k, name
    np.testing.assert_allclose(a["permutation"].curve.threshold, b["permutation"].curve.threshold, rtol=1e-5)
    np.testing.assert_allclose(a["bcv"].curve.value, b["bcv"].curve.value, rtol=1e-8)


def test_sparse_and_dense_rows_are_one():
    X = planted(90, 12, 2) * (np.random.default_rng(0).random((90, 12)) < 0.5)
    a, b = ritz.choose_rank(X), ritz.choose_rank(sp.csr_array(X))
    for name in a:
        assert a[name].k == b[name].k, name
        np.testing.assert_allclose(a[name].curve.value, b[name].curve.value, rtol=1e-5, atol=1e-7)


def test_a_file_and_an_array_are_one(tmp_path):
    X = planted(3000, 8, 3)
    np.save(tmp_path / "x.npy", X)
    a, b = ritz.choose_rank(X), ritz.choose_rank(ritz.read(tmp_path / "x.npy", memory="64MB"))
    assert [row.k for row in a.table] == [row.k for row in b.table]


def test_at_most_so_many_rows_are_looked_at_and_it_says_so():
    X = planted(2_000, 6, 2)
    r = ritz.choose_rank(X, sample=500)
    for name in ("permutation", "bcv", "stability"):
        assert "looked at 500 of 2,000 rows" in r[name].why
        assert r[name].k == 2
    assert "500 of 2,000" in r["kfold"].why


@pytest.mark.parametrize("criteria", [SPECTRUM, [*SPECTRUM, "map"]])
def test_the_spectrum_and_simulations_read_the_rows_once(criteria, monkeypatch):
    from ritz.data.passes.blocks import MemoryBlocks

    passes = []
    real = MemoryBlocks.map_reduce

    def counted(self, create, step):
        passes.append(self.shape)
        return real(self, create, step)

    monkeypatch.setattr(MemoryBlocks, "map_reduce", counted)
    X = planted(5_000, 20, 3)
    ritz.PCA(3).fit(X)
    alone = len(passes)
    passes.clear()
    r = ritz.choose_rank(X, criteria=criteria)
    assert r.consensus == 3
    assert len(passes) <= alone
    model = ritz.PCA(3).fit(X)
    passes.clear()
    ritz.choose_rank(model, criteria=criteria)
    assert passes == []


# ------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"criteria": ["kayser"]}, "did you mean 'kaiser'"),
        ({"criteria": []}, "criteria must name at least one"),
        ({"fraction": 1.0}, "fraction must lie strictly between 0 and 1"),
        ({"sample": 5}, "sample must be a number of rows, at least 10"),
        ({"sample": True}, "sample must be a number of rows"),
        ({"noise": -1.0}, "noise must be a standard deviation above 0"),
        ({"quantile": 95}, "quantile must be None"),
    ],
)
def test_parameters_that_cannot_be(options, words):
    with pytest.raises(ritz.ParameterError, match=words):
        ritz.choose_rank(planted(30, 5, 1), **options)


def test_what_is_neither_rows_nor_a_model():
    from sklearn.preprocessing import StandardScaler

    X = planted(30, 5, 1)
    with pytest.raises(ritz.ParameterError, match="takes rows, or a model of Ritz"):
        ritz.choose_rank(StandardScaler(), X)
    with pytest.raises(ritz.ParameterError, match="a model that is not fitted needs rows"):
        ritz.choose_rank(ritz.PCA())
    with pytest.raises(ritz.ParameterError, match="received two tables"):
        ritz.choose_rank(X, X)


def test_gaps_are_filled_first():
    X = planted(80, 8, 2)
    X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    r = ritz.choose_rank(ritz.PCA(missing="regularized"), X, criteria=["parallel", "permutation", "map"])
    assert r.consensus == 2


def test_a_criterion_alone_may_be_written_as_a_word():
    r = ritz.choose_rank(planted(60, 6, 2), criteria="bic")
    assert list(r) == ["bic"]
    assert r.consensus == r["bic"].k


def test_tiny_tables_have_answers():
    for shape in ((3, 2), (2, 5), (10, 1), (5, 5)):
        X = np.random.default_rng(0).standard_normal(shape)
        r = ritz.choose_rank(X)
        assert 0 <= r.consensus <= min(shape)
    constant = ritz.choose_rank(np.ones((6, 3)))
    assert constant.consensus in (0, 1)
