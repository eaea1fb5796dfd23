"""From what a user writes to a kernel: a name with scikit-learn's parameters, a kernel object, a function."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from ritz._core.errors import ParameterError, UnusedParameter
from ritz._core.warn import warn
from ritz.kernels.base import Kernel
from ritz.kernels.callables import Callable, Precomputed
from ritz.kernels.distances import RBF
from ritz.kernels.laplacian import Laplacian
from ritz.kernels.matern import Matern
from ritz.kernels.rows import GAMMAS, positive_number
from ritz.kernels.vectors import Cosine, Linear, Polynomial, Sigmoid

__all__ = ["NAMES", "resolve"]

#: Names of kernels.
NAMES = ("linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "matern", "precomputed")
#: What each of them takes of gamma, degree and coef0; what is not said here takes none of them.
TAKES = {"poly": ("gamma", "degree", "coef0"), "sigmoid": ("gamma", "coef0"), "rbf": ("gamma",),
         "laplacian": ("gamma",), "matern": ("gamma",)}  # fmt: skip


def resolve(
    kernel: Any, gamma: Any = None, degree: int = 3, coef0: float = 1.0, kernel_params: dict[str, Any] | None = None
) -> Kernel:
    """The kernel that is meant.

    Parameters
    ----------
    kernel
        One of ``linear poly rbf sigmoid laplacian cosine matern precomputed``, a kernel of ``ritz.kernels``, or a
        function of two rows.
    gamma, degree, coef0
        Parameters of the named kernels; each one takes what it knows, as in scikit-learn, and a warning names what it
        does not.
    kernel_params
        Further parameters of a named kernel (``nu`` and ``length`` of ``matern``), or keywords of a function.

    Examples
    --------
    >>> from ritz import kernels
    >>> kernels.resolve("rbf", gamma=0.5)         # what KernelPCA(kernel="rbf", gamma=0.5) uses
    RBF(gamma=0.5)
    >>> kernels.resolve("matern", kernel_params={"nu": 2.5})
    Matern(nu=2.5, length=1.0)
    """
    params = dict(kernel_params or {})
    if isinstance(kernel, Kernel):
        if gamma is not None:
            raise ParameterError(
                "gamma belongs to a kernel given by its name", received=f"gamma={gamma!r} beside {kernel!r}",
                hint="put it into the kernel: kernel=ritz.kernels.RBF(gamma=…)",
            )  # fmt: skip
        _tell_unused(repr(kernel), (), gamma, degree, coef0)
        if params:
            kernel = kernel.with_params(**params)
        return kernel
    if callable(kernel):
        _tell_unused("a function", (), gamma, degree, coef0)
        return Callable(partial(kernel, **params) if params else kernel)
    if not isinstance(kernel, str) or kernel not in NAMES:
        raise ParameterError(
            f"kernel must be one of {', '.join(NAMES)}, a kernel of ritz.kernels, or a function of two rows",
            received=repr(kernel),
            hint=_near(kernel),
        )
    gamma = positive_number("gamma", gamma, GAMMAS, none=True)
    # what kernel_params gives, length in place of a gamma included, comes before gamma, degree and coef0
    takes = () if "length" in params else tuple(name for name in TAKES.get(kernel, ()) if name not in params)
    _tell_unused(f"kernel={kernel!r}", takes, gamma, degree, coef0, params)
    if kernel == "matern":
        if gamma is not None and "length" not in params:
            params["length"] = gamma if isinstance(gamma, str) else float(1 / np.sqrt(2 * gamma))
        return _made(Matern, params)
    defaults: dict[str, dict[str, Any]] = {
        "poly": {"gamma": gamma, "degree": degree, "coef0": coef0},
        "sigmoid": {"gamma": gamma, "coef0": coef0},
        "rbf": {"gamma": gamma},
        "laplacian": {"gamma": gamma},
    }
    made = {"linear": Linear, "poly": Polynomial, "rbf": RBF, "sigmoid": Sigmoid, "laplacian": Laplacian}
    made |= {"cosine": Cosine, "precomputed": Precomputed}
    return _made(made[kernel], defaults.get(kernel, {}) | params)


def _tell_unused(
    kernel: str, takes: tuple[str, ...], gamma: Any, degree: Any, coef0: Any, params: Mapping[str, Any] | None = None
) -> None:
    """Say which parameters, other than the defaults, a kernel makes nothing of."""
    given: dict[str, tuple[Any, Any]] = {"gamma": (gamma, None), "degree": (degree, 3), "coef0": (coef0, 1)}
    other = {"gamma": "kernel='rbf' has a gamma", "degree": "kernel='poly' has a degree",
             "coef0": "kernel='poly' and 'sigmoid' have a coef0"}  # fmt: skip
    for name, (value, default) in given.items():
        here = (params or {}).get(name, default)
        as_it_is = value is default or np.array_equal(value, default) or np.array_equal(value, here)
        if name not in takes and not as_it_is:
            why = f"kernel_params has {name}={params[name]!r}" if params and name in params else other[name]
            warn(f"{kernel} makes no use of {name}={value!r}; {why}", UnusedParameter)


def _made(cls: Any, params: dict[str, Any]) -> Kernel:
    fields = list(cls.__dataclass_fields__)
    for name in params:
        if name not in fields:
            raise ParameterError(
                f"parameters of {cls.__name__} are {', '.join(fields) or 'none'}",
                received=f"kernel_params {name!r}",
                hint="kernlab's sigma is gamma" if name == "sigma" and "gamma" in fields else None,
            )
    return cls(**params)


def _near(kernel: Any) -> str | None:
    from difflib import get_close_matches

    others = {"polynomial": "poly", "gaussian": "rbf", "additive_chi2": "rbf", "tanh": "sigmoid", "euclidean": "linear"}
    if not isinstance(kernel, str):
        return None
    strings = {"spectrum": "Spectrum(3)", "string": "Subsequence(3)", "subsequence": "Subsequence(3)",
               "edit": "EditDistance()", "mismatch": "Mismatch(3, 1)"}  # fmt: skip
    if kernel.lower() in strings:
        return f"kernel=ritz.kernels.{strings[kernel.lower()]}"
    near = others.get(kernel.lower()) or next(iter(get_close_matches(kernel.lower(), NAMES, 1)), None)
    return None if near is None else f"kernel={near!r}"
