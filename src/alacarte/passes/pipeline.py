"""Threads that overlap reading, encoding and summing, in order and a bounded number of steps ahead."""

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Empty, Full, Queue
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_background(items: Iterable[Item], ahead: int) -> Generator[Item, None, None]:
    """The same items, made in a thread of their own, at most `ahead` of them in advance.

    >>> list(in_background(range(5), ahead=2))
    [0, 1, 2, 3, 4]
    """
    queue: Queue[tuple[bool, Item | BaseException | None]] = Queue(maxsize=ahead)
    stop = threading.Event()

    def put(more: bool, item: Item | BaseException | None) -> None:
        while not stop.is_set():
            try:
                queue.put((more, item), timeout=0.1)
                return
            except Full:
                continue

    def work() -> None:
        try:
            for item in items:
                put(True, item)
                if stop.is_set():
                    return
            put(False, None)
        except BaseException as error:  # handed over, and raised where the items are wanted
            put(False, error)

    thread = threading.Thread(target=work, daemon=True, name="alacarte-reader")
    thread.start()
    try:
        while True:
            try:
                more, item = queue.get(timeout=0.5)  # with a time limit, so that Ctrl-C gets through everywhere
            except Empty:
                continue
            if more:
                yield item  # type: ignore[misc]
            elif isinstance(item, BaseException):
                raise item
            else:
                return
    finally:
        stop.set()
        thread.join(timeout=1.0)


def in_order(function: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Generator[Result, None, None]:
    """function(item) for each item, by several threads, in the order of the items.

    >>> list(in_order(lambda n: n * n, range(5), threads=2))
    [0, 1, 4, 9, 16]
    """
    waiting: deque[Future[Result]] = deque()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="alacarte-encoder")
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > threads + 1:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
