"""The jobs that executors run: what a worker computes of a sweep or of an evaluation."""

from __future__ import annotations

import functools
import time
from array import array
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import _native, _storage

if TYPE_CHECKING:
    from .executor import Executor, Tell


@functools.lru_cache(maxsize=2)
def _units(description: bytes) -> _native.SweepUnits:
    return _native.SweepUnits(description)


def sweep_part(description: bytes, task: tuple[int, int, int]) -> bytes:
    """The state of a range of units."""
    first, end, threads = task
    return _units(description).run(first, end, threads)


def sweep_merge(description: bytes, states: Sequence[bytes]) -> bytes:
    """The state of consecutive ranges."""
    return _units(description).join(states)


class _Ranges(Sequence[tuple[int, int, int]]):
    """Consecutive ranges of units, with the number of threads."""

    def __init__(self, parts: list[tuple[int, int]], threads: int) -> None:
        self._ends = array("Q", [0, *(end for _, end in parts)])
        self._threads = threads

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, index: Any) -> Any:
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self._ends[index], self._ends[index + 1], self._threads


def sweep(
    executor: Executor,
    problem: _native.Problem,
    schedules: list[str],
    projections: list[str],
    options: dict[str, Any],
    tell: Tell | None,
) -> _native.SweepResults:
    """A sweep in parts."""
    from .executor import Job

    start = time.perf_counter()
    threads = options.pop("threads", None) or 1
    job = _native.SweepJob(problem, schedules, projections, options)
    description, parts = job.describe()
    state = executor.run(Job("sweep", description, _Ranges(parts, threads), sweep_part, sweep_merge), tell)
    return job.finish([state], executor.workers * threads, time.perf_counter() - start)


def log_part(description: bytes, task: bytes) -> bytes:
    """The state of a node of a log."""
    return _native.log_part(description, task, 1)


def remote_log_part(ranges: _storage.Ranges, description: bytes, task: bytes) -> bytes:
    """The same, with files of object storage, of which only what the task needs is read."""
    files = ranges.argument(_native.log_files(description, task))
    try:
        return _native.log_part(description, task, 1, files)
    except _native.Error as error:
        raise _native.Error(_storage.named(str(error), ranges.uris())) from None


def log_merge(description: bytes, states: Sequence[bytes]) -> bytes:
    """The state of consecutive nodes."""
    return _native.log_merge(description, states)


def evaluate(
    executor: Executor,
    log: _native.Table | list[str],
    options: dict[str, Any],
    parameters: list[tuple[str, float]],
    remote: _storage.Remote,
    tell: Tell | None,
) -> _native.Fit:
    """An evaluation in parts; some files may be remote."""
    from .executor import Job

    ranges = _storage.Ranges(remote)
    part = functools.partial(remote_log_part, ranges) if remote else log_part

    def run(name: str, description: bytes, tasks: Sequence[bytes], stopped: Callable[[], bool]) -> bytes:
        def watch(done: int, total: int, messages: list[str]) -> None:
            if stopped():
                raise KeyboardInterrupt
            if tell is not None:
                tell(done, total, messages)

        return executor.run(Job(name, description, tasks, part, log_merge), watch)

    return _native.evaluate_in_parts(log, options, parameters, run, ranges.argument(remote) if remote else None, remote.known)
