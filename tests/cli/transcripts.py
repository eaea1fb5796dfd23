"""Realistic uses of the command line, recorded as transcripts that people can read.

    python tests/cli/transcripts.py            shows what differs from tests/golden/transcripts
    python tests/cli/transcripts.py --write    records it again; read the diff before you commit it

Times, sizes of reports and rounding errors differ from machine to machine, so their digits are masked.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

from ritz.cli.main import app

ROOT = Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "tests" / "golden" / "transcripts"
WINE = ROOT / "src" / "ritz" / "data" / "samples" / "wine.csv"
TINY = re.compile(r"\b\d(?:\.\d+)?e-\d\d\b")
TIMES = re.compile(r"\b(in|about) [\d.]+(?:e-\d+)? (m?s)\b")
SIZES = re.compile(r"\b[\d.]+ (bytes|[kM]B)\b(?=[:,]| beyond)")


def lines(path: str, text: str) -> None:
    Path(path).write_text(text, encoding="utf-8")


def wine() -> None:
    shutil.copy(WINE, "wine.csv")


def shop() -> None:
    """Sales as a German spreadsheet writes them."""
    rng = np.random.default_rng(1)
    rows = ["\ufeffFiliale;Umsatz (T€);Kunden;Fläche (m²)"]
    for i in range(24):
        size = rng.normal(400, 90)
        sales, guests = size * 2.5 + rng.normal(0, 60), size * 11 + rng.normal(0, 300)
        rows.append(f"Filiale {i + 1:02};{sales:.2f}".replace(".", ",") + f";{guests:.0f};{size:.1f}".replace(".", ","))
    lines("umsatz.csv", "\n".join(rows) + "\n")


def text_in_numbers() -> None:
    rng = np.random.default_rng(2)
    rows = ["height,weight,age"]
    for i in range(30):
        height = rng.normal(172, 8)
        weight = {6: "about 70", 19: "unknown"}.get(i, f"{height * 0.9 - 85 + rng.normal(0, 6):.1f}")
        rows.append(f"{height:.1f},{weight},{rng.integers(20, 60)}")
    lines("people.csv", "\n".join(rows) + "\n")


def dates() -> None:
    rng = np.random.default_rng(3)
    rows = ["day,temperature,humidity,pressure"]
    for i in range(60):
        t = 10 + 8 * np.sin(i / 9) + rng.normal(0, 1)
        humidity, pressure = 80 - 1.5 * t + rng.normal(0, 3), rng.normal(1013, 6)
        rows.append(f"2024-{1 + i // 28:02}-{1 + i % 28:02},{t:.1f},{humidity:.0f},{pressure:.1f}")
    lines("weather.csv", "\n".join(rows) + "\n")


def identifiers() -> None:
    rng = np.random.default_rng(4)
    rows = ["patient_id,ward,glucose,insulin,bmi"]
    for i in range(40):
        g = rng.normal(5.5, 1)
        rows.append(f"{1000 + 7 * i},{'ABC'[i % 3]},{g:.2f},{g * 12 + rng.normal(0, 9):.1f},{rng.normal(26, 3):.1f}")
    lines("clinic.csv", "\n".join(rows) + "\n")


def empty_column() -> None:
    rng = np.random.default_rng(5)
    rows = ["ph,salinity,comment,oxygen"]
    for i in range(25):
        oxygen = "" if i == 11 else f"{rng.normal(6, 0.8):.2f}"
        rows.append(f"{rng.normal(8, 0.2):.2f},{rng.normal(35, 1):.1f},,{oxygen}")
    lines("sea.csv", "\n".join(rows) + "\n")


def spreadsheet() -> None:
    rng = np.random.default_rng(6)
    rows = ['Product name,Price (€),Price (€),"Sold, total",,% returned']
    for i in range(20):
        price, sold, back = rng.uniform(5, 90), rng.integers(100, 2500), rng.uniform(0, 9)
        shelf = rng.integers(1, 9)
        rows.append(f'"Item {i + 1}, blue",{price:.2f},{price * 1.19:.2f},"{sold:,}",{shelf},{back:.1f}%')
    lines("Export Q3.csv", "\n".join(rows) + "\n")


def wide() -> None:
    rng = np.random.default_rng(7)
    factors, mix = rng.standard_normal((120, 3)) * [4, 2, 1], rng.standard_normal((3, 200))
    X = factors @ mix + 0.5 * rng.standard_normal((120, 200))
    head = ",".join(f"gene{j:03}" for j in range(200))
    lines("genes.csv", head + "\n" + "\n".join(",".join(f"{x:.3f}" for x in row) for row in X) + "\n")


def strings() -> None:
    rng = np.random.default_rng(8)
    rows = ["name,family,sequence"]
    for i in range(18):
        family = "AB"[i % 2]
        letters = rng.choice(list("ACGT"), p=[0.4, 0.1, 0.1, 0.4] if family == "A" else [0.1, 0.4, 0.4, 0.1], size=30)
        rows.append(f"seq{i + 1:02},{family},{''.join(letters)}")
    lines("promoters.csv", "\n".join(rows) + "\n")


def counts() -> None:
    lines(
        "housework.csv",
        "task,wife,alternating,husband,jointly\nlaundry,156,14,2,4\nmain meal,124,20,5,4\ndinner,77,11,7,13\n"
        "breakfast,82,36,15,7\ntidying,53,11,1,57\ndishes,32,24,4,53\nshopping,33,23,9,55\nofficial,12,46,23,15\n"
        "driving,10,51,75,3\nfinances,13,13,21,66\ninsurance,8,1,53,77\nrepairs,0,3,160,2\nholidays,0,1,6,153\n",
    )


def survey() -> None:
    rng = np.random.default_rng(9)
    rows = ["tea,sugar,place,age,cups"]
    for _ in range(60):
        young = rng.random() < 0.5
        tea = rng.choice(["black", "green", "herbal"], p=[0.6, 0.2, 0.2] if young else [0.2, 0.5, 0.3])
        sugar = rng.choice(["yes", "no"], p=[0.7, 0.3] if tea == "black" else [0.3, 0.7])
        age, place = rng.integers(18, 35) if young else rng.integers(40, 80), rng.choice(["home", "work"])
        rows.append(f"{tea},{sugar},{place},{age},{rng.integers(1, 7)}")
    lines("survey.csv", "\n".join(rows) + "\n")


def texts() -> None:
    """A folder of short texts, one of them binary, and the same texts as a table and as lines of JSON."""
    written = {
        "wines/red": "A glass of red wine from the old vineyard, with the taste of cherries and of oak.",
        "wines/white": "White wine from the vineyard by the river: a taste of apples, and of grass.",
        "wines/rose": "The rose wine of the vineyard is neither red nor white; a taste of berries and of summer.",
        "wines/price": "The price of a bottle of wine depends on the vineyard and on the year of the harvest.",
        "wings/flutter": "Flutter of thin wings in supersonic flow: the wings of a plane begin to shake.",
        "wings/lift": "The lift of a wing depends on the angle at which the flow meets the wing of the plane.",
        "wings/drag": "Drag of a wing in a supersonic flow, measured in a wind tunnel with a model of the plane.",
        "wings/heat": "Heat on the skin of a plane in supersonic flow, and the wings that have to bear it.",
    }
    for name, text in written.items():
        path = Path("docs") / f"{name}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    Path("docs/picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    Path("empty").mkdir()
    rows = [f'r{i + 1:02},{1 + i % 5},"{text}"' for i, text in enumerate(written.values())]
    lines("reviews.csv", "id,stars,review\n" + "\n".join(rows) + "\n")
    lines("reviews.jsonl", "".join(json.dumps({"review": text}) + "\n" for text in written.values()))


def rents() -> None:
    """Rents in euros with points between thousands, and new flats that say less about how they are written."""
    rng = np.random.default_rng(10)
    rows = ["Wohnung;Miete;Fläche;Zimmer;Baujahr"]
    for i in range(30):
        size = rng.normal(75, 25)
        rent = f"{max(300, 14 * size + rng.normal(0, 150)):,.0f}".replace(",", ".")
        rows.append(f"W{i + 1:02};{rent} €;{size:.0f};{max(1, round(size / 25))};{rng.integers(1900, 2020)}")
    lines("miete.csv", "\n".join(rows) + "\n")
    lines("neu.csv", "Wohnung;Miete;Fläche;Zimmer;Baujahr\nN1;1.601 €;95;4;1965\nN2;1.250 €;80;3;2001\n")
    lines("euro.csv", "Wohnung,Miete,Fläche,Zimmer,Baujahr\nN1,1.6,95,4,1965\nN2,1.25,80,3,2001\n")


def typing_errors() -> None:
    rng = np.random.default_rng(11)
    rows = ["Measured by,the office,of statistics", "in the spring,of 2021,twice", "height,weight,age"]
    for i in range(60):
        height = rng.normal(172, 8)
        weight = f"{height * 0.9 - 85 + rng.normal(0, 6):.1f}"
        rows.append(f"{height:.1f},{weight.replace('.', '..') if i == 40 else weight},{rng.integers(20, 60)}")
    rows[25] = rows[25] + "x"
    lines("people.csv", "\n".join(rows) + "\n")


def levels() -> None:
    rng = np.random.default_rng(12)
    rows = ["pain,blood,side"] + [
        f"{rng.choice(['None', 'mild', 'strong'])},{rng.choice(['+', '-'])},{rng.choice(['l', 'r'])}" for _ in range(30)
    ]
    lines("pain.csv", "\n".join(rows) + "\n")


def codes() -> None:
    rng = np.random.default_rng(13)
    rows = ["A1,A2,A3,edu,sex,score"]
    for _ in range(60):
        a = rng.integers(1, 6)
        edu, sex = rng.integers(1, 5), rng.integers(0, 2)
        rows.append(f"{a},{min(5, a + rng.integers(0, 2))},{rng.integers(1, 6)},{edu},{sex},{rng.normal():.4f}")
    lines("answers.csv", "\n".join(rows) + "\n")
    rows = ["e,n,q,z"] + [",".join(str(rng.poisson(mean)) for mean in (900, 500, 30, 4)) for _ in range(12)]
    lines("letters.csv", "\n".join(rows) + "\n")


def gaps() -> None:
    """A survey with gaps in numbers and in answers."""
    survey()
    rng = np.random.default_rng(14)
    first, *rest = Path("survey.csv").read_text(encoding="utf-8").splitlines()
    cells = [["" if rng.random() < 0.05 else cell for cell in line.split(",")] for line in rest]
    lines("survey.csv", "\n".join([first, *map(",".join, cells)]) + "\n")


#: Name of the transcript: what lies in the folder, and what is typed.
CASES: dict[str, tuple[Callable[[], None], list[str]]] = {
    "01_wrong_file_name": (wine, ["fit whine.csv", "fit data/wine.csv", "transform wine_ritz wine.csv"]),
    "02_wrong_column": (
        wine,
        ["fit wine.csv --drop proljne", "fit wine.csv --color Cultivar", "fit wine.csv --columns alcohol,hew"],
    ),
    "03_text_in_numbers": (text_in_numbers, ["fit people.csv", "fit people.csv --numeric weight",
                                             "fit people.csv --drop weight -o without",
                                             "fit people.csv --na 'about 70' --na unknown --missing regularized -k 2"]),
    "04_semicolons_and_decimal_commas": (shop, ["fit umsatz.csv"]),
    "05_dates": (dates, ["fit weather.csv -k 2"]),
    "06_identifiers": (identifiers, ["fit clinic.csv -k 2", "transform clinic_ritz clinic.csv -o new.csv"]),
    "07_a_column_without_values": (empty_column, ["fit sea.csv", "fit sea.csv --missing mean -k 2"]),
    "08_headers_of_a_spreadsheet": (spreadsheet, ["fit 'Export Q3.csv' -k 2"]),
    "09_two_hundred_columns": (wide, ["plan genes.csv", "fit genes.csv -k parallel"]),
    "10_strings": (strings, ["fit promoters.csv -k 2", "inverse promoters_ritz promoters_ritz/scores.csv -o near.csv"]),
    "11_counts": (counts, ["fit housework.csv", "verify housework_ritz housework.csv"]),
    "12_categories_and_numbers": (survey, ["fit survey.csv -k 2", "fit survey.csv -k 2 --method mca --drop age,cups"]),
    "13_slips_of_the_keyboard": (
        wine,
        ["fti wine.csv", "fit wine.csv --metod pca", "fit wine.csv --method pcs", "fit wine.csv -k 99",
         "fit wine.csv -k kaizer", "fit wine.csv --kernel rfb", "fit wine.csv --method ca --scale",
         "fit wine.csv --missing dorp", "fit"],
    ),
    "14_a_model_at_work": (
        wine,
        ["fit wine.csv -k 3 --quiet", "inspect wine_ritz", "verify wine_ritz wine.csv",
         "fit wine.csv -k 3 --no-scale -o mine --quiet", "fit wine.csv -o .", "merge wine_ritz mine -o both.ritz",
         "merge mine mine -o twice.ritz",
         "export wine_ritz --to sql -o score.sql", "compare wine_ritz mine",
         "transform wine_ritz wine.csv -o wine.csv", "inspect wine_rits"],
    ),
    "15_texts": (
        texts,
        ["fit docs --method lsi -k 3", "search docs_ritz flutter of thin wings --top 3",
         "search docs_ritz 'red zebra' --top 2 --texts docs", "search docs_ritz the of", "search docs_ritz zebra",
         "search docs_ritz wine --hybrid 0.3 --top 2", "verify docs_ritz docs", "verify docs_ritz docs/wines",
         "inspect docs_ritz", "transform docs_ritz docs/wines -o new.csv", "plan docs --method lsi",
         "fit reviews.csv --text review -k 2 --language english --no-stem", "search reviews_ritz wine --top 2",
         "fit reviews.jsonl --text review -k 2 --plain -o lines --quiet"],
    ),
    "16_slips_with_texts": (
        texts,
        ["fit docs", "fit docs --text review", "fit empty --method lsi", "fit docs/wines/red.txt --method lsi",
         "fit doks --method lsi", "fit reviews.jsonl", "fit reviews.jsonl --text revue", "fit reviews.csv --text revew",
         "fit reviews.csv --text stars", "fit reviews.csv --text review --weights stars",
         "fit docs --method lsi --delimiter ,", "fit docs --method lsi --weighting tfidf",
         "fit docs --method lsi --language englisch", "fit docs --method lsi --plain --stem",
         "fit docs --method pca --weighting count", "fit docs --method lsi -k 99", "fit docs --method lsi -o docs/out",
         "fit docs --method lsi -k 2 --quiet", "merge docs_ritz docs_ritz -o m.ritz", "search docs_ritz",
         "search docs_ritz wine --top 0", "search docs_ritz wine --texts docs/wines",
         "fit reviews.csv --columns stars,id -o pca --quiet --method pca", "search pca wine"],
    ),
    "17_points_between_thousands": (
        rents,
        ["fit miete.csv -k 2 --no-report", "transform miete_ritz neu.csv -o neu_scores.csv",
         "transform miete_ritz euro.csv -o euro_scores.csv", "fit miete.csv --decimal . -k 2 --no-report -o decimals"],
    ),
    "18_typing_errors_and_titles": (
        typing_errors,
        ["fit people.csv", "fit people.csv --coerce", "fit people.csv --coerce --missing mean -k 2 --no-report",
         "fit people.csv --skip 99", "transform people_ritz people.csv -o new.csv"],
    ),
    "19_levels_that_look_missing": (
        levels,
        ["fit pain.csv", "fit pain.csv --keep-na None --keep-na - -k 2 --no-report", "fit pain.csv --na nil -k 2 -q",
         "fit pain.csv --keep-na nil"],
    ),
    "21_gaps_in_numbers_and_answers": (
        gaps,
        ["fit survey.csv", "fit survey.csv --missing regularized --no-report", "fit survey.csv --missing drop -k 2",
         "verify survey_ritz survey.csv", "fit survey.csv --method pca --missing drop -k 1 --no-report -o numbers",
         "fit survey.csv --method svd --missing drop -k 1 -o svd -q", "fit survey.csv --method svd --missing mean",
         "rank survey.csv --method pca --missing drop --criteria kaiser"],
    ),
    "20_codes_and_counts": (
        codes,
        ["plan answers.csv", "plan answers.csv --categorical A1..edu,sex", "plan answers.csv --categorical 'A*'",
         "plan answers.csv --categorical all --drop score", "plan answers.csv --categorical 'B*'", "plan letters.csv"],
    ),
}  # fmt: skip


def masked(text: str, folder: Path) -> str:
    """The text without what depends on the machine."""
    text = text.replace(str(folder), "FOLDER")
    text = TINY.sub(lambda found: re.sub(r"\d", "·", found[0]), text)
    text = SIZES.sub(r"… \1", TIMES.sub(r"\1 … \2", text))
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def transcript(name: str, folder: Path) -> str:
    """Run a case in an empty folder; what a terminal would show."""
    prepare, commands = CASES[name]
    before = Path.cwd()
    os.chdir(folder)
    try:
        prepare()
        parts = []
        for line in commands:
            done = CliRunner().invoke(app, shlex.split(line), env={"NO_COLOR": "1"}, prog_name="ritz")
            shown = f"$ ritz {line}\n{done.output}"
            parts.append(shown + (f"[exit code {done.exit_code}]\n" if done.exit_code else ""))
        return masked("\n".join(parts), folder.resolve())
    finally:
        os.chdir(before)


def main(write: bool) -> int:
    """Compare or record all transcripts."""
    changed = 0
    for name in CASES:
        with tempfile.TemporaryDirectory() as made:
            text = transcript(name, Path(made))
        path = GOLDEN / f"{name}.txt"
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if text == old:
            continue
        changed += 1
        print("".join(difflib.unified_diff(old.splitlines(True), text.splitlines(True), f"old/{name}", f"new/{name}")))
        if write:
            GOLDEN.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    print(f"{changed} of {len(CASES)} transcripts {'recorded' if write else 'differ'}")
    return bool(changed and not write)


if __name__ == "__main__":
    sys.exit(main("--write" in sys.argv[1:]))
