"""Rounding of products on a device, measured while they are formed, as ``passes/rounding.py`` does it on the host.

    P_s = fl(z_sᵀz_s)         one product a slab of rows s, all slabs of a block at once
    somewhere   E = P_s − z_sᵀz_s in float64 (float64 rows: in pieces of 256), of slabs chosen by their mass tr P_s
    everywhere  y = Σ (P_s r − z_sᵀ(z_s r)) over one slab in EVERY, at changing places

The same sums are filled, so the same bound is read from them (``Watched.noise``): slabs take the place of blocks. Which
slabs are looked at is decided for a whole block at once, from the masses of its slabs. What they hardly decide is asked
of the device ahead, and comes to the host with them in one copy: nobody waits for anybody before the next block is
under way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.there import Brought
from ritz.data.passes.rounding import (
    CHECK_PIECE,
    GOLDEN,
    HEAVY,
    OUTWEIGHS,
    PIECE,
    PROBES,
    RETURNING,
    SAMPLED_COLUMNS,
    SAMPLED_ROWS,
    SHARE_EQUAL,
    Watched,
)

__all__ = ["CORNER", "Ahead", "Slabs", "WatchedThere", "sent"]

#: One slab of so many is probed at most: a probe reads its rows again, in float64.
EVERY = 128
#: Bytes of rows in float64 that are probed at once.
PROBED_BYTES = 256 << 20
#: Columns above which the rounding of slabs formed anew is measured on a corner of so many columns, as in ``wide.py``.
WIDE, CORNER = 2048, 256


@dataclass
class Slabs:
    """The rows of a block as slabs of products: rows z (b, d) under the shift, and what was formed of them."""

    x: Any  # (b, d) the rows as they lie
    shift: Any  # (d,) in the working precision
    inverse: float  # 1/unit
    root: Any  # (b,) √w, or None
    dtype: Any  # working precision
    height: int  # rows of a slab
    product: Any = None  # function: numbers of slabs → (m, d, d) float64, their products as they were formed
    masses: Any = None  # (p,) float64: traces of these

    @property
    def count(self) -> int:
        """Slabs."""
        return -(-int(self.x.shape[0]) // self.height)

    def shifted(self, x: Any, root: Any) -> Any:
        """z of some rows, in the working precision."""
        x = x if x.dtype == self.dtype or _wide(x, self.dtype) else x.to(self.dtype)
        z = (x - self.shift.to(x.dtype)).to(self.dtype)
        if self.inverse != 1:
            z = z * self.inverse
        return z if root is None else z * root[..., None]

    def rows(self, numbers: list[int]) -> Any:
        """(m, height, d) z of some slabs, in the working precision; what is lacking in the last one are zeros."""
        import torch

        whole, R = int(self.x.shape[0]) // self.height, self.height
        inner = [i for i in numbers if i < whole]
        parts = []
        if inner:
            at = sent(np.asarray(inner), self.x.device)
            root = None if self.root is None else self.root[: whole * R].unflatten(0, (whole, R))[at]
            parts.append(self.shifted(self.x[: whole * R].unflatten(0, (whole, R))[at], root))
        if len(inner) < len(numbers):
            root = None if self.root is None else self.root[whole * R :]
            tail = self.shifted(self.x[whole * R :], root)
            parts.append(torch.nn.functional.pad(tail, (0, 0, 0, R - tail.shape[0]))[None])
        return parts[0] if len(parts) == 1 else torch.cat(parts)


def _wide(x: Any, dtype: Any) -> bool:
    return bool(x.dtype.is_floating_point and x.dtype.itemsize > dtype.itemsize)


#: Slabs of the first block that are likely to weigh as much as all before them, so that all vectors probe them.
LIKELY = 2


@dataclass
class Ahead:
    """What is asked of a device before the masses of slabs are known there: it is done by the time that they are."""

    places: list[tuple[int, int]]  # slabs whose turn it is, and the vectors that probe them
    whole: list[int]  # slabs that all vectors probe
    names: list[str]  # of what is on its way to the host
    brought: Brought

    def arrived(self) -> dict[str, NDArray[np.float64]]:
        """What was asked for, on the host; the device is waited for here."""
        return dict(zip(self.names, self.brought.arrays(), strict=True))


class WatchedThere(Watched):
    """Accumulators of products on a device whose rounding is measured."""

    begun = False  # whether a slab was formed anew ahead of all others

    def ahead(self, slabs: Slabs, **more: Any) -> Ahead:
        """Set the device to work on what the masses hardly decide; ``more`` is to come to the host as well."""
        tall = slabs.x.shape[0] > PIECE
        first, self.begun = not self.begun, True
        coming: dict[str, Any] = {"masses": slabs.masses, **more}
        coming |= {f"equal{i}": some for i, some in enumerate(self._equal(slabs) if tall else [])}
        if tall and first and self.most:
            coming["first"] = self._error(slabs, 0)
        likely = PROBES if self.vectors == PROBES else LIKELY if first else 0
        whole = list(range(min(likely, slabs.count)))
        places = [(i, v) for i, v in self._places(slabs.count) if i not in whole]
        if places:
            R = sent(self.random.T[[v for _, v in places], :, None], slabs.x.device)
            coming["seen"] = _seen(slabs, [i for i, _ in places], R)[:, :, 0]
        if whole:
            coming["whole"] = _seen(slabs, whole, sent(self.random[None], slabs.x.device))
        return Ahead(places, whole, list(coming), Brought(list(coming.values())))

    def measure(self, slabs: Slabs, ahead: Ahead | None = None, here: dict[str, Any] | None = None) -> None:
        """Look at the products of a block: weigh its slabs, form some anew, probe some."""
        ahead = self.ahead(slabs) if ahead is None else ahead
        here = ahead.arrived() if here is None else here
        masses = here["masses"]
        if not np.isfinite(masses).all():
            self.mass = self.mass2 = float("nan")  # rows that are not finite: the sums say so
            return
        tall = slabs.x.shape[0] > PIECE
        anew = self._outweighing(masses) if tall else []
        again = np.zeros(len(masses), bool)
        flags = np.concatenate([here[name] for name in here if name.startswith("equal")] or [again[:0]])
        again[: len(flags)] = flags > 0
        again &= masses > 0
        self.repeated += float(np.sum(masses[again]))
        alike = np.flatnonzero(again)[: max(0, RETURNING - len(self.alike))].tolist()
        for i in sorted({*anew, *alike}):
            error = here["first"] if i == 0 and "first" in here else self._error(slabs, i).cpu().numpy()
            self.errors += [error] if i in anew else []
            self.alike += [error] if i in alike else []
            self.alike_masses += [float(masses[i])] if i in alike else []
        self._probe(slabs, masses, ahead, here)

    def _outweighing(self, masses: NDArray[np.float64]) -> list[int]:
        """Count the slabs; those to be formed anew: the first with any mass, and each that outweighs those before."""
        self.mass += float(np.sum(masses))
        self.mass2 += float(np.sum(np.square(masses)))
        found: list[int] = []
        while len(self.errors) + len(found) < self.most:
            heavier = masses > OUTWEIGHS * self.heaviest
            heavier[: found[-1] + 1 if found else 0] = False
            if not heavier.any():
                break
            found.append(int(np.argmax(heavier)))
            self.heaviest = float(masses[found[-1]])
        return found

    def _equal(self, slabs: Slabs) -> list[Any]:
        """Whether the numbers of some column come again and again, as sampled rows and columns of each slab tell."""
        import torch

        whole, R, d = int(slabs.x.shape[0]) // slabs.height, slabs.height, int(slabs.x.shape[1])
        if not self.most:
            return []
        rows, columns = max(1, R // SAMPLED_ROWS), max(1, d // SAMPLED_COLUMNS)
        views = [slabs.x[: whole * R].unflatten(0, (whole, R))[:, ::rows, ::columns]] if whole else []
        if (left := int(slabs.x.shape[0]) - whole * R) >= SAMPLED_ROWS:
            views.append(slabs.x[None, whole * R :][:, :: left // SAMPLED_ROWS, ::columns])
        found = []
        for view in views:
            some = torch.sort(view.contiguous(), dim=1).values
            equal = (some[:, 1:] == some[:, :-1]).sum(dim=1).amax(dim=1)
            found.append(equal >= SHARE_EQUAL * some.shape[1])
        return found

    def _error(self, slabs: Slabs, i: int) -> Any:
        """E/t of a slab: what its product lacks of the same product in float64, in short pieces where it is float64."""
        z = slabs.rows([i])[0]
        made, d = slabs.product([i])[0], int(z.shape[1])
        if d > WIDE:
            z, made = z[:, :CORNER], made[:CORNER, :CORNER]
        share = made.diagonal().sum()
        return (made - better_there(z, CHECK_PIECE)) / share.where(share != 0, share.new_ones(()))

    def _places(self, count: int) -> list[tuple[int, int]]:
        """Slabs at places that change from group to group, one of ``every``, and the vectors whose turn it is."""
        first, every = self.ordinal, self.every
        self.ordinal += count
        if self.vectors == PROBES:
            return []
        groups = range(first // every, (first + count - 1) // every + 1)
        drawn = [g * every + (((g + 1) * GOLDEN % 2**64 * every) >> 64) - first for g in groups]
        slabs = [i for i in drawn if 0 <= i < count]
        turns = range(int(self.turn) + 1, int(self.turn) + 1 + len(slabs))
        self.turn += len(slabs)
        return [(i, turn % PROBES) for i, turn in zip(slabs, turns, strict=True)]

    def _probe(self, slabs: Slabs, masses: NDArray[np.float64], ahead: Ahead, here: dict[str, Any]) -> None:
        """Add what the probes saw: at the places, of slabs that weigh what the one before weighs, and of heavy ones."""
        total = self.mass - float(np.sum(masses)) + np.cumsum(masses)
        same = masses == np.concatenate([[self.before], masses[:-1]])
        self.before = float(masses[-1])
        whole = (masses >= HEAVY * total) | (self.vectors == PROBES)
        for j, i in enumerate(ahead.whole):
            if masses[i] > 0:
                self._saw(here["whole"][j], slice(0, PROBES), masses[i])
        for j, (i, v) in enumerate(ahead.places):
            if masses[i] > 0 and not whole[i]:
                self._saw(here["seen"][j][:, None], slice(v, v + 1), masses[i])
        at = {i for i, _ in ahead.places}
        due = np.flatnonzero((masses > 0) & (whole | same)).tolist()
        due = [i for i in due if i not in ahead.whole and (whole[i] or i not in at)]
        if not due:
            return
        R = sent(self.random[None], slabs.x.device)
        for i, y in zip(due, _seen(slabs, due, R).cpu().numpy(), strict=True):
            if whole[i]:
                self._saw(y, slice(0, PROBES), masses[i])
                continue
            self.turn += 1
            v = int(self.turn) % PROBES
            self._saw(y[:, v : v + 1], slice(v, v + 1), masses[i])

    def _saw(self, seen: NDArray[np.float64], vectors: slice, mass: float) -> None:
        self.probe[:, vectors] += seen
        self.met[vectors] += mass
        self.met2[vectors] += mass * mass


def sent(x: NDArray[Any], device: Any) -> Any:
    """An array of the host as a tensor on a device, which is not waited for: it may be busy for milliseconds."""
    import torch

    here = torch.from_numpy(np.ascontiguousarray(x))
    return here.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else here


def _seen(slabs: Slabs, numbers: list[int], r: Any) -> Any:
    """``P r − zᵀ(z r)`` (m, d, l) of some slabs in float64; r (m or 1, d, l)."""
    import torch

    step, seen = max(1, PROBED_BYTES // (8 * slabs.height * int(slabs.x.shape[1]))), []
    for first in range(0, len(numbers), step):
        some = numbers[first : first + step]
        z, own = slabs.rows(some).to(torch.float64), r if len(r) == 1 else r[first : first + step]
        seen.append(slabs.product(some) @ own - _pieced(z, z @ own))
    return seen[0] if len(seen) == 1 else torch.cat(seen)


def better_there(z: Any, piece: int = PIECE) -> Any:
    """``zᵀz`` (d, d) with less rounding: in float64, of float64 rows in short pieces that are added as a tree."""
    import torch

    if z.dtype != torch.float64:
        z = z.to(torch.float64)
        return z.T @ z
    whole, d = int(z.shape[0]) // piece, int(z.shape[1])
    tail = z[whole * piece :]
    total = tail.T @ tail
    step = max(1, PROBED_BYTES // (8 * d * d))
    parts = z[: whole * piece].unflatten(0, (whole, piece)) if whole else z[:0, None]
    for i in range(0, whole, step):
        some = parts[i : i + step]
        total = total + (some.transpose(1, 2) @ some).sum(dim=0)
    return total


def _pieced(z: Any, y: Any) -> Any:
    """``zᵀy`` of slabs, (m, d, l), in float64 and short pieces."""
    m, R, d = z.shape
    piece = PIECE if R % PIECE == 0 else R
    left = z.reshape(m, R // piece, piece, d).transpose(2, 3)
    return (left @ y.reshape(m, R // piece, piece, -1)).sum(dim=1)
