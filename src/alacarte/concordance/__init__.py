"""Text that was read once and can be questioned: the contexts of any word, phrase or pattern, in any slice."""

from alacarte.concordance.concordance import Concordance
from alacarte.concordance.folder import is_concordance
from alacarte.concordance.periods import Period, PeriodUses, over_periods
from alacarte.concordance.uses import Lines, Uses

__all__ = ["Concordance", "Lines", "Period", "PeriodUses", "Uses", "is_concordance", "over_periods"]
