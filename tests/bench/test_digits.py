"""The tables of digits run: few images through every step, and what is printed is what was counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(autouse=True)
def bench_is_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.mark.shared
def test_few_images_give_a_table_of_plausible_errors(capsys):
    from bench.digits import PAPER, QUICK, main

    assert main(["--quick"]) == 0
    lines = capsys.readouterr().out.splitlines()
    head = next(i for i, line in enumerate(lines) if line.split()[:2] == ["degree", "k"])
    rows = [line.split() for line in lines[head + 1 :] if line[:6].strip().isdigit()]
    assert [(int(r[0]), int(r[1])) for r in rows] == [(p, k) for p in QUICK.degrees for k in PAPER[p] if k <= 128]
    for r in rows:
        paper, ours, difference = float(r[2]), float(r[3]), float(r[5])
        assert paper == PAPER[int(r[0])][int(r[1])]
        assert abs(ours - paper - difference) < 0.011
        assert 4 < ours < 20  # a tenth would be right by guessing; the paper, with all images, has at most 9.6
        assert float(r[6]) in QUICK.penalties
        assert (r[7] == "pass") == (abs(difference) <= 0.7)
    errors = {(int(r[0]), int(r[1])): float(r[3]) for r in rows}
    assert errors[2, 128] < errors[1, 128]  # what the paper shows: products of pixels help
    assert errors[2, 128] < errors[2, 32]


def test_a_cell_and_the_table_say_what_was_missed():
    from bench.digits import Cell, table

    near, far = Cell(2, 512, 4.9, (4.4, 5.0), 10.0), Cell(3, 512, 4.6, (5.4, 5.5), 10.0)
    assert "4.70" in str(near)
    assert "-0.20" in str(near)
    assert str(near).endswith("pass")
    assert str(far).endswith("MISS")
    said = table([near, far])
    assert "1 of 2 cells" in said
    assert "best 4.70 % (degree 2, k = 512)" in said
    assert said.endswith("pass")
    assert table([far]).endswith("MISS")


def test_c_is_chosen_on_held_out_training_images_only(monkeypatch):
    from bench import digits

    a, b = digits.held_out(100, 3)
    assert len(b) == 20
    np.testing.assert_array_equal(np.sort(np.concatenate([a, b])), np.arange(100))
    assert not np.array_equal(b, digits.held_out(100, 4)[1])
    asked = []

    def mistakes(train, known, new, truth, penalty):
        asked.append((train.ravel(), new.ravel()))
        np.testing.assert_array_equal(known, train.ravel())
        np.testing.assert_array_equal(truth, new.ravel())
        return {1.0: 3.0, 10.0: 1.0, 100.0: 1.0}[penalty]

    monkeypatch.setattr(digits, "mistakes", mistakes)
    rows = np.arange(100.0)
    test = np.full((5, 1), np.nan)
    assert digits.choose([(rows[:, None], test)] * 2, rows, 1, (1.0, 10.0, 100.0)) == 10.0  # the smaller of equals
    assert len(asked) == 6
    for subset, (learned, judged) in zip((0, 1) * 3, asked, strict=True):
        for got, expected in zip((learned, judged), digits.held_out(100, subset), strict=True):
            np.testing.assert_array_equal(got, expected)


def test_smoothing_is_a_gaussian_of_three_quarters_of_a_pixel():
    from bench.digits import Images

    point = np.zeros((1, 256))
    point[0, 8 * 16 + 8] = 1.0
    got = Images(point, np.zeros(1), point, np.zeros(1)).smoothed().train.reshape(16, 16)
    offset = np.arange(-3, 4)
    one = np.exp(-(offset**2) / (2 * 0.75**2))
    one /= one.sum()
    np.testing.assert_allclose(got[5:12, 5:12], np.outer(one, one), atol=1e-12)


@pytest.mark.parametrize("module", ["digits", "lecture", "novelty"])
def test_without_the_data_the_program_says_so(module, monkeypatch, tmp_path, capsys):
    import importlib

    from bench import digits

    program = importlib.import_module(f"bench.{module}")
    for place in (digits, program):
        monkeypatch.setattr(place, "SHARED", tmp_path, raising=False)
    assert program.main([]) == 0
    assert capsys.readouterr().out.startswith("skipped: the folder of reference data is not")


@pytest.mark.shared
def test_the_lecture_table_has_its_rows_and_chooses_inside_the_training_images(monkeypatch, capsys):
    from bench import lecture

    monkeypatch.setattr(lecture, "QUICK", lecture.Sizes(training=400, components=64, penalties=(1.0, 10.0)))
    assert lecture.main(["--quick"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for row in lecture.ROWS:
        numbers = next(line for line in lines if line.startswith(row.name))[12:].split()
        told, at, first, k, second, training = (float(numbers[i]) for i in (0, 1, 3, 4, 6, 7))
        assert told == row.test
        assert at == (256 if row.kernel is None else 64)
        assert k <= at
        assert 75 < min(first, second) <= max(first, second) < 97
        assert training > second
        assert numbers[-1] == ("pass" if min(first, second) >= float(numbers[8]) else "MISS")
    assert [row.test for row in lecture.ROWS] == [90.98, 90.23, 94.42, 93.92, 88.14]


@pytest.mark.shared
def test_held_out_images_are_not_among_those_of_the_fit(monkeypatch):
    from bench import lecture
    from bench.digits import usps

    seen = []
    original = lecture.features
    monkeypatch.setattr(lecture, "features", lambda row, X, k: (seen.append(X), original(row, X, k))[1])
    images = usps().shortened(300)
    lecture.measure(lecture.ROWS[1], images, lecture.Sizes(training=300, components=32, penalties=(1.0,)))
    assert [len(X) for X in seen] == [240, 300]
    test = {row.tobytes() for row in images.test}
    assert not any(row.tobytes() in test for X in seen for row in X)
