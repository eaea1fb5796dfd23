"""Every fault in turn, in a process of its own: a fault may hang or crash, and is then a finding itself."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from ritz.testing.faults._patience import run

__all__ = ["faults", "main", "run_fault"]

#: Seconds after which a fault hangs on a quiet machine, where the slowest takes well under a minute.
PATIENCE = 600


def faults() -> list[str]:
    """Names of the faults, in order: the modules that have a ``check``."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))
    return [name for name in names if name != "run" and not name.endswith("_program")]


def run_fault(name: str, folder: Path) -> list[str]:
    """The findings of one fault."""
    findings: list[str] = import_module(f"ritz.testing.faults.{name}").check(folder)
    return findings


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the faults asked for, print a line each, return 1 if any was not held against."""
    parser = argparse.ArgumentParser(prog="python -m ritz.testing.faults", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(faults())}; all if absent")
    parser.add_argument("--here", action="store_true", help="in this process, for a debugger")
    options = parser.parse_args(arguments)
    unknown = set(options.names) - set(faults())
    if unknown:
        parser.error(f"no fault is called {', '.join(sorted(unknown))}; there are {', '.join(faults())}")
    failed = 0
    for name in options.names or faults():
        begin = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix=f"ritz-{name}-") as folder:
            findings = run_fault(name, Path(folder)) if options.here else _apart(name, folder)
        failed += bool(findings)
        print(f"{name:<24}{'held' if not findings else 'FAILED':<8}{time.perf_counter() - begin:>6.1f} s", flush=True)
        for finding in findings:
            print(f"    {finding}")
    print(f"{failed} of {len(options.names or faults())} faults not held against")
    return int(failed > 0)


def _apart(name: str, folder: str) -> list[str]:
    """The findings of one fault in a process of its own."""
    program = (
        "import sys; from pathlib import Path; from ritz.testing.faults.run import run_fault\n"
        "print('\\n'.join('finding: ' + f for f in run_fault(sys.argv[1], Path(sys.argv[2]))))"
    )
    try:
        done = run([sys.executable, "-c", program, name, folder], PATIENCE)
    except subprocess.TimeoutExpired as late:
        return [f"the program had not ended after {late.timeout:.0f} s"]
    if done.returncode:
        return [f"the program ended with status {done.returncode}: {done.stderr.strip()[-500:]}"]
    return [line.removeprefix("finding: ") for line in done.stdout.splitlines() if line.startswith("finding: ")]
