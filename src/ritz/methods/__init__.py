"""One file, or one folder, for each estimator: its parameters, its problem, its named results.

``METHODS`` is the only list of methods: name of the class to the module that holds it, imported when it is asked for.
A method that is defined elsewhere joins the list when its class is made (``register``).
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["METHODS", "method_named", "names_of_methods", "register"]

METHODS: dict[str, str] = {
    "PCA": "pca",
    "SVD": "svd",
    "KernelPCA": "kernel_pca",
    "CA": "ca",
    "MCA": "mca",
    "FAMD": "famd",
    "MFA": "mfa",
    "RobustPCA": "robust_pca",
    "SparsePCA": "sparse_pca",
    "FactorAnalysis": "factor_analysis",
}
_joined: dict[str, type[Any]] = {}


def register(cls: type[Any]) -> type[Any]:
    """Add a method; a class of the same name takes the place of an earlier one, unless that is one of Ritz's own."""
    if cls.__name__ not in METHODS and getattr(cls, "about", None) is not None:
        _joined[cls.__name__] = cls
    return cls


def names_of_methods() -> list[str]:
    """Names of all classes of methods."""
    return [*METHODS, *_joined]


def method_named(name: str) -> type[Any] | None:
    """The class of a method; None where there is none of this name."""
    if name in METHODS:
        found: type[Any] = getattr(import_module(f"ritz.methods.{METHODS[name]}"), name)
        return found
    return _joined.get(name)
