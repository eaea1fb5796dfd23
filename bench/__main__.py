"""``python -m bench [--quick] [--hard] [--only NAME]``: every case beside scikit-learn.

Cases run one at a time, each step in a process of its own, so that no case finds the memory of another.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.cases import Case, cases
from bench.report import case_lines, summary

__all__ = ["compare", "main"]

ROOT = Path(__file__).resolve().parent.parent


def compare(
    case: Case, folder: Path, *, with_memory: bool = True, repeat: int = 3, patience: float = 0.0
) -> dict[str, Any]:
    """Everything about one case."""
    path = folder / "table.npy"
    try:
        made = _step("data", path, case, repeat, patience)
        memory = (
            {name: _step(f"memory-{name}", path, case, repeat, patience) for name in ("ritz", "sklearn")}
            if with_memory
            else {}
        )
        speed = _step("speed", path, case, repeat, patience)
    finally:
        path.unlink(missing_ok=True)
    return {
        "name": case.name,
        "case": case.to_dict(),
        "density": made["density"],
        "speed": speed,
        "memory": memory,
    }


def _step(step: str, path: Path, case: Case, repeat: int, patience: float) -> dict[str, Any]:
    command = [
        sys.executable,
        "-m",
        "bench.worker",
        step,
        str(path),
        json.dumps(case.to_dict()),
        str(repeat),
        str(patience),
    ]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _machine() -> dict[str, Any]:
    import numpy as np
    import scipy
    import sklearn
    from threadpoolctl import threadpool_info

    blas = sorted({f"{one.get('internal_api')} {one.get('version')}" for one in threadpool_info()})
    return {
        "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "blas": blas,
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the cases asked for; the exit status is 0 when all of them ran."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Ritz beside scikit-learn.")
    parser.add_argument("--quick", action="store_true", help="small shapes: seconds instead of minutes")
    parser.add_argument("--hard", action="store_true", help="also data without any gap")
    parser.add_argument("--only", metavar="NAME", action="append", help="cases whose name contains NAME")
    parser.add_argument("--no-memory", action="store_true", help="leave memory out")
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    parser.add_argument("--results", type=Path, default=ROOT / "bench" / "results", help="folder of the JSON file")
    parser.add_argument("--threads", type=int, help="threads of both libraries; all cores if not given")
    parser.add_argument("--repeat", type=int, default=3, help="fits of each library, at least")
    parser.add_argument("--patience", type=float, default=0, help="seconds to wait for a quiet machine, a fit")
    chosen = parser.parse_args(arguments)
    if chosen.threads:
        os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(chosen.threads)))
    wanted = [one for one in cases(hard=True) if chosen.hard or chosen.only or not one.hard]
    wanted = [one for one in wanted if not chosen.only or any(name in one.name for name in chosen.only)]
    if chosen.list or not wanted:
        print("\n".join(one.name for one in wanted) or "no case has such a name; --list names them")
        return 0 if wanted else 2
    machine = _machine()
    print("  ".join(f"{name} {value}" for name, value in machine.items()), flush=True)
    results = []
    with tempfile.TemporaryDirectory(prefix="ritz-bench-") as folder:
        for case in wanted:
            asked = case.small() if chosen.quick else case
            result = compare(
                asked, Path(folder), with_memory=not chosen.no_memory, repeat=chosen.repeat, patience=chosen.patience
            )
            results.append(result)
            print(f"\n{case_lines(result)}", flush=True)
    print(f"\n{summary(results)}")
    chosen.results.mkdir(parents=True, exist_ok=True)
    when = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    path = chosen.results / f"{when}{'-quick' if chosen.quick else ''}.json"
    path.write_text(
        json.dumps({"when": when, "machine": machine, "threads": chosen.threads, "results": results}, indent=1)
    )
    print(f"written: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
