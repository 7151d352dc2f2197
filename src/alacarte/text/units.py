"""Units of text: where a block comes from, how long it is, and a digest of what it says.

Text is cut by the text alone, never by who reads it, so a unit means the same for any thread, process or machine, and
what a sum holds is a set of units.
"""

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from alacarte._io.tensors import pack_words, unpack_words
from alacarte.text.documents import Document
from alacarte.text.segments import Block

UnitArrays = dict[str, npt.NDArray[np.generic]]


class Unit(NamedTuple):
    """A block of text: the file (empty for lists and standard input), its first byte or item, its size, its digest."""

    name: str
    start: int
    size: int
    digest: int


def unit_of(block: Block) -> Unit:
    """Return the unit that a block is.

    >>> from alacarte.text.corpus import Corpus
    >>> unit_of(next(Corpus(["one", "two"]).blocks()))[:3]
    ('', 0, 2)
    """
    if block.text is not None:
        return Unit(block.source, block.start, len(block.text), _number(hashlib.sha256(block.text)))
    content = hashlib.sha256()
    for document in block.documents:
        if isinstance(document, Document):
            content_of_document = repr((document.text, document.tokens, document.spans, *document.values))
        else:
            content_of_document = document if isinstance(document, str) else "\x1f".join(document)
        content.update(content_of_document.encode("utf-8", "surrogatepass") + b"\x1e")
    return Unit(block.source, block.start, len(block.documents), _number(content))


def _number(digest: "hashlib._Hash") -> int:
    return int.from_bytes(digest.digest()[:8], "little")


def pack_units(units: Iterable[Unit]) -> UnitArrays:
    """Return units as arrays, in an order that depends on nothing but them.

    >>> units = {Unit("a.txt", 0, 10, 7), Unit("", 3, 2, 9)}
    >>> unpack_units(pack_units(units)) == units
    True
    """
    ordered = sorted(units)
    names = sorted({unit.name for unit in ordered})
    number = {name: place for place, name in enumerate(names)}
    text, bounds = pack_words(names)
    where = np.array([(number[unit.name], unit.start, unit.size) for unit in ordered], dtype=np.int64).reshape(-1, 3)
    digests = np.array([unit.digest for unit in ordered], dtype=np.uint64)
    return {"unit_names": text, "unit_name_bounds": bounds, "unit_places": where, "unit_digests": digests}


def unpack_units(arrays: UnitArrays) -> set[Unit]:
    """Return the units that `pack_units` packed."""
    names = unpack_words(arrays["unit_names"], arrays["unit_name_bounds"])  # type: ignore[arg-type]
    places = np.asarray(arrays["unit_places"]).tolist()
    digests = np.asarray(arrays["unit_digests"]).tolist()
    return {Unit(names[name], start, size, digest) for (name, start, size), digest in zip(places, digests, strict=True)}
