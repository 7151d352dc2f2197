"""What is expensive is kept: sums and results, each in a file named after a digest of all that it depends on.

That includes the code: the name of each file contains a digest of every Python file of `alacarte` and of
`alacarte_experiments` (`code_digest`). So a result never outlives a change of the code that made it. The price is that
a change anywhere in the two packages, even in a comment, means that everything is computed again; which parts of the
code a result depends on is not something that a person remembers to write down. Files of older code stay where they are
until the folder is deleted.

A run that was cut off starts again from what is there. Corpora that are no files (lists, frames) are kept in
memory only: nothing tells two of them apart for sure.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import alacarte
import alacarte_experiments
from alacarte import ContextSums, Corpus, WordVectors, collect
from alacarte.contexts.reading import Averaging
from alacarte.contexts.weights import ContextWeights, resolve
from alacarte.contexts.word_counts import word_counts
from alacarte.text.corpus import CorpusLike


def digest(values: object) -> str:
    """A short name for anything JSON can hold; the order of keys does not matter.

    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    text = json.dumps(values, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


@cache
def code_digest() -> str:
    """A digest of the code of the library and of the experiments, computed once a process."""
    return digest_code(Path(str(package.__file__)).parent for package in (alacarte, alacarte_experiments))


def digest_code(folders: Iterable[Path]) -> str:
    """A digest of the names and the contents of all Python files below some folders."""
    summary = hashlib.blake2b(digest_size=12)
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            content = path.read_bytes()
            summary.update(f"{path.relative_to(folder).as_posix()} {len(content)}\n".encode())
            summary.update(content)
    return summary.hexdigest()


def _canonical(weights: str) -> str:
    """One spelling for `sif`, `sif:1e-3` and `sif:0.001`.

    >>> _canonical("sif"), _canonical("sif:1e-3"), _canonical("stopwords")
    ('sif:0.001', 'sif:0.001', 'stopwords')
    """
    name, _, number = weights.partition(":")
    try:
        return f"sif:{float(number or '1e-3'):g}" if name == "sif" else weights
    except ValueError:
        return weights  # `resolve` says what is wrong with it


class EveryNth:
    """Each n-th document of a corpus: a smaller corpus of the same kind, nested in those of smaller n.

    >>> list(EveryNth(Corpus(["a", "b", "c"]), 2))
    ['a', 'c']
    """

    def __init__(self, corpus: Corpus, n: int) -> None:
        self.corpus, self.n = corpus, n

    def __iter__(self) -> Iterator[Any]:
        return islice(iter(self.corpus), 0, None, self.n)


def every_nth(corpus: Corpus, n: int) -> CorpusLike:
    """Each n-th document of a corpus; for 1 the corpus itself."""
    return EveryNth(corpus, n) if n > 1 else corpus


def default_folder() -> Path:
    """$ALACARTE_CACHE, or a folder where the system wants caches."""
    if named := os.environ.get("ALACARTE_CACHE"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "alacarte"


class Store:
    """A folder of sums and results."""

    def __init__(self, folder: str | os.PathLike[str] | None = None, *, show_progress: bool | None = None) -> None:
        self.folder = default_folder() if folder is None else Path(folder)
        self.show_progress = show_progress
        self._memory: dict[str, ContextSums] = {}
        self._identities: dict[int, tuple[Corpus, str]] = {}

    # --------------------------------------------------------------------------------------------- sums

    def sums(
        self,
        vectors: WordVectors,
        corpus: Corpus,
        *,
        window: int,
        averaging: str = "occurrence",
        context_weights: str = "uniform",
        tokenizer: str = "words",
        every: int = 1,
    ) -> ContextSums:
        """Sums over the whole vocabulary, collected once for each setting.

        Weights that depend on frequencies take them from the uniform sums, so nothing is counted twice.
        """
        kind: Averaging = "context" if averaging == "context" else "occurrence"
        key = {
            "vectors": vectors.fingerprint,
            "window": window,
            "kind": kind,
            "weights": _canonical(context_weights),
            "tokenizer": tokenizer,
            "every": every,
        }

        def made() -> ContextSums:
            weights = self.weights(vectors, corpus, context_weights, window=window, tokenizer=tokenizer, every=every)
            return collect(
                vectors,
                every_nth(corpus, every),
                window=window,
                averaging=kind,
                context_weights=weights,
                tokenizer=tokenizer,
                show_progress=self.show_progress,
            )

        collected = self.kept_sums(key, corpus, made)
        return collected if kind == "context" else collected.with_averaging(averaging)  # type: ignore[arg-type]

    def kept_sums(self, key: dict[str, Any], corpus: Corpus, collect: Callable[[], ContextSums]) -> ContextSums:
        """The sums that were kept under this key, or those that `collect` gives now; the corpus is added to it."""
        key = {**key, "corpus": self._identity(corpus)}
        name = digest(key)
        if name not in self._memory:
            path = self.path("sums", key, ".safetensors")
            if path.is_file():
                self._memory[name] = ContextSums.load(path)
            else:
                self._memory[name] = collect()
                if corpus.identity is not None:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    self._memory[name].save(path)
                    self.write_json(path.with_suffix(".json"), key)
        return self._memory[name]

    def weights(
        self, vectors: WordVectors, corpus: Corpus, specification: str, *, window: int, tokenizer: str, every: int
    ) -> ContextWeights:
        """The context weights that a specification such as `sif:1e-3` means for a corpus."""

        def count() -> npt.NDArray[np.int64]:
            sums = self.sums(vectors, corpus, window=window, tokenizer=tokenizer, every=every)
            return word_counts(sums, vectors)  # sums that were kept have rows only for words that were met

        return resolve(specification, vectors, count)

    def _identity(self, corpus: Corpus) -> str:
        known = self._identities.get(id(corpus))
        if known is None:
            identity = corpus.identity
            name = f"memory {len(self._identities)}" if identity is None else json.dumps(identity)
            known = self._identities[id(corpus)] = (corpus, name)  # holding it keeps its id its own
        return known[1]

    # ------------------------------------------------------------------------------------------ results

    def path(self, kind: str, key: object, ending: str = ".json") -> Path:
        """Where what this key means is kept, as the code is now."""
        return self.folder / kind / f"{digest([code_digest(), key])}{ending}"

    def read(self, kind: str, key: object) -> Any | None:
        """What `write` kept under this key, or None."""
        path = self.path(kind, key)
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):  # never written, or damaged: it is made again
            return None
        return kept["value"]

    def write(self, kind: str, key: object, value: object) -> None:
        path = self.path(kind, key)
        path.parent.mkdir(parents=True, exist_ok=True)
        self.write_json(path, {"key": key, "value": value})

    @staticmethod
    def write_json(path: Path, value: object) -> None:
        path.write_text(json.dumps(value, ensure_ascii=False, default=str), encoding="utf-8")
