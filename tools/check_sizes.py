"""Check that every file and function of ``src/ritz`` fits a head and a screen.

    python tools/check_sizes.py [SOURCE]       prints one line a violation; exit status 1 if there is any

A file has at most 500 lines, a function at most 60 lines of code: its docstring, comments and blank lines are
free, because explaining must not cost room. Functions inside a function count for both.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

FILE_LINES = 500
FUNCTION_LINES = 60


def main(source: Path) -> int:
    """Print the violations under `source` and say by the exit status whether there are any."""
    found = [line for path in sorted(source.rglob("*.py")) for line in violations(path)]
    print("\n".join(found) or "sizes: every file and function fits")
    return bool(found)


def violations(path: Path) -> Iterator[str]:
    """Yield one line if `path` is too long, and one for each of its functions that is."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    if len(lines) > FILE_LINES:
        yield f"{path}:1: {len(lines)} lines, at most {FILE_LINES}: one idea a file"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = code_lines(node, lines)
            if length > FUNCTION_LINES:
                where = f"{path}:{node.lineno}"
                yield f"{where}: {node.name} has {length} lines of code, at most {FUNCTION_LINES}"


def code_lines(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> int:
    """Count the lines of a function without its docstring, comments and blank lines."""
    span = set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    if ast.get_docstring(node, clean=False) is not None:
        first = node.body[0]
        span -= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return sum(1 for i in span if lines[i - 1].strip() and not lines[i - 1].lstrip().startswith("#"))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "src/ritz")))
