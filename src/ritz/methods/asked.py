"""How many components were asked for: a number or a rule, and what a problem is told of it.

wanted_of    n_components → a number in 0 … min(n, d), or a rule that reads the spectrum
request_of   k, rule, tol and seed of a spectral problem
tell_none    a rule that found nothing says so, and how to keep at least one component
"""

from __future__ import annotations

from typing import Any

from ritz._core.errors import NoComponents, ParameterError
from ritz._core.random import seed_of
from ritz._core.warn import warn
from ritz.rank.rule import resolve
from ritz.spectral.plan import FIRST_GUESS, Shape
from ritz.spectral.solution import Solution

__all__ = ["request_of", "tell_none", "wanted_of"]


def wanted_of(model: Any, n: int, d: int, *, centered: bool, n_components: Any = None) -> int | Any:
    """A number of components, or a rule."""
    asked = model.n_components if n_components is None else n_components
    if type(asked) is int and 0 < asked <= min(n, d):
        return asked
    wanted = resolve(asked, n=n, d=d, centered=centered, names=model._rules, method=type(model).__name__)
    if isinstance(wanted, int) and wanted == 0 and model.solver not in ("auto", "svd", "moments"):
        most = f"min(n_samples, n_features)={min(n, d)}"
        raise ParameterError(
            f"n_components=0 must be between 1 and {most} with solver={model.solver!r}",
            received="0, which leaves nothing to iterate on",
            hint="solver='auto' takes it: the answer is the mean and the total variance",
        )
    return wanted


def request_of(model: Any, wanted: int | Any, shape: Shape) -> dict[str, Any]:
    """k and rule of a problem, with what the rule needs to know."""
    seed = model.random_state
    seed = seed if type(seed) is int and seed >= 0 else seed_of(seed)
    if isinstance(wanted, int):
        return {"k": wanted, "rule": None, "tol": model.tol, "seed": seed}
    guess = shape.small if wanted.needs_all else min(FIRST_GUESS, shape.small)
    return {"k": guess, "rule": wanted, "tol": model.tol, "seed": seed}


def tell_none(rule: Any, solution: Solution) -> None:
    """Warn of a rule that keeps no component of a table that has some."""
    if rule is not None and not len(solution.values) and solution.scaled_total > 0:
        name = getattr(rule, "name", type(rule).__name__)
        warn(
            f"the rule {name!r} found no component, so the model has none and transform gives no columns; "
            f"n_components={name + '>=1'!r} keeps at least one",
            NoComponents,
        )
