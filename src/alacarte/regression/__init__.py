"""Embedding regression: how groups use a word, with inference.

>>> from alacarte.regression import contexts, dem, nearest
>>> speeches = {"speech": ["lower the tax now", "raise the tax fairly"], "party": ["R", "D"]}
>>> found = contexts(speeches, "tax", text="speech", window=2)
>>> vectors = (["lower", "raise", "now", "fairly"], [[1.0, 0.0], [0.0, 1.0], [0.9, 0.1], [0.1, 0.9]])
>>> nearest(dem(found, vectors), by="party", k=1)["feature"].tolist()
['raise', 'lower']
"""

from alacarte.regression.checks import joint_test, regress_each, standardised_effects
from alacarte.regression.context_table import ContextTable, contexts, documents
from alacarte.regression.describe import (
    nearest,
    nearest_contexts,
    poles,
    similarity,
    similarity_over,
    typical_contexts,
)
from alacarte.regression.embed import Embeddings, dem, dem_group
from alacarte.regression.infer import EmbeddingRegression, Inference, regress
from alacarte.regression.periods import placebo_cuts
from alacarte.regression.plots import plot_coefficients, plot_map, plot_over, plot_ratio, save_figure
from alacarte.regression.ratios import ratio
from alacarte.regression.results import Results
from alacarte.regression.side_by_side import ModelTable, etable
from alacarte.text.tables import read_table

__all__ = [
    "ContextTable",
    "EmbeddingRegression",
    "Embeddings",
    "Inference",
    "ModelTable",
    "Results",
    "contexts",
    "dem",
    "dem_group",
    "documents",
    "etable",
    "joint_test",
    "nearest",
    "nearest_contexts",
    "placebo_cuts",
    "plot_coefficients",
    "plot_map",
    "plot_over",
    "plot_ratio",
    "poles",
    "ratio",
    "read_table",
    "regress",
    "regress_each",
    "save_figure",
    "similarity",
    "similarity_over",
    "standardised_effects",
    "typical_contexts",
]
