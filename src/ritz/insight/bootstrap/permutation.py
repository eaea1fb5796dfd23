"""Is a component more than chance? Columns permuted, one component after another.

    E_j = A − A V_{<j} V_{<j}ᵀ            what earlier components leave of the rows A (n×d) in the frame of the fit
    F_j = λ_j/Σ_{i ≥ j} λ_i               the share of component j in what is left
    P   = (I − UUᵀ) π(E_j) (I − VVᵀ)      every column permuted by itself, earlier scores U and axes V taken out again
    p_j = (1 + #{F(P) ≥ F_j})/(1 + n_perm),    never below that of an earlier component

Without the projection a permuted table would have more directions than what was left, and p would be too small for
small tables [VWNM17, BE92]. Counting stops when chance has won HITS times: then p = HITS/draws [BC91]. Columns of one
variable (MCA, FAMD, MFA) move together. An SVD is about zero: random signs in place of permutations. CA: the first axis
against tables with the same margins, later ones against tables drawn from the earlier axes, by Σ_{i ≥ j} λ_i.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz._core.linalg import eigh
from ritz._core.random import seed_of
from ritz._core.tabular import Tabular
from ritz._core.threads import go_on, lane_count, run_lanes, single_threaded_blas
from ritz.data.passes.sampled import chosen_rows, take_dense
from ritz.data.validate import require_finite, validate_rows, validate_weights
from ritz.insight.axes.of_model import axis_names
from ritz.insight.calls import asked
from ritz.methods.fitted import fitted_of, require_fitted
from ritz.rank.material import SAMPLE_ROWS
from ritz.rank.sample import rows_for, rows_words

__all__ = ["PermutationTest", "permutation_test"]

Floats = NDArray[np.float64]

#: How often chance has to win for the counting to stop.
HITS = 20
#: Components that are tested unless more are asked for.
MOST = 10


@dataclass(frozen=True)
class PermutationTest(Tabular):
    """Components against chance.

    Attributes
    ----------
    p_values : (k,) not decreasing: a component counts only if those before it do
    statistic : (k,) F_j, the share of a component in what earlier ones leave; for CA the inertia from axis j on
    null : (k,) mean of the statistic under chance
    draws : (k,) permutations that were made
    n_components : how many components are more than chance at ``alpha``
    alpha : level
    notes : in words
    """

    p_values: Floats
    statistic: Floats
    null: Floats
    draws: NDArray[np.int64]
    n_components: int
    alpha: float
    notes: tuple[str, ...]
    names: tuple[str, ...]

    def __repr__(self) -> str:
        head = f"{self.n_components} of {len(self.p_values)} components are more than chance at {self.alpha:g}"
        lines = [
            f"  {name:<6} p {p:<8.2g} {value:.4g} against {chance:.4g} by chance ({draws:,} permutations)"
            for name, p, value, chance, draws in zip(
                self.names, self.p_values, self.statistic, self.null, self.draws, strict=True
            )
        ]
        return "\n".join([head, *lines, *self.notes])

    def _table(self) -> dict[str, Any]:
        parts = {"statistic": self.statistic, "null": self.null, "p_value": self.p_values, "draws": self.draws}
        return {"component": self.names} | parts


@asked
def permutation_test(
    model: Any, X: Any, n_perm: int = 999, *, n_components: int | None = None, alpha: float = 0.05,
    sample_weight: Any = None, random_state: Any = 0,
) -> PermutationTest:  # fmt: skip
    """Test every component against chance, after those before it.

    Parameters
    ----------
    model : fitted PCA, SVD, CA, MCA, FAMD or MFA
    X : the rows of the fit
        At most 20,000 of them are looked at, fewer of wide tables, and the result says how many.
    n_perm : int
        Permutations of each component, at most.
    n_components : int, optional
        Test the first so many; None: those of the model, 10 at most.
    alpha : float
        Level of ``n_components`` in the result.
    sample_weight : (n,) frequencies of the fit, or None
    random_state : int, Generator, RandomState or None

    Examples
    --------
    >>> import ritz
    >>> from ritz import insight
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True).data.rename(columns=lambda name: name.removesuffix(" (cm)"))
    >>> pca = ritz.PCA(2, scale=True).fit(X)
    >>> found = insight.permutation_test(ritz.PCA(scale=True).fit(X), X, 199)
    >>> found.p_values.round(3), found.n_components  # three of four are more than chance
    (array([0.005, 0.005, 0.005]), 3)
    """
    require_fitted(model)
    if not (isinstance(n_perm, (int, np.integer)) and n_perm >= 1):
        raise ParameterError("n_perm must be an integer of at least 1", received=repr(n_perm), hint="n_perm=999")
    if not (isinstance(alpha, (int, float)) and 0 < alpha < 1):
        raise ParameterError("alpha must be a number between 0 and 1", received=repr(alpha), hint="alpha=0.05")
    k = _how_many(model, n_components)
    seed = seed_of(random_state)
    tests, words = _tests(model, X, sample_weight, k, seed)
    counts = [_counted(statistic, draw, int(n_perm), [seed, 31, j]) for j, (statistic, draw) in enumerate(tests)]
    p = np.maximum.accumulate([row[0] for row in counts])
    passed = p <= alpha
    kept = len(p) if bool(np.all(passed)) else int(np.argmin(passed))
    return PermutationTest(
        p, np.asarray([test[0] for test in tests]), np.asarray([row[1] for row in counts]),
        np.asarray([row[2] for row in counts]), kept, float(alpha), words, tuple(axis_names(model, len(p))),
    )  # fmt: skip


def _how_many(model: Any, asked: int | None) -> int:
    fitted = fitted_of(model)
    if fitted.permutes is None or not fitted.stands_on_rows:
        fitted.refuse("permutation test", hint="ritz.insight.permutation_test(ritz.PCA(5).fit(X), X)")
    k = len(model.components_)
    if asked is None:
        return min(k, MOST)
    if not (isinstance(asked, (int, np.integer)) and 1 <= asked <= k):
        raise ParameterError(f"n_components must be from 1 to {k}", received=repr(asked))
    return int(asked)


Draw = Callable[[np.random.Generator], float]
Tests = tuple[list[tuple[float, Draw]], tuple[str, ...]]


def _counted(statistic: float, draw: Draw, n_perm: int, key: list[int]) -> tuple[float, float, int]:
    """p-value, mean under chance, and how many draws were made; the same whatever the number of threads."""
    hits, done, total, lanes = 0, 0, 0.0, max(1, lane_count())
    tie = statistic - 1e-9 * abs(statistic)
    with single_threaded_blas():
        while done < n_perm:
            batch = range(done, min(done + 8 * lanes, n_perm))
            shares = [batch[i::lanes] for i in range(min(lanes, len(batch)))]
            drawn: dict[int, float] = {}

            def work(share: range, drawn: dict[int, float] = drawn) -> None:
                for i in share:
                    go_on()
                    drawn[i] = draw(np.random.default_rng([*key, i]))

            run_lanes(work, shares)
            for i in batch:
                hits, done, total = hits + (drawn[i] >= tie), done + 1, total + drawn[i]
                if hits == HITS and done < n_perm:
                    return hits / done, total / done, done
    return (1 + hits) / (1 + done), total / done, done


# what is permuted


def _tests(
    model: Any, X: Any, sample_weight: Any, k: int, seed: int
) -> tuple[list[tuple[float, Draw]], tuple[str, ...]]:
    if fitted_of(model).permutes == "counts":
        return _count_tests(model, X, sample_weight, k)
    if fitted_of(model).permutes == "encoded":
        sample = fitted_of(model).sample(X, sample_weight)
        return _deflated(sample.residuals, sample.parts, k, signs=False), (sample.words,)
    rows = validate_rows(model, X, reset=False)
    n, d = (int(size) for size in rows.shape)
    w = None if sample_weight is None else validate_weights(sample_weight, n)
    of = n if w is None else max(round(float(np.sum(w))), 1)
    chosen = chosen_rows(n, w, rows_for(of, d, SAMPLE_ROWS), seed)
    A = take_dense(rows, chosen)
    require_finite(A, getattr(model, "feature_names_in_", None))
    center = fitted_of(model).centered
    scale = fitted_of(model).scale
    A = A - A.mean(axis=0) if center else A
    A = A if scale is None else A / np.asarray(scale, np.float64)
    return _deflated(A, None, k, signs=not center), (rows_words(len(chosen), of),)


def _deflated(A: Floats, parts: Any, k: int, *, signs: bool) -> list[tuple[float, Draw]]:
    """The test of every component of A."""
    n, d = A.shape
    if min(n - (not signs), d) <= k:
        k = max(1, min(n - (not signs), d) - 1)  # nothing is left to compare the last one with
    with single_threaded_blas():
        values, V = eigh(A.T @ A) if d <= n else _by_rows(A)
    values = np.maximum(values, 0.0)
    tests: list[tuple[float, Draw]] = []
    for j in range(k):
        left = float(values[j:].sum())
        E = A - (A @ V[:, :j]) @ V[:, :j].T
        U = np.linalg.qr(A @ V[:, :j])[0] if j else np.zeros((n, 0))
        share = float(values[j]) / left if left > 0 else 0.0
        tests.append((share, _draw(E, U, V[:, :j], parts, signs=signs)))
    return tests


def _by_rows(A: Floats) -> tuple[Floats, Floats]:
    values, U = eigh(A @ A.T)
    positive = values > 1e-13 * float(np.max(values, initial=0.0))
    V = A.T @ (U[:, positive] / np.sqrt(values[positive]))
    return values, V


def _draw(E: Floats, U: Floats, V: Floats, parts: Any, *, signs: bool) -> Draw:
    """F of one permuted table."""
    columns = np.ascontiguousarray(E.T)

    def draw(rng: np.random.Generator) -> float:
        if signs:
            P = np.where(rng.integers(0, 2, columns.shape, dtype=np.int8) == 1, columns, -columns).T
        elif parts is None:
            P = rng.permuted(columns, axis=1).T
        else:
            P = np.empty_like(E)
            for together in parts:
                P[:, together] = E[np.ix_(rng.permutation(len(E)), together)]
        P = P - U @ (U.T @ P)
        P = P - (P @ V) @ V.T
        G = P.T @ P if P.shape[1] <= P.shape[0] else P @ P.T
        total = float(np.trace(G))
        return float(eigh(G, top=1)[0][0]) / total if total > 0 else 0.0

    return draw


# counts


def _count_tests(model: Any, X: Any, sample_weight: Any, k: int) -> Tests:
    """CA: tables with the same margins, then tables drawn from what earlier axes rebuild."""
    from scipy.stats import random_table

    N = counts_table(model, X, sample_weight)
    r, c, total = N.sum(axis=1), N.sum(axis=0), round(float(N.sum()))
    values, U, V = _inertias(N)
    rank = min(N.shape) - 1

    def first(rng: np.random.Generator) -> float:
        drawn = random_table.rvs(r.astype(np.int64), c.astype(np.int64), random_state=rng)
        return float(_inertias(np.asarray(drawn, np.float64))[0].sum())

    tests: list[tuple[float, Draw]] = [
        (float(values[j:].sum()), first if j == 0 else _rebuilt(N, values, U, V, j, total)) for j in range(min(k, rank))
    ]
    return tests, (f"all {total:,} counts; the first axis against tables with the same margins",)


def _rebuilt(N: Floats, values: Floats, U: Floats, V: Floats, j: int, total: int) -> Draw:
    """Inertia from axis j on of tables drawn from the first j axes."""
    r, c = N.sum(axis=1) / total, N.sum(axis=0) / total
    expected = np.outer(r, c)
    shares = expected + np.sqrt(expected) * ((U[:, :j] * np.sqrt(values[:j])) @ V[:, :j].T)
    shares = np.maximum(shares, 0.0)
    shares /= shares.sum()

    def draw(rng: np.random.Generator) -> float:
        drawn = rng.multinomial(total, shares.ravel()).reshape(N.shape).astype(np.float64)
        return float(_inertias(drawn)[0][j:].sum())

    return draw


def _inertias(N: Floats) -> tuple[Floats, Floats, Floats]:
    """λ, U, V of D_r^-½ (P − rcᵀ) D_c^-½; empty rows and columns are zero."""
    P = N / N.sum()
    expected = np.outer(P.sum(axis=1), P.sum(axis=0))
    A = (P - expected) / np.sqrt(np.where(expected > 0, expected, 1.0))
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    return np.square(s), U, Vt.T


def counts_table(model: Any, X: Any, sample_weight: Any) -> Floats:
    """The counts of the fit, (rows, columns), whole numbers."""
    R, weights = fitted_of(model).present(X, sample_weight)
    profiles = take_dense(R, np.arange(int(R.shape[0])))
    N = profiles * np.asarray(weights, np.float64)[:, None]
    if not np.allclose(N, np.rint(N), atol=1e-6 * max(1.0, float(N.max(initial=0.0)) * 1e-6)):
        raise InputError(
            "counts are drawn again, so they have to be whole numbers", received="a table of other numbers",
            hint="bootstrap and permutation tests of a CA need the counts themselves, not shares",
        )  # fmt: skip
    return np.rint(N)
