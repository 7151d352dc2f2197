"""Definitional nonces (Table 1, left): a word's vector from one definition, ranked against its real one.

The gold is the word's own vector; the rank is taken over the whole vocabulary. The nonces take no part in learning.
"""

from typing import Any

import numpy as np

from alacarte import Corpus, WordVectors
from alacarte.errors import NotEnoughData
from alacarte_experiments.fewshot import published
from alacarte_experiments.fewshot.data import Nonce, read_nonces
from alacarte_experiments.fewshot.spelled import Spelled
from alacarte_experiments.fewshot.systems import Embedder, System, Workbench, check_overlap
from alacarte_experiments.lab.measures import gold_ranks
from alacarte_experiments.lab.results import Exclusion, Results, Row
from alacarte_experiments.lab.settings import Settings
from alacarte_experiments.lab.splits import Permit, open_test
from alacarte_experiments.lab.store import Store

METRICS = ("median rank", "MRR")


def run(settings: Settings, store: Store, *, vectors: WordVectors | None = None) -> Results:
    """All systems of the settings on the train split, or on the test split after that is recorded."""
    permit = open_test(settings, store) if settings.split == "test" else None
    return evaluate(read_nonces(settings.data, permit), settings, store, vectors=vectors, permit=permit)


def evaluate(
    nonces: list[Nonce],
    settings: Settings,
    store: Store,
    *,
    vectors: WordVectors | None = None,
    corpus: Corpus | None = None,
    permit: Permit | None = None,
) -> Results:
    """All systems of the settings on these nonces."""
    vectors, corpus = settings.open(vectors, corpus)
    check_overlap(vectors, [nonce.word for nonce in nonces], "nonces")
    usable = [nonce for nonce in nonces if nonce.word in vectors]
    bench = Workbench(vectors, corpus, store, exclude=[nonce.word for nonce in nonces])
    data = [[nonce.word, nonce.definition] for nonce in usable]
    rows: list[Row] = []
    left_out = Exclusion.of("nonces", [n.word for n in nonces if n.word not in vectors], "no vector to compare with")
    outcomes = bench.each(settings, data, lambda system: _ranks(bench.build(system), usable, system), "nonces")
    for system, outcome in outcomes:
        ranks = np.array(outcome["ranks"])
        for metric, value in zip(METRICS, (np.median(ranks), np.mean(1 / ranks)), strict=True):
            rows.append(
                {"system": system.name, "metric": metric, "value": float(value), "n": len(ranks), "source": "ours"}
            )
        left_out += Exclusion.of(f"nonces by {system.name}", outcome["failed"], "no known word, or unknown to it")
    protocol = bench.protocol(settings) | ({} if permit is None else {"test_settings_so_far": permit.settings})
    return Results(settings, (*rows, *published.nonce_rows()), tuple(left_out), protocol)


def _ranks(model: Embedder, nonces: list[Nonce], system: System) -> dict[str, list[Any]]:
    """The rank of each nonce's own vector, and the words for which there is none."""
    queries, gold, failed = [], [], []
    for nonce in nonces:
        if nonce.word not in model.vectors:
            failed.append(nonce.word)
            continue
        try:
            if isinstance(model, Spelled):
                queries.append(model.embed_definition(nonce.definition, nonce.word))
            else:
                queries.append(model.embed_definition(nonce.definition))
            gold.append(model.vectors.index(nonce.word))
        except NotEnoughData:
            failed.append(nonce.word)
    if not queries:
        raise NotEnoughData(f"{system.name}: no nonce could be embedded; check that text and vectors share a language")
    return {"ranks": gold_ranks(model.vectors, queries, gold).tolist(), "failed": failed}
