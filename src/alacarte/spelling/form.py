"""A vector for a word from its spelling alone, learned from the vectors and no text.

Character n-grams of the word between border marks are the features; ridge regression leads from them to the vectors,
centred and at length 1. The penalty is chosen on words held out, which also tell how far to trust a spelling: names and
numbers are hardly written in their letters, inflections and compounds are. See docs/form.md.

>>> from alacarte import WordVectors
>>> words = ["walk", "walks", "walked", "talk", "talks", "talked", "jump", "jumps"]
>>> vectors = WordVectors(words, [[3, 0], [3, 1], [3, 2], [2, 0], [2, 1], [2, 2], [0, 0], [0, 1]])
>>> form = FormModel.learn(vectors, min_words=2)
>>> form.vector("jumped").known, form.vector("jumped").kind
(7, 'letters')
"""

import hashlib
import json
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from alacarte._io.artifact import Artifact, read_artifact, write_artifact
from alacarte._io.draw import evenly_over_octaves
from alacarte._io.files import cache_folder
from alacarte._io.progress import phase
from alacarte._io.table import Columns, Table, columns_of
from alacarte.errors import AlacarteError, AlacarteWarning, BadTransform, NotEnoughData, require
from alacarte.passes.work import usable_cores
from alacarte.spelling._features import KINDS, Writing, codes_of, find_codes, frequent_codes
from alacarte.spelling._solver import WIDTH, SpelledWords, predict, solve_ridge
from alacarte.vectors.geometry import cosines
from alacarte.vectors.word_vectors import VectorsLike, WordVectors

Singles = npt.NDArray[np.float32]
Halves = npt.NDArray[np.float16]
Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]

KIND, VERSION = "form model", 2
PENALTIES = (0.3, 1.0, 3.0)
POWERS = (0.0, 0.5)  # a word of rank r counts (r + FEW)^-power: the vectors of rare words are noisy; see docs/form.md
HELD_OUT = 5000  # words, at most
LEAST_HELD_OUT = 50
FEW = 1000  # the first words are drawn from as one doubling, not to lose all of them, and count alike
LEAST_OF_KIND = 30  # held-out words that can tell about a kind
NOTHING = 0.05  # a mean cosine that is none
STEPS, FURTHER_STEPS = 8, 4  # of conjugate gradients, from nothing and from a solution with a few words fewer


class FormOptions(TypedDict, total=False):
    """The keywords that say how a form model is learned; see `FormModel.learn`."""

    shortest: int
    longest: int
    min_words: int
    ridge: float | None
    rank_power: float | None
    exclude: Iterable[str]
    held_out: int | Iterable[str]
    seed: int
    threads: int | None
    show_progress: bool | None


@dataclass(frozen=True)
class Quality:
    """How near predictions come to the vectors of words held out."""

    kind: str
    words: int
    cosine: float  # mean, of centred vectors
    explained: float  # share of the squared length


@dataclass(frozen=True, eq=False)
class FormVector:
    """A vector from a spelling: what kind of word it is, how many of its n-grams are known, how good it may be."""

    word: str
    vector: Singles
    kind: str
    ngrams: int
    known: int
    expected: float | None  # cosine with the true vector (centred), as held-out words have it; None: not measured


@dataclass(frozen=True, eq=False)
class FormModel(Table):
    """Weights of character n-grams. `learn` makes one; `vector` gives a word's, `rows` those of many.

    As a table, it is its quality: a row a kind of word.
    """

    codes: npt.NDArray[np.uint64]  # of the n-grams, sorted
    weights: Halves  # (n-grams, dimensions)
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
        return int(self.weights.shape[1])

    def __repr__(self) -> str:
        return f"FormModel({len(self.codes):,} n-grams of {self.words:,} words, {self.dimension} dimensions)"

    __str__ = __repr__

    # ------------------------------------------------------------------------------------------------ learn

    @classmethod
    def learn(cls, vectors: VectorsLike, **options: Unpack[FormOptions]) -> "FormModel":
        """Learn from all vectors but those of `exclude`.

        N-grams have `shortest` (3) to `longest` (6) characters, border marks included, and stand in `min_words` (3)
        words at least. `rank_power=None` chooses on held-out words how much less the vectors of rare words count
        (vectors are taken to stand in order of frequency; 0: all alike), then `ridge=None` the penalty. Held-out words
        also measure the quality; they are learned from in the end. `held_out` says how many (at most a twentieth of
        all), taken evenly from each doubling of the rank, so that frequent words have a say; or it names them.
        """
        return learn_with_guesses(vectors, **options)[0]

    # -------------------------------------------------------------------------------------------------- use

    def rows(self, words: Sequence[str]) -> tuple[Singles, npt.NDArray[np.bool_]]:
        """(a vector for each word, whether it has one): no known n-gram, or a kind that spelling says nothing of.

        Vectors are deviations from the mean of all vectors, shrunk as ridge regression does: the less is known, the
        shorter.
        """
        codes, spans = codes_of(words, self.shortest, self.longest, self.writing.cased)
        features, bounds = find_codes(self.codes, codes, spans)
        vectors = predict(features, bounds, self.weights) * np.float32(self.scale)
        hopeless = {item.kind for item in self.quality if item.words >= LEAST_OF_KIND and item.cosine < NOTHING}
        usable = np.diff(bounds) > 0
        if hopeless:
            usable &= np.array([self.writing.kind(word) not in hopeless for word in words], dtype=bool)
        vectors[~usable] = 0
        return vectors, usable

    def vector(self, word: str) -> FormVector:
        """The vector of one word, with what is known of its quality; raises `NotEnoughData` where it has none."""
        codes, spans = codes_of([word], self.shortest, self.longest, self.writing.cased)
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
        """The quality by kind of word."""
        return columns_of(self.quality, Quality)

    @classmethod
    def cached(
        cls,
        vectors: VectorsLike,
        folder: str | PathLike[str] | None = None,
        **options: Unpack[FormOptions],
    ) -> "FormModel":
        """`learn`, kept in a folder (default: the user's cache) under the vectors' fingerprint and the options."""
        source = WordVectors.of(vectors)
        path = _cached_path(source, folder, options)
        if path.is_file():
            with suppress(BadTransform):  # a damaged copy is made again
                return cls.load(path)
        model = cls.learn(source, **options)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            model.save(path)
        except OSError as error:
            warnings.warn(f"the form model is not kept: {error}", AlacarteWarning, stacklevel=2)
        return model

    @staticmethod
    def is_cached(vectors: VectorsLike, folder: str | PathLike[str] | None = None) -> bool:
        """Whether `cached` has a model of these vectors already, and learns none."""
        return _cached_path(WordVectors.of(vectors), folder, {}).is_file()

    # ------------------------------------------------------------------------------------------------ files

    def save(self, path: str | PathLike[str]) -> None:
        """One file, written completely or not at all."""
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
        """What `save` wrote; the weights are memory-mapped, so only the n-grams that are asked for are read."""
        return read_artifact(path, KIND, BadTransform, VERSION).decode(cls.from_artifact)

    @classmethod
    def from_artifact(cls, artifact: Artifact) -> "FormModel":
        """The form model in an artifact of ours."""
        content = {"rank_power": 0.0, **artifact.value("form", dict)}  # version 1 counted all words alike
        writing = artifact.build(Writing, content.pop("writing", {}), "form")
        quality = tuple(artifact.build(Quality, item, "form") for item in content.pop("quality", ()))
        arrays = {name: artifact.tensor(name) for name in ("codes", "weights", "center")}
        listed = {name: tuple(content.pop(name, ())) for name in ("lengths", "cosines")}
        values = {**arrays, **listed, **content, "writing": writing, "quality": quality}
        return artifact.build(cls, {**values, "fingerprint": artifact.value("fingerprint", str)}, "form")


def describe(artifact: Artifact) -> dict[str, Any]:
    """What is in a file with a form model, for people."""
    form = FormModel.from_artifact(artifact)
    return {
        "ngrams": len(form.codes),
        "dimension": form.dimension,
        "learned_from_words": form.words,
        "ridge": form.ridge,
        "rank_power": form.rank_power,
        "fingerprint_of_vectors": form.fingerprint,
        "cosine_with_held_out_words": {item.kind: round(item.cosine, 3) for item in form.quality},
    }


def learn_with_guesses(vectors: VectorsLike, **options: Unpack[FormOptions]) -> tuple[FormModel, dict[str, Singles]]:
    """`FormModel.learn`, and the vectors it gave to named held-out words before it learned from them too."""
    settings = _Settings(**options)
    source = WordVectors.of(vectors)
    excluded = set(settings.exclude)
    rows = np.array([row for row, word in enumerate(source.words) if word not in excluded], dtype=np.int64)
    words = [source.words[row] for row in rows.tolist()]
    with phase("counting letter n-grams", settings.show_progress):
        writing = Writing.of(words)
        codes, spans = codes_of(words, settings.shortest, settings.longest, writing.cased)
        known = frequent_codes(codes, settings.min_words)
    if not len(known):
        raise NotEnoughData(
            f"no n-gram stands in {settings.min_words} of the {len(words):,} words; learn from more words, or pass a "
            "smaller min_words"
        )
    with phase("preparing the words", settings.show_progress):
        spelled = SpelledWords(*find_codes(known, codes, spans), len(known))
        del codes
        center = source.matrix[rows].mean(axis=0, dtype=np.float64)
        targets, scale = _centred_units(source.matrix, rows, center)
    rng = np.random.default_rng(settings.seed)
    held = _held_out_rows(words, settings.held_out, rng)
    trial = _Trial(1.0 if settings.ridge is None else settings.ridge, settings.rank_power or 0.0)
    if len(held) >= LEAST_HELD_OUT:
        trial = _try_out(spelled, targets, held, settings, rng)
    weights = solve_ridge(
        _weighted(spelled, trial.rank_power),
        targets,
        trial.ridge,
        start=trial.weights,
        iterations=STEPS if trial.weights is None else FURTHER_STEPS,
        threads=settings.cores,
        show_progress=settings.show_progress,
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
        weights.astype(np.float16),
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


@dataclass(frozen=True)
class _Settings:
    """`FormOptions` with what they are if left out."""

    shortest: int = 3
    longest: int = 6
    min_words: int = 3
    ridge: float | None = None
    rank_power: float | None = None
    exclude: Iterable[str] = ()
    held_out: int | Iterable[str] = HELD_OUT
    seed: int = 0
    threads: int | None = None
    show_progress: bool | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.shortest <= self.longest:
            raise AlacarteError(
                f"n-grams have 1 character or more, from the shortest on: not {self.shortest} to {self.longest}"
            )
        if self.ridge is not None and not self.ridge > 0:
            raise AlacarteError(f"the ridge of a form model is a number above 0, not {self.ridge}")
        if self.rank_power is not None and not self.rank_power >= 0:
            raise AlacarteError(f"the rank_power of a form model is 0 or a number above it, not {self.rank_power}")

    @property
    def cores(self) -> int:
        return self.threads or usable_cores()


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


def _held_out_rows(words: Sequence[str], held_out: int | Iterable[str], rng: np.random.Generator) -> Longs:
    """Which words are held out: so many, evenly over the doublings of the rank, or those named."""
    if isinstance(held_out, int):
        return evenly_over_octaves(np.arange(FEW, FEW + len(words)), min(held_out, len(words) // 20), rng)
    wanted = set(held_out)
    return np.array([i for i, word in enumerate(words) if word in wanted], dtype=np.int64)


def _try_out(
    spelled: SpelledWords, targets: Singles, held: Longs, settings: _Settings, rng: np.random.Generator
) -> _Trial:
    """Learn without the held-out words and predict these: first the power of the rank is chosen, then the penalty."""
    kept = np.setdiff1d(np.arange(len(targets)), held)
    unseen = spelled.some(held)

    def solved(goal: Singles, ridge: float, power: float) -> Singles:
        return solve_ridge(
            _weighted(spelled, power).some(kept),
            goal,
            ridge,
            rows=kept,
            threads=settings.cores,
            show_progress=settings.show_progress,
        )

    few = _mixed(targets, rng)
    tried: dict[tuple[float, float], Singles] = {}

    def reached(ridge: float, power: float) -> float:
        """The mean cosine with the truth."""
        if (ridge, power) not in tried:
            tried[ridge, power] = predict(unseen.features, unseen.bounds, solved(few, ridge, power))
        return float(cosines(tried[ridge, power], few[held]).mean())

    ridge = 1.0 if settings.ridge is None else settings.ridge
    powers = POWERS if settings.rank_power is None else (settings.rank_power,)
    power = max(powers, key=lambda power: reached(ridge, power))
    penalties = PENALTIES if settings.ridge is None else (ridge,)
    best = max(penalties, key=lambda penalty: reached(penalty, power))
    if isinstance(settings.held_out, int):
        return _Trial(best, power, tried[best, power], few[held])
    weights = solved(targets, best, power)  # the caller wants the predictions in full
    return _Trial(best, power, predict(unseen.features, unseen.bounds, weights), targets[held], weights)


def _weighted(spelled: SpelledWords, power: float) -> SpelledWords:
    """The words with weights by their rank, 1 on average; the first FEW count nearly alike."""
    if not power:
        return spelled
    weights = np.arange(FEW, FEW + len(spelled.bounds) - 1, dtype=np.float64) ** -power
    return replace(spelled, weights=(weights / weights.mean()).astype(np.float32))


def same_stem(words: Iterable[str], vocabulary: Iterable[str]) -> set[str]:
    """The words of a vocabulary that share the stem of one of `words`: its Snowball stem, or begin with it.

    What a strict test leaves out of learning, so that a plural does not tell on its singular. Needs snowballstemmer.

    >>> sorted(same_stem(["walking"], ["walked", "walk", "sleepwalk", "wall"]))
    ['walk', 'walked']
    """
    package = require("snowballstemmer", extra="regression", purpose="finding words of the same stem")
    stem = package.stemmer("english").stemWord
    stems: dict[str, set[str]] = {}  # by the first three letters, which share a stem's
    for word in words:
        stemmed = stem(word.lower())
        stems.setdefault(stemmed[:3], set()).add(stemmed)
    shared = set()
    for word in vocabulary:
        near = stems.get(word[:3].lower())
        if near and (any(len(one) > 3 and word.lower().startswith(one) for one in near) or stem(word.lower()) in near):
            shared.add(word)
    return shared


def _centred_units(matrix: Singles, rows: Longs, center: Doubles) -> tuple[Singles, float]:
    """The vectors of some rows less the mean, at length 1, and their mean length before."""
    units = np.empty((len(rows), matrix.shape[1]), dtype=np.float32)
    total = 0.0
    for low in range(0, len(rows), 1 << 14):
        part = matrix[rows[low : low + (1 << 14)]] - center
        lengths = np.linalg.norm(part, axis=1, keepdims=True)
        units[low : low + len(part)] = part / np.where(lengths > 0, lengths, 1.0)
        total += float(lengths.sum())
    return units, total / len(rows)


def _mixed(targets: Singles, rng: np.random.Generator) -> Singles:
    """A few random directions of the targets: enough to choose a penalty by, and to tell how good it is."""
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
    for kind in (*KINDS, "all"):
        chosen = np.flatnonzero((named == kind) | (kind == "all"))
        if len(chosen):
            explained = 1 - errors[chosen].sum() / max(float(squares[chosen].sum()), 1e-12)
            result.append(Quality(kind, len(chosen), float(by_word[chosen].mean()), float(explained)))
    return tuple(result)


def _curve(guesses: Singles, truth: Singles, bins: int = 10) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The mean cosine by the length of the prediction, which says how much the regression knew."""
    lengths, by_word = np.linalg.norm(guesses, axis=1), cosines(guesses, truth)
    parts = np.array_split(np.argsort(lengths, kind="stable"), bins)
    return (
        tuple(float(lengths[part].mean()) for part in parts),
        tuple(float(by_word[part].mean()) for part in parts),
    )


def _cached_path(vectors: WordVectors, folder: str | PathLike[str] | None, options: FormOptions) -> Path:
    """Where the form model of some vectors and options is kept."""
    place = cache_folder() if folder is None else Path(folder)
    identity = {name: value for name, value in options.items() if name not in ("threads", "show_progress")}
    name = hashlib.blake2b(json.dumps([KIND, VERSION, identity], default=str).encode(), digest_size=4).hexdigest()
    return place / f"form-{vectors.fingerprint}-{name}.safetensors"
