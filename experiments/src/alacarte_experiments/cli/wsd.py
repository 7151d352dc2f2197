"""`alc eval wsd`: word sense disambiguation, the paper's section 5.1 and past it."""

from collections.abc import Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from alacarte.cli import _options as o
from alacarte.cli._open import check_file, open_model, open_vectors
from alacarte.cli._output import show_columns, show_json, show_line, voice, wrote
from alacarte_experiments.cli.evaluate import app

if TYPE_CHECKING:
    from alacarte_experiments.wsd import WsdTable
    from alacarte_experiments.wsd_baselines import BaselineReport
    from alacarte_experiments.wsd_tuning import Tuning


@app.command()
def wsd(
    data: Annotated[Path, typer.Option(metavar="DIR", help="The folder with SemCor, SemEval, Brown and WordNet.")],
    vectors: Annotated[
        str | None,
        typer.Option(metavar="FILE|NAME", show_default=False, help="Learn the transform on Brown for these."),
    ] = None,
    model: o.Model = None,
    wordnet: Annotated[
        str | None,
        typer.Option(metavar="DIR|FILE|NAME", show_default=False, help="Another WordNet 3.0. [the one in --data]"),
    ] = None,
    tune: Annotated[
        bool, typer.Option("--tune", help="Search shrinkage and prior on a split of SemCor, without the test sets.")
    ] = False,
    baselines: Annotated[
        bool, typer.Option("--baselines", help="Ways to count the most frequent sense, compared; needs no vectors.")
    ] = False,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the table as CSV, too.")] = None,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """Word sense disambiguation: the paper's table in the authors' and in the standard setting, and past it.

    \b
    alc eval wsd --data wsd --vectors glove.6B.50d        # A learned on Brown, as in the paper
    alc eval wsd --data wsd --model glove.6B.50d          # A learned on Wikipedia, as it ships
    alc eval wsd --data wsd --vectors glove.6B.50d --tune
    alc eval wsd --data wsd --baselines
    """
    from alacarte_experiments.wsd import WsdData, WsdTable, evaluate
    from alacarte_experiments.wsd_baselines import BaselineReport, compare_countings
    from alacarte_experiments.wsd_tuning import tune as search

    if baselines and (vectors is not None or model is not None or tune):
        raise typer.BadParameter("--baselines is about counts alone; leave --vectors, --model and --tune out")
    if vectors is None and model is None and not baselines:
        raise typer.BadParameter("pass --vectors (A is learned on Brown), or --model for a transform that is there")
    check_file(out)
    loaded = WsdData.load(data, wordnet)
    result: WsdTable | Tuning | BaselineReport
    if baselines:
        result = compare_countings(loaded)
    else:
        if model is None:
            assert vectors is not None
            opened = loaded.brown_model(open_vectors(vectors))
        else:
            opened = open_model(model, vectors=vectors)
        result = (search if tune else evaluate)(loaded, opened, show_progress=voice.progress)
    if out is not None:
        _write_csv(out, result)
    if as_json:
        show_json(result)
    elif isinstance(result, BaselineReport):
        _show_baselines(result)
    elif isinstance(result, WsdTable):
        _show_table(result)
    else:
        _show_tuning(result)


def _show_table(table: "WsdTable") -> None:
    from alacarte_experiments.wsd import DIFFERENCE

    header = ["setting", "method", "SE13", "SE13 by synset", "SE15 adj", "noun", "adv", "verb", "SE15"]
    show_columns(header, [[_shown(cell) for cell in astuple(row)] for row in table.rows], "Word sense disambiguation")
    show_line(DIFFERENCE)
    for line in table.notes:
        show_line(line)


def _show_baselines(report: "BaselineReport") -> None:
    from alacarte_experiments.wsd_baselines import FRAMEWORK_SIZE

    parts = ("met first", "WordNet order", "all wrong", "all right")
    header = ["counted in SemCor", "annotations", "senses", "words", *(f"SE{y} {p}" for y in (13, 15) for p in parts)]
    rows = [
        [row[0], *(f"{number:,}" for number in row[1:4]), *(f"{value:.2f}" for value in row[4:])]
        for row in map(astuple, report.rows)
    ]
    show_columns(header, rows, "Most frequent sense, F1, by where ties go")
    size = ", ".join(f"{number:,}" for number in FRAMEWORK_SIZE)
    show_line(f"Published by the framework: {size}; F1 63.8 and 67.1.")
    header = ["set", "decided by", "words", "right, ties wrong", "right, ties right"]
    show_columns(header, [astuple(row) for row in report.decisions], "What decides, as the framework counts")


def _show_tuning(tuning: "Tuning") -> None:
    header = ["strength", "sharpness", "smoothing", "accuracy", "log likelihood"]
    rows = [
        [f"{value:g}" for value in astuple(trial)[:3]] + [f"{v:.3f}" for v in astuple(trial)[3:]]
        for trial in tuning.trials
    ]
    show_columns(header, rows, "Held-out files of SemCor")
    show_line(f"{tuning.instances:,} ambiguous words; most frequent sense of the training files: {tuning.baseline:.1f}")


def _shown(cell: object) -> str:
    return "" if cell is None else f"{cell:.1f}" if isinstance(cell, float) else str(cell)


def _write_csv(path: Path, result: "WsdTable | Tuning | BaselineReport") -> None:
    import csv
    import io

    from alacarte._io.files import atomic_write
    from alacarte_experiments.wsd_tuning import Tuning

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    rows: Sequence[Any] = result.trials if isinstance(result, Tuning) else result.rows
    writer.writerow([field.name for field in fields(rows[0])])
    writer.writerows(astuple(row) for row in rows)
    with atomic_write(path) as file:
        file.write(text.getvalue().encode())
    wrote(path)
