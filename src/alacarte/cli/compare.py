"""`alc compare`: the same word in several groups, or the whole vocabulary in two corpora."""

from pathlib import Path
from typing import Annotated, Any

import typer

from alacarte.cli import _study as s
from alacarte.cli import options as o
from alacarte.cli._vocabulary import check_table_file, parse_groups, show_comparison, write_comparison
from alacarte.cli.completing import column_names
from alacarte.cli.opening import listed_targets, open_corpus, open_model, parse_window, refuse
from alacarte.cli.output import note, show_json, show_neighbours, voice

WHOLE = "Two corpora, word by word"
OF_ONE_WORD = (  # options of the comparison of groups by neighbours
    *("features", "cluster", "equal_clusters", "window", "k", "among"),
    *("permutations", "numerator", "seed", "csv"),
)
OF_ALL_WORDS = ("group", "min_count", "top", "contexts", "out", "unit", "format", "threads", "memory")


def compare(
    ctx: typer.Context,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE",
            show_default=False,
            help="Two texts (files, folders, globs, URLs), or with --by one table: CSV, TSV, JSON lines or Parquet.",
        ),
    ] = None,
    word: o.Words = None,
    glob: o.Globs = None,
    regex: o.Regexes = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", autocompletion=column_names, help="The variable of the table whose groups are compared."
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", rich_help_panel=WHOLE, help="Test every word that both sides use often enough.")
    ] = False,
    group: Annotated[
        list[str] | None,
        typer.Option(metavar="VALUE", rich_help_panel=WHOLE, help="With --by and --all: the two groups."),
    ] = None,
    min_count: Annotated[
        int, typer.Option(min=2, rich_help_panel=WHOLE, help="How often both sides must use a word.")
    ] = 20,
    top: Annotated[int, typer.Option(min=1, rich_help_panel=WHOLE, help="How many words to show.")] = 20,
    contexts: Annotated[
        int, typer.Option(min=0, rich_help_panel=WHOLE, help="Lines a word and side that speak loudest; 0: none.")
    ] = 3,
    relative: Annotated[
        bool, typer.Option("--relative", rich_help_panel=WHOLE, help="Relative to how words differ on average.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", rich_help_panel=WHOLE, help="Keep all rows: .csv or .json.")
    ] = None,
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
    unit: o.Unit = "line",
    format: o.CorpusFormat = None,
    threads: o.Threads = None,
    memory: o.Memory = None,
    overwrite: o.Overwrite = False,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """Compare groups' uses of a word, or two corpora's uses of every word.

    \b
    alc compare old.txt new.txt --word bank --model glove.6B.50d
    alc compare old.txt new.txt --all --model glove.6B.50d --out words.csv
    alc compare speeches.csv --text speech --by party --word immigration \\
        --model glove.6B.50d --plot map.png
    alc compare speeches.csv --text speech --by party --group D --group R \\
        --all --model glove.6B.50d

    Of two texts: a test for each word, by documents, and the lines that speak loudest. Of groups in a table: nearest
    words, the words that tell two groups apart, cosines; with two groups, --csv and --plot are of the ratios, with
    more, of the neighbours and a map. With --all, two groups are tested word by word as two texts are.
    """
    s.check_study(ctx, plot)
    if not everything and not (word or glob or regex):
        raise typer.BadParameter("name words with --word, or test every word with --all")
    if everything or by is None:
        refuse(ctx, "goes with one word in the groups of a table, and not with two corpora", *OF_ONE_WORD)
        check_table_file(out)
        opened = open_model(model, vectors=vectors, transform=transform, tokenizer=tokenizer, force=force)
        reading = {"unit": unit, "format": format, "text": text}
        first, second, grouping = _sides(files or [], where, by, group, reading)
        named = listed_targets(word, None, glob, regex)
        from alacarte.inference.vocabulary import compare as compare_words

        comparison = compare_words(
            opened,
            first,
            second,
            named if len(named) else None,
            vocabulary=everything,
            min_count=min_count,
            level=level,
            relative=relative,
            contexts=contexts,
            threads=threads,
            memory=memory,
            show_progress=voice.progress,
            **grouping,
        )
        write_comparison(comparison, out)
        if plot is not None:
            s.write_plot(comparison.plot(labels=top), plot)
        show_comparison(comparison, top, contexts, as_json)
        return
    refuse(ctx, "goes with --all, or with two texts", *OF_ALL_WORDS)
    patterns, kind = s.one_kind(word, glob, regex)
    frame = s.open_table(_table(files or []), where)
    opened = open_model(model, vectors=vectors, transform=transform, tokenizer=tokenizer, force=force)
    from alacarte.regression import contexts as contexts_of
    from alacarte.regression import dem, dem_group, nearest, plot_map, plot_ratio, ratio, similarity

    table = contexts_of(
        frame,
        patterns,
        text=text,
        tokens=tokens,
        window=None if window is None else parse_window(window),
        valuetype=kind,
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
        title = f"“{', '.join(patterns)}” by {by}"
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


def _table(files: list[str]) -> Path:
    if len(files) != 1:
        raise typer.BadParameter(f"--by COLUMN compares groups of one table, and {len(files)} files are given")
    return Path(files[0])


def _sides(
    files: list[str], where: str | None, by: str | None, group: list[str] | None, reading: dict[str, Any]
) -> tuple[Any, Any, dict[str, Any]]:
    """(one side, the other, how they are told apart), as `alacarte.compare` takes them."""
    if by is not None:
        frame = s.open_table(_table(files), where)
        values = frame[by].unique().tolist() if by in frame else []
        return frame, None, {"by": by, "groups": parse_groups(group, values), "text": reading["text"]}
    if len(files) != 2:
        raise typer.BadParameter(
            f"a comparison has two sides, and {len(files)} files are given: pass two texts (a side of many files as a "
            "folder, or as a pattern in quotes), or one table with --by COLUMN"
        )
    if group or where is not None:
        raise typer.BadParameter("--group and --where are for the columns of a table; pass one, and --by COLUMN")
    if files[0] == files[1]:
        raise typer.BadParameter(f"both sides are {files[0]}; there is nothing to compare")
    first, second = (open_corpus([file], **reading) for file in files)
    return first, second, {}
