"""A vector for each synset: from annotated text, from its gloss, or from both.

>>> import numpy as np
>>> seen = SynsetVectors(["bank.n.01"], [[1.0, 0.0]], counts=[3])
>>> glosses = SynsetVectors(["bank.n.01", "bank.n.02"], [[0.0, 2.0], [0.0, 5.0]], counts=[0, 0])
>>> combined(seen, glosses).matrix.tolist()
[[1.0, 0.0], [0.0, 5.0]]
>>> graded(seen, glosses, strength=1.0).matrix.tolist()
[[0.75, 0.25], [0.0, 1.0]]
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from alacarte.errors import BadWordNet
from alacarte.model import ALaCarte
from alacarte.senses.annotated import Instance, Sentence
from alacarte.senses.sentence_sums import BOTH_SIDES, induced_rows, sentence_sums
from alacarte.senses.wordnet import Synset, WordNet
from alacarte.text.corpus import Document
from alacarte.vectors.geometry import unit_rows
from alacarte.vectors.word_vectors import WordVectors

UNKNOWN_LIMIT = 0.25  # of the annotations: with more, this is not the WordNet they were made with
STRENGTH = 3.0  # chosen on a split of SemCor: `alc eval wsd --tune` prints the search
SLOT = "\0"  # a token that no vocabulary has, where a gloss has no word of its own to stand for the synset


@dataclass(frozen=True, slots=True)
class SenseReport:
    """What became of the annotations: how many there were, and which sense keys WordNet does not have."""

    sentences: int = 0
    annotations: int = 0
    unknown: dict[str, int] = field(default_factory=dict)

    @property
    def unknown_total(self) -> int:
        return sum(self.unknown.values())

    def __str__(self) -> str:
        text = f"{self.annotations:,} annotations in {self.sentences:,} sentences"
        if self.unknown:
            often = ", ".join(sorted(self.unknown, key=lambda key: -self.unknown[key])[:3])
            share = self.unknown_total / self.annotations
            text += f"; {self.unknown_total:,} ({share:.1%}) have sense keys that WordNet lacks, such as {often}"
        return text


class SynsetVectors(WordVectors):
    """Vectors keyed by synset id, with how many annotated occurrences are behind each (0: gloss only).

    Itself a `WordVectors`: it can be searched and saved in any format.
    """

    counts: npt.NDArray[np.int64]

    def __init__(
        self,
        words: Iterable[str],
        matrix: npt.ArrayLike,
        *,
        counts: Sequence[int] | npt.NDArray[np.int64],
        report: SenseReport | None = None,
    ) -> None:
        super().__init__(words, matrix, counts=counts)
        self.report = report or SenseReport()


def induce_synsets(
    model: ALaCarte,
    sentences: Iterable[Sentence],
    wordnet: WordNet,
    *,
    sides: tuple[int, int] = BOTH_SIDES,
    show_progress: bool | None = None,
) -> SynsetVectors:
    """A · mean over a synset's annotated sentences of the sum of all other words in them.

    Sense keys that `wordnet` lacks are left out and counted in `.report`; if they are more than a quarter, that is
    an error, because then the annotation was made with another WordNet.
    """
    known: dict[str, str | None] = {}
    unknown: Counter[str] = Counter()
    read = [0, 0]  # sentences, annotations

    def label(instance: Instance) -> Iterator[str]:
        for key in instance.keys:
            read[1] += 1
            if key not in known:
                synset = wordnet.find_key(key)
                known[key] = None if synset is None else synset.id
            name = known[key]
            if name is None:
                unknown[key] += 1
            else:
                yield name

    def documents() -> Iterator[Document]:
        for sentence in sentences:
            read[0] += 1
            document = sentence.document(label)
            if document.spans:
                yield document

    sums = sentence_sums(
        model, _never_empty(documents(), read, unknown, wordnet), sides=sides, show_progress=show_progress
    )
    report = SenseReport(read[0], read[1], dict(unknown))
    _check_version(report, wordnet)
    words, matrix, counts = induced_rows(model, sums)
    return SynsetVectors(words, matrix, counts=counts, report=report)


def _never_empty(
    documents: Iterator[Document], read: list[int], unknown: Counter[str], wordnet: WordNet
) -> Iterator[Document]:
    """Say what is wrong with the annotation rather than that there is no text."""
    first = next(documents, None)
    if first is None:
        _check_version(SenseReport(read[0], read[1], dict(unknown)), wordnet)
        raise BadWordNet(f"none of {read[0]:,} sentences is annotated with senses; give a sense-annotated corpus")
    yield first
    yield from documents


def _check_version(report: SenseReport, wordnet: WordNet) -> None:
    if report.unknown_total > UNKNOWN_LIMIT * max(report.annotations, 1):
        raise BadWordNet(
            f"{report}. The annotation was made with another WordNet than {wordnet.name} "
            f"(version {wordnet.version or 'unknown'}); give the one that the corpus names (SemCor 3.0: WordNet 3.0)"
        )


def gloss_vectors(
    model: ALaCarte, wordnet: WordNet, synsets: Iterable[Synset] | None = None, *, show_progress: bool | None = None
) -> SynsetVectors:
    """A · sum of the words in a synset's definition and examples, less the words of its own lemmas.

    Synsets whose gloss has no word with a vector are left out.
    """
    tokenizer, known = model.tokenizer, model.vectors.key_to_index

    def documents() -> Iterator[Document]:
        for synset in wordnet.all_synsets() if synsets is None else synsets:
            own = {part for lemma in synset.lemmas for part in tokenizer(lemma.replace("_", " "), known)}
            words = [
                word
                for text in (synset.definition, *synset.examples)
                for word in tokenizer(text, known)
                if word not in own
            ]
            yield Document(tokens=[SLOT, *words], spans=((0, 1, synset.id),))

    words, matrix, _ = induced_rows(model, sentence_sums(model, documents(), show_progress=show_progress))
    return SynsetVectors(words, matrix, counts=np.zeros(len(words), dtype=np.int64))


def combined(seen: SynsetVectors, glosses: SynsetVectors) -> SynsetVectors:
    """The paper's combination: the gloss where annotated text has nothing."""
    rest = [word for word in glosses.words if word not in seen]
    rows = np.concatenate([seen.matrix, glosses[rest]]) if rest else seen.matrix
    counts = np.concatenate([seen.counts, np.zeros(len(rest), dtype=np.int64)])
    return SynsetVectors([*seen.words, *rest], rows, counts=counts, report=seen.report)


def graded(seen: SynsetVectors, glosses: SynsetVectors, strength: float = STRENGTH) -> SynsetVectors:
    """Shrink a rarely seen synset toward its gloss: (n · seen + k · gloss) / (n + k), both scaled to length 1.

    `strength` is k: the gloss counts as much as that many annotated occurrences. Synsets with one of the two have
    that one.
    """
    if not strength > 0:
        raise BadWordNet(
            f"the strength of the gloss is a positive number of occurrences, not {strength}; see `combined`"
        )
    words = list(dict.fromkeys([*seen.words, *glosses.words]))
    rows = {word: row for row, word in enumerate(words)}
    total = np.zeros((len(words), seen.dimension))
    weight = np.zeros(len(words))
    counts = np.zeros(len(words), dtype=np.int64)
    for part, amount in ((seen, seen.counts.astype(np.float64)), (glosses, np.full(len(glosses), float(strength)))):
        places = np.array([rows[word] for word in part.words], dtype=np.intp)
        total[places] += amount[:, None] * unit_rows(part.matrix)
        weight[places] += amount
    counts[: len(seen)] = seen.counts
    return SynsetVectors(words, total / weight[:, None], counts=counts, report=seen.report)


def by_sense_key(vectors: WordVectors, wordnet: WordNet) -> WordVectors:
    """The same vectors keyed by sense key: each synset's once for each of its lemmas."""
    rows: dict[str, int] = {}
    for row, name in enumerate(vectors.words):
        for key in wordnet.synset(name).keys:
            rows.setdefault(key, row)
    return WordVectors(list(rows), vectors.matrix[list(rows.values())])


def sense_counts(sentences: Iterable[Sentence]) -> dict[str, int]:
    """How often each sense key was given in annotated text.

    >>> sense_counts([Sentence(("bank",), (Instance(0, 1, "bank", "n", ("bank%1:17:01::",)),))])
    {'bank%1:17:01::': 1}
    """
    return dict(Counter(key for sentence in sentences for instance in sentence.instances for key in instance.keys))
