"""Random streams that do not depend on chunks, threads or machines.

Gaussian test matrices ``Ω`` (d×l) are drawn in absolute blocks of 1,024 rows. Each block has its own counter of a
Philox generator keyed by ``(seed, stream)``, so rows ``a:b`` are the same numbers however the rows are cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ritz._core.linalg import Array, Place

__all__ = ["BLOCK", "gaussian_block", "gaussian_rows", "seed_of"]

#: Rows that share one counter.
BLOCK = 1024


def _block(seed: int, stream: int, index: int, rows: int, width: int) -> NDArray[np.float64]:
    """The first rows of a block: they are drawn one after the other."""
    key = np.array([seed & 0xFFFFFFFFFFFFFFFF, stream], dtype=np.uint64)
    counter = np.array([0, 0, index, 0], dtype=np.uint64)
    generator = np.random.Generator(np.random.Philox(key=key, counter=counter))
    return generator.standard_normal((rows, width))


def gaussian_rows(seed: int, stream: int, start: int, stop: int, width: int) -> NDArray[np.float64]:
    """Rows ``start:stop`` of the endless Gaussian matrix of this seed and stream, ``width`` columns wide."""
    first, last = start // BLOCK, -(-stop // BLOCK)
    if stop <= start:
        return np.empty((0, width))
    drawn = [_block(seed, stream, i, min(BLOCK, stop - i * BLOCK), width) for i in range(first, last)]
    rows = drawn[0] if len(drawn) == 1 else np.concatenate(drawn)
    return rows[start - first * BLOCK : stop - first * BLOCK]


def gaussian_block(place: Place, seed: int, stream: int, p: int, width: int) -> Array:
    """A Gaussian matrix (p, width) of this seed and stream where ``place`` is.

    On a graphics processor it is drawn there, by the same Philox generator with a key of its own: 10⁶ × 64 numbers take
    a millisecond there and most of a second here. Such a start is as random, but it is another one.
    """
    if getattr(place.device, "type", "cpu") == "cpu":
        return place.array(gaussian_rows(seed, stream, 0, p, width))
    import torch

    key = int(np.random.SeedSequence([seed & 0xFFFFFFFFFFFFFFFF, stream]).generate_state(1, np.uint64)[0] >> 1)
    generator = torch.Generator(device=place.device).manual_seed(key)
    return torch.randn((p, width), generator=generator, device=place.device, dtype=torch.float32).to(torch.float64)


def seed_of(random_state: object) -> int:
    """A non-negative integer seed from what scikit-learn accepts as ``random_state``.

    ``None`` means 0: an unseeded fit is still reproducible. A generator is asked for one integer.
    """
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)) and random_state >= 0:
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**31 - 1))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**31 - 1))
    from ritz._core.errors import ParameterError

    raise ParameterError(
        "random_state must be None, an int ≥ 0, a numpy Generator or a RandomState",
        received=repr(random_state),
        hint="pass an integer such as random_state=0",
    )
