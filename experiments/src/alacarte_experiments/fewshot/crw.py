"""Contextual rare words (Figure 2): similarity of rare words to frequent ones, by the number of contexts.

Each shuffle cuts a rare word's contexts into disjoint subsets of 1, 2, 4 … contexts. The rare words are taken out of
the vectors before anything is learned: so they are neither in the regression nor, as words, in the corpus.

All text is read once: what a system needs of a context is its sum of word vectors, so that shuffles are sums of rows.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from alacarte import ALaCarte, Corpus, Document, Targets, WordVectors, collect
from alacarte.contexts.reading import ReadingOptions
from alacarte.errors import BadData
from alacarte.text.tokenizers import get_tokenizer
from alacarte.vectors.geometry import unit_rows
from alacarte_experiments.baselines import Nonce2Vec, RetrainedWord2Vec
from alacarte_experiments.fewshot import published
from alacarte_experiments.fewshot.data import RareWords, read_rare_words
from alacarte_experiments.fewshot.informed import in_space
from alacarte_experiments.fewshot.spelled import Spelled
from alacarte_experiments.fewshot.systems import System, Workbench, check_overlap, without_words
from alacarte_experiments.lab.measures import spearman
from alacarte_experiments.lab.progress import progress
from alacarte_experiments.lab.results import Exclusion, Results, Row, mean_row
from alacarte_experiments.lab.settings import Settings
from alacarte_experiments.lab.store import Store

Doubles = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Places = npt.NDArray[np.int64]

KEPT = 3  # context weightings whose subset sums stay in memory
FEWER = {"nonce2vec": 10, "word2vec": 1}  # most shuffles for systems that take long for each


def run(settings: Settings, store: Store, *, vectors: WordVectors | None = None) -> Results:
    """All systems of the settings on a data set of rare words."""
    return evaluate(read_rare_words(settings.data, settings.contexts), settings, store, vectors=vectors)


def evaluate(
    data: RareWords,
    settings: Settings,
    store: Store,
    *,
    vectors: WordVectors | None = None,
    corpus: Corpus | None = None,
    trials: "Trials | None" = None,
) -> Results:
    """All systems of the settings; `trials` made before for the same data and vectors spare reading them again."""
    corpus = settings.open_corpus() if corpus is None else corpus
    if trials is None:
        trials = Trials(data, settings, WordVectors.load(settings.vectors) if vectors is None else vectors)
    known = trials  # for the closure below, which mypy would not believe otherwise
    bench = Workbench(trials.vectors, corpus, store, tested=trials.words)
    rows: list[Row] = []
    identity = [[[str(pair), pair.score] for pair in trials.pairs], data.contexts]
    left_out = list(trials.exclusions)
    outcomes = bench.each(settings, identity, lambda system: _run(system, bench, known), "rare words")
    for system, outcome in outcomes:
        for size, values, used in zip(settings.sizes, outcome["values"], outcome["pairs"], strict=True):
            lost = len(trials.pairs_at(size)) - used
            if lost:
                left_out.append(
                    Exclusion(f"pairs at {size} contexts by {system.name}", lost, "a word is unknown to it")
                )
            shuffles = len(values)
            rows.append(mean_row(values, used, system=system.name, size=size, metric="spearman", shuffles=shuffles))
    rows += _differences(outcomes, trials)
    protocol = bench.protocol(settings) | {"rare_words": len(data.contexts), "hidden_words": trials.hidden}
    return Results(settings, (*rows, *published.crw_rows()), tuple(left_out), protocol)


def _differences(outcomes: list[tuple[System, dict[str, Any]]], trials: "Trials") -> list[Row]:
    """How far each à la carte is ahead of the best baseline at each size, shuffle by shuffle.

    The shuffles are the same for all, so the error of the difference is smaller than that of either. It is an error
    over shuffles of the contexts, not over pairs of words.
    """
    others = [(system, outcome["values"]) for system, outcome in outcomes if system.is_baseline]
    rows: list[Row] = []
    for system, outcome in outcomes:
        ours = outcome["values"]
        for place, size in enumerate(trials.settings.sizes):
            same = [(other, values[place]) for other, values in others if len(values[place]) == len(ours[place])]
            if system.kind != "alacarte" or not same or len(ours[place]) < 2:
                continue
            best, theirs = max(same, key=lambda item: float(np.mean(item[1])))
            ahead = np.array(ours[place]) - np.array(theirs)
            labels = {"system": f"{system.name}: ahead of the best baseline", "baseline": best.name, "size": size}
            pairs = len(trials.pairs_at(size))
            rows.append(mean_row(ahead, pairs, **labels, metric="difference", shuffles=len(ahead)))
    return rows


class Trials:
    """The contexts as token lists with the place of the rare word, and the shuffles of them."""

    def __init__(self, data: RareWords, settings: Settings, vectors: WordVectors) -> None:
        check_overlap(vectors, [pair.first for pair in data.pairs], "frequent words")
        self.settings = settings
        self.vectors = hidden = without_words(vectors, data.contexts)
        self.hidden = len(vectors) - len(hidden)
        self.pairs = pairs = [pair for pair in data.pairs if pair.first in vectors]
        lost = [str(pair) for pair in data.pairs if pair.first not in vectors]
        self.exclusions = Exclusion.of("pairs", lost, "frequent word: no vector")
        self.words = list(dict.fromkeys(pair.second for pair in pairs))
        self.gold = unit_rows(vectors[[pair.first for pair in pairs]])
        self.given = vectors
        self.scores = np.array([pair.score for pair in pairs])
        self.documents: list[Document] = []
        split = get_tokenizer(settings.tokenizer)
        known = hidden.key_to_index
        counts, absent = [], []
        for word in self.words:
            target = split(word, known)
            before = len(self.documents)
            for text in data.contexts[word]:
                tokens = split(text, known)
                start = _find(tokens, target)
                if start is None:
                    absent.append(f"{word}: {text[:40]}")
                    continue
                label = str(len(self.documents))
                self.documents.append(Document(tokens=tokens, spans=((start, start + len(target), label),)))
            counts.append(len(self.documents) - before)
        self.counts = np.array(counts)
        self.starts = np.concatenate([[0], np.cumsum(self.counts)])
        self.exclusions += Exclusion.of("contexts", absent, "the rare word is not in them")
        for size in settings.sizes:
            short = [self.words[i] for i in np.flatnonzero(self.counts < self.needed(size))]
            self.exclusions += Exclusion.of(
                f"rare words at {size} contexts", short, f"fewer than {self.needed(size)} contexts"
            )
        if not len(self.pairs_at(settings.sizes[0])):
            raise BadData("no rare word has enough contexts; ask for smaller sizes (--sizes 1,2,4)")
        self._sums: dict[str, tuple[Singles, Singles, Singles]] = {}

    def needed(self, size: int) -> int:
        """How many contexts it takes for disjoint subsets of all sizes up to this one."""
        return sum(other for other in self.settings.sizes if other <= size)

    def pairs_at(self, size: int) -> Places:
        """The pairs whose rare word has enough contexts for this size."""
        place = {word: i for i, word in enumerate(self.words)}
        enough = self.counts >= self.needed(size)
        return np.array([i for i, pair in enumerate(self.pairs) if enough[place[pair.second]]], dtype=np.int64)

    def orders(self, trials: int) -> list[Places]:
        """For each shuffle, the contexts of each word in a new order: (words, most contexts), -1 behind the last."""
        most = self.needed(self.settings.sizes[-1])
        rng = np.random.default_rng(self.settings.seed)
        orders = []
        for _ in range(trials):
            order = np.full((len(self.words), most), -1, dtype=np.int64)
            for i, count in enumerate(self.counts):
                chosen = rng.permutation(count)[:most]
                order[i, : len(chosen)] = self.starts[i] + chosen
            orders.append(order)
        return orders

    def subset_sums(self, model: ALaCarte) -> tuple[Singles, Singles, Singles]:
        """(sums, means, weights) over the contexts of each subset: (shuffles, sizes, words, d), and (…, 2).

        Text is read, and shuffled, once for all models with the same window and context weights.
        """
        settings = replace(model.settings, averaging="occurrence")
        key = f"{model.vectors.fingerprint} {settings!r}"
        if key not in self._sums:
            reading: ReadingOptions = {**model.reading, "averaging": "occurrence"}
            sums = collect(model.vectors, Corpus(self.documents), Targets.spans(), show_progress=False, **reading)
            order = np.argsort(np.array(sums.keys, dtype=np.int64))
            total, weight = sums.vectors(order), sums.total_weights[order]
            filled = weight > 0
            mean = np.divide(total, weight[:, None], out=np.zeros_like(total), where=filled[:, None])
            # A last row of zeros is what the padding -1 reads.
            columns = np.hstack([total, mean, weight[:, None], filled[:, None]]).astype(np.float32)
            columns = np.vstack([columns, np.zeros(columns.shape[1], dtype=np.float32)])
            cuts = np.concatenate([[0], np.cumsum(self.settings.sizes)[:-1]]).astype(np.int64)
            orders = self.orders(self.settings.trials)
            everything = np.stack([np.add.reduceat(columns[order], cuts, axis=1).swapaxes(0, 1) for order in orders])
            d = total.shape[1]
            while len(self._sums) >= KEPT:
                self._sums.pop(next(iter(self._sums)))
            self._sums[key] = (everything[..., :d], everything[..., d : 2 * d], everything[..., 2 * d :])
        return self._sums[key]

    def correlations(self, size: int, vectors: Doubles, gold: Doubles | None = None) -> Doubles:
        """Spearman at one size, for vectors of the rare words, (…, words, d), and of the others, (pairs, d)."""
        chosen = self.pairs_at(size)
        place = {word: i for i, word in enumerate(self.words)}
        rare = np.array([place[self.pairs[i].second] for i in chosen])
        cosines = np.einsum(
            "...pj,pj->...p", unit_rows(vectors)[..., rare, :], (self.gold if gold is None else gold)[chosen]
        )
        return spearman(cosines, self.scores[chosen])


def _find(tokens: Sequence[str], target: Sequence[str]) -> int | None:
    """Where the target first stands."""
    length = len(target)
    return next((i for i in range(len(tokens) - length + 1) if list(tokens[i : i + length]) == list(target)), None)


def _run(system: System, bench: Workbench, trials: Trials) -> dict[str, Any]:
    """Spearman for each size and shuffle (`values`), and for each size how many pairs it is of (`pairs`)."""
    pairs = [len(trials.pairs_at(size)) for size in trials.settings.sizes]
    model = bench.build(system)
    if isinstance(model, RetrainedWord2Vec):
        values, pairs = _run_word2vec(model, trials)
    elif isinstance(model, Nonce2Vec):
        values = _run_nonce2vec(model, trials)
    elif isinstance(model, Spelled):
        values = _run_linear(model.plain, trials, model)
    else:
        values = _run_linear(model, trials)
    return {"values": values, "pairs": pairs}


def _run_linear(model: ALaCarte, trials: Trials, spelled: Spelled | None = None) -> list[list[float]]:
    """Spearman for each size and shuffle; with `spelled`, spelling is added to the vectors from contexts."""
    settings = model.settings
    total, mean, weight = trials.subset_sums(model)
    gold = unit_rows(in_space(model, trials.given, [pair.first for pair in trials.pairs]))
    result = []
    for place, size in enumerate(trials.settings.sizes):
        if not len(trials.pairs_at(size)):
            raise BadData(f"no rare word has the {trials.needed(size)} contexts that size {size} takes; leave it out")
        values = []
        for shuffle in range(len(total)):
            if settings.averaging == "occurrence":
                u: Doubles = total[shuffle, place].astype(np.float64) / size
            else:
                top, by = (total, 0) if settings.averaging == "token" else (mean, 1)
                divisor = weight[shuffle, place, :, by, None].astype(np.float64)
                u = top[shuffle, place] / np.where(divisor > 0, divisor, 1.0)
            induced = model.transform(u).astype(np.float64)
            if spelled is not None:
                induced = spelled.fused(induced, trials.words, size)
            values.append(float(trials.correlations(size, induced, gold)))
        result.append(values)
    return result


def _run_nonce2vec(model: Nonce2Vec, trials: Trials) -> list[list[float]]:
    encoded = []
    for document in trials.documents:
        start, end, _ = document.spans[0]
        tokens = list(document.tokens or ())
        encoded.append(model.encode([*tokens[:start], "___", *tokens[end:]]))
    sizes = trials.settings.sizes
    cuts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    result: list[list[float]] = [[] for _ in sizes]
    shuffles = min(trials.settings.trials, FEWER["nonce2vec"])
    with progress(shuffles, "shuffles", "nonce2vec") as bar:
        for number, order in enumerate(trials.orders(shuffles)):
            for place, size in enumerate(sizes):
                chosen = order[:, cuts[place] : cuts[place + 1]]
                rows = np.zeros((len(chosen), model.vectors.dimension))
                for i, contexts in enumerate(chosen):
                    texts = [encoded[c] for c in contexts if c >= 0]
                    if any((text >= 0).any() for text in texts):
                        rows[i] = model.embed_rows(texts, seed=number)
                result[place].append(float(trials.correlations(size, rows)))
            bar.update(1)
    return result


def _run_word2vec(model: RetrainedWord2Vec, trials: Trials) -> tuple[list[list[float]], list[int]]:
    """Everything trained again at each size; a pair counts if word2vec knows its frequent word too."""
    pairs: list[int] = []
    sizes = trials.settings.sizes
    cuts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    result: list[list[float]] = []
    order = trials.orders(FEWER["word2vec"])[0]
    with progress(len(sizes), "trainings", "word2vec") as bar:
        for place, size in enumerate(sizes):
            contexts = {
                word: [trials.documents[c].tokens or () for c in order[i, cuts[place] : cuts[place + 1]] if c >= 0]
                for i, word in enumerate(trials.words)
            }
            retrained = model.retrain({word: texts for word, texts in contexts.items() if texts})
            known = retrained.key_to_index
            usable = [
                i for i in trials.pairs_at(size) if trials.pairs[i].first in known and trials.pairs[i].second in known
            ]
            first = unit_rows(retrained[[trials.pairs[i].first for i in usable]])
            second = unit_rows(retrained[[trials.pairs[i].second for i in usable]])
            result.append([float(spearman((first * second).sum(axis=1), trials.scores[usable]))])
            pairs.append(len(usable))
            bar.update(1)
    return result, pairs
