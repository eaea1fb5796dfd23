"""Reconstruction errors of several models of the same rows, in one table.

mse = ‖X − X̂‖²/(n·d),  X̂ = inverse_transform(transform(X)),        share = ‖X − X̂‖²/‖X − 1x̄ᵀ‖²
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import InputError, ParameterError
from ritz._core.tabular import Tabular
from ritz.methods.fitted import fitted_of

__all__ = ["Reconstructions", "reconstruction_errors"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Reconstructions(Tabular):
    """Errors of rows that are rebuilt from a few numbers.

    Attributes
    ----------
    names : list of the models
    components : (m,) how many numbers each rebuilds a row from
    mse : (m,) mean squared error of an entry
    share : (m,) of the squared distances of the rows from their mean
    """

    names: list[str]
    components: NDArray[np.intp]
    mse: Floats
    share: Floats

    def __repr__(self) -> str:
        width = max(len("model"), *(len(name) for name in self.names))
        lines = [f"{'model':<{width}}  components  mean squared error    share"]
        for name, k, error, share in zip(self.names, self.components, self.mse, self.share, strict=True):
            lines.append(f"{name:<{width}}  {k:>10}  {error:>18.6g}  {100 * share:>5.1f} %")
        return "\n".join(lines)

    def _table(self) -> dict[str, Any]:
        return {"model": self.names, "components": self.components, "mse": self.mse, "share": self.share}


def reconstruction_errors(
    models: Mapping[str, Any] | Sequence[Any], X: Any, *, truth: Any = None
) -> Reconstructions:  # fmt: skip
    """How well models rebuild rows from their coordinates.

    Parameters
    ----------
    models : fitted models, or a mapping of names to them
        Of the same columns, with ``inverse_transform``: PCA, KernelPCA, Autoencoder, RBM, …
    X : rows, (n, d)
    truth : rows, (n, d), optional
        What the rebuilt rows are compared with, where X is a noisy copy of it; X itself if absent.

    Examples
    --------
    >>> import ritz
    >>> from ritz import insight
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> insight.reconstruction_errors({"line": ritz.PCA(1).fit(X), "plane": ritz.PCA(2).fit(X)}, X)
    model  components  mean squared error    share
    line            1           0.0856043     7.5 %
    plane           2           0.0253411     2.2 %
    """
    given = dict(models) if isinstance(models, Mapping) else None
    if given is None:
        titles = [type(model).__name__ for model in models]
        given = {
            name if titles.count(name) == 1 else f"{name} {i + 1}": model
            for i, (name, model) in enumerate(zip(titles, models, strict=True))
        }
    if not given:
        raise ParameterError("expected a fitted model", received="none", hint="reconstruction_errors([pca], X)")
    wanted = np.asarray(X if truth is None else truth, np.float64)
    whole = float(np.sum(np.square(wanted - wanted.mean(axis=0))))
    errors, counts = [], []
    for model in given.values():
        fitted_of(model)
        back = np.asarray(model.inverse_transform(model.transform(X)), np.float64)
        if back.shape != wanted.shape:
            raise InputError(f"rebuilt rows of shape {wanted.shape}", received=f"{back.shape}",
                             hint="models of the same columns as X")  # fmt: skip
        errors.append(float(np.sum(np.square(wanted - back))))
        counts.append(int(model.n_components_))
    total = np.asarray(errors)
    return Reconstructions(list(given), np.asarray(counts), total / wanted.size, total / (whole or 1.0))
