"""One pass over a corpus, from bytes to sums: straight through, resumable, or in little memory.

Reading, encoding and summing overlap in threads; only the summing has an order that matters, and keeps it.
"""

import os
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from alacarte._io.progress import Progress, ProgressCallback, progress
from alacarte._io.tensors import pack_words, unpack_words
from alacarte.contexts.reading import Reading
from alacarte.contexts.weights import ContextWeights
from alacarte.errors import AlacarteError, BadCheckpoint, BadCorpus
from alacarte.passes.accumulate import COUNTS, IN_HAND, Accumulator, Windows, Work, counts_by_name, prepare
from alacarte.passes.checkpoint import Checkpoint, digest
from alacarte.passes.little_memory import (
    allocate,
    dimensions_at_a_time,
    disk_space,
    keep,
    mapped,
    on_disk,
    opened,
    sum_dimensions,
    sum_in_passes,
)
from alacarte.passes.pipeline import in_background, in_order
from alacarte.targets.targets import Matcher
from alacarte.text.corpus import Block, Corpus, extent
from alacarte.text.encoding import Encoder

Singles = npt.NDArray[np.float32]
Arrays = dict[str, npt.NDArray[Any]]
Told = dict[str, Any]  # what a checkpoint says of the work done
UNITS = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
NO_LIMIT = 1 << 62  # bytes
SHOWN_EVERY = 0.2  # seconds between counts of what is covered


@dataclass(frozen=True)
class Step:
    """One block that was encoded and matched: what it adds, and what will be true when it is added."""

    work: Work
    size: int  # how many targets there are by now
    done: int  # blocks of the corpus, with this one
    checksum: int
    position: int


@dataclass
class Pass:
    """What is to be done; `amounts` tells afterwards how much text it was."""

    corpus: Corpus
    encoder: Encoder
    matcher: Matcher
    rows: Singles
    settings: Reading
    weights: ContextWeights
    threads: int
    shard: tuple[int, int] | None
    block_size: int
    shown: tuple[bool | None, ProgressCallback | None]
    amounts: dict[str, int] = field(default_factory=lambda: {"documents": 0, "tokens_read": 0, "tokens_known": 0})

    def __post_init__(self) -> None:
        if self.threads < 1:
            raise AlacarteError(f"at least one thread is needed, not {self.threads}")
        if self.shard is not None and not 1 <= self.shard[0] <= self.shard[1]:
            raise AlacarteError(f"shard {self.shard[0]} of {self.shard[1]}: parts are numbered from 1 to their number")
        self.encoder.expect(self.corpus.size or 0)
        left, right = self.settings.position_weights()
        values = np.empty(0, dtype=np.float32)
        if self.weights.values is not None:
            values = np.array(self.weights.values)
            self.rows = self.rows * values[:, None]
            self.rows.flags.writeable = False  # one type of array for the compiler
        uniform, mean = self.settings.positions == "uniform", self.settings.averaging == "context"
        self.windows = Windows(left, right, uniform, mean, values)

    # -------------------------------------------------------------------------------------------- the ways

    def straight(self, room: int | None) -> Arrays:
        """Without a checkpoint; in passes over ids on disk if `room` bytes do not hold the sums."""
        if room is not None and not self._fits(room):
            with self._steps() as steps:
                works = (self._noted(step).work for step in steps)
                return sum_in_passes(works, self.rows, self.windows, lambda: self.matcher.rows, self.threads, room)
        accumulator = self._accumulator()
        try:
            with self._steps(accumulator) as steps:
                for step in steps:
                    accumulator.add(step.work, step.size)
                    self._noted(step)
        finally:
            accumulator.close()
        return accumulator.arrays(self.matcher.rows)

    def _fits(self, room: int | None) -> bool:
        """Whether the sums will; of labels that turn up on the way nobody knows how many there will be."""
        return room is None or (not self.matcher.any_label and self._needed() <= room)

    def _needed(self) -> int:
        return 8 * self.matcher.rows * int(self.rows.shape[1])

    def resumable(self, checkpoint: Checkpoint, room: int | None) -> Arrays:
        """With a checkpoint, taken up where it stands."""
        with checkpoint.locked():
            saved = checkpoint.load()
            if saved is None and not self._fits(room):
                return self._resumable_in_passes(checkpoint, room, None)
            if saved is not None and "kept" in saved[1]:  # it was begun so, whatever memory there is now
                return self._resumable_in_passes(checkpoint, room, saved)
            if room is not None and self._needed() > room:
                raise BadCheckpoint(
                    f"{checkpoint.path} was begun with sums in memory, which need {self._needed() / 1e9:.1f} GB; "
                    "give as much, or delete it"
                )
            accumulator = self._accumulator()
            start, checksum = 0, 0
            if saved is not None:
                arrays, told = saved
                self.matcher.restore(unpack_words(arrays["keys"], arrays["key_offsets"]))
                accumulator.restore(arrays)
                del saved, arrays  # they hold the file open, which will be replaced
                self.amounts = dict(told["amounts"])
                start, checksum = told["done"], told["checksum"]
                accumulator.note = (start, checksum, told["amounts"])
                if told["complete"]:
                    accumulator.close()
                    return accumulator.arrays(self.matcher.rows)
            try:
                with self._steps(accumulator, checked=True, start=start, checksum=checksum) as steps:
                    for step in steps:
                        self._noted(step)
                        accumulator.add(step.work, step.size, (step.done, step.checksum, dict(self.amounts)))
                        if checkpoint.due:
                            accumulator.wait()
                            self._save(checkpoint, accumulator, complete=False)
            except BaseException:
                accumulator.close()
                if accumulator.note is not None:
                    self._save(checkpoint, accumulator, complete=False)
                raise
            accumulator.close()
            if accumulator.note is None:
                accumulator.note = (0, 0, self.amounts)
            self._save(checkpoint, accumulator, complete=True)
            return accumulator.arrays(self.matcher.rows)

    def _resumable_in_passes(
        self, checkpoint: Checkpoint, room: int | None, saved: tuple[Arrays, Told] | None
    ) -> Arrays:
        """The same with sums that do not fit in memory: ids, and then sums, are kept in files beside the checkpoint."""
        kept_path, sums_path = (checkpoint.path.with_name(checkpoint.path.name + end) for end in (".ids", ".sums"))
        dimension, room = self.rows.shape[1], NO_LIMIT if room is None else room
        told: Told = {"done": 0, "checksum": 0, "amounts": self.amounts, "kept": 0, "read": False, "summed": 0}
        counts = np.empty((0, len(COUNTS)))
        if saved is not None:
            arrays, told = saved
            self.matcher.restore(unpack_words(arrays["keys"], arrays["key_offsets"]))
            self.amounts, counts = dict(told["amounts"]), np.array(arrays["counts"])
            del saved, arrays  # they hold the file open, which will be replaced
        dimensions_at_a_time(self.matcher.rows, dimension, room)
        needed = {kept_path: told["kept"], sums_path: 8 * self.matcher.rows * dimension if told["summed"] else 0}
        if told["summed"] == dimension:
            del needed[kept_path]
        for path, length in needed.items():
            if length > (path.stat().st_size if path.exists() else 0):
                raise BadCheckpoint(f"{path} is not whole, and {checkpoint.path} needs it; restore it, or delete both")
        if not told["read"]:
            try:
                with disk_space(checkpoint.path.parent), opened(kept_path) as kept:
                    told = self._keep_ids(checkpoint, kept, told)
            except BaseException:
                if not checkpoint.path.exists():  # nothing to go on from
                    kept_path.unlink(missing_ok=True)
                raise
        size = self.matcher.rows
        with opened(sums_path) as file, opened(kept_path) as kept:
            if told["summed"]:
                sums = mapped(file, size, dimension)
            else:
                counts = np.zeros((size, len(COUNTS)))
                with disk_space(checkpoint.path.parent):
                    sums = allocate(file, size, dimension)
            how = (kept, self.rows, self.windows, self.threads, room, sums, counts, told["summed"])
            with progress(dimension, "dimensions", "summing", *self.shown) as bar:
                for done in sum_dimensions(*how):
                    sums.flush()
                    self._save_in_passes(checkpoint, counts, told | {"summed": done})
                    bar.update_to(done)
            sums = mapped(file, size, dimension, "c")  # what happens to the result does not happen to the file
        kept_path.unlink(missing_ok=True)
        return {"sums": sums, **counts_by_name(counts)}

    def _keep_ids(self, checkpoint: Checkpoint, kept: IO[bytes], told: Told) -> Told:
        """Read the text from where `told` says, and keep its ids and matches; what is true then."""
        kept.truncate(told["kept"])  # there may be a block that was cut off while it was written
        kept.seek(told["kept"])
        nothing = np.empty((0, len(COUNTS)))
        try:
            with self._steps(checked=True, start=told["done"], checksum=told["checksum"]) as steps:
                for step in steps:
                    keep(kept, step.work)
                    self._noted(step)
                    place = {"done": step.done, "checksum": step.checksum, "kept": kept.tell()}
                    told = told | place | {"amounts": dict(self.amounts)}
                    if checkpoint.due:
                        on_disk(kept)
                        self._save_in_passes(checkpoint, nothing, told)
            told = told | {"read": True}
        finally:
            if told["done"]:
                on_disk(kept)
                self._save_in_passes(checkpoint, nothing, told)
        return told

    def _save_in_passes(self, checkpoint: Checkpoint, counts: npt.NDArray[np.float64], told: Told) -> None:
        words, offsets = pack_words(self.matcher.keys)
        checkpoint.save({"counts": counts, "keys": words, "key_offsets": offsets}, told)

    # ------------------------------------------------------------------------------------------ their steps

    def _accumulator(self) -> Accumulator:
        return Accumulator(self.rows, self.windows, self.matcher.rows, self.threads)

    def _save(self, checkpoint: Checkpoint, accumulator: Accumulator, complete: bool) -> None:
        done, checksum, amounts = accumulator.note
        size = min(self.matcher.rows, len(accumulator.sums))
        words, offsets = pack_words(
            self.matcher.keys
        )  # labels met ahead of the sums too: they come again in this order
        arrays = {**accumulator.arrays(size), "keys": words, "key_offsets": offsets}
        told = {"done": done, "checksum": checksum, "amounts": amounts, "complete": complete}
        checkpoint.save(arrays, told)

    def _noted(self, step: Step) -> Step:
        for name in self.amounts:
            self.amounts[name] += getattr(step.work, name)
        return step

    @contextmanager
    def _steps(
        self, accumulator: Accumulator | None = None, checked: bool = False, start: int = 0, checksum: int = 0
    ) -> Iterator[Iterator[Step]]:
        """The steps from block `start` on, with a progress bar."""
        streams: list[Generator[Any, None, None]] = [self._blocks(checked, start, checksum)]
        # Patterns and labels grow the lexicon as they are met, which must happen in the order of the text.
        alone = not self.matcher.stateless or self.encoder.lexicon.admit is not None
        if self.threads > 1:
            streams.append(in_background(streams[-1], ahead=self.threads))
            streams.append(in_order(self._step, streams[-1], 1 if alone else self.threads))
        steps: Iterator[Step] = map(self._step, streams[0]) if self.threads == 1 else streams[-1]
        try:
            with progress(*extent(self.corpus), "reading", *self.shown) as bar:
                yield self._showing(steps, bar, accumulator)
            if self.amounts["tokens_read"] == 0 and self.shard is None:
                raise BadCorpus("the corpus holds no text; check the path and, for tables, the name of the text column")
        finally:  # at once, also where an error's traceback would keep them for long
            for stream in reversed(streams):
                stream.close()

    def _blocks(self, checked: bool, start: int, expected: int) -> Generator[tuple[Block, int, int], None, None]:
        """(block, number, checksum so far) of what is left to do; what was done before is only checked."""
        checksum = number = 0
        for number, block in enumerate(self.corpus.blocks(self.block_size), start=1):
            if checked:
                checksum = digest(block, checksum)
            if number < start:
                continue
            if number == start:
                if checksum != expected:
                    break
                continue
            if self.shard is None or (number - 1) % self.shard[1] == self.shard[0] - 1:
                yield block, number, checksum
        if start and (number < start or (number == start and checksum != expected)):
            raise BadCheckpoint(
                "the corpus does not begin with the text that the checkpoint has read; restore it, or delete the "
                "checkpoint and begin again"
            )

    def _step(self, item: tuple[Block, int, int]) -> Step:
        block, number, checksum = item
        encoded = self.encoder.encode(block)
        matches = self.matcher.match(encoded)
        work = prepare(encoded, matches, len(self.rows), self.settings.unknown == "keep")
        return Step(work, self.matcher.rows, number, checksum, block.position)

    def _showing(self, steps: Iterator[Step], bar: Progress, accumulator: Accumulator | None) -> Iterator[Step]:
        began = last = time.perf_counter()
        before = self.amounts["tokens_read"]
        postfix: dict[str, object] = {}
        for step in steps:
            yield step
            now = time.perf_counter()
            if bar.watched and now - last > SHOWN_EVERY:
                last = now
                postfix = {"tokens/s": (self.amounts["tokens_read"] - before) / (now - began)}
                if accumulator is not None:
                    covered = np.count_nonzero(accumulator.counts[:, 0].reshape(-1, self.matcher.groups).any(axis=1))
                    postfix["targets"] = f"{covered:,}/{len(self.matcher.keys):,}"
            bar.update_to(step.position, **postfix)


# -------------------------------------------------------------------------------------------------- memory


def memory_for_sums(
    memory: int | str | None, rows: Singles, weighted: bool, threads: int, block_size: int
) -> int | None:
    """What a budget leaves for sums, after the vectors and the blocks of text that are under way; None: no limit."""
    if memory is None:
        return None
    budget = parse_size(memory)
    under_way = 2 * threads + 3 + (IN_HAND if threads > 1 else 0)
    others = rows.nbytes * (2 if weighted else 1) + under_way * 30 * block_size
    if budget <= others:
        raise AlacarteError(
            f"{budget / 1e9:.2f} GB of memory do not even hold the vectors and the text under way "
            f"({others / 1e9:.2f} GB); give more, or read fewer vectors (limit)"
        )
    return budget - others


def parse_size(size: int | str) -> int:
    """Bytes from a number or from text such as "4GB" or "500M".

    >>> parse_size("1.5GB"), parse_size("500m"), parse_size(7)
    (1500000000, 500000000, 7)
    """
    text = str(size).strip().lower().removesuffix("b").removesuffix("i")
    factor = UNITS.get(text[-1:], 1)
    try:
        amount = int(float(text[:-1] if factor > 1 else text) * factor)
    except (ValueError, OverflowError):
        amount = 0
    if amount < 1:
        raise AlacarteError(f"{size!r} is no amount of memory; write it as 4GB or 500MB")
    return amount


def peak_memory() -> int | None:
    """The most memory this process has held so far, in bytes; None where the system does not tell."""
    status = Path("/proc/self/status")
    if status.exists():  # Linux; what getrusage tells there begins with the peak of the process that started this one
        found = [line for line in status.read_text().splitlines() if line.startswith("VmHWM:")]
        return int(found[0].split()[1]) * 1024 if found else None
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if os.uname().sysname == "Darwin" else peak * 1024
