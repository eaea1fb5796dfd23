"""How to get the same numbers again: the command or the call, versions, seed."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ritz import __version__
from ritz.report.context import Context
from ritz.report.html import Html, clip, join, tag
from ritz.report.part import Content, Part, always

__all__ = ["PART"]

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
    source = getattr(about.X, "source", "")
    rows = f"ritz.read({source!r})" if source else "X"
    return join(
        f"import ritz\n\nmodel = ritz.{_parameters(about.model)}.fit({rows})\nritz.report(model, {rows}, 'report.html')"
    )


def _parameters(model: Any) -> str:
    """The estimator with the parameters that differ from their defaults."""
    text = " ".join(repr(model).split())
    return clip(text, 2000)


def _versions() -> str:
    found = [f"Ritz {__version__}", f"Python {platform.python_version()}"]
    for name in LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


PART = Part("reproduce", "How to reproduce", always, _build)
