"""The most frequent sense: how SemCor is counted, how ties are broken, and what that does to the baseline.

The unified evaluation framework publishes 63.8 (SemEval-13) and 67.1 (SemEval-15) but neither its counts nor its rule
for ties. Which SemCor it counted in can be told from the numbers it gives of its conversion, `FRAMEWORK_SIZE`:
SemCor 3.0 as distributed, less the keys that SemCor itself numbers 0, has exactly these.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from alacarte.senses import Answer, Instance, Sentence, Synset, WordNet, sense_counts
from alacarte.senses.disambiguation import candidate_senses
from alacarte_experiments.lab.results import RowTable
from alacarte_experiments.wsd.data import WsdData
from alacarte_experiments.wsd.scoring import Score, score

Unit = Literal["key", "synset"]
Ties = Literal["met", "order"]
Decided = Literal["only sense", "most frequent", "tie", "never met", "no synset"]

FRAMEWORK_SIZE = (226_036, 33_362, 22_436)  # annotations, senses, words: Raganato et al. 2017
DECISIONS: tuple[Decided, ...] = ("only sense", "most frequent", "tie", "never met", "no synset")
TIES: tuple[Ties, Ties] = ("met", "order")


# ------------------------------------------------------------------------------------------------- choosing


def leaders(
    wordnet: WordNet, instance: Instance, counts: Mapping[str, int], of: Unit = "key"
) -> tuple[list[tuple[str, Synset]], Decided]:
    """The candidates that share the largest count, in the order of senses, and what decides between candidates.

    Where none was ever met the first sense leads alone.
    """
    candidates = candidate_senses(wordnet, instance.lemma, instance.pos)
    if len(candidates) < 2:
        return candidates, "only sense" if candidates else "no synset"
    amounts = [counts.get(_name(pair, of), 0) for pair in candidates]
    most = max(amounts)
    if most == 0:
        return candidates[:1], "never met"
    first = [pair for pair, amount in zip(candidates, amounts, strict=True) if amount == most]
    return first, "most frequent" if len(first) == 1 else "tie"


def by_counts(
    sentences: Sequence[Sentence],
    wordnet: WordNet,
    counts: Mapping[str, int],
    of: Unit = "key",
    ties: Ties = "order",
) -> list[Answer]:
    """The candidate with the largest count: the sense that is most frequent for the lemma ("key"), or the synset that
    is most frequent whatever the lemma ("synset"). With no counts, the first sense.

    Ties go to the first in the order of senses, or to the one that comes first in `counts` ("met").
    """
    places = {name: place for place, name in enumerate(counts)} if ties == "met" else {}
    answers = []
    for sentence in sentences:
        for instance in sentence.instances:
            first, _ = leaders(wordnet, instance, counts, of)
            if not first:
                answers.append(Answer(instance.lemma, instance.lemma, instance.pos, None, None, 0.0, None, "no synset"))
                continue
            lemma, synset = min(first, key=lambda pair: places.get(_name(pair, of), 0))  # the first of equals
            answers.append(
                Answer(instance.lemma, lemma, instance.pos, synset.id, synset.key(lemma), 1.0, None, "first sense")
            )
    return answers


def _name(pair: tuple[str, Synset], of: Unit) -> str:
    lemma, synset = pair
    return synset.key(lemma) if of == "key" else synset.id


def synset_counts(sentences: Iterable[Sentence], wordnet: WordNet) -> dict[str, int]:
    """How often SemCor has each synset, as NLTK's reader sees it: annotations with one key, which WordNet has."""
    keys = Counter(i.keys[0] for sentence in sentences for i in sentence.instances if len(i.keys) == 1)
    result: Counter[str] = Counter()
    for key, number in keys.items():
        synset = wordnet.find_key(key)
        if synset is not None:
            result[synset.id] += number
    return dict(result)


# ---------------------------------------------------------------------------------------- ways to count, compared


@dataclass(frozen=True, slots=True)
class CountingRow:
    """One way to count SemCor, its size, and F1 on a test set with ties to the sense met first, to WordNet's order,
    all wrong, all right."""

    counting: str
    annotations: int
    senses: int
    words: int
    test: str
    met: float
    order: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """What decides, in the framework's SemCor: how many words of a test set, and how many answers are right at most
    and at least, whichever way ties go."""

    test: str
    decided: Decided
    words: int
    right_low: int
    right_high: int


@dataclass(frozen=True)
class BaselineReport(RowTable):
    """The baseline under several ways to count, and what decides it under the framework's; as a table, a row a way and
    test set."""

    kind = CountingRow
    rows: tuple[CountingRow, ...]
    decisions: tuple[DecisionRow, ...]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def compare_countings(data: WsdData, tests: Mapping[str, list[Sentence]]) -> BaselineReport:
    """The most frequent sense on some test sets, under every way to count that we think defensible."""
    framework = data.framework_semcor()
    ways = {
        "framework": framework,
        "first key of several": [_with_keys(sentence, 1) for sentence in framework],
        "without verb-only files": without_verb_files(framework),
        "keys repaired": data.semcor,
    }
    rows = [row for name, sentences in ways.items() for row in _rows(name, sentences, tests, data.wordnet)]
    return BaselineReport(tuple(rows), tuple(_decisions(sense_counts(framework), tests, data.wordnet)))


def size(sentences: Iterable[Sentence]) -> tuple[int, int, int]:
    """(annotations, different sense keys, different words), where a word is a lemma with its part of speech.

    >>> bank = Instance(0, 1, "bank", "n", ("bank%1:17:01::", "bank%1:14:00::"))
    >>> size([Sentence(("bank", "bank"), (bank, bank))])
    (2, 2, 1)
    """
    instances = [instance for sentence in sentences for instance in sentence.instances if instance.keys]
    keys = {key for instance in instances for key in instance.keys}
    return len(instances), len(keys), len({(instance.lemma, instance.pos) for instance in instances})


def without_verb_files(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Without the files in which nothing but verbs is annotated (`brownv` of SemCor)."""
    full = {s.document_id for s in sentences if any(instance.pos != "v" for instance in s.instances)}
    return [sentence for sentence in sentences if sentence.document_id in full]


def _with_keys(sentence: Sentence, number: int) -> Sentence:
    return replace(sentence, instances=tuple(replace(i, keys=i.keys[:number]) for i in sentence.instances))


def _rows(
    name: str, semcor: Sequence[Sentence], tests: Mapping[str, list[Sentence]], wordnet: WordNet
) -> Iterable[CountingRow]:
    counts = sense_counts(semcor)
    for test, sentences in tests.items():
        met, order = (
            score(by_counts(sentences, wordnet, counts, ties=ties), sentences, wordnet)["all"].f1 for ties in TIES
        )
        low, high = _bounds(counts, sentences, wordnet)
        yield CountingRow(name, *size(semcor), test, met, order, low, high)


def _bounds(counts: Mapping[str, int], test: Sequence[Sentence], wordnet: WordNet) -> tuple[float, float]:
    """F1 in percent if every tie goes wrong, and if every tie goes right."""
    rows = list(_decisions(counts, {"": list(test)}, wordnet))
    total = sum(row.words for row in rows)
    answered = sum(row.words for row in rows if row.decided != "no synset")
    low, high = sum(row.right_low for row in rows), sum(row.right_high for row in rows)
    return Score(low, answered, total).f1, Score(high, answered, total).f1


def _decisions(
    counts: Mapping[str, int], tests: Mapping[str, list[Sentence]], wordnet: WordNet
) -> Iterable[DecisionRow]:
    for test, sentences in tests.items():
        tallies = {decided: [0, 0, 0] for decided in DECISIONS}
        for sentence in sentences:
            for instance in sentence.instances:
                first, decided = leaders(wordnet, instance, counts)
                right = [synset.key(lemma) in instance.keys for lemma, synset in first]
                tally = tallies[decided]
                tally[0] += 1
                tally[1] += bool(right) and all(right)
                tally[2] += any(right)
        for decided, (words, low, high) in tallies.items():
            yield DecisionRow(test, decided, words, low, high)
