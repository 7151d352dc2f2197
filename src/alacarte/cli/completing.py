"""What the Tab key offers beside files: names of models, vectors, formats and tokenizers."""

from collections.abc import Iterable


def model_names(incomplete: str) -> list[str]:
    """Return the models that ship."""
    from alacarte.model import pretrained_names

    return _matching(pretrained_names(), incomplete)


def vector_names(incomplete: str) -> list[str]:
    """Return the vectors that a package brings."""
    from alacarte.vectors.formats.named import PACKAGES

    return _matching(PACKAGES, incomplete)


def format_names(incomplete: str) -> list[str]:
    """Return the formats of vectors.

    >>> format_names("word2vec")
    ['word2vec-text', 'word2vec-binary']
    """
    from alacarte.vectors.formats import FORMATS

    return _matching(FORMATS, incomplete)


def complete_tokenizers(incomplete: str) -> list[str]:
    """Return the named tokenizers.

    >>> complete_tokenizers("whitespace")
    ['whitespace', 'whitespace-lower']
    """
    from alacarte.text import tokenizers

    return _matching(tokenizers.tokenizer_names(), incomplete)


def _matching(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
