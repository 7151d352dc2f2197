"""A vector for each synset: from annotated text, from its gloss, or from both."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Longs, Singles
from alacarte.contexts.reading import ReadingOptions
from alacarte.contexts.sums import ContextSums
from alacarte.contexts.weights import with_digest
from alacarte.errors import BadWordNet, NotEnoughData
from alacarte.model import ALaCarte
from alacarte.passes.collect import collect
from alacarte.senses.annotated import Sentence
from alacarte.senses.points import SIF, frequencies
from alacarte.senses.wordnet import WordNet
from alacarte.targets.targets import Targets
from alacarte.text.documents import Document
from alacarte.vectors.geometry import unit_rows
from alacarte.vectors.word_vectors import WordVectors

UNKNOWN_LIMIT = 0.25  # of the annotations: with more, they were made with another WordNet
STRENGTH = 3.0  # chosen on a split of SemCor: `alc eval wsd --tune` prints the search
SYNSET_TOKEN = "\0"  # a token that no vocabulary has: the synset's place in a document made of its gloss
WHOLE_SENTENCE = 400  # words on a side: more than the longest sentence of SemCor; a wider window takes longer
BOTH_SIDES = (WHOLE_SENTENCE, WHOLE_SENTENCE)
NEAR_SIDES = (3, 3)  # beside the whole sentence, they tell senses apart better: `alc eval wsd --tune`
RIGHT_SIDE = (0, WHOLE_SENTENCE)


@dataclass(frozen=True, slots=True)
class SenseReport:
    """How much annotated text was read, and which of its sense keys WordNet does not have.

    Parameters
    ----------
    sentences, annotations : int
        How many there were.
    unknown : dict of str to int
        The sense keys that WordNet lacks, and how often each occurs.
    """

    sentences: int = 0
    annotations: int = 0
    unknown: dict[str, int] = field(default_factory=dict)

    @property
    def unknown_total(self) -> int:
        """The number of annotations whose sense key WordNet lacks."""
        return sum(self.unknown.values())

    def __str__(self) -> str:
        text = f"{self.annotations:,} annotations in {self.sentences:,} sentences"
        if self.unknown:
            often = ", ".join(sorted(self.unknown, key=lambda key: -self.unknown[key])[:3])
            share = self.unknown_total / self.annotations
            text += f"; {self.unknown_total:,} ({share:.1%}) have sense keys that WordNet lacks, such as {often}"
        return text


class SynsetVectors(WordVectors):
    """Word vectors keyed by synset id, with the number of annotated occurrences behind each.

    Parameters
    ----------
    words : iterable of str
        The ids, as in `bank.n.01`.
    matrix : array_like
        One row per id.
    counts : sequence of int
        Occurrences in annotated text; 0 for a vector that comes from the gloss alone.
    report : SenseReport, optional
        What was read.
    """

    counts: Longs

    def __init__(
        self,
        words: Iterable[str],
        matrix: npt.ArrayLike,
        *,
        counts: Sequence[int] | Longs,
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
    near: bool = False,
    show_progress: bool | None = None,
) -> SynsetVectors:
    """Return a vector for each synset that occurs in annotated text.

    The vector is the transform times the mean, over the sentences in which the synset is annotated, of the sum of all
    other words.

    Parameters
    ----------
    model : ALaCarte
        Word vectors and transform.
    sentences : iterable of Sentence
        Annotated text, as `read_semcor` gives it.
    wordnet : WordNet
        Whose synsets the sense keys belong to. Keys that it lacks are left out and counted in `.report`.
    sides : (int, int)
        How many words before and after an annotated word count; by default the whole sentence.
    near : bool
        Take the three words on each side instead, rare ones for more: what `Disambiguator` takes as `near`.
    show_progress : bool, optional
        Whether to show a progress bar; by default on a terminal.

    Raises
    ------
    BadWordNet
        If WordNet lacks more than a quarter of the sense keys: the annotation was made with another WordNet.
    """
    read = list(sentences)
    annotated = sense_counts(read)
    found = {key: wordnet.find_key(key) for key in annotated}
    ids = {key: synset.id for key, synset in found.items() if synset is not None}
    unknown = {key: count for key, count in annotated.items() if key not in ids}
    report = SenseReport(len(read), sum(annotated.values()), unknown)
    if report.unknown_total > UNKNOWN_LIMIT * report.annotations:
        raise BadWordNet(
            f"{report}. The annotation was made with another WordNet than {wordnet.name} "
            f"(version {wordnet.version or 'unknown'}); give the one that the corpus names (SemCor 3.0: WordNet 3.0)"
        )
    if not ids:
        raise BadWordNet(f"none of {len(read):,} sentences is annotated with senses; give a sense-annotated corpus")
    documents = (
        sentence.document(lambda instance: [ids[key] for key in instance.keys if key in ids])
        for sentence in read
        if sentence.instances
    )
    sums = sentence_sums(model, documents, sides=NEAR_SIDES if near else sides, sif=near, show_progress=show_progress)
    words, matrix, counts = _induced_rows(model, sums)
    return SynsetVectors(words, matrix, counts=counts, report=report)


def gloss_vectors(
    model: ALaCarte, wordnet: WordNet, *, near: bool = False, show_progress: bool | None = None
) -> SynsetVectors:
    """Return a vector for each synset from its definition and examples.

    The vector is the transform times the sum of their words, without the words of the synset's own lemmas. Synsets
    whose gloss has no word with a vector are left out.

    Parameters
    ----------
    model : ALaCarte
        Word vectors and transform.
    wordnet : WordNet
        Where the glosses are.
    near : bool
        Let rare words count for more, for vectors that are combined with those of `induce_synsets(…, near=True)`.
    show_progress : bool, optional
        Whether to show a progress bar; by default on a terminal.
    """
    tokenizer, known = model.tokenizer, model.vectors.key_to_index

    def documents() -> Iterator[Document]:
        for synset in wordnet.all_synsets():
            own = {part for lemma in synset.lemmas for part in tokenizer(lemma.replace("_", " "), known)}
            gloss = (synset.definition, *synset.examples)
            words = [word for text in gloss for word in tokenizer(text, known) if word not in own]
            yield Document(tokens=[SYNSET_TOKEN, *words], spans=((0, 1, synset.id),))

    words, matrix, _ = _induced_rows(model, sentence_sums(model, documents(), sif=near, show_progress=show_progress))
    return SynsetVectors(words, matrix, counts=np.zeros(len(words), dtype=np.int64))


def combined(seen: SynsetVectors, glosses: SynsetVectors) -> SynsetVectors:
    """Return the vectors from annotated text, and those from glosses for the other synsets, as in the paper.

    Parameters
    ----------
    seen : SynsetVectors
        What `induce_synsets` gives.
    glosses : SynsetVectors
        What `gloss_vectors` gives.

    Examples
    --------
    >>> seen = SynsetVectors(["bank.n.01"], [[1.0, 0.0]], counts=[3])
    >>> glosses = SynsetVectors(["bank.n.01", "bank.n.02"], [[0.0, 2.0], [0.0, 5.0]], counts=[0, 0])
    >>> combined(seen, glosses).matrix.tolist()
    [[1.0, 0.0], [0.0, 5.0]]
    """
    rest = [word for word in glosses.words if word not in seen]
    rows = np.concatenate([seen.matrix, glosses[rest]]) if rest else seen.matrix
    counts = np.concatenate([seen.counts, np.zeros(len(rest), dtype=np.int64)])
    return SynsetVectors([*seen.words, *rest], rows, counts=counts, report=seen.report)


def graded(seen: SynsetVectors, glosses: SynsetVectors, strength: float = STRENGTH) -> SynsetVectors:
    """Return vectors that are shrunk toward the gloss where a synset is rare in annotated text.

    A synset with n occurrences gets (n · seen + k · gloss) / (n + k), both scaled to length 1. A synset with one of
    the two vectors gets that one, at length 1.

    Parameters
    ----------
    seen : SynsetVectors
        What `induce_synsets` gives.
    glosses : SynsetVectors
        What `gloss_vectors` gives.
    strength : float
        k: how many annotated occurrences the gloss counts for.

    Examples
    --------
    >>> seen = SynsetVectors(["bank.n.01"], [[1.0, 0.0]], counts=[3])
    >>> glosses = SynsetVectors(["bank.n.01", "bank.n.02"], [[0.0, 2.0], [0.0, 5.0]], counts=[0, 0])
    >>> graded(seen, glosses, strength=1.0).matrix.tolist()
    [[0.75, 0.25], [0.0, 1.0]]
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
    """Return the same vectors keyed by sense key: the vector of each synset once for each of its lemmas.

    Parameters
    ----------
    vectors : WordVectors
        Vectors keyed by synset id.
    wordnet : WordNet
        The WordNet that they were built with.
    """
    rows: dict[str, int] = {}
    for row, name in enumerate(vectors.words):
        for key in wordnet.synset(name).keys:
            rows.setdefault(key, row)
    return WordVectors(list(rows), vectors.matrix[list(rows.values())])


def sense_counts(sentences: Iterable[Sentence]) -> dict[str, int]:
    """Return how often each sense key occurs in annotated text.

    Parameters
    ----------
    sentences : iterable of Sentence
        Annotated text, as `read_semcor` gives it.

    Examples
    --------
    >>> from alacarte.senses import Instance
    >>> sense_counts([Sentence(("bank",), (Instance(0, 1, "bank", "n", ("bank%1:17:01::",)),))])
    {'bank%1:17:01::': 1}
    """
    return dict(Counter(key for sentence in sentences for instance in sentence.instances for key in instance.keys))


def sentence_sums(
    model: ALaCarte,
    documents: Iterable[Document],
    targets: Targets | None = None,
    sides: tuple[int, int] = BOTH_SIDES,
    sif: bool = False,
    show_progress: bool | None = False,
) -> ContextSums:
    """Return, for every label, the sums of the other words of its sentences, as the model reads and weighs them.

    With `sif`, a word of relative frequency p counts SIF / (SIF + p) instead.

    Examples
    --------
    >>> from alacarte import Transform
    >>> model = ALaCarte(WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]), Transform(np.eye(2)))
    >>> sums = sentence_sums(model, [Document("a b x a", spans=[(4, 5, "X")])])
    >>> sums.keys, sums.vectors().tolist()
    (['X'], [[2.0, 1.0]])
    """
    reading: ReadingOptions = {**model.reading, "window": sides}
    if sif:
        reading["context_weights"] = with_digest("sif", (SIF / (SIF + frequencies(model.vectors))).astype(np.float32))
    labels = Targets.spans() if targets is None else targets
    return collect(model.vectors, documents, labels, show_progress=show_progress, **reading)


def _induced_rows(model: ALaCarte, sums: ContextSums) -> tuple[list[str], Singles, Longs]:
    """Return (labels with any context, their vectors, their occurrences).

    Sums over sentences have more words than the windows that the transform was learned on. It is linear, so their
    direction is right all the same, and the check that windows agree is left out on purpose.
    """
    seen = sums.seen
    if not len(seen):
        raise NotEnoughData(
            "no annotated word is beside a word that has a vector; check that text and vectors share language and case"
        )
    return [sums.keys[row] for row in seen], model.transform(sums.means(seen)), sums.occurrences[seen]
