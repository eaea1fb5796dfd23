"""``python -m ritz.testing.faults``."""

from __future__ import annotations

import sys

from ritz.testing.faults.run import main

if __name__ == "__main__":
    sys.exit(main())
