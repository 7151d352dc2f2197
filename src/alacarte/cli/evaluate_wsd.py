"""`alc eval wsd`: word sense disambiguation, the paper's section 5.1 and past it."""

from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from alacarte.cli import _options as o
from alacarte.cli._open import check_file, open_model, open_vectors
from alacarte.cli._output import show_columns, show_json, show_line, voice, wrote
from alacarte.cli.evaluate import app

if TYPE_CHECKING:
    from alacarte.evaluation.wsd import WsdTable
    from alacarte.evaluation.wsd_tuning import Tuning


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
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the table as CSV, too.")] = None,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """Word sense disambiguation: the paper's table in the authors' and in the standard setting, and past it.

    \b
    alc eval wsd --data wsd --vectors glove.6B.50d        # A learned on Brown, as in the paper
    alc eval wsd --data wsd --model glove.6B.50d          # A learned on Wikipedia, as it ships
    alc eval wsd --data wsd --vectors glove.6B.50d --tune
    """
    from alacarte.evaluation.wsd import WsdData, evaluate
    from alacarte.evaluation.wsd_tuning import tune as search

    if vectors is None and model is None:
        raise typer.BadParameter("pass --vectors (A is learned on Brown), or --model for a transform that is there")
    check_file(out)
    loaded = WsdData.load(data, wordnet)
    if model is None:
        assert vectors is not None
        opened = loaded.brown_model(open_vectors(vectors))
    else:
        opened = open_model(model, vectors=vectors)
    result: WsdTable | Tuning
    if tune:
        result = search(loaded, opened, show_progress=voice.progress)
    else:
        result = evaluate(loaded, opened, show_progress=voice.progress)
    if out is not None:
        _write_csv(out, result)
    if as_json:
        show_json(result)
    elif tune:
        _show_tuning(result)  # type: ignore[arg-type]
    else:
        _show_table(result)  # type: ignore[arg-type]


def _show_table(table: "WsdTable") -> None:
    from alacarte.evaluation.wsd import DIFFERENCE

    header = ["setting", "method", "SE13", "SE13 by synset", "SE15 adj", "noun", "adv", "verb", "SE15"]
    show_columns(header, [[_shown(cell) for cell in astuple(row)] for row in table.rows], "Word sense disambiguation")
    show_line(DIFFERENCE)
    for line in table.notes:
        show_line(line)


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


def _write_csv(path: Path, result: "WsdTable | Tuning") -> None:
    import csv
    import io

    from alacarte._files import atomic_write
    from alacarte.evaluation.wsd import WsdTable

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    rows = result.rows if isinstance(result, WsdTable) else result.trials
    writer.writerow([field.name for field in fields(rows[0])])
    writer.writerows(astuple(row) for row in rows)
    with atomic_write(path) as file:
        file.write(text.getvalue().encode())
    wrote(path)
