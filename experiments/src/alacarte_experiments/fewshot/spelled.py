"""Systems that know how a word is spelled: `form` (spelling alone) and `alacarte+form` (contexts and spelling).

Their settings, for ablations:

| setting | what it does |
|---|---|
| `stems=1` | words that share the stem of a tested word take no part in learning spelling |
| `common=0` | the direction that all vectors share is kept |
| `constant=g` | contexts have the weight g at any number of contexts, spelling 1 − g, instead of learned weights |
| `spelling=0` | contexts alone (what is left is the removal of the common direction) |
| `definition=n` | contexts that a definition is worth |
| `shortest`, `longest`, `min_words`, `form_ridge`, `rank_power` | of the form model |
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from alacarte import ALaCarte, WordVectors
from alacarte.errors import NotEnoughData, require
from alacarte.passes.work import Work
from alacarte.spelling.form import FormModel, FormSettings
from alacarte.spelling.fusion import DEFINITION, Fusion, Trials, simulate
from alacarte.text.corpus import CorpusLike
from alacarte.transform.solve import Solve

if TYPE_CHECKING:
    from alacarte_experiments.fewshot.systems import System, Workbench

Doubles = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]

KINDS = ("form", "alacarte+form")
FORM_OPTIONS = ("shortest", "longest", "min_words", "form_ridge", "rank_power")
PARAMETERS = {"stems", "common", "constant", "spelling", "definition", *FORM_OPTIONS}


@dataclass(frozen=True, eq=False)
class Spelled:
    """À la carte with a form model (`plain`), and how the two sides are put together (`fusion`).

    There is no `embed`: contexts of a thing without a name say nothing about its spelling.
    """

    plain: ALaCarte
    form: FormModel
    fusion: Fusion
    kind: str
    parameters: Mapping[str, Any]

    @property
    def vectors(self) -> WordVectors:
        return self.plain.vectors

    def fused(self, contexts: npt.ArrayLike, words: Sequence[str], count: int) -> Doubles:
        """A vector for each word, whose vector from so many contexts is given; a row of zeros for no context."""
        x = np.asarray(contexts, dtype=np.float64)
        f = self.form.rows(list(words))[0].astype(np.float64)
        f[[len(word.split()) > 1 for word in words]] = 0  # phrases are not spelled
        if self.kind == "form":
            x = np.zeros_like(x)
        elif not self.parameters.get("spelling", 1):
            f = np.zeros_like(f)
        return self.fusion.combine(x, f, np.full(len(x), count)).fused.astype(np.float64)

    def embed_definition(self, text: str, word: str) -> Singles:
        """The vector of a word from its definition and its spelling."""
        try:
            x = self.plain.embed_definition(text)
        except NotEnoughData:  # no known word: spelling alone
            x = np.zeros(self.vectors.dimension, dtype=np.float32)
        count = int(self.parameters.get("definition", DEFINITION))
        vector: Singles = self.fused(x[None], [word], count).astype(np.float32).reshape(-1)
        return vector

    def induce(self, corpus: CorpusLike, words: Sequence[str]) -> dict[str, Doubles]:
        """A vector for each word that has one, from its contexts in a corpus, if it occurs there, and its spelling."""
        try:
            induced = self.plain.induce(corpus, list(words), show_progress=False)
            contexts = {word: (induced.count(word), induced[word]) for word in words if word in induced}
        except NotEnoughData:  # none of the words occurs
            contexts = {}
        result: dict[str, Doubles] = {}
        for word in words:
            count, vector = contexts.get(word, (0, np.zeros(self.vectors.dimension, dtype=np.float32)))
            fused = self.fused(vector[None], [word], count)[0]
            if fused.any():
                result[word] = fused
        return result


def spelled(bench: "Workbench", system: "System") -> Spelled:
    """The system in this workbench; form models are kept for systems that share them."""
    settings, given = system.settings, system.parameters
    form, trials = _learned(bench, system)
    fusion = Fusion.learn(trials)
    if not given.get("common", 1):
        fusion = replace(fusion, common=None)
    if "constant" in given:
        weight = float(given["constant"])
        fusion = replace(fusion, level=float(np.log(weight / (1 - weight))), doubling=0.0, length=0.0)
    plain = bench.alacarte(settings)
    return Spelled(plain, form, fusion, system.kind, given)


def _learned(bench: "Workbench", system: "System") -> tuple[FormModel, Trials]:
    settings, given = system.settings, system.parameters
    options = {name.removeprefix("form_"): given[name] for name in FORM_OPTIONS if name in given}
    own = settings.with_options({"systems": ()})
    key = repr((own, sorted(options.items()), bool(given.get("stems"))))
    if key not in bench.learned:
        bench.learned.clear()  # one at a time: they are large
        without = same_stem(bench.tested, bench.vectors.words) if given.get("stems") else ()
        bench.learned[key] = simulate(
            bench.vectors,
            bench.sums(settings, averaging=settings.averaging),
            bench.text(settings),
            work=Work(show_progress=bench.store.show_progress),
            solve=Solve(exclude=bench.exclude, weighting=settings.weighting, ridge=settings.penalty),
            form=FormSettings(**options, exclude=without, seed=settings.seed),
        )
    learned: tuple[FormModel, Trials] = bench.learned[key]
    return learned


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
