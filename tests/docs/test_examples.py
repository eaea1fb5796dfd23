"""Every public name has an example in its docstring, and the example prints what it shows.

Numbers may differ in their last place, as on the pages. A docstring names every parameter that there is, and no other.
"""

from __future__ import annotations

import contextlib
import doctest
import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

import ritz
from ritz.methods import METHODS
from tests.docs.test_docs import same

#: Modules whose names are public, in all of ``__all__``; of the others, the names that users meet.
MODULES = ["ritz", "ritz.insight", "ritz.kernels", "ritz.operators", "ritz.plot", "ritz.testing", "ritz.text"]
OTHERS = {
    "ritz.data.engines": ["Engine", "adopt", "engine_of", "engines", "register", "unregister"],
    "ritz.report": ["Content", "Part", "render", "write"],
    "ritz.spectral.certificate.certificate": ["Certificate"],
    "ritz.spectral.plan": ["Plan"],
    "ritz.spectral.solution": ["Solution"],
    "ritz.spectral.verify.outcome": ["Verification"],
}
#: Methods of estimators that say nothing by their name alone, whichever estimator has them.
TELLING = [
    "activation",
    "categories",
    "impute",
    "impute_errors",
    "inertia_table",
    "inverse_transform",
    "merge",
    "neighbours",
    "novelty",
    "partial_fit",
    "partial_transform",
    "potential",
    "preimages",
    "probabilities",
    "reconstruction_error",
    "score_samples",
    "subtract",
    "supplementary_columns",
    "supplementary_rows",
    "transform_to",
    "uncertainty",
    "verify",
]


def public() -> Iterator[tuple[str, Any]]:
    """Everything that needs an example, by name."""
    for module in MODULES:
        home = import_module(module)
        for name in home.__all__:
            found = getattr(home, name)
            error = isinstance(found, type) and issubclass(found, Exception | KeyboardInterrupt)
            if callable(found) and not inspect.ismodule(found) and not error:
                yield f"{module}.{name}", found
    for module, names in OTHERS.items():
        for name in names:
            yield f"{module}.{name}", getattr(import_module(module), name)
    for method in METHODS:
        for name in TELLING:
            if hasattr(getattr(ritz, method), name):
                yield f"ritz.{method}.{name}", getattr(getattr(ritz, method), name)


PUBLIC = dict(public())
#: Names that share a docstring are run once.
DOCSTRINGS = {inspect.getdoc(found): name for name, found in reversed(PUBLIC.items()) if found.__doc__}


def without_example(found: dict[str, Any]) -> list[str]:
    parse = doctest.DocTestParser().get_examples
    return [name for name, thing in found.items() if not any(e.want for e in parse(thing.__doc__ or ""))]


def test_every_public_name_has_an_example():
    silent = {"ritz.testing.check_estimator", "ritz.testing.check_solver"}  # that they print nothing is the result
    assert set(without_example(PUBLIC)) <= silent
    assert {"ritz.PCA", "ritz.insight.blame", "ritz.kernels.RBF", "ritz.CA.merge"} <= set(PUBLIC)


def test_a_name_without_an_example_is_found():
    def shown() -> None:
        """Two.

        >>> 1 + 1
        2
        """

    def bare() -> None:
        """Says nothing."""

    assert without_example({"shown": shown, "bare": bare, "undocumented": lambda: None}) == ["bare", "undocumented"]


class Alike(doctest.OutputChecker):
    """White space does not count, nor does the last place of a number."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return super().check_output(want, got, optionflags) or same(want, got)


FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def failures(name: str, docstring: str) -> str:
    """What an example printed where it should have printed something else; empty if all is right."""
    test = doctest.DocTestParser().get_doctest(docstring, {"__name__": "example"}, name, None, 0)
    told: list[str] = []
    doctest.DocTestRunner(Alike(), optionflags=FLAGS, verbose=False).run(test, out=told.append)
    return "".join(told)


@pytest.fixture
def quiet(tmp_path: Any) -> Iterator[None]:
    """A folder to write to, and no window."""
    with contextlib.chdir(tmp_path), np.printoptions(), mpl.rc_context({"backend": "agg"}):
        yield
        if "matplotlib.pyplot" in __import__("sys").modules:
            import_module("matplotlib.pyplot").close("all")


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("name", sorted(DOCSTRINGS.values()))
def test_an_example_prints_what_it_shows(name):
    found = failures(name, inspect.getdoc(PUBLIC[name]) or "")
    assert not found, found


@pytest.mark.parametrize(
    ("want", "right"),
    [("array([0.333])", True), ("array([0.334])", True), ("array([0.343])", False), ("array([1/3])", False)],
)
def test_an_example_that_is_wrong_is_found(want, right):
    assert bool(failures("thirds", f">>> import numpy as np\n>>> np.array([1 / 3]).round(3)\n{want}\n")) is not right


# ------------------------------------------------------------------------------------------------ parameters


def documented(thing: Any) -> list[str] | None:
    """Names in the section "Parameters"; None where there is none."""
    section = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\w+\n-{3,}$|\Z)", inspect.getdoc(thing) or "", re.DOTALL | re.MULTILINE
    )
    if section is None:
        return None
    heads = re.findall(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?= : |$)", section[1], flags=re.MULTILINE)
    return [name for head in heads for name in head.replace("*", "").split(", ")]


def parameters(thing: Callable[..., Any]) -> list[str]:
    return [name for name in inspect.signature(thing).parameters if name not in ("self", "_args", "_options")]


def test_docstrings_name_the_parameters_that_there_are():
    differ = {
        name: (documented(found), parameters(found))
        for name, found in PUBLIC.items()
        if documented(found) is not None and sorted(documented(found) or []) != sorted(parameters(found))
    }
    assert not differ


def test_what_users_call_documents_its_parameters():
    plain = [name for name in PUBLIC if name.startswith("ritz.") and name.count(".") == 1]
    calls = [*plain, *(name for name in PUBLIC if name.startswith(("ritz.insight.", "ritz.plot.")))]
    assert not [name for name in calls if parameters(PUBLIC[name]) and documented(PUBLIC[name]) is None]
