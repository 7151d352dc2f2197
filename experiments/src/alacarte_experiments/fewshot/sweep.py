"""Learning curves before money is spent: quality over a grid of settings, on training data only.

Tasks: `nonce` and `chimera` (their train splits; there is no way to the test splits from here), `crw`, and two that
need no data but the corpus: `cosine`, the mean cosine of A u with v over words held out of the regression, and `rare`,
the same over words that occur 8 to 128 times, the same words for every cell: what induction of rare words is like.
"""

import itertools
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from alacarte import WordVectors
from alacarte.errors import BadData, NotEnoughData
from alacarte.vectors.geometry import cosines
from alacarte_experiments.fewshot import chimera, crw, nonce
from alacarte_experiments.fewshot.data import read_chimeras, read_nonces, read_rare_words
from alacarte_experiments.fewshot.systems import Workbench
from alacarte_experiments.lab.progress import progress
from alacarte_experiments.lab.results import Results, Row, mean_row
from alacarte_experiments.lab.settings import Settings
from alacarte_experiments.lab.store import Store

TASKS = {  # what a task measures, and whether less is better
    "nonce": ("median rank", True),
    "chimera": ("ρ", False),
    "crw": ("spearman", False),
    "cosine": ("held-out cosine", False),
    "rare": ("held-out cosine of rare words", False),
}
WITHOUT_DATA = ("cosine", "rare")
RARE = (8, 128)  # occurrences
LEAST = 10  # words held out
AXES = ("vectors", "window", "weights", "tokenizer", "every", "averaging", "tau", "ridge")
TEXT_AXES = ("vectors", "window", "weights", "tokenizer", "every")  # what needs sums of its own, most expensive first


def parse_grid(specifications: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """`window=2,5,10` and so on.

    >>> parse_grid(["window=2,5", "tau=100,1000"])
    {'window': ('2', '5'), 'tau': ('100', '1000')}
    """
    grid: dict[str, tuple[str, ...]] = {}
    for text in specifications:
        name, equals, values = text.partition("=")
        listed = tuple(dict.fromkeys(value.strip() for value in values.split(",") if value.strip()))
        if name not in AXES or not equals or not listed:
            raise BadData(f"a grid is NAME=VALUE,VALUE with a name out of {', '.join(AXES)}, not {text!r}")
        grid[name] = listed
    if not grid:
        raise BadData("a sweep needs at least one axis; pass --grid window=2,5,10")
    return grid


def run(settings: Settings, grid: Mapping[str, Sequence[str]], task: str, store: Store, *, workers: int = 1) -> Results:
    """One value (or one a size) for each cell of the grid; cells that share their sums are done together."""
    if task not in TASKS:
        raise BadData(f"no task is called {task!r}; there are {', '.join(TASKS)}")
    if settings.split != "train":
        raise BadData("a sweep chooses settings, so it runs on the train split only")
    names = list(grid)
    cells = [dict(zip(names, values, strict=True)) for values in itertools.product(*grid.values())]
    groups: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for cell in cells:
        groups.setdefault(tuple(cell.get(axis, "") for axis in TEXT_AXES), []).append(cell)
    rows: list[Row] = []
    with progress(len(cells), "cells", "sweep", store.show_progress) as bar:
        for group in _outcomes(list(groups.values()), settings, task, store, workers):
            rows += group
            bar.update(len({tuple(row[name] for name in names) for row in group}))
    place = {tuple(cell.values()): i for i, cell in enumerate(cells)}
    rows.sort(key=lambda row: place[tuple(row[name] for name in names)])
    return Results(settings, tuple(rows), (), {"task": task, "cells": len(cells)})


def _outcomes(groups: list[list[dict[str, str]]], settings: Settings, task: str, store: Store, workers: int) -> Any:
    if workers <= 1 or len(groups) == 1:
        for group in groups:
            yield run_cells(group, settings, task, store)
        return
    # Fresh processes: numba's threads do not survive a fork.
    with ProcessPoolExecutor(min(workers, len(groups)), mp_context=get_context("spawn")) as pool:
        jobs = [pool.submit(_run_cells_in, group, settings, task, store.folder) for group in groups]
        for job in as_completed(jobs):
            yield job.result()


def _run_cells_in(group: list[dict[str, str]], settings: Settings, task: str, folder: Path) -> list[Row]:
    return run_cells(group, settings, task, Store(folder, show_progress=False))


def run_cells(cells: Sequence[Mapping[str, str]], settings: Settings, task: str, store: Store) -> list[Row]:
    """The rows of some cells, each of which is à la carte under its settings."""
    rows: list[Row] = []
    opened: tuple[tuple[str, str], WordVectors, Any] | None = None
    for cell in cells:
        chosen = settings.with_options(cell)
        key = (chosen.vectors, chosen.tokenizer)
        if opened is None or opened[0] != key:  # what cells with the same vectors and tokenizer share
            vectors = WordVectors.load(chosen.vectors)
            opened = key, vectors, _read(chosen, task, vectors)
        rows += [{**cell, **row} for row in _run_task(chosen, task, store, *opened[1:])]
    return rows


def _read(settings: Settings, task: str, vectors: WordVectors) -> Any:
    """The data of a task, always of the train split."""
    if task == "nonce":
        return read_nonces(settings.data)
    if task == "chimera":
        return read_chimeras(settings.data)
    if task == "crw":
        data = read_rare_words(settings.data, settings.contexts)
        return data, crw.Trials(data, settings, vectors)
    return None


def _run_task(settings: Settings, task: str, store: Store, vectors: WordVectors, data: Any) -> list[Row]:
    metric = TASKS[task][0]
    if task == "cosine":
        bench = Workbench(vectors, settings.open_corpus(), store)
        report = bench.alacarte(settings).report
        assert report is not None
        if report.cv_cosine_mean is None:
            raise BadData("too few words to hold some out; give more text or a lower tau")
        return [{"metric": metric, "value": report.cv_cosine_mean, "n": report.words, "source": "ours"}]
    if task == "rare":
        return [_rare_cosine(settings, store, vectors)]
    own = replace(settings, experiment=task, systems=("alacarte",))
    if task == "nonce":
        results = nonce.evaluate(data, own, store, vectors=vectors)
    elif task == "chimera":
        results = chimera.evaluate(data, own, store, vectors=vectors)
    else:
        results = crw.evaluate(data[0], own, store, trials=data[1])
    kept = ("size", "sentences", "metric", "value", "stderr", "n", "source")
    wanted = (metric, "MRR") if task == "nonce" else (metric,)
    rows = [row for row in results.rows if row["source"] == "ours" and row["metric"] in wanted]
    return [{name: row[name] for name in kept if name in row} for row in rows]


def _rare_cosine(settings: Settings, store: Store, vectors: WordVectors) -> Row:
    """The mean cosine of A u with v over a fifth of the rare words, which are left out of the regression."""
    bench = Workbench(vectors, settings.open_corpus(), store)
    sums = bench.sums(settings, averaging=settings.averaging)
    rare = sums.seen[(sums.occurrences[sums.seen] >= RARE[0]) & (sums.occurrences[sums.seen] <= RARE[1])]
    held = np.random.default_rng(settings.seed).permutation(rare)[: -(-len(rare) // 5)]
    if len(held) < LEAST:
        raise NotEnoughData(f"{len(rare)} words occur {RARE[0]} to {RARE[1]} times, too few; give more text")
    bench.exclude = [sums.keys[row] for row in held]
    model = bench.alacarte(settings)
    return mean_row(cosines(model.transform(sums.means(held)), vectors[bench.exclude]), metric=TASKS["rare"][0])


def best(results: Results) -> Settings:
    """The settings of the best cell, as an experiment's: what a final evaluation takes with --config.

    Over several sizes the mean decides.
    """
    task = results.protocol["task"]
    metric, less = TASKS[task]
    names = [name for name in AXES if name in results.rows[0]]
    values: dict[tuple[str, ...], list[float]] = {}
    for row in results.select(metric=metric):
        values.setdefault(tuple(row[name] for name in names), []).append(row["value"])
    means = {cell: sum(listed) / len(listed) for cell, listed in values.items()}
    chosen = (min if less else max)(means, key=lambda cell: means[cell])
    experiment = {"cosine": "figure1", "rare": "crw"}.get(task, task)
    return replace(results.settings, experiment=experiment, systems=Settings(experiment).systems).with_options(
        dict(zip(names, chosen, strict=True))
    )
