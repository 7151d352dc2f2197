"""`alc nearest`: nearest neighbours by vectors as they are, by an index, or with intervals from saved sums."""

from pathlib import Path

import typer

from alacarte._io.options import option
from alacarte.cli._spelling import with_form
from alacarte.cli.command import command
from alacarte.cli.opening import listed_targets, open_model, open_sums, open_vectors, refuse
from alacarte.cli.options import AMONG, K, ModelOptions, NamedWords
from alacarte.cli.output import neighbour_dicts, show, show_neighbours
from alacarte.cli.outputs import INDEX
from alacarte.cli.tables import similarities

INTERVALS = "With intervals"


@command()
def nearest(
    *,
    file: str | None = option(
        None,
        "Vectors of any common format, glove.6B.50d, or an index made by alc convert; else $ALC_VECTORS.",
        metavar="VECTORS",
        argument=True,
        environment="ALC_VECTORS",
    ),
    words: NamedWords,
    positive: list[str] | None = option(None, "Near to all of these, as one query; repeat for more.", metavar="WORD"),
    negative: list[str] | None = option(None, "And far from these; repeat for more.", metavar="WORD"),
    source: str | None = option(
        None, "Take the words from these vectors, such as induced ones.", flag="--from", metavar="FILE|NAME"
    ),
    k: int = K,
    among: int | None = AMONG,
    sums: list[Path] | None = option(
        None,
        "Instead of vectors: sums that alc induce --spread 16 --save-sums FILE saved; several are added up.",
        metavar="FILE",
        panel=INTERVALS,
    ),
    like: list[str] | None = option(
        None, "The cosine with this word; repeat for more.", metavar="WORD", panel=INTERVALS
    ),
    level: float = option(0.95, "The confidence level of intervals.", minimum=0.5, maximum=0.9999, panel=INTERVALS),
    form: bool = option(False, "Include spelling, as alc induce --form does.", panel=INTERVALS),
    model: ModelOptions,
) -> None:
    """List the nearest neighbours of words.

    \b
    alc nearest glove.6B.50d --word cheese --word wine --among 50000
    alc nearest glove.6B.50d --from new.safetensors --among 30000
    alc nearest glove.6B.50d --positive king --positive woman --negative man
    alc nearest glove.6B.50d -w "keyword argument" --from new.safetensors
    alc nearest --sums new.sums --model glove.6B.50d --word bank


    With --from and without words, all words of that file are asked for. With --sums, every cosine has an interval;
    without words, all targets are listed with their confidence.
    """
    from alacarte._io.artifact import kind_of

    asked, plus, minus = list(listed_targets(words)), positive or [], negative or []
    if sums:
        if file is not None:
            raise typer.BadParameter(f"{file}: vectors do not go with --sums; pass --model, which has its own")
        refuse("does not go with --sums", "source", "positive", "negative")
        opened = open_model(model)
        opened = with_form(opened) if form else opened
        known = opened.apply(open_sums(sums), form=form).uncertainty
        show(similarities(known, asked, like, k, among, level) if asked else known)
        return
    refuse("goes with --sums", "like", "level", "form", ModelOptions)
    others = None if source is None else open_vectors(source)
    if not (asked or plus or minus):
        if others is None:
            raise typer.BadParameter("no word is given; pass --word WORD, --words FILE, or --positive and --negative")
        asked = list(others.words)
    named_so = file is not None and Path(file).suffix.lower() == ".index"
    if file is not None and (named_so or (Path(file).is_file() and kind_of(Path(file)) == INDEX)):
        from alacarte.vectors.neighbours import Index

        refuse("does not go with an index", "among", "positive", "negative")
        index = Index.load(file)
        keys = index.vectors if others is None else others
        lists = {word: index.nearest(keys[word], k, exclude=[word]) for word in asked}
    else:
        vectors = open_vectors(file)
        keys = vectors if others is None else others
        lists = {word: vectors.nearest(keys[word], k, among=among, exclude=[word]) for word in asked}
        if plus or minus:
            near, far = (side if others is None else [others[name] for name in side] for side in (plus, minus))
            lists[" − ".join([" + ".join(plus), *minus])] = vectors.most_similar(near, far, k, among=among)
    show({name: neighbour_dicts(found) for name, found in lists.items()}, lambda: show_neighbours(lists))
