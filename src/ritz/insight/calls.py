"""What holds for every question to a model: each warning once, and a Pipeline may stand for the model.

    f(pipeline, X)   =   f(model, steps before the model (X))

The model is the last step that is one of Ritz; steps after it (a classifier, say) are not asked. Names of columns come
from the steps before it, where these tell them; the model of the pipeline itself is not changed.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from copy import copy
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ritz._core.errors import ParameterError
from ritz._core.warn import one_call
from ritz.data.tables.frames import is_pandas
from ritz.methods.fitted import capabilities_of

__all__ = ["asked", "is_pipeline", "model_in", "rows_before"]

P = ParamSpec("P")
R = TypeVar("R")

#: Arguments that are models, and those that are rows of the kind that was fitted.
MODELS = ("model", "X_or_model", "subject", "found", "a", "b", "new", "old")
ROWS = ("X", "reference")


def asked(function: Callable[P, R]) -> Callable[P, R]:
    """A question that takes Pipelines for models, and says each warning once."""
    once = one_call()(function)

    @functools.wraps(function)
    def called(*given: P.args, **named: P.kwargs) -> R:
        if any(is_pipeline(one) for one in (*given, *named.values())):
            bound = inspect.signature(function).bind(*given, **named)
            unpack(bound.arguments)
            return once(*bound.args, **bound.kwargs)
        return once(*given, **named)

    return called


def is_pipeline(model: Any) -> bool:
    """Whether this is a Pipeline of scikit-learn, or of a library that follows it."""
    return hasattr(model, "named_steps") and isinstance(getattr(model, "steps", None), list)


def model_in(pipeline: Any) -> tuple[Any, Any]:
    """The model of Ritz in a pipeline, and the pipeline of the steps before it, None where there is none."""
    places = [i for i, (_, step) in enumerate(pipeline.steps) if capabilities_of(step) is not None]
    if not places:
        steps = ", ".join(type(step).__name__ for _, step in pipeline.steps)
        raise ParameterError("expected a pipeline with a fitted model of Ritz among its steps", received=steps,
                             hint="make_pipeline(StandardScaler(), ritz.PCA(3)).fit(X)")  # fmt: skip
    last = places[-1]
    before = pipeline[:last] if last else None
    return _with_names(pipeline.steps[last][1], before), before


def rows_before(before: Any, model: Any, X: Any) -> Any:
    """Rows as the steps before the model hand them to it."""
    if before is None or X is None:
        return X
    rows = before.transform(X)
    names = getattr(model, "feature_names_in_", None)
    if is_pandas(X) and isinstance(rows, np.ndarray) and names is not None and rows.shape == (len(X), len(names)):
        return type(X)(rows, index=X.index, columns=list(names))
    return rows


def unpack(arguments: dict[str, Any]) -> None:
    """Replace the pipelines among the arguments of a question by their models, and rows by those the models take."""
    steps = []
    given = {name: arguments[name] for name in ROWS if arguments.get(name) is not None}
    for name in [name for name in MODELS if is_pipeline(arguments.get(name))]:
        arguments[name], before = model_in(arguments[name])
        steps.append((before, arguments[name]))
    for name, X in given.items():
        rows = [rows_before(before, model, X) for before, model in steps]
        if len(rows) == 2 and not np.array_equal(np.asarray(rows[0]), np.asarray(rows[1])):
            raise ParameterError(
                "two pipelines are compared on the same rows", received="steps that make different rows of X",
                hint="compare the models: compare(a[-1], b[-1]), or hand in rows that both models take",
            )  # fmt: skip
        if rows:
            arguments[name] = rows[0]
    if "X" in given and "variables" in arguments and arguments["variables"] is None:
        arguments["variables"] = given["X"]


def _with_names(model: Any, before: Any) -> Any:
    """The model with the names that the steps before it give to its columns, where it has none of its own."""
    if before is None or hasattr(model, "feature_names_in_"):
        return model
    try:
        names = before.get_feature_names_out()
    except (AttributeError, ValueError):  # a step that tells no names
        return model
    if len(names) != getattr(model, "n_features_in_", None) or _numbered(names):
        return model
    named = copy(model)
    named.feature_names_in_ = np.asarray(names, dtype=object)
    return named


def _numbered(names: Any) -> bool:
    """Whether names are those that scikit-learn gives to columns that have none."""
    return [str(name) for name in names] == [f"x{j}" for j in range(len(names))]
