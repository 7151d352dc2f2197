"""À la carte embedding: pretrained word vectors + any text → a vector for anything that text mentions.

The public names are imported when first used, so that `import alacarte` is instant.
"""

from typing import TYPE_CHECKING

from alacarte._io.lazy import exports
from alacarte._version import __version__

if TYPE_CHECKING:
    from alacarte._io.table import Table
    from alacarte.comparing.vocabulary import compare
    from alacarte.concordance.concordance import Concordance
    from alacarte.contexts.sums import ContextSums, merge
    from alacarte.errors import AlacarteError
    from alacarte.model import ALaCarte, InducedVectors, explain
    from alacarte.passes.collect import collect
    from alacarte.passes.discover import discover
    from alacarte.senses.induction import induce_senses
    from alacarte.targets.targets import Targets
    from alacarte.text.corpus import Corpus
    from alacarte.text.documents import Document
    from alacarte.transform.transform import Transform
    from alacarte.vectors.neighbours import Index
    from alacarte.vectors.word_vectors import WordVectors

__all__ = [
    "ALaCarte",
    "AlacarteError",
    "Concordance",
    "ContextSums",
    "Corpus",
    "Document",
    "Index",
    "InducedVectors",
    "Table",
    "Targets",
    "Transform",
    "WordVectors",
    "__version__",
    "collect",
    "compare",
    "discover",
    "explain",
    "induce_senses",
    "merge",
]

__getattr__, __dir__ = exports(
    __name__,
    {
        "_io.table": ["Table"],
        "concordance.concordance": ["Concordance"],
        "contexts.sums": ["ContextSums", "merge"],
        "errors": ["AlacarteError"],
        "comparing.vocabulary": ["compare"],
        "model": ["ALaCarte", "InducedVectors", "explain"],
        "passes.collect": ["collect"],
        "passes.discover": ["discover"],
        "senses.induction": ["induce_senses"],
        "targets.targets": ["Targets"],
        "text.corpus": ["Corpus"],
        "text.documents": ["Document"],
        "transform.transform": ["Transform"],
        "vectors.neighbours": ["Index"],
        "vectors.word_vectors": ["WordVectors"],
    },
)
