"""À la carte embedding: pretrained word vectors + any text → a vector for anything that text mentions.

The public names are imported when first used, so that `import alacarte` is instant.
"""

from alacarte._io.lazy import exports

__getattr__, __dir__, __all__ = exports(__name__)
