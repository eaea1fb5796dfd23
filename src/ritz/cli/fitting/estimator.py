"""From the words of the command line to an estimator, with refusals of options that mean nothing for the method.

pca --scale --missing      maps --scale --neighbours      kpca --kernel --gamma --degree      ca --counts
mfa --groups --scale      pls, pcr, cca --target --scale      autoencoder --hidden --scale
lsi --text --weighting --language --stem --plain; from these options ``texts.py`` makes the estimator
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from ritz._core.errors import ParameterError
from ritz.cli.fitting.columns import expand
from ritz.cli.fitting.components import parse_choice
from ritz.cli.options import KERNELS, STRINGS
from ritz.data.tables.table import Table
from ritz.methods import load_plugins, method_called, shorts

__all__ = [
    "MAPS",
    "TENSORS",
    "TWO_TABLES",
    "check_method",
    "groups_of",
    "kernel_of",
    "make_estimator",
    "missing_ways",
    "standardizes",
]

#: Maps of rows: two axes to look at, of distances that a column of large units would own.
MAPS = ("mds", "isomap", "lle", "laplacian", "diffusion", "mvu", "tsne")
#: Methods that take a tensor in a .npy file.
TENSORS = ("hosvd", "tucker", "tt", "cp")
#: Methods of two tables, the second of which --target names.
TWO_TABLES = ("pls", "pcr", "cca")
#: Which methods an option belongs to.
BELONGS = {
    "scale": (
        "pca",
        "mfa",
        "robust",
        "sparse",
        "factor",
        "ica",
        "autoencoder",
        *TWO_TABLES,
        *(name for name in MAPS if name in shorts()),
    ),
    "kernel": ("kpca",),
    "gamma": ("kpca",),
    "neighbours": tuple(name for name in ("isomap", "lle", "laplacian", "diffusion", "mvu") if name in shorts()),
    "groups": ("mfa",),
    "target": TWO_TABLES,
    "hidden": ("autoencoder",),
    "counts": ("ca",),
    "text": ("lsi",),
    "weighting": ("lsi",),
    "language": ("lsi",),
    "stem": ("lsi",),
    "plain": ("lsi",),
    "error": ("hosvd", "tucker", "tt"),
}
FILLS: dict[str, tuple[str, ...]] = {
    "pca": ("mean", "em", "regularized"),
    "mca": ("category", "exclude", "regularized"),
}
FILLS |= dict.fromkeys(("famd", "mfa"), ("regularized", "category", "exclude"))
MISSING = ("error", "drop", "mean", "em", "regularized", "category", "exclude")
GAMMAS = ("median", "scale", "entropy", "cv")


def standardizes(name: str) -> bool:
    """Whether a map divides columns by their deviations where that is asked for."""
    if name not in MAPS:
        return False
    cls = method_called(name)
    return "standardize" in cls._get_param_names()


def missing_ways(method: str) -> tuple[str, ...]:
    """What ``--missing`` may be."""
    return ("error",) if method == "lsi" else ("error", "drop", *FILLS.get(method, ()))


def check_method(method: dict[str, Any], *, said: bool = True) -> str:
    """The name of a method, or ``auto``; other words of its options that cannot be meant are refused.

    ``said``: the name is the user's own.
    """
    if method["name"] not in ("auto", *shorts()):
        load_plugins()
    name = parse_choice("--method", method["name"], ("auto", *shorts()))
    if name == "auto" and method["groups"]:
        name = "mfa"
    if name == "auto" and (method["kernel"] or method["gamma"]):
        name = "kpca"
    if name == "auto" and method["counts"]:
        name = "ca"
    if name == "auto" and any(method[option] is not None for option in ("text", "weighting", "language", "plain")):
        name = "lsi"
    if name == "auto" and method["target"]:
        name = "pls"
    if name in TWO_TABLES and not method["target"]:
        raise ParameterError(
            f"--method {name} needs a second table: columns that the others are to say something of", received="none",
            hint="name its columns: --target COL,COL; a range such as COL..COL will do",
        )  # fmt: skip
    if name == "mfa" and not method["groups"]:
        raise ParameterError(
            "--method mfa needs groups of columns",
            received="none",
            hint="name each: --groups NAME=COL,COL --groups NAME=COL,COL; a range such as COL..COL will do",
        )
    parse_choice("--missing", method["missing"], MISSING, "--missing mean fills gaps by the means of the columns")
    if name != "auto":
        _require_own(name, method, said and method["name"] == name)
    return name


def _listed(names: list[str]) -> str:
    """One, two and three in words: "pca, robust and maps of rows"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _require_own(name: str, method: dict[str, Any], said: bool) -> None:
    for option, methods in BELONGS.items():
        given = method[option]
        if given is not None and (
            name not in methods or (option == "scale" and name in MAPS and not standardizes(name))
        ):
            shown = f"--no-{option}" if given is False else f"--{option}"
            named = [one for one in methods if one not in MAPS] + ["maps of rows"] * (not set(methods).isdisjoint(MAPS))
            named = list(methods) if option == "neighbours" else named
            chosen = f"no --method, and a table or options for which {name} was chosen"
            other = f"--method {methods[0]}" if said else "one of these with --method"
            raise ParameterError(
                f"{shown} is for --method {_listed(named)}",
                received=f"--method {name}" if said else chosen,
                hint=f"leave out {shown}, or choose {other}",
            )
    ways = missing_ways(name)
    if method["missing"] not in ways:
        raise ParameterError(
            f"--missing with --method {name} must be one of {', '.join(ways)}" if len(ways) > 1
            else f"--method {name} takes no missing values",
            received=f"--missing {method['missing']}",
            hint=f"--missing {ways[1]}, for a table in memory" if len(ways) > 1
            else "fill the gaps first, or leave those rows out",
        )  # fmt: skip


def make_estimator(
    name: str, method: dict[str, Any], table: Table, k: Any, common: dict[str, Any], *, strings: bool = False,
    scale: bool = False, counts: str | None = None,
) -> Any:  # fmt: skip
    """The estimator for ``--method``; ``k`` is a value of ``n_components``."""
    if k is None and name in ("lle", "laplacian", "diffusion", "mvu", "tsne"):  # a map to look at
        k = 2
    _require_own(name, method, method["name"] == name)
    given: dict[str, Any] = dict(common)
    if name == "pca":
        given |= {"scale": scale, "missing": method["missing"]}
    elif name == "kpca":
        given |= kernel_of(method, strings=strings)
    elif name == "ca" and counts is not None:
        given |= _counted(table, counts)
    elif name == "autoencoder" and method["hidden"] is not None:
        given |= {"hidden": _widths(method["hidden"])}
    elif name in TWO_TABLES:
        given |= {"target": _numbers(expand("--target", method["target"], table), table)}
    elif name in ("mca", "famd", "mfa"):
        given |= {"missing": method["missing"]}
    if method["neighbours"] is not None:
        given |= {"n_neighbors": method["neighbours"]}
    if standardizes(name):  # "scale" is another thing to Laplacian eigenmaps
        given |= {"standardize": bool(method["scale"])}
    elif name == "mfa":
        given |= {"groups": groups_of(method["groups"], table), "scale": method["scale"] is not False}
    elif name != "pca" and method["scale"] is not None:
        given |= {"scale": bool(method["scale"])}
    cls = method_called(name)
    taken = cls._get_param_names()  # a method need not take every option that others share
    return cls(k, **{option: value for option, value in given.items() if option in taken})


def _widths(text: str) -> tuple[int, ...]:
    """``--hidden 32,16`` as widths of layers."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise ParameterError("--hidden names the widths of layers", received=repr(text), hint="--hidden 32,16")
    return tuple(map(int, parts))


def kernel_of(method: dict[str, Any], *, strings: bool) -> dict[str, Any]:
    """``kernel=``, ``gamma=`` and ``degree=``; without a word the Gaussian kernel, or Spectrum for strings."""
    text = (method["kernel"] or ("spectrum:3" if strings else "rbf")).strip().lower()
    word, _, numbers = text.partition(":")
    word = parse_choice("--kernel", word, (*KERNELS, *STRINGS))
    if strings != (word in STRINGS):
        raise ParameterError(
            f"--kernel {word} compares {'strings' if word in STRINGS else 'rows of numbers'}",
            received="strings" if strings else "columns of numbers",
            hint=f"--kernel {'spectrum:3' if strings else 'rbf'}",
        )
    if word in STRINGS:
        if method["gamma"] is not None:
            raise ParameterError(
                "--gamma belongs to kernels of numbers", received=f"--kernel {word}", hint="--kernel edit:0.1"
            )
        return {"kernel": _string_kernel(word, numbers, text)}
    gamma = method["gamma"] if method["gamma"] is not None or word not in ("rbf", "laplacian") else "median"
    return {"kernel": word, "gamma": _gamma(gamma), "degree": method["degree"]}


def _gamma(text: str | None) -> float | str | None:
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        return parse_choice("--gamma", text, GAMMAS)
    if not 0 < number < float("inf"):
        raise ParameterError("--gamma must be a positive number", received=text, hint="--gamma median")
    return number


def _string_kernel(word: str, numbers: str, text: str) -> Any:
    from ritz import kernels

    made = {
        "spectrum": (kernels.Spectrum, (int,), "spectrum:3"),
        "bounded": (kernels.BoundedSpectrum, (int,), "bounded:3"),
        "mismatch": (kernels.Mismatch, (int, int), "mismatch:4,1"),
        "subsequence": (kernels.Subsequence, (int, float), "subsequence:3,0.5"),
        "edit": (kernels.EditDistance, (float,), "edit:0.1"),
    }
    cls, kinds, example = made[word]
    given = (numbers or example.partition(":")[2]).split(",")
    try:
        return cls(*(kind(one) for kind, one in zip(kinds, given, strict=True)))
    except ValueError as error:
        if isinstance(error, ParameterError):
            raise
        raise ParameterError(
            f"--kernel {word} takes {'a number' if len(kinds) == 1 else 'two numbers'} after the colon",
            received=repr(text), hint=f"--kernel {example}",
        ) from error  # fmt: skip


def _counted(table: Table, counts: str) -> dict[str, str]:
    column = expand("--counts", [counts], table)[0]
    words = [name for name, kind in table.kinds.items() if kind in ("categorical", "text", "identifier")]
    if len(words) != 2:
        raise ParameterError(
            "--counts needs two columns of categories beside it",
            received=f"{len(words)}: {', '.join(words) or 'none'}", hint="name the two: --columns hair,eye,n",
        )  # fmt: skip
    return {"rows": words[0], "columns": words[1], "counts": column}


def groups_of(texts: Sequence[str], table: Table) -> dict[str, list[str]]:
    """Groups of columns: ``taste=acid,sweet`` and its like as a dict."""
    groups: dict[str, list[str]] = {}
    for text in (piece for one in texts for piece in one.split(";")):
        name, equals, columns = text.partition("=")
        if not equals or not name.strip() or not columns.strip():
            raise ParameterError(
                "--groups names a group and its columns", received=repr(text), hint="--groups NAME=COL,COL"
            )
        groups.setdefault(name.strip(), []).extend(expand(f"--groups {name.strip()}", [columns.strip()], table))
    return groups


def _numbers(target: list[str], table: Any) -> list[str]:
    """The columns of --target; the second table takes numbers, and there are other ways for categories."""
    for name in target:
        kind = table.kinds.get(name)
        if kind in ("categorical", "text", "identifier"):
            raise ParameterError(
                "--target takes columns of numbers",
                received=f"{name!r}, which holds {'categories' if kind == 'categorical' else 'text'}",
                hint=f"--method famd lets categories take part, --supplementary {shlex.quote(name)} shows them beside "
                "the axes; to predict groups, give a column of 0 and 1 for each of them",
            )
    return target
