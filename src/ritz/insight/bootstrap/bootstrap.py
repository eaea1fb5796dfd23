"""How sure a decomposition is: rows drawn again, decomposed again, compared with the fit.

    rows → n_boot draws of n rows with replacement → (Λ_b, V_b) → signs, or rotation among near-equal eigenvalues
         → intervals of eigenvalues, shares, components, loadings, scores; angles of subspaces

The draws are decomposed exactly, in the smaller of the spaces of rows and columns (``draws.py``, [FCSZ16]);
alignment and near-equal eigenvalues: ``groups.py`` [MW95]; intervals: ``intervals.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ParameterError
from ritz._core.lazy import cached_property
from ritz._core.tabular import Tabular
from ritz.data.tables.frames import library_of, row_labels
from ritz.data.tables.labelled import labelled
from ritz.data.words import nearest
from ritz.insight.axes.of_model import axis_names, columns_named, rows_named
from ritz.insight.bootstrap.draws import Drawn, counts_of
from ritz.insight.bootstrap.fields import column_draws, in_blocks, row_draws
from ritz.insight.bootstrap.groups import Group, angles_between, pair_of, table_of_draws
from ritz.insight.bootstrap.intervals import METHODS, Intervals, check_level, signed_method
from ritz.insight.bootstrap.population import Fit, fitted, new_rows
from ritz.insight.bootstrap.words import shown
from ritz.insight.calls import asked
from ritz.insight.rows.ellipse import Ellipse, Ellipses
from ritz.methods.fitted import fitted_of

__all__ = ["Bootstrap", "bootstrap"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Bootstrap(Tabular):
    """What the draws say about a model.

    Attributes
    ----------
    eigenvalues, shares : Intervals, (k,) variances and their shares in the total
    components : Intervals, (k, d)
    loadings : Intervals, (d, k)
    scores : Intervals, (n, k), of the rows that were drawn from; formed when they are asked for, as the two above
    groups : components that are known by themselves, and groups of them that are known only together
    separated : (k,) True for a component that means something by itself
    angles : (k, 2) degrees between a component (or the subspace of its group) and a draw's: median, upper quantile
    subspaces : (k, 2) the same for the span of the first 1, …, k components
    level, n_boot, n : probability of the intervals, draws, rows of a draw
    notes : in words
    """

    eigenvalues: Intervals
    shares: Intervals
    groups: tuple[Group, ...]
    level: float
    n_boot: int
    n: float
    notes: tuple[str, ...]
    _fit: Fit = field(repr=False)
    _drawn: Drawn = field(repr=False)
    _T: Floats = field(repr=False)
    _method: str | None = field(repr=False, default=None)
    _names: tuple[list[Any] | None, str | None] = field(repr=False, default=(None, None))  # of the rows, and library

    @property
    def model(self) -> Any:
        """The model whose rows were drawn again."""
        return self._fit.model

    # what was drawn

    def counts(self, b: int) -> Floats:
        """(n,) how often each row is in draw ``b``."""
        return counts_of(self._drawn.sample, b)

    @property
    def draws(self) -> Floats:
        """(n_boot, k) eigenvalues of the draws."""
        return self._drawn.values

    @cached_property
    def separated(self) -> NDArray[np.bool_]:
        """(k,) whether a component means something by itself."""
        return np.concatenate([np.full(len(group.components), group.separated) for group in self.groups])

    @cached_property
    def angles(self) -> Floats:
        """(k, 2) degrees: median and upper quantile."""
        rows = [[group.angle, group.angle_high] for group in self.groups for _ in group.components]
        return np.asarray(rows)

    @cached_property
    def subspaces(self) -> Floats:
        """(k, 2) degrees of the largest angle of the first 1, …, k components: median and upper quantile."""
        angles = [angles_between(self._drawn.turned, slice(0, m + 1)) for m in range(self._drawn.k)]
        return np.quantile(np.stack(angles), [0.5, self.level], axis=1).T

    # columns and rows

    @cached_property
    def components(self) -> Intervals:
        """(k, d)."""
        return self._columns(loadings=False).map(np.transpose)

    @cached_property
    def loadings(self) -> Intervals:
        """(d, k), named as ``insight.loadings`` names them."""
        names = axis_names(self._fit.model, self._drawn.k)
        return self._columns(loadings=True).map(lambda values: columns_named(self._fit.model, values, names))

    def _columns(self, *, loadings: bool) -> Intervals:
        V = self._fit.components.T
        estimate = V * np.sqrt(self._fit.values) if loadings else V
        return self._in_blocks(column_draws(self._drawn, self._T, loadings=loadings), np.ascontiguousarray(estimate))

    def _in_blocks(self, draws: Any, estimate: Floats) -> Intervals:
        return in_blocks(draws, estimate, self.n_boot, self.level, signed_method(self._method))

    @cached_property
    def scores(self) -> Intervals:
        """(n, k)."""
        labels, library = self._names
        names = axis_names(self._fit.model, self._drawn.k)
        return self._in_blocks(row_draws(self._drawn, self._T), self._fit.scores).map(
            lambda values: labelled(values, labels, names, library, "row")
        )

    def project(self, X: Any) -> Intervals:
        """Intervals of the scores of other rows, (m, k)."""
        rows = new_rows(self._fit.model, X)
        estimate = rows @ self._fit.components.T
        names = axis_names(self._fit.model, self._drawn.k)
        return self._in_blocks(row_draws(self._drawn, self._T, rows), estimate).map(
            lambda values: rows_named(X, values, names)
        )

    def ellipses(self, rows: Any = None, *, components: tuple[int, int] = (0, 1)) -> Ellipses:
        """Confidence ellipses of rows in the plane of two components, by the names of the rows or by number.

        Parameters
        ----------
        rows : numbers of rows, or their names; None for all
        components : pair of int
            Which two components, from 0.
        """
        from scipy.stats import chi2

        chosen = np.arange(len(self._fit.scores)) if rows is None else self._numbers(rows)
        labels = self._words() or range(len(self._fit.scores))
        pair = pair_of(components, self._drawn.k)
        radius = float(np.sqrt(chi2.ppf(self.level, 2)))
        field_of, ellipses = row_draws(self._drawn, self._T), Ellipses()
        for i in chosen.tolist():
            points = field_of(np.asarray([i]))[0][pair]
            ellipses[labels[i]] = Ellipse(labels[i], self._fit.scores[i, pair], np.cov(points), radius, self.n)
        return ellipses

    def _words(self) -> list[str]:
        """Names of the rows where they are words, each its own; none otherwise: numbers are places."""
        names = self._names[0] or []
        return names if all(isinstance(name, str) for name in names) and len(set(names)) == len(names) else []

    def _numbers(self, rows: Any) -> NDArray[np.intp]:
        """Numbers of rows that are given by number or by name."""
        given = [rows] if isinstance(rows, str) else list(np.atleast_1d(np.asarray(rows, object)))
        place = {label: i for i, label in enumerate(self._words())}
        unknown = [row for row in given if isinstance(row, str) and row not in place]
        if unknown:
            raise ParameterError("rows are numbers from 0, or names of rows", received=repr(unknown[0]),
                                 hint=f"{nearest(unknown[0], list(place))!r}" if place else "rows=[0, 1]")  # fmt: skip
        return np.array([place[row] if isinstance(row, str) else int(row) for row in given], np.intp)

    # words

    def __repr__(self) -> str:
        size = f"{self.n:,.0f}" if self.n == round(self.n) else f"{self.n:,.4g}"
        head = f"{type(self._fit.model).__name__}: {self.n_boot:,} draws of {size} rows, intervals at {self.level:g}"
        return shown(head, self.groups, self.eigenvalues, self.shares, self.notes)

    def _table(self) -> dict[str, Any]:
        return table_of_draws(self, "component")


@asked
def bootstrap(
    model: Any, X: Any, n_boot: int = 1000, level: float = 0.95, *, n_components: int | None = None,
    sample_weight: Any = None, align: str = "groups", rescale: bool = True, method: str | None = None,
    counts: Any = None, memory: Any = None, random_state: Any = 0,
) -> Any:  # fmt: skip
    """Draw the rows of a fit again, and say how sure its results are.

    Parameters
    ----------
    model : fitted PCA or SVD, or CA or MCA
        CA: the counts of the table are drawn again; MCA: its rows. Both give a
        :class:`~ritz.insight.bootstrap.tables.TableBootstrap`.
    X : the rows of the fit
        In memory as float64 once; rows that lie in files are read in.
    n_boot : int
        Draws.
    level : float
        Probability of the intervals.
    n_components : int, optional
        Look at the first so many; None: those of the model, 50 at most.
    sample_weight : (n,) frequencies of the fit, or None
    align : "groups", "signs" or "rotation"
        How draws are turned to the fit: by signs, with a rotation among components of near-equal eigenvalues; by signs
        alone; or by one rotation of all components together.
    rescale : bool
        With ``scale=True``, standardise columns anew in each draw, as a refit would; False keeps the scales of the fit,
        which is much faster where there are many columns.
    method : None, "percentile", "bc", "bca", "basic" or "studentized"
        None: ``studentized`` for eigenvalues and shares, ``percentile`` for components, loadings and scores, which may
        have either sign; there ``studentized`` is ``percentile`` too, and ``bca`` is ``bc``.
    counts : (n_boot, n), optional
        How often each row is in each draw, in place of random ones.
    memory : str, int or None
        Limit on what is added to memory, as in the estimators.
    random_state : int, Generator, RandomState or None

    Examples
    --------
    >>> import ritz
    >>> from ritz import insight
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True).data.rename(columns=lambda name: name.removesuffix(" (cm)"))
    >>> pca = ritz.PCA(2, scale=True).fit(X)
    >>> sure = insight.bootstrap(pca, X, 200)
    >>> sure.shares.low.round(2), sure.shares.high.round(2)  # for other flowers
    (array([0.69, 0.2 ]), array([0.77, 0.27]))
    """
    check_level(level)
    if not (isinstance(n_boot, (int, np.integer)) and n_boot >= 2):
        raise ParameterError("n_boot must be an integer of at least 2", received=repr(n_boot), hint="n_boot=1000")
    if align not in ("groups", "signs", "rotation"):
        raise ParameterError(
            "align must be 'groups', 'signs' or 'rotation'", received=repr(align), hint="align='groups'"
        )
    if method is not None and method not in METHODS:
        raise ParameterError(f"method must be None or one of {', '.join(METHODS)}", received=repr(method),
                             hint=f"method={nearest(method, METHODS)!r}")  # fmt: skip
    if fitted_of(model).resamples in ("counts", "answers"):
        from ritz.insight.bootstrap.tables import table_bootstrap

        return table_bootstrap(model, X, int(n_boot), level, n_components, sample_weight, method, random_state)
    fit = fitted(model, X, sample_weight, n_components, rescale, counts, memory, random_state, int(n_boot))
    result = fit.draw(Bootstrap, int(n_boot), level, align, method)
    return replace(result, _names=(row_labels(X), library_of(X)))
