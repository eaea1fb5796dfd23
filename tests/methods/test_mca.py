"""Multiple correspondence analysis: answers of R's packages, definitions, identities, corrections."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ritz._core.errors import ConstantColumnWarning, InputError, ParameterError
from ritz.methods.correspondence.mca.mca import MCA

GOLDEN = Path(__file__).parent.parent / "golden" / "correspondence"


def matrix(held: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(held["values"], held["rows"], held["cols"], dtype=float)


def aligned(mine: Any, theirs: Any) -> tuple[np.ndarray, np.ndarray]:
    """Both with the same axes and signs."""
    a, b = np.asarray(mine, float), np.asarray(theirs, float)
    k = min(a.shape[1], b.shape[1])
    a, b = a[:, :k], b[:, :k]
    return a * np.sign(np.sum(a * b, axis=0)), b


def close(mine: Any, theirs: Any, atol: float = 1e-9) -> None:
    np.testing.assert_allclose(*aligned(mine, theirs), atol=atol)


def as_named(mine: pd.DataFrame, names: list[str], separators: str = "_.:") -> pd.DataFrame:
    """Categories in another system's order: named by their level alone, or by variable, a separator and level."""
    found = []
    for name in names:
        wanted = [
            label
            for label in mine.index
            if label.split("=", 1)[1] == name
            or any(label.replace("=", s, 1) == name for s in separators)
            or label.replace("=", ".", 1).replace(" ", ".").replace("+", ".") == name  # as R makes names of texts
        ]
        assert len(wanted) == 1, (name, wanted)
        found += wanted
    return mine.loc[found]


def survey(n: int = 300, seed: int = 0, shape: tuple[int, ...] = (3, 4, 2, 5)) -> pd.DataFrame:
    """Answers that depend on each other through one hidden trait."""
    rng = np.random.default_rng(seed)
    trait = rng.normal(size=n)
    columns = {}
    for j, K in enumerate(shape):
        score = trait[:, None] * np.linspace(-1, 1, K) * (1 if j % 2 else -1) + rng.gumbel(size=(n, K))
        columns[f"q{j}"] = [f"a{i}" for i in np.argmax(score, axis=1)]
    return pd.DataFrame(columns)


def burt_of(X: pd.DataFrame, w: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indicator, shares and AᵀA, written out."""
    Z = pd.get_dummies(X, prefix_sep="=").to_numpy(float)
    w = np.full(len(Z), 1 / len(Z)) if w is None else w / w.sum()
    p = w @ Z
    A = np.sqrt(w)[:, None] * (Z - p) / np.sqrt(X.shape[1] * p)
    return Z, p, A.T @ A


# answers of others


def check_factominer(model: MCA, theirs: dict[str, Any]) -> None:
    k = model.n_components_
    np.testing.assert_allclose(model.eigenvalues_, matrix(theirs["eig"]).iloc[:k, 0], rtol=1e-9)
    np.testing.assert_allclose(100 * model.explained_inertia_ratio_, matrix(theirs["eig"]).iloc[:k, 1], rtol=1e-9)
    rows, columns = theirs["ind"], theirs["var"]
    close(model.row_coordinates_, matrix(rows["coord"]))
    close(100 * model.row_contributions_, matrix(rows["contrib"]))
    close(model.row_cos2_, matrix(rows["cos2"]))
    names = columns["coord"]["rows"]
    close(as_named(model.column_coordinates_, names), matrix(columns["coord"]))
    close(as_named(100 * model.column_contributions_, names), matrix(columns["contrib"]))
    close(as_named(model.column_cos2_, names), matrix(columns["cos2"]))
    close(model.eta2_.loc[columns["eta2"]["rows"]], matrix(columns["eta2"]))
    if model.method == "indicator":
        close(as_named(model.column_v_tests_, names), matrix(columns["v.test"]), atol=1e-8)


def check_supplementary(model: MCA, more: pd.DataFrame, theirs: dict[str, Any]) -> None:
    numbers, words = theirs["quanti_sup"], theirs["quali_sup"]
    placed = model.supplementary_columns(more)
    k = min(model.n_components_, 5)
    turn = np.sign(np.sum(model.row_coordinates_.iloc[:, :k] * matrix(theirs["ind"]["coord"]).to_numpy(), axis=0))
    turned = placed.iloc[:, :k] * turn.to_numpy()
    np.testing.assert_allclose(turned.loc[numbers["coord"]["rows"]], matrix(numbers["coord"]), atol=1e-9)
    names = words["coord"]["rows"]
    levels = [name for name in placed.index if "=" in name]
    np.testing.assert_allclose(as_named(turned.loc[levels], names), matrix(words["coord"]), atol=1e-9)
    for mine, key in (("cos2", "cos2"), ("v_tests", "v.test")):
        found = model.supplementary_columns(more, mine)
        found = found.loc[[name for name in found.index if "=" in name]]
        close(as_named(found, names), matrix(words[key]), atol=1e-8)
    close(model.supplementary_columns(more, "eta2").loc[words["eta2"]["rows"]], matrix(words["eta2"]))
    squares = model.supplementary_columns(more, "cos2").loc[numbers["coord"]["rows"]]
    close(squares, matrix(numbers["coord"]) ** 2)


def test_poison_with_supplementary_columns() -> None:
    X = pd.read_csv(GOLDEN / "poison.csv")
    theirs = json.loads((GOLDEN / "poison_factominer_MCA.json").read_text())
    model = MCA().fit(X.iloc[:, 4:])
    assert model.n_components_ == 11
    check_factominer(model, theirs)
    check_supplementary(model, X.iloc[:, :4], theirs)
    np.testing.assert_allclose(model.eigenvalues_[:4], [0.3352314, 0.1291398, 0.1073485, 0.0958795], atol=5e-8)


def test_poison_with_supplementary_rows() -> None:
    X = pd.read_csv(GOLDEN / "poison.csv")
    theirs = json.loads((GOLDEN / "poison_factominer_MCA_ind_sup.json").read_text())
    model = MCA().fit(X.iloc[:52, 4:])
    check_factominer(model, theirs)
    check_supplementary(model, X.iloc[:52, :4], theirs)
    close(model.transform(X.iloc[52:, 4:]), matrix(theirs["ind_sup"]["coord"]))
    close(model.supplementary_rows(X.iloc[52:, 4:], "cos2"), matrix(theirs["ind_sup"]["cos2"]))
    weights = np.r_[np.ones(52), np.zeros(3)]
    again = MCA().fit(X.iloc[:, 4:], sample_weight=weights)
    close(again.row_coordinates_.iloc[52:], matrix(theirs["ind_sup"]["coord"]))


@pytest.mark.shared
def test_tea(shared: Path) -> None:
    X = pd.read_csv(shared / "tea" / "data.csv")
    theirs = json.loads((shared / "tea" / "factominer_MCA.json").read_text())
    model = MCA().fit(X.iloc[:, :18])
    check_factominer(model, theirs)
    check_supplementary(model, X.iloc[:, 18:], theirs)
    np.testing.assert_allclose(model.benzecri_["percent"].iloc[:3], [55.38, 28.05, 7.65], atol=0.005)
    np.testing.assert_allclose(model.greenacre_["percent"].iloc[:3], [40.76, 20.65, 5.63], atol=0.005)
    ade4 = json.loads((shared / "tea" / "ade4_dudi_acm.json").read_text())
    np.testing.assert_allclose(model.eigenvalues_, ade4["eig"], rtol=1e-9)
    close(model.row_standard_coordinates_, matrix(ade4["row_normed_l1"]))
    names = ade4["col_coord_co"]["rows"]
    close(as_named(model.column_coordinates_, names), matrix(ade4["col_coord_co"]))
    close(as_named(model.column_standard_coordinates_, names), matrix(ade4["col_normed_c1"]))
    close(model.eta2_.loc[ade4["correlation_ratio_cr"]["rows"]], matrix(ade4["correlation_ratio_cr"]))
    few = MCA(2).fit(X.iloc[:, :18])
    pd.testing.assert_frame_equal(few.benzecri_, model.benzecri_, rtol=1e-9)
    pd.testing.assert_frame_equal(few.greenacre_, model.greenacre_, rtol=1e-9)


@pytest.mark.shared
def test_the_burt_table_of_tea(shared: Path) -> None:
    X = pd.read_csv(shared / "tea" / "data.csv").iloc[:, :18]
    model = MCA(method="burt").fit(X)
    theirs = json.loads((shared / "tea" / "factominer_MCA_burt.json").read_text())
    check_factominer(model, theirs)
    mjca = json.loads((shared / "tea" / "ca_mjca_burt.json").read_text())
    np.testing.assert_allclose(np.sqrt(model.eigenvalues_), mjca["sv"][:27], rtol=1e-9)
    np.testing.assert_allclose(model.total_inertia_, mjca["inertia_t"], rtol=1e-9)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["tea", "hair_eye_color"])
@pytest.mark.parametrize("method", ["indicator", "burt", "adjusted"])
def test_mjca(shared: Path, name: str, method: str) -> None:
    file = "data.csv" if name == "tea" else "individuals.csv"
    X = pd.read_csv(shared / name / file).iloc[:, :18]
    theirs = json.loads((shared / name / f"ca_mjca_{method}.json").read_text())
    model = MCA(method=method).fit(X)
    k, names = model.n_components_, theirs["levelnames"]
    np.testing.assert_allclose(np.sqrt(model.eigenvalues_), theirs["sv"][:k], rtol=1e-9)
    assert all(value < 1e-7 for value in theirs["sv"][k:])
    np.testing.assert_allclose(model.total_inertia_, theirs["inertia_t"], rtol=1e-9)
    np.testing.assert_allclose(model.explained_inertia_ratio_, theirs["inertia_e"][:k], rtol=1e-9)
    np.testing.assert_allclose(as_named(model.column_masses_.to_frame(), names)[0], theirs["colmass"], rtol=1e-9)
    close(as_named(model.column_standard_coordinates_, names), theirs["col_standard_coord"]["values"], atol=1e-7)
    close(as_named(model.column_coordinates_, names), theirs["col_principal_coord"]["values"], atol=1e-9)
    close(as_named(model.column_cos2_, names), theirs["colcor"]["values"], atol=1e-9)
    close(as_named(model.column_contributions_, names), theirs["colctr"]["values"], atol=1e-9)


@pytest.mark.shared
def test_hair_and_eye_colour(shared: Path) -> None:
    X = pd.read_csv(shared / "hair_eye_color" / "individuals.csv")
    theirs = json.loads((shared / "hair_eye_color" / "factominer_MCA.json").read_text())
    check_factominer(MCA().fit(X), theirs)
    counts = pd.read_csv(shared / "hair_eye_color" / "counts_long.csv")
    weighted = MCA().fit(counts.iloc[:, :3], sample_weight=counts["Freq"])
    np.testing.assert_allclose(weighted.eigenvalues_, matrix(theirs["eig"]).iloc[:, 0], rtol=1e-9)
    names = theirs["var"]["coord"]["rows"]
    close(as_named(weighted.column_coordinates_, names), matrix(theirs["var"]["coord"]))
    close(as_named(weighted.column_v_tests_, names), matrix(theirs["var"]["v.test"]), atol=1e-8)


# definitions and identities


def test_definition(seed: int) -> None:
    """The singular value decomposition of the centred, scaled indicator, written out."""
    X = survey(seed=seed)
    Z, p, M = burt_of(X)
    values, V = np.linalg.eigh(M)
    values, V = values[::-1], V[:, ::-1]
    model = MCA().fit(X)
    k = model.n_components_
    assert k == Z.shape[1] - X.shape[1]
    np.testing.assert_allclose(model.eigenvalues_, values[:k], rtol=1e-11)
    close(model.row_coordinates_, (Z - p) / np.sqrt(4 * p) @ V[:, :k], atol=1e-10)
    close(model.column_coordinates_, V[:, :k] * np.sqrt(values[:k]) / np.sqrt(p / 4)[:, None], atol=1e-10)
    np.testing.assert_allclose(model.certificate_.values, values[:k], rtol=1e-11)


def test_it_is_the_correspondence_analysis_of_the_indicator() -> None:
    from ritz import CA

    X = survey()
    indicator = CA().fit(pd.get_dummies(X, prefix_sep="=").astype(float))
    model = MCA().fit(X)
    np.testing.assert_allclose(model.eigenvalues_, indicator.eigenvalues_, rtol=1e-10)
    close(model.row_coordinates_, indicator.row_coordinates_, atol=1e-10)
    close(model.column_coordinates_, indicator.column_coordinates_, atol=1e-10)
    close(model.row_cos2_, indicator.row_cos2_, atol=1e-10)
    close(model.column_cos2_, indicator.column_cos2_, atol=1e-10)


def test_transition_formulae_and_sums() -> None:
    X = survey()
    Z, p, _ = burt_of(X)
    K, J = Z.shape[1], X.shape[1]
    model = MCA().fit(X)
    F, G, root = model.row_coordinates_, model.column_coordinates_, np.sqrt(model.eigenvalues_)
    np.testing.assert_allclose(F, Z / J @ G.to_numpy() / root, atol=1e-12)
    np.testing.assert_allclose(G, (Z / Z.sum(axis=0)).T @ F.to_numpy() / root, atol=1e-12)
    np.testing.assert_allclose(model.total_inertia_, K / J - 1, rtol=1e-12)
    np.testing.assert_allclose(model.eigenvalues_.sum(), K / J - 1, rtol=1e-12)
    for side in ("row", "column"):
        np.testing.assert_allclose(getattr(model, f"{side}_contributions_").sum(axis=0), 1, rtol=1e-11)
        np.testing.assert_allclose(getattr(model, f"{side}_cos2_").sum(axis=1), 1, rtol=1e-11)
        np.testing.assert_allclose(getattr(model, f"{side}_masses_").sum(), 1, rtol=1e-12)
        np.testing.assert_allclose(getattr(model, f"{side}_inertias_").sum(), K / J - 1, rtol=1e-11)
    np.testing.assert_allclose(model.eta2_.mean(axis=0), model.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(model.column_masses_, p / J, rtol=1e-12)


def test_inertias_of_the_burt_table_are_squares() -> None:
    X = survey()
    Z, _, M = burt_of(X)
    plain, burt = MCA().fit(X), MCA(method="burt").fit(X)
    np.testing.assert_allclose(burt.eigenvalues_, plain.eigenvalues_**2, rtol=1e-12)
    np.testing.assert_allclose(burt.total_inertia_, np.sum(M**2), rtol=1e-12)
    close(burt.row_coordinates_, plain.row_coordinates_)
    close(burt.row_contributions_, plain.row_contributions_)
    close(burt.column_v_tests_, plain.column_v_tests_)
    np.testing.assert_allclose(burt.column_cos2_.sum(axis=1), 1, rtol=1e-10)
    np.testing.assert_allclose(burt.column_inertias_.sum(), burt.total_inertia_, rtol=1e-12)
    from ritz import CA

    table = CA().fit(Z.T @ Z)
    np.testing.assert_allclose(burt.eigenvalues_, table.eigenvalues_, rtol=1e-9)
    close(burt.column_coordinates_, table.column_coordinates_)
    close(burt.column_cos2_, table.column_cos2_)


def test_adjusted_inertias_count_pairs_of_variables_only() -> None:
    X = survey(shape=(3, 4))
    adjusted = MCA(method="adjusted").fit(X)
    from ritz import CA

    pair = CA().fit(pd.crosstab(X["q0"], X["q1"]))
    # Two variables: the adjusted inertias are those of their table, and nothing is left over.
    k = adjusted.n_components_
    np.testing.assert_allclose(adjusted.eigenvalues_, pair.eigenvalues_[:k], rtol=1e-9)
    np.testing.assert_allclose(adjusted.explained_inertia_ratio_.sum(), 1, rtol=1e-9)
    np.testing.assert_allclose(adjusted.greenacre_["percent"], adjusted.benzecri_["percent"], rtol=1e-9)
    close(adjusted.column_coordinates_.iloc[3:], pair.column_coordinates_)
    np.testing.assert_allclose(adjusted.column_cos2_.sum(axis=1), 1, rtol=1e-9)
    # Axes of three variables and more: fewer, and they do not hold all.
    more = MCA(method="adjusted").fit(survey())
    plain = MCA().fit(survey())
    assert more.n_components_ == np.count_nonzero(plain.eigenvalues_ > 1 / 4)
    assert more.explained_inertia_ratio_.sum() < 1
    close(more.row_coordinates_, plain.row_coordinates_)
    pd.testing.assert_frame_equal(more.benzecri_, plain.benzecri_)
    pd.testing.assert_frame_equal(more.greenacre_, plain.greenacre_)


def test_corrections_need_all_inertias_above_1_over_j() -> None:
    X = survey()
    few = MCA(1, mergeable=False).fit(X)
    with pytest.raises(AttributeError, match="n_components=None"):
        few.benzecri_  # noqa: B018
    with pytest.raises(AttributeError, match="mergeable=True"):
        few.greenacre_  # noqa: B018
    everything = MCA(mergeable=False).fit(X)
    pd.testing.assert_frame_equal(everything.benzecri_, MCA(1).fit(X).benzecri_)


def test_independent_variables_have_no_adjusted_axis() -> None:
    X = pd.DataFrame([(a, b) for a in "xy" for b in "uv"] * 5, columns=["a", "b"])
    with pytest.raises(InputError, match="1/J"):
        MCA(method="adjusted").fit(X)


def test_weights_are_frequencies(seed: int) -> None:
    X = survey(60, seed)
    w = np.random.default_rng(seed).integers(0, 4, len(X))
    weighted = MCA().fit(X, sample_weight=w)
    copies = MCA().fit(X.loc[X.index.repeat(w)])
    np.testing.assert_allclose(weighted.eigenvalues_, copies.eigenvalues_, rtol=1e-10)
    close(weighted.column_coordinates_, copies.column_coordinates_)
    close(weighted.column_v_tests_, copies.column_v_tests_)
    close(weighted.transform(X), copies.transform(X))


# tables


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow", "array", "categories"])
def test_results_come_in_the_library_of_the_table(form: str) -> None:
    X = survey()
    forms = {
        "pandas": X,
        "polars": pl.from_pandas(X),
        "arrow": pl.from_pandas(X).to_arrow(),
        "array": X.to_numpy(dtype=object),
        "categories": X.astype("category"),
    }
    model = MCA(3).fit(forms[form])
    want = MCA(3).fit(X)
    found = model.column_coordinates_
    if form == "array":
        assert isinstance(found, np.ndarray)
    elif form in ("pandas", "categories"):
        assert list(found.index[:3]) == ["q0=a0", "q0=a1", "q0=a2"]
        assert list(found.columns) == ["Dim1", "Dim2", "Dim3"]
    elif form == "polars":
        assert found.columns == ["column", "Dim1", "Dim2", "Dim3"]
        assert found["column"][0] == "q0=a0"
    else:
        assert found.column_names == ["column", "Dim1", "Dim2", "Dim3"]
    np.testing.assert_allclose(model.transform(forms[form]), want.row_coordinates_, atol=1e-12)
    if form == "pandas":
        assert list(model.get_feature_names_out()) == ["mca0", "mca1", "mca2"]
        assert list(model.feature_names_in_) == ["q0", "q1", "q2", "q3"]


def test_an_integer_column_is_asked_about() -> None:
    X = survey().assign(code=np.arange(300) % 58)
    with pytest.raises(InputError, match=r"numbers in 'code'.*\n.*categorical=\['code'\]"):
        MCA().fit(X)
    model = MCA(2, categorical=["code"]).fit(X)
    assert sum(name.startswith("code=") for name in model.column_coordinates_.index) == 58


def test_every_solver_gives_the_same_axes() -> None:
    X = survey(2000)
    want = MCA(3).fit(X)
    for solver in ("svd", "krylov", "lanczos"):
        model = MCA(3, solver=solver, tol=1e-10).fit(X)
        np.testing.assert_allclose(model.eigenvalues_, want.eigenvalues_, rtol=1e-9)
        np.testing.assert_allclose(model.column_coordinates_, want.column_coordinates_, atol=1e-7)
        assert model.verify(X).ok


def test_a_variable_of_one_level_is_set_aside() -> None:
    X = survey().assign(same="yes")
    with pytest.warns(ConstantColumnWarning, match="'same'"):
        model = MCA().fit(X)
    np.testing.assert_allclose(model.total_inertia_, 14 / 4 - 1, rtol=1e-12)
    assert model.column_coordinates_.loc["same=yes"].isna().all()
    with pytest.raises(InputError, match=r"needs a column with 2 different values .*; received 300 rows that"):
        MCA().fit(X[["same"]])
    with pytest.raises(InputError, match="at least 2 rows"):
        MCA().fit(X[:1])


def test_parameters_are_checked() -> None:
    X = survey()
    for bad, words in (
        ({"method": "joint"}, "'indicator', 'burt', 'adjusted'"),
        ({"missing": "drop"}, "'regularized'"),
        ({"unseen": "drop"}, "'supplementary'"),
        ({"rare": 2}, "rare"),
        ({"exclude": "q0=a0"}, "exclude"),
        ({"n_components": 99}, "at most 10"),
        ({"missing": "regularized"}, "number of axes"),
    ):
        with pytest.raises(ParameterError, match=words):
            MCA(**bad).fit(X)


def test_every_parameter_method_and_result_is_on_the_page(root: Path) -> None:
    import inspect

    page = (root / "docs" / "methods" / "mca.md").read_text(encoding="utf-8")
    listed = MCA.__doc__ or ""
    results = [name for name in dir(MCA) if name.endswith("_") and not name.startswith("_")]
    own = [name for name, value in vars(MCA).items() if inspect.isfunction(value) and not name.startswith("_")]
    spoken = page.replace("`…_standard_coordinates_`", "`row_standard_coordinates_` `column_standard_coordinates_`")
    for name in (*inspect.signature(MCA).parameters, *own, *results, "supplementary_columns", "supplementary_rows"):
        assert f"`{name}" in spoken or f" {name}=" in spoken, name
    for name in results:
        assert name in listed, name


@pytest.mark.filterwarnings("ignore::ritz.NoComponents")
def test_a_rule_that_keeps_no_axis_leaves_a_model_that_can_be_asked_for_every_name() -> None:
    rng = np.random.default_rng(5)
    answers = pd.DataFrame({f"q{j}": rng.choice(list("abcd"), 300) for j in range(6)})
    none, everything = MCA("broken-stick").fit(answers), MCA().fit(answers)
    assert none.n_components_ == 0
    assert "benzecri_" in dir(none)
    for name in ("benzecri_", "greenacre_"):
        pd.testing.assert_frame_equal(getattr(none, name), getattr(everything, name), rtol=1e-9)
