"""`alc embed`: one word from a few sentences, on the fly."""

import sys
from typing import Annotated, Any

import typer

from alacarte.cli import options as o
from alacarte.cli._form import facts_of, from_spelling, with_form
from alacarte.cli.opening import open_model
from alacarte.cli.output import neighbour_dicts, note, show_json, show_line, show_neighbours

LITTLE = 0.75  # weight below which a context is named


def embed(
    model: o.Model = None,
    word: Annotated[
        str | None, typer.Option("--word", "-w", metavar="WORD", help="The word or phrase; may be new.")
    ] = None,
    context: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="A text that mentions it; repeat for more. Or from stdin, one a line, with -.",
        ),
    ] = None,
    definition: Annotated[
        bool, typer.Option("--definition", help="The context is a definition: all its words count.")
    ] = False,
    each: Annotated[bool, typer.Option("--each", help="One vector for each context, not one for all.")] = False,
    form: Annotated[
        bool, typer.Option("--form", help="Add what the word's spelling says; without a context it is all there is.")
    ] = False,
    agreement: Annotated[
        bool, typer.Option("--agreement", help="Contexts that disagree with the rest count less; from four on.")
    ] = False,
    vector: Annotated[
        bool, typer.Option("--vector", help="Print the vector itself: plain numbers, a line for each.")
    ] = False,
    explained: Annotated[
        bool, typer.Option("--explain", help="Which context words made the vector, and how certain it is.")
    ] = False,
    k: o.K = 10,
    among: o.Among = None,
    transform: o.TransformFile = None,
    vectors: o.OtherVectors = None,
    window: o.ModelWindow = None,
    averaging: o.ModelAveraging = None,
    tokenizer: o.ModelTokenizer = None,
    force: o.Force = False,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """Embed a word from one or more sentences and list its nearest neighbours.

    \b
    alc embed --model glove.6B.50d --word blorp --among 20000 \\
        --context "a cute, fluffy blorp purred and chased the mouse"
    grep -i bank news.txt | alc embed --model glove.6B.50d --word bank --vector
    alc embed --model glove.6B.50d --word unfriendliness

    Where the word occurs, the words around it count; in a context without it, all words do. A word without any
    context is embedded by its spelling.
    """
    if each and definition:
        raise typer.BadParameter("--each goes with contexts and not with --definition")
    if explained and (each or definition or vector):
        raise typer.BadParameter("--explain goes with contexts, and not with --each, --definition or --vector")
    if agreement and (each or definition or explained or form):
        raise typer.BadParameter(
            "--agreement goes with contexts, and not with --each, --definition, --explain or --form"
        )
    if form and word is None:
        raise typer.BadParameter("--form needs the word itself; pass --word WORD")
    contexts = _contexts(context, needed=word is None or definition or explained or agreement)
    opened = open_model(
        model,
        vectors=vectors,
        transform=transform,
        window=window,
        averaging=averaging,
        tokenizer=tokenizer,
        force=force,
    )
    if explained:
        from alacarte.cli._explain import show_explanation
        from alacarte.model.explaining import explain

        opened = with_form(opened) if form else opened
        explanation = explain(opened, contexts, word, k=k, among=among, absent="whole", form=form)
        show_explanation(opened, explanation, k, among, as_json)
        return
    facts: dict[str, Any] = {}
    if not contexts and word is not None:
        spelled = from_spelling(opened, word)
        result, facts = spelled.vector, {"origin": "spelling", "expected_cosine": spelled.expected}
        each = False
    elif definition:
        opened = with_form(opened) if form else opened
        result = opened.embed_definition(" ".join(contexts), word, form=form)
    elif form:
        parts = with_form(opened).embed_parts(contexts, word, each=each, absent="whole")
        result = parts.fused if each else parts.fused.reshape(-1)
        facts = {} if each else facts_of(parts)
    elif agreement:
        agreed = opened.agreement(contexts, word, absent="whole")
        result, facts = agreed.vector, {"weights": agreed.weights.round(4).tolist()}
        for weight, text in zip(agreed.weights, contexts, strict=True):
            if weight < LITTLE:
                note(f"counts {weight:.2f} and not 1: {_shortened(text)}")
    else:
        result = opened.embed(contexts, word, each=each, absent="whole")
    rows = result if each else result[None]
    titles = [_shortened(text) for text in contexts] if each else [word or "neighbour"]
    if vector and as_json:
        show_json({"word": word, **facts, "vectors" if each else "vector": (rows if each else rows[0]).tolist()})
        return
    if vector:
        for row in rows:
            show_line(" ".join(f"{value:.9g}" for value in row.tolist()))
        return
    nearest = opened.nearest(rows, k, among=among, without=word)
    if as_json:
        lists = [neighbour_dicts(neighbours) for neighbours in nearest]
        show_json({"word": word, **facts, "neighbours": lists if each else lists[0]})
    else:
        show_neighbours(dict(zip(_distinct(titles), nearest, strict=True)))


def _contexts(given: list[str] | None, needed: bool) -> list[str]:
    """What was typed; standard input for `-`, and where nothing was typed and something is piped in.

    Nothing, if nothing is `needed`: there is a spelling.
    """
    typed = given or []
    if "-" not in typed and (typed or sys.stdin.isatty()):
        if not typed and needed:
            raise typer.BadParameter('no context is given; pass --context "…", or sentences on standard input')
        return typed
    piped = [line.strip() for line in sys.stdin if line.strip()]
    contexts = [text for text in typed if text != "-"] + piped
    if not contexts and (needed or typed):
        raise typer.BadParameter('standard input holds no context; pass --context "…", or a sentence a line')
    if not piped and contexts:
        note("standard input is empty")
    return contexts


def _shortened(text: str) -> str:
    return text if len(text) <= 30 else text[:29] + "…"


def _distinct(titles: list[str]) -> list[str]:
    return [title if titles.count(title) == 1 else f"{place}. {title}" for place, title in enumerate(titles, 1)]
