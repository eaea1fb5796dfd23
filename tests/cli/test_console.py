"""Errors are sentences with an exit code; a traceback only for who asks."""

from __future__ import annotations

import pytest
import typer

from ritz._core.errors import Cancelled, FileError, InputError, MergeError, NonFiniteError, ParameterError
from ritz.cli.fitting.components import parse_components
from ritz.cli.terminal.console import Program, stopping


@pytest.fixture(autouse=True)
def _nothing_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that ran in this process before may have been asked for JSON."""
    monkeypatch.setattr(Program, "typed", [])


CODES = [
    (InputError("numbers", received="text", hint="convert"), 3),
    (NonFiniteError("finite"), 3),
    (MergeError("same columns"), 3),
    (ParameterError("k in [1, 5]", received="9"), 2),
    (FileError("a file"), 4),
    (PermissionError(13, "Permission denied", "x.csv"), 4),
    (MemoryError(), 3),
    (Cancelled("stopped"), 130),
    (KeyboardInterrupt(), 130),
    (ZeroDivisionError("oops"), 1),
]


@pytest.mark.parametrize(("error", "code"), CODES, ids=[type(e).__name__ for e, _ in CODES])
@pytest.mark.parametrize("debug", [False, True])
def test_exit_codes_and_tracebacks(error, code, debug, capsys):
    with pytest.raises(typer.Exit) as caught, stopping(debug):
        raise error
    assert caught.value.exit_code == code
    out, err = capsys.readouterr()
    assert out == ""
    assert ("Traceback" in err) is debug
    assert ("cancelled:" if code == 130 else "error:") in err


def test_three_parts_on_two_lines(capsys):
    with pytest.raises(typer.Exit), stopping(False):
        raise InputError("numbers in [red]", received="text", hint="convert it")
    assert capsys.readouterr().err == "error: numbers in [red]; received text\nhint: convert it\n"


def test_a_broken_pipe_is_no_error_of_ours(monkeypatch):
    monkeypatch.setattr("os.dup2", lambda *_: None)  # stdout stays that of the tests
    with pytest.raises(typer.Exit) as stop, stopping(False):
        raise BrokenPipeError
    assert stop.value.exit_code == 0


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("0.9", 0.9),
        ("90%", 0.9),
        ("all", None),
        ("ALL", None),
        ("Kaiser", "kaiser"),
        ("mle", "mle"),
        ("parallel", "parallel"),
        ("consensus", "consensus"),
    ],
)
def test_components(text, value):
    assert parse_components(text) == value
    assert type(parse_components(text)) is type(value)


@pytest.mark.parametrize("text", ["0", "-3", "1.5", "1.0", "0%", "150%", "nan", "inf"])
def test_components_refused(text):
    with pytest.raises(ParameterError, match=r"(?s)expected a count .*received.*hint: (write|-k|a share)"):
        parse_components(text)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("0,9", "hint: write 0.9$"),
        ("90,5%", "hint: write 90.5%$"),
        ("kaisar", "hint: did you mean kaiser"),
        ("nonsense", "hint: these rules work: "),
        ("paralel", "hint: did you mean parallel"),
        ("1.0", "hint: -k all"),
        ("2.0", "hint: write -k 2 for so many components$"),
        ("3,4", "hint: one rank a mode is for tensors: --method hosvd, tucker, tt$"),
        ("90.0", "hint: write 0.9 or 90%$"),
    ],
)
def test_components_hints(text, hint):
    with pytest.raises(ParameterError, match=hint):
        parse_components(text)
