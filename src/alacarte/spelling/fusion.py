"""Spelling and contexts together: v = w · x/|x| + (1 − w) · f/|f|, for x = A u from n contexts and f from spelling.

Both are taken without the direction that all vectors share: it tells how frequent a word is, not what it means. How
much contexts count is one smooth function of two numbers, with three that are learned:

    log w / (1 − w) = level + doubling · log₂ n + length · log(|f| / typical |f|)

The length of f says how much the spelling tells (ridge regression shrinks what it does not know). The three numbers are
those with which words that are related rank highest above others: few contexts of known words are sampled, each word is
left out of A and of the form model that predict it, and the chance that its vector is nearer to a relative of its own
than to one of another word (the AUC) is maximised, in closed form for normal cosines. See docs/form.md.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Doubles, Longs, Singles
from alacarte._io.artifact import Artifact, read_artifact, write_artifact
from alacarte._io.progress import phase
from alacarte._io.table import Columns, Table, columns_of
from alacarte.contexts.sums import ContextSums
from alacarte.errors import BadTransform, NotEnoughData
from alacarte.passes.sample import SAMPLED_WORDS, Samples, sample_contexts
from alacarte.passes.work import Work
from alacarte.spelling.form import FormModel, FormSettings, learn_with_guesses
from alacarte.text.corpus import CorpusLike
from alacarte.text.tokenizers import TokenizerLike
from alacarte.transform.register import Register, words_with_vectors
from alacarte.transform.solve import Solve
from alacarte.transform.transform import Transform
from alacarte.vectors.geometry import cosines, unit_rows
from alacarte.vectors.word_vectors import WordVectors

KIND, VERSION = "fusion weights", 2
FOLDS = 3
LEAST_SAMPLED_WORDS = 30  # from which weights are learned
DEFINITION = 8  # contexts that a definition is worth, by the training nonces
NEAREST, RELATIVES_AMONG = 10, 30_000  # nearest words that are taken for relatives, among the first 30,000 words
LEAST_RELATIVES = 2  # that a word must have
LETTERS = 4  # words that begin with the same 4 letters may be forms of one another: no relatives
NEIGHBOUR_CORRECTION = (
    -0.4,
    0.0,
    -1.0,
)  # added to what a word's neighbours say, by which contexts count too much; see docs/form.md
TYPICAL_WEIGHTS = (-0.3, 0.2, -1.0)  # toward which the weights are pulled; those of English words
TYPICAL_LENGTH = 1.4  # of a word's vector from spelling; that of GloVe's
PENALTY = 0.1  # of the AUC of a word, for each unit away


@dataclass(frozen=True)
class Simulated:
    """How well known words are predicted from one number of contexts.

    AUC: the chance that a word is nearer to a relative of its own than to another word's. Cosines are those with the
    word's own vector, without the common direction.
    """

    contexts: int
    words: int
    context_weight: float  # mean
    context_auc: float
    form_auc: float
    fused_auc: float  # by weights learned without the word
    context_cosine: float
    form_cosine: float
    fused_cosine: float


@dataclass(frozen=True, eq=False)
class Parts:
    """Vectors from contexts and what was known before, one per row: `fused` is `context_part` + `form_part` + `shift`.

    Attributes
    ----------
    fused, context_part, form_part : numpy.ndarray
        The vectors and their parts.
    shift : numpy.ndarray
        What adapted vectors have in common with those of words, as one row; zeros for plain ones.
    counts : numpy.ndarray
        How many contexts each vector comes from.
    context_weight, form_weight : numpy.ndarray
        The weights of the two directions.
    agreement : numpy.ndarray
        The cosine of the two directions.
    origin : tuple of str
        "contexts", "spelling", "contexts and spelling"; of phrases "parts", "contexts and parts".
    """

    fused: Singles
    context_part: Singles
    form_part: Singles
    counts: Longs
    context_weight: Doubles
    form_weight: Doubles
    agreement: Doubles
    origin: tuple[str, ...]
    shift: Doubles


@dataclass(frozen=True, eq=False)
class Fusion(Table):
    """How much contexts count beside spelling, by their number and by the length of the spelling's vector.

    As a table, it is how well known words are predicted with it, one row per number of contexts.

    Examples
    --------
    >>> fusion = Fusion(0.0, 1.0, -1.0, typical=2.0)
    >>> fusion.context_weights([1, 2, 4, 1], [2.0, 2.0, 2.0, 4.0]).round(2).tolist()
    [0.5, 0.73, 0.88, 0.33]
    """

    level: float  # log-odds of contexts for one context and a spelling of typical length
    doubling: float  # what twice as many contexts add to them
    length: float  # what an e-fold length of the spelling's vector adds
    typical: float  # that length, at the median
    common: Doubles | None = None  # the direction that all vectors share, which is taken out
    report: tuple[Simulated, ...] = ()

    @classmethod
    def usual(cls) -> "Fusion":
        """Return weights for vectors that none were learned for: those of English words."""
        level, doubling, length = TYPICAL_WEIGHTS
        return cls(level, doubling, length, TYPICAL_LENGTH)

    def context_weights(self, counts: npt.ArrayLike, lengths: npt.ArrayLike) -> Doubles:
        """Return w for each number of contexts and length of the spelling's vector; spelling has the weight 1 − w."""
        from scipy.special import expit

        n = np.maximum(np.asarray(counts, dtype=np.float64), 1)
        f = np.maximum(np.asarray(lengths, dtype=np.float64), 1e-6 * self.typical) / self.typical
        return np.asarray(expit(self.level + self.doubling * np.log2(n) + self.length * np.log(f)))

    def direction(self, rows: npt.ArrayLike) -> Doubles:
        """Return each row without the common direction, at length 1."""
        return without_direction(np.asarray(rows, dtype=np.float64), self.common)

    def combine(self, contexts: npt.ArrayLike, forms: npt.ArrayLike, counts: npt.ArrayLike) -> Parts:
        """Fuse row by row; a row of zeros means that there is nothing from that side.

        The length is that of the context vector: only the direction is learned.

        Examples
        --------
        >>> fusion = Fusion(0.0, 0.0, 0.0, typical=3.0)
        >>> parts = fusion.combine([[2.0, 0.0], [0.0, 0.0]], [[0.0, 3.0], [0.0, 3.0]], [1, 0])
        >>> parts.fused.round(3).tolist(), parts.origin
        ([[1.4140000343322754, 1.4140000343322754], [0.0, 3.0]], ('contexts and spelling', 'spelling'))
        """
        x, f = np.atleast_2d(np.asarray(contexts, np.float64)), np.atleast_2d(np.asarray(forms, np.float64))
        n = np.atleast_1d(np.asarray(counts, dtype=np.int64))
        x_length, f_length = _lengths(x), _lengths(f)
        has_x, has_f = x_length[:, 0] > 0, f_length[:, 0] > 0
        a = np.where(has_x & has_f, self.context_weights(n, f_length[:, 0]), has_x * 1.0)
        b = np.where(has_x & has_f, 1 - a, (has_f & ~has_x) * 1.0)
        ux, uf = self.direction(x), self.direction(f)
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
            np.asarray(np.einsum("ij,ij->i", ux, uf)),
            origin,
            np.zeros(x.shape[1]),
        )

    # ------------------------------------------------------------------------------------------------ learn

    @classmethod
    def learn(cls, trials: "Trials") -> "Fusion":
        """Learn the weights with the largest AUC, and measure how well those learned on other words do."""
        if len(np.unique(trials.words)) < LEAST_SAMPLED_WORDS:
            raise NotEnoughData(
                f"fewer than {LEAST_SAMPLED_WORDS} words could be sampled to weigh spelling and contexts by; "
                "give more text"
            )
        typical = float(np.median(np.linalg.norm(trials.forms, axis=1)))
        ux, uf = without_direction(trials.contexts, trials.common), without_direction(trials.forms, trials.common)
        sides = _Sides.of(ux, uf, trials.relatives, trials.scatter)
        features = np.column_stack(
            [
                np.ones(len(trials.sizes)),
                np.log2(trials.sizes),
                np.log(np.linalg.norm(trials.forms, axis=1) / typical),
            ]
        )
        every, correction = np.arange(len(trials.sizes)), np.array(trials.correction)
        held_out = np.empty(len(every))
        for fold in np.unique(trials.folds).tolist():
            others = every[trials.folds != fold]
            best = _best(sides, features, trials, others if len(others) else every)
            held_out[trials.folds == fold] = _odds(features[trials.folds == fold], best + correction)
        level, doubling, length = (_best(sides, features, trials, every) + correction).tolist()
        report = _simulated(trials, sides, held_out, (ux, uf))
        return cls(level, doubling, length, typical, trials.common, report)

    def columns(self) -> Columns:
        """Return the table's columns."""
        return columns_of(self.report, Simulated)

    def save(self, path: str | PathLike[str]) -> None:
        """Save the weights as one file, completely or not at all."""
        tensors = {"weights": np.array([self.level, self.doubling, self.length, self.typical])}
        if self.common is not None:
            tensors["common"] = self.common
        write_artifact(path, KIND, tensors, {"report": [asdict(item) for item in self.report]}, VERSION)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Fusion":
        """Load what `save` wrote.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Fusion(-0.5, 0.2, -1.0, 1.5).save(f"{folder}/fusion.safetensors")
        ...     print(Fusion.load(f"{folder}/fusion.safetensors").doubling)
        0.2
        """
        return read_artifact(path, KIND, BadTransform, VERSION).decode(cls.from_artifact)

    @classmethod
    def from_artifact(cls, artifact: Artifact) -> "Fusion":
        """Return the weights in an artifact of ours."""
        report = tuple(artifact.build(Simulated, item, "report") for item in artifact.value("report", list))
        common = np.array(artifact.tensor("common", np.float64, 1)) if "common" in artifact.tensors else None
        numbers = artifact.tensor("weights", np.float64, 1).tolist()
        if len(numbers) != 4:
            raise artifact.damaged("it does not hold four weights")
        level, doubling, length, typical = numbers
        return cls(level, doubling, length, typical, common, report)


@dataclass(frozen=True, eq=False)
class Trials:
    """Known words treated as new: what contexts and spelling alone say of each, and which words are its relatives."""

    words: Longs  # rows of the vectors
    contexts: Doubles  # A u, by a transform learned without the word
    forms: Doubles  # by a form model learned without the word
    truth: Doubles
    relatives: Doubles  # the mean of the relatives' directions, less that of all words' relatives
    scatter: Doubles  # the covariance of relative − other word's relative, about its mean
    sizes: Longs  # numbers of contexts
    folds: Longs  # a word's rows are all in the same one
    common: Doubles | None  # the direction of the mean of all vectors
    correction: tuple[float, float, float] = (0.0, 0.0, 0.0)  # what is added to the three weights that are learned

    @classmethod
    def of(
        cls,
        vectors: WordVectors,
        samples: Samples,
        fit: Callable[[Iterable[str]], Transform],
        forms: Mapping[str, Singles],
        seed: int = 0,
        centred: bool = False,
    ) -> "Trials":
        """Return trials of the sampled words, whose relatives are the nearest words that are spelled otherwise.

        `fit(exclude)` learns a transform without some words: it is called once for each third of the words. `forms` has
        vectors from spelling for the sampled words, learned without them. Of `centred` vectors, no direction that all
        share is taken out.
        """
        mean = vectors.matrix.mean(axis=0, dtype=np.float64)
        common = unit_rows(mean) if mean.any() and not centred else None
        spelled = [row for row in np.unique(samples.rows).tolist() if _says_something(forms, vectors.words[row])]
        related = _neighbours(vectors, spelled, common)
        usable = np.flatnonzero(
            np.isin(samples.rows, [row for row, others in related.items() if len(others) >= LEAST_RELATIVES])
        )
        if not len(usable):
            raise NotEnoughData("no sampled word has a vector from its spelling and relatives; learn from more text")
        rows = samples.rows[usable]
        unique, place = np.unique(rows, return_inverse=True)
        folds = np.random.default_rng(seed).integers(FOLDS, size=len(unique))[place]
        contexts = np.empty((len(rows), vectors.dimension))
        for fold in range(FOLDS):
            inside = folds == fold
            if inside.any():
                without = fit([vectors.words[row] for row in np.unique(rows[inside]).tolist()])
                contexts[inside] = without(samples.means[usable[inside]])
        centres, scatter = _moments(vectors, [related[row] for row in unique.tolist()])
        return cls(
            rows,
            contexts,
            np.stack([forms[vectors.words[row]] for row in unique.tolist()]).astype(np.float64)[place],
            vectors.matrix[rows].astype(np.float64),
            centres[place],
            scatter,
            samples.sizes[usable],
            folds,
            common,
            NEIGHBOUR_CORRECTION,
        )


def simulate(
    vectors: WordVectors,
    sums: ContextSums,
    corpus: CorpusLike,
    *,
    tokenizer: TokenizerLike | None = None,
    work: Work | None = None,
    solve: Solve | None = None,
    form: FormSettings | None = None,
    register: Register | None = None,
) -> tuple[FormModel, Trials]:
    """Return a form model, and few-shot trials to learn its weight from: the text of the sums is read once more.

    With `register`, vectors are those that are adapted to this text.

    Of `work`, `threads`, `show_progress` and `callback` count. `solve` says how transforms are learned, `form` how the
    form model is, and its `seed` is that of everything that is drawn. What `solve` excludes takes no part in anything;
    what `form` excludes takes part in the transforms alone.
    """
    work, solve, form = work or Work(), solve or Solve(), form or FormSettings()
    left_out = {*solve.exclude, *form.exclude}
    samples = sample_contexts(
        vectors,
        corpus,
        sums if register is None else sums.by_weight(),
        exclude=left_out,
        words=min(SAMPLED_WORDS, len(vectors) // 5),
        tokenizer=tokenizer,
        seed=form.seed,
        threads=work.threads,
        show_progress=work.show_progress,
        callback=work.callback,
    )
    words = [vectors.words[row] for row in np.unique(samples.rows).tolist()]
    held_out = replace(form, exclude=left_out, held_out=words)
    model, forms = learn_with_guesses(vectors, held_out, work.threads, work.show_progress)

    def fit(more: Iterable[str]) -> Transform:
        return Transform.learn(sums, vectors, replace(solve, exclude={*solve.exclude, *more}, folds=1))

    with phase("weighing spelling and contexts", work.show_progress):
        if register is None:
            return model, Trials.of(vectors, samples, fit, forms, seed=form.seed)
        adaptation = register.adaptation()
        shared = words_with_vectors(sums, vectors)
        assert shared is not None  # these are sums over the whole vocabulary

        def adapt(more: Iterable[str]) -> Transform:
            rows = [vectors.index(word) for word in {*solve.exclude, *more}]
            kept = shared.only(~np.isin(shared.words, rows))
            plain = Transform(np.eye(vectors.dimension, dtype=np.float32), settings=sums.settings)
            return register.of_text(kept, vectors).adaptation().transform(plain, shifted=False)

        compared = {word: adaptation.compared_forms(row[None])[0].astype(np.float32) for word, row in forms.items()}
        return model, Trials.of(adaptation.words(vectors), samples, adapt, compared, seed=form.seed, centred=True)


def learn_form(
    vectors: WordVectors,
    sums: ContextSums,
    corpus: CorpusLike,
    *,
    tokenizer: TokenizerLike | None = None,
    work: Work | None = None,
    solve: Solve | None = None,
    register: Register | None = None,
) -> tuple[FormModel, Fusion]:
    """Return a form model and the weights that go with it; options as in `simulate`."""
    form, trials = simulate(vectors, sums, corpus, tokenizer=tokenizer, work=work, solve=solve, register=register)
    return form, Fusion.learn(trials)


def _lengths(rows: Doubles) -> Doubles:
    """Return the length of each row, as a column."""
    return np.asarray(np.linalg.norm(rows, axis=1, keepdims=True))


def without_direction(rows: Doubles, direction: Doubles | None) -> Doubles:
    """Return each row without a direction, at length 1."""
    return unit_rows(rows if direction is None else rows - np.outer(rows @ direction, direction))


def _odds(features: Doubles, weights: Doubles) -> Doubles:
    from scipy.special import expit

    return np.asarray(expit(features @ weights))


# ------------------------------------------------------------------------------------------------- relatives


def _says_something(forms: Mapping[str, Singles], word: str) -> bool:
    return word in forms and bool(forms[word].any())


def _neighbours(vectors: WordVectors, rows: Sequence[int], common: Doubles | None) -> dict[int, Longs]:
    """Return the words nearest to each row without the common direction, less those of the same first letters."""
    among = without_direction(vectors.matrix[:RELATIVES_AMONG].astype(np.float64), common).astype(np.float32)
    words, neighbours = vectors.words, {}
    for low in range(0, len(rows), 1000):
        part = np.array(rows[low : low + 1000], dtype=np.int64)
        near = without_direction(vectors.matrix[part].astype(np.float64), common).astype(np.float32) @ among.T
        wanted = min(NEAREST + 1, near.shape[1])  # a word is its own nearest neighbour
        nearest = np.argpartition(-near, wanted - 1, axis=1)[:, :wanted]
        for row, others in zip(part.tolist(), nearest.tolist(), strict=True):
            start = words[row][:LETTERS]
            neighbours[row] = np.array([other for other in others if words[other][:LETTERS] != start], dtype=np.int64)
    return neighbours


def _moments(vectors: WordVectors, related: Sequence[Longs]) -> tuple[Doubles, Doubles]:
    """Return (mean direction of each word's relatives less that of all, scatter of relative − other's relative)."""
    d = vectors.dimension
    centres, within, total, count = np.empty((len(related), d)), np.zeros((d, d)), np.zeros((d, d)), 0
    for i, rows in enumerate(related):
        units = unit_rows(vectors.matrix[rows])
        centres[i] = units.mean(axis=0)
        own = units - centres[i]
        within += own.T @ own / max(len(rows) - 1, 1)
        total += units.T @ units / len(rows)
        count += 1
    mean = centres.mean(axis=0)
    return centres - mean, within / count + total / count - np.outer(mean, mean)


# --------------------------------------------------------------------------------------------------- weights


@dataclass(frozen=True, eq=False)
class _Sides:
    """Of each trial: how near contexts and spelling are to the relatives, and how cosines with other words scatter."""

    context_near: Doubles
    form_near: Doubles
    context_scatter: Doubles
    form_scatter: Doubles
    crossed: Doubles

    @classmethod
    def of(cls, x: Doubles, f: Doubles, relatives: Doubles, scatter: Doubles) -> "_Sides":
        xs, fs = x @ scatter, f @ scatter
        pairs = ((x, relatives), (f, relatives), (xs, x), (fs, f), (xs, f))
        return cls(*(np.einsum("ij,ij->i", one, other) for one, other in pairs))

    def auc(self, w: Doubles) -> tuple[Doubles, Doubles]:
        """Return (AUC of each trial by a weight for its contexts, its derivative): Φ(mean difference / deviation)."""
        from scipy.special import ndtr

        near = w * self.context_near + (1 - w) * self.form_near
        scatter = w**2 * self.context_scatter + (1 - w) ** 2 * self.form_scatter + 2 * w * (1 - w) * self.crossed
        deviation = np.sqrt(np.maximum(scatter, 1e-12))
        z = near / deviation
        slope = w * self.context_scatter - (1 - w) * self.form_scatter + (1 - 2 * w) * self.crossed
        change = (self.context_near - self.form_near) / deviation - z * slope / deviation**2
        return np.asarray(ndtr(z)), np.asarray(np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * change)


def _best(sides: _Sides, features: Doubles, trials: Trials, rows: Longs) -> Doubles:
    """Return the three weights with the largest mean AUC over some trials, each number of contexts counting alike."""
    from scipy.optimize import minimize  # only to learn: importing it takes longer than most calls

    few = _Sides(*(value[rows] for value in vars(sides).values()))
    z, sizes = features[rows], trials.sizes[rows]
    counted = 1.0 / np.unique(sizes, return_counts=True)[1][np.unique(sizes, return_inverse=True)[1]]
    counted /= counted.sum()
    worth = PENALTY / len(np.unique(trials.words[rows]))

    def loss(weights: Doubles) -> tuple[float, Doubles]:
        w = _odds(z, weights)
        auc, change = few.auc(w)
        away = weights - np.array(TYPICAL_WEIGHTS)
        gradient = -((counted * change * w * (1 - w)) @ z) + worth * away
        return float(-counted @ auc + 0.5 * worth * away @ away), gradient

    return np.asarray(minimize(loss, np.array(TYPICAL_WEIGHTS), jac=True, method="BFGS").x)


def _simulated(
    trials: Trials, sides: _Sides, weights: Doubles, parts: tuple[Doubles, Doubles]
) -> tuple[Simulated, ...]:
    """Return one row per number of contexts: AUC and cosines of contexts, of spelling and of both."""
    truth = without_direction(trials.truth, trials.common)
    fused = weights[:, None] * parts[0] + (1 - weights[:, None]) * parts[1]
    columns = [weights]
    columns += [sides.auc(w)[0] for w in (np.ones(len(weights)), np.zeros(len(weights)), weights)]
    columns += [cosines(side, truth) for side in (*parts, fused)]
    result = []
    for size in np.unique(trials.sizes).tolist():
        here = trials.sizes == size
        result.append(Simulated(size, int(here.sum()), *(float(column[here].mean()) for column in columns)))
    return tuple(result)
