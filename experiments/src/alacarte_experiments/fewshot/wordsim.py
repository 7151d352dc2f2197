"""Word similarity sets: how many pairs the vectors cover, and what words induced from a corpus add.

Files of two words and a score a line, as RW, WS353, SimLex-999, MEN, MTurk and RG come. Spearman of the cosines with
the scores, over the pairs whose two words have a vector: first as they are, then with the missing words induced.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from alacarte import Corpus, Document, WordVectors
from alacarte.errors import BadData, NotEnoughData
from alacarte.vectors.geometry import cosines
from alacarte_experiments.baselines import RetrainedWord2Vec
from alacarte_experiments.fewshot.data import Pair, read_pairs
from alacarte_experiments.fewshot.spelled import Spelled
from alacarte_experiments.fewshot.systems import System, Workbench, check_overlap
from alacarte_experiments.lab.measures import spearman
from alacarte_experiments.lab.progress import progress
from alacarte_experiments.lab.results import Exclusion, Results, Row
from alacarte_experiments.lab.settings import Settings
from alacarte_experiments.lab.store import Store

AS_THEY_ARE = "vectors as they are"
LEAST = 3  # pairs


def run(settings: Settings, store: Store, *, vectors: WordVectors | None = None) -> Results:
    """All sets in a folder (or one file), with all systems of the settings."""
    return evaluate(read_sets(settings.data), settings, store, vectors=vectors)


def read_sets(place: str | Path) -> dict[str, list[Pair]]:
    """The pairs of each `.txt`, `.tsv` or `.csv` file in a folder, or of one file, by the file's name."""
    path = Path(place).expanduser()
    files = [path] if path.is_file() else sorted(f for f in path.glob("*") if f.suffix in (".txt", ".tsv", ".csv"))
    if not files:
        raise BadData(f"{path}: no similarity sets (.txt, .tsv, .csv); --data names their folder or one of them")
    return {file.stem: read_pairs(file) for file in files}


def evaluate(
    sets: dict[str, list[Pair]],
    settings: Settings,
    store: Store,
    *,
    vectors: WordVectors | None = None,
    corpus: Corpus | None = None,
) -> Results:
    vectors, corpus = settings.open(vectors, corpus)
    sets = {name: [_lowered(pair, vectors) for pair in pairs] for name, pairs in sets.items()}
    words = sorted({word for pairs in sets.values() for pair in pairs for word in (pair.first, pair.second)})
    check_overlap(vectors, words, "words of the sets")
    missing = [word for word in words if word not in vectors]
    rows: list[Row] = []
    for name, pairs in sets.items():
        rows += _rows(name, pairs, vectors, {}, AS_THEY_ARE)
    bench = Workbench(vectors, corpus, store, tested=missing)
    left_out: list[Exclusion] = []
    reported: list[list[str]] = []
    if missing:
        texts: dict[int, list[Any]] = {}  # by `every`, and only when needed: a run from the store reads no text

        def induce(system: System) -> dict[str, list[float]]:
            every = system.settings.every
            if every not in texts:
                part = Corpus.of(bench.text(system.settings))
                texts[every] = list(mentions(part, missing, store.show_progress))
            return _induced(bench, system, missing, texts[every])

        for system, induced in bench.each(settings, [missing], induce, "word similarity"):
            for name, pairs in sets.items():
                rows += _rows(name, pairs, vectors, induced, system.name)
            never = [word for word in missing if word not in induced]
            if never not in reported:  # most systems lack the same words
                what = f"words by {system.name}" if reported else "words"
                left_out += Exclusion.of(what, never, "no vector, and not in the corpus")
                reported.append(never)
    for name, pairs in sets.items():
        lost = [str(pair) for pair in pairs if pair.first not in vectors or pair.second not in vectors]
        left_out += Exclusion.of(f"pairs of {name}", lost, f"a word has no vector ({AS_THEY_ARE!r} only)")
    return Results(settings, tuple(rows), tuple(left_out), bench.protocol(settings) | {"missing_words": len(missing)})


def _lowered(pair: Pair, vectors: WordVectors) -> Pair:
    """Words as the vectors spell them: in lower case where only that is known."""
    first, second = (w.lower() if w not in vectors and w.lower() in vectors else w for w in (pair.first, pair.second))
    return Pair(first, second, pair.score)


def mentions(corpus: Corpus, words: Iterable[str], show_progress: bool | None = None) -> Iterator[Any]:
    """The documents that hold the letters of one of the words: a few, which every system can then read.

    >>> list(mentions(Corpus(["An e-mail.", "Letters."]), ["e-mail"]))
    ['An e-mail.']
    """
    piece = re.compile(r"\w+")
    # The rarest piece is not known; the longest is a good guess ("mail" rather than "e").
    keys = {max(piece.findall(word.lower()) or [""], key=len) for word in words}
    with progress(*corpus.extent, "finding words", show_progress) as bar:
        for block in corpus.blocks():
            for document in block.items():
                tokens = document.tokens if isinstance(document, Document) else document
                text = document.text if isinstance(document, Document) and tokens is None else tokens
                joined = text if isinstance(text, str) else " ".join(text or ())
                if not keys.isdisjoint(piece.findall(joined.lower())):
                    yield document
            bar.update(block.position - bar.n)


def _induced(bench: Workbench, system: System, missing: list[str], texts: list[Any]) -> dict[str, list[float]]:
    model = bench.build(system)
    assert not isinstance(model, RetrainedWord2Vec)  # `System.parse` refuses it: its space is its own
    if not texts and not isinstance(model, Spelled):
        return {}
    try:
        induced = model.induce(texts, missing)
    except NotEnoughData:
        return {}
    return {word: induced[word].tolist() for word in missing if word in induced}


def _rows(
    name: str, pairs: list[Pair], vectors: WordVectors, induced: dict[str, list[float]], system: str
) -> list[Row]:
    def vector(word: str) -> Any:
        return vectors[word] if word in vectors else induced.get(word)

    kept = [(vector(p.first), vector(p.second), p.score) for p in pairs]
    kept = [item for item in kept if item[0] is not None and item[1] is not None]
    common = {"set": name, "system": system, "n": len(kept), "source": "ours"}
    rows = [{**common, "metric": "coverage", "value": len(kept) / len(pairs)}]
    if len(kept) >= LEAST:
        rho = spearman(cosines([k[0] for k in kept], [k[1] for k in kept]), [k[2] for k in kept])
        rows.append({**common, "metric": "ρ", "value": float(rho)})
    only = [i for i, p in enumerate(pairs) if (p.first not in vectors or p.second not in vectors)]
    new = [(vector(pairs[i].first), vector(pairs[i].second), pairs[i].score) for i in only]
    new = [item for item in new if item[0] is not None and item[1] is not None]
    if system != AS_THEY_ARE and len(new) >= LEAST:
        rho = spearman(cosines([k[0] for k in new], [k[1] for k in new]), [k[2] for k in new])
        rows.append({**common, "n": len(new), "metric": "ρ, induced pairs", "value": float(rho)})
    return rows
