"""A vector for a word from its spelling alone, learned from the vectors and no text.

Character n-grams of the word between border marks are the features; ridge regression predicts the vectors from them,
centred and at length 1. The penalty is chosen on words held out, which also show how far to trust a spelling: it says
little about names and numbers, much about inflections and compounds. See docs/form.md.

>>> from alacarte import WordVectors
>>> words = ["walk", "walks", "walked", "talk", "talks", "talked", "jump", "jumps"]
>>> vectors = WordVectors(words, [[3, 0], [3, 1], [3, 2], [2, 0], [2, 1], [2, 2], [0, 0], [0, 1]])
>>> form = FormModel.fit(vectors, min_words=2)
>>> form.vector("jumped").known, form.vector("jumped").kind
(7, 'letters')
"""

import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import count
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Codes, Doubles, Ints, Longs, Mask, Singles
from alacarte._io.artifact import Artifact, read_artifact, write_artifact
from alacarte._io.checks import real_number, whole_number, word_set
from alacarte._io.draw import evenly_over_octaves
from alacarte._io.files import cache_folder
from alacarte._io.progress import phase, progress
from alacarte._io.table import Columns, Table, columns_of
from alacarte.errors import AlacarteError, AlacarteWarning, BadTransform, NotEnoughData
from alacarte.passes.work import usable_cores
from alacarte.spelling._features import WORD_KINDS, Writing, find_codes, frequent_codes, ngram_codes_of
from alacarte.spelling._solver import WIDTH, SpelledWords, predict, solve_ridge, steps_of
from alacarte.vectors.geometry import cosines
from alacarte.vectors.word_vectors import VectorsLike, WordVectors

KIND, VERSION = "form model", 2
PENALTIES = (0.3, 1.0, 3.0)
# A word of rank r counts (r + RANK_OFFSET)^-power: the vectors of rare words are noisy; see docs/form.md.
POWERS = (0.0, 0.5)
HELD_OUT = 5000  # words, at most
LEAST_HELD_OUT = 50
RANK_OFFSET = 1000  # the first words are drawn from as one doubling, not to lose all of them, and count alike
LEAST_OF_KIND = 30  # held-out words that can tell about a kind
USELESS_COSINE = 0.05  # a mean cosine that is none
CACHED = 4  # form models that are kept for the user: of one or two sets of vectors each in use, 40 to 240 MB each
SOLVER_STEPS, FURTHER_STEPS = 8, 4  # of conjugate gradients, from nothing and from a solution with a few words fewer


@dataclass(frozen=True)
class FormSettings:
    """How a form model is learned.

    N-grams have `shortest` to `longest` characters, border marks included, and occur in `min_words` words at least.
    `ridge=None` and `rank_power=None` are chosen on held-out words: `held_out` says how many (at most a twentieth of
    all), taken evenly from each doubling of the rank, or names them. Words of `exclude` take no part.
    """

    shortest: int = 3
    longest: int = 6
    min_words: int = 3
    ridge: float | None = None
    rank_power: float | None = None
    exclude: Iterable[str] = ()
    held_out: int | Iterable[str] = HELD_OUT
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "exclude", word_set(self.exclude, "exclude"))
        if not isinstance(self.held_out, int):
            object.__setattr__(self, "held_out", word_set(self.held_out, "held_out"))
        if not 1 <= self.shortest <= self.longest:
            raise AlacarteError(
                f"n-grams have 1 character or more, from the shortest on: not {self.shortest} to {self.longest}"
            )
        whole_number(self.min_words, "min_words", 1)
        if self.ridge is not None and not real_number(self.ridge, "ridge") > 0:
            raise AlacarteError(f"the ridge of a form model is a number above 0, not {self.ridge}")
        if self.rank_power is not None and not real_number(self.rank_power, "rank_power") >= 0:
            raise AlacarteError(f"the rank_power of a form model is 0 or a number above it, not {self.rank_power}")


@dataclass(frozen=True)
class Quality:
    """How good predictions are for words held out, of one kind."""

    kind: str
    words: int
    cosine: float  # mean, of centred vectors
    explained: float  # share of the squared length


@dataclass(frozen=True, eq=False)
class FormVector:
    """A vector from a spelling, and how far to trust it."""

    word: str
    vector: Singles
    kind: str
    ngrams: int
    known: int
    expected: float | None  # cosine with the true vector, by words held out; None: not measured


@dataclass(frozen=True, eq=False)
class FormModel(Table):
    """Vectors from spelling: weights of character n-grams, learned from word vectors.

    `fit` learns one, `vector` returns the vector of a word, `rows` those of many. As a table, it is its quality on
    words held out, one row per kind of word.
    """

    codes: Codes  # of the n-grams, sorted
    weights: npt.NDArray[np.float16]  # (n-grams, dimensions)
    center: Singles  # mean of the vectors
    scale: float  # mean length of the centred vectors
    shortest: int
    longest: int
    min_words: int
    ridge: float
    rank_power: float  # a word of rank r counted (r + 1000)^-rank_power in learning
    writing: Writing
    words: int  # learned from
    fingerprint: str  # of the vectors
    quality: tuple[Quality, ...] = ()
    lengths: tuple[float, ...] = ()  # of predictions for held-out words, and the mean cosine at each
    cosines: tuple[float, ...] = ()

    @property
    def dimension(self) -> int:
        """How many dimensions the vectors have."""
        return int(self.weights.shape[1])

    def __repr__(self) -> str:
        return f"FormModel({len(self.codes):,} n-grams of {self.words:,} words, {self.dimension} dimensions)"

    __str__ = __repr__

    # ------------------------------------------------------------------------------------------------ learn

    @classmethod
    def fit(
        cls,
        vectors: VectorsLike,
        *,
        min_words: int = 3,
        ridge: float | None = None,
        rank_power: float | None = None,
        exclude: Iterable[str] = (),
        threads: int | None = None,
        show_progress: bool | None = None,
    ) -> "FormModel":
        """Learn a form model from word vectors.

        Parameters
        ----------
        vectors
            Word vectors, the most frequent words first, as they are in all common files.
        min_words
            How many words an n-gram occurs in, at least.
        ridge
            The penalty; by default the best of three on words held out.
        rank_power
            How much less the vectors of rare words count, a power of their rank; by default 0 or ½, the better one on
            words held out.
        exclude
            Words that take no part.
        threads, show_progress
            How the work is done.

        Returns
        -------
        FormModel
            Learned from all vectors; its `quality` was measured on words held out before.
        """
        settings = FormSettings(min_words=min_words, ridge=ridge, rank_power=rank_power, exclude=exclude)
        return learn_with_guesses(vectors, settings, threads, show_progress)[0]

    @classmethod
    def cached(cls, vectors: VectorsLike, show_progress: bool | None = None) -> "FormModel":
        """Return what `fit` gives, which is kept in the user's cache: one file for each set of vectors, four in all.

        Learning takes about ten seconds for vectors of 50 dimensions.
        """
        source = WordVectors.of(vectors)
        path = _cached_path(source)
        if path.is_file():
            with suppress(BadTransform, OSError):  # a damaged copy is made again
                path.touch()  # the least recently used ones are removed
                return cls.load(path)
        model = cls.fit(source, show_progress=show_progress)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            model.save(path)
            kept = sorted(path.parent.glob("form-*.safetensors"), key=lambda file: file.stat().st_mtime)
            for old in kept[:-CACHED]:
                old.unlink()
        except OSError as error:
            warnings.warn(f"the form model is not kept: {error}", AlacarteWarning, stacklevel=2)
        return model

    @staticmethod
    def is_cached(vectors: VectorsLike) -> bool:
        """Whether `cached` has a model of these vectors already, and learns none."""
        return _cached_path(WordVectors.of(vectors)).is_file()

    # -------------------------------------------------------------------------------------------------- use

    def rows(self, words: Sequence[str]) -> tuple[Singles, Mask]:
        """Return a vector for each word, and whether it has one.

        Vectors are deviations from the mean of all vectors, and the shorter, the less is known of a word. Words have
        none if no n-gram of theirs is known, or if spelling says nothing about words of their kind.
        """
        codes, spans = ngram_codes_of(words, self.shortest, self.longest, self.writing.cased)
        features, bounds = find_codes(self.codes, codes, spans)
        vectors = predict(features, bounds, self.weights) * np.float32(self.scale)
        hopeless = {item.kind for item in self.quality if item.words >= LEAST_OF_KIND and item.cosine < USELESS_COSINE}
        usable = np.diff(bounds) > 0
        if hopeless:
            usable &= np.array([self.writing.kind(word) not in hopeless for word in words], dtype=bool)
        vectors[~usable] = 0
        return vectors, usable

    def vector(self, word: str) -> FormVector:
        """Return the vector of one word, with what is known of its quality; raise `NotEnoughData` if it has none."""
        codes, spans = ngram_codes_of([word], self.shortest, self.longest, self.writing.cased)
        known = int(np.isin(codes, self.codes).sum())
        kind = self.writing.kind(word)
        vectors, usable = self.rows([word])
        if not usable[0]:
            reason = "none of its n-grams is known" if not known else f"words of the kind {kind!r} do not follow it"
            raise NotEnoughData(f"the spelling of {word!r} says nothing: {reason}; give a context that mentions it")
        # As if unknown n-grams had been counted with: one that is known out of many proves little.
        length = float(np.linalg.norm(vectors[0])) / self.scale * np.sqrt(known / spans[-1])
        expected = float(np.interp(length, self.lengths, self.cosines)) if self.lengths else None
        return FormVector(word, vectors[0], kind, int(spans[-1]), known, expected)

    def columns(self) -> Columns:
        """Return the quality by kind of word."""
        return columns_of(self.quality, Quality)

    # ------------------------------------------------------------------------------------------------ files

    def save(self, path: str | PathLike[str]) -> None:
        """Save the model as one file, completely or not at all."""
        description = {
            "scale": self.scale,
            "shortest": self.shortest,
            "longest": self.longest,
            "min_words": self.min_words,
            "ridge": self.ridge,
            "rank_power": self.rank_power,
            "words": self.words,
            "writing": asdict(self.writing),
            "quality": [asdict(item) for item in self.quality],
            "lengths": self.lengths,
            "cosines": self.cosines,
        }
        tensors: dict[str, npt.NDArray[Any]] = {"codes": self.codes, "weights": self.weights, "center": self.center}
        write_artifact(path, KIND, tensors, {"fingerprint": self.fingerprint, "form": description}, VERSION)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "FormModel":
        """Load what `save` wrote; the weights are memory-mapped, so that only n-grams that are needed are read."""
        return read_artifact(path, KIND, BadTransform, VERSION).decode(cls.from_artifact)

    @classmethod
    def from_artifact(cls, artifact: Artifact) -> "FormModel":
        """Return the form model in an artifact of ours."""
        content = dict(artifact.value("form", dict))
        writing = artifact.build(Writing, content.pop("writing", {}), "form")
        quality = tuple(artifact.build(Quality, item, "form") for item in content.pop("quality", ()))
        arrays = {name: artifact.tensor(name) for name in ("codes", "weights", "center")}
        listed = {name: tuple(content.pop(name, ())) for name in ("lengths", "cosines")}
        values = {**arrays, **listed, **content, "writing": writing, "quality": quality}
        return artifact.build(cls, {**values, "fingerprint": artifact.value("fingerprint", str)}, "form")


def learn_with_guesses(
    vectors: VectorsLike,
    settings: FormSettings | None = None,
    threads: int | None = None,
    show_progress: bool | None = None,
) -> tuple[FormModel, dict[str, Singles]]:
    """Return a form model, and the vectors it gave to named held-out words before it learned from them too."""
    settings = settings or FormSettings()
    source = WordVectors.of(vectors)
    # Neighbours in alphabetical order share n-grams, whose weights then are in the processor's cache.
    listed = sorted((word, row) for row, word in enumerate(source.words) if word not in settings.exclude)
    words, rows = [word for word, _ in listed], np.array([row for _, row in listed], dtype=np.int64)
    with phase("counting letter n-grams", show_progress):
        writing = Writing.of(words)
        codes, spans = ngram_codes_of(words, settings.shortest, settings.longest, writing.cased)
        known = frequent_codes(codes, settings.min_words)
    if not len(known):
        raise NotEnoughData(
            f"no n-gram occurs in {settings.min_words} of the {len(words):,} words; learn from more words, or pass a "
            "smaller min_words"
        )
    with phase("preparing the words", show_progress):
        features, bounds = find_codes(known, codes, spans)
        del codes
        order, features = _by_first_use(features, len(known))
        spelled = SpelledWords(features, bounds, len(known))
        center = source.matrix[rows].mean(axis=0, dtype=np.float64)
        targets, scale = _centred_units(source.matrix, rows, center)
    rng = np.random.default_rng(settings.seed)
    held = _held_out_rows(words, rows, settings.held_out, rng)
    trial = _Trial(1.0 if settings.ridge is None else settings.ridge, settings.rank_power or 0.0)
    enough = len(held) >= LEAST_HELD_OUT
    with progress(_steps(settings, enough, source.dimension), "steps", "learning spelling", show_progress) as bar:
        done = count(1)
        cores = threads or usable_cores()
        solver = partial(solve_ridge, threads=cores, step_done=lambda: bar.update_to(next(done)))
        if enough:
            trial = _try_out(spelled, rows, targets, held, settings, solver, cores, rng)
        weights = solver(
            _weighted(spelled, rows, trial.rank_power),
            targets,
            trial.ridge,
            start=trial.weights,
            iterations=SOLVER_STEPS if trial.weights is None else FURTHER_STEPS,
        )
    quality: tuple[Quality, ...] = ()
    curve: tuple[tuple[float, ...], tuple[float, ...]] = (), ()
    guesses: dict[str, Singles] = {}
    if trial.guesses is not None and trial.truth is not None:
        quality = _quality([writing.kind(words[i]) for i in held.tolist()], trial.guesses, trial.truth)
        full = np.float32(np.sqrt(targets.shape[1] / trial.truth.shape[1]))
        curve = _curve(trial.guesses * full, trial.truth)
    if trial.weights is not None and trial.guesses is not None:
        guesses = {words[i]: trial.guesses[j] * np.float32(scale) for j, i in enumerate(held.tolist())}
    model = FormModel(
        known,
        weights[order].astype(np.float16),
        center.astype(np.float32),
        scale,
        settings.shortest,
        settings.longest,
        settings.min_words,
        trial.ridge,
        trial.rank_power,
        writing,
        len(words),
        source.fingerprint,
        quality,
        *curve,
    )
    return model, guesses


@dataclass(frozen=True, eq=False)
class _Trial:
    """What held-out words say: how to learn, their predictions and the truth, in a few directions or in full.

    `weights` is the full solution without the held-out words, where these were named.
    """

    ridge: float
    rank_power: float
    guesses: Singles | None = None
    truth: Singles | None = None
    weights: Singles | None = None


def _by_first_use(features: Ints, size: int) -> tuple[Longs, Ints]:
    """Return a new number for each feature, in the order in which words use them, and the words' features under it.

    >>> numbers, features = _by_first_use(np.array([2, 0, 2, 1], np.int32), 3)
    >>> numbers.tolist(), features.tolist()
    ([1, 2, 0], [0, 1, 0, 2])
    """
    first = np.empty(size, dtype=np.int64)
    first[features[::-1]] = np.arange(len(features))[::-1]
    numbers = np.argsort(np.argsort(first))
    return numbers, numbers.astype(np.int32)[features]


def _held_out_rows(
    words: Sequence[str], ranks: Longs, held_out: int | Iterable[str], rng: np.random.Generator
) -> Longs:
    """Return the places of words to hold out: a number, evenly over the doublings of the rank, or those named."""
    if isinstance(held_out, int):
        by_rank = np.argsort(ranks)
        drawn = evenly_over_octaves(RANK_OFFSET + ranks[by_rank], min(held_out, len(words) // 20), rng)
        return np.sort(by_rank[drawn])
    wanted = set(held_out)
    return np.array([i for i, word in enumerate(words) if word in wanted], dtype=np.int64)


def _choices(settings: FormSettings) -> tuple[float, Sequence[float], Sequence[float]]:
    """Return a penalty, the powers of the rank that are tried with it, and the penalties tried with the best power."""
    powers = POWERS if settings.rank_power is None else (settings.rank_power,)
    return (1.0, powers, PENALTIES) if settings.ridge is None else (settings.ridge, powers, (settings.ridge,))


def _steps(settings: FormSettings, tried: bool, dimensions: int) -> int:
    """Return how many steps of the solver it takes to try out what to choose, if anything is, and to learn with it."""
    if not tried:
        return steps_of(dimensions, SOLVER_STEPS)
    ridge, powers, penalties = _choices(settings)
    trials = (len(powers) + len({*penalties} - {ridge})) * steps_of(min(dimensions, WIDTH), SOLVER_STEPS)
    last = SOLVER_STEPS if isinstance(settings.held_out, int) else SOLVER_STEPS + FURTHER_STEPS
    return trials + steps_of(dimensions, last)


def _try_out(
    spelled: SpelledWords,
    ranks: Longs,
    targets: Singles,
    held: Longs,
    settings: FormSettings,
    solver: Callable[..., Singles],
    cores: int,
    rng: np.random.Generator,
) -> _Trial:
    """Learn without the held-out words and predict these: first the power of the rank is chosen, then the penalty."""
    kept = np.setdiff1d(np.arange(len(targets)), held)
    unseen = spelled.some(held)

    def solved(goal: Singles, ridge: float, power: float) -> Singles:
        return solver(_weighted(spelled, ranks, power).some(kept), goal, ridge, rows=kept)

    few = _few_directions(targets, rng)
    tried: dict[tuple[float, float], Singles] = {}

    def reached(ridge: float, power: float) -> float:
        """Return the mean cosine with the truth."""
        if (ridge, power) not in tried:
            tried[ridge, power] = predict(unseen.features, unseen.bounds, solved(few, ridge, power))
        return float(cosines(tried[ridge, power], few[held]).mean())

    ridge, powers, penalties = _choices(settings)
    # Few directions are work for one thread, so what is to be compared is learned side by side.
    with ThreadPoolExecutor(min(cores, len(penalties) + len(powers))) as pool:
        power = powers[int(np.argmax(list(pool.map(partial(reached, ridge), powers))))]
        best = penalties[int(np.argmax(list(pool.map(partial(reached, power=power), penalties))))]
    if isinstance(settings.held_out, int):
        return _Trial(best, power, tried[best, power], few[held])
    weights = solved(targets, best, power)  # the caller wants the predictions in full
    return _Trial(best, power, predict(unseen.features, unseen.bounds, weights), targets[held], weights)


def _weighted(spelled: SpelledWords, ranks: Longs, power: float) -> SpelledWords:
    """Return the words with weights by their rank, 1 on average; the first RANK_OFFSET count nearly alike."""
    if not power:
        return spelled
    weights = (RANK_OFFSET + ranks).astype(np.float64) ** -power
    return replace(spelled, weights=(weights / weights.mean()).astype(np.float32))


def _centred_units(matrix: Singles, rows: Longs, center: Doubles) -> tuple[Singles, float]:
    """Return the vectors of some rows less the mean, at length 1, and their mean length before."""
    units = np.empty((len(rows), matrix.shape[1]), dtype=np.float32)
    total = 0.0
    for low in range(0, len(rows), 1 << 14):
        part = matrix[rows[low : low + (1 << 14)]] - center
        lengths = np.linalg.norm(part, axis=1, keepdims=True)
        units[low : low + len(part)] = part / np.where(lengths > 0, lengths, 1.0)
        total += float(lengths.sum())
    return units, total / len(rows)


def _few_directions(targets: Singles, rng: np.random.Generator) -> Singles:
    """Return a few random directions of the targets: enough to choose a penalty by, and to tell how good it is."""
    if targets.shape[1] <= WIDTH:
        return targets
    directions = np.linalg.qr(rng.normal(size=(targets.shape[1], WIDTH)))[0]
    few: Singles = targets @ directions.astype(np.float32)
    return few


def _quality(kinds: list[str], guesses: Singles, truth: Singles) -> tuple[Quality, ...]:
    by_word = cosines(guesses, truth)
    errors, squares = ((guesses - truth) ** 2).sum(axis=1), (truth**2).sum(axis=1)
    named = np.array(kinds)
    result = []
    for kind in (*WORD_KINDS, "all"):
        chosen = np.flatnonzero((named == kind) | (kind == "all"))
        if len(chosen):
            explained = 1 - errors[chosen].sum() / max(float(squares[chosen].sum()), 1e-12)
            result.append(Quality(kind, len(chosen), float(by_word[chosen].mean()), float(explained)))
    return tuple(result)


def _curve(guesses: Singles, truth: Singles, bins: int = 10) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the mean cosine by the length of the prediction, which says how much the regression knew."""
    lengths, by_word = np.linalg.norm(guesses, axis=1), cosines(guesses, truth)
    parts = np.array_split(np.argsort(lengths, kind="stable"), bins)
    return (
        tuple(float(lengths[part].mean()) for part in parts),
        tuple(float(by_word[part].mean()) for part in parts),
    )


def _cached_path(vectors: WordVectors) -> Path:
    """Where the form model of some vectors is kept."""
    return cache_folder() / f"form-{VERSION}-{vectors.fingerprint}.safetensors"
