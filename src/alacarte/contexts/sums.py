"""`ContextSums`: per target, the sum of its context vectors and what is needed for each of the three averages.

Sums are whole numbers (`alacarte.contexts.scale`), so they can be added and subtracted to the last bit, in any order.
They know which units of text they hold, so that no text is counted twice by mistake.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from os import PathLike
from typing import Any

import numpy as np

from alacarte._io import html
from alacarte._io.arrays import Doubles, Longs, Rows
from alacarte._io.artifact import Artifact, read_artifact, word_tensors, write_artifact
from alacarte._io.tensors import Computed
from alacarte.contexts.averaging import divisor
from alacarte.contexts.reading import Averaging, Reading
from alacarte.contexts.scale import Scale
from alacarte.contexts.shared_words import SharedWords
from alacarte.contexts.weights import UNIFORM, ContextWeights
from alacarte.errors import BadSums
from alacarte.targets.targets import Targets
from alacarte.text.units import Unit, pack_units, unpack_units

KIND, VERSION = "context sums", 1
ROWS_CHECKED = 1 << 16  # whose counts are checked at a time


@dataclass(frozen=True, eq=False)
class Sums:
    """Whole numbers for each target, or for each target and group: `sums` has the dimensions behind these."""

    sums: Longs  # in units of `Scale.sum_units`
    totals: Longs  # the total weight of the context words, in units of 2^-Scale.weights
    tokens: Longs  # context words that count
    occurrences: Longs
    contexts: Longs  # occurrences with at least one context word that counts

    def take(self, rows: Any) -> "Sums":
        """Return the sums of some targets only."""
        arrays: list[Any] = [getattr(self, name) for name in SUM_FIELDS]
        taken: list[Any] = [array.take(rows) if isinstance(array, Computed) else array[rows] for array in arrays]
        return Sums(*taken)

    def __sub__(self, other: "Sums") -> "Sums":
        """Return the sums less others of the same targets."""
        return Sums(*(getattr(self, name) - getattr(other, name) for name in SUM_FIELDS))

    def any_count_below_zero(self) -> bool:
        """Whether more was subtracted than there was."""
        counts = [getattr(self, name) for name in SUM_FIELDS if name != "sums"]
        return any(
            bool((count[low : low + ROWS_CHECKED] < 0).any())
            for count in counts
            for low in range(0, len(count), ROWS_CHECKED)
        )

    def in_memory(self) -> "Sums":
        """Return the same, without arrays that are computed only when they are written."""
        arrays: list[Any] = [getattr(self, name) for name in SUM_FIELDS]
        return Sums(*[array.whole() if isinstance(array, Computed) else array for array in arrays])

    def over_groups(self) -> "Sums":
        """Return the sums of all groups together."""
        return Sums(*(getattr(self, name).sum(axis=1) for name in SUM_FIELDS))

    def divisor(self, scale: Scale, averaging: Averaging) -> Any:
        """Return what each sum is divided by to be an average."""
        weights = self.totals * float(np.exp2(-scale.weights))
        return divisor(averaging, self.occurrences, weights, self.contexts)

    def means(self, scale: Scale, averaging: Averaging, rows: Any = slice(None)) -> Doubles:
        """Return the averages of some targets, in float64."""
        chosen = self.take(rows)
        return np.asarray(chosen.sums * scale.sum_units / chosen.divisor(scale, averaging)[..., None])

    def __len__(self) -> int:
        return len(self.occurrences)


SUM_FIELDS = tuple(item.name for item in fields(Sums))


@dataclass(frozen=True, eq=False)
class ContextSums:
    """The sums of context vectors per target, in whole numbers, and what averages divide them by.

    `alacarte.collect` and `ALaCarte.collect` return them. They can be saved, added and subtracted, exactly.

    Attributes
    ----------
    keys : list of str
        The targets.
    all : Sums
        The sums and counts as integers.
    settings : Reading
        How contexts were read.
    fingerprint : str
        The vectors they are sums of.
    targets : Targets or None
        What was looked for; None for every word of the vectors.
    documents, tokens_read, tokens_known : int
        How much text was read, and how many of its tokens have a vector.

    Examples
    --------
    >>> from alacarte import WordVectors, collect
    >>> vectors = WordVectors(["a", "b", "c"], [[1, 0], [0, 1], [2, 2]])
    >>> sums = collect(vectors, ["a b x c a x zz a"], ["x", "a"], window=2)
    >>> sums.keys, sums.vectors().tolist(), sums.occurrences.tolist()
    (['x', 'a'], [[8.0, 5.0], [2.0, 3.0]], [2, 3])
    >>> (sums + sums).occurrences.tolist(), (sums + sums) - sums == sums
    ([4, 6], True)
    """

    keys: list[str]
    all: Sums
    scale: Scale
    settings: Reading
    fingerprint: str  # of the vectors
    targets: Targets | None  # None: every word of the vectors
    weights: ContextWeights = UNIFORM
    documents: int = 0
    tokens_read: int = 0
    tokens_known: int = 0  # of these, tokens that have a vector
    groups: Sums | None = None  # the same by group of documents, if `spread` was asked for
    units: frozenset[Unit] = field(default_factory=frozenset)  # of text that has a name
    shared: SharedWords | None = None  # what the text can be adapted to with, if that was asked for

    def __len__(self) -> int:
        return len(self.keys)

    def __repr__(self) -> str:
        found = f"{int(self.occurrences.sum()):,} occurrences in {self.documents:,} documents"
        spread = f", {self.spread} groups" if self.spread else ""
        return f"ContextSums({len(self):,} targets, {self.dimension} dimensions, {found}{spread})"

    def _repr_html_(self) -> str:
        rows = [[key, int(count)] for key, count in zip(self.keys[:10], self.occurrences[:10], strict=True)]
        facts = {"contexts": self.settings.described, "tokens read": self.tokens_read, "units of text": len(self.units)}
        return html.card(repr(self), facts, html.table(["target", "occurrences"], rows, [False, True]))

    @property
    def dimension(self) -> int:
        """How many dimensions the vectors have."""
        return int(self.all.sums.shape[1])

    @property
    def occurrences(self) -> Longs:
        """How often each target occurs, as an array."""
        return self.all.occurrences

    @property
    def contexts(self) -> Longs:
        """How many occurrences of each target have at least one context word that counts."""
        return self.all.contexts

    @property
    def tokens(self) -> Longs:
        """How many context words count, over all occurrences of each target."""
        return self.all.tokens

    @property
    def total_weights(self) -> Doubles:
        """The total weight of the context words; equal to `tokens` when nothing is weighted."""
        return np.asarray(self.all.totals * float(np.exp2(-self.scale.weights)))

    @property
    def spread(self) -> int | None:
        """How many groups of documents there are, if `spread` was asked for."""
        return None if self.groups is None else int(self.groups.occurrences.shape[1])

    @property
    def seen(self) -> Rows:
        """The rows of targets that occur at least once beside a word with a vector."""
        return np.flatnonzero(self.all.totals > 0)

    def vectors(self, rows: Any = slice(None)) -> Doubles:
        """Return the sums of context vectors as float64 (under averaging="context", the sums of means)."""
        return np.asarray(self.all.sums[rows] * self.scale.sum_units)

    def means(self, rows: Rows | slice | None = None) -> Doubles:
        """Return the average context vector of some rows, by default those `seen`, in float64."""
        return self.all.means(self.scale, self.settings.averaging, self.seen if rows is None else rows)

    def group_sums(self, rows: Any = slice(None)) -> tuple[Doubles, Doubles]:
        """Return (sums of context vectors, divisors) for each target and each group of documents."""
        if self.groups is None:
            raise BadSums("these sums have no groups of documents; collect them with spread=16 (--spread 16)")
        chosen = self.groups.take(rows)
        weights = chosen.divisor(self.scale, self.settings.averaging).astype(np.float64)
        return np.asarray(chosen.sums * self.scale.sum_units), weights

    def with_averaging(self, averaging: Averaging) -> "ContextSums":
        """Return the same sums under another average; only `occurrence` and `token` share their sums."""
        if averaging == self.settings.averaging:
            return self
        if "context" in (averaging, self.settings.averaging):
            raise BadSums(
                f"sums collected for the average {self.settings.averaging!r} cannot be turned into "
                f"{averaging!r}; collect them again with averaging={averaging!r}"
            )
        return replace(self, settings=replace(self.settings, averaging=averaging))

    def by_weight(self) -> "ContextSums":
        """Return the same sums with averages that do not depend on how many words a context has."""
        return self if self.settings.averaging == "context" else self.with_averaging("token")

    def without_spread(self) -> "ContextSums":
        """Return the same sums without those by group of documents."""
        return replace(self, groups=None)

    def without_shared_words(self) -> "ContextSums":
        """Return the same sums without those of the words that the text shares with the vectors."""
        return replace(self, shared=None)

    # ------------------------------------------------------------------------------------ adding and taking away

    def __add__(self, other: "ContextSums") -> "ContextSums":
        """Return the sums of both texts; text that is in both is refused."""
        if not isinstance(other, ContextSums):
            return NotImplemented
        from alacarte.contexts.merging import merge

        return merge([self, other])

    def __sub__(self, other: "ContextSums") -> "ContextSums":
        """Return the sums without those of a text that is part of them, such as a document to forget."""
        if not isinstance(other, ContextSums):
            return NotImplemented
        from alacarte.contexts.merging import subtract

        return subtract(self, other)

    def _in_memory(self) -> "ContextSums":
        return replace(self, all=self.all.in_memory(), groups=None if self.groups is None else self.groups.in_memory())

    def _without_labels_that_are_gone(self) -> "ContextSums":
        """Return the sums without labels that no longer occur: labels are targets only because they occurred."""
        if self.targets is None or not self.targets.any_label:
            return self
        kept = [row for row in range(len(self)) if self.occurrences[row] or not self.targets.is_label(self.keys[row])]
        return self._select(kept) if len(kept) < len(self) else self

    def _occurring(self) -> "ContextSums":
        """Return only the targets that occur, in alphabetical order."""
        return self._select(sorted(np.flatnonzero(self.occurrences).tolist(), key=self.keys.__getitem__))

    def _select(self, listed: Sequence[int]) -> "ContextSums":
        rows = np.array(listed, dtype=np.intp)
        keys = [self.keys[row] for row in listed]
        targets = None if self.targets is None else self.targets.only(keys)
        groups = None if self.groups is None else self.groups.take(rows)
        return replace(self, keys=keys, all=self.all.take(rows), groups=groups, targets=targets)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ContextSums):
            return NotImplemented
        if self.targets is None and other.targets is None and self.keys != other.keys:
            # Saved sums lack words that do not occur, and merged ones list words as they turn up.
            one, two = self._occurring(), other._occurring()
            return one.keys == two.keys and one == two
        plain = ("keys", "scale", "settings", "fingerprint", "targets", "documents", "tokens_read", "tokens_known")
        if any(getattr(self, name) != getattr(other, name) for name in (*plain, "units", "spread")):
            return False
        if self.shared is None or other.shared is None:
            if self.shared is not other.shared:
                return False
        elif not self.shared.same(other.shared):
            return False
        pairs = [(self.all, other.all)]
        if self.groups is not None and other.groups is not None:
            pairs.append((self.groups, other.groups))
        return all(np.array_equal(getattr(a, name), getattr(b, name)) for a, b in pairs for name in SUM_FIELDS)

    __hash__ = None  # type: ignore[assignment]

    def check_compatible(self, other: "ContextSums") -> None:
        """Raise `BadSums` unless both were collected in the same way."""
        if self.fingerprint != other.fingerprint or self.dimension != other.dimension:
            raise BadSums("these sums were made with different vectors; collect both with the same")
        mine, theirs = asdict(self.settings), asdict(other.settings)
        differing = [f"{name} ({mine[name]} and {theirs[name]})" for name in mine if mine[name] != theirs[name]]
        if differing:
            raise BadSums(f"these sums differ in {', '.join(differing)}; collect both with the same settings")
        if self.scale != other.scale:
            raise BadSums("these sums have different scales; collect both with the same version of alacarte")
        if (self.targets is None) != (other.targets is None):
            raise BadSums("one of these sums covers the whole vocabulary and the other chosen targets")
        if self.spread != other.spread:
            raise BadSums(
                f"these sums were collected with spread {self.spread or 'none'} and {other.spread or 'none'}; collect "
                "both with the same"
            )
        if (self.shared is None) != (other.shared is None):
            raise BadSums(
                "only one of these sums holds what vectors are adapted to its text with; collect both with adapt=True, "
                "or drop it with without_shared_words()"
            )

    # --------------------------------------------------------------------------------------------- files

    def save(self, path: str | PathLike[str]) -> None:
        """Save the sums as one file, completely or not at all; of a whole vocabulary, the words that occur."""
        keys, total, groups = self.keys, self.all, self.groups
        if self.targets is None:
            rows = np.flatnonzero(self.occurrences)
            keys = [keys[row] for row in rows.tolist()]
            total, groups = total.take(rows), None if groups is None else groups.take(rows)
        tensors: dict[str, Any] = {name: getattr(total, name) for name in SUM_FIELDS}
        if groups is not None:
            tensors |= {f"group_{name}": getattr(groups, name) for name in SUM_FIELDS}
        if self.weights.values is not None:
            tensors["context_weights"] = self.weights.values
        if self.shared is not None:
            tensors |= self.shared.tensors()
        tensors |= {"row_exponents": self.scale.rows, "sum_exponents": self.scale.sums}
        metadata = {
            "settings": asdict(self.settings),
            "fingerprint": self.fingerprint,
            "weights_words": self.weights.words,
            "targets": None if self.targets is None else self.targets.to_state(),
            "weight_exponent": self.scale.weights,
            "read": [self.documents, self.tokens_read, self.tokens_known],
        }
        write_artifact(path, KIND, {**tensors, **word_tensors(keys), **pack_units(self.units)}, metadata, VERSION)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "ContextSums":
        """Load sums that `save` wrote; their arrays are memory-mapped."""
        return read_artifact(path, KIND, BadSums, VERSION).decode(cls.from_artifact)

    @classmethod
    def from_artifact(cls, artifact: Artifact) -> "ContextSums":
        """Return the sums in an artifact of ours."""
        keys = artifact.words()
        state = artifact.value("targets", object)
        settings = artifact.record("settings", Reading)
        scale = Scale(
            artifact.tensor("row_exponents", np.int16, 1),
            artifact.tensor("sum_exponents", np.int16, 1),
            artifact.value("weight_exponent", int),
        )
        total = Sums(*(artifact.tensor(name, np.int64, 2 if name == "sums" else 1) for name in SUM_FIELDS))
        groups = None
        if "group_sums" in artifact.tensors:
            names = [(name, 3 if name == "sums" else 2) for name in SUM_FIELDS]
            groups = Sums(*(artifact.tensor(f"group_{name}", np.int64, ndim) for name, ndim in names))
        whole = all(len(getattr(total, name)) == len(keys) for name in SUM_FIELDS)
        read = artifact.value("read", list)
        if not whole or total.sums.shape[1] != len(scale.rows) or len(read) != 3:
            raise artifact.damaged("its parts do not belong together")
        if not all(type(amount) is int and amount >= 0 for amount in read) or abs(scale.weights) > 2000:
            raise artifact.damaged("its numbers make no sense")
        return cls(
            keys,
            total,
            scale,
            settings,
            artifact.value("fingerprint", str),
            None if state is None else Targets.from_state(keys, state),  # type: ignore[arg-type]
            ContextWeights(
                settings.weights, artifact.tensors.get("context_weights"), artifact.optional("weights_words", str)
            ),
            documents=read[0],
            tokens_read=read[1],
            tokens_known=read[2],
            groups=groups,
            units=frozenset(unpack_units(artifact.tensors)),
            shared=SharedWords.from_artifact(artifact, len(scale.rows)),
        )


def describe(artifact: Artifact) -> dict[str, Any]:
    """Return what is in a file of sums, for people."""
    sums = ContextSums.from_artifact(artifact)
    return {
        "targets": len(sums),
        "occurring": int(np.count_nonzero(sums.occurrences)),
        "dimension": sums.dimension,
        "documents": sums.documents,
        "tokens_read": sums.tokens_read,
        "files": sorted({unit.name for unit in sums.units})[:10],
        "first_targets": sums.keys[:10],
        "spread": sums.spread,
        "tokens_for_adaptation": None if sums.shared is None else sums.shared.tokens_used,
        "fingerprint_of_vectors": sums.fingerprint,
        "settings": asdict(sums.settings),
    }
