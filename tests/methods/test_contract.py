"""Every method × every capability: it works, or it is refused in one wording."""

from __future__ import annotations

import warnings
from copy import copy
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import ritz
from ritz import insight
from ritz.methods import METHODS, method_named, names_of_methods, register
from ritz.methods.fitted import About, Fitted, fitted_of
from ritz.methods.method import Method
from ritz.methods.pca import PCA
from ritz.methods.record import set_values, values_of

RNG = np.random.default_rng(0)
NUMBERS = pd.DataFrame(RNG.standard_normal((60, 3)) @ RNG.standard_normal((3, 6)) + 0.3 * RNG.standard_normal((60, 6)),
                       columns=list("abcdef"))  # fmt: skip
COUNTS = pd.DataFrame(
    RNG.poisson(RNG.uniform(2, 20, (12, 1)) * RNG.uniform(0.5, 2, (12, 5))) + 1, columns=list("vwxyz")
)
ANSWERS = pd.DataFrame({name: RNG.choice(["low", "mid", "high"], 60) for name in ("p", "q", "r")})
MIXED = pd.concat([NUMBERS[["a", "b"]], ANSWERS], axis=1)

SUBJECTS = (
    ["wing", "flutter", "lift", "drag"],
    ["wine", "grape", "red", "cellar"],
    ["court", "law", "judge", "appeal"],
)
TEXTS = [" ".join(RNG.choice(SUBJECTS[i % 3], 5)) + " " + " ".join(RNG.choice(["some", "other"], 2)) for i in range(60)]

TENSOR = np.einsum("ir,jr,kr->ijk", *(RNG.standard_normal((n, 2)) for n in (20, 4, 3)))
TENSOR = TENSOR + 0.05 * RNG.standard_normal(TENSOR.shape)

MODELS: dict[str, tuple[Any, Any]] = {
    "PCA": (ritz.PCA(2), NUMBERS),
    "SVD": (ritz.SVD(2), NUMBERS),
    "KernelPCA": (ritz.KernelPCA(2, kernel="rbf"), NUMBERS),
    "CA": (ritz.CA(2), COUNTS),
    "MCA": (ritz.MCA(2), ANSWERS),
    "FAMD": (ritz.FAMD(2), MIXED),
    "MFA": (ritz.MFA(2, groups={"one": ["a", "b"], "two": ["p", "q", "r"]}), MIXED),
    "RobustPCA": (ritz.RobustPCA(2), NUMBERS),
    "SparsePCA": (ritz.SparsePCA(2, n_nonzero=3), NUMBERS),
    "FactorAnalysis": (ritz.FactorAnalysis(2), NUMBERS),
    "LSI": (ritz.LSI(2), TEXTS),
    "MDS": (ritz.MDS(2), NUMBERS),
    "Isomap": (ritz.Isomap(2), NUMBERS),
    "LLE": (ritz.LLE(2), NUMBERS),
    "LaplacianEigenmaps": (ritz.LaplacianEigenmaps(2), NUMBERS),
    "DiffusionMaps": (ritz.DiffusionMaps(2), NUMBERS),
    "MVU": (ritz.MVU(2), NUMBERS),
    "TSNE": (ritz.TSNE(2), NUMBERS),
    "HOSVD": (ritz.HOSVD(2), TENSOR),
    "Tucker": (ritz.Tucker(2), TENSOR),
    "TensorTrain": (ritz.TensorTrain(2), TENSOR),
    "CP": (ritz.CP(2), TENSOR),
    "PLS": (ritz.PLS(2, target=["e", "f"]), NUMBERS),
    "CCA": (ritz.CCA(2, target=["e", "f"]), NUMBERS),
    "PCR": (ritz.PCR(2, target="f"), NUMBERS),
    "ICA": (ritz.ICA(2), NUMBERS),
    "NMF": (ritz.NMF(2), COUNTS),
    "Autoencoder": (ritz.Autoencoder(2), NUMBERS),
    "RBM": (ritz.RBM(2), 1 / (1 + np.exp(-NUMBERS))),
}
CAPABILITIES: dict[str, Any] = {
    "plan": lambda model, X: ritz.plan(X, type(model)(**model.get_params(deep=False))),
    "verify": lambda model, X: model.verify(X) or pytest.fail("a right model is not verified"),
    "transform": lambda model, X: model.transform(X),
    "loadings": lambda model, X: insight.loadings(model),
    "contributions": insight.contributions,
    "cos2": insight.cos2,
    "column_contributions": lambda model, X: insight.column_contributions(model),
    "t2": insight.t2,
    "spe": insight.spe,
    "blame": insight.blame,
    "limits": lambda model, X: insight.limits(model, X=X),
    "outliers": insight.outliers,
    "describe": insight.describe,
    "biplot": lambda model, X: insight.biplot(model, X, scaling="covariance"),
    "rotate": lambda model, X: insight.rotate(model),
    "bootstrap": lambda model, X: insight.bootstrap(model, X, 10),
    "permutation_test": lambda model, X: insight.permutation_test(model, X, 19),
    "compare": lambda model, X: insight.compare(model, model, X),
    "choose_rank": lambda model, X: ritz.choose_rank(model, X, criteria=["fraction", "kaiser"]),
}
#: What mathematics leaves out; every other pair works.
NO_COLUMNS = {"loadings", "rotate"}
#: Axes made of rows, which have no columns, no plane to be off, and a spectrum that only a gap can cut.
OF_ROWS = {
    *NO_COLUMNS, "cos2", "column_contributions", "t2", "spe", "blame", "limits", "outliers", "biplot", "bootstrap",
    "permutation_test", "choose_rank",
}  # fmt: skip
#: Scores that are no projections, chosen by what they say of another table.
OF_TWO_TABLES = {"cos2", "rotate", "bootstrap", "permutation_test", "choose_rank"}
REFUSED: dict[str, set[str]] = {
    "KernelPCA": {*NO_COLUMNS, "column_contributions", "blame", "biplot", "bootstrap", "permutation_test"},
    "CA": NO_COLUMNS,
    "MCA": NO_COLUMNS,
    "FAMD": {*NO_COLUMNS, "bootstrap"},
    "MFA": {*NO_COLUMNS, "bootstrap"},
    "RobustPCA": {"bootstrap", "permutation_test", "choose_rank"},
    "SparsePCA": {"cos2", "rotate", "bootstrap", "permutation_test", "choose_rank"},
    "FactorAnalysis": {"cos2", "bootstrap", "permutation_test"},
    "LSI": {"bootstrap", "permutation_test"},
    "PLS": OF_TWO_TABLES,
    "CCA": OF_TWO_TABLES,
    "PCR": OF_TWO_TABLES,
    "Autoencoder": OF_ROWS,
    "RBM": OF_ROWS,
    "MDS": OF_ROWS,
    "Isomap": OF_ROWS,
    "LLE": OF_ROWS,
    "LaplacianEigenmaps": OF_ROWS,
    "DiffusionMaps": OF_ROWS,
    "MVU": OF_ROWS,
    "TSNE": OF_ROWS,
    "HOSVD": OF_ROWS,
    "Tucker": OF_ROWS,
    "TensorTrain": OF_ROWS,
    "CP": OF_ROWS,
    "NMF": {*OF_ROWS} - {"loadings", "column_contributions"},
    "ICA": {"cos2", "bootstrap", "permutation_test", "choose_rank"},
}


@pytest.fixture(scope="module")
def fitted() -> dict[str, tuple[Any, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: (model.fit(X), X) for name, (model, X) in MODELS.items()}


def test_the_list_of_methods_is_whole():
    assert set(MODELS) == set(METHODS)
    for name in METHODS:
        cls = method_named(name)
        assert cls is getattr(ritz, name)
        assert isinstance(cls.about, About)
        assert issubclass(cls.fitted, Fitted)
    shorts = [method_named(name).about.short for name in METHODS]
    assert len(set(shorts)) == len(shorts)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize("name", MODELS)
def test_every_method_has_a_capability_or_refuses_it(fitted, name, capability):
    model, X = fitted[name]
    if capability not in REFUSED.get(name, set()):
        assert CAPABILITIES[capability](model, X) is not None
        return
    with pytest.raises(ritz.ParameterError) as refused:
        CAPABILITIES[capability](model, X)
    assert name in str(refused.value)


@pytest.mark.parametrize("name", MODELS)
def test_what_a_method_is_called(fitted, name):
    model, _ = fitted[name]
    known = fitted_of(model)
    assert known.axis_names() == [f"{model.about.axis}1", f"{model.about.axis}2"]
    assert known.shares.shape == (2,)
    assert known.about.paper
    assert known.about.components(1).endswith(known.about.component)


def test_what_is_no_model_of_ritz_is_refused():
    from sklearn.decomposition import PCA as Other

    with pytest.raises(ritz.ParameterError, match="expected a fitted model of Ritz; received sklearn's PCA"):
        fitted_of(Other(2).fit(NUMBERS))
    with pytest.raises(ritz.ParameterError, match="the class PCA"):
        fitted_of(ritz.PCA)
    with pytest.raises(ritz.ParameterError, match="expected a fitted model"):
        fitted_of(np.eye(2))


def test_a_method_from_elsewhere_joins_the_list(tmp_path, monkeypatch):
    monkeypatch.setattr("ritz.methods._joined", {})

    @register
    class UnitRows(PCA):
        about = About("Principal components of rows of unit length", "unitrows", "UR")

        def _rows(self, X, sample_weight, *, reset, whole=True):
            rows, weights = super()._rows(X, sample_weight, reset=reset, whole=whole)
            return rows / np.linalg.norm(rows, axis=1, keepdims=True), weights

    assert "UnitRows" in names_of_methods()
    model = UnitRows(2).fit(NUMBERS)
    unit = NUMBERS / np.linalg.norm(NUMBERS, axis=1, keepdims=True)
    np.testing.assert_allclose(model.explained_variance_, ritz.PCA(2).fit(unit).explained_variance_, rtol=1e-12)
    assert fitted_of(model).axis_names() == ["UR1", "UR2"]
    assert model.verify(NUMBERS)
    ritz.save(model, tmp_path / "unit.ritz")
    np.testing.assert_array_equal(ritz.load(tmp_path / "unit.ritz").components_, model.components_)


def test_files_call_axes_as_the_method_does(fitted, tmp_path):
    for name, (model, X) in fitted.items():
        if name == "KernelPCA":  # writes no file of scores by itself
            continue
        head = model.transform_to(X, tmp_path / f"{name}.csv").read_text().splitlines()[0].replace('"', "")
        assert head.split(",")[-2:] == [f"{model.about.axis}1", f"{model.about.axis}2"], head


@pytest.mark.parametrize("name", METHODS)
def test_a_method_stands_on_few_classes(name):
    cls = method_named(name)
    beneath = Method.__mro__[1:]  # what the pipeline itself stands on is not the method's
    own = [base.__name__ for base in cls.__mro__[1:] if base.__module__.startswith("ritz.") and base not in beneath]
    limit = 4 if name in ("FAMD", "MFA", "PCA") else 3  # those that fill in what is missing, or take matrices
    assert len(own) <= limit, own


@pytest.mark.parametrize("name", METHODS)
def test_no_method_has_a_getattr(name):
    """With one, Python drops what a property says of itself when it raises."""
    cls = method_named(name)
    assert [base.__name__ for base in cls.__mro__ if "__getattr__" in vars(base)] == []


TABLES = [name for name in METHODS if method_named(name).fitted.space == "table"]


@pytest.mark.parametrize("name", TABLES)
def test_every_result_of_a_table_says_itself_that_there_is_no_fit(name):
    cls = method_named(name)
    model = MODELS[name][0].__class__(**MODELS[name][0].get_params(deep=False))
    names = [one for one in dir(cls) if one.endswith("_") and not one.startswith("_")]
    assert {"components_", "row_cos2_", "column_names_"} <= set(names)
    for one in names:
        with pytest.raises(NotFittedError, match=f"this {name} is not fitted yet, so it has no {one}\nhint: call fit"):
            getattr(model, one)
    assert not hasattr(model, "row_cos2")
    assert "row_cos2" not in dir(model)


@pytest.mark.parametrize("name", TABLES)
def test_what_a_table_keeps_is_in_its_record_and_comes_back_by_its_keys(fitted, name):
    model, X = fitted[name]
    private = {one for one in vars(model) if one.startswith("_") and not one.startswith("_sklearn")}
    assert private <= {"_record", "_added_bytes"}
    values = values_of(model)
    assert {"_mean", "_scale", "_inertias", "_weight", "_F"} <= set(values)
    again = type(model)()
    set_values(again, values)
    assert type(again._record) is type(model._record)
    assert values_of(again).keys() == values.keys()
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    with pytest.raises(ValueError, match="a fitted name '_record'"):  # a file must not bring a record of its own
        set_values(again, {"_record": None})


def test_a_copy_of_a_model_with_added_rows_solves_them_for_itself():
    model = ritz.MCA(2).partial_fit(ANSWERS)
    twin = copy(model)
    assert len(twin.components_) == 2
    assert len(model.components_) == 2
    before = values_of(twin)["_state"]
    twin.partial_fit(ANSWERS)
    assert model._record.state is before
    assert (model.n_samples_, twin.n_samples_) == (60, 120)
