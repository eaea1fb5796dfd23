"""Parameters as others call them: a TypeError that says the name here. Rules with a least number of components."""

from __future__ import annotations

import copy
import inspect
import pickle

import numpy as np
import pytest
import sklearn.decomposition
import sklearn.manifold
from sklearn.base import clone

import ritz
from ritz.methods import METHODS, method_named

#: Estimators of scikit-learn by the method that does the same.
ALIKE = {
    "PCA": ["PCA", "IncrementalPCA"], "SVD": ["TruncatedSVD"], "KernelPCA": ["KernelPCA"],
    "SparsePCA": ["SparsePCA", "MiniBatchSparsePCA"], "FactorAnalysis": ["FactorAnalysis"], "MDS": ["MDS"],
    "Isomap": ["Isomap"], "LLE": ["LocallyLinearEmbedding"], "LaplacianEigenmaps": ["SpectralEmbedding"],
    "TSNE": ["TSNE"],
}  # fmt: skip
THEIRS = [
    (ours, name)
    for ours, theirs in ALIKE.items()
    for their in theirs
    for name in inspect.signature(
        getattr(sklearn.decomposition, their, None) or getattr(sklearn.manifold, their)
    ).parameters
    if name not in inspect.signature(method_named(ours)).parameters
]


@pytest.mark.parametrize(("ours", "name"), THEIRS)
def test_every_parameter_of_scikit_learn_is_known_by_what_it_is_here(ours, name):
    with pytest.raises(TypeError, match=rf"{ours}\(\) has no parameter '{name}'\nhint: ") as caught:
        method_named(ours)(**{name: 1})
    words = str(caught.value)
    assert "the parameters are" not in words  # which is all that can be said of a name that nobody knows
    if (found := words.partition("it is called ")[2]) and not found.startswith("sample_weight"):
        assert found.split(" here")[0].partition("=")[0] in inspect.signature(method_named(ours)).parameters


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("full", "svd"),
        ("covariance_eigh", "moments"),
        ("arpack", "lanczos"),
        ("randomized", "krylov"),
        ("auto", "auto"),
    ],
)
def test_values_of_svd_solver_are_those_of_solver(theirs, ours):
    with pytest.raises(TypeError, match=f"it is called solver='{ours}' here"):
        ritz.PCA(svd_solver=theirs)
    ritz.PCA(2, solver=ours)


def test_a_slip_is_corrected_and_a_strange_word_gets_the_list():
    with pytest.raises(TypeError, match="did you mean n_components"):
        ritz.PCA(n_component=2)
    with pytest.raises(TypeError, match="the parameters are n_components, center, scale"):
        ritz.PCA(zzz=2)


@pytest.mark.parametrize("name", METHODS)
def test_constructors_clone_copy_and_pickle_as_before(name):
    kind = method_named(name)
    model = kind()
    assert clone(model).get_params() == copy.deepcopy(model).get_params() == model.get_params()
    assert type(pickle.loads(pickle.dumps(model))) is kind


class TestLeast:
    """A rule that answers 0 says so, and offers a least of 1."""

    X = np.random.default_rng(0).standard_normal((100, 6))

    @pytest.mark.parametrize("rule", ["broken-stick", "map", "gcv", "consensus", "permutation"])
    def test_nothing_found_is_said_and_one_can_be_kept(self, rule):
        with pytest.warns(ritz.NoComponents, match=f"'{rule}>=1' keeps at least one"):
            none = ritz.PCA(rule).fit(self.X)
        assert none.n_components_ == 0
        one = ritz.PCA(f"{rule}>=1").fit(self.X)
        assert one.n_components_ == 1
        assert np.allclose(one.components_, ritz.PCA(1).fit(self.X).components_)
        assert ritz.PCA(f"{rule} ≥ 3").fit(self.X).n_components_ == 3

    def test_an_answer_above_the_least_stays(self):
        Y = self.X @ np.diag([9.0, 8, 7, 1, 1, 1])
        assert ritz.PCA("bic").fit(Y).n_components_ == ritz.PCA("bic>=1").fit(Y).n_components_ == 3

    @pytest.mark.parametrize("solver", ["svd", "moments", "krylov", "lanczos"])
    def test_with_every_solver_and_a_least_beyond_the_first_guess(self, solver):
        Y = np.random.default_rng(1).standard_normal((200, 60))
        assert ritz.PCA("broken-stick>=20", solver=solver).fit(Y).n_components_ == 20

    def test_no_more_than_there_are(self):
        with pytest.raises(ritz.ParameterError, match="between 0 and"):
            ritz.PCA("bic>=7").fit(self.X)
        with pytest.raises(ritz.ParameterError, match="did you mean 'parallel'"):
            ritz.PCA("paralel>=1").fit(self.X)
        flat = np.outer(np.arange(10.0), np.ones(3))
        assert ritz.PCA("broken-stick>=2").fit(flat).n_components_ == 2

    def test_a_state_and_a_file_keep_it(self, tmp_path):
        model = ritz.PCA("broken-stick>=1")
        for part in np.array_split(self.X, 4):
            model.partial_fit(part)
        assert model.n_components_ == 1
        ritz.save(model, tmp_path / "m.ritz")
        assert ritz.load(tmp_path / "m.ritz").n_components == "broken-stick>=1"

    def test_kernel_and_tables_of_counts(self):
        K = ritz.KernelPCA("broken-stick>=2", kernel="rbf").fit(self.X)
        assert K.n_components_ >= 2
        counts = np.random.default_rng(0).poisson(50, (8, 6))
        with pytest.warns(ritz.NoComponents):
            assert ritz.CA("broken-stick").fit(counts).n_components_ == 0
        assert ritz.CA("broken-stick>=1").fit(counts).n_components_ == 1
