"""Contexts as a table: one row for each place where a target occurs, with the words around it.

Documents are turned into ids once; a context is a place in them, so that a million contexts are small, and the tokens
of pre-tokenised text are never split or joined again.
"""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from alacarte._io.arrays import Ints, Longs, Mask
from alacarte._io.table import Columns, Table, beside
from alacarte.contexts.reading import Reading, window_sides
from alacarte.errors import BadCorpus, BadTargets, Hint, NoOccurrences
from alacarte.model import ALaCarte
from alacarte.passes.scan import scan
from alacarte.passes.work import Work
from alacarte.regression.frames import Variables, looks_like_frame, read_frame
from alacarte.regression.results import Column, column_of, make_frame
from alacarte.targets.targets import Targets, vocabulary_index
from alacarte.text.corpus import Corpus
from alacarte.text.documents import Document
from alacarte.text.encoding import Encoded, Encoder, Lexicon
from alacarte.text.records import is_null
from alacarte.text.reprints import copies_among, reprint_groups, signatures_of
from alacarte.text.tokenizers import Tokenizer, TokenizerLike, get_tokenizer
from alacarte.transform.register import Adaptation

Duplicates = Literal["cluster", "drop", "keep"]
DUPLICATES = ("cluster", "drop", "keep")
SHOWN = (Reading().left, Reading().right)  # words before and after in a table that has no window of its own


@dataclass(frozen=True, eq=False)
class ContextTable(Table):
    """Contexts in documents: what was found, where, and the words around it; as a table, one row per context.

    Context c is what lies up to `window` words before `starts[c]` and after `ends[c]` in document `documents[c]`, whose
    words are `vocabulary[ids[offsets[d]:offsets[d + 1]]]`. Where a context lies, what it is of and what was found there
    are `document_names`, `patterns_found` and `matches`, which are not the columns of the data with these names.

    Parameters
    ----------
    vocabulary : sequence of str
        The words of the text, by number.
    ids : array of int
        The words of all documents, one document after the other.
    offsets : array of int
        Where each document begins in `ids`, and where the last one ends.
    document_ids : array
        The name of each document.
    variables : Variables
        The columns of the data alone, one row per document.
    tokenizer : Tokenizer
        How the text was split.
    documents, starts, ends : array of int
        The document of each context, and where its match lies there.
    pattern_of : array of int
        Which of `patterns` each context is of.
    patterns : sequence of str
        The targets.
    window : (int, int), optional
        Words before and after a match. None for that of the model that `dem` is given; 10 are shown until then.
    skipped, dropped : int
        How many documents had no text, and how many are reprints of another one.
    missing : list of str
        Targets that do not occur.
    whole : bool
        Whether each document is one context.
    reprints : array of int, optional
        For each document a number, which reprints of one text share.
    adaptations : dict
        What `dem` takes out of contexts of these documents, by model and reading; kept for the next word.
    """

    vocabulary: Sequence[str]
    ids: Ints
    offsets: Longs
    document_ids: Column
    variables: Variables
    tokenizer: Tokenizer
    documents: Longs
    starts: Longs
    ends: Longs
    pattern_of: Longs
    patterns: Sequence[str]
    window: tuple[int, int] | None = None
    skipped: int = 0
    dropped: int = 0
    missing: list[str] = field(default_factory=list)
    whole: bool = False
    reprints: Longs | None = None
    adaptations: dict[tuple[ALaCarte, Reading], Adaptation] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.starts)

    def __repr__(self) -> str:
        what = "documents" if self.whole else f"contexts of {', '.join(map(repr, self.patterns[:5]))}"
        return f"ContextTable({len(self):,} {what} in {len(self.offsets) - 1:,} documents)"

    @property
    def document_names(self) -> Column:
        """The name of each context's document: a value of the column `id`, else its number."""
        return self.document_ids[self.documents]

    @property
    def patterns_found(self) -> Column:
        """The target that each context is of."""
        return column_of([self.patterns[number] for number in self.pattern_of.tolist()])

    def select(self, rows: npt.ArrayLike) -> "ContextTable":
        """Return some of the contexts, by number or by mask."""
        chosen = np.asarray(rows)
        if chosen.dtype == bool:
            chosen = np.flatnonzero(chosen)
        names = ("documents", "starts", "ends", "pattern_of")
        return replace(self, **{name: getattr(self, name)[chosen] for name in names})

    def side(self, row: int, which: Literal["left", "match", "right"]) -> list[str]:
        """Return the words left or right of a match, or the match itself."""
        start, end, document = int(self.starts[row]), int(self.ends[row]), self.documents[row]
        left, right = self.window or SHOWN
        spans = {
            "left": (max(int(self.offsets[document]), start - left), start),
            "match": (start, end),
            "right": (end, min(int(self.offsets[document + 1]), end + right)),
        }
        first, behind = spans[which]
        return [self.vocabulary[token] for token in self.ids[first:behind].tolist() if self.vocabulary[token]]

    def tokens(self, *, with_match: bool = False) -> list[list[str]]:
        """Return the words of each context."""
        if self.whole:
            return [self.side(row, "match") for row in range(len(self))]
        sides: tuple[Literal["left", "match", "right"], ...] = ("left", "match", "right")
        taken = [side for side in sides if with_match or side != "match"]
        return [[word for side in taken for word in self.side(row, side)] for row in range(len(self))]

    def texts(self, *, with_match: bool = False) -> list[str]:
        """Return each context as one string."""
        return [" ".join(words) for words in self.tokens(with_match=with_match)]

    def matches(self) -> list[str]:
        """Return what was found, as it is written there."""
        return [" ".join(self.side(row, "match")) for row in range(len(self))]

    def row_variables(self) -> Variables:
        """Return the variables of the data, one row per context."""
        return self.variables.take(self.documents)

    def to_frame(self) -> Any:
        """Return a frame of the library the data came in; a pandas frame if it was none."""
        return make_frame(self.columns(), self.variables.backend)

    def columns(self) -> dict[str, Column]:
        """Return document, position, match, pattern, words on the left and right, and the variables of the data.

        A column of the data that is called as one of these gets "columns." before its name.
        """
        own: dict[str, Column] = {
            "document": self.document_names,
            "position": self.starts - self.offsets[self.documents],
        }
        if self.whole:
            own["tokens"] = column_of(self.tokens())
        else:
            rows = range(len(self))
            own |= {
                "pattern": self.patterns_found,
                "match": column_of(self.matches()),
                "left": column_of([self.side(row, "left") for row in rows]),
                "right": column_of([self.side(row, "right") for row in rows]),
            }
        return beside(own, self.row_variables().columns)

    def _printed_columns(self, most: int | None) -> Columns:
        few = self if most is None else self.select(np.arange(min(len(self), most + 1)))
        return {
            name: [" ".join(value) if isinstance(value, list) else value for value in column.tolist()]
            for name, column in few.columns().items()
        }


# --------------------------------------------------------------------------------------------------- documents


def documents(
    data: Any,
    *,
    text: str = "text",
    id: str | None = None,
    tokenizer: TokenizerLike | None = None,
    known: Any = None,
    duplicates: Duplicates = "cluster",
    show_progress: bool | None = None,
) -> ContextTable:
    """Read documents once; each is one context, or `contexts` looks for words in them.

    Parameters
    ----------
    data : frame, mapping, path, list or Corpus
        A frame of any library, a mapping of columns, the path of a table, a list of texts or of lists of words, or
        anything `Corpus` takes. Lists of words are kept as they are; an empty word is a blank that takes up a place.
    text : str
        The column with the texts, or with lists of words.
    id : str, optional
        The column with the names of the documents; they are numbered if it is left out.
    tokenizer : str or callable, optional
        How texts are split (see `alacarte.text.tokenizers`): as the model in `known` does, else "words".
    known : ALaCarte, WordVectors or list of str, optional
        The words that guide the tokenizer: best, the model that will embed the contexts.
    duplicates : {"cluster", "drop", "keep"}
        What becomes of documents that reprint another one (half of their runs of four words or more): they count as
        one piece of evidence with it, are left out, or are documents like any other.
    show_progress : bool, optional
        Whether to show a bar; by default, on a terminal if it takes long.

    Returns
    -------
    ContextTable

    Examples
    --------
    >>> documents(["a b c", "d e"])
    ContextTable(2 documents in 2 documents)
    """
    variables = Variables()
    items: Iterable[Any]
    if looks_like_frame(data):
        frame = read_frame(data)
        column = _text_column(frame, text)
        items, variables = frame.columns[column], frame.without(column)
    elif isinstance(data, (list, tuple)) and not any(hasattr(item, "__fspath__") for item in data[:1]):
        items = data
    else:
        items = Corpus.of(data)
    kept: list[int] = []  # the numbers of the documents with text
    count = 0

    def with_text() -> Iterator[str | list[str] | Document]:
        nonlocal count
        for number, item in enumerate(items):
            count = number + 1
            checked = _document_of(item, number)
            if checked is not None:
                kept.append(number)
                yield checked

    # One thread, so that words are numbered as they come; numbers of their own, since most of `known` does not occur.
    index = known.vectors.key_to_index if isinstance(known, ALaCarte) else vocabulary_index(known)
    lexicon = Lexicon(index, grow=True)
    own = known.tokenizer if isinstance(known, ALaCarte) else "words"
    split = get_tokenizer(own if tokenizer is None else tokenizer)
    work = Work(threads=1, show_progress=show_progress)
    blocks = list(scan(Corpus(with_text()), Encoder(split, lexicon), work, "reading documents"))
    if not kept:
        raise BadCorpus(f"none of the {count} documents has any text; check the column of the text")
    if any(len(column) != count for column in variables.columns.values()):
        raise BadCorpus(f"{count} documents and variables of other lengths; give one value per document")
    if duplicates not in DUPLICATES:
        raise BadCorpus(f"duplicates is 'cluster', 'drop' or 'keep', not {duplicates!r}")
    used, compact = np.unique(np.concatenate([block.ids for block in blocks]), return_inverse=True)
    lengths = np.concatenate([np.zeros(1, dtype=np.int64), *(np.diff(block.offsets) for block in blocks)])
    offsets, rows = np.cumsum(lengths), np.array(kept, dtype=np.int64)
    reprints = None if duplicates == "keep" else reprint_groups(signatures_of(compact.astype(np.int32), offsets))
    table = ContextTable(
        vocabulary=[lexicon.word(token) for token in used.tolist()],
        ids=compact.astype(np.int32),
        offsets=offsets,
        document_ids=rows if id is None else variables.column(id, "the document's name")[rows],
        variables=variables.take(rows),
        tokenizer=split,
        documents=np.arange(len(rows)),
        starts=offsets[:-1],
        ends=offsets[1:],
        pattern_of=np.zeros(len(rows), dtype=np.int64),
        patterns=["."],
        window=(0, 0),
        skipped=count - len(kept),
        whole=True,
        reprints=reprints,
    )
    if duplicates == "drop" and reprints is not None:
        return replace(table.select(np.unique(reprints, return_index=True)[1]), dropped=copies_among(reprints))
    return table


def _text_column(frame: Variables, text: str) -> str:
    if text in frame.columns:
        return text
    if text == "text" and "tokens" in frame.columns:
        return "tokens"
    raise BadCorpus(
        f"no column {text!r} with the text; the columns are {', '.join(map(repr, frame.columns))}",
        hint=Hint("name the one with texts, or with lists of words, as text=…", "name it as --text …"),
    )


def _document_of(item: Any, number: int) -> str | list[str] | Document | None:
    """Return a text or its words, or None for a document without any."""
    if is_null(item):
        return None
    if isinstance(item, str):
        return item if item.strip() else None
    if isinstance(item, Document):
        return item
    if isinstance(item, (list, tuple, np.ndarray)):
        listed = list(item)
        if not all(isinstance(token, str) for token in listed):
            raise BadCorpus(f"document {number}: words must be strings; convert them first")
        return listed or None
    raise BadCorpus(f"document {number} is a {type(item).__name__}; a document is a text or a list of words")


# ---------------------------------------------------------------------------------------------------- contexts


def contexts(
    data: Any,
    targets: str | Iterable[str] | Targets,
    *,
    window: int | tuple[int, int] | None = None,
    text: str = "text",
    id: str | None = None,
    tokenizer: TokenizerLike | None = None,
    known: Any = None,
    duplicates: Duplicates = "cluster",
    show_progress: bool | None = None,
) -> ContextTable:
    """Find every place where a target occurs, with the words around it and the document's variables.

    Parameters
    ----------
    data : frame, mapping, path, list, Corpus or ContextTable
        As `documents` takes it; or what `documents` gives, to look for several words in text that is read once.
    targets : str, list of str or Targets
        Words and phrases; globs, where there is a `*` or a `?` in them; or any `Targets`, such as
        `Targets.regex("^immigr")`. Where what is found overlaps, the longest counts. Words are compared as the
        tokenizer gives them: `tokenizer="words-cased"` tells upper from lower case.
    window : int or pair of int, optional
        Words on each side, or (before, after). If left out, that of the model in `known`, else that of the model that
        embeds the contexts.
    text, id, tokenizer, known, duplicates, show_progress
        As in `documents`.

    Returns
    -------
    ContextTable

    Raises
    ------
    NoOccurrences
        If no target occurs.

    Examples
    --------
    >>> found = contexts({"text": ["Immigration reform now", "no reform"], "party": ["D", "R"]}, "reform", window=1)
    >>> found.to_frame()[["document", "match", "left", "right", "party"]].values.tolist()
    [[0, 'reform', ['immigration'], ['now'], 'D'], [1, 'reform', ['no'], [], 'R']]
    """
    wanted = targets_of(targets)
    sides = (known.settings.left, known.settings.right) if isinstance(known, ALaCarte) else None
    if window is not None:
        sides = checked_window(window)
    if isinstance(data, ContextTable):
        read = data
    else:
        options: dict[str, Any] = {"text": text, "id": id, "tokenizer": tokenizer, "known": known}
        read = documents(data, **options, duplicates=duplicates, show_progress=show_progress)
    if not read.whole:
        raise BadCorpus("these are contexts already; pass the documents")
    lexicon = Lexicon({word: number for number, word in enumerate(read.vocabulary)}, grow=True)
    found = wanted.compile(lexicon, read.tokenizer).match(Encoded(read.ids, read.offsets, []))
    starts, ends = found.starts.astype(np.int64), found.ends.astype(np.int64)
    blanks = np.concatenate([[0], np.cumsum(np.array([not word for word in read.vocabulary])[read.ids])])
    chosen = np.zeros(len(read.offsets) - 1, dtype=bool)  # without reprints that were dropped, say
    chosen[read.documents] = True
    owners = np.searchsorted(read.offsets, starts, side="right") - 1
    keep = np.flatnonzero((blanks[starts] == blanks[ends]) & chosen[owners])
    keep = keep[longest(starts[keep], ends[keep])]
    keys = list(wanted)
    if not len(keep):
        raise NoOccurrences(
            f"none of {', '.join(map(repr, keys[:5]))} occurs in {len(read):,} documents"
            f"{_suggestion(keys, read.vocabulary)}; check spelling and case"
        )
    numbers = found.targets[keep].astype(np.int64)
    occurring = set(numbers.tolist())
    return replace(
        read,
        documents=owners[keep],
        starts=starts[keep],
        ends=ends[keep],
        pattern_of=numbers,
        patterns=keys,
        window=sides,
        missing=[key for number, key in enumerate(keys) if number not in occurring],
        whole=False,
    )


def targets_of(targets: str | Iterable[str] | Targets) -> Targets:
    """Words and phrases as they are, globs where there is a wild card.

    >>> targets_of(["immigration reform", "immigr*"])
    Targets(2: 'immigration reform', 'immigr*')
    """
    if isinstance(targets, Targets):
        return targets
    listed = [targets] if isinstance(targets, str) else list(targets)
    if not listed or not all(isinstance(item, str) and item.split() for item in listed):
        raise BadTargets("a target is a string with at least one word; pass one, a list of them, or Targets")
    globs = [item for item in listed if "*" in item or "?" in item]
    return Targets([item for item in listed if item not in globs]) | Targets.glob(globs)


def checked_window(window: int | tuple[int, int]) -> tuple[int, int]:
    """Return (words before, words after), of which there is at least one."""
    left, right = window_sides(window)
    if min(left, right) < 0 or left + right == 0:
        raise BadTargets(f"a window of {left} words before and {right} after holds nothing")
    return left, right


def longest(starts: Longs, ends: Longs) -> Mask:
    """Which of some matches, sorted by their starts, count where they overlap: the longest, the first of equals.

    >>> longest(np.array([0, 0, 0, 1, 5]), np.array([1, 1, 2, 3, 6])).tolist()
    [False, False, True, False, True]
    """
    keep = np.zeros(len(starts), dtype=bool)
    if not len(starts):
        return keep
    if (ends - starts).max() == 1:
        keep[np.unique(starts, return_index=True)[1]] = True
        return keep
    taken = np.zeros(int(ends.max()), dtype=bool)
    for place in np.lexsort((starts, starts - ends)).tolist():
        span = slice(int(starts[place]), int(ends[place]))
        if not taken[span].any():
            taken[span] = keep[place] = True
    return keep


def _suggestion(targets: Sequence[str], vocabulary: Sequence[str]) -> str:
    """Words of the text that look like what was not found.

    >>> _suggestion(["immigraton"], ["immigration", "border"])
    "; the text has 'immigration'"
    """
    near: list[str] = []
    for target in targets[:5]:
        near += difflib.get_close_matches(target.strip("*?"), [word for word in vocabulary if word], n=2, cutoff=0.75)
    return f"; the text has {', '.join(map(repr, dict.fromkeys(near)))}" if near else ""
