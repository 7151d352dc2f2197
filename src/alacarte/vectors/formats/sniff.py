"""Which format a file has, by its content."""

from os import PathLike
from pathlib import Path

from alacarte.errors import BadVectors, Hint
from alacarte.vectors.formats import arrow, csv_table, fasttext_binary, native, r_matrix, static_models, word2vec_binary
from alacarte.vectors.formats.streams import Source, plain_suffix
from alacarte.vectors.formats.text import HEAD_BYTES, head_lines, parse_header, usual_width

PICKLE = "gensim-pickle"  # the format that runs code when it is read

# Files that people pass by mistake, and what to do instead.
OTHER_KINDS = {
    b"PK\x03\x04": "a zip archive; unpack it and pass the vector file in it",
    b"Rar!": "a RAR archive; unpack it and pass the vector file in it",
    b"7z\xbc\xaf\x27\x1c": "a 7-Zip archive; unpack it and pass the vector file in it",
    b"%PDF": "a PDF document; pass a vector file",
    b"\x89HDF": "an HDF5 file; read it with h5py and pass (words, matrix) to WordVectors.of",
    b"SQLite format 3": "an SQLite database; read it and pass (words, matrix) to WordVectors.of",
    b"<!DOCTYPE": "a web page; the download went wrong, get the file itself",
    b"<html": "a web page; the download went wrong, get the file itself",
    b"version https://git-lfs": "a Git LFS pointer; run `git lfs pull` to get the file itself",
    b"\xff\xfe": "UTF-16 text; convert it to UTF-8",
    b"\xfe\xff": "UTF-16 text; convert it to UTF-8",
}


def sniff(path: str | PathLike[str]) -> tuple[str, str | None]:
    r"""Return the format and the compression of a vector file, by content and not by name.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "misleading.bin"
    ...     _ = file.write_text("the 0.1 0.2\nof 0.3 0.4\n")
    ...     sniff(file)
    ('glove-text', None)
    """
    if Path(path).is_dir():
        return _folder(Path(path)), None
    with Source(path) as source:
        head = source.read(HEAD_BYTES)
        compression = source.compression
    if not head:
        raise BadVectors(f"{path} is empty; download or write it again")
    if head[257:262] == b"ustar":
        raise BadVectors(f"{path} is a tar archive; unpack it and pass the vector file in it")
    format = _binary(head) or _text(head, len(head) < HEAD_BYTES)
    if plain_suffix(path) == ".safetensors" and format != "safetensors":
        raise BadVectors(f"{path} is damaged, or not what its name says: it does not begin as a safetensors file does")
    for magic, what in OTHER_KINDS.items():
        # A word of a vector file may begin like those magics that are plain text.
        if head.startswith(magic) and (format is None or not magic.decode("latin-1").isprintable()):
            raise BadVectors(f"{path} is {what}")
    if format is None:
        raise BadVectors(
            f"{path} is not a vector file of a known kind: text would have lines of a word and numbers with "
            "spaces between",
            hint=Hint("pass format= if you know it, or call WordVectors(words, matrix)"),
        )
    return format, compression


def _folder(path: Path) -> str:
    if (path / native.IN_FOLDER).is_file():
        return "safetensors"
    if static_models.static_folder(path) is not None:
        return "model2vec"
    raise BadVectors(f"{path} is a folder without vectors of a model; pass the path of a vector file in it")


def _binary(head: bytes) -> str | None:
    if head.startswith(b"\x93NUMPY"):
        return "npy"
    if fasttext_binary.looks_like(head):
        return "fasttext-binary"
    if head[8:9] == b"{" and 2 <= int.from_bytes(head[:8], "little") < 1 << 32:
        return "safetensors"
    if head.startswith(b"PAR1") and word2vec_binary.NOT_TEXT_BYTES.search(head[4:64]):
        return "parquet"
    if head.startswith((b"ARROW1\0\0", arrow.STREAM)):
        return "arrow"
    if head.startswith(r_matrix.R_HEADS):
        return "rds"
    if head[0] == 0x80 and len(head) > 1 and 2 <= head[1] <= 5:  # a pickle, and which protocol
        return PICKLE
    return None


def _text(head: bytes, whole: bool) -> str | None:
    if csv_table.looks_like_csv(head, whole):
        return "tsv" if b"\t" in head.partition(b"\n")[0] else "csv"
    lines = head_lines(head, whole)
    header = parse_header(lines[0])
    if header is not None:
        width = usual_width(lines[1:])
        if width < 2 and width != header[1] and word2vec_binary.looks_like(head):
            return "word2vec-binary"
        # Otherwise a line of two whole numbers can only be GloVe text of one dimension.
        if width == header[1] or width > 1 or len(lines) == 1:
            return "word2vec-text"
    return "glove-text" if usual_width(lines) else None
