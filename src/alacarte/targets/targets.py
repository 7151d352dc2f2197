"""What to embed: words, n-grams, patterns over tokens, labelled spans. Compiled once into a matcher over ids.

Overlapping and nested matches all count. A match is (start, end, target); its context are the windows outside it.
"""

import fnmatch
import hashlib
import json
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, get_args

import numpy as np

from alacarte._io import html
from alacarte._io.arrays import Ints, Longs, Mask
from alacarte._io.urls import display_name, locate
from alacarte.errors import BadTargets
from alacarte.targets.sequences import Matches, SequenceTable
from alacarte.text.encoding import Encoded, Encoder, Lexicon
from alacarte.text.tokenizers import Tokenizer

Kind = Literal["words", "tokens", "glob", "regex", "span"]
MANY_CAPITALS = 0.01  # share of words with a capital from which on case means something to the vectors
CASED_AMONG = 5000  # words that are looked at, about


def spelling_hint(keys: "Iterable[str] | Targets", targets: "Targets | None" = None) -> str:
    """Return what to say, after a message, of words that are not found because of how they are written.

    Patterns and labels among `targets` are written as they should be.

    >>> spelling_hint(["acid", "formic_acid"])
    "; words of a phrase are separated by spaces: 'formic acid' rather than 'formic_acid'"
    >>> spelling_hint(["immigr*"])
    "; in 'immigr*' the * is looked for as it is written: a pattern is Targets.glob('immigr*'), or --glob 'immigr*'"
    >>> spelling_hint(["acid"])
    ''
    """
    known = keys if isinstance(keys, Targets) else targets
    listed = [key for key in keys if known is None or known.is_word(key)]
    pattern = next((key for key in listed if len(key) > 1 and "*" in key), None)
    if pattern is not None:
        return (
            f"; in {pattern!r} the * is looked for as it is written: a pattern is Targets.glob({pattern!r}), or --glob "
            f"{pattern!r}"
        )
    key = next((key for key in listed if "_" in key.strip("_")), None)
    if key is None:
        return ""
    return f"; words of a phrase are separated by spaces: {key.replace('_', ' ')!r} rather than {key!r}"


class Targets:
    """An ordered set of things to embed: words, phrases, patterns, labelled spans.

    Two sets are joined by `|`; `&` gives what both look for.

    Parameters
    ----------
    items
        Words and phrases. A string is split into tokens as the corpus is, so that `New York` finds what the corpus
        has; a sequence of tokens is taken as it is, under the key that joins them with spaces.

    Examples
    --------
    >>> Targets(["decorator", "keyword argument"])
    Targets(2: 'decorator', 'keyword argument')
    >>> Targets.glob(["immigr*", "asylum *"]) | Targets(["border"])
    Targets(3: 'immigr*', 'asylum *', 'border')
    """

    def __init__(self, items: "str | Iterable[str | Sequence[str]]" = ()) -> None:
        if isinstance(items, str):
            items = [items]
        if not isinstance(items, Iterable):
            raise BadTargets(f"targets are strings, or sequences of tokens, and not {items!r}")
        pairs: list[tuple[str, Kind]] = []
        for item in items:
            if isinstance(item, str):
                pairs.append((item, "words"))
            elif isinstance(item, Sequence) and item and all(isinstance(token, str) for token in item):
                pairs.append((" ".join(item), "tokens"))
            else:
                raise BadTargets(f"a target is a string or a sequence of tokens, not {item!r}")
        self._set(pairs)

    def _set(self, pairs: Iterable[tuple[str, Kind]], any_label: bool = False) -> "Targets":
        kinds: dict[str, Kind] = {}
        for key, kind in pairs:
            if not key.strip():
                raise BadTargets("a target is empty; leave out blank lines and empty strings")
            # The tokens of a word or phrase, such as `discover` finds them, are the word or phrase.
            if kinds.setdefault(key, kind) != kind and {kinds[key], kind} != {"words", "tokens"}:
                raise BadTargets(
                    f"{key!r} is asked for both as {kinds[key]} and as {kind}; one key can hold one vector, "
                    "so embed them in two runs"
                )
        self._kinds = kinds
        self.any_label = any_label
        return self

    @classmethod
    def _of(cls, pairs: Iterable[tuple[str, Kind]], any_label: bool = False) -> "Targets":
        return cls.__new__(cls)._set(pairs, any_label)

    @classmethod
    def of(cls, what: "TargetsLike") -> "Targets":
        """Return targets from one string, from several, from a `Path` to a file, or as they are."""
        if isinstance(what, Targets):
            return what
        if isinstance(what, PathLike):
            return cls.from_file(what)
        return cls(what)

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> "Targets":
        """Read a file with one target per line; blank lines and repetitions are skipped."""
        try:
            with locate(path, BadTargets).open() as file:
                text = file.read().decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError as error:
            raise BadTargets(
                f"{display_name(path)}: byte {error.start} is not UTF-8; save the list of targets as UTF-8 text"
            ) from None
        except OSError as error:
            raise BadTargets(
                f"{display_name(path)}: {error.strerror}; pass a text file with one target per line"
            ) from None
        items = [line.strip() for line in text.split("\n") if line.strip()]
        if not items:
            raise BadTargets(f"{display_name(path)}: the file is empty; write one word or n-gram per line")
        return cls(items)

    @classmethod
    def ngrams(cls, keys: str | Iterable[str]) -> "Targets":
        """Return n-grams whose tokens are separated by single spaces, such as the keys of induced vectors.

        Examples
        --------
        >>> Targets.ngrams(["new york", "isn t"]) == Targets([["new", "york"], ["isn", "t"]])
        True
        """
        return cls._of((key, "tokens") for key in _as_list(keys))

    @classmethod
    def glob(cls, patterns: str | Iterable[str]) -> "Targets":
        """Return patterns with `*` and `?` that match whole tokens; several tokens are separated by spaces.

        Case counts where the tokenizer keeps it: `US` does not match *us* then.
        """
        return cls._of((pattern, "glob") for pattern in _as_list(patterns))

    @classmethod
    def regex(cls, patterns: str | Iterable[str]) -> "Targets":
        """Return regular expressions that are searched inside tokens; those of several tokens are separated by spaces.

        `^` and `$` are the ends of a token. Case counts where the tokenizer keeps it.
        """
        targets = cls._of((pattern, "regex") for pattern in _as_list(patterns))
        for pattern in targets:
            for part in pattern.split():
                try:
                    re.compile(part)
                except re.error as error:
                    raise BadTargets(f"the regular expression {part!r} is malformed: {error}") from None
        return targets

    @classmethod
    def spans(cls, labels: Iterable[str] | None = None) -> "Targets":
        """Return the annotated spans of documents as targets, all of them or only those with some labels."""
        if labels is None:
            return cls._of((), any_label=True)
        return cls._of((label, "span") for label in _as_list(labels))

    def is_word(self, key: str) -> bool:
        """Return whether a key is a word or phrase as it is written, and not a pattern or a label."""
        return self._kinds.get(key) in ("words", "tokens")

    def is_label(self, key: str) -> bool:
        """Return whether a key is a label of annotated spans."""
        return self._kinds.get(key) == "span"

    def in_order(self, keys: Sequence[str]) -> list[int]:
        """Return the order of some keys in which labels, which turn up in any order, are last and sorted."""
        if not self.any_label:
            return list(range(len(keys)))
        return sorted(range(len(keys)), key=lambda place: keys[place] if self.is_label(keys[place]) else "")

    def only(self, keys: Iterable[str]) -> "Targets":
        """Return some of the targets."""
        return Targets._of(((key, self._kinds[key]) for key in keys), self.any_label)

    def __len__(self) -> int:
        return len(self._kinds)

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __contains__(self, key: object) -> bool:
        return key in self._kinds

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Targets):
            return NotImplemented
        return list(self._kinds.items()) == list(other._kinds.items()) and self.any_label == other.any_label

    __hash__ = None  # type: ignore[assignment]

    def __or__(self, other: "TargetsLike") -> "Targets":
        other = Targets.of(other)
        return Targets._of([*self._kinds.items(), *other._kinds.items()], any_label=self.any_label or other.any_label)

    def __and__(self, other: "Targets") -> "Targets":
        pairs = {**self._kinds, **other._kinds}.items()
        shared = [(key, kind) for key, kind in pairs if self._has(key, kind) and other._has(key, kind)]
        return Targets._of(shared, any_label=self.any_label and other.any_label)

    def _has(self, key: str, kind: Kind) -> bool:
        return self._kinds.get(key) == kind or (kind == "span" and self.any_label)

    def lacking(self, other: "Targets") -> str | None:
        """Return the name of a target of these that `other` lacks, or None if it has all of them.

        Examples
        --------
        >>> Targets(["a", "b"]).lacking(Targets(["b"])), Targets(["b"]).lacking(Targets(["a", "b"]))
        ("'a'", None)
        """
        if self._kinds == other._kinds and self.any_label == other.any_label:
            return None
        if self.any_label and not other.any_label:
            return "every label"
        return next((repr(key) for key, kind in self._kinds.items() if not other._has(key, kind)), None)

    def __repr__(self) -> str:
        shown = ", ".join(repr(key) for key, _ in zip(self, range(5), strict=False))
        more = ", …" if len(self) > 5 else ""
        labels = " + any label" if self.any_label else ""
        if not len(self):
            return "Targets(any label)" if self.any_label else f"{type(self).__name__}(none)"
        return f"{type(self).__name__}({len(self)}: {shown}{more}{labels})"

    def _repr_html_(self) -> str:
        rows = [pair for pair, _ in zip(self._kinds.items(), range(20), strict=False)]
        return html.card(repr(self), {}, html.table(["target", "looked for as"], rows, [False, False]))

    # -------------------------------------------------------------------------------------- save and load

    def to_state(self) -> dict[str, str | bool]:
        """Return all but the keys, as JSON can hold it, for `from_state`."""
        return {"kinds": "".join(kind[0] for kind in self._kinds.values()), "any_label": self.any_label}

    def digest(self) -> str:
        """Return a short name for exactly these targets."""
        content = json.dumps([list(self._kinds), self.to_state()], ensure_ascii=True)
        return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()

    @classmethod
    def from_state(cls, keys: Iterable[str], state: Mapping[str, object]) -> "Targets":
        """Return the targets that `to_state` described."""
        initials: dict[str, Kind] = {"w": "words", "t": "tokens", "g": "glob", "r": "regex", "s": "span"}
        kinds = [initials[initial] for initial in str(state["kinds"])]
        return cls._of(zip(keys, kinds, strict=False), any_label=bool(state["any_label"]))

    # -------------------------------------------------------------------------------------------- compile

    def parts(self, key: str, tokenizer: Tokenizer, known: Mapping[str, int]) -> list[str | re.Pattern[str]]:
        """Return the words of a target, or the patterns that its words match.

        Examples
        --------
        >>> from alacarte.text.tokenizers import get_tokenizer
        >>> Targets.of(["New York"]).parts("New York", get_tokenizer("words"), {})
        ['new', 'york']
        """
        kind = self._kinds[key]
        if kind == "span":
            raise BadTargets(f"{key!r} is a label of spans, and here words are looked for; pass words or patterns")
        if kind in ("glob", "regex"):
            flags = re.NOFLAG if keeps_case(tokenizer) else re.IGNORECASE
            return [_token_pattern(part, kind, flags) for part in key.split()]
        tokens = tokenizer(key, known) if kind == "words" else key.split(" ")
        if not tokens:
            raise _no_token(tokenizer, key)
        return list(tokens)

    def compile(self, lexicon: "Lexicon", tokenizer: Tokenizer) -> "Matcher":
        """Return a matcher over ids, and add the words of the targets to the lexicon."""
        keys, positions_of = list(self._kinds), self._positions()
        found: list[tuple[Ints, Longs, Ints]] = []  # ids, how many each target has, which targets these are
        for kind in ("words", "tokens"):
            positions = positions_of[kind]
            if not positions.size:
                continue
            chosen = keys if len(positions) == len(keys) else [keys[position] for position in positions]
            if kind == "tokens":
                ids, lengths = lexicon.add_sequences(chosen)
            else:
                ids, lengths = Encoder(tokenizer, lexicon).add_texts(chosen)
                if not lengths.all():
                    raise _no_token(tokenizer, chosen[int(np.argmin(lengths))])
            found.append((ids, lengths, positions))
        sequences = None
        if found:
            ids, lengths, positions = (np.concatenate(columns) for columns in zip(*found, strict=True))
            sequences = SequenceTable(ids, lengths, positions, len(lexicon))
        patterns: list[tuple[int, list[Any]]] = [
            (position, self.parts(keys[position], tokenizer, lexicon.index))
            for position in sorted([*positions_of["glob"].tolist(), *positions_of["regex"].tolist()])
        ]
        labels = {keys[position]: position for position in positions_of["span"].tolist()}
        return Matcher(keys, sequences, patterns, labels, self.any_label, lexicon)

    def _positions(self) -> dict[str, Ints]:
        """Return the numbers of the targets of each kind."""
        initials = np.frombuffer(str(self.to_state()["kinds"]).encode(), np.uint8)
        return {kind: np.flatnonzero(initials == ord(kind[0])).astype(np.int32) for kind in get_args(Kind)}


TargetsLike = Targets | str | PathLike[str] | Iterable[str | Sequence[str]]


def _as_list(items: str | Iterable[str]) -> list[str]:
    return [items] if isinstance(items, str) else list(items)


def _no_token(tokenizer: Tokenizer, key: str) -> BadTargets:
    return BadTargets(f"the tokenizer {tokenizer.name!r} finds no token in the target {key!r}")


def _token_pattern(part: str, kind: Kind, flags: re.RegexFlag) -> re.Pattern[str]:
    return re.compile(rf"\A{fnmatch.translate(part)}" if kind == "glob" else part, flags)


def keeps_case(tokenizer: Tokenizer) -> bool:
    """Whether a tokenizer tells capital letters from small ones, so that patterns must, too."""
    return tokenizer("Aa") != tokenizer("aa")


def is_cased(words: Sequence[str]) -> bool:
    """Whether case means something in a vocabulary, since a good part of its words have capitals.

    >>> is_cased(["the", "cat"]), is_cased(["die", "Katze"])
    (False, True)
    """
    some = words[:: max(1, len(words) // CASED_AMONG)]
    return bool(some) and sum(word != word.lower() for word in some) >= MANY_CAPITALS * len(some)


def vocabulary_index(vectors: Mapping[str, object] | Sequence[str] | None) -> dict[str, int]:
    """Return the row of each word of vectors, a mapping or a list; nothing for None."""
    if vectors is None:
        return {}
    index = getattr(vectors, "key_to_index", None)
    return dict(index) if index is not None else {word: row for row, word in enumerate(vectors)}


# ----------------------------------------------------------------------------------------------- matching


def _no_matches() -> Matches:
    nothing = np.empty(0, dtype=np.int32)
    return Matches(nothing, nothing, nothing)


class Matcher:
    """Finds all targets in encoded documents. `keys` grows when spans bring labels not seen before."""

    def __init__(
        self,
        keys: list[str],
        sequences: "SequenceTable | _WholeVocabulary | _ChosenWords | None",
        patterns: list[tuple[int, list[re.Pattern[str]]]],
        labels: dict[str, int],
        any_label: bool,
        lexicon: Lexicon,
    ) -> None:
        self.keys = keys
        self._asked_for = len(keys)
        self.whole_vocabulary = isinstance(sequences, _WholeVocabulary)
        self._lexicon = lexicon
        self._lock = threading.Lock()
        self._labels = labels
        self.any_label = any_label
        self._taken = set(keys) - set(labels) if any_label else set()
        self._sequences = sequences
        self._patterns = [
            (position, [_PatternMask(pattern, lexicon) for pattern in parts]) for position, parts in patterns
        ]
        if self._patterns and lexicon.admit is None:  # a lexicon that gives every token an id goes on doing so
            tests = [mask.pattern for _, masks in self._patterns for mask in masks]
            lexicon.admit = lambda token: any(test.search(token) for test in tests)

    @classmethod
    def of_vocabulary(cls, words: Sequence[str], lexicon: Lexicon) -> "Matcher":
        """Return a matcher for which every word of the vectors is a target, as for learning a transform."""
        return cls(list(words), _WholeVocabulary(len(words)), [], {}, False, lexicon)

    @classmethod
    def of_words(cls, rows: Longs, lexicon: Lexicon) -> "Matcher":
        """Return the words with these ids are the targets, numbered in their order."""
        return cls([lexicon.word(int(row)) for row in rows], _ChosenWords(rows, lexicon.known), [], {}, False, lexicon)

    @property
    def size(self) -> int:
        """How many targets there are so far."""
        return len(self.keys)

    @property
    def labels_found(self) -> list[str]:
        """The labels of spans that turned up, in that order."""
        return self.keys[self._asked_for :]

    def restore(self, labels: Sequence[str]) -> None:
        """Add labels that turned up before, in their order."""
        for label in labels[len(self.labels_found) :]:
            self._labels[label] = len(self.keys)
            self.keys.append(label)

    def match(self, encoded: Encoded) -> Matches:
        """Return all occurrences in a block; may be called by several threads at a time."""
        parts: list[Matches] = []
        if self._sequences is not None:
            parts.append(self._sequences.find(encoded))
        with self._lock:  # patterns remember words, and labels are added
            for position, masks in self._patterns:
                parts.append(_find_pattern(encoded, position, masks))
            if encoded.spans and (self._labels or self.any_label):
                parts.append(self._find_spans(encoded))
        if not parts:
            return _no_matches()
        if len(parts) == 1:
            return parts[0]
        starts = np.concatenate([part.starts for part in parts])
        ends = np.concatenate([part.ends for part in parts])
        targets = np.concatenate([part.targets for part in parts])
        order = np.lexsort((targets, ends, starts))
        return Matches(starts[order], ends[order], targets[order])

    def _find_spans(self, encoded: Encoded) -> Matches:
        spans: list[tuple[int, int, int]] = []
        for start, end, label in encoded.spans:
            position = self._labels.get(label)
            if position is None:
                if not self.any_label:
                    continue
                if label in self._taken:
                    raise BadTargets(
                        f"the label {label!r} of a span is also the key of another target; rename one of them"
                    )
                position = self._labels[label] = len(self.keys)
                self.keys.append(label)
            spans.append((start, end, position))
        if not spans:
            return _no_matches()
        columns = np.array(sorted(spans), dtype=np.int32)
        return Matches(columns[:, 0].copy(), columns[:, 1].copy(), columns[:, 2].copy())


class _WholeVocabulary:
    """Every word that has a vector, as its own target: each known token is a match."""

    def __init__(self, size: int) -> None:
        self._size = size

    def find(self, encoded: Encoded) -> Matches:
        ids = encoded.ids
        starts = np.flatnonzero((ids >= 0) & (ids < self._size)).astype(np.int32)
        return Matches(starts, starts + np.int32(1), ids[starts])


class _ChosenWords:
    """Some of the words that have a vector, as targets."""

    def __init__(self, rows: Longs, known: int) -> None:
        self._numbers = np.full(known + 1, -1, dtype=np.int32)  # the last is for words without a vector
        self._numbers[rows] = np.arange(len(rows), dtype=np.int32)

    def find(self, encoded: Encoded) -> Matches:
        known = len(self._numbers) - 1
        numbers = self._numbers[np.where((encoded.ids >= 0) & (encoded.ids < known), encoded.ids, known)]
        starts = np.flatnonzero(numbers >= 0).astype(np.int32)
        return Matches(starts, starts + np.int32(1), numbers[starts])


class _PatternMask:
    """Which ids a token pattern matches, looked up once for each id that occurs."""

    def __init__(self, pattern: re.Pattern[str], lexicon: Lexicon) -> None:
        self.pattern = pattern
        self._lexicon = lexicon
        self._answers = np.full(len(lexicon) + 1, -1, dtype=np.int8)  # -1: not asked yet
        self._answers[-1] = 0  # the unknown id -1 reads the last entry

    def __call__(self, ids: Ints) -> Mask:
        if len(self._answers) < len(self._lexicon) + 1:
            grown = np.full(2 * len(self._lexicon) + 1, -1, dtype=np.int8)
            grown[: len(self._answers) - 1] = self._answers[:-1]
            grown[-1] = 0
            self._answers = grown
        answers = self._answers[ids]
        if (answers < 0).any():
            for token in np.unique(ids[answers < 0]).tolist():
                self._answers[token] = self.pattern.search(self._lexicon.word(token)) is not None
            answers = self._answers[ids]
        return np.asarray(answers == 1)


def _find_pattern(encoded: Encoded, position: int, masks: list[_PatternMask]) -> Matches:
    ids, length = encoded.ids, len(masks)
    if ids.size < length:
        return _no_matches()
    hits = masks[0](ids[: ids.size - length + 1])
    for shift, mask in enumerate(masks[1:], start=1):
        hits = hits & mask(ids[shift : ids.size - length + 1 + shift])
    starts = np.flatnonzero(hits)
    if length > 1:  # all tokens in one document
        document = np.searchsorted(encoded.offsets, starts, side="right")
        starts = starts[starts + length <= encoded.offsets[document]]
    begins = starts.astype(np.int32)
    return Matches(begins, (starts + length).astype(np.int32), np.full(starts.size, position, dtype=np.int32))
