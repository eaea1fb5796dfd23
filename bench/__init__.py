"""Speed, accuracy and memory of Ritz beside scikit-learn: ``python -m bench``."""

from __future__ import annotations
