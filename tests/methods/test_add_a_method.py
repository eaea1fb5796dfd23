"""A method of one file has everything that other methods have, without an edit anywhere else."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.linalg
from typer.testing import CliRunner

import ritz
from ritz import insight, methods
from ritz._core.errors import RitzWarning
from ritz.methods import METHODS, method_called, method_named, register, shorts
from ritz.methods.fitted import fitted_of
from ritz.methods.fitted.linear import LinearModel
from ritz.methods.posed import Posed
from ritz.operators import Dense, Symmetric
from ritz.rank.rule import NAMES

sys.path.insert(0, str(Path(__file__).parent))
from toy_laplacian import GraphMap

N = 60
TOY = Path(__file__).parent / "toy_laplacian.py"


methods._joined.pop("GraphMap", None)  # of this process, whose other tests list the methods of Ritz alone


@pytest.fixture(autouse=True)
def joined(monkeypatch):
    """The class of this file in the list of methods, for the time of a test."""
    monkeypatch.setattr(methods, "_joined", {})
    register(GraphMap)


@pytest.fixture(scope="module")
def graph():
    """Two clouds of points in the plane, joined by weights that fall off with the distance."""
    rng = np.random.default_rng(0)
    points = np.vstack([rng.standard_normal((N // 2, 2)), rng.standard_normal((N // 2, 2)) + 4])
    W = np.exp(-0.5 * np.square(points[:, None] - points).sum(axis=2))
    np.fill_diagonal(W, 0.0)
    return np.round((W + W.T) / 2, 6)


@pytest.fixture(scope="module")
def model(graph):
    return GraphMap(3).fit(graph)


def test_the_method_is_one_short_file():
    assert len(TOY.read_text(encoding="utf-8").splitlines()) <= 80
    assert "GraphMap" not in METHODS  # it is listed nowhere
    assert method_called("graphmap") is method_named("GraphMap") is GraphMap
    assert "graphmap" in shorts()


@pytest.mark.parametrize("solver", ["auto", "svd", "krylov", "lanczos", "chebyshev", "power"])
def test_its_numbers_are_those_of_the_graph_and_are_proved(graph, solver):
    degrees = graph.sum(axis=1)
    L = np.eye(N) - graph / np.sqrt(np.outer(degrees, degrees))
    true = scipy.linalg.eigvalsh(L)
    model = GraphMap(3, solver=solver, tol=1e-8).fit(graph)
    np.testing.assert_allclose(model.eigenvalues_, true[1:4], atol=1e-9)
    c, exact = model.certificate_, 1 - true[1:4] / 2
    assert np.all(c.lower - 1e-14 <= exact)
    assert np.all(exact <= c.upper + 1e-14)
    assert model.verify(graph)
    sides = np.sign(model.embedding_[:, 0])
    assert abs(sides[: N // 2].sum()) == abs(sides[N // 2 :].sum()) == N // 2  # the first axis tells the clouds apart


def test_plan_and_conventions(graph, model):
    assert ritz.plan(graph, GraphMap(3)).solver == model.plan_.solver
    np.testing.assert_array_equal(GraphMap(3).fit_transform(graph), model.embedding_)
    assert fitted_of(model).axis_names() == ["GM1", "GM2", "GM3"]
    with pytest.raises(ritz.InputError, match="a graph is a symmetric matrix"):
        GraphMap().fit(graph[:, :-1])
    with pytest.raises(ritz.ParameterError, match="GraphMap has no coordinates of new rows"):
        model.transform(graph)
    with pytest.raises(ritz.ParameterError, match="makes no sense for GraphMap"):
        GraphMap("parallel").fit(graph)
    assert "GM1" in model._repr_html_()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m.embedding_.__setitem__((0, 0), 0.1), "embedding_ is not what a second fit gives"),
        (lambda m: m.certificate_.values.__setitem__(1, 0.5), "residual|enclosure|decreasing"),
        (lambda m: m.certificate_.frame["vectors"].__setitem__((0, 0), 0.5), "residual|orthonormal|VᵀV"),
        (lambda m: m.certificate_.upper.__setitem__(0, 0.9999), "does not follow"),
    ],
)
def test_verify_finds_a_number_that_was_changed(graph, change, words):
    model = GraphMap(3, solver="lanczos").fit(graph)
    change(model)
    checked = model.verify(graph)
    assert not checked
    assert any(__import__("re").search(words, line) for line in checked.words), checked.words


def test_verify_finds_another_graph(graph, model):
    other = graph.copy()
    other[0, 1] = other[1, 0] = other[0, 1] + 0.5
    assert not model.verify(other)


def test_large_graphs_are_searched_for_what_was_missed(graph, monkeypatch):
    monkeypatch.setattr("ritz.spectral.verify.operator.DENSE", 10)
    assert GraphMap(3, solver="lanczos").fit(graph).verify(graph)
    model = GraphMap(2).fit(graph)
    c = model.certificate_
    keep = {name: getattr(c, name)[[0]] for name in ("values", "lower", "upper", "residuals", "angles", "labelled")}
    # the second pair left out, and the ceiling said to be that of the third
    from dataclasses import replace

    frame = {**c.frame, "vectors": c.frame["vectors"][:, [0]], "grounds": None}
    lying = replace(c, **keep, frame=frame, clusters=())
    from ritz.spectral.verify.operator import verify_operator

    checked = verify_operator(lying, model._posed(graph, None).operator)
    assert any("was missed" in line for line in checked.words), checked.words


def test_save_and_load(graph, model, tmp_path):
    ritz.save(model, tmp_path / "graph.ritz")
    same = ritz.load(tmp_path / "graph.ritz")
    assert type(same) is GraphMap
    np.testing.assert_array_equal(same.embedding_, model.embedding_)
    assert same.verify(graph)


def test_insight_answers_or_refuses_in_one_wording(graph, model):
    ranks = ritz.choose_rank(model, graph)
    assert ranks.consensus == ranks["elbow"].k >= 1
    assert "GM1" in str(insight.describe(model, graph[:, :2]))
    assert insight.compare(model, model, graph) is not None
    for ask in (
        lambda: insight.bootstrap(model, graph, 10),
        lambda: insight.loadings(model),
        lambda: insight.t2(model, graph),
        lambda: insight.rotate(model),
        lambda: ritz.export(model, "model.sql"),
    ):
        with pytest.raises(ritz.ParameterError, match="GraphMap has no"):
            ask()


def test_pictures_and_report(graph, model, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    assert len(ritz.plot.scree(model).patches) == 3
    drawn = ritz.plot.scores(model, graph).collections[0].get_offsets()
    np.testing.assert_allclose(np.asarray(drawn), model.embedding_[:, :2])
    page = ritz.report(model, graph, tmp_path / "graph.html").read_text(encoding="utf-8")
    for words in ("Laplacian eigenmaps", "The rows", "Why to trust it", "Belkin"):
        assert words in page
    assert "What is lost" not in page  # the trace of a graph is nothing that components explain


def test_the_command_line_knows_it(graph, tmp_path, monkeypatch):
    from ritz.cli.main import app

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    names = ",".join(f"n{i}" for i in range(N))
    np.savetxt("graph.csv", graph, delimiter=",", header=names, comments="", fmt="%.6f")

    def run(line: str) -> str:
        result = CliRunner().invoke(app, line.split())
        assert result.exit_code == 0, (result.stdout, result.stderr, result.exception)
        return result.stdout + result.stderr

    run("fit graph.csv --method graphmap -k 3")
    assert {path.name for path in Path("graph_ritz").iterdir()} == {
        "manifest.json", "model.ritz", "report.html", "scores.csv",
    }  # fmt: skip
    scores = np.loadtxt("graph_ritz/scores.csv", delimiter=",", skiprows=1)[:, 1:]
    np.testing.assert_allclose(scores, GraphMap(3).fit(graph).embedding_, atol=1e-12)
    assert json.loads(Path("graph_ritz/manifest.json").read_text())["method"] == "graphmap"
    assert "passed" in run("verify graph_ritz/model.ritz graph.csv")
    assert "moments" in run("plan graph.csv --method graphmap -k 3")
    assert "elbow" in run("rank graph.csv --method graphmap")
    assert "GM1" in run("inspect graph_ritz/model.ritz")


def test_a_method_of_another_package_is_found_by_its_entry_point(monkeypatch):
    class Elsewhere(GraphMap):
        about = GraphMap.about.__class__("Elsewhere", "elsewhere", "E")

    asked = []
    entry = SimpleNamespace(name="elsewhere", load=lambda: asked.append(1) or Elsewhere)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [entry] if group == "ritz.methods" else [])
    monkeypatch.setattr("ritz.methods._joined", {})
    monkeypatch.setattr("ritz.methods._plugins_loaded", False)
    assert method_named("PCA") is ritz.PCA
    assert not asked  # nobody asked for another name yet
    assert method_called("elsewhere") is Elsewhere
    assert method_named("Elsewhere") is Elsewhere
    assert asked == [1]


def test_a_broken_method_of_another_package_is_named_and_the_others_are_found(monkeypatch):
    class Elsewhere(GraphMap):
        about = GraphMap.about.__class__("Elsewhere", "elsewhere", "E")

    def fail():
        raise ImportError("no name 'Nothing'")

    entries = [
        SimpleNamespace(name="broken", value="package:Broken", load=fail),
        SimpleNamespace(name="elsewhere", value="package:Elsewhere", load=lambda: Elsewhere),
    ]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: entries)
    monkeypatch.setattr("ritz.methods._joined", {})
    monkeypatch.setattr("ritz.methods._plugins_loaded", False)
    with pytest.warns(RitzWarning, match=r"broken .* could not be loaded \(package:Broken\): no name 'Nothing'"):
        assert method_called("elsewhere") is Elsewhere


def test_the_page_shows_the_very_file(root):
    page = (root / "docs" / "add-a-method.md").read_text(encoding="utf-8")
    assert f"```python\n{TOY.read_text(encoding='utf-8')}```" in page


def test_a_method_that_names_too_little_is_told_what_its_family_speaks_of(graph):
    class Half(GraphMap):
        fitted = LinearModel

    with pytest.raises(TypeError, match=r"Half\.read must name components_, explained_variance_, .*LinearModel speaks"):
        Half(2).fit(graph)


class Scaling(GraphMap):
    """Classical scaling of the rows of a table: finite numbers are made of rows that are not finite."""

    about = GraphMap.about.__class__("Classical scaling", "scaling", "MDS")

    def pose(self, rows, weights):
        X = np.asarray(rows, float)
        B = np.nan_to_num(np.exp(-np.abs(X[:, None] - X).sum(axis=2)))
        return Posed(Symmetric((B + B.T) / 2), kind="eigh", kept=np.ones(len(B)))


class Weighing(Scaling):
    """The same, with weights that count."""

    def pose(self, rows, weights):
        posed = super().pose(rows, weights)
        root = np.sqrt(np.ones(len(rows)) if weights is None else weights)
        S = posed.operator @ np.diag(root) * root[:, None]
        return Posed(Symmetric((S + S.T) / 2), kind="eigh", weights=weights, kept=root)


@pytest.fixture(scope="module")
def cloud():
    return np.random.default_rng(5).standard_normal((30, 4))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_rows_that_are_not_finite_are_refused_before_a_method_sees_them(cloud, bad):
    X = cloud.copy()
    X[7, 2] = bad
    with pytest.raises(ritz.NonFiniteError, match="row 7 column 2"):
        Scaling(2).fit(X)


def test_weights_that_a_method_passes_over_are_refused(cloud):
    weights = np.arange(1.0, 31.0)
    with pytest.raises(ritz.ParameterError, match="Scaling makes no use of weights") as caught:
        Scaling(2).fit(cloud, sample_weight=weights)
    assert "leave out sample_weight" in str(caught.value)
    weighed = Weighing(2).fit(cloud, sample_weight=weights)
    assert abs(weighed.certificate_.values[0] / Weighing(2).fit(cloud).certificate_.values[0] - 1) > 0.1
    assert weighed.verify(cloud, sample_weight=weights)


def test_other_rows_do_not_get_the_coordinates_of_those_of_the_fit(cloud, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    model = Scaling(2).fit(cloud)
    register(Scaling)
    ritz.save(model, tmp_path / "points.ritz")
    for known in (model, ritz.load(tmp_path / "points.ritz")):
        np.testing.assert_array_equal(fitted_of(known).scores(cloud), model.embedding_)
        np.testing.assert_array_equal(fitted_of(known).scores(cloud.tolist()), model.embedding_)
        for other in (cloud[::-1], cloud + 1e-9):
            for ask in (
                lambda X, m=known: fitted_of(m).scores(X),
                lambda X, m=known: ritz.plot.scores(m, X),
                lambda X, m=known: ritz.insight.describe(m, X),
                lambda X, m=known: ritz.report(m, X, tmp_path / "points.html"),
            ):
                with pytest.raises(ritz.InputError, match="rows that differ from those, or stand in another order"):
                    ask(other)
        assert "MDS1" in str(insight.describe(known, cloud[:, :2]))  # other columns of the same rows
    assert not (tmp_path / "points.html").exists()


def test_words_about_a_method_of_another_package_are_true(cloud, tmp_path):
    model = Scaling(2).fit(cloud)
    assert model.plan_.passes == model.plan_.actual_passes == 0
    assert str(model.plan_).endswith("because the 30×30 matrix is formed already, and its eigenvectors are the answer")
    page = ritz.report(model, cloud, tmp_path / "points.html").read_text(encoding="utf-8")
    assert f"from {__name__} import Scaling" in page  # the call works where the package is
    assert "ritz.Scaling" not in page
    assert "neither centred nor scaled" not in page  # nobody but the method knows
    assert "Classical scaling: a map of 30 rows of 4 columns in 2 dimensions." in page
    lines = model.verify(cloud[::-1]).words
    assert any(line.startswith("component 1 is off by a sine of") for line in lines), lines


class MedianAxes(GraphMap):
    """Axes about the median of columns that are divided by their median deviation."""

    about = GraphMap.about.__class__("Axes about the median", "median", "M")
    fitted = LinearModel
    _rules = NAMES

    def pose(self, rows, weights):
        X = np.asarray(rows, float)
        middle = np.median(X, axis=0)
        spread = np.median(np.abs(X - middle), axis=0)
        return Posed(Dense((X - middle) / spread), kept=(middle, spread, len(X)))

    def read(self, solution, posed):
        self.mean_, self.scale_, n = posed.kept
        self.components_, self.singular_values_ = solution.vectors.T, np.sqrt(solution.values)
        self.explained_variance_ = solution.values / (n - 1)
        self.total_variance_ = solution.certificate.total / (n - 1)
        self.explained_variance_ratio_ = self.explained_variance_ / self.total_variance_
        record = self._record
        record.mean64, record.scale64, record.dtype, record.weight = self.mean_, self.scale_, np.dtype(float), float(n)
        self._keep(solution, n)


def test_a_method_of_directions_in_the_columns(cloud, tmp_path):
    register(MedianAxes)
    model = MedianAxes(2).fit(cloud)
    assert model.verify(cloud)
    middle, spread = np.median(cloud, axis=0), np.median(np.abs(cloud - np.median(cloud, axis=0)), axis=0)
    np.testing.assert_allclose(model.transform(cloud), (cloud - middle) / spread @ model.components_.T, atol=1e-12)
    ritz.save(model, tmp_path / "axes.ritz")
    np.testing.assert_array_equal(ritz.load(tmp_path / "axes.ritz").transform(cloud[:3]), model.transform(cloud[:3]))
    assert ritz.choose_rank(model, cloud)["kaiser"].k >= 1
    assert len(insight.outliers(model, cloud).mask) == len(cloud)  # rows are left out, and no weight is passed over
    assert insight.loadings(model).shape == (4, 2)
    ritz.report(model, cloud, tmp_path / "axes.html")
    # a draw would be about the mean, which this method is not
    for ask in (insight.bootstrap, insight.permutation_test):
        with pytest.raises(ritz.ParameterError, match=r"MedianAxes has no (bootstrap|permutation test)"):
            ask(model, cloud)
