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
from alacarte.regression.compat import Choices, Compat, choices
from alacarte.targets.targets import vocabulary_index
from alacarte.text.corpus import Corpus, Document
from alacarte.text.encoding import Encoder, Lexicon
from alacarte.text.records import is_null
from alacarte.text.tokenizers import Tokenizer, TokenizerLike, get_tokenizer

Longs = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int32]
SHOWN = (Reading().left, Reading().right)  # words before and after in a table that has no window of its own


class ReadingDocuments(TypedDict, total=False):
    """The keywords that say where documents and their variables come from; see `contexts`."""

    text: str
    tokens: str | None
    id: str | None
    variables: Any
    tokenizer: TokenizerLike | None
    known: Any
    show_progress: bool | None


@dataclass(frozen=True, eq=False)
class ContextTable(Table):
    """Contexts in documents: what was found, where, and the tokens around it; as a table, a row a context.

    `vocabulary[ids[offsets[i]:offsets[i + 1]]]` are the tokens of document i; context c is what lies up to
    `window` positions before `starts[c]` and after `ends[c]` in `documents[c]`. `variables` belong to documents.
    Without a window of its own (None), a table is embedded with the window of the transform it meets in `dem`, and
    shows 10 words on each side until then.
    """

    vocabulary: Sequence[str]
    ids: Ints
    offsets: Longs
    documents: Longs
    starts: Longs
    ends: Longs
    pattern_of: Longs
    patterns: Sequence[str]
    window: tuple[int, int] | None
    keep_match: bool
    document_ids: Column
    variables: Variables
    missing: list[str] = field(default_factory=list)  # patterns without a hit
    skipped: int = 0  # documents without text
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
        low, high = (int(bound[row]) for bound in self.select([row]).bounds()) if row < 0 else self._row_bounds(row)
        spans = {
            "left": (low, int(self.starts[row])),
            "match": (int(self.starts[row]), int(self.ends[row])),
            "right": (int(self.ends[row]), high),
        }
        start, end = spans[which]
        return [self.vocabulary[token] for token in self.ids[start:end] if self.vocabulary[token]]

    def _row_bounds(self, row: int) -> tuple[int, int]:
        document = self.documents[row]
        return (
            max(int(self.offsets[document]), int(self.starts[row]) - self.sides[0]),
            min(int(self.offsets[document + 1]), int(self.ends[row]) + self.sides[1]),
        )

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


@dataclass(frozen=True, eq=False)
class EncodedDocuments:
    """Documents as ids: `vocabulary[ids[offsets[i]:offsets[i + 1]]]` are the tokens of the i-th that has any text."""

    vocabulary: list[str]
    ids: Ints
    offsets: Longs
    document_ids: Column
    variables: Variables
    skipped: int  # documents without text
    texts: bool  # whether any document was text and not tokens


def read_documents(
    data: Any,
    *,
    text: str = "text",
    tokens: str | None = None,
    id: str | None = None,
    variables: Any = None,
    tokenizer: TokenizerLike | None = None,
    known: Any = None,
    show_progress: bool | None = None,
) -> EncodedDocuments:
    """Documents of any source as ids, with their variables; those without text are counted and left out."""
    named = Variables() if variables is None else read_frame(variables)
    documents: Iterable[Any]
    if looks_like_frame(data):
        frame = read_frame(data)
        column = _text_column(frame, text, tokens)
        documents = frame.columns[column]
        named = Variables(frame.without(column).columns | named.columns, frame.levels | named.levels, frame.backend)
    elif isinstance(data, (list, tuple)) and not any(hasattr(item, "__fspath__") for item in data[:1]):
        documents = data
    else:
        documents = Corpus.of(data)
    walked = _walk(documents, get_tokenizer(tokenizer_for(known, tokenizer)), _index_of(known), show_progress)
    count = walked.documents
    if not walked.kept:
        raise BadCorpus(f"none of the {count} documents has any text; check the column of the text")
    if named.columns and any(len(column) != count for column in named.columns.values()):
        raise BadCorpus(f"{count} documents and variables of other lengths; give one value a document")
    used, compact = np.unique(walked.ids, return_inverse=True)
    rows = np.array(walked.kept, dtype=np.int64)
    names = named.column(id, "the document's id")[rows] if id is not None else rows
    return EncodedDocuments(
        [walked.lexicon.word(token) for token in used.tolist()],
        compact.astype(np.int32),
        walked.offsets,
        names,
        named.take(rows),
        count - len(walked.kept),
        walked.texts,
    )


@dataclass(frozen=True, eq=False)
class _Walked:
    lexicon: Lexicon
    ids: Ints
    offsets: Longs
    kept: list[int]  # the numbers of the documents with text
    documents: int  # with and without text
    texts: bool


def _walk(documents: Iterable[Any], split: Tokenizer, known: Mapping[str, int], show_progress: bool | None) -> _Walked:
    """Documents in, ids out, in the order of the text; documents without any text are left out."""
    # A compact numbering of the tokens that occur: vectors may have many words that do not.
    lexicon = Lexicon(known, grow=True)
    kept: list[int] = []
    count, texts = 0, False

    def with_text() -> Iterator[str | list[str] | Document]:
        nonlocal count, texts
        for number, item in enumerate(documents):
            count = number + 1
            checked = _checked(item, number)
            if checked is not None:
                kept.append(number)
                texts = texts or isinstance(checked, str)
                yield checked

    work = Work(threads=1, show_progress=show_progress)  # one thread, so that words are numbered as they come
    blocks = list(scan(Corpus(with_text()), Encoder(split, lexicon), work, "reading documents"))
    ids = np.concatenate([np.empty(0, dtype=np.int32), *(block.ids for block in blocks)])
    lengths = np.concatenate([np.zeros(1, dtype=np.int64), *(np.diff(block.offsets) for block in blocks)])
    return _Walked(lexicon, ids, np.cumsum(lengths), kept, count, texts)


def _index_of(known: Any) -> Mapping[str, int]:
    """Word → row of vectors, of a model, of a list of words."""
    if isinstance(known, EmbeddingSpace):
        return known.index
    return known.vectors.key_to_index if isinstance(known, ALaCarte) else vocabulary_index(known)


def tokenizer_for(known: Any, tokenizer: TokenizerLike | None) -> TokenizerLike:
    """The tokenizer asked for; else that of the model at hand; else "words"."""
    if tokenizer is not None:
        return tokenizer
    return known.tokenizer if isinstance(known, (ALaCarte, EmbeddingSpace)) else "words"


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


def contexts(
    data: Any,
    pattern: str | Sequence[str],
    *,
    window: int | tuple[int, int] | None = None,
    text: str = "text",
    tokens: str | None = None,
    id: str | None = None,
    variables: Any = None,
    valuetype: ValueType = "glob",
    case_sensitive: bool = False,
    keep_match: bool = False,
    hard_cut: bool = False,
    overlaps: Overlaps | None = None,
    tokenizer: TokenizerLike | None = None,
    known: Any = None,
    compat: Compat = None,
    show_progress: bool | None = None,
) -> ContextTable:
    """Every place where a pattern occurs, with the words around it and the document's variables.

    Args:
        data: a frame of any library, a mapping of columns, the path of a table, a list of texts or of lists of
            tokens, or anything `Corpus` takes. Lists of tokens are kept as they are; an empty token is a blank
            that takes up a position.
        pattern: one or several. White space separates tokens that must follow each other.
        window: words on each side, or (before, after). If left out, the window of the model in `known`; without one,
            `dem` and `regress` use the window of the transform they are given (6 with `compat="conText"`).
        text, tokens, id: the columns with the text, with ready-made tokens, with the document's name.
        variables: more variables of the documents, as a frame or a mapping of columns.
        valuetype: "glob" (`*`, `?`, whole tokens), "regex" (searched for inside tokens) or "fixed".
        case_sensitive: whether upper and lower case must agree.
        keep_match: whether the matched tokens are part of their own context.
        hard_cut: keep only contexts with as many tokens as both windows have room for.
        overlaps: where hits overlap, keep the "longest" (the default), each span once ("unique"), or "all".
        tokenizer: for texts; see `alacarte.text.tokenizers`. That of the model in `known` if left out, else "words".
        known: words that guide the tokenizer: vectors, or the `ALaCarte` model that will embed the contexts.
        compat: "conText" for R's choices (see `alacarte.regression.compat`).

    >>> found = contexts({"text": ["Immigration reform now", "no reform"], "party": ["D", "R"]}, "reform", window=1)
    >>> found.to_frame()[["document", "match", "left", "right", "party"]].values.tolist()
    [[0, 'reform', ['immigration'], ['now'], 'D'], [1, 'reform', ['no'], [], 'R']]
    """
    rules = choices(compat)
    patterns = [pattern] if isinstance(pattern, str) else list(pattern)
    if not patterns or not all(isinstance(item, str) and item.split() for item in patterns):
        raise BadTargets("a pattern is a string with at least one word; pass one or a list of them")
    sides = _window_for(window, known, rules)
    if hard_cut and sides is None:
        raise BadTargets("hard_cut keeps contexts that fill the window; say how large it is with window=…")
    encoded = read_documents(
        data,
        text=text,
        tokens=tokens,
        id=id,
        variables=variables,
        tokenizer=tokenizer,
        known=known,
        show_progress=show_progress,
    )
    split = get_tokenizer(tokenizer_for(known, tokenizer))
    index = _index_of(known)

    def parts(item: str) -> list[str]:
        """Plain words are split as the text is, so that `don't` finds what the text has."""
        plain = valuetype != "regex" and not any(wild in item for wild in ("*?" if valuetype == "glob" else ""))
        return (split(item, index) if encoded.texts and plain else item.split()) or item.split()

    hits = find(
        encoded.ids,
        encoded.offsets,
        encoded.vocabulary,
        [parts(item) for item in patterns],
        valuetype,
        case_sensitive,
        overlaps or rules.overlaps,
    )
    if not len(hits.starts):
        raise NoOccurrences(
            f"none of {', '.join(map(repr, patterns[:5]))} occurs in {len(encoded.offsets) - 1:,} documents"
            f"{suggestion(patterns, encoded.vocabulary)}; check spelling, case and valuetype ({valuetype!r})"
        )
    met = set(hits.patterns.tolist())
    table = ContextTable(
        encoded.vocabulary,
        encoded.ids,
        encoded.offsets,
        hits.documents,
        hits.starts,
        hits.ends,
        hits.patterns,
        patterns,
        sides,
        keep_match,
        encoded.document_ids,
        encoded.variables,
        missing=[item for number, item in enumerate(patterns) if number not in met],
        skipped=encoded.skipped,
        matched_as_pattern=rules.matched_as_pattern,
    )
    return _full_windows(table, rules.hard_cut_counts_keyword) if hard_cut else table


def _window_for(window: int | tuple[int, int] | None, known: Any, rules: Choices) -> tuple[int, int] | None:
    """The window asked for, else the model's, else conText's if its rules are asked for, else none of its own."""
    if window is None:
        if isinstance(known, ALaCarte):
            return known.settings.left, known.settings.right
        return known.window if isinstance(known, EmbeddingSpace) and known.window is not None else rules.window
    left, right = window_sides(window)
    if min(left, right) < 0 or left + right == 0:
        raise BadTargets(f"a window of {left} words before and {right} after holds nothing")
    return left, right


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
    return _whole(read_documents(data, **options))


def _whole(encoded: EncodedDocuments) -> ContextTable:
    count = len(encoded.offsets) - 1
    return ContextTable(
        encoded.vocabulary,
        encoded.ids,
        encoded.offsets,
        np.arange(count),
        encoded.offsets[:-1],
        encoded.offsets[1:],
        np.zeros(count, dtype=np.int64),
        ["."],
        (0, 0),
        False,
        encoded.document_ids,
        encoded.variables,
        skipped=encoded.skipped,
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
    if any(len(column) != count for column in named.columns.values()):
        raise BadCorpus(f"{count} contexts and variables of other lengths; give one value a context")
    vocabulary = [lexicon.word(token) for token in range(len(lexicon))]
    names = as_column([f"text{number + 1}" for number in range(count)])
    return _whole(EncodedDocuments(vocabulary, encoded.ids, encoded.offsets, names, named, 0, texts=False))
