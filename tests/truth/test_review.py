"""Cases on which certified bounds were once wrong: states, weights, coherent float32, indicator columns, tampering."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ritz

RNG = np.random.default_rng(0)
SOLVERS = ("svd", "moments", "krylov", "lanczos", "chebyshev", "power")


def exact(X, w=None, scale=False):
    """Eigenvalues of the centred table in extended precision."""
    Z = np.asarray(X, np.longdouble)
    w = np.ones(len(Z), np.longdouble) if w is None else np.asarray(w, np.longdouble)
    Z = Z - (w @ Z) / w.sum()
    if scale:
        Z = Z / np.sqrt((w @ Z**2) / (w.sum() - 1))
    M = (Z * w[:, None]).T @ Z
    # Two steps of Rayleigh refinement in extended precision from float64 eigenvectors.
    V = np.linalg.eigh(M.astype(np.float64))[1][:, ::-1].astype(np.longdouble)
    for _ in range(3):
        H = V.T @ M @ V
        N = V.T @ V
        lam = np.diag(H) / np.diag(N)
        off = H - N * lam
        gap = lam[None, :] - lam[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            F = np.where(np.abs(gap) > 0, off / gap, 0)
        np.fill_diagonal(F, 0)
        V = V + V @ F
        V = V / np.sqrt(np.sum(V**2, axis=0))
    return np.asarray(np.sort(lam)[::-1], np.float64)


def holds(c, true):
    for i in np.flatnonzero(c.labelled):
        assert c.lower[i] <= true[i] * (1 + 4e-16)
        assert true[i] * (1 - 4e-16) <= c.upper[i]


@pytest.mark.filterwarnings("ignore:what the components leave:ritz._core.errors.AccuracyWarning")
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_subtracted_state_knows_what_it_lost(solver):
    A, B = RNG.standard_normal((200, 5)) * 1e4, RNG.standard_normal((50, 5)) * 1e-2
    fit = lambda Z: ritz.PCA(3, solver=solver).fit(Z)  # noqa: E731
    model = fit(np.vstack([A, B])).subtract(fit(A))
    holds(model.certificate_, exact(B))
    assert model.certificate_.verify(B)


def test_a_subtracted_state_that_is_scaled():
    A, B = RNG.standard_normal((200, 4)) * [1e6, 1, 1, 1], RNG.standard_normal((50, 4)) * [1, 1e6, 1, 1]
    fit = lambda Z: ritz.PCA(4, scale=True).fit(Z)  # noqa: E731
    holds(fit(np.vstack([A, B])).subtract(fit(A)).certificate_, exact(B, scale=True))


def test_repeated_float32_rows():
    Z = np.tile(RNG.random((2, 110)).astype(np.float32), (10000, 1))
    true = 20000 / 4 * np.sum((Z[0].astype(np.longdouble) - Z[1]) ** 2)
    c = ritz.PCA(1).fit(Z).certificate_
    assert c.lower[0] <= true <= c.upper[0]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("heavy", [1e8, 1e12])
def test_one_heavy_row(solver, heavy):
    w, X = np.ones(50), RNG.standard_normal((50, 6))
    w[7] = heavy
    for scale in (False, True):
        model = ritz.PCA(3, scale=scale, solver=solver).fit(X, sample_weight=w)
        true = exact(X, w, scale)
        holds(model.certificate_, true)
        assert model.certificate_.total == pytest.approx(np.sum(true), rel=1e-9 if scale else 1e-12)


@pytest.mark.parametrize("solver", ["svd", "moments", "krylov"])
def test_rows_unlike_the_sample(solver):
    n = 256 * 1000
    X = np.random.default_rng(1).standard_normal((n, 2))
    X[:, 0] *= 1e-3
    X[::1000, 0] += 1
    holds(ritz.PCA(2, scale=True, solver=solver).fit(X).certificate_, exact(X, scale=True))


@pytest.mark.parametrize("solver", ["svd", "moments", "krylov"])
@pytest.mark.parametrize("draw", range(4))
def test_indicator_columns(solver, draw):
    B = (np.random.default_rng(draw).random((20000, 2)) < 0.3).astype(float)
    holds(ritz.PCA(2, scale=True, solver=solver).fit(B).certificate_, exact(B, scale=True))


def test_rows_one_by_one():
    X = RNG.standard_normal((4000, 3))
    model = ritz.PCA(3)
    for row in X:
        model.partial_fit(row[None])
    holds(model.certificate_, exact(X))


def test_float32_of_any_size():
    X = RNG.standard_normal((20000, 110)).astype(np.float32)
    base = ritz.PCA(2).fit(X.astype(np.float64)).singular_values_
    for factor in (1e19, 1e-22, 1e12, 1e-12):
        sigma = ritz.PCA(2).fit(X * np.float32(factor)).singular_values_
        np.testing.assert_allclose(sigma.astype(np.float64) / np.float64(np.float32(factor)), base, rtol=1e-5)


@pytest.mark.parametrize("factor", [1e160, 1e200])
def test_numbers_whose_variances_leave_the_range(factor):
    with pytest.raises(ritz.InputError, match=r"variances must stay within the range.*in column \d\nhint: divide"):
        ritz.PCA(2).fit(RNG.standard_normal((50, 5)) * factor)


def test_numbers_whose_squares_underflow():
    X = RNG.standard_normal((50, 5))
    np.testing.assert_allclose(
        ritz.PCA(2).fit(X * 1e-160).singular_values_ * 1e160, ritz.PCA(2).fit(X).singular_values_
    )


def test_one_number_whose_square_leaves_the_range():
    X = RNG.standard_normal((2000, 3))
    X[777] = 1e160
    with pytest.raises(ritz.InputError, match="variances must stay within the range"):
        ritz.PCA(2).fit(X)


def test_verify_sees_through_tampering():
    X = RNG.standard_normal((100, 6)) * [9, 7, 5, 3, 2, 1]
    c = ritz.PCA(3).fit(X).certificate_
    assert c.verify(X)

    def pick(index):
        frame = {**c.frame, "vectors": c.frame["vectors"][:, index]}
        fields = {
            name: getattr(c, name)[index] for name in ("values", "lower", "upper", "residuals", "labelled", "angles")
        }
        return replace(c, frame=frame, **fields)

    lies = [
        pick([0, 0, 2]),
        pick([0, 2]),
        replace(c, lower=c.values * [1.5, 1, 1], upper=c.values * [1.6, 1, 1]),
        replace(c, total=2 * c.total),
    ]
    assert not any(lie.verify(X) for lie in lies)
