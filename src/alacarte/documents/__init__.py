"""Document vectors from the vectors of n-grams, with the interface of scikit-learn.

| name | what it is |
|---|---|
| `NgramEmbedder` | documents → vectors, from given word and n-gram vectors, or from those that a model induces |
| `AlaCarteVectorizer` | the same, with the transform learned from the documents |

    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from alacarte.documents import AlaCarteVectorizer

    classifier = make_pipeline(AlaCarteVectorizer("glove.6B.50d", n=2), LogisticRegression())
    classifier.fit(reviews["text"], reviews["stars"])

Train classifiers on `fit_transform(X)`, which a pipeline calls by itself, and not on `fit(X).transform(X)`: only in the
first has a document no part in the vectors of its own n-grams, as new documents have none.

Needs `pip install 'alacarte-embeddings[sklearn]'`.
"""

from alacarte.documents.embedder import Coverage, NgramEmbedder
from alacarte.documents.vectorizer import AlaCarteVectorizer

__all__ = ["AlaCarteVectorizer", "Coverage", "NgramEmbedder"]
