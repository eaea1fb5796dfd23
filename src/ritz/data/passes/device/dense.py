"""The moment pass on a device: m = Σwz, q = Σwz², S = Σwzzᵀ with z = (x − s)/unit, blocks of tensors.

    float32   S by one fused kernel (``gram_triton.py``), or by float32 products of slabs; sums of these in float64
    float64   S by products of short slabs, whose sums keep what rounding takes
    short     products of pieces of 64 rows in float64: for small tables, and where rounding went all in one direction

The accumulators are those of the host (``passes/gram.py``) and come there when the pass is done. Rounding is measured
on the device (``rounding.py``). What the host has to know of a block by the fused kernel, whether float16 pairs hold it
and what rounding did, is read when the next block is under way; of the last one when somebody asks for the noise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from ritz._core import ahead
from ritz._core.compensated import two_sum
from ritz._core.fitting import DoesNotFit
from ritz._core.there import Brought
from ritz.data.passes.blocks import Block
from ritz.data.passes.device.exact import exact
from ritz.data.passes.device.rounding import EVERY, WIDE, Ahead, Slabs, WatchedThere, better_there, sent
from ritz.data.passes.rounding import MANY, Watched

__all__ = ["DevicePass"]

#: Rows of a slab of plain products: long enough for a product to run at full speed, short enough to round little.
SLAB_ROWS, SLAB_TALL, TALL_ABOVE = 1024, 2048, 512
#: Bytes of products that are held at once.
HELD_BYTES = 512 << 20


@dataclass
class _Under:
    """A block by the fused kernel that the host has not looked at."""

    slabs: Slabs
    weights: NDArray[Any] | None
    held: Any  # whether float16 pairs hold it, on the device
    ahead: Ahead | None = None


class DevicePass(WatchedThere):
    """Accumulators over blocks of dense tensors."""

    THERE = True  # blocks are handed to it as tensors
    OWN = ("m", "m_low", "q", "q_low", "S", "blocks")
    SUMS = (*OWN, *Watched.SUMS)

    def __init__(
        self, shift: NDArray[Any], unit: float, weights: NDArray[Any] | None, dtype: np.dtype[Any], products: bool,
        short: bool = False, rows: int = 0,
    ) -> None:  # fmt: skip
        d = shift.shape[0]
        self.short, self.products = short, products
        self.shift, self.unit = shift, unit
        self.weights, self.dtype, self.rows, self.seen = weights, np.dtype(dtype), rows, 0
        self.m, self.m_low, self.q, self.q_low = (np.zeros(d) for _ in range(4))
        self.S = np.zeros((d, d)) if products else None
        self.blocks = 0
        self.cornered = d > WIDE
        self._sums: dict[str, tuple[Any, Any]] = {}
        self._under: _Under | None = None
        self._shifts: dict[Any, Any] = {}
        if short or not products:
            self.SUMS, self.LISTS = self.OWN, ()  # type: ignore[misc]  # nothing to measure
        else:
            height = SLAB_ROWS if d <= TALL_ABOVE else SLAB_TALL
            self.watch(d, rows, self.dtype, every=max(1, min(EVERY, rows // height // MANY)))

    def height(self, d: int) -> int | None:
        """Rows of the blocks that it takes; None: the usual ones."""
        from ritz.data.passes.device import gram_triton

        return gram_triton.block_height(d) if self._fused_asked() else None

    def _fused_asked(self) -> bool:
        from ritz.data.passes.device import gram_triton

        return self.products and not self.short and self.dtype == np.float32 and gram_triton.usable()

    def feed(self, block: Block) -> None:
        """Add the rows of a block."""
        w = None if self.weights is None else self.weights[block.rows]
        x = getattr(block, "tensor", None)  # of rows that are on their way
        x = block.values if x is None else x
        with exact(x.device):
            if not self.products:
                self._look(block.values, w)
            else:
                self._form(x, w, block)
        self.blocks, self.seen = self.blocks + 1, self.seen + len(x)

    # sums

    def _add(self, name: str, part: Any) -> None:
        """Add to a float64 sum that keeps what rounding takes."""
        if name not in self._sums:
            self._sums[name] = (part, None)
            return
        high, low = self._sums[name]
        high, rest = two_sum(high.to(part.device), part)
        self._sums[name] = (high, rest if low is None else low.to(part.device) + rest)

    def close(self) -> None:
        """Bring the sums to the host, all in one copy; how the last block was rounded is seen later (``settle``)."""
        names, brought = self._coming()
        self._ask()
        begun = self._begun()  # after it: two threads that ask the same device for something wait for each other
        numbers = brought.arrays() if brought else []
        if "held" in names and not numbers[names.index("held")]:
            self.settle()
            begun, (names, brought) = None, self._coming()
            numbers = brought.arrays() if brought else []
        self._sums = {}
        for name, sums in zip(names, numbers, strict=True):
            mine = getattr(self, name, None)
            if name != "held":
                setattr(self, name, sums if mine is None else np.add(mine, sums, out=sums))
        if begun is not None and self.S is not None:
            ahead.known_of(self.S, begun)

    def _begun(self) -> ahead.Begun | None:
        """The eigenpairs of the scatter, asked for while the host looks at the sums that it is made of.

        Of a part of the rows, or of rows with weights, which the host sums up, they would be of no use.
        """
        if self.seen != self.rows or self.weights is not None or self.unit != 1 or not {"m", "S"} <= self._sums.keys():
            return None
        pairs = [self._sums[name] for name in ("S", "m")]
        (S, _), (m, rest) = (pair if pair[1] is None else two_sum(*pair) for pair in pairs)
        return ahead.begin_there(S, m if rest is None else m + rest, float(self.rows))

    def _coming(self) -> tuple[list[str], Brought | None]:
        """Names of the sums, and these under way; what rounding took from S is below its last digit."""
        parts: dict[str, Any] = {}
        for name, (high, low) in self._sums.items():
            parts[name], rest = (high, None) if low is None else two_sum(high, low)
            if rest is not None and name != "S":
                parts[f"{name}_low"] = rest
        if self._under is not None:
            parts["held"] = self._under.held
        return list(parts), Brought(list(parts.values())) if parts else None

    def finish(self) -> NDArray[np.float64]:
        """S."""
        return np.asarray(self.S)

    # blocks

    def _slabs(self, x: Any, w: NDArray[Any] | None, dtype: Any, height: int) -> Slabs:
        wide = dtype if not x.dtype.is_floating_point or x.dtype.itemsize <= dtype.itemsize else x.dtype
        key = x.device, wide
        if key not in self._shifts:
            self._shifts[key] = sent(self.shift, x.device).to(wide)
        root = None if w is None else sent(np.sqrt(w), x.device).to(dtype)
        return Slabs(x, self._shifts[key], 1 / self.unit, root, dtype, height)

    def _look(self, x: Any, w: NDArray[Any] | None) -> None:
        """Add the sums of the columns alone."""
        import torch

        z = self._slabs(x, None, torch.float64, len(x)).shifted(x, None)
        y = z if w is None else z * torch.as_tensor(w, device=x.device).to(torch.float64)[:, None]
        self._add("m", y.sum(dim=0))
        self._add("q", (y * z).sum(dim=0))

    def _form(self, x: Any, w: NDArray[Any] | None, block: Block) -> None:
        import torch

        from ritz.data.passes.device import gram_triton

        fused = self._fused_asked() and gram_triton.takes(x)
        if fused:
            self._ask()  # before the next block, which takes longer
            slabs = self._slabs(x, w, torch.float32, gram_triton.SLAB_ROWS)
            try:
                m, S, held = gram_triton.gram(
                    slabs, cast("gram_triton.OnTheWay", block) if hasattr(block, "upto") else None
                )
            except DoesNotFit:  # the memory that its threads share
                fused = False
        if not fused:
            self.settle()
            self._formed_plainly(block.values, w)
            return
        none = torch.zeros((), dtype=torch.float64, device=x.device)
        self._add("m", torch.where(held, m, none))
        self._add("S", torch.where(held, S, none))
        self.settle()
        self._under = _Under(slabs, w, held)

    def _ask(self) -> None:
        """Set the device to work on the rounding of the block before."""
        if self._under is not None and self._under.ahead is None:
            with exact(self._under.slabs.x.device):
                self._under.ahead = self.ahead(self._under.slabs, held=self._under.held)

    def settle(self) -> None:
        """Read what the device tells about the block before; where float16 pairs do not hold it, form it plainly."""
        self._ask()
        under, self._under = self._under, None
        if under is None or under.ahead is None:
            return
        here = under.ahead.arrived()
        with exact(under.slabs.x.device):
            if here.pop("held"):
                self.measure(under.slabs, under.ahead, here)
            else:
                self._formed_plainly(under.slabs.x, under.weights)

    def noise(self, V: NDArray[Any] | None = None) -> float:
        """Bound on ‖E‖₂ of all that was summed; with V, an estimate of ‖VᵀEV‖₂."""
        self.settle()
        return super().noise(V)

    def merge(self, other: Self) -> None:
        """Add the sums of a later piece of the table."""
        self.settle()
        other.settle()
        super().merge(other)

    def state(self) -> dict[str, Any]:
        """The sums by name."""
        self.settle()
        return super().state()

    def _formed_plainly(self, x: Any, w: NDArray[Any] | None) -> None:
        import torch

        dtype = torch.float32 if self.dtype == np.float32 else torch.float64
        height = SLAB_ROWS if x.shape[1] <= TALL_ABOVE else SLAB_TALL
        self._plain(self._slabs(x, w, dtype, height))

    def _plain(self, slabs: Slabs) -> None:
        """Add m and S of a block by products of slabs, of which as many are held at once as there is room for."""
        import torch

        d, R = int(slabs.x.shape[1]), slabs.height
        if self.short:
            z = slabs.shifted(slabs.x, slabs.root)
            self._add("m", _column_sums(z, slabs.root))
            self._add("S", better_there(z.to(torch.float64)))
            return
        step = max(1, HELD_BYTES // (d * d * slabs.dtype.itemsize)) * R
        for i in range(0, len(slabs.x), step):
            root = None if slabs.root is None else slabs.root[i : i + step]
            some = replace(slabs, x=slabs.x[i : i + step], root=root)
            z = some.shifted(some.x, root)
            self._add("m", _column_sums(z, root))
            products = _products(z, R)
            self._add("S", products.sum(dim=0, dtype=torch.float64))
            some.masses = products.diagonal(dim1=1, dim2=2).sum(dim=1, dtype=torch.float64)
            some.product = lambda numbers, products=products: products[numbers].to(torch.float64)
            self.measure(some)


def _products(z: Any, R: int) -> Any:
    """(p, d, d) the products of slabs of R rows, the last of which may be shorter."""
    import torch

    whole = len(z) // R
    parts = z[: whole * R].unflatten(0, (whole, R)) if whole else None
    made = [] if parts is None else [parts.transpose(1, 2) @ parts]
    if whole * R < len(z):
        tail = z[whole * R :]
        made.append((tail.T @ tail)[None])
    return made[0] if len(made) == 1 else torch.cat(made)


def _column_sums(z: Any, root: Any) -> Any:
    """``Σwz`` of a block in float64; z holds √w already."""
    import torch

    y = z if root is None else z * root[:, None]
    return y.sum(dim=0, dtype=torch.float64)
