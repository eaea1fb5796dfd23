"""Bootstrap of CA and MCA: counts, or rows, drawn again, and the whole analysis repeated.

    CA    N_b ~ multinomial(n, N/n),   A_b = D_r^-½ (P − rcᵀ) D_c^-½ = UΣVᵀ,   rows D_r^-½UΣ, columns D_c^-½VΣ
    MCA   c ~ multinomial(n, 1/n),     AᵀA = D_s⁻¹ (RᵀD_cR/n − ppᵀ) D_s⁻¹,  s = √(Jp),   categories D_s⁻¹V(JΛ)^½

Draws are turned to the fit as for PCA. A row, column or category without a count in a draw has no place there; its
intervals come from the other draws. What one count adds to a canonical correlation ρ is φψ − ½ρ(φ² + ψ²), φ and ψ its
standard coordinates; what one row adds to the logarithm of an inertia of an MCA is t²/λ − Σv²x/p.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ParameterError
from ritz._core.lazy import cached_property
from ritz._core.linalg import eigh
from ritz._core.random import seed_of
from ritz._core.tabular import Tabular
from ritz.data.passes.sampled import take_rows
from ritz.data.tables.labelled import labelled
from ritz.insight.bootstrap.groups import Group, aligned, cross, group_of, grouped, neighbour_p, pair_of, table_of_draws
from ritz.insight.bootstrap.intervals import (
    Intervals,
    acceleration,
    interval,
    log_error,
    signed_method,
    stacked,
    studentized,
)
from ritz.insight.bootstrap.permutation import counts_table
from ritz.insight.bootstrap.words import group_notes, shown
from ritz.insight.rows.ellipse import Ellipse, Ellipses
from ritz.methods.fitted import fitted_of

__all__ = ["TableBootstrap", "table_bootstrap"]

Floats = NDArray[np.float64]


@dataclass
class _Draws:
    """Aligned results of all draws: values (B, k), totals (B,), columns (B, d, k), rows (B, n, k) or None."""

    values: Floats
    totals: Floats
    turned: Floats
    errors: Floats  # (B, k) standard errors of log λ
    columns: Floats
    rows: Floats | None


@dataclass(frozen=True, repr=False)
class TableBootstrap(Tabular):
    """What the draws say about a correspondence analysis.

    Attributes
    ----------
    eigenvalues, shares : Intervals, (k,) inertias and their shares in the total
    columns : Intervals, (d, k) principal coordinates of the columns, or categories
    rows : Intervals, (n, k) of the rows of a CA; None for MCA
    groups : axes that are known by themselves, and groups of them that are known only together
    level, n_boot, n : probability of the intervals, draws, counts (CA) or rows (MCA) of a draw
    notes : in words
    """

    eigenvalues: Intervals
    shares: Intervals
    groups: tuple[Group, ...]
    level: float
    n_boot: int
    n: float
    notes: tuple[str, ...]
    _model: Any = field(repr=False)
    _draws: _Draws = field(repr=False)
    _points: tuple[Floats, Floats | None] = field(repr=False)
    _method: str = field(repr=False)

    @property
    def draws(self) -> Floats:
        """(n_boot, k) inertias of the draws."""
        return self._draws.values

    @cached_property
    def separated(self) -> NDArray[np.bool_]:
        """(k,) whether an axis means something by itself."""
        return np.concatenate([np.full(len(group.components), group.separated) for group in self.groups])

    @cached_property
    def angles(self) -> Floats:
        """(k, 2) degrees between an axis, or the subspace of its group, and that of a draw: median, upper quantile."""
        return np.asarray([[group.angle, group.angle_high] for group in self.groups for _ in group.components])

    @cached_property
    def columns(self) -> Intervals:
        """(d, k)."""
        return self._of(self._draws.columns, self._points[0], "column")

    @cached_property
    def rows(self) -> Intervals | None:
        """(n, k) for CA."""
        if self._draws.rows is None or self._points[1] is None:
            return None
        return self._of(self._draws.rows, self._points[1], "row")

    def _of(self, draws: Floats, estimate: Floats, side: str) -> Intervals:
        parts = []
        for i, point in enumerate(estimate):
            there = ~np.isnan(draws[:, i, 0])
            if np.count_nonzero(there) < 2:
                nothing = np.full((1, len(point)), np.nan)
                parts.append(Intervals(point[None], nothing, nothing, nothing, nothing, self.level, self._method))
                continue
            parts.append(interval(draws[there, i].T[None].copy(), point[None], self.level, self._method))
        fitted = fitted_of(self._model)
        names, library = fitted.axis_names(estimate.shape[1]), fitted.library
        labels = self._labels(side, len(estimate))
        return stacked(parts).map(lambda values: labelled(values, labels, names, library, side))

    def _labels(self, side: str, size: int) -> list[Any] | None:
        fitted = fitted_of(self._model)
        labels = fitted.column_labels() if side == "column" else fitted.row_names()
        return list(labels) if labels is not None and len(labels) == size else None

    def ellipses(self, of: str = "columns", *, components: tuple[int, int] = (0, 1)) -> Ellipses:
        """Confidence ellipses of the columns (categories), or of the rows of a CA, by name.

        Parameters
        ----------
        of : "columns" or "rows"
        components : pair of int
            Which two axes, from 0.
        """
        from scipy.stats import chi2

        if of not in ("columns", "rows") or (of == "rows" and self._draws.rows is None):
            raise ParameterError(
                "of must be 'columns', or 'rows' for a CA", received=repr(of), hint="ellipses('columns')"
            )
        columns = of == "columns"
        draws = self._draws.columns if columns else np.asarray(self._draws.rows)
        points = self._points[0] if columns else np.asarray(self._points[1])
        pair, ellipses = pair_of(components, points.shape[1]), Ellipses()
        names = self._labels(of[:-1], len(points)) or list(range(len(points)))
        radius = float(np.sqrt(chi2.ppf(self.level, 2)))
        for i, name in enumerate(names):
            there = draws[~np.isnan(draws[:, i, 0]), i][:, pair]
            C = np.cov(there.T) if len(there) > 2 else np.full((2, 2), np.nan)
            ellipses[name] = Ellipse(name, points[i, pair], C, radius, self.n)
        return ellipses

    def __repr__(self) -> str:
        what = "counts" if fitted_of(self._model).resamples == "counts" else "rows"
        head = (
            f"{type(self._model).__name__}: {self.n_boot:,} draws of {self.n:,.0f} {what}, intervals at {self.level:g}"
        )
        return shown(head, self.groups, self.eigenvalues, self.shares, self.notes)

    def _table(self) -> dict[str, Any]:
        return table_of_draws(self, "axis")


def table_bootstrap(
    model: Any, X: Any, n_boot: int, level: float, n_components: int | None, sample_weight: Any, method: str | None,
    random_state: Any,
) -> TableBootstrap:  # fmt: skip
    """Draw counts or rows again, and say how sure the axes and the points are."""
    k = len(model.components_)
    if n_components is not None:
        if not (isinstance(n_components, (int, np.integer)) and 1 <= n_components <= k):
            raise ParameterError(f"n_components must be from 1 to {k}", received=repr(n_components))
        k = int(n_components)
    table = (_Counts if fitted_of(model).resamples == "counts" else _Answers)(model, X, sample_weight, min(k, 50))
    seed, draws = seed_of(random_state), table.empty(n_boot)
    for b in range(n_boot):
        table.draw(np.random.default_rng([seed, 37, b]), draws, b)
    p = table.neighbours()
    runs = grouped(p, table.k)
    T = aligned(draws.turned, [run for run, _ in runs])
    draws.columns = draws.columns @ T
    draws.rows = None if draws.rows is None else draws.rows @ T
    names = fitted_of(model).axis_names()
    groups = tuple(group_of(names, table.values, draws.values, draws.turned, run, more, p, level) for run, more in runs)
    u = table.influence()
    if method in (None, "studentized"):
        eigenvalues = studentized(draws.values.T, table.values, level, log_error(u, table.weights), draws.errors.T)
    else:
        eigenvalues = interval(draws.values.T.copy(), table.values, level, str(method), acceleration(u, table.weights))
    signed, ratio = signed_method(method), table.values / max(table.total, 1e-300)
    shares = draws.values / np.maximum(draws.totals, 1e-300)[:, None]
    return TableBootstrap(
        eigenvalues, interval(shares.T.copy(), ratio, level, signed), groups, level, n_boot,
        float(table.weights.sum()), tuple(group_notes(groups)), model, draws, table.points, signed,
    )  # fmt: skip


def _added(F: Floats, G: Floats, values: Floats, k: int) -> Floats:
    """What a count in each cell adds to log λ, (cells, k): 2φψ/ρ − φ² − ψ²."""
    rho = np.sqrt(np.maximum(values[:k], 1e-300))
    phi, psi = (np.nan_to_num(points[:, :k] / rho) for points in (F, G))
    u = 2 * phi[:, None] * psi[None] / rho - np.square(phi)[:, None] - np.square(psi)[None]
    return u.reshape(-1, k)


class _Counts:
    """The table of a CA; an observation is one count, in cell (i, j)."""

    def __init__(self, model: Any, X: Any, sample_weight: Any, k: int) -> None:
        self.N = counts_table(model, X, sample_weight)
        self.model, self.k = model, min(k, min(self.N.shape) - 1)
        self.V = np.asarray(model.components_, np.float64)[: self.k].T
        self.values = np.asarray(model.eigenvalues_, np.float64)[: self.k]
        self.total, self.weights = float(model.total_inertia_), self.N.ravel()
        _, self.all_values, V, F, G = self._analysed(self.N)
        flip = np.where(np.einsum("ij,ij->j", V[:, : self.k], self.V) < 0, -1.0, 1.0)
        self.points = (G[:, : self.k] * flip, F[:, : self.k] * flip)
        self.F, self.G = F, G
        self.phi, self.psi = (np.nan_to_num(P / np.sqrt(np.maximum(self.all_values, 1e-300))) for P in (F, G))

    def _analysed(self, N: Floats) -> tuple[float, Floats, Floats, Floats, Floats]:
        """Total, inertias, V, and coordinates of rows and columns; NaN where there is no count."""
        P = N / N.sum()
        r, c = P.sum(axis=1), P.sum(axis=0)
        expected = np.outer(r, c)
        A = (P - expected) / np.sqrt(np.where(expected > 0, expected, 1.0))
        U, s, Vt = np.linalg.svd(A, full_matrices=False)
        more = min(self.k + 1, len(s))
        with np.errstate(divide="ignore", invalid="ignore"):
            F = np.where(r[:, None] > 0, U[:, :more] * s[:more] / np.sqrt(r)[:, None], np.nan)
            G = np.where(c[:, None] > 0, Vt[:more].T * s[:more] / np.sqrt(c)[:, None], np.nan)
        return float(np.sum(np.square(s))), np.square(s[:more]), Vt[:more].T, F, G

    def empty(self, B: int) -> _Draws:
        """Room for the draws."""
        (rows, columns), k = self.N.shape, self.k
        return _Draws(
            np.empty((B, k)), np.empty(B), np.empty((B, k, k)), np.empty((B, k)), np.empty((B, columns, k)),
            np.empty((B, rows, k)),
        )  # fmt: skip

    def draw(self, rng: np.random.Generator, out: _Draws, b: int) -> None:
        """One table with as many counts."""
        total = round(float(self.N.sum()))
        drawn = rng.multinomial(total, (self.N / self.N.sum()).ravel()).reshape(self.N.shape).astype(np.float64)
        out.totals[b], values, V, F, G = self._analysed(drawn)
        k = self.k
        out.values[b], out.turned[b], out.columns[b] = values[:k], self.V.T @ V[:, :k], G[:, :k]
        out.rows[b] = F[:, :k]  # type: ignore[index]
        out.errors[b] = log_error(_added(F, G, values, k), drawn.ravel())

    def _entry(self, i: int, j: int) -> Floats:
        """What a count in each cell adds to entry (i, j) of the matrix of canonical correlations."""
        rho = 0.5 * (np.sqrt(self.all_values[i]) + np.sqrt(self.all_values[j]))
        both = 0.5 * (np.outer(self.phi[:, i], self.psi[:, j]) + np.outer(self.phi[:, j], self.psi[:, i]))
        own = (self.phi[:, i] * self.phi[:, j])[:, None] + (self.psi[:, i] * self.psi[:, j])[None, :]
        return np.asarray((both - 0.5 * rho * own).ravel())

    def influence(self) -> Floats:
        """(cells, k) what a count adds to log λ."""
        return _added(self.F, self.G, self.all_values, self.k)

    def neighbours(self) -> Floats:
        """p-values of equal neighbours."""
        rho = np.sqrt(self.all_values)
        pairs = range(min(len(rho) - 1, self.k, min(self.N.shape) - 2))
        return np.asarray([
            neighbour_p((self._entry(j, j), self._entry(j + 1, j + 1), self._entry(j, j + 1)),
                        float(rho[j] - rho[j + 1]), self.weights)
            for j in pairs
        ])  # fmt: skip


class _Answers:
    """The indicator of an MCA; an observation is a row."""

    def __init__(self, model: Any, X: Any, sample_weight: Any, k: int) -> None:
        if model.method != "indicator" or model.missing == "regularized":
            raise ParameterError(
                "bootstrap of an MCA draws rows of its indicator",
                received=f"method={model.method!r}, missing={model.missing!r}",
                hint="MCA(method='indicator', missing='category')",
            )
        from scipy.sparse import csr_array

        fitted = fitted_of(model)
        R, weights = fitted.present(X, sample_weight)
        self.R = csr_array(take_rows(R, np.arange(int(R.shape[0]))), dtype=np.float64)
        self.weights, self.fitted, self.J, self.k = np.asarray(weights, np.float64), fitted, fitted.questions, k
        self.V, self.values = np.asarray(model.components_, np.float64)[:k].T, np.asarray(model.eigenvalues_)[:k]
        self.total = float(model.total_inertia_)
        self.masses = fitted.result("column_masses_")
        self.points = (fitted.result("column_coordinates_")[:, :k], None)

    def empty(self, B: int) -> _Draws:
        """Room for the draws."""
        d, k = self.V.shape
        return _Draws(np.empty((B, k)), np.empty(B), np.empty((B, k, k)), np.empty((B, k)), np.empty((B, d, k)), None)

    def _scatter(self, counts: Floats) -> tuple[Floats, Floats]:
        """AᵀA and the shares of the levels, for rows that come so often; levels that nobody chose are zero."""
        N = float(counts.sum())
        p = np.asarray(self.R.T @ counts) / N
        together = self.R.T @ self.R.multiply(counts[:, None])
        M = np.asarray(together.toarray()) / N - np.outer(p, p)
        there = (p > 0) & (self.masses > 0)
        scale = np.sqrt(self.J * np.where(there, p, 1.0))
        return np.where(there, M, 0.0) * there[:, None] / scale / scale[:, None], p

    def draw(self, rng: np.random.Generator, out: _Draws, b: int) -> None:
        """Rows with replacement."""
        size = max(round(float(self.weights.sum())), 2)
        counts = rng.multinomial(size, self.weights / self.weights.sum()).astype(np.float64)
        M, p = self._scatter(counts)
        values, V = eigh(M, top=self.k)
        out.values[b], out.totals[b] = np.maximum(values[: self.k], 0.0), float(np.trace(M))
        out.turned[b] = self.V.T @ V[:, : self.k]
        with np.errstate(divide="ignore", invalid="ignore"):
            points = V[:, : self.k] * np.sqrt(out.values[b]) / np.sqrt(p / self.J)[:, None]
        out.errors[b] = log_error(self._added(V[:, : self.k], out.values[b], p), counts)
        out.columns[b] = np.where(((p > 0) & (self.masses > 0))[:, None], points, np.nan)

    @cached_property
    def _own(self) -> tuple[Floats, Floats, Floats]:
        """Inertias, scores and axes of one axis more than is asked for."""
        M, p = self._scatter(self.weights)
        values, V = eigh(M, top=min(self.k + 1, len(M)))
        scale = np.sqrt(self.J * np.where(p > 0, p, 1.0))
        return values, np.asarray(self.R @ (V / scale[:, None]) - (p / scale) @ V), V

    def _spread(self, i: int, j: int) -> Floats:
        p = np.asarray(self.R.T @ self.weights) / float(self.weights.sum())
        V = self._own[2]
        return np.asarray(self.R @ np.where(p > 0, V[:, i] * V[:, j] / np.where(p > 0, p, 1.0), 0.0))

    def _added(self, V: Floats, values: Floats, p: Floats) -> Floats:
        """What a row adds to log λ, (n, k): t²/λ − Σv²x/p."""
        shares = np.where(p > 0, p, 1.0)[:, None]
        wide = V / np.sqrt(self.J * shares)
        t = np.asarray(self.R @ wide) - p @ wide
        return np.asarray(np.square(t) / np.maximum(values, 1e-300) - self.R @ (np.square(V) / shares))

    def influence(self) -> Floats:
        """(n, k) what a row adds to log λ."""
        values, _, V = self._own
        p = np.asarray(self.R.T @ self.weights) / float(self.weights.sum())
        return self._added(V[:, : self.k], values[: self.k], p)

    def neighbours(self) -> Floats:
        """p-values of equal neighbours."""
        values, F, _ = self._own
        most, p = self.fitted.possible(len(self.weights), self.R.shape[1]) or 0, []
        for j in range(min(len(values) - 1, self.k, most - 1)):
            e = [cross(F, a, b, values, self._spread(a, b)) for a, b in ((j, j), (j + 1, j + 1), (j, j + 1))]
            p.append(neighbour_p((e[0], e[1], e[2]), float(values[j] - values[j + 1]), self.weights))
        return np.asarray(p)
