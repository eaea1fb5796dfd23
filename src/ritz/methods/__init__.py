"""One file, or one folder, for each estimator: its parameters, its problem, its named results.

``METHODS`` is the only list of methods: name of the class to the module that holds it, imported when it is asked for.
A method that is defined elsewhere joins the list when its class is made (``register``); one of an installed package is
found by its entry point, in the group ``ritz.methods``, when somebody asks for a name that is not listed.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

from ritz._core.errors import RitzWarning

__all__ = ["METHODS", "load_plugins", "method_called", "method_named", "names_of_methods", "register", "shorts"]

#: Class of each method to its module and its name on the command line, which are known without importing it.
METHODS: dict[str, tuple[str, str]] = {
    "PCA": ("pca", "pca"),
    "SVD": ("svd", "svd"),
    "KernelPCA": ("kernel_pca.kernel_pca", "kpca"),
    "CA": ("correspondence.ca.ca", "ca"),
    "MCA": ("correspondence.mca.mca", "mca"),
    "FAMD": ("correspondence.famd.famd", "famd"),
    "MFA": ("correspondence.mfa.mfa", "mfa"),
    "RobustPCA": ("robust_pca.robust_pca", "robust"),
    "SparsePCA": ("sparse_pca.sparse_pca", "sparse"),
    "LSI": ("lsi.lsi", "lsi"),
    "FactorAnalysis": ("factor_analysis.factor_analysis", "factor"),
    "MDS": ("manifold.mds", "mds"),
    "Isomap": ("manifold.isomap", "isomap"),
    "LLE": ("manifold.lle", "lle"),
    "LaplacianEigenmaps": ("manifold.laplacian", "laplacian"),
    "DiffusionMaps": ("manifold.diffusion", "diffusion"),
    "MVU": ("manifold.mvu", "mvu"),
    "TSNE": ("manifold.tsne", "tsne"),
    "HOSVD": ("tensors.hosvd", "hosvd"),
    "Tucker": ("tensors.tucker", "tucker"),
    "TensorTrain": ("tensors.tensor_train", "tt"),
    "CP": ("tensors.cp", "cp"),
    "PLS": ("two_tables.pls", "pls"),
    "CCA": ("two_tables.cca", "cca"),
    "PCR": ("two_tables.pcr", "pcr"),
    "ICA": ("ica.ica", "ica"),
    "NMF": ("nmf.nmf", "nmf"),
    "Autoencoder": ("networks.autoencoder", "autoencoder"),
    "RBM": ("networks.rbm", "rbm"),
}
_joined: dict[str, type[Any]] = {}
_plugins_loaded = False


def register(cls: type[Any]) -> type[Any]:
    """Add a method; a class of the same name takes the place of an earlier one, unless that is one of Ritz's own."""
    if cls.__name__ not in METHODS and getattr(cls, "about", None) is not None:
        _joined[cls.__name__] = cls
    return cls


def names_of_methods() -> list[str]:
    """Names of all classes of methods."""
    return [*METHODS, *_joined]


def shorts() -> tuple[str, ...]:
    """Names of all methods on the command line."""
    return (*(short for _, short in METHODS.values()), *(cls.about.short for cls in _joined.values()))


def method_named(name: str) -> type[Any] | None:
    """The class of a method; None where there is none of this name."""
    if name in METHODS:
        found: type[Any] = getattr(import_module(f"ritz.methods.{METHODS[name][0]}"), name)
        return found
    if name not in _joined:
        load_plugins()
    return _joined.get(name)


def load_plugins() -> None:
    """Bring in the methods of installed packages, once; one that cannot be loaded is named, and the others work."""
    global _plugins_loaded
    if not _plugins_loaded:
        _plugins_loaded = True
        from importlib import metadata  # takes longer to load than the rest of this file

        for entry in metadata.entry_points(group="ritz.methods"):
            try:
                register(entry.load())
            except Exception as error:  # noqa: BLE001  # whatever code of another package raises
                words = f"the method {entry.name} of another package could not be loaded ({entry.value}): {error}"
                warnings.warn(RitzWarning(f"{words}; mend or remove that package"), stacklevel=2)


def method_called(short: str) -> type[Any]:
    """The class of a method by its name on the command line."""
    own = next((name for name, (_, called) in METHODS.items() if called == short), None)
    if own is None and short not in shorts():
        load_plugins()
    found = method_named(own) if own else next((cls for cls in _joined.values() if cls.about.short == short), None)
    if found is None:
        raise KeyError(short)
    return found
