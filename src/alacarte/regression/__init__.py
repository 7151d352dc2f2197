"""Embedding regression: how groups use a word, with inference.

>>> from alacarte.regression import contexts, dem, nearest
>>> speeches = {"speech": ["lower the tax now", "raise the tax fairly"], "party": ["R", "D"]}
>>> found = contexts(speeches, "tax", text="speech", window=2)
>>> vectors = (["lower", "raise", "now", "fairly"], [[1.0, 0.0], [0.0, 1.0], [0.9, 0.1], [0.1, 0.9]])
>>> nearest(dem(found, vectors), by="party", k=1)["feature"].tolist()
['raise', 'lower']
"""

from typing import TYPE_CHECKING

from alacarte._io.lazy import exports

if TYPE_CHECKING:
    from alacarte.regression._frames import Table, read_table
    from alacarte.regression._groups import InferenceOptions
    from alacarte.regression.checks import joint_test, power, regress_each, sensitivity, standardised_effects
    from alacarte.regression.context_table import ContextTable, contexts, documents, from_tokens
    from alacarte.regression.describe import (
        nearest,
        nearest_contexts,
        poles,
        similarity,
        similarity_over,
        typical_contexts,
    )
    from alacarte.regression.embed import Embeddings, TwoWays, dem, dem_group, dem_sample
    from alacarte.regression.features import (
        Cooccurrence,
        LearnedTransform,
        compute_transform,
        cooccurrences,
        feature_similarity,
        fem,
    )
    from alacarte.regression.infer import EmbeddingRegression, regress
    from alacarte.regression.plots import plot_coefficients, plot_map, plot_over, plot_ratio, save_figure
    from alacarte.regression.ratios import ratio
    from alacarte.regression.side_by_side import ModelTable, etable

__all__ = [
    "ContextTable",
    "Cooccurrence",
    "EmbeddingRegression",
    "Embeddings",
    "InferenceOptions",
    "LearnedTransform",
    "ModelTable",
    "Table",
    "TwoWays",
    "compute_transform",
    "contexts",
    "cooccurrences",
    "dem",
    "dem_group",
    "dem_sample",
    "documents",
    "etable",
    "feature_similarity",
    "fem",
    "from_tokens",
    "joint_test",
    "nearest",
    "nearest_contexts",
    "plot_coefficients",
    "plot_map",
    "plot_over",
    "plot_ratio",
    "poles",
    "power",
    "ratio",
    "read_table",
    "regress",
    "regress_each",
    "save_figure",
    "sensitivity",
    "similarity",
    "similarity_over",
    "standardised_effects",
    "typical_contexts",
]

__getattr__, __dir__ = exports(
    __name__,
    {
        "_frames": ["Table", "read_table"],
        "_groups": ["InferenceOptions"],
        "checks": ["joint_test", "power", "regress_each", "sensitivity", "standardised_effects"],
        "context_table": ["ContextTable", "contexts", "documents", "from_tokens"],
        "describe": ["nearest", "nearest_contexts", "poles", "similarity", "similarity_over", "typical_contexts"],
        "embed": ["Embeddings", "TwoWays", "dem", "dem_group", "dem_sample"],
        "features": [
            "Cooccurrence",
            "LearnedTransform",
            "compute_transform",
            "cooccurrences",
            "feature_similarity",
            "fem",
        ],
        "infer": ["EmbeddingRegression", "regress"],
        "plots": ["plot_coefficients", "plot_map", "plot_over", "plot_ratio", "save_figure"],
        "ratios": ["ratio"],
        "side_by_side": ["ModelTable", "etable"],
    },
)
