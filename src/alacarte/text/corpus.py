"""Documents from files, URLs, globs, archives, JSON lines, CSV, Parquet, Arrow, frames, stdin, lists and generators.

A `Corpus` describes where the text is; nothing is read until it is iterated, and then in bounded memory.

>>> for document in Corpus(["A bank by the river.", ["already", "tokenised"]]):
...     print(document)
A bank by the river.
['already', 'tokenised']
"""

import os
from collections.abc import Iterable, Iterator, Sequence, Sized
from copy import copy
from dataclasses import replace
from typing import Any, TypeAlias, Unpack

from alacarte._io import html
from alacarte._io.checks import whole_number
from alacarte._io.frames import is_frame
from alacarte._io.options import refuse_unknown
from alacarte._io.urls import Location, without_secrets
from alacarte.errors import BadCorpus
from alacarte.text.documents import Document, Item, check_tokens, plain, type_name
from alacarte.text.options import CorpusKeywords, CorpusOptions
from alacarte.text.records import documents_of, frame_length, frame_rows
from alacarte.text.segments import (
    Block,
    Segment,
    blocks_of,
    cut_segment,
    read_segment,
    read_stream,
    segment_between,
    whole_file,
)
from alacarte.text.sources import find_files, refuse_repeated, standard_input
from alacarte.text.streams import find, is_pipe
from alacarte.vectors.keyed_matrix import KeyedMatrix

ITERATED_BYTES = 1 << 18  # in memory when documents are taken one by one: small enough to stay in the cache
CorpusLike: TypeAlias = Any  # whatever `Corpus` takes as a source; frames of any library have no common type


class Corpus:
    r"""Where documents come from: re-iterable, and read only when iterated.

    Iterating gives a `str` for a text, a `list` for tokens and a `Document` where there are labelled spans or values
    of further columns. Empty documents are skipped.

    Parameters
    ----------
    source : path, URL, iterable of documents, frame, or Corpus
        A path or a URL of a file, a folder, a glob pattern, or a tar or zip archive; a list of `Path` objects, in
        which no file may be named twice; ``"-"`` for standard input; a pandas, polars or Arrow frame; a `Dataset` or
        `IterableDataset` of Hugging Face's `datasets`; another corpus; or any iterable of `str`, lists of tokens and
        `Document` objects. A plain string is always a path or a URL; a list of strings is always a list of texts.
        URLs (``s3://``, ``gs://``, ``az://``, ``hf://``, ``https://``) need
        ``pip install 'alacarte-embeddings[remote]'`` and what fsspec needs for their kind.
    name : str, optional
        For reports, instead of the `description` made from the source.
    **options
        How files are read: `unit`, `format`, `text`, `tokens`, `spans`, `columns`, `encoding`, `errors`; see
        `alacarte.text.options.CorpusOptions`. Compression is recognised by a file's content, whatever its name.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("first line\nsecond line\n")
    >>> list(Corpus(folder / "a.txt"))
    ['first line', 'second line']
    >>> _ = (folder / "b.jsonl").write_text('{"body": "third"}')
    >>> list(Corpus(folder, text="body"))
    ['first line', 'second line', 'third']
    """

    def __init__(self, source: Any, *, name: str | None = None, **options: Unpack[CorpusKeywords]) -> None:
        refuse_unknown(type(self), options, CorpusKeywords)
        self.options = CorpusOptions(**options)
        self._name = name
        self._was_begun = [False]  # shared by corpora made from each other
        self._segments: tuple[Segment, ...] | None = None  # of files, if only these are read
        self._share: tuple[int, int] | None = None  # of what is no file: (i, n) reads the i-th of each n blocks
        if isinstance(source, Corpus):
            if self.options != CorpusOptions():
                raise BadCorpus("this already is a Corpus: give its options where it is first made")
            vars(self).update(vars(source), _name=source._name if name is None else name)
            return
        self._source: Any
        self._kind, self._source = _resolve(source)
        if self._kind in ("frame", "iterable") and (self.options.unit != "line" or self.options.format is not None):
            raise BadCorpus("unit= and format= are for files, and this is none; leave them out")

    @classmethod
    def of(cls, source: CorpusLike) -> "Corpus":
        """Return `source` itself if it is a corpus, and else a corpus made from it.

        >>> corpus = Corpus(["a text"])
        >>> Corpus.of(corpus) is corpus, list(Corpus.of(["a text"]))
        (True, ['a text'])
        """
        return source if isinstance(source, Corpus) else cls(source)

    # ------------------------------------------------------------------------------------------ what is known of it

    @property
    def columns(self) -> tuple[str, ...]:
        """The further columns that each document has values of."""
        return tuple(self.options.columns)

    @property
    def once(self) -> bool:
        """Whether the source can be read only once, as iterators, pipes and standard input.

        >>> Corpus(["a text"]).once, Corpus(iter(["a text"])).once
        (False, True)
        """
        if self._kind == "iterable":
            return iter(self._source) is self._source
        return self._kind in ("pipes", "stdin")

    @property
    def size(self) -> int | None:
        """The number of bytes of all files as they are stored; None where that is not known.

        >>> Corpus(["not", "files"]).size is None
        True
        """
        if self._kind != "files":
            return None
        return sum(segment.size for segment in self.segments())

    @property
    def length(self) -> int | None:
        """The number of items of the source, empty ones included; None where counting means reading.

        >>> Corpus(["one", "two"]).length
        2
        """
        if self._kind == "frame":
            return frame_length(self._source)
        return len(self._source) if self._kind == "iterable" and isinstance(self._source, Sized) else None

    @property
    def extent(self) -> tuple[int | None, str]:
        """How much there is to read and in what unit, for a progress bar.

        >>> Corpus(["one", "two"]).extent
        (2, 'documents')
        """
        size = self.size
        return (self.length, "documents") if size is None else (size, "B")

    @property
    def identity(self) -> list[str] | None:
        """Names, sizes and versions of the files and the options, as the key of a cache; None for other sources.

        >>> Corpus(["not", "files"]).identity is None
        True
        """
        if self._kind != "files":
            return None
        segments = [f"{_real_name(s.location)} {s.start} {s.stop} {s.location.version}" for s in self.segments()]
        return [*segments, repr(self.options)]

    @property
    def is_part(self) -> bool:
        """Whether this is a part of another corpus, which may hold no text at all."""
        return self._segments is not None or self._share is not None

    @property
    def description(self) -> str:
        """The source in a few words, for reports.

        >>> Corpus(["one", "two"]).description
        'iterable of 2 documents'
        """
        if self._name is not None:
            return self._name
        if self._kind in ("files", "pipes"):
            return str(self._source[0]) if len(self._source) == 1 else f"{len(self._source)} files"
        if self._kind == "stdin":
            return "standard input"
        if self._kind == "frame":
            return "frame" if self.length is None else f"frame of {self.length} rows"
        return "iterator" if self.length is None else f"iterable of {self.length} documents"

    def __repr__(self) -> str:
        return f"<Corpus: {self.description}>"

    def _repr_html_(self) -> str:
        return html.card("Corpus", {"source": self.description, "bytes": self.size})

    # ------------------------------------------------------------------------------------------------- parts of it

    def segments(self, block_size: int = 1 << 20, step: int | None = None) -> list[Segment]:
        """Return the files, or parts of about `step` bytes of those that can be cut, in the order of the text.

        The units of the parts are those of the whole files, if all are read with this block size. What consists of no
        files (lists, frames, pipes, standard input) has no segments.
        """
        if self._kind != "files":
            return []
        segments = [whole_file(find(file)) for file in self._source] if self._segments is None else list(self._segments)
        if step is None:
            return segments
        parts = []
        for segment in segments:
            parts += cut_segment(
                segment, list(range(segment.start + step, segment.stop, step)), self.options, block_size
            )
        return parts

    def only(self, segments: Iterable[Segment]) -> "Corpus":
        """Return a corpus of some of the segments."""
        part = copy(self)
        part._segments = tuple(segments)
        part._source = tuple(dict.fromkeys(segment.location for segment in part._segments))
        return part

    def shard(self, number: int, of: int, block_size: int) -> "Corpus":
        """Return one of several parts of about the same size, which together are the whole; the first is number 1.

        Files are laid end to end, and each part begins where the one before it ends: inside a file where that can be
        cut, else behind it. Of what consists of no files, each block is part of one shard.

        >>> [sum(1 for _ in Corpus(["one", "two", "three"]).shard(number, 2, 1).blocks(1)) for number in (1, 2)]
        [2, 1]
        """
        if self._kind != "files":
            part = copy(self)
            part._share = (number, of)
            return part
        segments = self.segments()
        total = sum(segment.size for segment in segments)
        low, high = total * (number - 1) // of, total * number // of
        parts, before = [], 0
        for segment in segments:
            shift = segment.start - before
            part_of_it = segment_between(segment, low + shift, high + shift, self.options, block_size)
            parts += [] if part_of_it is None else [part_of_it]
            before += segment.size
        return self.only(parts)

    # --------------------------------------------------------------------------------------------------- reading it

    def __iter__(self) -> Iterator[Item]:
        for block in self.blocks(ITERATED_BYTES):
            yield from block.items()

    def blocks(self, size: int = 1 << 20) -> Iterator[Block]:
        """Give the documents in blocks of about `size` bytes, plain text as undivided bytes.

        >>> next(Corpus(["one", "two"]).blocks()).items()
        ['one', 'two']
        """
        done = 0
        for stream in self.streams(size):
            position = 0
            for block in stream:
                position = block.position
                yield replace(block, position=done + position)
            done += position

    def streams(self, size: int = 1 << 20, step: int | None = None) -> Iterator[Iterator[Block]]:
        """Give streams of blocks that can be read side by side, one for each segment; see `segments`.

        The positions of blocks count within a stream.

        >>> [len(list(stream)) for stream in Corpus(["one", "two"]).streams()]
        [1]
        """
        size = whole_number(size, "the size of a block", 1, BadCorpus)
        if self.once:
            if self._was_begun[0]:
                raise BadCorpus(
                    f"this corpus ({self.description}) is an iterator and was already read; pass a list, a "
                    "file, or anything else that can be read again"
                )
            self._was_begun[0] = True
        if self._kind == "files":
            for segment in self.segments(size, step):
                yield read_segment(segment, self.options, size)
            return
        for stream in self._nameless_streams(size):
            yield stream if self._share is None else _share_of(stream, *self._share)

    def _nameless_streams(self, size: int) -> Iterator[Iterator[Block]]:
        """Yield the blocks of what is no file on disk, or of files of which one at least can be read only once."""
        if self._kind == "pipes":
            for file in self._source:
                yield read_segment(whole_file(find(file)), self.options, size)
        elif self._kind == "stdin":
            for stream in standard_input():
                yield read_stream(stream, self.options, size)
        elif self._kind == "frame":
            rows = frame_rows(self._source, self.options)
            yield blocks_of(documents_of("the frame, at index", rows, self.options), _item_count, size)
        else:
            yield blocks_of(_checked_items(self._source), _item_count, size)


def _share_of(blocks: Iterator[Block], number: int, of: int) -> Iterator[Block]:
    return (block for place, block in enumerate(blocks) if place % of == number - 1)


def _item_count(count: int) -> int:
    return count


def _real_name(location: Location) -> str:
    return location.name if location.path is None else os.path.realpath(location.path)


# ---------------------------------------------------------------------------------------------- what a source may be


def _resolve(source: Any) -> tuple[str, Any]:
    """Return what kind of source this is, and what to read it from."""
    if isinstance(source, str) and source == "-":
        return "stdin", None
    if isinstance(source, str | os.PathLike):
        return _files(find_files(source))
    if isinstance(source, list | tuple) and any(isinstance(item, os.PathLike | Location) for item in source):
        if not all(isinstance(item, str | os.PathLike | Location) for item in source):
            raise BadCorpus("a list of files holds nothing but paths; pass texts as a corpus of their own")
        listed = ([item] if isinstance(item, Location) else find_files(item) for item in source)
        return _files([file for files in listed for file in files])
    if is_frame(source):
        return "frame", source
    if isinstance(source, KeyedMatrix):
        raise BadCorpus("these are word vectors, and text is expected here; vectors come first, then the text")
    if isinstance(source, dict | set | frozenset | bytes | bytearray) or not isinstance(source, Iterable):
        split = f"one of its splits (source[{next(iter(source))!r}])" if hasattr(source, "column_names") else "a frame"
        raise BadCorpus(
            f"a corpus cannot be made of type {type_name(source)}; pass a path, {split}, or a list of texts, of token "
            "lists, or of Document objects"
        )
    if isinstance(source, list | tuple):
        _refuse_file_names(source)
    return "iterable", source


def _files(files: list[Location]) -> tuple[str, tuple[Location, ...]]:
    refuse_repeated(files)
    return "pipes" if any(map(is_pipe, files)) else "files", tuple(files)


def _refuse_file_names(source: Sequence[Any]) -> None:
    """Raise `BadCorpus` for a list of str that are names of files or URLs."""
    if source and all(isinstance(item, str) and "://" in item and not set(" \0") & set(item) for item in source[:100]):
        raise BadCorpus(
            f"{without_secrets(source[0])!r} in this list is a URL, but a list of str is a list of texts; for the "
            "files pass a pattern or [Path(url) for url in …], and for the texts themselves "
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


def _checked_items(source: Iterable[Any]) -> Iterator[Item]:
    """Yield the items of an iterable, each of which must be a document."""
    for index, item in enumerate(source):
        if isinstance(item, str):
            yield item
        elif isinstance(item, Document):
            yield item if item.spans or item.values else plain(item)
        elif isinstance(item, list | tuple):
            try:
                check_tokens(item)
            except BadCorpus as error:
                raise BadCorpus(f"item {index} of the corpus: {error}") from None
            yield list(item)
        else:
            hint = {
                "bytes": "decode it to str",
                "dict": "take its text out, as in [row['text'] for row in …]",
                "NoneType": "leave it out, or make it an empty string",
            }.get(
                type_name(item),
                "pass files as a list of Path objects" if isinstance(item, os.PathLike) else "convert it, as by str()",
            )
            raise BadCorpus(
                f"item {index} of the corpus is of type {type_name(item)}, not a str, a list of tokens or a "
                f"Document; {hint}"
            )
