"""Definitions, chimeras and rare words by the models that ship: adapted, and as in the paper.

    python benchmarks/few_shot.py ../shared/data/fewshot glove.6B.50d
    python benchmarks/few_shot.py ../shared/data/fewshot glove.6B.100d --vectors DIR/glove.6B.100d.npy

The training parts alone. For definitions, the median rank of the word's own vector among all; for chimeras and rare
words, Spearman's correlation with what people say. *Adapted* is the likeness that the library uses; *exported* is the
plain cosine of the same vectors with those of words. Rare words are adapted to the text of all their contexts.
`alc eval` has the paper's protocol, with standard errors.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from alacarte_experiments.fewshot.data import Chimera, RareWords, read_chimeras, read_nonces, read_rare_words
from alacarte_experiments.lab.measures import gold_ranks
from scipy.stats import spearmanr

from alacarte import ALaCarte, AlacarteError, WordVectors
from alacarte.transform.register import Adaptation
from alacarte.vectors.geometry import cosines

Space = tuple[Callable[[npt.ArrayLike], npt.NDArray[np.float64]], WordVectors]
CONTEXTS = (1, 8, 64)  # of a rare word
INVENTED = "zzchimera"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("model")
    parser.add_argument("--vectors")
    given = parser.parse_args()
    paper, model = (ALaCarte.pretrained(given.model + end, vectors=given.vectors) for end in (".plain", ""))
    print("| | as in the paper | adapted | exported |\n|---|---|---|---|")
    show("definitions, median rank", definitions(paper, given.data) + definitions(model, given.data))
    for size, trials in read_chimeras(given.data / "chimera").items():
        show(f"chimeras, {size} sentences", chimeras(paper, trials) + chimeras(model, trials))
    pairs = read_rare_words(given.data / "crw-dev")
    for contexts in CONTEXTS:
        show(f"rare words, {contexts} contexts", rare(paper, pairs, contexts) + rare(model, pairs, contexts))


def show(name: str, values: list[float]) -> None:
    print(
        f"| {name} | " + " | ".join(f"{value:.3f}" if value < 1 else f"{value:.0f}" for value in values) + " |",
        flush=True,
    )


def spaces(vectors: WordVectors, adaptation: Adaptation | None) -> list[Space]:
    """What vectors and words are compared as: as the library does it, and plain."""
    plain: Space = (np.asarray, vectors)
    return [plain] if adaptation is None else [(adaptation.compared, adaptation.words(vectors)), plain]


def definitions(model: ALaCarte, data: Path) -> list[float]:
    known = [nonce for nonce in read_nonces(data / "nonce") if nonce.word in model.vectors]
    x = np.array([model.embed_definition(nonce.definition, nonce.word) for nonce in known])
    own = [model.vectors.index(nonce.word) for nonce in known]
    register = model.definitions
    return [
        float(np.median(gold_ranks(words, list(compared(x)), own)))
        for compared, words in spaces(model.vectors, None if register is None else register.adaptation())
    ]


def chimeras(model: ALaCarte, trials: list[Chimera]) -> list[float]:
    compared_as = spaces(model.vectors, model.adaptation)
    found: list[list[float]] = [[] for _ in compared_as]
    for trial in trials:
        sentences = [sentence.replace("___", INVENTED) for sentence in trial.sentences]
        rated = [pair for pair in zip(trial.probes, trial.ratings, strict=True) if pair[0] in model.vectors]
        try:
            x = model.embed(sentences, target=INVENTED)
        except AlacarteError:
            continue  # no word of the sentences has a vector
        for kind, (compared, words) in zip(found, compared_as, strict=True):
            alike = [float(cosines(compared(x), words[probe])) for probe, _ in rated]
            kind.append(float(spearmanr(alike, [rating for _, rating in rated])[0]))
    return [float(np.nanmean(kind)) for kind in found]


def rare(model: ALaCarte, data: RareWords, contexts: int) -> list[float]:
    words = sorted({pair.second for pair in data.pairs} & data.contexts.keys())
    text = [context for word in words for context in data.contexts[word][:contexts]]
    induced = model.induce(text, words, show_progress=False)
    pairs = [pair for pair in data.pairs if pair.first in model.vectors and pair.second in induced]
    x = np.array([induced[pair.second] for pair in pairs])
    scores = [pair.score for pair in pairs]
    return [
        float(spearmanr(cosines(compared(x), np.array([words[pair.first] for pair in pairs])), scores)[0])
        for compared, words in spaces(model.vectors, induced.adaptation)
    ]


if __name__ == "__main__":
    main()
