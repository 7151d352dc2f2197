"""Single occurrences of targets: the sum of each context, and its words.

`ContextSums` keep no single contexts, which is why they are small. Here all of them are kept, or a random sample.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Doubles, Ints, Longs
from alacarte.contexts.averaging import divisor
from alacarte.contexts.integers import IntegerVectors
from alacarte.contexts.reading import Averaging
from alacarte.contexts.samples import OUTSIDE
from alacarte.contexts.windows import sums_of_windows
from alacarte.errors import NoOccurrences, NotEnoughData
from alacarte.model import ALaCarte
from alacarte.passes.sample import sample_targets
from alacarte.targets.targets import Targets, TargetsLike, spelling_hint
from alacarte.text.corpus import CorpusLike
from alacarte.text.encoding import Lexicon


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Occurrences of targets, sorted by target.

    Parameters
    ----------
    keys : list of str
        The targets.
    counts : array
        How often each target occurs in the corpus, whether the occurrence was kept or not.
    targets, documents : array
        For each occurrence, the number of its target and of its document. Documents with the same words share a number.
    sums : array
        One row per occurrence: the weighted sum of the context vectors, or their mean if `averaging` is "context".
    totals : array
        The total weight of the context words of each occurrence.
    before, matched, after : array
        One row per occurrence: the ids of the words before, of the target, and after, in the order of the text.
    lexicon : Lexicon
        The words of these ids.
    averaging : str
        As in `Reading`.
    word_counts : array
        How often each word that has a vector occurs in the whole text.
    """

    keys: list[str]
    counts: Longs
    targets: Ints
    documents: Longs
    sums: Doubles
    totals: Doubles
    before: Ints
    matched: Ints
    after: Ints
    lexicon: Lexicon
    averaging: Averaging
    word_counts: Longs

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def weights(self) -> Doubles:
        """How much each occurrence counts in the average over all of them."""
        return divisor(self.averaging, np.ones(len(self)), self.totals, (self.totals > 0).astype(np.float64))

    def of(self, key: str) -> "Occurrences":
        """Return the occurrences of one target."""
        return self.select(self.targets == self.keys.index(key))

    def usable(self, least: int = 1) -> "Occurrences":
        """Return those beside at least one word with a vector; `NotEnoughData` if there are fewer than `least`."""
        chosen = self.select(self.totals > 0)
        if len(chosen) < least:
            raise NotEnoughData(
                f"{len(chosen):,} contexts have a word with a vector, and {least:,} are needed; give more text"
            )
        return chosen

    def select(self, rows: npt.ArrayLike) -> "Occurrences":
        """Return some of the occurrences, by their numbers or by a mask."""
        names = ("targets", "documents", "sums", "totals", "before", "matched", "after")
        return replace(self, **{name: getattr(self, name)[np.asarray(rows)] for name in names})

    def means(self) -> Doubles:
        """Return the average context vector u that each occurrence alone would give."""
        return np.asarray(self.sums / np.where(self.weights > 0, self.weights, 1.0)[:, None])

    def text(self, row: int, mark: str = "**", window: tuple[int, int] | None = None) -> str:
        """Return the words of one occurrence, or those in a `window` (before, after), the target between marks."""
        left, right = window or (self.before.shape[1], self.after.shape[1])
        parts = self.before[row, self.before.shape[1] - left :], self.matched[row], self.after[row, :right]
        before, matched, after = map(self._words, parts)
        return " ".join([*before, f"{mark}{' '.join(matched)}{mark}", *after])

    def _words(self, ids: Ints) -> list[str]:
        return [self.lexicon.word(token) for token in ids.tolist() if token != OUTSIDE]


def gather(
    model: ALaCarte,
    corpus: CorpusLike,
    targets: TargetsLike,
    *,
    limit: int | None = None,
    seed: int = 0,
    around: int = 0,
    show_progress: bool | None = None,
) -> Occurrences:
    """Return the occurrences of targets in a corpus, as this model reads them.

    They are sorted by target, and then by a key made of the words of their document and their place in it: the order
    of the documents does not matter.

    Parameters
    ----------
    model : ALaCarte
        Gives vectors, window, weights and tokenizer.
    corpus : Corpus, iterable of documents, or path
        The text.
    targets : Targets or iterable of str
        What to look for.
    limit : int, optional
        Keep this many of each target at most, chosen at random.
    seed : int
        Of that choice.
    around : int
        Keep this many words on each side, if the model's window is narrower.
    show_progress : bool, optional
        Whether to show a progress bar; by default on a terminal.

    Examples
    --------
    >>> from alacarte import Transform, WordVectors
    >>> model = ALaCarte(WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]), Transform(np.eye(2)))
    >>> occurrences = gather(model, ["a x b b", "no such", "x b"], ["x"])
    >>> occurrences.sums.tolist(), occurrences.documents.tolist(), occurrences.text(0)
    ([[0.0, 1.0], [1.0, 2.0]], [0, 1], '**x** b')
    """
    wanted, reading = Targets.of(targets), model.context_settings
    sampled = sample_targets(
        model.vectors,
        corpus,
        wanted,
        reading,
        limit,
        tokenizer=model.tokenizer,
        seed=seed,
        around=around,
        show_progress=show_progress,
    )
    kept = sampled.contexts
    if not len(kept):
        raise NoOccurrences(
            f"{', '.join(map(repr, list(wanted)[:5]))} does not occur in the corpus; check the spelling and the text"
            + spelling_hint(wanted)
        )
    integers = IntegerVectors.of(model.vectors, model.transform.weights, reading)
    first = kept.before.shape[1] - reading.left
    sums = sums_of_windows(integers, reading, kept.before[:, first:], kept.after[:, : reading.right])
    return Occurrences(
        sampled.keys,
        sampled.counts,
        kept.targets,
        np.unique(kept.documents, return_inverse=True)[1],
        sums.sums * integers.scale.sum_units,
        np.asarray(sums.totals * np.exp2(-integers.scale.weights), dtype=np.float64),
        kept.before,
        kept.matched,
        kept.after,
        sampled.lexicon,
        reading.averaging,
        sampled.word_counts,
    )
