"""Systems that read few contexts with other weights than the matrix was learned under.

`informed` is à la carte in a space without the mean and the top components (`component_removal`), its matrix
learned from sums under the settings' weights (every word alike: with many contexts what is not to the point averages
out), and its few contexts read with `informative_weights` (with few it does not, so the words that
tell count more).
Each ingredient can be taken out: `power=0` (SIF), `components=0` (the mean only), `space=0`, `matrix=0` (no matrix).
`agreement=1` makes the contexts of a chimera count by their agreement.

`learned` reads with weights that were learned (`learned_weights`), by which its matrix is learned too,
or not (`matched=0`: the matrix is learned under the settings' weights).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from alacarte import ALaCarte, ContextSums, Transform, WordVectors, collect
from alacarte.contexts.weights import ContextWeights
from alacarte_experiments.fewshot.component_removal import ComponentRemoval
from alacarte_experiments.fewshot.informative_weights import informative_weights
from alacarte_experiments.fewshot.learned_weights import Learning, learn_weights

if TYPE_CHECKING:
    from alacarte_experiments.fewshot.systems import System, Workbench

Doubles = npt.NDArray[np.float64]
PARAMETERS = {"a", "power", "components", "matrix", "space", "agreement"}
LEARNED_PARAMETERS = {"contexts", "matched", "components", "space"}
MEASURED = "sif:1e-3"  # the sums that informativeness is measured on: function words would drown the rest


def has_space_of_its_own(kind: str, parameters: Mapping[str, Any]) -> bool:
    """Whether vectors of such a system can be compared with its own only, and not with those that were given."""
    return bool(parameters.get("space", kind == "informed")) and kind in ("informed", "learned")


class Informed(ALaCarte):
    """A model in a space of its own; `space` is the way there from the vectors that were given (None: they are it)."""

    space: ComponentRemoval | None = None


def informed(bench: "Workbench", system: "System") -> Informed:
    """The system `informed` in this workbench."""
    settings, given = system.settings, system.parameters
    sums = bench.sums(settings, averaging=settings.averaging)
    vectors, space = _place(bench.vectors, sums, system)
    measured = bench.sums(settings, MEASURED)
    if space is not None:
        sums, measured = space.sums(sums, vectors), space.sums(measured, vectors)
    weights = informative_weights(
        measured, vectors, a=float(given.get("a", 1e-4)), power=float(given.get("power", 1.0))
    )
    return _model(bench, system, vectors, space, sums, weights)


def learned(bench: "Workbench", system: "System") -> Informed:
    """The system `learned` in this workbench."""
    settings, given = system.settings, system.parameters
    text, contexts = bench.text(settings), int(given.get("contexts", 4))

    def collected() -> ContextSums:
        learned_weights = learn_weights(
            bench.vectors,
            text,
            bench.sums(settings, MEASURED),
            learning=Learning(contexts=contexts, seed=settings.seed),
            show_progress=bench.store.show_progress,
        )
        return collect(
            bench.vectors,
            text,
            window=settings.window,
            positions=learned_weights.positions,
            context_weights=learned_weights.weights,
            tokenizer=settings.tokenizer,
            show_progress=bench.store.show_progress,
        )

    key = {
        "learned": 1,
        "vectors": bench.vectors.fingerprint,
        "window": settings.window,
        "contexts": contexts,
        "tokenizer": settings.tokenizer,
        "every": settings.every,
        "seed": settings.seed,
    }
    own = bench.store.kept_sums(key, bench.given_corpus, collected)
    sums = own if given.get("matched", 1) else bench.sums(settings, averaging=settings.averaging)
    vectors, space = _place(bench.vectors, sums, system)
    if space is not None:
        sums = space.sums(sums, vectors)
    return _model(bench, system, vectors, space, sums, own.weights, own.settings.positions)


def _place(vectors: WordVectors, sums: ContextSums, system: "System") -> tuple[WordVectors, ComponentRemoval | None]:
    """The vectors in the space that is asked for, and the way there."""
    if not has_space_of_its_own(system.kind, system.parameters):
        return vectors, None
    seen = np.array(sorted(vectors.index(sums.keys[row]) for row in sums.seen), dtype=np.intp)
    place = ComponentRemoval.of(vectors, int(system.parameters.get("components", 3)), seen)
    return place.vectors(vectors), place


def _model(
    bench: "Workbench",
    system: "System",
    vectors: WordVectors,
    space: ComponentRemoval | None,
    sums: ContextSums,
    weights: ContextWeights,
    positions: str | None = None,
) -> Informed:
    """A matrix learned from the sums, to be applied to contexts that are read with these weights."""
    settings = system.settings
    transform = Transform.fit(
        sums, vectors, weighting=settings.weighting, ridge=settings.penalty, exclude=bench.exclude
    )
    if not system.parameters.get("matrix", 1):
        transform = replace(transform, matrix=np.eye(vectors.dimension, dtype=np.float32), report=None)
    assert transform.settings is not None
    reading = replace(transform.settings, weights=weights.name, positions=positions or transform.settings.positions)
    transform = replace(transform, weights=weights, settings=reading)
    model = Informed(vectors, transform, tokenizer=settings.tokenizer)
    model.space = space
    return model


def in_space(model: ALaCarte, vectors: WordVectors, words: list[str]) -> Doubles:
    """Vectors of words that the model itself may not know, where the model compares."""
    rows: Doubles = vectors[words].astype(np.float64)
    space: ComponentRemoval | None = getattr(model, "space", None)
    return rows if space is None else space(rows)
