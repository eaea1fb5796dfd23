"""Rows on a device under one affine frame: the products of ``operators/affine.py``, made where the rows lie.

    Z = D_r (X − 1 sᵀ − o 1ᵀ) D_c        X n×d in blocks of tensors;  s (d),  o (n),  D_r (n),  D_c (d)

As on the host the shift is taken off dense rows before they are multiplied, in two parts, and off the products of
sparse ones. Sums over rows are formed in pieces of PIECE rows, added in float64 as a tree, and over blocks they keep
what rounding takes. The rounding of ZᵀZV is measured: of dense rows on a few blocks, against the same products in
float64 and shorter pieces; of sparse rows on one vector, whose sums are formed anew as trees.

Blocks of vectors are taken and given in kind: tensors for tensors, arrays of the host for arrays of the host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial, wraps
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ritz._core.compensated import two_sum
from ritz._core.linalg import Array, Place, is_foreign
from ritz.data.engines.device.room import with_room
from ritz.data.passes.blocks import Block
from ritz.data.passes.device.dense import DevicePass
from ritz.data.passes.device.exact import exact
from ritz.data.passes.device.rounding import better_there
from ritz.data.passes.device.sparse import tree_sums
from ritz.data.passes.rounding import NOISE_SAFETY, SHORT_NOISE, extrapolate, largest
from ritz.data.passes.statistics import Statistics
from ritz.operators.affine import Affine

__all__ = ["DeviceAffine", "frame_of"]

F = TypeVar("F", bound=Callable[..., Any])

#: Rows of a piece whose sums a device forms in one go, and of one that checks them; bytes of such sums held at once.
PIECE, CHECK, HELD_BYTES = 256, 64, 256 << 20
#: Blocks whose products with vectors are formed anew, at most, and how much heavier each must be than those before.
ANEW, OUTWEIGHS = 3, 8.0
#: Of the products of sparse rows the first few are checked, and then one of so many: a check reads all entries twice.
CHECKED = 4


def frame_of(blocks: Any, **options: Any) -> Affine:
    """The frame of row blocks, without shift or scale: on the host, or where their device is."""
    return (DeviceAffine if getattr(blocks, "computes", False) else Affine)(blocks, **options)


def roomy(method: F) -> F:
    """A product in the precision that it seems to have, in smaller blocks where the device has little room."""

    @wraps(method)
    def called(self: Any, *arguments: Any, **named: Any) -> Any:
        with exact(self.place.device):
            words = "what a product makes of the rows"
            return with_room(self.blocks, words, lambda: method(self, *arguments, **named))

    return called  # type: ignore[return-value]


@dataclass
class _Sum:
    """A float64 sum of tensors that keeps what rounding takes."""

    high: Any = None
    low: Any = None

    def add(self, part: Any) -> None:
        """Add a tensor of float64 numbers."""
        if self.high is None:
            self.high, self.low = part, part.new_zeros(part.shape)
            return
        self.high, rest = two_sum(self.high, part.to(self.high.device))
        self.low = self.low + rest

    @property
    def value(self) -> Any:
        """The sum."""
        return self.high + self.low


@dataclass
class _Watch:
    """Rounding of products with vectors, measured on a few blocks."""

    errors: list[NDArray[Any]] = field(default_factory=list)
    mass: float = 0.0
    mass2: float = 0.0
    heaviest: float = 0.0

    def look(self, product: Any, anew: Callable[[], Any]) -> None:
        """Weigh the product of a block, and form it anew where that is due."""
        mass = float(product.norm())
        self.mass += mass
        self.mass2 += mass * mass
        if mass > OUTWEIGHS * self.heaviest and len(self.errors) < ANEW:
            self.heaviest = mass
            self.errors.append(np.asarray(((product - anew()) / mass).cpu().numpy()))

    def measured(self) -> float:
        """Bound on the rounding of all of them."""
        return extrapolate(self.errors, self.mass, self.mass2)


@dataclass(frozen=True)
class DeviceAffine(Affine):
    """Products with ``D_r (X − 1sᵀ − o1ᵀ) D_c`` on a device."""

    there: dict[Any, Any] = field(default_factory=dict, init=False, compare=False)  # parts of the frame, on devices

    @property
    def place(self) -> Place:
        """Where the sums come together."""
        return self.blocks.place  # type: ignore[no-any-return,attr-defined]

    def transposed(self) -> DeviceAffine:
        """The frame of Xᵀ."""
        turned = self.blocks.transposed()  # type: ignore[attr-defined]
        return DeviceAffine(
            turned, self.offset, self.offset_low, self.shift, self.col_scale, self.row_scale, self.precision,
            self.shift_low,
        )  # fmt: skip

    # products

    @roomy
    def matmat(self, V: Array, lengths: NDArray[np.float64] | None = None) -> Array:
        """``Z V``, (n, l); ``lengths`` (n,) is filled with ‖z‖² of every row on the way, where rows are dense."""
        there = is_foreign(V)
        n, width = self.shape[0], int(V.shape[1])
        out: Any = self.place.empty((n, width), self.precision) if there else np.empty((n, width), self.precision)
        for block in self._each():
            W, drop = self._right_there(V, block)
            rows = self._rows_there(block)
            B = self._finish_there(rows @ W, block, drop, W)
            if lengths is not None:
                lengths[block.rows] = self._lengths_there(rows, block).cpu().numpy()
            if there:
                out[block.start : block.start + B.shape[0]] = B
            else:
                out[block.rows] = B.cpu().numpy()
        return out

    @roomy
    def rmatmat(self, U: Array) -> Array:
        """``Zᵀ U``, (d, l), summed in float64."""
        total, sums, tail = _Sum(), _Sum(), _Sum()
        for block in self._each():
            B = self._scaled(self._some(U, block), block)
            self._gather(total, sums, tail, self._rows_there(block), B, block)
        return self._in_kind(self._left_there(total, sums, tail), U)

    def keeps(self) -> bool:
        """Never: a product that is kept would have to leave the device."""
        return False

    @roomy
    def normal(self, V: Array, learn: Statistics | None = None, keep: Array | None = None) -> Array:
        """``ZᵀZ V``, (d, l), in one pass."""
        total, sums, tail, watch = _Sum(), _Sum(), _Sum(), _Watch()
        sparse, count = self.blocks.sparse, len(self.noise)
        looks = not self.loose and (count < CHECKED or count % CHECKED == 0)
        for block in self._each():
            W, drop = self._right_there(V, block)
            rows = self._rows_there(block)
            B = self._scaled(self._finish_there(rows @ W, block, drop, W), block)
            product = self._gather(total, sums, tail, rows, B, block)
            if not sparse:
                watch.look(self._in_units(product), partial(self._anew, rows, B))
            elif looks:
                watch.errors.append(self._sparse_error(block, rows, W, drop, product))
        if not self.loose:
            self._remember(watch, V)
        return self._in_kind(self._left_there(total, sums, tail), V)

    @roomy
    def gram(self, W: Array | None) -> Array:
        """``WᵀZᵀZ W``, (p, p), summed in float64 over blocks; without W the Gram matrix of the columns."""
        if W is None:
            return self._whole_there()
        total = _Sum()
        for block in self._each():
            right, drop = self._right_there(W, block)
            B = self._finish_there(self._rows_there(block) @ right, block, drop, right)
            total.add(better_there(B.double()))  # a repair pass must not round in one direction
        return self._in_kind(total.value, W)

    @roomy
    def square(self) -> float | None:
        """``‖Z‖²_F`` by one pass; of sparse rows on the host, which knows what cancels."""
        if self.blocks.sparse:
            return super().square()
        total = _Sum()
        for block in self._each():
            Z = self._columns_there(self._rows_there(block), block).double()
            total.add((Z * Z).sum())
        return float(total.value)

    def _whole_there(self) -> Array:
        """The Gram matrix of all columns, by the moment pass about zero of rows under the whole frame."""
        n, d = self.shape
        if self.blocks.sparse:
            return super()._whole_gram()
        short = float(n) * d * d <= 1e8
        dtype = np.dtype(self.precision)
        state = DevicePass(np.zeros(d), 1.0, None, dtype, True, short, n)
        for block in self._each():
            state.feed(Block(self._columns_there(self._rows_there(block), block), block.start))
        state.close()
        state.settle()
        total = state.finish()
        finite = bool(np.isfinite(total).all())
        noise = SHORT_NOISE * 2.0**-53 * largest(total) if finite and (short or not state.errors) else 0.0
        self.noise.append(noise if short or not finite else state.noise() + noise)
        return total

    # pieces of a pass

    def _each(self) -> Iterator[Block]:
        """Blocks of tensors of all devices, in row order."""
        for first, part in self.blocks.parts():  # type: ignore[attr-defined]
            for block in part.each_there():
                yield Block(block.values, first + block.start)

    def _at(self, name: str, device: Any, dtype: Any, rows: slice | None = None) -> Any:
        """A part of the frame as a tensor; kept."""
        import torch

        key = (name, str(device), dtype)
        if key not in self.there:
            self.there[key] = torch.as_tensor(np.asarray(getattr(self, name), np.float64), device=device).to(dtype)
        return self.there[key] if rows is None else self.there[key][rows]

    def _dtype(self) -> Any:
        return self.place.dtype(self.precision)

    def _rows_there(self, block: Block) -> Any:
        """The rows of a block, shifted, in the working precision; CSR rows as they are."""
        x, dtype = block.values, self._dtype()
        if self.blocks.sparse:
            return x if x.dtype == dtype else self._kept(("as", block.start, dtype), lambda: _cast(x, dtype))
        wide = x.dtype if x.dtype.is_floating_point and x.dtype.itemsize > dtype.itemsize else dtype
        z = x.to(wide)
        if self.shift is not None:
            z = z - self._at("shift", x.device, wide)
        if self.offset is not None:
            high = self._at("offset", x.device, wide, block.rows)
            z = z - high[:, None]
            rest = self._at("offset", x.device, self.place.dtype(np.float64), block.rows) - high.double()
            if self.offset_low is not None:
                rest = rest + self._at("offset_low", x.device, rest.dtype, block.rows)
            z = z - rest.to(wide)[:, None]
        return z.to(dtype)

    def _columns_there(self, rows: Any, block: Block) -> Any:
        """Rows of a dense block under the whole frame."""
        for name, sign in (("shift_low", -1), ("row_scale", 0), ("col_scale", 0)):
            if getattr(self, name) is None:
                continue
            some = self._at(name, rows.device, rows.dtype, block.rows if name == "row_scale" else None)
            some = some[:, None] if name == "row_scale" else some
            rows = rows - some if sign else rows * some
        return rows

    def _lengths_there(self, rows: Any, block: Block) -> Any:
        Z = self._columns_there(rows, block)
        return (Z * Z).sum(dim=1)

    def _right_there(self, V: Array, block: Block) -> tuple[Any, Any]:
        """Column scaling goes into V; what is left of the shift becomes a row to subtract."""
        import torch

        device = block.values.device
        W = V.to(device) if is_foreign(V) else torch.as_tensor(np.ascontiguousarray(V), device=device)
        W = W.to(torch.float64)
        if self.col_scale is not None:
            W = W * self._at("col_scale", device, torch.float64)[:, None]
        rest = self._rest(device)
        drop = None if rest is None else (rest @ W).to(self._dtype())
        return W.to(self._dtype()), drop

    def _rest(self, device: Any) -> Any:
        """(d,) what is taken off products: the whole shift of sparse rows, its small part of dense ones."""
        import torch

        names = ("shift", "shift_low") if self.blocks.sparse else ("shift_low",)
        parts = [self._at(name, device, torch.float64) for name in names if getattr(self, name) is not None]
        return None if not parts else parts[0] if len(parts) == 1 else parts[0] + parts[1]

    def _finish_there(self, B: Any, block: Block, drop: Any, W: Any) -> Any:
        if drop is not None:
            B = B - drop
        if self.blocks.sparse and self.offset is not None:
            B = B - self._at("offset", B.device, B.dtype, block.rows)[:, None] * W.sum(dim=0)
        return self._scaled(B, block)

    def _scaled(self, B: Any, block: Block) -> Any:
        return B if self.row_scale is None else B * self._at("row_scale", B.device, B.dtype, block.rows)[:, None]

    def _some(self, U: Array, block: Block) -> Any:
        import torch

        some = U[block.start : block.start + block.values.shape[0]]
        some = some if is_foreign(U) else torch.as_tensor(np.ascontiguousarray(some))
        return some.to(block.values.device, self._dtype())

    def _gather(self, total: _Sum, sums: _Sum, tail: _Sum, rows: Any, B: Any, block: Block) -> Any:
        """Add zᵀb, and the sums of b where something is taken off afterwards; the product of the block."""
        sparse = self.blocks.sparse
        product = self._turned(block, rows) @ B if sparse else _adjoint(rows, B)
        product = product.double()
        total.add(product)
        wide = B.double()
        if (self.shift if sparse else self.shift_low) is not None:
            sums.add(wide.sum(dim=0))
        if sparse and self.offset is not None:
            tail.add((wide * self._at("offset", B.device, wide.dtype, block.rows)[:, None]).sum(dim=0))
        return product

    def _turned(self, block: Block, rows: Any) -> Any:
        """The transpose of a block of CSR rows."""
        from ritz.data.engines.device.blocks import turned

        return self._kept(("turned", block.start, rows.shape[0], rows.dtype), lambda: turned(rows))

    def _kept(self, key: Any, make: Callable[[], Any]) -> Any:
        """What is made of a block of sparse rows, once where they stay on the device."""
        if not getattr(self.blocks, "keeps", False):
            return make()
        kept = self.blocks.__dict__.setdefault("made", {})
        if key not in kept:
            kept[key] = make()
        return kept[key]

    def _left_there(self, total: _Sum, sums: _Sum, tail: _Sum) -> Any:
        """What is added up, less what the shift and the offset take off, in units of the columns."""
        value = total.value
        if sums.high is not None:
            value = value - self._rest(value.device)[:, None] * sums.value.to(value.device)
        if tail.high is not None:
            value = value - tail.value.to(value.device)
        return self._in_units(value)

    def _sparse_error(self, block: Block, rows: Any, W: Any, drop: Any, product: Any) -> NDArray[Any]:
        """(d, 1) rounding of the product of a block with its first vector, whose sums are formed anew as trees."""
        first = W[:, :1].double()
        B = tree_sums(rows, first[:, 0])[:, None] if int(rows.shape[0]) else first[:0]
        B = B - drop[:1].double() if drop is not None else B
        if self.offset is not None:
            B = B - self._at("offset", B.device, B.dtype, block.rows)[:, None] * first.sum(dim=0)
        B = self._scaled(self._scaled(B, block), block)
        anew = tree_sums(self._turned(block, rows), B[:, 0])
        return np.asarray(self._in_units((product[:, 0] - anew)[:, None]).cpu().numpy())

    def _anew(self, rows: Any, B: Any) -> Any:
        """The product of a dense block with less rounding, in units of the columns."""
        return self._in_units(_adjoint(rows.double(), B.double(), CHECK))

    def _in_units(self, product: Any) -> Any:
        """A product (d, l) in units of the columns."""
        if self.col_scale is None:
            return product
        return product * self._at("col_scale", product.device, product.dtype)[:, None]

    def _remember(self, watch: _Watch, V: Array) -> None:
        """Remember the measured rounding of ZᵀZV for unit vectors."""
        lengths = V.double().norm(dim=0) if is_foreign(V) else np.linalg.norm(np.asarray(V, np.float64), axis=0)
        if self.blocks.sparse and not watch.errors and self.noise:
            self.noise.append(max(self.noise))  # not looked at this time
            return
        if self.blocks.sparse:  # of all blocks, with its sign
            error = float(np.linalg.norm(sum(watch.errors))) if watch.errors else 0.0
            measured, length = NOISE_SAFETY * error, float(lengths[0]) if len(lengths) else 0.0
        else:
            measured, length = watch.measured(), float(min(lengths.tolist(), default=0.0))
        self.noise.append(measured / length if length > 0 else measured)

    def _in_kind(self, result: Any, like: Array) -> Array:
        return result.to(self.place.device) if is_foreign(like) else result.cpu().numpy()


def _cast(rows: Any, dtype: Any) -> Any:
    """A CSR tensor in another precision; its indices are shared."""
    from ritz.data.engines.device.blocks import csr_tensor

    return csr_tensor(rows.crow_indices(), rows.col_indices(), rows.values().to(dtype), tuple(rows.shape))


def _adjoint(rows: Any, B: Any, piece: int = PIECE) -> Any:
    """``rowsᵀ B`` (d, l) of a dense block in float64, formed in pieces of rows."""
    import torch

    whole, (d, width) = int(rows.shape[0]) // piece, (int(rows.shape[1]), int(B.shape[1]))
    total = (rows[whole * piece :].T @ B[whole * piece :]).to(torch.float64)
    step = max(1, HELD_BYTES // (8 * d * max(1, width)))
    for i in range(0, whole, step):
        some = slice(i * piece, min(i + step, whole) * piece)
        left = rows[some].unflatten(0, (-1, piece)).transpose(1, 2)
        total = total + (left @ B[some].unflatten(0, (-1, piece))).sum(dim=0, dtype=torch.float64)
    return total
