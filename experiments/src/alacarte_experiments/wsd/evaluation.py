"""Word sense disambiguation (the paper's section 5.1): SemEval-2013 task 12 and SemEval-2015 task 13.

Two settings, which answer different questions:

- *authors*: the tasks' own files; an answer is a synset and is scored by the sense key of its first lemma without the
  lemma; a phrase is asked for as its last word; the most-frequent-sense row is the synset that SemCor has most often.
  `authors, their text` adds what the released scripts do to the text: synset vectors are made of the words to the
  right of a sense only, and SemEval-15 is not lower-cased.
- *standard*: the unified evaluation framework's files; an answer is a sense key of the target lemma; F1 as the
  framework's scorer computes it.

`evaluate` makes the paper's table; `evaluate_sets` scores the methods of the standard setting on any test sets in the
framework's format.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from alacarte import ALaCarte
from alacarte.errors import BadWordNet
from alacarte.senses import (
    Answer,
    Disambiguator,
    Sentence,
    SynsetVectors,
    WordNet,
    combined,
    gloss_vectors,
    graded,
    induce_synsets,
    sense_counts,
)
from alacarte.senses.disambiguation import candidate_senses
from alacarte.senses.synset_vectors import RIGHT_SIDE, UNKNOWN_LIMIT
from alacarte_experiments.lab.results import RowTable
from alacarte_experiments.wsd.baselines import Ties, by_counts, synset_counts
from alacarte_experiments.wsd.data import WsdData
from alacarte_experiments.wsd.scoring import Score, Scoring, calibration, score

Setting = Literal["published", "authors", "authors, their text", "standard"]


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
    "The settings differ in what counts as right, in what is asked, and in what the baseline is. The authors answer "
    "with a synset and look for the sense key of its first lemma, without the lemma, among the gold keys. On "
    "SemEval-13, whose key file lists only keys of the word itself, a right synset whose first lemma has another "
    "number counts as wrong, which costs up to 3 points; on SemEval-15, whose key file lists the keys of all "
    "synonyms, a right synset is always right; on both, a wrong synset is right where the numbers happen to agree. "
    "They ask for a phrase as its last word (1,053 words on SemEval-15). Their most frequent sense is the synset that "
    "SemCor has most often, whichever lemma it stood for, which puts verbs above nouns. Their scripts make synset "
    "vectors from the words to the right of a sense only and do not lower-case SemEval-15. The standard setting asks "
    "for the sense key of the target lemma, on the framework's corrected instances (1,022 on SemEval-15), and its "
    "baselines are WordNet's first sense and the lemma's most frequent sense in SemCor."
)


@dataclass(frozen=True)
class WsdTable(RowTable):
    """The rows, published ones first, and what was noticed on the way."""

    kind = WsdRow
    rows: tuple[WsdRow, ...]
    notes: tuple[str, ...] = ()

    def row(self, setting: str, method: str) -> WsdRow:
        matching = [row for row in self.rows if (row.setting, row.method) == (setting, method)]
        if len(matching) != 1:
            raise KeyError(f"{len(matching)} rows are {setting}, {method}")
        return matching[0]

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "difference": DIFFERENCE}


@dataclass(frozen=True, slots=True)
class SetRow:
    """F1 of one method on one test set, in percent: over all words and by part of speech (None: it has none)."""

    test: str
    method: str
    words: int
    f1: float
    noun: float | None
    verb: float | None
    adj: float | None
    adv: float | None


@dataclass(frozen=True)
class SetTable(RowTable):
    """Every method of the standard setting on every test set that was given."""

    kind = SetRow
    rows: tuple[SetRow, ...]
    notes: tuple[str, ...] = ()


# -------------------------------------------------------------------------------------------------- the run

Answering = Callable[[Sequence[Sentence]], list[Answer]]


@dataclass(frozen=True)
class _Senses:
    """A model and the synset vectors made with it."""

    model: ALaCarte
    seen: SynsetVectors
    glosses: SynsetVectors
    near: SynsetVectors

    @classmethod
    def induce(cls, data: WsdData, model: ALaCarte, show_progress: bool | None) -> "_Senses":
        glosses = gloss_vectors(model, data.wordnet, show_progress=show_progress)
        seen = induce_synsets(model, data.semcor, data.wordnet, show_progress=show_progress)
        near = graded(
            induce_synsets(model, data.semcor, data.wordnet, near=True, show_progress=show_progress),
            gloss_vectors(model, data.wordnet, near=True, show_progress=show_progress),
        )
        return cls(model, seen, glosses, near)

    @property
    def ways(self) -> dict[str, SynsetVectors]:
        return {"SemCor": self.seen, "gloss": self.glosses, "combined": combined(self.seen, self.glosses)}

    @property
    def notes(self) -> list[str]:
        return [
            f"SemCor: {self.seen.report}",
            repr(self.model),
            f"synsets with a vector: {len(self.seen):,} seen, {len(self.glosses):,} gloss",
        ]


def evaluate(data: WsdData, model: ALaCarte, *, show_progress: bool | None = None) -> WsdTable:
    """The paper's table with this model, in all settings, and past it: shrinkage and prior, as tuned on SemCor."""
    wordnet = data.wordnet
    senses = _Senses.induce(data, model, show_progress)
    rows = list(PUBLISHED)
    notes = senses.notes

    authors = {year: data.test("authors", year) for year in (2013, 2015)}
    notes += [_check_set(f"authors, {year}", sentences, wordnet) for year, sentences in authors.items()]
    often = synset_counts(data.distributed, wordnet)
    methods: dict[str, Answering] = {
        name: Disambiguator(model, wordnet, vectors, fallback=True).predict_all for name, vectors in senses.ways.items()
    }
    methods["most frequent synset"] = partial(by_counts, wordnet=wordnet, counts=often, of="synset")
    methods["WordNet first sense"] = partial(by_counts, wordnet=wordnet, counts={})
    for name, answer in methods.items():
        answers = {year: answer(sentences) for year, sentences in authors.items()}
        rows.append(_row("authors", name, answers, authors, wordnet))
    rows += _their_text(authors, data, senses, show_progress)

    standard = {year: data.test("standard", year) for year in (2013, 2015)}
    notes += [_check_set(f"standard, {year}", sentences, wordnet) for year, sentences in standard.items()]
    for name, answer in _standard_methods(data, senses).items():
        answers = {year: answer(sentences) for year, sentences in standard.items()}
        rows.append(_row("standard", name, answers, standard, wordnet))
    for year, sentences in standard.items():
        notes.append(_calibrated(str(year), answers[year], sentences, wordnet))
    return WsdTable(tuple(rows), tuple(notes))


def evaluate_sets(
    data: WsdData,
    model: ALaCarte,
    tests: Mapping[str, list[Sentence]],
    *,
    show_progress: bool | None = None,
) -> SetTable:
    """Every method of the standard setting on any test sets, by name; F1 as the framework's scorer computes it."""
    notes = [_check_set(name, sentences, data.wordnet) for name, sentences in tests.items()]
    senses = _Senses.induce(data, model, show_progress)
    rows = []
    methods = _standard_methods(data, senses)
    for test, sentences in tests.items():
        for method, answer in methods.items():
            answers = answer(sentences)
            scores = score(answers, sentences, data.wordnet)
            by_pos = (scores[pos].f1 if pos in scores else None for pos in ("noun", "verb", "adj", "adv"))
            rows.append(SetRow(test, method, scores["all"].total, scores["all"].f1, *by_pos))
        if any(one.candidates for one in answers):
            notes.append(_calibrated(test, answers, sentences, data.wordnet))
    return SetTable(tuple(rows), (*senses.notes, *notes))


def _standard_methods(data: WsdData, senses: _Senses) -> dict[str, Answering]:
    """All ways to answer with a sense key of the lemma, by name; the last is the best one."""
    model, wordnet = senses.model, data.wordnet
    counts = sense_counts(data.semcor)
    ways = senses.ways
    shrunk = graded(senses.seen, senses.glosses)

    def by_context(vectors: SynsetVectors) -> Answering:
        return Disambiguator(model, wordnet, vectors, fallback=True).predict_all

    def with_prior(vectors: SynsetVectors, near: SynsetVectors | None = None) -> Answering:
        return Disambiguator(model, wordnet, vectors, near=near, counts=counts).predict_all

    def most_frequent(counted: Mapping[str, int], ties: Ties = "order") -> Answering:
        return partial(by_counts, wordnet=wordnet, counts=counted, ties=ties)

    return {
        **{name: by_context(vectors) for name, vectors in ways.items()},
        "WordNet first sense": most_frequent({}),
        "SemCor most frequent sense": most_frequent(sense_counts(data.distributed), "met"),
        "the same, keys repaired, ties to WordNet": most_frequent(counts),
        "graded": by_context(shrunk),
        "combined + prior": with_prior(ways["combined"]),
        "graded + prior": with_prior(shrunk),
        "graded + near + prior": with_prior(shrunk, senses.near),
    }


def _check_set(name: str, sentences: Sequence[Sentence], wordnet: WordNet) -> str:
    """A note on words that WordNet does not list, and on gold keys that it lacks; an error where these are many."""
    instances = [instance for sentence in sentences for instance in sentence.instances]
    strangers = [i.lemma for i in instances if not candidate_senses(wordnet, i.lemma, i.pos)]
    keys = [key for instance in instances for key in instance.keys]
    unknown = [key for key in keys if wordnet.find_key(key) is None]
    if len(unknown) > UNKNOWN_LIMIT * len(keys):
        raise BadWordNet(
            f"{name}: {wordnet.name} (version {wordnet.version or 'unknown'}) lacks "
            f"{len(unknown):,} of {len(keys):,} sense keys, such as {unknown[0]}; give WordNet 3.0"
        )
    return (
        f"{name}: {len(instances):,} words; not in WordNet, so not answered: {len(strangers)}"
        f"{_some(strangers)}; answers with keys that WordNet lacks: {len(unknown)}{_some(unknown)}"
    )


def _some(items: Sequence[str]) -> str:
    return f" ({', '.join(dict.fromkeys(items[:3]))}, …)" if items else ""


def _calibrated(name: str, answers: Sequence[Answer], sentences: Sequence[Sentence], wordnet: WordNet) -> str:
    mean, right, right_of_half = calibration(answers, sentences, wordnet)
    return (
        f"graded + near + prior, {name}, words of several senses: mean confidence {mean:.1f}, right {right:.1f}, of "
        f"the more confident half {right_of_half:.1f}"
    )


def _row(
    setting: Setting,
    method: str,
    answers: Mapping[int, Sequence[Answer]],
    tests: Mapping[int, Sequence[Sentence]],
    wordnet: WordNet,
) -> WsdRow:
    """A line of the paper's table: answers to the two test sets scored as the setting has it."""
    scoring: Scoring = "key" if setting == "standard" else "authors"
    old = score(answers[2013], tests[2013], wordnet, scoring)
    synset = score(answers[2013], tests[2013], wordnet, "synset")
    new = score(answers[2015], tests[2015], wordnet, scoring)

    def rate(one: Score) -> float:
        """The authors' accuracy has all instances below the line; the framework's scorer gives F1."""
        return one.f1 if setting == "standard" else one.recall

    return WsdRow(
        setting,
        method,
        semeval13=rate(old["all"]),
        semeval13_synset=rate(synset["all"]),
        adj=rate(new["adj"]),
        noun=rate(new["noun"]),
        adv=rate(new["adv"]),
        verb=rate(new["verb"]),
        semeval15=rate(new["all"]),
    )


def _their_text(
    tests: Mapping[int, list[Sentence]], data: WsdData, senses: _Senses, show_progress: bool | None
) -> list[WsdRow]:
    """As the released scripts read text: SemCor to the right of a sense only, and SemEval-15 with its capitals."""
    model, wordnet = senses.model, data.wordnet
    cased = ALaCarte(model.vectors, model.transform, tokenizer="words-cased", check=model.check)
    right = induce_synsets(model, data.semcor, wordnet, sides=RIGHT_SIDE, show_progress=show_progress)
    rows = []
    for name, vectors in _Senses(model, right, senses.glosses, senses.near).ways.items():
        answers = {
            year: Disambiguator(reader, wordnet, vectors, fallback=True).predict_all(tests[year])
            for year, reader in ((2013, model), (2015, cased))
        }
        rows.append(_row("authors, their text", name, answers, tests, wordnet))
    return rows
