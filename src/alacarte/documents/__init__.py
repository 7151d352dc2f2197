"""Documents as vectors made of the vectors of their n-grams, with the interface of scikit-learn.

| name | what it is |
|---|---|
| `NgramEmbedder` | documents → vectors, from word and n-gram vectors that are there, or that a model induces |
| `AlaCarteVectorizer` | the same from raw text and pretrained word vectors alone: one `fit` does everything |

    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from alacarte.documents import AlaCarteVectorizer

    classifier = make_pipeline(AlaCarteVectorizer("glove.6B.50d", n=2), LogisticRegression())
    classifier.fit(reviews["text"], reviews["stars"])

What trains a classifier is `fit_transform` (a pipeline calls it by itself), in which a document has no part in the
vectors of its own n-grams, as new documents have none; `fit(X).transform(X)` is something else.

Needs `pip install 'alacarte-embeddings[sklearn]'`.
"""

from alacarte.documents.embedder import Coverage, NgramEmbedder
from alacarte.documents.vectorizer import AlaCarteVectorizer

__all__ = ["AlaCarteVectorizer", "Coverage", "NgramEmbedder"]
