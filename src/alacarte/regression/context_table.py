"""Contexts as a table: one row for each place where a pattern is found, with the words around it.

Documents are turned into ids once; a context is two ranges of positions, so that a million of them are small, and
the tokens of pre-tokenised text are never split or joined again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from alacarte._io.table import Columns, Table
from alacarte.contexts.reading import Reading, window_sides
from alacarte.errors import BadCorpus, BadTargets, Hint, NoOccurrences
from alacarte.model import ALaCarte
from alacarte.passes.scan import scan
from alacarte.passes.work import Work
from alacarte.regression._frames import (
    Column,
    Variables,
    as_column,
    column_of,
    looks_like_frame,
    make_frame,
    read_frame,
)
from alacarte.regression._patterns import Overlaps, ValueType, find, suggestion
from alacarte.regression._space import EmbeddingSpace
from alacarte.regression.compat import Compat, choices
from alacarte.targets.targets import vocabulary_index
from alacarte.text.corpus import Corpus, Document
from alacarte.text.encoding import Encoder, Lexicon
from alacarte.text.records import is_null
from alacarte.text.tokenizers import Tokenizer, TokenizerLike, get_tokenizer

Longs = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int32]
SHOWN = (Reading().left, Reading().right)  # words before and after in a table that has no window of its own


class ReadingDocuments(TypedDict, total=False):
    """The keywords that say where documents and their variables come from.

    `text`, `tokens`, `id`: the columns with the text ("text" unless named), with ready-made tokens, with the document's
    name. `variables`: more variables of the documents, as a frame or a mapping of columns. `tokenizer`: for texts; see
    `alacarte.text.tokenizers`; that of the model in `known` if left out, else "words". `known`: words that guide the
    tokenizer: vectors, or the `ALaCarte` model that will embed the contexts.
    """

    text: str
    tokens: str | None
    id: str | None
    variables: Any
    tokenizer: TokenizerLike | None
    known: Any
    show_progress: bool | None


class FindingContexts(ReadingDocuments, total=False):
    """The keywords of `contexts`."""

    window: int | tuple[int, int] | None
    valuetype: ValueType
    case_sensitive: bool
    keep_match: bool
    hard_cut: bool
    overlaps: Overlaps | None
    compat: Compat


@dataclass(frozen=True)
class Source:
    """`ReadingDocuments` with their defaults."""

    text: str = "text"
    tokens: str | None = None
    id: str | None = None
    variables: Any = None
    tokenizer: TokenizerLike | None = None
    known: Any = None
    show_progress: bool | None = None

    @property
    def index(self) -> Mapping[str, int]:
        """Word → row of vectors, of a model, of a list of words."""
        if isinstance(self.known, EmbeddingSpace):
            return self.known.index
        return self.known.vectors.key_to_index if isinstance(self.known, ALaCarte) else vocabulary_index(self.known)

    @property
    def split(self) -> Tokenizer:
        """The tokenizer asked for; else that of the model at hand; else "words"."""
        own = self.known.tokenizer if isinstance(self.known, (ALaCarte, EmbeddingSpace)) else "words"
        return get_tokenizer(own if self.tokenizer is None else self.tokenizer)


@dataclass(frozen=True)
class Search(Source):
    """`FindingContexts` with their defaults."""

    window: int | tuple[int, int] | None = None
    valuetype: ValueType = "glob"
    case_sensitive: bool = False
    keep_match: bool = False
    hard_cut: bool = False
    overlaps: Overlaps | None = None
    compat: Compat = None

    @property
    def sides(self) -> tuple[int, int] | None:
        """The window asked for, else the model's, else conText's if its rules are asked for, else none of its own."""
        if self.window is None:
            if isinstance(self.known, ALaCarte):
                return self.known.settings.left, self.known.settings.right
            own = self.known.window if isinstance(self.known, EmbeddingSpace) else None
            return choices(self.compat).window if own is None else own
        left, right = window_sides(self.window)
        if min(left, right) < 0 or left + right == 0:
            raise BadTargets(f"a window of {left} words before and {right} after holds nothing")
        return left, right


@dataclass(frozen=True, eq=False)
class EncodedDocuments:
    """Documents as ids: `vocabulary[ids[offsets[i]:offsets[i + 1]]]` are the tokens of the i-th that has any text.

    `variables` belong to documents; `skipped` counts documents without text.
    """

    vocabulary: Sequence[str]
    ids: Ints
    offsets: Longs
    document_ids: Column
    variables: Variables
    skipped: int
    has_texts: bool  # whether any document was text and not tokens


@dataclass(frozen=True, eq=False)
class ContextTable(EncodedDocuments, Table):
    """Contexts in documents: what was found, where, and the tokens around it; as a table, a row a context.

    Context c is what lies up to `window` positions before `starts[c]` and after `ends[c]` in document `documents[c]`.
    Without a window of its own (None), a table is embedded with the window of the transform it meets in `dem`, and
    shows 10 words on each side until then.
    """

    documents: Longs
    starts: Longs
    ends: Longs
    pattern_of: Longs
    patterns: Sequence[str]
    window: tuple[int, int] | None
    keep_match: bool = False
    missing: list[str] = field(default_factory=list)  # patterns without a hit
    whole: bool = False  # each document is one context
    matched_as_pattern: bool = False

    def __len__(self) -> int:
        return len(self.starts)

    def __repr__(self) -> str:
        what = "documents" if self.whole else f"contexts of {', '.join(map(repr, self.patterns[:5]))}"
        return f"ContextTable({len(self):,} {what} in {len(self.offsets) - 1:,} documents)"

    @property
    def sides(self) -> tuple[int, int]:
        """How many words before and after are shown."""
        return SHOWN if self.window is None else self.window

    def bounds(self) -> tuple[Longs, Longs]:
        """The first position of each left side, and the position behind each right side."""
        low = np.maximum(self.offsets[self.documents], self.starts - self.sides[0])
        high = np.minimum(self.offsets[self.documents + 1], self.ends + self.sides[1])
        return low, high

    def flat(self) -> tuple[Longs, Ints]:
        """(context number, token id) for every token of every context, in the order of the text."""
        low, high = self.bounds()
        if self.keep_match or self.whole:
            owners, positions = ranges(low, high)
            return owners, self.ids[positions]
        owners, positions = ranges(
            np.stack([low, self.ends], axis=1).ravel(), np.stack([self.starts, high], axis=1).ravel()
        )
        return owners // 2, self.ids[positions]

    def select(self, rows: npt.ArrayLike) -> "ContextTable":
        """Some of the contexts, by number or by mask."""
        chosen = np.asarray(rows)
        if chosen.dtype == bool:
            chosen = np.flatnonzero(chosen)
        return replace(
            self,
            documents=self.documents[chosen],
            starts=self.starts[chosen],
            ends=self.ends[chosen],
            pattern_of=self.pattern_of[chosen],
        )

    def side(self, row: int, which: Literal["left", "match", "right"]) -> list[str]:
        """The tokens left or right of a hit, or the hit itself; pads left out."""
        start, end, document = int(self.starts[row]), int(self.ends[row]), self.documents[row]
        spans = {
            "left": (max(int(self.offsets[document]), start - self.sides[0]), start),
            "match": (start, end),
            "right": (end, min(int(self.offsets[document + 1]), end + self.sides[1])),
        }
        first, behind = spans[which]
        return [self.vocabulary[token] for token in self.ids[first:behind] if self.vocabulary[token]]

    def tokens(self) -> list[list[str]]:
        """The tokens of each context, pads left out; the matched ones only if they were kept."""
        owners, ids = self.flat()
        words = np.array([*self.vocabulary, ""], dtype=object)[ids]
        bounds = np.searchsorted(owners, np.arange(len(self) + 1))
        return [[word for word in words[low:high] if word] for low, high in pairwise(bounds.tolist())]

    def texts(self) -> list[str]:
        """Each context as one string."""
        return [" ".join(tokens) for tokens in self.tokens()]

    def matches(self) -> list[str]:
        """The matched text of each context as it occurs."""
        words = self.vocabulary
        return [
            " ".join(words[token] for token in self.ids[start:end])
            for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        ]

    def row_variables(self) -> Variables:
        """The documents' variables, a row for each context, with `document`, `pattern` and `match` before them."""
        taken = self.variables.take(self.documents)
        own: dict[str, Column] = {"document": self.document_ids[self.documents]}
        if not self.whole:
            matched = column_of(self.matches())
            named = column_of([self.patterns[number] for number in self.pattern_of.tolist()])
            own |= {"pattern": matched if self.matched_as_pattern else named, "match": matched}
        # A column of the data with one of these names wins: the user put it there.
        return Variables(own | taken.columns, taken.levels, taken.backend)

    def to_frame(self) -> Any:
        """One row a context, in a frame of the library the data came in, pandas if it was none."""
        return make_frame(self.columns(), self.variables.backend)

    def columns(self) -> dict[str, Column]:
        """Document, position, match, pattern, left and right tokens, and the variables."""
        rows = range(len(self))
        named = self.row_variables()
        columns: dict[str, Column] = {
            "document": self.document_ids[self.documents],
            "position": self.starts - self.offsets[self.documents],
        }
        if self.whole:
            columns["tokens"] = column_of(self.tokens())
        else:
            columns |= {
                "pattern": named.columns["pattern"],
                "match": named.columns["match"],
                "left": column_of([self.side(row, "left") for row in rows]),
                "right": column_of([self.side(row, "right") for row in rows]),
            }
        extra = {name: column for name, column in named.columns.items() if name not in columns}
        return columns | extra

    def _shown(self, most: int | None) -> Columns:
        few = self if most is None else self.select(np.arange(min(len(self), most + 1)))
        return {
            name: [" ".join(value) if isinstance(value, list) else value for value in column.tolist()]
            for name, column in few.columns().items()
        }


def ranges(low: Longs, high: Longs) -> tuple[Longs, Longs]:
    """(range number, position) of all positions in many ranges [low, high)."""
    lengths = np.maximum(high - low, 0)
    owners = np.repeat(np.arange(len(low)), lengths)
    shift = np.repeat(low - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
    return owners, np.arange(len(owners)) + shift


# ------------------------------------------------------------------------------------------------ documents


def read_documents(data: Any, source: Source) -> EncodedDocuments:
    """Documents of any kind as ids, with their variables; those without text are counted and left out."""
    named = Variables() if source.variables is None else read_frame(source.variables)
    documents: Iterable[Any]
    if looks_like_frame(data):
        frame = read_frame(data)
        column = _text_column(frame, source.text, source.tokens)
        documents = frame.columns[column]
        named = Variables(frame.without(column).columns | named.columns, frame.levels | named.levels, frame.backend)
    elif isinstance(data, (list, tuple)) and not any(hasattr(item, "__fspath__") for item in data[:1]):
        documents = data
    else:
        documents = Corpus.of(data)
    kept: list[int] = []  # the numbers of the documents with text
    count, has_texts = 0, False

    def with_text() -> Iterator[str | list[str] | Document]:
        nonlocal count, has_texts
        for number, item in enumerate(documents):
            count = number + 1
            checked = _checked(item, number)
            if checked is not None:
                kept.append(number)
                has_texts = has_texts or isinstance(checked, str)
                yield checked

    # One thread, so that words are numbered as they come; numbers of their own, since most of `known` does not occur.
    lexicon = Lexicon(source.index, grow=True)
    work = Work(threads=1, show_progress=source.show_progress)
    blocks = list(scan(Corpus(with_text()), Encoder(source.split, lexicon), work, "reading documents"))
    if not kept:
        raise BadCorpus(f"none of the {count} documents has any text; check the column of the text")
    _check_lengths(named, count, "document")
    used, compact = np.unique(np.concatenate([block.ids for block in blocks]), return_inverse=True)
    lengths = np.concatenate([np.zeros(1, dtype=np.int64), *(np.diff(block.offsets) for block in blocks)])
    rows = np.array(kept, dtype=np.int64)
    return EncodedDocuments(
        vocabulary=[lexicon.word(token) for token in used.tolist()],
        ids=compact.astype(np.int32),
        offsets=np.cumsum(lengths),
        document_ids=named.column(source.id, "the document's id")[rows] if source.id is not None else rows,
        variables=named.take(rows),
        skipped=count - len(kept),
        has_texts=has_texts,
    )


def _check_lengths(variables: Variables, count: int, what: str) -> None:
    if any(len(column) != count for column in variables.columns.values()):
        raise BadCorpus(f"{count} {what}s and variables of other lengths; give one value a {what}")


def _text_column(frame: Variables, text: str, tokens: str | None) -> str:
    if tokens is not None:
        frame.column(tokens, "the tokens")
        return tokens
    if text in frame.columns:
        return text
    if text == "text" and "tokens" in frame.columns:
        return "tokens"
    raise BadCorpus(
        f"no column {text!r} with the text; the columns are {', '.join(map(repr, frame.columns))}",
        hint=Hint(
            "name it as text=…, or the one with lists of tokens as tokens=…",
            "name it as --text …, or the one with lists of tokens as --tokens …",
        ),
    )


def _checked(item: Any, number: int) -> str | list[str] | Document | None:
    """A text or tokens, or None for a document without any."""
    if is_null(item):
        return None
    if isinstance(item, str):
        return item if item.strip() else None
    if isinstance(item, Document):
        return item
    if isinstance(item, (list, tuple, np.ndarray)):
        listed = list(item)
        if not all(isinstance(token, str) for token in listed):
            raise BadCorpus(f"document {number}: tokens must be strings; convert them first")
        return listed or None
    raise BadCorpus(f"document {number} is a {type(item).__name__}; a document is a text or a list of tokens")


# ------------------------------------------------------------------------------------------------- contexts


def contexts(data: Any, pattern: str | Sequence[str], **options: Unpack[FindingContexts]) -> ContextTable:
    """Every place where a pattern occurs, with the words around it and the document's variables.

    Args:
        data: a frame of any library, a mapping of columns, the path of a table, a list of texts or of lists of
            tokens, or anything `Corpus` takes. Lists of tokens are kept as they are; an empty token is a blank
            that takes up a position.
        pattern: one or several. White space separates tokens that must follow each other.
        window: words on each side, or (before, after). If left out, the window of the model in `known`; without one,
            `dem` and `regress` use the window of the transform they are given (6 with `compat="conText"`).
        valuetype: "glob" (`*`, `?`, whole tokens; the default), "regex" (searched for inside tokens) or "fixed".
        case_sensitive: whether upper and lower case must agree; False.
        keep_match: whether the matched tokens are part of their own context; False.
        hard_cut: keep only contexts with as many tokens as both windows have room for; False.
        overlaps: where hits overlap, keep the "longest" (the default), each span once ("unique"), or "all".
        compat: "conText" for R's choices (see `alacarte.regression.compat`).
        text, tokens, id, variables, tokenizer, known: where documents come from; see `ReadingDocuments`.

    >>> found = contexts({"text": ["Immigration reform now", "no reform"], "party": ["D", "R"]}, "reform", window=1)
    >>> found.to_frame()[["document", "match", "left", "right", "party"]].values.tolist()
    [[0, 'reform', ['immigration'], ['now'], 'D'], [1, 'reform', ['no'], [], 'R']]
    """
    search = Search(**options)
    rules = choices(search.compat)
    patterns = [pattern] if isinstance(pattern, str) else list(pattern)
    if not patterns or not all(isinstance(item, str) and item.split() for item in patterns):
        raise BadTargets("a pattern is a string with at least one word; pass one or a list of them")
    sides = search.sides
    if search.hard_cut and sides is None:
        raise BadTargets("hard_cut keeps contexts that fill the window; say how large it is with window=…")
    encoded = read_documents(data, search)
    split, index = search.split, search.index

    def parts(item: str) -> list[str]:
        """Plain words are split as the text is, so that `don't` finds what the text has."""
        wild = {"regex": True, "glob": "*" in item or "?" in item}.get(search.valuetype, False)
        return (split(item, index) if encoded.has_texts and not wild else item.split()) or item.split()

    hits = find(
        encoded.ids,
        encoded.offsets,
        encoded.vocabulary,
        [parts(item) for item in patterns],
        search.valuetype,
        search.case_sensitive,
        search.overlaps or rules.overlaps,
    )
    if not len(hits.starts):
        raise NoOccurrences(
            f"none of {', '.join(map(repr, patterns[:5]))} occurs in {len(encoded.offsets) - 1:,} documents"
            f"{suggestion(patterns, encoded.vocabulary)}; check spelling, case and valuetype ({search.valuetype!r})"
        )
    met = set(hits.patterns.tolist())
    table = ContextTable(
        **vars(encoded),
        documents=hits.documents,
        starts=hits.starts,
        ends=hits.ends,
        pattern_of=hits.patterns,
        patterns=patterns,
        window=sides,
        keep_match=search.keep_match,
        missing=[item for number, item in enumerate(patterns) if number not in met],
        matched_as_pattern=rules.matched_as_pattern,
    )
    return _full_windows(table, rules.hard_cut_counts_keyword) if search.hard_cut else table


def _full_windows(table: ContextTable, count_keyword: bool) -> ContextTable:
    """The contexts with as many tokens as both windows have room for."""
    counted = table if count_keyword else replace(table, keep_match=False)
    owners, ids = counted.flat()
    is_token = np.array([bool(word) for word in table.vocabulary])
    full = np.bincount(owners[is_token[ids]], minlength=len(table)) == sum(table.sides)
    if not full.any():
        raise NoOccurrences(
            f"no context of {', '.join(map(repr, table.patterns[:5]))} has {sum(table.sides)} tokens; leave hard_cut "
            "out, or make the window smaller"
        )
    return table.select(full)


def documents(data: Any, **options: Unpack[ReadingDocuments]) -> ContextTable:
    """Whole documents as contexts; the options are those of `contexts` that say where documents come from.

    >>> documents(["a b c", "d e"])
    ContextTable(2 documents in 2 documents)
    """
    return _whole(read_documents(data, Source(**options)))


def _whole(encoded: EncodedDocuments) -> ContextTable:
    count = len(encoded.offsets) - 1
    return ContextTable(
        **vars(encoded),
        documents=np.arange(count),
        starts=encoded.offsets[:-1],
        ends=encoded.offsets[1:],
        pattern_of=np.zeros(count, dtype=np.int64),
        patterns=["."],
        window=(0, 0),
        whole=True,
    )


def from_tokens(tokens: Sequence[Sequence[str]], variables: Any = None) -> ContextTable:
    """Contexts cut elsewhere, each a list of tokens.

    >>> from_tokens([["a", "b"], ["c"]], {"party": ["D", "R"]}).texts()
    ['a b', 'c']
    """
    # An empty context is kept here: it is `dem` that counts it as having no known word.
    lexicon = Lexicon({}, grow=True)
    encoded = Encoder(get_tokenizer("whitespace"), lexicon).encode([list(context) for context in tokens])
    count = len(encoded.offsets) - 1
    named = Variables() if variables is None else read_frame(variables)
    _check_lengths(named, count, "context")
    vocabulary = [lexicon.word(token) for token in range(len(lexicon))]
    names = as_column([f"text{number + 1}" for number in range(count)])
    return _whole(EncodedDocuments(vocabulary, encoded.ids, encoded.offsets, names, named, 0, has_texts=False))
