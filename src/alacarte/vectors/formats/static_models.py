"""Static models: a tokenizer and one vector per token, as in model2vec and sentence-transformers' `StaticEmbedding`.

Of a model, the tokens that are words by themselves are read; other words are made of their tokens (`Tokens`). What is
written knows every word and phrase: those that the tokenizer would split are tokens that are looked for first.

| file in the folder | what it holds |
|---|---|
| `model.safetensors` | `embeddings`, one row per token; or `embedding.weight`, as sentence-transformers writes it |
| `tokenizer.json` | the tokenizer, in the format of the package tokenizers |
| `config.json`, `modules.json` | what model2vec and sentence-transformers look for |
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alacarte._io.arrays import Singles
from alacarte._io.files import atomic_write
from alacarte._io.folders import replaced_folder
from alacarte._io.tensors import read_tensors, write_tensors
from alacarte.errors import BadVectors, Hint, require
from alacarte.vectors.formats.rows import Problems, WordRows, checked_rows

UNKNOWN_TOKEN = "[UNK]"
LARGEST_TOKENIZER = 1 << 28  # bytes of a tokenizer
MATRIX, TOKENIZER, MODULES = "model.safetensors", "tokenizer.json", "modules.json"
NESTED = "0_StaticEmbedding"  # where older sentence-transformers put the files
STATIC = "sentence_transformers.models.StaticEmbedding"
BEFORE = "zqzq"  # written before a word, since many tokenizers mark the space before a token


@dataclass(frozen=True)
class Tokens:
    """What gives any word a vector: the mean of the vectors of its tokens."""

    tokenizer: Any
    matrix: Singles
    unknown: int | None

    def vector(self, word: str) -> Singles | None:
        """Return the mean of the rows of the word's tokens, or None if the tokenizer knows none of them."""
        ids = self.tokenizer.encode(word, add_special_tokens=False).ids
        known = [number for number in ids if number != self.unknown]
        return self.matrix[known].mean(axis=0, dtype=np.float32) if known else None


def static_folder(path: str | PathLike[str]) -> Path | None:
    """Return the folder that holds the files of a static model: this one, or one in it; None if there are none."""
    candidates = [Path(path), Path(path) / NESTED]
    return next(
        (folder for folder in candidates if all((folder / name).is_file() for name in (MATRIX, TOKENIZER))), None
    )


def read(path: str | PathLike[str], limit: int | None, problems: Problems) -> WordRows:
    """Read the words of a model in a folder."""
    folder = static_folder(path)
    if folder is None:
        raise BadVectors(f"{path}: no folder with {MATRIX} and {TOKENIZER}; pass that of a static model")
    tokenizers = require("tokenizers", extra="huggingface", purpose="reading the tokenizer of a static model")
    if (folder / TOKENIZER).stat().st_size > LARGEST_TOKENIZER:
        raise BadVectors(f"{folder / TOKENIZER}: more than {LARGEST_TOKENIZER >> 20} MiB, which is no tokenizer")
    tensors, _ = read_tensors(folder / MATRIX)
    matrix = next((tensors[name] for name in ("embeddings", "embedding.weight") if name in tensors), None)
    if matrix is None or matrix.ndim != 2 or matrix.dtype.kind not in "fi":
        raise BadVectors(f"{folder / MATRIX}: holds no matrix `embeddings`, or one that is not of numbers")
    tokenizer = tokenizers.Tokenizer.from_str((folder / TOKENIZER).read_text(encoding="utf-8"))
    return checked_rows(
        single_tokens(tokenizer, matrix, tensors.get("mapping"), tensors.get("weights")), limit, problems
    )


def single_tokens(
    tokenizer: Any, matrix: NDArray[Any], mapping: NDArray[Any] | None = None, weights: NDArray[Any] | None = None
) -> WordRows:
    """Return the words that are single tokens of a tokenizer, with their vectors.

    `mapping` leads from tokens to rows and `weights` multiplies the vectors of tokens, in models that have them.
    """
    matrix = token_rows(tokenizer, matrix, mapping, weights)
    unknown = unknown_token(tokenizer)
    numbers = [number for number in sorted(tokenizer.get_vocab().values()) if number != unknown]
    texts = [text.strip() for text in tokenizer.decode_batch([[number] for number in numbers])]
    before = tokenizer.encode(BEFORE, add_special_tokens=False).ids
    encodings = tokenizer.encode_batch([f"{BEFORE} {text}" for text in texts], add_special_tokens=False)
    rows: dict[str, int] = {}
    for number, text, encoding in zip(numbers, texts, encodings, strict=True):
        if text and encoding.ids == [*before, number]:
            rows.setdefault(text, number)
    if not rows:
        raise BadVectors("no token of this model is a word by itself; pass (words, matrix)")
    return WordRows(list(rows), matrix[list(rows.values())], subwords=Tokens(tokenizer, matrix, unknown))


def token_rows(
    tokenizer: Any, matrix: NDArray[Any], mapping: NDArray[Any] | None, weights: NDArray[Any] | None
) -> Singles:
    """Return one row per token, with the mapping and the weights of the model applied."""
    numbers = tokenizer.get_vocab().values()
    size = max(numbers, default=-1) + 1
    rows = np.asarray(matrix) if mapping is None else np.asarray(matrix)[np.asarray(mapping)]
    if len(rows) < size:
        raise BadVectors(
            f"the tokenizer has {size:,} tokens and the model {len(rows):,} vectors; they do not go together"
        )
    single = np.ascontiguousarray(rows, np.float32)
    return single if weights is None else single * np.asarray(weights, np.float32)[:, None]


def unknown_token(tokenizer: Any) -> int | None:
    """Return the token for what a tokenizer does not know, if it has one."""
    model = tokenizer.model
    if hasattr(model, "unk_token"):
        return None if model.unk_token is None else tokenizer.token_to_id(model.unk_token)
    number: int | None = json.loads(tokenizer.to_str())["model"].get("unk_id")
    return number


def tokenizer_for(words: Sequence[str]) -> tuple[Any, list[int]]:
    """Return a tokenizer that makes a single token of each word and phrase, and the numbers of these tokens.

    Text is split at white space and around punctuation, and lowered if no word has a capital. Words that this would
    split, and phrases, are looked for in the text first.
    """
    tokenizers = require("tokenizers", extra="huggingface", purpose="making a tokenizer")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({UNKNOWN_TOKEN: 0}, unk_token=UNKNOWN_TOKEN))
    if not any(word != word.lower() for word in words):
        tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    vocabulary = {UNKNOWN_TOKEN: 0}
    for word in words:
        pieces = [] if word == UNKNOWN_TOKEN else tokenizer.pre_tokenizer.pre_tokenize_str(word)
        if [piece for piece, _ in pieces] == [word]:
            vocabulary[word] = len(vocabulary)
    tokenizer.model = tokenizers.models.WordLevel(vocabulary, unk_token=UNKNOWN_TOKEN)
    return tokenizer, add_tokens(tokenizer, words)


def add_tokens(tokenizer: Any, words: Sequence[str]) -> list[int]:
    """Give each word and phrase a single token, where it has none; the numbers of their tokens."""
    tokenizers = require("tokenizers", extra="huggingface", purpose="adding words to a tokenizer")
    numbers = _single_tokens(tokenizer, words)
    new = [word for word, number in zip(words, numbers, strict=True) if number is None]
    # Inside of longer words nothing is looked for, but for marks, as in "wait..."; the space before belongs to a word.
    # Where the tokenizer writes a mark for each space, words are looked for in the text as it is.
    spaces = tokenizer.normalizer is None or " " in tokenizer.normalizer.normalize_str(f"{BEFORE} {BEFORE}")
    added = [
        tokenizers.AddedToken(word, single_word=_has_letters(word), normalized=spaces, lstrip=True, rstrip=not spaces)
        for word in new
    ]
    tokenizer.add_tokens(added)
    if new:
        numbers = _single_tokens(tokenizer, words)
    lost = [word for word, number in zip(words, numbers, strict=True) if number is None]
    if lost:
        raise BadVectors(
            f"this tokenizer cannot make one token of {lost[0]!r}, nor of {len(lost) - 1} more: it changes the text "
            "before it looks for words; leave them out"
        )
    whole = [number for number in numbers if number is not None]
    if len(set(whole)) != len(whole):
        first = next(word for word, number in zip(words, whole, strict=True) if whole.count(number) > 1)
        raise BadVectors(f"to this tokenizer, {first!r} and another word are the same; leave one of them out")
    return whole


def _has_letters(word: str) -> bool:
    return any(mark.isalnum() for mark in word)


def _single_tokens(tokenizer: Any, words: Sequence[str]) -> list[int | None]:
    """Return the token that each word is, by itself and in a text; None for words of no or several tokens."""
    unknown = unknown_token(tokenizer)
    before = tokenizer.encode(BEFORE, add_special_tokens=False).ids
    encodings = tokenizer.encode_batch([f"{BEFORE} {word}" for word in words], add_special_tokens=False)
    single = [encoding.ids[:-1] == before and encoding.ids[-1] != unknown for encoding in encodings]
    return [encoding.ids[-1] if good else None for encoding, good in zip(encodings, single, strict=True)]


def static_parts(rows: WordRows, base: Any = None) -> tuple[Singles, Any]:
    """Return (matrix, tokenizer) that give each word its vector; with the tokens of a static model, if given."""
    words = list(rows.words)
    if base is None:
        tokenizer, numbers = tokenizer_for(words)
        before = np.zeros((0, rows.matrix.shape[1]), np.float32)
    else:
        tokenizer, before = parts_of(base)
        tokenizers = require("tokenizers", extra="huggingface", purpose="adding words to a tokenizer")
        tokenizer = tokenizers.Tokenizer.from_str(tokenizer.to_str())  # a copy: the model stays as it is
        if before.shape[1] != rows.matrix.shape[1]:
            raise BadVectors(
                f"the model has {before.shape[1]} dimensions and the vectors have {rows.matrix.shape[1]}; "
                "pass vectors that were made for this model"
            )
        lengths = _lengths_of_pieces(tokenizer, before, words)
        numbers = add_tokens(tokenizer, words)
    matrix = np.zeros((max(tokenizer.get_vocab().values()) + 1, rows.matrix.shape[1]), np.float32)
    matrix[: len(before)] = before[: len(matrix)]
    matrix[numbers] = rows.matrix if base is None else _as_long(rows.matrix, lengths)
    return matrix, tokenizer


def _lengths_of_pieces(tokenizer: Any, matrix: Singles, words: Sequence[str]) -> Singles:
    """Return the length of the sum of the tokens that each word is made of; 0 where none is known.

    A text's vector is the mean of those of its tokens, so a word that takes the place of its pieces counts as much.
    """
    unknown = unknown_token(tokenizer)
    encodings = tokenizer.encode_batch(list(words), add_special_tokens=False)
    sums = [matrix[[number for number in encoding.ids if number != unknown]].sum(axis=0) for encoding in encodings]
    return np.array([np.linalg.norm(row) for row in sums], dtype=np.float32)


def _as_long(rows: Singles, lengths: Singles) -> Singles:
    """Return rows at other lengths; those with the length 0, and rows of zeros, stay."""
    own = np.linalg.norm(rows, axis=1)
    scale = np.divide(lengths, own, out=np.ones_like(own), where=(own > 0) & (lengths > 0))
    return np.asarray(rows * scale[:, None], dtype=np.float32)


def parts_of(model: Any) -> tuple[Any, Singles]:
    """Return (tokenizer, a row for each token) of a StaticModel, StaticEmbedding or SentenceTransformer."""
    static = static_model_in(model)
    if static is None:
        raise BadVectors(f"a {type(model).__name__} is no static model; pass a StaticModel or a StaticEmbedding")
    matrix = getattr(static.embedding, "weight", static.embedding)  # of an nn.EmbeddingBag, or an array
    if hasattr(matrix, "detach"):
        matrix = matrix.detach().cpu().float().numpy()
    mapping, weights = getattr(static, "token_mapping", None), getattr(static, "weights", None)
    return static.tokenizer, token_rows(static.tokenizer, matrix, mapping, weights)


def static_model_in(model: Any) -> Any:
    """Return what has a tokenizer and an embedding: this object, or the first module of a SentenceTransformer."""
    if hasattr(model, "_first_module"):
        model = model._first_module()
    is_static = hasattr(model, "embedding") and hasattr(getattr(model, "tokenizer", None), "encode_batch")
    return model if is_static else None


def write(path: str | PathLike[str], rows: WordRows, overwrite: bool = False) -> None:
    """Write a folder that model2vec and sentence-transformers open."""
    matrix, tokenizer = static_parts(rows)
    config = {
        "model_type": "model2vec",
        "architectures": ["StaticModel"],
        "normalize": False,
        "embedding_dtype": "float32",
    }
    modules = [{"idx": 0, "name": "0", "path": ".", "type": STATIC}]
    texts = {
        TOKENIZER: tokenizer.to_str(),
        MODULES: json.dumps(modules, indent=2),
        "config.json": json.dumps(config, indent=2),
    }
    folder = Path(path)
    if folder.is_file():
        raise BadVectors(f"{folder}: is a file; choose a folder")
    if folder.is_dir() and not overwrite and any(folder.iterdir()):
        hint = Hint("or pass overwrite=True", "or pass --overwrite")
        raise BadVectors(f"{folder}: is there already; name a new folder", hint=hint)
    with replaced_folder(folder, lambda old: (MATRIX, *texts)) as new:
        write_tensors(new / MATRIX, {"embeddings": matrix}, {})
        for name, text in texts.items():
            with atomic_write(new / name) as file:
                file.write(text.encode())
