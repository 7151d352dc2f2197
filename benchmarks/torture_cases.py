"""The commands that `torture.py` disturbs, what they read and write, and how to run them in a process of their own.

One process imports and compiles everything once and forks a child for each run of a command.
"""

import bz2
import json
import lzma
import os
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))
from passes import budget
from tiny_wordnet import write_wordnet
from torture_shim import shim

from alacarte import ALaCarte, Concordance, ContextSums, Corpus, WordVectors, collect
from alacarte.cli import app
from alacarte.concordance import is_concordance
from alacarte.errors import AlacarteError, BadVectors
from alacarte.passes import work
from alacarte.passes.work import Work
from alacarte.vectors.neighbours import Index

WORDS = [*(f"w{number}" for number in range(300)), "water", "bird", "move", "fast", "leader", "state"]
DIMENSION = 40
VECTORS = WordVectors(WORDS, np.random.default_rng(6).normal(size=(len(WORDS), DIMENSION)).astype(np.float32))
BLOCK = 4000  # bytes of text a block, so that there are many checkpoints
HANGS = 60.0  # seconds after which a run is said to hang
TARGETS = ["new", "newer", "w1 w2", "never met"]
KILLED = -signal.SIGKILL
SAID = TemporaryFile(buffering=0)  # noqa: SIM115 (children write to it until the end)


@dataclass(frozen=True)
class Case:
    """A command, run in a folder of `make_inputs`."""

    name: str
    line: str  # what is typed after alc; {threads} and {memory} are filled in
    outputs: tuple[str, ...]
    stdin: str | None = None
    rows: int = 0  # of sums, for cases with too little memory
    targets: int = 0  # that have these rows; 0: every word has one
    done: str = ""  # what it says when it is repeated after it was done, if it can be done only once


CHECKPOINTED = "--checkpoint cp --checkpoint-every 0 --threads {threads} --overwrite -q"
FIT = "fit --vectors v.safetensors --weighting none --save-sums o.sums --out m"
INDUCE = "induce --model old --words targets.txt --save-sums o.sums"
JSONL = "1.jsonl --column year"
QUICK = "--threads {threads} --overwrite -q"
ALL = "--corpus 1.txt --corpus 2.txt.xz --corpus 3.txt.bz2 --corpus 4.txt"
CASES = [
    Case("fit", f"{FIT} {ALL} {CHECKPOINTED}", ("m", "o.sums")),
    Case("fit, little memory", f"{FIT} {ALL} --memory {{memory}} {CHECKPOINTED}", ("m", "o.sums"), rows=len(WORDS)),
    Case("fit, standard input", f"{FIT} --corpus - {CHECKPOINTED}", ("m", "o.sums"), "1.txt"),
    Case("induce", f"{INDUCE} {ALL} --missing gone.txt --out o.npy {CHECKPOINTED}", ("o.npy", "o.sums", "gone.txt")),
    Case(
        "induce, little memory",
        f"{INDUCE} {ALL} --spread 16 --memory {{memory}} --out o.safetensors {CHECKPOINTED}",
        ("o.safetensors", "o.sums"),
        rows=len(TARGETS) * 16,
        targets=len(TARGETS),
    ),
    Case(
        "induce, little memory, standard input",
        f"{INDUCE} --corpus - --spread 16 --memory {{memory}} --out o.vec {CHECKPOINTED}",
        ("o.vec", "o.sums"),
        "1.txt",
        rows=len(TARGETS) * 16,
        targets=len(TARGETS),
    ),
    Case("merge", "merge t.sums u.sums --out o.sums -q", ("o.sums",)),
    Case("index", "convert v.vec i.index -q", ("i.index",)),
    *(
        Case(f"convert to {name}", f"convert v.vec {name} --limit 200 --overwrite -q", (name,))
        for name in ("o.safetensors", "o.npy", "o.vec", "o.txt.gz", "o.bin", "o.csv", "o.parquet", "o.arrow")
    ),
    Case("convert to model2vec", "convert v.vec model2vec --to model2vec --limit 200 --overwrite -q", ("model2vec",)),
    Case("concordance build", f"concordance build {JSONL} --vectors v.vec --out k {QUICK}", ("k",)),
    Case("concordance build, new", f"concordance build {JSONL} --vectors v.vec --out n {QUICK}", ("n",)),
    Case("concordance add", "concordance add k 2.jsonl --threads 1 -q", ("k",), done="is in this concordance already"),
    Case("concordance remove", "concordance remove k --where year>5 -q", ("k",)),
    *(
        Case(f"concordance {name.split()[0]}", f"concordance {name} --csv o.table.csv --overwrite -q", ("o.table.csv",))
        for name in (
            "lines k --word new",
            "nearest k --word new --model old",
            "compare k --word w1 --model old --where year>5 --other-where year<=5",
        )
    ),
    Case(
        "compare",
        "compare 1.jsonl 2.jsonl --model old --word w1 --csv o.table.csv --plot o.svg --overwrite -q",
        ("o.table.csv", "o.svg"),
    ),
    Case("contexts", "contexts 1.txt --word new --csv o.table.csv --overwrite -q", ("o.table.csv",)),
    Case(
        "regress",
        "regress 1.jsonl --formula new~year --model old --csv o.table.csv --plot o.svg --overwrite -q",
        ("o.table.csv", "o.svg"),
    ),
    Case(
        "senses build",
        "senses build --model old --wordnet dict --method gloss --sense-keys o.vec --out o.safetensors --overwrite -q",
        ("o.safetensors", "o.vec"),
    ),
    Case(
        "senses induce",
        "senses induce --word w1 --model old --corpus 1.jsonl --out o.safetensors --overwrite -q",
        ("o.safetensors",),
    ),
]
BY_NAME = {case.name: case for case in CASES}


def some_text(rng: np.random.Generator, lines: int) -> str:
    words = [*WORDS, "new", "newer"]
    return "\n".join(" ".join(rng.choice(words, 20)) for _ in range(lines)) + "\n"


def make_inputs(folder: Path) -> None:
    """Vectors, texts (plain and compressed), targets, sums; and an older one of every output, which is replaced."""
    rng, vectors = np.random.default_rng(7), VECTORS
    older = WordVectors(WORDS[:250], rng.normal(size=(250, DIMENSION)).astype(np.float32))
    for name in ("v.safetensors", "v.vec"):
        vectors.save(folder / name)
    for name in ("o.safetensors", "o.npy", "o.vec", "o.txt.gz", "o.bin"):
        older.save(folder / name)
    texts = [some_text(rng, 80) for _ in range(4)]
    (folder / "1.txt").write_text(texts[0])
    (folder / "2.txt.xz").write_bytes(lzma.compress(texts[1].encode()))
    (folder / "3.txt.bz2").write_bytes(bz2.compress(texts[2].encode()))
    (folder / "4.txt").write_text(texts[3])
    for number in (1, 2):
        lines = texts[number].splitlines()
        rows = [json.dumps({"text": f"{line} w1", "year": place % 10}) for place, line in enumerate(lines)]
        (folder / f"{number}.jsonl").write_text("\n".join(rows))
    (folder / "targets.txt").write_text("\n".join(TARGETS) + "\n")
    (folder / "gone.txt").write_text("old\n")
    here = Path.cwd()
    os.chdir(folder)  # so that the names of texts in sums are the same wherever the folder is
    try:
        whole = collect(vectors, "1.txt")
        transform = ALaCarte.from_sums(vectors, whole, weighting="none").transform
        ALaCarte(vectors, transform).save("old", include_vectors=True)
        ALaCarte.from_sums(older, collect(older, "1.txt"), weighting="none", form_corpus="1.txt").save("m")
        collect(vectors, "1.txt", TARGETS).save("t.sums")
        collect(vectors, "4.txt", TARGETS).save("u.sums")
        collect(vectors, "1.txt", ["w5"]).save("o.sums")
    finally:
        os.chdir(here)
    Index.build(older, backend="exact").save(folder / "i.index")
    Concordance.build(vectors, Corpus(folder / "2.jsonl", columns=["year"]), folder / "k")
    older.save(folder / "model2vec", "model2vec")
    write_wordnet(folder / "dict")
    for name in ("o.csv", "o.parquet", "o.arrow"):
        older.save(folder / name)
    (folder / "o.table.csv").write_text("old\n")
    (folder / "o.svg").write_text("old\n")


def memory(rows: int, targets: int, threads: int) -> int:
    """Bytes with which twelve dimensions of so many rows of sums are made at a time."""
    return int(budget(VECTORS, rows, 12, BLOCK, threads, targets))


def arguments(case: Case, threads: int) -> list[str]:
    return case.line.format(threads=threads, memory=memory(case.rows, case.targets, threads)).split()


# ---------------------------------------------------------------------------------------------------- run a command


def small_blocks() -> None:
    """Let a block of text be small, here and in all children."""
    init = Work.__init__
    init.__defaults__ = tuple(BLOCK if value == work.BLOCK_SIZE else value for value in init.__defaults__ or ())


def start(case: Case, folder: Path, threads: int = 1, prepare: Callable[[], None] | None = None) -> int:
    """A child process that runs a command; what it says goes to a file that no disturbance reaches."""
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        os.chdir(folder)
        SAID.seek(0)
        SAID.truncate()
        for number in (1, 2):
            os.dup2(SAID.fileno(), number)
        given = os.open(case.stdin or os.devnull, os.O_RDONLY)
        os.dup2(given, 0)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        typed = arguments(case, threads)
        if prepare is not None:
            prepare()
        app(typed, prog_name="alc")
        code = 0
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 1
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def wait(child: int, limit: float = HANGS) -> int | None:
    """The exit code of a child (negative: the signal that ended it); None if it hangs, and then it is killed."""
    until = time.monotonic() + limit
    try:
        while time.monotonic() < until:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.001)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return None
    finally:
        shim().stop()


def said() -> str:
    """What the last child said."""
    return os.pread(SAID.fileno(), 1 << 20, 0).decode(errors="replace").strip()


# -------------------------------------------------------------------------------------------- what is in the folder


def bits(folder: Path, names: tuple[str, ...]) -> dict[str, object]:
    """What outputs hold, to the bit, but for the random names that tell one writing from the next."""
    held: dict[str, object] = {}
    for name in names:
        path = folder / name
        for file in sorted(path.iterdir()) if path.is_dir() else [path]:
            held[str(file.relative_to(folder))] = _content(file)
            if file.suffix == ".npy":
                held[f"words of {name}"] = file.with_suffix(".vocab.txt").read_bytes()
    return held


def _content(file: Path) -> object:
    if file.name == "model.json":
        return json.loads(file.read_text())
    if file.suffix == ".sqlite":  # where its rows lie depends on what was changed before
        with closing(sqlite3.connect(file)) as connection:
            return sorted(connection.iterdump())
    if file.suffix == ".npy":
        return np.load(file).tobytes()
    return file.read_bytes()


def listing(folder: Path) -> set[str]:
    """Every file and folder, hidden ones too."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


MIXED = "parts of two saves, and the reader says so"


def readable(folder: Path, case: Case) -> list[object]:
    """What a reader sees in the outputs that are there; raises if one of them cannot be read."""
    seen: list[object] = []
    for name in case.outputs:
        path = folder / name
        if name in ("n", "k"):
            seen.append(rows_of(path) if is_concordance(path) else None)
        elif name == "model2vec":
            seen.append(WordVectors.load(path).fingerprint)
        elif path.suffix == ".svg" or path.name in ("gone.txt", "o.table.csv"):
            seen.append(path.read_bytes())
        elif path.is_dir():
            try:
                model = ALaCarte.load(path)
            except AlacarteError as error:
                if "was replaced while it was read" not in str(error):
                    raise
                seen.append(MIXED)
                continue
            seen.append((model.vectors.fingerprint, model.transform.matrix.tobytes(), model.form is None))
        elif path.suffix == ".index":
            index = Index.load(path)
            seen.append((index.backend, index.vectors.fingerprint))
        elif path.suffix == ".sums":
            sums = ContextSums.load(path)
            seen.append((tuple(sums.keys[:4]), sums.all.sums.tobytes()))
        else:
            try:
                seen.append(WordVectors.load(path).fingerprint)
            except BadVectors as error:
                if "is not the list of words that was written with" not in str(error):
                    raise
                seen.append(MIXED)
    return seen


def rows_of(path: Path) -> tuple[object, ...]:
    """What is in a concordance, all of which is compared with its digests."""
    opened = Concordance(path)
    opened.verify()
    return len(opened), opened.tokens, str(list(opened.value_counts("year"))), str(opened.lines("new"))


@dataclass
class World:
    """A folder of inputs, what each case makes of it, and how long it takes when nobody disturbs it."""

    place: Path
    inputs: Path
    expected: dict[str, dict[str, object]]
    left: dict[str, set[str]]
    before: dict[str, list[object]]
    after: dict[str, list[object]]
    seconds: dict[str, float]

    def fresh(self) -> Path:
        folder = self.place / "run"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.inputs, folder)
        return folder


@contextmanager
def world(place: str | None, cases: list[Case]) -> Iterator[World]:
    """Inputs, and every case run once, undisturbed."""
    small_blocks()
    with TemporaryDirectory(dir=place or ("/dev/shm" if Path("/dev/shm").is_dir() else None)) as name:
        root = Path(name)
        for part in ("inputs", "disturbed/temporary"):
            (root / part).mkdir(parents=True)
        os.environ["XDG_CACHE_HOME"] = str(root / "cache")
        tempfile.tempdir = str(root / "disturbed" / "temporary")
        shim().folder = str(root / "disturbed").encode()
        make_inputs(root / "inputs")
        made = World(root / "disturbed", root / "inputs", {}, {}, {}, {}, {})
        for case in cases:
            folder = made.fresh()
            made.before[case.name] = readable(folder, case)
            with suppress(SystemExit):  # once here, so that every child finds it imported and compiled
                _here(case, folder)
            folder = made.fresh()
            begun = time.perf_counter()
            code = wait(start(case, folder))
            made.seconds[case.name] = time.perf_counter() - begun
            if code != 0:
                raise SystemExit(f"{case.name}: {said()}")
            made.expected[case.name] = bits(folder, case.outputs)
            made.left[case.name] = listing(folder)
            made.after[case.name] = readable(folder, case)
        yield made
        tempfile.tempdir = None


def _here(case: Case, folder: Path) -> None:
    here, given = Path.cwd(), sys.stdin
    os.chdir(folder)
    try:
        sys.stdin = Path(case.stdin or os.devnull).open(encoding="utf-8")  # noqa: SIM115
        app(arguments(case, 1), prog_name="alc")
    finally:
        sys.stdin.close()
        sys.stdin = given
        os.chdir(here)


# ------------------------------------------------------------------------------------------- what is disturbed


def count_calls(case: Case, folder: Path, kinds: int) -> int:
    """How many system calls of some kinds a run makes that nobody disturbs."""
    assert wait(start(case, folder, prepare=lambda: shim().count(kinds))) == 0, said()
    return shim().number


def table(rows: list[tuple[object, ...]], names: tuple[str, ...]) -> str:
    """A table in Markdown."""
    lines = [names, tuple("---" for _ in names), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
