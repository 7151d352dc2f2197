"""Word vectors as other libraries have them: frames, static models, the vocabulary of a spaCy pipeline."""

from typing import Any

import numpy as np

from alacarte.errors import BadVectors, require
from alacarte.vectors.formats import static_models
from alacarte.vectors.formats.columns import WORD_COLUMN, written_columns
from alacarte.vectors.formats.rows import WordRows

COLLISIONS = ("error", "keep", "replace")


def check_collision(on_collision: str) -> None:
    """Raise unless `on_collision` is a known choice."""
    if on_collision not in COLLISIONS:
        raise BadVectors(f'on_collision is "error", "keep" or "replace", not {on_collision!r}')


def frame_of(rows: WordRows, library: str) -> Any:
    """Return a frame of pandas, polars or Arrow; see `WordVectors.to_frame`."""
    if library == "pandas":
        pandas = require("pandas", extra="pandas", purpose="to_frame()")
        return pandas.DataFrame(written_columns(rows)).set_index(WORD_COLUMN)
    if library not in ("polars", "pyarrow"):
        raise BadVectors(f'library is "pandas", "polars" or "pyarrow", not {library!r}')
    require(library, extra="parquet" if library == "pyarrow" else "frames", purpose=f"to_frame({library!r})")
    narwhals = require("narwhals", extra="frames", purpose="to_frame()")
    return narwhals.from_dict(written_columns(rows), backend=library).to_native()


def model2vec_model(rows: WordRows, base: Any) -> Any:
    """Return a StaticModel of model2vec; see `WordVectors.to_model2vec`."""
    model2vec = require("model2vec", extra="model2vec", purpose="to_model2vec()")
    matrix, tokenizer = static_models.static_parts(rows, base)
    config = dict(getattr(base, "config", None) or {})
    options = {"max_length": base.max_length} if hasattr(base, "max_length") else {}
    normalize = bool(getattr(base, "normalize", False))
    return model2vec.StaticModel(matrix, tokenizer, config=config, normalize=normalize, **options)


def fill_vocabulary(vocab: Any, rows: WordRows, name: str | None, on_collision: str, capitals: bool) -> None:
    """Give a vocabulary of spaCy these vectors, beside the ones that it has; see `WordVectors.to_spacy`."""
    spacy_vectors = require("spacy.vectors", extra="spacy", purpose="filling a spaCy vocabulary")
    thinc = require("thinc.api", extra="spacy", purpose="filling a spaCy vocabulary")
    check_collision(on_collision)
    old = vocab.vectors
    if getattr(old, "mode", "default") != "default":
        raise BadVectors(
            "this spaCy vocabulary has floret vectors, which belong to no fixed list of words and cannot be added to; "
            "start from a pipeline without vectors, such as spacy.blank"
        )
    places = {key: row for key, row in old.key2row.items() if row >= 0} if old.size else {}
    if places and old.shape[1] != rows.matrix.shape[1]:
        raise BadVectors(
            f"the vectors of this spaCy vocabulary have {old.shape[1]} values and these have {rows.matrix.shape[1]}; "
            "induce vectors for those of the vocabulary (ALaCarte.fit(nlp, corpus)), or call "
            "nlp.vocab.reset_vectors() first, which drops them"
        )
    first = len(old.data) if places else 0
    for row, (word, key) in enumerate(zip(rows.words, map(vocab.strings.add, rows.words), strict=True), start=first):
        if key not in places or on_collision == "replace":
            places[key] = row
        elif on_collision == "error":
            raise BadVectors(
                f"{word!r} has a vector in this spaCy vocabulary, and maybe others have; say which vectors count: "
                'on_collision="keep" or "replace"'
            )
    if capitals:
        for row, word in enumerate(rows.words, start=first):
            for written in (word.capitalize(), word.upper()):
                places.setdefault(vocab.strings.add(written), row)
    matrix = rows.matrix
    if first:
        data = old.data.get() if hasattr(old.data, "get") else old.data  # from a GPU, if there
        matrix = np.concatenate([np.asarray(data, dtype=np.float32), matrix])
    used, numbers = np.unique(np.fromiter(places.values(), np.int64, len(places)), return_inverse=True)
    name = old.name if first else name
    filled = spacy_vectors.Vectors(strings=vocab.strings, data=matrix[used], name=name, attr=old.attr)
    filled.key2row = dict(zip(places, numbers.tolist(), strict=True))
    filled.to_ops(thinc.get_current_ops())
    vocab.vectors = filled
