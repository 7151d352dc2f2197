"""What does as well or better without vectors of n-grams: tf-idf, on the reviews of films that the paper classifies.

    python benchmarks/instead.py ../shared/data/documents --reviews 4000

Half of the reviews are learned from. Each system is one of scikit-learn's features and a logistic regression, whose
penalty is chosen by cross-validation.
"""

import argparse
import time
import warnings

import numpy as np
from alacarte_experiments.documents.data import read_task
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from alacarte import ALaCarte
from alacarte.documents import NgramEmbedder


def reviews(folder: str, wanted: int) -> tuple[list[str], list[bool]]:
    """Return some of the reviews with labels, drawn at random."""
    task = read_task(folder, "IMDB")
    rows = np.random.default_rng(0).choice(len(task.texts), wanted, replace=False).tolist()
    labels = sorted(set(task.labels))
    return [task.texts[row] for row in rows], [task.labels[row] == labels[1] for row in rows]


def main() -> None:
    warnings.simplefilter("ignore", FutureWarning)  # scikit-learn's plans for its defaults
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", help="with imdb.tar.xz")
    options.add_argument("--reviews", type=int, default=4000)
    given = options.parse_args()
    texts, good = reviews(given.folder, given.reviews)
    half = len(texts) // 2
    model = ALaCarte.pretrained("glove.6B.50d")
    systems = {
        "tf-idf of words and pairs": [TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2)],
        "NgramEmbedder, words": [NgramEmbedder(model, n=1), StandardScaler()],
        "NgramEmbedder, words and pairs": [NgramEmbedder(model, n=2), StandardScaler()],
    }
    for name, steps in systems.items():
        begun = time.perf_counter()
        penalties = LogisticRegressionCV(Cs=[0.01, 0.1, 1, 10, 100], cv=3, max_iter=500)
        pipeline = make_pipeline(*steps, penalties).fit(texts[:half], good[:half])
        score = pipeline.score(texts[half:], good[half:])
        print(f"{name}: {score:.1%} of {len(texts) - half:,} right, {time.perf_counter() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
