"""`ALaCarte`, the face of the library; what induction gives; single contexts; a model as a folder; what made a vector.

The public names are imported when first used.
"""

from alacarte._io.lazy import exports

__getattr__, __dir__, __all__ = exports(__name__)
