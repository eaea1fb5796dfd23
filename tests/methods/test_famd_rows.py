"""Mixed tables in all forms: batches, shards, files, frames of several libraries, levels never seen, refusals."""

from __future__ import annotations

import pickle
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import ritz
from ritz import FAMD


def mixed(n: int = 80, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    t = rng.normal(size=n)
    return pd.DataFrame({
        "size": 3 * t + rng.normal(size=n) + 20,
        "kind": np.array(list("abcd"))[(np.clip(t + rng.normal(size=n), -1.9, 1.9) + 2).astype(int)],
        "weight": t - rng.normal(size=n),
        "sex": rng.choice(["f", "m"], n),
    })  # fmt: skip


FRAME = mixed()
WHOLE = FAMD().fit(FRAME)


def close(a, b, atol: float = 1e-9) -> None:
    np.testing.assert_allclose(np.asarray(a, float), np.asarray(b, float), atol=atol)


# one row, one place


@given(rows=st.lists(st.integers(0, 79), min_size=1, max_size=12), k=st.integers(1, 6))
def test_a_row_has_one_place(rows: list[int], k: int) -> None:
    model = FAMD(k).fit(FRAME)
    close(model.transform(FRAME.iloc[rows]), model.row_coordinates_.iloc[rows], 1e-12)
    close(model.transform(FRAME.iloc[rows[:1]]), model.transform(FRAME.iloc[rows])[:1], 1e-12)


def test_shares_are_never_taken_from_the_batch() -> None:
    """One library's FAMD recomputes the shares of categories from the rows it is given: another place alone."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    frame = frame.assign(u=rng.choice(list("xyz"), 60), v=rng.choice(list("pq"), 60))
    model = FAMD(3).fit(frame)
    close(model.transform(frame)[:1], model.transform(frame.iloc[:1]), 1e-13)


def test_integers_are_numbers_unless_declared() -> None:
    """Not 58 columns for 58 ages; and integers that may be categories are asked about by name."""
    frame = FRAME.assign(age=np.arange(80) % 58)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = FAMD().fit(frame)
    assert model.column_coordinates_.shape[0] == 3 + 4 + 2
    with pytest.warns(
        ritz.IntegersAsNumbers, match=r"(?s)column 'grade': few .* numbers\nhint: categorical=\['grade'\]"
    ):
        asked = FAMD().fit(frame.assign(grade=np.arange(80) % 3))
    assert "grade" in asked.column_coordinates_.index
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        declared = FAMD(categorical=["grade"]).fit(frame.assign(grade=np.arange(80) % 3))
        FAMD(numeric=["grade"]).fit(frame.assign(grade=np.arange(80) % 3))
        FAMD(numeric="all").fit(frame.assign(grade=np.arange(80) % 3))
    assert {"grade=0", "grade=1", "grade=2"} <= set(declared.column_coordinates_.index)
    assert declared.inverse_transform(declared.transform(frame.assign(grade=np.arange(80) % 3)))["grade"].tolist() == [
        i % 3 for i in range(80)
    ]


# shards


@given(cuts=st.lists(st.integers(1, 79), max_size=4), seed=st.integers(0, 3))
def test_partial_fit_and_merge_equal_the_whole(cuts: list[int], seed: int) -> None:
    frame = mixed(seed=seed)
    whole, edges = FAMD().fit(frame), [0, *sorted(set(cuts)), 80]
    parts = [frame.iloc[a:b] for a, b in pairwise(edges)]
    added = FAMD()
    for part in parts:
        added.partial_fit(part)
    merged = ritz.merge(*[FAMD().partial_fit(part) for part in parts])
    for model in (added, merged):
        np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-9)
        assert list(model.column_coordinates_.index) == list(whole.column_coordinates_.index)
        close(model.column_coordinates_, whole.column_coordinates_)
        close(model.column_cos2_, whole.column_cos2_)
        close(model.transform(frame), whole.row_coordinates_)
        with pytest.raises(AttributeError, match="transform"):
            _ = model.row_coordinates_


def test_shards_with_other_levels_and_other_means() -> None:
    far = FRAME.assign(size=FRAME["size"] + 1e7 * (np.arange(80) >= 40))
    far["kind"] = np.where(np.arange(80) < 40, np.where(far["kind"] < "c", "e", "a"), far["kind"])
    one, two, whole = FAMD().fit(far[:40]), FAMD().fit(far[40:]), FAMD().fit(far)
    merged = one.merge(two)
    np.testing.assert_allclose(merged.eigenvalues_, whole.eigenvalues_, rtol=1e-9)
    close(merged.column_coordinates_, whole.column_coordinates_)
    assert one.column_coordinates_.shape[0] == 6  # neither operand changed
    rest = merged.subtract(two)
    assert "subtracted" in rest.certificate_.notes[0]
    assert rest.column_coordinates_.index.to_list() == one.column_coordinates_.index.to_list()


def test_subtract_takes_rows_and_levels_away() -> None:
    frame = FRAME.assign(kind=np.where(np.arange(80) < 20, "e", FRAME["kind"]))
    rest = FAMD().fit(frame).subtract(FAMD().partial_fit(frame[:20]))
    np.testing.assert_allclose(rest.eigenvalues_, FAMD().fit(frame[20:]).eigenvalues_, rtol=1e-9)
    assert not [label for label in rest.column_coordinates_.index if label == "kind=e"]


@pytest.mark.parametrize("options", [{"rare": 0.2}, {"exclude": ["kind=a"]}, {"rare": 0.2, "exclude": ["sex=m"]}])
def test_rare_and_excluded_levels_are_decided_by_all_rows(options: dict) -> None:
    whole = FAMD(**options).fit(FRAME)
    merged = FAMD(**options).partial_fit(FRAME[:30]).merge(FAMD(**options).partial_fit(FRAME[30:]))
    np.testing.assert_allclose(merged.eigenvalues_, whole.eigenvalues_, rtol=1e-10)
    assert list(merged.column_coordinates_.index) == list(whole.column_coordinates_.index)
    again = FAMD(**options).fit(FRAME[:50]).merge(FAMD(**options).fit(FRAME[50:]))
    np.testing.assert_allclose(again.eigenvalues_, whole.eigenvalues_, rtol=1e-10)
    close(again.transform(FRAME), whole.transform(FRAME))


def test_weights_are_copies() -> None:
    w = np.arange(80) % 3
    weighted, copied = FAMD().fit(FRAME, sample_weight=w), FAMD().fit(FRAME.loc[FRAME.index.repeat(w)])
    np.testing.assert_allclose(weighted.eigenvalues_, copied.eigenvalues_, rtol=1e-10)
    close(weighted.column_coordinates_, copied.column_coordinates_)
    close(weighted.column_v_tests_, copied.column_v_tests_)
    close(weighted.transform(FRAME), copied.transform(FRAME))
    added = FAMD().partial_fit(FRAME[:40], sample_weight=w[:40]).partial_fit(FRAME[40:], sample_weight=w[40:])
    np.testing.assert_allclose(added.eigenvalues_, copied.eigenvalues_, rtol=1e-10)


@pytest.mark.filterwarnings("ignore::ritz.IdentifiersAsCategories")  # numbers as texts
def test_models_that_do_not_merge() -> None:
    with pytest.raises(ritz.MergeError, match="same columns of numbers"):
        FAMD().fit(FRAME).merge(FAMD().fit(FRAME.assign(size=FRAME["size"].astype(str))))
    with pytest.raises(ritz.MergeError, match="rare"):
        FAMD().fit(FRAME).merge(FAMD(rare=0.1).fit(FRAME))
    with pytest.raises(ritz.MergeError, match="mergeable=True"):
        FAMD(mergeable=False).fit(FRAME).merge(WHOLE)
    with pytest.raises(ritz.MergeError, match="never saw"):
        WHOLE.subtract(FAMD().fit(FRAME[:20].replace({"kind": {"a": "z"}})))
    with pytest.raises(ritz.InputError, match="expected numbers in column 'size', as in the first rows"):
        FAMD().partial_fit(FRAME).partial_fit(FRAME.assign(size="big"))


# digits


@pytest.mark.parametrize("levels", [3, 60])  # dense and sparse rows
@pytest.mark.parametrize("mean", [1e6, 1e9, 1e13])
def test_large_means_keep_their_digits(levels: int, mean: float) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 64, 3000) / 64
    g = (x * levels * 0.999).astype(int)
    frame = pd.DataFrame({"x": x, "g": np.where(rng.random(3000) < 0.3, rng.integers(0, levels, 3000), g).astype(str)})
    plain, moved = FAMD(1).fit(frame), FAMD(1).fit(frame.assign(x=x + mean))
    np.testing.assert_allclose(moved.eigenvalues_, plain.eigenvalues_, rtol=1e-11)
    close(moved.row_coordinates_, plain.row_coordinates_, 1e-8)
    close(moved.inverse_transform(moved.transform(frame.assign(x=x + mean)))["x"] - mean,
          plain.inverse_transform(plain.transform(frame))["x"], 4e-16 * mean)  # fmt: skip
    added = FAMD(1).partial_fit(frame.assign(x=x + mean)[:999]).partial_fit(frame.assign(x=x + mean)[999:])
    np.testing.assert_allclose(added.eigenvalues_, plain.eigenvalues_, rtol=1e-10)


def test_many_categories_stay_sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    n = 6000
    frame = pd.DataFrame({f"q{j}": rng.integers(0, 900, n).astype(str) for j in range(3)})
    frame["x"] = rng.normal(size=n) + (frame["q0"].astype(int) < 100) * 2
    exact = FAMD(2, solver="moments", mergeable=True).fit(frame)
    original = sp.csr_array.toarray

    def checked(self, *args, **options):
        assert self.shape[0] * self.shape[1] <= 600 * 2700, "a sparse table was made dense"
        return original(self, *args, **options)

    monkeypatch.setattr(sp.csr_array, "toarray", checked)
    model = FAMD(2, tol=1e-10).fit(frame)
    assert len(model.column_contributions_) == len(exact.column_contributions_) > 2600
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-8)
    close(np.abs(model.row_coordinates_["Dim1"]), np.abs(exact.row_coordinates_["Dim1"]), 1e-5)
    with pytest.raises(AttributeError, match="mergeable=True"):
        _ = model.column_cos2_
    assert exact.column_cos2_.notna().all().all()


# forms


def test_frames_of_every_library() -> None:
    for frame in (pl.from_pandas(FRAME), pa.Table.from_pandas(FRAME)):
        model = FAMD().fit(frame)
        np.testing.assert_allclose(model.eigenvalues_, WHOLE.eigenvalues_, rtol=1e-12)
        assert type(model.row_coordinates_).__module__.split(".")[0] == type(frame).__module__.split(".")[0]
        close(model.transform(frame), WHOLE.row_coordinates_)
        back = model.inverse_transform(model.transform(frame))
        assert type(back) is type(frame)
        assert list(back.to_pandas()["kind"]) == list(FRAME["kind"])
    array = FAMD().fit(FRAME.to_numpy(dtype=object))
    np.testing.assert_allclose(array.eigenvalues_, WHOLE.eigenvalues_, rtol=1e-12)
    assert isinstance(array.column_coordinates_, np.ndarray)
    back = array.inverse_transform(array.transform(FRAME.to_numpy(dtype=object)))
    assert back[:, 1].tolist() == FRAME["kind"].tolist()
    close(back[:, 0], FRAME["size"])
    listed = FAMD().fit(FRAME.to_numpy(dtype=object).tolist())
    np.testing.assert_allclose(listed.eigenvalues_, WHOLE.eigenvalues_, rtol=1e-12)


def test_categorical_dtypes_and_their_order() -> None:
    frame = FRAME.assign(kind=pd.Categorical(FRAME["kind"], ["d", "c", "b", "a", "e"], ordered=True))
    model = FAMD().fit(frame)
    assert list(model.column_coordinates_.index)[2:6] == ["kind=d", "kind=c", "kind=b", "kind=a"]
    np.testing.assert_allclose(model.eigenvalues_, WHOLE.eigenvalues_, rtol=1e-12)


def test_a_table_from_a_file(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    table = ritz.read(tmp_path / "t.csv")
    model = FAMD().fit(table)
    np.testing.assert_allclose(model.eigenvalues_, WHOLE.eigenvalues_, rtol=1e-12)
    assert list(model.feature_names_in_) == list(FRAME.columns)
    close(model.transform(table), WHOLE.row_coordinates_)
    assert isinstance(model.row_coordinates_, pd.DataFrame)


def test_a_streamed_file(tmp_path: Path) -> None:
    frame = mixed(4000)
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=500)
    whole = FAMD(3).fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outside = ritz.read(tmp_path / "t.parquet", memory="1kB")
        model = FAMD(3, memory="40MB").fit(outside)
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-10)
    close(model.column_coordinates_, whole.column_coordinates_)
    close(model.column_cos2_, whole.column_cos2_)
    close(model.transform(outside), whole.row_coordinates_)
    with pytest.raises(AttributeError, match="transform_to"):
        _ = model.row_cos2_
    model.transform_to(outside, tmp_path / "f.npy")
    close(np.load(tmp_path / "f.npy"), whole.row_coordinates_)
    both = model.merge(FAMD(3).fit(frame[:100]))
    np.testing.assert_allclose(both.eigenvalues_, FAMD(3).fit(pd.concat([frame, frame[:100]])).eigenvalues_, rtol=1e-9)


def test_dask_frames() -> None:
    dd = pytest.importorskip("dask.dataframe")
    frame = mixed(300)
    held = dd.from_pandas(frame, npartitions=3)
    model, whole = FAMD(3).fit(held), FAMD(3).fit(frame)
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-10)
    close(np.asarray(model.transform(held)), whole.row_coordinates_)


def test_scikit_learn_habits() -> None:
    model = FAMD(2).set_output(transform="pandas").fit(FRAME)
    out = model.transform(FRAME.set_index(pd.Index(range(100, 180))))
    assert list(out.columns) == ["famd0", "famd1"]
    assert list(out.index[:2]) == [100, 101]
    again = pickle.loads(pickle.dumps(FAMD(2).fit(FRAME)))
    close(again.transform(FRAME), out)
    close(make_pipeline(clone(model)).fit_transform(FRAME), out)
    close(model.transform(FRAME[["kind", "size", "sex", "weight"]]), out)


def test_saved_and_loaded(tmp_path: Path) -> None:
    for model in (FAMD(2).fit(FRAME), FAMD(2, rare=0.3, missing="category").fit(FRAME)):
        ritz.save(model, tmp_path / "m.ritz")
        again = ritz.load(tmp_path / "m.ritz")
        pd.testing.assert_frame_equal(again.row_coordinates_, model.row_coordinates_)
        pd.testing.assert_frame_equal(again.column_cos2_, model.column_cos2_)
        pd.testing.assert_frame_equal(again.variable_coordinates_, model.variable_coordinates_)
        np.testing.assert_array_equal(again.transform(FRAME), model.transform(FRAME))
        pd.testing.assert_frame_equal(
            again.inverse_transform(again.transform(FRAME)), model.inverse_transform(model.transform(FRAME))
        )
        both = ritz.merge(tmp_path / "m.ritz", model)
        close(both.column_coordinates_, model.column_coordinates_)


# answers that are missing or new


def test_missing_categories() -> None:
    gappy = FRAME.assign(kind=FRAME["kind"].where(np.arange(80) % 9 > 0, None))
    with pytest.raises(
        ritz.InputError, match=r"(?s)column 'kind'; received 9 missing, the first in row 0\nhint: missing='cat"
    ):
        FAMD().fit(gappy)
    own = FAMD(missing="category").fit(gappy)
    filled = FAMD().fit(gappy.assign(kind=gappy["kind"].fillna("z")))
    np.testing.assert_allclose(own.eigenvalues_, filled.eigenvalues_, rtol=1e-12)
    assert "kind=(missing)" in own.column_coordinates_.index
    assert own.inverse_transform(own.transform(gappy))["kind"].isna().sum() == 9
    left = FAMD(missing="exclude").fit(gappy)
    specific = FAMD(exclude=["kind=z"]).fit(gappy.assign(kind=gappy["kind"].fillna("z")))
    np.testing.assert_allclose(left.eigenvalues_, specific.eigenvalues_, rtol=1e-12)
    close(left.transform(gappy), specific.row_coordinates_)
    # by hand: the columns of the levels that are answered
    Z = pd.get_dummies(gappy["kind"]).to_numpy(float)
    S = pd.get_dummies(FRAME["sex"]).to_numpy(float)
    X = FRAME[["size", "weight"]].to_numpy()
    B = np.hstack(
        [(X - X.mean(0)) / X.std(0), (Z - Z.mean(0)) / np.sqrt(Z.mean(0)), (S - S.mean(0)) / np.sqrt(S.mean(0))]
    )
    k = len(left.eigenvalues_)
    np.testing.assert_allclose(left.eigenvalues_, np.linalg.svd(B, compute_uv=False)[:k] ** 2 / 80, rtol=1e-10)
    # squared loadings over the squared norm of a variable's own block
    block = B[:, 2:6].T @ B[:, 2:6] / 80
    expected = np.square(left.variable_coordinates_.loc["kind"]) / np.sum(block**2)
    np.testing.assert_allclose(left.variable_cos2_.loc["kind"], expected, rtol=1e-9)


def test_missing_numbers_are_refused_by_name() -> None:
    with pytest.raises(ritz.InputError, match="weight"):
        FAMD().fit(FRAME.assign(weight=FRAME["weight"].where(np.arange(80) > 2)))
    with pytest.raises(ritz.InputError, match="weight"):
        WHOLE.transform(FRAME.assign(weight=np.inf)[:3])


def test_levels_that_the_fit_has_not_seen() -> None:
    new = FRAME[:3].assign(kind=["a", "zz", "b"])
    with pytest.raises(ritz.InputError, match=r"(?s)seen; received 'kind=zz'\nhint: unseen='ignore'"):
        WHOLE.transform(new)
    ignoring = FAMD(unseen="ignore").fit(FRAME)
    got = ignoring.transform(new)
    close(got[[0, 2]], WHOLE.transform(new.iloc[[0, 2]]), 1e-12)
    shares = FRAME["kind"].value_counts(normalize=True)
    mean = sum(shares[level] * WHOLE.transform(new[1:2].assign(kind=level)) for level in shares.index)
    close(got[1:2], mean, 1e-12)  # as if it had answered with all levels at once
    own = FAMD(missing="category", unseen="missing").fit(
        FRAME.assign(kind=FRAME["kind"].where(np.arange(80) > 9, None))
    )
    close(own.transform(new[1:2]), own.transform(new[1:2].assign(kind=None)), 1e-12)
    placed = FAMD(unseen="supplementary").fit(FRAME)
    assert np.isfinite(placed.transform(new)).all()


def test_rare_levels_are_pooled() -> None:
    frame = FRAME.assign(kind=FRAME["kind"].where(np.arange(80) > 4, [f"r{i}" for i in range(80)]))
    model = FAMD(rare=0.05).fit(frame)
    by_hand = frame.assign(kind=frame["kind"].where(~frame["kind"].str.startswith("r"), "z"))
    np.testing.assert_allclose(model.eigenvalues_, FAMD().fit(by_hand).eigenvalues_, rtol=1e-12)
    assert "kind=(other)" in model.column_coordinates_.index
    assert "(other)" in set(model.inverse_transform(model.transform(frame))["kind"])


# refusals and constants


def test_constant_columns_are_set_aside_by_name() -> None:
    frame = FRAME.assign(one=1.5, same="x")
    with pytest.warns(ritz.ConstantColumnWarning, match="constant columns 'one', 'same': set aside"):
        model = FAMD().fit(frame)
    np.testing.assert_allclose(model.eigenvalues_, WHOLE.eigenvalues_, rtol=1e-12)
    assert model.column_coordinates_.loc[["one", "same=x"]].isna().all().all()
    assert (model.column_contributions_.loc[["one", "same=x"]] < 1e-25).all().all()
    close(model.transform(frame), WHOLE.row_coordinates_)
    close(model.transform(frame.assign(one=1e6)), model.transform(frame), 1e-9)
    back = model.inverse_transform(model.transform(frame))
    close(back["one"], 1.5)
    assert set(back["same"]) == {"x"}
    with pytest.raises(ritz.InputError, match="column that varies"):
        FAMD().fit(frame[["one", "same"]])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"missing": "guess"},
            "missing must be one of 'error', 'category', 'exclude', 'regularized'; received 'guess'",
        ),
        ({"unseen": "guess"}, "unseen must be one of"),
        ({"rare": 2}, r"rare must be None or a share in \[0, 1\)"),
        ({"exclude": "kind=a"}, "exclude must be a list of levels"),
        ({"exclude": ["kind=q"]}, "expected a level 'kind=q'"),
        ({"categorical": ["age"]}, "expected a column 'age'"),
        ({"categorical": "kind"}, r"categorical must be None, 'all' or a list"),
        ({"numeric": "size"}, r"(?s)numeric must be None, 'all' or a list .*hint: numeric=\['size'\]"),
        ({"numeric": ["kind"]}, "expected numbers in column 'kind', which numeric= names"),
        ({"device": "gpu"}, 'device must be "cpu", "auto"'),
    ],
)
def test_refused_parameters(options: dict, words: str) -> None:
    with pytest.raises((ritz.ParameterError, ritz.InputError), match=words):
        FAMD(**options).fit(FRAME)


def test_refused_tables() -> None:
    with pytest.raises(ritz.InputError, match="n_samples=1"):
        FAMD().fit(FRAME[:1])
    with pytest.raises(ritz.InputError, match="dates"):
        FAMD().fit(FRAME.assign(day=pd.Timestamp("2020-01-01")))
    with pytest.raises(ritz.InputError, match="weights that are all zero"):
        FAMD().fit(FRAME, sample_weight=np.zeros(80))
    with pytest.raises(ritz.InputError, match="shape"):
        WHOLE.inverse_transform(np.zeros((2, 3)))
    with pytest.raises(ritz.InputError, match=r"each of the 80 rows of the fit; received 5 rows"):
        WHOLE.supplementary_columns(FRAME[:5])
    with pytest.raises(ritz.ParameterError, match="result must be one of"):
        WHOLE.supplementary_columns(FRAME, "v-tests")
