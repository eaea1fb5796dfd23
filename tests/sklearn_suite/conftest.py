"""A line at the end that says how many of scikit-learn's own tests pass."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count passes and listed exceptions; tests that scikit-learn itself skips here are left out."""
    count = {}
    for outcome in ("passed", "xfailed", "failed"):
        reports = terminalreporter.getreports(outcome)
        count[outcome] = sum("test_scikit_learn.py::Test" in report.nodeid for report in reports)
    total = sum(count.values())
    if total:
        terminalreporter.write_line(
            f"scikit-learn's own tests: {count['passed']} of {total} pass ({count['passed'] / total:.1%}), "
            f"{count['xfailed']} exceptions are listed in docs/sklearn-tests.md, {count['failed']} fail"
        )
