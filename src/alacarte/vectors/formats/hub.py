"""Folders as the Hugging Face Hub keeps them: safetensors, `config.json`, and `README.md`, the model card.

A folder is read from a path, or from the cache that `hf download NAME` fills. Nothing is fetched.
"""

import json
import re
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from alacarte._io.files import atomic_write
from alacarte._io.folders import folder_of_files
from alacarte._version import __version__
from alacarte.errors import AlacarteError, BadVectors, require
from alacarte.vectors.formats import native
from alacarte.vectors.formats.rows import Problems, WordRows

VECTORS, CONFIG, CARD = "vectors.safetensors", "config.json", "README.md"
MODEL_CARD = """---
library_name: alacarte
tags:
- word-embeddings
- a-la-carte
# To be filled in by whoever publishes this:
# license:
# language:
---

# {title}

{about}

## Use

`pip install alacarte-embeddings`; a name on the Hub is looked for in the local cache, which `hf download` fills.

```python
{code}
```

## Licence

To be filled in by whoever publishes this: that of the vectors, and of the text they were made from.

Written by alacarte {version} (à la carte embedding, Khodak et al., ACL 2018).
"""
_REPOSITORY = re.compile(r"[\w.-]+(/[\w.-]+)?")


def find_folder(name: str | PathLike[str], revision: str | None, error: type[AlacarteError]) -> Path:
    """Return the folder of that path, or the cached copy of the repository of that name."""
    path = Path(name).expanduser()
    if path.is_dir():
        return path
    text = fspath(name)
    if not _REPOSITORY.fullmatch(text):
        raise error(f"{text!r} is neither a folder nor a name on the Hugging Face Hub, such as user/model")
    hub = require("huggingface_hub", extra="hub", purpose=f"finding {text!r} in the cache of the Hugging Face Hub")
    try:
        return Path(hub.snapshot_download(text, revision=revision, local_files_only=True))
    except Exception as problem:  # the hub's own errors, which have changed their names
        raise error(
            f"{text!r} is neither a folder nor in the cache of the Hugging Face Hub, and nothing is fetched; "
            f"run `hf download {text}` first"
        ) from problem


def read(path: str | PathLike[str], limit: int | None, problems: Problems) -> WordRows:
    """Read the vectors in a folder; also those of a saved model that includes them."""
    return native.read(Path(path) / VECTORS, limit, problems)


def write(path: str | PathLike[str], rows: WordRows, overwrite: bool = False, came_from: str | None = None) -> None:
    """Write vectors with their card to a folder; `came_from` is named in the card."""
    folder = Path(path)
    words, dimension = rows.matrix.shape
    facts: dict[str, Any] = {"words": words, "dimension": dimension, "counts": rows.counts is not None}
    about = [f"{words:,} words and phrases with vectors of {dimension} dimensions."]
    if rows.counts is not None:
        about.append("`vectors.counts` has the number of occurrences that each vector comes from.")
    if came_from is not None:
        about.append(f"They come from `{came_from}`.")
    text = model_card(folder.name, "WordVectors", about, ['vectors.nearest(vectors["word"])'])
    with folder_of_files(folder, (VECTORS, CONFIG, CARD), BadVectors, overwrite) as new:
        native.write(new / VECTORS, rows)
        for name, content in {CONFIG: config("word vectors", facts), CARD: text}.items():
            with atomic_write(new / name) as file:
                file.write(content.encode())


def config(kind: str, facts: Mapping[str, Any]) -> str:
    """Return what `config.json` says: the library, the kind, and facts that need no library to be read."""
    content = {"library_name": "alacarte", "alacarte_version": __version__, "kind": kind, **facts}
    return f"{json.dumps(content, indent=2)}\n"


def model_card(title: str, class_name: str, about: Sequence[str], examples: Sequence[str]) -> str:
    """Return a model card: what it is, how to use it, and lines for whoever publishes it to fill in."""
    variable = "vectors" if class_name == "WordVectors" else "model"
    loading = f"{variable} = {class_name}.from_pretrained({json.dumps(title)})  # this folder, or its name on the Hub"
    code = "\n".join([f"from alacarte import {class_name}", loading, *examples])
    return MODEL_CARD.format(title=title, about="\n".join(about), code=code, version=__version__)
