"""Check that every folder of ``src/ritz`` imports only folders to its left, and nothing private of another module.

    python tools/check_layers.py [SOURCE]      prints one line a violation; exit status 1 if there is any

The order is the pipeline, from what every file stands on to what a user sees. Imports inside functions and
under ``TYPE_CHECKING`` count as well: a cycle hidden in a function is still a cycle.
Only ``ritz/__init__.py`` names across layers, so nothing imports a public name from it but its version.
A name that begins with one underscore belongs to its module, and a module of such a name to its folder.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "ritz"
ORDER = ["_core", "data", "text", "kernels", "graphs", "operators", "spectral", "project", "rank", "methods"]
ORDER += ["insight", "persist", "plot", "report", "cli"]
MAY_IMPORT = {layer: ORDER[: i + 1] for i, layer in enumerate(ORDER)}
# Beside the pipeline: test helpers see everything up to model files and are imported by nobody.
MAY_IMPORT["testing"] = [*MAY_IMPORT["persist"], "testing"]

# Third-party libraries that no module may load when it is loaded itself: they are slow or optional.
LAZY = {
    "altair",
    "dask",
    "distributed",
    "matplotlib",
    "numba",
    "pandas",
    "plotly",
    "polars",
    "pyspark",
    "torch",
    "triton",
}
# Kernels are decorated by the library that compiles them; such a module is itself loaded inside functions.
KERNELS = {"numba_kernels", "triton_kernels"}
# The numerical core knows arrays and operators, not estimators.
LAZY_IN = dict.fromkeys(["_core", "operators", "spectral"], LAZY | {"sklearn"})


def main(source: Path) -> int:
    """Print the violations under `source` and say by the exit status whether there are any."""
    found = [line for path in sorted(source.rglob("*.py")) for line in violations(path, source)]
    print("\n".join(found) or f"layers: {PACKAGE} is in order")
    return bool(found)


def violations(path: Path, source: Path) -> Iterator[str]:
    """Yield one line for each import in `path` that its layer may not have."""
    layer, *inside = path.relative_to(source).parts
    if not inside:  # __init__.py, __main__.py: the top of the package may name every layer, lazily
        return
    if layer not in MAY_IMPORT:
        yield f"{path}:1: {layer}/ is not one of the layers {' '.join(MAY_IMPORT)}"
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    at_load, nodes = set(_at_load(tree)), list(ast.walk(tree))
    for node in nodes:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        where = f"{path}:{node.lineno}: {layer}/"
        for name in _names(node):
            top, _, inner = name.partition(".")
            if top != PACKAGE:
                if node in at_load and top in LAZY_IN.get(layer, LAZY) and path.stem not in KERNELS:
                    yield f"{where} loads {top} with the module; import it inside a function"
            elif inner.split(".")[0] not in [*MAY_IMPORT[layer], "__version__"]:
                yield f"{where} imports {name}; it may import {' '.join(MAY_IMPORT[layer])}"
    for line, name in _private(nodes, path.relative_to(source), source):
        yield f"{path}:{line}: {layer}/ takes {name}, which is private; make it public in its module, or move it"


def _names(node: ast.Import | ast.ImportFrom) -> list[str]:
    """Dotted names that an import statement brings in, ``from ritz import x`` as ``ritz.x``."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if node.level:  # a relative import hides its layer
        return [f"{PACKAGE}.<relative import>"]
    if node.module == PACKAGE:
        return [f"{PACKAGE}.{alias.name}" for alias in node.names]
    return [str(node.module)]


def _private(nodes: list[ast.AST], path: Path, source: Path) -> Iterator[tuple[int, str]]:
    """Yield line and dotted name of everything private that the module at ``path`` takes from another module."""
    modules: dict[str, str] = {}  # what a module is called here, and its dotted name
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == PACKAGE:
                    modules[alias.asname or alias.name] = alias.name
                    if _out_of_reach(alias.name, path, source):
                        yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == PACKAGE:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                if _is_module(name, source):
                    modules[alias.asname or alias.name] = name
                if _out_of_reach(name, path, source):
                    yield node.lineno, name
    for node in nodes:
        if isinstance(node, ast.Attribute) and (module := modules.get(_dotted(node.value))) is not None:
            name = f"{module}.{node.attr}"
            if _out_of_reach(name, path, source):
                yield node.lineno, name


def _dotted(node: ast.AST) -> str:
    """``a.b.c`` of names and attributes, the only expressions that name a module; nothing of any other."""
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value)
        return before and f"{before}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _out_of_reach(name: str, path: Path, source: Path) -> bool:
    """Whether a dotted name is private, and no module in a folder around the one at ``path``."""
    parts = name.split(".")[1:]
    for i, part in enumerate(parts):
        hidden = part.startswith("_") and not part.endswith("__")
        beside = _is_module(".".join([PACKAGE, *parts[: i + 1]]), source) and path.parts[:i] == tuple(parts[:i])
        if hidden and not beside:
            return True
    return False


def _is_module(name: str, source: Path) -> bool:
    place = source.joinpath(*name.split(".")[1:])
    return place.is_dir() or place.with_name(place.name + ".py").is_file()


def _at_load(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements that run when the module is loaded: not in functions, not under ``TYPE_CHECKING``."""
    rest = [tree]
    while rest:
        for child in ast.iter_child_nodes(rest.pop()):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.expr):  # no expression holds an import
                continue
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            yield child
            rest.append(child)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else f"src/{PACKAGE}")))
