"""word2vec's binary format: a "words dimension" line, then for each word its bytes, a space and d float32."""

import re
from os import PathLike

import numpy as np

from alacarte._io.progress import progress
from alacarte._io.tensors import encode_word
from alacarte.errors import BadVectors, Hint
from alacarte.vectors.formats.rows import Growing, Problems, WordRows, decode_words
from alacarte.vectors.formats.streams import STREAM_BUFFER, Source, open_sink
from alacarte.vectors.formats.text import parse_header

MAX_WORD = 1 << 16
NOT_TEXT_BYTES = re.compile(rb"[\x00-\x08\x0e-\x1f]")


def looks_like(head: bytes) -> bool:
    r"""Whether the first bytes of a file are a header and then rows that make sense.

    >>> looks_like(b"1 1\nword " + bytes(4)), looks_like(b"1 2\nword 0.5 1\n")
    (True, False)
    """
    first, _, rest = head.partition(b"\n")
    header = parse_header(first)
    if header is None or header[1] == 0 or not rest:
        return False
    if NOT_TEXT_BYTES.search(rest):
        return True
    # Only bytes that text could hold: let a row decide.
    word, gap, values = rest.lstrip(b"\n").partition(b" ")
    vector = np.frombuffer(values[: 4 * header[1]][: len(values) // 4 * 4], "<f4")
    return bool(word and gap and b"\n" not in word and len(vector) == header[1] and np.isfinite(vector).all())


def read(path: str | PathLike[str], limit: int | None, problems: Problems) -> WordRows:
    """Read the rows, with or without a newline after each."""
    with Source(path) as source:
        first, _, data = source.read(STREAM_BUFFER).partition(b"\n")
        header = parse_header(first)
        if header is None or header[1] == 0:
            raise BadVectors(f"{path} does not start with the number of words and of dimensions; check the file")
        promised, dimension = header
        rows = Growing(dimension, limit, problems)
        while wanted := min(rows.wanted, promised - rows.rows_read):
            encoded, values, used = split(data, wanted, 4 * dimension)
            if encoded:
                rows.room(len(encoded))[:] = np.frombuffer(values, "<f4").reshape(-1, dimension)
                rows.take(*decode_words(encoded, problems, rows.where))
            data = data[used:]
            if len(encoded) < wanted:
                more = source.read(max(STREAM_BUFFER, 4 * dimension))
                if not more:
                    detail = f"the file ends here, and its header promises {promised} words of {dimension} values"
                    problems.add("missing row", rows.where(0), None, detail, promised - rows.rows_read)
                    break
                if len(data) > MAX_WORD + 4 * dimension:
                    raise BadVectors(f"{path}, {rows.where(0)}: no word here; check the header and the format")
                data += more
        if rows.rows_read == promised and (data + source.read(STREAM_BUFFER)).strip(b"\n"):
            detail = f"the header promises only {promised} words of {dimension} values and there is more"
            problems.add("row beyond the header", rows.where(0), None, detail)
    return rows.finish(promised)


def split(data: bytes, wanted: int, width: int) -> tuple[list[bytes], bytes, int]:
    """Return the words of the first whole rows, at most `wanted`, their vectors of `width` bytes, and the bytes used.

    Newlines before a word are skipped: word2vec writes one after each vector, gensim does not.
    """
    words, vectors, position = list[bytes](), list[bytes](), 0
    while len(words) < wanted:
        end = data.find(b" ", position)
        if end < 0 or end + 1 + width > len(data):
            break
        words.append(data[position:end].lstrip(b"\n"))
        position = end + 1 + width
        vectors.append(data[end + 1 : position])
    return words, b"".join(vectors), position


def write(path: str | PathLike[str], rows: WordRows) -> None:
    """Write the rows with a newline after each, as word2vec does."""
    words, matrix = rows.words, rows.matrix
    with open_sink(path) as file, progress(len(words), "words", "writing") as bar:
        file.write(b"%d %d\n" % matrix.shape)
        for start in range(0, len(words), 1000):
            block = np.ascontiguousarray(matrix[start : start + 1000], "<f4")
            for word, row in zip(words[start : start + 1000], block, strict=True):
                if not word or " " in word or word.startswith("\n"):
                    raise BadVectors(
                        f"{word!r} cannot be written in word2vec's binary format, where a space ends a word",
                        hint=Hint("save as .safetensors, or with space='_'", "save as .safetensors, or with --space _"),
                    )
                file.write(encode_word(word) + b" " + row.tobytes() + b"\n")
            bar.update_to(start + len(block))
