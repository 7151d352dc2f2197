"""The other process of `alacarte._io.arrow`, run as a script: it decodes what it asks for and checks all of it.

It reads commands, one line of JSON each, and writes frames: a letter, the number of bytes that follow, and those. Of a
file that it cannot open by its path, it asks for bytes, which come back behind their number.
"""

import io
import json
import signal
import struct
import sys
from collections.abc import Iterable, Iterator
from typing import Any

ASKS, SAYS, DONE, FAILED = b"?", b"=", b".", b"!"
FRAME_HEAD, RANGE, FRAME_COUNT = struct.Struct("<cQ"), struct.Struct("<QQ"), struct.Struct("<Q")


def send(kind: bytes, content: Any = b"") -> None:
    sys.stdout.buffer.write(FRAME_HEAD.pack(kind, len(content)))
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


class ParentFile(io.RawIOBase):
    """The file that the first process reads."""

    def __init__(self, size: int | None) -> None:
        self._size, self._position = size, 0
        self.was_short = False  # whether less came than was asked for, as at the end

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._size is not None

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._position = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size or 0}[whence] + offset
        return self._position

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            size = max(0, (self._size or 0) - self._position)
        send(ASKS, RANGE.pack(self._position, size))
        (count,) = FRAME_COUNT.unpack(sys.stdin.buffer.read(FRAME_COUNT.size))
        data = sys.stdin.buffer.read(count)
        self.was_short = count < size
        self._position += count
        return data


class Parquet:
    """A file of row groups."""

    def __init__(self, path: str | None, size: int | None) -> None:
        self._file = parquet.ParquetFile(path or pyarrow.PythonFile(ParentFile(size), mode="r"))
        self.schema = self._file.schema_arrow

    def facts(self) -> list[list[int]]:
        """Return for each row group where it begins, and its number of rows."""
        facts = []
        metadata = self._file.metadata
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            columns = [group.column(place) for place in range(group.num_columns)]
            starts = [column.dictionary_page_offset or column.data_page_offset for column in columns]
            facts.append([min(starts, default=0), group.num_rows])
        return facts

    def batches(self, columns: list[str] | None, size: int, group: int | None) -> Iterator[Any]:
        """Give the rows of one row group or of all."""
        groups = None if group is None else [group]
        yield from self._file.iter_batches(size, row_groups=groups, columns=columns, use_threads=False)


class Arrow:
    """A file with a table of its record batches at the end, or a stream of them."""

    def __init__(self, path: str | None, size: int | None) -> None:
        options = ipc.IpcReadOptions(use_threads=False)
        self._asked = ParentFile(size)
        self._whole = path is not None or size is not None
        source = pyarrow.PythonFile(self._asked, mode="r") if path is None else pyarrow.memory_map(path)
        self._reader = (ipc.open_file if self._whole else ipc.open_stream)(source, options=options)
        self.schema = self._reader.schema

    def facts(self) -> list[list[int]]:
        """Return for each record batch of a file that it begins somewhere, and its number of rows."""
        if not self._whole:
            return []
        return [[0, self._reader.get_batch(n).num_rows] for n in range(self._reader.num_record_batches)]

    def batches(self, columns: list[str] | None, size: int, group: int | None) -> Iterator[Any]:
        """Give the rows of all record batches."""
        batches = map(self._reader.get_batch, range(self._reader.num_record_batches)) if self._whole else self._reader
        for batch in batches:
            batch.validate(full=True)
            chosen = batch if columns is None else batch.select(columns)
            for start in range(0, chosen.num_rows, size):
                yield chosen.slice(start, size)
        if not self._whole and self._asked.was_short:  # it should end with a mark
            raise EOFError("it was cut off")


def check_names(fields: Iterable[Any]) -> None:
    """Raise UnicodeDecodeError if a name is not UTF-8."""
    for field in fields:
        str(field.name)
        check_names(field.type.field(place) for place in range(field.type.num_fields))


def answer(command: dict[str, Any], table: Any) -> Any:
    """Do what one command says; return the table that is open after it."""
    if "open" in command:
        table = {"parquet": Parquet, "arrow": Arrow}[command["open"]](command["path"], command["size"])
        check_names(table.schema)
        send(SAYS, table.schema.serialize())
        send(SAYS, json.dumps(table.facts()).encode())
    else:
        for batch in table.batches(**command):
            batch.validate(full=True)  # lengths, offsets and UTF-8 of what was read
            sink = pyarrow.BufferOutputStream()
            with ipc.new_stream(sink, batch.schema) as writer:
                writer.write_batch(batch)
            send(SAYS, sink.getvalue())
    send(DONE)
    return table


def main() -> None:
    """Answer until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process sees to it
    table = None
    while line := sys.stdin.buffer.readline():
        try:
            table = answer(json.loads(line), table)
        except MemoryError:
            send(FAILED, b"it asks for more memory than there is")
        except Exception as problem:
            send(FAILED, (str(problem) or type(problem).__name__).encode(errors="replace"))


if __name__ == "__main__":  # the first process imports the names above
    import pyarrow
    from pyarrow import ipc, parquet

    main()
