"""Document classification (the paper's section 5.2, Table 4): n-gram document vectors against their rivals.

Features see the texts of a task, test texts included, and no label; with `inductive`, they are learned from training
texts alone, anew for each part that is tested or that chooses C. Ten folds (MR, CR, SUBJ, MPQA): a fold is tested, the
next one chooses C, eight train; then nine train with that C. Given splits: C by five folds of the training part.
Standard errors are over folds, or over test documents where there is one split.

`Task.training` is for choices: ten folds of a training part. What à la carte is tested with is written down first
(`test-runs.jsonl` in the cache), and the notes say how many different vectors have been.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from alacarte import ALaCarte, Corpus, Targets, WordVectors, discover
from alacarte.errors import BadData, NotEnoughData
from alacarte_experiments.documents.classifier import Classifier, train
from alacarte_experiments.documents.data import Task
from alacarte_experiments.documents.fasttext import SETTINGS, FastText
from alacarte_experiments.documents.systems import (
    Features,
    Ingredients,
    features,
    learned_features,
    parse,
    read_encoded,
    title,
)
from alacarte_experiments.lab.measures import mean_and_error
from alacarte_experiments.lab.progress import progress
from alacarte_experiments.lab.results import RowTable
from alacarte_experiments.lab.splits import record
from alacarte_experiments.lab.store import Store, digest

Rows = npt.NDArray[np.intp]
Predict = Callable[[Rows], npt.NDArray[Any]]
Learn = Callable[[Rows, Sequence[Any]], Iterator[Predict]]  # rows to learn from, settings → a predictor for each

CS = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
FOLDS, INNER = 10, 5
BAGS = ("bong", "tfidf")  # what à la carte is compared with
WORDS_ONLY = (
    "bong",
    "tfidf",
    "nb-bong",
    "fasttext",
    "doc2vec",
    "minilm",
)  # kinds that ask, at most, which words have a vector
MANY, OFTEN = 20_000, 5  # from so many documents on, only n-grams that occur so often have vectors
PAPER = "Khodak et al. 2018"
PUBLISHED = {  # accuracy on MR CR SUBJ MPQA TREC SST SST-fine IMDB, as the paper has them
    "BonG, n = 1": (77.1, 77.0, 91.0, 85.1, 86.8, 80.7, 36.8, 88.3),
    "BonG, n = 2": (77.8, 78.1, 91.8, 85.8, 90.0, 80.9, 39.0, 90.0),
    "BonG, n = 3": (77.8, 78.3, 91.4, 85.6, 89.8, 80.1, 42.3, 89.8),
    "à la carte, n = 1": (79.8, 81.3, 92.6, 87.4, 85.6, 84.1, 46.7, 89.0),
    "à la carte, n = 2": (81.3, 83.7, 93.5, 87.6, 89.0, 85.8, 47.8, 90.3),
    "à la carte, n = 3": (81.8, 84.3, 93.8, 87.6, 89.0, 86.7, 48.1, 90.9),
    "Sent2Vec": (76.3, 79.1, 91.2, 87.2, 85.8, 80.2, 31.0, 85.5),
    "DisC": (80.1, 81.5, 92.6, 87.9, 90.0, 85.5, 46.7, 89.6),
    "skip-thoughts": (80.3, 83.8, 94.2, 88.9, 93.0, 85.1, 45.8, None),
    "SDAE": (74.6, 78.0, 90.8, 86.9, 78.4, None, None, None),
    "CNN-LSTM": (77.8, 82.0, 93.6, 89.4, 92.6, None, None, None),
    "MC-QT": (82.4, 86.0, 94.8, 90.2, 92.4, 87.6, None, None),
    "byte mLSTM": (86.8, 90.6, 94.7, 88.8, 90.4, 91.7, 54.6, 92.2),
}


@dataclass(frozen=True)
class Row:
    """The accuracy of one system on one task, in percent; what is published has no more than that."""

    task: str
    system: str
    accuracy: float
    stderr: float | None = None
    margin: float | None = None  # over the same system with n = 1
    margin_stderr: float | None = None
    lead: float | None = None  # over the best bag of n-grams, which the test chooses: in its favour
    lead_stderr: float | None = None
    documents: int | None = None  # tested
    seconds: float | None = None  # features and classifier
    source: str = "ours"


@dataclass(frozen=True)
class DocumentTable(RowTable):
    """Table 4: ours, then what is published; a row an accuracy."""

    kind = Row
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def value(self, task: str, system: str, source: str = "ours") -> float:
        """One accuracy."""
        return next(row.accuracy for row in self.rows if (row.task, row.system, row.source) == (task, system, source))

    def pivot(self) -> tuple[list[str], list[list[str]]]:
        """(header, lines): a line a system, a column a task."""
        tasks = list(dict.fromkeys(row.task for row in self.rows if row.source == "ours"))
        lines: dict[tuple[str, str], dict[str, str]] = {}
        for row in self.rows:
            error = "" if row.stderr is None else f" ±{row.stderr:.1f}"
            lines.setdefault((row.system, row.source), {})[row.task] = f"{row.accuracy:.1f}{error}"
        return ["system", "source", *tasks], [
            [*key, *(cells.get(task, "–") for task in tasks)] for key, cells in lines.items()
        ]

    def margins(self) -> tuple[list[str], list[list[str]]]:
        """(header, lines) of what n-grams add to words alone, with standard errors."""
        return self._differences("over n = 1", "margin")

    def leads(self) -> tuple[list[str], list[list[str]]]:
        """(header, lines) of à la carte against the best of the bags of n-grams, with standard errors."""
        return self._differences("over the best bag of n-grams", "lead")

    def _differences(self, what: str, field: str) -> tuple[list[str], list[list[str]]]:
        with_difference = [row for row in self.rows if getattr(row, field) is not None]
        tasks = list(dict.fromkeys(row.task for row in with_difference))
        lines: dict[str, dict[str, str]] = {}
        for row in with_difference:
            cell = f"{getattr(row, field):+.1f} ±{getattr(row, field + '_stderr'):.1f}"
            lines.setdefault(row.system, {})[row.task] = cell
        return [what, *tasks], [[name, *(cells.get(task, "") for task in tasks)] for name, cells in lines.items()]


@dataclass(frozen=True)
class Outcome:
    """Which documents of each tested part a system got right."""

    right: list[npt.NDArray[np.bool_]]
    chosen: list[Any]  # C of each part, or what else was chosen
    seconds: float

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """What standard errors are over: accuracies of folds, or single documents of one split."""
        if len(self.right) == 1:
            return np.asarray(self.right[0] * 100.0)
        return np.array([100 * float(part.mean()) for part in self.right])


# ------------------------------------------------------------------------------------------------ classifying


def evaluate_features(
    features_from: Callable[[Rows], Features], task: Task, *, bayes: bool = False, seed: int = 0
) -> Outcome:
    """Train and test the shared classifier by the task's split, or by ten folds.

    `features_from` gives the features of all documents, as far as they are learned, from the rows that train.
    """
    y = np.array(task.labels)

    def learn(rows: Rows, settings: Sequence[Any]) -> Iterator[Predict]:
        x = features_from(rows)
        for classifier in train(x[rows], y[rows], settings, bayes=bayes):
            yield partial(_predict, classifier, x)

    return evaluate_learner(learn, CS, task, seed=seed)


def evaluate_learner(learn: Learn, settings: Sequence[Any], task: Task, *, seed: int = 0) -> Outcome:
    """Train and test whatever learns from rows of the task with one of some settings, which training data choose."""
    begun = time.perf_counter()
    y = np.array(task.labels)
    right, chosen = [], []
    if task.train is None:
        folds = stratified(y, FOLDS, seed)
        for place, fold in enumerate(folds):
            following = folds[(place + 1) % FOLDS]
            rest = np.concatenate([f for f in folds if f is not fold and f is not following])
            best = choose(learn, settings, y, [(rest, following)])
            right.append(_right(learn, best, y, np.concatenate([rest, following]), fold))
            chosen.append(best)
    else:
        known, test = np.arange(task.train), np.arange(task.train, len(y))
        folds = stratified(y[known], INNER, seed)
        pairs = [(np.concatenate([f for f in folds if f is not fold]), fold) for fold in folds]
        chosen.append(choose(learn, settings, y, pairs))
        right.append(_right(learn, chosen[0], y, known, test))
    return Outcome(right, chosen, time.perf_counter() - begun)


def stratified(y: npt.NDArray[Any], folds: int, seed: int) -> list[npt.NDArray[np.intp]]:
    """Folds with the classes in equal parts, dealt out at random.

    >>> [fold.tolist() for fold in stratified(np.array(["a", "b", "a", "b"]), 2, seed=0)]
    [[0, 1], [2, 3]]
    """
    rng = np.random.default_rng(seed)
    shuffled = [rng.permutation(np.flatnonzero(y == name)) for name in np.unique(y)]
    dealt = np.concatenate(shuffled)
    return [np.sort(dealt[start::folds]) for start in range(folds)]


def _predict(classifier: Classifier, x: Features, rows: Rows) -> npt.NDArray[Any]:
    return classifier.predict(x[rows])


def choose(learn: Learn, settings: Sequence[Any], y: npt.NDArray[Any], pairs: Sequence[tuple[Rows, Rows]]) -> Any:
    """The setting of the best mean accuracy; of several such, the first (the smallest C)."""
    accuracies = [
        [float(np.mean(predict(test) == y[test])) for predict in learn(rows, settings)] for rows, test in pairs
    ]
    return settings[int(np.argmax(np.mean(accuracies, axis=0)))]


def _right(learn: Learn, setting: Any, y: npt.NDArray[Any], rows: Rows, test: Rows) -> npt.NDArray[np.bool_]:
    predict = next(iter(learn(rows, [setting])))
    return np.asarray(predict(test) == y[test])


# ------------------------------------------------------------------------------------------------- the table


@dataclass(frozen=True)
class Inductive:
    """How n-gram vectors are learned from training texts, as in `NgramEmbedder`; `corpus` is more text."""

    min_count: int = 1
    corpus: Corpus | None = None
    shrinkage: float = 5.0

    @property
    def settings(self) -> dict[str, Any]:
        corpus = None if self.corpus is None else self.corpus.identity
        return {"min_count": self.min_count, "corpus": corpus, "shrinkage": self.shrinkage}


def induce_ngrams(
    model: ALaCarte,
    tasks: Sequence[Task],
    corpus: Corpus,
    store: Store,
    n: int = 3,
    threads: int | None = None,
    *,
    min_count: int = 1,
) -> WordVectors:
    """Vectors for the n-grams of the tasks, from a corpus; kept in the store, and resumed where it was cut off.

    N-grams that occur in the corpus less often than `min_count` times are left out. They are kept in the store all the
    same, so that another threshold needs no other pass.
    """
    wanted = Targets()
    for task in tasks:
        wanted = wanted | discover(
            model.vectors.words,
            list(task.texts),
            ngrams=range(1, n + 1),
            all_tokens=True,
            min_score=None,
            min_count=OFTEN if len(task.texts) > MANY else 1,
            tokenizer=model.tokenizer,
            known=True,
            show_progress=store.show_progress,
        )
    identity = corpus.identity
    key = {
        "vectors": model.vectors.fingerprint,
        "transform": digest(model.transform.matrix.tolist()),
        "corpus": identity,
        "targets": wanted.digest(),
    }
    path = store.path("ngrams", key, ".safetensors")
    if identity is not None and path.is_file():
        return load_ngrams(path, min_count)
    path.parent.mkdir(parents=True, exist_ok=True)
    checkpoint = None if identity is None else path.with_suffix(".checkpoint")
    induced = model.induce(corpus, wanted, checkpoint=checkpoint, threads=threads, show_progress=store.show_progress)
    if checkpoint is not None:
        induced.save(path)
        checkpoint.unlink(missing_ok=True)
        return load_ngrams(path, min_count)
    return _frequent(induced, induced.counts, min_count)


def load_ngrams(path: str | Path, min_count: int = 1) -> WordVectors:
    """N-gram vectors from a file, without those whose count, which `alc induce` keeps beside them, is too small."""
    vectors = WordVectors.load(path)
    if min_count <= 1:
        return vectors
    if vectors.counts is None:
        raise BadData(f"{path} does not say how often its n-grams occur; make it with `alc induce --out x.safetensors`")
    return _frequent(vectors, vectors.counts, min_count)


def _frequent(ngrams: WordVectors, counts: npt.NDArray[Any], min_count: int) -> WordVectors:
    if min_count <= 1:
        return ngrams
    rows = np.flatnonzero(counts >= min_count)
    if not len(rows):
        raise NotEnoughData(f"no n-gram occurs {min_count:,} times in the corpus; give more text or a smaller number")
    return WordVectors([ngrams.words[row] for row in rows.tolist()], ngrams.matrix[rows])


def evaluate(
    tasks: Sequence[Task],
    systems: Sequence[str],
    model: ALaCarte,
    ngrams: WordVectors | None,
    store: Store,
    *,
    seed: int = 0,
    threads: int | None = None,
    encoded: str | Path | None = None,
    inductive: Inductive | None = None,
) -> DocumentTable:
    """Every system on every task; results are kept one by one, so that a run that was cut off goes on.

    With `inductive`, n-gram vectors are learned from training texts alone, instead of those in `ngrams`.
    """
    outcomes: dict[tuple[str, str], Outcome] = {}
    tried = {task.name: _record(task, systems, model, ngrams, store, inductive) for task in tasks}
    with progress(len(tasks) * len(systems), "runs", "classifying", store.show_progress) as bar:
        for task in tasks:
            vectors = None if encoded is None else read_encoded(encoded, task.name, len(task.texts))
            given = Ingredients(task.texts, model, ngrams, threads, seed, vectors)
            if inductive is not None:
                least = max(inductive.min_count, OFTEN if len(task.texts) > MANY else 1)
                given = replace(given, corpus=inductive.corpus, min_count=least, shrinkage=inductive.shrinkage)
            for system in systems:
                outcomes[task.name, system] = _kept_or_run(task, system, given, store, inductive)
                bar.update(1)
    rows = [_row(task, system, outcomes) for system in systems for task in tasks]
    published = [  # with features that have seen the test's texts
        Row(task.name, name, value, source=PAPER)
        for name, values in PUBLISHED.items()
        for task in ([] if inductive else tasks)
        if task.name in PUBLISHED_TASKS and (value := values[PUBLISHED_TASKS.index(task.name)]) is not None
    ]
    return DocumentTable(tuple(rows + published), _notes(tasks, tried, inductive is not None))


def _record(
    task: Task,
    systems: Sequence[str],
    model: ALaCarte,
    ngrams: WordVectors | None,
    store: Store,
    inductive: Inductive | None,
) -> int | None:
    """How many different vectors à la carte has been tested with, these included; None where it is not tested now."""
    if not any(parse(system)[0] == "alacarte" for system in systems):
        return None
    settings: dict[str, Any] = {
        "vectors": model.vectors.fingerprint,
        "tokenizer": model.tokenizer.name,
        "ngrams": None if ngrams is None else ngrams.fingerprint,
    }
    if inductive is not None:
        settings["inductive"] = {"transform": digest(model.transform.matrix.tolist()), **inductive.settings}
    return record(store, "documents", [task.name, digest([task.texts, task.train])], digest(settings), settings)


PUBLISHED_TASKS = ("MR", "CR", "SUBJ", "MPQA", "TREC", "SST", "SST-fine", "IMDB")


def _kept_or_run(task: Task, system: str, given: Ingredients, store: Store, inductive: Inductive | None) -> Outcome:
    kind, _ = parse(system)
    key: dict[str, Any] = {
        "task": digest([task.texts, task.labels, task.train]),
        "system": system,
        "seed": given.seed,
        "vectors": digest(list(given.words.words)) if kind in WORDS_ONLY else given.words.fingerprint,
        "tokenizer": given.tokenizer.name,
        "ngrams": given.ngrams.fingerprint if kind == "alacarte" and given.ngrams is not None else None,
    }
    if kind == "minilm" and given.encoded is not None:
        key["encoded"] = digest(given.encoded[::100].tolist())
    if inductive is not None and kind == "alacarte":
        key["inductive"] = {"transform": digest(given.model.transform.matrix.tolist()), **inductive.settings}
    kept = store.read("documents", key)
    if kept is None:
        begun = time.perf_counter()
        outcome = _run(task, system, given, inductive is not None)
        seconds = time.perf_counter() - begun
        kept = {
            "right": ["".join("01"[int(r)] for r in part) for part in outcome.right],
            "chosen": outcome.chosen,
            "seconds": seconds,
        }
        store.write("documents", key, kept)
    right = [np.frombuffer(part.encode(), dtype=np.uint8) == ord("1") for part in kept["right"]]
    return Outcome(right, kept["chosen"], kept["seconds"])


def _run(task: Task, system: str, given: Ingredients, inductive: bool) -> Outcome:
    kind, n = parse(system)
    if kind == "fasttext":
        return evaluate_learner(FastText(given, task.labels, n), SETTINGS, task, seed=given.seed)
    if inductive or kind == "tfidf":
        return evaluate_features(
            learned_features(system, given, task.train), task, bayes=kind == "nb-bong", seed=given.seed
        )
    x = features(system, given)
    return evaluate_features(lambda rows: x, task, bayes=kind == "nb-bong", seed=given.seed)


def _row(task: Task, system: str, outcomes: dict[tuple[str, str], Outcome]) -> Row:
    outcome = outcomes[task.name, system]
    scores = outcome.scores
    if scores.size < 2:
        raise BadData("there is only one document to test on; a standard error needs two")
    kind, n = parse(system)
    alone = outcomes.get((task.name, f"{kind}-1")) if n > 1 else None
    margin = margin_stderr = None
    if alone is not None:
        margin, margin_stderr = mean_and_error(scores - alone.scores)
    lead = lead_stderr = None
    bags = [other for (name, rival), other in outcomes.items() if name == task.name and parse(rival)[0] in BAGS]
    if kind == "alacarte" and bags:
        best = max(bags, key=lambda other: float(other.scores.mean()))
        lead, lead_stderr = mean_and_error(scores - best.scores)
    mean, error = mean_and_error(scores)
    tested = sum(part.size for part in outcome.right)
    seconds = round(outcome.seconds, 1)
    return Row(task.name, title(system), mean, error, margin, margin_stderr, lead, lead_stderr, tested, seconds)


def _notes(tasks: Sequence[Task], tried: dict[str, int | None], inductive: bool) -> tuple[str, ...]:
    folds = [task.name for task in tasks if task.train is None]
    splits = [task.name for task in tasks if task.train is not None]
    lines = []
    if folds:
        lines.append(f"{', '.join(folds)}: mean accuracy and its standard error over {FOLDS} folds.")
    if splits:
        lines.append(f"{', '.join(splits)}: accuracy on the given test split, standard error over its documents.")
    if seen := ", ".join(f"{name} {number}" for name, number in tried.items() if number is not None):
        lines.append(f"Vectors that à la carte has been evaluated with here, these included: {seen}.")
    if inductive:
        return (*lines, "Features are learned from training texts alone, without a look at those that are tested.")
    return (
        *lines,
        "Features have seen the texts that are tested, without labels.",
        "Rows with another source than ours are published, with larger vectors: GloVe of Amazon reviews.",
    )
