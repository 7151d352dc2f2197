"""Classification tasks as texts and labels: any files with labels, and the eight of the paper's Table 4 by name."""

import io
import json
import lzma
import tarfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from alacarte.errors import BadData

TASKS = ("MR", "CR", "SUBJ", "MPQA", "TREC", "SST", "SST-fine", "IMDB")
PARTS = {  # the files of the two classes
    "MR": ("rt-polarity.neg", "rt-polarity.pos"),
    "CR": ("custrev.neg", "custrev.pos"),
    "SUBJ": ("subj.objective", "subj.subjective"),
    "MPQA": ("mpqa.neg", "mpqa.pos"),
}
SPLITS = {"TREC": "trec_{}.csv", "SST": "sst_{}.csv", "SST-fine": "sst_fine_{}.csv"}
IMDB = "imdb.tar.xz"
CUT = " n 't"  # how CR, and here and there others, came to write the n't of "don't" when they were split into words


@dataclass(frozen=True)
class Task:
    """Documents and their classes. The first `train` documents are for training; None: cross-validate."""

    name: str
    texts: tuple[str, ...]
    labels: tuple[str, ...]
    train: int | None = None

    def __post_init__(self) -> None:
        if len(self.texts) != len(self.labels) or not self.texts:
            raise BadData(f"{self.name}: {len(self.texts)} texts and {len(self.labels)} labels; give each text one")

    def part(self, every: int) -> "Task":
        """Each n-th document, for a quick look.

        >>> Task("toy", ("a", "b", "c", "d"), ("x", "x", "y", "y"), train=3).part(2)
        Task(name='toy', texts=('a', 'c'), labels=('x', 'y'), train=2)
        """
        train = None if self.train is None else len(range(0, self.train, every))
        return Task(self.name, self.texts[::every], self.labels[::every], train)

    def training(self) -> "Task":
        """The training part alone, to be cross-validated: what settings may be chosen on.

        >>> Task("toy", ("a", "b", "c"), ("x", "y", "y"), train=2).training()
        Task(name='toy', texts=('a', 'b'), labels=('x', 'y'), train=None)
        """
        if self.train is None:
            given = ", ".join((*SPLITS, "IMDB"))
            raise BadData(f"all documents of {self.name} are tested, in ten folds; choose settings on {given}")
        return Task(self.name, self.texts[: self.train], self.labels[: self.train])


def read_task_files(text: str) -> Task:
    """A task out of `NAME=FILE`, to be cross-validated, or `NAME=TRAIN,TEST`, with a split of its own.

    A line of a file is a label, a tab and the text; of a file that ends in .jsonl, JSON with `label` and `text`.
    """
    name, _, listed = text.partition("=")
    files = [Path(part.strip()).expanduser() for part in listed.split(",") if part.strip()]
    if not name.strip() or not 1 <= len(files) <= 2:
        raise BadData(f"a task of your own is NAME=FILE or NAME=TRAIN,TEST, not {text!r}")
    parts = [list(_labelled(path)) for path in files]
    rows = [row for part in parts for row in part]
    train = len(parts[0]) if len(files) == 2 else None
    return Task(name.strip(), tuple(text for _, text in rows), tuple(label for label, _ in rows), train)


def _labelled(path: Path) -> Iterator[tuple[str, str]]:
    """(label, text) of each line of a file."""
    if path.suffix == ".jsonl":
        yield from _json_rows(_text(path).split("\n"), str(path))
    else:
        yield from _tab_rows(_text(path).split("\n"), path)


def read_task(folder: str | Path | None, name: str) -> Task:
    """A task by `NAME=FILE…` (`read_task_files`), or one of the paper's from the folder that holds them all.

    In the paper's, where `n't` was cut in two, it is whole again.
    """
    if "=" in name:
        return read_task_files(name)
    if name not in TASKS:
        raise BadData(
            f"no task is called {name!r}; there are {', '.join(TASKS)}, and files of your own as NAME=FILE or "
            "NAME=TRAIN,TEST"
        )
    if folder is None:
        raise BadData(f"the task {name} is read from the folder that holds the paper's tasks; pass --data DIR")
    place = Path(folder).expanduser()
    if name in PARTS:
        texts: list[str] = []
        labels: list[str] = []
        for file in PARTS[name]:
            lines = [line.strip() for line in _text(place / file).replace(CUT, " n't").split("\n") if line.strip()]
            texts += lines
            labels += [file.rpartition(".")[2]] * len(lines)
        return Task(name, tuple(texts), tuple(labels))
    rows = _imdb if name == "IMDB" else _split_rows
    train = list(rows(place, name, "train"))
    both = train + list(rows(place, name, "test"))
    return Task(name, tuple(text for _, text in both), tuple(label for label, _ in both), len(train))


def _split_rows(folder: Path, name: str, split: str) -> Iterator[tuple[str, str]]:
    path = folder / SPLITS[name].format(split)
    for label, text in _tab_rows(_text(path).replace(CUT, " n't").split("\n"), path):
        # TREC's labels are a coarse and a fine one, of which the paper uses the six coarse ones.
        yield label.partition(":")[0] if name == "TREC" else label, text


def _imdb(folder: Path, name: str, split: str) -> Iterator[tuple[str, str]]:
    with imdb_part(folder, split) as lines:
        yield from _json_rows(lines, f"{folder / IMDB}: imdb_{split}.jsonl")


def _tab_rows(lines: Iterable[str], path: Path) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines, start=1):
        label, tab, text = line.partition("\t")
        if not line.strip():
            continue
        if not tab:
            raise BadData(f"{path}: line {number} has no tab; write a label, a tab and the text")
        yield label.strip(), text.strip()


def _json_rows(lines: Iterable[str], place: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            yield str(record["label"]), str(record["text"])
        except (ValueError, KeyError, TypeError):
            raise BadData(f"{place}, line {number}: no JSON with label and text; correct the line") from None


@contextmanager
def imdb_part(folder: Path, split: str) -> Iterator[IO[str]]:
    """The lines of `imdb_{split}.jsonl`: a file in the folder, or in the archive there."""
    plain = folder / f"imdb_{split}.jsonl"
    if plain.is_file():
        with plain.open(encoding="utf-8") as file:
            yield file
        return
    try:
        with tarfile.open(folder / IMDB) as archive:
            member = archive.extractfile(plain.name)
            assert member is not None
            yield io.TextIOWrapper(member, encoding="utf-8")
    except FileNotFoundError as error:
        raise _missing(folder / IMDB) from error
    except (KeyError, tarfile.TarError, EOFError, lzma.LZMAError) as error:
        raise BadData(f"{folder / IMDB}: {plain.name} cannot be read from it ({error}); fetch it again") from None


def _text(path: Path) -> str:
    """UTF-8, or Latin-1 where it is not: the oldest of these sets came before UTF-8 was usual."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise _missing(path) from None
    decode: Callable[[str], str] = raw.decode
    try:
        return decode("utf-8")
    except UnicodeDecodeError:
        return decode("latin-1")


def _missing(path: Path) -> BadData:
    return BadData(f"{path}: there is no such file; --data names the folder of the paper's tasks")
