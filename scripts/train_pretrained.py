"""Learn everything that ships inside the package for some word vectors, with one command; the results are committed.

    python scripts/train_pretrained.py glove.6B.50d ../shared/data/wiki/enwiki.txt.xz
    python scripts/train_pretrained.py glove.6B.50d ../shared/data/wiki/enwiki.txt.xz --window 5
    python scripts/train_pretrained.py glove.6B.100d ../shared/data/wiki/enwiki.txt.xz --vectors DIR/glove.6B.100d.npy
    python scripts/train_pretrained.py glove.6B.100d ../shared/data/wiki/enwiki.txt.xz --vectors DIR/glove.6B.100d.npy \
        --window 5

(`../shared/data/get-glove-100d DIR` fetches the vectors of the second.) In src/alacarte/pretrained/NAME (for a window
other than 10: NAME.windowN) it writes a model without its vectors, as `ALaCarte.save` does:

- the transform, learned from the context sums of all words, with a report to read;
- how much spelling counts beside n contexts. The form model itself is not shipped: it is learned from the vectors when
  first asked for, and kept in the user's cache;
- how far the contexts of a typical word lie apart, from 2,000 words that occur 16 to 10,000 times.

The corpus is text, a document a line; it is read three times.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from alacarte import ALaCarte, ContextSums, WordVectors, collect
from alacarte.model.saving import SavedModel, write_model
from alacarte.spelling.fusion import Fusion, learn_form
from alacarte.transform.solve import Solve
from alacarte.uncertainty.spread import TypicalSpread

SHIPPED = Path(__file__).resolve().parents[1] / "src" / "alacarte" / "pretrained"
WINDOW = 10  # of the models that are named after their vectors alone
RARE, FREQUENT = 16, 10_000  # occurrences of the words whose spread is typical
GROUPS = 16  # of documents, which the spread is measured between


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="name of the vectors, and of the files to write")
    parser.add_argument("corpus", type=Path, help="text to learn from, a document a line")
    parser.add_argument("--vectors", help="where the vectors are, if not an installed package")
    parser.add_argument("--window", type=int, default=WINDOW, help="context words each side")
    parser.add_argument("--tau", type=int, help="only words that occur so often take part; default: weighting auto")
    parser.add_argument("--words", type=int, default=2000, help="words to measure the typical spread with")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="where the files go")
    arguments = parser.parse_args()

    vectors = WordVectors.load(arguments.vectors or arguments.name)
    sums = collect(vectors, arguments.corpus, window=arguments.window)
    model = ALaCarte.from_sums(vectors, sums, weighting=arguments.tau or "auto")
    print(model.report)
    fusion = train_fusion(vectors, sums, arguments)
    typical = train_spread(model, sums, arguments)
    name = arguments.name if arguments.window == WINDOW else f"{arguments.name}.window{arguments.window}"
    transform = replace(model.transform, name=name)
    saved = SavedModel(transform, vectors, model.settings.tokenizer, fusion=fusion, typical=typical)
    write_model(arguments.out / name, saved, vectors_name=arguments.name)


def train_fusion(vectors: WordVectors, sums: ContextSums, arguments: argparse.Namespace) -> Fusion:
    """How much spelling counts beside contexts."""
    form, fusion = learn_form(vectors, sums, arguments.corpus, solve=Solve(weighting=arguments.tau or "auto"))
    print(form, f"ridge {form.ridge:g}")
    for item in (*form.quality, *fusion.report):
        print(item)
    return fusion


def train_spread(model: ALaCarte, sums: ContextSums, arguments: argparse.Namespace) -> TypicalSpread:
    """How far the contexts of a typical word lie apart."""
    words, counts = model.vectors.words, sums.occurrences
    usable = [row for row in np.flatnonzero((counts >= RARE) & (counts <= FREQUENT)) if words[row].isalpha()]
    drawn = np.random.default_rng(0).choice(usable, min(arguments.words, len(usable)), replace=False)
    typical = model.induce(arguments.corpus, [words[row] for row in drawn], spread=GROUPS).uncertainty.typical
    for name in ("scale", "scale_df", "direction_df", "rank", "length", "length_spread", "near", "targets"):
        print(f"{name:<14} {getattr(typical, name):.4g}")
    return typical


if __name__ == "__main__":
    main()
