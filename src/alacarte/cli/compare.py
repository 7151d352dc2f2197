"""`alc compare`: whether two corpora, or two groups of a table, use words differently."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from alacarte._io.options import option
from alacarte.cli.command import command
from alacarte.cli.opening import listed_targets, open_corpus, open_model, open_sums, refuse
from alacarte.cli.options import CSV, LEVEL, PLOT, THREADS, ModelOptions, Patterns
from alacarte.cli.output import note, save_table, show, show_line, show_table, voice
from alacarte.cli.tables import DATA, ROWS, ClusterOptions, open_table, write_plot
from alacarte.text.options import CorpusOptions

if TYPE_CHECKING:
    from alacarte.comparing.uses import Comparisons


@command()
def compare(
    *,
    files: list[str] | None = option(
        None,
        "Two texts (files, folders, globs, URLs), two files of sums with --spread, or with --by one table: CSV, TSV, "
        "JSON lines or Parquet.",
        metavar="FILE",
        argument=True,
    ),
    patterns: Patterns,
    model: ModelOptions,
    everything: bool = option(False, "Test every word that both sides use often enough.", flag="--all"),
    min_count: int = option(20, "How often both sides must use a word.", minimum=2),
    level: float = LEVEL,
    top: int = option(20, "How many words to show.", minimum=1),
    contexts: int = option(3, "Lines per word and side that contribute most; 0: none.", minimum=0),
    threads: int | None = THREADS,
    memory: str | None = option(None, "Most memory to use, as in 4GB.", metavar="SIZE"),
    csv: Path | None = CSV,
    plot: Path | None = PLOT,
    by: str | None = option(
        None, "The column of a table that says which group a row is in.", metavar="COLUMN", panel=DATA
    ),
    group: list[str] | None = option(
        None, "With --by: the two groups, if there are more.", metavar="VALUE", panel=DATA
    ),
    where: str | None = ROWS,
    clusters: ClusterOptions,
    text: CorpusOptions,
) -> None:
    """Test whether two corpora, or groups, use words differently.

    \b
    alc compare old.txt new.txt --word bank --model glove.6B.50d
    alc compare old.txt new.txt --all --model glove.6B.50d --csv words.csv
    alc compare old.sums new.sums --model glove.6B.50d
    alc compare speeches.csv --text speech --by party --word immigration \\
        --model glove.6B.50d
    alc compare speeches.csv --text speech --by party --group D --group R \\
        --all --model glove.6B.50d

    There is a test for each word, by documents, and the lines that contribute most.
    """
    from alacarte.comparing import vocabulary

    named, targets = files or [], listed_targets(patterns)
    if len(named) == 2 and all(map(_is_sums, named)):
        refuse(
            "is for text, and these are sums",
            *("everything", "contexts", "threads", "memory", "by", "group", "where"),
            *(ClusterOptions, CorpusOptions),
        )
        first, second = (open_sums([Path(file)]) for file in named)
        sides: dict[str, Any] = {"corpus": first, "other": second}
        everything = not len(targets)
    elif everything or len(targets):
        sides = _groups(named, by, group, where, text) if by is not None else _corpora(named, clusters.cluster, text)
        sides["cluster"] = clusters.cluster
    else:
        raise typer.BadParameter("name words with --word, or test every word with --all")
    found = vocabulary.compare(
        open_model(model),
        **sides,
        targets=targets if len(targets) else None,
        duplicates=clusters.duplicates,
        vocabulary=everything,
        min_count=min_count,
        level=level,
        contexts=contexts,
        threads=threads,
        memory=memory,
        show_progress=voice.progress,
    )
    save_table(found, csv)
    strongest = {word: {"a": list(lines.a), "b": list(lines.b)} for word, lines in found.contexts.items()}
    facts = {
        "names": list(found.names),
        "notes": list(found.notes),
        "level": found.level,
        "words": found.to_dict(),
        "contexts": strongest,
    }
    show(facts, lambda: _show_words(found, top))
    if plot is not None:
        write_plot(found.plot(labels=top), plot)


def _is_sums(file: str) -> bool:
    from alacarte._io.artifact import kind_of

    return Path(file).is_file() and kind_of(Path(file)) == "context sums"


def _groups(
    files: list[str], by: str, groups: list[str] | None, where: str | None, text: CorpusOptions
) -> dict[str, Any]:
    """Return two groups of a table, as `alacarte.compare` takes them."""
    refuse("is for text in files, and groups are in a table", "unit", "format", "encoding", "errors")
    if len(files) != 1:
        raise typer.BadParameter(f"--by COLUMN compares groups of one table, and {len(files)} files are given")
    frame = open_table(files[0], where)
    values = {str(value): value for value in frame[by].unique().tolist()} if by in frame else {}
    # What was typed is text, and the column may hold numbers.
    chosen = None if groups is None else [values.get(name, name) for name in groups]
    if text.text in frame:
        frame[text.text] = frame[text.text].fillna("")  # empty cells are documents without words
    return {"corpus": frame, "by": by, "groups": chosen, "text": text.text, "tokens": text.tokens}


def _corpora(files: list[str], cluster: str | None, text: CorpusOptions) -> dict[str, Any]:
    """Return two texts, as `alacarte.compare` takes them."""
    if len(files) != 2:
        raise typer.BadParameter(
            f"a comparison has two sides, and {len(files)} files are given: pass two texts (a side of many files as a "
            "folder, or as a pattern in quotes), or one table with --by COLUMN"
        )
    refuse("is for the columns of a table; pass one, and --by COLUMN", "group", "where")
    if files[0] == files[1]:
        raise typer.BadParameter(f"both sides are {files[0]}; there is nothing to compare")
    first, second = (open_corpus([file], text, columns=[cluster] if cluster else ()) for file in files)
    return {"corpus": first, "other": second}


def _show_words(found: "Comparisons", top: int) -> None:
    """Print the words that moved farthest for sure, then others, and the lines that contribute most to each."""
    changed = found.changed()
    moved = {item.word for item in changed}
    shown = [*changed, *(item for item in found if item.word not in moved)][:top]
    show_table(replace(found, items=tuple(shown)))
    for item in shown:
        if item.word in found.contexts:
            sides = found.contexts[item.word]
            for name, lines in zip(found.names, (sides.a, sides.b), strict=True):
                for line in lines:
                    show_line(f"{item.word}, {name}: {line}")
    for sentence in found.notes:
        note(sentence)
    untested = sum(bool(item.reason) for item in found)
    if untested:
        note(f"{untested:,} of {len(found):,} words could not be tested; --csv FILE keeps all rows, with the reason")
    if not voice.quiet:
        show_line(found.finding)
