"""Word sense disambiguation (the paper's section 5.1): SemEval-2013 task 12 and SemEval-2015 task 13.

Two settings, which answer different questions:

- *authors*: the tasks' own files; an answer is a synset and is scored by the sense key of its first lemma; the
  most-frequent-sense row is the synset that SemCor has most often. `authors, their text` adds what the released
  script does to the text: only the words to the right of a target count, and SemEval-15 is not lower-cased.
- *standard*: the unified evaluation framework's files; an answer is a sense key of the target lemma; F1 as the
  framework's scorer computes it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from alacarte.errors import BadData, BadWordNet, require
from alacarte.model import ALaCarte
from alacarte.senses.annotated import Instance, Sentence
from alacarte.senses.brown import read_brown
from alacarte.senses.disambiguation import SHARPNESS, SMOOTHING, Answer, Disambiguator, candidate_senses
from alacarte.senses.semcor import read_semcor, repaired
from alacarte.senses.semeval import read_semeval
from alacarte.senses.sentence_sums import RIGHT_SIDE
from alacarte.senses.synset_vectors import (
    STRENGTH,
    UNKNOWN_LIMIT,
    SynsetVectors,
    combined,
    gloss_vectors,
    graded,
    induce_synsets,
    sense_counts,
)
from alacarte.senses.wordnet import Synset, WordNet, open_wordnet
from alacarte.vectors import WordVectors

Setting = Literal["published", "authors", "authors, their text", "standard"]
Scoring = Literal["first lemma", "synset", "key"]
POS_NAMES = {"a": "adj", "n": "noun", "r": "adv", "v": "verb"}
FILES = {
    "authors": {
        2013: ("semeval2013.task12.en.xml", "semeval2013.task12.en.key"),
        2015: ("semeval2015.task13.en.xml", "semeval2015.task13.en.key"),
    },
    "standard": {
        2013: ("unified/semeval2013.data.xml", "unified/semeval2013.gold.key.txt"),
        2015: ("unified/semeval2015.data.xml", "unified/semeval2015.gold.key.txt"),
    },
}


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


@dataclass(frozen=True, slots=True)
class WsdRow:
    """One line of the table, in percent. `semeval13_synset` counts any lemma of the right synset as right."""

    setting: Setting
    method: str
    semeval13: float | None
    semeval13_synset: float | None
    adj: float | None
    noun: float | None
    adv: float | None
    verb: float | None
    semeval15: float | None


PUBLISHED = (
    WsdRow("published", "à la carte, SemCor", 60.0, None, 72.2, 67.7, 85.2, 60.6, 68.1),
    WsdRow("published", "à la carte, gloss", 51.8, None, 75.3, 62.5, 79.0, 55.8, 64.2),
    WsdRow("published", "à la carte, combined", 60.5, None, 74.1, 70.3, 86.4, 59.4, 69.6),
    WsdRow("published", "most frequent sense", 58.8, None, 79.5, 60.0, 87.6, 66.7, 66.8),
    WsdRow("published", "bi-LSTM (Raganato et al.)", 66.9, None, None, None, None, None, 72.4),
)

DIFFERENCE = (
    "The settings differ in what counts as right and in what the baseline is. The authors answer with a synset and "
    "look up the sense key of its first lemma: on SemEval-13, whose key file lists only keys of the word itself, a "
    "right synset that lists another lemma first is then counted as wrong, so that every row is about 14 points below "
    "its score by synset; on SemEval-15, whose key file lists the keys of all synonyms, nothing changes. Their most "
    "frequent sense is taken here as the synset that SemCor has most often, whichever lemma it stood for: that gives "
    "the pattern of the published row, verbs above nouns, which the most frequent sense of the lemma does not. Their "
    "script also sees only the words to the right of the target and does not lower-case SemEval-15. The standard "
    "setting asks for the sense key of the target lemma, on the framework's corrected instances (1,022 and not 1,119 "
    "on SemEval-15), and its baselines are WordNet's first sense and the lemma's most frequent sense in SemCor."
)


@dataclass(frozen=True)
class WsdTable:
    """The rows, published ones first, and what was noticed on the way."""

    rows: tuple[WsdRow, ...]
    notes: tuple[str, ...] = ()

    def row(self, setting: str, method: str) -> WsdRow:
        found = [row for row in self.rows if (row.setting, row.method) == (setting, method)]
        if len(found) != 1:
            raise KeyError(f"{len(found)} rows are {setting}, {method}")
        return found[0]

    def to_dict(self) -> dict[str, Any]:
        return {"rows": [asdict(row) for row in self.rows], "difference": DIFFERENCE, "notes": list(self.notes)}

    def to_frame(self) -> Any:
        """A pandas frame, a line for each row."""
        pandas = require("pandas", extra="frames", purpose="to_frame()")
        return pandas.DataFrame([asdict(row) for row in self.rows])


# ---------------------------------------------------------------------------------------------------- data


@dataclass(frozen=True)
class WsdData:
    """Everything that the experiment reads, from one folder."""

    folder: Path
    wordnet: WordNet
    semcor: list[Sentence]
    distributed_counts: dict[str, int]  # of sense keys as SemCor is distributed, in the order in which it has them

    @classmethod
    def load(cls, folder: str | PathLike[str], wordnet: "str | PathLike[str] | None" = None) -> "WsdData":
        """`folder` holds SemCor, the SemEval files, Brown, and WordNet unless `wordnet` names another."""
        path = Path(folder)
        if not path.is_dir():
            raise BadData(f"{path}: no such folder; --data names the folder with SemCor, SemEval and WordNet")
        net = open_wordnet(wordnet or _one_of(path, "wordnet3.0*"))
        raw = list(read_semcor(_one_of(path, "semcor*"), repair=False))
        return cls(path, net, [repaired(sentence) for sentence in raw], sense_counts(raw))

    def test(self, setting: Literal["authors", "standard"], year: int) -> list[Sentence]:
        """A test set: sentences with those of their instances that have an answer."""
        xml, gold = (self.folder / name for name in FILES[setting][year])
        return [
            Sentence(
                sentence.words, tuple(instance for instance in sentence.instances if instance.keys), sentence.id,
                sentence.document_id,
            )
            for sentence in read_semeval(xml, gold)
        ]  # fmt: skip

    def brown_model(self, vectors: WordVectors) -> ALaCarte:
        """The paper's transform: learned on Brown, 5 words each side, α = log c."""
        return ALaCarte.fit(vectors, list(read_brown(_one_of(self.folder, "brown*"))), window=5, weighting="log")


def _one_of(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if not found:
        raise BadData(f"{folder}: holds no {pattern}; put the corpus there, as it is distributed")
    return found[0]


# ------------------------------------------------------------------------------------------------- scoring


def is_right(answer: Answer, instance: Instance, wordnet: WordNet, scoring: Scoring) -> bool:
    """Whether an answer is one of the senses that annotators gave."""
    if answer.synset is None:
        return False
    if scoring == "key":
        return answer.key in instance.keys
    synset = wordnet.synset(answer.synset)
    if scoring == "first lemma":
        return synset.keys[0] in instance.keys
    return any(key in instance.keys for key in synset.keys)


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


# ------------------------------------------------------------------------------------------------ baselines


def by_counts(
    sentences: Sequence[Sentence],
    wordnet: WordNet,
    counts: Mapping[str, int],
    of: Literal["key", "synset"] = "key",
    ties: Literal["order", "met"] = "order",
) -> list[Answer]:
    """The candidate with the largest count: the sense that is most frequent for the lemma ("key"), or the synset that
    is most frequent whatever the lemma ("synset"). With no counts, the first sense.

    Ties go to the first in the order of senses, or to the one that comes first in `counts` ("met").
    """
    places = {name: -place for place, name in enumerate(counts)} if ties == "met" else {}
    answers = []
    for sentence in sentences:
        for instance in sentence.instances:
            found = candidate_senses(wordnet, instance.lemma, instance.pos)
            if not found:
                answers.append(Answer(instance.lemma, instance.lemma, instance.pos, None, None, 0.0, None, "no synset"))
                continue

            def amount(pair: tuple[str, Synset]) -> tuple[int, int]:
                name = pair[1].key(pair[0]) if of == "key" else pair[1].id
                return counts.get(name, 0), places.get(name, 0)

            lemma, synset = max(found, key=amount)  # the first of equals
            answers.append(
                Answer(instance.lemma, lemma, instance.pos, synset.id, synset.key(lemma), 1.0, None, "first sense")
            )
    return answers


# -------------------------------------------------------------------------------------------------- the run


class _Tests:
    """The two test sets in one setting, and a row of scores for any way to answer them."""

    def __init__(self, data: WsdData, setting: Literal["authors", "standard"]) -> None:
        self.wordnet = data.wordnet
        self.scoring: Scoring = "key" if setting == "standard" else "first lemma"
        self.sets = {year: data.test(setting, year) for year in (2013, 2015)}

    def notes(self, setting: str) -> list[str]:
        """Words that WordNet does not list, and answers with keys that it lacks; an error where these are many."""
        notes = []
        for year, sentences in self.sets.items():
            instances = [instance for sentence in sentences for instance in sentence.instances]
            strangers = [i.lemma for i in instances if not candidate_senses(self.wordnet, i.lemma, i.pos)]
            keys = [key for instance in instances for key in instance.keys]
            unknown = [key for key in keys if self.wordnet.find_key(key) is None]
            if len(unknown) > UNKNOWN_LIMIT * len(keys):
                raise BadWordNet(
                    f"SemEval-{year}: {self.wordnet.name} (version {self.wordnet.version or 'unknown'}) lacks "
                    f"{len(unknown):,} of {len(keys):,} sense keys, such as {unknown[0]}; give WordNet 3.0"
                )
            notes.append(
                f"{setting}, {year}: {len(instances):,} words; not in WordNet, so not answered: {len(strangers)}"
                f"{_some(strangers)}; answers with keys that WordNet lacks: {len(unknown)}{_some(unknown)}"
            )
        return notes

    def row(self, setting: Setting, method: str, answers: Mapping[int, Sequence[Answer]]) -> WsdRow:
        old = score(answers[2013], self.sets[2013], self.wordnet, self.scoring)
        synset = score(answers[2013], self.sets[2013], self.wordnet, "synset")
        new = score(answers[2015], self.sets[2015], self.wordnet, self.scoring)

        def rate(one: Score) -> float:
            """The authors' accuracy has all instances below the line; the framework's scorer gives F1."""
            return one.f1 if setting == "standard" else one.recall

        return WsdRow(
            setting, method, rate(old["all"]), rate(synset["all"]), rate(new["adj"]), rate(new["noun"]),
            rate(new["adv"]), rate(new["verb"]), rate(new["all"]),
        )  # fmt: skip

    def counted(
        self,
        setting: Setting,
        method: str,
        counts: Mapping[str, int],
        of: Literal["key", "synset"] = "key",
        ties: Literal["order", "met"] = "order",
    ) -> WsdRow:
        answers = {year: by_counts(sentences, self.wordnet, counts, of, ties) for year, sentences in self.sets.items()}
        return self.row(setting, method, answers)

    def vectors(self, setting: Setting, method: str, *disambiguators: Disambiguator) -> WsdRow:
        """One disambiguator for both sets, or one for each."""
        pairs = zip(self.sets.items(), disambiguators * (2 // len(disambiguators)), strict=True)
        return self.row(setting, method, {year: one.predict_all(sentences) for (year, sentences), one in pairs})


def _some(items: Sequence[str]) -> str:
    return f" ({', '.join(dict.fromkeys(items[:3]))}, …)" if items else ""


def evaluate(
    data: WsdData,
    model: ALaCarte,
    *,
    strength: float = STRENGTH,
    sharpness: float = SHARPNESS,
    smoothing: float = SMOOTHING,
    show_progress: bool | None = None,
) -> WsdTable:
    """The paper's table with this model, in all settings, and past it: shrinkage and prior, as tuned on SemCor."""
    wordnet = data.wordnet
    counts = sense_counts(data.semcor)
    glosses = gloss_vectors(model, wordnet, show_progress=show_progress)
    seen = induce_synsets(model, data.semcor, wordnet, show_progress=show_progress)
    ways = {"SemCor": seen, "gloss": glosses, "combined": combined(seen, glosses)}
    synset_counts = dict(zip(seen.words, seen.counts.tolist(), strict=True))
    rows = list(PUBLISHED)
    notes = [
        f"SemCor: {seen.report}",
        repr(model),
        f"synsets with a vector: {len(seen):,} seen, {len(glosses):,} gloss",
    ]

    authors = _Tests(data, "authors")
    notes += authors.notes("authors")
    for name, senses in ways.items():
        rows.append(authors.vectors("authors", name, Disambiguator(model, wordnet, senses, fallback=True)))
    rows.append(authors.counted("authors", "most frequent synset", synset_counts, "synset"))
    rows.append(authors.counted("authors", "WordNet first sense", {}))
    rows += _their_text(authors, model, data, glosses, show_progress)

    standard = _Tests(data, "standard")
    notes += standard.notes("standard")
    for name, senses in ways.items():
        rows.append(standard.vectors("standard", name, Disambiguator(model, wordnet, senses, fallback=True)))
    rows.append(standard.counted("standard", "WordNet first sense", {}))
    rows.append(standard.counted("standard", "SemCor most frequent sense", counts))
    distributed = data.distributed_counts
    rows.append(standard.counted("standard", "the same, keys as distributed", distributed, ties="met"))
    shrunk = graded(seen, glosses, strength)
    rows.append(standard.vectors("standard", "graded", Disambiguator(model, wordnet, shrunk, fallback=True)))
    for name, senses in (("combined + prior", ways["combined"]), ("graded + prior", shrunk)):
        with_prior = Disambiguator(model, wordnet, senses, counts=counts, sharpness=sharpness, smoothing=smoothing)
        rows.append(standard.vectors("standard", name, with_prior))
    for year, sentences in standard.sets.items():
        sure = calibration(with_prior.predict_all(sentences), sentences, wordnet)
        notes.append(
            f"graded + prior, {year}, words of several senses: mean confidence {sure[0]:.1f}, right {sure[1]:.1f}, of "
            f"the more confident half {sure[2]:.1f}"
        )
    return WsdTable(tuple(rows), tuple(notes))


def _their_text(
    tests: _Tests, model: ALaCarte, data: WsdData, glosses: SynsetVectors, show_progress: bool | None
) -> list[WsdRow]:
    """As the released script reads text: right-hand contexts only, and SemEval-15 with its capitals."""
    cased = ALaCarte(model.vectors, model.transform, tokenizer="words-cased", check=model.check)
    seen = induce_synsets(model, data.semcor, data.wordnet, sides=RIGHT_SIDE, show_progress=show_progress)
    ways = {"SemCor": seen, "gloss": glosses, "combined": combined(seen, glosses)}
    return [
        tests.vectors(
            "authors, their text",
            name,
            Disambiguator(model, data.wordnet, senses, fallback=True, sides=RIGHT_SIDE),
            Disambiguator(cased, data.wordnet, senses, fallback=True, sides=RIGHT_SIDE),
        )
        for name, senses in ways.items()
    ]


__all__ = ["PUBLISHED", "Score", "WsdData", "WsdRow", "WsdTable", "by_counts", "evaluate", "score"]
