"""Word sense disambiguation (the paper's section 5.1): SemEval-2013 task 12 and SemEval-2015 task 13.

Two settings, which answer different questions:

- *authors*: the tasks' own files; an answer is a synset and is scored by the sense key of its first lemma without the
  lemma; a phrase is asked for as its last word; the most-frequent-sense row is the synset that SemCor has most often.
  `authors, their text` adds what the released scripts do to the text: synset vectors are made of the words to the
  right of a sense only, and SemEval-15 is not lower-cased.
- *standard*: the unified evaluation framework's files; an answer is a sense key of the target lemma; F1 as the
  framework's scorer computes it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from alacarte.errors import BadWordNet, require
from alacarte.model import ALaCarte
from alacarte.senses.disambiguation import SHARPNESS, SMOOTHING, Answer, Disambiguator, candidate_senses
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
from alacarte_experiments.wsd_baselines import Ties, Unit, by_counts, synset_counts
from alacarte_experiments.wsd_data import TestSetting, WsdData
from alacarte_experiments.wsd_scoring import Score, Scoring, calibration, score

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


# -------------------------------------------------------------------------------------------------- the run


class _Tests:
    """The two test sets in one setting, and a row of scores for any way to answer them."""

    def __init__(self, data: WsdData, setting: TestSetting) -> None:
        self.wordnet = data.wordnet
        self.scoring: Scoring = "key" if setting == "standard" else "authors"
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
        of: Unit = "key",
        ties: Ties = "order",
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
    often = synset_counts(data.distributed, wordnet)
    rows.append(authors.counted("authors", "most frequent synset", often, "synset"))
    rows.append(authors.counted("authors", "WordNet first sense", {}))
    rows += _their_text(authors, model, data, glosses, show_progress)

    standard = _Tests(data, "standard")
    notes += standard.notes("standard")
    for name, senses in ways.items():
        rows.append(standard.vectors("standard", name, Disambiguator(model, wordnet, senses, fallback=True)))
    rows.append(standard.counted("standard", "WordNet first sense", {}))
    rows.append(standard.counted("standard", "SemCor most frequent sense", sense_counts(data.distributed), ties="met"))
    rows.append(standard.counted("standard", "the same, keys repaired, ties to WordNet", counts))
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
    """As the released scripts read text: SemCor to the right of a sense only, and SemEval-15 with its capitals."""
    cased = ALaCarte(model.vectors, model.transform, tokenizer="words-cased", check=model.check)
    seen = induce_synsets(model, data.semcor, data.wordnet, sides=RIGHT_SIDE, show_progress=show_progress)
    ways = {"SemCor": seen, "gloss": glosses, "combined": combined(seen, glosses)}
    return [
        tests.vectors(
            "authors, their text",
            name,
            Disambiguator(model, data.wordnet, senses, fallback=True),
            Disambiguator(cased, data.wordnet, senses, fallback=True),
        )
        for name, senses in ways.items()
    ]


__all__ = [
    "PUBLISHED", "Score", "WsdData", "WsdRow", "WsdTable", "by_counts", "calibration", "evaluate", "score",
]  # fmt: skip
