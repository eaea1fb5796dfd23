"""``python -m ritz``: the program without its script."""

from __future__ import annotations

from ritz.cli.main import main

if __name__ == "__main__":
    main()
