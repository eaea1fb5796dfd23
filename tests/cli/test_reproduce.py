"""The Python of every report runs, and gives the eigenvalues that the program found."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import numpy as np
import pytest

import ritz
from tests import program

LETTERS = "ACGT"


def tables(rng):
    names = "".join(f"s{i},{''.join(rng.choice(list(LETTERS), 12))}\n" for i in range(14))
    Path("strings.csv").write_text(f"name,seq\n{names}")
    numbers = "".join(f"{i};{a:.2f};{b:.2f};{w}\n".replace(".", ",") for i, (a, b, w) in enumerate(
        zip(rng.normal(size=20), rng.normal(size=20), rng.integers(1, 4, 20), strict=True)))  # fmt: skip
    Path("comma.csv").write_text(f"id;a;b;w\n{numbers}")
    lines = numbers.splitlines()
    for name, some in (("first.csv", lines[:12]), ("second.csv", lines[12:])):
        Path(name).write_text("\n".join(["id;a;b;w", *some]) + "\n")
    mixed = "".join(f"{rng.normal():.3f},{rng.normal():.3f},{rng.choice(list('xyz'))},{rng.choice(['u', 'v'])}\n"
                    for _ in range(25))  # fmt: skip
    Path("mixed.csv").write_text(f"a,b,q,r\n{mixed}1.5,,x,u\n")
    counts = "".join(f"{h},{e},{rng.integers(1, 30)}\n" for h in ("dark", "red", "fair") for e in ("blue", "brown"))
    Path("list.csv").write_text(f"hair,eye,n\n{counts}")
    lines = "".join(
        f"r{i},{rng.integers(1, 40)},{rng.integers(1, 40)},{rng.integers(1, 40)},{rng.integers(1, 40)}\n"
        for i in range(9)
    )
    Path("counts.csv").write_text(f"name,u,v,z,w\n{lines}")
    flat = rng.normal(size=(24, 2)) @ rng.normal(size=(2, 4)) + 0.2 * rng.normal(size=(24, 4))
    np.savetxt("flat.csv", flat, delimiter=",", header="a,b,c,d", comments="", fmt="%.4f")
    np.savetxt("parts.csv", np.abs(flat), delimiter=",", header="a,b,c,d", comments="", fmt="%.4f")
    np.savetxt("bits.csv", flat > 0, delimiter=",", header="a,b,c,d", comments="", fmt="%d")
    np.save("tensor.npy", rng.normal(size=(6, 5, 4)))
    words = [" ".join(rng.choice(["plane", "wing", "lift", "drag", "cat", "dog", "fish"], 9)) for _ in range(12)]
    Path("words.csv").write_text("name,words\n" + "".join(f"d{i},{text}\n" for i, text in enumerate(words)))
    Path("papers").mkdir()
    for i, text in enumerate(words):
        Path(f"papers/{i}.txt").write_text(text)


CALLS = [
    "strings.csv -k 3", "comma.csv --id id --weights w -k 2", "comma.csv --drop id,w --no-scale",
    "comma.csv --kernel rbf --drop id -k 2", "mixed.csv --missing regularized -k 2 --method famd",
    "mixed.csv --method pca --missing drop", "list.csv", "mixed.csv --columns q,r",
    "first.csv second.csv --id id --weights w -k 2 --delimiter ;",
    "mixed.csv --method mfa --groups n=a --groups w=q,r --missing regularized -k 2",
    "flat.csv --supplementary-rows 2,5,7 --supplementary d -k 2", "list.csv --method mca --columns hair,eye",
    "counts.csv --method ca --supplementary w --supplementary-rows r2,r5",
    "comma.csv --id id --weights w --supplementary-rows 3 -k 2",
]  # fmt: skip

#: One call for every method that the calls above do not reach.
METHODS = {
    "svd": "flat.csv -k 2", "robust": "flat.csv -k 2", "sparse": "flat.csv -k 2", "factor": "flat.csv -k 1",
    "mds": "flat.csv", "isomap": "flat.csv --neighbours 6", "lle": "flat.csv --neighbours 6",
    "laplacian": "flat.csv --neighbours 6", "diffusion": "flat.csv", "mvu": "flat.csv --neighbours 6",
    "tsne": "flat.csv", "hosvd": "tensor.npy -k 2", "tucker": "tensor.npy -k 2", "tt": "tensor.npy -k 2",
    "cp": "tensor.npy -k 2", "pls": "flat.csv --target c,d -k 2", "cca": "flat.csv --target c,d",
    "pcr": "flat.csv --target d -k 2", "ica": "flat.csv -k 2", "nmf": "parts.csv -k 2",
    "autoencoder": "flat.csv -k 2", "rbm": "bits.csv -k 2", "lsi": "words.csv --text words -k 2",
}  # fmt: skip


def code_of(page):
    part = re.search(r'(?s)<section[^>]*id="reproduce".*?</section>', page)
    return html.unescape(re.findall(r"(?s)<pre><code>(.*?)</code></pre>", part[0])[-1])


@pytest.mark.filterwarnings("ignore::ritz.RitzWarning")
@pytest.mark.parametrize("method", [*METHODS, "papers"])
def test_the_code_of_every_method_gives_the_model_that_was_saved(method, run, seed):
    tables(np.random.default_rng(seed))
    call = "papers --method lsi -k 2" if method == "papers" else f"{METHODS[method]} --method {method}"
    run(f"fit {call} -o out")
    known: dict[str, object] = {}
    exec(code_of(Path("out/report.html").read_text(encoding="utf-8")), known)
    model, saved = known["model"], ritz.load("out/model.ritz")
    assert type(model) is type(saved)
    for name in ("eigenvalues_", "explained_variance_", "singular_values_", "embedding_", "relative_error_"):
        if getattr(saved, name, None) is not None:
            np.testing.assert_allclose(getattr(model, name), getattr(saved, name), rtol=1e-9, atol=1e-12, err_msg=name)
    np.testing.assert_allclose(model.certificate_.values, saved.certificate_.values, rtol=1e-9)
    assert Path("report.html").exists()


def test_every_method_is_asked():
    reached = {"pca", "kpca", "ca", "mca", "famd", "mfa", *METHODS}
    assert reached == {short for _, short in ritz_methods().values()}


def ritz_methods():
    from ritz.methods import METHODS as every

    return every


@pytest.mark.filterwarnings("ignore::ritz._core.errors.ColumnsSetAside")
@pytest.mark.parametrize("call", CALLS)
def test_the_code_of_the_report_gives_the_same_eigenvalues(call, run, seed):
    tables(np.random.default_rng(seed))
    facts = json.loads(run(f"fit {call} -o out --json").stdout)
    page = Path("out/report.html").read_text(encoding="utf-8")
    known: dict[str, object] = {}
    exec(code_of(page), known)
    model = known["model"]
    values = model.certificate_.values[: len(facts["components"])]
    found = np.array([item["variance"] for item in facts["components"]])
    assert len(model.certificate_.values) == len(found)
    np.testing.assert_allclose(values / values[0], found / found[0], rtol=1e-9, atol=1e-12)
    assert Path("report.html").exists()


def test_the_code_of_a_table_from_standard_input_runs(tmp_path):
    tables_here = "a,b,c\n" + "".join(f"{i % 7}.5,{i * i % 11}.25,{i % 5}\n" for i in range(30))
    words = ("fit", "-", "-k", "2", "-q", "-o", "out", "--json")
    said = program.ritz(*words, cwd=tmp_path, given=tables_here).stdout
    code = code_of((tmp_path / "out/report.html").read_text(encoding="utf-8")) + "\nprint(model.explained_variance_)"
    ran = program.python(code, cwd=tmp_path, given=tables_here).stdout
    found = [item["variance"] for item in json.loads(said)["components"]]
    np.testing.assert_allclose(np.array(ran.strip("[]\n").split(), float), found, rtol=1e-7)
