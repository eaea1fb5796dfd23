"""Kernel PCA: equal to PCA for the linear kernel, every form of input and of n_components, pre-images, conventions."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import make_circles
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline

import ritz
from ritz import PCA, KernelPCA
from ritz.kernels import RBF, Callable, Laplacian, Linear, Polynomial

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    rng = np.random.default_rng(2)
    return rng.standard_normal((120, 5)) * [3, 2, 1.5, 1, 0.5] + 10


# the linear kernel is PCA ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["auto", "svd", "moments", "krylov", "lanczos", "power", "chebyshev"])
def test_the_linear_kernel_is_pca(rows, solver):
    pca = PCA(4, tol=1e-12).fit(rows)
    model = KernelPCA(4, solver=solver, tol=1e-13 if solver != "power" else 1e-11)
    Z, T = model.fit_transform(rows), pca.transform(rows)
    top = model.eigenvalues_[0]
    assert np.max(np.abs(model.eigenvalues_ - pca.explained_variance_ * 119)) <= 1e-10 * top
    assert np.allclose(model.explained_variance_ratio_, pca.explained_variance_ratio_, rtol=1e-10)
    sign = np.sign(np.sum(Z * T, axis=0))
    assert np.max(np.abs(Z - T * sign)) <= 1e-10 * np.sqrt(top)
    new = rows[:9] * 1.5 - 3
    assert np.max(np.abs(model.transform(new) - pca.transform(new) * sign)) <= 1e-9 * np.sqrt(top)
    U = model.eigenvectors_
    assert np.allclose(U.T @ U, np.eye(4), atol=1e-10)
    first = [np.flatnonzero(np.abs(u) >= (1 - 1e-6) * np.abs(u).max())[0] for u in U.T]
    assert np.all(U[first, np.arange(4)] > 0)  # the sign rule, on eigenvectors_


@pytest.mark.parametrize("solver", ["auto", "svd", "krylov", "nystrom"])
def test_all_routes_have_the_same_signs(rows, solver):
    for kernel in (Linear(), Polynomial(2, 0.01, 1.0), RBF(0.05)):
        a = KernelPCA(3, kernel=kernel, solver="svd").fit_transform(rows)
        b = KernelPCA(3, kernel=kernel, solver=solver, tol=1e-10, landmarks=120).fit_transform(rows)
        assert np.allclose(a, b, atol=1e-6 * np.abs(a).max())


# D17: the mean is kept, and there is an inverse for everything ------------------------------------------------------


@pytest.mark.parametrize("solver", ["auto", "svd", "krylov", "nystrom"])
def test_the_inverse_keeps_the_mean(rows, solver):
    model = KernelPCA(None if solver == "auto" else 5, solver=solver, tol=1e-12, landmarks=60)
    back = model.fit(rows).inverse_transform(model.transform(rows))
    assert np.max(np.abs(back - rows)) <= 1e-6 * 10
    none = model.inverse_transform(np.zeros((1, 5)))
    assert np.allclose(none, rows.mean(axis=0), atol=1e-6)


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.02), Polynomial(3, 0.01, 1.0)], ids=str)
@pytest.mark.parametrize("solver", ["auto", "nystrom"])
def test_sparse_rows_have_an_inverse(kernel, solver):
    X = scipy.sparse.random_array((80, 10), density=0.3, rng=4, format="csr")
    model = KernelPCA(9, kernel=kernel, solver=solver, landmarks=40).fit(X)
    back = model.inverse_transform(model.transform(X))
    assert isinstance(back, np.ndarray)
    error, spread = np.square(back - X.toarray()).sum(), np.square(X.toarray() - X.toarray().mean(axis=0)).sum()
    assert error < (0.3 if solver == "auto" else 0.6) * spread
    dense = KernelPCA(9, kernel=kernel, solver=solver, landmarks=40).fit(X.toarray())
    assert np.allclose(np.abs(dense.transform(X.toarray())), np.abs(model.transform(X)), atol=1e-8)


def test_a_precomputed_kernel_names_neighbours(rows):
    K = RBF(0.05)(rows)
    model = KernelPCA(20, kernel="precomputed").fit(K)
    found = model.neighbours(model.transform(K[:6]), 2)
    assert np.array_equal(found.index[:, 0], np.arange(6))
    assert np.allclose(found.weights.sum(axis=1), 1)
    # P(t) = Σ wⱼ φ(xⱼ): its scores are the scores that were given
    scores = found.weights @ model.fit_transform(K)
    assert np.allclose(scores, model.transform(K[:6]), atol=1e-8)
    with pytest.raises(ritz.ParameterError, match="neighbours"):
        model.inverse_transform(model.transform(K[:6]))


def test_preimages_and_their_errors(rows):
    model = KernelPCA(30, kernel="rbf", gamma=0.01).fit(rows)
    Z = model.transform(rows)
    for method in ("ridge", "fixed-point", "mds"):
        found = model.preimages(Z, method)
        off = np.linalg.norm(found.rows - rows, axis=1)
        assert found.error.shape == (120,)
        assert np.median(off) < 0.5, method
    assert np.array_equal(model.inverse_transform(Z), model.inverse_transform(Z, "fixed-point"))
    with pytest.raises(ritz.ParameterError, match="method must be one of"):
        model.inverse_transform(Z, "magic")


# D18, D21: any object, and how often the kernel is asked --------------------------------------------------------------


def shared_letters(s: str, t: str) -> float:
    return float(len(set(s) & set(t)))


def test_a_function_of_strings():
    words = ["anna", "hannah", "nathan", "bob", "robb", "orb", "zoe"]
    K = np.array([[shared_letters(s, t) for t in words] for s in words])
    for given in (shared_letters, Callable(shared_letters, definite=True)):
        model = KernelPCA(2, kernel=given)
        Z = model.fit_transform(words)
        plain = KernelPCA(2, kernel="precomputed")
        assert np.allclose(Z, plain.fit_transform(K), atol=1e-12)
        new = np.array([[shared_letters(s, t) for t in words] for s in ["joanna", "boo"]])
        assert np.allclose(model.transform(["joanna", "boo"]), plain.transform(new), atol=1e-12)
        assert model.X_fit_ == words
    assert not hasattr(model, "n_features_in_")


def test_prediction_never_computes_the_training_kernel_again(rows):
    asked: list[int] = []

    def counted(x, y):
        asked.append(1)
        return float(np.exp(-0.05 * np.square(x - y).sum()))

    n = 30
    model = KernelPCA(3, kernel=Callable(counted, definite=True)).fit(rows[:n])
    assert len(asked) <= n * (n + 1) // 2 + n + 48 * n  # each pair once, the diagonal, and rows that check rounding
    asked.clear()
    model.transform(rows[n : n + 4])
    assert len(asked) == 4 * n
    asked.clear()
    model.novelty(rows[n : n + 4])
    assert len(asked) == 4 * n + 4  # and k(x, x) of the new rows
    asked.clear()
    model.neighbours(model.transform(rows[:2]), 3)
    model.neighbours(np.zeros((5, 3)), 3)
    assert len(asked) <= 2 * n + n


# n_components and parameters -----------------------------------------------------------------------------------------


def test_every_form_of_n_components(rows):
    spectrum = KernelPCA(None, kernel="rbf", gamma=0.02).fit(rows).eigenvalues_
    shares = spectrum / spectrum.sum()
    assert len(spectrum) == 119
    for solver in ("auto", "krylov", "lanczos", "power"):
        model = KernelPCA(0.6, kernel="rbf", gamma=0.02, solver=solver).fit(rows)
        assert model.n_components_ == int(np.argmax(np.cumsum(shares) > 0.6)) + 1
        assert np.allclose(model.explained_variance_ratio_, shares[: model.n_components_], rtol=1e-6)
    assert KernelPCA(7, kernel="rbf").fit(rows).n_components_ == 7
    assert KernelPCA("kaiser", kernel="rbf", gamma=0.02).fit(rows).n_components_ == int(
        np.sum(spectrum > spectrum.mean())
    )
    for rule in ("elbow", "broken-stick", "gavish-donoho"):
        assert 1 <= KernelPCA(rule, kernel="rbf", gamma=0.02).fit(rows).n_components_ < 119
    assert KernelPCA(0.6, kernel="rbf", gamma=0.02, solver="nystrom", landmarks=100).fit(rows).n_components_ >= 1


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "matern"])
@pytest.mark.filterwarnings("ignore::ritz.NegativeEigenvalues")
def test_every_named_kernel_on_every_kind_of_rows(rows, kernel):
    X = rows - rows.mean(axis=0)
    wide = KernelPCA(3, kernel=kernel).fit(X)
    narrow = KernelPCA(3, kernel=kernel).fit(X.astype(np.float32))
    assert narrow.transform(X.astype(np.float32)).dtype == narrow.eigenvalues_.dtype == np.float32
    assert np.allclose(narrow.eigenvalues_, wide.eigenvalues_, rtol=1e-4)
    sparse = KernelPCA(3, kernel=kernel).fit(scipy.sparse.csr_array(X))
    assert np.allclose(sparse.eigenvalues_, wide.eigenvalues_, rtol=1e-9)
    assert np.allclose(sparse.transform(scipy.sparse.csr_array(X[:7])), wide.transform(X[:7]), atol=1e-7)
    frame = KernelPCA(3, kernel=kernel).fit(pd.DataFrame(X, columns=list("abcde")))
    assert np.array_equal(frame.eigenvalues_, wide.eigenvalues_)


@pytest.mark.parametrize("gamma", [None, 0.3, "scale", "median", "entropy", "cv", "alignment"])
def test_every_way_to_gamma(rows, gamma):
    y = rows[:, 0] > 10
    model = KernelPCA(2, kernel="rbf", gamma=gamma).fit(rows, y)
    assert model.gamma_ == model.kernel_.gamma > 0
    assert gamma is not None or model.gamma_ == 1 / 5
    assert gamma != 0.3 or model.gamma_ == 0.3
    assert gamma != "scale" or model.gamma_ == pytest.approx(1 / (5 * rows.var()))
    again = KernelPCA(2, kernel=RBF(model.gamma_)).fit(rows)
    assert np.array_equal(again.eigenvalues_, model.eigenvalues_)


@pytest.mark.filterwarnings("ignore::ritz.GammaAtEdge")
def test_gamma_by_cross_validation_has_the_least_error_of_preimages():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 60)
    X = np.c_[np.cos(angle), np.sin(angle), 0.05 * rng.standard_normal(60)]

    def held_out(gamma):
        parts = KFold(3, shuffle=True, random_state=1).split(X)
        return -np.mean([inverse_error(KernelPCA(4, kernel="rbf", gamma=gamma).fit(X[a]), X[b]) for a, b in parts])

    chosen = KernelPCA(4, kernel="rbf", gamma="cv").fit(X).gamma_
    assert held_out(chosen) <= 1.5 * min(held_out(gamma) for gamma in np.logspace(-3, 3, 7))
    for kernel in ("matern",):
        model = KernelPCA(3, kernel=kernel, gamma="cv").fit(X[:40])
        assert np.isfinite(model.transform(X)).all()
    sparse = KernelPCA(2, kernel="rbf", gamma="cv").fit(scipy.sparse.csr_array(X[:40]))
    assert sparse.gamma_ == pytest.approx(KernelPCA(2, kernel="rbf", gamma="cv").fit(X[:40]).gamma_)


def test_parameters_of_named_kernels(rows):
    a = KernelPCA(2, kernel="poly", degree=2, gamma=0.01, coef0=2.0).fit(rows)
    b = KernelPCA(2, kernel=Polynomial(2, 0.01, 2.0)).fit(rows)
    assert np.array_equal(a.eigenvalues_, b.eigenvalues_)
    c = KernelPCA(2, kernel="matern", kernel_params={"nu": 0.5, "length": 3.0}).fit(rows)
    assert (c.kernel_.nu, c.kernel_.length, c.gamma_) == (0.5, 3.0, None)
    d = KernelPCA(2, kernel=lambda x, y, power: float(x @ y) ** power, kernel_params={"power": 1}).fit(rows)
    assert np.allclose(d.eigenvalues_, KernelPCA(2).fit(rows).eigenvalues_, rtol=1e-9)


# conventions ---------------------------------------------------------------------------------------------------------


def test_the_model_keeps_its_own_rows():
    rng = np.random.default_rng(0)
    for kernel in (RBF(0.2), Polynomial(3, 0.2, 1.0), Linear(), Laplacian(0.2)):
        for make in (np.asarray, scipy.sparse.csr_array, lambda X: pd.DataFrame(X, columns=list("abcd"))):
            X = make(rng.standard_normal((40, 4)))
            keep, model = X.copy(), KernelPCA(2, kernel=kernel, solver="svd").fit(X)
            before, back = model.transform(keep), model.inverse_transform(model.transform(keep))
            if hasattr(X, "indptr"):
                X.data[:] = 7
            else:
                X[X > -100] = 7
            fresh = pickle.loads(pickle.dumps(model))
            assert np.array_equal(fresh.transform(keep), before)
            assert np.array_equal(fresh.inverse_transform(before), back)


def test_pickle_clone_and_fitting_twice(rows):
    model = KernelPCA(3, kernel=RBF("median"), solver="krylov").fit(rows)
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.transform(rows), model.transform(rows))
    fresh = clone(model)
    assert fresh.kernel == model.kernel
    assert not hasattr(fresh, "eigenvalues_")
    nystrom = clone(model).set_params(solver="nystrom", landmarks=50).fit(rows)
    assert not hasattr(nystrom.set_params(solver="nystrom").fit(rows), "eigenvectors_")
    nystrom.set_params(solver="svd").fit(rows)
    assert hasattr(nystrom, "eigenvectors_")
    assert "_preimage" not in vars(nystrom)
    again = KernelPCA(3, kernel=RBF("median"), solver="krylov").fit(rows)
    assert np.array_equal(again.eigenvectors_, model.eigenvectors_)


def test_names_and_frames(rows):
    frame = pd.DataFrame(rows, columns=list("abcde"), index=np.arange(120) + 5)
    model = KernelPCA(2, kernel="rbf").set_output(transform="pandas").fit(frame)
    out = model.transform(frame)
    assert list(out.columns) == list(model.get_feature_names_out()) == ["kernelpca0", "kernelpca1"]
    assert list(out.index) == list(frame.index)
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame.rename(columns={"a": "z"}))


def test_in_a_pipeline_and_a_search():
    X, y = make_circles(120, factor=0.3, noise=0.05, random_state=0)
    pipe = make_pipeline(KernelPCA(2, kernel="rbf"), LogisticRegression())
    search = GridSearchCV(pipe, {"kernelpca__gamma": [0.01, 2.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"kernelpca__gamma": 2.0}
    assert search.best_score_ == 1.0


def inverse_error(model, X, y=None):
    return -float(np.square(model.preimages(model.transform(X), "ridge").rows - X).mean())


def test_a_search_over_gamma_by_the_error_of_preimages(rows):
    X = rows - rows.mean(axis=0)
    grid = {"gamma": [1e-3, 1e-2, 1e-1, 10.0]}
    search = GridSearchCV(KernelPCA(4, kernel="rbf"), grid, scoring=inverse_error, cv=KFold(3)).fit(X)
    assert search.best_params_["gamma"] < 10.0
    by_hand = []
    for gamma in grid["gamma"]:
        parts = KFold(3).split(X)
        by_hand.append(
            np.mean([inverse_error(KernelPCA(4, kernel="rbf", gamma=gamma).fit(X[a]), X[b]) for a, b in parts])
        )
    assert np.allclose(search.cv_results_["mean_test_score"], by_hand)


# refusals ------------------------------------------------------------------------------------------------------------

GOOD = np.arange(20.0).reshape(10, 2) ** 1.1
BAD = [
    ({"kernel": "gaussian"}, GOOD, "kernel must be one of.*rbf"),
    ({"kernel": 3}, GOOD, "a function of two rows"),
    ({"kernel": "rbf", "gamma": -1}, GOOD, "gamma must be a number > 0"),
    ({"kernel": "rbf", "gamma": "silverman"}, GOOD, "gamma must be"),
    ({"kernel": "rbf", "gamma": "alignment"}, GOOD, "alignment"),
    ({"kernel": "rbf", "kernel_params": {"width": 2}}, GOOD, "parameters of RBF are gamma"),
    ({"kernel": "poly", "degree": 0}, GOOD, "degree"),
    ({"n_components": 11}, GOOD, "n_components=11 must be between"),
    ({"n_components": 1.5}, GOOD, "strictly between 0 and 1"),
    ({"n_components": "kaisers"}, GOOD, "did you mean 'kaiser'"),
    ({"solver": "arpack"}, GOOD, "solver must be one of"),
    ({"solver": "sketch", "kernel": "rbf"}, GOOD, "reads explicit features once, which this kernel"),
    ({"negative": "ignore"}, GOOD, "negative must be one of clip, flip, krein, error"),
    ({"device": "gpu"}, GOOD, 'device must be "cpu", "auto"'),
    ({"tol": 2}, GOOD, "tol must be a number in"),
    ({"solver": "nystrom", "landmarks": 0}, GOOD, "landmarks must be a number ≥ 1"),
    ({"solver": "nystrom", "landmarks": True}, GOOD, "landmarks must be a number ≥ 1"),
    ({"solver": "nystrom", "landmarks": 2.5}, GOOD, "landmarks must be a number ≥ 1"),
    ({"solver": "nystrom", "landmarks": np.ones((3, 5))}, GOOD, "columns"),
    ({"solver": "nystrom", "landmarks": 3, "n_components": 5}, GOOD, "at most the number of landmarks"),
    ({"solver": "nystrom", "sampling": "random"}, GOOD, "sampling must be one of rpcholesky, uniform, kmeans"),
    ({"solver": "nystrom", "kernel": "sigmoid"}, GOOD, "needs a positive kernel"),
    ({"solver": "nystrom", "kernel": "precomputed"}, GOOD @ GOOD.T, "needs a positive kernel"),
    ({}, GOOD[:1], "at least 2 rows"),
    ({}, np.where(GOOD > 5, GOOD, np.nan), "NaN"),
    ({"kernel": "rbf"}, np.where(GOOD > 5, GOOD, np.inf), "infinity"),
    ({}, GOOD[:, 0], "2D"),
    ({}, [["a", "b"], ["c", "d"]], "numeric"),
    ({"kernel": "precomputed"}, GOOD, "must be square"),
    ({"kernel": "precomputed"}, np.arange(9.0).reshape(3, 3), "a symmetric kernel matrix"),
    ({"kernel": ritz.kernels.Spectrum(2)}, "hello", "a list of objects"),
    ({"kernel": ritz.kernels.Spectrum(2)}, [1, 2, 3], "string"),
    ({"kernel": lambda x, y: np.zeros(2)}, GOOD, "one number"),
]


@pytest.mark.parametrize(("options", "X", "words"), BAD)
def test_what_cannot_be_used_is_refused_in_words(options, X, words):
    with pytest.raises((ValueError, TypeError), match=words):
        KernelPCA(**options).fit(X)


def test_what_new_rows_and_coordinates_must_be(rows):
    model = KernelPCA(2, kernel="rbf").fit(rows)
    with pytest.raises(ValueError, match="3 features"):
        model.transform(rows[:, :3])
    with pytest.raises(ritz.InputError, match="coordinates of 2 components"):
        model.inverse_transform(rows)
    with pytest.raises(ritz.InputError, match="coordinates of 2 components"):
        model.neighbours(rows[0, :2])
    with pytest.raises(ritz.ParameterError, match="fit_inverse_transform=True"):
        KernelPCA(2, fit_inverse_transform=False).fit(rows).inverse_transform(rows[:, :2])
    with pytest.raises(ValueError, match="not fitted"):
        KernelPCA().transform(rows)
    fitted = KernelPCA(2, kernel="precomputed").fit(rows @ rows.T)
    with pytest.raises(ValueError, match="120"):
        fitted.transform(rows[:4] @ rows[:50].T)
    with pytest.raises(ritz.InputError, match=r"k\(x, x\) of new rows"):
        fitted.novelty(rows[:4] @ rows.T)


# what a user brings


def test_frames_of_strings_have_one_column() -> None:
    names = ["anna", "hans", "hanna", "johann", "otto"]
    frame = pd.DataFrame({"name": names})
    kernel = ritz.kernels.Spectrum(2)
    model = ritz.KernelPCA(2, kernel=kernel).fit(frame)
    np.testing.assert_allclose(
        model.transform(frame), ritz.KernelPCA(2, kernel=kernel).fit_transform(names), atol=1e-12
    )
    with pytest.raises(ritz.InputError, match=r"one column of strings.*'name', 'sex'"):
        ritz.KernelPCA(2, kernel=kernel).fit(frame.assign(sex="f"))


@pytest.mark.parametrize(
    ("fit", "match"),
    [
        (lambda X: ritz.KernelPCA(2).fit(["anna", "otto"]), "strings need a string kernel"),
        (lambda X: ritz.KernelPCA(2, kernel="spectrum").fit(X), r"ritz\.kernels\.Spectrum\(3\)"),
        (lambda X: ritz.KernelPCA(2, kernel=ritz.kernels.RBF(0.1), gamma=0.5).fit(X), "given by its name"),
        (lambda X: ritz.KernelPCA(2, kernel="rbf", kernel_params={"sigma": 1}).fit(X), "kernlab's sigma is gamma"),
        (lambda X: ritz.KernelPCA(2, kernel="precomputed").fit(np.abs(X[:, :1] - X[:, 0])), "as distances have"),
        (lambda X: ritz.KernelPCA(2, kernel=lambda a, b: float(a[0])).fit(X), "symmetric"),
    ],
)
def test_what_is_no_kernel_is_refused(fit, match: str) -> None:
    with pytest.raises((ritz.InputError, ritz.ParameterError), match=match):
        fit(np.random.default_rng(0).normal(size=(20, 3)))


def test_a_large_mean_costs_nystrom_no_digits() -> None:
    X = (np.random.default_rng(8).normal(size=(300, 6)) + 1e4).astype(np.float32)
    model = ritz.KernelPCA(2, kernel="linear", solver="nystrom", landmarks=20).fit(X)
    truth = np.linalg.svd(X.astype(float) - X.astype(float).mean(axis=0), compute_uv=False)[:2] ** 2
    np.testing.assert_allclose(model.eigenvalues_, truth, rtol=1e-5)
    narrow = ritz.KernelPCA(2, kernel="rbf", gamma=1e-6, solver="nystrom", landmarks=50).fit(X)
    wide = ritz.KernelPCA(2, kernel="rbf", gamma=1e-6, solver="nystrom", landmarks=50).fit(X.astype(float))
    np.testing.assert_allclose(narrow.eigenvalues_, wide.eigenvalues_, rtol=1e-3)


def test_gamma_at_the_edge_is_said() -> None:
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 40)
    X = np.c_[np.cos(angle), np.sin(angle), 0 * angle]  # a plane: two linear components hold it all
    with pytest.warns(ritz.GammaAtEdge, match="linear kernel"):
        ritz.KernelPCA(2, kernel="rbf", gamma="cv").fit(X)


@pytest.mark.parametrize(("n", "least", "most"), [(50, 3e-4, 2e-3), (1000, 5e-3, 5e-2)])
def test_a_plan_predicts_what_the_leading_pairs_of_a_matrix_take(n, least, most):
    rows = np.random.default_rng(0).standard_normal((n, 20))
    plan = ritz.plan(rows, ritz.KernelPCA(10, kernel="rbf"))
    assert plan.solver == "svd"
    assert least <= plan.seconds <= most  # measured: 1.1 ms and 17 to 22 ms of one core


@pytest.mark.parametrize("n", [30, 55, 57, 200])
@pytest.mark.parametrize("k", [2, None])
def test_a_polynomial_kernel_has_one_answer_by_features_and_by_its_matrix(n, k, seed):
    X = np.random.default_rng(seed).standard_normal((n, 5))  # 56 monomials
    K = (X @ X.T / 5 + 1) ** 3
    J = np.eye(n) - 1 / n
    expected = np.linalg.eigvalsh(J @ K @ J)[::-1]
    model = KernelPCA(k, kernel="poly").fit(X)
    assert model.n_components_ == (k or min(n - 1, 55))  # the constant one varies in no row
    assert np.allclose(model.eigenvalues_, expected[: model.n_components_], rtol=0, atol=1e-12 * expected[0])
    assert np.allclose(model.transform(X), model.fit_transform(X), rtol=0, atol=1e-9 * np.sqrt(expected[0]))
