"""Vectors put into the vocabulary of a spaCy pipeline."""

from typing import Any

import numpy as np

from alacarte.errors import BadVectors, require
from alacarte.vectors.formats.table import Table


def fill_vocabulary(vocab: Any, table: Table, name: str | None, on_collision: str, capitals: bool) -> None:
    """Give a vocabulary these vectors, beside the ones that it has; see `WordVectors.to_spacy`."""
    spacy_vectors = require("spacy.vectors", extra="spacy", purpose="filling a spaCy vocabulary")
    thinc = require("thinc.api", extra="spacy", purpose="filling a spaCy vocabulary")
    old = vocab.vectors
    if getattr(old, "mode", "default") != "default":
        raise BadVectors(
            "this spaCy vocabulary has floret vectors, which belong to no fixed list of words and cannot be added to; "
            "start from a pipeline without vectors, such as spacy.blank"
        )
    rows = {key: row for key, row in old.key2row.items() if row >= 0} if old.size else {}
    if rows and old.shape[1] != table.matrix.shape[1]:
        raise BadVectors(
            f"the vectors of this spaCy vocabulary have {old.shape[1]} values and these have {table.matrix.shape[1]}; "
            "induce vectors for those of the vocabulary (ALaCarte.fit(nlp, corpus)), or call "
            "nlp.vocab.reset_vectors() first, which drops them"
        )
    first = len(old.data) if rows else 0
    if on_collision not in ("error", "keep", "replace"):
        raise ValueError(f'on_collision is "error", "keep" or "replace", not {on_collision!r}')
    for row, (word, key) in enumerate(zip(table.words, map(vocab.strings.add, table.words), strict=True), start=first):
        if key not in rows or on_collision == "replace":
            rows[key] = row
        elif on_collision == "error":
            raise BadVectors(
                f"{word!r} has a vector in this spaCy vocabulary, and maybe others have; say which vectors count: "
                'on_collision="keep" or "replace"'
            )
    if capitals:
        for row, word in enumerate(table.words, start=first):
            for written in (word.capitalize(), word.upper()):
                rows.setdefault(vocab.strings.add(written), row)
    matrix = table.matrix
    if first:
        data = old.data.get() if hasattr(old.data, "get") else old.data  # from a GPU, if there
        matrix = np.concatenate([np.asarray(data, dtype=np.float32), matrix])
    used, places = np.unique(np.fromiter(rows.values(), np.int64, len(rows)), return_inverse=True)
    name = old.name if first else name
    filled = spacy_vectors.Vectors(strings=vocab.strings, data=matrix[used], name=name, attr=old.attr)
    filled.key2row = dict(zip(rows, places.tolist(), strict=True))
    filled.to_ops(thinc.get_current_ops())
    vocab.vectors = filled
