"""Spelling and contexts on rare words, beside each of them alone and the vectors that were trained for these words.

    python benchmarks/rare_words.py --data ../shared/data/fewshot/crw-dev --data out/rw-other \\
        --vectors DIR/glove.6B.100d.npy --corpus out/rw-other/corpus.txt.xz --stems

(`alc eval crw-build` makes the second set: docs/reproduction/rare-words.md.) The rare words of all sets are taken out
of the vectors before anything is learned, once for all sets.

Mean Spearman over shuffles of the contexts at each number of contexts, as `alc eval crw`; standard errors, those of
differences and ratios too, by drawing rare words anew, each with all its pairs. "trained": the vectors that the rare
words have, less the direction that all vectors share; pairs without such a vector take no part.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from alacarte_experiments.fewshot.crw import Trials
from alacarte_experiments.fewshot.data import RareWords, read_rare_words
from alacarte_experiments.fewshot.spelled import Spelled
from alacarte_experiments.fewshot.systems import System, Workbench, without_words
from alacarte_experiments.lab.measures import spearman
from alacarte_experiments.lab.settings import Settings
from alacarte_experiments.lab.store import Store

from alacarte import Corpus, WordVectors
from alacarte.vectors.geometry import unit_rows

Doubles = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
SIZES = (1, 2, 4, 8, 16, 32, 64)
DRAWS = 300
WANTED = {size: 0.97 if size < 8 else 1.0 for size in SIZES}  # of what the trained vectors reach


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, action="append", help="folder with pairs.tsv and contexts.jsonl.xz")
    parser.add_argument("--vectors", required=True)
    parser.add_argument("--corpus", required=True, type=Path)
    parser.add_argument("--tau", default="5", help="as in alc eval crw")
    parser.add_argument("--weights", default="sif:1e-3")
    parser.add_argument("--trials", type=int, default=50, help="shuffles of the contexts")
    parser.add_argument("--stems", action="store_true", help="and without words of the same stem in learning spelling")
    parser.add_argument("--settings", default="", help="of the systems, behind a comma each: ,rank_power=0")
    given = parser.parse_args()

    vectors = WordVectors.load(given.vectors)
    sets = {name: with_vectors(read_rare_words(name), vectors) for name in given.data}
    hidden = without_words(vectors, [word for data in sets.values() for word in data.contexts])
    settings = Settings("crw", weights=given.weights, tau=given.tau, trials=given.trials, sizes=SIZES)
    trials = {name: Trials(data, settings, vectors) for name, data in sets.items()}
    tested = [word for one in trials.values() for word in one.words]
    bench = Workbench(hidden, Corpus(given.corpus), Store(), tested=tested)
    for name in ["alacarte+form", *(["alacarte+form,stems=1"] if given.stems else [])]:
        model = bench.build(System.parse(name + given.settings, settings))
        fusion = model.fusion
        print(
            f"{name}{given.settings}: log-odds of contexts {fusion.level:.3f} + {fusion.doubling:.3f} log2 n "
            f"{fusion.length:+.3f} log |f|/{fusion.typical:.3f}"
        )
        for place, one in trials.items():
            show(place, one, model)


def with_vectors(data: RareWords, vectors: WordVectors) -> RareWords:
    """The pairs whose rare word has a vector."""
    known = {word: texts for word, texts in data.contexts.items() if word in vectors}
    return replace(data, pairs=[pair for pair in data.pairs if pair.second in known], contexts=known)


def drawn_again(words: Longs, rng: np.random.Generator) -> Longs:
    """Places of pairs: as many words as there are, drawn with replacement, each with all its pairs."""
    order = np.argsort(words, kind="stable")
    first, sizes = np.unique(words[order], return_index=True, return_counts=True)[1:]
    chosen = rng.integers(0, len(first), len(first))
    return np.concatenate([order[first[one] : first[one] + sizes[one]] for one in chosen])


def show(title: str, trials: Trials, model: Spelled) -> None:
    """One table: a row a system, a column a number of contexts."""
    print(f"\n{title}")
    fusion = model.fusion
    totals = trials.subset_sums(model.plain)[0]
    forms = model.form.rows(trials.words)[0].astype(np.float64)
    place = {word: i for i, word in enumerate(trials.words)}
    rng = np.random.default_rng(0)
    table: dict[str, list[str]] = {}
    before: tuple[Longs, Doubles] | None = None  # pairs, and their cosines with fused vectors of half as many contexts
    for column, size in enumerate(SIZES):
        pairs = trials.pairs_at(size)
        rare = np.array([place[trials.pairs[i].second] for i in pairs])
        gold, scores = trials.gold[pairs], trials.scores[pairs]
        draws = [drawn_again(rare, rng) for _ in range(DRAWS)]
        x = [model.plain.transform(total[column].astype(np.float64) / size).astype(np.float64) for total in totals]
        counts = np.full(len(forms), size)
        parts = {
            "contexts": x,
            "contexts, common direction out": [fusion.combine(one, 0 * forms, counts).fused for one in x],
            "spelling": [fusion.combine(0 * forms, forms, 0 * counts).fused],
            "both": [fusion.combine(one, forms, counts).fused for one in x],
            "trained": [fusion.direction(trials.given[trials.words])],
        }
        cosines = {
            part: np.stack([np.einsum("pj,pj->p", unit_rows(vectors)[rare], gold) for vectors in lists])
            for part, lists in parts.items()
        }
        if before is not None:
            cosines["before"] = before[1][:, np.isin(before[0], pairs)]
        before = pairs, cosines["both"]
        shuffles = {part: spearman(values, scores) for part, values in cosines.items()}
        values = {part: float(np.mean(one)) for part, one in shuffles.items()}
        drawn = {
            part: np.array([np.mean(spearman(one[:, draw], scores[draw])) for draw in draws])
            for part, one in cosines.items()
        }
        for part in parts:
            table.setdefault(part, []).append(f"{values[part]:.3f} ±{drawn[part].std():.3f}")
        best = max(("contexts", "contexts, common direction out", "spelling"), key=lambda part: values[part])
        for name, other in (("both − better part", best), ("both − both from half as many contexts", "before")):
            cell = ""
            if other in values:
                cell = f"{values['both'] - values[other]:+.3f} ±{(drawn['both'] - drawn[other]).std():.3f}"
            table.setdefault(name, []).append(cell)
        ratio, ratios = values["both"] / values["trained"], drawn["both"] / drawn["trained"]
        table.setdefault("both / trained", []).append(f"{ratio:.1%} ±{ratios.std():.1%}")
        low, high = np.quantile(ratios, [0.025, 0.975])
        table.setdefault("its 95 % interval", []).append(f"{low:.0%} to {high:.0%}")
        missing = WANTED[size] - ratio
        enough = len(pairs) * (2 * ratios.std() / missing) ** 2 if missing > 0 else np.nan
        table.setdefault("pairs to tell it from what is wanted", []).append(f"{enough:,.0f}" if missing > 0 else "")
        error = shuffles["both"].std(ddof=1) / np.sqrt(len(totals))
        table.setdefault("both: error over shuffles", []).append(f"±{error:.3f}")
        table.setdefault("pairs", []).append(str(len(pairs)))
    print("| | " + " | ".join(map(str, SIZES)) + " |\n|" + "---|" * (len(SIZES) + 1))
    for part, cells in table.items():
        print(f"| {part} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
