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

from alacarte._io.files import absolute, check_folder, new_folder
from alacarte._version import __version__
from alacarte.contexts.reading import Reading
from alacarte.errors import AlacarteError, Hint
from alacarte.inference.spread import TypicalSpread
from alacarte.spelling.form import FormModel
from alacarte.spelling.fusion import Fusion
from alacarte.transform.transform import Transform
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
    try:
        description = json.loads((path / "model.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise AlacarteError(
            f"{path}: not a saved model ({error}); `alc fit --out {path}` or ALaCarte.save makes one"
        ) from None
    if description.get("format") != FORMAT:
        raise AlacarteError(f"{path}: a model of another format, {description.get('format')!r}")
    transform = Transform.load(path / "transform.safetensors")
    if vectors is None:
        own = path / "vectors.safetensors"
        vectors = own if own.is_file() else description.get("vectors")
        if vectors is None:
            raise AlacarteError(
                f"{path}: the vectors of this model are not in its folder, and model.json does not say where they are",
                hint=Hint("say where they are with vectors=…", "say where they are with --vectors"),
            )
        if isinstance(vectors, str) and Path(vectors).is_absolute() and not Path(vectors).exists():
            raise AlacarteError(
                f"{path}: the vectors of this model were at {vectors} and are not there any more",
                hint=Hint("say where they are with vectors=…", "say where they are with --vectors"),
            )
    form, fusion, spread = path / "form.safetensors", path / "fusion.safetensors", path / "spread.safetensors"
    return SavedModel(
        transform,
        vectors,
        description.get("tokenizer", (transform.settings or Reading()).tokenizer),
        FormModel.load(form) if form.is_file() else None,
        Fusion.load(fusion) if fusion.is_file() else None,
        TypicalSpread.load(spread) if spread.is_file() else None,
    )


def pretrained_names() -> list[str]:
    """The models that ship with this package, named after their vectors (window 10) and their window if it is another.

    >>> pretrained_names()
    ['glove.6B.100d', 'glove.6B.100d.window5', 'glove.6B.50d', 'glove.6B.50d.window5']
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
