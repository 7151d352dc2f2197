"""A model in a folder: its transform, what else it has learned, and its vectors.

| file | what it holds |
|---|---|
| `model.json` | format, version, the name of shipped vectors, their fingerprint, the tokenizer |
| `transform.safetensors` | the matrix with its settings, context weights and report |
| `register.safetensors` | what contexts have in common, in the text that it was learned from |
| `definitions.safetensors` | the same for definitions |
| `form.safetensors`, `fusion.safetensors` | vectors from spelling, and how much they count beside contexts |
| `spread.safetensors` | how far the contexts of a typical word lie apart |
| `vectors.safetensors` | the vectors, unless they ship with a package or were left out |
| `report.txt` | the report, to read |

`model.json` holds a digest of each of the others, so that files of two models are never taken for one. It names files
of its own folder and shipped vectors, and leads nowhere else. A model takes the place of an older one as a whole
(`replaced_folder`); other files in the folder stay.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast

from alacarte._io.artifact import identity
from alacarte._io.copies import local_copy
from alacarte._io.decoding import read_json
from alacarte._io.files import atomic_write, is_same_file
from alacarte._io.folders import replaced_folder
from alacarte._io.uploads import check_writable, remove_remote, upload
from alacarte._io.urls import base_name, display_name, list_files, local_path, locate, url_of
from alacarte._version import __version__
from alacarte.contexts.reading import Reading
from alacarte.errors import AlacarteError, Hint
from alacarte.spelling.form import FormModel
from alacarte.spelling.fusion import Fusion
from alacarte.transform.register import Register
from alacarte.transform.transform import Transform
from alacarte.uncertainty.spread import TypicalSpread
from alacarte.vectors.formats.named import known_names
from alacarte.vectors.word_vectors import VectorsLike, WordVectors

if TYPE_CHECKING:
    from alacarte.model.few_shot import FewShotModel

MODEL_FORMAT = "alacarte.ALaCarte/2"
MAIN = "model.json"
VECTORS, REPORT = "vectors.safetensors", "report.txt"
PARTS: dict[str, tuple[str, Any]] = {  # attributes of a model: the file that each is in, and what it is
    "transform": ("transform.safetensors", Transform),
    "register": ("register.safetensors", Register),
    "definitions": ("definitions.safetensors", Register),
    "form": ("form.safetensors", FormModel),
    "fusion": ("fusion.safetensors", Fusion),
    "typical": ("spread.safetensors", TypicalSpread),
}
FILE_NAMES = (*(file for file, _ in PARTS.values()), VECTORS, REPORT)
PRETRAINED = Path(__file__).parents[1] / "pretrained"  # the models that ship with this package


def check_folder(folder: str | PathLike[str], overwrite: bool = False) -> None:
    """Raise unless a model may be saved here: in no folder yet, an empty one, or that of an older model.

    Files that no model wrote are in the way only where they have the name of one of a model's; behind a URL, a model is
    replaced as it is.
    """
    path = local_path(folder)
    if path is None:
        check_writable(cast("str", url_of(folder)), AlacarteError)
    elif path.exists() and not path.is_dir():
        raise AlacarteError(f"{path}: is a file; choose a folder for the model")
    if overwrite or not _holds_files(folder):
        return
    try:
        description = describe_model(folder)
    except AlacarteError:
        raise AlacarteError(
            f"{display_name(folder)}: exists and is not a saved model; choose another folder or remove it",
            hint=Hint("or pass overwrite=True, which leaves other files in it alone", OVERWRITE),
        ) from None
    for name in FILE_NAMES:
        if path is not None and (path / name).exists() and name not in _written(path, description):
            raise AlacarteError(
                f"{path / name}: is not as the model in this folder was saved with it; move it away",
                hint=Hint("or pass overwrite=True", OVERWRITE),
            )


def _holds_files(folder: str | PathLike[str]) -> bool:
    path = local_path(folder)
    if path is not None:
        return path.exists() and any(path.iterdir())
    with suppress(AlacarteError):  # there is nothing, or what is wrong shows when it is written to
        return bool(list_files(str(url_of(folder))))
    return False


OVERWRITE = "or pass --overwrite, which leaves other files in it alone"


def write_model(
    folder: str | PathLike[str],
    model: "FewShotModel",
    *,
    include_vectors: bool | None = None,
    overwrite: bool = False,
) -> None:
    """Write the folder, completely or not at all; its vectors too, unless they ship under a name that is known.

    An older model in the folder is replaced. Other files stay, and one in the way is an error without `overwrite`.
    """
    check_folder(folder, overwrite)
    path = local_path(folder)
    if path is None:
        _upload_model(cast("str", url_of(folder)), model, include_vectors)
        return
    vectors = model.vectors
    name = vectors.source if vectors.source in known_names() else None
    include = name is None if include_vectors is None else include_vectors
    include = include or is_same_file(path / VECTORS, vectors.source or "")  # where they are, they stay
    with replaced_folder(path, _written) as new:
        files = {name: identity(new / name) for name in _save_parts(new, model, vectors if include else None)}
        description = {
            "format": MODEL_FORMAT,
            "version": __version__,
            "vectors": None if include else name,
            "read_from": _base_name(vectors.source),
            "fingerprint": vectors.fingerprint,
            "words": len(vectors),
            "tokenizer": model.settings.tokenizer,
            "files": files,
        }
        with atomic_write(new / MAIN) as file:
            file.write(f"{json.dumps(description, indent=2)}\n".encode())


def _base_name(source: str | None) -> str | None:
    return None if source is None else base_name(source) if url_of(source) else Path(source).name


def _upload_model(url: str, model: "FewShotModel", include_vectors: bool | None) -> None:
    """Write a model on this disk and put its files behind a URL, `model.json` last; then remove an older one's.

    Until then, readers find files that are not the ones that the `model.json` there names, and say so.
    """
    if model.vectors.source == f"{display_name(url).rstrip('/')}/{VECTORS}":
        include_vectors = True  # where they are, they stay
    with TemporaryDirectory(prefix="alacarte-") as temporary:
        local = Path(temporary) / (url.rstrip("/").rpartition("/")[2] or "model")
        write_model(local, model, include_vectors=include_vectors)
        files = sorted(local.iterdir(), key=lambda file: file.name == MAIN)
        for file in files:
            upload(file, f"{url.rstrip('/')}/{file.name}", AlacarteError)
    for name in set(FILE_NAMES) - {file.name for file in files}:
        remove_remote(f"{url.rstrip('/')}/{name}", AlacarteError)


def _save_parts(folder: Path, model: "FewShotModel", vectors: WordVectors | None) -> Iterator[str]:
    """Write all files but the main one; their names, each when it is complete."""
    for attribute, (name, _) in PARTS.items():
        part = getattr(model, attribute)
        if part is not None:
            part.save(folder / name)
            yield name
    if model.transform.report is not None:
        with atomic_write(folder / REPORT) as file:
            file.write(f"{model.transform.report}\n".encode())
        yield REPORT
    if vectors is not None:
        vectors.save(folder / VECTORS, "safetensors")
        yield VECTORS


def _written(folder: Path, description: dict[str, Any] | None = None) -> set[str]:
    """Return the names of the files in a folder that are as a model was saved there; none if there is no model."""
    with suppress(AlacarteError):
        digests = (description or describe_model(folder))["files"]
        same = {name for name, digest in digests.items() if name in FILE_NAMES and _has_digest(folder / name, digest)}
        return {MAIN, *same}
    return set()


def _has_digest(file: Path, digest: str) -> bool:
    return file.is_file() and identity(file) == digest


def describe_model(folder: str | PathLike[str]) -> dict[str, Any]:
    """Return what `model.json` says; raises unless the folder, on disk or behind a URL, is a saved model."""
    path = display_name(folder)
    url = url_of(folder)
    try:
        with locate(Path(folder) / MAIN if url is None else f"{url.rstrip('/')}/{MAIN}").open() as file:
            description = read_json(file.read())
    except (OSError, ValueError) as error:
        if path in known_names():
            raise AlacarteError(
                f"{path!r} are vectors, and a model is expected here", hint=Hint(f"call ALaCarte.pretrained({path!r})")
            ) from None
        raise AlacarteError(
            f"{path}: not a saved model ({error}); `alc fit --out {path}` or ALaCarte.save makes one"
        ) from None
    if not isinstance(description, dict) or description.get("format") != MODEL_FORMAT:
        given = description.get("format") if isinstance(description, dict) else None
        raise AlacarteError(f"{path}: a model of another format, {given!r}; make it again with `alc fit`")
    files = description.get("files")
    if not isinstance(files, dict) or not all(isinstance(digest, str) for digest in files.values()):
        raise AlacarteError(f"{path}/{MAIN} is damaged: it does not say which files belong to the model; fit it again")
    for name, kind in {"vectors": str, "read_from": str, "tokenizer": str, "version": str, "words": int}.items():
        if not isinstance(description.get(name), kind | None):
            raise AlacarteError(f"{path}/{MAIN} is damaged: its {name!r} is no {kind.__name__}; fit the model again")
    return description


def model_files(folder: str | PathLike[str], description: dict[str, Any]) -> dict[str, Path]:
    """Return the files of a model by name, less the report; raises unless each was saved with it."""
    files = {}
    for name, digest in description["files"].items():
        if name == REPORT:  # which people may change
            continue
        if name not in FILE_NAMES:
            raise AlacarteError(f"{folder}: the model has a file {name!r}, which is not known here; upgrade alacarte")
        file = Path(folder) / name
        if not file.is_file():
            raise AlacarteError(f"{file}: is missing; copy or write the whole folder again")
        if identity(file) != digest:
            raise AlacarteError(
                f"{file} is not the file that was saved with this model; copy or write the whole folder again"
            )
        files[name] = file
    if PARTS["transform"][0] not in files:
        raise AlacarteError(f"{Path(folder) / MAIN} is damaged: it names no transform; fit the model again")
    return files


def read_model(folder: str | PathLike[str], *, vectors: VectorsLike | None = None) -> dict[str, Any]:
    """Return what a model that `write_model` wrote is made of, by the names of `ALaCarte`.

    `vectors` are the model's vectors where they are not in the folder; the tokenizer is given by name. Behind a URL,
    its files are copied to the cache folder and read there.
    """
    path = local_path(folder)
    if path is None:
        return _download_model(cast("str", url_of(folder)), vectors)
    description = describe_model(path)
    try:
        saved = _read_parts(path, description, vectors)
    except (AlacarteError, OSError):
        _check_same(path, description)
        raise
    _check_same(path, description)
    return saved


def _check_same(path: Path, description: dict[str, Any]) -> None:
    """Raise if another model has taken the place of the one that was described."""
    if describe_model(path) != description:
        raise AlacarteError(f"{path}: the model was replaced while it was read; load it again")


def _read_parts(path: Path, description: dict[str, Any], vectors: VectorsLike | None) -> dict[str, Any]:
    files = model_files(path, description)
    saved = {name: kind.load(files[file]) for name, (file, kind) in PARTS.items() if file in files}
    if vectors is None:
        vectors = WordVectors.load(files[VECTORS]) if VECTORS in files else _named_vectors(path, description)
    tokenizer = description.get("tokenizer") or (saved["transform"].settings or Reading()).tokenizer
    return {**saved, "vectors": WordVectors.of(vectors), "tokenizer": tokenizer}


def _download_model(url: str, vectors: VectorsLike | None) -> dict[str, Any]:
    names = [name for name in describe_model(url)["files"] if name in FILE_NAMES and name != REPORT]
    with local_copy(f"{url.rstrip('/')}/{MAIN}", needed=names) as copy:
        saved = read_model(copy.parent, vectors=vectors)
    if vectors is None and VECTORS in names:
        saved["vectors"].source = f"{display_name(url).rstrip('/')}/{VECTORS}"  # and not the copy, which may go
    return saved


def _named_vectors(folder: Path, description: dict[str, Any]) -> str:
    """Return the name of shipped vectors in model.json, which leads to nothing else."""
    name, read_from = description.get("vectors"), description.get("read_from")
    if name in known_names():
        return cast("str", name)
    hint = Hint("pass them as vectors=…", "pass them with --vectors")
    if name is not None:
        raise AlacarteError(
            f"{folder}: model.json says that its vectors are at {display_name(name)!r}; a model leads to files in its "
            "own folder and shipped vectors only",
            hint=hint,
        )
    named = "" if read_from is None else f" (they were read from {read_from})"
    raise AlacarteError(f"{folder}: the vectors of this model are not in its folder{named}", hint=hint)


def pretrained_names() -> list[str]:
    """Return the models that ship with this package, named after their vectors; ``.plain`` do not adapt to texts.

    >>> pretrained_names()
    ['glove.6B.100d', 'glove.6B.100d.plain', 'glove.6B.50d', 'glove.6B.50d.plain']
    """
    return sorted(file.parent.name for file in PRETRAINED.glob("*/model.json"))


def pretrained_folder(name: str) -> Path:
    """Return the folder of a model that ships with this package."""
    folder = PRETRAINED / name
    if not (folder / "model.json").is_file():
        raise AlacarteError(
            f"{name}: neither a folder with a saved model nor one that ships ({', '.join(pretrained_names())}); learn "
            "one from any text",
            hint=Hint("ALaCarte.fit(vectors, corpus) does that", "alc fit does that"),
        )
    return folder
