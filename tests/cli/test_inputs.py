"""What stands for TABLE: several files, patterns, standard input, pictures; and refusals that name the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ritz
from tests import program

WINE = Path(ritz.__file__).parent / "data" / "samples" / "wine.csv"


def halves():
    first, *rows = WINE.read_text().splitlines()
    Path("a.csv").write_text("\n".join([first, *rows[:90]]) + "\n")
    names = first.split(",")
    turned = [",".join(reversed(line.split(","))) for line in rows[90:]]
    Path("b.csv").write_text("\n".join([",".join(reversed(names)), *turned]) + "\n")


def test_several_files_are_one_table(run):
    halves()
    Path("all.csv").write_text(WINE.read_text())
    run("fit all.csv -k 2 --no-report -q")
    run("fit a.csv b.csv -k 2 --no-report -q -o two")
    run("fit [ab].csv -k 2 --no-report -q -o pattern")
    whole = Path("all_ritz/scores.csv").read_text()
    assert Path("two/scores.csv").read_text() == Path("pattern/scores.csv").read_text() == whole
    assert "passed" in run("verify two a.csv b.csv").stdout
    assert run("transform two a.csv b.csv").stdout == run("transform two all.csv").stdout
    assert Path("a.csv").exists()
    assert run("fit a.csv b.csv -k 2 -o named").stderr.startswith("a.csv and 1 more: 178 rows")
    assert "<h1><bdi>a.csv and 1 more</bdi></h1>" in Path("named/report.html").read_text(encoding="utf-8")


def test_files_that_do_not_go_together_are_named(run):
    halves()
    Path("c.csv").write_text("alcohol,hue\n1,2\n3,4\n")
    assert "expected the columns of a.csv in c.csv, as both are read as one table" in run("fit a.csv c.csv", 3).stderr
    Path("d.csv").write_text("x,y\n1,2\n3,4\n5,7\n")
    Path("e.csv").write_text("x,y\nred,2\nblue,4\nred,7\n")
    assert (
        "one kind in column 'x' of all files; received int64 in d.csv, string in e.csv"
        in run("fit d.csv e.csv", 3).stderr
    )
    rows = "".join(f"{i},{i + 1}\n" for i in range(20))
    Path("f.csv").write_text(f"x,y\n{rows}7x,3\n")
    assert "'7x' in line 22" in run("fit d.csv f.csv", 3).stderr
    assert "no file matches zz*.csv" in run("fit zz*.csv", 4).stderr


def test_a_second_file_is_read_as_the_first_was(run):
    Path("long.csv").write_text("rent;size\n532;40\n1.601;80\n780;51\n2.010;118\n")
    Path("short.csv").write_text("rent;size\n1.250;75\n1.300;80\n")
    run("fit long.csv short.csv --no-report -q -o both")
    means = {
        line.split(",")[0]: float(line.split(",")[1])
        for line in Path("both/components.csv").read_text().splitlines()[1:]
    }
    assert means['"rent"'] == pytest.approx(np.mean([532, 1601, 780, 2010, 1250, 1300]))


def test_standard_input_is_a_table(tmp_path):
    given = WINE.read_text(encoding="utf-8")
    assert program.ritz("fit", "-", "-k", "2", "--no-report", "-q", cwd=tmp_path, given=given).returncode == 0
    assert (tmp_path / "stdin_ritz" / "scores.csv").exists()


def test_rows_that_are_pictures_are_drawn(run):
    np.save("p.npy", np.random.default_rng(0).random((12, 5, 6)))
    run("fit p.npy -k 2 -q")
    assert 'data-chart="pictures"' in Path("p_ritz/report.html").read_text()
    np.save("flat.npy", np.random.default_rng(0).random((12, 30)))
    assert "--image-shape is a height and a width" in run("fit flat.npy --image-shape 30", 2).stderr
    assert "expected 4×4 = 16 columns of numbers" in run("fit flat.npy --image-shape 4x4", 3).stderr
    run("fit flat.npy --image-shape 5x6 -k 2 -q")


def test_addresses_are_refused(run):
    stderr = run("fit https://example.org/wine.csv", 4).stderr
    assert "received an address, https://example.org/wine.csv" in stderr
    assert "curl -L -o wine.csv 'https://example.org/wine.csv'" in stderr
