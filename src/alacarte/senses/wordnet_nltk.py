"""WordNet through NLTK's corpus reader, for those who have its data."""

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
        self._made: dict[str, Synset] = {}

    def synsets(self, lemma: str, pos: str | None = None) -> list[Synset]:
        if pos is None:
            return [synset for part in "nvar" for synset in self.synsets(lemma, part)]
        # NLTK itself would look for base forms; here a lemma is taken as it stands.
        index = self._reader._lemma_pos_offset_map.get(normal(lemma), {}).get(check_pos(pos), [])
        return [self._synset(self._reader.synset_from_pos_and_offset(check_pos(pos), offset)) for offset in index]

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

    def _raw(self, id: str) -> Any:
        try:
            if not id.rpartition(".")[2].strip("0"):  # NLTK would count from the end
                raise ValueError("senses count from 1")
            return self._reader.synset(id)
        except (ValueError, KeyError, LookupError, IndexError) as error:
            raise UnknownKey(f"no synset {id!r} in {self.name} ({error}); ids look like bank.n.01") from None
        except Exception as error:  # NLTK's own WordNetError derives from Exception alone
            if type(error).__name__ != "WordNetError":
                raise
            raise UnknownKey(f"no synset {id!r} in {self.name} ({error}); ids look like bank.n.01") from None

    def _synset(self, raw: Any) -> Synset:
        name = raw.name()
        found = self._made.get(name)
        if found is None:
            lemmas = raw.lemmas()
            found = self._made[name] = Synset(
                name, raw.pos(), tuple(lemma.name() for lemma in lemmas), tuple(lemma.key() for lemma in lemmas),
                raw.definition(), tuple(raw.examples()),
            )  # fmt: skip
        return found
