"""Multiple correspondence analysis: tables of categories.

    Z the indicator (n×K) of J variables,  p = Z̄ the shares,  A = D_w^½ (Z − 1pᵀ) D_s⁻¹,  s = √(Jp)

    AᵀA V = V Λ,   Σλ = K/J − 1,   rows F = (Z − 1pᵀ) D_s⁻¹ V = Z Γ/J,   categories G = Γ D,   Γ = D_c^-½ V,  c = p/J

    indicator   λ                                    D = Λ^½          total K/J − 1
    burt        λ²                                   D = Λ            total Σλ², the inertia of the Burt table ZᵀZ
    adjusted    (J/(J−1))² (λ − 1/J)²,  λ > 1/J      D their roots    total: what pairs of variables hold [Greenacre17]

Rows are the same in all three: the mean of the standard points Γ of their answers. [LR10] for specific MCA.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import InputError, MergeError, ParameterError
from ritz.data.passes.moments import Moments
from ritz.data.passes.statistics import ColumnStatistics
from ritz.data.words import nearest
from ritz.methods.correspondence.encoded.encoded import (
    EncodedColumns,
    EncodedTable,
    constant_variables,
    warn_constant,
)  # fmt: skip
from ritz.methods.correspondence.encoded.rebuilt import decoded, probabilities
from ritz.methods.correspondence.mca.categories import Categories, above, adjusted, correction, eta2
from ritz.methods.correspondence.rank import ENCODED_RULES, encoded_material, variable_blocks
from ritz.methods.correspondence.record import AnswerRecord
from ritz.methods.correspondence.results import Derived, Result, Rows, Side
from ritz.methods.fitted.about import INERTIA, About
from ritz.methods.fitted.base import Fitted
from ritz.methods.fitted.table import OfAnswers
from ritz.methods.moments import LARGEST_STATE
from ritz.rank.material import Material

__all__ = ["MCA"]

Floats = NDArray[np.float64]

METHODS = ("indicator", "burt", "adjusted")
#: What a certificate says of inertias that are made from those of the indicator.
CERTIFIED = {
    "burt": "values and bounds are of the indicator's inertias λ; eigenvalues_ are λ²",
    "adjusted": "values and bounds are of the indicator's inertias λ; eigenvalues_ are (J/(J−1))² (λ − 1/J)², λ > 1/J",
}


class MCA(EncodedColumns):
    """Multiple correspondence analysis with a certificate.

    Parameters
    ----------
    n_components : None, int, float or str
        All axes, a number, a fraction of the indicator's inertia in (0, 1), or a rule.
    method : "indicator", "burt" or "adjusted"
        Which inertias, and which coordinates of the categories: those of the indicator, of the Burt table, or adjusted
        so that a variable's table with itself does not count.
    categorical : None, "all" or list of names
        Columns that are categories although they hold numbers. A column of numbers that is not named is an error.
    missing : "error", "category", "exclude" or "regularized"
        Missing answers: refuse them, count them as a level of their own, give them no column (specific MCA), or fill
        them in by regularised iterative MCA, which needs a number of components.
    unseen : "error", "ignore", "missing" or "supplementary"
        Levels that the fit has not seen, in ``transform``: refuse them, let them contribute nothing, count them as
        missing answers, or place the row by its other answers alone.
    rare : None or share
        Levels of a smaller share become one level ``(other)`` of their variable.
    exclude : list of "variable=level"
        Levels that take no part in the axes: specific MCA.
    solver, tol, mergeable, random_state, memory, device, progress
        As for :class:`ritz.PCA`.

    Attributes
    ----------
    eigenvalues_, explained_inertia_ratio_ : (k,) principal inertias and their shares; explained_variance_ratio_ too
    total_inertia_ : K/J − 1 for the indicator
    benzecri_, greenacre_ : corrected inertias, per cent and cumulative per cent of the axes above 1/J
    row_coordinates_, column_coordinates_ : (n, k), (K, k) principal coordinates; a column is a category
    row_standard_coordinates_, column_standard_coordinates_ : the same with weighted variance 1
    row_contributions_, column_contributions_ : shares that sum to 1 on an axis
    row_cos2_, column_cos2_ : quality of each point on each axis
    column_v_tests_ : (K, k) how many standard deviations a category lies from the centre
    components_ : (k, K) right singular vectors, the axes in the metric of the categories
    eta2_ : (J, k) share of an axis that a variable explains, by all of its levels
    row_masses_, column_masses_, row_inertias_, column_inertias_
    certificate_ : of the inertias λ of the indicator, whatever the method
    column_names_, pooled_ : names of the categories; those that ``rare`` made one, by variable
    plan_, n_components_, n_samples_, n_features_in_

    Examples
    --------
    >>> import pandas as pd, ritz
    >>> rows = "home bag yes,home bag no,shop leaf no,shop leaf no,home bag yes,work bag yes,work bag no"
    >>> tea = pd.DataFrame([row.split() for row in rows.split(",")], columns=["where", "kind", "sugar"])
    >>> mca = ritz.MCA(2).fit(tea)
    >>> mca.eigenvalues_.round(3), round(mca.total_inertia_, 3)  # 7 categories / 3 questions − 1
    (array([0.808, 0.343]), 1.333)
    >>> mca.explained_inertia_ratio_.round(2), mca.benzecri_.percent.round().to_list()  # the shares are too modest
    (array([0.61, 0.26]), [100.0, 0.0])
    >>> mca.eta2_.round(2)["Dim1"].to_dict()      # what each question has to do with the first axis
    {'where': 0.94, 'kind': 0.93, 'sugar': 0.56}
    """

    fitted: ClassVar[type[Fitted]] = OfAnswers
    about: ClassVar[About] = About(
        "Multiple correspondence analysis",
        "mca",
        takes="categories",
        pieces="categories",
        **INERTIA,
        paper="M. Greenacre and J. Blasius (eds.), Multiple Correspondence Analysis and Related Methods, "
        "Chapman & Hall/CRC, 2006.",
    )
    _agreeing = ("n_components", "method", "categorical", "missing", "rare", "exclude")
    _rules = ENCODED_RULES
    _numbers = False
    _missing_ways: ClassVar[tuple[str, ...]] = ("error", "category", "exclude", "regularized")

    _record: AnswerRecord
    _records: ClassVar[type[AnswerRecord]] = AnswerRecord
    _sides: ClassVar[dict[str, type[Side]]] = {"row": Rows, "column": Categories}

    column_v_tests_ = Result("(K, k) how many standard deviations a category lies from the centre")

    def __init__(
        self, n_components: Any = None, *, method: str = "indicator", categorical: Any = None, missing: str = "error",
        unseen: str = "error", rare: float | None = None, exclude: Any = (), solver: str = "auto", tol: float = 1e-6,
        mergeable: bool | None = None, random_state: Any = 0, memory: Any = None, device: str = "cpu",
        progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components = n_components
        self.method = method
        self.categorical = categorical
        self.missing = missing
        self.unseen = unseen
        self.rare = rare
        self.exclude = exclude
        self.solver = solver
        self.tol = tol
        self.mergeable = mergeable
        self.random_state = random_state
        self.memory = memory
        self.device = device
        self.progress = progress

    # the problem

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.method not in METHODS:
            raise ParameterError(
                f"method must be one of {', '.join(map(repr, METHODS))}", received=repr(self.method),
                hint=f"method={nearest(self.method, METHODS)!r}",
            )  # fmt: skip
        if self.missing == "regularized" and (
            isinstance(self.n_components, bool) or not isinstance(self.n_components, (int, np.integer))
        ):
            raise ParameterError(
                "missing='regularized' needs the number of axes that missing answers are filled in by",
                received=f"n_components={self.n_components!r}",
                hint="n_components=2; compare a few by how well held-out answers come back",
            )

    def _metric(self, column: ColumnStatistics | Moments) -> Floats:
        return np.sqrt(self._J * np.maximum(column.mean, np.finfo(np.float64).tiny))

    @property
    def _J(self) -> int:
        """Number of variables that are not constant."""
        return max(1, int(np.sum(~constant_variables(self._encoder))))

    def _most(self, rows: int, d: int) -> int:
        """A variable all of whose levels have a column brings one less than those: they sum to 1."""
        active, weight = self._encoder.active, self._encoder.weight
        answered = np.bincount(active.owners, active.counts, self._encoder.vocabulary.J)
        filled = self.missing == "regularized" and not self.exclude
        complete = np.count_nonzero((answered > weight * (1 - 1e-12)) | (filled & (answered > 0)))
        return max(0, min(rows - 1, len(active.labels) - int(complete)))

    def _material(self, R: Any, weights: Floats | None, rows: int, d: int, weight: float) -> Material:
        encoder = self._encoder
        owners, factor = encoder.active.owners, 1.0 / self._J
        return encoded_material(self, R, weights, owners, variable_blocks(encoder), self._most(rows, d), factor)

    def _keeps_state(self, d: int) -> bool:
        if self.missing == "regularized":
            return False
        if self.method == "indicator":
            return super()._keeps_state(d)
        if d > LARGEST_STATE:
            raise ParameterError(
                f"method={self.method!r} needs the Burt table, of at most {LARGEST_STATE:,} levels",
                received=f"{d:,}",
                hint="method='indicator', or rare=0.01 to take rare levels together",
            )
        return True

    def _encode(self, X: Any, sample_weight: Any, *, reset: bool) -> EncodedTable:
        coded = super()._encode(X, sample_weight, reset=reset)
        if reset and self.missing == "regularized":
            from ritz.methods.correspondence.mca.regularized import filled_in

            encoder, coded.rows, note = filled_in(self._encoder, coded, int(self.n_components))
            self._record.columns, self._record.note = encoder, note
        return coded

    # results

    def _name_columns(self, *results: Any) -> None:
        super()._name_columns(*results)
        values, J, record = self.eigenvalues_, self._J, self._record
        still = constant_variables(self._encoder).tolist()
        warn_constant([name for name, one in zip(self._encoder.vocabulary.names, still, strict=True) if one])
        state = self._unit_state(results[1])
        pairs = None if state is None else pair_inertias(state, record.scale, self._encoder.active.owners)
        record.inertias, record.pairs = values, pairs
        if record.note is not None:
            self.certificate_ = replace(self.certificate_, notes=(*self.certificate_.notes, record.note))
            record.note = None
        if self.method == "indicator" or pairs is None:
            return
        if self.method == "burt":
            shown, self.total_inertia_ = np.square(values), float(np.sum(pairs[0]))
        else:
            kept = self._adjustable(values)
            self.components_, record.inertias = self.components_[kept], values[kept]
            shown, self.total_inertia_ = adjusted(values[kept], J), float(np.sum(pairs[1])) * J / (J - 1)
            self.n_components_ = len(shown)
        self.eigenvalues_, self.explained_inertia_ratio_ = shown, shown / self.total_inertia_
        self.certificate_ = replace(self.certificate_, notes=(*self.certificate_.notes, CERTIFIED[self.method]))

    def _adjustable(self, values: Floats) -> NDArray[np.bool_]:
        """Which axes have an adjusted inertia; a table without any is refused."""
        J = self._J
        if J < 2:
            raise InputError(
                "method='adjusted' needs two variables or more: it counts what they have in common",
                received=f"{J}",
                hint="method='indicator' gives the axes of one",
            )
        kept = above(values, J)
        if not bool(kept.any()):
            raise InputError(
                "method='adjusted' needs an axis whose inertia exceeds that of a single variable, 1/J",
                received=f"{float(values[0]):.4g} at most, with 1/J = {1 / J:.4g}",
                hint="the variables hardly depend on each other; method='indicator' gives their axes",
            )
        return kept

    def _unit_state(self, column: ColumnStatistics | Moments) -> Moments | None:
        """Moments of the active columns with Σw = 1, where they are kept."""
        if isinstance(column, Moments):
            return column
        state = self._record.state
        return None if state is None else self._solvable(state).times(1 / state.weight)

    @Derived
    def eta2_(self) -> Any:
        """(J, k) correlation ratios: the share of an axis' variance that lies between the levels of a variable.

        All levels count, excluded ones too. A missing answer without a column is no level: its rows count in the
        variance of the axis only.
        """
        return eta2(self)

    @Derived
    def benzecri_(self) -> Any:
        """Benzécri's corrected inertias of the axes above 1/J; per cent of their sum."""
        return correction(self, by_pairs=False)

    @Derived
    def greenacre_(self) -> Any:
        """The same inertias; per cent of the inertia that pairs of different variables hold [Greenacre17]."""
        return correction(self, by_pairs=True)

    # what a row would say

    def inverse_transform(self, X: Any) -> Floats:
        """Shares of the levels from coordinates, (n, K), p + F Vᵀ D_s: with all axes, the indicator itself.

        The levels of a variable sum to 1 where all of them are in use; single ones may leave [0, 1] a little.

        Parameters
        ----------
        X : array-like of shape (n, k)
            Coordinates as ``transform`` gives them.

        Examples
        --------
        >>> import pandas as pd, ritz
        >>> rows = "home bag yes,home bag no,shop leaf no,shop leaf no,home bag yes,work bag yes,work bag no"
        >>> tea = pd.DataFrame([row.split() for row in rows.split(",")], columns=["where", "kind", "sugar"])
        >>> mca = ritz.MCA().fit(tea)
        >>> shares = mca.inverse_transform(mca.transform(tea[:1])).round(2)
        >>> [str(name) for name, share in zip(mca.column_names_, shares[0]) if share == 1]
        ['where=home', 'kind=bag', 'sugar=yes']
        """
        return self._rebuilt(X)

    def probabilities(self, X: Any) -> Any:
        """The same shares, none below zero, (n, K).

        Examples
        --------
        >>> import pandas as pd, ritz
        >>> rows = "home bag yes,home bag no,shop leaf no,shop leaf no,home bag yes,work bag yes,work bag no"
        >>> tea = pd.DataFrame([row.split() for row in rows.split(",")], columns=["where", "kind", "sugar"])
        >>> mca = ritz.MCA(1).fit(tea)                # one axis alone
        >>> likely = mca.probabilities(mca.transform(tea[2:3]))
        >>> likely.iloc[0].filter(like="kind").round(2).to_dict()
        {'kind=bag': 0.05, 'kind=leaf': 0.95}
        """
        return probabilities(self, self._rebuilt(X))

    def categories(self, X: Any) -> Any:
        """The most probable of the levels in use of every variable, (n, J), from coordinates; None: missing.

        Examples
        --------
        >>> import pandas as pd, ritz
        >>> rows = "home bag yes,home bag no,shop leaf no,shop leaf no,home bag yes,work bag yes,work bag no"
        >>> tea = pd.DataFrame([row.split() for row in rows.split(",")], columns=["where", "kind", "sugar"])
        >>> mca = ritz.MCA(2).fit(tea)
        >>> mca.categories(mca.transform(tea[:1]))    # what the first two axes remember of a row
          where kind sugar
        0  home  bag   yes
        """
        return decoded(self, self._rebuilt(X))

    def impute(self, X: Any) -> Any:
        """The table with missing answers filled in by the most probable levels, for ``missing="regularized"``.

        Parameters
        ----------
        X : frame, Table in memory, or array-like with the columns of the fit

        Examples
        --------
        >>> import pandas as pd, ritz
        >>> rows = "home bag yes,home bag no,shop leaf no,shop leaf no,home bag yes,work bag yes,work bag no"
        >>> tea = pd.DataFrame([row.split() for row in rows.split(",")], columns=["where", "kind", "sugar"])
        >>> tea.loc[3, "kind"] = None                 # in a shop, without sugar
        >>> mca = ritz.MCA(1, missing="regularized").fit(tea)
        >>> mca.impute(tea).loc[3, "kind"]
        'leaf'
        """
        check_is_fitted(self)
        from ritz.methods.correspondence.mca.regularized import imputed

        return imputed(self, X)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Add rows; nothing is solved until a fitted name is read. The result does not depend on how rows are cut.

        Levels may appear in any part; ``missing="regularized"`` needs all rows at once.

        Examples
        --------
        >>> import pandas as pd, ritz
        >>> rows = "home bag yes,home bag no,shop leaf no,shop leaf no,home bag yes,work bag yes,work bag no"
        >>> tea = pd.DataFrame([row.split() for row in rows.split(",")], columns=["where", "kind", "sugar"])
        >>> mca = ritz.MCA(2).partial_fit(tea[:3]).partial_fit(tea[3:])  # "work" is new in the second part
        >>> mca.eigenvalues_.round(3)
        array([0.808, 0.343])
        >>> ritz.MCA(2).fit(tea).eigenvalues_.round(3)
        array([0.808, 0.343])
        """
        self._addable("partial_fit")
        return super().partial_fit(X, y, sample_weight, check_input)

    def _need_state(self, verb: str = "merge", *, wait: bool = False) -> Any:
        self._addable(verb)
        return super()._need_state(verb, wait=wait)

    def _addable(self, verb: str) -> None:
        if self.missing == "regularized":
            raise MergeError(
                f"{verb} needs rows that can be added up",
                received="missing='regularized', which fills in answers by axes of all rows",
                hint="missing='category' or 'exclude'",
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        return tags


def pair_inertias(state: Moments, scale: Floats, owners: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Inertias of the columns of the Burt table, (K,): of all of it, and without a variable's table with itself.

    ``state``: moments of the active columns with Σw = 1.
    """
    M = state.scatter * (state.unit**2 / state.weight) / np.outer(scale, scale)
    np.square(M, out=M)
    burt = M.sum(axis=0)
    M[owners[:, None] == owners[None, :]] = 0.0
    return burt, M.sum(axis=0)
