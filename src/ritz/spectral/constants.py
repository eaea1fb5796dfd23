"""Every threshold of the automatic choice, each with the measurement that justifies it.

Measured on two AVX-512 cores with NumPy 2.4 and OpenBLAS 0.3.31; they are committed constants: the
same call takes the same route on every machine.
"""

from __future__ import annotations

import math

__all__ = [
    "CENTRED",
    "CHEBYSHEV_DEGREE",
    "CHEBYSHEV_RANGE",
    "CHEBYSHEV_TOL",
    "DIRECT_LIMIT",
    "DIRECT_PREFERENCE",
    "DIRECT_SHARE",
    "EIGH_ALL",
    "EIGH_COPIES",
    "EIGH_SUBSET",
    "FINISH_SPARE",
    "FLOAT32_FLOOR",
    "FLOAT32_NOISE",
    "FLOAT32_SHARE",
    "FLOAT32_TOL",
    "FLOAT32_WORK",
    "GEMM32",
    "GEMM64",
    "GEMV",
    "KERNEL_DENSE",
    "KRYLOV_BASIS_BYTES",
    "KRYLOV_WIDE",
    "LEAN_SHARE",
    "MAX_POWER_STEPS",
    "MAX_RESTARTS",
    "MAX_STEPS",
    "NULL",
    "PRODUCT32",
    "PRODUCT64",
    "REPAIR_MARGIN",
    "SEARCH",
    "SETTLED",
    "SMALL_SIDE",
    "SPARSE_GRAM",
    "SPMM",
    "SUBSET_ABOVE",
    "SUBSET_SHARE",
    "SYRK32",
    "SYRK64",
    "TURNED",
    "expected_steps",
    "oversampling",
    "sketch_width",
    "thin_width",
]

# Rates on two cores, per second.
SYRK64, SYRK32 = 90e9, 180e9  # q·p² of a symmetric product in blocks of 2,048 rows, d = 784: 92e9 and 188e9
TURNED = 0.7  # of that on column blocks of a wide table, 2,000×50,000: 62e9 a core in float32
GEMM64, GEMM32 = 95e9, 190e9  # flops of a product, 3000³: 109e9 and 210e9
PRODUCT64, PRODUCT32 = 55e9, 145e9  # flops of ZᵀZV in row blocks, 10,000×5,000, 64 columns: 0.23 and 0.086 s
GEMV = 4e9  # flops of a product with one vector: bound by memory
SPMM = 11e9  # flops of CSR times a block of 64: 10⁷ entries in 0.11 s
SPARSE_GRAM = 5e-9  # seconds a multiplication in XᵀX of CSR blocks: 5·10⁸ of them in 5.1 s on one core
EIGH_ALL, EIGH_SUBSET = 9e-11, 4.2e-11  # seconds a d³: d = 4000 all 5.9 s, fifty vectors 2.65 s

#: d×d matrices held while a dense eigenproblem is solved: state, copy, work space, vectors.
EIGH_COPIES = 4.0

#: Rows up to which a kernel matrix is decomposed densely, which knows the whole spectrum. RBF, d = 20, k = 10, one
#: thread, dense and Krylov: 0.05 and 0.03 s at n = 600, 0.16 and 0.05 at 1,000, 0.56 and 0.09 at 1,500.
KERNEL_DENSE = 1000

#: Largest smaller side for which a dense eigenproblem is considered.
DIRECT_LIMIT = 20_000

#: More than this share of all components: block Krylov needs a basis as large as the problem.
DIRECT_SHARE = 0.25

#: Below this side a dense eigenproblem takes milliseconds (d = 784: 0.05 s).
SMALL_SIDE = 800

#: A direct route may cost this much more than an iterative one: it is exact and knows the whole spectrum.
DIRECT_PREFERENCE = 1.3

#: Tighter than this the sparse route is Lanczos: the filter's block would iterate on converged columns.
CHEBYSHEV_TOL = 1e-7

#: Tighter than this float32 products bring nothing: the finish would repeat all their work.
FLOAT32_TOL = 1e-7

#: eigh of a subset costs half of all vectors once k is below a fifth of d (d = 2000: 0.32 s against 0.64 s).
SUBSET_SHARE = 0.2
#: Up to this side all eigenvalues are computed all the same: it takes 0.6 ms and not 0.4 for d = 100, and whoever asks
#: for limits of what is left out has them without the moment state.
SUBSET_ABOVE = 100

#: Directions beyond k that a repair pass reads again: they absorb the mixing across the k-th gap.
REPAIR_MARGIN = 8

#: The float32 phase ends at this share of tol, but not below FLOAT32_FLOOR·θ₁; what float32 products leave in the
#: residual of the finish is about FLOAT32_NOISE·θ₁.
FLOAT32_SHARE, FLOAT32_FLOOR, FLOAT32_NOISE = 0.5, 5e-7, 1e-6

#: The finish goes on with the residuals above this share of tol.
LEAN_SHARE = 0.5

#: Ritz vectors beyond k that the float64 finish takes along, so that the k-th is separated from what follows.
FINISH_SPARE = 4

#: Thin blocks prove less: where what trace and Frobenius norm leave is above SEARCH·θ_{k+1}, fresh columns search the
#: complement of all Ritz vectors whose residuals together stay below SETTLED·θ_{k+1}.
SEARCH, SETTLED = 1.25, 0.005

#: A centred kernel matrix whose largest eigenvalue is below this multiple of u times that of the constant vector, which
#: centring takes off, may be rounding only: that is measured then. Identical rows, n = 1,500: up to 5.
NULL = 16.0

#: Rounding of float32 products with a centred kernel matrix, in units of u times the eigenvalue of the constant vector:
#: residuals that no longer fall are not waited for below 20 times that. Rows that hardly differ leave 0.1 to 1.
CENTRED = 4.0

#: Below this many multiplications a pass takes milliseconds and float32 gains nothing.
FLOAT32_WORK = 2e8

#: Memory of a Krylov basis and its image before a thick restart.
KRYLOV_BASIS_BYTES = 512 << 20

#: Degree of the Chebyshev filter: products with M between two orthonormalisations.
CHEBYSHEV_DEGREE = 10

#: Growth of θ₁ over θ_k in one filter: the rounding of the leading directions stays below 1e-8 of the k-th column.
CHEBYSHEV_RANGE = 1e8

#: Restarts of the Lanczos basis, and power steps for one component, before giving up.
MAX_RESTARTS = 200
MAX_POWER_STEPS = 1000

#: A table up to this much wider than tall is iterated on its columns; 2,000×50,000 takes 6 passes in 3.8 s there,
#: 8 in 3.2 s on its rows.
KRYLOV_WIDE = 4

#: Products with M after which an iterative solver gives up and says so.
MAX_STEPS = 500


def oversampling(k: int) -> int:
    """Columns beyond k in a block: at least max(10, k/4), filled up so that the block is a multiple of 16 wide.

    A product with 64 columns runs at 95 Gflop/s a core, with 62 at 75 (float32, blocks of 128 rows).
    """
    least = max(10, k // 4)
    return least + -(k + least) % 16


def thin_width(k: int) -> int:
    """Columns of a block where few cost no more each than many: the fewer, the higher the degree for the same work.

    Processor seconds for RBF, n = 10,000, d = 256, blocks of 16, 32, 64 and k + oversampling(k) columns: k = 50 1.5,
    2.0, 2.6, 2.6 (15 to 8 passes); k = 100 2.6, 3.2, 3.8, 5.0; k = 200 3.9, 4.0, 5.1, 11.1.
    """
    return 32 if k <= 22 else 16 * max(1, round(k / 128))


def sketch_width(k: int) -> int:
    """Columns of a single-pass sketch: twice k and ten more; one product costs one pass whatever its width."""
    return 2 * k + 10


def expected_steps(tol: float) -> int:
    """Products of a block Krylov iteration until the residual is below tol·θ₁: a digit a product after the third.

    The dense tables of ``make bench`` take 9 products for 1e-6; faster decay takes 4 to 6.
    """
    digits = max(1.0, -math.log10(max(tol, 1e-15)))
    return round(3 + digits)
