"""WordNet through NLTK's corpus reader, for those who have its data.

Synset ids are made here and not by NLTK: they count a lemma's adjectives together, as NLTK did until it gave satellites
numbers of their own (its pull request 3400). So `bad.s.02` is one synset, whatever WordNet is read with.
"""

from collections.abc import Iterator
from typing import Any

from alacarte.errors import BadWordNet, UnknownKey, require
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
        self._made: dict[tuple[str, int], Synset] = {}

    def synsets(self, lemma: str, pos: str | None = None) -> list[Synset]:
        if pos is None:
            return [synset for part in "nvar" for synset in self.synsets(lemma, part)]
        # NLTK itself would look for base forms; here a lemma is taken as it stands.
        part = check_pos(pos)
        return [self._synset(self._at(part, offset)) for offset in self._offsets(lemma, part)]

    def synset(self, id: str) -> Synset:
        return self._synset(self._raw(id))

    def find_key(self, key: str) -> Synset | None:
        lemma, _, rest = key.partition("%")
        pos = POS_OF_NUMBER.get(rest[:1])
        if pos is None:
            return None
        return next((synset for synset in self.synsets(lemma, pos) if key in synset.keys), None)

    def hypernyms(self, id: str) -> list[Synset]:
        raw = self._raw(id)
        return [self._synset(found) for found in [*raw.hypernyms(), *raw.instance_hypernyms()]]

    def count(self, key: str) -> int:
        synset = self.find_key(key)
        if synset is None:
            return 0
        return next((int(lemma.count()) for lemma in self._raw(synset.id).lemmas() if lemma.key() == key), 0)

    def all_synsets(self) -> Iterator[Synset]:
        for raw in self._reader.all_synsets():
            yield self._synset(raw)

    def exceptions(self, word: str, pos: str) -> list[str]:
        return list(self._reader._exception_map[check_pos(pos)].get(word, []))

    def _offsets(self, lemma: str, pos: str) -> list[int]:
        found: list[int] = self._reader._lemma_pos_offset_map.get(normal(lemma), {}).get(pos, [])
        return found

    def _at(self, pos: str, offset: int) -> Any:
        return self._reader.synset_from_pos_and_offset(pos, offset)

    def _raw(self, id: str) -> Any:
        lemma, pos, number = [*id.rsplit(".", 2), "", ""][:3]
        part = "a" if pos == "s" else pos
        offsets = self._offsets(lemma, part)
        if not number.isdigit() or not 1 <= int(number) <= len(offsets):
            raise UnknownKey(f"no synset {id!r} in {self.name}; ids look like bank.n.01")
        return self._at(part, offsets[int(number) - 1])

    def _synset(self, raw: Any) -> Synset:
        pos, offset = raw.pos(), raw.offset()
        found = self._made.get((pos, offset))
        if found is None:
            lemmas = raw.lemmas()
            first = normal(lemmas[0].name())
            rank = self._offsets(first, "a" if pos == "s" else pos).index(offset) + 1
            found = self._made[pos, offset] = Synset(
                f"{first}.{pos}.{rank:02d}", pos, tuple(lemma.name() for lemma in lemmas),
                tuple(lemma.key() for lemma in lemmas), raw.definition(), tuple(raw.examples()),
            )  # fmt: skip
        return found
