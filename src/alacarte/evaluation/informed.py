"""Systems that read few contexts with other weights than the matrix was learned under.

`informed` is à la carte in a space without the mean and the top components (`alacarte.space`), its matrix learned from
sums under the settings' weights (every word alike, say: with many contexts what is not to the point averages out), and
its few contexts read with `alacarte.informative` weights (with few it does not, so the words that tell count more).
Each ingredient can be taken out: `power=0` (SIF), `components=0` (the mean only), `space=0`, `matrix=0` (no matrix).
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from alacarte.informative import informative
from alacarte.model import ALaCarte
from alacarte.space import Space
from alacarte.transform import Transform
from alacarte.vectors import WordVectors

if TYPE_CHECKING:
    from alacarte.evaluation.systems import System, Workbench

Doubles = npt.NDArray[np.float64]
PARAMETERS = {"a", "power", "components", "matrix", "space", "agreement"}
MEASURED = "sif:1e-3"  # the sums that informativeness is measured on: function words would drown the rest


class Informed(ALaCarte):
    """A model in a space of its own; `space` is the way there from the vectors that were given (None: they are it)."""

    space: Space | None = None


def informed(bench: "Workbench", system: "System") -> Informed:
    """The system in this workbench."""
    settings, given = system.settings, system.parameters
    sums = bench.sums(settings, averaging=settings.averaging)
    measured = bench.sums(settings, MEASURED)
    vectors, space = bench.vectors, None
    if given.get("space", 1):
        seen = np.array(sorted(vectors.index(sums.keys[row]) for row in sums.seen), dtype=np.intp)
        space = Space.of(vectors, int(given.get("components", 3)), seen)
        vectors = space.vectors(vectors)
        sums, measured = space.sums(sums, vectors), space.sums(measured, vectors)
    weights = informative(measured, vectors, a=float(given.get("a", 1e-4)), power=float(given.get("power", 1.0)))
    transform = Transform.fit(
        sums, vectors, weighting=settings.weighting, ridge=settings.penalty, exclude=bench.exclude
    )
    if not given.get("matrix", 1):
        transform = replace(transform, matrix=np.eye(vectors.dimension, dtype=np.float32), report=None)
    assert transform.settings is not None
    read = replace(transform, weights=weights, settings=replace(transform.settings, weights=weights.name))
    model = Informed(vectors, read, tokenizer=settings.tokenizer)
    model.space = space
    return model


def in_space(model: ALaCarte, vectors: WordVectors, words: list[str]) -> Doubles:
    """Vectors of words that the model itself may not know, where the model compares."""
    rows: Doubles = vectors[words].astype(np.float64)
    space: Space | None = getattr(model, "space", None)
    return rows if space is None else space(rows)
