"""Qdrant: a collection with a point a word; its number is the place of the word, its payload the word and its count."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import unquote

from alacarte.errors import BadVectors, require
from alacarte.vectors.databases import Address
from alacarte.vectors.databases._blocks import Block, blocks
from alacarte.vectors.formats.table import Table

DISTANCES = ("cosine", "dot", "euclid", "manhattan")


@contextmanager
def _client(address: Address) -> Iterator[Any]:
    """A client of a server, or of a folder without one."""
    module = require("qdrant_client", extra="qdrant", purpose="Qdrant")
    place, scheme = unquote(address.place), address.url.partition("://")[0].lower()
    try:
        if place.startswith("/"):
            client = module.QdrantClient(path=place)
        else:
            protocol = "https" if scheme.endswith("https") else "http"
            client = module.QdrantClient(url=f"{protocol}://{place}", api_key=os.environ.get("QDRANT_API_KEY"))
        try:
            yield client
        finally:
            client.close()
    except BadVectors:
        raise
    except Exception as error:  # of its own, of httpx, of grpc
        raise address.failure(error) from None


def check(address: Address, overwrite: bool) -> None:
    """Raise unless the collection may be written."""
    _distance(address)
    with _client(address) as client:
        if client.collection_exists(address.name) and not overwrite:
            address.refuse_to_replace("collection")


def _distance(address: Address) -> str:
    distance = address.parameters.get("distance", "cosine")
    if distance not in DISTANCES:
        raise BadVectors(f"{address.shown}: distance is one of {', '.join(DISTANCES)}, not {distance!r}")
    return distance


def write(address: Address, table: Table, overwrite: bool) -> None:
    """Make a collection and fill it; it is removed again if that fails. An older one is removed first.

    For cosines, which is the default, Qdrant keeps vectors at length 1; `distance=dot` keeps them as they are.
    """
    models = require("qdrant_client.models", extra="qdrant", purpose="Qdrant")
    distance = models.Distance[_distance(address).upper()]
    with _client(address) as client:
        if client.collection_exists(address.name):
            if not overwrite:
                address.refuse_to_replace("collection")
            client.delete_collection(address.name)
        size = table.matrix.shape[1]
        client.create_collection(address.name, vectors_config=models.VectorParams(size=size, distance=distance))
        try:
            for block in blocks(table, address):
                points = models.Batch(ids=list(block.ranks), vectors=block.matrix.tolist(), payloads=_payloads(block))
                client.upsert(address.name, points=points, wait=True)
        except BaseException:
            with suppress(Exception):
                client.delete_collection(address.name)
            raise


def _payloads(block: Block) -> list[dict[str, Any]]:
    rows = zip(block.words, block.counts, block.origin, strict=True)
    columns = ({"word": word, "count": count, "origin": origin} for word, count, origin in rows)
    return [{name: value for name, value in row.items() if value is not None} for row in columns]
