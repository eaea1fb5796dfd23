"""choose_rank for kernels and the correspondence family: their own noise, their own lists, the rules of estimators."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz.methods.correspondence.rank import (
    CA_RULES,
    ENCODED_RULES,
    GROUP_RULES,
    CountSample,
    EncodedSample,
    block_spectra,
    variable_blocks,
)
from ritz.methods.kernel_pca.rank import KERNEL_RULES, KernelSample
from ritz.rank.wishart import white_spectra

pd = pytest.importorskip("pandas")
GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "correspondence"


@pytest.fixture(scope="module")
def tasks():
    return pd.read_csv(GOLDEN / "housetasks.csv", index_col=0)


@pytest.fixture(scope="module")
def answers():
    """Three latent classes behind eight questions of three answers each; two questions have nothing to do with them."""
    rng = np.random.default_rng(0)
    latent = rng.integers(0, 3, 400)
    columns = {f"q{j}": (latent + (rng.random(400) < 0.25) * rng.integers(0, 3, 400)) % 3 for j in range(8)}
    columns |= {f"n{j}": rng.integers(0, 2, 400) for j in range(2)}
    return pd.DataFrame({name: [f"a{v}" for v in values] for name, values in columns.items()})


@pytest.fixture(scope="module")
def mixed(answers):
    rng = np.random.default_rng(1)
    latent = answers["q0"].map({"a0": -1.0, "a1": 0.0, "a2": 1.0}).to_numpy()
    numbers = {f"x{j}": latent * (j < 3) + 0.5 * rng.standard_normal(400) for j in range(5)}
    return pd.concat([answers, pd.DataFrame(numbers)], axis=1)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(2)
    return rng.standard_normal((150, 3)) @ rng.standard_normal((3, 9)) + 0.4 * rng.standard_normal((150, 9))


def same_as_estimator(model, X, names):
    r = ritz.choose_rank(model, X)
    assert set(r) == {"fraction", *names}
    for name in (*names, "consensus"):
        made = type(model)(**{**model.get_params(), "n_components": name}).fit(X)
        assert made.n_components_ == (r.consensus if name == "consensus" else r[name].k), name
    return r


# ----------------------------------------------------------------------------------------------- counts


@pytest.mark.filterwarnings("ignore::ritz.NoComponents")
def test_ca_estimators_use_exactly_these_rules(tasks):
    r = same_as_estimator(ritz.CA(), tasks, CA_RULES)
    assert (r["parallel"].k, r["permutation"].k, r["gavish-donoho"].k) == (3, 3, 3)
    assert r["kaiser"].k == 2  # above 1/(min(13, 4) − 1) of the inertia
    assert "tables with the same margins" in r["permutation"].why
    kept = ritz.choose_rank(ritz.CA(2).fit(tasks))
    assert kept["parallel"].k == 3
    assert kept["permutation"].why == "permutation needs rows: pass them, choose_rank(model, X)"


def test_inertias_of_independent_counts_are_those_of_a_wishart_matrix():
    rng = np.random.default_rng(0)
    r, c = rng.dirichlet(np.full(8, 5.0)), rng.dirichlet(np.full(5, 5.0))
    total, drawn = 20_000, []
    for _ in range(300):
        N = rng.multinomial(total, np.outer(r, c).ravel()).reshape(8, 5)
        drawn.append(total * np.asarray(ritz.CA(mergeable=False).fit(N).eigenvalues_))
    expected = white_spectra(7.0, 4, 4000, rng, 1)
    error = np.std(drawn, axis=0) / np.sqrt(300)
    assert np.all(np.abs(np.mean(drawn, axis=0) - expected.mean(axis=0)) < 4 * error + 0.02)


def test_independent_counts_have_no_axis_and_planted_ones_have():
    rng = np.random.default_rng(3)
    P = np.outer(rng.dirichlet(np.full(20, 9.0)), rng.dirichlet(np.full(12, 9.0)))
    noise = rng.multinomial(30_000, P.ravel()).reshape(20, 12)
    u, v = rng.standard_normal((20, 2)), rng.standard_normal((12, 2))
    tied = P * np.exp(0.25 * (u @ v.T))
    signal = rng.multinomial(30_000, (tied / tied.sum()).ravel()).reshape(20, 12)
    for name in ("permutation", "gavish-donoho"):
        assert ritz.choose_rank(ritz.CA(), noise)[name].k == 0
        assert ritz.choose_rank(ritz.CA(), signal)[name].k >= 2
    r = ritz.choose_rank(ritz.CA(), signal)
    assert r["stability"].k >= 2
    np.testing.assert_allclose(r["parallel"].curve.threshold[:3], ritz.choose_rank(ritz.CA("elbow"), signal,
        criteria=["permutation"], quantile=0.5)["permutation"].curve.threshold[:3], rtol=0.15)  # fmt: skip


def test_numbers_that_are_no_counts_say_so():
    shares = np.random.default_rng(0).random((6, 4))
    r = ritz.choose_rank(ritz.CA(), shares)
    for name in ("parallel", "permutation", "stability", "gavish-donoho"):
        assert r[name].k is None
        assert "no counts" in r[name].why
    assert r["kaiser"].k is not None


def test_margins_are_kept_and_counts_drawn(tasks):
    sample = CountSample(tasks.to_numpy(float), 13)
    values = sample.values()
    np.testing.assert_allclose(values, ritz.CA().fit(tasks).explained_inertia_ratio_, rtol=1e-10)
    assert sample.null(np.random.default_rng(0)).sum() < 0.1
    M = sample.turned(np.random.default_rng(0), 2)
    assert np.linalg.svd(M, compute_uv=False)[-1] > 0.98


def test_sparse_counts(tasks):
    dense, sparse = ritz.choose_rank(ritz.CA(), tasks.to_numpy()), ritz.choose_rank(ritz.CA(), sp.csr_array(tasks))
    assert [row.k for row in dense.table] == [row.k for row in sparse.table]


# -------------------------------------------------------------------------------------------- variables


def test_mca_estimators_use_exactly_these_rules(answers):
    r = same_as_estimator(ritz.MCA(), answers, ENCODED_RULES)
    assert (r["permutation"].k, r["elbow"].k, r.consensus) == (2, 2, 2)
    assert r["stability"].k >= 2
    J = answers.shape[1]
    values = np.asarray(ritz.MCA().fit(answers).eigenvalues_)
    assert r["kaiser"].k == int(np.sum(values > 1 / J + 1e-12))


def test_famd_estimators_use_exactly_these_rules(mixed):
    r = same_as_estimator(ritz.FAMD(), mixed, ENCODED_RULES)
    values = np.asarray(ritz.FAMD().fit(mixed).eigenvalues_)
    assert r["kaiser"].k == int(np.sum(values > 1 + 1e-12))
    assert r["permutation"].k == 2


def test_mfa_estimators_use_exactly_these_rules(mixed):
    groups = {"first": ["q0", "q1", "q2", "q3"], "second": ["q4", "q5", "q6", "q7"], "x": [f"x{j}" for j in range(5)]}
    X = mixed[[name for columns in groups.values() for name in columns]]
    r = same_as_estimator(ritz.MFA(groups=groups), X, GROUP_RULES)
    assert r["permutation"].k == 2


@pytest.mark.parametrize("levels", [(2, 3, 4, 3), (2,) * 6])
def test_simulated_blocks_are_what_permuted_variables_show(levels):
    rng = np.random.default_rng(5)
    X = pd.DataFrame({f"v{j}": [f"a{v}" for v in rng.integers(0, K, 500)] for j, K in enumerate(levels)})
    r = ritz.choose_rank(ritz.MCA(), X, criteria=["parallel", "permutation"], quantile=0.5)
    a, b = r["parallel"].curve.threshold, r["permutation"].curve.threshold
    np.testing.assert_allclose(a, b[: len(a)], rtol=0.03)


def test_blocks_keep_the_eigenvalues_that_variables_have_alone():
    blocks = [np.ones(1), np.ones(3), np.array([1.0, 0.25])]
    drawn = block_spectra(200.0, blocks, 50, np.random.default_rng(0))
    np.testing.assert_allclose(drawn.sum(axis=1), 5.25, rtol=1e-10)


def test_the_blocks_of_a_fitted_table(answers):
    model = ritz.MCA().fit(answers)
    blocks = variable_blocks(model._encoder)
    assert [len(block) for block in blocks] == [2] * 8 + [1] * 2
    total = sum(float(block.sum()) for block in blocks) / answers.shape[1]
    assert abs(total - model.total_inertia_) < 1e-12
    left = ritz.MCA(exclude=["q0=a0"]).fit(answers)
    total = sum(float(block.sum()) for block in variable_blocks(left._encoder)) / answers.shape[1]
    assert abs(total - left.total_inertia_) < 1e-9


def test_an_encoded_sample_is_the_analysis_of_its_rows(answers):
    model = ritz.MCA(mergeable=True).fit(answers)
    r = ritz.choose_rank(model, answers, criteria=["permutation"])
    shares = np.asarray(model.explained_inertia_ratio_)
    np.testing.assert_allclose(r["permutation"].curve.value[: len(shares)], shares, rtol=1e-9)


def test_bootstrap_scales_are_those_of_the_rows_drawn():
    R = np.random.default_rng(0).standard_normal((40, 3)) * np.array([1.0, 5.0, 9.0])
    sample = EncodedSample(R, np.arange(3), lambda mean, squares: np.sqrt(squares), 3, 40)
    A = sample._standard(np.random.default_rng(1).multinomial(40, np.full(40, 1 / 40)).astype(float))
    np.testing.assert_allclose((A**2).sum(axis=0), 1.0)


def test_a_state_of_categories_has_no_rows(answers):
    model = ritz.MCA("parallel").partial_fit(answers)
    assert model.n_components_ == ritz.MCA("parallel").fit(answers).n_components_
    with pytest.raises(ritz.ParameterError, match=r"(?s)'stability': stability needs rows.*these need no rows:"):
        ritz.MCA("stability").partial_fit(answers).components_  # noqa: B018


# ---------------------------------------------------------------------------------------------- kernels


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_kernel_estimators_use_exactly_these_rules(rows, kernel):
    r = same_as_estimator(ritz.KernelPCA(kernel=kernel), rows, KERNEL_RULES)
    assert r["permutation"].k >= 2
    kept = ritz.choose_rank(ritz.KernelPCA(4, kernel=kernel).fit(rows))
    assert kept["stability"].k in (r["stability"].k, None)


def test_the_linear_kernel_is_pca(rows):
    kernel = ritz.choose_rank(ritz.KernelPCA(), rows, criteria=["stability", "permutation"])
    linear = ritz.choose_rank(rows, criteria=["stability", "permutation"])
    assert kernel["stability"].k == linear["stability"].k
    assert kernel["permutation"].k == linear["permutation"].k >= 2
    np.testing.assert_allclose(kernel["stability"].curve.value, linear["stability"].curve.value, atol=1e-6)


def test_a_kernel_sample_keeps_its_trace(rows):
    sample = KernelSample(ritz.kernels.RBF(0.1), rows, len(rows))
    K = ritz.kernels.RBF(0.1)(rows)
    H = np.eye(len(rows)) - 1 / len(rows)
    expected = np.linalg.eigvalsh(H @ K @ H)[::-1]
    np.testing.assert_allclose(sample.values(), expected[:-1] / expected.sum(), atol=1e-10)
    Z = sample.table()
    np.testing.assert_allclose(Z @ Z.T, H @ K @ H, atol=1e-10)


def test_strings_and_matrices_have_no_columns_to_permute(rows):
    K = rows @ rows.T
    r = ritz.choose_rank(ritz.KernelPCA(kernel="precomputed"), K)
    assert r["permutation"].why == "permutation needs rows with columns to permute"
    assert r["stability"].k == ritz.choose_rank(rows, criteria=["stability"])["stability"].k
    words = ["".join(np.random.default_rng(i).choice(list("ab" if i % 2 else "yz"), 12)) for i in range(40)]
    strings = ritz.choose_rank(ritz.KernelPCA(kernel=ritz.kernels.Spectrum(2)), words)
    assert strings["permutation"].k is None
    assert strings["stability"].k >= 1
    with pytest.raises(ritz.ParameterError, match="permutation needs rows with columns to permute"):
        ritz.KernelPCA("permutation", kernel="precomputed").fit(K)


def test_large_kernels_are_judged_by_a_thousand_rows():
    X = np.random.default_rng(0).standard_normal((1_200, 4))
    r = ritz.choose_rank(ritz.KernelPCA(kernel="rbf", gamma=0.05), X, criteria=["stability"])
    assert "looked at 1,000 of 1,200 rows" in r["stability"].why


# -------------------------------------------------------------------------------------------------- SVD


def test_svd_estimators_use_exactly_these_rules(rows):
    r = same_as_estimator(ritz.SVD(), rows, ritz.SVD._rules)
    assert "draws of random signs" in r["permutation"].why
    assert r["bcv"].k == 3


# --------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (ritz.CA("map"), "map"),
        (ritz.MCA("bic"), "bic"),
        (ritz.FAMD("gavish-donoho"), "gavish-donoho"),
        (ritz.SVD("map"), "map"),
        (ritz.KernelPCA("parallel"), "parallel"),
    ],
)
def test_names_that_make_no_sense_are_refused_with_those_that_do(model, name, tasks, answers):
    words = f"n_components='{name}' makes no sense for {type(model).__name__}\nhint: these rules do: .*'kaiser'"
    with pytest.raises(ritz.ParameterError, match=words):
        model.fit(tasks if isinstance(model, (ritz.CA, ritz.SVD, ritz.KernelPCA)) else answers)
    with pytest.raises(ritz.ParameterError, match=f"'{name}' makes no sense for {type(model).__name__}"):
        ritz.choose_rank(type(model)(), tasks, criteria=[name])
