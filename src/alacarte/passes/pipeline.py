"""A function applied by several threads, its results in order and a bounded number of steps ahead."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def in_order(function: Callable[[Task], Result], items: Iterable[Task], threads: int) -> Generator[Result, None, None]:
    """Return function(item) for each item, by several threads, in the order of the items.

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
