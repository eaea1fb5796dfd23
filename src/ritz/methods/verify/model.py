"""Whether a model holds what its certificate and its data say.

    components_ = Vᵀ,   variances · (Σw − 1) = σ² = θ,   ratios = θ/total,   mean_, scale_, n_samples_ those of the data

A certificate proves things about vectors and values of its own. A file whose components were changed, checksums and
all, still carries a true certificate; rows would be placed by the components. What has no short formula (loadings,
coordinates of rows, the rows that a robust method trusts) is compared with a second fit (``second_fit.py``).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from ritz.methods.record import value_of, values_of
from ritz.methods.rest import NOTHING, SUMMED, floor_of
from ritz.methods.scaling import divisor_held, times_square
from ritz.methods.verify.certificates import copied
from ritz.methods.verify.second_fit import refitted
from ritz.spectral.verify import Verification

__all__ = ["differing", "with_held"]

#: Relative differences that rounding to the precision of the model may leave.
DOUBLE, SINGLE = 1e-9, 1e-5
#: Names that a fit may take from a difference as long as that is right to 1e-8.
LOOSE = {"explained_variance_": 2e-8, "explained_variance_ratio_": 2e-8}


def with_held(
    model: Any, checked: Verification, given: tuple[Any, Any] | None = None, *, certificate: bool = False
) -> Verification:
    """A verification that fails as well where the model holds something else than what was verified.

    ``given``: table and weights, as ``fit`` takes them, for what only a second fit can tell; ``certificate``: of a
    certificate that does not speak of a table, its bounds as well.
    """
    words = list(dict.fromkeys(differing(model, checked.anew)))
    if given is not None:
        words += refitted(model, *given, certificate=certificate)
    several = getattr(model, "certificates_", None)
    if several and not copied(model.certificate_, several[0]):
        words.append("certificate_ is not the first of certificates_")
    told = tuple(_by_name(model, word) for word in checked.words)
    if not words:
        return replace(checked, words=told)
    # Of other data than those of the fit the numbers of the data speak first, of a changed model the model's.
    return replace(checked, ok=False, words=(*words, *told) if checked.ok else (*told, *words))


def _by_name(model: Any, words: str) -> str:
    """Columns by their names, where the columns of the answer are those of the table."""
    names = getattr(model, "feature_names_in_", None)
    match = re.search(r"(?<=\bof column )\d+\b", words)
    if names is None or match is None or len(names) != np.shape(getattr(model, "components_", [[]]))[-1]:
        return words
    return f"{words[: match.start()]}{str(names[int(match[0])])!r}{words[match.end() :]}"


def differing(model: Any, anew: Any = None) -> list[str]:
    """What differs, in words; without the table read ``anew`` only from the certificate itself."""
    fitted, c = values_of(model), model.certificate_
    close = SINGLE if _narrow(model) else DOUBLE
    expected = _of_certificate(model)
    if anew is not None:
        expected |= _of_data(model, anew)
    words = [
        "the components of the model are not the vectors of its certificate"
        if name == "components_"
        else f"{name} of the model is not what its certificate and its data say"
        for name, values in expected.items()
        if fitted.get(name) is not None and not _alike(fitted[name], values, max(close, LOOSE.get(name, 0.0)))
    ]
    for what, names in (("mean", ("mean_", "_mean64", "_mean")), ("scale", ("scale_", "_scale64", "_scale"))):
        certified = c.frame.get(what) if type(model)._holds_vectors or "_mean" in fitted else None
        words += [
            f"the {what}s of the model{'' if name.startswith('_') else f' ({name})'} are not those of its certificate"
            for name in names
            if certified is not None and fitted.get(name) is not None and not _alike(fitted[name], certified, close)
        ]
    tol = fitted.get("tol", c.tol)
    if c.tol is not None and c.tol != tol and c.tol != min(tol, 1e-6):
        words.append(f"the certificate speaks of tol={c.tol:g}, the model of tol={tol:g}")
    return words


def _narrow(model: Any) -> bool:
    components = getattr(model, "components_", None)
    return getattr(components, "dtype", None) == np.float32 or value_of(model, "_dtype") == np.float32


def _of_certificate(model: Any) -> dict[str, Any]:
    """Fitted names that are functions of the certificate."""
    fitted, c = values_of(model), model.certificate_
    if not (type(model)._holds_vectors or model.fitted.space == "table"):
        return {}
    V, theta = np.asarray(c.frame["vectors"], np.float64).T, np.maximum(np.asarray(c.values, np.float64), 0.0)
    share = theta / c.total if c.total > 0 else np.zeros_like(theta)
    plain = getattr(model, "method", "indicator") == "indicator"  # MCA shows other inertias than it solves for
    shown = c.frame.get("shown", 1.0)  # where it is not 1, eigenvalues leave the range of float64
    expected: dict[str, Any] = {"singular_values_": np.sqrt(theta) * shown}
    if plain:
        expected |= {
            "components_": V, "n_components_": len(theta), "eigenvalues_": theta, "total_inertia_": c.total,
            "explained_inertia_ratio_": share, "_lambda": theta,
        }  # fmt: skip
    if "mean_" in fitted:
        divisor = divisor_held(model)
        expected |= {
            "explained_variance_": times_square(theta, shown, divisor), "explained_variance_ratio_": share,
            "total_variance_": times_square(c.total, shown, divisor),
        }  # fmt: skip
    return expected | {"total_": times_square(c.total, shown)}


def _of_data(model: Any, anew: Any) -> dict[str, Any]:
    """Fitted names that are functions of the table."""
    A, fitted = anew.A, values_of(model)
    expected: dict[str, Any] = {}
    if "support_" not in fitted:
        expected["n_samples_"] = anew.rows
    if type(model)._holds_vectors:
        expected |= {"_weight": A.weight, "n_features_in_": anew.d}
        if "total_" in fitted:  # SVD: variances of the coordinates, as TruncatedSVD
            expected |= _spread(model, A, anew)
    return expected


def _spread(model: Any, A: Any, anew: Any) -> dict[str, Any]:
    """Variances of the coordinates of an SVD, and their shares. Of sparse rows that are all alike they are zero, and
    what is seen of them is what rounding of the mean leaves.
    """
    variance = _nearer(model, A, anew.theta)
    variances = float(np.sum(A.squares)) / A.weight
    share = variance / variances if variances > 0 else np.zeros_like(variance)
    if A.given_sparse:
        shown = np.asarray(model.explained_variance_, np.float64) / A.unit / A.unit
        shares = np.asarray(model.explained_variance_ratio_, np.float64)
        noise = NOTHING * floor_of(anew.d, A.trace()) / A.weight
        if shown.shape == variance.shape == shares.shape:
            lost = (variance <= 2 * noise) & (shown <= 2 * noise)
            small = (shares == 0) | ((shares * variances <= 2 * noise) & (2 * variances > noise))
            variance, share = np.where(lost, shown, variance), np.where(lost & small, shares, share)
    return {"explained_variance_": times_square(variance, A.unit), "explained_variance_ratio_": share}


def _nearer(model: Any, A: Any, theta: Any) -> Any:
    """Variances of the coordinates of an SVD in units of unit²: of the rows along the vectors.

    A sketch tells those that its own values say, unless a difference of squares would have lost them.
    """
    V = np.asarray(model.certificate_.frame["vectors"])
    measured = A.spread_along(V)
    if model.certificate_.kind != "estimate":
        return measured
    told = np.maximum(theta / A.weight - np.square(A.mean / A.unit @ V), 0.0)
    shown = np.asarray(model.explained_variance_, np.float64) / A.unit / A.unit
    lost = np.abs(told - shown) <= SUMMED * 2.0**-53 * theta / A.weight  # a second fit tells them
    told = np.where(lost, shown, told)
    return told if np.sum(np.abs(told - shown)) < np.sum(np.abs(measured - shown)) else measured


def _alike(a: Any, b: Any, close: float) -> bool:
    a, b = (np.asarray(x, np.float64).reshape(-1) for x in (a, b))
    if a.shape != b.shape:
        return False
    with np.errstate(invalid="ignore"):
        near = np.abs(a - b) <= close * (np.abs(b) + np.max(np.abs(b), initial=0.0, where=np.isfinite(b)))
    return bool(np.all(np.where(np.isfinite(b), near, a == b)))  # what leaves the range is infinite in both
