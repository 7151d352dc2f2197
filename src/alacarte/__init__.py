"""À la carte embedding: pretrained word vectors + any text → a vector for anything that text mentions.

The public names are imported when first used, so that `import alacarte` is instant.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from alacarte._version import __version__

if TYPE_CHECKING:
    from alacarte.contexts.sums import ContextSums, merge
    from alacarte.errors import AlacarteError
    from alacarte.model import ALaCarte, InducedVectors
    from alacarte.passes.collect import collect
    from alacarte.passes.discover import discover
    from alacarte.targets.targets import Targets
    from alacarte.text.corpus import Corpus, Document
    from alacarte.transform.transform import Transform
    from alacarte.vectors.word_vectors import WordVectors

_HOME = {
    "ALaCarte": "model",
    "AlacarteError": "errors",
    "ContextSums": "contexts.sums",
    "Corpus": "text.corpus",
    "Document": "text.corpus",
    "InducedVectors": "model",
    "Targets": "targets.targets",
    "Transform": "transform.transform",
    "WordVectors": "vectors.word_vectors",
    "collect": "passes.collect",
    "discover": "passes.discover",
    "merge": "contexts.sums",
}

__all__ = [
    "ALaCarte",
    "AlacarteError",
    "ContextSums",
    "Corpus",
    "Document",
    "InducedVectors",
    "Targets",
    "Transform",
    "WordVectors",
    "__version__",
    "collect",
    "discover",
    "merge",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'alacarte' has no attribute {name!r}")
    value = getattr(import_module(f"alacarte.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
