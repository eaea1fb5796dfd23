"""Every threshold of the automatic choice, each with the measurement that justifies it.

Measured on two AVX-512 cores with NumPy 2.4 and OpenBLAS 0.3.31; they are committed constants: the
same call takes the same route on every machine.
"""

from __future__ import annotations

__all__ = [
    "ANSWER_COPIES", "BASIS", "BASIS_CACHED", "BLIND", "BLOCK_PRICE", "BLOCK_PROOF", "CACHED", "CENTRED",
    "CHEBYSHEV_DEGREE", "CHEBYSHEV_RANGE", "DENSE_BRIEF", "DENSE_PROOF", "DENSE_SMALLEST", "DENSE_SMALLEST_MOST",
    "DENSE_TALL", "DENSE_WIDE", "DIRECTIONS_BYTES", "DIRECTIONS_ROWS", "DIRECT_LEFT", "DIRECT_LIMIT",
    "DIRECT_PREFERENCE", "DIRECT_SHARE", "EIGH_ALL", "EIGH_COPIES", "EIGH_SUBSET", "FACTOR_BYTES", "FACTOR_PROBES",
    "FACTOR_RATE", "FACTOR_REACH", "FAR_CUT", "FAR_FILTER", "FAR_PRODUCTS", "FAR_SECONDS", "FEATURE_ROWS",
    "FEATURE_WORK", "FEW_AHEAD", "FEW_LOOKS", "FEW_PROOF", "FILLED_PRICE", "FILLED_PRODUCT", "FILLED_ROW", "FILL_CUT",
    "FILL_HALVES", "FINISH_SETTLED", "FINISH_SPARE", "FIT", "FLAT", "FLOAT32_FLOOR", "FLOAT32_NOISE", "FLOAT32_SHARE",
    "FLOAT32_TOL", "FLOAT32_WORK", "FORMED_CALLS", "FORMED_ENTRY", "FORMED_LEAST", "FORMED_PRODUCTS", "FORMED_SHARE",
    "GAP_ENTRY", "GAP_PASSES", "GEMM32", "GEMM64", "GEMV", "HASTE", "HELD_CACHED", "HELD_NEAR",
    "ITERATED_ENTRY", "ITERATE_LEAST", "ITERATE_SIDE", "KEPT", "KERNEL_DENSE", "KERNEL_FORMED", "KERNEL_PROVED",
    "KERNEL_PROVED_MOST", "KRYLOV_BASIS_BYTES", "KRYLOV_WIDE", "LANCZOS_BYTES", "LANCZOS_NARROW", "LANCZOS_SINGLE",
    "LANCZOS_SMALLEST", "LEAN_SHARE", "LEAVE", "LEAVE_CROWDED", "LEAVE_UNPROVED", "LITTLE", "LOOKED", "LOOKING",
    "LOOK_GROWTH", "LOOK_STEPS", "LOOSE_TOL", "LOST", "MAX_POWER_STEPS", "MAX_RESTARTS", "MAX_STEPS", "MEASURED_COPIES",
    "NARROW", "NARROW_SHARE", "NARROW_TALL", "NARROW_WORK", "NULL", "ORDER_ROW", "PATIENCE", "PIVOT", "PIVOTED_LEAST",
    "PIVOTED_SHARE", "PIVOTED_TALL", "PRODUCT32", "PRODUCT64", "PROOF_PRICE", "READ32", "READ64", "READING",
    "REFINED_AHEAD", "REFINED_ENTRY", "REFINED_LEAST", "REFINED_MOST", "REFINED_STEPS", "REPAIR_COPIES",
    "REPAIR_MARGIN", "SAMPLED_AHEAD", "SAMPLED_AHEAD32", "SAMPLED_BULK", "SAMPLED_EACH", "SAMPLED_FIRST",
    "SAMPLED_LEAST", "SAMPLED_SECONDS", "SAMPLED_SHARE", "SAMPLED_SLOW", "SEARCH", "SEARCH_FEW", "SEARCH_PRODUCTS",
    "SEARCH_SINGLE", "SETTLED", "SINGLE_AHEAD", "SINGLE_NARROW", "SINGLE_STEP", "SMALL_FORM", "SMALL_SHARE",
    "SMALL_SIDE", "SMALL_SPARSE", "SMALL_VALUE", "SOLVE_ENTRY", "SOME_LEAST", "SOME_SHARE", "SPARSE_CACHED",
    "SPARSE_COLUMN", "SPARSE_PROOF", "SPARSE_ROW", "SPMM", "SQUARE_ENTRY", "STATE_CHECKS", "STATE_SUMS", "STEADY",
    "STEP", "STORED", "STORED_BASIS", "STORED_CACHED", "SUBSET_ABOVE", "SUBSET_SHARE", "SYRK32", "SYRK64", "TALL_ENTRY",
    "TALL_SPARSE", "THERE", "THERE_PRODUCT", "THERE_SIDE", "THERE_SPMM", "THERE_SYRK32", "THERE_SYRK64", "THIN64",
    "THIN_COLUMNS", "TILED_COPIES", "TRIED", "TRIED_CALLS", "TRIED_ENTRY", "TRIED_STEPS", "TURNED", "TURNED_COPIES",
    "WATCHED", "WATCHED32", "WATCHED32_ENTRY", "WATCHED32_ROWS",
]  # fmt: skip

# Rates on two cores, per second.
SYRK64, SYRK32 = 90e9, 180e9  # q·p² of a symmetric product in blocks of 2,048 rows, d = 784: 92e9 and 188e9
TURNED = 0.85  # of that on column blocks of a wide table, 2,000×50,000: 62e9 a core in float32; 713×5,914: 75e9
GEMM64, GEMM32 = 95e9, 190e9  # flops of a product, 3000³: 109e9 and 210e9
NARROW = 60e9  # the same with a block of 8 or 16 in long columns, as choices need it; 10,000 rows, 32 columns: 23e9
PRODUCT64, PRODUCT32 = 55e9, 145e9  # flops of ZᵀZV in row blocks, 10,000×5,000, 64 columns: 0.23 and 0.086 s
THIN64, THIN_COLUMNS = 75e9, 40  # the same in float64 with few columns, 60,000×784, 16 columns: 80e9
GEMV = 4e9  # flops of a product with one vector: bound by memory
SPMM = 11e9  # flops of CSR times a block of 64: 10⁷ entries in 0.11 s
# Those below were measured on one core in processor seconds, which count half here.
# Seconds a row of a sparse table and column of V in AᵀAV beside its entries, and a column where V has more bytes.
SPARSE_ROW, SPARSE_COLUMN, SPARSE_CACHED = 1.5e-9, 1e-8, 2.6e5
# Rows a column from which a product with one vector takes more, an entry: 300,000×1,000, 2 %, 21 ms, of 8 vectors 28.
TALL_SPARSE, TALL_ENTRY = 50, 0.4e-9
# Flops of a product of one vector with a symmetric matrix that is at hand, from memory (4,000²: 4 ms, 2,000²: 1.0) and
# from the caches (1,000²: 0.07 to 0.09 ms), and of making it orthogonal to a basis (1,000 rows, 85 columns: 0.06 ms).
STORED, STORED_CACHED, STORED_BASIS = 16e9, 40e9, 24e9
FIT, LOOKED = 3e-4, 2.5e-9  # seconds of any fit (150×4: 0.3 ms), and an entry that is looked at (10,000×100: 2.5 ms)
LOOKING = 1e-10  # seconds an m³ of Rayleigh–Ritz with all vectors, m = 800: 0.09 s
STEP = 1.2e-4  # seconds of a product, its orthonormalising and its look, whatever the table: 5,000×1,000 with 1 %
READING = 1e9  # bytes a second of rows that are read again in every pass: a file in the cache of the system

# Rates of a graphics processor, per second, from its data sheet (H200: 60e12 flops in float64, 4.8e12 bytes) and from
# 20,000,000×128 float32 rows, which are read in 2.4 ms: orders of magnitude, which is all that choosing a route needs.
THERE_SYRK64, THERE_SYRK32 = 15e12, 60e12  # q·p² of the Gram matrix
THERE_PRODUCT = 8e12  # flops of ZᵀZV
THERE_SPMM = 0.8e12  # flops of CSR times a block

EIGH_ALL, EIGH_SUBSET = 9e-11, 4.2e-11  # seconds a d³: d = 4000 all 5.9 s, fifty vectors 2.65 s

#: Columns from which the leading pairs of a Gram matrix are found by Lanczos and proved by a Cholesky factorisation;
#: products that this takes, in units of k + 12. Processor ms of that and of LAPACK's subset, k = 10 and 50, where
#: eigenvalues decay fast, slowly and not at all: p = 1,000 9 to 20 and 50; p = 2,000 94, 112, 200 and 300 to 350, 151,
#: 194, 386 and 380; p = 4,000 0.6, 0.7, 1.5 s and 2.4, 1.0, 1.1, 2.7 s and 2.7.
#: Products, p = 300 to 2,000, fast and slow: k = 3 24 and 40, k = 10 33 and 56, k = 50 132 and 159.
ITERATE_SIDE, FORMED_PRODUCTS = 800, 2.6

#: Columns from which that is done where trace and Frobenius norm tell that eigenvalues decay. Processor ms of that,
#: where they decay fast and slowly, and of LAPACK's subset, k = 10: p = 200 1.2, 1.4 and 2.1; p = 300 1.3, 2.4 and 4.3;
#: p = 500 3.5, 4.4 and 10.8; p = 600 4.0, 5.4 and 15.8.
ITERATE_LEAST = 200

#: Nanoseconds an entry, on one core, of XᵀXV for CSR rows X and V of so many columns, in float64 and in float32; tf-idf
#: rows 20,000×10,000 with 1.1·10⁶ entries and uniform ones 20,000×5,000 with 10⁶ differ by a tenth. Wider blocks take
#: WIDE_NS a column. A vector alone is cheap because SciPy has a loop of its own for it. Blocks of 8 and 16 have loops
#: that are compiled where numba is there and has paid, and no plan may depend on that: these are geometric means of
#: both, of SciPy's 5.2 and 6.2 in float32, 6.2 and 10 in float64, of compiled ones 2.4 and 3.3, 3.7 and 5.5.
SPARSE_NS = {
    8: {1: 2.0, 2: 4.6, 4: 5.2, 8: 4.8, 16: 7.5},
    4: {1: 1.4, 2: 5.0, 4: 4.8, 8: 3.6, 16: 4.6},
}
WIDE_NS = {8: 0.75, 4: 0.38}

#: Nanoseconds, on one core, a multiplication, an entry of the result above the diagonal, a stored entry and an entry of
#: the dense result, in the pass that forms XᵀX of CSR rows; and seconds of it in any case. 20,000×2,000 with 10 %,
#: 8·10⁸ multiplications, 1.1 s; 100,000×5,000 with 1 %, 2.6·10⁸ into 6·10⁷ entries, 1.6 s; 300,000×1,000 with 2 %,
#: 6·10⁶ stored and 1.3·10⁸ into 1.5·10⁷, 0.7 s; 100,000×300 with 5 %, 1.5·10⁶ stored, 0.09 s. Compiled loops take half
#: of that, 0.7 and 0.3 s of the second and third, and what a fit takes beside them is not counted here: that of
#: 300,000×1,000, k = 3, takes 0.51 s by compiled loops and 0.89 by SciPy's, and 0.69 is said.
GRAM_NS, GRAM_ENTRY_NS, GRAM_STORED_NS, GRAM_DENSE_NS, GRAM_STEP = 0.8, 20.0, 45.0, 4.0, 5e-4
#: The same a multiplication of crowded rows, which are multiplied as dense ones: 10,000×1,500 with 20 % 0.55 s.
GRAM_CROWDED_NS = 0.024

#: d×d matrices held while a dense eigenproblem is solved: state, copy, work space, vectors.
EIGH_COPIES = 4.0

#: Copies of the vectors of an answer: those found, with their signs, their residuals, and as components; where they are
#: turned from the rows also AᵀU, of unit length, and what a QR decomposition holds; of a state also what the rounding
#: of the eigenvalues is measured with.
ANSWER_COPIES, TURNED_COPIES, MEASURED_COPIES = 4.0, 5.0, 11.0

#: What is given back by one part of a fit is not all at hand for the next: lanes allocate from heaps of their own.
KEPT = 1.15

#: p×p matrices that a lane sums a Gram matrix in, that measuring its rounding takes beside, and that are held where it
#: is formed in tiles or from sparse rows.
STATE_SUMS, STATE_CHECKS, TILED_COPIES = 3.0, 4.0, 3.5

#: p×p matrices held while rows are read again for all components: the Gram matrix, its vectors, two that tell of its
#: rounding, the vectors read and their products. Of 8,000×1,000 with σ down to 1e-10 24 in all, 12 of them in the pass.
REPAIR_COPIES = 7.0

#: Rows up to which all eigenvalues of a kernel matrix are found by a dense decomposition, where a rule asks for them or
#: more than a few components are wanted: 0.16 s at n = 1,000.
KERNEL_DENSE = 1000

#: Rows up to which a kernel matrix is formed and its leading pairs found (``solvers/leading.py``). Processor ms of that
#: and of Krylov, k = 10, d = 20, RBF of large and of small gamma: n = 500 7 and 75, 6 and 22; n = 1,200 31 and 62, 27
#: and 29; n = 1,500 49 and 79, 43 and 38; n = 2,000 96 and 100, 85 and 51.
KERNEL_FORMED = 1600

#: Rows from which, and up to which, a Cholesky factor is asked whether a kernel matrix that was handed over has
#: negative eigenvalues. Processor ms of the fit with it and by all eigenvalues, k = 2: n = 200 4.8 and 3.7; 300 6.8
#: and 7.7; 500 12 and 19; 700 26 and 46; 1,000 83 and 138. By products and an estimate: n = 2,000 365 and 700.
KERNEL_PROVED, KERNEL_PROVED_MOST = 250, 3000

#: Rows for every explicit feature of a kernel of vectors, at least, for features to be taken instead of K: the cubic
#: kernel of 20 columns has 1,771, which take 0.33 s at n = 1,000, and the leading pairs of K 0.04 s. And rows times
#: squares of features up to which that does not matter where they are fewer than rows: 56 of 50 rows 2.4 ms, K 1.6.
FEATURE_ROWS, FEATURE_WORK = 4, 1e7

#: Rows from which, and share of them up to which, the leading pairs of a formed matrix are found by Lanczos and proved
#: by a Cholesky factorisation. RBF, k = 10, slow and fast decay: n = 150 1.2 and 0.8 ms, LAPACK's subset 1.05; n = 200
#: 1.4 and 1.0, 1.6; n = 300 1.8 and 1.3, 3.2; n = 1,000 13 and 10, 50.
FORMED_LEAST, FORMED_SHARE = 175, 0.1

#: Gaussian columns that measure the rounding of a Gram matrix in float32, and θ_k, in units of θ₁, from which a factor
#: of it tells the k-th value from the next in a bulk: at p = 1,400 rounding is allowed 8e-5·θ₁, gaps of noise are
#: 4e-3·θ_k.
FACTOR_PROBES, FACTOR_REACH = 16, 0.1

#: Largest smaller side for which a dense eigenproblem is considered.
DIRECT_LIMIT = 20_000

#: More than this share of all components: block Krylov needs a basis as large as the problem.
DIRECT_SHARE = 0.25

#: Below this side of dense rows nothing is faster than the Gram matrix. Processor ms by that and by single vectors,
#: 300×300, k = 3: 4.9 and 3.1; 250×250, k = 3: 2.8 and 2.3; 200×200, k = 3 2.4 and 2.3, noise 2.3 and 4.1; 2,000×100,
#: k = 1: 2.8 and 5.6.
SMALL_SIDE = 200

#: Seconds of forming the Gram matrix up to which nobody asks: 200,000×784, k = 1, by that 3.5 processor seconds, by
#: block Krylov 2.4.
SMALL_FORM = 0.2

#: The same side for sparse rows, whose products are cheap. Processor ms by the Gram matrix and by Lanczos, 1,000×300
#: with 5 %: k = 1 5.5 and 5.9, k = 3 5.3 and 3.7, k = 10 7.0 and 5.7, 5.8 and 6.4; 1,104×203 with 5.5 %, k = 2, 3.4
#: and 1.7; 2,699×185 with 16 %, k = 1, 5.5 and 3.8; 869×127 with 14 %, k = 2, 2.0 and 2.6.
SMALL_SPARSE = 150

#: The same where rows are on a device: the Gram matrix is nearly free there, and an eigenproblem of this side takes
#: less than the products of an iteration over long tables.
THERE_SIDE = 2500

#: A direct route may cost this much more than an iterative one: it is exact and knows the whole spectrum; and of dense
#: rows in memory, of which an iteration is left soon where nothing decays. Processor ms of tables that this decides, by
#: the direct route and by single vectors, values that decay fast, slowly and not at all, k = 10, 10 and 6: 6,000×800 in
#: float64 100, 100 and 100, 50, 82 and 132; 800×400 6.7 and 7.2, 3.8 and 6.1; 61 such tables of twelve shapes take 0.7
#: of the time in the mean, six of them, noise, 1.3 times as long. On another machine 6,000×800, k = 10, 70, 73 and 96,
#: 47, 73 and 179; and 4,000×420 14, 15 and 18, 22, 33 and 66, where the first took 22, 21 and 24, 13, 18 and 30: so it
#: is formed.
#: The same of sparse rows in memory, k = 1 to 20, by the direct route and by single vectors: 310×9,437 with 9,000
#: entries, 3.7 and 2.0; 1,887×285 with 24,000 4.0 and 2.8; 341×1,703 with 90,000 11.7 and 7.9; 5,218×140 with 60,000
#: 4.5 and 3.3; 145×4,075 with 23,000 3.3 and 3.8; 152 such tables of less than 420 rows or columns 0.97 in the mean.
DIRECT_PREFERENCE, DIRECT_LEFT = 1.3, 1.05

#: Tighter than this float32 products bring nothing: the finish would repeat all their work.
FLOAT32_TOL = 1e-7

#: eigh of a subset costs half of all vectors once k is below a fifth of d (d = 2000: 0.32 s against 0.64 s).
SUBSET_SHARE = 0.2
#: Share of the vectors up to which some of them take less time than all, and columns from which that is so: processor
#: ms of k vectors with all eigenvalues (``_core/subset.py``), and of all, 300 columns, k = 60 4.8 and 6.6, k = 100 6.6
#: and 6.6; 500, k = 170 21 and 24; 90, k = 30 0.43 and 0.48; 50, k = 1 0.09 and 0.17; 20, k = 1 0.025 and 0.032.
SOME_SHARE, SOME_LEAST = 0.3, 32
#: Up to this side all eigenvalues are computed all the same: that takes 0.28 ms and not 0.20 for d = 100, and whoever
#: asks for limits of what is left out has them without the moment state.
SUBSET_ABOVE = 100

#: Side from which a matrix of the host is decomposed on a graphics processor, where the rows lie there: 768 columns
#: take 8.5 ms on an H200 and 70 on the 16 cores beside it.
THERE = 256

#: Directions beyond k that a repair pass reads again: they absorb the mixing across the k-th gap.
REPAIR_MARGIN = 8
#: Singular values below this share of the largest are read again by themselves, where they are at most so many of all:
#: the error of a Gram matrix moves larger ones by 2·e/σ₁, e ≈ 70·u·λ₁. Processor seconds of PCA with all components of
#: 600×600 noise, these and all read again: 0.16 and 0.56.
SMALL_VALUE, SMALL_SHARE = 0.25, 0.6
#: Eigenvalues below this share of the largest have vectors that the Gram matrix mixes at will: these are read once
#: before all are, which spares the second reading of all: 3,000×1,000, singular values down to 1e-10, 2.1 and 3.1 s.
BLIND = 1e-13
#: Rows for every column up to which LAPACK decomposes rows in memory instead, and entries up to which it does so in any
#: case. Processor ms by that and by reading again: 3,000×1,000 as above 1,600 and 2,100; 1,797×64 6.7 and 5.0; 569×30
#: 1.13 and 1.02; 1,000×10 1.16 and 1.42; 1,000×30 1.5 and 2.0; 3,000×10 2.0 and 2.8; 2,000×20 1.56 and 1.35.
DENSE_TALL, DENSE_BRIEF = 4, 16_000
#: The smaller side of wide dense tables, not much wider than high, up to which they are decomposed at once where all
#: components are wanted: their Gram matrix is in doubt as a rule. Processor ms by that and at once: 20×24 1.3 and 0.7,
#: 60×70 2.6 and 1.4, 60×105 1.9 and 1.1, 150×220 6.5 and 5.3, 150×270 6.6 and 6.4, 400×520 51 and 51, 700×900 noise
#: 250 and 289.
DENSE_WIDE = 160
#: The smallest pivot of the Gram matrix's Cholesky factor, in units of σ₁, below which that is known before eigenvalues
#: are found; the share of small pivots and rows for every column above which, and columns below which, none is asked.
#: Processor ms of both: 500×500, ten components and noise, 91 and 137; 3,000×1,000 1,030 and 1,540; 2,000×400 96, 167.
PIVOT, PIVOTED_SHARE, PIVOTED_TALL, PIVOTED_LEAST = 0.02, 0.3, 8, 32

#: The float32 phase ends at this share of tol, but not below FLOAT32_FLOOR·θ₁; what float32 products leave in the
#: residual of the finish is about FLOAT32_NOISE·θ₁.
FLOAT32_SHARE, FLOAT32_FLOOR, FLOAT32_NOISE = 0.5, 5e-7, 1e-6

#: The finish goes on with the residuals above this share of tol.
LEAN_SHARE = 0.5

#: Ritz vectors beyond k that the float64 finish takes along, so that the k-th is separated from what follows; residuals
#: of a chain, in units of tol, up to which it takes none where nothing else is near: 200,000×50,000 with 0.05 %, k = 1,
#: 412 instead of 515 ms, 30,000×30,000 with 0.1 %, k = 3, 64 instead of 72, residuals below 0.9·tol either way.
FINISH_SPARE, FINISH_SETTLED = 4, 0.01

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

#: Products with a block, and with single vectors, that look for what Lanczos missed. Single vectors: 8 to 13 where
#: eigenvalues decay or a gap follows, 31 for 3,000×3,000 with 1 %, eigenvalues 1/j, k = 10.
SEARCH_PRODUCTS, SEARCH_SINGLE = 6, 13
#: Products of such a block where few are wanted: none where the start or the trace proves it, 2 to 4 elsewhere, and the
#: chain itself takes 2 or 3 less than ``thin_columns`` says.
SEARCH_FEW = 1

#: Products with one vector that take as long as one with a block that looks for what Lanczos missed, and what else is
#: done with it. Processor ms of a fit with single vectors and with a block: 3,000×3,000 with 1 %, k = 10, 25 and 30;
#: 4,000×4,000, k = 3, 20 and 25; 20,000×10,000 with 0.5 %, k = 2 and 20, 88 and 94, 177 and 212.
BLOCK_PRICE = 6.0
#: The same of sparse rows so well filled that products are nearly all of it, and predicted seconds of a product from
#: which they are, in all and for every row of a vector: 8e-7 of 100,000×5,000 with 1 %, 9e-8 of 200,000×50,000 with
#: 0.05 %. Processor ms with single vectors, with a block by compiled loops and by SciPy's: 300,000×1,000 with 2 %,
#: k = 1 and 3, 359, 283 and 340, 394, 352 and 412; 100,000×5,000, k = 1, 298, 239 and 308; 200,000×50,000, k = 1, 448,
#: 447 and 574. Dense 4,000×4,000 and 2,000×8,000, k = 10, 342 and 367, 550 and 643.
FILLED_PRICE, FILLED_PRODUCT, FILLED_ROW = 2.0, 5e-4, 2e-7

#: Lanczos may cost this much more than other iterations on sparse rows: where eigenvalues do not decay it loses least.
#: 3,000×3,000 with 1 %, k = 3, Lanczos and block Krylov: 22 and 16 ms where they decay, 80 and 262 where they do not.
STEADY = 1.3

#: Degree of the Chebyshev filter: products with M between two orthonormalisations.
CHEBYSHEV_DEGREE = 10

#: Growth of θ₁ over θ_k in one filter: the rounding of the leading directions stays below 1e-8 of the k-th column.
CHEBYSHEV_RANGE = 1e8

#: Side from which the first Lanczos chain runs in float32: below it a basis stays in the caches anyway.
LANCZOS_NARROW = 1000

#: Components up to which the chain on few dense rows in memory is one of single vectors; beyond them, and on sparse
#: rows, it is where that is predicted to take this share of the time of a chain of blocks. Processor ms of single
#: vectors and of blocks:
#: 1,000×1,000 dense, k = 50 49 and 81; 3,000×1,500, k = 50 325 and 216; 3,000×3,000 with 1 %, k = 100 138 and 180;
#: 5,000×40,000 with 0.2 %, k = 50 298 and 360; 20,000×2,000 with 10 %, k = 30 834 and 633; 50,000×5,000 with 0.2 %,
#: k = 100 749 and 541; 20,000×10,000 with 0.5 %, k = 2 87 and 142.
LANCZOS_SINGLE, SINGLE_AHEAD = 24, 0.9
#: That share on sparse rows where few are wanted. The same of single vectors, of blocks by compiled loops and by those
#: of SciPy: 10,000×1,500 with 20 %, k = 3 and 10, 185, 89 and 142, 276, 136 and 241; 20,000×2,000 with 10 %, k = 1 and
#: 10, 197, 154 and 270, 384, 184 and 335; 20,000×10,000 with 0.5 %, k = 3 and 10, 70, 50 and 65, 82, 113 and 142;
#: 100,000×20,000 with 0.05 %, k = 3 100, 137 and 155; 200,000×50,000 with 0.05 %, k = 10 988, 925 and 1,157.
FEW_AHEAD = 0.95
#: Side from which such a chain runs in float32: a vector takes half the time of one in float64; and entries of sparse
#: rows up to which it does not: ms of SVD(10) in float64 and in float32, 1,000×300 with 5 % 3.3 and 4.0.
SINGLE_NARROW, LITTLE = 300, 120_000
#: Entries of dense rows from which it does whatever the side, by bytes of a number of the rows: those of float32 are
#: multiplied as they lie, others are rounded first. Processor ms of a chain in float64 and in float32: 275×5,455 of
#: float32, k = 1, 13.9 and 9.6; 255×3,672, k = 2, 9.3 and 7.8; 502×229, k = 1, 0.89 and 0.94. Of shorter tables of
#: float32 noise gains nothing: 502×229, k = 1, 2.6 by the Gram matrix and 4.3.
HELD_NARROW = {4: 150_000, 8: 200_000}
#: Seconds of a step of such a chain beside its product and its basis, and bytes a second at which a basis is read from
#: memory and from the caches, which hold this many bytes.
SINGLE_STEP, BASIS, BASIS_CACHED, CACHED = 1.5e-5, 1.2e10, 2.5e10, 4_000_000

#: Flops a second of a product of one vector with a dense table that is held in the precision of the product, by bytes
#: of a number, from memory, from the outer caches and from the inner ones: 3,000×1,500 in 1.27 ms in float32 and 3.2 in
#: float64, 1,000×1,000 in 0.12 and 0.27, of one core. Processor ms of single vectors and of block Krylov,
#: where eigenvalues decay and where they do not: 1,000×1,000, k = 3 14 and 33, k = 10 34 and 312; 3,000×1,500, k = 10
#: 80 and 167; 2,000×8,000, k = 1 and 10 236 and 254, 547 and 492.
HELD_GEMV, HELD_GEMV_CACHED, HELD_GEMV_NEAR = {4: 30e9, 8: 14e9}, {4: 40e9, 8: 19e9}, {4: 60e9, 8: 28e9}
#: Bytes of such a table up to which it stays in the outer and in the inner caches. Flops a second of one core in
#: float32: 1, 4, 8, 12 and 16 MB 44e9, 39e9, 40e9, 33e9 and 27e9, 20 and 64 MB by pieces 23e9 and 16e9; on machines
#: with smaller caches, 600×600 25e9, 1,000×1,000 12.7e9, 3,000×1,500 13.4e9, and in float64 263×5,757 5.5e9.
HELD_CACHED, HELD_NEAR = 16_000_000, 4_000_000
#: Seconds an entry of dense rows in memory beside the products of an iteration (squares of the rows, a copy in float32,
#: measuring and turning vectors), and beside forming a Gram matrix. Processor ms of 900×1,600, k = 3: 28, of which 19
#: products take 9; of 2,500×600 by its Gram matrix: 36, of which that and its eigenvectors take 28 at the rates above,
#: and, on another machine, of 263×5,757, which is read twice more, 13, of which these take 8.5: what is said lies
#: between the two. Beside iterations 1,222×1,450 in float32, k = 16, takes 9 of 25, 400×4,096, k = 2, 7 of 15.
ITERATED_ENTRY, FORMED_ENTRY = 2.5e-9, 1.7e-9
#: Seconds an entry of dense rows in a product with a block, beside what grows with its columns, in float32 as it is
#: kept, and in float64. Processor ms of 1,400×1,400 with 16 and 64 columns: 2.4 and 5.7, 6.7 and 15.6.
READ32, READ64 = 2e-10, 7e-10
#: Seconds a p³ of measuring the rounding of a Gram matrix of dense rows in float64 that is not formed in short sums:
#: processor ms of forming and solving 1,400×1,400 186, of 2,200×1,100 165, where forming alone takes 61 and 59 at the
#: rates above, and solving 49 and 28.
WATCHED = 1.7e-11
#: Seconds an entry of a Gram matrix of dense rows in float64 beside that: sums, means taken off, a triangle mirrored.
#: Processor ms of a fit of 1,000×1,000, k = 50: 57, of which forming and solving take 47; of 500×500, k = 5, 13 and 6.
SQUARE_ENTRY = 6e-9
#: Seconds of calls around a Gram matrix of dense rows from ITERATE_LEAST columns on, and in the iteration on it, 15 µs
#: of one core for each of some forty products: 250×250, k = 1 and 3, 2.8 ms, of which 1.8 are said by the rest.
FORMED_CALLS = 3e-4
#: The same of one in float32: this share of all rows, at most so many, is formed in float64 as well, and seconds an
#: entry of the matrix.
WATCHED32, WATCHED32_ROWS, WATCHED32_ENTRY = 0.0625, 2048, 1.3e-8

#: Share of the components up to which a tall table of float32 with few rows (``SQUAT``, ``SHORT_SQUAT``) is multiplied
#: in float32 and measured, and q·p² and rows for every column from which it is; of all components the last ones would
#: be lost as a rule. Processor ms so and in float64, on kernels with and without AVX-512: 8,000×200, k = 40, 12 and 12,
#: 15 and 18; 5,000×300, k = 60, 16 and 17, 19 and 21; 5,000×500, k = 120, 42 and 48, 49 and 61; 10,000×400, k = 10, 36
#: and 52; 2,500×250 10 and 9, 8.5 and 8.9; 1,000×1,000, k = 30, 68 and 62, 79 and 72.
NARROW_SHARE, NARROW_WORK, NARROW_TALL = 0.25, 3e8, 3

#: Bytes of a Lanczos basis that are not worth saving by restarts: SVD(100) of tf-idf rows 18,846×168,000 takes 39
#: products with 520 columns before a restart, 34 with 800.
LANCZOS_BYTES = 64 << 20

#: Tighter than this the iteration itself needs sums in short chains; the answer is measured by them in any case.
LOOSE_TOL = 1e-10
#: Rows of a stream of very many columns that wait for their turn, and the bytes that these may take: what is let go of
#: with every block adds up, so fewer and higher blocks give narrower enclosures.
DIRECTIONS_ROWS, DIRECTIONS_BYTES = 512, 256 << 20

#: Restarts of the Lanczos basis, and power steps for one component, before giving up.
MAX_RESTARTS = 200
MAX_POWER_STEPS = 1000

#: A table up to this much wider than tall is iterated on its columns; 2,000×50,000 takes 6 passes in 3.8 s there,
#: 8 in 3.2 s on its rows.
KRYLOV_WIDE = 4

#: Looks at the residuals before a road is left, and over which their slope is measured.
FEW_LOOKS = 3

#: Products that are still needed, in units of digits missing over digits a product so far, and of the products so far.
#: Noise: of 19 products (p = 800, k = 20) 13 were left after 6, where the slope said 35; of 106 with 16 columns (p =
#: 5,000, k = 50) 68 after 38. Clusters stand still for 4 of 10 products.
HASTE, PATIENCE = 0.6, 2.0

#: Columns in all where eigenvalues do not decay, in units of where they do: 106 products and 29 there, 72 and 23 for
#: p = 3,000.
FLAT = 3.5

#: A road is left when going on would cost this much more than the cheapest other.
LEAVE = 1.2
#: The same where the other road will be paid in any case, because this one would prove too little. Noise, 1,000×1,000,
#: k = 3: 0.11 s and not 0.15, of which the direct route takes 0.10.
LEAVE_UNPROVED = 1.05
#: The same where the k-th value was seen to lie in the bulk, and a factor would have to prove what is found: gaps there
#: are narrow, and the direct route knows them all. Noise in float32, processor ms with a factor, and by leaving:
#: 5,543×600, k = 5, 127 and 92; 400×4,096, k = 2, 46 and 38; 1,754×389, k = 1, 22 and 18.
LEAVE_CROWDED = 0.8

#: An answer whose completeness is not proved is found again by the direct route, which proves it, where that costs
#: at most this many times what the iteration has cost by the same rates (2,200×1,700 sparse, flat: 1.46).
PROOF_PRICE = 1.5
#: How many times as much it may be where blocks find many components of sparse rows, whose price is too high. Noise,
#: 100,000×5,000 with 1 %, k = 50: 2.5 s of one core, and 8.5 with the direct route; 50,000×5,000 with 0.2 %, k = 100:
#: 1.8 and 8.
BLOCK_PROOF = 0.6

#: How many times as much a proof may cost on dense tables that single vectors are multiplied with: there the direct
#: route takes a fraction of a second. Noise, k = 10, processor ms of the iteration and of the direct route: 1,000×1,000
#: 42 and 89, 1,500×1,000 73 and 126; k = 3, 1,500×1,500 54 and 349.
DENSE_PROOF = 6.0
#: The same where blocks find few components of sparse rows in half the time of single vectors. Noise, processor ms of
#: the iteration, with the direct route, and of ARPACK: 10,000×1,500 with 20 %, k = 3, 231, 775 and 1,556;
#: 100,000×5,000 with 1 %, k = 5, 1,055, 4,974 and 5,545; 21,328×5,834 with 3 %, k = 7, 1,071, 6,820 and 3,151, which is
#: left without a proof.
FEW_PROOF = 1.5

#: The same of a factor of the Gram matrix of sparse rows, where the direct route would take too long. Processor ms of
#: the iteration, of the factor, and of the direct route: 2,500×600 with 40,000 positive entries, k = 10, 13, 10 and 31;
#: 400×5,000 with 20,000 Gaussian ones, k = 3, 7, 4 and 10; 5,000×1,000 with 30,000, k = 20, 22, 19 and 44, which is
#: left without a proof.
SPARSE_PROOF = 0.5

#: Products after each of which the eigenproblem of the basis is solved, and the share by which the basis grows between
#: two looks beyond them: at 36 products of 64 columns each look costs half a second.
LOOK_STEPS, LOOK_GROWTH = 12, 0.15

#: Products with M after which an iterative solver gives up and says so.
MAX_STEPS = 500


# The smallest eigenvalues.

#: Rows up to which all eigenvalues are found densely where the smallest are wanted: 13 ms at 100, where an inverse
#: iteration takes 20, 27 and 19 at 150, 43 and 15 at 200 (Laplacian eigenmaps).
DENSE_SMALLEST = 140
#: Rows up to which an operator without sparse entries is written out for that.
DENSE_SMALLEST_MOST = 5_000

#: Entries of a factor, by rows times those of a cut: neighbour graphs of 1 to 50 dimensions had 0.15 to 0.7.
FILL_CUT = 0.45

#: Entries of a factor, by the sum of squares of the cuts of halves, beside a quarter of those of M: swiss rolls of
#: 5,000 to 150,000 rows had 3 to 8.
FILL_HALVES = 8.0

#: factor²/p a second of a sparse factorisation, from below: LLE of 50,000 rows 3e9.
FACTOR_RATE = 2e9

#: Seconds a row of ordering and setting up: Laplacian of 50,000 rows.
ORDER_ROW = 4e-6

#: Seconds for an entry of the factor and a vector in a solve: 8e6 entries in 8 ms.
SOLVE_ENTRY = 1e-9

#: Bytes for an entry of the factor, fronts and sums included, from above: LLE of 50,000 rows 17, a Laplacian 22.
#: Where all is one dense front it is five squares of 16: the front, L twice, and two copies for the sums.
FACTOR_BYTES = 100.0

#: Columns of the basis of Lanczos on the inverse.
LANCZOS_SMALLEST = 64

#: Share of the rows in a cut from which gaps are wide.
FAR_CUT = 0.1

#: Products with a block that then find a few pairs, and those with eight columns that prove that none was missed.
FAR_PRODUCTS, FAR_FILTER = 20, 200

#: Seconds that factorisations may be predicted to take before products alone are tried, which prove the same but for a
#: probability of 1e-9: of 10,000 points in 10 dimensions 1.0 s instead of 12.6.
FAR_SECONDS = 4.0


#: Columns of a float64 table whose Gram matrix is formed in float32 and corrected; what that costs more, seconds an
#: entry; steps of the correction; and the share of the price of the Gram matrix in float64 up to which it is done.
REFINED_LEAST, REFINED_MOST, REFINED_ENTRY, REFINED_STEPS, REFINED_AHEAD = 400, 2048, 0.6e-9, 20, 0.95

#: Rows that are looked at before a route is taken, at least; seconds of a plan from which they are; and the share of it
#: that looking may take.
SAMPLED_LEAST, SAMPLED_SECONDS, SAMPLED_SHARE = 256, 0.05, 0.05
#: Passes of block Krylov to 1e-6 by the products q that a sample expects: the first ones, and for each of q, up to a
#: number from which there is a bulk, where each takes more. Passes and q of 60,000×784, 30,000×1,500 and 20,000×5,000,
#: k = 1 to 30: values that decay fast 5 to 8 and 0.8 to 5, as 1/j 8 to 11 and 3.5 to 9, clusters 7 to 9 and 3 to 8, a
#: step 7 to 8 and 3.5 to 6; noise 20 to 45 and 15 to 28. And the share of the price of a Gram matrix, which proves
#: more, up to which block Krylov is taken: its passes take 1.0 to 1.25 times as long beside it as rates say. Of float32
#: rows more, for their Gram matrix is formed at twice the rate on some machines. Share by the rates and measured there:
#: 200,000×784, k = 1, 0.72 and 1.5, 0.52 and 0.9; 60,000×784 0.69 and 1.25; 30,000×1,500, k = 10, 0.54 and 0.7; in
#: float64 200,000×784 0.57 and 0.9, 13,035×767 0.87 and 0.5.
SAMPLED_FIRST, SAMPLED_EACH, SAMPLED_BULK, SAMPLED_SLOW = 4.2, 0.75, 14.0, 1.6
SAMPLED_AHEAD, SAMPLED_AHEAD32 = 0.8, 0.62

#: Price of a Gram matrix, in units of that of a chain of single vectors, from which the chain is tried before it, and
#: what a try may lose, in units of the Gram matrix: calls in seconds, seconds an entry, products beside k. Real over
#: predicted price of 62 tables of 100 to 24,000 rows and columns, k = 1 to 23: of chains where eigenvalues decay fast,
#: in clusters or behind a step 0.4 to 0.7, slowly 0.5 to 1.0, of the Gram matrix 0.5 to 1.2. What noise lost, and was
#: predicted to lose, by leaving the chain for the Gram matrix, in processor ms beside that: 572×11,383, k = 1 and 12,
#: 12 and 23 beside 76 and 80, 31 and 50; 3,691×353 4.2 and 5.3 beside 11 and 13, 6.0 and 8.9; 275×5,455 3.0 and 4.4
#: beside 18 and 20, 6.8 and 10; 5,195×1,248 18 and 26 beside 146 and 149, 31 and 50; 120×900 0.6 beside 1.1, 1.1.
TRIED, LOST, TRIED_CALLS, TRIED_ENTRY, TRIED_STEPS = 0.7, 0.37, 4e-4, 1e-9, 9

# Gaps that an iterative PCA fills: how often it goes over the rows, and seconds for an entry in each of these passes.
# Iris, wine, breast cancer and diabetes with 2, 10 and 30 % of their entries gone, em and regularized with 1 to 3 axes:
# 9 in the median, 6 to 16 of five in six, 22 to 59 of four, 500 of two (em of two axes of the four columns of iris);
# and 60 to 110 ns on the largest of them.
GAP_PASSES = 9
GAP_ENTRY = 8e-8
