"""The one pass over a corpus: sums of the vectors around each target, and nothing that needs the text again.

`ContextSums` are a monoid: sums of two parts of a corpus add up to the sums of the whole.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike, cpu_count
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from alacarte._io.progress import ProgressCallback, progress
from alacarte._io.tensors import pack_words, read_tensors, unpack_words, write_tensors
from alacarte.contexts.groups import NAMES, GroupedMatcher, GroupSums
from alacarte.contexts.reading import Averaging, Positions, Reading, window_sides
from alacarte.contexts.weights import UNIFORM, ContextWeights, resolve
from alacarte.errors import BadCorpus, BadSums
from alacarte.passes.accumulate import COUNTS
from alacarte.passes.checkpoint import Checkpoint
from alacarte.passes.scan import Pass, memory_for_sums
from alacarte.targets.targets import Matcher, Targets, TargetsLike
from alacarte.text.corpus import Corpus, CorpusLike, extent
from alacarte.text.encoding import Encoder, Lexicon
from alacarte.text.tokenizers import TokenizerLike, get_tokenizer
from alacarte.vectors.word_vectors import WordVectors

__all__ = ["Averaging", "ContextSums", "Positions", "Reading", "count_words", "merge", "window_sides"]

Doubles = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ContextSums:
    """Per target: the float64 sum of its context vectors and what is needed for each of the three averages.

    >>> vectors = WordVectors(["a", "b", "c"], [[1, 0], [0, 1], [2, 2]])
    >>> sums = ContextSums.collect(vectors, ["a b x c a x zz a"], ["x", "a"], window=2)
    >>> sums.keys, sums.sums.tolist(), sums.occurrences.tolist()
    (['x', 'a'], [[8.0, 5.0], [2.0, 3.0]], [2, 3])
    >>> (sums + sums).occurrences.tolist()
    [4, 6]
    """

    keys: list[str]
    sums: Doubles  # (targets, dimensions)
    occurrences: Counts
    contexts: Counts  # occurrences with at least one context word that has a vector
    tokens: Counts  # context words that have a vector, over all occurrences
    totals: Doubles  # their total weight; equal to `tokens` when nothing is weighted
    settings: Reading
    fingerprint: str  # of the vectors
    targets: Targets | None  # None: every word of the vectors
    weights: ContextWeights = UNIFORM
    documents: int = 0
    tokens_read: int = 0
    tokens_known: int = 0  # of these, tokens that have a vector
    groups: GroupSums | None = None  # the same by group of documents, if `spread` was asked for

    @classmethod
    def collect(
        cls,
        vectors: WordVectors,
        corpus: CorpusLike,
        targets: TargetsLike | None = None,
        *,
        window: int | tuple[int, int] = 10,
        averaging: Averaging = "occurrence",
        positions: Positions = "uniform",
        context_weights: object = None,
        tokenizer: TokenizerLike = "words",
        unknown: Literal["keep", "drop"] = "keep",
        threads: int | None = None,
        memory: int | str | None = None,
        checkpoint: str | PathLike[str] | None = None,
        checkpoint_seconds: float = 60.0,
        shard: tuple[int, int] | None = None,
        spread: int | None = None,
        block_size: int = 1 << 20,
        show_progress: bool | None = None,
        callback: ProgressCallback | None = None,
    ) -> "ContextSums":
        """Read a corpus once and sum the contexts of `targets`, or of every word that has a vector.

        `threads`: how many to use (default: all cores); the result does not depend on it to the last bit.
        `memory`: a budget such as "4GB" for vectors, sums and text; sums that do not fit lie in a file.
        `checkpoint`: a file that keeps the work so far, written every `checkpoint_seconds` and on Ctrl-C; the same
        call takes it up again and gives the same result to the last bit. It stays when all is done, for the caller
        to delete once the result is safe.
        `shard`: (i, n) reads only the i-th of n parts (from 1 on); the parts add up.
        `spread`: keep this many sums for each target instead of one (16 is a good number), with the contexts of one
        document in the same, so that vectors know how sure they are (`InducedVectors.uncertainty`). Memory for sums
        grows as many times.
        """
        left, right = window_sides(window)
        split = get_tokenizer(tokenizer)
        source = Corpus.of(corpus)

        def count() -> Counts:
            if source.once:
                raise BadCorpus(
                    "these context weights need a first pass over the corpus to count words, and this corpus can "
                    "be read only once; pass a file or a list, or weights that are ready-made"
                )
            return count_words(vectors, source, split, show_progress=show_progress, callback=callback)

        weights = resolve(context_weights, vectors, count)
        settings = Reading(left, right, averaging, positions, weights.name, split.name, unknown)
        lexicon = Lexicon(vectors.key_to_index)
        if targets is None:
            wanted, matcher = None, Matcher.of_vocabulary(vectors.words, lexicon)
        else:
            wanted = Targets.of(targets)
            matcher = wanted.compile(lexicon, split)
        if spread is not None:
            matcher = GroupedMatcher(matcher, spread, len(vectors))
        run = Pass(
            source, Encoder(split, lexicon), matcher, vectors.matrix, settings, weights,
            threads or cpu_count() or 1, shard, block_size, (show_progress, callback),
        )  # fmt: skip
        room = memory_for_sums(memory, vectors.matrix, weights.values is not None, run.threads, block_size)
        if checkpoint is not None:
            identity = {
                "vectors": vectors.fingerprint,
                "settings": asdict(settings),
                "targets": None if wanted is None else wanted.digest(),
                "corpus": [source.description, source.size],
                "shard": shard,
                "block_size": block_size,
                **({} if spread is None else {"spread": spread}),
            }
            arrays = run.resumable(Checkpoint(Path(checkpoint), identity, checkpoint_seconds), room)
        else:
            arrays = run.straight(room)
        if wanted is not None and wanted.any_label:
            wanted = wanted | Targets.spans(matcher.keys[len(wanted) :])
        told: dict[str, Any] = {**arrays, **run.amounts}
        if spread is not None:
            told["groups"] = GroupSums.of_rows(arrays, spread)
            told |= {name: array.reshape(-1, spread, *array.shape[1:]).sum(axis=1) for name, array in arrays.items()}
        return cls(
            matcher.keys, settings=settings, fingerprint=vectors.fingerprint, targets=wanted, weights=weights, **told
        )

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def dimension(self) -> int:
        return int(self.sums.shape[1])

    @property
    def seen(self) -> npt.NDArray[np.intp]:
        """The rows that have anything to average: targets met at least once beside a word with a vector."""
        return np.flatnonzero(self.totals > 0)

    def means(self, rows: npt.NDArray[np.intp] | slice | None = None) -> Doubles:
        """u_f for the given rows (default: those `seen`), by the averaging of the settings."""
        chosen = self.seen if rows is None else rows
        averaging = self.settings.averaging
        by: npt.NDArray[Any]
        if averaging == "occurrence":
            by = self.occurrences
        elif averaging == "token":
            by = self.totals
        else:
            by = self.contexts
        result: Doubles = self.sums[chosen] / by[chosen, None]
        return result

    def with_averaging(self, averaging: Averaging) -> "ContextSums":
        """The same sums under another average; only `occurrence` and `token` share their sums."""
        if averaging == self.settings.averaging:
            return self
        if "context" in (averaging, self.settings.averaging):
            raise BadSums(
                f"sums collected for the average {self.settings.averaging!r} cannot be turned into "
                f"{averaging!r}; collect them again with averaging={averaging!r}"
            )
        return replace(self, settings=replace(self.settings, averaging=averaging))

    def without_spread(self) -> "ContextSums":
        """The plain sums."""
        return replace(self, groups=None)

    def __add__(self, other: "ContextSums") -> "ContextSums":
        if not isinstance(other, ContextSums):
            return NotImplemented
        self._check_addable(other)
        if self.keys == other.keys:
            keys, mine, theirs = self.keys, slice(None), slice(None)
        else:
            places = {key: place for place, key in enumerate(self.keys)}
            for key in other.keys:
                places.setdefault(key, len(places))
            keys = list(places)
            mine = slice(0, len(self))  # its keys come first
            theirs = np.array([places[key] for key in other.keys], dtype=np.intp)  # type: ignore[assignment]

        def total(name: str, one: Any = self, two: Any = other) -> npt.NDArray[Any]:
            first, second = getattr(one, name), getattr(two, name)
            result = np.zeros((len(keys), *first.shape[1:]), dtype=first.dtype)
            result[mine] = first
            result[theirs] += second
            return result

        groups = None
        if self.groups is not None:
            groups = GroupSums(*(total(name, self.groups, other.groups) for name in NAMES))
        targets = None
        if self.targets is not None and other.targets is not None:
            targets = self.targets | other.targets
        return ContextSums(
            keys, total("sums"), total("occurrences"), total("contexts"), total("tokens"), total("totals"),
            self.settings, self.fingerprint, targets, self.weights, self.documents + other.documents,
            self.tokens_read + other.tokens_read, self.tokens_known + other.tokens_known, groups,
        )  # fmt: skip

    def _check_addable(self, other: "ContextSums") -> None:
        if self.fingerprint != other.fingerprint or self.dimension != other.dimension:
            raise BadSums("these sums were made with different vectors; collect both with the same")
        mine, theirs = asdict(self.settings), asdict(other.settings)
        differing = [f"{name} ({mine[name]} and {theirs[name]})" for name in mine if mine[name] != theirs[name]]
        if differing:
            raise BadSums(f"these sums differ in {', '.join(differing)}; collect both with the same settings")
        if (self.targets is None) != (other.targets is None):
            raise BadSums("one of these sums covers the whole vocabulary and the other chosen targets")
        groups = [0 if sums.groups is None else len(sums.groups) for sums in (self, other)]
        if groups[0] != groups[1]:
            raise BadSums(
                f"these sums were collected with spread {groups[0] or 'none'} and {groups[1] or 'none'}; collect both "
                "with the same, or drop it with without_spread()"
            )

    # --------------------------------------------------------------------------------------------- files

    def save(self, path: str | PathLike[str]) -> None:
        """One safetensors file, written completely or not at all; of a whole vocabulary, the words that were met."""
        met: Any = slice(None) if self.targets is not None else np.flatnonzero(self.occurrences)
        words, offsets = pack_words(np.array(self.keys, dtype=object)[met])
        metadata = {
            "format": "alacarte.ContextSums/1",
            "settings": json.dumps(asdict(self.settings)),
            "fingerprint": self.fingerprint,
            "targets": json.dumps(None if self.targets is None else self.targets.to_state()),
            "read": json.dumps([self.documents, self.tokens_read, self.tokens_known]),
        }
        arrays = {name: getattr(self, name)[met] for name in _ARRAYS}
        if self.groups is not None:
            arrays |= {f"group_{name}": getattr(self.groups, name)[met] for name in NAMES}
        if self.weights.values is not None:
            arrays["context_weights"] = self.weights.values
        write_tensors(path, {**arrays, "words": words, "word_offsets": offsets}, metadata)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "ContextSums":
        tensors, metadata = read_tensors(path, BadSums)
        if metadata.get("format") != "alacarte.ContextSums/1":
            raise BadSums(
                f"{path}: no context sums but {metadata.get('format', 'something else')!r}; `alc inspect` tells more"
            )
        return cls.from_tensors(tensors, metadata)

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, npt.NDArray[Any]], metadata: Mapping[str, str]) -> "ContextSums":
        keys = unpack_words(tensors["words"], tensors["word_offsets"])
        state = json.loads(metadata["targets"])
        settings = Reading(**json.loads(metadata["settings"]))
        return cls(
            keys,
            **{name: tensors[name] for name in _ARRAYS},
            settings=settings,
            fingerprint=metadata["fingerprint"],
            targets=None if state is None else Targets.from_state(keys, state),
            weights=ContextWeights(settings.weights, tensors.get("context_weights")),
            documents=(read := json.loads(metadata["read"]))[0],
            tokens_read=read[1],
            tokens_known=read[2],
            groups=GroupSums(*(tensors[f"group_{name}"] for name in NAMES)) if "group_sums" in tensors else None,
        )


_ARRAYS = ("sums", *COUNTS)


def count_words(
    vectors: WordVectors,
    corpus: CorpusLike,
    tokenizer: TokenizerLike = "words",
    *,
    show_progress: bool | None = None,
    callback: ProgressCallback | None = None,
) -> Counts:
    """How often each word of the vectors occurs in a corpus.

    >>> count_words(WordVectors(["b", "a"], [[1.0], [2.0]]), ["a b a c", ["a"]]).tolist()
    [1, 3]
    """
    source, split = Corpus.of(corpus), get_tokenizer(tokenizer)
    lexicon = Lexicon(vectors.key_to_index)
    counts = np.zeros(len(vectors), dtype=np.int64)
    with progress(*extent(source), "counting words", show_progress, callback) as bar:
        encoder = Encoder(split, lexicon)
        for block in source.blocks():
            ids = encoder.encode(block).ids
            counts += np.bincount(ids[ids >= 0], minlength=len(counts))
            bar.update_to(block.position)
    return counts


def merge(parts: Sequence[ContextSums]) -> ContextSums:
    """The sum of any number of `ContextSums`."""
    if not parts:
        raise BadSums("there is nothing to merge; name at least one file of sums")
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
