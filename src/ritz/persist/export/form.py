"""What a model does to a row, as a formula that other programs can compute.

    score = bias + Σ (xⱼ − cⱼ) Wⱼ + Σ (nⱼ/Σn) Cⱼ + s Σ T_v[answer]          (k,)

    x numbers, n counts, T_v a table of answers of variable v;  s = J/J_known where unseen answers are set aside, else 1
    gaps        y solves (I − Σ_hidden u uᵀ) y = Σ_observed z u,   score += Σ_hidden (const + yᵀQ)
    kernels     score = Σ (k(x, zᵢ) − rᵢ) Dᵢ,  or (φ(x) − m) V with explicit features

Linear maps, the correspondence family and kernel models of numbers all have this form. A row that ``transform`` refuses
(a missing number, an answer never seen under ``unseen="error"``) has no score: NaN in ONNX, NULL in SQL.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import ParameterError
from ritz._core.linalg import split_sum
from ritz.kernels.base import Kernel
from ritz.methods.fitted import Fitted, fitted_of
from ritz.persist.export.form_choices import Choice, choices_of
from ritz.project.kernel import FeatureMapped

__all__ = ["Form", "Gaps", "KernelForm", "form_of"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Gaps:
    """What fills gaps among numbers: z = (x − mean)/scale of an observed one, u its share in the system."""

    k: int
    mean: Floats  # (p,)
    scale: Floats  # (p,)
    u: Floats  # (p, k)
    low: Floats  # (p,) what rounding took from the mean


@dataclass(frozen=True, eq=False)
class KernelForm:
    """Comparison with rows z (m, d), or explicit features."""

    kernel: Kernel
    rows: Floats | None = None  # (m, d) z
    means: Floats | None = None  # (m,) r
    dual: Floats | None = None  # (m, k) D
    features: Any = None  # FeatureMap φ
    centre: Floats | None = None  # (p,) m
    axes: Floats | None = None  # (p, k) V


@dataclass(frozen=True, eq=False)
class Form:
    """The formula of a model."""

    model: Any
    axes: tuple[str, ...]  # names of the k scores
    columns: tuple[str, ...]  # of the table, in the order in which they are read
    numbers: tuple[str, ...] = ()
    centre: Floats = field(default_factory=lambda: np.zeros(0))  # (p,)
    weights: Floats = field(default_factory=lambda: np.zeros((0, 0)))  # (p, k)
    counts: tuple[str, ...] = ()
    shares: Floats = field(default_factory=lambda: np.zeros((0, 0)))  # (c, k)
    choices: tuple[Choice, ...] = ()
    bias: Floats = field(default_factory=lambda: np.zeros(0))  # (k,)
    stretch: bool = False
    gaps: Gaps | None = None
    kernel: KernelForm | None = None

    @property
    def k(self) -> int:
        """Number of scores."""
        return len(self.axes)

    @property
    def fills(self) -> int:
        """Size of the system that fills gaps; 0 without one."""
        if self.gaps is not None:
            return self.gaps.k
        return max((choice.k for choice in self.choices), default=0)


def form_of(model: Any) -> Form:
    """The formula of a fitted model; models that have none are refused."""
    fitted = fitted_of(model)
    forms = {"kernel": _kernel, "profiles": _profiles, "encoded": _encoded, "linear": _linear}
    if fitted.formula not in forms:
        fitted.refuse("formula that could be exported", hint="ritz.save keeps every model")
    return forms[fitted.formula](fitted)


def _names(model: Any, d: int) -> tuple[str, ...]:
    names = getattr(model, "feature_names_in_", None)
    return tuple(f"x{j}" for j in range(d)) if names is None else tuple(str(name) for name in names)


def _map_weights(step: Any) -> tuple[Floats, Floats, Floats]:
    """Centre (d,), weights (d, k) and bias (k,) of a linear map; what rounding took from the centre is in the bias."""
    W = np.asarray(step.components, np.float64).T
    W = W if step.spread is None else W / np.asarray(step.spread, np.float64)
    W = W if step.scale is None else W / np.asarray(step.scale, np.float64)[:, None]
    low = np.zeros(len(W)) if step.low is None else np.asarray(step.low, np.float64)
    return (np.zeros(len(W)) if step.mean is None else np.asarray(step.mean, np.float64)), W, 0.0 - low @ W


def _linear(fitted: Fitted) -> Form:
    centre, W, bias = _map_weights(fitted.linear_map())
    filler, names = fitted.gap_filler(), _names(fitted.model, len(W))
    gaps = None
    if filler is not None:
        u = filler.vectors * np.sqrt(filler.shrink)
        mean, low = split_sum(filler.shift, filler.offset)
        gaps = Gaps(filler.k, mean, np.asarray(filler.scale), u, low)
    axes = tuple(fitted.axis_names(W.shape[1]))
    return Form(fitted.model, axes, names, names, centre, W, bias=bias, gaps=gaps)


def _profiles(fitted: Fitted) -> Form:
    centre, W, _ = _map_weights(fitted.linear_map())
    names, axes = _names(fitted.model, len(W)), tuple(fitted.axis_names(W.shape[1]))
    placed = np.flatnonzero(fitted.result("column_masses_") > 0)
    counts = tuple(names[j] for j in placed)
    # Columns without mass have no place on the map: they are given and not looked at.
    return Form(fitted.model, axes, names, counts=counts, shares=W[placed], bias=-(centre @ W))


def _encoded(fitted: Fitted) -> Form:
    """Numbers, counts and answers of MCA, FAMD and MFA."""
    centre, W, _ = _map_weights(fitted.linear_map())
    encoder, p, unseen = fitted.encoder(), fitted.number_columns(), fitted.model.unseen
    if p and encoder.fill is not None:
        raise ParameterError(
            "ONNX and SQL hold no model that fills in gaps of numbers and categories together",
            received="missing='regularized'",
            hint="fit with missing='error' or 'category', or use ritz transform",
        )
    counted = np.zeros(len(W), bool)
    shares = W.copy()
    tables = fitted.frequency_tables()
    if tables is not None:
        counted[tables.all] = True
        for places, profile in zip(tables.places, tables.profiles or (), strict=False):
            shares[places] -= profile @ W[places]  # what a row has in a table is taken off first
    at = np.flatnonzero(counted)
    plain = np.flatnonzero(~counted[:p])
    middle, low = split_sum(encoder.shift[plain], centre[plain])
    bias = (encoder.mean - centre[p:]) @ W[p:] - centre[at] @ W[at] - low @ W[plain]
    numeric = tuple(encoder.numeric[j] for j in plain)
    used = [name for name in encoder.columns if name in set(encoder.names)]
    return Form(
        fitted.model, tuple(fitted.axis_names(W.shape[1])), tuple(used), numeric, middle, W[plain],
        tuple(encoder.numeric[j] for j in at), shares[at], choices_of(encoder, unseen, W[p:]),
        bias, stretch=unseen == "supplementary",
    )  # fmt: skip


def _kernel(fitted: Fitted) -> Form:
    model, kernel, step = fitted.model, fitted.kernel, fitted.kernel_map
    if kernel.takes not in ("vectors", "precomputed"):
        what = "a Python function" if kernel.takes == "any" else "strings"
        raise ParameterError(
            "export takes kernels of numbers",
            received=f"{kernel!r}, a kernel of {what}",
            hint="ritz.save and ritz.load keep such a model; a server can call its transform",
        )
    k = int(model.n_components_)
    if isinstance(step, FeatureMapped):
        d = int(model.X_fit_.shape[1])
        inner = KernelForm(
            kernel, features=step.features, centre=np.asarray(step.mean, np.float64),
            axes=np.asarray(step.axes, np.float64),
        )  # fmt: skip
    else:
        rows = model.X_fit_.toarray() if hasattr(model.X_fit_, "toarray") else model.X_fit_
        d = int(rows.shape[1])
        inner = KernelForm(kernel, np.asarray(rows, np.float64), step.row_means, step.dual)
    names = tuple(f"k{j}" for j in range(d)) if kernel.takes == "precomputed" else _names(model, d)
    return Form(model, tuple(fitted.axis_names(k)), names, names, bias=np.zeros(k), kernel=inner)
