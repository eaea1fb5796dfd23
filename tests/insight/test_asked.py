"""What people hand in: rows before the model, names of components, one column, strangers; and what they see printed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA

import ritz
from ritz import insight


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2)) @ rng.standard_normal((2, 5)) + 0.4 * rng.standard_normal((30, 5))
    return pd.DataFrame(X, columns=list("abcde"), index=[f"row {i}" for i in range(30)])


@pytest.fixture(scope="module")
def model(table) -> ritz.PCA:
    return ritz.PCA(3, scale=True).fit(table)


@pytest.mark.parametrize("name", ["contributions", "cos2", "t2", "spe", "blame", "outliers", "biplot", "describe"])
def test_rows_before_the_model_are_named_in_a_line(table, model, name):
    with pytest.raises(ritz.ParameterError, match=r"expected a fitted model; received pandas\.DataFrame") as caught:
        getattr(insight, name)(table, model)
    assert "the model comes before the rows" in str(caught.value)
    assert len(str(caught.value)) < 200


def test_a_class_a_path_and_a_stranger_are_refused_by_name(table):
    with pytest.raises(ritz.ParameterError, match="the class PCA"):
        insight.loadings(ritz.PCA)
    with pytest.raises(ritz.ParameterError, match=r"ritz\.load"):
        insight.loadings("model.ritz")
    with pytest.raises(ritz.ParameterError, match="sklearn's PCA"):
        insight.loadings(PCA(2).fit(table))


def test_components_go_by_number_and_by_name(table, model):
    assert insight.top_variables(model, "PC2") == insight.top_variables(model, 1)
    assert repr(insight.describe(model, table, components=["PC2"])) == repr(
        insight.describe(model, table, components=[1])
    )
    assert list(insight.describe(model, table, components="PC3")) == ["PC3"]
    (one,), (two,) = (insight.ellipse(model, table, components=pair).values() for pair in ((0, 2), ("PC1", "PC3")))
    assert np.array_equal(one.covariance, two.covariance)
    for wrong in ("PC4", 3, -1, 0.5, True, None):
        with pytest.raises(ritz.ParameterError, match="names from 'PC1' to 'PC3'"):
            insight.describe(model, table, components=[wrong])


def test_one_column_and_a_dict_are_tables_of_variables(table, model):
    kind = pd.Series(np.where(np.arange(30) % 2, "odd", "even"), index=table.index, name="kind")
    asked = {"alpha": 1, "components": [0]}
    frame = insight.describe(model, table, kind.to_frame(), **asked)
    assert repr(insight.describe(model, table, kind, **asked)) == repr(frame)
    assert repr(insight.describe(model, table, {"kind": kind}, **asked)) == repr(frame)
    assert "kind=odd" in repr(frame)
    placed = insight.supplementary(model, table, kind)
    assert placed.variables == ["kind"]


def test_numbers_of_rows_keep_their_names(table, model):
    bare, rows = ritz.PCA(3, scale=True).fit(table.to_numpy()), table.to_numpy()
    for measure in (insight.t2, insight.spe, insight.combined):
        found, other = measure(model, table), measure(bare, rows)
        assert list(found.index) == list(table.index)
        assert isinstance(other, np.ndarray)
        assert np.allclose(found.to_numpy(), other, rtol=1e-9)
    parts = insight.blame(model, table)
    assert list(parts.columns) == list(table.columns)
    assert list(parts.index) == list(table.index)
    assert np.allclose(parts.sum(axis=1), insight.t2(model, table))
    assert isinstance(insight.blame(bare, rows), np.ndarray)


def test_columns_to_blame_of_a_survey_are_levels():
    rng = np.random.default_rng(1)
    survey = pd.DataFrame({name: rng.choice(list("xyz"), 60) for name in ("tea", "milk", "sugar")})
    mca = ritz.MCA(2).fit(survey)
    parts = insight.blame(mca, survey)
    assert len(parts.columns) == 9
    assert {"tea", "milk", "sugar"} == {name.split("=")[0].split("_")[0] for name in parts.columns}


def test_odd_rows_are_called_by_their_names(table):
    spoilt = table.copy()
    spoilt.loc["row 7", "c"] = 80.0
    model = ritz.PCA(2).fit(spoilt)
    found = insight.outliers(model, spoilt)
    assert found.rows[0] == 7
    assert "row 7 (p=" in repr(found)
    assert insight.outlier_map(model, spoilt).names[7] == "row 7"
    assert insight.outliers(ritz.PCA(2).fit(spoilt.to_numpy()), spoilt.to_numpy()).names is None


def test_results_print_a_few_lines(table, model):
    kind = pd.DataFrame({"kind": ["x", "y", "z"] * 10, "size": np.arange(30.0)}, index=table.index)
    assert repr(insight.biplot(model, table)).startswith("Biplot('form'")
    assert "\n" not in repr(insight.biplot(model, table))
    shown = repr(insight.supplementary(model, table, kind))
    assert all(word in shown for word in ("correlations", "barycentres", "v-tests", "η²", "kind=x", "size"))
    assert "barycentres" not in repr(insight.supplementary(model, table, kind[["size"]]))
    rings = insight.ellipse(model, table, kind["kind"])
    assert len(repr(rings).splitlines()) == 3
    assert "'x', center" in repr(rings)
    assert "1 factor " in repr(insight.rotate(model, n_components=1))


def test_a_group_too_small_for_an_ellipse_has_none(table, model):
    groups = ["alone", "pair", "pair"] + ["rest"] * 27
    rings = insight.ellipse(model, table, groups)
    for name in ("alone", "pair"):
        assert np.isnan(rings[name].axes).all()
        assert np.isnan(rings[name].angle)
        assert np.isnan(rings[name].path()).all()
        assert not rings[name].contains([[0.0, 0.0]]).any()
    assert np.isfinite(rings["rest"].axes).all()


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda m, X: insight.rotate(m, "Promx"), "'promax'"),
        (lambda m, X: insight.biplot(m, X, scaling="covarance"), "scaling='covariance'"),
        (lambda m, X: insight.blame(m, X, "SPE"), "of='spe'"),
        (lambda m, X: insight.align(m, m, method="rotate"), "method='rotation'"),
        (lambda m, X: insight.bootstrap(m, X, method="BCa"), "method='bca'"),
        (lambda m, X: insight.ellipse(m, X, of="mean"), "of='means'"),
        (lambda m, X: ritz.RobustPCA(2, method="ROBPCA").fit(X), "method='robpca'"),
        (lambda m, X: ritz.FactorAnalysis(1, rotation="oblimim").fit(X), "rotation='oblimin'"),
    ],
)
def test_hints_say_the_word_that_was_meant(table, model, call, hint):
    with pytest.raises(ritz.ParameterError) as caught:
        call(model, table)
    assert f"hint: {hint}" in str(caught.value)


def test_criteria_are_refused_in_their_own_words(table):
    for wrong, meant in (("paralel", "parallel"), ("horn", "parallel"), ("velicer", "map")):
        with pytest.raises(ritz.ParameterError, match="criteria are names of rules") as caught:
            ritz.choose_rank(table, criteria=[wrong])
        assert f"did you mean {meant!r}?" in str(caught.value)
    with pytest.raises(ritz.ParameterError, match="'map' makes no sense for SVD"):
        ritz.choose_rank(ritz.SVD(), table, criteria="map")
    with pytest.raises(ritz.ParameterError, match=r"choose_rank\(X\)\.consensus"):
        ritz.choose_rank(table, criteria="consensus")
    with pytest.raises(ritz.ParameterError, match="did you mean 'mle'"):
        ritz.PCA("minka").fit(table)


def test_a_scale_that_a_model_does_not_have_is_refused(table):
    with pytest.raises(ritz.ParameterError, match="scale belongs to rows"):
        ritz.choose_rank(ritz.PCA(), table, scale=True)
    assert ritz.choose_rank(ritz.PCA(scale=True), table, scale=True, criteria="kaiser").consensus >= 0
    with pytest.raises(ritz.ParameterError, match=r"choose_rank\(model, X\)"):
        ritz.choose_rank(ritz.FactorAnalysis(2).fit(table))
    with pytest.raises(ritz.ParameterError, match=r"choose_rank\(X, scale=False\)"):
        ritz.choose_rank(ritz.RobustPCA(2), table)
    with pytest.raises(ritz.ParameterError, match="the class PCA"):
        ritz.choose_rank(ritz.PCA)


def test_a_kernel_model_that_kept_its_rows_needs_no_more(table):
    for kernel in ("linear", "rbf"):
        found = ritz.choose_rank(ritz.KernelPCA(3, kernel=kernel).fit(table), criteria=["permutation", "stability"])
        assert found["permutation"].k is not None
        assert found["stability"].k is not None


def test_all_rules_in_a_notebook(table):
    table = table.rename(columns={"a": "<a>"})
    shown = ritz.choose_rank(table, criteria=["kaiser", "parallel", "bic"])._repr_html_()
    assert shown.count("<tr") == 4
    assert shown.count("<td") == shown.count("</td>") == 15
    assert "<b>How many components of PCA: " in shown


def test_rows_without_a_group_are_in_no_ellipse(table, model):
    groups = pd.Series(["x"] * 14 + ["y"] * 14 + [None, np.nan], dtype=object)
    rings = insight.ellipse(model, table, groups)
    assert list(rings) == ["x", "y"]
    numbers = insight.ellipse(model, table, [1.0] * 14 + [2.0] * 14 + [np.nan] * 2)
    assert np.array_equal(numbers[1.0].covariance, rings["x"].covariance)


def test_a_bootstrap_calls_rows_by_their_names(table, model):
    sure = insight.bootstrap(model, table, n_boot=30)
    assert list(sure.scores.estimate.index) == list(table.index)
    assert list(sure.scores.low.columns) == ["PC1", "PC2", "PC3"]
    by_name, by_number = sure.ellipses("row 7"), sure.ellipses([7])
    assert list(by_name) == list(by_number) == ["row 7"]
    assert np.array_equal(by_name["row 7"].covariance, by_number["row 7"].covariance)
    with pytest.raises(ritz.ParameterError, match="names of rows") as caught:
        sure.ellipses(["row 77"])
    assert "row 7" in str(caught.value)
    numbered = table.set_axis(range(100, 130))
    assert list(insight.bootstrap(ritz.PCA(2).fit(numbered), numbered, n_boot=30).ellipses([7])) == [7]


def test_refits_repeat_no_warning_of_the_first_fit(table, tmp_path, recwarn):
    table.assign(kind=["x", "y"] * 15).to_csv(tmp_path / "table.csv")
    read = ritz.read(tmp_path / "table.csv")
    with pytest.warns(ritz.ColumnsSetAside):
        model = ritz.PCA(2).fit(read)
    kernel = ritz.KernelPCA(3, kernel="rbf").fit(table)
    recwarn.clear()
    insight.outliers(model, read)
    insight.outliers(kernel, table)
    insight.outliers(kernel, table[:3])
    insight.limits(kernel)
    insight.outlier_map(kernel, table)
    assert not recwarn.list


def test_columns_in_units_of_their_own_are_mentioned(table):
    units = table * [1, 1, 1, 1, 1000]
    assert "scale=True" in ritz.choose_rank(units, criteria=["kaiser", "bic"]).reasons[-1]
    for other in (ritz.choose_rank(table, criteria="kaiser"), ritz.choose_rank(units, scale=True, criteria="kaiser")):
        assert not any("scale=True" in reason for reason in other.reasons)


def test_too_many_factors_are_told():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 1)) + 0.7 * rng.standard_normal((60, 4))
    with pytest.warns(ritz.AccuracyWarning, match="2 factors of 4 columns have more parameters"):
        ritz.FactorAnalysis(2).fit(X)
