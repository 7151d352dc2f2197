"""Word vectors of many dimensions, trained on the text they are used for, as the paper's document vectors were.

    python benchmarks/train_vectors.py documents/ --wiki enwiki.txt.xz --beside glove.6B.100d.npy --out reviews/
    alc fit --vectors reviews/vectors.safetensors --corpus reviews/text.txt --out reviews/model

The text is IMDB's reviews to train on and its unlabelled ones (`imdb.tar.xz`), the texts of the seven other tasks, and
each fourth line of Wikipedia; labels are not read, and IMDB's test reviews are not either. It is kept as
`text.txt`, a document a line, so that the transform and the n-gram vectors can be learned from the same text.
Three kinds of vectors stand side by side: skip-gram and CBOW by gensim, each by one thread, so that the same text gives
the same vectors; and what a singular value decomposition leaves of the positive pointwise mutual information of words
that stand near each other (Levy et al. 2015), by scikit-learn. State is kept after each epoch and each kind: run the
same command again to go on.
"""

import argparse
import json
import lzma
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from alacarte import Corpus, WordVectors
from alacarte._files import atomic_write
from alacarte.encoding import Encoder, Lexicon
from alacarte.errors import require
from alacarte.evaluation.documents_data import TASKS, imdb_part, read_task
from alacarte.tokens import get_tokenizer

BREAK = " < br / >"  # a line's end in the reviews' HTML, as the tokenizer leaves it
FIRST, LAST = 0.0251, 1e-4  # the learning rate, from the first step to the last
KINDS = {"skip-gram": {"sg": 1, "negative": 5, "epochs": 5}, "cbow": {"sg": 0, "negative": 10, "epochs": 8}}
NEAR = 10  # words on either side; one at distance k counts 1/k
SMOOTHED = 0.75  # power of the frequency of the word beside
BLOCK = 1 << 25  # characters whose pairs are counted at once


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data", type=Path, help="the folder with the document tasks")
    options.add_argument("--wiki", type=Path, required=True, help="enwiki.txt.xz, a paragraph a line")
    options.add_argument("--every", type=int, default=4, help="each n-th line of it")
    options.add_argument("--known", default="glove.6B.50d", help="whose compounds the tokenizer leaves whole")
    options.add_argument("--out", type=Path, required=True, help="folder for text.txt, vectors.safetensors and state")
    options.add_argument("--beside", help="vectors whose dimensions follow the trained ones")
    options.add_argument("--dimension", type=int, default=300, help="of skip-gram and of CBOW")
    options.add_argument("--components", type=int, default=900, help="of the decomposition")
    options.add_argument("--window", type=int, default=5)
    options.add_argument("--sample", type=float, default=1e-4)
    options.add_argument("--min-count", type=int, default=5)
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    text = given.out / "text.txt"
    if not text.is_file():
        write_text(text, given)
    parts = [train(text, given, kind) for kind in KINDS]
    parts.append(decomposed(text, given, parts[0].words))
    if given.beside is not None:
        parts.append(WordVectors.load(given.beside))
    vectors = side_by_side(parts)
    vectors.save(given.out / "vectors.safetensors")
    print(json.dumps({"words": len(vectors), "dimensions": vectors.dimension}))


def side_by_side(parts: list[WordVectors]) -> WordVectors:
    """The words of the first, their vectors followed by those in the others (zeros where one has none).

    All parts are scaled to a mean length of 1, so that none drowns the others.
    """
    words, columns = parts[0].words, []
    for part in parts:
        rows = np.zeros((len(words), part.dimension), dtype=np.float32)
        for row, word in enumerate(words):
            if word in part:
                rows[row] = part[word]
        columns.append(rows / np.linalg.norm(rows, axis=1).mean())
    return WordVectors(words, np.hstack(columns))


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


def train(text: Path, given: argparse.Namespace, kind: str) -> WordVectors:
    """Vectors of one kind, going on from the state in the folder."""
    word2vec = require("gensim.models.word2vec", extra="gensim", purpose="training vectors")
    state = given.out / f"state-{kind}"
    settings = {name: getattr(given, name) for name in ("dimension", "window", "sample", "min_count")} | KINDS[kind]
    model: Any
    if state.is_file():
        model = word2vec.Word2Vec.load(str(state))
        if model.alc_settings != settings:
            raise SystemExit(f"{state} was begun with other settings, {model.alc_settings}; choose another --out")
    else:
        model = word2vec.Word2Vec(
            sg=settings["sg"], vector_size=given.dimension, window=given.window, negative=settings["negative"],
            sample=given.sample, min_count=given.min_count, seed=0, workers=1,
        )  # fmt: skip
        model.build_vocab(corpus_file=str(text))
        model.alc_settings, model.alc_done = settings, 0
    while model.alc_done < settings["epochs"]:
        begun = time.perf_counter()
        rates = [FIRST + (LAST - FIRST) * (model.alc_done + step) / settings["epochs"] for step in (0, 1)]
        model.train(
            corpus_file=str(text), total_words=model.corpus_total_words, total_examples=model.corpus_count, epochs=1,
            start_alpha=rates[0], end_alpha=rates[1],
        )  # fmt: skip
        model.alc_done += 1
        model.save(str(state))
        print(
            f"{kind}, epoch {model.alc_done} of {settings['epochs']}: {time.perf_counter() - begun:.0f} s", flush=True
        )
    return WordVectors(list(model.wv.index_to_key), model.wv.vectors)


def decomposed(text: Path, given: argparse.Namespace, words: Sequence[str]) -> WordVectors:
    """U √S of the decomposition U S Vᵀ of the words' positive pointwise mutual information."""
    state = given.out / f"state-svd-{given.components}.safetensors"
    if state.is_file():
        kept = WordVectors.load(state)
        if list(kept.words) != list(words):
            raise SystemExit(f"{state} was made of other words; choose another --out")
        return kept
    extmath = require("sklearn.utils.extmath", extra="sklearn", purpose="decomposing")
    begun = time.perf_counter()
    information = positive_information(near_each_other(text, words))
    left, scale, _ = extmath.randomized_svd(information, given.components, n_iter=2, random_state=0)
    vectors = WordVectors(words, (left * np.sqrt(scale)).astype(np.float32))
    vectors.save(state)
    print(f"decomposition: {time.perf_counter() - begun:.0f} s", flush=True)
    return vectors


def near_each_other(text: Path, words: Sequence[str]) -> scipy.sparse.csr_matrix:
    """(words, words): how often each stands near each, weighted by distance; both directions."""
    encoder = Encoder(get_tokenizer("whitespace"), Lexicon({word: row for row, word in enumerate(words)}))
    counts = scipy.sparse.csr_matrix((len(words), len(words)), dtype=np.float32)
    for block in Corpus(text).blocks(BLOCK):
        encoded = encoder.encode(block)
        lengths = np.diff(encoded.offsets)
        apart = np.full(len(encoded.ids) + NEAR * len(lengths), -1, dtype=np.int32)  # no pair reaches over the gap
        apart[np.arange(len(encoded.ids)) + NEAR * np.repeat(np.arange(len(lengths)), lengths)] = encoded.ids
        for distance in range(1, NEAR + 1):
            both = (apart[:-distance] >= 0) & (apart[distance:] >= 0)
            pairs = apart[:-distance][both], apart[distance:][both]
            weights = np.full(len(pairs[0]), 1 / distance, dtype=np.float32)
            counts += scipy.sparse.coo_matrix((weights, pairs), shape=counts.shape).tocsr()
    return (counts + counts.T).tocsr()


def positive_information(counts: scipy.sparse.csr_matrix) -> scipy.sparse.csr_matrix:
    """max(0, log p(word, beside) / p(word) p(beside)), with the second frequency smoothed."""
    totals = np.asarray(counts.sum(axis=1, dtype=np.float64)).ravel()
    smoothed = totals**SMOOTHED
    each: npt.NDArray[np.float64] = np.repeat(totals, np.diff(counts.indptr)) * smoothed[counts.indices]
    values = np.maximum(np.log(counts.data * smoothed.sum() / each), 0).astype(np.float32)
    information = scipy.sparse.csr_matrix((values, counts.indices, counts.indptr), shape=counts.shape)
    information.eliminate_zeros()
    return information


if __name__ == "__main__":
    main()
