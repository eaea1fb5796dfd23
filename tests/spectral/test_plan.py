"""The planner: public, reasoned, the same everywhere."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import ritz
from ritz._core.errors import MemoryLimitError, ParameterError
from ritz.spectral import constants as c
from ritz.spectral import costs
from ritz.spectral.plan import Shape, as_planned, choose, pass_words, route, time_words


@pytest.mark.parametrize(
    ("shape", "k", "solver", "side"),
    [
        (Shape(1_000_000, 100), 10, "moments", "columns"),
        (Shape(200_000, 784), 50, "moments", "columns"),
        (Shape(20_000, 5_000), 50, "krylov", "columns"),
        (Shape(5_000, 5_000), 50, "krylov", "columns"),
        (Shape(60, 50_000), 10, "moments", "rows"),
        (Shape(20_000, 5_000), 5_000, "moments", "columns"),
        (Shape(200_000, 5_000, 8, 10_000_000), 50, "lanczos", "columns"),
        (Shape(82_168, 82_168, 8, 948_464), 100, "lanczos", "columns"),
        (Shape(300_000, 1_000, 8, 6_000_000), 1, "lanczos", "columns"),  # its Gram matrix takes twice as long
        (Shape(300_000, 1_000, 8, 6_000_000), 50, "moments", "columns"),
        (Shape(10_000_000, 100_000), 50, "krylov", "columns"),
        # dense tables that the caches hold, or nearly: the Gram matrix takes two to three times as long
        (Shape(1_000, 1_000), 50, "lanczos", "columns"),
        (Shape(713, 5_914, 4), 5, "lanczos", "rows"),
        (Shape(4_885, 1_345, 4), 7, "lanczos", "columns"),
        (Shape(400, 4_096, 4), 2, "lanczos", "rows"),
        (Shape(1_754, 389, 4), 1, "lanczos", "columns"),
        (Shape(697, 5_868), 31, "moments", "rows"),
        (Shape(2_211, 674, 4), 67, "moments", "columns"),
    ],
)
def test_the_route_by_shape(shape, k, solver, side):
    plan = choose(shape, k)
    assert (plan.solver, plan.side) == (solver, side)
    assert plan.reasons
    assert plan.seconds > 0
    assert plan.bytes > 0
    assert plan.passes >= 1


def test_many_components_of_a_small_dense_table_take_single_vectors():
    course = choose(Shape(1_000, 1_000), 50).course
    assert course is not None
    assert course.width == 1  # 38 ms of one core, blocks 68, the Gram matrix 57


def test_measuring_the_rounding_of_a_gram_matrix_in_float32_is_priced():
    """One block is formed in float64 beside; a proof by a factor measures with a few columns instead."""
    shape = Shape(2_400, 1_800, 4)
    assert costs.form(shape, True) > 1.5 * 2_400 * 1_800**2 / c.SYRK32
    assert costs.factor(shape) < costs.form(shape, True)


def test_a_road_is_left_for_the_direct_route_that_will_be_taken():
    """Of float32 rows its Gram matrix is formed in float32 then, too, on either side."""
    for n, d in ((5_762, 1_445), (1_445, 5_762)):
        narrow, wide = choose(Shape(n, d, 4), 10).course, choose(Shape(n, d, 8), 10).course
        assert narrow is not None
        assert wide is not None
        assert (narrow.formed, wide.formed) == ("float32", "float64")
        assert narrow.others[0][1] < 0.8 * wide.others[0][1]


@pytest.mark.parametrize(
    ("n", "d", "k", "size"),
    [(275, 5_455, 1, 4), (572, 11_383, 1, 4), (255, 3_672, 2, 8), (809, 25_765, 9, 8), (5_195, 1_248, 21, 4)],
)
def test_single_vectors_are_tried_where_a_try_loses_little(n, d, k, size):
    """They take half of the time of the Gram matrix where eigenvalues decay, which takes over where they do not."""
    plan = choose(Shape(n, d, size), k)
    assert (plan.solver, plan.precision) == ("lanczos", "float32 then float64")
    assert plan.course is not None
    assert plan.course.width == 1
    assert [road for road, _ in plan.course.others] == ["moments"]


@pytest.mark.parametrize(
    ("n", "d", "k", "size"), [(120, 900, 1, 4), (140, 3_000, 12, 4), (3_582, 242, 19, 4), (687, 388, 34, 4)]
)
def test_single_vectors_are_not_tried_where_noise_would_lose_much(n, d, k, size):
    assert choose(Shape(n, d, size), k).solver == "moments"


def test_tight_tolerances_on_sparse_data_take_lanczos():
    assert choose(Shape(200_000, 50_000, 8, 5_000_000), 20, tol=1e-10).solver == "lanczos"


def test_a_plan_reads_well_and_costs_no_fit():
    plan = ritz.plan(np.empty((100_000, 500)), ritz.PCA(10))
    text = str(plan)
    assert text.splitlines()[0] == "plan: refined on the columns, float32 then float64"
    assert "predicted: 2 passes" in text
    assert "because" in text
    fitted = ritz.PCA(2).fit(np.random.default_rng(0).standard_normal((50, 4))).plan_
    assert "real: " in str(fitted)
    assert ritz.plan(sp.random(3000, 3000, 0.01, format="csr"), ritz.SVD(5)).solver == "lanczos"
    with pytest.raises(ParameterError, match="plan takes an estimator of ritz; received str"):
        ritz.plan(np.ones((3, 3)), "pca")


def test_passes_of_an_iteration_are_not_promised_for_noise(seed):
    more = "(several times as many, and as long, where eigenvalues do not decay)"
    for solver in ("krylov", "lanczos", "chebyshev", "power"):
        assert pass_words(9, solver, over=" over the data") == f"about 9 passes over the data {more}"
        assert time_words(9, solver) == "about 9 times, or more where eigenvalues do not decay"
    assert pass_words(40, "lanczos", ("some hundred that prove that none was missed",)) == "about 40 passes"
    assert pass_words(3, "moments", ("about 10 sweeps follow",)) == "about 3 passes"
    assert (pass_words(3, "svd"), pass_words(1, "moments")) == ("3 passes", "1 pass")
    assert (time_words(1, "moments"), time_words(2, "svd")) == ("once", "about 2 times")
    noise = sp.random(3000, 2000, 0.01, format="csr", random_state=seed)
    noise.data -= 0.5
    planned = ritz.plan(noise, ritz.SVD(5))
    assert f"passes {more}, " in str(planned)
    assert ritz.SVD(5).fit(noise).plan_.actual_passes > planned.passes  # which is why


def test_memory_limits_choose_or_refuse():
    shape = Shape(100_000, 10_000)
    assert choose(shape, 4000).solver == "moments"
    with pytest.raises(
        MemoryLimitError, match=r"must stay within memory=10 MB; received at least .*\nhint: allow memory="
    ):
        choose(shape, 4000, memory=10e6)
    with pytest.raises(ParameterError, match="memory must be None"):
        ritz.PCA(memory="lots").fit(np.eye(3))
    with pytest.raises(MemoryLimitError):
        ritz.PCA(memory="1kB").fit(np.random.default_rng(0).standard_normal((100, 50)))


def test_wrong_solvers_are_refused():
    with pytest.raises(ParameterError, match=r"solver must be 'auto' or one of svd, moments.*received 'arpack'"):
        choose(Shape(10, 5), 2, solver="arpack")
    with pytest.raises(ParameterError, match="needs the whole spectrum, which only 'svd' and 'moments'"):
        choose(Shape(10, 5), 2, solver="krylov", needs_all=True)
    with pytest.raises(ParameterError, match=r"at most 20,000 on the smaller side.*\nhint: use a fraction"):
        choose(Shape(10**6, 10**5), 2, needs_all=True)


def test_a_sketch_reads_rows_for_their_means_and_for_its_product():
    shape = Shape(2000, 300, 8, None)
    assert route(shape, 3, solver="sketch", tol=1e-6, memory=None).passes == 2
    table = np.random.default_rng(0).standard_normal((300, 20))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.AccuracyWarning)
        model = ritz.PCA(2, solver="sketch").fit(table)
    assert model.plan_.passes == model.plan_.actual_passes == 2
    assert "one pass" not in str(model.certificate_)
    with pytest.warns(ritz.AccuracyWarning, match=r"sketch proves that residuals are at most \S+λ₁, not tol=1e-06;"):
        ritz.PCA(2, solver="sketch").fit(table)
    assert model.verify(table).ok


@pytest.mark.parametrize(
    "model",
    [
        ritz.PCA(2, solver="sketch", scale=True),
        ritz.PCA(2, solver="sketch", center=False),
        ritz.PCA(2, solver="sketch", center=False, scale=True),
        ritz.SVD(2, solver="sketch"),
        ritz.CA(2, solver="sketch"),
    ],
)
def test_the_pass_of_a_sketch_for_its_sums_is_predicted(model):
    table = np.random.default_rng(0).poisson(3.0, (300, 20)).astype(float)
    planned = ritz.plan(table, model).passes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ritz.AccuracyWarning)
        plan = model.fit(table).plan_
    assert planned == plan.passes == plan.actual_passes


def test_what_every_fit_takes_is_predicted_for_small_tables_too():
    small = route(Shape(150, 4, 8, None), 2, solver="auto", tol=1e-6, memory=None)
    assert small.seconds >= c.FIT
    tall = route(Shape(10_000, 100, 8, None), 2, solver="auto", tol=1e-6, memory=None)
    assert tall.seconds >= c.FIT + 1e6 * c.LOOKED


@pytest.mark.parametrize("stored", [None, 60_000, 2_000_000])
@pytest.mark.parametrize(("n", "d"), [(3_000, 20_000), (2_000, 2_000), (50_000, 300), (400, 5_000)])
@pytest.mark.parametrize("k", [1, 5, 50, 300])
def test_a_plan_that_fits_is_the_plan_with_that_limit(stored, n, d, k):
    shape = Shape(n, d, 8, stored)
    free = route(shape, k, solver="auto", tol=1e-6, memory=None)
    held = max(free.bytes, 0.0 if free.course is None else free.course.held)
    for memory in (held, 1.5 * held, 1e12):
        assert free.fits(memory)
        assert route(shape, k, solver="auto", tol=1e-6, memory=memory) == free
    assert not free.fits(0.999 * held)


@pytest.mark.parametrize("needs_all", [False, True])
@pytest.mark.parametrize("size", [(60, 8), (9_000, 3_000)])
def test_the_route_of_a_rule_is_kept_by_what_the_planner_knows_of_it(size, needs_all):
    rule = SimpleNamespace(needs_all=needs_all)
    options = {"solver": "auto", "tol": 1e-6, "memory": None}
    assert route(Shape(*size, 8), as_planned(rule), **options) == route(Shape(*size, 8), rule, **options)
    assert as_planned(rule) is as_planned(SimpleNamespace(needs_all=needs_all))
    assert as_planned(3) == 3


@pytest.mark.parametrize(
    ("n", "d", "k", "solver"),
    [
        (60, 90, 60, "svd"), (60, 90, 59, "svd"), (60, 90, 40, "moments"), (60, 120, 60, "moments"),
        (90, 60, 60, "moments"), (60, 60, 60, "moments"), (400, 500, 400, "moments"),
    ],
)  # fmt: skip
def test_all_components_of_small_tables_little_wider_than_high_are_decomposed_at_once(n, d, k, solver):
    assert choose(Shape(n, d), k).solver == solver
    assert choose(Shape(n, d, outside=True), k).solver == "moments"
    assert choose(Shape(n, d, 8, n * d // 2), k).solver != "svd"


@pytest.mark.parametrize(("n", "d", "k"), [(6_000, 800, 10), (7_300, 870, 12), (3_000, 300, 1), (250, 250, 3)])
def test_dense_rows_are_iterated_on_where_that_takes_less(n, d, k):
    direct, iterated = (choose(Shape(n, d), k, solver=solver).seconds for solver in ("moments", "lanczos"))
    assert iterated < direct < 1.3 * iterated
    assert choose(Shape(n, d), k).solver == "lanczos"


def test_a_plan_without_components_claims_no_wish():
    X = np.random.default_rng(0).standard_normal((300, 120))
    told = ritz.PCA(0).fit(X).plan_.reasons
    assert told[0] == "no component is wanted: one pass learns means and variances"
    assert ritz.PCA(0, solver="moments").fit(X).plan_.reasons[0] == "solver='moments' was asked for"
