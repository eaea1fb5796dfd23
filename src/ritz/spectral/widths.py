"""How wide blocks are, and how many products or columns an iteration is likely to need: functions of k and tol.

    block  l = k + s,     basis  m ≥ l columns of p numbers,     steps q(tol)

Each with the measurement that justifies it, as the constants of ``constants.py``.
"""

from __future__ import annotations

import math

from ritz.spectral.constants import DIRECTIONS_BYTES, DIRECTIONS_ROWS, FINISH_SPARE, LANCZOS_BYTES

__all__ = [
    "directions_rows", "directions_width", "expected_steps", "lanczos_bytes", "lanczos_columns", "lanczos_width",
    "oversampling", "refined_width", "sketch_width", "thin_columns", "thin_width",
]  # fmt: skip


def oversampling(k: int) -> int:
    """Columns beyond k in a block: at least max(10, k/4), filled up so that the block is a multiple of 16 wide.

    A product with 64 columns runs at 95 Gflop/s a core, with 62 at 75 (float32, blocks of 128 rows).
    """
    least = max(10, k // 4)
    return least + -(k + least) % 16


def refined_width(k: int) -> int:
    """Columns that a Gram matrix in float32 is measured with: two more than k, filled up to a multiple of 8.

    The gap behind the last of them decides how soon a correction converges, and 8 columns take as long as fewer.
    """
    return k + 2 + -(k + 2) % 8


def thin_width(k: int) -> int:
    """Columns of a block where few cost no more each than many: the fewer, the higher the degree for the same work.

    Processor seconds for RBF, n = 10,000, d = 256, blocks of 16, 32, 64 and k + oversampling(k) columns: k = 50 1.5,
    2.0, 2.6, 2.6 (15 to 8 passes); k = 100 2.6, 3.2, 3.8, 5.0; k = 200 3.9, 4.0, 5.1, 11.1.
    """
    return 32 if k <= 22 else 16 * max(1, round(k / 128))


def lanczos_width(k: int, itemsize: int) -> int:
    """Columns of a Lanczos block.

    A product of CSR rows with 1, 2, 4, 8, 16, 32 columns takes 2.5, 4.6, 5.2, 6.9, 12, 24 ns an entry, both ways, in
    float64, and 1.3, 5.0, 4.8, 5.4, 6.9, 12 ns in float32, on one core. Products in float32 with blocks of 4, 8, 16:
    79, 47, 31 for SVD(100) of tf-idf rows 20,000×10,000, 42 and 28 of 8 and 16 for PCA(50) of 20,000 cells.
    """
    return 16 if itemsize < 8 and k >= 16 else 8


def lanczos_columns(p: int, k: int, itemsize: int = 8) -> int:
    """Columns of a Lanczos basis before a thick restart: as many float64 ones as 2k + 60, more where that is little."""
    least = (2 * k + 60) * 8 // itemsize
    return min(p, max(least, LANCZOS_BYTES // (itemsize * max(1, p))))


def lanczos_bytes(p: int, k: int) -> float:
    """Memory of Lanczos beyond the data: the float32 basis, then the answer and its image in float64, refined."""
    return 4.0 * p * lanczos_columns(p, k, 4) + 32.0 * p * (k + FINISH_SPARE)


def thin_columns(k: int, width: int, tol: float) -> float:
    """Columns in all until tol, of a block Krylov iteration with blocks of fewer than k columns.

    Eigenvalues 1/√i, p = 800, k = 20, blocks of 4, 8, 16: 104, 136, 192 columns for 1e-6; p = 3,000, k = 50, blocks of
    16: 368 for 1e-14; tf-idf rows, k = 100, blocks of 8: 376 for 1e-6.
    """
    return 2.5 * k + width * (2 + expected_steps(tol))


def directions_width(k: int) -> int:
    """Directions that a stream keeps of more columns than a d×d state takes: thrice k and fifty more.

    25,000 columns of a spectrum that falls as a power, k = 10, 4,000 rows, one core: IncrementalPCA takes 25.9 s, and
    errs by 0.44 % in the tenth variance. 40, 80 and 120 directions take 5.8, 7.6 and 10.1 s, and enclose it to 2.0,
    0.35 and 0.13 %; a sketch takes 2.7 s and does not enclose it to within a factor of twenty.
    """
    return 3 * k + 50


def directions_rows(d: int, width: int) -> int:
    """Rows of a stream that are cut down at once: as many as DIRECTIONS_BYTES hold, up to DIRECTIONS_ROWS."""
    return max(2 * width, min(DIRECTIONS_ROWS, DIRECTIONS_BYTES // (8 * max(d, 1))))


def sketch_width(k: int) -> int:
    """Columns of a single-pass sketch: twice k and ten more; one product costs one pass whatever its width."""
    return 2 * k + 10


def expected_steps(tol: float) -> int:
    """Products of a block Krylov iteration until the residual is below tol·θ₁: a digit a product after the third.

    The dense tables of ``make bench`` take 9 products for 1e-6; faster decay takes 4 to 6.
    """
    digits = max(1.0, -math.log10(max(tol, 1e-15)))
    return round(3 + digits)
