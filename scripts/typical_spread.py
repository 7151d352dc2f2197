"""Learn how far the contexts of a typical word lie apart, for a model that ships, and keep it beside its transform.

    python scripts/typical_spread.py CORPUS glove.6B.50d
    python scripts/typical_spread.py CORPUS glove.6B.100d --vectors glove.6B.100d.txt

2,000 words are drawn from those that occur 16 to 10,000 times; CORPUS is text, a document a line.
"""

import argparse
from pathlib import Path

import numpy as np

from alacarte import ALaCarte
from alacarte.contexts.sums import count_words
from alacarte.saving import PRETRAINED


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("corpus", type=Path)
    options.add_argument("model")
    options.add_argument("--vectors")
    options.add_argument("--words", type=int, default=2000)
    given = options.parse_args()
    model = ALaCarte.pretrained(given.model, vectors=given.vectors)
    counts = count_words(model.vectors, given.corpus, model.tokenizer)
    usable = [row for row in np.flatnonzero((counts >= 16) & (counts <= 10_000)) if model.vectors.words[row].isalpha()]
    rng = np.random.default_rng(0)
    words = [model.vectors.words[row] for row in rng.choice(usable, min(given.words, len(usable)), replace=False)]
    sure = model.induce(given.corpus, words, spread=16).uncertainty
    typical = sure.typical
    typical.save(PRETRAINED / given.model / "spread.safetensors")
    for name in ("scale", "scale_df", "direction_df", "rank", "length", "length_spread", "near", "targets"):
        print(f"{name:<14} {getattr(typical, name):.4g}")


if __name__ == "__main__":
    main()
