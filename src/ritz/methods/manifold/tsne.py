"""t-SNE: a map in which rows have the neighbours that they have; how far apart others are means little.      [MH08]

    min KL(P ‖ Q(Y)) by gradient descent from Ritz's principal components, or Laplacian eigenmaps            [KB19]

openTSNE [PSZ24] descends; neighbours, start, and the divergence and gradient that are told are Ritz's own. There is no
proof of a global minimum, nor of the nearest local one: what is known of the end is its gradient.
"""

from __future__ import annotations

import numbers
import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.bases import check_is_fitted
from ritz._core.errors import InputError, ParameterError
from ritz._core.progress import using
from ritz._core.random import gaussian_rows, seed_of
from ritz._core.warn import unsaid
from ritz.data.validate import room_for
from ritz.graphs.neighbours import Neighbours
from ritz.kernels.rows import is_sparse
from ritz.methods.fitted.about import About
from ritz.methods.manifold.divergence import EXACT, affinities, divergence
from ritz.methods.manifold.laplacian import LaplacianEigenmaps
from ritz.methods.manifold.local import Local, Part
from ritz.methods.manifold.mds import MDS
from ritz.methods.manifold.nodes import Nodes
from ritz.methods.manifold.opentsne import NEW_NEIGHBOURS, descended, gradient_by, placed_on, require_opentsne
from ritz.methods.manifold.placed import OfNeighbours
from ritz.methods.pca import PCA
from ritz.methods.posed import Posed, asked_again
from ritz.methods.verify.certificates import certificates_differ
from ritz.spectral.plan import Plan
from ritz.spectral.solution import Solution
from ritz.spectral.verify import Verification

__all__ = ["TSNE"]

Floats = NDArray[np.float64]

INITS = ("pca", "laplacian")
#: Perplexity unless said otherwise; neighbours for each unit of it; the least for which weights are defined.
PERPLEXITY, EACH, LEAST = 30.0, 3, 1.01
#: Standard deviation of the first axis of a start: small, so that it says where rows go and not how far.
START = 1e-4
#: Differences that another rounding of the affinities may leave in divergence and gradient.
CLOSE, STEEP, GRADIENT = 1e-5, 2e-2, 1e-6
#: What is said of every map.
HONEST = (
    "t-SNE has no proof: another start may end lower. Near rows are near on the map; distances between clusters and "
    "sizes of clusters mean little"
)


@dataclass(eq=False)
class Started:
    """Rows, and the estimator whose coordinates are the start."""

    rows: Any
    start: Any
    given: Any = None  # the start itself, where it is an array


class OfTSNE(OfNeighbours):
    """A map without a certificate of its own: that of its start."""

    certified = False
    without_rules = (
        "its axes have no eigenvalues, and their number is chosen to look at",
        "ritz.insight.intrinsic_dimension(X) estimates how many dimensions the rows have",
    )

    @property
    def shares(self) -> Floats:
        """Of the variance of the map itself."""
        values = np.asarray(self.model.explained_variance_, np.float64)
        return values / max(float(values.sum()), 1e-300)


class TSNE(Local):
    """t-distributed stochastic neighbour embedding, by openTSNE (``pip install 'ritz[tsne]'``).

    Parameters
    ----------
    n_components : 1, 2 or 3
        Number of axes.
    perplexity : float, optional
        How many neighbours count, softly; 30, or a third of the other rows where these are fewer than 90.
    init : "pca", "laplacian" or array (n, k)
        Where the descent starts: principal components (classical scaling of other metrics), Laplacian eigenmaps, or
        places of the rows. Of all, only the shape is taken: the first axis gets a standard deviation of 1e-4.
    early_exaggeration, early_exaggeration_iter : float, int
        Attraction in the first steps, and how many; 12 and 250 if absent.
    exaggeration : float
        Attraction in the other steps: more than 1 packs clusters more densely.
    max_iter : int
        Steps after the first ones.
    learning_rate : float, optional
        n over the exaggeration if absent.
    metric, metric_params, exact
        As for :class:`ritz.Neighbours`: ``exact=False`` searches neighbours by a graph library.
    standardize : bool
        Divide columns by their standard deviations first; new rows are divided by the same.
    tol : float
        Of the start.
    random_state, memory, device, progress
        As for :class:`ritz.PCA`. There is no random step: the seed is that of the start, and of samples of many rows.

    Attributes
    ----------
    embedding_ : (n, k) coordinates
    kl_divergence_ : KL(P ‖ Q) of the map, computed by Ritz
    gradient_norm_ : ‖∇KL‖·‖Y‖: how much KL would change, at first order, for a change of the map by its own size
    explained_variance_ : (k,) variances of the coordinates, which explain nothing of the rows
    perplexity_, n_iter_, n_neighbors_
    start_ : (n, k) the start
    certificate_ : of the start; the map itself is not certified
    search_ : what is proved about the neighbours
    X_fit_, plan_, n_components_, n_samples_, n_features_in_

    Examples
    --------
    >>> import numpy as np, ritz
    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.standard_normal((40, 5)), rng.standard_normal((40, 5)) + 6]
    >>> tsne = ritz.TSNE(2, perplexity=10).fit(X)
    >>> tsne.embedding_.shape, bool(tsne.kl_divergence_ < 1.0)
    ((80, 2), True)
    >>> ends = [tsne.embedding_[:40].mean(axis=0), tsne.embedding_[40:].mean(axis=0)]
    >>> spread = max(tsne.embedding_[:40].std(), tsne.embedding_[40:].std())
    >>> bool(np.linalg.norm(ends[0] - ends[1]) > 2 * spread)          # two clusters
    True
    """

    about: ClassVar[About] = About(
        "t-SNE", "tsne", "tSNE", measure="variance", whole="variance of the map", cites=("[MH08]", "[PSZ24]"),
        behind="the start of the map",
        paper="L. van der Maaten and G. Hinton, Visualizing data using t-SNE, Journal of Machine Learning Research 9 "
        "(2008), 2579–2605.",
    )  # fmt: skip
    fitted = OfTSNE
    _told: ClassVar[tuple[str, ...]] = ("kl_divergence_", "gradient_norm_", "X_fit_")
    solver = "auto"  # of the start

    def __init__(
        self, n_components: Any = 2, *, perplexity: float | None = None, init: Any = "pca",
        early_exaggeration: float | None = None, early_exaggeration_iter: int = 250, exaggeration: float = 1.0,
        max_iter: int = 500, learning_rate: float | None = None, metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None, exact: bool = True, standardize: bool = False, tol: float = 1e-6,
        random_state: Any = 0, memory: Any = None, device: str = "cpu", progress: Any = None,
    ) -> None:  # fmt: skip
        self.n_components, self.perplexity, self.init = n_components, perplexity, init
        self.early_exaggeration, self.early_exaggeration_iter = early_exaggeration, early_exaggeration_iter
        self.exaggeration, self.max_iter, self.learning_rate = exaggeration, max_iter, learning_rate
        self.metric, self.metric_params, self.exact, self.tol = metric, metric_params, exact, tol
        self.standardize, self.random_state, self.memory = standardize, random_state, memory
        self.device, self.progress = device, progress

    def _check_parameters(self) -> None:
        super()._check_parameters()
        k = self.n_components
        if not isinstance(k, numbers.Integral) or isinstance(k, bool) or not 1 <= int(k) <= 3:
            raise ParameterError("n_components of t-SNE must be 1, 2 or 3: it is a map to look at", received=repr(k),
                                 hint="n_components=2; ritz.Isomap and ritz.LaplacianEigenmaps take more")  # fmt: skip
        for name in ("max_iter", "early_exaggeration_iter"):
            value = getattr(self, name)
            if not isinstance(value, numbers.Integral) or isinstance(value, bool) or int(value) < 0:
                raise ParameterError(f"{name} must be a whole number ≥ 0", received=repr(value))
        for name in ("perplexity", "early_exaggeration", "exaggeration", "learning_rate"):
            value = getattr(self, name)
            number = isinstance(value, numbers.Real) and not isinstance(value, bool)
            least = 0.0 if name in ("perplexity", "learning_rate") else 1.0
            absent = value is None and name != "exaggeration"
            if not absent and not (number and least <= float(value) < np.inf and float(value) > 0):
                raise ParameterError(f"{name} must be a number {'> 0' if not least else f'≥ {least:g}'}",
                                     received=repr(value))  # fmt: skip
        if isinstance(self.init, str) and self.init not in INITS:
            raise ParameterError("init must be 'pca', 'laplacian' or an array of places", received=repr(self.init),
                                 hint="init='pca'")  # fmt: skip
        require_opentsne()

    # the problem

    def _parts(self, rows: Any) -> tuple[Nodes, list[Part]]:
        raise NotImplementedError  # the start poses a problem; t-SNE itself is none of eigenvectors

    def _coordinates(self, part: Part, solution: Solution) -> Floats:
        raise NotImplementedError

    def pose(self, rows: Any, weights: Any = None) -> Posed:
        """The problem of the start."""
        n, k = _count(rows), int(self.n_components)
        if n < 4:
            raise InputError("t-SNE needs at least 4 rows", received=f"n_samples={n}", hint="pass more rows")
        self._perplexity(n)
        if not isinstance(self.init, str):
            given = np.asarray(self.init, np.float64)
            if given.shape != (n, k) or not np.isfinite(given).all():
                raise InputError(f"a start is a finite place for each row, shape ({n}, {k})",
                                 received=f"shape {given.shape}", hint="init='pca'")  # fmt: skip
            start: Any = PCA(min(k, n - 1), solver="auto", tol=self.tol, progress=False)
            return Posed(rows=rows, kept=Started(rows, start, given))
        options = {"metric": self.metric, "metric_params": self.metric_params, "tol": self.tol}
        common = {"random_state": self.random_state, "memory": self.memory, "progress": False}
        if self.init == "laplacian":
            start = LaplacianEigenmaps(k, n_neighbors=min(10, n - 1), disconnected="join", **options, **common)
        else:
            if is_sparse(rows) and self._kind() == "precomputed":
                raise InputError("init='pca' takes all distances", received="a sparse graph, which holds some",
                                 hint="init='laplacian'")  # fmt: skip
            start = MDS(min(k, n - 1), **options, **common)
        return Posed(rows=rows, kept=Started(rows, start))

    def _perplexity(self, n: int) -> tuple[float, int]:
        """Perplexity and number of neighbours."""
        if self.perplexity is None:
            asked = max(min(PERPLEXITY, (n - 1) / EACH), LEAST)
        else:
            asked = float(self.perplexity)
            if asked < LEAST:
                raise ParameterError(f"perplexity must be a number ≥ {LEAST:g}", received=repr(self.perplexity))
            if asked > (n - 1) / EACH and asked > LEAST:
                raise ParameterError(
                    f"perplexity must be at most {(n - 1) / EACH:.4g}, a third of the other rows",
                    received=f"perplexity={self.perplexity:g} of {n:,} rows",
                    hint=f"perplexity={max((n - 1) // EACH, LEAST):g}, or leave it out",
                )
        return asked, int(min(n - 1, max(EACH * asked, 2)))

    def _plan(self, posed: Posed) -> Plan:
        n, k = _count(posed.rows), int(self.n_components)
        perplexity, near = self._perplexity(n)
        steps = int(self.max_iter) + int(self.early_exaggeration_iter)
        tree = gradient_by(n, k) == "bh"
        start = {"pca": "principal components", "laplacian": "Laplacian eigenmaps"}.get(
            self.init if isinstance(self.init, str) else "", "the places given"
        )
        reasons = (
            f"openTSNE takes {steps:,} steps from {start}",
            f"perplexity {perplexity:.4g}: {near} neighbours of each row, {'all' if self.exact else 'most'} found",
            f"{n:,} rows: repulsion by {'a tree' if tree else 'interpolation on a grid'}",
        )
        seconds = steps * n * (3e-7 * np.log2(n) if tree else 1.5e-6) + 2e-8 * n * n
        return Plan("openTSNE", "rows", "float64", 1, seconds, 60.0 * n * near, reasons)

    def _solved(self, posed: Posed, plan: Any) -> Any:
        """The start, the neighbours, the descent."""
        kept: Started = posed.kept
        began = time.perf_counter()
        with using(self.progress, type(self).__name__):
            with unsaid():
                start = kept.start.fit(kept.rows if kept.given is None else kept.given)
                Y = start.embedding_ if kept.given is None else kept.given
                perplexity, k = self._perplexity(_count(kept.rows))
                near = self._neighbours(k).fit(kept.rows)
            Y = _scaled(np.asarray(Y, np.float64), int(self.n_components))
            early = max(12.0, float(self.exaggeration)) if self.early_exaggeration is None else self.early_exaggeration
            phases = ((int(self.early_exaggeration_iter), float(early)), (int(self.max_iter), float(self.exaggeration)))
            far, where = near.kneighbors()
            rate = None if self.learning_rate is None else float(self.learning_rate)
            P, made = descended(where, far, perplexity, Y, phases, rate)
        return start, near, P, Y, made, plan.done(1, time.perf_counter() - began)

    def _neighbours(self, k: int) -> Neighbours:
        return Neighbours(
            k, metric=self.metric, metric_params=self.metric_params, exact=bool(self.exact), memory=self.memory,
            random_state=self.random_state,
        )  # fmt: skip

    # the names of what was found

    def read(self, solution: Any, posed: Posed) -> None:
        """Coordinates, divergence, gradient, and what places new rows."""
        start, near, P, Y, made, plan = solution
        n = len(made)
        found = divergence(P, made, float(self.exaggeration), seed=seed_of(self.random_state))
        self.embedding_, self.start_ = made, Y
        self.kl_divergence_, self.gradient_norm_ = found.divergence, found.gradient
        self.explained_variance_ = np.var(made, axis=0, ddof=1)
        self.perplexity_, self.n_neighbors_ = self._perplexity(n)
        self.n_iter_ = int(self.max_iter) + int(self.early_exaggeration_iter)
        self.search_, self.X_fit_ = str(near.certificate_), posed.rows
        self.n_components_, self.n_samples_, self.n_connected_components_ = made.shape[1], n, 1
        about = "" if found.error == 0 else f" ± {found.error:.1e}, from a sample of the rows"
        notes = (
            "eigenvalues are those of the start; " + HONEST,
            f"KL divergence {found.divergence:.6g}{about} after {self.n_iter_:,} steps; a change of the map by its own "
            f"size would change it by {found.gradient:.1e} at first order",
        )
        certificate = start.certificate_
        self.certificate_ = replace(certificate, notes=(*certificate.notes, *notes))
        self.plan_ = plan
        record = self._new_record()
        record.nodes, record.part, record.space = made, np.zeros(n, np.intp), near._space
        record.spectra = np.asarray(certificate.values, np.float64)[None]

    # the check

    def verify(self, X: Any, sample_weight: Any = None) -> Verification:
        """Check divergence and gradient of the map from their definition, and the certificate of the start.

        Nothing of openTSNE is used. That no lower divergence exists is not checked: nobody knows.

        Parameters
        ----------
        X : what fit took
        sample_weight : None

        Examples
        --------
        >>> import numpy as np, ritz
        >>> X = np.random.default_rng(0).standard_normal((60, 4))
        >>> model = ritz.TSNE(2, perplexity=8, max_iter=100).fit(X)
        >>> bool(model.verify(X)), bool(model.verify(X[::-1].copy()))
        (True, False)
        """
        check_is_fitted(self)
        rows, _ = self._rows(X, sample_weight, reset=False)
        if _count(rows) != len(self.embedding_):
            raise InputError(f"the {len(self.embedding_):,} rows of the fit", received=f"{_count(rows):,} rows",
                             hint="pass the rows of the fit")  # fmt: skip
        Y = np.asarray(self.embedding_, np.float64)
        perplexity, k = self._perplexity(len(Y))
        with unsaid():
            far, where = self._neighbours(k).fit(rows).kneighbors()
            begun = self._start_checked(rows)
        found = divergence(affinities(where, far, perplexity), Y, float(self.exaggeration), seed=1)
        wrong = [] if begun.ok else list(begun.words)
        allowed = CLOSE * max(1.0, abs(found.divergence)) + 5 * found.error
        if not abs(found.divergence - self.kl_divergence_) <= allowed:
            wrong.append(f"the divergence of the map is {found.divergence:.6g}, told {self.kl_divergence_:.6g}")
        loose = STEEP if len(Y) <= EXACT else 0.3
        if not abs(found.gradient - self.gradient_norm_) <= loose * found.gradient + GRADIENT:
            wrong.append(f"the gradient of the map is {found.gradient:.3g}, told {self.gradient_norm_:.3g}")
        wrong += self._agrees(rows, perplexity, k)
        said = (
            f"divergence {found.divergence:.6g} and gradient {found.gradient:.2e} from their definition; whether a "
            "lower divergence exists is not known", *begun.words,
        )  # fmt: skip
        return Verification(not wrong, begun.residuals, begun.count, begun.expected, None, tuple(wrong or said))

    def _start_checked(self, rows: Any) -> Verification:
        from ritz.methods.posed import verify_posed

        kept: Started = self._posed(rows, None).kept
        if kept.given is not None:
            return self.certificate_.verify(kept.given)
        posed = kept.start._posed(*kept.start._adopt(rows, None, None))
        if getattr(posed.kept, "pca", None) is not None:
            return self.certificate_.verify(rows)
        return verify_posed(self.certificate_, posed)

    def _started(self, rows: Any) -> list[str]:
        """What differs from the start, found once more, in words."""
        with unsaid():
            kept: Started = asked_again(self)._posed(rows, None).kept
            start = kept.start.fit(kept.rows if kept.given is None else kept.given)
            Y = start.embedding_ if kept.given is None else kept.given
        wrong = certificates_differ(self.certificate_, start.certificate_, direct=False)
        made = _scaled(np.asarray(Y, np.float64), int(self.n_components))
        close = np.shape(self.start_) == made.shape and np.allclose(self.start_, made, rtol=1e-6, atol=1e-6 * START)
        return wrong if close else [*wrong, "start_ of the model is not the start of its map"]

    def _agrees(self, rows: Any, perplexity: float, k: int) -> list[str]:
        """What the model holds that does not agree with itself."""
        held = (
            ("explained_variance_", self.explained_variance_, np.var(self.embedding_, axis=0, ddof=1)),
            ("the coordinates that new rows are placed by", self._record.nodes, self.embedding_),
            ("perplexity_", self.perplexity_, perplexity), ("n_neighbors_", self.n_neighbors_, k),
            ("n_samples_", self.n_samples_, len(self.embedding_)),
            ("n_components_", self.n_components_, np.shape(self.embedding_)[1]),
            ("n_connected_components_", self.n_connected_components_, 1),
            ("the component of each row", self._record.part, np.zeros(len(self.embedding_))),
            ("the eigenvalues of the start", self._record.spectra[0], self.certificate_.values),
        )  # fmt: skip
        wrong = [f"{name} of the model does not agree with its map" for name, a, b in held
                 if np.shape(a) != np.shape(b) or not np.allclose(a, b, rtol=1e-9)]  # fmt: skip
        wrong += self._started(rows)
        if isinstance(self.X_fit_, np.ndarray) and not np.array_equal(self.X_fit_, np.asarray(rows)):
            wrong.append("X_fit_ of the model are not the rows")
        return wrong

    # new rows

    def _place(self, rows: Any) -> Floats:
        """openTSNE's way: the map stays, each new row goes where its own divergence is small."""
        require_opentsne()
        Y, space = np.asarray(self._record.nodes, np.float64), self._space()
        k = min(len(Y), max(NEW_NEIGHBOURS, int(3 * self.perplexity_)))
        far, near = space.nearest(space.new(rows), k, False, room_for(self)).lists.arrays()
        own = far[:, 0] == 0
        out = Y[near[:, 0]]
        if not own.all():
            out[~own] = placed_on(Y, near[~own], far[~own], float(self.perplexity_))
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = False
        return tags


def _count(rows: Any) -> int:
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)


def _scaled(Y: Floats, k: int) -> Floats:
    """A start of the standard deviation ``START``; axes that are missing, or without any extent, are drawn."""
    Y = Y - Y.mean(axis=0)
    if Y.shape[1] < k:
        Y = np.column_stack([Y, np.zeros((len(Y), k - Y.shape[1]))])
    size = float(np.max(Y.std(axis=0)))
    Y = Y / size * START if size > 0 else Y
    flat = Y.std(axis=0) <= 1e-6 * START
    Y[:, flat] = gaussian_rows(0, 1 << 23, 0, len(Y), int(flat.sum())) * (1e-2 * START)
    return np.asarray(Y)
