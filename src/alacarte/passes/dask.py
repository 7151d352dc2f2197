"""Contexts summed by the workers of a Dask cluster, to the same bits as in one process.

Each part of the text is a task, and what the tasks give is added up in a tree, by the workers as well. Sums are whole
numbers, so it does not matter who adds what, or how often a task is begun again.
"""

import operator
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from typing import Any

from alacarte._io.progress import progress
from alacarte.contexts.reading import ReadingOptions
from alacarte.contexts.sums import ContextSums
from alacarte.contexts.weights import resolve
from alacarte.errors import AlacarteError, BadCorpus, require
from alacarte.passes.collect import collect, count_words
from alacarte.passes.scan import SEGMENT
from alacarte.passes.work import Work, WorkOptions
from alacarte.targets.targets import Targets
from alacarte.text.corpus import Corpus
from alacarte.text.segments import Segment
from alacarte.vectors.word_vectors import WordVectors

TASKS = 4  # for each worker, so that all are busy to the end
RETRIES = 3  # of a task that fails, by Dask
ATTEMPTS = 5  # if all workers that hold the vectors are lost at the same time, all is begun again

_one_at_a_time = threading.Lock()  # in a worker: a task uses all of its threads, and its memory for the sums of one


def collect_on_cluster(
    vectors: WordVectors,
    corpus: Corpus,
    targets: Targets | None,
    spread: int | None,
    adapt: bool,
    options: ReadingOptions,
    work: Work,
) -> ContextSums:
    """Return what `collect` returns, summed by the workers of `work.client`, who read the text themselves."""
    if work.shard is not None or work.checkpoint is not None:
        raise AlacarteError("Dask shares the text out itself and keeps no files; leave shard and checkpoint out")
    if not hasattr(work.client, "nthreads"):
        raise AlacarteError(f"client= takes a client, as distributed.Client(address) gives one, not {work.client!r}")
    if corpus.size is None:
        raise BadCorpus(
            f"a cluster reads files, and this corpus is {corpus.description}; write its documents to a file that all "
            "workers see"
        )
    tokenizer = options.get("tokenizer", "words")

    def count_part(part: Corpus, how: WorkOptions) -> Any:
        return count_words(vectors, part, tokenizer, **how)

    given = options.get("context_weights")
    weights = resolve(given, vectors, lambda: _added_up(count_part, corpus, work, "counting words"))

    def collect_part(part: Corpus, how: WorkOptions) -> ContextSums:
        reading: ReadingOptions = {**options, "context_weights": weights}
        return collect(vectors, part, targets, spread=spread, adapt=adapt, **reading, **how)

    sums: ContextSums = _added_up(collect_part, corpus, work, "reading")
    if not sums.tokens_read:
        raise BadCorpus("the corpus holds no text; check the path and, for tables, the name of the text column")
    return sums


def _added_up(function: Callable[..., Any], corpus: Corpus, work: Work, description: str) -> Any:
    """Return the sum of what a function gives for all parts of the text."""
    for attempt in range(ATTEMPTS):
        try:
            return _added_up_once(function, corpus, work, description)
        except AlacarteError:
            raise
        except CancelledError as error:
            if attempt + 1 == ATTEMPTS or work.client.status != "running":
                raise AlacarteError(f"the cluster is gone, or was started again ({error}); begin again") from error
        except Exception as error:
            raise AlacarteError(
                f"{description} failed on the cluster ({type(error).__name__}: {error}); see the logs of its workers"
            ) from error
    raise AssertionError


def _added_up_once(function: Callable[..., Any], corpus: Corpus, work: Work, description: str) -> Any:
    distributed = require("distributed", extra="dask", purpose="working on a Dask cluster")
    client, options = work.client, {"pure": False, "retries": RETRIES}
    how: WorkOptions = {"threads": work.threads, "memory": work.memory, "block_size": work.block_size}
    (scattered,) = client.scatter([function], broadcast=True, hash=False)  # with the vectors and targets in it
    waiting: dict[Any, int] = {}  # bytes of each part that is not done
    futures = [scattered]
    try:
        for segments in _parts(corpus, work):
            part = client.submit(_on_worker, scattered, corpus.only(segments), how, **options)
            waiting[part] = sum(segment.size for segment in segments)
        futures.append(_tree(client, list(waiting), options))
        done = 0
        with progress(sum(waiting.values()), "B", description, work.show_progress, work.callback) as bar:
            for part in distributed.as_completed(list(waiting), loop=client.loop):
                if part.status != "finished":
                    part.result()  # which raises
                done += waiting.pop(part)
                if part is not futures[-1]:
                    part.release()  # the workers may forget it once it is added to another
                bar.update_to(done)
            return futures[-1].result()
    finally:  # what is still to be done is forgotten when this ends early
        for future in (*futures, *waiting):
            future.release()


def _tree(client: Any, level: list[Any], options: dict[str, Any]) -> Any:
    """Return what adds up to the sum of all, pair by pair."""
    while len(level) > 1:
        pairs = [level[place : place + 2] for place in range(0, len(level), 2)]
        level = [client.submit(operator.add, *pair, **options) if len(pair) == 2 else pair[0] for pair in pairs]
    return level[0]


def _parts(corpus: Corpus, work: Work) -> Iterator[list[Segment]]:
    """Yield the text in parts of about the same size, in its order."""
    step = max(SEGMENT * work.block_size, (corpus.size or 0) // (TASKS * max(1, len(work.client.nthreads()))))
    part: list[Segment] = []
    for segment in corpus.segments(work.block_size, step):
        if part and sum(other.size for other in part) + segment.size > step:
            yield part
            part = []
        part.append(segment)
    yield part


def _on_worker(function: Callable[..., Any], part: Corpus, how: WorkOptions) -> Any:
    """Call a function with some of the text, on the worker that this is called on."""
    from distributed import get_worker

    with _one_at_a_time:
        for segment in part.segments():
            try:
                segment.check()
            except BadCorpus as error:
                raise BadCorpus(
                    f"{error.message} (on the worker {socket.gethostname()}: every worker reads the text by itself, "
                    "under the same path or URL)"
                ) from None
        threads = how.get("threads") or int(get_worker().state.nthreads)
        return function(part, {**how, "threads": threads, "show_progress": False})
