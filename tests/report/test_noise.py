"""On tables of pure noise the report says that it found nothing, and claims nothing more often than its level says."""

from __future__ import annotations

import html
import os
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import ritz

sys.path.insert(0, str(Path(__file__).parent))
from noise import KINDS, noise_table

#: Level of every claim, and the chance that this many false ones are accepted as.
LEVEL, SURE = 0.05, 1e-3
#: A sentence that claims something, by what it is about.
CLAIMS = {
    "meaning": r"</b> (sets|is mostly|is spread|follows|runs from) |owes most to the group|moves most: by",
    "outliers": r"rows (is an outlier|are outliers)</b> at|rows lie beyond a 97\.5",
    "groups": r" differ most along ",
    "components": r"(is|are) more than chance at the",
    "stability": r"keeps? (its|their) directions?[.;]|nearly the same (space|direction)",
}
NOTHING = "Nothing was found that chance would not give"


def text_of(page: str) -> str:
    """What is written on the page outside of tables and scripts, bold letters kept."""
    page = re.sub(r"(?s)<(script|style|table)\b.*?</\1>", " ", page)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<(?!/?b>)[^>]+>", " ", page)).replace("\u00a0", " "))


def claims_of(i: int) -> tuple[dict[str, bool], str]:
    """Which claims the report of the i-th table makes."""
    model, rows, labels = noise_table(i)
    words = text_of(ritz.report.render(model, rows, color=labels))
    return {name: re.search(pattern, words) is not None for name, pattern in CLAIMS.items()}, words


def checked(numbers: list[int]) -> None:
    made: dict[str, list[int]] = {name: [] for name in CLAIMS}
    for i in numbers:
        claims, words = claims_of(i)
        for name, claimed in claims.items():
            made[name] += [i] if claimed else []
        assert claims["components"] or NOTHING in words, (i, KINDS[i % 10])
        assert claims["components"] or not (claims["meaning"] or claims["stability"]), (i, KINDS[i % 10])
        assert "-0%" not in words
    most = binom.isf(SURE, len(numbers), LEVEL)
    assert all(len(tables) <= most for tables in made.values()), made


def test_noise_of_every_kind_is_called_noise():
    checked(list(range(60, 70)))


@pytest.mark.slow
@pytest.mark.skipif("RITZ_SEEDS" not in os.environ, reason="takes a minute: RITZ_SEEDS=1 runs it")
def test_two_hundred_tables_of_noise():
    checked(list(range(200)))


def test_claims_are_made_where_there_is_something(root):
    """The patterns find the sentences that they are about."""
    table = pd.read_csv(root / "src/ritz/data/samples/wine.csv")
    rows = table.drop(columns="cultivar").astype(float)
    rows.iloc[0, :3] += 20 * rows.std().iloc[:3]  # a gross error
    words = text_of(ritz.report.render(ritz.PCA(5, scale=True).fit(rows), rows, color=table["cultivar"]))
    found = {name for name, pattern in CLAIMS.items() if re.search(pattern, words)}
    assert found == set(CLAIMS)


def test_a_test_of_principal_components_is_not_told_of_factors():
    rows = pd.DataFrame(np.random.default_rng(0).standard_normal((200, 6)), columns=list("abcdef"))
    model = ritz.FactorAnalysis(2).fit(rows)
    words = text_of(ritz.report.render(model, rows))
    assert "the first principal component of the columns holds" in words
    assert words.count("the first factor holds") == 1


def test_stability_of_principal_components_is_not_told_of_factors(root):
    rows = pd.read_csv(root / "src/ritz/data/samples/wine.csv").drop(columns="cultivar")
    words = text_of(ritz.report.render(ritz.FactorAnalysis(3).fit(rows), rows))
    assert re.search(r"Drawn again 50 times \(bootstrap\), the first \d principal components span", words)
    assert "first 5 factors" not in words


def test_one_column_holds_as_much_when_it_is_permuted():
    rows = pd.DataFrame({"a": [1.0, 3.0, 2.0, 7.0, 5.0, 4.0, 8.0, 2.5]})
    words = text_of(ritz.report.render(ritz.PCA().fit(rows), rows))
    assert "and 95 % of tables with every column permuted by itself hold no more" in words


def test_components_of_strings_are_not_tested():
    names = [f"{a}{b}{a}" for a in ("anna", "otto", "karl", "ida") for b in ("sen", "son", "berg")]
    words = text_of(ritz.report.render(ritz.KernelPCA(2, kernel=ritz.kernels.Spectrum(2)).fit(names), names))
    assert "Whether the components are more than chance was not tested" in words
