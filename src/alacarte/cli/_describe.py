"""What a file, a folder or a name is, as far as that can be seen without reading all of it."""

from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alacarte._io.printing import shortened
from alacarte._io.urls import Location, base_name, display_name, list_files, local_path, url_of
from alacarte.errors import AlacarteError, BadCorpus, BadTransform, BadVectors

if TYPE_CHECKING:
    from alacarte._io.artifact import Artifact
    from alacarte.concordance import Concordance

Facts = dict[str, Any]
BARE_MATRICES = {".bin", ".npy", ".csv", ".tsv", ".rds", ".rda", ".rdata"}
TABLE_FORMATS = {"csv", "tsv", "parquet", "arrow"}
LARGEST_MATRIX = 64 << 20  # bytes; a larger file is no d × d matrix of any vectors in use
FIRST_DOCUMENTS = 3
# "module:function" for each kind whose metadata do not say enough: it takes an `Artifact` and returns a dictionary.
DESCRIBERS = {
    "word vectors": "alacarte.vectors.formats.native:describe",
    "context sums": "alacarte.contexts.sums:describe",
    "checkpoint": "alacarte.passes.checkpoint:describe",
    "transform": "alacarte.transform.transform:describe",
}
BEGINNING = 1 << 20  # bytes of a file behind a URL that show what it is


def describe(what: str) -> Facts:
    """Return facts about a file, a folder or a name, `what` first."""
    path = local_path(what)
    if path is None:
        return _behind_url(str(url_of(what)))
    if path.is_dir():
        return _folder(path)
    if path.exists():
        return _file(path)
    return _describe_name(what)


def _behind_url(url: str) -> Facts:
    """Return facts about what is behind a URL; anything but text is copied to the cache."""
    from alacarte._io.copies import local_copy
    from alacarte.model.saving import FILE_NAMES, MAIN

    files = list_files(url)
    names = {file.name for file in files}
    if f"{display_name(url).rstrip('/')}/{MAIN}" in names:
        with local_copy(f"{url.rstrip('/')}/{MAIN}", beside=FILE_NAMES) as path:
            return {**_model(path.parent), "path": display_name(url)}
    if names != {display_name(url)} or _begins_as_text(files[0]):
        return _corpus(url)
    with local_copy(url, beside=[f"{Path(base_name(url)).stem}.vocab.txt"]) as path:
        return {**_file(path), "path": display_name(url)}


def _begins_as_text(file: "Location") -> bool:
    """Whether the beginning of a file is that of text or a table, and of no vectors."""
    from tempfile import TemporaryDirectory

    from alacarte.vectors import formats

    with TemporaryDirectory() as folder, file.open(until=BEGINNING) as stored:
        head = Path(folder) / base_name(file.address)
        head.write_bytes(stored.read(BEGINNING))
        try:
            return formats.sniff(head)[0] in TABLE_FORMATS
        except BadVectors:
            return head.suffix.lower() not in BARE_MATRICES


def concordance_facts(opened: "Concordance") -> Facts:
    """Return how large a concordance is, and what is known of its documents."""
    return {
        "path": str(opened.path),
        "documents": len(opened),
        "tokens": opened.tokens,
        "columns": list(opened.columns),
        "tokenizer": opened.tokenizer.name,
    }


def _folder(path: Path) -> Facts:
    from alacarte.concordance import Concordance, is_concordance
    from alacarte.vectors import formats

    if (path / "model.json").is_file():
        return _model(path)
    if is_concordance(path):
        return {"what": "concordance", **concordance_facts(Concordance(path))}
    try:
        formats.sniff(path)
    except BadVectors:
        return _corpus(path)
    return {"what": "word vectors", **formats.describe(path)}


def _file(path: Path) -> Facts:
    from alacarte.vectors import formats

    try:
        format, _ = formats.sniff(path)
    except BadVectors as no_vectors:
        return _no_vectors(path, no_vectors)
    if format == "safetensors":
        return _tensors(path)
    if format in TABLE_FORMATS:  # with a column `text`, it is text, whatever else is in it
        with suppress(BadCorpus):
            return _corpus(path)
    try:
        return {"what": "word vectors", **formats.describe(path)}
    except BadVectors as no_vectors:
        return _no_vectors(path, no_vectors)


def _tensors(path: Path) -> Facts:
    from alacarte._io.artifact import kind_of, read_artifact
    from alacarte._io.tensors import read_tensors

    if kind_of(path) is not None:
        return describe_artifact(read_artifact(path))
    tensors, _ = read_tensors(path, BadVectors)
    return {"what": "safetensors of another program", **_on_disk(path), "tensors": _shapes(tensors)}


def describe_artifact(artifact: "Artifact") -> Facts:
    """Return facts about a file of ours: by `DESCRIBERS`, else its metadata and the shapes of its tensors."""
    facts: Facts = {"what": artifact.kind, **_on_disk(artifact.path)}
    if artifact.kind not in DESCRIBERS:
        return {**facts, **artifact.metadata, "tensors": _shapes(artifact.tensors)}
    module, _, function = DESCRIBERS[artifact.kind].partition(":")
    return {**facts, **artifact.decode(getattr(import_module(module), function))}


def _shapes(tensors: Mapping[str, Any]) -> dict[str, str]:
    return {name: f"{array.dtype} {' × '.join(map(str, array.shape))}" for name, array in tensors.items()}


def _no_vectors(path: Path, no_vectors: BadVectors) -> Facts:
    """Return facts about a bare matrix or text; if it is neither, raise what the reader of vectors said."""
    from alacarte.transform.transform import Transform

    if path.suffix.lower() in BARE_MATRICES and path.stat().st_size <= LARGEST_MATRIX:
        with suppress(BadTransform):
            transform = Transform.load(path)
            if transform.dimension > 1:  # a table with a line of text and a number is no matrix
                return {"what": "transform (a bare matrix)", **_on_disk(path), "dimension": transform.dimension}
    try:
        return _corpus(path)
    except BadCorpus as no_corpus:
        raise AlacarteError(f"{no_vectors.message}. Nor is it text: {no_corpus.message}") from None


def _model(folder: Path) -> Facts:
    from alacarte._io.artifact import read_artifact
    from alacarte.model.saving import describe_model, model_files
    from alacarte.transform.transform import KIND, describe

    description = describe_model(folder)
    files = model_files(folder, description)
    return {
        "what": "model",
        "path": str(folder),
        "vectors": "in the folder" if "vectors.safetensors" in files else description.get("vectors"),
        "words": description.get("words"),
        "tokenizer": description.get("tokenizer"),
        "spelling": "form.safetensors" in files,
        "version": description.get("version"),
        **read_artifact(files["transform.safetensors"], KIND, BadTransform).decode(describe),
    }


def _corpus(path: Path | str) -> Facts:
    """Return facts about text at a path or behind a URL."""
    from alacarte.text.corpus import Corpus
    from alacarte.text.documents import Document, plain

    corpus = Corpus(path)
    documents = list(islice(corpus, FIRST_DOCUMENTS))
    if not documents:
        raise BadCorpus(f"{display_name(path)} holds no text")
    facts: Facts = {"what": "text", "path": display_name(path), "bytes": corpus.size}
    if corpus.description != display_name(path):
        facts["files"] = corpus.description
    annotated = any(isinstance(document, Document) for document in documents)
    facts["documents"] = "already tokens" if isinstance(documents[0], list) else "annotated" if annotated else "texts"
    contents = [plain(document) if isinstance(document, Document) else document for document in documents]
    texts = [content if isinstance(content, str) else " ".join(content) for content in contents]
    return {**facts, "first_documents": [shortened(text, 120) for text in texts]}


def _describe_name(name: str) -> Facts:
    """Return facts about vectors known by name, with the transform that ships for them."""
    from alacarte.model import pretrained_names
    from alacarte.vectors.word_vectors import WordVectors

    vectors = WordVectors.load(name)
    return {
        "what": "word vectors, by name",
        "name": name,
        "words": len(vectors),
        "dimension": vectors.dimension,
        "first_words": list(vectors.words[:10]),
        "fingerprint": vectors.fingerprint,
        "transform_ships": name in pretrained_names(),
    }


def _on_disk(path: Path) -> Facts:
    return {"path": str(path), "bytes": path.stat().st_size}
