"""``save``, ``load`` and ``merge``: models and their moment states in container files.

    save(model, "a.ritz");  load("a.ritz")            equal in every fitted number, certificate and state included
    merge("a.ritz", "b.ritz", model_c)                one exact model of all rows, whoever fitted the parts

``merge`` adds states along a fixed tree over the order in which they are given, so the same parts in the same order
give the same bits.
"""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ritz import __version__
from ritz._core.atomic import replacing
from ritz._core.container import pack_container, read_container
from ritz._core.errors import FileError, MergeError, ParameterError, RitzError
from ritz._core.warn import one_call
from ritz.data.tables.write import disk_errors
from ritz.methods import method_named, names_of_methods
from ritz.methods.fitted import fitted_of
from ritz.methods.record import set_values, values_of
from ritz.persist.checks import check_fitted
from ritz.persist.codec import DAMAGE, Decoder, Encoded, damaged
from ritz.persist.functions import Functions
from ritz.persist.kernel import fitted_values, functions_of, restore

__all__ = ["load", "merge", "pack", "save"]

FORMAT = 1


@one_call()
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
    with disk_errors(Path(path)), replacing(path) as file:
        pack(model, file)


def pack(model: Any, file: BinaryIO) -> None:
    """Write a fitted model to an open file."""
    name = type(model).__name__
    if method_named(name) is not type(model):
        raise ParameterError(
            f"save takes a model of {', '.join(names_of_methods())}", received=name,
            hint="ritz.save(ritz.PCA().fit(X), path)",
        )  # fmt: skip
    known = fitted_of(model)
    params, made = model.get_params(deep=False), Encoded()
    fitted = {key: value for key, value in values_of(model).items() if key not in params}
    functions: list[str] = []
    if known.stores == "kernel":
        fitted, functions = fitted_values(model), functions_of(model)
    if fitted.get("_row_labels") is not None:
        fitted["_row_labels"] = [_label(label) for label in fitted["_row_labels"]]
    header = {
        "format": FORMAT,
        "ritz": __version__,
        "estimator": name,
        "functions": functions,
        "parameters": made.value(params, "parameters"),
        "fitted": made.value(fitted, "fitted"),
    }
    pack_container(file, "model", header, made.arrays)


def _label(label: Any) -> Any:
    """A name of a row as a file can hold it: what is neither a text, a number nor a time is written as it is shown."""
    if isinstance(label, dt.date) and label != label:  # pandas' NaT
        return str(label)
    plain = label is None or isinstance(label, (str, bool, int, float, np.number, np.bool_, dt.date))
    return label if plain or (isinstance(label, tuple) and all(_label(one) is one for one in label)) else str(label)


@one_call()
def load(path: str | os.PathLike[str], *, kernel: Any = None) -> Any:
    """The model that ``save`` wrote to ``path``; the file is checked and nothing in it is executed or imported.

    Parameters
    ----------
    path : path
    kernel : function, or dict of names and functions
        For a model whose kernel is a Python function: a file holds its name only, so the function is handed in again.
    """
    header, arrays = read_container(path, "model")
    source, name = str(path), header.get("estimator")
    _known_format(header, source)
    functions = Functions(kernel, source)
    for function in _listed(header.get("functions", []), source):
        functions.function(function)  # says by name what is not handed in
    decoder, what = Decoder(arrays, source, functions.kernel), ""
    try:
        params = _dictionary(decoder.value(header.get("parameters")), source)
        if params.get("kernel", "") is None and header.get("functions"):
            params["kernel"] = functions.function(header["functions"][-1])
        model = _class(str(name))(**params)
        set_values(model, _dictionary(decoder.value(header.get("fitted")), source))
        check_fitted(model)
        if type(model).fitted.stores == "kernel":
            what = "a map that does not fit: "
            restore(model, functions)
    except FileError:
        raise
    except ParameterError as error:
        if functions.used:  # the function that was handed in is not that of the fit
            raise
        raise damaged(source, what + error.expected) from error
    except (*DAMAGE, RitzError) as error:
        raise damaged(source, what + str(error).split("\n")[0][:160]) from error
    return model


def _class(name: str) -> type[Any]:
    found = method_named(name)
    if found is None:
        raise KeyError(name)
    return found


def _known_format(header: dict[str, Any], source: str) -> None:
    form, name = header.get("format"), header.get("estimator")
    writer = f"ritz {str(header.get('ritz'))[:20]}"
    if type(form) is int and form > FORMAT:
        raise FileError(
            f"expected a model in format {FORMAT} or older at {source}",
            received=f"format {str(form)[:10]}, written by {writer}",
            hint=f"this is ritz {__version__}: install a newer release, pip install --upgrade ritz",
        )
    if form != FORMAT or not isinstance(name, str) or method_named(name) is None:
        raise FileError(
            f"expected a model of {', '.join(names_of_methods())} in format {FORMAT} at {source}",
            received=f"{str(name)[:40]} in format {str(form)[:10]}, written by {writer}",
            hint="install the release that wrote it",
        )


def _listed(names: Any, source: str) -> list[str]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise damaged(source, "functions without names")
    return names


@one_call()
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


def _dictionary(held: Any, source: str) -> dict[str, Any]:
    if not isinstance(held, dict):
        raise FileError(
            f"expected {Path(source)} to hold a model", received="a header without it", hint="save the model again"
        )
    return held
