"""Sums over whole sentences: what a model's own window sees is replaced by all the words around a span."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from alacarte.contexts.reading import ReadingOptions
from alacarte.contexts.sums import ContextSums
from alacarte.errors import NotEnoughData
from alacarte.model import ALaCarte
from alacarte.passes.collect import collect
from alacarte.targets.targets import Targets
from alacarte.text.corpus import Document

WHOLE = 400  # words on a side: more than the longest sentence of SemCor; what a wider one costs is time
BOTH_SIDES = (WHOLE, WHOLE)
RIGHT_SIDE = (0, WHOLE)


def sentence_sums(
    model: ALaCarte,
    documents: Iterable[Document],
    targets: Targets | None = None,
    sides: tuple[int, int] = BOTH_SIDES,
    show_progress: bool | None = False,
) -> ContextSums:
    """For every label, the sum of all the words of its sentences but its own, as the model reads and weighs them.

    >>> from alacarte import Transform, WordVectors
    >>> model = ALaCarte(WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]), Transform(np.eye(2)))
    >>> sums = sentence_sums(model, [Document("a b x a", spans=[(4, 5, "X")])])
    >>> sums.keys, sums.vectors().tolist()
    (['X'], [[2.0, 1.0]])
    """
    reading: ReadingOptions = {**model.reading, "window": sides}
    labels = Targets.spans() if targets is None else targets
    return collect(model.vectors, documents, labels, show_progress=show_progress, **reading)


def induced_rows(
    model: ALaCarte, sums: ContextSums
) -> tuple[list[str], npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """(labels with any context, their induced vectors, their occurrences).

    The transform is linear, so that sums over sentences, longer than the windows it was learned on, keep their
    direction; the check that windows agree is left out on purpose.
    """
    seen = sums.seen
    if not len(seen):
        raise NotEnoughData(
            "no annotated word stands beside a word that has a vector; check that text and vectors share language and "
            "case"
        )
    return [sums.keys[row] for row in seen], model.transform(sums.means(seen)), sums.occurrences[seen]
