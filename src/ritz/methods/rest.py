"""What the components leave of a table, without a difference of large sums.

    rest = Σ_{i>k} λᵢ = tr M − Σ_{i≤k} λᵢ = Σ w‖z − VVᵀz‖²          z (d) a row in the frame of the fit, V (d×k)

The difference is right to about u·tr M. Beside a row 1e8 times as far away as the others, u·tr M is as large as all
that is left; then the rows are read once more and what the plane leaves of each is squared itself, which is right to
u·√(tr M·rest). A state without its rows has lost these digits when it was added up: what it cannot tell is NaN, and a
warning says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ritz._core.errors import AccuracyWarning
from ritz._core.frozen import changed
from ritz._core.random import gaussian_rows
from ritz._core.tolerance import NOISE_FLOOR
from ritz._core.warn import warn
from ritz.data.passes.accumulate import Sums
from ritz.data.passes.blocks import Block, MemoryBlocks, blocks_of
from ritz.data.passes.keys import rows_key
from ritz.methods.record import value_of
from ritz.operators.affine import Affine
from ritz.project.residual import Frame
from ritz.spectral.solution import Solution

__all__ = [
    "NOTHING", "SUMMED", "along", "beside", "floor_of", "framed", "in_certificate", "left_over", "near_enough",
    "noise_floor", "read_again", "rest_of", "rounding_in", "seen_apart", "squares_about", "squares_in_all",
    "squares_off", "wide_axes", "with_passes",
]  # fmt: skip

Floats = NDArray[np.float64]

#: Share of what is left by which the difference may be wrong: rows in memory, and rows that a pass has to fetch; that
#: of products in float32 is 4√u = 1e-3. A second pass over 200,000×784 takes 0.9 s beside a fit of 1.0 s.
NEAR, FAR = 1e-8, 1e-6
#: Share by which what a state leaves may be wrong before a warning says so, and before nothing is said about it.
ROUGH, UNTOLD = 1e-3, 0.5
#: Times that floor of rounding up to which what a plane may hide is nothing.
NOTHING = 64.0
#: Why what is left is not known, and what to do.
NO_ROWS = ("this state does not hold more digits", "fit the rows themselves")
REFIT = ("the plane of the components is known to tol only", "fit with a smaller tol, or with solver='svd'")
#: Gaussian columns that tell whether a plane leaves anything of sparse rows, how many times what they see may be there,
#: and their stream of random numbers: less of them is seen with probability ℙ(χ²₁₆ < 16/40) < 1e-10. Processor ms of
#: SVD(12) so, and by dense rows, 634×6,284 with 30,000 entries and rank 5: 13 and 44.
SKETCHED, SURELY, STREAM = 16, 40.0, 1103
#: Round-offs of the total in a sum of eigenvalues, beside what the certificate allows each of them.
SUMMED = 8.0


def left_over(
    spectrum: Solution, rank: int, again: Callable[[], float] | None, *, outside: bool = False
) -> tuple[float, Solution]:
    """The rest of the trace in units of unit², and the spectrum, which tells how often the rows were read.

    ``rank``: eigenvalues that can differ from zero. ``again`` adds the rest up from the rows; None: there are none.
    """
    values = np.maximum(spectrum.scaled, 0.0)
    whole, k = float(spectrum.scaled_total), len(values)
    rest = whole - float(values.sum())
    doubt = k * rounding_in(spectrum) + SUMMED * 2.0**-53 * whole
    if k >= rank:
        return 0.0, spectrum
    if k == 0 or not np.isfinite(whole) or doubt <= near_enough(spectrum, FAR if outside else NEAR) * rest:
        return max(rest, 0.0), spectrum
    if again is None:
        return _told(rest, doubt, spectrum), spectrum
    rest = _cleared(again(), spectrum)
    leaked = min(_leaked(spectrum), rest)  # no plane leaves less than the best one does: 0 ≤ Σ_{i>k} λᵢ ≤ rest
    if leaked <= ROUGH * rest:
        told = rest
    elif rest <= NOTHING * noise_floor(spectrum):
        told = rest - leaked  # rounding that the plane hides is no noise: a density made of it would be of any height
    else:
        told = rest if leaked <= NOTHING * noise_floor(spectrum) else _said(rest, leaked, spectrum, REFIT)
    return told, read_again(spectrum, "what the components leave is too small for a difference of sums")


def _leaked(spectrum: Solution) -> float:
    """What a plane that iterations have found may leave of eigenvalues λᵢ of its own, in units of unit².

    Σ(λᵢ − θᵢ) over the components, θᵢ their Ritz values: at most ‖rᵢ‖²/(θᵢ − λₖ₊₁) each, or as far as intervals go.
    """
    c = spectrum.certificate
    grounds = c.frame.get("grounds") or {}
    if grounds.get("route") != "iterative":
        return 0.0
    gap = np.asarray(c.values) - c.ceiling
    with np.errstate(divide="ignore", invalid="ignore"):
        bent = np.where(gap > 0, np.square(c.residuals) / gap, np.inf)
    return float(np.sum(np.minimum(np.maximum(c.upper - c.values, 0.0), bent))) / _shown(spectrum)


def along(spectrum: Solution) -> Floats:
    """vᵢᵀMvᵢ of the components, in units of unit²: θᵢ, and more where they were turned from the other side of A.

    With Ritz pairs AAᵀu = θu + r and v = Aᵀu/√θ it is ‖AAᵀu‖²/θ = θ + ‖r‖²/θ: at a loose tolerance more than θ.
    """
    values = np.maximum(spectrum.scaled, 0.0)
    grounds = spectrum.certificate.frame.get("grounds") or {}
    if grounds.get("route") != "iterative" or not grounds["turned"] or grounds["k"] != len(values):
        return values
    squares = np.diag(grounds["cross"])
    return values + np.divide(squares, values, out=np.zeros_like(values), where=values > 0)


def near_enough(spectrum: Solution, share: float = NEAR) -> float:
    """Share of a difference by which it may be wrong: half of the digits of the products that it is made of."""
    u = float(spectrum.certificate.unit_roundoff)
    return share if u < 1e-10 else max(share, 4 * float(np.sqrt(u)))


def _shown(spectrum: Solution) -> float:
    """What turns values in units of unit² into those that the certificate shows."""
    return float((spectrum.unit / spectrum.certificate.frame.get("shown", 1.0)) ** 2)


def rounding_in(spectrum: Solution) -> float:
    """The rounding of a certificate in units of unit²."""
    return float(spectrum.certificate.rounding) / _shown(spectrum)


def in_certificate(spectrum: Solution, rest: float) -> float:
    """A rest in units of unit² as the certificate would show it, which is how models keep it."""
    return rest * _shown(spectrum)


def read_again(spectrum: Solution, why: str) -> Solution:
    """A spectrum whose rows were read once more; the plan says why."""
    once = with_passes(spectrum, 1)
    return replace(once, plan=changed(once.plan, reasons=(*once.plan.reasons, f"{why}: the rows were read once more")))


def with_passes(spectrum: Solution, passes: int, planned: int = 0) -> Solution:
    """A spectrum of something that ``passes`` over the rows have formed before; so many of them were ``planned``."""
    certificate = replace(spectrum.certificate, passes=spectrum.certificate.passes + passes)
    plan = spectrum.plan
    plan = changed(plan, passes=plan.passes + planned, actual_passes=(plan.actual_passes or 0) + passes)
    return replace(spectrum, certificate=certificate, plan=plan)


def beside(C: Floats, Q: Floats, noise: float, again: Callable[[], float]) -> float:
    """tr C − tr QᵀCQ of a covariance C (d, d) known to ``noise``; ``again`` adds it up where that is too little."""
    R = C - Q @ (Q.T @ C)
    rest = float(np.trace(R) - np.einsum("ij,ij->", R @ Q, Q))  # what is left after both sides is no difference
    doubt = Q.shape[1] * noise + SUMMED * 2.0**-53 * float(np.trace(C))
    if Q.shape[1] >= len(C):
        return 0.0
    return max(rest if doubt <= NEAR * rest else again(), 0.0)


def rest_of(model: Any) -> float:
    """Σ_{i>k} λᵢ of a fitted model, as its fit found it; files of earlier releases leave only the difference."""
    certificate = model.certificate_  # read first: it solves a pending state
    held = value_of(model, "_left")
    return max(float(certificate.total - np.sum(certificate.values)), 0.0) if held is None else float(held)


def wide_axes(model: Any) -> Floats:
    """(k, d) the axes in float64: those of the certificate where the model holds them rounded to float32."""
    C = np.asarray(model.components_)
    wide = np.asarray(C, np.float64)
    V = model.certificate_.frame.get("vectors")
    if C.dtype != np.float32 or not isinstance(V, np.ndarray) or V.dtype != np.float64 or V.T.shape != C.shape:
        return np.asarray(wide / np.linalg.norm(wide, axis=1, keepdims=True))
    return np.asarray(V.T * np.where(np.sum(V.T * wide, axis=1) < 0, -1.0, 1.0)[:, None])


def _cleared(rest: float, spectrum: Solution) -> float:
    """Zero where rows are in the plane up to their own rounding."""
    return rest if rest > noise_floor(spectrum) else 0.0


def noise_floor(spectrum: Solution) -> float:
    """What the rounding of rows leaves beside any plane."""
    d = spectrum.vectors.shape[0]
    return floor_of(d, float(spectrum.scaled_total))


def floor_of(d: int, whole: float) -> float:
    """What the rounding of rows of d columns leaves of them all, Σ‖x‖² = ``whole``."""
    return float(d * (NOISE_FLOOR * 2.0**-53) ** 2 * whole)


def _told(rest: float, doubt: float, spectrum: Solution) -> float:
    """What a state says of the rest: where all eigenvalues are known, those left out, none of them negative."""
    known = np.asarray(spectrum.known if spectrum.thetas is None else spectrum.thetas, np.float64)
    if len(known) >= spectrum.vectors.shape[0]:  # eigenvalues of a d×d state: their sum is the trace
        rest = max(float(np.sum(known[len(spectrum.values) :])), 0.0)
    return rest if doubt <= ROUGH * rest else _said(rest, doubt, spectrum, NO_ROWS)


def _said(rest: float, doubt: float, spectrum: Solution, why: tuple[str, str]) -> float:
    """The rest, with a warning; NaN where half of it or more is in doubt."""
    told = doubt <= UNTOLD * rest
    words = f"is right to {100 * doubt / rest:.1f} % only" if told else "is NaN"
    left, off = (in_certificate(spectrum, value) for value in (max(rest, 0.0), doubt))
    warn(
        f"what the components leave is {left:.2g} ± {off:.2g} of a total of {spectrum.certificate.total:.2g}: "
        f"{why[0]}. what is made of it, such as noise_variance_, {words}; {why[1]} to know it.",
        AccuracyWarning,
    )
    return rest if told else float("nan")


class _Off(Sums):
    """Σ w‖z − VVᵀz‖²."""

    SUMS = ("total",)

    def __init__(self) -> None:
        self.total = 0.0


def framed(column: Any, *, center: bool, scale: Any = None, parts: Any = None) -> tuple[dict[str, Any], float]:
    """The frame of a fit for a pass over its rows, and the unit of rows in it, which keeps squares in range."""
    mean, low = (parts or column.parts()) if center else (None, None)
    unit = 1.0 if scale is not None else float(column.unit)
    if unit != 1:
        scale = np.full(len(column.shift), unit)
    return {"mean": mean, "low": low, "scale": scale}, unit


def seen_apart(squares: Any, rows: Any, spectrum: Solution) -> Any:
    """Squares of sparse rows about their mean; zero where they are no more than what rounding of the mean leaves."""
    if not blocks_of(rows).sparse:
        return squares  # long sums of dense rows leave nothing
    return np.where(squares > NOTHING * noise_floor(spectrum), squares, 0.0)


def squares_off(
    rows: Any, weights: Floats | None, V: Floats, frame: dict[str, Any], nothing: float = 0.0
) -> float:  # fmt: skip
    """Σ w‖z − VVᵀz‖² over rows, one pass; ``frame``: mean, low, scale of the fit. What is below ``nothing`` need not be
    known: sparse rows are made dense where that is not seen without."""
    if nothing > 0 and weights is None and all(part is None for part in frame.values()):
        seen = _sketched_off(rows, V)
        if seen is not None and SURELY * seen <= nothing:
            return seen
    Q = np.linalg.qr(V)[0]
    if hasattr(rows, "place"):
        from ritz.project.there import off_there, stays  # loaded where there is a device

        if stays(rows):
            return off_there(rows, weights, Q, frame)
    plane = Frame(Q.T, np.zeros((Q.shape[1], 0)), **frame)

    def step(sums: _Off, block: Block) -> None:
        x = block.values
        held = plane.dense(x) if isinstance(x, np.ndarray) else plane.sparse(x)
        w = None if weights is None else weights[block.rows]
        sums.total += float(np.sum(held.squares) if w is None else w @ np.where(w > 0, held.squares, 0.0))

    return float(blocks_of(rows).map_reduce(_Off, step).total)


def _sketched_off(rows: Any, V: Floats) -> float | None:
    """‖X(I − VVᵀ)G‖²_F/s of Gaussian columns G (d×s), ‖X(I − VVᵀ)‖²_F in the mean; None where rows are not sparse."""
    blocks = blocks_of(rows)
    if not isinstance(blocks, MemoryBlocks) or not blocks.sparse:
        return None
    G = gaussian_rows(rows_key(blocks), STREAM, 0, V.shape[0], SKETCHED)
    for _ in range(2):  # V is orthonormal to rounding, and so is what a projection leaves
        G = G - V @ (V.T @ G)
    return float(np.sum(np.square(Affine(blocks).matmat(G)))) / SKETCHED


class _Along(Sums):
    """Σ w t²."""

    SUMS = ("squares",)

    def __init__(self, k: int) -> None:
        self.squares = np.zeros(k)


def squares_about(rows: Any, weights: Floats | None, V: Floats, frame: dict[str, Any]) -> Floats:
    """(k,) Σ w((x − μ)V)² over rows, one pass: variances of scores without a difference."""
    if hasattr(rows, "place"):
        from ritz.project.there import along_there, stays

        if stays(rows):
            return along_there(rows, weights, V, frame)
    plane = Frame(V.T, np.eye(V.shape[1]), **frame)

    def step(sums: _Along, block: Block) -> None:
        along = plane.along(block.values)
        w = np.ones(len(along)) if weights is None else weights[block.rows]
        sums.squares += w @ np.square(np.where(w[:, None] > 0, along, 0.0))

    return np.asarray(blocks_of(rows).map_reduce(lambda: _Along(V.shape[1]), step).squares)


def squares_in_all(rows: Any, weights: Floats | None, column: Any, spectrum: Solution) -> tuple[float, Solution]:
    """Σ w‖x − μ‖² in units of unit²: from column sums, or from sparse rows themselves where these lie so far from zero
    that Σ wx² less the square of the mean has lost it.
    """
    whole = float(column.squares.sum()) * (column.unit / spectrum.unit) ** 2
    doubt = SUMMED * 2.0**-53 * float(spectrum.scaled_total)
    if doubt <= near_enough(spectrum) * whole or not blocks_of(rows).sparse:
        return whole, spectrum
    about, unit = framed(column, center=True)
    squares = squares_off(rows, weights, np.zeros((len(spectrum.vectors), 0)), about) * (unit / spectrum.unit) ** 2
    squares = float(seen_apart(squares, rows, spectrum))
    return squares, read_again(spectrum, "the total variance is too small for a difference of sums")
