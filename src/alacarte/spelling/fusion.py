"""Spelling and contexts together: v = a(n) · x/|x| + b(n) · f/|f|, for x = A u from n contexts and f from spelling.

The two weights are learned: few contexts of known words are sampled, each word is left out of A and of the form model
that predict it, and a and b are the least squares solution for its true direction, for n = 1, 2, 4 … . Between those
they are interpolated in log n. The direction that all vectors share is taken out of the result: it tells how frequent a
word is, not what it means. See docs/form.md for what else was tried.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from alacarte._io.artifact import Artifact, read_artifact, write_artifact
from alacarte._io.table import Columns, Table, columns_of
from alacarte.contexts.sums import ContextSums
from alacarte.errors import BadTransform, NotEnoughData
from alacarte.passes.sample import WORDS, Samples, sample_contexts
from alacarte.passes.work import WorkOptions
from alacarte.spelling.form import FormModel, FormOptions, learn_with_guesses
from alacarte.text.corpus import CorpusLike
from alacarte.text.tokenizers import TokenizerLike
from alacarte.transform.solve import SolveOptions
from alacarte.transform.transform import Transform
from alacarte.vectors.geometry import cosines, unit_rows
from alacarte.vectors.word_vectors import WordVectors

Singles = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]

KIND = "fusion weights"
FOLDS = 3
LEAST = 30  # samples of a size from which weights are learned
DEFINITION = 4  # contexts that a definition is worth, by the training nonces


@dataclass(frozen=True)
class Simulated:
    """What few-shot learning of known words gave at one number of contexts: mean cosines with the true vectors."""

    contexts: int
    words: int
    context_weight: float
    form_weight: float
    context_cosine: float
    form_cosine: float
    fused_cosine: float  # of weights learned without the word


@dataclass(frozen=True, eq=False)
class Parts:
    """What a fused vector is made of, row by row: `fused` is `context_part` + `form_part`, at the context's length."""

    fused: Singles
    context_part: Singles
    form_part: Singles
    counts: Longs
    context_weight: Doubles
    form_weight: Doubles
    agreement: Doubles  # cosine of the two
    origin: tuple[str, ...]  # "contexts", "spelling", "contexts and spelling"


@dataclass(frozen=True, eq=False)
class Fusion(Table):
    """How much contexts and spelling count, by the number of contexts.

    As a table, it is the simulation that it was learned from: a row a number of contexts.

    >>> fusion = Fusion((1, 4), np.array([[0.2, 0.6], [0.6, 0.2]]))
    >>> [weights.round(2).tolist() for weights in fusion.weights(np.array([1, 2, 4, 100]))]
    [[0.2, 0.4, 0.6, 0.6], [0.6, 0.4, 0.2, 0.2]]
    """

    sizes: tuple[int, ...]
    table: Doubles  # (sizes, 2): a and b
    common: Doubles | None = None  # the direction that all vectors share, which is taken out
    report: tuple[Simulated, ...] = ()

    def weights(self, counts: npt.ArrayLike) -> tuple[Doubles, Doubles]:
        """(a, b) for each number of contexts."""
        at = np.log2(np.maximum(np.asarray(counts, dtype=np.float64), 1))
        known = np.log2(np.array(self.sizes, dtype=np.float64))
        return np.interp(at, known, self.table[:, 0]), np.interp(at, known, self.table[:, 1])

    def combine(self, contexts: npt.ArrayLike, forms: npt.ArrayLike, counts: npt.ArrayLike) -> Parts:
        """Fuse row by row. A row of zeros means that there is nothing from that side; its count is then 0.

        The length stays that of the context vector: only the direction is learned.

        >>> fusion = Fusion((1,), np.array([[0.5, 0.5]]))
        >>> parts = fusion.combine([[2.0, 0.0], [0.0, 0.0]], [[0.0, 3.0], [0.0, 3.0]], [1, 0])
        >>> parts.fused.round(3).tolist(), parts.origin
        ([[1.4140000343322754, 1.4140000343322754], [0.0, 3.0]], ('contexts and spelling', 'spelling'))
        """
        x, f = np.atleast_2d(np.asarray(contexts, np.float64)), np.atleast_2d(np.asarray(forms, np.float64))
        n = np.atleast_1d(np.asarray(counts, dtype=np.int64))
        ux, uf, x_length, f_length = unit_rows(x), unit_rows(f), _lengths(x), _lengths(f)
        a, b = self.weights(n)
        has_x, has_f = x_length[:, 0] > 0, f_length[:, 0] > 0
        both = has_x & has_f
        a, b = np.where(both, a, has_x * 1.0), np.where(both, b, (has_f & ~has_x) * 1.0)
        agreement: Doubles = np.einsum("ij,ij->i", ux, uf)
        if self.common is not None:
            ux, uf = ux - np.outer(ux @ self.common, self.common), uf - np.outer(uf @ self.common, self.common)
        mixed_length = _lengths(a[:, None] * ux + b[:, None] * uf)
        length = np.where(has_x[:, None], x_length, f_length)
        scale = np.divide(length, mixed_length, out=np.zeros_like(length), where=mixed_length > 0)
        context_part, form_part = scale * a[:, None] * ux, scale * b[:, None] * uf
        names = ("nothing", "contexts", "spelling", "contexts and spelling")
        origin = tuple(names[code] for code in (has_x + 2 * has_f).tolist())
        return Parts(
            (context_part + form_part).astype(np.float32),
            context_part.astype(np.float32),
            form_part.astype(np.float32),
            n,
            a,
            b,
            agreement,
            origin,
        )

    # ------------------------------------------------------------------------------------------------ learn

    @classmethod
    def learn(cls, trials: "Trials") -> "Fusion":
        """The least squares weights at each size, and how well those learned on the other folds do."""
        ux, uf, v = unit_rows(trials.contexts), unit_rows(trials.forms), unit_rows(trials.truth)
        sizes, folds = trials.sizes, trials.folds
        used: list[int] = []
        table: list[Doubles] = []
        report: list[Simulated] = []
        for size in np.unique(sizes).tolist():
            here = np.flatnonzero(sizes == size)
            if len(here) < LEAST:
                continue
            a, b = weights = _least_squares(ux[here], uf[here], v[here])
            fused = np.empty((len(here), v.shape[1]))
            for fold in np.unique(folds[here]).tolist():
                inside = folds[here] == fold
                others = here[~inside] if (~inside).any() else here
                c, e = _least_squares(ux[others], uf[others], v[others])
                fused[inside] = c * ux[here[inside]] + e * uf[here[inside]]
            alone, spelled, best = (float(cosines(side, v[here]).mean()) for side in (ux[here], uf[here], fused))
            used.append(size)
            table.append(weights)
            report.append(Simulated(size, len(here), float(a), float(b), alone, spelled, best))
        if not used:
            raise NotEnoughData(
                f"fewer than {LEAST} words could be sampled at any number of contexts; give more text to learn from"
            )
        return cls(tuple(used), np.array(table), trials.common, tuple(report))

    def columns(self) -> Columns:
        """The simulation, a row a number of contexts."""
        return columns_of(self.report, Simulated)

    def save(self, path: str | PathLike[str]) -> None:
        """One file, written completely or not at all."""
        tensors = {"weights": self.table}
        if self.common is not None:
            tensors["common"] = self.common
        metadata = {"sizes": self.sizes, "report": [asdict(item) for item in self.report]}
        write_artifact(path, KIND, tensors, metadata)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Fusion":
        """What `save` wrote.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Fusion((1,), np.array([[0.5, 0.5]])).save(f"{folder}/fusion.safetensors")
        ...     print(Fusion.load(f"{folder}/fusion.safetensors").table.tolist())
        [[0.5, 0.5]]
        """
        return read_artifact(path, KIND, BadTransform).decode(cls.from_artifact)

    @classmethod
    def from_artifact(cls, artifact: Artifact) -> "Fusion":
        """The weights in an artifact of ours."""
        report = tuple(artifact.build(Simulated, item, "report") for item in artifact.value("report", list))
        common = np.array(artifact.tensor("common", np.float64, 1)) if "common" in artifact.tensors else None
        table = np.array(artifact.tensor("weights", np.float64, 2))
        return cls(tuple(artifact.value("sizes", list)), table, common, report)


def describe(artifact: Artifact) -> dict[str, Any]:
    """What is in a file with weights of contexts and spelling, for people."""
    fusion = Fusion.from_artifact(artifact)
    return {"contexts": list(fusion.sizes), "weights_of_contexts_and_spelling": fusion.table.round(3).tolist()}


@dataclass(frozen=True, eq=False)
class Trials:
    """Few-shot learning of known words: what contexts and spelling alone say of each, and the truth."""

    contexts: Doubles  # A u, by a transform learned without the word
    forms: Doubles  # by a form model learned without the word
    truth: Doubles
    sizes: Longs  # numbers of contexts
    folds: Longs  # a word's rows are all in the same one
    common: Doubles | None  # the direction of the mean of all vectors

    @classmethod
    def of(
        cls,
        vectors: WordVectors,
        samples: Samples,
        fit: Callable[[Iterable[str]], Transform],
        forms: Mapping[str, Singles],
        *,
        seed: int = 0,
    ) -> "Trials":
        """`fit(exclude)` learns a transform without some words: it is called once for each third of the words.

        `forms` has vectors from spelling for the sampled words, learned without them.
        """
        words = [vectors.words[row] for row in samples.rows.tolist()]
        usable = np.flatnonzero([word in forms and bool(forms[word].any()) for word in words])
        if not len(usable):
            raise NotEnoughData("no sampled word has a vector from its spelling; learn from more text")
        rows = samples.rows[usable]
        unique = np.unique(rows)
        folds = np.random.default_rng(seed).integers(FOLDS, size=len(unique))[np.searchsorted(unique, rows)]
        contexts = np.empty((len(rows), vectors.dimension))
        for fold in range(FOLDS):
            inside = folds == fold
            if inside.any():
                without = fit([vectors.words[row] for row in np.unique(rows[inside]).tolist()])
                contexts[inside] = without(samples.means[usable[inside]])
        mean = vectors.matrix.mean(axis=0, dtype=np.float64)
        return cls(
            contexts,
            np.stack([forms[words[i]] for i in usable.tolist()]).astype(np.float64),
            vectors.matrix[rows].astype(np.float64),
            samples.sizes[usable],
            folds,
            unit_rows(mean) if mean.any() else None,
        )


def simulate(
    vectors: WordVectors,
    sums: ContextSums,
    corpus: CorpusLike,
    *,
    without: Iterable[str] = (),
    tokenizer: TokenizerLike | None = None,
    seed: int = 0,
    work: WorkOptions | None = None,
    solve: SolveOptions | None = None,
    form: FormOptions | None = None,
) -> tuple[FormModel, Trials]:
    """A form model, and few-shot trials to learn its weight from: the text of the sums is read once more.

    `solve` says how transforms are learned (`Solve`; its `exclude` takes no part in anything), `form` how the form
    model is (`FormModel.learn`); `without` names words that take no part in the form model. Of `work`, the text is
    read with `threads`, `show_progress` and `callback`.
    """
    options = solve or {}
    excluded = set(options.get("exclude", ()))
    left_out = excluded | set(without)
    running = work or {}
    threads, show_progress = running.get("threads"), running.get("show_progress")
    samples = sample_contexts(
        vectors,
        corpus,
        sums,
        exclude=left_out,
        words=min(WORDS, len(vectors) // 5),
        tokenizer=tokenizer,
        seed=seed,
        threads=threads,
        show_progress=show_progress,
        callback=running.get("callback"),
    )
    words = [vectors.words[row] for row in np.unique(samples.rows).tolist()]
    spelling: FormOptions = {
        **(form or {}),
        "exclude": left_out,
        "held_out": words,
        "threads": threads,
        "show_progress": show_progress,
    }
    model, forms = learn_with_guesses(vectors, **spelling)

    def fit(more: Iterable[str]) -> Transform:
        fewer: SolveOptions = {**options, "exclude": {*excluded, *more}, "folds": 1}
        return Transform.fit(sums, vectors, **fewer)

    return model, Trials.of(vectors, samples, fit, forms, seed=seed)


def learn_form(
    vectors: WordVectors,
    sums: ContextSums,
    corpus: CorpusLike,
    *,
    tokenizer: TokenizerLike | None = None,
    work: WorkOptions | None = None,
    solve: SolveOptions | None = None,
) -> tuple[FormModel, Fusion]:
    """A form model and the weights that go with it; options as in `simulate`."""
    form, trials = simulate(vectors, sums, corpus, tokenizer=tokenizer, work=work, solve=solve)
    return form, Fusion.learn(trials)


def _lengths(rows: Doubles) -> Doubles:
    """The length of each row, as a column."""
    return np.asarray(np.linalg.norm(rows, axis=1, keepdims=True))


def _least_squares(x: Doubles, f: Doubles, v: Doubles) -> Doubles:
    """(a, b) that minimise Σ |v − a x − b f|², neither below 0."""
    from scipy.optimize import nnls  # only to learn: importing it takes longer than most calls

    weights: Doubles = nnls(np.column_stack([x.reshape(-1), f.reshape(-1)]), v.reshape(-1))[0]
    return weights
