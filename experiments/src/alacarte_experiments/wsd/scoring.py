"""When an answer is right, and how answers are scored: as the framework's scorer does it, and as the authors did."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from alacarte.errors import BadData
from alacarte.senses import Answer, Instance, Sentence, WordNet

Scoring = Literal["key", "synset", "authors"]
POS_NAMES = {"a": "adj", "n": "noun", "r": "adv", "v": "verb"}


@dataclass(frozen=True, slots=True)
class Score:
    """Answers right, answers given, and instances; in percent where it is a rate."""

    right: int
    answered: int
    total: int

    @property
    def precision(self) -> float:
        return 100 * self.right / self.answered if self.answered else 0.0

    @property
    def recall(self) -> float:
        return 100 * self.right / self.total if self.total else 0.0

    @property
    def f1(self) -> float:
        """2PR / (P + R): equal to accuracy where everything is answered.

        >>> Score(50, 80, 100).f1.__round__(2)
        55.56
        """
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def is_right(answer: Answer, instance: Instance, wordnet: WordNet, scoring: Scoring) -> bool:
    """Whether an answer is one of the senses that annotators gave.

    - `key`: the sense key of the lemma is; the standard.
    - `synset`: a sense key of any lemma of the synset is.
    - `authors`: the sense key of the synset's first lemma is, without the lemma: `1:14:00::` of `bank%1:14:00::`.
    """
    if answer.synset is None:
        return False
    if scoring == "key":
        return answer.key in instance.keys
    synset = wordnet.synset(answer.synset)
    if scoring == "synset":
        return any(key in instance.keys for key in synset.keys)
    return _without_lemma(synset.keys[0]) in map(_without_lemma, instance.keys)


def _without_lemma(key: str) -> str:
    return key.partition("%")[2]


def score(
    answers: Sequence[Answer], sentences: Sequence[Sentence], wordnet: WordNet, scoring: Scoring = "key"
) -> dict[str, Score]:
    """Scores by part of speech, and over "all"; `answers` are those to all instances, in order."""
    instances = [instance for sentence in sentences for instance in sentence.instances]
    tallies: dict[str, list[int]] = {"all": [0, 0, 0]}
    for answer, instance in zip(answers, instances, strict=True):
        right = is_right(answer, instance, wordnet, scoring)
        for name in ("all", POS_NAMES[instance.pos]):
            tally = tallies.setdefault(name, [0, 0, 0])
            tally[0] += right
            tally[1] += answer.synset is not None
            tally[2] += 1
    return {name: Score(*tally) for name, tally in tallies.items()}


def calibration(
    answers: Sequence[Answer], sentences: Sequence[Sentence], wordnet: WordNet
) -> tuple[float, float, float]:
    """(mean confidence, share right, share right of the more confident half), in percent, over words of several senses.

    Confidences that can be trusted have a mean like the share that is right.
    """
    instances = [instance for sentence in sentences for instance in sentence.instances]
    pairs = [
        (answer.confidence, is_right(answer, instance, wordnet, "key"))
        for answer, instance in zip(answers, instances, strict=True)
        if answer.candidates
    ]
    if not pairs:
        raise BadData("none of these words has several senses; there is nothing to be more or less sure of")
    surest = sorted(pairs, key=lambda pair: -pair[0])[: (len(pairs) + 1) // 2]
    mean = 100 * sum(confidence for confidence, _ in pairs) / len(pairs)
    return mean, 100 * sum(right for _, right in pairs) / len(pairs), 100 * sum(r for _, r in surest) / len(surest)
