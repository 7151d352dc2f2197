"""The contexts that contribute most to a difference: those farthest along it, of a sample of each word's."""

from typing import Any

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Doubles
from alacarte.contexts.integers import IntegerVectors
from alacarte.contexts.reading import Reading
from alacarte.contexts.samples import OUTSIDE
from alacarte.contexts.sums import Sums
from alacarte.contexts.windows import sums_of_windows
from alacarte.model import ALaCarte
from alacarte.passes.sample import sample_targets
from alacarte.passes.work import WorkOptions
from alacarte.targets.targets import Targets
from alacarte.text.corpus import Corpus
from alacarte.text.encoding import Lexicon
from alacarte.transform.transform import Transform

SAMPLED = 300  # contexts of each word and corpus that are looked at, if it has as many
UNKNOWN = "…"  # a word without an id


def farthest_lines(
    model: ALaCarte,
    transform: Transform,
    corpus: Corpus,
    targets: Targets,
    directions: Doubles,
    count: int,
    work: WorkOptions,
) -> list[tuple[str, ...]]:
    """For each target, the `count` contexts farthest along its direction (one row each), the farthest first, as text.

    The corpus is read once more, for a sample of the contexts of these targets; `transform` is for their averages.
    """
    reading = model.context_settings
    sampled = sample_targets(model.vectors, corpus, targets, reading, SAMPLED, tokenizer=model.tokenizer, **work)
    kept, size = sampled.contexts, len(sampled.keys)
    result: list[tuple[str, ...]] = [()] * size
    if not len(kept):
        return result
    integers = IntegerVectors.of(model.vectors, model.transform.weights, reading)
    sums = sums_of_windows(integers, reading, kept.before, kept.after)
    along = directions @ transform.matrix.astype(np.float64)
    scores = np.einsum("cd,cd->c", _vectors(sums, integers, reading), along[kept.targets])
    order = np.lexsort((-scores, kept.targets))
    first = np.searchsorted(kept.targets[order], np.arange(size + 1))
    for target in range(size):
        lines: dict[str, None] = {}  # a text that occurs twice is shown once
        for row in order[first[target] : first[target + 1]].tolist():
            parts = kept.before[row], kept.matched[row], kept.after[row]
            before, matched, after = (_words(sampled.lexicon, ids) for ids in parts)
            lines[" ".join(filter(None, [before, f"[{matched}]", after]))] = None
            if len(lines) == count:
                break
        result[target] = tuple(lines)
    return result


def _vectors(sums: Sums, integers: IntegerVectors, reading: Reading) -> Doubles:
    """Return the average of each context by itself; 0 for one without a word that counts."""
    divisor = sums.divisor(integers.scale, reading.averaging).astype(np.float64)
    return np.asarray(sums.sums * integers.scale.sum_units / np.where(divisor > 0, divisor, 1.0)[:, None])


def _words(lexicon: Lexicon, ids: npt.NDArray[Any]) -> str:
    return " ".join(UNKNOWN if token < 0 else lexicon.word(token) for token in ids[ids != OUTSIDE].tolist())
