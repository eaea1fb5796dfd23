"""The bench of drift tells more of the same from something else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def test_groups_without_a_common_word_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from bench.drift import fired

    rng, said = np.random.default_rng(0), []
    words = {name: [f"{name}{chr(97 + i)}{chr(97 + j)}" for i in range(8) for j in range(8)] for name in "qz"}
    groups = {name: [" ".join(rng.choice(some, 20)) for _ in range(120)] for name, some in words.items()}
    out = fired(groups, 80, 40, 5, said.append)
    assert out.tolist() == [[False, True], [True, False]]
    assert [line.split()[:2] for line in said] == [["q", "silent"], ["z", "silent"]]
