"""The device on which the fits of ``certify`` run: told to worker processes by the environment."""

from __future__ import annotations

import os
from typing import Any

__all__ = ["choose_device", "on_device"]

NAME = "RITZ_CERTIFY_DEVICE"


def choose_device(device: str) -> None:
    """All fits that follow, here and in processes that begin later, run there."""
    os.environ[NAME] = device


def on_device(model: Any) -> Any:
    """An estimator whose fits run on the device that was chosen."""
    device = os.environ.get(NAME, "cpu")
    return model if device == "cpu" else model.set_params(device=device)
