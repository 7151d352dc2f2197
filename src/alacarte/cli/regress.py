"""`alc regress`: how a word's use depends on who speaks, when and where."""

from typing import Annotated, Literal

import typer

from alacarte.cli import _study as s
from alacarte.cli import options as o
from alacarte.cli.opening import open_model, parse_window
from alacarte.cli.output import show_json, show_line, voice


def regress(
    ctx: typer.Context,
    data: s.Data,
    formula: Annotated[
        str,
        typer.Option(
            metavar="FORMULA",
            help="'immigration ~ party * gender + year'; left of ~ a word, a quoted phrase or "
            'glob, several as c("a", "b"), or . for whole documents.',
        ),
    ],
    text: s.Text = "text",
    tokens: s.Tokens = None,
    where: s.Where = None,
    model: o.Model = None,
    transform: o.TransformFile = None,
    vectors: o.OtherVectors = None,
    cluster: s.Cluster = None,
    equal_clusters: s.EqualClusters = False,
    window: s.WindowSize = None,
    match: s.ValueKind = "glob",
    permutations: Annotated[
        int | None, typer.Option(min=0, help="For p-values; 0 for none.", show_default="999")
    ] = None,
    intervals: Annotated[
        Literal["score", "jackknife", "none"] | None,
        typer.Option(help="How intervals are made.", show_default="score"),
    ] = None,
    robust: Annotated[
        Literal["HC1", "HC2"] | None,
        typer.Option(
            help="The variance taken out of the lengths: HC2, right with few contexts too, or conText's HC1; with "
            "--cluster CR2 and CR1.",
            show_default="HC2",
        ),
    ] = None,
    level: s.Level = 0.95,
    adjust: Annotated[
        Literal["holm", "bh", "bonferroni", "none"], typer.Option(help="p-values for several terms together.")
    ] = "holm",
    seed: s.Seed = 0,
    allow_code: s.AllowCode = False,
    compat: s.CompatOption = None,
    csv: s.Csv = None,
    table: s.PaperTable = None,
    plot: s.Plot = None,
    tokenizer: o.ModelTokenizer = None,
    force: o.Force = False,
    overwrite: o.Overwrite = False,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """Regress the embeddings of a word's contexts on variables of the documents.

    \b
    alc regress speeches.csv --text speech --model glove.6B.50d \\
        --formula "immigration ~ party + gender"
    alc regress speeches.csv --text speech --model glove.6B.50d \\
        --formula "c('tax', 'taxes') ~ party * year" --cluster speaker \\
        --csv terms.csv --plot terms.pdf
    """
    s.check_study(ctx, plot, table)
    frame = s.open_table(data, where, allow_code)
    opened = open_model(model, vectors=vectors, transform=transform, tokenizer=tokenizer, force=force)
    from alacarte.regression import etable, plot_coefficients
    from alacarte.regression import regress as fit_model

    fit = fit_model(
        formula,
        frame,
        opened,
        text=text,
        tokens=tokens,
        cluster=s.columns_of(cluster),
        equal_clusters=True if equal_clusters else None,
        window=None if window is None else parse_window(window),
        valuetype=match,
        permutations=permutations,
        intervals="default" if intervals is None else None if intervals == "none" else intervals,
        level=level,
        robust=robust,
        adjust=adjust,
        seed=seed,
        allow_code=allow_code,
        compat=compat,
        show_progress=voice.progress,
    )
    s.write_csv(fit.tidy(), csv)
    s.write_paper_table(etable(fit, stars=True), table)
    if plot is not None:
        s.write_plot(plot_coefficients(fit), plot)
    if as_json:
        show_json(
            {
                "formula": formula,
                "contexts": len(fit),
                "clusters": fit.clusters,
                "left_out": fit.left_out,
                "terms": fit.table.to_dict(),
            }
        )
        return
    for line in fit.summary().split("\n\n")[0].splitlines():
        show_line(line)
    s.show_table(fit.table, False)
