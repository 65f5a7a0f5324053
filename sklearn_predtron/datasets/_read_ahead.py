"""Prefetching on threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from itertools import repeat
from numbers import Integral
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads for `n_jobs`; None is 0; negative numbers count back from the number of processors."""
    if n_jobs is None:
        return 0
    if not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r} is not known; accepted are None and integers other than 0, as joblib has them.")
    from joblib import cpu_count  # files are read without it by default

    return int(n_jobs) if n_jobs > 0 else max(1, cpu_count() + 1 + int(n_jobs))


def map_ahead(function: Callable[[Item], Result], items: Iterable[Item], n_threads: int) -> Generator[Result, None, None]:
    """Yield a function's results in order, computed ahead in threads."""
    if n_threads == 0:
        yield from map(function, items)
        return
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def make_ahead(items: Iterable[Item], n_threads: int) -> Generator[Item, None, None]:
    """Yield items, prepared ahead by a thread if requested."""
    source = iter(items)
    with closing(map_ahead(lambda _: next(source, None), repeat(None), min(n_threads, 1))) as made:
        for item in made:
            if item is None:
                return
            yield item
