"""Hints of the command line: none speaks Python, and each can be pasted.

Every hint of the library is collected from its source and said as the program says it. Hints that the program gives to
mistakes on tables are pasted behind the command, and then the command works.
"""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import ritz
from ritz.cli.main import app
from ritz.cli.terminal.vocabulary import pasteable, spoken

SOURCE = Path(ritz.__file__).parent
PYTHON = re.compile(
    r"\b[a-z_]+=['\[({]|\britz\.(?!tar)[A-Za-z]|\bnumpy\.|\bX\[|\bX\.\w|\b(None|True|False)\b|\w\([^)]*=[^)]*\)"
)


def hints():
    """All hints in the source, with 7 for what is filled in."""
    for path in sorted(SOURCE.rglob("*.py")):
        if path.relative_to(SOURCE).parts[0] in ("testing", "plot"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                yield from (text for word in node.keywords if word.arg == "hint" for text in texts(word.value))


def texts(node):
    """What an expression may be as text."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.JoinedStr):
        return ["".join(part.value if isinstance(part, ast.Constant) else "7" for part in node.values)]
    if isinstance(node, ast.IfExp):
        return texts(node.body) + texts(node.orelse)
    if isinstance(node, ast.BinOp):
        return [a + b for a in texts(node.left) or ["7"] for b in texts(node.right) or ["7"]]
    return []


def test_no_hint_speaks_python():
    every = list(hints())
    assert len(every) > 500
    for hint in every:
        said = pasteable(spoken(hint))
        assert "in Python" in said or not PYTHON.search(said), (hint, said)


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        ("did you mean wine_ritz?", "did you mean wine_ritz?"),
        ("did you mean 'f(x)=1'?", "did you mean 'f(x)=1'?"),
        ("--groups taste=acid,sweet", "--groups taste=acid,sweet"),
        ("more neighbours, disconnected='largest' or 'join', or fewer components", "fewer components"),
        ("metric='cosine'", ""),
        ("in Python, rare=0.02 takes rare levels together", "in Python, rare=0.02 takes rare levels together"),
    ],
)
def test_what_only_python_understands_is_left_out(hint, said):
    assert pasteable(hint) == said


TABLES = {
    "gaps.csv": "a,b,c\n1,2,3\n,3,5\n4,5,9\n6,6,2\n7,1,1\n",
    "typos.csv": "a,b\n" + "".join(f"{i}.5,{i * i % 7}\n" for i in range(30)) + "1o.5,3\n",
    "answers.csv": "q,r\n" + "".join(f"{'xyz'[i % 3]},{'uv'[i % 2]}\n" for i in range(12)) + ",u\n",
    "mixed.csv": "a,b,q,r\n" + "".join(f"{i % 5},{i * i % 11},{'xyz'[i % 3]},{'uv'[i * i % 2]}\n" for i in range(20))
    + ",3,x,u\n",
    "codes.csv": "a,b\n" + "".join(f"{i % 3},{i * i % 4}\n" for i in range(30)),
    "good.csv": "a,b,c\n1,2,3\n2,3,5\n4,5,9\n6,6,2\n7,1,1\n",
    "below.csv": "a,b,c\n-1,2,3\n2,3,5\n4,5,9\n6,6,2\n7,1,1\n",
}  # fmt: skip
MISTAKES = [
    "fit gaps.csv", "fit gaps.csv --method robust", "fit typos.csv", "fit answers.csv", "fit mixed.csv",
    "fit mixed.csv --method famd", "fit good.csv -k 9", "fit good.csv --method mca", "rank gaps.csv", "plan typos.csv",
    "fit good.csv --method mfa", "fit good.csv --scal", "fit good.csv --drop d", "fit good.csv --memory 1B",
    "fit codes.csv --method mca", "fit good.csv --kernel rbff", "fit good.csv --method pac",
    "fit good.csv --gamma wide --kernel rbf", "transform good_ritz nowhere.csv", "fit gaps.csv --method kpca",
    "transform good_ritz gaps.csv",
    "fit gaps.csv --method ica", "fit gaps.csv --method pls --target c", "fit gaps.csv --method lle",
    "fit good.csv --method ica -k 9", "fit good.csv --method nmf -k 9", "fit good.csv --method lle -k 9",
    "fit good.csv --method isomap --neighbours 50", "fit codes.csv --method tsne -k 5",
    "fit good.csv --method autoencoder --hidden x", "fit good.csv --method pls --target c -k 9",
    "fit good.csv --method cca --target b,c -k 9", "fit good.csv --method pls", "fit good.csv --clusters 9",
    "fit good.csv --rotate vari", "fit good.csv --covariance-of 9", "fit good.csv --method rbm",
    "fit below.csv --method nmf", "fit good.csv --method hosvd", "fit tensor.npy --method cp -k elbow",
    "fit tensor.npy --method hosvd --drop a", "rank good.csv --method tsne", "rank good.csv --method nmf",
    "fit good.csv --method lsi", "search good_ritz flow",
]  # fmt: skip


@pytest.fixture
def tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    for name, text in TABLES.items():
        Path(name).write_text(text, encoding="utf-8")
    np.save("tensor.npy", np.random.default_rng(0).normal(size=(12, 11, 4)))
    invoked("fit good.csv -q --no-report")
    return tmp_path


def invoked(line):
    return CliRunner().invoke(app, shlex.split(line), prog_name="ritz")


def ways(hint):
    """Options with their values that a hint names, one way each; words in capitals stand for something."""
    hint = re.sub(r"ritz (?:fit|transform|rank) [^;]*", "", hint)  # another command
    hint = re.sub(r"(?:leave out|without) --[\w-]+", "", hint)
    hint = re.sub(r"in Python, .*", "", hint)
    value = r"(?: (?!or\b|and\b|for\b|to\b|lists\b|takes\b|makes\b|reads\b|leaves\b|fill\b|fills\b|gives\b|keeps\b)"
    value += r"(?:'[^']+'|[\w.%]+(?:[,=:]\w+)*))?"
    option = rf"(?:--[a-z][a-z-]*|-k){value}"
    found = re.findall(rf"(?<![\w-]){option}(?: {option})*", hint)
    return [way for way in found if way.split()[0] != "--help" and not re.search(r" [A-Z]{2,}", way)]


@pytest.mark.parametrize("line", MISTAKES)
def test_hints_work_when_they_are_pasted(line, tables):
    """Each way that a hint names, behind the command: it works, or fails at something else."""
    first = invoked(line)
    assert first.exit_code not in (0, 1), first.output
    hint = first.stderr.rpartition("hint: ")[2]
    assert hint, first.stderr
    assert not PYTHON.search(re.sub(r"in Python, .*", "", hint)), hint
    report = " --no-report --force" if line.startswith("fit") else ""
    for way in ways(hint):
        words = [word for word in shlex.split(line) if word != "--scal"]
        for name in re.findall(r"--?[a-z-]+", way):
            if name in words:
                at = words.index(name)
                del words[at : at + 2]
        again = invoked(f"{shlex.join(words)} {way}{report}")
        assert again.exit_code == 0, (line, way, again.stderr)
