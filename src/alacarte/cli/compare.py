"""`alc compare`: the same word in several groups."""

from typing import Annotated

import typer

from alacarte.cli import _study as s
from alacarte.cli import options as o
from alacarte.cli.opening import open_model, parse_window
from alacarte.cli.output import note, show_json, show_neighbours, voice


def compare(
    ctx: typer.Context,
    data: s.Data,
    target: Annotated[
        list[str], typer.Option("--target", "-t", metavar="PATTERN", help="The word, phrase or glob; repeat for more.")
    ],
    by: Annotated[str, typer.Option(metavar="COLUMN", help="The variable whose groups are compared.")],
    text: s.Text = "text",
    tokens: s.Tokens = None,
    where: s.Where = None,
    model: o.Model = None,
    transform: o.TransformFile = None,
    vectors: o.OtherVectors = None,
    features: Annotated[
        list[str] | None, typer.Option("--feature", metavar="WORD", help="Show the cosine with this word; repeat.")
    ] = None,
    cluster: s.Cluster = None,
    equal_clusters: s.EqualClusters = False,
    window: s.WindowSize = None,
    match: s.ValueKind = "glob",
    k: o.K = 10,
    among: o.Among = 30_000,
    permutations: Annotated[int, typer.Option(min=0, help="For the p-values of two groups' ratios.")] = 999,
    numerator: Annotated[str | None, typer.Option(metavar="GROUP", help="The group above the line.")] = None,
    seed: s.Seed = 0,
    level: s.Level = 0.95,
    csv: s.Csv = None,
    plot: s.Plot = None,
    tokenizer: o.ModelTokenizer = None,
    force: o.Force = False,
    overwrite: o.Overwrite = False,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """Compare groups' uses of a word: nearest words, the words that tell two groups apart, cosines.

    \b
    alc compare --data speeches.csv --text speech --target immigration --by party --model glove.6B.50d --plot map.png

    With two groups, --csv and --plot are of the ratios; with more, of the neighbours and a map.
    """
    s.check_study(ctx, plot)
    frame = s.open_table(data, where)
    opened = open_model(model, vectors=vectors, transform=transform, tokenizer=tokenizer, force=force)
    from alacarte.regression import contexts, dem, dem_group, nearest, plot_map, plot_ratio, ratio, similarity

    table = contexts(
        frame,
        target,
        text=text,
        tokens=tokens,
        window=None if window is None else parse_window(window),
        valuetype=match,
        known=opened,
        show_progress=voice.progress,
    )
    embedded = dem(table, opened)
    means = dem_group(embedded, by, cluster=s.columns_of(cluster), equal_clusters=equal_clusters)
    near = nearest(means, k=k, candidates=among)
    counts = [] if means.counts is None else means.counts.tolist()
    sizes = {str(name): int(count) for name, count in zip(means.names, counts, strict=True)}
    shown: dict[str, object] = {"contexts": sizes, "nearest": near.to_dict()}
    main = near
    if embedded.dropped:
        note(f"{embedded.dropped:,} contexts without a known word are left out")
    if means.dropped:
        note(f"{means.dropped:,} contexts without a value of {by!r} are left out")
    apart = None
    if len(means) == 2:
        main = apart = ratio(
            embedded,
            by,
            k=k,
            candidates=among,
            numerator=numerator,
            intervals="jackknife",
            level=level,
            permutations=permutations,
            cluster=s.columns_of(cluster),
            equal_clusters=equal_clusters,
            seed=seed,
            show_progress=voice.progress,
        )
        shown["ratio"] = apart.to_dict()
    cosines = None
    if features:
        cosines = similarity(
            embedded,
            features,
            by,
            intervals="jackknife",
            level=level,
            cluster=s.columns_of(cluster),
            equal_clusters=equal_clusters,
        )
        shown["similarity"] = cosines.to_dict()
    s.write_csv(main.to_frame(), csv)
    if plot is not None:
        title = f"“{', '.join(target)}” by {by}"
        drawn = plot_ratio(apart, title=title) if apart is not None else plot_map(means, candidates=among, title=title)
        s.write_plot(drawn, plot)
    if as_json:
        show_json(shown)
        return
    lists: dict[str, list[tuple[str, float]]] = {}
    for label, feature, _, value, *_ in near.rows():
        lists.setdefault(f"{label} ({sizes[str(label)]:,} contexts)", []).append((feature, value))
    show_neighbours(lists)
    if apart is not None:
        s.show_table(apart, False, f"cosine with {apart.info['numerator']} / cosine with {apart.info['denominator']}")
    if cosines is not None:
        s.show_table(cosines, False, "cosines")
