"""Document vectors from the vectors of n-grams, with the interface of scikit-learn.

    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from alacarte import ALaCarte
    from alacarte.documents import NgramEmbedder

    classifier = make_pipeline(NgramEmbedder(ALaCarte.pretrained("glove.6B.50d"), n=2), LogisticRegression())
    classifier.fit(reviews["text"], reviews["stars"])

Train classifiers on `fit_transform(X)`, which a pipeline calls by itself, and not on `fit(X).transform(X)`: only in the
first has a document no part in the vectors of its own n-grams, as new documents have none.

Needs `pip install 'alacarte-embeddings[sklearn]'`.
"""

from alacarte.documents.embedder import NgramEmbedder

__all__ = ["NgramEmbedder"]
