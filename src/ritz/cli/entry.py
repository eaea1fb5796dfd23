"""Where the program begins: signals first, then what takes a while to import.

Ctrl-C and SIGTERM end the program with a sentence and its exit code from the first moment on, also while the libraries
of the command line are still being loaded.
"""

from __future__ import annotations

import sys

from ritz.cli.terminal.lean import load_less
from ritz.cli.terminal.signals import end_cleanly

__all__ = ["main"]

CANCELLED = 130


def main() -> None:
    """Run the program on the arguments of the process."""
    try:
        end_cleanly()
        load_less()
        from ritz.cli.main import main as run

        run()
    except KeyboardInterrupt as error:  # before the program itself could take care of it
        sys.stderr.write(f"cancelled: {str(error) or 'stopped by the keyboard'}\n")
        sys.exit(getattr(error, "status", CANCELLED))
