"""WordNet through NLTK's corpus reader, for those who have its data.

Synset ids are made here and not by NLTK: they count a lemma's adjectives together, as NLTK did until it gave satellites
numbers of their own (its pull request 3400). So `bad.s.02` is one synset, whatever WordNet is read with.
"""

from collections.abc import Iterator
from typing import Any

from alacarte.errors import BadWordNet, require
from alacarte.senses.morphology import normal
from alacarte.senses.wordnet import POS_OF_NUMBER, Synset, WordNet, check_pos


class NltkWordNet(WordNet):
    """WordNet as NLTK reads it; `reader` is an NLTK corpus reader, by default `nltk.corpus.wordnet`."""

    name = "nltk"

    def __init__(self, reader: Any = None) -> None:
        if reader is None:
            reader = require("nltk.corpus", extra="nltk", purpose="WordNet through NLTK").wordnet
        try:
            self.version: str | None = reader.get_version()
        except LookupError:
            raise BadWordNet(
                "NLTK has no WordNet data; run `python -m nltk.downloader wordnet`, or pass the folder of WordNet's "
                "database files"
            ) from None
        self._reader = reader
        self.counted = _has_counts(reader)
        self._made: dict[tuple[str, int], Synset] = {}

    def _senses(self, lemma: str, pos: str) -> list[Synset]:
        # NLTK's own `synsets` would look for base forms; here a lemma is taken as it stands.
        return [self._synset(raw) for raw in self._raw_synsets(lemma, pos)]

    def _count(self, key: str) -> int:
        lemma, _, rest = key.partition("%")
        raw_synsets = self._raw_synsets(lemma, POS_OF_NUMBER[rest[0]])
        return next(int(lemma.count()) for raw in raw_synsets for lemma in raw.lemmas() if lemma.key() == key)

    def all_synsets(self) -> Iterator[Synset]:
        for raw in self._reader.all_synsets():
            yield self._synset(raw)

    def exceptions(self, word: str, pos: str) -> list[str]:
        return list(self._reader._exception_map[check_pos(pos)].get(word, []))

    def _raw_synsets(self, lemma: str, pos: str) -> list[Any]:
        return [self._reader.synset_from_pos_and_offset(pos, offset) for offset in self._offsets(lemma, pos)]

    def _offsets(self, lemma: str, pos: str) -> list[int]:
        offsets: list[int] = self._reader._lemma_pos_offset_map.get(lemma, {}).get(pos, [])
        return offsets

    def _synset(self, raw: Any) -> Synset:
        pos, offset = raw.pos(), raw.offset()
        synset = self._made.get((pos, offset))
        if synset is None:
            lemmas = raw.lemmas()
            first = normal(lemmas[0].name())
            rank = self._offsets(first, check_pos(pos)).index(offset) + 1
            synset = self._made[pos, offset] = Synset(
                f"{first}.{pos}.{rank:02d}",
                pos,
                tuple(lemma.name() for lemma in lemmas),
                tuple(lemma.key() for lemma in lemmas),
                raw.definition(),
                tuple(raw.examples()),
            )
        return synset


def _has_counts(reader: Any) -> bool:
    try:
        reader.open("cntlist.rev").close()
    except (OSError, LookupError):
        return False
    return True
