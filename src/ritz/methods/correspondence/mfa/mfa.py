"""Multiple factor analysis: groups of columns on equal terms.

    B_g      the columns of group g under their own scale: numbers σ (or 1), categories √p, counts √f
    λ₁(g)    its first eigenvalue, from the same spectral core
    A = [B₁/√λ₁(1) | … | B_G/√λ₁(G)],    AᵀA V = V Λ,    λ₁ between 1 (groups that share nothing) and G (all the same)

No group alone can make the first axis, however many columns it has or how well they agree. Numbers make a group a PCA,
categories an MCA, both an FAMD, counts a CA (several tables: intra-table CA). [EP94; BP04 for counts]
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import InputError, MergeError, ParameterError
from ritz.data.encode import Encoder
from ritz.data.encode.openings import Opened
from ritz.data.passes.blocks import are_blocks
from ritz.data.passes.moments import Moments
from ritz.data.passes.statistics import ColumnStatistics, Statistics
from ritz.data.tables.labelled import labelled
from ritz.data.words import describe
from ritz.methods.correspondence.coded import Encoded
from ritz.methods.correspondence.encoded.encoded import EncodedTable
from ritz.methods.correspondence.encoded.filled import FilledColumns
from ritz.methods.correspondence.encoded.mixed import (
    most_axes,
    named_constant,
    own_scale,
    placed,
    variances,
    warn_integers,
)  # fmt: skip
from ritz.methods.correspondence.mca.supplementary import RESULTS, Sums
from ritz.methods.correspondence.mfa import results as named
from ritz.methods.correspondence.mfa.groups import Grouping, check_groups, resolved
from ritz.methods.correspondence.mfa.rows import Tables, without_counts, without_place
from ritz.methods.correspondence.mfa.separate import (
    Summary,
    adopt_axes,
    from_rows,
    from_state,
    lg_of_rows,
    own_axes,
    scaled_gram,
)  # fmt: skip
from ritz.methods.correspondence.mfa.table import count_weights, look, shares_taken, unshifted
from ritz.methods.correspondence.rank import GROUP_RULES, encoded_material
from ritz.methods.correspondence.record import GroupRecord
from ritz.methods.correspondence.results import Derived, Result, Rows, Side
from ritz.methods.fitted.about import INERTIA, About
from ritz.methods.fitted.base import Fitted
from ritz.methods.fitted.table import OfGroups
from ritz.methods.moments import KEEP_STATE, LARGEST_STATE
from ritz.operators.base import Operator
from ritz.project.linear import LinearMap
from ritz.rank.material import Material
from ritz.spectral.plan import Shape

__all__ = ["MFA"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

#: Numbers of partial points that are kept, and rows up to which n×n matrices give Lg without a state.
KEPT_POINTS, FEW_ROWS = 50_000_000, 4_000


class MFA(FilledColumns):
    """Multiple factor analysis with a certificate.

    Parameters
    ----------
    n_components : None, int, float or str
        All axes, a number, a fraction of the inertia in (0, 1), or a rule.
    groups : dict of name and columns
        Columns are a list of names, or a slice of names that holds both ends; places where columns have no names.
        Numbers, categories, or both.
    frequencies : list of names of groups
        Groups whose columns are counts.
    supplementary : list of names of groups
        Groups that are placed against the axes and take no part in them.
    scale : bool, or dict of group and bool
        Divide numbers by their standard deviation.
    categorical, numeric, missing, unseen, rare, exclude
        As for :class:`ritz.FAMD`.
    solver, tol, mergeable, random_state, memory, device, progress
        As for :class:`ritz.PCA`.

    Attributes
    ----------
    eigenvalues_, explained_inertia_ratio_, total_inertia_
    row_coordinates_, row_contributions_, row_cos2_, row_masses_, row_inertias_
    column_coordinates_ : correlations of numbers, barycentres of categories, principal coordinates of counts
    column_contributions_, column_cos2_, column_v_tests_, variable_coordinates_, variable_contributions_
    group_coordinates_, group_contributions_, group_cos2_, group_correlations_ : (G, k)
    group_eigenvalues_ : dict of the eigenvalues of each group's own analysis
    partial_coordinates_ : dict of (n, k), the rows as each group sees them;  inertia_ratio_ : (k,) how well they agree
    partial_axes_ : correlations of the groups' own axes with those of the whole
    lg_, rv_ : Lg and RV coefficients of groups and whole
    certificate_, plan_, n_components_, n_samples_, n_features_in_

    Examples
    --------
    >>> import pandas as pd, ritz
    >>> wines = pd.DataFrame({"region": ["Loire"] * 3 + ["Rhône"] * 3, "acid": [7.1, 6.8, 7.3, 5.2, 5.0, 5.6],
    ...     "alcohol": [11.5, 12.0, 11.8, 13.9, 14.2, 13.5], "price": [9.5, 12.0, 30.0, 11.0, 8.5, 28.0]})
    >>> mfa = ritz.MFA(2, groups={"label": ["region", "price"], "glass": ["alcohol", "acid"]}).fit(wines)
    >>> mfa.group_contributions_.round(2)         # no group may rule the first axis
           Dim1  Dim2
    label  0.49  0.99
    glass  0.51  0.01
    >>> mfa.rv_.round(2)                          # how alike the groups' pictures of the wines are
           label  glass   MFA
    label   1.00   0.71  0.94
    glass   0.71   1.00  0.90
    MFA     0.94   0.90  1.00
    """

    fitted: ClassVar[type[Fitted]] = OfGroups
    about: ClassVar[About] = About(
        "Multiple factor analysis",
        "mfa",
        takes="groups",
        pieces="categories and numbers",
        **INERTIA,
        paper="B. Escofier and J. Pagès, Multiple factor analysis, Computational Statistics & Data Analysis 18 "
        "(1994), 121–140.",
    )
    _agreeing = (
        "n_components", "groups", "frequencies", "supplementary", "scale", "categorical", "missing", "rare", "exclude",
    )  # fmt: skip
    _rules = GROUP_RULES
    _record: GroupRecord
    _records: ClassVar[type[GroupRecord]] = GroupRecord
    _sides: ClassVar[dict[str, type[Side]]] = {
        "row": Rows, "column": named.GroupedColumns, "variable": named.GroupedVariables, "group": named.Groups,
        "supplementary_group": named.SupplementaryGroups,
    }  # fmt: skip

    column_v_tests_ = Result(
        "(d, k) test values of the categories, about N(0, 1) where an axis has nothing to do with them"
    )
    variable_coordinates_ = Result(
        "(p + J, k) r² of numbers, η² of categorical variables over all levels; columns sum to λ where none is excluded"
    )
    variable_contributions_ = Result("(p + J, k) shares of the variables in each axis; columns sum to 1")
    variable_cos2_ = Result("(p + J, k) r⁴, η⁴/(categories − 1): quality in the map of variables")
    group_coordinates_ = Result("(G, k) coordinates of the active groups: Lg with each axis, between 0 and 1")
    group_contributions_ = Result("(G, k) shares of the groups in each axis; columns sum to 1")
    group_cos2_ = Result("(G, k) quality of the groups in their map")
    group_correlations_ = Result("(G, k) correlations of the partial points of a group with the axes")
    supplementary_group_coordinates_ = Result("(S, k) coordinates of the supplementary groups")
    supplementary_group_cos2_ = Result("(S, k) quality of the supplementary groups")

    def __init__(
        self, n_components: Any = None, *, groups: Any = None, frequencies: Any = (), supplementary: Any = (),
        scale: Any = True, categorical: Any = None, numeric: Any = None, missing: str = "error", unseen: str = "error",
        rare: float | None = None, exclude: Any = (), solver: str = "auto", tol: float = 1e-6,
        mergeable: bool | None = None, random_state: Any = 0, memory: Any = None, device: str = "cpu",
        progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components = n_components
        self.groups = groups
        self.frequencies = frequencies
        self.supplementary = supplementary
        self.scale = scale
        self.categorical = categorical
        self.numeric = numeric
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

    # groups

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_groups(self.groups, self.frequencies, self.supplementary, self.scale)

    @property
    def _grouping(self) -> Grouping:
        return Grouping(self._record.members, self.frequencies, self.supplementary, self.scale)

    def _group_places(self) -> dict[str, Places]:
        """Encoded columns of every active group."""
        return self._grouping.places(self._encoder)

    def _tables(self) -> Tables:
        """Tables of counts among the active groups."""
        return self._grouping.tables(self._encoder, self._record.profiles)

    @property
    def _counted(self) -> list[str]:
        return self._grouping.counted

    def _divided(self) -> set[str]:
        return self._grouping.divided

    # columns and rows

    def _compare(self, X: Any, reset: bool) -> None:
        """Columns are found by their names, so that tables may hold others too; without names by their places."""
        if not reset and isinstance(X, np.ndarray) and X.shape[1] != self.n_features_in_:
            raise InputError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                "as input",
                received=describe(X),
                hint="give the columns of the fit, in the same order",
            )

    def _open(self, X: Any, *, reset: bool) -> Opened:
        table = super()._open(X, reset=reset)
        if reset:
            self._record.members = resolved(self.groups, table.names, table.named)
        return table

    def _look_at(self, table: Opened, weights: Floats, **options: Any) -> Encoder:
        active = {column for columns in self._grouping.active.values() for column in columns}
        return look(self, table, weights, [name for name in table.names if name in active], self._counted, **options)

    def _learned(self, table: Opened, weights: Floats, **options: Any) -> Encoder:
        return warn_integers(super()._learned(table, weights, **options), self.numeric, table.names)

    def _learned_again(self, table: Opened, weights: Floats) -> Encoder:
        return unshifted(super()._learned_again(table, weights), self._counted)

    def _name_variables(self, encoder: Encoder) -> None:
        super()._name_variables(encoder)
        if not encoder.named:
            self.n_features_in_ = len(encoder.columns)

    def _weights(self, table: Opened, sample_weight: Any) -> Floats:
        weights = super()._weights(table, sample_weight)
        return count_weights(self, table, weights) if self._counted else weights

    def _finished(self, coded: EncodedTable) -> EncodedTable:
        return shares_taken(self, coded) if self._counted else coded

    def _forward(self, coded: Encoded) -> Floats:
        return without_place(super()._forward(coded), coded)

    def _coordinates(self, rows: Any) -> Floats:
        weights = np.ones(rows.shape[0])
        if self._counted:
            counts = rows[:, self._tables().all]
            weights = np.asarray(counts.sum(axis=1)).reshape(-1)
        return self._forward(self._finished(EncodedTable(rows, weights)))

    # the problem

    def _own_scale(self, column: ColumnStatistics | Moments) -> Floats:
        """Scales of the columns in the analysis of their own group."""
        scale, p = own_scale(self._encoder, column, self._divided()), self._encoder.p
        grouping = self._grouping
        for group, at in grouping.places(self._encoder).items():
            if group in self.frequencies:
                f = self._shares_of(column)[at]
                scale[at] = np.sqrt(np.where(f > 0, f, 1.0))
            elif not grouping.scales(group):
                scale[at[at < p]] = 1.0
        return scale

    def _shares_of(self, column: ColumnStatistics | Moments) -> Floats:
        """Means of the shares of counts, which rows of several tables no longer have."""
        frequencies = self._record.frequencies
        return np.asarray(column.mean if frequencies is None else frequencies)

    def _metric(self, column: ColumnStatistics | Moments) -> Floats:
        own = self._own_scale(column)
        if isinstance(column, Moments):
            self._separated(column, own)
        return own * self._record.first

    def _separated(self, state: Moments, own: Floats) -> None:
        """The groups' own analyses from a state with Σw = 1."""
        places = self._group_places()
        adopt_axes(self, {name: own_axes(from_state(self, state, own, at), name) for name, at in places.items()})

    def _weigh_groups(self, leaf: Operator, stats: Statistics, shape: Shape) -> None:
        outside = shape.outside
        if shape.d <= KEEP_STATE or self.mergeable or outside:
            if outside and shape.d > LARGEST_STATE:
                raise ParameterError(
                    f"MFA of rows outside memory takes at most {LARGEST_STATE:,} columns", received=f"{shape.d:,}",
                    hint="rare=0.01 takes rare levels together",
                )  # fmt: skip
            state = stats.moments.times(1 / stats.weight)
            self._separated(state, self._own_scale(state))
            self._record.moments = state
        else:
            own, R = self._own_scale(stats.column), leaf.X  # type: ignore[attr-defined]
            labels = self._encoder.labels
            w = np.full(shape.n, 1 / shape.n) if stats.weights is None else np.asarray(stats.weights)
            adopt_axes(self, {
                name: own_axes(from_rows(self, R[:, at], w, own[at], [labels[j] for j in at]), name)
                for name, at in self._group_places().items()
            })  # fmt: skip

    def _most(self, rows: int, d: int) -> int:
        return max(0, min(most_axes(self._encoder, rows, d), d - len(self._tables().places)))

    def _material(self, R: Any, weights: Floats | None, rows: int, d: int, weight: float) -> Material:
        owners = np.zeros(d, np.intp)
        for group, places in enumerate(self._group_places().values()):
            owners[places] = group
        return encoded_material(self, R, weights, owners, None, self._most(rows, d))

    def _keeps_state(self, d: int) -> bool:
        if len(self._tables().places) < 2:
            return super()._keeps_state(d)
        if self.mergeable:
            raise ParameterError(
                "mergeable=True needs rows that can be added up, so at most one group of frequencies",
                received=f"{len(self._tables().places)} groups of frequencies",
                hint="leave mergeable=None",
            )
        return False

    def _need_state(self, verb: str = "merge", *, wait: bool = False) -> Any:
        check_is_fitted(self)
        self._one_table(verb)
        return super()._need_state(verb, wait=wait)

    def _one_table(self, verb: str) -> None:
        if len([name for name in self.frequencies if name not in self.supplementary]) > 1:
            raise MergeError(
                f"{verb} needs rows that can be added up",
                received="several groups of frequencies, each centred by the profile of all rows",
                hint="fit all rows at once",
            )

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, check_input: bool = True) -> Any:
        """Add rows, as :meth:`ritz.FAMD.partial_fit` does; at most one group of frequencies.

        Examples
        --------
        >>> import pandas as pd, ritz
        >>> wines = pd.DataFrame({"region": ["Loire"] * 3 + ["Rhône"] * 3, "acid": [7.1, 6.8, 7.3, 5.2, 5.0, 5.6],
        ...     "alcohol": [11.5, 12.0, 11.8, 13.9, 14.2, 13.5], "price": [9.5, 12.0, 30.0, 11.0, 8.5, 28.0]})
        >>> groups = {"label": ["region", "price"], "glass": ["alcohol", "acid"]}
        >>> parts = ritz.MFA(2, groups=groups).partial_fit(wines[:4]).partial_fit(wines[4:])
        >>> parts.eigenvalues_.round(3), ritz.MFA(2, groups=groups).fit(wines).eigenvalues_.round(3)
        (array([1.948, 0.903]), array([1.948, 0.903]))
        """
        self._check_parameters()
        self._one_table("partial_fit")
        return super().partial_fit(X, y, sample_weight, check_input)

    def _combine(self, others: list[Any], verb: Any) -> Any:
        result = super()._combine(others, verb)
        if verb is Moments.subtract and self._counted:
            counted = set(self._counted)
            places = [j for j, name in enumerate(self._encoder.numeric) if name in counted]
            state = result._need_state()
            result._record.state = without_counts(state, self._need_state(), np.asarray(places, np.intp))
        return result

    # results

    def _name_columns(self, spectrum: Any, column: Any, scale: Any, weight: float, rows: int) -> None:
        constant = named_constant(self._encoder, column)
        super()._name_columns(spectrum, column, scale, weight, rows)
        record = self._record
        state, record.moments = column if isinstance(column, Moments) else record.moments, None
        if state is not None:
            summary = Summary(scaled_gram(state, scale), self._group_places(), self.components_.T)
            record.lg, record.within, record.row_norms = summary.lg, summary.within, summary.norms
        record.still, record.spread = constant, np.sqrt(variances(column))
        record.means = np.array(self._shares_of(column))

    def _name_rows(self, coded: Encoded) -> None:
        super()._name_rows(coded)
        if are_blocks(coded.rows) or not isinstance(coded, EncodedTable):
            return
        record, G = self._record, len(self._group_places())
        w = np.asarray(record.row_weights)
        if G * coded.rows.shape[0] * self.n_components_ <= KEPT_POINTS:
            points, there = self._partial_points(coded), w > 0
            record.within = np.einsum("i,igk->gk", w[there], np.square(points[there])) / G**2
            record.partial = points
        if record.lg is None and coded.rows.shape[0] <= FEW_ROWS:
            R, some = self._present(coded)
            record.lg = lg_of_rows(R, some / np.sum(some), record.mean, record.scale, self._group_places())
        if self.supplementary:
            from ritz.methods.correspondence.mfa.supplementary import keep_beside

            keep_beside(self, coded)

    def _partial_points(self, coded: Encoded) -> Floats:
        """(n, G, k)."""
        places, k, d = self._group_places(), self.n_components_, self._encoder.d
        parted = np.zeros((len(places), k, d))
        for g, at in enumerate(places.values()):
            parted[g][:, at] = len(places) * self.components_[:, at]
        step = LinearMap(parted.reshape(-1, d), self._record.mean, self._record.scale, None)
        points = step.forward(coded.rows, np.float64).reshape(coded.rows.shape[0], len(places), k)
        return without_place(points, coded)

    @Derived
    def inertia_ratio_(self) -> Floats:
        """(k,) inertia between rows over that of all partial points: 1 where the groups agree on the axis."""
        return named.inertia_ratio(self)

    @Derived
    def lg_(self) -> Any:
        """Lg of all groups, active ones first, and of the whole (``MFA``)."""
        return named.lg_table(self)

    @Derived
    def rv_(self) -> Any:
        """RV coefficients of all groups and of the whole: 1 for configurations of the same shape."""
        return named.rv_table(self)

    @Derived
    def partial_coordinates_(self) -> dict[str, Any]:
        """Coordinates of the rows as each group alone sees them, a table (n, k) a group."""
        return named.partial_coordinates(self)

    @Derived
    def group_eigenvalues_(self) -> dict[str, Floats]:
        """Eigenvalues of each group's own analysis: PCA, MCA, FAMD or, for counts, CA."""
        return named.group_eigenvalues(self)

    @Derived
    def partial_axes_(self) -> Any:
        """Correlations of the axes of every group's own analysis with those of the whole."""
        return named.partial_axes(self)

    def partial_transform(self, X: Any) -> dict[str, Any]:
        """Coordinates of rows as each group alone sees them, a table (n, k) a group; their mean is ``transform``.

        Examples
        --------
        >>> import pandas as pd, ritz
        >>> wines = pd.DataFrame({"region": ["Loire"] * 3 + ["Rhône"] * 3, "acid": [7.1, 6.8, 7.3, 5.2, 5.0, 5.6],
        ...     "alcohol": [11.5, 12.0, 11.8, 13.9, 14.2, 13.5], "price": [9.5, 12.0, 30.0, 11.0, 8.5, 28.0]})
        >>> mfa = ritz.MFA(1, groups={"label": ["region", "price"], "glass": ["alcohol", "acid"]}).fit(wines)
        >>> seen = mfa.partial_transform(wines)
        >>> bool((abs((seen["label"] + seen["glass"]) / 2 - mfa.transform(wines)) < 1e-12).all(axis=None))
        True
        """
        coded = self._new(X)
        points, names = self._partial_points(coded), self._axis_names()
        return {
            name: labelled(points[:, g], coded.labels, names, coded.library, "row")
            for g, name in enumerate(self._group_places())
        }

    def supplementary_columns(self, X: Any = None, result: str = "coordinates", **options: Any) -> Any:
        """Columns that took no part in the fit: those of the supplementary groups, or other ones for the same rows.

        Parameters
        ----------
        X : None, or frame, Table or array of shape (n, m)
            None: the columns of the supplementary groups. Otherwise as for :class:`ritz.FAMD`.
        result : "coordinates", "cos2", "v_tests" or "eta2"
            As for :class:`ritz.FAMD`.
        **options
            With ``X``: ``categorical``, ``rows`` and ``sample_weight`` of ``FAMD.supplementary_columns``.

        Examples
        --------
        >>> import pandas as pd, ritz
        >>> wines = pd.DataFrame({"region": ["Loire"] * 3 + ["Rhône"] * 3, "acid": [7.1, 6.8, 7.3, 5.2, 5.0, 5.6],
        ...     "alcohol": [11.5, 12.0, 11.8, 13.9, 14.2, 13.5], "price": [9.5, 12.0, 30.0, 11.0, 8.5, 28.0]})
        >>> mfa = ritz.MFA(2, groups={"origin": ["region"], "glass": ["alcohol", "acid"], "price": ["price"]},
        ...                supplementary=["price"]).fit(wines)
        >>> mfa.supplementary_columns().round(2)      # the price has little to do with what the wine is
               Dim1  Dim2
        price -0.15  0.69
        """
        if X is not None:
            return super().supplementary_columns(X, result, **options)
        check_is_fitted(self)
        if result not in RESULTS:
            raise ParameterError(f"result must be one of {', '.join(map(repr, RESULTS))}", received=repr(result))
        return named.supplementary_results(self, result)

    def _placed(self, sums: Sums, result: str, rows: Any) -> tuple[Floats, list[str]]:
        return placed(self, sums, result, rows)

    def _rebuilt(self, X: Any) -> Floats:
        R = super()._rebuilt(X)
        if self._record.profiles is not None:
            at = self._tables().all
            R[:, at] += np.asarray(self._record.frequencies)[at]
        return R
