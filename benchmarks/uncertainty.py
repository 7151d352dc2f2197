"""Do the intervals cover what they say, does the test keep its size, and what does it cost?

    python benchmarks/uncertainty.py simulated
    python benchmarks/uncertainty.py words   CORPUS --model glove.6B.100d --vectors glove.6B.100d.txt
    python benchmarks/uncertainty.py spelled CORPUS --model glove.6B.100d --vectors glove.6B.100d.txt
    python benchmarks/uncertainty.py reprints CORPUS --model glove.6B.100d --vectors glove.6B.100d.txt
    python benchmarks/uncertainty.py compare CORPUS --model glove.6B.100d --vectors glove.6B.100d.txt
    python benchmarks/uncertainty.py cost    CORPUS --model glove.6B.100d --vectors glove.6B.100d.txt

CORPUS is text, a document a line. `words`, `spelled` (with spelling) and `compare` draw contexts of frequent words:
what a few of them say is compared with the vector from all. A model that adapts to texts is adapted to this one.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from alacarte import ALaCarte, WordVectors
from alacarte.comparing.uses import compare_uses
from alacarte.contexts.averaging import divisor
from alacarte.model.induced import as_compared
from alacarte.passes.collect import count_words
from alacarte.senses.occurrences import gather
from alacarte.spelling.form import FormModel
from alacarte.spelling.prior import Prior
from alacarte.spelling.uncertainty import FusedUncertainty
from alacarte.transform.register import Adaptation
from alacarte.transform.transform import Transform
from alacarte.uncertainty.spread import TypicalSpread, deviations
from alacarte.uncertainty.uncertainty import Uncertainty
from alacarte.vectors.geometry import cosines, unit_rows

Doubles = npt.NDArray[np.float64]
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


# ------------------------------------------------------------------------------------------------- contexts


class Contexts:
    """Contexts of words: a sum, a weight and a document for each, and the mean of all of them."""

    def __init__(
        self, words: list[str], rows: list[Doubles], weights: list[Doubles], documents: list[Doubles], truth: Doubles
    ) -> None:
        self.words, self.rows, self.weights, self.documents, self.truth = words, rows, weights, documents, truth


def real_contexts(
    options: argparse.Namespace, model: ALaCarte
) -> tuple[Contexts, Transform, WordVectors, Adaptation | None]:
    """Contexts of words drawn from those frequent in the corpus, and how vectors of them are compared with words."""
    counts = count_words(model.vectors, Path(options.corpus), model.tokenizer)
    frequent = np.flatnonzero((counts >= options.least) & (counts < 100_000))
    usable = [row for row in frequent if model.vectors.words[row].isalpha()]
    rng = np.random.default_rng(options.draw)
    chosen = rng.choice(usable, min(options.words, len(usable)), replace=False)
    words = [model.vectors.words[row] for row in chosen]
    gathered = gather(model, Path(options.corpus), words, limit=3000)
    collected = model.collect(Path(options.corpus), words)
    adaptation = model.adapted_to(collected)
    collected, transform, vectors = as_compared(adaptation, collected, model.transform, model.vectors)
    weights = divisor(
        collected.settings.averaging, np.ones(len(gathered)), gathered.totals, (gathered.totals > 0).astype(float)
    )
    order = np.argsort(gathered.targets, kind="stable")
    bounds = np.searchsorted(gathered.targets[order], np.arange(len(words) + 1))
    places = [order[bounds[i] : bounds[i + 1]] for i in range(len(words))]
    print(f"{len(words)} words, {len(gathered):,} contexts")
    rows, documents = gathered.sums.astype(np.float64), gathered.documents
    parts = ([array[at] for at in places] for array in (rows, weights, documents))
    return Contexts(words, *parts, collected.means()), transform, vectors, adaptation


def simulated_contexts(rng: np.random.Generator, kind: str, dimension: int = 50, words: int = 300) -> Contexts:
    """Contexts whose mean is known: normal; heavy-tailed with another scale for each word; or alike in documents."""
    shape = np.diag(1 / np.arange(1, dimension + 1) ** 0.5)
    truth = 1.2 * rng.normal(size=(words, dimension)) @ shape
    rows, documents = [], []
    size = 1200
    for word in range(words):
        noise = rng.normal(size=(size, dimension))
        numbers = np.arange(size)
        if kind == "heavy-tailed":
            noise *= np.exp(0.3 * rng.normal()) * np.sqrt(3 / rng.chisquare(5, (size, 1)))
        if kind == "in documents":
            numbers = numbers // 4
            noise = np.sqrt(0.5) * noise + np.sqrt(0.5) * rng.normal(size=(size, dimension))[numbers]
        rows.append(truth[word] + 4 * noise @ shape)
        documents.append(numbers)
    return Contexts([f"w{i}" for i in range(words)], rows, [np.ones(size)] * words, documents, truth)


def drawn(
    data: Contexts, n: int, groups: int, rng: np.random.Generator, first: bool | None = None
) -> tuple[Doubles, Doubles, Doubles]:
    """Group sums, group weights and the numbers of about n contexts of each word; groups are of whole documents.

    `first` draws from one half of the documents or from the other.
    """
    sums = np.zeros((len(data.words), groups, data.truth.shape[1]))
    weights = np.zeros((len(data.words), groups))
    contexts = np.zeros(len(data.words))
    for word, documents in enumerate(data.documents):
        names, inverse = np.unique(documents, return_inverse=True)
        allowed = np.ones(len(names), dtype=bool) if first is None else (names % 2 == 0) == first
        order = rng.permutation(np.flatnonzero(allowed))
        place = np.full(len(names), len(names))
        place[order] = np.arange(len(order))
        by_document = np.argsort(place[inverse], kind="stable")[:n]
        group = rng.integers(0, groups, len(names))[inverse[by_document]]
        np.add.at(sums[word], group, data.rows[word][by_document])
        np.add.at(weights[word], group, data.weights[word][by_document])
        contexts[word] = len(by_document)
    return sums, weights, contexts


Measure = Callable[[Doubles, Doubles, Doubles, TypicalSpread | None], Uncertainty]
Limit = Callable[[int], Doubles]


def of_contexts(data: Contexts, transform: Transform, vectors: WordVectors) -> tuple[Measure, Limit]:
    """The uncertainty of vectors from drawn contexts, and what it is about: the vectors from all contexts."""
    matrix = transform.matrix.astype(np.float64)
    intercept = np.zeros(len(matrix)) if transform.intercept is None else transform.intercept.astype(np.float64)

    def measure(sums: Doubles, weights: Doubles, contexts: Doubles, typical: TypicalSpread | None) -> Uncertainty:
        targets = deviations(sums, weights, contexts, matrix, intercept)
        return Uncertainty(data.words, lambda rows: targets[rows], vectors, typical)

    return measure, lambda n: data.truth @ matrix.T + intercept


def of_both(data: Contexts, transform: Transform, vectors: WordVectors, prior: Prior) -> tuple[Measure, Limit]:
    """The same with spelling, learned without these words: the limit has the weights of n contexts, too."""
    if prior.common is not None:
        keep = np.eye(vectors.dimension) - np.outer(prior.common, prior.common)
        transform = replace(transform, matrix=(keep @ transform.matrix).astype(np.float32))
    alone, limit = of_contexts(data, transform, vectors)
    forms = prior.rows(data.words)

    def measure(sums: Doubles, weights: Doubles, contexts: Doubles, typical: TypicalSpread | None) -> Uncertainty:
        plain = alone(sums, weights, contexts, typical)
        both = FusedUncertainty(plain.keys, plain.deviations_of, vectors, typical)
        both.prior = prior
        return both

    def fused(n: int) -> Doubles:
        rows = prior.combine(limit(n), forms, np.full(len(forms), n), data.words).fused.astype(np.float64)
        return rows if prior.adaptation is None else prior.adaptation.compared(rows)

    return measure, fused


# -------------------------------------------------------------------------------------------------- coverage


def coverage(
    data: Contexts, made: tuple[Measure, Limit], vectors: WordVectors, options: argparse.Namespace, chosen: bool
) -> Iterator[dict[str, str]]:
    """A row for each number of contexts: how often intervals hold what the vector from all contexts says.

    Standard errors are those of the mean over words: the intervals of one word belong together.
    """
    among = min(options.among, len(vectors))
    units = unit_rows(vectors.matrix[:among].astype(np.float64))
    rng = np.random.default_rng(options.seed)
    typical: TypicalSpread | None = None
    index = vectors.key_to_index
    for n in sorted(options.sizes, reverse=True):
        uncertainty = made[0](*drawn(data, n, options.groups, rng), typical)
        truth = unit_rows(made[1](n))
        true = truth @ units.T
        if n == 16:
            typical = uncertainty.typical  # serves n = 1, which tells nothing of spread: as if learned from other words
        kinds: dict[str, list[Doubles]] = {"any": [], "near": [], "chosen": []}
        reached = []
        for number, word in enumerate(data.words):
            near = [row for row in np.argsort(-true[number])[:12] if vectors.words[row] != word][:5]
            lists = {
                "any": uncertainty.similarities(
                    word, [vectors.words[row] for row in rng.integers(0, among, 5)], options.level
                ),
                "near": uncertainty.similarities(word, [vectors.words[row] for row in near], options.level),
            }
            if chosen and number % options.step == 0:
                lists["chosen"] = uncertainty.nearest(word, 5, level=options.level, among=among)
            for kind, similarities in lists.items():
                values = [(item, true[number, index[item.other]]) for item in similarities]
                rows = [
                    (item.conf_low <= value <= item.conf_high, item.conf_high - item.conf_low, item.estimate - value)
                    for item, value in values
                ]
                kinds[kind].append(np.mean(rows, axis=0))
            about = uncertainty._searched(word)
            reached.append(float(cosines(about.query(about.mean), truth[number])))
        row = {
            "n": str(n),
            "confidence": f"{uncertainty.confidence.mean():.3f}",
            "reached": f"{np.mean(reached):.3f}",
        }
        for kind, by_word in kinds.items():
            if by_word:
                covered, width, bias = np.mean(by_word, axis=0)
                error = np.std([one[0] for one in by_word]) / np.sqrt(len(by_word))
                row |= {
                    kind: f"{covered:.3f} ±{error:.3f}",
                    f"{kind} width": f"{width:.2f}",
                    f"{kind} bias": f"{bias:+.3f}",
                }
        yield row


def show(rows: Iterator[dict[str, str]]) -> None:
    listed = list(rows)
    names = list(listed[0])
    print("| " + " | ".join(names) + " |\n|" + "---|" * len(names))
    for row in sorted(listed, key=lambda row: int(row["n"])):
        print("| " + " | ".join(row[name] for name in names) + " |", flush=True)


def simulated(options: argparse.Namespace) -> None:
    for kind in ("normal", "heavy-tailed", "in documents"):
        rng = np.random.default_rng(options.seed)
        data = simulated_contexts(rng, kind)
        others = WordVectors([f"v{i}" for i in range(2000)], rng.normal(size=(2000, data.truth.shape[1])))
        print(f"\ncontexts {kind}, {options.level:.0%} intervals")
        if kind == "in documents":  # of four contexts each
            options = argparse.Namespace(**{**vars(options), "sizes": [size for size in options.sizes if size >= 8]})
        made = of_contexts(data, Transform(np.eye(data.truth.shape[1])), others)
        show(coverage(data, made, others, options, chosen=False))


def words(options: argparse.Namespace) -> None:
    data, transform, vectors, _ = real_contexts(options, open_model(options))
    print(f"{options.level:.0%} intervals, {options.groups} groups, neighbours among {options.among:,} words")
    show(coverage(data, of_contexts(data, transform, vectors), vectors, options, chosen=True))


def spelled(options: argparse.Namespace) -> None:
    model = open_model(options)
    data, transform, vectors, adaptation = real_contexts(options, model)
    model = model.with_form(FormModel.fit(model.vectors, exclude=data.words, ridge=1.0))
    print(f"contexts and spelling, {options.level:.0%} intervals, {options.groups} groups")
    made = of_both(data, transform, vectors, replace(model.prior, adaptation=adaptation))
    show(coverage(data, made, vectors, options, chosen=True))


# -------------------------------------------------------------------------------------------------- reprints


def reprints(options: argparse.Namespace) -> None:
    """Coverage by `induce` where documents are drawn from all, once each, or twice with 1 % of their words changed.

    A twentieth of the documents is drawn in each of `rounds`; the truth is the vector from all. Nothing is adapted, so
    that both are in one space.
    """
    model = open_model(options).without_register()
    texts = [line for line in Path(options.corpus).read_text(encoding="utf-8").splitlines() if line.strip()]
    counts = count_words(model.vectors, texts, model.tokenizer)
    rng = np.random.default_rng(options.draw)
    frequent = [row for row in np.flatnonzero(counts >= options.least) if model.vectors.words[row].isalpha()]
    words = [model.vectors.words[row] for row in rng.choice(frequent, min(options.words, len(frequent)), replace=False)]
    every = model.induce(texts, words, threads=options.threads, show_progress=False)
    among = model.vectors.words[: options.among]
    others = rng.choice([word for word in among if word.isalpha()], (len(words), 5))
    truth = np.array(
        [cosines(every[word], model.vectors[near.tolist()]) for word, near in zip(words, others, strict=True)]
    )
    print(f"{len(texts):,} documents, {len(words)} words, {options.rounds} rounds, {options.groups} groups")
    print("| documents | coverage | standard error |\n|---|---|---|")
    for name, share in (("once", None), ("twice, exactly", 0.0), ("twice, 1 % of words changed", 0.01)):
        covered = []
        for _ in range(options.rounds):
            drawn = [texts[row] for row in rng.choice(len(texts), len(texts) // 20, replace=False)]
            copies = [] if share is None else [changed(rng, text, share, words) for text in drawn]
            found = model.induce(drawn + copies, words, spread=options.groups, threads=1, show_progress=False)
            certain = found.uncertainty
            for word, near, true in zip(words, others, truth, strict=True):
                if word in certain.keys:
                    limits = [certain.interval(word, other) for other in near]
                    covered.append(
                        np.mean([low <= value <= high for (low, high), value in zip(limits, true, strict=True)])
                    )
        print(f"| {name} | {np.mean(covered):.3f} | {np.std(covered) / np.sqrt(len(covered)):.3f} |", flush=True)


def changed(rng: np.random.Generator, text: str, share: float, kept: list[str]) -> str:
    """A text with a share of its words replaced by others of it, but not the words in question."""
    words = text.split()
    for place in np.flatnonzero(rng.random(len(words)) < share):
        if words[place].lower().strip(".,;:") not in kept:
            words[place] = words[rng.integers(len(words))]
    return " ".join(words)


# --------------------------------------------------------------------------------------------------- compare


def compared(options: argparse.Namespace) -> None:
    """Rejections at 5 % where nothing differs, and where a share of the second corpus's contexts is another word's."""
    data, transform, vectors, _ = real_contexts(options, open_model(options))
    measure = of_contexts(data, transform, vectors)[0]
    rng = np.random.default_rng(options.seed)
    sizes = [(8, 8), (16, 16), (64, 64), (256, 256), (16, 256)]
    shares = (0.0, 0.1, 0.25, 0.5)
    print("| contexts | " + " | ".join(f"{share:.0%} others" if share else "no difference" for share in shares) + " |")
    print("|---|" + "---|" * len(shares))
    for n_a, n_b in sizes:
        cells = []
        for share in shares:
            rejected = []
            for _ in range(options.rounds):
                mixed = _mixed(data, share, rng)
                sides = [
                    measure(*drawn(source, n, options.groups, rng, first), None)
                    for source, n, first in ((data, n_a, True), (mixed, n_b, False))
                ]
                rejected += [item.p_value < 0.05 for item in compare_uses(*sides)]
            cells.append(f"{np.mean(rejected):.3f}")
        print(f"| {n_a}, {n_b} | " + " | ".join(cells) + " |", flush=True)


def _mixed(data: Contexts, share: float, rng: np.random.Generator) -> Contexts:
    """Each word with a share of another's contexts instead of its own."""
    if not share:
        return data
    order = rng.permutation(len(data.words))
    rows, weights = [], []
    for word, other in zip(order, np.roll(order, 1), strict=True):
        own, theirs = data.rows[word], data.rows[other]
        swap, others = rng.random(len(own)) < share, rng.integers(0, len(theirs), len(own))
        rows.append(np.where(swap[:, None], theirs[others], own))
        weights.append(np.where(swap, data.weights[other][others], data.weights[word]))
    back = np.argsort(order)
    return Contexts(
        data.words, [rows[place] for place in back], [weights[place] for place in back], data.documents, data.truth
    )


# ------------------------------------------------------------------------------------------------------ cost


def cost(options: argparse.Namespace) -> None:
    """Processor seconds and bytes of one pass: not adapted, adapted, and with spread; in turn."""
    model = open_model(options)
    counts = count_words(model.vectors, Path(options.corpus), model.tokenizer)
    rng = np.random.default_rng(0)
    every = [word for word, count in zip(model.vectors.words, counts, strict=True) if count >= 10]
    ways: dict[str, tuple[ALaCarte, int | None]] = {"not adapted": (model.without_register(), None)}
    ways |= {"adapted": (model, None), "spread=8": (model, 8), "spread=16": (model, 16)}
    for size in (1000, min(20_000, len(every))):
        targets = rng.choice(every, size, replace=False).tolist()
        times: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(3):
            for way, (by, spread) in ways.items():
                began = time.process_time()
                sums = by.collect(
                    Path(options.corpus), targets, spread=spread, threads=options.threads, show_progress=False
                )
                times[way].append(time.process_time() - began)
        print(f"{size:,} targets, {int(sums.occurrences.sum()):,} occurrences in {sums.tokens_read:,} tokens:")
        for way, seconds in times.items():
            ratio = min(seconds) / min(times["not adapted"])
            print(f"  {way:<12} {min(seconds):5.1f} s, {ratio:.2f} × the time")


def open_model(options: argparse.Namespace) -> ALaCarte:
    if Path(options.model).is_dir():
        return ALaCarte.load(options.model, vectors=options.vectors)
    return ALaCarte.pretrained(options.model, vectors=options.vectors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["simulated", "words", "spelled", "reprints", "compare", "cost"])
    parser.add_argument("corpus", nargs="?")
    parser.add_argument("--model", default="glove.6B.50d")
    parser.add_argument("--vectors")
    parser.add_argument("--words", type=int, default=300)
    parser.add_argument("--least", type=int, default=3000, help="occurrences of these words")
    parser.add_argument("--among", type=int, default=20_000)
    parser.add_argument("--groups", type=int, default=16)
    parser.add_argument("--level", type=float, default=0.95)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--step", type=int, default=3, help="neighbours are looked for with each so many-th word")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draw", type=int, default=1, help="which words; the method was made looking at those of 0")
    options = parser.parse_args()
    parts = {"simulated": simulated, "words": words, "spelled": spelled, "reprints": reprints}
    (parts | {"compare": compared, "cost": cost})[options.what](options)


if __name__ == "__main__":
    main()
