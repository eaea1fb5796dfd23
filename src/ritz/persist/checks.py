"""Whether what a file holds fits together, before anybody computes with it.

    records     every field of the type that its dataclass declares, and arrays of lengths that agree
    models      components_ (k, d), mean_ (d,), eigenvalues_ (k,) …      k and d are the same everywhere

A file with a true checksum may still be wrong: written by a program with a fault, or by somebody who means harm. Such a
file is refused when it is loaded, not later in the middle of a computation.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ritz.methods.fitted import Fitted, checked_parameters

__all__ = ["check_fitted", "check_record"]

#: Kinds of arrays that a declared type allows: what is declared float64 may be held narrower.
KINDS = {"f": "fiu", "i": "iu", "b": "b"}

#: Fitted names of every estimator whose sides are known. k components, d columns that are projected, n rows.
SHAPES = {
    "components_": "kd", "eigenvalues_": "k", "explained_variance_": "k", "explained_variance_ratio_": "k",
    "explained_inertia_ratio_": "k", "singular_values_": "k", "mean_": "d", "scale_": "d", "communalities_": "d",
    "uniquenesses_": "d", "factor_correlations_": "kk", "rotation_matrix_": "kk", "score_variance_": "k",
    "n_nonzero_": "k", "_mean64": "d", "_mean_low": "d", "_scale64": "d", "_mean": "d", "_scale": "d", "_inertias": "d",
    "_spread": "d", "_weights": "dk", "_loadings": "dk", "_unrotated": "dk", "_psi": "d", "_score_covariance": "kk",
    "_lambda": "k", "_variance64": "k", "_first": "d", "_still": "d", "_means": "d", "_frequencies": "d",
    "_profiles": "d", "_row_norms": "d", "_signature": "k", "_F": "nk", "_row_weights": "n", "_row_squares": "n",
    "low_rank_": "nd", "sparse_": "nd", "eigenvectors_": "nk", "_center": "d", "_before": "d",
    "embedding_": "nk", "_lengths": "n", "_since": "d", "_dual": "kd", "_structure": "dk", "_coef64": "dq",
    "_y_rotations": "qk", "_y_mean64": "q", "_y_mean_low": "q", "_y_scale64": "q", "coef_": "qd", "intercept_": "q",
    "x_weights_": "dk", "x_loadings_": "dk", "x_rotations_": "dk", "y_weights_": "qk", "y_loadings_": "qk",
    "y_rotations_": "qk", "y_explained_variance_ratio_": "k", "vip_": "d", "_hidden": "k", "_visible": "d",
    "intercept_hidden_": "k", "intercept_visible_": "d", "mixing_": "dk", "contrast_": "k", "_weights_norm": "k",
    "_parts": "kd", "spread_": "d",
}  # fmt: skip
#: Names that every model has, besides those that its method needs; those in OPEN may be None.
ALWAYS = ("n_components_", "n_samples_", "n_features_in_", "certificate_", "plan_")
PENDING = ("_dtype", "n_features_in_")
OPEN = ("_mean64", "_scale64")
#: Numbers with which rows are placed: none of them may be NaN or infinite.
FINITE = ("components_", "mean_", "_mean64", "_mean_low", "_mean", "_weights", "_loadings", "_scale", "_psi",
          "_dual", "_coef64", "_y_mean64", "_y_rotations")  # fmt: skip
POSITIVE = ("scale_", "_scale64", "_scale", "_y_scale64", "spread_")
COUNTS = ("n_components_", "n_samples_", "n_features_in_", "n_iter_", "n_missing_")
STATES = ("Moments", "KeptRows", "Directions", "Sketched")
RECORD_NAMES = {"certificate_": ("Certificate", "TensorCertificate"), "plan_": ("Plan",), "_state": STATES,
                "_columns": ("Encoder",),
                "_filler": ("Filler",), "_raw": ("Counts",), "_word_sums": ("Sums",), "_word_sums_now": ("Sums",),
                "language_": ("Language",), "_energies": ("Energies",)}  # fmt: skip
#: Types of what else a model keeps.
TYPES: dict[str, tuple[type[Any], ...]] = {
    "_dtype": (np.dtype,), "_weight": (int, float, np.number), "_pending": (bool,), "_members": (dict,),
    "_separate": (dict,), "_beside": (dict,), "total_variance_": (int, float, np.number),
    "total_inertia_": (int, float, np.number), "total_": (int, float, np.number), "_left": (int, float, np.number),
}  # fmt: skip
LARGEST = 1 << 53
#: What rounding may have taken from a mean, as a share of it.
ROUNDED = 2.0**-52
#: Scatter is held in units of the columns, so that no product of two entries comes near the end of float64.
HUGE = 1e150


def check_record(record: Any) -> None:
    """Refuse a record whose fields have other types than declared, or lengths that do not agree."""
    for name, kind in _hints(type(record)).items():  # type: ignore[arg-type]
        if not _is(getattr(record, name), kind):
            raise TypeError(f"{type(record).__name__} with a {name} that is {_what(getattr(record, name))}")
    more = MORE.get(type(record).__name__)
    if more is not None:
        more(record)


@cache
def _hints(cls: type[Any]) -> dict[str, Any]:
    types_of = typing.get_type_hints(cls)
    return {name: types_of[name] for name in cls.__dataclass_fields__ if name in types_of}


def _is(value: Any, kind: Any) -> bool:
    """Whether a value has a declared type; simple types only."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return True
    if kind is None or kind is type(None):
        return value is None
    if origin in (typing.Union, types.UnionType):
        return any(_is(value, one) for one in inner)
    if origin is typing.Literal:
        return value in inner
    if origin is tuple:
        return isinstance(value, tuple) and _items(value, inner)
    if origin is list:
        return isinstance(value, list) and all(_is(item, inner[0]) for item in value)
    if origin is dict:
        return isinstance(value, dict)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and _is_array(value, inner)
    return _is_plain(value, kind)


def _items(value: tuple[Any, ...], inner: tuple[Any, ...]) -> bool:
    if len(inner) == 2 and inner[1] is Ellipsis:
        return all(_is(item, inner[0]) for item in value)
    return len(value) == len(inner) and all(map(_is, value, inner))


def _is_array(value: np.ndarray, inner: tuple[Any, ...]) -> bool:
    wanted = typing.get_args(inner[1])[0] if len(inner) > 1 and typing.get_args(inner[1]) else Any
    if wanted is Any:
        return value.dtype.kind in "fiub"
    return value.dtype.kind in KINDS.get(np.dtype(wanted).kind, "")


def _is_plain(value: Any, kind: Any) -> bool:
    if kind is bool:
        return isinstance(value, (bool, np.bool_))
    if isinstance(value, (bool, np.bool_)):
        return False
    if kind is int:
        return isinstance(value, (int, np.integer)) and abs(int(value)) <= LARGEST
    if kind is float:
        return isinstance(value, (int, float, np.integer, np.floating)) and (
            not isinstance(value, int) or abs(value) <= LARGEST
        )
    return isinstance(value, kind)


# --- lengths that agree -----------------------------------------------------------------------------------


def _sides(record: Any, **wanted: tuple[int, ...]) -> None:
    for name, shape in wanted.items():
        array = getattr(record, name)
        if array is not None and array.shape != shape:
            raise ValueError(f"{type(record).__name__} with a {name} of shape {array.shape}, not {shape}")


def _certificate(c: Any) -> None:
    k = c.values.shape
    if len(k) != 1:
        raise ValueError(f"Certificate with values of shape {k}")
    _sides(c, lower=k, upper=k, labelled=k, residuals=k, angles=k)
    if any(not 0 <= first <= last < max(k[0], 1) for first, last, _ in c.clusters):
        raise ValueError("Certificate with clusters of components that are not there")
    if c.tol is None and not c.converged:
        raise ValueError("Certificate of a tolerance that was not reached, and is not told")
    if not isinstance(c.frame.get("matrix", ""), str):
        raise TypeError("Certificate of a matrix without a name")


def _moments(m: Any) -> None:
    d = m.shift.shape
    if len(d) != 1:
        raise ValueError(f"Moments with a shift of shape {d}")
    _sides(m, offset=d, scatter=(*d, *d), lost=d, scatter_low=(*d, *d), offset_low=d)
    if m.rows < 0 or not m.weight >= 0 or not 0 < m.unit < np.inf or m.weight == np.inf:
        raise ValueError("Moments with a negative number of rows, or a weight or unit that is not positive and finite")
    parts = [array for array in (m.shift, m.offset, m.scatter, m.scatter_low, m.offset_low) if array is not None]
    if not all(np.isfinite(array).all() for array in parts) or np.max(np.abs(m.scatter), initial=0.0) > HUGE:
        raise ValueError("Moments with numbers that are not finite")


def _kept_rows(r: Any) -> None:
    if r.table.ndim != 2:
        raise ValueError(f"KeptRows of shape {r.table.shape}")
    _sides(r, weights=r.table.shape[:1])
    weights = np.ones(1) if r.weights is None else r.weights
    if not np.isfinite(r.table).all() or not (np.isfinite(weights).all() and bool(np.all(weights >= 0))):
        raise ValueError("KeptRows with numbers that are not finite, or weights that are negative")


def _streamed(s: Any, **sides: tuple[int, ...]) -> None:
    """What states of bounded size have in common."""
    kind, d = type(s).__name__, s.shift.shape
    if len(d) != 1:
        raise ValueError(f"{kind} with a shift of shape {d}")
    _sides(s, offset=d, squares=d, squares_low=d, offset_low=d, **sides)
    if s.rows < 0 or not s.weight >= 0 or not 0 < s.unit < np.inf or s.weight == np.inf:
        raise ValueError(f"{kind} with a negative number of rows, or a weight or unit that is not positive and finite")
    arrays = [getattr(s, name) for name in ("shift", "offset", "squares", "squares_low", "offset_low", *sides)]
    if (
        not all(np.isfinite(array).all() for array in arrays if array is not None)
        or np.max(s.squares, initial=0.0) > HUGE
    ):
        raise ValueError(f"{kind} with numbers that are not finite")


def _directions(s: Any) -> None:
    d, m = s.shift.shape, s.high.shape
    if len(m) != 1:
        raise ValueError(f"Directions with a diagonal of shape {m}")
    _streamed(s, basis=(*m, *d), spare=(*m, *m))
    bounds = np.array([s.lost, s.ridge, s.noise])
    if not 0 <= m[0] <= s.width or not bool(np.all((bounds >= 0) & (bounds < np.inf))):
        raise ValueError("Directions without bounds")
    if not np.all(s.high >= 0) or not np.all(np.abs(s.basis @ s.basis.T - np.eye(m[0])) < 1e-8):
        raise ValueError("Directions whose basis is not orthonormal")


def _sketched(s: Any) -> None:
    if s.image.ndim != 2:
        raise ValueError("Sketched without an image")
    _streamed(s, image=(*s.shift.shape, s.image.shape[1]))
    int(s.start, 16)


def _variable(v: Any) -> None:
    _sides(v, counts=(len(v.levels),))
    if v.kind not in ("text", "truth", "number") or len(set(v.levels)) < len(v.levels):
        raise ValueError(f"a variable of kind {v.kind[:20]!r} whose levels are not distinct")
    if v.kind == "number":
        [float(level) for level in v.levels if not level.startswith("(")]


def _encoder(e: Any) -> None:
    _sides(e, shift=(len(e.numeric),))
    names = e.names
    if len(set(names)) < len(names) or not set(names) <= set(e.columns):
        raise ValueError("an Encoder whose columns are not distinct columns of its table")
    if len(set(e.columns)) < len(e.columns):
        raise ValueError("an Encoder of a table with two columns of one name")
    if e.missing not in ("error", "category", "exclude", "regularized") or not (0 < e.weight < np.inf):
        raise ValueError("an Encoder with an unknown way to treat missing answers, or a weight that is not positive")
    active = e.distinct().active
    if e.fill is not None:
        p, d = e.p, e.p + len(active.labels)
        _sides(e.fill, mean=(d,), scale=(d,), owners=(d,))
        if not np.array_equal(e.fill.owners, np.concatenate([np.arange(p), p + active.owners])):
            raise ValueError("an Encoder that fills in other columns than its own")
    elif e.missing == "regularized":
        raise ValueError("an Encoder without the axes by which it fills in missing answers")


def _fill(f: Any) -> None:
    if f.vectors.ndim != 2:
        raise ValueError("a Fill without axes")
    K, k = f.vectors.shape
    _sides(f, shrink=(k,), mean=(K,), scale=(K,), owners=(K,))
    if K and (int(f.owners.min()) < 0 or int(f.owners.max()) >= K):
        raise ValueError("a Fill with owners that are not there")
    _solvable(f)


def _filler(f: Any) -> None:
    if f.vectors.ndim != 2:
        raise ValueError("a Filler without axes")
    d, k = f.vectors.shape
    _sides(f, shift=(d,), offset=(d,), scale=(d,), shrink=(k,), signal=(k,))
    if f.names is not None and (not isinstance(f.names, np.ndarray) or f.names.shape != (d,)):
        raise ValueError("a Filler with names of other columns")
    _solvable(f)


def _solvable(f: Any) -> None:
    """Rows with gaps have one answer only where the axes are orthonormal and shrunk."""
    k = f.vectors.shape[1]
    if not (np.isfinite(f.vectors).all() and np.all((f.shrink >= 0) & (f.shrink < 1)) and np.all(f.scale > 0)):
        raise ValueError("a rule that fills gaps without shrinking")
    if not np.all(np.abs(f.vectors.T @ f.vectors - np.eye(k)) < 1e-4):
        raise ValueError("a rule that fills gaps by axes that are not orthonormal")


def _sums(s: Any) -> None:
    d = np.shape(s.df)
    _sides(s, df=d, gf=d, tf_log_tf=d)
    arrays = (s.df, s.gf, s.tf_log_tf)
    if len(d) != 1 or s.n < 0 or not 0 <= s.length < np.inf or not all(np.isfinite(one).all() for one in arrays):
        raise ValueError("Sums with numbers that are no sums of counts")


def _counts(c: Any) -> None:
    if tuple(getattr(c.values, "shape", ())) != (len(c.rows), len(c.columns)):
        raise ValueError("Counts with more or fewer names than rows and columns")


MORE: dict[str, Callable[[Any], None]] = {
    "Certificate": _certificate, "Counts": _counts, "Encoder": _encoder, "Fill": _fill, "Filler": _filler,
    "Directions": _directions, "KeptRows": _kept_rows, "Moments": _moments, "Sketched": _sketched,
    "Sums": _sums, "TensorCertificate": _certificate, "Variable": _variable,
}  # fmt: skip


# --- models -----------------------------------------------------------------------------------------------


def check_fitted(cls: type[Any], parameters: dict[str, Any], values: dict[str, Any]) -> None:
    """Refuse fitted values of a model of class ``cls`` that do not belong together."""
    asked = cls(**parameters).get_params(deep=False)
    names = set(asked)
    for name, value in values.items():
        strange = not name.isidentifier() or name.startswith("__") or name in names
        if strange or callable(getattr(cls, name, None)):
            raise ValueError(f"a fitted name {name[:40]!r}")
        if name in COUNTS and not (isinstance(value, (int, np.integer)) and 0 <= int(value) <= LARGEST):
            raise TypeError(f"{name} that is {_what(value)}")
        if name in TYPES and value is not None and not isinstance(value, TYPES[name]):
            raise TypeError(f"{name} that is {_what(value)}")
        if name == "_dtype" and value not in (np.float32, np.float64):
            raise TypeError("a precision other than float32 and float64")
        if name in RECORD_NAMES and value is not None and type(value).__name__ not in RECORD_NAMES[name]:
            raise TypeError(f"{name} that is {_what(value)}")
    checked_parameters(cls, parameters)
    _names(values)
    _sized(values, _known_sides(values))
    _complete(cls.fitted, values)
    cls.fitted.as_asked(asked, values)


def _names(values: dict[str, Any]) -> None:
    names = values.get("feature_names_in_")
    if names is not None and (
        not isinstance(names, np.ndarray) or names.dtype != object or names.shape != (values.get("n_features_in_"),)
    ):
        raise ValueError("feature_names_in_ of other columns")
    labels = values.get("_row_labels")
    if labels is not None and not isinstance(labels, list):
        raise TypeError(f"_row_labels that is {_what(labels)}")
    if values.get("_library") not in (None, "pandas", "polars", "pyarrow"):
        raise ValueError("a library of frames other than pandas, polars and pyarrow")


def _known_sides(values: dict[str, Any]) -> dict[str, int | None]:
    columns = values.get("n_features_in_")
    if "_columns" in values:
        columns = values["_columns"].d
        if values.get("_members") is not None and not isinstance(values["_members"], dict):
            raise TypeError("groups that are not a dictionary")
    return {"k": values.get("n_components_"), "d": columns, "n": None, "q": None}


def _sized(values: dict[str, Any], sides: dict[str, int | None]) -> None:
    for name, letters in SHAPES.items():
        value = values.get(name)
        if value is None:
            continue
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiub" or value.ndim != len(letters):
            raise TypeError(f"{name} that is {_what(value)}")
        for letter, side in zip(letters, value.shape, strict=True):
            if letter in "nq" and sides[letter] is None:
                sides[letter] = side
            if sides[letter] != side:
                raise ValueError(f"{name} of shape {value.shape} among {letter}={sides[letter]}")
        if name in FINITE and not np.isfinite(value).all():
            raise ValueError(f"{name} with numbers that are not finite")
        if name in POSITIVE and not (np.isfinite(value).all() and bool(np.all(value > 0))):
            raise ValueError(f"{name} with numbers that are not positive")


def _complete(kind: type[Fitted], values: dict[str, Any]) -> None:
    """Refuse values that lack what a model of its kind must have."""
    pending = bool(values.get("_pending"))
    if pending and values.get("_state") is None and values.get("_raw") is None:
        raise ValueError("a model without its state")
    needed = PENDING if pending and values.get("_raw") is None else () if pending else (*ALWAYS, *kind.needs)
    if kind.space == "feature" and values.get("n_features_in_") is None:
        needed = tuple(name for name in needed if name != "n_features_in_")  # strings have no columns
    lost = [name for name in needed if name not in values or (values[name] is None and name not in OPEN)]
    if pending and "_columns" in kind.needs and values.get("_columns") is None:
        lost.append("_columns")
    if lost:
        raise ValueError(f"no {lost[0]}")
    kind.checked(values)
    members = values.get("_members")
    if members is not None and not all(
        isinstance(names, list) and all(isinstance(name, str) for name in names) for names in members.values()
    ):
        raise TypeError("groups without columns")
    low, mean = values.get("_mean_low"), values.get("_mean64", values.get("_mean"))
    if low is not None and (mean is None or not np.all(np.abs(low) <= ROUNDED * np.abs(mean))):
        raise ValueError("_mean_low that is more than rounding took from the mean")
    _network(values)
    filler = values.get("_filler")
    if filler is not None and filler.vectors.shape[0] != values.get("n_features_in_"):
        raise ValueError("a Filler of other columns")
    if np.max(np.abs(values.get("_loadings", 0.0)), initial=0.0) > HUGE:
        raise ValueError(f"_loadings larger than {HUGE:g}")


def _network(values: dict[str, Any]) -> None:
    """Refuse layers that do not follow one another, from the columns to the components and back."""
    d, k = values.get("n_features_in_"), values.get("n_components_")
    for name, ends in (("_encoder", (d, k)), ("_decoder", (k, d))):
        layers = values.get(name)
        if layers is None:
            continue
        if not isinstance(layers, list) or len(layers) < 2 or len(layers) % 2:
            raise TypeError(f"{name} that is {_what(layers)}")
        for one in layers:
            if not isinstance(one, np.ndarray) or one.dtype != np.float64 or not np.isfinite(one).all():
                raise TypeError(f"{name} with {_what(one)}")
        sides = [ends[0]]
        for W, b in zip(layers[2::2], layers[3::2], strict=True):
            if W.ndim != 2 or W.shape[0] != sides[-1] or b.shape != W.shape[1:]:
                raise ValueError(f"{name} whose layers do not follow one another")
            sides.append(W.shape[1])
        last = ends[1] if len(layers) > 2 else ends[0]
        if layers[0].shape != ends or layers[1].shape != ends[1:] or sides[-1] != last:
            raise ValueError(f"{name} of other columns or components")
    unit = values.get("_unit")
    if unit is not None and not (isinstance(unit, (int, float)) and 0 < unit < float("inf")):
        raise ValueError("a unit that is not positive")


def _what(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} and shape {value.shape}"
    return f"of type {type(value).__name__}"
