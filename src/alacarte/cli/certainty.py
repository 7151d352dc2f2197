"""`alc certainty`: how sure vectors are, intervals on similarities, and whether two corpora use a word differently."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from alacarte.cli import options as o
from alacarte.cli._explain import show_similarities
from alacarte.cli._form import with_form
from alacarte.cli.opening import open_model, open_sums
from alacarte.cli.output import note, show_columns, show_json

if TYPE_CHECKING:
    from alacarte.inference.comparing import Comparisons
    from alacarte.inference.uncertainty import Uncertainty

SHOWN = 50  # rows of a table on the terminal


def certainty(
    word: o.Words = None,
    model: o.Model = None,
    sums: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Sums that alc induce --spread 16 --save-sums made; several are added up."),
    ] = None,
    similar: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="WORD", help="The cosine with this word, with its interval; repeat for more."),
    ] = None,
    against: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Sums of another corpus: is the word used differently there?"),
    ] = None,
    k: o.K = 10,
    among: o.Among = None,
    level: Annotated[float, typer.Option(min=0.5, max=0.9999, help="Of the intervals.")] = 0.95,
    form: Annotated[
        bool, typer.Option("--form", help="Of the vectors with spelling, as alc induce --form makes them.")
    ] = False,
    transform: o.TransformFile = None,
    vectors: o.OtherVectors = None,
    force: o.Force = False,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """Say how sure induced vectors are, and test whether two corpora use a word differently.

    \b
    alc induce --model glove.6B.50d --corpus old.txt --words words.txt \\
        --spread 16 --save-sums old.sums --out old.vec
    alc certainty --model glove.6B.50d --sums old.sums
    alc certainty --model glove.6B.50d --sums old.sums --word bank --among 50000
    alc certainty --model glove.6B.50d --sums old.sums --word bank \\
        --with money --with river
    alc certainty --model glove.6B.50d --sums old.sums --word bank --form
    alc certainty --model glove.6B.50d --sums old.sums --against new.sums

    Without --word, of all targets in the sums.
    """
    if not sums:
        raise typer.BadParameter("pass --sums FILE, which alc induce --spread 16 --save-sums FILE makes")
    if similar and (against or not word):
        raise typer.BadParameter("--with goes with --word, and not with --against")
    if form and against:
        raise typer.BadParameter("--against compares contexts; leave --form out")
    opened = open_model(model, vectors=vectors, transform=transform, force=force)
    opened = with_form(opened) if form else opened
    uncertainty = opened.apply(open_sums(sums), form=form).uncertainty
    if against:
        from alacarte.inference.comparing import compare_uses

        there = opened.apply(open_sums(against)).uncertainty
        _show_comparisons(compare_uses(uncertainty, there, word or None, level), as_json)
        return
    if not word:
        _show_all(uncertainty, as_json)
        return
    lists = {
        asked: uncertainty.similarities(asked, similar, level)
        if similar
        else uncertainty.nearest(asked, k, level=level, among=among)
        for asked in word
    }
    if as_json:
        show_json(
            {
                asked: {"confidence": uncertainty.confidence_of(asked), "similarities": similarities.to_dict()}
                for asked, similarities in lists.items()
            }
        )
        return
    for similarities in lists.values():
        show_similarities(similarities)


def _show_all(uncertainty: "Uncertainty", as_json: bool) -> None:
    rows = uncertainty.to_dict()
    if as_json:
        show_json(rows)
        return
    rows = sorted(rows, key=lambda row: -row["contexts"])
    cells = [
        (row["word"], f"{row['contexts']:,}", f"{row['effective_contexts']:,.1f}", f"{row['confidence']:.3f}")
        for row in rows[:SHOWN]
    ]
    show_columns(["target", "contexts", "effective contexts", "confidence"], cells)
    if len(rows) > SHOWN:
        note(f"{len(rows) - SHOWN:,} more rows; --json prints all")


def _show_comparisons(comparisons: "Comparisons", as_json: bool) -> None:
    if as_json:
        show_json(comparisons.to_dict())
        return
    from alacarte._io.table import format_p

    cells = []
    for item in comparisons[:SHOWN]:
        numbers = (
            f"{item.distance:.2f}",
            f"{item.conf_low:.2f} … {item.conf_high:.2f}",
            format_p(item.p_value),
            format_p(item.q_value),
        )
        shown = ("–", item.reason, "–", "–") if item.reason else numbers
        cells.append((item.word, f"{item.contexts_a:,}", f"{item.contexts_b:,}", *shown))
    names = ["word", "contexts here", "there", "distance", f"{comparisons.level:.0%} interval", "p", "q"]
    show_columns(names, cells)
    if len(comparisons) > SHOWN:
        note(f"{len(comparisons) - SHOWN:,} more rows; --json prints all")
