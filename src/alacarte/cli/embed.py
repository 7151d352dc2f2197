"""`alc embed`: one word from a few sentences, on the fly."""

import sys
from typing import TYPE_CHECKING, Any

import typer

from alacarte._io.options import option
from alacarte.cli._spelling import from_spelling, with_form
from alacarte.cli.command import command
from alacarte.cli.opening import only_one, open_model, refuse
from alacarte.cli.options import AMONG, K, ModelOptions
from alacarte.cli.output import neighbour_dicts, note, show, show_neighbours

if TYPE_CHECKING:
    from alacarte.model.explaining import Explanation


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
    form: bool = option(False, "Use the word's spelling, too; without a context, only that."),
    vector: bool = option(False, "Print the vector itself: plain numbers."),
    explain: bool = option(False, "Show which context words the vector comes from, and its uncertainty."),
    k: int = K,
    among: int | None = AMONG,
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
    only_one("definition", "explain")
    if explain:
        refuse("does not go with --explain", "vector")
    if form and word is None:
        raise typer.BadParameter("--form needs the word itself; pass --word WORD")
    contexts = _contexts(context, needed=word is None or definition or explain)
    opened = open_model(model, check=not force)
    opened = with_form(opened) if form else opened
    if explain:
        from alacarte.model import explaining

        found = explaining.explain(opened, contexts, word, k=k, among=among, absent="whole", form=form)
        show(found, *_summary(found), found, *([] if found.nearest is None else [found.nearest]))
        return
    facts: dict[str, Any] = {}
    if not contexts and word is not None:
        spelled = from_spelling(opened, word)
        result, facts = spelled.vector, {"origin": "spelling", "expected_cosine": spelled.expected}
    elif definition:
        result = opened.embed_definition(" ".join(contexts), word, form=form)
    elif form:
        parts = opened.embed_parts(contexts, word, absent="whole")
        result = parts.fused[0]
        facts = {"origin": parts.origin[0], "spelling_weight": float(parts.form_weight[0])}
    else:
        result = opened.embed(contexts, word, absent="whole")
    if vector:
        show({"word": word, **facts, "vector": result.tolist()}, " ".join(f"{value:.9g}" for value in result.tolist()))
        return
    nearest = opened.nearest(result, k, among=among, without=word)
    facts = {"word": word, **facts, "neighbours": neighbour_dicts(nearest)}
    show(facts, lambda: show_neighbours({word or "neighbour": nearest}))


def _summary(found: "Explanation") -> list[str]:
    lines = []
    if found.contexts:
        known = "not known from one context" if found.confidence is None else f"{found.confidence:.2f}"
        one = "more contexts would change nothing"
        one += "" if found.spelling is None else " if spelling counted as much"
        lines.append(f"contexts {found.contexts}, confidence {known} (1: {one})")
    if found.spelling is not None:
        lines.append(f"from spelling {found.spelling:.0%}, from contexts {1 - found.spelling:.0%}")
    if found.intercept:
        lines.append(f"from the intercept of the transform {found.intercept:.1%}")
    return lines


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
