"""The house keeps its own rules: public names, layers, sizes, import times, one version number."""

from __future__ import annotations

import ast
import gc
import importlib
import importlib.util
import json
import logging
import re
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import ritz
from ritz.methods import method_named, names_of_methods

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "ritz"
#: Sources, read and taken apart once for all tests.
SOURCES = sorted(SOURCE.rglob("*.py"))
KEY = r"\b[A-Z][A-Za-z]*\d\d[a-z]?\b"  # HMT11, Parlett98


@pytest.fixture(scope="module", autouse=True)
def forgotten():
    """Millions of nodes, which nobody needs after these tests; garbage is not looked for among them meanwhile."""
    gc.disable()
    yield
    text_of.cache_clear()
    nodes_of.cache_clear()
    gc.enable()


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def nodes_of(code: str) -> list[ast.AST]:
    """All nodes of a module, itself first."""
    return list(ast.walk(ast.parse(code)))


# ------------------------------------------------------------------------------------------ public names


def test_every_public_name_can_be_imported():
    for name in ritz.__all__:
        assert getattr(ritz, name) is not None


def test_public_names_are_sorted_and_single():
    assert ritz.__all__ == sorted(set(ritz.__all__), key=lambda s: (not s.isupper(), not s[0].isupper(), s))


def test_nothing_public_is_left_unlisted():
    test_every_public_name_can_be_imported()  # what those imports bring along would stand out now
    layers = {path.name for path in SOURCE.iterdir() if path.is_dir()}
    own = {"annotations", "importlib", "logging", "TYPE_CHECKING"}
    public = {name for name in vars(ritz) if not name.startswith("_")}
    assert public - layers - own == set(ritz.__all__) - layers


def test_type_checkers_see_the_same_names():
    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    declared = {alias.asname for node in imports for alias in node.names}
    assert declared == set(ritz.__all__)


def test_dir_lists_the_public_names_and_unknown_names_raise():
    assert set(ritz.__all__) <= set(dir(ritz))
    with pytest.raises(AttributeError, match="'ritz' has no attribute 'PCB'"):
        ritz.PCB  # noqa: B018


@pytest.mark.parametrize("path", sorted(SOURCE.glob("*/__init__.py")), ids=lambda p: p.parent.name)
def test_every_name_that_a_package_lists_is_there(path: Path):
    package = importlib.import_module(f"ritz.{path.parent.name}")
    missing = [name for name in getattr(package, "__all__", []) if not hasattr(package, name)]
    assert not missing


def test_every_folder_is_a_package():  # a folder without __init__.py is left out of the wheel
    folders = {path.parent for path in SOURCES}
    assert not [folder.name for folder in folders if not (folder / "__init__.py").is_file()]


def test_the_logger_is_silent_until_asked():
    assert any(isinstance(handler, logging.NullHandler) for handler in logging.getLogger("ritz").handlers)


def test_there_is_one_version_number():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\nversion: {ritz.__version__}\n" in citation
    assert re.search(rf"^## \[({re.escape(ritz.__version__)}|Unreleased)\]", changelog, flags=re.MULTILINE)


def test_every_reference_key_in_a_docstring_is_explained():
    references = (ROOT / "docs" / "references.md").read_text(encoding="utf-8")
    keys = re.findall(r"^\*\*\[(\w+)\]\*\*", references, flags=re.MULTILINE)
    known = set(keys)
    assert "HMT11" in known
    assert len(keys) == len(known), f"{[key for key in known if keys.count(key) > 1]} stand twice in docs/references.md"
    for path in SOURCES:
        nodes = [
            node for node in nodes_of(text_of(path)) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        ]
        text = "\n".join(ast.get_docstring(node) or "" for node in nodes)
        cited = {key for group in re.findall(r"\[([A-Z][^\]]*)\]", text) for key in re.findall(KEY, group)}
        assert cited <= known, f"{path}: {cited - known} not in docs/references.md"


# ------------------------------------------------------------------------------------- layers and sizes


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


layers, sizes = tool("check_layers"), tool("check_sizes")


def test_every_layer_imports_only_layers_to_its_left(capsys):
    assert layers.main(SOURCE) == 0, capsys.readouterr().out


def test_every_file_and_function_fits(capsys):
    assert sizes.main(SOURCE) == 0, capsys.readouterr().out


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("operators/a.py", "from ritz.spectral.solve import solve", "operators/ imports ritz.spectral"),
        ("operators/a.py", "import ritz.spectral", "operators/ imports ritz.spectral"),
        ("spectral/a.py", "def f():\n    from ritz.methods.pca import PCA", "spectral/ imports ritz.methods"),
        ("_core/a.py", "if TYPE_CHECKING:\n    import ritz.data.tables.table", "_core/ imports ritz.data.tables.table"),
        ("methods/a.py", "from ritz import PCA", "methods/ imports ritz.PCA"),
        ("methods/a.py", "import ritz", "methods/ imports ritz;"),
        ("methods/a.py", "from ritz import testing", "methods/ imports ritz.testing"),
        ("methods/a.py", "from . import pca", "relative import"),
        ("testing/a.py", "from ritz.cli.main import main", "testing/ imports ritz.cli.main"),
        ("helpers/a.py", "", "helpers/ is not one of the layers"),
        ("spectral/a.py", "import sklearn.base", "spectral/ loads sklearn"),
        ("report/a.py", "from matplotlib import pyplot", "report/ loads matplotlib"),
        ("data/a.py", "class A:\n    import pandas as pd", "data/ loads pandas"),
        ("data/a.py", "try:\n    import polars\nexcept ImportError:\n    pass", "data/ loads polars"),
    ],
)
def test_a_wrong_import_is_found(tmp_path, capsys, file, text, complaint):
    write(tmp_path / file, text)
    assert layers.main(tmp_path) == 1
    assert complaint in capsys.readouterr().out


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("__init__.py", "from ritz.methods.pca import PCA"),
        ("spectral/a.py", "from ritz.operators.base import Operator\nfrom ritz.spectral import b"),
        ("methods/a.py", "import sklearn.base\nfrom ritz.rank import rules"),
        ("cli/a.py", "from ritz import __version__"),
        ("testing/a.py", "from ritz.methods.pca import PCA"),
        ("data/a.py", "def f():\n    import pandas"),
        ("data/a.py", "if TYPE_CHECKING:\n    import polars"),
    ],
)
def test_a_right_import_is_left_alone(tmp_path, capsys, file, text):
    write(tmp_path / file, text)
    assert layers.main(tmp_path) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("from ritz.rank.b import _secret", "ritz.rank.b._secret"),
        ("from ritz.rank.b import open, _secret as fine", "ritz.rank.b._secret"),
        ("def f():\n    from ritz.methods.inner import _hidden", "ritz.methods.inner._hidden"),
        ("from ritz.methods.inner._hidden import anything", "ritz.methods.inner._hidden.anything"),
        ("import ritz.methods.inner._hidden as fine", "ritz.methods.inner._hidden"),
        ("from ritz.rank import b\nb._secret()", "ritz.rank.b._secret"),
        ("from ritz.rank import b as c\nx = c._secret.more", "ritz.rank.b._secret"),
        ("import ritz.rank.b\nritz.rank.b._secret", "ritz.rank.b._secret"),
        ("import ritz.rank.b as c\nc._secret", "ritz.rank.b._secret"),
    ],
)
def test_a_private_name_of_another_module_is_found(tmp_path, capsys, text, name):
    write(tmp_path / "rank/b.py", "_secret = 1")
    write(tmp_path / "methods/inner/_hidden.py", "")
    write(tmp_path / "methods/a.py", text)
    assert layers.main(tmp_path) == 1
    assert f"methods/ takes {name}, which is private" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    [
        "from ritz._core.errors import InputError",
        "from ritz.methods.inner._hidden import anything",
        "from ritz.methods.inner import _hidden\n_hidden.anything",
        "from ritz import __version__",
        "from ritz.rank import b\nb.open.__name__",
        "from elsewhere import _private\nimport elsewhere\nelsewhere._private",
        "_own = 1\ndef f(b): return b._secret",
    ],
)
def test_what_is_private_stays_in_its_folder(tmp_path, capsys, text):
    write(tmp_path / "_core/errors.py", "")
    write(tmp_path / "rank/b.py", "")
    write(tmp_path / "methods/inner/_hidden.py", "")
    write(tmp_path / "methods/inner/a.py", text)
    assert layers.main(tmp_path) == 0, capsys.readouterr().out


def test_a_long_file_is_found(tmp_path, capsys):
    write(tmp_path / "fits.py", "x = 1\n" * 500)
    assert sizes.main(tmp_path) == 0
    write(tmp_path / "long.py", "x = 1\n" * 501)
    assert sizes.main(tmp_path) == 1
    assert "long.py:1: 501 lines" in capsys.readouterr().out


def test_a_long_function_is_found_and_its_words_are_free(tmp_path, capsys):
    words = '    """One.\n\n' + "    more\n" * 50 + '    """\n' + "    # why\n\n" * 50
    write(tmp_path / "a.py", "def fits():\n" + words + "    x = 1\n" * 59)
    assert sizes.main(tmp_path) == 0
    write(tmp_path / "a.py", "class A:\n    def long(self):\n" + "        x = 1\n" * 60)
    assert sizes.main(tmp_path) == 1
    assert "long has 61 lines of code" in capsys.readouterr().out


# --------------------------------------------------------------------------------------------- engines

#: What may name it in code: options that a user types, extras that he installs, programs that fit inside its tasks.
NAMES_DASK = (
    "data/engines/",
    "cli/commands/fit.py",
    "cli/commands/doctor.py",
    "cli/terminal/vocabulary.py",
    "testing/faults/",
)
NAMES_SPARK = ("data/engines/", "cli/commands/doctor.py")


def mentions(code: str, word: str) -> list[str]:
    """Lines of code that mention a word outside of docstrings and comments."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    words = {
        id(node.body[0].value)
        for node in nodes_of(code)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
        if isinstance(node.body[0].value, ast.Constant)
    }
    found = []
    for node in nodes_of(code):
        said = [value for _, value in ast.iter_fields(node) if isinstance(value, str)]
        if id(node) not in words and any(word in text.lower() for text in said):
            found.append(f"{getattr(node, 'lineno', 0)}: {said}")
    return found


@pytest.mark.parametrize("library", ["dask", "spark"])
def test_only_engines_know_a_library_of_clusters(library):
    allowed = NAMES_DASK if library == "dask" else NAMES_SPARK
    others = [path for path in SOURCES if not path.relative_to(SOURCE).as_posix().startswith(allowed)]
    found = {str(path): mentions(text_of(path), library) for path in others}
    assert not {path: lines for path, lines in found.items() if lines}


@pytest.mark.parametrize(
    "code",
    [
        "import dask.array",
        "from dask import delayed",
        "def f():\n    from ritz.data.engines.dask.rows import columns_of",
        "if 'dask' in sys.modules: pass",
        "x = is_dask(X)",
        "def from_dask(X): pass",
        "isinstance(X, DaskBlocks)",
        "X.dask",
        "f(dask=1)",
        "def f(dask): pass",
        "x = f'{kind} of Dask'",
        'class A:\n    """Words."""\n    b = "a Dask array"',
    ],
)
def test_asking_for_dask_is_found(code):
    assert mentions(code, "dask")


def test_words_about_dask_are_free():
    assert not mentions('"""Dask."""\nclass A:\n    """Dask."""\n    def f(self):\n        """Dask."""  # dask', "dask")


# ------------------------------------------------------------------------------- fitted models, from outside

#: Folders to the right of ``methods``: they ask ``fitted_of(model)`` for a capability, never the estimator itself.
ABOVE = ("insight", "persist", "plot", "report", "cli")
#: What a name ends in that holds an estimator.
MODELS = ("model", "estimator", "fitted", "made", "copy")
#: Underscored names that are public all the same: fields of a named tuple.
PUBLIC = ("_fields", "_asdict", "_replace", "_make")
BUILT_IN = ("isinstance", "vars", "getattr", "hasattr", "setattr", "delattr")


def defined_names(nodes: list[ast.AST]) -> set[str]:
    """Names that a module defines itself: functions, classes, variables, attributes of ``self``."""
    names = set()
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_own(node.value):
            names.add(node.attr)
    return names


def is_own(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def is_private(name: object) -> bool:
    return isinstance(name, str) and name.startswith("_") and not name.endswith("__") and name not in PUBLIC


def holds_model(node: ast.AST) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name.lower().endswith(MODELS) or name in names_of_methods()


def looks_inside(code: str) -> list[str]:
    """Places of a module that look into an estimator, or ask which one it is."""
    nodes = nodes_of(code)
    own = defined_names(nodes)
    return [f"{node.lineno}: {ast.unparse(node)}" for node in nodes if is_look(node, own)]


def is_look(node: ast.AST, own: set[str]) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "__dict__" or (is_private(node.attr) and not is_own(node.value) and node.attr not in own)
    if isinstance(node, ast.Compare):
        return any(is_name_of_class(one) for one in (node.left, *node.comparators))
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in BUILT_IN):
        return False
    arguments = node.args
    if node.func.id == "vars":
        return True
    if node.func.id == "isinstance":
        return any(isinstance(one, ast.Name) and one.id in estimator_classes() for one in ast.walk(arguments[1]))
    asked = arguments[1] if len(arguments) > 1 else None
    return isinstance(asked, ast.Constant) and is_private(asked.value) and not is_own(arguments[0])


def is_name_of_class(node: ast.AST) -> bool:
    """Whether this is ``type(model).__name__`` or ``model.__class__.__name__``."""
    if not (isinstance(node, ast.Attribute) and node.attr in ("__name__", "__qualname__")):
        return False
    of = node.value
    called = isinstance(of, ast.Call) and isinstance(of.func, ast.Name) and of.func.id == "type" and bool(of.args)
    if called:
        return holds_model(of.args[0])
    return isinstance(of, ast.Attribute) and of.attr == "__class__"


@cache
def estimator_classes() -> set[str]:
    """Names of all classes in ``methods`` that are estimators, bases included."""
    classes = [method_named(name) for name in names_of_methods()]
    return {base.__name__ for cls in classes for base in cls.__mro__ if base.__module__.startswith("ritz.methods")}


@pytest.mark.parametrize("layer", ABOVE)
def test_nothing_above_methods_looks_into_an_estimator(layer: str):
    found = {str(path): looks_inside(text_of(path)) for path in (SOURCE / layer).rglob("*.py")}
    assert not {path: lines for path, lines in found.items() if lines}


@pytest.mark.parametrize(
    "code",
    [
        "model._state",
        "self.model._map()",
        "model._n_features_out",
        "about.known.model._encoder.labels",
        "table._data.files",
        "fit(X)._mean64",
        "vars(model)",
        "'kernel_' in vars(self.model)",
        "model.__dict__['_weight']",
        "copy.__dict__.update(a=1)",
        "getattr(model, '_encoder', None)",
        "hasattr(parts[0], '_same_parameters')",
        "setattr(model, '_state', None)",
        "type(model).__name__ == 'PCA'",
        "'CA' != type(self.model).__name__",
        "type(saved.model).__name__ in ('CA', 'MCA')",
        "model.__class__.__name__ == 'PCA'",
        "isinstance(model, PCA)",
        "isinstance(x, (int, KernelPCA))",
        "isinstance(model, Method)",
        "isinstance(model, Correspondence)",
    ],
)
def test_a_look_into_an_estimator_is_found(code):
    assert looks_inside(code)


@pytest.mark.parametrize(
    "code",
    [
        "self._model",
        "cls._rules",
        "kind._fields",
        "fitted_of(model).state",
        "def _a(): pass\nmodule._a",
        "class A:\n    def __init__(self): self._x = 1\n    def same(self, other): return other._x",
        "f'{type(model).__name__} of rows'",
        "type(index).__name__ == 'RangeIndex'",
        "getattr(model, 'scale_', None)",
        "isinstance(model, np.ndarray)",
        "model.__sklearn_tags__()",
    ],
)
def test_what_is_no_look_into_an_estimator_is_left_alone(code):
    assert not looks_inside(code)


# ------------------------------------------------------------------------------------- what a start loads
# Modules are counted, not seconds: what a start takes is in ``python -m bench.start``.

HEAVY = ("sklearn", "scipy", "pandas", "polars", "pyarrow", "matplotlib", "dask", "pyspark", "numba", "torch")


def fresh(statement: str, after: str = "") -> list[str]:
    """The modules that a statement brings into a new Python."""
    code = (
        f"import json, sys\n{after}\n"
        "before = set(sys.modules)\n"
        f"{statement}\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def offenders(modules: list[str]) -> list[str]:
    return [name for name in modules if name.split(".")[0] in HEAVY]


def own(modules: list[str]) -> list[str]:
    return [name for name in modules if name.split(".")[0] == "ritz"]


def test_import_ritz_is_light():
    loaded = fresh("import ritz")
    assert "ritz" in loaded
    assert not offenders(loaded), f"import ritz loads {offenders(loaded)[:5]} among {len(loaded)} modules"
    assert len(own(loaded)) <= 5, own(loaded)


def test_from_ritz_import_PCA_loads_little_more_than_sklearn_base():
    loaded = fresh("from ritz import PCA", after="import sklearn.base, scipy.linalg, scipy.sparse")
    more = [name for name in offenders(loaded) if name.split(".")[0] not in ("sklearn", "scipy")]
    assert not more, more[:5]
    assert len(offenders(loaded)) <= 60, len(offenders(loaded))
    assert len(own(loaded)) <= 200, len(own(loaded))


def test_ritz_help_is_light():
    command = Path(sysconfig.get_path("scripts")) / "ritz"
    done = subprocess.run([command, "--help"], capture_output=True, text=True, check=True)
    assert "fit" in done.stdout
    # The same call from within, where the loaded modules can be seen.
    call = "sys.argv = ['ritz', '--help']\nfrom ritz.cli.main import main\ntry: main()\nexcept SystemExit: pass"
    loaded = fresh(call)
    assert not offenders(loaded), f"ritz --help loads {offenders(loaded)[:5]} among {len(loaded)} modules"
    assert len(own(loaded)) <= 40, own(loaded)


# ------------------------------------------------------------------------------------------------------ rooms


def families(folder: Path) -> dict[str, list[str]]:
    """Files of a folder by the first word of their names."""
    by: dict[str, list[str]] = {}
    for path in sorted(folder.glob("*.py")):
        by.setdefault(path.stem.strip("_").split("_")[0], []).append(path.stem)
    return by


def test_a_family_of_files_has_a_folder():
    folders = {path.parent for path in SOURCES}
    large = {f"{folder.name}/{word}": names for folder in folders for word, names in families(folder).items()}
    assert not {place: names for place, names in large.items() if len(names) > 3}


def test_a_large_family_is_found(tmp_path):
    for name in ("mca", "mca_rows", "mca_columns", "mca_verify"):
        write(tmp_path / f"{name}.py", "")
    assert max(map(len, families(tmp_path).values())) == 4


#: Words that kernels and operators share because both are added, multiplied and scaled.
ALGEBRA = {"Product", "Scaled", "Sum"}
#: Words of two fields: the Laplacian of a graph and the kernel of that name; an alignment, and a map that was aligned.
FIELDS = {"Aligned", "Laplacian"}


def test_no_class_is_called_like_a_public_one():
    from ritz import kernels, operators
    from ritz.methods import fitted

    public = {*ritz.__all__, *kernels.__all__, *operators.__all__, *fitted.__all__, "Plan", "Certificate", "Solution"}
    places: dict[str, set[str]] = {}
    for path in SOURCES:
        for node in nodes_of(text_of(path))[0].body:
            if isinstance(node, ast.ClassDef) and node.name in public - ALGEBRA - FIELDS:
                places.setdefault(node.name, set()).add(str(path.relative_to(SOURCE)))
    assert len(places) > 30
    assert not {name: files for name, files in places.items() if len(files) > 1}


# ------------------------------------------------------------------------------------------ the state of a model

#: Calls that change a dictionary.
CHANGES = {"update", "pop", "setdefault", "clear", "popitem", "__setitem__", "__delitem__"}


def writes_into(code: str) -> list[int]:
    """Lines that change an object through its dictionary instead of its names."""

    def dictionary(node: ast.AST) -> bool:
        named = isinstance(node, ast.Attribute) and node.attr == "__dict__"
        return named or (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "vars")

    lines = []
    for node in nodes_of(code):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del) and dictionary(node.value):
            lines.append(node.lineno)
        if isinstance(node, ast.Attribute) and node.attr in CHANGES and dictionary(node.value):
            lines.append(node.lineno)
        if isinstance(node, ast.Assign) and any(dictionary(target) for target in node.targets):
            lines.append(node.lineno)
    return lines


@pytest.mark.parametrize(
    "code",
    ['m.__dict__["_x"] = 1', "vars(m).update(x=1)", 'del self.__dict__["x"]', "m.__dict__ = {}", 'vars(s).pop("x")'],
)
def test_a_write_through_a_dictionary_is_found(code):
    assert writes_into(code)


@pytest.mark.parametrize("folder", ["methods", "insight", "persist", "plot", "report", "cli"])
def test_no_model_is_changed_through_its_dictionary(folder):
    found = {str(path): writes_into(text_of(path)) for path in (SOURCE / folder).rglob("*.py")}
    assert not {path: lines for path, lines in found.items() if lines}


def test_a_space_stands_before_per_cent():
    """As in ``36.2 %``; formats such as ``{share:.1%}`` leave it out."""
    without = re.compile(r":[^{}\s]*\.\d%\}")
    found = [
        f"{path.name}: {line.strip()}"
        for path in SOURCES
        if "testing" not in path.parts
        for line in text_of(path).splitlines()
        if without.search(line)
    ]
    assert found == []
