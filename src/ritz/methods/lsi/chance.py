"""What topics of random documents reach: how many topics of a model are more than chance.

    document i of the null:   |x_i| words drawn from the words of all documents,  p_j = Σ_i c_ij / Σ c
    weights as in the fit,    σ_1 ≥ σ_2 ≥ … of the null

Words of such documents have nothing to do with each other; σ_1 is what all documents have in common, and σ_2 is where
noise begins. A topic from the second on stands above chance where its singular value exceeds the mean of σ_2 over
``DRAWS`` draws by ``SURE`` standard deviations. It is parallel analysis [Horn65] with the margins of a table of counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ritz._core.warn import unsaid
from ritz.methods.svd import SVD

__all__ = ["Chance", "chance_of"]

DRAWS, SURE = 8, 4.0
#: Documents beyond which, and words beyond which, some documents stand for all.
DOCUMENTS, WORDS = 5_000, 2_000_000
SAMPLE = 2_000
#: Topics of a sample that are computed.
TOPICS = 200


@dataclass(frozen=True)
class Chance:
    """How far chance reaches.

    Attributes
    ----------
    bound : singular value that topics of random documents do not exceed
    common : their largest one, which all documents have in common
    above : topics of the model, the first included where there is one, that exceed the bound
    documents : documents that were looked at
    sampled : whether they are some of all
    """

    bound: float
    common: float
    above: int
    documents: int
    sampled: bool


@unsaid()
def chance_of(model: Any, counts: Any, seed: int = 0) -> Chance | None:
    """Compare a model with random documents; ``counts`` (n, d) are those of its fit. None where there is too little."""
    n = counts.shape[0]
    if model.method == "ca" or min(counts.shape) < 3 or model.n_components_ < 1:
        return None
    rng = np.random.default_rng(seed)
    sampled = n > DOCUMENTS or float(counts.sum()) > WORDS
    values = np.asarray(model.singular_values_, np.float64)
    if sampled:
        counts = counts[np.sort(rng.choice(n, min(n, SAMPLE), replace=False))]
        rows = model._weighed(counts)
        values = SVD(min(TOPICS, len(values), min(rows.shape))).fit(rows).singular_values_
    lengths = np.rint(np.asarray(counts.sum(axis=1), np.float64)).astype(np.int64).ravel()
    p = np.asarray(counts.sum(axis=0), np.float64).ravel()
    if int(lengths.sum()) < 1 or np.count_nonzero(p) < 3:
        return None
    drawn = np.array([_values(model, lengths, p, rng) for _ in range(DRAWS)])
    bound = float(np.mean(drawn[:, 1]) + SURE * np.std(drawn[:, 1], ddof=1))
    beyond = int(np.count_nonzero(np.asarray(values)[1:] > bound))
    return Chance(bound, float(np.mean(drawn[:, 0])), min(1, len(values)) + beyond, counts.shape[0], sampled)


def _values(model: Any, lengths: Any, p: Any, rng: Any) -> Any:
    """The two largest singular values of one draw."""
    from ritz.methods.lsi.weighed import weighting_of

    edges = np.cumsum(p) / p.sum()
    words = np.minimum(np.searchsorted(edges, rng.random(int(lengths.sum())), side="right"), len(p) - 1)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    counts = sp.csr_array(sp.coo_array((np.ones(len(rows)), (rows, words)), shape=(len(lengths), len(p))))
    counts.sum_duplicates()
    found = SVD(2).fit(weighting_of(model).fit_transform(counts)).singular_values_
    return np.append(found, [0.0, 0.0])[:2]
