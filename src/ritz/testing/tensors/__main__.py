"""``python -m ritz.testing.tensors``: 500 tensors, and no certificate that is false."""

from __future__ import annotations

import sys

from ritz.testing.tensors.run import main

if __name__ == "__main__":
    sys.exit(main())
