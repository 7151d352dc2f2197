"""Chimeras (Table 1, right): a vector from 2, 4 or 6 sentences, its cosines with probes against human ratings.

True mean Spearman comes first. The authors' script averages ρ together with its p-value; that number, (ρ+p)/2, is the
second metric, so that the published ones can be compared with something.
"""

from itertools import pairwise
from typing import Any

import numpy as np

from alacarte import ALaCarte, Corpus, WordVectors
from alacarte.errors import NotEnoughData
from alacarte.model import SLOT
from alacarte.text.tokenizers import get_tokenizer
from alacarte.vectors.geometry import cosines
from alacarte_experiments.fewshot import published
from alacarte_experiments.fewshot.agreement import agreement_weights
from alacarte_experiments.fewshot.data import Chimera, read_chimeras
from alacarte_experiments.fewshot.spelled import Spelled
from alacarte_experiments.fewshot.systems import Embedder, System, Workbench, check_overlap
from alacarte_experiments.lab.measures import spearman, spearman_p
from alacarte_experiments.lab.results import Exclusion, Results, Row, mean_row
from alacarte_experiments.lab.settings import Settings
from alacarte_experiments.lab.splits import Permit, open_test
from alacarte_experiments.lab.store import Store

LEAST = 3  # probes with a vector: fewer have no rank correlation worth the name


def run(settings: Settings, store: Store, *, vectors: WordVectors | None = None) -> Results:
    """All systems of the settings on the train split, or on the test split after that is recorded."""
    permit = open_test(settings, store) if settings.split == "test" else None
    return evaluate(read_chimeras(settings.data, permit), settings, store, vectors=vectors, permit=permit)


def evaluate(
    trials: dict[int, list[Chimera]],
    settings: Settings,
    store: Store,
    *,
    vectors: WordVectors | None = None,
    corpus: Corpus | None = None,
    permit: Permit | None = None,
) -> Results:
    """All systems of the settings on these trials, by number of sentences."""
    vectors, corpus = settings.open(vectors, corpus)
    probes = [probe for chimeras in trials.values() for chimera in chimeras for probe in chimera.probes]
    check_overlap(vectors, probes, "probes")
    bench = Workbench(vectors, corpus, store)
    data = [[size, c.name, c.sentences, c.probes, c.ratings] for size, cs in trials.items() for c in cs]
    rows: list[Row] = []
    left_out = Exclusion.of("probes with their ratings", sorted({p for p in probes if p not in vectors}), "no vector")
    outcomes = bench.each(settings, data, lambda system: _correlations(bench.build(system), trials, system), "chimeras")
    for system, outcome in outcomes:
        for metric in ("ρ", "(ρ+p)/2"):
            for size in trials:
                values = outcome[str(size)][metric]
                rows.append(mean_row(values, system=system.name, sentences=size, metric=metric))
        failed = [f"{size} sentences: {name}" for size in trials for name in outcome[str(size)]["failed"]]
        left_out += Exclusion.of(f"trials by {system.name}", failed, f"fewer than {LEAST} usable probes, or no context")
    rows += _differences(outcomes, list(trials))
    protocol = bench.protocol(settings) | ({} if permit is None else {"test_settings_so_far": permit.settings})
    return Results(settings, (*rows, *published.chimera_rows()), tuple(left_out), protocol)


def _differences(outcomes: list[tuple[System, dict[str, Any]]], sizes: list[int]) -> list[Row]:
    """How far each system is ahead of the one that was named first, trial by trial.

    The trials are the same for both, so the error of the difference is smaller than that of either.
    """
    rows: list[Row] = []
    for system, outcome in outcomes[1:]:
        first, before = outcomes[0]
        for size in sizes:
            ours, theirs = np.array(outcome[str(size)]["ρ"]), np.array(before[str(size)]["ρ"])
            if outcome[str(size)]["failed"] != before[str(size)]["failed"] or len(ours) < 2:
                continue
            metric = "ρ less the first's"
            rows.append(mean_row(ours - theirs, system=system.name, baseline=first.name, sentences=size, metric=metric))
    return rows


def _correlations(model: Embedder, trials: dict[int, list[Chimera]], system: System) -> dict[str, dict[str, Any]]:
    """ρ and (ρ+p)/2 of each trial, by number of sentences."""
    result: dict[str, dict[str, Any]] = {}
    for size, chimeras in trials.items():
        kept: dict[str, Any] = {"ρ": [], "(ρ+p)/2": [], "failed": []}
        for chimera in chimeras:
            rho, n = _correlation(model, chimera, system)
            if np.isnan(rho):
                kept["failed"].append(chimera.name)
                continue
            kept["ρ"].append(rho)
            kept["(ρ+p)/2"].append((rho + float(spearman_p(rho, n))) / 2)
        if not kept["ρ"]:
            raise NotEnoughData(f"none of the trials with {size} sentences can be used; check language and case")
        result[str(size)] = kept
    return result


def _correlation(model: Embedder, chimera: Chimera, system: System) -> tuple[float, int]:
    """(ρ, number of probes); NaN where there is none. A probe without a vector goes with its own rating."""
    known = [(p, r) for p, r in zip(chimera.probes, chimera.ratings, strict=True) if p in model.vectors]
    if len(known) < LEAST:
        return float("nan"), len(known)
    split = get_tokenizer(system.settings.tokenizer)
    texts = [split(text, model.vectors.key_to_index) for text in chimera.sentences]
    assert not isinstance(model, Spelled)  # `System.parse` refuses them: a chimera has no spelling
    try:
        if not isinstance(model, ALaCarte):  # to these the place of the new word matters
            vector = model.embed(texts)
        elif system.parameters.get("agreement"):
            parts = [_without_slots(part) for text in texts for part in cut_between_slots(text)]
            parts = [part for part in parts if any(token in model.vectors for token in part)]
            rows = model.embed(parts, each=True)
            vector = np.asarray(agreement_weights(rows)[0] @ rows / len(rows), dtype=np.float32)
        else:
            vector = model.embed([_without_slots(text) for text in texts])
    except NotEnoughData:
        return float("nan"), len(known)
    similar = cosines(vector[None, :], model.vectors[[probe for probe, _ in known]])
    return float(spearman(similar, [rating for _, rating in known])), len(known)


def cut_between_slots(tokens: list[str]) -> list[list[str]]:
    """Sentences that were run together, cut half way between their slots: the contexts that agreement is between.

    >>> cut_between_slots(["a", "___", "b", "c", "d", "___"])
    [['a', '___', 'b'], ['c', 'd', '___']]
    """
    slots = [place for place, token in enumerate(tokens) if SLOT.match(token)]
    cuts = [0, *((first + second) // 2 for first, second in pairwise(slots)), len(tokens)]
    return [tokens[low:high] for low, high in pairwise(cuts)]


def _without_slots(tokens: list[str]) -> list[str]:
    return [token for token in tokens if not SLOT.match(token)]
