"""Princeton's database files (`dict/`): WordNet 3.x from a folder or an archive, without any library.

The files are read whole, and a line is parsed when it is needed, so that opening takes a fraction of a second.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from alacarte._io.decoding import decoding
from alacarte._io.progress import progress
from alacarte.errors import BadCorpus, BadWordNet, require
from alacarte.senses.wordnet import NUMBER_OF_POS, Synset, WordNet, check_pos
from alacarte.text.sources import file_streams
from alacarte.text.streams import read_whole

FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
CLUSTER_HEAD = "&"  # from a satellite adjective to the head of its cluster
ADJECTIVE_MARKER = re.compile(r"\((?:a|p|ip)\)$")  # of adjectives that are used only before or only after a noun
QUOTED = re.compile(r'"([^"]+)"?')
INSTALLED_IN = ("/usr/share/wordnet", "/usr/local/share/wordnet", "/usr/local/WordNet-3.0/dict")
FILES_ADVICE = (
    "give the folder (dict/) or archive of WordNet 3.x database files, as Princeton and Debian distribute them"
)


def installed() -> Path | None:
    """Return the folder of an installed WordNet: `$WNHOME/dict`, `$WNSEARCHDIR`, or where systems put it."""
    home, search = os.environ.get("WNHOME"), os.environ.get("WNSEARCHDIR")
    places = [Path(home) / "dict"] if home else []
    places += [Path(search)] if search else []
    places += [Path(place) for place in INSTALLED_IN]
    return next((place for place in places if (place / "data.noun").is_file()), None)


def downloaded_by_nltk() -> Path:
    """Return the database files that `nltk.downloader` has fetched: a folder, or an archive."""
    data = require("nltk.data", extra="nltk", purpose="WordNet as NLTK downloads it")
    with suppress(LookupError):
        return Path(data.find("corpora/wordnet").path)
    with suppress(LookupError):
        return Path(data.find("corpora/wordnet.zip").zipfile.filename)
    raise BadWordNet(
        "NLTK has no WordNet data; run `python -m nltk.downloader wordnet`, or pass the folder of WordNet's database "
        "files"
    )


class DatabaseWordNet(WordNet):
    """WordNet from `data.noun`, `index.noun`, … in a folder or in a tar or zip archive."""

    def __init__(self, source: str | os.PathLike[str]) -> None:
        self.name = os.fspath(source)
        files = _read(Path(source).expanduser())
        missing = [f"{kind}.{name}" for name in FILES.values() for kind in ("data", "index")]
        missing = [name for name in missing if name not in files]
        if missing:
            raise BadWordNet(f"{self.name}: {', '.join(missing)} is not there; {FILES_ADVICE}")
        self._data = {pos: files[f"data.{name}"] for pos, name in FILES.items()}
        self._index = {pos: _index_lines(files[f"index.{name}"]) for pos, name in FILES.items()}
        self._exceptions = {pos: _exception_lists(files.get(f"{name}.exc", b"")) for pos, name in FILES.items()}
        self._counts = _counts(files)
        self._parsed: dict[tuple[str, int], Synset] = {}
        self._by_lemma: dict[tuple[str, str], list[Synset]] = {}
        version = re.search(rb"WordNet (\d+(?:\.\d+)*)", self._data["n"][:4000])
        self.version = version.group(1).decode() if version else None

    def _senses(self, lemma: str, pos: str) -> list[Synset]:
        senses = self._by_lemma.get((lemma, pos))
        if senses is None:
            senses = self._by_lemma[lemma, pos] = [self._at(pos, offset) for offset in self._offsets(lemma, pos)]
        return senses

    def all_synsets(self) -> Iterator[Synset]:
        """Return every synset, in the order of the files."""
        total = sum(len(data) for data in self._data.values())
        done = 0
        with progress(total, "B", "reading WordNet") as bar:
            for pos, data in self._data.items():
                position = 0
                for line in data.splitlines(keepends=True):
                    if line[:1].isdigit():
                        yield self._at(pos, position)
                    position += len(line)
                    bar.update_to(done + position)
                done += len(data)

    def exceptions(self, word: str, pos: str) -> list[str]:
        """Return the base forms of an irregular word."""
        return self._exceptions[check_pos(pos)].get(word, [])

    # ------------------------------------------------------------------------------------------ parsing

    def _offsets(self, lemma: str, pos: str) -> list[int]:
        line = self._index[pos].get(lemma)
        if line is None:
            return []
        fields = line.split()
        try:
            return [int(offset) for offset in fields[-int(fields[2]) :]]
        except (ValueError, IndexError):
            raise BadWordNet(
                f"{self.name}: index.{FILES[pos]}, {lemma!r}: not a line of an index; {FILES_ADVICE}"
            ) from None

    def _fields(self, pos: str, offset: int) -> tuple[list[str], list[tuple[str, str]], list[tuple[str, int]], str]:
        """Return (first four fields, words with hexadecimal lex ids, pointers as (symbol, offset), gloss) of a line."""
        data = self._data[pos]
        line = data[offset : max(data.find(b"\n", offset), offset)].decode("utf-8", errors="replace")
        head, _, gloss = line.partition(" | ")
        fields = head.split(" ")
        try:
            if int(fields[0]) != offset:
                raise ValueError
            words = int(fields[3], 16)
            lemmas = [(ADJECTIVE_MARKER.sub("", fields[4 + 2 * i]), fields[5 + 2 * i]) for i in range(words)]
            start = 5 + 2 * words
            pointers = [(fields[start + 4 * i], int(fields[start + 1 + 4 * i])) for i in range(int(fields[start - 1]))]
        except (ValueError, IndexError):
            raise BadWordNet(
                f"{self.name}: data.{FILES[pos]} has no synset at byte {offset}, where the index says it is; the files "
                f"are damaged, of different versions, or had their line ends changed: {FILES_ADVICE}"
            ) from None
        return fields[:4], lemmas, pointers, gloss.strip()

    def _at(self, pos: str, offset: int) -> Synset:
        parsed = self._parsed.get((pos, offset))
        if parsed is None:
            with decoding(f"{self.name}: data.{FILES[pos]}, at byte {offset},", BadWordNet, FILES_ADVICE):
                parsed = self._parsed[pos, offset] = self._parse(pos, offset)
        return parsed

    def _parse(self, pos: str, offset: int) -> Synset:
        (_, lexicographer, kind, _), lemmas, pointers, gloss = self._fields(pos, offset)
        cluster = ":"
        if kind == "s":
            head = next(target for symbol, target in pointers if symbol == CLUSTER_HEAD)
            word, number = self._fields(pos, head)[1][0]
            cluster = f"{word.lower()}:{int(number, 16):02d}"
        keys = tuple(
            f"{word.lower()}%{NUMBER_OF_POS[kind]}:{lexicographer}:{int(number, 16):02d}:{cluster}"
            for word, number in lemmas
        )
        first = lemmas[0][0].lower()
        try:
            rank = self._offsets(first, pos).index(offset) + 1
        except ValueError:
            raise BadWordNet(
                f"{self.name}: index.{FILES[pos]} does not list the synset of {first!r} at byte {offset} of "
                f"data.{FILES[pos]}; {FILES_ADVICE}"
            ) from None
        definition, examples = split_gloss(gloss)
        return Synset(f"{first}.{kind}.{rank:02d}", kind, tuple(word for word, _ in lemmas), keys, definition, examples)


def split_gloss(gloss: str) -> tuple[str, tuple[str, ...]]:
    """Return (definition, examples); what is quoted inside a definition stays in it.

    Examples
    --------
    >>> split_gloss('a "thing" of use; "he had a thing"; "no thing"')
    ('a "thing" of use', ('he had a thing', 'no thing'))
    """
    start = 0 if gloss.startswith('"') else re.search(r';\s*"', gloss)
    if start is None:
        return gloss.strip("; "), ()
    cut = 0 if isinstance(start, int) else start.start()
    return gloss[:cut].strip("; "), tuple(text.strip() for text in QUOTED.findall(gloss[cut:]) if text.strip())


# -------------------------------------------------------------------------------------------------- files


def _read(path: Path) -> dict[str, bytes]:
    """Return the files of WordNet by name, whatever folders an archive puts them in."""
    if not path.exists():
        raise BadWordNet(f"{path}: no such file or folder; {FILES_ADVICE}")
    if path.is_dir():
        folder = path / "dict" if (path / "dict" / "data.noun").is_file() else path
        return {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if _is_wordnet_file(file.name)}
    files: dict[str, bytes] = {}
    try:
        for stream in file_streams(path):
            name = re.split(r"[/\\:]", stream.name)[-1]
            if _is_wordnet_file(name):
                files[name] = read_whole(stream)
    except BadCorpus as error:
        raise BadWordNet(str(error)) from None
    return files


def _is_wordnet_file(name: str) -> bool:
    return name.startswith(("data.", "index.", "cntlist")) or name.endswith(".exc")


def _index_lines(raw: bytes) -> dict[str, str]:
    lines = raw.decode("utf-8", errors="replace").split("\n")
    return {line[: line.find(" ")]: line for line in lines if line and line[0] != " "}


def _exception_lists(raw: bytes) -> dict[str, list[str]]:
    split = (line.split() for line in raw.decode("utf-8", errors="replace").split("\n"))
    return {fields[0]: fields[1:] for fields in split if len(fields) > 1}


def _counts(files: Mapping[str, bytes]) -> dict[str, int]:
    """Return the count of each sense key, from the first file that has counts."""
    for name, key, count in (("cntlist.rev", 0, 2), ("cntlist", 1, 0), ("index.sense", 0, 3)):
        if name in files:
            rows = (line.split(" ") for line in files[name].decode("utf-8", errors="replace").split("\n") if line)
            try:
                counts = {fields[key]: int(fields[count]) for fields in rows}
            except (ValueError, IndexError):
                raise BadWordNet(f"{name}: not a list of sense counts; {FILES_ADVICE}") from None
            return {sense: number for sense, number in counts.items() if number}
    return {}
