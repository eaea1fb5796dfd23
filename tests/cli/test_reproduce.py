"""The Python of every report runs, and gives the eigenvalues that the program found."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import numpy as np
import pytest

LETTERS = "ACGT"


def tables(rng):
    names = "".join(f"s{i},{''.join(rng.choice(list(LETTERS), 12))}\n" for i in range(14))
    Path("strings.csv").write_text(f"name,seq\n{names}")
    numbers = "".join(f"{i};{a:.2f};{b:.2f};{w}\n".replace(".", ",") for i, (a, b, w) in enumerate(
        zip(rng.normal(size=20), rng.normal(size=20), rng.integers(1, 4, 20), strict=True)))  # fmt: skip
    Path("comma.csv").write_text(f"id;a;b;w\n{numbers}")
    mixed = "".join(f"{rng.normal():.3f},{rng.normal():.3f},{rng.choice(list('xyz'))},{rng.choice(['u', 'v'])}\n"
                    for _ in range(25))  # fmt: skip
    Path("mixed.csv").write_text(f"a,b,q,r\n{mixed}1.5,,x,u\n")
    counts = "".join(f"{h},{e},{rng.integers(1, 30)}\n" for h in ("dark", "red", "fair") for e in ("blue", "brown"))
    Path("list.csv").write_text(f"hair,eye,n\n{counts}")


CALLS = [
    "strings.csv -k 3", "comma.csv --id id --weights w -k 2", "comma.csv --drop id,w --no-scale",
    "comma.csv --kernel rbf --drop id -k 2", "mixed.csv --missing regularized -k 2 --method famd",
    "mixed.csv --method pca --missing drop", "list.csv", "mixed.csv --columns q,r",
    "mixed.csv --method mfa --groups n=a --groups w=q,r --missing regularized -k 2",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::ritz._core.errors.ColumnsSetAside")
@pytest.mark.parametrize("call", CALLS)
def test_the_code_of_the_report_gives_the_same_eigenvalues(call, run, seed):
    tables(np.random.default_rng(seed))
    facts = json.loads(run(f"fit {call} -o out --json").stdout)
    page = Path("out/report.html").read_text(encoding="utf-8")
    part = re.search(r'(?s)<section[^>]*id="reproduce".*?</section>', page)
    code = html.unescape(re.findall(r"(?s)<pre><code>(.*?)</code></pre>", part[0])[-1])
    known: dict[str, object] = {}
    exec(code, known)
    model = known["model"]
    values = model.certificate_.values[: len(facts["components"])]
    found = np.array([item["variance"] for item in facts["components"]])
    assert len(model.certificate_.values) == len(found)
    np.testing.assert_allclose(values / values[0], found / found[0], rtol=1e-9, atol=1e-12)
    assert Path("report.html").exists()
