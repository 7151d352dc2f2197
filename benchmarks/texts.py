"""Write texts that took no part in any model, from packages of Debian: one document per line.

    python benchmarks/texts.py DIR

The King James Bible (`bible.txt`, a chapter per line), the documentation of the Linux kernel (`kernel.txt`, pages), six
novels of Jane Austen (`novels.txt`, a paragraph), and sayings (`sayings.txt`). Needs apt-get, dpkg and `rdata`.
"""

import argparse
import bz2
import gzip
import lzma
import re
import subprocess
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

PACKAGES = ("bible-kjv", "bible-kjv-text", "linux-doc-6.1", "r-cran-janeaustenr", "fortunes")
SHORTEST = 80  # characters of a paragraph of the kernel's documentation
PROSE = re.compile(r"(?!\.\.|  |\t)(?!.{0,3}::)", re.DOTALL)  # no directive, no code


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        subprocess.run(["apt-get", "download", "-q", *PACKAGES], cwd=root, check=True)
        for package in root.glob("*.deb"):
            subprocess.run(["dpkg", "-x", package, root / "x"], check=True)
        write(out / "bible.txt", bible(root / "x"))
        write(out / "kernel.txt", kernel(root / "x" / "usr" / "share" / "doc"))
        write(out / "novels.txt", novels(root / "x" / "usr" / "lib" / "R" / "site-library" / "janeaustenr" / "data"))
        write(out / "sayings.txt", sayings(root / "x" / "usr" / "share" / "games" / "fortunes"))


def write(path: Path, documents: Iterable[str]) -> None:
    lines = [" ".join(document.split()) for document in documents]
    path.write_text("".join(f"{line}\n" for line in lines if line), encoding="utf-8")
    print(f"{path}: {sum(line.count(' ') + 1 for line in lines):,} words")


def bible(root: Path) -> Iterator[str]:
    program = root / "usr" / "bin" / "bible"
    data = ["-p", str(root / "usr" / "lib")]
    verses = subprocess.run([program, *data, "-f", "gen1:1-rev22:21"], capture_output=True, text=True, check=True)
    chapters: dict[str, list[str]] = {}
    for line in verses.stdout.splitlines():
        place, _, verse = line.partition(" ")
        chapters.setdefault(place.partition(":")[0], []).append(verse)
    yield from map(" ".join, chapters.values())


def kernel(root: Path) -> Iterator[str]:
    for path in sorted(root.glob("linux-doc-*/html/_sources/**/*.rst.txt")):
        if "translations" not in path.parts:
            paragraphs = re.split(r"\n\s*\n", path.read_text(encoding="utf-8", errors="replace"))
            yield " ".join(part for part in paragraphs if len(part) > SHORTEST and PROSE.match(part))


def novels(folder: Path) -> Iterator[str]:
    """Return paragraphs of the data of an R package: compressed objects, one after the other."""
    from rdata import conversion, parser

    index = conversion.convert(parser.parse_data(gzip.decompress((folder / "Rdata.rdx").read_bytes())))
    data = (folder / "Rdata.rdb").read_bytes()
    raw = {"format": lzma.FORMAT_RAW, "filters": [{"id": lzma.FILTER_LZMA2, "preset": 6}]}
    for start, size in index["variables"].values():
        block = data[int(start) : int(start) + int(size)]
        kind, rest = block[4:5], block[5:]
        if kind == b"2":
            content = bz2.decompress(rest)
        else:
            content = lzma.LZMADecompressor(**raw).decompress(rest) if kind == b"Z" else zlib.decompress(block[4:])
        lines = conversion.convert(parser.parse_data(content))
        yield from re.split(r"\n\s*\n", "\n".join(line or "" for line in lines))


def sayings(folder: Path) -> Iterator[str]:
    for path in sorted(folder.iterdir()):
        if path.is_file() and not path.suffix:
            yield from path.read_text(encoding="utf-8", errors="replace").split("\n%\n")


if __name__ == "__main__":
    main()
