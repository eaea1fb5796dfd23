"""What a PCA keeps for merging: small moment states, those as large as the components, rows if they are asked for."""

from __future__ import annotations

import copy
import copyreg
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA as Theirs
from sklearn.decomposition import TruncatedSVD

import ritz
from ritz._core.errors import FileError, MemoryLimitError, MergeError
from ritz.data.passes.kept_rows import KeptRows
from ritz.data.passes.moments import Moments
from ritz.methods import packed, slim

RNG = np.random.default_rng(5)
WIDE = np.ldexp(RNG.integers(-999, 1000, (24, 150)), -5)  # numbers whose sums are exact


def state_of(model):
    return model._record.state


def of_fit(k, X, **options):
    return ritz.PCA(k, mergeable=True, **options).fit(X)


@pytest.mark.parametrize(
    ("n", "d", "k", "dtype", "kept"),
    [
        (150, 4, 2, np.float64, True),
        (200, 90, 2, np.float64, True),  # 64,800 bytes
        (200, 91, 2, np.float64, False),
        (200, 120, None, np.float64, True),  # the components are as large
        (200, 120, None, np.float32, False),  # and their proof twice as large
        (200, 120, 119, np.float64, False),
        (200, 120, 0.9, np.float64, False),
        (40, 60, 3, np.float64, True),
        (40, 200, 3, np.float64, False),
        (40, 200, None, np.float64, False),
    ],
)
def test_states_are_kept_where_they_are_small(n, d, k, dtype, kept):
    X = RNG.standard_normal((n, d)).astype(dtype)
    model = ritz.PCA(k).fit(X)
    assert (state_of(model) is not None) == kept
    said = "\n".join(model.plan_.reasons)
    assert ("is not kept" in said) == (not kept)
    assert ("is not kept" in "\n".join(ritz.plan(X, ritz.PCA(k)).reasons)) == (not kept)
    if kept:
        assert model.merge(model).n_samples_ == 2 * n
        return
    for ask in (lambda: model.merge(model), lambda: model.subtract(model), lambda: model.partial_fit(X)):
        with pytest.raises(MergeError, match=r"mergeable=True"):
            ask()


SIZES = [
    (150, 4, 2), (1_000, 20, 2), (1_000, 20, 20), (500, 50, 10), (2_000, 30, 10), (400, 60, 5), (300, 150, 150),
    (300, 150, 5), (30, 900, 4), (20, 20_000, 3), (3, 2, 1), (60, 90, 40),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "d", "k"), SIZES)
@pytest.mark.parametrize("kinds", [(ritz.PCA, Theirs), (ritz.SVD, TruncatedSVD)])
def test_a_pickle_takes_no_more_than_twice_that_of_scikit_learn(kinds, n, d, k, dtype):
    X = (RNG.standard_normal((n, d)) * np.linspace(2, 1, d) + 3).astype(dtype)
    mine, theirs = (len(pickle.dumps(kind(k).fit(X))) for kind in kinds)
    assert mine <= (2 if dtype is np.float64 else 2.1) * theirs  # the proof of float32 components is in float64


def test_small_states_stand_in_pickles_where_there_is_room_for_them():
    X = RNG.standard_normal((150, 4))
    model = ritz.PCA(2).fit(X)
    assert pickle.loads(pickle.dumps(model)).merge(model).n_samples_ == 300
    X = RNG.standard_normal((500, 40))
    model, asked = ritz.PCA(2).fit(X), of_fit(2, X)
    lighter = pickle.loads(pickle.dumps(model))
    for same in (model, copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(asked))):
        assert np.array_equal(same.merge(same).components_, model.merge(model).components_)
    assert state_of(copy.deepcopy(model)) is not state_of(model)
    with pytest.raises(
        MergeError, match=r"pickle left out: ritz.save keeps it\nhint: fit with PCA\(mergeable=True\), or"
    ):
        lighter.merge(model)
    with pytest.raises(MergeError, match=r"left out"):  # however often it is pickled
        pickle.loads(pickle.dumps(lighter)).merge(model)
    with pytest.raises(MergeError, match=r"mergeable=None\nhint: fit with PCA\(mergeable=True\)$"):
        ritz.PCA(2).fit(RNG.standard_normal((500, 120))).merge(model)
    added = ritz.PCA(2).partial_fit(X[:250])
    assert pickle.loads(pickle.dumps(added)).partial_fit(X[250:]).n_samples_ == 500  # rows are still being added
    both = model.merge(model)
    assert pickle.loads(pickle.dumps(both)).subtract(model).n_samples_ == 500
    assert ritz.PCA(2).fit(X).merge(lighter.fit(X)).n_samples_ == 1_000  # a fit keeps it again


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(("long", "short"), [(1 << 21, 1 << 12), (1_000, 100), (0, 0)])
def test_every_way_to_pickle_gives_back_every_bit(protocol, long, short, monkeypatch):
    monkeypatch.setattr(packed, "LONG", long)
    monkeypatch.setattr(packed, "SHORT", short)
    for X in (RNG.standard_normal((300, 25)), RNG.standard_normal((30, 400), np.float32)):
        frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])
        model = ritz.PCA(4).fit(frame)
        back = pickle.loads(pickle.dumps(model, protocol=protocol))
        for name, value in vars(model).items():
            if isinstance(value, np.ndarray):
                two = vars(back)[name]
                assert (value.dtype, value.shape, value.tolist()) == (two.dtype, two.shape, two.tolist()), name
                assert two.flags.writeable, name
        assert back.certificate_ == model.certificate_
        assert str(back.plan_) == str(model.plan_)
        assert np.array_equal(back.transform(frame), model.transform(frame))
        assert back.verify(frame)


def test_long_arrays_are_left_to_whoever_pickles():
    model, buffers = ritz.PCA(20).fit(RNG.standard_normal((60, 20_000))), []
    told = pickle.dumps(model, protocol=5, buffer_callback=buffers.append)
    assert len(told) < 500_000 < sum(buffer.raw().nbytes for buffer in buffers)
    assert np.array_equal(pickle.loads(told, buffers=buffers).components_, model.components_)


def test_pickles_that_were_cut_or_damaged_are_refused_in_words():
    model = ritz.PCA(2).fit(WIDE[:, :5])
    kind, told, numbers, long = model.__reduce_ex__(4)[1]
    broken = bytes(reversed(told))
    for bad in ((broken, numbers), (told[:-9], numbers), (told, numbers[:5]), (told, numbers[:-1])):
        with pytest.raises(FileError, match=r"pickle is read by the release of Ritz that wrote it[\s\S]*ritz\.save"):
            slim.unpacked(kind, *bad, long)


def test_what_only_the_process_knows_is_left_to_whoever_pickles():
    local = type("Local", (), {"__module__": "__main__"})
    model = ritz.PCA(2).fit(WIDE[:, :5])
    assert model.__reduce_ex__(4)[0] is slim.unpacked
    model.added_by_hand = local
    assert model.__reduce_ex__(4)[0] is copyreg.__newobj__
    model.added_by_hand = lambda: None
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(model)


class Owner:
    """What holds a model and is told of its progress."""

    def __init__(self):
        self.told = []
        self.model = ritz.PCA(2, progress=self.tell).fit(WIDE[:, :5])

    def tell(self, *news):
        self.told.append(news)


@pytest.mark.parametrize("protocol", [0, 2, 5])
def test_what_a_model_shares_with_others_stays_shared(protocol):
    """A model packed by itself would hold copies; one that is held by what it holds would be packed without end."""
    owner = Owner()
    for held in (owner, owner.model):
        back = pickle.loads(pickle.dumps(held, protocol))
        model = back.model if held is owner else back
        assert model.progress.__self__.model is model
        assert held is not owner or model.progress.__self__ is back
    model, other = (ritz.PCA(2).fit(WIDE[:, :5]) for _ in range(2))
    model.itself, model.beside, other.beside = model, [other], [model]
    back = pickle.loads(pickle.dumps(model, protocol))
    assert back.itself is back.beside[0].beside[0] is back
    assert back.verify(WIDE[:, :5])
    assert copy.deepcopy(model).itself is not model
    stream = np.random.RandomState(0)
    first, second = pickle.loads(pickle.dumps([ritz.PCA(2, random_state=stream) for _ in range(2)], protocol))
    assert first.random_state is second.random_state


class Told(ritz.PCA):
    """Classes of somebody else: a state that is no dictionary,"""

    def __getstate__(self):
        return "told", super().__getstate__()

    def __setstate__(self, state):
        super().__setstate__(state[1])
        self.told = state[0]


class Bare(ritz.PCA):
    """no state at all,"""

    def __getstate__(self):
        return None


class Made(ritz.PCA):
    """and what is made of something."""

    def __new__(cls, *given, **_):
        made = super().__new__(cls)
        made.given = given
        return made

    def __getnewargs__(self):
        return (7,)

    def __getstate__(self):
        return {name: value for name, value in super().__getstate__().items() if name != "given"}


@pytest.mark.parametrize("way", [lambda m: pickle.loads(pickle.dumps(m)), copy.copy, copy.deepcopy])
def test_a_subclass_may_have_a_state_of_its_own(way):
    back = way(Told(2).fit(WIDE[:, :5]))
    assert back.told == "told"
    assert back.verify(WIDE[:, :5])
    assert vars(way(Bare(2).fit(WIDE[:, :5]))) == {}
    back = way(Made(2).fit(WIDE[:, :5]))
    assert back.given == (7,)
    assert back.verify(WIDE[:, :5])


class Own(ritz.PCA):
    """A class of somebody else with a pickle of its own."""

    def __reduce__(self):
        return Own, (7,)


def test_a_subclass_may_say_how_it_is_pickled():
    model = Own(2).fit(WIDE[:, :5])
    for way in (lambda m: pickle.loads(pickle.dumps(m)), copy.copy, copy.deepcopy):
        assert way(model).n_components == 7


@pytest.mark.parametrize("model", [ritz.PCA(3), ritz.PCA(3, scale=True), ritz.SVD(3), ritz.SparsePCA(2), ritz.CA(2)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_a_pickle_leaves_out_comes_back(model, dtype):
    X = RNG.integers(1, 50, (40, 7)).astype(dtype)
    fitted = model.fit(X)
    back = pickle.loads(pickle.dumps(fitted))
    assert list(vars(back)) == list(vars(fitted))
    for name in ("components_", "mean_"):
        if name in vars(fitted) and vars(fitted)[name] is not None:
            one, two = vars(fitted)[name], vars(back)[name]
            assert one.dtype == two.dtype
            assert one.tobytes() == two.tobytes()
    assert back.verify(X)
    assert np.array_equal(np.asarray(back.transform(X)), np.asarray(fitted.transform(X)))


def test_components_that_were_changed_are_pickled_as_they_are():
    model = ritz.PCA(2).fit(WIDE[:, :5])
    model.components_ = model.components_[::-1].copy()
    back = pickle.loads(pickle.dumps(model))
    assert np.array_equal(back.components_, model.components_)
    assert not back.verify(WIDE[:, :5])


def test_components_that_are_laid_otherwise_come_back_as_they_lie():
    model = ritz.PCA(2).fit(WIDE[:, :5])
    model.components_ = np.asfortranarray(model.components_)
    back = pickle.loads(pickle.dumps(model))
    assert back.components_.flags.f_contiguous
    assert np.array_equal(back.components_, model.components_)


def test_fewer_rows_than_columns_are_their_own_state():
    model = of_fit(3, WIDE)
    assert isinstance(state_of(model), KeptRows)
    assert np.array_equal(state_of(model).table, WIDE)
    assert state_of(model).table is not WIDE
    assert any("24 rows are kept" in reason for reason in model.plan_.reasons)
    assert isinstance(state_of(of_fit(3, WIDE.T)), Moments)
    # no d×d state is formed: more columns than one may have
    assert isinstance(state_of(of_fit(1, RNG.standard_normal((3, 30_000)))), KeptRows)


@pytest.mark.parametrize("scale", [False, True])
def test_merged_rows_are_fitted_as_one_table(scale):
    a, b = of_fit(3, WIDE[:10], scale=scale), of_fit(3, WIDE[10:], scale=scale)
    both, whole = a.merge(b), of_fit(3, WIDE, scale=scale)
    assert isinstance(state_of(both), KeptRows)
    assert both.n_samples_ == 24
    for name in ("components_", "explained_variance_", "mean_", "noise_variance_"):
        assert np.array_equal(getattr(both, name), getattr(whole, name)), name
    assert both.verify(WIDE)
    assert a.n_samples_ == 10


def test_subtracted_rows_leave_the_others_exactly():
    whole, part = of_fit(3, WIDE), of_fit(3, WIDE[5:9])
    rest = whole.subtract(part)
    left = np.delete(WIDE, slice(5, 9), axis=0)
    assert np.array_equal(state_of(rest).table, left)
    assert np.array_equal(rest.explained_variance_, of_fit(3, left).explained_variance_)
    assert rest.certificate_.notes == ()
    twice = whole.subtract(part).merge(part)
    assert np.allclose(twice.explained_variance_, whole.explained_variance_, rtol=1e-13)
    # rows that are not among them: sums are subtracted, as those of other models are
    other = whole.subtract(of_fit(3, WIDE[:4] + 2.0**-30))
    assert isinstance(state_of(other), Moments)
    assert any(note.startswith("subtracted") for note in other.certificate_.notes)


def test_copies_of_a_row_are_taken_away_one_by_one():
    X = np.concatenate([WIDE[:6], WIDE[:6]])
    rest = of_fit(2, X).subtract(of_fit(2, WIDE[:6]))
    assert rest.n_samples_ == 6
    with_weights = ritz.PCA(2, mergeable=True).fit(WIDE[:3], sample_weight=np.full(3, 2.0))
    assert isinstance(state_of(of_fit(2, X).subtract(with_weights)), Moments)  # two copies are not one row of weight 2


def test_more_rows_than_columns_become_moments():
    X = np.ldexp(RNG.integers(-99, 100, (30, 20)), -3)
    parts = [of_fit(2, X[i : i + 10]) for i in (0, 10, 20)]
    two = parts[0].merge(parts[1])
    assert isinstance(state_of(two), KeptRows)
    three = two.merge(parts[2])
    assert isinstance(state_of(three), Moments)
    assert np.allclose(three.explained_variance_, ritz.PCA(2).fit(X).explained_variance_, rtol=1e-12)
    added = parts[0].partial_fit(X[10:])
    assert isinstance(added._need_state(), Moments)
    assert np.allclose(added.explained_variance_, three.explained_variance_, rtol=1e-12)
    exact = sum(Fraction(x) for x in X[:, 0]) / 30
    assert abs(Fraction(float(three.mean_[0])) - exact) <= Fraction(2.0**-50)


def test_weights_and_types_of_rows():
    w = RNG.integers(1, 4, 24).astype(float)
    a = ritz.PCA(2, mergeable=True).fit(WIDE[:12], sample_weight=w[:12])
    b = ritz.PCA(2, mergeable=True).fit(WIDE[12:])
    both = a.merge(b)
    weights = np.concatenate([w[:12], np.ones(12)])
    whole = ritz.PCA(2).fit(np.repeat(WIDE, weights.astype(int), axis=0))
    assert np.allclose(both.explained_variance_, whole.explained_variance_, rtol=1e-12)
    narrow = of_fit(2, WIDE[:12].astype(np.float32)).merge(b)
    assert isinstance(state_of(narrow), KeptRows)
    assert narrow.components_.dtype == np.float64
    integers = of_fit(2, (WIDE[:12] * 32).astype(np.int64))
    assert isinstance(state_of(integers.merge(of_fit(2, WIDE[12:] * 32))), Moments)  # no type holds both


def test_rows_of_extreme_size_are_turned_into_moments():
    X = np.ldexp(WIDE, 400)
    model, plain = of_fit(2, X), of_fit(2, WIDE)
    assert np.isfinite(model._need_state().scatter).all()
    added, same = model.partial_fit(X[:3]), plain.partial_fit(WIDE[:3])
    assert np.allclose(added.explained_variance_ratio_, same.explained_variance_ratio_, rtol=1e-12)


def test_files_hold_the_rows(tmp_path):
    model = of_fit(2, WIDE)
    ritz.save(model, tmp_path / "m.ritz")
    back = ritz.load(tmp_path / "m.ritz")
    assert np.array_equal(state_of(back).table, WIDE)
    assert back.verify(WIDE)
    rest = back.subtract(of_fit(2, WIDE[:4]))
    assert rest.n_samples_ == 20
    pending = back.merge(of_fit(2, WIDE[:4] + 1))
    ritz.save(pending, tmp_path / "p.ritz")
    assert ritz.load(tmp_path / "p.ritz").n_samples_ == 28


def test_a_second_look_at_rows_that_were_kept():
    from ritz.methods.fitted import fitted_of

    model = of_fit(2, WIDE)
    scaled = fitted_of(model).restated(scale=True)
    assert np.allclose(scaled.explained_variance_, ritz.PCA(2, scale=True).fit(WIDE).explained_variance_, rtol=1e-13)
    assert np.allclose(fitted_of(model).column_spread(), WIDE.std(axis=0, ddof=1), rtol=1e-12)


@pytest.mark.parametrize(
    "model", [ritz.PCA(), ritz.SVD(), ritz.KernelPCA(), ritz.CA(), ritz.SparsePCA(), ritz.FactorAnalysis()]
)
def test_a_model_that_is_not_fitted_says_so(model):
    for name in ("certificate_", "eigenvalues_" if isinstance(model, ritz.KernelPCA) else "components_"):
        with pytest.raises(AttributeError, match=r"is not fitted yet, so it has no \w+_\nhint: call fit"):
            getattr(model, name)
        assert not hasattr(model, name)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = model.nonsense


@pytest.mark.parametrize("model", [ritz.PCA(2), ritz.CA(2)])
def test_only_models_are_merged(model):
    X = RNG.integers(1, 9, (12, 4)).astype(float)
    with pytest.raises(MergeError, match="can be combined with a"):
        model.fit(X).merge(X)


@pytest.mark.parametrize("model", [ritz.SparsePCA(2), ritz.FactorAnalysis(1)])
@pytest.mark.filterwarnings("error")
def test_states_of_huge_weights_and_their_passes(model):
    rng = np.random.default_rng(8)
    X = rng.standard_normal((80, 1)) @ np.ones((1, 5)) + rng.standard_normal((80, 5))
    plain = model.fit(X)
    assert plain.plan_.actual_passes == plain.certificate_.passes == 1
    shares = plain.explained_variance_ratio_.copy()
    heavy = model.fit(X, sample_weight=np.full(80, 1e200))
    assert np.allclose(heavy.explained_variance_ratio_, shares, rtol=1e-6)


@pytest.mark.parametrize("model", [ritz.PCA(2, mergeable=True), ritz.SVD(2, mergeable=True)])
def test_a_state_that_the_limit_does_not_hold_is_refused_before_anything_is_read(model):
    X = sp.random_array((9_000, 4_000), density=0.002, format="csr", rng=np.random.default_rng(0))
    model.set_params(memory="100MB")
    with pytest.raises(MemoryLimitError, match=r"4,000×4,000 state[\s\S]*128 MB\nhint: mergeable=None keeps no state"):
        model.fit(X)
    assert ritz.PCA(2, memory="100MB").fit(X).n_components_ == 2
