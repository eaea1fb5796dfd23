"""Sums about zero that means outweigh: Σw(x − μ)² = Σwx² − wμ² has lost its digits where wμ² is nearly all of Σwx²."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ritz._core.tolerance import CONSTANT

__all__ = ["outweighed"]

#: Squares of means, in squares about them, that may be taken off sums whose rows have uneven weights: of all columns of
#: a small table with weights far apart, and of one column, or of a table, otherwise.
FEW_TAKEN_OFF, MANY_TAKEN_OFF = 2.0, 64.0


def outweighed(about: NDArray[np.float64], left: NDArray[np.float64], far: bool, *, columns: bool) -> bool:
    """Whether squares of means outweigh what is left about them: of single ``columns``, or of all together."""
    if not (far or columns):
        return not float(np.sum(about)) <= MANY_TAKEN_OFF * float(np.sum(left))
    varying = about > 0 if far else left > CONSTANT * 2.0**-53 * about  # a column of ones alone fills no table
    share = about[varying] / np.maximum(left[varying], np.finfo(np.float64).tiny)
    return not (float(np.sum(share)) <= FEW_TAKEN_OFF if far else float(np.max(share, initial=0.0)) <= MANY_TAKEN_OFF)
