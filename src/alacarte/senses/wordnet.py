"""WordNet behind one small interface, whatever its data comes from.

A lemma and a part of speech (n, v, a, r) lead to synsets in sense order. A synset has an id as NLTK writes it
(`bank.n.01`) and, for each of its lemmas, a sense key (`bank%1:17:01::`), which annotated corpora use.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from alacarte.errors import BadWordNet, Hint, UnknownKey
from alacarte.senses.morphology import base_forms, normal

PARTS_OF_SPEECH = ("n", "v", "a", "r")
NUMBER_OF_POS = {"n": 1, "v": 2, "a": 3, "r": 4, "s": 5}
POS_OF_NUMBER = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}


@dataclass(frozen=True, slots=True)
class Synset:
    """A meaning, with the lemmas that have it.

    Parameters
    ----------
    id : str
        As in `bank.n.01`.
    pos : str
        "n", "v", "a", "r", or "s" for a satellite adjective.
    lemmas, keys : tuple of str
        The lemmas in order, and the sense key of each.
    definition : str
        The gloss without its examples.
    examples : tuple of str
        The examples of the gloss.

    Examples
    --------
    >>> bank = Synset("bank.n.01", "n", ("bank",), ("bank%1:17:01::",), "sloping land beside water")
    >>> bank.key("Bank")
    'bank%1:17:01::'
    """

    id: str
    pos: str
    lemmas: tuple[str, ...]
    keys: tuple[str, ...]
    definition: str
    examples: tuple[str, ...] = ()

    def key(self, lemma: str) -> str:
        """Return the sense key of one lemma in this synset."""
        wanted = normal(lemma) + "%"
        for key in self.keys:
            if key.startswith(wanted):
                return key
        raise UnknownKey(f"{lemma!r} is no lemma of {self.id}; its lemmas are {', '.join(self.lemmas)}")


class WordNet(ABC):
    """A WordNet, as `open_wordnet` gives it. Each subclass reads one kind of data.

    Attributes
    ----------
    name : str
        Where it was read from.
    version : str or None
        As in "3.0"; None if the data does not say.
    """

    name: str
    version: str | None
    _counts: Mapping[str, int]  # of sense keys

    @property
    def counted(self) -> bool:
        """Whether the data says how often each sense occurs."""
        return bool(self._counts)

    @abstractmethod
    def _senses(self, lemma: str, pos: str) -> list[Synset]:
        """Return the synsets of a lemma in sense order; the lemma is as `normal` writes it, `pos` is n, v, a or r."""

    @abstractmethod
    def all_synsets(self) -> Iterator[Synset]:
        """Return every synset, in a fixed order."""

    @abstractmethod
    def exceptions(self, word: str, pos: str) -> list[str]:
        """Return the base forms of an irregular word."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, version {self.version or 'unknown'})"

    def synsets(self, lemma: str, pos: str | None = None) -> list[Synset]:
        """Return the synsets of a lemma in sense order; [] for a lemma that is not listed."""
        parts = PARTS_OF_SPEECH if pos is None else (check_pos(pos),)
        return [synset for part in parts for synset in self._senses(normal(lemma), part)]

    def synset(self, id: str) -> Synset:
        """Return the synset with an id such as `bank.n.01`, or raise `UnknownKey`."""
        lemma, pos, number = [*id.rsplit(".", 2), "", ""][:3]
        senses = self.synsets(lemma, pos) if pos in NUMBER_OF_POS else []
        if not number.isdigit() or not 1 <= int(number) <= len(senses):
            others = [synset.id for synset in self.synsets(lemma)] if lemma else []
            hint = f"the synsets of {lemma!r} are {', '.join(others)}" if others else "ids look like bank.n.01"
            raise UnknownKey(f"no synset {id!r} in {self.name}; {hint}")
        return senses[int(number) - 1]

    def find_key(self, key: str) -> Synset | None:
        """Return the synset that a sense key belongs to; None for a key that is not listed."""
        lemma, _, rest = key.partition("%")
        pos = POS_OF_NUMBER.get(rest[:1])
        if pos is None:
            return None
        return next((synset for synset in self.synsets(lemma, pos) if key in synset.keys), None)

    def by_key(self, key: str) -> Synset:
        """Return the synset that a sense key belongs to, or raise `UnknownKey`."""
        synset = self.find_key(key)
        if synset is None:
            raise UnknownKey(
                f"no sense key {key!r} in {self.name} (WordNet {self.version or 'of unknown version'}); "
                "check that the annotation was made with this version"
            )
        return synset

    def count(self, key: str) -> int:
        """Return how often a sense occurs in the texts that its makers annotated (SemCor, for Princeton's).

        Raises
        ------
        BadWordNet
            If the data has no counts (see `counted`).
        UnknownKey
            If the sense key is not listed.
        """
        self.require_counts()
        self.by_key(key)
        return self._counts.get(key, 0)

    def require_counts(self) -> None:
        """Raise `BadWordNet` if the data does not say how often senses occur."""
        if not self.counted:
            raise BadWordNet(
                f"{self.name} does not say how often senses occur (Princeton's database files do, in cntlist.rev, "
                "cntlist or index.sense)",
                hint=Hint(
                    "count them in annotated text with sense_counts, or do without a prior: counts=None",
                    "pass --counts FILE, which alc senses build --counts writes, or --no-prior",
                ),
            )

    def base_forms(self, word: str, pos: str) -> list[str]:
        """Return the listed lemmas that a word may be a form of, itself first."""
        check_pos(pos)
        return base_forms(word, pos, self.exceptions, lambda lemma, pos: bool(self.synsets(lemma, pos)))

    def find(self, word: str, pos: str | None = None) -> list[tuple[str, Synset]]:
        """Return (lemma, synset) for all that a word may mean as it is written, inflected or not."""
        senses: dict[str, tuple[str, Synset]] = {}
        for part in PARTS_OF_SPEECH if pos is None else (check_pos(pos),):
            for lemma in self.base_forms(word, part):
                for synset in self.synsets(lemma, part):
                    senses.setdefault(synset.id, (lemma, synset))
        return list(senses.values())


# Parts of speech as the corpora and tag sets that we read write them; the first letters tell them apart.
_TAGS = {
    tag: pos
    for pos, tags in {"n": "n noun propn", "v": "v verb aux", "a": "a s j adj", "r": "r adv"}.items()
    for tag in tags.split()
}
_PREFIXES = (("NN", "n"), ("NP", "n"), ("VB", "v"), ("VV", "v"), ("VP", "v"), ("JJ", "a"), ("RB", "r"))


def simple_pos(tag: str) -> str | None:
    """Return n, v, a or r for a part of speech in any common tag set; None for others.

    Examples
    --------
    >>> [simple_pos(tag) for tag in ("NOUN", "NNS", "VBD", "J", "adj", "DET")]
    ['n', 'n', 'v', 'a', 'a', None]
    """
    pos = _TAGS.get(tag.lower())
    if pos is None:
        pos = next((pos for prefix, pos in _PREFIXES if tag.upper().startswith(prefix)), None)
    return pos


def check_pos(pos: str) -> str:
    """Return n, v, a or r, or raise `UnknownKey`."""
    if pos == "s":
        return "a"
    if pos not in PARTS_OF_SPEECH:
        raise UnknownKey(f"parts of speech are n, v, a and r, not {pos!r}; `simple_pos` turns tags into these")
    return pos


def open_wordnet(source: "str | PathLike[str] | WordNet | None" = None) -> WordNet:
    """Open a WordNet.

    Parameters
    ----------
    source : str, path, WordNet or None
        A folder or archive of WordNet 3.x database files; "nltk", or "wn" (or "wn:oewn:2024"), for the data that
        these libraries have downloaded; None for a WordNet that is installed.

    Notes
    -----
    SemCor 3.0 and the unified evaluation framework are annotated with version 3.0.
    """
    from alacarte.senses import wordnet_files

    if isinstance(source, WordNet):
        return source
    if source is None:
        folder = wordnet_files.installed()
        if folder is None:
            raise BadWordNet(
                "no WordNet is installed; pass the folder or archive of its database files, or run "
                "`apt install wordnet-base`, or pass 'nltk' or 'wn' for the data of these libraries"
            )
        return wordnet_files.DatabaseWordNet(folder)
    if isinstance(source, str) and source == "nltk":
        return wordnet_files.DatabaseWordNet(wordnet_files.downloaded_by_nltk())
    if isinstance(source, str) and (source == "wn" or source.startswith("wn:")) and not Path(source).exists():
        from alacarte.senses.wordnet_wn import WnWordNet

        return WnWordNet(source.partition(":")[2] or None)
    return wordnet_files.DatabaseWordNet(source)
