"""Documents from files, URLs, globs, archives, JSON lines, CSV, Parquet, Arrow, frames, stdin, lists and generators.

A `Corpus` describes where the text is; nothing is read until it is iterated, and then in bounded memory.

>>> for document in Corpus(["A bank by the river.", ["already", "tokenised"]]):
...     print(document)
A bank by the river.
['already', 'tokenised']
"""

import codecs
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict, Unpack, cast, get_args

from alacarte._io import html
from alacarte._io.files import SUFFIXES
from alacarte._io.frames import is_frame
from alacarte._io.remote import Location, locate, url_of, without_secrets
from alacarte.errors import BadCorpus, Hint
from alacarte.text.members import CannotCut
from alacarte.text.pieces import Piece, cut_lines, cut_row_groups, piece_blocks, whole_file
from alacarte.text.records import (
    Fields,
    Record,
    arrow,
    delimited,
    frame_length,
    frame_rows,
    is_null,
    jsonl,
    parquet,
)
from alacarte.text.sources import (
    BLOCK,
    File,
    Stream,
    decode_line,
    file_streams,
    find,
    find_files,
    find_listed,
    is_strict_utf8,
    paragraphs,
    pieces,
    standard_input,
    text_blocks,
    utf8_blocks,
)

Unit: TypeAlias = Literal["line", "paragraph", "file"]
Format: TypeAlias = Literal["text", "jsonl", "csv", "tsv", "parquet", "arrow"]
Span: TypeAlias = tuple[int, int, str]

FEW = 1 << 18  # bytes in a batch when documents are taken one by one: small enough to stay in the cache
OVERHEAD = 64  # bytes that a document takes besides its text
FORMATS: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}
# Any other ending is taken for plain text, but reading these so would quietly embed their mark-up.
NOT_TEXT = {".json", ".xml", ".html", ".htm", ".pdf", ".doc", ".docx", ".xlsx"}


@dataclass(frozen=True, slots=True)
class Document:
    """A text, or its tokens, with labelled spans (start, end, label) in it.

    The end is exclusive. Spans count characters of `text`, or tokens of `tokens`; exactly one of the two is
    given. Tokens are taken as they are, never tokenised again. `values` are those of the columns that a corpus keeps
    (`Corpus(…, columns=…)`).

    >>> Document("He sat on the bank.", spans=[(14, 18, "bank.n.01")]).spans
    ((14, 18, 'bank.n.01'),)
    >>> Document(tokens=["the", "bank"], spans=[(1, 2, "bank.n.01")]).tokens
    ['the', 'bank']
    """

    text: str | None = None
    tokens: Sequence[str] | None = None
    spans: tuple[Span, ...] = ()
    values: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if (self.text is None) == (self.tokens is None):
            raise BadCorpus("a Document has either text or tokens: give exactly one of them")
        if self.text is not None and not isinstance(self.text, str):
            raise BadCorpus(f"the text of a Document is a str, not {_kind(self.text)}; decode or convert it")
        if self.tokens is not None:
            _check_tokens(self.tokens)
        length = len(self.text if self.text is not None else cast("Sequence[str]", self.tokens))
        unit = "characters" if self.text is not None else "tokens"
        object.__setattr__(self, "spans", tuple(_span(span, length, unit) for span in self.spans))


def _span(span: Any, length: int, unit: str) -> Span:
    try:
        start, end, label = (span["start"], span["end"], span["label"]) if isinstance(span, Mapping) else tuple(span)
        start, end = operator.index(start), operator.index(end)
    except (TypeError, ValueError, KeyError):
        raise BadCorpus(f"the span {span!r} is not (start, end, label) with whole numbers; correct it") from None
    if not 0 <= start < end <= length:
        raise BadCorpus(
            f"the span {span!r} does not lie within the document's {length} {unit}: "
            f"it must be that 0 <= start < end <= {length}"
        )
    if not isinstance(label, str) or not label:
        raise BadCorpus(f"the span {span!r} has no label: give a non-empty str as the third value")
    return start, end, label


def _check_tokens(tokens: Any) -> None:
    if isinstance(tokens, str) or not isinstance(tokens, Sequence):
        raise BadCorpus(f"tokens are a list of str, not {_kind(tokens)}; give a text as text instead")
    try:
        "".join(tokens)  # the fastest way to have every item's type checked
    except TypeError as error:
        raise BadCorpus(f"tokens are a list of str, but: {error}; convert every token to str") from None


def _kind(value: object) -> str:
    return type(value).__name__


Item: TypeAlias = str | list[str] | Document
CorpusLike: TypeAlias = Any  # whatever `Corpus` takes as a source; frames of any library have no common type


@dataclass(frozen=True, slots=True)
class Batch:
    """Some documents, and how far the reading has come: bytes on disk for files, items for the rest.

    >>> next(Corpus(["one", "two"]).batches())
    Batch(documents=['one', 'two'], position=2)
    """

    documents: list[Item]
    position: int


@dataclass(frozen=True, slots=True)
class Block:
    """Some documents as they come: lines of UTF-8 in one piece, or else a list; for what works on bytes."""

    text: bytes | None
    documents: list[Item]
    position: int  # how far the reading has come: bytes on disk for files, items for the rest
    name: str = ""  # of the file, for messages
    offset: int = 0  # of `text` in its file
    source: str = ""  # the file's full path; empty for what has no name (lists, standard input, pipes)
    start: int = 0  # the first byte, or the number of the first item
    number: int = 0  # of the block in its stream, plus the number of the stream

    def line(self, low: int, high: int) -> str:
        """The text between two bytes; BadCorpus where that is not UTF-8."""
        return decode_line(self.name, self.text or b"", self.offset, low, high)


class CorpusOptions(TypedDict, total=False):
    """The keywords that say how files are read; see `Corpus`."""

    unit: Unit
    format: Format | None
    text: str | None
    tokens: str | None
    spans: str | None
    columns: Sequence[str]
    encoding: str
    errors: str
    name: str | None


class Corpus:
    """Where documents come from: re-iterable, and read only when iterated.

    `source` is a path or a URL of a file, a folder, a glob pattern, or a tar or zip archive; a list of `Path` objects;
    ``"-"`` for standard input; a pandas, polars or Arrow frame; a `Dataset` or `IterableDataset` of Hugging Face's
    `datasets`; another corpus; or any iterable of `str`, lists of tokens and `Document` objects. A plain string is
    always a path or a URL; a list of strings is always a list of texts. URLs (``s3://``, ``gs://``, ``az://``,
    ``hf://``, ``https://``) need `pip install 'alacarte-embeddings[remote]'` and what fsspec needs for their kind.

    Iterating gives a `str` for a text, a `list` for tokens and a `Document` where there are labelled spans.
    Empty documents are skipped.

    Args:
        source: where the documents are.
        unit: for plain text files, what a document is: a "line", a "paragraph" (set off by blank lines), or
            the whole "file".
        format: "text", "jsonl", "csv", "tsv", "parquet" or "arrow" (Feather too); None goes by each file's ending.
            Compression is seen from a file's content, whatever its name.
        text: the field or column with the text. None: there is none.
        tokens: the field or column with a list of tokens. None: there is none.
        spans: the field or column with the labelled spans. None: do not read them.
        columns: further fields or columns, whose values each `Document` then has.
        encoding: of text, JSON lines and CSV.
        errors: what to do with bytes that are not in that encoding: "strict" stops, "replace" puts a �.
        name: for reports, instead of the `description` made from the source.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("first line\\nsecond line\\n")
    >>> list(Corpus(folder / "a.txt"))
    ['first line', 'second line']
    >>> _ = (folder / "b.jsonl").write_text('{"body": "third"}')
    >>> list(Corpus(folder, text="body"))
    ['first line', 'second line', 'third']
    """

    def __init__(
        self,
        source: Any,
        *,
        unit: Unit = "line",
        format: Format | None = None,
        text: str | None = "text",
        tokens: str | None = "tokens",
        spans: str | None = "spans",
        columns: Sequence[str] = (),
        encoding: str = "utf-8",
        errors: str = "strict",
        name: str | None = None,
    ) -> None:
        self._unit = unit
        self._format = format
        self._fields = Fields(text, tokens, spans, tuple(columns))
        self._encoding = encoding
        self._errors = errors
        self._name = name
        self._started = [False]  # shared by corpora made from each other
        _check_options(unit, format, self._fields, encoding, errors)
        if isinstance(source, Corpus):
            if self._options() != Corpus(())._options():
                raise BadCorpus("this already is a Corpus: give its options where it is first made")
            vars(self).update(vars(source), _name=source._name if name is None else name)
            return
        self._source: Any
        self._kind, self._source = _resolve(source)
        if self._kind in ("frame", "iterable") and (unit != "line" or format is not None):
            raise BadCorpus(f"unit= and format= are for files, and this is an {self._kind}; leave them out")

    @property
    def columns(self) -> tuple[str, ...]:
        """The further columns that each document has values of."""
        return self._fields.columns

    def _options(self) -> tuple[object, ...]:
        return self._unit, self._format, self._fields, self._encoding, self._errors

    @classmethod
    def of(cls, source: Any) -> "Corpus":
        """`source` itself if it is a corpus, and else a corpus made from it.

        >>> corpus = Corpus(["a text"])
        >>> Corpus.of(corpus) is corpus, list(Corpus.of(["a text"]))
        (True, ['a text'])
        """
        return source if isinstance(source, Corpus) else cls(source)

    @classmethod
    def manifest(cls, path: str | os.PathLike[str], **options: Unpack[CorpusOptions]) -> "Corpus":
        """The files that a text file lists: a path, a URL, a pattern or a folder a line.

        Relative paths are beside the manifest, which may be behind a URL itself.

        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "a.txt").write_text("one"), (folder / "list").write_text("a.txt\\n")
        >>> list(Corpus.manifest(folder / "list"))
        ['one']
        """
        return cls(find_listed(path), **options)

    @property
    def once(self) -> bool:
        """Whether the source can be read only once, as iterators and standard input.

        >>> Corpus(["a text"]).once, Corpus(iter(["a text"])).once
        (False, True)
        """
        if self._kind == "pieces":
            return False
        if self._kind == "files":
            on_disk = (file for file in self._source if isinstance(file, Path))
            return any(path.exists() and not path.is_file() for path in on_disk)  # a pipe
        return self._kind == "stdin" or (self._kind == "iterable" and iter(self._source) is self._source)

    @property
    def size(self) -> int | None:
        """Bytes of all files as they are stored; None where that is not known.

        >>> Corpus(["not", "files"]).size is None
        True
        """
        total: int
        if self._kind == "pieces":
            total = sum(piece.stop - piece.start for piece in self._source)
            return total
        if self._kind != "files" or self.once:
            return None
        try:
            return sum(locate(file).size for file in self._source)
        except OSError as error:
            raise BadCorpus(f"no such file: {error.filename}; it was there when the corpus was made") from None

    @property
    def identity(self) -> list[str] | None:
        """Names, sizes and versions of the files, and how they are read: what a cache can go by. Else None.

        >>> Corpus(["not", "files"]).identity is None
        True
        """
        if self.size is None:
            return None
        if self._kind == "pieces":
            return [*map(repr, self._source), repr(self._options())]
        files = [locate(file if isinstance(file, Location) else file.resolve()) for file in self._source]
        return [*(f"{file} {file.size} {file.version}" for file in files), repr(self._options())]

    def holds(self, name: str) -> bool:
        """Whether a file, or a member of an archive, with this full path or URL is part of the corpus."""
        if self._kind not in ("files", "pieces"):
            return False
        if self._kind == "pieces":
            names = [piece.path for piece in self._source]
        else:
            names = [_whole_name(file)(str(file)) for file in self._source]
        return name in names or any(name.startswith((f"{whole}{os.sep}", f"{whole}/")) for whole in names)

    @property
    def options(self) -> dict[str, Any]:
        """How the source is read, as keywords of `Corpus`.

        >>> Corpus(["a text"], text="body").options["text"]
        'body'
        """
        reading = {"unit": self._unit, "format": self._format, "encoding": self._encoding, "errors": self._errors}
        return {**reading, **asdict(self._fields)}

    def whole_files(self) -> list[Piece]:
        """Each file as one piece; an error for a corpus that does not consist of files."""
        if self._kind != "files" or self.once:
            raise BadCorpus(
                f"only files can be shared out, and this corpus is {self.description}; write its documents to a file"
            )
        return [whole_file(path) for path in self._source]

    def format_of(self, name: str) -> Format:
        """What a file of this name is read as.

        >>> Corpus([]).format_of("a.jsonl.gz"), Corpus([]).format_of("a.txt")
        ('jsonl', 'text')
        """
        return self._format or _format_of(name)

    def cut(self, file: Piece, places: list[int], block_size: int) -> list[Piece]:
        """A file of this corpus, cut near some of its bytes into pieces that several readers share.

        Raises `CannotCut`, which says why, for a file that only one reader can read.

        >>> Corpus([], encoding="latin-1").cut(Piece("a.txt", 0, 9, 9, ""), [4], 1)
        Traceback (most recent call last):
        alacarte.text.members.CannotCut: is not UTF-8; make it so
        """
        format = self.format_of(file.path)
        if format == "parquet":
            return cut_row_groups(file, places)
        if format != "text":
            raise CannotCut(f"is {format}; write several files, or Parquet")
        if self._unit != "line":
            raise CannotCut(f"has documents of more than a line (unit {self._unit!r}); write several files")
        if not is_strict_utf8(self._encoding, self._errors):
            raise CannotCut("is not UTF-8; make it so")
        return cut_lines(file, places, block_size)

    @property
    def length(self) -> int | None:
        """How many items the source holds, empty ones included; None where counting means reading.

        >>> Corpus(["one", "two"]).length
        2
        """
        if self._kind == "frame":
            return frame_length(self._source)
        return len(self._source) if self._kind == "iterable" and isinstance(self._source, Sized) else None

    @property
    def description(self) -> str:
        """A few words for reports.

        >>> Corpus(["one", "two"]).description
        'iterable of 2 documents'
        """
        if self._name is not None:
            return self._name
        if self._kind == "files":
            count = len(self._source)
            return str(self._source[0]) if count == 1 else f"{count} files"
        if self._kind == "pieces":
            return f"{len(self._source)} pieces of {len({piece.path for piece in self._source})} files"
        if self._kind == "stdin":
            return "standard input"
        if self._kind == "frame":
            return "frame" if self.length is None else f"frame of {self.length} rows"
        return "iterator" if self.length is None else f"iterable of {self.length} documents"

    def __repr__(self) -> str:
        return f"<Corpus: {self.description}>"

    def _repr_html_(self) -> str:
        return html.card("Corpus", {"source": self.description, "bytes": self.size})

    def __iter__(self) -> Iterator[Item]:
        for batch in self.batches(size=FEW):
            yield from batch.documents

    def batches(self, size: int = 4 << 20) -> Iterator[Batch]:
        """Documents in batches of about `size` bytes of text: what bounds the memory.

        >>> [len(batch.documents) for batch in Corpus(["one", "two", "three"]).batches(size=3)]
        [1, 1, 1]
        """
        self._begin(size)
        documents: list[Item] = []
        weight = position = 0
        for chunk in self._chunks(size):
            documents += chunk.documents
            weight += chunk.weight
            position = chunk.position
            # A bit less is enough: a block of whole lines is a bit smaller than what was asked for.
            if documents and 8 * weight >= 7 * size:
                yield Batch(documents, position)
                documents, weight = [], 0
        if documents:
            yield Batch(documents, position)

    def blocks(self, size: int = 1 << 20) -> Iterator[Block]:
        """Documents in blocks of about `size` bytes, plain text as undivided bytes.

        >>> next(Corpus(["one", "two"]).blocks()).documents
        ['one', 'two']
        """
        done = 0
        for stream in self.streams(size):
            position = 0
            for block in stream:
                position = block.position
                yield replace(block, position=done + position)
            done += position

    def streams(self, size: int = 1 << 20) -> Iterator[Iterator[Block]]:
        """Streams of blocks that can be read side by side: one for each file. Positions count within a stream.

        >>> [len(list(stream)) for stream in Corpus(["one", "two"]).streams()]
        [1]
        """
        self._begin(size)
        if self._kind == "files":
            for number, file in enumerate(self._source):
                yield _blocks(self._file_chunks(file, size, raw=True), number, _whole_name(file))
        elif self._kind == "pieces":
            for number, piece in enumerate(self._source):
                if self.format_of(piece.path) == "text":
                    piece.check_block_size(size)
                yield _blocks(self._piece_chunks(piece, size, raw=True), number, str)
        else:
            yield _blocks(self._chunks(size, raw=True), 0, _no_name)

    def _begin(self, size: int) -> None:
        if size < 1:
            raise BadCorpus(f"a batch cannot have a size of {size} bytes; give at least 1")
        if self.once:
            if self._started[0]:
                raise BadCorpus(
                    f"this corpus ({self.description}) is an iterator and was already read; pass a list, a "
                    "file, or anything else that can be read again"
                )
            self._started[0] = True

    def _chunks(self, size: int, raw: bool = False) -> Iterator["_Chunk"]:
        if self._kind == "iterable":
            yield from _gathered(_items(self._source), _same, size)
        elif self._kind == "frame":
            rows = frame_rows(self._source, self._fields)
            yield from _gathered(_documents("the frame, at index", rows, self._fields), _same, size)
        elif self._kind == "stdin":
            for stream in standard_input():
                yield from self._stream_chunks(stream, size, raw)
        elif self._kind == "pieces":
            done = 0
            for piece in self._source:
                for chunk in self._piece_chunks(piece, size, raw):
                    yield chunk._replace(position=done + chunk.position)
                done += piece.stop - piece.start
        else:
            done = 0
            for file in self._source:
                stored = find(file).size
                for chunk in self._file_chunks(file, size, raw):
                    yield chunk._replace(position=done + chunk.position)
                done += stored

    def _file_chunks(self, file: File, size: int, raw: bool = False) -> Iterator["_Chunk"]:
        for stream in file_streams(file):
            yield from self._stream_chunks(stream, size, raw)

    def _piece_chunks(self, piece: Piece, size: int, raw: bool) -> Iterator["_Chunk"]:
        piece.check()
        if piece.whole and piece.packed is None:
            yield from self._file_chunks(piece.location(), size, raw)
        elif self.format_of(piece.path) == "parquet":
            yield from self._parquet_chunks(piece.location(), size, piece.start, piece.stop)
        else:
            for text, offset, position in piece_blocks(piece, size):
                if raw:
                    yield _Chunk([], len(text), position, text, piece.path, offset, offset)
                else:
                    lines = decode_line(piece.path, text, offset, 0, len(text)).replace("\r\n", "\n")
                    yield from _lines(iter([(lines, len(text), position)]))
        piece.check()

    def _stream_chunks(self, stream: Stream, size: int, raw: bool = False) -> Iterator["_Chunk"]:
        format = self.format_of(stream.name)
        if format == "parquet":
            if stream.location is None:
                raise BadCorpus(
                    f"{stream.name}: Parquet is read from a plain file only; unpack it, or pass format= if it is "
                    "something else"
                )
            return self._parquet_chunks(stream.location, size, 0, stream.location.size)
        if raw and format == "text" and self._unit == "line":
            return (
                _Chunk([], len(text), position, text, stream.name, offset, offset)
                for text, offset, position in utf8_blocks(stream, self._encoding, self._errors, size)
            )
        if format == "arrow":
            rows = _documents(f"{stream.name}, at index", arrow(stream.name, stream.file, self._fields), self._fields)
            return _gathered(rows, lambda _: stream.position(), size, stream.name)
        texts = text_blocks(stream, self._encoding, self._errors, min(size, BLOCK), cut=format == "text")
        if format == "text" and self._unit == "line":
            return _lines(texts)
        blocks = (text for text, _, _ in texts)
        items: Iterator[Item]
        if format == "text":
            items = paragraphs(blocks) if self._unit == "paragraph" else pieces(blocks)
        else:
            records = (
                jsonl(stream.name, blocks, self._fields)
                if format == "jsonl"
                else delimited(stream.name, blocks, self._fields, "," if format == "csv" else "\t")
            )
            items = _documents(f"{stream.name}, line", records, self._fields)
        return _gathered(items, lambda _: stream.position(), size, stream.name)

    def _parquet_chunks(self, location: Location, size: int, start: int, stop: int) -> Iterator["_Chunk"]:
        """The row groups that begin in [start, stop). No chunk goes beyond its group, so that groups can be shared."""
        for group, records in parquet(location, self._fields, start, stop):
            items = _documents(f"{location}, at index", records, self._fields)
            for chunk in _gathered(items, group.position, size, location.name, group.first_row):
                yield chunk._replace(position=chunk.position - start)


def extent(corpus: Corpus) -> tuple[int | None, str]:
    """How much there is to read and in what unit, for a progress bar."""
    return (corpus.length, "documents") if corpus.size is None else (corpus.size, "B")


def _check_options(unit: str, format: str | None, fields: Fields, encoding: str, errors: str) -> None:
    if unit not in get_args(Unit):
        raise BadCorpus(f"unit={unit!r} is not known; give one of {', '.join(map(repr, get_args(Unit)))}")
    if format is not None and format not in get_args(Format):
        raise BadCorpus(f"format={format!r} is not known; give one of {', '.join(map(repr, get_args(Format)))}")
    if unit != "line" and format not in (None, "text"):
        raise BadCorpus(f"unit={unit!r} is for plain text, not for format={format!r}; leave one of them out")
    if fields.text is None and fields.tokens is None:
        raise BadCorpus("text=None and tokens=None leave nothing to read; name the field of one of them")
    try:
        "\n".encode(encoding)
        codecs.lookup_error(errors)
    except LookupError as error:
        raise BadCorpus(f'{error}; give a name such as encoding="utf-8" and errors="strict"') from None


def _resolve(source: Any) -> tuple[str, Any]:
    """What kind of source this is, and what to read it from."""
    if isinstance(source, str) and source == "-":
        return "stdin", None
    if isinstance(source, str | os.PathLike):
        return "files", tuple(find_files(source))
    if isinstance(source, list | tuple) and source and all(isinstance(item, Piece) for item in source):
        return "pieces", tuple(source)
    if isinstance(source, list | tuple) and any(isinstance(item, os.PathLike | Location) for item in source):
        if not all(isinstance(item, str | os.PathLike | Location) for item in source):
            raise BadCorpus("a list of files holds nothing but paths; pass texts as a corpus of their own")
        listed = ([item] if isinstance(item, Location) else find_files(item) for item in source)
        return "files", tuple(file for files in listed for file in files)
    if is_frame(source):
        return "frame", source
    if isinstance(source, dict | set | frozenset | bytes | bytearray) or not isinstance(source, Iterable):
        split = f"one of its splits (source[{next(iter(source))!r}])" if hasattr(source, "column_names") else "a frame"
        raise BadCorpus(
            f"a {_kind(source)} is no corpus; pass a path, {split}, or a list of texts, of token lists, or "
            "of Document objects"
        )
    if isinstance(source, list | tuple):
        _refuse_file_names(source)
    return "iterable", source


def _refuse_file_names(source: Sequence[Any]) -> None:
    if source and all(isinstance(item, str) and url_of(item) and " " not in item for item in source[:100]):
        raise BadCorpus(
            f"{without_secrets(source[0])!r} in this list is a URL, but a list of str is a list of texts; for the "
            "files pass a pattern, [Path(url) for url in …] or Corpus.manifest, and for the texts themselves "
            "[Document(text) for text in …]"
        )
    for item in source[:100]:
        # A dot or a slash in it: the text "bank" is not to depend on a file of that name lying around.
        named = isinstance(item, str) and ("." in item or "/" in item)
        if named and os.path.isfile(item):  # noqa: PTH113 (Path.is_file raises for a long text)
            raise BadCorpus(
                f"{item!r} in this list names a file, but a list of str is a list of texts; for the files "
                "pass [Path(name) for name in …], for the texts themselves [Document(text) for text in …]"
            )


def _format_of(name: str) -> Format:
    path = Path(name)
    while path.suffix.lower() in SUFFIXES:
        path = path.with_suffix("")
    ending = path.suffix.lower()
    if ending in NOT_TEXT:
        formats = f"one of {', '.join(map(repr, get_args(Format)))} if it is one of these"
        raise BadCorpus(
            f"{name}: files ending in {ending} are not read; convert it to text, JSON lines, CSV or Parquet",
            hint=Hint(f"or pass format= with {formats}", f"or pass --format with {formats}"),
        )
    return FORMATS.get(ending, "text")


class _Chunk(NamedTuple):
    documents: list[Item]
    weight: int  # about how many bytes
    position: int
    text: bytes | None = None
    name: str = ""
    offset: int = 0
    start: int = 0  # the first byte, or the number of the first item


def _blocks(chunks: Iterator[_Chunk], number: int, source: Callable[[str], str]) -> Iterator[Block]:
    for chunk in chunks:
        if chunk.text or chunk.documents:
            named = source(chunk.name)
            yield Block(
                chunk.text, chunk.documents, chunk.position, chunk.name, chunk.offset, named, chunk.start, number
            )
            number += 1


def _whole_name(file: File) -> Callable[[str], str]:
    """What makes the name of a file, or of a member in it, one that holds in any folder: how its units are called."""
    if isinstance(file, Location):
        return str
    if not file.is_file():
        return _no_name
    begin, whole = str(file), os.path.abspath(file)  # noqa: PTH100 (links are not followed)
    return lambda name: whole + name.removeprefix(begin)  # a member's name stays as it is


def _no_name(name: str) -> str:
    return ""


def _same(count: int) -> int:
    return count


def _gathered(
    items: Iterator[Item], position: Callable[[int], int], size: int, name: str = "", first: int = 0
) -> Iterator[_Chunk]:
    """The items that are not empty, in chunks; `position` is told how many items there were so far."""
    documents: list[Item] = []
    weight, count, start = 0, first, first
    for count, item in enumerate(items, first + 1):
        content = (item.text or item.tokens) if isinstance(item, Document) else item
        if not content or (isinstance(content, str) and content.isspace()):
            continue
        documents.append(item)
        weight += OVERHEAD + (len(content) if isinstance(content, str) else sum(map(len, content)))
        if weight >= size:
            yield _Chunk(documents, weight, position(count), name=name, start=start)
            documents, weight, start = [], 0, count
    yield _Chunk(documents, weight, position(count), name=name, start=start)


def _lines(texts: Iterator[tuple[str, int, int]]) -> Iterator[_Chunk]:
    for text, weight, position in texts:
        # Not splitlines: it would also split at form feeds, U+2028 and others.
        yield _Chunk([line for line in text.split("\n") if line and not line.isspace()], weight, position)


def _items(source: Iterable[Any]) -> Iterator[Item]:
    for index, item in enumerate(source):
        if isinstance(item, str):
            yield item
        elif isinstance(item, Document):
            yield item if item.spans or item.values else plain(item)
        elif isinstance(item, list | tuple):
            try:
                _check_tokens(item)
            except BadCorpus as error:
                raise BadCorpus(f"item {index} of the corpus: {error}") from None
            yield list(item)
        else:
            hint = {
                "bytes": "decode it to str",
                "dict": "take its text out, as in [row['text'] for row in …]",
                "NoneType": "leave it out, or make it an empty string",
            }.get(
                _kind(item),
                "pass files as a list of Path objects" if isinstance(item, os.PathLike) else "convert it",
            )
            raise BadCorpus(
                f"item {index} of the corpus is of type {_kind(item)}, not a str, a list of tokens or a "
                f"Document; {hint}"
            )


def plain(document: Document) -> str | list[str]:
    """The text of a document, or its tokens."""
    return document.text if document.text is not None else list(document.tokens or ())


def _documents(place: str, records: Iterable[Record], fields: Fields) -> Iterator[Item]:
    for number, text, tokens, spans, values in records:
        try:
            yield _document(text, tokens, spans, values, fields)
        except BadCorpus as error:
            raise BadCorpus(f"{place} {number}: {error.message}", hint=error.hint) from None


def _document(text: Any, tokens: Any, spans: Any, values: tuple[Any, ...], fields: Fields) -> Item:
    no_text, no_tokens = is_null(text), is_null(tokens)
    if no_text and no_tokens:
        named = " and ".join(repr(name) for name in (fields.text, fields.tokens) if name is not None)
        raise BadCorpus(
            f"{named}: nothing there (null); drop such rows first, or put an empty string, which is skipped"
        )
    if not no_text and not no_tokens:
        raise BadCorpus(
            f"both {fields.text!r} and {fields.tokens!r} are there; pass tokens=None to read the text, or "
            "text=None to read the tokens"
        )
    if not no_text and not isinstance(text, str):
        raise BadCorpus(
            f"{fields.text!r} is of type {_kind(text)}, not str",
            hint=Hint("name another field as text=…", "name another field as --text …"),
        )
    if not no_tokens:
        tokens = tokens.tolist() if hasattr(tokens, "tolist") else tokens  # NumPy, in pandas frames
        _check_tokens(tokens)
    spans = spans.tolist() if hasattr(spans, "tolist") else spans
    spans = [] if is_null(spans) else spans
    if spans == [] and not values:
        return text if not no_text else list(tokens)
    if not isinstance(spans, list):
        raise BadCorpus(
            f"{fields.spans!r} is of type {_kind(spans)}, not a list of spans; name another field as "
            "spans=…, or pass spans=None to leave them out"
        )
    return Document(None if no_text else text, None if no_tokens else tokens, tuple(spans), values)
