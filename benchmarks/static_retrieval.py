"""Whether a static model finds documents better once it has the words and phrases of the text.

    pip install wordllama
    python benchmarks/static_retrieval.py TEXT [TEXT …]

A TEXT has one document per line. The model is the one that the package wordllama holds: 32,000 tokens, 256 dimensions;
its files are read, and nothing of it is run. Of each of 2,000 documents one sentence, drawn at random, is taken out and
asked for; nDCG is 1 / log2(1 + rank of its document among all of them), at most rank 10. Words and phrases that occur
ten times or more in the documents without these sentences, and that the tokenizer splits, get vectors from them. The
same by tf-idf, and for the queries that hold such a word or phrase; ± the standard error of the difference to the
model as it is.
"""

import argparse
import importlib.util
import re
from pathlib import Path

import numpy as np
from model2vec import StaticModel
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from tokenizers import Tokenizer

from alacarte import ALaCarte, WordVectors
from alacarte._io.tensors import read_tensors

DOCUMENTS, LEAST_USES, TOP = 2000, 10, 10
SENTENCE = re.compile(r"(?<=[.!?])\s+")


def base_model() -> StaticModel:
    """Return the model of the package wordllama, which is found without being imported."""
    spec = importlib.util.find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise SystemExit("the package wordllama holds the model; run `pip install wordllama`")
    folder = Path(spec.origin).parent
    tensors, _ = read_tensors(folder / "weights/l2_supercat_256.safetensors")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizers/l2_supercat_tokenizer_config.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return StaticModel(vectors=np.asarray(next(iter(tensors.values())), dtype=np.float32), tokenizer=tokenizer)


def questions(path: Path) -> tuple[list[str], list[str]]:
    """Return documents, each without one of its sentences, and these sentences."""
    rng = np.random.default_rng(0)
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if len(line.split()) >= 40]
    documents, asked = [], []
    for row in rng.permutation(len(lines)).tolist():
        sentences = SENTENCE.split(lines[row])
        long = [place for place, sentence in enumerate(sentences) if len(sentence.split()) >= 8]
        if len(long) < 2:
            continue
        place = int(rng.choice(long))
        asked.append(sentences[place])
        documents.append(" ".join(sentences[:place] + sentences[place + 1 :]))
        if len(asked) == DOCUMENTS:
            break
    return documents, asked


def gains(documents: NDArray[np.float32], asked: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the nDCG of each question."""
    near = _units(asked) @ _units(documents).T
    ranks = 1 + (near > near.diagonal()[:, None]).sum(axis=1)
    return np.where(ranks <= TOP, 1 / np.log2(1 + ranks), 0.0)


def _units(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("texts", nargs="+", type=Path)
    base = base_model()
    vectors = WordVectors.of(base)
    print("| text | added | questions | as it is | with words and phrases | gain | tf-idf |")
    print("|---|---|---|---|---|---|---|")
    for path in options.parse_args().texts:
        documents, asked = questions(path)
        model = ALaCarte.fit(vectors, documents)
        found = model.discover(documents, ngrams=(1, 2, 3), min_count=LEAST_USES)
        induced = model.induce(documents, [name for name in found if name not in vectors])
        larger = induced.to_model2vec(base)
        tfidf = TfidfVectorizer(sublinear_tf=True)
        lexical = tfidf.fit_transform(documents).toarray().astype(np.float32)
        systems = {
            "as it is": gains(base.encode(documents), base.encode(asked)),
            "larger": gains(larger.encode(documents), larger.encode(asked)),
            "tf-idf": gains(lexical, tfidf.transform(asked).toarray().astype(np.float32)),
        }
        named = [text.ids for text in base.tokenizer.encode_batch(asked)]
        holds = np.array(
            [one.ids != ids for one, ids in zip(larger.tokenizer.encode_batch(asked), named, strict=True)], dtype=bool
        )
        for which, rows in (("all", np.ones(len(asked), dtype=bool)), ("with a new word", holds)):
            means = {name: values[rows].mean() for name, values in systems.items()}
            gain = (systems["larger"] - systems["as it is"])[rows]
            print(
                f"| {path.stem}, {which} | {len(induced)} | {rows.sum()} | {means['as it is']:.3f} | "
                f"{means['larger']:.3f} | {gain.mean():+.3f} ± {gain.std() / np.sqrt(len(gain)):.3f} | "
                f"{means['tf-idf']:.3f} |"
            )


if __name__ == "__main__":
    main()
