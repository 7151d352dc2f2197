"""The keywords of public functions that learn a transform, typed."""

from alacarte.passes.collect import CollectOptions
from alacarte.transform.solve import SolveOptions


class FitOptions(CollectOptions, SolveOptions, total=False):
    """All that `ALaCarte.fit` takes: `CollectOptions`, and how the matrix is learned (`SolveOptions`)."""
