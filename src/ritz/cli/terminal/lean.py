"""What the program need not load: SciPy, scikit-learn and Arrow ask for libraries that most commands never use.

    scipy.stats, numpy.ma, …                         loaded when something of them is used      0.6 s of processor time
    pandas, for sklearn.utils.fixes and for Arrow    not there; for everybody else as usual     0.3 s
    scikit-learn, for its base classes               not loaded for them (``_core/bases.py``)   0.3 s

``sklearn.utils.fixes`` imports scipy.stats for one function that nothing here calls, and pandas in a ``try`` that does
without. Arrow looks for pandas, from C, to know its series when it meets them: the program has none. Both would make up
most of the time of a command that places a few rows. Code that names pandas gets it. Only the program does this, never
``import ritz``.
"""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ritz._core import imports

__all__ = ["load_less"]

ASKS_FOR_PANDAS = "sklearn.utils.fixes"
LATER = (
    "scipy.linalg", "scipy.stats", "scipy.optimize", "scipy.special", "scipy.spatial", "numpy.f2py", "numpy.ma",
    "numpy.polynomial", "numpy.testing", "asyncio", "pydoc",
)  # fmt: skip
#: What is known of a module before it is run.
KNOWN = ("__class__", "__dict__", "__doc__", "__file__", "__loader__", "__name__", "__package__", "__spec__")
#: Modules that wait, by id, and what runs them.
_waits: dict[int, _Later] = {}


class _Waiting(ModuleType):
    """A module that is run when something of it is read; whoever reads meanwhile, in another thread, waits for it."""

    def __getattribute__(self, name: str) -> Any:
        if name not in KNOWN:
            _run(self)
        return ModuleType.__getattribute__(self, name)


def _run(module: ModuleType) -> None:
    waiting = _waits.get(id(module))
    if waiting is None:
        return
    with waiting.lock:
        if waiting.running or id(module) not in _waits:  # by this thread, which may read what is there; or by another
            return
        waiting.running = True
        try:
            waiting.loader.exec_module(module)
            module.__class__ = ModuleType
            del _waits[id(module)]
        finally:
            waiting.running = False


class _Later:
    """A loader that has a module wait instead of running it."""

    def __init__(self, loader: Any) -> None:
        self.loader, self.lock, self.running = loader, threading.RLock(), False

    def create_module(self, spec: ModuleSpec) -> Any:
        return self.loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        module.__spec__.loader = module.__loader__ = self.loader
        _waits[id(module)] = self
        module.__class__ = _Waiting


class _Less:
    """A finder of modules that comes before all others and sees to a few names."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == "pandas" and not _asked_for():
            raise ModuleNotFoundError("pandas is not needed here", name=name)
        if name not in LATER:
            return None
        found = (one.find_spec(name, path, target) for one in sys.meta_path if one is not self)
        spec = next((one for one in found if one is not None), None)
        if spec is not None and spec.loader is not None:
            spec.loader = _Later(spec.loader)  # type: ignore[assignment]
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
    imports.alone = True
    if not any(isinstance(finder, _Less) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Less())
