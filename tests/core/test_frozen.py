"""Frozen records that are made quickly are frozen records in every other way."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace

import array_api_strict as strict
import numpy as np
import pytest

import ritz
from ritz import insight
from ritz._core.frozen import Deriving, changed, later, quick
from ritz.data.passes.moments import Moments
from ritz.spectral.certificate.certificate import Certificate
from ritz.spectral.problem import Pairs, SpectralProblem
from ritz.spectral.solution import Solution


@quick
@dataclass(frozen=True)
class Record:
    a: int
    b: float = 2.0
    held: list[int] = field(default_factory=list)


@quick
@dataclass(frozen=True)
class Checked:
    a: int

    def __post_init__(self) -> None:
        if self.a < 0:
            raise ValueError("negative")


def test_it_takes_and_refuses_what_a_data_class_does():
    one = Record(1, held=[3])
    assert (one.a, one.b, one.held) == (1, 2.0, [3])
    assert one == Record(a=1, b=2.0, held=[3]) != Record(1)
    assert Record(1).held is not Record(1).held
    assert replace(one, a=5) == changed(one, a=5) == Record(5, 2.0, [3])
    assert pickle.loads(pickle.dumps(one)) == one
    with pytest.raises(FrozenInstanceError):
        one.a = 2
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'a'"):
        Record()
    with pytest.raises(TypeError, match="unexpected keyword argument 'c'"):
        Record(1, c=3)


def test_what_follows_the_making_is_called():
    assert Checked(1).a == 1
    with pytest.raises(ValueError, match="negative"):
        Checked(-1)


@pytest.mark.parametrize("kind", [Certificate, Moments, Pairs, Solution, SpectralProblem])
def test_the_parameters_of_records_of_a_fit_are_their_fields(kind):
    assert list(inspect.signature(kind).parameters) == [one.name for one in fields(kind)]


@quick
@dataclass(frozen=True)
class Derived(Deriving):
    a: int
    b: int
    c: int


def of_two(asked: list[str]) -> Derived:
    """A record whose b and c are twice and thrice its a, once they are asked for."""
    return later(Derived, {"a": 2}, ("b", "c"), lambda: asked.append("asked") or {"b": 4, "c": 6})


def test_fields_are_derived_when_one_of_them_is_first_read():
    asked: list[str] = []
    one = of_two(asked)
    assert one.a == 2
    assert not hasattr(one, "d")
    assert not asked
    assert (one.b, one.c, one.b) == (4, 6, 4)
    assert asked == ["asked"]
    assert set(vars(one)) == {"a", "b", "c"}  # what they were derived from is let go
    with pytest.raises(AttributeError, match="'Derived' object has no attribute 'd'"):
        one.d  # noqa: B018


@pytest.mark.parametrize(
    "copied", [lambda one: pickle.loads(pickle.dumps(one)), copy.copy, copy.deepcopy, replace, changed]
)
def test_a_copy_has_the_fields_that_were_not_read_yet(copied):
    other = copied(of_two([]))
    assert (other.a, other.b, other.c) == (2, 4, 6)
    assert other == Derived(2, 4, 6)


def test_a_field_that_was_changed_before_is_not_derived():
    other = changed(of_two([]), b=7)
    assert (other.b, other.c) == (7, 6)


@dataclass(frozen=True)
class Waiting(Deriving):
    a: int
    b: int


def test_a_field_that_was_changed_before_the_others_are_derived_stays_so():
    record = later(Waiting, {}, ("a", "b"), lambda: {"a": 1, "b": 2})
    other = changed(record, a=5)
    assert (other.b, other.a) == (2, 5)
    assert (record.a, record.b) == (1, 2)


def test_certificates_are_compared_by_what_they_prove(seed):
    X = np.random.default_rng(seed).standard_normal((40, 6))
    one, same, other = (ritz.PCA(2).fit(rows).certificate_ for rows in (X, X.copy(), 2 * X))
    assert (one == same) is True
    assert (one != same) is False
    assert (one == other) is False
    assert (one == changed(one, seconds=one.seconds + 1)) is True
    assert (one == changed(one, completeness="other words")) is False
    assert (one == changed(one, values=one.values[:1])) is False
    assert (one == 3) is False
    unknown = changed(one, angles=np.full(2, np.nan))
    assert (unknown == changed(one, angles=np.full(2, np.nan))) is True


def test_results_with_arrays_are_compared_by_value(seed):
    X = np.random.default_rng(seed).standard_normal((40, 6))
    model = ritz.PCA(2).fit(X)
    for found in (model.verify, lambda X: insight.outliers(model, X), lambda X: insight.limits(model)):
        assert (found(X) == found(X.copy())) is True
    assert (insight.outliers(model, X) == insight.outliers(model, X[::-1])) is False
    bic, other = ritz.choose_rank(X, criteria=["bic"])["bic"], ritz.choose_rank(2 * X, criteria=["bic"])["bic"]
    assert (bic == replace(bic, curve=replace(bic.curve))) is True  # a record within a result
    assert (bic == replace(bic, curve=replace(bic.curve, value=other.curve.value + 1))) is False


def test_results_that_hold_others_with_arrays_are_compared_by_value_too(seed):
    X = np.random.default_rng(seed).standard_normal((40, 6)) * [5, 4, 3, 1, 1, 1]
    model, near, far = (ritz.PCA(2).fit(rows) for rows in (X, X + 0.01 * np.square(X), X[:, ::-1]))
    for found in (lambda: insight.compare(model, near), lambda: ritz.choose_rank(X)["elbow"]):
        assert (found() == found()) is True
    assert (insight.compare(model, near) == insight.compare(model, far)) is False
    assert (ritz.choose_rank(X)["elbow"] == ritz.choose_rank(X[:30])["elbow"]) is False


def test_every_result_is_compared_by_value(seed):
    X = np.random.default_rng(seed).standard_normal((40, 6)) * [5, 4, 3, 1, 1, 1]
    texts = ["red wine", "white wine", "thin wings", "wings in flutter"]
    model, kernel, lsi = ritz.PCA(2).fit(X), ritz.KernelPCA(2, kernel="rbf").fit(X), ritz.LSI(2).fit(texts)
    ways = {
        "ranks": lambda X: ritz.choose_rank(X, criteria=["bic", "elbow"]),
        "curve": lambda X: ritz.choose_rank(X, criteria=["bic"])["bic"].curve,
        "clusters": lambda X: insight.clusters(model, X, k=2),
        "pre-images": lambda X: kernel.preimages(kernel.transform(X)),
        "hits": lambda X: lsi.search("wine", top=1 + int(X[0, 0] > 0)),
    }
    order = np.argsort(-X[:, 0])
    for name, found in ways.items():
        assert (found(X[order]) == found(X[order].copy())) is True, name
        assert (found(X[order]) == found(X[order[::-1]][:30])) is False, name
    with pytest.raises(TypeError, match="unhashable"):
        hash(ways["ranks"](X))  # it may change, and equal ones have one hash


def test_arrays_of_other_libraries_are_compared_by_value(seed):
    made = [insight.procrustes(*np.random.default_rng(seed).standard_normal((2, 9, 2))) for _ in range(3)]
    there = [strict.asarray(fit.rotation) for fit in made]
    there[2] = -there[2]
    one, same, other = (replace(fit, rotation=rotation) for fit, rotation in zip(made, there, strict=True))
    assert (one == same) is True
    assert (one == other) is False
    assert (one == made[0]) is False


def test_what_a_certificate_derives_it_derives_once_however_often_it_is_pickled(seed):
    model = ritz.PCA(2).fit(np.random.default_rng(seed).standard_normal((40, 6)))
    first = pickle.dumps(model)
    assert "_later" not in vars(model.certificate_)
    assert pickle.loads(first).certificate_ == model.certificate_
