"""WordNet through the `wn` library, for those who have downloaded a lexicon (`oewn:2024`, `omw-en:1.4`, …).

Synset ids are made as NLTK makes them: the first lemma, the part of speech, and which of that lemma's senses it is.
Sense keys are read from the lexicon's identifiers (`oewn-bank__1.17.01..`, or the metadata of `omw-en`).
"""

import re
from collections.abc import Iterator
from typing import Any

from alacarte.errors import BadWordNet, UnknownKey, require
from alacarte.senses.morphology import normal
from alacarte.senses.wordnet import POS_OF_NUMBER, Synset, WordNet, check_pos

# How identifiers spell what XML does not allow in them: until 2024, and, with doubled hyphens, since 2025.
ESCAPES = {
    "ap": "'", "ex": "!", "cm": ",", "cn": ":", "pl": "+", "sl": "/", "lb": "(", "rb": ")",
    "apos": "'", "excl": "!", "comma": ",", "colon": ":", "plus": "+", "sol": "/", "lpar": "(", "rpar": ")",
    "num": "#", "dollar": "$", "percnt": "%", "amp": "&", "ast": "*", "lbrace": "{", "vert": "|", "rbrace": "}",
    "tilde": "~", "cent": "¢", "pound": "£", "sect": "§", "copy": "©", "reg": "®", "deg": "°", "acute": "\u00b4",
    "para": "¶", "ordm": "º",
}  # fmt: skip
ESCAPED = re.compile(f"--|-({'|'.join(ESCAPES)})-")
KEY_ID = re.compile(r"^(?:[a-z]+-)?(.+)__(\d)\.(\d\d)\.(\d\d)\.(.*)\.(.*)$")


def sense_key(identifier: str) -> str | None:
    """The sense key that an identifier of Open English WordNet spells; None for other identifiers.

    >>> sense_key("oewn-bank__1.17.01.."), sense_key("oewn-fast__5.00.00.hot.02"), sense_key("omw-en-bank-1-n")
    ('bank%1:17:01::', 'fast%5:00:00:hot:02', None)
    >>> sense_key("oewn-o-ap-clock__4.02.00.."), sense_key("oewn-jack-apos-s--plus__1.05.00..")
    ("o'clock%4:02:00::", "jack's-plus%1:05:00::")
    """
    match = KEY_ID.match(identifier)
    if match is None:
        return None
    lemma, *parts = match.groups()
    lemma = ESCAPED.sub(lambda found: ESCAPES[found[1]] if found[1] else "-", lemma)
    return f"{lemma}%{':'.join(parts).replace('-sp-', '_')}"


class WnWordNet(WordNet):
    """WordNet from a lexicon of the `wn` library; None takes the English one that is there."""

    def __init__(self, lexicon: str | None = None) -> None:
        wn = require("wn", extra="wn", purpose="WordNet through the library wn")
        there = [f"{found.id}:{found.version}" for found in wn.lexicons() if found.language == "en"]
        if not there or (lexicon is not None and lexicon not in (*there, *(name.partition(":")[0] for name in there))):
            raise BadWordNet(
                f"wn has no {lexicon or 'English'} lexicon ({', '.join(there) or 'none is installed'}); run "
                "`python -m wn download oewn:2024`, or pass the folder of WordNet's database files"
            )
        chosen = lexicon or there[0]
        self.name = f"wn:{chosen}"
        self._wn = wn.Wordnet(chosen, expand="", normalizer=None, search_all_forms=False)
        found = self._wn.lexicons()[0]
        self.version: str | None = found.version
        self._lemmas: dict[str, dict[str, list[str]]] = {}  # lower-case lemma → pos → synset ids of wn in sense order
        self._exceptions: dict[tuple[str, str], list[str]] = {}
        self._counts: dict[str, int] = {}
        self._keys: dict[str, list[tuple[str, str]]] = {}  # synset id of wn → (lemma, key)
        self._read()
        self._made: dict[str, Synset] = {}

    def _read(self) -> None:
        counts: dict[tuple[str, str], int] = {}  # of (lemma, synset id of wn)
        for word in self._wn.words():
            lemma, pos = word.lemma().replace(" ", "_"), check_pos(word.pos)
            for form in word.forms()[1:]:
                self._exceptions.setdefault((normal(form), pos), []).append(lemma)
            for sense in word.senses():
                own = sense.synset().id
                listed = self._lemmas.setdefault(normal(lemma), {}).setdefault(pos, [])
                if own not in listed:
                    listed.append(own)
                number = sum(int(getattr(count, "value", count)) for count in sense.counts())
                counts[normal(lemma), own] = number
                key = sense_key(sense.id) or (sense.metadata() or {}).get("identifier")
                if key and "%" in key:
                    self._keys.setdefault(own, []).append((lemma, key))
                    self._counts[key] = number
        self._order_adjectives(counts)
        if not self._keys:
            raise BadWordNet(
                f"{self.name}: its senses have no Princeton sense keys, which annotated corpora use; use oewn or omw-en"
            )

    def _order_adjectives(self, counts: dict[tuple[str, str], int]) -> None:
        """Lexicons list satellites as words of their own, after or before the other adjectives; WordNet puts what is
        frequent first."""
        for lemma, parts in self._lemmas.items():
            listed = parts.get("a", [])
            rarity = {own: -counts[lemma, own] for own in listed}
            listed.sort(key=rarity.__getitem__)

    def synsets(self, lemma: str, pos: str | None = None) -> list[Synset]:
        parts = self._lemmas.get(normal(lemma), {})
        wanted = "nvar" if pos is None else check_pos(pos)
        return [self._synset(name) for part in wanted for name in parts.get(part, []) if name in self._keys]

    def synset(self, id: str) -> Synset:
        return self._synset(self._own_id(id))

    def find_key(self, key: str) -> Synset | None:
        lemma, _, rest = key.partition("%")
        pos = POS_OF_NUMBER.get(rest[:1])
        if pos is None:
            return None
        return next((synset for synset in self.synsets(lemma, pos) if key in synset.keys), None)

    def hypernyms(self, id: str) -> list[Synset]:
        found = self._wn.synset(self._own_id(id)).get_related("hypernym", "instance_hypernym")
        return [self._synset(synset.id) for synset in found if synset.id in self._keys]

    def count(self, key: str) -> int:
        return self._counts.get(key, 0)

    def all_synsets(self) -> Iterator[Synset]:
        for own in self._keys:
            yield self._synset(own)

    def exceptions(self, word: str, pos: str) -> list[str]:
        return self._exceptions.get((word, check_pos(pos)), [])

    def _own_id(self, id: str) -> str:
        """wn's id for one of ours."""
        lemma, pos, number = [*id.rsplit(".", 2), "", ""][:3]
        listed = self._lemmas.get(normal(lemma), {}).get("a" if pos == "s" else pos, [])
        if not number.isdigit() or not 1 <= int(number) <= len(listed):
            raise UnknownKey(f"no synset {id!r} in {self.name}; ids look like bank.n.01")
        return listed[int(number) - 1]

    def _synset(self, own: str) -> Synset:
        found = self._made.get(own)
        if found is None:
            raw: Any = self._wn.synset(own)
            order = {lemma.replace(" ", "_"): place for place, lemma in enumerate(raw.lemmas())}
            pairs = sorted(self._keys[own], key=lambda pair: order.get(pair[0], len(order)))
            first, pos = normal(pairs[0][0]), check_pos(raw.pos)
            number = self._lemmas[first][pos].index(own) + 1
            found = self._made[own] = Synset(
                f"{first}.{raw.pos}.{number:02d}", raw.pos, tuple(lemma for lemma, _ in pairs),
                tuple(key for _, key in pairs), raw.definition() or "", tuple(raw.examples()),
            )  # fmt: skip
        return found
