"""Text that was read once and can be questioned: the contexts of any word, phrase or pattern, in any slice."""

from alacarte.concordance.collocates import Collocates, collocates
from alacarte.concordance.concordance import Concordance
from alacarte.concordance.folder import is_concordance
from alacarte.concordance.keywords import Keywords, keywords
from alacarte.concordance.periods import Period, PeriodUses, over_periods
from alacarte.concordance.uses import Lines, Uses

__all__ = [
    "Collocates",
    "Concordance",
    "Keywords",
    "Lines",
    "Period",
    "PeriodUses",
    "Uses",
    "collocates",
    "is_concordance",
    "keywords",
    "over_periods",
]
