"""p-values by permutation, and p-values of many tests taken together."""

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Doubles
from alacarte.errors import AlacarteError

Adjust = Literal["none", "holm", "bh"]
SMALLEST = float(np.finfo(np.float64).tiny)  # no p-value is 0, though it may be too small for 64 bits


def p_value(exceeding: npt.ArrayLike, permutations: int) -> Doubles:
    """Return the share of statistics that reach the observed one, which counts as one of them.

    >>> float(p_value(0, 99))
    0.01
    """
    return (np.asarray(exceeding, dtype=np.float64) + 1) / (permutations + 1)


def adjusted(p: npt.ArrayLike, method: Adjust) -> Doubles:
    """Return p-values adjusted for their number: by Holm, or by Benjamini and Hochberg's false discovery rate.

    NaN stays NaN and does not count as a test.

    >>> adjusted([0.01, 0.04, 0.03], "holm").round(3).tolist()
    [0.03, 0.06, 0.06]
    >>> adjusted([0.01, 0.04, 0.03, np.nan], "bh").round(3).tolist()
    [0.03, 0.04, 0.04, nan]
    """
    check_adjust(method)
    result = np.array(p, dtype=np.float64)
    present = ~np.isnan(result)
    values, count = result[present], int(present.sum())
    if method == "holm":
        order = np.argsort(values)
        values[order] = np.maximum.accumulate(values[order] * (count - np.arange(count)))
    elif method == "bh" and count:
        from scipy.stats import false_discovery_control  # slow to import, and seldom needed

        values = false_discovery_control(values)
    result[present] = np.minimum(values, 1.0)
    return result


def check_adjust(method: str) -> None:
    """Raise if there is no such adjustment."""
    if method not in get_args(Adjust):
        raise AlacarteError(f"adjust is {', '.join(map(repr, get_args(Adjust)))}, not {method!r}")
