"""Jobs, logs and drivers that the tests of executors share; workers import it."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import robust_td as rtd
from robust_td.executor import Job, Tell, TreeExecutor

#: More than two nodes of 262,144 rows.
ROWS = 560_000
SHARDS = 40


def written(description: bytes, task: Any) -> bytes:
    """The state of a task is its name. Tasks may sleep, fail, or note that they ran."""
    name, wait, folder = task
    if folder:
        Path(folder, f"{name}-{os.getpid()}-{time.monotonic_ns()}").touch()
    time.sleep(wait)
    if folder and Path(folder, f"broken-{name}").exists():
        raise rtd.Error(f"part {name} is bad")
    return str(name).encode()


def slow_once(description: bytes, task: Any) -> bytes:
    """A task that hangs the first time it is computed."""
    name, wait, folder = task
    mark = Path(folder, f"slow-{name}")
    if wait and not mark.exists():
        mark.touch()
        time.sleep(wait)
    return str(name).encode()


def dies(description: bytes, task: Any) -> bytes:
    """A task that kills its worker."""
    os.kill(os.getpid(), 9)
    return b""


def bracketed(description: bytes, states: Sequence[bytes]) -> bytes:
    """Writes down what was merged with what."""
    if any(state.startswith(b"damaged") for state in states):
        raise rtd.Error("a state is damaged")
    return b"(" + b"+".join(states) + b")" if len(states) > 1 else states[0]


def shards(folder: Path, rows: int = ROWS, count: int = SHARDS) -> list[str]:
    """x' = 0.8 x + noise, reward x, V(x) = x / (1 - 0.8 * 0.9); episodes of 100 rows, with an end; 40 files that cut through them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    random = np.random.default_rng(18)
    noise = random.normal(size=(rows // 100, 100))
    x = np.zeros((rows // 100, 100))
    x[:, 0] = 2.0 + noise[:, 0]
    for t in range(1, 100):
        x[:, t] = 0.8 * x[:, t - 1] + noise[:, t]
    x = x.ravel()
    place = np.arange(x.size)
    table = pa.table(
        {
            "obs_0": x,
            "obs_1": np.sin(x),
            "reward": x + random.normal(size=x.size),
            "truncated": place % 100 == 99,
            "episode": place // 100,
        }
    )
    names = []
    edges = np.linspace(0, x.size, count + 1).astype(int)
    for k, (start, end) in enumerate(zip(edges[:-1], edges[1:])):
        names.append(str(folder / f"shard-{k:02}.parquet"))
        pq.write_table(table.slice(start, end - start), names[-1], row_group_size=5000)
    return names


def sweep(executor: Any = None, cells: int = 2000, horizon: int = 300) -> str:
    """A sweep of 2,000 cells: 1,000 constants and two schedules."""
    c = np.logspace(-3, 3, cells // 2)
    s = rtd.sweep("two-state", c=c, horizon=horizon, runs=8, schedule=["decaying", "constant"], executor=executor)
    return s.to_csv() + s.curves.to_arrow().to_pandas().to_csv()


def answer(fit: rtd.Fit, folder: Path) -> tuple[str, bytes]:
    """All that is known about an answer, as bytes."""
    report = fit.to_dict()
    report.pop("seconds")
    fit.save(folder / "model.json")
    return repr(report), (folder / "model.json").read_bytes()


def digest(found: tuple[str, bytes]) -> str:
    """An answer in one word."""
    return hashlib.sha256(repr(found).encode()).hexdigest()


#: An average of learners, each of which learns for more than a tenth of a second, on this number of rows.
LEARNERS = 8
LEARNED_ROWS = 160_000
AVERAGE: dict[str, Any] = dict(discount=0.9, algorithm="lstd", features="polynomial(degree=11)", learners=LEARNERS)


def learned(compute: Callable[[bytes, Any], bytes], folder: str, description: bytes, task: Any) -> bytes:
    """Computes a task as the package does, and notes its start and its end: the name of the task, the process, and the time of the start."""
    name = f"{hashlib.sha256(task).hexdigest()[:12]}-{os.getpid()}-{time.monotonic_ns()}"
    Path(folder, f"{name}.start").touch()
    state = compute(description, task)
    Path(folder, f"{name}.end").touch()
    return state


class Learning:
    """An executor whose learners leave notes."""

    def __init__(self, executor: TreeExecutor, folder: Path) -> None:
        self.executor, self.folder = executor, folder
        #: The tasks of each pass, and how many of them were restored.
        self.restored: dict[str, tuple[int, int]] = {}

    @property
    def workers(self) -> int:
        return self.executor.workers

    def run(self, job: Job, tell: Tell | None = None) -> bytes:
        if job.name == "learn":
            compute = functools.partial(learned, job.compute, str(self.folder))
            job = Job(job.name, job.description, job.tasks, compute, job.merge)
        state = self.executor.run(job, tell)
        self.restored[job.name] = len(job.tasks), self.executor.measured.restored
        return state

    def starts(self) -> list[str]:
        """The tasks that were started, once per start."""
        return [note.name.split("-")[0] for note in self.folder.glob("*.start")]

    def running(self) -> list[str]:
        """The notes of tasks that have started and not ended."""
        ended = {note.stem for note in self.folder.glob("*.end")}
        return [note.stem for note in self.folder.glob("*.start") if note.stem not in ended]

    def kill(self, done: int) -> str:
        """Kills the process of a learner once this number of others are done; returns the note of its task."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            for name in self.running() if len(list(self.folder.glob("*.end"))) >= done else []:
                _, process, start = name.split("-")
                # It has read its first rows, and is far from its end.
                if 0.02 < time.monotonic() - int(start) / 1e9 < 0.07:
                    os.kill(int(process), signal.SIGKILL)
                    return name
            time.sleep(0.003)
        raise TimeoutError("no learner was found running")


def drive_learners(address: str, checkpoint: str, marks: str, log: str) -> None:
    """A driver to be killed: an average of learners."""
    from robust_td.ray import RayExecutor

    with RayExecutor(address, checkpoint=checkpoint, repeat_slow=False) as executor:
        learning = Learning(executor, Path(marks))
        fit = rtd.evaluate(sorted(map(str, Path(log).iterdir())), executor=learning, **AVERAGE)
        print(json.dumps([digest(answer(fit, Path(marks))), learning.restored]), flush=True)


def drive(address: str, checkpoint: str, marks: str, parts: int, wait: float) -> None:
    """A driver to be killed: a job whose tasks leave marks."""
    from robust_td.ray import RayExecutor

    tasks = [(k, wait, marks) for k in range(parts)]
    with RayExecutor(address, checkpoint=checkpoint) as executor:
        state = executor.run(Job("marks", b"", tasks, written, bracketed))
        print(state.decode(), executor.measured.restored, flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "learners":
        drive_learners(*sys.argv[2:])
    else:
        drive(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), float(sys.argv[5]))
