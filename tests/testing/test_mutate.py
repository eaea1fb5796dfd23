"""Changed numbers are found out, and the search for those that are not sees through a verify that looks away."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz.testing.mutate import main, unfound
from ritz.testing.mutate.models import MODELS, fitted
from ritz.testing.mutate.targets import EXCLUDED, changed, targets


@pytest.mark.parametrize("name", ["PCA sketch"])
def test_every_changed_field_of_a_certificate_is_found(name):
    (_, made), = fitted([name])  # fmt: skip
    outcomes = list(unfound(*made, only="certificate_."))
    assert len(outcomes) > 100
    assert [outcome for outcome in outcomes if not outcome[2]] == []


@pytest.mark.parametrize("name", ["SVD"])
def test_every_changed_name_of_a_model_is_found(name):
    (_, (model, X, weights)), = fitted([name])  # fmt: skip
    shown = {path.split(".")[0] for path, _ in targets(model)} - {"certificate_", "_state"}
    outcomes = [each for start in sorted(shown) for each in unfound(model, X, weights, only=start)]
    assert len(outcomes) > 50
    assert [outcome for outcome in outcomes if not outcome[2]] == []


def test_a_verify_that_looks_away_is_seen_through(monkeypatch):
    X = np.random.default_rng(0).standard_normal((30, 4)) * [4, 3, 2, 1]
    monkeypatch.setattr("ritz.methods.verify.model.refitted", lambda *_: [])
    monkeypatch.setattr("ritz.methods.verify.model.differing", lambda *_: [])
    lost = {path for path, _, found in unfound(ritz.PCA(2).fit(X), X) if not found}
    assert {"components_", "explained_variance_ratio_", "noise_variance_", "n_samples_", "total_variance_"} <= lost
    # of the certificate only the signs of its vectors, which the components are held against
    assert {path for path in lost if path.startswith("certificate_.")} <= {"certificate_.frame.vectors"}


def test_only_costs_and_words_are_left_out():
    model = ritz.PCA(2).fit(np.random.default_rng(0).standard_normal((30, 4)) * [4, 3, 2, 1])
    seen = {path for path, _ in targets(model)}
    assert {f"certificate_.{name}" for name in ("values", "lower", "labelled", "ceiling", "probability")} <= seen
    assert not seen & set(EXCLUDED)
    assert all(EXCLUDED.values())
    other = changed(model, "certificate_.frame.unit", 2.0)
    assert other.certificate_.frame["unit"] == 2.0
    assert model.certificate_.frame["unit"] == 1.0


def test_the_command_line(capsys):
    assert main(["--model", "PCA", "--only", "certificate_.angles"]) == 0
    assert "0 not found" in capsys.readouterr().out
    assert main(["--excluded"]) == 0
    assert "a cost" in capsys.readouterr().out
    assert len(MODELS) > 20
