"""Text that was read once and can be questioned: the contexts of any word, phrase or pattern, in any slice."""

from alacarte.concordance.concordance import Concordance, Lines, is_concordance

__all__ = ["Concordance", "Lines", "is_concordance"]
