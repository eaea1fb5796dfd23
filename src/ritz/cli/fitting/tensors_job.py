"""The work behind ``ritz fit`` of a tensor in a .npy file: map → fit → describe → write, as for tables.

scores    slice of the first mode, T1, T2, …              parts.npz    core and factors, the cores of a train, or terms
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from ritz import __version__
from ritz._core.errors import FileError, ParameterError
from ritz.cli.fitting.columns import SPELLED
from ritz.cli.results.files import untimed
from ritz.cli.results.output import Place, check_folder, write_results
from ritz.cli.results.summary import certificate_sentences, components_of, plan_facts
from ritz.data.formats.stamp import Stamp
from ritz.data.tables.identifiers import identifiers_of
from ritz.data.tables.write import rows_to
from ritz.data.words import counted
from ritz.methods import method_called
from ritz.methods.fitted import fitted_of
from ritz.methods.tensors.source import tensor_of
from ritz.persist.model import pack

__all__ = ["run_tensor"]

#: Relative error that is left where nothing is asked for.
ERROR = 0.01
#: Entries of a tensor that a report shows as rows.
SHOWN = 20_000_000


def run_tensor(job: Any, folder: Path, name: str) -> dict[str, Any]:
    """Do the work; what the summary says."""
    before = check_folder(folder, job.force, [job.path])
    _refuse(job)
    X = tensor_of(job.path, name)
    stamp = Stamp([job.path])
    model = _estimator(job, name).fit(X)
    facts = _describe(job, name, model)
    files = _contents(job, X, model)
    place = Place(folder, [job.path])
    paths, removed = write_results(folder, files, facts, place=place, check=stamp.check)
    done = {"replaced": before if before != facts["source"] else None, "written": [path.name for path in paths]}
    return {**facts, **done, "removed": removed, "seconds": model.plan_.actual_seconds}


def _refuse(job: Any) -> None:
    if job.path.suffix.lower() != ".npy":
        raise FileError("a tensor comes in a .npy file", received=job.path.name, hint="np.save('tensor.npy', X)")
    given = [name for name, value in job.parts.items() if value]
    given += [name for name, value in job.how.items() if value not in (None, [], False)]
    if given:
        option = SPELLED.get(given[0], f"--{given[0].replace('_', '-')}")
        raise ParameterError("a tensor has no columns, and its file is read as it is", received=option,
                             hint=f"leave out {option}")  # fmt: skip
    if job.engine is not None:
        raise ParameterError("tensors are taken apart on this machine", received=f"--engine {job.engine}",
                             hint="leave out --engine")  # fmt: skip


def _estimator(job: Any, name: str) -> Any:
    error, k = job.method["error"], job.k or None
    if error is None and job.k == 0:
        error = None if name == "cp" else ERROR
        k = 2 if name == "cp" else None
    if isinstance(k, str):
        raise ParameterError("-k of a tensor is a rank, one rank a mode, or a share", received=k, hint="-k 2")
    cls = method_called(name)
    given = {**job.options, "memory": job.memory, "error": error}
    if name in ("tucker", "cp") and job.options["tol"] == 1e-6:
        given.pop("tol")  # their own is that of a stationary point
    taken = cls._get_param_names()
    return cls(k, **{option: value for option, value in given.items() if option in taken})


def _saved(fold: float) -> str:
    if fold < 1:
        return f"{1 / fold:.4g} times the numbers of the tensor, so nothing is saved; smaller ranks (-k) would"
    return f"compressed {fold:.4g}-fold"


def _describe(job: Any, name: str, model: Any) -> dict[str, Any]:
    ranks = " × ".join(map(str, model.ranks_))
    sizes = " × ".join(f"{n:,}" for n in model.shape_)
    asked = {None: "all", 0: "default"}.get(job.k, job.k) if not isinstance(job.k, tuple) else list(job.k)
    what = "rank" if len(model.ranks_) == 1 else "ranks"
    why = f"{what} {ranks}: relative error {model.relative_error_:.3g}, {_saved(model.compression_)}"
    return {
        "ritz": __version__,
        "source": str(job.path),
        "rows": int(model.n_samples_),
        "shape": list(model.shape_),
        "ranks": list(model.ranks_),
        "relative_error": float(model.relative_error_),
        "compression": float(model.compression_),
        "table_columns": int(model.n_features_in_),
        "columns": [],
        "method": name,
        "method_reason": f"as asked, of a tensor of {sizes}",
        "identifiers": [],
        "weights": None,
        "supplementary": [],
        "set_aside": [],
        "notes": [f"{counted(len(model.shape_), 'mode')}; rows are the slices of the first"],
        "choice": {"asked": asked, "rule": None, "why": why},
        **components_of(model),
        "possible_components": fitted_of(model).possible(model.n_samples_, model.n_features_in_),
        "certificate": certificate_sentences(model),
        "plan": plan_facts(model.plan_),
        "reading": {},
    }


def _contents(job: Any, X: Any, model: Any) -> dict[str, Any]:
    ending = job.scores or "csv"
    files: dict[str, Any] = {"model.ritz": lambda sink: pack(untimed(model, job.memory), sink)}
    if ending != "none":
        files[f"scores.{ending}"] = lambda sink: _scores(sink, ending, model)
    files["parts.npz"] = lambda sink: sink.write(_parts(model))
    if job.report:
        files["report.html"] = lambda sink: sink.write(_page(job, X, model))
    return files


def _scores(sink: Any, ending: str, model: Any) -> None:
    E, heads = model.embedding_, fitted_of(model).axis_names()
    with rows_to(sink, f".{ending}", heads, E.dtype, len(E)) as write:
        write(E, identifiers_of(None).take(len(E)))


def _parts(model: Any) -> bytes:
    """The parts for other programs; equal runs write equal bytes."""
    out = io.BytesIO()
    named: dict[str, Any] = {}
    for name in ("core_", "weights_"):
        if hasattr(model, name):
            named[name.rstrip("_")] = getattr(model, name)
    for name in ("factors_", "cores_"):
        for mode, part in enumerate(getattr(model, name, ()), 1):
            named[f"{name[:-2]}{mode}"] = part
    np.savez(out, **named)
    return out.getvalue()


def _page(job: Any, X: Any, model: Any) -> bytes:
    from ritz.report import render
    from ritz.report.origin import Loaded, NamedArray

    shown = None
    if X.size <= SHOWN:
        shown = np.asarray(X).view(NamedArray)
        shown.origin = Loaded(str(job.path))
    text = render(untimed(model, job.memory), shown, title=job.path.name, command=job.command,
                  seed=job.options["random_state"])  # fmt: skip
    return text.encode("utf-8", "replace")
