"""The systems that an experiment compares, by name: each built from the same vectors, corpus and window.

A name may carry settings of its own behind commas: `alacarte,weights=sif:1e-3,tau=100,ridge=loo`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from alacarte import ALaCarte, ContextSums, Corpus, WordVectors
from alacarte.contexts.word_counts import word_counts
from alacarte.errors import BadData
from alacarte.text.corpus import CorpusLike
from alacarte_experiments import baselines
from alacarte_experiments.baselines import (
    Baseline,
    Nonce2Vec,
    Nonce2VecTraining,
    RetrainedWord2Vec,
    Word2VecTraining,
)
from alacarte_experiments.fewshot import informed, spelled
from alacarte_experiments.lab.progress import progress
from alacarte_experiments.lab.settings import Settings
from alacarte_experiments.lab.store import Store, digest, every_nth

LINEAR: dict[str, type[Baseline]] = {
    "additive": baselines.Additive,
    "no-stop-words": baselines.WithoutStopWords,
    "sif": baselines.SIF,
    "all-but-the-top": baselines.AllButTheTop,
    "sums-but-the-top": baselines.SumsButTheTop,
    "sif-but-the-top": baselines.SIFButTheTop,
}
NAMES = (*LINEAR, "alacarte", "informed", "learned", *spelled.KINDS, "nonce2vec", "word2vec")
LEARNING = frozenset({"window", "tau", "averaging", "weights", "ridge", "tokenizer", "every"})
OWN: dict[
    str, frozenset[str]
] = {  # the settings that a kind of system may change for itself: those that change what it does
    **dict.fromkeys(LINEAR, frozenset({"window", "tokenizer", "every"})),
    "alacarte": LEARNING,
    "informed": LEARNING,
    "learned": LEARNING | {"seed"},
    **dict.fromkeys(spelled.KINDS, LEARNING | {"seed"}),
    "nonce2vec": frozenset({"tokenizer", "every", "seed"}),
    "word2vec": frozenset({"window", "tokenizer", "every", "seed"}),
}
PARAMETERS = {  # and numbers that only one kind of system has
    **{kind: {item.name for item in fields(baseline)} for kind, baseline in LINEAR.items()},
    "alacarte": set[str](),
    "informed": informed.PARAMETERS,
    "learned": informed.LEARNED_PARAMETERS,
    **dict.fromkeys(spelled.KINDS, spelled.PARAMETERS),
    "nonce2vec": {item.name for item in fields(Nonce2VecTraining)} - {"seed"},
    "word2vec": {item.name for item in fields(Word2VecTraining)} - {"seed", "window", "threads"},
}

Embedder = ALaCarte | Nonce2Vec | RetrainedWord2Vec | spelled.Spelled


@dataclass(frozen=True)
class System:
    """A system's name as the user gave it, its kind, and its settings."""

    name: str
    kind: str
    settings: Settings
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def is_baseline(self) -> bool:
        """Whether this is a rival of à la carte and no kind of it."""
        return self.kind in LINEAR or self.kind in ("nonce2vec", "word2vec")

    @classmethod
    def parse(cls, text: str, settings: Settings) -> "System":
        """
        >>> System.parse("alacarte,tau=100", Settings("nonce")).settings.tau
        '100'
        """
        kind, *options = (part.strip() for part in text.split(","))
        if kind not in NAMES:
            raise BadData(f"no system is called {kind!r}; there are {', '.join(NAMES)}")
        own: dict[str, str] = {}
        parameters: dict[str, Any] = {}
        possible = PARAMETERS[kind]
        for option in options:
            name, _, value = option.partition("=")
            if name in OWN[kind]:
                own[name] = value
                continue
            try:
                number = float(value)
                parameters[name] = int(number) if number == int(number) else number
            except (ValueError, OverflowError):
                possible = set()
            if name not in possible:
                names = ", ".join(sorted({*OWN[kind], *PARAMETERS[kind]}))
                raise BadData(f"{text!r}: {option!r} is no setting of {kind}, which has {names}")
        system = cls(text, kind, settings.with_options(own), parameters)
        if reason := _why_not_run(kind, parameters, settings.experiment):
            able = ", ".join(name for name in NAMES if not _why_not_run(name, {}, settings.experiment))
            raise BadData(f"{settings.experiment} cannot run {text!r}: {reason}; it runs {able}")
        return system


def _why_not_run(kind: str, parameters: Mapping[str, Any], experiment: str) -> str | None:
    """Why an experiment cannot run such a system as what it is; None where it can."""
    if experiment == "chimera" and kind in spelled.KINDS:
        return "a chimera has no name, so there is no spelling to read"
    if experiment == "wordsim" and (kind == "word2vec" or informed.has_space_of_its_own(kind, parameters)):
        return "its vectors lie in a space of its own and cannot be compared with those that were given"
    for name, only in (("agreement", "chimera"), ("definition", "nonce")):
        if name in parameters and experiment != only:
            return f"{name} means something to {only} alone"
    return None


def without_words(vectors: WordVectors, words: Iterable[str]) -> WordVectors:
    """The vectors less some words: to the corpus these are then unknown, to the regression absent.

    >>> without_words(WordVectors(["a", "b"], [[1.0], [2.0]]), ["a", "c"]).words
    ('b',)
    """
    hidden = {vectors.index(word) for word in words if word in vectors}
    if not hidden:
        return vectors
    rows = np.array([row for row in range(len(vectors)) if row not in hidden], dtype=np.intp)
    if not rows.size:
        raise BadData("no word of the vectors is left when the test words are removed; use larger vectors")
    return WordVectors([vectors.words[row] for row in rows], vectors.matrix[rows], name=vectors.name)


class Workbench:
    """Vectors, a corpus, and the words that must take no part in learning: what systems are built from."""

    def __init__(
        self,
        vectors: WordVectors,
        corpus: Corpus | None,
        store: Store,
        *,
        exclude: Iterable[str] = (),
        tested: Iterable[str] = (),
    ) -> None:
        self.vectors, self.corpus, self.store = vectors, corpus, store
        self.exclude = sorted(set(exclude))
        self.tested = sorted({*self.exclude, *tested})  # words whose relatives a strict test keeps out as well
        self.learned: dict[str, Any] = {}  # what systems share

    @property
    def given_corpus(self) -> Corpus:
        """The whole corpus, or an error where there is none."""
        if self.corpus is None:
            raise BadData("no corpus is given to learn from; pass --corpus FILE")
        return self.corpus

    def sums(self, settings: Settings, weights: str | None = None, averaging: str = "occurrence") -> ContextSums:
        return self.store.sums(
            self.vectors,
            self.given_corpus,
            window=settings.window,
            averaging=averaging,
            context_weights=settings.weights if weights is None else weights,
            tokenizer=settings.tokenizer,
            every=settings.every,
        )

    def text(self, settings: Settings) -> CorpusLike:
        """The part of the corpus that the settings ask for: all of it, or each n-th document (`every`)."""
        return every_nth(self.given_corpus, settings.every)

    def build(self, system: System) -> Embedder:
        settings = system.settings
        if system.kind in spelled.KINDS:
            return spelled.spelled(self, system)
        if system.kind == "nonce2vec":
            sums = self.sums(settings, "uniform")
            training = Nonce2VecTraining(seed=settings.seed, **system.parameters)
            return Nonce2Vec(self.vectors, word_counts(sums, self.vectors), training, tokenizer=settings.tokenizer)
        if system.kind == "word2vec":
            return self.word2vec(system)
        return self.linear(system)

    def linear(self, system: System) -> ALaCarte:
        """À la carte or a linear baseline: a model that is an affine map of an average."""
        settings = system.settings
        if system.kind == "alacarte":
            return self.alacarte(settings)
        if system.kind == "informed":
            return informed.informed(self, system)
        if system.kind == "learned":
            return informed.learned(self, system)
        baseline = LINEAR[system.kind](**system.parameters)
        if baseline.needs == "nothing":
            return baseline.fit(self.vectors, window=settings.window, tokenizer=settings.tokenizer)
        return baseline.from_sums(self.vectors, self.sums(settings, baseline.sums_weights))

    def alacarte(self, settings: Settings) -> ALaCarte:
        sums = self.sums(settings, averaging=settings.averaging)
        return ALaCarte.from_sums(
            self.vectors, sums, weighting=settings.weighting, ridge=settings.penalty, exclude=self.exclude, adapt=False
        )

    def word2vec(self, system: System) -> RetrainedWord2Vec:
        settings = system.settings
        return RetrainedWord2Vec.fit(
            self.vectors,
            self.text(settings),
            Word2VecTraining(window=settings.window, seed=settings.seed, **system.parameters),
            tokenizer=settings.tokenizer,
            show_progress=self.store.show_progress,
        )

    def protocol(self, settings: Settings) -> dict[str, Any]:
        """What the settings do not say: the vectors' identity, and how much text there was."""
        protocol: dict[str, Any] = {
            "fingerprint": self.vectors.fingerprint,
            "vocabulary": len(self.vectors),
            "dimension": self.vectors.dimension,
        }
        if self.corpus is not None:
            sums = self.sums(settings, "uniform")
            protocol |= {"corpus_tokens": sums.tokens_read, "corpus_documents": sums.documents}
        return protocol

    def each(
        self, settings: Settings, data: object, run: Callable[[System], Any], title: str
    ) -> list[tuple[System, Any]]:
        """`run` for each system of the settings, or what it gave before: results are kept one system at a time."""
        results = []
        systems = [System.parse(name, settings) for name in settings.systems]
        with progress(len(systems), "systems", title, self.store.show_progress) as bar:
            for system in systems:
                results.append((system, self._kept_or(run, system, settings, data)))
                bar.update(1)
        return results

    def _kept_or(self, run: Callable[[System], Any], system: System, settings: Settings, data: object) -> Any:
        identity = None if self.corpus is None else self.corpus.identity
        own = system.settings.with_options({"systems": (), "corpus": (), "vectors": "", "data": "", "contexts": ""})
        key = {
            "experiment": settings.experiment,
            "kind": system.kind,
            "vectors": self.vectors.fingerprint,
            "corpus": identity,
            "exclude": self.exclude,
            "data": digest(data),
            "settings": own.digest,
            "parameters": system.parameters,
        }
        kept = None if identity is None else self.store.read("results", key)
        if kept is None:
            kept = run(system)
            if identity is not None:
                self.store.write("results", key, kept)
        return kept


def check_overlap(vectors: WordVectors, words: Sequence[str], what: str) -> None:
    """Raise if none of the words that are needed has a vector."""
    if not any(word in vectors for word in words):
        raise BadData(
            f"none of the {len(words):,} {what} has a vector; check that data and vectors share language and case"
        )
