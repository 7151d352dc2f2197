"""`ContextSums`: per target, the sum of its context vectors and what is needed for each of the three averages.

Sums are whole numbers (`alacarte.contexts.scale`), so they can be added and taken away again to the last bit, in any
order. They know which units of text they hold, so that no text is counted twice by mistake.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from alacarte._io import html
from alacarte._io.artifact import Artifact, read_artifact, word_tensors, write_artifact
from alacarte._io.tensors import Computed
from alacarte.contexts.averaging import divisor
from alacarte.contexts.reading import Averaging, Reading
from alacarte.contexts.scale import Scale, most_windows
from alacarte.contexts.weights import UNIFORM, ContextWeights
from alacarte.errors import BadSums, Hint
from alacarte.targets.targets import Targets
from alacarte.text.units import Unit, pack_units, unpack_units

Doubles = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

KIND, VERSION = "context sums", 1


@dataclass(frozen=True, eq=False)
class Sums:
    """Whole numbers for each target, or for each target and group: `sums` has the dimensions behind these."""

    sums: Counts  # in units of `Scale.sum_units`
    totals: Counts  # the total weight of the context words, in units of 2^-Scale.weights
    tokens: Counts  # context words that count
    occurrences: Counts
    contexts: Counts  # occurrences with at least one context word that counts

    def take(self, rows: Any) -> "Sums":
        """The sums of some targets."""
        arrays: list[Any] = [getattr(self, name) for name in _NAMES]
        taken: list[Any] = [array.take(rows) if isinstance(array, Computed) else array[rows] for array in arrays]
        return Sums(*taken)

    def add(self, other: "Sums", rows: Any, sign: int = 1) -> None:
        """Add (or take away) sums to those of `rows`, in place."""
        for name in _NAMES:
            getattr(self, name)[rows] += sign * getattr(other, name)

    def grown(self, size: int) -> "Sums":
        """A copy with room for so many targets."""
        grown = [np.zeros((size, *getattr(self, name).shape[1:]), dtype=np.int64) for name in _NAMES]
        for array, name in zip(grown, _NAMES, strict=True):
            array[: len(self.occurrences)] = getattr(self, name)
        return Sums(*grown)

    def any_count_below_zero(self) -> bool:
        """Whether more was taken away than there was."""
        return any(bool((getattr(self, name) < 0).any()) for name in _NAMES if name != "sums")

    def over_groups(self) -> "Sums":
        """Groups added up."""
        return Sums(*(getattr(self, name).sum(axis=1) for name in _NAMES))

    def divisor(self, scale: Scale, averaging: Averaging) -> npt.NDArray[Any]:
        """What each sum is divided by to be an average."""
        weights = self.totals * float(np.exp2(-scale.weights))
        return divisor(averaging, self.occurrences, weights, self.contexts)

    def means(self, scale: Scale, averaging: Averaging, rows: Any = slice(None)) -> Doubles:
        """The averages of some targets, in float64."""
        chosen = self.take(rows)
        return np.asarray(chosen.sums * scale.sum_units / chosen.divisor(scale, averaging)[..., None])

    def __len__(self) -> int:
        return len(self.occurrences)


_NAMES = tuple(item.name for item in fields(Sums))


@dataclass(frozen=True, eq=False)
class ContextSums:
    """Per target: the sum of its context vectors, in whole numbers, and what each of the three averages divides by.

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

    def __len__(self) -> int:
        return len(self.keys)

    def __repr__(self) -> str:
        met = f"{int(self.occurrences.sum()):,} occurrences in {self.documents:,} documents"
        spread = f", {self.spread} groups" if self.spread else ""
        return f"ContextSums({len(self):,} targets, {self.dimension} dimensions, {met}{spread})"

    def _repr_html_(self) -> str:
        rows = [[key, int(count)] for key, count in zip(self.keys[:10], self.occurrences[:10], strict=True)]
        facts = {"contexts": self.settings.described, "tokens read": self.tokens_read, "units of text": len(self.units)}
        return html.card(repr(self), facts, html.table(["target", "occurrences"], rows, [False, True]))

    @property
    def dimension(self) -> int:
        return int(self.all.sums.shape[1])

    @property
    def occurrences(self) -> Counts:
        """How often each target occurs."""
        return self.all.occurrences

    @property
    def contexts(self) -> Counts:
        """How many of the occurrences have at least one context word that counts."""
        return self.all.contexts

    @property
    def tokens(self) -> Counts:
        """How many context words count, over all occurrences."""
        return self.all.tokens

    @property
    def total_weights(self) -> Doubles:
        """The total weight of these words; equal to `tokens` when nothing is weighted."""
        return np.asarray(self.all.totals * float(np.exp2(-self.scale.weights)))

    @property
    def spread(self) -> int | None:
        """How many groups of documents there are, if `spread` was asked for."""
        return None if self.groups is None else int(self.groups.occurrences.shape[1])

    @property
    def seen(self) -> npt.NDArray[np.intp]:
        """The rows that have anything to average: targets met at least once beside a word with a vector."""
        return np.flatnonzero(self.all.totals > 0)

    def vectors(self, rows: Any = slice(None)) -> Doubles:
        """The sums of context vectors as float64 (under averaging="context", the sums of means)."""
        return np.asarray(self.all.sums[rows] * self.scale.sum_units)

    def means(self, rows: npt.NDArray[np.intp] | slice | None = None) -> Doubles:
        """u_f for the given rows (default: those `seen`), by the averaging of the settings, in float64."""
        return self.all.means(self.scale, self.settings.averaging, self.seen if rows is None else rows)

    def group_sums(self, rows: Any = slice(None)) -> tuple[Doubles, Doubles]:
        """(sums of context vectors, what they are divided by) for each of the targets and each group of documents."""
        if self.groups is None:
            raise BadSums("these sums have no groups of documents; collect them with spread=16 (--spread 16)")
        chosen = self.groups.take(rows)
        weights = chosen.divisor(self.scale, self.settings.averaging).astype(np.float64)
        return np.asarray(chosen.sums * self.scale.sum_units), weights

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

    # ------------------------------------------------------------------------------------ adding and taking away

    def __add__(self, other: "ContextSums") -> "ContextSums":
        """The sums of both texts; text that is in both is refused (`merge(…, repeated=True)` counts it twice)."""
        if not isinstance(other, ContextSums):
            return NotImplemented
        return merge([self, other])

    def __sub__(self, other: "ContextSums") -> "ContextSums":
        """The sums without those of a text that is part of them: a document to forget, a day that has passed."""
        if not isinstance(other, ContextSums):
            return NotImplemented
        self._check_compatible(other)
        lacking = other.units - self.units
        if lacking:
            raise BadSums(f"{next(iter(lacking)).name} is not part of these sums, so it cannot be taken away")
        places = {key: place for place, key in enumerate(self.keys)}
        absent = [key for key, count in zip(other.keys, other.occurrences, strict=True) if count and key not in places]
        if absent:
            raise BadSums(f"{absent[0]!r} does not occur in these sums, so it cannot be taken away")
        shared = [row for row, key in enumerate(other.keys) if key in places]
        rows = np.array([places[other.keys[row]] for row in shared], dtype=np.intp)
        total = self.all.grown(len(self))
        total.add(other.all.take(shared), rows, sign=-1)
        groups = None
        if self.groups is not None and other.groups is not None:
            groups = self.groups.grown(len(self))
            groups.add(other.groups.take(shared), rows, sign=-1)
        lacking_text = self.tokens_read < other.tokens_read or self.documents < other.documents
        if lacking_text or total.any_count_below_zero() or (groups is not None and groups.any_count_below_zero()):
            raise BadSums("more was taken away than there is; these sums do not hold that text")
        result = replace(
            self,
            all=total,
            groups=groups,
            documents=self.documents - other.documents,
            tokens_read=self.tokens_read - other.tokens_read,
            tokens_known=self.tokens_known - other.tokens_known,
            units=self.units - other.units,
        )
        return result._without_labels_that_are_gone()

    def _without_labels_that_are_gone(self) -> "ContextSums":
        """Labels are targets only because they occurred."""
        if self.targets is None or not self.targets.any_label:
            return self
        kept = [row for row in range(len(self)) if self.occurrences[row] or not self.targets.is_label(self.keys[row])]
        return self._select(kept) if len(kept) < len(self) else self

    def _met(self) -> "ContextSums":
        """Without targets that do not occur."""
        return self._select(np.flatnonzero(self.occurrences).tolist())

    def _select(self, rows: Sequence[int]) -> "ContextSums":
        keys = [self.keys[row] for row in rows]
        targets = None if self.targets is None else self.targets.only(keys)
        groups = None if self.groups is None else self.groups.take(rows)
        return replace(self, keys=keys, all=self.all.take(rows), groups=groups, targets=targets)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ContextSums):
            return NotImplemented
        if (
            self.targets is None and other.targets is None and len(self) != len(other)
        ):  # saved ones lack what is not met
            one, two = self._met(), other._met()
            return len(one) == len(two) and one == two
        plain = ("keys", "scale", "settings", "fingerprint", "targets", "documents", "tokens_read", "tokens_known")
        if any(getattr(self, name) != getattr(other, name) for name in (*plain, "units", "spread")):
            return False
        pairs = [(self.all, other.all)]
        if self.groups is not None and other.groups is not None:
            pairs.append((self.groups, other.groups))
        return all(np.array_equal(getattr(a, name), getattr(b, name)) for a, b in pairs for name in _NAMES)

    __hash__ = None  # type: ignore[assignment]

    def _check_compatible(self, other: "ContextSums") -> None:
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
                "both with the same, or drop it with without_spread()"
            )

    # --------------------------------------------------------------------------------------------- files

    def save(self, path: str | PathLike[str]) -> None:
        """One file, written completely or not at all; of a whole vocabulary, the words that were met."""
        keys, total, groups = self.keys, self.all, self.groups
        if self.targets is None:
            met = np.flatnonzero(self.occurrences)
            keys = [keys[row] for row in met.tolist()]
            total, groups = total.take(met), None if groups is None else groups.take(met)
        tensors: dict[str, Any] = {name: getattr(total, name) for name in _NAMES}
        if groups is not None:
            tensors |= {f"group_{name}": getattr(groups, name) for name in _NAMES}
        if self.weights.values is not None:
            tensors["context_weights"] = self.weights.values
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
        """Sums that `save` wrote; the arrays lie in the file."""
        return read_artifact(path, KIND, BadSums, VERSION).decode(cls.from_artifact)

    @classmethod
    def from_artifact(cls, artifact: Artifact) -> "ContextSums":
        keys = artifact.words()
        state = artifact.value("targets", object)
        settings = artifact.record("settings", Reading)
        scale = Scale(
            artifact.tensor("row_exponents", np.int16, 1),
            artifact.tensor("sum_exponents", np.int16, 1),
            artifact.value("weight_exponent", int),
        )
        total = Sums(*(artifact.tensor(name, np.int64, 2 if name == "sums" else 1) for name in _NAMES))
        groups = None
        if "group_sums" in artifact.tensors:
            names = [(name, 3 if name == "sums" else 2) for name in _NAMES]
            groups = Sums(*(artifact.tensor(f"group_{name}", np.int64, ndim) for name, ndim in names))
        whole = all(len(getattr(total, name)) == len(keys) for name in _NAMES)
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
        )


def describe(artifact: Artifact) -> dict[str, Any]:
    """What is in a file of sums, for people."""
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
        "fingerprint_of_vectors": sums.fingerprint,
        "settings": asdict(sums.settings),
    }


def merge(parts: Iterable[ContextSums], *, repeated: bool = False) -> ContextSums:
    """The sum of any number of `ContextSums`, exact and the same in any order.

    Text that is in two of them is refused, unless `repeated` says that it is to count as often as it is there.

    >>> from alacarte import WordVectors, collect
    >>> vectors = WordVectors(["a", "b"], [[1.0], [2.0]])
    >>> merge([collect(vectors, ["a b"]), collect(vectors, ["b b"])]).occurrences.tolist()
    [1, 3]
    """
    listed = list(parts)
    if not listed:
        raise BadSums("there is nothing to merge; name at least one file of sums")
    first = listed[0]
    places = {key: place for place, key in enumerate(first.keys)}
    units = set(first.units)
    for part in listed[1:]:
        first._check_compatible(part)
        for key in part.keys:
            places.setdefault(key, len(places))
        twice = units & part.units
        if twice and not repeated:
            raise BadSums(
                f"{next(iter(twice)).name} is in more than one of these sums and would be counted twice; leave one out",
                hint=Hint("or pass repeated=True if it should be", "or pass --repeated if it should be"),
            )
        units |= part.units
    total = first.all.grown(len(places))
    groups = None if first.groups is None else first.groups.grown(len(places))
    targets = first.targets
    for part in listed[1:]:
        same = part.keys == first.keys
        rows: Any = slice(None) if same else np.array([places[key] for key in part.keys], dtype=np.intp)
        if same and len(places) > len(first.keys):
            rows = slice(0, len(first.keys))
        total.add(part.all, rows)
        if groups is not None and part.groups is not None:
            groups.add(part.groups, rows)
        if targets is not None and part.targets is not None:
            targets = targets | part.targets
    keys = list(places)
    if targets is not None and targets.any_label:
        order = targets.in_order(keys)
        keys, total = [keys[place] for place in order], total.take(order)
        groups, targets = None if groups is None else groups.take(order), targets.only(keys)
    most = int(total.occurrences.max(initial=0))
    possible = most_windows(first.settings, first.scale)
    if most > possible:
        raise BadSums(f"{most:,} occurrences of one target are more than sums can hold ({possible:,})")
    return replace(
        first,
        keys=keys,
        all=total,
        groups=groups,
        targets=targets,
        documents=sum(part.documents for part in listed),
        tokens_read=sum(part.tokens_read for part in listed),
        tokens_known=sum(part.tokens_known for part in listed),
        units=frozenset(units),
    )
