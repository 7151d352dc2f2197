"""Word vectors of many dimensions, trained on the text they are used for, as the paper's document vectors were.

    python benchmarks/train_vectors.py documents/ --wiki enwiki.txt.xz --beside glove.6B.100d.npy --out reviews/
    alc fit --vectors reviews/vectors.safetensors --corpus reviews/text.txt --out reviews/model

The text is IMDB's reviews to train on and its unlabelled ones (`imdb.tar.xz`), the texts of the seven other tasks, and
each fourth line of Wikipedia; labels are not read, and IMDB's test reviews are not either. It is kept as
`text.txt`, a document a line, so that the transform and the n-gram vectors can be learned from the same text.
Skip-gram by gensim, one thread, so that the same text gives the same vectors. State is kept after each epoch: run the
same command again to go on. `--stop` ends a run after so many epochs.
"""

import argparse
import json
import lzma
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from alacarte import WordVectors
from alacarte._files import atomic_write
from alacarte.errors import require
from alacarte.evaluation.documents_data import TASKS, imdb_part, read_task
from alacarte.tokens import get_tokenizer

BREAK = " < br / >"  # a line's end in the reviews' HTML, as the tokenizer leaves it
FIRST, LAST = 0.0251, 1e-4  # the learning rate, from the first step to the last


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data", type=Path, help="the folder with the document tasks")
    options.add_argument("--wiki", type=Path, required=True, help="enwiki.txt.xz, a paragraph a line")
    options.add_argument("--every", type=int, default=4, help="each n-th line of it")
    options.add_argument("--known", default="glove.6B.50d", help="whose compounds the tokenizer leaves whole")
    options.add_argument("--out", type=Path, required=True, help="folder for text.txt, vectors.safetensors and state")
    options.add_argument("--beside", help="vectors whose dimensions follow the trained ones")
    options.add_argument("--dimension", type=int, default=300)
    options.add_argument("--window", type=int, default=5)
    options.add_argument("--negative", type=int, default=5)
    options.add_argument("--sample", type=float, default=1e-4)
    options.add_argument("--min-count", type=int, default=5)
    options.add_argument("--epochs", type=int, default=5)
    options.add_argument("--stop", type=int, default=None, metavar="N", help="end this run after N epochs")
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    text = given.out / "text.txt"
    if not text.is_file():
        write_text(text, given)
    model, done = train(text, given)
    print(json.dumps({"epochs": done, "of": given.epochs, "words": len(model.wv), "tokens": model.corpus_total_words}))
    if done == given.epochs:
        vectors = WordVectors(list(model.wv.index_to_key), model.wv.vectors)
        if given.beside is not None:
            vectors = beside(vectors, WordVectors.load(given.beside))
        vectors.save(given.out / "vectors.safetensors")


def beside(first: WordVectors, second: WordVectors) -> WordVectors:
    """The words of the first, their vectors followed by those in the second (zeros where it has none).

    Both parts are scaled to a mean length of 1, so that neither drowns the other.
    """
    rows = np.zeros((len(first), second.dimension), dtype=np.float32)
    for row, word in enumerate(first.words):
        if word in second:
            rows[row] = second[word]
    parts = [part / np.linalg.norm(part, axis=1).mean() for part in (first.matrix, rows)]
    return WordVectors(first.words, np.hstack(parts))


def texts(data: Path, wiki: Path, every: int) -> Iterator[str]:
    """What is learned from, without any label."""
    for split in ("train", "unsup"):
        with imdb_part(data, split) as lines:
            for line in lines:
                yield str(json.loads(line)["text"])
    for name in TASKS[:-1]:
        yield from read_task(data, name).texts
    with lzma.open(wiki, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file):
            if number % every == 0 and line.strip():
                yield line


def write_text(path: Path, given: argparse.Namespace) -> None:
    tokenizer, known = get_tokenizer("words"), WordVectors.load(given.known).key_to_index
    begun = time.perf_counter()
    with atomic_write(path) as file:
        for document in texts(given.data, given.wiki, given.every):
            file.write((" ".join(tokenizer(document, known)).replace(BREAK, "") + "\n").encode())
    print(f"text: {time.perf_counter() - begun:.0f} s", flush=True)


def train(text: Path, given: argparse.Namespace) -> tuple[Any, int]:
    """(model, epochs done), going on from the state in the folder."""
    word2vec = require("gensim.models.word2vec", extra="gensim", purpose="training vectors")
    state = given.out / "state"
    settings = {
        name: getattr(given, name) for name in ("dimension", "window", "negative", "sample", "min_count", "epochs")
    }
    if state.is_file():
        model = word2vec.Word2Vec.load(str(state))
        if model.alc_settings != settings:
            raise SystemExit(f"{state} was begun with other settings, {model.alc_settings}; choose another --out")
    else:
        model = word2vec.Word2Vec(
            sg=1, vector_size=given.dimension, window=given.window, negative=given.negative, sample=given.sample,
            min_count=given.min_count, seed=0, workers=1,
        )  # fmt: skip
        model.build_vocab(corpus_file=str(text))
        model.alc_settings, model.alc_done = settings, 0
    last = given.epochs if given.stop is None else min(given.epochs, model.alc_done + given.stop)
    while model.alc_done < last:
        begun = time.perf_counter()
        rates = [FIRST + (LAST - FIRST) * (model.alc_done + step) / given.epochs for step in (0, 1)]
        model.train(
            corpus_file=str(text), total_words=model.corpus_total_words, total_examples=model.corpus_count, epochs=1,
            start_alpha=rates[0], end_alpha=rates[1],
        )  # fmt: skip
        model.alc_done += 1
        model.save(str(state))
        print(f"epoch {model.alc_done} of {given.epochs}: {time.perf_counter() - begun:.0f} s", flush=True)
    return model, model.alc_done


if __name__ == "__main__":
    main()
