"""``python -m ritz.testing.mutate``."""

from __future__ import annotations

import sys

from ritz.testing.mutate.run import main

if __name__ == "__main__":
    sys.exit(main())
