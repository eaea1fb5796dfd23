"""The pages are true: their code runs, their output is what comes out, their links lead somewhere.

    ```python  …  ```       runs; all blocks of a page share one namespace, and warnings are errors
    ```text  …  ```         directly below it: what it printed
    ```console  …  ```      a line that begins with $ runs in a shell, the lines below it are what it prints
    <!-- not run: why -->   on the line above a block: it is only shown
    <!-- varies: why -->    on the line above an output: it is not compared

Times are not compared. Numbers may differ by one unit in their last place, and numbers below 1e-6, which are errors
and residuals, by a factor of 100: both depend on the machine. ``...`` stands for any words.

``python tests/docs/test_docs.py README.md docs/start.md`` writes what differs into those pages.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unicodedata
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pytest

import ritz
from ritz.rank.rule import NAMES
from ritz.spectral import constants
from ritz.spectral.certificate.certificate import Certificate
from ritz.spectral.plan import SOLVERS

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]

FENCE = re.compile(
    r"^(?:<!-- (?P<mark>not run|varies): [^\n]*-->\n)?```(?P<kind>\w*)[^\n]*\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
NUMBER = re.compile(r"(?<![\w.])([-−+]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?)(?![\w.])")
TIME = re.compile(r"\b[\d.]+(?:e[-+]\d+)? m?s\b")
SMALL = 1e-6
#: Significant digits from which a number is told with all that it has: the last of them differ between processors.
EXACT = 15
# One command of the program, and what a shell does with its output or its exit status.
HANDED_ON = re.compile(r"\$ ritz (?P<words>[^|<>&;$`*?~(]*?) *(?P<both>2>&1)? *(?P<rest>[|;].*)?")


@pytest.fixture(autouse=True)
def own_list_of_methods(monkeypatch):
    """A method that a page adds to the list is gone after the test."""
    from ritz import methods

    monkeypatch.setattr(methods, "_joined", dict(methods._joined))


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


# ------------------------------------------------------------------------------------------ reading a page


@dataclass(frozen=True)
class Block:
    """A fenced block; ``start`` and ``end`` bound its body in the text of the page."""

    kind: str
    mark: str | None
    body: str
    start: int
    end: int
    line: int
    follows: bool  # nothing but blank space between this block and the one before


def blocks(text: str) -> list[Block]:
    found, last = [], -1
    for match in FENCE.finditer(text):
        follows = last >= 0 and not text[last : match.start()].strip()
        line = text.count("\n", 0, match.start("body")) + 1
        body = match["body"]
        found.append(Block(match["kind"], match["mark"], body, *match.span("body"), line, follows))
        last = match.end()
    return found


def outputs(page: Path, folder: Path) -> Iterator[tuple[Block, str]]:
    """Run the code of a page; give every place that shows output, with the output that came."""
    space: dict[str, object] = {"ritz": ritz, "__name__": page.stem}
    printed: str | None = None
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.kind == "python":
            assert not printed, f"{name(page)}:{block.line}: what the block above prints is not shown"
            printed = None if block.mark == "not run" else python(block, page, space, folder)
        elif block.kind == "console" and block.mark != "not run":
            yield block, console(block.body, folder)
        elif block.kind == "text" and block.follows and printed is not None:
            yield block, printed
            printed = None
    assert not printed, f"{name(page)}: what the last block prints is not shown"


def python(block: Block, page: Path, space: dict[str, object], folder: Path) -> str:
    code = compile("\n" * (block.line - 1) + block.body, str(page), "exec")
    out = io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        np.printoptions(),
        warnings.catch_warnings(),
    ):
        np.set_printoptions(**space.get("_print", {}))
        warnings.simplefilter("error")
        exec(code, space)
        space["_print"] = np.get_printoptions()  # what a block sets holds for the rest of its page
    return out.getvalue()


def console(body: str, folder: Path) -> str:
    from tests import program  # this file is a program too, for which the top of the repository is not on the path

    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    lines = []
    env = os.environ | {"PATH": path, "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    for command in (line for line in body.splitlines() if line.startswith("$ ")):
        said, given, rest = "", None, command[2:]
        if found := HANDED_ON.fullmatch(command):
            words, both, rest = shlex.split(found["words"], comments=True), found["both"], found["rest"] or ""
            piped = rest.startswith("|")
            done = program.ritz(*words, cwd=folder, env=env, merged=not piped or bool(both))
            said, given = (done.stderr, done.stdout) if piped else (done.stdout, None)
            rest = f"cat {rest}" if piped else f"(exit {done.returncode}){rest}" if rest else ""
        if rest:
            shell = subprocess.run(
                ["sh", "-c", rest],
                cwd=folder,
                env=env,
                input=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
            )
            said += shell.stdout
        lines += [command, *(line.rstrip() for line in said.splitlines())]
    return "\n".join(lines) + "\n"


@contextlib.contextmanager
def workplace() -> Iterator[Path]:
    """A folder as a reader has it: the sample table, and the source tree as in a checkout."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        shutil.copy(ROOT / "src/ritz/data/samples/wine.csv", folder)
        (folder / "src").symlink_to(ROOT / "src")
        yield folder


# --------------------------------------------------------------------------------------- comparing outputs


def words(text: str) -> list[str]:
    parts = [part for chunk in TIME.sub("TIME", text).split() for part in NUMBER.split(chunk)]
    return [part for part in parts if part]


def same(expected: str, got: str) -> bool:
    """Whether two outputs say the same, piece by piece between the ellipses."""
    rest, pieces = words(got), [[]]
    for word in words(expected):
        if word == "...":
            pieces.append([])
        else:
            pieces[-1].append(word)
    if len(pieces) == 1:
        return match(pieces[0], rest)
    first, *middle, last = pieces
    if not match(first, rest[: len(first)]):
        return False
    rest = rest[len(first) :]
    for piece in middle:
        at = next((i for i in range(len(rest) + 1) if match(piece, rest[i : i + len(piece)])), None)
        if at is None:
            return False
        rest = rest[at + len(piece) :]
    return len(rest) >= len(last) and match(last, rest[len(rest) - len(last) :])


def match(expected: list[str], got: list[str]) -> bool:
    return len(expected) == len(got) and all(map(alike, expected, got))


def alike(expected: str, got: str) -> bool:
    if expected == got:
        return True
    if not (NUMBER.fullmatch(expected) and NUMBER.fullmatch(got)):
        return False
    a, b = number(expected), number(got)
    low, high = sorted((abs(a), abs(b)))
    if digits(expected) >= EXACT <= digits(got):  # all digits of a number: the last ones are rounding
        return abs(a - b) <= 10.0 ** (2 - EXACT) * high
    if high < SMALL:
        return high <= 100 * low or high < 1e-12
    return abs(a - b) <= 1.001 * max(last_place(expected), last_place(got))


def number(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))


def digits(text: str) -> int:
    return len(re.sub(r"[^0-9]", "", text.partition("e")[0]).strip("0"))


def last_place(text: str) -> float:
    mantissa, _, exponent = text.partition("e")
    decimals = len(mantissa.partition(".")[2])
    return float(10.0 ** (int(exponent or 0) - decimals))


@pytest.mark.parametrize(
    ("expected", "got", "equal"),
    [
        ("λ 2.304 in 3.1 ms", "λ  2.304 in 0.2 s", True),
        ("λ 2.304", "λ 2.305", True),
        ("λ 2.304", "λ 2.306", False),
        ("[ 1.5 -2. ]", "[1.5 -2.]", True),
        ("± 3.5e-14", "± 9e-14", True),
        ("± 3.5e-14", "± 9e-11", False),
        ("13×13 and PC3", "13×13 and PC3", True),
        ("float64", "float32", False),
        ("3.307420974289219", "3.3074209742892818", True),
        ("3.307420974289219", "3.307420974299", False),
        ("1390.1390139013901", "1390.139013908395", False),
        ("PC1", "PC2", False),
        ("one ... four", "one two three four", True),
        ("one ... four", "one two three", False),
        ("1,000 rows", "1,001 rows", True),
        ("1,000 rows", "1,002 rows", False),
        ("none missed", "none", False),
    ],
)
def test_outputs_are_compared_as_a_reader_would(expected, got, equal):
    assert same(expected, got) is equal


# ------------------------------------------------------------------------------------------- code and output

# The gallery runs where its pictures are looked at: tests/plot/test_gallery.py.
RUNNABLE = [
    page
    for page in PAGES
    if page.name != "gallery.md"
    and any(b.kind in ("python", "console") and b.mark != "not run" for b in blocks(page.read_text(encoding="utf-8")))
]


@pytest.mark.parametrize("page", RUNNABLE, ids=name)
def test_the_code_of_a_page_prints_what_the_page_shows(page):
    with workplace() as folder:
        require_shown(page, folder)


def require_shown(page: Path, folder: Path) -> None:
    for block, got in outputs(page, folder):
        if block.mark != "varies":
            assert same(block.body, got), f"{name(page)}:{block.line} shows\n{block.body}\nand prints\n{got}"


def test_the_readme_and_every_method_run():
    assert {"README.md", "docs/start.md", "docs/worked-example.md"} <= set(map(name, RUNNABLE))
    assert set(DOCS.glob("methods/*.md")) <= set(RUNNABLE)


def test_what_is_not_run_says_why():
    for page in PAGES:
        marks = re.findall(r"<!-- (?:not run|varies)\b.*", page.read_text(encoding="utf-8"))
        assert all(re.search(r": \w.{8,} -->$", mark) for mark in marks), name(page)


# ------------------------------------------------------------------------------------------- nav and links


def prose(page: Path) -> str:
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text(encoding="utf-8")))


def anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), flags=re.MULTILINE)
    return {slug(head) for head in heads}


def slug(head: str) -> str:
    """The anchor that MkDocs gives a heading."""
    plain = unicodedata.normalize("NFKD", head.replace("`", "")).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"https?://", target):
            continue
        path, _, anchor = target.partition("#")
        goal = (page.parent / path).resolve() if path else page
        assert goal.exists(), f"{name(page)} links to {target}"
        if anchor:
            assert anchor in anchors(goal), f"{name(page)} links to {target}"


def test_every_page_is_in_the_navigation_once():
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    listed = re.findall(r"(\S+\.md)\s*$", nav, flags=re.MULTILINE)
    assert sorted(listed) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


def test_no_page_names_a_machine():
    for page in PAGES:
        found = re.search(r"(?<![\w.])/(?:work|tmp|home|root)/", page.read_text(encoding="utf-8"))
        assert not found, f"{name(page)}: {found}"


# ------------------------------------------------------------------------------- nothing is left unexplained


def unexplained(page: str, names: object) -> list[str]:
    """Names that the page nowhere sets in code type, alone or as the beginning of an expression."""
    text = FENCE.sub("", (DOCS / page).read_text(encoding="utf-8"))
    code = " ".join(re.findall(r"`([^`]+)`", text))
    return [str(item) for item in names if not re.search(rf"(?<![\w-]){re.escape(str(item))}(?![\w-])", code)]


@pytest.mark.parametrize("page", ["solvers.md", "index.md"])
def test_every_solver_has_a_line_of_its_own(page):
    lines = re.findall(r"^\| `(\w+)` \|", (DOCS / page).read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert [line for line in lines if line in SOLVERS] == list(SOLVERS)


def test_every_rule_is_explained():
    assert not unexplained("rank.md", NAMES)


def test_every_constant_of_the_planner_is_explained():
    assert not unexplained("solvers.md", constants.__all__)


def test_the_values_of_the_constants_are_those_of_the_code():
    text = (DOCS / "solvers.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([A-Z0-9_]+)` \| (\S+) \|", text, flags=re.MULTILINE))
    numbers = {key: getattr(constants, key) for key in constants.__all__ if key.isupper()}
    assert {key: float(value) for key, value in rows.items()} == numbers


def test_every_field_of_the_certificate_is_explained():
    shown = [field.name for field in fields(Certificate) if field.repr]
    assert not unexplained("certificate.md", [*shown, "width", "verify"])


def test_every_operator_is_explained():
    from ritz import operators

    assert not unexplained("operators.md", operators.__all__)


@pytest.mark.parametrize(("page", "method"), [("methods/pca.md", ritz.PCA), ("methods/svd.md", ritz.SVD)])
def test_every_parameter_method_and_result_is_on_the_page_of_its_method(page, method):
    parameters = list(inspect.signature(method).parameters)
    own = [key for key, value in vars(method).items() if inspect.isfunction(value) and not key.startswith("_")]
    own = [key for key in own if key not in ("pose", "read")]  # steps of the pipeline, for authors of methods
    shared = ["transform", "fit_transform", "inverse_transform", "sample_weight"]
    model = method(2).fit(np.eye(5)[:, :3])
    results = [key for key in vars(model) if key.endswith("_") and not key.startswith("_")]
    assert not unexplained(page, {*parameters, *own, *shared, *results})


def test_every_parameter_of_read_and_every_kind_of_column_is_explained():
    from ritz.data.tables.table import KINDS

    parameters = [name for name in inspect.signature(ritz.read).parameters if name != "source"]
    assert not unexplained("tables.md", [*parameters, *KINDS])


def test_every_command_and_option_is_on_the_page_of_the_command_line():
    import typer.main

    from ritz.cli.main import app

    commands = typer.main.get_command(app).commands
    options = {flag for command in commands.values() for p in command.params for flag in (*p.opts, *p.secondary_opts)}
    assert not unexplained("cli.md", [f"ritz {name}" for name in commands])
    assert not unexplained("cli.md", {flag for flag in options if flag.startswith("--")} - {"--help"})


def test_every_exit_code_is_on_the_page_of_the_command_line():
    from ritz.cli.terminal import console

    codes = {console.DEFECT, console.USAGE, console.DATA, console.FILE, console.FAILED, console.CANCELLED, 0}
    rows = re.findall(r"^\| (\d+) \|", (DOCS / "cli.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(map(int, rows)) == sorted(codes)


# ------------------------------------------------------------------------------------------------- refreshing


def plain(text: str) -> str:
    return "\n".join(TIME.sub("TIME", line).rstrip() for line in text.strip("\n").splitlines())


def refresh(page: Path) -> int:
    """Write outputs that differ into a page; how many."""
    text, done, changed = page.read_text(encoding="utf-8"), [], 0
    with workplace() as folder:
        for block, got in outputs(page, folder):
            wanted = block.mark != "varies" or not block.body.strip()
            kept = same(block.body, got) if "..." in block.body else plain(block.body) == plain(got)
            if wanted and not kept:
                done.append((block, got))
    for block, got in reversed(done):
        lines = "\n".join(line.rstrip() for line in got.strip("\n").splitlines()) + "\n"
        text, changed = text[: block.start] + lines + text[block.end :], changed + 1
    page.write_text(text, encoding="utf-8")
    return changed


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    for given in sys.argv[1:] or map(str, RUNNABLE):
        print(given, refresh(ROOT / given))
