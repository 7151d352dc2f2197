"""`alc regress`: how a word's use depends on who speaks, when and where."""

from pathlib import Path
from typing import Literal

from alacarte._io.options import option
from alacarte.cli.command import command
from alacarte.cli.opening import open_model, typed_sides
from alacarte.cli.options import CSV, LEVEL, PLOT, SEED, ModelOptions
from alacarte.cli.output import save_table, show, show_line, voice
from alacarte.cli.tables import DATA, ROWS, Study, open_table, write_paper_table, write_plot
from alacarte.contexts.reading import Averaging
from alacarte.errors import AlacarteError


@command()
def regress(
    *,
    data: Path = option(
        ..., "A table: CSV, TSV, JSON lines or Parquet, compressed or not.", metavar="FILE", argument=True
    ),
    formula: str = option(
        ...,
        "'immigration ~ party * gender + year'; left of ~ a word, a quoted phrase or "
        'glob, several as c("a", "b"), or . for whole documents.',
        metavar="FORMULA",
    ),
    text: str = option("text", "The column with the text.", metavar="COLUMN", panel=DATA),
    tokens: str | None = option(None, "Or the one with lists of tokens.", metavar="COLUMN", panel=DATA),
    where: str | None = ROWS,
    study: Study,
    model: ModelOptions,
    time: str | None = option(
        None, "Years or dates: compare within blocks of them; looked for if left out.", metavar="COLUMN", panel=DATA
    ),
    averaging: Averaging = option(
        "context", "What a context's vector is: the mean of its words, or their sum.", panel=DATA
    ),
    permutations: int = option(999, "For p-values; 0 for none.", metavar="N", minimum=0),
    level: float = LEVEL,
    adjust: Literal["holm", "bh", "none"] = option("holm", "How p-values are adjusted for the number of terms."),
    seed: int = SEED,
    csv: Path | None = CSV,
    table: Path | None = option(
        None, "Write the table as papers print it: .tex or .md.", metavar="FILE", writes="file"
    ),
    plot: Path | None = PLOT,
) -> None:
    """Regress a word's embeddings on variables of documents.

    \b
    alc regress speeches.csv --text speech --model glove.6B.50d \\
        --formula "immigration ~ party + gender"
    alc regress speeches.csv --text speech --model glove.6B.50d \\
        --formula "c('tax', 'taxes') ~ party * year" --cluster speaker \\
        --csv terms.csv --plot terms.pdf
    """
    if table is not None and table.suffix.lower() not in (".tex", ".md"):
        raise AlacarteError(f"{table}: tables for papers end in .tex or .md; choose one of these")
    frame = open_table(data, where)
    opened = open_model(model)
    from alacarte import regression

    fit = regression.regress(
        formula,
        frame,
        opened,
        text=tokens or text,
        cluster=study.columns,
        equal_clusters=study.equal_clusters,
        time=time,
        averaging=averaging,
        duplicates=study.duplicates,
        window=typed_sides(study.context_window),
        inference=regression.Inference(level, permutations, adjust, seed, voice.progress),
    )
    save_table(fit.table, csv)
    if table is not None:
        write_paper_table(regression.etable(fit, stars=True), table)
    if plot is not None:
        write_plot(regression.plot_coefficients(fit), plot)
    facts: dict[str, object] = {"contexts": len(fit), "clusters": fit.clusters, "notes": list(fit.clustering.notes)}
    facts |= {"left_out": fit.left_out, "terms": fit.table.to_dict()}
    show(
        {"formula": formula, **facts},
        lambda: show_line(fit.summary().split("\n\n")[0]),
        fit.table,
    )
