"""Single contexts of targets, as a model reads them: all, or a sample that does not depend on the order of text."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alacarte.contexts.integers import IntegerVectors
from alacarte.contexts.samples import OUTSIDE, ContextSample
from alacarte.contexts.windows import sums_of_windows
from alacarte.model import ALaCarte
from alacarte.passes.scan import run
from alacarte.passes.work import Work
from alacarte.targets.targets import Targets
from alacarte.text.corpus import Corpus
from alacarte.text.encoding import Encoder, Lexicon

__all__ = ["OUTSIDE", "Contexts", "SampledWindows", "sample_windows"]

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Contexts:
    """Single contexts, a row each; see `Occurrences` for what the columns are."""

    targets: Ints
    documents: Longs
    sums: Doubles
    totals: Doubles
    before: Ints
    matched: Ints
    after: Ints


@dataclass(frozen=True, eq=False)
class SampledWindows:
    """The contexts that were kept, None if there are none; how often each target occurs; and the words of the ids."""

    keys: list[str]
    counts: Longs
    contexts: Contexts | None
    lexicon: Lexicon


def sample_windows(
    model: ALaCarte,
    corpus: Corpus,
    targets: Targets,
    *,
    limit: int | None,
    seed: int,
    show_progress: bool | None,
) -> SampledWindows:
    """The contexts of targets in a corpus, as the model reads them; of each target at most `limit`, drawn at random."""
    reading = model.settings
    lexicon = Lexicon(model.vectors.key_to_index, grow=True)
    matcher = targets.compile(lexicon, model.tokenizer)
    lexicon.admit = lambda token: True  # patterns admit only what they match, and every word is to be shown
    window = reading.left, reading.right
    tally = ContextSample(matcher, lexicon, window, limit, seed, drop_unknown=reading.unknown == "drop")
    run(tally, corpus, Encoder(model.tokenizer, lexicon), Work(show_progress=show_progress), "gathering contexts")
    kept = tally.contexts
    if not len(kept):
        return SampledWindows(matcher.keys, tally.counts, None, lexicon)
    integers = IntegerVectors.of(model.vectors, model.transform.weights, reading)
    sums = sums_of_windows(integers, reading, kept.before, kept.after)
    contexts = Contexts(
        kept.targets,
        np.unique(kept.documents, return_inverse=True)[1],
        sums.sums * integers.scale.sum_units,
        np.asarray(sums.totals * np.exp2(-integers.scale.weights), dtype=np.float64),
        kept.before,
        kept.matched,
        kept.after,
    )
    return SampledWindows(matcher.keys, tally.counts, contexts, lexicon)
