"""The commands that `torture.py` disturbs, what they read and write, and how to run them in a process of their own.

One process imports and compiles everything once and forks a child for each run of a command.
"""

import bz2
import io
import json
import lzma
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

import numpy as np

from alacarte import ALaCarte, ContextSums, WordVectors, collect
from alacarte._io import files as writing
from alacarte.cli import app
from alacarte.contexts.summing import private_memory, row_stride, widest_row
from alacarte.errors import AlacarteError, BadVectors
from alacarte.passes import work
from alacarte.passes.collect import BYTES_OF_KEY, BYTES_OF_WORD, PROGRAM
from alacarte.passes.work import Work
from alacarte.vectors.neighbours import Index

WORDS = [f"w{number}" for number in range(300)]
DIMENSION = 40
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
    in_place: bool = False  # an update that, once done, cannot be done again


CHECKPOINTED = "--checkpoint cp --checkpoint-every 0 --threads {threads} --overwrite -q"
FIT = "fit --vectors v.safetensors --weighting none --save-sums o.sums --out m"
INDUCE = "induce --model old --words targets.txt --save-sums o.sums"
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
    Case(
        "update",
        f"induce --model old --corpus 4.txt --update t.sums --save-sums o.sums --out o.safetensors {CHECKPOINTED}",
        ("o.safetensors", "o.sums"),
    ),
    Case(
        "update in place",
        "induce --model old --corpus 4.txt --update t.sums --save-sums t.sums --out o.safetensors --overwrite -q",
        ("o.safetensors", "t.sums"),
        in_place=True,
    ),
    Case("merge", "merge t.sums u.sums --out o.sums -q", ("o.sums",)),
    Case("index", "convert v.vec i.index -q", ("i.index",)),
    *(
        Case(f"convert to {name}", f"convert v.vec {name} --limit 200 --overwrite -q", (name,))
        for name in ("o.safetensors", "o.npy", "o.vec", "o.txt.gz", "o.bin")
    ),
]
BY_NAME = {case.name: case for case in CASES}


def some_text(rng: np.random.Generator, lines: int) -> str:
    words = [*WORDS, "new", "newer"]
    return "\n".join(" ".join(rng.choice(words, 20)) for _ in range(lines)) + "\n"


def make_inputs(folder: Path) -> None:
    """Vectors, texts (plain and compressed), targets, sums; and an older one of every output, which is replaced."""
    rng = np.random.default_rng(7)
    vectors = WordVectors(WORDS, rng.normal(size=(len(WORDS), DIMENSION)).astype(np.float32))
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
    (folder / "targets.txt").write_text("\n".join(TARGETS) + "\n")
    (folder / "gone.txt").write_text("old\n")
    here = Path.cwd()
    os.chdir(folder)  # so that the names of texts in sums are the same wherever the folder is
    try:
        whole = collect(vectors, "1.txt")
        ALaCarte.from_sums(vectors, whole, weighting="none").save("old", include_vectors=True)
        ALaCarte.from_sums(older, collect(older, "1.txt"), weighting="none", form_corpus="1.txt").save("m")
        collect(vectors, "1.txt", TARGETS).save("t.sums")
        collect(vectors, "4.txt", TARGETS).save("u.sums")
        collect(vectors, "1.txt", ["w5"]).save("o.sums")
    finally:
        os.chdir(here)
    Index.build(older, backend="exact").save(folder / "i.index")


def memory(rows: int, targets: int, threads: int) -> int:
    """Bytes with which twelve dimensions of so many rows of sums are made at a time."""
    integers = 4 * (len(WORDS) + 1) * 16 * -(-(DIMENSION + 2) // 16)
    private = private_memory(rows, row_stride(DIMENSION), threads, chosen=targets > 0)
    vectors = (4 * DIMENSION + BYTES_OF_WORD) * len(WORDS)
    others = PROGRAM + vectors + integers + private + BYTES_OF_KEY * targets + (threads + 1) * 30 * BLOCK
    assert widest_row(row_stride(12)) == 12
    return others + 8 * rows * row_stride(12)


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
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


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
        if path.is_dir():
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
        elif name != "gone.txt":
            try:
                seen.append(WordVectors.load(path).fingerprint)
            except BadVectors as error:
                if "is not the list of words that was written with" not in str(error):
                    raise
                seen.append(MIXED)
    return seen


@dataclass
class World:
    """A folder of inputs, what each case makes of it, and how long it takes when nobody disturbs it."""

    root: Path
    inputs: Path
    expected: dict[str, dict[str, object]]
    left: dict[str, set[str]]
    before: dict[str, list[object]]
    after: dict[str, list[object]]
    seconds: dict[str, float]

    def fresh(self) -> Path:
        folder = self.root / "run"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.inputs, folder)
        return folder


@contextmanager
def world(place: str | None, cases: list[Case]) -> Iterator[World]:
    """Inputs, and every case run once, undisturbed."""
    small_blocks()
    with TemporaryDirectory(dir=place or ("/dev/shm" if Path("/dev/shm").is_dir() else None)) as name:
        root = Path(name)
        (root / "inputs").mkdir()
        os.environ["XDG_CACHE_HOME"] = str(root / "cache")
        make_inputs(root / "inputs")
        made = World(root, root / "inputs", {}, {}, {}, {}, {})
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


# ------------------------------------------------------------------------------------- something happens at a write

CHANGES = {"os.rename", "os.remove", "os.chmod", "os.chown", "os.mkdir", "os.rmdir", "os.truncate", "fcntl.flock"}


class Watched(io.FileIO):
    """A file whose every write is an event."""

    happen: Callable[[str, "Watched", bytes], None]

    def write(self, data: object) -> int:  # type: ignore[override]
        self.happen("write", self, bytes(data))  # type: ignore[call-overload]
        return super().write(data)  # type: ignore[arg-type]


def at_every_change(folder: Path, happen: Callable[[str, Watched | None, bytes], None]) -> None:
    """Call a function before each change to a file system: opening for writing, each write, fsync, rename, removal, …

    For a child process: it cannot be undone.
    """

    def audit(event: str, details: tuple[object, ...]) -> None:
        opens = event == "open" and isinstance(details[2], int) and details[2] & (os.O_WRONLY | os.O_RDWR)
        if event in CHANGES or opens:
            happen(event, None, b"")

    def watched_open(name: Path, mode: str, opener: Callable[[str, int], int]) -> io.BufferedWriter:
        raw = Watched(name, mode.replace("b", ""), opener=opener)
        raw.happen = happen
        return io.BufferedWriter(raw)

    real_fsync = os.fsync

    def watched_fsync(number: int) -> None:
        happen("fsync", None, b"")
        real_fsync(number)

    writing.open = watched_open  # type: ignore[attr-defined]
    os.fsync = watched_fsync
    sys.addaudithook(audit)


def count_changes(case: Case, folder: Path) -> int:
    """How many changes a run makes that nobody disturbs."""
    counter = folder.with_name("count")

    def prepare() -> None:
        total = [0]
        number = os.open(counter, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)

        def happen(event: str, file: Watched | None, data: bytes) -> None:
            total[0] += 1
            os.pwrite(number, str(total[0]).encode(), 0)

        at_every_change(folder, happen)

    assert wait(start(case, folder, prepare=prepare)) == 0, said()
    return int(counter.read_text())


def table(rows: list[tuple[object, ...]], names: tuple[str, ...]) -> str:
    """A table in Markdown."""
    lines = [names, tuple("---" for _ in names), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
