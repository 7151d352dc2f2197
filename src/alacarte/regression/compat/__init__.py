"""R's conText, call by call: functions with its names that give its numbers.

For analyses to be repeated as they were published. The functions of `alacarte.regression` decide otherwise where
conText is biased or silent; docs/from-conText.md says where, and maps every call. Here, and nowhere else, are:

- quanteda's patterns: every match of every pattern counts, and `pattern` is the text as it occurs;
- contexts as documents of their own (`tokens_context`), lower-cased by `dem` and not by `conText`;
- values that are means over bootstraps, and 90 % intervals called 95 %;
- stems, pooled and sorted tables, groups in the order of R's locale;
- dummies, clusters that weigh the same, HC1, the jackknife over rows, and permutations of plain lengths.

>>> from alacarte.regression import compat
>>> speeches = {"text": ["lower the tax now", "raise the tax fairly"], "party": ["R", "D"]}
>>> vectors = (["lower", "raise", "now", "fairly"], [[1.0, 0.0], [0.0, 1.0], [0.9, 0.1], [0.1, 0.9]])
>>> found = compat.dem(compat.tokens_context(speeches, "tax", window=2), vectors)
>>> compat.get_nns(found, "party", N=1)["feature"].tolist()
['raise', 'lower']
"""

from alacarte.regression.compat.contexts import (
    compute_transform,
    dem,
    dem_group,
    dem_sample,
    feature_sim,
    fem,
    tokens_context,
    with_separators,
)
from alacarte.regression.compat.cosines import (
    contrast_nns,
    cos_sim,
    get_cos_sim,
    get_ncs,
    get_nns,
    get_nns_ratio,
    ncs,
    nns,
    nns_ratio,
    stems,
)
from alacarte.regression.compat.regression import conText

__all__ = [
    "compute_transform",
    "conText",
    "contrast_nns",
    "cos_sim",
    "dem",
    "dem_group",
    "dem_sample",
    "feature_sim",
    "fem",
    "get_cos_sim",
    "get_ncs",
    "get_nns",
    "get_nns_ratio",
    "ncs",
    "nns",
    "nns_ratio",
    "stems",
    "tokens_context",
    "with_separators",
]
