"""Solvers see operators through their contract and nothing else."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import ritz.spectral
from ritz.operators import Operator

FOLDER = Path(ritz.spectral.__path__[0])
FILES = sorted(FOLDER.rglob("*.py"))
SOLVERS = sorted((FOLDER / "solvers").glob("*.py"))
#: Names that operators have in solvers.
OPERATORS = {"A", "M", "quiet", "raised", "wider"}
CONTRACT = {name for cls in (Operator,) for name in [*vars(cls), *cls.__annotations__]} | {"calls"}


@pytest.mark.parametrize("path", SOLVERS, ids=lambda path: path.name)
def test_no_solver_asks_for_a_type_or_for_what_is_not_in_the_contract(path):
    text = path.read_text()
    assert not re.search(r"getattr|hasattr|isinstance\(.*Operator", text)
    asked = {
        node.attr
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute)
        and (
            (isinstance(node.value, ast.Name) and node.value.id in OPERATORS)
            or (isinstance(node.value, ast.Attribute) and node.value.attr == "operator")
        )
    }
    assert asked <= CONTRACT
    assert not {name for name in asked if name.startswith("_")}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_no_file_of_spectral_tells_operators_by_their_class(path):
    tree = ast.parse(path.read_text())
    imported = {
        name.asname or name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ritz.operators")
        for name in node.names
        if name.name[0].isupper()
        and not name.name.isupper()  # classes: sizes are constants, and what a plan counts with
    }
    assert imported <= {"Operator", "Gram", "Shifted", "Assembled", "Reversed"}
    told = {
        ast.unparse(node.args[1])
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"
    }
    assert not told & imported


def test_the_contract_claims_nothing_by_default():
    class Least(Operator):
        def _matmat(self, V):
            return V

        def _rmatmat(self, U):
            return U

        def symbol(self):
            return "I"

    A = Least((3, 3), float)
    assert not A.symmetric
    assert not A.positive
    assert not A.checkable
    nothing = (A.trace(), A.frobenius2(), A.power_sums(), A.measured(), A.perturbation(), A.gram_noise(), A.wider())
    assert nothing == (None,) * 7
    assert (A.inflation(), A.gram_inflation(), A.scale_error(), A.passes()) == (0, 0, 0, 0)
    assert A.at("f4") is A.unchecked() is A
