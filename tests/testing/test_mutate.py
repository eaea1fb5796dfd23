"""Changed numbers are found out, and the search for those that are not sees through a verify that looks away."""

from __future__ import annotations

import numpy as np
import pytest

import ritz
from ritz.testing.mutate import main, unfound
from ritz.testing.mutate.models import MODELS, fitted
from ritz.testing.mutate.targets import EXCLUDED, SAME, UNCERTIFIED, changed, targets


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
    monkeypatch.setattr("ritz.methods.verify.model.refitted", lambda *_, **__: [])
    monkeypatch.setattr("ritz.methods.verify.model.differing", lambda *_, **__: [])
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


def test_every_estimator_has_its_numbers_changed():
    """A method that is added without a model here, or without verify and a reason, is found out."""
    public = {name: getattr(ritz, name) for name in ritz.__all__}
    methods = {name for name, one in public.items() if isinstance(one, type) and hasattr(one, "fit")}
    checked = {name for name in methods if hasattr(public[name], "verify")}
    assert {name.split()[0] for name in MODELS} == checked
    assert set(UNCERTIFIED) == methods - checked
    assert all(UNCERTIFIED.values())
    assert all(SAME.values())


#: A public number of each method that looks for a stationary point, or keeps one beside its spectral problem.
SHOWN = [
    ("FactorAnalysis fiml", "chi2_"), ("PCA covariance", "noise_variance_"), ("ICA", "contrast_"),
    ("ICA", "noise_variance_"), ("ICA", "gradient_"), ("NMF", "explained_variance_ratio_"), ("NMF", "relative_error_"),
    ("NMF", "kkt_residual_"), ("HOSVD", "mode_singular_values_.1"), ("Tucker", "certificate_.stationarity"),
    ("TensorTrain", "certificate_.bound"), ("CP", "certificate_.stationarity"), ("CP", "compression_"),
    ("PCR", "certificate_.ceiling"), ("KernelPCA rbf", "certificate_.angles"), ("KernelPCA linear", "_solved_map.low"),
    ("LSI", "embedding_"), ("Isomap", "certificates_.0.upper"), ("DiffusionMaps", "epsilon_"), ("TSNE", "start_"),
    ("MVU", "certificate_.lower"), ("MDS", "embedding_"), ("Autoencoder", "pca_error_"), ("RBM", "intercept_hidden_"),
    ("ZCA", "certificate_.frame.mean"), ("CCA", "certificate_.ceiling"),
    ("LLE", "certificates_.0.frame.grounds.counted"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "shown"), SHOWN)
def test_a_changed_number_of_a_method_is_found(name, shown):
    if name == "TSNE":
        pytest.importorskip("openTSNE")
    (_, made), = fitted([name])  # fmt: skip
    outcomes = list(unfound(*made, only=shown))
    assert outcomes
    assert [outcome for outcome in outcomes if not outcome[2]] == []


@pytest.mark.parametrize("name", ["DiffusionMaps", "Isomap", "MVU", "LaplacianEigenmaps"])
def test_verify_leaves_a_model_as_it_was(name):
    (_, (model, X, _)), = fitted([name])  # fmt: skip
    before = [(path, np.array(value)) for path, value in targets(model)]
    assert model.verify(X)
    after = dict(targets(model))
    assert all(np.array_equal(value, after[path], equal_nan=value.dtype.kind == "f") for path, value in before)


def test_the_command_line(capsys):
    assert main(["--model", "PCA", "--only", "certificate_.angles"]) == 0
    assert "0 not found" in capsys.readouterr().out
    assert main(["--excluded"]) == 0
    assert "a cost" in capsys.readouterr().out
    assert len(MODELS) > 20
