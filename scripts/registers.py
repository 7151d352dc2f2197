"""Write the texts of several kinds that the shipped models learn from, one document per line.

    python scripts/registers.py ../shared/data DIR

An encyclopedia (`wiki.txt`), reviews of films (`reviews.txt`), speeches (`speeches.txt`), questions (`questions.txt`)
and Python's language reference (`reference.txt`).
"""

import argparse
import json
import lzma
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from alacarte.cli._demo import language_reference, paragraphs

REVIEWS = "unsup"  # part of the reviews; the others test documents


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder with wiki/, documents/ and regression/")
    parser.add_argument("out", type=Path, help="the folder to write to")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    write(given.out / "wiki.txt", wiki(given.data / "wiki" / "enwiki.txt.xz"))
    write(given.out / "reviews.txt", reviews(given.data / "documents" / "imdb.tar.xz"))
    write(given.out / "speeches.txt", speeches(given.data / "regression" / "sotu.jsonl.xz"))
    write(given.out / "questions.txt", questions(given.data / "documents"))
    write(given.out / "reference.txt", paragraphs(language_reference()))


def write(path: Path, documents: Iterable[str]) -> None:
    """Write documents as lines."""
    words = 0
    with path.open("w", encoding="utf-8") as file:
        for document in documents:
            line = " ".join(document.split())
            words += line.count(" ") + 1
            file.write(line + "\n")
    print(f"{path}: {words:,} words")


def wiki(path: Path) -> Iterator[str]:
    """Return the paragraphs of articles."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        yield from (line for line in lines if line.strip())


def reviews(path: Path) -> Iterator[str]:
    """Return the reviews of films without a rating."""
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None and REVIEWS in member.name:
                yield from (json.loads(line)["text"].replace("<br />", " ") for line in file)


def speeches(path: Path) -> Iterator[str]:
    """Return addresses on the State of the Union."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        yield from (json.loads(line)["text"] for line in lines)


def questions(folder: Path) -> Iterator[str]:
    """Return questions that people ask about facts."""
    for name in ("trec_train.csv", "trec_test.csv"):
        with (folder / name).open(encoding="utf-8") as lines:
            yield from (line.partition("\t")[2] for line in lines)


if __name__ == "__main__":
    main()
