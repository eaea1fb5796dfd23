"""Rounding of products on a device, measured while they are formed, as ``passes/rounding.py`` does it on the host.

    P_s = fl(z_sᵀz_s)         one product a slab of rows s, all slabs of a block at once
    somewhere   E = P_s − z_sᵀz_s in float64 (float64 rows: in pieces of 256), of slabs chosen by their mass tr P_s
    everywhere  y = Σ (P_s r − z_sᵀ(z_s r)) over one slab in EVERY, at changing places

The same sums are filled, so the same bound is read from them (``Watched.noise``): slabs take the place of blocks. Which
slabs are looked at is decided for a whole block at once, from the masses of its slabs: a device waits for the host once
a block, not once a slab.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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

__all__ = ["CORNER", "Slabs", "WatchedThere"]

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
            at = torch.as_tensor(inner, device=self.x.device)
            root = None if self.root is None else self.root[: whole * R].unflatten(0, (whole, R))[at]
            parts.append(self.shifted(self.x[: whole * R].unflatten(0, (whole, R))[at], root))
        if len(inner) < len(numbers):
            root = None if self.root is None else self.root[whole * R :]
            tail = self.shifted(self.x[whole * R :], root)
            parts.append(torch.nn.functional.pad(tail, (0, 0, 0, R - tail.shape[0]))[None])
        return parts[0] if len(parts) == 1 else torch.cat(parts)


def _wide(x: Any, dtype: Any) -> bool:
    return bool(x.dtype.is_floating_point and x.dtype.itemsize > dtype.itemsize)


class WatchedThere(Watched):
    """Accumulators of products on a device whose rounding is measured."""

    def measure(self, slabs: Slabs) -> None:
        """Look at the products of a block: weigh its slabs, form some anew, probe some."""
        masses = slabs.masses.cpu().numpy()
        if not np.isfinite(masses).all():
            self.mass = self.mass2 = float("nan")  # rows that are not finite: the sums say so
            return
        tall = slabs.x.shape[0] > PIECE
        anew = self._outweighing(masses) if tall else []
        again = self._returning(slabs, masses) if tall else np.zeros(len(masses), bool)
        self.repeated += float(np.sum(masses[again]))
        alike = np.flatnonzero(again)[: max(0, RETURNING - len(self.alike))].tolist()
        for i in sorted({*anew, *alike}):
            error = self._error(slabs, i)
            self.errors += [error] if i in anew else []
            self.alike += [error] if i in alike else []
        self._probe(slabs, masses)

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

    def _returning(self, slabs: Slabs, masses: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(p,) slabs in which the numbers of some column come again and again, as sampled rows and columns tell."""
        import torch

        whole, R, d = int(slabs.x.shape[0]) // slabs.height, slabs.height, int(slabs.x.shape[1])
        found = np.zeros(len(masses), bool)
        if not self.most:
            return found
        rows, columns = max(1, R // SAMPLED_ROWS), max(1, d // SAMPLED_COLUMNS)
        views = [slabs.x[: whole * R].unflatten(0, (whole, R))[:, ::rows, ::columns]] if whole else []
        if whole < len(masses) and (left := int(slabs.x.shape[0]) - whole * R) >= SAMPLED_ROWS:
            views.append(slabs.x[None, whole * R :][:, :: left // SAMPLED_ROWS, ::columns])
        at = 0
        for view in views:
            some = torch.sort(view.contiguous(), dim=1).values
            equal = (some[:, 1:] == some[:, :-1]).sum(dim=1).amax(dim=1)
            flags = (equal >= SHARE_EQUAL * some.shape[1]).cpu().numpy()
            found[at : at + len(flags)] = flags
            at += len(flags)
        return found & (masses > 0)

    def _error(self, slabs: Slabs, i: int) -> NDArray[np.float64]:
        """E/t of a slab: what its product lacks of the same product in float64, in short pieces where it is float64."""
        z = slabs.rows([i])[0]
        made, d = slabs.product([i])[0], int(z.shape[1])
        if d > WIDE:
            z, made = z[:, :CORNER], made[:CORNER, :CORNER]
        share = float(made.diagonal().sum())
        error = (made - better_there(z, CHECK_PIECE)) / (share or 1.0)
        return np.asarray(error.cpu().numpy())

    def _probe(self, slabs: Slabs, masses: NDArray[np.float64]) -> None:
        """Add what the probes saw of the slabs that are due."""
        import torch

        due = self._due(masses)
        if not due:
            return
        R = torch.as_tensor(self.random, device=slabs.x.device)
        d, before = int(slabs.x.shape[1]), 0
        step = max(1, PROBED_BYTES // (8 * slabs.height * d))
        seen = torch.zeros_like(R)
        for before in range(0, len(due), step):
            some = due[before : before + step]
            z = slabs.rows([i for i, _ in some]).to(torch.float64)
            made = slabs.product([i for i, _ in some])
            for width in {vectors.stop - vectors.start for _, vectors in some}:
                at = [j for j, (_, vectors) in enumerate(some) if vectors.stop - vectors.start == width]
                r = torch.stack([R[:, some[j][1]] for j in at])
                zz, mm = (z, made) if len(at) == len(some) else (z[at], made[at])
                y = mm @ r - _pieced(zz, zz @ r)
                which = torch.as_tensor(
                    [range(some[j][1].start, some[j][1].stop) for j in at], device=R.device
                ).reshape(-1)
                seen.index_add_(1, which, y.permute(1, 0, 2).reshape(d, -1))
        self.probe += seen.cpu().numpy()
        for i, vectors in due:
            self.met[vectors] += masses[i]
            self.met2[vectors] += masses[i] ** 2

    def _due(self, masses: NDArray[np.float64]) -> list[tuple[int, slice]]:
        """The slabs that are probed, with the vectors; the rule of ``Watched.some``, for all slabs of a block."""
        count, every = len(masses), self.every
        before = np.concatenate([[self.before], masses[:-1]])
        total = self.mass - float(np.sum(masses)) + np.cumsum(masses)
        first = self.ordinal
        groups = range(first // every, (first + count - 1) // every + 1)
        drawn = np.array([((g + 1) * GOLDEN % 2**64 * every) >> 64 for g in groups])
        ordinals = np.arange(first, first + count)
        place = ordinals % every == drawn[ordinals // every - groups.start]
        self.ordinal, self.before = first + count, float(masses[-1])
        whole = (masses >= HEAVY * total) | (self.vectors == PROBES)
        found: list[tuple[int, slice]] = []
        for i in np.flatnonzero((masses > 0) & (whole | place | (masses == before))).tolist():
            if whole[i]:
                found.append((i, slice(0, PROBES)))
                continue
            self.turn += 1
            at = int(self.turn) % PROBES
            found.append((i, slice(at, at + 1)))
        return found


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
