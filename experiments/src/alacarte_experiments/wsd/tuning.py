"""Choosing shrinkage and prior for disambiguation on a split of SemCor; the SemEval sets take no part.

Every fifth file of SemCor is held out. Synset vectors and sense counts come from the other files; the candidates of
the held-out words are ranked by these counts alone where they are known.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import product
from typing import Any

import numpy as np

from alacarte import ALaCarte, Table
from alacarte.senses import Disambiguator, Sentence, gloss_vectors, graded, induce_synsets, sense_counts
from alacarte.senses.disambiguation import Candidates
from alacarte.senses.segments import best, shares
from alacarte_experiments.lab.progress import progress
from alacarte_experiments.wsd.data import WsdData

EVERY = 5
STRENGTHS = (1.0, 2.0, 3.0, 5.0, 10.0)
SHARPNESSES = (2.0, 4.0, 6.0, 8.0, 12.0)
SMOOTHINGS = (1.0, 2.0, 4.0, 8.0, 16.0)


@dataclass(frozen=True, slots=True)
class Trial:
    """One point of the grid: accuracy on ambiguous held-out words, and the mean log of the share of what is right."""

    strength: float
    sharpness: float
    smoothing: float
    accuracy: float  # percent
    log_likelihood: float


@dataclass(frozen=True)
class Tuning(Table):
    """The grid, the best first; `baseline` is the most frequent sense of the training files."""

    trials: tuple[Trial, ...]
    baseline: float
    instances: int

    @property
    def best(self) -> Trial:
        return self.trials[0]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def columns(self) -> dict[str, list[Any]]:
        return {item.name: [getattr(trial, item.name) for trial in self.trials] for item in fields(Trial)}


def split(sentences: Sequence[Sentence], every: int = EVERY) -> tuple[list[Sentence], list[Sentence]]:
    """(for training, held out), by whole files: every fifth is held out.

    >>> parts = split([Sentence(("a",), document_id=name) for name in "abcdefg"], every=3)
    >>> [[sentence.document_id for sentence in part] for part in parts]
    [['b', 'c', 'e', 'f'], ['a', 'd', 'g']]
    """
    held = set(sorted({sentence.document_id for sentence in sentences})[::every])
    kept = [sentence for sentence in sentences if sentence.document_id not in held]
    return kept, [sentence for sentence in sentences if sentence.document_id in held]


def tune(
    data: WsdData,
    model: ALaCarte,
    *,
    strengths: Sequence[float] = STRENGTHS,
    sharpnesses: Sequence[float] = SHARPNESSES,
    smoothings: Sequence[float] = SMOOTHINGS,
    show_progress: bool | None = None,
) -> Tuning:
    """Accuracy on held-out SemCor over the grid of shrinkage and prior."""
    kept, held = split(data.semcor)
    known = [
        replace(sentence, instances=tuple(i for i in sentence.instances if any(map(data.wordnet.find_key, i.keys))))
        for sentence in held
    ]
    known = [sentence for sentence in known if sentence.instances]
    counts = sense_counts(kept)
    seen = induce_synsets(model, kept, data.wordnet, show_progress=show_progress)
    glosses = gloss_vectors(model, data.wordnet, show_progress=show_progress)
    gold = [set(instance.keys) for sentence in known for instance in sentence.instances]
    trials: list[Trial] = []
    baseline, instances = 0.0, 0
    with progress(len(strengths), "strengths", "tuning", show_progress) as bar:
        for number, strength in enumerate(strengths, 1):
            senses = graded(seen, glosses, strength)
            candidates = Disambiguator(model, data.wordnet, senses, counts=counts).candidates(known)
            right = _right(candidates, gold)
            ambiguous = np.diff(candidates.bounds) > 1
            instances = int(ambiguous.sum())
            for sharpness, smoothing in product(sharpnesses, smoothings):
                one = Disambiguator(
                    model, data.wordnet, senses, counts=counts, sharpness=sharpness, smoothing=smoothing
                )
                scores = one.scores(candidates)
                share = np.add.reduceat(
                    np.append(shares(scores, candidates.bounds) * right, 0.0), candidates.bounds[:-1]
                )
                chosen = best(scores, candidates.bounds)
                accuracy = float(right[chosen[ambiguous]].mean())
                fit = float(np.log(np.maximum(share[ambiguous], 1e-12)).mean())
                trials.append(Trial(strength, sharpness, smoothing, 100 * accuracy, fit))
            if number == 1:
                flat = replace(candidates, cosines=np.zeros_like(candidates.cosines))
                first = best(Disambiguator(model, data.wordnet, senses, counts=counts).scores(flat), candidates.bounds)
                baseline = 100 * float(right[first[ambiguous]].mean())
            bar.update(1)
    order = sorted(trials, key=lambda trial: -trial.accuracy)
    return Tuning(tuple(order), baseline, instances)


def _right(candidates: Candidates, gold: Sequence[set[str]]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    owner = np.repeat(np.arange(len(gold)), np.diff(candidates.bounds))
    return np.array(
        [key in gold[place] for key, place in zip(candidates.keys, owner.tolist(), strict=True)], dtype=bool
    )
