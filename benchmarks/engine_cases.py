"""What `engine.py` measures, one function a case, for this version of the package or another one.

    python benchmarks/engine_cases.py CASE '{"work": "FOLDER", …}'

A case prepares and warms up, and returns a function. It is called and timed once for each line of standard input; what
it gave is written as a line of JSON.
"""

import hashlib
import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numpy as np
from peak import peak_memory

import alacarte
from alacarte import ALaCarte, Corpus, Targets, Transform, WordVectors, collect, merge
from alacarte._io.progress import ProgressState
from alacarte.contexts.integers import IntegerVectors
from alacarte.contexts.reading import Reading
from alacarte.contexts.summing import SumsTally
from alacarte.contexts.weights import UNIFORM
from alacarte.passes.work import BLOCK_SIZE
from alacarte.targets.targets import Matcher
from alacarte.text.encoding import Encoded, Encoder, Lexicon
from alacarte.text.tokenizers import get_tokenizer
from alacarte.text.units import unit_of

SOURCE = str(Path(alacarte.__file__).parents[1])  # of the version that is measured
Result = dict[str, Any]
WINDOW = 10
TOKEN = re.compile(r"\w+|[^\w\s]")
SENTENCE = "a cute, fluffy blorp purred and chased the mouse"


def vectors_of(work: Path, dimension: int) -> WordVectors:
    return WordVectors.load(work / f"d{dimension}.npy")


def targets_of(work: Path, name: str) -> Targets | None:
    """Targets of one of the files that `prepare_targets` wrote; none for every word of the vectors."""
    if not name:
        return None
    return Targets(line.split(" ") for line in (work / f"targets-{name}.txt").read_text("utf-8").splitlines())


def encoder_of(lexicon: Lexicon) -> Encoder:
    encoder = Encoder(get_tokenizer("words"), lexicon)
    encoder.SMALL = 0  # type: ignore[misc]  # the kernel from the first block on
    return encoder


def encoded_blocks(path: Path, encoder: Encoder, tokens: float = np.inf) -> list[Encoded]:
    """The first blocks of a text with about so many tokens."""
    parts: list[Encoded] = []
    for block in Corpus(path).blocks():
        parts.append(encoder.encode(block))
        tokens -= parts[-1].ids.size
        if tokens <= 0:
            break
    return parts


def lines_of(path: Path, tokens: int) -> list[str]:
    """The first lines with about so many tokens."""
    lines: list[str] = []
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                lines.append(line.rstrip("\n"))
                tokens -= len(TOKEN.findall(line))
                if tokens <= 0:
                    break
    return lines


# ------------------------------------------------------------------------------------------------ encoding


def encode(work: Path, text: str) -> Callable[[], Result]:
    """From a file to ids on one core, and nothing else."""
    encoder = encoder_of(Lexicon(vectors_of(work, 50).key_to_index))

    def run() -> Result:
        return {"tokens": sum(encoder.encode(block).ids.size for block in Corpus(work / text).blocks())}

    run()
    return run


def encode_regex(work: Path, text: str, tokens: int) -> Callable[[], Result]:
    """Python's way: a regular expression and a dict."""
    index, lines = dict(vectors_of(work, 50).key_to_index), lines_of(work / text, tokens)

    def ids(line: str) -> Iterator[int]:
        return map(index.get, TOKEN.findall(line.lower()), repeat(-1))  # type: ignore[arg-type]

    return lambda: {"tokens": sum(np.fromiter(ids(line), np.int32).size for line in lines)}


def encode_readable(work: Path, text: str, tokens: int) -> Callable[[], Result]:
    """The readable tokenizer, whose ids the encoder must equal, and whether it does on this text."""
    index, lines = vectors_of(work, 50).key_to_index, lines_of(work / text, tokens)
    tokenizer, encoded = get_tokenizer("words"), encoder_of(Lexicon(index)).encode(lines).ids.tolist()

    def run() -> Result:
        ids = list(chain.from_iterable([index.get(token, -1) for token in tokenizer(line, index)] for line in lines))
        return {"tokens": len(ids), "equal": ids == encoded}

    return run


# ------------------------------------------------------------------------------------------------- kernel


def in_threads(function: Callable[[Any], None], arguments: Sequence[Any]) -> None:
    threads = [threading.Thread(target=function, args=(argument,)) for argument in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def kernel(work: Path, text: str, dimension: int, threads: int, tokens: int) -> Callable[[], Result]:
    """Ids in memory → sums, every word a target."""
    vectors = vectors_of(work, dimension)
    lexicon = Lexicon(vectors.key_to_index)
    matcher = Matcher.of_vocabulary(vectors.words, lexicon)
    blocks = encoded_blocks(work / text, encoder_of(lexicon), tokens)
    count = sum(block.ids.size for block in blocks)
    reading = Reading(WINDOW, WINDOW)
    tally = SumsTally(IntegerVectors.of(vectors, UNIFORM, reading), reading, matcher, threads=threads)
    adders = [tally.adder() for _ in range(threads)]

    def run() -> Result:
        waiting = iter(blocks)  # each thread takes the next one

        def add_blocks(add: Callable[[Encoded], None]) -> None:
            for block in waiting:
                add(block)

        in_threads(add_blocks, adders)
        return {"tokens": count}

    run()  # compiles, and touches all memory once
    return run


# ---------------------------------------------------------------------------------------------- end to end


def end_to_end(work: Path, texts: list[str], dimension: int, threads: int, targets: str = "") -> Callable[[], Result]:
    """`collect` from files, with everything that it does."""
    vectors, wanted = vectors_of(work, dimension), targets_of(work, targets)
    _ = vectors.fingerprint  # once for any number of passes
    collect(vectors, ["a b c d e f\n"] * 200_000, wanted, threads=threads)

    def run() -> Result:
        corpus = Corpus([work / text for text in texts])
        sums = collect(vectors, corpus, wanted, window=WINDOW, threads=threads, show_progress=False)
        return {"tokens": sums.tokens_read, "vectors": vectors.matrix.nbytes, "sums": 8 * len(sums) * dimension}

    return run


def plain_loops(work: Path, text: str, dimension: int, tokens: int) -> Callable[[], Result]:
    """The paper's loops as one writes them down: for each occurrence, add up the vectors around it."""
    vectors, lines = vectors_of(work, dimension), lines_of(work / text, tokens)
    index, matrix = dict(vectors.key_to_index), np.array(vectors.matrix)

    def run() -> Result:
        sums, count = np.zeros((len(vectors), dimension)), 0
        for line in lines:
            words = TOKEN.findall(line.lower())
            for i, word in enumerate(words):
                target = index.get(word)
                if target is None:
                    continue
                around = words[max(0, i - WINDOW) : i] + words[i + 1 : i + 1 + WINDOW]
                rows = [index[other] for other in around if other in index]
                if rows:
                    sums[target] += matrix[rows].sum(axis=0)
            count += len(words)
        return {"tokens": count}

    return run


def profile(work: Path, text: str, dimension: int, targets: str = "") -> Callable[[], Result]:
    """Where the CPU time of one thread goes, in nanoseconds a token."""
    vectors, wanted = vectors_of(work, dimension), targets_of(work, targets)
    lexicon, reading = Lexicon(vectors.key_to_index), Reading(WINDOW, WINDOW)
    if wanted is None:
        matcher = Matcher.of_vocabulary(vectors.words, lexicon)
    else:
        matcher = wanted.compile(lexicon, get_tokenizer("words"))
    encoder, add = (
        encoder_of(lexicon),
        SumsTally(IntegerVectors.of(vectors, UNIFORM, reading), reading, matcher).adder(),
    )

    def run() -> Result:
        spent = dict.fromkeys(("read", "digest of units", "encode", "match", "sum"), 0.0)
        count, blocks = 0, Corpus(work / text).blocks()

        def timed(step: str, function: Callable[..., Any], *arguments: Any) -> Any:
            began = time.thread_time()
            result = function(*arguments)
            spent[step] += time.thread_time() - began
            return result

        while (block := timed("read", next, blocks, None)) is not None:
            timed("digest of units", unit_of, block)
            encoded = timed("encode", encoder.encode, block)
            if wanted is not None:
                timed("match", matcher.match, encoded)
            timed("sum", add, encoded)
            count += encoded.ids.size
        spent["sum"] -= spent["match"]  # which adding does again
        return {"tokens": count, "nanoseconds": {step: 1e9 * seconds / count for step, seconds in spent.items()}}

    run()
    return run


# ---------------------------------------------------------------------------------------- start, one sentence


def command(work: Path, name: str, vectors: str) -> Callable[[], Result]:
    """CPU seconds of one command, from the start of Python to its end: `alc fit` on 1 MB, `alc embed`, an import."""
    model = str(work / f"model-{hashlib.blake2b(SOURCE.encode()).hexdigest()[:8]}-{Path(vectors).name}")
    python, alc = [sys.executable, "-c"], [sys.executable, "-m", "alacarte"]
    fit = [*alc, "fit", "--vectors", vectors, "--corpus", str(work / "1MB.txt"), "--out", model]
    chosen = {
        "fit": fit,
        "embed": [*alc, "embed", "--model", model, "--word", "blorp", "--context", SENTENCE],
        "import": [*python, "import alacarte"],
    }[name]

    def run(arguments: list[str] = chosen) -> Result:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(arguments, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return {"seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}

    if name == "embed":
        run(fit)
    run()
    return run


def sentence(work: Path, dimension: int, target: str | None) -> Callable[[], Result]:
    """One sentence of 26 tokens → a vector, in process: the whole sentence, or the window of a word."""
    draw = np.random.default_rng(0)
    words = [f"w{i}" for i in range(50_000)]
    vectors = WordVectors(words, draw.normal(size=(len(words), dimension)))
    model = ALaCarte(vectors, Transform(draw.normal(size=(dimension, dimension))))
    text = " ".join([*draw.choice(words, 20), "zorg", *draw.choice(words, 5)])

    def run() -> Result:
        best = np.inf
        for _ in range(10):
            began = time.perf_counter()
            for _ in range(200):
                model.embed(text, target=target)
            best = min(best, (time.perf_counter() - began) / 200)
        return {"seconds": best}

    run()
    return run


def nearest(work: Path, dimension: int, threads: int) -> Callable[[], Result]:
    """The ten nearest of all words to a vector, asked by several threads at a time: how long each waits."""
    vectors, draw, number = vectors_of(work, dimension), np.random.default_rng(0), 10
    queries = draw.normal(size=(threads, number, dimension))

    def ask(several: Any) -> None:
        for query in several:
            vectors.nearest(query)

    def run() -> Result:
        began = time.perf_counter()
        in_threads(ask, queries)
        return {"seconds": (time.perf_counter() - began) / number}

    run()
    return run


# -------------------------------------------------------------------------------------------- exactness


def same_bits(work: Path, text: str, dimension: int, targets: str = "") -> Callable[[], Result]:
    """A digest of the sums for each of many ways to collect them, and whether (a + b) − b == a."""
    vectors, wanted = vectors_of(work, dimension), targets_of(work, targets)

    def sums_of(**options: Any) -> Any:
        return collect(vectors, work / text, wanted, window=WINDOW, show_progress=False, **options)

    def resumed(first: int, second: int) -> Any:
        def stop(state: ProgressState) -> None:
            if state.done > (work / text).stat().st_size // 3:
                raise KeyboardInterrupt

        with tempfile.TemporaryDirectory(dir=work) as folder:
            options = {"checkpoint": Path(folder) / "checkpoint", "block_size": BLOCK_SIZE // 4}
            try:
                sums_of(threads=first, callback=stop, **options)
            except KeyboardInterrupt:
                return sums_of(threads=second, **options)
        raise AssertionError("the pass was over before it could be interrupted")

    def run() -> Result:
        digests = {f"{threads} threads": digest(sums_of(threads=threads)) for threads in (1, 2, 3, 5, 16)}
        for size in (1 << 15, 1 << 18, 1 << 23):
            digests[f"blocks of {size:,} bytes"] = digest(sums_of(threads=2, block_size=size))
        shards = [sums_of(threads=2, shard=(number, 5)) for number in range(1, 6)]
        for seed in (1, 2):
            digests[f"5 shards, order {seed}"] = digest(merge(random.Random(seed).sample(shards, 5)))
        first, second = shards[:2]
        taken_away = (first + second) - second == first
        for before, after in ((2, 1), (1, 16)):
            digests[f"interrupted at {before} threads, resumed with {after}"] = digest(resumed(before, after))
        return {"digests": digests, "taken away": taken_away}

    return run


def digest(sums: Any) -> str:
    """Of the keys, and of the sums and the four counts of each."""
    content = hashlib.sha256("\n".join(sums.keys).encode())
    for name in ("sums", "totals", "tokens", "occurrences", "contexts"):
        content.update(getattr(sums.all, name).tobytes())
    return content.hexdigest()[:16]


def difference(work: Path, text: str, dimension: int, heavy: bool = False) -> Callable[[], Result]:
    """How far sums lie from those made in float64: counts of all pairs of words, times the vectors."""
    from scipy import sparse

    vectors = vectors_of(work, dimension)
    if heavy:
        values = np.random.default_rng(2).standard_t(2, size=(len(vectors), dimension)).astype(np.float32)
        vectors = WordVectors(vectors.words, values)

    def run() -> Result:
        blocks = encoded_blocks(work / text, encoder_of(Lexicon(vectors.key_to_index)))
        ids = np.concatenate([block.ids for block in blocks])
        lengths = np.concatenate([np.diff(block.offsets) for block in blocks])
        document = np.repeat(np.arange(len(lengths)), lengths)
        size = len(vectors)
        pairs: Any = sparse.csr_matrix((size, size))
        for apart in range(1, WINDOW + 1):
            left, right = ids[:-apart], ids[apart:]
            both = (left >= 0) & (right >= 0) & (document[:-apart] == document[apart:])
            pairs = pairs + sparse.csr_matrix((np.ones(both.sum()), (left[both], right[both])), shape=(size, size))
        met = np.unique(ids[ids >= 0])
        exact = (pairs + pairs.T)[met] @ vectors.matrix.astype(np.float64)
        off = np.abs(collect(vectors, work / text, window=WINDOW, show_progress=False).vectors(met) - exact)
        length = np.linalg.norm(exact, axis=1)
        off, length = off[length > 0], length[length > 0]
        return {
            "tokens": int(ids.size),
            "largest value": float((off.max(axis=1) / length).max()),
            "length": float((np.linalg.norm(off, axis=1) / length).max()),
        }

    return run


# --------------------------------------------------------------------------------------------- preparation


def prepare_targets(work: Path, text: str, most: int) -> Callable[[], Result]:
    """Files of targets from the text itself: 10 words of middling frequency, the 10k and 1M commonest n-grams."""
    words = vectors_of(work, 50).words
    index = {word: row for row, word in enumerate(words)}

    def run() -> Result:
        ids = np.concatenate([block.ids for block in encoded_blocks(work / text, encoder_of(Lexicon(index)))])
        counts = np.bincount(ids[ids >= 0], minlength=len(words))
        middling = np.argsort(-counts, kind="stable")[1000:11000:1000, None]
        kinds, how_often = zip(*(ngrams_of(ids.astype(np.int64), n, len(words)) for n in (2, 3)), strict=True)
        chosen = np.argsort(-np.concatenate(how_often), kind="stable")[:most]
        pairs, triples = kinds
        ngrams = [pairs[place] if place < len(pairs) else triples[place - len(pairs)] for place in chosen]
        for name, rows in (("10", middling), ("10k", ngrams[:10_000]), ("1M", ngrams)):
            lines = [" ".join(words[row] for row in ngram.tolist()) for ngram in rows]
            (work / f"targets-{name}.txt").write_text("\n".join(lines), encoding="utf-8")
        return {"targets": len(ngrams), "rarest": int(np.concatenate(how_often)[chosen[-1]])}

    return run


def ngrams_of(ids: Any, n: int, size: int) -> tuple[Any, Any]:
    """(rows of word ids, how often each occurs) of all n-grams of words that have a vector."""
    columns = np.stack([ids[first : ids.size - n + 1 + first] for first in range(n)])
    columns = columns[:, (columns >= 0).all(axis=0)]
    codes, counts = np.unique(np.ravel_multi_index(tuple(columns), (size,) * n), return_counts=True)
    return np.stack(np.unravel_index(codes, (size,) * n), axis=1), counts


CASES: tuple[Callable[..., Callable[[], Result]], ...] = (
    encode,
    encode_regex,
    encode_readable,
    kernel,
    end_to_end,
    plain_loops,
    profile,
    command,
    nearest,
    sentence,
    same_bits,
    difference,
    prepare_targets,
)


def main() -> None:
    options = json.loads(sys.argv[2])
    run = {case.__name__: case for case in CASES}[sys.argv[1]](Path(options.pop("work")), **options)
    print(json.dumps({"ready": SOURCE}), flush=True)
    for _ in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        result = run()
        measured = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "memory": peak_memory()}
        print(json.dumps({**measured, **result}), flush=True)


if __name__ == "__main__":
    main()
