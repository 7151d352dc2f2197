"""A model in a folder: its transform, what else it has learned, and where its vectors are.

| file | what it holds |
|---|---|
| `model.json` | format, version, the path or name of the vectors, their fingerprint, the tokenizer |
| `transform.safetensors` | the matrix with its settings, context weights and report |
| `form.safetensors`, `fusion.safetensors` | vectors from spelling, and how much they count beside contexts |
| `spread.safetensors` | how far the contexts of a typical word lie apart |
| `vectors.safetensors` | the vectors, if they are included |
| `report.txt` | the report, to read |
"""

import json
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from alacarte._io.decoding import read_json
from alacarte._io.files import absolute, check_folder, new_folder
from alacarte._version import __version__
from alacarte.contexts.reading import Reading
from alacarte.errors import AlacarteError, Hint
from alacarte.inference.spread import TypicalSpread
from alacarte.spelling.form import FormModel
from alacarte.spelling.fusion import Fusion
from alacarte.transform.transform import Transform
from alacarte.vectors.formats.named import known_names
from alacarte.vectors.word_vectors import VectorsLike, WordVectors

FORMAT = "alacarte.ALaCarte/1"
PRETRAINED = Path(__file__).parent / "pretrained"  # the models that ship with this package


@dataclass(frozen=True, eq=False)
class SavedModel:
    """What a folder holds, but for the vectors: `vectors` says where these are."""

    transform: Transform
    vectors: VectorsLike
    tokenizer: str
    form: FormModel | None = None
    fusion: Fusion | None = None
    typical: TypicalSpread | None = None


def write_model(
    folder: str | PathLike[str],
    model: SavedModel,
    *,
    include_vectors: bool | None = None,
    vectors_at: str | None = None,
) -> None:
    """Write the folder, completely or not at all; vectors that came from no file or name are always included.

    `vectors_at` is the path or name by which the vectors will be found; that of the file they came from, if left out.
    """
    path = Path(folder)
    check_folder(path)
    vectors = WordVectors.of(model.vectors)
    include = vectors.source is None and vectors_at is None if include_vectors is None else include_vectors
    with new_folder(path) as staging:
        model.transform.save(staging / "transform.safetensors")
        if model.form is not None:
            model.form.save(staging / "form.safetensors")
        if model.typical is not None:
            model.typical.save(staging / "spread.safetensors")
        if model.fusion is not None:
            model.fusion.save(staging / "fusion.safetensors")
        if model.transform.report is not None:
            (staging / "report.txt").write_text(f"{model.transform.report}\n", encoding="utf-8")
        if include:
            vectors.save(staging / "vectors.safetensors")
        description = {
            "format": FORMAT,
            "version": __version__,
            "vectors": None if include else vectors_at or absolute(vectors.source),
            "fingerprint": vectors.fingerprint,
            "words": len(vectors),
            "tokenizer": model.tokenizer,
        }
        (staging / "model.json").write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")


def read_model(folder: str | PathLike[str], *, vectors: VectorsLike | None = None) -> SavedModel:
    """Read a folder that `write_model` wrote; `vectors` says where the vectors are if they have moved."""
    path = Path(folder)
    description = read_description(path)
    transform = Transform.load(path / "transform.safetensors")
    if vectors is None:
        own = path / "vectors.safetensors"
        vectors = own if own.is_file() else _vectors_at(path, description["vectors"])
    form, fusion, spread = path / "form.safetensors", path / "fusion.safetensors", path / "spread.safetensors"
    return SavedModel(
        transform,
        vectors,
        description["tokenizer"] or (transform.settings or Reading()).tokenizer,
        FormModel.load(form) if form.is_file() else None,
        Fusion.load(fusion) if fusion.is_file() else None,
        TypicalSpread.load(spread) if spread.is_file() else None,
    )


def read_description(folder: Path) -> dict[str, Any]:
    """What model.json says: where the vectors are, how many there are, the tokenizer; None for what it does not say."""
    try:
        description = read_json((folder / "model.json").read_bytes())
    except (OSError, ValueError) as error:
        raise AlacarteError(
            f"{folder}: not a saved model ({error}); `alc fit --out {folder}` or ALaCarte.save makes one"
        ) from None
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise AlacarteError(f"{folder}: model.json is damaged, or of another format; fit the model again")
    known = {"vectors": str, "tokenizer": str, "version": str, "words": int}
    for name, kind in known.items():
        if not isinstance(description.get(name), kind | None):
            raise AlacarteError(f"{folder}: model.json is damaged: its {name!r} is no {kind.__name__}; fit it again")
    return {name: description.get(name) for name in known}


def _vectors_at(folder: Path, where: str | None) -> str:
    """The name or path that model.json gives: a package, or a regular file that stood outside when it was written."""
    hint = Hint("say where they are with vectors=…", "say where they are with --vectors")
    if where is None:
        raise AlacarteError(
            f"{folder}: the vectors of this model are not in its folder, and model.json does not say where they are",
            hint=hint,
        )
    if where in known_names():
        return where
    if not Path(where).is_absolute() or where.startswith(("//", "\\\\")):
        raise AlacarteError(f"{folder}: model.json says that its vectors are at {where!r}, no whole path", hint=hint)
    if not Path(where).is_file():
        raise AlacarteError(
            f"{folder}: the vectors of this model were at {where} and are not there any more", hint=hint
        )
    return where


def pretrained_names() -> list[str]:
    """The names of the models that ship with this package, which are those of their vectors.

    >>> pretrained_names()
    ['glove.6B.100d', 'glove.6B.50d']
    """
    return sorted(file.parent.name for file in PRETRAINED.glob("*/model.json"))


def pretrained_folder(name: str) -> Path:
    """The folder of a model that ships with this package."""
    folder = PRETRAINED / name
    if not (folder / "model.json").is_file():
        raise AlacarteError(
            f"no transform for {name!r} ships with this package; there are {', '.join(pretrained_names())}. "
            "Learn one from any text",
            hint=Hint("ALaCarte.fit(vectors, corpus) does that", "alc fit does that"),
        )
    return folder
