"""What n-grams are near to (the paper's Table 3): idioms and names by composition, by context, and à la carte."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from alacarte import ALaCarte, Targets, WordVectors
from alacarte.errors import NotEnoughData
from alacarte.text.corpus import CorpusLike
from alacarte_experiments.documents.composition import compose
from alacarte_experiments.lab.results import RowTable

PHRASES = ("beef up", "cutting edge", "harry potter", "tight lipped")


@dataclass(frozen=True)
class Nearest:
    """The words nearest to one n-gram by one method."""

    ngram: str
    method: str
    neighbours: tuple[str, ...]
    count: int | None = None  # occurrences the vector comes from


@dataclass(frozen=True)
class BigramTable(RowTable):
    """Table 3 with our vectors; one row per n-gram and method."""

    kind = Nearest
    rows: tuple[Nearest, ...]
    notes: tuple[str, ...] = ()

    def columns(self) -> dict[str, list[Any]]:
        columns = super().columns()
        columns["neighbours"] = [", ".join(words) for words in columns.pop("neighbours")]
        return columns

    def lines(self) -> list[list[str]]:
        """For a table: the n-gram is named once."""
        lines, before = [], None
        for row in self.rows:
            seen = "" if row.count is None else f" ({row.count:,})"
            name = "" if row.ngram == before else f"{row.ngram}"
            lines.append([name, f"{row.method}{seen}", ", ".join(row.neighbours)])
            before = row.ngram
        return lines


def compare(
    model: ALaCarte,
    corpus: CorpusLike | None,
    phrases: Sequence[str] = (),
    *,
    ngrams: WordVectors | None = None,
    k: int = 5,
    among: int = 50_000,
    show_progress: bool | None = None,
) -> BigramTable:
    """The nearest words of the paper's four n-grams and of any others, by each method.

    Words of the n-gram itself are left out. With `ngrams`, à la carte vectors are looked up and not induced, and
    there is no additive row, which needs the contexts.
    """
    split = [" ".join(model.tokenizer(phrase, model.vectors.key_to_index)) for phrase in phrases]
    wanted = list(dict.fromkeys([*PHRASES, *split]))
    tables: dict[str, WordVectors | None] = {
        "v1 + v2": _composed(model.vectors, wanted, "sum"),
        "DisC": _composed(model.vectors, wanted, "product"),
    }
    counts: dict[str, int] = {}
    missing: list[str] = []
    if ngrams is not None:
        tables["à la carte"] = ngrams
        missing = [phrase for phrase in wanted if phrase not in ngrams]
    else:
        induced = model.induce(corpus, Targets.ngrams(wanted), show_progress=show_progress)
        counts = {phrase: induced.count(phrase) for phrase in wanted if phrase in induced}
        missing = induced.missing
        # The additive vector is the mean of the context words: the same sums, each by its number of words.
        means = induced.sums.with_averaging("token") if model.settings.averaging != "context" else induced.sums
        tables["additive"] = WordVectors(induced.words, means.means().astype(np.float32))
        tables["à la carte"] = induced
    rows: list[Nearest] = []
    for phrase in wanted:
        for method in ("v1 + v2", "additive", "DisC", "à la carte"):
            table = tables.get(method)
            if table is not None and phrase in table:
                nearest = model.vectors.nearest(table[phrase], k, among=among, exclude=phrase.split(" "))
                count = counts.get(phrase) if method in ("additive", "à la carte") else None
                rows.append(Nearest(phrase, method, tuple(word for word, _ in nearest), count))
    notes = [f"Nearest among the first {among:,} words, the n-gram's own left out; in brackets its occurrences."]
    if missing:
        notes.append(f"Not in the text, so without a vector à la carte: {', '.join(missing)}.")
    return BigramTable(tuple(rows), tuple(notes))


def _composed(vectors: WordVectors, ngrams: list[str], composition: Any) -> WordVectors | None:
    try:
        return compose(vectors, ngrams, composition)
    except NotEnoughData:
        return None
