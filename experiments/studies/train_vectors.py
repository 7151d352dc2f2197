"""Word vectors of many dimensions, trained on the text they are used for, as the paper's document vectors were.

    python experiments/studies/train_vectors.py documents/ --wiki enwiki.txt.xz \
        --beside glove.6B.100d.npy --out reviews/
    alc fit --vectors reviews/vectors.safetensors --corpus reviews/text.txt --out reviews/model

The text is IMDB's reviews to train on and its unlabelled ones (`imdb.tar.xz`), the texts of the seven other tasks, and
each fourth line of Wikipedia; labels are not read, and IMDB's test reviews are not either. With `--unseen` the seven
other tasks are left out (SST is made of MR's sentences, so that the training part of one is the test of the other). The
text is kept as `text.txt`, a document a line, so that the transform and the n-gram vectors can be learned from it, too.
Two kinds of vectors stand side by side: skip-gram by gensim, by one thread, so that the same text gives the same
vectors; and latent semantic analysis by scikit-learn, in which words are alike that stand in the same documents, as
words of praise do in reviews. State is kept after each epoch: run the same command again to go on.
"""

import argparse
import json
import lzma
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from alacarte_experiments.documents.data import TASKS, imdb_part, read_task

from alacarte import Corpus, WordVectors
from alacarte.errors import require
from alacarte.passes.scan import scan
from alacarte.passes.work import Work
from alacarte.text.encoding import Encoder, Lexicon
from alacarte.text.tokenizers import get_tokenizer

BREAK = " < br / >"  # a line's end in the reviews' HTML, as the tokenizer leaves it
FIRST, LAST = 0.0251, 1e-4  # the learning rate, from the first step to the last
SKIP_GRAM = {"sg": 1, "negative": 5, "epochs": 5}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data", type=Path, help="the folder with the document tasks")
    options.add_argument("--wiki", type=Path, required=True, help="enwiki.txt.xz, a paragraph a line")
    options.add_argument("--every", type=int, default=4, help="each n-th line of it")
    options.add_argument(
        "--unseen", action="store_true", help="leave the texts of all tasks but IMDB's training part out"
    )
    options.add_argument("--known", default="glove.6B.50d", help="whose compounds the tokenizer leaves whole")
    options.add_argument("--out", type=Path, required=True, help="folder for text.txt, vectors.safetensors and state")
    options.add_argument("--beside", help="vectors whose dimensions follow the trained ones")
    options.add_argument(
        "--dimension", type=int, default=300, help="of skip-gram; 0 leaves it out, which saves most time"
    )
    options.add_argument("--components", type=int, default=600, help="dimensions of latent semantic analysis")
    options.add_argument("--window", type=int, default=5)
    options.add_argument("--sample", type=float, default=1e-4)
    options.add_argument("--min-count", type=int, default=5)
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    text = given.out / "text.txt"
    if not text.is_file():
        write_text(text, given)
    parts = [skip_gram(text, given)] if given.dimension else []
    words = parts[0].words if parts else frequent_words(text, given.min_count)
    parts.append(latent_semantics(text, words, given.components))
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


def texts(data: Path, wiki: Path, every: int, unseen: bool) -> Iterator[str]:
    """What is learned from, without any label."""
    for split in ("train", "unsup"):
        with imdb_part(data, split) as lines:
            for line in lines:
                yield str(json.loads(line)["text"])
    for name in [] if unseen else TASKS[:-1]:
        yield from read_task(data, name).texts
    with lzma.open(wiki, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file):
            if number % every == 0 and line.strip():
                yield line


def write_text(path: Path, given: argparse.Namespace) -> None:
    tokenizer, known = get_tokenizer("words"), WordVectors.load(given.known).key_to_index
    begun = time.perf_counter()
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8", newline="\n") as file:
        for document in texts(given.data, given.wiki, given.every, given.unseen):
            file.write(" ".join(tokenizer(document, known)).replace(BREAK, "") + "\n")
    part.replace(path)
    print(f"text: {time.perf_counter() - begun:.0f} s", flush=True)


def skip_gram(text: Path, given: argparse.Namespace) -> WordVectors:
    """Going on from the state in the folder."""
    word2vec = require("gensim.models.word2vec", extra="gensim", purpose="training vectors")
    state = given.out / "state-skip-gram"
    settings = {name: getattr(given, name) for name in ("dimension", "window", "sample", "min_count")} | SKIP_GRAM
    model: Any
    if state.is_file():
        model = word2vec.Word2Vec.load(str(state))
        if model.alc_settings != settings:
            raise SystemExit(f"{state} was begun with other settings, {model.alc_settings}; choose another --out")
    else:
        model = word2vec.Word2Vec(
            sg=settings["sg"],
            vector_size=given.dimension,
            window=given.window,
            negative=settings["negative"],
            sample=given.sample,
            min_count=given.min_count,
            seed=0,
            workers=1,
        )
        model.build_vocab(corpus_file=str(text))
        model.alc_settings, model.alc_done = settings, 0
    while model.alc_done < settings["epochs"]:
        begun = time.perf_counter()
        rates = [FIRST + (LAST - FIRST) * (model.alc_done + step) / settings["epochs"] for step in (0, 1)]
        model.train(
            corpus_file=str(text),
            total_words=model.corpus_total_words,
            total_examples=model.corpus_count,
            epochs=1,
            start_alpha=rates[0],
            end_alpha=rates[1],
        )
        model.alc_done += 1
        model.save(str(state))
        print(f"epoch {model.alc_done} of {settings['epochs']}: {time.perf_counter() - begun:.0f} s", flush=True)
    return WordVectors(list(model.wv.index_to_key), model.wv.vectors)


def frequent_words(text: Path, min_count: int) -> tuple[str, ...]:
    """The words that occur so often, the most frequent first."""
    counts: Counter[str] = Counter()
    with text.open(encoding="utf-8") as file:
        for line in file:
            counts.update(line.split())
    return tuple(word for word, count in counts.most_common() if count >= min_count)


def latent_semantics(text: Path, known: Sequence[str], components: int) -> WordVectors:
    """The side of known words, each of length 1, of a singular value decomposition of documents × words in tf-idf."""
    decomposition = require("sklearn.decomposition", extra="sklearn", purpose="latent semantic analysis")
    weighting = require("sklearn.feature_extraction.text", extra="sklearn", purpose="latent semantic analysis")
    begun = time.perf_counter()
    weighted = weighting.TfidfTransformer(sublinear_tf=True).fit_transform(counts_in_documents(text, known))
    svd = decomposition.TruncatedSVD(components, n_iter=2, random_state=0).fit(weighted)
    print(f"latent semantic analysis: {time.perf_counter() - begun:.0f} s", flush=True)
    return WordVectors(known, (svd.components_.T * svd.singular_values_).astype(np.float32)).normalised()


def counts_in_documents(text: Path, known: Sequence[str]) -> scipy.sparse.csr_matrix:
    """(documents, words): how often each known word stands in each."""
    encoder = Encoder(get_tokenizer("whitespace"), Lexicon({word: row for row, word in enumerate(known)}))
    blocks = []
    for encoded in scan(Corpus(text), encoder, Work(show_progress=False)):
        counted = encoded.ids >= 0
        bounds = np.append(0, np.cumsum(counted))[encoded.offsets]
        ones, shape = np.ones(counted.sum(), dtype=np.float32), (len(bounds) - 1, len(known))
        blocks.append(scipy.sparse.csr_matrix((ones, encoded.ids[counted], bounds), shape=shape))
        blocks[-1].sum_duplicates()
    return scipy.sparse.vstack(blocks, format="csr")


if __name__ == "__main__":
    main()
