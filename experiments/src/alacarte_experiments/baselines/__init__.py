"""What à la carte is measured against, each with the model's own `embed` and `embed_definition`.

| class | what it is |
|---|---|
| `Additive` | the mean of the context's words, the paper's equation 1 |
| `WithoutStopWords` | the same without function words and punctuation |
| `SIF` | the same with weights a / (a + p(w)) |
| `AllButTheTop` | the words' mean and top components removed first (Mu & Viswanath 2018) |
| `SumsButTheTop` | the mean and top components of the *sums* removed |
| `SIFButTheTop` | SIF, and the top component of the sums removed (Arora, Liang & Ma 2017) |
| `Nonce2Vec` | additive start, then skip-gram steps on the new word alone (Herbelot & Baroni 2017) |
| `RetrainedWord2Vec` | word2vec trained on the corpus with the new contexts in it |

The first six are linear: their `fit` gives an `ALaCarte` with another matrix, which can do all that a model can.

>>> from alacarte import WordVectors
>>> vectors = WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]])
>>> Additive().fit(vectors).embed("a x b b", target="x").round(3).tolist()
[0.3330000042915344, 0.6669999957084656]
"""

from alacarte_experiments.baselines.linear import (
    SIF,
    Additive,
    AllButTheTop,
    Baseline,
    SIFButTheTop,
    SumsButTheTop,
    WithoutStopWords,
    remove_top,
)
from alacarte_experiments.baselines.nonce2vec import Nonce2Vec, Nonce2VecTraining
from alacarte_experiments.baselines.word2vec import RetrainedWord2Vec, Word2VecTraining

__all__ = [
    "SIF",
    "Additive",
    "AllButTheTop",
    "Baseline",
    "Nonce2Vec",
    "Nonce2VecTraining",
    "RetrainedWord2Vec",
    "SIFButTheTop",
    "SumsButTheTop",
    "WithoutStopWords",
    "Word2VecTraining",
    "remove_top",
]
