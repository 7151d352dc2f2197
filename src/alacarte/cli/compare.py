"""`alc compare`: the same word in several groups, or the whole vocabulary in two corpora."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from alacarte._io.options import option
from alacarte.cli.command import command
from alacarte.cli.opening import (
    listed_targets,
    named_targets,
    open_corpus,
    open_model,
    open_sums,
    refuse,
    typed_options,
    typed_sides,
)
from alacarte.cli.options import AMONG_HELP, Csv, Level, ModelOptions, Patterns, Plot
from alacarte.cli.output import note, save_table, show, show_columns, show_line, show_neighbours, show_table, voice
from alacarte.cli.tables import DATA, WHERE, Study, open_table, write_plot
from alacarte.text.options import CorpusOptions

if TYPE_CHECKING:
    from alacarte.comparing.uses import Comparison, Comparisons

TWO_CORPORA = "Two corpora, word by word"
ONE_WORD = "Groups of a table, one word"
Q = 0.05  # the share of wrong words that is put up with among those reported
BY_NEIGHBOURS = ("feature", "equal_clusters", "window", "k", "among", "permutations")
BY_WORDS = ("group", "min_count", "top", "contexts", "threads", "memory")
OF_FILES = ("unit", "format", "encoding", "errors")


@dataclass(frozen=True)
class Groups(Study):
    """Groups of a table, and what is asked about them."""

    by: str | None = option(None, "The variable of the table whose groups differ.", metavar="COLUMN", panel=ONE_WORD)
    group: list[str] | None = option(None, "With --by and --all: the two groups.", metavar="VALUE", panel=ONE_WORD)
    where: str | None = option(None, WHERE, metavar="EXPR", panel=DATA)
    feature: list[str] | None = option(
        None, "Show the cosine with this word; repeat for more.", metavar="WORD", panel=ONE_WORD
    )
    k: int = option(10, "How many neighbours.", short="-k", minimum=1, panel=ONE_WORD)
    among: int | None = option(30_000, AMONG_HELP, metavar="N", minimum=1, panel=ONE_WORD)
    permutations: int = option(999, "For the p-values of two groups' ratios.", minimum=0, panel=ONE_WORD)


@command()
def compare(
    *,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE",
            show_default=False,
            help="Two texts (files, folders, globs, URLs), two files of sums with --spread, or with --by one table: "
            "CSV, TSV, JSON lines or Parquet.",
        ),
    ] = None,
    patterns: Patterns,
    model: ModelOptions,
    level: Level = 0.95,
    csv: Csv = None,
    plot: Plot = None,
    everything: bool = option(
        False, "Test every word that both sides use often enough.", flag="--all", panel=TWO_CORPORA
    ),
    min_count: int = option(20, "How often both sides must use a word.", minimum=2, panel=TWO_CORPORA),
    top: int = option(20, "How many words to show.", minimum=1, panel=TWO_CORPORA),
    contexts: int = option(3, "Lines per word and side that contribute most; 0: none.", minimum=0, panel=TWO_CORPORA),
    threads: int | None = option(
        None, "Threads to use; all cores if left out.", metavar="N", minimum=1, panel=TWO_CORPORA
    ),
    memory: str | None = option(None, "Most memory to use, as in 4GB.", metavar="SIZE", panel=TWO_CORPORA),
    groups: Groups,
    text: CorpusOptions,
) -> None:
    """Compare how two corpora, or groups, use words.

    \b
    alc compare old.txt new.txt --word bank --model glove.6B.50d
    alc compare old.txt new.txt --all --model glove.6B.50d --csv words.csv
    alc compare old.sums new.sums --model glove.6B.50d
    alc compare speeches.csv --text speech --by party --word immigration \\
        --model glove.6B.50d --plot map.png
    alc compare speeches.csv --text speech --by party --group D --group R \\
        --all --model glove.6B.50d

    Of two texts: a test for each word, by documents, and the lines that contribute most. Of groups in a table: nearest
    words, the words that tell two groups apart, cosines; with two groups, --csv and --plot are of the ratios, with
    more, of the neighbours and a map. With --all, two groups are tested word by word as two texts are.
    """
    named = files or []
    sums = len(named) == 2 and all(map(_is_sums, named))
    if not (sums or everything or patterns != Patterns()):
        raise typer.BadParameter("name words with --word, or test every word with --all")
    if groups.by is not None and not everything:
        refuse("goes with --all; without it, all groups of the table are compared by one word", *BY_WORDS)
        refuse("is for text in files, and this is a table", *OF_FILES)
        _neighbours(_table(named), patterns, groups, model, text, level, csv, plot)
        return
    refuse("goes with one word in the groups of a table, and not with two corpora", *BY_NEIGHBOURS)
    opened = open_model(model)
    listed = listed_targets(patterns)
    if sums:
        from alacarte.comparing.uses import compare_uses

        refuse(
            "is for text, and these are sums", "everything", *BY_WORDS, "where", "cluster", "duplicates", CorpusOptions
        )
        here, there = (opened.apply(open_sums([Path(file)])) for file in named)
        found = compare_uses(here, there, list(listed) or None, level)
        contexts = 0
    else:
        from alacarte.comparing import vocabulary

        first, second, grouping = _sides(named, groups, text)
        found = vocabulary.compare(
            opened,
            first,
            second,
            listed if len(listed) else None,
            vocabulary=everything,
            min_count=min_count,
            level=level,
            contexts=contexts,
            cluster=groups.cluster,
            duplicates=groups.duplicates,
            threads=threads,
            memory=memory,
            show_progress=voice.progress,
            **grouping,
        )
    save_table(found, csv)
    if plot is not None:
        write_plot(found.plot(labels=top), plot)
    strongest = {word: {"a": list(lines.a), "b": list(lines.b)} for word, lines in found.contexts.items()}
    facts = {
        "names": list(found.names),
        "notes": list(found.notes),
        "level": found.level,
        "words": found.to_dict(),
        "contexts": strongest,
    }
    show(facts, lambda: _show_words(found, top, contexts))


def _is_sums(file: str) -> bool:
    from alacarte._io.artifact import kind_of

    return Path(file).is_file() and kind_of(Path(file)) == "context sums"


def _table(files: list[str]) -> str:
    if len(files) != 1:
        raise typer.BadParameter(f"--by COLUMN compares groups of one table, and {len(files)} files are given")
    return files[0]


def _sides(files: list[str], groups: Groups, text: CorpusOptions) -> tuple[Any, Any, dict[str, Any]]:
    """Return (one side, the other, how they are distinguished), as `alacarte.compare` takes them."""
    if groups.by is not None:
        refuse("is for text in files, and groups are in a table", *OF_FILES)
        refuse("goes with one word of a table, or with two texts; leave it out with --all and --by", "tokens")
        frame = open_table(_table(files), groups.where)
        values = frame[groups.by].unique().tolist() if groups.by in frame else []
        return frame, None, {"by": groups.by, "groups": _groups(groups.group, values), "text": text.text}
    if len(files) != 2:
        raise typer.BadParameter(
            f"a comparison has two sides, and {len(files)} files are given: pass two texts (a side of many files as a "
            "folder, or as a pattern in quotes), or one table with --by COLUMN"
        )
    refuse("is for the columns of a table; pass one, and --by COLUMN", "group", "where")
    if files[0] == files[1]:
        raise typer.BadParameter(f"both sides are {files[0]}; there is nothing to compare")
    columns = () if groups.cluster is None else (groups.cluster,)
    first, second = (open_corpus([file], text, columns=columns) for file in files)
    return first, second, {}


def _groups(groups: list[str] | None, values: list[Any]) -> tuple[Any, Any] | None:
    """Return the values of a column that were meant: what was typed is text, and the column may hold numbers.

    >>> _groups(["1990", "D"], [1990, "D", "R"])
    (1990, 'D')
    """
    if not groups:
        return None
    if len(groups) != 2:
        raise typer.BadParameter(f"a comparison has two sides, not {len(groups)}", param_hint="--group")
    spelled = {str(value): value for value in values}
    return spelled.get(groups[0], groups[0]), spelled.get(groups[1], groups[1])


def _show_words(found: "Comparisons", top: int, contexts: int) -> None:
    """Print the words that moved farthest for sure, with their numbers, then the lines that contribute most to each."""
    changed = found.changed(Q)
    untested = [item for item in found if item.reason]
    shown = [*changed, *(item for item in found if not item.reason and not item.q_value <= Q)][:top]
    a, b = found.names
    if shown:
        names = ["word", f"uses in {a}", f"in {b}", "distance", f"{found.level:.0%} interval", "p", "q"]
        show_columns(names, list(map(_cells, shown)))
    for word in [item.word for item in shown if item.word in found.contexts]:
        sides = found.contexts[word]
        for name, lines in zip(found.names, (sides.a, sides.b), strict=True):
            for line in lines[:contexts]:
                show_line(f"{word}, {name}: {line}")
    for sentence in found.notes:
        note(sentence)
    for item in untested[: top if not shown or len(found) <= top else 0]:
        show_line(f"{item.word}: {item.reason}")
    if not voice.quiet:
        verb = "is" if len(changed) == 1 else "are"
        show_line(f"{len(changed):,} of {len(found) - len(untested):,} words {verb} used differently (q ≤ {Q}).")
    if untested:
        words = "1 word" if len(untested) == 1 else f"{len(untested):,} words"
        note(f"{words} could not be tested; --csv FILE keeps all rows, with the reason")


def _cells(item: "Comparison") -> tuple[str, ...]:
    from alacarte._io.table import format_p

    interval = f"{item.conf_low:.3f} … {item.conf_high:.3f}"
    uses = f"{item.contexts_a:,}", f"{item.contexts_b:,}"
    return item.word, *uses, f"{item.distance:.3f}", interval, format_p(item.p_value), format_p(item.q_value)


def _neighbours(
    file: str,
    named: Patterns,
    groups: Groups,
    model: ModelOptions,
    text: CorpusOptions,
    level: float,
    csv: Path | None,
    plot: Path | None,
) -> None:
    """Compare the groups of a table by the neighbours of one word, by ratios and by cosines."""
    from alacarte import regression

    by = groups.by
    assert by is not None
    targets = named_targets(named)
    frame = open_table(file, groups.where)
    opened = open_model(model)
    table = regression.contexts(
        frame,
        targets,
        text=(text.tokens if typed_options("tokens") else text.text) or "text",
        window=typed_sides(groups.context_window),
        known=opened,
        duplicates=groups.duplicates,
        show_progress=voice.progress,
    )
    embedded = regression.dem(table, opened)
    units: dict[str, Any] = {"cluster": groups.columns, "equal_clusters": groups.equal_clusters}
    means = regression.dem_group(embedded, by, **units)
    near = regression.nearest(means, k=groups.k, candidates=groups.among)
    for count, what in ((embedded.dropped, "a known word"), (means.dropped, f"a value of {by!r}")):
        if count:
            note(f"{count:,} contexts without {what} are left out")
    counts = [] if means.counts is None else means.counts.tolist()
    sizes = {str(name): int(count) for name, count in zip(means.names, counts, strict=True)}
    facts: dict[str, object] = {"contexts": sizes, "nearest": near.to_dict()}
    ratio, cosines = None, None
    if len(means) == 2:
        ratio = regression.ratio(
            embedded,
            by,
            k=groups.k,
            candidates=groups.among,
            inference=regression.Inference(level, groups.permutations, show_progress=voice.progress),
            **units,
        )
        facts["ratio"] = ratio.to_dict()
    if groups.feature:
        cosines = regression.similarity(embedded, groups.feature, by, intervals=level, **units)
        facts["similarity"] = cosines.to_dict()
    save_table(near if ratio is None else ratio, csv)
    if plot is not None:
        title = f"“{', '.join(targets)}” by {by}"
        if ratio is None:
            write_plot(regression.plot_map(means, candidates=groups.among, title=title), plot)
        else:
            write_plot(regression.plot_ratio(ratio, title=title), plot)

    def show_all() -> None:
        lists: dict[str, list[tuple[str, float]]] = {}
        for label, feature, _, value, *_ in near.rows():
            lists.setdefault(f"{label} ({sizes[str(label)]:,} contexts)", []).append((feature, value))
        show_neighbours(lists)
        if ratio is not None:
            show_table(ratio, f"cosine with {ratio.info['numerator']} / cosine with {ratio.info['denominator']}")
        if cosines is not None:
            show_table(cosines, "cosines")
        for said in (cosines or ratio or near).notes:
            show_line(said)

    show(facts, show_all)
