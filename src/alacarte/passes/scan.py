"""The one walk over text: blocks of a corpus, encoded by several threads, added to a tally in any order.

What a pass makes is a tally, which adds up exactly, so the order in which blocks are added cannot change a bit.
What was done is a set of units of text.
"""

import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from queue import Empty, SimpleQueue

import numpy as np

from alacarte._io.progress import Progress, phase, progress
from alacarte.contexts.tally import Tally
from alacarte.errors import AlacarteError, BadCheckpoint
from alacarte.passes.checkpoint import Checkpoint, Stage
from alacarte.passes.pipeline import in_order
from alacarte.passes.work import Work
from alacarte.text.corpus import Corpus
from alacarte.text.encoding import Encoded, Encoder
from alacarte.text.segments import Block
from alacarte.text.units import Unit, unit_of

SHOWN_EVERY = 0.2  # seconds between two looks at how far the work has come
MANY_THREADS = 5  # from which on threads wait for each other between blocks: Python runs in one of them at a time
TOGETHER = 4  # blocks of text that each of many threads works on together
SEGMENT = 16  # blocks of a file, at least, that are read by themselves beside others of the same file


def scan(corpus: Corpus, encoder: Encoder, work: Work, description: str = "reading") -> Iterator[Encoded]:
    """Give the encoded blocks of a corpus in the order of its text, for what has to keep the documents apart.

    >>> from alacarte.text.encoding import Lexicon
    >>> from alacarte.text.tokenizers import get_tokenizer
    >>> encoder = Encoder(get_tokenizer("words"), Lexicon({"a": 0}))
    >>> [block.ids.tolist() for block in scan(Corpus(["a b", "a"]), encoder, Work())]
    [[0, -1, 0]]
    """

    def encode(block: Block) -> tuple[Block, Encoded]:
        return block, encoder.encode(block)

    with progress(*corpus.extent, description, work.show_progress, work.callback) as bar:
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
    together: bool = False,
) -> Stage:
    """Add the whole corpus (or the shard that `work` names) to a tally, and return what was read.

    With a checkpoint, which must be held, a stage that was begun before is taken up; text that is in it is read again
    to see that it is the same, and not added again. When all is done, the tally is saved there a last time if `keep`.
    `together` says that the tally may get several blocks of text as one, which many threads are faster with.
    """
    if work.client is not None:
        raise AlacarteError(f"{stage} is not done on a cluster: only contexts are summed there; leave client out")
    state = _Pass(tally, _part_of(corpus, work), encoder, work, stage, checkpoint, together).run()
    if checkpoint is not None and keep and state.units:
        checkpoint.save(stage, Stage(tally.arrays(), state.amounts, state.units, complete=True))
    return state


def check_text(corpus: Corpus, units: set[Unit], work: Work) -> None:
    """Read the corpus (or a shard of it) to see that it holds these units of text and nothing else."""
    found = {unit_of(block) for block in _part_of(corpus, work).blocks(work.block_size)}
    if found != units:
        raise _other_text(min(found ^ units))


def useful_threads(corpus: Corpus, work: Work) -> int:
    """Return the number of threads: no more than there are blocks, as far as that is known."""
    if corpus.size is None:
        return work.cores
    return max(1, min(work.cores, corpus.size // work.block_size + 1))


def _part_of(corpus: Corpus, work: Work) -> Corpus:
    return corpus if work.shard is None else corpus.shard(*work.shard, work.block_size)


class _Pass:
    """One pass over a corpus: threads that read until all is read, or pause so that a checkpoint can be written."""

    def __init__(
        self,
        tally: Tally,
        corpus: Corpus,
        encoder: Encoder,
        work: Work,
        stage: str,
        checkpoint: Checkpoint | None,
        together: bool,
    ) -> None:
        self.tally, self.corpus, self.encoder, self.work = tally, corpus, encoder, work
        self.stage, self.checkpoint = stage, checkpoint
        self.state = Stage()
        self.before: dict[tuple[str, int], Unit] = {}  # units in the checkpoint, by place
        self.seen_again: set[Unit] = set()
        self.threads = useful_threads(corpus, work)
        # Who is called back wants to hear of each block, and a limit of memory counts one for each thread.
        free = work.callback is None and work.memory is None
        self.together = TOGETHER if together and free and self.threads >= MANY_THREADS else 1
        size = corpus.size
        # One reader is as fast as several threads that encode, so there are about as many segments as threads.
        step = None if size is None else max(SEGMENT * work.block_size, size // (2 * self.threads))
        self.feed = _Feed(corpus.streams(work.block_size, None if self.threads == 1 else step))
        self.finished: SimpleQueue[int] = SimpleQueue()  # how much was read when a block was done
        self.lock = threading.Lock()  # of the state
        self.pause = threading.Event()
        self.error: BaseException | None = None
        self.is_broken = False  # whether a block was added in part

    def run(self) -> Stage:
        """Read and add everything; whatever ends this early, what was done is in the checkpoint."""
        if self.checkpoint is not None and self.stage in self.checkpoint.stages:
            self._take_up(self.checkpoint.stages[self.stage])
        total, unit = self.corpus.extent
        self.encoder.expect(total if total is not None and unit == "B" else 0)
        with progress(total, unit, self.stage, self.work.show_progress, self.work.callback) as bar:
            try:
                self._read_all(bar)
            except BaseException:
                self._save()
                raise
        if not self._is_same_text:
            raise _other_text(next(unit for unit in self.before.values() if unit not in self.seen_again))
        with phase(f"{self.stage}: adding up", self.work.show_progress):
            self.tally.settle()
        return self.state

    def _take_up(self, before: Stage) -> None:
        files = {segment.source for segment in self.corpus.segments()}
        for unit in before.units:
            if unit.name and not _is_within(unit.name, files):
                raise _other_text(unit)
        self.tally.restore(before.arrays)
        before.arrays = self.tally.arrays()  # and no longer those in the file, whose pages would stay in memory
        self.state = Stage({}, before.amounts, set(before.units))
        self.before = {(unit.name, unit.start): unit for unit in before.units}

    # ------------------------------------------------------------------------------------------- the threads

    def _read_all(self, bar: Progress) -> None:
        adders = [self.tally.adder() for _ in range(self.threads)]
        show = self._shower(bar)
        try:
            while not self.feed.is_empty:
                self._read_on(adders, show)
                if self.error is not None:
                    raise self.error
                if self._is_save_due:
                    self._save()
            while not self.finished.empty():
                show(self.finished.get())
        finally:
            self.feed.close()

    def _read_on(self, adders: list[Callable[[Encoded], None]], show: Callable[[int], None]) -> None:
        """Read with several threads until all is read or a checkpoint is due; Ctrl-C reaches this thread only."""
        self.pause.clear()
        threads = [
            threading.Thread(target=self._work, args=(add,), name=f"alacarte-{number}", daemon=True)
            for number, add in enumerate(adders)
        ]
        try:
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads):
                with suppress(Empty):
                    show(self.finished.get(timeout=SHOWN_EVERY))
                    if self._is_save_due:
                        break
        finally:
            self.pause.set()
            for thread in threads:
                with suppress(RuntimeError):  # Ctrl-C came before it was started
                    thread.join()

    def _work(self, add: Callable[[Encoded], None]) -> None:
        try:
            while blocks := self.feed.take(self.pause, self.together):
                self._add(blocks, add)
                self.finished.put(self.feed.position)
        except BaseException as error:  # raised again where the pass was asked for
            self.error = self.error or error
            self.pause.set()

    def _add(self, blocks: list[Block], add: Callable[[Encoded], None]) -> None:
        new: dict[Unit, Block] = {}
        for block in blocks:
            unit = unit_of(block)
            before = self.before.get((unit.name, unit.start))
            if before is None:
                new[unit] = block
            elif before == unit:
                self.seen_again.add(unit)
            else:
                raise _other_text(unit)
        for units, block in _joined(new):
            encoded = replace(self.encoder.encode(block), block=block)
            try:
                add(encoded)
            except BaseException:
                self.is_broken = True
                raise
            amounts, known = self.state.amounts, np.uint32(self.encoder.lexicon.known)
            with self.lock:
                self.state.units |= units
                amounts.documents += int(np.count_nonzero(np.diff(encoded.offsets)))  # blank lines are no documents
                amounts.tokens_read += encoded.ids.size
                amounts.tokens_known += int(np.count_nonzero(encoded.ids.view(np.uint32) < known))

    # ------------------------------------------------------------------------------- progress and checkpoints

    def _shower(self, bar: Progress) -> Callable[[int], None]:
        """Return what moves the progress bar on; what is beside it is computed now and then."""
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

    @property
    def _is_save_due(self) -> bool:
        return self.checkpoint is not None and self.checkpoint.due and self._is_same_text

    def _save(self) -> None:
        if self.checkpoint is not None and self.state.units and self._is_same_text and not self.is_broken:
            self.tally.settle()
            self.checkpoint.save(self.stage, Stage(self.tally.arrays(), self.state.amounts, self.state.units))

    @property
    def _is_same_text(self) -> bool:
        """Whether all text of the former checkpoint was found again; until then, it must not be written over."""
        return len(self.seen_again) == len(self.before)


def _is_within(name: str, files: set[str]) -> bool:
    """Whether a name is that of one of the files, or of a member in one that is an archive.

    >>> _is_within("/a.zip/b/c.txt", {"/a.zip"}), _is_within("/a.zip", {"/a"})
    (True, False)
    """
    while name and name not in files:
        name = name.rpartition("/")[0]
    return bool(name)


def _other_text(unit: Unit) -> BadCheckpoint:
    where = f"{unit.name}, from {unit.start:,} on," if unit.name else f"from number {unit.start:,} on"
    return BadCheckpoint(
        f"the text is not the one that the checkpoint has read ({where} it differs); restore it, or delete the "
        "checkpoint and begin again"
    )


def _joined(found: dict[Unit, Block]) -> list[tuple[set[Unit], Block]]:
    """Return blocks of text that follow each other in a file as one, with all of its units; others as they are."""
    blocks = list(found.values())
    if len(blocks) < 2 or not all(_follows(one, two) for one, two in pairwise(blocks)):
        return [({unit}, block) for unit, block in found.items()]
    text = b"".join(block.text or b"" for block in blocks)
    return [(set(found), replace(blocks[-1], text=text, start=blocks[0].start))]


def _follows(one: Block, two: Block) -> bool:
    if one.text is None or two.text is None:
        return False
    return (one.source, one.name, one.start + len(one.text)) == (two.source, two.name, two.start)


class _Feed:
    """Hands out the blocks of several streams: each is read by one thread at a time, different ones side by side."""

    def __init__(self, streams: Iterator[Iterator[Block]]) -> None:
        self._new = enumerate(streams)
        self._idle: list[tuple[int, Iterator[Block]]] = []
        self._busy = 0
        self._changed = threading.Condition()
        self._positions: dict[int, int] = {}
        self.is_empty = False  # whether there is no block left

    @property
    def position(self) -> int:
        """How much was read, over all streams."""
        return sum(list(self._positions.values()))

    def take(self, pause: threading.Event, together: int) -> list[Block]:
        """Return the next block, or the next few of plain text; none when all is read or there is a pause."""
        while (free := self._free_stream(pause)) is not None:
            number, stream = free
            blocks: list[Block] = []
            try:
                while len(blocks) < together and (block := next(stream, None)) is not None:
                    blocks.append(block)
                    if block.text is None:  # documents, which take much more memory than their text
                        break
            finally:
                with self._changed:
                    self._busy -= 1
                    if blocks:
                        self._idle.append(free)
                        self._positions[number] = blocks[-1].position
                    self._changed.notify_all()
            if blocks:
                return blocks
        return []

    def _free_stream(self, pause: threading.Event) -> tuple[int, Iterator[Block]] | None:
        with self._changed:
            while not pause.is_set():
                free = self._idle.pop(0) if self._idle else next(self._new, None)
                if free is not None:
                    self._busy += 1
                    return free
                if not self._busy:
                    self.is_empty = True
                    return None
                self._changed.wait(0.5)
        return None

    def close(self) -> None:
        """Close all files, when no thread takes blocks any more."""
        for _, stream in self._idle:
            if isinstance(stream, Generator):
                stream.close()
