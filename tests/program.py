"""The program in a process of its own, without waiting for Python and its libraries every time.

A parent process imports what every command imports, then forks for each command: the child has arguments, folder,
environment and streams of its own, and can be killed or fail like a program from a shell. Nothing but imports has run
in the parent. A child sees pages of libraries anew when it touches them, so that tests which measure memory either do
the same once before they begin, or begin a fresh interpreter, as tests of the start itself do.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

__all__ = ["heed_ctrl_c", "on_terminal", "python", "ritz"]

PRELOADED = (
    "numpy", "scipy.linalg", "scipy.sparse.linalg", "scipy.stats", "sklearn.base", "sklearn.utils.validation",
    "rich.console", "rich.progress", "ritz.cli.main", "ritz.methods.pca", "ritz.persist.model", "ritz.cli.fitting.job",
    "ritz.report.page", "ritz.report.context", "ritz.report.parts", "pyarrow.csv", "pyarrow.parquet", "narwhals",
)  # fmt: skip
_parents: dict[int, subprocess.Popen[str]] = {}


PROGRAM = "from ritz.cli.main import main; main()"


def heed_ctrl_c() -> None:
    """For ``preexec_fn``: Ctrl-C ends the program, also where the tests run in the background and ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def ritz(*arguments: object, cwd: Path, **options: Any) -> Any:
    """Run ``ritz ARGUMENTS`` and return what ``subprocess.run`` would; options of :func:`python`."""
    return python(PROGRAM, *arguments, cwd=cwd, **options)


def on_terminal(*arguments: object, cwd: Path, env: dict[str, str]) -> tuple[int, str]:
    """The exit status of ``ritz ARGUMENTS``, and what it writes to a terminal."""
    import pty

    ours, theirs = pty.openpty()
    parts: list[bytes] = []

    def read() -> None:
        try:
            while part := os.read(ours, 65536):
                parts.append(part)
        except OSError:  # the way Linux says that the other side is closed
            pass

    reader = threading.Thread(target=read)
    reader.start()
    done = python(PROGRAM, *arguments, cwd=cwd, env=env, terminal=os.ttyname(theirs))
    os.close(theirs)
    reader.join()
    os.close(ours)
    return done.returncode, b"".join(parts).decode()


def python(
    code: str, *arguments: object, cwd: Path, env: dict[str, str] | None = None, merged: bool = False,
    given: str = "", terminal: str = "",
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """Run ``python -c CODE ARGUMENTS`` where the libraries of the program are loaded already.

    ``merged`` puts its talk among its data, ``given`` is what it reads, ``terminal`` a device for all three streams.
    """
    words = [str(a) for a in arguments]
    if not hasattr(os, "fork"):
        err = subprocess.STDOUT if merged else subprocess.PIPE
        command = [sys.executable, "-c", code, *words]
        return subprocess.run(
            command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=err, encoding="utf-8", input=given
        )
    parent = _parent()
    with tempfile.TemporaryDirectory() as folder:
        out, err_ = Path(folder) / "out", Path(folder) / ("out" if merged else "err")
        (Path(folder) / "in").write_text(given, "utf-8")
        asked = {
            "in": terminal or str(Path(folder) / "in"), "terminal": terminal,
            "code": code, "arguments": words, "cwd": str(cwd), "env": dict(os.environ if env is None else env),
            "out": terminal or str(out), "err": terminal or str(err_),
        }  # fmt: skip
        assert parent.stdin is not None
        assert parent.stdout is not None
        parent.stdin.write(json.dumps(asked) + "\n")
        parent.stdin.flush()
        answer = parent.stdout.readline()
        assert answer, "the parent of the program has ended"
        said = ["" if terminal else file.read_text("utf-8") for file in (out, err_)]
        return subprocess.CompletedProcess(words, int(answer), said[0], "" if merged else said[1])


def _parent() -> subprocess.Popen[str]:
    if os.getpid() not in _parents:
        command = [sys.executable, str(Path(__file__).resolve())]
        made = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=heed_ctrl_c
        )
        _parents[os.getpid()] = made
        atexit.register(_end, made)
    return _parents[os.getpid()]


def _end(parent: subprocess.Popen[str]) -> None:
    parent.communicate()  # the end of its input is the end of its work


def _serve() -> None:
    """The parent: a line of JSON asks for a command, its exit status is the answer."""
    for module in PRELOADED:
        __import__(module)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _run(json.loads(line))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        answers.write(f"{status}\n")
        answers.flush()


def _run(asked: dict[str, Any]) -> None:
    """The child: it becomes the program."""
    status: Any = 1
    try:
        os.chdir(asked["cwd"])
        os.environ.clear()
        os.environ.update(asked["env"])
        if asked["terminal"]:
            os.setsid()  # what is opened next becomes its terminal
        streams = [os.open(asked["in"], os.O_RDONLY)]
        streams += [os.open(asked[name], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600) for name in ("out", "err")]
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        sys.stdin, sys.stdout, sys.stderr = (
            os.fdopen(number, mode, encoding="utf-8", closefd=False) for number, mode in enumerate("rww")
        )
        sys.argv = ["ritz", *asked["arguments"]]
        exec(asked["code"], {"__name__": "__main__"})
        status = 0
    except SystemExit as exit_:
        status = 0 if exit_.code is None else exit_.code
        if isinstance(status, str):
            print(status, file=sys.stderr)
            status = 1
    except BaseException:  # noqa: BLE001 - shown as Python shows it
        import traceback

        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    sys.path.pop(0)  # the folder of this file: its modules are not the program's
    _serve()
