"""PostgreSQL with pgvector (a real server), LanceDB and Qdrant: vectors written to them and read back."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from alacarte import ALaCarte, Transform, WordVectors
from alacarte.cli import app
from alacarte.errors import BadVectors
from alacarte.vectors.databases import _blocks, is_database, parsed, shown_database

RNG = np.random.default_rng(1)
WORDS = ["zebra", "new york", "né", "東京", "🙂", "it's", 'a "quoted" \\ word', "tab\there", "line\nend", "a"]
MATRIX = np.concatenate([RNG.normal(size=(9, 5)), [[1e-38, -1e38, 0.1, 0, -0.0]]]).astype(np.float32)
VECTORS = WordVectors(WORDS, MATRIX)
COUNTED = WordVectors(WORDS, MATRIX, counts=range(10, 0, -1), origin=["contexts", "spelling"] * 5)
SECRET = "hunter2-ü"


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(_blocks, "ROWS", 3)


@pytest.fixture(scope="module")
def server():
    """A PostgreSQL of its own, reached through a socket."""
    pgserver = pytest.importorskip("pgserver")
    pytest.importorskip("psycopg")
    with tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as folder:
        running = pgserver.get_server(folder, cleanup_mode="stop")
        try:
            yield running.get_uri()
        finally:
            running.cleanup()


@pytest.fixture
def postgresql(server):
    """An address without a table, in a database that is empty."""
    import psycopg

    with psycopg.connect(server) as connection:
        connection.execute("drop schema public cascade; create schema public; create extension vector")
    return server


@pytest.fixture(params=["postgresql", "lancedb"])
def address(request, tmp_path):
    """Where a table `words` can be written to and read from."""
    if request.param == "postgresql":
        return f"{request.getfixturevalue('postgresql')}&table=words"
    pytest.importorskip("lancedb")
    return f"lancedb://{tmp_path / 'with a space'}?table=words"


def query(server, text):
    import psycopg

    with psycopg.connect(server) as connection:
        cursor = connection.execute(text)
        return cursor.fetchall() if cursor.description else None


# --------------------------------------------------------------------------------------------------- round trips


@pytest.mark.parametrize("vectors", [VECTORS, COUNTED], ids=["plain", "counted"])
def test_every_value_comes_back(address, vectors):
    vectors.save(address)
    back = WordVectors.load(address)
    assert back == vectors  # in the same order
    assert back.matrix.tobytes() == vectors.matrix.tobytes()
    assert back.origin == vectors.origin
    assert (back.counts is None) == (vectors.counts is None)
    assert vectors.counts is None or np.array_equal(back.counts, vectors.counts)
    assert WordVectors.load(address, limit=4) == vectors.first(4)
    assert WordVectors.of(address) == vectors


def test_a_table_is_replaced_only_when_asked(address):
    VECTORS.save(address)
    other = WordVectors(["b"], [[1.0, 2.0, 3.0]])
    with pytest.raises(BadVectors, match=r"there is a table 'words' already.*overwrite=True"):
        other.save(address)
    assert WordVectors.load(address) == VECTORS
    other.save(address, overwrite=True)
    assert WordVectors.load(address) == other
    other.save(address.replace("words", "others"), overwrite=True)
    VECTORS.save(address, overwrite=True)
    assert WordVectors.load(address) == VECTORS
    assert WordVectors.load(address.replace("words", "others")) == other


class Interrupted(BaseException):
    pass


@pytest.mark.parametrize("there", [False, True])
def test_what_is_interrupted_leaves_things_as_they_were(address, there, monkeypatch):
    if there:
        VECTORS.save(address)
    real = _blocks.Block

    def broken(first, *rest):
        if first >= 6:
            raise OSError("no more")
        return real(first, *rest)

    monkeypatch.setattr(_blocks, "Block", broken)
    with pytest.raises((OSError, BadVectors), match="no more"):
        WordVectors(WORDS, -MATRIX).save(address, overwrite=there)
    monkeypatch.undo()
    if there:
        assert WordVectors.load(address) == VECTORS
    else:
        with pytest.raises(BadVectors, match="there is no table 'words'"):
            WordVectors.load(address)


def test_the_command(address, tmp_path):
    COUNTED.save(tmp_path / "v.safetensors")
    runner = CliRunner()
    run = runner.invoke(app, ["convert", str(tmp_path / "v.safetensors"), address])
    assert run.exit_code == 0, run.output
    assert "10 vectors of 5 dimensions" in run.output
    refused = runner.invoke(app, ["convert", str(tmp_path / "v.safetensors"), address, "--limit", "3"])
    assert refused.exit_code != 0
    assert "--overwrite" in " ".join(refused.output.split())
    again = runner.invoke(app, ["convert", str(tmp_path / "v.safetensors"), address, "--limit", "3", "--overwrite"])
    assert again.exit_code == 0, again.output
    back = runner.invoke(app, ["convert", address, str(tmp_path / "back.safetensors")])
    assert back.exit_code == 0, back.output
    assert WordVectors.load(tmp_path / "back.safetensors") == COUNTED.first(3)
    assert WordVectors.load(tmp_path / "back.safetensors").counts.tolist() == [10, 9, 8]
    underscores = runner.invoke(
        app, ["convert", str(tmp_path / "v.safetensors"), address, "--space", "_", "--overwrite", "-q"]
    )
    assert underscores.exit_code == 0, underscores.output
    assert WordVectors.load(address).words[1] == "new_york"


def test_a_saved_model_finds_its_vectors_in_the_database(address, tmp_path):
    VECTORS.save(address)
    ALaCarte(address, Transform(np.eye(5))).save(tmp_path / "model")
    assert ALaCarte.load(tmp_path / "model").vectors == VECTORS


# --------------------------------------------------------------------------------------------------- PostgreSQL


def test_the_columns_and_a_search_in_postgresql(postgresql):
    COUNTED.save(f"{postgresql}&table=words")
    rows = query(
        postgresql,
        "select column_name, udt_name from information_schema.columns where table_name = 'words' order by 1",
    )
    assert dict(rows) == {"count": "int8", "origin": "text", "rank": "int4", "vector": "vector", "word": "text"}
    nearest = query(
        postgresql, "select word from words order by vector <=> (select vector from words where word = 'né') limit 3"
    )
    assert [word for (word,) in nearest] == [word for word, _ in COUNTED.nearest(COUNTED["né"], k=3)]
    assert query(postgresql, "select count(*) from pg_class where relname like 'alacarte%' and relkind = 'r'") == [(0,)]


def test_schemas_and_odd_names(postgresql):
    query(postgresql, 'create schema "My Lab"')
    for table in ("My Lab.Words; drop table x", "Ünïcode", "%22quoted%22"):
        VECTORS.save(f"{postgresql}&table={table}")
        assert WordVectors.load(f"{postgresql}&table={table}") == VECTORS
    assert query(postgresql, 'select count(*) from "My Lab"."Words; drop table x"') == [(10,)]
    query(postgresql, 'drop schema "My Lab" cascade')


def test_pgvector_is_installed_where_it_is_not(postgresql):
    query(postgresql, "drop extension vector")
    VECTORS.save(f"{postgresql}&table=words")
    assert WordVectors.load(f"{postgresql}&table=words") == VECTORS


def test_others_read_the_older_table_until_the_new_one_is_whole(postgresql, monkeypatch):
    address = f"{postgresql}&table=words"
    VECTORS.save(address)
    seen = []
    real = _blocks.Block

    def looked(*rest):
        seen.append(WordVectors.load(address) == VECTORS)
        return real(*rest)

    monkeypatch.setattr(_blocks, "Block", looked)
    WordVectors(WORDS, -MATRIX).save(address, overwrite=True)
    assert seen == [True] * 4
    assert np.array_equal(WordVectors.load(address).matrix, -MATRIX)


def test_tables_that_others_made(postgresql):
    query(
        postgresql,
        "create table theirs (word text, count integer, vector vector); "
        "insert into theirs values ('rare', 1, '[1,2]'), ('often', 9, '[3,4]')",
    )
    vectors = WordVectors.load(f"{postgresql}&table=theirs")
    assert (vectors.words, vectors.counts.tolist(), vectors["rare"].tolist()) == (("often", "rare"), [9, 1], [1, 2])
    for change, problem in {
        "insert into theirs values ('x', 2, '[1]')": "'x' has 1 values",
        "insert into theirs values ('x', 2, null)": "no vector",
        "insert into theirs values ('x', null, '[1,2]')": "1 of 3 words have no count",
        "insert into theirs values ('rare', 2, '[1,2]')": "'rare' stands there twice",
        "delete from theirs": "is empty",
        "alter table theirs rename column vector to v": "make a view",
    }.items():
        query(postgresql, f"create table kept as select * from theirs; {change}")
        with pytest.raises(BadVectors, match=problem):
            WordVectors.load(f"{postgresql}&table=theirs")
        query(postgresql, "drop table theirs; alter table kept rename to theirs")
    query(postgresql, "create view seen as select word, vector from theirs where count > 5")
    assert WordVectors.load(f"{postgresql}&table=seen").words == ("often",)
    with pytest.raises(BadVectors, match="is a view"):
        VECTORS.save(f"{postgresql}&table=seen", overwrite=True)
    with pytest.raises(BadVectors, match=r"table=theirs.*depend"):
        VECTORS.save(f"{postgresql}&table=theirs", overwrite=True)
    assert len(WordVectors.load(f"{postgresql}&table=theirs")) == 2


def test_what_postgresql_cannot_store(postgresql):
    with pytest.raises(BadVectors, match="NUL"):
        WordVectors(["a\0b"], [[1.0]]).save(f"{postgresql}&table=words")
    with pytest.raises(BadVectors, match="16,000"):
        WordVectors(["a"], np.ones((1, 16_001))).save(f"{postgresql}&table=words")


def test_no_password_in_any_message(server, tmp_path):
    """Those of libpq, which repeats parts of an address that it cannot read, included."""
    socket = server.partition("host=")[2]
    VECTORS.save(tmp_path / "v.safetensors")
    addresses = [
        f"postgresql://nobody:{SECRET}@/postgres?host={socket}&table=words",
        f"postgresql://nobody:{SECRET}@127.0.0.1:1/postgres?table=words",
        f"postgresql://nobody:{SECRET}%zz@/postgres?host={socket}&table=words",
        f"postgresql://nobody:{SECRET}/x@/postgres?host={socket}&table=words",
        f"postgresql:///postgres?host={socket}&password={SECRET}&nonsense={SECRET}&table=words",
        f"postgresql://nobody:{SECRET}?x@/postgres?host={socket}&table=words",
        f"postgresql://nobody:{SECRET}#x@/postgres?host={socket}&table=words",
        f"postgresql://nobody:{SECRET}@x@/postgres?host={socket}&table=words",
        f"postgresql://nobody:{SECRET}@/postgres?host={socket}",
    ]
    for address in addresses:
        with pytest.raises(BadVectors, match="postgresql://") as raised:
            VECTORS.save(address)
        assert SECRET not in str(raised.value), address
        assert raised.value.__cause__ is None
        assert raised.value.__suppress_context__ or raised.value.__context__ is None
        run = CliRunner().invoke(app, ["convert", str(tmp_path / "v.safetensors"), address])
        assert run.exit_code != 0
        assert SECRET not in run.output, address


def test_an_address_keeps_no_password(postgresql, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    address = f"{postgresql.replace('postgres:@', f'postgres:{SECRET}@')}&table=words"
    assert SECRET in address
    VECTORS.save(address)  # the socket asks for none
    vectors = WordVectors.load(address)
    assert SECRET not in vectors.source
    assert "table=words" in vectors.source
    for command in (
        ["inspect", address],
        ["nearest", address, "--word", "zebra"],
        ["convert", address, "v.safetensors"],
    ):
        run = CliRunner().invoke(app, command)
        assert run.exit_code == 0, run.output
        assert SECRET not in run.output


# ------------------------------------------------------------------------------------------------ LanceDB, Qdrant


def test_a_search_in_lancedb(tmp_path):
    lancedb = pytest.importorskip("lancedb")
    COUNTED.save(f"lancedb://{tmp_path}?table=words")
    table = lancedb.connect(tmp_path).open_table("words")
    nearest = table.search(COUNTED["né"]).distance_type("cosine").limit(3).to_list()
    assert [row["word"] for row in nearest] == [word for word, _ in COUNTED.nearest(COUNTED["né"], k=3)]
    assert nearest[0]["count"] == 8
    table.delete("word = 'zebra'")
    table.add([{"rank": 99, "word": "last", "count": 0, "origin": "spelling", "vector": [0.0] * 5}])
    assert WordVectors.load(f"lancedb://{tmp_path}?table=words").words == (*WORDS[1:], "last")
    lancedb.connect(tmp_path).create_table("theirs", [{"name": "a", "vector": [1.0]}])
    with pytest.raises(BadVectors, match="'name', 'vector'"):
        WordVectors.load(f"lancedb://{tmp_path}?table=theirs")


@pytest.mark.parametrize("distance", ["cosine", "dot"])
def test_qdrant(tmp_path, distance, monkeypatch):
    qdrant_client = pytest.importorskip("qdrant_client")
    address = f"qdrant://{tmp_path}/store?collection=words&distance={distance}"
    COUNTED.save(address)
    with pytest.raises(BadVectors, match=r"there is a collection 'words' already.*overwrite"):
        VECTORS.save(address)
    client = qdrant_client.QdrantClient(path=f"{tmp_path}/store")
    points = client.scroll("words", limit=100, with_vectors=True)[0]
    assert [point.payload for point in points] == [
        {"word": word, "count": 10 - row, "origin": ("contexts", "spelling")[row % 2]} for row, word in enumerate(WORDS)
    ]
    stored = np.array([point.vector for point in points])
    if distance == "dot":
        assert stored.astype(np.float32).tobytes() == MATRIX.tobytes()
    if distance == "cosine":
        nearest = client.query_points("words", query=COUNTED["né"].tolist(), limit=3).points
        words = [point.payload["word"] for point in nearest]
        assert words == [word for word, _ in COUNTED.nearest(COUNTED["né"], k=3)]
    client.close()
    VECTORS.first(2).save(address, overwrite=True)
    client = qdrant_client.QdrantClient(path=f"{tmp_path}/store")
    assert [point.payload for point in client.scroll("words")[0]] == [{"word": "zebra"}, {"word": "new york"}]
    client.close()
    with pytest.raises(BadVectors, match="not read"):
        WordVectors.load(address)
    monkeypatch.setattr(_blocks, "Block", lambda *rest: 1 / 0)
    with pytest.raises(BadVectors, match="division"):
        VECTORS.save(address.replace("words", "others"))
    client = qdrant_client.QdrantClient(path=f"{tmp_path}/store")
    assert not client.collection_exists("others")
    client.close()


# -------------------------------------------------------------------------------------------------------- addresses


def test_addresses():
    kind, address = parsed("postgres://me:pw@host:5433/db?sslmode=require&table=s.words")
    assert (address.url, address.name) == ("postgres://me:pw@host:5433/db?sslmode=require", "s.words")
    assert address.shown == "postgres://me@host:5433/db?sslmode=require&table=s.words"
    assert set(address.secrets) == {"pw"}
    assert kind.named == "table"
    assert not is_database("s3://bucket/words.vec")
    assert not is_database(Path("lancedb"))
    assert not is_database(["postgresql://"])
    with pytest.raises(BadVectors, match=r"which table\? .*\?table=words"):
        WordVectors.load("postgresql://host/db")
    with pytest.raises(BadVectors, match=r"which collection\?"):
        VECTORS.save("qdrant://host:6333")
    with pytest.raises(BadVectors, match="lost a slash"):
        VECTORS.save(Path("postgresql://host/db?table=words"))
    with pytest.raises(BadVectors, match="no parameter 'tabel'"):
        VECTORS.save("lancedb:///folder?table=words&tabel=x")
    with pytest.raises(BadVectors, match="in which folder"):
        VECTORS.save("lancedb://?table=words")
    with pytest.raises(BadVectors, match="distance is one of"):
        VECTORS.save("qdrant:///nowhere?collection=words&distance=far")
    assert shown_database("qdrant://key@host?collection=words") == "qdrant://host?collection=words"


def test_a_server_that_does_not_answer():
    pytest.importorskip("qdrant_client")
    with pytest.raises(BadVectors, match=r"qdrant://127\.0\.0\.1:1"):
        VECTORS.save("qdrant://127.0.0.1:1?collection=words")


@pytest.mark.parametrize(
    ("module", "address"),
    [
        ("psycopg", "postgresql://host/db?table=words"),
        ("lancedb", "lancedb:///folder?table=words"),
        ("qdrant_client", "qdrant:///folder?collection=words"),
    ],
)
def test_missing_extras_are_named(module, address, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"alacarte-embeddings\[(postgres|lancedb|qdrant)\]"):
        VECTORS.save(address)


def test_no_database_library_is_loaded_for_files():
    code = (
        "import sys; from alacarte import WordVectors; WordVectors(['a'], [[1.0]]).save('/dev/null', 'word2vec-text');"
        "print({'psycopg', 'lancedb', 'qdrant_client'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
