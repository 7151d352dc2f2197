"""The facade: fit on text, induce vectors for targets, embed single contexts, save, load.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> vectors = WordVectors([f"w{i}" for i in range(50)], rng.normal(size=(50, 3)))
>>> text = [" ".join(rng.choice(vectors.words, 40)) for _ in range(200)]
>>> model = ALaCarte.fit(vectors, text, window=5)
>>> induced = model.induce(text, ["w1", "w1 w2", "never seen"])
>>> list(induced.words), induced.missing
(['w1', 'w1 w2'], ['never seen'])
"""

import json
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from alacarte._io.files import absolute, check_folder, new_folder
from alacarte._version import __version__
from alacarte.contexts.agreement import Agreement, agreement_weights
from alacarte.contexts.reading import Averaging, Positions, Reading
from alacarte.contexts.sums import ContextSums
from alacarte.errors import (
    AlacarteError,
    AlacarteWarning,
    BadTransform,
    BadVectors,
    Hint,
    NoOccurrences,
    NotEnoughData,
    TransformMismatch,
)
from alacarte.induced import InducedVectors, is_single
from alacarte.inference.spread import TypicalSpread
from alacarte.inference.uncertainty import Uncertainty
from alacarte.passes.collect import collect
from alacarte.spelling.form import FormModel, FormVector
from alacarte.spelling.fusion import DEFINITION, Fusion, Parts, learn_form
from alacarte.targets.targets import TargetsLike
from alacarte.text.corpus import CorpusLike
from alacarte.text.tokenizers import Tokenizer, TokenizerLike, get_tokenizer
from alacarte.transform.learned import collect_learned
from alacarte.transform.transform import FitReport, Transform, Weighting
from alacarte.vectors.word_vectors import VectorsLike, WordVectors

__all__ = ["ALaCarte", "Contexts", "InducedVectors", "check_folder", "pretrained_names"]

Doubles = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Contexts = str | Iterable[str | Sequence[str]]
Window = tuple[list[int], list[float] | None]  # rows of vectors, and their weights by distance

FORMAT = "alacarte.ALaCarte/1"
SLOT = re.compile(r"_+$")


class ALaCarte:
    """Word vectors and the transform learned for them.

    >>> model = ALaCarte.pretrained("glove.6B.50d")
    >>> vector = model.embed("a cute, fluffy blorp purred and chased the mouse", target="blorp")
    >>> [word for word, _ in model.vectors.nearest(vector, k=3, among=20_000)]
    ['rabbit', 'monkey', 'cat']
    """

    def __init__(
        self,
        vectors: VectorsLike,
        transform: Transform,
        *,
        tokenizer: TokenizerLike | None = None,
        check: bool = True,
        form: FormModel | None = None,
        fusion: Fusion | None = None,
        typical: TypicalSpread | None = None,
    ) -> None:
        self.vectors = WordVectors.of(vectors)
        self.transform = transform
        self.typical = typical  # how far contexts lie apart, for targets that cannot tell themselves
        self.fusion = fusion
        self._form = form
        if form is not None and form.dimension != self.vectors.dimension:
            raise TransformMismatch(
                f"the form model has {form.dimension} dimensions and the vectors have {self.vectors.dimension}; "
                "use the one learned for these vectors"
            )
        self.check = check
        if check:
            transform.check_vectors(self.vectors)
        elif self.vectors.dimension != transform.dimension:
            transform.check_vectors(self.vectors)  # no caller can know better than the dimensions
        settings = transform.settings or Reading()
        self._tokenizer = None if tokenizer is None else get_tokenizer(tokenizer)
        if self._tokenizer is not None:
            settings = replace(settings, tokenizer=self._tokenizer.name)
        self.settings = settings
        weights = transform.weights.values
        self._weights: Doubles | None = None
        if weights is not None:
            if len(weights) != len(self.vectors):
                raise BadTransform(
                    f"the transform has context weights for {len(weights):,} words and there are {len(self.vectors):,} "
                    "vectors; load all the vectors it was learned for"
                )
            self._weights = weights.astype(np.float64)

    @property
    def tokenizer(self) -> Tokenizer:
        if self._tokenizer is None:
            self._tokenizer = get_tokenizer(self.settings.tokenizer)
        return self._tokenizer

    @property
    def form(self) -> FormModel | None:
        """What gives vectors to spellings, if this model has it."""
        return self._form

    def with_form(self, form: FormModel | None = None, *, show_progress: bool | None = None) -> "ALaCarte":
        """The same model with a form model: one given, or one learned from the vectors and kept in the user's cache."""
        found = FormModel.cached(self.vectors, show_progress=show_progress) if form is None else form
        return type(self)(
            self.vectors, self.transform, tokenizer=self._tokenizer, check=False, form=found, fusion=self.fusion,
            typical=self.typical,
        )  # fmt: skip

    @property
    def report(self) -> FitReport | None:
        """How the transform was learned, if it says so."""
        return self.transform.report

    def __repr__(self) -> str:
        return f"ALaCarte({self.vectors!r}, {self.transform!r})"

    def __deepcopy__(self, memo: object) -> "ALaCarte":
        return self  # as for WordVectors

    # ----------------------------------------------------------------------------------------------- fit

    @classmethod
    def fit(
        cls,
        vectors: VectorsLike,
        corpus: CorpusLike,
        *,
        window: int | tuple[int, int] = 10,
        averaging: Averaging = "occurrence",
        positions: Positions = "uniform",
        context_weights: object = None,
        tokenizer: TokenizerLike = "words",
        unknown: Literal["keep", "drop"] = "keep",
        weighting: Weighting = "auto",
        ridge: float | Literal["loo"] = 0.0,
        toward: Literal["zero", "identity"] = "zero",
        intercept: bool = False,
        exclude: Iterable[str] = (),
        form: bool = False,
        **options: Any,
    ) -> "ALaCarte":
        """Learn a transform for `vectors` from any text; `print(model.report)` says how well.

        `form=True` also learns vectors from spelling, and how much they count beside n contexts, for which the text
        is read a second time; they are used only where a call asks for it (`embed(…, form=True)`).

        `context_weights="learned"` learns how much context words count from the same text
        (`alacarte.transform.learned`).

        How contexts are read, and further options (threads, memory, checkpoint, …): see `collect`. With
        `spread`, the model knows how far contexts lie apart, and so how sure a vector from one context is.
        How the matrix is learned: see `Transform.fit`.
        """
        source = WordVectors.of(vectors)
        if context_weights == "learned":
            if positions != "uniform":
                raise AlacarteError("learned context weights hold weights by distance too; leave `positions` out")
            sums, _ = collect_learned(
                source, corpus, window=window, averaging=averaging, tokenizer=tokenizer, unknown=unknown, **options
            )
        else:
            sums = collect(
                source, corpus, window=window, averaging=averaging, positions=positions,
                context_weights=context_weights, tokenizer=tokenizer, unknown=unknown, **options,
            )  # fmt: skip
        return cls.from_sums(
            source, sums, weighting=weighting, ridge=ridge, toward=toward, intercept=intercept, exclude=exclude,
            tokenizer=tokenizer, form_corpus=corpus if form else None,
        )  # fmt: skip

    @classmethod
    def from_sums(
        cls,
        vectors: VectorsLike,
        sums: ContextSums,
        *,
        tokenizer: TokenizerLike | None = None,
        form_corpus: CorpusLike | None = None,
        show_progress: bool | None = None,
        **options: Any,
    ) -> "ALaCarte":
        """Learn from sums already collected (and merged, and saved); options as in `Transform.fit`.

        `form_corpus`, the text of the sums, is read again to learn spelling and its weight beside contexts.
        """
        source = WordVectors.of(vectors)
        transform = Transform.fit(sums, source, **options)
        form, fusion = None, None
        if form_corpus is not None:
            form, fusion = learn_form(
                source, sums, form_corpus, tokenizer=tokenizer, show_progress=show_progress, **options
            )
        typical = None if sums.groups is None else Uncertainty.of_sums(sums, transform, source).typical
        return cls(source, transform, tokenizer=tokenizer, form=form, fusion=fusion, typical=typical)

    @classmethod
    def pretrained(cls, name: str = "glove.6B.50d", *, vectors: VectorsLike | None = None) -> "ALaCarte":
        """A transform that ships with this package, for vectors of that name; no corpus is needed.

        `vectors` gives the vectors themselves where they are not an installed package, for instance the path of
        `glove.6B.100d.txt`.
        """
        file = resources.files("alacarte") / "pretrained" / f"{name}.safetensors"
        if not file.is_file():
            raise AlacarteError(
                f"no transform for {name!r} ships with this package; there are {', '.join(pretrained_names())}. "
                "Learn one from any text",
                hint=Hint("ALaCarte.fit(vectors, corpus) does that", "alc fit does that"),
            )
        with resources.as_file(file) as path:
            transform = Transform.load(path)
        weights = resources.files("alacarte") / "pretrained" / f"{name}.fusion.json"
        fusion = Fusion.from_json(weights.read_text(encoding="utf-8")) if weights.is_file() else None
        try:
            source = WordVectors.of(name if vectors is None else vectors)
        except BadVectors as error:
            if vectors is not None:
                raise
            raise BadVectors(str(error), hint=Hint("here as vectors=…", "here as --vectors")) from None
        spread = resources.files("alacarte") / "pretrained" / f"{name}.spread"
        typical = None
        if spread.is_file():
            with resources.as_file(spread) as path:
                typical = TypicalSpread.load(path)
        return cls(source, transform, fusion=fusion, typical=typical)

    # -------------------------------------------------------------------------------------------- induce

    def collect(self, corpus: CorpusLike, targets: TargetsLike, **options: Any) -> ContextSums:
        """Sum the contexts of targets as this model's transform needs them; `apply` turns sums into vectors.

        `options` are those of `collect` that say how the work is done: threads, memory, checkpoint, …
        """
        settings = self.settings
        return collect(
            self.vectors, corpus, targets, window=(settings.left, settings.right), averaging=settings.averaging,
            positions=settings.positions, context_weights=self.transform.weights, tokenizer=self.tokenizer,
            unknown=settings.unknown, **options,
        )  # fmt: skip

    def apply(self, sums: ContextSums, *, form: bool = False) -> InducedVectors:
        """Vectors from sums collected before, by this model or by others with the same settings."""
        if self.check:
            self.transform.check_sums(sums)
        return InducedVectors(self, sums, form=form)

    def induce(self, corpus: CorpusLike, targets: TargetsLike, *, form: bool = False, **options: Any) -> InducedVectors:
        """A vector for each target that occurs in the corpus; `.missing` lists the others.

        `form=True` adds what the spelling of single words says, by the number of their contexts, and so gives words
        that never occur a vector too (`.origin` marks them).
        `options` say how the work is done, as in `collect`: threads, memory, checkpoint, show_progress, …

        >>> vectors = WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]])
        >>> induced = ALaCarte(vectors, Transform(np.eye(2))).induce(["a New York b"], ["new york", "x"])
        >>> induced["new york"].tolist(), induced.count("new york"), induced.missing
        ([1.0, 1.0], 1, ['x'])
        """
        if form:
            self.require_form()
        return self.apply(self.collect(corpus, targets, **options), form=form)

    def spell(self, word: str) -> FormVector:
        """The vector of a word from its spelling alone; `NotEnoughData` where that says nothing."""
        if self.form is None:
            raise AlacarteError("this model has no vectors from spelling; model.with_form() learns them")
        found = self.form.vector(word)
        if self.fusion is None:
            return found
        return replace(found, vector=self.fusion.combine(found.vector * 0, found.vector, [0]).fused.reshape(-1))

    def require_form(self) -> tuple[FormModel, Fusion]:
        """The form model and the weights of fusion, or an error that says how to get them."""
        if self.form is None or self.fusion is None:
            lacking = "vectors from spelling" if self.form is None else "weights for spelling beside contexts"
            how = (
                "model.with_form() learns them from the vectors"
                if self.fusion is not None
                else ("fit one with ALaCarte.fit(…, form=True) (alc fit --form)")
            )
            raise AlacarteError(f"this model has no {lacking}; {how}")
        return self.form, self.fusion

    # --------------------------------------------------------------------------------------------- embed

    def embed(
        self,
        contexts: Contexts,
        target: str | None = None,
        *,
        each: bool = False,
        absent: Literal["error", "whole"] = "error",
        form: bool = False,
        agreement: bool = False,
    ) -> Singles:
        """The vector of one thing from one or many contexts, on the fly.

        A context is a string, or a list of tokens inside a list (`[["a", "b"]]`). With `target`, the model's
        window around each of its occurrences counts, and a context without it is an error, or counts with all
        its words if `absent="whole"` (with a warning); without, every word of each context does, as in the paper's
        few-shot experiments. `each` gives a row for each context instead. `form` adds what the target's spelling
        says (`embed_parts` tells how much); there may then be no context at all. `agreement` makes contexts that
        disagree with the rest count less (`agreement` tells how much).

        >>> model = ALaCarte(WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]), Transform(np.eye(2)))
        >>> model.embed("a x b b", target="x").tolist()
        [1.0, 2.0]
        >>> model.embed(["a x", "x b"], target="x").tolist()
        [0.5, 0.5]
        """
        if form:
            fused = self.embed_parts(contexts, target, each=each, absent=absent).fused
            return fused if each else fused.reshape(-1)
        if agreement and not each:
            return self.agreement(contexts, target, absent=absent).vector
        rows, lists = self._context_sums(contexts, target, absent)
        if each:
            return np.stack([self._vector([row], _shortened(lists[i])) for i, row in enumerate(rows)])
        return self._vector(rows, _shortened(lists[0]))

    def agreement(
        self, contexts: Contexts, target: str | None = None, *, absent: Literal["error", "whole"] = "error"
    ) -> Agreement:
        """`embed(…, agreement=True)` with its reasons: how much each context counts.

        >>> model = ALaCarte(WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]), Transform(np.eye(2)))
        >>> found = model.agreement(["a x", "x a", "a x a", "b x"], target="x")
        >>> found.weights.round(2).tolist(), [round(float(value), 2) for value in found.vector]
        ([1.21, 1.21, 1.21, 0.38], [1.21, 0.1])
        """
        rows, lists = self._context_sums(contexts, target, absent)
        alone = [self._vector([row], "") if row[2] > 0 else np.zeros(self.vectors.dimension) for row in rows]
        weights, cosines = agreement_weights(np.stack(alone))
        # Weights as multiples of a context: sums and counts alike, so that every average is what it says.
        scaled = [tuple(weight * value for value in row) for weight, row in zip(weights, rows, strict=True)]
        vector = self._vector(scaled, _shortened(lists[0]))
        return Agreement([" ".join(tokens) for tokens in lists], weights, cosines, vector)

    def embed_parts(
        self,
        contexts: Contexts,
        target: str | None,
        *,
        each: bool = False,
        absent: Literal["error", "whole"] = "error",
    ) -> Parts:
        """What `embed(…, form=True)` is made of: the part from contexts and the part from spelling, with their weights.

        One row, or one for each context with `each`. Without contexts all of it is spelling, and `origin` says so.
        """
        if target is None:
            raise AlacarteError("a spelling needs the word; pass target=…")
        listed = [contexts] if isinstance(contexts, str) else list(contexts)
        rows = self._context_sums(listed, target, absent)[0] if listed else []
        groups = [[row] for row in rows] if each else [rows]
        return self._fused(groups, target, [sum(row[1] for row in group) for group in groups])

    def _fused(self, groups: list[list[tuple[Doubles, int, float, int]]], word: str, counts: list[int]) -> Parts:
        form, fusion = self.require_form()
        known = [sum(row[2] for row in group) > 0 for group in groups]
        nothing = np.zeros(self.vectors.dimension, dtype=np.float32)
        x = [self._vector(group, word) if some else nothing for group, some in zip(groups, known, strict=True)]
        spelled = form.rows([word])[0] if is_single(word) else nothing[None]
        if not spelled.any() and not any(known):
            form.vector(word)  # says why there is nothing
            raise NotEnoughData(f"{word!r} has no context with known words, and phrases have no spelling of their own")
        return fusion.combine(np.stack(x), np.repeat(spelled, len(x), axis=0), np.array(counts) * np.array(known))

    def _context_sums(
        self, contexts: Contexts, target: str | None, absent: Literal["error", "whole"]
    ) -> tuple[list[tuple[Doubles, int, float, int]], list[Sequence[str]]]:
        """The sums of each context, and its tokens."""
        lists = self._token_lists(contexts)
        wanted = None if target is None else self._target_tokens(target)
        rows: list[tuple[Doubles, int, float, int]] = []
        whole = 0
        for position, tokens in enumerate(lists):
            part = self._sum_context(tokens, wanted)
            if wanted is not None and part[1] == 0 and absent == "whole":
                part = self._sum_context(tokens, None)
                whole += 1
            elif wanted is not None and part[1] == 0:
                raise NoOccurrences(
                    f"{target!r} does not occur in context {position + 1}, {_shortened(tokens)!r}; correct the "
                    "spelling, or leave `target` out to use the whole context"
                )
            rows.append(part)
        if whole:
            warnings.warn(
                f"{target!r} does not occur in {whole} of {len(lists)} contexts; all words of these count",
                AlacarteWarning,
                stacklevel=3,
            )
        return rows, lists

    def embed_definition(self, text: str, word: str | None = None, *, form: bool = False) -> Singles:
        """The vector of a word from its definition: all words count but the slot (`___`) and the word itself.

        With `form`, the word's spelling counts as beside as many contexts as a definition is worth
        (`fusion.DEFINITION`).

        >>> model = ALaCarte(WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]), Transform(np.eye(2)))
        >>> model.embed_definition("___ : a b b", word="x").tolist()
        [1.0, 2.0]
        """
        own = set() if word is None else set(self._target_tokens(word))
        tokens = [
            token
            for token in self.tokenizer(text, self.vectors.key_to_index)
            if token not in own and not SLOT.match(token)
        ]
        row = self._sum_context(tokens, None)
        if not form:
            return self._vector([row], text)
        if word is None:
            raise AlacarteError("a spelling needs the word; pass word=…")
        return self._fused([[row]], word, [DEFINITION]).fused.reshape(-1)

    def _token_lists(self, contexts: Contexts) -> list[Sequence[str]]:
        if isinstance(contexts, str):
            contexts = [contexts]
        known = self.vectors.key_to_index
        lists = [self.tokenizer(context, known) if isinstance(context, str) else context for context in contexts]
        if not lists:
            raise NoOccurrences("there is no context to embed; give at least one")
        return lists

    def _target_tokens(self, target: str) -> list[str]:
        tokens = self.tokenizer(target, self.vectors.key_to_index)
        if not tokens:
            raise NoOccurrences(f"the tokenizer finds no token in the target {target!r}")
        return tokens

    def _sum_context(self, tokens: Sequence[str], wanted: list[str] | None) -> tuple[Doubles, int, float, int]:
        """(sum of context vectors, occurrences, total weight, occurrences with any context word)."""
        get = self.vectors.key_to_index.get
        if wanted is None:
            rows = [row for row in map(get, tokens) if row is not None]
            summed, weight = self._weighted_sum(rows, None)
            if self.settings.averaging == "context" and weight > 0:
                summed /= weight
            return summed, 1, weight, int(weight > 0)
        summed, occurrences, total, filled = np.zeros(self.vectors.dimension), 0, 0.0, 0
        for rows, scales in self._windows(tokens, wanted):
            window, weight = self._weighted_sum(rows, scales)
            if self.settings.averaging == "context" and weight > 0:
                window /= weight
            summed += window
            occurrences, total, filled = occurrences + 1, total + weight, filled + (weight > 0)
        return summed, occurrences, total, filled

    def _windows(self, tokens: Sequence[str], wanted: list[str]) -> list[Window]:
        """What stands around each occurrence."""
        get = self.vectors.key_to_index.get
        left, right = self.settings.position_weights()
        sequence, length = list(tokens), len(wanted)
        found = [get(token) for token in sequence]
        windows: list[Window] = []
        for start in range(len(sequence) - length + 1):
            if sequence[start : start + length] != wanted:
                continue
            pairs: list[tuple[int, float]] = []
            for side, scales in ((found[:start][::-1], left), (found[start + length :], right)):
                if self.settings.unknown == "drop":
                    side = [row for row in side if row is not None]
                pairs += [(row, scale) for row, scale in zip(side, scales, strict=False) if row is not None]
            windows.append(([row for row, _ in pairs], [scale for _, scale in pairs]))
        return windows

    def context_words(
        self, contexts: Contexts, target: str | None = None
    ) -> list[list[tuple[npt.NDArray[np.int64], Doubles]]]:
        """The words that count for `embed`: for each context and each window in it, rows of `vectors` and weights.

        >>> model = ALaCarte(WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]]), Transform(np.eye(2)))
        >>> [(rows.tolist(), weights.tolist()) for rows, weights in model.context_words("b x a b", "x")[0]]
        [([1, 0, 1], [1.0, 1.0, 1.0])]
        """
        wanted = None if target is None else self._target_tokens(target)
        get = self.vectors.key_to_index.get
        result = []
        for tokens in self._token_lists(contexts):
            windows = [] if wanted is None else self._windows(tokens, wanted)
            windows = windows or [([row for row in map(get, tokens) if row is not None], None)]
            result.append([self._weighted(*window) for window in windows])
        return result

    def _weighted(self, rows: list[int], scales: list[float] | None) -> tuple[npt.NDArray[np.int64], Doubles]:
        chosen = np.array(rows, dtype=np.int64)
        weights = np.ones(len(rows)) if self._weights is None else self._weights[chosen]
        return chosen, weights if scales is None else weights * np.array(scales)

    def _weighted_sum(self, rows: list[int], scales: list[float] | None) -> tuple[Doubles, float]:
        if not rows:
            return np.zeros(self.vectors.dimension), 0.0
        block = self.vectors.matrix[rows]
        if self._weights is None and (scales is None or self.settings.positions == "uniform"):
            return block.sum(axis=0, dtype=np.float64), float(len(rows))
        weights = np.ones(len(rows)) if self._weights is None else self._weights[rows]
        if scales is not None:
            weights = weights * scales
        return weights @ block, float(weights.sum())

    def _vector(self, parts: list[tuple[Doubles, int, float, int]], shown: str) -> Singles:
        """Average the parts as the settings say, and transform."""
        averaging = self.settings.averaging
        total = sum(part[2] for part in parts)
        if total <= 0:
            raise NotEnoughData(f"none of the context words has a vector: {shown!r}; give a context with known words")
        summed = np.sum([part[0] for part in parts], axis=0)
        if averaging == "occurrence":
            by: float = sum(part[1] for part in parts)
        elif averaging == "token":
            by = total
        else:
            by = sum(part[3] for part in parts)
        return self.transform(summed / by)

    # --------------------------------------------------------------------------------------------- files

    def save(self, folder: str | PathLike[str], *, include_vectors: bool | None = None) -> None:
        """A folder with the transform, its report and where the vectors are; with the vectors themselves on request.

        Vectors that came from no file or named set are always included: there is nowhere else to find them.
        """
        path = Path(folder)
        check_folder(path)
        include = self.vectors.source is None if include_vectors is None else include_vectors
        with new_folder(path) as staging:
            self.transform.save(staging / "transform.safetensors")
            if self.form is not None:
                self.form.save(staging / "form.safetensors")
            if self.typical is not None:
                self.typical.save(staging / "spread.safetensors")
            if self.fusion is not None:
                (staging / "fusion.json").write_text(self.fusion.to_json(), encoding="utf-8")
            if self.report is not None:
                (staging / "report.txt").write_text(f"{self.report}\n", encoding="utf-8")
            if include:
                self.vectors.save(staging / "vectors.safetensors")
            description = {
                "format": FORMAT,
                "version": __version__,
                "vectors": None if include else absolute(self.vectors.source),
                "fingerprint": self.vectors.fingerprint,
                "words": len(self.vectors),
                "tokenizer": self.settings.tokenizer,
            }
            (staging / "model.json").write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(
        cls,
        folder: str | PathLike[str],
        *,
        vectors: VectorsLike | None = None,
        tokenizer: TokenizerLike | None = None,
        check: bool = True,
    ) -> "ALaCarte":
        """A saved model; `vectors` says where the vectors are if they have moved."""
        path = Path(folder)
        try:
            description = json.loads((path / "model.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise AlacarteError(
                f"{path}: not a saved model ({error}); `alc fit --out {path}` or ALaCarte.save makes one"
            ) from None
        if description.get("format") != FORMAT:
            raise AlacarteError(f"{path}: a model of another format, {description.get('format')!r}")
        transform = Transform.load(path / "transform.safetensors")
        if vectors is None:
            own = path / "vectors.safetensors"
            vectors = own if own.is_file() else description["vectors"]
            if isinstance(vectors, str) and Path(vectors).is_absolute() and not Path(vectors).exists():
                raise AlacarteError(
                    f"{path}: the vectors of this model were at {vectors} and are not there any more",
                    hint=Hint("say where they are with vectors=…", "say where they are with --vectors"),
                )
        form, fusion, spread = path / "form.safetensors", path / "fusion.json", path / "spread.safetensors"
        return cls(
            vectors, transform, tokenizer=tokenizer, check=check,
            form=FormModel.load(form) if form.is_file() else None,
            fusion=Fusion.from_json(fusion.read_text(encoding="utf-8")) if fusion.is_file() else None,
            typical=TypicalSpread.load(spread) if spread.is_file() else None,
        )  # fmt: skip


def pretrained_names() -> list[str]:
    """The vectors for which a transform ships with this package."""
    folder = resources.files("alacarte") / "pretrained"
    return sorted(
        file.name.removesuffix(".safetensors") for file in folder.iterdir() if file.name.endswith(".safetensors")
    )


def _shortened(tokens: Sequence[str]) -> str:
    text = " ".join(tokens)
    return text if len(text) <= 60 else text[:57] + "…"
