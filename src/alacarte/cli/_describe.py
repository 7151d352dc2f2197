"""What a file, a folder or a name is, as far as it can be told without reading all of it."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alacarte.errors import AlacarteError, BadCorpus, BadTransform, BadVectors

if TYPE_CHECKING:
    from alacarte.transform.transform import Transform

Facts = dict[str, Any]
BARE_MATRICES = {".bin", ".npy", ".csv", ".tsv", ".rds", ".rda", ".rdata"}
LARGEST_MATRIX = 64 << 20  # bytes; a larger file is no d × d matrix of any vectors in use
FIRST_DOCUMENTS = 3


def describe(what: str) -> Facts:
    """Facts about a file, a folder or a name, `what` first."""
    path = Path(what).expanduser()
    if path.is_dir():
        return _model(path) if (path / "model.json").is_file() else _corpus(path)
    if path.exists():
        return _file(path)
    return _named(what)


def _file(path: Path) -> Facts:
    from alacarte.vectors import formats

    try:
        format, _ = formats.sniff(path)
    except BadVectors as no_vectors:
        return _no_vectors(path, no_vectors)
    if format == "safetensors":
        return _tensors(path)
    try:
        return _vectors(path)
    except BadVectors as no_vectors:
        return _no_vectors(path, no_vectors)


def _tensors(path: Path) -> Facts:
    from alacarte._io import artifact as artifacts
    from alacarte._io.tensors import read_tensors

    if artifacts.kind_of(path) is not None:
        artifact = artifacts.read_artifact(path)
        artifact.verify()
        return artifacts.describe(artifact)
    tensors, metadata = read_tensors(path, BadVectors)
    described = FORMER.get(metadata.get("format", "").partition("/")[0])
    if described is not None:
        return described(path, metadata)
    if {"matrix", "words", "words_offsets"} <= tensors.keys():
        return _vectors(path)
    shapes = {name: f"{array.dtype} {' × '.join(map(str, array.shape))}" for name, array in tensors.items()}
    return {"what": "safetensors of another program", **_on_disk(path), "tensors": shapes}


def _vectors(path: Path) -> Facts:
    from alacarte.vectors import formats

    return {"what": "word vectors", **formats.describe(path)}


# What follows describes files that are no artifacts yet; each goes with a line in `alacarte._io.artifact.KINDS`.


def _sums(path: Path, metadata: Mapping[str, str]) -> Facts:
    from alacarte.contexts.sums import ContextSums

    sums = ContextSums.load(path)
    return {
        "what": "context sums",
        **_on_disk(path),
        "targets": len(sums),
        "dimension": sums.dimension,
        "targets_met": len(sums.seen),
        "occurrences": int(sums.occurrences.sum()),
        "covers": "the whole vocabulary" if sums.targets is None else "chosen targets",
        "documents": sums.documents,
        "tokens_read": sums.tokens_read,
        "first_targets": sums.keys[:10],
        "spread": None if sums.groups is None else len(sums.groups),
        "fingerprint_of_vectors": sums.fingerprint,
        "settings": asdict(sums.settings),
    }


def _transform_file(path: Path, metadata: Mapping[str, str]) -> Facts:
    from alacarte.transform.transform import Transform

    return {"what": "transform", **_on_disk(path), **_transform(Transform.load(path))}


def _form(path: Path, metadata: Mapping[str, str]) -> Facts:
    from alacarte.spelling.form import FormModel

    form = FormModel.load(path)
    return {
        "what": "form model (vectors from spelling)",
        **_on_disk(path),
        "ngrams": len(form.codes),
        "dimension": form.dimension,
        "learned_from_words": form.words,
        "ridge": form.ridge,
        "fingerprint_of_vectors": form.fingerprint,
        "cosine_with_held_out_words": {item.kind: round(item.cosine, 3) for item in form.quality},
    }


def _spread(path: Path, metadata: Mapping[str, str]) -> Facts:
    from alacarte.inference.spread import TypicalSpread

    typical = TypicalSpread.load(path)
    return {
        "what": "typical spread (how far contexts lie apart)",
        **_on_disk(path),
        "dimension": len(typical.shape),
        "learned_from_targets": typical.targets,
        "effective_dimensions": round(typical.rank, 1),
    }


def _checkpoint(path: Path, metadata: Mapping[str, str]) -> Facts:
    try:
        progress, identity = json.loads(metadata["progress"]), json.loads(metadata["identity"])
        facts = {
            "what": "checkpoint",
            **_on_disk(path),
            "blocks_read": progress["done"],
            **progress["amounts"],
            "corpus": identity["corpus"][0],
            "settings": identity["settings"],
        }
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise AlacarteError(f"{path} is a damaged checkpoint ({error!r}); delete it and begin again") from None
    if "complete" in progress:  # sums in memory, else dimension by dimension on disk
        return facts | {"complete": progress["complete"]}
    return facts | {"text_read": progress.get("read"), "dimensions_summed": progress.get("summed")}


FORMER: dict[str, Callable[[Path, Mapping[str, str]], Facts]] = {
    "alacarte.ContextSums": _sums,
    "alacarte.Transform": _transform_file,
    "alacarte.FormModel": _form,
    "alacarte.TypicalSpread": _spread,
    "alacarte.Checkpoint": _checkpoint,
}


def _no_vectors(path: Path, no_vectors: BadVectors) -> Facts:
    """A bare matrix, or text; if it is neither, what the vectors' reader said."""
    from alacarte.transform.transform import Transform

    if path.suffix.lower() in BARE_MATRICES and path.stat().st_size <= LARGEST_MATRIX:
        with suppress(BadTransform):
            transform = Transform.load(path)
            if transform.dimension > 1:  # a table with a line of text and a number is no matrix
                return {"what": "transform (a bare matrix)", **_on_disk(path), **_transform(transform)}
    try:
        return _corpus(path)
    except BadCorpus as no_corpus:
        raise AlacarteError(f"{no_vectors.message}. Nor is it text: {no_corpus.for_command_line()}") from None


def _transform(transform: "Transform") -> Facts:
    facts: Facts = {
        "name": transform.name,
        "dimension": transform.dimension,
        "intercept": transform.intercept is not None,
        "fingerprint_of_vectors": transform.fingerprint,
    }
    if transform.report is not None:
        facts["report"] = transform.report
    elif transform.settings is not None:
        facts["settings"] = asdict(transform.settings)
    return facts


def _model(folder: Path) -> Facts:
    from alacarte.transform.transform import Transform

    try:
        description = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    except ValueError as error:
        raise AlacarteError(f"{folder / 'model.json'}: damaged ({error}); fit the model again") from None
    own = (folder / "vectors.safetensors").is_file()
    return {
        "what": "model",
        "path": str(folder),
        "vectors": "in the folder" if own else description.get("vectors"),
        "words": description.get("words"),
        "tokenizer": description.get("tokenizer"),
        "spelling": (folder / "form.safetensors").is_file(),
        "version": description.get("version"),
        **_transform(Transform.load(folder / "transform.safetensors")),
    }


def _corpus(path: Path) -> Facts:
    from alacarte._io.files import compression
    from alacarte.text.corpus import Corpus, Document

    corpus = Corpus(path)
    documents = list(islice(corpus, FIRST_DOCUMENTS))
    if not documents:
        raise BadCorpus(f"{path} holds no text")
    facts: Facts = {"what": "text", "path": str(path), "bytes": corpus.size}
    if path.is_file():
        with path.open("rb") as file:
            facts["compression"] = compression(file.read(8))
    else:
        facts["files"] = corpus.description
    shown = []
    for document in documents:
        content = (document.text or document.tokens) if isinstance(document, Document) else document
        text = content if isinstance(content, str) else " ".join(content or ())
        shown.append(text if len(text) <= 120 else text[:119] + "…")
    annotated = any(isinstance(document, Document) for document in documents)
    facts["documents"] = "already tokens" if isinstance(documents[0], list) else "annotated" if annotated else "texts"
    facts["first_documents"] = shown
    return facts


def _named(name: str) -> Facts:
    """Vectors known by name, with the transform that ships for them."""
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
