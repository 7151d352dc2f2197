"""Documents a second through `NgramEmbedder`, n-grams already induced.

python benchmarks/documents.py documents/ --vectors glove.6B.100d.npy --ngrams ngrams.safetensors
"""

import argparse
import time
import warnings

from alacarte_experiments.documents.data import read_task

from alacarte import WordVectors
from alacarte.documents import NgramEmbedder
from alacarte.errors import AlacarteWarning


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data", help="the folder with the document tasks")
    options.add_argument("--task", default="MR")
    options.add_argument("--copies", type=int, default=5)
    options.add_argument("--vectors", default="glove.6B.50d")
    options.add_argument("--ngrams", required=True)
    given = options.parse_args()
    warnings.simplefilter("ignore", AlacarteWarning)
    words, ngrams = WordVectors.load(given.vectors), WordVectors.load(given.ngrams)
    texts = list(read_task(given.data, given.task).texts) * given.copies
    print(f"{len(texts):,} documents of {given.task}, {len(ngrams):,} n-grams, d = {words.dimension}")
    for n in (1, 2, 3):
        for threads in (1, 2):
            embedder = NgramEmbedder(words, n=n, ngrams=ngrams, threads=threads).fit(texts[:10])
            embedder.transform(texts[:1000])  # compiles, and makes the hash tables
            begun = time.perf_counter()
            embedder.transform(texts)
            print(f"n = {n}, {threads} threads: {len(texts) / (time.perf_counter() - begun):,.0f} documents/s")


if __name__ == "__main__":
    main()
