"""Systems that know how a word is spelled: `form` (spelling alone) and `alacarte+form` (contexts and spelling).

Their settings, for ablations:

| setting | what it does |
|---|---|
| `stems=1` | words that share the stem of a tested word take no part in learning spelling |
| `common=0` | the direction that all vectors share is kept |
| `constant=g` | contexts have the weight g at any number of contexts, spelling 1 − g, instead of learned weights |
| `spelling=0` | contexts alone (what is left is the removal of the common direction) |
| `gate=1` | learned weights also depend on the cosine of the two sides |
| `matrix=λ` | matrices instead of scalars, ridge λ toward the scalars |
| `definition=n` | contexts that a definition is worth |
| `shortest`, `longest`, `min_words`, `form_ridge` | of the form model |
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from alacarte.errors import BadData
from alacarte.model import SLOT, ALaCarte
from alacarte.spelling.form import FormModel, FormOptions, same_stem
from alacarte.spelling.fusion import DEFINITION, Fusion, Trials, simulate
from alacarte_experiments.fusers import Gated, Matrices

if TYPE_CHECKING:
    from alacarte_experiments.systems import System, Workbench

Doubles = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]

KINDS = ("form", "alacarte+form")
FORM_OPTIONS = ("shortest", "longest", "min_words", "form_ridge")
PARAMETERS = {"stems", "common", "constant", "spelling", "gate", "matrix", "definition", *FORM_OPTIONS}


class Spelled(ALaCarte):
    """À la carte with a form model, and what is changed about it."""

    kind: str
    given: dict[str, Any]
    fuser: Fusion | Gated | Matrices

    def fused(self, contexts: npt.ArrayLike, words: list[str], count: int) -> Doubles:
        """A vector for each word, whose context vector it is given, from so many contexts."""
        form, _ = self.require_form()
        x, f = np.asarray(contexts, dtype=np.float64), form.rows(words)[0].astype(np.float64)
        if self.kind == "form":
            x = np.zeros_like(x)
        elif not self.given.get("spelling", 1):
            f = np.zeros_like(f)
        return self.fuser.combine(x, f, np.full(len(x), count)).fused.astype(np.float64)

    def embed_definition(self, text: str, word: str | None = None, *, form: bool = True) -> Singles:
        if word is None:
            raise BadData("a spelling needs the word")
        tokens = [token for token in self.tokenizer(text, self.vectors.key_to_index) if not SLOT.match(token)]
        x = self.embed_tokens(tokens)
        count = int(self.given.get("definition", DEFINITION))
        found: Singles = self.fused(x[None], [word], count).astype(np.float32).reshape(-1)
        return found


def spelled(bench: "Workbench", system: "System") -> Spelled:
    """The system in this workbench; form models are kept for systems that share them."""
    settings, given = system.settings, system.parameters
    form, trials = _learned(bench, system)
    fusion = Fusion.learn(trials)
    if not given.get("common", 1):
        fusion = replace(fusion, common=None)
    fuser: Fusion | Gated | Matrices = fusion
    if "constant" in given:
        weight = float(given["constant"])
        fuser = replace(fusion, table=np.tile([weight, 1 - weight], (len(fusion.sizes), 1)))
    elif given.get("gate"):
        fuser = Gated.learn(trials, fusion)
    elif given.get("matrix"):
        fuser = Matrices.learn(trials, fusion, float(given["matrix"]))
    plain = bench.alacarte(settings)
    model = Spelled(bench.vectors, plain.transform, tokenizer=settings.tokenizer, form=form, fusion=fusion)
    model.kind, model.given, model.fuser = system.kind, given, fuser
    return model


def _learned(bench: "Workbench", system: "System") -> tuple[FormModel, Trials]:
    settings, given = system.settings, system.parameters
    options = {name.removeprefix("form_"): given[name] for name in FORM_OPTIONS if name in given}
    own = settings.with_options({"systems": ()})
    key = repr((own, sorted(options.items()), bool(given.get("stems"))))
    if key not in bench.learned:
        if bench.corpus is None:
            raise BadData("no corpus is given to learn from; pass --corpus FILE")
        bench.learned.clear()  # one at a time: they are large
        without = same_stem(bench.tested, bench.vectors.words) if given.get("stems") else ()
        bench.learned[key] = simulate(
            bench.vectors,
            bench.sums(settings, averaging=settings.averaging),
            bench.text(settings),
            without=without,
            seed=settings.seed,
            work={"show_progress": bench.store.show_progress},
            solve={"exclude": bench.exclude, "weighting": settings.weighting, "ridge": settings.penalty},
            form=cast(FormOptions, options),
        )
    found: tuple[FormModel, Trials] = bench.learned[key]
    return found
