"""``python -m ritz.testing.certify``."""

from __future__ import annotations

import sys

from ritz.testing.certify.run import main

if __name__ == "__main__":
    sys.exit(main())
