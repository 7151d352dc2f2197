"""The data sets of the experiments, read strictly: a line that is not as it should be is an error that names it."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from alacarte.errors import BadCorpus, BadData
from alacarte.model import SLOT
from alacarte.senses.readers import read_texts
from alacarte_experiments.lab.splits import Permit, split_file

Item = TypeVar("Item")
SENTENCES = (2, 4, 6)  # of a chimera, in the data set of the paper


@dataclass(frozen=True)
class Nonce:
    """A word and a definition of it, with slots `___` where it stands."""

    word: str
    definition: str


@dataclass(frozen=True)
class Chimera:
    """Sentences about a thing that is not, and how similar people found it to some words."""

    name: str
    sentences: tuple[str, ...]
    probes: tuple[str, ...]
    ratings: tuple[float, ...]


@dataclass(frozen=True)
class Pair:
    """Two words and how similar people found them."""

    first: str
    second: str
    score: float

    def __str__(self) -> str:
        return f"{self.first} – {self.second}"


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """(number, line) of a text file, through compression; comments (#) and blank lines left out."""
    if not path.is_file():
        raise BadData(f"{path}: no such file; --data names the folder or file of the data set")
    try:
        for _, text in read_texts(path):
            for number, line in enumerate(text.split("\n"), start=1):
                if line.strip() and not line.startswith("#"):
                    yield number, line.rstrip("\r")
    except BadCorpus as error:
        raise BadData(error.message) from None


def read_nonces(place: str | Path, permit: Permit | None = None) -> list[Nonce]:
    """A word, a tab, its definition: a file, or `train.txt` of a folder (`test.txt` with a permit)."""
    path = split_file(place, "{}.txt", permit)
    nonces = []
    for number, line in lines_of(path):
        fields = line.split("\t")
        if len(fields) != 2:
            raise BadData(f"{path}, line {number}: {len(fields)} columns and not 2 (word, tab, definition)")
        word, definition = (field.strip() for field in fields)
        if not any(SLOT.match(token) for token in definition.split()):
            raise BadData(f"{path}, line {number}: no slot ___ in the definition of {word!r}; mark where it stands")
        nonces.append(Nonce(word, definition))
    return _not_empty(nonces, path)


def read_chimeras(place: str | Path, permit: Permit | None = None) -> dict[int, list[Chimera]]:
    """Trials by their number of sentences: a file of the caller's, or `l2.train.txt`, `l4.…`, `l6.…` of a folder.

    A line has a name, sentences, probes and ratings, set off by tabs. Sentences are joined by `@@`; in the files of a
    folder, whose names say how many there are, they may be run together.
    """
    if Path(place).expanduser().is_file():
        trials: dict[int, list[Chimera]] = {}
        for chimera in _read_chimeras(split_file(place, "", permit)):
            trials.setdefault(len(chimera.sentences), []).append(chimera)
        return dict(sorted(trials.items()))
    return {size: _read_chimeras(split_file(place, f"l{size}.{{}}.txt", permit)) for size in SENTENCES}


def _read_chimeras(path: Path) -> list[Chimera]:
    chimeras = []
    for number, line in lines_of(path):
        where = f"{path}, line {number}"
        fields = line.split("\t")
        if len(fields) != 4:
            raise BadData(f"{where}: {len(fields)} columns and not 4 (name, sentences, probes, ratings)")
        texts = tuple(text.strip() for text in fields[1].split("@@") if text.strip())
        probes = tuple(probe.strip() for probe in fields[2].split(","))
        ratings = tuple(_number(rating, f"{where}: the rating") for rating in fields[3].split(","))
        if len(probes) != len(ratings):
            raise BadData(f"{where}: {len(probes)} probes and {len(ratings)} ratings; each probe has one rating")
        chimeras.append(Chimera(fields[0], texts, probes, ratings))
    return _not_empty(chimeras, path)


def read_pairs(path: Path) -> list[Pair]:
    """Two words and a score a line, by tabs, commas, semicolons or spaces; a header line is skipped.

    Further columns (the single judgments of RW, for instance) are not read.
    """
    pairs: list[Pair] = []
    for number, line in lines_of(path):
        separator = next((mark for mark in ("\t", ",", ";") if mark in line), None)
        fields = [field.strip() for field in line.split(separator)]
        if len(fields) < 3:
            raise BadData(f"{path}, line {number}: {len(fields)} columns and not 3 (word, word, score)")
        if not pairs and not _is_number(fields[2]):
            if number == 1:
                continue  # a header
            raise BadData(f"{path}, line {number}: the score {fields[2]!r} is not a number")
        pairs.append(Pair(fields[0], fields[1], _number(fields[2], f"{path}, line {number}: the score")))
    return _not_empty(pairs, path)


# ---------------------------------------------------------------------------------- contextual rare words


@dataclass(frozen=True)
class RareWords:
    """Pairs of a frequent (first) and a rare (second) word, and sentences for each rare one."""

    pairs: list[Pair]
    contexts: dict[str, list[str]]


def read_rare_words(place: str | Path, contexts_file: str | Path = "") -> RareWords:
    """A folder with `pairs.tsv` and `contexts.jsonl[.xz]`, or as CRW-562: `CRW-*.txt`, `context/`, `rarevocab.txt`.

    Or two files: pairs (frequent word, rare word, score) and, as `contexts_file`, lines of JSON with the contexts.
    """
    path = Path(place).expanduser()
    if contexts_file:
        pairs, contexts = read_pairs(path), _read_context_lines(Path(contexts_file).expanduser())
    elif path.is_file():
        raise BadData(f"{path}: a file of pairs goes with a file of contexts; pass --contexts FILE")
    elif (path / "pairs.tsv").is_file():
        files = sorted(path.glob("contexts.jsonl*"))
        if not files:
            raise BadData(f"{path}: there are pairs but no contexts.jsonl.xz")
        pairs, contexts = read_pairs(path / "pairs.tsv"), _read_context_lines(files[0])
    elif files := sorted(path.glob("CRW-*.txt")):
        rare = {line.split()[0] for _, line in lines_of(path / "rarevocab.txt")}
        pairs = []
        for pair in read_pairs(files[0]):
            if pair.second in rare:
                pairs.append(pair)
            elif pair.first in rare:
                pairs.append(Pair(pair.second, pair.first, pair.score))
            else:
                raise BadData(f"{files[0]}: neither word of {pair} is in rarevocab.txt; add the rare one")
        contexts = {}
        for word in dict.fromkeys(pair.second for pair in pairs):
            contexts[word] = [line for _, line in lines_of(path / "context" / f"{word}.txt")]
    else:
        raise BadData(
            f"{path}: no data set of rare words; it holds pairs.tsv and contexts.jsonl.xz, or CRW-562.txt, "
            "context/ and rarevocab.txt"
        )
    lacking = [pair.second for pair in pairs if not contexts.get(pair.second)]
    if lacking:
        raise BadData(
            f"{path}: no contexts for {len(lacking)} rare words, {lacking[0]!r} first; add them or their pairs"
        )
    return RareWords(pairs, contexts)


def _read_context_lines(path: Path) -> dict[str, list[str]]:
    """Contexts by word, of lines such as {"word": "ocelot", "contexts": ["An ocelot slept .", …]}."""
    contexts: dict[str, list[str]] = {}
    for number, line in lines_of(path):
        try:
            record = json.loads(line)
            word, texts = record["word"], record["contexts"]
            if not isinstance(word, str) or not all(isinstance(text, str) for text in texts):
                raise TypeError
        except (ValueError, KeyError, TypeError):
            raise BadData(
                f'{path}, line {number}: not {{"word": …, "contexts": [sentences]}}; correct the line'
            ) from None
        contexts.setdefault(word, []).extend(texts)
    return contexts


def _number(text: str, what: str) -> float:
    if not _is_number(text):
        raise BadData(f"{what} {text.strip()!r} is not a number; correct the line")
    return float(text)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _not_empty(items: list[Item], path: Path) -> list[Item]:
    if not items:
        raise BadData(f"{path}: the file holds no data")
    return items
