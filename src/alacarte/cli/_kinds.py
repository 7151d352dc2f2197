"""What `alc inspect` says of the files that this package writes for itself."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from alacarte._io.artifact import Artifact

# "module:function" for each kind whose metadata do not say enough: it takes an `Artifact` and returns a dictionary.
DESCRIBERS = {
    "word vectors": "alacarte.vectors.formats.native:describe",
    "context sums": "alacarte.contexts.sums:describe",
    "checkpoint": "alacarte.passes.checkpoint:describe",
    "transform": "alacarte.transform.transform:describe",
}


def describe(artifact: Artifact) -> dict[str, Any]:
    """Return facts about an artifact: by `DESCRIBERS`, else its metadata and the shapes of its tensors."""
    facts = {"what": artifact.kind, "path": str(artifact.path), "bytes": artifact.path.stat().st_size}
    if artifact.kind not in DESCRIBERS:
        shapes = {
            name: f"{array.dtype} {' × '.join(map(str, array.shape))}" for name, array in artifact.tensors.items()
        }
        return {**facts, **artifact.metadata, "tensors": shapes}
    module, _, function = DESCRIBERS[artifact.kind].partition(":")
    described: Callable[[Artifact], dict[str, Any]] = getattr(import_module(module), function)
    return {**facts, **artifact.decode(described)}
