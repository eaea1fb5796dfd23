"""``--method auto`` says what it chose and why; every method gives its files, and they agree with the library."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import ritz
import ritz.data.tables.read
from ritz.cli.fitting.estimator import TENSORS, TWO_TABLES
from ritz.cli.main import app
from ritz.cli.options import METHODS

WINE = Path(ritz.__file__).parent / "data" / "samples" / "wine.csv"
HOUSEWORK = (
    "task,wife,alternating,husband,jointly\nlaundry,156,14,2,4\nmain meal,124,20,5,4\ndinner,77,11,7,13\n"
    "breakfast,82,36,15,7\ntidying,53,11,1,57\ndishes,32,24,4,53\nshopping,33,23,9,55\nofficial,12,46,23,15\n"
    "driving,10,51,75,3\nfinances,13,13,21,66\ninsurance,8,1,53,77\nrepairs,0,3,160,2\nholidays,0,1,6,153\n"
)


@pytest.fixture
def fit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")

    def call(*args, code=0, command="fit"):
        extra = ["--no-report", "--json"] if command == "fit" else []
        result = CliRunner().invoke(app, [command, *extra, *(str(a) for a in args)])
        assert code is None or result.exit_code == code, (result.output, result.exception)
        return json.loads(result.stdout) if command == "fit" and not code else result

    return call


def survey(n=60, numbers=2, words=3, seed=0):
    rng = np.random.default_rng(seed)
    heads = [f"x{j}" for j in range(numbers)] + [f"c{j}" for j in range(words)]
    rows = [",".join(heads)]
    for _ in range(n):
        z = rng.normal()
        values = [f"{z + rng.normal():.3f}" for _ in range(numbers)]
        values += [str(rng.choice(["low", "high"] if z > 0 else ["low", "mid"])) for _ in range(words)]
        rows += [",".join(values)]
    return "\n".join(rows) + "\n"


def strings(n=16):
    rng = np.random.default_rng(1)
    rows = ["name,family,sequence"]
    for i in range(n):
        p = [0.4, 0.1, 0.1, 0.4] if i % 2 else [0.1, 0.4, 0.4, 0.1]
        rows += [f"s{i},{'AB'[i % 2]},{''.join(rng.choice(list('ACGT'), p=p, size=25))}"]
    return "\n".join(rows) + "\n"


def column(path, name):
    with Path(path).open(encoding="utf-8") as file:
        return [row[name] for row in csv.DictReader(file)]


def numbers(path, axis):
    with Path(path).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    heads = [head for head in rows[0] if head.startswith(axis) and head.removeprefix(axis).isdigit()]
    return np.array([[float(row[head]) for head in heads] for row in rows])


AUTO = {
    "numbers": (
        lambda: "a,b,c\n" + "".join(f"{i % 7},{i % 5}.5,{i % 3}\n" for i in range(30)),
        "pca",
        "3 columns of n",
    ),
    "counts": (lambda: HOUSEWORK, "ca", "table of counts"),
    "categories": (lambda: survey(numbers=0), "mca", "3 columns of categories and none of numbers"),
    "mixed": (survey, "famd", "2 columns of numbers and 3 of categories"),
    "a label": (lambda: survey(numbers=4, words=1), "pca", "'c0' holds categories and stays out of the axes"),
    "few labels": (lambda: survey(numbers=9, words=2), "pca", "'c0', 'c1' hold categories and stay out of the axes"),
    "strings": (strings, "kpca", "strings in sequence"),
    "a counted list": (
        lambda: "hair,eye,n\nfair,blue,9\nfair,brown,2\ndark,blue,3\ndark,brown,8\nred,blue,4\nred,brown,1\n",
        "ca",
        "hair and eye with their counts in n",
    ),
    "measured integers": (
        lambda: (
            "who,age,income,pets\n" + "".join(f"p{i},{20 + i},{30_000 + 700 * (i % 5)},{i % 4}\n" for i in range(20))
        ),
        "pca",
        "3 columns of numbers",
    ),
    "negative integers": (lambda: HOUSEWORK.replace("laundry,156", "laundry,-156"), "pca", "4 columns of numbers"),
    "decimals": (lambda: HOUSEWORK.replace("laundry,156", "laundry,156.0"), "pca", "4 columns of numbers"),
}


@pytest.mark.parametrize(("text", "method", "words"), AUTO.values(), ids=AUTO.keys())
def test_auto_chooses_and_says_why(fit, text, method, words):
    Path("t.csv").write_text(text())
    facts = fit("t.csv")
    assert facts["method"] == method
    assert words in facts["method_reason"]
    talk = CliRunner().invoke(app, ["fit", "--no-report", "t.csv"]).stderr
    assert f"{method}: " in talk
    assert facts["method_reason"] in " ".join(talk.split())


def test_a_single_list_of_strings_has_no_header(fit):
    Path("s.txt").write_text("ACGTACGT\nACGTTTGA\nTTGACAAC\nGGGTACCC\nCATTGACC\n")
    facts = fit("s.txt")
    assert (facts["method"], facts["rows"]) == ("kpca", 5)
    assert any("no header" in note for note in facts["notes"])
    assert fit("s.txt", "--header")["rows"] == 4


def test_ca_is_that_of_the_library(fit):
    Path("t.csv").write_text(HOUSEWORK)
    facts = fit("t.csv")
    N = np.array([[float(v) for v in line.split(",")[1:]] for line in HOUSEWORK.splitlines()[1:]])
    P = N / N.sum()
    r, c = P.sum(axis=1), P.sum(axis=0)
    truth = np.linalg.svd((P - np.outer(r, c)) / np.sqrt(np.outer(r, c)), compute_uv=False)[:3] ** 2
    np.testing.assert_allclose([one["variance"] for one in facts["components"]], truth, rtol=1e-10)
    assert facts["measure"] == "inertia"
    F = numbers("t_ritz/scores.csv", "Dim")
    np.testing.assert_allclose((r[:, None] * F**2).sum(axis=0), truth, rtol=1e-9)
    assert column("t_ritz/scores.csv", "task")[0] == "laundry"
    assert column("t_ritz/components.csv", "column") == ["wife", "alternating", "husband", "jointly"]
    shares = [float(v) for v in column("t_ritz/components.csv", "Dim1_contribution")]
    assert sum(shares) == pytest.approx(1)


def test_a_counted_list_is_its_table(fit):
    Path("t.csv").write_text(
        "hair,eye,n\nfair,blue,9\nfair,brown,2\ndark,blue,3\ndark,brown,8\nred,blue,4\nred,brown,1\n"
    )
    facts = fit("t.csv")
    N = np.array([[3, 8], [9, 2], [4, 1.0]])
    truth = ritz.CA().fit(N).eigenvalues_
    np.testing.assert_allclose([one["variance"] for one in facts["components"]], truth, rtol=1e-10)
    assert column("t_ritz/scores.csv", "hair") == ["dark", "fair", "red"]
    again = fit("t.csv", "--counts", "n", "-o", "said")
    assert again["components"] == facts["components"]


def test_counts_of_three_categories_are_weights(fit):
    lines = ["a,b,c,count", *(f"{a},{b},{c},{1 + i % 4}" for i, (a, b, c) in enumerate(
        (a, b, c) for a in "xy" for b in "uvw" for c in "pq"))]  # fmt: skip
    Path("t.csv").write_text("\n".join(lines) + "\n")
    facts = fit("t.csv")
    assert (facts["method"], facts["weights"]) == ("mca", "count")
    spelled = [line.rsplit(",", 1)[0] for line in lines[1:] for _ in range(int(line.rsplit(",", 1)[1]))]
    Path("long.csv").write_text("a,b,c\n" + "\n".join(spelled) + "\n")
    np.testing.assert_allclose(
        [one["variance"] for one in facts["components"]],
        [one["variance"] for one in fit("long.csv")["components"]],
        rtol=1e-9,
    )


def test_svd_is_not_centred(fit):
    facts = fit(WINE, "--method", "svd", "-k", 2)
    X = np.array([[float(v) for v in line.split(",")[1:]] for line in WINE.read_text().splitlines()[1:]])
    s = np.linalg.svd(X, compute_uv=False)
    np.testing.assert_allclose([one["variance"] for one in facts["components"]], s[:2] ** 2, rtol=1e-10)
    np.testing.assert_allclose([one["share"] for one in facts["components"]], s[:2] ** 2 / (s**2).sum(), rtol=1e-10)
    assert [one["name"] for one in facts["components"]] == ["SV1", "SV2"]


def test_kernels_by_name(fit):
    facts = fit(WINE, "--kernel", "rbf", "--gamma", "0.001", "-k", 2)
    X = np.array([[float(v) for v in line.split(",")[1:]] for line in WINE.read_text().splitlines()[1:]])
    K = np.exp(-0.001 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    J = np.eye(len(X)) - 1 / len(X)
    truth = np.linalg.eigvalsh(J @ K @ J)[::-1][:2]
    np.testing.assert_allclose([one["variance"] for one in facts["components"]], truth, rtol=1e-8)
    assert facts["method"] == "kpca"
    assert "differ 2,530-fold" in facts["scaling"]
    Path("s.csv").write_text(strings())
    for word, said in (
        ("spectrum:2", "Spectrum(length=2"),
        ("mismatch:3,1", "Mismatch("),
        ("edit:0.2", "EditDistance("),
    ):
        assert fit("s.csv", "--kernel", word, "-k", 2)["kernel"].startswith(said)
    assert len(column("s_ritz/components.csv", "row")) == 16


@pytest.mark.parametrize("method", ["isomap", "lle", "laplacian", "diffusion"])
def test_neighbours_of_maps_are_counted(fit, method):
    import ritz

    fit(WINE, "--method", method, "--neighbours", 14, "-o", method)
    assert ritz.load(Path(method) / "model.ritz").n_neighbors == 14
    wrong = fit(WINE, "--method", method, "--neighbours", 500, "-o", "other", code=2)
    assert "--neighbours must be" in wrong.stderr
    assert "n_neighbors" not in wrong.stderr


def test_mfa_takes_groups_in_several_ways(fit):
    Path("t.csv").write_text(survey(numbers=4, words=2))
    facts = fit("t.csv", "--groups", "a=x0..x2", "--groups", "b=x3", "--groups", "c=c*")
    assert facts["method"] == "mfa"
    assert ritz.load("t_ritz/model.ritz").groups == {"a": ["x0", "x1", "x2"], "b": ["x3"], "c": ["c0", "c1"]}
    assert 1 <= facts["components"][0]["variance"] <= 3 + 1e-9


def test_weights_are_copies(fit):
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(12, 3)).round(3), rng.integers(1, 4, 12)
    lines = [",".join([*map(str, row), str(n)]) for row, n in zip(X, w, strict=True)]
    Path("t.csv").write_text("a,b,c,n\n" + "\n".join(lines) + "\n")
    copies = [line.rsplit(",", 1)[0] for line, n in zip(lines, w, strict=True) for _ in range(n)]
    Path("long.csv").write_text("a,b,c\n" + "\n".join(copies) + "\n")
    one, two = fit("t.csv", "--weights", "n", "--no-scale"), fit("long.csv", "--no-scale")
    np.testing.assert_allclose([c["variance"] for c in one["components"]], [c["variance"] for c in two["components"]])
    assert one["columns"] == ["a", "b", "c"]
    assert one["weights"] == "n"
    assert fit("t_ritz", "t.csv", command="verify").stdout.startswith("verification: passed")


def test_supplementary_columns_have_a_file(fit):
    fit(WINE, "--supplementary", "cultivar,hue", "-k", 2)
    names, kinds = column("wine_ritz/supplementary.csv", "column"), column("wine_ritz/supplementary.csv", "what")
    assert names[0] == "hue"
    assert kinds[0] == "correlation"
    assert set(kinds) == {"correlation", "barycentre", "test value"}
    Z = numbers("wine_ritz/scores.csv", "PC")
    hue = np.array([float(line.split(",")[11]) for line in WINE.read_text().splitlines()[1:]])
    r = float(column("wine_ritz/supplementary.csv", "PC1")[0])
    assert r == pytest.approx(np.corrcoef(Z[:, 0], hue)[0, 1], abs=1e-9)


def test_columns_are_chosen_by_name_range_and_pattern(fit):
    facts = fit(WINE, "--columns", "alcohol..ash,*phenols")
    assert facts["columns"] == ["alcohol", "malic_acid", "ash", "total_phenols", "nonflavanoid_phenols"]
    assert facts["table_columns"] == 14
    assert facts["set_aside"] == []


def test_integers_are_categories_when_that_is_said(fit):
    Path("t.csv").write_text("a,b,c\n" + "".join(f"{i % 3},{i % 2},{'uvw'[i * i % 3]}\n" for i in range(30)))
    assert fit("t.csv")["method"] == "pca"
    facts = fit("t.csv", "--categorical", "a,b")
    assert (facts["method"], facts["columns"]) == ("mca", ["a", "b", "c"])
    assert fit("t_ritz", "t.csv", command="verify").stdout.startswith("verification: passed")


def test_figures_are_written_and_equal(fit):
    pytest.importorskip("matplotlib")
    few = ["--columns", "alcohol,ash,hue"]  # names of many columns take long to place
    fit(WINE, "-k", 2, "--figures", "svg", *few)
    first = {p.name: p.read_bytes() for p in Path("wine_ritz").glob("figure_*")}
    assert {"figure_scores.svg", "figure_biplot.svg", "figure_circle.svg"} <= set(first)
    fit(WINE, "-k", 2, "--figures", "svg", *few)
    assert {p.name: p.read_bytes() for p in Path("wine_ritz").glob("figure_*")} == first
    fit(WINE, "-k", 2)
    assert not list(Path("wine_ritz").glob("figure_*"))


WRONG = {
    "unknown": (["--method", "pac"], "did you mean pca?"),
    "no groups": (["--method", "mfa"], "needs groups of columns"),
    "group without columns": (["--groups", "taste"], "--groups names a group and its columns"),
    "other option": (["--method", "svd", "--scale"], "--scale is for --method pca, mfa, robust"),
    "neighbours": (
        ["--method", "tsne", "--neighbours", "5"],
        "--neighbours is for --method isomap, lle, laplacian, diffusion and mvu",
    ),
    "neighbours of none": (["--neighbours", "5"], "--neighbours is for --method isomap"),
    "gaps": (["--method", "ca", "--missing", "mean"], "--missing with --method ca must be one of error, drop"),
    "gaps of another method": (["--missing", "category"], "--missing with --method pca must be one of"),
    "weights of a kernel": (["--method", "kpca", "--weights", "hue"], "--weights is for every method but kpca"),
    "weights that are words": (["--weights", "cultivar"], "expected numbers in the column of --weights"),
    "gamma": (["--kernel", "rbf", "--gamma", "-1"], "--gamma must be a positive number"),
    "gamma word": (["--kernel", "rbf", "--gamma", "medain"], "did you mean median?"),
    "kernel": (["--kernel", "rfb"], "did you mean rbf?"),
}


@pytest.mark.parametrize(("options", "words"), WRONG.values(), ids=WRONG.keys())
def test_what_cannot_be_meant_is_refused_with_a_hint(fit, options, words):
    result = fit(WINE, *options, code=3 if words.startswith("expected") else 2)
    assert words in result.stderr
    assert "hint: " in result.stderr
    assert not Path("wine_ritz").exists()


def test_a_kernel_of_strings_wants_strings(fit):
    Path("t.csv").write_text(survey(words=0))
    assert "expected a column of strings in t.csv" in fit("t.csv", "--kernel", "spectrum", code=3).stderr
    Path("t.csv").write_text(survey(words=1))
    facts = fit("t.csv", "--kernel", "spectrum:1", "-k", 1)
    assert facts["method_reason"] == "as asked, on the strings in c0"
    assert facts["columns"] == ["c0"]


@pytest.mark.parametrize("method", [name for name in METHODS if name not in ("auto", "mfa", "ca", "nmf", *TENSORS)])
def test_every_method_plans_ranks_and_verifies(fit, method):
    Path("t.csv").write_text(survey(numbers=4 if method in TWO_TABLES else 2))
    if method == "rbm":  # zeros and ones
        Path("t.csv").write_text("x0,x1\n" + "".join(f"{i % 2},{i % 3 // 2}\n" for i in range(60)))
    options = ["--method", method, *(["--text", "c0"] if method == "lsi" else [])]
    options += ["--target", "x2,x3"] if method in TWO_TABLES else []
    facts = fit("t.csv", *options, "-k", 2)
    assert len(facts["components"]) == 2
    assert fit("t_ritz", "t.csv", command="verify").stdout.startswith("verification: passed")
    plan = json.loads(fit("t.csv", *options, "--json", command="plan").stdout)
    assert plan["method"] == method
    maps = method in ("lle", "laplacian", "diffusion", "mvu", "tsne")
    assert plan["passes"] >= 1 - maps
    asked = fit("t.csv", *options, "--criteria", "fraction,elbow", "--json", command="rank", code=None)
    if method in ("robust", "sparse", "ica", "autoencoder", "rbm", *TWO_TABLES):
        assert "has no consensus of rules" in asked.stderr
    elif maps:  # smallest eigenvalues have no shares, and a walk has an elbow alone
        assert (asked.exit_code == 0) == (method == "diffusion"), asked.output
    else:
        assert [row["criterion"] for row in json.loads(asked.stdout)["criteria"]] == ["fraction", "elbow"]
    scores = fit("t_ritz", "t.csv", command="transform").stdout.splitlines()
    new = np.array([[float(v) for v in line.split(",")] for line in scores[1:]])
    axis = facts["components"][0]["name"].rstrip("1")
    np.testing.assert_allclose(new, numbers("t_ritz/scores.csv", axis), atol=1e-8)
    back = fit("t_ritz", "t_ritz/scores.csv", command="inverse").stdout.splitlines()
    assert len(back) == 61


@pytest.mark.parametrize("method", ["mds", "isomap", "lle", "laplacian", "diffusion", "mvu", "tsne"])
def test_maps_of_unlike_spreads_are_standardised_unless_asked_otherwise(fit, method):
    table = np.random.default_rng(0).standard_normal((60, 3)) * [1000.0, 1.0, 1.0]
    np.savetxt("t.csv", table, delimiter=",", header="a,b,c", comments="")
    facts = fit("t.csv", "--method", method)
    assert facts["scaled"]
    assert "more than tenfold; --no-scale keeps the units" in facts["scaling"]
    made = numbers("t_ritz/scores.csv", facts["components"][0]["name"].rstrip("1"))
    cls = {"mds": ritz.MDS, "isomap": ritz.Isomap, "lle": ritz.LLE, "laplacian": ritz.LaplacianEigenmaps,
           "diffusion": ritz.DiffusionMaps, "mvu": ritz.MVU, "tsne": ritz.TSNE}[method]  # fmt: skip
    own = cls(2).fit(table / table.std(axis=0, ddof=1)).embedding_
    np.testing.assert_allclose(made, own, atol=1e-6 * np.abs(own).max())
    model = ritz.load("t_ritz/model.ritz")
    np.testing.assert_allclose(model.spread_, table.std(axis=0, ddof=1))
    new = fit("t_ritz", "t.csv", command="transform").stdout.splitlines()[1:]
    again = np.array([[float(v) for v in line.split(",")] for line in new])
    np.testing.assert_allclose(again, made, atol=1e-8 * np.abs(own).max())
    kept = fit("t.csv", "--method", method, "--no-scale", "--force")
    assert not kept["scaled"]
    assert kept["scaling"].startswith("not standardised: as asked; the standard deviations of the columns differ")
    assert ritz.load("t_ritz/model.ritz").spread_ is None


@pytest.mark.parametrize(("method", "words"), [
    ("lle", "linear within neighbourhoods"), ("laplacian", "along the edges of the graph"),
    ("diffusion", "step of the random walk keeps"),
])  # fmt: skip
def test_eigenvalues_that_are_no_shares_have_gaps(fit, run, method, words):
    facts = fit(WINE, "--method", method, "-k", 3)
    model = ritz.load("wine_ritz/model.ritz")
    assert [one["share"] for one in facts["components"]] == [None] * 3
    values = [*model.eigenvalues_, model.certificate_.ceiling]
    np.testing.assert_allclose([one["gap"] for one in facts["components"]], np.abs(np.diff(values)), rtol=1e-9)
    assert words in facts["tells"]
    shown = run("inspect wine_ritz").stdout
    assert "gap to next" in shown
    assert "no shares of a variance: an eigenvalue says" in " ".join(shown.split())
    assert "cumulated" not in shown
    assert "%" not in shown


@pytest.mark.parametrize("method", ["robust", "sparse"])
def test_columns_of_unlike_spreads_are_standardised_unless_asked_otherwise(fit, method):
    rng = np.random.default_rng(0)
    table = rng.standard_normal((60, 3)) * [1000.0, 1.0, 1.0]
    np.savetxt("t.csv", table, delimiter=",", header="a,b,c", comments="")
    facts = fit("t.csv", "--method", method, "-k", 2)
    assert facts["scaled"]
    assert "more than tenfold" in facts["scaling"]
    kept = fit("t.csv", "--method", method, "-k", 2, "--no-scale", "--force")
    assert not kept["scaled"]
    assert facts["components"][0]["share"] < 0.6 < 0.99 < kept["components"][0]["share"]


@pytest.mark.parametrize(
    ("method", "whose"),
    [("robust", "the eigenvalue problem that gives the axes"), ("sparse", "the ordinary components"),
     ("factor", "the eigenvalue problem behind the factors")],
)  # fmt: skip
def test_a_certificate_of_a_problem_behind_the_method_says_so(run, method, whose):
    words = f"certificate of {whose}; the variances above have no interval of their own"
    assert words in " ".join(run(f"fit WINE -m {method} -k 2 --no-report -o m").stderr.split())
    assert words in " ".join(run("inspect m").stdout.split())


def test_two_tables_from_one_file(fit):
    head = WINE.read_text(encoding="utf-8").splitlines()
    Path("w.csv").write_text("\n".join(head) + "\n")
    facts = fit("w.csv", "--target", "proline,hue")
    assert facts["method"] == "pls"
    assert facts["second_table"]["columns"] == ["proline", "hue"]
    assert facts["choice"]["rule"] is None
    table = ritz.read("w.csv")
    model = ritz.load("w_ritz/model.ritz")
    names = [name for name, kind in table.kinds.items() if kind == "numeric"]
    X = table.select([name for name in names if name not in ("proline", "hue")])
    own = ritz.PLS("kfold").fit(X, table.select(["proline", "hue"]))
    np.testing.assert_allclose(model.coef_, own.coef_, rtol=1e-12)
    assert column("w_ritz/coefficients.csv", "column")[-1] == "(constant)"
    np.testing.assert_allclose([float(v) for v in column("w_ritz/coefficients.csv", "hue")][:-1], own.coef_[1])
    fit("w_ritz", "w.csv", "--predict", "-o", "p.csv", command="transform")
    np.testing.assert_allclose([float(v) for v in column("p.csv", "proline")], own.predict(X)[:, 0], rtol=1e-12)
    assert "passed" in fit("w_ritz", "w.csv", command="verify").output
    rho = fit("w.csv", "-m", "cca", "--target", "alcohol,hue", "-o", "c")["second_table"]["correlations"]
    np.testing.assert_allclose(rho, ritz.load("c/model.ritz").canonical_correlations_)
    told = fit("w.csv", "-m", "pcr", "--no-report", code=2, command="fit")
    assert "needs a second table" in told.stderr
    assert "for --method pls" in fit("w.csv", "-m", "pca", "--target", "hue", code=2).stderr
    fit("w.csv", "-m", "pca", "-k", "2", "-o", "pca")
    assert (
        "--predict is for models of two tables" in fit("pca", "w.csv", "--predict", code=2, command="transform").stderr
    )
