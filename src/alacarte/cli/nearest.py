"""`alc nearest`: neighbours of words in a file of vectors."""

from typing import Annotated

import typer

from alacarte.cli import options as o
from alacarte.cli.opening import open_vectors
from alacarte.cli.output import neighbour_dicts, show_json, show_neighbours


def nearest(
    vectors: o.VectorsArgument = None,
    word: o.Words = None,
    positive: Annotated[
        list[str] | None,
        typer.Option(metavar="WORD", help="Near to all of these, as one query; repeat for more."),
    ] = None,
    negative: Annotated[
        list[str] | None, typer.Option(metavar="WORD", help="And far from these; repeat for more.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE|NAME", help="Take the words from these vectors, such as induced ones."),
    ] = None,
    k: o.K = 10,
    among: o.Among = None,
    limit: o.Limit = None,
    vectors_format: o.VectorsFormat = None,
    skip_errors: o.SkipErrors = False,
    cache: o.Cache = False,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """List the words whose vectors have the largest cosine with those of the words given.

    \b
    alc nearest glove.6B.50d --word cheese --word wine --among 50000
    alc nearest glove.6B.50d --positive king --positive woman --negative man
    alc nearest glove.6B.50d -w "keyword argument" --from new.safetensors
    """
    if not (word or positive or negative):
        raise typer.BadParameter("no word is given; pass --word WORD, or --positive and --negative")
    opened = open_vectors(vectors, format=vectors_format, limit=limit, skip_errors=skip_errors, cache=cache)
    others = opened if source is None else open_vectors(source)
    lists: dict[str, list[tuple[str, float]]] = {}
    for asked in word or []:
        lists[asked] = opened.nearest(others[asked], k, among=among, exclude=[asked])
    if positive or negative:
        plus, minus = positive or [], negative or []
        title = " − ".join([" + ".join(plus), *minus])
        if source is None:
            lists[title] = opened.most_similar(plus, minus, k, among=among)
        else:
            lists[title] = opened.most_similar(
                [others[name] for name in plus], [others[name] for name in minus], k, among=among
            )
    if as_json:
        show_json({name: neighbour_dicts(neighbours) for name, neighbours in lists.items()})
    else:
        show_neighbours(lists)
