"""Formulas as ONNX graphs.

    numbers alone      one input ``X`` (rows, d)
    with categories    one input a column (rows, 1): texts for categories, numbers otherwise; "" is a missing answer
    output             ``scores`` (rows, k); NaN in rows that ``transform`` refuses

An answer is looked up by LabelEncoder and its scores by Gather. Gaps are filled in by k steps of Gauss–Jordan
elimination of a positive definite system, which needs no pivots.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ritz import __version__
from ritz._core.errors import ParameterError
from ritz.persist.export.form import Form
from ritz.persist.export.form_choices import Answer, Choice
from ritz.persist.export.onnx_graph import OUTPUT, Graph
from ritz.persist.export.onnx_kernel import kernel_scores

__all__ = ["input_names", "metadata", "onnx_model"]

PRECISIONS = ("float32", "float64")


def onnx_model(form: Form, dtype: str = "float32") -> Any:
    """The graph of a formula, as ``onnx.ModelProto``."""
    if dtype not in PRECISIONS:
        raise ParameterError(
            f"dtype must be one of {', '.join(PRECISIONS)}", received=repr(dtype), hint="dtype='float32'"
        )
    g = Graph(dtype)
    if _is_split(form):
        inputs, scores = _by_column(g, form)
    else:
        inputs = {"X": ("number", len(form.columns))}
        scores = kernel_scores(g, form, "X") if form.kernel else _numbers(g, form, "X")
    return g.model(inputs, scores, form.k, metadata(form))


def _is_split(form: Form) -> bool:
    """Whether columns are of several kinds, so that each is an input."""
    return bool(form.choices or (form.counts and form.numbers))


def metadata(form: Form) -> dict[str, str]:
    """What a reader of the file should know."""
    model = form.model
    ratio = getattr(model, "explained_variance_ratio_", getattr(model, "explained_inertia_ratio_", []))
    words = {
        "ritz.version": __version__,
        "ritz.estimator": type(model).__name__,
        "ritz.columns": json.dumps(list(form.columns), ensure_ascii=False),
        "ritz.scores": json.dumps(list(form.axes)),
        "ritz.explained": json.dumps([round(float(share), 9) for share in np.asarray(ratio)]),
        "ritz.rows": str(int(model.n_samples_)),
        "ritz.certificate": str(model.certificate_),
    }
    if _is_split(form):
        words["ritz.inputs"] = json.dumps(input_names(form), ensure_ascii=False)
    if form.choices:
        levels = {choice.name: list(choice.levels) for choice in form.choices}
        words["ritz.levels"] = json.dumps(levels, ensure_ascii=False)
    return words


# --- one input --------------------------------------------------------------------------------------------


def _numbers(g: Graph, form: Form, x: str) -> str:
    if form.counts:
        if len(form.counts) < len(form.columns):
            x = g.Gather(x, g.ints(*(form.columns.index(name) for name in form.counts)), axis=1)
        return str(g.Add(_shares(g, form, x), g.const(form.bias)))
    if form.gaps is not None:
        x = _filled(g, form, x)
    scores = g.MatMul(g.centred(x, form.centre), g.const(form.weights))
    return str(g.Add(scores, g.const(form.bias)) if np.any(form.bias) else scores)


def _shares(g: Graph, form: Form, n: str) -> str:
    """Counts as shares of their sum, times weights; what has no sum, or is negative, is not a number."""
    zero, nan = g.const(0.0), g.const(np.nan)
    total = g.sum_rows(n)
    least = g.node("ReduceMin", n, axes=[1], keepdims=1)
    bad = g.Or(g.LessOrEqual(total, zero), g.Less(least, zero))
    return str(g.MatMul(g.Div(n, g.Where(bad, nan, total)), g.const(form.shares)))


def _filled(g: Graph, form: Form, x: str) -> str:
    """Rows with their gaps filled; a row of gaps alone stays one."""
    gaps = form.gaps
    if gaps is None:
        return x
    gone = g.IsNaN(x)
    mask = g.Cast(gone, to=g.float_type)
    mean = g.const(gaps.mean)
    guess = mean
    if gaps.k:
        z = g.Where(gone, g.const(0.0), g.Div(g.centred(x, gaps.mean, gaps.low), g.const(gaps.scale)))
        d, q = gaps.u.shape
        pairs = (gaps.u[:, :, None] * gaps.u[:, None, :]).reshape(d, q * q)
        y = _solved(g, g.MatMul(mask, g.const(pairs)), g.MatMul(z, g.const(gaps.u)), q)
        guess = g.Add(g.MatMul(y, g.const(gaps.u.T * gaps.scale)), mean)
    some = g.Less(g.sum_rows(mask), g.const(float(len(gaps.mean))))
    return str(g.Where(g.And(gone, some), guess, x))


def _solved(g: Graph, hidden: str, b: str, q: int) -> str:
    """y (rows, q) of (I − H) y = b, H given as (rows, q²)."""
    H = g.Reshape(hidden, g.ints(-1, q, q))
    A = g.Concat(g.Sub(g.const(np.eye(q)), H), g.Unsqueeze(b, g.ints(2)), axis=2)
    for i in range(q):
        row = g.Slice(A, g.ints(i), g.ints(i + 1), g.ints(1))
        pivot = g.Slice(row, g.ints(i), g.ints(i + 1), g.ints(2))
        unit = np.zeros((q, 1))
        unit[i] = 1.0
        column = g.Sub(g.Slice(A, g.ints(i), g.ints(i + 1), g.ints(2)), g.const(unit))
        A = g.Sub(A, g.Mul(column, g.Div(row, pivot)))
    return str(g.Reshape(g.Slice(A, g.ints(q), g.ints(q + 1), g.ints(2)), g.ints(-1, q)))


def input_names(form: Form) -> dict[str, str]:
    """What the inputs of columns are called: their names, unless the graph needs these itself."""
    inputs: dict[str, str] = {}
    for j, name in enumerate(form.columns):
        plain = bool(name.strip()) and name != OUTPUT and not name.startswith("ritz/")
        inputs[name] = name if plain else f"column {j}"
        while list(inputs.values()).count(inputs[name]) > 1 or (not plain and inputs[name] in form.columns):
            inputs[name] += "_"
    return inputs


# --- one input a column -----------------------------------------------------------------------------------


def _by_column(g: Graph, form: Form) -> tuple[dict[str, tuple[str, int]], str]:
    texts, called = {choice.name for choice in form.choices}, input_names(form)
    inputs = {called[name]: ("text" if name in texts else "number", 1) for name in form.columns}
    parts: list[str] = [g.const(form.bias)]
    if form.numbers:
        x = g.Concat(*(called[name] for name in form.numbers), axis=1)
        parts.append(g.MatMul(g.centred(x, form.centre), g.const(form.weights)))
    if form.counts:
        parts.append(_shares(g, form, g.Concat(*(called[name] for name in form.counts), axis=1)))
    if form.choices:
        parts.append(_answers(g, form))
    total = parts[0]
    for term in parts[1:]:
        total = g.Add(total, term)
    return inputs, total


def _answers(g: Graph, form: Form) -> str:
    called = input_names(form)
    codes = [_codes(g, choice, called[choice.name]) for choice in form.choices]
    total = _added(g, [_looked_up(g, c, at, form.k, "scores") for c, at in zip(form.choices, codes, strict=True)])
    q = form.fills
    b = None
    if q:
        b = _added(g, [_looked_up(g, c, at, q, "b") for c, at in zip(form.choices, codes, strict=True)])
    if form.stretch:
        placing = _added(g, [_gathered(g, np.asarray([[float(a.known)] for a in _all(c)]), at)
                           for c, at in zip(form.choices, codes, strict=True)])  # fmt: skip
        factor = g.Div(g.const(float(len(codes))), placing)  # J/0 is infinite, and times 0 not a number: refused
        total, b = g.Mul(total, factor), None if b is None else g.Mul(b, factor)
    if b is None:
        return total
    H, Q = [], []
    for choice, at in zip(form.choices, codes, strict=True):
        hidden = np.asarray([float(answer.hidden) for answer in _all(choice)])[:, None]
        H.append(_gathered(g, hidden * np.asarray(choice.P).reshape(1, -1), at))
        Q.append(_gathered(g, hidden * np.asarray(choice.Q).reshape(1, -1), at))
    y = _solved(g, _added(g, H), b, q)
    more = g.MatMul(g.Unsqueeze(y, g.ints(1)), g.Reshape(_added(g, Q), g.ints(-1, q, form.k)))
    return str(g.Add(total, g.Reshape(more, g.ints(-1, form.k))))


def _added(g: Graph, parts: list[str]) -> str:
    total = parts[0]
    for term in parts[1:]:
        total = g.Add(total, term)
    return total


def _all(choice: Choice) -> list[Answer]:
    """Answers by code: levels, then missing, then unseen."""
    return [*choice.levels.values(), choice.missing, choice.unseen]


def _codes(g: Graph, choice: Choice, name: str) -> str:
    """Codes (rows,) of answers; the empty text is a missing one, unless the fit has seen it as an answer."""
    keys, last = list(choice.levels), len(choice.levels)
    values = list(range(last))
    if "" not in choice.levels:
        keys, values = [*keys, ""], [*values, last]
    flat = g.Reshape(name, g.ints(-1))
    return g.node(
        "LabelEncoder", flat, domain="ai.onnx.ml", keys_strings=keys, values_int64s=values, default_int64=last + 1
    )


def _looked_up(g: Graph, choice: Choice, codes: str, width: int, what: str) -> str:
    rows = [getattr(answer, what) for answer in _all(choice)]
    return _gathered(g, np.asarray([np.full(width, np.nan) if row is None else row for row in rows]), codes)


def _gathered(g: Graph, table: np.ndarray, codes: str) -> str:
    return str(g.Gather(g.const(np.asarray(table, np.float64)), codes, axis=0))
