"""``python -m ritz``: the program without its script."""

from __future__ import annotations

from ritz.cli.entry import main

if __name__ == "__main__":
    main()
