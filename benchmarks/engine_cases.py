"""What `engine.py` measures, one function a case; each runs in a process of its own.

The rivals are here too: the paper's loops in plain Python, a sparse co-occurrence matrix, and the floor that any
method pays, which is to read one row and add it to another for each token.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numba
import numpy as np
from alacarte.passes.accumulate import Accumulator, Windows, Work, dimension_blocks, prepare

from alacarte import Corpus, Targets, WordVectors, collect
from alacarte._io.compiled import prefetch
from alacarte.contexts.windows import add_windows
from alacarte.passes import accumulate as _accumulate
from alacarte.passes.memory import peak_memory
from alacarte.passes.pipeline import in_background, in_order
from alacarte.targets.targets import Matcher
from alacarte.text.encoding import Encoded, Encoder, Lexicon
from alacarte.text.tokenizers import get_tokenizer

WINDOW = 10
TOKEN = re.compile(r"\w+|[^\w\s]")
CASES: dict[str, Callable[..., dict[str, Any]]] = {}


def case(function: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    CASES[function.__name__] = function
    return function


def best(function: Callable[[], Any], times: int) -> dict[str, Any]:
    """The best wall time and the best CPU time of several runs, and what the last returned."""
    walls, cpus, result = [], [], None
    for _ in range(times):
        result = None  # so that two results are never held at once
        wall, cpu = time.perf_counter(), time.process_time()
        result = function()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return {"wall": min(walls), "cpu": min(cpus), "walls": walls, "result": result}


def told(measured: dict[str, Any], tokens: int, **more: Any) -> dict[str, Any]:
    measured.pop("result", None)
    return {**measured, "tokens": tokens, **more}


def vectors_of(work: Path, dimension: int) -> WordVectors:
    return WordVectors.load(work / f"d{dimension}.safetensors")


def lines_of(path: Path, most: int) -> list[str]:
    """The first lines with about `most` tokens."""
    lines, count = [], 0
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                lines.append(line)
                count += len(TOKEN.findall(line))
                if count >= most:
                    break
    return lines


# ------------------------------------------------------------------------------------------------ encoding


def encoded_blocks(path: Path, encoder: Encoder, threads: int) -> Iterator[Encoded]:
    blocks = Corpus(path).blocks()
    if threads == 1:
        return map(encoder.encode, blocks)
    return in_order(encoder.encode, in_background(blocks, threads), threads)


@case
def encode(work: Path, text: str, threads: int, times: int) -> dict[str, Any]:
    """From a file to ids, and nothing else."""
    encoder = Encoder(get_tokenizer("words"), Lexicon(vectors_of(work, 50).key_to_index))
    encoder.SMALL = 0  # type: ignore[misc]

    def run() -> int:
        return sum(part.ids.size for part in encoded_blocks(work / text, encoder, threads))

    run()  # compiles
    measured = best(run, times)
    return told(measured, measured["result"])


@case
def encode_regex(work: Path, text: str, tokens: int, times: int) -> dict[str, Any]:
    """Python's way: a regular expression and a dict, one core."""
    index, lines = vectors_of(work, 50).key_to_index, lines_of(work / text, tokens)

    def run() -> int:
        return sum(np.fromiter(by_regex(line, index), np.int32).size for line in lines)

    measured = best(run, times)
    return told(measured, measured["result"])


def by_regex(line: str, index: dict[str, int]) -> Iterator[int]:
    return map(index.get, TOKEN.findall(line.lower()), repeat(-1))  # type: ignore[return-value, arg-type]


@case
def encode_reference(work: Path, text: str, tokens: int, times: int) -> dict[str, Any]:
    """The readable tokenizer that the kernel must equal, and whether it does on this text."""
    index, lines = vectors_of(work, 50).key_to_index, lines_of(work / text, tokens)
    tokenizer = get_tokenizer("words")

    def run() -> list[list[int]]:
        return [[index.get(token, -1) for token in tokenizer(line, index)] for line in lines]

    measured = best(run, times)
    reference = list(chain.from_iterable(measured["result"]))
    encoder = Encoder(tokenizer, Lexicon(index))
    encoder.SMALL = 0  # type: ignore[misc]
    equal = encoder.encode([line.rstrip("\n") for line in lines]).ids.tolist() == reference
    return told(measured, len(reference), equal=equal)


# ------------------------------------------------------------------------------------------------- kernels


def works_of(work: Path, text: str, vectors: WordVectors, tokens: int) -> tuple[list[Work], int]:
    """The text as the kernels get it, every word of the vectors a target."""
    lexicon = Lexicon(vectors.key_to_index)
    matcher, encoder = Matcher.of_vocabulary(vectors.words, lexicon), Encoder(get_tokenizer("words"), lexicon)
    works, count = [], 0
    for part in encoded_blocks(work / text, encoder, 1):
        works.append(prepare(Encoded(part.ids.copy(), part.offsets, []), matcher.match(part), len(vectors), True))
        count += part.ids.size
        if count >= tokens:
            break
    return works, count


def windows(uniform: bool = True) -> Windows:
    return Windows(np.ones(WINDOW), np.ones(WINDOW), uniform, False, np.empty(0, np.float32))


@case
def kernel(
    work: Path, text: str, dimension: int, threads: int, tokens: int, times: int, corners: bool = True
) -> dict[str, Any]:
    """Ids in memory → sums, every word a target; without `corners`, common words lie where the others do."""
    if not corners:
        _accumulate.HOT = 0
    vectors = vectors_of(work, dimension)
    works, count = works_of(work, text, vectors, tokens)
    accumulator = Accumulator(vectors.matrix, windows(), len(vectors), threads)

    def run() -> None:
        for part in works:
            accumulator.add(part, len(vectors))
        accumulator.wait()

    run()  # compiles, and touches all memory once
    return told(best(run, times), count)


@case
def gathered(work: Path, text: str, dimension: int, tokens: int, times: int) -> dict[str, Any]:
    """The same with each window summed from its rows rather than slid along, and how far the two are apart."""
    vectors = vectors_of(work, dimension)
    works, count = works_of(work, text, vectors, tokens)
    results = []
    for uniform in (True, False):
        accumulator = Accumulator(vectors.matrix, windows(uniform), len(vectors), 1, counting=False)
        accumulator.add(works[0], len(vectors))  # compiles; added once more than the others, in both

        def run(accumulator: Accumulator = accumulator) -> None:
            for part in works:
                accumulator.add(part, len(vectors))
            accumulator.wait()

        measured = best(run, times)
        results.append((measured, accumulator.sums))
    (_, slid), (measured, exact) = results
    scale = np.abs(exact).max(axis=1)
    met = scale > 0
    apart = float((np.abs(slid - exact).max(axis=1)[met] / scale[met]).max())
    return told(measured, count, apart=apart)


@case
def drift(work: Path, text: str, dimension: int, tokens: int, times: int) -> dict[str, Any]:
    """The worst case for a running sum: the whole text as one document."""
    vectors = vectors_of(work, dimension)
    works, count = works_of(work, text, vectors, tokens)
    ids = np.concatenate([part.ids for part in works])
    matcher = Matcher.of_vocabulary(vectors.words, Lexicon(vectors.key_to_index))
    one = Encoded(ids, np.array([0, ids.size]), [])
    whole = prepare(one, matcher.match(one), len(vectors), True)
    sums = []
    for uniform in (True, False):
        accumulator = Accumulator(vectors.matrix, windows(uniform), len(vectors), 1, counting=False)
        accumulator.add(whole, len(vectors))
        sums.append(accumulator.sums)
    slid, exact = sums
    scale = np.abs(exact).max(axis=1)
    met = scale > 0
    return {"tokens": count, "apart": float((np.abs(slid - exact).max(axis=1)[met] / scale[met]).max())}


@case
def private_sums(work: Path, text: str, dimension: int, threads: int, tokens: int, times: int) -> dict[str, Any]:
    """The other way to use several cores: each sums blocks of its own into sums of its own, which are added."""
    vectors = vectors_of(work, dimension)
    works, count = works_of(work, text, vectors, tokens)
    how = windows()

    def part(mine: list[Work], sums: np.ndarray) -> None:
        for one in mine:
            add_windows(
                *one.where, vectors.matrix, how.weights, how.left, how.right, True, False, sums.reshape(-1), 0,
                vectors.dimension, 0, 0,
            )  # fmt: skip

    def run() -> None:
        totals = [np.zeros((len(vectors), vectors.dimension)) for _ in range(threads)]
        helpers = [threading.Thread(target=part, args=(works[i::threads], sums)) for i, sums in enumerate(totals)]
        for helper in helpers:
            helper.start()
        for helper in helpers:
            helper.join()
        for other in totals[1:]:
            totals[0] += other

    part(works[:1], np.zeros((len(vectors), vectors.dimension)))
    return told(best(run, times), count, rss=peak_memory())


@numba.njit(nogil=True)
def add_rows(ids, rows, sums, low, high):  # type: ignore[no-untyped-def]
    """The floor: for each token, its row is read and added to the row of the token before it."""
    known, stride = rows.shape
    rows_flat, sums_flat = rows.reshape(-1), sums.reshape(-1)
    for i in range(1, ids.size):
        target, context = ids[i - 1], ids[i]
        if 0 <= target < known and 0 <= context < known:
            at, begin = target * stride + low, context * stride + low
            for j in range(high - low):
                sums_flat[np.uint64(at + j)] += rows_flat[np.uint64(begin + j)]


@numba.njit(nogil=True)
def add_rows_ahead(ids, rows, sums, low, high):  # type: ignore[no-untyped-def]
    """The same, with rows asked for before they are needed."""
    known, stride = rows.shape
    rows_flat, sums_flat = rows.reshape(-1), sums.reshape(-1)
    for i in range(1, ids.size):
        target, context = ids[i - 1], ids[i]
        if i + 6 < ids.size and 0 <= ids[i + 6] < known:
            for j in range(0, high - low, 16):
                prefetch(rows_flat, ids[i + 6] * stride + low + j)
            for j in range(0, high - low, 8):
                prefetch(sums_flat, ids[i + 6] * stride + low + j)
        if 0 <= target < known and 0 <= context < known:
            at, begin = target * stride + low, context * stride + low
            for j in range(high - low):
                sums_flat[np.uint64(at + j)] += rows_flat[np.uint64(begin + j)]


@case
def floor(
    work: Path, text: str, dimension: int, threads: int, tokens: int, times: int, ahead: bool = False,
    single: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """What cannot be avoided. `ahead`: with prefetch; `single`: with float32 sums."""
    vectors = vectors_of(work, dimension)
    works, count = works_of(work, text, vectors, tokens)
    sums = np.zeros((len(vectors), dimension), dtype=np.float32 if single else np.float64)
    add = add_rows_ahead if ahead else add_rows
    add(works[0].ids[:100], vectors.matrix, sums, 0, dimension)

    def part(low: int, high: int) -> None:
        for one in works:
            add(one.ids, vectors.matrix, sums, low, high)

    def run() -> None:
        blocks = dimension_blocks(dimension, threads)
        helpers = [threading.Thread(target=part, args=block) for block in blocks]
        for helper in helpers:
            helper.start()
        for helper in helpers:
            helper.join()

    run()  # touches all memory once, as the kernel has too by then
    return told(best(run, times), count)


@numba.njit(nogil=True)
def add_rows_of_matches(ids, starts, targets, rows, sums, low, high):  # type: ignore[no-untyped-def]
    """The floor for given matches: one row is read and added to the target's, both asked for ahead."""
    known, stride = rows.shape
    rows_flat, sums_flat = rows.reshape(-1), sums.reshape(-1)
    for m in range(starts.size):
        if m + 6 < starts.size:
            for j in range(0, high - low, 8):
                prefetch(sums_flat, targets[m + 6] * stride + low + j)
        if 0 <= ids[starts[m]] < known:
            at, begin = targets[m] * stride + low, ids[starts[m]] * stride + low
            for j in range(high - low):
                sums_flat[np.uint64(at + j)] += rows_flat[np.uint64(begin + j)]


@case
def floor_of_matches(
    work: Path, text: str, dimension: int, threads: int, tokens: int, times: int, targets: str
) -> dict[str, Any]:
    """What cannot be avoided for n-grams that are already found: a row added to each one's sum."""
    vectors = vectors_of(work, dimension)
    lexicon, tokenizer = Lexicon(vectors.key_to_index), get_tokenizer("words")
    matcher = Targets(line.split(" ") for line in (work / targets).read_text().splitlines()).compile(lexicon, tokenizer)
    encoder, parts, count = Encoder(tokenizer, lexicon), [], 0
    for encoded in encoded_blocks(work / text, encoder, 1):
        found = matcher.match(encoded)
        parts.append((encoded.ids.copy(), found.starts.copy(), found.targets.copy()))
        count += encoded.ids.size
        if count >= tokens:
            break
    sums = np.zeros((len(matcher.keys), dimension))

    def part(low: int, high: int) -> None:
        for one in parts:
            add_rows_of_matches(*one, vectors.matrix, sums, low, high)

    def run() -> None:
        helpers = [threading.Thread(target=part, args=block) for block in dimension_blocks(dimension, threads)]
        for helper in helpers:
            helper.start()
        for helper in helpers:
            helper.join()

    run()
    return told(best(run, times), count, matches=sum(len(one[1]) for one in parts) / count)


# ---------------------------------------------------------------------------------------------- end to end


@case
def whole_way(work: Path, text: str, dimension: int, threads: int, times: int, targets: str = "") -> dict[str, Any]:
    """collect from a file; `targets` names a file of them (none: every word of the vectors)."""
    vectors = vectors_of(work, dimension)
    began = time.perf_counter()
    wanted = None if not targets else Targets(line.split(" ") for line in (work / targets).read_text().splitlines())
    made = time.perf_counter() - began
    began = time.perf_counter()
    _ = vectors.fingerprint  # once for any number of passes
    fingerprint = time.perf_counter() - began
    compiled = {"wall": 0.0, "cpu": 0.0}
    if wanted is not None:
        compiled = best(lambda: wanted.compile(Lexicon(vectors.key_to_index), get_tokenizer("words")), times)
    collect(vectors, [line * 200 for line in ("a b c\n", "a b d\n")] * 100, ["c"], threads=threads)
    before = peak_memory()

    def run() -> tuple[int, int]:
        sums = collect(vectors, work / text, wanted, window=WINDOW, threads=threads, show_progress=False)
        return sums.tokens_read, sums.sums.nbytes

    measured = best(run, times)
    count, size = measured["result"]
    return told(
        measured, count, rss=peak_memory(), rss_before=before, vectors=vectors.matrix.nbytes, sums=size,
        fingerprint=fingerprint, compiled=compiled["wall"], compiled_cpu=compiled["cpu"], made=made,
    )  # fmt: skip


@case
def plain_loops(work: Path, text: str, dimension: int, tokens: int, times: int) -> dict[str, Any]:
    """The paper's loops as one writes them down: for each occurrence, add up the vectors around it."""
    vectors = vectors_of(work, dimension)
    index, matrix, lines = vectors.key_to_index, np.array(vectors.matrix), lines_of(work / text, tokens)

    def run() -> int:
        sums, count = np.zeros((len(vectors), dimension)), 0
        for line in lines:
            words = TOKEN.findall(line.lower())
            for i, word in enumerate(words):
                target = index.get(word)
                if target is None:
                    continue
                around = words[max(0, i - WINDOW) : i] + words[i + 1 : i + 1 + WINDOW]
                found = [index[other] for other in around if other in index]
                if found:
                    sums[target] += matrix[found].sum(axis=0)
            count += len(words)
        return count

    measured = best(run, times)
    return told(measured, measured["result"])


@case
def sparse_matrix(work: Path, text: str, dimension: int, tokens: int, times: int) -> dict[str, Any]:
    """The co-occurrence matrix in memory, times the vectors."""
    from scipy import sparse

    vectors = vectors_of(work, dimension)
    index, matrix, lines = vectors.key_to_index, np.array(vectors.matrix), lines_of(work / text, tokens)
    size = len(vectors)
    encoding = [0.0]

    def run() -> int:
        began = time.perf_counter()
        documents = [np.fromiter(by_regex(line, index), np.int32) for line in lines]
        ids = np.concatenate(documents)
        number = np.repeat(np.arange(len(documents)), [len(document) for document in documents])
        encoding[0] = time.perf_counter() - began
        total = sparse.csr_matrix((size, size), dtype=np.float32)
        for first in range(0, ids.size, 4_000_000):  # so that the parts of the matrix fit in memory
            mine, whose = ids[first : first + 4_000_000], number[first : first + 4_000_000]
            rows, columns = [], []
            for distance in range(1, WINDOW + 1):
                left, right = mine[:-distance], mine[distance:]
                both = (left >= 0) & (right >= 0) & (whose[:-distance] == whose[distance:])
                rows += [left[both], right[both]]
                columns += [right[both], left[both]]
            where = np.concatenate(rows), np.concatenate(columns)
            total = total + sparse.csr_matrix((np.ones(where[0].size, np.float32), where), shape=(size, size))
        (total @ matrix).sum()
        return int(ids.size)

    measured = best(run, times)
    return told(measured, measured["result"], encoding=encoding[0], rss=peak_memory())


@case
def profile(work: Path, text: str, dimension: int, times: int, targets: str = "") -> dict[str, Any]:
    """Where the time goes, one thread, step by step."""
    vectors = vectors_of(work, dimension)
    lexicon, tokenizer = Lexicon(vectors.key_to_index), get_tokenizer("words")
    if targets:
        wanted = Targets(line.split(" ") for line in (work / targets).read_text().splitlines())
        matcher = wanted.compile(lexicon, tokenizer)
    else:
        matcher = Matcher.of_vocabulary(vectors.words, lexicon)
    encoder = Encoder(tokenizer, lexicon)
    encoder.SMALL = 0  # type: ignore[misc]
    best_of: dict[str, float] = {}
    count = 0
    for _ in range(times):
        accumulator = Accumulator(vectors.matrix, windows(), len(matcher.keys), 1)
        steps = dict.fromkeys(("read", "encode", "match", "prepare", "sum"), 0.0)
        count, last = 0, time.process_time()
        for block in Corpus(work / text).blocks():
            marks = [time.process_time()]
            encoded = encoder.encode(block)
            marks.append(time.process_time())
            matches = matcher.match(encoded)
            marks.append(time.process_time())
            part = prepare(encoded, matches, len(vectors), True)
            marks.append(time.process_time())
            accumulator.add(part, len(matcher.keys))
            marks.append(time.process_time())
            for name, low, high in zip(steps, [last, *marks], marks, strict=False):
                steps[name] += high - low
            count, last = count + encoded.ids.size, marks[-1]
        for name, seconds in steps.items():
            best_of[name] = min(seconds, best_of.get(name, seconds))
    return {"tokens": count, "nanoseconds": {name: 1e9 * seconds / count for name, seconds in best_of.items()}}


# --------------------------------------------------------------------------------------------- preparation


@case
def prepare_targets(work: Path, text: str, most: int) -> dict[str, Any]:
    """Files of targets found in the text itself: 10 words of middling frequency, the 10k and 1M commonest n-grams."""
    vectors = vectors_of(work, 50)
    encoder = Encoder(get_tokenizer("words"), Lexicon(vectors.key_to_index))
    parts = list(encoded_blocks(work / text, encoder, 1))
    ids = np.concatenate([part.ids for part in parts]).astype(np.int64)
    words = vectors.words
    common = np.argsort(-np.bincount(ids[ids >= 0], minlength=len(words)), kind="stable")[1000:11000:1000]
    (work / "targets-10.txt").write_text("\n".join(words[i] for i in common), encoding="utf-8")
    size = len(words)
    found: list[tuple[np.ndarray, np.ndarray]] = []
    for n in (2, 3):
        columns = [ids[k : ids.size - n + 1 + k] for k in range(n)]
        sound = np.logical_and.reduce([column >= 0 for column in columns])
        codes = np.zeros(int(sound.sum()), dtype=np.int64)
        for column in columns:
            codes = codes * size + column[sound]
        found.append(np.unique(codes, return_counts=True))
    counts = np.concatenate([count for _, count in found])
    chosen = np.argsort(-counts, kind="stable")[:most]
    pairs = len(found[0][0])
    ngrams = []
    for place in chosen.tolist():
        code, n = (int(found[0][0][place]), 2) if place < pairs else (int(found[1][0][place - pairs]), 3)
        tokens = []
        for _ in range(n):
            code, token = divmod(code, size)
            tokens.append(words[token])
        ngrams.append(" ".join(reversed(tokens)))
    (work / "targets-10k.txt").write_text("\n".join(ngrams[:10_000]), encoding="utf-8")
    (work / "targets-1M.txt").write_text("\n".join(ngrams), encoding="utf-8")
    return {"tokens": int(ids.size), "targets": len(ngrams), "rarest": int(counts[chosen[-1]])}
