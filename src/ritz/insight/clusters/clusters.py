"""Clusters of rows on their components: a tree, a number of clusters, a consolidation, a description.

    scores of the rows  →  Ward's tree  →  q clusters  →  k-means from their centres  →  what sets each apart

    q   the smallest quotient W(q)/W(q − 1) of within-cluster inertias, q from ``least`` to ``most``: the cluster that
        gained most, relative to what was left

This is FactoMineR's HCPC [HLP17, ch. 4]: the last components of a table are noise, and clusters are steadier without
them. The rule always names a number, also for one round cloud; ``chance`` says what such a cloud would give.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz._core.tabular import Tabular
from ritz._core.warn import one_call
from ritz.insight.axes.of_model import scores_of, weights_of
from ritz.insight.clusters.consolidate import consolidated
from ritz.insight.clusters.groups import Groups, describe_groups
from ritz.insight.clusters.ward import cut, partition_means, ward_tree

__all__ = ["Clusters", "clusters", "clusters_of"]

Floats = NDArray[np.float64]

#: Rows beyond which k-means gathers them to ``GATHERED`` points before the tree, as FactoMineR's ``kk`` does.
MOST_ROWS, GATHERED = 4_000, 1_000
#: Rows that clouds without clusters are drawn with, and how many clouds.
CLOUD, DRAWS = 300, 19


@dataclass(frozen=True)
class Clusters(Tabular):
    """Clusters of rows.

    Attributes
    ----------
    labels : (n,) number of the cluster of every row, from 1; clusters are ordered along the first component
    k : number of clusters
    sizes : (k,) rows in each
    centers : (k, a) mean scores
    tree : (m − 1, 4) joins of Ward's tree with their gains, as SciPy lays out trees
    gains : (m − 1,) inertia gained by each further cluster, the largest first
    quotients : number of clusters → W(q)/W(q − 1), what the rule compared
    between : share of the inertia that lies between the clusters
    paragons : by cluster, the rows nearest to its centre, the nearest first
    distant : by cluster, the rows farthest from the centres of the others
    components : number of components that the clusters are made on
    gathered : whether rows were gathered to fewer points before the tree
    """

    labels: NDArray[np.intp]
    k: int
    sizes: NDArray[np.intp]
    centers: Floats
    tree: Floats
    gains: Floats
    quotients: dict[int, float]
    between: float
    paragons: dict[int, NDArray[np.intp]]
    distant: dict[int, NDArray[np.intp]]
    components: int
    gathered: bool = False
    _scores: Any = field(default=None, repr=False)
    _weights: Any = field(default=None, repr=False)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{size:,}" for size in self.sizes.tolist())
        share = f"{100 * self.between:.1f} %"
        return f"Clusters({self.k} of {len(self.labels):,} rows: {sizes}; {share} of the inertia between)"

    def _table(self) -> dict[str, Any]:
        return {"row": range(len(self.labels)), "cluster": self.labels}

    def describe(self, variables: Any, *, alpha: float = 0.05, categorical: Any = None) -> Groups:
        """What sets the clusters apart in terms of ``variables``, as :func:`ritz.insight.describe_groups` says it."""
        return describe_groups(variables, self.labels, alpha=alpha, categorical=categorical)

    def axes(self, *, alpha: float = 0.05, names: Any = None) -> Groups:
        """The same in terms of the components."""
        heads = [f"axis {i + 1}" for i in range(self._scores.shape[1])] if names is None else list(names)
        table = dict(zip(heads, self._scores.T, strict=True))
        return describe_groups(table, self.labels[self.labels > 0], alpha=alpha)

    def chance(self, draws: int = DRAWS, seed: int = 0) -> tuple[float, Floats]:
        """The share between clusters, and what it is for clouds of the same spread without clusters, (draws,).

        Clouds are Gaussian with the variances of the scores. Both are measured on the same number of rows, at most
        300, so the first differs from ``between`` where there are more.
        """
        rng = np.random.default_rng(seed)
        F, w = self._scores, self._weights
        rows = np.sort(rng.choice(len(F), CLOUD, replace=False)) if len(F) > CLOUD else np.arange(len(F))
        spread = np.sqrt(np.maximum(np.cov(F.T, aweights=w, bias=True).reshape(F.shape[1], -1).diagonal(), 0.0))
        own = _share(F[rows], w[rows], self.k)
        clouds = [_share(rng.normal(size=(len(rows), F.shape[1])) * spread, w[rows], self.k) for _ in range(draws)]
        return own, np.array(clouds)


@one_call()
def clusters(
    model: Any, X: Any, k: int | None = None, *, least: int = 3, most: int | None = None, consolidate: bool = True,
    n_components: int | None = None, sample_weight: Any = None,
) -> Clusters:  # fmt: skip
    """Cluster rows on their components: Ward's tree, consolidated by k-means.

    Parameters
    ----------
    model : any fitted model of the library
    X : rows, as ``transform`` takes them
    k : int, optional
        Number of clusters; by default the one after which a further cluster gains least, relative to what is left.
    least, most : int
        Between which the rule looks; ``most`` is 10, or half the rows if these are fewer.
    consolidate : bool
        Move rows to nearer centres after the tree is cut.
    n_components : int, optional
        Use the first so many components only: those that are more than noise.
    sample_weight : (n,) frequencies of the rows, or None

    Returns
    -------
    Clusters

    Examples
    --------
    >>> import ritz
    >>> from ritz import insight
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris(as_frame=True).data
    >>> found = insight.clusters(ritz.PCA(2, scale=True).fit(X), X)
    >>> found.k, found.sizes.tolist()
    (3, [50, 53, 47])
    >>> found.describe(X)[1].measurements[0].variable  # what the first cluster has more of
    'sepal width (cm)'
    """
    F = np.asarray(scores_of(model, X), np.float64)
    w = weights_of(model, X, len(F), sample_weight)
    a = F.shape[1]
    if n_components is not None and not (isinstance(n_components, (int, np.integer)) and 1 <= n_components <= a):
        raise ParameterError(f"n_components must be from 1 to {a}", received=repr(n_components))
    F = F[:, : a if n_components is None else int(n_components)]
    return clusters_of(F, w, k, least=least, most=most, consolidate=consolidate)


def clusters_of(
    F: Floats, w: Floats, k: int | None = None, *, least: int = 3, most: int | None = None, consolidate: bool = True
) -> Clusters:
    """The same of scores (n, a) with weights (n,)."""
    there = (w > 0) & np.isfinite(F).all(axis=1)
    n = int(there.sum())
    if n < 3:
        raise InputError("clusters need three rows or more", received=f"{n} rows with a place")
    if k is not None and not (isinstance(k, (int, np.integer)) and not isinstance(k, bool) and 1 <= k <= n):
        raise ParameterError(f"k must be a number of clusters from 1 to {n}", received=repr(k), hint="k=3")
    if not (least > 1 and (most is None or most >= least)):
        raise ParameterError("least must be 2 or more, and most not below it", received=f"least={least}, most={most}")
    Y, v = F[there], w[there] / w[there].sum()
    gathered = n > MOST_ROWS
    points, mass, of_point = _gathered(Y, v) if gathered else (Y, v, np.arange(n))
    tree = ward_tree(points, mass)
    quotients = _quotients(tree[:, 2], least, min(10, round(n / 2)) if most is None else most)
    q = int(k) if k is not None else min(least, n)
    if k is None and quotients:
        q = min(quotients, key=lambda one: (quotients[one], one))
    labels = cut(tree, min(q, len(points)))[of_point]
    if consolidate and 1 < q < n:
        labels = consolidated(Y, v, labels, q)
    return _ordered(F, there, Y, v, labels, q, tree, quotients, gathered)


def _share(F: Floats, w: Floats, q: int) -> float:
    """Of the inertia that lies between q clusters."""
    v = w / w.sum()
    labels = consolidated(F, v, cut(ward_tree(F, v), q), q)
    return _between(F, v, labels, q)


def _between(F: Floats, v: Floats, labels: NDArray[np.intp], q: int) -> float:
    mass, centres = partition_means(F, v, labels, q)
    centre = v @ F
    total = float(v @ np.square(F - centre).sum(axis=1))
    return float(mass @ np.square(centres - centre).sum(axis=1)) / total if total > 0 else 0.0


def _gathered(Y: Floats, v: Floats) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Fewer points that stand for rows near them: centres, weights, and the point of every row."""
    from sklearn.cluster import KMeans

    of_point = np.asarray(KMeans(GATHERED, n_init=1, max_iter=10, random_state=0).fit_predict(Y, sample_weight=v))
    used, of_point = np.unique(of_point, return_inverse=True)
    mass, centres = partition_means(Y, v, of_point.astype(np.intp), len(used))
    return centres, mass, of_point.astype(np.intp)


def _quotients(gains: Floats, least: int, most: int) -> dict[int, float]:
    """W(q)/W(q − 1) for q from ``least`` to ``most``; W(q) is the inertia within q clusters."""
    within = np.concatenate([np.cumsum(gains)[::-1], [0.0]])  # within[q − 1] = W(q)
    edge = 1e-12 * within[0]
    return {
        q: float(within[q - 1] / within[q - 2]) for q in range(least, min(most, len(gains)) + 1) if within[q - 2] > edge
    }


def _ordered(
    F: Floats, there: NDArray[np.bool_], Y: Floats, v: Floats, labels: NDArray[np.intp], q: int,
    tree: Floats, quotients: dict[int, float], gathered: bool,
) -> Clusters:  # fmt: skip
    """Clusters along the first component, with their rows nearest to the centre and farthest from the others."""
    _, centres = partition_means(Y, v, labels, q)
    order = np.argsort(centres[:, 0], kind="stable")
    number = np.empty(q, np.intp)
    number[order] = np.arange(1, q + 1)
    every = np.zeros(len(F), np.intp)
    every[there] = number[labels]
    centres = centres[order]
    places = np.flatnonzero(there)
    d2 = np.stack([np.square(Y - centre).sum(axis=1) for centre in centres], axis=1)
    near, far = {}, {}
    for g in range(q):
        own = np.flatnonzero(number[labels] == g + 1)
        near[g + 1] = places[own[np.argsort(d2[own, g], kind="stable")[:5]]]
        others = np.delete(d2[own], g, axis=1)
        apart = others.min(axis=1) if q > 1 else d2[own, g]
        far[g + 1] = places[own[np.argsort(-apart, kind="stable")[:5]]]
    sizes = np.bincount(every[there], minlength=q + 1)[1:]
    return Clusters(every, q, sizes, centres, tree, tree[::-1, 2].copy(), quotients, _between(Y, v, labels, q), near,
                    far, F.shape[1], gathered, Y, v)  # fmt: skip
