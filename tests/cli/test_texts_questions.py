"""Commands of other models on a model of texts: each works, or refuses with one sentence that says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

TEXTS = [
    "red wine from the vineyard", "white wine from a vineyard", "thin wings in flutter", "wings of a plane in flutter",
    "a plane and some wine",
]  # fmt: skip


@pytest.fixture
def fitted(run):
    """A model in the folder ``a`` of the texts in ``docs``."""
    Path("docs").mkdir()
    for i, text in enumerate(TEXTS):
        Path(f"docs/{i}.txt").write_text(text)
    run("fit docs --method lsi --plain -k 2 -o a --quiet")
    return run


def test_inverse_writes_weights_of_words(fitted) -> None:
    assert "5 rows" in fitted("inverse a a/scores.csv -o words.csv").output
    head, *lines = Path("words.csv").read_text().splitlines()
    assert "vineyard" in head
    assert len(lines) == 5


def test_verify_and_compare(fitted) -> None:
    assert "verification: passed" in fitted("verify a docs").output
    assert "subspaces are the same" in fitted("compare a a").output
    Path("docs/0.txt").write_text("wings wings wings")
    assert "passed" not in fitted("verify a docs", code=5).output


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("export a -o m.onnx", 2, "LSI has no formula that could be exported"),
        ("export a --to sql -o m.sql", 2, "LSI has no formula that could be exported"),
        ("merge a a -o m.ritz", 3, "model.update(texts) adds the documents"),
        ("inverse a docs/0.txt", 4, "expected a table"),
    ],
)
def test_what_has_no_answer_is_refused(fitted, line: str, code: int, said: str) -> None:
    done = fitted(line, code=code)
    assert said in done.output
    assert "Traceback" not in done.output
    assert not Path("m.onnx").exists()
    assert not Path("m.ritz").exists()
