"""`alc nearest`: neighbours of words in a file of vectors."""

from typing import Annotated

import typer

from alacarte.cli import options as o
from alacarte.cli.opening import open_vectors
from alacarte.cli.output import neighbour_dicts, show_json, show_neighbours


def nearest(
    vectors: Annotated[str, typer.Argument(metavar="VECTORS", help="A file of any common format, or glove.6B.50d.")],
    words: Annotated[list[str] | None, typer.Argument(metavar="WORD", show_default=False)] = None,
    positive: Annotated[
        list[str] | None,
        typer.Option(metavar="W", help="Near to all of these, as one query; repeat for more."),
    ] = None,
    negative: Annotated[
        list[str] | None, typer.Option(metavar="W", help="And far from these; repeat for more.")
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
    alc nearest glove.6B.50d cheese wine --among 50000
    alc nearest glove.6B.50d --positive king --positive woman --negative man
    alc nearest glove.6B.50d "keyword argument" --from induced.safetensors
    """
    if not (words or positive or negative):
        raise typer.BadParameter("no word is given; name some, or pass --positive and --negative")
    opened = open_vectors(vectors, format=vectors_format, limit=limit, skip_errors=skip_errors, cache=cache)
    others = opened if source is None else open_vectors(source)
    lists: dict[str, list[tuple[str, float]]] = {}
    for word in words or []:
        lists[word] = opened.nearest(others[word], k, among=among, exclude=[word])
    if positive or negative:
        plus, minus = positive or [], negative or []
        title = " − ".join([" + ".join(plus), *minus])
        if source is None:
            lists[title] = opened.most_similar(plus, minus, k, among=among)
        else:
            lists[title] = opened.most_similar(
                [others[word] for word in plus], [others[word] for word in minus], k, among=among
            )
    if as_json:
        show_json({name: neighbour_dicts(neighbours) for name, neighbours in lists.items()})
    else:
        show_neighbours(lists)
