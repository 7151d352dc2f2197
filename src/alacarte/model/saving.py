"""A model in a folder: its transform, what else it has learned, and where its vectors are.

| file | what it holds |
|---|---|
| `model.json` | format, version, the path or name of the vectors, their fingerprint, the tokenizer |
| `transform.safetensors` | the matrix with its settings, context weights and report |
| `form.safetensors`, `fusion.safetensors` | vectors from spelling, and how much they count beside contexts |
| `spread.safetensors` | how far the contexts of a typical word lie apart |
| `vectors.safetensors` | the vectors, if they are included |
| `report.txt` | the report, to read |
| `config.json`, `README.md` | for the Hugging Face Hub, on request: facts, and a model card |

`model.json` holds a digest of each of the others, so that files of two models are never taken for one. A model takes
the place of an older one as a whole, when its `model.json` does (`Companions`); other files in the folder stay.
"""

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from alacarte._io.artifact import identity
from alacarte._io.copies import copied
from alacarte._io.decoding import read_json
from alacarte._io.files import Companions, absolute, atomic_write, hidden_companion, is_leftover, is_same_file
from alacarte._io.remote import Location, list_files, local_path, locate, shown, url_of
from alacarte._io.uploads import check_writable, remove, upload
from alacarte._version import __version__
from alacarte.contexts.reading import Reading
from alacarte.errors import AlacarteError, Hint
from alacarte.inference.spread import TypicalSpread
from alacarte.spelling.form import FormModel
from alacarte.spelling.fusion import Fusion
from alacarte.transform.transform import Transform
from alacarte.vectors.formats import hub
from alacarte.vectors.formats.named import known_names
from alacarte.vectors.word_vectors import VectorsLike, WordVectors

FORMAT = "alacarte.ALaCarte/2"
MAIN = "model.json"
VECTORS, REPORT = hub.VECTORS, "report.txt"
FOR_PEOPLE = (REPORT, hub.CONFIG, hub.CARD)  # who may change these
PARTS = ("transform.safetensors", "form.safetensors", "fusion.safetensors", "spread.safetensors")
NAMES = (*PARTS, VECTORS, *FOR_PEOPLE)
ATTEMPTS = 5  # to read a model that is being replaced
PRETRAINED = Path(__file__).parents[1] / "pretrained"  # the models that ship with this package


@dataclass(frozen=True, eq=False)
class SavedModel:
    """What a folder holds, but for the vectors: `vectors` says where these are."""

    transform: Transform
    vectors: VectorsLike
    tokenizer: str
    form: FormModel | None = None
    fusion: Fusion | None = None
    typical: TypicalSpread | None = None


def check_folder(folder: str | PathLike[str], overwrite: bool = False) -> None:
    """Raise unless a model may be saved here: in no folder yet, an empty one, or that of an older model.

    Files that no model wrote are in the way only where they have the name of one of a model's.
    """
    path = local_path(folder)
    if path is None:
        _check_url(cast("str", url_of(folder)), overwrite)
        return
    if path.exists() and not path.is_dir():
        raise AlacarteError(f"{path}: is a file; choose a folder for the model")
    if overwrite or not path.exists() or all(map(is_leftover, os.listdir(path))):  # noqa: PTH208 (names)
        return
    try:
        description = describe_model(path)
    except AlacarteError:
        raise AlacarteError(
            f"{path}: exists and is not a saved model; choose another folder or remove it",
            hint=Hint("or pass overwrite=True, which leaves other files in it alone", OVERWRITE),
        ) from None
    for name in NAMES:
        if (path / name).exists() and not _is_of_model(path / name, description):
            raise AlacarteError(
                f"{path / name}: is not as the model in this folder was saved with it; move it away",
                hint=Hint("or pass overwrite=True", OVERWRITE),
            )


def _check_url(url: str, overwrite: bool) -> None:
    """The same for a URL: there is nothing yet, or a model, which is replaced."""
    check_writable(url, AlacarteError)
    with suppress(AlacarteError):
        if overwrite or describe_model(url):
            return
    files: list[Location] = []
    with suppress(AlacarteError):  # there is nothing, or what is wrong shows when it is written to
        files = list_files(url)
    if files:
        raise AlacarteError(
            f"{shown(url)}: holds files and is not a saved model; choose another folder",
            hint=Hint("or pass overwrite=True, which leaves other files in it alone", OVERWRITE),
        )


OVERWRITE = "or pass --overwrite, which leaves other files in it alone"


def write_model(
    folder: str | PathLike[str],
    model: SavedModel,
    *,
    include_vectors: bool | None = None,
    vectors_at: str | None = None,
    overwrite: bool = False,
    card: bool = False,
) -> None:
    """Write the folder, completely or not at all; vectors that came from no file or name are always included.

    `vectors_at` is the path or name by which the vectors will be found; that of the file they came from, if left out.
    `card` adds what the Hugging Face Hub wants beside a model. An older model in the folder is replaced. Other files
    stay, and one in the way is an error unless `overwrite`.
    """
    check_folder(folder, overwrite)
    path = local_path(folder)
    if path is None:
        _upload_model(cast("str", url_of(folder)), model, include_vectors, vectors_at, card)
        return
    vectors = WordVectors.of(model.vectors)
    elsewhere = vectors.source is not None or vectors_at is not None
    include = not elsewhere if include_vectors is None else include_vectors
    include = include or _is_in_model(vectors, path)  # where they are, they stay
    is_new = not path.exists()
    path.mkdir(parents=True, exist_ok=True)
    companions = Companions(path / MAIN, NAMES, _generation)
    try:
        with companions.writing():
            with suppress(AlacarteError):
                _remove_replaced(path)  # which a process that was killed may have left
            files = {}
            for name in _save_parts(companions, model, vectors if include else None):
                files[name] = identity(companions.path(name))
            for name, text in (_texts_for_hub(path.name, model, vectors, include) if card else {}).items():
                with atomic_write(companions.path(name)) as file:
                    file.write(text.encode())
                files[name] = identity(companions.path(name))
            description = {
                "format": FORMAT,
                "version": __version__,
                "vectors": None if include else vectors_at or absolute(vectors.source),
                "fingerprint": vectors.fingerprint,
                "words": len(vectors),
                "tokenizer": model.tokenizer,
                "generation": companions.generation,
                "files": files,
                "replaced": _replaced(path, files),
            }
            with atomic_write(path / MAIN) as file:
                file.write(f"{json.dumps(description, indent=2)}\n".encode())
            _remove_replaced(path)
    finally:
        if is_new:
            with suppress(OSError):  # there is something in it, as there should be
                path.rmdir()


def _upload_model(
    url: str, model: SavedModel, include_vectors: bool | None, vectors_at: str | None, card: bool
) -> None:
    """Write a model on this disk and put its files behind a URL, `model.json` last; then remove an older one's.

    Until then, readers find files that are not the ones that the `model.json` there names, and say so.
    """
    if WordVectors.of(model.vectors).source == f"{shown(url).rstrip('/')}/{VECTORS}":
        include_vectors = True  # where they are, they stay
    with TemporaryDirectory(prefix="alacarte-") as temporary:
        local = Path(temporary) / (url.rstrip("/").rpartition("/")[2] or "model")
        write_model(local, model, include_vectors=include_vectors, vectors_at=vectors_at, card=card)
        files = sorted(local.iterdir(), key=lambda file: file.name == MAIN)
        for file in files:
            upload(file, f"{url.rstrip('/')}/{file.name}", AlacarteError)
    for name in set(NAMES) - {file.name for file in files}:
        remove(f"{url.rstrip('/')}/{name}", AlacarteError)


def _is_in_model(vectors: WordVectors, path: Path) -> bool:
    """Whether vectors were read from the folder of a model."""
    file = Path(vectors.source or "")
    return is_same_file(file.parent, path) and (file.name == VECTORS or is_leftover(file.name))


def _save_parts(companions: Companions, model: SavedModel, vectors: WordVectors | None) -> Iterator[str]:
    """Write all files but the main one; their names, each when it is there."""
    parts = {"transform": model.transform, "form": model.form, "fusion": model.fusion, "spread": model.typical}
    for name, part in parts.items():
        if part is not None:
            part.save(companions.path(f"{name}.safetensors"))
            yield f"{name}.safetensors"
    if model.transform.report is not None:
        with atomic_write(companions.path(REPORT)) as file:
            file.write(f"{model.transform.report}\n".encode())
        yield REPORT
    if vectors is not None:
        vectors.save(companions.path(VECTORS), "safetensors")
        yield VECTORS


def _texts_for_hub(title: str, model: SavedModel, vectors: WordVectors, include: bool) -> dict[str, str]:
    """`config.json` and the model card."""
    name = vectors.name or (Path(vectors.source).name if vectors.source else "vectors of their own")
    settings = model.transform.settings or Reading()
    facts = {"words": len(vectors), "dimension": vectors.dimension, "window": [settings.left, settings.right]}
    where = "They are in this folder." if include else "They are not in this folder: pass them as `vectors=`."
    about = [
        "An à la carte model: vectors for words, phrases and senses from a few contexts, in a given space.",
        "",
        f"It was learned for {len(vectors):,} vectors of {vectors.dimension} dimensions ({name}). {where}",
        f"Contexts are {settings.left} words before and {settings.right} after.",
    ]
    if model.transform.report is not None:
        about += ["", "## How it was learned", "", "```", str(model.transform.report), "```"]
    examples = [
        'model.embed("a cute, fluffy blorp purred", target="blorp")',
        'model.induce(["one text", "two"], ["two"])',
    ]
    return {hub.CONFIG: hub.config("model", facts), hub.CARD: hub.card(title, "ALaCarte", about, examples)}


def _replaced(path: Path, files: dict[str, str]) -> dict[str, str]:
    """What the older model in this folder has and the new one has not, with its digests: it is removed."""
    with suppress(AlacarteError):
        return {name: digest for name, digest in describe_model(path)["files"].items() if name not in files}
    return {}


def _remove_replaced(path: Path) -> None:
    for name, digest in describe_model(path)["replaced"].items():
        if name in NAMES and (path / name).is_file() and identity(path / name) == digest:
            (path / name).unlink()


def _is_of_model(file: Path, description: dict[str, Any]) -> bool:
    digests = [description[part].get(file.name) for part in ("files", "replaced")]
    return file.is_file() and identity(file) in digests


def _generation(main: Path) -> str | None:
    with suppress(AlacarteError):
        return str(describe_model(main.parent)["generation"])
    return None


def describe_model(folder: str | PathLike[str]) -> dict[str, Any]:
    """What `model.json` says; raises unless the folder, on disk or behind a URL, is a saved model."""
    path = shown(folder)
    url = url_of(folder)
    try:
        with locate(Path(folder) / MAIN if url is None else f"{url.rstrip('/')}/{MAIN}").open() as file:
            description = read_json(file.read())
    except (OSError, ValueError) as error:
        raise AlacarteError(
            f"{path}: not a saved model ({error}); `alc fit --out {path}` or ALaCarte.save makes one"
        ) from None
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        given = description.get("format") if isinstance(description, dict) else None
        raise AlacarteError(f"{path}: a model of another format, {given!r}; make it again with `alc fit`")
    tables = [description.get("files"), description.get("replaced")]
    texts = [description.get("generation"), *(text for table in tables if isinstance(table, dict) for text in table)]
    whole = all(isinstance(table, dict) for table in tables) and all(isinstance(text, str) for text in texts)
    if not whole or not re.fullmatch("[0-9a-f]{16}", description["generation"]):
        raise AlacarteError(f"{path}/{MAIN} is damaged: it does not say which files belong to the model; fit it again")
    for name, kind in {"vectors": str, "tokenizer": str, "version": str, "words": int}.items():
        if not isinstance(description.get(name), kind | None):
            raise AlacarteError(f"{path}/{MAIN} is damaged: its {name!r} is no {kind.__name__}; fit the model again")
    return description


def model_files(folder: str | PathLike[str], description: dict[str, Any]) -> dict[str, Path]:
    """Where the files of a model are, by name, less those for people; raises unless each was saved with it."""
    files = {}
    for name, digest in description["files"].items():
        if name in FOR_PEOPLE:
            continue
        if name not in NAMES:
            raise AlacarteError(f"{folder}: the model has a file {name!r}, which is not known here; upgrade alacarte")
        place = Path(folder) / name
        hidden = hidden_companion(place, description["generation"])  # where it was left, if its writer was killed
        candidates = [file for file in (place, hidden) if file.is_file()]
        if not candidates:
            raise AlacarteError(f"{place}: is missing; copy or write the whole folder again")
        chosen = [file for file in candidates if identity(file) == digest]
        if not chosen:
            raise AlacarteError(
                f"{place} is not the file that was saved with this model; copy or write the whole folder again"
            )
        files[name] = chosen[0]
    return files


def read_model(folder: str | PathLike[str], *, vectors: VectorsLike | None = None) -> SavedModel:
    """Read a folder that `write_model` wrote; `vectors` says where the vectors are if they have moved.

    Behind a URL, its files are copied to the cache folder and read there.
    """
    path = local_path(folder)
    if path is None:
        return _download_model(cast("str", url_of(folder)), vectors)
    for attempt in range(ATTEMPTS):
        description = describe_model(path)
        try:
            saved = _read_model(path, description, vectors)
        except (AlacarteError, OSError):
            # It may be just being replaced: its files take their places one after the other.
            busy = attempt < ATTEMPTS - 1 and any(map(is_leftover, os.listdir(path)))  # noqa: PTH208 (names)
            if attempt and not busy and describe_model(path) == description:
                raise
            time.sleep(0.01 * 2**attempt)
            continue
        if describe_model(path) == description:  # files take their places after it did, so all of them are its own
            return saved
    raise AlacarteError(f"{path}: this model is replaced again and again while it is read; wait for what writes it")


def _download_model(url: str, vectors: VectorsLike | None) -> SavedModel:
    for attempt in range(ATTEMPTS):
        description = describe_model(url)
        names = [name for name in description["files"] if name in NAMES]
        try:
            with copied(f"{url.rstrip('/')}/{MAIN}", beside=names) as copy:
                saved = read_model(copy.parent, vectors=vectors)
            if vectors is None and VECTORS in names:
                saved.vectors.source = f"{shown(url).rstrip('/')}/{VECTORS}"  # and not the copy, which may go
            return saved
        except AlacarteError as error:
            if attempt and describe_model(url) == description:  # and not because it was just being replaced
                message = error.message.replace(str(copy.parent), shown(url))
                raise AlacarteError(message, hint=error.hint) from None
            time.sleep(0.5 * 2**attempt)
    raise AlacarteError(f"{shown(url)}: this model is replaced again and again while it is read; wait for its writer")


def _read_model(path: Path, description: dict[str, Any], vectors: VectorsLike | None) -> SavedModel:
    files = model_files(path, description)
    if "transform.safetensors" not in files:
        raise AlacarteError(f"{path / MAIN} is damaged: it names no transform; fit the model again")
    transform = Transform.load(files["transform.safetensors"])
    if vectors is None:
        vectors = (
            WordVectors.load(files[VECTORS]) if VECTORS in files else _vectors_at(path, description.get("vectors"))
        )
    form, fusion, spread = (files.get(f"{name}.safetensors") for name in ("form", "fusion", "spread"))
    return SavedModel(
        transform,
        vectors,
        description.get("tokenizer") or (transform.settings or Reading()).tokenizer,
        None if form is None else FormModel.load(form),
        None if fusion is None else Fusion.load(fusion),
        None if spread is None else TypicalSpread.load(spread),
    )


def _vectors_at(folder: Path, where: str | None) -> str:
    """The name or path that model.json gives: a package, or a regular file that stood outside when it was written."""
    hint = Hint("say where they are with vectors=…", "say where they are with --vectors")
    if where is None:
        raise AlacarteError(
            f"{folder}: the vectors of this model are not in its folder, and model.json does not say where they are",
            hint=hint,
        )
    if where in known_names() or url_of(where) is not None:
        return where
    if not Path(where).is_absolute() or where.startswith(("//", "\\\\")):
        raise AlacarteError(f"{folder}: model.json says that its vectors are at {where!r}, no whole path", hint=hint)
    if not Path(where).is_file():
        raise AlacarteError(
            f"{folder}: the vectors of this model were at {where} and are not there any more", hint=hint
        )
    return where


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
