"""What a fitted model says of itself to the folders above: what its fit kept, what a file holds, and back."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import ritz
from ritz.methods.fitted import capabilities_of, checked_parameters, fitted_of, restored
from ritz.methods.record import values_of

RNG = np.random.default_rng(3)
ROWS = RNG.standard_normal((40, 3)) @ RNG.standard_normal((3, 5)) + 0.1 * RNG.standard_normal((40, 5)) + 7.0
WEIGHTS = np.arange(1.0, 41.0)
FRAME = pd.DataFrame(ROWS, columns=list("abcde"))
ANSWERS = pd.DataFrame({name: np.resize(["low", "mid", "high", "low"], 40)[RNG.permutation(40)] for name in "pqr"})
MIXED = pd.concat([FRAME[["a", "b"]], ANSWERS], axis=1)
COUNTS = pd.DataFrame(RNG.poisson(9.0, (8, 4)) + 1, index=[f"r{i}" for i in range(8)], columns=list("wxyz"))


def test_what_a_pca_keeps():
    fitted = fitted_of(ritz.PCA(2, scale=True).fit(FRAME, sample_weight=WEIGHTS))
    assert fitted.weight == WEIGHTS.sum()
    assert fitted.library == "pandas"
    mean = WEIGHTS @ ROWS / WEIGHTS.sum()
    spread = np.sqrt(WEIGHTS @ np.square(ROWS - mean) / (WEIGHTS.sum() - 1))
    np.testing.assert_allclose(fitted.mean, mean, rtol=1e-14)
    np.testing.assert_allclose(fitted.scale, spread, rtol=1e-13)
    np.testing.assert_allclose(fitted.spectrum().values.sum() / (WEIGHTS.sum() - 1), 5.0, rtol=1e-12)
    assert fitted.mergeable
    assert not fitted.pending
    assert fitted.kernel is None
    assert fitted.kernel_map is None
    assert fitted.encoder() is None
    assert fitted.choice is None


def test_a_state_that_is_not_kept_is_none():
    fitted = fitted_of(ritz.PCA(2, mergeable=False, solver="svd").fit(ROWS))
    assert fitted.state is None
    assert not fitted.mergeable
    with pytest.raises(ritz.MergeError, match="needs the moment state"):
        fitted.restated(n_components=1)


def test_the_spectrum_is_complete_where_a_state_is_kept():
    model = ritz.PCA(2, solver="lanczos", mergeable=True, tol=1e-10).fit(ROWS)
    exact = np.square(np.linalg.svd(ROWS - ROWS.mean(axis=0), compute_uv=False))
    seen = fitted_of(model).spectrum()
    assert seen.complete
    np.testing.assert_allclose(seen.values, exact, rtol=1e-9)


def test_another_model_from_the_same_state():
    model = ritz.PCA(2).fit(ROWS)
    wider = fitted_of(model).restated(n_components=4)
    assert "components_" in vars(wider)  # solved already
    np.testing.assert_allclose(wider.explained_variance_, ritz.PCA(4).fit(ROWS).explained_variance_, rtol=1e-12)
    for other in (ritz.SVD(2), ritz.RobustPCA(2), ritz.KernelPCA(2)):
        with pytest.raises(ritz.ParameterError, match=f"{type(other).__name__} has no second model"):
            fitted_of(other.fit(ROWS)).restated(n_components=1)


def test_a_pending_state_is_said_to_be_pending():
    model = ritz.PCA(2).partial_fit(ROWS)
    assert fitted_of(model).pending
    assert fitted_of(model).state.rows == 40
    len(model.components_)
    assert not fitted_of(model).pending


def test_what_a_rule_said_is_kept():
    assert fitted_of(ritz.PCA("kaiser").fit(ROWS)).choice[0] == "kaiser"


def test_what_a_kernel_model_keeps():
    fitted = fitted_of(ritz.KernelPCA(2, kernel="rbf").fit(ROWS))
    assert fitted.kernel.takes == "vectors"
    assert fitted.eigenvectors.shape == (40, 2)
    np.testing.assert_allclose(fitted.kernel_map.scores(ROWS).coordinates, fitted.model.transform(ROWS), rtol=1e-12)
    landmarks = ritz.KernelPCA(2, kernel="rbf", solver="nystrom", landmarks=10).fit(ROWS)
    assert fitted_of(landmarks).eigenvectors is None


@pytest.mark.parametrize(
    ("model", "table", "numbers"),
    [(ritz.CA(2), COUNTS, 0), (ritz.MCA(2), ANSWERS, 0), (ritz.FAMD(2), MIXED, 2)],
)
def test_results_of_a_table_as_arrays(model, table, numbers):
    fitted = fitted_of(model.fit(table))
    for name in ("row_coordinates_", "row_cos2_", "column_coordinates_", "column_contributions_", "column_masses_"):
        np.testing.assert_array_equal(fitted.result(name), np.asarray(getattr(model, name)).squeeze())
    assert fitted.number_columns() == numbers
    assert (fitted.encoder() is None) == (type(model) is ritz.CA)
    np.testing.assert_allclose(fitted.place(fitted.encoded(table)), model.transform(table), rtol=1e-12)
    rows, weights = fitted.present(table)
    assert rows.shape[0] == len(weights) == len(table)


def test_questions_are_those_that_have_more_than_one_answer():
    assert fitted_of(ritz.MCA(2).fit(ANSWERS)).questions == 3
    with pytest.raises(ritz.ParameterError, match="CA has no questions with answers"):
        _ = fitted_of(ritz.CA(2).fit(COUNTS)).questions


def test_what_a_method_has_not_is_refused_in_the_one_wording():
    fitted = fitted_of(ritz.PCA(2).fit(ROWS))
    for ask in (
        lambda: fitted.encoded(ROWS), lambda: fitted.present(ROWS), lambda: fitted.place(ROWS),
        lambda: fitted.sample(ROWS), lambda: fitted.result("row_cos2_"),
    ):  # fmt: skip
        with pytest.raises(ritz.ParameterError, match=r"^PCA has no [a-z _]+"):
            ask()
    with pytest.raises(ritz.ParameterError, match="KernelPCA has no linear map"):
        fitted_of(ritz.KernelPCA(2).fit(ROWS)).linear_map()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", [ritz.PCA(2), ritz.SVD(2), ritz.FactorAnalysis(2), ritz.SparsePCA(2, n_nonzero=3)])
def test_a_model_comes_back_from_its_stored_values(model):
    model.fit(FRAME)
    values = fitted_of(model).stored()
    assert not set(values) & set(model.get_params(deep=False))
    again = restored(type(model), model.get_params(deep=False), values)
    np.testing.assert_array_equal(again.transform(FRAME), model.transform(FRAME))
    assert fitted_of(again).stored().keys() == values.keys()


def test_what_only_saves_time_is_not_stored():
    model = ritz.KernelPCA(2, kernel="rbf").fit(ROWS)
    model.inverse_transform(model.transform(ROWS))
    assert {"_preimage", "_solved_map"} <= set(values_of(model))
    assert not {"_preimage", "_solved_map"} & set(fitted_of(model).stored())


def test_the_same_model_with_other_parameters_changes_nothing_else():
    model = ritz.PCA(2).fit(ROWS)
    same = fitted_of(model).with_parameters(memory="1GB")
    assert same.memory == "1GB"
    assert model.memory is None
    np.testing.assert_array_equal(same.components_, model.components_)


def test_models_that_were_fitted_in_another_way_are_not_alike():
    model = ritz.PCA(2).fit(ROWS)
    fitted_of(model).require_alike(ritz.PCA(2).fit(ROWS))
    with pytest.raises(ritz.MergeError, match="the same parameters"):
        fitted_of(model).require_alike(ritz.PCA(2, scale=True).fit(ROWS))


def test_what_may_be_asked_before_the_fit():
    assert "kaiser" in capabilities_of(ritz.PCA(2)).rules
    assert capabilities_of(np.eye(2)) is None
    with pytest.raises(ritz.ParameterError, match="tol must be a number"):
        checked_parameters(ritz.PCA, {"tol": 2.0})


def test_a_file_that_sets_a_parameter_among_fitted_values_is_refused(tmp_path):
    from ritz._core.container import read_container, write_container

    path = tmp_path / "a.ritz"
    ritz.save(ritz.PCA(2).fit(ROWS), path)
    header, arrays = read_container(path, "model")
    header["fitted"]["dict"]["tol"] = 0.5
    write_container(path, "model", header, arrays)
    with pytest.raises(ritz.FileError, match="a fitted name 'tol'"):
        ritz.load(path)
