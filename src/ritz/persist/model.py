"""``save``, ``load`` and ``merge``: models and their moment states in container files.

    save(model, "a.ritz");  load("a.ritz")            equal in every fitted number, certificate and state included
    merge("a.ritz", "b.ritz", model_c)                one exact model of all rows, whoever fitted the parts

``merge`` adds states along a fixed tree over the order in which they are given, so the same parts in the same order
give the same bits.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ritz import __version__
from ritz._core.atomic import replacing
from ritz._core.container import pack_container, read_container
from ritz._core.errors import FileError, MergeError, ParameterError
from ritz.methods.ca import CA
from ritz.methods.factor_analysis import FactorAnalysis
from ritz.methods.famd import FAMD
from ritz.methods.kernel_pca import KernelPCA
from ritz.methods.mca import MCA
from ritz.methods.mfa import MFA
from ritz.methods.pca import PCA
from ritz.methods.robust_pca import RobustPCA
from ritz.methods.sparse_pca import SparsePCA
from ritz.methods.svd import SVD
from ritz.persist.codec import decode, encode
from ritz.persist.kernel import fitted_values, restore

__all__ = ["load", "merge", "pack", "save"]

ESTIMATORS: dict[str, type[Any]] = {
    cls.__name__: cls for cls in (PCA, SVD, KernelPCA, CA, MCA, FAMD, MFA, RobustPCA, SparsePCA, FactorAnalysis)
}
FORMAT = 1


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to ``path``, whole or not at all.

    Parameters
    ----------
    model : fitted model
        With its certificate, its plan and, where it is kept, its mergeable state; a KernelPCA with the rows it compares
        new ones with.
    path : path
        By custom it ends in ``.ritz``.
    """
    with replacing(path) as file:
        pack(model, file)


def pack(model: Any, file: BinaryIO) -> None:
    """Write a fitted model to an open file."""
    name = type(model).__name__
    if ESTIMATORS.get(name) is not type(model):
        raise ParameterError(
            f"save takes a model of {', '.join(ESTIMATORS)}", received=name, hint="ritz.save(ritz.PCA().fit(X), path)"
        )
    check_is_fitted(model)
    arrays: dict[str, np.ndarray] = {}
    params = model.get_params(deep=False)
    if isinstance(model, KernelPCA):
        fitted = fitted_values(model)
    else:
        fitted = {key: value for key, value in vars(model).items() if key not in params}
    header = {
        "format": FORMAT,
        "ritz": __version__,
        "estimator": name,
        "parameters": encode(params, arrays, "parameters"),
        "fitted": encode(fitted, arrays, "fitted"),
    }
    pack_container(file, "model", header, arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """The model that ``save`` wrote to ``path``; the file is checked and nothing in it is executed."""
    header, arrays = read_container(path, "model")
    source, name, form = str(path), header.get("estimator"), header.get("format")
    if form != FORMAT or name not in ESTIMATORS:
        raise FileError(
            f"expected a model of {', '.join(ESTIMATORS)} in format {FORMAT} at {source}",
            received=f"{str(name)[:40]} in format {str(form)[:10]}, written by ritz {str(header.get('ritz'))[:20]}",
            hint="install the release that wrote it",
        )
    model = ESTIMATORS[name](**_dictionary(header.get("parameters"), arrays, source))
    vars(model).update(_dictionary(header.get("fitted"), arrays, source))
    if isinstance(model, KernelPCA):
        _restored(model, source)
    return model


def _restored(model: KernelPCA, source: str) -> None:
    try:
        restore(model)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FileError(
            f"expected {Path(source)} to hold a model", received=f"a map that does not fit: {error}",
            hint="save the model again",
        ) from error  # fmt: skip


def merge(*models: Any) -> Any:
    """One model of the rows of all ``models``, exactly.

    Parameters
    ----------
    *models : fitted models, or paths of saved ones
        Fitted with the same parameters on the same columns, each with its mergeable state.
    """
    if not models:
        raise MergeError("merge takes one or more models", received="none", hint="ritz.merge('a.ritz', 'b.ritz')")
    parts = [load(model) if isinstance(model, (str, os.PathLike)) else model for model in models]
    strange = next((part for part in parts if not hasattr(part, "merge")), None)
    if strange is not None:
        raise MergeError(
            "merge takes models that can be merged, or the paths of their files",
            received=type(strange).__name__,
            hint="fit each part with ritz.PCA",
        )
    while len(parts) > 1:  # a fixed tree: neighbours first
        parts = [parts[i].merge(parts[i + 1]) if i + 1 < len(parts) else parts[i] for i in range(0, len(parts), 2)]
    return parts[0]


def _dictionary(value: Any, arrays: dict[str, np.ndarray], source: str) -> dict[str, Any]:
    held = decode(value, arrays, source)
    if not isinstance(held, dict):
        raise FileError(
            f"expected {Path(source)} to hold a model", received="a header without it", hint="save the model again"
        )
    return held
