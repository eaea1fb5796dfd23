"""How to get the same numbers again: the command or the call, versions, seed."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ritz import __version__
from ritz.data.tables.table import Table
from ritz.report.context import Context
from ritz.report.html import Html, clip, join, tag
from ritz.report.part import Content, Part, always

__all__ = ["PART"]

#: Parameters that change no number.
SILENT = ("progress", "memory")
LIBRARIES = ("numpy", "scipy", "scikit-learn", "pyarrow")


def _build(about: Context) -> Content:
    seed = about.seed if about.seed is not None else getattr(about.model, "random_state", None)
    facts: list[tuple[str, Any]] = [("Python", tag("pre", tag("code", _call(about))))]
    if about.command:
        facts.insert(0, ("Command", tag("pre", tag("code", about.command))))
    facts += [("Seed", f"{seed}"), ("Versions", _versions())]
    listed = tag("dl", [join(tag("dt", name), tag("dd", words)) for name, words in facts], class_="facts")
    lead = tag("p", "The same data and the same versions give the same numbers; random starts are fixed by the seed.")
    return Content(join(lead, listed))


def _call(about: Context) -> Html:
    """The call; what it cannot say, such as weights, stands there as a name that the reader knows."""
    source = getattr(about.X, "source", "")
    origin = getattr(about.X, "origin", None)
    if about.texts:
        made = [] if origin is None or not about.of_fit else origin.lines({})[0]
        made.append(f"model = ritz.{_parameters(about.model)}.fit(texts)")
        return join("\n".join(["import ritz", "", *made, "ritz.report(model, texts, 'report.html')"]))
    made = []
    if origin is not None and about.of_fit:
        made, table, weight = origin.lines(_left(about))
    else:
        table = f"ritz.read({source!r}{_dropped(about)})" if source else "X"
        weight = ", sample_weight=weights" if about.weighted else ""
    fitted = table if about.of_fit else "X_fit"
    kind = type(about.model)
    own = kind.__module__.startswith("ritz.")
    first = ["import ritz"] if own else ["import ritz", f"from {kind.__module__} import {kind.__name__}"]
    while made and made[0].startswith("import "):
        first.insert(0, made.pop(0).strip())
    made.append(f"model = {'ritz.' if own else ''}{_parameters(about.model)}.fit({fitted}{weight})")
    return join("\n".join([*first, "", *made, f"ritz.report(model, {table}, 'report.html')"]))


def _left(about: Context) -> dict[str, str]:
    """Columns that the model could have used and did not."""
    used = {str(name) for name in getattr(about.model, "feature_names_in_", ())}
    used |= {str(name) for name in getattr(about.model, "target_names_", ())} if used else set()
    if not used or not isinstance(about.X, Table) or about.known.counts is not None:
        return {}
    could = ("numeric", "categorical") if about.correspondence else ("numeric",)
    return {name: "drop" for name, kind in about.X.kinds.items() if kind in could and name not in used}


def _dropped(about: Context) -> str:
    left = _left(about)
    return f", kinds={left!r}" if left else ""


def _parameters(model: Any) -> str:
    """The estimator with the parameters that differ from their defaults."""
    plain = type(model)().get_params(deep=False)
    given = {name: value for name, value in model.get_params(deep=False).items() if repr(value) != repr(plain[name])}
    text = ", ".join(f"{name}={_spelled(value)}" for name, value in given.items() if name not in SILENT)
    return clip(f"{type(model).__name__}({text})", 10_000)


def _spelled(value: Any) -> str:
    """A value as Python knows it outside: kernels live in a module."""
    import ritz.kernels

    own = type(value).__module__.startswith("ritz.kernels") and hasattr(ritz.kernels, type(value).__name__)
    return f"ritz.kernels.{value!r}" if own else repr(value)


def _versions() -> str:
    versions = [f"Ritz {__version__}", f"Python {platform.python_version()}"]
    for name in LIBRARIES:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(versions)


PART = Part("reproduce", "How to reproduce", always, _build)
