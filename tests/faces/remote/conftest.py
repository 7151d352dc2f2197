"""Servers on loopback that can misbehave: S3 (moto, asked by s3fs), plain HTTP and the Hub (the standard library)."""

import functools
import threading
from http.server import ThreadingHTTPServer

import numpy as np
import pytest
from hub import Hub, HubHandler
from servers import BUCKET, SECRET, Faulty, Handler, Site, Store

from alacarte import WordVectors, collect
from alacarte._io import urls

WORDS = [f"word{number}" for number in range(50)]


@pytest.fixture(autouse=True)
def in_small_blocks(monkeypatch, tmp_path):
    """Several ranges even of a small file; copies go to a folder of the test."""
    monkeypatch.setattr(urls, "READ_AHEAD", 1 << 14)
    monkeypatch.setattr(urls, "LITTLE_AHEAD", 1 << 12)
    monkeypatch.setattr(urls, "BUFFER", 1 << 12)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def text():
    """Lines of known and unknown words, some 300 kB."""
    random = np.random.default_rng(7)
    lines = [" ".join(random.choice([*WORDS, "über", "naïve"], 12)) for _ in range(3000)]
    return "\n".join(lines).encode() + b"\n"


@pytest.fixture(scope="session")
def other_text(text):
    """As long, and not the same."""
    return text.replace(b"word1 ", b"word2 ")


@pytest.fixture(scope="session")
def vectors():
    random = np.random.default_rng(8)
    return WordVectors(WORDS, random.normal(size=(len(WORDS), 4)))


@pytest.fixture(scope="session")
def bits(vectors):
    """All that a pass over a corpus gives, but for the names of the files."""

    def bits_of(corpus, **options):
        sums = collect(vectors, corpus, WORDS[:20], window=3, block_size=1 << 14, threads=2, **options)
        units = sorted(unit[1:] for unit in sums.units)
        arrays = [sums.all.sums, sums.all.totals, sums.all.tokens, sums.all.occurrences, sums.all.contexts]
        return sums.documents, sums.tokens_read, units, [array.tolist() for array in arrays]

    return bits_of


@pytest.fixture(scope="session")
def local_bits(bits, text, tmp_path_factory):
    """The bits of the local pass over the text."""
    file = tmp_path_factory.mktemp("local") / "a.txt"
    file.write_bytes(text)
    return bits(file)


# ----------------------------------------------------------------------------------------------------------- HTTP


@pytest.fixture(scope="session")
def http_server():
    pytest.importorskip("aiohttp", reason="aiohttp is not installed: pip install 'alacarte-embeddings[dev]'")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def site(http_server):
    http_server.site = Site()
    http_server.site.port = http_server.server_address[1]
    return http_server.site


# ------------------------------------------------------------------------------------------------------------- S3


@pytest.fixture(scope="module")
def s3_server():
    """An S3 server, and the environment that leads to it; (endpoint, application)."""
    reason = "{} is not installed: pip install 'alacarte-embeddings[dev]'"
    s3fs = pytest.importorskip("s3fs", reason=reason.format("s3fs"))
    moto = pytest.importorskip("moto.server", reason=reason.format("moto"))
    from werkzeug.serving import make_server

    application = Faulty(moto.DomainDispatcherApplication(moto.create_backend_app))
    server = make_server("127.0.0.1", 0, application, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    endpoint = f"http://127.0.0.1:{server.server_port}"
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ACCESS_KEY_ID": "tester",
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_MAX_ATTEMPTS": "1",  # so that what is tried again is tried again by us
            "AWS_EC2_METADATA_DISABLED": "true",
        }.items():
            patch.setenv(name, value)
        s3fs.S3FileSystem.clear_instance_cache()
        yield endpoint, application
    s3fs.S3FileSystem.clear_instance_cache()
    server.shutdown()
    server.server_close()


@pytest.fixture
def store(s3_server):
    """An empty bucket on a server that behaves."""
    import s3fs

    _, application = s3_server
    application.faults.clear()
    system = s3fs.S3FileSystem(use_listings_cache=False)
    if system.exists(BUCKET):
        system.rm(BUCKET, recursive=True)
    system.mkdir(BUCKET)
    yield Store(system, application.faults)
    application.faults.clear()


@pytest.fixture
def new_session(store):
    """Credentials are looked for anew, in the test and after it."""
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    yield
    s3fs.S3FileSystem.clear_instance_cache()


# --------------------------------------------------------------------------------------------------- Hugging Face


@pytest.fixture(scope="module")
def hub_server():
    """A stand-in for the Hub, which this process takes for the Hub."""
    reason = "{} is not installed: pip install 'alacarte-embeddings[dev]'"
    pytest.importorskip("fsspec", reason=reason.format("fsspec"))
    pytest.importorskip("huggingface_hub", minversion="1.0", reason=reason.format("huggingface_hub>=1.0"))
    from huggingface_hub import HfFileSystem, constants
    from huggingface_hub.utils import _http

    server = ThreadingHTTPServer(("127.0.0.1", 0), HubHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    once = functools.partial(_once, _http._http_backoff_base)
    with pytest.MonkeyPatch.context() as patch:
        endpoint = f"http://127.0.0.1:{server.server_address[1]}"
        template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, endpoint)
        patch.setattr(constants, "ENDPOINT", endpoint)
        patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        patch.setattr(constants, "HF_HUB_DISABLE_XET", True)  # another protocol, for which there is no stand-in
        patch.setattr(constants, "HF_HUB_DISABLE_IMPLICIT_TOKEN", False)
        patch.setattr(constants, "HF_TOKEN_PATH", "/nowhere/token")  # nobody's own token is sent anywhere
        patch.setattr(_http, "_http_backoff_base", once)  # so that what is tried again is tried again by us
        yield server
    HfFileSystem.clear_instance_cache()
    server.shutdown()
    server.server_close()


def _once(send, *arguments, **options):
    return send(*arguments, **{**options, "max_retries": 0})


@pytest.fixture
def hub(hub_server, monkeypatch):
    """A Hub with one dataset, `datasets/me/texts`, which is open to all and empty."""
    from huggingface_hub import HfFileSystem

    HfFileSystem.clear_instance_cache()
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    hub_server.hub = Hub(SECRET)
    hub_server.hub.endpoint = f"http://127.0.0.1:{hub_server.server_address[1]}"
    hub_server.hub.repository()
    return hub_server.hub
