"""Choosing views, shrinkage and prior for disambiguation on a split of SemCor; the SemEval sets take no part.

Every fifth file of SemCor is held out. Synset vectors and sense counts come from the other files; the candidates of
the held-out words are ranked by these counts alone where they are known.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alacarte import ALaCarte, Table
from alacarte.senses import Disambiguator, Sentence, gloss_vectors, graded, induce_synsets, sense_counts
from alacarte.senses.disambiguation import Candidates
from alacarte.senses.segments import best, shares
from alacarte_experiments.lab.progress import progress
from alacarte_experiments.wsd.data import WsdData

EVERY = 5
Hits = NDArray[np.bool_]
STRENGTHS = (1.0, 2.0, 3.0, 5.0, 10.0)
SHARPNESSES = (2.0, 4.0, 6.0, 7.0, 8.0, 12.0)
SMOOTHINGS = (1.0, 2.0, 4.0, 8.0, 16.0)


@dataclass(frozen=True, slots=True)
class Trial:
    """One point of the grid: accuracy on ambiguous held-out words, and the mean log of the share of what is right.

    With `near`, the words next to the word are a second view; `gain` is what it adds, and `error` the standard error of
    that over files.
    """

    near: bool
    strength: float
    sharpness: float
    smoothing: float
    accuracy: float  # percent
    log_likelihood: float
    gain: float | None = None
    error: float | None = None


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
    """Accuracy on held-out SemCor over the grid of views, shrinkage and prior."""
    kept, held = split(data.semcor)
    known = [
        replace(sentence, instances=tuple(i for i in sentence.instances if any(map(data.wordnet.find_key, i.keys))))
        for sentence in held
    ]
    known = [sentence for sentence in known if sentence.instances]
    counts = sense_counts(kept)
    seen, beside = (
        induce_synsets(model, kept, data.wordnet, near=near, show_progress=show_progress) for near in (False, True)
    )
    glosses, rare = (
        gloss_vectors(model, data.wordnet, near=near, show_progress=show_progress) for near in (False, True)
    )
    gold = [set(instance.keys) for sentence in known for instance in sentence.instances]
    files = np.array([sentence.document_id for sentence in known for _ in sentence.instances])
    trials: list[Trial] = []
    baseline, instances = 0.0, 0
    with progress(2 * len(strengths), "strengths", "tuning", show_progress) as bar:
        for strength in strengths:
            alone: dict[tuple[float, float], Hits] = {}
            for view in (None, graded(beside, rare, strength)):
                senses = graded(seen, glosses, strength)
                disambiguator = Disambiguator(model, data.wordnet, senses, near=view, counts=counts)
                candidates = disambiguator.candidates(known)
                right = _right(candidates, gold)
                ambiguous = np.diff(candidates.bounds) > 1
                if not trials:
                    instances = int(ambiguous.sum())
                    flat = replace(candidates, cosines=np.zeros_like(candidates.cosines))
                    first = best(disambiguator.scores(flat), candidates.bounds)
                    baseline = 100 * float(right[first[ambiguous]].mean())
                for sharpness, smoothing in product(sharpnesses, smoothings):
                    disambiguator.sharpness, disambiguator.smoothing = sharpness, smoothing
                    scores = disambiguator.scores(candidates)
                    share = np.add.reduceat(
                        np.append(shares(scores, candidates.bounds) * right, 0.0), candidates.bounds[:-1]
                    )
                    hits = right[best(scores, candidates.bounds)[ambiguous]]
                    gained = (
                        (None, None)
                        if view is None
                        else _mean_over_files(100.0 * hits - 100.0 * alone[sharpness, smoothing], files[ambiguous])
                    )
                    alone.setdefault((sharpness, smoothing), hits)
                    fit = float(np.log(np.maximum(share[ambiguous], 1e-12)).mean())
                    accuracy = 100 * float(hits.mean())
                    trials.append(Trial(view is not None, strength, sharpness, smoothing, accuracy, fit, *gained))
                bar.update(1)
    order = sorted(trials, key=lambda trial: -trial.accuracy)
    return Tuning(tuple(order), baseline, instances)


def _mean_over_files(values: NDArray[np.float64], files: NDArray[np.str_]) -> tuple[float, float]:
    """The mean, and its standard error if what is in one file belongs together."""
    _, file = np.unique(files, return_inverse=True)
    mean = float(values.mean())
    sums = np.bincount(file, values - mean)
    return mean, float(np.sqrt(np.sum(sums**2)) / len(values))


def _right(candidates: Candidates, gold: Sequence[set[str]]) -> Hits:
    owner = np.repeat(np.arange(len(gold)), np.diff(candidates.bounds))
    return np.array(
        [key in gold[place] for key, place in zip(candidates.keys, owner.tolist(), strict=True)], dtype=bool
    )
