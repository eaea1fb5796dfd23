"""What the program need not load: scikit-learn and Arrow ask for libraries that most commands never use.

    scipy.stats, numpy.f2py, …                       loaded when something of them is used      0.6 s of processor time
    pandas, for sklearn.utils.fixes and for Arrow    not there; for everybody else as usual     0.3 s

``sklearn.utils.fixes`` imports scipy.stats for one function that nothing here calls, and pandas in a ``try`` that does
without. Arrow looks for pandas, from C, to know its series when it meets them: the program has none. Both would make up
most of the time of a command that places a few rows. Code that names pandas gets it. Only the program does this, never
``import ritz``.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

__all__ = ["load_less"]

ASKS_FOR_PANDAS = "sklearn.utils.fixes"
LATER = ("scipy.stats", "scipy.optimize", "scipy.special", "scipy.spatial", "numpy.f2py", "numpy.testing", "asyncio")


class _Less:
    """A finder of modules that comes before all others and sees to a few names."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == "pandas" and not _asked_for():
            raise ModuleNotFoundError("pandas is not needed here", name=name)
        if name not in LATER:
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)
        if spec is not None and spec.loader is not None:
            spec.loader = importlib.util.LazyLoader(spec.loader)
        return spec


def _asked_for() -> bool:
    """Whether the Python code that is being run names pandas itself, and is not scikit-learn's."""
    frame: Any = inspect.currentframe()
    frame = frame.f_back.f_back
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith("importlib"):
        frame = frame.f_back
    words = (*frame.f_code.co_names, *(word for word in frame.f_code.co_consts if isinstance(word, str)))
    return frame.f_globals.get("__name__") != ASKS_FOR_PANDAS and any(word.startswith("pandas") for word in words)


def load_less() -> None:
    """Have this process load what is asked for and not used only when it is used."""
    if not any(isinstance(finder, _Less) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Less())
