"""Correspondence analysis: answers of R's packages, identities, inputs, batches, merges, refusals."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

import ritz
from ritz import CA

GOLDEN = Path(__file__).parent.parent / "golden" / "correspondence"


def table(name: str) -> pd.DataFrame:
    return pd.read_csv(GOLDEN / f"{name}.csv", index_col=0)


def golden(name: str) -> dict:
    return json.loads((GOLDEN / f"{name}.json").read_text())


def matrix(held: dict) -> np.ndarray:
    return np.asarray(held["values"], float)


def signed(mine, theirs) -> float:
    """Largest difference after the axes have been given the same signs."""
    mine, theirs = np.asarray(mine, float), np.asarray(theirs, float)[:, : np.shape(mine)[1]]
    turn = np.sign(np.sum(mine * theirs, axis=0))
    return float(np.max(np.abs(mine * turn - theirs)))


HOUSE = table("housetasks")


# answers of others


@pytest.mark.parametrize(("name", "rows", "columns"), [("housetasks", 13, 4), ("smoke", 5, 4), ("children", 14, 5)])
def test_factominer(name: str, rows: int, columns: int) -> None:
    theirs, model = golden(f"{name}_factominer_CA"), CA().fit(table(name).iloc[:rows, :columns])
    np.testing.assert_allclose(model.eigenvalues_, matrix(theirs["eig"])[: model.n_components_, 0], rtol=1e-9)
    np.testing.assert_allclose(
        100 * model.explained_inertia_ratio_, matrix(theirs["eig"])[: model.n_components_, 1], rtol=1e-9
    )
    for side, mine in (("row", "row"), ("col", "column")):
        assert signed(getattr(model, f"{mine}_coordinates_"), matrix(theirs[side]["coord"])) < 1e-12
        shares = getattr(model, f"{mine}_contributions_").to_numpy()
        np.testing.assert_allclose(100 * shares, matrix(theirs[side]["contrib"]), atol=1e-10)
        np.testing.assert_allclose(getattr(model, f"{mine}_cos2_"), matrix(theirs[side]["cos2"]), atol=1e-12)
        inertias = getattr(model, f"{mine}_inertias_").to_numpy()
        np.testing.assert_allclose(inertias, matrix(theirs[side]["inertia"])[:, 0], atol=1e-14)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["housetasks", "smoke", "hair_eye_color"])
def test_other_systems(shared: Path, name: str) -> None:
    folder = shared / name
    model = CA().fit(pd.read_csv(folder / "data.csv", index_col=0))
    k = model.n_components_
    ca = json.loads((folder / "ca_ca.json").read_text())
    np.testing.assert_allclose(np.sqrt(model.eigenvalues_), ca["sv"], rtol=1e-9)
    np.testing.assert_allclose(model.row_masses_, ca["rowmass"], rtol=1e-12)
    assert signed(model.row_standard_coordinates_, matrix(ca["row_standard_coord"])) < 1e-7
    assert signed(model.column_standard_coordinates_, matrix(ca["col_standard_coord"])) < 1e-7
    ade4 = json.loads((folder / "ade4_dudi_coa.json").read_text())
    np.testing.assert_allclose(model.eigenvalues_, ade4["eig"][:k], rtol=1e-9)
    mass = json.loads((folder / "mass_corresp.json").read_text())
    np.testing.assert_allclose(np.sqrt(model.eigenvalues_), mass["cor"][:k], rtol=1e-7)
    vegan = json.loads((folder / "vegan_cca.json").read_text())
    np.testing.assert_allclose(model.total_inertia_, vegan["tot_chi"], rtol=1e-12)


def test_supplementary_points() -> None:
    everything, theirs = table("children"), golden("children_factominer_CA")
    model = CA().fit(everything.iloc[:14, :5])
    rows, columns = everything.iloc[14:, :5], everything.iloc[:14, 5:]
    assert signed(model.transform(rows), matrix(theirs["row_sup"]["coord"])) < 1e-12
    np.testing.assert_allclose(model.supplementary_rows(rows, "cos2"), matrix(theirs["row_sup"]["cos2"]), atol=1e-12)
    placed = model.supplementary_columns(columns)
    assert list(placed.index) == list(columns.columns)
    assert signed(placed, matrix(theirs["col_sup"]["coord"])) < 1e-12
    quality = model.supplementary_columns(columns, "cos2")
    np.testing.assert_allclose(quality, matrix(theirs["col_sup"]["cos2"]), atol=1e-12)


def test_supplementary_points_of_smoke() -> None:
    model = CA().fit(table("smoke"))
    more, theirs = table("smoke_with_sup_row"), golden("smoke_factominer_CA_sup_row")
    assert signed(model.transform(more.iloc[5:]), matrix(theirs["row_sup"]["coord"])) < 1e-12
    wide, theirs = table("smoke_with_sup_cols"), golden("smoke_factominer_CA_sup_cols")
    assert signed(model.supplementary_columns(wide.iloc[:, 4:]), matrix(theirs["col_sup"]["coord"])) < 1e-12


# identities


def counts(n: int = 40, d: int = 9, seed: int = 0, mean: float = 3.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    N = rng.poisson(mean * rng.gamma(1.0, size=(n, 1)) * rng.gamma(1.0, size=d) + 0.05)
    N[np.arange(n), np.arange(n) % d] += 1  # no row or column is empty
    return N


def test_definition() -> None:
    """The singular value decomposition of standardised residuals, written out."""
    N = counts()
    P = N / N.sum()
    r, c = P.sum(axis=1), P.sum(axis=0)
    U, s, Vt = np.linalg.svd((P - np.outer(r, c)) / np.sqrt(np.outer(r, c)), full_matrices=False)
    model = CA().fit(N)
    k = model.n_components_
    assert k == 8
    np.testing.assert_allclose(model.eigenvalues_, s[:k] ** 2, rtol=1e-11)
    assert signed(model.row_coordinates_, (U * s / np.sqrt(r)[:, None])[:, :k]) < 1e-11
    assert signed(model.column_coordinates_, (Vt.T * s / np.sqrt(c)[:, None])[:, :k]) < 1e-11


def test_test_of_independence() -> None:
    N = counts()
    model, test = CA().fit(N), chi2_contingency(N, correction=False)
    np.testing.assert_allclose([model.chi2_, model.p_value_], [test.statistic, test.pvalue], rtol=1e-9)
    assert model.dof_ == test.dof
    np.testing.assert_allclose(model.total_inertia_, test.statistic / N.sum(), rtol=1e-12)
    np.testing.assert_allclose(model.eigenvalues_.sum(), model.total_inertia_, rtol=1e-12)


def test_transition_formulae_and_sums() -> None:
    N = counts()
    model = CA().fit(N)
    F, G, root = model.row_coordinates_, model.column_coordinates_, np.sqrt(model.eigenvalues_)
    np.testing.assert_allclose(F, (N / N.sum(axis=1, keepdims=True)) @ G / root, atol=1e-12)
    np.testing.assert_allclose(G, (N / N.sum(axis=0)).T @ F / root, atol=1e-12)
    for side in ("row", "column"):
        np.testing.assert_allclose(getattr(model, f"{side}_contributions_").sum(axis=0), 1, rtol=1e-12)
        np.testing.assert_allclose(getattr(model, f"{side}_cos2_").sum(axis=1), 1, rtol=1e-12)
        np.testing.assert_allclose(getattr(model, f"{side}_masses_").sum(), 1, rtol=1e-12)
        np.testing.assert_allclose(getattr(model, f"{side}_inertias_").sum(), model.total_inertia_, rtol=1e-12)
    np.testing.assert_allclose(model.row_masses_ @ F, 0, atol=1e-14)
    np.testing.assert_allclose(model.row_masses_ @ F**2, model.eigenvalues_, rtol=1e-12)


def test_the_transposed_table_exchanges_the_sides() -> None:
    N = counts()
    model, turned = CA(5).fit(N), CA(5).fit(N.T)
    np.testing.assert_allclose(model.eigenvalues_, turned.eigenvalues_, rtol=1e-11)
    assert signed(model.row_coordinates_, turned.column_coordinates_) < 1e-10
    assert signed(model.column_cos2_, turned.row_cos2_) < 1e-10


def test_reconstruction() -> None:
    N = counts()
    model = CA().fit(N)
    np.testing.assert_allclose(model.inverse_transform(model.row_coordinates_, N.sum(axis=1)), N, atol=1e-11)
    profiles = model.inverse_transform(model.row_coordinates_)
    np.testing.assert_allclose(profiles.sum(axis=1), 1, rtol=1e-12)
    # the best table of rank 2: no other choice of two axes comes nearer in the χ² metric
    two = CA(2).fit(N)
    rest = (N / N.sum(axis=1, keepdims=True) - two.inverse_transform(two.row_coordinates_)) ** 2 / model.column_masses_
    np.testing.assert_allclose(model.row_masses_ @ rest.sum(axis=1), model.eigenvalues_[2:].sum(), rtol=1e-10)


def test_distributional_equivalence() -> None:
    """Two rows with one profile may be added up without moving anything else."""
    N = counts()
    split = np.vstack([N, 2 * N[:1]])
    joined = N.copy()
    joined[0] *= 3
    a, b = CA(3).fit(split), CA(3).fit(joined)
    np.testing.assert_allclose(a.eigenvalues_, b.eigenvalues_, rtol=1e-11)
    np.testing.assert_allclose(a.column_coordinates_, b.column_coordinates_, atol=1e-11)
    np.testing.assert_allclose(a.row_coordinates_[:1], a.row_coordinates_[-1:], atol=1e-12)


def test_weights_are_copies() -> None:
    N, w = counts(), np.arange(40) % 3
    weighted, copied = CA(3).fit(N, sample_weight=w), CA(3).fit(np.repeat(N, w, axis=0))
    np.testing.assert_allclose(weighted.eigenvalues_, copied.eigenvalues_, rtol=1e-11)
    np.testing.assert_allclose(weighted.column_coordinates_, copied.column_coordinates_, atol=1e-11)


def test_certificate_verifies_and_can_fail() -> None:
    N = counts(200, 12)
    for X in (N, sp.csr_array(N)):
        model = CA(3).fit(X)
        check = model.verify(X)
        assert check, str(check)
        assert not model.verify(N + 1)
    assert (model.certificate_.lower <= CA().fit(N).eigenvalues_[:3]).all()


# the same answer in every way


@pytest.mark.parametrize("solver", ["svd", "moments", "krylov", "lanczos", "power"])
def test_solvers_agree(solver: str) -> None:
    N = counts(60, 12)
    exact, model = CA(2).fit(N), CA(2, solver=solver, tol=1e-12).fit(sp.csr_array(N))
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(model.row_coordinates_, exact.row_coordinates_, atol=1e-7)


def test_a_sparse_table_stays_sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    N = sp.random_array((3000, 800), density=0.01, random_state=0, format="csr")
    N.data = np.ceil(5 * N.data)
    N = sp.csr_array(N[N.sum(axis=1) > 0][:, N.sum(axis=0) > 0])
    dense = CA(5, tol=1e-10).fit(N.toarray())
    monkeypatch.setattr(sp.csr_array, "toarray", _no_dense(sp.csr_array.toarray, 256 * N.shape[1]))
    model = CA(5, tol=1e-10).fit(N)
    np.testing.assert_allclose(model.eigenvalues_, dense.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(model.transform(N), dense.row_coordinates_, atol=1e-6)


def _no_dense(original, most: int):
    def checked(self, *args, **options):
        assert self.shape[0] * self.shape[1] <= most, "a sparse table was made dense"
        return original(self, *args, **options)

    return checked


@given(cuts=st.lists(st.integers(1, 39), max_size=4), seed=st.integers(0, 3))
def test_partial_fit_and_merge_equal_the_whole(cuts: list[int], seed: int) -> None:
    N = counts(seed=seed)
    whole, parts = CA(3).fit(N), np.split(N, sorted(set(cuts)))
    added = CA(3)
    for part in parts:
        added.partial_fit(part)
    merged = ritz.merge(*[CA(3).partial_fit(part) for part in parts])
    for model in (added, merged):
        np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-10)
        np.testing.assert_allclose(model.column_coordinates_, whole.column_coordinates_, atol=1e-9)
        np.testing.assert_allclose(model.transform(N), whole.row_coordinates_, atol=1e-9)


def test_subtract() -> None:
    N = counts()
    rest = CA(3).fit(N).subtract(CA(3).fit(N[:12]))
    np.testing.assert_allclose(rest.eigenvalues_, CA(3).fit(N[12:]).eigenvalues_, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::ritz.EmptyProfiles")
def test_subtract_leaves_no_trace_of_an_emptied_column() -> None:
    for seed in range(6):
        a = np.array([[3, 0, 1], [1, 0, 4], [2, 0, 2.0], [5, 0, 1]])
        b = np.random.default_rng(seed).random((4, 3))
        rest, alone = CA().fit(np.vstack([a, b])).subtract(CA().fit(b)), CA().fit(a)
        np.testing.assert_allclose(rest.eigenvalues_, alone.eigenvalues_, rtol=1e-9)
        np.testing.assert_allclose(rest.total_inertia_, alone.total_inertia_, rtol=1e-9)
        np.testing.assert_allclose(rest.p_value_, alone.p_value_, rtol=1e-9)
        assert rest.dof_ == alone.dof_
        assert np.isnan(rest.column_coordinates_[1]).all()


def test_observations_add_up_category_by_category() -> None:
    raw = observations()
    raw.loc[199] = ["green", "hazel"]
    whole, parts = CA(2).fit(raw), [raw[:61], raw[61:100], raw[100:]]
    added = CA(2)
    for part in parts:
        added.partial_fit(part)
    merged = ritz.merge(*[CA(2).partial_fit(part) for part in parts])
    for model in (added, merged):
        assert (model.n_samples_, model.dof_) == (whole.n_samples_, whole.dof_)
        np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-12)
        pd.testing.assert_frame_equal(model.row_coordinates_.abs(), whole.row_coordinates_.abs(), atol=1e-12)
    rest = CA().fit(raw).subtract(CA().fit(raw[100:]))
    np.testing.assert_allclose(rest.total_inertia_, CA().fit(raw[:100]).total_inertia_, rtol=1e-12)
    with pytest.raises(ritz.MergeError, match="either tables of counts or observations"):
        added.merge(CA(2).fit(pd.crosstab(raw.hair, raw.eye)))


@given(rows=st.lists(st.integers(0, 39), min_size=1, max_size=12), sparse=st.booleans())
def test_a_row_has_one_place(rows: list[int], sparse: bool) -> None:
    N = counts()
    model = CA(4).fit(N)
    batch = N[rows]
    got = model.transform(sp.csr_array(batch) if sparse else batch)
    np.testing.assert_allclose(got, model.row_coordinates_[rows], atol=1e-12)
    np.testing.assert_allclose(model.transform(7 * batch), got, atol=1e-12)  # a profile, not a size


def test_streamed_file(tmp_path: Path) -> None:
    N = counts(4000, 20)
    frame = pd.DataFrame(N.astype(float), columns=[f"c{j}" for j in range(20)])
    frame.to_parquet(tmp_path / "n.parquet", row_group_size=500)
    whole = CA(3).fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        streamed = CA(3, memory="30MB").fit(ritz.read(tmp_path / "n.parquet", memory="1kB"))
    np.testing.assert_allclose(streamed.eigenvalues_, whole.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(streamed.column_coordinates_, whole.column_coordinates_, atol=1e-9)
    with pytest.raises(AttributeError, match="transform_to"):
        _ = streamed.row_coordinates_
    streamed.transform_to(ritz.read(tmp_path / "n.parquet", memory="1kB"), tmp_path / "f.npy")
    np.testing.assert_allclose(np.load(tmp_path / "f.npy"), whole.row_coordinates_, atol=1e-9)


def test_dask_array() -> None:
    da = pytest.importorskip("dask.array")
    N = counts(300, 8)
    model = CA(3).fit(da.from_array(N, chunks=(90, 8)))
    np.testing.assert_allclose(model.eigenvalues_, CA(3).fit(N).eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(model.transform(da.from_array(N, chunks=(90, 8))), CA(3).fit(N).transform(N), atol=1e-9)


@pytest.mark.filterwarnings("ignore::ritz.EmptyProfiles")
def test_new_counts_in_empty_columns_in_every_engine(tmp_path: Path) -> None:
    da = pytest.importorskip("dask.array")
    N = counts(60, 4)
    bare = N.copy()
    bare[:, 2] = 0
    bare[bare.sum(axis=1) == 0, 0] = 1
    frame = pd.DataFrame(N.astype(float), columns=list("abcd"))
    frame.to_parquet(tmp_path / "n.parquet", row_group_size=20)
    model, named = CA().fit(bare), CA().fit(pd.DataFrame(bare.astype(float), columns=list("abcd")))
    here = model.transform(N)
    there = model.transform(da.from_array(N, chunks=(10, 4)))
    streamed = named.transform(ritz.read(tmp_path / "n.parquet", memory="1kB"))
    np.testing.assert_allclose(there, here, atol=1e-12)
    np.testing.assert_allclose(streamed, here, atol=1e-12)
    assert not model.verify(N)  # a whole column of counts more


@pytest.mark.filterwarnings("ignore::ritz.EmptyProfiles")
def test_verify_reads_streams(tmp_path: Path) -> None:
    N = counts(500, 6).astype(float)
    N[7] = 0
    frame = pd.DataFrame(N, columns=list("abcdef"))
    frame.to_parquet(tmp_path / "n.parquet", row_group_size=100)
    other = frame.copy()
    other.iloc[3, 2] += 1
    other.to_parquet(tmp_path / "m.parquet", row_group_size=100)
    model = CA(3).fit(ritz.read(tmp_path / "n.parquet", memory="1kB"))
    right = model.verify(ritz.read(tmp_path / "n.parquet", memory="1kB"))
    assert right, str(right)
    assert not model.verify(ritz.read(tmp_path / "m.parquet", memory="1kB"))  # one cell
    assert model.verify(frame)


def test_a_constant_column_of_a_file_counts(tmp_path: Path) -> None:
    frame = pd.DataFrame(counts(40, 3), columns=list("abc")).assign(b=5)
    frame.to_csv(tmp_path / "n.csv", index=False)
    model = CA().fit(ritz.read(tmp_path / "n.csv"))
    np.testing.assert_allclose(model.eigenvalues_, CA().fit(frame).eigenvalues_, rtol=1e-12)


def test_saved_and_loaded(tmp_path: Path) -> None:
    model = CA(2).fit(HOUSE)
    ritz.save(model, tmp_path / "m.ritz")
    again = ritz.load(tmp_path / "m.ritz")
    pd.testing.assert_frame_equal(again.row_coordinates_, model.row_coordinates_)
    pd.testing.assert_frame_equal(again.column_cos2_, model.column_cos2_)
    np.testing.assert_array_equal(again.transform(HOUSE), model.transform(HOUSE))


# inputs


def observations() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame({"hair": rng.choice(["red", "black", "fair"], 200), "eye": rng.choice(["blue", "brown"], 200)})


def test_raw_columns_and_long_lists_are_cross_tabulated() -> None:
    raw = observations()
    wide = pd.crosstab(raw.hair, raw.eye)
    long = raw.groupby(["hair", "eye"]).size().reset_index(name="n")
    expected = CA().fit(wide)
    models = {
        "two columns": CA().fit(raw),
        "named": CA(rows="hair", columns="eye").fit(raw.assign(age=1.5)),
        "polars": CA(rows="hair", columns="eye").fit(pl.from_pandas(raw)),
        "long": CA(rows="hair", columns="eye", counts="n").fit(long),
        "weights": CA().fit(long[["hair", "eye"]], sample_weight=long.n),
        "labels": CA(rows="hair").fit(wide.reset_index()),
    }
    for name, model in models.items():
        np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-12, err_msg=name)
        assert list(model.feature_names_in_) == ["blue", "brown"]
    assert list(models["two columns"].row_coordinates_.index) == ["black", "fair", "red"]
    assert models["polars"].row_coordinates_["row"].to_list() == ["black", "fair", "red"]


def test_declared_categories_keep_their_order() -> None:
    raw = observations()
    raw["hair"] = pd.Categorical(raw.hair, ["red", "fair", "black"], ordered=True)
    assert list(CA().fit(raw).row_coordinates_.index) == ["red", "fair", "black"]


def test_a_list_in_a_file_is_counted_in_pieces(tmp_path: Path) -> None:
    raw = observations()
    raw.to_csv(tmp_path / "raw.csv", index=False)
    model = CA(rows="hair", columns="eye").fit(ritz.read(tmp_path / "raw.csv"))
    np.testing.assert_allclose(model.eigenvalues_, CA().fit(raw).eigenvalues_, rtol=1e-12)


def test_names_are_kept() -> None:
    model = CA(2).fit(HOUSE)
    assert list(model.row_coordinates_.index) == list(HOUSE.index)
    assert list(model.column_coordinates_.index) == list(HOUSE.columns)
    assert list(model.row_coordinates_.columns) == ["Dim1", "Dim2"]
    assert isinstance(CA(2).fit(HOUSE.to_numpy()).row_coordinates_, np.ndarray)
    assert list(model.get_feature_names_out()) == ["ca0", "ca1"]
    framed = CA(2).set_output(transform="pandas").fit(HOUSE).transform(HOUSE)
    assert list(framed.index) == list(HOUSE.index)


def test_text_corpora() -> None:
    """Documents by words: the same two topics on the first axis."""
    words = [
        "ship sea sail",
        "sea sail wind ship",
        "wind sea sail",
        "tax law court",
        "court law judge tax",
        "law judge",
    ]
    names = sorted({word for text in words for word in text.split()})
    N = sp.csr_array([[text.split().count(name) for name in names] for text in words])
    axis = CA(2).fit(N).row_coordinates_[:, 0]
    assert (axis[:3] * axis[3:].mean() < 0).all()
    assert np.sign(axis[3:]).tolist() == [np.sign(axis[3])] * 3


# empty rows and columns, and what is refused


def test_empty_rows_and_columns() -> None:
    N = HOUSE.copy()
    N["none"] = 0
    N.loc["nothing"] = 0
    with pytest.warns(ritz.EmptyProfiles) as seen:
        model = CA().fit(N)
    assert [str(one.message).partition(":")[0] for one in seen] == ["empty row nothing", "empty column none"]
    whole = CA().fit(HOUSE)
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-12)
    assert model.row_coordinates_.loc["nothing"].isna().all()
    assert model.column_coordinates_.loc["none"].isna().all()
    assert model.row_contributions_.loc["nothing"].sum() == 0
    np.testing.assert_allclose(model.row_coordinates_.iloc[:-1], whole.row_coordinates_, atol=1e-12)
    assert model.dof_ == whole.dof_
    with pytest.warns(ritz.EmptyProfiles, match="left out of the profiles"):
        placed = model.transform(HOUSE.assign(none=5))
    np.testing.assert_allclose(placed, whole.row_coordinates_, atol=1e-12)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: CA().fit(HOUSE - 50), "Negative values.*received -.* in row"),
        (lambda: CA().fit(HOUSE * 0), "weights that are all zero"),
        (lambda: CA(4).fit(HOUSE), "must be at most 3"),
        (lambda: CA().fit(HOUSE.iloc[:1]), "n_samples=1"),
        (lambda: CA().fit(HOUSE.iloc[:, :1]), "n_features=1"),
        (lambda: CA().fit(HOUSE.astype(object).replace(0, "a")), "must hold numbers"),
        (lambda: CA(counts="n").fit(HOUSE), "counts needs rows and columns"),
        (lambda: CA(rows="x").fit(HOUSE), "expected the columns 'x'"),
        (lambda: CA(rows="x").fit(HOUSE.to_numpy()), "must be a frame"),
        (lambda: CA(rows=3).fit(HOUSE), "name of a column"),
        (lambda: CA().fit(HOUSE).supplementary_columns(HOUSE.iloc[:3]), "for the 13 rows of the fit"),
        (lambda: CA().fit(HOUSE).supplementary_columns(HOUSE, "v"), "'coordinates' or 'cos2'"),
        (lambda: CA().fit(HOUSE).inverse_transform([[1.0, 2.0, 3.0]], [1, 2]), "one number for each of the 1 rows"),
        (lambda: CA().fit(observations().assign(eye=None, n=1)[["hair", "eye"]]), "expected a category in every row"),
        (lambda: CA().fit(HOUSE).merge(ritz.PCA().fit(HOUSE)), "a CA can be combined with a CA only"),
    ],
)
@pytest.mark.filterwarnings("ignore::ritz.EmptyProfiles")
def test_refused(make, match: str) -> None:
    with pytest.raises((ritz.RitzError, ValueError), match=match):
        make()


def test_missing_counts_are_named() -> None:
    N = HOUSE.astype(float)
    N.iloc[2, 1] = np.nan
    with pytest.raises(ritz.NonFiniteError, match="Alternating"):
        CA().fit(N)
