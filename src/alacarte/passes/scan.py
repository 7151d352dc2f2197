"""The one walk over text: blocks of a corpus, encoded by several threads, added to a tally in any order.

Threads take blocks of text. What a pass makes is a tally, which adds up exactly, so the order in which blocks are added
cannot change a bit, and what was done is a set of units of text.
"""

import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from alacarte._io.progress import Progress, phase, progress
from alacarte._io.tensors import Computed
from alacarte.errors import AlacarteError, BadCheckpoint
from alacarte.passes.checkpoint import Checkpoint, Stage
from alacarte.passes.pipeline import in_order
from alacarte.passes.work import Work
from alacarte.text.corpus import Block, Corpus, extent
from alacarte.text.encoding import Encoded, Encoder
from alacarte.text.units import Unit, unit_of

SHOWN_EVERY = 0.2  # seconds between two looks at how far the work has come


class Tally(Protocol):
    """What a pass makes: it starts empty, takes encoded blocks from any number of threads, and saves itself."""

    def adder(self) -> Callable[[Encoded], None]:
        """What one thread calls with each of its blocks; several adders work at the same time."""

    def settle(self) -> None:
        """Put together what the adders hold by themselves; called when none of them is at work."""

    def arrays(self) -> Mapping[str, npt.NDArray[Any] | Computed]:
        """All that was added so far, for a checkpoint; called after `settle`."""

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take up what `arrays` gave; called before anything is added."""

    def progress(self) -> dict[str, object]:
        """What to show beside the progress bar."""


def scan(corpus: Corpus, encoder: Encoder, work: Work, description: str = "reading") -> Iterator[Encoded]:
    """The encoded blocks of a corpus in the order of its text, for what has to keep the documents apart.

    >>> from alacarte.text.encoding import Lexicon
    >>> from alacarte.text.tokenizers import get_tokenizer
    >>> encoder = Encoder(get_tokenizer("words"), Lexicon({"a": 0}))
    >>> [block.ids.tolist() for block in scan(Corpus(["a b", "a"]), encoder, Work())]
    [[0, -1, 0]]
    """

    def encode(block: Block) -> tuple[Block, Encoded]:
        return block, encoder.encode(block)

    with progress(*extent(corpus), description, work.show_progress, work.callback) as bar:
        encoded_blocks = in_order(encode, corpus.blocks(work.block_size), work.cores)
        try:
            for block, encoded in encoded_blocks:
                yield encoded
                bar.update_to(block.position)
        finally:
            encoded_blocks.close()


def run(
    tally: Tally,
    corpus: Corpus,
    encoder: Encoder,
    work: Work,
    stage: str = "reading",
    checkpoint: Checkpoint | None = None,
    keep: bool = True,
) -> Stage:
    """Add the whole corpus (or the shard that `work` names) to a tally; what was read, and which units of text.

    With a checkpoint, which must be held, a stage that was begun before is taken up; text that is in it is read again
    to see that it is the same, and not added again. When all is done, the tally is saved there a last time if `keep`.
    """
    if work.client is not None:
        raise AlacarteError(f"{stage} is not done on a cluster: only contexts are summed there; leave client out")
    state = _Pass(tally, corpus, encoder, work, stage, checkpoint).run()
    if checkpoint is not None and keep and state.units:
        checkpoint.save(stage, Stage(tally.arrays(), state.amounts, state.units, complete=True))
    return state


def check_text(corpus: Corpus, units: set[Unit], work: Work) -> None:
    """Read the corpus (or a shard of it) to see that it holds these units of text and nothing else."""
    met = {unit_of(block) for block in corpus.blocks(work.block_size) if _in_shard(block, work)}
    if met != units:
        raise _other_text(min(met ^ units))


def useful_threads(corpus: Corpus, work: Work) -> int:
    """No more than there are blocks, as far as that is known."""
    if corpus.size is None:
        return work.cores
    return max(1, min(work.cores, corpus.size // work.block_size + 1))


def _in_shard(block: Block, work: Work) -> bool:
    return work.shard is None or block.number % work.shard[1] == work.shard[0] - 1


class _Pass:
    """One run of threads over a corpus."""

    def __init__(
        self,
        tally: Tally,
        corpus: Corpus,
        encoder: Encoder,
        work: Work,
        stage: str,
        checkpoint: Checkpoint | None,
    ) -> None:
        self.tally, self.corpus, self.encoder, self.work = tally, corpus, encoder, work
        self.stage, self.checkpoint = stage, checkpoint
        self.known = encoder.lexicon.known
        self.feed = _Feed(corpus.streams(work.block_size))
        self.done: dict[tuple[str, int], Unit] = {}  # by the checkpoint, by place
        self.met: set[Unit] = set()  # of these, read again
        self.state = Stage()
        self.finished: SimpleQueue[int] = SimpleQueue()  # how much was read when a block was done
        self.error: BaseException | None = None
        self.broken = False  # a block was added in part
        self.stopped = threading.Event()
        # Blocks are added and noted under `gate.inside`, which is closed while a checkpoint is written.
        self.gate = _Gate()

    def run(self) -> Stage:
        if self.checkpoint is not None and self.stage in self.checkpoint.stages:
            before = self.checkpoint.stages[self.stage]
            self.tally.restore(before.arrays)
            before.arrays = self.tally.arrays()  # and no longer those in the file, whose pages would stay in memory
            self.state = Stage({}, before.amounts, set(before.units))
            self.done = {(unit.name, unit.start): unit for unit in before.units}
            for unit in before.units:
                if unit.name and not self.corpus.holds(unit.name):
                    raise _other_text(unit)
        self.encoder.expect(self.corpus.size or 0)
        with progress(*extent(self.corpus), self.stage, self.work.show_progress, self.work.callback) as bar:
            try:
                self._work_in_threads(bar)
            except BaseException:
                self._save()
                raise
        self._check_all_met()
        with phase(f"{self.stage}: adding up", self.work.show_progress):
            self.tally.settle()
        return self.state

    # ------------------------------------------------------------------------------------------- the threads

    def _work_in_threads(self, bar: Progress) -> None:
        """Run the threads, show how far they are, write checkpoints; Ctrl-C reaches this thread only."""
        threads = [
            threading.Thread(target=self._work, name=f"alacarte-{number}", daemon=True)
            for number in range(useful_threads(self.corpus, self.work))
        ]
        try:
            for thread in threads:
                thread.start()
            show = self._shower(bar)
            while any(thread.is_alive() for thread in threads) or not self.finished.empty():
                with suppress(Empty):
                    show(self.finished.get(timeout=SHOWN_EVERY))
                due = self.checkpoint is not None and self.checkpoint.due and self._same_text
                if due and not self.stopped.is_set():
                    with self.gate.closed():
                        self._save()
        finally:
            self.stopped.set()
            for thread in threads:
                with suppress(RuntimeError):  # Ctrl-C came before it was started
                    thread.join()
            self.feed.close()
        if self.error is not None:
            raise self.error

    def _work(self) -> None:
        try:
            add = self.tally.adder()
            while not self.stopped.is_set():
                block = self.feed.take(self.stopped)
                if block is None:
                    return
                if _in_shard(block, self.work):
                    self._add(block, add)
                self.finished.put(self.feed.position)
        except BaseException as error:  # raised again where the pass was asked for
            self.error = self.error or error
            self.stopped.set()

    def _add(self, block: Block, add: Callable[[Encoded], None]) -> None:
        unit = unit_of(block)
        before = self.done.get((unit.name, unit.start))
        if before is not None:
            if before != unit:
                raise _other_text(unit)
            self.met.add(unit)
            return
        encoded = replace(self.encoder.encode(block), block=block)
        with self.gate.inside():
            try:
                add(encoded)
            except BaseException:
                self.broken = True
                raise
            amounts = self.state.amounts
            with self.gate.lock:
                self.state.units.add(unit)
                amounts.documents += int(np.count_nonzero(np.diff(encoded.offsets)))  # blank lines are no documents
                amounts.tokens_read += encoded.ids.size
                amounts.tokens_known += int(np.count_nonzero(encoded.ids.view(np.uint32) < np.uint32(self.known)))

    # ------------------------------------------------------------------------------- progress and checkpoints

    def _shower(self, bar: Progress) -> Callable[[int], None]:
        """What moves the progress bar on; what stands beside it is worked out now and then."""
        began = last = time.perf_counter()
        before = self.state.amounts.tokens_read
        postfix: dict[str, object] = {}
        furthest = 0

        def show(position: int) -> None:
            nonlocal last, postfix, furthest
            now = time.perf_counter()
            furthest = max(furthest, position)
            if bar.watched and now - last > SHOWN_EVERY:
                last = now
                speed = (self.state.amounts.tokens_read - before) / (now - began)
                postfix = {"tokens/s": speed, **self.tally.progress()}
            bar.update_to(furthest, **postfix)

        return show

    def _save(self) -> None:
        if self.checkpoint is not None and self.state.units and self._same_text and not self.broken:
            self.tally.settle()
            self.checkpoint.save(self.stage, Stage(self.tally.arrays(), self.state.amounts, self.state.units))

    @property
    def _same_text(self) -> bool:
        """Whether all text of the former checkpoint was met again; until then, it must not be written over."""
        return len(self.met) == len(self.done)

    def _check_all_met(self) -> None:
        if not self._same_text:
            raise _other_text(next(unit for unit in self.done.values() if unit not in self.met))


def _other_text(unit: Unit) -> BadCheckpoint:
    where = f"{unit.name}, from {unit.start:,} on," if unit.name else f"from number {unit.start:,} on"
    return BadCheckpoint(
        f"the text is not the one that the checkpoint has read ({where} it differs); restore it, or delete the "
        "checkpoint and begin again"
    )


class _Gate:
    """Lets many in at a time, or, while it is closed, nobody."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._changed = threading.Condition(self.lock)
        self._inside = 0
        self._closed = False

    @contextmanager
    def inside(self) -> Iterator[None]:
        with self._changed:
            while self._closed:
                self._changed.wait()
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextmanager
    def closed(self) -> Iterator[None]:
        try:
            with self._changed:
                self._closed = True
                while self._inside:
                    self._changed.wait(0.1)
            yield
        finally:
            with self._changed:
                self._closed = False
                self._changed.notify_all()


class _Feed:
    """Hands out the blocks of several streams: each is read by one thread at a time, different ones side by side."""

    def __init__(self, streams: Iterator[Iterator[Block]]) -> None:
        self._new = enumerate(streams)
        self._idle: list[tuple[int, Iterator[Block]]] = []
        self._busy = 0
        self._changed = threading.Condition()
        self._positions: dict[int, int] = {}

    @property
    def position(self) -> int:
        """How much was read, over all streams."""
        return sum(self._positions.values())

    def take(self, stopped: threading.Event) -> Block | None:
        """The next block, or None when there is none left."""
        while True:
            free = self._free_stream(stopped)
            if free is None:
                return None
            number, stream = free
            block = None
            try:
                block = next(stream, None)
            finally:
                with self._changed:
                    self._busy -= 1
                    if block is not None:
                        self._idle.append(free)
                        self._positions[number] = block.position
                    self._changed.notify_all()
            if block is not None:
                return block

    def _free_stream(self, stopped: threading.Event) -> tuple[int, Iterator[Block]] | None:
        with self._changed:
            while not stopped.is_set():
                free = self._idle.pop(0) if self._idle else next(self._new, None)
                if free is not None:
                    self._busy += 1
                    return free
                if not self._busy:
                    return None
                self._changed.wait(0.5)
        return None

    def close(self) -> None:
        """Close all files, when no thread takes blocks any more."""
        for _, stream in self._idle:
            if isinstance(stream, Generator):
                stream.close()
