"""`alc eval wsd`: word sense disambiguation, the paper's section 5.1 and past it."""

from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from alacarte.cli.opening import open_model, open_vectors
from alacarte.cli.options import ModelOptions, Verbosity
from alacarte.cli.output import show_columns, show_json, show_line, voice
from alacarte.cli.outputs import check_file
from alacarte_experiments.cli import app
from alacarte_experiments.cli.evaluate import Json, write_csv

if TYPE_CHECKING:
    from alacarte_experiments.wsd.baselines import BaselineReport
    from alacarte_experiments.wsd.evaluation import SetTable, WsdTable
    from alacarte_experiments.wsd.tuning import Tuning

    Result = WsdTable | SetTable | Tuning | BaselineReport


@app.command()
def wsd(
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", show_default=False, help="A folder with SemCor, WordNet, Brown and the paper's sets."
        ),
    ] = None,
    test: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=XML,KEY",
            show_default=False,
            help="A test set in the format of the unified framework: data file, gold key file. Repeat it.",
        ),
    ] = None,
    semcor: Annotated[
        str | None,
        typer.Option(
            metavar="PATH|XML,KEY",
            show_default=False,
            help="SemCor as distributed, or an annotated corpus as data file and gold key file. [the one in --data]",
        ),
    ] = None,
    wordnet: Annotated[
        str | None,
        typer.Option(metavar="DIR|FILE|NAME", show_default=False, help="WordNet 3.0. [the one in --data]"),
    ] = None,
    brown: Annotated[
        Path | None,
        typer.Option(metavar="PATH", show_default=False, help="The Brown corpus, for --vectors. [the one in --data]"),
    ] = None,
    vectors: Annotated[
        str | None,
        typer.Option(metavar="FILE|NAME", show_default=False, help="Learn the transform on Brown for these."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="DIR|NAME", show_default=False, help="A saved model, or one that ships.")
    ] = None,
    tune: Annotated[
        bool, typer.Option("--tune", help="Search shrinkage and prior on a split of SemCor, without the test sets.")
    ] = False,
    baselines: Annotated[
        bool, typer.Option("--baselines", help="Ways to count the most frequent sense, compared; needs no vectors.")
    ] = False,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the table as CSV, too.")] = None,
    as_json: Json = False,
    verbosity: Verbosity = None,
) -> None:
    """Word sense disambiguation: any test sets by F1, or the paper's table in the authors' and the standard setting.

    Your own sets are named one by one, each a data file and a gold key file of the unified evaluation framework:

    \b
    alc eval wsd --semcor semcor3.0.tar.xz --wordnet dict/ --model glove.6B.50d \\
        --test senseval3=senseval3.data.xml,senseval3.gold.key.txt
    alc eval wsd --data wsd --model glove.6B.50d \\
        --test mine=mine.data.xml,mine.gold.key.txt
    alc eval wsd --data wsd --baselines \\
        --test mine=mine.data.xml,mine.gold.key.txt

    The paper's table needs its test sets in one folder: semcor*, wordnet3.0*, brown*, semeval2013.task12.en.xml and
    .key, semeval2015.task13.en.xml and .key, and unified/semeval2013.data.xml, .gold.key.txt and the same of 2015:

    \b
    # A learned on Brown, as in the paper
    alc eval wsd --data wsd --vectors glove.6B.50d
    # A learned on Wikipedia, as it ships
    alc eval wsd --data wsd --model glove.6B.50d
    alc eval wsd --data wsd --vectors glove.6B.50d --tune
    alc eval wsd --data wsd --baselines
    """
    from alacarte_experiments.wsd.baselines import compare_countings
    from alacarte_experiments.wsd.data import WsdData, parse_test, read_test
    from alacarte_experiments.wsd.evaluation import evaluate, evaluate_sets
    from alacarte_experiments.wsd.tuning import tune as search

    if baselines and (vectors is not None or model is not None or tune):
        raise typer.BadParameter("--baselines is about counts alone; leave --vectors, --model and --tune out")
    if tune and test:
        raise typer.BadParameter("--tune sees no test set; leave --test out")
    if vectors is None and model is None and not baselines:
        raise typer.BadParameter("pass --vectors (A is learned on Brown), or --model for a transform that is there")
    if data is None and not test and not tune:
        raise typer.BadParameter("pass --test NAME=XML,KEY for test sets of your own, or --data DIR for the paper's")
    check_file(out)
    sets = {name: read_test(xml, gold) for name, xml, gold in map(parse_test, test or ())}
    loaded = WsdData.load(data, semcor=semcor, wordnet=wordnet, brown=brown)
    result: Result
    if baselines:
        result = compare_countings(loaded, sets or loaded.standard_tests())
    else:
        if model is None:
            assert vectors is not None
            opened = loaded.brown_model(open_vectors(vectors))
        else:
            opened = open_model(ModelOptions(model, vectors))
        if tune:
            result = search(loaded, opened, show_progress=voice.progress)
        elif sets:
            result = evaluate_sets(loaded, opened, sets, show_progress=voice.progress)
        else:
            result = evaluate(loaded, opened, show_progress=voice.progress)
    write_csv(result, out)
    if as_json:
        show_json(result)
    else:
        _show(result)


def _show(result: "Result") -> None:
    from alacarte_experiments.wsd.baselines import BaselineReport
    from alacarte_experiments.wsd.evaluation import SetTable, WsdTable

    if isinstance(result, BaselineReport):
        _show_baselines(result)
    elif isinstance(result, WsdTable):
        _show_table(result)
    elif isinstance(result, SetTable):
        _show_sets(result)
    else:
        _show_tuning(result)


def _show_sets(table: "SetTable") -> None:
    header = ["test set", "method", "words", "F1", "noun", "verb", "adj", "adv"]
    show_columns(header, [[_shown(cell) for cell in astuple(row)] for row in table.rows], "Word sense disambiguation")
    for line in table.notes:
        show_line(line)


def _show_table(table: "WsdTable") -> None:
    from alacarte_experiments.wsd.evaluation import DIFFERENCE

    header = ["setting", "method", "SE13", "SE13 by synset", "SE15 adj", "noun", "adv", "verb", "SE15"]
    show_columns(header, [[_shown(cell) for cell in astuple(row)] for row in table.rows], "Word sense disambiguation")
    show_line(DIFFERENCE)
    for line in table.notes:
        show_line(line)


def _show_baselines(report: "BaselineReport") -> None:
    from alacarte_experiments.wsd.baselines import FRAMEWORK_SIZE

    header = ["counted in SemCor", "annotations", "senses", "words", "test set"]
    header += ["met first", "WordNet order", "all wrong", "all right"]
    rows = [
        [row[0], *(f"{number:,}" for number in row[1:4]), row[4], *(f"{value:.2f}" for value in row[5:])]
        for row in map(astuple, report.rows)
    ]
    show_columns(header, rows, "Most frequent sense, F1, by where ties go")
    size = ", ".join(f"{number:,}" for number in FRAMEWORK_SIZE)
    show_line(f"Published by the framework: {size}; F1 63.8 on SemEval-2013 and 67.1 on SemEval-2015.")
    header = ["test set", "decided by", "words", "right, ties wrong", "right, ties right"]
    show_columns(header, [astuple(row) for row in report.decisions], "What decides, as the framework counts")


def _show_tuning(tuning: "Tuning") -> None:
    header = ["near", "strength", "sharpness", "smoothing", "accuracy", "log likelihood", "gain", "error"]
    rows = [
        ["yes" if trial.near else ""]
        + [f"{value:g}" for value in astuple(trial)[1:4]]
        + ["" if value is None else f"{value:.3f}" for value in astuple(trial)[4:]]
        for trial in tuning.trials
    ]
    show_columns(header, rows, "Held-out files of SemCor")
    show_line(f"{tuning.instances:,} ambiguous words; most frequent sense of the training files: {tuning.baseline:.1f}")


def _shown(cell: object) -> str:
    return "" if cell is None else f"{cell:.1f}" if isinstance(cell, float) else str(cell)
