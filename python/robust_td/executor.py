"""Runs work in parts: a protocol that knows no engine, and an executor of threads.

A job has a description, which every worker gets, a fixed list of tasks, a function that turns a task into a state (bytes), and one that merges the
states of consecutive tasks. States are merged in a fixed tree of :data:`FAN` children per node. So the result has the same bytes for any number
of workers, in whatever order they finish, and however often a task is repeated.

:class:`TreeExecutor` has the schedule: bounded work in flight, merging in workers, checkpoints, repeats of slow tasks. An engine adds four methods:
:class:`LocalExecutor` has those of threads, :class:`robust_td.ray.RayExecutor` those of Ray.
"""

from __future__ import annotations

import hashlib
import os
import time
from array import array
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, Protocol, Union

from . import _native
from ._native import Error
from ._store import Store

#: The number of states that are merged at a time. Part of the protocol: another number gives other last digits.
FAN = 64
#: A task that takes this many times the mean is started a second time, when there is nothing else to do.
SLOW = 4.0
#: But not before this number of seconds.
PATIENCE = 10.0

Node = tuple[int, int]
Tell = Callable[[int, int, list[str]], None]


@dataclass(frozen=True)
class Job:
    """Work in parts.

    Parameters
    ----------
    name
        What it is, for messages and checkpoints.
    description
        What every worker needs to know.
    tasks
        The parts, in order; small objects that can be pickled. They are asked for when they are needed: a sequence that makes them then
        takes no memory for the others.
    compute
        The state of a task: a function of a module, so that workers can import it.
    merge
        The state of consecutive tasks from their states.
    """

    name: str
    description: bytes
    tasks: Sequence[Any]
    compute: Callable[[bytes, Any], bytes]
    merge: Callable[[bytes, Sequence[bytes]], bytes]

    @property
    def key(self) -> str:
        """What identifies its states in a checkpoint."""
        digest = hashlib.sha256(f"{_native.__version__} {self.name} {len(self.tasks)}\n".encode())
        digest.update(self.description)
        return f"{self.name}-{digest.hexdigest()[:24]}"


class Executor(Protocol):
    """What :func:`robust_td.evaluate` and :func:`robust_td.sweep` need of an executor."""

    @property
    def workers(self) -> int:
        """The number of tasks that run at the same time."""
        ...

    def run(self, job: Job, tell: Tell | None = None) -> bytes:
        """The merged state of all tasks."""
        ...


@dataclass
class Measured:
    """What the last job took."""

    tasks: int = 0
    restored: int = 0
    repeated: int = 0
    seconds: float = 0.0
    #: Of each task, up to 100,000 of them, and of merging.
    task_seconds: array[float] = field(default_factory=lambda: array("d"))
    merge_seconds: float = 0.0
    #: In bytes, of a task; merged states of an incomplete tree may hold several of that size.
    largest_state: int = 0
    largest_merged: int = 0


@dataclass(frozen=True)
class Done:
    """What a worker says about a finished task."""

    seconds: float
    size: int


#: A state, or its place in a checkpoint.
State = Union[bytes, str]


def compute(job: Job, task: Any, store: Store | None, name: str) -> tuple[Done, bytes]:
    """Computes a task in a worker, and stores its state under a name."""
    start = time.perf_counter()
    state = job.compute(job.description, task)
    if store is not None:
        store.write(name, state)
    return Done(time.perf_counter() - start, len(state)), state


def merge(job: Job, states: Sequence[State], store: Store | None, name: str) -> tuple[Done, bytes]:
    """Merges states in a worker, and stores the result under a name."""
    start = time.perf_counter()
    read = [store.read(state) if isinstance(state, str) and store is not None else state for state in states]
    state = job.merge(job.description, [each for each in read if isinstance(each, bytes)])
    if store is not None:
        store.write(name, state)
    return Done(time.perf_counter() - start, len(state)), state


class TreeExecutor:
    """The schedule that all executors share.

    Parameters
    ----------
    checkpoint
        A directory, or a URI such as ``s3://bucket/folder``, in which workers store finished states. A job that is started again, by whatever
        program, computes only what is missing.
    """

    #: Whether slow tasks are started a second time.
    repeats = False

    def __init__(self, checkpoint: str | os.PathLike[str] | None = None) -> None:
        self._checkpoint = None if checkpoint is None else os.fspath(checkpoint)
        #: What the last job took.
        self.measured = Measured()

    # ---- what an engine adds

    @property
    def workers(self) -> int:
        """The number of tasks that run at the same time."""
        raise NotImplementedError

    def _submit(self, job: Job, name: str, task: Any, states: Sequence[Any] | None, store: Store | None) -> Any:
        """Starts a task, or a merge of states, whose result is stored under a name; returns a handle."""
        raise NotImplementedError

    def _wait(self, handles: list[Any]) -> Iterable[Any]:
        """Waits a little for some handles; returns those that are finished."""
        raise NotImplementedError

    def _done(self, handle: Any) -> Done:
        """What a finished task says; raises its error."""
        raise NotImplementedError

    def _fetch(self, handle: Any) -> bytes:
        """The state of a finished handle."""
        raise NotImplementedError

    def _cancel(self, handles: Iterable[Any]) -> None:
        """Stops tasks whose results are not needed."""

    # ---- the schedule

    def run(self, job: Job, tell: Tell | None = None) -> bytes:
        """Runs a job.

        Parameters
        ----------
        job
            The job.
        tell
            Called now and then with the tasks done, all tasks, and messages.

        Returns
        -------
        bytes
            The merged state of all tasks.
        """
        if not job.tasks:
            raise Error(f"{job.name}: there is nothing to compute")
        start = time.perf_counter()
        self.measured = Measured(tasks=len(job.tasks))
        store = None if self._checkpoint is None else Store(self._checkpoint, job.key)
        schedule = _Schedule(job, store)
        self.measured.restored = schedule.done
        try:
            state = self._run(job, store, schedule, tell)
        finally:
            self.measured.seconds = time.perf_counter() - start
        return state

    def _run(self, job: Job, store: Store | None, schedule: _Schedule, tell: Tell | None) -> bytes:
        running: dict[Any, tuple[Node, float]] = {}
        failures: list[Exception] = []
        total = len(job.tasks)
        try:
            while True:
                if tell is not None:
                    tell(schedule.done, total, [])
                limit = 2 * max(1, self.workers)
                # Without a checkpoint, what others compute after a failure would be lost.
                go_on = not failures or store is not None
                while len(running) < limit and go_on and (node := schedule.next()) is not None:
                    handle = self._submit(job, schedule.name(node), *schedule.work(node), store)
                    running[handle] = (node, time.perf_counter())
                if not running or schedule.is_finished:
                    break
                if self.repeats and schedule.exhausted and len(running) < limit:
                    self._repeat(job, store, schedule, running)
                for handle in list(self._wait(list(running))):
                    node, _ = running.pop(handle)
                    try:
                        done = self._done(handle)
                    except Exception as error:
                        if schedule.is_done(node) or any(other == node for other, _ in running.values()):
                            continue
                        failures.append(error)
                        continue
                    if not schedule.is_done(node):
                        self._count(node, done)
                        schedule.finish(node, handle)
        except BaseException:
            self._cancel(running)
            raise
        if failures:
            raise _failure(job, failures, total, store)
        self._cancel(running)
        root = schedule.result()
        return store.read(root) if isinstance(root, str) and store is not None else self._fetch(root)

    def _count(self, node: Node, done: Done) -> None:
        if node[0] > 0:
            self.measured.merge_seconds += done.seconds
            self.measured.largest_merged = max(self.measured.largest_merged, done.size)
            return
        self.measured.largest_state = max(self.measured.largest_state, done.size)
        if len(self.measured.task_seconds) < 100_000:
            self.measured.task_seconds.append(done.seconds)

    def _repeat(self, job: Job, store: Store | None, schedule: _Schedule, running: dict[Any, tuple[Node, float]]) -> None:
        """Starts the slowest task a second time; both give the same bytes."""
        known = self.measured.task_seconds
        if not known:
            return
        limit = max(PATIENCE, SLOW * sum(known) / len(known))
        now = time.perf_counter()
        nodes = [node for node, _ in running.values()]
        for node, since in list(running.values()):
            if node[0] == 0 and now - since > limit and nodes.count(node) == 1 and not schedule.is_done(node):
                handle = self._submit(job, schedule.name(node), *schedule.work(node), store)
                running[handle] = (node, now)
                self.measured.repeated += 1
                return


def _failure(job: Job, failures: list[Exception], total: int, store: Store | None) -> Exception:
    first = failures[0]
    if len(failures) == 1 and store is None:
        return first
    rest = f"; the other {total - len(failures)} of {total} parts are in the checkpoint" if store is not None else ""
    more = f" (and {len(failures) - 1} more parts)" if len(failures) > 1 else ""
    return Error(f"{first}{more}{rest}")


class _Schedule:
    """Which nodes of the tree are ready, running and done; its memory does not grow with the number of tasks."""

    def __init__(self, job: Job, store: Store | None) -> None:
        self.job = job
        self.counts = [len(job.tasks)]
        while self.counts[-1] > 1:
            self.counts.append(-(-self.counts[-1] // FAN))
        self.stored: set[Node] = set()
        self.store = store
        self.ready: deque[Node] = deque()
        #: Finished nodes whose parent is not: their handles, or the names of stored states.
        self.handles: dict[Node, Any] = {}
        self.left: dict[Node, int] = {}
        self.leaves = self._leaves()
        self.exhausted = False
        self.done = 0
        self._restore()

    def _restore(self) -> None:
        """Takes stored nodes from the top of the tree."""
        names = set() if self.store is None else self.store.names()
        if self.store is None or not names:
            return
        found = [(int(level), int(index)) for level, index, _ in (name.split("-") for name in names)]
        for node in sorted(found, reverse=True):
            level, index = node
            if level >= len(self.counts) or index >= self.counts[level] or self._ancestor(node, self.stored):
                continue
            name = self.name(node)
            if name in names and self.store.is_whole(name, self.job):
                self.stored.add(node)
                self.done += len(self._tasks(node))
        for node in sorted(self.stored):
            self.finish(node, self.name(node), counts=False)

    def _tasks(self, node: Node) -> range:
        """The tasks below a node."""
        level, index = node
        return range(index * FAN**level, min((index + 1) * FAN**level, self.counts[0]))

    def name(self, node: Node) -> str:
        """The name of a node in a checkpoint; that of other tasks is another one."""
        if self.store is None:
            return ""
        digest = hashlib.sha256()
        for task in self._tasks(node):
            digest.update(repr(self.job.tasks[task]).encode())
        return f"{node[0]}-{node[1]}-{digest.hexdigest()[:24]}.state"

    def _ancestor(self, node: Node, among: Container[Node]) -> bool:
        level, index = node
        return any((level + k, index // FAN**k) in among for k in range(1, len(self.counts) - level))

    def _leaves(self) -> Iterator[Node]:
        for index in range(self.counts[0]):
            node = (0, index)
            if node not in self.stored and not self._ancestor(node, self.stored):
                yield node

    def next(self) -> Node | None:
        """A node whose work can start: a merge first."""
        if self.ready:
            return self.ready.popleft()
        node = next(self.leaves, None)
        self.exhausted = node is None
        return node

    def work(self, node: Node) -> tuple[Any, Sequence[Any] | None]:
        """The task of a leaf, or the handles of the children of another node."""
        level, index = node
        if level == 0:
            return self.job.tasks[index], None
        return None, [self.handles[child] for child in self._children(node)]

    def _children(self, node: Node) -> list[Node]:
        level, index = node
        end = min((index + 1) * FAN, self.counts[level - 1])
        return [(level - 1, child) for child in range(index * FAN, end)]

    def is_done(self, node: Node) -> bool:
        """Whether a node has its state."""
        parent = (node[0] + 1, node[1] // FAN)
        return node in self.handles or self.left.get(parent) == 0 or self._ancestor(node, self.handles)

    def finish(self, node: Node, handle: Any, counts: bool = True) -> None:
        """Notes the state of a node."""
        level, index = node
        self.handles[node] = handle
        self.done += counts and level == 0
        if level > 0:
            for child in self._children(node):
                self.handles.pop(child, None)
            self.left.pop(node, None)
        if level + 1 < len(self.counts):
            parent = (level + 1, index // FAN)
            left = self.left.get(parent, len(self._children(parent))) - 1
            self.left[parent] = left
            if left == 0:
                self.ready.append(parent)

    @property
    def is_finished(self) -> bool:
        """Whether the root has its state."""
        return (len(self.counts) - 1, 0) in self.handles

    def result(self) -> Any:
        """The handle of the root."""
        return self.handles[(len(self.counts) - 1, 0)]


class LocalExecutor(TreeExecutor):
    """Runs jobs on threads of this process, without any engine.

    Parameters
    ----------
    workers
        The number of threads, by default one per CPU; the result does not depend on it.
    checkpoint
        A directory or URI for finished states, so that a job that is started again computes only what is missing.

    Examples
    --------
    >>> import robust_td as rtd
    >>> from robust_td.executor import LocalExecutor
    >>> with LocalExecutor(workers=2) as executor:
    ...     s = rtd.sweep("paper-ring", c=[0.01, 1.0, 100.0], horizon=1000, runs=8, executor=executor)
    >>> s.to_csv() == rtd.sweep("paper-ring", c=[0.01, 1.0, 100.0], horizon=1000, runs=8).to_csv()
    True
    """

    def __init__(self, workers: int | None = None, *, checkpoint: str | os.PathLike[str] | None = None) -> None:
        super().__init__(checkpoint)
        self._workers = workers if workers is not None else os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(self._workers)

    @property
    def workers(self) -> int:
        """The number of threads."""
        return self._workers

    def _submit(self, job: Job, name: str, task: Any, states: Sequence[Any] | None, store: Store | None) -> Any:
        if states is None:
            return self._pool.submit(compute, job, task, store, name)
        read = [state if isinstance(state, str) else self._fetch(state) for state in states]
        return self._pool.submit(merge, job, read, store, name)

    def _wait(self, handles: list[Any]) -> Iterable[Any]:
        return wait(handles, timeout=0.1, return_when=FIRST_COMPLETED).done

    def _done(self, handle: Future[tuple[Done, bytes]]) -> Done:
        return handle.result()[0]

    def _fetch(self, handle: Future[tuple[Done, bytes]]) -> bytes:
        return handle.result()[1]

    def _cancel(self, handles: Iterable[Any]) -> None:
        for handle in handles:
            handle.cancel()

    def close(self) -> None:
        """Ends the threads."""
        self._pool.shutdown(cancel_futures=True)

    def __enter__(self) -> LocalExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
