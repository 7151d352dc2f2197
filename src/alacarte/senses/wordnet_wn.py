"""WordNet through the library `wn`, from a lexicon that it has downloaded (`oewn:2024`, `omw-en:1.4`, …).

Base forms of words are found as for every other WordNet (`alacarte.senses.morphology`), so that a text has the same
candidates whichever is used: `wn.morphy` knows no phrases, and gives base forms in no order.
"""

from collections.abc import Callable, Iterator
from typing import Any

from alacarte.errors import BadWordNet, require
from alacarte.senses.morphology import normal
from alacarte.senses.wordnet import Synset, WordNet, check_pos

WN_PURPOSE = "WordNet through the library wn"
WN_ADVICE = "annotated corpora use them: take oewn or omw-en, or a newer wn"


class WnWordNet(WordNet):
    """WordNet from a lexicon of the library `wn`; None for the first English one that is installed."""

    def __init__(self, lexicon: str | None = None) -> None:
        wn = require("wn", extra="wn", purpose=WN_PURPOSE)
        english = [f"{known.id}:{known.version}" for known in wn.lexicons() if known.language == "en"]
        if not english or (
            lexicon is not None and lexicon not in (*english, *(name.partition(":")[0] for name in english))
        ):
            raise BadWordNet(
                f"wn has no {lexicon or 'English'} lexicon ({', '.join(english) or 'none is installed'}); run "
                "`python -m wn download oewn:2024`, or pass the folder of WordNet's database files"
            )
        chosen = lexicon or english[0]
        self.name = f"wn:{chosen}"
        self._wn = wn.Wordnet(chosen, expand="", normalizer=None, search_all_forms=False)
        opened = self._wn.lexicons()[0]
        self.version: str | None = opened.version
        self._lemmas: dict[str, dict[str, list[str]]] = {}  # lower-case lemma → pos → synset ids of wn in sense order
        self._exceptions: dict[tuple[str, str], list[str]] = {}
        self._counts: dict[str, int] = {}  # of sense keys; only those that the lexicon counts
        self._keys: dict[str, list[tuple[str, str]]] = {}  # synset id of wn → (lemma, key)
        sensekey = require("wn.compat.sensekey", extra="wn", purpose=WN_PURPOSE)
        try:
            self._read(sensekey.sense_key_getter(f"{opened.id}:{opened.version}"))
        except wn.Error:
            raise BadWordNet(f"{self.name}: wn knows no sense keys of this lexicon; {WN_ADVICE}") from None
        self._parsed: dict[str, Synset] = {}

    def _read(self, key_of: Callable[[Any], str | None]) -> None:
        rarity: dict[tuple[str, str], int] = {}  # of (lemma, synset id of wn): minus its count
        for word in self._wn.words():
            lemma, pos = word.lemma().replace(" ", "_"), check_pos(word.pos)
            for form in word.forms()[1:]:
                self._exceptions.setdefault((normal(form), pos), []).append(lemma)
            for sense in word.senses():
                key = key_of(sense)
                if key is None:
                    continue
                wn_id = sense.synset().id
                listed = self._lemmas.setdefault(normal(lemma), {}).setdefault(pos, [])
                if wn_id not in listed:
                    listed.append(wn_id)
                self._keys.setdefault(wn_id, []).append((lemma, key))
                count = sum(sense.counts())
                if count:
                    self._counts[key] = count
                rarity[normal(lemma), wn_id] = -count
        if not self._keys:
            raise BadWordNet(f"{self.name}: its senses have no Princeton sense keys; {WN_ADVICE}")
        # Lexicons list satellites as words of their wn_id, after or before the other adjectives; WordNet puts what is
        # frequent first.
        for lemma, parts in self._lemmas.items():
            order = {wn_id: rarity[lemma, wn_id] for wn_id in parts.get("a", [])}
            parts.get("a", []).sort(key=order.__getitem__)

    def _senses(self, lemma: str, pos: str) -> list[Synset]:
        return [self._synset(wn_id) for wn_id in self._lemmas.get(lemma, {}).get(pos, [])]

    def all_synsets(self) -> Iterator[Synset]:
        """Return every synset, in the order of the lexicon."""
        for wn_id in self._keys:
            yield self._synset(wn_id)

    def exceptions(self, word: str, pos: str) -> list[str]:
        """Return the base forms of an irregular word."""
        return self._exceptions.get((word, check_pos(pos)), [])

    def _synset(self, wn_id: str) -> Synset:
        synset = self._parsed.get(wn_id)
        if synset is None:
            raw: Any = self._wn.synset(wn_id)
            order = {lemma.replace(" ", "_"): place for place, lemma in enumerate(raw.lemmas())}
            pairs = sorted(self._keys[wn_id], key=lambda pair: order.get(pair[0], len(order)))
            first, pos = normal(pairs[0][0]), check_pos(raw.pos)
            number = self._lemmas[first][pos].index(wn_id) + 1
            synset = self._parsed[wn_id] = Synset(
                f"{first}.{raw.pos}.{number:02d}",
                raw.pos,
                tuple(lemma for lemma, _ in pairs),
                tuple(key for _, key in pairs),
                raw.definition() or "",
                tuple(raw.examples()),
            )
        return synset
