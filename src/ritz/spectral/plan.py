"""The planner: which solver, why, and what it will cost.

    T_gram   = form the p×p Gram matrix + its leading pairs       p = min(n, d)
    T_krylov = E·(product with l columns + orthonormalising)      E products until tol; l = k + s, or fewer than k
    T_other  = as many products as the solver is likely to need

with the costs of ``costs.py``. E supposes that eigenvalues decay; where they do not, the solver sees it after a few
products and leaves the road for a cheaper one (``course.py``). The choice depends on shape, dtype, stored entries, tol
and memory alone, with committed rates, so the same call takes the same route on every machine. It is public:
``ritz.plan(X, estimator)`` and ``estimator.plan_``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ritz._core.errors import MemoryLimitError, ParameterError
from ritz._core.frozen import changed, quick
from ritz._core.tabular import Tabular
from ritz.operators.laid import laid_bytes
from ritz.operators.vector import DENSE_ENTRIES, DENSE_SIDE, TALL_SIDE, columns_bytes, kept_bytes
from ritz.spectral import constants as c
from ritz.spectral import costs, storage, widths
from ritz.spectral.course import Course, worth_a_try
from ritz.spectral.words import pass_words, reason_lines, seconds_words, size_words, time_words

__all__ = [
    "FIRST_GUESS", "SOLVERS", "Plan", "Shape", "as_planned", "choose", "over_memory", "pass_words", "reason_lines",
    "route", "size_words", "time_words", "with_others",
]  # fmt: skip

#: First guess for a rule that grows k until it is decided.
FIRST_GUESS = 16

#: Columns of which nobody asks how long they take.
FEW = 100
#: Rows of such a table up to which what it holds is a few hundred kilobytes, whatever threads there are.
BRIEF = 10_000

SOLVERS = ("svd", "moments", "krylov", "lanczos", "chebyshev", "power", "sketch")


@quick
@dataclass(frozen=True)
class Shape:
    """What the planner may look at."""

    n: int
    d: int
    itemsize: int = 8  # bytes of a number in the precision it is computed in, 8 for integers of any width
    stored: int | None = None  # stored entries of sparse data, None for dense
    symmetric: bool = False  # the d×d matrix is at hand: a moment state, or a symmetric operator itself
    outside: bool = False  # rows that are read again in every pass: from files, on a cluster
    reading: float | None = None  # bytes that reading them takes, where the source tells
    there: str = ""  # the device that passes and products run on; none: the processors of this machine
    weighted: bool = False  # rows have weights

    @property
    def small(self) -> int:
        """The smaller side."""
        return min(self.n, self.d)

    @property
    def large(self) -> int:
        """The larger side."""
        return max(self.n, self.d)

    @property
    def entries(self) -> float:
        """Entries that a product reads."""
        return float(self.stored if self.stored is not None else self.n * self.d)

    @property
    def numbers(self) -> float:
        """Numbers of eight bytes that rows in memory take, sparse ones with their places and a matrix of their side."""
        return self.n * self.d if self.stored is None else 2 * self.stored + self.small**2


@quick
@dataclass(frozen=True, repr=False)
class Plan(Tabular):
    """A route with its reasons and its predicted and, after the fit, real cost.

    Attributes
    ----------
    solver : name of the solver
    side : "columns" (AᵀA, d×d) or "rows" (AAᵀ, n×n)
    precision : of the products: "float64", "float32" or "float32 then float64"
    passes, seconds, bytes : predicted passes over the data, time, and memory beyond the data
    reasons : why this route, in words
    actual_passes, actual_seconds : what the fit took; None before it
    course : what other roads would cost, for a solver that falls behind; None after the fit

    Examples
    --------
    >>> import numpy as np, ritz
    >>> plan = ritz.PCA(3).fit(np.random.default_rng(0).standard_normal((500, 30))).plan_
    >>> plan.solver, plan.side, plan.precision, plan.actual_passes
    ('moments', 'columns', 'float64', 1)
    >>> print(plan.reasons[0])
    the smaller side is only 30
    """

    solver: str
    side: str  # "columns": works on AᵀA (d×d); "rows": on AAᵀ (n×n)
    precision: str  # of the products: "float64", "float32", "float32 then float64"
    passes: float
    seconds: float
    bytes: float
    reasons: tuple[str, ...]
    actual_passes: int | None = None
    actual_seconds: float | None = None
    course: Course | None = None

    def done(self, passes: int, seconds: float) -> Plan:
        """The plan with what the fit really took."""
        return changed(self, actual_passes=passes, actual_seconds=seconds, course=None)

    def fits(self, memory: float) -> bool:
        """Whether the plan without a limit of memory is the plan with this one, other roads included."""
        return max(self.bytes, 0.0 if self.course is None else self.course.held) <= memory

    def left(self, road: str, words: str) -> Plan:
        """The plan of a fit that took another road on its way."""
        how = "formed it in float64" if self.solver == "refined" else "went on with the vectors found"
        reasons = (f"{self.solver} was planned", *self.reasons, words, f"so {road} {how}")
        held = 0.0 if self.course is None else self.course.held
        return replace(self, solver=road, precision="float64", bytes=max(self.bytes, held), reasons=reasons)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = [
            f"plan: {self.solver} on the {self.side}, {self.precision}",
            f"predicted: {pass_words(self.passes, self.solver, self.reasons)}, {seconds_words(self.seconds)}, "
            f"{size_words(self.bytes)} beyond the data",
        ]
        if self.actual_seconds is not None:
            took = seconds_words(self.actual_seconds)
            lines.append(f"real: {self.actual_passes} pass{'es' * (self.actual_passes != 1)}, {took}")
        return "\n".join([*lines, *reason_lines(self.reasons)])

    def _table(self) -> dict[str, Any]:
        told = {
            "solver": self.solver, "side": self.side, "precision": self.precision, "passes": self.passes,
            "seconds": self.seconds, "bytes": self.bytes, "actual_passes": self.actual_passes,
            "actual_seconds": self.actual_seconds, "reasons": "; ".join(self.reasons),
        }  # fmt: skip
        return {name: [value] for name, value in told.items()}


def choose(
    shape: Shape, k: int, *, solver: str = "auto", tol: float = 1e-6, memory: float | None = None,
    needs_all: bool = False, growing: bool = False,
) -> Plan:  # fmt: skip
    """The plan for k components; ``needs_all`` for rules on the whole spectrum, ``growing`` for rules on its head."""
    if solver != "auto" and solver not in SOLVERS:
        raise ParameterError(
            f"solver must be 'auto' or one of {', '.join(SOLVERS)}",
            received=repr(solver),
            hint="leave solver='auto'",
        )
    if needs_all and solver not in ("auto", "svd", "moments"):
        raise ParameterError(
            "this rule for n_components needs the whole spectrum, which only 'svd' and 'moments' compute",
            received=f"solver={solver!r}",
            hint="use solver='auto', or one for every solver: a fraction, 'kaiser', 'broken-stick', 'aic', 'bic'",
        )
    if needs_all and shape.small > c.DIRECT_LIMIT:
        raise ParameterError(
            f"this rule for n_components needs the whole spectrum, at most {c.DIRECT_LIMIT:,} on the smaller side",
            received=f"{shape.n:,} × {shape.d:,}",
            hint="use a fraction such as 0.9, 'kaiser', 'broken-stick', 'aic' or 'bic'",
        )
    if solver == "auto":
        direct = _direct(shape, k, needs_all or growing) if shape.small <= c.DIRECT_LIMIT else None
        options = [] if direct is None else [direct]
        sure = None if direct is None else direct if needs_all else _surely(shape, k, direct, growing)
        if sure is not None and (memory is None or sure.bytes <= memory):
            return sure
        options += [] if needs_all else [(_dense if shape.stored is None else _sparse)(shape, k, tol)]
        best = _copying(_fit_memory(sure or _prefer(options, shape, k), options, memory), shape, memory)
        if c.REFINED_LEAST <= shape.d <= c.REFINED_MOST and not (needs_all or growing):
            from ritz.spectral.refined_plan import or_refined  # which stands on this module

            best = or_refined(best, shape, k, tol, memory)
        return with_others(best, shape, k, direct, memory)
    made = {
        "svd": _svd, "moments": lambda s, j, _: _direct(s, j, needs_all or growing), "krylov": _krylov,
        "lanczos": _lanczos, "chebyshev": _chebyshev, "power": _power, "sketch": _sketch,
    }[solver](shape, k, tol)  # fmt: skip
    made = replace(made, reasons=(f"solver={solver!r} was asked for",))
    return _copying(_fit_memory(made, [made], memory), shape, memory)


def route(
    shape: Shape, k: int | Any, *, solver: str, tol: float, memory: float | None, forms_state: bool = False
) -> Plan:  # fmt: skip
    """The plan for k components, or for a rule that decides; ``forms_state``: a moment state is formed anyway."""
    plan = _routed(shape, k, solver, tol, memory, forms_state)
    # what every fit takes beside its route: calls, and a look at the rows; no choice depends on it
    looked = c.FIT + (0.0 if shape.there else c.LOOKED * shape.entries)
    plan = changed(plan, seconds=plan.seconds + looked)
    if not shape.there:
        return plan
    return replace(plan, reasons=(*plan.reasons, f"passes and products run on {shape.there}"))


class _Asks:
    """What the planner knows of a rule."""

    def __init__(self, needs_all: bool) -> None:
        self.needs_all = needs_all


_HEAD, _WHOLE = _Asks(False), _Asks(True)


def as_planned(k: int | Any) -> int | Any:
    """A number, or one of two rules that the planner cannot tell from ``k``: so routes can be kept by it."""
    return k if isinstance(k, int) else _WHOLE if k.needs_all else _HEAD


def _routed(shape: Shape, k: int | Any, solver: str, tol: float, memory: float | None, forms_state: bool) -> Plan:
    rule = None if isinstance(k, int) else k
    guess = max(k if rule is None else min(FIRST_GUESS, shape.small), 1)
    options: dict[str, Any] = {"tol": tol, "memory": memory, "needs_all": rule is not None and bool(rule.needs_all)}
    asked = "moments" if rule is None and k == 0 and solver == "auto" else solver
    if shape.outside:
        from ritz.spectral.streamed import choose_outside  # which stands on this module

        return choose_outside(shape, guess, solver=asked, growing=rule is not None, **options)
    plan = choose(shape, guess, solver=asked, growing=rule is not None, **options)
    if asked != solver:
        plan = changed(plan, reasons=("no component is wanted: one pass learns means and variances",))
    if rule is None and k == 0 and plan.side == "rows":
        plan = changed(plan, passes=plan.passes - 1)  # there is no vector to turn
    if forms_state and solver == "auto" and plan.solver != "moments":
        direct = choose(shape, guess, solver="moments", growing=rule is not None, **options)
        return replace(direct, reasons=("the mergeable state is formed anyway", "its eigenvectors are the answer"))
    return plan


def _surely(shape: Shape, k: int, direct: Plan, growing: bool) -> Plan | None:
    """The direct route where no other has to be looked at: it is exact, and the smaller side is short."""
    p = min(shape.n, shape.d)
    if p <= c.DENSE_WIDE and k >= p - 1 and costs.both_sides(shape) and not growing:
        return replace(_svd(shape, k, 0.0), reasons=(f"all {p} components of a table nearly square are wanted",))
    if k > c.DIRECT_SHARE * p:
        wanted = f"{k} of {p} components are wanted: iterating would not pay"
        reason = f"the smaller side is {p:,}" if growing else wanted
    elif (p <= _short(shape) and (shape.there or costs.form(shape) <= c.SMALL_FORM)) or (growing and p <= 2000):
        reason = f"the smaller side is only {p:,}"
    else:
        return None
    return changed(direct, reasons=(reason, *direct.reasons))


def _short(shape: Shape) -> int:
    """The smaller side up to which nobody asks what else there is."""
    if shape.there:
        return c.THERE_SIDE
    return c.SMALL_SIDE if shape.stored is None else c.SMALL_SPARSE


def _prefer(options: list[Plan], shape: Shape, k: int) -> Plan:
    """Direct where it is nearly as fast: it is exact, knows the whole spectrum and leaves a mergeable state."""
    if len(options) == 1:
        return options[0]
    direct, iterative = options
    left_soon = costs.in_memory(shape) or (shape.stored is not None and _by_vectors(shape))
    tried = costs.in_memory(shape) and worth_a_try(shape.entries, k, direct, iterative)
    if not tried and direct.seconds <= (c.DIRECT_LEFT if left_soon else c.DIRECT_PREFERENCE) * iterative.seconds:
        return direct
    return replace(
        iterative, reasons=(*iterative.reasons, f"the direct route would take about {seconds_words(direct.seconds)}")
    )


def with_others(plan: Plan, shape: Shape, k: int, direct: Plan | None, memory: float | None) -> Plan:
    """The plan with the road that could be taken instead, if its iteration falls behind."""
    if plan.course is None or direct is None or (memory is not None and direct.bytes > memory):
        return plan
    # Of eigenvalues that do not decay: else nobody would leave.
    again = costs.form(shape, direct.precision == "float32") + costs.solve_formed(shape.small, k, flat=True)
    alone = _by_vectors(shape) and (shape.stored is None or plan.course.width == 1)
    factor = costs.factor(shape) if alone else plan.course.factor
    course = replace(plan.course, others=(("moments", again),), held=direct.bytes, factor=factor)
    return replace(plan, course=replace(course, formed=direct.precision))


def _fit_memory(plan: Plan, options: list[Plan], memory: float | None) -> Plan:
    if memory is None or plan.bytes <= memory:
        return plan
    fitting = [option for option in options if option.bytes <= memory]
    if not fitting:
        least = min(option.bytes for option in options)
        raise over_memory(memory, least, " beyond the data")
    best = min(fitting, key=lambda option: option.seconds)
    return replace(best, reasons=(*best.reasons, f"the {plan.solver} route would need {size_words(plan.bytes)}"))


def _copying(plan: Plan, shape: Shape, memory: float | None) -> Plan:
    """The plan with a copy of the rows that is made for products, where it pays and there is room: of sparse entries
    laid out, of dense rows in float32."""
    course = plan.course
    if course is None or shape.outside or shape.there or shape.symmetric:
        return plan
    if shape.stored is None:
        copied = kept_bytes(shape.entries, plan.precision.startswith("float32"))
        counted = plan.solver == "lanczos" and course.width == 1  # among what single vectors hold
        more = 0.0 if counted else c.KEPT * copied
        if not copied or (memory is not None and plan.bytes + more > memory):
            return plan
        return replace(plan, bytes=plan.bytes + more, course=replace(course, copied=copied))
    if plan.solver != "lanczos":
        return plan
    asked = laid_bytes if course.width > 1 else columns_bytes
    rows, columns = (shape.d, shape.n) if plan.side == "rows" and course.width > 1 else (shape.n, shape.d)
    copied = asked(rows, columns, shape.entries, 4 if plan.precision.startswith("float32") else 8)
    if not copied or (memory is not None and plan.bytes + c.KEPT * copied > memory):
        return plan
    return replace(plan, bytes=plan.bytes + c.KEPT * copied, course=replace(course, copied=copied))


def over_memory(memory: float, least: float, beyond: str = "") -> MemoryLimitError:
    """The error of a limit that no route keeps; it names the least that could."""
    error = MemoryLimitError(
        f"the fit must stay within memory={size_words(memory)}",
        received=f"at least {size_words(least)}{beyond}",
        hint=f"allow memory='{size_words(1.05 * least).replace(' ', '')}' or more, or ask for fewer components",
    )
    error.least = least
    return error


def _side(shape: Shape) -> str:
    return "columns" if shape.d <= shape.n else "rows"


def _direct(shape: Shape, k: int, needs_all: bool) -> Plan:
    p, q = shape.small, shape.large
    narrow = costs.narrowly(shape, k, needs_all)
    reason = f"one pass forms the {p:,}×{p:,} Gram matrix, whose eigenvectors are the answer"
    side = _side(shape)
    precision = "float32" if narrow else "float64"
    if shape.symmetric:
        reason = f"the {p:,}×{p:,} matrix is formed already, and its eigenvectors are the answer"
    elif side == "rows":
        reason = f"the {p:,}×{p:,} Gram matrix of the rows is formed, whose eigenvectors give the answer"
    if p <= FEW and q <= BRIEF and not shape.there:  # nothing is weighed against it
        seconds = q * float(p) * p / c.SYRK64 + c.EIGH_ALL * float(p) ** 3
        held = c.KEPT * 64.0 * p * p + 16.0 * (shape.d if side == "columns" else q) * k
        return Plan("moments", side, precision, _formed(shape, side), seconds, held, (reason,))
    seconds = costs.form(shape, narrow) + (costs.eigh(p, p) if needs_all else costs.solve_formed(p, k))
    solved, made = storage.state_solved(shape, k, needs_all), storage.answer(shape, k, side)
    held = c.KEPT * max(storage.state(shape), solved + (made if side == "rows" else 0.0))
    return Plan("moments", side, precision, _formed(shape, side), seconds, held, (reason,))


def _formed(shape: Shape, side: str) -> int:
    """Passes that form a Gram matrix: its own one finds the means of columns; on the rows they come before it, and
    the vectors v = Aᵀu/σ after it."""
    return 0 if shape.symmetric else 1 if side == "columns" else 3


def _svd(shape: Shape, _k: int, _tol: float) -> Plan:
    p, q = float(shape.small), float(shape.large)
    # rows are read for their sums and to be written out, and once more to turn vectors of their side
    passes = 1 if shape.symmetric else 2 if shape.d <= costs.BOTH * shape.n else 3
    return Plan("svd", _side(shape), "float64", passes, (4 * q * p * p + 22 * p**3) / c.GEMM64, 24 * q * p, ())


def _width(shape: Shape, k: int) -> int:
    return min(shape.small, k + widths.oversampling(k))


def _krylov(shape: Shape, k: int, tol: float) -> Plan:
    width, steps = _width(shape, k), widths.expected_steps(tol)
    narrow = shape.entries * width > c.FLOAT32_WORK and tol >= c.FLOAT32_TOL
    basis = min(width * steps, shape.small)
    # On the columns the first pass finds the means and the vectors need no turning, at the price of longer ones.
    near = shape.d <= c.KRYLOV_WIDE * shape.n and 16.0 * shape.d * basis <= c.KRYLOV_BASIS_BYTES
    side = "columns" if near else _side(shape)
    passes = steps + narrow + (2 if side == "rows" else 0)
    course = Course(costs.product(shape, width, narrow), shape.d if side == "columns" else shape.n, width)
    # A float32 basis has no image beside it; the finish holds two blocks and theirs in float64.
    vectors = 4.0 * basis + 32.0 * width if narrow else 16.0 * basis
    held = _held(shape, k, side, course.side * (vectors + 16.0 * width), max(width, k), narrow)
    reason = f"about {steps} products with a block of {width} vectors reach the tolerance"
    path = "float32 then float64" if narrow else "float64"
    seconds = course.cost(passes, width) + (c.ITERATED_ENTRY * shape.entries if costs.in_memory(shape) else 0.0)
    return Plan("krylov", side, path, passes, seconds, held, (reason,), course=course)


def _held(shape: Shape, k: int, side: str, own: float, width: int, narrow: bool = False) -> float:
    """What an iteration holds beyond the data: its own vectors, those of a pass, and the answer in the end."""
    turned = 12.0 * shape.entries if side == "rows" and shape.stored is not None else 0.0
    passing, answer = storage.passing(shape, side, width, narrow), storage.answer(shape, k, side)
    return c.KEPT * (turned + own + (passing + answer if side == "columns" else max(passing, answer)))


def _lanczos(shape: Shape, k: int, tol: float) -> Plan:
    """With single vectors where few are wanted, or where many products with one take no longer than few with many."""
    alone = _chained(shape, k, tol, single=True) if _by_vectors(shape) else None
    if alone is not None and k <= c.LANCZOS_SINGLE and shape.stored is None:
        return alone
    blocks = _chained(shape, k, tol, single=False)
    ahead = c.SINGLE_AHEAD if k > c.LANCZOS_SINGLE else c.FEW_AHEAD
    return blocks if alone is None or alone.seconds > ahead * blocks.seconds else alone


def _chained(shape: Shape, k: int, tol: float, *, single: bool) -> Plan:
    little, alone = single and _little(shape, k, tol), single and shape.stored is None
    narrow = shape.small >= (c.SINGLE_NARROW if single else c.LANCZOS_NARROW) and not little
    narrow |= alone and shape.entries >= c.HELD_NARROW[shape.itemsize]
    narrow &= tol >= c.FLOAT32_TOL
    width = 1 if single else min(shape.small, widths.lanczos_width(k, 4 if narrow else 8))
    columns = min(widths.thin_columns(k, width, tol), float(shape.small))
    side, steps = _side(shape), round(columns / width)
    each = costs.single(shape, narrow or little) if single else costs.product(shape, width, narrow)
    few = not single and shape.stored is not None and k <= c.LANCZOS_SINGLE
    many = c.BLOCK_PROOF if not single and shape.stored is not None else 1.0
    worth = c.DENSE_PROOF if single and shape.stored is None else c.FEW_PROOF if few else many
    length = shape.d if side == "columns" else shape.n
    filled = shape.stored is not None and each >= max(c.FILLED_PRODUCT, c.FILLED_ROW * length)
    course = Course(
        each, length, width, proof=worth, block=c.FILLED_PRICE if filled else c.BLOCK_PRICE,
        narrow=narrow if alone or little else None,
        spare=c.PROOF_PRICE if shape.stored is None else c.SPARSE_PROOF,
        reach=c.FACTOR_REACH if shape.stored is None else 0.0,
    )  # fmt: skip
    held_copy = shape.entries if single and shape.stored is None else 0.0
    seconds = course.cost(steps, k) + (c.ITERATED_ENTRY * shape.entries if costs.in_memory(shape) else 0.0)
    # The answer is measured in float64, and products as before look for what was missed.
    search = c.SEARCH_SINGLE if single else c.SEARCH_PRODUCTS if k > c.LANCZOS_SINGLE else c.SEARCH_FEW
    seconds += course.cost(search, k) + (costs.product(shape, k) if single else 0.0)
    own = widths.lanczos_bytes(shape.small, k) + (4.0 if narrow else 8.0 if held_copy else 0.0) * shape.entries * single
    held = _held(shape, k, side, own, k + c.FINISH_SPARE)
    steps += search
    words = f"{width} vectors each" if width > 1 else "a vector each"
    reason = f"about {steps} products with {words} reach the tolerance: few are enough where each is cheap"
    path = "float32 then float64" if narrow else "float64"
    return Plan("lanczos", side, path, steps, seconds, held, (reason,), course=course)


def _little(shape: Shape, k: int, tol: float) -> bool:
    """Whether sparse rows and a basis are so short that float64 takes as long as float32: they stay in the caches."""
    if shape.stored is None or shape.stored > c.LITTLE or k > c.LANCZOS_SINGLE:
        return False
    return 16.0 * shape.small * widths.thin_columns(k, 1, tol) <= c.CACHED


def _by_vectors(shape: Shape) -> bool:
    """Whether products with one vector are cheap: of sparse rows in memory, and of dense ones that are held."""
    if shape.outside or shape.there or shape.symmetric:
        return False
    long = shape.n > TALL_SIDE or shape.d > DENSE_SIDE
    return shape.stored is not None or (shape.entries <= DENSE_ENTRIES and not long)


def _dense(shape: Shape, k: int, tol: float) -> Plan:
    krylov = _krylov(shape, k, tol)
    if not _by_vectors(shape):
        return krylov
    lanczos = _lanczos(shape, k, tol)
    return lanczos if lanczos.seconds <= krylov.seconds else krylov


def _chebyshev(shape: Shape, k: int, _tol: float) -> Plan:
    width, steps = min(shape.small, k + 2 * widths.oversampling(k)), c.CHEBYSHEV_DEGREE * 3
    product = costs.product(shape, width)
    work = steps * product + 6 * (costs.orthonormal(shape.small, width, width) + costs.looking(width))
    reason = "products with sparse rows are cheap, and a filter needs only one orthonormalisation for about ten of them"
    course = Course(product)
    held = _held(shape, k, _side(shape), 8.0 * 5 * shape.small * width, width)
    return Plan("chebyshev", _side(shape), "float64", steps, work, held, (reason,), course=course)


def _power(shape: Shape, k: int, _tol: float) -> Plan:
    steps = 200.0 * max(1, k)
    work = steps * (4 * shape.entries / c.GEMV + c.STEP)
    held = _held(shape, k, _side(shape), 16.0 * shape.small * k, 1)
    return Plan("power", _side(shape), "float64", steps, work, held, ())


def _sketch(shape: Shape, k: int, _tol: float) -> Plan:
    width = min(shape.d, widths.sketch_width(k))
    work = 4 * shape.entries * width / (c.SPMM if shape.stored is not None else c.GEMM64)
    held = _held(shape, k, "columns", 8.0 * 6 * shape.d * width, width)
    passes = 1 if shape.symmetric else 2  # rows are read for their means or their squares, and for the product
    return Plan("sketch", "columns", "float64", passes, work + costs.reading(shape) * passes, held, ())


def _sparse(shape: Shape, k: int, tol: float) -> Plan:
    lanczos = _lanczos(shape, k, tol)
    other = min(_krylov(shape, k, tol), _chebyshev(shape, k, tol), key=lambda plan: plan.seconds)
    return lanczos if lanczos.seconds <= c.STEADY * other.seconds else other
