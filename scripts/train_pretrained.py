"""Learn everything that ships inside the package for some word vectors, with one command; the results are committed.

    python scripts/train_pretrained.py glove.6B.50d wiki.txt reviews.txt speeches.txt … --wordnet ../shared/data/wsd
    python scripts/train_pretrained.py glove.6B.100d … --vectors DIR/glove.6B.100d.npy

(`../shared/data/get-glove-100d DIR` fetches the vectors of the second; `scripts/registers.py DIR` writes the texts.) In
src/alacarte/pretrained it writes two models without their vectors, as `ALaCarte.save` does. NAME.plain is the paper's
method: windows of 10 words that count alike, a transform, how far the contexts of a typical word lie apart. NAME adapts
to texts; near words count more, and it holds besides:

- what contexts share in each of the texts, on average: the register of texts of no known kind;
- the same for definitions, from the glosses of WordNet for words of rank 60,000 or less;
- how much spelling counts beside n contexts. The form model itself is not shipped: it is learned from the vectors when
  first asked for, and kept in the user's cache.

Transforms, weights and spreads are learned from the first text alone.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from alacarte import ALaCarte, WordVectors, collect
from alacarte.contexts.shared_words import WordContexts
from alacarte.contexts.sums import ContextSums
from alacarte.model.model import ADAPTED_POSITIONS
from alacarte.model.saving import MAIN, PRETRAINED
from alacarte.senses.wordnet import open_wordnet
from alacarte.spelling.fusion import learn_form
from alacarte.text.tokenizers import get_tokenizer
from alacarte.transform.register import Register
from alacarte.transform.solve import Solve
from alacarte.uncertainty.spread import TypicalSpread

RARE, FREQUENT = 16, 10_000  # occurrences of the words whose spread is typical
GROUPS = 16  # of documents, which the spread is measured between
LEAST_USES = 3  # of a word in a text whose register is learned
DEFINED = 60_000  # first words whose definitions count
LEAST_WORDS = 3  # of a definition


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="name of the vectors, and of the folders to write")
    parser.add_argument("texts", nargs="+", type=Path, help="texts of several kinds, a document a line")
    parser.add_argument("--vectors", help="where the vectors are, if not an installed package")
    parser.add_argument("--wordnet", help="the folder or archive of WordNet whose glosses are definitions")
    parser.add_argument("--window", type=int, default=10, help="context words each side")
    parser.add_argument("--tau", type=int, help="only words that occur so often take part; default: weighting auto")
    parser.add_argument("--words", type=int, default=2000, help="words to measure the typical spread with")
    parser.add_argument("--out", type=Path, default=PRETRAINED, help="where the folders go")
    arguments = parser.parse_args()
    vectors, first = WordVectors.load(arguments.vectors or arguments.name), arguments.texts[0]
    solve = Solve(weighting=arguments.tau or "auto")

    def write(name: str, model: ALaCarte, sums: ContextSums, **parts: object) -> None:
        print(name, model.report, sep="\n")
        typical, transform = typical_spread(model, sums, first, arguments.words), replace(model.transform, name=name)
        saved = ALaCarte(vectors, transform, tokenizer=model.settings.tokenizer, typical=typical, **parts)  # type: ignore[arg-type]
        saved.save(arguments.out / name, include_vectors=False)
        main = arguments.out / name / MAIN  # names the vectors, wherever they were read from here
        description = json.loads(main.read_text(encoding="utf-8")) | {"vectors": arguments.name}
        main.write_text(f"{json.dumps(description, indent=2)}\n", encoding="utf-8")

    sums = collect(vectors, first, window=arguments.window)
    write(f"{arguments.name}.plain", ALaCarte.from_sums(vectors, sums, weighting=solve.weighting, adapt=False), sums)

    registers = []
    for text in reversed(arguments.texts):
        sums = collect(vectors, text, window=arguments.window, positions=ADAPTED_POSITIONS)
        register = Register.of_sums(sums, vectors, LEAST_USES)
        if register is not None:
            registers.append(register)
            print(f"{text.name}: {sums.tokens_read:,} tokens, {round(register.uses):,} uses of words")
    register = Register.mean(registers)
    transform = ALaCarte.from_sums(vectors, sums, weighting=solve.weighting, adapt=False).transform
    form, fusion = learn_form(vectors, sums, first, solve=solve, register=register)
    print(form, f"ridge {form.ridge:g}", *form.quality, *fusion.report, sep="\n")
    definitions = None if arguments.wordnet is None else register_of_definitions(vectors, arguments.wordnet)
    model = ALaCarte(vectors, transform, register=register)
    write(arguments.name, model, sums, register=register, definitions=definitions, fusion=fusion)


def typical_spread(model: ALaCarte, sums: ContextSums, text: Path, words: int) -> TypicalSpread:
    """How far the contexts of a typical word lie apart."""
    counts = dict(zip(sums.keys, sums.occurrences.tolist(), strict=True))
    usable = [word for word, count in counts.items() if RARE <= count <= FREQUENT and word.isalpha()]
    drawn = np.random.default_rng(0).choice(usable, min(words, len(usable)), replace=False).tolist()
    typical = model.induce(text, drawn, spread=GROUPS).uncertainty.typical
    for name in ("scale", "scale_df", "direction_df", "rank", "length", "length_spread", "near", "targets"):
        print(f"{name:<14} {getattr(typical, name):.4g}")
    return typical


def register_of_definitions(vectors: WordVectors, wordnet: str) -> Register:
    """The register of the glosses of WordNet: the words of a gloss are the context of what it defines."""
    split, index = get_tokenizer("words"), vectors.key_to_index
    d = vectors.dimension
    sums, lengths, counts = np.zeros((DEFINED, d)), np.zeros(DEFINED), np.zeros(DEFINED, dtype=np.int64)
    for synset in open_wordnet(wordnet).all_synsets():
        tokens = split(" ".join([synset.definition, *synset.examples]), index)
        for lemma in synset.lemmas:
            row = index.get(lemma.lower(), DEFINED)
            if row < DEFINED:
                words = [index[token] for token in tokens if token in index and index[token] != row]
                sums[row] += vectors.matrix[words].sum(axis=0, dtype=np.float64)
                lengths[row] += len(words)
                counts[row] += 1
    rows = np.flatnonzero(lengths >= LEAST_WORDS)
    contexts = sums[rows] / lengths[rows, None]
    return Register.of_words(WordContexts(rows, contexts, counts[rows], lengths[rows] / counts[rows]), vectors)


if __name__ == "__main__":
    main()
