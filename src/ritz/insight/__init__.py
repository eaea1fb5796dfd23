"""What a fitted model says: functions of a model, and of rows where they need some.

    choose_rank           how many components: all criteria side by side, with a consensus
    t2, spe, combined     distances of rows in the plane and off it
    limits                how large is too large, for rows of the fit and for new ones
    blame                 which columns made a row odd
    outliers              which rows are odd, with the false discovery rate controlled
    conformal_p, benjamini_hochberg   the two steps of it on scores of one's own
    outlier_map           score distance against orthogonal distance
    ellipse               confidence ellipses of rows, of their means, and of the points of a correspondence map

Each name brings its module in when it is first read. Many modules are called like their function; a module that is
loaded does not take the function's place here.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ritz.insight.blame import blame as blame
    from ritz.insight.choose_rank import choose_rank as choose_rank
    from ritz.insight.ellipse import ellipse as ellipse
    from ritz.insight.limits import limits as limits
    from ritz.insight.outliers import benjamini_hochberg as benjamini_hochberg
    from ritz.insight.outliers import conformal_p as conformal_p
    from ritz.insight.outliers import outliers as outliers
    from ritz.insight.outliers_map import outlier_map as outlier_map
    from ritz.insight.t2 import combined as combined
    from ritz.insight.t2 import spe as spe
    from ritz.insight.t2 import t2 as t2

# Where each public name lives.
_NAMES = {
    "benjamini_hochberg": "outliers",
    "blame": "blame",
    "choose_rank": "choose_rank",
    "combined": "t2",
    "conformal_p": "outliers",
    "ellipse": "ellipse",
    "limits": "limits",
    "outlier_map": "outliers_map",
    "outliers": "outliers",
    "spe": "t2",
    "t2": "t2",
}

__all__ = sorted(_NAMES)


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(import_module(f"ritz.insight.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'ritz.insight' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


class _Names(ModuleType):
    """Keeps public names for functions: Python would set a loaded module ``insight.t2`` as the attribute ``t2``."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _NAMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Names
