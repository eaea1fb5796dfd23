"""What pages and docstrings say about where things are is true: files, and names on the pages of the reference."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import ritz
from tests.docs.test_examples import MODULES, OTHERS

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SOURCES = [path for folder in ("src", "tools", "tests", "bench") for path in sorted((ROOT / folder).rglob("*.py"))]
FILES = [str(path.relative_to(ROOT)) for path in SOURCES]

#: A file with its folder, however much of the path is said; a file without its folder may be anybody's.
MENTION = re.compile(r"(?<![\w./{}<>*-])(?:\.\./)*([\w-]+(?:/[\w-]+)*/[\w-]+\.py)\b(?!\.)")
FOLDER = re.compile(r"`((?:src/ritz|tests|tools|bench|docs)/[\w/.-]+)`")


def missing(text: str) -> list[str]:
    """Files and folders that a text speaks of and that are not there."""
    files = [path for path in MENTION.findall(text) if not any(f"/{name}".endswith(f"/{path}") for name in FILES)]
    return files + [path for path in FOLDER.findall(text) if not (ROOT / path).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_speaks_of_files_that_are_there(page):
    assert not missing(page.read_text(encoding="utf-8"))


def test_docstrings_and_comments_speak_of_files_that_are_there():
    lines = ((path, said) for path in SOURCES for said in remarks(path.read_text(encoding="utf-8")))
    wrong = {f"{path.relative_to(ROOT)}: {gone}" for path, said in lines for gone in missing(said)}
    assert not wrong


def test_docstrings_and_comments_of_the_library_speak_of_no_file_of_another_name():
    names = {path.name for path in SOURCES}
    for path in sorted((ROOT / "src").rglob("*.py")):
        said = " ".join(remarks(path.read_text(encoding="utf-8")))
        gone = set(re.findall(r"(?<![\w./*-])(\w+\.py)\b(?!\.)", said)) - names
        assert not gone, f"{path.relative_to(ROOT)}: {gone}"


def remarks(source: str) -> list[str]:
    """Docstrings and comments, roughly: what stands between triple quotes or behind a hash."""
    return [*re.findall(r'"""(.*?)"""', source, flags=re.DOTALL), *re.findall(r"(?m)#[ :](.*)$", source)]


def test_a_file_that_is_not_there_is_found():
    assert missing("`spectral/problem.py` and `src/ritz/data/engines`, or pca.py of anybody") == []
    assert missing("see spectral/riddle.py and `src/ritz/engines`") == ["spectral/riddle.py", "src/ritz/engines"]


# ------------------------------------------------------------------------------------------------ the reference


def shown() -> list[str]:
    """Paths of all names on the pages of the reference."""
    pages = (ROOT / "docs" / "reference").glob("*.md")
    return [path for page in pages for path in re.findall(r"(?m)^::: (\S+)$", page.read_text(encoding="utf-8"))]


def found(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def test_the_reference_shows_names_not_modules():
    # A module that is called like its function would be shown in its place: the path of the function is longer then.
    assert not [path for path in shown() if spec(path)]


def spec(path: str) -> bool:
    try:
        return find_spec(path) is not None
    except ModuleNotFoundError:  # its parent is no package: a name
        return False


def test_every_public_name_is_on_a_page_of_the_reference():
    there = {id(found(path)) for path in shown()}
    names = [(module, name) for module in MODULES for name in import_module(module).__all__]
    names += [(module, name) for module, chosen in OTHERS.items() for name in chosen]
    modules = {"insight", "kernels", "plot", "report", "testing", "text"}
    lost = [f"{m}.{n}" for m, n in names if id(getattr(import_module(m), n)) not in there and n not in modules]
    assert not lost


def test_every_name_of_the_reference_is_there_once():
    paths = shown()
    assert len(paths) == len(set(paths)) == len({id(found(path)) for path in paths})
    assert found("ritz.PCA") is ritz.PCA
