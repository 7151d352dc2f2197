"""`alc embed`: one word from a few sentences, on the fly."""

import sys
from typing import TYPE_CHECKING, Any

import typer

from alacarte._io.options import option
from alacarte._io.printing import shortened
from alacarte.cli._spelling import facts_of, from_spelling, with_form
from alacarte.cli.command import command
from alacarte.cli.opening import only_one, open_model, refuse
from alacarte.cli.options import Among, K, ModelOptions
from alacarte.cli.output import neighbour_dicts, note, show, show_neighbours

if TYPE_CHECKING:
    from alacarte.model import ALaCarte

LITTLE = 0.75  # weight below which a context is named


@command()
def embed(
    *,
    model: ModelOptions,
    force: bool = option(False, "Use a transform with vectors or sums that it was not learned for. For experts."),
    word: str | None = option(None, "The word or phrase; may be new.", short="-w", metavar="WORD"),
    context: list[str] | None = option(
        None, "A text that mentions it; repeat for more. - reads one per line from stdin.", metavar="TEXT"
    ),
    definition: bool = option(False, "The context is a definition: all its words count."),
    each: bool = option(False, "One vector for each context, not one for all."),
    form: bool = option(False, "Add what the word's spelling says; without a context it is all there is."),
    agreement: bool = option(False, "Contexts that disagree with the rest count less; from four on."),
    vector: bool = option(False, "Print the vector itself: plain numbers, a line for each."),
    explain: bool = option(False, "Show which context words the vector comes from, and its uncertainty."),
    k: K = 10,
    among: Among = None,
) -> None:
    """Embed a word from a few sentences; list its neighbours.

    \b
    alc embed --model glove.6B.50d --word blorp --among 20000 \\
        --context "a cute, fluffy blorp purred and chased the mouse"
    grep -i bank news.txt | alc embed --model glove.6B.50d --word bank --vector
    alc embed --model glove.6B.50d --word unfriendliness

    Where the word occurs, the words around it count; in a context without it, all words do. A word without any
    context is embedded by its spelling.
    """
    only_one("each", "definition", "explain", "agreement")
    if explain:
        refuse("does not go with --explain", "vector")
    if agreement:
        refuse("does not go with --agreement", "form")
    if form and word is None:
        raise typer.BadParameter("--form needs the word itself; pass --word WORD")
    contexts = _contexts(context, needed=word is None or definition or explain or agreement)
    opened = open_model(model, check=not force)
    opened = with_form(opened) if form else opened
    if explain:
        from alacarte.cli._explain import show_explanation
        from alacarte.model import explaining

        explanation = explaining.explain(opened, contexts, word, k=k, among=among, absent="whole", form=form)
        show_explanation(opened, explanation, k, among)
        return
    if not contexts and word is not None:
        spelled = from_spelling(opened, word)
        result, facts, each = spelled.vector, {"origin": "spelling", "expected_cosine": spelled.expected}, False
    else:
        result, facts = _embedded(opened, contexts, word, definition, each, form, agreement)
    rows = result if each else result[None]
    if vector:
        numbers = (rows if each else rows[0]).tolist()
        lines = [" ".join(f"{value:.9g}" for value in row) for row in rows.tolist()]
        show({"word": word, **facts, "vectors" if each else "vector": numbers}, *lines)
        return
    nearest = opened.nearest(rows, k, among=among, without=word)
    titles = _distinct([shortened(text, 30) for text in contexts]) if each else [word or "neighbour"]
    lists = [neighbour_dicts(neighbours) for neighbours in nearest]
    show(
        {"word": word, **facts, "neighbours": lists if each else lists[0]},
        lambda: show_neighbours(dict(zip(titles, nearest, strict=True))),
    )


def _embedded(
    model: "ALaCarte", contexts: list[str], word: str | None, definition: bool, each: bool, form: bool, agreement: bool
) -> tuple[Any, dict[str, Any]]:
    """Return (the vector, or one for each context; facts for --json)."""
    if definition:
        return model.embed_definition(" ".join(contexts), word, form=form), {}
    if form:
        parts = model.embed_parts(contexts, word, each=each, absent="whole")
        return (parts.fused, {}) if each else (parts.fused.reshape(-1), facts_of(parts))
    if agreement:
        agreed = model.agreement(contexts, word, absent="whole")
        for weight, text in zip(agreed.weights, contexts, strict=True):
            if weight < LITTLE:
                note(f"counts {weight:.2f} and not 1: {shortened(text, 30)}")
        return agreed.vector, {"weights": agreed.weights.round(4).tolist()}
    return model.embed(contexts, word, each=each, absent="whole"), {}


def _contexts(given: list[str] | None, needed: bool) -> list[str]:
    """Return what was typed; standard input for `-`, and where nothing was typed and something is piped in.

    If nothing is `needed`, that may be nothing: there is a spelling.
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


def _distinct(titles: list[str]) -> list[str]:
    return [title if titles.count(title) == 1 else f"{place}. {title}" for place, title in enumerate(titles, 1)]
